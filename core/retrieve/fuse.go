package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/mnemehq/mneme/core/port"
)

// Method is how ranked lists are fused.
type Method string

// The methods.
const (
	// ZScore is a weighted sum of per-list normalised scores: (score - floor) /
	// standard deviation, over the first Depth hits of a list. The floor is what
	// an absent chunk would have: zero for scores with a natural zero (bm25,
	// sparse), the lowest of those hits for cosines. Where such a list is shorter
	// than another, what it lacks counts into its deviation as zeros, so that one
	// chunk alone with a rare word stands out. Absent counts as 0, and so
	// do hits beyond Depth, which a caller with a long list fetches to fill it:
	// they only order what nothing else orders, and the head stays the same.
	// Where one keyword hit stands alone, what lacks all words of the query counts
	// for less by its cosine (standout). Beside vectors and keywords, learned-sparse
	// counts where vectors are uncertain (doubt).
	// A list of ranks only takes part with 1 / (K + rank) for a score.
	ZScore Method = "zscore"
	// RRF is reciprocal rank fusion, weight / (K + rank), for lists without
	// comparable scores (Cormack et al., SIGIR 2009).
	RRF Method = "rrf"
)

// Fusion are the constants of fusion.
type Fusion struct {
	Method  Method
	Weights map[port.Retriever]float64 // renormalised over the retrievers used; of sparse at most (doubt)
	Depth   int                        // hits a list that its statistics are taken over
	K       float64                    // RRF, and lists of ranks only
}

// DefaultFusion are the measured defaults (docs/quality.md).
func DefaultFusion() Fusion {
	return Fusion{
		Method:  ZScore,
		Weights: map[port.Retriever]float64{port.Vector: 0.5, port.Keyword: 0.25, port.SparseTerms: 0.25},
		Depth:   100,
		K:       10,
	}
}

// List is what one retriever found, best first.
type List struct {
	Retriever port.Retriever
	Hits      []port.Hit
	RanksOnly bool // the scores order the hits and say no more (port.Ranker)
}

// score is the score of hit i in the fusion.
func (f Fusion) score(l List, i int) float64 {
	if l.RanksOnly {
		return 1 / (f.K + float64(i+1))
	}
	return float64(l.Hits[i].Score)
}

// Rank is a hit's place in one list, from 1.
type Rank struct {
	Rank  int
	Score float64
	Terms []string
}

type chunkID struct {
	document string
	chunk    int
}

// Candidate is a chunk that at least one retriever found.
type Candidate struct {
	Document string
	Chunk    int
	Score    float64 // after fusion and, where it ran, reranking
	Fused    Rank
	Reranked *Rank // by the reranker's own probability; nil: not scored
	Ranks    map[port.Retriever]Rank
}

// less orders by score, then document id, then chunk number.
func less(a, b *Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Chunk, b.Chunk))
}

// Fuse merges the lists, best first. Scores are scaled so that 1.0 is what a
// chunk at the top of every list would have. A weight given here is taken as it is.
func (f Fusion) Fuse(lists []List, weights map[port.Retriever]float64) []*Candidate {
	longest := 0
	for _, l := range lists {
		longest = max(longest, min(len(l.Hits), f.Depth))
	}
	total := 0.0
	doubt := f.doubt(lists, longest)
	weight := func(r port.Retriever) float64 {
		if w, ok := weights[r]; ok {
			return w
		}
		if r == port.SparseTerms {
			return f.Weights[r] * doubt
		}
		return f.Weights[r]
	}
	for _, l := range lists {
		total += weight(l.Retriever)
	}
	found := map[chunkID]*Candidate{}
	var out []*Candidate
	only := f.standout(lists, longest)
	best := 0.0
	for _, l := range lists {
		w := 1 / float64(len(lists)) // all weights 0: equal parts
		if total > 0 {
			w = weight(l.Retriever) / total
		}
		norm := f.normaliser(l, longest)
		if len(l.Hits) > 0 {
			best += w * norm(1, f.score(l, 0))
		}
		for i, h := range l.Hits {
			id := chunkID{h.Document, h.Chunk}
			c := found[id]
			if c == nil {
				c = &Candidate{Document: h.Document, Chunk: h.Chunk, Ranks: make(map[port.Retriever]Rank, len(lists))}
				found[id] = c
				out = append(out, c)
			}
			c.Ranks[l.Retriever] = Rank{i + 1, float64(h.Score), h.Terms}
			c.Score += w * min(norm(i+1, f.score(l, i)), only.bound(l, i))
		}
	}
	if best > 0 {
		for _, c := range out {
			c.Score = min(c.Score/best, 1)
		}
	}
	slices.SortFunc(out, less)
	for i, c := range out {
		c.Fused = Rank{Rank: i + 1, Score: c.Score}
	}
	return out
}

