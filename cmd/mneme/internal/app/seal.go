package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/seal"
)

// Embedded reports whether the store lies in the data folder.
func Embedded(c *configs.Config) bool { return c.Storage.Component == "sqlite" }

// SealingKeyFile is the file that the sealing keys are read from; "": there is none,
// because the configuration holds the keys or names no file for a store elsewhere.
func SealingKeyFile(c *configs.Config) string {
	switch {
	case c.Seal.Key != "":
		return ""
	case c.Seal.KeyFile != "":
		return c.Seal.KeyFile
	case Embedded(c):
		return datadir.SealKeyFile(c.DataDir)
	}
	return ""
}

// SealingKeys reads the sealing keys. There are none where none is configured and the
// data folder has none yet.
func SealingKeys(c *configs.Config) ([]seal.Key, error) {
	text, file := c.Seal.Key.Reveal(), SealingKeyFile(c)
	if text == "" && file == "" {
		return nil, nil
	}
	from := "seal.key"
	if file != "" {
		from = file
		body, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && c.Seal.KeyFile == "" {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the sealing keys: %w", err)
		}
		text = string(body)
	}
	keys, err := seal.ParseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("sealing keys of %s: %w", from, err)
	}
	return keys, nil
}

// sealing reads the sealing keys, and makes the one of a data folder that has none: but
// not where the store has secrets already, which need the one that is missing.
func (a *App) sealing(ctx context.Context, store port.Store) ([]seal.Key, error) {
	c := a.settings.Config
	keys, err := SealingKeys(c)
	if err != nil || keys != nil || !Embedded(c) {
		return keys, err
	}
	file := datadir.SealKeyFile(c.DataDir)
	if err := seal.New(seal.Settings{Store: store}).Check(ctx); err != nil {
		return nil, fmt.Errorf("%s is missing: %w", file, err)
	}
	made := seal.NewKey()
	if err := datadir.SaveSealKey(c.DataDir, made.Reveal()); err != nil {
		return nil, err
	}
	a.settings.Log.Info("sealing key made", "file", file, "id", made.ID())
	return []seal.Key{made}, nil
}

// CheckSealingKeys fails when the store needs other sealing keys than these. Its schema has to
// be this program's; nothing is changed.
func CheckSealingKeys(ctx context.Context, s Settings, keys []seal.Key) (err error) {
	var stored []port.DataKey
	read := func(r port.Reader) (err error) {
		stored, err = r.DataKeys(ctx)
		return err
	}
	if Embedded(s.Config) {
		err = sqlite.Peek(ctx, s.Config.DataDir, read)
	} else {
		err = withStore(ctx, s.Registry, s.Config, s.Log, func(store port.DocumentStore) error { return store.View(ctx, read) })
	}
	if err != nil {
		return err
	}
	return seal.Suffice(keys, stored)
}

// WithSealer runs fn with the data keys of the store and the configured sealing keys,
// beside a running server if there is one.
func WithSealer(ctx context.Context, r *registry.Registry, c *configs.Config, log *slog.Logger,
	fn func(*seal.Sealer) error) error {
	if err := Exists(Settings{Config: c}); err != nil {
		return err
	}
	keys, err := SealingKeys(c)
	if err != nil {
		return err
	}
	return withStore(ctx, r, c, log, func(store port.DocumentStore) error {
		return fn(seal.New(seal.Settings{Store: store, Keys: keys}))
	})
}
