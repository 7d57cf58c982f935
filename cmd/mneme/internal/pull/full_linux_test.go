package pull_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
)

// TestDiskFull fetches onto a disk that is too small.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("SKIPPED: a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	file := noise(300_000)
	address := serve(t, &shelf{files: map[string][]byte{"/file": file}}) + "/file"
	err := quick().Fetch(t.Context(), address, sum(file), int64(len(file)), filepath.Join(dir, "file"), func(int64) {})
	var full *pull.DiskFull
	if !errors.As(err, &full) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err == nil {
		t.Error("a part stands in the file's place")
	}
}
