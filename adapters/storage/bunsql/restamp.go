package bunsql

import (
	"context"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Restamp implements port.MemoryWriter.
func (w *Writer) Restamp(ctx context.Context, p port.Partition, n port.Namespace) error {
	const op = "restamp end user"
	if p.Space() != port.SpaceMemories {
		return internal(op, "partition %s is not an end user's", p)
	}
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	w.forget() // the dimensions
	changed, err := w.s.exec(ctx, op, `UPDATE namespaces SET sparse = ?, embedding_model = ?, embedding_digest = ?, dimensions = ?, sparse_model = ?, sparse_digest = ?, chunker = ?
WHERE generation = ? AND documents = 0`, flag(n.Sparse), n.EmbeddingModel, n.EmbeddingDigest, n.Dimensions, n.SparseModel, n.SparseDigest, n.Chunker, ref.generation)
	if err != nil {
		return w.fail(err)
	}
	if changed == 0 {
		return fault.New(fault.Conflict, "end user %s has memories", p.Name())
	}
	return nil
}
