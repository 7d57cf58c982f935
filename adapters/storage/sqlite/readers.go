package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// readers is a fixed number of reading connections, opened when first needed.
type readers struct {
	open  func(context.Context) (*bunsql.Session, error)
	slots *fair.Slots // one for each View that may run
	done  chan struct{}

	mu   sync.Mutex
	idle []*bunsql.Session // last in, first out: its page cache is warm
	stop sync.Once
}

func newReaders(n int, open func(context.Context) (*bunsql.Session, error)) *readers {
	return &readers{open: open, slots: fair.NewSlots(n), done: make(chan struct{})}
}

func errClosed(op string) error {
	return fault.Wrap(fault.Unavailable, op, errors.New("the store is closed"), "the server is shutting down").After(1e9)
}

func (r *readers) view(ctx context.Context, fn func(port.Reader) error) error {
	select {
	case <-r.done:
		return errClosed("read")
	default:
	}
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.slots.Give()
	s, err := r.acquire(ctx)
	if err != nil {
		return err
	}
	if err := s.Control(ctx, `BEGIN`); err != nil {
		return dialect{}.Fault("begin reading", errors.Join(err, s.Close()))
	}
	defer func() {
		if s.Control(ctx, `ROLLBACK`) != nil {
			_ = s.Close() // a connection that cannot end its snapshot is of no use
			return
		}
		r.mu.Lock()
		r.idle = append(r.idle, s)
		r.mu.Unlock()
	}()
	return s.Read(fn)
}

// enter waits until another view may run.
func (r *readers) enter(ctx context.Context) error {
	if r.slots.Take(ctx, r.done) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errClosed("read")
}

// pool is the state of the connections.
func (r *readers) pool() port.Pool {
	waits, waited := r.slots.Waits()
	return port.Pool{InUse: r.slots.InUse(), Max: r.slots.Size(), Waits: waits, Waited: waited}
}

func (r *readers) acquire(ctx context.Context) (*bunsql.Session, error) {
	r.mu.Lock()
	if n := len(r.idle); n > 0 {
		s := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return s, nil
	}
	r.mu.Unlock()
	s, err := r.open(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	if err := s.Control(ctx, `PRAGMA query_only = 1`); err != nil {
		return nil, dialect{}.Fault("open database", errors.Join(err, s.Close()))
	}
	return s, nil
}

// pause runs fn while no view runs; false if the running views do not end in time. New
// views wait in the meantime.
func (r *readers) pause(ctx context.Context, patience time.Duration, fn func() error) (bool, error) {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	held := 0
	defer func() {
		for range held {
			r.slots.Give()
		}
	}()
	for held < r.slots.Size() {
		if r.slots.Take(patient, r.done) {
			held++
			continue
		}
		switch err := ctx.Err(); {
		case err != nil:
			return false, err
		case patient.Err() != nil:
			return false, nil
		}
		return false, errClosed("read")
	}
	return true, fn()
}

// close waits for running views and closes the connections.
func (r *readers) close() error {
	r.stop.Do(func() { close(r.done) })
	for range r.slots.Size() {
		r.slots.Take(context.Background(), nil)
	}
	var errs []error
	for _, s := range r.idle {
		errs = append(errs, s.Close())
	}
	r.idle = nil
	return errors.Join(errs...)
}
