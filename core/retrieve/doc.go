// Package retrieve finds chunks: it embeds the query, fans out to the
// retrievers, fuses their lists, reranks, and says what it had to leave out.
package retrieve
