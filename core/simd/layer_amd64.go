package simd

import "math"

// Assembly of the layer kernels. Heights are rows of a register block.

//go:noescape
func linear6AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32, scale, bias, rowScale *float32)

//go:noescape
func linear6AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, scale, bias, rowScale *float32)

//go:noescape
func linear4AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32, scale, bias, rowScale *float32)

//go:noescape
func linear4AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, scale, bias, rowScale *float32)

//go:noescape
func linear2AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32, scale, bias, rowScale *float32)

//go:noescape
func linear2AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, scale, bias, rowScale *float32)

//go:noescape
func linear1AVX512(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32, scale, bias, rowScale *float32)

//go:noescape
func linear1AVX2(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, scale, bias, rowScale *float32)

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
func absMaxAVX512(x *float32, groups uintptr) (bits uint32)

//go:noescape
func quantizeAVX512(dst *int16, x *float32, groups uintptr, inv float32)

//go:noescape
func softmaxRowsAVX512(x *float32, n, rows uintptr, scale float32)

//go:noescape
func geluAVX512(x *float32, n uintptr)

//go:noescape
func layerNormAVX512(dst, x, residual, gain, bias *float32, n, rows uintptr, inverse, epsilon float32)

//go:noescape
func layerNormAddAVX512(dst, x, residual, gain, bias *float32, n, rows uintptr, inverse, epsilon float32)

//go:noescape
func absMaxAVX2(x *float32, groups uintptr) (bits uint32)

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
	if k.level == AVX512 {
		return 16
	}
	return 8
}

// fitting is k, or AVX2 where only its registers divide n, or Portable.
func (k Kernels) fitting(n int) Kernels {
	switch {
	case k.level == AVX512 && n%16 == 0:
		return k
	case k.level >= AVX2 && n%8 == 0:
		return Kernels{level: AVX2}
	}
	return Kernels{}
}

func (k Kernels) absMax(x []float32) float32 {
	if k.level == Portable || len(x) < 16 {
		return absMaxPortable(x)
	}
	n := len(x) / 16
	var bits uint32
	if k.level == AVX512 {
		bits = absMaxAVX512(&x[0], uintptr(n))
	} else {
		bits = absMaxAVX2(&x[0], uintptr(n))
	}
	rest := absMaxPortable(x[n*16:])
	return math.Float32frombits(max(bits, math.Float32bits(rest)))
}

func (k Kernels) quantizeRow(dst []int16, x []float32, inv float32) {
	if k.level == Portable {
		quantizeRowPortable(dst, x, inv)
		return
	}
	n := len(x) / 16
	if n > 0 {
		k.quantizeGroups(&dst[0], &x[0], n, inv)
	}
	if n*16 < len(x) {
		var last [16]float32
		copy(last[:], x[n*16:])
		k.quantizeGroups(&dst[n*16], &last[0], 1, inv)
	}
}

func (k Kernels) quantizeGroups(dst *int16, x *float32, groups int, inv float32) {
	if k.level == AVX512 {
		quantizeAVX512(dst, x, uintptr(groups), inv)
	} else {
		quantizeAVX2(dst, x, uintptr(groups), inv)
	}
}

// panelBytes bounds the codes that a pass over the weights reads again and
// again: half of a small second-level cache.
const panelBytes = 512 << 10

func (k Kernels) linear(dst []float32, l *Layer, x *Rows) {
	if k.level == Portable {
		linearPortable(dst, l, x)
		return
	}
	tile := l.tile()
	panel := max(48, panelBytes/(2*x.stride))
	var edge [6 * 32]float32
	for from := 0; from < x.rows; from += panel {
		to := min(from+panel, x.rows)
		for n := 0; n < l.out; n += tile {
			w := &l.weights[n*x.stride]
			for r := from; r < to; {
				out, outStride := &dst[r*l.out+n], l.out
				if n+tile > l.out {
					out, outStride = &edge[0], tile
				}
				h := k.linearBlock(out, outStride, l, n, w, x, r, to-r)
				if n+tile > l.out {
					for i := range h {
						copy(dst[(r+i)*l.out+n:(r+i+1)*l.out], edge[i*tile:])
					}
				}
				r += h
			}
		}
	}
}

