package dataset_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// An id names files, so nothing but what NewID makes is one.
func TestIDs(t *testing.T) {
	good := dataset.NewID()
	if other := dataset.NewID(); other == good {
		t.Errorf("two data sets are called %s", good)
	}
	for id, ok := range map[string]bool{
		good:                            true,
		"set_0123456789abcdef01234567":  true,
		"":                              false,
		"set_":                          false,
		"set_0123456789abcdef0123456":   false,
		"set_0123456789abcdef012345678": false,
		"set_0123456789ABCDEF01234567":  false,
		"set_../../../../../planted_1":  false,
		"x/../../../planted_1":          false,
		"tes_0123456789abcdef01234567":  false,
	} {
		var out bytes.Buffer
		w := dataset.NewWriter(&out)
		_, err := w.Write(dataset.KindHeader, dataset.Header{Format: dataset.Format, Version: dataset.Version, ID: id})
		if err != nil {
			t.Fatal(err)
		}
		_, err = dataset.NewScan(&out).Next()
		var damaged *dataset.Damaged
		if ok && err != nil || !ok && !errors.As(err, &damaged) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// What an index and a query rely on is checked before it is stored.
func TestVectorsFitTheirChunks(t *testing.T) {
	const text = "aä b"
	models := &dataset.Models{Dimensions: 2}
	dense := port.Dense{Dim: 2, Data: []float32{1, 0, 0, -1}}
	two := []port.Chunk{{Start: 0, End: 3}, {Start: 3, End: 5}}
	none, empty := port.Sparse{}, port.Sparse{Rows: []uint32{0, 0, 0}}
	one := port.Sparse{Rows: []uint32{0, 1, 1}, Terms: []uint32{7}, Weights: []float32{1}}
	row := func(v ...float32) port.Dense { return port.Dense{Dim: len(v), Data: v} }
	for name, c := range map[string]struct {
		says   string // "": it is good
		chunks []port.Chunk
		dense  port.Dense
		sparse port.Sparse
		of     *dataset.Models
	}{
		"as written":                {"", two, dense, one, models},
		"no chunks":                 {"", []port.Chunk{}, port.Dense{}, none, models},
		"nothing but text":          {"", nil, port.Dense{}, none, nil},
		"beyond the text":           {"chunk 1 does not lie", []port.Chunk{{End: 3}, {Start: 3, End: 6}}, dense, none, models},
		"begins beyond the text":    {"chunk 0 does not lie", []port.Chunk{{Start: 6, End: 6}, {End: 1}}, dense, none, models},
		"ends in a character":       {"chunk 0 does not lie", []port.Chunk{{End: 2}, {Start: 3, End: 5}}, dense, none, models},
		"begins in a character":     {"chunk 1 does not lie", []port.Chunk{{End: 3}, {Start: 2, End: 5}}, dense, none, models},
		"context that is no text":   {"chunk 0 does not lie", []port.Chunk{{Context: "\xff"}, {End: 1}}, dense, none, models},
		"too few vectors":           {"no vectors of 2 chunks", two, row(1, 0), none, models},
		"no vectors":                {"have no vectors", two, port.Dense{}, none, models},
		"of other dimensions":       {"4 dimensions", two[:1], row(1, 0, 0, 0), none, models},
		"of no models":              {"no vectors", two, dense, none, nil},
		"longer than one":           {"unit length", two[:1], row(1.5, 0), none, models},
		"longer, the other way":     {"unit length", two[:1], row(0, -2), none, models},
		"too many sparse vectors":   {"2 sparse vectors of 1", two[:1], row(1, 0), empty, models},
		"vectors and no dimensions": {"", two, port.Dense{}, none, &dataset.Models{}},
	} {
		t.Run(name, func(t *testing.T) {
			d := dataset.Document{ID: "a", Text: text, TextHash: sum(text)}
			var err error
			if c.chunks != nil {
				if d.Layout, err = packing.EncodeLayout(c.chunks); err != nil {
					t.Fatal(err)
				}
			}
			if c.dense.Data != nil {
				if d.Dense, err = packing.EncodeDense(c.dense, len(c.dense.Data)/c.dense.Dim); err != nil {
					t.Fatal(err)
				}
			}
			if c.sparse.Rows != nil {
				if d.Sparse, err = packing.EncodeSparse(c.sparse, len(c.sparse.Rows)-1); err != nil {
					t.Fatal(err)
				}
			}
			err = wellFormed(t, line{dataset.KindNamespace, dataset.Namespace{Models: c.of}}, line{dataset.KindDocument, d})
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("it says %v", err)
			}
		})
	}
	// What no program of ours writes: half floats that are no numbers.
	d := dataset.Document{ID: "a", Text: text, TextHash: sum(text)}
	var err error
	if d.Layout, err = packing.EncodeLayout(two[:1]); err != nil {
		t.Fatal(err)
	}
	if d.Dense, err = packing.EncodeDense(port.Dense{Dim: 2, Data: []float32{.5, 0}}, 1); err != nil {
		t.Fatal(err)
	}
	d.Dense = bytes.Replace(d.Dense, []byte{0, 0x38}, []byte{0, 0x7e}, 1)
	if err := wellFormed(t, line{dataset.KindNamespace, dataset.Namespace{Models: models}},
		line{dataset.KindDocument, d}); err == nil {
		t.Error("a vector of no numbers is taken")
	}
	own, err := packing.EncodeDense(port.Dense{Dim: 2, Data: []float32{0, 1}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for dimensions, ok := range map[int]bool{2: true, 3: false} {
		err := wellFormed(t, line{dataset.KindNamespace, dataset.Namespace{Models: &dataset.Models{Dimensions: dimensions}}},
			line{dataset.KindLink, dataset.Link{ID: "a", Context: "b", Own: own}})
		if (err == nil) != ok {
			t.Errorf("a link of %d dimensions: %v", dimensions, err)
		}
	}
}
