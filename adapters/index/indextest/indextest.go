package indextest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

// Options fit the suite to an adapter.
type Options struct {
	// Reopen closes an index and opens the same data again; nil: the adapter
	// keeps none.
	Reopen func(t testing.TB, x port.Index) port.Index
	// Settle waits until the adapter's background work on the partition is done, so that
	// recall is measured on its final form; nil: there is none.
	Settle func(t testing.TB, x port.Index, p port.Partition)
	// Chunks is the size of the larger tests; 0: 3,000.
	Chunks int
	// RanksOnly is for a port.Ranker, which has an order of its own: of chunks that it
	// ranks equal, any may be cut off by the limit. Every match must still be found,
	// filters and bounds must be exact, and hits must be in order.
	RanksOnly bool
}

// suite is one run.
type suite struct {
	open func(t testing.TB) port.Index
	opts Options
	next atomic.Int64 // generations
}

// Run checks the contract of port.Index. open gives a fresh, empty index that
// open closes at the test's end.
func Run(t *testing.T, open func(t testing.TB) port.Index, opts Options) {
	if opts.Chunks == 0 {
		opts.Chunks = 3000
	}
	s := &suite{open: open, opts: opts}
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Claims", s.claims}, {"Recall", s.recall}, {"RecallUnderFilter", s.recallFiltered},
		{"FilterBeforeTopK", s.filters}, {"TimeBounds", s.times},
		{"Isolation", s.isolation}, {"ApplyIsIdempotent", s.idempotent}, {"ReplaceAndDelete", s.replace}, {"Ties", s.ties},
		{"Explain", s.explain}, {"Spans", s.spans}, {"Languages", s.languages}, {"WordsGivenAgain", s.emphasis},
		{"Drop", s.drop}, {"Cancelled", s.cancelled}, {"BadInput", s.badInput},
		{"SearchIsAtomic", s.atomic}, {"Reopen", s.reopen}, {"Model", s.model},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && strings.HasPrefix(c.name, "Recall") {
				t.Skip("one call after another, and long under the race detector")
			}
			c.run(t)
		})
	}
}

func (s *suite) partition() port.Partition {
	g := s.next.Add(1)
	return port.Documents(ident.Org("org_test"), fmt.Sprint("ns", g)).At(g)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ask(t testing.TB, x port.Index, p port.Partition, q port.IndexQuery) []port.Hit {
	t.Helper()
	h, err := x.Search(t.Context(), p, q)
	if err != nil {
		t.Fatalf("search %s: %v", q.Retriever, err)
	}
	return h
}

func check(t testing.TB, x port.Index, p port.Partition, w world, q port.IndexQuery) {
	t.Helper()
	if d := w.compare(q, ask(t, x, p, q)); d != "" {
		t.Fatalf("%s, limit %d, filter %v: %s", q.Retriever, q.Limit, q.Filter != nil, d)
	}
}

// fill applies n chunks in batches and returns the reference.
func (s *suite) fill(t testing.TB, x port.Index, p port.Partition, seed uint64, n int) world {
	t.Helper()
	return s.fillFrom(t, x, p, newSource(seed), n)
}

// fillHard is fill with vectors that are hard to find, settled.
func (s *suite) fillHard(t testing.TB, x port.Index, p port.Partition, seed uint64) world {
	t.Helper()
	w := s.fillFrom(t, x, p, newHardSource(seed), s.opts.Chunks)
	if s.opts.Settle != nil {
		s.opts.Settle(t, x, p)
	}
	return w
}

func (s *suite) fillFrom(t testing.TB, x port.Index, p port.Partition, src source, n int) world {
	t.Helper()
	w := world{}
	var seq uint64
	for done := 0; done < n; {
		var c []port.IndexChange
		for range 50 {
			e := src.entries(1 + src.IntN(4))
			done += len(e)
			c = append(c, port.IndexChange{Document: fmt.Sprintf("doc-%d", src.IntN(1<<40)), Entries: e})
		}
		must(t, x.Apply(t.Context(), p, port.Batch{After: seq, Upto: seq + 1, Changes: c}))
		seq++
		w = w.apply(c)
	}
	return w
}

func (s *suite) claims(t *testing.T) {
	x := s.open(t)
	p := s.partition()
	w := s.fill(t, x, p, 1, 20)
	must(t, x.Ping(t.Context()))
	for _, r := range x.Retrievers() {
		if ranker, ok := x.(port.Ranker); (ok && ranker.RanksOnly(r)) != s.opts.RanksOnly {
			t.Errorf("%s: the index declares ranks only: %v, the suite is run for %v", r, !s.opts.RanksOnly, s.opts.RanksOnly)
		}
	}
	src := newSource(2)
	for _, r := range []port.Retriever{port.Vector, port.Keyword, port.SparseTerms} {
		q := src.query(r, 5)
		if slices.Contains(x.Retrievers(), r) {
			check(t, x, p, w, q)
		} else if _, err := x.Search(t.Context(), p, q); err == nil {
			t.Errorf("%s is not claimed but answers", r)
		}
	}
	if _, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: "nonsense", Limit: 1}); err == nil {
		t.Error("an unknown retriever answers")
	}
}

