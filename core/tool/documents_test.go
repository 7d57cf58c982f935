package tool_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/tool"
)

var docs = tool.Connection{Pinned: "docs", Host: "localhost"}

// A text is fetched in pages of whole characters, whose offsets are bytes
// (docs/contract.md#mcp-fetch).
func TestFetchGivesPages(t *testing.T) {
	b := newBench(t, nil)
	const text = "aé漢🐦z" // 11 bytes
	b.write("docs", map[string]string{"a": text, "long": strings.Repeat("é", tool.MaxChars+1)})
	for _, c := range []struct {
		offset, most int // most 0: not asked
		text         string
		next         any
	}{
		{0, 0, text, nil},
		{0, 5, text, nil},
		{0, 4, "aé漢🐦", 10.0},
		{0, 1, "a", 1.0},
		{1, 2, "é漢", 6.0},
		{6, 1, "🐦", 10.0},
		{10, 1, "z", nil},
		{11, 1, "", nil},
	} {
		args := object{"id": "a", "offset": c.offset}
		if c.most > 0 {
			args["max_chars"] = c.most
		}
		if got := b.fetch(docs, args).OK(); got.JSON["text"] != c.text || got.JSON["next_offset"] != c.next {
			t.Errorf("%d characters from %d: %s, want %q and %v", c.most, c.offset, got.Body, c.text, c.next)
		}
	}
	if got := b.fetch(docs, object{"id": "long"}).OK(); got.JSON["next_offset"] != 200_000.0 {
		t.Errorf("unless asked: the next offset is %v", got.JSON["next_offset"])
	}
	for _, offset := range []int{2, 4, 12} { // within a character, and past the end
		refused(t, "an offset", b.fetch(docs, object{"id": "a", "offset": offset}),
			"invalid_request: offset: is not a next_offset of this document's text, which has 11 bytes")
	}
	b.fetch(docs, object{"id": "none"}).Fails(fault.DocumentNotFound)
	b.fetch(docs, object{"id": "a", "max_chars": 0}).Fails(fault.InvalidRequest)
}

// The title is the metadata's, else the first line of the text, in 80 characters; the
// link is the metadata's, unless it is too long to be repeated
// (docs/contract.md#mcp-search).
func TestTitleAndLink(t *testing.T) {
	b := newBench(t, nil)
	own, url := "http://localhost/namespaces/docs/documents/x", func(n int) string {
		return "https://example.com/" + strings.Repeat("u", n-len("https://example.com/"))
	}
	for _, c := range []struct {
		text       string
		metadata   object
		title, url string
	}{
		{"\n  Größe \nsecond", nil, "Größe", own},
		{"text", object{"title": "  T  "}, "T", own},
		{"text", object{"title": "  "}, "text", own},
		{"text", object{"title": strings.Repeat("漢", 80)}, strings.Repeat("漢", 80), own},
		{"text", object{"title": strings.Repeat("漢", 81)}, strings.Repeat("漢", 80), own},
		{"text", object{"title": 3, "url": []string{"a"}}, "text", own},
		{" \n ", nil, "", own},
		{"text", object{"url": url(512)}, "text", url(512)},
		{"text", object{"url": url(513)}, "text", own},
	} {
		args := object{"id": "x", "text": c.text}
		if c.metadata != nil {
			args["metadata"] = c.metadata
		}
		if strings.TrimSpace(c.text) != "" {
			b.save(docs, args).OK()
		} else { // a text that can't be found comes in past the tools alone
			b.save(docs, args).Fails("invalid_request", "text", "white space")
			b.write("docs", map[string]string{"x": c.text})
		}
		if got := b.fetch(docs, object{"id": "x"}).OK(); got.JSON["title"] != c.title || got.JSON["url"] != c.url {
			t.Errorf("%q, %v: %s", c.text, c.metadata, got.Body)
		}
	}
}

