package document_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	r := s.write("docs", doc("a", paragraphs(3, "bread"), `{"lang":"en","n":1}`), doc("b", "A short text.", ""))
	coretest.Fields(t, "a write", r.JSON, "namespace", "sparse", "written", "unchanged", "chunks", "searchable",
		"documents")
	docs := r.List("documents")
	coretest.Fields(t, "a written document", docs[0], "id", "created", "unchanged", "chunks", "updated_at")
	if r.JSON["namespace"] != "docs" || r.Number("written") != 2 || r.Number("unchanged") != 0 ||
		!slices.Equal(coretest.Column(docs, "id"), []string{"a", "b"}) ||
		docs[0]["created"] != true || docs[0]["unchanged"] != false {
		t.Errorf("first write: %s", r.Body)
	}
	chunks := docs[0]["chunks"].(float64)
	if chunks != 3 || r.Number("chunks") != 4 || len(s.Embedder.TakePassages()) != 4 {
		t.Errorf("chunks: %s", r.Body)
	}
	first := docs[0]["updated_at"]
	time.Sleep(2 * time.Millisecond) // times are in milliseconds

	for _, c := range []struct {
		name               string
		doc                coretest.Object
		created, unchanged bool
		embeds             int
		chunks             float64
	}{
		{"the same again", doc("a", paragraphs(3, "bread"), `{ "n": 1, "lang" : "en" }`), false, true, 0, 3},
		{"new metadata only", doc("a", paragraphs(3, "bread"), `{"lang":"fr"}`), false, false, 0, 3},
		{"no metadata", doc("a", paragraphs(3, "bread"), ""), false, false, 0, 3},
		{"an empty coretest.Object is no metadata", doc("a", paragraphs(3, "bread"), `{}`), false, true, 0, 3},
		{"one more paragraph", doc("a", paragraphs(4, "bread"), ""), false, false, 1, 4},
		{"one fewer", doc("a", paragraphs(3, "bread"), ""), false, false, 0, 3},
		{"another text", doc("a", paragraphs(2, "rent"), ""), false, false, 2, 2},
		{"text and metadata", doc("a", paragraphs(1, "lease"), `{"x":true}`), false, false, 1, 1},
		{"a new document", doc("c", "Quite another.", `{"x":true}`), true, false, 1, 1},
	} {
		r := s.write("docs", c.doc)
		d := r.List("documents")[0]
		wrote := 1.0
		if c.unchanged {
			wrote = 0
		}
		if d["created"] != c.created || d["unchanged"] != c.unchanged || r.Number("written") != wrote ||
			r.Number("unchanged") != 1-wrote || d["chunks"] != c.chunks {
			t.Errorf("%s: %s", c.name, r.Body)
		}
		if got := s.Embedder.TakePassages(); len(got) != c.embeds {
			t.Errorf("%s: %d texts were embedded, want %d: %.80q", c.name, len(got), c.embeds, got)
		}
		if c.name == "the same again" && d["updated_at"] != first {
			t.Errorf("an unchanged document moved from %v to %v", first, d["updated_at"])
		}
		if c.name == "new metadata only" && d["updated_at"] == first {
			t.Errorf("new metadata did not move updated_at")
		}
		// What was written is what is found and read.
		got := s.get("docs", c.doc["id"].(string)).OK()
		if got.JSON["text"] != c.doc["text"] {
			t.Errorf("%s: read %v", c.name, got.JSON["text"])
		}
	}
	if n := s.namespace("docs").OK(); n.Number("documents") != 3 || n.Number("chunks") != 3 {
		t.Errorf("counts after the writes: %s", n.Body)
	}

	// Metadata-only changes reach the filters of every retriever.
	s.write("docs", doc("b", "A short text.", `{"tier":"gold"}`))
	for _, mode := range []string{"hybrid", "vector", "keyword"} {
		if got := found(s.query("docs", coretest.Object{"query": "short text", "mode": mode,
			"filter": coretest.Object{"tier": "gold"}})); !slices.Equal(got, []string{"b"}) {
			t.Errorf("%s by new metadata: %v", mode, got)
		}
	}
	s.write("docs", doc("b", "A short text.", `{"tier":"tin"}`))
	if got := found(s.query("docs", coretest.Object{"query": "short text",
		"filter": coretest.Object{"tier": "gold"}})); len(got) != 0 {
		t.Errorf("the old metadata still matches %v", got)
	}

	// Equal chunks of one call are embedded once.
	s.Embedder.TakePassages()
	s.write("docs", doc("d", "The same words.", ""), doc("e", "The same words.", ""))
	if got := s.Embedder.TakePassages(); len(got) != 1 {
		t.Errorf("two equal texts were embedded as %q", got)
	}

	// A document without a word has no chunk, is stored and is never found.
	r = s.write("docs", doc("void", "", ""), doc("space", " \n\t ", ""))
	if r.Number("chunks") != 0 || r.Number("written") != 2 {
		t.Errorf("texts without a word: %s", r.Body)
	}
	if r := s.chunks("docs", "space").OK(); r.JSON["text"] != " \n\t " || len(r.List("chunk_list")) != 0 {
		t.Errorf("read back: %s", r.Body)
	}
	s.write("hollow", doc("void", "", ""))
	if r := s.query("hollow", coretest.Object{"query": "anything"}); len(found(r)) != 0 || len(r.List("degraded")) != 0 {
		t.Errorf("a query of nothing: %s", r.Body)
	}
	s.write("hollow", doc("void", "now it speaks", ""))
	s.write("hollow", doc("void", "", ""))
	if r := s.query("hollow", coretest.Object{"query": "speaks"}); len(found(r)) != 0 {
		t.Errorf("an emptied text is found: %s", r.Body)
	}
}

