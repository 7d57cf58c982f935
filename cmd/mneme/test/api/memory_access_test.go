package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
)

// TestMemoryKeys says which keys work on which family, and with which rights.
func TestMemoryKeys(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		root := start(t, b, options{engine: clock})
		s := root.integration("app", nil)
		kept := s.save("ann", "Kept.")
		wrong := map[string]string{
			"none": "", "another scheme": "Basic " + s.key, "made up": "Bearer cint_" + strings.Repeat("x", 43),
			"a service key": "Bearer " + root.key,
			"cut":           "Bearer " + s.key[:20], "an admin key": "Bearer " + root.issue(key.Issue{Kind: ident.Admin}),
			"a team key":          "Bearer " + root.issue(key.Issue{Kind: ident.Team}),
			"an organization key": "Bearer " + root.issue(key.Issue{Kind: ident.Organization}),
		}
		for name, header := range wrong {
			for _, r := range memoryRoutes() {
				got := s.do(r.method, r.path, map[bool]any{true: raw("{"), false: nil}[r.body != nil], "Authorization",
					header).refuses(401, "unauthorized")
				if got.header.Get("WWW-Authenticate") != "Bearer" || got.header.Get("Deprecation") != "" {
					t.Errorf("%s: %v", name, got.header)
				}
			}
		}
		for _, r := range routes() {
			root.as(s.key).call(r).fails(401, "unauthorized")
		}

		// Scopes.
		needs := map[string]ident.Scope{"recall": ident.RecallRead, "search": ident.MemoriesRead,
			"list": ident.MemoriesRead, "get": ident.MemoriesRead, "save": ident.MemoriesWrite,
			"batch": ident.MemoriesWrite, "delete": ident.MemoriesWrite, "upsert": ident.MemoriesWrite,
			"tombstone": ident.MemoriesWrite, "erase": ident.UsersErase,
			"remember": ident.MemoriesWrite, "context": ident.MemoriesRead,
			"grant": ident.MemoriesWrite, "grants": ident.MemoriesRead}
		for _, have := range []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite, ident.UsersErase, ident.StatusRead,
			ident.RecallRead} {
			one := root.integration("scoped", func(in *key.Issue) {
				in.Scopes, in.Quotas = []ident.Scope{have}, nil
				if have == ident.RecallRead {
					in.Scopes = append(in.Scopes, ident.MemoriesRead) // without which it is not given
				}
			})
			for _, r := range memoryRoutes() {
				r.path = strings.ReplaceAll(r.path, "ann", "eve")
				if r.body != nil {
					r.body = with(r.body.set("endUserId", "eve"))
				}
				got := one.callMemory(r)
				if need := needs[r.name]; need != "" && need != have && (have != ident.RecallRead || need != ident.MemoriesRead) {
					got.refuses(403, "insufficient_scope", "scope", need)
				} else if got.status == 401 || got.status == 403 {
					t.Errorf("%s with %s: %d %s", r.name, have, got.status, clip(got.body))
				}
			}
		}
		byDefault := root.integration("default", func(in *key.Issue) { in.Scopes = nil })
		byDefault.save("ann", "Mine.")
		byDefault.do("DELETE", "/api/v1/users/ann", nil).refuses(403, "insufficient_scope", "scope", "users:erase")

		// A second key of the same integration sees the same; another integration not.
		second := root.as(root.issue(key.Issue{Name: "second", Kind: ident.Integration, Integration: "app"}))
		if got := second.search("ann", "kept"); len(got) != 1 || got[0]["id"] != kept {
			t.Errorf("the second key finds %v", got)
		}
		if got := root.integration("stranger", nil).memories("ann"); len(got) != 0 {
			t.Errorf("another integration sees %v", got)
		}

		// Personal keys: one end user of one integration, no erasure, deprecated.
		anns := key.Issue{Name: "ann's", Kind: ident.Personal, Integration: "app", EndUser: "ann"}
		personal := root.as(root.issue(anns))
		for _, r := range memoryRoutes() {
			got := personal.callMemory(r)
			switch {
			case r.name == "erase":
				got.refuses(403, "insufficient_scope", "scope", "users:erase")
			case r.name == "recall":
				got.refuses(403, "insufficient_scope", "scope", "recall:read")
			case got.status >= 400:
				t.Errorf("%s with a personal key: %d %s", r.name, got.status, clip(got.body))
			}
			if got.header.Get("Deprecation") != "@1795219200" ||
				!strings.HasSuffix(got.header.Get("Link"), `>; rel="deprecation"; type="text/html"`) {
				t.Errorf("%s: Deprecation %q, Link %q", r.name, got.header.Get("Deprecation"), got.header.Get("Link"))
			}
			if got := s.callMemory(r); got.header.Get("Deprecation") != "" {
				t.Errorf("%s: an integration key is deprecated", r.name)
			}
			if r.name == "erase" {
				s.save("ann", "Kept.") // the call above has erased her, and her keys
				personal = root.as(root.issue(anns))
			}
			r.path = strings.ReplaceAll(r.path, "ann", "bob")
			if r.body != nil {
				r.body = with(r.body.set("endUserId", "bob"))
			}
			if r.name != "status" && r.name != "erase" && r.name != "recall" {
				personal.callMemory(r).refuses(403, "forbidden")
			}
		}
		if got := s.memories("bob"); len(got) != 0 {
			t.Errorf("refused calls left %v", got)
		}
		if got := personal.search("ann", "kept"); len(got) != 1 {
			t.Errorf("a personal key finds %v", got)
		}

		// Suspension, expiry, revocation.
		soon := root.integration("soon", func(in *key.Issue) { in.ExpiresAt = time.Now().Add(time.Hour) })
		soon.get("/api/v1/status").ok()
		ahead.Add(int64(time.Hour))
		soon.get("/api/v1/status").refuses(401, "unauthorized")
		issued, err := root.engine.Keys().Issue(t.Context(), key.Issue{Name: "gone", Kind: ident.Integration})
		if err != nil {
			t.Fatal(err)
		}
		gone := root.as(issued.Secret)
		gone.get("/api/v1/status").ok()
		if err := root.engine.Keys().Revoke(t.Context(), key.Ref{ID: issued.ID}); err != nil {
			t.Fatal(err)
		}
		gone.get("/api/v1/status").refuses(401, "unauthorized")
	})
}

