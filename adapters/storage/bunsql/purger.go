package bunsql

import (
	"context"
	"log/slog"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// Purging takes batches that last about purgeTime, so that a write in between
// waits no longer, and rests as long as it worked.
const (
	purgeTime  = 10 * time.Millisecond
	purgeLeast = 8
	purgeMost  = 2048

	retryInterval = time.Minute // between attempts at a purge that failed or that another process runs
)

// Purger removes in the background what deleted namespaces held, in batches of
// transactions of their own.
type Purger struct {
	store port.Store
	log   *slog.Logger
	// claim reports at the start of a batch whether this process does it.
	claim  func(context.Context, *Writer) (bool, error)
	signal chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
}

// NewPurger makes the purger of a store over this package. claim is called at
// the start of each batch where several processes share the database; nil: always.
// Start begins with what a run before this one left.
func NewPurger(s port.Store, log *slog.Logger, claim func(context.Context, *Writer) (bool, error)) *Purger {
	p := &Purger{store: s, log: log, claim: claim, signal: make(chan struct{}, 1), ended: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.Wake()
	return p
}

// Wake says that a namespace was dropped.
func (p *Purger) Wake() {
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

// Start begins to purge.
func (p *Purger) Start() { go p.loop() }

// Stop ends after the batch in progress.
func (p *Purger) Stop() {
	p.cancel()
	<-p.ended
}

func (p *Purger) loop() {
	defer close(p.ended)
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.signal:
		}
		if err := p.All(p.ctx); err != nil && p.ctx.Err() == nil {
			p.log.Warn("namespace purge failed", "error", err, "retry_in", retryInterval)
			time.AfterFunc(retryInterval, p.Wake)
		}
	}
}

// All purges what is dropped now. What another process purges is left to it, and
// checked a minute later.
func (p *Purger) All(ctx context.Context) error {
	var dropped []int64
	err := p.store.View(ctx, func(r port.Reader) (err error) {
		dropped, err = r.(*Reader).Dropped(ctx)
		return err
	})
	for _, generation := range dropped {
		if err == nil {
			err = p.purgeGeneration(ctx, generation)
		}
	}
	return err
}

func (p *Purger) purgeGeneration(ctx context.Context, generation int64) error {
	began, batch, n := time.Now(), 64, 0
	for {
		var done, others bool
		var took time.Duration
		err := p.store.Update(ctx, func(w port.Writer) (err error) {
			own := w.(*Writer)
			if p.claim != nil {
				mine, err := p.claim(ctx, own)
				if others = !mine; err != nil || others {
					return err
				}
			}
			start := time.Now()
			done, err = own.Purge(ctx, generation, batch)
			took = time.Since(start)
			return err
		})
		if err != nil {
			return err
		}
		if others {
			time.AfterFunc(retryInterval, p.Wake)
			return nil
		}
		n++
		if done {
			p.log.Info("namespace purged", "generation", generation, "batches", n, "took", time.Since(began))
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
