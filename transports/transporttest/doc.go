// Package transporttest runs one script of calls through every transport, so
// that a rule holds however a call comes in.
package transporttest
