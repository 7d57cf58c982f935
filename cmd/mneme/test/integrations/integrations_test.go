package integrations_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// root is the repository.
const root = "../../../.."

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func absolute(t *testing.T, elements ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// do runs a program to its end, which has to be a good one.
func do(t *testing.T, dir string, env []string, name string, args ...string) harness.Result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), time.Second
	return harness.Succeed(t, cmd)
}

// python are the packages, by the heading of their lines in docs/frameworks.md.
var python = map[string]string{
	"claude-memory-mneme": "Claude's memory tool (Python)",
	"haystack-mneme":      "Haystack (Python)",
	"langchain-mneme":     "LangChain (Python)",
	"llama-index-mneme":   "LlamaIndex (Python)",
	"openai-agents-mneme": "OpenAI Agents SDK (Python)",
}

func TestInstalled(t *testing.T) {
	harness.Outside(t)
	if os.Getenv("MNEME_INTEGRATIONS") == "" {
		t.Skip("SKIPPED: without MNEME_INTEGRATIONS; run make integrations-test")
	}
	packages, err := os.ReadDir(filepath.Join(root, "integrations", "python"))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range packages {
		if one.IsDir() && python[one.Name()] == "" {
			t.Errorf("integrations/python/%s is not run", one.Name())
		}
	}
	at := harness.NewSite(t, "")
	server := at.Serve()
	t.Cleanup(func() {
		if err := server.Stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		for _, line := range server.Complaints() {
			t.Errorf("the server logged %s", line)
		}
	})
	env := []string{
		"MNEME_URL=" + server.URL, "MNEME_SERVICE_KEY=" + at.Key("--name", "integrations"), "PYTHONDONTWRITEBYTECODE=1",
		"HAYSTACK_TELEMETRY_ENABLED=False",
		"MNEME_INTEGRATION_KEY=" + at.Key("--name", "integrations", "--type", "integration", "--scopes",
			"memories:read,memories:write"),
	}
	for name, heading := range python {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			installed(t, env, name, heading)
		})
	}
}

func installed(t *testing.T, env []string, name, heading string) {
	framework := absolute(t, root, ".cache/integrations", name)
	pinned, err := os.ReadFile(framework + ".installed")
	if err != nil || !bytes.Equal(pinned, read(t, filepath.Join("pins", name+".txt"))) {
		harness.Missing(t, "%s is not what is pinned; run make integration-tools", framework)
	}
	interpreter, tools := harness.Installed(t, "python3"), absolute(t, root, ".cache/sdk/python")
	source, empty := absolute(t, root, "integrations/python", name), t.TempDir()
	do(t, source, nil, filepath.Join(tools, "bin/ruff"), "check", "--no-cache", ".")
	do(t, source, nil, filepath.Join(tools, "bin/ruff"), "format", "--no-cache", "--check", ".")
	building := append([]string{"PYTHONPATH=" + tools}, env...)
	for _, one := range []string{absolute(t, root, "sdk/python"), source} {
		do(t, one, building, interpreter, "-m", "hatchling", "build", "--target", "wheel", "--directory", empty)
	}
	wheels, err := filepath.Glob(filepath.Join(empty, "*.whl"))
	if err != nil || len(wheels) != 2 {
		t.Fatalf("built %q", wheels)
	}
	do(t, empty, nil, interpreter, append([]string{
		"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-compile",
		"--root-user-action", "ignore", "--target", "site",
	}, wheels...)...)
	env = append([]string{"PYTHONPATH=" + filepath.Join(empty, "site") + string(filepath.ListSeparator) + framework}, env...)
	out := do(t, empty, env, interpreter, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "--rootdir", empty,
		"-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", filepath.Join(source, "tests"))
	tally := strings.TrimSpace(out.Stdout)
	t.Log(tally[strings.LastIndex(tally, "\n")+1:])
	lines(t, env, heading, interpreter)
}

// lines runs what docs/frameworks.md tells of a framework, in an empty folder: ten lines at most, which print what it promises.
func lines(t *testing.T, env []string, heading, interpreter string) {
	t.Helper()
	_, section, found := strings.Cut(string(read(t, filepath.Join(root, "docs/frameworks.md"))), "\n## "+heading+"\n")
	_, rest, program := strings.Cut(section, "```python\n")
	code, rest, closed := strings.Cut(rest, "\n```\n")
	_, rest, promise := strings.Cut(rest, "prints `")
	want, _, _ := strings.Cut(rest, "`")
	if !found || !program || !closed || !promise {
		t.Fatalf("docs/frameworks.md has no lines of %s, or not what they print", heading)
	}
	if n := strings.Count(code, "\n") + 1; n > 10 {
		t.Errorf("docs/frameworks.md promises ten lines of %s, and has %d", heading, n)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lines.py"), []byte(code+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := do(t, dir, env, interpreter, "lines.py"); !strings.Contains(out.Stdout, want) {
		t.Errorf("the lines of %s print %s%s", heading, out.Stdout, out.Stderr)
	}
}
