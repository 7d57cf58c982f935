package namespace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
)

// TestLifecycle walks the state table of a namespace.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})

	// A first write creates a plain namespace.
	c.absent("plain")
	if r := c.write("plain", "a", "one text"); r.JSON["sparse"] != false {
		t.Errorf("written into sparse %v", r.JSON["sparse"])
	}
	n := c.get("plain").OK()
	coretest.Fields(t, "a namespace", n.JSON, "name", "sparse", "language", "documents", "chunks", "bytes", "embedding_model",
		"embedding_digest", "embedding_model_chosen", "sparse_model", "created_at", "updated_at")
	if n.JSON["name"] != "plain" || n.JSON["sparse"] != false || n.Number("documents") != 1 || n.Number("chunks") != 1 ||
		n.Number("bytes") != 8 || n.JSON["embedding_model"] != "test-embedder" ||
		n.JSON["embedding_digest"] != "sha256:test-embedder-1" || n.JSON["sparse_model"] != nil {
		t.Errorf("namespace: %s", n.Body)
	}
	for _, at := range []string{"created_at", "updated_at"} {
		if _, err := time.Parse(time.RFC3339, n.JSON[at].(string)); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}

	// Creating: idempotent, and a conflict with the other index.
	for range 2 {
		r := c.create(coretest.Object{"name": "thin", "sparse": true}).OK()
		coretest.Fields(t, "a created namespace", r.JSON, "name", "sparse", "language", "embedding_model")
		if r.JSON["name"] != "thin" || r.JSON["sparse"] != true {
			t.Errorf("created: %s", r.Body)
		}
		c.absent("thin") // until it holds documents
	}
	have := "with a sparse index; it was asked for without a sparse index"
	want := "without a sparse index; it was asked for with a sparse index"
	c.create(coretest.Object{"name": "thin"}).Fails("conflict", `"thin"`, have)
	c.create(coretest.Object{"name": "plain", "sparse": true}).Fails("conflict", `"plain"`, want)
	if r := c.create(coretest.Object{"name": "plain"}).OK(); r.JSON["sparse"] != false {
		t.Errorf("created again: %s", r.Body)
	}
	if n := c.get("plain").OK(); n.Number("documents") != 1 {
		t.Errorf("creating again emptied the namespace: %s", n.Body)
	}
	if r := c.create(coretest.Object{"name": "empty"}).OK(); r.JSON["sparse"] != false {
		t.Errorf("created: %s", r.Body)
	}
	c.absent("empty")
	if r := c.write("thin", "a", "one text"); r.JSON["sparse"] != true {
		t.Errorf("written into sparse %v", r.JSON["sparse"])
	}
	if r := c.get("thin").OK(); r.JSON["sparse"] != true || r.JSON["sparse_model"] != "test-sparse" {
		t.Errorf("namespace: %s", r.Body)
	}

	// Emptied: absent, and a write creates it again without a sparse index.
	if r := c.empty("thin", "a"); r.Number("deleted") != 1 {
		t.Errorf("deleted: %s", r.Body)
	}
	c.absent("thin")
	if r := c.write("thin", "b", "another text"); r.JSON["sparse"] != false {
		t.Error("an emptied sparse namespace came back sparse")
	}
	c.create(coretest.Object{"name": "thin", "sparse": true}).Fails("conflict", want)

	// Deleting: true where there was one, a created but empty one included.
	for _, d := range []struct {
		ns   string
		want bool
	}{{"plain", true}, {"plain", false}, {"empty", true}, {"empty", false}, {"thin", true}, {"never", false}} {
		r := c.remove(d.ns).OK()
		coretest.Fields(t, "a deletion", r.JSON, "deleted")
		if r.JSON["deleted"] != d.want {
			t.Errorf("delete %s: %v, want %v", d.ns, r.JSON["deleted"], d.want)
		}
		c.absent(d.ns)
	}

	// A new life of a name sees nothing of the old one.
	c.write("plain", "new", "fresh words")
	got := coretest.Column(c.query("plain", "one text fresh words").OK().List("results"), "document_id")
	if !slices.Equal(got, []string{"new"}) {
		t.Errorf("a new life finds %v", got)
	}
	if n := c.get("plain").OK(); n.Number("documents") != 1 || n.Number("bytes") != 11 {
		t.Errorf("a new life counts %s", n.Body)
	}
}

// TestTimes: a namespace is as old as its creation and as new as its last change,
// in UTC, whatever zone the clock is in.
func TestTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("east", 3600))
	now := at
	c := open(t, coretest.Options{Now: func() time.Time { return now }})
	c.write("docs", "a", "one text")
	if n := c.get("docs").OK(); n.JSON["created_at"] != "2026-01-02T02:04:05.678Z" ||
		n.JSON["updated_at"] != n.JSON["created_at"] {
		t.Errorf("after the first write: %s", n.Body)
	}
	now = at.Add(time.Hour)
	c.write("docs", "a", "another text")
	if n := c.get("docs").OK(); n.JSON["created_at"] != "2026-01-02T02:04:05.678Z" ||
		n.JSON["updated_at"] != "2026-01-02T03:04:05.678Z" {
		t.Errorf("after the second: %s", n.Body)
	}
	if listed := c.list().OK().List("namespaces"); listed[0]["updated_at"] != "2026-01-02T03:04:05.678Z" {
		t.Errorf("listed as %v", listed)
	}
}

