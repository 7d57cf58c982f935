package simd

import "math"

// Assembly of AMX. A goroutine may change threads between calls, so each sets up the
// tiles and gives them back.

//go:noescape
func linearTiles(dst *float32, dstStride uintptr, x *int8, xStride, second, next uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, rows, rowsPerStep, fetch, panels, height, lastMask uintptr)

//go:noescape
func linearTilesGELU(dst *float32, dstStride uintptr, x *int8, xStride, second, next uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, rows, rowsPerStep, fetch, panels, height, lastMask uintptr)

//go:noescape
func linearTilesWide(dst *float32, dstStride uintptr, x *int8, xStride, second, next uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, rows, rowsPerStep, fetch, panels, height, lastMask uintptr)

//go:noescape
func linearTilesWideGELU(dst *float32, dstStride uintptr, x *int8, xStride, second, next uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, rows, rowsPerStep, fetch, panels, height, lastMask uintptr)

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
	clear(r.wide)
	whole := r.dim / tileBytes
	var inverse [4]float32
	for i := range r.rows {
		if i%4 == 0 {
			k.scaleRows(r, x, i, p, &inverse)
		}
		row, inv := x[i*r.dim:(i+1)*r.dim], inverse[i%4]
		at := i * r.stride
		var any uint32
		if whole > 0 {
			any = quantizeTilesAVX512(&low[at], &high[at], &row[0], uintptr(whole), inv)
		}
		if at += whole * tileBytes; whole*tileBytes < r.dim {
			var last [tileBytes]float32
			copy(last[:], row[whole*tileBytes:])
			any |= quantizeTilesAVX512(&low[at], &high[at], &last[0], 1, inv)
		}
		if any != 0 {
			r.wide[i/tileRows] = true
		}
	}
}

// tileWork bounds the products of a call, which nothing can interrupt: a tenth of a
// millisecond, as long as reading the weights of fewer rows takes. tilePanel is how many rows keep their codes and results in the
// second-level cache while the weights pass by.
const (
	tileWork  = 1 << 26
	tilePanel = 256
)

// run is how many rows from the given one are alike in whether they have high bytes,
// at most limit.
func (r *Rows) run(from, limit int) (n int, wide bool) {
	wide = r.wide[from/tileRows]
	n = tileRows
	for n < limit && from+n < r.rows && r.wide[(from+n)/tileRows] == wide {
		n += tileRows
	}
	return min(n, r.rows-from), wide
}

func (k Kernels) linearTiles(dst []float32, l *Layer, x *Rows, then Activation) {
	limit := max(2*tileRows, min(tilePanel, panelBytes/(2*x.stride)&^(2*tileRows-1)))
	for from := 0; from < x.rows; {
		rows, wide := x.run(from, limit)
		panels := max(1, tileWork/(max(rows, 2*tileRows)*x.stride*l.tile()))
		for n := 0; n < l.out; n += panels * l.tile() {
			outputs := min(panels*l.tile(), l.out-n)
			tileBlocks(dst[from*l.out+n:], l.out, l, n, outputs, x, from, rows, wide, then)
		}
		from += rows
	}
}

// tileBlocks multiplies rows of x by outputs n to n+outputs of a layer.
func tileBlocks(dst []float32, stride int, l *Layer, n, outputs int, x *Rows, from, rows int, wide bool, then Activation) {
	block, second, next := 2*tileRows, tileRows*x.stride, 2*tileRows*x.stride
	if wide {
		block, second, next = tileRows, x.plane(), tileRows*x.stride
	}
	low, _ := x.planes()
	inner := x.stride / tileBytes
	perStep := uintptr((min(block, rows) + inner - 1) / inner)
	across := (outputs + l.tile() - 1) / l.tile()
	last := uintptr(math.MaxUint32) >> (across*l.tile() - outputs)

	blocks := (rows + block - 1) / block
	fetch := uintptr(0) // pairs of cache lines: a panel has 16 a step
	if blocks > 1 {     // else weights pass once, front to back, which the processor foresees
		fetch = uintptr((16 + blocks - 1) / blocks)
	}

	d, ds, count := &dst[0], uintptr(4*stride), uintptr(rows)
	codes, xs, to2, step := &low[from*x.stride], uintptr(x.stride), uintptr(second), uintptr(next)
	w, steps, panels := &l.weights[n*x.stride], uintptr(inner), uintptr(across)
	scale, bias, rowScale, h := &l.scale[n], &l.bias[n], &x.scale[from], uintptr(min(tileRows, rows))
	switch {
	case wide && then == GELU:
		linearTilesWideGELU(d, ds, codes, xs, to2, step, w, steps, scale, bias, rowScale, count, perStep, fetch, panels, h, last)
	case wide:
		linearTilesWide(d, ds, codes, xs, to2, step, w, steps, scale, bias, rowScale, count, perStep, fetch, panels, h, last)
	case then == GELU:
		linearTilesGELU(d, ds, codes, xs, to2, step, w, steps, scale, bias, rowScale, count, perStep, fetch, panels, h, last)
	default:
		linearTiles(d, ds, codes, xs, to2, step, w, steps, scale, bias, rowScale, count, perStep, fetch, panels, h, last)
	}
}

// tileMaxRows is how many rows of a panel lie side by side before the largest of
// each output is taken, within the first-level cache.
const tileMaxRows = 128

func (k Kernels) linearMaxTiles(dst []float32, l *Layer, x *Rows) {
	const tile = 32
	var rows [tileMaxRows * tile]float32
	for n := 0; n < l.out; n += tile {
		var top [tile]float32
		for i := range top {
			top[i] = float32(math.Inf(-1))
		}
		for from := 0; from < x.rows; {
			count, wide := x.run(from, tileMaxRows)
			tileBlocks(rows[:], tile, l, n, tile, x, from, count, wide, Identity)
			k.maxTile(top[:], rows[:], count)
			from += count
		}
		copy(dst[n:], top[:])
	}
}
