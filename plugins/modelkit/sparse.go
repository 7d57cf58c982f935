package modelkit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// encoder checks a model's task sparse.
type encoder struct {
	*check
	m port.SparseEncoder
}

func (k *check) sparse(m port.SparseEncoder) {
	e := encoder{k, m}
	k.step("sparse: shapes")
	e.shapes()
	k.step("sparse: text")
	e.text()
	k.step("sparse: stable")
	e.stable()
	k.step("sparse: sense")
	e.sense()
	e.conduct()
}

// encode gives the vectors, or false with a finding.
func (e encoder) encode(id string, as port.TextKind, texts ...string) (port.Sparse, bool) {
	s, err := e.m.Encode(e.ctx, as, texts)
	if err == nil {
		err = wholeSparse(s, len(texts))
	}
	if err != nil {
		e.expect(id, "the texts are encoded, a vector and a token count each", false, "%v", err)
	}
	return s, err == nil
}

// wholeSparse checks that the slices of s fit each other and rows texts.
func wholeSparse(s port.Sparse, rows int) error {
	if len(s.Rows) != rows+1 || s.Rows[0] != 0 || !slices.IsSorted(s.Rows) || int(s.Rows[rows]) != len(s.Terms) ||
		len(s.Weights) != len(s.Terms) || len(s.Tokens) != rows {
		return fmt.Errorf("offsets %v of %d terms, %d weights and %d token counts for %d texts", s.Rows, len(s.Terms),
			len(s.Weights), len(s.Tokens), rows)
	}
	return nil
}

// sparseRow is the i-th vector; it aliases s.
func sparseRow(s port.Sparse, i int) (terms []uint32, weights []float32) {
	return s.Terms[s.Rows[i]:s.Rows[i+1]], s.Weights[s.Rows[i]:s.Rows[i+1]]
}

// sparseDot multiplies two vectors whose terms rise.
func sparseDot(a port.Sparse, i int, b port.Sparse, j int) float64 {
	at, aw := sparseRow(a, i)
	bt, bw := sparseRow(b, j)
	sum := 0.0
	for x, y := 0, 0; x < len(at) && y < len(bt); {
		switch {
		case at[x] < bt[y]:
			x++
		case at[x] > bt[y]:
			y++
		default:
			sum += float64(aw[x]) * float64(bw[y])
			x, y = x+1, y+1
		}
	}
	return sum
}

func sparseCosine(a port.Sparse, i int, b port.Sparse, j int) float64 {
	return sparseDot(a, i, b, j) / math.Sqrt(sparseDot(a, i, a, i)*sparseDot(b, j, b, j))
}

func (e encoder) shapes() {
	texts := []string{"keys", "The harbour master keeps the keys.", strings.Repeat("Rain fell on the quay all night. ", 3)}
	s, ok := e.encode("sparse.shapes.rows", port.Passage, texts...)
	if !ok {
		return
	}
	e.expect("sparse.shapes.rows", "a vector for each text", true, "")
	for i := range texts {
		terms, weights := sparseRow(s, i)
		e.expect("sparse.shapes.terms", "some terms", len(terms) > 0, "none for text %d", i)
		rising := true
		for j := 1; j < len(terms); j++ {
			rising = rising && terms[j-1] < terms[j]
		}
		e.expect("sparse.shapes.rising", "terms that rise", rising, "%v for text %d", terms, i)
		sound := true
		for _, w := range weights {
			sound = sound && w > 0 && !math.IsInf(float64(w), 0)
		}
		e.expect("sparse.shapes.weights", "weights above 0 and finite", sound, "%v for text %d", weights, i)
	}
	e.counts("sparse.shapes.tokens", s.Tokens)
	none, err := e.m.Encode(e.ctx, port.Passage, nil)
	e.expect("sparse.shapes.none", "no texts give no vectors", err == nil && len(none.Terms) == 0, "%d terms, error %v",
		len(none.Terms), err)
}

