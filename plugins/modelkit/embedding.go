package modelkit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// embedder checks a model's task embedding.
type embedder struct {
	*check
	m port.Embedder
}

func (k *check) embedding(m port.Embedder) {
	e := embedder{k, m}
	k.step("embedding: shapes")
	e.shapes()
	k.step("embedding: text")
	e.text()
	k.step("embedding: stable")
	e.stable()
	k.step("embedding: sense")
	e.sense()
	e.conduct()
}

// embed gives the vectors, or false with a finding.
func (e embedder) embed(id string, as port.TextKind, texts ...string) (port.Dense, bool) {
	d, err := e.m.Embed(e.ctx, as, texts)
	if err == nil {
		err = wholeDense(d, len(texts))
	}
	if err != nil {
		e.expect(id, "the texts are embedded, a vector and a token count each", false, "%v", err)
	}
	return d, err == nil
}

// wholeDense checks that the slices of d fit each other and rows texts.
func wholeDense(d port.Dense, rows int) error {
	if d.Dim < 1 || len(d.Data) != d.Dim*rows || len(d.Tokens) != rows {
		return fmt.Errorf("%d values of dimension %d and %d token counts for %d texts", len(d.Data), d.Dim, len(d.Tokens), rows)
	}
	return nil
}

// counts records whether the model counts the tokens it reads, growing as texts do.
// A remote model may not be told by its server.
func (k *check) counts(id string, tokens []int) {
	const expect = "token counts that grow with the text"
	if k.tokens = slices.ContainsFunc(tokens, func(n int) bool { return n != 0 }); !k.tokens && k.info.Runtime == "remote" {
		k.skip(id, expect, "the server does not tell")
		return
	}
	rising := true
	for i, n := range tokens {
		rising = rising && n > 0 && (i == 0 || tokens[i-1] < n)
	}
	k.expect(id, expect, rising, "%v", tokens)
}

func (e embedder) shapes() {
	texts := []string{"a", "The harbour master keeps the keys.", strings.Repeat("Rain fell on the quay all night. ", 3)}
	d, ok := e.embed("embedding.shapes.rows", port.Passage, texts...)
	if !ok {
		return
	}
	e.expect("embedding.shapes.rows", "a vector for each text", true, "")
	e.expect("embedding.shapes.dimensions", "vectors of the described dimensions", d.Dim == e.info.Dimensions,
		"%d, described are %d", d.Dim, e.info.Dimensions)
	for row := range texts {
		norm, finite := 0.0, true
		for _, x := range d.Row(row) {
			norm += float64(x) * float64(x)
			finite = finite && !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0)
		}
		e.expect("embedding.shapes.finite", "finite numbers", finite, "row %d has others", row)
		e.expect("embedding.shapes.unit-length", "unit length, to 0.001", math.Abs(math.Sqrt(norm)-1) < 1e-3,
			"row %d has length %.4f", row, math.Sqrt(norm))
	}
	e.counts("embedding.shapes.tokens", d.Tokens)
	none, err := e.m.Embed(e.ctx, port.Passage, nil)
	e.expect("embedding.shapes.none", "no texts give no vectors", err == nil && len(none.Data) == 0,
		"%d values, error %v", len(none.Data), err)
}

func (e embedder) text() {
	for _, odd := range oddTexts() {
		d, err := e.m.Embed(e.ctx, port.Query, []string{odd[1]})
		if err == nil {
			err = wholeDense(d, 1)
		}
		if err == nil && slices.ContainsFunc(d.Data, func(x float32) bool { return math.IsNaN(float64(x)) }) {
			err = errors.New("a vector that holds NaN")
		}
		e.expect("embedding.text."+odd[0], "is embedded", err == nil, "%v", err)
	}
	_, err := e.m.Embed(e.ctx, port.Passage, []string{"fine", invalidUTF8})
	e.expectInvalidText("embedding.text.invalid-utf8", err)
	long := strings.Repeat("harbour ", 4*e.info.MaxTokens)
	d, ok := e.embed("embedding.text.too-long", port.Passage, "short", long)
	switch {
	case !ok:
	case !e.tokens:
		e.expect("embedding.text.too-long", "a text longer than the window is embedded", true, "")
	default:
		e.expect("embedding.text.too-long", "a text longer than the window is cut there and says so",
			d.Tokens[1] == e.info.MaxTokens,
			"%d tokens, the window is %d", d.Tokens[1], e.info.MaxTokens)
	}
}

