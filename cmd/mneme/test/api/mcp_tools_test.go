package api_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/transports/mcp"
)

// The newest revision, for tests that are about tools.
const newest = "2026-07-28"

// results are the hits of a search.
func results(found object) []object {
	list, _ := found["results"].([]any)
	out := make([]object, len(list))
	for i, r := range list {
		out[i] = r.(object)
	}
	return out
}

func TestMCPSave(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		c := s.mcp(newest, "?namespace=notes")

		t.Run("a repeat changes nothing", func(t *testing.T) {
			first := c.call("save", object{"text": "Herons wade."})
			id := fmt.Sprint(first["id"])
			if len(id) != len("notes/mcp:")+24 || !strings.HasPrefix(id, "notes/mcp:") || first["created"] != true ||
				first["unchanged"] != false || first["chunks"] != 1.0 {
				t.Errorf("saved %v", first)
			}
			s.embedder.TakePassages()
			if again := c.call("save", object{"text": "Herons wade."}); again["id"] != id ||
				again["created"] != false || again["unchanged"] != true {
				t.Errorf("saved again: %v", again)
			}
			if got := s.embedder.TakePassages(); len(got) != 0 {
				t.Errorf("a repeat embeds %q", got)
			}
		})
		t.Run("an id is replaced", func(t *testing.T) {
			for i, text := range []string{"one", "two"} {
				got := c.call("save", object{"id": "a.b:c-d_e", "text": text})
				if got["id"] != "notes/a.b:c-d_e" || got["created"] != (i == 0) || got["unchanged"] != false {
					t.Errorf("saved %v", got)
				}
			}
			if got := c.call("fetch", object{"id": "notes/a.b:c-d_e"}); got["text"] != "two" {
				t.Errorf("fetched %v", got)
			}
			// a handle as search gives it
			if got := c.call("save", object{"id": "notes/a.b:c-d_e", "text": "three"}); got["created"] != false {
				t.Errorf("saved by handle: %v", got)
			}
		})
		t.Run("title and url are metadata", func(t *testing.T) {
			c.call("save", object{"id": "m", "text": "x", "title": "T", "url": "https://example.com/m",
				"metadata": object{"k": []string{"v"}, "title": "T"}})
			got := c.call("fetch", object{"id": "m"})
			want := object{"k": []any{"v"}, "title": "T", "url": "https://example.com/m"}
			if got["title"] != "T" || got["url"] != "https://example.com/m" ||
				canonicalJSON(t, got["metadata"]) != canonicalJSON(t, want) {
				t.Errorf("fetched %v", got)
			}
			if got := s.get("/namespaces/notes/documents/m").ok(); canonicalJSON(t,
				got.json["metadata"]) != canonicalJSON(t, want) {
				t.Errorf("read %s", got.body)
			}
			c.refuses("save", object{"text": "x", "title": "T", "metadata": object{"title": "other"}},
				"invalid_metadata", "title")
		})
		t.Run("refusals", func(t *testing.T) {
			before := state(s)
			for name, r := range map[string]struct {
				args  any
				code  string
				words []string
			}{
				"no text":           {object{}, "invalid_request", []string{"text"}},
				"empty text":        {object{"text": ""}, "invalid_request", []string{"text"}},
				"text of a kind":    {object{"text": 3}, "invalid_request", []string{"text", "string"}},
				"null":              {object{"text": nil}, "invalid_request", []string{"text"}},
				"no arguments":      {nil, "invalid_request", []string{"text"}},
				"misspelt":          {object{"text": "x", "titel": "y"}, "invalid_request", []string{"titel", `"title"`}},
				"id":                {object{"text": "x", "id": "-a"}, "invalid_id", []string{"-a"}},
				"id with two slash": {object{"text": "x", "id": "a/b/c"}, "invalid_id", []string{"a/b/c"}},
				"two namespaces": {object{"text": "x", "id": "a/b", "namespace": "c"}, "invalid_request",
					[]string{"namespace", `"a"`}},
				"namespace": {object{"text": "x", "namespace": "A"}, "invalid_namespace", []string{"namespace"}},
				"metadata": {object{"text": "x", "metadata": object{"a": object{"b": 1}}}, "invalid_metadata",
					[]string{"metadata: a:"}},
				"metadata of a kind": {object{"text": "x", "metadata": 3, "title": "y"}, "invalid_metadata",
					[]string{"metadata"}},
				"NUL":      {object{"text": "a\x00b"}, "invalid_request", []string{"NUL"}},
				"too long": {object{"text": strings.Repeat("x", 256<<10+1)}, "payload_too_large", []string{"262145"}},
			} {
				t.Run(name, func(t *testing.T) {
					(&mcpClient{t, c.ClientSession}).refuses("save", r.args, r.code, r.words...)
					if after := state(s); after != before {
						t.Errorf("something was written:\n%s", after)
					}
				})
			}
		})
	})
}

