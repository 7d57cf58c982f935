package sqlite

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzClearGap: any bytes are taken without panic, and what is overwritten lies
// between a page's cell pointers and its cells, both of which stay.
func FuzzClearGap(f *testing.F) {
	leaf := make([]byte, 512)
	leaf[0], leaf[4], leaf[5], leaf[6] = 13, 2, 1, 0xf0 // two cells from 496 on
	for i := 12; i < 512; i++ {
		leaf[i] = byte(i)
	}
	f.Add(leaf, uint32(2))
	f.Add(leaf, uint32(1))
	f.Add([]byte{}, uint32(3))
	f.Add([]byte{10, 0, 0, 255, 255, 0, 0}, uint32(3))
	f.Fuzz(func(t *testing.T, page []byte, number uint32) {
		before := bytes.Clone(page)
		dirty := clearGap(page, number)
		if dirty == bytes.Equal(page, before) {
			t.Fatalf("dirty %v", dirty)
		}
		if !dirty {
			return
		}
		at := 0
		if number == 1 {
			at = 100
		}
		header := 8
		if before[at] < 8 {
			header = 12
		}
		from := at + header + 2*int(binary.BigEndian.Uint16(before[at+3:]))
		to := int(binary.BigEndian.Uint16(before[at+5:]))
		if to == 0 {
			to = 1 << 16
		}
		if !bytes.Equal(page[:from], before[:from]) || !bytes.Equal(page[to:], before[to:]) {
			t.Fatal("pointers or cells were overwritten")
		}
		if clearGap(page, number) {
			t.Fatal("dirty twice")
		}
	})
}
