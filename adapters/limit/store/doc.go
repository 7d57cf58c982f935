// Package store counts rate limits in the system of record, so that every
// server over it shares them. It needs no further server; each charge that a
// server did not draw ahead is one transaction. Above some hundred keys in
// steady use, adapters/limit/redis costs the store less.
package store
