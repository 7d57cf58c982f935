package mcp_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/transports/mcp"
)

// TestStory tells one story through every client, over HTTP and over stdio, in
// every revision of the protocol that the client speaks: save, search, fetch,
// delete and list_namespaces.
func TestStory(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	s := newSite(t)
	s.serve()
	stdio := newSite(t) // has no server: the command opens the folder itself
	remote := target{url: s.mcp(), key: s.key}
	for name, to := range map[string]struct {
		target
		kinds []kind
	}{
		"http": {remote, []kind{
			goClient(rev2026), goClient(rev2511), goClient(rev2506), goClient(rev2503),
			typescript("v2", rev2026), typescript("v2", rev2511),
			typescript("v1", rev2511), typescript("v1", rev2506), typescript("v1", rev2503), python("v1"), python("v2"),
			inspector("modern"), inspector("legacy")}},
		"stdio to a server": {target{command: []string{harness.Program(t), "mcp", "--stdio", "--url", s.url},
			env: []string{"MNEME_KEY=" + s.key}},
			[]kind{goClient(rev2026), goClient(rev2511), typescript("v2", rev2026), typescript("v1", rev2511),
				python("v1"), python("v2"), inspector("legacy")}},
		"stdio on a folder": {target{command: []string{harness.Program(t), "mcp", "--stdio", "--data", stdio.Data},
			env: []string{"MNEME_KEY=" + stdio.key}},
			[]kind{goClient(rev2503), typescript("v1", rev2511)}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, k := range to.kinds {
				t.Run(k.name, func(t *testing.T) {
					// One folder has one process at a time; servers take all at once.
					if !strings.HasSuffix(name, "folder") {
						t.Parallel()
					}
					c, err := k.connect(t, to.target)
					if err != nil {
						t.Fatalf("connect: %v", err)
					}
					if _, want, _ := strings.Cut(k.name, "/"); c.revision() != "" && c.revision() != want {
						t.Errorf("revision %s was agreed on, want %s", c.revision(), want)
					}
					namespace := strings.NewReplacer("/", "-", " ", "-").Replace(strings.ToLower(name + "-" + k.name))
					(&story{t: t, client: c, most: k.most, namespace: namespace}).tell()
				})
			}
		})
	}
}

// TestStoriesAtOnce tells it many times at once to one server in this process.
func TestStoriesAtOnce(t *testing.T) {
	t.Parallel()
	s := inProcess(t, nil)
	secret := s.Issue(key.Issue{Name: "stories"})
	for i := range 2 {
		for _, revision := range mcp.Versions() {
			k := goClient(revision)
			t.Run(fmt.Sprintf("%s/%d", k.name, i), func(t *testing.T) {
				t.Parallel()
				c, err := k.connect(t, target{url: s.URL + "/mcp", key: secret})
				if err != nil {
					t.Fatalf("connect: %v", err)
				}
				(&story{t: t, client: c, namespace: fmt.Sprintf("at-once-%s-%d", revision, i)}).tell()
			})
		}
	}
}

// story is one telling.
type story struct {
	t         *testing.T
	client    client
	most      int
	namespace string
	schemas   map[string]*jsonschema.Resolved
}

// A text with what breaks careless encoders: accents composed and decomposed, CJK,
// right to left, a family of emoji joined into one, quotes, a backslash, a control
// character, and line ends.
const unicodeText = "Café Zoë — naïve Straße\n東京タワーは高い。 مرحبا بالعالم\r\n👩‍👩‍👧‍👦 \"quoted\" back\\slash \u0001 tab\tend\u2028line"

