package meilisearch_test

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// masterKey is that of the servers in this process.
const masterKey = "a-master-key-of-tests"

// settings are those of an index on a server in this process.
func settings(s *meilisearchtest.Server) meilisearch.Config {
	c := meilisearch.Default()
	c.URL, c.APIKey = s.URL, registry.Secret(s.Key)
	return c
}

// real is the server of the environment; the test is skipped without one.
func real(t testing.TB) meilisearch.Config {
	t.Helper()
	c := meilisearch.Default()
	c.URL = os.Getenv("MNEME_TEST_MEILISEARCH_URL")
	if c.URL == "" {
		t.Skip("NOT RUN against a real Meilisearch: set MNEME_TEST_MEILISEARCH_URL and, where it has a master key, " +
			"MNEME_TEST_MEILISEARCH_KEY")
	}
	c.APIKey = registry.Secret(os.Getenv("MNEME_TEST_MEILISEARCH_KEY"))
	return c
}

// fresh gives the index a name that no other test has.
func fresh(c meilisearch.Config) meilisearch.Config {
	c.IndexPrefix = "t" + rand.Text()
	return c
}

func open(t testing.TB, c meilisearch.Config) *meilisearch.Index {
	t.Helper()
	x, err := meilisearch.Open(t.Context(), c, meilisearch.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func contract(t *testing.T, config func(testing.TB) meilisearch.Config, chunks int) {
	configs := map[port.Index]meilisearch.Config{}
	start := func(t testing.TB, c meilisearch.Config) port.Index {
		x := open(t, c)
		configs[x] = c
		return x
	}
	indextest.Run(t, func(t testing.TB) port.Index { return start(t, fresh(config(t))) }, indextest.Options{
		RanksOnly: true, Chunks: chunks,
		Reopen: func(t testing.TB, x port.Index) port.Index {
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			return start(t, configs[x])
		},
	})
}

func TestContract(t *testing.T) {
	contract(t, func(t testing.TB) meilisearch.Config {
		return settings(meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: masterKey}))
	}, 800)
}

func TestContractOfRealServer(t *testing.T) {
	c := real(t)
	c.TaskTimeout = cmp.Or(c.TaskTimeout, time.Minute)
	contract(t, func(testing.TB) meilisearch.Config { return c }, 800)
}
