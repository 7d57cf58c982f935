package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// until writes and says whether the documents are searchable.
func (c *changed) until(log *ingest.Log, until ingest.Until, fn func(tx *ingest.Tx) error) bool {
	c.Helper()
	searchable, err := log.WriteUntil(c.ctx, until, ingest.CauseWrite, fn)
	c.must(err)
	return searchable
}

func (c *changed) putting(docs ...port.DocumentWrite) func(tx *ingest.Tx) error {
	return func(tx *ingest.Tx) error { return c.put(tx, docs...) }
}

// A write that does not wait leaves the index to the background, where what came in the
// meantime is one batch. Who wants to search does not find less for that.
func TestAWriteThatDoesNotWait(t *testing.T) {
	c := open(t)
	log, logger := logs()
	pr := ingest.NewProjector(c.Store, []port.Index{coretest.Remote{Index: c.Index}}, "here", logger)
	changes := ingest.NewLog(c.Store, pr)
	a := c.of("a", "pelican", "x")
	if c.until(changes, ingest.Stored, c.putting(a)) {
		t.Error("it is searchable at once")
	}
	c.applied(0)
	c.backlog(pr, "a write that did not wait", ingest.Backlog{Deferred: 1})
	if c.until(changes, ingest.Stored, c.putting()) || c.until(changes, ingest.Searchable, c.putting()) {
		t.Error("a write of nothing new is searchable before what it is about")
	}
	c.must(pr.EnsureIndex(c.ctx, pr.Indexes()[0], c.p, 1)) // a query
	c.applied(1)

	applies := 0
	entered, goOn := make(chan bool), make(chan bool)
	c.Index.OnApply.Set(func() error {
		if applies++; applies == 1 {
			entered <- true
			<-goOn
		}
		return nil
	})
	c.until(changes, ingest.Stored, c.putting(c.of("b", "heron", "x")))
	ctx, stop := context.WithCancel(c.ctx)
	var running sync.WaitGroup
	running.Go(func() { pr.Run(ctx) })
	<-entered
	for _, id := range []string{"c", "d", "e"} {
		if c.until(changes, ingest.Stored, c.putting(c.of(id, "crane", "x"))) {
			t.Error("it is searchable while the index is at work")
		}
	}
	goOn <- true
	for began := time.Now(); pr.Backlog() != (ingest.Backlog{}); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("left in the background: %+v", pr.Backlog())
		}
	}
	stop()
	running.Wait()
	if c.applied(5); applies != 2 {
		t.Errorf("the index got %d batches, want 2", applies)
	}
	if ids := c.found(port.Keyword, "pelican heron crane", ""); len(ids) != 5 {
		t.Errorf("found %v", ids)
	}
	if !c.until(changes, ingest.Stored, c.putting()) {
		t.Error("what is in the index is not searchable")
	}

	// Who waits has what others left waiting searchable, too.
	c.until(changes, ingest.Stored, c.putting(c.of("f", "gull", "x")))
	if !c.until(changes, ingest.Searchable, c.putting(c.of("g", "gull", "x"))) {
		t.Error("a write that waits is not searchable")
	}
	c.applied(7)
	log.want(t, "map[]")
}

// Where the index costs next to nothing, or documents are deleted, every write waits.
func TestWritesThatWaitAllTheSame(t *testing.T) {
	c := open(t)
	if !c.until(c.log, ingest.Stored, c.putting(c.of("a", "pelican", "x"), c.of("b", "heron", "x"))) {
		t.Error("not searchable in an index of this process")
	}
	c.applied(1)
	pr := ingest.NewProjector(c.Store, []port.Index{coretest.Remote{Index: c.Index}}, "here", slog.New(slog.DiscardHandler))
	changes := ingest.NewLog(c.Store, pr)
	c.until(changes, ingest.Stored, c.putting(c.of("c", "crane", "x")))
	if !c.until(changes, ingest.Stored, func(tx *ingest.Tx) error {
		return errors.Join(c.put(tx, c.of("d", "gull", "x")), c.delete(tx, "b"))
	}) {
		t.Error("a deletion is not in the index")
	}
	c.applied(4)
	if ids := c.found(port.Keyword, "heron", ""); len(ids) != 0 {
		t.Errorf("found %v, which is deleted", ids)
	}
	if c.until(changes, ingest.Stored, func(tx *ingest.Tx) error {
		return errors.Join(c.put(tx, c.of("e", "gull", "x")), c.delete(tx, "nobody"))
	}) {
		t.Error("a write waits for the deletion of what is not there")
	}
}

