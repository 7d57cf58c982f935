package retrieve_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// collection is one namespace with a learned-sparse index, over a real store and index.
type collection struct {
	*coretest.Fixture
	t   *testing.T
	p   port.Partition // pinned
	seq uint64
	log *journal

	mu    sync.Mutex
	asked map[port.Retriever]port.IndexQuery // last, by retriever
}

// journal is a log that is read while others write it.
type journal struct {
	mu   sync.Mutex
	text []byte
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = append(j.text, line...)
	return len(line), nil
}

// take gives what was written since the last call.
func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	text := string(j.text)
	j.text = nil
	return text
}

// collect stores texts as documents "a", "b" and so on, of one chunk each.
func collect(t *testing.T, texts ...string) *collection {
	t.Helper()
	c := &collection{t: t, log: &journal{}, asked: map[port.Retriever]port.IndexQuery{}}
	c.Fixture = coretest.New(t, coretest.Options{Sparse: &coretest.SparseEncoder{},
		Log: slog.New(slog.NewTextHandler(c.log, nil))})
	ctx := t.Context()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := c.Encoders.Configured().Encode(ctx, chunk.Untitled(texts...), true, make([]ingest.Reuse, len(texts)))
	must(err)
	now := c.Now()
	var docs []port.DocumentWrite
	for i, text := range texts {
		docs = append(docs, port.DocumentWrite{
			Document: port.Document{
				ID:        string(rune('a' + i)),
				Text:      text,
				TextHash:  sha256.Sum256([]byte(text)),
				Chunks:    encoded[i].Chunks,
				CreatedAt: now,
				UpdatedAt: now,
			},
			Vectors: encoded[i].Vectors,
		})
	}
	must(c.Store.Update(ctx, func(w port.Writer) error {
		org, err := w.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		c.p = port.Documents(org.ID, "docs")
		row, err := w.CreatePartition(ctx, c.p,
			c.Models.WithConfiguredModels(port.PartitionRow{Name: "docs", Sparse: true}))
		c.p = c.p.At(row.Generation)
		return err
	}))
	must(c.Changes.Write(ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return tx.Put(ctx, c.p, now, docs) }))
	c.seq, err = c.Index.Applied(ctx, c.p)
	must(err)
	c.watch(nil)
	return c
}

// watch notes what indexes are asked, and fails where fail does; nil: nowhere.
func (c *collection) watch(fail func(context.Context, port.Retriever) error) {
	c.Index.OnSearch.Set(func(ctx context.Context, _ port.Partition, q port.IndexQuery) error {
		c.mu.Lock()
		c.asked[q.Retriever] = q
		c.mu.Unlock()
		if fail == nil {
			return nil
		}
		return fail(ctx, q.Retriever)
	})
}

// request asks for "warm bread" by retrievers.
func (c *collection) request(by ...port.Retriever) retrieve.Request {
	return retrieve.Request{Query: "warm bread", Models: c.Encoders.Configured(), Retrievers: by, Depth: 10}
}

func (c *collection) search(q retrieve.Request) (retrieve.Result, error) {
	return c.Searcher.Search(c.t.Context(), c.p, c.seq, q)
}

// must is search where nothing may fail.
func (c *collection) must(q retrieve.Request) []*retrieve.Candidate {
	c.t.Helper()
	got, err := c.search(q)
	if err != nil || len(got.Degraded) > 0 {
		c.t.Fatalf("search: %v, degraded %v", err, got.Degraded)
	}
	return got.Candidates
}

// breads are texts by how many words of "warm bread" they have.
var breads = []string{"cold water", "warm soup", "warm bread"}

var (
	everyRetriever  = []port.Retriever{port.Vector, port.Keyword, port.SparseTerms}
	vectorAndBM25   = []port.Retriever{port.Vector, port.Keyword}
	errBroken       = errors.New("broken")
	errOfTheRequest = fault.New(fault.InvalidFilter, "not so")
)

