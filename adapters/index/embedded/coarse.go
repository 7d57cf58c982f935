package embedded

import (
	"context"
	"math"
	"slices"

	"github.com/mnemehq/mneme/core/simd"
)

// The first pass over vectors reads a third code of 4 bits a component, half
// the bytes of the int8 code. It holds what a vector differs by from the
// segment's centre, the mean vector: embedding models put all texts into a
// narrow cone, and 4 bits can't be spent on what they have in common. With
// r = v - centre ≈ scale*(nibble - coarseZero),
//
//	q·v = (q-centre)·r + (q-centre)·centre + centre·v
//
// whose last term is kept with each row. scale is |r|²/(r·code) rather than the
// step, which makes the estimate unbiased (RaBitQ, Gao and Long, SIGMOD 2024,
// section 3.2). The code is made from the int8 code, so it is the same whether
// a segment was built or merged, up to the centre.
const (
	coarseLeast  = 4096 // chunks of a segment that has coarse codes
	coarseZero   = 7.5
	centreSample = 2048 // rows that a centre is the mean of, at most
	coarseLimit  = 1e30 // of what is kept with a row, so that scores stay numbers
)

// vectorRows are the int8 codes of some chunks. A step of 0: no vector.
type vectorRows struct {
	n, dim int
	at     func(i int) (code []int8, step float32)
}

