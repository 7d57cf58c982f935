package packing_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

func TestLayoutRoundTrip(t *testing.T) {
	contexts := rapid.SampledFrom([]string{"", "Guide", "Guide > Install", "Průvodce › Začínáme"})
	rapid.Check(t, func(t *rapid.T) {
		chunks := make([]port.Chunk, rapid.IntRange(0, 20).Draw(t, "chunks"))
		for i := range chunks {
			start := rapid.IntRange(0, 256<<10).Draw(t, "start") // any order: overlap is allowed
			chunks[i] = port.Chunk{Start: start, End: start + rapid.IntRange(0, 5000).Draw(t, "length"),
				Context: contexts.Draw(t, "context")}
			copy(chunks[i].Hash[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "hash"))
		}
		b, err := packing.EncodeLayout(chunks)
		if err != nil {
			t.Fatal(err)
		}
		got, err := packing.DecodeLayout(b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(chunks, got); d != "" {
			t.Fatal(d)
		}
		for cut := range b {
			if _, err := packing.DecodeLayout(b[:cut]); err == nil {
				t.Fatalf("decoded %d of %d bytes", cut, len(b))
			}
		}
		if _, err := packing.DecodeLayout(append(b, 0)); err == nil {
			t.Fatal("decoded with a byte too many")
		}
	})
}

func TestSparseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 6).Draw(t, "rows")
		s := port.Sparse{Rows: []uint32{0}}
		for range rows {
			term := int64(-1)
			for range rapid.IntRange(0, 8).Draw(t, "terms") {
				term += int64(rapid.IntRange(1, 300_000_000).Draw(t, "step"))
				s.Terms = append(s.Terms, uint32(term))
				s.Weights = append(s.Weights, rapid.Float32Range(1e-30, 1e30).Draw(t, "weight"))
			}
			s.Rows = append(s.Rows, uint32(len(s.Terms)))
		}
		b, err := packing.EncodeSparse(s, rows)
		if err != nil {
			t.Fatal(err)
		}
		got, err := packing.DecodeSparse(b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, got); d != "" {
			t.Fatal(d)
		}
		for cut := range b {
			if _, err := packing.DecodeSparse(b[:cut]); err == nil {
				t.Fatalf("decoded %d of %d bytes", cut, len(b))
			}
		}
	})
}

// TestHalfFloats sends every finite half float through a blob, where it must
// stay as it is, and checks that what lies between two goes to the nearer one,
// a tie to the even one.
func TestHalfFloats(t *testing.T) {
	value := func(h uint16) float64 { // IEEE 754-2008, section 3.4
		sign, exp, frac := 1.0, int(h>>10&31), float64(h&1023)
		if h&0x8000 != 0 {
			sign = -1
		}
		if exp == 0 {
			return sign * frac * 0x1p-24
		}
		return sign * math.Ldexp(1+frac/1024, exp-15)
	}
	var in, want []float32
	for h := range uint16(0x7c00) {
		v, next := value(h), value(h+1)
		for _, sign := range []float64{1, -1} {
			add := func(x, y float64) { in, want = append(in, float32(sign*x)), append(want, float32(sign*y)) }
			add(v, v)
			if h == 0x7bff {
				continue // the largest: above it lies infinity
			}
			middle := (v + next) / 2
			even := v
			if h&1 != 0 {
				even = next
			}
			add(middle, even)
			add(float64(math.Nextafter32(float32(middle), 0)), v)
			add(float64(math.Nextafter32(float32(middle), 1e9)), next)
		}
	}
	b, err := packing.EncodeDense(port.Dense{Dim: 1, Data: in}, len(in))
	if err != nil {
		t.Fatal(err)
	}
	got, err := packing.DecodeDense(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range in {
		if got.Data[i] != want[i] {
			t.Fatalf("%x became %x, want %x", in[i], got.Data[i], want[i])
		}
	}
	for _, v := range []float64{65520, 1e9, math.Inf(1), math.Inf(-1), math.NaN()} {
		if _, err := packing.EncodeDense(port.Dense{Dim: 1, Data: []float32{float32(v)}}, 1); err == nil {
			t.Errorf("%v was stored", v)
		}
	}
}

// The fuzz tests: a decoder takes any bytes without panic or more memory than
// the bytes account for, and what it accepts means the same after another trip.

func FuzzDecodeLayout(f *testing.F) {
	b, _ := packing.EncodeLayout([]port.Chunk{{Start: 0, End: 10, Context: "a"}, {Start: 5, End: 20, Context: "a"},
		{Start: 2, End: 3}})
	f.Add(b)
	f.Add([]byte{1, 0})
	f.Add([]byte{1, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		chunks, err := packing.DecodeLayout(b)
		if err != nil {
			return
		}
		again, err := packing.EncodeLayout(chunks)
		if err != nil {
			t.Fatal(err)
		}
		same, err := packing.DecodeLayout(again)
		if d := cmp.Diff(chunks, same); err != nil || d != "" {
			t.Fatal(err, d)
		}
	})
}

func FuzzDecodeVectors(f *testing.F) {
	dense, _ := packing.EncodeDense(port.Dense{Dim: 2, Data: []float32{1, -0.5, 0, 1e-7}}, 2)
	sparse, _ := packing.EncodeSparse(port.Sparse{Rows: []uint32{0, 2, 2}, Terms: []uint32{3, 900}, Weights: []float32{1, 2}}, 2)
	f.Add(dense)
	f.Add(sparse)
	f.Add([]byte{1, 255, 255, 255, 7, 255, 255, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := packing.DecodeDense(b); err == nil && d.Data != nil {
			again, err := packing.EncodeDense(d, len(d.Data)/d.Dim)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := packing.DecodeDense(again); err != nil || !cmp.Equal(d, same) {
				t.Fatal(err)
			}
		}
		if s, err := packing.DecodeSparse(b); err == nil && s.Rows != nil {
			again, err := packing.EncodeSparse(s, len(s.Rows)-1)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := packing.DecodeSparse(again); err != nil || !cmp.Equal(s, same) {
				t.Fatal(err, cmp.Diff(s, same))
			}
		}
	})
}

func BenchmarkDense(b *testing.B) {
	d := port.Dense{Dim: 384, Data: make([]float32, 5*384)}
	for i := range d.Data {
		d.Data[i] = float32(i%200-100) / 1000
	}
	blob, err := packing.EncodeDense(d, 5)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(blob)))
		for b.Loop() {
			_, _ = packing.EncodeDense(d, 5)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(blob)))
		for b.Loop() {
			_, _ = packing.DecodeDense(blob)
		}
	})
}
