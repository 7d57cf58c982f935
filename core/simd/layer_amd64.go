package simd

import "math"

// Assembly of the layer kernels. Heights are rows of a register block.

//go:noescape
func linear6AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip6AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear6AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip6AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear6AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, blocks uintptr)

//go:noescape
func linear4AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip4AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear4AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip4AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear4AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, blocks uintptr)

//go:noescape
func linear2AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip2AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear2AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip2AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear2AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, blocks uintptr)

//go:noescape
func linear1AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip1AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear1AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32)

//go:noescape
func linearSkip1AVXVNNI(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32,
	scale, bias, rowScale *float32, highStart *int32, list *int64, listed uintptr)

//go:noescape
func linear1AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr,
	scale, bias, rowScale *float32, blocks uintptr)

//go:noescape
func matmul8x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul8x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul4x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul4x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul2x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul2x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul1x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul1x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul6x2AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul6x1AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul4x2AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul4x1AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul2x2AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul2x1AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul1x2AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul1x1AVX2(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func maxTileAVX512(dst, src *float32, rows uintptr)

//go:noescape
func maxTileAVXVNNI(dst, src *float32, rows uintptr)

//go:noescape
func maxTileAVX2(dst, src *float32, rows uintptr)

//go:noescape
func measureAVX512(x *float32, groups uintptr, squares *[16]float32) (bits uint32)

//go:noescape
func quantizeAVX512(dst *int16, x *float32, groups uintptr, inv float32, offset int32) (highs int32)

//go:noescape
func usedHighsAVX512(list *int64, x *int16, xStride, rows, steps uintptr) (listed uintptr)

//go:noescape
func quantizeAVXVNNI(dst *int16, x *float32, groups uintptr, inv float32, offset int32) (highs int32)

//go:noescape
func usedHighsAVXVNNI(list *int64, x *int16, xStride, rows, steps uintptr) (listed uintptr)

//go:noescape
func softmaxRowsAVX512(x *float32, n, rows uintptr, scale float32)

//go:noescape
func geluAVX512(x *float32, n uintptr)

//go:noescape
func layerNormAVX512(dst, x, residual, gain, bias *float32, n, rows uintptr, inverse, epsilon float32)

//go:noescape
func layerNormAddAVX512(dst, x, residual, gain, bias *float32, n, rows uintptr, inverse, epsilon float32)

//go:noescape
func measureAVX2(x *float32, groups uintptr, squares *[16]float32) (bits uint32)

//go:noescape
func quantizeAVX2(dst *int16, x *float32, groups uintptr, inv float32)

//go:noescape
func softmaxRowsAVX2(x *float32, n, rows uintptr, scale float32)

//go:noescape
func geluAVX2(x *float32, n uintptr)

//go:noescape
func layerNormAVX2(dst, x, residual, gain, bias *float32, n, rows uintptr, inverse, epsilon float32)

//go:noescape
func layerNormAddAVX2(dst, x, residual, gain, bias *float32, n, rows uintptr, inverse, epsilon float32)

//go:noescape
func transpose8AVX2(dst *float32, dstStride uintptr, src *float32, srcStride, blocks uintptr)

// lanes is how many f32 values a register of the level holds.
func (k Kernels) lanes() int {
	if k.vector().level == AVX512 {
		return 16
	}
	return 8
}

// fitting is k, or AVX2 where only its registers divide n, or Portable.
func (k Kernels) fitting(n int) Kernels {
	switch {
	case k.vector().level == AVX512 && n%16 == 0:
		return k.vector()
	case k.level >= AVX2 && n%8 == 0:
		return Kernels{level: AVX2}
	}
	return Kernels{}
}

func (k Kernels) measure(x []float32, squares *[16]float32) float32 {
	n := len(x) / 16
	var bits uint32
	if n > 0 && k.vector().level == AVX512 {
		bits = measureAVX512(&x[0], uintptr(n), squares)
	} else if n > 0 {
		bits = measureAVX2(&x[0], uintptr(n), squares)
	}
	rest := measurePortable(x[n*16:], squares)
	return math.Float32frombits(max(bits, math.Float32bits(rest)))
}

func (k Kernels) quantizeRows(r *Rows, x []float32, p Precision) {
	if k.level == Portable {
		quantizeRowsPortable(r, x, p)
		return
	}
	if k.level == AMX {
		k.quantizeTiles(r, x, p)
		return
	}
	r.skip = p > 0 && (k.level == AVX512 || k.level == AVXVNNI)
	offset := int32(128<<8 + 128)
	if r.skip {
		offset = 128
	}
	for i := range r.rows {
		row := x[i*r.dim : (i+1)*r.dim]
		var squares [16]float32
		var inv float32
		r.scale[i], inv = rowScale(k.measure(row, &squares), &squares, r.dim, p)
		dst := r.codes[i*r.stride : (i+1)*r.stride]
		n := len(row) / 16
		var highs int32
		if n > 0 {
			highs = k.quantizeGroups(&dst[0], &row[0], n, inv, offset)
		}
		if n*16 < len(row) {
			var last [16]float32
			copy(last[:], row[n*16:])
			highs += k.quantizeGroups(&dst[n*16], &last[0], 1, inv, offset)
		}
		r.highStart[i] = -128 * highs
	}
	if r.skip {
		k.listHighs(r)
	}
}

func (k Kernels) quantizeGroups(dst *int16, x *float32, groups int, inv float32, offset int32) (highs int32) {
	switch k.level {
	case AVX512:
		return quantizeAVX512(dst, x, uintptr(groups), inv, offset)
	case AVXVNNI:
		return quantizeAVXVNNI(dst, x, uintptr(groups), inv, offset)
	}
	quantizeAVX2(dst, x, uintptr(groups), inv)
	return 0
}

func (k Kernels) linear(dst []float32, l *Layer, x *Rows, then Activation) {
	if k.level == AMX {
		k.linearTiles(dst, l, x, then)
		return
	}
	k.linearBlocks(dst, l, x, then)
}

func (k Kernels) linearMax(dst []float32, l *Layer, x *Rows) {
	if k.level == AMX {
		k.linearMaxTiles(dst, l, x)
		return
	}
	k.linearMaxBlocks(dst, l, x)
}

// listHighs lists, for the blocks that linear will take, the groups of four
// inputs with a high byte.
func (k Kernels) listHighs(r *Rows) {
	steps := r.stride / 4
	for row, block := 0, 0; row < r.rows; block++ {
		h := k.linearHeight(r.rows - row)
		list := r.lists[block*(steps+8):][:steps+8]
		whole := steps &^ 7
		n := 0
		if k.level == AVXVNNI {
			whole = steps
			n = int(usedHighsAVXVNNI(&list[0], &r.codes[row*r.stride], uintptr(2*r.stride), uintptr(h), uintptr(steps)))
		} else if whole > 0 {
			n = int(usedHighsAVX512(&list[0], &r.codes[row*r.stride], uintptr(2*r.stride), uintptr(h), uintptr(whole)))
		}
		for s := whole; s < steps; s++ {
			var any int16
			for i := range h {
				at := (row+i)*r.stride + 4*s
				any |= r.codes[at] | r.codes[at+1]
			}
			if any != 0 {
				list[n] = int64(s)
				n++
			}
		}
		r.listed[block] = n
		row += h
	}
}

// linearWork bounds the products of a call of AVX2's blocks, which nothing can
// interrupt, to around a tenth of a millisecond.
const linearWork = 1 << 22

// linearRun is how many blocks of height h, of the rows left, linearBlock takes at once.
func (k Kernels) linearRun(h, left, stride int) int {
	if k.level != AVX2 {
		return 1
	}
	return min(left/h, max(1, linearWork/(h*stride*16)))
}

// linearBlock multiplies blocks of h rows from r on, which are x's blocks from the
// block-th on, by the tile at output n.
func (k Kernels) linearBlock(h, blocks int, dst *float32, stride int, l *Layer, n int, x *Rows, r, block int) {
	codes, codeStride, w := &x.codes[r*x.stride], uintptr(2*x.stride), &l.weights[n*x.stride]
	start, scale, bias, rowScale := &l.start[n], &l.scale[n], &l.bias[n], &x.scale[r]
	dstStride := uintptr(4 * stride)
	switch steps := uintptr(x.stride / 4); {
	case x.skip && k.level == AVX512:
		switch h {
		case 6:
			linearSkip6AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		case 4:
			linearSkip4AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		case 2:
			linearSkip2AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		case 1:
			linearSkip1AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		}
	case x.skip:
		switch h {
		case 6:
			linearSkip6AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		case 4:
			linearSkip4AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		case 2:
			linearSkip2AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		case 1:
			linearSkip1AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale,
				&x.highStart[r], &x.lists[block*(x.stride/4+8)], uintptr(x.listed[block]))
		}
	case k.level == AVX512:
		switch h {
		case 6:
			linear6AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		case 4:
			linear4AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		case 2:
			linear2AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		case 1:
			linear1AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		}
	case k.level == AVXVNNI:
		switch h {
		case 6:
			linear6AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		case 4:
			linear4AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		case 2:
			linear2AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		case 1:
			linear1AVXVNNI(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		}
	default:
		steps *= 2 // of two inputs
		switch h {
		case 6:
			linear6AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale, uintptr(blocks))
		case 4:
			linear4AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale, uintptr(blocks))
		case 2:
			linear2AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale, uintptr(blocks))
		case 1:
			linear1AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale, uintptr(blocks))
		}
	}
}

