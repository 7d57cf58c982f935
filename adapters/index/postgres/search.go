package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// maxHits is the largest limit of a query.
const maxHits = 1000

// Search implements port.Index. It reads one snapshot.
func (x *Index) Search(ctx context.Context, p port.Partition, q port.IndexQuery) ([]port.Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkPinned(p); err != nil {
		return nil, err
	}
	if q.Limit < 1 || q.Limit > maxHits {
		return nil, fmt.Errorf("postgres index: limit %d is not between 1 and %d", q.Limit, maxHits)
	}
	var terms []queryTerm
	switch q.Retriever {
	case port.Keyword:
		terms = x.keywordTerms(q.Wording())
	case port.SparseTerms:
		var err error
		if terms, err = sparseTerms(q); err != nil {
			return nil, fmt.Errorf("postgres index: %w", err)
		}
	case port.Vector:
		for _, v := range q.Vector {
			if !(v >= -largestHalf && v <= largestHalf) {
				return nil, fmt.Errorf("postgres index: the query's vector has a component %g, which half precision "+
					"does not hold", v)
			}
		}
	default:
		return nil, fmt.Errorf("postgres index: no retriever %q", q.Retriever)
	}
	if q.Retriever != port.Vector && len(terms) == 0 {
		return nil, nil
	}
	var hits []port.Hit
	err := x.run(ctx, "search "+p.String(), viewing, func(c *pgxpool.Conn) error {
		var err error
		s := &search{x: x, c: c, generation: p.Generation(), q: q, terms: terms}
		hits, err = s.run(ctx, p)
		return err
	})
	return hits, err
}

// search is one query within its snapshot.
type search struct {
	x          *Index
	c          *pgxpool.Conn
	generation int64
	q          port.IndexQuery
	terms      []queryTerm

	state partition
	// All by span.
	dead     map[int32]mask
	inBounds map[int32]mask // within the bounds, where there are some
	lists    []list         // of terms, by span, then term
	facets   map[int32]map[string][]byte
	allowed  map[int32]mask // nil: all that live
}

// list is what one term has in one span, or a part of it.
type list struct {
	span int32
	term int // of the query
	data []byte
}

func (s *search) bounded() bool { return s.q.After != nil || s.q.Before != nil }

func (s *search) run(ctx context.Context, p port.Partition) ([]port.Hit, error) {
	if found, err := s.read(ctx); err != nil || !found {
		return nil, err
	}
	if err := s.state.checkOwner(p); err != nil {
		return nil, err
	}
	if s.state.analyzer != s.x.analyzer.Version() {
		return nil, port.ErrGap
	}
	s.computeAllowed()
	if s.q.Retriever == port.Vector {
		return s.searchVectors(ctx)
	}
	s.weigh()
	return s.hitsOf(ctx, s.score())
}

