package api_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

func TestModels(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}, reranker: coretest.Reranker{}})
		r := s.get("/models").ok()
		models := r.list("models")
		if got := column(models, "id"); !slices.Equal(got, []string{"test-embedder", "test-rerank", "test-sparse"}) {
			t.Errorf("models: %v", got)
		}
		for _, m := range models {
			fields(t, "a model", m, "id", "kind", "status", "default", "dimensions", "max_input_tokens", "languages",
				"runtime", "version", "digest", "license")
			if m["status"] != "ready" || m["default"] != true || m["max_input_tokens"] != 512.0 ||
				m["version"] != "1" || m["license"] != "Apache-2.0" {
				t.Errorf("model %v", m)
			}
			one := s.get("/models/" + fmt.Sprint(m["id"])).ok()
			if fmt.Sprint(one.json) != fmt.Sprint(m) {
				t.Errorf("read alone %v, in the list %v", one.json, m)
			}
		}
		if models[0]["dimensions"] != 64.0 || models[1]["dimensions"] != nil ||
			fmt.Sprint(models[0]["languages"]) != "[en]" || fmt.Sprint(models[1]["languages"]) != "[]" {
			t.Errorf("models: %s", r.body)
		}
		for kind, want := range map[string][]string{"embedding": {"test-embedder"}, "sparse": {"test-sparse"},
			"rerank": {"test-rerank"}, "answer": {}} {
			if got := column(s.get("/models?kind="+kind).ok().list("models"), "id"); !slices.Equal(got, want) {
				t.Errorf("kind %s: %v", kind, got)
			}
		}
		s.get("/models?kind=vision").fails(400, "invalid_request", "kind")
		s.get("/models/none").fails(404, "not_found", "none")
		if r := start(t, b, options{noEmbed: true}).get("/models").ok(); len(r.list("models")) != 0 {
			t.Errorf("no models: %s", r.body)
		}
	})
}

// TestAModelIsSaidToFail: what queries and the deep check meet is what GET /models, the
// deep check and the metrics say.
func TestAModelIsSaidToFail(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		r := &faultyReranker{}
		s := start(t, b, options{reranker: r, engine: clock})
		library(s, "docs")
		says := func(when, status string) {
			t.Helper()
			if got := s.get("/models?kind=rerank").ok().list("models"); len(got) != 1 || got[0]["status"] != status {
				t.Errorf("%s: %v, want %s", when, got, status)
			}
			if one := s.get("/models/test-rerank").ok(); one.json["status"] != status {
				t.Errorf("%s: %s", when, one.body)
			}
			series := `mneme_model_state{kind="rerank",model="test-rerank",state="` + status + `"} 1`
			if m := s.as("").get("/metrics").ok(); !strings.Contains(string(m.body), series) {
				t.Errorf("%s: the metrics lack %s", when, series)
			}
		}
		says("before a call", "ready")
		broken := func(context.Context, []string) ([]float32, error) { return nil, errors.New("out of order") }
		r.score.Store(&broken)
		s.query("docs", object{"query": "the rent of the flat", "rerank": true})
		says("after a query", "error")
		works := func(ctx context.Context, texts []string) ([]float32, error) {
			p, _, err := r.Reranker.Score(ctx, "How do I reset my password?", texts)
			return p, err
		}
		r.score.Store(&works)
		ahead.Add(int64(6 * time.Second))
		if got := s.get("/health/deep").ok().json["checks"].(object)["rerank"].(object)["status"]; got != "ok" {
			t.Errorf("a check of a reranker that works: %v", got)
		}
		says("after a check that it passed", "ready")
		r.score.Store(&broken)
		ahead.Add(int64(6 * time.Second))
		if got := s.get("/health/deep").ok().json["checks"].(object)["rerank"].(object)["status"]; got != "error" {
			t.Errorf("a check of a reranker that is broken: %v", got)
		}
		says("after a check that it failed", "error")
		if m := string(s.as("").get("/metrics").ok().body); !strings.Contains(m,
			`mneme_model_seconds_count{code="internal_error",kind="rerank",model="test-rerank"} 2`) ||
			!strings.Contains(m, `mneme_model_seconds_count{code="ok",kind="rerank",model="test-rerank"} 1`) {
			t.Error("the metrics do not count the reranker's calls")
		}
	})
}