func (s *suite) recall(t *testing.T) {
	x, p := s.open(t), s.partition()
	w := s.fillHard(t, x, p, 3)
	for _, r := range x.Retrievers() {
		if r == port.Keyword {
			continue
		}
		src := newHardSource(4)
		found, wanted := 0, 0
		for range 100 {
			q := src.query(r, 10)
			all := w.search(q)
			k := min(10, len(all))
			exact := map[string]bool{}
			for _, m := range all[:k] {
				exact[m.key()] = true
			}
			for _, h := range ask(t, x, p, q) {
				if exact[match{h.Document, h.Chunk, 0}.key()] {
					found++
				}
			}
			wanted += k
		}
		floor := .98
		if r == port.SparseTerms {
			floor = .95 // weights are quantised
		}
		got := float64(found) / float64(wanted)
		t.Logf("%s: recall@10 %.4f", r, got)
		if got < floor {
			t.Errorf("%s: recall@10 %.4f, want at least %.2f", r, got, floor)
		}
	}
}

// recallFiltered holds vector search to 95 % of what exact search finds, however
// little of the partition a filter leaves: a graph that is walked without regard
// to it gives fewer hits than there are, or those of another neighbourhood.
func (s *suite) recallFiltered(t *testing.T) {
	x, p := s.open(t), s.partition()
	if !slices.Contains(x.Retrievers(), port.Vector) {
		t.Skip("no vector retriever")
	}
	w := s.fillHard(t, x, p, 28)
	for _, c := range []struct {
		key    string // "": no filter
		values int
	}{{"", 1}, {"half", 2}, {"tenth", 10}, {"hundredth", 100}, {"thousandth", 1000}} {
		src := newHardSource(29)
		found, wanted := 0, 0
		for range 100 {
			q := src.query(port.Vector, 10)
			if c.key != "" {
				q.Filter = in(c.key, fmt.Sprint(src.IntN(c.values)))
			}
			all := w.search(q)
			k := min(10, len(all))
			exact := map[string]bool{}
			for _, m := range all[:k] {
				exact[m.key()] = true
			}
			hits := ask(t, x, p, q)
			if len(hits) != k {
				t.Fatalf("one in %d allowed: %d hits, want %d", c.values, len(hits), k)
			}
			for _, h := range hits {
				if exact[match{h.Document, h.Chunk, 0}.key()] {
					found++
				}
			}
			wanted += k
		}
		got := float64(found) / float64(wanted)
		t.Logf("one in %d allowed: recall@10 %.4f", c.values, got)
		if got < .95 {
			t.Errorf("one in %d allowed: recall@10 %.4f, want at least .95", c.values, got)
		}
	}
}

