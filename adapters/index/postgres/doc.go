// Package postgres is keyword, vector and sparse search over a PostgreSQL
// database with pgvector, which any number of processes may share. It suits
// installations that run several replicas, or hold more than one machine should;
// the embedded index is several times faster on one machine and needs no server.
//
// It needs PostgreSQL 14 and pgvector 0.8 (halfvec came with 0.7, iterative scans
// with 0.8). Open tries CREATE EXTENSION and refuses a database without, with the
// version found: nothing is degraded in silence.
//
// # Tables
//
// The partition's generation is the first column of every key. index_partition
// has a row for each: the number applied, counts, the next chunk number. Apply is
// one READ COMMITTED transaction that holds this row's lock, so whatever several
// processes write comes in order, and a cut connection leaves all or nothing.
// What is applied is durable. Searches are REPEATABLE READ snapshots.
//
// index_chunk has document, number, length and vector by chunk number; numbers
// are given out as chunks come and not used again. index_block has, for 512
// numbers each, their times and which are dead. index_posting has the lists of
// keyword terms, sparse terms and facets: one row of packed entries for each term
// in a span of 8,192 numbers, in parts of 3 KB where the term is frequent. Lists
// of small writes first lie together in packs, rows that hold all terms of a
// write, and are folded into the terms' rows at 256 KB of them: a write of one
// chunk took a tenth of the time with them. Entries of dead chunks are taken out
// of a span when they are many; a span of the dead alone is deleted.
//
// The number of statements of an Apply grows by five or so for each 512 chunks.
//
// # Keyword and sparse search
//
// The terms are those of the embedded index (its analyzer), and so is BM25: both
// give the same nDCG@10 on every test collection (cranfield .507, cacm .491,
// hotpotqa-mini .818, scifact .690, docs-faq .496; TestKeywordQuality), and a mneme
// eval over both the same .542 fused on cranfield. One round trip brings
// the query's lists of all spans, which this process adds up span by span; another
// names the best. Counts are those of live chunks, exactly. A term in each of
// 100,000 chunks is 600 KB to read; stop words are left out of queries that hold
// other words, and what is left is read whole, so that the top is exact.
//
// Sparse search uses the same postings with float32 weights. Over 10,000 chunks
// of 128 terms it took 9 ms on a busy machine where pgvector's sparsevec took 58
// compared one by one, and 36 through HNSW, which found .88 of the ten best and
// took 91 s to build (BenchmarkSparsevec).
//
// # Vector search
//
// Vectors are stored in half precision. The best found are scored again with the
// query in single precision: scores are cosines to about 1e-4, and ties go by
// document and chunk. Up to vector.exact_chunks, every vector is compared. Beyond,
// the partition's vectors move to a table of their own, index_vectors_N with an
// HNSW index: one index of all partitions would be walked through the vectors of
// others, and with partial indexes on one table every query would be planned over
// those of all partitions. The index is built in the background, by one process
// under a lease, when the partition has not been written for 5 seconds, at the
// latest after 5 minutes; until then its vectors are compared. CREATE INDEX CONCURRENTLY keeps
// writes going. Vectors of more than 4,000 dimensions have no index.
//
// A filter and time bounds become the exact set of allowed chunks first, from the
// facets' lists and the blocks' times. The graph is then walked as far as the
// set's share of the partition says, unless that takes longer than to compare all
// of the set: of 100,000 chunks, where less than some 12,000 are allowed. Where the
// walk gives too few, or so many that tie that others may be missing, all of the
// set are compared: a search never gives fewer hits than there are.
//
// What the graph finds hangs on the vectors. Those of real texts lie close
// together, and some in clusters that are entered from few places; the more there
// are the more of them a narrow walk passes by. docs/scale.md has what was found of
// 20,000 embedded texts, by m, ef_construction and ef_search, and why the defaults
// are what they are. TestGraph and the contract suite hold them to vectors that
// are as hard, with all, a half, 10 %, 1 % and 0.1 % of the chunks allowed.
//
// A vector that is added to a graph takes several times the processor of all else
// that is written of its chunk, and five to ten times what it takes where a graph
// is built as a whole.
//
// # Partitions that are gone
//
// Retain drops the partitions that the store has not any more: what was left by a
// process that died between the store's deletion and Drop.
//
// # Poolers and permissions
//
// With pooler: true nothing stays with a session: settings are SET LOCAL, no
// statement is prepared. The role needs CREATE on the schema. Give each
// installation a schema of its own; a generation that belongs to another one's
// partition is refused.
//
// # Vacuum
//
// Rows that grow are rewritten, and their old versions wait for autovacuum: about
// half of index_posting after a bulk import. Defaults do for most; where a
// large import is followed by none, VACUUM index_posting returns the space to
// later writes. Deleted vectors leave an HNSW index when its table is vacuumed,
// which is slow; REINDEX INDEX CONCURRENTLY index_vectors_N_hnsw after a large part was
// rewritten rebuilds it. Drop deletes rows and drops the vectors' table; what
// rows held is on the server's disk until vacuumed and overwritten.
package postgres
