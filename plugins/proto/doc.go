// Package proto is the process protocol: mneme_model.proto, the code that
// generate.sh makes of it, and the constants of the handshake. PROTOCOL.md says
// what a backend in any language does.
package proto
