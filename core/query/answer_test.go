package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// found are the documents and chunks of an answer, as in "five/2 other/0".
func found(r *coretest.Reply) string {
	var out []string
	for _, h := range r.OK().List("results") {
		out = append(out, fmt.Sprintf("%v/%v", h["document_id"], h["chunk_index"]))
	}
	return strings.Join(out, " ")
}

// five is a document of five chunks, each a line of two words below one heading.
func five() document.Input {
	return text("five", "# House\n\nzero stands\n\none stands\n\ntwo stands\n\nthree stands\n\nfour stands")
}

// with is a document with metadata.
func with(metadata, id, content string) document.Input {
	d := text(id, content)
	d.Metadata = json.RawMessage(metadata)
	return d
}

// A hit shows its chunk, the neighbours that there are, and its metadata
// (docs/contract.md#query-answer).
func TestAHitShowsWhatIsAskedFor(t *testing.T) {
	h := newHouse(t, coretest.Options{}, nil)
	h.write("home", five(), with(`{"kind":"note"}`, "other", "something else"))
	const (
		zero  = `{"chunk_index":0,"start":9,"end":20,"text":"zero stands"}`
		one   = `{"chunk_index":1,"start":22,"end":32,"text":"one stands"}`
		three = `{"chunk_index":3,"start":46,"end":58,"text":"three stands"}`
		four  = `{"chunk_index":4,"start":60,"end":71,"text":"four stands"}`

		bounds = `"id":"home/five","document_id":"five","chunk_index":2,"start":34,"end":44,"heading":"House","score":1.513`
		two    = bounds + `,"text":"two stands","metadata":{}`
		first  = `"id":"home/five","document_id":"five","chunk_index":0,"start":9,"end":20,"heading":"House","score":1.513,` +
			`"text":"zero stands","metadata":{}`
		last = `"id":"home/five","document_id":"five","chunk_index":4,"start":60,"end":71,"heading":"House","score":1.513,` +
			`"text":"four stands","metadata":{}`
		note = `"id":"home/other","document_id":"other","chunk_index":0,"start":0,"end":14,"score":1.6938,` +
			`"text":"something else","metadata":{"kind":"note"}`
	)
	for _, c := range []struct {
		query string
		more  object
		want  string
	}{
		{"two", object{}, `{` + two + `,"before":[],"after":[]}`},
		{"two", object{"neighbors": 0}, `{` + two + `,"before":[],"after":[]}`},
		{"two", object{"neighbors": 1}, `{` + two + `,"before":[` + one + `],"after":[` + three + `]}`},
		{"two", object{"neighbors": 2},
			`{` + two + `,"before":[` + zero + `,` + one + `],"after":[` + three + `,` + four + `]}`},
		{"zero", object{"neighbors": 1}, `{` + first + `,"before":[],"after":[` + one + `]}`},
		{"four", object{"neighbors": 1}, `{` + last + `,"before":[` + three + `],"after":[]}`},
		{"two", object{"neighbors": 1, "include_text": false, "include_metadata": false}, `{` + bounds +
			`,"before":[{"chunk_index":1,"start":22,"end":32}],"after":[{"chunk_index":3,"start":46,"end":58}]}`},
		{"something", object{"include_text": true, "include_metadata": true, "explain": false},
			`{` + note + `,"before":[],"after":[]}`},
		{"xyzzy", object{}, ``},
	} {
		c.more["query"], c.more["mode"] = c.query, "keyword"
		h.ask("home", c.more).Answers(`{"results":[`+c.want+`],"score_kind":"bm25","model":null,"retrievers":["keyword"],
			"degraded":[],"truncated_candidates":0}`, "took_ms")
	}
	// Callers within the process get the document as it was read, too.
	out, err := h.query(query.Request{Namespace: "home", Query: "something", Mode: new("keyword")})
	if err != nil {
		t.Fatal(err)
	}
	if hit := out.Results[0]; hit.Document.ID != "other" || hit.Document.Text != "something else" || hit.Reranked ||
		string(hit.Document.Metadata) != `{"kind":"note"}` {
		t.Errorf("the hit's document is %+v, reranked %v", hit.Document, hit.Reranked)
	}
}