// A single retriever's scores are shown as they are, and its order.
func TestASingleRetrieverKeepsItsScores(t *testing.T) {
	c := collect(t, breads...)
	for _, r := range everyRetriever {
		got := c.must(c.request(r))
		hits, err := c.Index.Search(t.Context(), c.p, c.asked[r])
		if err != nil || len(hits) < 2 || len(got) != len(hits) {
			t.Fatalf("%s: %d candidates of %d hits, %v", r, len(got), len(hits), err)
		}
		if c.asked[r].Limit != 10 {
			t.Errorf("%s: %d hits asked for, want 10", r, c.asked[r].Limit)
		}
		for i, h := range hits {
			k, score := got[i], float64(h.Score)
			if in := k.Ranks[r]; k.Document != h.Document || k.Score != score || k.Fused.Rank != i+1 || k.Fused.Score != score ||
				len(k.Ranks) != 1 || in.Rank != i+1 || in.Score != score || !slices.Equal(in.Terms, h.Terms) {
				t.Errorf("%s: place %d is %+v, want %+v", r, i+1, k, h)
			}
		}
		if got[0].Document != "c" || got[1].Document != "b" {
			t.Errorf("%s: %s and %s stand first", r, got[0].Document, got[1].Document)
		}
	}
}

// Several retrievers are asked for as many hits as their statistics are taken over, or
// more, and fused (docs/contract.md#query-fusion).
func TestSeveralRetrieversAreFused(t *testing.T) {
	c := collect(t, breads...)
	for depth, want := range map[int]int{10: 100, 100: 100, 150: 150} {
		q := c.request(everyRetriever...)
		q.Depth = depth
		got := c.must(q)
		var lists []retrieve.List
		for _, r := range everyRetriever {
			if c.asked[r].Limit != want {
				t.Errorf("depth %d: %s is asked for %d hits, want %d", depth, r, c.asked[r].Limit, want)
			}
			hits, err := c.Index.Search(t.Context(), c.p, c.asked[r])
			if err != nil {
				t.Fatal(err)
			}
			lists = append(lists, retrieve.List{Retriever: r, Hits: hits})
		}
		fused := retrieve.DefaultFusion().Fuse(lists, nil)
		if len(got) != 3 || !slices.EqualFunc(got, fused, func(a, b *retrieve.Candidate) bool {
			return a.Document == b.Document && a.Score == b.Score
		}) {
			t.Errorf("depth %d: candidates %+v, want those of the fusion", depth, got)
		}
		if ids(got) != "cba" || got[0].Score != 1 {
			t.Errorf("depth %d: %s, the first with %v", depth, ids(got), got[0].Score)
		}
	}
	q := c.request(vectorAndBM25...)
	q.Weights = map[port.Retriever]float64{port.Vector: 0, port.Keyword: 1}
	if got := c.must(q); got[2].Document != "a" || got[2].Score != 0 {
		t.Errorf("keywords alone by weight: %s with %v stands last", got[2].Document, got[2].Score)
	}
}

// What a search is restricted to reaches each index, with the query as it reads it.
func TestAnIndexIsAskedInItsOwnTerms(t *testing.T) {
	c := collect(t, breads...)
	q := c.request(everyRetriever...)
	f, err := filter.Parse([]byte(`{"kind":"note"}`))
	if err != nil {
		t.Fatal(err)
	}
	after, before := int64(3), int64(7)
	q.Filter, q.After, q.Before, q.Explain = f, &after, &before, true
	c.must(q)
	embedded, err := c.Embedder.Embed(t.Context(), port.Query, []string{q.Query})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := (&coretest.SparseEncoder{}).Encode(t.Context(), port.Query, []string{q.Query})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range everyRetriever {
		got := c.asked[r]
		if got.Filter != f || got.After != &after || got.Before != &before || !got.Explain {
			t.Errorf("%s is asked %+v", r, got)
		}
		if text := got.Text != ""; text != (r == port.Keyword) || text && got.Text != q.Query {
			t.Errorf("%s is asked for the text %q", r, got.Text)
		}
		if (got.Vector != nil) != (r == port.Vector) || r == port.Vector && !slices.Equal(got.Vector, embedded.Row(0)) {
			t.Errorf("%s is asked for the vector %v", r, got.Vector)
		}
		if (got.SparseTerms != nil) != (r == port.SparseTerms) || r == port.SparseTerms &&
			!(slices.Equal(got.SparseTerms, encoded.Terms) && slices.Equal(got.SparseWeights, encoded.Weights)) {
			t.Errorf("%s is asked for the terms %v with %v", r, got.SparseTerms, got.SparseWeights)
		}
	}
}

