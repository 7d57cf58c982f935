// Package port holds every interface that an adapter implements and the value
// types they exchange, one file a port: the store (system of record), the
// indexes derived from it, and the models.
//
// Every method that touches stored data takes a Partition or an Org: nothing
// below a service can forget the tenant. Methods are safe for concurrent use
// unless they say otherwise, and honour the context's deadline and
// cancellation. Errors that a caller of the service should see are *fault.Error.
package port
