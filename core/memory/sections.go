package memory

import (
	"context"
	"sync"

	"github.com/mnemehq/mneme/core/port"
)

// sections counts what is at work on a partition's derived data: a write from
// its transaction to the indexes, and a search. An erasure marks the partition,
// which keeps new ones out, waits for those from before, and can then be sure
// that nobody brings back what it removes.
type sections struct {
	mu  sync.Mutex
	now map[port.Partition]*section
}

type section struct {
	n       int
	drained chan struct{} // made by a waiter
}

func newSections() *sections { return &sections{now: map[port.Partition]*section{}} }

// enter begins a section; leave ends it.
func (s *sections) enter(p port.Partition) (leave func()) {
	p = p.At(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.now[p]
	if c == nil {
		c = &section{}
		s.now[p] = c
	}
	c.n++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.n--; c.n > 0 {
			return
		}
		if c.drained != nil {
			close(c.drained)
		}
		if s.now[p] == c {
			delete(s.now, p)
		}
	}
}

// wait returns when every section that began before the call has ended.
func (s *sections) wait(ctx context.Context, p port.Partition) error {
	p = p.At(0)
	s.mu.Lock()
	c := s.now[p]
	if c == nil {
		s.mu.Unlock()
		return nil
	}
	delete(s.now, p) // later ones count apart
	c.drained = make(chan struct{})
	s.mu.Unlock()
	select {
	case <-c.drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
