package embedded

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// segView is a segment with the deletions that have been applied to it.
type segView struct {
	segment *segment
	live    bitset // nil: all
	alive   int
	dead    uint64 // words of the deleted chunks
}

// countDeadWords recounts the words of the deleted chunks.
func (v *segView) countDeadWords() error {
	v.dead = 0
	if v.live == nil {
		return nil
	}
	return guard(func() error {
		for o, n := range v.segment.length {
			if !v.live.has(uint32(o)) {
				v.dead += uint64(n)
			}
		}
		return nil
	})
}

// exactFrequency is how many postings of a list are looked at to find those of
// deleted chunks. Of a longer one the segment's share of live chunks is taken.
const exactFrequency = 4096

// frequency is the number of live chunks that hold a term, so that deleted chunks
// stop counting for BM25 before a merge drops them.
func (v *segView) frequency(r *postingReader, lists []byte, e entry) int {
	switch {
	case v.live == nil || e.df == 0:
		return e.df
	case e.df > exactFrequency:
		return int(int64(e.df) * int64(v.alive) / int64(v.segment.chunks))
	}
	n := 0
	r.reset(lists[e.off:], e.df, e.bound)
	for b := range r.blocks {
		r.load(b)
		for _, o := range r.docs[:r.n] {
			if v.live.has(o) {
				n++
			}
		}
	}
	return n
}

// snapshot is the state that searches see. It is immutable. It holds a
// reference to each segment file; searches hold one to it while they run.
type snapshot struct {
	segs    []segView // files first, then the head in order of arrival
	applied uint64
	dim     int    // of vectors; 0: none seen
	live    int    // chunks
	words   uint64 // of the same
	bytes   int    // what the memory budget counts
	refs    atomic.Int64
}

const (
	segmentOverhead   = 1024     // a segment's Go structures
	fileOverhead      = 64 << 10 // a mapping: page tables, and a share of the maps that a process may have
	partitionOverhead = 512
	// What the process takes for a byte on the heap: Go's collector lets garbage
	// grow to the size of what is alive before it runs.
	heapCost = 2
)

func (s *snapshot) release() {
	if s.refs.Add(-1) > 0 {
		return
	}
	for _, v := range s.segs {
		if v.segment.file != nil {
			v.segment.file.release()
		}
	}
}

// files reports whether a search of the snapshot reads mapped files.
func (s *snapshot) files() bool { return len(s.segs) > 0 && s.segs[0].segment.file != nil }

// head is the part of segs that lives in memory alone.
func (s *snapshot) head() []segView {
	i := slices.IndexFunc(s.segs, func(v segView) bool { return v.segment.file == nil })
	if i < 0 {
		return nil
	}
	return s.segs[i:]
}

// partition is one partition's data. mu is held by whatever changes it, for as
// long as that takes; searches only load the snapshot.
//
// Changes go to the head, segments on the heap that are merged so that each is
// at least twice as large as the next. When the head has grown, a flush writes
// it as one file and the manifest with it: from then on the changes up to the
// flushed snapshot are durable. Merges of files leave out only chunks whose
// deletion is durable, so what a manifest describes is always the partition as
// of its durable number, never a mixture.
type partition struct {
	id     port.Partition
	dir    string
	ctx    context.Context // of background work; ends when the partition goes
	cancel context.CancelFunc

	mu             sync.Mutex
	idle           sync.Cond // signalled when a flush ends; L is &mu
	snap           atomic.Pointer[snapshot]
	gone           bool // evicted, dropped or damaged: ask the index again once cleared
	cleared        chan struct{}
	hasDir         bool
	durable        uint64
	next           uint64              // id of the next segment file
	kept           map[*segment]bitset // per file: live chunks as the manifest has them; nil: all
	deletedInFiles int                 // chunks of files deleted since the manifest was written
	frozen         map[*segment]bool   // head segments that a flush is writing
	flushing       bool
	merging        bool
	unverified     bool      // the checksums of some files have not been compared yet
	retry          time.Time // after a failed flush or merge: not before
	backoff        time.Duration
	flushed        time.Time   // the last time, or when it was loaded
	compaction     *time.Timer // schedules; nil: nothing is to be compacted
	jobs           sync.WaitGroup

	// Guarded by Index.mu.
	newer, older *partition
	bytes        int
	used         time.Time
	mark         uint64 // number that callers may have seen before the partition left memory
}

