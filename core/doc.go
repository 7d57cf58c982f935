// Package core is the root of the product without I/O: services, the ports they
// need and the operation table. It holds no code, only the test that keeps the
// arrows between packages, and embeds what a new project in Go is made of.
package core