// expectInvalidText checks that invalid UTF-8 was refused as the caller's mistake.
func (k *check) expectInvalidText(id string, err error) {
	k.expect(id, "invalid UTF-8 is refused as the caller's mistake",
		err != nil && fault.Status(fault.CodeOf(err)) == 400, "%v", err)
}

func (e embedder) stable() {
	texts := crates()
	all, ok := e.embed("embedding.stable.batch", port.Passage, texts...)
	if !ok {
		return
	}
	again, ok := e.embed("embedding.stable.repeat", port.Passage, texts...)
	if !ok {
		return
	}
	if e.info.Runtime == "remote" { // whose machine and whose batches are not ours
		c := cosine(all.Data, again.Data)
		e.expect("embedding.stable.repeat", "the same vectors on repeat, to 0.0001", c > 1-1e-4, "cosine %.6f", c)
	} else {
		e.expect("embedding.stable.repeat", "the same bits on repeat", slices.Equal(all.Data, again.Data), "they differ")
	}
	for i, text := range texts {
		one, ok := e.embed("embedding.stable.batch", port.Passage, text)
		if !ok {
			return
		}
		c := cosine(one.Row(0), all.Row(i))
		e.expect("embedding.stable.batch", "alone as in a batch of 32, in order", c > 1-1e-4, "text %d: cosine %.6f", i, c)
	}
}

func (e embedder) sense() {
	margin := func(a asking) (near, far float64, ok bool) {
		q, ok := e.embed("embedding.sense.obvious", port.Query, a.query)
		p, also := e.embed("embedding.sense.obvious", port.Passage, a.related, a.unrelated)
		if !ok || !also {
			return 0, 0, false
		}
		return cosine(q.Row(0), p.Row(0)), cosine(q.Row(0), p.Row(1)), true
	}
	for _, a := range obvious() {
		near, far, ok := margin(a)
		if !ok {
			return
		}
		e.expect("embedding.sense.obvious", "a query is nearer to its answer than to another text", near > far,
			"%q: cosine %.3f to its answer, %.3f to the other", a.query, near, far)
	}
	e.paraphrased("embedding.sense.paraphrase", margin)
}

// paraphrased reports how many answers in other words are found. A model that knows words
// alone finds none and is still a valid model, so none fails this check.
func (k *check) paraphrased(id string, margin func(asking) (near, far float64, ok bool)) {
	found := 0
	for _, a := range paraphrases() {
		near, far, ok := margin(a)
		if !ok {
			return
		}
		if near > far {
			found++
		}
	}
	const expect = "an answer in other words is above an unrelated text"
	if found == len(paraphrases()) {
		k.expect(id, expect, true, "")
	} else {
		k.skip(id, expect, fmt.Sprintf("holds for %d of %d; a model of meaning finds all, one of words alone need not",
			found, len(paraphrases())))
	}
}

func (e embedder) conduct() {
	texts := []string{"the next call works", "crate 13 stands in row 6"}
	want, ok := e.embed("embedding.conduct.afterwards", port.Query, texts...)
	if !ok {
		return
	}
	same := func(d port.Dense, err error) error {
		if err == nil {
			err = wholeDense(d, len(texts))
		}
		if err == nil && !(cosine(d.Row(0), want.Row(0)) > 1-1e-4 && cosine(d.Row(1), want.Row(1)) > 1-1e-4) {
			err = errors.New("another vector than before")
		}
		return err
	}
	e.conducts("embedding.conduct.", conduct{
		call: func(ctx context.Context) error { return same(e.m.Embed(ctx, port.Query, texts)) },
		many: func(ctx context.Context, texts []string) error {
			_, err := e.m.Embed(ctx, port.Passage, texts)
			return err
		},
		retained: func() error {
			lent, overwrite := borrowed(texts)
			d, err := e.m.Embed(e.ctx, port.Query, lent)
			overwrite()
			if err = same(d, err); err != nil {
				return err
			}
			clear(d.Data) // the answer is the caller's, too
			return same(e.m.Embed(e.ctx, port.Query, texts))
		},
		work: func(ctx context.Context, i int) error {
			batch := passages(i%8, 1+i%8)
			_, err := e.m.Embed(ctx, port.Passage, batch)
			if err == nil {
				err = same(e.m.Embed(ctx, port.Query, texts))
			}
			return err
		},
	})
}

func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	var dot, na, nb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, na, nb = dot+x*y, na+x*x, nb+y*y
	}
	return dot / math.Sqrt(na*nb)
}
