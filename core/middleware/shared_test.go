package middleware_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// budget is a port.Budget in memory, with a clock of its own.
type budget struct {
	now   func() time.Time
	mu    sync.Mutex
	kept  map[string]*port.Bucket
	draws int
	fails bool
}

func (b *budget) Draw(_ context.Context, name string, c port.Charge) (port.Drawn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.draws++
	if b.fails {
		return port.Drawn{}, errors.New("away")
	}
	x := b.kept[name]
	if x == nil {
		x = &port.Bucket{Tokens: port.Capacity(c.Rate), At: b.now()}
		b.kept[name] = x
	}
	return x.Draw(b.now(), c), nil
}

func (*budget) Close() error { return nil }

// fleet is some processes that share a budget, with one clock.
func fleet(n int) (*budget, []*middleware.Shared, func(time.Duration)) {
	var at atomic.Int64
	at.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, at.Load()) }
	b := &budget{now: now, kept: map[string]*port.Bucket{}}
	all := make([]*middleware.Shared, n)
	for i := range all {
		all[i] = middleware.NewShared(b, now, slog.New(slog.DiscardHandler))
	}
	return b, all, func(d time.Duration) { at.Add(int64(d)) }
}

func take(t *testing.T, l middleware.Limiter, r ident.Rate, units, spent int) middleware.Taken {
	t.Helper()
	got, err := l.Take(t.Context(), "key", op.Read, r, units, spent)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestSharedRate: processes together allow the rate of one, most of it without
// asking the budget.
func TestSharedRate(t *testing.T) {
	rate := ident.Rate{PerMinute: 6000, Burst: 80} // 100 a second
	for name, load := range map[string]struct {
		every       time.Duration // one call at each of three
		least, most int           // allowed in 20 s
		draws       int           // at most, in a hundred calls
	}{
		"below the rate":      {40 * time.Millisecond, 1500, 1500, 15},
		"three times as much": {10 * time.Millisecond, (80 + 2000) * 9 / 10, 80 + 2000, 50},
	} {
		t.Run(name, func(t *testing.T) {
			b, all, pass := fleet(3)
			allowed, calls := 0, 0
			for range 20 * time.Second / load.every {
				for _, l := range all {
					calls++
					if take(t, l, rate, 1, 0).OK {
						allowed++
					}
				}
				pass(load.every)
			}
			if allowed < load.least || allowed > load.most {
				t.Errorf("%d of %d calls were allowed in 20 s, want %d to %d", allowed, calls, load.least, load.most)
			}
			if b.draws*100 > calls*load.draws {
				t.Errorf("the budget was asked %d times for %d calls", b.draws, calls)
			}
			t.Logf("%d of %d calls allowed, budget asked %d times", allowed, calls, b.draws)
		})
	}
}

// TestSharedSmall: a bucket of few tokens is counted exactly.
func TestSharedSmall(t *testing.T) {
	rate := ident.Rate{PerMinute: 60, Burst: 3}
	_, all, pass := fleet(3)
	for i := range 6 {
		if got := take(t, all[i%3], rate, 1, 0); got.OK != (i < 3) || got.Remaining != max(0, 2-i) {
			t.Errorf("call %d: %+v", i, got)
		}
	}
	refused := take(t, all[0], rate, 1, 0)
	if refused.Retry <= 0 || refused.Retry > time.Second {
		t.Errorf("retry after %v", refused.Retry)
	}
	pass(refused.Retry)
	if got := take(t, all[0], rate, 1, 0); !got.OK {
		t.Errorf("after the time to wait: %+v", got)
	}
	// A batch larger than the bucket is let in by a full one, and leaves a debt.
	pass(time.Minute)
	if got := take(t, all[1], rate, 1, 0); !got.OK {
		t.Fatalf("%+v", got)
	}
	if got := take(t, all[1], rate, 9, 1); !got.OK || got.Remaining != 0 {
		t.Errorf("a large batch: %+v", got)
	}
	if got := take(t, all[2], rate, 1, 0); got.OK || got.Retry < 7*time.Second {
		t.Errorf("the debt at another process: %+v", got)
	}
}

// TestSharedIdle: what an idle process holds is not lost to the others for long.
func TestSharedIdle(t *testing.T) {
	rate := ident.Rate{PerMinute: 600, Burst: 80}
	_, all, pass := fleet(2)
	for range 3 { // in steady use, so it draws ahead
		take(t, all[0], rate, 1, 0)
	}
	pass(8 * time.Second)
	n := 0
	for take(t, all[1], rate, 1, 0).OK {
		n++
	}
	if n < 79 {
		t.Errorf("%d of a full bucket's 80 were to be had", n)
	}
}

// TestSharedAway: while the budget is away each process counts for itself.
func TestSharedAway(t *testing.T) {
	rate := ident.Rate{PerMinute: 60, Burst: 3}
	b, all, pass := fleet(2)
	b.fails = true
	for i := range 4 {
		for _, l := range all {
			if got := take(t, l, rate, 1, 0); got.OK != (i < 3) {
				t.Errorf("call %d: %+v", i, got)
			}
		}
	}
	b.fails = false
	pass(time.Second)
	for i := range 4 {
		if got := take(t, all[i%2], rate, 1, 0); got.OK != (i < 3) {
			t.Errorf("back again, call %d: %+v", i, got)
		}
	}
}

func BenchmarkShared(b *testing.B) {
	_, all, _ := fleet(1)
	rate := ident.Rate{PerMinute: 1 << 26}
	for b.Loop() {
		if _, err := all[0].Take(b.Context(), "key", op.Read, rate, 1, 0); err != nil {
			b.Fatal(err)
		}
	}
}
