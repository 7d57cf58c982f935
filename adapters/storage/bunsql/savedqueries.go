package bunsql

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
)

// SavedQueries implements port.SavedQueryReader.
func (r *Reader) SavedQueries(ctx context.Context, p port.Partition) ([]port.SavedQuery, error) {
	const op = "list saved queries"
	if err := r.use(ctx, p); err != nil || p.Space() != port.SpaceDocuments {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT name, body, created_at, updated_at FROM saved_queries
  WHERE org = ? AND namespace = ? ORDER BY name`, string(p.Org()), p.Name())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.SavedQuery
	for rows.Next() {
		var q port.SavedQuery
		var body string
		var created, updated int64
		if err := rows.Scan(&q.Name, &body, &created, &updated); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		q.Body, q.CreatedAt, q.UpdatedAt = []byte(body), instant(created), instant(updated)
		out = append(out, q)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// PutSavedQuery implements port.SavedQueryWriter.
func (w *Writer) PutSavedQuery(ctx context.Context, p port.Partition, q port.SavedQuery) error {
	const op = "write saved query"
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	if ref.memories {
		return internal(op, "partition %s holds memories", p)
	}
	_, err = w.s.exec(ctx, op, `INSERT INTO saved_queries (org, namespace, name, body, created_at, updated_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (org, namespace, name) DO UPDATE SET body = EXCLUDED.body,
  updated_at = EXCLUDED.updated_at`, string(p.Org()), p.Name(), q.Name, string(q.Body), micros(q.CreatedAt),
		micros(q.UpdatedAt))
	return w.fail(err)
}

// RemoveSavedQuery implements port.SavedQueryWriter.
func (w *Writer) RemoveSavedQuery(ctx context.Context, p port.Partition, name string) (bool, error) {
	if err := w.use(ctx, p); err != nil || p.Space() != port.SpaceDocuments {
		return false, err
	}
	n, err := w.s.exec(ctx, "remove saved query", `DELETE FROM saved_queries WHERE org = ? AND namespace = ? AND name = ?`,
		string(p.Org()), p.Name(), name)
	return n > 0, w.fail(err)
}