func TestMemoryStatus(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		root := start(t, b, options{engine: func(c *engine.Config) { c.Memory.Environment = "staging" }})
		s := root.integration("app", func(in *key.Issue) {
			in.Quotas, in.Scopes = &ident.Quotas{MemoriesPerEndUser: 7, ReadRatePerMin: 60, WriteRatePerMin: 90},
				[]ident.Scope{ident.MemoriesRead}
		})
		r := s.get("/api/v1/status", "X-Request-Id", "my-id").ok()
		fields(t, "the status", r.json, "ok", "apiVersion", "requestId", "integration", "backends")
		in, back := r.json["integration"].(object), r.json["backends"].(object)["memoryPlane"].(object)
		fields(t, "the integration", in, "id", "scopes", "quotas")
		fields(t, "the quotas", in["quotas"].(object), "memoriesPerEndUser", "readRatePerMin", "writeRatePerMin")
		fields(t, "the memory plane", back, "status", "environment")
		if _, err := time.Parse(time.DateOnly, r.json["apiVersion"].(string)); err != nil || r.json["ok"] != true ||
			r.json["requestId"] != "my-id" ||
			!strings.HasPrefix(in["id"].(string), "int_") || fmt.Sprint(in["scopes"]) != "[memories:read status:read]" ||
			fmt.Sprint(in["quotas"]) != "map[memoriesPerEndUser:7 readRatePerMin:60 writeRatePerMin:90]" ||
			back["status"] != "ok" || back["environment"] != "staging" {
			t.Errorf("%s", r.body)
		}
		// It costs nothing and stays right under load, and answers while reads wait.
		var wg sync.WaitGroup
		for range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 20 {
					if r := s.get("/api/v1/status"); r.status != 200 || r.json["ok"] != true || r.header.Get("RateLimit") != "" {
						t.Errorf("%d %s %v", r.status, r.body, r.header)
					}
				}
			}()
		}
		wg.Wait()
		if got := s.post("/api/v1/search",
			object{"endUserId": "ann", "query": "x"}).ok().header.Get("RateLimit"); !strings.HasPrefix(got,
			`"memory_read";r=5;`) {
			t.Errorf("320 status calls left %s of 6 reads", got)
		}
		if got := root.roster(); len(got) != 0 {
			t.Errorf("end users %v", got)
		}
		// Down.
		broken := func() error { return errors.New("no disk") }
		for r.status != 503 { // 500 where the key itself had to be read
			root.store.OnView.Clear()
			s.get("/api/v1/status").ok()
			root.store.OnView.Set(broken)
			r = s.get("/api/v1/status")
		}
		r.retry()
		if r.json["ok"] != false || r.json["backends"].(object)["memoryPlane"].(object)["status"] != "error" {
			t.Errorf("%s", r.body)
		}
		root.store.OnView.Clear()
		if r := s.get("/api/v1/status").ok(); r.json["ok"] != true {
			t.Errorf("%s", r.body)
		}
	})
}

