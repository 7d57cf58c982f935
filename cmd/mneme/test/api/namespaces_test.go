package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// TestNamespaceLifecycle walks the state table of a namespace.
func TestNamespaceLifecycle(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		absent := func(ns string) {
			t.Helper()
			s.get("/namespaces/"+ns).fails(404, "namespace_not_found", ns)
			s.get("/namespaces/"+ns+"/documents").fails(404, "namespace_not_found", ns)
			s.get("/namespaces/"+ns+"/documents/a").fails(404, "namespace_not_found", ns)
			s.post("/namespaces/"+ns+"/query", object{"query": "x"}).fails(404, "namespace_not_found", ns)
			if listed := column(s.get("/namespaces").ok().list("namespaces"), "name"); slices.Contains(listed, ns) {
				t.Errorf("%s is listed: %v", ns, listed)
			}
		}

		// A first write creates a plain namespace.
		absent("plain")
		if r := s.write("plain", doc("a", "one text", "")); r.json["sparse"] != false {
			t.Errorf("written into sparse %v", r.json["sparse"])
		}
		n := s.get("/namespaces/plain").ok()
		fields(t, "a namespace", n.json, "name", "sparse", "documents", "chunks", "bytes", "embedding_model",
			"embedding_digest", "sparse_model", "created_at", "updated_at")
		if n.json["name"] != "plain" || n.json["sparse"] != false || n.number("documents") != 1 ||
			n.number("chunks") != 1 || n.number("bytes") != 8 ||
			n.json["embedding_model"] != "test-embedder" || n.json["embedding_digest"] != "sha256:test-embedder-1" ||
			n.json["sparse_model"] != nil {
			t.Errorf("namespace: %s", n.body)
		}
		for _, at := range []string{"created_at", "updated_at"} {
			if _, err := time.Parse(time.RFC3339, fmt.Sprint(n.json[at])); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}

		// Creating: idempotent, and a conflict with the other index.
		for range 2 {
			r := s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
			fields(t, "a created namespace", r.json, "name", "sparse")
			if r.json["name"] != "thin" || r.json["sparse"] != true {
				t.Errorf("created: %s", r.body)
			}
			absent("thin") // until it holds documents
		}
		s.post("/namespaces", object{"name": "thin"}).fails(409, "conflict", "with a sparse index", "without a sparse index")
		s.post("/namespaces", object{"name": "plain", "sparse": true}).fails(409, "conflict", "with a sparse index",
			"without a sparse index")
		if r := s.post("/namespaces", object{"name": "plain"}).ok(); r.json["sparse"] != false {
			t.Errorf("created again: %s", r.body)
		}
		if r := s.post("/namespaces", object{"name": "empty"}).ok(); r.json["sparse"] != false {
			t.Errorf("created: %s", r.body)
		}
		absent("empty")
		if r := s.write("thin", doc("a", "one text", "")); r.json["sparse"] != true {
			t.Errorf("written into sparse %v", r.json["sparse"])
		}
		if r := s.get("/namespaces/thin").ok(); r.json["sparse"] != true || r.json["sparse_model"] != "test-sparse" {
			t.Errorf("namespace: %s", r.body)
		}

		// Emptied by ids, by filter or with its last document: absent, and a
		// write creates it again without a sparse index.
		if r := s.post("/namespaces/thin/documents/delete", object{"ids": []string{"a"}}).ok(); r.number("deleted") != 1 {
			t.Errorf("deleted: %s", r.body)
		}
		absent("thin")
		if r := s.write("thin", doc("b", "another text", "")); r.json["sparse"] != false {
			t.Errorf("an emptied sparse namespace came back sparse")
		}
		s.post("/namespaces", object{"name": "thin", "sparse": true}).fails(409, "conflict")

		// DELETE: true where there was one, a created but empty one included.
		for _, c := range []struct {
			ns   string
			want bool
		}{{"plain", true}, {"plain", false}, {"empty", true}, {"empty", false}, {"thin", true}, {"never", false}} {
			r := s.do("DELETE", "/namespaces/"+c.ns, nil).ok()
			fields(t, "a deletion", r.json, "deleted")
			if r.json["deleted"] != c.want {
				t.Errorf("delete %s: %v, want %v", c.ns, r.json["deleted"], c.want)
			}
			absent(c.ns)
		}

		// A new life of a name sees nothing of the old one.
		s.write("plain", doc("new", "fresh words", ""))
		if got := s.query("plain", object{"query": "one text fresh words"}).found(); !slices.Equal(got, []string{"new"}) {
			t.Errorf("a new life finds %v", got)
		}
	})
}