// The numbers of reciprocal rank fusion say how a hit came to its place: one is worth
// weight / (10 + rank), and the first of every list has 1.
func TestAnAnswerIsExplained(t *testing.T) {
	h := newHouse(t, coretest.Options{Sparse: &coretest.SparseEncoder{}}, func(s *query.Settings) {
		s.Searcher.Fusion.Method = retrieve.RRF
		s.Reranker, s.Reranking = coretest.Reranker{}, retrieve.Reranking{Depth: 40}
	})
	h.sparse("home")
	h.write("home", five(), text("other", "something else"))
	const (
		two = `"id":"home/five","document_id":"five","chunk_index":2,"start":34,"end":44,"heading":"House",` +
			`"before":[],"after":[]`
		zero = `"id":"home/five","document_id":"five","chunk_index":0,"start":9,"end":20,"heading":"House","before":[],"after":[]`

		words = `"keyword":{"rank":1,"score":1.7499,"terms":["two","stands"],"spans":[{"start":0,"end":3},{"start":4,"end":10}]}`
		word  = `"keyword":{"rank":2,"score":0.2369,"terms":["stands"],"spans":[{"start":5,"end":11}]}`
		lists = `"vector":{"rank":1,"score":0.8773},` + words + `,"sparse":{"rank":1,"score":2},"fused":{"rank":1,"score":1}`
		// All three lists have it second: 11 / 12.
		second = `"vector":{"rank":2,"score":0.5191},` + word + `,"sparse":{"rank":2,"score":1},` +
			`"fused":{"rank":2,"score":0.91667}`
	)
	for _, c := range []struct {
		more object
		want string
	}{
		{object{"top_k": 2}, `
			"results":[{` + two + `,"score":1,"explain":{` + lists + `,"rerank":null}},
				{` + zero + `,"score":0.91667,"explain":{` + second + `,"rerank":null}}],
			"score_kind":"fused","model":null,"retrievers":["vector","keyword","sparse"]`},
		// The reranker gives .95 to all of the words and .5 to half; without a prior it is the score.
		{object{"top_k": 2, "rerank": true}, `
			"results":[{` + two + `,"score":0.95,"explain":{` + lists + `,"rerank":{"rank":1,"score":0.95}}},
				{` + zero + `,"score":0.5,"explain":{` + second + `,"rerank":{"rank":2,"score":0.5}}}],
			"score_kind":"rerank","model":"test-rerank","retrievers":["vector","keyword","sparse"]`},
		// What was not rescored has the lowest score times its own.
		{object{"top_k": 2, "rerank": object{"depth": 1}}, `
			"results":[{` + two + `,"score":0.95,"explain":{` + lists + `,"rerank":{"rank":1,"score":0.95}}},
				{` + zero + `,"score":0.87083,"explain":{` + second + `,"rerank":null}}],
			"score_kind":"rerank","model":"test-rerank","retrievers":["vector","keyword","sparse"]`},
		{object{"top_k": 1, "mode": "vector"}, `
			"results":[{` + two + `,"score":0.8773,"explain":{"vector":{"rank":1,"score":0.8773},"keyword":null,
				"sparse":null,"fused":{"rank":1,"score":0.8773},"rerank":null}}],
			"score_kind":"cosine","model":null,"retrievers":["vector"]`},
		{object{"top_k": 1, "mode": "sparse"}, `
			"results":[{` + two + `,"score":2,"explain":{"vector":null,"keyword":null,
				"sparse":{"rank":1,"score":2},"fused":{"rank":1,"score":2},"rerank":null}}],
			"score_kind":"sparse","model":null,"retrievers":["sparse"]`},
	} {
		c.more["query"], c.more["explain"], c.more["include_text"] = "two stands", true, false
		c.more["include_metadata"] = false
		h.ask("home", c.more).Answers(`{`+c.want+`,"degraded":[],"truncated_candidates":0}`, "took_ms")
	}
	// An index that does not highlight leaves the words out.
	h.Searcher.Indexes[port.Keyword] = struct{ port.Index }{h.Index}
	keyword := h.ask("home", object{"query": "two", "mode": "keyword", "explain": true}).OK().List("results")[0]["explain"]
	coretest.Fields(t, "a rank without spans", keyword.(object)["keyword"].(object), "rank", "score", "terms")
}

