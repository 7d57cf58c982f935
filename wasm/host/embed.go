package host

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// Embed turns texts into vectors; see port.Embedder.
func (m *Model) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	const op = "embed"
	if err := m.requireTask(port.TaskEmbed); err != nil {
		return port.Dense{}, err
	}
	out := port.Dense{Dim: m.info.Dimensions, Data: make([]float32, len(texts)*m.info.Dimensions),
		Tokens: make([]int, len(texts))}
	err := m.runBatches(ctx, op, sidedStream(abi.FuncEmbed, as, m.checkDense), texts, func(j *job, r abi.Result) {
		for i, row := range j.rows {
			copy(out.Row(row), r.Floats[i*r.Dim:(i+1)*r.Dim])
			out.Tokens[row] = int(r.Tokens[i])
		}
	})
	if err != nil {
		return port.Dense{}, err
	}
	return out, nil
}

var _ port.Embedder = (*Model)(nil)
