package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// setModels: an end user without memories can be given other models.
func setModels(t *testing.T, f *fixture) {
	p := port.Memories(f.org, "int_1", "ann")
	f.update(func(w port.DocumentWriter) error {
		if err := w.PutIntegration(f.ctx, port.Integration{ID: "int_1", Org: f.org, Name: "app", CreatedAt: at(0)}); err != nil {
			return err
		}
		_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{
			Embedder:        "own", // stays
			EmbeddingModel:  "old",
			EmbeddingDigest: "sha256:old",
			Dimensions:      dim + 1,
			Chunker:         "0",
			Language:        "de", // stays
			CreatedAt:       at(0),
			UpdatedAt:       at(0),
		})
		return err
	})
	before := f.namespace(p)
	to := port.PartitionRow{
		Sparse:          true,
		EmbeddingModel:  "new",
		EmbeddingDigest: "sha256:new",
		Dimensions:      dim,
		SparseModel:     "terms",
		SparseDigest:    "sha256:terms",
		Chunker:         "1",
	}
	f.update(func(w port.DocumentWriter) error {
		if err := w.SetModels(f.ctx, p, to); err != nil {
			return err
		}
		_, err := w.PutDocuments(f.ctx, p, at(2), []port.DocumentWrite{document("m1", 1, 1)}) // of the new width
		return err
	})
	got := f.namespace(p)
	want := before
	want.Sparse, want.EmbeddingModel, want.EmbeddingDigest, want.Dimensions = to.Sparse, to.EmbeddingModel,
		to.EmbeddingDigest, to.Dimensions
	want.SparseModel, want.SparseDigest, want.Chunker = to.SparseModel, to.SparseDigest, to.Chunker
	want.Documents, want.Chunks, want.Bytes, want.Seq, want.UpdatedAt = got.Documents, got.Chunks, got.Bytes, got.Seq,
		got.UpdatedAt
	if got != want || got.Documents != 1 {
		t.Errorf("restamped %+v, want %+v", got, want)
	}
	f.delete(p, at(3), "m1")
	f.update(func(w port.DocumentWriter) error { return w.SetModels(f.ctx, p, before) })
	if got := f.namespace(p); got.EmbeddingDigest != before.EmbeddingDigest || got.Sparse {
		t.Errorf("restamped back: %+v", got)
	}
	restampDocuments(t, f, to)
}

// restampDocuments: a namespace changes to another model together with all its vectors,
// or not at all.
func restampDocuments(t *testing.T, f *fixture, to port.PartitionRow) {
	p := f.create("docs")
	var old []port.DocumentWrite
	for _, id := range []string{"a", "b", "c"} {
		old = append(old, document(id, 1, 2))
	}
	first := f.put(p, at(2), old...)
	before := f.namespace(p)
	to.Dimensions = dim + 2
	wide := func(id string) port.DocumentWrite {
		d := document(id, 1, 3)
		d.Vectors.Dense = port.Dense{Dim: to.Dimensions, Data: make([]float32, 3*to.Dimensions)}
		for i := range 3 {
			d.Vectors.Dense.Data[i*to.Dimensions+i] = 1
		}
		return d
	}
	broken := errors.New("broken")
	for what, fn := range map[string]func(w port.DocumentWriter) error{
		"narrow vectors after the stamp": func(w port.DocumentWriter) error {
			if err := w.SetModels(f.ctx, p, to); err != nil {
				return err
			}
			if _, err := w.PutDocuments(f.ctx, p, time.Time{}, []port.DocumentWrite{wide("a")}); err != nil {
				return fmt.Errorf("wide: %w", err)
			}
			_, err := w.PutDocuments(f.ctx, p, time.Time{}, old[1:2])
			return err
		},
		"a failure after everything": func(w port.DocumentWriter) error {
			if err := w.SetModels(f.ctx, p, to); err != nil {
				return err
			}
			if _, err := w.PutDocuments(f.ctx, p, time.Time{},
				[]port.DocumentWrite{wide("a"), wide("b"), wide("c")}); err != nil {
				return fmt.Errorf("wide: %w", err)
			}
			return broken
		},
	} {
		if err := f.s.UpdateDocuments(f.ctx, fn); err == nil {
			t.Errorf("%s: committed", what)
		}
		if got := f.namespace(p); got != before {
			t.Errorf("%s: the namespace is %+v, want %+v", what, got, before)
		}
		f.checkVectors(p, old...)
	}
	f.delete(p, at(3), "c")
	replaced := []port.DocumentWrite{wide("a"), wide("b")}
	var seq uint64
	f.update(func(w port.DocumentWriter) error {
		seq = 0
		if err := w.SetModels(f.ctx, p, to); err != nil {
			return err
		}
		for i := range replaced { // a number each
			var err error
			if seq, err = w.PutDocuments(f.ctx, p, time.Time{}, replaced[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	})
	got, want := f.namespace(p), before
	want.Sparse, want.EmbeddingModel, want.EmbeddingDigest, want.Dimensions = to.Sparse, to.EmbeddingModel,
		to.EmbeddingDigest, to.Dimensions
	want.SparseModel, want.SparseDigest, want.Chunker = to.SparseModel, to.SparseDigest, to.Chunker
	want.Documents, want.Chunks, want.Bytes, want.Seq, want.UpdatedAt = 2, 6, got.Bytes, first+3, at(3)
	if got != want || seq != want.Seq {
		t.Errorf("restamped %+v at %d, want %+v", got, seq, want)
	}
	f.checkVectors(p, replaced...)
	for _, d := range f.documents(p, 0, "a", "b") {
		if !d.CreatedAt.Equal(at(2)) || !d.UpdatedAt.Equal(at(2)) {
			t.Errorf("%s was created at %v and updated at %v: a setModels is no update", d.ID, d.CreatedAt, d.UpdatedAt)
		}
	}
	f.want("of an absent namespace", f.s.UpdateDocuments(f.ctx,
		func(w port.DocumentWriter) error { return w.SetModels(f.ctx, port.Documents(f.org, "none"), to) }),
		fault.PartitionNotFound)
}
