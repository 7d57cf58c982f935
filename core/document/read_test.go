package document_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/namespace"
)

// unless reads a document that the caller holds with ETags.
func (l *library) unless(ns, id, tags string) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.Get, coretest.Object{}, func(in *document.GetDocument) {
		in.Namespace, in.ID, in.IfNoneMatch = ns, id, tags
	})
}

func TestRead(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	text := "# Käse und Brot\n\nDas Brot ist 🍞 warm. 麺麭は温かい。\r\n\r\n```\ncode { x := \"<&>\" " +
		"}\n```\n\nLast\u2028paragraph, e\u0301 and é.\n"
	s.write("docs", doc("a", text, `{"s":"<b>&\u2028","n":0.10,"big":9007199254740993,"t":true,"l":["x","",""]}`),
		doc("b", "plain", ""))
	r := s.get("docs", "a").OK()
	coretest.Fields(t, "a document", r.JSON, "id", "text", "metadata", "chunks", "content_hash", "source_id", "created_at",
		"updated_at")
	if r.JSON["text"] != text || r.JSON["id"] != "a" || r.JSON["source_id"] != nil ||
		r.JSON["created_at"] != r.JSON["updated_at"] || r.Status != 200 {
		t.Errorf("read with %d: %s", r.Status, r.Body)
	}
	var exact struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(r.Body, &exact); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{"n": "0.10", "big": "9007199254740993", "t": "true", "l": `["x","",""]`} {
		if got := string(exact.Metadata[k]); got != want {
			t.Errorf("metadata %s is %s, want %s", k, got, want)
		}
	}
	if got := r.JSON["metadata"].(coretest.Object)["s"]; got != "<b>&\u2028" {
		t.Errorf("metadata s is %q", got)
	}
	plain := s.get("docs", "b").OK()
	sum := sha256.Sum256([]byte("plain"))
	if got, want := plain.JSON["content_hash"], "sha256:"+hex.EncodeToString(sum[:]); got != want {
		t.Errorf("content hash %v, want %s", got, want)
	}
	if m, ok := plain.JSON["metadata"].(coretest.Object); !ok || len(m) != 0 {
		t.Errorf("no metadata reads as %v", plain.JSON["metadata"])
	}

	// Chunks are exact byte slices of the text, in order.
	r = s.chunks("docs", "a").OK()
	chunks := r.List("chunk_list")
	if float64(len(chunks)) != r.Number("chunks") || len(chunks) < 3 {
		t.Errorf("%d chunks listed of %v", len(chunks), r.JSON["chunks"])
	}
	last := -1
	for i, c := range chunks {
		coretest.Fields(t, "a chunk", c, "index", "start", "end", "heading", "text")
		lo, hi := int(c["start"].(float64)), int(c["end"].(float64))
		if c["heading"] != "Käse und Brot" {
			t.Errorf("chunk %d stands under %v", i, c["heading"])
		}
		if c["index"] != float64(i) || lo < 0 || hi > len(text) || lo >= hi || lo < last ||
			text[lo:hi] != c["text"] || !utf8.ValidString(text[lo:hi]) {
			t.Errorf("chunk %d: %v", i, c)
		}
		last = lo
	}
	coretest.Ask(s.ctx, t, s.documents.Get, coretest.Object{}, func(in *document.GetDocument) {
		in.Namespace, in.ID, in.Include = "docs", "a", []string{"vectors"}
	}).Fails("invalid_request", "include", "vectors")

	s.get("docs", "absent").Fails("document_not_found", "absent")
	s.get("none", "a").Fails("namespace_not_found", "none")
	s.get("Docs", "a").Fails("invalid_namespace", "namespace")
	for _, id := range []string{"", "a b", "/a", strings.Repeat("x", 257)} {
		s.get("docs", id).Fails("invalid_id", "id")
	}
}

// TestETag: a caller who holds a version is told so, and any change makes another.
func TestETag(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("a", "some text", `{"s":"x"}`))
	r := s.get("docs", "a").OK()
	etag := r.Header["ETag"]
	if etag != `"`+fmt.Sprint(r.JSON["content_hash"])+`"` {
		t.Errorf("ETag %s of %v", etag, r.JSON["content_hash"])
	}
	for _, c := range []struct {
		tags   string
		status int
	}{
		{etag, 304}, {"W/" + etag, 304}, {`"x", ` + etag, 304}, {etag + `,"x"`, 304}, {"*", 304},
		{`"sha256:0"`, 200}, {"", 200}, {",", 200}, {`"x", "y"`, 200},
	} {
		if got := s.unless("docs", "a", c.tags).OK(); got.Status != c.status || got.Header["ETag"] != etag {
			t.Errorf("If-None-Match %s: %d, ETag %s", c.tags, got.Status, got.Header["ETag"])
		}
	}
	for name, changed := range map[string]coretest.Object{
		"other metadata": doc("a", "some text", `{"s":"y"}`), "no metadata": doc("a", "some text", ""),
		"another text": doc("a", "some other text", `{"s":"x"}`),
	} {
		s.write("docs", changed)
		if got := s.unless("docs", "a", etag).OK(); got.Status != 200 || got.Header["ETag"] == etag {
			t.Errorf("%s under the old ETag: %d", name, got.Status)
		}
	}
	s.write("docs", doc("a", "some text", `{ "s" : "x" }`))
	if got := s.unless("docs", "a", etag).OK(); got.Status != 304 {
		t.Errorf("the same again: %d", got.Status)
	}
	s.unless("docs", "absent", "*").Fails("document_not_found", "absent")
}

