package embedded

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mnemehq/mneme/core/port"
)

// segView is a segment with the deletions that have been applied to it.
type segView struct {
	segment *segment
	live    bitset // nil: all
	alive   int
}

// snapshot is the state that searches see; it is immutable.
type snapshot struct {
	segs    []segView // files first, then the head, each from large to small
	applied uint64
	dim     int    // of vectors; 0: none seen
	live    int    // chunks
	chunks  int    // with deleted ones that are not merged away yet
	words   uint64 // of the same
	bytes   int    // on the heap
}

func (s *snapshot) total() *snapshot {
	s.live, s.chunks, s.words, s.bytes = 0, 0, 0, 0
	for _, v := range s.segs {
		s.live += v.alive
		s.chunks += v.segment.chunks
		s.words += v.segment.words
		s.bytes += len(v.segment.image) + 8*len(v.live) + segmentOverhead
	}
	return s
}

const (
	segmentOverhead   = 1024 // a segment's Go structures
	partitionOverhead = 512
)

// partition is one partition's data in memory. Apply and background work hold
// mu; searches only load the snapshot.
type partition struct {
	id   port.Partition
	mu   sync.Mutex
	snap atomic.Pointer[snapshot] // nil: not loaded, or gone
	gone bool                     // evicted or dropped: ask the index again

	newer, older *partition // in the index's order of use
	bytes        int        // as counted by the index
}

// apply brings the partition forward. The caller holds mu.
func (x *Index) apply(ctx context.Context, p *partition, b port.Batch) error {
	s := p.snap.Load()
	switch {
	case s.applied >= b.Upto:
		return nil
	case s.applied < b.After:
		return port.ErrGap
	}
	changes := distinct(b.Changes)
	dim := s.dim
	for i := range changes {
		for j := range changes[i].Entries {
			e := &changes[i].Entries[j]
			if dim == 0 {
				dim = len(e.Vector)
			}
			if err := checkEntry(e, dim); err != nil {
				return fmt.Errorf("document %q: %w", changes[i].Document, err)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	next := &snapshot{segs: slices.Clone(s.segs), applied: b.Upto, dim: dim}
	for i := range next.segs {
		next.segs[i] = next.segs[i].without(changes)
	}
	bl := x.builders.Get().(*builder)
	seg, err := bl.build(changes, dim)
	x.builders.Put(bl)
	if err != nil {
		return err
	}
	next.segs = slices.DeleteFunc(next.segs, func(v segView) bool { return v.alive == 0 })
	if seg != nil {
		next.segs = append(next.segs, segView{segment: seg, alive: seg.chunks})
	}
	p.snap.Store(next.total())
	return nil
}

// distinct keeps the last change of each document.
func distinct(changes []port.IndexChange) []port.IndexChange {
	at := make(map[string]int, len(changes))
	for i := range changes {
		at[changes[i].Document] = i
	}
	if len(at) == len(changes) {
		return changes
	}
	out := make([]port.IndexChange, 0, len(at))
	for i := range changes {
		if at[changes[i].Document] == i {
			out = append(out, changes[i])
		}
	}
	return out
}

// without marks the documents' chunks as deleted, in a copy.
func (v segView) without(changes []port.IndexChange) segView {
	copied := false
	for i := range changes {
		d := v.segment.find(changes[i].Document)
		if d < 0 {
			continue
		}
		from, to := v.segment.docChunks(d)
		if v.live != nil && !v.live.has(uint32(from)) {
			continue
		}
		if !copied {
			copied = true
			if v.live == nil {
				v.live = fullBitset(v.segment.chunks)
			} else {
				v.live = v.live.clone()
			}
		}
		for o := from; o < to; o++ {
			v.live.unset(uint32(o))
		}
		v.alive -= to - from
	}
	return v
}
