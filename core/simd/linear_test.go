package simd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

// linearAt runs one layer at one level, into a guarded result.
func linearAt(t *testing.T, k simd.Kernels, x []float32, w []int8, scale, bias []float32, rows, out, in int,
	p simd.Precision) []float32 {
	t.Helper()
	const guard = 12345
	l, err := k.PackLayer(w, scale, bias, out, in)
	if err != nil {
		t.Fatal(err)
	}
	var q simd.Rows
	k.Quantize(&q, x, rows, in, p)
	dst := make([]float32, rows*out+40)
	for i := range dst {
		dst[i] = guard
	}
	k.Linear(dst[:rows*out], l, &q, simd.Identity)
	for _, g := range dst[rows*out:] {
		if g != guard {
			t.Fatalf("%s linear %d×%d×%d wrote past its result", k.Level(), rows, in, out)
		}
	}
	return dst[:rows*out]
}

// checkLinear multiplies integers of up to 16 bits, whose quantization is the
// identity, at the precision of a bulk as well: the result is the exact sum, correctly
// rounded.
func checkLinear(t *testing.T, k simd.Kernels, r *rand.Rand, rows, out, in int, extreme bool) {
	t.Helper()
	const top = 32639
	x, w := make([]float32, rows*in), randomBytes(r, out*in)
	for i := range x {
		x[i] = float32(r.IntN(2*top+1) - top)
		if extreme {
			x[i] = top
		}
	}
	for i := 0; i < rows && !extreme; i++ {
		x[i*in] = -top
	}
	if extreme {
		for i := range w {
			if w[i] = -128; i/in%2 == 1 {
				w[i] = 127
			}
		}
	}
	scale, bias := make([]float32, out), make([]float32, out)
	for i := range scale {
		scale[i] = float32(int(1) << (i % 3)) // powers of two stay exact
	}
	got := linearAt(t, k, x, w, scale, bias, rows, out, in, simd.Full16)
	const fine simd.Precision = 0.001 // codes have all 16 bits, high bytes are listed
	for i, v := range linearAt(t, k, x, w, scale, bias, rows, out, in, fine) {
		if v != got[i] {
			t.Fatalf("linear %d×%d×%d: value %d is %g where high bytes are listed, else %g", rows, in, out, i, v, got[i])
		}
	}
	for i := range rows {
		for n := range out {
			var sum int64
			for j := range in {
				sum += int64(x[i*in+j]) * int64(w[n*in+j])
			}
			want := float32(sum) * scale[n]
			bound := 0.0
			if sum >= 1<<32 || sum <= -1<<32 { // the high part is rounded too
				bound = math.Abs(float64(sum)) / (1 << 23) * float64(scale[n])
			}
			if g := got[i*out+n]; !close32(float64(g), float64(want), bound) {
				t.Fatalf("linear %d×%d×%d: (%d,%d) is %g, want %g", rows, in, out, i, n, g, want)
			}
		}
	}
}

func TestLinearIsExact(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(1, 9))
		for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 23, 24, 30} {
			for _, out := range []int{1, 15, 16, 17, 31, 32, 33, 70} {
				for _, in := range []int{1, 2, 3, 4, 5, 15, 16, 17, 63, 100} {
					checkLinear(t, k, r, rows, out, in, false)
				}
			}
		}
		for _, in := range []int{384, 511, 512, 513, 514, 515, 1024, 1025, 1536, 5000} { // 515 inputs of -128 take a 33rd bit
			checkLinear(t, k, r, 7, 40, in, false)
			checkLinear(t, k, r, 13, 33, in, true)
		}
		checkLinear(t, k, r, 1, 1, simd.MaxDim, true)
		checkLinear(t, k, r, 200, 33, 1536, false) // more than one panel
	})
}

