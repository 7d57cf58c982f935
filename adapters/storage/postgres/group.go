package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"

	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of one commit: the first function in it waits this long, plus the time of
// the last function and of the disk. A server keeps up to 64 savepoints of a
// transaction where other transactions find them fast.
const (
	maxFunctions = 32
	maxBytes     = 16 << 20
	maxTime      = 25 * time.Millisecond
)

// slotPatience bounds how long a transaction waits for unrelated ones.
const slotPatience = time.Second

// group is a transaction on one partition that callers hand on from one to the
// next, each with a savepoint, until the last of them commits it for all.
type group struct {
	s            *Store
	p            port.Partition // whose queue it holds; zero: none
	conn         bun.Conn
	session      *bunsql.Session
	d            *dialect
	since        time.Time // when the first function ended
	alone        bool      // nobody may join
	kept         int       // functions whose work is to be committed
	bytes        int
	hasSavepoint bool // there is a savepoint
	holdsSlot    bool // it has one of the store's

	done   chan struct{} // closed once the next two are set
	undone bool          // nothing was committed, and its functions may run again
	err    error         // of COMMIT
}

// group begins a transaction for the holder of p's queue.
func (s *Store) group(ctx context.Context, p port.Partition, alone bool) (*group, error) {
	g := &group{s: s, p: p, d: &dialect{}, alone: alone, holdsSlot: p != (port.Partition{}), done: make(chan struct{})}
	if g.holdsSlot {
		patient, cancel := context.WithTimeout(ctx, slotPatience) // some transactions take very long
		g.holdsSlot = s.slots.Take(patient, nil)
		cancel()
		if err := ctx.Err(); err != nil {
			if g.holdsSlot {
				s.slots.Give()
			}
			return nil, err
		}
	}
	wait := p != (port.Partition{}) && s.queues.isContended(p)
	err := g.begin(ctx, wait)
	if wait && postgres.State(err) != "" { // too late, most often; or a server or role without such locks
		s.queues.forgetConflict(p)
		err = g.begin(ctx, false)
	}
	if err != nil {
		if g.holdsSlot {
			s.slots.Give()
		}
		return nil, g.d.Fault("write", err)
	}
	return g, nil
}

// begin begins the transaction; with wait, after other processes that write p.
func (g *group) begin(ctx context.Context, wait bool) (err error) {
	if g.conn, err = g.s.conn(ctx, g.d); err != nil {
		return err
	}
	g.session = bunsql.NewSession(g.conn, g.d)
	begin := g.s.begin[updating]
	if wait {
		begin += lockStatement(g.p)
	}
	if err = g.session.Simple(ctx, begin); err != nil {
		g.rollback()
		g.close()
	}
	return err
}

// join sets the savepoint of another function.
func (g *group) join(ctx context.Context) error {
	g.d.conflict, g.d.violated, g.d.gone = false, false, false
	statement := "SAVEPOINT f"
	if g.hasSavepoint {
		statement = "RELEASE f; SAVEPOINT f"
	}
	g.hasSavepoint = true
	if err := g.session.Simple(ctx, statement); err != nil {
		g.d.gone = true // whichever savepoint there is now is not this function's
		return err
	}
	return nil
}

// failed reports whether a statement failed, after which nothing is kept: COMMIT
// would then roll back and say that all is well.
func (g *group) failed() bool {
	const inFailedTransaction = 'E' // PostgreSQL manual, message formats, ReadyForQuery
	failed := g.d.conflict || g.d.gone
	err := g.conn.Raw(func(c any) error {
		failed = failed || c.(*stdlib.Conn).Conn().PgConn().TxStatus() == inFailedTransaction
		return nil
	})
	return failed || err != nil
}

// undo takes back what the function of the last join did; false when the group has
// no other work, or when it can't.
func (g *group) undo() bool {
	return g.kept > 0 && g.session.Simple(context.Background(), "ROLLBACK TO f") == nil
}

// A connection that can't roll back is closed by its driver.
func (g *group) rollback() { _ = g.session.Simple(context.Background(), "ROLLBACK") }

func (g *group) close() {
	if err := g.session.Close(); err != nil {
		g.s.log.Warn("connection release failed", "error", err)
	}
}

// full reports whether it is time to commit.
func (g *group) full() bool {
	return g.alone || g.p == port.Partition{} || g.kept >= maxFunctions || g.bytes >= maxBytes || time.Since(g.since) >= maxTime
}

// commit ends the group. When the connection is lost while it commits, the outcome is
// not known: the answer is Unavailable, and a repeated write finds what was done.
func (g *group) commit() {
	g.d.conflict = false
	g.err = g.d.Fault("write", g.session.Simple(context.Background(), "COMMIT"))
	g.undone = g.d.conflict
	g.end()
}

