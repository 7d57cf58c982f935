package embedded_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/core/port"
)

// Quantised search finds what exact float search finds, for vectors as
// embedding models make them: clustered, in a narrow band of cosines, a few
// components much larger than the rest.
func TestVectorRecall(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
	const n, dim, queries = 20_000, 384, 60
	for name, outlier := range map[string]float64{"even": 1, "outliers": 12} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(6, 6))
			common := make([]float64, dim)
			for i := range common {
				common[i] = 1.6 * r.NormFloat64()
				if i%97 == 0 {
					common[i] *= outlier
				}
			}
			centres := make([][]float64, 300)
			for c := range centres {
				centres[c] = make([]float64, dim)
				for i := range centres[c] {
					centres[c][i] = common[i] + .8*r.NormFloat64()
				}
			}
			vector := func() []float32 {
				c := centres[r.IntN(len(centres))]
				v := make([]float64, dim)
				var sum float64
				for i := range v {
					v[i] = c[i] + .5*r.NormFloat64()
					sum += v[i] * v[i]
				}
				out := make([]float32, dim)
				for i := range out {
					out[i] = float32(v[i] / math.Sqrt(sum))
				}
				return out
			}
			x, err := embedded.Open(embedded.Default(), t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			p := port.Documents("org", "n").At(1)
			vectors := make([][]float32, n)
			for at := 0; at < n; at += 1000 {
				b := port.Batch{After: uint64(at / 1000), Upto: uint64(at/1000 + 1)}
				for i := at; i < at+1000; i++ {
					vectors[i] = vector()
					b.Changes = append(b.Changes,
						port.IndexChange{Document: fmt.Sprintf("%06d", i), Entries: []port.Entry{{Vector: vectors[i]}}})
				}
				if err := x.Apply(context.Background(), p, b); err != nil {
					t.Fatal(err)
				}
			}
			for _, k := range []int{10, 100} {
				found, worst := 0, 0.0
				for range queries {
					q := vector()
					type scored struct {
						id    string
						score float64
					}
					exact := make([]scored, n)
					for i, v := range vectors {
						var dot float64
						for j := range v {
							dot += float64(v[j]) * float64(q[j])
						}
						exact[i] = scored{fmt.Sprintf("%06d", i), dot}
					}
					slices.SortFunc(exact, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
					hits, err := x.Search(context.Background(), p, port.IndexQuery{Retriever: port.Vector, Vector: q, Limit: k})
					if err != nil {
						t.Fatal(err)
					}
					for _, h := range hits {
						if i := slices.IndexFunc(exact[:k], func(s scored) bool { return s.id == h.Document }); i >= 0 {
							found++
							worst = max(worst, math.Abs(exact[i].score-float64(h.Score)))
						}
					}
				}
				recall := float64(found) / float64(queries*k)
				t.Logf("recall@%d %.4f, largest error of a score %.2g", k, recall, worst)
				if recall < .99 || worst > 1e-4 {
					t.Errorf("recall@%d %.4f, largest error of a score %.2g; want at least .99 and at most 1e-4", k,
						recall, worst)
				}
			}
		})
	}
}
