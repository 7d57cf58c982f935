// Package harness builds the real program for tests and runs it: commands to
// their end, servers until the end of the test, calls of their API, and what a proxy
// before it needs.
//
// For tests only.
package harness
