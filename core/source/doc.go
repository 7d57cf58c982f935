// Package source is the service of sources: apps that keep syncing into a
// namespace. This build carries no connector scheduler, so every route answers
// sources_unavailable, as the interface document decides for that state.
//
// May import: core/op. Must not: other services' internals, adapters, transports.
package source
