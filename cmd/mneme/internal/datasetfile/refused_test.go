package datasetfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datasetfile"
)

// A file that can't be written is told with what to do about it, and nothing is left.
func TestWhereNothingCanBeWritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		file:                              "exists already; remove it, or choose another file",
		dir:                               "exists already",
		filepath.Join(file, "all.gz"):     "it would lie below a file; name another",
		filepath.Join(dir, "no", "all"):   "make its folder first, or name another file",
		filepath.Join(dir, "\x00", "all"): "write the data set: ",
	} {
		_, err := datasetfile.Receive(strings.NewReader(""), path, nil, nil)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want %q", path, err, says)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
