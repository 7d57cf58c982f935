package wasm

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

func openConfig(t *testing.T, cfg Config, cacheDir string) (port.Model, error) {
	t.Helper()
	m, err := Open(t.Context(), cfg, cacheDir, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return m, err
}

// TestBuiltin: the default embeds, tells sense from nonsense and counts tokens.
func TestBuiltin(t *testing.T) {
	cache := t.TempDir()
	cfg := Default()
	cfg.Instances = 1
	m, err := openConfig(t, cfg, cache)
	if err != nil {
		t.Fatal(err)
	}
	embedder, ok := m.(port.Embedder)
	if !ok {
		t.Fatalf("%T does not embed", m)
	}
	if info := m.Info(); info.ID != "e5-small-v2" || info.Dimensions != 384 || info.MaxTokens != 512 || info.Licence != "MIT" {
		t.Errorf("info %+v", info)
	}
	q, err := embedder.Embed(t.Context(), port.Query, []string{"how do I reset my password?"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := embedder.Embed(t.Context(), port.Passage, []string{
		"The harbour was rebuilt after the storm of 1953.",
		"To choose a new password, open Settings, then Security, and press Forgot password.",
		"Bread rises because yeast turns sugar into gas.",
	})
	if err != nil {
		t.Fatal(err)
	}
	best, at := math.Inf(-1), -1
	for i := range 3 {
		dot := 0.0
		for c, x := range p.Row(i) {
			dot += float64(x) * float64(q.Row(0)[c])
		}
		if dot > best {
			best, at = dot, i
		}
	}
	if at != 1 {
		t.Errorf("the nearest passage is %d, want 1", at)
	}
	n, err := m.(port.TokenCounter).CountTokens(t.Context(), []string{"", "unbelievable!", "a b"})
	if err != nil {
		t.Fatal(err)
	}
	if n[0] != 0 || n[1] != 2 || n[2] != 2 {
		t.Errorf("tokens %d", n)
	}
	if files, _ := filepath.Glob(filepath.Join(cache, "*")); len(files) == 0 {
		t.Error("nothing was kept in the compile cache")
	}
}

// ask is a question with a text that answers it, last of three.
const ask = "how do I reset my password?"

func answers() []string {
	return []string{
		"The harbour was rebuilt after the storm of 1953.",
		"Bread rises because yeast turns sugar into gas.",
		"To choose a new password, open Settings, then Security, and press Forgot password.",
	}
}

// builtinOf opens a built-in model of a task, which is the only one it says it has.
func builtinOf(t *testing.T, name string, task port.Task) port.Model {
	t.Helper()
	cfg := Default()
	cfg.Module, cfg.Instances = name, 1
	m, err := openConfig(t, cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	if info := m.Info(); !slices.Equal(info.Tasks, []port.Task{task}) || info.Dimensions != 0 ||
		info.MaxTokens != 512 || info.Licence == "" {
		t.Errorf("info %+v", info)
	}
	if _, err := m.(port.Embedder).Embed(t.Context(), port.Query, []string{"x"}); err == nil {
		t.Error("it embeds")
	}
	return m
}

// TestBuiltinDigests: a model that is built in says what is computed of it, in which
// namespaces that it has made know it.
func TestBuiltinDigests(t *testing.T) {
	for _, name := range models.Builtin() {
		s, err := models.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want := host.Module{Wasm: s.Wasm, Config: s.Config, Assets: s.Assets}.Digest()
		if s.Digest != want {
			t.Errorf("the digest of %s in wasm/models/models.go has to be %s", name, want)
		}
		cfg := Default()
		cfg.Module, cfg.Instances = name, 1
		m, err := openConfig(t, cfg, "")
		if err != nil {
			t.Fatal(err)
		}
		if said := m.Info().Digest; said != want {
			t.Errorf("%s says that its digest is %s, not %s", name, said, want)
		}
	}
}

// TestBuiltinSparse: the built-in sparse encoder finds the answer, whose terms it
// bounds and keeps in order.
func TestBuiltinSparse(t *testing.T) {
	m := builtinOf(t, models.DefaultSparse, port.TaskSparse).(port.SparseEncoder)
	q, err := m.Encode(t.Context(), port.Query, []string{ask})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Encode(t.Context(), port.Passage,
		append(answers(), strings.Repeat("many different words make many different terms; keys, storms and bread among them. ",
			30)))
	if err != nil {
		t.Fatal(err)
	}
	weight := map[uint32]float32{}
	for i, term := range q.Terms {
		weight[term] = q.Weights[i]
	}
	best, at := float32(-1), -1
	for i := range 4 {
		terms, sum := p.Terms[p.Rows[i]:p.Rows[i+1]], float32(0)
		for j, term := range terms {
			sum += weight[term] * p.Weights[int(p.Rows[i])+j]
		}
		if sum > best {
			best, at = sum, i
		}
		if !slices.IsSorted(terms) || len(terms) == 0 || len(terms) > 128 {
			t.Errorf("text %d has terms %d", i, terms)
		}
	}
	if at != 2 {
		t.Errorf("the nearest passage is %d, want 2", at)
	}
}

// TestBuiltinRerank: the built-in reranker scores the answer highest and above a
// text about nothing of the kind by far.
func TestBuiltinRerank(t *testing.T) {
	m := builtinOf(t, models.DefaultRerank, port.TaskRerank).(port.Reranker)
	p, truncated, err := m.Score(t.Context(), ask, append(answers(), strings.Repeat("and so on ", 600)))
	if err != nil {
		t.Fatal(err)
	}
	if truncated != 1 {
		t.Errorf("%d truncated, want 1", truncated)
	}
	for words, want := range map[int]bool{2: false, 300: false, 506: false, 511: true, 4000: true} {
		query := strings.Repeat("dog ", words)
		if cut, err := m.(port.QueryCutter).CutsQuery(t.Context(), query); err != nil || cut != want {
			t.Errorf("a query of %d words is cut: %t, %v", words, cut, err)
		}
	}
	for i, x := range p {
		if !(x >= 0 && x <= 1) || i != 2 && x >= p[2] {
			t.Errorf("scores %v, want the third highest", p)
		}
	}
}

// TestHelpNamesBuiltins holds the help text to the models that there are.
func TestHelpNamesBuiltins(t *testing.T) {
	f, _ := reflect.TypeFor[Config]().FieldByName("Module")
	for _, name := range models.Builtin() {
		if !strings.Contains(f.Tag.Get("help"), name) {
			t.Errorf("the help of module does not name %s", name)
		}
	}
}

// TestCancel: cancelling a long call returns the caller's error and leaves the model usable.
func TestCancel(t *testing.T) {
	cfg := Default()
	cfg.Instances = 1
	m, err := openConfig(t, cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	e := m.(port.Embedder)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	long := make([]string, 200)
	for i := range long {
		long[i] = strings.Repeat("a long passage of text ", 100)
	}
	if _, err := e.Embed(ctx, port.Passage, long); fault.CodeOf(err) != fault.Timeout {
		t.Fatalf("got %v, want a timeout", err)
	}
	if _, err := e.Embed(t.Context(), port.Passage, []string{"still here"}); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"unknown":     {func(c *Config) { c.Module = "builtin:gpt" }, "no such built-in model; there is builtin:e5-small-v2"},
		"absent":      {func(c *Config) { c.Module = filepath.Join(dir, "nothing") }, "no such file"},
		"not a pack":  {func(c *Config) { c.Module = file("x.safetensors", "hello, world") }, "safetensors"},
		"no manifest": {func(c *Config) { c.Module = dir }, "model.json"},
		"wrong sum": {func(c *Config) {
			file("v/a.wasm", "x")
			c.Module = filepath.Dir(file("v/model.json", `{"module":{"path":"a.wasm","sha256":"00"}}`))
		}, "sha256"},
		"escape": {func(c *Config) { c.Module = filepath.Dir(file("w/model.json", `{"module":{"path":"../a.wasm"}}`)) },
			"leaves the folder"},
		"instances": {func(c *Config) { c.Instances = -1 }, "instances"},
		"memory":    {func(c *Config) { c.MemoryMB = 1 }, "memory_mb"},
		"timeout":   {func(c *Config) { c.Timeout = 0 }, "timeout"},
		"empty":     {func(c *Config) { c.Module = "" }, "module"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Default()
			c.change(&cfg)
			if _, err := openConfig(t, cfg, ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestVendorFolder opens a module of its own with model.json.
func TestVendorFolder(t *testing.T) {
	m, err := openConfig(t, func() Config { c := Default(); c.Module = vendor(t); c.Instances = 1; return c }(), "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.(port.Embedder).Embed(t.Context(), port.Passage, []string{"ok"})
	if err != nil || len(d.Data) != 4 {
		t.Fatalf("%+v, %v", d, err)
	}
	if info := m.Info(); info.Name != "vendor-model" || info.Licence != "Proprietary" || info.Dimensions != 4 {
		t.Errorf("info %+v", info)
	}
}

// TestSparing: where there is little memory, a model that may never be called holds none until it
// is, and answers as ever; the embedder is at hand.
func TestSparing(t *testing.T) {
	shared := host.NewShared()
	of := func(module string, sparing bool) interface {
		port.Model
		port.SparseEncoder
		Memory() (used, ceiling int64)
	} {
		cfg := Default()
		cfg.Module, cfg.Instances = module, 1
		m, err := open(t.Context(), registry.Env{Log: slog.New(slog.DiscardHandler), Sparing: sparing}, cfg, shared)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		return m.(interface {
			port.Model
			port.SparseEncoder
			Memory() (used, ceiling int64)
		})
	}
	m := of(models.DefaultSparse, true)
	if used, _ := m.Memory(); used != 0 || shared.Bytes() != 0 {
		t.Errorf("before a call it holds %d bytes, and %d of layers", used, shared.Bytes())
	}
	if got := m.Info(); !slices.Equal(got.Tasks, []port.Task{port.TaskSparse}) {
		t.Errorf("it says of itself %+v", got)
	}
	texts := []string{"the parcel arrived crushed", "bread rises"}
	got, err := m.Encode(t.Context(), port.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	if used, _ := m.Memory(); used == 0 {
		t.Error("after a call it holds nothing")
	}
	plain := of(models.DefaultSparse, false)
	if used, _ := plain.Memory(); used == 0 {
		t.Error("where there is memory, it waits for a call")
	}
	if want, err := plain.Encode(t.Context(), port.Passage, texts); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("it answers otherwise: %v", err)
	}
	if used, _ := of(models.Default, true).Memory(); used == 0 {
		t.Error("the embedder waits for a call")
	}
}