// TestMemoryRates limits an integration, not a key.
func TestMemoryRates(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		_, clock := frozen()
		root := start(t, b, options{engine: func(c *engine.Config) {
			clock(c)
			c.Rates = map[op.Class]ident.Rate{op.Read: {PerMinute: 1}, op.Write: {PerMinute: 1}}
		}})
		s := root.integration("app", quotas(0, 100, 120))
		second := root.as(root.issue(key.Issue{Name: "second", Kind: ident.Integration, Integration: "app"}))
		check := func(r *reply, class string, per, left int) {
			t.Helper()
			if got := r.header.Get("RateLimit-Policy"); got != fmt.Sprintf("%q;q=%d;w=60", class, per) {
				t.Errorf("%s: RateLimit-Policy %s", r.call, got)
			}
			if got := r.header.Get("RateLimit"); !strings.HasPrefix(got, fmt.Sprintf("%q;r=%d;t=", class, left)) {
				t.Errorf("%s: RateLimit %s, want %d left", r.call, got, left)
			}
		}
		// Reads: 100 a minute, a tenth at once, over both keys.
		for i := range 10 {
			check([]*server{s, second}[i%2].get("/api/v1/memories?endUserId=ann").ok(), "memory_read", 100, 9-i)
		}
		for _, who := range []*server{s, second} {
			r := who.post("/api/v1/search", object{"endUserId": "ann", "query": "x"}).refuses(429, "rate_limited",
				"retryAfter", 1)
			if r.header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
			}
			check(r, "memory_read", 100, 0)
		}
		root.integration("other", quotas(0, 100, 0)).get("/api/v1/memories?endUserId=ann").ok()
		for i, who := range []*server{s, root.as(root.issue(key.Issue{
			Name:        "third",
			Kind:        ident.Integration,
			Integration: "app",
			Scopes:      everything(),
		}))} {
			check(who.post("/api/v1/recall", object{"endUserId": "ann", "query": "x"}).ok(), "recall", 600, 59-i)
		}
		// Writes: at least a full batch at once; a batch counts its items.
		check(s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": items(98, "x")}).ok(),
			"memory_write", 120, 2)
		check(second.post("/api/v1/memories", object{"endUserId": "ann", "content": "One."}).ok(), "memory_write", 120, 1)
		s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": items(3, "y")}).refuses(429, "rate_limited")
		if got := len(second.restart(nil).as(s.key).memories("ann")); got != 99 { // a new process has new buckets
			t.Errorf("%d memories", got)
		}
	})
}

// TestMemoryRatesRefill gives a full batch back with time, and lets no bad
// request through for free.
func TestMemoryRatesRefill(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		ahead, clock := frozen()
		root := start(t, b, options{engine: clock})
		s := root.integration("app", quotas(0, 0, 60))
		s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": items(100, "x")}).ok()
		r := s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": items(100, "y")}).refuses(429,
			"rate_limited")
		if got := r.header.Get("Retry-After"); got == "" || got == "0" {
			t.Errorf("Retry-After %q", got)
		}
		ahead.Add(int64(2 * time.Minute))
		s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": items(100, "y")}).ok()
		s.post("/api/v1/memories", raw("{")).refuses(429, "rate_limited")
		ahead.Add(int64(2 * time.Second))
		s.post("/api/v1/memories", raw("{")).refuses(400, "invalid_json")
		s.post("/api/v1/memories", raw("{")).refuses(400, "invalid_json")
		s.post("/api/v1/memories", raw("{")).refuses(429, "rate_limited")
		// An unlimited class has no headers.
		if h := s.get("/api/v1/memories?endUserId=ann").ok().header; h.Get("RateLimit") != "" || h.Get("RateLimit-Policy") != "" {
			t.Errorf("%v", h)
		}
	})
}

// TestMemoryAnswersCarryRequestIDs checks a header that every answer has.
func TestMemoryRequestIDs(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		var ids []string
		for _, r := range append(memoryRoutes(), memoryRoute{"none", "GET", "/api/v1/none", nil, 404},
			memoryRoute{"method", "PUT", "/api/v1/search", nil, 405}) {
			if got := s.callMemory(r, "X-Request-Id", "trace."+r.name).header.Get("X-Request-Id"); got != "trace."+r.name {
				t.Errorf("%s: %q", r.name, got)
			}
			ids = append(ids, s.callMemory(r, "X-Request-Id", "no good id").header.Get("X-Request-Id"))
		}
		slices.Sort(ids)
		if slices.Contains(ids, "") || len(slices.Compact(ids)) != len(memoryRoutes())+2 {
			t.Errorf("ids %v", ids)
		}
		if r := s.do(http.MethodHead, "/api/v1/status", nil); r.status != 200 || len(r.body) != 0 {
			t.Errorf("HEAD: %d %s", r.status, r.body)
		}
	})
}
