package api_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// scopedCall is one call of the memory API with a valid request, and the scopes
// that it needs.
type scopedCall struct {
	method, path string
	body         any
	scopes       []ident.Scope
}

// scopedCalls is every route of the memory API, for end user ann.
func scopedCalls() []scopedCall {
	const record = "/api/v1/memories/ticket-1?endUserId=ann&source=crm"
	read, write := []ident.Scope{ident.MemoriesRead}, []ident.Scope{ident.MemoriesWrite}
	return []scopedCall{
		{"GET", "/api/v1/status", nil, nil},
		{"POST", "/api/v1/search", object{"endUserId": "ann", "query": "where"}, read},
		{"GET", "/api/v1/memories?endUserId=ann", nil, read},
		{"POST", "/api/v1/memories", object{"endUserId": "ann", "content": "Ann lives in Lyon."}, write},
		{"POST", "/api/v1/memories/batch",
			object{"endUserId": "ann", "memories": []object{{"content": "Ann has a dog."}}}, write},
		{"POST", "/api/v1/memories/delete", object{"endUserId": "ann", "ids": []string{"mem_none"}}, write},
		{"PUT", "/api/v1/memories/ticket-1",
			object{"endUserId": "ann", "source": "crm", "version": 1, "content": "A ticket.",
				"occurredAt": "2026-01-02T03:04:05Z"}, write},
		{"GET", record, nil, read},
		{"DELETE", record + "&version=2", nil, write},
		{"POST", "/api/v1/grants", object{"endUserId": "ann", "source": "crm"}, write},
		{"GET", "/api/v1/grants?endUserId=ann", nil, read},
		{"DELETE", "/api/v1/users/ann", nil, []ident.Scope{ident.UsersErase}},
	}
}

func (s *server) callScoped(r scopedCall, headers ...string) *reply {
	s.t.Helper()
	return s.do(r.method, r.path, r.body, headers...)
}

// Every kind of key opens its own family of operations and no other.
func TestKeyFamilies(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat := key.Issue{Kind: ident.Integration, Integration: "chat", Scopes: everything()}
		keys := map[ident.Kind]string{
			ident.Service:      s.key,
			ident.Integration:  s.issue(chat),
			ident.Personal:     s.issue(key.Issue{Kind: ident.Personal, Integration: "chat", EndUser: "ann"}),
			ident.Team:         s.issue(key.Issue{Kind: ident.Team}),
			ident.Organization: s.issue(key.Issue{Kind: ident.Organization}),
			ident.Admin:        s.issue(key.Issue{Kind: ident.Admin}),
		}
		families := []struct {
			path   string
			memory bool
			takes  []ident.Kind
			prefix string // of the keys that it takes, named to the others
		}{
			{"/namespaces", false, []ident.Kind{ident.Service}, "sk-service-"},
			{"/api/v1/status", true, []ident.Kind{ident.Integration, ident.Personal}, "cint_"},
			{"/admin/v1/organizations", false, []ident.Kind{ident.Admin}, "adm-"},
		}
		for _, f := range families {
			for kind, secret := range keys {
				r := s.as(secret).get(f.path)
				if slices.Contains(f.takes, kind) {
					r.ok()
					continue
				}
				message := fmt.Sprint(r.json["message"])
				if f.memory {
					r.refuses(401, "unauthorized")
				} else {
					r.fails(401, "unauthorized", "not valid on", f.prefix)
					message = fmt.Sprint(r.json["error"])
				}
				if !strings.Contains(message, "not valid on") || !strings.Contains(message, f.prefix) {
					t.Errorf("a %s key on %s is told %s", kind, f.path, message)
				}
			}
			// A key that was never issued is told nothing of the kind.
			for _, prefix := range []string{"sk-service-", "cint_", "cmem_", "adm-"} {
				unknown := s.as(prefix + strings.Repeat("x", 43)).get(f.path)
				if unknown.status != 401 || unknown.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("a made-up key %s on %s: %d", prefix, f.path, unknown.status)
				}
			}
		}
		for _, r := range scopedCalls() {
			for _, kind := range []ident.Kind{ident.Service, ident.Team, ident.Organization, ident.Admin} {
				s.as(keys[kind]).callScoped(r).refuses(401, "unauthorized")
			}
			s.callScoped(r, "Authorization", "").refuses(401, "unauthorized")
		}
		// Only the older kind of key says that it is deprecated.
		if r := s.as(keys[ident.Personal]).get("/api/v1/status").ok(); !strings.HasPrefix(r.header.Get("Deprecation"), "@") {
			t.Errorf("a personal key: Deprecation %q", r.header.Get("Deprecation"))
		}
		if r := s.as(keys[ident.Integration]).get("/api/v1/status").ok(); r.header.Get("Deprecation") != "" {
			t.Errorf("an integration key: Deprecation %q", r.header.Get("Deprecation"))
		}
	})
}

