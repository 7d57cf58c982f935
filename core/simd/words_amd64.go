package simd

import "math"

// Attention in words: queries, keys, weights and values become codes of 16 bits, which
// AVX-512 VNNI multiplies in pairs, two steps of floats in one. Sums are 32 bits, and codes
// as large as those allow. No query or key is longer than topLength, so that no product of
// two is above 2³⁰ (Cauchy and Schwarz); of keys their mean is taken off, which adds the
// same to all scores of a query, so that a softmax doesn't see it, and is most of them in
// some heads. The weights of up to wordTokens positions add up to 2¹⁷ and half of one each,
// times topValue.
const (
	topLength  = 32766
	topValue   = 15000
	wordTokens = 1 << 14
	// wordsFrom is how many positions are worth the conversions.
	wordsFrom = 16
	// leastLength is a length whose square is far from what floats round to zero. What is
	// shorter is taken to be so long.
	leastLength = 1e-15
)

// attendWords is the attention of one head, the one whose values dst, q, keys and values
// begin with. It is false, and writes nothing to dst, where floats have to do it: without the
// instructions, for heads that don't fill registers, for lengths that are no floats.
func (k Kernels) attendWords(dst, q, keys, values []float32, h Heads, scale float32, scratch []float32) bool {
	if k.vector().level != AVX512 || h.Dim%16 != 0 || h.Tokens < wordsFrom || h.Tokens > wordTokens {
		return false
	}
	tokens, half := (h.Tokens+15)&^15, h.Dim/2
	rest := room(scratch)
	zero, mean := rest.cut(h.Dim), rest.cut(h.Dim)
	clear(zero)
	h.mean(mean, keys)
	queryLength, keyLength, valueLength := h.longest(q, zero), h.longest(keys, mean), h.longest(values, zero)
	if sum := queryLength + keyLength + valueLength; sum-sum != 0 {
		return false
	}
	across := rest.cut(half * tokens)       // keys, transposed, in pairs of their values
	pairs := rest.cut(tokens / 2 * h.Dim)   // values, in pairs of positions, and before that keys
	queries := rest.cut(half * h.Tokens)    // in pairs of their values
	weights := rest.cut(blockRows * tokens) // of a block of rows
	h.toWords(pairs, keys, mean, topLength/keyLength)
	transposeKeys(across, tokens, pairs, Heads{Tokens: h.Tokens, Dim: half, Stride: half})
	h.toPairs(pairs, values, topValue/valueLength)
	h.toWords(queries, q, zero, topLength/queryLength)

	scale *= queryLength / topLength * (keyLength / topLength) * math.Log2E
	none := float32(math.Inf(-1))
	width := h.Count * h.Dim
	var sums [blockRows]float32 // what multiplies each row's result
	for i := 0; i < h.Tokens; {
		rows := k.matmulWords(weights, tokens, queries[i*half:], half, across, tokens, half, tokens, h.Tokens-i, nil)
		for r := range rows {
			for j := h.Tokens; j < tokens; j++ {
				weights[r*tokens+j] = none
			}
		}
		softmaxWordsAVX512(&weights[0], uintptr(tokens), uintptr(rows+3)/4, &sums[0], scale, valueLength/topValue)
		k.matmulWords(dst[i*width:], width, weights, tokens, pairs, h.Dim, (h.Tokens+1)/2, h.Dim, rows, &sums[0])
		i += rows
	}
	return true
}

// parts calls work for all rows of a head, as many at a time as a call of assembly may take,
// an even number.
func (h Heads) parts(work func(from, rows int)) {
	part := max(4, stretch/h.Dim&^3)
	for from := 0; from < h.Tokens; from += part {
		work(from, min(part, h.Tokens-from))
	}
}

// mean writes the mean of a head's rows to dst.
func (h Heads) mean(dst, x []float32) {
	clear(dst)
	h.parts(func(from, rows int) {
		addRowsAVX512(&dst[0], &x[from*h.Stride], uintptr(4*h.Stride), uintptr(rows), uintptr(h.Dim/16))
	})
	for i := range dst {
		dst[i] /= float32(h.Tokens)
	}
}

