package api_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/seal"
)

// auditor reads the log of a server.
type auditor struct {
	*server
	last float64 // number of the newest record that was looked at
}

func (s *server) auditor() *auditor {
	a := &auditor{server: s.operator()}
	a.news("")
	return a
}

// news are the records since the last call, oldest first.
func (a *auditor) news(query string) []object {
	a.t.Helper()
	var out []object
	for _, r := range a.get("/admin/v1/audit?limit=1000&" + query).ok().objects("records") {
		if r["seq"].(float64) > a.last {
			out = append(out, r)
		}
	}
	slices.Reverse(out)
	if len(out) > 0 {
		a.last = out[len(out)-1]["seq"].(float64)
	}
	return out
}

// objects is a list of an answer.
func (r *reply) objects(name string) []object {
	r.t.Helper()
	list, ok := r.json[name].([]any)
	if !ok {
		r.t.Fatalf("%s: no list %s: %s", r.call, name, clip(r.body))
	}
	out := make([]object, len(list))
	for i, x := range list {
		out[i] = x.(object)
	}
	return out
}

// Every operation that changes something leaves exactly one record, with no text, no value
// and no secret in it, and the events of what it has changed.
func TestEveryChangeIsRecordedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("calls every operation")
	}
	stores(t, func(t *testing.T, b backend) {
		folder := t.TempDir()
		site, receiver, sealing := newSite(t), webhooktest.New(t), seal.NewKey()
		for name, text := range map[string]string{"a.txt": "The zebra file.", "b.txt": "Its zebra.",
			"c.txt": "Zebras of a zebra.", "broken.pdf": "%PDF-1.7\nzebra"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := start(t, b, options{config: func(c *configs.Config) {
			c.Audit.Level, c.Events.Record = "all", "all"
			c.Sources.Enabled, c.Sources.Directories = true, []string{folder}
			c.Sources.AllowPrivate = []string{strings.TrimPrefix(site.URL, "http://")}
			c.Events.HTTP, c.Events.AllowPrivate = true, []string{receiver.Network()}
			c.Seal.Key = registry.Secret(sealing.Reveal()) // a database has none of its own
		}, engine: func(c *engine.Config) { c.Events.Models = 10 * time.Millisecond }})
		admin, memory := s.operator(), s.integration("chat", nil)
		left := map[string]bool{}
		for _, r := range s.engine.Set().Routes() {
			if r.Spec.Mutates {
				left[r.Spec.Name] = true
			}
		}
		log, feed := s.auditor(), s.follower()
		secrets := []string{"zebra", "ann@example.com"}
		// recorded says what the records since are: one, of this operation.
		recorded := func(name, target string) {
			t.Helper()
			delete(left, name)
			var got []string
			for _, r := range log.news("actor=key") {
				got = append(got, fmt.Sprintf("%v %v", r["action"], r["status"]))
				if target != "" && r["target"] != target {
					t.Errorf("%s is said to be done to %v, want %s", name, r["target"], target)
				}
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], name+" 20") {
				t.Errorf("%s is recorded as %q", name, got)
			}
		}
		do := func(by *server, name, target, method, path string, body any, headers ...string) *reply {
			t.Helper()
			feed.step(name)
			r := by.do(method, path, body, headers...)
			if r.status/100 != 2 {
				t.Fatalf("%s: %s answers %d: %s", name, r.call, r.status, clip(r.body))
			}
			recorded(name, target)
			return r
		}
		text := func(r *reply, name string) string { return fmt.Sprint(r.json[name]) }

		do(s, "namespaces.create", "plain", "POST", "/namespaces", object{"name": "plain"})
		docs := object{"documents": []object{{"id": "d1", "text": "A zebra.", "metadata": object{"x": "zebra"}},
			{"id": "d2", "text": "Two zebras."}}}
		do(s, "documents.write", "docs", "POST", "/namespaces/docs/documents", docs)
		do(s, "documents.write", "docs", "POST", "/namespaces/docs/documents", docs) // changes nothing
		do(s, "documents.delete", "docs", "POST", "/namespaces/docs/documents/delete", object{"ids": []string{"d2"}})
		do(s, "documents.delete", "docs", "POST", "/namespaces/docs/documents/delete", object{"ids": []string{"d2"}})
		do(s, "queries.save", "docs/stripes", "PUT", "/namespaces/docs/queries/stripes", object{"query": "zebra",
			"expect": []string{"d1"}})
		do(s, "queries.delete", "docs/stripes", "DELETE", "/namespaces/docs/queries/stripes", nil)
		do(s, "files.upload", "docs", "POST", "/namespaces/docs/files", oneFile("zebra.txt", "A zebra in a file."),
			"Content-Type", "multipart/form-data; boundary=b")
		s.openAIsRecorded(do)
		tools := s.mcp(newest, "?namespace=notes")
		feed.step("tools.save")
		saved := tools.call("save", object{"text": "A noted zebra."})
		recorded("tools.save", "")
		feed.step("tools.delete")
		tools.call("delete", object{"ids": []any{saved["id"]}})
		recorded("tools.delete", "")

		user := object{"endUserId": "ann@example.com"}
		with := func(more object) object {
			for k, v := range user {
				more[k] = v
			}
			return more
		}
		m := do(memory, "memories.save", "", "POST", "/api/v1/memories", with(object{"content": "Ann keeps a zebra."}))
		do(memory, "memories.batch", "", "POST", "/api/v1/memories/batch",
			with(object{"memories": []object{{"content": "Another zebra."}}}))
		do(memory, "memories.remember", "", "POST", "/api/v1/conversations", with(object{"messages": []object{{"role": "user",
			"content": "A remembered zebra."}}}))
		said := do(memory, "mem0.add", "", "POST", "/v3/memories/add/", object{"user_id": "zoe", "messages": []object{
			{"role": "user", "content": "A zebra."}, {"role": "user", "content": "A striped zebra."},
			{"role": "user", "content": "A last zebra."}}}).json["results"].([]any)
		memoryID := func(i int) string { return said[i].(object)["id"].(string) }
		do(memory, "mem0.update", "", "PUT", "/v1/memories/"+memoryID(0)+"/", object{"text": "A grey zebra."})
		do(memory, "mem0.delete", "", "DELETE", "/v1/memories/"+memoryID(0)+"/", nil)
		do(memory, "mem0.batch.update", "", "PUT", "/v1/batch/",
			object{"memories": []object{{"memory_id": memoryID(1), "text": "A brown zebra."}}})
		do(memory, "mem0.batch.delete", "", "DELETE", "/v1/batch/", object{"memories": []object{{"memory_id": memoryID(1)}}})
		do(memory, "mem0.delete_all", "", "DELETE", "/v1/memories/?user_id=zoe", nil)
		do(memory, "mem0.add", "", "POST", "/v3/memories/add", object{"user_id": "zed",
			"messages": []object{{"role": "user", "content": "A zebra."}}})
		audited := func(user string) string {
			return fmt.Sprint(log.get("/admin/v1/audit?organization=default&end_user_id=" +
				user).ok().objects("records")[0]["target"])
		}
		do(memory, "mem0.batch.delete", audited("zoe")+","+audited("zed"), "DELETE", "/v1/batch/", object{"memories": []object{
			{"memory_id": "mem_1:zoe"}, {"memory_id": "mem_2:zed"}, {"memory_id": "mem_3:zoe"}}})
		for _, user := range []string{"zoe", "zed"} {
			if !strings.Contains(audited(user), ",") {
				t.Errorf("a batch over several end users is not found by %s", user)
			}
		}
		talk := memory.mcp(newest, "?endUserId=ann@example.com")
		feed.step("tools.remember")
		kept := talk.call("remember", object{"messages": []object{{"role": "user", "content": "A zebra that is told."}}})
		recorded("tools.remember", "")
		feed.step("tools.forget")
		talk.call("forget", object{"ids": []any{kept["results"].([]any)[0].(object)["id"]}})
		recorded("tools.forget", "")
		id := m.json["memory"].(object)["id"]
		do(memory, "memories.delete", "", "POST", "/api/v1/memories/delete", with(object{"ids": []any{id}}))
		version := object{"source": "crm", "version": 1, "content": "A zebra.", "occurredAt": "2026-01-02T03:04:05Z"}
		do(memory, "memories.upsert", "", "PUT", "/api/v1/memories/z1", with(version))
		version["version"], version["content"] = 2, "Another zebra."
		do(memory, "memories.upsert", "", "PUT", "/api/v1/memories/z1", with(version))
		do(memory, "memories.tombstone", "", "DELETE", "/api/v1/memories/z1?endUserId=ann@example.com&source=crm&version=3", nil)
		version["version"] = 4
		do(memory, "memories.upsert", "", "PUT", "/api/v1/memories/z1", with(version))
		grant := do(memory, "grants.create", "", "POST", "/api/v1/grants", with(object{"source": "crm"}))
		given := fmt.Sprint(grant.json["grant"].(object)["id"])
		do(memory, "grants.revoke", given, "DELETE", "/api/v1/grants/"+given, nil)
		found := log.get("/admin/v1/audit?organization=default&end_user_id=ann@example.com").ok().objects("records")
		if len(found) != 11 {
			t.Errorf("%d records of the end user", len(found))
		}

		const org = "/admin/v1/organizations"
		made := do(admin, "admin.organizations.create", "", "POST", org, object{"name": "acme"})
		do(admin, "admin.organizations.change", text(made, "id"), "PATCH", org+"/acme", object{"name": "acme-zebra"})
		do(admin, "admin.quotas.change", text(made, "id"), "PATCH", org+"/acme-zebra/quotas", object{"documents": 5})
		do(admin, "admin.organizations.delete", text(made, "id"), "DELETE", org+"/acme-zebra?name=acme-zebra", nil)
		k := do(admin, "admin.keys.create", "", "POST", org+"/default/keys", object{"name": "zebra"})
		secrets = append(secrets, text(k, "secret"))
		one := org + "/default/keys/" + text(k, "id")
		do(admin, "admin.keys.change", text(k, "id"), "PATCH", one, object{"name": "zebra 2"})
		rotated := do(admin, "admin.keys.rotate", text(k, "id"), "POST", one+"/rotate", nil)
		secrets = append(secrets, text(rotated, "secret"))
		do(admin, "admin.keys.revoke", text(k, "id"), "DELETE", one, nil)
		person := do(admin, "admin.members.invite", "", "POST", org+"/default/members",
			object{"email": "ann@example.com", "role": "viewer"})
		whom := org + "/default/members/" + text(person, "id")
		secrets = append(secrets, text(person, "code"))
		do(admin, "admin.members.change", text(person, "id"), "PATCH", whom, object{"role": "admin"})
		do(admin, "admin.members.invite_again", text(person, "id"), "POST", whom+"/invitation", nil)
		do(admin, "admin.members.remove", text(person, "id"), "DELETE", whom, nil)
		i := do(admin, "admin.integrations.create", "", "POST", org+"/default/integrations", object{"name": "shop"})
		do(admin, "admin.integrations.change", text(i, "id"), "PATCH", org+"/default/integrations/shop",
			object{"quotas": object{"read_rate_per_min": 7}})
		do(admin, "admin.integrations.keys.create", "", "POST", org+"/default/integrations/shop/keys", object{"name": "till"})
		ns := org + "/default/namespaces/"
		set := s.exported("docs", "")
		do(admin, "admin.namespaces.import", "again", "POST", ns+"again/import", set, "Content-Type", ndjson)
		do(admin, "admin.namespaces.reindex", "docs", "POST", ns+"docs/reindex", object{"force": true})
		admin.reindexed("docs")
		do(admin, "admin.namespaces.discard", "docs", "DELETE", ns+"docs/reindex", nil)
		ann := "/admin/v1/end_users/ann@example.com/%s?organization=default&integration=chat"
		do(admin, "admin.end_users.reindex", "", "POST", fmt.Sprintf(ann, "reindex"), nil)
		feed.read()
		do(admin, "admin.end_users.erase", "", "POST", fmt.Sprintf(ann, "erase"), nil)
		do(memory, "mem0.entities.delete", "", "DELETE", "/v2/entities/user/zoe/", nil)
		do(memory, "mem0.entities.delete.v1", "", "DELETE", "/v1/entities/user/zed/", nil)
		do(memory, "users.erase", "", "DELETE", "/api/v1/users/ann@example.com", nil)
		s.sourcesRecorded(folder, site, do)
		secrets = append(secrets, s.webhooksRecorded(receiver, admin, do)...)
		feed.step("documents.write")
		written, _ := s.later("soon", "A zebra that is written later.")
		recorded("documents.write", "")
		harness.Eventually(t, "written", func() bool { return s.get(written).ok().json["status"] == "succeeded" })
		s.embedder.Before.Set(coretest.UntilDone)
		feed.step("documents.write")
		_, job := s.later("later", "A zebra that is never written.")
		recorded("documents.write", "")
		do(admin, "admin.jobs.cancel", job, "POST", "/admin/v1/jobs/"+job+"/cancel", nil)
		s.embedder.Before.Clear()
		do(s, "namespaces.delete", "docs", "DELETE", "/namespaces/docs", nil)
		do(s, "namespaces.delete", "docs", "DELETE", "/namespaces/docs", nil)
		for name := range left {
			t.Errorf("%s was not called", name)
		}

		all := string(admin.get("/admin/v1/audit.ndjson").ok().body)
		for _, secret := range secrets {
			if strings.Contains(all, secret) && secret != "" {
				t.Errorf("%q stands in the log", secret)
			}
		}
		v := admin.get("/admin/v1/audit/verification").ok()
		if v.json["intact"] != true || v.json["records"] != v.json["last"] || v.number("records") < float64(40) {
			t.Errorf("verification: %s", v.body)
		}
		feed.outage()
		feed.full()
		feed.replay("again")
		feed.told(slices.DeleteFunc(secrets, func(s string) bool { return s == "ann@example.com" }))
	})
}

