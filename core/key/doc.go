// Package key is the service of API keys and of the organizations that own
// them: issue, revoke, list and verify keys, create, list and suspend
// organizations.
//
// A secret is shown once, when its key is issued; the store holds its SHA-256,
// which is enough for a secret of 256 random bits (a slow password hash defends
// guessable secrets).
//
// May import: the standard library, core/port, core/op, core/fault, core/ident.
// Never: other services, adapters, transports.
package key
