package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// root is the repository.
const root = "../../../.."

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// clients is the folder of the clients.
func clients(t testing.TB) string {
	t.Helper()
	return harness.Tools{Folder: "mcp-clients", Variable: "MNEME_MCP_CLIENTS", Make: "mcp-clients",
		Pins: []string{"cmd/mneme/test/mcp/package-lock.json", "cmd/mneme/test/mcp/requirements.txt",
			"cmd/mneme/test/mcp/requirements-2.txt"}}.Path(t)
}

// node is a Node.js of version 22 or newer, which the conformance suite wants.
func node(t testing.TB) string {
	t.Helper()
	for _, arch := range []string{"x64", "arm64"} {
		path := filepath.Join(clients(t), "node_modules", "node-linux-"+arch, "bin", "node")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	out, err := exec.Command(harness.Installed(t, "node"), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 22 {
		harness.Missing(t, "Node.js %s in PATH, want 22 or newer", strings.TrimSpace(string(out)))
	}
	return "node"
}

// script runs a JavaScript file of the clients' folder to its end.
func script(t testing.TB, file string, args ...string) harness.Result {
	t.Helper()
	return execute(t, node(t), append([]string{filepath.Join(clients(t), "node_modules", file)}, args...)...)
}

func execute(t testing.TB, program string, args ...string) harness.Result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir = t.TempDir() // some programs write where they stand, or into the home
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	return harness.Run(t, cmd)
}

// site is a data folder with a key that has every right.
type site struct {
	*harness.Site
	key string
	url string // of the server that runs on it; "": none does
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{Site: harness.NewSite(t, "")}
	s.key = s.Key("--name", "test")
	return s
}

// serve runs the server until the end of the test.
func (s *site) serve(args ...string) *harness.Server {
	s.T.Helper()
	server := s.Serve(args...)
	s.T.Cleanup(func() {
		if err := server.Stop(os.Interrupt); err != nil {
			s.T.Error(err)
		}
		if s.T.Failed() {
			s.T.Logf("the server's log:\n%s", clip(server.Logged(), 6000))
		}
	})
	s.url = server.URL
	return server
}

func (s *site) mcp() string { return s.url + "/mcp" }

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n/2] + "\n...\n" + s[len(s)-n/2:]
}
