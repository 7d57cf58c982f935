//go:build unix

package datadir_test

import (
	"os"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
)

// Others lose the right to write into a folder that is there and becomes a data folder.
func TestCreate(t *testing.T) {
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