// Levels agree to the bit on real scales, and the result is the f32 product
// within what 16-bit activations lose.
func TestLinearLevelsAgree(t *testing.T) {
	levels := levelsBeside(t)
	r := rand.New(rand.NewPCG(2, 9))
	for i := range 180 {
		rows, out, in := 1+r.IntN(40), 1+r.IntN(100), 1+r.IntN(1000)
		p := []simd.Precision{simd.Full16, simd.Bulk8, 0.5, 1, 2, 100}[i%6]
		if i >= 120 { // so long that sums need more than 32 bits, or would with other weights
			rows, in, p = 1+r.IntN(15), 900+r.IntN(400), 0.5
		}
		x, w := randomFloats(r, rows*in), randomBytes(r, out*in)
		for range in / 20 { // outliers
			x[r.IntN(len(x))] *= 30
		}
		scale, bias := randomFloats(r, out), randomFloats(r, out)
		want := linearAt(t, simd.Kernels{}, x, w, scale, bias, rows, out, in, p)
		for i := range rows {
			var top, squares float64
			for _, v := range x[i*in : (i+1)*in] {
				top = max(top, math.Abs(float64(v)))
				squares += float64(v) * float64(v)
			}
			step := max(top/32639, float64(p)*math.Sqrt(squares/float64(in))/127)
			for n := range out {
				var exact, weight float64
				for j := range in {
					exact += float64(x[i*in+j]) * float64(w[n*in+j])
					weight += math.Abs(float64(w[n*in+j]))
				}
				s := math.Abs(float64(scale[n]))
				exact = exact*float64(scale[n]) + float64(bias[n])
				bound := step*0.5001*weight*s + 1e-6*(math.Abs(exact)+math.Abs(float64(bias[n]))+s*weight*top/1e3)
				if g := want[i*out+n]; !close32(float64(g), exact, bound) {
					t.Fatalf("linear %d×%d×%d: (%d,%d) is %g, exact %g ± %g", rows, in, out, i, n, g, exact, bound)
				}
			}
		}
		for _, k := range levels {
			got := linearAt(t, k, x, w, scale, bias, rows, out, in, p)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%s linear %d×%d×%d: value %d is %g, portable %g", k.Level(), rows, in, out, i, got[i], want[i])
				}
			}
		}
	}
}

// One output of many needs a 33rd bit.
func TestLinearWideOutput(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		const rows, out, in, top = 13, 33, 520, 32639
		x, w := slices.Repeat([]float32{top}, rows*in), make([]int8, out*in)
		for i := range in {
			w[i] = 127
		}
		got := linearAt(t, k, x, w, slices.Repeat([]float32{1}, out), nil, rows, out, in, 0.001)
		for i, v := range got {
			want := float32(0)
			if i%out == 0 {
				want = 127 * in * top
			}
			if v != want {
				t.Fatalf("row %d, output %d is %g, want %g", i/out, i%out, v, want)
			}
		}
	})
}

// A precision rounds to steps of so much of a row's root mean square: the weights here
// give every input back.
func TestPrecisionIsOfTheRow(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		const in = 32
		x, w := make([]float32, in), make([]int8, in*in)
		var squares float64
		for i := range x {
			x[i] = float32(1 + i%7*i%5)
			squares += float64(x[i]) * float64(x[i])
			w[i*in+i] = 1
		}
		step := float64(simd.Bulk8) * math.Sqrt(squares/in) / 127
		got := linearAt(t, k, x, w, slices.Repeat([]float32{1}, in), nil, 1, in, in, simd.Bulk8)
		for i, v := range x {
			if want := math.Round(float64(v)/step) * step; !close32(float64(got[i]), want, 1e-5) {
				t.Errorf("%g becomes %g, want %g, a multiple of %g", v, got[i], want, step)
			}
		}
	})
}

func FuzzLinear(f *testing.F) {
	f.Add(uint8(6), uint8(32), uint16(64), uint64(1), false)
	f.Add(uint8(13), uint8(45), uint16(530), uint64(2), true)
	f.Fuzz(func(t *testing.T, rows, out uint8, in uint16, seed uint64, extreme bool) {
		if rows == 0 || out == 0 || in == 0 || in > 4000 || rows > 40 {
			t.Skip("the shape is outside what the kernels take")
		}
		for _, level := range simd.Levels() {
			if k, err := simd.At(level); err == nil {
				checkLinear(t, k, rand.New(rand.NewPCG(seed, 1)), int(rows), int(out), int(in), extreme)
			}
		}
	})
}

func TestLinearOddValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i, in := range []int{3, 16, 33, 3, 16, 33} {
		p := []simd.Precision{simd.Full16, simd.Bulk8}[i/3]
		everyLevel(t, func(t *testing.T, k simd.Kernels) {
			rows := []float32{1, nan, -inf, 0, 1e-44, 3e38}
			x := make([]float32, len(rows)*in)
			for i, v := range rows {
				x[i*in+in-1] = v
			}
			w := make([]int8, in)
			w[in-1] = 2
			got := linearAt(t, k, x, w, []float32{1}, []float32{7}, len(rows), 1, in, p)
			for i, want := range []float64{9, math.NaN(), math.NaN(), 7, 7, math.Inf(1)} {
				if !close32(float64(got[i]), want, 1e-5+0.01*float64(p)) && float64(got[i]) != want {
					t.Errorf("row of %g gives %g, want %g", rows[i], got[i], want)
				}
			}
		})
	}
}

func TestLinearRefusesBadShapes(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		for _, c := range []struct{ w, scale, bias, out, in int }{
			{0, 0, 0, 0, 4}, {0, 4, 4, 4, 0}, {7, 2, 2, 2, 4}, {8, 1, 2, 2, 4}, {8, 2, 1, 2, 4},
			{0, 1, 1, 1, simd.MaxDim + 1}, {0, 0, 0, -1, 4},
		} {
			if _, err := k.PackLayer(make([]int8, c.w), make([]float32, c.scale), make([]float32, c.bias), c.out,
				c.in); err == nil {
				t.Errorf("PackLayer takes %+v", c)
			}
		}
		l, err := k.PackLayer(make([]int8, 8), make([]float32, 2), nil, 2, 4)
		if err != nil {
			t.Fatal(err)
		}
		k.Linear(nil, l, simd.NewRows(3, 4), simd.GELU) // room is no rows
		q := simd.NewRows(3, 4)
		k.Quantize(q, make([]float32, 12), 3, 4, simd.Full16)
		mustPanic(t, "short result", func() { k.Linear(make([]float32, 5), l, q, simd.Identity) })
		mustPanic(t, "size that wraps", func() { k.Quantize(q, make([]float32, 15), 1<<62, 4, simd.Full16) })
		mustPanic(t, "negative precision", func() { k.Quantize(q, make([]float32, 12), 3, 4, -1) })
		mustPanic(t, "short input", func() { k.Quantize(q, make([]float32, 11), 3, 4, simd.Full16) })
		k.Quantize(q, make([]float32, 15), 3, 5, simd.Full16)
		mustPanic(t, "other width", func() { k.Linear(make([]float32, 6), l, q, simd.Identity) })
		for _, level := range simd.Levels() {
			if other, err := simd.At(level); err == nil && level != k.Level() {
				k.Quantize(q, make([]float32, 12), 3, 4, simd.Full16)
				mustPanic(t, "other level", func() { other.Linear(make([]float32, 6), l, q, simd.Identity) })
			}
		}
		k.Quantize(q, nil, 0, 4, simd.Full16)
		k.Linear(nil, l, q, simd.GELU)
	})
}

