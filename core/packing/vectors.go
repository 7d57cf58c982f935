package packing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mnemehq/mneme/core/port"
)

// Dense vectors are one blob: version 1, rows and dimensions as uvarints, then
// rows*dimensions IEEE 754 half floats, little-endian. Sparse vectors are one
// blob: version 1, rows as uvarint, then for each row the number of terms as
// uvarint, the terms as uvarint steps (the first from -1, so a step is at least
// 1), and the weights as little-endian float32.
//
// Token counts belong to one run of the model and are not stored.
const vectorsVersion = 1

const (
	maxRows       = 1 << 24
	maxDimensions = 1 << 16
)

var errVectors = errors.New("damaged vectors")

// EncodeDense packs the dense vectors of a document, one row a chunk; nil for
// none. Values are rounded to the nearest half float, 11 significant bits.
func EncodeDense(d port.Dense, rows int) ([]byte, error) {
	if d.Data == nil {
		return nil, nil
	}
	if d.Dim <= 0 || d.Dim > maxDimensions || len(d.Data) != rows*d.Dim {
		return nil, fmt.Errorf("%d values of %d dimensions for %d chunks", len(d.Data), d.Dim, rows)
	}
	b := make([]byte, 0, 1+2*binary.MaxVarintLen32+2*len(d.Data))
	b = append(b, vectorsVersion)
	b = binary.AppendUvarint(b, uint64(rows))
	b = binary.AppendUvarint(b, uint64(d.Dim))
	at := len(b)
	b = b[:at+2*len(d.Data)]
	if i := halves(b[at:], d.Data); i >= 0 {
		return nil, fmt.Errorf("value %v of row %d", d.Data[i], i/d.Dim)
	}
	return b, nil
}

// DecodeDense unpacks what EncodeDense packed; any other bytes are an error.
func DecodeDense(b []byte) (port.Dense, error) {
	if b == nil {
		return port.Dense{}, nil
	}
	r := blob{b: b}
	if v := r.byte(); v != vectorsVersion {
		return port.Dense{}, fmt.Errorf("%w: version %d", errVectors, v)
	}
	rows, dim := r.uvarint(maxRows), r.uvarint(maxDimensions)
	if r.bad || dim == 0 || uint64(len(r.b)) != 2*rows*dim {
		return port.Dense{}, errVectors
	}
	d := port.Dense{Dim: int(dim), Data: make([]float32, rows*dim)}
	if !singles(d.Data, r.b) {
		return port.Dense{}, errVectors
	}
	return d, nil
}

// EncodeSparse packs the sparse vectors of a document, one row a chunk; nil
// for none. Terms must rise within a row and weights be positive.
func EncodeSparse(s port.Sparse, rows int) ([]byte, error) {
	if s.Rows == nil {
		return nil, nil
	}
	if len(s.Rows) != rows+1 || s.Rows[0] != 0 || int(s.Rows[rows]) != len(s.Terms) || len(s.Terms) != len(s.Weights) {
		return nil, fmt.Errorf("%d row offsets, %d terms and %d weights for %d chunks", len(s.Rows), len(s.Terms),
			len(s.Weights), rows)
	}
	b := make([]byte, 0, 1+binary.MaxVarintLen32*(1+rows)+7*len(s.Terms))
	b = append(b, vectorsVersion)
	b = binary.AppendUvarint(b, uint64(rows))
	for i := range rows {
		from, to := s.Rows[i], s.Rows[i+1]
		if to < from || int(to) > len(s.Terms) {
			return nil, fmt.Errorf("row %d spans %d to %d", i, from, to)
		}
		b = binary.AppendUvarint(b, uint64(to-from))
		last := int64(-1)
		for _, t := range s.Terms[from:to] {
			if int64(t) <= last {
				return nil, fmt.Errorf("row %d: term %d after %d", i, t, last)
			}
			b = binary.AppendUvarint(b, uint64(int64(t)-last))
			last = int64(t)
		}
		for _, w := range s.Weights[from:to] {
			if !(w > 0) || math.IsInf(float64(w), 0) {
				return nil, fmt.Errorf("row %d: weight %v", i, w)
			}
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w))
		}
	}
	return b, nil
}