// One failed retriever of several is named; the only one, a strict call's and all
// together fail the search (docs/contract.md#query-degraded).
func TestASearchDegradesOrFails(t *testing.T) {
	c := collect(t, breads...)
	fails := func(err error) func() error { return func() error { return err } }
	gaveUp := fmt.Errorf("ask: %w", context.DeadlineExceeded)
	for _, k := range []struct {
		name   string
		fail   func() error
		reason string
		code   fault.Code
		wait   time.Duration
		logged bool
	}{
		{"broken", fails(errBroken), retrieve.Failed, fault.Unavailable, time.Second, true},
		{"panic", func() error { panic("boom") }, retrieve.Failed, fault.Unavailable, time.Second, true},
		{"late", fails(fault.New(fault.Timeout, "late")), retrieve.TimedOut, fault.Timeout, 0, true},
		{"its time ended", fails(gaveUp), retrieve.TimedOut, fault.Timeout, 0, true},
		{"its time ended in a fault", fails(fault.Wrap(fault.Unavailable, "ask", gaveUp, "gone")), retrieve.TimedOut,
			fault.Timeout, 0, true},
		{"canceled on its own", fails(context.Canceled), retrieve.Failed, fault.Unavailable, time.Second, true},
		{"off", fails(fault.Off("off")), retrieve.ModelOff, fault.Unavailable, 0, false},
		{"not to come back", fails(fault.New(fault.Unavailable, "down")), retrieve.Failed, fault.Unavailable, 0, true},
		{"to come back", fails(fault.New(fault.Unavailable, "restarting").After(7 * time.Second)), retrieve.Failed,
			fault.Unavailable, 7 * time.Second, true},
	} {
		t.Run(k.name, func(t *testing.T) {
			c.log.take()
			c.watch(func(_ context.Context, r port.Retriever) error {
				if r == port.Keyword {
					return k.fail()
				}
				return nil
			})
			got, err := c.search(c.request(vectorAndBM25...))
			want := []retrieve.Degraded{{Part: "keyword", Reason: k.reason}}
			if err != nil || !slices.Equal(got.Degraded, want) || ids(got.Candidates) != "cba" {
				t.Errorf("one of two: %s, degraded %v, %v", ids(got.Candidates), got.Degraded, err)
			}
			if log := c.log.take(); strings.Contains(log, "retriever failed") != k.logged {
				t.Errorf("logged %q", log)
			}
			strict := c.request(vectorAndBM25...)
			strict.Strict = true
			for name, q := range map[string]retrieve.Request{"strict": strict, "alone": c.request(port.Keyword)} {
				got, err := c.search(q)
				if fault.CodeOf(err) != k.code || fault.From(err).RetryAfter != k.wait || len(got.Candidates) > 0 ||
					!strings.Contains(err.Error(), "keyword") {
					t.Errorf("%s: %v after %s, want %s after %s", name, err, fault.From(err).RetryAfter, k.code, k.wait)
				}
			}
			c.watch(func(context.Context, port.Retriever) error { return k.fail() })
			if _, err = c.search(c.request(vectorAndBM25...)); fault.CodeOf(err) != k.code ||
				!strings.Contains(err.Error(), "every retriever") {
				t.Errorf("all fail: %v, want %s", err, k.code)
			}
		})
	}
	// What is wrong with the request is wrong with all of it.
	c.watch(func(context.Context, port.Retriever) error { return errOfTheRequest })
	if _, err := c.search(c.request(vectorAndBM25...)); !errors.Is(err, errOfTheRequest) {
		t.Errorf("a filter that the index refuses: %v", err)
	}
	// A caller that leaves gets its own error.
	ctx, cancel := context.WithCancel(t.Context())
	c.watch(func(context.Context, port.Retriever) error { cancel(); return nil })
	if got, err := c.Searcher.Search(ctx, c.p, c.seq, c.request(port.Keyword)); !errors.Is(err, context.Canceled) ||
		len(got.Candidates) > 0 {
		t.Errorf("a caller that left: %v", err)
	}
	// An index that does not know how far it is can't be asked.
	c.watch(nil)
	c.Searcher.Indexes[port.Keyword] = lost{c.Index}
	if _, err := c.search(c.request(port.Keyword)); !errors.Is(err, errBroken) {
		t.Errorf("an index that is lost: %v", err)
	}
}

