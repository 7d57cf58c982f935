package simd

import "golang.org/x/sys/cpu"

// available asks for the dot-product extension; f32 vectors every ARM64 has.
func available(level Level) bool {
	dots := cpu.ARM64.HasASIMD && cpu.ARM64.HasASIMDDP
	return level == Portable || level == NEON && dots || level == I8MM && dots && cpu.ARM64.HasI8MM
}

// neon reports kernels in assembly. Those of I8MM differ in linear layers alone.
func (k Kernels) neon() bool { return k.level != Portable }

//go:noescape
func dotRows4NEON(dst *int32, q *int8, rows *int8, stride uintptr, blocks, chunks uintptr, tail int, last *int8)

//go:noescape
func dotRows1NEON(dst *int32, q *int8, rows *int8, stride uintptr, blocks, chunks uintptr, tail int, last *int8)

//go:noescape
func dotRowsAt4NEON(dst *int32, q *int8, rows *int8, stride uintptr, at *uint32, blocks, chunks uintptr, tail int, last *int8)

//go:noescape
func dotNEON(a *float32, b *float32, n uintptr) (sum float32)

//go:noescape
func linear4NEON(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, chunks uintptr,
	scale, bias, rowScale *float32)

//go:noescape
func linear2NEON(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, chunks uintptr,
	scale, bias, rowScale *float32)

//go:noescape
func linear1NEON(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, chunks uintptr,
	scale, bias, rowScale *float32)

//go:noescape
func linear4I8MM(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, chunks uintptr,
	scale, bias, rowScale *float32)

//go:noescape
func linear2I8MM(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, chunks uintptr,
	scale, bias, rowScale *float32)

//go:noescape
func linear1I8MM(dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, chunks uintptr,
	scale, bias, rowScale *float32)

//go:noescape
func maxTileNEON(dst, src *float32, rows uintptr)

//go:noescape
func matmul8x2NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul8x1NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul4x2NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul4x1NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul2x2NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul2x1NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul1x2NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func matmul1x1NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr)

//go:noescape
func softmaxRowsNEON(x *float32, n, rows uintptr, scale float32)

//go:noescape
func geluNEON(x *float32, n uintptr)

// chunks16 is the shape of a query for the NEON kernels: whole groups of 16
// bytes, the step from their end back to the last 16 bytes of a row (0 if none
// is left), and the query's part of those.
func (q *Query) chunks16() (chunks uintptr, tail int, last *int8) {
	if rest := q.dim % 16; rest > 0 {
		tail = rest - 16
	}
	return uintptr(q.dim / 16), tail, &q.last[0]
}

func (k Kernels) dotRows(dst []int32, q Query, rows []int8, stride int) {
	if !k.neon() || q.dim < 16 {
		dotRowsPortable(dst, q, rows, stride)
		return
	}
	chunks, tail, last := q.chunks16()
	n := len(dst)
	if n >= 4 {
		dotRows4NEON(&dst[0], &q.codes[0], &rows[0], uintptr(stride), uintptr(n/4), chunks, tail, last)
	}
	if from := n &^ 3; from < n {
		dotRows1NEON(&dst[from], &q.codes[0], &rows[from*stride], uintptr(stride), uintptr(n-from), chunks, tail, last)
	}
}

func (k Kernels) dotRowsAt(dst []int32, q Query, rows []int8, stride int, at []uint32) {
	if !k.neon() || q.dim < 16 {
		dotRowsAtPortable(dst, q, rows, stride, at)
		return
	}
	chunks, tail, last := q.chunks16()
	n := len(at)
	if n >= 4 {
		dotRowsAt4NEON(&dst[0], &q.codes[0], &rows[0], uintptr(stride), &at[0], uintptr(n/4), chunks, tail, last)
	}
	for i := n &^ 3; i < n; i++ {
		dotRows1NEON(&dst[i], &q.codes[0], &rows[int(at[i])*stride], uintptr(stride), 1, chunks, tail, last)
	}
}

//go:noescape
func dotNibbles4NEON(dst *int32, q *int8, rows *uint8, stride uintptr, blocks, chunks uintptr, tail int)

