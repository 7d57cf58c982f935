package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/mnemehq/mneme/adapters/extract/remote"
	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/limit/off"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/configs"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/rerank"
)

// model has the methods of every kind and says that it does its tasks.
type model struct {
	id    string
	tasks []port.Task
}

func (m model) Info() port.ModelInfo {
	return port.ModelInfo{ID: m.id, Tasks: m.tasks, Digest: "sha256:" + m.id, Dimensions: 4, MaxTokens: 16, Runtime: "wasm"}
}
func (model) Close() error { return nil }
func (model) Figures() port.ModelFigures {
	return port.ModelFigures{Waiting: 2, Memory: 5, MaxMemory: 7, Restarts: map[port.RestartReason]int64{port.RestartMemory: 1}}
}
func (model) Embed(_ context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	return port.Dense{Dim: 4, Data: slices.Repeat([]float32{1, 0, 0, 0}, len(texts))}, nil
}
func (model) Encode(_ context.Context, _ port.TextKind, texts []string) (port.Sparse, error) {
	return port.Sparse{Rows: make([]uint32, len(texts)+1)}, nil
}
func (model) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	return make([]float32, len(texts)), 0, nil
}

// spared tells whether the model that was opened last was to spare memory.
var spared atomic.Bool

type modelConfig struct {
	Tasks []string `yaml:"tasks" help:"tasks"`
}

func components() *registry.Registry {
	r := registry.New()
	sqlite.Register(r)
	embedded.Register(r)
	off.Register(r)
	remote.Register(r)
	registry.Add(r.Model, registry.Component[port.Model, modelConfig]{
		Name:      "wasm",
		Summary:   "A test model.",
		Stability: registry.Stable,
		Default:   func() modelConfig { return modelConfig{} },
		Open: func(_ context.Context, c modelConfig, env registry.Env) (port.Model, error) {
			m := model{id: env.Name}
			spared.Store(env.Sparing)
			for _, t := range c.Tasks {
				m.tasks = append(m.tasks, port.Task(t))
			}
			return m, nil
		},
	})
	return r
}

// TestRolesGoByTask: what a model may do is what it says, whatever methods it has.
func TestRolesGoByTask(t *testing.T) {
	const models = "models:\n  e: {wasm: {tasks: [embedding]}}\n  s: {wasm: {tasks: [sparse]}}\n  r: {wasm: {tasks: " +
		"[rerank]}}\n  both: {wasm: {tasks: [sparse, rerank]}}\n"
	for roles, want := range map[string][]string{
		"{embed: e, sparse: s, rerank: r}":       nil,
		"{embed: e, sparse: both, rerank: both}": nil,
		"{embed: e, sparse: off, rerank: off}":   nil,
		"{embed: s, sparse: s, rerank: r}":       {"roles.embed", "s", "embedding", "sparse"},
		"{embed: e, sparse: e, rerank: r}":       {"roles.sparse", "e", "sparse", "embedding"},
		"{embed: e, sparse: s, rerank: e}":       {"roles.rerank", "e", "rerank", "embedding"},
		"{embed: e, sparse: r, rerank: r}":       {"roles.sparse", "r", "sparse", "rerank"},
	} {
		t.Run(roles, func(t *testing.T) {
			_, err := open(t, models+"roles: "+roles+"\n")
			check(t, err, want)
		})
	}
	_, err := open(t, models+"roles: {embed: e, sparse: s, rerank: r}\nquery: {sparse_queries: idf}\n")
	check(t, err, []string{"query.sparse_queries", "s", "word pieces"})
}

func check(t *testing.T, err error, want []string) {
	t.Helper()
	if (err != nil) != (want != nil) {
		t.Fatalf("got %v", err)
	}
	for _, w := range want {
		if !strings.Contains(fmt.Sprint(err), w) {
			t.Errorf("%q does not name %q", err, w)
		}
	}
}

func open(t *testing.T, file string) (*app.App, error) {
	t.Helper()
	return openIn(t, t.TempDir(), file)
}

func openIn(t *testing.T, dir, file string) (*app.App, error) {
	t.Helper()
	return openBounded(t, dir, file, nil)
}

