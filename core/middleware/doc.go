// Package middleware holds the layers that every operation passes before its service:
// recover, trace, metrics, log, deadline, authentication, rate limit and the
// process-wide concurrency cap, as go-kit endpoint middlewares over *op.Call.
package middleware
