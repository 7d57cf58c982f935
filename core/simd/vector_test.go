package simd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

func checkDot(t *testing.T, k simd.Kernels, a, b []float32) {
	t.Helper()
	var want, size float64
	for i := range a {
		want += float64(a[i]) * float64(b[i])
		size += math.Abs(float64(a[i]) * float64(b[i]))
	}
	bound := size * float64(len(a)+1) / (1 << 24)
	if got := k.Dot(a, b); !close32(float64(got), want, bound) {
		t.Fatalf("Dot of %d: %g, want %g ± %g", len(a), got, want, bound)
	}
}

func TestDotEverySize(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 300 {
			a, b := randomFloats(r, n), randomFloats(r, n)
			checkDot(t, k, a, b)

			h := make([]uint16, n)
			k.ToF16(h, b)
			k.FromF16(b, h)
			var want, size float64
			for i := range a {
				want += float64(a[i]) * float64(b[i])
				size += math.Abs(float64(a[i]) * float64(b[i]))
			}
			if got := k.DotF16(a, h); !close32(float64(got), want, size*float64(n+1)/(1<<24)) {
				t.Fatalf("DotF16 of %d: %g, want %g", n, got, want)
			}
		}
		mustPanic(t, "unequal dot", func() { k.Dot(make([]float32, 3), make([]float32, 4)) })
		mustPanic(t, "unequal dot", func() { k.DotF16(make([]float32, 3), make([]uint16, 2)) })
		mustPanic(t, "short f16", func() { k.ToF16(make([]uint16, 3), make([]float32, 4)) })
		mustPanic(t, "short f32", func() { k.FromF16(make([]float32, 3), make([]uint16, 4)) })
	})
}

// halfValue is the IEEE definition of a half.
func halfValue(h uint16) float64 {
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	exp, frac := int(h>>10&31), float64(h&1023)
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

func TestHalfPrecision(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		all := make([]uint16, 1<<16)
		for i := range all {
			all[i] = uint16(i)
		}
		wide := make([]float32, len(all)+1)
		k.FromF16(wide[:len(all)], all)
		back := make([]uint16, len(all))
		k.ToF16(back, wide[:len(all)])
		var mid []float32 // halfway between neighbours, and a little to each side
		var low []uint16  // the even one's rule decides halfway
		for i, h := range all {
			want := halfValue(h)
			if float64(wide[i]) != want && !math.IsNaN(want) || math.IsNaN(want) != math.IsNaN(float64(wide[i])) {
				t.Fatalf("half %#04x widens to %g, want %g", h, wide[i], want)
			}
			if !math.IsNaN(want) && back[i] != h || math.IsNaN(want) && back[i]&0x7fff <= 0x7c00 {
				t.Fatalf("half %#04x comes back as %#04x", h, back[i])
			}
			if mag := h & 0x7fff; mag < 0x7bff {
				next := halfValue(h + 1)
				half := float32((want + next) / 2)
				even := h + h&1
				up, down := h+1, h
				mid = append(mid, half, math.Nextafter32(half, float32(next)), math.Nextafter32(half, float32(want)))
				low = append(low, even, up, down)
			}
		}
		got := make([]uint16, len(mid))
		k.ToF16(got, mid)
		for i := range mid {
			if got[i] != low[i] {
				t.Fatalf("%g rounds to %#04x, want %#04x", mid[i], got[i], low[i])
			}
		}
		edge := []float32{65519.996, 65520, 1e30, float32(math.Inf(-1)), 1e-30, math.SmallestNonzeroFloat32}
		want := []uint16{0x7bff, 0x7c00, 0x7c00, 0xfc00, 0, 0}
		for _, n := range []int{1, 16} { // alone, and in a whole register
			for i, v := range edge {
				in, out := make([]float32, n), make([]uint16, n)
				in[0] = v
				if k.ToF16(out, in); out[0] != want[i] {
					t.Errorf("%g rounds to %#04x, want %#04x", v, out[0], want[i])
				}
			}
		}
	})
}

func TestQuantizeInt8(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 200 {
			v, codes := randomFloats(r, n), make([]int8, n)
			scale := k.QuantizeInt8(codes, v)
			var top int8
			for i, x := range v {
				if e := math.Abs(float64(x) - float64(codes[i])*float64(scale)); e > float64(scale)*0.50001 {
					t.Fatalf("%d values: %g became %d*%g", n, x, codes[i], scale)
				}
				top = max(top, codes[i], -codes[i])
			}
			if n > 0 && top != 127 {
				t.Fatalf("%d values use codes up to %d only", n, top)
			}
		}
		nan, inf := float32(math.NaN()), float32(math.Inf(-1))
		for _, bad := range []float32{nan, inf} {
			codes := []int8{1, 2, 3}
			if s := k.QuantizeInt8(codes, []float32{1, bad, 2}); s == s || codes[0] != 0 || codes[1] != 0 || codes[2] != 0 {
				t.Errorf("with %g: scale %g, codes %v", bad, s, codes)
			}
		}
		codes := []int8{1, 2}
		if s := k.QuantizeInt8(codes, []float32{0, 0}); s != 0 || codes[0] != 0 || codes[1] != 0 {
			t.Errorf("zero vector: scale %g, codes %v", s, codes)
		}
		if s := k.QuantizeInt8(codes, []float32{1e-44, 0}); s != 0 || codes[0] != 0 {
			t.Errorf("vanishing vector: scale %g, codes %v", s, codes)
		}
	})
}

func TestNormalize(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, n := range []int{1, 2, 17, 384} {
			for _, scale := range []float32{1, 1e-30, 1e30} {
				v := randomFloats(r, n)
				var want float64
				for i := range v {
					v[i] *= scale
					want += float64(v[i]) * float64(v[i])
				}
				want = math.Sqrt(want)
				norm := k.Normalize(v)
				if !close32(float64(norm), want, want*1e-6) {
					t.Errorf("norm of %d values is %g, want %g", n, norm, want)
				}
				var unit float64
				for _, x := range v {
					unit += float64(x) * float64(x)
				}
				if !close32(unit, 1, 1e-6) {
					t.Errorf("%d values normalised to length² %g", n, unit)
				}
			}
		}
		zero := []float32{0, 0}
		if n := k.Normalize(zero); n != 0 || zero[0] != 0 {
			t.Errorf("zero vector: norm %g, values %v", n, zero)
		}
	})
}

func BenchmarkDotF16(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	q, h := randomFloats(r, 384), make([]uint16, 384)
	simd.Kernels{}.ToF16(h, q)
	benchLevels(b, func(b *testing.B, k simd.Kernels) {
		var sum float32
		for b.Loop() {
			sum += k.DotF16(q, h)
		}
		b.ReportMetric(384*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
	})
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := randomFloats(r, 384), randomFloats(r, 384)
	benchLevels(b, func(b *testing.B, k simd.Kernels) {
		var sum float32
		for b.Loop() {
			sum += k.Dot(x, y)
		}
		b.ReportMetric(384*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
	})
}

func BenchmarkQuantizeInt8(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	v, codes := randomFloats(r, 384), make([]int8, 384)
	for b.Loop() {
		simd.Kernels{}.QuantizeInt8(codes, v)
	}
}
