// Package transporttest runs one script of calls through every transport, so
// that a rule holds however a call comes in.
//
// May import: the standard library, core/op, core/fault, core/ident, the
// transports. Never adapters.
package transporttest
