package engine

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/mnemehq/mneme/core/replica"
)

// remaker makes all vectors of a partition anew; see document.Service.
type remaker interface {
	Look(ctx context.Context, p port.Partition, in ingest.Reindexing) (documents int, needed bool, err error)
	Reindex(ctx context.Context, p port.Partition, in ingest.Reindexing, progress func(done, total int)) (ingest.Reindexed, error)
}

var _, _ remaker = (*document.Service)(nil), (*memory.Service)(nil)

// reindexer runs reindexings in the background, one after the other: each keeps
// the models busy. Their records are in the store, where every replica sees them,
// and one that runs is claimed: those of a replica that died are begun again by
// another one. It implements admin.Reindexer.
type reindexer struct {
	documents *document.Service
	memories  *memory.Service
	encoders  *ingest.Encoders
	store     store
	projector *ingest.Projector
	replica   *replica.Member
	now       func() time.Time
	log       *slog.Logger
	turn      chan struct{}
	warming   sync.Mutex      // held while warm's work goes on
	run       context.Context // ends with the engine
	stop      context.CancelFunc
	mu        sync.Mutex // of all: none begins once stop was called
	all       sync.WaitGroup
}

const (
	// reindexKept is how long it is remembered how a reindexing ended.
	reindexKept = time.Hour
	// reindexTold is how often the progress of one is written to the store.
	reindexTold = 500 * time.Millisecond
)

func (x *reindexer) remaker(p port.Partition) remaker {
	if p.Space() == port.SpaceMemories {
		return x.memories
	}
	return x.documents
}

// Current implements admin.Reindexer.
func (x *reindexer) Current(n port.PartitionRow) bool { return !x.encoders.Stale(n) }

// Start implements admin.Reindexer.
func (x *reindexer) Start(ctx context.Context, p port.Partition, in ingest.Reindexing) (admin.Reindexing, error) {
	p = p.At(0)
	total, needed, err := x.remaker(p).Look(ctx, p, in)
	if err != nil {
		return admin.Reindexing{}, err
	}
	request, err := json.Marshal(in)
	if err != nil {
		return admin.Reindexing{}, fmt.Errorf("reindex: %w", err)
	}
	if x.run.Err() != nil {
		return admin.Reindexing{}, fault.New(fault.Unavailable, "the server is shutting down").After(5 * time.Second)
	}
	var last port.Reindexing
	var claim port.Claim
	begun, mine := false, false
	err = x.store.Update(ctx, func(w writer) (err error) {
		begun, mine = false, false
		if err := w.DropReindexings(ctx, x.now().Add(-reindexKept)); err != nil {
			return err
		}
		var known bool
		if last, known, err = w.Reindexing(ctx, p); err != nil || known && !last.Ended() {
			return err
		}
		if !needed {
			last = port.Reindexing{Partition: p, Status: admin.Unchanged}
			return nil
		}
		last = port.Reindexing{Partition: p, Status: admin.Waiting, Request: string(request), Total: total, UpdatedAt: x.now()}
		begun = true
		if claim, mine, err = w.TakeClaim(ctx, x.replica.Self(), port.ReindexClaim(p)); err != nil &&
			fault.CodeOf(err) != fault.Conflict {
			return err
		}
		return w.PutReindexing(ctx, last)
	})
	if err != nil {
		return admin.Reindexing{}, err
	}
	if begun && mine {
		x.begin(last, in, claim)
	}
	return shown(last), nil
}

// Discard implements admin.Reindexer.
func (x *reindexer) Discard(ctx context.Context, p port.Partition) (bool, error) {
	last, known, err := x.State(ctx, p.At(0))
	if err == nil && known && last.Underway() {
		err = fault.New(fault.Conflict, "namespace %q is being reindexed; what it makes can be discarded once that has ended",
			p.Name())
	}
	if err != nil {
		return false, err
	}
	return x.documents.Discard(ctx, p)
}

// shown is a record as callers see it.
func shown(r port.Reindexing) admin.Reindexing {
	out := admin.Reindexing{
		Name:      r.Partition.Name(),
		Status:    r.Status,
		Done:      r.Done,
		Total:     r.Total,
		Documents: r.Documents,
		Chunks:    r.Chunks,
	}
	if r.Comparison != "" {
		out.Comparison = new(ingest.Comparison)
		if json.Unmarshal([]byte(r.Comparison), out.Comparison) != nil {
			out.Comparison = nil // of another version
		}
	}
	if r.Code != "" {
		out.Error = &admin.ReindexFailed{Code: r.Code, Message: r.Message}
	}
	return out
}

// background runs what close waits for; ok is false once that was called.
func (x *reindexer) background(fn func()) (ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ok = x.run.Err() == nil; ok {
		x.all.Go(fn)
	}
	return ok
}

