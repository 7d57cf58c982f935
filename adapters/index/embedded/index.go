package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// ErrClosed is what an index answers after Close.
var ErrClosed = errors.New("embedded index: closed")

// Index serves keyword, vector and sparse search over many partitions. It is
// safe for concurrent use.
type Index struct {
	cfg      Config
	disk     disk.FS
	dir      string
	log      *slog.Logger
	kernels  simd.Kernels
	analyzer *analysis.Analyzer
	rank     ranking
	weights  []float32 // of sparse codes
	builders sync.Pool
	scorers  scorers
	// Heavy background work under way. Flushes wait for no merge, which may take minutes: what is not flushed is in memory.
	flushSlots, mergeSlots chan struct{}
	compactAfter           time.Duration
	jobs                   sync.WaitGroup

	flushes, merges, evictions, rebuilds atomic.Uint64

	// mu guards what follows. A goroutine that holds a partition's mu may take
	// it, never the other way round.
	mu             sync.Mutex
	open           map[int64]*partition
	onDisk         map[int64]bool // generations that have a directory
	marks          map[int64]mark
	newest, oldest *partition // in order of use
	bytes          int
	closed         bool
}

// mark remembers how far a partition was when it left memory: a caller that
// read Applied before must not take a search of what is left for complete.
type mark struct {
	applied uint64
	at      time.Time
}

const (
	markLimit = 1 << 17
	markAge   = 10 * time.Minute
	// As many partitions, if used more recently than this, are evicted only when
	// memory is at twice the budget: their callers may be between Apply and
	// Search. Every other partition leaves as soon as the budget is exceeded.
	evictKeep = 32
	evictIdle = 2 * time.Second
)

// Open opens the index in a directory of its own, which is made if absent. No
// other process may use the directory.
func Open(cfg Config, dir string, log *slog.Logger) (*Index, error) {
	x, err := open(cfg, disk.OS(), dir, log)
	if err != nil {
		return nil, fmt.Errorf("open embedded index: %w", err)
	}
	return x, nil
}

func open(cfg Config, on disk.FS, dir string, log *slog.Logger) (*Index, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) != 1 {
		return nil, errors.New("needs a little-endian machine")
	}
	k, err := simd.Best()
	if err != nil {
		return nil, err
	}
	a, err := analysis.New(analysis.Stemmer(cfg.Keyword.Stemmer), cfg.Keyword.Languages...)
	if err != nil {
		return nil, err
	}
	if err := disk.MakeDir(on, dir); err != nil {
		return nil, err
	}
	x := &Index{
		cfg: cfg, disk: on, dir: dir, log: log, kernels: k, analyzer: a,
		rank:    ranking{float32(cfg.Keyword.K1), float32(cfg.Keyword.B)},
		weights: weightTable(), flushSlots: make(chan struct{}, cfg.Merges), mergeSlots: make(chan struct{}, cfg.Merges),
		compactAfter: compactAfter,
		open:         map[int64]*partition{}, onDisk: map[int64]bool{}, marks: map[int64]mark{},
	}
	x.builders.New = func() any { return newBuilder(a, x.rank, k, x.weights) }
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if g, ok := generationOf(e.Name()); ok && e.IsDir() {
			x.onDisk[g] = true
		}
	}
	return x, nil
}

// Retain removes the data of all generations but the live ones: what a crash
// between the store's deletion and Drop has left, and what another process has
// deleted. A partition that was created after live was read is dropped too where
// it is in memory, and then read from the store again.
func (x *Index) Retain(live []int64) error {
	keep := make(map[int64]bool, len(live))
	for _, g := range live {
		keep[g] = true
	}
	open, err := x.retainClosed(keep)
	for _, p := range open {
		err = errors.Join(err, x.Drop(context.Background(), p))
	}
	return err
}

