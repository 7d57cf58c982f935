package ingest

import (
	"context"
	"sync"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// keyedMutex is a mutex for each index of a partition, kept while it is in use.
type keyedMutex struct {
	mu sync.Mutex
	of map[indexPartition]*keyedLock
}

type keyedLock struct {
	held  chan struct{} // of capacity 1; full while it is locked
	users int           // the holder and those who wait
}

// lock waits for the mutex of an index, unless ctx ends before.
func (m *keyedMutex) lock(ctx context.Context, ip indexPartition) (unlock func(), err error) {
	m.mu.Lock()
	l := m.of[ip]
	if l == nil {
		l = &keyedLock{held: make(chan struct{}, 1)}
		m.of[ip] = l
	}
	l.users++
	m.mu.Unlock()
	release := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(m.of, ip)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() {
			<-l.held
			release()
		}, nil
	case <-ctx.Done():
		release()
		return nil, ctx.Err()
	}
}

// deferredBuilds are replays that outlast their callers' deadlines, such as that of a
// whole partition after another index was configured. They continue in the background;
// until they end, searches of their partitions fail at once.
type deferredBuilds struct {
	mu   sync.Mutex
	todo map[indexPartition]uint64 // the change number to reach
	wake chan struct{}
}

func newBuilds() deferredBuilds {
	return deferredBuilds{todo: map[indexPartition]uint64{}, wake: make(chan struct{}, 1)}
}

// inProgress reports whether an index is being built in the background.
func (b *deferredBuilds) inProgress(ip indexPartition) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.todo[ip] > 0
}

func (b *deferredBuilds) add(ip indexPartition, seq uint64) {
	b.mu.Lock()
	b.todo[ip] = max(b.todo[ip], seq)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next picks one.
func (b *deferredBuilds) next() (ip indexPartition, seq uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ip, seq := range b.todo {
		return ip, seq, true
	}
	return ip, 0, false
}

// done removes one from the list, whether it succeeded or not: after a failure the
// next search or write notices and starts it again.
func (b *deferredBuilds) done(ip indexPartition, seq uint64, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failed || b.todo[ip] <= seq {
		delete(b.todo, ip)
	}
}

// catchUpOrDefer is catchUp, which continues in the background once the caller's
// deadline has passed.
func (pr *Projector) catchUpOrDefer(ctx context.Context, i int, p port.Partition, seq uint64) error {
	err := pr.catchUp(ctx, i, p, seq)
	if err != nil && ctx.Err() != nil && !pr.mayLag(i) {
		pr.builds.add(indexPartition{i, p}, seq)
	}
	return err
}

// runBuilds runs the deferred builds until ctx ends.
func (pr *Projector) runBuilds(ctx context.Context) {
	for {
		ip, seq, ok := pr.builds.next()
		if !ok {
			select {
			case <-pr.builds.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := pr.catchUp(ctx, ip.index, ip.p, seq)
		pr.builds.done(ip, seq, err != nil)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !fault.IsPartitionNotFound(err) {
			// The next search or write tries again.
			pr.log.WarnContext(ctx, "index build failed", "partition", ip.p.String(), "seq", seq, "error", err)
		}
	}
}
