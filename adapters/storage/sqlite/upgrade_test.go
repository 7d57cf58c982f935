package sqlite_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/storetest"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// bare opens the database of a new data directory without a schema, and gives the steps
// that make one. The test calls done before another opens it.
func bare(t *testing.T, dir string) (known []bunsql.Migration, conn bun.Conn, session *bunsql.Session, done func()) {
	t.Helper()
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", filepath.Join(dir, "mneme.db"))
	if err != nil {
		t.Fatal(err)
	}
	if conn, err = bun.NewDB(pool, sqlitedialect.New()).Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	session = bunsql.NewSession(conn, &spy{})
	return known, conn, session, func() {
		t.Helper()
		if err := errors.Join(session.Close(), pool.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSchemaIsMadeWhole breaks the end of a new schema: nothing of it is left, and
// the next process that comes does not take the folder for an older version's.
func TestSchemaIsMadeWhole(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	known, conn, session, done := bare(t, dir)
	last := &known[len(known)-1]
	last.Whole += ";\nCREATE TABLE documents (id)" // there is one already
	err := bunsql.Migrate(ctx, known, time.Now, func(_ context.Context, fn func(*bunsql.Session) error) error {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		if err := fn(session); err != nil {
			_, rolledBack := conn.ExecContext(ctx, "ROLLBACK")
			return errors.Join(err, rolledBack)
		}
		_, err := conn.ExecContext(ctx, "COMMIT")
		return err
	})
	if err == nil {
		t.Fatal("the broken step was taken")
	}
	done()
	if from, _, err := sqlite.Migrate(ctx, dir, sqlite.Options{}, true); err != nil || from != 0 {
		t.Errorf("the folder is at version %d, %v", from, err)
	}
	open(t, dir)
}

// TestUpgrade opens a data directory as the first schema left it: its key and
// its namespace are as they were, can be written, and are no end user's.
func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	known, conn, session, done := bare(t, dir)
	if err := bunsql.Migrate(ctx, known[:1], time.Now,
		func(_ context.Context, fn func(*bunsql.Session) error) error { return fn(session) }); err != nil {
		t.Fatal(err)
	}
	text := "written by the first version"
	hash := sha256.Sum256([]byte(text))
	layout, err := packing.EncodeLayout([]port.Chunk{{End: len(text)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		statement string
		args      []any
	}{
		{`INSERT INTO api_keys SELECT 'key_1', id, 'laptop', 'service', ?, 'abcd', 0, '', 'docs', '[]', 'null', 1, 0, ` +
			`0, 0 FROM organizations`, []any{hash[:]}},
		{`INSERT INTO namespaces SELECT 7, id, 'ann', 0, 0, 'e5', 'sha256:aa', 384, '', '', '1', 1, 1, ?, 3, 5, 6 ` +
			`FROM organizations`, []any{len(text)}},
		{`INSERT INTO documents VALUES (7, 'a', 3, ?, ?, 1, ?, '', 'api', 'key_1', '', 5, 6, '', ?, ?)`,
			[]any{hash[:], hash[:], len(text), layout, text}},
		{`INSERT INTO vectors VALUES (7, 'a', NULL, NULL)`, nil},
		{`PRAGMA application_id = 0x4d4e454d`, nil},
	} {
		if _, err := conn.ExecContext(ctx, row.statement, row.args...); err != nil {
			t.Fatalf("%s: %v", row.statement, err)
		}
	}
	done()

	s := open(t, dir)
	p, err := memories(ctx, s, "ann")
	if err != nil {
		t.Fatal(err)
	}
	docs := port.Documents(p.Org(), "ann")
	if err := write(ctx, s, docs, versioned("b", 1)); err != nil {
		t.Fatal(err)
	}
	if err := save(ctx, s, p, marked("m", 1, 10), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.View(ctx, func(r port.Reader) error {
		k, err := r.KeyByHash(ctx, hash)
		if k.ID != "key_1" || k.Integration != "" || k.EndUser != "" {
			t.Errorf("key %+v", k)
		}
		n, err2 := r.Partition(ctx, docs)
		if n.Generation != 7 || n.Documents != 2 || n.Seq != 4 || !n.Erasing.IsZero() {
			t.Errorf("namespace %+v", n)
		}
		d, err3 := r.Documents(ctx, docs, []string{"a", "b"}, port.PartText|port.PartChunks)
		if len(d) != 2 || d[0].Text != text || d[0].Container != "" || len(d[0].Chunks) != 1 {
			t.Errorf("documents %+v", d)
		}
		users, err4 := r.EndUsers(ctx, p.Org(), port.EndUserList{Limit: 10})
		if len(users) != 1 || users[0].Generation == 7 || users[0].Memories != 1 {
			t.Errorf("end users %+v", users)
		}
		return errors.Join(err, err2, err3, err4)
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	integrity(t, dir)
}

// TestUpgradeOfJobs opens a data directory whose schema knew no jobs: the work that
// was under way then goes on.
func TestUpgradeOfJobs(t *testing.T) {
	dir := t.TempDir()
	known, _, session, done := bare(t, dir)
	if err := bunsql.Migrate(t.Context(), known[:6], time.Now,
		func(_ context.Context, fn func(*bunsql.Session) error) error { return fn(session) }); err != nil {
		t.Fatal(err)
	}
	for _, statement := range append(storetest.BeforeJobs(), `PRAGMA application_id = 0x4d4e454d`) {
		if err := session.Once(t.Context(), "prepare", statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	done()
	s := open(t, dir)
	storetest.AfterJobs(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	integrity(t, dir)
}
