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
	for _, c := range []struct {
		name  string
		r     retrieve.Reranking
		fused []float64
		p     []float32
		want  map[string]float64
	}{
		// Log-odds of ∓1.3863, one deviation from their mean; the trust in two is 1/9.
		{"two", mixed, []float64{1, 0}, []float32{.2, .8}, map[string]float64{"000": .239511, "001": .760489}},
		// Nine stand on the floor, .65 deviations above the mean; equal fused scores say nothing.
		{"ten", mixed, []float64{.5, .5, .5, .5, .5, .5, .5, .5, .5, .5}, []float32{.2, .2, .2, .2, .2, .2, .2, .2, .2, .8},
			map[string]float64{"000": .361611, "008": .361611, "009": .8}},
		{"ten without a prior, which have no floor", retrieve.Reranking{Floor: 1},
			[]float64{1, .9, .8, .7, .6, .5, .4, .3, .2, .1},
			[]float32{.2, .2, .2, .2, .2, .2, .2, .2, .2, .8}, map[string]float64{"000": .2, "008": .2, "009": .8}},
	} {
		got := candidates(c.fused...)
		c.r.Reorder(got, c.p)
		for document, want := range c.want {
			if k := got[place(got, document)-1]; !(math.Abs(k.Score-want) <= 1e-4) {
				t.Errorf("%s: %s has the score %v, want %v", c.name, document, k.Score, want)
			}
		}
	}
}
