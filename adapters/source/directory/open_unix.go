//go:build unix

package directory

import "syscall"

const nonblocking = syscall.O_NONBLOCK
