package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
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
	RevokedGrants   int64 `json:"revokedGrants" minimum:"0" doc:"grants removed, which were revoked first"`
	Unanswered      int64 `json:"unansweredUpstreams" minimum:"0" doc:"of these, those that their upstream did not take back in time"`
}

// EraseUser erases an end user of the caller's integration.
func (s *Service) EraseUser(ctx context.Context, in EraseUser) (ErasedUser, error) {
	who := ident.From(ctx)
	c, err := s.Erase(ctx, who.Org, who.Integration, in.EndUserID)
	if err != nil {
		return ErasedUser{}, err
	}
	return ErasedUser{true, c.Memories, c.Vectors, c.Grants, c.Unanswered}, nil
}

// Certificate says what an erasure has removed.
type Certificate struct {
	port.Erased
	VerifiedAbsent bool      // the store and every index were searched again and hold nothing
	At             time.Time // when that was found
}

// eraseBatch is how many memories one transaction of an erasure removes.
const eraseBatch = 500

// eraseKind is the kind of the jobs that erase.
const eraseKind = "end_user.erase"

// erasureKind is how erasures run. Nothing ends one but its success: until then its
// job is what a stop, a crash or a failure leaves to the next attempt. The row of the
// job names the end user, so it goes with the last row of the erasure.
func (s *Service) erasureKind() job.Kind {
	return job.Kind{
		Name:       eraseKind,
		Single:     true,
		Final:      true,
		Tries:      math.MaxInt32,
		Backoff:    time.Second,
		MaxBackoff: maxBackoff,
		Run:        s.runErasure,
		After:      s.afterErasure,
	}
}

// Erase removes everything of an end user, in this order: the mark that keeps
// writers out and revokes grants, the grants themselves, memories with vectors, records, receipts and stored answers, the
// index with its files, the end user itself, and the remains of deleted rows in
// files. It returns when nothing is left. An unknown end user is no
// error: the certificate counts nothing. The work goes on when the caller goes
// away, and what a crash or a failure interrupts is resumed; calling again waits for
// the work under way, counts what that removed, and makes sure by an erasure of its own.
func (s *Service) Erase(ctx context.Context, org ident.Org, integration, endUser string) (Certificate, error) {
	p := port.Memories(org, integration, endUser)
	var sum Certificate
	for waited := false; ; waited = true {
		c, joined, err := s.eraseOnce(ctx, p)
		if err == nil {
			sum.Memories, sum.Vectors, sum.Records = sum.Memories+c.Memories, sum.Vectors+c.Vectors, sum.Records+c.Records
			sum.Receipts, sum.Replays = sum.Receipts+c.Receipts, sum.Replays+c.Replays
			sum.Grants, sum.Unanswered = sum.Grants+c.Grants, sum.Unanswered+c.Unanswered
			sum.VerifiedAbsent, sum.At = c.VerifiedAbsent, c.At
		}
		// One that was under way may have ended that life of the end user before this
		// call, and the next one may have begun. One that was joined after such a wait
		// began while this call waited, and is as good as its own.
		if err != nil || !joined || waited {
			return sum, err
		}
	}
}

// eraseOnce erases one life of an end user, or joins the erasure under way.
func (s *Service) eraseOnce(ctx context.Context, p port.Partition) (c Certificate, joined bool, err error) {
	ended := make(chan outcome, 1)
	var pinned port.Partition
	begin := func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
		return s.store.Update(ctx, func(w writer) (err error) {
			s.erasures.leave(pinned, ended)
			if pinned, err = w.BeginErasure(ctx, p, s.now()); err != nil {
				return err
			}
			s.erasures.join(pinned, ended) // before it commits: the job may end at once
			return store(w, pinned)
		})
	}
	// Begun or not: a caller that leaves in between does not leave it open which.
	_, joined, err = s.jobs.Start(context.WithoutCancel(ctx), eraseKind, job.Order{Partition: p, In: begin})
	defer func() { s.erasures.leave(pinned, ended) }()
	if fault.IsPartitionNotFound(err) {
		// Who has saved nothing may have keys that name them.
		if err := s.store.Update(ctx, func(w writer) error { return w.ErasePersonalKeys(ctx, p) }); err != nil {
			return c, false, fmt.Errorf("erase personal keys: %w", err)
		}
		c, err = s.verifyAbsent(ctx, p)
		return c, false, err
	}
	if err != nil {
		return c, false, fmt.Errorf("begin erasure: %w", err)
	}
	c, err = s.awaitErasure(ctx, pinned, ended)
	return c, joined, err
}

