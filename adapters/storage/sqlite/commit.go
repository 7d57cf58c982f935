package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of one commit: what is queued behind it waits this long at most, plus the
// time of the last function and of the disk.
const (
	maxFunctions = 256
	maxBytes     = 16 << 20
	maxTime      = 25 * time.Millisecond
	// sharedTime is instead of maxTime where organizations share a commit: what one of them
	// writes shall not wait for much of another's.
	sharedTime = 5 * time.Millisecond
)

// lockPatience bounds how long to wait for another process's transaction, in
// all tries together; one try waits for the connection's busy_timeout.
const lockPatience = 20 * time.Second

// committer owns the writing connection and gives it to the callers of update,
// one after the other: a request waits in queue, where organizations take turns, is
// started, reports its outcome over outcomes, and gets done once the commit is on disk.
type committer struct {
	s                *bunsql.Session
	log              *slog.Logger
	queue            fair.Queue[*request]
	queued           chan struct{} // has room for one: there may be requests
	maintenance      chan func()   // run on the connection while no transaction is open
	outcomes         chan outcome
	done             chan struct{} // closed: no new requests
	ended            chan struct{} // closed: the loop has returned
	onDropped        func()        // called after a commit that deleted a namespace
	afterTransaction func()        // called after each transaction, on the committer's goroutine
	started          bool
	stop             sync.Once
}

// request is one call of update.
type request struct {
	ctx   context.Context
	fn    func(port.DocumentWriter) error
	org   ident.Org
	state atomic.Int32
	start chan struct{}
	done  chan error
	err   error // of its function, where that saw changes of others that were not on disk yet
}

// The states of a request: the side that moves it from waiting decides.
const (
	waiting int32 = iota
	granted
	left
)

// outcome says how a function's savepoint ended.
type outcome struct {
	err     error // not nil: the function's work is undone
	lost    bool  // the transaction is gone with it, or must not go on
	written bunsql.Written
}

func newCommitter(s *bunsql.Session, log *slog.Logger) *committer {
	return &committer{
		s: s, log: log, queued: make(chan struct{}, 1), maintenance: make(chan func()), outcomes: make(chan outcome),
		done: make(chan struct{}), ended: make(chan struct{}), onDropped: func() {}, afterTransaction: func() {},
	}
}

// start begins to serve update; before it, runExclusive may be used.
func (c *committer) start() {
	c.started = true
	go c.loop()
}

// close serves what has been queued and closes the connection.
func (c *committer) close() error {
	c.stop.Do(func() { close(c.done) })
	if c.started {
		<-c.ended
	}
	return c.s.Close()
}

func (c *committer) update(ctx context.Context, fn func(port.DocumentWriter) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, fn: fn, org: fair.Organization(ctx), start: make(chan struct{}), done: make(chan error, 1)}
	select {
	case <-c.done:
		return errClosed("write")
	default:
	}
	c.queue.Push(ctx, r)
	c.wake()
	leave, closed := ctx.Done(), (<-chan struct{})(c.done)
	for {
		select {
		case <-r.start:
			leave, closed = nil, nil // from here on the commit decides
			c.run(r)
		case err := <-r.done:
			return err
		case <-leave:
			if r.state.CompareAndSwap(waiting, left) {
				c.queue.Remove(r)
				return ctx.Err()
			}
			leave = nil
		case <-closed:
			if r.state.CompareAndSwap(waiting, left) {
				return errClosed("write")
			}
			closed = nil
		}
	}
}

// wake has the loop look at the queue.
func (c *committer) wake() {
	select {
	case c.queued <- struct{}{}:
	default: // it will
	}
}

// run runs a request's function in its savepoint, on the caller's goroutine,
// and tells the committer how it went, even when the function panics or ends
// the goroutine.
func (c *committer) run(r *request) {
	// ctx is detached by Control; a cancelled caller must still undo its work.
	out := outcome{err: errors.New("the function did not return")}
	defer func() {
		if out.err != nil && !out.lost {
			out.lost = c.s.Control(r.ctx, `ROLLBACK TO f`) != nil || c.s.Control(r.ctx, `RELEASE f`) != nil
		}
		c.outcomes <- out
	}()
	if err := c.s.Control(r.ctx, `SAVEPOINT f`); err != nil {
		out.err, out.lost = dialect{}.Fault("write", err), true
		return
	}
	written, err := c.s.Write(r.fn)
	if err == nil {
		err = r.ctx.Err()
	}
	if err == nil {
		if err = c.s.Control(r.ctx, `RELEASE f`); err != nil {
			err, out.lost = dialect{}.Fault("write", err), true
		}
	}
	out.err, out.written = err, written
}

