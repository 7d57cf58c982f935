package host_test

import "syscall"

// apart has a child lead a session of its own.
func apart(yes bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: yes} }
