package embedded

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

func openTest(t testing.TB, dir string, change func(*Config)) *Index {
	t.Helper()
	cfg := Default()
	if change != nil {
		change(&cfg)
	}
	x, err := Open(cfg, dir, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// settle waits until no background work is under way or due.
func settle(x *Index, id port.Partition) {
	for {
		x.jobs.Wait()
		x.mu.Lock()
		p := x.open[id.Generation()]
		x.mu.Unlock()
		if p == nil {
			return
		}
		p.mu.Lock()
		busy := p.flushing || p.merging || p.unverified
		p.mu.Unlock()
		if !busy {
			return
		}
	}
}

// bm25Reference is the formula over all chunks, without an index.
type bm25Reference struct {
	tf     []map[string]float64
	length []float64
	df     map[string]float64
	total  float64
}

func newBM25Reference(t *testing.T, texts []string) *bm25Reference {
	a, err := analysis.New(analysis.Stemmer(Default().Keyword.Stemmer))
	if err != nil {
		t.Fatal(err)
	}
	r := &bm25Reference{df: map[string]float64{}}
	for _, text := range texts {
		tf, length := map[string]float64{}, 0.0
		scan := a.Scanner(func(t analysis.Token) {
			tf[string(t.Term)]++
			if !t.Extra {
				length++
			}
		})
		scan.Scan(port.Wording{Text: text})
		for w := range tf {
			r.df[w]++
		}
		r.tf, r.length, r.total = append(r.tf, tf), append(r.length, length), r.total+length
	}
	return r
}

func (r *bm25Reference) scores(x *Index, query string) []float64 {
	n := float64(len(r.tf))
	k1, b, avg := x.cfg.Keyword.K1, x.cfg.Keyword.B, r.total/n
	out := make([]float64, len(r.tf))
	for _, q := range x.keywordTerms(port.Wording{Text: query}) {
		df := r.df[q.term]
		idf := math.Log(1 + (n-df+.5)/(df+.5))
		for i, tf := range r.tf {
			if f := tf[q.term]; f > 0 {
				out[i] += float64(q.weight) * idf * f * (k1 + 1) / (f + k1*(1-b+b*r.length[i]/avg))
			}
		}
	}
	return out
}

// Every cut into segments gives the scores of the formula and the best chunks
// in order, whatever is pruned.
func TestKeywordRankingIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.05, 3, 5000)
	text := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%dq ", zipf.Uint64())
		}
		return b.String()
	}
	const n = 12_000
	texts := make([]string, n)
	facet := make([]string, n)
	for i := range texts {
		texts[i] = text(5 + r.IntN(60))
		facet[i] = fmt.Sprint(r.IntN(40))
	}
	reference := newBM25Reference(t, texts)
	for name, change := range map[string]func(*Config){
		"head":       nil,
		"files":      func(c *Config) { c.FlushChunks = 700 },
		"long text":  func(c *Config) { c.FlushChunks = 5000; c.Keyword.B = 1 },
		"no length":  func(c *Config) { c.FlushChunks = 5000; c.Keyword.B = 0 },
		"saturation": func(c *Config) { c.FlushChunks = 2000; c.Keyword.K1 = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			x := openTest(t, t.TempDir(), change)
			p := port.Documents("org", "n").At(1)
			for at := 0; at < n; at += 300 {
				b := port.Batch{After: uint64(at / 300), Upto: uint64(at/300 + 1)}
				for i := at; i < at+300; i++ {
					b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("d%05d", i),
						Entries: []port.Entry{{Text: texts[i], Facets: []string{filter.Token("f", facet[i])}}}})
				}
				if err := x.Apply(context.Background(), p, b); err != nil {
					t.Fatal(err)
				}
			}
			settle(x, p)
			for round := range 60 {
				query := text(1 + r.IntN(12))
				q := port.IndexQuery{Retriever: port.Keyword, Text: query, Limit: []int{1, 10, 100, 1000}[round%4]}
				want := ""
				if round%3 == 0 {
					want = fmt.Sprint(r.IntN(40))
					q.Filter = &filter.Filter{Op: filter.In, Key: "f", Values: []string{want}}
				}
				scores := reference.scores(x, query)
				var order []int
				for i, s := range scores {
					if s > 0 && (want == "" || facet[i] == want) {
						order = append(order, i)
					}
				}
				slices.SortFunc(order, func(a, b int) int {
					return cmp.Or(cmp.Compare(float32(scores[b]), float32(scores[a])), cmp.Compare(a, b))
				})
				hits, err := x.Search(context.Background(), p, q)
				if err != nil {
					t.Fatal(err)
				}
				if len(hits) != min(q.Limit, len(order)) {
					t.Fatalf("%q: %d hits, want %d", query, len(hits), min(q.Limit, len(order)))
				}
				for i, h := range hits {
					var doc int
					if _, err := fmt.Sscanf(h.Document, "d%d", &doc); err != nil {
						t.Fatal(err)
					}
					// float32 contributions: equal to about six digits.
					near := func(a, b float64) bool { return math.Abs(a-b) <= 2e-6*math.Abs(b) }
					if !near(float64(h.Score), scores[doc]) || !near(float64(h.Score), scores[order[i]]) {
						t.Fatalf("%q, hit %d: %s scores %v, the formula gives %v; the reference has %v there",
							query, i, h.Document, h.Score, scores[doc], scores[order[i]])
					}
				}
			}
		})
	}
}

