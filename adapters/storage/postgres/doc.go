// Package postgres is the system of record in a PostgreSQL database, for
// installations that outgrow one machine or want their database's backups,
// replication and access rules. Any number of mneme processes may share it.
//
// Choose it when several replicas serve, or when a Postgres is operated anyway;
// the sqlite store is faster on one machine and needs no server. It needs
// PostgreSQL 14 or newer and no extension.
//
// Updates are SERIALIZABLE transactions, run again after a serialization failure
// or a deadlock; views are REPEATABLE READ snapshots. Since every write of a
// partition changes the partition's row, those of one process queue and share
// transactions, each with a savepoint (group.go), and processes that write the same
// partition take turns (queues.go). Both only spare repeats: what is right never
// depends on them. A function's transaction begins when it first uses its writer,
// so that it is known which partition it is for. The schema is brought up to
// date at start under an advisory lock. Nothing depends on a session beyond its
// transaction, so a pooler in transaction mode (pgBouncer) may stand between:
// set pooler: true then.
package postgres
