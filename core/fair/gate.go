package fair

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

// Gate caps how many calls are worked on at once. Calls over the cap wait
// in a short queue; calls over that, or that waited too long, are refused, so
// that overload shortens the queue instead of stretching every answer.
//
// Organizations share it (docs/decisions.md#d-35): each may hold a multiple of the slots
// that are free, so that one alone leaves some to those that come later; a slot
// that gets free goes to the waiting organization that holds the fewest; and a quarter of
// the queue is open to each, however many calls of others wait.
type Gate struct {
	width, queue int
	factor       int // how many times the free slots one organization may hold
	maxWait      time.Duration

	mu      sync.Mutex
	inUse   int
	waiting []*waiter // in the order they came; none of them may have a slot yet
	parts   map[ident.Org]*part
	turn    uint64 // slots given
}

// part is what an organization has of a gate, kept while that is something.
type part struct {
	held, waiting int
	turn          uint64 // of its last slot
}

// waiter is a call that waits for a slot.
type waiter struct {
	part  *part
	given chan struct{} // closed with the slot
}

// NewGate makes a gate for width calls at once, queue calls waiting, each for at
// most wait. An organization may hold seven times as many slots as are free: alone all but
// an eighth, and of a few all.
func NewGate(width, queue int, wait time.Duration) *Gate { return newGate(width, queue, wait, 7) }

// NewHalves makes a gate of which an organization may hold as many slots as are free: alone
// half of them. It is for few slots and long calls, where one that comes later
// would wait for the end of another's.
func NewHalves(width, queue int, wait time.Duration) *Gate { return newGate(width, queue, wait, 1) }

func newGate(width, queue int, wait time.Duration, factor int) *Gate {
	return &Gate{width: max(1, width), queue: queue, maxWait: wait, factor: factor, parts: map[ident.Org]*part{}}
}

// InUse is how many calls hold a slot.
func (g *Gate) InUse() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inUse
}

// Waiting is how many calls wait for a slot.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// Organization is on whose account a call is; "": the calls without a key share one.
func Organization(ctx context.Context) ident.Org {
	if who := ident.Known(ctx); who != nil {
		return who.Org
	}
	return ""
}

// Enter takes a slot for the organization of ctx's principal; leave gives it back. A
// full queue or too long a wait is fault Unavailable with a RetryAfter of one second.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	org := Organization(ctx)
	g.mu.Lock()
	if g.refuses(org) {
		g.mu.Unlock()
		return nil, busy()
	}
	p := g.part(org)
	if g.admits(p) {
		g.give(p)
		g.mu.Unlock()
		return g.leaver(org, p), nil
	}
	w := &waiter{p, make(chan struct{})}
	p.waiting++
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	timer := time.NewTimer(g.maxWait)
	defer timer.Stop()
	select {
	case <-w.given:
		return g.leaver(org, p), nil
	case <-timer.C:
		err = busy()
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.waiting, w)
	if at < 0 { // it was given at the same moment
		return g.leaver(org, p), nil
	}
	g.waiting = slices.Delete(g.waiting, at, at+1)
	p.waiting--
	g.forget(org, p)
	return nil, err
}

// Try takes a slot for the organization of ctx's principal if it may have one now; leave gives it
// back.
func (g *Gate) Try(ctx context.Context) (leave func(), ok bool) {
	org := Organization(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.part(org)
	if !g.admits(p) {
		g.forget(org, p)
		return nil, false
	}
	g.give(p)
	return g.leaver(org, p), true
}

// part is what an organization has of the gate. The caller holds mu.
func (g *Gate) part(org ident.Org) *part {
	p := g.parts[org]
	if p == nil {
		p = &part{}
		g.parts[org] = p
	}
	return p
}

// leaver gives a slot of an organization back.
func (g *Gate) leaver(org ident.Org, p *part) func() {
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.inUse--
		p.held--
		g.forget(org, p)
		g.handOut()
	}
}

// admits reports whether an organization may have a slot now. The caller holds mu, as it
// does of all that follow.
func (g *Gate) admits(p *part) bool { return p.held < g.factor*(g.width-g.inUse) }

// refuses reports whether a call of an organization can neither have a slot nor wait.
func (g *Gate) refuses(org ident.Org) bool {
	p := g.parts[org]
	if p == nil {
		p = &part{}
	}
	return !g.admits(p) && len(g.waiting) >= g.queue && p.waiting >= g.queue/4
}

func (g *Gate) give(p *part) {
	g.inUse++
	g.turn++
	p.held++
	p.turn = g.turn
}

// handOut gives what slots are free to those that wait: to the organization that holds
// the fewest, of several to the one that has been waiting for its turn the longest, and
// of its calls to the one that came first.
func (g *Gate) handOut() {
	for {
		next := -1
		for i, w := range g.waiting {
			if !g.admits(w.part) {
				continue
			}
			if next < 0 {
				next = i
				continue
			}
			if best := g.waiting[next].part; w.part.held < best.held ||
				w.part.held == best.held && w.part.turn < best.turn {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := g.waiting[next]
		g.waiting = slices.Delete(g.waiting, next, next+1)
		w.part.waiting--
		g.give(w.part)
		close(w.given)
	}
}

// forget drops the part of an organization that has nothing any more.
func (g *Gate) forget(org ident.Org, p *part) {
	if p.held == 0 && p.waiting == 0 {
		delete(g.parts, org)
	}
}

func busy() error {
	return fault.New(fault.Unavailable, "the server is busy; retry shortly").After(time.Second).By(fault.CallLimit)
}

// Full is the fault of a call that would be refused if it came now for the organization of
// ctx's principal; nil: there is room for it.
func (g *Gate) Full(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuses(Organization(ctx)) {
		return busy()
	}
	return nil
}
