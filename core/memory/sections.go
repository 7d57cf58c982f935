package memory

import (
	"context"
	"slices"
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
	old map[port.Partition][]*section // that somebody waits for
}

type section struct {
	n       int
	drained chan struct{} // closed when n is 0 again
}

func newSections() *sections {
	return &sections{now: map[port.Partition]*section{}, old: map[port.Partition][]*section{}}
}

// enter begins a section; leave ends it.
func (s *sections) enter(p port.Partition) (leave func()) {
	p = p.At(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.now[p]
	if c == nil {
		c = &section{drained: make(chan struct{})}
		s.now[p] = c
	}
	c.n++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.n--; c.n > 0 {
			return
		}
		close(c.drained)
		if s.now[p] == c {
			delete(s.now, p)
			return
		}
		rest := slices.DeleteFunc(s.old[p], func(o *section) bool { return o == c })
		if s.old[p] = rest; len(rest) == 0 {
			delete(s.old, p)
		}
	}
}

// wait returns when every section that began before the call has ended.
func (s *sections) wait(ctx context.Context, p port.Partition) error {
	p = p.At(0)
	s.mu.Lock()
	if c := s.now[p]; c != nil {
		delete(s.now, p) // later ones count apart
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
