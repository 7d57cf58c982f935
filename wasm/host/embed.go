package host

import (
	"context"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// Embed turns texts into vectors; see port.Embedder.
func (m *Model) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	const op = "embed"
	out := port.Dense{Dim: m.info.Dimensions, Data: make([]float32, len(texts)*m.info.Dimensions), Tokens: make([]int, len(texts))}
	if err := m.can(port.TaskEmbed); err != nil {
		return port.Dense{}, err
	}
	err := m.each(ctx, op, sided(abi.FuncEmbed, as), texts, func(j *job, r abi.Result) error {
		if r.Kind != abi.KindDense || r.Rows != len(j.texts) || r.Dim != out.Dim || r.Tokens == nil {
			return fault.New(fault.Upstream, "the model answered kind %d with %d rows of %d for %d texts of %d", r.Kind, r.Rows, r.Dim, len(j.texts), out.Dim)
		}
		for i, row := range j.rows {
			copy(out.Row(row), r.Floats[i*r.Dim:(i+1)*r.Dim])
			out.Tokens[row] = int(r.Tokens[i])
		}
		return nil
	})
	if err != nil {
		return port.Dense{}, err
	}
	return out, nil
}

var _ port.Embedder = (*Model)(nil)
