package postgres

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/port"
)

// writeQueues hold the callers of Update by the partition that they write. They would
// all change the partition's row, so at most one transaction of this process works
// on it; the others wait, first come first served.
type writeQueues struct {
	mu     sync.Mutex
	queues map[port.Partition]*writeQueue
	// contended has the partitions that other processes were seen to write, too, and
	// when that is forgotten.
	contended map[port.Partition]time.Time
}

// writeQueue exists as long as a caller holds it.
type writeQueue struct {
	waiting []*waiter
}

type waiter struct {
	admitted chan *group // gets the open group to join, or nil to begin one; holds one
	alone    bool
}

func newWriteQueues() *writeQueues {
	return &writeQueues{queues: map[port.Partition]*writeQueue{}, contended: map[port.Partition]time.Time{}}
}

// queueKey is p without its generation: all generations share a queue.
func queueKey(p port.Partition) port.Partition { return p.At(0) }

// acquire waits in the queue of p, with first at its front, and returns the open
// group to join, or nil when the caller has to begin one. Either holds the queue. A
// caller with alone never joins a group. It fails only when ctx ends.
func (l *writeQueues) acquire(ctx context.Context, p port.Partition, first, alone bool) (*group, error) {
	l.mu.Lock()
	n := l.queues[p]
	if n == nil {
		l.queues[p] = &writeQueue{}
		l.mu.Unlock()
		return nil, nil
	}
	w := &waiter{admitted: make(chan *group, 1), alone: alone}
	if first {
		n.waiting = slices.Insert(n.waiting, 0, w)
	} else {
		n.waiting = append(n.waiting, w)
	}
	l.mu.Unlock()
	select {
	case g := <-w.admitted:
		return g, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(n.waiting, w); i >= 0 {
		n.waiting = slices.Delete(n.waiting, i, i+1)
		return nil, ctx.Err()
	}
	return <-w.admitted, nil // admitted at that very moment: the caller has to release it
}

// tryAcquire takes the queue of p if nobody holds it.
func (l *writeQueues) tryAcquire(p port.Partition) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queues[p] != nil {
		return false
	}
	l.queues[p] = &writeQueue{}
	return true
}

// admitNext lets the first waiter join a group; false when nobody waits or the first
// wants to be alone.
func (l *writeQueues) admitNext(g *group) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.queues[g.p]
	if len(n.waiting) == 0 || n.waiting[0].alone {
		return false
	}
	n.pop() <- g
	return true
}

// release gives up the queue of p, to the first waiter if there is one.
func (l *writeQueues) release(p port.Partition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.queues[p]
	if len(n.waiting) == 0 {
		delete(l.queues, p)
		return
	}
	n.pop() <- nil
}

func (n *writeQueue) pop() chan<- *group {
	w := n.waiting[0]
	n.waiting[0] = nil // so that what has been served can be collected
	n.waiting = n.waiting[1:]
	return w.admitted
}

// conflictMemory is how long a partition counts as written by other processes after
// a transaction on it lost to another one. Waiting for them hides further conflicts,
// so after this time a transaction runs without waiting again.
const conflictMemory = 10 * time.Second

// noteConflict records that a transaction on p lost to another one.
func (l *writeQueues) noteConflict(p port.Partition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if len(l.contended) >= 1000 {
		for p, until := range l.contended {
			if now.After(until) {
				delete(l.contended, p)
			}
		}
	}
	l.contended[p] = now.Add(conflictMemory)
}

// forgetConflict ends the waiting for other processes on p, because it took too long.
func (l *writeQueues) forgetConflict(p port.Partition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.contended, p)
}

// isContended reports whether other processes write p too.
func (l *writeQueues) isContended(p port.Partition) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.contended[p]
	if ok && time.Now().After(until) {
		delete(l.contended, p)
		ok = false
	}
	return ok
}

// Processes that write the same partition take turns by locking one of a few
// empty tables. A lock of a table is the only one that a transaction can wait for
// before its snapshot is taken (PostgreSQL manual, LOCK): a transaction that waited
// for an advisory lock or a row has a snapshot from before the wait, and must fail.
// The server grants the locks in the order of the requests, whichever process they
// come from. The lock is help, not protection: partitions may share a table, and a
// transaction that does not get it in time goes on without.
const (
	lockTables   = 16
	lockPatience = 2 * time.Second
)

func lockTable(n int) string { return "write_turn_" + strconv.Itoa(n) }

// hasLockTables reports whether the tables exist. Their number never changes.
func hasLockTables(ctx context.Context, s *bunsql.Session) (bool, error) {
	var n int
	_, err := s.Row(ctx, `SELECT count(*) FROM {{tables}} WHERE name LIKE 'write\_turn\_%'`, nil, &n)
	return n >= lockTables, err
}

// lockStatement follows BEGIN and waits for other processes that write p.
func lockStatement(p port.Partition) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.String())) // never fails
	return "; SET LOCAL lock_timeout = " + strconv.FormatInt(lockPatience.Milliseconds(), 10) +
		"; LOCK TABLE " + lockTable(int(h.Sum32()%lockTables)) + " IN EXCLUSIVE MODE; SET LOCAL lock_timeout = DEFAULT"
}
