// Package bunsql is the part of the system of record that SQL databases share:
// the schema and its migrations, the packed forms of chunk layouts and vectors,
// and port.Reader and port.Writer over one connection. A database adapter opens
// connections, decides how transactions begin, share and end, and says through
// Dialect what its database spells differently.
//
// Small tables (organizations, keys, namespaces, operations) go through bun's
// query builder. Documents, vectors and the change log go through prepared
// statements: bun writes arguments into the statement's text, which for a
// vector blob means hexadecimal, a parse of it, and no statement to reuse.
// Reading one namespace's row by prepared statement takes 24 µs, through bun's
// builder and scanner 55 µs (BenchmarkPointRead in package sqlite, on two busy
// cores: the ratio counts).
//
// Rules of the schema: a namespace's generation comes first in every key of
// its data and is never used again; text compares bytewise; times are integer
// microseconds since 1970 UTC, 0 for none.
//
// May import: core/port, core/fault, core/ident, bun, the standard library.
package bunsql
