package ingest_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// model answers what it is told, well formed or not.
type model struct {
	dense  func(rows int) port.Dense
	sparse func(rows int) port.Sparse
}

func (model) Info() port.ModelInfo { return port.ModelInfo{ID: "m", Dimensions: 2} }
func (model) Close() error         { return nil }
func (m model) Embed(_ context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	return m.dense(len(texts)), nil
}
func (m model) Encode(_ context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	return m.sparse(len(texts)), nil
}

func unit(rows int) port.Dense {
	d := port.Dense{Dim: 2}
	for range rows {
		d.Data = append(d.Data, .6, .8)
	}
	return d
}

func oneTerm(rows int) port.Sparse {
	v := port.Sparse{Rows: []uint32{0}}
	for i := range rows {
		v.Rows = append(v.Rows, uint32(i+1))
		v.Terms, v.Weights = append(v.Terms, 7), append(v.Weights, 1)
	}
	return v
}

func TestEncodeRefusesMalformedVectors(t *testing.T) {
	nan := float32(math.NaN())
	for name, m := range map[string]model{
		"too few rows":       {dense: func(n int) port.Dense { return unit(n - 1) }},
		"other dimension":    {dense: func(n int) port.Dense { return port.Dense{Dim: 1, Data: make([]float32, n)} }},
		"not a number":       {dense: func(n int) port.Dense { d := unit(n); d.Data[0] = nan; return d }},
		"longer than a unit": {dense: func(n int) port.Dense { d := unit(n); d.Data[1] = 3; return d }},
		"no sparse rows":     {dense: unit, sparse: func(int) port.Sparse { return port.Sparse{} }},
		"terms fall": {dense: unit, sparse: func(int) port.Sparse {
			return port.Sparse{Rows: []uint32{0, 2}, Terms: []uint32{9, 3}, Weights: []float32{1, 1}}
		}},
		"a term twice": {dense: unit, sparse: func(int) port.Sparse {
			return port.Sparse{Rows: []uint32{0, 2}, Terms: []uint32{3, 3}, Weights: []float32{1, 1}}
		}},
		"rows fall": {dense: unit, sparse: func(int) port.Sparse { return port.Sparse{Rows: []uint32{1, 0}} }},
		"rows past the end": {dense: unit, sparse: func(int) port.Sparse {
			return port.Sparse{Rows: []uint32{0, 5}, Terms: []uint32{1}, Weights: []float32{1}}
		}},
		"weight of zero": {dense: unit, sparse: func(int) port.Sparse {
			return port.Sparse{Rows: []uint32{0, 1}, Terms: []uint32{1}, Weights: []float32{0}}
		}},
		"endless weight": {dense: unit, sparse: func(int) port.Sparse {
			return port.Sparse{Rows: []uint32{0, 1}, Terms: []uint32{1}, Weights: []float32{float32(math.Inf(1))}}
		}},
	} {
		e := ingest.Encoder{Embedder: m, Sparse: m, Options: chunk.Default()}
		_, err := e.Encode(t.Context(), chunk.Untitled("One sentence."), m.sparse != nil, make([]ingest.Reuse, 1))
		if fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: got %v, want upstream_error", name, err)
		}
	}
}

// A text may have no term that a sparse model knows.
func TestEncodeTakesAnEmptySparseVector(t *testing.T) {
	m := model{dense: unit, sparse: func(rows int) port.Sparse { return port.Sparse{Rows: make([]uint32, rows+1)} }}
	e := ingest.Encoder{Embedder: m, Sparse: m, Options: chunk.Default()}
	got, err := e.Encode(t.Context(), chunk.Untitled("One sentence."), true, make([]ingest.Reuse, 1))
	if err != nil || len(got[0].Vectors.Sparse.Rows) != 2 || len(got[0].Vectors.Sparse.Terms) != 0 {
		t.Errorf("encoded as %+v, %v", got, err)
	}
}

// Text that is all paragraph breaks makes a chunk of every three bytes: such a
// call is refused before its vectors take the memory.
func TestEncodeBoundsChunks(t *testing.T) {
	m := model{dense: unit}
	e := ingest.Encoder{Embedder: m, Options: chunk.Default()}
	hostile := strings.Repeat("a\n\n", 1000)
	encode := func(chunks int) error {
		texts := slices.Repeat([]string{hostile}, chunks/1000)
		texts = append(texts, strings.Repeat("a\n\n", chunks%1000))
		_, err := e.Encode(t.Context(), chunk.Untitled(texts...), false, make([]ingest.Reuse, len(texts)))
		return err
	}
	if err := encode(ingest.MaxChunks); err != nil {
		t.Errorf("within the bound: %v", err)
	}
	if err := encode(ingest.MaxChunks + 1); fault.CodeOf(err) != fault.PayloadTooLarge {
		t.Errorf("beyond the bound: got %v, want payload_too_large", err)
	}
}

func TestEncodeKeepsVectorsOfStoredChunks(t *testing.T) {
	calls := 0
	m := model{dense: func(n int) port.Dense { calls += n; return unit(n) },
		sparse: func(n int) port.Sparse { return oneTerm(n) }}
	e := ingest.Encoder{Embedder: m, Sparse: m, Options: chunk.Default()}
	first, err := e.Encode(t.Context(), chunk.Untitled("First paragraph.\n\nSecond paragraph."), true, make([]ingest.Reuse, 1))
	if err != nil || len(first[0].Chunks) != 2 || calls != 2 {
		t.Fatalf("%d chunks, %d embedded, %v", len(first[0].Chunks), calls, err)
	}
	again, err := e.Encode(t.Context(), chunk.Untitled("First paragraph.\n\nAnother paragraph.\n\nSecond paragraph."), true,
		[]ingest.Reuse{ingest.NewReuse(first[0].Chunks, first[0].Vectors)})
	if err != nil || len(again[0].Chunks) != 3 || calls != 3 {
		t.Fatalf("%d chunks, %d embedded in all, %v", len(again[0].Chunks), calls, err)
	}
	if v := again[0].Vectors; len(v.Dense.Data) != 6 || len(v.Sparse.Rows) != 4 {
		t.Fatalf("vectors %+v", v)
	}
}
