package wine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// TestUpkeep backs a folder up and restores it, computes its vectors again, and erases an end user of whom
// nothing is left in any file.
func TestUpkeep(t *testing.T) {
	ready(t)
	s := harness.NewSite(t, "")
	key := s.Key("--name", "test")
	app := s.Key("--type", "integration", "--name", "app")
	server := s.Serve()
	c := server.Client(t, key)
	c.OK("POST", "/namespaces/boats/documents",
		harness.Object{"documents": []harness.Object{{"id": "a", "text": "the boats lie in the harbour"}}})
	server.Client(t, app).OK("POST", "/api/v1/memories",
		harness.Object{"endUserId": "ann", "content": "Zanzibarensis is where Ann lives."})
	backups := filepath.Join(t.TempDir(), "all my backups")
	s.Mneme("backup", "--to", windows(backups))
	if len(holding(t, s.Data, "Zanzibarensis")) == 0 {
		t.Error("what is to be erased is in no file, so nothing is seen by looking for it after")
	}
	s.Mneme("users", "erase", "ann", "--integration", "app", "--yes")
	if left := holding(t, s.Data, "Zanzibarensis"); len(left) > 0 {
		t.Errorf("what was erased is in %q", left)
	}
	if err := server.Stop(os.Interrupt); err != nil {
		t.Error(err)
	}
	if r := s.Mneme("reindex", "--all", "--force", "--yes"); !strings.Contains(r.Stdout, "boats: 1 document in 1 chunk") {
		t.Errorf("reindex says\n%s%s", r.Stdout, r.Stderr)
	}
	server = s.Serve()
	hasDocuments(t, server.Client(t, key), "boats", map[string]string{"a": "harbour"})

	bare := &harness.Site{T: t}
	bare.Mneme("backup", "verify", "--to", windows(backups))
	restored := harness.NewSite(t, "")
	bare.Mneme("restore", "--from", windows(backups), "--to", windows(restored.Data))
	again := restored.Serve()
	hasDocuments(t, again.Client(t, key), "boats", map[string]string{"a": "harbour"})
	for _, server := range []*harness.Server{server, again} {
		if lines := server.Complaints(); len(lines) > 0 {
			t.Errorf("the server logged %q", lines)
		}
	}
}

// holding are the files below a folder that have a text in them.
func holding(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if bytes.Contains(body, []byte(text)) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
