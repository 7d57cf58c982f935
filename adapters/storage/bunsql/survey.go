package bunsql

import (
	"context"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Partitions implements port.PartitionLister. The order is that of the index by name.
func (r *Reader) Partitions(ctx context.Context, org ident.Org, after port.Partition, limit int) ([]port.PartitionEntry, error) {
	const op = "list partitions"
	if err := r.check(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT space, integration, name, seen_at, generation, sparse, embedder, embedding_model,
		embedding_digest, dimensions,
  sparse_model, sparse_digest, chunker, language, documents, chunks, bytes, seq, created_at, updated_at, erasing_at
FROM namespaces WHERE org = ? AND dropped = 0 AND life = 0 AND (space, name, integration) > (?, ?, ?) ORDER BY space,
name, integration LIMIT ?`,
		string(org), string(after.Space()), after.Name(), after.Integration(), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.PartitionEntry
	for rows.Next() {
		var n namespaceRow
		var seen int64
		if err := rows.Scan(&n.Space, &n.Integration, &n.Name, &seen, &n.Generation, &n.Sparse, &n.Embedder, &n.EmbeddingModel,
			&n.EmbeddingDigest, &n.Dimensions,
			&n.SparseModel, &n.SparseDigest, &n.Chunker, &n.Language, &n.Documents, &n.Chunks, &n.Bytes, &n.Seq, &n.CreatedAt,
			&n.UpdatedAt, &n.ErasingAt); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		h := port.PartitionEntry{Partition: port.Documents(org, n.Name), Row: n.port()}
		if port.Space(n.Space) == port.SpaceMemories {
			h.Partition, h.Seen = port.Memories(org, n.Integration, n.Name), instant(max(n.UpdatedAt, seen))
		}
		h.Partition = h.Partition.At(n.Generation)
		out = append(out, h)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// IdempotentReplies implements port.PartitionLister.
func (r *Reader) IdempotentReplies(ctx context.Context, p port.Partition, after string,
	limit int) ([]port.IdempotentReply, error) {
	const op = "list replays"
	if _, err := r.resolve(ctx, p); err != nil || limit <= 0 {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT idempotency_key, request_hash, answer, created_at FROM replays
WHERE org = ? AND integration = ? AND end_user = ? AND idempotency_key > ? ORDER BY idempotency_key LIMIT ?`,
		string(p.Org()), p.Integration(), p.Name(), after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.IdempotentReply
	for rows.Next() {
		a := port.IdempotentReply{Integration: p.Integration(), EndUser: p.Name()}
		var hash []byte
		var answer string
		var created int64
		if err := rows.Scan(&a.Key, &hash, &answer, &created); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if copy(a.RequestHash[:], hash) != len(a.RequestHash) {
			return nil, internal(op, "damaged hash")
		}
		a.Answer, a.CreatedAt = []byte(answer), instant(created)
		out = append(out, a)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// RemoveOrganization implements port.OrganizationRemover. Deleted namespaces that
// are still to be purged keep their organization.
func (w *Writer) RemoveOrganization(ctx context.Context, id ident.Org) (bool, error) {
	if err := w.check(ctx); err != nil {
		return false, err
	}
	n, err := w.s.exec(ctx, "remove organization", `DELETE FROM organizations WHERE id = ?
  AND NOT EXISTS (SELECT 1 FROM api_keys WHERE org = organizations.id) AND NOT EXISTS (SELECT 1 FROM namespaces
  WHERE org = organizations.id)
  AND NOT EXISTS (SELECT 1 FROM integrations WHERE org = organizations.id) AND NOT EXISTS (SELECT 1 FROM jobs
  WHERE org = organizations.id)
  AND NOT EXISTS (SELECT 1 FROM replays WHERE org = organizations.id) AND NOT EXISTS (SELECT 1 FROM oauth_grants
  WHERE org = organizations.id) AND NOT EXISTS (SELECT 1 FROM members WHERE org = organizations.id)`, string(id))
	return n > 0, w.fail(err)
}

var (
	_ port.PartitionLister     = (*Reader)(nil)
	_ port.OrganizationRemover = (*Writer)(nil)
)
