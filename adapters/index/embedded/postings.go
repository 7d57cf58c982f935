package embedded

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// A posting list names the chunks that hold a term, rising, each with a
// payload: how often (keyword) or the code of a weight (sparse).
//
// Lists of at most blockLen postings are varints. Longer ones are cut into
// blocks of blockLen, the last one shorter: first a skip table of
// skipLen bytes a block (last chunk, offset of the block from the list's
// start, bound), then the blocks: width of gaps, width of payloads, least
// payload, and two runs of bit-packed values, little-endian: gaps less one and
// payloads less the least. The bound of a block, and that of the whole list in
// the dictionary, is the largest contribution to a score that a posting of it
// can make (block-max metadata: Ding and Suel, SIGIR 2011).
const (
	blockLen     = 128
	skipLen      = 12
	maxPayload   = math.MaxUint16
	postingsTail = 8 // readers load eight bytes at once
)

var errPostings = errors.New("posting list is damaged")

// postingWriter encodes lists one after the other.
type postingWriter struct {
	bounds []float32
	offs   []uint32
	body   []byte
	packed [blockLen]uint32
}

// append encodes a list at the end of dst. impact gives the contribution of a
// posting. docs rise; pays are at least 1 and clamped to maxPayload.
func (w *postingWriter) append(dst []byte, docs, pays []uint32, impact func(doc, pay uint32) float32) ([]byte, float32) {
	var top float32
	if len(docs) <= blockLen {
		next := uint32(0)
		for i, d := range docs {
			p := min(pays[i], maxPayload)
			gap := uint64(d-next) << 1
			if p == 1 {
				dst = binary.AppendUvarint(dst, gap|1)
			} else {
				dst = binary.AppendUvarint(dst, gap)
				dst = binary.AppendUvarint(dst, uint64(p))
			}
			next = d + 1
			top = max(top, impact(d, p))
		}
		return dst, top
	}
	w.bounds, w.offs, w.body = w.bounds[:0], w.offs[:0], w.body[:0]
	next := uint32(0)
	for i := 0; i < len(docs); i += blockLen {
		n := min(blockLen, len(docs)-i)
		d, p := docs[i:i+n], pays[i:i+n]
		w.offs = append(w.offs, uint32(len(w.body)))
		var bound float32
		var gaps, payOr uint32
		least := uint32(maxPayload)
		for j := range d {
			pay := min(p[j], maxPayload)
			bound = max(bound, impact(d[j], pay))
			w.packed[j] = d[j] - next
			gaps |= w.packed[j]
			next = d[j] + 1
			least = min(least, pay)
		}
		for j := range p {
			payOr |= min(p[j], maxPayload) - least
		}
		gw, pw := bits.Len32(gaps), bits.Len32(payOr)
		w.body = append(w.body, byte(gw), byte(pw), byte(least), byte(least>>8))
		w.body = pack(w.body, w.packed[:n], gw)
		for j := range p {
			w.packed[j] = min(p[j], maxPayload) - least
		}
		w.body = pack(w.body, w.packed[:n], pw)
		w.bounds = append(w.bounds, bound)
		top = max(top, bound)
	}
	head := uint32(len(w.bounds) * skipLen)
	for b, bound := range w.bounds {
		last := docs[min(len(docs), (b+1)*blockLen)-1]
		dst = binary.LittleEndian.AppendUint32(dst, last)
		dst = binary.LittleEndian.AppendUint32(dst, head+w.offs[b])
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(bound))
	}
	return append(dst, w.body...), top
}

func pack(dst []byte, v []uint32, width int) []byte {
	var acc uint64
	var n int
	for _, x := range v {
		acc |= uint64(x) << n
		for n += width; n >= 8; n -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	if n > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

// unpack reads len(dst) values; src goes on for postingsTail bytes beyond them.
func unpack(dst []uint32, src []byte, width int) {
	if width == 0 {
		clear(dst)
		return
	}
	mask := uint32(1)<<width - 1 // width 32: 0-1, all ones
	bit := 0
	// Eight bytes from any bit on hold 57 bits at least.
	for n := 57 / width; len(dst) >= n; dst = dst[n:] {
		x := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7)
		for i := range dst[:n] {
			dst[i] = uint32(x) & mask
			x >>= width & 63
		}
		bit += n * width
	}
	for i := range dst {
		dst[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:])>>(bit&7)) & mask
		bit += width
	}
}

