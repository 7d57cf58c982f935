//go:build !linux

package sqlite_test

import (
	"os"
	"testing"
)

func smallDisk(t *testing.T, _ int) string {
	t.Skip("SKIPPED: a small disk is made on Linux only")
	return ""
}

func readOnly(t *testing.T, dir string) string {
	t.Helper()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	return dir
}