// TestWriteRefusals: one bad document refuses the call, and nothing is written.
func TestWriteRefusals(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("kept", "here before", ""))
	good := doc("good", "fine", "")
	many := make([]coretest.Object, 101)
	for i := range many {
		many[i] = doc(fmt.Sprint(i), "x", "")
	}
	for name, c := range map[string]struct {
		docs  []coretest.Object
		code  fault.Code
		words []string
	}{
		"the same id twice": {[]coretest.Object{good, doc("x", "1", ""), doc("good", "2", "")}, "invalid_id",
			[]string{"documents[2].id", "good", "documents[0]"}},
		"a bad id":  {[]coretest.Object{good, doc("no spaces", "1", "")}, "invalid_id", []string{"documents[1].id"}},
		"no id":     {[]coretest.Object{good, {"text": "x"}}, "invalid_id", []string{"documents[1].id"}},
		"no text":   {[]coretest.Object{good, {"id": "x"}}, "invalid_request", []string{"documents[1]", "text", "x"}},
		"null text": {[]coretest.Object{good, {"id": "x", "text": nil}}, "invalid_request", []string{"documents[1]", "text"}},
		"bad metadata": {[]coretest.Object{good, doc("x", "1", `{"a":null}`)}, "invalid_metadata",
			[]string{"documents[1]", "id x", "metadata", "a"}},
		"a text too large": {[]coretest.Object{good, doc("x", strings.Repeat("x", 256<<10+1), "")}, "payload_too_large",
			[]string{"documents[1]", "id x", "text", "262145"}},
		"no documents":  {[]coretest.Object{}, "invalid_request", []string{"documents", "1-100"}},
		"one too many":  {many, "invalid_request", []string{"documents", "1-100", "101"}},
		"NUL in a text": {[]coretest.Object{good, doc("x", "a\x00", "")}, "invalid_request", []string{"documents[1]", "text"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ns := range []string{"docs", "fresh"} {
				for _, r := range s.both(ns, coretest.Object{"documents": c.docs}) {
					r.Fails(c.code, c.words...)
				}
			}
		})
	}
	if got := s.ids("docs"); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("refused writes left %v", got)
	}
	if s.ids("fresh") != nil {
		t.Error("a refused write created its namespace")
	}
}

// TestFailedWrite: a model that fails, a caller who goes away and a store that fails
// leave nothing behind and break nothing.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("kept", "here before", ""))
	body := coretest.Object{"documents": []coretest.Object{doc("kept", "changed", ""), doc("new", "text", "")}}
	failed := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		if got := s.ids("docs"); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("%s: a failed write left %v", what, got)
		}
		if r := s.get("docs", "kept").OK(); r.JSON["text"] != "here before" {
			t.Errorf("%s: a failed write changed the text to %v", what, r.JSON["text"])
		}
	}
	broken := errors.New("out of order")
	s.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error { return broken })
	failed("a model that fails", s.post("docs", body).Err, broken)

	caller := s.ctx
	ctx, leave := context.WithCancel(caller)
	s.Embedder.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
		leave()
		return ctx.Err()
	})
	s.ctx = ctx
	r := s.post("docs", body)
	s.ctx = caller
	failed("a caller who goes away", r.Err, context.Canceled)

	s.Embedder.Before.Clear()
	s.Store.OnUpdate.Set(func() error { return broken })
	failed("a store that fails", s.post("docs", body).Err, broken)
	s.Store.OnUpdate.Clear()
	if r := s.post("docs", body).OK(); r.Number("written") != 2 {
		t.Errorf("the same write afterwards: %s", r.Body)
	}
}

