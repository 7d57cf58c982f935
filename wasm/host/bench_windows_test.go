package host_test

import (
	"syscall"
	"testing"
)

// processorTime is what this process has used, in nanoseconds.
func processorTime(b *testing.B) int64 {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		b.Fatal(err)
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &ended, &kernel, &user); err != nil {
		b.Fatal(err)
	}
	length := func(t syscall.Filetime) int64 { return (int64(t.HighDateTime)<<32 + int64(t.LowDateTime)) * 100 }
	return length(kernel) + length(user)
}
