package models

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/adapters/standard"
	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/plugins/modelkit"
	"github.com/mnemehq/mneme/wasm"
	"github.com/mnemehq/mneme/wasm/models"
)

const root = "../../../.."

func cached(t *testing.T, elements ...string) string {
	t.Helper()
	cache := os.Getenv("CACHE")
	if cache == "" {
		cache = filepath.Join(root, ".cache")
	}
	abs, err := filepath.Abs(filepath.Join(append([]string{cache}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// How long each task is called on end here, and at most while memory still grows, which it
// does for longer where a busy machine makes few calls; a vendor's check takes a minute.
const (
	endure = 100 * time.Millisecond
	settle = 16 * time.Second
)

// check opens a model the way of an operator's configuration, which says what is
// below models: mine:, and holds it to every check.
func check(t *testing.T, config, dataDir string, golden fs.FS, minCosine float64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mneme.yaml")
	if err := os.WriteFile(file, []byte("models:\n  mine: "+config+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := registry.New()
	standard.Register(r)
	cfg, err := configs.Load(r, configs.Source{File: file, Getenv: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		golden = nil // 200 texts are a minute's work under the race detector
	}
	c := modelkit.Candidate{Name: "mine", Golden: golden, MinCosine: minCosine, Endure: endure, Settle: settle,
		Open: func(ctx context.Context) (port.Model, error) {
			return r.Model.Open(ctx, cfg.Models["mine"], registry.Env{
				Log:      slog.New(slog.DiscardHandler),
				DataDir:  dataDir,
				CacheDir: cached(t, "compiled"),
				Name:     "mine",
				Now:      time.Now,
			})
		}}
	modelkit.Run(t, c)
}

// TestEveryComponent checks at least one model of each model component.
func TestEveryComponent(t *testing.T) {
	checks := map[string]func(t *testing.T){
		"wasm":    modules,
		"process": backends,
		"openai":  func(t *testing.T) { dialect(t, "openai", remotetest.OpenAI, "/v1", "embedding") },
		"ollama":  func(t *testing.T) { dialect(t, "ollama", remotetest.Ollama, "", "embedding") },
		"tei":     func(t *testing.T) { dialect(t, "tei", remotetest.TEI, "", "embedding", "sparse", "rerank") },
		"cohere":  func(t *testing.T) { dialect(t, "cohere", remotetest.Cohere, "", "embedding", "rerank") },
		"jina":    func(t *testing.T) { dialect(t, "jina", remotetest.Jina, "/v1", "embedding", "rerank") },
		"voyage":  func(t *testing.T) { dialect(t, "voyage", remotetest.Voyage, "/v1", "embedding", "rerank") },
	}
	r := registry.New()
	standard.Register(r)
	for _, component := range r.Model.Components() {
		run, ok := checks[component.Name]
		if !ok {
			t.Errorf("no model of component %s is checked here", component.Name)
			continue
		}
		t.Run(component.Name, run)
	}
}

// modules checks the built-in models against their references, and the example of
// each language where its tools are.
func modules(t *testing.T) {
	golden := map[string]struct {
		files     func(t *testing.T) fs.FS
		minCosine float64
	}{
		models.Default:       {goldenVectors("e5-small-v2", 384), 0.995},
		models.DefaultSparse: {goldenTerms, 0.98},
		models.DefaultRerank: {goldenScores, 0},
	}
	for _, name := range models.Builtin() {
		t.Run(name, func(t *testing.T) {
			g, ok := golden[name]
			if !ok {
				t.Fatalf("there are no golden answers for %s", name)
			}
			check(t, fmt.Sprintf(`{wasm: {module: %q}}`, name), "", g.files(t), g.minCosine)
		})
	}
	for _, language := range wasm.Languages() {
		t.Run("example in "+language, func(t *testing.T) {
			check(t, fmt.Sprintf(`{wasm: {module: %q}}`, project(t, language)), "", nil, 0)
		})
	}
}

// project builds the example of a language as a vendor does.
func project(t *testing.T, language string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds with a compiler")
	}
	lacks := harness.Missing
	if language == "rust" { // a machine that tests may lack it
		lacks = func(t testing.TB, format string, args ...any) { t.Skipf("SKIPPED, MISSING: "+format, args...) }
	}
	needs := map[string][]string{"c": {"sh"}, "go": {"go"}, "rust": {"cargo"}, "assemblyscript": {"npm", "node"}}
	for _, tool := range needs[language] {
		if _, err := exec.LookPath(tool); err != nil {
			lacks(t, "%s, for the example in %s", tool, language)
		}
	}
	files, err := wasm.Project(language, "acme")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "acme")
	for name, b := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "sh", "build.sh")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod -trimpath -buildvcs=false", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		for _, lack := range []string{"none of these is installed", "wasm32-unknown-unknown",
			"can't find crate for `core`", "ENOTCACHED", "EAI_AGAIN"} {
			if strings.Contains(string(out), lack) {
				lacks(t, "a tool of the example in %s: %s", language, out)
			}
		}
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := models.Seal(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// backends checks the example backends.
func backends(t *testing.T) {
	t.Run("example in Go", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "acme")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
			"../../../../plugins/examples/go").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		check(t, fmt.Sprintf(`{process: {command: [%q], unverified: true}}`, program), "", nil, 0)
	})
	t.Run("example in Python", func(t *testing.T) {
		python := os.Getenv("MNEME_BACKEND_PYTHON")
		if python == "" {
			python = cached(t, "backend-python", "bin", "python")
		}
		checkpoint := cached(t, "models", "e5-small-v2")
		for _, file := range []string{python, checkpoint} {
			if _, err := os.Stat(file); err != nil {
				harness.Missing(t, "%s", file)
			}
		}
		script, err := filepath.Abs(filepath.Join(root, "plugins", "examples", "python", "backend.py"))
		if err != nil {
			t.Fatal(err)
		}
		check(t, fmt.Sprintf(`{process: {command: [%q, %q, %q], unverified: true, mtls: "off", timeout: 2m}}`, python,
			script, checkpoint), "",
			goldenVectors("e5-small-v2", 384)(t), 0.995)
	})
}

// dialect checks a model of each task behind a server that keeps to a provider's protocol.
func dialect(t *testing.T, name string, serve func(testing.TB, remotetest.Options) *remotetest.Server, below string,
	tasks ...string) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			kind := map[string]string{"sparse": "sparse", "rerank": "reranker"}[task]
			server := serve(t, remotetest.Options{Key: "a-key", Dimensions: 64, Window: 128, Kind: kind})
			settings := []string{fmt.Sprintf("base_url: %q", server.URL+below), "model: m", "api_key: a-key",
				"max_input_tokens: 128"}
			if task == "embedding" {
				settings = append(settings, "dimensions: 64")
			}
			r := registry.New()
			standard.Register(r)
			info, _ := r.Model.Component(name)
			if slices.ContainsFunc(info.Fields(), func(f registry.Field) bool { return f.Name == "task" }) {
				settings = append(settings, "task: "+task)
			}
			check(t, fmt.Sprintf("{%s: {%s}}", name, strings.Join(settings, ", ")), "", nil, 0)
		})
	}
}