// abandon ends the group without keeping anything.
func (g *group) abandon() {
	g.undone = true
	g.rollback()
	g.end()
}

func (g *group) end() {
	g.close()
	if g.holdsSlot {
		g.s.slots.Give()
	}
	close(g.done)
	if g.p != (port.Partition{}) {
		if g.d.conflict {
			g.s.queues.noteConflict(g.p)
		}
		g.s.queues.release(g.p)
	}
}

// attempt is one run of a caller's function.
type attempt struct {
	s       *Store
	queue   port.Partition // whose queue to wait in; zero: that of the partition used first
	tries   int            // before this one
	g       *group
	refused error // what entering failed with
}

var (
	errMustQueue = errors.New("the function has to queue for its partition before it begins")
	errHidden    = errors.New("the function went on after a failed statement")
	errNoEnd     = errors.New("the function did not return")
)

// enter is the attempt's bunsql.Enter: it waits in the partition's queue, then
// begins a transaction or joins the one that is handed on.
func (a *attempt) enter(ctx context.Context, p port.Partition) (*bunsql.Session, error) {
	if a.refused != nil {
		return nil, a.refused
	}
	p = queueKey(p)
	if a.g == nil {
		if a.queue != (port.Partition{}) {
			p = a.queue
		}
		if a.refused = a.beginOrJoin(ctx, p); a.refused != nil {
			return nil, a.refused
		}
		return a.g.session, nil
	}
	if p == (port.Partition{}) || a.g.p != (port.Partition{}) {
		return a.g.session, nil // of two partitions it queues for one; the database serialises the other
	}
	// The transaction began with something else.
	if a.s.queues.isContended(p) || !a.s.queues.tryAcquire(p) {
		a.queue, a.refused = p, errMustQueue
		return nil, a.refused
	}
	a.g.p = p
	return a.g.session, nil
}

// beginOrJoin begins or joins a group. A function that failed in a group runs again
// at the front of the queue, and after a second failure alone.
func (a *attempt) beginOrJoin(ctx context.Context, p port.Partition) error {
	alone := a.tries > 1
	if p != (port.Partition{}) {
		g, err := a.s.queues.acquire(ctx, p, a.tries > 0, alone)
		if err != nil {
			return err
		}
		if g != nil {
			a.g = g
			if g.join(ctx) != nil {
				a.queue = p
				return errMustQueue
			}
			return nil
		}
	}
	g, err := a.s.group(ctx, p, alone)
	if err != nil {
		if p != (port.Partition{}) {
			a.s.queues.release(p)
		}
		return err
	}
	a.g = g
	return nil
}

// outcome is what an attempt came to.
type outcome int

const (
	decided    outcome = iota // with the error that comes with it, if any
	displaced                 // undone because of others, or has to queue for another partition
	conflicted                // lost to another transaction
	violated                  // broke a constraint that no statement expects
)

// run runs fn once.
func (a *attempt) run(ctx context.Context, fn func(port.DocumentWriter) error) (written bunsql.Written, _ outcome, err error) {
	returned := false
	defer func() {
		if !returned && a.g != nil { // it panicked, or ended its goroutine
			a.finish(0, errNoEnd)
		}
	}()
	written, err = bunsql.Write(a.enter, fn)
	returned = true
	if err == nil {
		err = a.refused // and the function went on all the same
	}
	if err == nil {
		err = ctx.Err()
	}
	g := a.g
	if g == nil {
		return written, decided, err
	}
	if err == nil && g.failed() {
		err = fault.Wrap(fault.Internal, "write", errHidden, "an internal error occurred")
	}
	first, d := g.kept == 0, *g.d
	a.finish(written.Bytes, err)
	switch {
	case errors.Is(a.refused, errMustQueue):
		return written, displaced, err
	case d.conflict:
		return written, conflicted, err
	case d.gone, ctx.Err() != nil && err != nil:
		return written, decided, err
	}
	if err == nil || !first {
		// An error may also come of what others in the group did, so it waits until that
		// is committed.
		<-g.done
		switch {
		case g.undone && g.err != nil:
			return written, conflicted, g.err
		case g.undone:
			return written, displaced, nil
		case g.err != nil:
			return written, decided, g.err
		}
	}
	if err != nil && d.violated {
		return written, violated, err
	}
	return written, decided, err
}

// finish ends the attempt's part of its group: it keeps or undoes what the
// function did, and hands the transaction to the next waiter or commits it.
func (a *attempt) finish(bytes int, err error) {
	g := a.g
	switch {
	case g.d.conflict || g.d.gone || err != nil && !g.undo():
		g.abandon()
		return
	case err == nil:
		if g.kept == 0 {
			g.since = time.Now()
		}
		g.kept++
		g.bytes += bytes
	}
	if g.full() || !g.s.queues.admitNext(g) {
		g.commit()
	}
}
