package modelcheck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// encode gives the vectors, or false with a finding.
func (k *check) encode(id string, as port.TextKind, texts ...string) (port.Sparse, bool) {
	s, err := k.encoder.Encode(k.ctx, as, texts)
	if err == nil {
		err = whole(s, len(texts))
	}
	if err != nil {
		k.expect(id, "the texts are encoded", false, "%v", err)
	}
	return s, err == nil
}

// whole checks that the slices of s fit each other and rows texts.
func whole(s port.Sparse, rows int) error {
	if len(s.Rows) != rows+1 || s.Rows[0] != 0 || !slices.IsSorted(s.Rows) || int(s.Rows[rows]) != len(s.Terms) || len(s.Weights) != len(s.Terms) || len(s.Tokens) != rows {
		return fmt.Errorf("offsets %v of %d terms, %d weights and %d token counts for %d texts", s.Rows, len(s.Terms), len(s.Weights), len(s.Tokens), rows)
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

// sparse checks a learned-sparse encoder.
func (k *check) sparse() {
	k.sparseShapes()
	k.sparseText()
	k.sparseStable()
	for _, s := range askings() {
		q, ok := k.encode("sparse.sense", port.Query, s.query)
		p, also := k.encode("sparse.sense", port.Passage, s.related, s.unrelated)
		if !ok || !also {
			break
		}
		near, far := sparseDot(q, 0, p, 0), sparseDot(q, 0, p, 1)
		k.expect("sparse.sense.related-above-unrelated", fmt.Sprintf("%q is nearer to its answer", s.query), near > far, "product %.3f against %.3f", near, far)
	}
	k.stops("sparse.", func(ctx context.Context, texts []string) error {
		_, err := k.encoder.Encode(ctx, port.Passage, texts)
		return err
	})
	if want, ok := k.encode("sparse.conduct.afterwards", port.Query, "the next call works"); ok {
		group, ctx := errgroup.WithContext(k.ctx)
		for range 4 {
			group.Go(func() error {
				s, err := k.encoder.Encode(ctx, port.Query, []string{"the next call works"})
				if err == nil && !(slices.Equal(s.Terms, want.Terms) && slices.Equal(s.Weights, want.Weights)) {
					err = errors.New("another vector than alone")
				}
				return err
			})
		}
		err := group.Wait()
		k.expect("sparse.conduct.parallel", "four calls at once give what one gives", err == nil, "%v", err)
	}
	k.report.Speed.QueryMS = median(func(i int) error {
		_, err := k.encoder.Encode(k.ctx, port.Query, []string{question(i)})
		return err
	})
	k.report.Speed.PassagesPerSecond = perSecond(func() error {
		_, err := k.encoder.Encode(k.ctx, port.Passage, slices.Repeat([]string{strings.Repeat(passage, 10)}, 32))
		return err
	}, 32)
}

func (k *check) sparseShapes() {
	texts := []string{"keys", "The harbour master keeps the keys.", strings.Repeat("Rain fell on the quay all night. ", 12)}
	s, ok := k.encode("sparse.shapes.rows", port.Passage, texts...)
	if !ok {
		return
	}
	for i := range texts {
		terms, weights := sparseRow(s, i)
		k.expect("sparse.shapes.terms", "some terms", len(terms) > 0, "none for text %d", i)
		rising := true
		for j := 1; j < len(terms); j++ {
			rising = rising && terms[j-1] < terms[j]
		}
		k.expect("sparse.shapes.rising", "terms that rise", rising, "%v for text %d", terms, i)
		sound := true
		for _, w := range weights {
			sound = sound && w > 0 && !math.IsInf(float64(w), 0)
		}
		k.expect("sparse.shapes.weights", "weights above 0 and finite", sound, "%v for text %d", weights, i)
	}
	k.expect("sparse.shapes.tokens", "token counts that grow with the text", 0 < s.Tokens[0] && s.Tokens[0] < s.Tokens[1] && s.Tokens[1] < s.Tokens[2], "%v", s.Tokens)
	none, err := k.encoder.Encode(k.ctx, port.Passage, nil)
	k.expect("sparse.shapes.none", "no texts give no vectors", err == nil && len(none.Terms) == 0, "%d terms, error %v", len(none.Terms), err)
}

func (k *check) sparseText() {
	for _, odd := range oddTexts() {
		s, err := k.encoder.Encode(k.ctx, port.Query, []string{odd[1]})
		if err == nil {
			err = whole(s, 1)
		}
		k.expect("sparse.text."+odd[0], "is encoded", err == nil, "%v", err)
	}
	_, err := k.encoder.Encode(k.ctx, port.Passage, []string{"fine", "a\xff\xfeb"})
	k.expect("sparse.text.invalid-utf8", "invalid UTF-8 is refused as the caller's mistake", fault.Status(fault.CodeOf(err)) == 400, "%v", err)
	window := k.encoder.Info().MaxTokens
	if s, ok := k.encode("sparse.text.too-long", port.Passage, strings.Repeat("harbour ", 4*window)); ok {
		k.expect("sparse.text.too-long", "a text longer than the window is cut there and says so", s.Tokens[0] == window, "%d tokens, the window is %d", s.Tokens[0], window)
	}
}

func (k *check) sparseStable() {
	texts := crates()
	all, ok := k.encode("sparse.stable.batch", port.Passage, texts...)
	if !ok {
		return
	}
	again, ok := k.encode("sparse.stable.repeat", port.Passage, texts...)
	k.expect("sparse.stable.repeat", "the same bits on repeat", ok && slices.Equal(all.Terms, again.Terms) && slices.Equal(all.Weights, again.Weights), "they differ")
	for _, i := range []int{0, 13, 31} {
		one, ok := k.encode("sparse.stable.batch", port.Passage, texts[i])
		if !ok {
			return
		}
		// A term at the cut may change places with its neighbour by rounding.
		c := sparseDot(one, 0, all, i) / math.Sqrt(sparseDot(one, 0, one, 0)*sparseDot(all, i, all, i))
		k.expect("sparse.stable.batch", "alone as in a batch of 32, in order", c > 1-1e-3, "text %d: cosine %.6f", i, c)
	}
}
