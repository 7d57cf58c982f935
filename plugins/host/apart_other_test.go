//go:build !linux

package host_test

import "syscall"

func systemConducts() map[string]func([]string) { return nil }

func apart(bool) *syscall.SysProcAttr { return nil }
