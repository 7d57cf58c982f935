package retrieve_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

func list(r port.Retriever, scores map[string]float32, order ...string) retrieve.List {
	l := retrieve.List{Retriever: r}
	for _, d := range order {
		l.Hits = append(l.Hits, port.Hit{Document: d, Score: scores[d]})
	}
	return l
}

func ids(c []*retrieve.Candidate) string {
	s := ""
	for _, x := range c {
		s += x.Document
	}
	return s
}

func TestFusePrefersWhatBothListsFound(t *testing.T) {
	v := list(port.Vector, map[string]float32{"a": .9, "b": .88, "c": .7, "d": .69}, "a", "b", "c", "d")
	k := list(port.Keyword, map[string]float32{"b": 12, "e": 11, "a": 2}, "b", "e", "a")
	got := retrieve.DefaultFusion().Fuse([]retrieve.List{v, k}, nil)
	if ids(got)[:2] != "ba" {
		t.Fatalf("order %s", ids(got))
	}
	if got[0].Ranks[port.Vector].Rank != 2 || got[0].Ranks[port.Keyword].Rank != 1 || got[0].Fused.Rank != 1 {
		t.Fatalf("ranks %+v", got[0])
	}
}

func TestFuseGivesOneToTheTopOfEveryList(t *testing.T) {
	for _, m := range []retrieve.Method{retrieve.ZScore, retrieve.RRF} {
		f := retrieve.DefaultFusion()
		f.Method = m
		v := list(port.Vector, map[string]float32{"a": .9, "b": .8}, "a", "b")
		k := list(port.Keyword, map[string]float32{"a": 3}, "a")
		if got := f.Fuse([]retrieve.List{v, k}, nil); math.Abs(got[0].Score-1) > 1e-12 || got[0].Document != "a" {
			t.Errorf("%s: %+v", m, got[0])
		}
	}
}

func TestKeywordScoresKeepTheirZero(t *testing.T) {
	// The last keyword hit still matched: it must stand above a chunk that did not.
	v := list(port.Vector, map[string]float32{"x": .8, "y": .8, "z": .1}, "x", "y", "z")
	k := list(port.Keyword, map[string]float32{"q": 9, "y": 5}, "q", "y")
	got := retrieve.DefaultFusion().Fuse([]retrieve.List{v, k}, nil)
	if got[0].Document != "y" {
		t.Fatalf("order %s", ids(got))
	}
}

// The only chunk that holds an identifier wins over a hundred that are alike.
func TestTheOnlyKeywordHitStandsOut(t *testing.T) {
	v := retrieve.List{Retriever: port.Vector}
	for i := range 100 {
		v.Hits = append(v.Hits, port.Hit{Document: fmt.Sprintf("v%02d", i), Score: .9 - float32(i)/1000})
	}
	k := retrieve.List{Retriever: port.Keyword, Hits: []port.Hit{{Document: "v40", Score: 7}}}
	if got := retrieve.DefaultFusion().Fuse([]retrieve.List{v, k}, nil); got[0].Document != "v40" {
		t.Fatalf("first is %s", got[0].Document)
	}
}

// A caller who asks for more results sees the same head.
func TestLongerListsKeepTheHead(t *testing.T) {
	f := retrieve.DefaultFusion()
	lists := func(n int) []retrieve.List {
		v, k := retrieve.List{Retriever: port.Vector}, retrieve.List{Retriever: port.Keyword}
		for i := range n {
			v.Hits = append(v.Hits, port.Hit{Document: fmt.Sprintf("v%03d", i), Score: .9 - float32(i)/1000})
			k.Hits = append(k.Hits, port.Hit{Document: fmt.Sprintf("v%03d", (i*37)%n), Score: 20 - float32(i)/50})
		}
		return []retrieve.List{v, k}
	}
	long := lists(300)
	short := []retrieve.List{{Retriever: port.Vector, Hits: long[0].Hits[:100]},
		{Retriever: port.Keyword, Hits: long[1].Hits[:100]}}
	a, b := f.Fuse(short, nil), f.Fuse(long, nil)
	for i := range 50 {
		if a[i].Document != b[i].Document || math.Abs(a[i].Score-b[i].Score) > 1e-6 {
			t.Fatalf("rank %d: %s %v, with longer lists %s %v", i+1, a[i].Document, a[i].Score, b[i].Document, b[i].Score)
		}
	}
}

