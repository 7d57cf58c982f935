package packing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mnemehq/mneme/core/port"
)

// A chunk layout is one blob: version 1, the number of chunks as uvarint, then
// for each chunk
//
//	start   varint, relative to the start of the chunk before
//	length  uvarint
//	context uvarint: 0 the chunk before's (none for the first), else 1 + its
//	        length in bytes, followed by them
//	hash    16 bytes
const layoutVersion = 1

// leastChunk is the shortest encoding of a chunk, which bounds the count that
// a blob can claim.
const leastChunk = 3 + 16

var errLayout = errors.New("damaged chunk layout")

// EncodeLayout packs the layout of a document's chunks.
func EncodeLayout(chunks []port.Chunk) ([]byte, error) {
	size := 1 + binary.MaxVarintLen32
	for _, c := range chunks {
		size += leastChunk + 8 + len(c.Context)
	}
	b := append(make([]byte, 0, size), layoutVersion)
	b = binary.AppendUvarint(b, uint64(len(chunks)))
	start, context := 0, ""
	for i, c := range chunks {
		if c.Start < 0 || c.End < c.Start || c.End > math.MaxInt32 {
			return nil, fmt.Errorf("chunk %d spans %d to %d", i, c.Start, c.End)
		}
		b = binary.AppendVarint(b, int64(c.Start-start))
		b = binary.AppendUvarint(b, uint64(c.End-c.Start))
		if c.Context == context {
			b = append(b, 0)
		} else {
			b = binary.AppendUvarint(b, 1+uint64(len(c.Context)))
			b = append(b, c.Context...)
		}
		b = append(b, c.Hash[:]...)
		start, context = c.Start, c.Context
	}
	return b, nil
}

// DecodeLayout unpacks what EncodeLayout packed; any other bytes are an error.
func DecodeLayout(b []byte) ([]port.Chunk, error) {
	r := blob{b: b}
	if v := r.byte(); v != layoutVersion {
		return nil, fmt.Errorf("%w: version %d", errLayout, v)
	}
	n := r.uvarint(uint64(len(b) / leastChunk))
	if r.bad {
		return nil, errLayout
	}
	chunks := make([]port.Chunk, n)
	start, context := int64(0), ""
	for i := range chunks {
		start += r.varint()
		length := r.uvarint(math.MaxInt32)
		if r.bad || start < 0 || start+int64(length) > math.MaxInt32 {
			return nil, errLayout
		}
		if c := r.uvarint(uint64(len(b))); c != 0 {
			context = string(r.bytes(int(c) - 1))
		}
		chunks[i] = port.Chunk{Start: int(start), End: int(start) + int(length), Context: context}
		copy(chunks[i].Hash[:], r.bytes(len(chunks[i].Hash)))
	}
	if r.bad || len(r.b) != 0 {
		return nil, errLayout
	}
	return chunks, nil
}

// blob reads packed values; bad is set, and zeroes are read, once it ran out
// or a value passed its bound.
type blob struct {
	b   []byte
	bad bool
}

func (r *blob) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		r.b = nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *blob) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *blob) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > limit {
		r.bad = true
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *blob) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || v > math.MaxInt32 || v < -math.MaxInt32 {
		r.bad = true
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return v
}
