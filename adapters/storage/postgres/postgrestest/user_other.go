//go:build !linux

package postgrestest

import "syscall"

// unprivileged are the rights of the server's processes: the tests' own.
func unprivileged(string) (*syscall.SysProcAttr, error) { return nil, nil }
