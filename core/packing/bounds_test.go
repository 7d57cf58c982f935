package packing_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// hash is 16 bytes of one value.
func hash(b byte) (h [16]byte) {
	copy(h[:], bytes.Repeat([]byte{b}, len(h)))
	return h
}

// A stored layout is these bytes and no others: releases read what others wrote.
func TestALayoutIsTheseBytes(t *testing.T) {
	chunks := []port.Chunk{
		{Start: 0, End: 200, Context: "Guide", Hash: hash(1)},
		{Start: 150, End: 150, Context: "Guide", Hash: hash(2)},
		{Start: 100, End: 101, Hash: hash(3)},
	}
	want := slices.Concat(
		[]byte{1, 3},
		[]byte{0, 200, 1, 6}, []byte("Guide"), bytes.Repeat([]byte{1}, 16),
		[]byte{172, 2, 0, 0}, bytes.Repeat([]byte{2}, 16), // 150 on, as long as nothing, the same context
		[]byte{99, 1, 1}, bytes.Repeat([]byte{3}, 16), // 50 back, none
	)
	got, err := packing.EncodeLayout(chunks)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%v, %v; want %v", got, err, want)
	}
	if back, err := packing.DecodeLayout(want); err != nil || !cmp.Equal(back, chunks) {
		t.Fatalf("%v, %v", back, err)
	}
}

// A text of 2 GiB less one is the longest; chunks lie within it, as do those of a blob that another program made.
func TestALayoutHasBounds(t *testing.T) {
	const most = math.MaxInt32
	for _, c := range []struct {
		name   string
		chunks []port.Chunk
		ok     bool
	}{
		{"the longest", []port.Chunk{{Start: 0, End: most}}, true},
		{"at the end", []port.Chunk{{Start: most, End: most}}, true},
		{"and back", []port.Chunk{{Start: most, End: most}, {Start: 0, End: 0}}, true},
		{"a long context", []port.Chunk{{End: 1, Context: strings.Repeat("A", 3000)}, {End: 1}}, true},
		{"beyond", []port.Chunk{{Start: 0, End: most + 1}}, false},
		{"before", []port.Chunk{{Start: -1, End: 1}}, false},
		{"backwards", []port.Chunk{{Start: 5, End: 4}}, false},
	} {
		b, err := packing.EncodeLayout(c.chunks)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !c.ok {
			continue
		}
		if got, err := packing.DecodeLayout(b); err != nil || !cmp.Equal(got, c.chunks) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	chunk := func(start int64, length uint64) []byte {
		b := binary.AppendVarint([]byte{1, 1}, start)
		b = append(binary.AppendUvarint(b, length), 0)
		return append(b, make([]byte, 16)...)
	}
	for _, c := range []struct {
		start  int64
		length uint64
		ok     bool
	}{
		{7, 3, true}, {most - 3, 3, true}, {most - 3, 4, false}, {most, 1, false}, {0, most, true}, {0, most + 1, false},
		{-1, 3, false}, {-most, 1, false}, {most + 1, 0, false}, {math.MinInt64, 0, false},
	} {
		got, err := packing.DecodeLayout(chunk(c.start, c.length))
		if (err == nil) != c.ok || c.ok && (got[0].Start != int(c.start) || got[0].End != int(c.start)+int(c.length)) {
			t.Errorf("%d bytes from %d: %v, %v", c.length, c.start, got, err)
		}
	}
	if _, err := packing.DecodeLayout(append([]byte{2}, chunk(0, 1)[1:]...)); err == nil {
		t.Error("another version was read")
	}
}

// What a blob claims to hold takes no memory before its bytes are there.
func TestAClaimTakesNoMemory(t *testing.T) {
	const size = 20_000
	for name, decode := range map[string]func(claim uint64) error{
		"layout": func(claim uint64) error {
			b := binary.AppendUvarint([]byte{1}, claim)
			_, err := packing.DecodeLayout(append(b, make([]byte, size)...))
			return err
		},
		"dense": func(claim uint64) error {
			b := binary.AppendUvarint(binary.AppendUvarint([]byte{1}, claim), 1)
			_, err := packing.DecodeDense(append(b, make([]byte, size)...))
			return err
		},
		"sparse": func(claim uint64) error {
			b := binary.AppendUvarint([]byte{1}, claim)
			_, err := packing.DecodeSparse(append(b, bytes.Repeat([]byte{1}, size)...))
			return err
		},
	} {
		for _, claim := range []uint64{size, 15 * size, 1 << 24, 1 << 40, math.MaxUint64} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := decode(claim)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 40*size {
				t.Errorf("%s of %d: %v, %d bytes allocated", name, claim, err, took)
			}
		}
	}
}