// Texts as large as allowed go in and come out whole, however they are escaped.
func TestMCPLargeTexts(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		c := s.mcp(newest, "?namespace=big")
		const size = 256 << 10
		for name, text := range map[string]string{
			"letters":  strings.Repeat("heron ", size/6) + strings.Repeat("x", size%6),
			"controls": strings.Repeat("\x01", size), // six bytes each in JSON
			"emoji":    strings.Repeat("🐦", size/4),
			"mixed":    strings.Repeat("aé漢🐦\n", size/11),
		} {
			t.Run(name, func(t *testing.T) {
				c := &mcpClient{t, c.ClientSession}
				c.call("save", object{"id": name, "text": text, "metadata": object{"n": strings.Repeat("m", 30<<10)}})
				var got strings.Builder
				pages, offset := 0, 0.0
				for {
					page := c.call("fetch", object{"id": name, "offset": offset})
					part := page["text"].(string)
					if n := utf8.RuneCountInString(part); n > 100_000 || !utf8.ValidString(part) {
						t.Fatalf("a page of %d characters, valid %t", n, utf8.ValidString(part))
					}
					got.WriteString(part)
					pages++
					next, more := page["next_offset"].(float64)
					if !more {
						break
					}
					if int(next) != got.Len() {
						t.Fatalf("next_offset %v after %d bytes", next, got.Len())
					}
					offset = next
				}
				if want := (utf8.RuneCountInString(text) + 99_999) / 100_000; got.String() != text || pages != want {
					t.Errorf("%d bytes on %d pages, want %d on %d", got.Len(), pages, len(text), want)
				}
			})
		}
	})
}

func TestMCPFetch(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const text = "\n  Größe über alles  \naé漢🐦z"
		s.write("docs", doc("plain", text, ""),
			doc("titled", "x", `{"title":"  `+strings.Repeat("漢", 100)+`  ","url":"https://example.com/x"}`),
			doc("odd", "first line", `{"title":3,"url":["a"]}`), doc("blank", " \n", `{"url":"`+strings.Repeat("u", 600)+`"}`))
		c := s.mcp(newest, "")
		link := func(id string) string { return s.url + "/namespaces/docs/documents/" + id }
		for id, want := range map[string]object{
			"plain":  {"title": "Größe über alles", "url": link("plain"), "text": text, "metadata": object{}, "next_offset": nil},
			"titled": {"title": strings.Repeat("漢", 80), "url": "https://example.com/x"},
			"odd":    {"title": "first line", "url": link("odd")},
			"blank":  {"title": "", "url": link("blank")},
		} {
			got := c.call("fetch", object{"id": "docs/" + id})
			fields(t, "fetch", got, "id", "title", "text", "url", "metadata", "next_offset")
			for k, v := range want {
				if !reflect.DeepEqual(got[k], v) {
					t.Errorf("%s: %s is %v, want %v", id, k, got[k], v)
				}
			}
		}
		// Every page size gives the text back, whole characters at a time.
		for size := 1; size < 30; size++ {
			var got strings.Builder
			for offset := any(0); offset != nil; {
				page := c.call("fetch", object{"id": "docs/plain", "offset": offset, "max_chars": size})
				got.WriteString(page["text"].(string))
				if offset = page["next_offset"]; offset != nil && utf8.RuneCountInString(page["text"].(string)) != size {
					t.Fatalf("size %d: a page of %q", size, page["text"])
				}
			}
			if got.String() != text {
				t.Errorf("size %d: %q", size, got.String())
			}
		}
		if got := c.call("fetch", object{"id": "docs/plain", "offset": len(text)}); got["text"] != "" ||
			got["next_offset"] != nil {
			t.Errorf("at the end: %v", got)
		}
		for name, r := range map[string]struct {
			args object
			code string
			says string
		}{
			"within a character": {object{"id": "docs/plain", "offset": strings.Index(text, "ö") + 1},
				"invalid_request", "offset"},
			"past the end":     {object{"id": "docs/plain", "offset": len(text) + 1}, "invalid_request", "offset"},
			"negative":         {object{"id": "docs/plain", "offset": -1}, "invalid_request", "offset"},
			"fraction":         {object{"id": "docs/plain", "offset": 1.5}, "invalid_request", "offset"},
			"huge":             {object{"id": "docs/plain", "offset": 1e300}, "invalid_request", "offset"},
			"no characters":    {object{"id": "docs/plain", "max_chars": 0}, "invalid_request", "max_chars"},
			"too many":         {object{"id": "docs/plain", "max_chars": 100_001}, "invalid_request", "max_chars"},
			"no id":            {object{}, "invalid_id", "id"},
			"bare id":          {object{"id": "plain"}, "invalid_id", "namespace/document_id"},
			"slash alone":      {object{"id": "/"}, "invalid_id", "namespace/document_id"},
			"traversal":        {object{"id": "../docs/plain"}, "invalid_id", "namespace/document_id"},
			"absent document":  {object{"id": "docs/none"}, "document_not_found", `"none"`},
			"absent namespace": {object{"id": "none/plain"}, "namespace_not_found", "none"},
			"a namespace":      {object{"id": "docs/plain", "namespace": "docs"}, "invalid_request", "namespace"},
		} {
			t.Run(name, func(t *testing.T) { (&mcpClient{t, c.ClientSession}).refuses("fetch", r.args, r.code, r.says) })
		}
	})
}

