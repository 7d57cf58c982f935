package packing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/packing"
)

// A packed row is these bytes and no others: backups are read by later releases.
func TestARowIsTheseBytes(t *testing.T) {
	t.Parallel()
	values := []any{nil, int64(-1), int64(300), "aé", []byte{7, 8}, "", []byte{}}
	want := []byte{0, 1, 1, 1, 0xd8, 4, 2, 3, 'a', 0xc3, 0xa9, 3, 2, 7, 8, 2, 0, 3, 0}
	got, err := packing.AppendRow(nil, values)
	if err != nil || !cmp.Equal(got, want) {
		t.Fatalf("%v, %v; want %v", got, err, want)
	}
	if back, err := packing.Row(want); err != nil || !cmp.Equal(back, values) {
		t.Fatalf("%v, %v", back, err)
	}
	if _, err := packing.AppendRow(nil, []any{1.5}); err == nil {
		t.Error("a number of another kind was packed")
	}
	for _, b := range [][]byte{{4}, {1}, {1, 0x80}, {2}, {2, 0x80}, {2, 1}, {3, 3, 1, 2}, {0, 2, 5, 'a'}} {
		if v, err := packing.Row(b); err == nil {
			t.Errorf("%v is %v", b, v)
		}
	}
}

func FuzzRow(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 1, 'a', 3, 1, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		values, err := packing.Row(b)
		if err != nil {
			return
		}
		again, err := packing.AppendRow(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := packing.Row(again); err != nil || !cmp.Equal(back, values) {
			t.Errorf("%v, %v; want %v", back, err, values)
		}
	})
}
