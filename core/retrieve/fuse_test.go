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

// noise is a list of a collection that has nothing to do with the query: one chunk of
// it lies far before the others all the same.
func noise(n int) retrieve.List {
	v := retrieve.List{Retriever: port.Vector}
	for i := range n {
		v.Hits = append(v.Hits, port.Hit{Document: fmt.Sprintf("v%03d", i), Score: .8 - .0001*float32(i)})
	}
	v.Hits[0].Score, v.Hits[1].Score = .86, .85
	return v
}

// The only chunk that holds the words of the query wins over the nearest of a hundred
// chunks without them, by default and with a third list that found nothing of either;
// what an operator has set to weigh more still does.
func TestTheOnlyChunkWithTheWordsWins(t *testing.T) {
	f := retrieve.DefaultFusion()
	words := func(scores ...float32) retrieve.List {
		l := retrieve.List{Retriever: port.Keyword}
		for i, score := range scores {
			l.Hits = append(l.Hits, port.Hit{Document: string(rune('x' + i)), Score: score})
		}
		return l
	}
	ranks := words(23.9)
	ranks.RanksOnly = true
	for name, c := range map[string]struct {
		lists []retrieve.List
		want  string
	}{
		"by default":          {[]retrieve.List{noise(100), words(23.9)}, "x"},
		"with sparse":         {[]retrieve.List{noise(100), words(23.9), {Retriever: port.SparseTerms}}, "x"},
		"a longer list":       {[]retrieve.List{noise(300), words(23.9)}, "x"},
		"only ranks of words": {[]retrieve.List{noise(100), ranks}, "v000"},
		"two with the words":  {[]retrieve.List{noise(100), words(23.9, 23.8)}, "v000"},
		"nearly all":          {[]retrieve.List{noise(100), words(23.9, 9)}, "x"},
		// It stands out by .796, and by .804, of what the only hit does.
		"not enough":  {[]retrieve.List{noise(100), words(1, .7706)}, "v000"},
		"just enough": {[]retrieve.List{noise(100), words(1, .7499)}, "x"},
		// One who has the whole collection before it knows that x lies behind.
		"a list that lacks nothing": {[]retrieve.List{noise(99), words(23.9)}, "v000"},
	} {
		if got := f.Fuse(c.lists, nil); got[0].Document != c.want {
			t.Errorf("%s: first is %s with %v", name, got[0].Document, got[0].Score)
		}
	}
	heavier := map[port.Retriever]float64{port.Vector: 3, port.Keyword: 1}
	if got := f.Fuse([]retrieve.List{noise(100), words(23.9)}, heavier); got[0].Document != "v000" {
		t.Errorf("with heavier vectors first is %s", got[0].Document)
	}
}

