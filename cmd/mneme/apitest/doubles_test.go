package apitest_test

import (
	"context"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const dimensions = 64

// embedder makes deterministic vectors: words and character trigrams are
// hashed, each hash is a random direction, and a text is their normalised sum.
// It is a retriever good enough to tell texts apart by their words. A hook may
// make it slow, fail, wait or panic.
type embedder struct {
	digest string
	hook   atomic.Pointer[func(ctx context.Context, as port.TextKind, texts []string) error]

	mu       sync.Mutex
	passages []string // every passage embedded so far
	queries  int
}

func newEmbedder() *embedder { return &embedder{digest: "sha256:test-embedder-1"} }

func (e *embedder) Info() port.ModelInfo {
	return port.ModelInfo{ID: "test-embedder", Name: "hashed words", Version: "1", Tasks: []port.Task{port.TaskEmbed}, Digest: e.digest,
		Dimensions: dimensions, MaxTokens: 512, Languages: []string{"en"}, Licence: "Apache-2.0", Runtime: "wasm"}
}

func (e *embedder) Close() error { return nil }

// made is every passage embedded so far.
func (e *embedder) made() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.passages)
}

// before sets the hook; nil ends it.
func (e *embedder) before(hook func(ctx context.Context, as port.TextKind, texts []string) error) {
	if hook == nil {
		e.hook.Store(nil)
		return
	}
	e.hook.Store(&hook)
}

// untilDone is a hook that answers only when the caller gives up.
func untilDone(ctx context.Context, _ port.TextKind, _ []string) error {
	<-ctx.Done()
	return ctx.Err()
}

// embedded takes the passages embedded since the last call.
func (e *embedder) embedded() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.passages
	e.passages = nil
	return taken
}

// queried counts the queries embedded so far.
func (e *embedder) queried() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queries
}

func (e *embedder) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	if h := e.hook.Load(); h != nil {
		if err := (*h)(ctx, as, texts); err != nil {
			return port.Dense{}, err
		}
	}
	e.mu.Lock()
	if as == port.Passage {
		e.passages = append(e.passages, texts...)
	} else {
		e.queries += len(texts)
	}
	e.mu.Unlock()
	d := port.Dense{Dim: dimensions, Data: make([]float32, dimensions*len(texts)), Tokens: make([]int, len(texts))}
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return port.Dense{}, err
		}
		d.Tokens[i] = min(len(words(text)), 512)
		direction(text, d.Row(i))
	}
	return d, nil
}

// CountTokens implements port.TokenCounter: a word is a token.
func (e *embedder) CountTokens(_ context.Context, texts []string) ([]int, error) {
	out := make([]int, len(texts))
	for i, t := range texts {
		out[i] = len(words(t))
	}
	return out, nil
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// direction adds up a text's features into v, of unit length.
func direction(text string, v []float32) {
	for _, w := range words(text) {
		add(v, w, 1)
		runes := []rune(" " + w + " ")
		for i := 0; i+3 <= len(runes); i++ {
			add(v, string(runes[i:i+3]), 0.3)
		}
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
}

// add adds a feature's own random direction, from a splitmix generator.
func add(v []float32, feature string, weight float32) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(feature))
	x := h.Sum64()
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	for i := range v {
		if x>>uint(i)&1 == 1 {
			v[i] += weight
		} else {
			v[i] -= weight
		}
	}
}

// sparseEncoder is a learned-sparse model in the same spirit: a word is a term
// with the weight of its count.
type sparseEncoder struct {
	hook atomic.Pointer[func(ctx context.Context) error]
}

func (*sparseEncoder) Info() port.ModelInfo {
	return port.ModelInfo{ID: "test-sparse", Name: "counted words", Version: "1", Tasks: []port.Task{port.TaskSparse}, Digest: "sha256:test-sparse-1",
		MaxTokens: 512, Licence: "Apache-2.0", Runtime: "wasm"}
}

func (*sparseEncoder) Close() error { return nil }

func (s *sparseEncoder) Encode(ctx context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	if h := s.hook.Load(); h != nil {
		if err := (*h)(ctx); err != nil {
			return port.Sparse{}, err
		}
	}
	out := port.Sparse{Rows: []uint32{0}}
	for _, text := range texts {
		counts := map[uint32]float32{}
		for _, w := range words(text) {
			counts[term(w)]++
		}
		terms := make([]uint32, 0, len(counts))
		for t := range counts {
			terms = append(terms, t)
		}
		slices.Sort(terms)
		for _, t := range terms {
			out.Terms, out.Weights = append(out.Terms, t), append(out.Weights, counts[t])
		}
		out.Rows, out.Tokens = append(out.Rows, uint32(len(out.Terms))), append(out.Tokens, len(words(text)))
	}
	return out, nil
}