// spread are at most about m evenly spread rows that have a vector.
func (v vectorRows) spread(m int) (rows []uint32) {
	for i := 0; i < v.n; i += max((v.n+m-1)/m, 1) {
		if _, step := v.at(i); step != 0 {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// writeCoarse writes the sections of the coarse codes, in cells where the segment is a large file. Small segments go
// without codes: they are soon merged, and cost no time to scan.
func writeCoarse(ctx context.Context, k simd.Kernels, w *imageWriter, rows vectorRows) error {
	if rows.n < coarseLeast {
		return nil
	}
	centre := centreOf(rows)
	w.section(secCentre, raw(centre))
	e := newCoarseEncoder(centre)
	ordinal := func(i int) int { return i }
	if w.file && rows.n >= cellsLeast {
		c, err := findCells(ctx, k, rows)
		if err != nil {
			return err
		}
		if c != nil {
			c.write(k, w, rows, e)
			ordinal = func(i int) int { return int(c.rows[i]) }
		}
	}
	terms := make([]float32, 0, 2*rows.n)
	w.begin(secCoarse)
	buf := make([]byte, 0, 64*simd.NibbleBytes(rows.dim))
	for i := range rows.n {
		row, scale, bias := e.encode(rows.at(ordinal(i)))
		terms = append(terms, scale, bias)
		if buf = append(buf, row...); len(buf) == cap(buf) {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, _ = w.Write(buf) // w keeps the error
			buf = buf[:0]
		}
	}
	_, _ = w.Write(buf)
	w.section(secCoarseTerm, raw(terms))
	return nil
}

// centreOf is the mean of evenly spread rows.
func centreOf(rows vectorRows) []float32 {
	sum, n := make([]float32, rows.dim), 0
	for i := 0; i < rows.n; i += (rows.n + centreSample - 1) / centreSample {
		if code, step := rows.at(i); step != 0 {
			addRow(sum, code, step)
			n++
		}
	}
	for i, s := range sum {
		sum[i] = clampCoarse(float64(s) / float64(max(n, 1)))
	}
	return sum
}

func clampCoarse(v float64) float32 {
	if v != v {
		return 0
	}
	return float32(min(max(v, -coarseLimit), coarseLimit))
}

type coarseEncoder struct {
	centre, rest []float32
	nibbles      []uint8
	row          []byte
}

func newCoarseEncoder(centre []float32) *coarseEncoder {
	dim := len(centre)
	return &coarseEncoder{centre, make([]float32, dim), make([]uint8, dim), make([]byte, simd.NibbleBytes(dim))}
}

// encode codes one row; the result is overwritten by the next call. A row
// without a vector has a bias of minus infinity.
func (e *coarseEncoder) encode(code []int8, step float32) (row []byte, scale, bias float32) {
	if step == 0 {
		clear(e.row)
		return e.row, 0, float32(math.Inf(-1))
	}
	var most, shared float32
	rest, centre := e.rest[:len(code)], e.centre[:len(code)]
	for i, c := range code {
		v := step * float32(c)
		r := v - centre[i]
		rest[i] = r
		shared += centre[i] * v
		most = max(most, r, -r)
	}
	bias = clampCoarse(float64(shared))
	if most == 0 {
		clear(e.row)
		return e.row, 0, bias
	}
	inv := 8 / most
	var norm, match float32
	nibbles := e.nibbles[:len(rest)]
	for i, r := range rest {
		u := r * inv
		n := min(int32(u+8), 15) // u is from -8 to 8
		nibbles[i] = uint8(n)
		norm += u * u
		match += u * (float32(n) - coarseZero)
	}
	simd.PackNibbles(e.row, nibbles)
	return e.row, clampCoarse(float64(norm) / float64(match) / float64(inv)), bias
}

// coarseQuery is a query as the coarse codes of one segment see it.
type coarseQuery struct {
	codes      simd.NibbleQuery
	step       float32
	zero, base float32
}

// score is the estimate of a product by a row's code, from the dot product of both codes and the row's terms.
func (q *coarseQuery) score(dot int32, terms []float32) float32 {
	_ = terms[1]
	return q.base + terms[1] + (float32(dot)-q.zero)*q.step*terms[0]
}

// normalized is v at length 1.
func normalized(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / norm)
	}
	return unit
}

// prepareCoarse fits a query of length 1 to a segment.
func prepareCoarse(k simd.Kernels, q, centre []float32) coarseQuery {
	rest, code := make([]float32, len(q)), make([]int8, len(q))
	var base float64
	for i, c := range centre {
		rest[i] = q[i] - c
		base += float64(rest[i]) * float64(c)
	}
	c := coarseQuery{step: k.QuantizeInt8(code, rest), base: clampCoarse(base)}
	var sum int32
	for _, v := range code {
		sum += int32(v)
	}
	c.zero = coarseZero * float32(sum)
	c.codes = k.PrepareNibbleQuery(code)
	return c
}

// selection keeps the best k candidates of a pass, in the order they came. It
// collects 2k candidates before it drops the worse half, so that a candidate costs
// less than in a heap.
type selection struct {
	topK   *topK // its order
	k      int
	cand   []candidate
	full   bool
	worst  candidate // of the kept, once full
	scores []float32
}

func newSelection(s *snapshot, k int) *selection {
	return &selection{topK: &topK{snap: s}, k: k, cand: make([]candidate, 0, min(2*k, s.live))}
}

// floor is the score below which nothing can enter; equal scores can.
func (s *selection) floor() float32 {
	if !s.full {
		return float32(math.Inf(-1))
	}
	return s.worst.score
}

func (s *selection) offer(f candidate) {
	if s.full && s.topK.compare(f, s.worst) >= 0 {
		return
	}
	if s.cand = append(s.cand, f); len(s.cand) >= 2*s.k {
		s.cut()
	}
}

// scan offers the rows at.. of a segment, of those in set, with the score that their coarse codes give.
func (s *selection) scan(dots []int32, q coarseQuery, terms []float32, seg, at uint32, set bitset) {
	floor := max(s.floor(), -math.MaxFloat32) // without a vector a row's score is below
	terms = terms[:2*len(dots)]
	for j, d := range dots {
		if score := q.score(d, terms[2*j:]); score >= floor {
			if row := at + uint32(j); set == nil || set.has(row) {
				s.offer(candidate{score, seg, row})
				floor = max(s.floor(), -math.MaxFloat32)
			}
		}
	}
}

// scanListed is scan for the rows at the places of a segment's cells that list has.
func (s *selection) scanListed(dots []int32, q coarseQuery, segment *segment, seg uint32, list []uint32) {
	floor := max(s.floor(), -math.MaxFloat32)
	dots = dots[:len(list)]
	for j, place := range list {
		if score := q.score(dots[j], segment.coarseTerm[2*place:]); score >= floor {
			s.offer(candidate{score, seg, segment.cellRow[place]})
			floor = max(s.floor(), -math.MaxFloat32)
		}
	}
}

// cut drops all but the best k.
func (s *selection) cut() {
	if len(s.cand) <= s.k {
		return
	}
	s.scores = s.scores[:0]
	for _, c := range s.cand {
		s.scores = append(s.scores, c.score)
	}
	least := kthLargest(s.scores, s.k)
	above := 0
	var equal []candidate
	for _, c := range s.cand {
		if c.score > least {
			above++
		} else if c.score == least {
			equal = append(equal, c)
		}
	}
	slices.SortFunc(equal, s.topK.compare)
	s.worst, s.full = equal[s.k-above-1], true
	kept := s.cand[:0]
	for _, c := range s.cand {
		if s.topK.compare(c, s.worst) <= 0 {
			kept = append(kept, c)
		}
	}
	s.cand = kept
}

// kth is the k-th best score so far; minus infinity: there are fewer.
func (s *selection) kth(k int) float32 {
	if len(s.cand) < k {
		return float32(math.Inf(-1))
	}
	s.scores = s.scores[:0]
	for _, c := range s.cand {
		s.scores = append(s.scores, c.score)
	}
	return kthLargest(s.scores, k)
}

// best is the kept candidates, in the order they came.
func (s *selection) best() []candidate {
	s.cut()
	return s.cand
}

// kthLargest reorders v, numbers all, and returns its k-th largest (Hoare's
// Find).
func kthLargest(v []float32, k int) float32 {
	k--
	lo, hi := 0, len(v)-1
	for lo < hi {
		a, b, c := v[lo], v[lo+(hi-lo)/2], v[hi]
		pivot := max(min(a, b), min(max(a, b), c)) // the median
		i, j := lo, hi
		for i <= j {
			for v[i] > pivot {
				i++
			}
			for v[j] < pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	return v[k]
}
