package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// Encoder chunks and encodes documents with the configured models.
type Encoder struct {
	Embedder port.Embedder      // nil: off
	Sparse   port.SparseEncoder // nil: off
	Options  chunk.Options
}

// SameModels reports whether another encoder's vectors are of the same models,
// which their digests tell. A model that is off is the same as none.
func (e *Encoder) SameModels(other *Encoder) bool { return e.digests() == other.digests() }

func (e *Encoder) digests() (of struct{ embedding, sparse string }) {
	if e.Embedder != nil {
		of.embedding = e.Embedder.Info().Digest
	}
	if e.Sparse != nil {
		of.sparse = e.Sparse.Info().Digest
	}
	return of
}

// Reuse finds the vectors of a chunk that is stored already, by its hash.
type Reuse struct {
	chunks  map[[16]byte]int
	vectors port.Vectors
}

// NewReuse indexes a stored document's vectors by chunk hash.
func NewReuse(chunks []port.Chunk, v port.Vectors) Reuse {
	r := Reuse{make(map[[16]byte]int, len(chunks)), v}
	for i, c := range chunks {
		r.chunks[c.Hash] = i
	}
	return r
}

// Encoded is a document ready to store.
type Encoded struct {
	Chunks  []port.Chunk
	Vectors port.Vectors
}

// Ready returns fault Unavailable if a model that texts need is off.
func (e *Encoder) Ready(sparse bool) error {
	if e.Embedder == nil {
		return fault.Off("the embedding model is off")
	}
	if sparse && e.Sparse == nil {
		return fault.Off("the sparse model is off")
	}
	return nil
}

// ofText turns the place of an input that made a model fail into that of its text.
func ofText(err error, origin []int) error {
	var at *port.TextError
	if errors.As(err, &at) && at.Text >= 0 && at.Text < len(origin) {
		return &port.TextError{Text: origin[at.Text], Err: err}
	}
	return err
}

// Encode chunks the texts and computes vectors for all chunks that reuse[i] does not
// hold, in one batch over all texts. Faults: Unavailable if a model that it needs is
// off, PayloadTooLarge for more than MaxChunks. A text that makes a model fail is named
// by a port.TextError.
func (e *Encoder) Encode(ctx context.Context, texts []string, sparse bool, reuse []Reuse) ([]Encoded, error) {
	if err := e.Ready(sparse); err != nil {
		return nil, err
	}
	count := chunk.Approximate
	if c, ok := e.Embedder.(port.TokenCounter); ok {
		count = c.CountTokens
	}
	split, err := e.split(ctx, texts, count)
	if err != nil {
		return nil, err
	}
	// Collect the inputs that no stored chunk covers; equal inputs once.
	var inputs []string
	var origin []int // the text of each
	at := map[[16]byte]int{}
	for i, chunks := range split {
		for _, c := range chunks {
			if _, ok := reuse[i].chunks[c.Hash]; ok {
				continue
			}
			if _, ok := at[c.Hash]; !ok {
				at[c.Hash] = len(inputs)
				inputs, origin = append(inputs, chunk.Text(texts[i], c)), append(origin, i)
			}
		}
	}
	var fresh port.Vectors
	if len(inputs) > 0 {
		if fresh.Dense, err = e.Embedder.Embed(ctx, port.Passage, inputs); err != nil {
			return nil, ofText(fmt.Errorf("embed passages: %w", err), origin)
		}
		if err := checkDense(fresh.Dense, len(inputs), e.Embedder.Info()); err != nil {
			return nil, err
		}
		roundToHalf(fresh.Dense.Data)
		if sparse {
			if fresh.Sparse, err = e.Sparse.Encode(ctx, port.Passage, inputs); err != nil {
				return nil, ofText(fmt.Errorf("encode sparse passages: %w", err), origin)
			}
			if err := checkSparse(fresh.Sparse, len(inputs), e.Sparse.Info()); err != nil {
				return nil, err
			}
		}
	}
	out := make([]Encoded, len(texts))
	for i, chunks := range split {
		out[i] = Encoded{Chunks: chunks, Vectors: port.Vectors{Dense: port.Dense{Dim: e.Embedder.Info().Dimensions}}}
		v := &out[i].Vectors
		if sparse {
			v.Sparse.Rows = []uint32{0}
		}
		for _, c := range chunks {
			src, row := &fresh, 0
			if r, ok := reuse[i].chunks[c.Hash]; ok {
				src, row = &reuse[i].vectors, r
			} else {
				row = at[c.Hash]
			}
			v.Dense.Data = append(v.Dense.Data, src.Dense.Row(row)...)
			if sparse {
				lo, hi := src.Sparse.Rows[row], src.Sparse.Rows[row+1]
				v.Sparse.Terms = append(v.Sparse.Terms, src.Sparse.Terms[lo:hi]...)
				v.Sparse.Weights = append(v.Sparse.Weights, src.Sparse.Weights[lo:hi]...)
				v.Sparse.Rows = append(v.Sparse.Rows, uint32(len(v.Sparse.Terms)))
			}
		}
	}
	return out, nil
}

