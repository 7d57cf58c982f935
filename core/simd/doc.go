// Package simd holds the arithmetic kernels of Mneme: exact int8 dot products
// for vector scans, and the layers of a transformer encoder (linear layers
// over int8 weights, attention, softmax, GELU, layer norm).
//
// Every kernel exists as portable Go and, on amd64, as assembly for AVX2 and
// for AVX-512 with VNNI. [Best] picks the fastest set this CPU runs, [At] a
// given one; the environment variable MNEME_SIMD (portable, avx2, avx512)
// forces a set. Integer kernels and Linear without activation give the same
// bits at every level; the other f32 kernels stay within the bound that their
// comment states. Other architectures run the portable set for now.
//
// Kernels work on the caller's slices in place, allocate nothing and keep no
// reference. Slices too short for the shape given panic before any memory is
// touched, as an index out of range does; contents (NaN, infinities, any
// bytes) never do. A [Kernels] value is immutable and safe for concurrent use.
//
// The assembly is written by core/simd/gen: run `go generate ./core/simd`
// after changing it; a test compares the committed files with its output.
//
// May import: the standard library and golang.org/x/sys/cpu, nothing else.
package simd

//go:generate go run ./gen
