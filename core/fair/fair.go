// Package fair shares the processors among organizations. What computes for long, the
// models above all, asks a Scheduler for a turn, and asks now and then whether the turn
// is over. An organization that computes little gets its turns at once, however much
// others have to do (docs/decisions.md#d-47).
//
// A Gate shares places among them, for work that cannot be interrupted.
package fair

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Scheduler gives turns, as many at once as there are processors. It is start-time fair
// queueing with a bounded credit for who has slept, as in Linux's CFS: each organization's
// use is summed up, the one that has used least comes first, and who comes back after a
// rest starts credit below the others. Turns of one organization go by class, then as they
// came. Safe for concurrent use.
type Scheduler struct {
	width int // turns at once

	mu       sync.Mutex
	held     int     // of the running turns that hold a processor
	running  []*Turn // those and the overtaken
	waiting  []*Turn
	accounts map[ident.Org]*account
	opened   int           // accounts ever
	floor    time.Duration // the least use of those that had turns, which never falls
	turns    uint64        // ever asked for
	pressed  atomic.Bool   // somebody waits
}

const (
	// quantum is how much more than another organization's a use must be for its turn
	// to be interrupted.
	quantum = 5 * time.Millisecond
	// credit is what an organization may use before others, after a rest.
	credit = 200 * time.Millisecond
	// stall is after what time without a Yield a turn is overtaken.
	stall = 50 * time.Millisecond
	// kept is how long the use of an organization that rests is remembered.
	kept = 10 * time.Second
)

// account is the use of an organization.
type account struct {
	number int
	used   time.Duration
	turns  int       // running and waiting ones
	left   time.Time // when it last had one
}

// Turn is a right to compute. Its methods are called by who computes, AfterFunc's function
// excepted.
type Turn struct {
	s       *Scheduler
	account *account
	class   int
	number  uint64 // of the turns that wait, the lowest is the oldest
	began   time.Time
	given   chan struct{} // has room for one

	// Under s.mu.
	holds   bool          // a processor
	waits   bool          // for one
	since   time.Time     // its use is counted up to then; where it waits: since when
	got     time.Time     // the processor
	seen    time.Time     // when it last got the processor or asked whether to go on
	waited  time.Duration // altogether, up to since
	strayed atomic.Bool   // it was overtaken
}

// New makes a scheduler of so many turns at once.
func New(width int) *Scheduler { return &Scheduler{width: width, accounts: map[ident.Org]*account{}} }

// Enter waits for a turn of the organization of ctx's principal; the calls without one
// share an account. A lower class goes first. Where ctx ends, or a turn doesn't say for
// long that it goes on, the answer is a turn all the same. Leave ends it.
func (s *Scheduler) Enter(ctx context.Context, class int) *Turn {
	t := &Turn{s: s, class: class, given: make(chan struct{}, 1)}
	org := Organization(ctx)
	s.mu.Lock()
	now := time.Now()
	t.began = now
	s.count(now)
	t.account = s.join(org, now)
	s.line(t, now)
	s.handOut(now)
	s.mu.Unlock()
	t.wait(ctx)
	return t
}

// Yield lets others go first whose turn it is, and comes back when it is this one's
// again, or ctx ends.
func (t *Turn) Yield(ctx context.Context) {
	s := t.s
	if !s.pressed.Load() && !t.strayed.Load() || ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	now := time.Now()
	s.count(now)
	t.seen = now
	if t.holds && !slices.ContainsFunc(s.waiting, func(w *Turn) bool { return w.before(t, now) }) {
		s.mu.Unlock()
		return
	}
	s.stop(t)
	if t.class == 0 { // the turns of people who wait go round
		s.turns++
		t.number = s.turns
	}
	s.line(t, now)
	s.handOut(now)
	s.mu.Unlock()
	t.wait(ctx)
}

// Leave ends a turn.
func (t *Turn) Leave() {
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.count(now)
	s.stop(t)
	t.account.turns--
	t.account.left = now
	s.handOut(now)
}

