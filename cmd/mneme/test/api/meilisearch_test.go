package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/meilisearch/meilisearch-go"

	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/registry"
)

// searchServers are the Meilisearch servers in this process, by data folder.
var searchServers sync.Map // string to *meilisearchtest.Server

// searchConfig is the index of a folder: on the server that the environment names,
// or on one in this process that lives as long as the test.
func searchConfig(t testing.TB, dir string) meilisearch.Config {
	t.Helper()
	c := meilisearch.Default()
	sum := sha256.Sum256([]byte(dir))
	c.IndexPrefix = "api" + hex.EncodeToString(sum[:8])
	if c.URL = os.Getenv("MNEME_TEST_MEILISEARCH_URL"); c.URL != "" {
		c.APIKey = registry.Secret(os.Getenv("MNEME_TEST_MEILISEARCH_KEY"))
		return c
	}
	s := searchServer(t, dir)
	c.URL, c.APIKey = s.URL, registry.Secret(s.Key)
	return c
}

func searchServer(t testing.TB, dir string) *meilisearchtest.Server {
	t.Helper()
	if s, ok := searchServers.Load(dir); ok {
		return s.(*meilisearchtest.Server)
	}
	s := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: "a-master-key-of-tests"})
	searchServers.Store(dir, s)
	t.Cleanup(func() { searchServers.Delete(dir) })
	return s
}

