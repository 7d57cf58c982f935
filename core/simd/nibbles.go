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
	if width := k.nibbleGroup(); width > 0 {
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
	k.DotNibblesAhead(dst, q, rows, stride, streamAhead)
}

// streamAhead is how far ahead of its loads a scan of rows that follow each other asks for memory, in bytes.
const streamAhead = 4096

// DotNibblesAhead is DotNibbles with another place to ask for in time: ahead is how many bytes beyond rows those lie that
// are scanned next. Where there are none any number will do, since nothing is read there.
func (k Kernels) DotNibblesAhead(dst []int32, q NibbleQuery, rows []uint8, stride, ahead int) {
	if q.dim == 0 || stride < q.bytes || q.level != k.level {
		panic(fmt.Sprintf("simd: stride %d for a query of %d dimensions at level %s", stride, q.dim, q.level))
	}
	if len(dst) == 0 {
		return
	}
	if len(rows) < q.bytes || len(dst)-1 > (len(rows)-q.bytes)/stride {
		panic(fmt.Sprintf("simd: %d bytes for %d rows of %d, stride %d", len(rows), len(dst), q.bytes, stride))
	}
	for part := max(8, 16*stretch/q.bytes&^7); len(dst) > part; {
		k.dotNibbles(dst[:part], q, rows, stride, ahead)
		dst, rows = dst[part:], rows[part*stride:]
	}
	k.dotNibbles(dst, q, rows, stride, ahead)
}

func dotNibblesPortable(dst []int32, q NibbleQuery, rows []uint8, stride int) {
	low := q.codes[:q.bytes]
	high := q.codes[q.bytes:][:len(low)]
	for i := range dst {
		row := rows[i*stride:][:len(low)]
		var a, b int32
		for j, v := range row {
			a += int32(v&15) * int32(low[j])
			b += int32(v>>4) * int32(high[j])
		}
		dst[i] = a + b
	}
}