// Deleted chunks stop to count for BM25 at once, in memory, in files and after
// a start.
func TestDeletedChunksDoNotCount(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 2000
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 5 + r.IntN(30) {
			fmt.Fprintf(&b, "w%dq ", r.IntN(8)*r.IntN(50))
		}
		texts[i] = b.String()
	}
	var kept []string
	var ids []string
	for i := range texts {
		if i%5 != 2 {
			kept, ids = append(kept, texts[i]), append(ids, fmt.Sprintf("d%05d", i))
		}
	}
	reference := newBM25Reference(t, kept)
	for name, change := range map[string]func(*Config){
		"head":  nil,
		"files": func(c *Config) { c.FlushChunks = 300 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			x := openTest(t, dir, change)
			p := port.Documents("org", "n").At(1)
			seq := uint64(0)
			apply := func(changes ...port.IndexChange) {
				t.Helper()
				if err := x.Apply(context.Background(), p, port.Batch{After: seq, Upto: seq + 1, Changes: changes}); err != nil {
					t.Fatal(err)
				}
				seq++
			}
			for at := 0; at < n; at += 50 {
				var b []port.IndexChange
				for i := at; i < at+50; i++ {
					b = append(b, port.IndexChange{Document: fmt.Sprintf("d%05d", i), Entries: []port.Entry{{Text: texts[i]}}})
				}
				apply(b...)
			}
			settle(x, p)
			for i := 2; i < n; i += 5 {
				apply(port.IndexChange{Document: fmt.Sprintf("d%05d", i)})
			}
			check := func(t *testing.T) {
				t.Helper()
				for _, query := range []string{"w0q", "w7q w3q", "w343q", "w12q w0q w5q"} {
					scores := reference.scores(x, query)
					hits, err := x.Search(context.Background(), p,
						port.IndexQuery{Retriever: port.Keyword, Text: query, Limit: n})
					if err != nil {
						t.Fatal(err)
					}
					found := 0
					for _, s := range scores {
						if s > 0 {
							found++
						}
					}
					if len(hits) != found {
						t.Errorf("%q finds %d, want %d", query, len(hits), found)
					}
					for _, h := range hits {
						at, ok := slices.BinarySearch(ids, h.Document)
						if !ok || math.Abs(float64(h.Score)-scores[at]) > 2e-6*scores[at] {
							t.Fatalf("%q: %s (live: %v) scores %v, want %v", query, h.Document, ok, h.Score, scores[at])
						}
					}
				}
			}
			check(t)
			settle(x, p)
			check(t)
			if change == nil {
				return
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			x = openTest(t, dir, change)
			at, err := x.Applied(context.Background(), p)
			if err != nil || at == 0 {
				t.Fatalf("opened again at %d: %v", at, err)
			}
			for i := 2; i < n; i += 5 { // what was not written to a file
				if seq := uint64(n/50 + (i-2)/5 + 1); seq > at {
					b := port.Batch{After: seq - 1, Upto: seq, Changes: []port.IndexChange{{Document: fmt.Sprintf("d%05d", i)}}}
					if err := x.Apply(context.Background(), p, b); err != nil {
						t.Fatal(err)
					}
				}
			}
			check(t)
		})
	}
}
