//go:build !unix

package directory

const nonblocking = 0