// A write that is acknowledged while an index is away says that it is not searchable.
func TestAWriteOverAnIndexThatIsAway(t *testing.T) {
	c := open(t)
	pr := ingest.NewProjector(c.Store, []port.Index{away{c.Index}}, "here", slog.New(slog.DiscardHandler))
	changes := ingest.NewLog(c.Store, pr)
	c.Index.OnApply.Set(func() error { return errors.New("it is away") })
	for i, id := range []string{"a", "b"} {
		if c.until(changes, ingest.Searchable, c.putting(c.of(id, "pelican", "x"))) {
			t.Errorf("write %d is searchable in an index that is away", i)
		}
	}
	c.Index.OnApply.Clear()
	c.catchesUp(pr)
	c.applied(2)
}

// A namespace that is deleted while its first change is on its way leaves nothing.
func TestADeletedNamespaceIsNotBroughtBack(t *testing.T) {
	c := open(t)
	log, logger := logs()
	pr := ingest.NewProjector(c.Store, []port.Index{coretest.Remote{Index: c.Index}}, "here", logger)
	changes := ingest.NewLog(c.Store, pr)
	var drops atomic.Int64
	c.Index.OnDrop.Set(func() error { drops.Add(1); return nil })
	c.until(changes, ingest.Stored, c.putting(c.of("a", "pelican", "x")))
	c.Index.OnApply.Set(func() error { // it is dropped before the index takes its change
		err := c.Store.Update(c.ctx, func(w port.Writer) error {
			_, err := w.DeletePartition(c.ctx, c.p)
			return err
		})
		pr.Drop(c.ctx, c.p)
		return err
	})
	ctx, stop := context.WithCancel(c.ctx)
	var running sync.WaitGroup
	running.Go(func() { pr.Run(ctx) })
	for began := time.Now(); drops.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("dropped %d times, want 2", drops.Load())
		}
	}
	stop()
	running.Wait()
	c.applied(0)
	c.backlog(pr, "what is gone", ingest.Backlog{})
	log.want(t, "map[]")
}

// deferring is a bulky index over a ledger.
func (l *ledger) deferring(t *testing.T, pr *ingest.Projector, p port.Partition, seq uint64, documents int) bool {
	t.Helper()
	docs := make([]port.DocumentWrite, documents)
	for i := range docs {
		docs[i].Document.ID = fmt.Sprintf("%d-%d", seq, i)
		l.changes = append(l.changes, port.Change{Seq: seq, Document: docs[i].Document.ID})
	}
	l.seq, l.row.Seq = seq, seq
	searchable, err := ingest.NewLog(l, pr).WriteUntil(t.Context(), ingest.Stored, ingest.CauseWrite,
		func(tx *ingest.Tx) error { return tx.Put(t.Context(), p, time.Now(), docs) })
	if err != nil {
		t.Fatal(err)
	}
	return searchable
}

// So many documents may wait for an index; with more, writes do.
func TestWritesWaitWhereManyDo(t *testing.T) {
	log, logger := logs()
	for name, c := range map[string]struct {
		documents []int // of each write
		waits     string
	}{
		"one by one":      {[]int{100, 100, 56, 1}, "[false false false true]"},
		"the one that is": {[]int{100, 100, 57, 56}, "[false false true false]"},
		"at once":         {[]int{256, 1}, "[false true]"},
		"too many":        {[]int{257, 1}, "[true false]"},
	} {
		l, ix := &ledger{}, &shelf{}
		pr := ingest.NewProjector(l, []port.Index{bulky{ix}}, "here", logger)
		var waits []bool
		for i, n := range c.documents {
			waits = append(waits, l.deferring(t, pr, shelved, uint64(i+1), n))
		}
		if got := fmt.Sprint(waits); got != c.waits {
			t.Errorf("%s: waits %s, want %s", name, got, c.waits)
		}
	}
	// What is on its way counts until it is there, and what has come since counts on.
	synctest.Test(t, func(t *testing.T) {
		ix := &held{shelf: &shelf{}, goOn: make(chan bool)}
		l := &ledger{}
		pr := ingest.NewProjector(l, []port.Index{ix}, "here", logger)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { pr.Run(ctx) })
		l.deferring(t, pr, shelved, 1, 200)
		synctest.Wait()
		l.deferring(t, pr, shelved, 2, 50)
		ix.goOn <- true
		synctest.Wait() // the second batch is on its way: 50 wait
		if l.deferring(t, pr, shelved, 3, 206) {
			t.Error("who comes after the first batch waits for it")
		}
		ix.goOn <- true
		ix.goOn <- true
		synctest.Wait()
		if got := pr.Backlog(); got != (ingest.Backlog{}) || ix.applied != 3 {
			t.Errorf("left: %+v at %d", got, ix.applied)
		}
		stop()
		running.Wait()
	})
	log.want(t, "map[]")
}