func (s *story) tell() {
	ns := s.namespace
	s.offers()
	s.want("list_namespaces", object{"prefix": ns}, object{"namespaces": []any{}, "next_cursor": nil})

	// Saving creates; again it changes nothing; the same id replaces.
	note := object{"namespace": ns, "id": "note", "text": unicodeText, "title": "Zoë’s note 📝",
		"url": "https://example.com/zoë?q=1&r=2", "metadata": object{"lang": "fr", "tags": []any{"a", "ü"}}}
	s.want("save", note, object{"id": ns + "/note", "namespace": ns, "created": true, "unchanged": false})
	s.want("save", note, object{"id": ns + "/note", "created": false, "unchanged": true})
	s.want("save", object{"namespace": ns, "id": "lease", "text": "draft"}, object{"created": true})
	s.want("save", object{"namespace": ns, "id": "lease",
		"text": "The lease of the harbour office runs until May 2027.", "metadata": object{"lang": "en"}},
		object{"created": false, "unchanged": false})
	unnamed := object{"namespace": ns, "text": "The blue bicycle needs a new chain."}
	named := s.call("save", unnamed)
	handle, _ := named["id"].(string)
	if !strings.HasPrefix(handle, ns+"/mcp:") || len(handle) != len(ns)+1+4+24 {
		s.t.Errorf("a document without an id is called %q", handle)
	}
	s.want("save", unnamed, object{"id": handle, "created": false, "unchanged": true})

	// What was saved is found at once, and read as it was written.
	found := s.call("search", object{"query": "when does the contract for the office end?", "namespace": ns, "top_k": 1})
	first := s.first(found)
	if first["id"] != ns+"/lease" || first["title"] != "The lease of the harbour office runs until May 2027." ||
		!strings.Contains(fmt.Sprint(first["url"]), "/namespaces/"+ns+"/documents/lease") ||
		!reflect.DeepEqual(first["metadata"], object{"lang": "en"}) {
		s.t.Errorf("searched for the lease, found %v", first)
	}
	if n := len(found["results"].([]any)); n != 1 {
		s.t.Errorf("top_k 1 gave %d results", n)
	}
	first = s.first(s.call("search", object{"query": "東京タワー", "namespace": ns,
		"filter": object{"lang": "fr", "tags": "ü"}, "rerank": false}))
	if first["id"] != ns+"/note" || first["title"] != "Zoë’s note 📝" || first["url"] != note["url"] ||
		!strings.Contains(unicodeText, strings.TrimSpace(fmt.Sprint(first["text"]))) {
		s.t.Errorf("searched for the note, found %v", first)
	}
	s.want("search", object{"query": "lease", "namespace": ns, "filter": object{"lang": "de"}}, object{"results": []any{}})
	s.want("fetch", object{"id": ns + "/note"},
		object{"id": ns + "/note", "title": "Zoë’s note 📝", "text": unicodeText, "url": note["url"],
			"metadata":    object{"lang": "fr", "tags": []any{"a", "ü"}, "title": "Zoë’s note 📝", "url": note["url"]},
			"next_offset": nil})

	// The largest document there may be goes in and comes out whole; one byte more does not.
	documents := 3.0
	if big := ofBytes(256 << 10); s.most == 0 {
		s.want("save", object{"namespace": ns, "id": "big", "text": big}, object{"created": true})
		documents++
		if got := s.read(ns + "/big"); got != big {
			s.t.Errorf("the large document came back with %d bytes, want the %d that were saved", len(got), len(big))
		}
		s.fails("save", object{"namespace": ns, "id": "bigger", "text": big + "x"}, "payload_too_large")
	}

	// Mistakes are answered with a code and a sentence.
	s.fails("fetch", object{"id": ns + "/never"}, "document_not_found")
	s.fails("search", object{"query": "x", "namespace": ns, "limit": 3}, "invalid_request")
	if s.most == 0 { // a process a call takes its time
		s.fails("fetch", object{"id": "a/b/c"}, "invalid_id")
		s.fails("search", object{"query": "x", "namespace": "Not A Name"}, "invalid_namespace")
		s.fails("search", object{"query": "x", "namespace": ns, "filter": object{"lang": object{"$ne": "en"}}}, "invalid_filter")
		s.fails("search", object{"query": "x", "namespace": ns, "top_k": 21}, "invalid_request")
		s.fails("save", object{"namespace": ns}, "invalid_request")
	}

	// Deleting is by exact handle, and safe to repeat.
	s.wantNamespace(documents)
	gone := []any{ns + "/lease", ns + "/never"}
	s.want("delete", object{"ids": gone}, object{"deleted": 1.0, "not_found": []any{ns + "/never"}})
	s.want("delete", object{"ids": gone}, object{"deleted": 0.0, "not_found": gone})
	s.fails("fetch", object{"id": ns + "/lease"}, "document_not_found")
	s.wantNamespace(documents - 1)
	rest := []any{ns + "/note", handle}
	if s.most == 0 {
		rest = append(rest, ns+"/big")
	}
	s.want("delete", object{"ids": rest}, object{"deleted": float64(len(rest)), "not_found": []any{}})
	s.want("list_namespaces", object{"prefix": ns}, object{"namespaces": []any{}})
	s.fails("search", object{"query": "lease", "namespace": ns}, "namespace_not_found")
}

// ofBytes is a text of exactly so many bytes, with few passages that differ.
func ofBytes(n int) string {
	const line = "The lease of the harbour office runs until May 2027 — Zoë, 東京, 🚀.\n\n"
	text := strings.Repeat(line, n/len(line))
	return text + strings.Repeat("x", n-len(text))
}

