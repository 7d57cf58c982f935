package api_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
)

// route is one keyed call of the namespace API with a valid request.
type route struct {
	method, path string
	body         any
	writes       bool
	ns           bool // addresses namespace docs
}

func routes() []route {
	return []route{
		{"GET", "/namespaces", nil, false, false},
		{"POST", "/namespaces", object{"name": "docs"}, true, true},
		{"GET", "/namespaces/docs", nil, false, true},
		{"POST", "/namespaces/docs/documents", object{"documents": []object{doc("a", "text", "")}}, true, true},
		{"GET", "/namespaces/docs/documents", nil, false, true},
		{"GET", "/namespaces/docs/documents/a", nil, false, true},
		{"POST", "/namespaces/docs/documents/delete", object{"ids": []string{"none"}}, true, true},
		{"POST", "/namespaces/docs/query", object{"query": "text"}, false, true},
		{"GET", "/namespaces/docs/operations/op_x", nil, false, true},
		{"DELETE", "/namespaces/docs", nil, true, true},
		{"GET", "/models", nil, false, false},
		{"GET", "/models/test-embedder", nil, false, false},
		{"POST", "/rerank", object{"query": "x", "documents": []string{"y"}}, false, false},
		{"POST", "/v1/rerank", object{"query": "x", "documents": []string{"y"}}, false, false},
		{"POST", "/v2/rerank", object{"query": "x", "documents": []string{"y"}}, false, false},
		{"GET", "/sources", nil, false, false},
	}
}

func (s *server) call(r route, headers ...string) *reply {
	s.t.Helper()
	return s.do(r.method, r.path, r.body, headers...)
}

func TestKeys(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		s := start(t, b, options{engine: clock})
		s.write("docs", doc("a", "text", ""))
		ctx := context.Background()
		keys := s.engine.Keys()

		integration := s.issue(key.Issue{Kind: ident.Integration, Integration: "chat"})
		personal := s.issue(key.Issue{Kind: ident.Personal, Integration: "chat", EndUser: "ann"})
		wrong := map[string]string{
			"none": "", "another scheme": "Basic " + s.key, "no key": "Bearer ", "no scheme": s.key,
			"made up": "Bearer sk-service-" + strings.Repeat("x", 43),
			"one character off": "Bearer " + s.key[:len(s.key)-1] +
				map[bool]string{true: "B", false: "A"}[s.key[len(s.key)-1] == 'A'],
			"cut": "Bearer " + s.key[:20], "longer": "Bearer " + s.key + "A",
			"an integration key": "Bearer " + integration, "a personal key": "Bearer " + personal,
			"lower case": "Bearer " + strings.ToLower(s.key), "two keys": "Bearer " + s.key + " " + s.key,
		}
		for name, header := range wrong {
			for _, r := range routes() {
				// A body that is no JSON is not looked at before the key.
				got := s.do(r.method, r.path, map[bool]any{true: raw("{"), false: nil}[r.body != nil], "Authorization",
					header).fails(401, "unauthorized")
				if got.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s: WWW-Authenticate %q", name, got.header.Get("WWW-Authenticate"))
				}
			}
		}
		s.get("/namespaces", "Authorization", "bearer "+s.key).ok() // the scheme's case does not count
		if got := s.ids("docs"); len(got) != 1 {
			t.Errorf("refused calls left %v", got)
		}

		// Read-only: 403 for everything that changes something.
		reader := s.as(s.issue(key.Issue{ReadOnly: true}))
		for _, r := range routes() {
			if got := reader.call(r); r.writes {
				got.fails(403, "forbidden", "read-only")
			} else if got.status == 401 || got.status == 403 {
				t.Errorf("%s with a read-only key: %d", got.call, got.status)
			}
		}
		if got := s.ids("docs"); len(got) != 1 {
			t.Errorf("a read-only key left %v", got)
		}

		// Limited to one namespace: 403 on others, which it does not list either.
		s.write("other", doc("a", "text", ""))
		limited := s.as(s.issue(key.Issue{Namespace: "other"}))
		for _, r := range routes() {
			if got := limited.call(r); r.ns {
				got.fails(403, "forbidden", "other")
			}
		}
		if got := column(limited.get("/namespaces").ok().list("namespaces"), "name"); !slices.Equal(got, []string{"other"}) {
			t.Errorf("a limited key lists %v", got)
		}
		if got := limited.get("/namespaces?prefix=d").ok().list("namespaces"); len(got) != 0 {
			t.Errorf("a limited key lists %v", got)
		}
		limited.write("other", doc("b", "text", ""))
		limited.query("other", object{"query": "text"})
		if got := s.ids("docs"); len(got) != 1 {
			t.Errorf("a limited key left %v", got)
		}

		// Expiry.
		soon := s.as(s.issue(key.Issue{ExpiresAt: time.Now().Add(time.Hour)}))
		soon.get("/namespaces").ok()
		ahead.Add(int64(time.Hour))
		soon.get("/namespaces").fails(401, "unauthorized")

		// Revocation holds within a second, also when it is done elsewhere.
		issued, err := keys.Issue(ctx, key.Issue{})
		if err != nil {
			t.Fatal(err)
		}
		gone := s.as(issued.Secret)
		gone.get("/namespaces").ok()
		elsewhere := key.New(key.Settings{Store: s.store})
		if err := elsewhere.Revoke(ctx, key.Ref{ID: issued.ID}); err != nil {
			t.Fatal(err)
		}
		ahead.Add(int64(time.Second))
		gone.get("/namespaces").fails(401, "unauthorized")

		// A suspended organization: 403, and back again.
		two := s.organization("two")
		two.write("docs", doc("a", "text", ""))
		if err := keys.Suspend(ctx, "two"); err != nil {
			t.Fatal(err)
		}
		for _, r := range routes() {
			two.call(r).fails(403, "forbidden", "suspended")
		}
		if err := keys.Resume(ctx, "two"); err != nil {
			t.Fatal(err)
		}
		two.get("/namespaces/docs").ok()
		s.get("/namespaces/docs").ok()
	})
}

