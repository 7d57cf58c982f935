package replicas_test

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// pair is a store with the indexes of two replicas over it: one that sees every
// write, and one that looks from time to time.
type pair struct {
	*testing.T
	store    port.Store
	changes  *ingest.Log // with the index that sees every write
	p        port.Partition
	near     *ingest.Projector
	far      *ingest.Projector
	farIndex port.Index
	seq      uint64
}

func newPair(t *testing.T) *pair {
	t.Helper()
	ctx := t.Context()
	store, err := sqlite.Open(ctx, sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &pair{T: t, store: store}
	index := func() port.Index {
		c := embedded.Default()
		c.FlushChunks = 64
		x, err := embedded.Open(c, t.TempDir(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		})
		return x
	}
	w.farIndex = index()
	w.near = ingest.NewProjector(store, []port.Index{index()}, "near", slog.New(slog.DiscardHandler))
	w.far = ingest.NewProjector(store, []port.Index{w.farIndex}, "far", slog.New(slog.DiscardHandler))
	w.changes = ingest.NewLog(store, w.near)
	err = store.Update(ctx, func(tx port.Writer) error {
		o, err := tx.OrganizationByName(ctx, ident.DefaultOrg)
		if err != nil {
			return err
		}
		p := port.Documents(o.ID, "docs")
		n, err := tx.CreatePartition(ctx, p, port.PartitionRow{})
		w.p = p.At(n.Generation)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *pair) put(i int) {
	w.Helper()
	text := fmt.Sprintf("pelican number%d", i)
	d := port.Document{
		ID:       fmt.Sprint(i),
		Text:     text,
		TextHash: sha256.Sum256([]byte(text)),
		Chunks:   []port.Chunk{{End: len(text)}},
	}
	w.change(ingest.CauseWrite, func(tx *ingest.Tx) error {
		return tx.Put(w.Context(), w.p, time.Now(), []port.DocumentWrite{{Document: d}})
	})
}

func (w *pair) delete(i int) {
	w.Helper()
	w.change(ingest.CauseDelete, func(tx *ingest.Tx) error {
		_, err := tx.Delete(w.Context(), w.p, time.Now(), []string{fmt.Sprint(i)})
		return err
	})
}

// change makes one change and notes its number.
func (w *pair) change(why ingest.Cause, fn func(*ingest.Tx) error) {
	w.Helper()
	if err := w.changes.Write(w.Context(), why, fn); err != nil {
		w.Fatal(err)
	}
	w.seq++
}

// look brings the remote index up to date, as a search does, and counts its hits.
func (w *pair) look() int {
	w.Helper()
	if err := w.far.Ensure(w.Context(), w.p, w.seq); err != nil {
		w.Fatal(err)
	}
	hits, err := w.farIndex.Search(w.Context(), w.p, port.IndexQuery{Retriever: port.Keyword, Text: "pelican", Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	return len(hits)
}

func (w *pair) trimmed() (upto uint64) {
	w.Helper()
	err := w.store.View(w.Context(), func(r port.Reader) error {
		n, err := r.Partition(w.Context(), w.p)
		upto = n.Trimmed
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return upto
}

// run writes 700 documents, lets the far index see them, and deletes 600 of them
// while it does not look, over more changes than a log keeps.
func (w *pair) run(afterwards func()) {
	w.Helper()
	for i := range 700 {
		w.put(i)
	}
	if n := w.look(); n != 700 {
		w.Fatalf("%d of 700 documents are found", n)
	}
	afterwards()
	for i := range 600 {
		w.delete(i)
	}
	for i := range 900 {
		w.put(600 + i%100)
	}
}

// What a living replica has not seen stays in the log, however far the others are.
func TestLogKeptForTheLiving(t *testing.T) {
	t.Parallel()
	w := newPair(t)
	w.run(func() {
		if err := w.far.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	at, err := w.farIndex.Durable(t.Context(), w.p)
	if err != nil || at == 0 {
		t.Fatalf("the far index is durable up to %d, %v", at, err)
	}
	if upto := w.trimmed(); upto > 700 {
		t.Errorf("the log was cut at %d, before a living replica at %d", upto, at)
	}
	if n := w.look(); n != 100 {
		t.Errorf("%d documents are found, want 100", n)
	}
	// Once it has them on disk, they may go.
	for at < 1300 {
		for i := range 200 {
			w.put(600 + i%100)
		}
		w.look()
		if at, err = w.farIndex.Durable(t.Context(), w.p); err != nil || w.seq > 20_000 {
			t.Fatalf("the far index is durable up to %d of %d, %v", at, w.seq, err)
		}
	}
	if err := w.far.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 1200 {
		w.put(600 + i%100)
	}
	if upto := w.trimmed(); upto < 1300 {
		t.Errorf("the log was cut at %d although everybody is beyond", upto)
	}
}

// A replica that nobody has heard of for too long finds the log cut, and builds
// its index instead of keeping deleted documents.
func TestIndexThatWasAway(t *testing.T) {
	t.Parallel()
	w := newPair(t)
	w.run(func() {
		if err := w.far.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := w.store.Update(t.Context(),
			func(tx port.Writer) error { return tx.PutWatermarks(t.Context(), "far", time.Microsecond, nil) })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	})
	at, err := w.farIndex.Applied(t.Context(), w.p)
	if err != nil {
		t.Fatal(err)
	}
	if upto := w.trimmed(); upto <= at {
		t.Fatalf("the log was cut at %d and reaches back to the far index at %d", upto, at)
	}
	if n := w.look(); n != 100 {
		t.Errorf("%d documents are found, want 100", n)
	}
	w.delete(650)
	if n := w.look(); n != 99 {
		t.Errorf("%d documents are found, want 99", n)
	}
}
