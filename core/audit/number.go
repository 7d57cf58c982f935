package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

const (
	// numberEvery is how often records of other processes are looked for, numberTold where they
	// tell; those of this one are numbered gather after their commit, so that a few share a transaction.
	numberEvery = 5 * time.Second
	numberTold  = 10 * time.Minute // reading numbers, too
	gather      = 250 * time.Millisecond
	trimEvery   = time.Hour

	numberedAtOnce = 500
	trimmedAtOnce  = 5000
)

// Rouse has Run number what waits.
func (s *Service) Rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run numbers records and removes those whose time is up, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	every := numberEvery
	if s.told {
		every = numberTold
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	s.Rouse() // for what was left before
	var trimmed time.Time
	for {
		if now := s.now(); now.Sub(trimmed) >= trimEvery {
			trimmed = now
			if err := s.Trim(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "audit log not trimmed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(gather):
			}
		}
		if err := s.Number(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "audit records not numbered", "error", err)
		}
	}
}

// Number gives what waits its numbers. Any number of processes may do so at once: the store
// puts their transactions in an order, and each reads the end of the log in its own.
func (s *Service) Number(ctx context.Context) error {
	for {
		waits := false
		err := s.store.View(ctx, func(r reader) error {
			rs, err := r.WaitingAudit(ctx, 1)
			waits = len(rs) > 0
			return err
		})
		if err != nil || !waits {
			return err
		}
		if err := s.store.Update(ctx, func(w writer) error { return number(ctx, w) }); err != nil {
			return fmt.Errorf("number audit records: %w", err)
		}
	}
}

func number(ctx context.Context, w writer) error {
	head, err := w.AuditHead(ctx)
	if err != nil {
		return err
	}
	rs, err := w.WaitingAudit(ctx, numberedAtOnce)
	if err != nil || len(rs) == 0 {
		return err
	}
	last := port.AuditRecord{Seq: head.Seq, Hash: head.Hash}
	for i := range rs {
		rs[i].Seq, rs[i].Previous = last.Seq+1, last.Hash
		rs[i].Hash = rs[i].Sum()
		last = rs[i]
	}
	return w.NumberAudit(ctx, rs)
}

// Trim removes the records whose time is up.
func (s *Service) Trim(ctx context.Context) error {
	before := s.now().Add(-s.retention)
	for {
		n := 0
		err := s.store.Update(ctx, func(w writer) (err error) {
			n, err = w.TrimAudit(ctx, before, trimmedAtOnce)
			return err
		})
		if err != nil || n < trimmedAtOnce {
			return err
		}
	}
}