func TestRateLimits(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		began := time.Now()
		var ahead atomic.Int64
		s := start(t, b, options{engine: func(c *engine.Config) {
			c.Now = func() time.Time { return began.Add(time.Duration(ahead.Load())) } // stands still
			c.Rates = map[op.Class]ident.Rate{op.Read: {PerMinute: 30, Burst: 5}, op.Rerank: {PerMinute: 30, Burst: 2}}
		}, reranker: coretest.Reranker{}})
		s.write("docs", doc("a", "text", "")) // writes are unlimited and say nothing
		if r := s.write("docs", doc("b", "text", "")); r.header.Get("RateLimit") != "" || r.header.Get("RateLimit-Policy") != "" {
			t.Errorf("an unlimited class sends %v", r.header)
		}
		state := regexp.MustCompile(`^"read";r=(\d+);t=(\d+)$`)
		for i := range 5 {
			r := s.get("/namespaces/docs").ok()
			m := state.FindStringSubmatch(r.header.Get("RateLimit"))
			if m == nil || m[1] != strconv.Itoa(4-i) || r.header.Get("RateLimit-Policy") != `"read";q=30;w=60` {
				t.Errorf("call %d: RateLimit %q, policy %q", i, r.header.Get("RateLimit"), r.header.Get("RateLimit-Policy"))
			}
		}
		r := s.get("/namespaces/docs").fails(429, "rate_limited", "read").retry()
		if n, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || n < 1 || n > 4 ||
			!strings.HasPrefix(r.header.Get("RateLimit"), `"read";r=0;`) {
			t.Errorf("429 with %v", r.header)
		}
		// It is charged before the body is read and before any model work.
		before := s.embedder.Queries()
		s.post("/namespaces/docs/query", raw("{")).fails(429, "rate_limited")
		s.post("/namespaces/docs/query", object{"query": "text"}).fails(429, "rate_limited")
		if s.embedder.Queries() != before {
			t.Error("a refused query was embedded")
		}
		s.write("docs", doc("c", "text", "")) // another class
		other := s.as(s.issue(key.Issue{}))
		other.get("/namespaces/docs").ok() // another key

		// A query with rerank is charged to both classes.
		q := object{"query": "text", "rerank": true}
		for range 2 {
			r := other.post("/namespaces/docs/query", q).ok()
			if h := r.header.Get("RateLimit"); !strings.Contains(h, `"read";`) || !strings.Contains(h, `"rerank";`) {
				t.Errorf("a query with rerank: RateLimit %q", h)
			}
		}
		other.post("/namespaces/docs/query", q).fails(429, "rate_limited", "rerank").retry()
		for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
			other.post(path, object{"query": "x", "documents": []string{"y"}}).fails(429, "rate_limited", "rerank").retry()
		}

		// A rate of the key itself comes first.
		own := s.as(s.issue(key.Issue{Limits: map[string]ident.Rate{"read": {PerMinute: 60, Burst: 1},
			"write": {PerMinute: 60, Burst: 1}}}))
		own.get("/namespaces/docs").ok()
		own.get("/namespaces/docs").fails(429, "rate_limited")
		own.write("docs", doc("d", "text", ""))
		own.post("/namespaces/docs/documents", object{"documents": []object{doc("e", "text", "")}}).fails(429,
			"rate_limited", "write")
		if got := s.as(s.issue(key.Issue{})).ids("docs"); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
			t.Errorf("stored %v", got)
		}
		// Health and metrics cost nothing.
		for range 10 {
			s.get("/health").ok()
			s.get("/metrics").ok()
		}
		ahead.Add(int64(2 * time.Second)) // a thirtieth of a minute
		s.get("/namespaces/docs").ok()
		s.get("/namespaces/docs").fails(429, "rate_limited")
	})
}

