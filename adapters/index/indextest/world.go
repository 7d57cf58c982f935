package indextest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// world is the reference: what a partition holds, searched exhaustively.
type world map[string][]port.Entry

func (w world) apply(changes []port.IndexChange) world {
	out := maps.Clone(w)
	for _, c := range changes {
		if len(c.Entries) == 0 {
			delete(out, c.Document)
		} else {
			out[c.Document] = c.Entries
		}
	}
	return out
}

// match is a chunk that fits a query, with its exact score: cosine, dot
// product, or for keyword the number of distinct query words it holds.
type match struct {
	document string
	chunk    int
	score    float64
}

func (m match) key() string { return fmt.Sprintf("%s/%d", m.document, m.chunk) }

// search gives all matches, best first.
func (w world) search(q port.IndexQuery) []match {
	var out []match
	weights := q.SparseWeights
	if weights == nil {
		weights = w.inverseFrequencies(q.SparseTerms)
	}
	for id, entries := range w {
		for _, e := range entries {
			if q.Filter != nil && !holds(q.Filter, e.Facets) {
				continue
			}
			if (q.After != nil || q.Before != nil) && e.Time == 0 || q.After != nil && e.Time <= *q.After ||
				q.Before != nil && e.Time >= *q.Before {
				continue
			}
			var score float64
			switch q.Retriever {
			case port.Vector:
				if e.Vector == nil {
					continue
				}
				for i, v := range q.Vector {
					score += float64(v) * float64(e.Vector[i])
				}
			case port.Keyword:
				words := strings.Fields(e.Text)
				for _, t := range distinctWords(q.Text) {
					if slices.Contains(words, t) {
						score++
					}
				}
				if score == 0 {
					continue
				}
			case port.SparseTerms:
				for i, t := range q.SparseTerms {
					if at, ok := slices.BinarySearch(e.SparseTerms, t); ok {
						score += float64(weights[i]) * float64(e.SparseWeights[at])
					}
				}
				if score == 0 {
					continue
				}
			}
			out = append(out, match{id, e.Chunk, score})
		}
	}
	slices.SortFunc(out, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.document, b.document), cmp.Compare(a.chunk, b.chunk))
	})
	return out
}

// inverseFrequencies are the weights of a sparse query that has none.
func (w world) inverseFrequencies(terms []uint32) []float32 {
	out := make([]float32, len(terms))
	for i, t := range terms {
		n, df := 0, 0
		for _, entries := range w {
			for _, e := range entries {
				n++
				if _, ok := slices.BinarySearch(e.SparseTerms, t); ok {
					df++
				}
			}
		}
		if df > 0 {
			out[i] = float32(math.Log(1 + float64(n)/float64(df)))
		}
	}
	return out
}

func distinctWords(s string) []string {
	words := strings.Fields(s)
	slices.Sort(words)
	return slices.Compact(words)
}

func holds(f *filter.Filter, facets []string) bool {
	switch f.Op {
	case filter.And:
		for i := range f.Args {
			if !holds(&f.Args[i], facets) {
				return false
			}
		}
		return true
	case filter.Or:
		for i := range f.Args {
			if holds(&f.Args[i], facets) {
				return true
			}
		}
		return false
	}
	for _, v := range f.Values {
		if slices.Contains(facets, filter.Token(f.Key, v)) {
			return true
		}
	}
	return false
}

// compare says how an index's answer differs from the reference; "" if it is right.
//
// Scores may be off by what quantisation costs: 1e-3 for cosines, 2.5 % for
// sparse products. A hit may stand where the reference has another whose score
// is as close as that.
func (w world) compare(q port.IndexQuery, hits []port.Hit) string {
	all := w.search(q)
	want := min(q.Limit, len(all))
	if len(hits) != want {
		return fmt.Sprintf("%d hits, want %d", len(hits), want)
	}
	exact := make(map[string]float64, len(all))
	for _, m := range all {
		exact[m.key()] = m.score
	}
	seen := map[string]bool{}
	for i, h := range hits {
		key := match{h.Document, h.Chunk, 0}.key()
		score, ok := exact[key]
		switch {
		case !ok:
			return fmt.Sprintf("hit %d, %s, is not in the partition or is outside the bounds of the query", i, key)
		case seen[key]:
			return fmt.Sprintf("%s is given twice", key)
		case i > 0 && h.Score > hits[i-1].Score:
			return fmt.Sprintf("hit %d has a higher score than the one before", i)
		case i > 0 && h.Score == hits[i-1].Score &&
			cmp.Or(cmp.Compare(hits[i-1].Document, h.Document), cmp.Compare(hits[i-1].Chunk, h.Chunk)) >= 0:
			return fmt.Sprintf("hits %d and %d are tied and not in order", i-1, i)
		}
		seen[key] = true
		slack := 1e-3
		switch q.Retriever {
		case port.Keyword:
			continue // scores are the adapter's own
		case port.SparseTerms:
			slack = .025 * score
		}
		if d := float64(h.Score) - score; d > slack || d < -slack {
			return fmt.Sprintf("%s has score %v, exact is %v", key, h.Score, score)
		}
		if best := all[i].score; score < best-2*slack {
			return fmt.Sprintf("hit %d, %s, scores %v, the reference has %v there", i, key, score, best)
		}
	}
	return ""
}

// source makes reproducible entries.
type source struct {
	*rand.Rand
	topics [][]float32 // nil: vectors are of few dimensions and easy to find
}

