package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mnemehq/mneme/adapters/disk"
)

const (
	mergeWidth  = 4       // as many files of like size are merged
	mergeLimit  = 4 << 20 // chunks of a file; what would be larger is merged by compaction alone
	backoffLow  = time.Second
	backoffHigh = time.Minute

	// Each file of a partition costs a search something, so what was written fast, in many files, becomes few when it has
	// come to rest: compactAfter without a flush.
	compactAfter = time.Minute
	compactRatio = 2 // a file is merged with all smaller ones where it has at most so many times as much as they
)

// fileLimit is what a file holds at the most that compaction makes.
type fileLimit struct {
	chunks int
	bytes  int // of each section of lists and ids, whose places have 32 bits
}

var compactLimit = fileLimit{16 << 20, 3_000 << 20}

// schedule starts the background work that the partition needs. The caller
// holds p.mu.
func (x *Index) schedule(p *partition) {
	if p.gone || time.Now().Before(p.retry) {
		return
	}
	s := p.snap.Load()
	if !p.flushing && p.pending(s) >= x.cfg.FlushChunks && x.startJob(p, x.flush) {
		p.flushing = true
	}
	if p.merging || p.unverified {
		return
	}
	switch files, due := x.pickFiles(p, s); {
	case len(files) == 0:
	case time.Until(due) <= 0:
		p.merging = x.startJob(p, x.mergeFiles)
	case p.compaction == nil:
		p.compaction = time.AfterFunc(time.Until(due), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.compaction = nil
			x.schedule(p)
		})
	}
}

// pickFiles chooses files to merge, and when. The caller holds p.mu.
func (x *Index) pickFiles(p *partition, s *snapshot) (files []*segment, due time.Time) {
	if files = pickMerge(s, p.kept, x.cfg.FlushChunks); files != nil {
		return files, time.Time{}
	}
	return pickCompaction(s, p.kept, compactLimit), p.flushed.Add(x.compactAfter)
}

// pending counts what a flush would write: chunks of the head and deletions.
func (p *partition) pending(s *snapshot) int {
	n := p.deletedInFiles
	for _, v := range s.head() {
		n += v.alive
	}
	return n
}

// startJob runs fn in the background; false: the index is closing.
func (x *Index) startJob(p *partition, fn func(*partition) error) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return false
	}
	x.jobs.Add(1)
	p.jobs.Add(1)
	go func() {
		defer x.jobs.Done()
		defer p.jobs.Done()
		if err := fn(p); err != nil {
			x.handleFailure(p, err)
		}
	}()
	return true
}

