// Package query is the service that finds chunks in a namespace.
//
// May import: core/op, core/port, core/filter, core/retrieve,
// core/ingest/chunk (a chunk as the reranker reads it). Must not: other
// services' internals, adapters, transports.
package query
