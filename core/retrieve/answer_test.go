package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// shelf is a store of documents that counts what is read of it.
type shelf struct {
	port.Reader
	documents map[string]port.DocumentHead
	views     int
	texts     []string // documents read with their texts, in order
	metadata  []string // documents read with their metadata
	err       error    // of the next reads
}

func (s *shelf) View(_ context.Context, fn func(port.DocumentReader) error) error {
	s.views++
	return fn(s)
}

func (s *shelf) Documents(_ context.Context, _ port.Partition, ids []string, parts port.Part) ([]port.DocumentHead, error) {
	if s.err != nil {
		return nil, s.err
	}
	var out []port.DocumentHead
	for _, id := range ids {
		d, ok := s.documents[id]
		if !ok {
			continue
		}
		if parts&port.PartText != 0 {
			s.texts = append(s.texts, id)
		} else {
			d.Text = ""
		}
		if parts&port.PartMetadata != 0 {
			s.metadata = append(s.metadata, id)
		} else {
			d.Metadata = nil
		}
		if parts&port.PartChunks == 0 {
			d.Chunks = nil
		}
		out = append(out, d)
	}
	return out, nil
}

// put stores a document of chunks, each under a heading of its own.
func (s *shelf) put(id string, seq uint64, chunks ...string) {
	d := port.Document{ID: id, Text: strings.Join(chunks, " "), Metadata: []byte(fmt.Sprintf(`{"seq":%d}`, seq)), Seq: seq}
	at := 0
	for i, c := range chunks {
		d.Chunks = append(d.Chunks, port.Chunk{Start: at, End: at + len(c), Context: fmt.Sprint("# ", i)})
		at += len(c) + 1
	}
	s.documents[id] = port.DocumentHead{Document: d, ChunkCount: len(chunks)}
}

func newShelf() *shelf {
	s := &shelf{documents: map[string]port.DocumentHead{}}
	s.put("a", 1, "a zero", "a one")
	s.put("b", 2, "b zero", "b one")
	s.put("c", 3, "c zero")
	s.put("d", 4, "d zero")
	return s
}

// answer has candidates "document/chunk", best first, with fused scores from 1 down
// in tenths.
func (s *shelf) answer(chunks ...string) *retrieve.Answer {
	a := &retrieve.Answer{Store: s, Partition: port.Documents("org", "docs").At(1), Log: slog.New(slog.DiscardHandler)}
	for i, at := range chunks {
		c := &retrieve.Candidate{Score: 1 - float64(i)/10, Fused: retrieve.Rank{Rank: i + 1, Score: 1 - float64(i)/10}}
		if _, err := fmt.Sscanf(strings.ReplaceAll(at, "/", " "), "%s %d", &c.Document, &c.Chunk); err != nil {
			panic(err)
		}
		a.Candidates = append(a.Candidates, c)
	}
	return a
}

// all shows everything.
func all(limit int) retrieve.Selection { return retrieve.Selection{Limit: limit, PerDocument: 100} }

// hydrated are the texts shown.
func hydrated(t *testing.T, a *retrieve.Answer, s retrieve.Selection) string {
	t.Helper()
	found, err := a.Hydrate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		d := f.Document
		if want := fmt.Sprintf(`{"seq":%d}`, d.Seq); string(d.Metadata) != want {
			t.Errorf("%s has the metadata %s, want %s", d.ID, d.Metadata, want)
		}
		at := d.Chunks[f.Chunk]
		out = append(out, d.Text[at.Start:at.End])
	}
	return strings.Join(out, ", ")
}

// backwards scores texts the better the later they stand, and keeps them.
func backwards(read *[]string) pairs {
	return func(texts []string) ([]float32, error) {
		*read = texts
		out := make([]float32, len(texts))
		for i := range texts {
			out[i] = float32(i+1) / 100
		}
		return out, nil
	}
}