// TestTextAtFault: where a model tells which text made it fail, the caller reads which
// document that is, whatever else is in the call.
func TestTextAtFault(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("kept", "here before", ""))
	var body coretest.Object
	for n, cause := range []error{fault.Field(fault.Upstream, "texts[7]", "the model ended"),
		fault.New(fault.Upstream, "the model ended")} {
		var many strings.Builder // other ones each time: what an attempt has made is kept
		for i := range 400 {
			fmt.Fprintf(&many, "Paragraph %d of %d has some words and stands by itself.\n\n", i, n)
		}
		body = coretest.Object{"documents": []coretest.Object{doc("kept", "here before", ""), doc("long", many.String(), ""),
			doc("bad", "deadly words", "")}}
		before := 0
		s.Embedder.Before.Set(func(_ context.Context, _ port.TextKind, texts []string) error {
			i := slices.Index(texts, "deadly words")
			if i < 0 { // another piece of the call
				before += len(texts)
				return nil
			}
			if before += i; before < 2 {
				t.Errorf("the text is number %d; the test wants chunks before it", before)
			}
			return &port.TextError{Text: i, Err: cause}
		})
		r := s.post("docs", body)
		r.Fails("upstream_error", "documents[2] (id bad).text: the model ended")
		if !errors.Is(r.Err, cause) {
			t.Errorf("the cause is lost: %v", r.Err)
		}
	}
	s.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
		return &port.TextError{Text: 1 << 20, Err: fault.New(fault.Upstream, "the model ended")}
	})
	s.post("docs", body).Fails("upstream_error", "the model ended")
}

// TestIndexApplyFails: a write that is durable but not yet searchable says so,
// and is searchable as soon as the index works again.
func TestIndexApplyFails(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("a", "first words", ""))
	fail := func() error { return errors.New("disk trouble") }
	s.Index.OnApply.Set(fail)
	body := coretest.Object{"documents": []coretest.Object{doc("b", "second words", "")}}
	s.post("docs", body).Fails("unavailable", "repeating").Retry()
	s.Index.OnApply.Clear()
	if r := s.post("docs", body).OK(); r.Number("unchanged") != 1 {
		t.Errorf("the repeated write: %s", r.Body)
	}
	if got := found(s.query("docs", coretest.Object{"query": "second"})); len(got) == 0 || got[0] != "b" {
		t.Errorf("after the index recovered: %v", got)
	}
}

// TestDeletionOutlivesIndexTrouble: a deletion that an index did not take is not
// searchable as soon as the index works again.
func TestDeletionOutlivesIndexTrouble(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("a", "alpha words", `{"k":1}`), doc("b", "beta words", `{"k":2}`), doc("c", "gamma words", ""))
	fail := func() error { return errors.New("disk trouble") }
	for i, body := range []coretest.Object{{"ids": []string{"a"}}, {"filter": coretest.Object{"k": 2}}} {
		s.Index.OnApply.Set(fail)
		s.remove("docs", body).Fails("unavailable").Retry()
		// The index lags, so no retriever may answer from it.
		s.ask("docs", coretest.Object{"query": "words"}).Fails("unavailable").Retry()
		s.Index.OnApply.Clear()
		s.remove("docs", body).OK()
		if got := found(s.query("docs", coretest.Object{"query": "words"})); len(got) != 2-i {
			t.Errorf("after deletion %d: %v", i, got)
		}
	}
	s.Index.OnApply.Set(fail)
	if e := s.ended("docs", s.writeLater("docs", doc("d", "delta", ""))); e["status"] != "succeeded" {
		t.Errorf("an operation whose index fails: %v", e)
	}
	s.Index.OnApply.Clear()
	if got := found(s.query("docs", coretest.Object{"query": "delta", "mode": "keyword"})); !slices.Equal(got, []string{"d"}) {
		t.Errorf("after an operation whose index failed: %v", got)
	}
}

// TestClockGoesBack: times of a document never do.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	var shift atomic.Int64
	s := open(t, coretest.Options{Now: func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }})
	first := s.write("docs", doc("a", "one", "")).List("documents")[0]["updated_at"].(string)
	shift.Store(int64(-time.Hour))
	second := s.write("docs", doc("a", "two", "")).List("documents")[0]["updated_at"].(string)
	d := s.get("docs", "a").OK()
	if instant(t, second).Before(instant(t, first)) || d.JSON["updated_at"] != second ||
		d.JSON["created_at"] != first || d.JSON["text"] != "two" {
		t.Errorf("written at %s and %s: %s", first, second, d.Body)
	}
	n := s.namespace("docs").OK()
	if instant(t, n.JSON["updated_at"]).Before(instant(t, n.JSON["created_at"])) {
		t.Errorf("namespace: %s", n.Body)
	}
	if got := found(s.query("docs", coretest.Object{"query": "two", "mode": "keyword"})); !slices.Equal(got, []string{"a"}) {
		t.Errorf("found %v", got)
	}
	s.drop("docs").OK()
}
