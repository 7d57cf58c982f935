package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// threeModels is a configuration with a built-in model in every role.
func threeModels(t *testing.T, rerank string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mneme.yaml")
	write(t, file, `models:
  dense: {wasm: {module: "builtin:e5-small-v2", instances: 1}}
  terms: {wasm: {module: "builtin:splade-tiny", instances: 1}}
  judge: {wasm: {module: "builtin:rerank-small", instances: 1}}
roles: {embed: dense, sparse: terms, rerank: `+rerank+`}
`)
	return file
}

// TestBuiltinModels: the program lists what it carries, with what is needed to tell
// models apart.
func TestBuiltinModels(t *testing.T) {
	var list struct {
		Models []struct {
			Module, Task, Digest, License string
			Bytes                         int
		}
	}
	if err := json.Unmarshal([]byte(succeed(t, "models", "list", "--builtin", "--json").Stdout), &list); err != nil {
		t.Fatal(err)
	}
	tasks, digests := map[string]string{}, map[string]bool{}
	for _, m := range list.Models {
		tasks[m.Module], digests[m.Digest] = m.Task, true
		if m.Bytes == 0 || m.License == "" || len(m.Digest) != 71 {
			t.Errorf("%+v", m)
		}
	}
	if len(digests) != 3 || tasks["builtin:e5-small-v2"] != "embedding" || tasks["builtin:splade-tiny"] != "sparse" ||
		tasks["builtin:rerank-small"] != "rerank" {
		t.Errorf("%+v", list)
	}
	table := succeed(t, "models", "list", "--builtin").Stdout
	for name := range tasks {
		if !strings.Contains(table, name) {
			t.Errorf("the table lacks %s:\n%s", name, table)
		}
	}
}

// TestModelsOfEveryRole: check holds each configured model to its own port, and
// doctor calls each in its role.
func TestModelsOfEveryRole(t *testing.T) {
	t.Parallel()
	var checked struct {
		Reports []struct {
			Model    struct{ Name string }
			Findings []struct{ ID, Outcome, Saw string }
		}
	}
	file := threeModels(t, "judge")
	if err := json.Unmarshal([]byte(succeed(t, "models", "check", "--config", file, aMoment, "--json").Stdout),
		&checked); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range checked.Reports {
		names = append(names, r.Model.Name)
		if len(r.Findings) < 20 {
			t.Errorf("%s: %d findings", r.Model.Name, len(r.Findings))
		}
		for _, f := range r.Findings {
			if f.Outcome == "failed" {
				t.Errorf("%s: %s: %s", r.Model.Name, f.ID, f.Saw)
			}
		}
	}
	if got := strings.Join(names, " "); got != "e5-small-v2 splade-tiny rerank-small" {
		t.Errorf("checked %s", got)
	}
	out := succeed(t, "doctor", "--data", filepath.Join(t.TempDir(), "data"), "--config", file).Stdout
	for _, want := range []string{"model    dense loaded", "query embedded", "model    terms loaded", "query encoded",
		"model    judge loaded", "query scored"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor lacks %q:\n%s", want, out)
		}
	}
	r := mneme(t, "doctor", "--data", filepath.Join(t.TempDir(), "data"), "--config", threeModels(t, "terms"))
	if r.Code != 1 || !strings.Contains(r.Stdout, "terms has the role rerank, but its tasks are [sparse]") {
		t.Errorf("an encoder as reranker: %+v", r)
	}
}

// TestPackOptions: what cannot be meant is refused before anything is read.
func TestPackOptions(t *testing.T) {
	for want, args := range map[string][]string{
		"--calibration takes two numbers": {"--calibration", "1"},
		"needs --out":                     {"--task", "sparse", "--out", ""},
	} {
		r := mneme(t, append([]string{"models", "pack", t.TempDir(), "--out", filepath.Join(t.TempDir(), "x")}, args...)...)
		if r.Code == 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%v: %+v, want %q", args, r, want)
		}
	}
}