// postingReader walks over one list, block by block.
type postingReader struct {
	data   []byte // from the list's start to the end of the section
	block  int    // current block, -1: none
	blocks int
	bound  float32 // of the whole list
	n      int     // postings in the current block
	at     int     // current posting in it
	docs   [blockLen]uint32
	pays   [blockLen]uint32
	df     int
}

// reset points the reader before the first posting.
func (r *postingReader) reset(data []byte, df int, bound float32) {
	r.data, r.df, r.bound = data, df, bound
	r.block, r.blocks, r.n, r.at = -1, (df+blockLen-1)/blockLen, 0, 0
}

// last is the last chunk of a block; only for lists of several blocks.
func (r *postingReader) last(b int) uint32 {
	return binary.LittleEndian.Uint32(r.data[b*skipLen:])
}

func (r *postingReader) blockBound(b int) float32 {
	if r.blocks == 1 {
		return r.bound
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(r.data[b*skipLen+8:]))
}

// load decodes a block.
func (r *postingReader) load(b int) {
	r.block, r.at = b, 0
	if r.blocks == 1 {
		r.n = r.df
		data, next := r.data, uint32(0)
		for i := range r.df {
			v, k := binary.Uvarint(data)
			if k <= 0 {
				panic(errPostings)
			}
			data = data[k:]
			p := uint64(1)
			if v&1 == 0 {
				if p, k = binary.Uvarint(data); k <= 0 {
					panic(errPostings)
				}
				data = data[k:]
			}
			next += uint32(v >> 1)
			r.docs[i], r.pays[i] = next, uint32(p)
			next++
		}
		return
	}
	r.n = min(blockLen, r.df-b*blockLen)
	next := uint32(0)
	if b > 0 {
		next = r.last(b-1) + 1
	}
	body := r.data[binary.LittleEndian.Uint32(r.data[b*skipLen+4:]):]
	gw, pw := int(body[0]), int(body[1])
	if gw > 32 || pw > 16 {
		panic(errPostings)
	}
	least := uint32(binary.LittleEndian.Uint16(body[2:]))
	body = body[4:]
	docs, pays := r.docs[:r.n], r.pays[:r.n]
	unpack(docs, body, gw)
	for i, gap := range docs {
		next += gap
		docs[i] = next
		next++
	}
	body = body[(r.n*gw+7)/8:]
	if pw == 0 {
		for i := range pays {
			pays[i] = least
		}
		return
	}
	unpack(pays, body, pw)
	for i := range pays {
		pays[i] += least
	}
}

// all appends the whole list.
func (r *postingReader) all(docs, pays []uint32) ([]uint32, []uint32) {
	for b := range r.blocks {
		r.load(b)
		docs, pays = append(docs, r.docs[:r.n]...), append(pays, r.pays[:r.n]...)
	}
	return docs, pays
}

// seek moves to the first posting at or after a chunk and reports whether there
// is one. Chunks asked for never fall.
func (r *postingReader) seek(doc uint32) bool {
	if r.block < 0 || r.docs[r.n-1] < doc {
		b := max(r.block, 0)
		if r.blocks == 1 {
			if r.block == 0 {
				return false
			}
		} else {
			if r.block >= 0 {
				b++
			}
			// Blocks are few and calls rise: gallop, then halve.
			step := 1
			lo := b
			for b < r.blocks && r.last(b) < doc {
				lo = b + 1
				b += step
				step <<= 1
			}
			hi := min(b, r.blocks)
			for lo < hi {
				m := (lo + hi) / 2
				if r.last(m) < doc {
					lo = m + 1
				} else {
					hi = m
				}
			}
			if b = lo; b >= r.blocks {
				return false
			}
		}
		r.load(b)
		if r.docs[r.n-1] < doc {
			return false
		}
	}
	i := r.at
	if r.docs[i] >= doc {
		return true
	}
	lo, hi := i+1, r.n-1
	for step := 1; lo+step < hi && r.docs[lo+step] < doc; step <<= 1 {
		lo += step
	}
	for lo <= hi && r.docs[lo] < doc {
		lo++
	}
	r.at = lo
	return true
}
