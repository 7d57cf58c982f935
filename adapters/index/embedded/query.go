package embedded

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mnemehq/mneme/core/port"
)

// allowance is what a search may answer from one segment.
type allowance struct {
	set  bitset // nil: all
	none bool
}

// queryTerm is a distinct term of a query.
type queryTerm struct {
	term    string
	sparse  uint32
	weight  float32
	surface []string // the forms in which the user wrote it
}

// keywordTerms analyses a query.
func (x *Index) keywordTerms(q port.Wording) []queryTerm {
	words := x.analyzer.Query(q, x.cfg.Keyword.StopWords)
	terms := make([]queryTerm, len(words))
	for i, w := range words {
		terms[i] = queryTerm{term: w.Term, weight: w.Weight, surface: w.Surface}
	}
	return terms
}

// Spans implements port.Highlighter.
func (x *Index) Spans(query, text port.Wording) []port.Span {
	return x.analyzer.Spans(x.analyzer.Query(query, x.cfg.Keyword.StopWords), text)
}

// sparseTerms reads a query's terms; nil weights are left at 0 for now.
func sparseTerms(q port.IndexQuery) ([]queryTerm, error) {
	var terms []queryTerm
	if q.SparseWeights == nil {
		for i, t := range q.SparseTerms {
			if i == 0 || t != q.SparseTerms[i-1] {
				terms = append(terms, queryTerm{sparse: t})
			}
		}
		return terms, nil
	}
	if len(q.SparseTerms) != len(q.SparseWeights) {
		return nil, fmt.Errorf("query has %d sparse terms and %d weights", len(q.SparseTerms), len(q.SparseWeights))
	}
	for i, t := range q.SparseTerms {
		if w := q.SparseWeights[i]; w > 0 && w <= 1e30 {
			terms = append(terms, queryTerm{sparse: t, weight: w})
		}
	}
	return terms, nil
}

// searchTerms ranks by keyword (BM25) or sparse terms (dot product).
func (x *Index) searchTerms(ctx context.Context, s *snapshot, allow []allowance,
	q port.IndexQuery) ([]candidate, []queryTerm, error) {
	var terms []queryTerm
	keyword := q.Retriever == port.Keyword
	if keyword {
		terms = x.keywordTerms(q.Wording())
	} else {
		var err error
		if terms, err = sparseTerms(q); err != nil {
			return nil, nil, err
		}
	}
	counted := keyword || q.SparseWeights == nil // weights need document frequencies
	if len(terms) == 0 {
		return nil, nil, nil
	}
	entries := make([]entry, len(terms)*len(s.segs))
	df := make([]int, len(terms))
	lists := secSparse
	if keyword {
		lists = secPostings
	}
	var r postingReader
	for i, v := range s.segs {
		for t := range terms {
			e := &entries[i*len(terms)+t]
			if keyword {
				*e, _ = v.segment.term(terms[t].term)
			} else {
				*e, _ = v.segment.sparseTerm(terms[t].sparse)
			}
			if counted {
				df[t] += v.frequency(&r, v.segment.sec[lists], *e)
			}
		}
	}
	var avg float32
	if s.live > 0 {
		avg = float32(s.words) / float32(s.live)
	}
	for t := range terms {
		switch {
		case keyword:
			terms[t].weight *= idf(df[t], s.live)
		case counted && df[t] > 0:
			terms[t].weight = float32(math.Log(1 + float64(s.live)/float64(df[t])))
		}
	}
	best := newTopK(s, q.Limit)
	sc := x.scorers.get() // put back only when it is left clean
	for i, v := range s.segs {
		if allow[i].none {
			continue
		}
		sc.reset()
		m := &impacts{weights: x.weights, slack: 1}
		if keyword {
			m = keywordImpacts(v.segment, x.rank, avg)
		}
		for t := range terms {
			if e := entries[i*len(terms)+t]; e.df > 0 {
				sc.add(t, v.segment.sec[lists][e.off:], e, terms[t].weight)
			}
		}
		if err := sc.run(ctx, best, uint32(i), v.segment.chunks, allow[i].set, m); err != nil {
			return nil, nil, err
		}
	}
	x.scorers.put(sc)
	return best.sorted(), terms, nil
}

// explain finds the query terms that each of the found chunks holds, as the
// user wrote them, in the order of the query.
func (x *Index) explain(s *snapshot, terms []queryTerm, hits []candidate, out []port.Hit) {
	order := make([]int, len(hits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if hits[a].seg != hits[b].seg {
			return int(hits[a].seg) - int(hits[b].seg)
		}
		return int(hits[a].ord) - int(hits[b].ord)
	})
	var r postingReader
	for _, t := range terms {
		seg := -1
		var ok bool
		for _, h := range order {
			f := hits[h]
			if int(f.seg) != seg {
				seg = int(f.seg)
				var e entry
				if e, ok = s.segs[seg].segment.term(t.term); ok {
					r.reset(s.segs[seg].segment.sec[secPostings][e.off:], e.df, e.bound)
				}
			}
			if ok && r.seek(f.ord) && r.docs[r.at] == f.ord {
				for _, w := range t.surface {
					if !slices.Contains(out[h].Terms, w) {
						out[h].Terms = append(out[h].Terms, w)
					}
				}
			}
		}
	}
}
