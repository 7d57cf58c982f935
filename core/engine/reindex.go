package engine

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
)

// remaker makes all vectors of a partition anew; see document.Service.
type remaker interface {
	Stale(ctx context.Context, p port.Partition) (documents int, stale bool, err error)
	Reindex(ctx context.Context, p port.Partition, force bool, progress func(done, total int)) (ingest.Reindexed, error)
}

var _, _ remaker = (*document.Service)(nil), (*memory.Service)(nil)

// reindexer runs reindexings in the background, one after the other: each keeps
// the models busy. It implements admin.Reindexer.
type reindexer struct {
	documents, memories remaker
	check               func(port.Namespace) error
	now                 func() time.Time
	log                 *slog.Logger
	turn                chan struct{}
	run                 context.Context // ends with the engine
	stop                context.CancelFunc
	all                 sync.WaitGroup

	mu     sync.Mutex
	states map[port.Partition]*reindexing // by unpinned partition
}

type reindexing struct {
	admin.Reindexing
	ended time.Time
}

// reindexKept is how long it is remembered how a reindexing ended.
const reindexKept = time.Hour

func (x *reindexer) remaker(p port.Partition) remaker {
	if p.Space() == port.SpaceMemories {
		return x.memories
	}
	return x.documents
}

// Check implements admin.Reindexer.
func (x *reindexer) Check(n port.Namespace) error { return x.check(n) }

// Start implements admin.Reindexer.
func (x *reindexer) Start(ctx context.Context, p port.Partition, force bool) (admin.Reindexing, error) {
	total, stale, err := x.remaker(p).Stale(ctx, p)
	if err != nil {
		return admin.Reindexing{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.now()
	for key, r := range x.states {
		if !r.Underway() && now.Sub(r.ended) > reindexKept {
			delete(x.states, key)
		}
	}
	r := x.states[p]
	switch {
	case r != nil && r.Underway():
		return r.Reindexing, nil
	case !stale && !force:
		return admin.Reindexing{Name: p.Name(), Status: admin.Unchanged}, nil
	case x.run.Err() != nil:
		return admin.Reindexing{}, fault.New(fault.Unavailable, "the server is shutting down").After(5 * time.Second)
	}
	r = &reindexing{Reindexing: admin.Reindexing{Name: p.Name(), Status: admin.Waiting, Total: total}}
	x.states[p] = r
	x.all.Add(1)
	go func() {
		defer x.all.Done()
		out, err := x.inTurn(p, force, r)
		x.mu.Lock()
		defer x.mu.Unlock()
		r.ended, r.Documents, r.Chunks = x.now(), out.Documents, out.Chunks
		switch {
		case err != nil:
			f := fault.From(err)
			r.Status, r.Error = admin.Failed, &admin.ReindexFailed{Code: string(f.Code), Message: f.Message}
			x.log.WarnContext(x.run, "reindexing failed", "partition", p.String(), "error", err)
		case out.Unchanged:
			r.Status = admin.Unchanged
		default:
			r.Status = admin.Succeeded
			x.log.InfoContext(x.run, "reindexed", "partition", p.String(), "documents", out.Documents, "chunks", out.Chunks)
		}
	}()
	return r.Reindexing, nil
}

// inTurn runs one reindexing after those before it. A panic, of a model for one,
// fails it alone.
func (x *reindexer) inTurn(p port.Partition, force bool, r *reindexing) (out ingest.Reindexed, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-x.run.Done():
		return out, x.run.Err()
	}
	return x.remaker(p).Reindex(x.run, p, force, func(done, total int) {
		x.mu.Lock()
		defer x.mu.Unlock()
		r.Status, r.Done, r.Total = admin.Running, done, total
	})
}

// State implements admin.Reindexer.
func (x *reindexer) State(p port.Partition) (admin.Reindexing, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.states[p]; r != nil {
		return r.Reindexing, true
	}
	return admin.Reindexing{}, false
}

// close ends what is under way, which leaves its partition as it was.
func (x *reindexer) close() {
	x.mu.Lock() // none begins from here on
	x.stop()
	x.mu.Unlock()
	x.all.Wait()
}
