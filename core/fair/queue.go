package fair

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Queue is what waits to be served one after the other. Organizations take turns: each that
// waits has one served, then the next has, so that however many one of them puts in, another's
// first comes after one of each. What an organization puts in keeps its order. The zero value
// is ready. Safe for concurrent use.
type Queue[T comparable] struct {
	mu    sync.Mutex
	lines []*line[T] // of those that wait, whose turn it is first
}

// line is what waits of one organization: something.
type line[T comparable] struct {
	org     ident.Org
	waiting []T
}

// Push puts something in for the organization of ctx's principal; what comes without one
// shares a line.
func (q *Queue[T]) Push(ctx context.Context, v T) {
	org := Organization(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.lines {
		if l.org == org {
			l.waiting = append(l.waiting, v)
			return
		}
	}
	q.lines = append(q.lines, &line[T]{org, []T{v}})
}

// Pop takes out what is next; false: nothing waits.
func (q *Queue[T]) Pop() (next T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		return next, false
	}
	l := q.lines[0]
	q.lines = slices.Delete(q.lines, 0, 1)
	next = l.waiting[0]
	if l.waiting = slices.Delete(l.waiting, 0, 1); len(l.waiting) > 0 {
		q.lines = append(q.lines, l)
	}
	return next, true
}

// Remove takes out something that shall not wait any more; false: it doesn't.
func (q *Queue[T]) Remove(v T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, l := range q.lines {
		at := slices.Index(l.waiting, v)
		if at < 0 {
			continue
		}
		if l.waiting = slices.Delete(l.waiting, at, at+1); len(l.waiting) == 0 {
			q.lines = slices.Delete(q.lines, i, i+1)
		}
		return true
	}
	return false
}

// Len is how much waits.
func (q *Queue[T]) Len() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.lines {
		n += len(l.waiting)
	}
	return n
}

// Slots are so many places for short work. One that gets free goes to who waits, by turns of
// a Queue. Nobody is refused: a Gate does that. Safe for concurrent use.
type Slots struct {
	size int

	mu      sync.Mutex
	free    int
	waits   int64
	waited  time.Duration
	waiting Queue[chan struct{}]
}

// NewSlots makes n free slots.
func NewSlots(n int) *Slots { return &Slots{size: n, free: n} }

// Size is how many slots there are.
func (s *Slots) Size() int { return s.size }

// InUse is how many of them are taken.
func (s *Slots) InUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size - s.free
}

// Waiting is how many wait for one.
func (s *Slots) Waiting() int { return s.waiting.Len() }

// Waits is how often somebody had to wait, and how long all of them did who wait no more.
func (s *Slots) Waits() (n int64, waited time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits, s.waited
}

// Take waits for a slot until ctx ends or stop is closed; true: it has one, and Give gives it
// back. A free one it takes whatever ctx and stop say.
func (s *Slots) Take(ctx context.Context, stop <-chan struct{}) bool {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return true
	}
	given, began := make(chan struct{}), time.Now()
	s.waits++
	s.waiting.Push(ctx, given)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waited += time.Since(began)
	}()
	select {
	case <-given:
		return true
	case <-ctx.Done():
	case <-stop:
	}
	return !s.waiting.Remove(given) // it may be given at the same moment
}

// Give gives a slot back.
func (s *Slots) Give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next, ok := s.waiting.Pop(); ok {
		close(next)
		return
	}
	s.free++
}