// awaitErasure waits for an attempt of this replica to end, or for another replica to
// end the erasure.
func (s *Service) awaitErasure(ctx context.Context, pinned port.Partition, ended <-chan outcome) (Certificate, error) {
	poll := time.NewTicker(othersEvery)
	defer poll.Stop()
	var seen Certificate // what had been removed when it was last asked
	for {
		select {
		case o := <-ended:
			return o.certificate, o.err
		case <-ctx.Done():
			return Certificate{}, ctx.Err()
		case <-poll.C:
		}
		if s.erasures.running(pinned) {
			continue // its outcome says more
		}
		err := s.store.View(ctx, func(r snapshot) error {
			tally, err := r.ErasureTally(ctx, pinned)
			if err == nil {
				seen.Erased = tally
			}
			return err
		})
		switch {
		case fault.IsPartitionNotFound(err):
			select {
			case o := <-ended:
				return o.certificate, o.err
			default:
			}
			rest, err := s.verifyAbsent(ctx, pinned)
			seen.VerifiedAbsent, seen.At = rest.VerifiedAbsent, rest.At
			return seen, err
		case err != nil:
			return Certificate{}, fmt.Errorf("wait for the erasure of another replica: %w", err)
		}
	}
}

// runErasure is an attempt at an erasure whose mark is set. Whatever it fails with,
// another one has to be made.
func (s *Service) runErasure(ctx context.Context, j *job.Job) error {
	if j.Resumed {
		s.log.InfoContext(ctx, "erasure resumed", "partition", j.Partition.String())
	}
	s.erasures.begin(j.Partition)
	c, err := s.tryErasure(ctx, j.Partition)
	s.erasures.note(j.Partition, outcome{c, err})
	if err == nil {
		j.Gone()
		return nil
	}
	if ctx.Err() == nil {
		s.log.ErrorContext(ctx, "erasure attempt failed", "partition", j.Partition.String(), "error", err)
	}
	return fault.Wrap(fault.Unavailable, "erase", err, "the erasure failed; it is tried again").After(fault.From(err).RetryAfter)
}

// afterErasure tells who waits. Where another replica has the erasure by now they
// wait on.
func (s *Service) afterErasure(j *job.Job, err error) {
	s.erasures.end(j.Partition, err)
}

func (s *Service) tryErasure(ctx context.Context, pinned port.Partition) (c Certificate, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("erase: panic: %v\n%s", v, debug.Stack())
		}
	}()
	// Writes and searches that began before the mark may still hold what they read.
	if err := s.work.wait(ctx, pinned); err != nil {
		return Certificate{}, err
	}
	c, err = s.remove(ctx, pinned)
	if fault.IsPartitionNotFound(err) { // another replica has just ended it
		return s.verifyAbsent(ctx, pinned)
	}
	return c, err
}

