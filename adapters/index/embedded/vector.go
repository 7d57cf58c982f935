package embedded

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

const (
	scanRows    = 2048 // rows a kernel call scores; the context is checked between calls
	sparseScan  = 4    // with fewer than 1/sparseScan of the rows allowed, rows are picked one by one
	sparseCells = 32   // the same of a segment in cells
	coarsePass  = 512  // least number of rows that pass the scan of coarse codes
	coarseTimes = 8    // and their number for each result asked for
	coarseShare = 1000 // and the part of all rows: the denser they lie, the more come between
	coarseMost  = 4096 // but no more than these
	finePass    = 256  // least number of rows that are scored with second codes
)

// searchVector scans coarse codes, or int8 codes where few rows are allowed or
// there is no coarse code, scores the best again with int8 codes, and the best of those with the second
// codes of both sides, which hold a component to about 16 bits. Each pass keeps
// more than asked for, because its scores are off: by some 1e-2 and 1e-3.
func (x *Index) searchVector(ctx context.Context, s *snapshot, allow []allowance, q port.IndexQuery) ([]candidate, error) {
	if s.dim == 0 {
		return nil, nil
	}
	if len(q.Vector) != s.dim {
		return nil, fmt.Errorf("query vector of %d dimensions, the partition has %d", len(q.Vector), s.dim)
	}
	for _, v := range q.Vector {
		if v != v || v > math.MaxFloat32 || v < -math.MaxFloat32 {
			return nil, fmt.Errorf("query vector is not finite")
		}
	}
	code, residue := make([]int8, s.dim), make([]int8, s.dim)
	step := quantize(x.kernels, code, residue, q.Vector)
	if step == 0 {
		return nil, nil
	}
	first := simd.PrepareQuery(code)
	unit := normalized(q.Vector)
	fine := newTopK(s, max(finePass, q.Limit+q.Limit/2))
	coarse := newSelection(s, max(coarsePass, coarseTimes*q.Limit, min(s.live/coarseShare, coarseMost)))
	dots := make([]int32, scanRows)
	filtered := q.Filter != nil || q.After != nil || q.Before != nil
	var rows []uint32
	for i, v := range s.segs {
		if allow[i].none || v.segment.dim == 0 {
			continue
		}
		seg, set := v.segment, allow[i].set
		passing, picked := seg.chunks, seg.chunks/sparseScan
		if set != nil {
			passing = set.count()
		}
		if len(seg.cellEnd) > 0 {
			picked = seg.chunks / sparseCells
		}
		if passing < picked {
			rows = set.ordinals(rows[:0])
			for at := 0; at < len(rows); at += scanRows {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				part := rows[at:min(len(rows), at+scanRows)]
				x.kernels.DotRowsAt(dots[:len(part)], first, seg.code, seg.dim, part)
				floor := fine.floor()
				for j, row := range part {
					if score := float32(dots[j]) * step * seg.scale[row]; score >= floor && seg.scale[row] != 0 {
						fine.offer(candidate{score, uint32(i), row})
						floor = fine.floor()
					}
				}
			}
			continue
		}
		var near coarseQuery
		hasCoarse := len(seg.centre) > 0
		if hasCoarse {
			near = prepareCoarse(x.kernels, unit, seg.centre)
		}
		if len(seg.cellEnd) > 0 {
			if err := x.scanCells(ctx, coarse, near, seg, uint32(i), set, passing, q.Limit, filtered); err != nil {
				return nil, err
			}
			continue
		}
		for at := 0; at < seg.chunks; at += scanRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n := min(scanRows, seg.chunks-at)
			if hasCoarse {
				width := simd.NibbleBytes(seg.dim)
				x.kernels.DotNibbles(dots[:n], near.codes, seg.coarse[at*width:], width)
				coarse.scan(dots[:n], near, seg.coarseTerm[2*at:2*(at+n)], uint32(i), uint32(at), set)
				continue
			}
			x.kernels.DotRows(dots[:n], first, seg.code[at*seg.dim:], seg.dim)
			floor := fine.floor()
			scale := seg.scale[at : at+n]
			for j, d := range dots[:n] {
				if score := float32(d) * step * scale[j]; score >= floor {
					if row := uint32(at + j); scale[j] != 0 && (set == nil || set.has(row)) {
						fine.offer(candidate{score, uint32(i), row})
						floor = fine.floor()
					}
				}
			}
		}
	}
	x.refine(s, fine, coarse.best(), first, step)
	return x.rescore(s, fine.heap, code, residue, step, q.Limit), nil
}

// refine offers candidates, ordered by segment and chunk, with the score of
// their int8 codes.
func (x *Index) refine(s *snapshot, fine *topK, cand []candidate, first simd.Query, step float32) {
	rows, dots := make([]uint32, 0, len(cand)), make([]int32, len(cand))
	for len(cand) > 0 {
		seg := s.segs[cand[0].seg].segment
		rows = rows[:0]
		for n := 0; n < len(cand) && cand[n].seg == cand[0].seg; n++ {
			rows = append(rows, cand[n].ord)
		}
		x.kernels.DotRowsAt(dots, first, seg.code, seg.dim, rows)
		floor := fine.floor()
		for i, c := range cand[:len(rows)] {
			if c.score = float32(dots[i]) * step * seg.scale[c.ord]; c.score >= floor {
				fine.offer(c)
				floor = fine.floor()
			}
		}
		cand = cand[len(rows):]
	}
}

// rescore gives candidates their cosine from both codes of both sides.
func (x *Index) rescore(s *snapshot, cand []candidate, code, residue []int8, step float32, k int) []candidate {
	slices.SortFunc(cand, func(a, b candidate) int {
		if a.seg != b.seg {
			return int(a.seg) - int(b.seg)
		}
		return int(a.ord) - int(b.ord)
	})
	first, second := simd.PrepareQuery(code), simd.PrepareQuery(residue)
	best := newTopK(s, k)
	var rows []uint32
	var dots [4][]int32
	for len(cand) > 0 {
		n := 1
		for n < len(cand) && cand[n].seg == cand[0].seg {
			n++
		}
		seg := s.segs[cand[0].seg].segment
		rows = rows[:0]
		for _, c := range cand[:n] {
			rows = append(rows, c.ord)
		}
		for i := range dots {
			dots[i] = slices.Grow(dots[i][:0], n)[:n]
		}
		x.kernels.DotRowsAt(dots[0], first, seg.code, seg.dim, rows)
		x.kernels.DotRowsAt(dots[1], second, seg.code, seg.dim, rows)
		x.kernels.DotRowsAt(dots[2], first, seg.residue, seg.dim, rows)
		x.kernels.DotRowsAt(dots[3], second, seg.residue, seg.dim, rows)
		for i, c := range cand[:n] {
			dot := float64(dots[0][i]) + (float64(dots[1][i])+float64(dots[2][i]))/residualSteps +
				float64(dots[3][i])/(residualSteps*residualSteps)
			c.score = float32(dot * float64(step) * float64(seg.scale[c.ord]))
			best.offer(c)
		}
		cand = cand[n:]
	}
	return best.sorted()
}
