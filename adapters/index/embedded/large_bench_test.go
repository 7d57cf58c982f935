package embedded_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// largeVectors makes vectors of a large collection: those of the file MNEME_BENCH_VECTORS (f32, little-endian,
// benchDim each, of unit length), and when they are used up the same with noise, as near to one another as texts of
// one subject are; without the file those of the generator. The queries are of MNEME_BENCH_QUERIES, or the same kind.
type largeVectors struct {
	*rand.Rand
	stored, asked [][]float32
	made          *generator
	next          int
}

// noise leaves a cosine of about .9 between a vector and what is made of it.
const noise = .48

func newLargeVectors(tb testing.TB) *largeVectors {
	l := &largeVectors{Rand: rand.New(rand.NewPCG(11, 7))}
	if path := os.Getenv("MNEME_BENCH_VECTORS"); path != "" {
		l.stored, l.asked = readVectors(tb, path), readVectors(tb, os.Getenv("MNEME_BENCH_QUERIES"))
		l.Shuffle(len(l.stored), func(i, j int) { l.stored[i], l.stored[j] = l.stored[j], l.stored[i] })
		l.Shuffle(len(l.asked), func(i, j int) { l.asked[i], l.asked[j] = l.asked[j], l.asked[i] })
	} else {
		l.made = newGenerator(tb)
		for range 200 {
			l.asked = append(l.asked, l.made.vector())
		}
	}
	l.asked = l.asked[:min(len(l.asked), 200)]
	return l
}

func readVectors(tb testing.TB, path string) (out [][]float32) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for ; len(data) >= 4*benchDim; data = data[4*benchDim:] {
		v := make([]float32, benchDim)
		for j := range v {
			v[j] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*j:]))
		}
		out = append(out, v)
	}
	return out
}