// DecodeSparse unpacks what EncodeSparse packed; any other bytes are an error.
func DecodeSparse(b []byte) (port.Sparse, error) {
	if b == nil {
		return port.Sparse{}, nil
	}
	r := blob{b: b}
	if v := r.byte(); v != vectorsVersion {
		return port.Sparse{}, fmt.Errorf("%w: version %d", errVectors, v)
	}
	rows := int(r.uvarint(uint64(len(b))))
	if r.bad {
		return port.Sparse{}, errVectors
	}
	s := port.Sparse{Rows: make([]uint32, 1, rows+1)}
	for range rows {
		n := int(r.uvarint(uint64(len(r.b)) / 5)) // a step and a weight
		last := int64(-1)
		for range n {
			step := r.uvarint(math.MaxUint32 + 1)
			last += int64(step)
			if step == 0 || last > math.MaxUint32 {
				return port.Sparse{}, errVectors
			}
			s.Terms = append(s.Terms, uint32(last))
		}
		weights := r.bytes(4 * n)
		if r.bad {
			return port.Sparse{}, errVectors
		}
		for ; len(weights) > 0; weights = weights[4:] {
			w := math.Float32frombits(binary.LittleEndian.Uint32(weights))
			if !(w > 0) || math.IsInf(float64(w), 0) {
				return port.Sparse{}, errVectors
			}
			s.Weights = append(s.Weights, w)
		}
		s.Rows = append(s.Rows, uint32(len(s.Terms)))
	}
	if r.bad || len(r.b) != 0 {
		return port.Sparse{}, errVectors
	}
	return s, nil
}

// halves rounds values into little-endian half floats and answers the place of
// the first that is none, or -1.
func halves(out []byte, in []float32) int {
	for i, v := range in {
		h := half(v)
		if h&0x7c00 == 0x7c00 {
			return i
		}
		out[0], out[1] = byte(h), byte(h>>8)
		out = out[2:]
	}
	return -1
}

// singles widens as many little-endian half floats as out is long; false when
// one is not finite.
func singles(out []float32, in []byte) bool {
	const top = 0x7c00
	var bad uint16
	for len(out) >= 4 && len(in) >= 8 { // four to a load: half the time
		x := binary.LittleEndian.Uint64(in)
		a, b, c, d := uint16(x), uint16(x>>16), uint16(x>>32), uint16(x>>48)
		// Adding the exponent's lowest bit carries into the sign's place only
		// from an exponent of all ones.
		bad |= (a&top + 0x400) | (b&top + 0x400) | (c&top + 0x400) | (d&top + 0x400)
		out[0], out[1], out[2], out[3] = single(a), single(b), single(c), single(d)
		out, in = out[4:], in[8:]
	}
	for i := range out {
		h := binary.LittleEndian.Uint16(in[2*i:])
		bad |= h&top + 0x400
		out[i] = single(h)
	}
	return bad&0x8000 == 0
}

// half rounds to the nearest IEEE half float, ties to even. Too large values
// become infinity.
func half(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00 // not a number
	case b >= 0x47800000: // 65536 and above
		return sign | 0x7c00
	case b >= 0x38800000: // normal: drop 13 bits, ties to even; a carry moves the exponent
		b += 0xfff + b>>13&1
		return sign | uint16((b-0x38000000)>>13)
	}
	// Subnormal halves are multiples of 2^-24: adding 0.5, whose last bit is
	// worth 2^-24, lets the processor do the rounding.
	return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-math.Float32bits(0.5))
}

// single is the exact value of a finite half float. Shifting exponent and
// fraction into place leaves the exponent 112 too low, for subnormals too.
func single(h uint16) float32 {
	const scale = 0x1p112
	f := math.Float32frombits(uint32(h&0x7fff)<<13) * scale
	return math.Float32frombits(math.Float32bits(f) | uint32(h&0x8000)<<16)
}
