// Package installation moves the data of a store, or one organization or some
// namespaces of it: out as a data set (core/dataset), in from one, or straight from
// one store into another. No server may write to the stores that it works on, except
// for the source of an export or a copy, which may be served.
//
// An import is made of transactions that each take a bounded part of a partition. A
// partition is read back once it is whole, and its hash compared with the data
// set's. An import that was stopped continues where it stopped: a Journal remembers
// which partitions it had begun.
//
// Files of the operator's machine, the journal's among them, are in
// cmd/mneme/internal/datasetfile; core/dataset/namespace moves one namespace through
// a running server.
package installation
