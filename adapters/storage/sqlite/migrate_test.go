package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
)

// A look leaves nothing behind, the step is told.
func TestMigrate(t *testing.T) {
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	const dir = "data" // a relative folder is the default configuration's
	for _, step := range []struct {
		dry  bool
		from int
	}{{true, 0}, {false, 0}, {true, len(known)}, {false, len(known)}} {
		from, to, err := sqlite.Migrate(t.Context(), dir, sqlite.Options{}, step.dry)
		if err != nil || from != step.from || to != len(known) {
			t.Errorf("Migrate, dry %v: %d to %d, %v; want %d to %d", step.dry, from, to, err, step.from, len(known))
		}
		if _, err := os.Stat(filepath.Join(dir, "mneme.db")); step.dry && step.from == 0 && !os.IsNotExist(err) {
			t.Errorf("a look made the database: %v", err)
		}
	}
}

// entries are the names of what lies in a folder.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// A look finds damage, and leaves no file beside the database, which may be in use.
func TestLook(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	if err := sqlite.Look(ctx, filepath.Join(dir, "absent")); err != nil {
		t.Errorf("of nothing: %v", err)
	}
	look := func(when string) {
		t.Helper()
		before := entries(t, dir)
		from, to, err := sqlite.Migrate(ctx, dir, sqlite.Options{}, true)
		if err != nil || from != to {
			t.Errorf("%s: %d to %d, %v", when, from, to, err)
		}
		if err := sqlite.Look(ctx, dir); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if after := entries(t, dir); !slices.Equal(after, before) {
			t.Errorf("%s: there was %v, there is %v", when, before, after)
		}
	}
	s := open(t, dir)
	p, err := memories(ctx, s, "ann")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := save(ctx, s, p, marked("m", i, 10), 1); err != nil {
			t.Fatal(err)
		}
	}
	look("in use")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look("closed")
	path := filepath.Join(dir, "mneme.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 8192 * 5; page+8192 <= len(b); page += 8192 {
		copy(b[page:], bytes.Repeat([]byte{0xa5}, 512))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Look(ctx, dir); !errors.Is(err, sqlite.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if err := os.Truncate(path, 8192*3); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Look(ctx, dir); !errors.Is(err, sqlite.ErrDamaged) {
		t.Errorf("cut off: %v", err)
	}
}
