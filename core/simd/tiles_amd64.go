package simd

import (
	"math"
	"math/bits"
)

// Assembly of AMX. A goroutine may change threads between calls, so each sets up the
// tiles and gives them back.

//go:noescape
func linearTiles(dst *float32, dstStride uintptr, low, high, w *int8, steps, chunk, highSteps uintptr,
	picks *uint32, picked *int8, partial *int32, scale, bias, rowScale *float32,
	rows, rowsPerStep, fetch, panels, height, lastMask uintptr)

//go:noescape
func linearTilesGELU(dst *float32, dstStride uintptr, low, high, w *int8, steps, chunk, highSteps uintptr,
	picks *uint32, picked *int8, partial *int32, scale, bias, rowScale *float32,
	rows, rowsPerStep, fetch, panels, height, lastMask uintptr)

//go:noescape
func usedHighsAMX(used *uint16, high *int8, blocks, steps uintptr)

//go:noescape
func packHighsAMX(high *int8, used *uint16, steps, packedSteps uintptr, packed *int8)

//go:noescape
func quantizeTilesAVX512(low, high *int8, x *float32, groups uintptr, inv float32) (any uint32)

//go:noescape
func measure4AVX512(x *float32, stride, groups uintptr, squares *[4][16]float32, bits *[4]uint32)

func xgetbv0() (kept uint32)

// scaleRows gives up to four rows their scales, and the inverses.
func (k Kernels) scaleRows(r *Rows, x []float32, from int, p Precision, inverse *[4]float32) {
	groups, rows := r.dim/16, min(4, r.rows-from)
	var squares [4][16]float32
	var bits [4]uint32
	if rows == 4 && groups > 0 {
		measure4AVX512(&x[from*r.dim], uintptr(4*r.dim), uintptr(groups), &squares, &bits)
	} else {
		groups = 0
	}
	for i := range rows {
		rest := k.measure(x[(from+i)*r.dim+16*groups:(from+i+1)*r.dim], &squares[i])
		top := math.Float32frombits(max(bits[i], math.Float32bits(rest)))
		r.scale[from+i], inverse[i] = rowScale(top, &squares[i], r.dim, p)
	}
}

func (k Kernels) quantizeTiles(r *Rows, x []float32, p Precision) {
	low, high := r.planes()
	whole := r.dim / tileBytes
	var inverse [4]float32
	for run := range r.highs {
		from, rows := r.rowsOf(run)
		var any uint32
		for i := from; i < from+rows; i++ {
			if i%4 == 0 {
				k.scaleRows(r, x, i, p, &inverse)
			}
			row, inv := x[i*r.dim:(i+1)*r.dim], inverse[i%4]
			at := i/tileRows*tileRows*r.stride + i%tileRows*tileBytes
			if whole > 0 {
				any |= quantizeTilesAVX512(&low[at], &high[at], &row[0], uintptr(whole), inv)
			}
			if at += whole * tileSize; whole*tileBytes < r.dim {
				var last [tileBytes]float32
				copy(last[:], row[whole*tileBytes:])
				any |= quantizeTilesAVX512(&low[at], &high[at], &last[0], 1, inv)
			}
		}
		r.highs[run] = highBytes{}
		if any != 0 {
			r.packHighs(run)
		}
	}
}

// packHighs looks which groups of four inputs have a high byte in a run of rows, and moves
// these together, unless rows are few or most of them are used.
func (r *Rows) packHighs(run int) {
	from, rows := r.rowsOf(run)
	steps := r.stride / tileBytes
	r.highs[run].steps = steps
	if rows <= tileRows || r.stride > tilePicks {
		return
	}
	_, high := r.planes()
	clearTiles(high[from*r.stride:], rows, steps)
	var used [tilePicks / tileBytes]uint16
	blocks := (rows + tileRows - 1) / tileRows
	usedHighsAMX(&used[0], &high[from*r.stride], uintptr(blocks), uintptr(steps))
	list := r.picks(run)
	n := 0
	for step, groups := range used[:steps] {
		for ; groups != 0; groups &= groups - 1 {
			list[n] = uint32(step*tileBytes/4+bits.TrailingZeros16(groups)) * tileGroup
			n++
		}
	}
	if 4*n > 3*len(list) {
		return
	}
	last := -n & 15
	clear(list[n : n+last])
	packed := (n + last) / 16
	var row [tilePicks + tileBytes]int8
	for i := range blocks {
		packHighsAMX(&high[(from+i*tileRows)*r.stride], &used[0], uintptr(steps), uintptr(packed), &row[0])
	}
	r.highs[run] = highBytes{steps: packed, picked: true}
}

