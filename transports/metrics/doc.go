// Package metrics exposes the process to Prometheus: one registry as a value,
// the meter of operations, Go runtime and process figures, and the handler of
// GET /metrics.
//
// Its Meter fits core/middleware's interface without importing it.
package metrics
