// Package file makes documents of files that callers send: it has their text read,
// cuts what is too long for one document, and writes what came out. The importer makes
// its documents the same way, so that a file has the same ones however it comes in.
package file
