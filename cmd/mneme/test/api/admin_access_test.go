package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// operator is the server seen with an admin key of all organizations.
func (s *server) operator() *server {
	s.t.Helper()
	return s.as(s.issue(key.Issue{Kind: ident.Admin, AllOrganizations: true, Name: "operator"}))
}

// administrator is the server seen with an admin key of one organization.
func (s *server) administrator(org string) *server {
	s.t.Helper()
	return s.as(s.issue(key.Issue{Kind: ident.Admin, Org: org, Name: "administrator"}))
}

func (s *server) patch(path string, body any) *reply {
	s.t.Helper()
	return s.do("PATCH", path, body)
}

func (s *server) remove(path string) *reply {
	s.t.Helper()
	return s.do("DELETE", path, nil)
}

// adminRoutes is every route of the admin API, on organization acme with key,
// integration and end user of these names.
func adminRoutes(keyID string) []route {
	const org = "/admin/v1/organizations/acme"
	user := "/admin/v1/end_users/ann/%s?organization=acme&integration=chat"
	return []route{
		{"GET", "/admin/v1/organizations", nil, false, false},
		{"POST", "/admin/v1/organizations", object{"name": "new"}, true, false},
		{"GET", org, nil, false, false},
		{"PATCH", org, object{"suspended": false}, true, false},
		{"DELETE", org + "?name=acme", nil, true, false},
		{"GET", org + "/keys", nil, false, false},
		{"POST", org + "/keys", object{"name": "made"}, true, false},
		{"GET", org + "/keys/" + keyID, nil, false, false},
		{"PATCH", org + "/keys/" + keyID, object{"name": "changed"}, true, false},
		{"POST", org + "/keys/" + keyID + "/rotate", object{"overlap_seconds": 60}, true, false},
		{"GET", org + "/integrations", nil, false, false},
		{"POST", org + "/integrations", object{"name": "made"}, true, false},
		{"GET", org + "/integrations/chat", nil, false, false},
		{"PATCH", org + "/integrations/chat", object{"quotas": object{"read_rate_per_min": 5}}, true, false},
		{"GET", org + "/integrations/chat/keys", nil, false, false},
		{"POST", org + "/integrations/chat/keys", object{"name": "made"}, true, false},
		{"GET", org + "/end_users", nil, false, false},
		{"GET", org + "/quotas", nil, false, false},
		{"PATCH", org + "/quotas", object{"documents": 0}, true, false},
		{"GET", "/admin/v1/usage?organization=acme", nil, false, false},
		{"GET", "/admin/v1/usage.csv?organization=acme", nil, false, false},
		{"GET", "/admin/v1/usage/bytes?organization=acme", nil, false, false},
		{"GET", fmt.Sprintf(user, "export"), nil, false, false},
		{"POST", fmt.Sprintf(user, "erase"), nil, true, false},
		{"DELETE", org + "/keys/" + keyID, nil, true, false},
	}
}

