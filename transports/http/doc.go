// Package http serves the operations of an op.Set over HTTP: routes, decoding,
// both families' error bodies, request ids, body limits, gzip and deadlines,
// and the server around them with its graceful end.
package http
