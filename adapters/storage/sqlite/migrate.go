package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
)

// Migrate brings the schema of a data directory up to date, as Open does. It returns the
// version before (0: none) and that of this program. With dry it changes nothing, and may
// run beside a process that serves the directory. Errors are those of Open.
func Migrate(ctx context.Context, dir string, o Options, dry bool) (from, to int, err error) {
	known, err := bunsql.Migrations()
	if err != nil {
		return 0, 0, err
	}
	if dir, err = filepath.Abs(dir); err != nil { // a URI of a file has no relative path
		return 0, len(known), fmt.Errorf("open data directory: %w", err)
	}
	path := filepath.Join(dir, databaseFile)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Size() == 0:
	case err != nil:
		return 0, len(known), directoryFault("open database", dir, err)
	default:
		if err := inspect(ctx, path, known); err != nil {
			return 0, len(known), err
		}
		if from, err = version(ctx, path, known); err != nil {
			return 0, len(known), err
		}
	}
	if dry {
		return from, len(known), nil
	}
	s, err := Open(ctx, dir, o)
	if err != nil {
		return from, len(known), err
	}
	return from, len(known), s.Close()
}

// version reads the version of a database that inspect has found to be ours.
func version(ctx context.Context, path string, known []bunsql.Migration) (at int, err error) {
	pool, err := sql.Open("sqlite", source(path, true))
	if err != nil {
		return 0, fmt.Errorf("open database: %w", err)
	}
	defer pool.Close()
	conn, err := bun.NewDB(pool, sqlitedialect.New()).Conn(ctx)
	if err != nil {
		return 0, dialect{}.Fault("open database", err)
	}
	session := bunsql.NewSession(conn, dialect{})
	defer func() { err = errors.Join(err, session.Close()) }()
	return bunsql.CheckSchema(ctx, session, known)
}
