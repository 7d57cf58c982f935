package ingest_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// changed is a log over a store and an index with one empty namespace.
type changed struct {
	*heard
	ctx context.Context
	p   port.Partition // pinned
	log *ingest.Log
}

// again is a store that runs every function twice, as after a conflict: what the
// first run did is rolled back.
type again struct{ port.DocumentStore }

func (a again) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	conflict := errors.New("conflict")
	err := a.DocumentStore.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return errors.Join(fn(w), conflict) })
	if !errors.Is(err, conflict) {
		return err
	}
	return a.DocumentStore.UpdateDocuments(ctx, fn)
}

// leaving is a store whose caller leaves at the moment of the commit.
type leaving struct {
	port.DocumentStore
	leave func()
}

func (l leaving) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	defer l.leave()
	return l.DocumentStore.UpdateDocuments(ctx, fn)
}

func open(t *testing.T) *changed {
	t.Helper()
	c := &changed{heard: listen(t, coretest.Options{}), ctx: t.Context()}
	c.log = c.Changes
	c.must(c.Store.Update(c.ctx, func(w port.Writer) error {
		org, err := w.OrganizationByName(c.ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		c.p = port.Documents(org.ID, "docs")
		row, err := w.CreatePartition(c.ctx, c.p, c.Models.WithConfiguredModels(port.PartitionRow{Name: "docs"}))
		c.p = c.p.At(row.Generation)
		return err
	}))
	return c
}

// of makes a document of one chunk with its vector.
func (c *changed) of(id, text, tag string) port.DocumentWrite {
	c.Helper()
	encoded, err := c.Encoders.Configured().Encode(c.ctx, chunk.Untitled(text), false, make([]ingest.Reuse, 1))
	c.must(err)
	now := time.Now()
	return port.DocumentWrite{
		Document: port.Document{
			ID:        id,
			Text:      text,
			Metadata:  []byte(`{"tag":"` + tag + `"}`),
			TextHash:  sha256.Sum256([]byte(text)),
			Chunks:    encoded[0].Chunks,
			CreatedAt: now,
			UpdatedAt: now,
		},
		Vectors: encoded[0].Vectors,
	}
}

func (c *changed) put(tx *ingest.Tx, docs ...port.DocumentWrite) error {
	return tx.Put(c.ctx, c.p, time.Now(), docs)
}

// found are the ids that the index finds for a text by a retriever, best first,
// without being brought up.
func (c *changed) found(by port.Retriever, text, tag string) (ids []string) {
	c.Helper()
	q := port.IndexQuery{Retriever: by, Text: text, Limit: 10}
	if tag != "" {
		f, err := filter.Parse([]byte(`{"tag":"` + tag + `"}`))
		c.must(err)
		q.Filter = f
	}
	if by == port.Vector {
		d, err := c.Embedder.Embed(c.ctx, port.Query, []string{text})
		c.must(err)
		q.Vector = d.Row(0)
	}
	hits, err := c.Index.Search(c.ctx, c.p, q)
	c.must(err)
	for _, h := range hits {
		ids = append(ids, h.Document)
	}
	return ids
}

func (c *changed) applied(want uint64) {
	c.Helper()
	if at, err := c.Index.Applied(c.ctx, c.p); err != nil || at != want {
		c.Errorf("the index is at change %d, %v; want %d", at, err, want)
	}
}

// TestAWriteIsSearchableWhenItReturns: every change number of the transaction has
// reached the index, in order.
func TestAWriteIsSearchableWhenItReturns(t *testing.T) {
	c := open(t)
	applies := 0
	c.Index.OnApply.Set(func() error { applies++; return nil })
	c.must(c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		if err := c.put(tx, c.of("a", "pelican", "x"), c.of("b", "heron", "x")); err != nil {
			return err
		}
		if err := c.put(tx, c.of("a", "crane", "x")); err != nil {
			return err
		}
		deleted, err := tx.Delete(c.ctx, c.p, time.Now(), []string{"b", "nobody"})
		if deleted != 1 || applies != 0 {
			t.Errorf("%d deleted, and %d changes applied before the commit", deleted, applies)
		}
		return err
	}))
	c.applied(3)
	if applies != 3 {
		t.Errorf("%d changes were applied; the index had to catch up", applies)
	}
	if a, b := c.found(port.Keyword, "crane pelican heron", ""),
		c.found(port.Vector, "crane", ""); !slices.Equal(a, []string{"a"}) ||
		!slices.Equal(b, []string{"a"}) {
		t.Errorf("found %v by word and %v by vector", a, b)
	}
	c.hears("three changes",
		"write created a in docs\nwrite created b in docs\nwrite updated a in docs\nwrite deleted b in docs")
}

