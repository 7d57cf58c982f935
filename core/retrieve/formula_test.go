package retrieve_test

import (
	"math"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Scores computed by hand from the formulas of Fusion and Reranking. Whether a
// deviation of exactly 1e-9 counts as none can't be told: none comes out so.
func TestFuseByHand(t *testing.T) {
	v := list(port.Vector, map[string]float32{"a": .9, "b": .7, "c": .5}, "a", "b", "c")
	k := list(port.Keyword, map[string]float32{"b": 4, "c": 2}, "b", "c")
	ranks := list(port.Keyword, map[string]float32{"b": 4, "a": 2}, "b", "a")
	ranks.RanksOnly = true
	even := map[port.Retriever]float64{port.Vector: 1, port.Keyword: 1}
	for _, c := range []struct {
		name    string
		method  retrieve.Method
		depth   int
		lists   []retrieve.List
		weights map[port.Retriever]float64
		want    map[string]float64
	}{
		{"ranks with the default weights, 2:1", retrieve.RRF, 100, []retrieve.List{v, k}, nil,
			map[string]float64{"a": 2. / 3, "b": 2./3*11/12 + 1./3, "c": 2./3*11/13 + 1./3*11/12}},
		{"deviations", retrieve.ZScore, 100, []retrieve.List{v, k}, even, map[string]float64{"a": .5, "b": .75, "c": .25}},
		{"no weights: equal parts", retrieve.ZScore, 100, []retrieve.List{v, k},
			map[port.Retriever]float64{port.Vector: 0, port.Keyword: 0},
			map[string]float64{"a": .5, "b": .75, "c": .25}},
		{"no weight where there are hits", retrieve.ZScore, 100, []retrieve.List{v, {Retriever: port.Keyword}},
			map[port.Retriever]float64{port.Vector: 0, port.Keyword: 1}, map[string]float64{"a": 0, "b": 0, "c": 0}},
		{"a list of ranks", retrieve.ZScore, 100, []retrieve.List{v, ranks}, even,
			map[string]float64{"a": .9605, "b": .7370, "c": 0}},
		{"behind the depth", retrieve.ZScore, 2, []retrieve.List{v}, nil, map[string]float64{"a": 1, "b": 0, "c": 1e-6 / 3 / 2}},
	} {
		f := retrieve.DefaultFusion()
		f.Method, f.Depth = c.method, c.depth
		got := f.Fuse(c.lists, c.weights)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d candidates", c.name, len(got))
		}
		for _, k := range got {
			off := math.Abs(k.Score - c.want[k.Document])
			if want := c.want[k.Document]; !(off <= 1e-4 && (want >= 1e-4 || off <= 1e-9)) { // NaN is off, too
				t.Errorf("%s: %s has the score %v, want %v", c.name, k.Document, k.Score, want)
			}
		}
	}
}