func (s *suite) filters(t *testing.T) {
	x, p := s.open(t), s.partition()
	w := s.fill(t, x, p, 5, s.opts.Chunks)
	for _, r := range x.Retrievers() {
		src := newSource(6)
		for _, key := range []string{"thousandth", "hundredth", "tenth", "half"} {
			for i := range 5 {
				for _, limit := range []int{1, 10, 1000} {
					q := src.query(r, limit)
					q.Filter = in(key, fmt.Sprint(i))
					check(t, x, p, w, q)
				}
			}
		}
		q := src.query(r, 10)
		q.Filter = in("tenth", "absent")
		if h := ask(t, x, p, q); len(h) > 0 {
			t.Errorf("%s: a filter that nothing matches gives %d hits", r, len(h))
		}
		for range 30 {
			q := src.query(r, 1+src.IntN(50))
			q.Filter = src.filter()
			check(t, x, p, w, q)
		}
	}
}

func (s *suite) times(t *testing.T) {
	x, p := s.open(t), s.partition()
	w := s.fill(t, x, p, 7, s.opts.Chunks/4)
	for _, r := range x.Retrievers() {
		src := newSource(8)
		for i := range 40 {
			q := src.query(r, 1+src.IntN(1000))
			src.bounds(&q)
			if i%3 == 0 {
				q.Filter = src.filter()
			}
			check(t, x, p, w, q)
		}
	}
	// Bounds are exclusive, and a chunk without time is outside all.
	e := func(at int64) []port.Entry {
		src := newSource(9)
		e := src.entry(0)
		e.Time = at
		return []port.Entry{e}
	}
	p = s.partition()
	must(t, x.Apply(t.Context(), p, port.Batch{Upto: 1, Changes: []port.IndexChange{
		{Document: "none", Entries: e(0)}, {Document: "a", Entries: e(10)}, {Document: "b", Entries: e(11)},
		{Document: "c", Entries: e(12)}}}))
	for _, r := range x.Retrievers() {
		after, before := int64(10), int64(12)
		src := newSource(9)
		same := src.entry(0)
		q := port.IndexQuery{Retriever: r, Text: same.Text, Vector: same.Vector, SparseTerms: same.SparseTerms,
			SparseWeights: same.SparseWeights, After: &after, Before: &before, Limit: 10}
		if h := ask(t, x, p, q); len(h) != 1 || h[0].Document != "b" {
			t.Errorf("%s: (10, 12) gives %v, want b alone", r, h)
		}
	}
}

func (s *suite) isolation(t *testing.T) {
	x := s.open(t)
	// The same names in other organizations, spaces, lives.
	parts := []port.Partition{
		port.Documents("org_a", "n").At(s.next.Add(1)),
		port.Documents("org_b", "n").At(s.next.Add(1)),
		port.Documents("org_a", "n").At(s.next.Add(1)),
		port.Memories("org_a", "i", "n").At(s.next.Add(1)),
		port.Memories("org_a", "j", "n").At(s.next.Add(1)),
	}
	worlds := make([]world, len(parts))
	for i, p := range parts {
		worlds[i] = s.fill(t, x, p, uint64(100+i), 60)
	}
	for i, p := range parts {
		for _, r := range x.Retrievers() {
			src := newSource(10)
			for range 5 {
				check(t, x, p, worlds[i], src.query(r, 1000))
			}
		}
	}
	must(t, x.Drop(t.Context(), parts[0]))
	for _, r := range x.Retrievers() {
		check(t, x, parts[2], worlds[2], newSource(11).query(r, 1000))
	}
	if err := x.Apply(t.Context(), port.Documents("org_a", "n"), port.Batch{Upto: 1}); err == nil {
		t.Error("Apply takes a partition without generation")
	}
}

