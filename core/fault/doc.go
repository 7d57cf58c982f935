// Package fault is the one error type of Mneme: the published codes, the HTTP
// status and retry rule of each, and the translation of foreign errors.
//
// Layers return errors, wrap them once with the operation that failed, and
// translate drivers' errors into faults at the adapter's edge. A caller of the
// service sees code, message and details; the wrapped cause goes to the log only.
package fault
