package simd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

func exactGELU(x float64) float64 { return x * 0.5 * math.Erfc(-x/math.Sqrt2) }

func TestGELUError(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		var x []float32
		for v := -12.0; v <= 12; v += 1.0 / 4096 {
			x = append(x, float32(v))
		}
		x = append(x, -1e30, 1e30, 0, 100, -100, 1e-40)
		for _, cut := range []int{0, 1, 7, 8, 15, 16, 17, 31} { // every tail
			got := slices.Clone(x[cut:])
			k.GELU(got)
			for i, v := range x[cut:] {
				want := exactGELU(float64(v))
				if !close32(float64(got[i]), want, 2e-6+1e-6*math.Abs(float64(v))) {
					t.Fatalf("GELU(%g) = %g, want %g", v, got[i], want)
				}
			}
		}
		for _, n := range []int{1, 16} {
			odd := make([]float32, n)
			odd[0] = float32(math.NaN())
			if k.GELU(odd); odd[0] == odd[0] {
				t.Errorf("GELU(NaN) = %g", odd[0])
			}
			odd[0] = float32(math.Inf(1))
			if k.GELU(odd); !math.IsInf(float64(odd[0]), 1) {
				t.Errorf("GELU(+Inf) = %g", odd[0])
			}
		}
		k.GELU(nil)
	})
}

func exactSoftmax(row []float32, scale float32) []float64 {
	top := math.Inf(-1)
	for _, v := range row {
		top = max(top, float64(v)*float64(scale))
	}
	out, sum := make([]float64, len(row)), 0.0
	for i, v := range row {
		out[i] = math.Exp(float64(v)*float64(scale) - top)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func TestSoftmaxEverySize(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(1, 1))
		for n := 1; n <= 140; n++ {
			for _, spread := range []float32{0, 1, 50, 1e4} {
				const rows, scale = 3, 0.17677669
				x := randomFloats(r, rows*n)
				for i := range x {
					x[i] *= spread
				}
				got := append(slices.Clone(x), 99)
				k.Softmax(got[:rows*n], rows, n, scale)
				if got[rows*n] != 99 {
					t.Fatalf("softmax of rows of %d wrote past them", n)
				}
				for i := range rows {
					want := exactSoftmax(x[i*n:(i+1)*n], scale)
					for j, w := range want {
						// the exponent itself is rounded, by up to 2^-23 of its size
						bound := 1e-6 + 3e-7*float64(spread)*w
						if g := float64(got[i*n+j]); !close32(g, w, bound) {
							t.Fatalf("softmax of %d, spread %g: %g, want %g", n, spread, g, w)
						}
					}
				}
			}
		}
		mustPanic(t, "short softmax", func() { k.Softmax(make([]float32, 5), 2, 3, 1) })
		mustPanic(t, "empty rows", func() { k.Softmax(make([]float32, 5), 2, 0, 1) })
		mustPanic(t, "size that wraps", func() { k.Softmax(make([]float32, 5), 1<<32, 1<<32, 1) })
		mustPanic(t, "negative scale", func() { k.Softmax(make([]float32, 5), 1, 5, -1) })
		k.Softmax(nil, 0, 3, 1)
	})
}

func TestLayerNormEverySize(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(1, 3))
		for n := 1; n <= 100; n++ {
			const rows, eps = 3, 1e-12
			x, add := randomFloats(r, rows*n), randomFloats(r, rows*n)
			gain, bias := randomFloats(r, n), randomFloats(r, n)
			for _, residual := range [][]float32{nil, add} {
				for _, inPlace := range []bool{false, true} {
					dst := make([]float32, rows*n)
					in := x
					if inPlace {
						in = slices.Clone(x)
						dst = in
					}
					k.LayerNorm(dst, in, residual, gain, bias, rows, n, eps)
					for i := range rows {
						var mean, variance, top float64
						v := make([]float64, n)
						for j := range v {
							v[j] = float64(x[i*n+j])
							if residual != nil {
								v[j] += float64(residual[i*n+j])
							}
							mean += v[j] / float64(n)
						}
						for j := range v {
							variance += (v[j] - mean) * (v[j] - mean) / float64(n)
							top = max(top, math.Abs(v[j]))
						}
						if n < 3 {
							continue // nothing but cancellation to compare
						}
						inv := 1 / math.Sqrt(variance+eps)
						for j := range v {
							want := (v[j]-mean)*inv*float64(gain[j]) + float64(bias[j])
							bound := 1e-6 * (1 + top*inv) * (math.Abs(float64(gain[j])) + math.Abs(float64(bias[j])) + 1)
							if g := float64(dst[i*n+j]); !close32(g, want, bound*3) {
								t.Fatalf("layer norm of %d: %g, want %g ± %g", n, g, want, bound)
							}
						}
					}
				}
			}
		}
		row := make([]float32, 16)
		mustPanic(t, "short gain", func() { k.LayerNorm(row, row, nil, row[:15], row, 1, 16, 1e-12) })
		mustPanic(t, "short residual", func() { k.LayerNorm(row, row, row[:15], row, row, 1, 16, 1e-12) })
		mustPanic(t, "short rows", func() { k.LayerNorm(row, row, nil, row, row, 2, 16, 1e-12) })
		mustPanic(t, "size that wraps", func() { k.LayerNorm(row, row, nil, row, row, 1<<60, 16, 1e-12) })
		k.LayerNorm(row, row, nil, row, row, 0, 16, 1e-12)
	})
}