// retainClosed is Retain for what is not in memory; it answers what is.
func (x *Index) retainClosed(keep map[int64]bool) (open []port.Partition, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ErrClosed
	}
	for g, p := range x.open {
		if !keep[g] {
			open = append(open, p.id)
		}
	}
	removed := false
	for g := range x.onDisk {
		if keep[g] || x.open[g] != nil {
			continue
		}
		removed = true
		if err := x.disk.RemoveAll(filepath.Join(x.dir, partitionDirName(g))); err != nil {
			return open, fmt.Errorf("embedded index: retain: %w", err)
		}
		delete(x.onDisk, g)
	}
	if removed {
		if err := x.disk.SyncDir(x.dir); err != nil {
			return open, fmt.Errorf("embedded index: retain: %w", err)
		}
	}
	return open, nil
}

// remove removes a partition's directory durably: an erasure is acknowledged after it, and
// a power cut must not bring back what was erased.
func (x *Index) remove(dir string) error {
	if err := x.disk.RemoveAll(dir); err != nil {
		return err
	}
	return x.disk.SyncDir(x.dir)
}

// partition finds the partition's state, loads it from disk, or makes an empty
// one. nil: it is nowhere and create is false; mark then tells how far it was.
// The state may be retired at any time: check gone under its mu.
func (x *Index) partition(ctx context.Context, id port.Partition, create bool) (*partition, uint64, error) {
	g := id.Generation()
	if g == 0 {
		return nil, 0, fmt.Errorf("partition %s is not pinned to a generation", id)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		x.mu.Lock()
		if x.closed {
			x.mu.Unlock()
			return nil, 0, ErrClosed
		}
		p := x.open[g]
		if p != nil {
			x.markUsed(p)
			m := p.mark
			x.mu.Unlock()
			if p.id != id {
				return nil, 0, fmt.Errorf("generation %d belongs to another partition than %s", g, id)
			}
			if p.snap.Load() != nil {
				return p, m, nil
			}
			p.mu.Lock() // wait while it is loaded
			gone := p.gone
			p.mu.Unlock()
			if !gone {
				return p, m, nil
			}
			select {
			case <-p.cleared:
			case <-ctx.Done():
			}
			continue
		}
		onDisk, m := x.onDisk[g], x.marks[g].applied
		if !onDisk && !create {
			x.mu.Unlock()
			return nil, m, nil
		}
		p = &partition{
			id:      id,
			dir:     filepath.Join(x.dir, partitionDirName(g)),
			mark:    m,
			hasDir:  onDisk,
			cleared: make(chan struct{}),
			flushed: time.Now(),
		}
		p.ctx, p.cancel = context.WithCancel(context.Background())
		p.idle.L = &p.mu
		p.mu.Lock()
		x.open[g] = p
		delete(x.marks, g)
		x.markUsed(p)
		x.mu.Unlock()
		err := x.load(p, onDisk)
		p.mu.Unlock()
		if err != nil {
			return nil, 0, err
		}
		return p, m, nil
	}
}

// load fills a new partition from its directory. Damage empties it; other
// errors are returned and leave files alone. The caller holds p.mu.
func (x *Index) load(p *partition, onDisk bool) error {
	s := &snapshot{}
	if onDisk {
		loaded, err := x.read(p)
		switch {
		case err == nil:
			s = loaded
		case isDamage(err) || errors.Is(err, fs.ErrNotExist):
			if !errors.Is(err, errNoManifest) {
				x.rebuilds.Add(1)
				x.log.Warn("index partition unreadable", "partition", p.id.String(), "error", err)
			}
			p.durable, p.next, p.kept = 0, 0, nil
			if err = x.remove(p.dir); err == nil {
				p.hasDir = false
				break
			}
			fallthrough
		default:
			x.mu.Lock()
			x.forget(p)
			x.mu.Unlock()
			p.retire()
			close(p.cleared)
			return err
		}
	}
	if !p.hasDir && onDisk {
		x.mu.Lock()
		delete(x.onDisk, p.id.Generation())
		x.mu.Unlock()
	}
	p.publish(s)
	for _, v := range s.segs {
		v.segment.file.release() // publish took its own
	}
	if slices.ContainsFunc(s.segs, func(v segView) bool { return v.segment.unverified }) {
		p.unverified = true
		x.startJob(p, x.verify) // or the index is closing
	}
	x.accountMemory(p, s)
	x.schedule(p)
	return nil
}

