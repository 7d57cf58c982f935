package sqlite_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// smallDisk is a directory on a disk of its own with so many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("SKIPPED: a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// readOnly is a directory with the same files that cannot be written.
func readOnly(t *testing.T, dir string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		return dir
	}
	at := t.TempDir()
	err := syscall.Mount(dir, at, "", syscall.MS_BIND, "")
	if err == nil {
		t.Cleanup(func() { _ = syscall.Unmount(at, 0) })
		err = syscall.Mount("", at, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	}
	if err != nil {
		t.Skipf("SKIPPED: root needs the right to mount to make a directory read-only: %v", err)
	}
	return at
}
