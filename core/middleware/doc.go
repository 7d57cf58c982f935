// Package middleware is what every operation passes through before its service:
// recover, trace, metrics, log, deadline, authentication, rate limit and the
// process-wide concurrency cap, as go-kit endpoint middlewares over *op.Call.
//
// May import: the standard library, go-kit's endpoint, the OpenTelemetry trace
// API, core/op, core/port, core/fault, core/ident. Never a service, adapter or transport.
package middleware