// ranks is an index whose scores order hits and say no more.
type ranks struct{ port.Index }

func (ranks) RanksOnly(port.Retriever) bool { return true }

// Scores that only rank are those of a fusion, which have no fixed scale to hold a
// least score against (docs/contract.md#query-scores).
func TestScoresThatOnlyRankAreFused(t *testing.T) {
	h := newHouse(t, coretest.Options{}, nil)
	h.write("home", five())
	h.Searcher.Indexes[port.Keyword], h.Searcher.Indexes[port.Vector] = ranks{h.Index}, ranks{h.Index}
	for _, mode := range []string{"keyword", "vector"} {
		if r := h.ask("home", object{"query": "two", "mode": mode}).OK(); r.JSON["score_kind"] != "fused" {
			t.Errorf("%s: %s", mode, r.Body)
		}
	}
	if r := h.ask("home", object{"query": "two", "mode": "vector", "min_score": 1}); found(r) == "" {
		t.Errorf("a least cosine was held against ranks: %s", r.Body)
	}
}

// Each retriever is asked for a hundred hits, or for top_k; where few chunks of a
// document count, for four times top_k, up to 400.
func TestRetrieversAreAskedForEnough(t *testing.T) {
	h := newHouse(t, coretest.Options{}, nil)
	h.write("home", five())
	var limit int
	h.Index.OnSearch.Set(func(_ context.Context, _ port.Partition, q port.IndexQuery) error {
		limit = q.Limit
		return nil
	})
	for _, c := range []struct{ topK, perDocument, want int }{
		{1, 100, 100}, {100, 100, 100}, {100, 99, 400}, {1, 1, 100}, {25, 1, 100}, {26, 1, 104}, {50, 50, 100}, {50, 49, 200},
		{99, 1, 396}, {100, 1, 400},
	} {
		h.ask("home", object{"query": "two", "mode": "keyword", "top_k": c.topK, "max_chunks_per_document": c.perDocument}).OK()
		if limit != c.want {
			t.Errorf("top_k %d with %d of a document: %d asked for, want %d", c.topK, c.perDocument, limit, c.want)
		}
	}
	h.ask("home", object{"query": "two", "mode": "keyword"}).OK()
	if limit != 100 {
		t.Errorf("%d asked for, want 100", limit)
	}
}

// top_k is 10 unless set, and the chunks of one document may fill it.
func TestAnAnswerHasTopKHits(t *testing.T) {
	h := newHouse(t, coretest.Options{}, nil)
	var docs []document.Input
	for i := range 11 {
		docs = append(docs, text(fmt.Sprintf("d%02d", i), "stands here.\n\nstands there."))
	}
	h.write("home", docs...)
	for _, c := range []struct {
		more object
		want string
	}{
		{object{}, "d00/0 d00/1 d01/0 d01/1 d02/0 d02/1 d03/0 d03/1 d04/0 d04/1"},
		{object{"top_k": 3}, "d00/0 d00/1 d01/0"},
		{object{"top_k": 3, "max_chunks_per_document": 1}, "d00/0 d01/0 d02/0"},
		{object{"max_chunks_per_document": 1}, "d00/0 d01/0 d02/0 d03/0 d04/0 d05/0 d06/0 d07/0 d08/0 d09/0"},
	} {
		c.more["query"], c.more["mode"] = "stands", "keyword"
		if got := found(h.ask("home", c.more)); got != c.want {
			t.Errorf("%v: %s, want %s", c.more, got, c.want)
		}
	}
}

// rescorer is a reranker that a test can change: do runs before it scores, and its
// error is the reranker's.
type rescorer struct {
	coretest.Reranker
	do        func(texts []string) error
	truncated int
}

func (r *rescorer) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	if err := r.do(texts); err != nil {
		return nil, 0, err
	}
	p, _, err := r.Reranker.Score(ctx, query, texts)
	return p, r.truncated, err
}

// second is a reranker of another name than the default's.
type second struct{ rescorer }

