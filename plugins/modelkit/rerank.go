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

// reranker checks a model's task rerank.
type reranker struct {
	*check
	m port.Reranker
}

func (k *check) rerank(m port.Reranker) {
	r := reranker{k, m}
	k.step("rerank: shapes")
	r.shapes()
	k.step("rerank: text")
	r.text()
	k.step("rerank: stable")
	r.stable()
	k.step("rerank: sense")
	r.sense()
	r.conduct()
}

// score gives the probabilities, or false with a finding.
func (r reranker) score(id, query string, texts ...string) (scores []float32, truncated int, ok bool) {
	scores, truncated, err := r.m.Score(r.ctx, query, texts)
	if err == nil {
		err = wholeScores(scores, len(texts))
	}
	if err != nil {
		r.expect(id, "the texts are scored", false, "%v", err)
	}
	return scores, truncated, err == nil
}

func wholeScores(scores []float32, texts int) error {
	if len(scores) != texts {
		return fmt.Errorf("%d scores for %d texts", len(scores), texts)
	}
	return nil
}

func (r reranker) shapes() {
	texts := []string{"a", "The harbour master keeps the keys.", strings.Repeat("Rain fell on the quay all night. ", 3)}
	p, truncated, ok := r.score("rerank.shapes.rows", "who keeps the keys", texts...)
	if !ok {
		return
	}
	r.expect("rerank.shapes.rows", "a score for each text", true, "")
	for i, x := range p {
		r.expect("rerank.shapes.probability", "scores from 0 to 1", x >= 0 && x <= 1, "%g for text %d", x, i)
	}
	r.expect("rerank.shapes.truncated", "no text that fits is called truncated", truncated == 0, "%d of 3", truncated)
	none, _, err := r.m.Score(r.ctx, "who keeps the keys", nil)
	r.expect("rerank.shapes.none", "no texts give no scores", err == nil && len(none) == 0, "%d scores, error %v", len(none), err)
}

func (r reranker) text() {
	for _, odd := range oddTexts() {
		p, _, err := r.m.Score(r.ctx, "who keeps the keys", []string{odd[1]})
		r.expect("rerank.text."+odd[0], "is scored", err == nil && len(p) == 1 && p[0] >= 0 && p[0] <= 1, "%v, error %v", p, err)
		p, _, err = r.m.Score(r.ctx, odd[1], []string{"The harbour master keeps the keys."})
		r.expect("rerank.query."+odd[0], "is scored", err == nil && len(p) == 1 && p[0] >= 0 && p[0] <= 1, "%v, error %v", p, err)
	}
	_, _, err := r.m.Score(r.ctx, "fine", []string{"fine", invalidUTF8})
	r.expectInvalidText("rerank.text.invalid-utf8", err)
	_, _, err = r.m.Score(r.ctx, invalidUTF8, []string{"fine"})
	r.expectInvalidText("rerank.query.invalid-utf8", err)
	long := strings.Repeat("harbour ", 4*r.info.MaxTokens)
	_, truncated, ok := r.score("rerank.text.too-long", "harbour", "short", long, long)
	switch {
	case !ok:
	case truncated == 0 && r.info.Runtime == "remote":
		r.skip("rerank.text.too-long", "texts longer than the window are cut there and counted",
			"they are scored, but the server does not tell what it cut")
	default:
		r.expect("rerank.text.too-long", "texts longer than the window are cut there and counted", truncated == 2,
			"%d counted, 2 are", truncated)
	}
	if p, _, ok := r.score("rerank.query.too-long", long, "The harbour master keeps the keys.",
		"Sort an array before searching it."); ok {
		r.expect("rerank.query.too-long", "a query longer than the window leaves room for the text", p[0] != p[1],
			"both texts score %g", p[0])
	}
}

func (r reranker) stable() {
	const query = "where does crate 13 stand"
	texts := crates()
	all, _, ok := r.score("rerank.stable.batch", query, texts...)
	if !ok {
		return
	}
	again, _, ok := r.score("rerank.stable.repeat", query, texts...)
	if !ok {
		return
	}
	if r.info.Runtime != "remote" {
		r.expect("rerank.stable.repeat", "the same bits on repeat", slices.Equal(all, again), "they differ")
	}
	for i, text := range texts {
		one, _, ok := r.score("rerank.stable.batch", query, text)
		if !ok {
			return
		}
		r.expect("rerank.stable.batch", "alone as in a batch of 32, in order", math.Abs(float64(one[0]-all[i])) < 1e-3,
			"text %d: %.6f and %.6f", i, one[0], all[i])
	}
}

func (r reranker) sense() {
	// In both orders: what counts is the text, not its place. The margin is the
	// smaller of the two.
	margin := func(a asking) (near, far float64, ok bool) {
		p, _, ok := r.score("rerank.sense.obvious", a.query, a.related, a.unrelated)
		q, _, also := r.score("rerank.sense.obvious", a.query, a.unrelated, a.related)
		if !ok || !also {
			return 0, 0, false
		}
		if q[1]-q[0] < p[0]-p[1] {
			return float64(q[1]), float64(q[0]), true
		}
		return float64(p[0]), float64(p[1]), true
	}
	for _, a := range obvious() {
		near, far, ok := margin(a)
		if !ok {
			return
		}
		r.expect("rerank.sense.obvious", "a query's answer scores above another text, in either place", near > far,
			"%q: %.3f for its answer, %.3f for the other", a.query, near, far)
	}
	r.paraphrased("rerank.sense.paraphrase", margin)
}

func (r reranker) conduct() {
	const query = "works"
	texts := []string{"the next call works", "rain"}
	want, _, ok := r.score("rerank.conduct.afterwards", query, texts...)
	if !ok {
		return
	}
	same := func(p []float32, _ int, err error) error {
		if err == nil {
			err = wholeScores(p, len(texts))
		}
		if err == nil && (math.Abs(float64(p[0]-want[0])) > 1e-3 || math.Abs(float64(p[1]-want[1])) > 1e-3) {
			err = errors.New("other scores than before")
		}
		return err
	}
	want = slices.Clone(want)
	r.conducts("rerank.conduct.", conduct{
		call: func(ctx context.Context) error { return same(r.m.Score(ctx, query, texts)) },
		many: func(ctx context.Context, texts []string) error {
			_, _, err := r.m.Score(ctx, "too late", texts)
			return err
		},
		retained: func() error {
			lent, overwrite := borrowed(append([]string{query}, texts...))
			p, n, err := r.m.Score(r.ctx, lent[0], lent[1:])
			overwrite()
			if err = same(p, n, err); err != nil {
				return err
			}
			clear(p)
			return same(r.m.Score(r.ctx, query, texts))
		},
		work: func(ctx context.Context, i int) error {
			_, _, err := r.m.Score(ctx, question(i%8), passages(i%8, 1+i%8))
			if err == nil {
				err = same(r.m.Score(ctx, query, texts))
			}
			return err
		},
	})
}
