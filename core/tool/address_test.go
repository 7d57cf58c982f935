package tool_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/tool"
)

const nameRule = "must be 1-64 characters of a-z 0-9 _ -, starting with a letter or digit"

// A namespace comes from the argument, the connection's URL, its header, the key, or
// from being the only one that holds documents, in this order. A name that is none, or
// that the key may not touch, is refused and not passed over
// (docs/contract.md#mcp-namespace).
func TestWhereANamespaceComesFrom(t *testing.T) {
	b := newBench(t, nil)
	standard, limited := b.as(key.Issue{DefaultNamespace: "standard"}), b.as(key.Issue{Namespace: "limited"})
	for _, c := range []struct {
		who      *bench
		argument string
		from     tool.Connection
		want     string // the namespace, or the fault
	}{
		{standard, "argument", tool.Connection{Pinned: "url", Header: "header"}, "argument"},
		{standard, "", tool.Connection{Pinned: "url", Header: "header"}, "url"},
		{standard, "", tool.Connection{Header: "header"}, "header"},
		{standard, "", tool.Connection{}, "standard"},
		{limited, "", tool.Connection{}, "limited"},
		{limited, "limited", tool.Connection{}, "limited"},
		{limited, "other", tool.Connection{}, `forbidden: this key is limited to namespace "limited"`},
		{limited, "", tool.Connection{Pinned: "url"}, `forbidden: this key is limited to namespace "limited"`},
		{limited, "", tool.Connection{Header: "header"}, `forbidden: this key is limited to namespace "limited"`},
		{standard, "No", tool.Connection{Pinned: "url"}, "invalid_namespace: namespace: " + nameRule},
		{standard, "", tool.Connection{Pinned: "No"},
			"invalid_namespace: ?namespace= of the connection's URL: " + nameRule},
		{standard, "", tool.Connection{Header: "No"}, "invalid_namespace: header X-Mneme-Namespace: " + nameRule},
	} {
		what := fmt.Sprintf("argument %q, %+v", c.argument, c.from)
		r := c.who.save(c.from, object{"text": "Herons wade.", "namespace": c.argument})
		if strings.Contains(c.want, ":") {
			refused(t, what, r, c.want)
			continue
		}
		if r.OK(); r.JSON["namespace"] != c.want {
			t.Errorf("%s: %v, want %s", what, r.JSON["namespace"], c.want)
		}
		if c.argument == "" {
			id := strings.TrimPrefix(r.JSON["id"].(string), c.want+"/")
			if got := c.who.fetch(c.from, object{"id": id}).OK(); got.JSON["id"] != r.JSON["id"] {
				t.Errorf("%s: a bare id is of %v", what, got.JSON["id"])
			}
		}
	}
}

// A call that names no namespace changes the only one that there is, never one of
// several, and searches up to 20 (docs/contract.md#mcp-namespace).
func TestWithoutANamespace(t *testing.T) {
	b, none := newBench(t, nil), tool.Connection{}
	find := func(want int) {
		t.Helper()
		if got := b.search(none, object{"query": "heron", "top_k": 20, "rerank": false}).OK().List("results"); len(got) != want {
			t.Errorf("%d found, want %d: %v", len(got), want, coretest.Column(got, "id"))
		}
	}
	refused(t, "search of none", b.search(none, object{"query": "heron"}),
		"namespace_not_found: no namespace holds documents yet")
	refused(t, "save in none", b.save(none, object{"text": "x"}),
		"invalid_request: namespace: is required: no namespace holds documents yet; name the one to make")
	b.write("n01", map[string]string{"a": "A heron."})
	if got := b.save(none, object{"text": "A tern.", "id": "b"}).OK(); got.JSON["namespace"] != "n01" {
		t.Errorf("saved in %v", got.JSON["namespace"])
	}
	find(2)
	names := []string{"n01"}
	for i := 2; i <= 20; i++ {
		names = append(names, fmt.Sprintf("n%02d", i))
		b.write(names[i-1], map[string]string{"a": "A heron."})
		switch i {
		case 2:
			refused(t, "two", b.save(none, object{"text": "x"}),
				"invalid_request: namespace: is required, since there are several: n01, n02")
			find(3)
		case 20:
			refused(t, "twenty", b.save(none, object{"text": "x"}),
				"invalid_request: namespace: is required, since there are several: "+strings.Join(names, ", "))
			find(20) // as many as were asked for
		}
	}
	b.write("n21", map[string]string{"a": "A heron."})
	others := strings.Join(names, ", ") + " and others; list_namespaces lists all"
	refused(t, "21 to write", b.save(none, object{"text": "x"}),
		"invalid_request: namespace: is required, since there are several: "+others)
	refused(t, "21 to search", b.search(none, object{"query": "x"}),
		"invalid_request: namespace: is required, since there are more than 20: "+others)

	broken := fault.New(fault.Unavailable, "the store is away")
	b.Store.OnView.Set(func() error { return broken })
	for what, r := range map[string]*coretest.Reply{
		"search": b.search(none, object{"query": "x"}),
		"save":   b.save(none, object{"text": "x"}),
		"list":   coretest.Ask(b.ctx, t, b.tools.ListNamespaces, object{}),
	} {
		if !errors.Is(r.Err, broken) {
			t.Errorf("%s without a store: %v", what, r.Err)
		}
	}
}