func TestScopes(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		sets := [][]ident.Scope{
			nil, // the default
			{ident.StatusRead}, {ident.MemoriesRead}, {ident.MemoriesWrite}, {ident.UsersErase},
			{ident.MemoriesRead, ident.RecallRead},
			{ident.MemoriesRead, ident.MemoriesWrite, ident.UsersErase}, everything(),
		}
		for i, scopes := range sets {
			name := fmt.Sprintf("app-%d", i)
			app := s.as(s.issue(key.Issue{Kind: ident.Integration, Integration: name, Scopes: scopes}))
			full := s.as(s.issue(key.Issue{Kind: ident.Integration, Integration: name, Scopes: everything()}))
			has := scopes
			if has == nil {
				has = []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite}
			}
			for _, r := range scopedCalls() {
				// What the call is about is there, and what it refuses leaves it so.
				full.post("/api/v1/memories", object{"endUserId": "ann", "content": "Kept."}).ok()
				full.do("PUT", "/api/v1/memories/ticket-1",
					object{"endUserId": "ann", "source": "crm", "version": 1, "content": "A ticket.",
						"occurredAt": "2026-01-02T03:04:05Z"})
				before := full.get("/api/v1/memories?endUserId=ann").ok().body
				missing := slices.IndexFunc(r.scopes, func(need ident.Scope) bool { return !slices.Contains(has, need) })
				got := app.callScoped(r)
				if missing < 0 {
					got.ok()
					continue
				}
				got.refuses(403, "insufficient_scope", "scope", r.scopes[missing])
				// The scope is asked for before anything of the body is read.
				if r.body != nil {
					app.do(r.method, r.path, raw("{")).refuses(403, "insufficient_scope", "scope", r.scopes[missing])
				}
				if after := full.get("/api/v1/memories?endUserId=ann").ok().body; string(after) != string(before) {
					t.Errorf("%v: %s %s changed\n%s to\n%s", has, r.method, r.path, before, after)
				}
			}
			shown := app.get("/api/v1/status").ok().json["integration"].(object)["scopes"]
			want := slices.Clone(has)
			if !slices.Contains(want, ident.StatusRead) {
				want = append(want, ident.StatusRead)
			}
			if fmt.Sprint(shown) != fmt.Sprint(want) {
				t.Errorf("status shows the scopes %v, want %v", shown, want)
			}
		}
	})
}

