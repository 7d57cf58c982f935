package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// spy is a dialect for SQLite that notes every statement, as a bun hook too.
type spy struct{ seen []string }

func (*spy) Name() string                                { return "SQLite" }
func (*spy) Context(ctx context.Context) context.Context { return ctx }
func (*spy) Prepares() bool                              { return true }

func (*spy) Unique(error) bool { return false }
func (*spy) Fault(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}

func (s *spy) Render(query string) string {
	q := strings.NewReplacer("{{share}}", "", "{{lookup}}", "", "{{found d}}", "", "{{found v}}", "", "{{found c}}", "",
		"{{each}}", "json_each(?) AS j", "{{tables}}", "sqlite_schema", "{{int64}}", "INTEGER", "{{blob}}", "BLOB",
		"{{text}}", "TEXT", "{{identity}}", "INTEGER PRIMARY KEY AUTOINCREMENT",
		"{{now}}", "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)", "{{strict}}", " STRICT", "{{keyed}}",
		" STRICT, WITHOUT ROWID").Replace(query)
	s.seen = append(s.seen, q)
	return q
}

func (*spy) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }
func (s *spy) AfterQuery(_ context.Context, e *bun.QueryEvent)                  { s.seen = append(s.seen, e.Query) }

// TestPlans: what a request runs finds its rows by an index, in the order that
// it wants them, whatever the number of end users, memories and records.
func TestPlans(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s := open(t, dir)
	p, err := memories(ctx, s, "ann")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := save(ctx, s, p, marked("a", i, 10), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", filepath.Join(dir, "mneme.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	seen := &spy{}
	conn, err := bun.NewDB(pool, sqlitedialect.New()).WithQueryHook(seen).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	session := bunsql.NewSession(conn, seen)
	defer session.Close()
	_, err = session.Write(func(w port.DocumentWriter) error {
		key := []port.ContentKey{{Container: "c"}}
		var errs []error
		list := func(l port.DocumentList) {
			l.Limit, l.Order, l.Parts = 5, port.ByCreated, port.PartText
			_, err := w.ListDocuments(ctx, p, l)
			errs = append(errs, err)
		}
		add := func(_ any, err error) {
			if f := fault.From(err); f != nil {
				err = fmt.Errorf("%w: %w", err, f.Err)
			}
			errs = append(errs, err)
		}
		add(w.Partition(ctx, p))
		add(w.Documents(ctx, p, []string{"x"}, 7))
		add(w.Documents(ctx, p, []string{"x", "y"}, 7))
		add(w.Vectors(ctx, p, []string{"x", "y"}))
		add(w.Changes(ctx, p, 0, 2))
		list(port.DocumentList{})
		list(port.DocumentList{AfterID: "x", AfterCreated: time.Now()})
		list(port.DocumentList{Container: "c"})
		list(port.DocumentList{Container: "c", AfterID: "x", AfterCreated: time.Now()})
		add(w.MemoriesByContent(ctx, p, key))
		_, err := w.Record(ctx, p, "a", "b")
		_, err2 := w.Receipt(ctx, p, "a", "b", 0)
		_, err3 := w.Receipt(ctx, p, "a", "b", 5)
		_, err4 := w.IdempotentReply(ctx, p.Org(), "int_1", "k")
		for _, err := range []error{err, err2, err3, err4} {
			if c := fault.CodeOf(err); c != fault.MemoryNotFound && c != fault.NotFound {
				errs = append(errs, err)
			}
		}
		add(0, w.PutSource(ctx, port.SourceRow{ID: "src_1", Org: p.Org(), Kind: "push", Namespace: "docs",
			Config: json.RawMessage("{}"), State: port.SourceIdle}))
		add(w.SourceItems(ctx, p.Org(), "src_1", make([][32]byte, 1)))
		add(w.SourceItems(ctx, p.Org(), "src_1", make([][32]byte, 2)))
		add(w.Records(ctx, p, "a", "b", 5))
		add(w.Receipts(ctx, p, "a", "b", 1, 5))
		add(w.Neighbors(ctx, p, []port.Position{{Container: "c", CreatedAt: time.Unix(1e9, 0), ID: "x"}}))
		add(w.ContextLinks(ctx, p, []string{"x"}, true))
		add(w.ContextLinks(ctx, p, []string{"x"}, false))
		for _, l := range []port.EndUserList{{}, {Integration: "int_1"}, {AfterID: "a"},
			{Integration: "int_1", AfterID: "a"}, {Prefix: "a", AfterID: "a"}, {Integration: "int_1", Prefix: "a"}} {
			l.Limit = 5
			add(w.EndUsers(ctx, p.Org(), l))
		}
		add(w.Erasing(ctx))
		add(w.Integration(ctx, p.Org(), "int_1"))
		add(w.IntegrationByName(ctx, p.Org(), "app"))
		add(w.Namespaces(ctx, p.Org(), "", "a", 5))
		add(0, w.TouchEndUsers(ctx, map[int64]time.Time{1: time.Now()}))
		add(0, w.DeleteIdempotentReplies(ctx, time.Unix(1, 0)))
		add(0, w.PutIdempotentReply(ctx, p.Org(), port.IdempotentReply{
			Integration: "int_1",
			Key:         "plan",
			EndUser:     "ann",
			CreatedAt:   time.Now(),
		}))
		add(0, w.PutRecord(ctx, p, port.Record{Source: "s", ExternalID: "e", Version: 1},
			port.Receipt{Source: "s", ExternalID: "e", Version: 1}))
		add(w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{marked("b", 1, 10), marked("a", 2, 10)}))
		add(0, w.PutContextLinks(ctx, p, []port.ContextLink{{ID: "mem_b-1", Context: "mem_a-2", Own: []float32{1}}}))
		_, _, _, err = w.DeleteDocuments(ctx, p, time.Now(), []string{"mem_a-1", "mem_a-2"})
		add(0, err)
		add(0, w.TrimChanges(ctx, p, 5))
		add(w.CreatePartition(ctx, port.Memories(p.Org(), "int_1", "bob"), port.PartitionRow{}))
		add(w.BeginErasure(ctx, p, time.Now()))
		for more := true; more; {
			if more, err = w.EraseMemories(ctx, p, 3); err != nil {
				return err
			}
		}
		add(w.ErasureTally(ctx, p))
		add(0, w.EndErasure(ctx, p))
		add(w.DeletePartition(ctx, port.Memories(p.Org(), "int_1", "bob")))
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	// Few rows by nature: the values of a call, or what the index of a rare state holds.
	allowed := regexp.MustCompile(`^SCAN (j VIRTUAL TABLE|o$|k$|(100 )?CONSTANT ROW|` +
		`namespaces USING (COVERING )?INDEX namespaces_erasing)`)
	sorted := regexp.MustCompile(`^USE TEMP B-TREE FOR ORDER BY`)
	slices.Sort(seen.seen)
	statements := slices.Compact(seen.seen)
	if len(statements) < 40 {
		t.Errorf("only %d statements were seen", len(statements))
	}
	for _, q := range statements {
		for _, step := range plan(t, pool, q) {
			if strings.HasPrefix(step, "SCAN ") && !allowed.MatchString(step) ||
				sorted.MatchString(step) && !strings.Contains(q, "UNION") {
				t.Errorf("%s\nof %s", step, q)
			}
			if strings.Contains(q, "key_hash") && strings.HasSuffix(step, "(source=?)") {
				t.Errorf("all items of a source are read for some of them: %s\nof %s", step, q)
			}
			if testing.Verbose() && strings.Contains(q, "documents") {
				t.Logf("%-60.60s %s", strings.ReplaceAll(q, "\n", " "), step)
			}
		}
	}
}

// What is removed of an organization, or copied when it moves, is found by its organization, whatever others have.
func TestPlansOfRemoval(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", filepath.Join(dir, "mneme.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	seen := &spy{}
	conn, err := bun.NewDB(pool, sqlitedialect.New()).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	session := bunsql.NewSession(conn, seen)
	defer session.Close()
	if _, err := session.Write(func(w port.DocumentWriter) error {
		own := w.(*bunsql.Writer)
		const moved, erased = "org_moved", "org_erased"
		for _, org := range []ident.Org{moved, erased} {
			o := port.Organization{ID: org, Name: string(org), CreatedAt: time.Unix(1, 0)}
			if err := w.PutOrganization(ctx, o); err != nil {
				return err
			}
		}
		for _, table := range bunsql.MovedTables {
			if _, err := own.MovePage(ctx, table, moved, 1, nil); err != nil {
				return err
			}
		}
		_, err := own.RemoveMoved(ctx, moved, 1, 10)
		if fault.CodeOf(err) != fault.Conflict { // its rows count
			return fmt.Errorf("what is not to be removed: %w", err)
		}
		if err := own.Stand(ctx, moved, bunsql.Elsewhere, 1); err != nil {
			return err
		}
		if _, err := own.RemoveMoved(ctx, moved, 1, 10); err != nil {
			return err
		}
		if err := w.BeginDeletion(ctx, erased, time.Unix(1, 0)); err != nil {
			return err
		}
		_, _, err = w.EraseOrganization(ctx, erased, 10)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(seen.seen)
	statements := slices.Compact(seen.seen)
	if len(statements) < len(bunsql.MovedTables) {
		t.Errorf("only %d statements were seen", len(statements))
	}
	for _, q := range statements {
		for _, step := range plan(t, pool, q) {
			// The index of a rare state holds few.
			if strings.HasPrefix(step, "SCAN ") && step != "SCAN namespaces USING INDEX namespaces_dropped" {
				t.Errorf("%s\nof %s", step, q)
			}
		}
	}
}

// plan is how SQLite runs a statement.
func plan(t *testing.T, pool *sql.DB, q string) (steps []string) {
	t.Helper()
	rows, err := pool.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+q, make([]any, strings.Count(q, "?"))...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	for rows.Next() {
		var a, b, c int
		var step string
		if err := rows.Scan(&a, &b, &c, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return steps
}
