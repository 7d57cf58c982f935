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

// Migration is one numbered step of the schema. Once released, its text never
// changes: the checksum of what was applied is kept beside its number.
type Migration struct {
	Version  int    // 1, 2, 3...
	Name     string // of its file
	SQL      string // statements before Render, each ended by ";" at a line's end
	Checksum string // SHA-256 of SQL in hex
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
// steps in one: half a schema would pass for an older version's. It is safe to run from
// several processes at once.
func Migrate(ctx context.Context, known []Migration, now func() time.Time, in Transaction) error {
	for {
		done := false
		err := in(ctx, func(s *Session) error {
			at, err := CheckSchema(ctx, s, known)
			if err != nil {
				return err
			}
			next := known[at:min(at+1, len(known))]
			if at == 0 {
				next = known
			}
			for _, m := range next {
				if err := apply(ctx, s, m, now()); err != nil {
					return err
				}
			}
			done = at+len(next) == len(known)
			return nil
		})
		if err != nil || done {
			return err
		}
	}
}

func apply(ctx context.Context, s *Session, m Migration, now time.Time) error {
	if m.Version == 1 {
		const table = `CREATE TABLE schema_migrations (version {{int64}} NOT NULL PRIMARY KEY, name {{text}} NOT NULL, ` +
			`checksum {{text}} NOT NULL, applied_at {{int64}} NOT NULL){{strict}}`
		if err := s.Once(ctx, "change the schema", table); err != nil {
			return err
		}
	}
	for _, stmt := range strings.Split(m.SQL, ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if err := s.Once(ctx, "change the schema", stmt); err != nil {
			return fmt.Errorf("schema step %s: %w", m.Name, err)
		}
	}
	if m.Version == 1 {
		// As the table is now; later steps add columns.
		const first = `INSERT INTO organizations (id, name, suspended, created_at) VALUES (?, ?, 0, ?)`
		if _, err := s.exec(ctx, "make the default organization", first, string(newOrgID()), ident.DefaultOrg,
			micros(now)); err != nil {
			return fmt.Errorf("schema step %s: %w", m.Name, err)
		}
	}
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
