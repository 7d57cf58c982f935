package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mnemehq/mneme/adapters/backup/backuptest"
	"github.com/mnemehq/mneme/adapters/backup/folder"
	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

func open(t *testing.T, dir string, files disk.FS) *folder.Place {
	t.Helper()
	p, err := folder.Open(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestContract(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there")
	backuptest.Run(t, func(t *testing.T) port.BackupPlace {
		t.Helper()
		return open(t, dir, nil)
	})
	if p := open(t, dir, nil); p.String() != dir {
		t.Errorf("it is called %s", p)
	}
}

// What an interrupted write left is not shown, and goes with the next lock: in a folder with backups,
// and among them alone.
func TestWhatWasNotFinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := open(t, dir, nil)
	left := []string{filepath.Join(dir, "packs", "aa", ".part-x"), filepath.Join(dir, "backups", ".part-y")}
	mine := filepath.Join(dir, "mine", ".hidden")
	for _, path := range append(left, mine) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	lock := func() {
		t.Helper()
		_, release, err := p.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	lock()
	if !there(left[0]) || !there(left[1]) {
		t.Error("files went from a folder that is not known to be ours")
	}
	if err := p.Write(t.Context(), "repository.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	err := p.List(t.Context(), "packs/", func(name string, _ int64) error { t.Errorf("listed %s", name); return nil })
	if err != nil {
		t.Error(err)
	}
	lock()
	if there(left[0]) || there(left[1]) || !there(mine) {
		t.Errorf("left %v %v, another's %v", there(left[0]), there(left[1]), there(mine))
	}
}

// full is a disk on which nothing can be written.
type full struct{ disk.FS }

func (full) Create(string) (disk.File, error) { return nil, syscall.ENOSPC }

func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := open(t, t.TempDir(), full{disk.OS()})
	err := p.Write(t.Context(), "packs/aa/x", []byte("x"))
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "its disk is full") {
		t.Error(err)
	}
}
