package ingest

import (
	"context"
	"sync"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// turns let one caller at a time bring up an index of a partition.
type turns struct {
	mu sync.Mutex
	of map[flight]*turn
}

type turn struct {
	taken chan struct{} // holds one element while somebody has the turn
	users int           // that have it or wait
}

// take waits for the turn, as long as ctx lasts.
func (t *turns) take(ctx context.Context, f flight) (leave func(), err error) {
	t.mu.Lock()
	mine := t.of[f]
	if mine == nil {
		mine = &turn{taken: make(chan struct{}, 1)}
		t.of[f] = mine
	}
	mine.users++
	t.mu.Unlock()
	gone := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.users--; mine.users == 0 {
			delete(t.of, f)
		}
	}
	select {
	case mine.taken <- struct{}{}:
		return func() {
			<-mine.taken
			gone()
		}, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}

// builds are the replays that callers had no time to wait for, such as of all of a
// partition after another index was configured. They go on in the background, and
// searches are told so at once meanwhile.
type builds struct {
	mu   sync.Mutex
	todo map[flight]uint64 // the number to bring it to
	wake chan struct{}
}

func newBuilds() builds {
	return builds{todo: map[flight]uint64{}, wake: make(chan struct{}, 1)}
}

// underWay reports whether an index is being brought up in the background.
func (b *builds) underWay(f flight) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.todo[f] > 0
}

func (b *builds) add(f flight, seq uint64) {
	b.mu.Lock()
	b.todo[f] = max(b.todo[f], seq)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next is one of those to do.
func (b *builds) next() (f flight, seq uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f, seq := range b.todo {
		return f, seq, true
	}
	return f, 0, false
}

// done takes one off the list, whatever came of it: where it failed, the next
// search or write finds that out and begins again.
func (b *builds) done(f flight, seq uint64, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failed || b.todo[f] <= seq {
		delete(b.todo, f)
	}
}

// bring is catchUp that goes on in the background when the caller's time is up.
func (pr *Projector) bring(ctx context.Context, i int, p port.Partition, seq uint64) error {
	err := pr.catchUp(ctx, i, p, seq)
	if err != nil && ctx.Err() != nil && !pr.mayLag(i) {
		pr.builds.add(flight{i, p}, seq)
	}
	return err
}

// build does what callers had no time for, until ctx ends.
func (pr *Projector) build(ctx context.Context) {
	for {
		f, seq, ok := pr.builds.next()
		if !ok {
			select {
			case <-pr.builds.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := pr.catchUp(ctx, f.index, f.p, seq)
		pr.builds.done(f, seq, err != nil)
		if ctx.Err() != nil {
			return
		}
		if err != nil && fault.CodeOf(err) != fault.NamespaceNotFound {
			pr.log.WarnContext(ctx, "an index could not be brought up; the next search or write tries again", "partition", f.p.String(), "error", err)
		}
	}
}
