package remote

import (
	"context"
	"slices"
	"sync"

	"github.com/mnemehq/mneme/core/port"
)

// gate gives out places for calls. Waiting queries go before waiting passages,
// and passages never take the last of several places.
type gate struct {
	mu       sync.Mutex
	free     int
	passages int // places that passages may still take
	waiting  [2][]*waiter
}

type waiter struct{ ready chan struct{} }

func newGate(places int) *gate {
	return &gate{free: places, passages: max(1, places-1)}
}

// enter waits for a place; leave gives it back.
func (g *gate) enter(ctx context.Context, as port.TextKind) error {
	g.mu.Lock()
	w := &waiter{make(chan struct{})}
	g.waiting[as] = append(g.waiting[as], w)
	g.grant()
	g.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting[as], w)
	if i >= 0 {
		g.waiting[as] = slices.Delete(g.waiting[as], i, i+1)
	}
	g.mu.Unlock()
	if i < 0 { // granted in the meantime
		g.leave(as)
	}
	return ctx.Err()
}

func (g *gate) leave(as port.TextKind) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	if as == port.Passage {
		g.passages++
	}
	g.grant()
}

// grant gives free places to waiting calls.
func (g *gate) grant() {
	for g.free > 0 {
		as := port.Query
		if len(g.waiting[as]) == 0 {
			as = port.Passage
			if g.passages == 0 || len(g.waiting[as]) == 0 {
				return
			}
			g.passages--
		}
		g.free--
		close(g.waiting[as][0].ready)
		g.waiting[as] = slices.Delete(g.waiting[as], 0, 1)
	}
}
