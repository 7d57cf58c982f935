package simd

import (
	"fmt"
	"math"
)

// GELU replaces every x by xΦ(x), Φ the normal distribution (the exact form of
// Hendrycks and Gimpel 2016, not the tanh one). Φ is a polynomial of degree 25
// up to |x| = 5 and constant beyond: off by at most 2e-6 + 1e-6|x|.
func (k Kernels) GELU(x []float32) {
	for ; len(x) > stretch; x = x[stretch:] {
		k.gelu(x[:stretch])
	}
	k.gelu(x)
}

func geluPortable(x []float32) {
	for i, v := range x {
		c := min(max(v, -geluEdge), geluEdge)
		t := c*c*(2.0/(geluEdge*geluEdge)) - 1
		x[i] = v * (c*geluPoly(t) + 0.5)
	}
}

// Softmax replaces each of rows rows of n values by the softmax of scale
// times the row; scale is positive. Results are within 1e-6 of the largest
// weight, relative for weights above 1e-30. Rows of a multiple of 16 values
// (8 for AVX2) run in assembly.
func (k Kernels) Softmax(x []float32, rows, n int, scale float32) {
	if rows < 0 || n < 1 || rows > len(x)/n || !(scale > 0) {
		panic(fmt.Sprintf("simd: softmax of %d values as %d rows of %d, scale %g", len(x), rows, n, scale))
	}
	for part := max(1, stretch/n); rows > 0; rows -= part {
		part = min(part, rows)
		k.softmax(x[:part*n], part, n, scale)
		x = x[part*n:]
	}
}

func softmaxPortable(x []float32, n int, scale float32) {
	for ; len(x) >= n; x = x[n:] {
		row := x[:n]
		top := row[0]
		for _, v := range row[1:] {
			top = max(top, v)
		}
		top *= scale
		var sum float32
		for i, v := range row {
			e := expFast(v*scale - top)
			row[i] = e
			sum += e
		}
		inv := 1 / sum
		for i := range row {
			row[i] *= inv
		}
	}
}

// expFast is e^x for x ≤ 0, to 2e-7 of the value; below expMin it stays there.
func expFast(x float32) float32 {
	x = max(x, expMin)
	if x != x {
		return x
	}
	n := roundEven(float32(x * math.Log2E))
	f := float32(n)
	r := x - f*ln2High
	r -= f * ln2Low
	return math.Float32frombits(math.Float32bits(expPoly(r)) + uint32(n)<<23)
}

// LayerNorm writes gain*(v-mean)/sqrt(variance+epsilon)+bias for each of rows
// rows of v = x + residual; residual may be nil. gain and bias have n values,
// the others rows*n, row-major; dst may be x or residual. Rows of a multiple of
// 16 values (8 for AVX2) run in assembly. Results are within 1e-5 of the
// largest magnitude in the row.
func (k Kernels) LayerNorm(dst, x, residual, gain, bias []float32, rows, n int, epsilon float32) {
	if rows < 0 || n < 1 || len(gain) < n || len(bias) < n || rows > len(dst)/n || rows > len(x)/n ||
		residual != nil && rows > len(residual)/n {
		panic(fmt.Sprintf("simd: layer norm of %d rows of %d: %d values, %d residual, %d gain, %d bias, room for %d",
			rows, n, len(x), len(residual), len(gain), len(bias), len(dst)))
	}
	for part := max(1, stretch/n); rows > 0; rows -= part {
		part = min(part, rows)
		k.layerNorm(dst, x, residual, gain, bias, part, n, epsilon)
		dst, x = dst[part*n:], x[part*n:]
		if residual != nil {
			residual = residual[part*n:]
		}
	}
}

