package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// EraseUser are the parameters of DELETE /api/v1/users/{endUserId}.
type EraseUser struct {
	EndUserID string `path:"endUserId" json:"-" fault:"invalid_end_user_id"`
}

// Validate checks the id.
func (in *EraseUser) Validate() error { return checkEndUser(in.EndUserID) }

// EndUser is for keys limited to one end user.
func (in *EraseUser) EndUser() string { return in.EndUserID }

// ErasedUser answers the erasure of an end user.
type ErasedUser struct {
	Success         bool  `json:"success"`
	DeletedMemories int64 `json:"deletedMemories" doc:"memories removed"`
	DeletedVectors  int64 `json:"deletedVectors" doc:"vectors removed, dense and sparse"`
}

// EraseUser erases an end user of the caller's integration.
func (s *Service) EraseUser(ctx context.Context, in EraseUser) (ErasedUser, error) {
	who, _ := ident.From(ctx)
	c, err := s.Erase(ctx, who.Org, who.Integration, in.EndUserID)
	if err != nil {
		return ErasedUser{}, err
	}
	return ErasedUser{true, c.Memories, c.Vectors}, nil
}

// Certificate says what an erasure has removed.
type Certificate struct {
	port.Erased
	VerifiedAbsent bool      // the store and every index were asked again and have nothing
	At             time.Time // when that was found
}

// erasure is one under way, which further calls wait for.
type erasure struct {
	done    chan struct{}
	resumed bool // of one life that a failure or a stop has left half erased
	cert    Certificate
	err     error
}

// eraseBatch is how many memories one transaction of an erasure removes.
const eraseBatch = 500

// Erase removes everything of an end user, in this order: the mark that keeps
// writers out, memories with vectors, records, receipts and stored answers, the
// index with its files, the end user itself, and what files still hold of
// deleted rows. It returns when nothing is left. An unknown end user is no
// error: the certificate counts nothing. The work goes on when the caller goes
// away, and what a crash interrupts is resumed; calling again waits for the work
// under way, counts what that removed, and makes sure by an erasure of its own.
func (s *Service) Erase(ctx context.Context, org ident.Org, integration, endUser string) (Certificate, error) {
	return s.erase(ctx, port.Memories(org, integration, endUser))
}

func (s *Service) erase(ctx context.Context, p port.Partition) (Certificate, error) {
	var c Certificate
	for waited := false; ; waited = true {
		e, mine := s.begin(ctx, p)
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

// begin starts an erasure of a partition, or gives the one under way. A pinned
// partition is that life alone.
func (s *Service) begin(ctx context.Context, p port.Partition) (e *erasure, mine bool) {
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
		e.cert, e.err = s.run(context.WithoutCancel(ctx), p)
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

func (s *Service) run(ctx context.Context, p port.Partition) (Certificate, error) {
	var pinned port.Partition
	err := s.Store.Update(ctx, func(w port.Writer) (err error) {
		pinned, err = w.BeginErasure(ctx, p, s.now())
		return err
	})
	if fault.CodeOf(err) == fault.NamespaceNotFound {
		return s.absent(ctx, p)
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("begin erasure: %w", err)
	}
	// Whoever was writing or searching before the mark may still hold what they read.
	if err := s.work.wait(ctx, p); err != nil {
		return Certificate{}, err
	}
	for more := true; more; {
		err := s.Store.Update(ctx, func(w port.Writer) (err error) {
			more, err = w.EraseMemories(ctx, pinned, eraseBatch)
			return err
		})
		if err != nil {
			return Certificate{}, fmt.Errorf("erase memories: %w", err)
		}
	}
	var c Certificate
	err = s.Store.View(ctx, func(r port.Reader) (err error) {
		c.Erased, err = r.ErasureTally(ctx, pinned)
		return err
	})
	if err != nil {
		return Certificate{}, fmt.Errorf("count the erasure: %w", err)
	}
	for _, ix := range s.Projector.Indexes() {
		if err := ix.Drop(ctx, pinned); err != nil {
			return Certificate{}, fmt.Errorf("drop the index of an erased end user: %w", err)
		}
	}
	// Before the end of the erasure, so that a crash does it again.
	if err := s.scrub(ctx); err != nil {
		return Certificate{}, err
	}
	if err := s.Store.Update(ctx, func(w port.Writer) error { return w.EndErasure(ctx, pinned) }); err != nil {
		return Certificate{}, fmt.Errorf("end erasure: %w", err)
	}
	rest, err := s.absent(ctx, pinned)
	c.VerifiedAbsent, c.At = rest.VerifiedAbsent, rest.At
	return c, err
}

// scrub makes the store's files forget what was deleted.
func (s *Service) scrub(ctx context.Context) error {
	if f, ok := s.Store.(port.Scrubber); ok {
		if err := f.Scrub(ctx); err != nil {
			return fmt.Errorf("scrub the store: %w", err)
		}
	}
	return nil
}

// absent scrubs and then finds that neither the store nor an index has anything
// of a partition. A call for an unknown end user may be the repeat of one that
// a crash ended between the last row and the files, so it scrubs as well.
func (s *Service) absent(ctx context.Context, p port.Partition) (Certificate, error) {
	if err := s.scrub(ctx); err != nil {
		return Certificate{}, err
	}
	err := s.Store.View(ctx, func(r port.Reader) error {
		_, err := r.Namespace(ctx, p)
		return err
	})
	if err == nil && p.Generation() == 0 {
		return Certificate{At: s.now()}, nil // an end user of this id has come to be since
	}
	if err == nil {
		return Certificate{}, errors.New("erase: the end user is still in the store")
	}
	if fault.CodeOf(err) != fault.NamespaceNotFound {
		return Certificate{}, fmt.Errorf("verify the erasure: %w", err)
	}
	if p.Generation() != 0 {
		for _, ix := range s.Projector.Indexes() {
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

// resume finishes erasures that were begun and not ended, but for those under way.
func (s *Service) resume(ctx context.Context) {
	var left []port.Partition
	err := s.Store.View(ctx, func(r port.Reader) (err error) {
		left, err = r.Erasing(ctx)
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.Log.ErrorContext(ctx, "unfinished erasures were not found", "error", err)
	}
	for _, p := range left {
		e, mine := s.begin(ctx, p)
		if !mine {
			continue
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return
		}
		if e.err != nil {
			s.Log.ErrorContext(ctx, "an interrupted erasure failed again", "partition", p.String(), "error", e.err)
			continue
		}
		s.Log.InfoContext(ctx, "an interrupted erasure was finished", "partition", p.String())
	}
}