// inWords says that attention may have codes of 16 bits.
func inWords(k simd.Kernels) bool { return k.Level() == simd.AVX512 || k.Level() == simd.AMX }

// checkAttention shifts queries and keys against each other, and has the first and the last
// position so many times as long as others.
func checkAttention(t *testing.T, k simd.Kernels, r *rand.Rand, h simd.Heads, shift, first, last float32) {
	t.Helper()
	const guard = 77
	width := h.Count * h.Dim
	n := (h.Tokens-1)*h.Stride + width
	q, keys, values := randomFloats(r, n), randomFloats(r, n), randomFloats(r, n)
	for i := range q {
		q[i] = 3*q[i] - shift
		keys[i] += shift
		times := float32(1)
		switch i / h.Stride {
		case 0:
			times = first
		case h.Tokens - 1:
			times = last
		}
		q[i], keys[i], values[i] = times*q[i], times*keys[i], times*values[i]
	}
	scale := float32(1 / math.Sqrt(float64(h.Dim)))
	bound := 2e-5 + 2e-5*float64(shift) // scores have no more than the bits of a float
	if inWords(k) {
		bound = 3e-3 * max(1, math.Sqrt(float64(h.Dim))/8) // of the longest row
	}
	bound *= math.Pow(float64(max(first, last)), 3) // of scores and values
	dst := slices.Repeat([]float32{guard}, h.Tokens*width+20)
	// scratch arrives dirty
	nan := float32(math.NaN())
	scratch := slices.Repeat([]float32{nan}, h.Scratch()+20)
	k.Attention(dst[:h.Tokens*width], q, keys, values, h, scale, scratch[:h.Scratch()])
	for _, g := range dst[h.Tokens*width:] {
		if g != guard {
			t.Fatalf("attention of %+v wrote past its result", h)
		}
	}
	for _, g := range scratch[h.Scratch():] {
		if g == g {
			t.Fatalf("attention of %+v wrote past its scratch", h)
		}
	}
	for head := range h.Count {
		at := head * h.Dim
		for i := range h.Tokens {
			scores := make([]float32, h.Tokens)
			for j := range scores {
				var s float64
				for d := range h.Dim {
					s += float64(q[i*h.Stride+at+d]) * float64(keys[j*h.Stride+at+d])
				}
				scores[j] = float32(s)
			}
			weights := exactSoftmax(scores, scale)
			for d := range h.Dim {
				var want float64
				for j, w := range weights {
					want += w * float64(values[j*h.Stride+at+d])
				}
				if g := float64(dst[i*width+at+d]); !close32(g, want, bound) {
					t.Fatalf("attention of %+v: head %d position %d value %d is %g, want %g", h, head, i, d, g, want)
				}
			}
		}
	}
}

