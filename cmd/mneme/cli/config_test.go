package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// The reference page and the schema are made from the structs of the stock
// binary; -update writes them.
func TestReferenceIsCurrent(t *testing.T) {
	for name, args := range map[string][]string{
		"config.md":   {"config", "reference"},
		"schema.json": {"config", "reference", "--schema"},
	} {
		got := succeed(t, args...).Stdout
		path := filepath.Join("..", "..", "..", "configs", "reference", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("configs/reference/%s is out of date; go test ./cmd/mneme/cli -run Reference -update writes it", name)
		}
	}
}

func TestExamplesHaveNoProblems(t *testing.T) {
	files, err := filepath.Glob("../../../configs/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	variables := regexp.MustCompile(`\$\{([A-Z_]+)\}`) // keys, which have no default
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variables.FindAllStringSubmatch(string(body), -1) {
			t.Setenv(v[1], "a-key")
		}
		if r := mneme(t, "config", "lint", file); r.Code != 0 {
			t.Errorf("%s:\n%s%s", file, r.Stdout, r.Stderr)
		}
	}
}

func TestLaptopExampleIsTheDefault(t *testing.T) {
	file := "../../../configs/examples/laptop.yaml"
	if got, want := succeed(t, "config", "show", "--config", file).Stdout, succeed(t, "config", "show").Stdout; got != want {
		t.Errorf("%s comes to\n%s\nthe default is\n%s", file, got, want)
	}
}

func TestLintReportsEveryProblem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(file, []byte("sever: {}\nquery: { candidates: 1 }\nvector: { embedded: { keyword: { k1: 99 } } }\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	r := mneme(t, "config", "lint", file)
	if r.Code != 1 {
		t.Errorf("exit code %d, want 1", r.Code)
	}
	want := file + `:1:1: sever: unknown key; did you mean "server"?
` + file + `:2:10: query.candidates: 1 is not between 10 and 1000
` + file + ":3:34: vector.embedded.keyword.k1: 99 is not between 0 and 10\n"
	if r.Stdout != want {
		t.Errorf("got\n%swant\n%s", r.Stdout, want)
	}
	if r := mneme(t, "serve", "--config", file, "--data", t.TempDir()); r.Code != 1 || !strings.Contains(r.Stderr, "3 problems") {
		t.Errorf("serve with the same file: code %d, %s", r.Code, r.Stderr)
	}
}

func TestSettingsOverride(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mneme.yaml")
	if err := os.WriteFile(file, []byte("data_dir: from-file\nserver: { addr: \"127.0.0.1:1\" }\nlog: { level: error }\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	r := mnemeIn(t, dir, []string{"MNEME_CONFIG=" + file, "MNEME_ADDR=127.0.0.1:2", "MNEME_LOG_LEVEL=warn"}, "config",
		"show", "--log-level", "debug")
	for _, want := range []string{"data_dir: from-file\n", "addr: 127.0.0.1:2\n", "level: debug\n"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("shown configuration lacks %q:\n%s%s", want, r.Stdout, r.Stderr)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"nonsense"}, {"serve", "--nonsense"}, {"serve", "argument"}, {"query", "only-namespace"}, {"keys"}, {"keys", "lose"},
		{"import", "."}, {"query", "ns", "text", "--weights", "vector"}, {"query", "ns", "text", "--filter", "{"},
		{"query", "ns", "text", "--url", "http://127.0.0.1:1"}, {"keys", "create", "--expires", "-1h"}, {"eval"},
		{"eval", "x", "--users", "y"},
	} {
		r := mneme(t, append(args, "--data", filepath.Join(t.TempDir(), "none"))...)
		if r.Code != 2 || r.Stdout != "" || !strings.HasPrefix(r.Stderr, "mneme: ") {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, r.Code, r.Stdout, r.Stderr)
		}
	}
}

