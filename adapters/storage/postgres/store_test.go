package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/adapters/storage/storetest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

var server *postgrestest.Server

func TestMain(m *testing.M) {
	server = postgrestest.Start()
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func open(t testing.TB, change func(*postgres.Config)) *postgres.Store {
	t.Helper()
	return openConfig(t, config(t, change))
}

// config is that of a database of its own: with a schema, where nothing is changed.
func config(t testing.TB, change func(*postgres.Config)) postgres.Config {
	t.Helper()
	c := postgres.Default()
	if change == nil {
		c.DSN = registry.Secret(server.Copy(t, "migrated", migrate(c)))
		return c
	}
	c.DSN = registry.Secret(server.Database(t))
	change(&c)
	return c
}

// migrate makes a configuration's schema in an empty database.
func migrate(c postgres.Config) func(dsn string) error {
	return func(dsn string) error {
		c.DSN = registry.Secret(dsn)
		s, err := postgres.Open(context.Background(), c, postgres.Options{})
		if err != nil {
			return err
		}
		return s.Close()
	}
}

func openConfig(t testing.TB, c postgres.Config) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), c, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) port.DocumentStore { return open(t, nil) })
}

// Behind a pooler nothing may depend on the session.
func TestContractWithPooler(t *testing.T) {
	if testing.Short() {
		t.Skip("what it does at once is what TestContract does, but for how statements are sent")
	}
	storetest.Brief(t)
	c := postgres.Default()
	c.Pooler, c.Schema = true, "mneme"
	storetest.Run(t, func(t *testing.T) port.DocumentStore {
		c := c
		c.DSN = registry.Secret(server.Copy(t, "pooler", migrate(c)))
		return openConfig(t, c)
	})
}