// A personal key reads and writes for its end user alone, whatever the call.
func TestPersonalKeys(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		full := s.integration("chat", nil)
		ann := s.as(s.issue(key.Issue{Kind: ident.Personal, Integration: "chat", EndUser: "ann"}))
		bob := s.as(s.issue(key.Issue{Kind: ident.Personal, Integration: "chat", EndUser: "bob"}))
		for _, r := range scopedCalls() {
			// Each call finds what it is about.
			full.post("/api/v1/memories", object{"endUserId": "ann", "content": "Kept."}).ok()
			full.do("PUT", "/api/v1/memories/ticket-1",
				object{"endUserId": "ann", "source": "crm", "version": 1, "content": "A ticket.",
					"occurredAt": "2026-01-02T03:04:05Z"})
			before := full.get("/api/v1/memories?endUserId=ann").ok().body
			switch {
			case r.scopes == nil:
				bob.callScoped(r).ok()
				ann.callScoped(r).ok()
				continue
			case slices.Contains(r.scopes, ident.UsersErase):
				ann.callScoped(r).refuses(403, "insufficient_scope", "scope", "users:erase")
				continue
			}
			got := bob.callScoped(r).refuses(403, "forbidden")
			if strings.Contains(string(got.body), "ann") {
				t.Errorf("%s names the end user of another: %s", got.call, got.body)
			}
			if after := full.get("/api/v1/memories?endUserId=ann").ok().body; string(after) != string(before) {
				t.Errorf("%s %s with bob's key changed ann's memories", r.method, r.path)
			}
			ann.callScoped(r).ok()
		}
		// What ann's key writes is the integration's, as its other keys see it.
		ann.post("/api/v1/memories", object{"endUserId": "ann", "content": "Ann plays the cello."}).ok()
		if got := full.get("/api/v1/memories?endUserId=ann").ok(); !strings.Contains(string(got.body), "cello") {
			t.Errorf("the integration sees %s", got.body)
		}
		if got := s.integration("app", nil).get("/api/v1/memories?endUserId=ann").ok(); len(got.list("memories")) != 0 {
			t.Errorf("another integration sees %s", got.body)
		}
	})
}

// Two keys of one integration over one rotation; then the old one ends.
func TestRotationOverlap(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		s := start(t, b, options{engine: clock})
		ctx, keys := context.Background(), s.engine.Keys()
		old, err := keys.Issue(ctx, key.Issue{Kind: ident.Integration, Integration: "chat", Scopes: everything()})
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := keys.Rotate(ctx, key.Ref{ID: old.ID}, key.Rotation{Overlap: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		before, after := s.as(old.Secret), s.as(fresh.Secret)
		before.post("/api/v1/memories", object{"endUserId": "ann", "content": "Ann lives in Lyon."}).ok()
		for _, r := range scopedCalls()[:4] {
			before.callScoped(r).ok()
			after.callScoped(r).ok()
		}
		if got := after.get("/api/v1/memories?endUserId=ann").ok().list("memories"); len(got) != 1 {
			t.Errorf("the new key sees %v", got)
		}
		one, two := before.get("/api/v1/status").ok().json["integration"], after.get("/api/v1/status").ok().json["integration"]
		if fmt.Sprint(one) != fmt.Sprint(two) {
			t.Errorf("status shows %v and %v", one, two)
		}
		ahead.Add(int64(time.Hour) - int64(time.Minute))
		before.get("/api/v1/status").ok()
		ahead.Add(int64(time.Minute))
		before.get("/api/v1/status").refuses(401, "unauthorized")
		after.get("/api/v1/status").ok()
	})
}

