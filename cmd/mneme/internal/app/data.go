package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Data is an installation's data without models and services, for moving it.
type Data struct {
	Store     port.DocumentStore
	Projector *ingest.Projector // of the indexes; nil where it was opened to be read

	closers []func() error
}

// ReadData opens the store of an installation to be read, beside the server that
// runs on the folder if there is one.
func ReadData(ctx context.Context, s Settings) (*Data, error) {
	if err := Exists(s); err != nil {
		return nil, err
	}
	env := environment(s)
	env.Shared = true
	store, err := s.Registry.Store.Open(ctx, s.Config.Storage, env)
	if err != nil {
		return nil, err
	}
	return &Data{Store: store, closers: []func() error{store.Close}}, nil
}

// Exists fails if the store lies in a data folder that does not exist: opening it to
// be read would create an empty one.
func Exists(s Settings) error {
	if !Embedded(s.Config) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.Config.DataDir, "mneme.db")); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no data in the folder %s; name the one to read with --data or --config", s.Config.DataDir)
	}
	return nil
}

// WriteData takes the data folder and opens store and indexes. The error is
// *datadir.InUse when another process has the folder.
func WriteData(ctx context.Context, s Settings) (_ *Data, err error) {
	d := &Data{}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	lock, err := datadir.Acquire(s.Config.DataDir, s.Command)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, lock.Release)
	env := environment(s)
	if d.Store, err = s.Registry.Store.Open(ctx, s.Config.Storage, env); err != nil {
		return nil, err
	}
	d.closers = append(d.closers, d.Store.Close)
	indexes, err := registry.OpenIndexes(ctx, s.Registry.Index, s.Config.Indexes(), env)
	if err != nil {
		return nil, err
	}
	all := distinct(indexes)
	for _, x := range all {
		d.closers = append(d.closers, x.Close)
	}
	d.Projector = ingest.NewProjector(d.Store, all, "move", s.Log) // it publishes nothing
	return d, nil
}

// Close takes everything down in the reverse order of opening.
func (d *Data) Close() error {
	var errs []error
	for len(d.closers) > 0 {
		last := len(d.closers) - 1
		errs = append(errs, d.closers[last]())
		d.closers = d.closers[:last]
	}
	return errors.Join(errs...)
}

// Migrate brings the schema of the store up to date, or with dry only reports what
// that would take; ok is false for a store without a schema.
func Migrate(ctx context.Context, s Settings, dry bool) (m registry.Migration, ok bool, err error) {
	if dry {
		if err := Exists(s); err != nil {
			return m, false, err
		}
	}
	return s.Registry.Store.Migrate(ctx, s.Config.Storage, environment(s), dry)
}

// Schema is the present version of the store's schema and that of this program; 0: there is
// nothing yet. ok is false for a store without a schema. It changes nothing.
func Schema(ctx context.Context, s Settings) (m registry.Migration, ok bool, err error) {
	return s.Registry.Store.Migrate(ctx, s.Config.Storage, environment(s), true)
}

// LookAtStore reports what is wrong with the store, as far as it shows without opening it.
func LookAtStore(ctx context.Context, s Settings) error {
	return s.Registry.Store.Look(ctx, s.Config.Storage, environment(s))
}

// LookAtIndex does the same for an index.
func LookAtIndex(ctx context.Context, s Settings, index registry.Selection) error {
	return s.Registry.Index.Look(ctx, index, environment(s))
}