// read fetches in one round trip what the partition has about the query; false:
// there is no such partition.
func (s *search) read(ctx context.Context) (bool, error) {
	keys := make([][]byte, 0, len(s.terms))
	at := make(map[string]int, len(s.terms))
	for i := range s.terms {
		at[string(s.terms[i].key)] = i
		keys = append(keys, s.terms[i].key)
	}
	if s.q.Filter != nil {
		keys = facetKeys(keys, s.q.Filter)
	}
	for _, k := range keys[len(s.terms):] {
		at[string(k)] = facet
	}
	keys = append(keys, []byte{packList})
	var b pgx.Batch
	b.Queue(partitionRow, s.generation)
	masks := s.q.Retriever != port.Vector || s.q.Filter != nil || s.bounded()
	if masks {
		query := "SELECT block, dead, NULL::bytea FROM index_block WHERE generation = $1 AND dead IS NOT NULL"
		if s.bounded() {
			query = "SELECT block, dead, times FROM index_block WHERE generation = $1"
		}
		b.Queue(query, s.generation)
		// A look-up for each span and term, whatever the statistics say.
		b.Queue("SELECT p.term, p.span, p.data FROM index_partition s CROSS JOIN LATERAL generate_series(s.first, "+
			"((s.next - 1) / $3)::int) AS g(span) CROSS JOIN LATERAL (SELECT * FROM index_posting WHERE generation = $1 "+
			"AND span = g.span AND term = ANY($2) OFFSET 0) AS p WHERE s.generation = $1",
			s.generation, keys, spanLen)
	}
	r := s.c.SendBatch(ctx, &b)
	err := s.receive(r, masks, at)
	if e := r.Close(); err == nil {
		err = e
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (s *search) receive(r pgx.BatchResults, masks bool, at map[string]int) error {
	if err := s.state.scan(r.QueryRow()); err != nil || !masks {
		return err
	}
	s.dead, s.inBounds, s.facets = map[int32]mask{}, map[int32]mask{}, map[int32]map[string][]byte{}
	rows, err := r.Query()
	if err != nil {
		return err
	}
	var block, span int32
	var one, two []byte
	if _, err := pgx.ForEachRow(rows, []any{&block, &one, &two}, func() error {
		if one != nil {
			spanMask(s.dead, block/blocks, block).read(one)
		}
		if two != nil {
			s.markTimes(spanMask(s.inBounds, block/blocks, block), two)
		}
		return nil
	}); err != nil {
		return err
	}
	if rows, err = r.Query(); err != nil {
		return err
	}
	take := func(key, data []byte) {
		i, ok := at[string(key)]
		switch {
		case ok && i != facet:
			s.lists = append(s.lists, list{span, i, data})
		case ok:
			if s.facets[span] == nil {
				s.facets[span] = map[string][]byte{}
			}
			s.facets[span][string(key)] = append(s.facets[span][string(key)], data...)
		}
	}
	_, err = pgx.ForEachRow(rows, []any{&one, &span, &two}, func() error {
		data := bytes.Clone(two) // the driver's buffer is used again
		if len(one) == 1 && one[0] == packList {
			return unpack(data, take)
		}
		take(one, data)
		return nil
	})
	slices.SortFunc(s.lists, func(a, b list) int { return cmp.Or(cmp.Compare(a.span, b.span), cmp.Compare(a.term, b.term)) })
	return err
}

// spanMask is a block's part of the mask of its span, which is made where absent.
func spanMask(masks map[int32]mask, span, block int32) mask {
	if masks[span] == nil {
		masks[span] = newMask(spanLen)
	}
	return blockMask(masks[span], block)
}

// markTimes marks the chunks of a block whose times are within the query's bounds.
func (s *search) markTimes(m mask, times []byte) {
	for i := 0; i < blockLen && 8*(i+1) <= len(times); i++ {
		t := int64(binary.LittleEndian.Uint64(times[8*i:]))
		if t != 0 && (s.q.After == nil || t > *s.q.After) && (s.q.Before == nil || t < *s.q.Before) {
			m.set(i)
		}
	}
}

// facet takes the place of a term's number for the keys of the filter.
const facet = -1

// facetKeys adds the keys that a filter names.
func facetKeys(keys [][]byte, f *filter.Filter) [][]byte {
	for i := range f.Args {
		keys = facetKeys(keys, &f.Args[i])
	}
	if f.Op == filter.In {
		for _, v := range f.Values {
			keys = append(keys, facetKey(filter.Token(f.Key, v)))
		}
	}
	return keys
}

// computeAllowed finds the chunks that filter and bounds allow.
func (s *search) computeAllowed() {
	if s.q.Filter == nil && !s.bounded() {
		return
	}
	s.allowed = map[int32]mask{}
	if s.q.Filter != nil {
		for span, facets := range s.facets {
			s.allowed[span] = matching(s.q.Filter, facets)
		}
	}
	if s.bounded() {
		for span, m := range s.inBounds {
			if s.q.Filter == nil {
				s.allowed[span] = m
			} else if have := s.allowed[span]; have != nil {
				have.and(m)
			}
		}
	}
	for span, m := range s.allowed {
		if d := s.dead[span]; d != nil {
			m.without(d)
		}
		if s.bounded() && s.inBounds[span] == nil || m.count() == 0 {
			delete(s.allowed, span)
		}
	}
}

// matching are the places of a span that a filter matches.
func matching(f *filter.Filter, facets map[string][]byte) mask {
	switch f.Op {
	case filter.And:
		m := matching(&f.Args[0], facets)
		for i := range f.Args[1:] {
			m.and(matching(&f.Args[1+i], facets))
		}
		return m
	case filter.Or:
		m := matching(&f.Args[0], facets)
		for i := range f.Args[1:] {
			m.or(matching(&f.Args[1+i], facets))
		}
		return m
	}
	m := newMask(spanLen)
	for _, v := range f.Values {
		for d := facets[string(facetKey(filter.Token(f.Key, v)))]; len(d) >= facetEntry; d = d[facetEntry:] {
			m.set(firstPlace(d))
		}
	}
	return m
}

// queryTerm is a distinct term of a query.
type queryTerm struct {
	key     []byte
	weight  float32
	surface []string // the forms in which the user wrote it
}

// keywordTerms analyses a query.
func (x *Index) keywordTerms(q port.Wording) []queryTerm {
	words := x.analyzer.Query(q, x.cfg.Keyword.StopWords)
	terms := make([]queryTerm, len(words))
	for i, w := range words {
		terms[i] = queryTerm{key: keywordKey([]byte(w.Term)), weight: w.Weight, surface: w.Surface}
	}
	return terms
}

// Spans implements port.Highlighter.
func (x *Index) Spans(query, text port.Wording) []port.Span {
	return x.analyzer.Spans(x.analyzer.Query(query, x.cfg.Keyword.StopWords), text)
}

// sparseTerms reads a query's terms; nil weights are left at 0 for now.
func sparseTerms(q port.IndexQuery) ([]queryTerm, error) {
	if q.SparseWeights != nil && len(q.SparseTerms) != len(q.SparseWeights) {
		return nil, fmt.Errorf("the query has %d sparse terms and %d weights", len(q.SparseTerms), len(q.SparseWeights))
	}
	var terms []queryTerm
	for i, t := range q.SparseTerms {
		if i > 0 && t <= q.SparseTerms[i-1] {
			if t == q.SparseTerms[i-1] && q.SparseWeights == nil {
				continue
			}
			return nil, errors.New("the query's sparse terms do not rise")
		}
		term := queryTerm{key: sparseKey(t)}
		if q.SparseWeights != nil {
			if term.weight = q.SparseWeights[i]; !(term.weight > 0 && term.weight <= 1e30) {
				continue
			}
		}
		terms = append(terms, term)
	}
	return terms, nil
}

// weigh gives the terms their weights where these come from how many of the
// chunks that live have them.
func (s *search) weigh() {
	keyword := s.q.Retriever == port.Keyword
	if !keyword && s.q.SparseWeights != nil {
		return
	}
	df := make([]int, len(s.terms))
	for _, l := range s.lists {
		dead := s.dead[l.span]
		if dead == nil {
			df[l.term] += len(l.data) / rankedEntry
			continue
		}
		for d := l.data; len(d) >= rankedEntry; d = d[rankedEntry:] {
			if !dead.has(firstPlace(d)) {
				df[l.term]++
			}
		}
	}
	n := int(s.state.live)
	for i := range s.terms {
		switch {
		case keyword:
			s.terms[i].weight *= idf(df[i], n)
		case df[i] > 0:
			s.terms[i].weight = float32(math.Log(1 + float64(n)/float64(df[i])))
		}
	}
}

// idf is BM25's with one added inside the logarithm, so that it stays positive.
func idf(df, n int) float32 {
	df = min(df, n)
	return float32(math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5)))
}

