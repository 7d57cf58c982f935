package embedded

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// Over windows of chunks, with terms left out where they can't lift a chunk into the answer, a search gives the scores
// and the order of all sums taken one by one.
func TestPruningLosesNothing(t *testing.T) {
	const n, rest = 2*window + 500, 300
	x := openTest(t, t.TempDir(), nil)
	r := rand.New(rand.NewPCG(6, 1))
	word := func() string { return fmt.Sprintf("w%dq", int(150*r.Float64()*r.Float64()*r.Float64())) }
	changes := make([]port.IndexChange, n+rest)
	counts := make([]map[string]uint32, len(changes))
	for i := range changes {
		counts[i] = map[string]uint32{}
		words := slices.Repeat([]string{word()}, 1+r.IntN(3))
		for range r.IntN(7) {
			words = append(words, word())
		}
		for _, w := range words {
			counts[i][w]++
		}
		facet := "most"
		if i%23 == 0 {
			facet = "few"
		}
		first := uint32(r.IntN(30))
		changes[i] = port.IndexChange{Document: fmt.Sprintf("%06d", i), Entries: []port.Entry{{
			Text: strings.Join(words, " "), Facets: []string{filter.Token("f", facet)},
			SparseTerms: []uint32{first, first + 1 + uint32(r.IntN(40))}, SparseWeights: []float32{3 * r.Float32(), r.Float32()},
		}}}
	}
	s := &snapshot{live: len(changes)}
	for _, part := range [][]port.IndexChange{changes[:n], changes[n:]} {
		b := x.builders.Get().(*builder)
		seg, err := b.build(part, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.segs = append(s.segs, segView{segment: seg, alive: seg.chunks})
		s.words += seg.words
	}
	avg := float32(s.words) / float32(s.live)
	for round := range 90 {
		q := port.IndexQuery{Retriever: port.Keyword, Limit: []int{1, 7, 80, 20_000}[round%4]}
		facet := ""
		if round%3 == 0 {
			facet = []string{"few", "most"}[round%2]
			q.Filter = &filter.Filter{Op: filter.In, Key: "f", Values: []string{facet}}
		}
		score := make([]float64, len(changes))
		if round%5 < 3 {
			words := []string{word()}
			for range r.IntN(6) {
				words = append(words, word())
			}
			q.Text = strings.Join(words, " ")
			for _, term := range x.keywordTerms(q.Wording()) {
				df := 0
				for _, c := range counts {
					if c[term.term] > 0 {
						df++
					}
				}
				weight := term.weight * idf(df, s.live)
				for i, c := range counts {
					m := keywordImpacts(s.segs[i/n].segment, x.rank, avg)
					if tf := c[term.term]; tf > 0 {
						score[i] += float64(bm25(weight*(x.rank.k1+1), float32(tf), m.flat, m.slope,
							s.segs[i/n].segment.length[i%n]))
					}
				}
			}
		} else {
			q.Retriever = port.SparseTerms
			weights := map[uint32]float32{}
			for range 1 + r.IntN(5) {
				weights[uint32(r.IntN(70))] = r.Float32() + .01
			}
			q.SparseTerms = slices.Sorted(maps.Keys(weights))
			for _, k := range q.SparseTerms {
				df := 0
				for _, c := range changes {
					if slices.Contains(c.Entries[0].SparseTerms, k) {
						df++
					}
				}
				if round%5 == 3 {
					q.SparseWeights = append(q.SparseWeights, weights[k])
				} else if df > 0 {
					weights[k] = float32(math.Log(1 + float64(s.live)/float64(df)))
				}
				for i, c := range changes {
					if j := slices.Index(c.Entries[0].SparseTerms, k); j >= 0 {
						score[i] += float64(weights[k] * x.weights[weightCode(c.Entries[0].SparseWeights[j])])
					}
				}
			}
		}
		var order []int
		for i, sum := range score {
			if sum > 0 && (facet == "" || facet == "few" == (i%23 == 0)) {
				order = append(order, i)
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(float32(score[b]), float32(score[a])), cmp.Compare(a, b))
		})
		order = order[:min(len(order), q.Limit)]
		hits, err := x.search(context.Background(), s, q)
		if err != nil || len(hits) != len(order) {
			t.Fatalf("round %d: %d hits, %v; want %d", round, len(hits), err, len(order))
		}
		for i, h := range hits {
			if want := fmt.Sprintf("%06d", order[i]); h.Document != want || h.Score != float32(score[order[i]]) {
				t.Fatalf("round %d, hit %d: %s scores %v, want %s with %v", round, i, h.Document, h.Score, want,
					float32(score[order[i]]))
			}
		}
	}
}
