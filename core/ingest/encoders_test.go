package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// named is a sparse model with a digest of its own.
type named struct {
	coretest.SparseEncoder
	digest string
}

func (n *named) Info() port.ModelInfo { return port.ModelInfo{ID: n.digest, Digest: n.digest} }

// A partition is served with the models that its vectors are of, as long as these are
// loaded; a model that is off is no other model.
func TestAPartitionHasItsModels(t *testing.T) {
	dense := func(digest string) *coretest.Embedder { return &coretest.Embedder{Digest: digest} }
	sparse := func(digest string) *named { return &named{digest: digest} }
	configured := &ingest.Encoder{Embedder: dense("new"), Sparse: sparse("new sparse"), Options: chunk.Default()}
	before := ingest.Previous{
		Embedders: []port.Embedder{dense("old"), dense("older")},
		Sparse:    []port.SparseEncoder{sparse("old sparse"), sparse("older sparse")},
	}
	all := ingest.NewEncoders(configured, before)
	offSparse := ingest.NewEncoders(&ingest.Encoder{Embedder: configured.Embedder}, before)
	off := ingest.NewEncoders(&ingest.Encoder{Sparse: configured.Sparse}, before)
	for name, c := range map[string]struct {
		of                *ingest.Encoders
		documents         int64
		embedding, sparse string
		want              string // the models that it is served with
		refused, stale    bool
	}{
		"configured":              {all, 1, "new", "new sparse", "new, new sparse", false, false},
		"plain":                   {all, 1, "new", "", "new, new sparse", false, false},
		"before":                  {all, 1, "old", "old sparse", "old, old sparse", false, true},
		"long before":             {all, 1, "older", "older sparse", "older, older sparse", false, true},
		"another embedding model": {all, 1, "old", "new sparse", "old, new sparse", false, true},
		"another sparse model":    {all, 1, "new", "old sparse", "new, old sparse", false, true},
		"empty":                   {all, 0, "old", "old sparse", "new, new sparse", false, true},
		"not loaded":              {all, 1, "gone", "new sparse", "new, new sparse", true, true},
		"sparse not loaded":       {all, 1, "new", "gone", "new, new sparse", true, true},
		"sparse off":              {offSparse, 1, "new", "gone", "new, off", false, false},
		"sparse off, of before":   {offSparse, 1, "new", "old sparse", "new, old sparse", false, false},
		"off":                     {off, 1, "gone", "new sparse", "off, new sparse", false, false},
		"off, of before":          {off, 1, "old", "new sparse", "old, new sparse", false, false},
		"none":                    {all, 1, "", "", "new, new sparse", false, false},
	} {
		row := port.PartitionRow{Name: "docs", Documents: c.documents, EmbeddingDigest: c.embedding, SparseDigest: c.sparse}
		got := c.of.For(row)
		have := []string{"off", "off"}
		if got.Embedder != nil {
			have[0] = got.Embedder.Info().Digest
		}
		if got.Sparse != nil {
			have[1] = got.Sparse.Info().Digest
		}
		if s := strings.Join(have, ", "); s != c.want {
			t.Errorf("%s: served with %s, want %s", name, s, c.want)
		}
		if own := c.of.Configured(); (got == own) != got.SameModels(own) {
			t.Errorf("%s: the configured models are not the configured encoder", name)
		}
		err := c.of.Check(row)
		if (fault.CodeOf(err) == fault.Conflict) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v, want it refused %v", name, err, c.refused)
		}
		if stale := c.of.Stale(row); stale != c.stale {
			t.Errorf("%s: stale is %v", name, stale)
		}
	}
	cut := port.PartitionRow{Name: "docs", Documents: 1, EmbeddingDigest: "new", SparseDigest: "new sparse"}
	for chunker, stale := range map[string]bool{"": false, "1": true, chunk.Version: false} {
		if cut.Chunker = chunker; all.Stale(cut) != stale || off.Stale(cut) {
			t.Errorf("cut by rules %q: stale is %v, with models off %v", chunker, all.Stale(cut), off.Stale(cut))
		}
	}
	if cut.Chunker = "1"; all.With(chunk.Options{MaxTokens: 160, Whole: true}).Stale(cut) {
		t.Error("memories cut by other rules are stale")
	}
	if o := all.With(chunk.Options{}); o.Configured().Options != (chunk.Options{}) || configured.Options != chunk.Default() ||
		o.Of(port.PartitionRow{EmbeddingDigest: "older"}).Embedder != before.Embedders[1] {
		t.Error("other options change what they should not")
	}
}

// counted is a model that fails where it is told to, and remembers whose tokens it counted.
type counted struct {
	model
	fails   error
	counted []string
}

func (m *counted) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	if m.fails != nil {
		return port.Dense{}, m.fails
	}
	return m.model.Embed(ctx, as, texts)
}

