package bunsql

import (
	"context"
	"encoding/json"

	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// Neighbors implements port.MemoryReader.
func (r *Reader) Neighbors(ctx context.Context, p port.Partition, at []port.Position) ([]port.Neighbors, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	out := make([]port.Neighbors, len(at))
	for i, place := range at {
		created := micros(place.CreatedAt)
		// Two seeks a side: a row value comparison would not use the index's order in every database.
		for _, step := range []struct {
			into      **port.Document
			same, off string
		}{
			{&out[i].Before, `created_at = ? AND id < ? ORDER BY id DESC`, `created_at < ? ORDER BY created_at DESC, id DESC`},
			{&out[i].After, `created_at = ? AND id > ? ORDER BY id`, `created_at > ? ORDER BY created_at, id`},
		} {
			if *step.into, err = r.neighbor(ctx, ref.generation, place.Container, step.same, created, place.ID); err == nil &&
				*step.into == nil {
				*step.into, err = r.neighbor(ctx, ref.generation, place.Container, step.off, created)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// neighbor reads the first memory of a container in an order; nil when there is none.
func (r *Reader) neighbor(ctx context.Context, generation int64, container, where string, args ...any) (*port.Document, error) {
	d := port.Document{Container: container}
	var created, updated int64
	var metadata string
	ok, err := r.s.get(ctx, "find memory beside", `SELECT id, text, metadata, created_at, updated_at FROM documents
WHERE generation = ? AND container = ? AND container IS NOT NULL AND `+where+` LIMIT 1`,
		append([]any{generation, container}, args...), &d.ID, &d.Text, &metadata, &created, &updated)
	if err != nil || !ok {
		return nil, err
	}
	if metadata != "" {
		d.Metadata = json.RawMessage(metadata)
	}
	d.CreatedAt, d.UpdatedAt = instant(created), instant(updated)
	return &d, nil
}

// ContextLinks implements port.MemoryReader.
func (r *Reader) ContextLinks(ctx context.Context, p port.Partition, ids []string, own bool) ([]port.ContextLink, error) {
	const op = "read context links"
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := each(ids)
	if err != nil {
		return nil, err
	}
	columns := `c.id, c.context_id, NULL`
	if own {
		columns = `c.id, c.context_id, c.own`
	}
	rows, err := r.s.query(ctx, op, `SELECT `+columns+
		` FROM {{each}} CROSS JOIN {{lookup}}memory_contexts c WHERE c.generation = ? AND c.id = j.value{{found c}}
UNION SELECT `+columns+` FROM {{each}} CROSS JOIN {{lookup}}memory_contexts c WHERE c.generation = ? `+
		`AND c.context_id = j.value{{found c}} ORDER BY 1`,
		list, ref.generation, list, ref.generation)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.ContextLink
	for rows.Next() {
		var l port.ContextLink
		var vector []byte
		if err := rows.Scan(&l.ID, &l.Context, &vector); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		d, err := packing.DecodeDense(vector)
		if err != nil {
			return nil, internal(op, "memory %s: %w", l.ID, err)
		}
		l.Own = d.Data
		out = append(out, l)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// PutContextLinks implements port.MemoryWriter.
func (w *Writer) PutContextLinks(ctx context.Context, p port.Partition, links []port.ContextLink) error {
	const op = "write context links"
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.Context == "" {
			_, err = w.s.exec(ctx, op, `DELETE FROM memory_contexts WHERE generation = ? AND id = ?`, ref.generation, l.ID)
		} else {
			var own []byte
			if own, err = packing.EncodeDense(port.Dense{Dim: len(l.Own), Data: l.Own}, 1); err != nil || own == nil {
				return internal(op, "memory %s: vector: %w", l.ID, err)
			}
			w.written.Bytes += len(own)
			_, err = w.s.exec(ctx, op, `INSERT INTO memory_contexts (generation, id, context_id, own) VALUES (?, ?, ?, ?)
ON CONFLICT (generation, id) DO UPDATE SET context_id = EXCLUDED.context_id, own = EXCLUDED.own`, ref.generation, l.ID,
				l.Context, own)
		}
		if err != nil {
			return w.fail(err)
		}
	}
	return nil
}
