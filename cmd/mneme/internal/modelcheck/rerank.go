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
)

// score gives the probabilities, or false with a finding.
func (k *check) score(id, query string, texts ...string) (scores []float32, truncated int, ok bool) {
	scores, truncated, err := k.reranker.Score(k.ctx, query, texts)
	if err == nil && len(scores) != len(texts) {
		err = fmt.Errorf("%d scores for %d texts", len(scores), len(texts))
	}
	if err != nil {
		k.expect(id, "the texts are scored", false, "%v", err)
	}
	return scores, truncated, err == nil
}

// rerank checks a reranker.
func (k *check) rerank() {
	k.rerankShapes()
	k.rerankText()
	k.rerankStable()
	for _, s := range askings() {
		// In both orders: what counts is the text, not its place.
		p, _, ok := k.score("rerank.sense", s.query, s.related, s.unrelated)
		r, _, also := k.score("rerank.sense", s.query, s.unrelated, s.related)
		if !ok || !also {
			break
		}
		k.expect("rerank.sense.related-above-unrelated", fmt.Sprintf("%q scores its answer higher", s.query), p[0] > p[1] && r[1] > r[0],
			"%.3f against %.3f, swapped %.3f against %.3f", p[0], p[1], r[1], r[0])
	}
	k.stops("rerank.", func(ctx context.Context, texts []string) error {
		_, _, err := k.reranker.Score(ctx, "too late", texts)
		return err
	})
	if want, _, ok := k.score("rerank.conduct.afterwards", "works", "the next call works", "rain"); ok {
		group, ctx := errgroup.WithContext(k.ctx)
		for range 4 {
			group.Go(func() error {
				got, _, err := k.reranker.Score(ctx, "works", []string{"the next call works", "rain"})
				if err == nil && !slices.Equal(got, want) {
					err = errors.New("other scores than alone")
				}
				return err
			})
		}
		err := group.Wait()
		k.expect("rerank.conduct.parallel", "four calls at once give what one gives", err == nil, "%v", err)
	}
	k.report.Speed.RerankMS = median(func(i int) error {
		_, _, err := k.reranker.Score(k.ctx, question(i), slices.Repeat([]string{strings.Repeat(passage, 10)}, 20))
		return err
	})
}

func (k *check) rerankShapes() {
	texts := []string{"a", "The harbour master keeps the keys.", strings.Repeat("Rain fell on the quay all night. ", 3)}
	p, truncated, ok := k.score("rerank.shapes.rows", "who keeps the keys", texts...)
	if !ok {
		return
	}
	for i, x := range p {
		k.expect("rerank.shapes.probability", "scores from 0 to 1", x >= 0 && x <= 1, "%g for text %d", x, i)
	}
	k.expect("rerank.shapes.truncated", "no text that fits is called truncated", truncated == 0, "%d of 3", truncated)
	none, _, err := k.reranker.Score(k.ctx, "who keeps the keys", nil)
	k.expect("rerank.shapes.none", "no texts give no scores", err == nil && len(none) == 0, "%d scores, error %v", len(none), err)
}

func (k *check) rerankText() {
	for _, odd := range oddTexts() {
		p, _, err := k.reranker.Score(k.ctx, "who keeps the keys", []string{odd[1]})
		k.expect("rerank.text."+odd[0], "is scored", err == nil && len(p) == 1, "%v", err)
		p, _, err = k.reranker.Score(k.ctx, odd[1], []string{"The harbour master keeps the keys."})
		k.expect("rerank.query."+odd[0], "is scored", err == nil && len(p) == 1, "%v", err)
	}
	_, _, err := k.reranker.Score(k.ctx, "fine", []string{"fine", "a\xff\xfeb"})
	k.expect("rerank.text.invalid-utf8", "invalid UTF-8 is refused as the caller's mistake", fault.Status(fault.CodeOf(err)) == 400, "%v", err)
	_, _, err = k.reranker.Score(k.ctx, "a\xff\xfeb", []string{"fine"})
	k.expect("rerank.query.invalid-utf8", "invalid UTF-8 is refused as the caller's mistake", fault.Status(fault.CodeOf(err)) == 400, "%v", err)
	long := strings.Repeat("harbour ", 4*k.reranker.Info().MaxTokens)
	if _, truncated, ok := k.score("rerank.text.too-long", "harbour", "short", long, long); ok {
		k.expect("rerank.text.too-long", "texts longer than the window are cut there and counted", truncated == 2, "%d counted, 2 are", truncated)
	}
	if p, _, ok := k.score("rerank.query.too-long", long, "The harbour master keeps the keys.", "Sort the array before you search it."); ok {
		k.expect("rerank.query.too-long", "a query longer than the window leaves room for the text", p[0] != p[1], "both texts score %g", p[0])
	}
}

func (k *check) rerankStable() {
	texts := crates()
	all, _, ok := k.score("rerank.stable.batch", "where does crate 13 stand", texts...)
	if !ok {
		return
	}
	again, _, ok := k.score("rerank.stable.repeat", "where does crate 13 stand", texts...)
	k.expect("rerank.stable.repeat", "the same bits on repeat", ok && slices.Equal(all, again), "they differ")
	for _, i := range []int{0, 13, 31} {
		one, _, ok := k.score("rerank.stable.batch", "where does crate 13 stand", texts[i])
		if !ok {
			return
		}
		k.expect("rerank.stable.batch", "alone as in a batch of 32, in order", math.Abs(float64(one[0]-all[i])) < 1e-3, "text %d: %.6f and %.6f", i, one[0], all[i])
	}
}
