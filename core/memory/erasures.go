package memory

import (
	"errors"
	"sync"

	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// erasures are the attempts at erasures in this process, and the calls that wait for
// them, by pinned partition. Safe for concurrent use.
type erasures struct {
	mu       sync.Mutex
	attempts map[port.Partition]*outcome // under way; nil until it is known
	waiting  map[port.Partition]map[chan<- outcome]struct{}
}

// outcome is how an attempt at an erasure has ended.
type outcome struct {
	certificate Certificate
	err         error
}

func newErasures() *erasures {
	return &erasures{attempts: map[port.Partition]*outcome{}, waiting: map[port.Partition]map[chan<- outcome]struct{}{}}
}

// join has the next outcome of an erasure sent to a channel, which has room for it.
func (e *erasures) join(p port.Partition, ended chan<- outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiting[p] == nil {
		e.waiting[p] = map[chan<- outcome]struct{}{}
	}
	e.waiting[p][ended] = struct{}{}
}

// leave takes join back, if it still holds.
func (e *erasures) leave(p port.Partition, ended chan<- outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if delete(e.waiting[p], ended); len(e.waiting[p]) == 0 {
		delete(e.waiting, p)
	}
}

// begin notes that an attempt is under way here.
func (e *erasures) begin(p port.Partition) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attempts[p] = nil
}

// note keeps what came of it until end.
func (e *erasures) note(p port.Partition, o outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attempts[p] = &o
}

// end tells all who wait what came of the attempt that is over: what was noted, or
// else err. job.ErrTaken is none of their business: another replica goes on.
func (e *erasures) end(p port.Partition, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.attempts[p]
	delete(e.attempts, p)
	if errors.Is(err, job.ErrTaken) {
		return
	}
	if o == nil {
		o = &outcome{err: err}
	}
	for ended := range e.waiting[p] {
		ended <- *o
	}
	delete(e.waiting, p)
}

// running reports whether an attempt is under way here.
func (e *erasures) running(p port.Partition) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.attempts[p]
	return ok
}
