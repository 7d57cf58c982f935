package sharded_test

import (
	"context"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sharded"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/adapters/storage/storetest"
	"github.com/mnemehq/mneme/core/port"
)

// numbers is bunsql.Numbers of SQLite.
type numbers struct{}

func (numbers) Last(ctx context.Context, s *bunsql.Session, table, _ string) (last int64, err error) {
	_, err = s.Row(ctx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, []any{table}, &last)
	return last, err
}

func (numbers) Set(ctx context.Context, s *bunsql.Session, table, _ string, last int64) error {
	if err := s.Exec(ctx, `DELETE FROM sqlite_sequence WHERE name = ?`, table); err != nil {
		return err
	}
	return s.Exec(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)`, table, last)
}

// borrowed is a store that another closes.
type borrowed struct{ port.DocumentStore }

func (borrowed) Close() error { return nil }

func (b borrowed) Dump(ctx context.Context, fn func(port.Dump) error) error {
	return b.DocumentStore.(port.Dumper).Dump(ctx, fn)
}

// options are those of three databases in folders of their own.
func options(t *testing.T, place string) sharded.Options {
	t.Helper()
	var home port.DocumentStore
	member := func(name string, opened *port.DocumentStore) sharded.Database {
		dir := sqlitetest.Dir(t)
		return sharded.Database{Name: name, Open: func(ctx context.Context) (port.DocumentStore, error) {
			s, err := sqlite.Open(ctx, dir, sqlite.Options{})
			if err == nil {
				*opened = s
			}
			return s, err
		}}
	}
	return sharded.Options{
		Home:        member("home", &home),
		Side:        func(context.Context) (port.DocumentStore, error) { return borrowed{home}, nil },
		Others:      []sharded.Database{member("b", new(port.DocumentStore)), member("c", new(port.DocumentStore))},
		Place:       place,
		Numbers:     numbers{},
		Unreachable: func(error) bool { return false },
	}
}

func open(t *testing.T, o sharded.Options) *sharded.Store {
	t.Helper()
	s, err := sharded.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The store is the same over three databases, with the default organization in the home and others where there
// are the fewest.
func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) port.DocumentStore { return open(t, options(t, sharded.Fewest)) })
}
