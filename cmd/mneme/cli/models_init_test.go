package cli_test

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// vendor is a language and the programs that building in it takes.
type vendor struct {
	language string
	programs [][]string // one of each
	optional bool       // a machine that tests may lack it
	process  bool       // a process where a module is the usual
}

func vendors() []vendor {
	return []vendor{
		{language: "c", programs: [][]string{{"clang", "clang-14", "clang-16", "clang-19"},
			{"wasm-ld", "wasm-ld-14", "wasm-ld-16", "wasm-ld-19"}}},
		{language: "go", programs: [][]string{{"go"}}},
		{language: "assemblyscript", programs: [][]string{{"node"}, {"npm"}}},
		{language: "rust", programs: [][]string{{"cargo"}}, optional: true},
		{language: "python", programs: [][]string{{"python3"}}},
	}
}

// lacks says what is missing to build in the language; "" is nothing.
func (v vendor) lacks(t *testing.T) string {
	for _, alternatives := range v.programs {
		found := false
		for _, program := range alternatives {
			_, err := exec.LookPath(program)
			found = found || err == nil
		}
		if !found {
			return strings.Join(alternatives, " or ")
		}
	}
	if v.language == "rust" {
		root, err := exec.CommandContext(t.Context(), "rustc", "--print", "target-libdir", "--target",
			"wasm32-unknown-unknown").Output()
		if _, missing := os.Stat(strings.TrimSpace(string(root))); err != nil || missing != nil {
			return "the target wasm32-unknown-unknown (rustup target add wasm32-unknown-unknown)"
		}
	}
	return ""
}