// acme makes the organization that adminRoutes names, with a service key and an
// integration that knows end user ann.
func acme(t *testing.T, s *server) (keyID string, memory *server) {
	t.Helper()
	if _, err := s.engine.Keys().CreateOrganization(context.Background(), "acme"); err != nil {
		t.Fatal(err)
	}
	issued, err := s.engine.Keys().Issue(context.Background(), key.Issue{Org: "acme", Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	memory = s.as(s.issue(key.Issue{Org: "acme", Kind: ident.Integration, Integration: "chat", Scopes: ident.Scopes()}))
	memory.post("/api/v1/memories", object{"endUserId": "ann", "content": "Ann lives in Lyon."}).ok()
	return issued.ID, memory
}

func TestAdminRefusesOtherKeys(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		id, memory := acme(t, s)
		other := s.issue(key.Issue{Kind: ident.Admin}) // of organization default
		wrong := map[string]string{
			"none": "", "a service key": "Bearer " + s.key, "an integration key": "Bearer " + memory.key,
			"a personal key": "Bearer " + s.issue(key.Issue{
				Org:         "acme",
				Kind:        ident.Personal,
				Integration: "chat",
				EndUser:     "ann",
			}),
			"made up":         "Bearer adm-" + strings.Repeat("x", 43),
			"cut":             "Bearer " + other[:20],
			"as basic scheme": "Basic " + other,
		}
		for name, header := range wrong {
			for _, r := range adminRoutes(id) {
				got := s.do(r.method, r.path, map[bool]any{true: raw("{"), false: nil}[r.body != nil], "Authorization", header)
				if got.status != 401 {
					t.Errorf("%s: %s answers %d", name, got.call, got.status)
				}
				got.fails(401, "unauthorized")
			}
		}
		// An admin key opens nothing else.
		admin := s.as(other)
		for _, r := range routes() {
			admin.call(r).fails(401, "unauthorized", "adm-", "sk-service-")
		}
		if r := admin.get("/api/v1/status"); r.status != 401 || r.json["code"] != "unauthorized" {
			t.Errorf("an admin key on the memory API: %d %s", r.status, r.body)
		}

		// Another organization is not there; one's own is.
		for _, r := range adminRoutes(id) {
			switch got := admin.call(r); {
			case r.path == "/admin/v1/organizations" && r.method == "GET":
				if names := column(got.ok().list("organizations"), "name"); !slices.Equal(names, []string{"default"}) {
					t.Errorf("an administrator of default sees %v", names)
				}
			case r.path == "/admin/v1/organizations":
				got.fails(403, "forbidden", "all organizations")
			default:
				got.fails(404, "not_found", "acme")
			}
		}
		memory.get("/api/v1/status").ok()

		own := s.administrator("acme")
		for _, r := range adminRoutes(id) {
			got := own.call(r)
			if r.method == "PATCH" && (strings.HasSuffix(r.path, "/acme") || strings.HasSuffix(r.path, "/quotas")) ||
				strings.HasSuffix(r.path, "?name=acme") ||
				r.method == "POST" && r.path == "/admin/v1/organizations" {
				got.fails(403, "forbidden", "all organizations")
			} else {
				got.ok()
			}
		}

		// Read-only: looks at everything, changes nothing.
		id2, err := s.engine.Keys().Issue(context.Background(), key.Issue{Org: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		memory.post("/api/v1/memories", object{"endUserId": "ann", "content": "Ann is back."}).ok()
		viewer := s.as(s.issue(key.Issue{Org: "acme", Kind: ident.Admin, ReadOnly: true}))
		for _, r := range adminRoutes(id2.ID) {
			if got := viewer.call(r); r.writes {
				got.fails(403, "forbidden", "read-only")
			} else {
				got.ok()
			}
		}

		// A suspended organization's administrator is out as well; the operator is not.
		operator := s.operator()
		operator.patch("/admin/v1/organizations/acme", object{"suspended": true}).ok()
		own.get("/admin/v1/organizations").fails(403, "forbidden", "suspended")
		if r := memory.get("/api/v1/status"); r.status != 403 || r.json["code"] != "forbidden" {
			t.Errorf("a suspended organization's integration: %d %s", r.status, r.body)
		}
		operator.patch("/admin/v1/organizations/default", object{"suspended": true}).ok() // its own
		operator.patch("/admin/v1/organizations/default", object{"suspended": false}).ok()
		operator.patch("/admin/v1/organizations/acme", object{"suspended": false}).ok()
		own.get("/admin/v1/organizations").ok()
		memory.get("/api/v1/status").ok()
	})
}

// TestAdminNeverMakesAKeyOfAllOrganizations: no caller gets one over HTTP.
func TestAdminNeverMakesAKeyOfAllOrganizations(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const keys = "/admin/v1/organizations/default/keys"
		for _, x := range []*server{s.administrator("default"), s.operator()} {
			x.post(keys, object{"kind": "admin", "scopes": []string{"organizations:all"}}).fails(400, "invalid_request", "scopes")
			made := x.post(keys, object{"kind": "admin"}).ok()
			s.as(made.json["secret"].(string)).post("/admin/v1/organizations", object{"name": "x"}).fails(403, "forbidden")
		}
	})
}

// TestAdminOrganizations: bodies, paths and query strings of organizations.
func TestAdminOrganizations(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		op := s.operator()
		const base = "/admin/v1/organizations"
		op.post(base, object{"name": "acme"}).ok()
		op.post(base, object{"name": 3}).fails(400, "invalid_request", "name")
		op.post(base, object{"name": "b", "owner": "x"}).fails(400, "invalid_request", "owner")
		op.post(base, raw("{")).fails(400, "invalid_json")
		op.post(base, nil).fails(400, "invalid_json")
		for _, ref := range []string{"none", "org_none", "%00", "%C3%BC", "a%2Fb", "a%20b", strings.Repeat("x", 2000)} {
			op.get(base+"/"+ref).fails(404, "not_found", "organization")
			op.get(base+"/default/integrations/"+ref).fails(404, "not_found", "integration")
			op.get(base+"/default/keys/"+ref).fails(404, "not_found", "key")
		}
		op.patch(base+"/acme", object{}).fails(400, "invalid_request", "suspended")
		if got := op.patch(base+"/acme", object{"name": "acme2"}).ok(); got.json["name"] != "acme2" {
			t.Errorf("renamed: %v", got.json)
		}
		op.remove(base+"/acme2").fails(400, "invalid_request", "name")
		first := op.get(base + "?limit=1").ok()
		next := op.get(base + "?limit=1&cursor=" + first.json["next_cursor"].(string)).ok()
		if got := append(column(first.list("organizations"), "name"),
			column(next.list("organizations"), "name")...); !slices.Equal(got, []string{"acme2", "default"}) {
			t.Errorf("pages list %v", got)
		}
		for _, q := range []string{"limit=0", "limit=1001", "limit=x"} {
			op.get(base+"?"+q).fails(400, "invalid_request", "limit")
		}
		op.get(base+"?cursor=x").fails(400, "invalid_cursor")
	})
}

