// Package reindex is how the vectors of a namespace, or of an end user's memories,
// are recomputed in the background: what is asked for and what comes of it, the jobs
// that do it, and the file that new vectors wait in.
//
// How it is done is the business of the service whose rows they are: core/document
// fills a second generation and swaps it in, core/memory replaces all in one
// transaction. Both are a Rebuilder.
package reindex