func TestMCPDelete(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("a", doc("x", "one", ""), doc("y:1.2", "two", ""), doc("z", "three", ""))
		s.write("b", doc("x", "four", ""))
		c := s.mcp(newest, "")
		got := c.call("delete", object{"ids": []string{"a/x", "b/none", "a/y:1.2", "a/x", "none/x"}})
		if got["deleted"] != 2.0 || canonicalJSON(t, got["not_found"]) != `["b/none","none/x"]` {
			t.Errorf("deleted %v", got)
		}
		if got := c.call("delete", object{"ids": []string{"a/x"}}); got["deleted"] != 0.0 ||
			canonicalJSON(t, got["not_found"]) != `["a/x"]` {
			t.Errorf("deleted again: %v", got)
		}
		before := state(s)
		many := make([]string, 101)
		for i := range many {
			many[i] = fmt.Sprintf("a/d%d", i)
		}
		for name, r := range map[string]struct {
			args any
			code string
			says string
		}{
			"nothing":       {object{}, "invalid_request", "ids"},
			"none":          {object{"ids": []string{}}, "invalid_request", "ids"},
			"101":           {object{"ids": many}, "invalid_request", "100"},
			"bare":          {object{"ids": []string{"a/z", "z"}}, "invalid_id", "ids[1]"}, // and a/z stays
			"a query":       {object{"query": "three"}, "invalid_request", "query"},
			"a filter":      {object{"ids": []string{"a/z"}, "filter": object{"a": 1}}, "invalid_request", "filter"},
			"one id":        {object{"ids": "a/z"}, "invalid_request", "ids"},
			"a wildcard":    {object{"ids": []string{"a/*"}}, "invalid_id", "a/*"},
			"with nothing":  {object{"ids": []string{"a/"}}, "invalid_id", "ids[0]"},
			"a number":      {object{"ids": []any{3}}, "invalid_request", "ids[0]"},
			"in upper case": {object{"ids": []string{"A/z"}}, "invalid_id", "ids[0]"},
		} {
			t.Run(name, func(t *testing.T) {
				(&mcpClient{t, c.ClientSession}).refuses("delete", r.args, r.code, r.says)
				if after := state(s); after != before {
					t.Errorf("something was deleted:\n%s", after)
				}
			})
		}
		if got := c.call("delete", object{"ids": many[:100]}); got["deleted"] != 0.0 || len(got["not_found"].([]any)) != 100 {
			t.Errorf("deleted %v", got)
		}
		pinned := s.mcp(newest, "?namespace=a")
		if got := pinned.call("delete", object{"ids": []string{"z", "b/x"}}); got["deleted"] != 2.0 {
			t.Errorf("deleted by a bare id: %v", got)
		}
	})
}

