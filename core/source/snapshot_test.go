package source_test

import (
	"context"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// relisted is a shelf that says what has changed since a state, and lists everything all the same, as
// a repository does whose branch has moved.
type relisted struct{ *shelf }

func (r *relisted) Kind() port.SourceKind {
	k := r.shelf.Kind()
	k.Incremental = true
	return k
}

func (r *relisted) List(ctx context.Context, c port.Connection, state []byte, l port.SourceListing) error {
	if string(state) == "at the end" && r.open {
		return l.Complete(ctx, false) // as it was
	}
	return r.shelf.List(ctx, c, nil, checkpointed{l})
}

// checkpointed is a listing that gives a state before it completes.
type checkpointed struct{ port.SourceListing }

func (c checkpointed) Complete(ctx context.Context, snapshot bool) error {
	if err := c.Checkpoint(ctx, []byte("at the end")); err != nil {
		return err
	}
	return c.SourceListing.Complete(ctx, snapshot)
}

// What a listing of everything does not name is gone, also in a run that had only asked for what has
// changed; one that names nothing because nothing has changed deletes nothing.
func TestSnapshotsOfIncrementalRuns(t *testing.T) {
	f := newFixture(t, func(s *source.Settings, on *shelf) { s.Connectors = []port.Connector{&relisted{on}} })
	f.fill(3)
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.counts("first", *s.LastRun, "completed", port.SourceCounts{Seen: 3, Created: 3})
	f.shelf.drop("k1001")
	r := f.sync(s.ID)
	f.counts("one is gone", r, "completed", port.SourceCounts{Seen: 2, Unchanged: 2, Deleted: 1})
	if r.Mode != "incremental" {
		t.Errorf("mode %s", r.Mode)
	}
	f.inStep("docs")
	f.shelf.set(func(s *shelf) { s.open = true })
	f.counts("as it was", f.sync(s.ID), "completed", port.SourceCounts{})
	f.inStep("docs")
}
