package middleware

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Shared is a Limiter whose buckets all processes over one port.Budget share. A
// key in steady use draws some tokens ahead and spends them here, so that few of
// its calls wait for the budget; together the processes never allow more than
// the rate, and while one holds what it does not use, a little less. Where the
// budget fails, each process counts for itself until it answers again.
type Shared struct {
	budget port.Budget
	own    *Buckets
	now    func() time.Time
	log    *slog.Logger

	mu     sync.Mutex
	keys   map[bucketKey]*share
	swept  time.Time
	failed time.Time // when a failure was last logged
}

// share is this process's part of a bucket.
type share struct {
	mu     sync.Mutex
	tokens int       // drawn ahead
	left   float64   // in the budget, when it was last asked
	at     time.Time // when that was
	until  time.Time // not zero: calls for need units or more are refused until then
	need   float64
	used   time.Time
}

const (
	// aheadPart of a bucket's capacity is what one process draws ahead at most.
	aheadPart = 8
	// steadyWithin is the longest pause between calls for which tokens are drawn ahead,
	// and how long these are held.
	steadyWithin = time.Second
	// Until there are enough tokens, calls are refused without asking the budget, for at
	// least minRefusal and at most maxRefusal: an overrun key must not load the budget.
	minRefusal = 50 * time.Millisecond
	maxRefusal = 200 * time.Millisecond
	// drawTimeout bounds how long a call waits for the budget.
	drawTimeout = time.Second
)

// NewShared makes a Limiter over a budget. now is the clock; nil: time.Now.
func NewShared(b port.Budget, now func() time.Time, log *slog.Logger) *Shared {
	if now == nil {
		now = time.Now
	}
	return &Shared{budget: b, own: NewBuckets(now), now: now, log: log, keys: map[bucketKey]*share{}}
}

// Take implements Limiter.
func (s *Shared) Take(ctx context.Context, key string, class op.Class, rate ident.Rate, units, spent int) (Taken, error) {
	x := s.share(bucketKey{key, class})
	x.mu.Lock()
	defer x.mu.Unlock()
	now := s.now()
	c := port.Charge{Rate: rate, Units: units, Spent: spent}
	capacity, perSecond := port.Capacity(rate), float64(rate.PerMinute)/60
	state := func(ok bool) Taken {
		left := math.Min(capacity, x.left+now.Sub(x.at).Seconds()*perSecond) + float64(x.tokens)
		t := Taken{OK: ok, Remaining: max(0, int(left+1e-9)), Reset: max(0, waitFor(capacity-left, perSecond))}
		if !ok {
			t.Retry = max(waitFor(c.Whole()-left, perSecond), x.until.Sub(now), time.Millisecond)
		}
		return t
	}
	if x.tokens >= units && now.Sub(x.at) < steadyWithin {
		x.tokens -= units
		x.used = now
		return state(true), nil
	}
	if now.Before(x.until) && c.Whole()-float64(spent) >= x.need {
		return state(false), nil
	}
	c.Back = x.tokens
	if !x.used.IsZero() && now.Sub(x.used) < steadyWithin {
		c.Ahead = int(capacity / aheadPart)
	}
	asking, cancel := context.WithTimeout(ctx, drawTimeout)
	defer cancel()
	d, err := s.budget.Draw(asking, key+"/"+string(class), c)
	if err != nil {
		if ctx.Err() != nil {
			return Taken{}, ctx.Err()
		}
		s.logFailure(ctx, err)
		return s.own.Take(ctx, key, class, rate, units, spent)
	}
	x.tokens, x.left, x.at, x.used, x.until = d.Ahead, d.Tokens, now, now, time.Time{}
	if !d.OK {
		x.need = c.Whole() - float64(spent)
		x.until = now.Add(min(max(waitFor(x.need-d.Tokens, perSecond), minRefusal), maxRefusal))
	}
	return state(d.OK), nil
}

func (s *Shared) share(k bucketKey) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.swept) >= sweepEvery || now.Before(s.swept) {
		s.swept = now
		for k, x := range s.keys {
			if x.mu.TryLock() {
				// The bucket has long been refilled by the tokens that were drawn ahead.
				if now.Sub(x.used) >= sweepEvery {
					delete(s.keys, k)
				}
				x.mu.Unlock()
			}
		}
	}
	x := s.keys[k]
	if x == nil {
		x = &share{}
		s.keys[k] = x
	}
	return x
}

// logFailure logs a failure of the budget, once a minute.
func (s *Shared) logFailure(ctx context.Context, err error) {
	s.mu.Lock()
	now := s.now()
	quiet := !s.failed.IsZero() && now.Sub(s.failed) < time.Minute
	if !quiet {
		s.failed = now
	}
	s.mu.Unlock()
	if !quiet {
		s.log.WarnContext(ctx, "shared limiter failed", "error", err)
	}
}

var _ Limiter = (*Shared)(nil)