// downloads tells whether building in the language needs a network.
func (v vendor) downloads() bool {
	return v.language == "assemblyscript" || v.language == "python" || v.process
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	yamlBlock  = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// hour makes a project and does what its README says: the commands of its shell
// blocks, in order. It gives the project's folder.
func hour(t *testing.T, v vendor) string {
	t.Helper()
	if missing := v.lacks(t); missing != "" {
		if os.Getenv("MNEME_TEST_REQUIRE") == "1" && !v.optional {
			t.Fatalf("building a model in %s needs %s", v.language, missing)
		}
		t.Skipf("NOT TESTED: building a model in %s needs %s", v.language, missing)
	}
	dir := filepath.Join(t.TempDir(), "acme")
	args := []string{"models", "init", "--lang", v.language, dir}
	if v.process {
		args = append(args, "--process")
	}
	out := succeed(t, args...).Stdout
	if !strings.Contains(out, "cd "+dir) {
		t.Errorf("init does not say what comes next:\n%s", out)
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if v.language == "python" { // the packages that other tests have installed will do
		if venv, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "backend-python")); err == nil {
			if _, err := os.Stat(filepath.Join(venv, "ready")); err == nil {
				if err := os.Symlink(venv, filepath.Join(dir, ".venv")); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	npm, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "npm"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(readme), -1) {
		for line := range strings.Lines(block[1]) {
			commands++
			line = strings.TrimSpace(line)
			// The long run of a check is the same promise for a moment.
			run := strings.Replace(line, "models check ", "models check "+aMoment+" ", 1)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", run)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(),
				"PATH="+filepath.Dir(harness.Program(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
				"GOWORK=off", "npm_config_cache="+npm)
			options, checks := strings.CutPrefix(run, "mneme models check ")
			if checks && (v.language == "c" || v.process) {
				inCI(t, cmd, options)
			}
			out, err := cmd.CombinedOutput()
			if err != nil && strings.HasPrefix(line, "sh build.sh") && v.downloads() && os.Getenv("MNEME_TEST_REQUIRE") != "1" {
				t.Skipf("NOT TESTED: building a model in %s, which downloads a compiler or packages: %v\n%s",
					v.language, err, out)
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
			if strings.Contains(line, "check") && !strings.Contains(string(out), "\n0 of ") {
				t.Errorf("the check says\n%s", out)
			}
			if strings.Contains(line, "check") && v.language == "c" && !strings.Contains(string(out), "ok    settings.identity") {
				t.Errorf("the check has not tried the settings:\n%s", out)
			}
		}
	}
	if commands < 2 {
		t.Errorf("README.md has %d commands, want at least build and check", commands)
	}
	return dir
}

// inCI has a check run as the step of a workflow does that uses the action for vendors.
func inCI(t *testing.T, cmd *exec.Cmd, options string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "models-check", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil || len(action.Runs.Steps) != 1 {
		t.Fatalf("the action has %d steps: %v", len(action.Runs.Steps), err)
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "..", "deploy", "models-check"))
	if err != nil {
		t.Fatal(err)
	}
	with := map[string]string{} // what a workflow gives
	if with["options"], with["model"] = options, ""; strings.HasSuffix(options, " .") {
		with["options"] = strings.TrimSuffix(options, " .")
		delete(with, "model")
	}
	step := action.Runs.Steps[0]
	for name, value := range step.Env {
		input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
		known, ok := action.Inputs[input]
		if !ok {
			t.Fatalf("%s is %q, which is no input", name, value)
		}
		given, ok := with[input]
		if !ok {
			given = known.Default
		}
		cmd.Env = append(cmd.Env, name+"="+given)
	}
	cmd.Args = []string{"sh", "-c", step.Run}
	cmd.Env = append(cmd.Env, "GITHUB_ACTION_PATH="+folder)
	t.Cleanup(func() {
		var suites struct {
			Suites []struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
			} `xml:"testsuite"`
		}
		report, err := os.ReadFile(filepath.Join(cmd.Dir, "model-check.xml"))
		if err == nil {
			err = xml.Unmarshal(report, &suites)
		}
		if err != nil || len(suites.Suites) != 1 || suites.Suites[0].Tests == 0 || suites.Suites[0].Failures != 0 {
			t.Errorf("the report has %+v: %v", suites, err)
		}
	})
}

// The step for a vendor's workflow fails where the check does.
func TestTheCheckForWorkflowsFails(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", filepath.Join("..", "..", "..", "deploy", "models-check", "check.sh"))
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(harness.Program(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
		"MODEL="+filepath.Join(t.TempDir(), "absent"), "REPORT="+filepath.Join(t.TempDir(), "report.xml"))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no file") {
		t.Errorf("a model that is not there: %v\n%s", err, out)
	}
}

// TestVendorsFirstHour: in every language a new project builds and passes the check
// with the commands of its README, the configuration that seal prints turns it on,
// and the server finds by it. The model is the same in all languages, and so are
// its answers.
func TestVendorsFirstHour(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with several compilers")
	}
	t.Parallel()
	answers := map[string]string{}
	for _, v := range vendors() {
		t.Run(v.language, func(t *testing.T) {
			dir := hour(t, v)
			var lines string
			if v.language == "python" {
				readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
				if err != nil {
					t.Fatal(err)
				}
				lines = strings.Replace(yamlBlock.FindStringSubmatch(string(readme))[1], `dir: "./acme"`, `dir: "`+dir+`"`, 1)
				lines = strings.Replace(lines, "embed: acme", "embed: acme, sparse: acme, rerank: acme", 1)
			} else {
				lines = strings.SplitAfterN(succeed(t, "models", "seal", dir).Stdout, "\n\n", 2)[1]
				if got := zipped(t, filepath.Join(dir, "acme-1.0.0.zip")); !slices.Equal(got, []string{"acme-1.0.0/concepts.txt",
					"acme-1.0.0/model.json", "acme-1.0.0/model.wasm"}) {
					t.Errorf("the release has %v", got)
				}
			}
			config := filepath.Join(t.TempDir(), "mneme.yaml")
			write(t, config, lines)
			data := t.TempDir()
			s := start(t, "--data", data, "--config", config)
			key := newKey(t, data)
			if status, body := call(t, "POST", s.URL+"/namespaces/n/documents", key,
				`{"documents":[{"id":"cold","text":"A runny nose, sneezing and a sore throat are `+
					`typical."},{"id":"roads","text":"The committee approved the budget for road repairs."}]}`); status != 200 {
				t.Fatalf("write: %d %s", status, body)
			}
			status, body := call(t, "POST", s.URL+"/namespaces/n/query", key, `{"query":"symptoms of a cold","top_k":2}`)
			var found struct {
				Results []struct {
					DocumentID string `json:"document_id"`
					Score      float64
				}
			}
			if err := json.Unmarshal([]byte(body), &found); err != nil || status != 200 || len(found.Results) == 0 {
				t.Fatalf("%d %s", status, body)
			}
			if found.Results[0].DocumentID != "cold" {
				t.Errorf("the first of %+v is not about colds", found.Results)
			}
			answers[v.language] = fmt.Sprint(found.Results)
		})
	}
	for language, a := range answers {
		for other, b := range answers {
			if a != b {
				t.Errorf("%s answers %s, %s answers %s", language, a, other, b)
			}
		}
	}
}

// TestGoProcessFirstHour: a process in Go builds from its folder alone, which needs
// nothing of the server, passes the check, and serves pinned to its sum.
func TestGoProcessFirstHour(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	t.Parallel()
	dir := hour(t, vendor{language: "go", programs: [][]string{{"go"}}, process: true})
	needed, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"wazero", "modernc.org/sqlite", "cobra"} {
		if strings.Contains(string(needed), server) {
			t.Errorf("the project needs %s", server)
		}
	}
	for _, same := range []string{"plugins/sdk/serve.go", "plugins/proto/mneme_model.pb.go", "core/port/model.go",
		"core/fault/fault.go", "core/filter/filter.go", "core/ident/ident.go"} {
		ours, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(same)))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(dir, "sdk", filepath.FromSlash(same)))
		if err != nil || string(theirs) != string(ours) {
			t.Errorf("%s is not a copy: %v", same, err)
		}
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(dir, "acme"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.NewReplacer(`"./acme/acme"`, `"`+filepath.Join(dir, "acme")+`"`, "the sum",
		fmt.Sprintf("%x", sha256.Sum256(program))).Replace(yamlBlock.FindStringSubmatch(string(readme))[1])
	config := filepath.Join(t.TempDir(), "mneme.yaml")
	write(t, config, lines)
	data := t.TempDir()
	s := start(t, "--data", data, "--config", config)
	key := newKey(t, data)
	texts := `{"documents":[{"id":"cold","text":"Sneezing is typical."},{"id":"roads","text":"The budget for road repairs."}]}`
	if status, body := call(t, "POST", s.URL+"/namespaces/n/documents", key, texts); status != 200 {
		t.Fatalf("write: %d %s", status, body)
	}
	question := `{"query":"who sneezes?","retrievers":["vector"],"top_k":1}`
	status, body := call(t, "POST", s.URL+"/namespaces/n/query", key, question)
	if status != 200 || !strings.Contains(body, `"document_id":"cold"`) {
		t.Errorf("%d %s", status, body)
	}
}

// TestInitRefused: init overwrites nothing and says what it wants.
func TestInitRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "acme")
	succeed(t, "models", "init", "--lang", "c", dir)
	for want, args := range map[string][]string{
		"needs --lang":           {dir + "2"},
		`no project in "cobol"`:  {"--lang", "cobol", dir + "2"},
		"exists already":         {"--lang", "c", dir},
		`no process in "c"`:      {"--lang", "c", "--process", dir + "2"},
		`cannot be named "Über"`: {"--lang", "c", filepath.Join(t.TempDir(), "Über")},
		`cannot be named "a b"`:  {"--lang", "c", "--name", "a b", dir + "2"},
	} {
		if r := mneme(t, append([]string{"models", "init"}, args...)...); r.Code == 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%v: %+v, want %q", args, r, want)
		}
	}
	if r := mneme(t, "models", "seal", dir); r.Code == 0 || !strings.Contains(r.Stderr, "model.wasm") {
		t.Errorf("sealing before building: %+v", r)
	}
}
