package fair_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

// door is a gate with the calls of several organizations, each of which is named by a letter.
type door struct {
	*fair.Gate
	t       *testing.T
	inside  map[string][]func() // by organization: what gives its slots back
	entered chan string         // organizations whose waiting calls were given a slot
	leaves  chan func()         // of those
}

func newDoor(t *testing.T, width, queue int) *door {
	return &door{fair.NewGate(width, queue, time.Hour), t, map[string][]func(){}, make(chan string), make(chan func(), 100)}
}

func caller(ctx context.Context, org string) context.Context {
	return ident.WithPrincipal(ctx, ident.Principal{Org: ident.Org(org)})
}

// enters has an organization take as many slots as it is given at once, up to n.
func (d *door) enters(org string, n int) (got int) {
	d.t.Helper()
	gone, leave := context.WithCancel(caller(d.t.Context(), org))
	leave() // a call that would have to wait gives up
	for ; got < n; got++ {
		out, err := d.Enter(gone)
		if err != nil {
			if !errors.Is(err, context.Canceled) && fault.CodeOf(err) != fault.Unavailable {
				d.t.Errorf("%s: %v", org, err)
			}
			return got
		}
		d.inside[org] = append(d.inside[org], out)
	}
	return got
}

// waits has a call of each letter's organization wait, in this order.
func (d *door) waits(orgs string) {
	d.t.Helper()
	for _, org := range orgs {
		before := d.Waiting()
		ended := make(chan error, 1)
		go func() {
			out, err := d.Enter(caller(d.t.Context(), string(org)))
			if err == nil {
				d.leaves <- out
				d.entered <- string(org)
				return
			}
			ended <- err
		}()
		for d.Waiting() == before {
			select {
			case err := <-ended:
				d.t.Fatalf("%c may not wait: %v", org, err)
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// leave gives one slot of an organization back.
func (d *door) leave(org string) {
	all := d.inside[org]
	d.inside[org] = all[1:]
	all[0]()
}

// order is who of n calls that wait is given slots when each that is let in leaves again.
func (d *door) order(n int) (got string) {
	for range n {
		out := <-d.leaves
		got += <-d.entered
		out()
	}
	return got
}

// One organization leaves an eighth of the slots to others, and several leave something
// to the next; a gate of a few slots is open to one alone.
func TestAnOrganizationLeavesSlotsToOthers(t *testing.T) {
	for _, c := range []struct{ width, first, second, third int }{
		{1, 1, 0, 0}, {2, 2, 0, 0}, {7, 7, 0, 0}, {8, 7, 1, 0}, {16, 14, 2, 0}, {32, 28, 4, 0}, {64, 56, 7, 1},
	} {
		d := newDoor(t, c.width, 0)
		if a, b, x := d.enters("a", 100), d.enters("b", 100), d.enters("c", 100); a != c.first || b != c.second || x != c.third {
			t.Errorf("%d slots: %d, %d and %d, want %+v", c.width, a, b, x, c)
		}
		if d.InUse() != c.first+c.second+c.third {
			t.Errorf("%d in use", d.InUse())
		}
	}
}

// Of a gate of halves one organization has half the slots, and leaves one to another and one to a third.
func TestHalves(t *testing.T) {
	for _, c := range []struct{ width, first, second, third int }{
		{1, 1, 0, 0}, {2, 1, 1, 0}, {3, 2, 1, 0}, {4, 2, 1, 1}, {8, 4, 2, 1},
	} {
		d := &door{fair.NewHalves(c.width, 0, time.Hour), t, map[string][]func(){}, nil, nil}
		if a, b, x := d.enters("a", 100), d.enters("b", 100), d.enters("c", 100); a != c.first || b != c.second || x != c.third {
			t.Errorf("%d slots: %d, %d and %d, want %+v", c.width, a, b, x, c)
		}
	}
}

// Slots that get free go round the organizations, in each to the call that came first.
func TestSlotsGoRoundTheOrganizations(t *testing.T) {
	d := newDoor(t, 1, 100)
	d.enters("a", 1)
	d.waits("aaabbc")
	d.leave("a")
	if got := d.order(6); got != "bcabaa" {
		t.Errorf("in the order %s", got)
	}
	if d.InUse() != 0 || d.Waiting() != 0 {
		t.Errorf("%d in use, %d waiting", d.InUse(), d.Waiting())
	}
}

// The one that holds the fewest slots is given the next one.
func TestASlotGoesToWhoHoldsTheFewest(t *testing.T) {
	d := newDoor(t, 8, 100)
	if a, b := d.enters("a", 8), d.enters("b", 8); a != 7 || b != 1 {
		t.Fatalf("%d and %d slots", a, b)
	}
	d.waits("abbbbcc")
	for _, want := range []string{"c", "b", "c", "b", "a", "b", "b"} { // before: 6 1 0, 5 1 1, 4 2 1, 3 2 2, 2 3 2, 2 3 2, 1 4 2
		d.leave("a")
		if got := <-d.entered; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// A call waits for as long as its organization holds what it may, though slots are free
// for others; a slot that it gives back is its own again.
func TestSharesAreNotGivenAway(t *testing.T) {
	d := newDoor(t, 16, 100)
	d.enters("a", 14)
	d.waits("aa")
	if got := d.enters("b", 1); got != 1 || d.Waiting() != 2 {
		t.Errorf("%d slots of another, %d wait", got, d.Waiting())
	}
	d.leave("b") // a slot that is free for others
	if d.Waiting() != 2 || d.InUse() != 14 {
		t.Errorf("%d wait, %d in use", d.Waiting(), d.InUse())
	}
	d.leave("a")
	if got := <-d.entered; got != "a" || d.Waiting() != 1 || d.InUse() != 14 {
		t.Errorf("%s, %d wait, %d in use", got, d.Waiting(), d.InUse())
	}
}

// A queue that one organization has filled has room for a quarter of another's.
func TestAQuarterOfTheQueueIsOpenToEach(t *testing.T) {
	for _, c := range []struct{ queue, quarter int }{{0, 0}, {1, 0}, {4, 1}, {7, 1}, {8, 2}} {
		d := newDoor(t, 1, c.queue)
		d.enters("a", 1)
		for _, w := range []struct {
			org string
			n   int
		}{{"a", c.queue}, {"b", c.quarter}, {"c", c.quarter}} {
			for range w.n {
				d.waits(w.org)
			}
			if _, err := d.Enter(caller(t.Context(), w.org)); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("a queue of %d with %d of %s: %v", c.queue, w.n, w.org, err)
			}
		}
		d.leave("a")
		if got := d.order(c.queue + 2*c.quarter); d.InUse() != 0 {
			t.Errorf("a queue of %d served %s", c.queue, got)
		}
	}
}

// A call that stops waiting leaves its place to another, and what it would have been
// given.
func TestACallMayStopWaiting(t *testing.T) {
	d := newDoor(t, 1, 1)
	d.enters("a", 1)
	ctx, gone := context.WithCancel(caller(t.Context(), "b"))
	ended := make(chan error)
	go func() { _, err := d.Enter(ctx); ended <- err }()
	for d.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	gone()
	if err := <-ended; !errors.Is(err, context.Canceled) || d.Waiting() != 0 {
		t.Errorf("%v, %d wait", err, d.Waiting())
	}
	d.waits("b")
	d.leave("a")
	if got := d.order(1); got != "b" || d.InUse() != 0 {
		t.Errorf("%s, %d in use", got, d.InUse())
	}
}