func TestRequestWeightsDecide(t *testing.T) {
	v := list(port.Vector, map[string]float32{"a": .9, "b": .1}, "a", "b")
	k := list(port.Keyword, map[string]float32{"b": 9, "a": 1}, "b", "a")
	f := retrieve.DefaultFusion()
	for _, c := range []struct {
		w    map[port.Retriever]float64
		want string
	}{
		{map[port.Retriever]float64{port.Vector: 1, port.Keyword: 0}, "ab"},
		{map[port.Retriever]float64{port.Vector: 0, port.Keyword: 10}, "ba"},
	} {
		if got := ids(f.Fuse([]retrieve.List{v, k}, c.w)); got != c.want {
			t.Errorf("%v: %s", c.w, got)
		}
	}
}

// Only the ratio of weights counts: the same ratio gives the same scores to the last
// bit, and weights that are all 0 are equal ones (docs/contract.md#query-fusion).
func TestOnlyTheRatioOfWeightsCounts(t *testing.T) {
	var lists []retrieve.List
	for i, r := range []port.Retriever{port.Vector, port.Keyword, port.SparseTerms} {
		l := retrieve.List{Retriever: r}
		for j := range 50 {
			l.Hits = append(l.Hits, port.Hit{Document: fmt.Sprintf("d%02d", 7*(i+j)%60), Score: 1 / float32(3+i+j)})
		}
		lists = append(lists, l)
	}
	weights := func(vector, keyword, sparse float64) map[port.Retriever]float64 {
		return map[port.Retriever]float64{port.Vector: vector, port.Keyword: keyword, port.SparseTerms: sparse}
	}
	for _, c := range []struct{ a, b map[port.Retriever]float64 }{
		{weights(1, .5, .25), weights(10, 5, 2.5)},
		{weights(.5, .25, .25), nil}, // the configured ones
		{weights(0, 0, 0), weights(1, 1, 1)},
	} {
		for _, m := range []retrieve.Method{retrieve.ZScore, retrieve.RRF} {
			f := retrieve.DefaultFusion()
			f.Method = m
			a, b := f.Fuse(lists, c.a), f.Fuse(lists, c.b)
			for i := range a {
				if a[i].Document != b[i].Document || a[i].Score != b[i].Score {
					t.Fatalf("%s, place %d: %s with %v by %v, %s with %v by %v", m, i+1, a[i].Document, a[i].Score, c.a,
						b[i].Document, b[i].Score, c.b)
				}
			}
		}
	}
}

// Whatever the lists hold, scores lie in 0-1, fall, break ties by document and
// chunk, and no hit is lost or invented.
func TestFuseHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := retrieve.DefaultFusion()
		f.Method = rapid.SampledFrom([]retrieve.Method{retrieve.ZScore, retrieve.RRF}).Draw(t, "method")
		union := map[string]bool{}
		var lists []retrieve.List
		for _, r := range []port.Retriever{port.Vector, port.Keyword, port.SparseTerms} {
			n := rapid.IntRange(0, 150).Draw(t, "n")
			score := rapid.Float32Range(0, 30).Draw(t, "top")
			l := retrieve.List{Retriever: r}
			seen := map[string]bool{}
			for range n {
				h := port.Hit{Document: fmt.Sprintf("d%02d", rapid.IntRange(0, 40).Draw(t, "doc")),
					Chunk: rapid.IntRange(0, 5).Draw(t, "chunk"), Score: score}
				id := fmt.Sprint(h.Document, h.Chunk)
				if seen[id] {
					continue
				}
				seen[id], union[id] = true, true
				l.Hits = append(l.Hits, h)
				score -= rapid.Float32Range(0, .3).Draw(t, "step")
			}
			lists = append(lists, l)
		}
		got := f.Fuse(lists, nil)
		if len(got) != len(union) {
			t.Fatalf("%d candidates of %d hits", len(got), len(union))
		}
		for i, c := range got {
			if !(c.Score >= 0 && c.Score <= 1) {
				t.Fatalf("score %v", c.Score)
			}
			if i > 0 {
				p := got[i-1]
				if p.Score < c.Score || p.Score == c.Score &&
					(p.Document > c.Document || p.Document == c.Document && p.Chunk >= c.Chunk) {
					t.Fatalf("order at %d: %v %v", i, p, c)
				}
			}
		}
	})
}
