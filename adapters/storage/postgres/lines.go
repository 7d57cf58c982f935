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

// lines are the callers of Update by the partition they work on. Those of one
// partition would all change its row, so at most one transaction of this process
// is at work on it; the others wait, first come first served.
type lines struct {
	mu sync.Mutex
	of map[port.Partition]*line
	// contended has the partitions that other processes were seen to write too, and
	// until when that is remembered.
	contended map[port.Partition]time.Time
}

// line is held by someone as long as it is there.
type line struct {
	waiting []*waiter
}

type waiter struct {
	turn  chan *group // gets the open group to join, or nil to begin one; holds one
	alone bool
}

func newLines() *lines {
	return &lines{of: map[port.Partition]*line{}, contended: map[port.Partition]time.Time{}}
}

// lineOf is the partition whatever life of it p is pinned to.
func lineOf(p port.Partition) port.Partition { return p.At(0) }

// take waits for a turn in the line of p, at its front with again, and answers
// the open group to join, or nil where the caller is to begin one. Either holds
// the line. Who is to be alone joins none. It fails only when ctx ends.
func (l *lines) take(ctx context.Context, p port.Partition, again, alone bool) (*group, error) {
	l.mu.Lock()
	n := l.of[p]
	if n == nil {
		l.of[p] = &line{}
		l.mu.Unlock()
		return nil, nil
	}
	w := &waiter{turn: make(chan *group, 1), alone: alone}
	if again {
		n.waiting = slices.Insert(n.waiting, 0, w)
	} else {
		n.waiting = append(n.waiting, w)
	}
	l.mu.Unlock()
	select {
	case g := <-w.turn:
		return g, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(n.waiting, w); i >= 0 {
		n.waiting = slices.Delete(n.waiting, i, i+1)
		return nil, ctx.Err()
	}
	return <-w.turn, nil // it was its turn at that moment, which is the caller's to end
}

// try takes the line of p if nobody has it.
func (l *lines) try(p port.Partition) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[p] != nil {
		return false
	}
	l.of[p] = &line{}
	return true
}

// next lets the first in line join a group; false when there is none, or it is
// to be alone.
func (l *lines) next(g *group) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.of[g.p]
	if len(n.waiting) == 0 || n.waiting[0].alone {
		return false
	}
	n.pop() <- g
	return true
}

// release gives the line of p up.
func (l *lines) release(p port.Partition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.of[p]
	if len(n.waiting) == 0 {
		delete(l.of, p)
		return
	}
	n.pop() <- nil
}

func (n *line) pop() chan<- *group {
	w := n.waiting[0]
	n.waiting[0] = nil // so that what has been served can be collected
	n.waiting = n.waiting[1:]
	return w.turn
}

// remembered is how long a partition counts as written by other processes after a
// transaction on it lost to another one. What is taken against that hides it, so
// it is tried without again after this long.
const remembered = 10 * time.Second

// lost says that a transaction on p lost to another one.
func (l *lines) lost(p port.Partition) {
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
	l.contended[p] = now.Add(remembered)
}

// forget says that waiting for other processes took too long.
func (l *lines) forget(p port.Partition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.contended, p)
}

// isContended reports whether other processes write p too.
func (l *lines) isContended(p port.Partition) bool {
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
// before its snapshot is taken (PostgreSQL manual, LOCK): who waited for an
// advisory lock or a row has a snapshot from before the wait, and must fail. The
// server serves those who wait in their order, however far away they are. It is
// help, not protection: partitions may share a table, and who does not get it in
// time goes on without.
const (
	turnTables   = 16
	turnPatience = 2 * time.Second
)

func turnTable(n int) string { return "write_turn_" + strconv.Itoa(n) }

// hasTurns reports whether the tables are there, whose number is theirs for ever.
func hasTurns(ctx context.Context, s *bunsql.Session) (bool, error) {
	var n int
	_, err := s.Row(ctx, `SELECT count(*) FROM {{tables}} WHERE name LIKE 'write\_turn\_%'`, nil, &n)
	return n >= turnTables, err
}

// lockTurn is what follows BEGIN to wait for the turn of p between processes.
func lockTurn(p port.Partition) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.String())) // never fails
	return "; SET LOCAL lock_timeout = " + strconv.FormatInt(turnPatience.Milliseconds(), 10) +
		"; LOCK TABLE " + turnTable(int(h.Sum32()%turnTables)) + " IN EXCLUSIVE MODE; SET LOCAL lock_timeout = DEFAULT"
}