// What learned-sparse counts beside vectors and keywords follows from how many deviations the nearest chunk lies
// above the last of the vector list (docs/quality.md#learned-sparse).
const (
	unsure    = 3.0 // and below: vectors tell little
	sure      = 4.5 // and above: vectors know
	mostDoubt = 0.4 // of its weight: two other lists have spoken
)

// doubt is the share of its weight, 0 to 1, that learned-sparse has beside vectors and
// keywords. It knows less than either: what it adds helps where vectors find nothing
// that stands out, and where they do it takes more than it brings
// (docs/decisions.md#d-118).
func (f Fusion) doubt(lists []List, longest int) float64 {
	share, words := 1.0, false
	for _, l := range lists {
		words = words || l.Retriever == port.Keyword
		if l.Retriever == port.Vector && !l.RanksOnly && len(l.Hits) > 0 {
			z := f.normaliser(l, longest)(1, f.score(l, 0))
			share = mostDoubt * min(max((sure-z)/(sure-unsure), 0), 1)
		}
	}
	if f.Method == RRF || !words {
		return 1
	}
	return share
}

// standout is a keyword hit that stands alone, as the only chunk with a rare word does: it
// holds nearly all that its list has of scores. Among the chunks without any word of
// the query the nearest by cosine lies far before the others too, whatever they are about,
// and vectors weigh twice as much. So each of these counts for a little less than half of
// what the hit stands out by (docs/decisions.md#d-52), unless the lists hold the whole
// collection, and say how near the hit itself is.
type standout struct {
	found map[chunkID]bool // by keywords
	most  float64          // that a cosine of the others counts for
}

const (
	aloneFrom = 0.8   // share of what the only hit of a list stands out by
	nearest   = 0.495 // share of what the hit stands out by
)

// standout finds it; nil: there is none.
func (f Fusion) standout(lists []List, longest int) *standout {
	for _, l := range lists {
		if l.Retriever != port.Keyword || l.RanksOnly || len(l.Hits) == 0 || longest < f.Depth {
			continue
		}
		n := float64(longest)
		by := f.normaliser(l, longest)(1, f.score(l, 0))
		if by < aloneFrom*n/math.Sqrt(n-1) {
			continue
		}
		s := &standout{found: make(map[chunkID]bool, len(l.Hits)), most: nearest * by}
		for _, h := range l.Hits {
			s.found[chunkID{h.Document, h.Chunk}] = true
		}
		return s
	}
	return nil
}

// bound is the most that hit i of a list may count for. Hits that it holds down differ
// by a hair, so that they keep their order.
func (s *standout) bound(l List, i int) float64 {
	if s == nil || l.Retriever != port.Vector || s.found[chunkID{l.Hits[i].Document, l.Hits[i].Chunk}] {
		return math.Inf(1)
	}
	return s.most * (1 - beyond*float64(i))
}

// beyond keeps hits behind Depth in order without weighing anything.
const beyond = 1e-6

// normaliser gives a list's contribution by rank and score; longest is the
// length of the longest list fused, at most Depth.
func (f Fusion) normaliser(l List, longest int) func(rank int, score float64) float64 {
	if f.Method == RRF {
		return func(rank int, _ float64) float64 { return 1 / (f.K + float64(rank)) }
	}
	head := l.Hits[:min(len(l.Hits), f.Depth)]
	if len(head) == 0 {
		return func(int, float64) float64 { return 0 }
	}
	var sum, sum2 float64
	for i := range head {
		score := f.score(l, i)
		sum += score
		sum2 += score * score
	}
	n := float64(len(head))
	if l.Retriever != port.Vector {
		n = float64(longest)
	}
	mean := sum / n
	sd := math.Sqrt(max(sum2/n-mean*mean, 0))
	floor := f.score(l, len(head)-1)
	if l.Retriever != port.Vector {
		floor = min(floor, 0)
	}
	if sd < 1e-9 {
		return func(int, float64) float64 { return 1 }
	}
	return func(rank int, score float64) float64 {
		if rank > f.Depth {
			return beyond / float64(rank)
		}
		return max(score-floor, 0) / sd
	}
}