// acquire is the current snapshot with a reference for the caller; nil when
// the partition is being loaded or gone.
func (p *partition) acquire() *snapshot {
	for {
		s := p.snap.Load()
		if s == nil {
			return nil
		}
		for n := s.refs.Load(); n > 0; n = s.refs.Load() {
			if s.refs.CompareAndSwap(n, n+1) {
				return s
			}
		}
	}
}

// publish makes a snapshot current. The caller holds mu.
func (p *partition) publish(s *snapshot) {
	s.live, s.words, s.bytes = 0, 0, 0
	for _, v := range s.segs {
		s.live += v.alive
		s.words += v.segment.words - v.dead
		s.bytes += 8*len(v.live) + segmentOverhead
		if v.segment.file != nil {
			v.segment.file.refs.Add(1)
			s.bytes += fileOverhead + 8*len(p.kept[v.segment])
		} else {
			s.bytes += heapCost * cap(v.segment.image)
		}
	}
	s.refs.Store(1)
	if old := p.snap.Swap(s); old != nil {
		old.release()
	}
}

// retire ends the partition's life in memory. The caller holds mu.
func (p *partition) retire() {
	p.gone = true
	if p.compaction != nil {
		p.compaction.Stop()
	}
	p.cancel()
	p.idle.Broadcast()
	if old := p.snap.Swap(nil); old != nil {
		old.release()
	}
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
	next := &snapshot{segs: slices.Clone(s.segs), applied: b.Upto, dim: dim}
	deleted := 0
	for i, v := range next.segs {
		next.segs[i] = v.withDeleted(changes)
		if v.segment.file != nil {
			deleted += v.alive - next.segs[i].alive
		}
	}
	bl := x.builders.Get().(*builder)
	bl.language = b.Language
	seg, err := bl.build(changes, dim)
	x.builders.Put(bl)
	if err != nil {
		return err
	}
	if seg != nil {
		next.segs = append(next.segs, segView{segment: seg, alive: seg.chunks})
	}
	if next.segs, err = x.compactHead(ctx, p, next.segs); err != nil {
		return err
	}
	p.deletedInFiles += deleted
	p.publish(next)
	x.accountMemory(p, next)
	x.schedule(p)
	return nil
}

// compactHead merges the newest head segments until each is at least twice as
// large as the next, and rewrites those with many deleted chunks. Segments that
// a flush is writing stay.
func (x *Index) compactHead(ctx context.Context, p *partition, segs []segView) ([]segView, error) {
	from := 0
	for from < len(segs) && (segs[from].segment.file != nil || p.frozen[segs[from].segment]) {
		from++
	}
	head := slices.DeleteFunc(segs[from:], func(v segView) bool { return v.alive == 0 })
	segs = segs[:from+len(head)]
	first := len(head)
	for sum := 0; first > 0 && (first == len(head) || head[first-1].alive < 2*sum); first-- {
		sum += head[first-1].alive
	}
	merge := func(views []segView) (segView, error) {
		inputs := make([]mergeInput, len(views))
		for i, v := range views {
			inputs[i] = mergeInput{v.segment, v.live}
		}
		s, err := x.mergeHeap(ctx, inputs)
		if err != nil {
			return segView{}, err
		}
		return segView{segment: s, alive: s.chunks}, nil
	}
	for i, v := range head[:first] {
		if dead := v.segment.chunks - v.alive; dead*8 > v.segment.chunks {
			var err error
			if head[i], err = merge(head[i : i+1]); err != nil {
				return nil, err
			}
		}
	}
	if len(head)-first > 1 {
		v, err := merge(head[first:])
		if err != nil {
			return nil, err
		}
		segs = append(segs[:from+first], v)
	}
	return segs, nil
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

// withDeleted marks the documents' chunks as deleted, in a copy.
func (v segView) withDeleted(changes []port.IndexChange) segView {
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
			v.dead += uint64(v.segment.length[o])
		}
		v.alive -= to - from
	}
	return v
}