// Where a namespace comes from: the argument, the URL, the header, the key, or
// being the only one, in this order.
func TestMCPNamespaces(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		standard := s.as(s.issue(key.Issue{Name: "standard", DefaultNamespace: "standard"}))
		limited := s.as(s.issue(key.Issue{Name: "limited", Namespace: "limited"}))
		// Nothing holds documents yet.
		c := s.mcp(newest, "")
		c.refuses("search", object{"query": "x"}, "namespace_not_found", "no namespace holds documents")
		c.refuses("save", object{"text": "x"}, "invalid_request", "namespace: is required")
		if got := c.call("list_namespaces", nil); canonicalJSON(t, got) != `{"namespaces":[],"next_cursor":null}` {
			t.Errorf("listed %v", got)
		}
		for _, ns := range []string{"argument", "url", "header", "standard", "limited"} {
			if got := c.call("save", object{"namespace": ns, "text": "The heron of " + ns, "id": "doc"}); got["namespace"] != ns {
				t.Errorf("saved %v", got)
			}
			if ns == "argument" { // the only one
				if got := c.call("save", object{"text": "more", "id": "more"}); got["namespace"] != ns {
					t.Errorf("saved %v", got)
				}
				if got := results(c.call("search", object{"query": "heron"})); len(got) == 0 {
					t.Error("the only namespace is not searched")
				}
			}
		}
		header := []string{"X-Mneme-Namespace", "header"}
		for name, r := range map[string]struct {
			as     *server
			query  string
			header []string
			args   object
			want   string // the namespace found and written, or a fault
		}{
			"argument first":          {standard, "?namespace=url", header, object{"namespace": "argument"}, "argument"},
			"then the URL":            {standard, "?namespace=url", header, object{}, "url"},
			"then the header":         {standard, "", header, object{}, "header"},
			"then the key's default":  {standard, "", nil, object{}, "standard"},
			"limited key":             {limited, "", nil, object{}, "limited"},
			"limited key, argument":   {limited, "", nil, object{"namespace": "limited"}, "limited"},
			"another for limited key": {limited, "", nil, object{"namespace": "url"}, "forbidden"},
			"URL for limited key":     {limited, "?namespace=url", nil, object{}, "forbidden"},
			"header for limited key":  {limited, "", header, object{}, "forbidden"},
			"no name in the argument": {s, "", nil, object{"namespace": "No Name"}, "invalid_namespace"},
			"no name in the URL":      {s, "?namespace=No%20Name", nil, object{}, "invalid_namespace"},
			"no name in the header":   {s, "", []string{"X-Mneme-Namespace", "No Name"}, object{}, "invalid_namespace"},
			"two in the URL":          {s, "?namespace=url&namespace=header", nil, object{}, "invalid_namespace"},
		} {
			t.Run(name, func(t *testing.T) {
				c := r.as.mcp(newest, r.query, r.header...)
				c.t = t
				search, save := object{"query": "heron", "rerank": false}, object{"text": "x", "id": "written"}
				for k, v := range r.args {
					search[k], save[k] = v, v
				}
				if strings.Contains(r.want, "_") || r.want == "forbidden" {
					c.refuses("search", search, r.want)
					c.refuses("save", save, r.want)
					return
				}
				for _, hit := range results(c.call("search", search)) {
					if !strings.HasPrefix(fmt.Sprint(hit["id"]), r.want+"/") {
						t.Errorf("found %v", hit["id"])
					}
				}
				if got := c.call("save", save); got["namespace"] != r.want {
					t.Errorf("saved %v", got)
				}
				if r.args["namespace"] == nil { // a bare id is one of the connection's namespace
					if got := c.call("fetch", object{"id": "written"}); got["id"] != r.want+"/written" {
						t.Errorf("fetched %v", got)
					}
				}
			})
		}
		// Several and none named: a search spans them, nothing else guesses.
		c.refuses("save", object{"text": "x"}, "invalid_request", "argument, header, limited, standard, url")
		var ids []string
		for _, hit := range results(c.call("search", object{"query": "heron", "top_k": 5})) {
			ids = append(ids, fmt.Sprint(hit["id"]))
		}
		slices.Sort(ids)
		if want := []string{"argument/doc", "header/doc", "limited/doc", "standard/doc", "url/doc"}; !slices.Equal(ids, want) {
			t.Errorf("found %v, want %v", ids, want)
		}
		lc := limited.mcp(newest, "")
		lc.refuses("fetch", object{"id": "url/doc"}, "forbidden", "limited")
		lc.refuses("delete", object{"ids": []string{"doc", "url/doc"}}, "forbidden", "limited")
		if got := lc.call("list_namespaces", nil)["namespaces"].([]any); len(got) != 1 || got[0].(object)["name"] != "limited" {
			t.Errorf("a limited key lists %v", got)
		}
		if got := lc.call("fetch", object{"id": "doc"}); got["id"] != "limited/doc" {
			t.Errorf("fetched %v", got)
		}
		c.refuses("search", object{"query": "x", "namespace": "none"}, "namespace_not_found", "none")
		for i := range 16 {
			s.write(fmt.Sprintf("more%02d", i), doc("x", "text", ""))
		}
		c.refuses("search", object{"query": "x"}, "invalid_request", "more than 20", "argument", "others")
	})
}

