package simd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

// everyLevel runs a test at every level that this CPU has.
func everyLevel(t *testing.T, test func(*testing.T, simd.Kernels)) {
	t.Helper()
	for _, level := range simd.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			k, err := simd.At(level)
			if err != nil {
				t.Skip(err)
			}
			test(t, k)
		})
	}
}

// levelsBeside is the kernels beside the portable ones that this CPU has, for tests that
// compare levels. It says which are missing, and skips the test where all are.
func levelsBeside(t *testing.T) []simd.Kernels {
	t.Helper()
	var here []simd.Kernels
	for _, level := range simd.Levels() {
		if k, err := simd.At(level); err != nil {
			t.Logf("not compared: %v", err)
		} else if level != simd.Portable {
			here = append(here, k)
		}
	}
	if len(here) == 0 {
		t.Skip("this machine has the portable kernels alone: nothing to compare")
	}
	return here
}

func benchLevels(b *testing.B, bench func(*testing.B, simd.Kernels)) {
	b.Helper()
	for _, level := range simd.Levels() {
		k, err := simd.At(level)
		if err != nil {
			continue
		}
		b.Run(level.String(), func(b *testing.B) { bench(b, k) })
	}
}

func randomBytes(r *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(r.Uint32())
	}
	return v
}

func randomFloats(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

func TestLevelNames(t *testing.T) {
	for _, level := range simd.Levels() {
		got, err := simd.ParseLevel(level.String())
		if err != nil || got != level {
			t.Errorf("ParseLevel(%q) = %v, %v", level.String(), got, err)
		}
	}
	if _, err := simd.ParseLevel("sse9"); err == nil {
		t.Error("ParseLevel takes an unknown name")
	}
}

func TestBestObeysEnvironment(t *testing.T) {
	t.Setenv(simd.Env, "portable")
	if k, err := simd.Best(); err != nil || k.Level() != simd.Portable {
		t.Errorf("Best() = %v, %v; want portable", k.Level(), err)
	}
	t.Setenv(simd.Env, "avx9")
	if _, err := simd.Best(); err == nil {
		t.Error("Best takes an unknown level")
	}
	t.Setenv(simd.Env, "")
	best, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range simd.Levels() {
		k, err := simd.At(level)
		if err == nil && k.Level() != level || err != nil && level == best.Level() {
			t.Errorf("At(%v) = %v, %v while Best is %v", level, k.Level(), err, best.Level())
		}
	}
	if _, err := simd.At(simd.Portable); err != nil {
		t.Error(err)
	}
	_, avx := simd.At(simd.AVX2)
	_, neon := simd.At(simd.NEON)
	if avx == nil && neon == nil {
		t.Error("a CPU of two architectures")
	}
}

func close32(got, want, bound float64) bool {
	return math.Abs(got-want) <= bound || math.IsNaN(got) && math.IsNaN(want)
}
