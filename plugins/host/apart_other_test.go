//go:build !linux

package host_test

import "syscall"

func apart(bool) *syscall.SysProcAttr { return nil }
