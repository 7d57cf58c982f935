package indextest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/indextest/collection"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// CorpusDimensions are those of a Corpus's vectors.
const CorpusDimensions = 384

// CorpusFilters leave the part of a Corpus that they are named by.
var CorpusFilters = []struct {
	Name   string
	Filter *filter.Filter
}{
	{"all", nil},
	{"tenth", &filter.Filter{Op: filter.In, Key: "tenth", Values: []string{"3"}}},
	{"hundredth", &filter.Filter{Op: filter.In, Key: "hundredth", Values: []string{"3"}}},
	{"thousandth", &filter.Filter{Op: filter.In, Key: "thousandth", Values: []string{"3"}}},
}

// Corpus makes chunks of about 100 words for benchmarks, from sentences of the evaluation
// corpora (made-up Zipfian text without them), with 128 sparse terms and vectors
// of 384 dimensions: around 2,000 topics in a narrow band of cosines (nearest .81,
// tenth .76, hundredth .74 of 4,000; the built-in embedder's .83, .79, .76), and
// further from their topic than the topics are from one another, which makes them
// harder for a graph than those of real texts.
type Corpus struct {
	*rand.Rand
	Questions []string // up to 100 of each evaluation set

	sentences []string
	centres   [][]float32
	zipf      *rand.Zipf
}

// NewCorpus reads the collections that are available. All its random choices have one seed.
func NewCorpus(tb testing.TB) *Corpus {
	tb.Helper()
	c := &Corpus{Rand: rand.New(rand.NewPCG(3, 9))}
	c.zipf = rand.NewZipf(c.Rand, 1.1, 40, 30_000)
	c.sentences, c.Questions = collection.Sentences(tb)
	if len(c.sentences) == 0 {
		words := func(n int) string {
			var b strings.Builder
			for range n {
				fmt.Fprintf(&b, "w%d ", c.zipf.Uint64())
			}
			return b.String()
		}
		for range 20_000 {
			c.sentences = append(c.sentences, words(20))
		}
		for range 300 {
			c.Questions = append(c.Questions, words(10))
		}
	}
	common := make([]float32, CorpusDimensions)
	for i := range common {
		common[i] = float32(c.NormFloat64())
	}
	for range 2000 {
		centre := make([]float32, CorpusDimensions)
		for i := range centre {
			centre[i] = 1.6*common[i] + float32(.6*c.NormFloat64())
		}
		c.centres = append(c.centres, centre)
	}
	return c
}

// Vector is a random vector of unit length.
func (c *Corpus) Vector() []float32 {
	centre := c.centres[c.IntN(len(c.centres))]
	v := make([]float32, CorpusDimensions)
	var sum float64
	for i := range v {
		v[i] = centre[i] + float32(.8*c.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// Sparse are up to n random terms and their weights.
func (c *Corpus) Sparse(n int) ([]uint32, []float32) {
	terms := make([]uint32, n)
	for i := range terms {
		terms[i] = uint32(c.zipf.Uint64())
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	weights := make([]float32, len(terms))
	for i := range weights {
		weights[i] = float32(.1 + 2*c.Float64()*c.Float64())
	}
	return terms, weights
}

func (c *Corpus) text() string {
	var b strings.Builder
	for words := 0; words < 90; {
		s := c.sentences[c.IntN(len(c.sentences))]
		words += strings.Count(s, " ") + 1
		b.WriteString(s)
	}
	return b.String()
}

func (c *Corpus) entry(chunk int) port.Entry {
	e := port.Entry{Chunk: chunk, Text: c.text(), Vector: c.Vector(), Time: int64(1 + c.IntN(1<<40)), Facets: []string{
		filter.Token("tenth", fmt.Sprint(c.IntN(10))), filter.Token("hundredth", fmt.Sprint(c.IntN(100))),
		filter.Token("thousandth", fmt.Sprint(c.IntN(1000)))}}
	e.SparseTerms, e.SparseWeights = c.Sparse(128)
	return e
}

// Batch adds documents of so many chunks each.
func (c *Corpus) Batch(after uint64, documents, chunks int) port.Batch {
	return c.batch(after, documents, chunks, c.entry)
}

// WordBatch is Batch of chunks that have words alone.
func (c *Corpus) WordBatch(after uint64, documents, chunks int) port.Batch {
	return c.batch(after, documents, chunks, func(chunk int) port.Entry { return port.Entry{Chunk: chunk, Text: c.text()} })
}

func (c *Corpus) batch(after uint64, documents, chunks int, entry func(chunk int) port.Entry) port.Batch {
	b := port.Batch{After: after, Upto: after + 1}
	for d := range documents {
		change := port.IndexChange{Document: fmt.Sprintf("document-%d-%d", after, d)}
		for i := range chunks {
			change.Entries = append(change.Entries, entry(i))
		}
		b.Changes = append(b.Changes, change)
	}
	return b
}

// Query is a random one for ten hits.
func (c *Corpus) Query(r port.Retriever, f *filter.Filter) port.IndexQuery {
	q := port.IndexQuery{Retriever: r, Limit: 10, Filter: f}
	switch r {
	case port.Vector:
		q.Vector = c.Vector()
	case port.Keyword:
		q.Text = c.Questions[c.IntN(len(c.Questions))]
	case port.SparseTerms:
		q.SparseTerms, q.SparseWeights = c.Sparse(23)
	}
	return q
}
