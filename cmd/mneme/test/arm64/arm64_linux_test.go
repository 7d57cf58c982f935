package arm64_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// What is written, documents and memories, is there after a kill, and found by its meaning.
func TestStory(t *testing.T) {
	harness.Outside(t)
	if runtime.GOARCH == "arm64" {
		t.Skip("every other suite runs the program for ARM64 here")
	}
	emulated(t, harness.Installed(t, "qemu-aarch64"))
	s := harness.NewSite(t, `
models:
  e5-small-v2:
    wasm: {module: "builtin:e5-small-v2", timeout: 5m, start_timeout: 5m}
roles: {sparse: off, rerank: off}
timeouts: {read: 1m, query: 5m, write: 10m}
`)
	key := s.Key("--name", "test")
	app := s.Key("--type", "integration", "--name", "app")
	server := s.Serve()
	said := server.Client(t, app).OK("POST", "/api/v1/memories",
		harness.Object{"endUserId": "ann", "content": "Ann moved to Lyon."})
	server.Client(t, key).OK("POST", "/namespaces/notes/documents",
		harness.Object{"documents": []harness.Object{{"id": "lease", "text": "The lease runs until May."}}})
	server.Kill()
	if lines := server.Complaints(); len(lines) > 0 {
		t.Errorf("before its death the server logged %q", lines)
	}
	server = s.Serve()
	again := server.Client(t, app).OK("POST", "/api/v1/memories",
		harness.Object{"endUserId": "ann", "content": "Ann moved to Lyon."})
	var first, second struct {
		Memory  struct{ ID string }
		Deduped bool
	}
	said.Into(&first)
	if again.Into(&second); first.Memory.ID == "" || second.Memory != first.Memory || !second.Deduped {
		t.Errorf("a memory was saved as %s, and is\n%s", said, again)
	}
	home := server.Client(t, app).OK("POST", "/api/v1/search",
		harness.Object{"endUserId": "ann", "query": "where does she live"})
	if !strings.Contains(string(home.Body), "Ann moved to Lyon.") {
		t.Errorf("%s", home)
	}
	a := server.Client(t, key).OK("POST", "/namespaces/notes/query",
		harness.Object{"query": "when does the contract end?"})
	var found struct {
		Results []struct {
			DocumentID string `json:"document_id"`
		}
		Degraded []any
	}
	a.Into(&found)
	if len(found.Results) != 1 || found.Results[0].DocumentID != "lease" || len(found.Degraded) != 0 {
		t.Errorf("%s", a)
	}
	if err := server.Stop(os.Interrupt); err != nil {
		t.Error(err)
	}
	if lines := server.Complaints(); len(lines) > 0 {
		t.Errorf("the server logged %q", lines)
	}
}

// emulated puts the program for ARM64 in the place of this system's.
func emulated(t *testing.T, qemu string) {
	t.Helper()
	dir := t.TempDir()
	program, script := filepath.Join(dir, "program"), filepath.Join(dir, "mneme")
	cmd := exec.CommandContext(t.Context(), "go", "run", "-exec", "cp", "github.com/mnemehq/mneme/cmd/mneme", program)
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	harness.Succeed(t, cmd)
	body := fmt.Sprintf("#!/bin/sh\nexec %s -cpu max %s \"$@\"\n", qemu, program)
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	harness.Use(script)
}
