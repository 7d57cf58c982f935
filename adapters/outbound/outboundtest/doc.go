// Package outboundtest is a name server for tests of what may not reach private addresses.
//
// For tests only.
package outboundtest
