// Package sqlite is the system of record in one file: port.DocumentStore over SQLite
// (modernc.org/sqlite, pure Go) in a data directory. Choose it for one server
// process on a local disk; it needs no other service.
//
// Layout of the directory: mneme.db with its -wal and -shm, and mneme.lock,
// which the process that serves the documents holds. Another process may open
// the same directory with Options.Shared to change keys, data keys and organizations.
//
// # Writing
//
// One connection writes. Update's functions run one after the other, each in
// its own savepoint, and those that wait while a commit is on its way share the
// next one: a commit costs an fsync of the write-ahead log
// (synchronous=FULL), whatever the number of functions in it. A function that
// errs or panics takes back its savepoint alone. A function runs on its
// caller's goroutine; it must not call Update.
//
// Statements are never interrupted: SQLite rolls back the whole transaction
// when an interrupted statement was writing, which would hurt the other
// functions of the commit. A cancelled context is noticed between statements.
//
// # Reading
//
// View takes one of a few reading connections and a snapshot that stays as it
// is until the function returns. Readers and the writer do not wait for each
// other. A View that lasts holds back the write-ahead log from being reused,
// so read in pages.
//
// # Deleting
//
// DeletePartition marks the namespace, after which nothing can reach it; its
// documents go in small batches in the background, resumed at Open.
//
// Deleted content is overwritten with zeros (secure_delete), which is not all
// of it: the log keeps pages as they were, and a page that SQLite rebuilt keeps
// old copies of its cells between the pointers and the cells. Scrub removes
// both, so that after it nothing deleted can be read from any file. For that the
// committer copies the log back in SQLite's place and remembers every page that
// was written; Scrub looks at those alone. It writes pages through SQLite
// (sqlite_dbpage), in transactions of 10 ms between those of others. To empty
// the log it needs a moment without readers and makes one when none comes by
// itself. Databases of 256 GB and more are refused.
//
// # Figures
//
// Documents of three 100-word chunks with 384-d vectors, two cores shared with
// other work, ext4 (go test -bench . ./adapters/storage/sqlite): 7,000 to 9,800
// documents/s in calls of a hundred; one document a call 630 to 1,190 commits/s
// from one writer and 4,400 to 6,300 from 64, 5 to 7 times as many, for they
// share the fsync; a document read in 22 to 30 µs, 1 µs of it the snapshot; a
// rebuild reads vectors at 140,000 to 180,000 chunks/s, texts too at 78,000 to
// 90,000. Deleting a namespace takes one commit, whatever it holds.
//
// In a fleet of 100,000 end users of fifty memories (7.7 GB, 1,600 bytes a
// memory; BenchmarkFleet, two cores shared with much other work) one request
// costs what it costs beside ten end users: a content looked up in 43 against 42
// µs, 148 against 79 of one nobody asked for before; all that an end user's
// index is built from read in 0.96 against 0.79 ms; a memory saved in 0.9 against
// 0.8 ms. An end user of fifty memories is saved, erased and scrubbed in 45 against
// 53 ms. The first Scrub after opening reads the whole file, at 0.9 GB/s; where
// pages were never scrubbed it writes most of them, at 50 to 100 MB/s.
//
// The driver: in pure Go, so that the binary stays one static file for every
// platform. A cgo driver would insert 1.15 to 1.4 times as fast; a small commit
// waits for the disk and the embedder far longer than for either.
package sqlite