func (s *suite) idempotent(t *testing.T) {
	x, p := s.open(t), s.partition()
	ctx := t.Context()
	applied := func(want uint64) {
		t.Helper()
		a, err := x.Applied(ctx, p)
		must(t, err)
		d, err := x.Durable(ctx, p)
		must(t, err)
		if a != want || d > a {
			t.Fatalf("applied %d, durable %d; want applied %d and durable at most that", a, d, want)
		}
	}
	applied(0)
	src := newSource(12)
	b := func(after, upto uint64, ids ...string) port.Batch {
		b := port.Batch{After: after, Upto: upto}
		for _, id := range ids {
			b.Changes = append(b.Changes, port.IndexChange{Document: id, Entries: src.entries(2)})
		}
		return b
	}
	if err := x.Apply(ctx, p, b(3, 4, "z")); !errors.Is(err, port.ErrGap) {
		t.Fatalf("a batch after 3 on an empty partition: %v, want ErrGap", err)
	}
	applied(0)
	first := b(0, 3, "a", "b")
	must(t, x.Apply(ctx, p, first))
	applied(3)
	w := world{}.apply(first.Changes)
	must(t, x.Apply(ctx, p, b(0, 3, "a", "c"))) // seen already: nothing happens
	must(t, x.Apply(ctx, p, b(1, 2, "c")))
	applied(3)
	if err := x.Apply(ctx, p, b(4, 5, "d")); !errors.Is(err, port.ErrGap) {
		t.Fatalf("a batch after 4 at 3: %v, want ErrGap", err)
	}
	for _, r := range x.Retrievers() {
		check(t, x, p, w, src.query(r, 100))
	}
	overlap := b(2, 5, "b", "e") // final states up to 5: may begin before 3
	must(t, x.Apply(ctx, p, overlap))
	applied(5)
	w = w.apply(overlap.Changes)
	must(t, x.Apply(ctx, p, port.Batch{After: 5, Upto: 9})) // changes without effect
	applied(9)
	for _, r := range x.Retrievers() {
		check(t, x, p, w, src.query(r, 100))
	}
}

func (s *suite) replace(t *testing.T) {
	x, p := s.open(t), s.partition()
	src, w := newSource(13), world{}
	for seq := range uint64(60) {
		var c []port.IndexChange
		used := map[int]bool{}
		for range 1 + src.IntN(8) {
			id := src.IntN(30)
			if used[id] {
				continue
			}
			used[id] = true
			c = append(c, port.IndexChange{Document: fmt.Sprint("d", id)})
			if src.IntN(3) > 0 {
				c[len(c)-1].Entries = src.entries(1 + src.IntN(5))
			}
		}
		must(t, x.Apply(t.Context(), p, port.Batch{After: seq, Upto: seq + 1, Changes: c}))
		w = w.apply(c)
		for _, r := range x.Retrievers() {
			check(t, x, p, w, src.query(r, 1+src.IntN(200)))
		}
	}
	var c []port.IndexChange
	for i := range 30 {
		c = append(c, port.IndexChange{Document: fmt.Sprint("d", i)})
	}
	must(t, x.Apply(t.Context(), p, port.Batch{After: 60, Upto: 61, Changes: c}))
	for _, r := range x.Retrievers() {
		if h := ask(t, x, p, src.query(r, 10)); len(h) > 0 {
			t.Errorf("%s: %d hits after everything was deleted", r, len(h))
		}
	}
}

func (s *suite) ties(t *testing.T) {
	x, p := s.open(t), s.partition()
	same := newSource(14).entry(0)
	w := world{}
	var seq uint64
	for _, i := range newSource(15).Perm(80) {
		var e []port.Entry
		for c := range 3 {
			e = append(e, same)
			e[c].Chunk = c
		}
		c := []port.IndexChange{{Document: fmt.Sprintf("d%03d", i), Entries: e}}
		must(t, x.Apply(t.Context(), p, port.Batch{After: seq, Upto: seq + 1, Changes: c}))
		w = w.apply(c)
		seq++
	}
	for _, r := range x.Retrievers() {
		for _, limit := range []int{1, 4, 100, 1000} {
			q := port.IndexQuery{Retriever: r, Text: same.Text, Vector: same.Vector, SparseTerms: same.SparseTerms,
				SparseWeights: same.SparseWeights, Limit: limit}
			hits := ask(t, x, p, q)
			if s.opts.RanksOnly && limit < 3*80 {
				if d := w.compare(q, hits); d != "" {
					t.Fatalf("%s, limit %d: %s", r, limit, d)
				}
				continue
			}
			for i, h := range hits {
				if want := fmt.Sprintf("d%03d", i/3); h.Document != want || h.Chunk != i%3 {
					t.Fatalf("%s, limit %d: hit %d of equal ones is %s/%d, want %s/%d", r, limit, i, h.Document,
						h.Chunk, want, i%3)
				}
			}
		}
	}
}

