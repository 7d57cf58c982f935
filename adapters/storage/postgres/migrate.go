package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
)

// ErrOlderSchema is inside the error of Open when the schema is older than the
// program and storage.postgres.migrate is false.
var ErrOlderSchema = errors.New("the database is older than this program")

// Migrate brings the schema up to date, whatever c.Migrate says. It returns the version
// before (0: none) and that of this program. With dry it changes nothing. Errors are
// those of Open.
func Migrate(ctx context.Context, c Config, o Options, dry bool) (from, to int, err error) {
	s, err := connect(c, o)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if from, to, err = s.version(ctx); err != nil || dry {
		return from, to, err
	}
	return from, to, s.migrate(ctx, c.Schema)
}

// version reads the version of the schema, and which one this program has.
func (s *Store) version(ctx context.Context) (at, known int, err error) {
	steps, err := bunsql.Migrations()
	if err != nil {
		return 0, 0, err
	}
	d := &dialect{}
	session, err := s.session(ctx, d)
	if err != nil {
		return 0, 0, err
	}
	err = s.transaction(ctx, session, d, s.begin[viewing], "read the schema", func() error {
		at, err = bunsql.CheckSchema(ctx, session, steps)
		if err != nil || at < len(steps) {
			return err
		}
		// The tables of turns are not a numbered step: they are of this database alone.
		if turns, err := hasLockTables(ctx, session); err != nil || !turns {
			at--
			return err
		}
		return nil
	})
	return at, len(steps), err
}

// current fails unless the schema is up to date.
func (s *Store) current(ctx context.Context) error {
	at, known, err := s.version(ctx)
	if err == nil && at < known {
		err = fmt.Errorf("%w: its schema is version %d, this program needs %d, and storage.postgres.migrate is false; "+
			"run 'mneme migrate' with this configuration first",
			ErrOlderSchema, at, known)
	}
	return err
}