func TestAttentionEverySize(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(1, 5))
		for tokens := 1; tokens <= 40; tokens++ {
			for _, dim := range []int{1, 7, 8, 16, 20, 32, 64} {
				h := simd.Heads{Tokens: tokens, Count: 1 + r.IntN(3), Dim: dim}
				h.Stride = h.Count*h.Dim*[]int{1, 3}[r.IntN(2)] + r.IntN(2)
				checkAttention(t, k, r, h, 0, 1, 1)
			}
		}
		checkAttention(t, k, r, simd.Heads{Tokens: 128, Count: 12, Dim: 32, Stride: 1152}, 0, 1, 1)
		checkAttention(t, k, r, simd.Heads{Tokens: 131, Count: 2, Dim: 64, Stride: 384}, 0, 1, 1)
		// All scores of a query far below zero, as some heads of real models have them.
		checkAttention(t, k, r, simd.Heads{Tokens: 120, Count: 4, Dim: 32, Stride: 384}, 10, 1, 1)
		for _, tokens := range []int{32, 33, 35} {
			checkAttention(t, k, r, simd.Heads{Tokens: tokens, Count: 8, Dim: 32, Stride: 256}, 0, 1, 14)
		}
		for _, first := range []float32{1, 20} { // parts of calls
			checkAttention(t, k, r, simd.Heads{Tokens: 130, Count: 1, Dim: 1024, Stride: 1024}, 0, first, 1)
		}

		h := simd.Heads{Tokens: 4, Count: 2, Dim: 8, Stride: 16}
		v, scratch := make([]float32, 64), make([]float32, h.Scratch())
		mustPanic(t, "short values", func() { k.Attention(make([]float32, 64), v, v, v[:63], h, 1, scratch) })
		mustPanic(t, "short result", func() { k.Attention(make([]float32, 63), v, v, v, h, 1, scratch) })
		mustPanic(t, "short scratch", func() { k.Attention(make([]float32, 64), v, v, v, h, 1, scratch[1:]) })
		for _, wraps := range []simd.Heads{
			{Tokens: 1<<32 + 1, Count: 1, Dim: 8, Stride: 1 << 32},
			{Tokens: 1, Count: 1 << 33, Dim: 1 << 31, Stride: 64}, {Tokens: 1 << 61, Count: 1, Dim: 8, Stride: 8},
		} {
			mustPanic(t, "size that wraps", func() { k.Attention(v, v, v, v, wraps, 1, scratch) })
		}
		h.Stride = 15
		mustPanic(t, "short stride", func() { k.Attention(make([]float32, 64), v, v, v, h, 1, scratch) })
		k.Attention(nil, nil, nil, nil, simd.Heads{Count: 1, Dim: 8, Stride: 8}, 1, nil)
	})
}

// TestAttentionAtTheLimits: what codes of 16 bits could do to numbers that floats bear. Values
// are all alike, so that whatever the weights are, the result is one of them.
func TestAttentionAtTheLimits(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		for name, c := range map[string]struct {
			tokens, dim      int
			q, key, value    float32
			last, lastOfKeys float32 // of the last position, where not zero
			alone            bool    // the first value of each row beside zeros
		}{
			"one length":                    {tokens: 40, dim: 64, q: 2, key: 2, value: 3},
			"against each other":            {tokens: 40, dim: 64, q: 2, key: -2, value: -3},
			"nothing":                       {tokens: 40, dim: 32, value: 1},
			"nothing at all":                {tokens: 40, dim: 32},
			"below what squares hold":       {tokens: 33, dim: 16, q: 1e-24, key: 1e-24, value: 1e-30},
			"an outlier among queries":      {tokens: 33, dim: 32, q: 1, key: 1, value: 1, last: 3e4},
			"an outlier among keys":         {tokens: 33, dim: 32, q: 1, key: 1, value: 1, lastOfKeys: -3e4},
			"a length that is infinite":     {tokens: 33, dim: 32, q: 1, key: 1e-20, value: 1, last: 1e20},
			"a value of infinite length":    {tokens: 33, dim: 32, q: 1, key: 1, value: 1e20},
			"alike over a thousand":         {tokens: 1001, dim: 16, q: 1, key: 1, value: 7},
			"a part of a call":              {tokens: 130, dim: 1024, q: .1, key: .1, value: 5},
			"the most that words add up to": {tokens: 1 << 14, dim: 16, q: 1, key: 1, value: -1, alone: true},
			"more than words add up to":     {tokens: 1<<14 + 1, dim: 16, q: 1, key: 1, value: -1},
		} {
			if c.tokens > 2000 && !inWords(k) {
				continue // for minutes, over numbers that floats don't care for
			}
			h := simd.Heads{Tokens: c.tokens, Count: 1, Dim: c.dim, Stride: c.dim}
			n := h.Tokens * h.Dim
			q, keys := slices.Repeat([]float32{c.q}, n), slices.Repeat([]float32{c.key}, n)
			if c.last != 0 {
				q[n-1] = c.last
			}
			if c.lastOfKeys != 0 {
				keys[n-1] = c.lastOfKeys
			}
			values := slices.Repeat([]float32{c.value}, n)
			for i := range values {
				if c.alone && i%c.dim > 0 {
					values[i] = 0
				}
			}
			dst := make([]float32, n)
			k.Attention(dst, q, keys, values, h, 0.25, make([]float32, h.Scratch()))
			bound := 1e-4 * math.Abs(float64(c.value)) // of sixteen thousand floats
			if inWords(k) {                            // half a code of the longest row
				bound = 3.5e-5 * math.Abs(float64(c.value)) * math.Sqrt(float64(c.dim))
			}
			if inWords(k) && c.value == 1e-30 {
				bound = 1e-15 // they are as good as nothing
			}
			for i, got := range dst {
				if !close32(float64(got), float64(values[i]), bound) {
					t.Fatalf("%s: value %d is %g, want %g", name, i, got, values[i])
				}
			}
		}
	})
}

