package sqlite

import (
	"context"
	"log/slog"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/port"
)

// Purging takes batches that last about purgeTime, so that a write in between
// waits no longer, and rests as long as it worked.
const (
	purgeTime  = 10 * time.Millisecond
	purgeLeast = 8
	purgeMost  = 2048
)

// purger removes what deleted namespaces held.
type purger struct {
	store  *Store
	log    *slog.Logger
	signal chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
}

func newPurger(s *Store, log *slog.Logger) *purger {
	p := &purger{store: s, log: log, signal: make(chan struct{}, 1), ended: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wake() // what a run before this one left
	return p
}

func (p *purger) wake() {
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

func (p *purger) start() { go p.loop() }

func (p *purger) stop() {
	p.cancel()
	<-p.ended
}

func (p *purger) loop() {
	defer close(p.ended)
	const again = time.Minute
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.signal:
		}
		if err := p.all(p.ctx); err != nil && p.ctx.Err() == nil {
			p.log.Warn("purging deleted namespaces failed and will be tried again", "error", err, "after", again)
			time.AfterFunc(again, p.wake)
		}
	}
}

func (p *purger) all(ctx context.Context) error {
	var dropped []int64
	err := p.store.View(ctx, func(r port.Reader) (err error) {
		dropped, err = r.(*bunsql.Reader).Dropped(ctx)
		return err
	})
	for _, generation := range dropped {
		if err == nil {
			err = p.one(ctx, generation)
		}
	}
	return err
}

func (p *purger) one(ctx context.Context, generation int64) error {
	began, batch, n := time.Now(), 64, 0
	for {
		var done bool
		var took time.Duration
		err := p.store.Update(ctx, func(w port.Writer) (err error) {
			start := time.Now()
			done, err = w.(*bunsql.Writer).Purge(ctx, generation, batch)
			took = time.Since(start)
			return err
		})
		if err != nil {
			return err
		}
		n++
		if done {
			p.log.Info("deleted namespace purged", "generation", generation, "batches", n, "took", time.Since(began))
			return nil
		}
		switch {
		case took < purgeTime/2:
			batch = min(2*batch, purgeMost)
		case took > 2*purgeTime:
			batch = max(batch/2, purgeLeast)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(took):
		}
	}
}