func newSource(seed uint64) source { return source{Rand: rand.New(rand.NewPCG(seed, 7))} }

// newHardSource makes vectors that are hard to find for an index that does not
// compare all of them: of 384 dimensions, around many topics in a narrow band of
// cosines (the nearest of 3,000 at .80, the hundredth at .74, as from an embedding
// model), further from their topic than topics are from one another. An HNSW graph
// of m = 16 finds .96 of the ten best of 3,000 with an ef_search of 100; of as
// many real texts, .99.
func newHardSource(seed uint64) source {
	s, all := newSource(seed), newSource(11)
	normal := func(scale float64) []float32 {
		v := make([]float32, hardDim)
		for i := range v {
			v[i] = float32(scale * all.NormFloat64())
		}
		return v
	}
	common := normal(1.6)
	for range 2000 {
		t := normal(.6)
		for i := range t {
			t[i] += common[i]
		}
		s.topics = append(s.topics, t)
	}
	return s
}

const (
	dim     = 48
	hardDim = 384
)

// words of nonsense that no stemmer or stop list knows.
func word(i int) string {
	const c, v = "bdfgklmnprtvz", "aou"
	var b strings.Builder
	for range 3 {
		b.WriteByte(c[i%len(c)])
		i /= len(c)
		b.WriteByte(v[i%len(v)])
		i /= len(v)
	}
	return b.String() + "x"
}

func (s source) text(words, vocabulary int) string {
	out := make([]string, words)
	for i := range out {
		out[i] = word(int(float64(vocabulary) * s.Float64() * s.Float64()))
	}
	return strings.Join(out, " ")
}

// vector is a unit vector near one of some centres, as embeddings are.
func (s source) vector() []float32 {
	if s.topics != nil {
		v := slices.Clone(s.topics[s.IntN(len(s.topics))])
		for i := range v {
			v[i] += float32(.8 * s.NormFloat64())
		}
		return unit(v)
	}
	centre := newSource(uint64(s.IntN(12)))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(centre.NormFloat64() + .4*s.NormFloat64())
	}
	return unit(v)
}

func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / sqrt(sum))
	}
	return v
}

func (s source) sparse(n int) ([]uint32, []float32) {
	terms := make([]uint32, 0, n)
	for range n {
		terms = append(terms, uint32(400*s.Float64()*s.Float64()))
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	weights := make([]float32, len(terms))
	for i := range weights {
		weights[i] = float32(.05 + 3*s.Float64()*s.Float64())
	}
	return terms, weights
}

func (s source) entry(chunk int) port.Entry {
	e := port.Entry{Chunk: chunk, Text: s.text(3+s.IntN(30), 300), Vector: s.vector()}
	e.SparseTerms, e.SparseWeights = s.sparse(10)
	for _, k := range []struct {
		key string
		n   int
	}{{"tenth", 10}, {"hundredth", 100}, {"thousandth", 1000}, {"half", 2}} {
		e.Facets = append(e.Facets, filter.Token(k.key, fmt.Sprint(s.IntN(k.n))))
	}
	if s.IntN(8) > 0 {
		e.Time = int64(1 + s.IntN(1000))
	}
	return e
}

func (s source) entries(n int) []port.Entry {
	out := make([]port.Entry, n)
	for i := range out {
		out[i] = s.entry(i)
	}
	return out
}

// query is one of a retriever, without bounds.
func (s source) query(r port.Retriever, limit int) port.IndexQuery {
	q := port.IndexQuery{Retriever: r, Limit: limit}
	switch r {
	case port.Vector:
		q.Vector = s.vector()
	case port.Keyword:
		q.Text = s.text(1+s.IntN(6), 300)
	case port.SparseTerms:
		q.SparseTerms, q.SparseWeights = s.sparse(6)
		if s.IntN(3) == 0 {
			q.SparseWeights = nil
		}
	}
	return q
}

func in(key string, values ...string) *filter.Filter {
	slices.Sort(values)
	return &filter.Filter{Op: filter.In, Key: key, Values: slices.Compact(values)}
}

// filter is a random one; nil sometimes.
func (s source) filter() *filter.Filter {
	pick := func() filter.Filter {
		switch s.IntN(4) {
		case 0:
			return *in("half", fmt.Sprint(s.IntN(2)))
		case 1:
			return *in("tenth", fmt.Sprint(s.IntN(10)), fmt.Sprint(s.IntN(10)))
		case 2:
			return *in("hundredth", fmt.Sprint(s.IntN(100)), fmt.Sprint(s.IntN(100)), fmt.Sprint(s.IntN(100)))
		}
		return *in("thousandth", fmt.Sprint(s.IntN(1200)))
	}
	switch s.IntN(5) {
	case 0, 1:
		return nil
	case 2:
		f := pick()
		return &f
	case 3:
		return &filter.Filter{Op: filter.And, Args: []filter.Filter{pick(), pick()}}
	}
	return &filter.Filter{Op: filter.Or, Args: []filter.Filter{pick(), {Op: filter.And, Args: []filter.Filter{pick(), pick()}}}}
}

func (s source) bounds(q *port.IndexQuery) {
	if s.IntN(3) == 0 {
		t := int64(s.IntN(1000))
		q.After = &t
	}
	if s.IntN(3) == 0 {
		t := int64(s.IntN(1100))
		q.Before = &t
	}
}