func (*second) Info() port.ModelInfo {
	return port.ModelInfo{ID: "second", Tasks: []port.Task{port.TaskRerank}}
}

// A query can name any rerank model of the server, the role's or another
// (docs/contract.md#query-request).
func TestAQueryNamesItsReranker(t *testing.T) {
	var asked []string
	by := func(name string) rescorer {
		return rescorer{do: func([]string) error { asked = append(asked, name); return nil }}
	}
	first := by("first")
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker, s.Rerankers, s.Reranking = &first, []port.Reranker{&second{by("second")}}, retrieve.DefaultReranking()
	})
	h.write("home", five())
	for _, c := range []struct {
		rerank any
		asked  string
		model  string
	}{
		{true, "first", "test-rerank"},
		{object{"model": "test-rerank"}, "first", "test-rerank"},
		{object{"model": "second"}, "second", "second"},
	} {
		asked = nil
		r := h.ask("home", object{"query": "stands", "mode": "keyword", "rerank": c.rerank}).OK()
		if !slices.Equal(asked, []string{c.asked}) || r.JSON["model"] != c.model || r.JSON["score_kind"] != "rerank" {
			t.Errorf("rerank %v: %v scored: %s", c.rerank, asked, r.Body)
		}
	}
	h.ask("home", object{"query": "stands", "rerank": object{"model": "third"}}).Fails(fault.InvalidRequest,
		`"third" is not a rerank model`)
}

// As many candidates are rescored as the query says, or twice top_k, up to what is
// configured (docs/contract.md#query-request).
func TestAQueryRescoresTheHead(t *testing.T) {
	var read int
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker = &rescorer{do: func(texts []string) error { read = len(texts); return nil }, truncated: 2}
		s.Reranking = retrieve.Reranking{Depth: 4}
	})
	h.write("home", five())
	for _, c := range []struct {
		topK   int
		rerank any
		want   int
	}{{1, true, 2}, {2, true, 4}, {3, true, 4}, {1, object{"depth": 3}, 3}, {1, object{"depth": 5}, 5}} {
		r := h.ask("home", object{"query": "stands", "mode": "keyword", "top_k": c.topK, "rerank": c.rerank}).OK()
		if read != c.want || r.Number("truncated_candidates") != 2 {
			t.Errorf("top_k %d, rerank %v: %d texts read, want %d: %s", c.topK, c.rerank, read, c.want, r.Body)
		}
	}
}

// min_score holds for cosines and for a reranker's scores, the bar itself included
// (docs/contract.md#query-request).
func TestALeastScore(t *testing.T) {
	r := &rescorer{do: func([]string) error { return nil }}
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker, s.Reranking = r, retrieve.Reranking{Depth: 40}
	})
	h.write("home", text("a", "warm bread"), text("b", "warm soup"), text("c", "cold water"))
	ask := func(more object) *coretest.Reply {
		t.Helper()
		more["query"] = "warm bread"
		return h.ask("home", more)
	}
	all := ask(object{"mode": "vector"})
	if found(all) != "a/0 b/0 c/0" {
		t.Fatalf("found %s", found(all))
	}
	second := all.List("results")[1]["score"].(float64)
	for _, c := range []struct {
		more object
		want string
	}{
		{object{"mode": "vector", "min_score": second}, "a/0 b/0"},
		{object{"mode": "vector", "min_score": second + .001}, "a/0"},
		// By share of words: .95, .5, .05.
		{object{"rerank": true, "min_score": .4}, "a/0 b/0"},
		{object{"rerank": true, "min_score": .6}, "a/0"},
		{object{"rerank": true, "mode": "vector", "min_score": .6}, "a/0"},
		{object{"rerank": true}, "a/0 b/0 c/0"},
		// What was not scored may be below any bar.
		{object{"rerank": object{"depth": 2}, "min_score": 0}, "a/0 b/0"},
	} {
		if got := found(ask(c.more)); got != c.want {
			t.Errorf("%v: %s, want %s", c.more, got, c.want)
		}
	}
	// A bar that was meant for a reranker's scores is not held against others.
	r.do = func([]string) error { return errors.New("broken") }
	for kind, more := range map[string]object{"cosine": {"mode": "vector"}, "fused": {}} {
		more["rerank"], more["min_score"] = true, .99
		got := ask(more)
		if found(got) != "a/0 b/0 c/0" || got.JSON["score_kind"] != kind || got.JSON["model"] != nil {
			t.Errorf("%s without a reranker: %s", kind, got.Body)
		}
	}
}

