package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// groups let writers of a partition share the batches of an index to which each batch costs much, as
// transactions share a flush in a group commit: what is committed while the index takes one batch
// gathers, and becomes the next one.
type groups struct {
	mu sync.Mutex
	of map[indexPartition]*group // those that are being served
}

type group struct {
	waiting []*groupWrite
}

type groupWrite struct {
	batch port.Batch
	ended chan error // of capacity 1
}

func newGroups() groups { return groups{of: map[indexPartition]*group{}} }

// apply has a batch applied, together with others where the index asks for large ones.
func (pr *Projector) apply(ctx context.Context, i int, p port.Partition, b port.Batch) error {
	bulky, ok := pr.indexes[i].(port.Bulky)
	if !ok {
		return pr.indexes[i].Apply(ctx, p, b)
	}
	w, ip := &groupWrite{b, make(chan error, 1)}, indexPartition{i, p}
	pr.groups.mu.Lock()
	if g := pr.groups.of[ip]; g != nil {
		g.waiting = append(g.waiting, w)
	} else {
		g = &group{waiting: []*groupWrite{w}}
		pr.groups.of[ip] = g
		go pr.serveGroup(context.WithoutCancel(ctx), ip, g, bulky.BatchDocuments()) // who comes first may leave before the others
	}
	pr.groups.mu.Unlock()
	return <-w.ended
}

// serveGroup applies what waits until nothing does.
func (pr *Projector) serveGroup(ctx context.Context, ip indexPartition, g *group, size int) {
	ix := pr.indexes[ip.index]
	var waiting []*groupWrite
	for {
		pr.groups.mu.Lock()
		waiting = append(waiting, g.waiting...)
		g.waiting = nil
		if len(waiting) == 0 {
			delete(pr.groups.of, ip)
			pr.groups.mu.Unlock()
			return
		}
		pr.groups.mu.Unlock()
		slices.SortFunc(waiting, func(a, b *groupWrite) int { return cmp.Compare(a.batch.After, b.batch.After) })
		run, b := gather(waiting, size)
		err := applyGuarded(ctx, ix, ip.p, b)
		if errors.Is(err, port.ErrGap) && g.hasBefore(&pr.groups.mu, b.After) {
			continue // what was missing has been committed earlier and come later
		}
		waiting = waiting[len(run):]
		shared := len(run) == 1 || err == nil || errors.Is(err, port.ErrGap) || fault.CodeOf(err) == fault.Unavailable ||
			fault.CodeOf(err) == fault.Timeout
		for _, w := range run {
			if !shared { // what one of them is refused for is not the others' fault
				err = applyGuarded(ctx, ix, ip.p, w.batch)
			}
			w.ended <- err
		}
	}
}

// applyGuarded is Apply, whose panic fails the writers and not the process: no caller is here to recover it.
func applyGuarded(ctx context.Context, ix port.Index, p port.Partition, b port.Batch) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("index panicked: %v", v)
		}
	}()
	return ix.Apply(ctx, p, b)
}

// hasBefore reports whether a write of an earlier number waits.
func (g *group) hasBefore(mu *sync.Mutex, after uint64) bool {
	mu.Lock()
	defer mu.Unlock()
	return slices.ContainsFunc(g.waiting, func(w *groupWrite) bool { return w.batch.After < after })
}

// gather makes one batch of the first writes, of no more than so many documents where there are several: of those
// that follow one another, in the order of their numbers. Of a document that several change, the last
// change counts.
func gather(waiting []*groupWrite, size int) (run []*groupWrite, b port.Batch) {
	b, chunks := waiting[0].batch, chunksOf(waiting[0].batch)
	n := 1
	for ; n < len(waiting); n++ {
		next := waiting[n].batch
		chunks += chunksOf(next)
		if next.After != b.Upto || next.Language != b.Language || len(b.Changes)+len(next.Changes) > size ||
			chunks > replayChunks {
			break
		}
		b.Changes, b.Upto = append(slices.Clip(b.Changes), next.Changes...), next.Upto
	}
	if n == 1 {
		return waiting[:1], b
	}
	last := make(map[string]int, len(b.Changes))
	for i, c := range b.Changes {
		last[c.Document] = i
	}
	var changes []port.IndexChange
	for i, c := range b.Changes {
		if last[c.Document] == i {
			changes = append(changes, c)
		}
	}
	b.Changes = changes
	return waiting[:n], b
}

func chunksOf(b port.Batch) (n int) {
	for _, c := range b.Changes {
		n += len(c.Entries)
	}
	return n
}