// TestAdminKeys: what is made and changed over HTTP holds for the next call.
func TestAdminKeys(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		s := start(t, b, options{engine: clock})
		if _, err := s.engine.Keys().CreateOrganization(context.Background(), "acme"); err != nil {
			t.Fatal(err)
		}
		op := s.administrator("acme")
		const keys = "/admin/v1/organizations/acme/keys"
		made := op.post(keys, object{"name": "laptop", "read_only": true, "namespace": "docs", "default_namespace": "docs",
			"limits": object{"read": object{"per_minute": 60, "burst": 5}}}).ok()
		secret, id := made.json["secret"].(string), made.json["id"].(string)
		if made.header.Get("Cache-Control") != "no-store" {
			t.Errorf("a secret may be cached: %v", made.header)
		}
		user := s.as(secret)
		write := func(id string) *reply {
			t.Helper()
			return user.post("/namespaces/docs/documents", object{"documents": []object{doc(id, "text", "")}})
		}
		user.get("/namespaces").ok()
		write("a").fails(403, "forbidden", "read-only")
		user.get("/namespaces/other").fails(403, "forbidden", "docs")

		op.patch(keys+"/"+id, object{"read_only": false, "name": "desk", "limits": object{}}).ok()
		write("a").ok()
		op.patch(keys+"/"+id, object{"limits": object{"write": object{"per_minute": 60, "burst": 1}}}).ok()
		write("b").ok()
		write("c").fails(429, "rate_limited")
		if got := op.patch(keys+"/"+id, object{"default_namespace": ""}).ok(); got.json["default_namespace"] != nil {
			t.Errorf("the default namespace stays: %v", got.json)
		}

		for body, word := range map[string]string{
			`{}`: "nothing", `{"read_only": "yes"}`: "read_only", `{"kind": "admin"}`: "kind",
			`{"limits": {"memory_read": {"per_minute": 1}}}`: "memory_read",
			`{"name": "a\nb"}`: "name", `{"scopes": ["memories:read"]}`: "scopes",
		} {
			op.patch(keys+"/"+id, raw(body)).fails(400, "invalid_request", word)
		}
		op.patch(keys+"/"+id, object{"default_namespace": "No"}).fails(400, "invalid_namespace")
		for body, word := range map[string]string{
			`{"expires_at": "2020-01-01T00:00:00Z"}`: "expires_at", `{"expires_at": "soon"}`: "expires_at",
			`{"limits": {"read": 5}}`: "limits", `{"limits": {"all": {"per_minute": 1}}}`: "limits.all",
			`{"kind": "team", "read_only": true}`: "read_only", `{"secret": "sk-service-x"}`: "secret",
		} {
			op.post(keys, raw(body)).fails(400, "invalid_request", word)
		}

		turned := op.post(keys+"/"+id+"/rotate", object{"overlap_seconds": 3600}).ok()
		fresh := s.as(turned.json["secret"].(string))
		if turned.header.Get("Cache-Control") != "no-store" {
			t.Errorf("a new secret may be cached: %v", turned.header)
		}
		user.get("/namespaces").ok()
		fresh.get("/namespaces").ok()
		fresh.get("/namespaces/other").fails(403, "forbidden", "docs")
		ahead.Add(int64(time.Hour))
		user.get("/namespaces").fails(401, "unauthorized")
		fresh.get("/namespaces").ok()
		op.post(keys+"/"+id+"/rotate", nil).fails(409, "conflict", "expired") // no body is no change of the defaults
		for _, n := range []any{-1, 1e9, "1h", 1.5} {
			op.post(keys+"/"+turned.json["id"].(string)+"/rotate", object{"overlap_seconds": n}).fails(400,
				"invalid_request", "overlap_seconds")
		}
		if r := op.remove(keys + "/" + turned.json["id"].(string)).ok(); r.json["revoked"] != true {
			t.Errorf("revoked: %v", r.json)
		}
		fresh.get("/namespaces").fails(401, "unauthorized")
	})
}

