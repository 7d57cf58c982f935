package remote

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Prefixes are put before texts, for models that were trained with such words.
type Prefixes struct{ Query, Passage string }

func (p Prefixes) of(as port.TextKind) string {
	if as == port.Query {
		return p.Query
	}
	return p.Passage
}

// Embedder is a port.Embedder over a dialect.
type Embedder struct {
	*Caller
	About    port.ModelInfo
	Limits   Limits
	Prefixes Prefixes
	// Call asks for the vectors of texts, in their order, and gives the tokens
	// that the server counted, 0 for none. ctx is ready for Post.
	Call func(ctx context.Context, as port.TextKind, texts []string) ([]Vector, int, error)
}

// Info describes the model.
func (m *Embedder) Info() port.ModelInfo { return m.About }

// Embed implements port.Embedder.
func (m *Embedder) Embed(ctx context.Context, as port.TextKind, in []string) (port.Dense, error) {
	ready, err := m.Limits.prepare(m.Prefixes.of(as), in, 0)
	if err != nil {
		return port.Dense{}, err
	}
	dim := m.About.Dimensions
	out := port.Dense{Dim: dim, Data: make([]float32, len(in)*dim), Tokens: ready.tokens}
	err = m.runBatches(ctx, as, m.Limits.splitBatches(ready.tokens), func(ctx context.Context, from, to int) error {
		vectors, counted, err := m.Call(ctx, as, ready.send[from:to])
		if isTooLong(err) {
			if shorter, cut := m.Limits.shorten(m.Prefixes.of(as), ready.send[from:to], 0); cut {
				vectors, counted, err = m.Call(ctx, as, shorter)
			}
		}
		if err != nil {
			return err
		}
		if len(vectors) != to-from {
			return InvalidAnswer("%d vectors for %d texts", len(vectors), to-from)
		}
		for i, v := range vectors {
			if len(v) != dim {
				return InvalidAnswer("a vector of %d dimensions, dimensions says %d", len(v), dim)
			}
			copy(out.Row(from+i), v)
		}
		if err := (port.Dense{Dim: dim, Data: out.Data[from*dim : to*dim]}).Unit(false); err != nil {
			return InvalidAnswer("%v", err)
		}
		m.Limits.shareTokens(ready.tokens[from:to], counted)
		return nil
	})
	if err != nil {
		return port.Dense{}, err
	}
	return out, nil
}

// Dialect is the API of a provider that has embedding and reranking models.
type Dialect struct {
	Limits Limits
	Scale  Scale // of a reranker's scores
	// Embed is Embedder.Call, Rerank is Reranker.Call, by a caller.
	Embed  func(ctx context.Context, by *Caller, as port.TextKind, texts []string) ([]Vector, int, error)
	Rerank func(ctx context.Context, by *Caller, query string, texts []string) ([]Rank, error)
}

// Open makes a *Embedder or a *Reranker, as the model's task says. The server is not
// asked before the first call.
func (d Dialect) Open(m Model, e Endpoint, log *slog.Logger) (port.Model, error) {
	info := m.Info()
	by, err := Open(info.ID, m.Task, e, log)
	if err != nil {
		return nil, err
	}
	if m.Task == port.TaskRerank {
		return &Reranker{
			Caller: by,
			About:  info,
			Limits: d.Limits,
			Scale:  d.Scale,
			Call: func(ctx context.Context, query string, texts []string) ([]Rank, error) {
				return d.Rerank(ctx, by, query, texts)
			},
		}, nil
	}
	return &Embedder{
		Caller: by,
		About:  info,
		Limits: d.Limits,
		Call: func(ctx context.Context, as port.TextKind, texts []string) ([]Vector, int, error) {
			return d.Embed(ctx, by, as, texts)
		},
	}, nil
}

// Term is one entry of a sparse vector.
type Term struct {
	Index uint32  `json:"index"`
	Value float32 `json:"value"`
}

// SparseEncoder is a port.SparseEncoder over a dialect.
type SparseEncoder struct {
	*Caller
	About  port.ModelInfo
	Limits Limits
	// Call asks for the entries of texts, in their order; entries may stand in any order.
	Call func(ctx context.Context, as port.TextKind, texts []string) ([][]Term, error)
}

// Info describes the model.
func (m *SparseEncoder) Info() port.ModelInfo { return m.About }