// TestAttentionOfNoNumber: a query that is no number spoils its own result alone.
func TestAttentionOfNoNumber(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		h := simd.Heads{Tokens: 24, Count: 2, Dim: 16, Stride: 32}
		for name, no := range map[string]float64{"NaN": math.NaN(), "infinity": math.Inf(1)} {
			v := slices.Repeat([]float32{1}, h.Tokens*h.Stride)
			q := slices.Clone(v)
			q[5*h.Stride+3] = float32(no)
			dst := make([]float32, len(v))
			k.Attention(dst, q, v, v, h, 1, make([]float32, h.Scratch()))
			for i, got := range dst {
				its := i/h.Stride == 5 && i%h.Stride < h.Dim
				if !its && !close32(float64(got), 1, 1e-3) {
					t.Fatalf("%s: value %d of row %d is %g", name, i%h.Stride, i/h.Stride, got)
				}
			}
		}
	})
}

func FuzzAttention(f *testing.F) {
	f.Add(uint8(9), uint8(2), uint8(12), uint8(3), uint64(1))
	f.Fuzz(func(t *testing.T, tokens, count, dim, gap uint8, seed uint64) {
		if tokens == 0 || count == 0 || count > 4 || dim == 0 || dim > 80 {
			t.Skip("the shape is outside what the kernels take")
		}
		for _, level := range simd.Levels() {
			if k, err := simd.At(level); err == nil {
				h := simd.Heads{Tokens: int(tokens), Count: int(count), Dim: int(dim), Stride: int(count)*int(dim) + int(gap)}
				checkAttention(t, k, rand.New(rand.NewPCG(seed, 2)), h, float32(seed%20), 1, 1)
			}
		}
	})
}

// Long inputs go through assembly in parts, of which none may be lost: the
// results equal those of rows taken alone.
func TestLongInputs(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(6, 5))
		const rows, n = 500, 320
		x, add := randomFloats(r, rows*n), randomFloats(r, rows*n)
		gain, bias := randomFloats(r, n), randomFloats(r, n)
		for name, run := range map[string]func(x, add []float32, rows int){
			"gelu":    func(x, _ []float32, rows int) { k.GELU(x) },
			"softmax": func(x, _ []float32, rows int) { k.Softmax(x, rows, n, 0.5) },
			"norm":    func(x, add []float32, rows int) { k.LayerNorm(x, x, add, gain, bias, rows, n, 1e-12) },
			"plain":   func(x, _ []float32, rows int) { k.LayerNorm(x, x, nil, gain, bias, rows, n, 1e-12) },
		} {
			all, each := slices.Clone(x), slices.Clone(x)
			run(all, add, rows)
			for i := range rows {
				run(each[i*n:(i+1)*n], add[i*n:(i+1)*n], 1)
			}
			if !slices.Equal(all, each) {
				t.Errorf("%s: long and single rows differ", name)
			}
		}
	})
}

// encoder is the kernels' share of a BERT-like encoder layer.
type encoder struct {
	k                    simd.Kernels
	precision            simd.Precision
	width, inner, heads  int
	qkv, proj, up, down  *simd.Layer
	gain, bias           []float32
	q                    *simd.Rows
	wide, ctx, x, hidden []float32
	scratch              []float32
}

func newEncoder(tb testing.TB, k simd.Kernels, tokens, width, inner, heads int) *encoder {
	r := rand.New(rand.NewPCG(1, 2))
	pack := func(out, in int) *simd.Layer {
		scale := slices.Repeat([]float32{0.001}, out)
		l, err := k.PackLayer(randomBytes(r, out*in), scale, make([]float32, out), out, in)
		if err != nil {
			tb.Fatal(err)
		}
		return l
	}
	e := &encoder{k: k, width: width, inner: inner, heads: heads}
	e.qkv, e.proj, e.up, e.down = pack(3*width, width), pack(width, width), pack(inner, width), pack(width, inner)
	e.gain, e.bias = slices.Repeat([]float32{1}, width), make([]float32, width)
	e.q = simd.NewRows(tokens, inner)
	e.wide, e.ctx, e.x, e.hidden = make([]float32, tokens*3*width), make([]float32, tokens*width),
		randomFloats(r, tokens*width), make([]float32, tokens*inner)
	e.scratch = make([]float32, simd.Heads{Tokens: tokens, Count: heads, Dim: width / heads, Stride: 3 * width}.Scratch())
	return e
}

