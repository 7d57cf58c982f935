package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"unsafe"

	"github.com/mnemehq/mneme/adapters/index/embedded/analysis"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// ErrClosed is what an index answers after Close.
var ErrClosed = errors.New("index: closed")

// Index serves keyword, vector and sparse search over many partitions.
type Index struct {
	cfg      Config
	dir      string
	log      *slog.Logger
	kernels  simd.Kernels
	analyzer *analysis.Analyzer
	stop     map[string]bool
	rank     ranking
	weights  []float32 // of sparse codes
	builders sync.Pool
	scorers  scorers

	mu             sync.Mutex
	open           map[int64]*partition
	newest, oldest *partition
	bytes          int
	closed         bool
}

// Open opens the index in a directory of its own, which is made if absent.
func Open(cfg Config, dir string, log *slog.Logger) (*Index, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("embedded index: %w", err)
	}
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) != 1 {
		return nil, errors.New("embedded index: needs a little-endian machine")
	}
	k, err := simd.Best()
	if err != nil {
		return nil, fmt.Errorf("embedded index: %w", err)
	}
	a, err := analysis.New(analysis.Stemmer(cfg.Keyword.Stemmer))
	if err != nil {
		return nil, fmt.Errorf("embedded index: %w", err)
	}
	x := &Index{
		cfg: cfg, dir: dir, log: log, kernels: k, analyzer: a,
		rank:    ranking{float32(cfg.Keyword.K1), float32(cfg.Keyword.B)},
		weights: weightTable(), open: map[int64]*partition{},
	}
	if cfg.Keyword.StopWords {
		x.stop = a.StopWords()
	}
	x.builders.New = func() any { return newBuilder(a, x.rank, k, x.weights) }
	return x, nil
}

// partition finds or makes the partition's state; nil when it is absent and
// create is false.
func (x *Index) partition(id port.Partition, create bool) (*partition, error) {
	g := id.Generation()
	if g == 0 {
		return nil, fmt.Errorf("partition %s is not pinned to a generation", id)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ErrClosed
	}
	p := x.open[g]
	if p == nil {
		if !create {
			return nil, nil
		}
		p = &partition{id: id}
		p.snap.Store(&snapshot{})
		x.open[g] = p
	}
	if p.id != id {
		return nil, fmt.Errorf("generation %d belongs to another partition than %s", g, id)
	}
	return p, nil
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
	p, err := x.partition(id, true)
	if err != nil {
		return fmt.Errorf("embedded index: apply: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := x.apply(ctx, p, b); err != nil {
		return fmt.Errorf("embedded index: apply: %w", err)
	}
	return nil
}

// Applied is the number of the last change that searches reflect.
func (x *Index) Applied(_ context.Context, id port.Partition) (uint64, error) {
	p, err := x.partition(id, false)
	if err != nil {
		return 0, fmt.Errorf("embedded index: applied: %w", err)
	}
	if p == nil {
		return 0, nil
	}
	return p.snap.Load().applied, nil
}

// Durable is the number that would survive a crash now.
func (x *Index) Durable(_ context.Context, id port.Partition) (uint64, error) {
	if _, err := x.partition(id, false); err != nil {
		return 0, fmt.Errorf("embedded index: durable: %w", err)
	}
	return 0, nil
}

// Search gives the best q.Limit chunks; see port.Index.
func (x *Index) Search(ctx context.Context, id port.Partition, q port.IndexQuery) ([]port.Hit, error) {
	p, err := x.partition(id, false)
	if err != nil {
		return nil, fmt.Errorf("embedded index: search: %w", err)
	}
	if p == nil {
		return nil, nil
	}
	hits, err := x.search(ctx, p.snap.Load(), q)
	if err != nil {
		return nil, fmt.Errorf("embedded index: search: %w", err)
	}
	return hits, nil
}

func (x *Index) search(ctx context.Context, s *snapshot, q port.IndexQuery) ([]port.Hit, error) {
	if q.Limit < 1 {
		return nil, fmt.Errorf("limit %d is less than 1", q.Limit)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	allow := make([]allowance, len(s.segs))
	for i, v := range s.segs {
		var err error
		if allow[i].set, allow[i].none, err = v.segment.allowed(v.live, q.Filter, q.After, q.Before); err != nil {
			return nil, err
		}
	}
	var best []found
	var terms []queryTerm
	var err error
	switch q.Retriever {
	case port.Vector:
		best, err = x.searchVector(ctx, s, allow, q)
	case port.Keyword, port.SparseTerms:
		best, terms, err = x.searchTerms(ctx, s, allow, q)
	default:
		return nil, fmt.Errorf("retriever %q is not served", q.Retriever)
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

// Drop removes everything of the partition.
func (x *Index) Drop(_ context.Context, id port.Partition) error {
	g := id.Generation()
	if g == 0 {
		return fmt.Errorf("embedded index: drop: partition %s is not pinned to a generation", id)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	delete(x.open, g)
	return nil
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

// Close stops background work and closes all partitions.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	clear(x.open)
	return nil
}

var _ port.Index = (*Index)(nil)
