package mcp_test

import (
	"bytes"
	"context"
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

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	program = harness.New()
	defer program.Remove()
	return m.Run()
}

// program is the real one, built where a test asks for it.
var program *harness.Program

// needs ends a test that lacks something: loudly skipped on a developer's machine,
// a failure where everything is required.
func needs(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
		t.Fatalf("required: "+format, args...)
	}
	t.Skipf("SKIPPED, NOT TESTED: "+format, args...)
}

// outside skips what runs the real program where only the tests' own process is
// looked at, as the race detector does.
func outside(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("SHORTENED: the real program is not run because of -short")
	}
}

// clients is the folder of the clients from npm.
func clients(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("MNEME_MCP_CLIENTS")
	if dir == "" {
		dir = filepath.Join(root, ".cache", "mcp-clients")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	var pinned []byte
	for _, file := range []string{"package-lock.json", "requirements.txt"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pinned = append(pinned, b...)
	}
	switch installed, err := os.ReadFile(filepath.Join(dir, "installed")); {
	case err != nil:
		needs(t, "no MCP clients in %s; run make mcp-clients", dir)
	case !bytes.Equal(installed, pinned):
		needs(t, "the MCP clients in %s are not those that are pinned; run make mcp-clients", dir)
	}
	return dir
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
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		needs(t, "no Node.js in PATH: %v", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 22 {
		needs(t, "Node.js %s in PATH, want 22 or newer", strings.TrimSpace(string(out)))
	}
	return "node"
}

// script runs a JavaScript file of the clients' folder and gives its exit code.
func script(t testing.TB, within time.Duration, file string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return execute(t, within, node(t), append([]string{filepath.Join(clients(t), "node_modules", file)}, args...)...)
}

func execute(t testing.TB, within time.Duration, program string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir = t.TempDir() // some programs write where they stand, or into the home
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	r := harness.Run(t, cmd)
	return r.Code, r.Stdout, r.Stderr
}

// site is a data folder.
type site struct {
	t   testing.TB
	dir string
	url string // of the server that runs on it; "": none does
	key string // with every right
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{t: t, dir: filepath.Join(t.TempDir(), "data")}
	s.key = s.newKey("--name", "test")
	return s
}

// newKey makes a key of the default organization.
func (s *site) newKey(flags ...string) string {
	s.t.Helper()
	args := append([]string{"keys", "create", "--data", s.dir}, flags...)
	code, out, errs := execute(s.t, time.Minute, program.Path(s.t), args...)
	key := strings.TrimSpace(out)
	if code != 0 || key == "" {
		s.t.Fatalf("keys create gave %d: %s%s", code, out, errs)
	}
	return key
}

// serve runs the server until the end of the test.
func (s *site) serve() { s.url = s.run("serve", "--data", s.dir, "--addr", "127.0.0.1:0").URL }

func (s *site) run(args ...string) *harness.Server {
	s.t.Helper()
	server := harness.Serve(s.t, exec.Command(program.Path(s.t), args...))
	s.t.Cleanup(func() {
		if err := server.Stop(os.Interrupt); err != nil {
			s.t.Error(err)
		}
		if s.t.Failed() {
			s.t.Logf("the server's log:\n%s", clip(server.Logged(), 6000))
		}
	})
	return server
}

func (s *site) mcp() string { return s.url + "/mcp" }

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n/2] + "\n...\n" + s[len(s)-n/2:]
}
