//go:build !amd64 && !arm64

package simd

// Architectures without assembly run the portable kernels.

func available(level Level) bool { return level == Portable }

func (k Kernels) dotRows(dst []int32, q Query, rows []int8, stride int) {
	dotRowsPortable(dst, q, rows, stride)
}

func (k Kernels) dotRowsAt(dst []int32, q Query, rows []int8, stride int, at []uint32) {
	dotRowsAtPortable(dst, q, rows, stride, at)
}

func (k Kernels) nibbleGroup(_ int) int { return 0 }

func (k Kernels) dotNibbles(dst []int32, q NibbleQuery, rows []uint8, stride int) {
	dotNibblesPortable(dst, q, rows, stride)
}

func (k Kernels) dotNibblesAt(dst []int32, q NibbleQuery, rows []uint8, stride int, at []uint32, _ []float32) {
	dotNibblesAtPortable(dst, q, rows, stride, at)
}

func (k Kernels) dot(a, b []float32) float32               { return dotPortable(a, b) }
func (k Kernels) dotF16(q []float32, row []uint16) float32 { return dotF16Portable(q, row) }
func (k Kernels) toF16(dst []uint16, src []float32)        { toF16Portable(dst, src) }
func (k Kernels) fromF16(dst []float32, src []uint16)      { fromF16Portable(dst, src) }

func (k Kernels) quantizeRows(r *Rows, x []float32, p Precision)  { quantizeRowsPortable(r, x, p) }
func (k Kernels) linearMax(dst []float32, l *Layer, x *Rows)      { linearMaxPortable(dst, l, x) }
func (k Kernels) gelu(x []float32)                                { geluPortable(x) }
func (k Kernels) softmax(x []float32, rows, n int, scale float32) { softmaxPortable(x, n, scale) }

func (k Kernels) linear(dst []float32, l *Layer, x *Rows, then Activation) {
	linearPortable(dst, l, x, then)
}

func (k Kernels) layerNorm(dst, x, residual, gain, bias []float32, rows, n int, epsilon float32) {
	layerNormPortable(dst, x, residual, gain, bias, rows, n, epsilon)
}

func (k Kernels) attention(dst, q, keys, values []float32, h Heads, scale float32, scratch []float32) {
	attentionPortable(dst, q, keys, values, h, scale, scratch)
}