// Stored vectors are these bytes and no others.
func TestVectorsAreTheseBytes(t *testing.T) {
	dense := port.Dense{Dim: 3, Data: []float32{1, -2, 0.5, 0, 65504, 0x1p-24}}
	want := []byte{1, 2, 3, 0, 0x3c, 0, 0xc0, 0, 0x38, 0, 0, 0xff, 0x7b, 1, 0}
	b, err := packing.EncodeDense(dense, 2)
	if err != nil || !bytes.Equal(b, want) {
		t.Fatalf("%v, %v; want %v", b, err, want)
	}
	if got, err := packing.DecodeDense(want); err != nil || !cmp.Equal(got, dense) {
		t.Fatalf("%v, %v", got, err)
	}
	sparse := port.Sparse{Rows: []uint32{0, 2, 2, 3}, Terms: []uint32{0, 300, math.MaxUint32}, Weights: []float32{1, 0.5, 2}}
	want = []byte{1, 3,
		2, 1, 172, 2, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f,
		0,
		1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0, 0x40,
	}
	if b, err = packing.EncodeSparse(sparse, 3); err != nil || !bytes.Equal(b, want) {
		t.Fatalf("%v, %v; want %v", b, err, want)
	}
	if got, err := packing.DecodeSparse(want); err != nil || !cmp.Equal(got, sparse) {
		t.Fatalf("%v, %v", got, err)
	}
	// None at all is nothing stored.
	if b, err := packing.EncodeDense(port.Dense{Dim: 3}, 2); b != nil || err != nil {
		t.Errorf("dense: %v, %v", b, err)
	}
	if b, err := packing.EncodeSparse(port.Sparse{}, 2); b != nil || err != nil {
		t.Errorf("sparse: %v, %v", b, err)
	}
	if d, err := packing.DecodeDense(nil); d.Data != nil || err != nil {
		t.Errorf("dense: %v, %v", d, err)
	}
	if s, err := packing.DecodeSparse(nil); s.Rows != nil || err != nil {
		t.Errorf("sparse: %v, %v", s, err)
	}
}

// A vector of as many dimensions as there may be is stored; what does not fit its chunks, or is no number, is refused,
// with the row that has it.
func TestVectorsHaveBounds(t *testing.T) {
	const most = 1 << 16
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name string
		d    port.Dense
		rows int
		says string // "": it is stored
	}{
		{"the longest", port.Dense{Dim: most, Data: make([]float32, most)}, 1, ""},
		{"no rows", port.Dense{Dim: 4, Data: []float32{}}, 0, ""},
		{"longer", port.Dense{Dim: most + 1, Data: make([]float32, most+1)}, 1, "65537 dimensions"},
		{"of none", port.Dense{Data: []float32{}}, 0, "0 dimensions"},
		{"of less than none", port.Dense{Dim: -1, Data: []float32{1}}, -1, "-1 dimensions"},
		{"too few", port.Dense{Dim: 2, Data: []float32{1, 2}}, 2, "2 values of 2 dimensions for 2 chunks"},
		{"too many", port.Dense{Dim: 2, Data: []float32{1, 2, 3, 4}}, 1, "for 1 chunks"},
		{"not a number", port.Dense{Dim: 2, Data: []float32{1, 2, 3, 4, 5, nan}}, 3, "value NaN of row 2"},
		{"infinite", port.Dense{Dim: 2, Data: []float32{1, 2, inf, 4}}, 2, "value +Inf of row 1"},
		{"the first", port.Dense{Dim: 2, Data: []float32{-70000, 2}}, 1, "value -70000 of row 0"},
	} {
		b, err := packing.EncodeDense(c.d, c.rows)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("dense, %s: %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if got, derr := packing.DecodeDense(b); err != nil || derr != nil || !cmp.Equal(got, c.d) {
			t.Errorf("dense, %s: %v, %v", c.name, err, derr)
		}
	}
	for _, c := range []struct {
		name string
		s    port.Sparse
		rows int
		says string
	}{
		{"many empty rows", port.Sparse{Rows: make([]uint32, 51)}, 50, ""},
		{"too few rows", port.Sparse{Rows: []uint32{0}}, 1, "1 row offsets"},
		{"too many rows", port.Sparse{Rows: []uint32{0, 0, 0}}, 1, "3 row offsets"},
		{"a late start", port.Sparse{Rows: []uint32{1, 1}, Terms: []uint32{1}, Weights: []float32{1}}, 1, "2 row offsets"},
		{"an early end", port.Sparse{Rows: []uint32{0, 1}, Terms: []uint32{1, 2}, Weights: []float32{1, 1}}, 1, "2 terms"},
		{"a weight less", port.Sparse{Rows: []uint32{0, 2}, Terms: []uint32{1, 2}, Weights: []float32{1}}, 1, "1 weights"},
		{"rows that fall", port.Sparse{Rows: []uint32{0, 2, 1, 2}, Terms: []uint32{1, 2}, Weights: []float32{1, 1}}, 3,
			"row 1 spans 2 to 1"},
		{"rows beyond", port.Sparse{Rows: []uint32{0, 3, 2}, Terms: []uint32{1, 2}, Weights: []float32{1, 1}}, 2,
			"row 0 spans 0 to 3"},
		{"a term twice", port.Sparse{Rows: []uint32{0, 2}, Terms: []uint32{7, 7}, Weights: []float32{1, 1}}, 1,
			"term 7 after 7"},
		{"no weight", port.Sparse{Rows: []uint32{0, 1}, Terms: []uint32{7}, Weights: []float32{0}}, 1, "weight 0"},
		{"below", port.Sparse{Rows: []uint32{0, 1}, Terms: []uint32{7}, Weights: []float32{-1}}, 1, "weight -1"},
		{"not a number", port.Sparse{Rows: []uint32{0, 1}, Terms: []uint32{7}, Weights: []float32{nan}}, 1, "weight NaN"},
		{"infinite", port.Sparse{Rows: []uint32{0, 1}, Terms: []uint32{7}, Weights: []float32{inf}}, 1, "weight +Inf"},
	} {
		b, err := packing.EncodeSparse(c.s, c.rows)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("sparse, %s: %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if got, derr := packing.DecodeSparse(b); err != nil || derr != nil || !cmp.Equal(got, c.s) {
			t.Errorf("sparse, %s: %v, %v", c.name, err, derr)
		}
	}
}

