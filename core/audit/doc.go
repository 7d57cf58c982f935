// Package audit keeps the log of who did what to what (docs/operators.md#audit): one record
// for each operation that changes something and for each refused call of an administrator,
// whichever way it came.
//
// The record of a change is stored in the transaction that makes the change. The edge (the
// middleware of calls, a command, the end of a job) puts a port.AuditEntry into the context,
// and the first transaction under it that changes a row stores the record: no commit without
// its record, and no record of what was rolled back. What changes nothing, such as a deletion
// that is repeated, is recorded when it has ended.
//
// Records get their numbers after the commit, in a transaction that reads what waits and the
// end of the log, so that commits need not wait for each other. Each record holds the SHA-256 of
// the one before: one that is removed, changed or put in shows (Verify).
package audit
