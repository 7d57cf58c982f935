package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// usage is what GET /usage lists, each row as "where: counts".
func (s *server) usage(query string) (rows []string) {
	s.t.Helper()
	for _, r := range s.get("/admin/v1/usage?organization=acme&" + query).ok().objects("usage") {
		where := "-"
		if n, ok := r["namespace"].(string); ok {
			where = n
		} else if r["integration_id"] != nil {
			where = "integration"
		}
		counts := []string{}
		for _, name := range []string{"requests", "documents", "chunks", "tokens_embedded", "tokens_sparse", "pairs_reranked",
			"recalls"} {
			counts = append(counts, fmt.Sprint(r[name]))
		}
		rows = append(rows, where+": "+strings.Join(counts, " "))
	}
	return rows
}

// write writes a document, which may be refused.
func write(s *server, doc object) *reply {
	return s.post("/namespaces/docs/documents", object{"documents": []object{doc}})
}

// What a workload did is what its usage says, over a restart; no end user is in it, and with
// the organization it goes.
func TestUsage(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}, reranker: &coretest.Reranker{}})
		acme := s.organization("acme")
		admin := s.operator()
		memory := s.integration("app", func(i *key.Issue) { i.Org = "acme" })

		acme.post("/namespaces", object{"name": "docs", "sparse": true}).ok()
		acme.write("docs", object{"id": "a", "text": "one two three"}, object{"id": "b", "text": "four five"})
		acme.write("docs", object{"id": "a", "text": "one two three"}) // is as it was
		write(acme, object{"id": "b"}).is(400)
		acme.query("docs", object{"query": "six seven", "rerank": object{}}).ok()
		acme.post("/rerank", object{"query": "one", "documents": []string{"a b", "c", "d"}}).ok()
		memory.save("ann@example.com", "Ann likes tea.")
		memory.post("/api/v1/recall", object{"endUserId": "ann@example.com", "query": "tea"}).ok()

		want := []string{
			"-: 1 0 0 0 0 3 0",
			"docs: 4 2 2 7 7 2 0",
		}
		got := admin.usage("")
		var rest []string
		for _, row := range got {
			if !strings.HasPrefix(row, "integration: 2 1 1 ") || !strings.HasSuffix(row, " 1") {
				rest = append(rest, row)
			}
		}
		if fmt.Sprint(rest) != fmt.Sprint(want) || len(got) != 3 {
			t.Errorf("usage is\n%s\nwant\n%s\nand the integration's", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		s = s.restart(func(o *options) { o.sparse, o.reranker = &coretest.SparseEncoder{}, &coretest.Reranker{} })
		admin, acme = s.as(admin.key), s.as(acme.key)
		if again := admin.usage(""); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("after a restart %v, before %v", again, got)
		}
		acme.write("docs", object{"id": "c", "text": "eight"})
		if now := admin.usage("namespace=docs"); fmt.Sprint(now) != "[docs: 5 3 3 8 8 2 0]" {
			t.Errorf("after one more write: %v", now)
		}
		all := string(admin.get("/admin/v1/usage.csv?by=hour").ok().body)
		for _, path := range []string{"/admin/v1/usage?by=hour", "/admin/v1/usage/bytes"} {
			all += string(admin.get(path).ok().body)
		}
		if strings.Contains(all, "ann@example.com") {
			t.Errorf("the end user is in the usage: %s", all)
		}
		kept := admin.get("/admin/v1/usage/bytes?organization=acme&namespace=docs").ok().objects("kept")
		if len(kept) != 1 || kept[0]["bytes"] != float64(len("one two three")+len("four five")+len("eight")) {
			t.Errorf("kept: %v", kept)
		}

		admin.do("DELETE", "/admin/v1/organizations/acme?name=acme", nil)
		id := fmt.Sprint(kept[0]["organization_id"])
		for admin.do("DELETE", "/admin/v1/organizations/"+id+"?name=acme", nil).status == 202 {
			time.Sleep(20 * time.Millisecond)
		}
		if left := string(admin.get("/admin/v1/usage.csv").ok().body); strings.Contains(left, id) {
			t.Errorf("usage of a deleted organization: %s", left)
		}
	})
}

// A quota answers 403 with what it bounds, in both families of the API, and only operators
// change it.
func TestQuotas(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		acme, admin := s.organization("acme"), s.operator()
		memory := s.integration("app", func(i *key.Issue) { i.Org = "acme" })
		const path = "/admin/v1/organizations/acme/quotas"
		set := func(c object) *reply { return admin.do("PATCH", path, c) }
		set(object{"documents": 1, "end_users": 1}).ok()
		acme.write("docs", object{"id": "a", "text": "one"})
		write(acme, object{"id": "b", "text": "two"}).fails(403, "quota_exceeded", "1 of at most 1 documents")
		acme.write("docs", object{"id": "a", "text": "three"})
		memory.save("ann", "Ann likes tea.")
		memory.post("/api/v1/memories", object{"endUserId": "bob", "content": "Bob likes tea."}).
			refuses(403, "quota_exceeded", "quota", "end_users", "limit", 1, "used", 1)
		q := admin.get(path).ok().json
		if d := q["documents"].(object); d["limit"] != 1.0 || d["used"] != 1.0 || d["exceeded_at"] == nil {
			t.Errorf("documents: %v", d)
		}
		if d := q["bytes"].(object); d["limit"] != nil || d["used"] != float64(len("three")+len("Ann likes tea.")) {
			t.Errorf("bytes: %v", d)
		}
		set(object{"documents": 0}).ok()
		acme.write("docs", object{"id": "b", "text": "two"})
		set(object{}).fails(400, "invalid_request")
		set(object{"documents": -1}).fails(400, "invalid_request")
		theirs := s.as(s.issue(key.Issue{Kind: ident.Admin, Org: "acme", Name: "theirs"}))
		theirs.get(path).ok()
		theirs.do("PATCH", path, object{"documents": 0}).fails(403, "forbidden")
		theirs.get("/admin/v1/organizations/default/quotas").fails(404, "not_found")
	})
}
