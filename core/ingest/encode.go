package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
	"github.com/mnemehq/mneme/core/span"
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
func ofText(err error, of []input) error {
	var at *port.TextError
	if errors.As(err, &at) && at.Text >= 0 && at.Text < len(of) {
		return &port.TextError{Text: of[at.Text].of, Err: err}
	}
	return err
}

// Encode chunks documents and computes vectors for all chunks that reuse[i] does not
// hold, in one batch over all of them. Faults: Unavailable if a model that it needs is
// off, PayloadTooLarge for more than MaxChunks. A text that makes a model fail is named
// by a port.TextError.
func (e *Encoder) Encode(ctx context.Context, docs []chunk.Document, sparse bool, reuse []Reuse) ([]Encoded, error) {
	return e.encode(ctx, docs, sparse, reuse, nil)
}

func (e *Encoder) encode(
	ctx context.Context, docs []chunk.Document, sparse bool, reuse []Reuse, t *attempt,
) (_ []Encoded, err error) {
	ctx, end := span.Start(ctx, "encode", attribute.Int("mneme.texts", len(docs)))
	defer func() { end(err) }()
	if err := e.Ready(sparse); err != nil {
		return nil, err
	}
	split, err := e.Split(ctx, docs)
	if err != nil {
		return nil, err
	}
	f := &fresh{rows: map[[16]byte]int{}}
	if sparse {
		f.vectors.Sparse.Rows = []uint32{0}
	}
	f.vectors.Dense.Dim = e.Embedder.Info().Dimensions
	todo := missing(docs, split, reuse)
	if t != nil {
		todo = f.take(todo, t, sparse)
	}
	if err := e.make(ctx, f, todo, len(docs), sparse, t); err != nil {
		return nil, err
	}
	out := make([]Encoded, len(docs))
	for i, chunks := range split {
		out[i] = Encoded{Chunks: chunks, Vectors: port.Vectors{Dense: port.Dense{Dim: e.Embedder.Info().Dimensions}}}
		v := &out[i].Vectors
		if sparse {
			v.Sparse.Rows = []uint32{0}
		}
		for _, c := range chunks {
			src, row := &f.vectors, 0
			if r, ok := reuse[i].chunks[c.Hash]; ok {
				src, row = &reuse[i].vectors, r
			} else {
				row = f.rows[c.Hash]
			}
			appendRow(v, src, row, sparse)
		}
	}
	return out, nil
}

// input is a chunk without vectors.
type input struct {
	hash [16]byte
	text string
	of   int // the first text that has it
}

// missing are the chunks that no stored chunk covers; equal ones once.
func missing(docs []chunk.Document, split [][]port.Chunk, reuse []Reuse) []input {
	var out []input
	known := map[[16]byte]bool{}
	for i, chunks := range split {
		for _, c := range chunks {
			if _, ok := reuse[i].chunks[c.Hash]; ok || known[c.Hash] {
				continue
			}
			known[c.Hash] = true
			out = append(out, input{c.Hash, chunk.Text(docs[i].Text, c), i})
		}
	}
	return out
}

// fresh are the vectors that one call has made or found, by the hash of their chunk.
type fresh struct {
	rows    map[[16]byte]int
	vectors port.Vectors
}

// take takes what an attempt before has left, and returns the rest.
func (f *fresh) take(todo []input, t *attempt, sparse bool) []input {
	hashes := make([][16]byte, len(todo))
	for i, in := range todo {
		hashes[i] = in.hash
	}
	found := t.found(hashes)
	var rest []input
	for _, in := range todo {
		v, ok := found[in.hash]
		if !ok {
			rest = append(rest, in)
			continue
		}
		f.rows[in.hash] = len(f.rows)
		f.vectors.Dense.Data = append(f.vectors.Dense.Data, v.dense...)
		if sparse {
			s := &f.vectors.Sparse
			s.Terms, s.Weights = append(s.Terms, v.terms...), append(s.Weights, v.weights...)
			s.Rows = append(s.Rows, uint32(len(s.Terms)))
		}
	}
	return rest
}