// lost is an index that can't tell how far it is.
type lost struct{ port.Index }

func (lost) Applied(context.Context, port.Partition) (uint64, error) { return 0, errBroken }

// A retriever that is not configured, or whose model is not, is off.
func TestRetrieversThatAreOff(t *testing.T) {
	c := collect(t, breads...)
	bare := &ingest.Encoder{}
	for _, r := range everyRetriever {
		q := c.request(r)
		if r != port.Keyword {
			q.Models = bare
			if _, err := c.search(q); !fault.IsOff(err) {
				t.Errorf("%s without a model: %v", r, err)
			}
		}
		delete(c.Searcher.Indexes, r)
		if _, err := c.search(c.request(r)); !fault.IsOff(err) || !strings.Contains(err.Error(), string(r)) {
			t.Errorf("%s without an index: %v", r, err)
		}
	}
	if _, ok := c.Searcher.Spans(port.Wording{Text: "warm"}, port.Wording{Text: "warm bread"}); ok {
		t.Error("no index highlights")
	}
}

func TestSpansAreOfTheKeywordIndex(t *testing.T) {
	c := collect(t, breads...)
	got, ok := c.Searcher.Spans(port.Wording{Text: "warm bread"}, port.Wording{Text: "the bread is warm"})
	if want := []port.Span{{Start: 4, End: 9}, {Start: 13, End: 17}}; !ok || !slices.Equal(got, want) {
		t.Errorf("spans %v, %v, want %v", got, ok, want)
	}
}