// longest is the length of the longest row of a head, each less the same values. What is no
// number or too large for its square stays so.
func (h Heads) longest(x, less []float32) float32 {
	var squares uint32
	groups := uintptr(h.Dim / 16)
	h.parts(func(from, rows int) {
		if fours := rows / 4; fours > 0 {
			squares = max(squares, topSquaresAVX512(&x[from*h.Stride], &less[0], uintptr(4*h.Stride), uintptr(fours), groups))
		}
		for i := from + rows&^3; i < from+rows; i++ {
			squares = max(squares, topSquaresAVX512(&x[i*h.Stride], &less[0], 0, 1, groups))
		}
	})
	return max(leastLength, float32(math.Sqrt(float64(math.Float32frombits(squares)))))
}

// toWords writes a head's rows, each less the same values, times scale as words, two in each
// place of dst.
func (h Heads) toWords(dst, x, less []float32, scale float32) {
	h.parts(func(from, rows int) {
		toWordsAVX512(&dst[from*h.Dim/2], uintptr(2*h.Dim), &x[from*h.Stride], &less[0], uintptr(4*h.Stride),
			uintptr(rows), uintptr(h.Dim/16), scale)
	})
}

// toPairs writes a head's rows times scale as words, in each place those of two rows. A last
// row without another stands beside itself: the weight of that is zero.
func (h Heads) toPairs(dst, x []float32, scale float32) {
	stride, groups := uintptr(4*h.Stride), uintptr(h.Dim/16)
	h.parts(func(from, rows int) {
		if rows > 1 {
			toPairsAVX512(&dst[from/2*h.Dim], &x[from*h.Stride], 2*stride, stride, uintptr(rows/2), groups, scale)
		}
		if last := from + rows - 1; rows%2 == 1 {
			toPairsAVX512(&dst[last/2*h.Dim], &x[last*h.Stride], 0, 0, 1, groups, scale)
		}
	})
}

// matmulWords is matmul of pairs of words. Sums come out as floats, those of each row
// times its scale if there is one.
func (k Kernels) matmulWords(dst []float32, dstStride int, a []float32, aStride int, b []float32, bStride,
	inner, cols, left int, scale *float32) int {
	pairs, odd := cols/32, cols/16%2
	h := k.height(left)
	ds, as, bs := uintptr(4*dstStride), uintptr(4*aStride), uintptr(4*bStride)
	if pairs > 0 {
		matmulWordTiles(h, 2, &dst[0], ds, &a[0], as, &b[0], bs, uintptr(inner), uintptr(pairs), scale)
	}
	if odd > 0 {
		from := 32 * pairs
		matmulWordTiles(h, 1, &dst[from], ds, &a[0], as, &b[from], bs, uintptr(inner), 1, scale)
	}
	return h
}

func matmulWordTiles(h, c int, dst *float32, ds uintptr, a *float32, as uintptr, b *float32, bs, inner, tiles uintptr,
	scale *float32) {
	switch h<<4 | c {
	case 8<<4 | 2:
		matmulWords8x2AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	case 8<<4 | 1:
		matmulWords8x1AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	case 4<<4 | 2:
		matmulWords4x2AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	case 4<<4 | 1:
		matmulWords4x1AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	case 2<<4 | 2:
		matmulWords2x2AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	case 2<<4 | 1:
		matmulWords2x1AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	case 1<<4 | 2:
		matmulWords1x2AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	case 1<<4 | 1:
		matmulWords1x1AVX512(dst, ds, a, as, b, bs, inner, tiles, scale)
	}
}

//go:noescape
func matmulWords8x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func matmulWords8x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func matmulWords4x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func matmulWords4x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func matmulWords2x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func matmulWords2x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func matmulWords1x2AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func matmulWords1x1AVX512(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr,
	k, tiles uintptr, scale *float32)

//go:noescape
func softmaxWordsAVX512(x *float32, n, fours uintptr, sums *float32, scale, unit float32)

//go:noescape
func addRowsAVX512(dst, x *float32, stride, rows, groups uintptr)

//go:noescape
func topSquaresAVX512(x, less *float32, stride, fours, groups uintptr) (bits uint32)

//go:noescape
func toWordsAVX512(dst *float32, dstStride uintptr, x, less *float32, stride, rows, groups uintptr, scale float32)

//go:noescape
func toPairsAVX512(dst *float32, x *float32, stride, next, pairs, groups uintptr, scale float32)
