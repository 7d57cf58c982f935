package host

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// Encode turns texts into learned-sparse vectors; see port.SparseEncoder.
func (m *Model) Encode(ctx context.Context, as port.TextKind, texts []string) (port.Sparse, error) {
	const op = "encode"
	if err := m.requireTask(port.TaskSparse); err != nil {
		return port.Sparse{}, err
	}
	type row struct {
		terms   []uint32
		weights []float32
	}
	rows, total := make([]row, len(texts)), 0
	out := port.Sparse{Rows: make([]uint32, 1, len(texts)+1), Tokens: make([]int, len(texts))}
	err := m.runBatches(ctx, op, sidedStream(abi.FuncSparse, as, m.checkSparse), texts, func(j *job, r abi.Result) {
		for i, at := range j.rows {
			from, to := r.Index[i], r.Index[i+1]
			rows[at] = row{r.Terms[from:to], r.Floats[from:to]}
			out.Tokens[at] = int(r.Tokens[i])
			total += int(to - from)
		}
	})
	if err != nil {
		return port.Sparse{}, err
	}
	out.Terms, out.Weights = make([]uint32, 0, total), make([]float32, 0, total)
	for _, r := range rows {
		out.Terms, out.Weights = append(out.Terms, r.terms...), append(out.Weights, r.weights...)
		out.Rows = append(out.Rows, uint32(len(out.Terms)))
	}
	return out, nil
}

var _ port.SparseEncoder = (*Model)(nil)