// A text without an id is named by its hash, so that a repeat changes nothing; an id is
// replaced (docs/contract.md#mcp-save).
func TestSaveNamesATextByItself(t *testing.T) {
	b := newBench(t, nil)
	sum := sha256.Sum256([]byte("Herons wade."))
	own := "docs/mcp:" + hex.EncodeToString(sum[:])[:24]
	for i, c := range []struct {
		args object
		want object
	}{
		{object{"text": "Herons wade."}, object{"id": own, "created": true, "unchanged": false}},
		{object{"text": "Herons wade."}, object{"id": own, "created": false, "unchanged": true}},
		{object{"text": "one", "id": "a"}, object{"id": "docs/a", "created": true, "unchanged": false}},
		{object{"text": "two", "id": "a"}, object{"id": "docs/a", "created": false, "unchanged": false}},
		{object{"text": "two", "id": "docs/a"}, object{"id": "docs/a", "created": false, "unchanged": true}},
		{object{"text": "two", "id": "docs/a", "namespace": "docs"}, object{"id": "docs/a", "created": false, "unchanged": true}},
	} {
		got := b.save(docs, c.args).OK()
		c.want["namespace"], c.want["chunks"] = "docs", 1.0
		if !reflect.DeepEqual(got.JSON, c.want) {
			t.Errorf("%d: %s, want %v", i, got.Body, c.want)
		}
	}
	// A handle names its namespace, whatever the connection's is.
	if got := b.save(docs, object{"text": "x", "id": "birds/a"}).OK(); got.JSON["id"] != "birds/a" {
		t.Errorf("%s", got.Body)
	}
	if got := b.save(docs, object{"text": "x", "id": "a", "namespace": "birds"}).OK(); got.JSON["id"] != "birds/a" {
		t.Errorf("%s", got.Body)
	}
}

// Title and link are metadata that stands beside the others.
func TestSaveAddsTitleAndLink(t *testing.T) {
	b := newBench(t, nil)
	for i, c := range []struct{ args, want object }{
		{object{}, object{}},
		{object{"metadata": object{"k": "v"}}, object{"k": "v"}},
		{object{"title": "T"}, object{"title": "T"}},
		{object{"url": "https://example.com"}, object{"url": "https://example.com"}},
		{object{"title": "T", "metadata": nil}, object{"title": "T"}},
		{object{"title": "T", "url": "https://example.com", "metadata": object{"k": "v", "title": "T"}},
			object{"title": "T", "url": "https://example.com", "k": "v"}},
	} {
		c.args["text"], c.args["id"] = "text", "x"
		b.save(docs, c.args).OK()
		if got := b.fetch(docs, object{"id": "x"}).OK(); !reflect.DeepEqual(got.JSON["metadata"], any(c.want)) {
			t.Errorf("%d: %v, want %v", i, got.JSON["metadata"], c.want)
		}
	}
}

// What is wrong with a save is told by its flat arguments, and nothing is written.
func TestSaveRefuses(t *testing.T) {
	b := newBench(t, nil)
	for says, args := range map[string]object{
		"invalid_request: text: is required": {"text": ""},
		`invalid_id: id: "a/b/c" is not a document's id, namespace/document_id as search gives it`: {"text": "x", "id": "a/b/c"},
		`invalid_request: namespace: is "c", but the id names namespace "a"`: {"text": "x", "id": "a/b",
			"namespace": "c"},
		"invalid_metadata: metadata: must be an object": {"text": "x", "title": "T", "metadata": []int{1}},
		"invalid_metadata: metadata.title: differs from the argument title; give one of them": {"text": "x", "title": "T",
			"metadata": object{"title": "U"}},
		"invalid_metadata: metadata.url: differs from the argument url; give one of them": {"text": "x", "url": "T",
			"metadata": object{"url": 3}},
		"invalid_request: text: holds a NUL character": {"text": "a\x00", "id": "x"},
	} {
		r := b.save(docs, args)
		refused(t, says, r, says)
		var f *fault.Error
		if errors.As(r.Err, &f); strings.HasPrefix(says, "invalid_request: text: holds") && f.Details != nil {
			t.Errorf("details %v name a place in a list", f.Details)
		}
	}
	b.save(docs, object{"text": "x", "metadata": object{"a": object{}}}).Fails(fault.InvalidMetadata, "metadata: a:")
	b.save(docs, object{"text": strings.Repeat("x", 256<<10+1)}).Fails(fault.PayloadTooLarge,
		"payload_too_large: text: is 262145")
	b.fetch(docs, object{"id": "x"}).Fails(fault.NamespaceNotFound)
	broken := fault.New(fault.Unavailable, "the store is away")
	b.Store.OnUpdate.Set(func() error { return broken })
	if r := b.save(docs, object{"text": "x"}); !errors.Is(r.Err, broken) {
		t.Errorf("without a store: %v", r.Err)
	}
}

