package embedded

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// window is how many chunks are scored at a time.
const window = 4096

// clause is one term of a query within one segment.
type clause struct {
	postingReader
	term   int     // index into the query's terms
	factor float32 // what an impact is multiplied with
	top    float64 // largest contribution in the current window
	next   int     // block that the window begins in
	span   int     // postings that the window has, at most
}

// scorer finds the best chunks of a segment for a weighted set of terms. It is
// MaxScore (Turtle and Flood, IPM 31(6), 1995) over windows of chunks with
// block-max bounds: terms are sorted by the most they can add within the
// window; those whose sum can't reach the k-th best score so far are looked up
// only for the chunks that another term brought up. Scores are summed in
// float64, where the sum of a few float32 is exact, so they do not depend on
// the order of terms or the cut into segments.
type scorer struct {
	clauses []*clause
	order   []*clause
	spare   []*clause
	acc     [window]float64     // scores so far; zero between windows
	hit     [window / 64]uint64 // chunks that an essential term has
	cand    []uint32
}

// walkShare is how many postings cost as much to walk over as one to look up.
const walkShare = 8

// scorers recycles scorers between searches.
type scorers struct{ pool sync.Pool }

func (p *scorers) get() *scorer {
	if s, ok := p.pool.Get().(*scorer); ok {
		return s
	}
	return &scorer{}
}

func (p *scorers) put(s *scorer) {
	s.reset()
	for _, c := range s.spare[:cap(s.spare)] {
		if c != nil {
			c.data = nil // images may be unmapped
		}
	}
	p.pool.Put(s)
}

func (s *scorer) reset() {
	s.spare = append(s.spare, s.clauses...)
	s.clauses = s.clauses[:0]
}

// add puts a posting list into the query for the next run.
func (s *scorer) add(term int, list []byte, e entry, factor float32) {
	var c *clause
	if n := len(s.spare); n > 0 {
		c, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		c = new(clause)
	}
	c.postingReader.reset(list, e.df, e.bound)
	c.term, c.factor, c.next = term, factor, 0
	s.clauses = append(s.clauses, c)
}

// impacts turns postings of one segment into contributions.
type impacts struct {
	weights     []float32 // sparse: by code; nil: BM25
	length      []uint16
	rank        ranking
	flat, slope float32 // BM25: K = flat + slope*length
	slack       float32 // bounds were computed with another mean length: multiply by this
}

func (m *impacts) weight(code uint32) float32 {
	if code >= uint32(len(m.weights)) {
		panic(errPostings)
	}
	return m.weights[code]
}

// keywordImpacts fits a segment to the partition's mean length. K grows at most
// by the ratio of the means when the mean falls, so bounds stay bounds with
// that slack.
func keywordImpacts(s *segment, r ranking, avg float32) *impacts {
	m := &impacts{length: s.length, rank: r, flat: r.k1, slack: 1}
	if avg > 0 {
		m.flat, m.slope = r.k1*(1-r.b), r.k1*r.b/avg
	}
	if s.avg > 0 && avg > s.avg {
		m.slack = avg / s.avg
	}
	return m
}

// run offers the segment's best chunks to best.
func (s *scorer) run(ctx context.Context, best *topK, seg uint32, n int, set bitset, m *impacts) error {
	for base := 0; base < n; base += window {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(n, base+window)
		if set != nil && set.empty(base, end) {
			continue
		}
		s.order = s.order[:0]
		for _, c := range s.clauses {
			if c.window(uint32(base), uint32(end), m.slack) {
				s.order = append(s.order, c)
			}
		}
		if len(s.order) == 0 {
			continue
		}
		slices.SortFunc(s.order, func(a, b *clause) int {
			switch {
			case a.top < b.top:
				return -1
			case a.top > b.top:
				return 1
			}
			return a.term - b.term
		})
		floor := float64(best.floor())
		// rest counts the terms that can't lift a chunk over the floor by themselves.
		rest, sum := 0, 0.0
		for rest < len(s.order) && sum+s.order[rest].top < floor {
			sum += s.order[rest].top
			rest++
		}
		if rest == len(s.order) {
			continue
		}
		for _, c := range s.order[rest:] {
			s.score(c, uint32(base), uint32(end), set, m, true)
		}
		s.collect(best, seg, uint32(base), uint32(end), rest, sum, m)
	}
	return nil
}

// window sets the bound for the chunks from base to end and reports whether the
// list may have one there.
func (c *clause) window(base, end uint32, slack float32) bool {
	if c.blocks == 1 {
		if c.block == 0 && c.docs[c.n-1] < base {
			return false
		}
		c.top, c.span = ceiling(c.bound, c.factor, slack), c.df
		return true
	}
	for c.next < c.blocks && c.last(c.next) < base {
		c.next++
	}
	if c.next == c.blocks {
		return false
	}
	bound := float32(0)
	c.span = 0
	for b := c.next; b < c.blocks; b++ {
		bound = max(bound, c.blockBound(b))
		c.span += blockLen
		if c.last(b) >= end-1 {
			break
		}
	}
	c.top = ceiling(bound, c.factor, slack)
	return true
}

