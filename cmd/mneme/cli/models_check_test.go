package cli_test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// aMoment keeps the checks of these tests short.
const aMoment = "--long-run=100ms"

// TestCheckProcess: a backend is checked like any model, crash included, and CI gets
// its report as JUnit beside the text.
func TestCheckProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, out := filepath.Join(dir, "acme"), filepath.Join(dir, "report.xml")
	if b, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"../../../plugins/examples/go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	text := succeed(t, "models", "check", "--data", filepath.Join(dir, "data"), aMoment, "--format", "junit", "--out",
		out, "--process", program).Stdout
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range report.Suites[0].Cases {
		seen[c.Name] = c.Skipped == nil
	}
	if report.Failures != 0 || !seen["embedding.stable.repeat"] {
		t.Errorf("%s", b)
	}
	if runtime.GOOS == "linux" && (!seen["embedding.conduct.recovers"] || !seen["embedding.conduct.memory-flat"]) {
		t.Errorf("crash and memory were not looked at:\n%s", text)
	}
	if !strings.Contains(text, "ok    embedding.conduct.recovers") && runtime.GOOS == "linux" ||
		!strings.Contains(text, "x is against builtin:e5-small-v2") {
		t.Errorf("the text is\n%s", text)
	}
}

// TestCheckGolden: answers other than the vendor's fail the check.
func TestCheckGolden(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "golden.json")
	write(t, file, `{"sparse":[{"text":"keys","terms":{"1":1}}]}`)
	r := mneme(t, "models", "check", aMoment, "--golden", file, "builtin:splade-tiny")
	if r.Code != 1 || !strings.Contains(r.Stdout,
		"FAIL  golden.sparse: cosine to the golden terms of at least 0.99; saw 0.00000") ||
		!strings.Contains(r.Stdout, "\n1 of ") {
		t.Errorf("%+v", r)
	}
	write(t, file, `{"vectors":[]}`)
	if r := mneme(t, "models", "check", "--golden", file, "builtin:splade-tiny"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "golden.json") {
		t.Errorf("%+v", r)
	}
}

func TestCheckRefused(t *testing.T) {
	for want, c := range map[string]struct {
		code int
		args []string
	}{
		"there is no file nothing, and no model of that name in the configuration, which has e5-small-v2": {1,
			[]string{"nothing"}},
		"--format is text, json or junit":   {2, []string{"--format", "yaml"}},
		"--mtls and --env are of --process": {2, []string{"--env", "A=B"}},
		"--min-cosine is between 0 and 1":   {2, []string{"--min-cosine", "2"}},
		"FAIL  opens: the model opens":      {1, []string{"builtin:nothing"}},
		"it is not installed in":            {1, []string{"installed:nothing"}},
		"FAIL  opens: the model opens; ":    {1, []string{"--process", "./nothing"}},
		"model name \"../x\": want 1 to 64": {1, []string{"installed:../x"}},
		"no such file":                      {1, []string{"--golden", "nothing.json", "builtin:e5-small-v2"}},
		"mtls: ":                            {1, []string{"--mtls", "sometimes", "--process", "./nothing"}},
	} {
		args := append([]string{"models", "check", "--data", filepath.Join(t.TempDir(), "data")}, c.args...)
		if r := mneme(t, args...); r.Code != c.code || !strings.Contains(r.Stdout+r.Stderr, want) {
			t.Errorf("%v: %+v, want %q", c.args, r, want)
		}
	}
}

func TestBench(t *testing.T) {
	var list struct {
		Models []struct {
			Model, Digest string
			Speed         []struct {
				Task     string
				Model    map[string]any
				Baseline *struct{ Name string }
				Ratio    *struct{ P50 float64 }
			}
		}
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "mneme.yaml")
	write(t, config, "models:\n  terms: {wasm: {module: \"builtin:splade-tiny\", instances: 1, memory_mb: 256}}\n")
	if err := json.Unmarshal([]byte(succeed(t, "models", "bench", "--config", config, "--length", "600ms", "--json",
		"terms", "builtin:rerank-small").Stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Models) != 2 || list.Models[0].Model != "terms" || len(list.Models[0].Digest) != 71 ||
		len(list.Models[0].Speed) != 1 {
		t.Fatalf("%+v", list)
	}
	for _, m := range list.Models {
		for _, what := range []string{"p50_ms", "p95_ms", "calls_per_second", "passages_per_second", "memory_bytes",
			"cold_start_ms"} {
			if v, ok := m.Speed[0].Model[what].(float64); !ok || v <= 0 {
				t.Errorf("%s: %s is %v", m.Model, what, m.Speed[0].Model[what])
			}
		}
	}
	for _, args := range [][]string{{"--length", "1ms"}, {"--alone", "--against", "builtin:splade-tiny"}} {
		if r := mneme(t, append([]string{"models", "bench"}, args...)...); r.Code != 2 {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// TestBenchAgainst: a vendor's release is measured beside the one before, for the tasks that
// this one has.
func TestBenchAgainst(t *testing.T) {
	for against, compared := range map[string]bool{"builtin:splade-tiny": true, "builtin:rerank-small": false} {
		var list struct {
			Models []struct {
				Speed []struct {
					Baseline *struct{ Name string }
					Ratio    *struct {
						P50    float64 `json:"p50"`
						Memory float64 `json:"memory"`
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(succeed(t, "models", "bench", "--length", "200ms", "--json", "builtin:splade-tiny",
			"--against", against).Stdout), &list); err != nil {
			t.Fatal(err)
		}
		s := list.Models[0].Speed[0]
		if (s.Baseline != nil && s.Baseline.Name == against && s.Ratio.P50 > 0 && s.Ratio.Memory > 0) != compared {
			t.Errorf("against %s: %+v", against, s)
		}
	}
	if r := mneme(t, "models", "bench", "builtin:splade-tiny", "--against", "./gone"); r.Code == 0 ||
		!strings.Contains(r.Stderr, "./gone") {
		t.Errorf("%+v", r)
	}
}

// TestModelsList: without a server every configured model is opened by itself: one
// that is refused says why and hides no other.
func TestModelsList(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "mneme.yaml")
	write(t, config, "models:\n  gone: {wasm: {module: \"installed:gone\", memory_mb: 100}}\n  terms: {wasm: {module: "+
		"\"builtin:splade-tiny\"}}\nroles: {sparse: terms}\n")
	args := []string{"models", "list", "--data", filepath.Join(dir, "data"), "--config", config}
	r := mneme(t, args...)
	if r.Code != 1 || !strings.Contains(r.Stdout,
		"refused gone: open model gone: module installed:gone: it is not installed in ") {
		t.Errorf("%+v", r)
	}
	var list struct {
		Models []struct {
			ID, Kind, Status, From, Limits, Reason, Digest string
			Default                                        bool
		}
		Installed []any
	}
	if err := json.Unmarshal([]byte(mneme(t, append(args, "--json")...).Stdout), &list); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range list.Models {
		switch m.ID {
		case "gone":
			seen++
			if m.Status != "refused" || m.From != "wasm installed:gone" ||
				!strings.Contains(m.Limits, "memory_mb 100") || m.Reason == "" {
				t.Errorf("%+v", m)
			}
		case "terms":
			seen++
			if m.Status != "ready" || m.Kind != "sparse" || !m.Default || m.From != "wasm builtin:splade-tiny" ||
				len(m.Digest) != 71 {
				t.Errorf("%+v", m)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%+v", list)
	}
}
