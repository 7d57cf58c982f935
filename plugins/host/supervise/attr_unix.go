//go:build unix && !linux

package supervise

import "syscall"

// attributes makes the backend the leader of a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
