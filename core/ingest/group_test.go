package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// queue is a bulky index that takes one batch at a time, when it is told to, and what it refuses.
type queue struct {
	*shelf
	goOn    chan bool
	refused func(b port.Batch) error
}

func (q *queue) BatchDocuments() int { return 1000 }
func (q *queue) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	<-q.goOn
	if err := q.refused(b); err != nil {
		return err
	}
	q.mu.Lock()
	applied := q.applied
	q.mu.Unlock()
	switch {
	case b.After > applied:
		return port.ErrGap
	case b.Upto <= applied:
		return nil
	}
	return q.shelf.Apply(ctx, p, b)
}

// writers write into one partition through an index that takes a batch when it is told to.
type writers struct {
	t  *testing.T
	l  *ledger
	ix *queue
	pr *ingest.Projector

	running sync.WaitGroup
	mu      sync.Mutex
	ended   map[uint64]string // what became of each write
}

func newWriters(t *testing.T) *writers {
	w := &writers{t: t, l: &ledger{}, ended: map[uint64]string{}}
	w.ix = &queue{shelf: &shelf{}, goOn: make(chan bool), refused: func(port.Batch) error { return nil }}
	w.pr = ingest.NewProjector(w.l, []port.Index{w.ix}, "here", slog.New(slog.DiscardHandler))
	return w
}

// write commits a change of documents of so many chunks, and waits until its writer does.
func (w *writers) write(seq uint64, chunks int, documents ...string) {
	w.t.Helper()
	var docs []port.DocumentWrite
	for _, id := range documents {
		d := port.Document{ID: id, Text: "x", Chunks: make([]port.Chunk, chunks)}
		docs = append(docs, port.DocumentWrite{Document: d})
		w.l.changes = append(w.l.changes, port.Change{Seq: seq, Document: id})
	}
	w.l.seq, w.l.row.Seq = seq, max(seq, w.l.row.Seq)
	w.running.Go(func() {
		_, err := ingest.NewLog(w.l, w.pr).WriteUntil(w.t.Context(), ingest.Searchable, ingest.CauseWrite,
			func(tx *ingest.Tx) error { return tx.Put(w.t.Context(), shelved, time.Now(), docs) })
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended[seq] = "done"
		if err != nil {
			w.ended[seq] = string(fault.CodeOf(err))
		}
	})
	synctest.Wait()
}

// let the index take so many batches.
func (w *writers) let(n int) {
	for range n {
		w.ix.goOn <- true
		synctest.Wait()
	}
}

// taken waits for the writers, and says which batches the index took.
func (w *writers) taken(writes int) string {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	if len(w.ended) != writes {
		w.t.Errorf("%d writers have ended, want %d", len(w.ended), writes)
	}
	w.mu.Unlock()
	w.running.Wait()
	var all []string
	for _, b := range w.ix.batches {
		var ids []string
		for _, c := range b.Changes {
			ids = append(ids, fmt.Sprintf("%s*%d", c.Document, len(c.Entries)))
		}
		all = append(all, fmt.Sprintf("%d-%d:%s", b.After, b.Upto, strings.Join(ids, ",")))
	}
	return strings.Join(all, " ")
}

func (w *writers) want(got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("batches\n %s, want\n %s", got, want)
	}
}

// What is committed while an index takes a batch is its next one, in whatever order writers come.
func TestWritersShareABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriters(t)
		w.write(1, 1, "a")
		w.write(3, 1, "c", "b")
		w.write(2, 1, "b", "x")
		w.write(4, 2, "c")
		w.let(2)
		w.want(w.taken(4), "0-1:a*1 1-4:x*1,b*1,c*2")
	})
}

