// Package transfer takes one namespace out of a running server and brings one in,
// as a data set (core/dataset): the same lines that a whole installation is moved
// with, so either side takes what the other wrote.
//
// An export is read from one snapshot of the store into a file for temporary data,
// at the speed of the disk, and sent from there: a slow reader keeps no snapshot
// open, which would hold up erasures and the store's own cleaning.
//
// An import is received whole before anything is stored. What does not end with its
// trailer, has a wrong hash, or breaks a rule for documents changes nothing. Then
// documents are stored in batches, each a transaction of its own that the indexes
// have before the next. An import that ends on its way says how far it came;
// given again it passes over what is stored already.
//
// May import: core/dataset, core/ingest, core/port, core/filter, core/fault,
// core/ident, the standard library.
package transfer