var errNoManifest = fmt.Errorf("no manifest: %w", fs.ErrNotExist)

// read opens what the manifest names.
func (x *Index) read(p *partition) (_ *snapshot, err error) {
	m, err := readManifest(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoManifest
	}
	if err != nil {
		return nil, err
	}
	if m.Partition != p.id.String() {
		return nil, fmt.Errorf("%w: it belongs to %s", errManifest, m.Partition)
	}
	if m.Analyzer != x.analyzer.Version() || m.K1 != x.rank.k1 || m.B != x.rank.b {
		return nil, fmt.Errorf("%w: it was made with other settings of keyword search", errManifest)
	}
	s := &snapshot{applied: m.Durable, dim: m.Dim}
	defer func() {
		if err != nil {
			for _, v := range s.segs {
				v.segment.file.release()
			}
		}
	}()
	p.kept = map[*segment]bitset{}
	for _, ms := range m.Segments {
		seg, err := openSegmentFile(x.disk, p.dir, ms.ID, verifyFirst)
		if err != nil {
			return nil, err
		}
		s.segs = append(s.segs, segView{segment: seg})
		v := &s.segs[len(s.segs)-1]
		if seg.file.sum != ms.Header {
			return nil, damaged("%s is not the one that the manifest names", segmentName(ms.ID))
		}
		if seg.dim != 0 && seg.dim != m.Dim {
			return nil, damaged("%s has vectors of %d dimensions, not %d", segmentName(ms.ID), seg.dim, m.Dim)
		}
		if v.live, v.alive, err = decodeDead(ms.Dead, seg.chunks); err != nil {
			return nil, err
		}
		if err = v.countDeadWords(); err != nil {
			return nil, err
		}
		p.kept[seg] = v.live
	}
	p.durable, p.next = m.Durable, m.Next
	return s, removeStrays(x.disk, p.dir, m)
}

// dropDamaged drops a partition whose data can't be read. Callers get ErrGap until it
// has been rebuilt from the store.
func (x *Index) dropDamaged(p *partition, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	x.rebuilds.Add(1)
	x.log.Error("index partition damaged", "partition", p.id.String(), "error", cause)
	applied := p.snap.Load().applied
	p.retire()
	x.mu.Lock()
	closed := x.closed
	if !closed {
		x.jobs.Add(1)
	}
	x.mu.Unlock()
	if closed { // the next Open finds the damage again
		close(p.cleared)
		return
	}
	go func() {
		defer x.jobs.Done()
		p.jobs.Wait()
		if err := x.remove(p.dir); err != nil {
			x.log.Error("index partition removal failed", "partition", p.id.String(), "error", err)
		}
		x.mu.Lock()
		x.forget(p)
		delete(x.onDisk, p.id.Generation())
		x.remember(p.id.Generation(), max(applied, p.mark))
		x.mu.Unlock()
		close(p.cleared)
	}()
}

// markUsed moves a partition to the front of the order of use. The caller holds x.mu.
func (x *Index) markUsed(p *partition) {
	p.used = time.Now()
	if x.newest == p {
		return
	}
	x.unlink(p)
	p.older = x.newest
	if x.newest != nil {
		x.newest.newer = p
	}
	x.newest = p
	if x.oldest == nil {
		x.oldest = p
	}
}

func (x *Index) unlink(p *partition) {
	if p.newer != nil {
		p.newer.older = p.older
	} else if x.newest == p {
		x.newest = p.older
	}
	if p.older != nil {
		p.older.newer = p.newer
	} else if x.oldest == p {
		x.oldest = p.newer
	}
	p.newer, p.older = nil, nil
}

