package replica

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// The lease of a replica, and how often it is renewed. A process that has its store to
// itself holds a lease that never ends, and renews it rarely.
const (
	Lease = 20 * time.Second
	Every = 5 * time.Second

	aloneLease = 100 * 365 * 24 * time.Hour
	aloneEvery = time.Hour
)

// Settings are what a Member is made of.
type Settings struct {
	Store port.Store
	// ID names something that no other process uses while this one runs, such as a
	// locked folder: the claims of an earlier process with the same ID are freed at
	// once. "": a random one.
	ID    string
	Lease time.Duration // 0: Lease, or without end where the store is port.Exclusive
	Every time.Duration // 0: Every, or an hour
	// Beat is called after each renewal, and Lapsed, before it, when others may
	// have taken this process for dead since the last one; nil: nothing.
	Beat, Lapsed func(context.Context)
	Log          *slog.Logger
}

// Reader is what tells whether a piece of work is unfinished.
type Reader interface {
	port.PartitionReader
	port.JobReader
	port.ReplicaReader
}

type writer interface {
	Reader
	port.ReplicaWriter
}

// Member is this process among the replicas. Safe for concurrent use.
type Member struct {
	store           port.Narrowed[Reader, writer]
	lease, every    time.Duration
	onBeat, onLapse func(context.Context)
	log             *slog.Logger
	alone           bool

	mu      sync.Mutex
	self    port.Replica
	renewed time.Time
	lapses  int64
}

// Standing is how this process stands among the replicas.
type Standing struct {
	Alone   bool
	Renewed time.Time // when the lease last was
	Lapses  int64     // how often others may have taken this process for dead
}

// Standing tells it.
func (m *Member) Standing() Standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Standing{m.alone, m.renewed, m.lapses}
}

// Join begins a life of the replica. Call Run to keep it.
func Join(ctx context.Context, s Settings) (*Member, error) {
	if s.ID == "" {
		s.ID = rand.Text()
	}
	x, ok := s.Store.(port.Exclusive)
	alone := ok && x.Exclusive() && s.Lease == 0
	if alone {
		s.Lease, s.Every = aloneLease, cmp.Or(s.Every, aloneEvery)
	}
	s.Lease, s.Every = cmp.Or(s.Lease, Lease), cmp.Or(s.Every, Every)
	nothing := func(context.Context) {}
	if s.Beat == nil {
		s.Beat = nothing
	}
	if s.Lapsed == nil {
		s.Lapsed = nothing
	}
	m := &Member{
		store:   port.Narrow(s.Store, func(r port.Reader) Reader { return r }, func(w port.Writer) writer { return w }),
		lease:   s.Lease,
		every:   s.Every,
		onBeat:  s.Beat,
		onLapse: s.Lapsed,
		log:     s.Log,
		alone:   alone,
	}
	if err := m.join(ctx, s.ID); err != nil {
		return nil, fmt.Errorf("join the replicas: %w", err)
	}
	return m, nil
}

func (m *Member) join(ctx context.Context, id string) error {
	var self port.Replica
	err := m.store.Update(ctx, func(w writer) (err error) {
		if self, err = w.JoinReplica(ctx, id, m.lease); err != nil || !m.alone {
			return err
		}
		// The store is this process's alone, so other replicas in the list have ended.
		others, err := w.Replicas(ctx)
		for _, r := range others {
			if err == nil && r != self {
				err = w.LeaveReplica(ctx, r)
			}
		}
		return err
	})
	if err == nil {
		m.mu.Lock()
		m.self, m.renewed = self, time.Now()
		m.mu.Unlock()
	}
	return err
}

// Self is the current life.
func (m *Member) Self() port.Replica {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.self
}

// Alone reports whether no other process can serve over the store.
func (m *Member) Alone() bool { return m.alone }

// Run renews the lease until ctx is done.
func (m *Member) Run(ctx context.Context) {
	t := time.NewTicker(m.every)
	defer t.Stop()
	for {
		m.heartbeat(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (m *Member) heartbeat(ctx context.Context) {
	// A store that hangs must not prevent the next attempt.
	within, cancel := context.WithTimeout(ctx, min(m.lease, Lease))
	defer cancel()
	self := m.Self()
	err := m.store.Update(within, func(w writer) error { return w.RenewReplica(within, self, m.lease) })
	if fault.CodeOf(err) == fault.Conflict {
		m.log.WarnContext(ctx, "replica lease lapsed", "replica", self.ID, "epoch", self.Epoch)
		// Were it another process with this id, each would end the other's lives: a
		// copied folder, for one. A fresh id ends that.
		m.mu.Lock()
		m.lapses++
		m.mu.Unlock()
		if err = m.join(within, rand.Text()); err == nil {
			m.onLapse(ctx)
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			m.log.WarnContext(ctx, "replica lease not renewed", "replica", self.ID, "error", err)
		}
		return
	}
	m.mu.Lock()
	m.renewed = time.Now()
	m.mu.Unlock()
	m.onBeat(ctx)
}

// Leave ends the life, so that others need not wait for the lease to lapse.
func (m *Member) Leave(ctx context.Context) error {
	self := m.Self()
	if err := m.store.Update(ctx, func(w writer) error { return w.LeaveReplica(ctx, self) }); err != nil {
		return fmt.Errorf("leave the replicas: %w", err)
	}
	return nil
}

// Claim claims a piece of work if it is unfinished; ok is false if it is finished or
// claimed by another replica. One transaction checks both: another replica may have
// finished the work since it was listed, and then the work would be done twice or the
// claim never released.
func (m *Member) Claim(ctx context.Context, name string,
	unfinished func(Reader) (bool, error)) (c port.Claim, ok bool, err error) {
	err = m.store.Update(ctx, func(w writer) (err error) {
		if ok, err = unfinished(w); err == nil && ok {
			c, ok, err = w.TakeClaim(ctx, m.Self(), name)
		}
		return err
	})
	return c, ok, err
}

// End gives a claim up.
func (m *Member) End(ctx context.Context, c port.Claim) {
	if err := m.store.Update(ctx, func(w writer) error { return w.EndClaim(ctx, c) }); err != nil && ctx.Err() == nil {
		m.log.WarnContext(ctx, "claim release failed", "claim", c.Name, "error", err)
	}
}
