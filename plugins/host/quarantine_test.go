package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

func text(s string) part   { return partOf("embed", port.Passage, false, s) }
func ranked(s string) part { return partOf("score", port.Query, true, s) }

func newQuarantine(now func() time.Time) *quarantine {
	return &quarantine{log: slog.New(slog.DiscardHandler), now: now, suspects: map[fingerprint]suspicion{}}
}

// TestParts: what a model makes a difference between, a quarantine does as well.
func TestParts(t *testing.T) {
	seen := map[fingerprint]string{}
	for name, p := range map[string]part{
		"a text":     text("a"),
		"another":    text("b"),
		"as a query": partOf("embed", port.Query, false, "a"),
		"another op": partOf("encode", port.Passage, false, "a"),
		"ranked":     partOf("embed", port.Passage, true, "a"),
		"cut again":  partOf("embeda", port.Passage, false, ""),
	} {
		if other, ok := seen[p.of]; ok {
			t.Errorf("%s is taken for %s", name, other)
		}
		seen[p.of] = name
	}
	again := text("a")
	if seen[again.of] != "a text" {
		t.Error("a text is not itself")
	}
}

// TestQuarantine: suspected after one end, refused after two, after three beside a query;
// an answer and an hour take it back.
func TestQuarantine(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuarantine(func() time.Time { return now })
	end := func(p ...part) { q.blame([]*flight{{parts: p}}) }
	check := func(name string, p part, suspected, refused bool) {
		t.Helper()
		if q.suspected(text("other"), p) != suspected || q.refused(p) != refused {
			t.Errorf("%s: suspected %t, refused %t", name, q.suspected(p), q.refused(p))
		}
	}
	check("at first", text("a"), false, false)
	q.blame([]*flight{{parts: []part{text("a"), ranked("r")}}, {parts: []part{text("a")}}})
	check("one end, in two calls", text("a"), true, false)
	end(text("a"), ranked("r"))
	check("two ends", text("a"), true, true)
	check("beside a query", ranked("r"), true, false)
	end(ranked("r"))
	check("beside a query, again", ranked("r"), true, true)
	check("another text", text("b"), false, false)

	var at *port.TextError
	err := q.check([]part{text("b")}, []part{text("b"), text("a")})
	if !errors.As(err, &at) || at.Text != 1 || fault.CodeOf(err) != fault.Upstream || fault.From(err).RetryAfter != 0 {
		t.Errorf("%v", err)
	}
	err = q.check([]part{text("a")}, nil)
	if errors.As(err, &at) || fault.From(err).Details["field"] != "query" {
		t.Errorf("%v", err)
	}
	if err := q.check([]part{text("b")}, []part{text("c")}); err != nil {
		t.Error(err)
	}
	q.clear([]part{text("a")})
	check("answered", text("a"), false, false)

	now = now.Add(suspectFor)
	check("an hour later", ranked("r"), true, true)
	now = now.Add(1)
	check("more than an hour later", ranked("r"), false, false)
	end(ranked("r"))
	check("an end after that", ranked("r"), true, false)
}

// TestQuarantineIsBounded: the oldest suspicions make room.
func TestQuarantineIsBounded(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuarantine(func() time.Time { return now })
	for i := range maxSuspects + 3 {
		now = now.Add(time.Millisecond)
		q.blame([]*flight{{parts: []part{text(fmt.Sprint(i))}}})
	}
	if len(q.suspects) != maxSuspects || q.suspected(text("2")) || !q.suspected(text("3")) {
		t.Errorf("%d suspects; the third oldest among them: %t", len(q.suspects), q.suspected(text("2")))
	}
}

// TestFlights: a call that came back without an answer is in until the backend is known to live.
func TestFlights(t *testing.T) {
	var f flights
	a, b := f.add([]part{text("a")}), f.add([]part{text("b")})
	f.unanswered(a, false)
	if all, open := f.list(false), f.list(true); len(all) != 2 || len(open) != 1 || open[0] != a {
		t.Errorf("%d calls, %d of them open", len(all), len(open))
	}
	f.alive(f.list(true))
	if all := f.list(false); len(all) != 1 || all[0] != b {
		t.Errorf("%d calls", len(all))
	}
	f.landed(b)
	if all := f.list(false); len(all) != 0 {
		t.Errorf("%d calls", len(all))
	}
}

// TestLateCalls: a call that leaves after another has found the backend gone is not to
// blame for the end, and one after a sign of life is.
func TestLateCalls(t *testing.T) {
	q := newQuarantine(time.Now)
	var f flights
	f.unanswered(f.add([]part{text("left by its caller")}), false)
	f.unanswered(f.add([]part{text("deadly")}), true)
	f.unanswered(f.add([]part{text("late")}), true)
	q.blame(f.list(false))
	for s, suspected := range map[string]bool{"left by its caller": true, "deadly": true, "late": false} {
		if q.suspected(text(s)) != suspected {
			t.Errorf("%s: suspected %t", s, !suspected)
		}
	}
	f.alive(f.list(true))
	f.add([]part{text("late")})
	q.blame(f.list(false))
	if !q.suspected(text("late")) {
		t.Error("a call after a sign of life is not to blame")
	}
}

// TestAlone: a call that goes alone waits for those inside, and those behind it for it.
func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{size: 3, queue: 8}
		enter := func(ctx context.Context, c class, alone bool) (func(), error) {
			return g.enter(ctx, c, alone, time.Hour, nil)
		}
		first, err := enter(t.Context(), queries, false)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		leaves := map[string]func(){}
		wait := func(name string, c class, alone bool) {
			go func() {
				leave, err := enter(t.Context(), c, alone)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order, leaves[name] = append(order, name), leave
			}()
			synctest.Wait()
		}
		impatient, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := enter(impatient, passages, true)
			gone <- err
		}()
		synctest.Wait()
		wait("behind", passages, false)
		if len(order) != 0 {
			t.Errorf("%v passed a call that goes alone", order)
		}
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		if len(order) != 1 {
			t.Error("who stood behind a call that left is still outside")
		}
		wait("alone", passages, true)
		wait("query", queries, false)
		wait("last", passages, false)
		if len(order) != 1 {
			t.Errorf("%v passed a call that goes alone", order[1:])
		}
		first()
		synctest.Wait()
		if len(order) != 1 {
			t.Errorf("inside: %v, beside a call", order)
		}
		leaves["behind"]()
		synctest.Wait()
		if len(order) != 2 || order[1] != "alone" {
			t.Errorf("inside: %v", order)
		}
		wait("score", scores, false)
		if len(order) != 2 {
			t.Errorf("%v beside a call that goes alone", order)
		}
		leaves["alone"]()
		synctest.Wait()
		if len(order) != 5 {
			t.Errorf("inside: %v", order)
		}
	})
}
