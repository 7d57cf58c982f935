package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// Reranking are the constants of reranking.
type Reranking struct {
	// Prior is how much the fused score counts beside the reranker: one standard
	// deviation of it among the rescored candidates is worth so many of the
	// reranker's log-odds. 0: the reranker alone.
	Prior float64
	// Floor is a number of standard deviations: log-odds below their mean plus that
	// many are raised to that value, so that low scores are ties. The reranker then
	// lifts the candidates it is sure of and leaves the rest in fused order, which
	// keeps a passage that answers only a part of the question in its place.
	Floor float64
	// Spread is the least deviation that fused scores are taken to have, of 1 for the
	// top of every list. Where they hardly differ, the retrievers have told little, and
	// the prior weighs less. A single retriever's own scores are on other scales.
	Spread float64
	// Abstain leaves the order as it is where the reranker's best candidate stands first
	// already: what a small reranker then still changes is worse more often than better.
	// Without a prior it has no effect.
	Abstain bool
	// Depth is the most candidates that are rescored where a request names no
	// depth of its own.
	Depth int
}

// NoFloor raises no score.
const NoFloor = -10

// DefaultReranking are the measured defaults (docs/quality.md).
func DefaultReranking() Reranking {
	return Reranking{Prior: 1.5, Floor: -0.5, Spread: 0.19, Abstain: true, Depth: 40}
}

// enough is how many candidates make a meaningful deviation. With fewer the prior
// weighs less and the floor lies lower, down to none for one candidate.
const enough = 10

// Count is how many candidates are rescored for topK results; asked is the
// request's own depth, 0 for none.
func (r Reranking) Count(topK, asked int) int {
	if asked > 0 {
		return asked
	}
	return min(topK*2, r.Depth)
}

// Cut is what a reranker did not read to its end.
type Cut struct {
	Texts int // how many of them
	Query bool
}

// Rerankers are the rerank models of a server.
type Rerankers struct {
	Default port.Reranker     // what a call uses that names none; nil: off
	Others  []port.Reranker   // that a call may name
	Aliases map[string]string // further names, of any model, each with the model's own
}

// Named finds the model that a call names, the default where it names none. False
// when there is no such model; nil when the default is off.
func (r Rerankers) Named(id string) (port.Reranker, bool) {
	if id == "" {
		return r.Default, true
	}
	if of, ok := r.Aliases[id]; ok {
		id = of
	}
	for _, m := range append([]port.Reranker{r.Default}, r.Others...) {
		if m != nil && m.Info().ID == id {
			return m, true
		}
	}
	return nil, false
}

// IDs lists what a call may name.
func (r Rerankers) IDs() []string {
	var ids []string
	for _, m := range append([]port.Reranker{r.Default}, r.Others...) {
		if m != nil && !slices.Contains(ids, m.Info().ID) {
			ids = append(ids, m.Info().ID)
		}
	}
	return ids
}

// Score runs a reranker within its share of the time that is left, so that an
// answer can still go out without it. It gives a probability for each text, or
// an error for anything that is none, a panic included. No texts: no call.
func Score(ctx context.Context, m port.Reranker, query string, texts []string) (p []float32, cut Cut, err error) {
	if len(texts) == 0 {
		return nil, Cut{}, nil
	}
	ctx, cancel := WithShare(ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			p, cut, err = nil, Cut{}, fmt.Errorf("reranker panicked: %v", v)
		}
	}()
	p, cut.Texts, err = m.Score(ctx, query, texts)
	if err == nil {
		err = CheckScores(p, len(texts))
	}
	if err == nil {
		cut.Query, err = CutsQuery(ctx, m, query)
	}
	if err != nil {
		return nil, Cut{}, err
	}
	return p, cut, nil
}

// frame is how many tokens of a window models put around a text.
const frame = 2

// CutsQuery reports whether a reranker reads only the beginning of a query: as it
// says, else as its tokens count, else as an estimate of them does.
func CutsQuery(ctx context.Context, m port.Reranker, query string) (bool, error) {
	if c, ok := m.(port.QueryCutter); ok {
		return c.CutsQuery(ctx, query)
	}
	window := m.Info().MaxTokens
	room := window - frame
	if window <= 0 || len(query) <= room { // not told, or: no text has more tokens than bytes
		return false, nil
	}
	count := chunk.Approximate
	if c, ok := m.(port.TokenCounter); ok {
		count = c.CountTokens
	}
	n, err := count(ctx, []string{query})
	if err != nil {
		return false, fmt.Errorf("count the query's tokens: %w", err)
	}
	return len(n) == 1 && n[0] > room, nil
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
// probabilities for the first of them. With x the log-odds of the scored
// candidates, m their mean and s their standard deviation, a candidate's are
//
//	max(x, m + Floor*s) + Prior*s*z
//
// with z its fused score's distance from their mean in deviations among the scored
// ones, or in Spread where that is more; its score is the
// sigmoid of that. This is Bayes' rule with the retrievers as the prior and the
// reranker as the evidence, on one scale whatever the reranker's. Where the order
// stays (Abstain), each score is below the one before. The rest
// stays behind in its order: a score of theirs is the lowest scored one times
// their own fused score.
func (r Reranking) Reorder(c []*Candidate, p []float32) {
	scored, tail := c[:len(p)], c[len(p):]
	if len(scored) == 0 {
		return
	}
	top := 1.0
	for _, k := range c { // a single retriever's scores may lie above 1
		top = max(top, k.Fused.Score)
	}
	odds, fused := make([]float64, len(scored)), make([]float64, len(scored))
	for i, k := range scored {
		q := min(max(float64(p[i]), least), 1-least)
		odds[i], fused[i] = math.Log(q/(1-q)), k.Fused.Score
		k.Reranked = &Rank{Score: float64(p[i])}
	}
	m, s := moments(odds)
	fm, fs := moments(fused)
	if severalLists(c) {
		fs = max(fs, r.Spread)
	}
	trust := min(1, float64(len(scored)-1)/(enough-1))
	for i, k := range scored {
		x := odds[i]
		if r.Prior > 0 {
			x = max(x, m+(r.Floor-3*(1-trust))*s)
		}
		if fs > 1e-9 {
			// Where all log-odds are equal the fused order still stands.
			x += trust * r.Prior * max(s, least) * (fused[i] - fm) / fs
		}
		k.Score = 1 / (1 + math.Exp(-x))
	}
	byRank := slices.Clone(scored) // fused order among equals
	slices.SortStableFunc(byRank, func(a, b *Candidate) int { return cmp.Compare(b.Reranked.Score, a.Reranked.Score) })
	for i, k := range byRank {
		k.Reranked.Rank = i + 1
	}
	if r.Abstain && r.Prior > 0 && slices.Max(odds) == odds[0] {
		for i := 1; i < len(scored); i++ {
			scored[i].Score = min(scored[i].Score, math.Nextafter(scored[i-1].Score, 0))
		}
	}
	slices.SortFunc(scored, less)
	lowest := scored[len(scored)-1].Score
	for _, k := range tail {
		k.Score = lowest * max(k.Fused.Score, 0) / top
	}
}

// severalLists tells whether more than one retriever found the candidates.
func severalLists(c []*Candidate) bool {
	var found port.Retriever
	for _, k := range c {
		for r := range k.Ranks {
			if found != "" && r != found {
				return true
			}
			found = r
		}
	}
	return false
}

// moments are the mean and the standard deviation.
func moments(v []float64) (mean, deviation float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		deviation += (x - mean) * (x - mean) / n
	}
	return mean, math.Sqrt(deviation)
}
