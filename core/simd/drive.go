//go:build amd64 || arm64

package simd

import "math"

// What drives the assembly, the same for all instruction sets: loops over
// register blocks, and edges that blocks don't fill.

func (k Kernels) linearBlocks(dst []float32, l *Layer, x *Rows, then Activation) {
	if k.level == Portable {
		linearPortable(dst, l, x, then)
		return
	}
	tile := l.tile()
	panel := max(8, panelBytes/(2*x.stride*linearRows)) * linearRows
	var edge [linearRows * 32]float32
	for from := 0; from < x.rows; from += panel {
		to := min(from+panel, x.rows)
		for n := 0; n < l.out; n += tile {
			block := from / linearRows
			for r := from; r < to; {
				h, blocks := k.linearHeight(to-r), 1
				if n+tile <= l.out {
					blocks = k.linearRun(h, to-r, x.stride)
					k.linearBlock(h, blocks, &dst[r*l.out+n], l.out, l, n, x, r, block)
				} else {
					k.linearBlock(h, 1, &edge[0], tile, l, n, x, r, block)
					for i := range h {
						copy(dst[(r+i)*l.out+n:(r+i+1)*l.out], edge[i*tile:])
					}
				}
				r += h * blocks
				block += blocks
			}
		}
	}
	if then == GELU {
		k.GELU(dst)
	}
}

// maxRows is how many rows of a tile lie side by side before the largest of each
// output is taken: whole blocks, within the first-level cache.
const maxRows = 8 * linearRows

func (k Kernels) linearMaxBlocks(dst []float32, l *Layer, x *Rows) {
	if k.level == Portable {
		linearMaxPortable(dst, l, x)
		return
	}
	tile := l.tile()
	var rows [maxRows * 32]float32
	var edge [32]float32
	for n := 0; n < l.out; n += tile {
		top := edge[:tile]
		if n+tile <= l.out {
			top = dst[n : n+tile]
		}
		for i := range top {
			top[i] = float32(math.Inf(-1))
		}
		block := 0
		for from := 0; from < x.rows; from += maxRows {
			to := min(from+maxRows, x.rows)
			for r := from; r < to; {
				h := k.linearHeight(to - r)
				blocks := k.linearRun(h, to-r, x.stride)
				k.linearBlock(h, blocks, &rows[(r-from)*tile], tile, l, n, x, r, block)
				r += h * blocks
				block += blocks
			}
			k.maxTile(top, rows[:], to-from)
		}
		if n+tile > l.out {
			copy(dst[n:l.out], top)
		}
	}
}

// room is scratch that is not yet taken.
type room []float32

// cut takes the next n values.
func (r *room) cut(n int) []float32 {
	part := (*r)[:n]
	*r = (*r)[n:]
	return part
}

func (k Kernels) attention(dst, q, keys, values []float32, h Heads, scale float32, scratch []float32) {
	if k.level == Portable {
		attentionPortable(dst, q, keys, values, h, scale, scratch)
		return
	}
	lanes := k.lanes()
	tokens, dim := (h.Tokens+lanes-1)&^(lanes-1), (h.Dim+lanes-1)&^(lanes-1)
	rest := room(scratch)
	across := rest.cut(h.Dim * tokens) // keys, transposed
	packed := rest.cut(h.Tokens * dim) // values whose rows don't fill registers
	block := rest.cut(blockRows * dim)
	weights := rest.cut(blockRows * tokens)
	width := h.Count * h.Dim
	none := float32(math.Inf(-1))
	for head := range h.Count {
		at := head * h.Dim
		if k.attendWords(dst[at:], q[at:], keys[at:], values[at:], h, scale, scratch) {
			continue
		}
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
		transpose8(dst[j:], stride, keys[j*h.Stride:], h.Stride, d8)
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
