package embedded_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/indextest/collection"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// The benchmarks use one partition of benchChunks chunks of about 100 words:
// sentences of the evaluation corpora mixed at random, and their questions; made-up
// Zipfian text where the corpora are absent. Vectors are unit vectors around
// 2,000 centres with a common part, so that cosines lie in a narrow high band.
const (
	benchChunks = 100_000
	benchDim    = 384
)

type corpus struct {
	sentences, questions []string
	real                 bool
}

func readCorpus(tb testing.TB) corpus {
	var c corpus
	c.sentences, c.questions = collection.Sentences(tb)
	if c.real = len(c.sentences) > 0; c.real {
		return c
	}
	r := rand.New(rand.NewPCG(1, 1))
	z := rand.NewZipf(r, 1.1, 4, 200_000)
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%d ", z.Uint64())
		}
		return b.String()
	}
	for range 50_000 {
		c.sentences = append(c.sentences, words(20))
	}
	for range 300 {
		c.questions = append(c.questions, words(10))
	}
	return c
}

type generator struct {
	*rand.Rand
	corpus  corpus
	centres [][]float32
}

func newGenerator(tb testing.TB) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(3, 9)), corpus: readCorpus(tb)}
	common := make([]float32, benchDim)
	for i := range common {
		common[i] = float32(g.NormFloat64())
	}
	for range 2000 {
		c := make([]float32, benchDim)
		for i := range c {
			c[i] = 1.6*common[i] + float32(.8*g.NormFloat64())
		}
		g.centres = append(g.centres, c)
	}
	return g
}