func (m *counted) CountTokens(_ context.Context, texts []string) ([]int, error) {
	for _, text := range texts {
		m.counted = append(m.counted, text[:min(len(text), 10)])
	}
	return make([]int, len(texts)), nil
}

// A chunk at which a model fails names its text, of those that have chunks to encode.
func TestTheTextThatFailsIsNamed(t *testing.T) {
	m := &counted{model: model{dense: unit}}
	e := ingest.Encoder{Embedder: m, Options: chunk.Default()}
	texts := []string{"Stored.", "First paragraph.\n\nSecond paragraph.", "Third."}
	stored, err := e.Encode(t.Context(), chunk.Untitled(texts[:1]...), false, make([]ingest.Reuse, 1))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for at, want := range map[int]int{0: 1, 1: 1, 2: 2} {
		m.fails = &port.TextError{Text: at, Err: broken}
		_, err := e.Encode(t.Context(), chunk.Untitled(texts...), false,
			[]ingest.Reuse{ingest.NewReuse(stored[0].Chunks, stored[0].Vectors), {}, {}})
		var named *port.TextError
		if !errors.As(err, &named) || named.Text != want || !errors.Is(err, broken) {
			t.Errorf("chunk %d: %+v, want text %d", at, named, want)
		}
	}
	for _, fails := range []error{broken, &port.TextError{Text: 3, Err: broken}, &port.TextError{Text: -1, Err: broken}} {
		m.fails = fails
		if _, err := e.Encode(t.Context(), chunk.Untitled(texts[1:]...), false, make([]ingest.Reuse, 2)); !errors.Is(err, fails) {
			t.Errorf("a place that there is not: %v, want %v", err, fails)
		}
	}
}

// What is stored is what an index gets: vectors that a store may keep, as half floats.
func TestVectorsAreRounded(t *testing.T) {
	m := model{dense: func(n int) port.Dense {
		d := unit(n)
		for i := range n {
			d.Data[2*i], d.Data[2*i+1] = .1, .99
		}
		return d
	}}
	e := ingest.Encoder{Embedder: m, Options: chunk.Default()}
	got, err := e.Encode(t.Context(), chunk.Untitled("One."), false, make([]ingest.Reuse, 1))
	if want := []float32{0.099975586, 0.9902344}; err != nil || fmt.Sprint(got[0].Vectors.Dense.Data) != fmt.Sprint(want) {
		t.Errorf("encoded as %v, %v; want %v", got, err, want)
	}
}

// A vector in context is half of the turn alone and half of both turns.
func TestInContext(t *testing.T) {
	m := model{dense: func(n int) port.Dense {
		d := unit(n)
		for i := range n {
			d.Data[2*i], d.Data[2*i+1] = 0, float32(i)
		}
		return d
	}}
	e := ingest.Encoder{Embedder: m, Options: chunk.Default()}
	got, err := e.InContext(t.Context(), [][]float32{{.75, .25}, {.5, -.5}}, []string{"One.", "Two."})
	if want := "[[0.375 0.125] [0.25 0.25]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
	if got, err := e.InContext(t.Context(), nil, nil); err != nil || got != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	e.Embedder = model{dense: func(int) port.Dense { return port.Dense{Dim: 3} }}
	if _, err := e.InContext(t.Context(), [][]float32{{1, 0}}, []string{"One."}); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("of another length: %v", err)
	}
	broken := errors.New("broken")
	e.Embedder = &counted{fails: broken}
	if _, err := e.InContext(t.Context(), [][]float32{{1, 0}}, []string{"One."}); !errors.Is(err, broken) {
		t.Errorf("a model that fails: %v", err)
	}
}

// Texts are cut about a MiB at a time, so that what makes too many chunks is refused
// before all is cut.
func TestTooManyChunksAreRefusedEarly(t *testing.T) {
	m := &counted{model: model{dense: unit}}
	e := ingest.Encoder{Embedder: m, Options: chunk.Default()}
	hostile := strings.Repeat("a\n\n", ingest.MaxChunks+1)
	late := strings.Repeat("b ", 450_000)
	_, err := e.Split(t.Context(), chunk.Untitled(hostile, late))
	if fault.CodeOf(err) != fault.PayloadTooLarge {
		t.Errorf("answers %v, want payload_too_large", err)
	}
	if len(m.counted) == 0 {
		t.Fatal("nothing is counted")
	}
	for _, text := range m.counted {
		if strings.HasPrefix(text, "b") {
			t.Fatal("a text is cut that comes after too many chunks")
		}
	}
	large, err := e.Split(t.Context(), chunk.Untitled(strings.Repeat("a b. ", 210_000), "One.", "Two.")) // more than a MiB
	if err != nil || len(large) != 3 || len(large[1]) != 1 || len(large[2]) != 1 {
		t.Errorf("a large text and two small ones: %d, %v", len(large), err)
	}
}