// Bytes that no encoder writes are refused, also where a length alone would let them pass.
func TestDamagedVectorsAreRefused(t *testing.T) {
	weight := func(f float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)) }
	one, inf := weight(1), weight(float32(math.Inf(1)))
	for name, b := range map[string][]byte{
		"version":            {2, 1, 1, 0, 0},
		"no dimensions":      {1, 3, 0},
		"too many":           {1, 0, 0x81, 0x80, 4}, // 65537 dimensions of no row
		"a byte too few":     {1, 1, 2, 0, 0, 0},
		"a byte too many":    {1, 1, 1, 0, 0, 0},
		"infinite":           {1, 1, 1, 0, 0x7c},
		"the fifth infinite": {1, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfc},
		"the first of four":  {1, 4, 1, 0, 0x7c, 0, 0, 0, 0, 0, 0},
		"the second of four": {1, 4, 1, 0, 0, 0, 0x7c, 0, 0, 0, 0},
		"the third of four":  {1, 4, 1, 0, 0, 0, 0, 0, 0x7c, 0, 0},
		"the last of four":   {1, 4, 1, 0, 0, 0, 0, 0, 0, 1, 0x7e},
	} {
		if d, err := packing.DecodeDense(b); err == nil {
			t.Errorf("dense, %s: %v", name, d)
		}
	}
	if d, err := packing.DecodeDense([]byte{1, 0, 0x80, 0x80, 4}); err != nil || d.Dim != 1<<16 {
		t.Errorf("no row of 65536 dimensions: %v, %v", d.Dim, err)
	}
	for name, b := range map[string][]byte{
		"version":           {2, 0},
		"no step":           slices.Concat([]byte{1, 1, 1, 0}, one),
		"past all terms":    slices.Concat([]byte{1, 1, 2, 1, 0x80, 0x80, 0x80, 0x80, 0x10}, one, one),
		"a step too far":    slices.Concat([]byte{1, 1, 1, 0x81, 0x80, 0x80, 0x80, 0x10}, one),
		"no weight":         slices.Concat([]byte{1, 1, 1, 1}, weight(0)),
		"infinite":          slices.Concat([]byte{1, 1, 1, 1}, inf),
		"the second weight": slices.Concat([]byte{1, 1, 2, 1, 1}, one, inf),
		"a byte too many":   slices.Concat([]byte{1, 1, 1, 1}, one, []byte{0}),
		"a row too few":     {1, 2, 0},
	} {
		if s, err := packing.DecodeSparse(b); err == nil {
			t.Errorf("sparse, %s: %v", name, s)
		}
	}
}
