//go:build unix

package host_test

import (
	"syscall"
	"testing"
)

// processorTime is what this process has used, in nanoseconds.
func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
