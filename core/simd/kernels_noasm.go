//go:build !amd64

package simd

// Architectures without assembly run the portable kernels.

func highest() Level { return Portable }

func (k Kernels) dotRows(dst []int32, q Query, rows []int8, stride int) {
	dotRowsPortable(dst, q, rows, stride)
}

func (k Kernels) dotRowsAt(dst []int32, q Query, rows []int8, stride int, at []uint32) {
	dotRowsAtPortable(dst, q, rows, stride, at)
}

func (k Kernels) dot(a, b []float32) float32               { return dotPortable(a, b) }
func (k Kernels) dotF16(q []float32, row []uint16) float32 { return dotF16Portable(q, row) }
func (k Kernels) toF16(dst []uint16, src []float32)        { toF16Portable(dst, src) }
func (k Kernels) fromF16(dst []float32, src []uint16)      { fromF16Portable(dst, src) }
