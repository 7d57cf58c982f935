package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/key"
)

// async is a write that is to answer before it is done.
func (l *library) async(ns string, body coretest.Object) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Write, body, func(in *document.WriteDocuments) {
		in.Namespace, in.Prefer = ns, "respond-async"
	})
}

// both makes a call now and in the background.
func (l *library) both(ns string, body coretest.Object) []*coretest.Reply {
	l.t.Helper()
	return []*coretest.Reply{l.post(ns, body), l.async(ns, body)}
}

// TestExpectSparse: a write that expects the other index is refused, and makes nothing.
func TestExpectSparse(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	s.create(coretest.Object{"name": "thin", "sparse": true}).OK()
	s.write("plain", doc("a", "x", ""))
	for _, c := range []struct {
		ns      string
		expect  any
		refused bool
	}{
		{"plain", true, true}, {"plain", false, false}, {"plain", nil, false}, {"thin", false, true}, {"thin", true, false},
		{"fresh", true, true}, {"fresh", false, false},
	} {
		body := coretest.Object{"documents": []coretest.Object{doc("g", "guarded", "")}, "expect_sparse": c.expect}
		if !c.refused {
			s.post(c.ns, body).OK()
			continue
		}
		for _, r := range s.both(c.ns, body) {
			r.Fails("conflict", c.ns)
		}
		if slices.Contains(s.ids(c.ns), "g") {
			t.Errorf("expect_sparse %v on %s wrote something", c.expect, c.ns)
		}
	}
}

// TestModelsAreOff: a write that needs a model which is off is refused at once and
// changes nothing; what does not need it goes on, and a query says what it lacks.
func TestModelsAreOff(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	s.create(coretest.Object{"name": "thin", "sparse": true}).OK()
	s.write("thin", doc("g", "guarded", ""))
	s.write("plain", doc("a", "x", ""), doc("g", "guarded", ""))
	lacks := func(ns, part, reason string, want ...string) {
		t.Helper()
		r := s.query(ns, coretest.Object{"query": "guarded"})
		if degraded := r.List("degraded"); !slices.Equal(coretest.Column(degraded, "part"), []string{part}) ||
			!slices.Equal(coretest.Column(degraded, "reason"), []string{reason}) || !slices.Equal(found(r), want) {
			t.Errorf("a query of %s without %s: %s", ns, part, r.Body)
		}
	}

	s = s.restart(coretest.Options{})
	s.write("plain", doc("b", "y", ""))
	for _, r := range s.both("thin", coretest.Object{"documents": []coretest.Object{doc("h", "held", "")}}) {
		r.Fails("unavailable", "sparse").Stays()
	}
	if got := s.ids("thin"); !slices.Equal(got, []string{"g"}) {
		t.Errorf("thin holds %v", got)
	}
	lacks("thin", "sparse", "model_off", "g")
	s.ask("thin", coretest.Object{"query": "guarded", "strict": true}).Fails("unavailable", "sparse").Stays()
	s.ask("thin", coretest.Object{"query": "guarded", "mode": "sparse"}).Fails("unavailable", "sparse").Stays()

	s = s.restart(coretest.Options{NoEmbedder: true})
	for _, ns := range []string{"plain", "new"} {
		for _, r := range s.both(ns, coretest.Object{"documents": []coretest.Object{doc("c", "z", "")}}) {
			r.Fails("unavailable", "embedding").Stays()
		}
	}
	if got := s.ids("plain"); !slices.Equal(got, []string{"a", "b", "g"}) {
		t.Errorf("plain holds %v", got)
	}
	if s.ids("new") != nil {
		t.Error("a refused write created its namespace")
	}
	lacks("plain", "vector", "model_off", "g")
	s.ask("plain", coretest.Object{"query": "guarded", "mode": "vector"}).Fails("unavailable", "vector").Stays()
}

// TestTenants: two organizations with the same names never see each other.
func TestTenants(t *testing.T) {
	t.Parallel()
	one := open(t, coretest.Options{})
	tenant := *one
	tenant.ctx = one.Caller(key.Issue{Org: "two"})
	two := &tenant
	one.write("shared", doc("a", "the marker alpha of one", `{"who":"one"}`), doc("only", "alpha alone", ""))
	two.namespace("shared").Fails("namespace_not_found")
	two.page("shared", lists{}).Fails("namespace_not_found")
	two.get("shared", "a").Fails("namespace_not_found")
	two.ask("shared", coretest.Object{"query": "alpha"}).Fails("namespace_not_found")
	for _, body := range []coretest.Object{{"ids": []string{"a"}}, {"filter": coretest.Object{"who": "one"}}} {
		if r := two.remove("shared", body).OK(); r.Number("deleted") != 0 {
			t.Errorf("another organization deleted %s", r.Body)
		}
	}
	if r := two.drop("shared").OK(); r.JSON["deleted"] != false {
		t.Error("another organization deleted the namespace")
	}
	operation := one.writeLater("shared", doc("b", "x", ""))
	two.operation("shared", operation).Fails("not_found", operation)
	one.ended("shared", operation)

	two.write("shared", doc("a", "the marker beta of two", `{"who":"two"}`))
	for _, c := range []struct {
		who        *library
		name, mark string
		ids        []string
	}{{one, "one", "alpha", []string{"a", "b", "only"}}, {two, "two", "beta", []string{"a"}}} {
		if got := c.who.ids("shared"); !slices.Equal(got, c.ids) {
			t.Errorf("%s lists %v", c.name, got)
		}
		for _, mode := range []string{"hybrid", "keyword", "vector"} {
			hits := c.who.query("shared",
				coretest.Object{"query": "the marker alpha beta", "mode": mode, "top_k": 100}).List("results")
			seen := false
			for _, h := range hits {
				if seen = seen || h["document_id"] == "a"; !slices.Contains(c.ids, fmt.Sprint(h["document_id"])) ||
					h["document_id"] == "a" && !strings.Contains(fmt.Sprint(h["text"]), c.mark) {
					t.Errorf("%s sees %v", c.name, h)
				}
			}
			if !seen {
				t.Errorf("%s does not find its own by %s: %v", c.name, mode, hits)
			}
		}
	}
	cursor := one.page("shared", lists{limit: 1}).OK().JSON["next_cursor"].(string)
	two.page("shared", lists{limit: 1, cursor: cursor}).Fails("invalid_cursor")
	two.drop("shared").OK()
	if got := one.ids("shared"); len(got) != 3 {
		t.Errorf("the other organization's deletion left %v", got)
	}
}
