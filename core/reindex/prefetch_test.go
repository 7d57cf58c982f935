package reindex_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// shadow makes a namespace with a shadow of one document, which is in no index yet, as
// where another replica builds it.
func (b *bed) shadow(name string) (p port.Partition, seq uint64) {
	b.Helper()
	ctx := b.Context()
	encoded, err := b.Encoders.Configured().Encode(ctx, chunk.Untitled("a heron"), false, make([]ingest.Reuse, 1))
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	doc := port.DocumentWrite{Vectors: encoded[0].Vectors, Document: port.Document{
		ID:        "a",
		Text:      "a heron",
		TextHash:  sha256.Sum256([]byte("a heron")),
		Chunks:    encoded[0].Chunks,
		CreatedAt: now,
		UpdatedAt: now,
	}}
	err = b.Changes.Write(ctx, ingest.CauseShadow, func(w *ingest.Tx) error {
		of := port.Documents(b.docs.Org(), name)
		for _, p = range []port.Partition{of, of.Shadow()} {
			row, err := w.CreatePartition(ctx, p, b.Models.WithConfiguredModels(port.PartitionRow{Name: name}))
			if err != nil {
				return err
			}
			p = p.At(row.Generation)
			if err := w.Put(ctx, p, now, []port.DocumentWrite{doc}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = b.Store.View(ctx, func(r port.Reader) error {
			row, err := r.Partition(ctx, p)
			seq = row.Seq
			return err
		})
	}
	p = p.Unshadowed() // as indexes know it
	if err == nil {
		err = b.Index.Drop(ctx, p)
	}
	if err != nil {
		b.Fatal(err)
	}
	return p, seq
}

// prefetches runs what Service.Run does until the end of the test.
func (b *bed) prefetches() {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := b.Service.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(func() { stop(); running.Wait() })
}

func (b *bed) applied(p port.Partition) uint64 {
	b.Helper()
	at, err := b.Index.Applied(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	return at
}

// The index of a replica takes the generations that another one builds, and leaves
// those alone that are only kept to go back to.
func TestPrefetch(t *testing.T) {
	b := openWith(t, reindex.Settings{Shared: true, Prefetch: time.Millisecond})
	kept, _ := b.shadow("a")
	building, seq := b.shadow("b")
	if err := b.Store.Update(t.Context(), func(w port.Writer) error {
		return w.SwapPartition(t.Context(), port.Documents(b.docs.Org(), "a"))
	}); err != nil {
		t.Fatal(err)
	}
	var retained port.Partition
	if err := b.Store.View(t.Context(), func(r port.Reader) error {
		shadows, err := r.Shadows(t.Context(), "")
		for _, s := range shadows {
			if s.Row.State == port.Retained {
				retained = s.Partition
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.Index.Drop(t.Context(), retained); err != nil {
		t.Fatal(err)
	}
	b.prefetches()
	for began := time.Now(); b.applied(building) < seq; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("its index is at change %d of %d", b.applied(building), seq)
		}
	}
	if at := b.applied(retained); at != 0 || kept == retained {
		t.Errorf("what is kept is fetched up to change %d", at)
	}
}

// lines are what a logger wrote.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), s)
}

// A store or an index that is away is asked again, and the log says that it was.
func TestPrefetchFails(t *testing.T) {
	for _, away := range []struct {
		name string
		set  func(*bed, func() error)
	}{
		{"store", func(b *bed, fails func() error) { b.Store.OnView.Set(fails) }},
		{"index", func(b *bed, fails func() error) { b.Index.OnApply.Set(fails) }},
	} {
		t.Run(away.name, func(t *testing.T) {
			log := &lines{}
			b := openWith(t, reindex.Settings{Shared: true, Prefetch: time.Millisecond,
				Log: slog.New(slog.NewTextHandler(log, nil))})
			building, seq := b.shadow("a")
			away.set(b, func() error { return errors.New("it is away") })
			b.prefetches()
			for began := time.Now(); !log.has("shadow prefetch failed"); time.Sleep(time.Millisecond) {
				if time.Since(began) > time.Minute {
					t.Fatal("nothing is logged")
				}
			}
			b.Store.OnView.Clear()
			b.Index.OnApply.Clear()
			for began := time.Now(); b.applied(building) < seq; time.Sleep(time.Millisecond) {
				if time.Since(began) > time.Minute {
					t.Fatalf("its index is at change %d of %d", b.applied(building), seq)
				}
			}
		})
	}
}

// A process that has its store to itself has nothing to fetch.
func TestNoPrefetchAlone(t *testing.T) {
	if err := open(t).Service.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