// TestChangedMetadataKeepsTheStoredVectors, which the write does not carry.
func TestChangedMetadataKeepsTheStoredVectors(t *testing.T) {
	c := open(t)
	write := func(d port.DocumentWrite) {
		t.Helper()
		c.must(c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, d) }))
	}
	write(c.of("a", "pelican", "x"))
	d := c.of("a", "pelican", "y")
	d.Vectors, d.MetadataOnly = port.Vectors{}, true
	write(d)
	c.applied(2)
	for _, by := range []port.Retriever{port.Vector, port.Keyword} {
		if x, y := c.found(by, "pelican", "x"), c.found(by, "pelican", "y"); len(x) != 0 || !slices.Equal(y, []string{"a"}) {
			t.Errorf("%s: %v has the old tag, %v the new one", by, x, y)
		}
	}
}

func TestAWriteIsIndexedAfterItsCallerHasLeft(t *testing.T) {
	c := open(t)
	ctx, leave := context.WithCancel(c.ctx)
	c.log = ingest.NewLog(leaving{c.Store, leave}, c.Projector)
	c.must(c.log.Write(ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		return tx.Put(ctx, c.p, time.Now(), []port.DocumentWrite{c.of("a", "pelican", "x")})
	}))
	c.applied(1)
}

// TestAFailedWriteLeavesNothing, whichever part of it fails.
func TestAFailedWriteLeavesNothing(t *testing.T) {
	c := open(t)
	mine := errors.New("mine")
	write := func() error {
		return c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
			return errors.Join(c.put(tx, c.of("a", "pelican", "x")), mine)
		})
	}
	if err := write(); !errors.Is(err, mine) || errors.As(err, new(ingest.NotSearchable)) {
		t.Errorf("a function that fails: %v", err)
	}
	c.outbox.fails, mine = errors.New("the listener's"), nil
	if err := write(); !errors.Is(err, c.outbox.fails) {
		t.Errorf("a listener that fails: %v", err)
	}
	bad := c.of("b", "heron", "x")
	bad.Document.Metadata = []byte(`{`)
	err := c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, bad) })
	if err == nil {
		t.Error("metadata that can't be indexed was stored")
	}
	c.applied(0)
	c.hears("writes that failed")
	c.must(c.Store.View(c.ctx, func(r port.Reader) error {
		row, err := r.Partition(c.ctx, c.p)
		if row.Seq != 0 || row.Documents != 0 {
			t.Errorf("%d changes and %d documents are stored", row.Seq, row.Documents)
		}
		return err
	}))
}

// TestARepeatedTransactionIsHandedOnOnce: what a run collected that was rolled back
// reaches neither the index nor a listener.
func TestARepeatedTransactionIsHandedOnOnce(t *testing.T) {
	c := open(t)
	c.log = ingest.NewLog(again{c.Store}, c.Projector, c.outbox)
	runs, applies := 0, 0
	c.Index.OnApply.Set(func() error { applies++; return nil })
	c.must(c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		if runs++; runs == 1 {
			return c.put(tx, c.of("a", "pelican", "x"), c.of("b", "heron", "x"))
		}
		return c.put(tx, c.of("a", "crane", "x"))
	}))
	c.applied(1)
	if runs != 2 || applies != 1 {
		t.Errorf("%d runs, %d changes applied", runs, applies)
	}
	if ids := c.found(port.Keyword, "pelican heron crane", ""); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("found %v", ids)
	}
	c.hears("a repeated transaction", "write created a in docs")
}

// TestAnIndexThatFailsIsTold: the change is stored, the caller hears that it can't be
// searched, and the index gets it the next time.
func TestAnIndexThatFailsIsTold(t *testing.T) {
	c := open(t)
	c.Index.OnApply.Set(func() error { return errors.New("the index is broken") })
	err := c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) })
	if !errors.As(err, new(ingest.NotSearchable)) || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("answers %v", err)
	}
	c.hears("a change that is stored", "write created a in docs")
	c.Index.OnApply.Clear()
	c.must(c.Projector.Ensure(c.ctx, c.p, 1))
	if ids := c.found(port.Keyword, "pelican", ""); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("found %v", ids)
	}
}

// TestOnlyAnEmptyNamespaceIsDropped, so that no document goes without its index.
func TestOnlyAnEmptyNamespaceIsDropped(t *testing.T) {
	c := open(t)
	drop := func() error {
		return c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return tx.DropEmpty(c.ctx, c.p) })
	}
	partition := func() error {
		return c.Store.View(c.ctx, func(r port.Reader) error { _, err := r.Partition(c.ctx, c.p); return err })
	}
	c.must(c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) }))
	if err := drop(); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("with a document: %v", err)
	}
	c.must(partition())

	c = open(t)
	c.must(drop())
	if err := partition(); !fault.IsPartitionNotFound(err) {
		t.Errorf("dropped, and then %v", err)
	}
	if err := drop(); !fault.IsPartitionNotFound(err) {
		t.Errorf("again: %v", err)
	}
}