// AfterFunc calls do once a turn has run for d, waiting not counted. stop has it not be
// called any more.
func (t *Turn) AfterFunc(d time.Duration, do func()) (stop func()) {
	const least = 10 * time.Millisecond
	var mu sync.Mutex
	var timer *time.Timer
	stopped := false
	began := t.Ran()
	var check func()
	check = func() {
		left := d + began - t.Ran()
		mu.Lock()
		due := !stopped && left <= 0
		if !stopped && left > 0 {
			timer = time.AfterFunc(max(left, least), check)
		}
		mu.Unlock()
		if due {
			do()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(d, check)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// Ran is how long a turn has run.
func (t *Turn) Ran() time.Duration {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	now := time.Now()
	ran := now.Sub(t.began) - t.waited
	if t.waits {
		ran -= now.Sub(t.since)
	}
	return ran
}

// wait waits until a turn that is in line is given a processor or ctx ends. It overtakes one
// that runs and doesn't come to ask: then the operating system shares the processors between
// both.
func (t *Turn) wait(ctx context.Context) {
	select {
	case <-t.given:
		return
	default:
	}
	impatient := time.NewTicker(stall)
	defer impatient.Stop()
	for {
		select {
		case <-t.given:
			return
		case <-ctx.Done():
			t.s.withdraw(t)
			return
		case <-impatient.C:
			t.s.overtake(t)
		}
	}
}

// The caller of what follows holds mu.

// count adds what the running turns have used since.
func (s *Scheduler) count(now time.Time) {
	for _, t := range s.running {
		t.account.used += now.Sub(t.since)
		t.since = now
	}
	least, any := time.Duration(0), false
	for _, turns := range [][]*Turn{s.running, s.waiting} {
		for _, t := range turns {
			if !any || t.account.used < least {
				least, any = t.account.used, true
			}
		}
	}
	if any {
		s.floor = max(s.floor, least)
	}
}

// join counts a turn of an organization, and forgets the use of those that have rested: who
// has used less than the credit allows begins with the credit.
func (s *Scheduler) join(org ident.Org, now time.Time) *account {
	for other, a := range s.accounts {
		if a.turns == 0 && (a.used <= s.floor-credit || now.Sub(a.left) > kept) {
			delete(s.accounts, other)
		}
	}
	a := s.accounts[org]
	if a == nil {
		s.opened++
		a = &account{number: s.opened, used: s.floor - credit}
		s.accounts[org] = a
	}
	a.turns++
	return a
}

// line puts a turn in line.
func (s *Scheduler) line(t *Turn, now time.Time) {
	if t.number == 0 {
		s.turns++
		t.number = s.turns
	}
	t.waits, t.since = true, now
	s.waiting = append(s.waiting, t)
}

// stop takes a turn from those that run, or wait.
func (s *Scheduler) stop(t *Turn) {
	s.running = remove(s.running, t)
	s.waiting = remove(s.waiting, t)
	if t.holds {
		s.held--
	}
	t.holds, t.waits = false, false
	t.strayed.Store(false)
}

func remove(turns []*Turn, t *Turn) []*Turn {
	return slices.DeleteFunc(turns, func(o *Turn) bool { return o == t })
}

// handOut gives the free processors to those that wait.
func (s *Scheduler) handOut(now time.Time) {
	for s.held < s.width && len(s.waiting) > 0 {
		next := slices.MinFunc(s.waiting, order)
		s.waiting = remove(s.waiting, next)
		s.run(next, now)
		next.holds = true
		s.held++
		next.given <- struct{}{}
	}
	s.pressed.Store(len(s.waiting) > 0)
}

// run has a turn that waited be counted.
func (s *Scheduler) run(t *Turn, now time.Time) {
	t.waited += now.Sub(t.since)
	t.waits = false
	t.since, t.got, t.seen = now, now, now
	s.running = append(s.running, t)
}

// order is by use, class and age.
func order(a, b *Turn) int {
	return cmp.Or(cmp.Compare(a.account.used, b.account.used), cmp.Compare(a.account.number, b.account.number),
		cmp.Compare(a.class, b.class), cmp.Compare(a.number, b.number))
}

// before reports whether a turn that waits should run instead of one that does.
func (t *Turn) before(running *Turn, now time.Time) bool {
	switch {
	case t.account != running.account:
		return t.account.used+quantum <= running.account.used
	case t.class != running.class:
		return t.class < running.class
	}
	return t.class == 0 && now.Sub(running.got) >= quantum
}

// overtake gives those that wait the processor of a turn that hasn't asked for long. It
// waits when it asks.
func (s *Scheduler) overtake(t *Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.count(now)
	if !t.waits {
		return
	}
	for _, r := range s.running {
		if r.holds && now.Sub(r.seen) >= stall {
			r.holds = false
			r.strayed.Store(true)
			s.held--
			s.handOut(now)
			return
		}
	}
}

// withdraw has a turn whose caller is gone go on without a processor of its own, so that
// it comes to its end.
func (s *Scheduler) withdraw(t *Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.waits {
		<-t.given // at the same moment
		return
	}
	now := time.Now()
	s.count(now)
	s.waiting = remove(s.waiting, t)
	s.run(t, now)
	s.handOut(now)
}