// warm has this replica's indexes hold the shadow of every namespace that another
// one reindexes, so that they need not begin with it when it is served.
func (x *reindexer) warm() {
	if !x.warming.TryLock() {
		return
	}
	warmed := x.background(func() {
		defer x.warming.Unlock()
		var shadows []port.PartitionEntry
		err := x.store.View(x.run, func(r reader) (err error) {
			shadows, err = r.Shadows(x.run, "")
			return err
		})
		for _, h := range shadows {
			if err == nil && h.Row.State == port.Building {
				err = x.projector.Ensure(x.run, h.Partition, h.Row.Seq)
			}
		}
		if err != nil && x.run.Err() == nil && !fault.IsPartitionNotFound(err) {
			x.log.WarnContext(x.run, "shadow prefetch failed", "error", err)
		}
	})
	if !warmed {
		x.warming.Unlock()
	}
}

// begin runs a claimed reindexing in the background. Where the server is shutting
// down another replica finds it, or the next start.
func (x *reindexer) begin(r port.Reindexing, in ingest.Reindexing, claim port.Claim) {
	x.background(func() {
		r := r
		out, err := x.inTurn(&r, in, claim)
		if x.run.Err() != nil && err != nil {
			return // as it was before; another replica goes on
		}
		r.Documents, r.Chunks = out.Documents, out.Chunks
		if out.Comparison != nil {
			if told, err := json.Marshal(out.Comparison); err == nil {
				r.Comparison = string(told)
			}
		}
		switch {
		case err != nil:
			f := fault.From(err)
			r.Status, r.Code, r.Message = admin.Failed, string(f.Code), f.Message
			x.log.WarnContext(x.run, "reindexing failed", "partition", r.Partition.String(), "error", err)
		case out.Unchanged:
			r.Status = admin.Unchanged
		case out.Held:
			r.Status = admin.Held
			x.log.InfoContext(x.run, "reindexing held", "partition", r.Partition.String(), "documents", out.Documents,
				"chunks", out.Chunks)
		default:
			r.Status = admin.Succeeded
			x.log.InfoContext(x.run, "reindexing finished", "partition", r.Partition.String(), "documents",
				out.Documents, "chunks", out.Chunks)
		}
		x.tell(context.WithoutCancel(x.run), r, claim, true)
	})
}

// tell writes a record down, unless another replica has taken it over. What the
// store does not take is told by the next one, or, of an ended one, found out by
// whoever takes it over: the vectors are of the configured models then.
func (x *reindexer) tell(ctx context.Context, r port.Reindexing, claim port.Claim, last bool) {
	r.UpdatedAt = x.now()
	err := x.store.Update(ctx, func(w writer) error {
		if err := w.ConfirmClaim(ctx, claim); err != nil {
			return err
		}
		if last {
			if err := w.EndClaim(ctx, claim); err != nil {
				return err
			}
		}
		if _, ok, err := w.Reindexing(ctx, r.Partition); err != nil || !ok {
			return err // erased meanwhile
		}
		return w.PutReindexing(ctx, r)
	})
	if err != nil && ctx.Err() == nil {
		x.log.WarnContext(ctx, "reindexing state write failed", "partition", r.Partition.String(), "error", err)
	}
}

// inTurn runs one reindexing after those before it. A panic, of a model for one,
// fails it alone.
func (x *reindexer) inTurn(r *port.Reindexing, in ingest.Reindexing, claim port.Claim) (out ingest.Reindexed, err error) {
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
	var told time.Time
	return x.remaker(r.Partition).Reindex(x.run, r.Partition, in, func(done, total int) {
		r.Status, r.Done, r.Total = admin.Running, done, total
		if time.Since(told) >= reindexTold {
			told = time.Now()
			x.tell(x.run, *r, claim, false)
		}
	})
}

// adopt begins the reindexings that no living replica has claimed.
func (x *reindexer) adopt(ctx context.Context) {
	var left []port.Reindexing
	err := x.store.View(ctx, func(r reader) (err error) {
		left, err = r.OrphanedReindexings(ctx)
		return err
	})
	for _, r := range left {
		var claim port.Claim
		var ok bool
		claim, ok, err = x.replica.Claim(ctx, port.ReindexClaim(r.Partition), func(rd replica.Reader) (bool, error) {
			last, known, err := rd.Reindexing(ctx, r.Partition)
			return known && !last.Ended(), err
		})
		if err != nil {
			break
		}
		if ok {
			x.log.InfoContext(ctx, "reindexing taken over", "partition", r.Partition.String())
			var in ingest.Reindexing
			if json.Unmarshal([]byte(r.Request), &in) != nil {
				x.log.WarnContext(ctx, "reindexing restarted", "partition", r.Partition.String())
			}
			in.Resume = true
			r.Status, r.Done = admin.Waiting, 0
			x.begin(r, in, claim)
		}
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		x.log.WarnContext(ctx, "reindexing takeover failed", "error", err)
	}
}

// State implements admin.Reindexer.
func (x *reindexer) State(ctx context.Context, p port.Partition) (out admin.Reindexing, known bool, err error) {
	err = x.store.View(ctx, func(r reader) error {
		last, ok, err := r.Reindexing(ctx, p)
		if known = ok && (!last.Ended() || x.now().Sub(last.UpdatedAt) <= reindexKept); known {
			out = shown(last)
		}
		return err
	})
	return out, known, err
}

// close ends what is under way, which leaves its partition as it was.
func (x *reindexer) close() {
	x.mu.Lock() // none begins from here on
	x.stop()
	x.mu.Unlock()
	x.all.Wait()
}
