// Package core is the root of the product without I/O: services, the ports they
// need and the operation table. It holds no code, only the test that keeps the
// arrows between packages.
package core
