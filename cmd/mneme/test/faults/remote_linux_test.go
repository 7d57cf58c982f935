package faults_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/port"
)

// builtin opens one of the models that the program carries.
func builtin[M port.Model](t testing.TB, name string) M {
	t.Helper()
	c := wasm.Default()
	c.Module = "builtin:" + name
	m, err := wasm.Open(context.Background(), c, os.Getenv("MNEME_CACHE"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m.(M)
}

// providerSet is a server of each dialect over the built-in models, and a
// configuration that points every role at them.
type providerSet struct {
	embed, sparse, rerank *remotetest.Server
	config                string
	env                   []string // holds a key; the other one is in a file
}

func providers(t testing.TB) providerSet {
	t.Helper()
	embed := remotetest.OpenAI(t, remotetest.Options{Key: "key-from-environment", Model: "e5", Dimensions: 384,
		Computes: remotetest.Behind{Embedder: builtin[port.Embedder](t, "e5-small-v2")}})
	sparse := remotetest.TEI(t, remotetest.Options{
		Key:      "key-from-file",
		Model:    "splade",
		Kind:     "sparse",
		Computes: remotetest.Behind{Encoder: builtin[port.SparseEncoder](t, "splade-tiny")},
	})
	rerank := remotetest.Cohere(t, remotetest.Options{Model: "ranker",
		Computes: remotetest.Behind{Reranker: builtin[port.Reranker](t, "rerank-small")}})
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte("key-from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`
models:
  vectors:
    openai: { task: embedding, base_url: "%s/v1", model: e5, api_key: "${PROVIDER_KEY}", dimensions: 384, `+
		`max_input_tokens: 512, query_prefix: "query: ", passage_prefix: "passage: ",
      client: { breaker_failures: 3, breaker_wait: 1s } }
  terms:
    tei: { task: sparse, base_url: "%s", model: splade, api_key: "${file:%s}", query_prompt: query }
  ranker:
    cohere: { task: rerank, base_url: "%s", model: ranker, max_input_tokens: 512 }
  writer:
    openai: { base_url: "%[1]s/v1", model: e5, api_key: "${PROVIDER_KEY}" }
roles: { embed: vectors, sparse: terms, rerank: ranker, synthesize: writer }
`, embed.URL, sparse.URL, secret, rerank.URL)
	return providerSet{
		embed:  embed,
		sparse: sparse,
		rerank: rerank,
		config: config,
		env:    []string{"PROVIDER_KEY=key-from-environment"},
	}
}

// harbour is a small collection.
func harbour() []object {
	texts := []string{"The harbour master keeps the keys of the north store.",
		"Visitors are welcome from nine in the morning, closed on Mondays.",
		"To choose a new password, open the account page and follow the link.", "Economy post costs least but takes a week.",
		"The committee approved the budget for road repairs.", strings.Repeat("Rain fell on the quay all night. ", 120)}
	docs := make([]object, len(texts))
	for i, text := range texts {
		docs[i] = object{"id": fmt.Sprint("d", i), "text": text}
	}
	return docs
}

// TestRemoteModels runs every role on remote endpoints and compares with the
// same models in the process: write, query, rerank and recall give the same.
func TestRemoteModels(t *testing.T) {
	set := providers(t)
	embed, sparse, rerank := set.embed, set.sparse, set.rerank
	remote := newSite(t, "", smallIndex+set.config, set.env...)
	local := newSite(t, "", smallIndex+"models:\n  e5: { wasm: { module: \"builtin:e5-small-v2\" } }\n"+
		"  splade: { wasm: { module: "+
		"\"builtin:splade-tiny\" } }\n"+
		"  ranker: { wasm: { module: \"builtin:rerank-small\" } }\nroles: { embed: e5, sparse: splade, rerank: ranker }\n")
	there, here := remote.start(), local.start()
	for _, p := range []*process{there, here} {
		p.OK("POST", "/namespaces", object{"name": "port", "sparse": true})
		p.OK("POST", "/namespaces/port/documents", object{"documents": harbour()})
	}
	for _, query := range []string{"who has the keys", "how do I reset my password", "cheapest way to ship a parcel",
		"when does the museum open", "rain"} {
		for _, reranked := range []bool{false, true} {
			body := object{"query": query, "rerank": reranked, "strict": true}
			var a, b queried
			there.OK("POST", "/namespaces/port/query", body).Into(&a)
			here.OK("POST", "/namespaces/port/query", body).Into(&b)
			if len(a.Results) == 0 || len(a.Results) != len(b.Results) || len(a.Degraded) != 0 {
				t.Fatalf("%q: %d results, %d in the process; degraded %v", query, len(a.Results), len(b.Results), a.Degraded)
			}
			for i := range a.Results {
				if a.Results[i].DocumentID != b.Results[i].DocumentID || math.Abs(a.Results[i].Score-b.Results[i].Score) > 5e-3 {
					t.Errorf("%q, reranked %t: place %d is %s with %.4f, in the process %s with %.4f", query, reranked, i,
						a.Results[i].DocumentID, a.Results[i].Score, b.Results[i].DocumentID, b.Results[i].Score)
				}
			}
		}
	}
	var ranked struct {
		Results []struct {
			Index int
			Score float64
		}
		Model     string
		Truncated int
	}
	there.OK("POST", "/rerank", object{"query": "who has the keys",
		"documents": []string{"Rain fell.", "The harbour master keeps the keys."}}).Into(&ranked)
	if ranked.Model != "ranker" || ranked.Results[0].Index != 1 || !(ranked.Results[0].Score > ranked.Results[1].Score) {
		t.Errorf("rerank: %+v", ranked)
	}
	var listed struct {
		Models []struct {
			ID, Kind, Runtime, Digest string
			Dimensions                *int
		}
	}
	there.OK("GET", "/models", nil).Into(&listed)
	for _, m := range listed.Models {
		if m.Runtime != "remote" || !strings.HasPrefix(m.Digest, "sha256:") ||
			(m.Kind == "embedding") != (m.Dimensions != nil && *m.Dimensions == 384) {
			t.Errorf("listed %+v", m)
		}
	}
	if len(listed.Models) != 4 || embed.Calls() == 0 || sparse.Calls() == 0 || rerank.Calls() == 0 {
		t.Errorf("%d models; %d, %d and %d calls", len(listed.Models), embed.Calls(), sparse.Calls(), rerank.Calls())
	}
	if log := there.Logged() + remote.Mneme("config", "show").Stdout; strings.Contains(log, "key-from-") {
		t.Errorf("a key is shown:\n%s", log)
	}

	// Recall, with an answer written by the remote language model.
	chat := there.As(remote.Key("--type", "integration", "--name", "chat", "--scopes",
		"memories:read,memories:write,recall:read"))
	chat.OK("POST", "/api/v1/memories", object{"endUserId": "ann", "content": "Ann moved to Lyon in May."})
	var recalled struct {
		Answer    string
		Citations []struct{ Quote string }
		Model     string
	}
	chat.OK("POST", "/api/v1/recall", object{"endUserId": "ann", "query": "Where did Ann move?"}).Into(&recalled)
	if !strings.Contains(recalled.Answer, "Lyon") || len(recalled.Citations) != 1 || recalled.Model != "writer" {
		t.Errorf("recall: %+v", recalled)
	}

	// A key that the provider no longer takes is the upstream's fault, and said so in the log.
	embed.Inject(remotetest.Refuse(http.StatusUnauthorized, ""))
	if a := there.Call("POST", "/namespaces/port/documents",
		object{"documents": []object{{"id": "x", "text": "a new text"}}}); a.Status != 502 || a.Code() != "upstream_error" {
		t.Errorf("a refused key: %s", a)
	}
	harness.EventuallySees(t, "the log tells of the key", func() (bool, string) {
		log := there.Logged()
		return strings.Contains(log, "remote model key refused"), log
	})
	there.stop()
}

// TestRemoteModelsKeepPromises puts remote models to the check that vendors' models go through.
func TestRemoteModelsKeepPromises(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: checking three models takes minutes; -short leaves it out")
	}
	set := providers(t)
	s := newSite(t, "", smallIndex+set.config, set.env...)
	// Their memory is their servers', so nothing endures; what is left of the time is for their speed.
	const brief = "--long-run=500ms"
	for model, length := range map[string]string{"vectors": brief, "terms": "--quick", "ranker": brief} {
		t.Run(model, func(t *testing.T) {
			if r := harness.Run(t, s.Command("models", "check", length, model)); r.Code != 0 {
				t.Errorf("exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
}

// TestRemoteDown starts while the embedding endpoint is down: the server comes
// up, answers 503 with Retry-After where vectors are needed and by other ways
// where they are not, and works again by itself when the endpoint is back.
func TestRemoteDown(t *testing.T) {
	set := providers(t)
	embed := set.embed
	target, err := url.Parse(embed.URL)
	if err != nil {
		t.Fatal(err)
	}
	addr := harness.Address(t) // nothing listens there now
	s := newSite(t, "", smallIndex+strings.ReplaceAll(set.config, embed.URL, "http://"+addr), set.env...)
	p := s.start()
	write := func() harness.Answer {
		return p.Call("POST", "/namespaces/port/documents", object{"documents": harbour()[:2]})
	}
	for range 5 { // the breaker opens on the way
		a := write()
		after, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if a.Status != 503 || a.Code() != "unavailable" || err != nil || after < 1 {
			t.Fatalf("a write without the endpoint: %s, Retry-After %q", a, a.Header.Get("Retry-After"))
		}
	}
	started := time.Now()
	if a := write(); a.Status != 503 {
		t.Errorf("with the breaker open: %s", a)
	}
	t.Logf("refused in %s while the breaker is open", time.Since(started))

	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	back := &http.Server{Handler: harness.Buffered(httputil.NewSingleHostReverseProxy(target))}
	go func() { _ = back.Serve(l) }()      // until Close
	t.Cleanup(func() { _ = back.Close() }) // nothing is lost
	up := time.Now()
	for a := write(); a.Status != 200; a = write() {
		if time.Since(up) > 2*time.Minute {
			t.Fatalf("the endpoint is back and still: %s", a)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("back after %s", time.Since(up))
	var found queried
	p.OK("POST", "/namespaces/port/query", object{"query": "harbour keys"}).Into(&found)
	if len(found.Results) == 0 || found.Results[0].DocumentID != "d0" || len(found.Degraded) != 0 {
		t.Errorf("found %+v", found)
	}

	// Down again: a query goes by words and says what is missing.
	_ = back.Close()
	var degraded queried
	p.OK("POST", "/namespaces/port/query", object{"query": "who is the master of it all"}).Into(&degraded)
	if len(degraded.Degraded) == 0 || len(degraded.Results) == 0 {
		t.Errorf("without the endpoint: %+v", degraded)
	}
	if a := p.Call("POST", "/namespaces/port/query",
		object{"query": "who is the master of everything", "strict": true}); a.Status != 503 ||
		a.Header.Get("Retry-After") == "" {
		t.Errorf("strict: %s, Retry-After %q", a, a.Header.Get("Retry-After"))
	}
	p.stop()
}
