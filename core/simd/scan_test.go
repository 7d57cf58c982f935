package simd_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

func scalarDot(a, b []int8) (sum int32) {
	for i := range a {
		sum += int32(a[i]) * int32(b[i])
	}
	return sum
}

// checkScan compares both scans with the definition. The result has a guard
// behind it, and rows end where the last one does.
func checkScan(t *testing.T, k simd.Kernels, query, rows []int8, n, stride int, at []uint32) {
	t.Helper()
	const guard = 0x5a5a5a5a
	dim := len(query)
	q := simd.PrepareQuery(query)
	want := make([]int32, n)
	for i := range want {
		want[i] = scalarDot(query, rows[i*stride:])
	}
	got := slices.Repeat([]int32{guard}, n+16)
	k.DotRows(got[:n], q, rows, stride)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("DotRows dim %d stride %d: row %d of %d is %d, want %d", dim, stride, i, n, got[i], want[i])
		}
	}
	for _, g := range got[n:] {
		if g != guard {
			t.Fatalf("DotRows dim %d, %d rows: wrote past the results", dim, n)
		}
	}
	got = slices.Repeat([]int32{guard}, len(at)+16)
	k.DotRowsAt(got[:len(at)], q, rows, stride, at)
	for i, row := range at {
		if got[i] != want[row] {
			t.Fatalf("DotRowsAt dim %d stride %d: result %d (row %d) is %d, want %d", dim, stride, i, row, got[i], want[row])
		}
	}
	for _, g := range got[len(at):] {
		if g != guard {
			t.Fatalf("DotRowsAt dim %d, %d rows: wrote past the results", dim, len(at))
		}
	}
}

func TestDotRowsEverySize(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		for dim := 1; dim <= 200; dim++ {
			for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 21} {
				stride := dim + []int{0, 0, 1, 13}[r.IntN(4)]
				at := make([]uint32, r.IntN(12))
				for i := range at {
					at[i] = uint32(r.IntN(n))
				}
				checkScan(t, k, randomBytes(r, dim), randomBytes(r, (n-1)*stride+dim), n, stride, at)
			}
		}
		for _, dim := range []int{384, 768, 1000, 1024, 4097, simd.MaxDim} {
			checkScan(t, k, randomBytes(r, dim), randomBytes(r, 10*dim), 10, dim, []uint32{9, 0, 3, 3, 5})
		}
	})
}

// The extreme codes are where saturating or narrow arithmetic would show.
func TestDotRowsExtremes(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		for _, dim := range []int{15, 64, 100, simd.MaxDim} {
			for _, a := range []int8{-128, 127, -1} {
				for _, b := range []int8{-128, 127, 1} {
					checkScan(t, k, slices.Repeat([]int8{a}, dim), slices.Repeat([]int8{b}, 9*dim), 9, dim,
						[]uint32{0, 1, 2, 3, 8})
				}
			}
		}
	})
}

// More rows than one call of assembly takes.
func TestDotRowsInParts(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(4, 2))
		const n, dim, stride = 9000, 300, 301
		at := make([]uint32, n)
		for i := range at {
			at[i] = uint32(r.IntN(n))
		}
		checkScan(t, k, randomBytes(r, dim), randomBytes(r, (n-1)*stride+dim), n, stride, at)
	})
}

func TestScansAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		q, rows, f := simd.PrepareQuery(make([]int8, 100)), make([]int8, 1000), make([]float32, 100)
		n := testing.AllocsPerRun(10, func() {
			var dst [10]int32
			var half [100]uint16
			k.DotRows(dst[:], q, rows, 100)
			k.DotRowsAt(dst[:], q, rows, 100, []uint32{1, 2, 3, 4, 5})
			k.ToF16(half[:], f)
			k.FromF16(f, half[:])
			f[0] += k.DotF16(f, half[:]) + k.Dot(f, f)
		})
		if n != 0 {
			t.Errorf("%g allocations a scan", n)
		}
	})
}

func FuzzDotRows(f *testing.F) {
	f.Add(uint16(384), uint8(9), uint8(0), uint64(1))
	f.Add(uint16(1), uint8(1), uint8(3), uint64(2))
	f.Add(uint16(65), uint8(13), uint8(63), uint64(3))
	f.Fuzz(func(t *testing.T, dim uint16, n, gap uint8, seed uint64) {
		if dim == 0 || n == 0 {
			t.Skip("the shape is outside what the kernels take")
		}
		r := rand.New(rand.NewPCG(seed, 0))
		stride := int(dim) + int(gap)
		at := make([]uint32, r.IntN(40))
		for i := range at {
			at[i] = uint32(r.IntN(int(n)))
		}
		query, rows := randomBytes(r, int(dim)), randomBytes(r, (int(n)-1)*stride+int(dim))
		for _, level := range simd.Levels() {
			if k, err := simd.At(level); err == nil {
				checkScan(t, k, query, rows, int(n), stride, at)
			}
		}
	})
}

func TestScanRefusesBadShapes(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		q := simd.PrepareQuery(make([]int8, 64))
		rows := make([]int8, 640)
		mustPanic(t, "empty query", func() { simd.PrepareQuery(nil) })
		mustPanic(t, "wide query", func() { simd.PrepareQuery(make([]int8, simd.MaxDim+1)) })
		mustPanic(t, "zero query", func() { k.DotRows(make([]int32, 1), simd.Query{}, rows, 64) })
		mustPanic(t, "short stride", func() { k.DotRows(make([]int32, 1), q, rows, 63) })
		mustPanic(t, "short rows", func() { k.DotRows(make([]int32, 11), q, rows, 64) })
		mustPanic(t, "stride that wraps", func() { k.DotRows(make([]int32, 5), q, rows, 1<<62) })
		mustPanic(t, "row outside", func() { k.DotRowsAt(make([]int32, 1), q, rows, 64, []uint32{10}) })
		mustPanic(t, "row far outside", func() { k.DotRowsAt(make([]int32, 1), q, rows, 64, []uint32{1<<32 - 1}) })
		mustPanic(t, "short results", func() { k.DotRowsAt(make([]int32, 1), q, rows, 64, []uint32{0, 1}) })
		k.DotRows(nil, q, nil, 64)
		k.DotRowsAt(nil, q, nil, 64, nil)
	})
}

func BenchmarkDotRows(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		const dim = 384
		r := rand.New(rand.NewPCG(1, 2))
		q, rows, dst := simd.PrepareQuery(randomBytes(r, dim)), randomBytes(r, n*dim), make([]int32, n)
		b.Run(fmt.Sprintf("%dx%d", n, dim), func(b *testing.B) {
			benchLevels(b, func(b *testing.B, k simd.Kernels) {
				b.ReportAllocs()
				for b.Loop() {
					k.DotRows(dst, q, rows, dim)
				}
				b.ReportMetric(float64(n)*dim*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
			})
		})
	}
}

// One row in ten, in order: a filtered scan.
func BenchmarkDotRowsAt(b *testing.B) {
	const n, dim = 100_000, 384
	r := rand.New(rand.NewPCG(1, 2))
	q, rows := simd.PrepareQuery(randomBytes(r, dim)), randomBytes(r, n*dim)
	var at []uint32
	for i := range n {
		if r.IntN(10) == 0 {
			at = append(at, uint32(i))
		}
	}
	dst := make([]int32, len(at))
	benchLevels(b, func(b *testing.B, k simd.Kernels) {
		b.ReportAllocs()
		for b.Loop() {
			k.DotRowsAt(dst, q, rows, dim, at)
		}
		b.ReportMetric(float64(len(at))*dim*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
	})
}
