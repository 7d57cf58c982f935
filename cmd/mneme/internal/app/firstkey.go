package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
)

// FirstKey makes the configured first key in a store that has none. The key itself is never
// logged, nor part of an error.
func (a *App) FirstKey(ctx context.Context) error {
	c, log := a.settings.Config.FirstKey, a.settings.Log
	secret, from, made := c.Key.Reveal(), "first_key.key", false
	if c.File != "" {
		var err error
		if from, err = filepath.Abs(c.File); err != nil {
			return fmt.Errorf("first_key.file: %w", err)
		}
		if secret, made, err = a.firstKeyFile(ctx, from); err != nil {
			return fmt.Errorf("first_key.file: %w", err)
		}
	}
	if secret == "" {
		return nil
	}
	came, err := a.Keys.MakeFirst(audit.ByCommand(ctx, "first key"), secret)
	switch {
	case fault.CodeOf(err) == fault.InvalidRequest:
		return fmt.Errorf("the first key of %s %s", from, fault.From(err).Message)
	case err != nil:
		return fmt.Errorf("make the first key: %w", err)
	case came == key.FirstMade:
		log.Info("first key made", "id", key.FirstID, "from", from)
	case came == key.FirstUnused && made:
		// Another server's key came first, and a file with a key that opens nothing misleads.
		if err := os.Remove(from); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the first key that was not used: %w", err)
		}
		fallthrough
	case came == key.FirstUnused:
		log.Warn("first key unused", "from", from)
	}
	return nil
}

// firstKeyFile reads the key of a file, or makes it where it is missing and the store has no
// keys; "": there are.
func (a *App) firstKeyFile(ctx context.Context, path string) (secret string, made bool, err error) {
	secret, err = readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, false, err
	}
	if has, err := a.Keys.HasKeys(ctx); has || err != nil {
		return "", false, err
	}
	secret = key.NewFirst()
	// A link appears with all of the key in it, and does not replace another server's.
	beside := path + "." + rand.Text()
	if err := disk.Replace(disk.OS(), beside, []byte(secret+"\n")); err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, os.Remove(beside)) }()
	err = os.Link(beside, path)
	if errors.Is(err, fs.ErrExist) {
		secret, err = readSecret(path)
		return secret, false, err
	}
	if err != nil {
		return "", false, err
	}
	return secret, true, disk.OS().SyncDir(filepath.Dir(path))
}

// readSecret reads the only line of a small file.
func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	const most = 4096
	body, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(body))
	if secret == "" {
		return "", fmt.Errorf("%s is empty: write a key there, or remove it to have one made", path)
	}
	return secret, nil
}
