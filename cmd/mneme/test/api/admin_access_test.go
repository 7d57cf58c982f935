package api_test

import (
	"context"
	"fmt"
	"net/url"
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
	each(t, func(t *testing.T, b backend) {
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
			if r.method == "PATCH" && strings.HasSuffix(r.path, "/acme") ||
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

// A key of all organizations belongs to one of them, whose administrators must
// not get at it.
func TestAdminKeysOfAllOrganizationsAreOutOfReach(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		great, err := s.engine.Keys().Issue(context.Background(), key.Issue{Kind: ident.Admin, AllOrganizations: true})
		if err != nil {
			t.Fatal(err)
		}
		admin, operator := s.administrator("default"), s.as(great.Secret)
		const keys = "/admin/v1/organizations/default/keys"
		if got := column(admin.get(keys).ok().list("keys"), "id"); slices.Contains(got, great.ID) || len(got) != 2 {
			t.Errorf("an administrator sees %v", got)
		}
		if got := column(operator.get(keys).ok().list("keys"), "id"); !slices.Contains(got, great.ID) || len(got) != 3 {
			t.Errorf("the operator sees %v", got)
		}
		// Nor do pages show that there is something between the keys.
		var made []string
		for i := range 3 {
			s.operator()
			made = append(made, admin.post(keys, object{"name": fmt.Sprint("made ", i)}).ok().json["id"].(string))
		}
		var paged []string
		for cursor := ""; ; {
			r := admin.get(keys + "?limit=1&cursor=" + cursor).ok()
			paged = append(paged, column(r.list("keys"), "id")...)
			next, more := r.json["next_cursor"].(string)
			if !more {
				break
			}
			cursor = next
		}
		if all := column(admin.get(keys).ok().list("keys"), "id"); len(all) != 5 || !slices.Equal(paged, all) ||
			!slices.Equal(all[2:], made) {
			t.Errorf("pages give %v, the list %v", paged, all)
		}
		one := keys + "/" + great.ID
		admin.get(one).fails(404, "not_found")
		admin.patch(one, object{"name": "mine"}).fails(404, "not_found")
		admin.post(one+"/rotate", nil).fails(404, "not_found")
		admin.remove(one).fails(404, "not_found")
		operator.get(one).ok()
		// Neither can make one over HTTP.
		for _, x := range []*server{admin, operator} {
			x.post(keys, object{"kind": "admin", "scopes": []string{"organizations:all"}}).fails(400, "invalid_request", "scopes")
			made := x.post(keys, object{"kind": "admin"}).ok()
			s.as(made.json["secret"].(string)).post("/admin/v1/organizations", object{"name": "x"}).fails(403, "forbidden")
		}
		// A rotated one still is one.
		again := s.as(operator.post(one+"/rotate", object{"overlap_seconds": 0}).ok().json["secret"].(string))
		again.get("/admin/v1/organizations").ok()
		operator.get("/admin/v1/organizations").fails(401, "unauthorized")
	})
}

func TestAdminOrganizations(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		op := s.operator()
		const base = "/admin/v1/organizations"
		made := op.post(base, object{"name": "acme"}).ok()
		fields(t, "an organization", made.json, "id", "name", "suspended", "created_at")
		id, _ := made.json["id"].(string)
		op.post(base, object{"name": "acme"}).fails(409, "conflict")
		for _, bad := range []any{"", "a b", "org_x", strings.Repeat("a", 65), "a/b", "-a"} {
			op.post(base, object{"name": bad}).fails(400, "invalid_request", "name")
		}
		op.post(base, object{"name": 3}).fails(400, "invalid_request", "name")
		op.post(base, object{"name": "b", "owner": "x"}).fails(400, "invalid_request", "owner")
		op.post(base, raw("{")).fails(400, "invalid_json")
		op.post(base, nil).fails(400, "invalid_json")

		for _, ref := range []string{"acme", id} {
			if got := op.get(base + "/" + ref).ok(); got.json["id"] != id {
				t.Errorf("%s gives %v", ref, got.json)
			}
		}
		for _, ref := range []string{"none", "org_none", "%00", "%C3%BC", "a%2Fb", "a%20b", strings.Repeat("x", 2000)} {
			op.get(base+"/"+ref).fails(404, "not_found", "organization")
			op.get(base+"/default/integrations/"+ref).fails(404, "not_found", "integration")
			op.get(base+"/default/keys/"+ref).fails(404, "not_found", "key")
		}
		op.patch(base+"/acme", object{}).fails(400, "invalid_request", "suspended")
		op.patch(base+"/acme", object{"name": "default"}).fails(409, "conflict")
		op.patch(base+"/default", object{"name": "other"}).fails(400, "invalid_request", "name")
		if got := op.patch(base+"/acme", object{"name": "acme2"}).ok(); got.json["id"] != id || got.json["name"] != "acme2" {
			t.Errorf("renamed: %v", got.json)
		}
		op.get(base+"/acme").fails(404, "not_found")
		if r := op.remove(base + "/acme2"); r.status != 405 {
			t.Errorf("deleting an organization answers %d", r.status)
		}

		for i := range 5 {
			op.post(base, object{"name": fmt.Sprintf("org-%d", i)}).ok()
		}
		var names []string
		cursor, pages := "", 0
		for {
			r := op.get(base + "?limit=3&cursor=" + cursor).ok()
			names = append(names, column(r.list("organizations"), "name")...)
			pages++
			next, more := r.json["next_cursor"].(string)
			if !more {
				break
			}
			cursor = next
		}
		if want := []string{"acme2", "default", "org-0", "org-1", "org-2", "org-3", "org-4"}; !slices.Equal(names, want) ||
			pages != 3 {
			t.Errorf("%d pages list %v", pages, names)
		}
		s.operator().get(base+"?cursor="+cursor).fails(400, "invalid_cursor") // another key's
		for _, q := range []string{"limit=0", "limit=1001", "limit=x"} {
			op.get(base+"?"+q).fails(400, "invalid_request", "limit")
		}
		op.get(base+"?cursor=x").fails(400, "invalid_cursor")
	})
}