// TestEveryCatalogueModel pulls each model of the catalogue from a server that has
// its artifacts, and checks what was installed against the reference.
func TestEveryCatalogueModel(t *testing.T) {
	if testing.Short() {
		t.Skip("packs some 300 megabytes of weights")
	}
	references := map[string]struct {
		files     func(t *testing.T) fs.FS
		minCosine float64
	}{
		"bge-small-en-v1.5": {goldenVectors("bge-small-en-v1.5", 384), 0.995},
		// It takes int8 weights less well than the others: a row of 500 full stops is
		// at .979, regular texts above .995.
		"all-MiniLM-L6-v2": {goldenVectors("all-MiniLM-L6-v2", 384), 0.97},
		"e5-small-v2":      {goldenVectors("e5-small-v2", 384), 0.995},
		// Its passages keep twice the terms of the reference.
		"splade-tiny": {goldenTerms, 0.97},
	}
	catalogue, err := pull.Stock()
	if err != nil {
		t.Fatal(err)
	}
	// The server has the artifacts by their file names, wherever the catalogue says they lie.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, cached(t, "models", filepath.Base(r.URL.Path)))
	}))
	t.Cleanup(server.Close)
	mirror, err := pull.ParseMirror(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			g, ok := references[name]
			if !ok {
				t.Fatalf("there are no golden answers for %s", name)
			}
			for _, f := range catalogue.Models[name].Files {
				if file := cached(t, "models", filepath.Base(f.URL)); !exists(file) {
					harness.Missing(t, "%s; wasm/models/fetch.sh brings it", file)
				}
			}
			data := t.TempDir()
			in, err := (pull.Store{DataDir: data}).Pull(t.Context(), pull.Plan{Catalogue: catalogue, Mirror: mirror, Name: name})
			if err != nil {
				t.Fatal(err)
			}
			check(t, fmt.Sprintf("{wasm: {module: %q}}", in.Module), data, g.files(t), g.minCosine)
		})
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
