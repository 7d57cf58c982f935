// Package model is the service that lists the configured models.
//
// May import: core/op, core/port. Must not: other services' internals, adapters, transports.
package model