// Of what lacks the words the nearest count for .495 of what the only hit, 100/√99
// deviations out, counts for, with twice its weight and in their order; what has them, and
// what is far, counts as ever.
func TestWhatLacksTheWordsIsBounded(t *testing.T) {
	words := retrieve.List{Retriever: port.Keyword, Hits: []port.Hit{{Document: "v001", Score: 9}}}
	scores := func(lists ...retrieve.List) map[string]float64 {
		at := map[string]float64{}
		for _, c := range retrieve.DefaultFusion().Fuse(lists, nil) {
			at[c.Document] = c.Score
		}
		return at
	}
	plain, got := scores(noise(100)), scores(noise(100), words)
	// The best that a chunk could have is what the first of both lists counts for.
	out := 100 / math.Sqrt(99)
	sd := func() float64 {
		var sum, sum2 float64
		for _, h := range noise(100).Hits {
			sum += float64(h.Score)
			sum2 += float64(h.Score) * float64(h.Score)
		}
		return math.Sqrt(sum2/100 - sum/100*sum/100)
	}()
	z := func(i int) float64 { return float64(noise(100).Hits[i].Score-noise(100).Hits[99].Score) / sd }
	best := 2./3*z(0) + 1./3*out
	for document, want := range map[string]float64{
		"v000": 2. / 3 * .495 * out / best,
		"v001": (2./3*z(1) + 1./3*out) / best,
		"v002": 2. / 3 * z(2) / best,
	} {
		if math.Abs(got[document]-want) > 1e-5 {
			t.Errorf("%s counts for %v, want %v", document, got[document], want)
		}
	}
	if plain["v000"] != 1 || plain["v001"] > .9 {
		t.Errorf("by itself the list gives %v and %v", plain["v000"], plain["v001"])
	}
	near := noise(100)
	near.Hits[2].Score, near.Hits[3].Score = .849, .848 // beyond the bound as well
	held := scores(near, retrieve.List{Retriever: port.Keyword, Hits: []port.Hit{{Document: "x", Score: 9}}})
	if a, b, c, d := held["v000"], held["v001"], held["v002"], held["v003"]; !(a > b && b > c && c > d) || a-d > 1e-4 {
		t.Errorf("beyond the bound they count for %v, %v, %v, %v", a, b, c, d)
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

// Sparse has two fifths of its weight where the nearest chunk lies 3 deviations or less above the
// last of the vector list, and none from 4.5 (docs/decisions.md#d-118). With near chunks of
// a hundred alike and the others alike, too, the nearest lies 1/√(p(1-p)) above, p = near/100.
// A chunk that sparse alone has and one that keywords alone have differ by their weights only.
func TestSparseCountsWhereVectorsAreUncertain(t *testing.T) {
	vectors := func(near int) retrieve.List {
		l := retrieve.List{Retriever: port.Vector}
		for i := range 100 {
			h := port.Hit{Document: fmt.Sprintf("v%02d", i)}
			if i < near {
				h.Score = 1
			}
			l.Hits = append(l.Hits, h)
		}
		return l
	}
	words := list(port.Keyword, map[string]float32{"word": 2}, "word")
	terms := list(port.SparseTerms, map[string]float32{"term": 2}, "term")
	ranks := vectors(5)
	ranks.RanksOnly = true
	rrf := retrieve.DefaultFusion()
	rrf.Method = retrieve.RRF
	own := map[port.Retriever]float64{port.SparseTerms: .25}
	for name, c := range map[string]struct {
		fusion  retrieve.Fusion
		vectors retrieve.List
		weights map[port.Retriever]float64
		want    float64
	}{
		"2.97 deviations":       {retrieve.DefaultFusion(), vectors(13), nil, .4000},
		"3.08":                  {retrieve.DefaultFusion(), vectors(12), nil, .3794},
		"3.49":                  {retrieve.DefaultFusion(), vectors(9), nil, .2682},
		"4.21":                  {retrieve.DefaultFusion(), vectors(6), nil, .0771},
		"4.59":                  {retrieve.DefaultFusion(), vectors(5), nil, 0},
		"10.05":                 {retrieve.DefaultFusion(), vectors(1), nil, 0},
		"no deviation":          {retrieve.DefaultFusion(), vectors(0), nil, .4},
		"no vectors":            {retrieve.DefaultFusion(), retrieve.List{Retriever: port.Vector}, nil, 1},
		"only ranks of vectors": {retrieve.DefaultFusion(), ranks, nil, 1},
		"by ranks":              {rrf, vectors(5), nil, 1},
		"a weight of its own":   {retrieve.DefaultFusion(), vectors(5), own, 1},
	} {
		score := map[string]float64{}
		for _, k := range c.fusion.Fuse([]retrieve.List{c.vectors, words, terms}, c.weights) {
			score[k.Document] = k.Score
		}
		if got := score["term"] / score["word"]; !(math.Abs(got-c.want) < 1e-4) {
			t.Errorf("%s: sparse has %.4f of its weight, want %.4f", name, got, c.want)
		}
	}
	// Without keywords it is what knows words.
	got := retrieve.DefaultFusion().Fuse([]retrieve.List{vectors(5), terms}, nil)
	if k := got[0]; k.Document != "term" || k.Score < .5 {
		t.Errorf("beside vectors alone first is %s with %v", k.Document, k.Score)
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
		{map[port.Retriever]float64{port.Vector: .5, port.Keyword: .25}, nil}, // the configured ones
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