// make makes the vectors of what is to be done, of n texts: at once, or for an attempt
// in pieces.
func (e *Encoder) make(ctx context.Context, f *fresh, todo []input, n int, sparse bool, t *attempt) error {
	all := len(f.rows) + len(todo)
	for len(todo) > 0 {
		size := len(todo)
		if t != nil {
			size = min(size, t.size)
			t.tell(Progress{Texts: todo[0].of, Chunks: all - len(todo), All: all})
		}
		began := time.Now()
		made, err := e.vectors(ctx, todo[:size], sparse)
		if err != nil {
			if t != nil {
				t.left(f.byHash(sparse))
				if ctx.Err() != nil || fault.CodeOf(err) == fault.Timeout {
					t.cut(size)
				}
			}
			return err
		}
		for i, in := range todo[:size] {
			f.rows[in.hash] = len(f.rows)
			appendRow(&f.vectors, &made, i, sparse)
		}
		if todo = todo[size:]; t != nil {
			t.next(size, time.Since(began))
		}
	}
	if t != nil {
		t.tell(Progress{Texts: n, Chunks: all, All: all})
	}
	return nil
}

// byHash is what there is, for an attempt to come.
func (f *fresh) byHash(sparse bool) map[[16]byte]leftover {
	out := make(map[[16]byte]leftover, len(f.rows))
	for hash, row := range f.rows {
		out[hash] = rowOf(&f.vectors, row, sparse)
	}
	return out
}

// vectors makes the vectors of some chunks.
func (e *Encoder) vectors(ctx context.Context, of []input, sparse bool) (v port.Vectors, err error) {
	texts := make([]string, len(of))
	for i, in := range of {
		texts[i] = in.text
	}
	if v.Dense, err = e.Embedder.Embed(ctx, port.Passage, texts); err != nil {
		return v, ofText(fmt.Errorf("embed passages: %w", err), of)
	}
	if err := checkDense(v.Dense, len(texts), e.Embedder.Info()); err != nil {
		return v, err
	}
	roundToHalf(v.Dense.Data)
	if sparse {
		if v.Sparse, err = e.Sparse.Encode(ctx, port.Passage, texts); err != nil {
			return v, ofText(fmt.Errorf("encode sparse passages: %w", err), of)
		}
		if err := checkSparse(v.Sparse, len(texts), e.Sparse.Info()); err != nil {
			return v, err
		}
	}
	return v, nil
}

// appendRow adds one chunk's vectors to others.
func appendRow(to, from *port.Vectors, row int, sparse bool) {
	to.Dense.Data = append(to.Dense.Data, from.Dense.Row(row)...)
	if sparse {
		lo, hi := from.Sparse.Rows[row], from.Sparse.Rows[row+1]
		to.Sparse.Terms = append(to.Sparse.Terms, from.Sparse.Terms[lo:hi]...)
		to.Sparse.Weights = append(to.Sparse.Weights, from.Sparse.Weights[lo:hi]...)
		to.Sparse.Rows = append(to.Sparse.Rows, uint32(len(to.Sparse.Terms)))
	}
}

// MaxChunks is how many chunks one call may make: a third more than the largest
// call of ordinary prose. It bounds memory where text is all paragraph breaks.
const MaxChunks = 65_536

// TooManyChunks is the fault of a call beyond MaxChunks.
func TooManyChunks() error {
	return fault.New(fault.PayloadTooLarge,
		"the documents make more than %d chunks; write fewer a call, or with fewer paragraph breaks", MaxChunks)
}

// Split cuts documents into the chunks that Encode would make of them; PayloadTooLarge beyond
// MaxChunks.
func (e *Encoder) Split(ctx context.Context, docs []chunk.Document) ([][]port.Chunk, error) {
	count := chunk.Approximate
	if c, ok := e.Embedder.(port.TokenCounter); ok {
		count = c.CountTokens
	}
	return e.split(ctx, docs, count)
}

// splitBytes is how much text is cut before the number of chunks is checked again.
const splitBytes = 1 << 20

// split cuts documents and answers PayloadTooLarge beyond MaxChunks.
func (e *Encoder) split(ctx context.Context, docs []chunk.Document, count chunk.Counter) ([][]port.Chunk, error) {
	out, chunks := make([][]port.Chunk, 0, len(docs)), 0
	for len(out) < len(docs) {
		end, bytes := len(out), 0
		for end < len(docs) && (end == len(out) || bytes+len(docs[end].Text) <= splitBytes) {
			bytes += len(docs[end].Text)
			end++
		}
		part, err := chunk.Split(ctx, docs[len(out):end], count, e.Options)
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