// linearBlock runs the tallest block that fits and returns its height.
func (k Kernels) linearBlock(dst *float32, stride int, l *Layer, n int, w *int8, x *Rows, r, left int) int {
	codes, codeStride := &x.codes[r*x.stride], uintptr(2*x.stride)
	start, scale, bias, rowScale := &l.start[n], &l.scale[n], &l.bias[n], &x.scale[r]
	dstStride := uintptr(4 * stride)
	if k.level == AVX512 {
		steps := uintptr(x.stride / 4)
		switch {
		case left >= 6:
			linear6AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
			return 6
		case left >= 4:
			linear4AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
			return 4
		case left >= 2:
			linear2AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
			return 2
		}
		linear1AVX512(dst, dstStride, codes, codeStride, w, steps, start, scale, bias, rowScale)
		return 1
	}
	steps := uintptr(x.stride / 2)
	switch {
	case left >= 6:
		linear6AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale)
		return 6
	case left >= 4:
		linear4AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale)
		return 4
	case left >= 2:
		linear2AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale)
		return 2
	}
	linear1AVX2(dst, dstStride, codes, codeStride, w, steps, scale, bias, rowScale)
	return 1
}

func (k Kernels) gelu(x []float32) {
	n := k.whole(len(x))
	if n > 0 && k.level == AVX512 {
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

func (k Kernels) attention(dst, q, keys, values []float32, h Heads, scale float32, scratch []float32) {
	if k.level == Portable {
		attentionPortable(dst, q, keys, values, h, scale, scratch)
		return
	}
	lanes := k.lanes()
	tokens, dim := (h.Tokens+lanes-1)&^(lanes-1), (h.Dim+lanes-1)&^(lanes-1)
	cut := func(n int) []float32 {
		part := scratch[:n]
		scratch = scratch[n:]
		return part
	}
	across := cut(h.Dim * tokens) // keys, transposed
	packed := cut(h.Tokens * dim) // values whose rows don't fill registers
	block := cut(blockRows * dim)
	weights := cut(blockRows * tokens)
	width := h.Count * h.Dim
	none := float32(math.Inf(-1))
	for head := range h.Count {
		at := head * h.Dim
		transposeKeys(across, tokens, keys[at:], h)
		v, vStride := values[at:], h.Stride
		if dim != h.Dim {
			for j := range h.Tokens {
				row := packed[j*dim : (j+1)*dim]
				clear(row[copy(row, v[j*h.Stride:][:h.Dim]):])
			}
			v, vStride = packed, dim
		}
		for i := 0; i < h.Tokens; {
			rows := k.matmul(weights, tokens, q[i*h.Stride+at:], h.Stride, across, tokens, h.Dim, tokens, h.Tokens-i)
			if tokens > h.Tokens {
				for r := range rows {
					for j := h.Tokens; j < tokens; j++ {
						weights[r*tokens+j] = none
					}
				}
			}
			k.softmax(weights[:rows*tokens], rows, tokens, scale)
			out := dst[i*width+at:]
			if dim == h.Dim {
				k.matmul(out, width, weights, tokens, v, vStride, h.Tokens, dim, rows)
			} else {
				k.matmul(block, dim, weights, tokens, v, vStride, h.Tokens, dim, rows)
				for r := range rows {
					copy(out[r*width:][:h.Dim], block[r*dim:])
				}
			}
			i += rows
		}
	}
}

// transposeKeys writes value d of position j to dst[d*stride+j], zeros behind
// the last position.
func transposeKeys(dst []float32, stride int, keys []float32, h Heads) {
	j := 0
	d8 := h.Dim &^ 7
	for ; j+8 <= h.Tokens && d8 > 0; j += 8 {
		transpose8AVX2(&dst[j], uintptr(4*stride), &keys[j*h.Stride], uintptr(4*h.Stride), uintptr(d8/8))
		for r := j; r < j+8; r++ {
			for d := d8; d < h.Dim; d++ {
				dst[d*stride+r] = keys[r*h.Stride+d]
			}
		}
	}
	for ; j < h.Tokens; j++ {
		for d, v := range keys[j*h.Stride:][:h.Dim] {
			dst[d*stride+j] = v
		}
	}
	for ; j < stride; j++ {
		for d := range h.Dim {
			dst[d*stride+j] = 0
		}
	}
}

// matmul multiplies the tallest block of rows of a that fits left by the
// first cols columns of b (k rows; cols fill registers) and returns its
// height. Strides are in values.
func (k Kernels) matmul(dst []float32, dstStride int, a []float32, aStride int, b []float32, bStride, inner, cols, left int) int {
	lanes := k.lanes()
	pairs, odd := cols/(2*lanes), cols/lanes%2
	h := k.height(left)
	ds, as, bs := uintptr(4*dstStride), uintptr(4*aStride), uintptr(4*bStride)
	if pairs > 0 {
		k.matmulTiles(h, 2, &dst[0], ds, &a[0], as, &b[0], bs, uintptr(inner), uintptr(pairs))
	}
	if odd > 0 {
		from := 2 * lanes * pairs
		k.matmulTiles(h, 1, &dst[from], ds, &a[0], as, &b[from], bs, uintptr(inner), 1)
	}
	return h
}

func (k Kernels) height(left int) int {
	top := 6
	if k.level == AVX512 {
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
	if k.level == AVX512 {
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
