// Package namespace exports a namespace from a running server and imports one, as a
// data set (core/dataset): the same lines that move a whole installation, so each
// reads what the other wrote.
//
// An export is read from one snapshot of the store into a file for temporary data,
// at the speed of the disk, and sent from there: a slow reader keeps no snapshot
// open, which would hold up erasures and the store's own cleaning.
//
// An import is received whole before anything is stored. A data set
// without its trailer, with a wrong hash, or against the rules for documents changes
// nothing. Then documents are stored in batches, each in a transaction of its own and
// applied to the indexes before the next. An import that fails says how far it came; a
// repeated one skips what is already stored.
package namespace
