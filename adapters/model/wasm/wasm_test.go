package wasm

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
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
		"escape":    {func(c *Config) { c.Module = filepath.Dir(file("w/model.json", `{"module":{"path":"../a.wasm"}}`)) }, "leaves the folder"},
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