func TestAdminKeys(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		s := start(t, b, options{engine: clock})
		if _, err := s.engine.Keys().CreateOrganization(context.Background(), "acme"); err != nil {
			t.Fatal(err)
		}
		op := s.administrator("acme")
		const keys = "/admin/v1/organizations/acme/keys"
		ends := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
		made := op.post(keys, object{"name": "laptop", "read_only": true, "namespace": "docs", "default_namespace": "docs",
			"limits": object{"read": object{"per_minute": 60, "burst": 5}}, "expires_at": ends}).ok()
		described := []string{"id", "organization_id", "name", "kind", "prefix", "last_four", "read_only", "namespace",
			"default_namespace", "scopes", "integration",
			"integration_name", "end_user_id", "limits", "created_at", "last_used_at", "expires_at", "revoked_at", "state"}
		fields(t, "a new key", made.json, append(described, "secret")...)
		secret, id := made.json["secret"].(string), made.json["id"].(string)
		if made.header.Get("Cache-Control") != "no-store" {
			t.Errorf("a secret may be cached: %v", made.header)
		}
		if made.json["prefix"] != "sk-service-" || !strings.HasPrefix(secret, "sk-service-") ||
			!strings.HasSuffix(secret, made.json["last_four"].(string)) ||
			made.json["expires_at"] != ends.Format(time.RFC3339) || made.json["state"] != "live" ||
			fmt.Sprint(made.json["limits"]) != "map[read:map[burst:5 per_minute:60]]" {
			t.Errorf("made %v", made.json)
		}
		user := s.as(secret)
		user.get("/namespaces").ok()
		user.post("/namespaces/docs/documents", object{"documents": []object{doc("a", "text", "")}}).fails(403,
			"forbidden", "read-only")
		user.get("/namespaces/other").fails(403, "forbidden", "docs")

		listed := op.get(keys).ok()
		if strings.Contains(string(listed.body), secret[11:30]) {
			t.Error("the list shows a secret")
		}
		rows := listed.list("keys")
		if got := column(rows, "id"); len(rows) != 2 || !slices.Contains(got, id) {
			t.Fatalf("listed %v", got)
		}
		one := op.get(keys + "/" + id).ok()
		fields(t, "a key", one.json, described...)
		// Pages, by creation.
		first := op.get(keys + "?limit=1").ok()
		rest := op.get(keys + "?limit=1&cursor=" + first.json["next_cursor"].(string)).ok()
		if got := append(column(first.list("keys"), "id"),
			column(rest.list("keys"), "id")...); !slices.Equal(got, column(rows, "id")) || rest.json["next_cursor"] != nil {
			t.Errorf("pages list %v", got)
		}

		// Changes hold at once.
		op.patch(keys+"/"+id, object{"read_only": false, "name": "desk", "limits": object{}}).ok()
		user.post("/namespaces/docs/documents", object{"documents": []object{doc("a", "text", "")}}).ok()
		changed := op.get(keys + "/" + id).ok().json
		if changed["name"] != "desk" || changed["read_only"] != false || fmt.Sprint(changed["limits"]) != "map[]" ||
			changed["default_namespace"] != "docs" || changed["namespace"] != "docs" {
			t.Errorf("changed to %v", changed)
		}
		if got := op.patch(keys+"/"+id, object{"limits": object{"write": object{"per_minute": 60,
			"burst": 1}}}).ok(); fmt.Sprint(got.json["limits"]) != "map[write:map[burst:1 per_minute:60]]" {
			t.Errorf("limits %v", got.json["limits"])
		}
		user.post("/namespaces/docs/documents", object{"documents": []object{doc("b", "text", "")}}).ok()
		user.post("/namespaces/docs/documents", object{"documents": []object{doc("c", "text", "")}}).fails(429, "rate_limited")
		if got := op.patch(keys+"/"+id, object{"default_namespace": ""}).ok(); got.json["default_namespace"] != nil {
			t.Errorf("the default namespace stays: %v", got.json)
		}

		for body, word := range map[string]string{
			`{}`: "nothing", `{"read_only": "yes"}`: "read_only", `{"default_namespace": "other"}`: "docs",
			`{"limits": {"memory_read": {"per_minute": 1}}}`: "memory_read",
			`{"limits": {"read": {"per_minute": -1}}}`:       "limits.read", `{"kind": "admin"}`: "kind",
			`{"name": "a\nb"}`: "name", `{"scopes": ["memories:read"]}`: "scopes",
		} {
			op.patch(keys+"/"+id, raw(body)).fails(400, "invalid_request", word)
		}
		op.patch(keys+"/"+id, object{"default_namespace": "No"}).fails(400, "invalid_namespace")
		op.patch(keys+"/key_none", object{"name": "x"}).fails(404, "not_found", "key_none")

		for body, word := range map[string]string{
			`{"kind": "root"}`: "kind", `{"kind": "integration"}`: "integrations",
			`{"kind": "personal"}`: "integrations", `{"kind": "admin", "namespace": "docs"}`: "namespace",
			`{"kind": "admin", "default_namespace": "docs"}`: "default_namespace",
			`{"expires_at": "2020-01-01T00:00:00Z"}`:         "expires_at", `{"expires_at": "soon"}`: "expires_at",
			`{"namespace": "a", "default_namespace": "b"}`: "default_namespace", `{"limits": {"read": 5}}`: "limits",
			`{"limits": {"all": {"per_minute": 1}}}`: "limits.all",
			`{"kind": "team", "read_only": true}`:    "read_only", `{"secret": "sk-service-x"}`: "secret",
		} {
			op.post(keys, raw(body)).fails(400, "invalid_request", word)
		}

		// Rotation: both work, then the old one ends; the new one has the same rights
		// and as long a life.
		turned := op.post(keys+"/"+id+"/rotate", object{"overlap_seconds": 3600}).ok()
		fresh := s.as(turned.json["secret"].(string))
		if turned.json["id"] == id || turned.json["name"] != "desk" || turned.json["namespace"] != "docs" ||
			turned.json["state"] != "live" {
			t.Errorf("rotated to %v", turned.json)
		}
		life, err := time.Parse(time.RFC3339, turned.json["expires_at"].(string))
		if err != nil || life.Before(ends.Add(-time.Minute)) || life.After(ends.Add(time.Minute)) {
			t.Errorf("the new key ends at %v, the old one ended at %v", life, ends)
		}
		user.get("/namespaces").ok()
		fresh.get("/namespaces").ok()
		fresh.get("/namespaces/other").fails(403, "forbidden", "docs")
		ahead.Add(int64(time.Hour))
		user.get("/namespaces").fails(401, "unauthorized")
		fresh.get("/namespaces").ok()
		op.post(keys+"/"+id+"/rotate", nil).fails(409, "conflict", "expired")
		last := op.post(keys+"/"+turned.json["id"].(string)+"/rotate", object{"overlap_seconds": 0}).ok()
		fresh.get("/namespaces").fails(401, "unauthorized")
		s.as(last.json["secret"].(string)).get("/namespaces").ok()
		// The default overlap is a day.
		op.post(keys+"/"+last.json["id"].(string)+"/rotate", nil).ok()
		end, err := time.Parse(time.RFC3339, op.get(keys + "/" + last.json["id"].(string)).ok().json["expires_at"].(string))
		if at := time.Now().Add(time.Duration(ahead.Load())); err != nil || end.Before(at.Add(23*time.Hour)) ||
			end.After(at.Add(25*time.Hour)) {
			t.Errorf("the rotated key ends at %v", end)
		}
		for _, n := range []any{-1, 1e9, "1h", 1.5} {
			op.post(keys+"/"+last.json["id"].(string)+"/rotate", object{"overlap_seconds": n}).fails(400,
				"invalid_request", "overlap_seconds")
		}

		// Revocation is safe to repeat.
		if r := op.remove(keys + "/" + last.json["id"].(string)).ok(); r.json["revoked"] != true {
			t.Errorf("revoked: %v", r.json)
		}
		s.as(last.json["secret"].(string)).get("/namespaces").fails(401, "unauthorized")
		if r := op.remove(keys + "/" + last.json["id"].(string)).ok(); r.json["revoked"] != false {
			t.Errorf("revoked again: %v", r.json)
		}
		op.remove(keys+"/key_none").fails(404, "not_found")
		if got := op.get(keys + "/" + last.json["id"].(string)).ok(); got.json["state"] != "revoked" ||
			got.json["revoked_at"] == nil {
			t.Errorf("a revoked key shows as %v", got.json)
		}
		op.post(keys+"/"+last.json["id"].(string)+"/rotate", nil).fails(409, "conflict", "revoked")
	})
}