func forgetMeilisearch(t testing.TB, c *meilisearch.Config) {
	t.Helper()
	server := client.New(c.URL, client.WithAPIKey(c.APIKey.Reveal()))
	task, err := server.DeleteIndexWithContext(context.Background(), c.IndexPrefix+"_chunks")
	if err == nil {
		_, err = server.WaitForTaskWithContext(context.Background(), task.TaskUID, time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func tracesMeilisearch(t testing.TB, c *meilisearch.Config, marker string) (found []string) {
	t.Helper()
	var all client.DocumentsResult
	err := client.New(c.URL, client.WithAPIKey(c.APIKey.Reveal())).Index(c.IndexPrefix+
		"_chunks").GetDocuments(&client.DocumentsQuery{Limit: 1_000_000}, &all)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all.Results {
		for field, raw := range d {
			if strings.Contains(strings.ToLower(string(raw)), strings.ToLower(marker)) {
				found = append(found, fmt.Sprintf("field %s of %s", field, d["id"]))
			}
		}
	}
	return found
}

// outage starts a server whose keyword index is on a Meilisearch of its own, with
// a policy for when that is away.
func outage(t *testing.T, policy meilisearch.Outage) (*server, *meilisearchtest.Server) {
	t.Helper()
	b := laptop
	b.name = "sqlite+meilisearch"
	b.change = func(t testing.TB, dir string, config *configs.Config) {
		s := searchServer(t, dir)
		c := meilisearch.Default()
		c.URL, c.APIKey, c.OnOutage = s.URL, registry.Secret(s.Key), policy
		c.Timeout, c.TaskTimeout, c.VerifyEvery = 5*time.Second, 10*time.Second, 50*time.Millisecond
		config.Keyword = registry.Selection{Component: "meilisearch", Config: &c}
	}
	dir := t.TempDir()
	search := searchServer(t, dir)
	return start(t, b, options{dir: dir}), search
}

func (r *reply) degraded() string {
	r.t.Helper()
	s := ""
	for _, d := range r.list("degraded") {
		s += fmt.Sprint(d["part"], ":", d["reason"], " ")
	}
	return s
}

// degrades checks what queries answer while Meilisearch is away.
func degrades(t *testing.T, s *server) {
	t.Helper()
	r := s.query("ns", object{"query": "lighthouse keeper", "retrievers": []string{"vector", "keyword"}})
	if d := r.degraded(); d != "keyword:error " || len(r.found()) == 0 {
		t.Errorf("a query without Meilisearch: degraded %q, found %v", d, r.found())
	}
	s.post("/namespaces/ns/query", object{"query": "lighthouse", "retrievers": []string{"vector", "keyword"},
		"strict": true}).fails(503, "unavailable", "keyword").retry()
	s.post("/namespaces/ns/query", object{"query": "lighthouse", "retrievers": []string{"keyword"}}).fails(503,
		"unavailable", "keyword").retry()
}

func (s *server) keyword(query string) []string {
	s.t.Helper()
	return s.query("ns", object{"query": query, "retrievers": []string{"keyword"}}).found()
}

func TestMeilisearchAwayRefusesWrites(t *testing.T) {
	t.Parallel()
	s, search := outage(t, meilisearch.Refuse)
	s.write("ns", doc("a", "The lighthouse keeper wrote a letter.", ""))
	if got := s.keyword("lighthouse"); len(got) != 1 {
		t.Fatalf("found %v", got)
	}
	search.Down()
	degrades(t, s)
	write := object{"documents": []object{doc("b", "A lighthouse on the other shore.", "")}}
	s.post("/namespaces/ns/documents", write).fails(503, "unavailable").retry()
	search.Up(t)
	s.post("/namespaces/ns/documents", write).ok() // repeating it is safe
	if got := s.keyword("lighthouse"); len(got) != 2 {
		t.Errorf("found %v after the write was repeated", got)
	}
}

func TestMeilisearchAwayCatchesUp(t *testing.T) {
	t.Parallel()
	s, search := outage(t, meilisearch.CatchUp)
	s.write("ns", doc("a", "The lighthouse keeper wrote a letter.", ""), doc("gone", "A lighthouse in ruins.", ""))
	search.Down()
	for i := range 20 {
		s.write("ns", doc(fmt.Sprint("w", i), fmt.Sprintf("Lighthouse number %d.", i), ""))
	}
	s.post("/namespaces/ns/documents/delete", object{"ids": []string{"gone"}}).ok()
	degrades(t, s)
	search.Up(t)
	harness.Eventually(t, "keyword search catches up", func() bool {
		r := s.query("ns", object{"query": "lighthouse", "retrievers": []string{"vector", "keyword"}, "top_k": 100})
		return r.degraded() == ""
	})
	got := s.query("ns", object{"query": "lighthouse", "retrievers": []string{"keyword"}, "top_k": 100})
	if n := len(got.found()); n != 21 {
		t.Errorf("%d documents found after catching up, want 21: %v", n, got.found())
	}
	if kind := got.json["score_kind"]; kind != "fused" {
		t.Errorf("score_kind is %v of scores that only rank", kind)
	}
}

// A restart forgets what was to be caught up; the first query finds it out. A server
// starts without Meilisearch whatever becomes of writes in the meantime.
func TestMeilisearchAwayOverARestart(t *testing.T) {
	t.Parallel()
	for policy, write := range map[meilisearch.Outage]func(*server, object){
		meilisearch.CatchUp: func(s *server, d object) { s.write("ns", d) },
		meilisearch.Refuse: func(s *server, d object) { // it is stored all the same
			s.post("/namespaces/ns/documents", object{"documents": []object{d}}).fails(503, "unavailable").retry()
		},
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			s, search := outage(t, policy)
			s.write("ns", doc("a", "The lighthouse keeper wrote a letter.", ""))
			search.Down()
			write(s, doc("b", "A lighthouse on the other shore.", ""))
			s = s.restart(nil)
			degrades(t, s)
			write(s, doc("c", "The third lighthouse.", ""))
			search.Up(t)
			harness.Eventually(t, "keyword search catches up", func() bool {
				r := s.query("ns", object{"query": "lighthouse", "retrievers": []string{"vector", "keyword"}})
				return r.degraded() == "" && len(r.found()) == 3
			})
			if got := s.keyword("lighthouse"); len(got) != 3 {
				t.Errorf("found %v", got)
			}
		})
	}
}

// Breaking connections and refusals at random: every acknowledged write is found
// in the end, and nothing twice.
func TestMeilisearchFaultsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, policy := range []meilisearch.Outage{meilisearch.Refuse, meilisearch.CatchUp} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			s, search := outage(t, policy)
			s.write("ns", doc("first", "lighthouse zero", ""))
			var n sync.Mutex
			count := 0
			search.Fault(func(*http.Request) int {
				n.Lock()
				defer n.Unlock()
				count++
				switch count % 7 {
				case 2:
					return -1
				case 4:
					return 503
				case 5:
					return 500
				}
				return 0
			})
			want := map[string]bool{"first": true}
			for i := range 40 {
				id := fmt.Sprint("d", i)
				r, err := s.send(t.Context(), "POST", "/namespaces/ns/documents",
					object{"documents": []object{doc(id, fmt.Sprintf("lighthouse %d", i), "")}})
				if err != nil {
					t.Fatal(err)
				}
				if r.status == 200 {
					want[id] = true
				} else {
					r.fails(503, "unavailable")
				}
			}
			search.Fault(nil)
			var found map[string]bool
			harness.Eventually(t, "everything acknowledged is found", func() bool {
				r := s.query("ns", object{"query": "lighthouse", "retrievers": []string{"vector", "keyword"}, "top_k": 100})
				if r.degraded() != "" {
					return false
				}
				found = map[string]bool{}
				for _, id := range s.query("ns",
					object{"query": "lighthouse", "retrievers": []string{"keyword"}, "top_k": 100}).found() {
					if found[id] {
						t.Fatalf("%s is found twice", id)
					}
					found[id] = true
				}
				return true
			})
			for id := range want {
				if !found[id] {
					t.Errorf("%s was acknowledged and is not found", id)
				}
			}
		})
	}
}
