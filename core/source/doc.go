// Package source is the service of sources: apps that keep syncing into a
// namespace. This build carries no connector scheduler, so every route answers
// sources_unavailable (docs/contract.md#source-unavailable).
package source