// remove is an erasure from the mark on.
func (s *Service) remove(ctx context.Context, pinned port.Partition) (Certificate, error) {
	if err := s.eraseGrants(ctx, pinned); err != nil {
		return Certificate{}, err
	}
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
	if err := s.dropEverywhere(ctx, pinned); err != nil {
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

// drop removes what this replica has derived of a partition that is being erased, once
// nothing here works on it.
func (s *Service) drop(ctx context.Context, p port.Partition) error {
	if err := s.work.wait(ctx, p); err != nil {
		return err
	}
	for _, ix := range s.projector.Indexes() {
		if err := ix.Drop(ctx, p); err != nil {
			return fmt.Errorf("drop the index of an erased end user: %w", err)
		}
	}
	return nil
}

// acknowledge drops what this replica has derived, and reports that to the replica that
// erases.
func (s *Service) acknowledge(ctx context.Context, p port.Partition) error {
	self := s.replica.Self() // in a life that begins in the meantime, it has to be dropped again
	if err := s.drop(ctx, p); err != nil {
		return err
	}
	err := s.store.Update(ctx, func(w writer) error { return w.AcknowledgeErasure(ctx, p, self) })
	if err != nil {
		return fmt.Errorf("acknowledge an erasure: %w", err)
	}
	return nil
}

// dropEverywhere drops what this replica, which erases, has derived, and waits until every
// other living replica has done so. One that dies before cleans its files when it
// starts again.
func (s *Service) dropEverywhere(ctx context.Context, p port.Partition) error {
	var life port.Replica // in which it was dropped here
	for first := true; ; first = false {
		if self := s.replica.Self(); first || self != life {
			if err := s.drop(ctx, p); err != nil {
				return err
			}
			life = self
		}
		var missing []port.Replica
		err := s.store.View(ctx, func(r snapshot) (err error) {
			missing, err = r.Unacknowledged(ctx, p)
			return err
		})
		if err != nil {
			return fmt.Errorf("wait for other replicas: %w", err)
		}
		// What this one knows of itself needs no row in the store.
		missing = slices.DeleteFunc(missing, func(r port.Replica) bool { return r == life })
		if len(missing) == 0 {
			return nil
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

// watchErasures looks for the erasures under way, whichever replica runs them, and
// drops what this one has derived. Each has a goroutine of its own: replicas that
// waited for each other would wait for ever.
//
// A mark without a job is that of an older version, or of an installation that was
// moved in the middle of an erasure; it gets one.
func (s *Service) watchErasures(ctx context.Context) {
	every := watchEvery
	if s.replica.Alone() {
		every = watchOwn // which acknowledge themselves
	}
	t := time.NewTicker(every)
	defer t.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	var mu sync.Mutex
	busy := map[port.Partition]bool{}
	acknowledged := map[port.Partition]port.Replica{} // by which life
	for {
		var underway []port.Partition
		err := s.store.View(ctx, func(r snapshot) (err error) {
			underway, err = r.Erasing(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "erasure scan failed", "error", err)
		}
		mu.Lock()
		if err == nil && len(underway) == 0 && len(busy) == 0 {
			clear(acknowledged)
		}
		for _, p := range underway {
			self := s.replica.Self()
			if busy[p] || acknowledged[p] == self {
				continue
			}
			busy[p] = true
			all.Go(func() {
				err := errors.Join(s.acknowledge(ctx, p), s.ensureErasure(ctx, p))
				if err != nil && ctx.Err() == nil && !fault.IsPartitionNotFound(err) {
					s.log.WarnContext(ctx, "erasure acknowledgement failed", "partition", p.String(), "error", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if delete(busy, p); err == nil {
					acknowledged[p] = self
				}
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

// ensureErasure begins the job of an erasure that has none.
func (s *Service) ensureErasure(ctx context.Context, pinned port.Partition) error {
	j, known, err := s.jobs.Latest(ctx, eraseKind, pinned)
	if err != nil || known && !j.Status.Ended() {
		return err
	}
	begin := func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
		return s.store.Update(ctx, func(w writer) error {
			if _, err := w.BeginErasure(ctx, pinned, s.now()); err != nil { // it has ended in the meantime
				return err
			}
			return store(w, pinned)
		})
	}
	_, _, err = s.jobs.Start(ctx, eraseKind, job.Order{Partition: pinned, In: begin})
	return err
}