func TestMCPListNamespaces(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		s.post("/namespaces", object{"name": "a-sparse", "sparse": true}).ok()
		s.write("a-sparse", doc("x", "text", ""), doc("y", "text", ""))
		for i := range 105 {
			s.write(fmt.Sprintf("n%03d", i), doc("x", "text", ""))
		}
		c := s.mcp(newest, "")
		page := c.call("list_namespaces", object{})
		list := page["namespaces"].([]any)
		if len(list) != 100 {
			t.Fatalf("a page of %d", len(list))
		}
		first := list[0].(object)
		fields(t, "a namespace", first, "name", "documents", "sparse", "embedding_model", "updated_at")
		if first["name"] != "a-sparse" || first["documents"] != 2.0 || first["sparse"] != true {
			t.Errorf("listed %v", first)
		}
		rest := c.call("list_namespaces", object{"cursor": page["next_cursor"]})
		if got := rest["namespaces"].([]any); len(got) != 6 || rest["next_cursor"] != nil || got[0].(object)["name"] != "n099" {
			t.Errorf("the second page: %v", rest)
		}
		if got := c.call("list_namespaces", object{"prefix": "n00"})["namespaces"].([]any); len(got) != 10 {
			t.Errorf("by prefix: %d", len(got))
		}
		c.refuses("list_namespaces", object{"cursor": "x"}, "invalid_cursor")
		c.refuses("list_namespaces", object{"cursor": page["next_cursor"], "prefix": "n"}, "invalid_cursor")
		c.refuses("list_namespaces", object{"prefix": "\x00"}, "invalid_request")
	})
}