func TestReorderByHand(t *testing.T) {
	mixed := retrieve.Reranking{Prior: 1.5, Floor: .65}
	wide := retrieve.Reranking{Prior: 1.5, Floor: retrieve.NoFloor, Spread: .18}
	half := []float32{.2, .2, .2, .2, .2, .8, .8, .8, .8, .8} // log-odds of ∓1.3863, a deviation of as much
	for _, c := range []struct {
		name  string
		r     retrieve.Reranking
		fused []float64
		p     []float32
		want  map[string]float64
		lists []port.Retriever // that found the candidates, in turn; none: not told
	}{
		// Log-odds of ∓1.3863, one deviation from their mean; the trust in two is 1/9.
		{"two", mixed, []float64{1, 0}, []float32{.2, .8}, map[string]float64{"000": .239511, "001": .760489}, nil},
		// Nine stand on the floor, .65 deviations above the mean; equal fused scores say nothing.
		{"ten", mixed, []float64{.5, .5, .5, .5, .5, .5, .5, .5, .5, .5}, []float32{.2, .2, .2, .2, .2, .2, .2, .2, .2, .8},
			map[string]float64{"000": .361611, "008": .361611, "009": .8}, nil},
		{"ten without a prior, which have no floor", retrieve.Reranking{Floor: 1},
			[]float64{1, .9, .8, .7, .6, .5, .4, .3, .2, .1},
			[]float32{.2, .2, .2, .2, .2, .2, .2, .2, .2, .8}, map[string]float64{"000": .2, "008": .2, "009": .8}, nil},
		// Fused scores .09 to either side of their mean: half of Spread, so z is ∓.5.
		{"fused scores that hardly differ", wide, []float64{.59, .59, .59, .59, .59, .41, .41, .41, .41, .41}, half,
			map[string]float64{"000": .414219, "009": .585781}, []port.Retriever{port.Vector, port.Keyword}},
		{"one list's own scores", wide, []float64{.59, .59, .59, .59, .59, .41, .41, .41, .41, .41}, half,
			map[string]float64{"000": .666667, "009": .333333}, []port.Retriever{port.Vector}},
		{"fused scores that differ", wide, []float64{1, 1, 1, 1, 1, .6, .6, .6, .6, .6}, half,
			map[string]float64{"000": .666667, "009": .333333}, []port.Retriever{port.Vector, port.Keyword}},
	} {
		got := candidates(c.fused...)
		for i, k := range got {
			if len(c.lists) > 0 {
				k.Ranks = map[port.Retriever]retrieve.Rank{c.lists[i%len(c.lists)]: {Rank: 1 + i}}
			}
		}
		c.r.Reorder(got, c.p)
		for document, want := range c.want {
			if k := got[place(got, document)-1]; !(math.Abs(k.Score-want) <= 1e-4) {
				t.Errorf("%s: %s has the score %v, want %v", c.name, document, k.Score, want)
			}
		}
	}
}

// Where the reranker's best stands first already the order stays, and the scores still fall.
func TestReorderAbstains(t *testing.T) {
	fused := []float64{1, .9, .8, .7, .6, .5, .4, .3, .2, .1}
	kept := retrieve.Reranking{Prior: .5, Floor: retrieve.NoFloor, Abstain: true}
	for _, c := range []struct {
		name  string
		r     retrieve.Reranking
		p     []float32
		order string // of the first three
	}{
		{"agreed", kept, []float32{.9, .01, .8, .7, .01, .01, .01, .01, .01, .01}, "000 001 002"},
		{"as good as another", kept, []float32{.9, .01, .9, .7, .01, .01, .01, .01, .01, .01}, "000 001 002"},
		{"another is better", kept, []float32{.5, .01, .9, .7, .01, .01, .01, .01, .01, .01}, "002 000 003"},
		{"without a prior", retrieve.Reranking{Abstain: true},
			[]float32{.9, .01, .8, .7, .01, .01, .01, .01, .01, .01}, "000 002 003"},
		{"not asked to", retrieve.Reranking{Prior: .5, Floor: retrieve.NoFloor},
			[]float32{.9, .01, .8, .7, .01, .01, .01, .01, .01, .01}, "000 002 003"},
	} {
		got := candidates(fused...)
		c.r.Reorder(got, c.p)
		if order := got[0].Document + " " + got[1].Document + " " + got[2].Document; order != c.order {
			t.Errorf("%s: %s", c.name, order)
		}
		for i := 1; i < len(got); i++ {
			strict := c.r.Abstain && c.r.Prior > 0 // equal ones would stand by id
			if got[i].Score > got[i-1].Score || strict && got[i].Score == got[i-1].Score {
				t.Errorf("%s: place %d has the score %v behind %v", c.name, i+1, got[i].Score, got[i-1].Score)
			}
		}
	}
	// Scores that fall anyway are those of the formula.
	abstaining, free := candidates(fused...), candidates(fused...)
	p := []float32{.9, .8, .7, .6, .5, .4, .3, .2, .1, .05}
	kept.Reorder(abstaining, p)
	retrieve.Reranking{Prior: .5, Floor: retrieve.NoFloor}.Reorder(free, p)
	for i := range free {
		if abstaining[i].Score != free[i].Score {
			t.Errorf("place %d: %v, want %v", i+1, abstaining[i].Score, free[i].Score)
		}
	}
}
