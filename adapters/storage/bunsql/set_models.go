package bunsql

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
)

// SetModels implements port.PartitionWriter.
func (w *Writer) SetModels(ctx context.Context, p port.Partition, n port.PartitionRow) error {
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	w.forget() // the dimensions
	_, err = w.s.exec(ctx, "restamp "+kind(p),
		`UPDATE namespaces SET sparse = ?, embedding_model = ?, embedding_digest = ?, dimensions = ?, sparse_model = ?,
			sparse_digest = ?, chunker = ?
WHERE generation = ?`, flag(n.Sparse), n.EmbeddingModel, n.EmbeddingDigest, n.Dimensions, n.SparseModel, n.SparseDigest,
		n.Chunker, ref.generation)
	return w.fail(err)
}
