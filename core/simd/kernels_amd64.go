package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// available asks for what the kernels use and no more. AVX512 in cpu means
// that the operating system keeps the wide registers as well.
func available(level Level) bool {
	x := &cpu.X86
	v3 := x.HasAVX2 && x.HasFMA && x.HasF16C
	switch level {
	case Portable:
		return true
	case AVX2:
		return v3
	case AVXVNNI:
		return v3 && x.HasAVXVNNI
	case AVX512, AMX:
		v4 := v3 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI
		return v4 && (level == AVX512 || tilesAvailable())
	}
	return false
}

// vector is k for what AMX and AVX-VNNI have no instructions of their own for.
func (k Kernels) vector() Kernels {
	switch k.level {
	case AMX:
		return Kernels{level: AVX512}
	case AVXVNNI:
		return Kernels{level: AVX2}
	}
	return k
}

// Assembly takes a block of rows a call of many blocks; the rows left over go
// one by one.

//go:noescape
func dotRows8AVX512(dst *int32, q *int8, rows *int8, stride uintptr, blocks, chunks uintptr, mask uint64, bias int32)

//go:noescape
func dotRows1AVX512(dst *int32, q *int8, rows *int8, stride uintptr, blocks, chunks uintptr, mask uint64, bias int32)

//go:noescape
func dotRowsAt4AVX512(dst *int32, q *int8, rows *int8, stride uintptr, at *uint32, blocks, chunks uintptr, mask uint64,
	bias int32)

//go:noescape
func dotRows4AVX2(dst *int32, q *int16, rows *int8, stride uintptr, blocks, chunks uintptr, tail int)

//go:noescape
func dotRows1AVX2(dst *int32, q *int16, rows *int8, stride uintptr, blocks, chunks uintptr, tail int)

//go:noescape
func dotRowsAt4AVX2(dst *int32, q *int16, rows *int8, stride uintptr, at *uint32, blocks, chunks uintptr, tail int)

// chunks512 is the shape of a query for the AVX-512 kernels: whole groups of
// 64 bytes, the mask of a partial one, and what the flipped signs added.
func (q *Query) chunks512() (chunks uintptr, mask uint64, bias int32) {
	return uintptr(q.dim / 64), 1<<(q.dim%64) - 1, 128 * q.sum
}

// chunks256 is the shape of a query for the AVX2 kernels: whole groups of 16
// bytes and the step from their end back to the last 16 bytes, 0 if none is left.
func (q *Query) chunks256() (chunks uintptr, tail int) {
	chunks = uintptr(q.dim / 16)
	if rest := q.dim % 16; rest > 0 {
		tail = rest - 16
	}
	return chunks, tail
}

func (k Kernels) dotRows(dst []int32, q Query, rows []int8, stride int) {
	n := len(dst)
	switch level := k.vector().level; {
	case level == AVX512:
		chunks, mask, bias := q.chunks512()
		if n >= 8 {
			dotRows8AVX512(&dst[0], &q.codes[0], &rows[0], uintptr(stride), uintptr(n/8), chunks, mask, bias)
		}
		if from := n &^ 7; from < n {
			dotRows1AVX512(&dst[from], &q.codes[0], &rows[from*stride], uintptr(stride), uintptr(n-from), chunks, mask, bias)
		}
	case level == AVX2 && q.dim >= 16:
		chunks, tail := q.chunks256()
		if n >= 4 {
			dotRows4AVX2(&dst[0], &q.wide[0], &rows[0], uintptr(stride), uintptr(n/4), chunks, tail)
		}
		if from := n &^ 3; from < n {
			dotRows1AVX2(&dst[from], &q.wide[0], &rows[from*stride], uintptr(stride), uintptr(n-from), chunks, tail)
		}
	default:
		dotRowsPortable(dst, q, rows, stride)
	}
}