func TestMCPSearch(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{reranker: coretest.Reranker{}})
		long := strings.Repeat("Herons wade through the shallow water in search of fish. ", 30)
		s.write("birds", doc("heron", "A page about herons\n\n"+long, `{"lang":"en"}`),
			doc("tern", "Terns dive into the sea for fish.", `{"lang":"en","title":"Terns"}`),
			doc("reiher", "Reiher stehen im Schilf.", `{"lang":"de"}`))
		s.write("tools", doc("net", "A net catches fish in shallow water.", ""), doc("saw", "A saw cuts wood.", ""))
		c := s.mcp(newest, "")

		found := c.call("search", object{"query": "shallow water fish", "namespace": "birds"})
		fields(t, "search", found, "results", "degraded")
		hits := results(found)
		if len(hits) == 0 || hits[0]["id"] != "birds/heron" || hits[0]["title"] != "A page about herons" {
			t.Fatalf("found %v", found)
		}
		seen := map[any]bool{}
		for _, h := range hits {
			fields(t, "a result", h, "id", "title", "url", "text", "score", "metadata")
			if seen[h["id"]] {
				t.Errorf("%v is there twice", h["id"])
			}
			seen[h["id"]] = true
			if n := utf8.RuneCountInString(h["text"].(string)); n > 700 {
				t.Errorf("a text of %d characters", n)
			}
			if got := c.call("fetch", object{"id": h["id"]}); !strings.Contains(got["text"].(string), h["text"].(string)) ||
				got["url"] != h["url"] || got["title"] != h["title"] {
				t.Errorf("%v is fetched as %v", h, got)
			}
		}
		if n := len(results(c.call("search", object{"query": "fish", "namespace": "birds", "top_k": 1}))); n != 1 {
			t.Errorf("top_k 1 gives %d", n)
		}
		for _, h := range results(c.call("search",
			object{"query": "herons", "namespace": "birds", "filter": object{"lang": "de"}})) {
			if h["id"] != "birds/reiher" {
				t.Errorf("the filter lets %v through", h["id"])
			}
		}
		// Over several namespaces, the reranker has the last word.
		hits = results(c.call("search", object{"query": "net catches fish in shallow water", "top_k": 3}))
		if len(hits) != 3 || hits[0]["id"] != "tools/net" || hits[0]["score"].(float64) < hits[1]["score"].(float64) {
			t.Errorf("found %v", hits)
		}
		if hits := results(c.call("search", object{"query": "net catches fish", "rerank": false})); len(hits) == 0 ||
			hits[0]["id"] != "tools/net" {
			t.Errorf("without reranking: %v", hits)
		}
		for name, r := range map[string]struct {
			args object
			code string
			says string
		}{
			"no query":       {object{}, "invalid_request", "query"},
			"empty query":    {object{"query": ""}, "invalid_request", "query"},
			"long query":     {object{"query": strings.Repeat("x", 8193)}, "invalid_request", "8192"},
			"NUL":            {object{"query": "a\x00"}, "invalid_request", "NUL"},
			"top_k 0":        {object{"query": "x", "top_k": 0}, "invalid_request", "top_k: must be 1-20"},
			"top_k 21":       {object{"query": "x", "top_k": 21}, "invalid_request", "top_k: must be 1-20"},
			"range filter":   {object{"query": "x", "filter": object{"a": object{"$gt": 1}}}, "invalid_filter", "$gt"},
			"empty filter":   {object{"query": "x", "filter": object{}}, "invalid_filter", ""},
			"rerank object":  {object{"query": "x", "rerank": object{"depth": 3}}, "invalid_request", "rerank"},
			"HTTP's field":   {object{"query": "x", "retrievers": []string{"vector"}}, "invalid_request", "retrievers"},
			"header's field": {object{"query": "x", "X-Mneme-Namespace": "birds"}, "invalid_request", "X-Mneme-Namespace"},
		} {
			t.Run(name, func(t *testing.T) { (&mcpClient{t, c.ClientSession}).refuses("search", r.args, r.code, r.says) })
		}
	})
}

// What is missing from an answer is named.
func TestMCPSearchDegraded(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("a", doc("x", "heron", ""))
		s.write("b", doc("x", "heron", ""))
		c := s.mcp(newest, "")
		if got := c.call("search", object{"query": "heron"}); canonicalJSON(t,
			got["degraded"]) != `[{"part":"rerank","reason":"model_off"}]` || len(results(got)) != 2 {
			t.Errorf("without a reranker: %v", got)
		}
		s.embedder.Before.Set(func(context.Context, port.TextKind, []string) error { return fmt.Errorf("broken") })
		got := c.call("search", object{"query": "heron heron", "rerank": false})
		if canonicalJSON(t, got["degraded"]) != `[{"part":"vector","reason":"error"}]` || len(results(got)) != 2 {
			t.Errorf("with a broken embedder: %v", got)
		}
	})
}