func TestAdminIntegrations(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		if _, err := s.engine.Keys().CreateOrganization(context.Background(), "acme"); err != nil {
			t.Fatal(err)
		}
		op := s.administrator("acme")
		const all = "/admin/v1/organizations/acme/integrations"
		made := op.post(all, object{"name": "chat", "quotas": object{"memories_per_end_user": 2}}).ok()
		fields(t, "an integration", made.json, "id", "organization_id", "name", "quotas", "created_at")
		if fmt.Sprint(made.json["quotas"]) != "map[memories_per_end_user:2 read_rate_per_min:6000 write_rate_per_min:6000]" {
			t.Errorf("quotas %v", made.json["quotas"])
		}
		id := made.json["id"].(string)
		op.post(all, object{"name": "chat"}).fails(409, "conflict")
		op.post(all, object{"name": "int_x"}).fails(400, "invalid_request", "name")
		op.post(all, object{"name": "x", "quotas": object{"memories": 1}}).fails(400, "invalid_request", "memories")
		op.post(all, object{"name": "x", "quotas": object{"read_rate_per_min": -1}}).fails(400, "invalid_request",
			"read_rate_per_min")
		for _, ref := range []string{"chat", id} {
			if got := op.get(all + "/" + ref).ok(); got.json["id"] != id {
				t.Errorf("%s gives %v", ref, got.json)
			}
		}
		op.get(all+"/none").fails(404, "not_found", "none")
		op.post(all, object{"name": "app"}).ok()
		page := op.get(all + "?limit=1").ok()
		next := op.get(all + "?limit=1&cursor=" + page.json["next_cursor"].(string)).ok()
		if got := append(column(page.list("integrations"), "name"),
			column(next.list("integrations"), "name")...); !slices.Equal(got, []string{"app", "chat"}) ||
			next.json["next_cursor"] != nil {
			t.Errorf("pages list %v", got)
		}

		// Keys below it.
		issued := op.post(all+"/chat/keys", object{"name": "backend", "scopes": []string{"users:erase", "memories:read"}}).ok()
		if issued.json["integration"] != id || issued.json["integration_name"] != "chat" ||
			issued.json["kind"] != "integration" ||
			fmt.Sprint(issued.json["scopes"]) != "[memories:read users:erase]" ||
			!strings.HasPrefix(issued.json["secret"].(string), "cint_") {
			t.Errorf("issued %v", issued.json)
		}
		if got := op.post(all+"/"+id+"/keys", nil); got.status != 400 {
			t.Errorf("no body: %d", got.status)
		}
		standard := op.post(all+"/"+id+"/keys", object{}).ok()
		if fmt.Sprint(standard.json["scopes"]) != "[memories:read memories:write]" {
			t.Errorf("default scopes %v", standard.json["scopes"])
		}
		personal := op.post(all+"/chat/keys", object{"kind": "personal", "end_user_id": "ann"}).ok()
		if personal.json["end_user_id"] != "ann" || !strings.HasPrefix(personal.json["secret"].(string), "cmem_") {
			t.Errorf("a personal key %v", personal.json)
		}
		op.post(all+"/app/keys", object{}).ok()
		if got := op.get(all + "/chat/keys").ok().list("keys"); len(got) != 3 {
			t.Errorf("the integration lists %v", column(got, "id"))
		}
		if got := op.get("/admin/v1/organizations/acme/keys").ok().list("keys"); len(got) != 5 {
			t.Errorf("the organization lists %v", column(got, "id"))
		}
		for body, word := range map[string]string{
			`{"scopes": []}`: "scopes", `{"scopes": ["memories:all"]}`: "memories:all",
			`{"scopes": ["organizations:all"]}`: "organizations:all", `{"scopes": ["recall:read"]}`: "memories:read",
			`{"scopes": "memories:read"}`: "scopes", `{"kind": "service"}`: "kind",
			`{"kind": "personal"}`: "end_user_id", `{"kind": "personal", "end_user_id": "a:b"}`: "end_user_id",
			`{"kind": "personal", "end_user_id": "ann", "scopes": ["memories:read"]}`: "scopes",
			`{"end_user_id": "ann"}`: "end_user_id", `{"read_only": true}`: "read_only",
			`{"limits": {"read": {"per_minute": 1}}}`: "limits.read",
		} {
			got := op.post(all+"/chat/keys", raw(body))
			message := fmt.Sprint(got.json["error"])
			if got.status != 400 || !strings.Contains(message, word) {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}
		op.post(all+"/none/keys", object{}).fails(404, "not_found", "none")

		// Quotas hold within the second.
		memory := s.as(standard.json["secret"].(string))
		save := func(text string) *reply {
			return memory.post("/api/v1/memories", object{"endUserId": "ann", "content": text})
		}
		save("one").ok()
		save("two").ok()
		if r := save("three"); r.status != 403 || r.json["code"] != "quota_exceeded" {
			t.Errorf("over the quota: %d %s", r.status, r.body)
		}
		if got := op.patch(all+"/chat", object{"quotas": object{"memories_per_end_user": 3}}).ok(); fmt.Sprint(
			got.json["quotas"],
		) != "map[memories_per_end_user:3 read_rate_per_min:6000 write_rate_per_min:6000]" {
			t.Errorf("quotas %v", got.json["quotas"])
		}
		save("three").ok()
		op.patch(all+"/chat", object{"name": "assistant"}).ok()
		op.get(all+"/chat").fails(404, "not_found")
		op.patch(all+"/assistant", object{"name": "app"}).fails(409, "conflict")
		op.patch(all+"/assistant", object{}).fails(400, "invalid_request", "quotas")
		op.patch(all+"/assistant", object{"quotas": object{}}).fails(400, "invalid_request", "quotas")
		memory.get("/api/v1/status").ok()
		// The same names in another organization are other integrations.
		two := s.administrator("default")
		two.get("/admin/v1/organizations/default/integrations/"+url.PathEscape(id)).fails(404, "not_found")
		two.post("/admin/v1/organizations/default/integrations", object{"name": "assistant"}).ok()
	})
}

// Bodies that are no request change nothing, on every route that takes one.
func TestAdminBadBodies(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
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