// clearTiles clears the rows behind the last one of a block of tiles.
func clearTiles(plane []int8, rows, steps int) {
	if rows%tileRows == 0 {
		return
	}
	tiles := plane[rows/tileRows*steps*tileSize:]
	for step := range steps {
		clear(tiles[step*tileSize+rows%tileRows*tileBytes : (step+1)*tileSize])
	}
}

// tileWork bounds the products of a call, which nothing can interrupt: a tenth of a
// millisecond, as long as reading the weights of fewer rows takes.
const tileWork = 1 << 26

func (k Kernels) linearTiles(dst []float32, l *Layer, x *Rows, then Activation) {
	for run := range x.highs {
		from, rows := x.rowsOf(run)
		panels := max(1, tileWork/(max(rows, 2*tileRows)*x.stride*l.tile()))
		for n := 0; n < l.out; n += panels * l.tile() {
			outputs := min(panels*l.tile(), l.out-n)
			tileBlocks(dst[from*l.out+n:], l.out, l, n, outputs, x, run, then)
		}
	}
}

// tileBlocks multiplies a run of x by outputs n to n+outputs of a layer.
func tileBlocks(dst []float32, stride int, l *Layer, n, outputs int, x *Rows, run int, then Activation) {
	from, rows := x.rowsOf(run)
	highs, steps := x.highs[run], x.stride/tileBytes
	chunk, last := x.chunks()
	last += min(last, highs.steps)
	perStep := (min(tileRows, rows) + last - 1) / last
	across := (outputs + l.tile() - 1) / l.tile()
	mask := uintptr(math.MaxUint32) >> (across*l.tile() - outputs)

	// Pairs of cache lines of the next panel: one has 16 for each step of low bytes.
	parts := (rows + tileRows - 1) / tileRows * (steps + highs.steps)
	fetch := (16*steps + parts - 1) / parts
	var picks *uint32
	if highs.picked {
		picks = &x.picks(run)[0]
	}

	low, high := x.planes()
	d, ds, count, h := &dst[0], uintptr(4*stride), uintptr(rows), uintptr(min(tileRows, rows))
	lows, tops, w := &low[from*x.stride], &high[from*x.stride], &l.weights[n*x.stride]
	all, of, more := uintptr(steps), uintptr(chunk), uintptr(highs.steps)
	scale, bias, rowScale := &l.scale[n], &l.bias[n], &x.scale[from]
	if then == GELU {
		linearTilesGELU(d, ds, lows, tops, w, all, of, more, picks, &x.picked[0], &x.partial[0],
			scale, bias, rowScale, count, uintptr(perStep), uintptr(fetch), uintptr(across), h, mask)
		return
	}
	linearTiles(d, ds, lows, tops, w, all, of, more, picks, &x.picked[0], &x.partial[0],
		scale, bias, rowScale, count, uintptr(perStep), uintptr(fetch), uintptr(across), h, mask)
}

func (k Kernels) linearMaxTiles(dst []float32, l *Layer, x *Rows) {
	const tile = 32
	var rows [tileRun * tile]float32
	for n := 0; n < l.out; n += tile {
		var top [tile]float32
		for i := range top {
			top[i] = float32(math.Inf(-1))
		}
		for run := range x.highs {
			tileBlocks(rows[:], tile, l, n, tile, x, run, Identity)
			_, count := x.rowsOf(run)
			k.maxTile(top[:], rows[:], count)
		}
		copy(dst[n:], top[:])
	}
}
