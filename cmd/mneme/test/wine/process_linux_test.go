package wine_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// running counts the processes whose command line has a text in it.
func running(t *testing.T, text string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(text)) { // it may have ended meanwhile
			n++
		}
	}
	return n
}

// TestModelProcess has a process embed, which listens on a port there and ends with the server, however that
// ends.
func TestModelProcess(t *testing.T) {
	ready(t)
	name := fmt.Sprintf("wine-test-backend-%d.exe", os.Getpid()) // others may run the same tests
	program := filepath.Join(t.TempDir(), name)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/mnemehq/mneme/plugins/examples/go")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	harness.Succeed(t, build)
	body, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	s := harness.NewSite(t, fmt.Sprintf("models: {mine: {process: {command: ['%s'], sha256: %x}}}\n"+
		"roles: {embed: mine, sparse: off, rerank: off}\n", windows(program), sha256.Sum256(body)))
	key := s.Key("--name", "test")
	for _, end := range []struct {
		name string
		do   func(*harness.Server) error
	}{
		{"Ctrl+C", func(s *harness.Server) error { return s.Stop(os.Interrupt) }},
		{"a kill", func(s *harness.Server) error { s.Kill(); return nil }},
	} {
		server := s.Serve()
		c := server.Client(t, key)
		c.OK("POST", "/namespaces/boats/documents",
			harness.Object{"documents": []harness.Object{{"id": "a", "text": "the boats lie in the harbour"}}})
		a := c.OK("POST", "/namespaces/boats/query", harness.Object{"query": "boat", "mode": "vector"})
		if !strings.Contains(string(a.Body), "harbour") {
			t.Errorf("%s", a)
		}
		if n := running(t, name); n != 1 {
			t.Errorf("%d processes of the model run", n)
		}
		if err := end.do(server); err != nil {
			t.Errorf("%s: %v", end.name, err)
		}
		harness.EventuallySees(t, "the model's process ends with "+end.name, func() (bool, string) {
			n := running(t, name)
			return n == 0, fmt.Sprint(n, " run")
		})
		if lines := server.Complaints(); len(lines) > 0 {
			t.Errorf("the server logged %q", lines)
		}
	}
}
