package opensearch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// Beyond exact_chunks the graph is walked: it finds what comparing all vectors finds, under
// filters too.
func TestGraph(t *testing.T) {
	opensearchtest.Part(t)
	s := settings(t)
	exact := open(t, s)
	s.Vector.ExactChunks = 0
	graph := open(t, s)
	const chunks, dimensions = 2000, 32
	src := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v, sum := make([]float32, dimensions), 0.0
		for i := range v {
			v[i] = float32(src.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	for seq := range uint64(4) {
		b := port.Batch{After: seq, Upto: seq + 1}
		for i := range chunks / 4 {
			b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("%d-%d", seq, i), Entries: []port.Entry{{
				Vector: vector(),
				Facets: []string{filter.Token("tenth", fmt.Sprint(i%10)), filter.Token("hundredth", fmt.Sprint(i%100))}}}})
		}
		must(t, exact.Apply(t.Context(), part(1), b))
	}
	for _, f := range []*filter.Filter{nil, {Op: filter.In, Key: "tenth", Values: []string{"3"}},
		{Op: filter.In, Key: "hundredth", Values: []string{"42"}}} {
		found, wanted := 0, 0
		for range 30 {
			q := port.IndexQuery{Retriever: port.Vector, Vector: vector(), Filter: f, Limit: 10}
			want, err := exact.Search(t.Context(), part(1), q)
			must(t, err)
			got, err := graph.Search(t.Context(), part(1), q)
			must(t, err)
			if len(got) != len(want) {
				t.Fatalf("filter %v: %d hits, want %d", f, len(got), len(want))
			}
			in := map[string]float32{}
			for _, h := range want {
				in[h.Document] = h.Score
			}
			for _, h := range got {
				if score, ok := in[h.Document]; ok {
					found++
					if math.Abs(float64(score-h.Score)) > 1e-3 {
						t.Errorf("%s scores %v by the graph and %v by comparing", h.Document, h.Score, score)
					}
				}
			}
			wanted += len(want)
		}
		got := float64(found) / float64(wanted)
		t.Logf("filter %v: recall@10 %.3f", f, got)
		if got < .95 {
			t.Errorf("filter %v: recall@10 %.3f, want at least .95", f, got)
		}
	}
}