func (k Kernels) dotRowsAt(dst []int32, q Query, rows []int8, stride int, at []uint32) {
	n := len(at)
	whole := n &^ 3
	switch level := k.vector().level; {
	case level == AVX512:
		chunks, mask, bias := q.chunks512()
		if n >= 4 {
			dotRowsAt4AVX512(&dst[0], &q.codes[0], &rows[0], uintptr(stride), &at[0], uintptr(n/4), chunks, mask, bias)
		}
		for i, row := range at[whole:] {
			dotRows1AVX512(&dst[whole+i], &q.codes[0], &rows[int(row)*stride], uintptr(stride), 1, chunks, mask, bias)
		}
	case level == AVX2 && q.dim >= 16:
		chunks, tail := q.chunks256()
		if n >= 4 {
			dotRowsAt4AVX2(&dst[0], &q.wide[0], &rows[0], uintptr(stride), &at[0], uintptr(n/4), chunks, tail)
		}
		for i, row := range at[whole:] {
			dotRows1AVX2(&dst[whole+i], &q.wide[0], &rows[int(row)*stride], uintptr(stride), 1, chunks, tail)
		}
	default:
		dotRowsAtPortable(dst, q, rows, stride, at)
	}
}

//go:noescape
func dotNibbles4AVX2(dst *int32, q *int8, rows *uint8, stride uintptr, blocks, chunks uintptr, tail int)

//go:noescape
func dotNibblesAt4AVX2(dst *int32, q *int8, rows *uint8, stride uintptr, at *uint32, blocks, chunks uintptr, tail int,
	ahead, lines uintptr, beside *float32)

//go:noescape
func dotNibbles1AVX2(dst *int32, q *int8, rows *uint8, stride uintptr, blocks, chunks uintptr, tail int)

//go:noescape
func dotNibbles4AVX512(dst *int32, q *int8, rows *uint8, stride uintptr, blocks, chunks uintptr, tail int)

//go:noescape
func dotNibblesAt4AVX512(dst *int32, q *int8, rows *uint8, stride uintptr, at *uint32, blocks, chunks uintptr, tail int,
	ahead, lines uintptr, beside *float32)

//go:noescape
func dotNibbles1AVX512(dst *int32, q *int8, rows *uint8, stride uintptr, blocks, chunks uintptr, tail int)

// nibbleGroup is how many bytes of a row of so many a step takes; 0: Go does it.
func (k Kernels) nibbleGroup(bytes int) int {
	switch {
	case k.level == Portable || bytes < 32:
		return 0
	case k.vector().level == AVX512 && bytes >= 64:
		return 64
	}
	return 32
}

// shape is that of a query for kernels that take so many bytes a step: whole groups, and the step from their end back to
// the last group, 0 if nothing is left.
func (q *NibbleQuery) shape(group int) (chunks uintptr, tail int) {
	if rest := q.bytes % group; rest > 0 {
		tail = rest - group
	}
	return uintptr(q.bytes / group), tail
}

func (k Kernels) dotNibbles(dst []int32, q NibbleQuery, rows []uint8, stride int) {
	n := len(dst)
	whole := n &^ 3
	switch group := k.nibbleGroup(q.bytes); group {
	case 64:
		chunks, tail := q.shape(group)
		if n >= 4 {
			dotNibbles4AVX512(&dst[0], &q.groups[0], &rows[0], uintptr(stride), uintptr(n/4), chunks, tail)
		}
		if whole < n {
			dotNibbles1AVX512(&dst[whole], &q.groups[0], &rows[whole*stride], uintptr(stride), uintptr(n-whole), chunks, tail)
		}
	case 32:
		chunks, tail := q.shape(group)
		if n >= 4 {
			dotNibbles4AVX2(&dst[0], &q.groups[0], &rows[0], uintptr(stride), uintptr(n/4), chunks, tail)
		}
		if whole < n {
			dotNibbles1AVX2(&dst[whole], &q.groups[0], &rows[whole*stride], uintptr(stride), uintptr(n-whole), chunks, tail)
		}
	default:
		dotNibblesPortable(dst, q, rows, stride)
	}
}

// listAhead is how many rows ahead of its loads a scan of listed rows asks for memory, whole blocks.
const listAhead = 32

