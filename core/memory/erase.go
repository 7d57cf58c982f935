package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
)

// EraseUser are the parameters of DELETE /api/v1/users/{endUserId}.
type EraseUser struct {
	EndUserID string `path:"endUserId" json:"-" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
}

// EndUser is for keys limited to one end user.
func (in *EraseUser) EndUser() string { return in.EndUserID }

// ErasedUser answers the erasure of an end user.
type ErasedUser struct {
	Success         bool  `json:"success"`
	DeletedMemories int64 `json:"deletedMemories" minimum:"0" doc:"memories removed"`
	DeletedVectors  int64 `json:"deletedVectors" minimum:"0" doc:"vectors removed, dense and sparse"`
}

// EraseUser erases an end user of the caller's integration.
func (s *Service) EraseUser(ctx context.Context, in EraseUser) (ErasedUser, error) {
	who := ident.From(ctx)
	c, err := s.Erase(ctx, who.Org, who.Integration, in.EndUserID)
	if err != nil {
		return ErasedUser{}, err
	}
	return ErasedUser{true, c.Memories, c.Vectors}, nil
}

// Certificate says what an erasure has removed.
type Certificate struct {
	port.Erased
	VerifiedAbsent bool      // the store and every index were searched again and hold nothing
	At             time.Time // when that was found
}

// erasure is an erasure in progress, which further calls wait for.
type erasure struct {
	done    chan struct{}
	resumed bool // of a generation that a failure or a stop left half erased
	cert    Certificate
	err     error
}

// eraseBatch is how many memories one transaction of an erasure removes.
const eraseBatch = 500

// Erase removes everything of an end user, in this order: the mark that keeps
// writers out, memories with vectors, records, receipts and stored answers, the
// index with its files, the end user itself, and the remains of deleted rows in
// files. It returns when nothing is left. An unknown end user is no
// error: the certificate counts nothing. The work goes on when the caller goes
// away, and what a crash interrupts is resumed; calling again waits for the work
// under way, counts what that removed, and makes sure by an erasure of its own.
func (s *Service) Erase(ctx context.Context, org ident.Org, integration, endUser string) (Certificate, error) {
	return s.erase(ctx, port.Memories(org, integration, endUser))
}

func (s *Service) erase(ctx context.Context, p port.Partition) (Certificate, error) {
	var c Certificate
	for waited := false; ; waited = true {
		e, mine := s.startErasure(ctx, p)
		select {
		case <-e.done:
		case <-ctx.Done():
			return Certificate{}, ctx.Err()
		}
		if e.err == nil {
			c.Memories, c.Vectors, c.Records = c.Memories+e.cert.Memories, c.Vectors+e.cert.Vectors, c.Records+e.cert.Records
			c.Receipts, c.Replays = c.Receipts+e.cert.Receipts, c.Replays+e.cert.Replays
			c.VerifiedAbsent, c.At = e.cert.VerifiedAbsent, e.cert.At
		}
		// One that was under way may have ended that life of the end user before
		// this call, and the next one may have begun. One that began while this
		// call waited is as good as its own, unless it is of an older life.
		if mine || waited && !e.resumed {
			return c, e.err
		}
	}
}

// startErasure starts an erasure of a partition, or gives the one under way. A pinned
// partition is that life alone.
func (s *Service) startErasure(ctx context.Context, p port.Partition) (e *erasure, mine bool) {
	key := p.At(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.erasures[key]; e != nil {
		return e, false
	}
	e = &erasure{done: make(chan struct{}), resumed: p != key}
	s.erasures[key] = e
	go func() {
		defer func() {
			if v := recover(); v != nil {
				e.err = fmt.Errorf("erase: panic: %v", v)
			}
			s.mu.Lock()
			delete(s.erasures, key)
			s.mu.Unlock()
			close(e.done)
		}()
		e.cert, e.err = s.runErasure(context.WithoutCancel(ctx), p)
	}()
	return e, true
}

// Wait returns when no erasure is under way, or with the context's error.
func (s *Service) Wait(ctx context.Context) error {
	for {
		s.mu.Lock()
		var any *erasure
		for _, e := range s.erasures {
			any = e
		}
		s.mu.Unlock()
		if any == nil {
			return nil
		}
		select {
		case <-any.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Service) runErasure(ctx context.Context, p port.Partition) (Certificate, error) {
	var pinned port.Partition
	var claim port.Claim
	mine := false
	err := s.store.Update(ctx, func(w writer) (err error) {
		if pinned, err = w.BeginErasure(ctx, p, s.now()); err != nil {
			return err
		}
		claim, mine, err = w.TakeClaim(ctx, s.replica.Self(), port.EraseClaim(pinned))
		if fault.CodeOf(err) == fault.Conflict {
			err = nil // this replica's lease has lapsed; it is renewed soon
		}
		return err
	})
	if fault.IsPartitionNotFound(err) {
		return s.verifyAbsent(ctx, p)
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("begin erasure: %w", err)
	}
	// Writes and searches that began before the mark may still hold what they read.
	if err := s.work.wait(ctx, p); err != nil {
		return Certificate{}, err
	}
	var seen Certificate // what another replica had removed when it was last asked
	if !mine {
		var done bool
		if seen, done, err = s.take(ctx, pinned, &claim); err != nil || done {
			return seen, err
		}
	}
	c, err := s.remove(ctx, pinned)
	if err != nil {
		s.replica.End(ctx, claim) // others may try
	}
	if fault.IsPartitionNotFound(err) { // another replica has just ended it
		rest, err := s.verifyAbsent(ctx, pinned)
		seen.VerifiedAbsent, seen.At = rest.VerifiedAbsent, rest.At
		return seen, err
	}
	return c, err
}

// remove is an erasure from the mark on.
func (s *Service) remove(ctx context.Context, pinned port.Partition) (Certificate, error) {
	for more := true; more; {
		err := s.store.Update(ctx, func(w writer) (err error) {
			more, err = w.EraseMemories(ctx, pinned, eraseBatch)
			return err
		})
		if err != nil {
			return Certificate{}, fmt.Errorf("erase memories: %w", err)
		}
	}
	var c Certificate
	err := s.store.View(ctx, func(r snapshot) (err error) {
		c.Erased, err = r.ErasureTally(ctx, pinned)
		return err
	})
	if err != nil {
		return Certificate{}, fmt.Errorf("count the erasure: %w", err)
	}
	if err := s.acknowledge(ctx, pinned); err != nil {
		return Certificate{}, err
	}
	if err := s.acknowledged(ctx, pinned); err != nil {
		return Certificate{}, err
	}
	// Before the end of the erasure, so that a crash does it again.
	if err := s.scrub(ctx); err != nil {
		return Certificate{}, err
	}
	err = s.changes.Write(ctx, ingest.CauseErasure, func(tx *ingest.Tx) error { return tx.EndErasure(ctx, pinned, s.now()) })
	if err != nil {
		return Certificate{}, fmt.Errorf("end erasure: %w", err)
	}
	rest, err := s.verifyAbsent(ctx, pinned)
	c.VerifiedAbsent, c.At = rest.VerifiedAbsent, rest.At
	return c, err
}

// othersEvery is the interval between looks at how far other replicas are.
const othersEvery = 50 * time.Millisecond

// take claims the erasure of a partition for this replica. Where another replica has
// the claim, take waits until that erasure ends, and returns its certificate, or
// until the claim is free.
func (s *Service) take(ctx context.Context, p port.Partition, claim *port.Claim) (c Certificate, done bool, err error) {
	for {
		var ok bool
		*claim, ok, err = s.claim(ctx, p)
		if ok || err != nil && fault.CodeOf(err) != fault.Conflict {
			return c, false, err
		}
		time.Sleep(othersEvery)
		err = s.store.View(ctx, func(r snapshot) (err error) {
			tally, err := r.ErasureTally(ctx, p)
			if err == nil {
				c.Erased = tally
			}
			return err
		})
		if fault.IsPartitionNotFound(err) {
			rest, err := s.verifyAbsent(ctx, p)
			c.VerifiedAbsent, c.At = rest.VerifiedAbsent, rest.At
			return c, true, err
		}
		if err != nil {
			return Certificate{}, false, fmt.Errorf("wait for the erasure of another replica: %w", err)
		}
	}
}

// claim claims the erasure of a pinned partition; ok is false when it has ended,
// and while another replica has it.
func (s *Service) claim(ctx context.Context, p port.Partition) (c port.Claim, ok bool, err error) {
	return s.replica.Claim(ctx, port.EraseClaim(p), func(r replica.Reader) (bool, error) {
		_, err := r.Partition(ctx, p)
		if fault.IsPartitionNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// acknowledge drops what this replica has derived of a partition that is being
// erased, once nothing here works on it, and reports that to the erasing replica.
func (s *Service) acknowledge(ctx context.Context, p port.Partition) error {
	if err := s.work.wait(ctx, p); err != nil {
		return err
	}
	for _, ix := range s.projector.Indexes() {
		if err := ix.Drop(ctx, p); err != nil {
			return fmt.Errorf("drop the index of an erased end user: %w", err)
		}
	}
	err := s.store.Update(ctx, func(w writer) error { return w.AcknowledgeErasure(ctx, p, s.replica.Self()) })
	if err != nil {
		return fmt.Errorf("acknowledge an erasure: %w", err)
	}
	return nil
}

// acknowledged waits until every living replica has nothing of a partition any
// more. A replica that dies before cleans its files when it starts again.
func (s *Service) acknowledged(ctx context.Context, p port.Partition) error {
	for {
		var missing []port.Replica
		err := s.store.View(ctx, func(r snapshot) (err error) {
			missing, err = r.Unacknowledged(ctx, p)
			return err
		})
		if err != nil {
			return fmt.Errorf("wait for other replicas: %w", err)
		}
		if len(missing) == 0 {
			return nil
		}
		if slices.Contains(missing, s.replica.Self()) { // a new life of this one
			if err := s.acknowledge(ctx, p); err != nil {
				return err
			}
			continue
		}
		time.Sleep(othersEvery)
	}
}

// scrub overwrites deleted data in the store's files.
func (s *Service) scrub(ctx context.Context) error {
	if s.scrubber == nil {
		return nil
	}
	if err := s.scrubber.Scrub(ctx); err != nil {
		return fmt.Errorf("scrub the store: %w", err)
	}
	return nil
}

// verifyAbsent scrubs and then finds that neither the store nor an index has anything
// of a partition. A call for an unknown end user may be the repeat of one that
// a crash ended between the last row and the files, so it scrubs as well.
func (s *Service) verifyAbsent(ctx context.Context, p port.Partition) (Certificate, error) {
	if err := s.scrub(ctx); err != nil {
		return Certificate{}, err
	}
	err := s.store.View(ctx, func(r snapshot) error {
		_, err := r.Partition(ctx, p)
		return err
	})
	if err == nil && p.Generation() == 0 {
		return Certificate{At: s.now()}, nil // an end user of this id was created since
	}
	if err == nil {
		return Certificate{}, errors.New("erase: the end user is still in the store")
	}
	if !fault.IsPartitionNotFound(err) {
		return Certificate{}, fmt.Errorf("verify the erasure: %w", err)
	}
	if p.Generation() != 0 {
		for _, ix := range s.projector.Indexes() {
			at, err := ix.Applied(ctx, p)
			if err != nil {
				return Certificate{}, fmt.Errorf("verify the erasure: %w", err)
			}
			if at != 0 {
				return Certificate{}, errors.New("erase: the index still has the end user")
			}
		}
	}
	return Certificate{VerifiedAbsent: true, At: s.now()}, nil
}

// resumedAtOnce bounds the erasures that one replica finishes for others at a time.
const resumedAtOnce = 4

// watchErasures looks for the erasures under way, whichever replica runs them: it drops
// what this one has derived, and finishes those that no replica runs. Each has
// a goroutine of its own: replicas that waited for each other would wait for ever.
func (s *Service) watchErasures(ctx context.Context) {
	every := watchEvery
	if s.replica.Alone() {
		every = upkeepEvery // for what fails
	}
	t := time.NewTicker(every)
	defer t.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	var mu sync.Mutex
	busy := map[port.Partition]bool{}
	said := map[port.Partition]port.Replica{} // acknowledged, by which life
	failed := map[port.Partition]time.Time{}
	turns := make(chan struct{}, resumedAtOnce)
	one := func(p port.Partition, told port.Replica, rest bool) {
		self := s.replica.Self()
		if told != self {
			err := s.acknowledge(ctx, p)
			if fault.IsPartitionNotFound(err) {
				return
			}
			if err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "erasure acknowledgement failed", "partition", p.String(), "error", err)
			}
			if err == nil {
				mu.Lock()
				said[p] = self
				mu.Unlock()
			}
		}
		if rest {
			return
		}
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		default:
			return
		}
		if err := s.resume(ctx, p); err != nil && ctx.Err() == nil {
			mu.Lock()
			failed[p] = time.Now()
			mu.Unlock()
			s.log.ErrorContext(ctx, "erasure resumption failed", "partition", p.String(), "error", err)
		}
	}
	for {
		var left []port.Partition
		err := s.store.View(ctx, func(r snapshot) (err error) {
			left, err = r.Erasing(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "erasure scan failed", "error", err)
		}
		mu.Lock()
		if err == nil && len(left) == 0 && len(busy) == 0 {
			clear(said)
			clear(failed)
		}
		for _, p := range left {
			if busy[p] {
				continue
			}
			busy[p] = true
			told, rest := said[p], time.Since(failed[p]) < upkeepEvery
			all.Go(func() {
				one(p, told, rest)
				mu.Lock()
				delete(busy, p)
				mu.Unlock()
			})
		}
		mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// resume finishes an erasure that was begun and not ended, unless it is under way
// here or at another replica.
func (s *Service) resume(ctx context.Context, p port.Partition) error {
	s.mu.Lock()
	here := s.erasures[p.At(0)] != nil
	s.mu.Unlock()
	if here {
		return nil
	}
	if _, ok, err := s.claim(ctx, p); err != nil || !ok {
		if fault.CodeOf(err) == fault.Conflict {
			err = nil // of a life that is over; the next one asks again
		}
		return err
	}
	e, mine := s.startErasure(ctx, p)
	if !mine {
		return nil
	}
	select {
	case <-e.done:
	case <-ctx.Done():
		return nil
	}
	if e.err == nil {
		s.log.InfoContext(ctx, "erasure resumed", "partition", p.String())
	}
	return e.err
}
