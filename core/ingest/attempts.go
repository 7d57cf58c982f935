package ingest

import (
	"container/list"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// Attempts keeps the vectors that a write had made when it failed (docs/contract.md#doc-repeat), so that the same
// write, sent again, goes on from there: one that needs more time than its callers
// allow is done after some repeats. They are kept by the hash of a chunk and the models,
// for each organization apart: how fast a write is must tell nobody what another wrote.
type Attempts struct {
	now func() time.Time

	mu    sync.Mutex
	of    map[ident.Org]*leftovers
	begin map[string]int // by the embedder's digest: the first piece of an attempt, where it is smaller than usual
}

// What is kept is bounded: 16 MiB are about 8,000 chunks.
const (
	keepFor  = 10 * time.Minute
	keepEach = 16 << 20 // bytes of an organization
	keepAll  = 64 << 20 // bytes of all
)

// leftovers are one organization's.
type leftovers struct {
	vectors map[vectorKey]*list.Element // of leftover
	order   *list.List                  // oldest first
	bytes   int
}

type vectorKey struct {
	embedding, sparse string // digests; sparse "": it was not asked for
	chunk             [16]byte
}

type leftover struct {
	key     vectorKey
	dense   []float32
	terms   []uint32
	weights []float32
	until   time.Time
}

// overhead is about what an entry takes beside its vectors.
const overhead = 256

func (l leftover) bytes() int { return 4*(len(l.dense)+len(l.terms)+len(l.weights)) + overhead }

// NewAttempts keeps nothing yet; now tells the time.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{now: now, of: map[ident.Org]*leftovers{}, begin: map[string]int{}}
}

// Progress is how far the encoding of some texts is.
type Progress struct {
	Texts  int // that have all their vectors
	Chunks int // that have theirs, of All; those of stored texts are in neither
	All    int
}

// Encode is Encoder.Encode for a caller of an organization, which begins with what an
// attempt that failed has left, and leaves what it has made when it fails. progress, if
// not nil, is told now and then how far it is.
func (a *Attempts) Encode(ctx context.Context, org ident.Org, e *Encoder, docs []chunk.Document, sparse bool, reuse []Reuse,
	progress func(Progress)) ([]Encoded, error) {
	digest := e.digests().embedding
	t := &attempt{
		progress: progress,
		size:     a.first(digest),
		found:    func(chunks [][16]byte) map[[16]byte]leftover { return a.find(org, e, sparse, chunks) },
		left:     func(made map[[16]byte]leftover) { a.keep(org, e, sparse, made) },
	}
	defer func() { a.pace(digest, t.size) }()
	return e.encode(ctx, docs, sparse, reuse, t)
}

// first is how many chunks the next attempt makes in its first piece.
func (a *Attempts) first(digest string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n, ok := a.begin[digest]; ok {
		return n
	}
	return firstPiece
}

// pace has attempts begin where one has ended: on a machine that is too slow for a usual
// first piece, none would ever get beyond it.
func (a *Attempts) pace(digest string, size int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if size < firstPiece {
		a.begin[digest] = size
	} else {
		delete(a.begin, digest)
	}
}

// Keep leaves what was encoded for a write that then failed.
func (a *Attempts) Keep(org ident.Org, e *Encoder, sparse bool, encoded []Encoded) {
	made := map[[16]byte]leftover{}
	for _, d := range encoded {
		for i, c := range d.Chunks {
			made[c.Hash] = rowOf(&d.Vectors, i, sparse)
		}
	}
	a.keep(org, e, sparse, made)
}

func (a *Attempts) key(e *Encoder, sparse bool, hash [16]byte) vectorKey {
	digests := e.digests()
	if !sparse {
		digests.sparse = ""
	}
	return vectorKey{digests.embedding, digests.sparse, hash}
}

func (a *Attempts) find(org ident.Org, e *Encoder, sparse bool, chunks [][16]byte) map[[16]byte]leftover {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expire()
	out := map[[16]byte]leftover{}
	if l := a.of[org]; l != nil {
		for _, c := range chunks {
			if at, ok := l.vectors[a.key(e, sparse, c)]; ok {
				out[c] = at.Value.(leftover)
			}
		}
	}
	return out
}

func (a *Attempts) keep(org ident.Org, e *Encoder, sparse bool, made map[[16]byte]leftover) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expire()
	l := a.of[org]
	if l == nil {
		l = &leftovers{vectors: map[vectorKey]*list.Element{}, order: list.New()}
		a.of[org] = l
	}
	until := a.now().Add(keepFor)
	for c, v := range made {
		v.key, v.until = a.key(e, sparse, c), until
		if at, ok := l.vectors[v.key]; ok {
			l.remove(at)
		}
		l.vectors[v.key] = l.order.PushBack(v)
		l.bytes += v.bytes()
	}
	for l.bytes > keepEach {
		l.remove(l.order.Front())
	}
	for a.bytes() > keepAll {
		largest := slices.MaxFunc(slices.Collect(maps.Values(a.of)), func(x, y *leftovers) int { return x.bytes - y.bytes })
		largest.remove(largest.order.Front())
	}
}

func (a *Attempts) bytes() (n int) {
	for _, l := range a.of {
		n += l.bytes
	}
	return n
}

// expire forgets what nobody came back for.
func (a *Attempts) expire() {
	now := a.now()
	for org, l := range a.of {
		for at := l.order.Front(); at != nil && now.After(at.Value.(leftover).until); at = l.order.Front() {
			l.remove(at)
		}
		if l.order.Len() == 0 {
			delete(a.of, org)
		}
	}
}

func (l *leftovers) remove(at *list.Element) {
	v := l.order.Remove(at).(leftover)
	delete(l.vectors, v.key)
	l.bytes -= v.bytes()
}

// rowOf copies the vectors of one chunk.
func rowOf(v *port.Vectors, i int, sparse bool) leftover {
	out := leftover{dense: slices.Clone(v.Dense.Row(i))}
	if sparse {
		lo, hi := v.Sparse.Rows[i], v.Sparse.Rows[i+1]
		out.terms, out.weights = slices.Clone(v.Sparse.Terms[lo:hi]), slices.Clone(v.Sparse.Weights[lo:hi])
	}
	return out
}

// The vectors of an attempt are made in pieces of so many chunks that one takes a few
// seconds: what a piece had made is lost when its time ends.
const (
	firstPiece = 16
	mostPiece  = 1024
	briefPiece = 2 * time.Second
	longPiece  = 4 * time.Second
)

// attempt is one call of Attempts.Encode; nil: what fails leaves nothing.
type attempt struct {
	progress func(Progress)
	size     int  // of the next piece
	further  bool // a piece has been made
	found    func(chunks [][16]byte) map[[16]byte]leftover
	left     func(made map[[16]byte]leftover)
}

func (t *attempt) tell(p Progress) {
	if t.progress != nil {
		t.progress(p)
	}
}

// next is the size of the piece after one of n chunks that took so long.
func (t *attempt) next(n int, took time.Duration) {
	t.further = true
	switch {
	case took < briefPiece && n >= t.size:
		t.size = min(2*t.size, mostPiece)
	case took > longPiece:
		t.size = max(t.size/2, 1)
	}
}

// cut makes the next attempt's pieces smaller than one of n chunks whose time was up, unless
// this attempt has got further before.
func (t *attempt) cut(n int) {
	if !t.further {
		t.size = max(n/4, 1)
	}
}
