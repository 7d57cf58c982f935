package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What is cut one way by this version has to be cut so by the next: otherwise everything is stored again.
func TestWhereChunksEnd(t *testing.T) {
	var ends []int
	for i := range 300 {
		if endsChunk([]byte(strings.Repeat(fmt.Sprintf("row %d ", i), 200))) {
			ends = append(ends, i)
		}
	}
	if want := []int{126, 142, 158, 171, 205, 215, 224, 238, 269}; !slices.Equal(ends, want) {
		t.Errorf("chunks end with %v, want %v", ends, want)
	}
	// A row that ends a chunk does so once the chunk is as long as it has to be, with the row's length.
	ending := func(length int) []byte {
		for i := 0; ; i++ {
			row := bytes.Repeat([]byte{'x'}, length)
			copy(row, fmt.Sprint(i, " "))
			if endsChunk(row) {
				return row
			}
		}
	}
	for length, want := range map[int]int{chunkLeast - 3: 0, chunkLeast - 2: 1, chunkTarget: 1, chunkMost: 1} {
		var cut [][]byte
		c := cutter{emit: func(raw []byte) error { cut = append(cut, bytes.Clone(raw)); return nil }}
		row := ending(length)
		if err := c.add(row); err != nil || len(cut) != want {
			t.Errorf("after %d bytes there are %d chunks, %v", length, len(cut), err)
		}
		if err := c.end(); err != nil || len(cut) != 1 || !bytes.HasSuffix(cut[0], row) {
			t.Errorf("a row of %d bytes is in %d chunks, %v", length, len(cut), err)
		}
		if err := c.end(); err != nil || len(cut) != 1 {
			t.Errorf("nothing is in %d chunks, %v", len(cut), err)
		}
	}
	many := 0
	c := cutter{emit: func(raw []byte) error {
		if many++; len(raw) > chunkMost+10 {
			t.Errorf("a chunk has %d bytes", len(raw))
		}
		return nil
	}}
	for range 10 * chunkMost / 8 { // rows of eight bytes hardly ever end one
		if err := c.add([]byte("the same")); err != nil {
			t.Fatal(err)
		}
	}
	if many < 10 {
		t.Errorf("what never ends a chunk is in %d", many)
	}
}

func TestEntries(t *testing.T) {
	k := chunk{Hash: sha256.Sum256([]byte("a")), Pack: sha256.Sum256([]byte("b")), Offset: 1, Size: 300, Bytes: largest}
	row := appendEntry(nil, k)
	if got, err := entry(row); got != k || err != nil {
		t.Errorf("%+v came back as %+v, %v", k, got, err)
	}
	more := k
	more.Bytes++
	for what, row := range map[string][]byte{
		"nothing": nil, "a hash": row[:32], "hashes": row[:64], "half a hash": row[:63], "no bytes": row[:len(row)-1],
		"more": append(slices.Clone(row), 0), "too many bytes": appendEntry(nil, more),
		"a number that is none": append(slices.Clone(row[:64]), bytes.Repeat([]byte{255}, 11)...),
	} {
		if got, err := entry(row); !errors.Is(err, errDecode) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

func TestRowsOfAChunk(t *testing.T) {
	rows := func(raw []byte) (all []string, err error) {
		err = eachRow(raw, func(row []byte) error { all = append(all, string(row)); return nil })
		return all, err
	}
	if got, err := rows([]byte("\x01a\x00\x03bcd")); err != nil || !slices.Equal(got, []string{"a", "", "bcd"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, raw := range []string{"\x02a", "\x01a\x01", "\xff", "\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if got, err := rows([]byte(raw)); !errors.Is(err, errDecode) {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
	stop := errors.New("enough")
	if err := eachRow([]byte("\x01a\x01b"), func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// The list at the end of a pack is read where the pack is whole, and nothing else is taken for one.
func TestTails(t *testing.T) {
	c, err := newCodec(nil)
	if err != nil {
		t.Fatal(err)
	}
	body := c.encode(nil, pieceChunk, []byte("what is stored"))
	k := chunk{Hash: sha256.Sum256([]byte("what is stored")), Size: int64(len(body)), Bytes: 14}
	pack := c.appendTail(slices.Clone(body), []chunk{k})
	id := sum(sha256.Sum256(pack))
	k.Pack = id
	if held, err := c.tail(id, pack); err != nil || !slices.Equal(held, []chunk{k}) {
		t.Errorf("%+v, %v", held, err)
	}
	if raw, err := c.chunk(k, body); err != nil || string(raw) != "what is stored" {
		t.Errorf("%q, %v", raw, err)
	}
	for what, wrong := range map[string]chunk{"another hash": {Hash: id, Bytes: 14},
		"another length": {Hash: k.Hash, Bytes: 13}} {
		if _, err := c.chunk(wrong, body); !errors.Is(err, errDecode) {
			t.Errorf("%s: %v", what, err)
		}
	}
	sized := func(list []byte, n uint32) []byte {
		return append(binary.BigEndian.AppendUint32(slices.Clone(list), n), packMark...)
	}
	list := c.encode(nil, pieceTail, nil)
	empty := sized(list, uint32(len(list)))
	if held, err := c.tail(sha256.Sum256(empty), empty); err != nil || held != nil {
		t.Errorf("a pack of nothing: %+v, %v", held, err)
	}
	for what, pack := range map[string][]byte{
		"nothing": nil, "a mark": packMark, "a mark and some": append([]byte("abc"), packMark...), "no mark": pack[:len(pack)-1],
		"a list longer than it": sized(list, uint32(len(list)+1)), "no list": sized([]byte("abcd"), 4),
		"a list of nonsense": sized(c.encode(nil, pieceTail, []byte{1}), uint32(len(c.encode(nil, pieceTail, []byte{1})))),
	} {
		if held, err := c.tail(sha256.Sum256(pack), pack); !errors.Is(err, errDecode) {
			t.Errorf("%s: %+v, %v", what, held, err)
		}
	}
	if _, err := c.tail(k.Hash, pack); !errors.Is(err, errDecode) {
		t.Errorf("another's name: %v", err)
	}
}

func TestHashesAsText(t *testing.T) {
	of := sum(sha256.Sum256(nil))
	var back sum
	if err := back.UnmarshalText([]byte(of.String())); err != nil || back != of {
		t.Errorf("%s, %v", back, err)
	}
	for _, text := range []string{"", "zz", of.String()[2:], of.String() + "00"} {
		if err := back.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a hash", text)
		}
	}
}

// FuzzEntries: no bytes make more of an index than they hold, and what is read is written so again.
func FuzzEntries(f *testing.F) {
	f.Add(appendEntry(nil, chunk{Offset: 1, Size: 2, Bytes: 3}))
	f.Add([]byte("\x01a\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_ = eachRow(raw, func(row []byte) error {
			if len(row) > len(raw) {
				t.Errorf("a row of %d bytes of %d", len(row), len(raw))
			}
			return nil
		})
		k, err := entry(raw)
		if err != nil {
			return
		}
		if again, err := entry(appendEntry(nil, k)); err != nil || again != k {
			t.Errorf("%+v is written as %+v, %v", k, again, err)
		}
	})
}