//go:noescape
func dotNibblesAt4NEON(dst *int32, q *int8, rows *uint8, stride uintptr, at *uint32, blocks, chunks uintptr, tail int)

//go:noescape
func dotNibbles1NEON(dst *int32, q *int8, rows *uint8, stride uintptr, blocks, chunks uintptr, tail int)

// nibbleGroup is how many bytes of a row of nibbles a step takes; 0: Go does it.
func (k Kernels) nibbleGroup(_ int) int {
	if k.neon() {
		return 16
	}
	return 0
}

// chunks16 is the shape of a query for the kernels: whole groups of 16 bytes and the step from their end back to the
// last 16 bytes, 0 if none is left.
func (q *NibbleQuery) chunks16() (chunks uintptr, tail int) {
	if rest := q.bytes % 16; rest > 0 {
		tail = rest - 16
	}
	return uintptr(q.bytes / 16), tail
}

func (k Kernels) dotNibbles(dst []int32, q NibbleQuery, rows []uint8, stride int) {
	if !k.neon() || q.bytes < 16 {
		dotNibblesPortable(dst, q, rows, stride)
		return
	}
	chunks, tail := q.chunks16()
	n := len(dst)
	if n >= 4 {
		dotNibbles4NEON(&dst[0], &q.groups[0], &rows[0], uintptr(stride), uintptr(n/4), chunks, tail)
	}
	if from := n &^ 3; from < n {
		dotNibbles1NEON(&dst[from], &q.groups[0], &rows[from*stride], uintptr(stride), uintptr(n-from), chunks, tail)
	}
}

func (k Kernels) dotNibblesAt(dst []int32, q NibbleQuery, rows []uint8, stride int, at []uint32, _ []float32) {
	if !k.neon() || q.bytes < 16 {
		dotNibblesAtPortable(dst, q, rows, stride, at)
		return
	}
	chunks, tail := q.chunks16()
	n := len(at)
	if n >= 4 {
		dotNibblesAt4NEON(&dst[0], &q.groups[0], &rows[0], uintptr(stride), &at[0], uintptr(n/4), chunks, tail)
	}
	for i := n &^ 3; i < n; i++ {
		dotNibbles1NEON(&dst[i], &q.groups[0], &rows[int(at[i])*stride], uintptr(stride), 1, chunks, tail)
	}
}

func (k Kernels) dot(a, b []float32) float32 {
	n := len(a) &^ 15
	if !k.neon() || n == 0 {
		return dotPortable(a, b)
	}
	return dotNEON(&a[0], &b[0], uintptr(n)) + dotPortable(a[n:], b[n:])
}

func (k Kernels) dotF16(q []float32, row []uint16) float32 { return dotF16Portable(q, row) }
func (k Kernels) toF16(dst []uint16, src []float32)        { toF16Portable(dst, src) }
func (k Kernels) fromF16(dst []float32, src []uint16)      { fromF16Portable(dst, src) }

func (k Kernels) quantizeRows(r *Rows, x []float32, p Precision) {
	quantizeRowsPortable(r, x, p)
	if !k.neon() {
		return
	}
	// In place, the codes of a group become their high bytes, then their low ones.
	size := 16
	if k.level == I8MM {
		size = 8
	}
	for i := 0; i < len(r.codes); i += size {
		group := r.codes[i : i+size]
		var split [32]uint8
		for j, q := range group {
			u := uint16(q + 128)
			split[j], split[size+j] = uint8(u>>8), uint8(u-128)
		}
		for j := range group {
			group[j] = int16(uint16(split[2*j]) | uint16(split[2*j+1])<<8)
		}
	}
}

