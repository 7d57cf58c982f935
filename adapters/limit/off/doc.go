// Package off is the limiter that shares nothing: each process counts the calls
// that it serves, so that N servers allow N times the rate. It is right for one
// server, costs nothing, and is the default.
package off
