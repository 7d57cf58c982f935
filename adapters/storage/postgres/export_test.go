package postgres

import (
	"context"
	"errors"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
)

// MigrateBySteps makes the schema of an empty database by all steps, one after another.
func MigrateBySteps(ctx context.Context, c Config) (err error) {
	s, err := connect(c, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	known, err := bunsql.Migrations()
	if err != nil {
		return err
	}
	known[len(known)-1].Whole = ""
	return s.migrateTo(ctx, known, c.Schema)
}