func TestHelpOfEveryCommandHasAnExample(t *testing.T) {
	t.Parallel()
	var walk func(path []string)
	walk = func(path []string) {
		help := succeed(t, append(path, "--help")...).Stdout
		_, list, hasChildren := strings.Cut(help, "Commands:\n")
		if len(path) == 0 {
			_, list, hasChildren = strings.Cut(help, "Run a server:\n")
		}
		if !hasChildren {
			if !strings.Contains(help, "Examples:\n") {
				t.Errorf("%v: no example", path)
			}
			return
		}
		list, _, _ = strings.Cut(list, "\nFlags:")
		for line := range strings.Lines(list) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.HasPrefix(line, "  ") && name != "help" && name != "completion" && !strings.HasPrefix(line, "   ") {
				walk(append(path[:len(path):len(path)], name))
			}
		}
	}
	walk(nil)
}

func TestVersion(t *testing.T) {
	if flag, command := succeed(t, "--version").Stdout, succeed(t, "version").Stdout; flag != command {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
	if out := succeed(t, "version").Stdout; !strings.HasPrefix(out, "mneme ") || !strings.Contains(out, "\ncommit ") ||
		!strings.Contains(out, "\ngo1.") {
		t.Errorf("version says %q", out)
	}
}

// A file can be checked where its secrets are not; what is not checked is named.
func TestLintWithoutSecrets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mneme.yaml")
	body := "storage: {postgres: {dsn: \"${MNEME_TEST_ABSENT}\"}}\nkeyword: {meilisearch: {url: http://127.0.0.1:7700, " +
		"api_key: \"${file:" + filepath.Join(dir, "absent") + "}\"}}\n"
	write(t, file, body)
	lint := func(args ...string) harness.Result {
		return mneme(t, append([]string{"config", "lint", file}, args...)...)
	}
	if r := lint(); r.Code != 1 || strings.Count(r.Stdout, file) != 2 {
		t.Errorf("with secrets: %+v", r)
	}
	r := lint("--without-secrets")
	if r.Code != 0 || r.Stdout != "" || !strings.Contains(r.Stderr, "storage.postgres.dsn: not checked: ${MNEME_TEST_ABSENT}") ||
		!strings.Contains(r.Stderr, "keyword.meilisearch.api_key: not checked: ${file:") {
		t.Errorf("without secrets: %+v", r)
	}
	// What is there is checked all the same.
	write(t, file, body+"limits: {read: 100/day}\nserver: {adr: x}\n")
	r = lint("--without-secrets")
	if r.Code != 1 || strings.Count(r.Stdout, "\n") != 2 || !strings.Contains(r.Stdout, "(s, min, h)") ||
		!strings.Contains(r.Stdout, "unknown key") {
		t.Errorf("other problems: %+v", r)
	}
	write(t, file, "server:\n\taddr: 127.0.0.1:8080\n")
	if r := lint(); r.Code != 1 || !strings.Contains(r.Stdout, ":2:1: ") || !strings.Contains(r.Stdout, "indent with spaces") {
		t.Errorf("a tab: %+v", r)
	}
	write(t, file, "server: [\n")
	if r := lint(); r.Code != 1 || strings.Contains(r.Stdout, "spaces") {
		t.Errorf("no tab: %+v", r)
	}
}

// TestConfigHidesModelSettings: show prints no value of a model's own settings, of which any
// may be secret, and takes them in every form that YAML has for a scalar.
func TestConfigHidesModelSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mneme.yaml")
	write(t, file, "models: { acme: { wasm: { module: ./acme, settings: { key: geheim, share: 0.125, fold: true } } } }\n")
	out := succeed(t, "config", "show", "--config", file).Stdout
	if strings.Contains(out, "geheim") || strings.Contains(out, "0.125") || strings.Count(out, "<redacted>") != 3 ||
		!strings.Contains(out, "share: <redacted>") {
		t.Errorf("it shows\n%s", out)
	}
}

func TestConfigurationIsAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r := mneme(t, "serve", "--config", dir, "--data", filepath.Join(dir, "data")); r.Code != 1 ||
		!strings.Contains(r.Stderr, dir+" is a folder; name the file in it") {
		t.Errorf("a folder for a configuration: %d, %q", r.Code, r.Stderr)
	}
	if r := mneme(t, "serve", "--config", filepath.Join(dir, "none")); r.Code != 1 ||
		!strings.Contains(r.Stderr, "name a file that is there with --config or MNEME_CONFIG") {
		t.Errorf("no configuration: %d, %q", r.Code, r.Stderr)
	}
}