func TestARerankedAnswerReadsEachTextOnce(t *testing.T) {
	s := newShelf()
	var read []string
	a := s.answer("a/0", "b/1", "a/1", "c/0", "d/0")
	truncated, degraded, err := a.Rerank(t.Context(), retrieve.Rescoring{Reranker: backwards(&read), Query: "q", Depth: 3})
	if err != nil || degraded != nil || truncated != (retrieve.Cut{Texts: 1}) {
		t.Fatalf("rerank: %+v, %v, %v", truncated, degraded, err)
	}
	if want := []string{"# 0\na zero", "# 1\nb one", "# 1\na one"}; !slices.Equal(read, want) {
		t.Errorf("the reranker read %q, want %q", read, want)
	}
	if got := hydrated(t, a, all(3)); got != "a one, b one, a zero" {
		t.Errorf("shown: %s", got)
	}
	if s.views != 2 || !slices.Equal(s.texts, []string{"a", "b"}) || !slices.Equal(s.metadata, []string{"a", "b"}) {
		t.Errorf("%d snapshots, texts read of %v, metadata of %v; want 2, and each of a and b once", s.views, s.texts, s.metadata)
	}
	// What the reranker did not read is read when it is shown.
	s = newShelf()
	a = s.answer("a/0", "b/1", "a/1", "c/0", "d/0")
	if _, _, err := a.Rerank(t.Context(), retrieve.Rescoring{Reranker: backwards(&read), Query: "q", Depth: 2}); err != nil {
		t.Fatal(err)
	}
	if got := hydrated(t, a, all(4)); got != "b one, a zero, a one, c zero" {
		t.Errorf("shown: %s", got)
	}
	if s.views != 2 || !slices.Equal(s.texts, []string{"a", "b", "c"}) {
		t.Errorf("%d snapshots, texts read of %v", s.views, s.texts)
	}
	// Without reranking there is one snapshot.
	s = newShelf()
	if got := hydrated(t, s.answer("a/0", "b/1", "a/1"), all(10)); got != "a zero, b one, a one" || s.views != 1 ||
		!slices.Equal(s.texts, []string{"a", "b"}) {
		t.Errorf("shown %s of %d snapshots, texts read of %v", got, s.views, s.texts)
	}
}

