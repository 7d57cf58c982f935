package bunsql

import (
	"context"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// DataKey implements port.DataKeyReader.
func (r *Reader) DataKey(ctx context.Context, org ident.Org) (port.DataKey, error) {
	k := port.DataKey{Org: org}
	if err := r.check(ctx); err != nil {
		return k, err
	}
	var created int64
	ok, err := r.s.get(ctx, "read data key", `SELECT id, wrapped, wrapped_by, created_at FROM data_keys WHERE org = ?`,
		[]any{string(org)}, &k.ID, &k.Wrapped, &k.WrappedBy, &created)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "organization %s has no data key", org)
	}
	k.CreatedAt = instant(created)
	return k, err
}

// DataKeys implements port.DataKeyReader.
func (r *Reader) DataKeys(ctx context.Context) ([]port.DataKey, error) {
	const op = "list data keys"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT org, id, wrapped, wrapped_by, created_at FROM data_keys ORDER BY org`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.DataKey
	for rows.Next() {
		var k port.DataKey
		var created int64
		if err := rows.Scan(&k.Org, &k.ID, &k.Wrapped, &k.WrappedBy, &created); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		k.CreatedAt = instant(created)
		out = append(out, k)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// PutDataKey implements port.DataKeyWriter.
func (w *Writer) PutDataKey(ctx context.Context, k port.DataKey) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireLasting(ctx, k.Org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write data key", `INSERT INTO data_keys (org, id, wrapped, wrapped_by, created_at)
VALUES (?, ?, ?, ?, ?) ON CONFLICT (org) DO NOTHING`, string(k.Org), k.ID, k.Wrapped, k.WrappedBy, micros(k.CreatedAt))
	return w.fail(err)
}

// RewrapDataKey implements port.DataKeyWriter.
func (w *Writer) RewrapDataKey(ctx context.Context, k port.DataKey) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "rewrap data key", `UPDATE data_keys SET wrapped = ?, wrapped_by = ? WHERE org = ? AND id = ?`,
		k.Wrapped, k.WrappedBy, string(k.Org), k.ID)
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.NotFound, "organization %s has no data key %s", k.Org, k.ID)
	}
	return nil
}

// DeleteDataKey implements port.DataKeyWriter.
func (w *Writer) DeleteDataKey(ctx context.Context, org ident.Org, id string) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "delete data key", `DELETE FROM data_keys WHERE org = ? AND id = ?`, string(org), id)
	return w.fail(err)
}
