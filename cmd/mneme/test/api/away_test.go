package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/adapters/index/opensearch"
	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/registry"
)

// keywordEngine is a server of keyword search that a test takes away and brings back. It begins away.
type keywordEngine interface {
	selection(outage string) registry.Selection
	Up(t testing.TB)
	Down()
}

type awayMeilisearch struct{ *meilisearchtest.Server }

func (e awayMeilisearch) selection(outage string) registry.Selection {
	c := meilisearch.Default()
	c.URL, c.APIKey, c.OnOutage = e.URL, registry.Secret(e.Key), meilisearch.Outage(outage)
	c.Timeout, c.TaskTimeout = 5*time.Second, 10*time.Second
	return registry.Selection{Component: "meilisearch", Config: &c}
}

type awayOpenSearch struct{ *opensearchtest.Local }

func (e awayOpenSearch) selection(outage string) registry.Selection {
	c := opensearch.Default()
	c.Hosts, c.OnOutage, c.Shards, c.Replicas = []string{e.URL()}, opensearch.Outage(outage), 1, 0
	return registry.Selection{Component: "opensearch", Config: &c}
}

// A server whose keyword engine is away starts, the first time over an empty folder and later ones, serves all that
// the engine is not needed for, takes writes as on_outage says, and serves everything once the engine is there,
// each time that it comes back.
func TestKeywordEngineAwayAtTheStart(t *testing.T) {
	t.Parallel()
	sequential(t)
	for name, begin := range map[string]func(testing.TB) keywordEngine{
		"meilisearch": func(t testing.TB) keywordEngine {
			s := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: "a-master-key-of-tests"})
			s.Down()
			return awayMeilisearch{s}
		},
		"opensearch": func(t testing.TB) keywordEngine { return awayOpenSearch{opensearchtest.NewLocal(t)} },
	} {
		for _, policy := range []string{"refuse", "catch_up"} {
			t.Run(name+" "+policy, func(t *testing.T) {
				t.Parallel()
				awayAndBack(t, begin(t), policy)
			})
		}
	}
}

func awayAndBack(t *testing.T, engine keywordEngine, policy string) {
	t.Helper()
	b := laptop
	b.name = "sqlite, keywords apart"
	b.change = func(_ testing.TB, _ string, c *configs.Config) { c.Keyword = engine.selection(policy) }
	s := start(t, b, options{})
	var want []string
	// write says what a document became of: stored it is in any case.
	write := func(away bool) {
		t.Helper()
		id := fmt.Sprint("d", len(want))
		want = append(want, id)
		d := doc(id, fmt.Sprintf("The lighthouse keeper wrote letter %d.", len(want)), "")
		r := s.post("/namespaces/ns/documents", object{"documents": []object{d}})
		switch {
		case away && policy == "refuse":
			r.fails(503, "unavailable").retry()
		default:
			r.ok()
		}
	}
	failing := func() { // as long as this process was not asked before
		t.Helper()
		if c := s.get("/health/deep").ok().json["checks"].(object)["keyword"].(object); c["status"] != "error" {
			t.Errorf("deep health says %v of the keyword index", c)
		}
	}
	away := func() {
		t.Helper()
		write(true)
		degrades(t, s)
		got := s.query("ns", object{"query": "lighthouse", "retrievers": []string{"vector"}, "top_k": 100}).found()
		if len(got) != len(want) {
			t.Errorf("by meaning %v are found of %v", got, want)
		}
		s.get("/namespaces/ns/documents/" + want[len(want)-1]).ok()
	}
	back := func() {
		t.Helper()
		engine.Up(t)
		harness.Eventually(t, "keyword search is whole", func() bool {
			r := s.query("ns", object{"query": "lighthouse", "retrievers": []string{"vector", "keyword"}, "top_k": 100})
			return r.degraded() == ""
		})
		write(false)
		got := s.query("ns", object{"query": "lighthouse", "retrievers": []string{"keyword"}, "top_k": 100,
			"strict": true}).found()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("keyword search finds %v of %v", got, want)
		}
	}
	for range 2 {
		away() // at the start
		failing()
		back()
		engine.Down()
		away() // while it runs
		back()
		engine.Down()
		s = s.restart(nil)
	}
	away()
	failing()
	back()
}