// lists is a list of documents as a test asks for it.
type lists struct {
	limit         int // 0: the default
	prefix, order string
	source        string
	cursor        string
}

func (l *library) page(ns string, of lists) *coretest.Reply {
	l.t.Helper()
	return coretest.Ask(l.ctx, l.t, l.documents.List, coretest.Object{}, func(in *document.ListDocuments) {
		in.Namespace, in.Prefix, in.Order, in.SourceID, in.Cursor = ns, of.prefix, of.order, of.source, of.cursor
		if of.limit != 0 {
			in.Limit = &of.limit
		}
	})
}

// walk lists all pages, and calls between after each but the last.
func (l *library) walk(ns string, of lists, between func(page int)) (ids []string) {
	l.t.Helper()
	for n := 0; ; n++ {
		r := l.page(ns, of).OK()
		some := coretest.Column(r.List("documents"), "id")
		ids = append(ids, some...)
		next, more := r.JSON["next_cursor"].(string)
		if of.limit != 0 && (len(some) > of.limit || more && len(some) < of.limit) {
			l.t.Fatalf("a page of %d holds %v, more is %t", of.limit, some, more)
		}
		if !more {
			return ids
		}
		if between != nil {
			between(n)
		}
		of.cursor = next
	}
}

// dozens fills a namespace with 25 documents, each written a millisecond after the
// one before, and answers their ids in that order.
func (l *library) dozens(ns string) (ids []string) {
	for i := range 25 {
		id := fmt.Sprintf("%s-%02d", []string{"Ab", "ab", "a_", "a.", "zz"}[i%5], i)
		ids = append(ids, id)
		l.write(ns, doc(id, "text "+id, fmt.Sprintf(`{"i":%d}`, i)))
	}
	return ids
}

// ticking is a clock that goes on by a millisecond whenever it is read.
func ticking() func() time.Time {
	var ticks atomic.Int64
	start := time.Now().Truncate(time.Millisecond)
	return func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Millisecond) }
}

func TestList(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{Now: ticking()})
	newest := s.dozens("docs")
	all := slices.Clone(newest)
	slices.Reverse(newest)
	slices.Sort(all) // bytewise
	r := s.page("docs", lists{}).OK()
	coretest.Fields(t, "a page", r.JSON, "documents", "next_cursor")
	coretest.Fields(t, "a listed document", r.List("documents")[0], "id", "metadata", "chunks", "content_hash", "source_id",
		"created_at", "updated_at")
	if got := coretest.Column(r.List("documents"), "id"); !slices.Equal(got, all) || r.JSON["next_cursor"] != nil {
		t.Errorf("by id: %v", got)
	}
	// What is listed is what is read.
	listed, read := r.List("documents")[3], s.get("docs", all[3]).OK().JSON
	for _, field := range []string{"id", "metadata", "chunks", "content_hash", "source_id", "created_at", "updated_at"} {
		if fmt.Sprint(listed[field]) != fmt.Sprint(read[field]) {
			t.Errorf("%s is listed as %v and read as %v", field, listed[field], read[field])
		}
	}
	for limit := 1; limit <= 26; limit++ {
		if got := s.walk("docs", lists{limit: limit}, nil); !slices.Equal(got, all) {
			t.Errorf("pages of %d: %v", limit, got)
		}
		if got := s.walk("docs", lists{limit: limit, order: "updated_at"}, nil); !slices.Equal(got, newest) {
			t.Errorf("newest first in pages of %d: %v", limit, got)
		}
	}
	if got := s.walk("docs", lists{limit: 4, order: "id"}, nil); !slices.Equal(got, all) {
		t.Errorf("order id: %v", got)
	}
	s.write("docs", doc(all[3], "rewritten", ""))
	s.write("docs", doc(all[9], "rewritten", ""))
	if got := s.walk("docs", lists{limit: 1, order: "updated_at"}, nil); got[0] != all[9] || got[1] != all[3] ||
		len(got) != len(all) {
		t.Errorf("newest first: %v", got)
	}
	for prefix, want := range map[string]int{"ab": 5, "Ab": 5, "a_": 5, "a.": 5, "a": 15, "zz-24": 1, "zz-245": 0,
		"%": 0, "_": 0, "a%": 0, "*": 0} {
		for _, order := range []string{"id", "updated_at"} {
			got := s.walk("docs", lists{limit: 2, prefix: prefix, order: order}, nil)
			if len(got) != want || slices.ContainsFunc(got, func(id string) bool { return !strings.HasPrefix(id, prefix) }) {
				t.Errorf("prefix %q by %s gives %v, want %d", prefix, order, got, want)
			}
		}
	}
	if got := s.walk("docs", lists{source: "src_none"}, nil); len(got) != 0 {
		t.Errorf("documents of an unknown source: %v", got)
	}
	s.page("none", lists{}).Fails("namespace_not_found", "none")
}

