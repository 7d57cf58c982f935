// Package ingest turns texts into what the store keeps and the indexes search:
// it chunks, embeds and sparse-encodes, and it projects the store's change log
// onto the indexes, for a fresh write and for catching up alike.
package ingest
