package postgres_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
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

// tuned are options of an index whose packs are folded and whose graphs are built
// at once, as those of a large one are in time.
func tuned(t testing.TB) postgres.Options {
	return postgres.Tuned(postgres.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, 20_000, 0)
}

func open(t testing.TB, dsn string, change func(*postgres.Config)) *postgres.Index {
	t.Helper()
	return openWith(t, dsn, change, postgres.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
}

func openWith(t testing.TB, dsn string, change func(*postgres.Config), o postgres.Options) *postgres.Index {
	t.Helper()
	c := postgres.Default()
	c.DSN = registry.Secret(dsn)
	if change != nil {
		change(&c)
	}
	x, err := postgres.Open(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func TestContract(t *testing.T) {
	for name, change := range map[string]func(*postgres.Config){
		"exact":  nil,
		"graph":  func(c *postgres.Config) { c.Vector.ExactChunks = 200 },
		"pooler": func(c *postgres.Config) { c.Pooler, c.Schema = true, "Mneme's" },
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "graph" {
				t.Skip("it does the same at once as the graph does")
			}
			dsns := map[port.Index]string{}
			at := func(t testing.TB, dsn string) port.Index {
				var x port.Index
				if name == "graph" {
					x = openWith(t, dsn, change, tuned(t))
				} else {
					x = open(t, dsn, change)
				}
				dsns[x] = dsn
				return x
			}
			var settle func(testing.TB, port.Index, port.Partition)
			if name == "graph" {
				settle = func(t testing.TB, x port.Index, _ port.Partition) { waitIndexed(t, dsns[x], 1) }
			}
			indextest.Run(t, func(t testing.TB) port.Index { return at(t, server.Database(t)) }, indextest.Options{
				Settle: settle,
				Reopen: func(t testing.TB, x port.Index) port.Index {
					if err := x.Close(); err != nil {
						t.Fatal(err)
					}
					return at(t, dsns[x])
				},
			})
		})
	}
}
