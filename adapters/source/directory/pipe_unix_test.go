//go:build unix

package directory_test

import "syscall"

// pipe makes one that has a name.
func pipe(path string) error { return syscall.Mkfifo(path, 0o666) }
