package simd

import (
	"fmt"
	"math"
)

// Dot is the dot product of a and b, which are equally long. Its error is at
// most len(a)*2^-24*Σ|a[i]*b[i]|; levels add in different orders.
func (k Kernels) Dot(a, b []float32) float32 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("simd: dot of %d and %d values", len(a), len(b)))
	}
	return k.dot(a, b)
}

// DotF16 is the dot product of q with a row of IEEE 754 half-precision
// values, equally long. Error as for Dot: halves widen exactly.
func (k Kernels) DotF16(q []float32, row []uint16) float32 {
	if len(q) != len(row) {
		panic(fmt.Sprintf("simd: dot of %d and %d values", len(q), len(row)))
	}
	return k.dotF16(q, row)
}

// ToF16 rounds src to half precision, to nearest even: beyond ±65,519 to
// infinity, below 2^-25 to zero; NaN stays NaN. dst is at least as long as src.
func (k Kernels) ToF16(dst []uint16, src []float32) {
	checkLen(len(dst), len(src))
	k.toF16(dst[:len(src)], src)
}

// FromF16 widens half-precision values exactly. dst is at least as long as src.
func (k Kernels) FromF16(dst []float32, src []uint16) {
	checkLen(len(dst), len(src))
	k.fromF16(dst[:len(src)], src)
}

// QuantizeInt8 rounds src to codes of ±127 and returns the scale that gives
// the values back: src[i] ≈ float32(dst[i])*scale, off by at most scale/2.
// The scale is the largest magnitude over 127, and 0 for a zero vector. A
// vector that holds NaN or an infinity has no code: dst is zeroed and the scale
// is NaN. dst is at least as long as src. All levels give the same codes.
func (k Kernels) QuantizeInt8(dst []int8, src []float32) (scale float32) {
	checkLen(len(dst), len(src))
	dst = dst[:len(src)]
	top := absMaxPortable(src)
	// 1/top of a subnormal overflows; nothing a caller stores is that small.
	inv := 127 / top
	if top == 0 || top != top || top > math.MaxFloat32 || inv > math.MaxFloat32 {
		clear(dst)
		if top == 0 || inv > math.MaxFloat32 {
			return 0
		}
		return float32(math.NaN())
	}
	for i, v := range src {
		dst[i] = int8(roundEven(float32(v * inv)))
	}
	return top / 127
}

// Normalize scales v to unit length in place and returns its length before.
// A zero vector, and one whose length is not finite, is left as it is.
func (k Kernels) Normalize(v []float32) (norm float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	norm = float32(length)
	if norm == 0 || norm != norm || length > math.MaxFloat32 {
		return norm
	}
	inv := 1 / length
	for i, x := range v {
		v[i] = float32(float64(x) * inv)
	}
	return norm
}

func checkLen(dst, src int) {
	if dst < src {
		panic(fmt.Sprintf("simd: room for %d values, have %d", dst, src))
	}
}

// absMaxPortable is the largest magnitude; NaN, and next infinity, beat every
// number, because magnitudes order as their bits do.
func absMaxPortable(v []float32) float32 {
	var top uint32
	for _, x := range v {
		top = max(top, math.Float32bits(x)&^(1<<31))
	}
	return math.Float32frombits(top)
}

// roundEven rounds |x| < 2^22 to the nearest integer, ties to even, as
// VCVTPS2DQ does: adding 1.5*2^23 leaves no bits below the point.
func roundEven(x float32) int32 {
	const magic = 3 << 22
	return int32(math.Float32bits(float32(x+magic))) - 0x4b400000
}

func dotPortable(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func dotF16Portable(q []float32, row []uint16) float32 {
	row = row[:len(q)]
	var s0, s1 float32
	for i := 0; i+2 <= len(q); i += 2 {
		s0 += q[i] * f16to32(row[i])
		s1 += q[i+1] * f16to32(row[i+1])
	}
	if n := len(q); n%2 == 1 {
		s0 += q[n-1] * f16to32(row[n-1])
	}
	return s0 + s1
}

func toF16Portable(dst []uint16, src []float32) {
	for i, v := range src {
		dst[i] = f32to16(v)
	}
}

func fromF16Portable(dst []float32, src []uint16) {
	for i, h := range src {
		dst[i] = f16to32(h)
	}
}

// f16to32 widens one half: the exponent and fraction move to their places and
// a multiplication by 2^112 rebiases, subnormals included.
func f16to32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	mag := uint32(h&0x7fff) << 13
	if h&0x7c00 == 0x7c00 { // infinity or NaN, which is made quiet
		bits := sign | 0x7f800000 | mag
		if h&0x3ff != 0 {
			bits |= 1 << 22
		}
		return math.Float32frombits(bits)
	}
	const rebias = 0x77800000 // 2^112
	v := math.Float32frombits(mag) * math.Float32frombits(rebias)
	return math.Float32frombits(math.Float32bits(v) | sign)
}

func f32to16(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits>>16) & 0x8000
	bits &^= 1 << 31
	switch {
	case bits > 0x7f800000: // NaN: keep the top of the payload, quiet
		return sign | 0x7e00 | uint16(bits>>13)&0x3ff
	case bits >= 0x477ff000: // rounds to 65,536 or more
		return sign | 0x7c00
	case bits < 0x38800000: // subnormal half: let an addition do the rounding
		const half = 0x3f000000 // 0.5, whose last bit is 2^-24
		sum := math.Float32frombits(bits) + math.Float32frombits(half)
		return sign | uint16(math.Float32bits(sum)-half)
	}
	bits += 0xfff + bits>>13&1 // round to nearest even, carry into the exponent
	return sign | uint16((bits-(112<<23))>>13)
}