// term is the number of a word.
func term(word string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word))
	return h.Sum32() % 30000
}

// faultyStore is a store that a test can hold up or break.
type faultyStore struct {
	port.Store
	ping   atomic.Pointer[error]
	called atomic.Pointer[func() error] // runs before each Update of a call
	behind atomic.Pointer[func() error] // runs before each Update of background work
	view   atomic.Pointer[func() error] // runs before each View
	scrub  atomic.Pointer[func() error] // runs before each Scrub
}

// breaks has every Update of a call fail from the one after n.
func (f *faultyStore) breaks(n int, err error) {
	var updates atomic.Int64
	broken := func() error {
		if updates.Add(1) > int64(n) {
			return err
		}
		return nil
	}
	f.called.Store(&broken)
}

func (f *faultyStore) Ping(ctx context.Context) error {
	if err := f.ping.Load(); err != nil {
		return *err
	}
	return f.Store.Ping(ctx)
}

func (f *faultyStore) Update(ctx context.Context, fn func(port.Writer) error) error {
	h := f.behind.Load()
	if ident.RequestID(ctx) != "" {
		h = f.called.Load()
	}
	if h != nil {
		if err := (*h)(); err != nil {
			return err
		}
	}
	return f.Store.Update(ctx, fn)
}

func (f *faultyStore) View(ctx context.Context, fn func(port.Reader) error) error {
	if h := f.view.Load(); h != nil {
		if err := (*h)(); err != nil {
			return err
		}
	}
	return f.Store.View(ctx, fn)
}

// Scrub is the optional ability of the store behind.
func (f *faultyStore) Scrub(ctx context.Context) error {
	if h := f.scrub.Load(); h != nil {
		if err := (*h)(); err != nil {
			return err
		}
	}
	if s, ok := f.Store.(port.Scrubber); ok {
		return s.Scrub(ctx)
	}
	return nil
}

// faultyIndex is an index whose searches a test can hold up or break.
type faultyIndex struct {
	port.Index
	*indexFaults
}

// indexFaults are the faults of all indexes of a server.
type indexFaults struct {
	search atomic.Pointer[func(ctx context.Context, p port.Partition, q port.IndexQuery) error]
	apply  atomic.Pointer[func() error]
	drop   atomic.Pointer[error] // of each Drop
}

func (f *faultyIndex) Search(ctx context.Context, p port.Partition, q port.IndexQuery) ([]port.Hit, error) {
	if h := f.search.Load(); h != nil {
		if err := (*h)(ctx, p, q); err != nil {
			return nil, err
		}
	}
	return f.Index.Search(ctx, p, q)
}

func (f *faultyIndex) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	if h := f.apply.Load(); h != nil {
		if err := (*h)(); err != nil {
			return err
		}
	}
	return f.Index.Apply(ctx, p, b)
}

// RanksOnly lets an index that only ranks say so.
func (f *faultyIndex) RanksOnly(r port.Retriever) bool {
	ranker, ok := f.Index.(port.Ranker)
	return ok && ranker.RanksOnly(r)
}

// MayLag lets an index that may lag say so.
func (f *faultyIndex) MayLag() bool {
	l, ok := f.Index.(port.Lagging)
	return ok && l.MayLag()
}

func (f *faultyIndex) Drop(ctx context.Context, p port.Partition) error {
	if err := f.drop.Load(); err != nil {
		return *err
	}
	return f.Index.Drop(ctx, p)
}

// Retain is the optional ability of the index behind.
func (f *faultyIndex) Retain(live []int64) error {
	if r, ok := f.Index.(interface{ Retain([]int64) error }); ok {
		return r.Retain(live)
	}
	return nil
}

var (
	_ port.Embedder      = (*embedder)(nil)
	_ port.TokenCounter  = (*embedder)(nil)
	_ port.SparseEncoder = (*sparseEncoder)(nil)
	_ port.Tokenizer     = (*tokenizing)(nil)
	_ port.Store         = (*faultyStore)(nil)
	_ port.Index         = (*faultyIndex)(nil)
)
