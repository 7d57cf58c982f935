package source_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/adapters/source/directory"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/source"
)

// A folder of this machine is found by queries, and a change, a rename and a deletion in it are
// followed.
func TestFolder(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folders, err := directory.New(directory.Settings{Directories: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(s *source.Settings, _ *shelf) { s.Connectors = []port.Connector{folders} })
	queries := services.Queries(f.Fixture, nil)
	first := func(words string) string {
		t.Helper()
		out, err := coretest.Call(f.ctx, queries.Query, query.Request{Namespace: "docs", Query: words})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Results) == 0 {
			return ""
		}
		var m struct{ Path string }
		if err := json.Unmarshal(out.Results[0].Metadata, &m); err != nil {
			t.Fatal(err)
		}
		return m.Path
	}
	write("hedge.txt", "The hedge is cut in February.")
	write("gate.txt", "The gate is painted in autumn.")
	config, err := json.Marshal(map[string]string{"path": root})
	if err != nil {
		t.Fatal(err)
	}
	s := f.idle(f.create(source.CreateSource{Kind: "directory", Config: config}).ID)
	f.counts("first", *s.LastRun, "completed", port.SourceCounts{Seen: 2, Created: 2})
	if got := first("hedge February"); got != "hedge.txt" {
		t.Errorf("found %q", got)
	}
	write("gate.txt", "The gate sticks in the rain.")
	if err := os.Rename(filepath.Join(root, "hedge.txt"), filepath.Join(root, "fence.txt")); err != nil {
		t.Fatal(err)
	}
	f.counts("second", f.sync(s.ID), "completed", port.SourceCounts{Seen: 2, Created: 1, Updated: 1, Deleted: 1})
	if got := first("hedge February"); got != "fence.txt" {
		t.Errorf("after the rename found %q", got)
	}
	if got := first("sticks in the rain"); got != "gate.txt" {
		t.Errorf("after the change found %q", got)
	}
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if r := f.sync(s.ID); r.Status != "failed" || r.Error == nil {
		t.Errorf("without its folder: %+v", r)
	}
	if got := f.has("docs"); len(got) != 2 {
		t.Errorf("without its folder %d documents are left", len(got))
	}
}
