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
	if err := m.requireTask(port.TaskRerank); err != nil {
		return nil, 0, err
	}
	if !utf8.ValidString(query) {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "is not valid UTF-8")
	}
	out, truncated := make([]float32, len(texts)), 0
	s := &stream{op: abi.FuncRerank, class: scores, head: []string{query}, check: checkScores}
	err := m.runBatches(ctx, op, s, texts, func(j *job, r abi.Result) {
		for i, at := range j.rows {
			out[at] = r.Floats[i]
			// A module that doesn't tell what it cut tells at least what it read.
			if r.Cut != nil && r.Cut[i] != 0 || r.Cut == nil && r.Tokens != nil && int(r.Tokens[i]) >= m.info.MaxTokens {
				truncated++
			}
		}
	})
	if err != nil {
		return nil, 0, err
	}
	return out, truncated, nil
}

var _ port.Reranker = (*Model)(nil)
