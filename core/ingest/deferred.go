package ingest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// deferred are changes that indexes take in the background, because their writers did
// not wait. What is written while an index takes a batch goes to it in the next one. Nothing
// is found later for that: a query waits for what is committed, as it does for any change. So
// it is kept in memory alone; after a restart the next query or write asks the index.
type deferred struct {
	mu   sync.Mutex
	todo map[indexPartition]*deferral
	wake chan struct{}
}

type deferral struct {
	seq       uint64 // the change number to reach
	documents int    // that wait, or are on their way
	taken     int    // of these, on their way
	busy      bool
	pause     time.Duration // since it failed
	again     time.Time     // not before
}

const (
	// maxDeferred is how many documents of a partition may wait for an index; with more, writes
	// wait as well. It bounds how long a query waits.
	maxDeferred = 256
	// deferredAtOnce is how many partitions are brought up side by side.
	deferredAtOnce = 8
)

func newDeferred() deferred {
	return deferred{todo: map[indexPartition]*deferral{}, wake: make(chan struct{}, 1)}
}

func (d *deferred) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// add leaves a change of so many documents to the background; false: too many wait already.
func (d *deferred) add(ip indexPartition, seq uint64, documents int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.todo[ip]
	if e == nil {
		e = &deferral{}
	}
	if e.documents+documents > maxDeferred {
		return false
	}
	d.todo[ip] = e
	e.seq, e.documents = max(e.seq, seq), e.documents+documents
	d.signal()
	return true
}

// take picks one that nobody works on; nil: there is none, before the time given, if any.
func (d *deferred) take(now time.Time) (ip indexPartition, e *deferral, seq uint64, next time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ip, e := range d.todo {
		switch {
		case e.busy:
		case e.again.After(now):
			if next.IsZero() || e.again.Before(next) {
				next = e.again
			}
		default:
			e.busy, e.taken = true, e.documents
			return ip, e, e.seq, time.Time{}
		}
	}
	return indexPartition{}, nil, 0, next
}

// end notes what became of a batch that was taken up to seq. One that failed is tried again after
// a pause that grows.
func (d *deferred) end(ip indexPartition, e *deferral, seq uint64, failed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.busy = false
	switch {
	case failed:
		e.pause = min(max(2*e.pause, lagPause), lagMaxPause)
		e.again = time.Now().Add(e.pause/2 + rand.N(e.pause/2))
	case e.seq == seq && d.todo[ip] == e:
		delete(d.todo, ip)
	default:
		e.documents, e.pause = e.documents-e.taken, 0
	}
	d.signal()
}

func (d *deferred) forget(ip indexPartition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.todo, ip)
}

func (d *deferred) holds(ip indexPartition) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.todo[ip] != nil
}

func (d *deferred) waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.todo)
}

// mayDefer reports whether an index is worth not waiting for: one to which each batch costs much.
func (pr *Projector) mayDefer(i int) bool {
	_, ok := pr.indexes[i].(port.Bulky)
	return ok
}

// runDeferred brings indexes what writers did not wait for, until ctx ends.
func (pr *Projector) runDeferred(ctx context.Context) {
	d := &pr.deferred
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, deferredAtOnce)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		ip, e, seq, next := d.take(time.Now())
		for e == nil {
			var due <-chan time.Time
			if !next.IsZero() {
				due = time.After(time.Until(next))
			}
			select {
			case <-d.wake:
			case <-due:
			case <-ctx.Done():
				return
			}
			ip, e, seq, next = d.take(time.Now())
		}
		running.Go(func() {
			defer func() { <-slots }()
			d.end(ip, e, seq, !pr.applyDeferred(ctx, ip, seq))
		})
	}
}

// applyDeferred brings an index up to seq; false: it is to be tried again.
func (pr *Projector) applyDeferred(ctx context.Context, ip indexPartition, seq uint64) bool {
	err := pr.catchUp(ctx, ip.index, ip.p, seq)
	if err == nil {
		// It may have been deleted, and dropped, before the index took its first change.
		err = pr.checkAlive(ctx, ip.p)
	}
	switch {
	case err == nil:
		return true
	case fault.IsPartitionNotFound(err):
		pr.Drop(context.WithoutCancel(ctx), ip.p)
		return true
	case ctx.Err() != nil:
		return false
	}
	pr.log.WarnContext(ctx, "index apply deferred", "partition", ip.p.String(), "seq", seq, "error", err)
	if pr.mayLag(ip.index) {
		pr.markPending(ip.index, ip.p, seq, true)
		return true
	}
	return false
}
