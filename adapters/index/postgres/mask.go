package postgres

import (
	"encoding/binary"
	"math/bits"
)

// mask is a set of places in a block or a span.
type mask []uint64

func newMask(places int) mask { return make(mask, places/64) }

func (m mask) set(i int)      { m[i>>6] |= 1 << (i & 63) }
func (m mask) has(i int) bool { return m[i>>6]&(1<<(i&63)) != 0 }

func (m mask) or(o mask) {
	for i := range m {
		m[i] |= o[i]
	}
}

func (m mask) and(o mask) {
	for i := range m {
		m[i] &= o[i]
	}
}

func (m mask) without(o mask) {
	for i := range m {
		m[i] &^= o[i]
	}
}

func (m mask) count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls fn with every place of the set, rising.
func (m mask) each(fn func(place int)) {
	for i, w := range m {
		for ; w != 0; w &= w - 1 {
			fn(i<<6 + bits.TrailingZeros64(w))
		}
	}
}

func (m mask) bytes() []byte {
	out := make([]byte, 0, 8*len(m))
	for _, w := range m {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// read fills the mask from what bytes wrote; what is missing is empty.
func (m mask) read(b []byte) {
	for i := range m {
		if len(b) < 8*(i+1) {
			break
		}
		m[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}
