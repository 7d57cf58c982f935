package opensearch_test

import (
	"crypto/rand"
	"flag"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/adapters/index/opensearch"
	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
	"github.com/mnemehq/mneme/core/port"
)

var node = opensearchtest.New()

// Each of the contract's random runs is some hundred requests to a server.
func size() (rapidChecks string, chunks int) {
	if opensearchtest.Whole() {
		return "10", 800
	}
	return "1", 150
}

func TestMain(m *testing.M) {
	checks, _ := size()
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	code := m.Run()
	node.Stop()
	os.Exit(code)
}

// settings are those of an index of its own, which goes with the test.
func settings(t testing.TB) opensearch.Config {
	t.Helper()
	if testing.Short() {
		t.Skip("a node takes too long to start and answer under the race detector")
	}
	c := opensearch.Default()
	c.Hosts = []string{node.URL(t)}
	c.IndexPrefix = "t" + strings.ToLower(rand.Text())
	c.Shards, c.Replicas = 2, 0
	t.Cleanup(func() {
		if err := opensearch.Delete(c); err != nil {
			t.Error(err)
		}
	})
	return c
}

func open(t testing.TB, c opensearch.Config) *opensearch.Index {
	t.Helper()
	x, err := opensearch.Open(t.Context(), c, opensearch.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func contract(t *testing.T, set func(*opensearch.Config), opened func(*opensearch.Index)) {
	_, chunks := size()
	configs := map[port.Index]opensearch.Config{}
	start := func(t testing.TB, c opensearch.Config) port.Index {
		x := open(t, c)
		opened(x)
		configs[x] = c
		return x
	}
	indextest.Run(t, func(t testing.TB) port.Index {
		c := settings(t)
		set(&c)
		return start(t, c)
	}, indextest.Options{
		Chunks: chunks,
		Reopen: func(t testing.TB, x port.Index) port.Index {
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			return start(t, configs[x])
		},
	})
}

func TestContract(t *testing.T) { contract(t, func(*opensearch.Config) {}, func(*opensearch.Index) {}) }

// The contract holds for the way in which large partitions are searched.
func TestContractOfLargePartitions(t *testing.T) {
	opensearchtest.Part(t)
	contract(t, func(*opensearch.Config) {}, opensearch.TakeForLarge)
}
