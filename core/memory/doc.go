// Package memory is the service of end users' memories: save, batch, the
// source-owned upsert and tombstone with their receipts, read, list, search,
// erase, and the status of an integration.
//
// A memory partition is one integration's end user. A memory is one document of
// it, cut into chunks only when it is longer than one. The store's transaction
// decides everything: what was prepared outside it (duplicates, versions,
// quotas) is checked again inside, and prepared again when it changed.
package memory
