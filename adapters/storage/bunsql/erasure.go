package bunsql

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// An erasure keeps its whole state in the partition's row: since when it is
// under way, and what it has removed. Every step commits with its tally, so
// that it goes on wherever the process died.

// Erasing implements port.MemoryReader.
func (r *Reader) Erasing(ctx context.Context) ([]port.Partition, error) {
	const op = "list erasures"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT generation, org, integration, name FROM namespaces WHERE erasing_at <> 0 `+
		`ORDER BY erasing_at, generation`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Partition
	for rows.Next() {
		var generation int64
		var org, integration, name string
		if err := rows.Scan(&generation, &org, &integration, &name); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out = append(out, port.Memories(ident.Org(org), integration, name).At(generation))
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// ErasureTally implements port.MemoryReader.
func (r *Reader) ErasureTally(ctx context.Context, p port.Partition) (port.Erased, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return port.Erased{}, err
	}
	var e port.Erased
	_, err = r.s.get(ctx, "read erasure",
		`SELECT erased_memories, erased_vectors, erased_records, erased_receipts, erased_replays, erased_grants, `+
			`erased_unanswered FROM namespaces WHERE generation = ?`,
		[]any{ref.generation}, &e.Memories, &e.Vectors, &e.Records, &e.Receipts, &e.Replays, &e.Grants, &e.Unanswered)
	return e, err
}

// BeginErasure implements port.MemoryWriter.
func (w *Writer) BeginErasure(ctx context.Context, p port.Partition, at time.Time) (port.Partition, error) {
	const op = "begin erasure"
	ref, err := w.resolve(ctx, p)
	if err != nil {
		return port.Partition{}, err
	}
	if !ref.memories || at.IsZero() {
		return port.Partition{}, internal(op, "partition %s at %v", p, at)
	}
	w.forget()
	if _, err := w.s.exec(ctx, op, `UPDATE namespaces SET erasing_at = ? WHERE generation = ? AND erasing_at = 0`,
		micros(at), ref.generation); err != nil {
		return port.Partition{}, w.fail(err)
	}
	if _, err := w.s.exec(ctx, op, `UPDATE grants SET revoked_at = ? WHERE `+ofEndUser+` AND revoked_at = 0`,
		append([]any{micros(at)}, endUserOf(p)...)...); err != nil {
		return port.Partition{}, w.fail(err)
	}
	return p.At(ref.generation), nil
}

// erasable is resolve for a partition whose erasure has begun.
func (w *Writer) erasable(ctx context.Context, op string, p port.Partition) (namespaceRef, error) {
	ref, err := w.resolve(ctx, p)
	if err == nil && !ref.erasing {
		err = internal(op, "the erasure of %s has not begun", p)
	}
	return ref, err
}

// EraseMemories implements port.MemoryWriter. It removes up to limit memories,
// and as many records, receipts, changes, answers and events.
func (w *Writer) EraseMemories(ctx context.Context, p port.Partition, limit int) (more bool, err error) {
	const op = "erase memories"
	ref, err := w.erasable(ctx, op, p)
	if err != nil {
		return false, err
	}
	if limit <= 0 {
		return false, internal(op, "limit %d", limit)
	}
	var e port.Erased
	var chunks, bytes int64
	if _, err := w.s.get(ctx, op, `SELECT count(*), coalesce(sum(o.chunk_count), 0), coalesce(sum(o.text_bytes), 0),
  coalesce(sum(CASE WHEN v.dense IS NULL THEN 0 ELSE o.chunk_count END + CASE
  WHEN v.sparse IS NULL THEN 0 ELSE o.chunk_count END), 0)
FROM (SELECT generation, id, chunk_count, text_bytes FROM documents WHERE generation = ? ORDER BY id LIMIT ?) o
LEFT JOIN vectors v ON v.generation = o.generation AND v.id = o.id`,
		[]any{ref.generation, limit}, &e.Memories, &chunks, &bytes, &e.Vectors); err != nil {
		return false, err
	}
	for _, step := range [...]struct {
		statement string
		removed   *int64
	}{{purgeDocuments, &e.Memories}, {purgeTombstones, new(int64)}, {purgeRecords, &e.Records}, {purgeReceipts, &e.Receipts}} {
		if *step.removed, err = w.s.exec(ctx, op, step.statement, ref.generation, ref.generation, limit); err != nil {
			return false, w.fail(err)
		}
		more = more || *step.removed == int64(limit)
	}
	if e.Replays, err = w.deleteReplays(ctx, p, limit); err != nil {
		return false, err
	}
	events, err := w.deleteEventsOf(ctx, p, limit)
	if err != nil {
		return false, err
	}
	more = more || e.Replays == int64(limit) || events == int64(limit)
	_, err = w.s.exec(ctx, op, `UPDATE namespaces SET documents = documents - ?, chunks = chunks - ?, bytes = bytes - ?,
  erased_memories = erased_memories + ?, erased_vectors = erased_vectors + ?, erased_records = erased_records + ?,
  erased_receipts = erased_receipts + ?, erased_replays = erased_replays + ? WHERE generation = ?`,
		e.Memories, chunks, bytes, e.Memories, e.Vectors, e.Records, e.Receipts, e.Replays, ref.generation)
	return more, w.fail(err)
}

// allReplays is the limit of deleteReplays that is none.
const allReplays = math.MaxInt64

// deleteReplays forgets up to limit stored answers of an end user.
func (w *Writer) deleteReplays(ctx context.Context, p port.Partition, limit int) (int64, error) {
	n, err := w.s.exec(ctx, "delete replays", `DELETE FROM replays WHERE org = ? AND integration = ? AND idempotency_key IN
  (SELECT idempotency_key FROM replays WHERE org = ? AND integration = ? AND end_user = ? LIMIT ?)`,
		string(p.Org()), p.Integration(), string(p.Org()), p.Integration(), p.Name(), limit)
	return n, w.fail(err)
}

// ofPartition selects the jobs of a partition, whatever generation.
const ofPartition = `org = ? AND space = ? AND integration = ? AND name = ?`

// EndErasure implements port.MemoryWriter.
func (w *Writer) EndErasure(ctx context.Context, p port.Partition) error {
	const op = "end erasure"
	ref, err := w.erasable(ctx, op, p)
	if err != nil {
		return err
	}
	var left int64
	if _, err := w.s.get(ctx, op, `SELECT CASE WHEN EXISTS (SELECT 1 FROM documents
		WHERE generation = ?) THEN 1 ELSE 0 END + CASE WHEN EXISTS (SELECT 1 FROM tombstones
		WHERE generation = ?) THEN 1 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM memory_records WHERE generation = ?) THEN 1 ELSE 0 END + CASE WHEN EXISTS (SELECT 1
  FROM memory_receipts WHERE generation = ?) THEN 1 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM replays WHERE org = ? AND integration = ? AND end_user = ?) THEN 1 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM grants WHERE `+ofEndUser+`) THEN 1 ELSE 0 END`,
		slices.Concat([]any{ref.generation, ref.generation, ref.generation, ref.generation}, endUserOf(p), endUserOf(p)),
		&left); err != nil {
		return err
	}
	if left != 0 {
		return internal(op, "%s is not empty yet", p)
	}
	owner := []any{string(p.Org()), string(p.Space()), p.Integration(), p.Name()}
	for _, statement := range [...]string{
		`DELETE FROM claims WHERE name IN (SELECT 'job/' || org || '/' || id FROM jobs WHERE ` + ofPartition + `)`,
		`DELETE FROM jobs WHERE ` + ofPartition,
	} {
		if _, err := w.s.exec(ctx, op, statement, owner...); err != nil {
			return w.fail(err)
		}
	}
	if err := w.ErasePersonalKeys(ctx, p); err != nil {
		return err
	}
	w.forget()
	_, err = w.s.exec(ctx, op, `DELETE FROM namespaces WHERE generation = ?`, ref.generation)
	return w.fail(err)
}

// ErasePersonalKeys implements port.ErasureWriter.
func (w *Writer) ErasePersonalKeys(ctx context.Context, p port.Partition) error {
	const op = "erase personal keys"
	if err := w.check(ctx); err != nil {
		return err
	}
	if p.Space() != port.SpaceMemories || p.Name() == "" {
		return internal(op, "partition %s", p)
	}
	_, err := w.s.exec(ctx, op, `DELETE FROM api_keys WHERE org = ? AND kind = ? AND integration = ? AND end_user = ?`,
		string(p.Org()), string(ident.Personal), p.Integration(), p.Name())
	if err != nil {
		return w.fail(err)
	}
	_, err = w.deleteEventsOf(ctx, p, math.MaxInt64)
	return err
}

// deleteEventsOf forgets up to limit events that tell of an end user.
func (w *Writer) deleteEventsOf(ctx context.Context, p port.Partition, limit int) (int64, error) {
	return w.deleteEvents(ctx, "delete events", `SELECT position FROM events WHERE org = ? AND subject = ? ORDER BY position
  LIMIT ?`, string(p.Org()), port.EventSubject(p), limit)
}
