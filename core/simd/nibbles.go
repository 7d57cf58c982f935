package simd

import "fmt"

// NibbleQuery is the int8 code of a query vector, laid out for scans of packed
// nibbles. It is prepared once a search and then only read.
//
// A row of packed nibbles holds dim unsigned 4-bit codes in (dim+1)/2 bytes:
// byte j has code j in its low half and code j+(dim+1)/2 in its high half; a
// last half without a code is ignored.
type NibbleQuery struct {
	dim, bytes int
	codes      []int8 // padded with a zero to twice bytes
	groups     []int8 // in the groups of the level's registers; see groupNibbles
	level      Level
}

// PrepareNibbleQuery lays out a query code for [Kernels.DotNibbles] of the same
// kernels. It copies codes. The dimension is len(codes), 1 to MaxDim; others
// panic.
func (k Kernels) PrepareNibbleQuery(codes []int8) NibbleQuery {
	dim := len(codes)
	if dim == 0 || dim > MaxDim {
		panic(fmt.Sprintf("simd: query of %d dimensions, want 1 to %d", dim, MaxDim))
	}
	q := NibbleQuery{dim: dim, bytes: NibbleBytes(dim), level: k.level}
	q.codes = make([]int8, 2*q.bytes)
	copy(q.codes, codes)
	if width := k.nibbleGroup(q.bytes); width > 0 {
		q.groups = groupNibbles(q.codes, width)
	}
	return q
}

// NibbleBytes is the length in bytes of a row of dim packed nibbles.
func NibbleBytes(dim int) int { return (dim + 1) / 2 }

// groupNibbles puts side by side what a step of width row bytes is multiplied
// by: width codes of the first half, then width of the second. The kernel steps
// back to a full group at the end, so the last one covers the row's last bytes
// and is zero where groups before it have been.
func groupNibbles(codes []int8, width int) []int8 {
	n := len(codes) / 2
	groups := make([]int8, 0, 2*(n+width))
	pad := make([]int8, width)
	for at := 0; at < n; at += width {
		for _, half := range [][]int8{codes[:n], codes[n:]} {
			if rest := n - at; rest < width {
				groups = append(append(groups, pad[rest:]...), half[at:]...)
			} else {
				groups = append(groups, half[at:at+width]...)
			}
		}
	}
	return groups
}

// Dim is the query's dimension.
func (q NibbleQuery) Dim() int { return q.dim }

// PackNibbles packs codes of 0 to 15 as [NibbleQuery] describes; higher bits
// are cut. dst has NibbleBytes(len(codes)) bytes or more.
func PackNibbles(dst, codes []uint8) {
	n := NibbleBytes(len(codes))
	dst = dst[:n]
	low, high := codes[:n], codes[n:]
	for j, c := range low {
		dst[j] = c & 15
	}
	for j, c := range high {
		dst[j] |= c << 4
	}
}

// DotNibbles writes the exact dot product of q with each of len(dst) rows of
// packed nibbles: Σ nibble*code. Row i is the NibbleBytes(q.Dim()) bytes at
// rows[i*stride]; stride is at least that.
func (k Kernels) DotNibbles(dst []int32, q NibbleQuery, rows []uint8, stride int) {
	q.check(k, stride)
	if len(dst) == 0 {
		return
	}
	if len(rows) < q.bytes || len(dst)-1 > (len(rows)-q.bytes)/stride {
		panic(fmt.Sprintf("simd: %d bytes for %d rows of %d, stride %d", len(rows), len(dst), q.bytes, stride))
	}
	for part := q.part(); len(dst) > part; {
		k.dotNibbles(dst[:part], q, rows, stride)
		dst, rows = dst[part:], rows[part*stride:]
	}
	k.dotNibbles(dst, q, rows, stride)
}

// DotNibblesAt is DotNibbles of the rows whose ordinals are in at: dst[i] is that of the row at rows[at[i]*stride].
// Ordinals may repeat and come in any order. The memory of rows is asked for some rows ahead, which is what a scan of
// many short runs needs, and with it that of beside, two numbers a row that the caller reads next; they may be missing.
// dst is at least as long as at.
func (k Kernels) DotNibblesAt(dst []int32, q NibbleQuery, rows []uint8, stride int, at []uint32, beside []float32) {
	q.check(k, stride)
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
	if len(rows) < q.bytes || int(last) > (len(rows)-q.bytes)/stride {
		panic(fmt.Sprintf("simd: row %d is outside %d bytes of rows", last, len(rows)))
	}
	for part := q.part(); len(at) > part; {
		k.dotNibblesAt(dst[:part], q, rows, stride, at[:part], beside)
		dst, at = dst[part:], at[part:]
	}
	k.dotNibblesAt(dst[:len(at)], q, rows, stride, at, beside)
}

func (q *NibbleQuery) check(k Kernels, stride int) {
	if q.dim == 0 || stride < q.bytes || q.level != k.level {
		panic(fmt.Sprintf("simd: stride %d for a query of %d dimensions at level %s", stride, q.dim, q.level))
	}
}

// part is how many rows go through assembly in one call, whole blocks.
func (q *NibbleQuery) part() int { return max(8, 16*stretch/q.bytes&^7) }

func dotNibblesPortable(dst []int32, q NibbleQuery, rows []uint8, stride int) {
	for i := range dst {
		dst[i] = q.dot(rows[i*stride:])
	}
}

func dotNibblesAtPortable(dst []int32, q NibbleQuery, rows []uint8, stride int, at []uint32) {
	for i, row := range at {
		dst[i] = q.dot(rows[int(row)*stride:])
	}
}

func (q *NibbleQuery) dot(row []uint8) int32 {
	low := q.codes[:q.bytes]
	high := q.codes[q.bytes:][:len(low)]
	row = row[:len(low)]
	var a, b int32
	for j, v := range row {
		a += int32(v&15) * int32(low[j])
		b += int32(v>>4) * int32(high[j])
	}
	return a + b
}