// TestListedRerankersServe: what the list of models shows as a reranker can be named in a call.
func TestListedRerankersServe(t *testing.T) {
	config := filepath.Join(t.TempDir(), "mneme.yaml")
	write(t, config, "models:\n  other: { wasm: { module: builtin:rerank-small } }\n")
	data := t.TempDir()
	s := start(t, "--data", data, "--config", config)
	key := newKey(t, data)
	status, body := call(t, "GET", s.URL+"/models?kind=rerank", key, "")
	var list struct {
		Models []struct {
			ID      string
			Default bool
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 || len(list.Models) != 2 {
		t.Fatalf("%d %s", status, body)
	}
	for _, m := range list.Models {
		status, body := call(t, "POST", s.URL+"/rerank", key, `{"query":"bread","documents":["warm bread"],"model":"`+m.ID+`"}`)
		if status != 200 || !strings.Contains(body, `"model":"`+m.ID+`"`) {
			t.Errorf("%s: %d %s", m.ID, status, body)
		}
	}
}

// TestModelsTry: a model's answers are seen without a server, and printed whole they are
// golden answers that the model passes.
func TestModelsTry(t *testing.T) {
	texts := []string{"Sneezing is typical of a cold.", "The committee approved the budget for road repairs."}
	try := func(model string, more ...string) string {
		args := append([]string{"models", "try", "--data", t.TempDir(), model, "--query", "symptoms of a cold"}, more...)
		return succeed(t, append(args, texts...)...).Stdout
	}
	for model, want := range map[string]string{"builtin:e5-small-v2": "cosine ", "builtin:splade-tiny": " terms, [",
		"builtin:rerank-small": "score "} {
		out := try(model)
		if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 3 || strings.Count(out, want) != 2 ||
			!strings.HasSuffix(lines[1], texts[0]) || !strings.Contains(lines[0], " ms") {
			t.Errorf("%s:\n%s", model, out)
		}
		var answers struct {
			Embedding []struct {
				Text   string
				Query  bool
				Vector []float64
			}
			Sparse []struct{ Terms map[string]float64 }
			Rerank []struct{ Score float64 }
		}
		if err := json.Unmarshal([]byte(try(model, "--json")), &answers); err != nil {
			t.Fatal(err)
		}
		switch e, s, r := answers.Embedding, answers.Sparse, answers.Rerank; {
		case len(e) == 3 && e[0].Query && e[0].Text == "symptoms of a cold" && !e[1].Query && len(e[2].Vector) == 384:
		case len(s) == 3 && len(s[0].Terms) > 0 && len(s[2].Terms) > 0:
		case len(r) == 2 && r[0].Score > r[1].Score:
		default:
			t.Errorf("%s: %+v", model, answers)
		}
	}
	if r := mneme(t, "models", "try", "--data", t.TempDir(), "builtin:rerank-small", "text"); r.Code != 0 ||
		!strings.Contains(r.Stdout, "needs --query") {
		t.Errorf("%+v", r)
	}
	r := mneme(t, "models", "try", "--data", t.TempDir(), "nowhere", "text")
	if r.Code == 0 || !strings.Contains(r.Stderr, "nowhere") {
		t.Errorf("%+v", r)
	}
}

// TestModelsSet: --set gives a module the settings that it declares, and what seal prints
// has those that it needs.
func TestModelsSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "acme")
	module, err := os.ReadFile(filepath.Join("..", "..", "..", "wasm", "abitest", "testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "model.wasm"), string(module))
	write(t, filepath.Join(dir, "model.json"), `{"name": "acme", "module": {"path": "model.wasm"}, "tasks": ["sparse"],
 "settings": {"sparse": {"type": "integer", "required": true}, "key": {"type": "string", "required": true, "secret": true}}}`)
	out := succeed(t, "models", "seal", dir).Stdout
	if !strings.Contains(out, `settings: { key: "${KEY}", sparse: "${SPARSE}" } } }`) {
		t.Errorf("seal prints\n%s", out)
	}
	try := func(model string, more ...string) harness.Result {
		return mneme(t, append([]string{"models", "try", "--data", t.TempDir(), model, "ok"}, more...)...)
	}
	if r := try(dir, "--set", "sparse=1", "--set", "key=a=b"); r.Code != 0 || !strings.HasPrefix(r.Stdout, "sparse, ") {
		t.Errorf("%+v", r)
	}
	for want, r := range map[string]harness.Result{
		"settings.key: is required":             try(dir, "--set", "sparse=1"),
		`did you mean "sparse"?`:                try(dir, "--set", "sparce=1"),
		"--set is NAME=VALUE":                   try(dir, "--set", "sparse"),
		"settings.a: the model has no settings": try("builtin:rerank-small", "--set", "a=1"),
	} {
		if r.Code == 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// TestBothWaysToJSON: what --json prints --format json prints, and no other format is taken.
func TestBothWaysToJSON(t *testing.T) {
	for _, args := range [][]string{{"models", "list", "--builtin"}, {"version"}, {"openapi"}} {
		want := succeed(t, append(args, "--json")...).Stdout
		if !json.Valid([]byte(want)) {
			t.Errorf("%v --json prints %.100s", args, want)
		}
		if got := succeed(t, append(args, "--format", "json")...).Stdout; got != want {
			t.Errorf("%v --format json prints %.100s", args, got)
		}
		if r := mneme(t, append(args, "--format", "xml")...); r.Code != 2 || !strings.Contains(r.Stderr, "json") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if text := succeed(t, "version", "--format", "text").Stdout; text != succeed(t, "version").Stdout {
		t.Errorf("as text: %s", text)
	}
}