// TestAnIndexGoesWithTheLastDocument of a namespace.
func TestAnIndexGoesWithTheLastDocument(t *testing.T) {
	c := open(t)
	c.must(c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) }))
	drops := 0
	c.Index.OnDrop.Set(func() error { drops++; return nil })
	c.must(c.log.Write(c.ctx, ingest.CauseDelete, func(tx *ingest.Tx) error {
		_, err := tx.Delete(c.ctx, c.p, time.Now(), []string{"a"})
		return err
	}))
	c.applied(0)
	if drops != 1 {
		t.Errorf("dropped %d times", drops)
	}
}

// TestReencodingRebuildsTheIndex: vectors of another model, in several parts, replace
// all in an index that holds the old ones.
func TestReencodingRebuildsTheIndex(t *testing.T) {
	c := open(t)
	docs := []port.DocumentWrite{c.of("a", "pelican", "x"), c.of("b", "heron", "x")}
	c.must(c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, docs...) }))
	c.hears("a write", "write created a in docs\nwrite created b in docs")
	drops := 0
	c.Index.OnDrop.Set(func() error { drops++; return nil })
	c.must(c.log.Write(c.ctx, ingest.CauseReencoding, func(tx *ingest.Tx) error {
		tx.RebuildIndexes(c.p)
		row, err := tx.Partition(c.ctx, c.p)
		if err != nil {
			return err
		}
		row.Dimensions = 2
		if err := tx.SetModels(c.ctx, c.p, row); err != nil {
			return err
		}
		for i, v := range [][]float32{{1, 0}, {0, 1}} {
			docs[i].Vectors = port.Vectors{Dense: port.Dense{Dim: 2, Data: v}}
			if err := tx.Reencode(c.ctx, c.p, docs[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}))
	c.applied(3)
	hits, err := c.Index.Search(c.ctx, c.p, port.IndexQuery{Retriever: port.Vector, Vector: []float32{0, 1}, Limit: 10})
	if err != nil || len(hits) != 2 || hits[0].Document != "b" || drops != 1 {
		t.Errorf("after %d drops found %v, %v", drops, hits, err)
	}
	c.hears("new vectors", "reencoding updated a in docs, same text\nreencoding updated b in docs, same text")
}

// TestATransactionWithoutDocumentsIsNoChange, though it may store something else.
func TestATransactionWithoutDocumentsIsNoChange(t *testing.T) {
	c := open(t)
	mine := port.Job{ID: "stored", Org: c.p.Org(), Kind: "mine", Partition: c.p, Status: port.JobQueued, CreatedAt: time.Now()}
	c.must(c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		deleted, err := tx.Delete(c.ctx, c.p, time.Now(), nil)
		if deleted != 0 {
			t.Errorf("%d deleted", deleted)
		}
		return errors.Join(err, c.put(tx), tx.CreateJob(c.ctx, mine, port.JobRequest{}))
	}))
	c.hears("nothing")
	c.applied(0)
	c.must(c.Store.View(c.ctx, func(r port.Reader) error {
		_, err := r.Job(c.ctx, mine.Org, mine.ID)
		return err
	}))
}

func TestCausesTellUsersFromDerivations(t *testing.T) {
	for cause, want := range map[ingest.Cause]bool{
		ingest.CauseWrite:      true,
		ingest.CauseDelete:     true,
		ingest.CauseImport:     true,
		ingest.CauseSync:       true,
		ingest.CauseErasure:    true,
		ingest.CauseReencoding: false,
		ingest.CauseShadow:     false,
	} {
		if cause.UserMade() != want {
			t.Errorf("%s: made by a user is %v", cause, !want)
		}
	}
}

// TestModelsAreTheSameByTheirDigests, not by where they are kept.
func TestModelsAreTheSameByTheirDigests(t *testing.T) {
	one, same, other := coretest.NewEmbedder(), coretest.NewEmbedder(), coretest.NewEmbedder()
	other.Digest = "sha256:other"
	sparse := &coretest.SparseEncoder{}
	for name, c := range map[string]struct {
		a, b ingest.Encoder
		want bool
	}{
		"two of one digest": {ingest.Encoder{Embedder: one}, ingest.Encoder{Embedder: same}, true},
		"two digests":       {ingest.Encoder{Embedder: one}, ingest.Encoder{Embedder: other}, false},
		"with a sparse model": {ingest.Encoder{Embedder: one, Sparse: sparse},
			ingest.Encoder{Embedder: one, Sparse: sparse}, true},
		"sparse model off": {ingest.Encoder{Embedder: one, Sparse: sparse}, ingest.Encoder{Embedder: one}, false},
		"both off":         {ingest.Encoder{}, ingest.Encoder{}, true},
	} {
		if got := c.a.SameModels(&c.b); got != c.want {
			t.Errorf("%s: same is %v", name, got)
		}
	}
}
