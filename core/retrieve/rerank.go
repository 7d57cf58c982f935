package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mnemehq/mneme/core/port"
)

// Reranking are the constants of reranking.
type Reranking struct {
	// Prior is how much the fused score counts beside the reranker: what one
	// standard deviation of it among the rescored candidates adds to the
	// log-odds of relevance. 0: the reranker alone.
	Prior float64
	// Depth is the most candidates that are rescored where a request names no
	// depth of its own.
	Depth int
}

// DefaultReranking are the measured defaults (docs/quality.md).
func DefaultReranking() Reranking { return Reranking{Prior: 0.5, Depth: 40} }

// Count is how many candidates are rescored for topK results; asked is the
// request's own depth, 0 for none.
func (r Reranking) Count(topK, asked int) int {
	if asked > 0 {
		return asked
	}
	return min(topK*2, r.Depth)
}

// Score runs a reranker within its share of the time that is left, so that an
// answer can still go out without it. It gives a probability for each text, or
// an error for anything that is none, a panic included. No texts: no call.
func Score(ctx context.Context, m port.Reranker, query string, texts []string) (p []float32, truncated int, err error) {
	if len(texts) == 0 {
		return nil, 0, nil
	}
	ctx, cancel := WithShare(ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			p, truncated, err = nil, 0, fmt.Errorf("reranker panicked: %v", v)
		}
	}()
	p, truncated, err = m.Score(ctx, query, texts)
	if err != nil {
		return nil, 0, err
	}
	if err := CheckScores(p, len(texts)); err != nil {
		return nil, 0, err
	}
	return p, truncated, nil
}

// CheckScores refuses a reranker's answer for n texts that is no list of
// probabilities.
func CheckScores(p []float32, n int) error {
	if len(p) != n {
		return fmt.Errorf("reranker gave %d scores for %d texts", len(p), n)
	}
	for _, v := range p {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("reranker gave the score %v, which is no probability", v)
		}
	}
	return nil
}

// least keeps log-odds finite.
const least = 1e-6

// Reorder sorts candidates, which are in fused order, by a reranker's
// probabilities for the first of them. The log-odds of a scored candidate are
//
//	logit(p) + Prior * z
//
// with z its fused score standardised among the scored ones; its score is the
// sigmoid of that. This is Bayes' rule with the retrievers as the prior and the
// reranker as the evidence, up to the constant Prior. The rest stays behind in
// its order: a score of theirs is the lowest scored one times their own fused
// score.
func (r Reranking) Reorder(c []*Candidate, p []float32) {
	scored, tail := c[:len(p)], c[len(p):]
	if len(scored) == 0 {
		return
	}
	top := 1.0
	for _, k := range c { // a single retriever's scores may lie above 1
		top = max(top, k.Fused.Score)
	}
	z := standardised(scored)
	for i, k := range scored {
		q := min(max(float64(p[i]), least), 1-least)
		k.Score = 1 / (1 + math.Exp(-(math.Log(q/(1-q)) + r.Prior*z[i])))
		k.Reranked = &Rank{Score: float64(p[i])}
	}
	byRank := slices.Clone(scored) // fused order among equals
	slices.SortStableFunc(byRank, func(a, b *Candidate) int { return cmp.Compare(b.Reranked.Score, a.Reranked.Score) })
	for i, k := range byRank {
		k.Reranked.Rank = i + 1
	}
	slices.SortFunc(scored, less)
	lowest := scored[len(scored)-1].Score
	for _, k := range tail {
		k.Score = lowest * max(k.Fused.Score, 0) / top
	}
}

// standardised gives each fused score's distance from the mean in standard
// deviations; zeros where all are equal.
func standardised(c []*Candidate) []float64 {
	z := make([]float64, len(c))
	n := float64(len(c))
	mean, square := 0.0, 0.0
	for _, k := range c {
		mean += k.Fused.Score / n
	}
	for _, k := range c {
		square += (k.Fused.Score - mean) * (k.Fused.Score - mean) / n
	}
	sd := math.Sqrt(square)
	if sd < 1e-9 {
		return z
	}
	for i, k := range c {
		z[i] = (k.Fused.Score - mean) / sd
	}
	return z
}