// The filter holds in the index, and once more for a document that was rewritten after
// it was found (docs/contract.md#filter-operators).
func TestAFilteredQuery(t *testing.T) {
	r := &rescorer{do: func([]string) error { return nil }}
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker, s.Reranking = r, retrieve.DefaultReranking()
	})
	h.write("home", with(`{"kind":"note"}`, "a", "warm bread"), with(`{"kind":"note"}`, "b", "warm soup"),
		with(`{"kind":"bill"}`, "c", "warm water"), text("d", "warm wind"))
	filtered := object{"query": "warm bread", "filter": object{"kind": "note"}, "rerank": true}
	if got := found(h.ask("home", filtered)); got != "a/0 b/0" {
		t.Errorf("notes: %s", got)
	}
	r.do = func([]string) error {
		h.write("home", with(`{"kind":"bill"}`, "a", "warm bread"))
		return nil
	}
	if got := found(h.ask("home", filtered)); got != "b/0" {
		t.Errorf("notes, one of which becomes a bill: %s", got)
	}
}

// docs/contract.md#query-degraded
func TestAQueryDegradesOrFails(t *testing.T) {
	broken := errors.New("broken")
	r := &rescorer{do: func([]string) error { return broken }}
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker, s.Reranking = r, retrieve.DefaultReranking()
	})
	h.write("home", five())
	off := *h
	off.queries = query.New(query.Settings{Store: h.Store, Searcher: h.Searcher, Log: h.Log,
		Encoders: ingest.NewEncoders(&ingest.Encoder{}, ingest.Previous{})})
	h.Index.OnSearch.Set(func(_ context.Context, _ port.Partition, q port.IndexQuery) error {
		if q.Retriever == port.Vector {
			return broken
		}
		return nil
	})
	for _, c := range []struct {
		h    *house
		more object
		want string     // degraded
		code fault.Code // of a strict call; "": none
	}{
		{h, object{"mode": "keyword"}, "[]", ""},
		{h, object{}, "[map[part:vector reason:error]]", fault.Unavailable},
		{h, object{"mode": "keyword", "rerank": true}, "[map[part:rerank reason:error]]", fault.Unavailable},
		{h, object{"rerank": true}, "[map[part:vector reason:error] map[part:rerank reason:error]]", fault.Unavailable},
		{&off, object{}, "[map[part:vector reason:model_off]]", fault.Unavailable},
		{&off, object{"mode": "keyword", "rerank": true}, "[map[part:rerank reason:model_off]]", fault.Unavailable},
	} {
		c.more["query"], c.more["strict"] = "two", false
		got := c.h.ask("home", c.more)
		if found(got) != "five/2" || fmt.Sprint(got.JSON["degraded"]) != c.want || got.JSON["model"] != nil {
			t.Errorf("%v: %s", c.more, got.Body)
		}
		c.more["strict"] = true
		if got = c.h.ask("home", c.more); c.code == "" {
			got.OK()
		} else {
			got.Fails(c.code)
		}
	}
	h.ask("home", object{"query": "two", "mode": "vector"}).Fails(fault.Unavailable)
	// A reranker that is off has no name.
	off.ask("home", object{"query": "two", "rerank": object{"model": "test-rerank"}}).Fails(fault.InvalidRequest, "rerank.model")
}

