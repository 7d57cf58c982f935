package middleware

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Gate caps how many calls the process works on at once. Calls over the cap wait
// in a short queue; calls over that, or that waited too long, are refused, so
// that overload shortens the queue instead of stretching every answer.
type Gate struct {
	slots   chan struct{}
	waiting atomic.Int64
	queue   int64
	maxWait time.Duration
}

// NewGate makes a gate for width calls at once, queue calls waiting, each for at
// most wait.
func NewGate(width, queue int, wait time.Duration) *Gate {
	return &Gate{slots: make(chan struct{}, max(1, width)), queue: int64(queue), maxWait: wait}
}

// InUse is how many calls hold a slot, Waiting how many wait for one.
func (g *Gate) InUse() int { return len(g.slots) }

// Waiting is how many calls wait for a slot.
func (g *Gate) Waiting() int { return int(g.waiting.Load()) }

// Enter takes a slot; leave gives it back. A full queue or too long a wait is
// fault Unavailable with a RetryAfter of one second.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.slots }
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if g.waiting.Add(1) > g.queue {
		g.waiting.Add(-1)
		return nil, busy()
	}
	defer g.waiting.Add(-1)
	timer := time.NewTimer(g.maxWait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	case <-timer.C:
		return nil, busy()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func busy() error {
	return fault.New(fault.Unavailable, "the server is busy; retry shortly").After(time.Second)
}

// Concurrency holds a slot of the gate while a call is worked on. The slot is
// taken when the input has been read, so that clients that send slowly hold none
// of them; when the gate is full the input is not read at all.
func Concurrency(g *Gate) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			if g.full() {
				return nil, busy()
			}
			c := *request.(*op.Call)
			decode := c.Decode
			var leave func()
			defer func() {
				if leave != nil {
					leave()
				}
			}()
			c.Decode = func(ctx context.Context, dst any) (err error) {
				if err = decode(ctx, dst); err == nil && leave == nil {
					leave, err = g.Enter(ctx)
				}
				return err
			}
			return next(ctx, &c)
		}
	}
}

// full reports whether a call that came now would be refused.
func (g *Gate) full() bool { return len(g.slots) == cap(g.slots) && g.waiting.Load() >= g.queue }
