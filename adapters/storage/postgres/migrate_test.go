package postgres_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/core/registry"
)

// Where a server may not change the schema it says which command does.
func TestMigrate(t *testing.T) {
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	c := postgres.Default()
	c.DSN, c.Schema, c.Migrate = registry.Secret(server.Database(t)), "kept", false
	refused := func(at string) {
		t.Helper()
		s, err := postgres.Open(t.Context(), c, postgres.Options{})
		if !errors.Is(err, postgres.ErrOlderSchema) || !strings.Contains(err.Error(), "mneme migrate") || !strings.Contains(err.Error(), "version "+at) {
			t.Errorf("Open: %v, %v", s, err)
		}
	}
	refused("0")
	for _, step := range []struct {
		dry      bool
		from, to int
	}{{true, 0, len(known)}, {false, 0, len(known)}, {false, len(known), len(known)}, {true, len(known), len(known)}} {
		from, to, err := postgres.Migrate(t.Context(), c, postgres.Options{}, step.dry)
		if err != nil || from != step.from || to != step.to {
			t.Errorf("Migrate, dry %v: %d to %d, %v; want %d to %d", step.dry, from, to, err, step.from, step.to)
		}
		if step.dry && from == 0 {
			refused("0")
		}
	}
	// Tables that are of this database alone are part of it, without a number.
	if _, err := connect(t, c.DSN.Reveal()).Exec(t.Context(), "DROP TABLE kept.write_turn_3"); err != nil {
		t.Fatal(err)
	}
	refused(strconv.Itoa(len(known) - 1))
	if _, _, err := postgres.Migrate(t.Context(), c, postgres.Options{}, false); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), c, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
