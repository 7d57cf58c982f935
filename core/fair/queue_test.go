package fair_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/fair"
)

// letters puts words into a queue, each of the organization that its first letter names.
func letters(t *testing.T, q *fair.Queue[string], words string) {
	t.Helper()
	for _, w := range strings.Fields(words) {
		ctx := of(t, w[:1])
		if w[0] == '-' { // without a key
			ctx = t.Context()
		}
		q.Push(ctx, w)
	}
}

// all takes out what waits.
func all(q *fair.Queue[string]) string {
	var out []string
	for v, ok := q.Pop(); ok; v, ok = q.Pop() {
		out = append(out, v)
	}
	return strings.Join(out, " ")
}

// Organizations take turns, whatever they put in, and each one's order is kept.
func TestQueueGoesRound(t *testing.T) {
	var q fair.Queue[string]
	letters(t, &q, "a1 a2 a3 b1 -1 b2 -2")
	if q.Len() != 7 {
		t.Errorf("%d wait", q.Len())
	}
	if got, _ := q.Pop(); got != "a1" {
		t.Errorf("first %s", got)
	}
	letters(t, &q, "c1 a4")
	if got := all(&q); got != "b1 -1 a2 c1 b2 -2 a3 a4" {
		t.Errorf("%s", got)
	}
	if v, ok := q.Pop(); ok || v != "" || q.Len() != 0 {
		t.Errorf("an empty queue gives %q", v)
	}
	letters(t, &q, "b3 a5")
	if got := all(&q); got != "b3 a5" {
		t.Errorf("used again: %s", got)
	}
}

// What is removed does not come, and takes no turn.
func TestQueueRemove(t *testing.T) {
	var q fair.Queue[string]
	letters(t, &q, "a1 a2 b1 c1 c2 c3")
	for _, v := range []string{"b1", "a1", "c3"} {
		if !q.Remove(v) || q.Remove(v) {
			t.Errorf("%s is not removed once", v)
		}
	}
	if q.Len() != 3 {
		t.Errorf("%d wait", q.Len())
	}
	if got := all(&q); got != "a2 c1 c2" {
		t.Errorf("%s", got)
	}
}

// occupied is two slots, both of which a holds.
func occupied(t *testing.T) *fair.Slots {
	t.Helper()
	s := fair.NewSlots(2)
	for range 2 {
		if !s.Take(of(t, "a"), nil) {
			t.Fatal("two slots are not two")
		}
	}
	return s
}

// A slot that gets free goes round the organizations that wait.
func TestSlotsGoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := occupied(t)
		var j journal
		for _, who := range []string{"a", "a", "a", "b"} {
			go func() {
				if s.Take(of(t, who), nil) {
					j.add(who)
				}
			}()
			synctest.Wait()
		}
		if s.Waiting() != 4 || s.InUse() != 2 || s.Size() != 2 {
			t.Errorf("%d wait, %d of %d are in use", s.Waiting(), s.InUse(), s.Size())
		}
		for range 6 {
			s.Give()
			synctest.Wait()
		}
		if got := j.String(); got != "a1 b1 a2" {
			t.Errorf("%s", got)
		}
		if s.Waiting() != 0 || s.InUse() != 0 || !s.Take(t.Context(), nil) || s.InUse() != 1 {
			t.Errorf("%d wait, %d are in use", s.Waiting(), s.InUse())
		}
	})
}

// Who stops waiting has no slot and takes nobody's.
func TestSlotsGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := occupied(t)
		impatient, cancel := context.WithTimeout(of(t, "a"), time.Second)
		defer cancel()
		stop, had := make(chan struct{}), make(chan bool, 3)
		go func() { had <- s.Take(impatient, stop) }()
		synctest.Wait()
		go func() { had <- s.Take(of(t, "b"), stop) }()
		time.Sleep(time.Second + ms)
		if n, waited := s.Waits(); n != 2 || waited != time.Second {
			t.Errorf("%d waits of %s", n, waited)
		}
		if <-had || s.Waiting() != 1 {
			t.Errorf("after its time a call has a slot, or waits: %d do", s.Waiting())
		}
		close(stop)
		if <-had || s.Waiting() != 0 || s.InUse() != 2 {
			t.Errorf("after the end a call has a slot, or waits: %d do", s.Waiting())
		}
		go func() { had <- s.Take(of(t, "c"), nil) }()
		synctest.Wait()
		s.Give()
		if !<-had || s.InUse() != 2 {
			t.Error("the slot goes to one that waits no more")
		}
	})
}

// A slot given while its taker gives up is the taker's.
func TestSlotsGivenWhileGivingUp(t *testing.T) {
	s := occupied(t)
	for range 1000 {
		ctx, cancel := context.WithCancel(of(t, "a"))
		had := make(chan bool)
		go func() { had <- s.Take(ctx, nil) }()
		go cancel()
		s.Give()
		if !<-had {
			s.Take(of(t, "a"), nil)
		}
		if s.InUse() != 2 || s.Waiting() != 0 {
			t.Fatalf("%d are in use, %d wait", s.InUse(), s.Waiting())
		}
	}
}
