package sqlite

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
)

var update = flag.Bool("update", false, "write bunsql/schema.sql")

// TestSchemaIsWhatTheStepsMake: the schema that an empty database gets at once is the one that the steps make of
// it one after another, to the letter, and so is what stands in its tables. -update writes it.
func TestSchemaIsWhatTheStepsMake(t *testing.T) {
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	stepped := migrated(t, func(in bunsql.Transaction) error {
		for n := range known[:len(known)-1] {
			if err := bunsql.Migrate(t.Context(), known[:n+1], time.Now, in); err != nil {
				return err
			}
		}
		return bunsql.Migrate(t.Context(), known, time.Now, in)
	})
	file := "../bunsql/schema.sql"
	if *update {
		if err := os.WriteFile(file, []byte(stepped.schema), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != stepped.schema {
		t.Fatalf("%s is not what the steps make: run this test with -update", file)
	}
	if newest := known[len(known)-1]; !*update && newest.Whole != string(kept) {
		t.Error("an empty database does not get that schema")
	}
	whole := migrated(t, func(in bunsql.Transaction) error { return bunsql.Migrate(t.Context(), known, time.Now, in) })
	if whole != stepped {
		t.Errorf("made at once it is\n%s\nby steps\n%s", whole, stepped)
	}
}

const head = "-- What the steps of migrations/ make together; written by\n" +
	"-- go test ./adapters/storage/sqlite -run TestSchemaIsWhatTheStepsMake -update\n"

// database is what a database has in it: its schema before Render, and the rows of its tables.
type database struct{ schema, rows string }

// migrated makes a database.
func migrated(t *testing.T, migrate func(bunsql.Transaction) error) database {
	t.Helper()
	pool, err := sql.Open("sqlite", source(filepath.Join(t.TempDir(), databaseFile), writing))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := bun.NewDB(pool, sqlitedialect.New()).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session := bunsql.NewSession(conn, dialect{})
	defer session.Close()
	if err := migrate(func(_ context.Context, fn func(*bunsql.Session) error) error { return fn(session) }); err != nil {
		t.Fatal(err)
	}
	return database{schema: head + neutral(statements(t, conn)), rows: contents(t, conn)}
}

// statements are those that the tables and indexes were made by, in that order.
func statements(t *testing.T, conn bun.Conn) (all []string) {
	t.Helper()
	err := conn.NewRaw(`SELECT sql FROM sqlite_schema WHERE sql <> '' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`).
		Scan(t.Context(), &all)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// contents are the rows of all tables, whatever the default organization's id is.
func contents(t *testing.T, conn bun.Conn) string {
	t.Helper()
	var tables []string
	err := conn.NewRaw(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).Scan(t.Context(), &tables)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, table := range tables {
		var rows []map[string]any
		if err := conn.NewRaw("SELECT * FROM ? ORDER BY 1", bun.Ident(table)).Scan(t.Context(), &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			fmt.Fprintln(&b, table, row)
		}
	}
	return random.ReplaceAllString(b.String(), "")
}

// random is what differs from database to database: the default organization's id, and when it was made.
var random = regexp.MustCompile(`org_[a-z2-7]{24}|\b(created_at|applied_at):\d+`)

// neutral is a schema before Render.
func neutral(statements []string) string {
	text := strings.Join(statements, ";\n\n") + ";\n"
	for _, r := range []struct{ rendered, token string }{
		{`\bINTEGER PRIMARY KEY AUTOINCREMENT\b`, "{{identity}}"},
		{`\bINTEGER\b`, "{{int64}}"}, {`\bTEXT\b`, "{{text}}"}, {`\bBLOB\b`, "{{blob}}"},
		{`\) STRICT, WITHOUT ROWID;`, "){{keyed}};"}, {`\) STRICT;`, "){{strict}};"},
	} {
		text = regexp.MustCompile(r.rendered).ReplaceAllString(text, r.token)
	}
	return text
}
