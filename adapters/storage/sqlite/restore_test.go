package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// Every table is in a dump, or is known not to be.
func TestDumpKnowsEveryTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	var dumped []string
	if err := s.Dump(t.Context(), func(d port.Dump) error {
		for _, table := range d.Tables() {
			dumped = append(dumped, table.Name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "mneme.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(dumped, name) == slices.Contains(bunsql.NotDumped, name) {
			t.Errorf("table %s: say in dump.go whether a backup holds it", name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// memoryDump is a dump that is made up.
type memoryDump struct {
	schema int
	tables []port.DumpTable
	rows   map[string][][]any
}

func (d memoryDump) Schema() int { return d.schema }

func (d memoryDump) Tables() []port.DumpTable { return d.tables }

func (d memoryDump) Rows(_ context.Context, table string, visit func([]byte) error) error {
	for _, values := range d.rows[table] {
		row, err := packing.AppendRow(nil, values)
		if err == nil {
			err = visit(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A backup of an older schema is restored as it was, and brought up to date; what does not fit is refused,
// and leaves nothing.
func TestRestoreOfOtherSchemas(t *testing.T) {
	t.Parallel()
	old := func() memoryDump {
		return memoryDump{
			schema: 1, tables: []port.DumpTable{
				{Name: "organizations", Columns: []string{"id", "name", "suspended", "created_at"}},
				{Name: "numbers", Columns: []string{"name", "last"}},
			},
			rows: map[string][][]any{
				"organizations": {{"org_x", "default", int64(0), int64(5)}}, "numbers": {{"namespaces", int64(7)}},
			},
		}
	}
	dir := t.TempDir()
	if err := sqlite.Restore(t.Context(), dir, sqlite.Options{}, port.Restoring{Dump: old()}); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	err := s.Update(t.Context(), func(w port.Writer) error {
		all, err := w.Organizations(t.Context())
		if err != nil || len(all) != 1 || all[0].ID != "org_x" {
			t.Errorf("organizations: %v, %v", all, err)
		}
		row, err := w.CreatePartition(t.Context(), port.Documents("org_x", "new"), port.PartitionRow{Chunker: "1"})
		if row.Generation <= 7+1000 {
			t.Errorf("a number that was given before: %d", row.Generation)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err = sqlite.Restore(t.Context(), dir, sqlite.Options{}, port.Restoring{Dump: old()})
	if !errors.Is(err, bunsql.ErrNotEmpty) {
		t.Errorf("over what is there: %v", err)
	}
	for what, spoil := range map[string]func(*memoryDump){
		"newer":         func(d *memoryDump) { d.schema = 1000 },
		"none":          func(d *memoryDump) { d.schema = 0 },
		"another table": func(d *memoryDump) { d.tables[0].Name = "sqlite_master; --" },
		"another column": func(d *memoryDump) {
			d.tables[0].Columns = []string{"id", "name", "suspended", "created_at) --"}
		},
		"a short row":  func(d *memoryDump) { d.rows["organizations"] = [][]any{{"org_x"}} },
		"a bad number": func(d *memoryDump) { d.rows["numbers"] = [][]any{{"x"}} },
		"a key of nobody": func(d *memoryDump) {
			d.tables = slices.Insert(d.tables, 1, port.DumpTable{Name: "documents", Columns: []string{"generation", "id", "seq",
				"text_hash", "metadata_hash", "chunk_count", "text_bytes", "source_id", "origin_kind", "origin_key",
				"origin_source", "created_at", "updated_at", "metadata", "layout", "text"}})
			one, none := int64(1), []byte{}
			d.rows["documents"] = [][]any{{one, "a", one, none, none, one, one, "", "", "", "", one, one, "", none, ""}}
		},
	} {
		d, dir := old(), t.TempDir()
		spoil(&d)
		if err := sqlite.Restore(t.Context(), dir, sqlite.Options{}, port.Restoring{Dump: d}); err == nil {
			t.Errorf("%s was restored", what)
		}
		if err := sqlite.Restore(t.Context(), dir, sqlite.Options{}, port.Restoring{Dump: old()}); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
	}
}