// site is a feed that can be locked.
type site struct {
	*httptest.Server
	locked atomic.Bool
}

func newSite(t *testing.T) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.locked.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>News</title></channel></rss>`)
	}))
	t.Cleanup(s.Close)
	return s
}

// sourcesRecorded calls the operations of sources.
func (s *server) sourcesRecorded(folder string, site *site,
	do func(by *server, name, target, method, path string, body any, headers ...string) *reply) {
	s.t.Helper()
	source := do(s, "sources.create", "", "POST", "/sources", object{"name": "Folder", "kind": "directory",
		"namespace": "folder", "config": object{"path": folder}, "start": false})
	id := fmt.Sprint(source.json["id"])
	at := "/sources/" + id
	do(s, "sources.update", id, "PATCH", at, object{"name": "The zebra folder"})
	ended := func(run string) {
		for fmt.Sprint(s.get(at + "/runs/" + run).ok().json["finished_at"]) == "<nil>" {
			time.Sleep(20 * time.Millisecond)
		}
	}
	run := fmt.Sprint(do(s, "sources.sync", id, "POST", at+"/sync", nil).json["id"])
	ended(run)
	again := do(s, "sources.runs.retry_failed", id+"/"+run, "POST", at+"/runs/"+run+"/retry_failed", nil)
	ended(fmt.Sprint(again.json["id"]))
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "broken.pdf"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			s.t.Fatal(err)
		}
	}
	ended(fmt.Sprint(do(s, "sources.sync", id, "POST", at+"/sync", nil).json["id"]))
	ended(fmt.Sprint(do(s, "sources.apply_deletions", id, "POST", at+"/apply_deletions", object{"max": 3}).json["id"]))

	pushed := do(s, "sources.create", "", "POST", "/sources", object{"name": "Pushed", "kind": "push", "namespace": "pushed",
		"config": object{}})
	id2 := fmt.Sprint(pushed.json["id"])
	to := "/sources/" + id2
	begun := fmt.Sprint(do(s, "sources.runs.begin", "", "POST", to+"/runs", object{"mode": "full"}).json["id"])
	do(s, "sources.items.push", id2, "POST", to+"/items", object{"items": []object{
		{"key": "z/1", "version": "1", "name": "Z", "text": "A pushed zebra."}}})
	do(s, "sources.runs.complete", id2+"/"+begun, "POST", to+"/runs/"+begun+"/complete", object{"snapshot": true})
	for fmt.Sprint(s.get(to + "/runs/" + begun).ok().json["finished_at"]) == "<nil>" {
		time.Sleep(20 * time.Millisecond)
	}
	begun = fmt.Sprint(do(s, "sources.runs.begin", "", "POST", to+"/runs", object{"mode": "full"}).json["id"])
	do(s, "sources.runs.cancel", id2+"/"+begun, "POST", to+"/runs/"+begun+"/cancel", nil)
	do(s, "sources.delete", id, "DELETE", at, nil)

	source = do(s, "sources.create", "", "POST", "/sources", object{"name": "Locked", "kind": "feed", "namespace": "locked",
		"config": object{"url": site.URL}, "start": false})
	site.locked.Store(true)
	at = "/sources/" + fmt.Sprint(source.json["id"])
	ended = func(run string) {
		for fmt.Sprint(s.get(at + "/runs/" + run).ok().json["finished_at"]) == "<nil>" {
			time.Sleep(20 * time.Millisecond)
		}
	}
	ended(fmt.Sprint(do(s, "sources.sync", "", "POST", at+"/sync", nil).json["id"]))
}

// oneFile is a body with one file.
func oneFile(name, content string) raw {
	return raw("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n" +
		"Content-Type: text/plain\r\n\r\n" + content + "\r\n--b--\r\n")
}

// Refused calls of administrators are recorded, whatever refuses them, and reads are not.
func TestRefusedAdministrationIsRecorded(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.organization("acme")
		viewer := s.as(s.issue(key.Issue{Kind: ident.Admin, AllOrganizations: true, ReadOnly: true}))
		own, nobody := s.administrator("acme"), s.as("adm-0000000000000000000000000000000000000000000")
		log := s.auditor()
		const orgs = "/admin/v1/organizations"
		for _, c := range []struct {
			who    *server
			method string
			path   string
			body   any
			status int
			want   string
		}{
			{nobody, "GET", orgs, nil, 401, "anonymous admin.organizations.list 401"},
			{s, "POST", orgs, object{"name": "x"}, 401, "anonymous admin.organizations.create 401"},
			{viewer, "POST", orgs, object{"name": "x"}, 403, "key admin.organizations.create 403"},
			{own, "POST", orgs, object{"name": "x"}, 403, "key admin.organizations.create 403"},
			{own, "GET", orgs + "/default", nil, 404, "key admin.organizations.get 404"},
			{log.server, "POST", orgs, object{"name": "acme"}, 409, "key admin.organizations.create 409"},
			{log.server, "POST", orgs, object{"nome": "x"}, 400, "key admin.organizations.create 400"},
			{own, "GET", orgs + "/acme", nil, 200, ""},
			{s, "POST", "/namespaces/docs/documents", object{"documents": []object{{"id": "a", "text": "A."}}}, 200, ""},
			{s, "DELETE", "/namespaces/docs", nil, 200, ""},
		} {
			r := c.who.do(c.method, c.path, c.body).is(c.status)
			var got []string
			for _, x := range log.news("") {
				got = append(got, fmt.Sprintf("%v %v %v", x["actor"], x["action"], x["status"]))
				if x["request_id"] != r.header.Get("X-Request-Id") {
					t.Errorf("%s: request %v", r.call, x["request_id"])
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s: recorded as %q, want %q", r.call, got, c.want)
			}
		}
	})
}

// The record of a change is stored in the transaction that makes it: each of these calls does
// with one.
func TestRecordsAreStoredWithTheirChanges(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{config: func(c *configs.Config) { c.Audit.Level = "all" }})
		log := s.auditor()
		var updates atomic.Int64
		s.store.OnUpdate.Set(func() error { updates.Add(1); return nil })
		do := func(by *server, name, method, path string, body any) *reply {
			t.Helper()
			updates.Store(0)
			r := by.do(method, path, body)
			if n := updates.Load(); r.status/100 != 2 || n != 1 {
				t.Errorf("%s: %d in %d transactions: %s", name, r.status, n, clip(r.body))
			}
			if got := log.news("actor=key"); len(got) != 1 || got[0]["action"] != name {
				t.Errorf("%s is recorded as %v", name, got)
			}
			return r
		}
		const org = "/admin/v1/organizations"
		do(log.server, "admin.organizations.create", "POST", org, object{"name": "acme"})
		do(log.server, "admin.organizations.change", "PATCH", org+"/acme", object{"suspended": false, "name": "acme2"})
		made := do(log.server, "admin.keys.create", "POST", org+"/acme2/keys", object{})
		one := org + "/acme2/keys/" + fmt.Sprint(made.json["id"])
		do(log.server, "admin.keys.change", "PATCH", one, object{"name": "x"})
		do(log.server, "admin.keys.rotate", "POST", one+"/rotate", nil)
		do(log.server, "admin.integrations.create", "POST", org+"/acme2/integrations", object{"name": "chat"})
		do(log.server, "admin.integrations.change", "PATCH", org+"/acme2/integrations/chat", object{"name": "chat2"})
		do(log.server, "admin.integrations.keys.create", "POST", org+"/acme2/integrations/chat2/keys", object{})
		do(s, "namespaces.create", "POST", "/namespaces", object{"name": "docs"})
		do(s, "documents.write", "POST", "/namespaces/docs/documents", object{"documents": []object{{"id": "a", "text": "A."}}})
		do(s, "documents.delete", "POST", "/namespaces/docs/documents/delete", object{"ids": []string{"a"}})
	})
}

// A change over the admin API that cannot be stored is not recorded as done either.
func TestAChangeThatFailsIsNotRecordedAsDone(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		log := s.auditor()
		s.store.FailUpdates(0, errors.New("broken"))
		log.post("/admin/v1/organizations", object{"name": "acme"}).is(500)
		s.store.OnUpdate.Clear()
		if got := log.news(""); len(got) != 0 {
			t.Errorf("recorded: %v", got)
		}
		log.get("/admin/v1/organizations/acme").is(404)
	})
}

// openAIsRecorded calls what changes something for OpenAI's clients.
func (s *server) openAIsRecorded(do func(by *server, name, target, method, path string, body any, headers ...string) *reply) {
	s.t.Helper()
	id := func(r *reply) string { return fmt.Sprint(r.json["id"]) }
	store := id(do(s, "openai.vector_stores.create", "", "POST", "/v1/vector_stores", object{"name": "zebra"}))
	at := "/v1/vector_stores/" + store
	do(s, "openai.vector_stores.update", store, "POST", at, object{"name": "two zebras"})
	file := id(do(s, "openai.files.create", "", "POST", "/v1/files",
		raw("--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n"+
			"assistants\r\n")+oneFile("zebra.txt", "A zebra that is sent."), "Content-Type", "multipart/form-data; boundary=b"))
	one := at + "/files/" + file
	do(s, "openai.vector_store_files.create", store, "POST", at+"/files", object{"file_id": file})
	do(s, "openai.vector_store_files.update", store+"/"+file, "POST", one, object{"attributes": object{"x": "zebra"}})
	do(s, "openai.vector_store_files.delete", store+"/"+file, "DELETE", one, nil)
	do(s, "openai.vector_store_file_batches.create", "", "POST", at+"/file_batches", object{"file_ids": []string{file}})
	do(s, "openai.files.delete", file, "DELETE", "/v1/files/"+file, nil)
	do(s, "openai.vector_stores.delete", store, "DELETE", at, nil)
}