// handleFailure handles the end of background work with an error.
func (x *Index) handleFailure(p *partition, err error) {
	if isDamage(err) {
		x.dropDamaged(p, err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || errors.Is(err, context.Canceled) {
		return
	}
	p.backoff = min(max(2*p.backoff, backoffLow), backoffHigh)
	p.retry = time.Now().Add(p.backoff)
	x.log.Warn("index background work failed", "partition", p.id.String(), "retry_in", p.backoff, "error", err)
}

// verify compares the checksums that were left when files were opened. Until then none is merged, so that damage is never
// written again under a checksum that fits it.
func (x *Index) verify(p *partition) error {
	s := p.acquire()
	if s == nil {
		return nil
	}
	defer s.release()
	if err := acquire(p.ctx, x.mergeSlots); err != nil {
		return err
	}
	defer func() { <-x.mergeSlots }()
	for _, v := range s.segs {
		if !v.segment.unverified {
			continue
		}
		if err := guard(func() error { return v.segment.verifyCodes(p.ctx) }); err != nil {
			return fmt.Errorf("%s: %w", segmentName(v.segment.file.id), err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unverified = false
	x.schedule(p)
	return nil
}

// flush writes the head and the deletions as of now to disk.
func (x *Index) flush(p *partition) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if !p.gone {
		err = x.flushLocked(p)
	}
	p.flushing, p.frozen = false, nil
	p.idle.Broadcast()
	if err == nil {
		x.schedule(p)
	}
	return err
}

// flushLocked is called with p.mu held, and releases it while it writes.
func (x *Index) flushLocked(p *partition) error {
	s := p.snap.Load()
	s.refs.Add(1) // not the last: the partition holds one
	defer s.release()
	var inputs []mergeInput
	p.frozen = map[*segment]bool{}
	for _, v := range s.head() {
		p.frozen[v.segment] = true
		if v.alive > 0 {
			inputs = append(inputs, mergeInput{v.segment, v.live})
		}
	}
	id := p.next
	p.next++

	p.mu.Unlock()
	seg, moved, err := x.writeHead(p, id, inputs)
	p.mu.Lock()
	if err != nil {
		return err
	}
	if seg != nil {
		defer seg.file.release() // publish takes its own reference
	}
	if p.gone {
		if seg != nil {
			seg.file.obsolete.Store(true)
		}
		return nil
	}
	cur := p.snap.Load()
	next := &snapshot{applied: cur.applied, dim: cur.dim}
	kept := map[*segment]bitset{}
	for _, v := range cur.segs {
		if v.segment.file != nil {
			next.segs = append(next.segs, v)
			kept[v.segment] = p.kept[v.segment]
		}
	}
	// Deletions of files count as of s. Merges wait for a flush, so the files are the same.
	for _, v := range s.segs {
		if v.segment.file != nil && v.live != nil {
			kept[v.segment] = v.live
		}
	}
	if seg != nil {
		v, err := mergedView(seg, inputs, moved, cur)
		if err != nil {
			seg.file.obsolete.Store(true)
			return err
		}
		next.segs = append(next.segs, v)
		kept[seg] = nil
	}
	for _, v := range cur.segs {
		if v.segment.file == nil && !p.frozen[v.segment] {
			next.segs = append(next.segs, v)
		}
	}
	if err := x.writeManifest(p, next, kept, s.applied); err != nil {
		if seg != nil {
			seg.file.obsolete.Store(true)
		}
		return err
	}
	p.kept, p.durable = kept, s.applied
	p.deletedInFiles = 0
	for _, v := range next.segs {
		if v.segment.file != nil {
			p.deletedInFiles += count(kept[v.segment], v.segment) - v.alive
		}
	}
	p.backoff, p.flushed = 0, time.Now()
	p.publish(next)
	x.accountMemory(p, next)
	x.flushes.Add(1)
	return nil
}

func count(b bitset, s *segment) int {
	if b == nil {
		return s.chunks
	}
	return b.count()
}

// writeHead writes a file for the head; nil when it is empty.
func (x *Index) writeHead(p *partition, id uint64, inputs []mergeInput) (*segment, [][]uint32, error) {
	if err := x.makeDir(p); err != nil || len(inputs) == 0 {
		return nil, nil, err
	}
	if err := acquire(p.ctx, x.flushSlots); err != nil {
		return nil, nil, err
	}
	defer func() { <-x.flushSlots }()
	return x.guardedWrite(p, id, inputs)
}

// guardedWrite merges into a file; damaged inputs give an error.
func (x *Index) guardedWrite(p *partition, id uint64, inputs []mergeInput) (seg *segment, moved [][]uint32, err error) {
	err = guard(func() (err error) {
		seg, moved, err = x.writeSegmentFile(p.ctx, p.dir, id, inputs)
		return err
	})
	return seg, moved, err
}

// makeDir makes the partition's directory. Only flushes call it, one at a time.
func (x *Index) makeDir(p *partition) error {
	if p.hasDir {
		return nil
	}
	if err := disk.MakeDir(x.disk, p.dir); err != nil {
		return err
	}
	p.hasDir = true
	x.mu.Lock()
	x.onDisk[p.id.Generation()] = true
	x.mu.Unlock()
	return nil
}

// mergedView is the view of a merged segment with the deletions that were applied to
// its inputs in the meantime.
func mergedView(seg *segment, inputs []mergeInput, moved [][]uint32, cur *snapshot) (segView, error) {
	v := segView{segment: seg, alive: seg.chunks}
	for i, in := range inputs {
		at := slices.IndexFunc(cur.segs, func(c segView) bool { return c.segment == in.seg })
		if at < 0 || cur.segs[at].live == nil {
			continue
		}
		live := cur.segs[at].live
		for o, n := range moved[i] {
			if n != droppedChunk && !live.has(uint32(o)) {
				if v.live == nil {
					v.live = fullBitset(seg.chunks)
				}
				v.live.unset(n)
				v.alive--
			}
		}
	}
	return v, v.countDeadWords()
}

func (x *Index) writeManifest(p *partition, s *snapshot, kept map[*segment]bitset, durable uint64) error {
	m := manifest{Partition: p.id.String(), Analyzer: x.analyzer.Version(), K1: x.rank.k1, B: x.rank.b,
		Durable: durable, Dim: s.dim, Next: p.next}
	for _, v := range s.segs {
		if v.segment.file == nil {
			continue
		}
		dead, err := encodeDead(kept[v.segment], v.segment.chunks)
		if err != nil {
			return err
		}
		m.Segments = append(m.Segments, manifestSegment{ID: v.segment.file.id, Header: v.segment.file.sum, Dead: dead})
	}
	return m.write(x.disk, p.dir)
}

// pickMerge chooses files to merge: one of which a third is durably deleted, or
// mergeWidth of like size. nil: none.
func pickMerge(s *snapshot, kept map[*segment]bitset, unit int) []*segment {
	tiers := map[int][]*segment{}
	for _, v := range s.segs {
		if v.segment.file == nil {
			continue
		}
		n := v.segment.chunks
		if b := kept[v.segment]; b != nil {
			if n = b.count(); n*3 < v.segment.chunks*2 {
				return []*segment{v.segment}
			}
		}
		if n > mergeLimit/mergeWidth {
			continue
		}
		tier := 0
		for size := unit * 2; size < n; size *= mergeWidth {
			tier++
		}
		tiers[tier] = append(tiers[tier], v.segment)
	}
	for tier := 0; tier < 64; tier++ {
		if t := tiers[tier]; len(t) >= mergeWidth {
			return t
		}
	}
	return nil
}

// pickCompaction chooses the files to merge in a partition at rest: as many of the smallest as cost little beside what
// they become. nil: none.
func pickCompaction(s *snapshot, kept map[*segment]bitset, limit fileLimit) []*segment {
	var files []*segment
	chunks := map[*segment]int{}
	for _, v := range s.segs {
		if v.segment.file != nil {
			files = append(files, v.segment)
			chunks[v.segment] = count(kept[v.segment], v.segment)
		}
	}
	slices.SortStableFunc(files, func(a, b *segment) int { return cmp.Compare(chunks[a], chunks[b]) })
	smaller, picked := 0, 0
	var size [sectionCount]int
	for i, seg := range files {
		n := chunks[seg]
		for section := range size {
			size[section] += len(seg.sec[section])
		}
		if smaller+n > limit.chunks || max(size[secPostings], size[secSparse], size[secDocIDs], size[secTerms]) > limit.bytes {
			break
		}
		if i > 0 && n <= compactRatio*smaller {
			picked = i + 1
		}
		smaller += n
	}
	return files[:picked:picked]
}

// mergeFiles merges files once.
func (x *Index) mergeFiles(p *partition) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if !p.gone {
		err = x.mergeLocked(p)
	}
	p.merging = false
	if err == nil {
		x.schedule(p)
	}
	return err
}

// mergeLocked is called with p.mu held, and releases it while it writes.
func (x *Index) mergeLocked(p *partition) error {
	s := p.snap.Load()
	s.refs.Add(1)
	defer s.release()
	picked, due := x.pickFiles(p, s)
	if len(picked) == 0 || time.Until(due) > 0 { // flushed since
		return nil
	}
	inputs := make([]mergeInput, len(picked))
	keep := 0
	for i, seg := range picked {
		inputs[i] = mergeInput{seg, p.kept[seg]}
		keep += count(p.kept[seg], seg)
	}
	id := p.next
	p.next++

	p.mu.Unlock()
	var seg *segment
	var moved [][]uint32
	err := acquire(p.ctx, x.mergeSlots)
	if err == nil {
		if keep > 0 {
			seg, moved, err = x.guardedWrite(p, id, inputs)
		}
		<-x.mergeSlots
	}
	p.mu.Lock()
	if err != nil {
		return err
	}
	if seg != nil {
		defer seg.file.release()
	}
	for p.flushing && !p.gone {
		p.idle.Wait()
	}
	if p.gone {
		if seg != nil {
			seg.file.obsolete.Store(true)
		}
		return nil
	}
	cur := p.snap.Load()
	next := &snapshot{applied: cur.applied, dim: cur.dim}
	kept := map[*segment]bitset{}
	if seg != nil {
		v, err := mergedView(seg, inputs, moved, cur)
		if err != nil {
			seg.file.obsolete.Store(true)
			return err
		}
		next.segs = append(next.segs, v)
		// Deletions made durable by a flush since the merge began.
		var durable bitset
		for i, in := range inputs {
			now := p.kept[in.seg]
			if now == nil {
				continue
			}
			for o, n := range moved[i] {
				if n != droppedChunk && !now.has(uint32(o)) {
					if durable == nil {
						durable = fullBitset(seg.chunks)
					}
					durable.unset(n)
				}
			}
		}
		kept[seg] = durable
	}
	for _, v := range cur.segs {
		if !slices.Contains(picked, v.segment) {
			next.segs = append(next.segs, v)
			if v.segment.file != nil {
				kept[v.segment] = p.kept[v.segment]
			}
		}
	}
	if err := x.writeManifest(p, next, kept, p.durable); err != nil {
		if seg != nil {
			seg.file.obsolete.Store(true)
		}
		return err
	}
	p.kept = kept
	for _, old := range picked {
		old.file.obsolete.Store(true)
	}
	p.publish(next)
	x.accountMemory(p, next)
	x.merges.Add(1)
	return nil
}

// acquire waits for a slot for heavy background work.
func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
