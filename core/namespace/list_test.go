package namespace_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
)

// walk lists all pages, and calls between after each but the last.
func (c *catalog) walk(limit int, prefix string, between func(cursor string)) (names []string, pages int) {
	c.t.Helper()
	for cursor := ""; ; {
		r := c.list(page(limit, prefix, cursor)).OK()
		coretest.Fields(c.t, "a page", r.JSON, "namespaces", "next_cursor")
		some := coretest.Column(r.List("namespaces"), "name")
		names, pages = append(names, some...), pages+1
		next, more := r.JSON["next_cursor"].(string)
		if len(some) > limit || more && len(some) < limit {
			c.t.Fatalf("a page of %d holds %v, more is %t", limit, some, more)
		}
		if !more {
			return names, pages
		}
		if between != nil {
			between(next)
		}
		cursor = next
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	if r := c.list().OK(); len(r.List("namespaces")) != 0 || r.JSON["next_cursor"] != nil {
		t.Errorf("an empty server lists %s", r.Body)
	}
	var all []string
	for i := range 7 {
		ns := fmt.Sprintf("n%d", i)
		all = append(all, ns)
		c.write(ns, "a", "x")
	}
	c.write("other", "a", "x")
	c.create(coretest.Object{"name": "n-empty"}).OK()
	for limit, want := range map[int]int{1: 7, 2: 4, 3: 3, 6: 2, 7: 1, 8: 1, 1000: 1} {
		if names, pages := c.walk(limit, "n", nil); !slices.Equal(names, all) || pages != want {
			t.Errorf("%d pages of %d: %v", pages, limit, names)
		}
	}
	if got := c.names(); !slices.Equal(got, append(slices.Clone(all), "other")) {
		t.Errorf("without a prefix: %v", got)
	}
	for prefix, want := range map[string]int{"n": 7, "n3": 1, "n33": 0, "o": 1, "other": 1, "%": 0, "_": 0, "N": 0} {
		if names, _ := c.walk(100, prefix, nil); len(names) != want {
			t.Errorf("prefix %q lists %v", prefix, names)
		}
	}
	// What is listed is what is read.
	listed, read := c.list(page(1, "n3", "")).OK().List("namespaces")[0], c.get("n3").OK()
	if fmt.Sprint(listed) != fmt.Sprint(read.JSON) {
		t.Errorf("listed as %v, read as %s", listed, read.Body)
	}

	// Survivors are neither repeated nor skipped while others come and go.
	first := true
	names, _ := c.walk(3, "n", func(cursor string) {
		if !first {
			return
		}
		first = false
		c.list(page(2, "n", cursor)).OK() // the size may change
		c.remove("n2").OK()               // the one before the cursor
		c.write("n1a", "a", "x")
	})
	if !slices.Equal(names, all) {
		t.Errorf("with changes between the pages: %v", names)
	}
}

// TestPageHoldsAHundred where the caller does not say how many.
func TestPageHoldsAHundred(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	for i := range 101 {
		c.write(fmt.Sprintf("n%03d", i), "a", "x")
	}
	r := c.list().OK()
	if n := len(r.List("namespaces")); n != 100 {
		t.Errorf("a page holds %d", n)
	}
	next := c.list(func(in *namespace.ListNamespaces) { in.Cursor = r.JSON["next_cursor"].(string) }).OK()
	if got := coretest.Column(next.List("namespaces"), "name"); !slices.Equal(got, []string{"n100"}) ||
		next.JSON["next_cursor"] != nil {
		t.Errorf("the next holds %v", got)
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	for _, ns := range []string{"n1", "n2", "n3"} {
		c.write(ns, "a", "x")
	}
	cursor := c.list(page(1, "n", "")).OK().JSON["next_cursor"].(string)
	for name, other := range map[string]*coretest.Reply{
		"another prefix":       c.list(page(1, "o", cursor)),
		"no prefix":            c.list(page(1, "", cursor)),
		"another organization": c.as(c.Caller(key.Issue{Org: "acme"})).list(page(1, "n", cursor)),
		"a cut cursor":         c.list(page(1, "n", cursor[:len(cursor)-2])),
		"no cursor":            c.list(page(1, "n", "x")),
		"another list": coretest.Ask(c.ctx, t, c.documents.List, coretest.Object{},
			func(in *document.ListDocuments) { in.Namespace, in.Cursor = "n1", cursor }),
	} {
		if other.Err == nil {
			t.Errorf("%s: %s", name, other.Body)
		}
		other.Fails("invalid_cursor", "cursor")
	}
	for _, limit := range []int{0, -1, 1001} {
		c.list(page(limit, "", "")).Fails("invalid_request", "limit")
	}
	c.list(page(1, "a\x00", "")).Fails("invalid_request", "prefix")
}

// TestLimitedKeyListsItsOwn: a key limited to one namespace sees that one, if it holds
// documents and the prefix fits, and has no further pages.
func TestLimitedKeyListsItsOwn(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	c.write("docs", "a", "x")
	c.write("docs2", "a", "x")
	c.create(coretest.Object{"name": "empty"}).OK()
	for _, limited := range []struct {
		ns, prefix string
		want       []string
	}{
		{"docs", "", []string{"docs"}}, {"docs", "d", []string{"docs"}}, {"docs", "docs", []string{"docs"}},
		{"docs", "docs2", nil}, {"docs", "x", nil}, {"docs2", "docs", []string{"docs2"}},
		{"empty", "", nil}, {"never", "", nil},
	} {
		own := c.as(c.Caller(key.Issue{Namespace: limited.ns}))
		r := own.list(page(1, limited.prefix, "")).OK()
		if got := coretest.Column(r.List("namespaces"), "name"); !slices.Equal(got, limited.want) ||
			r.JSON["next_cursor"] != nil {
			t.Errorf("the key of %s lists %s with prefix %q", limited.ns, r.Body, limited.prefix)
		}
	}
	cursor := c.list(page(1, "", "")).OK().JSON["next_cursor"].(string)
	own := c.as(c.Caller(key.Issue{Namespace: "docs"}))
	if r := own.list(page(1, "", cursor)).OK(); len(r.List("namespaces")) != 0 {
		t.Errorf("after another key's page: %s", r.Body)
	}
}