// linearHeight is the tallest block for the rows left.
func (k Kernels) linearHeight(left int) int {
	switch {
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}

// linearRun is how many blocks linearBlock takes at once.
func (k Kernels) linearRun(_, _, _ int) int { return 1 }

// linearBlock multiplies rows r to r+h by the tile at output n.
func (k Kernels) linearBlock(h, _ int, dst *float32, stride int, l *Layer, n int, x *Rows, r, _ int) {
	codes, codeStride, w := &x.codes[r*x.stride], uintptr(2*x.stride), &l.weights[n*x.stride]
	scale, bias, rowScale := &l.scale[n], &l.bias[n], &x.scale[r]
	dstStride, chunks := uintptr(4*stride), uintptr(x.stride/16)
	switch {
	case k.level == I8MM && h == 4:
		linear4I8MM(dst, dstStride, codes, codeStride, w, chunks, scale, bias, rowScale)
	case k.level == I8MM && h == 2:
		linear2I8MM(dst, dstStride, codes, codeStride, w, chunks, scale, bias, rowScale)
	case k.level == I8MM:
		linear1I8MM(dst, dstStride, codes, codeStride, w, chunks, scale, bias, rowScale)
	case h == 4:
		linear4NEON(dst, dstStride, codes, codeStride, w, chunks, scale, bias, rowScale)
	case h == 2:
		linear2NEON(dst, dstStride, codes, codeStride, w, chunks, scale, bias, rowScale)
	default:
		linear1NEON(dst, dstStride, codes, codeStride, w, chunks, scale, bias, rowScale)
	}
}

// maxTile raises a tile of outputs to the largest of rows rows, at least one.
func (k Kernels) maxTile(dst, src []float32, rows int) {
	maxTileNEON(&dst[0], &src[0], uintptr(rows))
}

func (k Kernels) gelu(x []float32) {
	n := len(x) &^ 3
	if !k.neon() || n == 0 {
		geluPortable(x)
		return
	}
	geluNEON(&x[0], uintptr(n))
	geluPortable(x[n:])
}

func (k Kernels) softmax(x []float32, rows, n int, scale float32) {
	if !k.neon() || n%4 != 0 {
		softmaxPortable(x, n, scale)
		return
	}
	softmaxRowsNEON(&x[0], uintptr(n), uintptr(rows), scale)
}

func (k Kernels) layerNorm(dst, x, residual, gain, bias []float32, rows, n int, epsilon float32) {
	layerNormPortable(dst, x, residual, gain, bias, rows, n, epsilon)
}

// lanes is how many f32 values a register holds.
func (k Kernels) lanes() int { return 4 }

// transpose8 turns eight rows of dim values.
func transpose8(dst []float32, dstStride int, src []float32, srcStride, dim int) {
	for d := range dim {
		col := dst[d*dstStride:][:8]
		for r := range col {
			col[r] = src[r*srcStride+d]
		}
	}
}

func (k Kernels) height(left int) int {
	switch {
	case left >= 8:
		return 8
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}

func (k Kernels) matmulTiles(h, c int, dst *float32, ds uintptr, a *float32, as uintptr, b *float32, bs, inner, tiles uintptr) {
	switch h<<4 | c {
	case 8<<4 | 2:
		matmul8x2NEON(dst, ds, a, as, b, bs, inner, tiles)
	case 8<<4 | 1:
		matmul8x1NEON(dst, ds, a, as, b, bs, inner, tiles)
	case 4<<4 | 2:
		matmul4x2NEON(dst, ds, a, as, b, bs, inner, tiles)
	case 4<<4 | 1:
		matmul4x1NEON(dst, ds, a, as, b, bs, inner, tiles)
	case 2<<4 | 2:
		matmul2x2NEON(dst, ds, a, as, b, bs, inner, tiles)
	case 2<<4 | 1:
		matmul2x1NEON(dst, ds, a, as, b, bs, inner, tiles)
	case 1<<4 | 2:
		matmul1x2NEON(dst, ds, a, as, b, bs, inner, tiles)
	case 1<<4 | 1:
		matmul1x1NEON(dst, ds, a, as, b, bs, inner, tiles)
	}
}

func (k Kernels) linear(dst []float32, l *Layer, x *Rows, then Activation) {
	k.linearBlocks(dst, l, x, then)
}
func (k Kernels) linearMax(dst []float32, l *Layer, x *Rows) { k.linearMaxBlocks(dst, l, x) }

// attendWords is false: floats do all attention.
func (k Kernels) attendWords(_, _, _, _ []float32, _ Heads, _ float32, _ []float32) bool {
	return false
}
