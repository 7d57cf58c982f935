// Package simd holds the arithmetic kernels of Mneme: exact dot products of int8
// codes with int8 codes and packed nibbles for vector scans, and the layers of a
// transformer encoder (linear layers over int8 weights, attention, softmax,
// GELU, layer norm).
//
// Every kernel exists as portable Go and as assembly for AVX2, for AVX-512 with
// VNNI, and for ARM64 with dot products (half precision, layer norm and
// quantization are Go there). Linear layers exist for AVX-VNNI, for Intel's AMX (on
// Linux) and for int8 matrix multiplication of ARM64 as well; the rest is that of
// AVX2, of AVX-512 and of dot products. [Best] picks the fastest set this CPU runs,
// [At] a given one; the environment variable MNEME_SIMD (portable, avx2, avxvnni,
// avx512, amx, neon, i8mm) forces a set. Integer kernels and Linear without activation
// give the same bits at every level; the other f32 kernels stay within the bound that
// their comment states. Other architectures run the portable set.
//
// Kernels work on the caller's slices in place, allocate nothing and keep no
// reference. Slices too short for the shape given panic before any memory is
// touched, as an index out of range does; contents (NaN, infinities, any
// bytes) never do. A [Kernels] value is immutable and safe for concurrent use.
//
// The assembly is written by core/simd/gen: run `go generate ./core/simd`
// after changing it; a test compares the committed files with its output. With
// qemu-user, `GOARCH=arm64 go test -exec qemu-aarch64 ./core/simd` runs the
// ARM64 kernels anywhere. `go test ./core/simd -run Storm -storm 60s` keeps AMX under
// signals, collections and moving stacks for a minute.
package simd

//go:generate go run ./gen
