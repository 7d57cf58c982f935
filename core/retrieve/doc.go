// Package retrieve finds chunks: it embeds the query, fans out to the
// retrievers, fuses their lists, reranks, and says what it had to leave out.
//
// May import: core/port, core/filter, core/fault, core/ingest (to bring an
// index abreast of the store before it is searched). Must not: services.
package retrieve
