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

// lag is what the indexes that may lag (port.Lagging) have not taken yet. It is a
// memory of this process: what a restart forgets, the next query or write of the
// partition finds out from the index itself.
type lag struct {
	mu     sync.Mutex
	behind map[flight]uint64 // the number to bring it to
	away   map[int]bool      // indexes that failed and were not heard of since
	wake   chan struct{}
}

func newLag() lag {
	return lag{behind: map[flight]uint64{}, away: map[int]bool{}, wake: make(chan struct{}, 1)}
}

// The pauses between attempts to bring an index up.
const (
	lagPause    = 500 * time.Millisecond
	lagMaxPause = 5 * time.Second
)

// mayLag reports whether a write need not wait for an index.
func (pr *Projector) mayLag(i int) bool {
	l, ok := pr.indexes[i].(port.Lagging)
	return ok && l.MayLag()
}

// late notes that an index has to be brought to seq in the background. Where it
// failed, no other write tries it before it is back.
func (pr *Projector) late(i int, p port.Partition, seq uint64, failed bool) {
	l := &pr.lag
	l.mu.Lock()
	f := flight{i, p}
	l.behind[f] = max(l.behind[f], seq)
	l.away[i] = l.away[i] || failed
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// lags reports whether an index is being brought up in the background.
func (pr *Projector) lags(i int, p port.Partition) bool {
	l := &pr.lag
	l.mu.Lock()
	defer l.mu.Unlock()
	_, behind := l.behind[flight{i, p}]
	return behind || l.away[i]
}

// lagging reports whether any index is away or behind.
func (pr *Projector) lagging() bool {
	pr.lag.mu.Lock()
	defer pr.lag.mu.Unlock()
	return len(pr.lag.behind)+len(pr.lag.away) > 0
}

func errLags() error {
	return fault.Wrap(fault.Unavailable, "index", errors.New("it is behind the store and catches up"), "the index is catching up").After(time.Second)
}

// forgetLag drops what a deleted partition waited for.
func (pr *Projector) forgetLag(p port.Partition) {
	pr.lag.mu.Lock()
	defer pr.lag.mu.Unlock()
	for i := range pr.indexes {
		delete(pr.lag.behind, flight{i, p})
	}
}

// Run brings up indexes that lag until ctx ends, with pauses that grow while they
// do not answer, and those that callers had no time for.
func (pr *Projector) Run(ctx context.Context) {
	var building sync.WaitGroup
	building.Go(func() { pr.build(ctx) })
	defer building.Wait()
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
		if pr.bringUp(ctx) {
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

// bringUp tries every partition that is behind once; ok is false when an index
// failed.
func (pr *Projector) bringUp(ctx context.Context) (ok bool) {
	l := &pr.lag
	l.mu.Lock()
	todo := make(map[flight]uint64, len(l.behind))
	for f, seq := range l.behind {
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
			delete(l.away, i)
		} else {
			failed[i] = true
		}
		l.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			pr.log.WarnContext(ctx, "an index is away", "partitions behind", len(todo), "error", err)
		}
	}
	started, done := time.Now(), 0
	for f, seq := range todo {
		if failed[f.index] || ctx.Err() != nil {
			continue
		}
		err := pr.catchUp(ctx, f.index, f.p, seq)
		if fault.CodeOf(err) == fault.NamespaceNotFound {
			err = nil // deleted meanwhile
		}
		l.mu.Lock()
		if err == nil {
			done++
			if l.behind[f] == seq {
				delete(l.behind, f)
			}
		} else {
			failed[f.index] = true
			l.away[f.index] = true
		}
		l.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			pr.log.WarnContext(ctx, "an index is behind the store and could not be brought up yet", "partition", f.p.String(), "seq", seq, "partitions", len(todo), "error", err)
		}
	}
	if done > 0 {
		pr.log.InfoContext(ctx, "an index that was away was brought up", "partitions", done, "took", time.Since(started).Round(time.Millisecond))
	}
	return len(failed) == 0
}
