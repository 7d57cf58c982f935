package embedded

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// The selection keeps what sorting would, ties by id, in the order offered.
func TestSelectionIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const n = 3000
	seg := plainSegment(t, n)
	for _, distinct := range []int{1, 2, 40, 1 << 20} {
		for _, k := range []int{1, 2, 7, 512, n - 1, n, 2 * n} {
			s := &snapshot{segs: []segView{{segment: seg}}, live: n}
			all := make([]candidate, n)
			for i := range all {
				all[i] = candidate{float32(r.IntN(distinct)), 0, uint32(i)}
			}
			sel := newSelection(s, k)
			for _, i := range r.Perm(n) {
				if all[i].score >= sel.floor() {
					sel.offer(all[i])
				}
			}
			got := slices.Clone(sel.best())
			order := &topK{snap: s}
			slices.SortFunc(got, order.compare)
			slices.SortFunc(all, order.compare)
			if !slices.Equal(got, all[:min(k, n)]) {
				t.Errorf("the best %d of %d scores are not those kept", k, distinct)
			}
		}
	}
}

// The scan of coarse codes gives each row that it may the sum of its parts, and keeps the best; a selection is cut when it
// has twice as many as it keeps, and what is as good as its worst may still come before that.
func TestTheScanOfCoarseCodes(t *testing.T) {
	const n = 40
	seg := plainSegment(t, n)
	s := &snapshot{segs: []segView{{segment: seg}}, live: n}
	r := rand.New(rand.NewPCG(4, 4))
	some := fullBitset(n)
	some.unset(5)
	some.unset(21)
	for _, set := range []bitset{nil, some} {
		sel := newSelection(s, 4)
		var all []candidate
		for _, at := range []int{24, 0} { // the later rows first
			dots, terms := make([]int32, n/2-4), []float32{}
			q := coarseQuery{step: .5, zero: 7, base: float32(at) / 8}
			for i := range dots {
				dots[i] = int32(r.IntN(60))
				scale, bias := .25+r.Float32(), r.Float32()
				if i == 3 {
					scale, bias = 0, float32(math.Inf(-1))
				}
				terms = append(terms, scale, bias)
				if row := uint32(at + i); i != 3 && (set == nil || set.has(row)) {
					score := q.base + bias + (float32(dots[i])-q.zero)*q.step*scale
					all = append(all, candidate{score, 0, row})
				}
			}
			sel.scan(dots, q, terms, 0, uint32(at), set)
		}
		got := slices.Clone(sel.best())
		order := &topK{snap: s}
		slices.SortFunc(got, order.compare)
		slices.SortFunc(all, order.compare)
		if !slices.Equal(got, all[:4]) {
			t.Errorf("kept %v, want %v", got, all[:4])
		}
	}
	sel := newSelection(s, 3)
	for i := range 6 {
		if got := sel.floor(); !math.IsInf(float64(got), -1) || sel.full {
			t.Fatalf("with %d the floor is %v", i, got)
		}
		sel.offer(candidate{float32(i), 0, uint32(20 + i)})
	}
	if got := sel.kth(2); got != 4 || !math.IsInf(float64(sel.kth(4)), -1) {
		t.Errorf("the second best is %v, the fourth %v", got, sel.kth(4))
	}
	if sel.floor() != 3 || !sel.full || len(sel.cand) != 3 {
		t.Errorf("after six the floor is %v, %d are kept", sel.floor(), len(sel.cand))
	}
	sel.scan([]int32{3}, coarseQuery{step: 1}, []float32{1, 0}, 0, 2, nil) // as good as the worst, and stands before it
	if got := sel.best(); len(got) != 3 || got[2] != (candidate{3, 0, 2}) {
		t.Errorf("kept %v", got)
	}
}

// A segment has coarse codes from 4096 chunks on.
func TestLargeSegmentsHaveCoarseCodes(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	for n, want := range map[int]bool{coarseLeast - 1: false, coarseLeast: true} {
		changes := make([]port.IndexChange, n)
		for i := range changes {
			changes[i] = port.IndexChange{Document: fmt.Sprintf("%06d", i),
				Entries: []port.Entry{{Vector: []float32{1, float32(i)}}}}
		}
		b := x.builders.Get().(*builder)
		seg, err := b.build(changes, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(seg.centre) == 2 && len(seg.coarse) == n && len(seg.coarseTerm) == 2*n; got != want || !want &&
			len(seg.centre)+len(seg.coarse)+len(seg.coarseTerm) > 0 {
			t.Errorf("%d chunks: %d, %d, %d", n, len(seg.centre), len(seg.coarse), len(seg.coarseTerm))
		}
	}
}

// plainSegment is a segment of n documents of one chunk.
func plainSegment(t *testing.T, n int) *segment {
	t.Helper()
	x, err := Open(Default(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	changes := make([]port.IndexChange, n)
	for i := range changes {
		changes[i] = port.IndexChange{Document: fmt.Sprintf("%06d", i), Entries: []port.Entry{{}}}
	}
	b := x.builders.Get().(*builder)
	seg, err := b.build(changes, 0)
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

// A coarse code estimates dot products without bias, and closely.
func TestCoarseEstimate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, dim := range []int{1, 2, 33, 384} {
		centre, q := make([]float32, dim), make([]float32, dim)
		for i := range centre {
			centre[i], q[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
		}
		q = normalized(q)
		k, err := simd.Best()
		if err != nil {
			t.Fatal(err)
		}
		e, near := newCoarseEncoder(centre), prepareCoarse(k, q, centre)
		code, v := make([]int8, dim), make([]float32, dim)
		for range 200 {
			var length float64
			for i := range v {
				v[i] = centre[i] + .3*float32(r.NormFloat64())
			}
			step := k.QuantizeInt8(code, v)
			row, scale, bias := e.encode(code, step)
			var dot [1]int32
			k.DotNibbles(dot[:], near.codes, row, len(row))
			got := float64(near.base + bias + (float32(dot[0])-near.zero)*near.step*scale)
			var want, off float64
			for i, c := range code {
				x := float64(step) * float64(c)
				want += x * float64(q[i])
				length += (x - float64(centre[i])) * (x - float64(centre[i]))
				off += (float64(q[i]) - float64(centre[i])) * (float64(q[i]) - float64(centre[i]))
			}
			// A nibble is off by half a step of a 7.5th of the largest component.
			if bound := .3*math.Sqrt(length*off) + 1e-4; math.Abs(got-want) > bound {
				t.Fatalf("dim %d: estimate %g of %g, bound %g", dim, got, want, bound)
			}
		}
	}
	e := newCoarseEncoder(make([]float32, 4))
	if _, _, bias := e.encode(nil, 0); !math.IsInf(float64(bias), -1) {
		t.Errorf("a chunk without a vector has bias %g", bias)
	}
}