func (c *committer) loop() {
	defer close(c.ended)
	for {
		select {
		case <-c.queued:
			r := c.tryNext()
			if r == nil {
				continue
			}
			c.commitGroup(r)
			c.afterTransaction()
			c.wake() // for what the group left
		case fn := <-c.maintenance:
			fn()
		case <-c.done:
			return
		}
	}
}

// runBetween runs fn on the connection between the transactions of others.
func (c *committer) runBetween(ctx context.Context, fn func(*bunsql.Session) error) error {
	ended := make(chan error, 1)
	select {
	case c.maintenance <- func() { ended <- fn(c.s) }:
		return <-ended
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return errClosed("write")
	}
}

// tryNext returns a waiting request; nil when there is none.
func (c *committer) tryNext() *request {
	r, _ := c.queue.Pop()
	return r
}

// commitGroup commits a first request and those that come while it runs.
func (c *committer) commitGroup(first *request) {
	if err := c.begin(context.Background()); err != nil {
		c.failWaiting(first, err)
		return
	}
	began := time.Now()
	var group []*request // those to answer once the commit is on disk
	var kept, bytes int
	var dropped bool
	limit := maxTime
	for r := first; r != nil; {
		out, ok := c.grant(r)
		switch {
		case !ok: // it left
		case out.lost:
			c.abandon()
			r.done <- out.err
			for _, r := range group {
				c.rerun(r)
			}
			return
		case out.err == nil:
			group = append(group, r)
			kept++
			bytes += out.written.Bytes
			dropped = dropped || out.written.Dropped
		case kept == 0:
			r.done <- out.err
		default:
			r.err = out.err
			group = append(group, r)
		}
		if r.org != first.org {
			limit = sharedTime
		}
		if len(group) >= maxFunctions || bytes >= maxBytes || time.Since(began) >= limit {
			break
		}
		r = c.tryNext()
	}
	if kept == 0 {
		c.abandon()
		return
	}
	c.commit(group, dropped)
}

// grant gives the connection to a request and waits for it to come back.
func (c *committer) grant(r *request) (outcome, bool) {
	if r.state.Load() == waiting && !r.state.CompareAndSwap(waiting, granted) || r.state.Load() == left {
		return outcome{}, false
	}
	r.start <- struct{}{}
	return <-c.outcomes, true
}

// rerun runs a request whose transaction another request's function lost.
func (c *committer) rerun(r *request) {
	if err := r.ctx.Err(); err != nil {
		r.done <- err
		return
	}
	if err := c.begin(context.Background()); err != nil {
		r.done <- err
		return
	}
	r.err = nil
	switch out, _ := c.grant(r); {
	case out.err != nil:
		c.abandon()
		r.done <- out.err
	default:
		c.commit([]*request{r}, out.written.Dropped)
	}
}

// failWaiting answers a request, and those waiting behind it, that no transaction
// could begin.
func (c *committer) failWaiting(r *request, err error) {
	for ; r != nil; r = c.tryNext() {
		if r.state.CompareAndSwap(waiting, granted) {
			r.done <- err
		}
	}
}

// commit puts the work of a group on disk and answers it. A function that erred after others had
// written may have erred for what it saw of them, so its error is true only with the commit.
func (c *committer) commit(group []*request, dropped bool) {
	err := c.retry(context.Background(), `COMMIT`)
	if err != nil {
		c.log.Error("commit failed", "functions", len(group), "error", err)
		c.abandon()
		if primary(err) == sqlite3.SQLITE_FULL && len(group) > 1 {
			// Together they did not fit the disk: perhaps all but one do.
			for _, r := range group {
				c.rerun(r)
			}
			return
		}
		err = dialect{}.Fault("commit", err)
	}
	for _, r := range group {
		if err == nil {
			r.done <- r.err
		} else {
			r.done <- err
		}
	}
	if err == nil && dropped {
		c.onDropped()
	}
}

// abandon ends the transaction without keeping anything. SQLite has often
// ended it already when it could not go on, so an error says nothing.
func (c *committer) abandon() { _ = c.s.Control(context.Background(), `ROLLBACK`) }

func (c *committer) begin(ctx context.Context) error {
	return dialect{}.Fault("begin writing", c.retry(ctx, `BEGIN IMMEDIATE`))
}

// retry repeats a statement while another process holds the lock.
func (c *committer) retry(ctx context.Context, statement string) error {
	for until := time.Now().Add(lockPatience); ; {
		err := c.s.Control(ctx, statement)
		if p := primary(err); p != sqlite3.SQLITE_BUSY && p != sqlite3.SQLITE_LOCKED || !time.Now().Before(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// runExclusive runs fn in a transaction of its own, before start.
func (c *committer) runExclusive(ctx context.Context, fn func(*bunsql.Session) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := fn(c.s); err != nil {
		c.abandon()
		return err
	}
	if err := c.retry(ctx, `COMMIT`); err != nil {
		c.abandon()
		return dialect{}.Fault("commit", err)
	}
	return nil
}
