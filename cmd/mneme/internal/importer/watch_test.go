package importer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestWatch changes a folder in several ways and waits, each time, until what is
// listed after the watcher has woken is as it should be.
func TestWatch(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a", "node_modules/x.md": "x"})
	w, err := NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Quiet = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	list := func() Listing {
		t.Helper()
		l, err := w.Scan(ctx, Scanner{}, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := list(); !slices.Equal(l.names(), []string{"a.md"}) {
		t.Fatal(l.names())
	}
	for _, step := range []struct {
		do   func() error
		want []string
	}{
		{func() error { return os.WriteFile(filepath.Join(dir, "b.md"), []byte("b"), 0o600) }, []string{"a.md", "b.md"}},
		{func() error { return os.Rename(filepath.Join(dir, "b.md"), filepath.Join(dir, "c.md")) }, []string{"a.md", "c.md"}},
		{func() error { return os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o700) }, []string{"a.md", "c.md"}},
		{func() error { return os.WriteFile(filepath.Join(dir, "sub", "deep", "d.md"), []byte("d"), 0o600) },
			[]string{"a.md", "c.md", "sub/deep/d.md"}},
		{func() error { return os.RemoveAll(filepath.Join(dir, "sub")) }, []string{"a.md", "c.md"}},
		{func() error { return os.MkdirAll(filepath.Join(dir, "sub"), 0o700) }, []string{"a.md", "c.md"}},
		{func() error { return os.WriteFile(filepath.Join(dir, "sub", "e.md"), []byte("e"), 0o600) }, []string{"a.md", "c.md",
			"sub/e.md"}},
		{func() error { return os.Remove(filepath.Join(dir, "c.md")) }, []string{"a.md", "sub/e.md"}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for {
			if err := w.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			l := list()
			if slices.Equal(l.names(), step.want) && (!slices.Contains(step.want, "sub/e.md") || len(l.Dirs) == 2) {
				break
			}
		}
	}
	cancel()
	if err := w.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Changes without an end are told all the same.
func TestWatchTellsOfEndlessChanges(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a"})
	w, err := NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Quiet, w.Most = time.Hour, 10*time.Millisecond
	if _, err := w.Scan(t.Context(), Scanner{}, []string{dir}); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "a.md"), "b")
	if err := w.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := w.Scan(t.Context(), Scanner{}, []string{filepath.Join(dir, "absent")}); err == nil {
		t.Error("an absent folder is watched")
	}
}

func TestWatchEndsWithItsWatcher(t *testing.T) {
	w, err := NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(t.Context()); err == nil {
		t.Error("a closed watcher waits")
	}
}
