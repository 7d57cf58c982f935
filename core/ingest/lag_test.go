package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
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
	c.Index.OnApply.Set(func() error { // fails who has left, and holds whoever goes on
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
