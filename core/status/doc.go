// Package status is the service of health: liveness, and a deep check that
// searches a built-in corpus through every retriever.
//
// May import: core/op, core/port, core/ingest, core/retrieve. Must not: other
// services' internals, adapters, transports.
package status
