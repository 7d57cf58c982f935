package simd_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/simd"
)

func randomNibbles(r *rand.Rand, n int) []uint8 {
	v := make([]uint8, n)
	for i := range v {
		v[i] = uint8(r.IntN(16))
	}
	return v
}

// packRows lays rows of nibbles out at a stride; what no row owns is junk.
func packRows(r *rand.Rand, rows [][]uint8, dim, stride int) []uint8 {
	width := simd.NibbleBytes(dim)
	packed := make([]uint8, (len(rows)-1)*stride+width)
	for i := range packed {
		packed[i] = uint8(r.Uint32())
	}
	for i, row := range rows {
		simd.PackNibbles(packed[i*stride:], row)
		if dim%2 == 1 {
			packed[i*stride+width-1] |= uint8(r.IntN(16)) << 4 // a half without a code
		}
	}
	return packed
}

// checkNibbles compares a scan with the definition.
func checkNibbles(t *testing.T, k simd.Kernels, query []int8, rows [][]uint8, packed []uint8, stride int) {
	t.Helper()
	const guard = 0x5a5a5a5a
	got := slices.Repeat([]int32{guard}, len(rows)+16)
	k.DotNibbles(got[:len(rows)], k.PrepareNibbleQuery(query), packed, stride)
	for i, row := range rows {
		var want int32
		for j, c := range row {
			want += int32(c) * int32(query[j])
		}
		if got[i] != want {
			t.Fatalf("DotNibbles dim %d stride %d: row %d of %d is %d, want %d", len(query), stride, i, len(rows), got[i], want)
		}
	}
	for _, g := range got[len(rows):] {
		if g != guard {
			t.Fatalf("DotNibbles dim %d, %d rows: wrote past the results", len(query), len(rows))
		}
	}
	at := make([]uint32, 2*len(rows)+1) // more than are asked for ahead where rows are many; they repeat
	for i := range at {
		at[i] = uint32(i * 7919 % len(rows))
	}
	listed := slices.Repeat([]int32{guard}, len(at)+16)
	k.DotNibblesAt(listed, k.PrepareNibbleQuery(query), packed, stride, at, make([]float32, 2*len(rows)))
	for i, row := range at {
		if listed[i] != got[row] {
			t.Fatalf("DotNibblesAt dim %d stride %d: row %d is %d, want %d", len(query), stride, row, listed[i], got[row])
		}
	}
	for _, g := range listed[len(at):] {
		if g != guard {
			t.Fatalf("DotNibblesAt dim %d, %d rows: wrote past the results", len(query), len(at))
		}
	}
}

func nibbleRows(r *rand.Rand, n, dim int) [][]uint8 {
	rows := make([][]uint8, n)
	for i := range rows {
		rows[i] = randomNibbles(r, dim)
	}
	return rows
}

func TestDotNibblesEverySize(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(1, 3))
		for dim := 1; dim <= 270; dim++ {
			for _, n := range []int{1, 3, 4, 7, 8, 9, 21} {
				stride := simd.NibbleBytes(dim) + []int{0, 0, 1, 13}[r.IntN(4)]
				rows := nibbleRows(r, n, dim)
				checkNibbles(t, k, randomBytes(r, dim), rows, packRows(r, rows, dim, stride), stride)
			}
		}
		for _, dim := range []int{384, 768, 1000, 1024, 4097, simd.MaxDim} {
			rows := nibbleRows(r, 10, dim)
			stride := simd.NibbleBytes(dim)
			checkNibbles(t, k, randomBytes(r, dim), rows, packRows(r, rows, dim, stride), stride)
		}
		rows := nibbleRows(r, 9000, 300) // more rows than one call of assembly takes
		checkNibbles(t, k, randomBytes(r, 300), rows, packRows(r, rows, 300, 151), 151)
	})
}

// The extreme codes are where saturating or narrow arithmetic would show.
func TestDotNibblesExtremes(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(1, 3))
		for _, dim := range []int{15, 64, 128, 200, simd.MaxDim} {
			for _, a := range []int8{-128, 127, -1} {
				rows := slices.Repeat([][]uint8{slices.Repeat([]uint8{15}, dim)}, 9)
				stride := simd.NibbleBytes(dim)
				checkNibbles(t, k, slices.Repeat([]int8{a}, dim), rows, packRows(r, rows, dim, stride), stride)
			}
		}
	})
}

func TestDotNibblesAllocatesNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		q, rows, at := k.PrepareNibbleQuery(make([]int8, 100)), make([]uint8, 500), []uint32{9, 0, 3, 3, 1}
		if n := testing.AllocsPerRun(10, func() {
			var dst [10]int32
			k.DotNibbles(dst[:], q, rows, 50)
			k.DotNibblesAt(dst[:], q, rows, 50, at, nil)
		}); n != 0 {
			t.Errorf("%g allocations a scan", n)
		}
	})
}

func TestDotNibblesRefusesBadShapes(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		q, rows := k.PrepareNibbleQuery(make([]int8, 64)), make([]uint8, 320)
		mustPanic(t, "empty query", func() { k.PrepareNibbleQuery(nil) })
		mustPanic(t, "wide query", func() { k.PrepareNibbleQuery(make([]int8, simd.MaxDim+1)) })
		mustPanic(t, "zero query", func() { k.DotNibbles(make([]int32, 1), simd.NibbleQuery{}, rows, 32) })
		mustPanic(t, "short stride", func() { k.DotNibbles(make([]int32, 1), q, rows, 31) })
		mustPanic(t, "short rows", func() { k.DotNibbles(make([]int32, 11), q, rows, 32) })
		mustPanic(t, "stride that wraps", func() { k.DotNibbles(make([]int32, 5), q, rows, 1<<62) })
		mustPanic(t, "row outside", func() { k.DotNibblesAt(make([]int32, 2), q, rows, 32, []uint32{0, 10}, nil) })
		mustPanic(t, "short results", func() { k.DotNibblesAt(make([]int32, 1), q, rows, 32, []uint32{0, 1}, nil) })
		mustPanic(t, "short stride of listed rows", func() { k.DotNibblesAt(make([]int32, 1), q, rows, 31, []uint32{0}, nil) })
		mustPanic(t, "short packed row", func() { simd.PackNibbles(make([]uint8, 3), make([]uint8, 7)) })
		k.DotNibbles(nil, q, nil, 32)
		k.DotNibblesAt(nil, q, nil, 32, nil, nil)
		for _, level := range simd.Levels() {
			if other, err := simd.At(level); err == nil && level != k.Level() {
				mustPanic(t, "query of another level", func() { other.DotNibbles(make([]int32, 1), q, rows, 32) })
			}
		}
	})
}

func FuzzDotNibbles(f *testing.F) {
	f.Add(uint16(384), uint8(9), uint8(0), uint64(1))
	f.Add(uint16(1), uint8(1), uint8(3), uint64(2))
	f.Add(uint16(129), uint8(13), uint8(63), uint64(3))
	f.Fuzz(func(t *testing.T, dim uint16, n, gap uint8, seed uint64) {
		if dim == 0 || n == 0 {
			t.Skip("the shape is outside what the kernels take")
		}
		r := rand.New(rand.NewPCG(seed, 0))
		stride := simd.NibbleBytes(int(dim)) + int(gap)
		rows := nibbleRows(r, int(n), int(dim))
		query, packed := randomBytes(r, int(dim)), packRows(r, rows, int(dim), stride)
		for _, level := range simd.Levels() {
			if k, err := simd.At(level); err == nil {
				checkNibbles(t, k, query, rows, packed, stride)
			}
		}
	})
}

func BenchmarkDotNibbles(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		const dim = 384
		r := rand.New(rand.NewPCG(1, 2))
		codes, rows, dst := randomBytes(r, dim), randomNibbles(r, n*dim/2), make([]int32, n)
		b.Run(fmt.Sprintf("%dx%d", n, dim), func(b *testing.B) {
			benchLevels(b, func(b *testing.B, k simd.Kernels) {
				q := k.PrepareNibbleQuery(codes)
				b.ReportAllocs()
				for b.Loop() {
					k.DotNibbles(dst, q, rows, dim/2)
				}
				b.ReportMetric(float64(n)*dim*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
			})
		})
	}
}