func layerNormPortable(dst, x, residual, gain, bias []float32, rows, n int, epsilon float32) {
	gain, bias = gain[:n], bias[:n]
	for r := range rows {
		d, s := dst[r*n:(r+1)*n], x[r*n:(r+1)*n]
		if residual != nil {
			for i, v := range residual[r*n : (r+1)*n] {
				d[i] = s[i] + v
			}
		} else {
			copy(d, s)
		}
		var sum float64
		for _, v := range d {
			sum += float64(v)
		}
		mean := float32(sum / float64(n))
		sum = 0
		for _, v := range d {
			sum += float64((v - mean) * (v - mean))
		}
		inv := float32(1 / math.Sqrt(sum/float64(n)+float64(epsilon)))
		for i, v := range d {
			d[i] = (v-mean)*inv*gain[i] + bias[i]
		}
	}
}

// Heads is the shape of an attention: Tokens positions, Count heads of Dim
// values each. Query, key and value rows are Stride apart (3*Count*Dim when
// one layer projects all three), result rows Count*Dim.
type Heads struct {
	Tokens, Count, Dim, Stride int
}

// Scratch is how many values Attention needs beside its operands. It wraps
// around for shapes that no memory holds; Attention refuses those first.
func (h Heads) Scratch() int {
	tokens, dim := (h.Tokens+15)&^15, (h.Dim+15)&^15
	// keys transposed, values and results padded, the weights of a block of rows
	return h.Dim*tokens + h.Tokens*dim + blockRows*dim + blockRows*tokens
}

// Work is how many multiply-adds the kernels spend on the attention, tokens and
// values as they are padded. It wraps around where Scratch does.
func (h Heads) Work() int {
	tokens, dim := (h.Tokens+15)&^15, (h.Dim+15)&^15
	return 2 * h.Count * h.Tokens * tokens * dim
}

// blockRows is the tallest register block of any level.
const blockRows = 8

// Attention writes softmax(scale·QKᵀ)V for each head: head i's values are
// those from i*Dim of the rows q, k and v. Every position sees every other.
// dst may not overlap the operands; scratch has h.Scratch() values. Results
// are within 1e-5 of the largest magnitude in v. With AVX-512 queries, keys,
// weights and values are codes of 16 bits, unless heads don't fill registers, tokens
// are few or the length of a row is no float: results are within 3e-5 of the longest
// row of v, and as much again for each unit of the largest score.
//
// Per head the keys are transposed once, so that scores of many positions
// come out side by side; then blocks of rows go through scores, softmax and
// weighted sum while they are in the first-level cache.
func (k Kernels) Attention(dst, q, keys, values []float32, h Heads, scale float32, scratch []float32) {
	if h.Tokens < 0 || h.Count < 1 || h.Dim < 1 || h.Count > h.Stride/h.Dim || !(scale > 0) {
		panic(fmt.Sprintf("simd: attention of %+v, scale %g", h, scale))
	}
	if h.Tokens == 0 {
		return
	}
	// Divisions, because products of what a stranger asks for may wrap around.
	width := h.Count * h.Dim
	short := func(v []float32) bool { return len(v) < width || h.Tokens-1 > (len(v)-width)/h.Stride }
	if short(q) || short(keys) || short(values) || h.Tokens > len(dst)/width || len(scratch) < h.Scratch() {
		panic(fmt.Sprintf("simd: attention of %+v: %d queries, %d keys, %d values, room for %d, scratch %d",
			h, len(q), len(keys), len(values), len(dst), len(scratch)))
	}
	k.attention(dst, q, keys, values, h, scale, scratch)
}

func attentionPortable(dst, q, keys, values []float32, h Heads, scale float32, scratch []float32) {
	weights := scratch[:h.Tokens]
	for head := range h.Count {
		at := head * h.Dim
		for i := range h.Tokens {
			row := q[i*h.Stride+at:][:h.Dim]
			for j := range weights {
				weights[j] = dotPortable(row, keys[j*h.Stride+at:][:h.Dim])
			}
			softmaxPortable(weights, h.Tokens, scale)
			out := dst[i*h.Count*h.Dim+at:][:h.Dim]
			clear(out)
			for j, w := range weights {
				for d, v := range values[j*h.Stride+at:][:h.Dim] {
					out[d] += w * v
				}
			}
		}
	}
}
