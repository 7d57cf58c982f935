package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// away is an index outside this process, which writes don't wait for.
type away struct{ port.Index }

func (away) MayLag() bool { return true }

func (c *changed) backlog(pr *ingest.Projector, what string, want ingest.Backlog) {
	c.Helper()
	if got := pr.Backlog(); got != want {
		c.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// catchesUp runs a projector until nothing is left to do.
func (c *changed) catchesUp(pr *ingest.Projector) {
	c.Helper()
	ctx, stop := context.WithCancel(c.ctx)
	done := make(chan struct{})
	go func() { defer close(done); pr.Run(ctx) }()
	for began := time.Now(); pr.Backlog() != (ingest.Backlog{}); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			c.Fatalf("it does not catch up: %+v", pr.Backlog())
		}
	}
	stop()
	<-done
}

// What is left to index is told: the indexes that callers had no time to build, and
// those behind an index that did not answer.
func TestTheBacklogIsTold(t *testing.T) {
	c := open(t)
	c.backlog(c.Projector, "at the start", ingest.Backlog{})
	c.Index.OnApply.Set(func() error { return errors.New("the index is broken") })
	_ = c.log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) })
	c.backlog(c.Projector, "an index that failed alone", ingest.Backlog{})
	hurried, cancel := context.WithCancel(c.ctx)
	var left atomic.Bool
	release := make(chan struct{})
	c.Index.OnApply.Set(func() error { // fails who has left, and holds the others
		cancel()
		if left.CompareAndSwap(false, true) {
			return hurried.Err()
		}
		<-release
		return nil
	})
	if err := c.Projector.EnsureIndex(hurried, c.Index, c.p, 1); err == nil {
		t.Fatal("it was built in no time")
	}
	c.backlog(c.Projector, "a build that goes on", ingest.Backlog{Building: 1})
	close(release)
	c.Index.OnApply.Clear()
	c.catchesUp(c.Projector)
	c.applied(1)

	apart := ingest.NewProjector(c.Store, []port.Index{away{c.Index}}, "apart", slog.New(slog.DiscardHandler))
	c.Index.OnApply.Set(func() error { return errors.New("the index is away") })
	log := ingest.NewLog(c.Store, apart)
	for _, id := range []string{"b", "c"} {
		c.must(log.Write(c.ctx, ingest.CauseWrite, func(tx *ingest.Tx) error { return c.put(tx, c.of(id, "gull", "x")) }))
	}
	c.backlog(apart, "an index that is away", ingest.Backlog{Behind: 1, Unreachable: 1})
	c.Index.OnApply.Clear()
	c.catchesUp(apart)
	c.applied(3)
}

// An index that does not answer is asked after pauses that grow up to five seconds, and
// what it lacks is applied once it does. The log says so, once for each time.
func TestAnIndexThatIsAwayIsAskedLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logger := logs()
		away := errors.New("the index is away")
		ctx, stop := context.WithCancel(t.Context())
		var asked []time.Time
		ix := &shelf{lagsBack: true, refuses: away}
		ix.ping = func() error {
			asked = append(asked, time.Now())
			switch n := len(asked); {
			case n <= 8:
				return away
			case n <= 10: // it answers, but can't say how far it is
				ix.fails = away
			case n == 11:
				ix.fails, ix.applied = nil, 3
			}
			return nil
		}
		l := &ledger{}
		pr := ingest.NewProjector(l, []port.Index{ix, &shelf{}}, "here", logger)
		for seq := range uint64(3) {
			l.commit(t, pr, seq+1, port.DocumentWrite{})
		}
		if got := pr.Backlog(); got != (ingest.Backlog{Behind: 1, Unreachable: 1}) {
			t.Errorf("at the start: %+v", got)
		}
		var running sync.WaitGroup
		running.Go(func() { pr.Run(ctx) })
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(asked) < 11 || pr.Backlog() != (ingest.Backlog{}) {
			t.Fatalf("asked %d times: %+v", len(asked), pr.Backlog())
		}
		most := 500 * time.Millisecond
		for i := range asked[:10] {
			if wait := asked[i+1].Sub(asked[i]); wait < most/2 || wait > most {
				t.Errorf("pause %d is %v, want %v at most", i, wait, most)
			}
			most = min(2*most, 5*time.Second)
		}
		log.want(t, "map[index apply deferred:1 index catch-up failed:2 index recovered:1 index unreachable:8]")

		// Then the pauses begin again. What a stop cuts short is no failure.
		ix.refuses, asked = away, nil
		ix.ping = func() error {
			asked = append(asked, time.Now())
			if len(asked) < 2 {
				return away
			}
			stop()
			return ctx.Err()
		}
		l.commit(t, pr, 4, port.DocumentWrite{})
		running.Wait()
		if len(asked) != 2 || asked[1].Sub(asked[0]) > 500*time.Millisecond {
			t.Errorf("asked again at %v", asked)
		}
		log.want(t, "map[index apply deferred:2 index catch-up failed:2 index recovered:1 index unreachable:9]")
	})
}