// scored is a chunk with its score.
type scored struct {
	score float32
	ord   int64
}

// best gathers the limit best of what is offered, and all that tie with the last
// of them: whose document comes first is not known yet.
type best struct {
	limit, room int
	floor       float32
	found       []scored
}

func newBest(limit int) *best {
	return &best{limit: limit, room: 2*limit + 256, floor: float32(math.Inf(-1))}
}

func (b *best) offer(s scored) {
	if s.score < b.floor {
		return
	}
	if b.found = append(b.found, s); len(b.found) >= b.room {
		b.cut()
		b.room = max(b.room, 2*len(b.found))
	}
}

func (b *best) cut() {
	slices.SortFunc(b.found, func(x, y scored) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.ord, y.ord)) })
	if len(b.found) < b.limit {
		return
	}
	b.floor = b.found[b.limit-1].score
	n := b.limit
	for n < len(b.found) && b.found[n].score == b.floor {
		n++
	}
	b.found = b.found[:n]
}

// score walks over the lists a span at a time. Sums are in float64, where that
// of a few float32 is exact, so they do not depend on the order of terms.
func (s *search) score() []scored {
	top := newBest(s.q.Limit)
	sums, touched := make([]float64, spanLen), newMask(spanLen)
	k1, b := float32(s.x.cfg.Keyword.K1), float32(s.x.cfg.Keyword.B)
	flat, slope := k1, float32(0)
	if s.state.words > 0 {
		flat, slope = k1*(1-b), k1*b/(float32(s.state.words)/float32(s.state.live))
	}
	for lo, hi := 0, 0; lo < len(s.lists); lo = hi {
		span := s.lists[lo].span
		for hi = lo; hi < len(s.lists) && s.lists[hi].span == span; hi++ {
		}
		if s.allowed != nil && s.allowed[span] == nil {
			continue
		}
		for _, l := range s.lists[lo:hi] {
			factor := s.terms[l.term].weight
			if s.q.Retriever == port.Keyword {
				factor *= k1 + 1
				for d := l.data; len(d) >= rankedEntry; d = d[rankedEntry:] {
					i, pay := firstPlace(d), binary.LittleEndian.Uint32(d[2:])
					touched.set(i)
					sums[i] += float64(bm25(factor, float32(pay&0xffff), flat, slope, float32(pay>>16)))
				}
				continue
			}
			for d := l.data; len(d) >= rankedEntry; d = d[rankedEntry:] {
				i, pay := firstPlace(d), binary.LittleEndian.Uint32(d[2:])
				touched.set(i)
				sums[i] += float64(factor * math.Float32frombits(pay))
			}
		}
		if s.allowed != nil {
			touched.and(s.allowed[span])
		} else if d := s.dead[span]; d != nil {
			touched.without(d)
		}
		touched.each(func(i int) { top.offer(scored{float32(sums[i]), int64(span)*spanLen + int64(i)}) })
		clear(touched)
		clear(sums)
	}
	top.cut()
	return top.found
}

