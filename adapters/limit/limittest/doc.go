// Package limittest is the contract of port.Budget: whatever holds the buckets of
// rate limits passes it.
//
// For tests only.
package limittest
