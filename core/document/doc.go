// Package document is the service of documents: write, read, list, delete, reindex,
// and the operations of asynchronous writes.
package document
