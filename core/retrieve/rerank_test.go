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

	"github.com/mnemehq/mneme/adapters/coretest"
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

func TestReorder(t *testing.T) {
	for _, c := range []struct {
		name   string
		fused  []float64
		p      []float32
		order  string
		scores []float64
		ranks  []int // of the pairs alone, in the order shown
	}{
		{"the reranker alone", []float64{1, .5, 0}, []float32{.25, .5, .75}, "002 001 000", []float64{.75, .5, .25},
			[]int{1, 2, 3}},
		{"certainty is kept finite", []float64{1, .5}, []float32{0, 1}, "001 000", []float64{1 - 1e-6, 1e-6}, []int{1, 2}},
		{"equal in all: by id", []float64{.5, .5}, []float32{.5, .5}, "000 001", []float64{.5, .5}, []int{1, 2}},
		{"one candidate", []float64{.9}, []float32{.75}, "000", []float64{.75}, []int{1}},
		{"the rest stays behind", []float64{1, .9, .8, .4}, []float32{.25, .5}, "001 000 002 003",
			[]float64{.5, .25, .25 * .8, .25 * .4}, []int{1, 2}},
		{"scores above 1 and below 0 in the rest", []float64{20, 10, 5, -1}, []float32{.5}, "000 001 002 003",
			[]float64{.5, .25, .125, 0}, []int{1}},
		{"nothing scored", []float64{1, .5}, nil, "000 001", []float64{1, .5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := candidates(c.fused...)
			retrieve.Reranking{Floor: 1}.Reorder(got, c.p) // without a prior there is no floor either
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

// ten are ten candidates whose fused scores fall evenly.
func ten() []*retrieve.Candidate { return candidates(1, .9, .8, .7, .6, .5, .4, .3, .2, .1) }

// place is where a document stands, from 1.
func place(c []*retrieve.Candidate, document string) int {
	return 1 + slices.IndexFunc(c, func(k *retrieve.Candidate) bool { return k.Document == document })
}

func TestReorderMixes(t *testing.T) {
	mixed := retrieve.Reranking{Prior: 1.5, Floor: .65}
	// One text that the reranker is sure of rises from the end to the middle, and
	// the others, which it tells apart at the bottom only, keep their order.
	c := ten()
	mixed.Reorder(c, []float32{.002, .001, .003, .001, .002, .004, .001, .002, .001, .9})
	if at := place(c, "009"); at > 6 {
		t.Errorf("the sure one stands at %d", at)
	}
	rest := slices.DeleteFunc(slices.Clone(c), func(k *retrieve.Candidate) bool { return k.Document == "009" })
	for i, k := range rest {
		if k.Document != fmt.Sprintf("%03d", i) {
			t.Errorf("place %d of the rest is %s", i+1, k.Document)
		}
	}
	// The scale of the reranker's log-odds does not matter to the order.
	power := func(p []float32, by float64) []float32 {
		out := make([]float32, len(p))
		for i, v := range p {
			x := math.Pow(float64(v/(1-v)), by)
			out[i] = float32(x / (1 + x))
		}
		return out
	}
	p := []float32{.3, .5, .2, .6, .1, .7, .4, .2, .8, .35}
	a, b := ten(), ten()
	mixed.Reorder(a, p)
	mixed.Reorder(b, power(p, 2))
	for i := range a {
		if a[i].Document != b[i].Document {
			t.Errorf("place %d: %s, with twice the log-odds %s", i+1, a[i].Document, b[i].Document)
		}
	}
	// Probabilities that are all equal leave the fused order, and the scores fall.
	c = ten()
	mixed.Reorder(c, []float32{.2, .2, .2, .2, .2, .2, .2, .2, .2, .2})
	for i, k := range c {
		if k.Document != fmt.Sprintf("%03d", i) || math.Abs(k.Score-.2) > .001 {
			t.Errorf("place %d: %s with %v", i+1, k.Document, k.Score)
		}
	}
	// Of two candidates the reranker decides: their fused scores say little.
	c = candidates(1, 0)
	mixed.Reorder(c, []float32{.2, .8})
	if c[0].Document != "001" {
		t.Errorf("%s stands first of two", c[0].Document)
	}
	// Equal fused scores say nothing.
	c = candidates(.7, .7, .7)
	mixed.Reorder(c, []float32{.25, .75, .5})
	if c[0].Document != "001" || c[1].Document != "002" {
		t.Errorf("%s and %s stand first", c[0].Document, c[1].Document)
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
		for _, k := range c {
			r := rapid.SampledFrom([]port.Retriever{port.Vector, port.Keyword}).Draw(t, "list")
			k.Ranks = map[port.Retriever]retrieve.Rank{r: {}}
		}
		retrieve.Reranking{Prior: rapid.Float64Range(0, 5).Draw(t, "prior"), Floor: rapid.Float64Range(-3, 3).Draw(t, "floor"),
			Spread: rapid.Float64Range(0, 1).Draw(t, "spread"), Abstain: rapid.Bool().Draw(t, "abstain")}.Reorder(c, p)
		seen := map[string]bool{}
		for i, k := range c {
			seen[k.Document] = true
			if len(p) > 0 && !(k.Score >= 0 && k.Score <= 1 && (i == 0 || k.Score <= c[i-1].Score)) {
				t.Fatalf("place %d: score %v", i+1, k.Score)
			}
			if scored := k.Fused.Rank <= len(p); scored != (k.Reranked != nil) ||
				scored && k.Reranked.Score != float64(p[k.Fused.Rank-1]) {
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
	for _, c := range []struct{ topK, asked, want int }{{1, 0, 2}, {10, 0, 20}, {20, 0, 40}, {100, 0, 40}, {10, 5, 5},
		{1, 100, 100}} {
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
		got, cut, err := retrieve.Score(t.Context(), p, "q", []string{"a", "b"})
		if err == nil || got != nil || cut != (retrieve.Cut{}) {
			t.Errorf("%s: %v, %+v, %v", name, got, cut, err)
		}
	}
	got, cut, err := retrieve.Score(t.Context(),
		pairs(func([]string) ([]float32, error) { return []float32{0, 1}, nil }), "q", []string{"a", "b"})
	if err != nil || !slices.Equal(got, []float32{0, 1}) || cut != (retrieve.Cut{Texts: 1}) {
		t.Errorf("%v, %+v, %v", got, cut, err)
	}
	got, cut, err = retrieve.Score(t.Context(), counting{tokens: 511}, strings.Repeat("a", 511), []string{"a"})
	if err != nil || len(got) != 1 || cut != (retrieve.Cut{Query: true}) {
		t.Errorf("of a long query: %v, %+v, %v", got, cut, err)
	}
	got, cut, err = retrieve.Score(t.Context(), counting{err: errBroken}, strings.Repeat("a", 511), []string{"a"})
	if !errors.Is(err, errBroken) || got != nil || cut != (retrieve.Cut{}) {
		t.Errorf("of a query that cannot be counted: %v, %+v, %v", got, cut, err)
	}
	if got, _, err := retrieve.Score(t.Context(), pairs(func([]string) ([]float32, error) { panic("called") }), "q",
		nil); err != nil || len(got) != 0 {
		t.Errorf("of no texts: %v, %v", got, err)
	}
}

// counting is a reranker that counts every text as so many tokens.
type counting struct {
	coretest.Reranker
	tokens int
	err    error
}

func (c counting) CountTokens(_ context.Context, texts []string) ([]int, error) {
	return slices.Repeat([]int{c.tokens}, len(texts)), c.err
}

// telling is a reranker that says itself what it cuts.
type telling struct{ counting }

func (telling) CutsQuery(_ context.Context, query string) (bool, error) {
	return query == "long", nil
}

// A query is cut where the reranker says so, else where its tokens and the two that
// stand around them exceed the window (docs/contract.md#query-degraded).
func TestALongQueryIsSaidToBeCut(t *testing.T) {
	letters := func(n int) string { return strings.Repeat("a", n) }
	words := func(n int) string { return strings.Repeat("water ", n) }
	for name, c := range map[string]struct {
		m     port.Reranker
		query string
		want  bool
	}{
		"it says so":                   {telling{}, "long", true},
		"it says no":                   {telling{counting{tokens: 9000}}, letters(9000), false},
		"counted, at the window":       {counting{tokens: 510}, letters(511), false},
		"counted, beyond":              {counting{tokens: 511}, letters(511), true},
		"few bytes are not counted":    {counting{tokens: 511, err: errBroken}, letters(510), false},
		"estimated, short":             {coretest.Reranker{}, words(300), false},
		"estimated, long":              {coretest.Reranker{}, words(900), true},
		"a window that nobody told of": {pairs(nil), words(9000), false},
	} {
		if got, err := retrieve.CutsQuery(t.Context(), c.m, c.query); err != nil || got != c.want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}