// TestModelsOfANewNamespace: a namespace records those configured models that it uses.
func TestModelsOfANewNamespace(t *testing.T) {
	t.Parallel()
	embedding := port.ModelInfo{ID: "e", Digest: "sha256:e", Dimensions: 3}
	encoding := port.ModelInfo{ID: "s", Digest: "sha256:s"}
	now := time.Date(2026, 1, 2, 3, 4, 5, 6_789_000, time.UTC)
	at := now.Truncate(time.Millisecond)
	for name, c := range map[string]struct {
		models namespace.Models
		sparse bool
		want   port.PartitionRow
	}{
		"plain": {namespace.Models{Embedding: &embedding, Sparse: &encoding}, false,
			port.PartitionRow{EmbeddingModel: "e", EmbeddingDigest: "sha256:e", Dimensions: 3}},
		"sparse": {namespace.Models{Embedding: &embedding, Sparse: &encoding}, true, port.PartitionRow{
			EmbeddingModel: "e", EmbeddingDigest: "sha256:e", Dimensions: 3, SparseModel: "s", SparseDigest: "sha256:s"}},
		"sparse without an encoder": {namespace.Models{Embedding: &embedding}, true,
			port.PartitionRow{EmbeddingModel: "e", EmbeddingDigest: "sha256:e", Dimensions: 3}},
		"sparse without an embedder": {namespace.Models{Sparse: &encoding}, true,
			port.PartitionRow{SparseModel: "s", SparseDigest: "sha256:s"}},
		"without models": {namespace.Models{}, false, port.PartitionRow{}},
	} {
		c.models.Chunker, c.models.Now = "7", func() time.Time { return now }
		c.want.Name, c.want.Sparse, c.want.Chunker, c.want.CreatedAt, c.want.UpdatedAt = "docs", c.sparse, "7", at, at
		if got := c.models.WithConfiguredModels(port.PartitionRow{Name: "docs", Sparse: c.sparse}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	slim := &coretest.Embedder{ID: "slim", Digest: "sha256:slim", Size: 48}
	m := namespace.Models{Embedding: &embedding, Choices: ingest.Choices{Embedders: []port.Embedder{slim}},
		Now: func() time.Time { return now }}
	for chosen, want := range map[string]string{"": "e sha256:e 3", "slim": "slim sha256:slim 48", "gone": "  0"} {
		got := m.WithConfiguredModels(port.PartitionRow{Name: "docs", Embedder: chosen})
		is := fmt.Sprint(got.EmbeddingModel, " ", got.EmbeddingDigest, " ", got.Dimensions)
		if is != want || got.Embedder != chosen {
			t.Errorf("chosen %q: %q, want %q", chosen, is, want)
		}
	}
}

// TestDerivedDataIsForgotten: what was derived from a deleted namespace goes with
// it, and only after it is gone for good.
func TestDerivedDataIsForgotten(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	c.write("docs", "a", "one text")
	org := ident.From(c.ctx).Org
	generation := c.generation("docs")

	// A store that fails takes nothing back.
	broken := errors.New("the disk is gone")
	c.Store.OnUpdate.Set(func() error { return broken })
	if r := c.remove("docs"); !errors.Is(r.Err, broken) {
		t.Errorf("a deletion that failed: %v %s", r.Err, r.Body)
	}
	c.Store.OnUpdate.Clear()
	if len(c.dropped) != 0 {
		t.Errorf("a deletion that failed forgot %v", c.dropped)
	}
	c.get("docs").OK()

	// A caller who goes away in the meantime changes nothing: what is deleted is forgotten.
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	r, err := namespace.New(leaving{c.Store, cancel}, c.Pages, c.Models, c.forget).Delete(ctx, namespace.Ref{Namespace: "docs"})
	if err != nil || !r.Deleted {
		t.Errorf("deleted: %+v, %v", r, err)
	}
	want := port.Documents(org, "docs").At(generation)
	if !slices.Equal(c.dropped, []port.Partition{want}) {
		t.Errorf("the deletion forgot %v, want %v", c.dropped, want)
	}
	c.remove("docs").OK()
	if len(c.dropped) != 1 {
		t.Errorf("the deletion of nothing forgot %v", c.dropped[1:])
	}
}

// leaving is a store whose caller goes away when a transaction has ended.
type leaving struct {
	port.Store
	leave func()
}

func (s leaving) Update(ctx context.Context, fn func(port.Writer) error) error {
	defer s.leave()
	return s.Store.Update(ctx, fn)
}

// generation is the life that a namespace is in.
func (c *catalog) generation(ns string) (generation int64) {
	c.t.Helper()
	err := c.Store.View(c.ctx, func(r port.Reader) error {
		n, err := r.Partition(c.ctx, port.Documents(ident.From(c.ctx).Org, ns))
		generation = n.Generation
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return generation
}

// TestStoreTrouble: a store that fails is told as it is, not as a namespace that is
// not there.
func TestStoreTrouble(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	c.write("docs", "a", "one text")
	limited := c.as(c.Caller(key.Issue{Namespace: "docs"}))
	away := func() error { return fault.New(fault.Unavailable, "the store is away").After(time.Second) }
	c.Store.OnView.Set(away)
	c.Store.OnUpdate.Set(away)
	for _, r := range []*coretest.Reply{
		c.create(coretest.Object{"name": "docs"}), c.get("docs"), c.list(), limited.list(), c.remove("docs"),
	} {
		r.Fails("unavailable", "the store is away").Retry()
	}
}
