package bunsql

import (
	"context"

	"github.com/mnemehq/mneme/core/fault"
)

// Secret implements port.SecretReader.
func (r *Reader) Secret(ctx context.Context, name string) ([]byte, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var value []byte
	ok, err := r.s.get(ctx, "read secret", `SELECT value FROM secrets WHERE name = ?`, []any{name}, &value)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "there is no secret %q", name)
	}
	return value, nil
}

// PutSecret implements port.SecretWriter.
func (w *Writer) PutSecret(ctx context.Context, name string, value []byte) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write secret",
		`INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, value)
	return w.fail(err)
}
