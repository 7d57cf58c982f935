package namespace_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/dataset/installation"
	"github.com/mnemehq/mneme/core/port"
)

// journal notes what an offline import has begun, in memory.
type journal map[dataset.Partition]int64

func (j journal) Begin(p dataset.Partition, before int64) error { j[p] = before; return nil }
func (j journal) End(p dataset.Partition) error                 { delete(j, p); return nil }

func (j journal) Started(p dataset.Partition) (before int64, begun bool) {
	before, begun = j[p]
	return before, begun
}

// TestMoves: a namespace goes from one server to another as it is: counts, hashes,
// texts, metadata, times and answers are the same, and nothing is embedded.
func TestMoves(t *testing.T) {
	for name, sparse := range map[string]bool{"plain": false, "sparse": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
			from.create("docs", sparse)
			docs := corpus(130)
			from.write("docs", docs...)
			from.write("docs", doc("d003", "It was rewritten later.", `{"quote":"<&> \u2028 \"","n":1.50}`))
			from.remove("docs", "d007")
			set := from.export("docs", true)
			e := coretest.End(t, set)
			if e.Counts.Documents != 129 || e.Counts.Namespaces != 1 || e.Counts.Chunks < 129 {
				t.Errorf("the end line counts %+v", e.Counts)
			}

			to := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
			got := to.brings("docs", dataset.Fail, set, tally{created: 129})
			if got.Hash != e.Hash || got.Chunks != e.Counts.Chunks || got.Sparse != sparse || got.Set == "" {
				t.Errorf("imported %+v; the end line has %+v", got, e)
			}
			if made := to.Embedder.TakePassages(); len(made) > 0 {
				t.Errorf("%d passages were embedded", len(made))
			}
			if again := coretest.End(t, to.export("docs", true)); again.Hash != e.Hash || again.Counts != e.Counts {
				t.Errorf("exported again: %+v, was %+v", again, e)
			}
			if was, is := from.stored("docs"), to.stored("docs"); !slices.Equal(was, is) || len(is) != 129 {
				t.Error("documents differ")
			}
			for _, q := range []coretest.Object{{"query": "rewritten later"}, {"query": docs[11]["text"], "top_k": 20},
				{"query": docs[12]["text"], "filter": coretest.Object{"parity": "1"}}} {
				if was, is := from.find("docs", q), to.find("docs", q); !slices.Equal(was, is) || len(is) == 0 {
					t.Errorf("%v finds %v, found %v", q["query"], is, was)
				}
			}

			// Again, under another name, and from a file of mneme export.
			to.brings("docs", dataset.Fail, set, tally{unchanged: 129})
			if again := coretest.End(t, to.export("docs", true)); again.Hash != e.Hash || again.Seq == 0 {
				t.Errorf("an import of the same changed something: %+v", again)
			}
			to.brings("other-name", dataset.Fail, set, tally{created: 129})
			if again := coretest.End(t, to.export("other-name", true)); again.Hash != e.Hash {
				t.Errorf("under another name: %+v, was %+v", again, e)
			}
			var file bytes.Buffer
			x := installation.Exporter{Store: from.Store.DocumentStore,
				Contents: dataset.Contents{Namespaces: []string{"docs"}, Vectors: true}}
			if _, err := x.Stream(t.Context(), &file); err != nil {
				t.Fatal(err)
			}
			to.brings("from-a-file", dataset.Fail, file.Bytes(), tally{created: 129})
			// What a server exported is imported offline.
			offline, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := &installation.Importer{Store: offline, Conflict: dataset.Fail, Journal: journal{}}
			if _, err := m.Check(t.Context(), bytes.NewReader(set)); err != nil {
				t.Error(err)
			}
			if result, err := m.Run(t.Context(), bytes.NewReader(set)); err != nil || result.Imported != 1 ||
				result.Documents != 129 {
				t.Errorf("offline: %+v, %v", result, err)
			}
			if err := offline.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// wider is an embedder of longer vectors, in which those of the first one lie elsewhere.
type wider struct{ *coretest.Embedder }

const widerBy = 32

func newWider() wider {
	e := coretest.NewEmbedder()
	e.Digest = "sha256:test-wider"
	return wider{e}
}

func (w wider) Info() port.ModelInfo {
	info := w.Embedder.Info()
	info.ID, info.Dimensions = "test-wider", coretest.Dimensions+widerBy
	return info
}

func (w wider) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	d, err := w.Embedder.Embed(ctx, as, texts)
	if err != nil {
		return d, err
	}
	const dim = coretest.Dimensions + widerBy
	out := port.Dense{Dim: dim, Data: make([]float32, dim*len(texts)), Tokens: d.Tokens}
	for i := range texts {
		copy(out.Row(i)[widerBy:], d.Row(i))
	}
	return out, nil
}

// Titles in metadata count in what is encoded on the way in.
func TestMovesTitles(t *testing.T) {
	t.Parallel()
	from := open(t, coretest.Options{})
	from.write("docs", doc("a", "Wipe it weekly.", `{"title":"Espresso manual"}`), doc("b", "Wipe it.", `{"title":1}`))
	for _, vectors := range []bool{true, false} {
		to := open(t, coretest.Options{})
		embedded := int64(2)
		if vectors {
			embedded = 0
		}
		to.brings("docs", dataset.Fail, from.export("docs", vectors), tally{created: 2, embedded: embedded})
		if got := to.find("docs", coretest.Object{"query": "espresso", "mode": "keyword"}); !slices.Equal(got, []string{"a"}) {
			t.Errorf("with vectors %v: the title finds %v", vectors, got)
		}
		if got := int64(len(to.Embedder.TakePassages())); got != embedded {
			t.Errorf("with vectors %v: %d texts were embedded", vectors, got)
		}
	}
}

// TestMovesToOtherModels: what comes without vectors, or with those of other models,
// gets its own.
func TestMovesToOtherModels(t *testing.T) {
	t.Parallel()
	from := open(t, coretest.Options{})
	docs := corpus(60)
	from.write("docs", docs...)
	set, bare := from.export("docs", true), from.export("docs", false)
	if e := coretest.End(t, bare); len(bare)*3 > len(set)*2 || e.Counts.Documents != 60 || e.Counts.Chunks != 0 {
		t.Errorf("%d bytes without vectors, %d with; %+v", len(bare), len(set), e.Counts)
	}
	want := from.stored("docs")
	for name, c := range map[string]struct {
		coretest.Options
		set    []byte
		sparse bool
	}{
		"without vectors":    {coretest.Options{}, bare, false},
		"other models":       {coretest.Options{Embedder: newWider()}, set, false},
		"a sparse namespace": {coretest.Options{Sparse: &coretest.SparseEncoder{}}, set, true},
	} {
		t.Run(name, func(t *testing.T) {
			to := open(t, c.Options)
			to.create("docs", c.sparse)
			got := to.brings("docs", dataset.Fail, c.set, tally{created: 60, embedded: 60})
			if got.Chunks == 0 || got.Sparse != c.sparse {
				t.Errorf("imported %+v", got)
			}
			if !slices.Equal(to.stored("docs"), want) {
				t.Error("documents differ")
			}
			if hits := to.find("docs", coretest.Object{"query": docs[40]["text"]}); len(hits) == 0 || hits[0] != "d040" {
				t.Errorf("found %v", hits)
			}
			if c.sparse {
				q := coretest.Object{"query": docs[40]["text"], "mode": "sparse"}
				if hits := to.find("docs", q); len(hits) == 0 || hits[0] != "d040" {
					t.Errorf("sparse search finds %v", hits)
				}
			}
			to.brings("docs", dataset.Fail, c.set, tally{unchanged: 60})
		})
	}
	// A model that is needed and off is named before anything is read.
	off := open(t, coretest.Options{NoEmbedder: true})
	off.refuses("docs", dataset.Fail, bare, "unavailable", "embedding model")
	if off.stored("docs") != nil {
		t.Error("something was imported")
	}
}

// TestMovesIntoAnotherIdentity: vectors of two models never mix in a namespace.
func TestMovesIntoAnotherIdentity(t *testing.T) {
	t.Parallel()
	from := open(t, coretest.Options{})
	from.write("docs", doc("a", "Alpha.", ""))
	set := from.export("docs", true)
	to := open(t, coretest.Options{Embedder: &coretest.Embedder{Digest: "sha256:old"}})
	to.write("docs", doc("b", "Beta.", ""))
	to.create("empty", false)
	dir := to.Dir
	to.Close()
	to = open(t, coretest.Options{Dir: dir})
	to.refuses("docs", dataset.Fail, set, "conflict", "sha256:old")
	if got := to.stored("docs"); len(got) != 1 {
		t.Errorf("docs holds %v", got)
	}
	// One that holds nothing takes over the configured models.
	to.brings("empty", dataset.Fail, set, tally{created: 1})
	if hits := to.find("empty", coretest.Object{"query": "alpha"}); !slices.Equal(hits, []string{"a"}) {
		t.Errorf("found %v", hits)
	}
}

// TestLanguageMoves: a namespace keeps its language.
func TestLanguageMoves(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	coretest.Ask(from.ctx, t, from.namespaces.Create, coretest.Object{"name": "docs", "language": "de"}).OK()
	from.write("docs", doc("a", "Häuser", ""))
	set := from.export("docs", true)
	to.brings("docs", dataset.Fail, set, tally{created: 1})
	if hits := to.find("docs", coretest.Object{"query": "Haus", "mode": "keyword"}); !slices.Equal(hits, []string{"a"}) {
		t.Errorf("found %v", hits)
	}
	r := coretest.Ask(to.ctx, t, to.namespaces.Create, coretest.Object{"name": "docs"}).OK()
	if r.JSON["language"] != "de" {
		t.Errorf("it came as %s", r.Body)
	}
}

// TestEmptyNamespaceMoves: a data set without documents makes the namespace.
func TestEmptyNamespaceMoves(t *testing.T) {
	t.Parallel()
	from := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	from.create("thin", true)
	to := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	if got := to.brings("thin", dataset.Fail, from.export("thin", true), tally{}); !got.Sparse {
		t.Errorf("imported %+v", got)
	}
	to.write("thin", doc("a", "Alpha.", ""))
	if hits := to.find("thin", coretest.Object{"query": "alpha", "mode": "sparse"}); !slices.Equal(hits, []string{"a"}) {
		t.Errorf("found %v", hits)
	}
}