// LinearMax is the largest of what Linear gives, to the bit, at every level.
func TestLinearMax(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(3, 9))
		for i := range 150 {
			rows, out, in := 1+r.IntN(110), 1+r.IntN(100), 1+r.IntN(100)
			p := []simd.Precision{simd.Full16, simd.Bulk8}[i%2]
			w, scale, bias := randomBytes(r, out*in), randomFloats(r, out), randomFloats(r, out)
			l, err := k.PackLayer(w, scale, bias, out, in)
			if err != nil {
				t.Fatal(err)
			}
			var q simd.Rows
			k.Quantize(&q, randomFloats(r, rows*in), rows, in, p)
			all, got := make([]float32, rows*out), make([]float32, out+40)
			k.Linear(all, l, &q, simd.Identity)
			k.LinearMax(got[:out], l, &q)
			for n := range got {
				want := float32(0) // behind the result
				if n < out {
					want = all[n]
					for at := n; at < len(all); at += out {
						want = max(want, all[at])
					}
				}
				if math.Float32bits(got[n]) != math.Float32bits(want) && (got[n] != 0 || want != 0) {
					t.Fatalf("%s: %d rows of %d to %d: output %d is %g, want %g", k.Level(), rows, in, out, n, got[n], want)
				}
			}
		}
		l, err := k.PackLayer([]int8{1}, []float32{1}, nil, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		var none simd.Rows
		k.Quantize(&none, nil, 0, 1, simd.Bulk8)
		got := []float32{7}
		if k.LinearMax(got, l, &none); !math.IsInf(float64(got[0]), -1) {
			t.Errorf("without rows: %g", got[0])
		}
		mustPanic(t, "no room", func() { k.LinearMax(nil, l, &none) })
	})
}

// BenchmarkLinear multiplies codes of 16 bits, of a bulk, and of a bulk of which none has
// a high byte.
func BenchmarkLinear(b *testing.B) {
	for _, s := range []struct{ rows, in, out int }{{128, 384, 384}, {128, 384, 1152}, {128, 1536, 384},
		{128, 384, 1536}, {12, 384, 1536}, {1, 384, 384}} {
		for _, codes := range []string{"full16", "bulk8", "low", "outliers"} {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s.rows, s.in, s.out, codes), func(b *testing.B) {
				benchLevels(b, func(b *testing.B, k simd.Kernels) {
					r := rand.New(rand.NewPCG(1, 2))
					l, err := k.PackLayer(randomBytes(r, s.out*s.in), randomFloats(r, s.out), nil, s.out, s.in)
					if err != nil {
						b.Fatal(err)
					}
					q, dst := simd.NewRows(s.rows, s.in), make([]float32, s.rows*s.out)
					x, p := randomFloats(r, s.rows*s.in), simd.Bulk8
					switch codes {
					case "full16":
						p = simd.Full16
					case "low":
						for i := range x {
							x[i] = max(-1, min(x[i], 1)) // at most 1.4 times the root mean square
						}
					case "outliers": // as in real texts, in four ninths of the groups of four inputs
						for i := range x {
							x[i] = max(-1, min(x[i], 1))
							if i%s.in%9 == 0 && r.IntN(4) == 0 {
								x[i] *= 8
							}
						}
					}
					k.Quantize(q, x, s.rows, s.in, p)
					b.ReportAllocs()
					for b.Loop() {
						k.Linear(dst, l, q, simd.Identity)
					}
					b.ReportMetric(float64(s.rows*s.in*s.out)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
				})
			})
		}
	}
}

// BenchmarkPackLayer packs the wider of an encoder's layers.
func BenchmarkPackLayer(b *testing.B) {
	const out, in = 1536, 384
	weights, scale := randomBytes(rand.New(rand.NewPCG(1, 2)), out*in), make([]float32, out)
	benchLevels(b, func(b *testing.B, k simd.Kernels) {
		b.SetBytes(out * in)
		for b.Loop() {
			if _, err := k.PackLayer(weights, scale, nil, out, in); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkQuantize(b *testing.B) {
	const rows, dim = 128, 384
	x := randomFloats(rand.New(rand.NewPCG(1, 2)), rows*dim)
	benchLevels(b, func(b *testing.B, k simd.Kernels) {
		q := simd.NewRows(rows, dim)
		b.ReportAllocs()
		for b.Loop() {
			k.Quantize(q, x, rows, dim, simd.Full16)
		}
		b.ReportMetric(rows*dim*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "Gvalues/s")
	})
}
