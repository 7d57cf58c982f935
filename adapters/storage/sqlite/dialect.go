package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mnemehq/mneme/core/fault"
)

// dialect is bunsql.Dialect for SQLite.
type dialect struct{}

func (dialect) Name() string { return "SQLite" }

func (dialect) Render(query string) string {
	return strings.NewReplacer(
		"{{each}}", "json_each(?) AS j",
		"{{share}}", "", // one transaction writes at a time
		"{{lookup}}", "", "{{found d}}", "", "{{found v}}", "", "{{found c}}", "",
		"{{tables}}", "sqlite_schema",
		"{{int64}}", "INTEGER",
		"{{blob}}", "BLOB",
		"{{text}}", "TEXT", // collates bytewise unless told otherwise
		"{{identity}}", "INTEGER PRIMARY KEY AUTOINCREMENT",
		"{{now}}", "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)",
		"{{strict}}", " STRICT",
		"{{keyed}}", " STRICT, WITHOUT ROWID",
		"{{json_object}}", "json_object",
		"{{utf8}}", "CAST(", "{{/utf8}}", " AS BLOB)",
	).Replace(query)
}

func (dialect) Context(context.Context) context.Context { return context.Background() }

func (dialect) Prepares() bool { return true }

func (dialect) Unique(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return true
	}
	return false
}

// code is the extended result code inside err, or 0.
func code(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// primary is the result code without its extension.
func primary(err error) int { return code(err) & 0xff }

func (dialect) Fault(op string, err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	unavailable := func(after time.Duration, message string) error {
		return fault.Wrap(fault.Unavailable, op, err, "%s", message).After(after)
	}
	kind := primary(err)
	if code(err) == sqlite3.SQLITE_IOERR_SHMSIZE { // the file that its processes share could not grow
		kind = sqlite3.SQLITE_FULL
	}
	switch kind {
	case sqlite3.SQLITE_FULL:
		return unavailable(10*time.Second, "the disk of the data directory is full; nothing was written")
	case sqlite3.SQLITE_IOERR:
		return unavailable(10*time.Second, "the disk of the data directory failed; nothing was written")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unavailable(time.Second, "another process is writing to the data directory")
	case sqlite3.SQLITE_READONLY:
		return unavailable(30*time.Second, "the data directory is read-only")
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return unavailable(30*time.Second, "the data directory cannot be opened")
	case sqlite3.SQLITE_NOMEM:
		return unavailable(5*time.Second, "the server is short of memory")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Wrap(fault.Internal, op, fmt.Errorf("%w: %w", ErrDamaged, err), "the database is damaged")
	}
	return fault.Wrap(fault.Internal, op, err, "an internal error occurred")
}

// notDatabase reports whether a file is no SQLite database at all.
func notDatabase(err error) bool { return primary(err) == sqlite3.SQLITE_NOTADB }
