// Package http serves the operations of an op.Set over HTTP: routes, decoding,
// both families' error bodies, request ids, body limits, gzip and deadlines,
// and the server around them with its graceful end.
//
// May import: the standard library, go-kit's transport/http, OpenTelemetry's
// propagation, core/op, core/fault, core/ident, transports/codec. Never a
// service, port or adapter.
package http
