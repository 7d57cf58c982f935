package models_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/wasm/models"
)

// backend is the folder of a model that runs as a process.
func backend(t *testing.T, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"model.json": manifest, "linux/acme": "one", "darwin/acme": "two",
		"weights": "three"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const programs = `{"kind": "process", "name": "acme", "tasks": ["embedding"], "args": ["-x"],
 "programs": {"linux/amd64": {"path": "linux/acme"}, "darwin/arm64": {"path": "darwin/acme"}}, "files": [{"path": "weights"}]}`

// TestProcess: a sealed manifest names every file with its sum, and tells when one is another.
func TestProcess(t *testing.T) {
	dir := backend(t, programs)
	if !models.IsProcess(dir) || models.IsProcess(t.TempDir()) {
		t.Error("kind")
	}
	sum, err := models.Seal(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := models.ReadProcess(dir)
	if err != nil || p.SHA256 != sum || p.Name != "acme" || len(p.All()) != 3 || p.All()[2].Path != "weights" {
		t.Fatalf("%+v, %v", p, err)
	}
	if again, err := models.Seal(dir); err != nil || again != sum {
		t.Errorf("sealed again: %s, %v", again, err)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if a, own, err := p.Program("darwin/arm64"); err != nil || !own || a.Path != "darwin/acme" || len(a.SHA256) != 64 {
		t.Errorf("%+v, %v, %v", a, own, err)
	}
	if _, own, err := p.Program("plan9/386"); !own || err == nil ||
		!strings.Contains(err.Error(), "only for darwin/arm64, linux/amd64") {
		t.Errorf("%v", err)
	}
	before := p.Identity()
	renamed := p
	renamed.Name, renamed.Licence, renamed.MemoryMB = "other", "MIT", 7
	if renamed.Identity() != before {
		t.Error("a name made another model")
	}
	for what, change := range map[string]func(*models.Process){
		"argument":    func(p *models.Process) { p.Args = []string{"-y"} },
		"file":        func(p *models.Process) { p.Files = []models.Asset{{Path: "weights", SHA256: "00"}} },
		"interpreter": func(p *models.Process) { p.Interpreter = "python3" },
		"program": func(p *models.Process) {
			p.Programs = map[string]models.Asset{"linux/amd64": {Path: "x", SHA256: "00"}}
		},
	} {
		other := p
		if change(&other); other.Identity() == before {
			t.Errorf("another %s made the same model", what)
		}
	}
	for _, name := range []string{"weights", "linux/acme", "darwin/acme"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("changed"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), name+": sha256 is") {
			t.Errorf("%s was changed: %v", name, err)
		}
		if err := os.WriteFile(file, old, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "weights")); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "weights") {
		t.Errorf("%v", err)
	}
	if _, err := models.Seal(dir); err == nil || !strings.Contains(err.Error(), "weights") {
		t.Errorf("%v", err)
	}
	if _, err := models.Open(dir); err == nil || !strings.Contains(err.Error(), "process: {manifest: ...}") {
		t.Errorf("opened as a module: %v", err)
	}
	p.Interpreter = "python3"
	if _, own, err := p.Program("plan9/386"); own || err != nil {
		t.Errorf("%v, %v", own, err)
	}
}

// TestProcessRefused: a manifest that cannot be meant says what is wrong with it.
func TestProcessRefused(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"kind": "process"}`: "either programs, or the interpreter",
		`{"kind": "process", "interpreter": "a", "programs": {"a/b": {"path": "x"}}}`:      "either programs, or the interpreter",
		`{"kind": "process", "interpreter": "/usr/bin/python3"}`:                           "is a path",
		`{"kind": "process", "programs": {"linux": {"path": "x"}}}`:                        "no system such as linux/amd64",
		`{"kind": "process", "programs": {"a/b": {"path": "../x"}}}`:                       `"../x" is none inside the folder`,
		`{"kind": "process", "programs": {"a/b": {}}}`:                                     `"" is none inside the folder`,
		`{"kind": "process", "interpreter": "a", "files": [{"path": "x"}, {"path": "x"}]}`: `"x" twice`,
		`{"kind": "process", "interpreter": "a", "mtls": "on"}`:                            "not auto or off",
		`{"kind": "process", "interpreter": "a", "memory_mb": -1}`:                         "memory_mb: -1",
		`{"kind": "process", "interpreter": "a", "memory_mb": 16777217}`:                   "memory_mb: 16777217",
		`{"kind": "process", "interpreter": "a", "dimensions": -1}`:                        "dimensions: -1",
		`{"kind": "process", "interpreter": "a", "command": ["x"]}`:                        `unknown field "command"`,
		`{"kind": "process", "interpreter": "a"} {}`:                                       "behind the object",
		`{"module": {"path": "model.wasm"}}`:                                               "wasm: {module: ...}",
	} {
		if _, err := models.ReadProcess(backend(t, manifest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", manifest, err, want)
		}
	}
	if _, err := models.Open(backend(t, `{"kind": "other", "module": {"path": "x"}}`)); err == nil ||
		!strings.Contains(err.Error(), `kind: "other" is not module or process`) {
		t.Errorf("%v", err)
	}
	if _, err := models.ReadProcess(t.TempDir()); err == nil {
		t.Error("read nothing")
	}
}
