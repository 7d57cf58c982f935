// Package bunsql is the part of the system of record that SQL databases share:
// the schema and its migrations, and port.Reader and port.DocumentWriter over one
// connection. A database adapter opens connections, decides how transactions begin,
// share and end, and says through Dialect what its database spells differently.
//
// Small tables (organizations, keys, integrations, namespaces, operations) go
// through bun's query builder. Documents, vectors, the change log and what
// memories have beside them go through prepared statements: bun writes arguments
// into the statement's text, which for a vector blob means hexadecimal, a parse
// of it, and no statement to reuse. Reading one namespace's row by prepared
// statement takes 24 µs, through bun's builder and scanner 55 µs
// (BenchmarkPointRead in package sqlite, on two busy cores: the ratio counts).
//
// A memory partition is a row of namespaces with its own space and integration;
// its memories are documents with a container. The indexes of containers,
// creation times and contents leave the documents of namespaces out. An erasure
// keeps its state, and what it has removed, in the partition's row.
//
// Rules of the schema: a namespace's generation comes first in every key of
// its data and is never used again; text compares bytewise; times are integer
// microseconds since 1970 UTC, 0 for none.
package bunsql