// emphasis: a word that stands twice in a question counts more than one that is as rare.
func (s *suite) emphasis(t *testing.T) {
	x, p := s.open(t), s.partition()
	if !slices.Contains(x.Retrievers(), port.Keyword) {
		t.Skip("no keyword retriever")
	}
	e := newSource(31).entries(12)
	c := make([]port.IndexChange, len(e))
	for i := range e {
		e[i].Text, e[i].Chunk = fmt.Sprintf("reed water bird%d", i), 0
		c[i] = port.IndexChange{Document: fmt.Sprintf("d%02d", i), Entries: e[i : i+1]}
	}
	c[3].Entries[0].Text, c[4].Entries[0].Text = "reed water heron", "reed water egret"
	must(t, x.Apply(t.Context(), p, port.Batch{Upto: 1, Changes: c}))
	for text, want := range map[string]string{"heron egret heron": "d03", "egret heron egret": "d04"} {
		hits := ask(t, x, p, port.IndexQuery{Retriever: port.Keyword, Text: text, Limit: 10})
		if len(hits) != 2 || hits[0].Document != want {
			t.Errorf("%q: %v, want %s first of two", text, hits, want)
		}
	}
}

func (s *suite) explain(t *testing.T) {
	x, p := s.open(t), s.partition()
	if !slices.Contains(x.Retrievers(), port.Keyword) {
		t.Skip("no keyword retriever")
	}
	a, b, c := word(11), word(222), word(333)
	src := newSource(16)
	e := src.entries(2)
	e[0].Text, e[1].Text = a+" "+b, b
	must(t, x.Apply(t.Context(), p, port.Batch{Upto: 1, Changes: []port.IndexChange{{Document: "d", Entries: e}}}))
	hits := ask(t, x, p, port.IndexQuery{Retriever: port.Keyword, Text: title(b) + " " + c + " " + a, Limit: 10, Explain: true})
	if len(hits) != 2 {
		t.Fatalf("%d hits, want 2", len(hits))
	}
	for _, h := range hits {
		want := []string{title(b)}
		if h.Chunk == 0 {
			want = []string{title(b), a}
		}
		if !slices.Equal(h.Terms, want) {
			t.Errorf("chunk %d: terms %q, want %q", h.Chunk, h.Terms, want)
		}
	}
}

func title(w string) string { return string(w[0]-'a'+'A') + w[1:] }

func (s *suite) drop(t *testing.T) {
	x, p := s.open(t), s.partition()
	must(t, x.Drop(t.Context(), p)) // absent
	s.fill(t, x, p, 17, s.opts.Chunks/4)
	must(t, x.Drop(t.Context(), p))
	a, err := x.Applied(t.Context(), p)
	must(t, err)
	if a != 0 {
		t.Errorf("applied is %d after Drop", a)
	}
	for _, r := range x.Retrievers() {
		if h := ask(t, x, p, newSource(18).query(r, 10)); len(h) > 0 {
			t.Errorf("%s: %d hits after Drop", r, len(h))
		}
	}
	if s.opts.Reopen != nil {
		x = s.opts.Reopen(t, x)
		if a, err := x.Applied(t.Context(), p); err != nil || a != 0 {
			t.Errorf("applied is %d (%v) after Drop and reopening", a, err)
		}
	}
}

