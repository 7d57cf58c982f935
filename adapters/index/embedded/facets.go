package embedded

import (
	"encoding/binary"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/mnemehq/mneme/core/filter"
)

// bitset is a set of ordinals; nil stands for all.
type bitset []uint64

func newBitset(n int) bitset       { return make(bitset, (n+63)/64) }
func (b bitset) has(i uint32) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bitset) set(i uint32)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) unset(i uint32)    { b[i>>6] &^= 1 << (i & 63) }
func (b bitset) clone() bitset     { return append(bitset(nil), b...) }
func (b bitset) empty(from, to int) bool { // from is a multiple of 64
	for _, w := range b[from/64 : min(len(b), (to+63)/64)] {
		if w != 0 {
			return false
		}
	}
	return true
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// fullBitset holds 0..n-1.
func fullBitset(n int) bitset {
	b := newBitset(n)
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
	return b
}

// ordinals appends the members in rising order.
func (b bitset) ordinals(dst []uint32) []uint32 {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, uint32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// facet is the set of chunks filed under a token; nil when there is none.
func (s *segment) facet(token string) (*roaring.Bitmap, error) {
	i := search(s.sec[secFacets], s.sec[secFacetDict], facLen, token)
	if i < 0 {
		return nil, nil
	}
	return s.facetAt(i)
}

func (s *segment) facetAt(i int) (*roaring.Bitmap, error) {
	row := s.sec[secFacetDict][i*facLen:]
	at := binary.LittleEndian.Uint64(row[8:])
	if binary.LittleEndian.Uint32(row[4:]) == 1 {
		return roaring.BitmapOf(uint32(at)), nil
	}
	bm := roaring.New()
	if at > uint64(len(s.sec[secFacetBits])) {
		return nil, damaged("place of a facet bitmap")
	}
	if _, err := bm.FromBuffer(s.sec[secFacetBits][at:]); err != nil {
		return nil, damaged("facet bitmap: %v", err)
	}
	return bm, nil
}

// match evaluates a filter; nil: nothing matches. The result may alias the image.
func (s *segment) match(f *filter.Filter) (*roaring.Bitmap, error) {
	switch f.Op {
	case filter.And:
		var out *roaring.Bitmap
		for i := range f.Args {
			m, err := s.match(&f.Args[i])
			if err != nil || m == nil {
				return nil, err
			}
			if out == nil {
				out = m
			} else if out = roaring.And(out, m); out.IsEmpty() {
				return nil, nil
			}
		}
		return out, nil
	case filter.Or:
		var all []*roaring.Bitmap
		for i := range f.Args {
			m, err := s.match(&f.Args[i])
			if err != nil {
				return nil, err
			}
			if m != nil {
				all = append(all, m)
			}
		}
		return union(all), nil
	}
	var all []*roaring.Bitmap
	for _, v := range f.Values {
		m, err := s.facet(filter.Token(f.Key, v))
		if err != nil {
			return nil, err
		}
		if m != nil {
			all = append(all, m)
		}
	}
	return union(all), nil
}

func union(all []*roaring.Bitmap) *roaring.Bitmap {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	case 2:
		return roaring.Or(all[0], all[1])
	}
	return roaring.FastOr(all...)
}

// allowed is the set of chunks that a search may answer: live, matching the
// filter, within the time bounds. none reports that it is empty.
func (s *segment) allowed(live bitset, f *filter.Filter, after, before *int64) (set bitset, none bool, err error) {
	set = live
	if f != nil {
		m, err := s.match(f)
		if err != nil {
			return nil, false, err
		}
		if m == nil || m.IsEmpty() {
			return nil, true, nil
		}
		if last := m.Maximum(); int(last) >= s.chunks {
			return nil, false, damaged("facet of chunk %d", last)
		}
		set = newBitset(s.chunks)
		m.WriteDenseTo(set)
		for i, w := range live {
			set[i] &= w
		}
		if set.empty(0, s.chunks) {
			return nil, true, nil
		}
	}
	if after == nil && before == nil {
		return set, false, nil
	}
	// A chunk without a time is outside every bound.
	if len(s.times) == 0 || after != nil && s.maxTime <= *after || before != nil && s.minTime >= *before {
		return nil, true, nil
	}
	out, some := newBitset(s.chunks), false
	for i, t := range s.times {
		if t != 0 && (after == nil || t > *after) && (before == nil || t < *before) && (set == nil || set.has(uint32(i))) {
			out.set(uint32(i))
			some = true
		}
	}
	return out, !some, nil
}