// TestAdminIntegrations: bodies of integrations and of their keys.
func TestAdminIntegrations(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		op := s.administrator("default")
		const all = "/admin/v1/organizations/default/integrations"
		op.post(all, object{"name": "chat", "quotas": object{"memories_per_end_user": 1}}).ok()
		op.post(all, object{"name": "x", "quotas": object{"memories": 1}}).fails(400, "invalid_request", "memories")
		op.post(all, object{"name": "x", "quotas": object{"read_rate_per_min": -1}}).fails(400, "invalid_request",
			"read_rate_per_min")
		if got := op.post(all+"/chat/keys", nil); got.status != 400 {
			t.Errorf("no body: %d", got.status)
		}
		issued := op.post(all+"/chat/keys", object{}).ok()
		for body, word := range map[string]string{
			`{"scopes": []}`: "scopes", `{"scopes": ["organizations:all"]}`: "organizations:all",
			`{"scopes": "memories:read"}`: "scopes", `{"kind": "service"}`: "kind",
			`{"kind": "personal"}`: "end_user_id", `{"read_only": true}`: "read_only",
			`{"limits": {"read": {"per_minute": 1}}}`: "limits.read",
		} {
			got := op.post(all+"/chat/keys", raw(body))
			message := fmt.Sprint(got.json["error"])
			if got.status != 400 || !strings.Contains(message, word) {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}

		// Quotas hold within the second.
		memory := s.as(issued.json["secret"].(string))
		save := func(text string) *reply {
			return memory.post("/api/v1/memories", object{"endUserId": "ann", "content": text})
		}
		save("one").ok()
		if r := save("two"); r.status != 403 || r.json["code"] != "quota_exceeded" {
			t.Errorf("over the quota: %d %s", r.status, r.body)
		}
		op.patch(all+"/chat", object{"quotas": object{"memories_per_end_user": 2}}).ok()
		save("two").ok()
		op.patch(all+"/chat", object{"name": "assistant"}).ok()
		memory.get("/api/v1/status").ok()
		op.patch(all+"/assistant", object{"quotas": object{}}).fails(400, "invalid_request", "quotas")
	})
}

// Bodies that are no request change nothing, on every route that takes one.
func TestAdminBadBodies(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		id, _ := acme(t, s)
		op := s.operator()
		state := func() string {
			var all strings.Builder
			for _, path := range []string{"", "/acme", "/acme/keys", "/acme/integrations", "/acme/end_users"} {
				all.Write(op.get("/admin/v1/organizations" + path).ok().body)
			}
			// The operator's own last use moves on.
			return all.String()
		}
		before := state()
		for _, r := range adminRoutes(id) {
			if r.body == nil {
				continue
			}
			for name, x := range map[string]struct {
				body   string
				status int
				code   string
			}{
				"cut":               {`{"name": "x`, 400, "invalid_json"},
				"no object":         {`["name"]`, 400, "invalid_request"},
				"null":              {`null`, 400, "invalid_request"},
				"two objects":       {`{} {}`, 400, "invalid_json"},
				"a name twice":      {`{"name": "x", "name": "y"}`, 400, "invalid_json"},
				"unknown field":     {`{"nonsense": 1}`, 400, "invalid_request"},
				"a path field":      {`{"org": "default", "id": "x"}`, 400, "invalid_request"},
				"wrong type":        {`{"name": {"a": 1}, "suspended": 1, "overlap_seconds": "x"}`, 400, "invalid_request"},
				"invalid UTF-8":     {"{\"name\": \"\xff\"}", 400, "invalid_json"},
				"lone surrogate":    {`{"name": "\ud800"}`, 400, "invalid_json"},
				"deep":              {strings.Repeat(`{"name":`, 5000), 400, "invalid_json"},
				"too large":         {`{"name": "` + strings.Repeat("x", 65<<10) + `"}`, 413, "payload_too_large"},
				"control character": {`{"name": "a\u0000b", "overlap_seconds": -1}`, 400, "invalid_request"},
			} {
				got := op.do(r.method, r.path, raw(x.body))
				if e, _ := got.json["error"].(object); got.status != x.status || e["code"] != x.code {
					t.Errorf("%s to %s: %d %s", name, got.call, got.status, clip(got.body))
				}
			}
			op.do(r.method, r.path, raw("name=x"), "Content-Type", "application/x-www-form-urlencoded").fails(400,
				"invalid_request", "Content-Type")
		}
		if after := state(); after != before {
			t.Errorf("refused bodies changed\n%s to\n%s", before, after)
		}
	})
}