// forget takes a partition out of the index's books. The caller holds x.mu.
func (x *Index) forget(p *partition) {
	if x.open[p.id.Generation()] != p {
		return
	}
	delete(x.open, p.id.Generation())
	x.unlink(p)
	x.bytes -= p.bytes
	p.bytes = 0
}

// remember sets a mark. The caller holds x.mu.
func (x *Index) remember(g int64, applied uint64) {
	if applied == 0 {
		return
	}
	if len(x.marks) >= markLimit {
		old := time.Now().Add(-markAge)
		for g, m := range x.marks {
			if m.at.Before(old) {
				delete(x.marks, g)
			}
		}
	}
	x.marks[g] = mark{applied, time.Now()}
}

// accountMemory books a partition's memory and evicts others while the budget is
// exceeded. The caller holds p.mu.
func (x *Index) accountMemory(p *partition, s *snapshot) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open[p.id.Generation()] != p {
		return
	}
	n := s.bytes + partitionOverhead
	x.bytes += n - p.bytes
	p.bytes = n
	if s.applied >= p.mark {
		p.mark = 0
	}
	budget := x.cfg.MemoryMB << 20
	if x.bytes <= budget {
		return
	}
	recent := time.Now().Add(-evictIdle)
	for v := x.oldest; v != nil && x.bytes > budget; {
		next := v.newer
		if len(x.open) <= evictKeep && v.used.After(recent) && x.bytes <= 2*budget {
			return
		}
		if v != p {
			x.evict(v)
		}
		v = next
	}
}

// evict takes a partition out of memory unless it is busy. The caller holds x.mu.
func (x *Index) evict(p *partition) {
	if !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	if p.gone || p.flushing || p.merging {
		return
	}
	applied := max(p.snap.Load().applied, p.mark)
	p.retire()
	x.forget(p)
	x.remember(p.id.Generation(), applied)
	x.evictions.Add(1)
	close(p.cleared)
}

// Retrievers lists what Search serves.
func (x *Index) Retrievers() []port.Retriever {
	return []port.Retriever{port.Vector, port.Keyword, port.SparseTerms}
}

// Apply brings the partition from b.After to b.Upto; see port.Index.
func (x *Index) Apply(ctx context.Context, id port.Partition, b port.Batch) error {
	if b.Upto < b.After {
		return fmt.Errorf("embedded index: apply: batch ends at %d, before its start %d", b.Upto, b.After)
	}
	for {
		p, _, err := x.partition(ctx, id, true)
		if err == nil {
			err = x.applyTo(ctx, p, b)
		}
		switch {
		case errors.Is(err, errGone):
			continue
		case isDamage(err):
			x.dropDamaged(p, err)
			err = port.ErrGap
		}
		if err != nil {
			return fmt.Errorf("embedded index: apply to %s: %w", id, err)
		}
		return nil
	}
}

var errGone = errors.New("partition has left memory")

func (x *Index) applyTo(ctx context.Context, p *partition, b port.Batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return errGone
	}
	if !p.snap.Load().files() {
		return x.apply(ctx, p, b)
	}
	return guard(func() error { return x.apply(ctx, p, b) })
}

// Applied is the number of the last change that searches reflect.
func (x *Index) Applied(ctx context.Context, id port.Partition) (uint64, error) {
	for {
		p, _, err := x.partition(ctx, id, false)
		if err != nil {
			return 0, fmt.Errorf("embedded index: applied: %w", err)
		}
		if p == nil {
			return 0, nil
		}
		if s := p.snap.Load(); s != nil {
			return s.applied, nil
		}
	}
}

// Durable is the number that would survive a crash now.
func (x *Index) Durable(ctx context.Context, id port.Partition) (uint64, error) {
	for {
		p, _, err := x.partition(ctx, id, false)
		if err != nil {
			return 0, fmt.Errorf("embedded index: durable: %w", err)
		}
		if p == nil {
			return 0, nil
		}
		p.mu.Lock()
		gone, durable := p.gone, p.durable
		p.mu.Unlock()
		if !gone {
			return durable, nil
		}
	}
}

