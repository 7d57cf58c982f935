package host

import (
	"context"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/plugins/host/supervise"
)

// class is the priority of a call: lower goes first.
type class int

// The classes of calls. A user waits for a query and for scores; passages can wait.
const (
	queries class = iota
	scores
	passages
	classes
)

// gate bounds the calls that a backend works on at once. Waiting calls go class by
// class, each in turn. Where there are two places or more, passages leave one free,
// so that a query seldom waits for a batch of them to end.
type gate struct {
	mu              sync.Mutex
	size            int
	queue           int // most calls that wait
	entered         int
	enteredPassages int  // passages among them
	closed          bool // the one that entered is alone
	waiting         int
	lines           [classes][]*ticket
}

// ticket is one waiting call.
type ticket struct {
	turn     chan struct{} // closed when it may go in
	alone    bool          // nobody else may be inside
	admitted bool
}

// enter waits for a place, at most for wait, or until gone is closed. What it
// returns gives the place back. Where one goes alone, nobody else is inside.
func (g *gate) enter(ctx context.Context, c class, alone bool, wait time.Duration,
	gone <-chan struct{}) (leave func(), err error) {
	g.mu.Lock()
	if g.waiting >= g.queue {
		g.mu.Unlock()
		return nil, fault.Busy("the model is busy: %d calls are waiting", g.queue)
	}
	t := &ticket{turn: make(chan struct{}), alone: alone}
	g.lines[c] = append(g.lines[c], t)
	g.waiting++
	g.admit()
	g.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-t.turn:
		return sync.OnceFunc(func() { g.leave(c) }), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-gone:
		err = supervise.ErrEnded
	case <-timer.C:
		err = fault.Busy("the model is busy")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.admitted { // its turn came with the end
		g.out(c)
		return nil, err
	}
	for i, other := range g.lines[c] {
		if other == t {
			g.lines[c] = append(g.lines[c][:i], g.lines[c][i+1:]...)
			g.waiting--
			g.admit() // those whom it held up
			break
		}
	}
	return nil, err
}

func (g *gate) leave(c class) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.out(c)
}

func (g *gate) out(c class) {
	g.entered--
	g.closed = false // if it was, the one who leaves was alone
	if c == passages {
		g.enteredPassages--
	}
	g.admit()
}

// admit lets waiting calls in while there are places. A call that goes alone, once it
// is the next of its class, holds all others up until the last has left.
func (g *gate) admit() {
	for c := range classes {
		if g.closed {
			return
		}
		if line := g.lines[c]; len(line) > 0 && line[0].alone {
			if g.entered == 0 {
				g.in(c)
			}
			return
		}
	}
	for c := range classes {
		for len(g.lines[c]) > 0 && g.entered < g.size && (c != passages || g.size == 1 || g.enteredPassages < g.size-1) {
			if g.lines[c][0].alone {
				g.admit()
				return
			}
			g.in(c)
		}
	}
}

// in lets the next call of a class in.
func (g *gate) in(c class) {
	t := g.lines[c][0]
	g.lines[c] = g.lines[c][1:]
	t.admitted, g.closed = true, t.alone
	g.waiting--
	g.entered++
	if c == passages {
		g.enteredPassages++
	}
	close(t.turn)
}