func TestListNamespaces(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		if r := s.get("/namespaces").ok(); len(r.list("namespaces")) != 0 || r.json["next_cursor"] != nil {
			t.Errorf("an empty server lists %s", r.body)
		}
		var want []string
		for i := range 7 {
			ns := fmt.Sprintf("n%d", i)
			want = append(want, ns)
			s.write(ns, doc("a", "x", ""))
		}
		s.write("other", doc("a", "x", ""))
		var got []string
		path, pages := "/namespaces?limit=3&prefix=n", 0
		for cursor := ""; ; pages++ {
			r := s.get(path + "&cursor=" + cursor).ok()
			fields(t, "a page", r.json, "namespaces", "next_cursor")
			got = append(got, column(r.list("namespaces"), "name")...)
			next, more := r.json["next_cursor"].(string)
			if !more {
				break
			}
			cursor = next
			if pages == 0 {
				s.get("/namespaces?limit=3&prefix=o&cursor="+cursor).fails(400, "invalid_cursor", "cursor")
				s.get("/namespaces/n1/documents?cursor="+cursor).fails(400, "invalid_cursor", "cursor")
				s.get("/namespaces?prefix=n&limit=2&cursor=" + cursor).ok() // the page size may change
				s.do("DELETE", "/namespaces/n2", nil).ok()                  // the one before the cursor
				s.write("n1a", doc("a", "x", ""))
			}
		}
		if !slices.Equal(got, want) || pages != 2 {
			t.Errorf("%d pages gave %v, want %v", pages+1, got, want)
		}
		for _, q := range []string{"limit=0", "limit=1001", "limit=-1", "limit=x", "limit=1.5",
			"limit=99999999999999999999", "limit=1&limit=2"} {
			s.get("/namespaces?"+q).fails(400, "invalid_request", "limit")
		}
		for _, q := range []string{"limit=1", "limit=1000", "utm_source=mail"} {
			s.get("/namespaces?" + q).ok()
		}
	})
}

// TestWriteGuards covers expect_sparse and models that are off.
func TestWriteGuards(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		s.write("plain", doc("a", "x", ""))
		for _, c := range []struct {
			ns     string
			expect any
			status int
		}{
			{"plain", true, 409}, {"plain", false, 200}, {"plain", nil, 200}, {"thin", false, 409}, {"thin", true, 200},
			{"fresh", true, 409}, {"fresh", false, 200},
		} {
			for _, prefer := range []string{"", "respond-async"} {
				if prefer != "" && c.status == 200 {
					continue
				}
				r := s.post("/namespaces/"+c.ns+"/documents",
					object{"documents": []object{doc("g", "guarded", "")}, "expect_sparse": c.expect}, "Prefer", prefer)
				if c.status == 200 {
					r.ok()
					continue
				}
				r.fails(409, "conflict", c.ns)
				if slices.Contains(s.ids(c.ns), "g") {
					t.Errorf("expect_sparse %v on %s wrote something", c.expect, c.ns)
				}
			}
		}

		// The sparse model goes off: a write into the sparse namespace answers
		// 503 and changes nothing; the plain one still works.
		s = s.restart(func(o *options) { o.sparse = nil })
		s.write("plain", doc("b", "y", ""))
		before := s.ids("thin")
		for _, prefer := range []string{"", "respond-async"} {
			s.post("/namespaces/thin/documents", object{"documents": []object{doc("h", "held", "")}}, "Prefer", prefer).fails(503,
				"unavailable", "sparse").retry()
		}
		if after := s.ids("thin"); !slices.Equal(before, after) {
			t.Errorf("thin went from %v to %v", before, after)
		}
		if r := s.query("thin", object{"query": "guarded"}); !slices.Equal(column(r.list("degraded"), "part"),
			[]string{"sparse"}) ||
			!slices.Equal(column(r.list("degraded"), "reason"), []string{"model_off"}) || len(r.found()) == 0 {
			t.Errorf("a query without the sparse model: %s", r.body)
		}
		s.post("/namespaces/thin/query", object{"query": "guarded", "strict": true}).fails(503, "unavailable", "sparse").retry()
		s.post("/namespaces/thin/query", object{"query": "guarded", "mode": "sparse"}).fails(503, "unavailable", "sparse").retry()

		// The embedder goes off too.
		s = s.restart(func(o *options) { o.noEmbed, o.embedder = true, nil })
		s.post("/namespaces/plain/documents", object{"documents": []object{doc("c", "z", "")}}).fails(503,
			"unavailable", "embedding").retry()
		s.post("/namespaces/new/documents", object{"documents": []object{doc("c", "z", "")}}).fails(503, "unavailable",
			"embedding").retry()
		if got := s.ids("plain"); !slices.Equal(got, []string{"a", "b", "g"}) {
			t.Errorf("plain holds %v", got)
		}
		if s.ids("new") != nil {
			t.Error("a refused write created its namespace")
		}
		if r := s.query("plain", object{"query": "guarded"}); !slices.Equal(column(r.list("degraded"), "part"),
			[]string{"vector"}) || !slices.Equal(r.found(), []string{"g"}) {
			t.Errorf("a query without the embedder: %s", r.body)
		}
		s.post("/namespaces/plain/query", object{"query": "guarded", "mode": "vector"}).fails(503, "unavailable",
			"vector").retry()
	})
}

