package storetest

import (
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// restamp: an end user without memories may go over to other models, and only
// one without.
func restamp(t *testing.T, f *fixture) {
	p := port.Memories(f.org, "int_1", "ann")
	f.update(func(w port.Writer) error {
		if err := w.PutIntegration(f.ctx, port.Integration{ID: "int_1", Org: f.org, Name: "app", CreatedAt: at(0)}); err != nil {
			return err
		}
		_, err := w.CreateNamespace(f.ctx, p, port.Namespace{EmbeddingModel: "old", EmbeddingDigest: "sha256:old", Dimensions: dim + 1, Chunker: "0", CreatedAt: at(0), UpdatedAt: at(0)})
		return err
	})
	before := f.namespace(p)
	to := port.Namespace{Sparse: true, EmbeddingModel: "new", EmbeddingDigest: "sha256:new", Dimensions: dim, SparseModel: "terms", SparseDigest: "sha256:terms", Chunker: "1"}
	f.update(func(w port.Writer) error {
		if err := w.Restamp(f.ctx, p, to); err != nil {
			return err
		}
		_, err := w.PutDocuments(f.ctx, p, at(2), []port.DocumentWrite{document("m1", 1, 1)}) // of the new width
		return err
	})
	got := f.namespace(p)
	want := before
	want.Sparse, want.EmbeddingModel, want.EmbeddingDigest, want.Dimensions = to.Sparse, to.EmbeddingModel, to.EmbeddingDigest, to.Dimensions
	want.SparseModel, want.SparseDigest, want.Chunker = to.SparseModel, to.SparseDigest, to.Chunker
	want.Documents, want.Chunks, want.Bytes, want.Seq, want.UpdatedAt = got.Documents, got.Chunks, got.Bytes, got.Seq, got.UpdatedAt
	if got != want || got.Documents != 1 {
		t.Errorf("restamped %+v, want %+v", got, want)
	}
	f.want("with a memory", f.s.Update(f.ctx, func(w port.Writer) error { return w.Restamp(f.ctx, p, before) }), fault.Conflict)
	f.delete(p, at(3), "m1")
	f.update(func(w port.Writer) error { return w.Restamp(f.ctx, p, before) })
	if got := f.namespace(p); got.EmbeddingDigest != before.EmbeddingDigest || got.Sparse {
		t.Errorf("restamped back: %+v", got)
	}
	docs := f.create("docs")
	if err := f.s.Update(f.ctx, func(w port.Writer) error { return w.Restamp(f.ctx, docs, to) }); err == nil {
		t.Error("a namespace of documents was restamped")
	}
}