func TestAnAnswerPassesOverWhatChanged(t *testing.T) {
	for _, reranked := range []bool{false, true} {
		s := newShelf()
		a := s.answer("a/0", "b/1", "c/0", "a/1", "d/0", "d/1", "gone/0") // d has no second chunk
		var read []string
		if reranked {
			r := retrieve.Rescoring{Reranker: backwards(&read), Query: "q", Depth: 7, Constants: retrieve.Reranking{}}
			if _, _, err := a.Rerank(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if read[5] != "" || read[6] != "" {
				t.Errorf("a chunk and a document that are gone were scored by %q", read[5:])
			}
			slices.Reverse(a.Candidates) // into the order without a reranker
			s.texts = nil
		}
		delete(s.documents, "c")        // deleted
		s.put("b", 7, "b is one chunk") // rewritten, and the chunk found is gone
		s.put("a", 8, "a new", "a newer")
		if got := hydrated(t, a, all(3)); got != "a new, a newer, d zero" {
			t.Errorf("reranked %v: shown %s", reranked, got)
		}
		if want := []string{"a", "b"}; reranked && !slices.Equal(slices.Sorted(slices.Values(s.texts)), want) {
			t.Errorf("texts read again of %v, want those of rewritten documents alone", s.texts)
		}
	}
}

func TestAnAnswerKeepsToItsSelection(t *testing.T) {
	s := newShelf()
	chunks := []string{"a/0", "a/1", "b/0", "b/1", "c/0", "d/0"}
	for _, c := range []struct {
		name string
		s    retrieve.Selection
		want string
	}{
		{"none", all(0), ""},
		{"one", all(1), "a zero"},
		{"as many as there are", all(6), "a zero, a one, b zero, b one, c zero, d zero"},
		{"more than there are", all(7), "a zero, a one, b zero, b one, c zero, d zero"},
		{"one of each document", retrieve.Selection{Limit: 3, PerDocument: 1}, "a zero, b zero, c zero"},
		{"two of each document", retrieve.Selection{Limit: 5, PerDocument: 2}, "a zero, a one, b zero, b one, c zero"},
		{"eligible", retrieve.Selection{Limit: 3, PerDocument: 9,
			Eligible: func(c *retrieve.Candidate) bool { return c.Chunk == 0 }}, "a zero, b zero, c zero"},
		{"current", retrieve.Selection{Limit: 3, PerDocument: 9,
			Current: func(d port.DocumentHead) (bool, error) { return d.ID != "a" && d.ID != "c", nil }},
			"b zero, b one, d zero"},
	} {
		if got := hydrated(t, s.answer(chunks...), c.s); got != c.want {
			t.Errorf("%s: shown %s, want %s", c.name, got, c.want)
		}
	}
	// A chunk that is gone does not count against its document.
	if got := hydrated(t, s.answer("a/9", "c/0", "a/1"), retrieve.Selection{Limit: 2, PerDocument: 1}); got != "c zero, a one" {
		t.Errorf("shown %s, want another chunk for that which is gone", got)
	}
	if got := hydrated(t, s.answer("c/9", "a/0", "b/0", "c/0"),
		retrieve.Selection{Limit: 3, PerDocument: 1}); got != "a zero, b zero, c zero" {
		t.Errorf("shown %s, want another chunk for that which is gone", got)
	}
	// One that stands in for another is not shown beside more than the limit.
	if got := hydrated(t, s.answer("c/9", "a/0", "b/0", "d/0", "a/1"), all(2)); got != "a zero, b zero" {
		t.Errorf("shown %s, want two", got)
	}
	broken := errors.New("broken")
	if found, err := s.answer(chunks...).Hydrate(t.Context(), retrieve.Selection{
		Limit: 1, PerDocument: 1, Current: func(port.DocumentHead) (bool, error) { return false, broken },
	}); !errors.Is(err, broken) || found != nil {
		t.Errorf("a look that fails: %v, %v", found, err)
	}
}

// A query that the reranker cut is told apart from texts that it cut, and no strict call
// is answered with one.
func TestAnAnswerTellsOfACutQuery(t *testing.T) {
	r := retrieve.Rescoring{Reranker: counting{tokens: 511}, Query: strings.Repeat("q", 511), Depth: 2}
	cut, degraded, err := newShelf().answer("a/0", "b/0").Rerank(t.Context(), r)
	if err != nil || degraded != nil || cut != (retrieve.Cut{Query: true}) {
		t.Errorf("%+v, %v, %v", cut, degraded, err)
	}
	r.Strict = true
	_, degraded, err = newShelf().answer("a/0", "b/0").Rerank(t.Context(), r)
	if fault.CodeOf(err) != fault.InvalidRequest || degraded != nil || !strings.Contains(err.Error(), "the rerank model") {
		t.Errorf("strict: %v, %v", degraded, err)
	}
}

func TestAnAnswerTellsWhyItIsNotReranked(t *testing.T) {
	fails := func(err error) pairs { return func([]string) ([]float32, error) { return nil, err } }
	late := fault.New(fault.Timeout, "late")
	for _, c := range []struct {
		name   string
		r      port.Reranker
		reason string
		code   fault.Code // of a strict call
		wait   time.Duration
	}{
		{"off", nil, retrieve.ModelOff, fault.Unavailable, 0},
		{"late", fails(late), retrieve.TimedOut, fault.Timeout, 0},
		{"broken", fails(errors.New("broken")), retrieve.Failed, fault.Unavailable, 30 * time.Second},
		{"restarting", fails(fault.New(fault.Unavailable, "restarting").After(3 * time.Second)), retrieve.Failed,
			fault.Unavailable, 3 * time.Second},
		{"down", fails(fault.New(fault.Unavailable, "down")), retrieve.Failed, fault.Unavailable, 0},
	} {
		s := newShelf()
		a := s.answer("a/0", "b/0")
		before := *a.Candidates[0]
		truncated, degraded, err := a.Rerank(t.Context(), retrieve.Rescoring{Reranker: c.r, Query: "q", Depth: 2})
		if err != nil || truncated != (retrieve.Cut{}) || degraded == nil ||
			*degraded != (retrieve.Degraded{Part: "rerank", Reason: c.reason}) {
			t.Errorf("%s: %+v, %v, %v", c.name, truncated, degraded, err)
		}
		if got := *a.Candidates[0]; got.Document != before.Document || got.Score != before.Score || got.Reranked != nil {
			t.Errorf("%s changed a candidate: %+v", c.name, got)
		}
		if got := hydrated(t, a, all(2)); got != "a zero, b zero" {
			t.Errorf("%s: shown %s", c.name, got)
		}
		_, degraded, err = newShelf().answer("a/0").Rerank(t.Context(),
			retrieve.Rescoring{Reranker: c.r, Query: "q", Depth: 2, Strict: true})
		if fault.CodeOf(err) != c.code || degraded != nil {
			t.Errorf("%s, strict: %v, %v, want %s", c.name, degraded, err, c.code)
		}
		if wait := fault.From(err).RetryAfter; wait != c.wait {
			t.Errorf("%s, strict: to be asked again in %s", c.name, wait)
		}
	}
	// A caller that left gets its own error and nothing is logged as a failure.
	ctx, cancel := context.WithCancel(t.Context())
	var log strings.Builder
	a := newShelf().answer("a/0")
	a.Log = slog.New(slog.NewTextHandler(&log, nil))
	leaves := pairs(func([]string) ([]float32, error) { cancel(); return nil, errors.New("broken") })
	if _, degraded, err := a.Rerank(ctx,
		retrieve.Rescoring{Reranker: leaves, Query: "q", Depth: 1}); !errors.Is(err, context.Canceled) || degraded != nil {
		t.Errorf("a caller that left: %v, %v", degraded, err)
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
	if _, _, err := a.Rerank(t.Context(), retrieve.Rescoring{Reranker: fails(late), Query: "q", Depth: 1}); err != nil ||
		!strings.Contains(log.String(), "level=WARN") {
		t.Errorf("a reranker that fails: %v, logged %q", err, log.String())
	}
	// Failures of the store are the call's.
	gone := fault.New(fault.PartitionNotFound, "gone")
	s := newShelf()
	a = s.answer("a/0")
	s.err = gone
	var read []string
	if _, _, err := a.Rerank(t.Context(),
		retrieve.Rescoring{Reranker: backwards(&read), Query: "q", Depth: 1}); !errors.Is(err, gone) {
		t.Errorf("rerank without a store: %v", err)
	}
	if found, err := a.Hydrate(t.Context(), all(1)); !errors.Is(err, gone) || found != nil {
		t.Errorf("hydrate without a store: %v, %v", found, err)
	}
	s.err = nil
	if _, _, err := a.Rerank(t.Context(), retrieve.Rescoring{Reranker: backwards(&read), Query: "q", Depth: 1}); err != nil {
		t.Fatal(err)
	}
	s.err = gone // between reranking and reading
	if _, err := a.Hydrate(t.Context(), all(1)); !errors.Is(err, gone) {
		t.Errorf("hydrate without a store: %v", err)
	}
	// No candidates: nothing is read, and the reranker is not called.
	s = newShelf()
	empty := s.answer()
	if _, degraded, err := empty.Rerank(t.Context(),
		retrieve.Rescoring{Reranker: fails(late), Query: "q", Depth: 1}); err != nil || degraded != nil || s.views != 0 {
		t.Errorf("no candidates: %v, %v after %d snapshots", degraded, err, s.views)
	}
	if got := hydrated(t, empty, all(1)); got != "" {
		t.Errorf("no candidates show %s", got)
	}
}

// Ten texts are rescored however long they are; beyond them the bytes count.
func TestRerankingIsBoundedByBytes(t *testing.T) {
	s := newShelf()
	chunks := make([]string, 14)
	for i := range chunks {
		s.put(fmt.Sprint("m", i), 1, "12345")
		chunks[i] = fmt.Sprintf("m%d/0", i)
	}
	for bytes, want := range map[int]int{0: 14, -1: 14, 1: 10, 50: 10, 54: 10, 55: 11, 59: 11, 60: 12, 69: 13, 70: 14, 1000: 14} {
		var read []string
		a := s.answer(chunks...)
		if _, _, err := a.Rerank(t.Context(), retrieve.Rescoring{
			Reranker: backwards(&read),
			Query:    "q",
			Depth:    14,
			Bare:     true,
			MaxBytes: bytes,
		}); err != nil {
			t.Fatal(err)
		}
		if len(read) != want || read[0] != "12345" {
			t.Errorf("%d bytes: %d texts, want %d, the first is %q", bytes, len(read), want, read[0])
		}
	}
}
