package bunsql

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// schema is what all steps together make of an empty database but for their records: statements before
// Render, each ended by ";" at a line's end. A test of the SQLite store writes it.
//
//go:embed schema.sql
var schema string

// Migration is one numbered step of the schema. Once released, its text never
// changes: the checksum of what was applied is kept beside its number.
type Migration struct {
	Version  int    // 1, 2, 3...
	Name     string // of its file
	SQL      string // statements before Render, each ended by ";" at a line's end
	Checksum string // SHA-256 of SQL in hex

	// Whole makes of an empty database what all steps up to this one make of it, in a quarter of the
	// time, as SQLite reads its schema again after each column that is added. Only the newest has it.
	Whole string
}

// ErrNewerSchema is inside the error of Migrate when the database was written
// by a newer version of the program. Nothing has been changed then.
var ErrNewerSchema = errors.New("the database is newer than this program")

// Migrations lists the steps this program knows, in order.
func Migrations() ([]Migration, error) {
	entries, err := fs.ReadDir(migrationFiles, "migrations")
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	var out []Migration
	for i, e := range entries {
		text, err := fs.ReadFile(migrationFiles, "migrations/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("migrations: %w", err)
		}
		number, _, _ := strings.Cut(e.Name(), "_")
		v, err := strconv.Atoi(number)
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("migrations: file %s is not number %d", e.Name(), i+1)
		}
		sum := sha256.Sum256(text)
		out = append(out, Migration{
			Version:  v,
			Name:     strings.TrimSuffix(e.Name(), ".sql"),
			SQL:      string(text),
			Checksum: hex.EncodeToString(sum[:]),
		})
	}
	out[len(out)-1].Whole = schema
	return out, nil
}

// Transaction runs fn in a transaction that excludes other writers, rolling
// back when it errs.
type Transaction func(ctx context.Context, fn func(*Session) error) error

// CheckSchema compares the database with what this program knows and answers
// the version it is at (0: empty). It changes nothing.
func CheckSchema(ctx context.Context, s *Session, known []Migration) (int, error) {
	exists, err := s.hasTable(ctx, "schema_migrations")
	if err != nil || !exists {
		return 0, err
	}
	rows, err := s.query(ctx, "read migrations", `SELECT version, checksum FROM schema_migrations ORDER BY version`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	at := 0
	for rows.Next() {
		var v int
		var sum string
		if err := rows.Scan(&v, &sum); err != nil {
			return 0, s.d.Fault("read migrations", err)
		}
		if v <= len(known) && known[v-1].Checksum != sum {
			return 0, fmt.Errorf("schema step %d of the database is not the one this program knows: the program or the "+
				"database was altered", v)
		}
		at = v
	}
	if err := rows.Err(); err != nil {
		return 0, s.d.Fault("read migrations", err)
	}
	if at > len(known) {
		return at, fmt.Errorf("%w: its schema is version %d and this program knows up to %d; use a newer program",
			ErrNewerSchema, at, len(known))
	}
	return at, nil
}

// Migrate brings the schema to the newest known version, each step in its own
// transaction, and creates the organization named default. An empty database gets all
// of it in one: half a schema would pass for an older version's. It is safe to run from
// several processes at once.
func Migrate(ctx context.Context, known []Migration, now func() time.Time, in Transaction) error {
	for {
		done := false
		err := in(ctx, func(s *Session) error {
			at, err := CheckSchema(ctx, s, known)
			if err != nil {
				return err
			}
			if done = at == len(known); done {
				return nil
			}
			if at == 0 {
				return create(ctx, s, known, now())
			}
			return apply(ctx, s, known[at], now())
		})
		if err != nil || done {
			return err
		}
	}
}

// create brings an empty database to the newest version.
func create(ctx context.Context, s *Session, known []Migration, now time.Time) error {
	newest := known[len(known)-1]
	if newest.Whole == "" {
		for _, m := range known {
			if err := apply(ctx, s, m, now); err != nil {
				return err
			}
		}
		return nil
	}
	if err := change(ctx, s, newest.Name, newest.Whole); err != nil {
		return err
	}
	if err := addDefaultOrganization(ctx, s, now); err != nil {
		return err
	}
	for _, m := range known {
		if err := record(ctx, s, m, now); err != nil {
			return err
		}
	}
	return nil
}

// apply runs one step.
func apply(ctx context.Context, s *Session, m Migration, now time.Time) error {
	if m.Version == 1 {
		const table = `CREATE TABLE schema_migrations (version {{int64}} NOT NULL PRIMARY KEY, name {{text}} NOT NULL, ` +
			`checksum {{text}} NOT NULL, applied_at {{int64}} NOT NULL){{strict}}`
		if err := s.Once(ctx, "change the schema", table); err != nil {
			return err
		}
	}
	if err := change(ctx, s, m.Name, m.SQL); err != nil {
		return err
	}
	if m.Version == 1 {
		if err := addDefaultOrganization(ctx, s, now); err != nil {
			return err
		}
	}
	return record(ctx, s, m, now)
}

// change runs statements of a step.
func change(ctx context.Context, s *Session, step, statements string) error {
	for _, stmt := range strings.Split(statements, ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if err := s.Once(ctx, "change the schema", stmt); err != nil {
			return fmt.Errorf("schema step %s: %w", step, err)
		}
	}
	return nil
}

// addDefaultOrganization names the columns that the first step has; the others' defaults are right for it.
func addDefaultOrganization(ctx context.Context, s *Session, now time.Time) error {
	_, err := s.exec(ctx, "make the default organization",
		`INSERT INTO organizations (id, name, suspended, created_at) VALUES (?, ?, 0, ?)`,
		string(newOrgID()), ident.DefaultOrg, micros(now))
	return err
}

// record notes that a step was taken.
func record(ctx context.Context, s *Session, m Migration, now time.Time) error {
	_, err := s.exec(ctx, "record migration",
		`INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)`,
		m.Version, m.Name, m.Checksum, micros(now))
	return err
}

func newOrgID() ident.Org {
	var b [15]byte
	rand.Read(b[:]) // never fails
	return ident.Org("org_" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:])))
}