func TestSourcesAreUnavailable(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		for _, c := range []struct{ method, path string }{
			{"GET", "/source_kinds"}, {"POST", "/sources"}, {"POST", "/sources/check"}, {"GET", "/sources"},
			{"GET", "/sources/src_1"}, {"PATCH", "/sources/src_1"},
			{"DELETE", "/sources/src_1?documents=keep"}, {"POST", "/sources/src_1/sync"},
			{"GET", "/sources/src_1/runs"}, {"GET", "/sources/src_1/runs/run_1"},
			{"GET", "/sources/src_1/runs/run_1/items?status=failed"}, {"POST", "/sources/src_1/runs/run_1/cancel"},
			{"POST", "/sources/src_1/runs/run_1/retry_failed"},
			{"POST", "/sources/src_1/apply_deletions"},
			{"GET", "/sources/src_1/items"}, {"POST", "/sources/src_1/items"}, {"POST", "/sources/src_1/runs"},
			{"POST", "/sources/src_1/runs/run_1/complete"},
		} {
			for _, body := range []any{nil, object{"name": "x", "kind": "directory"}} {
				if r := s.do(c.method, c.path, body).fails(503, "sources_unavailable"); r.header.Get("Retry-After") != "" {
					t.Errorf("%s: Retry-After, although it does not clear on its own", r.call)
				}
			}
			s.do(c.method, c.path, nil, "Authorization", "").fails(401, "unauthorized")
		}
	})
}

func TestHealth(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		ahead, clock := shifted() // so that no outcome is still kept
		s := start(t, b, options{engine: clock, sparse: &coretest.SparseEncoder{}, reranker: coretest.Reranker{}})
		nobody := s.as("")
		if r := nobody.get("/health").ok(); fmt.Sprint(r.json) != "map[status:ok]" {
			t.Errorf("health: %s", r.body)
		}
		deep := func(s *server) *reply { ahead.Add(int64(6 * time.Second)); return s.get("/health/deep") }
		r := deep(nobody).ok()
		fields(t, "deep health without a key", r.json, "status", "time")
		if r.json["status"] != "ok" {
			t.Errorf("deep: %s", r.body)
		}
		for _, kind := range []ident.Kind{ident.Integration, ident.Admin} { // any valid key sees the checks
			if r := deep(s.as(s.issue(key.Issue{Kind: kind,
				Integration: map[bool]string{true: "app"}[kind == ident.Integration]}))).ok(); r.json["checks"] == nil {
				t.Errorf("a key of kind %s: %s", kind, r.body)
			}
		}
		if r := s.as("sk-service-" + strings.Repeat("x", 43)).get("/health/deep").ok(); len(r.json) != 2 {
			t.Errorf("deep health with a wrong key: %s", r.body)
		}
		r = deep(s).ok()
		fields(t, "deep health with a key", r.json, "status", "time", "checks", "version")
		checks := func(r *reply) map[string]string {
			out := map[string]string{}
			for name, c := range r.json["checks"].(object) {
				out[name] = fmt.Sprint(c.(object)["status"])
				if _, ok := c.(object)["latency_ms"].(float64); !ok {
					t.Errorf("check %s: %v", name, c)
				}
			}
			return out
		}
		if got := fmt.Sprint(checks(r)); got != "map[keyword:ok probe:ok rerank:ok sparse:ok store:ok vector:ok]" {
			t.Errorf("checks: %s", got)
		}
		if s.ids("probe") != nil || len(s.get("/namespaces").ok().list("namespaces")) != 0 {
			t.Error("the probe wrote something")
		}

		broken := func(r port.Retriever) {
			hook := func(_ context.Context, _ port.Partition, q port.IndexQuery) error {
				if r == "" || q.Retriever == r {
					return errors.New("dead arm")
				}
				return nil
			}
			s.index.OnSearch.Set(hook)
		}
		// Kept for five seconds.
		broken(port.Vector)
		if r := s.get("/health/deep").ok(); r.json["status"] != "ok" {
			t.Errorf("the outcome was not kept: %s", r.body)
		}
		if r := deep(s).ok(); r.json["status"] != "degraded" || checks(r)["vector"] != "error" || checks(r)["keyword"] != "ok" {
			t.Errorf("with a dead vector arm: %s", r.body)
		}
		broken("")
		if r := deep(s).is(503); r.json["status"] != "error" {
			t.Errorf("with dead arms: %s", r.body)
		}
		if r := deep(nobody).is(503); r.json["status"] != "error" || len(r.json) != 2 {
			t.Errorf("with dead arms, without a key: %s", r.body)
		}
		s.index.OnSearch.Clear()
		s.embedder.Before.Set(func(context.Context, port.TextKind, []string) error { panic("boom") })
		if r := deep(s).ok(); r.json["status"] != "degraded" || checks(r)["vector"] != "error" {
			t.Errorf("with a panicking embedder: %s", r.body)
		}
		s.embedder.Before.Clear()
		disk := errors.New("disk gone")
		s.store.OnPing.Set(func() error { return disk })
		if r := deep(s).is(503); r.json["status"] != "error" || checks(r)["store"] != "error" {
			t.Errorf("with a broken store: %s", r.body)
		}
		s.store.OnPing.Clear()
		if r := deep(s).ok(); r.json["status"] != "ok" {
			t.Errorf("after everything recovered: %s", r.body)
		}
	})
}