// However large what was found is, an answer does not fill a model's context.
func TestMCPSearchIsBounded(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		metadata := `{"a":"` + strings.Repeat("漢字", 5000) + `","b":"small"}`
		for i := range 20 {
			long := strings.Repeat("x.-:_", 50) + fmt.Sprint(i)
			s.write("long", doc(long, strings.Repeat("鷺は浅瀬に立つ", 200), metadata))
			s.write("plain", doc(fmt.Sprintf("d%d", i), strings.Repeat("Herons wade in shallow water. ", 60), `{"lang":"en"}`))
		}
		c := s.mcp(newest, "")
		got := c.call("search", object{"query": "Herons wade", "namespace": "plain", "top_k": 20, "rerank": false})
		if len(results(got)) != 20 || canonicalJSON(t, got["degraded"]) != "[]" {
			t.Errorf("%d results, degraded %v", len(results(got)), got["degraded"])
		}
		for _, h := range results(got) {
			if utf8.RuneCountInString(h["text"].(string)) < 600 || canonicalJSON(t, h["metadata"]) != `{"lang":"en"}` {
				t.Errorf("plain text was cut: %v", h)
			}
		}
		got = c.call("search", object{"query": "鷺", "namespace": "long", "top_k": 20, "rerank": false})
		hits := results(got)
		runes := utf8.RuneCountInString(canonicalJSON(t, got))
		// Whole, they would have 300 000.
		if len(hits) == 0 || runes > 14_000 {
			t.Errorf("%d results in %d characters", len(hits), runes)
		}
		if !strings.Contains(canonicalJSON(t, got["degraded"]), `"part":"metadata","reason":"too_long"`) {
			t.Errorf("what was cut is not named: %v", got["degraded"])
		}
		for _, h := range hits {
			if h["text"] == "" || !utf8.ValidString(h["text"].(string)) {
				t.Errorf("a result without its text: %v", h["id"])
			}
		}
	})
}

// Organizations see nothing of each other.
func TestMCPIsolation(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		mine, theirs := s.mcp(newest, ""), s.organization("theirs").mcp(newest, "")
		mine.call("save", object{"namespace": "notes", "id": "secret", "text": "The heron nests at dawn."})
		theirs.refuses("search", object{"query": "heron"}, "namespace_not_found")
		theirs.refuses("fetch", object{"id": "notes/secret"}, "namespace_not_found")
		if got := theirs.call("delete", object{"ids": []string{"notes/secret"}}); got["deleted"] != 0.0 {
			t.Errorf("deleted %v", got)
		}
		theirs.call("save", object{"namespace": "notes", "id": "own", "text": "A heron of theirs."})
		for _, h := range results(theirs.call("search", object{"query": "heron nests at dawn"})) {
			if h["id"] != "notes/own" {
				t.Errorf("found %v", h)
			}
		}
		theirs.refuses("fetch", object{"id": "notes/secret"}, "document_not_found")
		if got := mine.call("fetch", object{"id": "notes/secret"}); got["text"] != "The heron nests at dawn." {
			t.Errorf("fetched %v", got)
		}
	})
}

// A read-only key has no tool that changes anything, not even by its name.
func TestMCPReadOnlyKey(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("x", "heron", ""))
		reader := s.as(s.issue(key.Issue{Name: "reader", ReadOnly: true}))
		before := state(s)
		for _, version := range mcp.Versions() {
			c := reader.mcp(version, "")
			if got := c.call("fetch", object{"id": "docs/x"}); got["text"] != "heron" {
				t.Errorf("fetched %v", got)
			}
			for tool, args := range map[string]object{"save": {"text": "x", "namespace": "docs"},
				"delete": {"ids": []string{"docs/x"}}} {
				if err := c.fails(tool, args); err == nil || !strings.Contains(err.Error(), "unknown tool") {
					t.Errorf("%s: %v", tool, err)
				}
			}
		}
		if after := state(s); after != before {
			t.Errorf("something was changed:\n%s", after)
		}
	})
}

// Limits are those of the key, whatever transport it comes by, and a model reads
// when to come back.
func TestMCPLimits(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		limited := s.as(s.issue(key.Issue{Name: "limited",
			Limits: map[string]ident.Rate{string(op.Write): {PerMinute: 1, Burst: 1}}}))
		c := limited.mcp(newest, "?namespace=a")
		c.call("save", object{"text": "one"})
		c.refuses("save", object{"text": "two"}, "rate_limited", "write", "retry after")
		limited.post("/namespaces/a/documents", object{"documents": []object{doc("x", "y", "")}}).fails(429, "rate_limited")
		c.call("search", object{"query": "one"})
		r := limited.rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"save","arguments":{"text":"x",` +
			`"namespace":"a"}}}`).ok()
		if got := r.header.Get("RateLimit-Policy"); !strings.Contains(got, `"write";q=1`) {
			t.Errorf("RateLimit-Policy: %q", got)
		}
	})
}
