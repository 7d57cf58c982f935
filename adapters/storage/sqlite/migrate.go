package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/port"
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
		err := look(path, func(as access) error {
			err := inspect(ctx, path, known, as)
			if err == nil {
				from, err = version(ctx, path, known, as)
			}
			return err
		})
		if err != nil {
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

// look reads a database without leaving anything beside it. Its log says whether a process
// has it open, or had it open when it ended abruptly.
func look(path string, read func(access) error) error {
	logged := func() bool {
		_, err := os.Stat(path + "-wal")
		return err == nil
	}
	if !logged() {
		if err := read(lookingAlone); err == nil || !logged() {
			return err
		} // a process has opened it in the meantime
	}
	return read(looking)
}

// ErrDamaged is inside the error of a database whose pages do not fit together.
var ErrDamaged = errors.New("its pages do not fit together")

// lookTime bounds how long Look reads; a large database is then looked at in part.
const lookTime = 20 * time.Second

// Look reads the database of a data directory through a connection that cannot write, and
// reports damage (ErrDamaged). One that is not there yet is well. It may run beside a process
// that serves the directory.
func Look(ctx context.Context, dir string) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("open data directory: %w", err)
	}
	path := filepath.Join(dir, databaseFile)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return directoryFault("open database", dir, err)
	}
	return look(path, func(as access) error { return checkPages(ctx, path, as) })
}

func checkPages(ctx context.Context, path string, as access) (err error) {
	pool, err := sql.Open("sqlite", source(path, as))
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var found string
	switch err := pool.QueryRowContext(bounded, `PRAGMA quick_check(1)`).Scan(&found); {
	case err != nil && bounded.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case found != "ok":
		return fmt.Errorf("%w: %s", ErrDamaged, found)
	}
	return nil
}

// Peek runs fn on what a data directory holds, through a connection that cannot write and
// leaves nothing behind. Its schema has to be this program's. It may run beside a process that serves
// the directory, and fn may run again.
func Peek(ctx context.Context, dir string, fn func(port.Reader) error) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("open data directory: %w", err)
	}
	path := filepath.Join(dir, databaseFile)
	return look(path, func(as access) error {
		return reading(ctx, path, as, func(s *bunsql.Session) error { return s.Read(fn) })
	})
}

// version reads the version of a database that inspect has found to be ours.
func version(ctx context.Context, path string, known []bunsql.Migration, as access) (at int, err error) {
	err = reading(ctx, path, as, func(s *bunsql.Session) (err error) {
		at, err = bunsql.CheckSchema(ctx, s, known)
		return err
	})
	return at, err
}

// reading runs fn on a connection of its own.
func reading(ctx context.Context, path string, as access, fn func(*bunsql.Session) error) (err error) {
	pool, err := sql.Open("sqlite", source(path, as))
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer pool.Close()
	conn, err := bun.NewDB(pool, sqlitedialect.New()).Conn(ctx)
	if err != nil {
		return dialect{}.Fault("open database", err)
	}
	session := bunsql.NewSession(conn, dialect{})
	defer func() { err = errors.Join(err, session.Close()) }()
	return fn(session)
}