// TestTenants: two organizations with the same names never see each other.
func TestTenants(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		one := start(t, b, options{})
		two := one.organization("two")
		one.write("shared", doc("a", "the marker alpha of one", `{"who":"one"}`), doc("only", "alpha alone", ""))
		two.get("/namespaces/shared").fails(404, "namespace_not_found")
		two.get("/namespaces/shared/documents").fails(404, "namespace_not_found")
		two.get("/namespaces/shared/documents/a").fails(404, "namespace_not_found")
		two.post("/namespaces/shared/query", object{"query": "alpha"}).fails(404, "namespace_not_found")
		if r := two.post("/namespaces/shared/documents/delete", object{"ids": []string{"a"}}).ok(); r.number("deleted") != 0 {
			t.Errorf("another organization deleted %s", r.body)
		}
		if r := two.post("/namespaces/shared/documents/delete",
			object{"filter": object{"who": "one"}}).ok(); r.number("deleted") != 0 {
			t.Errorf("another organization deleted %s", r.body)
		}
		if r := two.do("DELETE", "/namespaces/shared", nil).ok(); r.json["deleted"] != false {
			t.Errorf("another organization deleted the namespace")
		}
		r := one.post("/namespaces/shared/documents", object{"documents": []object{doc("b", "x", "")}}, "Prefer",
			"respond-async").is(202)
		two.get(r.header.Get("Location")).fails(404, "not_found")
		eventually(t, "operation", 30*time.Second,
			func() bool { return one.get(r.header.Get("Location")).ok().json["status"] == "succeeded" })

		two.write("shared", doc("a", "the marker beta of two", `{"who":"two"}`))
		for _, c := range []struct {
			who  *server
			name string
			mark string
			ids  []string
		}{{one, "one", "alpha", []string{"a", "b", "only"}}, {two, "two", "beta", []string{"a"}}} {
			if got := c.who.ids("shared"); !slices.Equal(got, c.ids) {
				t.Errorf("%s lists %v", c.name, got)
			}
			for _, mode := range []string{"hybrid", "keyword", "vector"} {
				for _, h := range c.who.query("shared",
					object{"query": "the marker alpha beta", "mode": mode, "top_k": 100}).list("results") {
					if h["document_id"] == "a" && !strings.Contains(fmt.Sprint(h["text"]), c.mark) {
						t.Errorf("%s sees %v", c.name, h)
					}
				}
			}
		}
		cursor := one.get("/namespaces/shared/documents?limit=1").ok().json["next_cursor"]
		two.get(fmt.Sprintf("/namespaces/shared/documents?limit=1&cursor=%v", cursor)).fails(400, "invalid_cursor")
		two.do("DELETE", "/namespaces/shared", nil).ok()
		if got := one.ids("shared"); len(got) != 3 {
			t.Errorf("the other organization's deletion left %v", got)
		}
		// The default organization's names are not reachable by spelling.
		two.get("/namespaces/default%2Fshared").fails(400, "invalid_namespace", "namespace")
	})
}