func (s *suite) cancelled(t *testing.T) {
	x, p := s.open(t), s.partition()
	w := s.fill(t, x, p, 19, 100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range x.Retrievers() {
		if _, err := x.Search(ctx, p, newSource(20).query(r, 10)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", r, err)
		}
		check(t, x, p, w, newSource(20).query(r, 10))
	}
}

func (s *suite) badInput(t *testing.T) {
	x, p := s.open(t), s.partition()
	w := s.fill(t, x, p, 21, 50)
	seq, err := x.Applied(t.Context(), p)
	must(t, err)
	for _, r := range x.Retrievers() {
		q := newSource(22).query(r, 0)
		if _, err := x.Search(t.Context(), p, q); err == nil {
			t.Errorf("%s: limit 0 is taken", r)
		}
	}
	bad := map[string]func(*port.Entry){}
	if slices.Contains(x.Retrievers(), port.Vector) {
		bad["other dimensions"] = func(e *port.Entry) { e.Vector = e.Vector[:dim-1] }
		bad["NaN"] = func(e *port.Entry) { e.Vector[3] = float32(math.NaN()) }
		q := newSource(23).query(port.Vector, 5)
		q.Vector = q.Vector[:dim-1]
		if _, err := x.Search(t.Context(), p, q); err == nil {
			t.Error("a query vector of other dimensions is taken")
		}
	}
	if slices.Contains(x.Retrievers(), port.SparseTerms) {
		bad["unequal sparse lengths"] = func(e *port.Entry) { e.SparseWeights = e.SparseWeights[1:] }
	}
	for name, spoil := range bad {
		e := newSource(24).entries(2)
		spoil(&e[1])
		err := x.Apply(t.Context(), p, port.Batch{After: seq, Upto: seq + 1,
			Changes: []port.IndexChange{{Document: "bad", Entries: e}}})
		if err == nil || errors.Is(err, port.ErrDimensions) != (name == "other dimensions") {
			t.Errorf("an entry with %s: %v", name, err)
		}
	}
	if got, err := x.Applied(t.Context(), p); err != nil || got != seq {
		t.Errorf("applied %d (%v) after refused batches, want %d", got, err, seq)
	}
	for _, r := range x.Retrievers() {
		check(t, x, p, w, newSource(25).query(r, 100))
	}
}

// atomic rewrites all documents at once, over and over, while searches watch:
// every version has its own number of chunks, so a mixture shows.
func (s *suite) atomic(t *testing.T) {
	x, p := s.open(t), s.partition()
	const documents, versions = 6, 60
	base := newSource(26).entry(0)
	batch := func(v uint64) port.Batch {
		b := port.Batch{After: v, Upto: v + 1}
		for d := range documents {
			c := port.IndexChange{Document: fmt.Sprint("d", d)}
			for i := range int(v%5) + 1 {
				e := base
				e.Chunk = i
				c.Entries = append(c.Entries, e)
			}
			b.Changes = append(b.Changes, c)
		}
		return b
	}
	must(t, x.Apply(t.Context(), p, batch(0)))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, r := range x.Retrievers() {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				before, err := x.Applied(context.Background(), p)
				if err != nil {
					t.Error(err)
					return
				}
				h, err := x.Search(context.Background(), p, port.IndexQuery{Retriever: r, Text: base.Text, Vector: base.Vector,
					SparseTerms: base.SparseTerms, SparseWeights: base.SparseWeights, Limit: 100})
				if err != nil {
					t.Error(err)
					return
				}
				after, err := x.Applied(context.Background(), p)
				if err != nil {
					t.Error(err)
					return
				}
				per := map[string]int{}
				for _, hit := range h {
					per[hit.Document]++
				}
				chunks := len(h) / documents
				for d, n := range per {
					if n != chunks || len(per) != documents {
						t.Errorf("%s: a mixture of versions: %s has %d chunks of %d", r, d, n, len(h))
						return
					}
				}
				seen := false
				for v := before; v <= after; v++ {
					seen = seen || int((v-1)%5)+1 == chunks
				}
				if !seen {
					t.Errorf("%s: %d chunks a document are of no version from %d to %d", r, chunks, before, after)
					return
				}
			}
		})
	}
	for v := uint64(1); v < versions; v++ {
		must(t, x.Apply(t.Context(), p, batch(v)))
		time.Sleep(time.Millisecond)
	}
	close(stop)
	wg.Wait()
}

