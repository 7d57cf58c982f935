package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/disk/disktest"
)

// After any power cut a replaced file is what it was before or what it is now, whole; once
// Replace has returned it is the latter; and the folders that MakeDir made are there.
func TestReplaceSurvivesPowerCuts(t *testing.T) {
	root := t.TempDir()
	r := disktest.New(root)
	dir := filepath.Join(root, "a", "b")
	if err := disk.MakeDir(r, dir); err != nil {
		t.Fatal(err)
	}
	made := r.Len()
	bodies := []string{"", strings.Repeat("first ", 300), strings.Repeat("second ", 200), "third"}
	done := []int{made}
	for _, b := range bodies[1:] {
		if err := disk.Replace(r, filepath.Join(dir, "file"), []byte(b)); err != nil {
			t.Fatal(err)
		}
		done = append(done, r.Len())
	}
	if err := disk.MakeDir(r, dir); err != nil || r.Len() != done[3] {
		t.Errorf("a folder that is there: %v, %d steps more", err, r.Len()-done[3])
	}
	seen := map[disktest.Loss]bool{}
	r.Cuts(0, 3, func(c disktest.Cut) {
		seen[c.Loss] = true
		if _, ok := c.Disk()[filepath.Join("a", "b")]; !ok && c.Steps >= made {
			t.Errorf("%s: the folder is gone", c)
		}
		body, there := c.Disk()[filepath.Join("a", "b", "file")]
		at := 0
		for i, steps := range done {
			if steps <= c.Steps {
				at = i
			}
		}
		may := bodies[at:min(at+2, len(bodies))]
		switch {
		case !there && at == 0:
		case there && string(body) == may[0] && at > 0:
		case there && len(may) > 1 && string(body) == may[1]:
		default:
			t.Errorf("%s: the file is there %v, with %d bytes; %d were written before", c, there, len(body), at)
		}
	})
	if len(seen) < 4 {
		t.Errorf("of the kinds of loss only %v made a difference", seen)
	}
}

// On the real disk: what was there is replaced, nothing is left beside it, and it is the
// owner's alone.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, want := range []string{"one", "two", ""} {
		if err := disk.Replace(disk.OS(), path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != want {
			t.Errorf("%q, %v; want %q", have, err, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(list) != 1 {
		t.Errorf("left beside it: %v, %v", list, err)
	}
	if err := disk.OS().Sync(path); err != nil {
		t.Error(err)
	}
	if err := disk.OS().Sync(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := disk.OS().SyncDir(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// What is published may be read by everybody, and holds what was written or what it held
// before.
func TestPublish(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	broken := errors.New("broken")
	for _, step := range []struct {
		write func() error
		want  string
		err   error
	}{
		{func() error { return disk.Publish(path, []byte("one")) }, "one", nil},
		{func() error {
			return disk.PublishFrom(path, func(w io.Writer) error {
				_, err := io.WriteString(w, "half")
				return errors.Join(err, broken)
			})
		}, "one", broken},
		{func() error {
			return disk.PublishFrom(path, func(w io.Writer) error { _, err := io.WriteString(w, "two"); return err })
		}, "two", nil},
	} {
		if err := step.write(); !errors.Is(err, step.err) {
			t.Errorf("writing gives %v, want %v", err, step.err)
		}
		text, err := os.ReadFile(path)
		if err != nil || string(text) != step.want {
			t.Errorf("the file holds %q, want %q; %v", text, step.want, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
			t.Errorf("left beside it: %v, %v", list, err)
		}
	}
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(plain)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != want.Mode() {
		t.Errorf("its mode is %v, %v", info, err)
	}
}

// What cannot be replaced stays as it is, and nothing is left of the attempt.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken", "file")
	if err := disk.Replace(disk.OS(), path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil { // a folder stands where the file should be
		t.Fatal(err)
	}
	if err := disk.Replace(disk.OS(), path, []byte("x")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(list) != 1 || !list[0].IsDir() {
		t.Errorf("left: %v, %v", list, err)
	}
}

func TestMakeDir(t *testing.T) {
	dir := t.TempDir()
	for _, below := range []string{"a", "a/b/c", "a/b"} {
		path := filepath.Join(dir, filepath.FromSlash(below))
		if err := disk.MakeDir(disk.OS(), path); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", below, info, err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if err := disk.MakeDir(disk.OS(), path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}
