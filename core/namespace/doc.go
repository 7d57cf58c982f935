// Package namespace is the service of namespaces: create, list, read, delete.
//
// May import: core/op, core/port, core/page. Must not: other services' internals, adapters, transports.
package namespace
