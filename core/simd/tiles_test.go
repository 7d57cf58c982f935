package simd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

// mixedRows makes rows of which, at the precision Bulk8, some runs of 16 hold values
// that need more than 8 bits and others don't.
func mixedRows(r *rand.Rand, rows, in int) []float32 {
	x := make([]float32, rows*in)
	for i := range x {
		x[i] = 2*r.Float32() - 1 // at most 1.8 times the root mean square
	}
	for i := 0; i < rows; i += 1 + r.IntN(40) {
		x[i*in+r.IntN(in)] = 40
	}
	return x
}

// TestLinearManyCalls takes shapes that go through assembly in many calls, with and
// without high bytes: all levels give the same bits.
func TestLinearManyCalls(t *testing.T) {
	levels := levelsBeside(t)
	r := rand.New(rand.NewPCG(4, 9))
	for _, s := range []struct{ rows, out, in int }{{12, 384, 384}, {16, 130, 64}, {17, 33, 65}, {100, 384, 384},
		{170, 300, 1536}, {600, 64, 384}, {3, 40, 5000}, {33, 2200, 1000}, {100, 34, 3100}} {
		x, w := mixedRows(r, s.rows, s.in), randomBytes(r, s.out*s.in)
		scale, bias := randomFloats(r, s.out), randomFloats(r, s.out)
		for _, p := range []simd.Precision{simd.Full16, simd.Bulk8} {
			want := linearAt(t, simd.Kernels{}, x, w, scale, bias, s.rows, s.out, s.in, p)
			largest := append([]float32(nil), want[:s.out]...)
			for i, v := range want {
				largest[i%s.out] = max(largest[i%s.out], v)
			}
			for _, k := range levels {
				got := linearAt(t, k, x, w, scale, bias, s.rows, s.out, s.in, p)
				top := make([]float32, s.out)
				var q simd.Rows
				l, err := k.PackLayer(w, scale, bias, s.out, s.in)
				if err != nil {
					t.Fatal(err)
				}
				k.Quantize(&q, x, s.rows, s.in, p)
				k.LinearMax(top, l, &q)
				for i := range want {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
						t.Fatalf("%s %+v: value %d is %g, portable %g", k.Level(), s, i, got[i], want[i])
					}
				}
				for n, v := range largest {
					if top[n] != v {
						t.Fatalf("%s %+v: output %d: the largest is %g, want %g", k.Level(), s, n, top[n], v)
					}
				}
			}
		}
	}
}

// TestLinearGELU holds Linear with GELU to GELU of what Linear alone gives.
func TestLinearGELU(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(5, 9))
		for i := range 40 {
			rows, out, in := 1+r.IntN(70), 1+r.IntN(100), 1+r.IntN(200)
			scale := randomFloats(r, out)
			for i := range scale {
				scale[i] /= 500
			}
			l, err := k.PackLayer(randomBytes(r, out*in), scale, randomFloats(r, out), out, in)
			if err != nil {
				t.Fatal(err)
			}
			var q simd.Rows
			k.Quantize(&q, mixedRows(r, rows, in), rows, in, []simd.Precision{simd.Full16, simd.Bulk8, 100}[i%3])
			plain, got := make([]float32, rows*out), make([]float32, rows*out)
			k.Linear(plain, l, &q, simd.Identity)
			k.Linear(got, l, &q, simd.GELU)
			for i, v := range plain {
				if want := exactGELU(float64(v)); !close32(float64(got[i]), want, 2e-6+1e-6*math.Abs(float64(v))) {
					t.Fatalf("%d rows of %d to %d: GELU(%g) = %g, want %g", rows, in, out, v, got[i], want)
				}
			}
		}
	})
}
