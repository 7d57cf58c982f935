package ingest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// named is a model that is known by its digest.
type named struct {
	model
	digest string
}

func (n *named) Info() port.ModelInfo {
	return port.ModelInfo{ID: "model " + n.digest, Digest: n.digest, Dimensions: 2}
}

// served is encoders of these models, "" for one that is off, and of one embedder and
// one sparse encoder before them.
func served(embedder, sparse string) *ingest.Encoders {
	e := &ingest.Encoder{Options: chunk.Default()}
	if embedder != "" {
		e.Embedder = &named{digest: embedder}
	}
	if sparse != "" {
		e.Sparse = &named{digest: sparse}
	}
	return ingest.NewEncoders(e, ingest.Previous{Embedders: []port.Embedder{&named{digest: "old"}},
		Sparse: []port.SparseEncoder{&named{digest: "old-sparse"}}})
}

// digests says which models an encoder has.
func digests(e *ingest.Encoder) (embedder, sparse string) {
	if e.Embedder != nil {
		embedder = e.Embedder.Info().Digest
	}
	if e.Sparse != nil {
		sparse = e.Sparse.Info().Digest
	}
	return embedder, sparse
}

// A partition keeps the models that its vectors are of, whether they are configured now
// or were before; without documents it gets the configured ones. One whose models are
// not loaded is refused, and one whose models are not the configured ones is to be
// reindexed. What is off is no mismatch.
func TestAPartitionKeepsItsModels(t *testing.T) {
	type pair struct{ embedder, sparse string }
	current, before := pair{"new", "new-sparse"}, pair{"old", "old-sparse"}
	for name, c := range map[string]struct {
		configured pair
		stored     pair
		empty      bool
		want       pair
		refused    string // the kind of model that is not loaded
		stale      bool
	}{
		"the configured":         {current, current, false, current, "", false},
		"those before":           {current, before, false, before, "", true},
		"one of those before":    {current, pair{"old", "new-sparse"}, false, pair{"old", "new-sparse"}, "", true},
		"the other":              {current, pair{"new", "old-sparse"}, false, pair{"new", "old-sparse"}, "", true},
		"without documents":      {current, before, true, current, "", true},
		"never sparse":           {current, pair{"old", ""}, false, pair{"old", "new-sparse"}, "", true},
		"nothing stored":         {current, pair{"", ""}, false, current, "", false},
		"unknown embedder":       {current, pair{"gone", "new-sparse"}, false, current, "embedding", true},
		"unknown sparse encoder": {current, pair{"new", "gone"}, false, current, "sparse", true},
		"both off":               {pair{"", ""}, pair{"gone", "gone"}, false, pair{"", ""}, "", false},
		"off, and one before":    {pair{"", ""}, before, false, before, "", false},
	} {
		n := port.PartitionRow{Name: "docs", Documents: 1, EmbeddingDigest: c.stored.embedder,
			SparseDigest: c.stored.sparse}
		if c.empty {
			n.Documents = 0
		}
		e := served(c.configured.embedder, c.configured.sparse)
		of := e.For(n)
		embedder, sparse := digests(of)
		if got := (pair{embedder, sparse}); got != c.want || (of == e.Configured()) != (c.want == c.configured) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := e.Stale(n); got != c.stale {
			t.Errorf("%s: stale %t", name, got)
		}
		err := e.Check(n)
		if (err == nil) != (c.refused == "") || err != nil && fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
		want := ""
		switch c.refused {
		case "embedding":
			want = `conflict: namespace "docs" was indexed by embedding model  (gone); this server is configured with ` +
				"model new (new)."
		case "sparse":
			want = `conflict: namespace "docs" was indexed by sparse model  (gone); this server is configured with ` +
				"model new-sparse (new-sparse)."
		}
		if err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Other options of chunking leave the models as they are.
func TestEncodersWithOtherChunks(t *testing.T) {
	whole := chunk.Default()
	whole.Whole = true
	e := served("new", "new-sparse")
	other := e.With(whole)
	if !other.Configured().Options.Whole || e.Configured().Options.Whole || !other.Configured().SameModels(e.Configured()) {
		t.Errorf("%+v beside %+v", other.Configured(), e.Configured())
	}
	if embedder, _ := digests(other.ByDigests("old", "")); embedder != "old" {
		t.Errorf("the model before is %q", embedder)
	}
}

// A vector in context is the mean of the text's own and of that with what was said
// before it, not brought back to unit length (docs/quality.md).
func TestInContextIsTheMean(t *testing.T) {
	e := &ingest.Encoder{Embedder: model{dense: unit}}
	got, err := e.InContext(t.Context(), [][]float32{{1, 0}, {0, -0.5}}, []string{"a", "b"})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	for i, want := range [][]float32{{.8, .4}, {.3, .15}} {
		if !slices.EqualFunc(got[i], want, func(a, b float32) bool { return a-b < 1e-3 && b-a < 1e-3 }) {
			t.Errorf("%d: %v, want %v", i, got[i], want)
		}
	}
	if got, err := e.InContext(t.Context(), nil, nil); got != nil || err != nil {
		t.Errorf("nothing: %v, %v", got, err)
	}
	e.Embedder = model{dense: func(n int) port.Dense { return unit(n - 1) }}
	if _, err := e.InContext(t.Context(), [][]float32{{1, 0}}, []string{"a"}); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("too few vectors: %v", err)
	}
}

// Nothing to embed asks no model, and terms of a sparse vector rise strictly.
func TestWhatIsNotNewIsNotEmbedded(t *testing.T) {
	never := model{dense: func(int) port.Dense { t.Error("embedded"); return port.Dense{} }}
	e := ingest.Encoder{Embedder: never, Options: chunk.Default()}
	if got, err := e.Encode(context.Background(), nil, false, nil); err != nil || len(got) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
	for name, c := range map[string]struct {
		v    port.Sparse
		fits bool
	}{
		"rising":   {port.Sparse{Rows: []uint32{0, 2}, Terms: []uint32{3, 4}, Weights: []float32{1, .5}}, true},
		"repeated": {port.Sparse{Rows: []uint32{0, 2}, Terms: []uint32{3, 3}, Weights: []float32{1, 1}}, false},
		"none":     {port.Sparse{Rows: []uint32{0, 0}}, true},
	} {
		m := model{dense: unit, sparse: func(int) port.Sparse { return c.v }}
		e := ingest.Encoder{Embedder: m, Sparse: m, Options: chunk.Default()}
		if _, err := e.Encode(t.Context(), []string{"One."}, true, make([]ingest.Reuse, 1)); (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
