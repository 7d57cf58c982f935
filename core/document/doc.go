// Package document is the service of documents: write, read, list, delete, and
// the operations that stand for asynchronous writes.
//
// May import: core/op, core/port, core/page, core/filter, core/ingest. Must
// not: other services' internals, adapters, transports.
package document
