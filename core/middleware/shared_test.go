package middleware_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
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

// TestSharedStepByStep: a key in steady use draws an eighth of its bucket ahead and
// spends that for a second without asking; what is told is what the budget and the
// process hold together. A key that is not gets what it asks for and no more.
func TestSharedStepByStep(t *testing.T) {
	rate := ident.Rate{PerMinute: 60, Burst: 80} // one a second; ten are drawn ahead
	b, all, pass := fleet(1)
	for i, c := range []struct {
		after     time.Duration
		units     int
		remaining int
		reset     time.Duration
		draws     int
		kept      float64 // in the budget, when it was last asked
	}{
		{0, 1, 79, time.Second, 1, 79},
		{500 * time.Millisecond, 1, 78, 1500 * time.Millisecond, 2, 68.5}, // ten more are drawn
		{500 * time.Millisecond, 4, 75, 5 * time.Second, 2, 68.5},         // of the ten
		{0, 2, 73, 7 * time.Second, 2, 68.5},
		{500 * time.Millisecond, 1, 72, 7500 * time.Millisecond, 3, 62.5}, // a second later they go back
		{0, 10, 62, 17500 * time.Millisecond, 3, 62.5},                    // all of them
		{time.Second, 1, 62, 17500 * time.Millisecond, 4, 62.5},           // not steady any more
		{time.Second - 1, 1, 62, 17500*time.Millisecond + 1, 5, 52.499999999},
	} {
		pass(c.after)
		got := take(t, all[0], rate, c.units, 0)
		if !got.OK || got.Remaining != c.remaining || far(got.Reset, c.reset) || b.draws != c.draws ||
			math.Abs(b.kept["key/read"].Tokens-c.kept) > 1e-6 {
			t.Errorf("%d: %+v after %d draws with %v kept, want %+v", i, got, b.draws, b.kept["key/read"].Tokens, c)
		}
	}
	// A lower rate holds at once for what is in the budget; what was drawn ahead stays.
	if got := take(t, all[0], ident.Rate{PerMinute: 60, Burst: 20}, 1, 0); got.Remaining != 20+9 || got.Reset != 0 {
		t.Errorf("a lower rate: %+v", got)
	}
}

func far(a, b time.Duration) bool { return (a - b).Abs() > time.Microsecond }

// TestSharedRefusals: after a refusal a process asks again for as much, or more, only
// when there may be enough, at least 50 ms and at most 200 ms later. It asks at once
// for less.
func TestSharedRefusals(t *testing.T) {
	const ms = time.Millisecond
	rate := ident.Rate{PerMinute: 60, Burst: 3} // too small to draw ahead
	for name, calls := range map[string][]struct {
		at           time.Duration
		units, spent int
		ok           bool
		retry        time.Duration
		draws        int
	}{
		"far away": {
			{0, 3, 0, true, 0, 1},
			{0, 2, 0, false, 2000 * ms, 2},
			{125 * ms, 2, 0, false, 1875 * ms, 2},
			{125 * ms, 3, 0, false, 2875 * ms, 2},
			{125 * ms, 1, 0, false, 875 * ms, 3}, // less, so it asks
			{324 * ms, 1, 0, false, 676 * ms, 3},
			{325 * ms, 1, 0, false, 675 * ms, 4},
		},
		"near": {
			{0, 3, 0, true, 0, 1},
			{875 * ms, 1, 0, false, 125 * ms, 2},
			{999 * ms, 1, 0, false, 1 * ms, 2},
			{1000 * ms, 1, 0, true, 0, 3},
		},
		"nearer than it asks": {
			{0, 3, 0, true, 0, 1},
			{990 * ms, 1, 0, false, 50 * ms, 2},
			{1000 * ms, 1, 0, false, 40 * ms, 2},
			{1040 * ms, 1, 0, true, 0, 3},
		},
		"charged before": {
			{0, 3, 0, true, 0, 1},
			{0, 2, 1, false, 3000 * ms, 2}, // two more are needed
			{0, 2, 0, false, 2000 * ms, 2},
			{0, 1, 1, false, 2000 * ms, 3},
		},
	} {
		b, all, pass := fleet(1)
		now := time.Duration(0)
		for i, c := range calls {
			pass(c.at - now)
			now = c.at
			got := take(t, all[0], rate, c.units, c.spent)
			if got.OK != c.ok || far(got.Retry, c.retry) || b.draws != c.draws {
				t.Errorf("%s, %d: %+v after %d draws, want %+v", name, i, got, b.draws, c)
			}
		}
	}
}

// TestSharedAwayIsLogged: a budget that stays away is logged once a minute, and a call
// that its caller gives up is no failure of it.
func TestSharedAwayIsLogged(t *testing.T) {
	var log strings.Builder
	now := time.Unix(1_000_000, 0)
	b := &budget{now: func() time.Time { return now }, kept: map[string]*port.Bucket{}, fails: true}
	s := middleware.NewShared(b, b.now, slog.New(slog.NewTextHandler(&log, nil)))
	for _, c := range []struct {
		after time.Duration
		lines int
	}{{0, 1}, {0, 1}, {time.Minute - 1, 1}, {1, 2}, {time.Second, 2}, {time.Minute, 3}} {
		now = now.Add(c.after)
		take(t, s, ident.Rate{PerMinute: 6000}, 1, 0)
		if got := strings.Count(log.String(), `level=WARN msg="shared limiter failed" error=away`); got != c.lines {
			t.Errorf("%d lines, want %d", got, c.lines)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Take(gone, "key", op.Read, ident.Rate{PerMinute: 6000}, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
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
