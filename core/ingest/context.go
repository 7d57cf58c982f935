package ingest

import (
	"context"
	"fmt"

	"github.com/mnemehq/mneme/core/port"
)

// contextWeight is the share of a turn's vector that comes from the turn before it and
// its own text, embedded together (docs/quality.md).
const contextWeight = 0.5

// InContext embeds texts that begin with the turn before and mixes each vector into
// that of the turn alone, in own. The mean of two unit vectors stays as it is, the
// shorter the less they agree: normalized to unit length it retrieves worse.
func (e *Encoder) InContext(ctx context.Context, own [][]float32, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	d, err := e.Embedder.Embed(ctx, port.Passage, texts)
	if err != nil {
		return nil, fmt.Errorf("embed passages in context: %w", err)
	}
	if err := checkDense(d, len(texts), e.Embedder.Info()); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i := range texts {
		row := d.Row(i)
		for c, v := range own[i] {
			row[c] = contextWeight*row[c] + (1-contextWeight)*v
		}
		roundToHalf(row)
		out[i] = row
	}
	return out, nil
}