// offers checks the list of tools and keeps the schemas of their answers.
func (s *story) offers() {
	s.t.Helper()
	tools, err := s.client.tools()
	if err != nil {
		s.t.Fatalf("list the tools: %v", err)
	}
	checkTools(s.t, tools, "delete", "fetch", "list_namespaces", "save", "search")
	s.schemas = map[string]*jsonschema.Resolved{}
	for _, tool := range tools {
		var schema jsonschema.Schema
		if err := json.Unmarshal(tool.OutputSchema, &schema); err != nil {
			s.t.Fatalf("output schema of %s: %v", tool.Name, err)
		}
		if s.schemas[tool.Name], err = schema.Resolve(nil); err != nil {
			s.t.Fatalf("output schema of %s: %v", tool.Name, err)
		}
	}
}

func checkTools(t *testing.T, tools []tool, want ...string) {
	t.Helper()
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
		a := tool.Annotations
		if tool.Title == "" || tool.Description == "" || a == nil || a.OpenWorld == nil ||
			a.ReadOnly == (tool.Name == "save" || tool.Name == "delete") ||
			a.Destructive == nil && !a.ReadOnly || a.Destructive != nil && *a.Destructive != (tool.Name == "delete") ||
			!a.Idempotent || *a.OpenWorld {
			t.Errorf("%s is announced wrongly: %+v, annotations %+v", tool.Name, tool, a)
		}
		for what, schema := range map[string]json.RawMessage{"input": tool.InputSchema, "output": tool.OutputSchema} {
			var o struct{ Type string }
			if err := json.Unmarshal(schema, &o); err != nil || o.Type != "object" {
				t.Errorf("%s schema of %s is %s (%v), want an object's", what, tool.Name, schema, err)
			}
		}
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
}

// call makes a call that succeeds, and checks what holds of every answer: it is
// what the tool's schema says, and stands in the text for clients that read that.
func (s *story) call(name string, args object) object {
	s.t.Helper()
	r, err := s.client.call(name, args)
	if err != nil {
		s.t.Fatalf("%s %s: %v", name, brief(args), err)
	}
	if r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" {
		s.t.Fatalf("%s %s: %+v", name, brief(args), r)
	}
	var structured, text object
	if err := json.Unmarshal(r.Structured, &structured); err != nil {
		s.t.Fatalf("%s: structured content %s: %v", name, brief(r.Structured), err)
	}
	if err := json.Unmarshal([]byte(r.Content[0].Text), &text); err != nil || !reflect.DeepEqual(structured, text) {
		s.t.Errorf("%s: the text differs from the structured content (%v): %s and %s", name, err, brief(text), brief(structured))
	}
	if err := s.schemas[name].Validate(structured); err != nil {
		s.t.Errorf("%s answers what its schema forbids: %v: %s", name, err, brief(structured))
	}
	return structured
}

// want makes a call whose answer has these fields with these values.
func (s *story) want(name string, args, want object) {
	s.t.Helper()
	got := s.call(name, args)
	for field, value := range want {
		if g, ok := got[field]; !ok || !reflect.DeepEqual(g, value) {
			s.t.Errorf("%s %s: %s is %s, want %s", name, brief(args), field, brief(g), brief(value))
		}
	}
}

// fails makes a call that is answered with an error that a model can read.
func (s *story) fails(name string, args object, code string) {
	s.t.Helper()
	r, err := s.client.call(name, args)
	if err != nil {
		s.t.Errorf("%s %s: %v, want a tool's error", name, brief(args), err)
		return
	}
	if !r.IsError || len(r.Structured) != 0 || len(r.Content) != 1 ||
		!strings.HasPrefix(r.Content[0].Text, code+": ") || len(r.Content[0].Text) < len(code)+10 {
		s.t.Errorf("%s %s: %s, want error %s", name, brief(args), brief(r), code)
	}
}

// wantNamespace checks that the story's namespace is listed with so many documents.
func (s *story) wantNamespace(documents float64) {
	s.t.Helper()
	got := s.call("list_namespaces", object{"prefix": s.namespace})
	list, _ := got["namespaces"].([]any)
	if len(list) != 1 || list[0].(object)["name"] != s.namespace || list[0].(object)["documents"] != documents ||
		list[0].(object)["sparse"] != false {
		s.t.Errorf("namespaces %s, want %s alone with %v documents", brief(list), s.namespace, documents)
	}
}

func (s *story) first(found object) object {
	s.t.Helper()
	results, _ := found["results"].([]any)
	if len(results) == 0 {
		s.t.Fatalf("nothing was found: %s", brief(found))
	}
	return results[0].(object)
}

// read fetches a document page by page.
func (s *story) read(handle string) string {
	s.t.Helper()
	var text strings.Builder
	args := object{"id": handle}
	for range 20 {
		page := s.call("fetch", args)
		text.WriteString(page["text"].(string))
		if page["next_offset"] == nil {
			return text.String()
		}
		args["offset"] = page["next_offset"]
	}
	s.t.Fatal("the document does not end after 20 pages")
	return ""
}

func brief(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return clip(string(b), 500)
}