// ceiling rounds a bound up, past what float32 arithmetic may lose.
func ceiling(bound, factor, slack float32) float64 {
	return float64(bound) * float64(factor) * float64(slack) * (1 + 1e-5)
}

// score adds a term's contributions to the window. With mark the chunks become
// candidates; without, what is added to others than candidates is thrown away.
func (s *scorer) score(c *clause, base, end uint32, set bitset, m *impacts, mark bool) {
	if !c.seek(base) {
		return
	}
	for {
		docs, pays := c.docs[c.at:c.n], c.pays[c.at:c.n]
		stop := len(docs)
		if docs[stop-1] >= end {
			stop, _ = slices.BinarySearch(docs, end)
		}
		docs, pays = docs[:stop], pays[:stop]
		s.sum(docs, pays, c.factor, base, set, m)
		if mark {
			s.mark(docs, base, set)
		}
		c.at += stop
		if c.at < c.n || c.block+1 >= c.blocks {
			if c.at == c.n {
				c.at = c.n - 1 // seek looks at the current posting
			}
			return
		}
		c.load(c.block + 1)
		if c.docs[0] >= end {
			return
		}
	}
}

// sum adds up contributions of allowed chunks.
func (s *scorer) sum(docs, pays []uint32, factor float32, base uint32, set bitset, m *impacts) {
	pays = pays[:len(docs)]
	switch {
	case set != nil:
		for i, d := range docs {
			if set.has(d) {
				s.acc[d-base] += float64(m.contribution(factor, d, pays[i]))
			}
		}
	case m.weights != nil:
		for i, d := range docs {
			s.acc[d-base] += float64(factor * m.weight(pays[i]))
		}
	default:
		top, flat, slope := factor*(m.rank.k1+1), m.flat, m.slope
		for i, d := range docs {
			s.acc[d-base] += float64(bm25(top, float32(pays[i]), flat, slope, m.length[d]))
		}
	}
}

// mark makes candidates of allowed chunks.
func (s *scorer) mark(docs []uint32, base uint32, set bitset) {
	for _, d := range docs {
		if set == nil || set.has(d) {
			s.hit[(d-base)>>6] |= 1 << ((d - base) & 63)
		}
	}
}

// collect takes the window's chunks, completes those that may enter with the
// terms left out, and offers them.
func (s *scorer) collect(best *topK, seg, base, end uint32, rest int, sum float64, m *impacts) {
	floor := float64(best.floor()) * (1 - 1e-6) // scores are rounded to float32 at the end
	s.cand = s.cand[:0]
	for i, w := range s.hit {
		for ; w != 0; w &= w - 1 {
			d := uint32(i<<6 + bits.TrailingZeros64(w))
			if s.acc[d]+sum >= floor {
				s.cand = append(s.cand, d)
			}
		}
	}
	walked := false
	for r := rest - 1; r >= 0 && len(s.cand) > 0; r-- {
		c := s.order[r]
		sum = 0
		for _, o := range s.order[:r] {
			sum += o.top
		}
		if walkShare*len(s.cand) > c.span {
			s.score(c, base, end, nil, m, false)
			walked = true
		} else {
			for _, d := range s.cand {
				if c.seek(base+d) && c.docs[c.at] == base+d {
					s.acc[d] += float64(m.contribution(c.factor, base+d, c.pays[c.at]))
				}
			}
		}
		kept := 0
		for _, d := range s.cand {
			s.cand[kept] = d
			// One more unless the difference is negative: which it is cannot be
			// foreseen, so a branch would cost more than the sum.
			kept += int(^math.Float64bits(s.acc[d]+sum-floor) >> 63)
		}
		s.cand = s.cand[:kept]
	}
	for _, d := range s.cand {
		if score := float32(s.acc[d]); score >= best.floor() {
			best.offer(candidate{score, seg, base + d})
		}
	}
	s.clearWindow(walked)
}

// clearWindow zeroes the window; all says that more than the marked chunks were summed.
func (s *scorer) clearWindow(all bool) {
	if all {
		clear(s.acc[:])
		clear(s.hit[:])
		return
	}
	for i, w := range s.hit {
		for ; w != 0; w &= w - 1 {
			s.acc[i<<6+bits.TrailingZeros64(w)] = 0
		}
		s.hit[i] = 0
	}
}

// contribution is what a posting adds to a score.
func (m *impacts) contribution(factor float32, doc, pay uint32) float32 {
	if m.weights != nil {
		return factor * m.weight(pay)
	}
	return bm25(factor*(m.rank.k1+1), float32(pay), m.flat, m.slope, m.length[doc])
}

// bm25 spells out roundings, so that no compiler fuses operations and every
// path gives the same bits.
func bm25(top, tf, flat, slope float32, length uint16) float32 {
	return float32(top*tf) / float32(tf+float32(flat+float32(slope*float32(length))))
}

// idf is BM25's with one added inside the logarithm, so that it stays positive.
func idf(df, n int) float32 {
	df = min(df, n)
	return float32(math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5)))
}
