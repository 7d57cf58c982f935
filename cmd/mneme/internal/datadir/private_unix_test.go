//go:build unix

package datadir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
)

// Others lose the right to put files into a folder that is ours, and keep that to read.
func TestPrivate(t *testing.T) {
	for mode, want := range map[os.FileMode]os.FileMode{
		0o777: 0o755, 0o770: 0o750, 0o702: 0o700, 0o720: 0o700, 0o755: 0o755, 0o700: 0o700,
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		private, err := datadir.Private(dir)
		info, statErr := os.Stat(dir)
		if err != nil || !private || statErr != nil || info.Mode().Perm() != want {
			t.Errorf("%o: %v, %v; it is %o, %v", mode, private, err, info.Mode().Perm(), statErr)
		}
	}
	if _, err := datadir.Private(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent folder is private")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := datadir.Create(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("a data folder that was there: %v, %v", info.Mode(), err)
	}
}

// A folder of somebody else that all may write into, as a volume of a container may be, is told.
func TestNotPrivate(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a folder away")
	}
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]bool{0o777: false, 0o770: false, 0o755: true} {
		if err := os.Chown(dir, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if private, err := datadir.Private(dir); private != want || err != nil {
			t.Errorf("%o: %v, %v", mode, private, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%o became %v, %v", mode, info.Mode(), err)
		}
	}
}