func TestMetrics(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{engine: func(c *engine.Config) { c.Count = time.Millisecond }})
		s.write("docs", doc("a", "text", ""))
		s.query("docs", object{"query": "text"})
		s.query("docs", object{"query": "text", "rerank": true})
		s.post("/namespaces/docs/query", object{"query": ""}).fails(400, "invalid_request")
		s.get("/namespaces", "Authorization", "").fails(401, "unauthorized")
		r := s.get("/metrics", "Authorization", "").ok()
		if !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain") || r.header.Get("X-Request-Id") == "" {
			t.Errorf("metrics: %v", r.header)
		}
		for _, line := range []string{
			`mneme_operation_seconds_count{code="ok",op="documents.write",transport="http"} 1`,
			`mneme_operation_seconds_count{code="ok",op="namespaces.query",transport="http"} 2`,
			`mneme_operation_seconds_count{code="invalid_request",op="namespaces.query",transport="http"} 1`,
			`mneme_operation_seconds_count{code="unauthorized",op="namespaces.list",transport="http"} 1`,
			`mneme_operations_in_flight{op="documents.write",transport="http"} 0`, `mneme_build_info{version="test"} 1`,
			`mneme_degraded_total{op="namespaces.query",part="rerank",reason="model_off"} 1`,
			`mneme_query_encodings_total{cache="hit"} 1`, `mneme_index_builds 0`,
		} {
			if !strings.Contains(string(r.body), line+"\n") {
				t.Errorf("no metric %s", line)
			}
		}
		for _, line := range []string{"mneme_namespaces 1", `mneme_documents{space="documents"} 1`,
			`mneme_chunks{space="documents"} 1`, `mneme_text_bytes{space="documents"} 4`} { // counted in the background
			for began := time.Now(); !strings.Contains(string(s.get("/metrics").ok().body), line+"\n"); {
				if time.Since(began) > time.Minute {
					t.Fatalf("no metric %s", line)
				}
			}
		}
		if strings.Contains(string(r.body), s.key) || strings.Contains(string(r.body), `"docs"`) {
			t.Error("metrics show a key or a namespace")
		}
	})
}