// bm25 spells out roundings, so that no compiler fuses operations and equal
// chunks score the same everywhere.
func bm25(top, tf, flat, slope, words float32) float32 {
	return float32(top*tf) / float32(tf+float32(flat+float32(slope*words)))
}

// hitsOf turns chunk numbers into hits, ties in order.
func (s *search) hitsOf(ctx context.Context, found []scored) ([]port.Hit, error) {
	if len(found) == 0 {
		return nil, nil
	}
	at := make(map[int64]int, len(found))
	ords := make([]int64, len(found))
	for i, f := range found {
		at[f.ord], ords[i] = i, f.ord
	}
	rows, err := s.c.Query(ctx, "SELECT c.ord, c.document, c.chunk FROM "+
		fmt.Sprintf(eachOrd, "index_chunk WHERE generation = $1 AND ord = o.ord"), s.generation, ords)
	if err != nil {
		return nil, err
	}
	type named struct {
		port.Hit
		ord int64
	}
	var ord int64
	var document string
	var chunk int
	hits := make([]named, 0, len(found))
	if _, err := pgx.ForEachRow(rows, []any{&ord, &document, &chunk}, func() error {
		hits = append(hits, named{port.Hit{Document: document, Chunk: chunk, Score: found[at[ord]].score}, ord})
		return nil
	}); err != nil {
		return nil, err
	}
	if len(hits) != len(found) {
		return nil, fmt.Errorf("%d chunks are in postings alone", len(found)-len(hits))
	}
	slices.SortFunc(hits, func(a, b named) int { return compareHits(a.Hit, b.Hit) })
	hits = hits[:min(len(hits), s.q.Limit)]
	out := make([]port.Hit, len(hits))
	for i, h := range hits {
		out[i] = h.Hit
		if s.q.Explain && s.q.Retriever == port.Keyword {
			out[i].Terms = s.matched(h.ord)
		}
	}
	return out, nil
}

func compareHits(a, b port.Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Chunk, b.Chunk))
}

// matched are the query terms that a chunk has, as the user wrote them, in the
// order of the query.
func (s *search) matched(ord int64) []string {
	var out []string
	span, at := int32(ord/spanLen), int(ord%spanLen)
	i, _ := slices.BinarySearchFunc(s.lists, span, func(l list, span int32) int { return cmp.Compare(l.span, span) })
	for ; i < len(s.lists) && s.lists[i].span == span; i++ {
		l := s.lists[i]
		for d := l.data; len(d) >= rankedEntry; d = d[rankedEntry:] {
			if firstPlace(d) != at {
				continue
			}
			for _, w := range s.terms[l.term].surface {
				if !slices.Contains(out, w) {
					out = append(out, w)
				}
			}
			break
		}
	}
	return out
}