func (e encoder) text() {
	for _, odd := range oddTexts() {
		s, err := e.m.Encode(e.ctx, port.Query, []string{odd[1]})
		if err == nil {
			err = wholeSparse(s, 1)
		}
		e.expect("sparse.text."+odd[0], "is encoded", err == nil, "%v", err)
	}
	_, err := e.m.Encode(e.ctx, port.Passage, []string{"fine", invalidUTF8})
	e.expectInvalidText("sparse.text.invalid-utf8", err)
	s, ok := e.encode("sparse.text.too-long", port.Passage, "short", strings.Repeat("harbour ", 4*e.info.MaxTokens))
	switch {
	case !ok:
	case !e.tokens:
		e.expect("sparse.text.too-long", "a text longer than the window is encoded", true, "")
	default:
		e.expect("sparse.text.too-long", "a text longer than the window is cut there and says so",
			s.Tokens[1] == e.info.MaxTokens,
			"%d tokens, the window is %d", s.Tokens[1], e.info.MaxTokens)
	}
}

func (e encoder) stable() {
	texts := crates()
	all, ok := e.encode("sparse.stable.batch", port.Passage, texts...)
	if !ok {
		return
	}
	again, ok := e.encode("sparse.stable.repeat", port.Passage, texts...)
	if !ok {
		return
	}
	if e.info.Runtime != "remote" {
		e.expect("sparse.stable.repeat", "the same bits on repeat",
			slices.Equal(all.Terms, again.Terms) && slices.Equal(all.Weights, again.Weights), "they differ")
	}
	for i, text := range texts {
		one, ok := e.encode("sparse.stable.batch", port.Passage, text)
		if !ok {
			return
		}
		// A term at the cut may change places with its neighbour by rounding.
		c := sparseCosine(one, 0, all, i)
		e.expect("sparse.stable.batch", "alone as in a batch of 32, in order", c > 1-1e-3, "text %d: cosine %.6f", i, c)
	}
}

func (e encoder) sense() {
	margin := func(a asking) (near, far float64, ok bool) {
		q, ok := e.encode("sparse.sense.obvious", port.Query, a.query)
		p, also := e.encode("sparse.sense.obvious", port.Passage, a.related, a.unrelated)
		if !ok || !also {
			return 0, 0, false
		}
		return sparseDot(q, 0, p, 0), sparseDot(q, 0, p, 1), true
	}
	for _, a := range obvious() {
		near, far, ok := margin(a)
		if !ok {
			return
		}
		e.expect("sparse.sense.obvious", "a query is nearer to its answer than to another text", near > far,
			"%q: product %.3f with its answer, %.3f with the other", a.query, near, far)
	}
	e.paraphrased("sparse.sense.paraphrase", margin)
}

func (e encoder) conduct() {
	texts := []string{"the next call works", "crate 13 stands in row 6"}
	want, ok := e.encode("sparse.conduct.afterwards", port.Query, texts...)
	if !ok {
		return
	}
	same := func(s port.Sparse, err error) error {
		if err == nil {
			err = wholeSparse(s, len(texts))
		}
		if err == nil && !(sparseCosine(s, 0, want, 0) > 1-1e-3 && sparseCosine(s, 1, want, 1) > 1-1e-3) {
			err = errors.New("another vector than before")
		}
		return err
	}
	e.conducts("sparse.conduct.", conduct{
		call: func(ctx context.Context) error { return same(e.m.Encode(ctx, port.Query, texts)) },
		many: func(ctx context.Context, texts []string) error {
			_, err := e.m.Encode(ctx, port.Passage, texts)
			return err
		},
		retained: func() error {
			lent, overwrite := borrowed(texts)
			s, err := e.m.Encode(e.ctx, port.Query, lent)
			overwrite()
			if err = same(s, err); err != nil {
				return err
			}
			clear(s.Terms)
			clear(s.Weights)
			return same(e.m.Encode(e.ctx, port.Query, texts))
		},
		work: func(ctx context.Context, i int) error {
			_, err := e.m.Encode(ctx, port.Passage, passages(i%8, 1+i%8))
			if err == nil {
				err = same(e.m.Encode(ctx, port.Query, texts))
			}
			return err
		},
	})
}
