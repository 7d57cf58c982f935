package postgres_test

import (
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
	c := postgres.Default()
	c.DSN = registry.Secret(server.Database(t))
	if change != nil {
		change(&c)
	}
	return openConfig(t, c)
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
	storetest.Run(t, func(t *testing.T) port.DocumentStore {
		return open(t, func(c *postgres.Config) { c.Pooler, c.Schema = true, "mneme" })
	})
}