// openBounded opens it where so much memory is allowed.
func openBounded(t *testing.T, dir, file string, memory memlimit.Provider) (*app.App, error) {
	t.Helper()
	return openLogged(t, dir, file, memory, slog.New(slog.DiscardHandler))
}

func openLogged(t *testing.T, dir, file string, memory memlimit.Provider, log *slog.Logger) (*app.App, error) {
	t.Helper()
	r := components()
	return openWith(t, app.Settings{
		Registry:  r,
		Config:    configured(t, r, dir, file),
		Log:       log,
		Command:   "test",
		Version:   "test",
		Telemetry: true,
		Memory:    memory,
	})
}

// configured is a configuration whose folders are those of a test.
func configured(t *testing.T, r *registry.Registry, dir, file string) *configs.Config {
	t.Helper()
	path := filepath.Join(dir, "mneme.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	c, err := configs.Load(r, configs.Source{File: path, Getenv: none, Settings: []configs.Setting{
		{Path: "data_dir", Value: filepath.Join(dir, "data")}, {Path: "cache_dir", Value: filepath.Join(dir, "cache")}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openWith opens the product until the test ends.
func openWith(t *testing.T, s app.Settings) (*app.App, error) {
	t.Helper()
	a, err := app.Open(t.Context(), s)
	if err == nil {
		t.Cleanup(func() {
			if err := a.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return a, err
}

// TestTheTextsOfARerankCallAreOneNumber: what is published is the default, and what
// may be configured is what decoding holds.
func TestTheTextsOfARerankCallAreOneNumber(t *testing.T) {
	for value, want := range map[string]any{"1": nil, "1000": nil, "0": "rerank_documents", "1001": "rerank_documents"} {
		_, err := configs.Load(components(), configs.Source{Getenv: func(string) (string, bool) { return "", false },
			Settings: []configs.Setting{{Path: "limits.rerank_documents", Value: value}}})
		if (err == nil) != (want == nil) || want != nil && !strings.Contains(err.Error(), want.(string)) {
			t.Errorf("rerank_documents %s: %v", value, err)
		}
	}
	f, _ := reflect.TypeFor[rerank.Request]().FieldByName("Documents")
	if published := fmt.Sprint(configs.Default(components()).Limits.RerankDocuments); f.Tag.Get("defaultMaxItems") != published {
		t.Errorf("published %s, by default %s", f.Tag.Get("defaultMaxItems"), published)
	}
	if f.Tag.Get("maxDecoded") != "1000" {
		t.Errorf("decoding holds %s texts", f.Tag.Get("maxDecoded"))
	}
}

// What imports may take has bounds of its own, and a default that the service has, too.
func TestTheSizeOfImportsHasBounds(t *testing.T) {
	for setting, ok := range map[string]bool{"import_mb 1": true, "import_mb 65536": true, "import_mb 0": false,
		"import_mb 65537": false, "temp_mb 0": true, "temp_mb 16777216": true, "temp_mb -1": false, "temp_mb 16777217": false} {
		name, value, _ := strings.Cut(setting, " ")
		_, err := configs.Load(components(), configs.Source{Getenv: func(string) (string, bool) { return "", false },
			Settings: []configs.Setting{{Path: "limits." + name, Value: value}}})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if n := configs.Default(components()).Limits.ImportMB; n<<20 != datasets.DefaultMaxImport {
		t.Errorf("by default %d MiB", n)
	}
}

// A folder for data sets that is not there is told when the server starts, not to the first
// who imports one.
func TestTheFolderForDataSetsIsThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{file, filepath.Join(dir, "none")} {
		if _, err := open(t, "limits: { temp_dir: "+no+" }\nroles: { embed: off, sparse: off, rerank: off }\n"); err == nil ||
			!strings.Contains(err.Error(), "limits.temp_dir") {
			t.Errorf("%s: %v", no, err)
		}
	}
	if _, err := open(t, "limits: { temp_dir: "+dir+" }\nroles: { embed: off, sparse: off, rerank: off }\n"); err != nil {
		t.Error(err)
	}
}
