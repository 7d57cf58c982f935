package limittest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Open opens a budget over a place that all budgets of a test share, as each of
// several processes does.
type Open func(t *testing.T) port.Budget

// Run checks what port.Budget promises, with buckets that are named after the test.
func Run(t *testing.T, open Open) {
	t.Run("draw", func(t *testing.T) { draw(t, open(t)) })
	t.Run("refill", func(t *testing.T) { refill(t, open(t)) })
	t.Run("together", func(t *testing.T) { together(t, open) })
}

// draw checks that charges have the same effect as port.Bucket.Draw.
func draw(t *testing.T, b port.Budget) {
	slow := ident.Rate{PerMinute: 1, Burst: 10} // it does not refill during a test
	own := port.Bucket{Tokens: 10, At: time.Now()}
	for i, c := range []port.Charge{
		{Units: 3}, {Units: 2, Ahead: 3}, {Units: 9}, {Units: 1, Spent: 1}, {Units: 1, Back: 3, Ahead: 1},
		{Units: 2}, {Units: 30}, {Units: 1}, {Back: 100, Units: 0}, {Units: 30, Ahead: 4}, {Units: 1},
		{Units: 29, Spent: 1, Back: 40},
	} {
		c.Rate = slow
		got, err := b.Draw(t.Context(), t.Name(), c)
		if err != nil {
			t.Fatal(err)
		}
		want := own.Draw(time.Now(), c)
		if d := got.Tokens - want.Tokens; got.OK != want.OK || got.Ahead != want.Ahead || d < -0.5 || d > 0.5 {
			t.Errorf("charge %d, %+v: %+v, want %+v", i, c, got, want)
		}
	}
	if got, err := b.Draw(t.Context(), t.Name()+"/other", port.Charge{Rate: slow, Units: 1}); err != nil || !got.OK ||
		got.Tokens < 8.5 {
		t.Errorf("another bucket: %+v, %v", got, err)
	}
	if got, err := b.Draw(t.Context(), t.Name()+"/large", port.Charge{Rate: slow, Units: 15}); err != nil || !got.OK ||
		got.Tokens > -4.9 {
		t.Errorf("a large batch on a full bucket: %+v, %v", got, err)
	}
}

// refill checks that a bucket refills by the clock of the place that holds it.
func refill(t *testing.T, b port.Budget) {
	fast := ident.Rate{PerMinute: 60_000, Burst: 5}
	for range 2 {
		if d, err := b.Draw(t.Context(), t.Name(), port.Charge{Rate: fast, Units: 5}); err != nil || !d.OK {
			t.Fatalf("%+v, %v", d, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// together checks that concurrent processes never get more than the bucket holds.
func together(t *testing.T, open Open) {
	slow := ident.Rate{PerMinute: 1, Burst: 50}
	var got atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		b := open(t)
		all.Go(func() {
			for range 40 {
				d, err := b.Draw(context.Background(), t.Name(), port.Charge{Rate: slow, Units: 1, Ahead: 2})
				if err != nil {
					t.Error(err)
					return
				}
				if d.OK {
					got.Add(int64(1 + d.Ahead))
				}
			}
		})
	}
	all.Wait()
	if n := got.Load(); n < 50 || n > 51 {
		t.Errorf("%d tokens were given out of a bucket of 50", n)
	}
}
