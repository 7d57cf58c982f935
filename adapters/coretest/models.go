package coretest

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mnemehq/mneme/core/port"
)

// Dimensions is the length of an Embedder's vectors, unless it has another.
const Dimensions = 64

// Embedder makes deterministic vectors: words and character trigrams are
// hashed, each hash is a random direction, and a text is their normalised sum.
// It is a retriever good enough to tell texts apart by their words.
type Embedder struct {
	Digest string // identity of the model
	ID     string // "": test-embedder
	Size   int    // of its vectors, up to Dimensions; 0: Dimensions
	// Before runs before each batch and may make it slow, fail, wait or panic.
	Before Hook[func(ctx context.Context, as port.TextKind, texts []string) error]

	mu       sync.Mutex
	passages []string // every passage embedded so far
	queries  int
}

// NewEmbedder is an Embedder with digest sha256:test-embedder-1.
func NewEmbedder() *Embedder { return &Embedder{Digest: "sha256:test-embedder-1"} }

func (e *Embedder) Info() port.ModelInfo {
	return port.ModelInfo{
		ID:         cmp.Or(e.ID, "test-embedder"),
		Name:       "hashed words",
		Version:    "1",
		Tasks:      []port.Task{port.TaskEmbed},
		Digest:     e.Digest,
		Dimensions: e.size(),
		MaxTokens:  512,
		Languages:  []string{"en"},
		Licence:    "Apache-2.0",
		Runtime:    "wasm",
	}
}

func (e *Embedder) size() int { return cmp.Or(e.Size, Dimensions) }

func (e *Embedder) Close() error { return nil }

// Passages is every passage embedded since the last TakePassages.
func (e *Embedder) Passages() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.passages)
}

// UntilDone is a hook of an Embedder that answers only when the caller gives up.
func UntilDone(ctx context.Context, _ port.TextKind, _ []string) error {
	<-ctx.Done()
	return ctx.Err()
}

// TakePassages takes the passages embedded since the last call.
func (e *Embedder) TakePassages() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.passages
	e.passages = nil
	return taken
}

// Queries counts the queries embedded so far.
func (e *Embedder) Queries() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queries
}

func (e *Embedder) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	if before, ok := e.Before.get(); ok {
		if err := before(ctx, as, texts); err != nil {
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
	n := e.size()
	d := port.Dense{Dim: n, Data: make([]float32, n*len(texts)), Tokens: make([]int, len(texts))}
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return port.Dense{}, err
		}
		d.Tokens[i] = min(len(Words(text)), 512)
		direction(text, d.Row(i))
	}
	return d, nil
}

// CountTokens implements port.TokenCounter: a word is a token.
func (e *Embedder) CountTokens(_ context.Context, texts []string) ([]int, error) {
	out := make([]int, len(texts))
	for i, t := range texts {
		out[i] = len(Words(t))
	}
	return out, nil
}

// Words cuts a text as all models here do: lower case, letters and digits.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// direction adds up a text's features into v, of unit length.
func direction(text string, v []float32) {
	for _, w := range Words(text) {
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

// SparseEncoder is a learned-sparse model in the same spirit: a word is a term
// with the weight of its count.
type SparseEncoder struct {
	// Before runs before each batch.
	Before Hook[func(ctx context.Context) error]
}

func (*SparseEncoder) Info() port.ModelInfo {
	return port.ModelInfo{
		ID:        "test-sparse",
		Name:      "counted words",
		Version:   "1",
		Tasks:     []port.Task{port.TaskSparse},
		Digest:    "sha256:test-sparse-1",
		MaxTokens: 512,
		Licence:   "Apache-2.0",
		Runtime:   "wasm",
	}
}

func (*SparseEncoder) Close() error { return nil }

func (s *SparseEncoder) Encode(ctx context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	if before, ok := s.Before.get(); ok {
		if err := before(ctx); err != nil {
			return port.Sparse{}, err
		}
	}
	out := port.Sparse{Rows: []uint32{0}}
	for _, text := range texts {
		counts := map[uint32]float32{}
		for _, w := range Words(text) {
			counts[Term(w)]++
		}
		terms := make([]uint32, 0, len(counts))
		for t := range counts {
			terms = append(terms, t)
		}
		slices.Sort(terms)
		for _, t := range terms {
			out.Terms, out.Weights = append(out.Terms, t), append(out.Weights, counts[t])
		}
		out.Rows, out.Tokens = append(out.Rows, uint32(len(out.Terms))), append(out.Tokens, len(Words(text)))
	}
	return out, nil
}

// Term is the number that a SparseEncoder gives a word.
func Term(word string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word))
	return h.Sum32() % 30000
}

// Reranker scores by the share of the query's words that a text holds.
type Reranker struct{}

func (Reranker) Info() port.ModelInfo {
	return port.ModelInfo{
		ID:        "test-rerank",
		Name:      "shared words",
		Version:   "1",
		Tasks:     []port.Task{port.TaskRerank},
		Digest:    "sha256:test-rerank-1",
		MaxTokens: 512,
		Licence:   "Apache-2.0",
		Runtime:   "plugin",
	}
}

func (Reranker) Close() error { return nil }

func (Reranker) Score(_ context.Context, query string, texts []string) ([]float32, int, error) {
	q := Words(query)
	out, cut := make([]float32, len(texts)), 0
	for i, text := range texts {
		in := Words(text)
		n := 0
		for _, w := range q {
			if slices.Contains(in, w) {
				n++
			}
		}
		out[i] = 0.05 + 0.9*float32(n)/float32(max(1, len(q)))
		if len(in) > 512 {
			cut++
		}
	}
	return out, cut, nil
}

var (
	_ port.Embedder      = (*Embedder)(nil)
	_ port.TokenCounter  = (*Embedder)(nil)
	_ port.SparseEncoder = (*SparseEncoder)(nil)
	_ port.Reranker      = Reranker{}
)