func (e *encoder) linear(dst []float32, l *simd.Layer, x []float32, rows int, then simd.Activation) {
	e.k.Quantize(e.q, x, rows, l.In(), e.precision)
	e.k.Linear(dst, l, e.q, then)
}

func (e *encoder) attend(tokens int) {
	h := simd.Heads{Tokens: tokens, Count: e.heads, Dim: e.width / e.heads, Stride: 3 * e.width}
	e.k.Attention(e.ctx, e.wide, e.wide[e.width:], e.wide[2*e.width:], h, 0.17677669, e.scratch)
}

func (e *encoder) norm(add []float32, tokens int) {
	e.k.LayerNorm(e.x, e.x, add, e.gain, e.bias, tokens, e.width, 1e-12)
}

func (e *encoder) layer(tokens int) {
	e.linear(e.wide, e.qkv, e.x, tokens, simd.Identity)
	e.attend(tokens)
	e.linear(e.wide, e.proj, e.ctx, tokens, simd.Identity)
	e.norm(e.wide, tokens)
	e.linear(e.hidden, e.up, e.x, tokens, simd.GELU)
	e.linear(e.wide, e.down, e.hidden, tokens, simd.Identity)
	e.norm(e.wide, tokens)
}

// Levels agree through a whole layer, and a layer allocates nothing.
func TestEncoderLayer(t *testing.T) {
	const width, inner, heads = 64, 256, 2
	for _, tokens := range []int{1, 5, 16, 33} {
		want := newEncoder(t, simd.Kernels{}, tokens, width, inner, heads)
		want.layer(tokens)
		everyLevel(t, func(t *testing.T, k simd.Kernels) {
			e := newEncoder(t, k, tokens, width, inner, heads)
			e.layer(tokens)
			for i, v := range e.x {
				if !close32(float64(v), float64(want.x[i]), 1e-3) {
					t.Fatalf("%d tokens: value %d is %g, portable %g", tokens, i, v, want.x[i])
				}
			}
			if n := testing.AllocsPerRun(10, func() { e.layer(tokens) }); n != 0 {
				t.Errorf("%d tokens: %g allocations a layer", tokens, n)
			}
		})
	}
}

// BenchmarkEncoder runs the kernels of a 12-layer, 384-wide encoder: whole, and
// by part, so that the parts' sum is the whole.
func BenchmarkEncoder(b *testing.B) {
	const layers, width, inner, heads = 12, 384, 1536, 12
	for _, tokens := range []int{12, 128} {
		macs := float64(layers * tokens * (4*width*width + 2*width*inner))
		parts := []struct {
			name string
			macs float64
			run  func(e *encoder)
		}{
			{"whole", macs + float64(2*layers*tokens*tokens*width), func(e *encoder) { e.layer(tokens) }},
			{"linear", macs, func(e *encoder) {
				e.k.Linear(e.wide, e.qkv, e.q, simd.Identity)
				e.k.Linear(e.wide, e.proj, e.q, simd.Identity)
				e.k.Linear(e.hidden, e.up, e.q, simd.Identity)
				e.k.Quantize(e.q, e.hidden, tokens, inner, e.precision)
				e.k.Linear(e.wide, e.down, e.q, simd.Identity)
				e.k.Quantize(e.q, e.x, tokens, width, e.precision)
			}},
			{"attention", float64(2 * layers * tokens * tokens * width), func(e *encoder) { e.attend(tokens) }},
			{"gelu", 0, func(e *encoder) { e.k.GELU(e.hidden) }},
			{"norm", 0, func(e *encoder) { e.norm(e.ctx, tokens); e.norm(e.ctx, tokens) }},
		}
		for i, p := range append(parts, parts[:2]...) {
			name, precision := p.name, simd.Full16
			if i >= len(parts) {
				name, precision = name+"-bulk8", simd.Bulk8
			}
			b.Run(fmt.Sprintf("%d/%s", tokens, name), func(b *testing.B) {
				benchLevels(b, func(b *testing.B, k simd.Kernels) {
					e := newEncoder(b, k, tokens, width, inner, heads)
					e.precision = precision
					e.layer(tokens)
					k.Quantize(e.q, e.x, tokens, width, e.precision)
					b.ReportAllocs()
					for b.Loop() {
						for range layers {
							p.run(e)
						}
					}
					if p.macs > 0 {
						b.ReportMetric(p.macs*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
					}
				})
			})
		}
	}
}