// Search gives the best q.Limit chunks; see port.Index. It answers
// port.ErrGap when the partition has left memory since a caller could have read
// its number: bring it up to date again and repeat the search.
func (x *Index) Search(ctx context.Context, id port.Partition, q port.IndexQuery) ([]port.Hit, error) {
	for {
		p, mark, err := x.partition(ctx, id, false)
		if err != nil {
			return nil, fmt.Errorf("embedded index: search: %w", err)
		}
		if p == nil {
			if mark > 0 {
				return nil, fmt.Errorf("embedded index: search %s: %w", id, port.ErrGap)
			}
			return nil, checkQuery(q)
		}
		s := p.acquire()
		if s == nil {
			continue
		}
		hits, err := x.searchSnapshot(ctx, s, q)
		applied := s.applied
		s.release()
		switch {
		case isDamage(err) && s.files():
			x.dropDamaged(p, err)
			return nil, fmt.Errorf("embedded index: search %s: %w", id, port.ErrGap)
		case err != nil:
			return nil, fmt.Errorf("embedded index: search %s: %w", id, err)
		case applied < mark:
			return nil, fmt.Errorf("embedded index: search %s: %w", id, port.ErrGap)
		}
		return hits, nil
	}
}

func checkQuery(q port.IndexQuery) error {
	if q.Limit < 1 {
		return fmt.Errorf("limit %d is less than 1", q.Limit)
	}
	switch q.Retriever {
	case port.Vector, port.Keyword, port.SparseTerms:
		return nil
	}
	return fmt.Errorf("retriever %q is not served", q.Retriever)
}

func (x *Index) searchSnapshot(ctx context.Context, s *snapshot, q port.IndexQuery) (hits []port.Hit, err error) {
	if err := checkQuery(q); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.files() {
		return x.search(ctx, s, q)
	}
	err = guard(func() (err error) { hits, err = x.search(ctx, s, q); return err })
	return hits, err
}

func (x *Index) search(ctx context.Context, s *snapshot, q port.IndexQuery) ([]port.Hit, error) {
	allow := make([]allowance, len(s.segs))
	for i, v := range s.segs {
		if v.alive == 0 {
			allow[i].none = true
			continue
		}
		var err error
		if allow[i].set, allow[i].none, err = v.segment.allowed(v.live, q.Filter, q.After, q.Before); err != nil {
			return nil, err
		}
	}
	var best []candidate
	var terms []queryTerm
	var err error
	if q.Retriever == port.Vector {
		best, err = x.searchVector(ctx, s, allow, q)
	} else {
		best, terms, err = x.searchTerms(ctx, s, allow, q)
	}
	if err != nil {
		return nil, err
	}
	out := make([]port.Hit, len(best))
	for i, f := range best {
		seg := s.segs[f.seg].segment
		out[i] = port.Hit{Document: string(seg.docID(int(seg.owner[f.ord]))), Chunk: int(seg.number[f.ord]), Score: f.score}
	}
	if q.Explain && q.Retriever == port.Keyword {
		x.explain(s, terms, best, out)
	}
	return out, nil
}

// Drop removes everything of the partition, on disk too.
func (x *Index) Drop(ctx context.Context, id port.Partition) error {
	g := id.Generation()
	for {
		if done, err := x.dropClosed(g); done || err != nil {
			return err
		}
		p, _, err := x.partition(ctx, id, false)
		if err != nil {
			return fmt.Errorf("embedded index: drop: %w", err)
		}
		if p == nil {
			continue
		}
		p.mu.Lock()
		if p.gone {
			p.mu.Unlock()
			continue
		}
		p.retire()
		p.mu.Unlock()
		p.jobs.Wait()
		if _, there := os.Lstat(p.dir); p.hasDir || there == nil {
			err = x.remove(p.dir)
		}
		x.mu.Lock()
		x.forget(p)
		if err == nil {
			delete(x.onDisk, g)
		}
		x.mu.Unlock()
		close(p.cleared)
		if err != nil {
			return fmt.Errorf("embedded index: drop %s: %w", id, err)
		}
		return nil
	}
}

