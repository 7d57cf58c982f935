package simd

import "fmt"

// MaxDim is the largest dimension of a [Query]: up to it every dot product of
// int8 codes, -128 included, fits an int32.
const MaxDim = 1 << 16

// Query is the int8 code of a query vector, laid out for the scan kernels.
// It is prepared once a search and then only read.
//
// VPDPBUSD multiplies unsigned by signed bytes. The kernels flip the sign bit
// of the stored bytes (r+128 as unsigned) as they load them, and the sum of
// the query, known beforehand, takes the offset out again:
// Σ(r+128)q - 128Σq = Σrq. So rows need no stored correction.
type Query struct {
	dim   int
	codes []int8   // padded with zeros to a multiple of 64
	wide  []int16  // codes widened for VPMADDWD; see prepareWide
	last  [16]int8 // the last group of wide, as bytes
	sum   int32    // Σ codes
}

// PrepareQuery lays out a query code for scans. It copies codes. The
// dimension is len(codes), 1 to MaxDim; others panic.
func PrepareQuery(codes []int8) Query {
	dim := len(codes)
	if dim == 0 || dim > MaxDim {
		panic(fmt.Sprintf("simd: query of %d dimensions, want 1 to %d", dim, MaxDim))
	}
	q := Query{dim: dim, codes: make([]int8, (dim+63)&^63), wide: prepareWide(codes)}
	copy(q.codes, codes)
	for i, c := range q.wide[len(q.wide)-16:] {
		q.last[i] = int8(c)
	}
	for _, c := range codes {
		q.sum += int32(c)
	}
	return q
}

// prepareWide widens codes to int16 in whole groups of 16. A last partial
// group covers the last 16 codes of the row instead, zero where the groups
// before it have been there: so a kernel without byte masks reads full groups
// and never past the row's end.
func prepareWide(codes []int8) []int16 {
	dim := len(codes)
	whole := dim &^ 15
	w := make([]int16, (dim+15)&^15)
	for i, c := range codes[:whole] {
		w[i] = int16(c)
	}
	if rest := dim - whole; rest > 0 {
		for i, c := range codes[whole:] {
			w[whole+16-rest+i] = int16(c)
		}
	}
	return w
}

// Dim is the query's dimension.
func (q Query) Dim() int { return q.dim }

// DotRows writes the exact dot product of q with each of len(dst) rows.
// Row i is the q.Dim() bytes at rows[i*stride]; stride is at least q.Dim().
func (k Kernels) DotRows(dst []int32, q Query, rows []int8, stride int) {
	checkStride(q, stride)
	if len(dst) == 0 {
		return
	}
	if len(rows) < q.dim || len(dst)-1 > (len(rows)-q.dim)/stride {
		panic(fmt.Sprintf("simd: %d bytes for %d rows of %d, stride %d", len(rows), len(dst), q.dim, stride))
	}
	for part := scanRows(q); len(dst) > part; {
		k.dotRows(dst[:part], q, rows, stride)
		dst, rows = dst[part:], rows[part*stride:]
	}
	k.dotRows(dst, q, rows, stride)
}

// DotRowsAt writes the exact dot product of q with the rows whose ordinals
// are in at: dst[i] is that of the row at rows[at[i]*stride]. Ordinals may
// repeat and come in any order; rising ones read memory best. dst is at least
// as long as at.
func (k Kernels) DotRowsAt(dst []int32, q Query, rows []int8, stride int, at []uint32) {
	checkStride(q, stride)
	if len(dst) < len(at) {
		panic(fmt.Sprintf("simd: %d results for %d rows", len(dst), len(at)))
	}
	if len(at) == 0 {
		return
	}
	var last uint32
	for _, row := range at {
		last = max(last, row)
	}
	if len(rows) < q.dim || int(last) > (len(rows)-q.dim)/stride {
		panic(fmt.Sprintf("simd: row %d is outside %d bytes of rows", last, len(rows)))
	}
	for part := scanRows(q); len(at) > part; {
		k.dotRowsAt(dst[:part], q, rows, stride, at[:part])
		dst, at = dst[part:], at[part:]
	}
	k.dotRowsAt(dst[:len(at)], q, rows, stride, at)
}

// scanRows is how many rows go through assembly in one call, whole blocks.
func scanRows(q Query) int { return max(8, 16*stretch/q.dim&^7) }

func checkStride(q Query, stride int) {
	if q.dim == 0 || stride < q.dim {
		panic(fmt.Sprintf("simd: stride %d for a query of %d dimensions", stride, q.dim))
	}
}

func dotRowsPortable(dst []int32, q Query, rows []int8, stride int) {
	codes := q.codes[:q.dim]
	for i := range dst {
		dst[i] = dotInt8(codes, rows[i*stride:])
	}
}

func dotRowsAtPortable(dst []int32, q Query, rows []int8, stride int, at []uint32) {
	codes := q.codes[:q.dim]
	for i, row := range at {
		dst[i] = dotInt8(codes, rows[int(row)*stride:])
	}
}

// dotInt8 keeps four sums so that additions do not wait for each other.
func dotInt8(a, b []int8) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += int32(a[0]) * int32(b[0])
		s1 += int32(a[1]) * int32(b[1])
		s2 += int32(a[2]) * int32(b[2])
		s3 += int32(a[3]) * int32(b[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