func (k Kernels) dotNibblesAt(dst []int32, q NibbleQuery, rows []uint8, stride int, at []uint32, beside []float32) {
	group := k.nibbleGroup(q.bytes)
	if group == 0 {
		dotNibblesAtPortable(dst, q, rows, stride, at)
		return
	}
	chunks, tail := q.shape(group)
	lines, ahead := uintptr(q.bytes+63)/64, uintptr(4*listAhead)
	i := 0
	for _, end := range []int{len(at) - listAhead, len(at)} { // of the last rows there is nothing ahead
		if n := max(end-i, 0) &^ 3; n > 0 && group == 64 {
			dotNibblesAt4AVX512(&dst[i], &q.groups[0], &rows[0], uintptr(stride), &at[i], uintptr(n/4), chunks, tail, ahead,
				lines, unsafe.SliceData(beside))
			i += n
		} else if n > 0 {
			dotNibblesAt4AVX2(&dst[i], &q.groups[0], &rows[0], uintptr(stride), &at[i], uintptr(n/4), chunks, tail, ahead,
				lines, unsafe.SliceData(beside))
			i += n
		}
		ahead = 0
	}
	for ; i < len(at); i++ {
		if row := &rows[int(at[i])*stride]; group == 64 {
			dotNibbles1AVX512(&dst[i], &q.groups[0], row, uintptr(stride), 1, chunks, tail)
		} else {
			dotNibbles1AVX2(&dst[i], &q.groups[0], row, uintptr(stride), 1, chunks, tail)
		}
	}
}

// The kernels below take whole registers; the Go twin does what is left over.

//go:noescape
func dotAVX512(a *float32, b *float32, n uintptr) (sum float32)

//go:noescape
func dotAVX2(a *float32, b *float32, n uintptr) (sum float32)

//go:noescape
func dotF16AVX512(a *float32, b *uint16, n uintptr) (sum float32)

//go:noescape
func dotF16AVX2(a *float32, b *uint16, n uintptr) (sum float32)

//go:noescape
func toF16AVX512(dst *uint16, src *float32, n uintptr)

//go:noescape
func toF16AVX2(dst *uint16, src *float32, n uintptr)

//go:noescape
func fromF16AVX512(dst *float32, src *uint16, n uintptr)

//go:noescape
func fromF16AVX2(dst *float32, src *uint16, n uintptr)

// whole is how many of n values fill registers of the level.
func (k Kernels) whole(n int) int {
	switch k.vector().level {
	case AVX512:
		return n &^ 15
	case AVX2:
		return n &^ 7
	}
	return 0
}

func (k Kernels) dot(a, b []float32) float32 {
	n := k.whole(len(a))
	if n == 0 {
		return dotPortable(a, b)
	}
	rest := dotPortable(a[n:], b[n:])
	if k.vector().level == AVX512 {
		return dotAVX512(&a[0], &b[0], uintptr(n)) + rest
	}
	return dotAVX2(&a[0], &b[0], uintptr(n)) + rest
}

func (k Kernels) dotF16(q []float32, row []uint16) float32 {
	n := k.whole(len(q))
	if n == 0 {
		return dotF16Portable(q, row)
	}
	rest := dotF16Portable(q[n:], row[n:])
	if k.vector().level == AVX512 {
		return dotF16AVX512(&q[0], &row[0], uintptr(n)) + rest
	}
	return dotF16AVX2(&q[0], &row[0], uintptr(n)) + rest
}

func (k Kernels) toF16(dst []uint16, src []float32) {
	n := k.whole(len(src))
	if n > 0 && k.vector().level == AVX512 {
		toF16AVX512(&dst[0], &src[0], uintptr(n))
	} else if n > 0 {
		toF16AVX2(&dst[0], &src[0], uintptr(n))
	}
	toF16Portable(dst[n:], src[n:])
}

func (k Kernels) fromF16(dst []float32, src []uint16) {
	n := k.whole(len(src))
	if n > 0 && k.vector().level == AVX512 {
		fromF16AVX512(&dst[0], &src[0], uintptr(n))
	} else if n > 0 {
		fromF16AVX2(&dst[0], &src[0], uintptr(n))
	}
	fromF16Portable(dst[n:], src[n:])
}