// held is a bulky index that takes a batch when it is told to.
type held struct {
	*shelf
	goOn    chan bool
	entered int
}

func (h *held) BatchDocuments() int { return 1000 }
func (h *held) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	h.mu.Lock()
	h.entered++
	h.mu.Unlock()
	<-h.goOn
	return h.shelf.Apply(ctx, p, b)
}

// Eight partitions are brought up side by side, and the others after them.
func TestPartitionsAreBroughtUpSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ix := &held{shelf: &shelf{}, goOn: make(chan bool)}
		l := &ledger{}
		pr := ingest.NewProjector(l, []port.Index{ix}, "here", slog.New(slog.DiscardHandler))
		for i := range 9 {
			l.deferring(t, pr, port.Documents("org", fmt.Sprint(i)).At(int64(i+1)), 1, 1)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { pr.Run(ctx) })
		synctest.Wait()
		if ix.entered != 8 {
			t.Errorf("%d at once, want 8", ix.entered)
		}
		for range 8 {
			ix.goOn <- true
		}
		synctest.Wait()
		if got := pr.Backlog(); got != (ingest.Backlog{}) {
			t.Errorf("left: %+v", got)
		}
		stop()
		running.Wait()
	})
}

// A batch that fails is tried again after pauses that grow up to five seconds and begin again
// after a success. A partition that can be served is not kept waiting by one that can't.
func TestABatchThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logger := logs()
		ix := &failing{shelf: &shelf{}, refuse: shelved}
		l := &ledger{}
		pr := ingest.NewProjector(l, []port.Index{ix}, "here", logger)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { pr.Run(ctx) })
		wait := func(failures int) {
			t.Helper()
			ix.at, ix.left = nil, failures
			began := time.Now()
			l.deferring(t, pr, shelved, l.seq+1, 1)
			time.Sleep(time.Hour)
			synctest.Wait()
			if len(ix.at) != failures+1 || ix.at[0] != began {
				t.Fatalf("tried %d times, want %d", len(ix.at), failures+1)
			}
			most := 500 * time.Millisecond
			for i := range failures {
				if pause := ix.at[i+1].Sub(ix.at[i]); pause < most/2 || pause > most {
					t.Errorf("pause %d is %v, want %v at most", i, pause, most)
				}
				most = min(2*most, 5*time.Second)
			}
			if got := pr.Backlog(); got != (ingest.Backlog{}) {
				t.Errorf("left: %+v", got)
			}
		}
		wait(6)
		wait(1)
		log.want(t, "map[index apply deferred:7]")

		ix.at, ix.left = nil, 1<<30
		l.deferring(t, pr, shelved, l.seq+1, 1)
		synctest.Wait()
		other := port.Documents("org", "other").At(8)
		l.deferring(t, pr, other, l.seq+1, 1)
		synctest.Wait()
		if n := len(ix.batches); ix.batches[n-1].Upto != l.seq {
			t.Error("a partition waits for another one, which fails")
		}
		pr.Drop(t.Context(), shelved) // it is not tried again
		tried := len(ix.at)
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := pr.Backlog(); got != (ingest.Backlog{}) || len(ix.at) != tried {
			t.Errorf("left: %+v, tried %d times more", got, len(ix.at)-tried)
		}
		stop()
		running.Wait()
	})
}

// failing is a bulky index that refuses a partition for a while.
type failing struct {
	*shelf
	refuse port.Partition
	left   int
	at     []time.Time
}

func (f *failing) BatchDocuments() int { return 1000 }
func (f *failing) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	if p == f.refuse {
		f.at = append(f.at, time.Now())
		if f.left--; f.left >= 0 {
			return fault.New(fault.Unavailable, "it is away")
		}
	}
	return f.shelf.Apply(ctx, p, b)
}

// An index that may lag, and fails in the background, is one that is away.
func TestABatchThatFailsWhereTheIndexMayLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logger := logs()
		ix := &shelf{lagsBack: true, refuses: errors.New("it is away")}
		ix.ping = func() error { ix.refuses = nil; return nil }
		l := &ledger{}
		pr := ingest.NewProjector(l, []port.Index{bulky{ix}}, "here", logger)
		l.deferring(t, pr, shelved, 1, 1)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { pr.Run(ctx) })
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := pr.Backlog(); got != (ingest.Backlog{}) || ix.applied != 1 {
			t.Errorf("left: %+v at %d", got, ix.applied)
		}
		stop()
		running.Wait()
		log.want(t, "map[index apply deferred:1 index recovered:1]")
	})
}