func TestRequestIDs(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		for _, id := range []string{"a", "A.b_c-9", strings.Repeat("x", 128)} {
			for _, path := range []string{"/health", "/namespaces", "/namespaces/none", "/nowhere", "/metrics"} {
				if r := s.get(path, "X-Request-Id", id); r.header.Get("X-Request-Id") != id {
					t.Errorf("%s: request id %q became %q", path, id, r.header.Get("X-Request-Id"))
				}
			}
		}
		seen := map[string]bool{}
		for _, id := range []string{"", "with space", "ü", "a/b", strings.Repeat("x", 129), "<script>"} {
			got := s.get("/nowhere", "X-Request-Id", id).fails(404, "not_found").header.Get("X-Request-Id")
			if got == "" || got == id || seen[got] {
				t.Errorf("request id %q became %q", id, got)
			}
			seen[got] = true
		}
	})
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		for _, path := range []string{"/", "/nowhere", "/namespaces/docs/nothing", "/namespaces/", "//namespaces",
			"/namespaces/../models", "/namespaces/docs/documents/a/b",
			"/Namespaces", "/namespaces/docs/documents/", "/health/", "/admin"} {
			s.get(path).fails(404, "not_found")
			s.get(path, "Authorization", "").fails(404, "not_found")
		}
		for _, c := range []struct{ method, path, allow string }{
			{"PUT", "/namespaces", "GET, HEAD, POST"}, {"PATCH", "/namespaces/docs", "DELETE, GET, HEAD"},
			{"GET", "/rerank", "POST"},
			{"DELETE", "/namespaces/docs/documents/a", "GET, HEAD"}, {"POST", "/health", "GET, HEAD"},
			{"GET", "/namespaces/docs/query", "POST"},
			{"OPTIONS", "/namespaces", "GET, HEAD, POST"}, {"PUT", "/namespaces/docs/documents", "GET, HEAD, POST"},
		} {
			r := s.do(c.method, c.path, nil).fails(405, "method_not_allowed", c.method)
			if r.header.Get("Allow") != c.allow {
				t.Errorf("%s: Allow %q, want %q", r.call, r.header.Get("Allow"), c.allow)
			}
		}
		// The memory API's paths answer in its own body.
		r := s.get("/api/v1/nowhere")
		if r.status != 404 || r.json["code"] != "not_found" || r.json["statusCode"] != 404.0 ||
			r.json["requestId"] != r.header.Get("X-Request-Id") || fmt.Sprint(r.json["details"]) != "map[]" {
			t.Errorf("memory API: %d %s", r.status, r.body)
		}
	})
}
