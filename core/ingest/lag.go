package ingest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// lag records what the indexes that may lag (port.Lagging) have not applied yet. It is
// kept in memory alone: after a restart, the next query or write asks the index.
type lag struct {
	mu          sync.Mutex
	pending     map[indexPartition]uint64 // the change number to reach
	unreachable map[int]bool              // indexes that failed and have not answered since
	wake        chan struct{}
}

func newLag() lag {
	return lag{pending: map[indexPartition]uint64{}, unreachable: map[int]bool{}, wake: make(chan struct{}, 1)}
}

// The pauses between attempts to catch an index up.
const (
	lagPause    = 500 * time.Millisecond
	lagMaxPause = 5 * time.Second
)

// mayLag reports whether a write need not wait for an index.
func (pr *Projector) mayLag(i int) bool {
	l, ok := pr.indexes[i].(port.Lagging)
	return ok && l.MayLag()
}

// markPending has an index catch up to seq in the background. After a failure no
// write tries the index until it answers again.
func (pr *Projector) markPending(i int, p port.Partition, seq uint64, failed bool) {
	l := &pr.lag
	l.mu.Lock()
	f := indexPartition{i, p}
	l.pending[f] = max(l.pending[f], seq)
	l.unreachable[i] = l.unreachable[i] || failed
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// lags reports whether an index is unreachable or catches up in the background.
func (pr *Projector) lags(i int, p port.Partition) bool {
	l := &pr.lag
	l.mu.Lock()
	defer l.mu.Unlock()
	_, behind := l.pending[indexPartition{i, p}]
	return behind || l.unreachable[i]
}

// behind reports whether an index of a partition is known to lack changes.
func (pr *Projector) behind(p port.Partition) bool {
	for i := range pr.indexes {
		if pr.lags(i, p) || pr.deferred.holds(indexPartition{i, p}) {
			return true
		}
	}
	return false
}

// lagging reports whether any index is unreachable or behind.
func (pr *Projector) lagging() bool {
	pr.lag.mu.Lock()
	defer pr.lag.mu.Unlock()
	return len(pr.lag.pending)+len(pr.lag.unreachable) > 0
}

// Backlog is what indexes of this process have not applied yet.
type Backlog struct {
	Building    int // indexes of partitions that are built in the background
	Deferred    int // those that are brought what writes did not wait for
	Behind      int // those that catch up after an index was away
	Unreachable int // indexes that did not answer the last time
}

// Backlog counts what searches do without until it is indexed.
func (pr *Projector) Backlog() (b Backlog) {
	pr.builds.mu.Lock()
	b.Building = len(pr.builds.todo)
	pr.builds.mu.Unlock()
	b.Deferred = pr.deferred.waiting()
	pr.lag.mu.Lock()
	defer pr.lag.mu.Unlock()
	b.Behind = len(pr.lag.pending)
	for _, away := range pr.lag.unreachable {
		if away {
			b.Unreachable++
		}
	}
	return b
}

func errLags() error {
	return fault.Wrap(fault.Unavailable, "index", errors.New("it is behind the store and catches up"),
		"the index is catching up").After(time.Second)
}

// forgetPending drops what indexes have not applied of a deleted partition.
func (pr *Projector) forgetPending(p port.Partition) {
	pr.lag.mu.Lock()
	defer pr.lag.mu.Unlock()
	for i := range pr.indexes {
		delete(pr.lag.pending, indexPartition{i, p})
	}
}

// Run catches up indexes that lag, with pauses that grow while they do not answer, runs
// the builds that callers had no time for, and brings indexes what writes did not wait
// for, until ctx ends.
func (pr *Projector) Run(ctx context.Context) {
	var others sync.WaitGroup
	others.Go(func() { pr.runBuilds(ctx) })
	others.Go(func() { pr.runDeferred(ctx) })
	defer others.Wait()
	pause := lagPause
	for {
		if !pr.lagging() {
			pause = lagPause
			select {
			case <-pr.lag.wake:
			case <-ctx.Done():
				return
			}
		}
		if pr.catchUpPending(ctx) {
			pause = lagPause
			continue
		}
		t := time.NewTimer(pause/2 + rand.N(pause/2))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
		pause = min(2*pause, lagMaxPause)
	}
}

// catchUpPending tries every partition that is behind once; ok is false when an
// index failed.
func (pr *Projector) catchUpPending(ctx context.Context) (ok bool) {
	l := &pr.lag
	l.mu.Lock()
	todo := make(map[indexPartition]uint64, len(l.pending))
	for f, seq := range l.pending {
		todo[f] = seq
	}
	l.mu.Unlock()
	failed := map[int]bool{}
	for i, ix := range pr.indexes {
		if !pr.mayLag(i) {
			continue
		}
		err := ix.Ping(ctx)
		l.mu.Lock()
		if err == nil {
			delete(l.unreachable, i)
		} else {
			failed[i] = true
		}
		l.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			pr.log.WarnContext(ctx, "index unreachable", "partitions", len(todo), "error", err)
		}
	}
	started, done := time.Now(), 0
	for f, seq := range todo {
		if failed[f.index] || ctx.Err() != nil {
			continue
		}
		err := pr.catchUp(ctx, f.index, f.p, seq)
		if fault.IsPartitionNotFound(err) {
			err = nil // deleted since
		}
		l.mu.Lock()
		if err == nil {
			done++
			if l.pending[f] == seq {
				delete(l.pending, f)
			}
		} else {
			failed[f.index] = true
			l.unreachable[f.index] = true
		}
		l.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			pr.log.WarnContext(ctx, "index catch-up failed",
				"partition", f.p.String(), "seq", seq, "partitions", len(todo), "error", err)
		}
	}
	if done > 0 {
		pr.log.InfoContext(ctx, "index recovered", "partitions", done, "took", time.Since(started).Round(time.Millisecond))
	}
	return len(failed) == 0
}
