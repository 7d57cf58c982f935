package bench

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// Synthetic is a model whose vectors cost next to nothing, so that a measurement
// is of storage and indexes. A text's vector is the centre of a cluster, chosen by
// the smallest hash of the text's words, plus noise in a subspace of as many
// dimensions as real embeddings use, plus a little noise in all directions: a text
// has a few hundred near neighbours and many that are a little less near, as real
// texts have. The same text has the same vector for the same seed.
type Synthetic struct {
	dim     int
	seed    uint64
	centres []float32 // clusters rows
	basis   []float32 // inner rows
}

const (
	clusters = 256
	inner    = 24 // dimensions that hold most of the noise within a cluster
	innerAmp = 0.8
	outerAmp = 0.25

	sparseTerms = 30_000 // numbers of word pieces
)

// NewSynthetic makes one of vectors of dim components.
func NewSynthetic(dim int, seed uint64) *Synthetic {
	r := rand.New(rand.NewPCG(seed, 2))
	rows := func(n int) []float32 {
		out := make([]float32, n*dim)
		for i := range n {
			row := out[i*dim : (i+1)*dim]
			for j := range row {
				row[j] = float32(r.NormFloat64())
			}
			normalise(row)
		}
		return out
	}
	return &Synthetic{dim, seed, rows(clusters), rows(inner)}
}

// Info implements port.Model.
func (m *Synthetic) Info() port.ModelInfo {
	return port.ModelInfo{
		ID:         "synthetic",
		Name:       "synthetic vectors",
		Version:    "1",
		Tasks:      []port.Task{port.TaskEmbed},
		Digest:     fmt.Sprintf("sha256:synthetic-%d-%d", m.dim, m.seed),
		Dimensions: m.dim,
		MaxTokens:  512,
		Runtime:    "wasm",
	}
}

// Close implements port.Model.
func (m *Synthetic) Close() error { return nil }

// Embed implements port.Embedder.
func (m *Synthetic) Embed(ctx context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	d := port.Dense{Dim: m.dim, Data: make([]float32, m.dim*len(texts)), Tokens: countTokens(texts)}
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return port.Dense{}, err
		}
		m.vector(text, d.Row(i))
	}
	return d, nil
}

func (m *Synthetic) vector(text string, v []float32) {
	least, whole := uint64(math.MaxUint64), fnv.New64a()
	for _, w := range strings.Fields(text) {
		least = min(least, hash(w))
	}
	_, _ = whole.Write([]byte(text)) // never fails
	r := rand.New(rand.NewPCG(m.seed, whole.Sum64()))
	c := int(least % clusters)
	copy(v, m.centres[c*m.dim:(c+1)*m.dim])
	for i := range inner {
		x := float32(r.NormFloat64() * innerAmp / math.Sqrt(inner))
		for j, b := range m.basis[i*m.dim : (i+1)*m.dim] {
			v[j] += x * b
		}
	}
	// A uniform number is as good as a normal one here and much cheaper.
	spread := float32(outerAmp * math.Sqrt(12/float64(m.dim)))
	for j := range v {
		v[j] += (r.Float32() - .5) * spread
	}
	normalise(v)
}

// CountTokens implements port.TokenCounter: a word is a token.
func (m *Synthetic) CountTokens(_ context.Context, texts []string) ([]int, error) {
	return countTokens(texts), nil
}

// SyntheticSparse is a learned-sparse model in the same spirit.
type SyntheticSparse struct{}

// Info implements port.Model.
func (SyntheticSparse) Info() port.ModelInfo {
	return port.ModelInfo{
		ID:        "synthetic-sparse",
		Name:      "synthetic sparse vectors",
		Version:   "1",
		Tasks:     []port.Task{port.TaskSparse},
		Digest:    "sha256:synthetic-sparse",
		MaxTokens: 512,
		Runtime:   "wasm",
	}
}

// Close implements port.Model.
func (SyntheticSparse) Close() error { return nil }

// Encode implements port.SparseEncoder: a term for each word, weighing how often
// it comes.
func (SyntheticSparse) Encode(ctx context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	s := port.Sparse{Rows: []uint32{0}, Tokens: countTokens(texts)}
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return port.Sparse{}, err
		}
		weights := map[uint32]float32{}
		for _, w := range strings.Fields(text) {
			weights[uint32(hash(w)%sparseTerms)]++
		}
		terms := make([]uint32, 0, len(weights))
		for t := range weights {
			terms = append(terms, t)
		}
		slices.Sort(terms)
		for _, t := range terms {
			s.Terms = append(s.Terms, t)
			s.Weights = append(s.Weights, float32(math.Log1p(float64(weights[t]))))
		}
		s.Rows = append(s.Rows, uint32(len(s.Terms)))
	}
	return s, nil
}

func countTokens(texts []string) []int {
	out := make([]int, len(texts))
	for i, t := range texts {
		out[i] = len(strings.Fields(t))
	}
	return out
}

func hash(word string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.TrimSuffix(word, "."))) // never fails
	x := h.Sum64()                                        // of short words the low bits alone differ well
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func normalise(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}

var (
	_ port.Embedder      = (*Synthetic)(nil)
	_ port.SparseEncoder = SyntheticSparse{}
	_ port.TokenCounter  = (*Synthetic)(nil)
)
