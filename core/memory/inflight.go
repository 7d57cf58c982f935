package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/mnemehq/mneme/core/port"
)

// inFlight counts the writes and searches in progress on each partition, so that an
// erasure can wait for them: a write from its transaction to the indexes, and a
// search. An erasure marks the partition, which keeps new ones out, and waits for
// those from before; then nothing can bring back what it removes.
type inFlight struct {
	mu  sync.Mutex
	now map[port.Partition]*cohort   // which new ones join
	old map[port.Partition][]*cohort // for which an erasure waits
}

// cohort counts those that began between two calls of wait.
type cohort struct {
	running int
	drained chan struct{} // closed when running is 0 again
}

func newInFlight() *inFlight {
	return &inFlight{now: map[port.Partition]*cohort{}, old: map[port.Partition][]*cohort{}}
}

// enter counts one that begins; leave ends it.
func (s *inFlight) enter(p port.Partition) (leave func()) {
	p = p.At(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.now[p]
	if c == nil {
		c = &cohort{drained: make(chan struct{})}
		s.now[p] = c
	}
	c.running++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.running--; c.running > 0 {
			return
		}
		close(c.drained)
		if s.now[p] == c {
			delete(s.now, p)
			return
		}
		rest := slices.DeleteFunc(s.old[p], func(o *cohort) bool { return o == c })
		if s.old[p] = rest; len(rest) == 0 {
			delete(s.old, p)
		}
	}
}

// wait returns when all that began before the call have ended.
func (s *inFlight) wait(ctx context.Context, p port.Partition) error {
	p = p.At(0)
	s.mu.Lock()
	if c := s.now[p]; c != nil {
		delete(s.now, p) // later ones are counted separately
		s.old[p] = append(s.old[p], c)
	}
	all := slices.Clone(s.old[p])
	s.mu.Unlock()
	for _, c := range all {
		select {
		case <-c.drained:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