// Deleting takes exact handles, names those that were gone already, and removes nothing
// when one of them is none (docs/contract.md#mcp-save).
func TestDeleteTakesHandles(t *testing.T) {
	b := newBench(t, nil)
	b.write("docs", map[string]string{"a": "one", "b": "two", "c": "three"})
	b.write("birds", map[string]string{"a": "four"})
	refused(t, "a bare id", b.remove(tool.Connection{}, "docs/a", "b"),
		`invalid_id: ids[1]: "b" lacks its namespace: give namespace/document_id as search gives it`)
	for i, c := range []struct {
		from tool.Connection
		ids  []string
		want string
	}{
		{tool.Connection{}, []string{"docs/a", "birds/x", "birds/a", "docs/a", "none/a"},
			`{"deleted":2,"not_found":["birds/x","none/a"]}`},
		{tool.Connection{}, []string{"docs/a"}, `{"deleted":0,"not_found":["docs/a"]}`},
		{docs, []string{"b", "docs/b"}, `{"deleted":1,"not_found":[]}`},
	} {
		if got := b.remove(c.from, c.ids...).OK(); string(got.Body) != c.want {
			t.Errorf("%d: %s, want %s", i, got.Body, c.want)
		}
	}
	b.fetch(docs, object{"id": "c"}).OK()
	broken := fault.New(fault.Unavailable, "the store is away")
	b.Store.OnUpdate.Set(func() error { return broken })
	if r := b.remove(docs, "c"); !errors.Is(r.Err, broken) {
		t.Errorf("without a store: %v", r.Err)
	}
}

// The tools say what they change and how long they may take (docs/contract.md#mcp-tools,
// docs/contract.md#limit-time, docs/contract.md#limit-rates).
func TestWhatTheToolsDeclare(t *testing.T) {
	type declared struct {
		class       op.Class
		mutates     bool
		destructive bool
		timeout     time.Duration
	}
	want := map[string]declared{
		"search":          {op.Read, false, false, 30 * time.Second},
		"fetch":           {op.Read, false, false, 30 * time.Second},
		"save":            {op.Write, true, false, 120 * time.Second},
		"delete":          {op.Write, true, true, 30 * time.Second},
		"list_namespaces": {op.Read, false, false, 30 * time.Second},
		"context":         {op.MemoryRead, false, false, 30 * time.Second},
		"remember":        {op.MemoryWrite, true, false, 120 * time.Second},
		"forget":          {op.MemoryWrite, true, true, 30 * time.Second},
	}
	for _, o := range tool.Operations() {
		s := o.Spec
		if got := (declared{s.Class, s.Mutates, s.Tool.Destructive, s.Timeout}); got != want[s.Tool.Name] ||
			s.Name != "tools."+s.Tool.Name || s.Method != "" || s.TimeoutClass != op.OwnTimeout || !s.Tool.Idempotent {
			t.Errorf("%s: %+v", s.Name, s)
		}
		delete(want, s.Tool.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}

// A search pays for the reranker too, unless it does without (docs/contract.md#limit-rates).
func TestASearchPaysForReranking(t *testing.T) {
	for body, want := range map[string][]op.Class{
		`{}`: {op.Rerank}, `{"rerank": true}`: {op.Rerank}, `{"rerank": null}`: {op.Rerank}, `{"rerank": false}`: nil,
	} {
		var in tool.Search
		if err := json.Unmarshal([]byte(body), &in); err != nil {
			t.Fatal(err)
		}
		if got := in.Classes(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", body, got)
		}
	}
}
