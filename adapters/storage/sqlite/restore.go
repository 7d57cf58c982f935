package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// restoreDir is where a database is filled before it gets its place in the data folder.
const restoreDir = "restore.tmp"

// Dump implements port.Dumper. The write-ahead log is kept for as long as fn runs.
func (s *Store) Dump(ctx context.Context, fn func(port.Dump) error) error {
	return s.View(ctx, func(r port.Reader) error {
		session, err := r.(*bunsql.Reader).Session(ctx)
		if err != nil {
			return err
		}
		d, err := bunsql.Dump(ctx, session, numbers{})
		if err != nil {
			return err
		}
		return fn(d)
	})
}

// numbers is bunsql.Numbers of AUTOINCREMENT columns.
type numbers struct{}

func (numbers) Last(ctx context.Context, s *bunsql.Session, table, _ string) (last int64, err error) {
	_, err = s.Row(ctx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, []any{table}, &last)
	return last, err
}

func (numbers) Set(ctx context.Context, s *bunsql.Session, table, _ string, last int64) error {
	if err := s.Exec(ctx, `DELETE FROM sqlite_sequence WHERE name = ?`, table); err != nil {
		return err
	}
	return s.Exec(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)`, table, last)
}

// Restore makes the database of a data folder from a backup: in a folder below, without a journal,
// and checked before it gets its name. What a restore left that was interrupted is removed first.
// bunsql.ErrNotEmpty is inside the error where there is a database already.
func Restore(ctx context.Context, dir string, o Options, from port.Restoring) (err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Disk == nil {
		o.Disk = disk.OS()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := disk.MakeDir(o.Disk, dir); err != nil {
		return directoryFault("create data directory", dir, err)
	}
	unlock, err := LockDir(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	path, below := filepath.Join(dir, databaseFile), filepath.Join(dir, restoreDir)
	switch _, err := os.Stat(path); {
	case err == nil:
		return fmt.Errorf("%s: %w", path, bunsql.ErrNotEmpty)
	case !errors.Is(err, fs.ErrNotExist):
		return directoryFault("look into data directory", dir, err)
	}
	if err := o.Disk.RemoveAll(below); err != nil {
		return directoryFault("remove what another restore left", dir, err)
	}
	if err := o.Disk.Mkdir(below); err != nil {
		return directoryFault("create folder", dir, err)
	}
	filled := filepath.Join(below, databaseFile)
	if err := touch(filled); err != nil {
		return directoryFault("create database", dir, err)
	}
	if err := fillFile(ctx, filled, o, from); err != nil {
		return errors.Join(err, o.Disk.RemoveAll(below))
	}
	if err := o.Disk.Sync(filled); err != nil {
		return directoryFault("store database", dir, err)
	}
	if err := o.Disk.Rename(filled, path); err != nil {
		return directoryFault("store database", dir, err)
	}
	if err := errors.Join(o.Disk.RemoveAll(below), o.Disk.SyncDir(dir)); err != nil {
		return directoryFault("store database", dir, err)
	}
	return nil
}

// fillFile fills a database that nobody will open unless all of it has succeeded.
func fillFile(ctx context.Context, path string, o Options, from port.Restoring) (err error) {
	q := url.Values{}
	for _, p := range []string{
		"page_size(8192)", "journal_mode(OFF)", "synchronous(OFF)", "foreign_keys(0)", "locking_mode(EXCLUSIVE)",
		"cache_size(-65536)", "temp_store(MEMORY)", "trusted_schema(0)", "secure_delete(1)",
	} {
		q.Add("_pragma", p)
	}
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: name, RawQuery: q.Encode()}).String())
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	pool.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, pool.Close()) }()
	conn, err := bun.NewDB(pool, sqlitedialect.New()).Conn(ctx)
	if err != nil {
		return dialect{}.Fault("open database", err)
	}
	s := bunsql.NewSession(conn, dialect{})
	defer func() { err = errors.Join(err, s.Close()) }()
	control := func(op string, statements ...string) error {
		for _, st := range statements {
			if err := s.Control(ctx, st); err != nil {
				return dialect{}.Fault(op, err)
			}
		}
		return nil
	}
	if err := control("restore", `BEGIN`); err != nil {
		return err
	}
	err = bunsql.Fill(ctx, s, from, bunsql.Filling{
		Numbers: numbers{}, Now: o.Now,
		Insert: func(ctx context.Context, table string, columns []string, rows [][]any) error {
			statement := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" +
				strings.Repeat("?, ", len(columns)-1) + "?)"
			for _, row := range rows {
				if err := s.Exec(ctx, statement, row...); err != nil {
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	if err := control("restore", `COMMIT`, `PRAGMA application_id = `+strconv.Itoa(applicationID)); err != nil {
		return err
	}
	return checkFilled(ctx, s)
}

// checkFilled has SQLite read every page, index and reference.
func checkFilled(ctx context.Context, s *bunsql.Session) error {
	var found string
	if _, err := s.Row(ctx, `PRAGMA integrity_check(1)`, nil, &found); err != nil {
		return err
	}
	if found != "ok" {
		return fault.Wrap(fault.Internal, "restore", fmt.Errorf("%w: %s", ErrDamaged, found), "what was restored is damaged")
	}
	var table string
	broken, err := s.Row(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`, nil, &table)
	if err == nil && broken {
		err = fault.Wrap(fault.Internal, "restore", fmt.Errorf("%w: a row of %s refers to none", ErrDamaged, table),
			"what was restored is damaged")
	}
	return err
}

var _ port.Dumper = (*Store)(nil)