// Encode implements port.SparseEncoder.
func (m *SparseEncoder) Encode(ctx context.Context, as port.TextKind, in []string) (port.Sparse, error) {
	ready, err := m.Limits.prepare("", in, 0)
	if err != nil {
		return port.Sparse{}, err
	}
	rows := make([][]Term, len(in))
	err = m.runBatches(ctx, as, m.Limits.splitBatches(ready.tokens), func(ctx context.Context, from, to int) error {
		got, err := m.Call(ctx, as, ready.send[from:to])
		if isTooLong(err) {
			if shorter, cut := m.Limits.shorten("", ready.send[from:to], 0); cut {
				got, err = m.Call(ctx, as, shorter)
			}
		}
		if err != nil {
			return err
		}
		if len(got) != to-from {
			return InvalidAnswer("%d sparse vectors for %d texts", len(got), to-from)
		}
		for i, row := range got {
			if rows[from+i], err = checkTerms(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return port.Sparse{}, err
	}
	out := port.Sparse{Rows: make([]uint32, 1, len(in)+1), Tokens: ready.tokens}
	for _, row := range rows {
		for _, t := range row {
			out.Terms, out.Weights = append(out.Terms, t.Index), append(out.Weights, t.Value)
		}
		out.Rows = append(out.Rows, uint32(len(out.Terms)))
	}
	return out, nil
}

// checkTerms sorts the entries by term, leaves zeros out and refuses what no sparse
// vector holds.
func checkTerms(row []Term) ([]Term, error) {
	row = slices.DeleteFunc(row, func(t Term) bool { return t.Value == 0 })
	slices.SortFunc(row, func(a, b Term) int { return cmp.Compare(a.Index, b.Index) })
	for i, t := range row {
		if !(t.Value > 0) || math.IsInf(float64(t.Value), 0) {
			return nil, InvalidAnswer("the weight %g for term %d", t.Value, t.Index)
		}
		if i > 0 && row[i-1].Index == t.Index {
			return nil, InvalidAnswer("term %d twice in a vector", t.Index)
		}
	}
	return row, nil
}

// Scale says what a server's scores are.
type Scale string

// The scales.
const (
	Probability Scale = "probability" // 0-1 already: taken as they are
	Logit       Scale = "logit"       // any number: put through the logistic function
	Cosine      Scale = "cosine"      // -1 to 1: stretched to 0-1
)

// probability brings a score to 0-1.
func (s Scale) probability(x float64) (float32, error) {
	const slack = 1e-3 // rounding of servers that compute in half precision
	switch s {
	case Logit:
		x = 1 / (1 + math.Exp(-x))
	case Cosine:
		x = (x + 1) / 2
	}
	if !(x >= -slack && x <= 1+slack) { // NaN, too
		return 0, InvalidAnswer("a score that is no %s: %g", s, x)
	}
	return float32(min(max(x, 0), 1)), nil
}

// Rank is a server's score of the text at Index of a call.
type Rank struct {
	Index int
	Score float64
}

// Reranker is a port.Reranker over a dialect. Servers do not tell what they cut,
// so texts are cut here first, by estimate, and those are the ones counted.
type Reranker struct {
	*Caller
	About  port.ModelInfo
	Limits Limits // Window is query's and text's together
	Scale  Scale
	// Call asks for the scores of all texts, in any order.
	Call func(ctx context.Context, query string, texts []string) ([]Rank, error)
}

// Info describes the model.
func (m *Reranker) Info() port.ModelInfo { return m.About }

// Score implements port.Reranker.
func (m *Reranker) Score(ctx context.Context, query string, in []string) ([]float32, int, error) {
	if !utf8.ValidString(query) {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "is not valid UTF-8")
	}
	query, _ = m.cutQuery(query)
	query = nonBlank(query)
	asked := Estimate(query)
	ready, err := m.Limits.prepare("", in, asked)
	if err != nil {
		return nil, 0, err
	}
	out := make([]float32, len(in))
	err = m.runBatches(ctx, port.Query, m.Limits.splitBatches(ready.tokens), func(ctx context.Context, from, to int) error {
		ranks, err := m.Call(ctx, query, ready.send[from:to])
		if isTooLong(err) {
			short := cutBytes(query, m.Limits.Window/2-specialTokens)
			if shorter, cut := m.Limits.shorten("", ready.send[from:to], len(short)); cut || len(short) < len(query) {
				ranks, err = m.Call(ctx, short, shorter)
			}
		}
		if err != nil {
			return err
		}
		return m.placeScores(out[from:to], ranks)
	})
	if err != nil {
		return nil, 0, err
	}
	return out, ready.cut, nil
}

// cutQuery leaves half of the window to the texts.
func (m *Reranker) cutQuery(query string) (string, bool) {
	return Cut(query, m.Limits.Window/2-specialTokens)
}

// CutsQuery implements port.QueryCutter, by the same estimate by which queries are cut.
func (m *Reranker) CutsQuery(_ context.Context, query string) (bool, error) {
	_, cut := m.cutQuery(query)
	return cut, nil
}

// placeScores puts scores where their texts stand; each text must have one.
func (m *Reranker) placeScores(into []float32, ranks []Rank) error {
	if len(ranks) != len(into) {
		return InvalidAnswer("%d scores for %d texts", len(ranks), len(into))
	}
	seen := make([]bool, len(into))
	for _, r := range ranks {
		if r.Index < 0 || r.Index >= len(into) || seen[r.Index] {
			return InvalidAnswer("a score for text %d of %d, which is none or has one", r.Index, len(into))
		}
		seen[r.Index] = true
		p, err := m.Scale.probability(r.Score)
		if err != nil {
			return err
		}
		into[r.Index] = p
	}
	return nil
}

var (
	_ port.Embedder      = (*Embedder)(nil)
	_ port.SparseEncoder = (*SparseEncoder)(nil)
	_ port.Reranker      = (*Reranker)(nil)
	_ port.QueryCutter   = (*Reranker)(nil)
)
