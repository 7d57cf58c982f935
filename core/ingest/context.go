package ingest

import (
	"context"
	"fmt"

	"github.com/mnemehq/mneme/core/port"
)

// contextWeight is the part of a vector that comes from the text with what was
// said before it (docs/quality.md).
const contextWeight = 0.5

// InContext embeds texts that begin with what was said before and mixes each
// into the vector of the text alone. The mean of two unit vectors is kept as it
// is, shorter the less they agree: brought back to unit length it finds worse.
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
