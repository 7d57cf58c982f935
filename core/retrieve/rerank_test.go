package retrieve_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// candidates are in fused order with these scores.
func candidates(fused ...float64) []*retrieve.Candidate {
	out := make([]*retrieve.Candidate, len(fused))
	for i, s := range fused {
		out[i] = &retrieve.Candidate{Document: fmt.Sprintf("%03d", i), Score: s, Fused: retrieve.Rank{Rank: i + 1, Score: s}}
	}
	return out
}

func TestReorderMixesLogOdds(t *testing.T) {
	// Fused scores 1, .5, 0 lie at z = ±1.2247 and 0.
	z := math.Sqrt(1.5)
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	for _, c := range []struct {
		name   string
		prior  float64
		fused  []float64
		p      []float32
		order  string
		scores []float64
		ranks  []int // of the pairs alone, in the order shown
	}{
		{"the reranker alone", 0, []float64{1, .5, 0}, []float32{.25, .5, .75}, "002 001 000", []float64{.75, .5, .25}, []int{1, 2, 3}},
		{"a prior turns a close pair", .5, []float64{1, .5, 0}, []float32{.5, .25, .6}, "000 002 001",
			[]float64{sigmoid(.5 * z), sigmoid(logit(.6) - .5*z), .25}, []int{2, 1, 3}},
		{"but not a clear one", .5, []float64{1, .5, 0}, []float32{.1, .5, .9}, "002 001 000",
			[]float64{sigmoid(logit(.9) - .5*z), .5, sigmoid(logit(.1) + .5*z)}, []int{1, 2, 3}},
		{"equal fused scores say nothing", .5, []float64{.7, .7}, []float32{.25, .75}, "001 000", []float64{.75, .25}, []int{1, 2}},
		{"certainty is kept finite", 0, []float64{1, .5}, []float32{0, 1}, "001 000", []float64{1 - 1e-6, 1e-6}, []int{1, 2}},
		{"equal in all: by id", .5, []float64{.5, .5}, []float32{.5, .5}, "000 001", []float64{.5, .5}, []int{1, 2}},
		{"one candidate", .5, []float64{.9}, []float32{.75}, "000", []float64{.75}, []int{1}},
		{"the rest stays behind", 0, []float64{1, .9, .8, .4}, []float32{.25, .5}, "001 000 002 003", []float64{.5, .25, .25 * .8, .25 * .4}, []int{1, 2}},
		{"scores above 1 and below 0 in the rest", 0, []float64{20, 10, 5, -1}, []float32{.5}, "000 001 002 003", []float64{.5, .25, .125, 0}, []int{1}},
		{"nothing scored", .5, []float64{1, .5}, nil, "000 001", []float64{1, .5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := candidates(c.fused...)
			retrieve.Reranking{Prior: c.prior}.Reorder(got, c.p)
			var order []string
			for i, k := range got {
				order = append(order, k.Document)
				if i < len(c.scores) && math.Abs(k.Score-c.scores[i]) > 1e-6 {
					t.Errorf("place %d has the score %v, want %v", i+1, k.Score, c.scores[i])
				}
				if scored := i < len(c.ranks); scored != (k.Reranked != nil) || scored && k.Reranked.Rank != c.ranks[i] {
					t.Errorf("place %d: %+v, want rank %v", i+1, k.Reranked, c.ranks)
				}
			}
			if s := strings.Join(order, " "); s != c.order {
				t.Errorf("order %s, want %s", s, c.order)
			}
		})
	}
}

// Whatever goes in, nothing is lost, scores lie in 0-1 and fall, and a pair's
// own probability is kept beside.
func TestReorderHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fused := rapid.SliceOfN(rapid.Float64Range(-1, 50), 1, 60).Draw(t, "fused")
		slices.SortFunc(fused, func(a, b float64) int { return cmp.Compare(b, a) })
		p := rapid.SliceOfN(rapid.Float32Range(0, 1), 0, len(fused)).Draw(t, "p")
		c := candidates(fused...)
		retrieve.Reranking{Prior: rapid.Float64Range(0, 5).Draw(t, "prior")}.Reorder(c, p)
		seen := map[string]bool{}
		for i, k := range c {
			seen[k.Document] = true
			if len(p) > 0 && !(k.Score >= 0 && k.Score <= 1 && (i == 0 || k.Score <= c[i-1].Score)) {
				t.Fatalf("place %d: score %v", i+1, k.Score)
			}
			if scored := k.Fused.Rank <= len(p); scored != (k.Reranked != nil) || scored && k.Reranked.Score != float64(p[k.Fused.Rank-1]) {
				t.Fatalf("place %d: %+v", i+1, k)
			}
		}
		if len(seen) != len(fused) {
			t.Fatalf("%d candidates of %d", len(seen), len(fused))
		}
	})
}

func TestRerankingCount(t *testing.T) {
	r := retrieve.DefaultReranking()
	for _, c := range []struct{ topK, asked, want int }{{1, 0, 2}, {10, 0, 20}, {20, 0, 40}, {100, 0, 40}, {10, 5, 5}, {1, 100, 100}} {
		if got := r.Count(c.topK, c.asked); got != c.want {
			t.Errorf("top_k %d, depth %d: %d rescored, want %d", c.topK, c.asked, got, c.want)
		}
	}
}

// pairs is a reranker that answers as told.
type pairs func(texts []string) ([]float32, error)

func (pairs) Info() port.ModelInfo { return port.ModelInfo{ID: "pairs"} }
func (pairs) Close() error         { return nil }
func (p pairs) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	s, err := p(texts)
	return s, 1, err
}

func TestScoreTakesOnlyProbabilities(t *testing.T) {
	nan := float32(math.NaN())
	for name, p := range map[string]pairs{
		"error":    func([]string) ([]float32, error) { return nil, errors.New("broken") },
		"panic":    func([]string) ([]float32, error) { panic("broken") },
		"short":    func([]string) ([]float32, error) { return []float32{.5}, nil },
		"long":     func([]string) ([]float32, error) { return []float32{.5, .5, .5}, nil },
		"NaN":      func([]string) ([]float32, error) { return []float32{.5, nan}, nil },
		"negative": func([]string) ([]float32, error) { return []float32{.5, -.1}, nil },
		"above 1":  func([]string) ([]float32, error) { return []float32{.5, 1.1}, nil },
	} {
		if got, cut, err := retrieve.Score(t.Context(), p, "q", []string{"a", "b"}); err == nil || got != nil || cut != 0 {
			t.Errorf("%s: %v, %d, %v", name, got, cut, err)
		}
	}
	got, cut, err := retrieve.Score(t.Context(), pairs(func([]string) ([]float32, error) { return []float32{0, 1}, nil }), "q", []string{"a", "b"})
	if err != nil || !slices.Equal(got, []float32{0, 1}) || cut != 1 {
		t.Errorf("%v, %d, %v", got, cut, err)
	}
	if got, _, err := retrieve.Score(t.Context(), pairs(func([]string) ([]float32, error) { panic("called") }), "q", nil); err != nil || len(got) != 0 {
		t.Errorf("of no texts: %v, %v", got, err)
	}
}