// A document is addressed by its handle, or by its id where the connection or the key
// names the namespace (docs/contract.md#mcp-handles). Its link is that of the server,
// or of the host that the caller used.
func TestHandles(t *testing.T) {
	b := newBench(t, nil)
	b.write("docs", map[string]string{"a": "A heron."})
	pinned := tool.Connection{Pinned: "docs", Host: "localhost:8080"}
	for id, from := range map[string]tool.Connection{"docs/a": {Host: "localhost:8080"}, "a": pinned} {
		if got := b.fetch(from, object{"id": id}).OK(); got.JSON["id"] != "docs/a" || got.JSON["text"] != "A heron." ||
			got.JSON["url"] != "http://localhost:8080/namespaces/docs/documents/a" {
			t.Errorf("%q: %s", id, got.Body)
		}
	}
	b.tools.BaseURL = "https://mneme.example.com"
	got := b.fetch(pinned, object{"id": "a"}).OK().JSON["url"]
	if got != "https://mneme.example.com/namespaces/docs/documents/a" {
		t.Errorf("%v", got)
	}
	for id, says := range map[string]string{
		"a":      `invalid_id: id: "a" lacks its namespace: give namespace/document_id as search gives it`,
		"Docs/a": `invalid_id: id: "Docs/a" is not a document's id, namespace/document_id as search gives it`,
		"/a":     `invalid_id: id: "/a" is not a document's id, namespace/document_id as search gives it`,
		"docs/":  `invalid_id: id: "docs/" is not a document's id, namespace/document_id as search gives it`,
		"a/b/c":  `invalid_id: id: "a/b/c" is not a document's id, namespace/document_id as search gives it`,
		"-":      `invalid_id: id: "-" is not a document's id, namespace/document_id as search gives it`,
	} {
		refused(t, id, b.fetch(tool.Connection{}, object{"id": id}), says)
	}
	refused(t, "no name", b.fetch(tool.Connection{Pinned: "No"}, object{"id": "a"}),
		"invalid_namespace: ?namespace= of the connection's URL: "+nameRule)
}

// Namespaces are listed by name, with what they hold.
func TestNamespacesAreListed(t *testing.T) {
	b := newBench(t, nil)
	b.write("birds", map[string]string{"a": "A heron.", "b": "A tern."})
	b.write("tools", map[string]string{"a": "A saw."})
	got := coretest.Ask(b.ctx, t, b.tools.ListNamespaces, object{}).OK()
	list := got.List("namespaces")
	if !slices.Equal(coretest.Column(list, "name"), []string{"birds", "tools"}) || got.JSON["next_cursor"] != nil ||
		!slices.Equal(coretest.Column(list, "documents"), []string{"2", "1"}) || list[0]["sparse"] != false {
		t.Errorf("%s", got.Body)
	}
	got = coretest.Ask(b.ctx, t, b.tools.ListNamespaces, object{"prefix": "to"}).OK()
	if !slices.Equal(coretest.Column(got.List("namespaces"), "name"), []string{"tools"}) {
		t.Errorf("%s", got.Body)
	}
	coretest.Ask(b.ctx, t, b.tools.ListNamespaces, object{"prefix": "\x00"}).Fails(fault.InvalidRequest)
	coretest.Ask(b.ctx, t, b.tools.ListNamespaces, object{"cursor": "x"}).Fails(fault.InvalidCursor)
}
