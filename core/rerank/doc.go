// Package rerank is the standalone rerank operation: score texts against a query.
//
// May import: core/op, core/port, core/retrieve. Must not: other services' internals, adapters, transports.
package rerank