// MaxChunks is how many chunks one call may make: a third more than the largest
// call of ordinary prose. It bounds memory where text is all paragraph breaks.
const MaxChunks = 65_536

// TooManyChunks is the fault of a call beyond MaxChunks.
func TooManyChunks() error {
	return fault.New(fault.PayloadTooLarge,
		"the documents make more than %d chunks; write fewer a call, or with fewer paragraph breaks", MaxChunks)
}

// splitBytes is how much text is cut before the number of chunks is checked again.
const splitBytes = 1 << 20

// split cuts the texts and answers PayloadTooLarge beyond MaxChunks.
func (e *Encoder) split(ctx context.Context, texts []string, count chunk.Counter) ([][]port.Chunk, error) {
	out, chunks := make([][]port.Chunk, 0, len(texts)), 0
	for len(out) < len(texts) {
		end, bytes := len(out), 0
		for end < len(texts) && (end == len(out) || bytes+len(texts[end]) <= splitBytes) {
			bytes += len(texts[end])
			end++
		}
		part, err := chunk.Split(ctx, texts[len(out):end], count, e.Options)
		if err != nil {
			return nil, fmt.Errorf("chunk: %w", err)
		}
		for _, c := range part {
			chunks += len(c)
		}
		if chunks > MaxChunks {
			return nil, TooManyChunks()
		}
		out = append(out, part...)
	}
	return out, nil
}

// checkDense refuses vectors that no index could take, before anything is stored: a
// model's output is not trusted.
func checkDense(d port.Dense, rows int, m port.ModelInfo) error {
	if d.Dim != m.Dimensions || len(d.Data) != rows*d.Dim {
		return fault.New(fault.Upstream,
			"model %s answered %d values of %d dimensions for %d texts; %d dimensions were claimed", m.ID, len(d.Data),
			d.Dim, rows, m.Dimensions)
	}
	for _, v := range d.Data {
		if v != v || v < -1.01 || v > 1.01 { // of unit length, so no component is longer
			return fault.New(fault.Upstream, "model %s answered a vector that is not of unit length", m.ID)
		}
	}
	return nil
}

func checkSparse(v port.Sparse, rows int, m port.ModelInfo) error {
	ok := len(v.Rows) == rows+1 && len(v.Terms) == len(v.Weights) && v.Rows[0] == 0 && int(v.Rows[rows]) == len(v.Terms)
	for i := 0; ok && i < rows; i++ {
		if ok = v.Rows[i] <= v.Rows[i+1] && int(v.Rows[i+1]) <= len(v.Terms); !ok {
			break
		}
		for k := v.Rows[i]; k < v.Rows[i+1]; k++ {
			ok = ok && v.Weights[k] > 0 && !math.IsInf(float64(v.Weights[k]), 0) && (k == v.Rows[i] || v.Terms[k-1] < v.Terms[k])
		}
	}
	if !ok {
		return fault.New(fault.Upstream, "model %s answered a malformed sparse vector", m.ID)
	}
	return nil
}

// roundToHalf rounds vectors to what a store may keep of them, so that an index built
// from a write and one built from the store are equal.
func roundToHalf(v []float32) {
	var k simd.Kernels // the portable set is fast enough beside the model
	half := make([]uint16, min(len(v), 4096))
	for len(v) > 0 {
		n := min(len(v), len(half))
		k.ToF16(half[:n], v[:n])
		k.FromF16(v[:n], half[:n])
		v = v[n:]
	}
}
