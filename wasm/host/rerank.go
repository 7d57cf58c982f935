package host

import (
	"context"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// Score gives the probability that each text answers the query; see
// port.Reranker. It goes before passages and after queries.
func (m *Model) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	const op = "score"
	if err := m.can(port.TaskRerank); err != nil {
		return nil, 0, err
	}
	if !utf8.ValidString(query) {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "is not valid UTF-8")
	}
	out, truncated := make([]float32, len(texts)), 0
	s := &stream{op: abi.FuncRerank, class: scores, head: []string{query}}
	err := m.each(ctx, op, s, texts, func(j *job, r abi.Result) error {
		if r.Kind != abi.KindScores || r.Rows != len(j.texts) {
			return fault.New(fault.Upstream, "the model answered kind %d with %d rows for %d texts", r.Kind, r.Rows, len(j.texts))
		}
		for i, at := range j.rows {
			score := r.Floats[i]
			if !(score >= 0 && score <= 1) {
				return fault.New(fault.Upstream, "the model answered the score %g, which is no probability", score)
			}
			out[at] = score
			// A module that doesn't tell what it cut tells at least what it read.
			if r.Cut != nil && r.Cut[i] != 0 || r.Cut == nil && r.Tokens != nil && int(r.Tokens[i]) >= m.info.MaxTokens {
				truncated++
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return out, truncated, nil
}

var _ port.Reranker = (*Model)(nil)
