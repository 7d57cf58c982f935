package engine

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// sharedSecret reads a secret of all servers over the store, or makes it.
func sharedSecret(ctx context.Context, store store, name string) ([]byte, error) {
	var secret []byte
	read := func(r port.SecretReader) (err error) {
		secret, err = r.Secret(ctx, name)
		return err
	}
	err := store.View(ctx, func(r reader) error { return read(r) })
	if fault.CodeOf(err) == fault.NotFound {
		fresh := make([]byte, 32)
		if _, err := rand.Read(fresh); err != nil {
			return nil, fmt.Errorf("make secret %s: %w", name, err)
		}
		err = store.Update(ctx, func(w writer) error {
			if err := w.PutSecret(ctx, name, fresh); err != nil {
				return err
			}
			return read(w)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %s: %w", name, err)
	}
	return secret, nil
}
