package wasm

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// vendor makes a model folder around the test module of wasm/abitest.
func vendor(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "wasm", "abitest", "testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	manifest := fmt.Sprintf(`{"name":"vendor-model","licence":"Proprietary","module":{"path":"model.wasm","sha256":"%x"}}`,
		sha256.Sum256(b))
	for name, content := range map[string][]byte{"model.wasm": b, "model.json": []byte(manifest)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// openVendor opens a module as a vendor's with settings changed.
func openVendor(t *testing.T, module string, change func(*Config)) (port.Model, error) {
	t.Helper()
	cfg := Default()
	cfg.Module, cfg.Instances = module, 1
	if change != nil {
		change(&cfg)
	}
	return openConfig(t, cfg, "")
}

// TestLoneModule: a .wasm file by itself is a model, and its pin is the file's sum.
func TestLoneModule(t *testing.T) {
	file := filepath.Join(vendor(t), "model.wasm")
	if err := os.Remove(filepath.Join(filepath.Dir(file), "model.json")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(b))
	m, err := openVendor(t, file, func(c *Config) { c.SHA256 = sum })
	if err != nil {
		t.Fatal(err)
	}
	if m.Info().Name != "hostile" {
		t.Errorf("%+v", m.Info())
	}
	b[len(b)-1]++
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openVendor(t, file, func(c *Config) { c.SHA256 = sum }); err == nil ||
		!strings.Contains(err.Error(), "pinned is "+sum) {
		t.Errorf("a changed file: %v", err)
	}
}

// TestPins: what the operator pinned or allowed less of is refused with what to do.
func TestPins(t *testing.T) {
	other := strings.Repeat("0f", 32)
	for want, c := range map[string]struct {
		module string
		change func(*Config)
	}{
		"model.json has":          {vendor(t), func(c *Config) { c.SHA256 = other }},
		"cannot be pinned":        {"builtin:e5-small-v2", func(c *Config) { c.SHA256 = other }},
		"64 hexadecimal digits":   {vendor(t), func(c *Config) { c.SHA256 = "sha256:1" }},
		"start_timeout: 1ms":      {vendor(t), func(c *Config) { c.StartTimeout = time.Millisecond }},
		"neither 0 nor between 1": {vendor(t), func(c *Config) { c.MemoryMB = 5000 }},
	} {
		if _, err := openVendor(t, c.module, c.change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestAbilities: a module that counts no tokens is no port.TokenCounter, so that
// documents are cut by estimate and writes do not fail.
func TestAbilities(t *testing.T) {
	m, err := openVendor(t, vendor(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, counts := m.(port.TokenCounter)
	_, tokenizes := m.(port.Tokenizer)
	_, embeds := m.(port.Embedder)
	if counts || tokenizes || !embeds {
		t.Errorf("counts %t, tokenizes %t, embeds %t", counts, tokenizes, embeds)
	}
	built, err := openVendor(t, Default().Module, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, counts = built.(port.TokenCounter)
	if _, tokenizes = built.(port.Tokenizer); !counts || !tokenizes {
		t.Errorf("the built-in model counts %t, tokenizes %t", counts, tokenizes)
	}
}