// TestEqualTimesAreListedOnce: documents of one write have one time, and pages by
// time still neither skip nor repeat any.
func TestEqualTimesAreListedOnce(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	var docs []coretest.Object
	var all []string
	for i := range 11 {
		all = append(all, fmt.Sprintf("d%02d", i))
		docs = append(docs, doc(all[i], "text "+all[i], ""))
	}
	s.write("docs", docs...)
	for limit := 1; limit <= 12; limit++ {
		got := s.walk("docs", lists{limit: limit, order: "updated_at"}, nil)
		if slices.Sort(got); !slices.Equal(got, all) {
			t.Errorf("pages of %d: %v", limit, got)
		}
	}
}

// TestListBesideWrites: survivors are neither repeated nor skipped while others come
// and go.
func TestListBesideWrites(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	all := s.dozens("docs")
	slices.Sort(all)
	got := s.walk("docs", lists{limit: 3}, func(page int) {
		s.write("docs", doc(fmt.Sprintf("0new-%d", page), "before every cursor", ""),
			doc(fmt.Sprintf("zzz-%d", page), "after every cursor", ""))
		if page == 1 { // the cursor's own among them
			s.remove("docs", coretest.Object{"ids": []string{all[5], all[6], all[24]}}).OK()
		}
	})
	for i, id := range all {
		gone := i == 6 || i == 24 // deleted before their page
		if n := len(slices.DeleteFunc(slices.Clone(got), func(g string) bool { return g != id })); n != 1 && !(gone && n == 0) {
			t.Errorf("%s was listed %d times in %v", id, n, got)
		}
	}
	if !slices.IsSorted(got) {
		t.Errorf("pages out of order: %v", got)
	}
}

// TestCursors: a cursor is bound to its list and parameters, and signed.
func TestCursors(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.dozens("docs")
	s.write("more", doc("a1", "x", ""), doc("a2", "x", ""), doc("a3", "x", ""))
	cursor := s.page("docs", lists{limit: 2, prefix: "a"}).OK().JSON["next_cursor"].(string)
	flipped := []byte(cursor)
	flipped[len(flipped)/2] ^= 1
	for _, of := range []lists{
		{limit: 2, cursor: cursor},
		{prefix: "ab", cursor: cursor},
		{prefix: "a", order: "updated_at", cursor: cursor},
		{prefix: "a", source: "s", cursor: cursor},
		{prefix: "a", cursor: cursor[:len(cursor)-2]},
		{prefix: "a", cursor: cursor + "AA"},
		{prefix: "a", cursor: string(flipped)},
		{prefix: "a", cursor: "x"},
		{prefix: "a", cursor: "\x00"},
		{prefix: "a", cursor: strings.Repeat("A", 4000)},
	} {
		s.page("docs", of).Fails("invalid_cursor", "cursor")
	}
	s.page("more", lists{prefix: "a", cursor: cursor}).Fails("invalid_cursor", "cursor")
	coretest.Ask(s.ctx, t, s.namespaces.List, coretest.Object{},
		func(in *namespace.ListNamespaces) { in.Prefix, in.Cursor = "a", cursor }).Fails("invalid_cursor", "cursor")
	s.page("docs", lists{limit: 50, prefix: "a", cursor: cursor}).OK() // the size may change
	s.page("docs", lists{prefix: "a", order: "id", cursor: cursor}).OK()

	for _, limit := range []int{-5, 1001} {
		s.page("docs", lists{limit: limit}).Fails("invalid_request", "limit")
	}
	coretest.Ask(s.ctx, t, s.documents.List, coretest.Object{},
		func(in *document.ListDocuments) { in.Namespace, in.Limit = "docs", new(0) }).Fails("invalid_request", "limit")
	s.page("docs", lists{limit: 1000}).OK()
	s.page("docs", lists{order: "size"}).Fails("invalid_request", "order")
	s.page("docs", lists{prefix: "\x00"}).Fails("invalid_request", "prefix")
	s.page("docs", lists{source: "\x00"}).Fails("invalid_request", "source_id")
}
