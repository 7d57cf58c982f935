// Package query is the service that finds chunks in a namespace.
//
// May import: core/op, core/port, core/filter, core/retrieve. Must not: other
// services' internals, adapters, transports.
package query