// Words of one language are not cut as those of another.
func TestAGroupHasOneLanguage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriters(t)
		w.write(1, 1, "a")
		w.l.row.Language = "de"
		w.write(2, 1, "b")
		w.write(3, 1, "c")
		w.l.row.Language = "fr"
		w.write(4, 1, "d")
		w.let(3)
		w.want(w.taken(4), "0-1:a*1 1-3:b*1,c*1 3-4:d*1")
		if got := []string{w.ix.batches[1].Language, w.ix.batches[2].Language}; !slices.Equal(got, []string{"de", "fr"}) {
			t.Errorf("languages %q", got)
		}
	})
}

// Who comes before a write that was committed earlier waits for it, as long as it comes while
// the index is asked.
func TestAWriteThatOvertakesAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriters(t)
		w.write(2, 1, "b")
		w.write(1, 1, "a")
		w.let(2)
		w.want(w.taken(2), "0-2:a*1,b*1")
	})
	// One that does not come is read from the log, as another server's.
	synctest.Test(t, func(t *testing.T) {
		w := newWriters(t)
		w.l.changes = append(w.l.changes, port.Change{Seq: 1, Document: "a"})
		w.write(2, 1, "b")
		w.write(3, 1, "c")
		w.let(3) // asked, caught up, and the third
		w.want(w.taken(2), "0-3:a*0,b*0,c*0")
	})
}

// A batch has as many documents as the index asks for and no more chunks than a replay's.
func TestAGroupIsBounded(t *testing.T) {
	many := make([]string, 999)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, c := range map[string]struct {
		documents []string
		chunks    int
		want      []uint64
	}{
		"as many documents": {many, 1, []uint64{1, 3}},
		"one too many":      {append(many, "one more"), 1, []uint64{1, 2, 3}},
		"as many chunks":    {[]string{"a", "b", "c"}, (16_384 - 1) / 3, []uint64{1, 3}},
		"too many chunks":   {[]string{"a", "b"}, 8_192, []uint64{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWriters(t)
				w.write(1, 1, "first")
				w.write(2, c.chunks, c.documents...)
				w.write(3, 1, "last")
				w.let(len(c.want))
				w.taken(3)
				var got []uint64
				for _, b := range w.ix.batches {
					got = append(got, b.Upto)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("batches up to %d, want %d", got, c.want)
				}
			})
		})
	}
}

// What one write is refused for fails none before it; an index that is away fails all that share a batch.
func TestWhatAGroupIsRefusedFor(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("bad words"), "map[1:done 2:done 3:unavailable 4:unavailable]"}, // the fourth needs the third
		{fault.New(fault.Unavailable, "it is away"), "map[1:done 2:unavailable 3:unavailable 4:unavailable]"},
		{fault.New(fault.Timeout, "it is slow"), "map[1:done 2:unavailable 3:unavailable 4:unavailable]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWriters(t)
			w.ix.refused = func(b port.Batch) error {
				if slices.ContainsFunc(b.Changes, func(c port.IndexChange) bool { return c.Document == "bad" }) {
					return c.err
				}
				return nil
			}
			w.write(1, 1, "a")
			w.write(2, 1, "b")
			w.write(3, 1, "bad")
			w.write(4, 1, "d")
			go func() {
				for {
					select {
					case w.ix.goOn <- true:
					case <-t.Context().Done():
						return
					}
				}
			}()
			w.taken(4)
			if got := fmt.Sprint(w.ended); got != c.want {
				t.Errorf("%v: writes ended %s, want %s", c.err, got, c.want)
			}
		})
	}
}

// A panic of the index is the error of the write that it is about.
func TestAPanicInAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriters(t)
		w.ix.refused = func(b port.Batch) error {
			if slices.ContainsFunc(b.Changes, func(c port.IndexChange) bool { return c.Document == "bad" }) {
				panic("it breaks")
			}
			return nil
		}
		w.write(1, 1, "a")
		w.write(2, 1, "b")
		w.write(3, 1, "bad")
		w.let(4) // the first, the two together, and each
		w.taken(3)
		if got, want := fmt.Sprint(w.ended), "map[1:done 2:done 3:unavailable]"; got != want {
			t.Errorf("writes ended %s, want %s", got, want)
		}
	})
}