func (g *generator) vector() []float32 {
	c := g.centres[g.IntN(len(g.centres))]
	v := make([]float32, benchDim)
	var sum float64
	for i := range v {
		v[i] = c[i] + float32(.6*g.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func (g *generator) text() string {
	var b strings.Builder
	for words := 0; words < 90; {
		s := g.corpus.sentences[g.IntN(len(g.corpus.sentences))]
		words += strings.Count(s, " ") + 1
		b.WriteString(s)
	}
	return b.String()
}

func (g *generator) entry(chunk int) port.Entry {
	return port.Entry{Chunk: chunk, Text: g.text(), Vector: g.vector(), Time: int64(1 + g.IntN(1<<40)), Facets: []string{
		filter.Token("tenth", fmt.Sprint(g.IntN(10))), filter.Token("hundredth", fmt.Sprint(g.IntN(100))),
		filter.Token("thousandth", fmt.Sprint(g.IntN(1000))), filter.Token("url", fmt.Sprint(g.Uint64()))}}
}

func (g *generator) batch(after uint64, documents, chunks int) port.Batch {
	b := port.Batch{After: after, Upto: after + 1}
	for d := range documents {
		c := port.IndexChange{Document: fmt.Sprintf("document-%d-%d", after, d)}
		for i := range chunks {
			c.Entries = append(c.Entries, g.entry(i))
		}
		b.Changes = append(b.Changes, c)
	}
	return b
}

// fixture is built once for all benchmarks.
type fixture struct {
	dir    string
	g      *generator
	ingest time.Duration
	at     port.Partition
}

var buildFixture = sync.OnceValues(func() (*fixture, error) {
	dir, err := os.MkdirTemp("", "mneme-index-bench")
	if err != nil {
		return nil, err
	}
	return &fixture{dir: dir, at: port.Documents("org_bench", "n").At(1)}, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if f, err := buildFixture(); err == nil {
		_ = os.RemoveAll(f.dir)
	}
	os.Exit(code)
}

// bench opens the index of the benchmarks.
func bench(b *testing.B) (*fixture, *embedded.Index) {
	f, err := buildFixture()
	if err != nil {
		b.Fatal(err)
	}
	x := open(b, f.dir)
	if f.g == nil {
		f.g = newGenerator(b)
		for seq := range uint64(benchChunks / 100) {
			batch := f.g.batch(seq, 25, 4)
			start := time.Now()
			if err := x.Apply(context.Background(), f.at, batch); err != nil {
				b.Fatal(err)
			}
			f.ingest += time.Since(start)
		}
		// Close writes what is left; then open as a restarted server does.
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		return bench(b)
	}
	if n, err := x.Applied(context.Background(), f.at); err != nil || n != benchChunks/100 {
		b.Fatalf("applied %d, %v", n, err)
	}
	return f, x
}

func percentiles(b *testing.B, took []time.Duration) {
	slices.SortFunc(took, cmp.Compare)
	b.ReportMetric(float64(took[len(took)/10].Microseconds())/1000, "p10-ms") // near what an idle machine gives
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

func BenchmarkSearch(b *testing.B) {
	f, x := bench(b)
	filters := []struct {
		name string
		f    *filter.Filter
	}{
		{"all", nil},
		{"tenth", &filter.Filter{Op: filter.In, Key: "tenth", Values: []string{"3"}}},
		{"hundredth", &filter.Filter{Op: filter.In, Key: "hundredth", Values: []string{"3"}}},
		{"thousandth", &filter.Filter{Op: filter.In, Key: "thousandth", Values: []string{"3"}}},
	}
	for _, r := range []port.Retriever{port.Vector, port.Keyword} {
		for _, fl := range filters {
			for _, limit := range []int{10, 100} {
				b.Run(fmt.Sprintf("%s/%s/top%d", r, fl.name, limit), func(b *testing.B) {
					var took []time.Duration
					for b.Loop() {
						q := port.IndexQuery{Retriever: r, Limit: limit, Filter: fl.f}
						if r == port.Vector {
							q.Vector = f.g.vector()
						} else {
							q.Text = f.g.corpus.questions[f.g.IntN(len(f.g.corpus.questions))]
						}
						start := time.Now()
						if _, err := x.Search(context.Background(), f.at, q); err != nil {
							b.Fatal(err)
						}
						took = append(took, time.Since(start))
					}
					percentiles(b, took)
				})
			}
		}
	}
}

func BenchmarkOpenCold(b *testing.B) {
	f, x := bench(b)
	st := x.Stats()
	for b.Loop() {
		b.StopTimer()
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		var err error
		if x, err = embedded.Open(embedded.Default(), f.dir, slog.Default()); err != nil {
			b.Fatal(err)
		}
		if _, err := x.Search(context.Background(), f.at,
			port.IndexQuery{Retriever: port.Keyword, Text: "open", Limit: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() { _ = x.Close() })
	b.ReportMetric(float64(st.Mapped)/float64(st.Chunks), "B/chunk")
	b.ReportMetric(float64(st.Segments), "segments")
	b.ReportMetric(float64(st.Chunks)/f.ingest.Seconds(), "ingest-chunks/s")
}

// BenchmarkApply applies batches of 100 chunks and reports chunks a second.
func BenchmarkApply(b *testing.B) {
	for _, size := range []int{1, 25} {
		b.Run(fmt.Sprintf("%d-documents", size), func(b *testing.B) {
			x, err := embedded.Open(embedded.Default(), b.TempDir(), slog.Default())
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			f, err := buildFixture()
			if err != nil {
				b.Fatal(err)
			}
			if f.g == nil {
				f.g = newGenerator(b)
			}
			at := port.Documents("org", "n").At(2)
			seq := uint64(0)
			for b.Loop() {
				b.StopTimer()
				batch := f.g.batch(seq, size, 4)
				b.StartTimer()
				if err := x.Apply(context.Background(), at, batch); err != nil {
					b.Fatal(err)
				}
				seq++
			}
			b.ReportMetric(float64(b.N*size*4)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
}

// BenchmarkTinyPartitions fills partitions of 50 chunks, searches each and lets
// the budget evict them.
func BenchmarkTinyPartitions(b *testing.B) {
	cfg := embedded.Default()
	cfg.MemoryMB = 64
	x, err := embedded.Open(cfg, b.TempDir(), slog.Default())
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	g := newGenerator(b)
	batch := g.batch(0, 50, 1)
	q := port.IndexQuery{Retriever: port.Keyword, Text: g.corpus.questions[0], Limit: 10}
	v := port.IndexQuery{Retriever: port.Vector, Vector: g.vector(), Limit: 10}
	gen := int64(0)
	var search time.Duration
	for b.Loop() {
		gen++
		p := port.Memories("org", "i", fmt.Sprint(gen)).At(gen)
		if err := x.Apply(context.Background(), p, batch); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := x.Search(context.Background(), p, q); err != nil {
			b.Fatal(err)
		}
		if _, err := x.Search(context.Background(), p, v); err != nil {
			b.Fatal(err)
		}
		search += time.Since(start)
	}
	st := x.Stats()
	b.ReportMetric(float64(st.Bytes)/float64(max(st.Partitions, 1)), "B/partition")
	b.ReportMetric(float64(search.Microseconds())/float64(b.N), "search-us")
	b.ReportMetric(float64(st.Evictions)/float64(b.N), "evicted")
}