// dropClosed drops a partition that is not in memory; false: it is.
func (x *Index) dropClosed(g int64) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return false, ErrClosed
	}
	if g == 0 || x.open[g] != nil {
		return false, nil
	}
	if x.onDisk[g] {
		if err := x.remove(filepath.Join(x.dir, partitionDirName(g))); err != nil {
			return false, fmt.Errorf("embedded index: drop: %w", err)
		}
		delete(x.onDisk, g)
	}
	delete(x.marks, g)
	return true, nil
}

// Ping checks that the index can serve.
func (x *Index) Ping(context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	return nil
}

// Close stops background work, writes what is worth a faster next start, and
// closes all partitions. Searches under way end normally.
func (x *Index) Close() error {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return nil
	}
	x.closed = true
	var all []*partition
	for _, p := range x.open {
		all = append(all, p)
	}
	x.mu.Unlock()
	for _, p := range all {
		p.cancel()
	}
	x.jobs.Wait()
	for _, p := range all {
		x.closePartition(p)
	}
	return nil
}

func (x *Index) closePartition(p *partition) {
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return
	}
	s := p.snap.Load()
	flush := p.hasDir && s.applied > p.durable || p.pending(s) >= max(1, x.cfg.FlushChunks/4)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.mu.Unlock()
	if flush {
		if err := x.flush(p); err != nil {
			x.log.Warn("index partition not saved", "partition", p.id.String(), "error", err)
		}
	}
	p.mu.Lock()
	p.retire()
	p.mu.Unlock()
	close(p.cleared)
}

// Contents tells how many chunks of each document searches see, and the number
// of the last change that this reflects: for comparing an index with its store.
func (x *Index) Contents(ctx context.Context, id port.Partition) (chunks map[string]int, applied uint64, err error) {
	for {
		p, _, err := x.partition(ctx, id, false)
		if err != nil {
			return nil, 0, fmt.Errorf("embedded index: contents: %w", err)
		}
		if p == nil {
			return nil, 0, nil
		}
		s := p.acquire()
		if s == nil {
			continue
		}
		defer s.release()
		chunks = make(map[string]int)
		err = guard(func() error {
			for _, v := range s.segs {
				for o, d := range v.segment.owner {
					if v.live == nil || v.live.has(uint32(o)) {
						chunks[string(v.segment.docID(int(d)))]++
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, fmt.Errorf("embedded index: contents: %w", err)
		}
		return chunks, s.applied, nil
	}
}

// Stats are figures for metrics.
type Stats struct {
	Partitions, Segments, Files          int    // in memory now; Files are segments that are mapped
	Chunks                               int    // live ones
	Bytes                                int    // counted against the budget
	Mapped                               int64  // bytes of mapped files
	Flushes, Merges, Evictions, Rebuilds uint64 // since Open; Rebuilds are partitions found damaged
}

// Stats gathers the figures.
func (x *Index) Stats() Stats {
	x.mu.Lock()
	all := make([]*partition, 0, len(x.open))
	for _, p := range x.open {
		all = append(all, p)
	}
	st := Stats{Partitions: len(all), Bytes: x.bytes}
	x.mu.Unlock()
	for _, p := range all {
		s := p.acquire()
		if s == nil {
			continue
		}
		st.Chunks += s.live
		st.Segments += len(s.segs)
		for _, v := range s.segs {
			if v.segment.file != nil {
				st.Files++
				st.Mapped += int64(len(v.segment.image))
			}
		}
		s.release()
	}
	st.Flushes, st.Merges, st.Evictions, st.Rebuilds = x.flushes.Load(), x.merges.Load(), x.evictions.Load(), x.rebuilds.Load()
	return st
}

var (
	_ port.Index       = (*Index)(nil)
	_ port.Highlighter = (*Index)(nil)
)