func TestAQueryNeedsItsNamespace(t *testing.T) {
	h := newHouse(t, coretest.Options{}, nil)
	namespaces := namespace.New(h.Store, h.Pages, h.Models, h.Projector.Drop)
	if _, err := coretest.Call(h.ctx, namespaces.Create, namespace.CreateNamespace{Name: "empty"}); err != nil {
		t.Fatal(err)
	}
	h.write("home", five())
	body := object{"query": "two"}
	h.ask("nowhere", body).Fails(fault.NamespaceNotFound)
	h.ask("empty", body).Fails(fault.NamespaceNotFound, `namespace "empty" holds no documents`)
	other := *h
	other.ctx = h.Caller(key.Issue{Org: "other"})
	other.ask("home", body).Fails(fault.NamespaceNotFound)

	// Vectors of a model that is not loaded (docs/contract.md#rule-no-silence).
	reindexed := coretest.NewEmbedder()
	reindexed.Digest = "sha256:another"
	other = *h
	other.queries = query.New(query.Settings{Store: h.Store, Searcher: h.Searcher, Log: h.Log,
		Encoders: ingest.NewEncoders(&ingest.Encoder{Embedder: reindexed}, ingest.Previous{})})
	other.ask("home", body).Fails(fault.Conflict, "sha256:another")

	broken := errors.New("broken")
	h.Store.OnView.Set(func() error { return broken })
	if err := h.ask("home", body).Err; !errors.Is(err, broken) {
		t.Errorf("without a store: %v", err)
	}
	h.Store.OnView.Clear()
	// A store that fails after the search fails the answer.
	views := 0
	h.Store.OnCallView.Set(func() error {
		if views++; views > 1 {
			return broken
		}
		return nil
	})
	h.ctx = ident.WithRequestID(h.ctx, "req_1")
	if err := h.ask("home", body).Err; !errors.Is(err, broken) || views != 2 {
		t.Errorf("without a store to read from: %v after %d snapshots", err, views)
	}
}

// A query has ten seconds unless configured, of which a retriever gets 60 %; one that
// reranks keeps its caller's limit (docs/contract.md#limit-time).
func TestAQueryIsLimitedInTime(t *testing.T) {
	for configured, limit := range map[time.Duration]time.Duration{
		-1: 10 * time.Second, 0: 10 * time.Second, time.Hour: time.Hour,
	} {
		h := newHouse(t, coretest.Options{}, func(s *query.Settings) { s.Timeout = configured })
		h.write("home", five())
		var deadline time.Time
		var left time.Duration
		h.Embedder.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
			deadline, _ = ctx.Deadline()
			left = time.Until(deadline)
			return nil
		})
		begun := time.Now()
		h.ask("home", object{"query": "two", "mode": "vector"}).OK()
		if share := limit / 10 * 6; left > share || deadline.Before(begun.Add(share)) {
			t.Errorf("%s configured: the model has %s, want 60 %% of %s", configured, left, limit)
		}
		h.ask("home", object{"query": "three", "mode": "vector", "rerank": true}).OK()
		if !deadline.IsZero() {
			t.Errorf("%s configured: the model of a query that reranks has %s", configured, left)
		}
	}
}

// A query that models read only the beginning of is answered, and the answer says so.
func TestACutQueryIsNamed(t *testing.T) {
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker, s.Reranking = coretest.Reranker{}, retrieve.DefaultReranking()
	})
	h.write("home", text("a", "warm bread"), text("b", "cold soup"))
	vector, rerank := object{"part": "vector", "reason": "truncated"}, object{"part": "rerank", "reason": "truncated"}
	for _, c := range []struct {
		words int
		body  object
		want  []object
	}{
		{500, object{"rerank": true}, nil},
		{1000, object{}, []object{vector}},
		{1000, object{"mode": "keyword"}, nil},
		{1000, object{"rerank": true}, []object{vector, rerank}},
		{1000, object{"rerank": true, "mode": "keyword"}, []object{rerank}},
	} {
		c.body["query"] = strings.Repeat("warm ", c.words)
		r := h.ask("home", c.body).OK()
		if fmt.Sprint(r.List("degraded")) != fmt.Sprint(c.want) || len(r.List("results")) == 0 ||
			(r.JSON["model"] != nil) != (c.body["rerank"] != nil) || r.JSON["truncated_candidates"] != 0.0 {
			t.Errorf("%d words, %v: %s", c.words, c.body["rerank"], r.Body)
		}
		c.body["strict"] = true
		if r := h.ask("home", c.body); c.want != nil {
			r.Fails("invalid_request", "query", "strict")
		} else {
			r.OK()
		}
	}
}