func (l *largeVectors) vector() []float32 {
	if l.made != nil {
		return l.made.vector()
	}
	base := l.stored[l.next%len(l.stored)]
	if l.next++; l.next <= len(l.stored) {
		return base
	}
	v := make([]float32, benchDim)
	var sum float64
	for i := range v {
		v[i] = base[i] + float32(noise/math.Sqrt(benchDim)*l.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// nearest are the best of a query, by exact products.
type nearest struct {
	k    int
	list []scoredChunk
}

type scoredChunk struct {
	score float32
	chunk int
}

func (n *nearest) offer(score float32, chunk int) {
	if len(n.list) == n.k && score <= n.list[n.k-1].score {
		return
	}
	at, _ := slices.BinarySearchFunc(n.list, score, func(s scoredChunk, score float32) int { return cmp.Compare(score, s.score) })
	n.list = slices.Insert(n.list, at, scoredChunk{score, chunk})
	n.list = n.list[:min(len(n.list), n.k)]
}

// parts are what filters of a large partition keep: one of so many chunks.
var parts = []int{1, 3, 10, 30, 100, 1000}

func isOf(part, chunk int) bool { return chunk*7919%part == 0 }

// ofPart is the filter that keeps one of part chunks; nil: all.
func ofPart(part int) *filter.Filter {
	if part == 1 {
		return nil
	}
	return &filter.Filter{Op: filter.In, Key: "part", Values: []string{strconv.Itoa(part)}}
}

var largeAt = port.Documents("org", "n").At(1)

// openLarge fills a partition with MNEME_BENCH_CHUNKS chunks, a document each with an entry to which facets are added,
// and opens it again as a restarted server does. A benchmark of its own reports what that took.
func openLarge(b *testing.B, entry func(chunk int) port.Entry) *embedded.Index {
	b.Helper()
	chunks := benchChunks
	if s := os.Getenv("MNEME_BENCH_CHUNKS"); s != "" {
		if _, err := fmt.Sscan(s, &chunks); err != nil {
			b.Fatal(err)
		}
	}
	dir := b.TempDir()
	x := open(b, dir)
	const size = 4096
	var applying time.Duration
	for from := 0; from < chunks; from += size {
		batch := port.Batch{After: uint64(from / size), Upto: uint64(from/size + 1)}
		for i := from; i < min(chunks, from+size); i++ {
			e := entry(i)
			for _, part := range parts {
				if isOf(part, i) {
					e.Facets = append(e.Facets, filter.Token("part", strconv.Itoa(part)))
				}
			}
			batch.Changes = append(batch.Changes, port.IndexChange{Document: fmt.Sprintf("%08d", i), Entries: []port.Entry{e}})
		}
		start := time.Now()
		if err := x.Apply(b.Context(), largeAt, batch); err != nil {
			b.Fatal(err)
		}
		applying += time.Since(start)
	}
	applied := time.Now()
	embedded.Settle(x, largeAt)
	settled, files := time.Since(applied), x.Stats().Segments
	rested := time.Now()
	embedded.Compact(x, largeAt)
	compacted := time.Since(rested)
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	closed := time.Now()
	x = open(b, dir)
	if _, err := x.Search(b.Context(), largeAt, port.IndexQuery{Retriever: port.Keyword, Text: "open", Limit: 1}); err != nil {
		b.Fatal(err)
	}
	opened, st := time.Since(closed), x.Stats()
	b.Run("made", func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(files), "files")
		b.ReportMetric(float64(st.Segments), "files-at-rest")
		b.ReportMetric(applying.Seconds(), "apply-s")
		b.ReportMetric(settled.Seconds(), "settle-s")
		b.ReportMetric(compacted.Seconds(), "compact-s")
		b.ReportMetric(1000*opened.Seconds(), "open-ms")
		b.ReportMetric(float64(st.Mapped)/float64(st.Chunks), "disk-B/chunk")
		b.ReportMetric(float64(st.Bytes)/float64(st.Chunks), "memory-B/chunk")
	})
	return x
}

func open(b *testing.B, dir string) *embedded.Index {
	b.Helper()
	x, err := embedded.Open(embedded.Default(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = x.Close() })
	return x
}

// BenchmarkLarge searches chunks without text by vector, and reports how many of
// the exact best are found: the share among the first 10 and the first 100.
func BenchmarkLarge(b *testing.B) {
	k, err := simd.Best()
	if err != nil {
		b.Fatal(err)
	}
	l := newLargeVectors(b)
	best := make([][]nearest, len(parts))
	for i := range best {
		best[i] = slices.Repeat([]nearest{{k: 100}}, len(l.asked))
	}
	x := openLarge(b, func(chunk int) port.Entry {
		v := l.vector()
		for q := range l.asked {
			score := k.Dot(l.asked[q], v)
			for j, part := range parts {
				if isOf(part, chunk) {
					best[j][q].offer(score, chunk)
				}
			}
		}
		return port.Entry{Vector: v}
	})
	for j, part := range parts {
		for _, limit := range []int{10, 100} {
			b.Run(fmt.Sprintf("part%d/top%d", part, limit), func(b *testing.B) {
				var took []time.Duration
				found, wanted := 0, 0
				for b.Loop() {
					q := len(took) % len(l.asked)
					start := time.Now()
					hits, err := x.Search(b.Context(), largeAt, port.IndexQuery{Retriever: port.Vector, Vector: l.asked[q],
						Limit: limit, Filter: ofPart(part)})
					if err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
					want := best[j][q].list[:min(limit, len(best[j][q].list))]
					for _, h := range hits {
						n, _ := strconv.Atoi(h.Document)
						if slices.ContainsFunc(want, func(s scoredChunk) bool { return s.chunk == n }) {
							found++
						}
					}
					wanted += len(want)
				}
				percentiles(b, took)
				b.ReportMetric(float64(found)/float64(wanted), "recall")
			})
		}
	}
}

// BenchmarkLargeWords searches chunks of about 100 words without vectors by keyword.
func BenchmarkLargeWords(b *testing.B) {
	g := newGenerator(b)
	x := openLarge(b, func(int) port.Entry { return port.Entry{Text: g.text()} })
	for _, part := range parts {
		for _, limit := range []int{10, 100} {
			b.Run(fmt.Sprintf("part%d/top%d", part, limit), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					text := g.corpus.questions[len(took)%len(g.corpus.questions)]
					start := time.Now()
					if _, err := x.Search(b.Context(), largeAt, port.IndexQuery{Retriever: port.Keyword, Text: text,
						Limit: limit, Filter: ofPart(part)}); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
				}
				percentiles(b, took)
			})
		}
	}
}
