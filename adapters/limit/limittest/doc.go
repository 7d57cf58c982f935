// Package limittest is the contract of port.Budget: whatever holds the buckets of
// rate limits passes it.
//
// May import: core/port, core/ident. For tests only.
package limittest
