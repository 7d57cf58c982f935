//go:build unix

package simd_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mnemehq/mneme/core/simd"
)

// beforeGuard copies v to where an inaccessible page follows its last value, as
// at the end of a mapped file: reading or writing past it is a fault.
func beforeGuard[T any](t *testing.T, v []T) []T {
	t.Helper()
	page := unix.Getpagesize()
	size := len(v) * int(unsafe.Sizeof(v[0]))
	whole := (size + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, whole+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(mem[whole:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	at := unsafe.Slice((*T)(unsafe.Pointer(&mem[whole-size])), len(v))
	copy(at, v)
	return at
}

func TestNothingReadsPastTheEnd(t *testing.T) {
	everyLevel(t, func(t *testing.T, k simd.Kernels) {
		r := rand.New(rand.NewPCG(8, 8))
		for n := 1; n <= 70; n++ {
			query, rows := randomBytes(r, n), beforeGuard(t, randomBytes(r, 9*n))
			checkScan(t, k, query, rows, 9, n, []uint32{8, 8, 8, 8, 8})
			dst := beforeGuard(t, make([]int32, 9))
			k.DotRows(dst, simd.PrepareQuery(query), rows, n)
			nibbles := nibbleRows(r, 9, n)
			checkNibbles(t, k, query, nibbles, beforeGuard(t, packRows(r, nibbles, n, simd.NibbleBytes(n))), simd.NibbleBytes(n))
			wide := nibbleRows(r, 9, 3*n)
			checkNibbles(t, k, randomBytes(r, 3*n), wide, beforeGuard(t, packRows(r, wide, 3*n, simd.NibbleBytes(3*n))),
				simd.NibbleBytes(3*n))

			a, b := beforeGuard(t, randomFloats(r, n)), beforeGuard(t, randomFloats(r, n))
			h := beforeGuard(t, make([]uint16, n))
			checkDot(t, k, a, b)
			k.ToF16(h, a)
			k.DotF16(a, h)
			k.FromF16(b, h)
			k.QuantizeInt8(beforeGuard(t, make([]int8, n)), a)
			k.GELU(b)
			k.Softmax(b, 1, n, 1)
			k.LayerNorm(b, b, a, a, a, 1, n, 1e-12)
			for _, p := range []simd.Precision{simd.Full16, simd.Bulk8} {
				var q simd.Rows
				l, err := k.PackLayer(randomBytes(r, 3*n), randomFloats(r, 3), nil, 3, n)
				if err != nil {
					t.Fatal(err)
				}
				k.Quantize(&q, beforeGuard(t, randomFloats(r, 7*n)), 7, n, p)
				k.Linear(beforeGuard(t, make([]float32, 21)), l, &q, simd.GELU)
				k.LinearMax(beforeGuard(t, make([]float32, 3)), l, &q)
			}
			shape := simd.Heads{Tokens: n, Count: 2, Dim: 1 + n%33}
			shape.Stride = 2 * shape.Dim
			qkv := beforeGuard(t, randomFloats(r, n*shape.Stride))
			k.Attention(beforeGuard(t, make([]float32, n*shape.Stride)), qkv, qkv, qkv, shape, 1,
				beforeGuard(t, make([]float32, shape.Scratch())))
		}
	})
}
