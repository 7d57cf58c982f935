package host

import (
	"context"
	"slices"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// CountTokens counts word pieces; see port.TokenCounter. Being cheap, it goes
// before passages.
func (m *Model) CountTokens(ctx context.Context, texts []string) ([]int, error) {
	const op = "count tokens"
	out := make([]int, len(texts))
	s := &stream{op: abi.FuncTokens, class: queries, check: checkCounts}
	err := m.runBatches(ctx, op, s, texts, func(j *job, r abi.Result) {
		for i, row := range j.rows {
			out[row] = int(r.Counts[i])
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// TokenIDs gives the word pieces of each text as the model reads it: prefix and
// special tokens included, cut at the window.
func (m *Model) TokenIDs(ctx context.Context, as port.TextKind, texts []string) ([][]uint32, error) {
	const op = "token ids"
	out := make([][]uint32, len(texts))
	err := m.runBatches(ctx, op, sidedStream(abi.FuncIDs, as, checkIDs), texts, func(j *job, r abi.Result) {
		for i, row := range j.rows {
			out[row] = slices.Clone(r.Terms[r.Index[i]:r.Index[i+1]])
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

var _ port.TokenCounter = (*Model)(nil)