// What another process over the same store does to keys holds within a second
// here, under load too.
func TestKeyChangesElsewhere(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		s := start(t, b, options{engine: clock})
		ctx := context.Background()
		elsewhere := key.New(key.Settings{Store: b.shared(t, s.dir)})
		issue := func(in key.Issue) (id string, as *server) {
			t.Helper()
			k, err := elsewhere.Issue(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			return k.ID, s.as(k.Secret)
		}
		revoked, a := issue(key.Issue{Kind: ident.Integration, Integration: "chat"})
		rotated, b2 := issue(key.Issue{Kind: ident.Integration, Integration: "chat"})
		_, c := issue(key.Issue{Kind: ident.Integration, Integration: "limited"})
		admin, d := issue(key.Issue{Kind: ident.Admin})
		status := func(s *server) int { return s.get("/api/v1/status").status }
		organizations := func(s *server) int { return s.get("/admin/v1/organizations").status }
		quota := func(s *server) any {
			return s.get("/api/v1/status").ok().json["integration"].(object)["quotas"].(object)["memoriesPerEndUser"]
		}
		if status(a) != 200 || status(b2) != 200 || quota(c) != 10_000.0 || organizations(d) != 200 {
			t.Fatal("a key that was made elsewhere does not work at once")
		}
		stop := make(chan struct{})
		var load sync.WaitGroup
		for range 4 {
			load.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						for _, x := range []*server{a, b2, c} {
							_, _ = x.send(ctx, "GET", "/api/v1/status", nil)
						}
					}
				}
			})
		}
		if err := elsewhere.Revoke(ctx, key.Ref{ID: revoked}); err != nil {
			t.Error(err)
		}
		fresh, err := elsewhere.Rotate(ctx, key.Ref{ID: rotated}, key.Rotation{})
		if err != nil {
			t.Error(err)
		}
		if _, err := elsewhere.ChangeIntegration(ctx, "", "limited",
			key.IntegrationChange{MemoriesPerEndUser: new(7)}); err != nil {
			t.Error(err)
		}
		if err := elsewhere.Revoke(ctx, key.Ref{ID: admin}); err != nil {
			t.Error(err)
		}
		ahead.Add(int64(time.Second))
		if got := status(a); got != 401 {
			t.Errorf("a second after a revocation elsewhere: %d", got)
		}
		if got := status(b2); got != 401 {
			t.Errorf("a second after a rotation elsewhere: %d", got)
		}
		if got := quota(c); got != 7.0 {
			t.Errorf("a second after a change elsewhere the quota is %v", got)
		}
		if got := organizations(d); got != 401 {
			t.Errorf("a second after an admin key's revocation elsewhere: %d", got)
		}
		close(stop)
		load.Wait()
		if got := status(s.as(fresh.Secret)); got != 200 {
			t.Errorf("the new key answers %d", got)
		}
	})
}

// Secrets are in the answer that makes them and nowhere else: not in lists, not
// in the log of every level, not in any file.
func TestSecretsAreShownOnce(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		var mu sync.Mutex
		var log strings.Builder
		s := start(t, b, options{log: slog.New(slog.NewTextHandler(lockedWriter{&mu, &log},
			&slog.HandlerOptions{Level: slog.LevelDebug}))})
		op := s.operator()
		const org = "/admin/v1/organizations/default"
		op.post(org+"/integrations", object{"name": "chat"}).ok()
		secrets := []string{s.key, op.key}
		take := func(r *reply) string {
			t.Helper()
			secret, _ := r.ok().json["secret"].(string)
			if secret == "" {
				t.Fatalf("%s shows no secret", r.call)
			}
			secrets = append(secrets, secret)
			return r.json["id"].(string)
		}
		service := take(op.post(org+"/keys", object{"name": "laptop"}))
		take(op.post(org+"/keys", object{"kind": "team"}))
		take(op.post(org+"/integrations/chat/keys", object{}))
		take(op.post(org+"/integrations/chat/keys", object{"kind": "personal", "end_user_id": "ann"}))
		take(op.post(org+"/keys/"+service+"/rotate", nil))
		for _, secret := range secrets { // used rightly, wrongly, and in places that are logged
			k := s.as(secret)
			k.get("/namespaces")
			k.get("/api/v1/status")
			k.get("/admin/v1/organizations")
			k.get("/nowhere")
			k.post("/api/v1/memories", raw("{"))
		}
		var shown strings.Builder
		for _, path := range []string{org + "/keys", org + "/keys/" + service, org + "/integrations",
			org + "/integrations/chat/keys", org, "/admin/v1/organizations", org + "/end_users", "/metrics"} {
			shown.Write(op.get(path).ok().body)
		}
		if err := s.engine.Keys().Flush(context.Background()); err != nil {
			t.Error(err)
		}
		s.close()
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(log.String(), "/nowhere") {
			t.Error("the log is empty, so that its search proves nothing")
		}
		check := func(where, text string) {
			for _, secret := range secrets {
				// Parts too: a prefix may have been cut off on the way.
				if body := secret[strings.LastIndexAny(secret, "-_")+1:]; strings.Contains(text, body) ||
					strings.Contains(text, body[8:30]) {
					t.Errorf("%s holds a secret", where)
				}
			}
		}
		check("a list", shown.String())
		check("the log", log.String())
		err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			check(filepath.Base(path), string(body))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// lockedWriter lets a test read what other goroutines write.
type lockedWriter struct {
	mu *sync.Mutex
	to *strings.Builder
}

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}
