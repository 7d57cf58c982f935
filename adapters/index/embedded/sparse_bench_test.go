package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/core/port"
)

// BenchmarkSparse searches 50,000 chunks of 128 learned terms with queries of 24.
func BenchmarkSparse(b *testing.B) {
	x, err := embedded.Open(embedded.Default(), b.TempDir(), slog.Default())
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	r := rand.New(rand.NewPCG(4, 4))
	zipf := rand.NewZipf(r, 1.05, 60, 30_000)
	draw := func(n int) ([]uint32, []float32) {
		var terms []uint32
		for range n {
			terms = append(terms, uint32(zipf.Uint64()))
		}
		slices.Sort(terms)
		terms = slices.Compact(terms)
		weights := make([]float32, len(terms))
		for i := range weights {
			weights[i] = float32(math.Min(3, .05+.5*r.ExpFloat64()))
		}
		return terms, weights
	}
	p := port.Documents("org", "n").At(1)
	for seq := range uint64(500) {
		batch := port.Batch{After: seq, Upto: seq + 1}
		for d := range 100 {
			e := port.Entry{}
			e.SparseTerms, e.SparseWeights = draw(128)
			batch.Changes = append(batch.Changes, port.IndexChange{Document: fmt.Sprint(seq, "-", d), Entries: []port.Entry{e}})
		}
		if err := x.Apply(context.Background(), p, batch); err != nil {
			b.Fatal(err)
		}
	}
	for _, limit := range []int{10, 100} {
		b.Run(fmt.Sprint("top", limit), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				q := port.IndexQuery{Retriever: port.SparseTerms, Limit: limit}
				q.SparseTerms, q.SparseWeights = draw(24)
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
