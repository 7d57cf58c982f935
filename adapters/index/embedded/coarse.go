package embedded

import (
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

// codes calls do with the int8 code and step of each chunk.
type codes func(do func(code []int8, step float32))

// writeCoarse writes the sections of the coarse codes of n chunks. Small
// segments go without: they are soon merged, and cost no time to scan.
func writeCoarse(w *imageWriter, n, dim int, each codes) {
	if n < coarseLeast {
		return
	}
	centre := centreOf(n, dim, each)
	w.section(secCentre, raw(centre))
	terms := make([]float32, 0, 2*n)
	w.begin(secCoarse)
	e := newCoarseEncoder(centre)
	buf := make([]byte, 0, 64*simd.NibbleBytes(dim))
	each(func(code []int8, step float32) {
		row, scale, bias := e.encode(code, step)
		terms = append(terms, scale, bias)
		if buf = append(buf, row...); len(buf) == cap(buf) {
			_, _ = w.Write(buf) // w keeps the error
			buf = buf[:0]
		}
	})
	_, _ = w.Write(buf)
	w.section(secCoarseTerm, raw(terms))
}

// centreOf is the mean of evenly spread rows.
func centreOf(n, dim int, each codes) []float32 {
	sum, rows, at := make([]float32, dim), 0, 0
	every := (n + centreSample - 1) / centreSample
	each(func(code []int8, step float32) {
		if at++; step == 0 || (at-1)%every != 0 {
			return
		}
		rows++
		for i, c := range code {
			sum[i] += step * float32(c)
		}
	})
	for i, s := range sum {
		sum[i] = clampCoarse(float64(s) / float64(max(rows, 1)))
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

// scan offers the rows at.. of a segment, of those in set, with the score that
// their coarse codes give.
func (s *selection) scan(dots []int32, q coarseQuery, terms []float32, seg, at uint32, set bitset) {
	floor := max(s.floor(), -math.MaxFloat32) // without a vector a row's score is below
	terms = terms[:2*len(dots)]
	for j, d := range dots {
		if score := q.base + terms[2*j+1] + (float32(d)-q.zero)*q.step*terms[2*j]; score >= floor {
			if row := at + uint32(j); set == nil || set.has(row) {
				s.offer(candidate{score, seg, row})
				floor = max(s.floor(), -math.MaxFloat32)
			}
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