// Each retriever has 60 % of the time that is left when it begins, so that an answer
// can still go out without it.
func TestARetrieverHasItsShareOfTheTime(t *testing.T) {
	c := collect(t, breads...)
	var deadline time.Time
	var left time.Duration
	c.watch(func(ctx context.Context, _ port.Retriever) error {
		deadline, _ = ctx.Deadline()
		left = time.Until(deadline)
		return nil
	})
	c.must(c.request(port.Keyword))
	if !deadline.IsZero() {
		t.Errorf("without a limit a retriever has %s", left)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := c.Searcher.Search(ctx, c.p, c.seq, c.request(port.Keyword)); err != nil {
		t.Fatal(err)
	}
	if left > 36*time.Minute || deadline.Before(begun.Add(36*time.Minute)) {
		t.Errorf("of an hour a retriever has %s", left)
	}
}

// An index that a memory budget evicts in the midst of a search is brought up again,
// eight times at most.
func TestAnEvictedIndexIsBroughtUpAgain(t *testing.T) {
	c := collect(t, breads...)
	for gaps, found := range map[int]bool{1: true, 8: true, 9: false} {
		searches := 0
		c.watch(func(context.Context, port.Retriever) error {
			if searches++; searches <= gaps {
				return fmt.Errorf("search: %w", port.ErrGap)
			}
			return nil
		})
		got, err := c.search(c.request(port.Keyword))
		if found && (err != nil || ids(got.Candidates) != "cb" || searches != gaps+1) ||
			!found && (!errors.Is(err, port.ErrGap) || searches != 9) {
			t.Errorf("evicted %d times: %s after %d searches, %v", gaps, ids(got.Candidates), searches, err)
		}
	}
	searches := 0
	c.watch(func(context.Context, port.Retriever) error { searches++; return errBroken })
	if _, err := c.search(c.request(port.Keyword)); !errors.Is(err, errBroken) || searches != 1 {
		t.Errorf("another failure: %v after %d searches", err, searches)
	}
}

// Spread changes each retriever's list before it is fused, and fails as the retriever.
// A model that read only the beginning of the query took part, and the answer says so;
// a strict call is refused, as no waiting helps (docs/contract.md#query-degraded).
func TestAQueryBeyondTheWindowIsNamed(t *testing.T) {
	c := collect(t, breads...)
	long := func(n int, by ...port.Retriever) retrieve.Request {
		q := c.request(by...)
		q.Query = strings.Repeat("warm ", n)
		return q
	}
	cut := func(parts ...string) (out []retrieve.Degraded) {
		for _, p := range parts {
			out = append(out, retrieve.Degraded{Part: p, Reason: retrieve.Truncated})
		}
		return out
	}
	for _, r := range []struct {
		q    retrieve.Request
		want []retrieve.Degraded
	}{
		{long(511, everyRetriever...), nil},
		{long(512, everyRetriever...), cut("vector", "sparse")},
		{long(600, everyRetriever...), cut("vector", "sparse")},
		{long(600, port.Vector), cut("vector")},
		{long(600, port.Keyword), nil},
	} {
		for range 2 { // the second time its encoding is kept
			got, err := c.search(r.q)
			if err != nil || !slices.Equal(got.Degraded, r.want) || len(got.Candidates) == 0 {
				t.Errorf("%d characters by %v: degraded %v, want %v, %d hits, %v", len(r.q.Query), r.q.Retrievers, got.Degraded,
					r.want, len(got.Candidates), err)
			}
		}
		r.q.Strict = true
		_, err := c.search(r.q)
		if (err == nil) != (r.want == nil) || err != nil && (fault.CodeOf(err) != fault.InvalidRequest ||
			!strings.Contains(err.Error(), "query: is longer than the "+r.want[0].Part+" model reads")) {
			t.Errorf("%d characters by %v, strict: %v", len(r.q.Query), r.q.Retrievers, err)
		}
	}
}

func TestAListMayBeSpread(t *testing.T) {
	c := collect(t, breads...)
	q := c.request(vectorAndBM25...)
	q.Spread = func(_ context.Context, l retrieve.List) (retrieve.List, error) {
		if l.Retriever == port.Keyword {
			l.Hits = []port.Hit{{Document: "z", Score: 9}}
		}
		return l, nil
	}
	if got := c.must(q); place(got, "z") == 0 || got[place(got, "z")-1].Ranks[port.Keyword].Rank != 1 {
		t.Errorf("the list is as it was: %s", ids(got))
	}
	q.Spread = func(_ context.Context, l retrieve.List) (retrieve.List, error) {
		if l.Retriever == port.Keyword {
			return retrieve.List{}, errBroken
		}
		return l, nil
	}
	if got, err := c.search(q); err != nil || len(got.Degraded) != 1 || ids(got.Candidates) != "cba" {
		t.Errorf("a list that can't be spread: %s, degraded %v, %v", ids(got.Candidates), got.Degraded, err)
	}
	// A list that was not found is not spread.
	c.watch(func(context.Context, port.Retriever) error { return errBroken })
	q.Spread = func(context.Context, retrieve.List) (retrieve.List, error) { return retrieve.List{}, nil }
	if _, err := c.search(q); !errors.Is(err, errBroken) {
		t.Errorf("no list at all: %v", err)
	}
}

// The encodings of the last queries are kept: asked again they cost no model run.
func TestQueryEncodingsAreKept(t *testing.T) {
	c := collect(t, breads...)
	another := coretest.NewEmbedder()
	another.Digest = "sha256:another"
	for _, k := range []struct {
		kept    int
		queries string
		want    string // R: the model ran
	}{
		{2, "a a b a", "R-R-"},
		{2, "a b a c a b", "RR-R-R"}, // that of b is the oldest
		{1, "a b b a", "RR-R"},
		{0, "a a", "RR"},
		{-1, "a a", "RR"},
	} {
		s := retrieve.NewSearcher(*c.Searcher, k.kept)
		got := ""
		for _, query := range strings.Fields(k.queries) {
			before := c.Embedder.Queries()
			q := c.request(port.Vector)
			q.Query = query
			if _, err := s.Search(t.Context(), c.p, c.seq, q); err != nil {
				t.Fatal(err)
			}
			got += map[int]string{0: "-", 1: "R"}[c.Embedder.Queries()-before]
		}
		if got != k.want {
			t.Errorf("%d kept, %s: %s, want %s", k.kept, k.queries, got, k.want)
		}
		if hits, misses := s.CacheUse(); hits != int64(strings.Count(got, "-")) || misses != int64(strings.Count(got, "R")) {
			t.Errorf("%s is told as %d and %d", got, hits, misses)
		}
	}
	// Another model's are others, and failures are not kept.
	q := c.request(port.Vector)
	c.must(q)
	q.Models = &ingest.Encoder{Embedder: another}
	c.must(q)
	if another.Queries() != 1 {
		t.Errorf("another model embedded %d queries", another.Queries())
	}
	q.Query = "never asked"
	another.Before.Set(func(context.Context, port.TextKind, []string) error { return errBroken })
	if _, err := c.search(q); !errors.Is(err, errBroken) {
		t.Errorf("a model that fails: %v", err)
	}
	another.Before.Clear()
	c.must(q)
}

// How fast a query is answered must not tell whether another organization, or another
// integration whose memories are searched, has asked it; another namespace or end user of
// the same one is served the same encoding.
func TestQueryEncodingsAreOfOneTenant(t *testing.T) {
	c := collect(t, breads...)
	mine, other := c.p.Org(), ident.Org("org_another")
	encoded := 0
	sparse := &coretest.SparseEncoder{}
	sparse.Before.Set(func(context.Context) error { encoded++; return nil })
	q := c.request(port.Vector, port.SparseTerms)
	q.Models = &ingest.Encoder{Embedder: c.Embedder, Sparse: sparse}
	asked := func(p port.Partition) string {
		before := c.Embedder.Queries()
		encoded = 0
		// What is found is of no interest here: not all of these partitions are there.
		_, _ = c.Searcher.Search(t.Context(), p, 0, q)
		return fmt.Sprint(c.Embedder.Queries()-before, encoded)
	}
	for i, k := range []struct {
		p    port.Partition
		want string
	}{
		{c.p, "1 1"},
		{c.p, "0 0"},
		{port.Documents(mine, "notes"), "0 0"},
		{port.Documents(other, "docs"), "1 1"},
		{port.Memories(mine, "int_1", "ann"), "1 1"},
		{port.Memories(mine, "int_1", "bob"), "0 0"},
		{port.Memories(mine, "int_2", "ann"), "1 1"},
		{port.Memories(other, "int_1", "ann"), "1 1"},
		{c.p, "0 0"},
	} {
		if got := asked(k.p.At(int64(i + 1))); got != k.want {
			t.Errorf("%d, %s: dense and sparse ran %s times, want %s", i, k.p, got, k.want)
		}
	}
}

// pieces is a learned-sparse model that gives the word pieces of a text and of the
// empty one as told, with the digest of the embedding model.
type pieces struct {
	coretest.SparseEncoder
	text, frame []uint32
	err         error
	more        bool // answers for a text that was not asked for
}

func (p *pieces) Info() port.ModelInfo {
	i := p.SparseEncoder.Info()
	i.Digest = coretest.NewEmbedder().Digest
	return i
}

func (p *pieces) TokenIDs(_ context.Context, _ port.TextKind, texts []string) ([][]uint32, error) {
	var out [][]uint32
	for _, t := range texts {
		ids := p.text
		if t == "" {
			ids = p.frame
		}
		out = append(out, slices.Clone(ids))
	}
	if p.more {
		out = append(out, nil)
	}
	return out, p.err
}

// A query of idf is its distinct word pieces, without what the model puts around every
// text.
func TestQueriesOfWordPieces(t *testing.T) {
	c := collect(t, breads...)
	s := *c.Searcher
	s.SparseQueries = retrieve.IDFQueries
	ask := func(m port.SparseEncoder, by ...port.Retriever) error {
		q := c.request(by...)
		q.Strict, q.Models = true, &ingest.Encoder{Embedder: c.Embedder, Sparse: m}
		_, err := retrieve.NewSearcher(s, 16).Search(t.Context(), c.p, c.seq, q)
		return err
	}
	for _, k := range []struct{ frame, text, want []uint32 }{
		{[]uint32{1, 2}, []uint32{1, 7, 5, 7, 2}, []uint32{5, 7}},
		{[]uint32{1, 2}, []uint32{1, 2}, nil},
		{nil, []uint32{7, 5, 7}, []uint32{5, 7}},
		{[]uint32{1}, []uint32{1, 5}, []uint32{5}},
		{[]uint32{2}, []uint32{5, 2}, []uint32{5}},
		{[]uint32{1, 1}, []uint32{1, 5, 1}, []uint32{5}},
		{[]uint32{1, 2, 3}, []uint32{1, 5, 2, 3}, []uint32{5}},
		{[]uint32{1, 2, 3}, []uint32{1, 2, 5, 3}, []uint32{5}},
		{[]uint32{1, 2}, []uint32{1, 2, 2}, []uint32{2}},
		{[]uint32{1, 2}, []uint32{1, 5}, []uint32{5}}, // cut at the window
		{[]uint32{1, 2}, []uint32{1}, nil},
		{[]uint32{1, 2, 3}, []uint32{1, 3}, nil},
		{[]uint32{1, 2}, nil, nil},
		{[]uint32{1, 2}, []uint32{8, 9}, []uint32{8, 9}},
	} {
		if err := ask(&pieces{frame: k.frame, text: k.text}, port.SparseTerms); err != nil {
			t.Errorf("%v in %v: %v", k.text, k.frame, err)
		}
		got := c.asked[port.SparseTerms]
		if !slices.Equal(got.SparseTerms, k.want) || got.SparseWeights != nil {
			t.Errorf("%v in %v: asked for %v with %v, want %v", k.text, k.frame, got.SparseTerms, got.SparseWeights, k.want)
		}
	}
	// One model may stand in both roles: the encodings are two.
	if err := ask(&pieces{text: []uint32{5}}, everyRetriever...); err != nil {
		t.Errorf("a vector and word pieces of one model: %v", err)
	}
	for name, m := range map[string]port.SparseEncoder{
		"does not give word pieces":             &coretest.SparseEncoder{},
		"broken":                                &pieces{err: errBroken},
		"gave the word pieces of 3 texts for 2": &pieces{more: true},
	} {
		if err := ask(m, port.SparseTerms); fault.CodeOf(err) != fault.Unavailable ||
			!strings.Contains(errors.Unwrap(err).Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// By the encoder, which has the word pieces as well.
	s.SparseQueries = ""
	if err := ask(&pieces{}, port.SparseTerms); err != nil || len(c.asked[port.SparseTerms].SparseWeights) != 2 {
		t.Errorf("asked for %+v, %v", c.asked[port.SparseTerms], err)
	}
	broken := &pieces{}
	broken.Before.Set(func(context.Context) error { return errBroken })
	if err := ask(broken, port.SparseTerms); !errors.Is(err, errBroken) {
		t.Errorf("an encoder that fails: %v", err)
	}
}

// Scores of an index that only ranks are fused by their ranks: 1 / (10 + rank).
func TestRanksAreFusedAsRanks(t *testing.T) {
	c := collect(t, breads...)
	c.Searcher.Indexes[port.Keyword] = ranker{c.Index}
	if !c.Searcher.RanksOnly(port.Keyword) || c.Searcher.RanksOnly(port.Vector) {
		t.Error("the keyword index alone only ranks")
	}
	q := c.request(vectorAndBM25...)
	q.Weights = map[port.Retriever]float64{port.Vector: 0, port.Keyword: 1}
	got := c.must(q)
	if ids(got) != "cba" || math.Abs(got[1].Score-11./12) > 1e-9 {
		t.Errorf("%s, the second with %v, want 11/12", ids(got), got[1].Score)
	}
}

// ranker is an index whose keyword scores only rank.
type ranker struct{ port.Index }

func (ranker) RanksOnly(r port.Retriever) bool { return r == port.Keyword }