func (s *suite) reopen(t *testing.T) {
	if s.opts.Reopen == nil {
		t.Skip("the adapter keeps no data")
	}
	x, p := s.open(t), s.partition()
	src := newSource(27)
	worlds := []world{{}}
	var log []port.IndexChange
	var at []uint64
	for round := range 4 {
		for range 8 {
			seq := uint64(len(worlds) - 1)
			var c []port.IndexChange
			for _, id := range src.Perm(400)[:25] {
				c = append(c, port.IndexChange{Document: fmt.Sprint("d", id)})
				if src.IntN(4) > 0 {
					c[len(c)-1].Entries = src.entries(1 + src.IntN(3))
				}
			}
			must(t, x.Apply(t.Context(), p, port.Batch{After: seq, Upto: seq + 1, Changes: c}))
			worlds = append(worlds, worlds[seq].apply(c))
			for _, ch := range c {
				log, at = append(log, ch), append(at, seq+1)
			}
		}
		durable, err := x.Durable(t.Context(), p)
		must(t, err)
		x = s.opts.Reopen(t, x)
		seq, err := x.Applied(t.Context(), p)
		must(t, err)
		if seq < durable || seq > uint64(len(worlds)-1) {
			t.Fatalf("round %d: applied is %d after reopening, durable was %d of %d", round, seq, durable, len(worlds)-1)
		}
		for _, r := range x.Retrievers() {
			check(t, x, p, worlds[seq], src.query(r, 200))
		}
		// Replay the rest at once, each document in its final state.
		last := worlds[len(worlds)-1]
		b := port.Batch{After: seq, Upto: uint64(len(worlds) - 1)}
		done := map[string]bool{}
		for i, c := range log {
			if at[i] > seq && !done[c.Document] {
				done[c.Document] = true
				b.Changes = append(b.Changes, port.IndexChange{Document: c.Document, Entries: last[c.Document]})
			}
		}
		must(t, x.Apply(t.Context(), p, b))
		for _, r := range x.Retrievers() {
			for range 5 {
				q := src.query(r, 200)
				q.Filter = src.filter()
				check(t, x, p, last, q)
			}
		}
	}
}

// model drives the index at random and compares every answer with the reference.
func (s *suite) model(t *testing.T) {
	x := s.open(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := s.partition()
		src := newSource(rapid.Uint64().Draw(rt, "seed"))
		history := []world{{}}
		seq := func() uint64 { return uint64(len(history) - 1) }
		now := func() world { return history[len(history)-1] }
		size := rapid.SampledFrom([]int{1, 5, 40}).Draw(rt, "batch")
		rt.Repeat(map[string]func(*rapid.T){
			"apply": func(rt *rapid.T) {
				var c []port.IndexChange
				for _, id := range src.Perm(3 * size)[:1+src.IntN(size)] {
					c = append(c, port.IndexChange{Document: fmt.Sprint("d", id)})
					if src.IntN(4) > 0 {
						c[len(c)-1].Entries = src.entries(1 + src.IntN(3))
					}
				}
				if err := x.Apply(t.Context(), p, port.Batch{After: seq(), Upto: seq() + 1, Changes: c}); err != nil {
					rt.Fatal(err)
				}
				history = append(history, now().apply(c))
			},
			"repeat": func(rt *rapid.T) {
				if err := x.Apply(t.Context(), p,
					port.Batch{After: 0, Upto: seq(), Changes: []port.IndexChange{{Document: "d0"}}}); err != nil {
					rt.Fatal(err)
				}
			},
			"gap": func(rt *rapid.T) {
				err := x.Apply(t.Context(), p, port.Batch{After: seq() + 1, Upto: seq() + 2})
				if !errors.Is(err, port.ErrGap) {
					rt.Fatalf("got %v, want ErrGap", err)
				}
			},
			"": func(rt *rapid.T) {
				a, err := x.Applied(t.Context(), p)
				if err != nil || a != seq() {
					rt.Fatalf("applied %d (%v), want %d", a, err, seq())
				}
				for _, r := range x.Retrievers() {
					q := src.query(r, 1+src.IntN(60))
					q.Filter = src.filter()
					src.bounds(&q)
					h, err := x.Search(t.Context(), p, q)
					if err != nil {
						rt.Fatal(err)
					}
					if d := now().compare(q, h); d != "" {
						rt.Fatalf("%s at %d, limit %d: %s", r, seq(), q.Limit, d)
					}
				}
			},
		})
		if err := x.Drop(t.Context(), p); err != nil {
			rt.Fatal(err)
		}
	})
}
