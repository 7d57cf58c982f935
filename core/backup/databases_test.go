package backup_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/backup/folder"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sharded"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/backup"
	"github.com/mnemehq/mneme/core/port"
)

// lasts is bunsql.Numbers of SQLite.
type lasts struct{}

func (lasts) Last(ctx context.Context, s *bunsql.Session, table, _ string) (last int64, err error) {
	_, err = s.Row(ctx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, []any{table}, &last)
	return last, err
}

func (lasts) Set(ctx context.Context, s *bunsql.Session, table, _ string, last int64) error {
	if err := s.Exec(ctx, `DELETE FROM sqlite_sequence WHERE name = ?`, table); err != nil {
		return err
	}
	return s.Exec(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)`, table, last)
}

// lent is a store that another closes.
type lent struct{ port.DocumentStore }

func (lent) Close() error { return nil }

// A backup of several databases is verified and added to as one of a single database is, and who was erased in any of them
// after it was made is erased again where it is restored.
func TestBackupOfDatabases(t *testing.T) {
	ctx := t.Context()
	var home port.DocumentStore
	member := func(name string) sharded.Database {
		dir := t.TempDir()
		return sharded.Database{Name: name, Open: func(ctx context.Context) (port.DocumentStore, error) {
			s, err := sqlite.Open(ctx, dir, sqlite.Options{})
			if name == "home" {
				home = s
			}
			return s, err
		}}
	}
	s, err := sharded.Open(ctx, sharded.Options{Home: member("home"), Others: []sharded.Database{member("b"), member("c")},
		Place: "b", Numbers: lasts{}, Unreachable: func(error) bool { return false },
		Side: func(context.Context) (port.DocumentStore, error) { return lent{home}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	update := func(fn func(port.DocumentWriter) error) {
		t.Helper()
		if err := s.UpdateDocuments(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(w port.DocumentWriter) error {
		return w.PutOrganization(ctx, port.Organization{ID: "org_b", Name: "b", CreatedAt: time.Unix(1, 0)})
	})
	users := []port.Partition{port.Memories("org_b", "int_1", "ann"), port.Memories("org_b", "int_1", "bo")}
	update(func(w port.DocumentWriter) error {
		if err := w.PutIntegration(ctx, port.Integration{ID: "int_1", Org: "org_b", Name: "i"}); err != nil {
			return err
		}
		for _, p := range users {
			if _, err := w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: 2, CreatedAt: time.Unix(1, 0)}); err != nil {
				return err
			}
		}
		return nil
	})
	place, err := folder.Open(filepath.Join(t.TempDir(), "backups"), nil)
	if err != nil {
		t.Fatal(err)
	}
	create := func() backup.Manifest {
		t.Helper()
		m, err := backup.Create(ctx, s, backup.Settings{Place: place, Program: "test", Store: "test"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := create()
	if n := first.Rows("namespaces"); n != 2 || len(first.Databases()) != 2 {
		t.Errorf("%d namespaces, databases %q", n, first.Databases())
	}
	if again := create(); again.Added != 0 {
		t.Errorf("once more, unchanged: %d bytes were added", again.Added)
	}
	update(func(w port.DocumentWriter) error {
		_, err := w.DeletePartition(ctx, users[0])
		return err
	})
	create()
	r, err := backup.Open(ctx, place, backup.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.Verify(ctx, "", nil); err != nil || len(v.Damaged) > 0 || v.Backups != 3 {
		t.Errorf("verified: %+v, %v", v, err)
	}
	dir := t.TempDir()
	done, err := r.Restore(ctx, backup.Restore{ID: first.ID, Fill: func(ctx context.Context, from port.Restoring) error {
		return sqlite.Restore(ctx, dir, sqlite.Options{}, from)
	}})
	if err != nil || done.Erased != 1 {
		t.Fatalf("%d erased since, %v", done.Erased, err)
	}
	one, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = one.Close() }()
	if err := one.View(ctx, func(r port.Reader) error {
		erasing, err := r.Erasing(ctx)
		if err == nil && len(erasing) != 1 {
			t.Errorf("to be erased again: %v", erasing)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
