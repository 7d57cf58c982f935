package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// retainer is an index that can forget partitions whose life is over.
type retainer interface{ Retain(live []int64) error }

// beat is what is done with each renewal of the lease: others are told how far
// the indexes are, and now and then what is left behind is removed.
func (e *Engine) beat(ctx context.Context) {
	if !e.replica.Alone() {
		if err := e.projector.Publish(ctx); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "publish watermarks failed", "error", err)
		}
	}
	if now := time.Now(); now.Sub(e.tidied) >= tidyEvery {
		e.tidied = now
		e.tidy(ctx)
	}
}

// whenTold has what other processes have stored looked for whenever told gets a value; nil: never.
func whenTold(told <-chan struct{}, look ...func()) func(context.Context) error {
	if told == nil {
		return nil
	}
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-told:
			}
			for _, one := range look {
				one()
			}
		}
	}
}

// tidyEvery is how often tidy runs.
const tidyEvery = 5 * time.Minute

// tidy removes what other replicas' deletions have left in this one's indexes, and
// what was kept for replicas that do not come back.
func (e *Engine) tidy(ctx context.Context) {
	err := e.forgetDead(ctx)
	err = errors.Join(err, e.store.Update(ctx, func(w writer) error {
		return errors.Join(w.DropWatermarks(ctx), w.DropBuckets(ctx))
	}))
	if err != nil && ctx.Err() == nil {
		e.log.WarnContext(ctx, "cleanup failed", "error", err)
	}
}

// lapsed removes from the indexes what may have been erased while other replicas
// took this one for dead.
func (e *Engine) lapsed(ctx context.Context) {
	if err := e.forgetDead(ctx); err != nil && ctx.Err() == nil {
		e.log.ErrorContext(ctx, "cleanup after a lapsed lease failed", "error", err)
	}
}

// forgetDead removes what indexes keep of partitions that are gone.
func (e *Engine) forgetDead(ctx context.Context) error {
	var live []int64
	err := e.store.View(ctx, func(r reader) (err error) {
		live, err = r.Generations(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("list live partitions: %w", err)
	}
	for _, ix := range e.projector.Indexes() {
		if r, ok := ix.(retainer); ok {
			if err := r.Retain(live); err != nil {
				return fmt.Errorf("clean the index: %w", err)
			}
		}
	}
	return nil
}
