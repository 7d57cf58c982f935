package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/core/port"
)

// spladeLike draws vectors with the shape of a learned-sparse encoder's, as
// measured on passages and questions of seven collections: 109 terms a passage and 35
// a question, whose posting lists hold twice as many entries as there are
// passages.
type spladeLike struct {
	*rand.Rand
	upto []float64 // cumulated frequency by rank
}

func newSpladeLike() spladeLike {
	s := spladeLike{Rand: rand.New(rand.NewPCG(4, 4)), upto: make([]float64, 18_000)}
	sum := 0.0
	for r := range s.upto {
		sum += .5 * math.Pow(1+float64(r)/8, -.6) * math.Exp(-float64(r)/5000)
		s.upto[r] = sum
	}
	return s
}

func (s spladeLike) term() uint32 {
	return uint32(sort.SearchFloat64s(s.upto, s.Float64()*s.upto[len(s.upto)-1]))
}

// vector has about n terms besides those given; weights lie between low and
// low+span, most of them near low.
func (s spladeLike) vector(n int, low, span, bend float64, terms ...uint32) ([]uint32, []float32) {
	for range n {
		terms = append(terms, s.term())
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	weights := make([]float32, len(terms))
	for i := range weights {
		weights[i] = float32(low + span*math.Pow(s.Float64(), bend))
	}
	return terms, weights
}

// BenchmarkSparse searches learned-sparse vectors. idf stands for queries whose
// ten word pieces are weighted by the index.
func BenchmarkSparse(b *testing.B) {
	x, err := embedded.Open(embedded.Default(), b.TempDir(), slog.Default())
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	s := newSpladeLike()
	p := port.Documents("org", "n").At(1)
	var sample [][]uint32
	for seq := range uint64(benchChunks / 1000) {
		batch := port.Batch{After: seq, Upto: seq + 1}
		for d := range 1000 {
			e := port.Entry{}
			e.SparseTerms, e.SparseWeights = s.vector(115, .2, 1.8, 1.7)
			batch.Changes = append(batch.Changes, port.IndexChange{Document: fmt.Sprint(seq, "-", d), Entries: []port.Entry{e}})
			if d < 10 {
				sample = append(sample, e.SparseTerms)
			}
		}
		if err := x.Apply(context.Background(), p, batch); err != nil {
			b.Fatal(err)
		}
	}
	for _, kind := range []string{"encoder", "idf"} {
		for _, limit := range []int{10, 100} {
			b.Run(fmt.Sprintf("%s/top%d", kind, limit), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					q := port.IndexQuery{Retriever: port.SparseTerms, Limit: limit}
					about := sample[s.IntN(len(sample))] // a question shares terms with what answers it
					s.Shuffle(len(about), func(i, j int) { about[i], about[j] = about[j], about[i] })
					if kind == "encoder" {
						q.SparseTerms, q.SparseWeights = s.vector(15, .05, 2.1, 1.8, about[:20]...)
					} else {
						q.SparseTerms, _ = s.vector(2, 0, 0, 1, about[:8]...)
					}
					start := time.Now()
					if _, err := x.Search(context.Background(), p, q); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
				}
				percentiles(b, took)
			})
		}
	}
}
