//go:build unix

package disk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mnemehq/mneme/adapters/disk"
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
		private, err := disk.Private(dir)
		info, statErr := os.Stat(dir)
		if a, err := disk.Look(dir); err != nil || a.Write || a.Read != (want != 0o700) ||
			a.Who != fmt.Sprintf("mode %04o", want) {
			t.Errorf("%o: %+v, %v", mode, a, err)
		}
		if err != nil || !private || statErr != nil || info.Mode().Perm() != want {
			t.Errorf("%o: %v, %v; it is %o, %v", mode, private, err, info.Mode().Perm(), statErr)
		}
	}
	if _, err := disk.Private(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent folder is private")
	}
	if _, err := disk.Look(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("who reaches an absent folder: %v", err)
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
		if a, err := disk.Look(dir); err != nil || a.Write == want || !a.Read {
			t.Errorf("%o: %+v, %v", mode, a, err)
		}
		if private, err := disk.Private(dir); private != want || err != nil {
			t.Errorf("%o: %v, %v", mode, private, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%o became %v, %v", mode, info.Mode(), err)
		}
	}
}

// What is made for its owner alone is, and what is there is left as it is.
func TestOpenPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := disk.OpenPrivate(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("body"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err := disk.Look(path); err != nil || a.Read || a.Write {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := disk.OpenPrivate(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made again: %v", err)
	}
	if body, err := os.ReadFile(path); err != nil || string(body) != "body" {
		t.Errorf("it holds %q, %v", body, err)
	}
}

// The errors of a disk are told apart, however they are wrapped.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err            error
		full, readOnly bool
	}{{syscall.ENOSPC, true, false}, {syscall.EDQUOT, true, false}, {syscall.EROFS, false, true},
		{fs.ErrPermission, false, false}, {nil, false, false}} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("write: %w", &fs.PathError{Op: "write", Path: "x", Err: err})
		}
		if disk.Full(err) != c.full || disk.ReadOnly(err) != c.readOnly {
			t.Errorf("%v: full %v, read-only %v", c.err, disk.Full(err), disk.ReadOnly(err))
		}
	}
	if free, err := disk.Free(t.TempDir()); err != nil || free == 0 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	if _, err := disk.Free(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent folder has room")
	}
	if err := disk.Writable(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := disk.Writable(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent folder: %v", err)
	}
}