// maxTile raises a tile of outputs to the largest of rows rows, at least one.
func (k Kernels) maxTile(dst, src []float32, rows int) {
	switch {
	case k.vector().level == AVX512:
		maxTileAVX512(&dst[0], &src[0], uintptr(rows))
	case k.level == AVXVNNI:
		maxTileAVXVNNI(&dst[0], &src[0], uintptr(rows))
	default:
		maxTileAVX2(&dst[0], &src[0], uintptr(rows))
	}
}

// linearHeight is the tallest block for the rows left.
func (k Kernels) linearHeight(left int) int {
	switch {
	case left >= linearRows:
		return linearRows
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}

// transpose8 turns eight rows of dim values, dim a multiple of 8.
func transpose8(dst []float32, dstStride int, src []float32, srcStride, dim int) {
	transpose8AVX2(&dst[0], uintptr(4*dstStride), &src[0], uintptr(4*srcStride), uintptr(dim/8))
}

func (k Kernels) gelu(x []float32) {
	n := k.whole(len(x))
	if n > 0 && k.vector().level == AVX512 {
		geluAVX512(&x[0], uintptr(n))
	} else if n > 0 {
		geluAVX2(&x[0], uintptr(n))
	}
	geluPortable(x[n:])
}

func (k Kernels) softmax(x []float32, rows, n int, scale float32) {
	switch k.fitting(n).level {
	case AVX512:
		softmaxRowsAVX512(&x[0], uintptr(n), uintptr(rows), scale)
	case AVX2:
		softmaxRowsAVX2(&x[0], uintptr(n), uintptr(rows), scale)
	default:
		softmaxPortable(x, n, scale)
	}
}

func (k Kernels) layerNorm(dst, x, residual, gain, bias []float32, rows, n int, epsilon float32) {
	inverse := 1 / float32(n)
	switch fit := k.fitting(n); {
	case fit.level == AVX512 && residual != nil:
		layerNormAddAVX512(&dst[0], &x[0], &residual[0], &gain[0], &bias[0], uintptr(n), uintptr(rows), inverse, epsilon)
	case fit.level == AVX512:
		layerNormAVX512(&dst[0], &x[0], nil, &gain[0], &bias[0], uintptr(n), uintptr(rows), inverse, epsilon)
	case fit.level == AVX2 && residual != nil:
		layerNormAddAVX2(&dst[0], &x[0], &residual[0], &gain[0], &bias[0], uintptr(n), uintptr(rows), inverse, epsilon)
	case fit.level == AVX2:
		layerNormAVX2(&dst[0], &x[0], nil, &gain[0], &bias[0], uintptr(n), uintptr(rows), inverse, epsilon)
	default:
		layerNormPortable(dst, x, residual, gain, bias, rows, n, epsilon)
	}
}

func (k Kernels) height(left int) int {
	top := 6
	if k.vector().level == AVX512 {
		top = 8
	}
	switch {
	case left >= top:
		return top
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}

func (k Kernels) matmulTiles(h, c int, dst *float32, ds uintptr, a *float32, as uintptr, b *float32, bs, inner, tiles uintptr) {
	if k.vector().level == AVX512 {
		switch h<<4 | c {
		case 8<<4 | 2:
			matmul8x2AVX512(dst, ds, a, as, b, bs, inner, tiles)
		case 8<<4 | 1:
			matmul8x1AVX512(dst, ds, a, as, b, bs, inner, tiles)
		case 4<<4 | 2:
			matmul4x2AVX512(dst, ds, a, as, b, bs, inner, tiles)
		case 4<<4 | 1:
			matmul4x1AVX512(dst, ds, a, as, b, bs, inner, tiles)
		case 2<<4 | 2:
			matmul2x2AVX512(dst, ds, a, as, b, bs, inner, tiles)
		case 2<<4 | 1:
			matmul2x1AVX512(dst, ds, a, as, b, bs, inner, tiles)
		case 1<<4 | 2:
			matmul1x2AVX512(dst, ds, a, as, b, bs, inner, tiles)
		case 1<<4 | 1:
			matmul1x1AVX512(dst, ds, a, as, b, bs, inner, tiles)
		}
		return
	}
	switch h<<4 | c {
	case 6<<4 | 2:
		matmul6x2AVX2(dst, ds, a, as, b, bs, inner, tiles)
	case 6<<4 | 1:
		matmul6x1AVX2(dst, ds, a, as, b, bs, inner, tiles)
	case 4<<4 | 2:
		matmul4x2AVX2(dst, ds, a, as, b, bs, inner, tiles)
	case 4<<4 | 1:
		matmul4x1AVX2(dst, ds, a, as, b, bs, inner, tiles)
	case 2<<4 | 2:
		matmul2x2AVX2(dst, ds, a, as, b, bs, inner, tiles)
	case 2<<4 | 1:
		matmul2x1AVX2(dst, ds, a, as, b, bs, inner, tiles)
	case 1<<4 | 2:
		matmul1x2AVX2(dst, ds, a, as, b, bs, inner, tiles)
	case 1<<4 | 1:
		matmul1x1AVX2(dst, ds, a, as, b, bs, inner, tiles)
	}
}
