package process_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/process"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/models"
)

// vendor makes a sealed folder around a program.
func vendor(t *testing.T, program, manifest string) (dir, sum string) {
	t.Helper()
	dir = t.TempDir()
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"acme": b, "model.json": []byte(manifest), "run.sh": []byte("exec ./acme\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if sum, err = models.Seal(dir); err != nil {
		t.Fatal(err)
	}
	return dir, sum
}

// TestManifest: what a vendor's folder says is started, pinned as a whole, and refused
// where the operator, the files or the model itself disagree.
func TestManifest(t *testing.T) {
	program := build(t, "plugins/examples/go")
	here := runtime.GOOS + "/" + runtime.GOARCH
	own := fmt.Sprintf(`{"kind": "process", "name": "hashing-go", "version": "1.0", "licence": "Apache-2.0",
		"tasks": ["embedding"], "dimensions": 512, "memory_mb": 512,
		"programs": {%q: {"path": "acme"}, "none/none": {"path": "run.sh"}}}`, here)
	script := `{"kind": "process", "interpreter": "sh", "args": ["run.sh"], "files": [{"path": "run.sh"}, {"path": "acme"}]}`
	open := func(dir, sum string, change func(*process.Config)) (port.Model, error) {
		c := process.Default()
		c.Manifest, c.SHA256 = dir, sum
		if change != nil {
			change(&c)
		}
		return process.Open(context.Background(), "mine", c, slog.New(slog.DiscardHandler))
	}
	serves := func(dir, sum string, change func(*process.Config)) port.Model {
		t.Helper()
		m, err := open(dir, sum, change)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		if d, err := m.(port.Embedder).Embed(t.Context(), port.Passage, []string{"a"}); err != nil || d.Dim != 512 {
			t.Errorf("%d dimensions, %v", d.Dim, err)
		}
		return m
	}
	dir, sum := vendor(t, program, own)
	m := serves(dir, sum, nil)
	if most := m.(port.Measured).Figures().MaxMemory; most != 512<<20 {
		t.Errorf("it may take %d bytes", most)
	}
	// The same files are the same model wherever they lie, and with other words about them.
	elsewhere, other := vendor(t, program, strings.Replace(own, `"Apache-2.0"`, `""`, 1))
	if again := serves(elsewhere, "sha256:"+strings.ToUpper(other), nil); again.Info().Digest != m.Info().Digest {
		t.Errorf("%s and %s", m.Info().Digest, again.Info().Digest)
	}
	scripted, pin := vendor(t, program, script)
	if byShell := serves(scripted, pin, nil); byShell.Info().Digest == m.Info().Digest {
		t.Error("other arguments and files are the same model")
	}
	if runtime.GOOS != "windows" {
		serves(scripted, pin, func(c *process.Config) { c.Command = []string{"/bin/sh"} })
	}
	serves(scripted, "", func(c *process.Config) { c.Unverified = true })
	refused := func(what, dir, sum, want string, change func(*process.Config)) {
		t.Helper()
		m, err := open(dir, sum, change)
		if err == nil {
			_ = m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	refused("no pin", dir, "", "sha256: is required", nil)
	refused("another pin", dir, other, "pinned is "+other, nil)
	refused("too little memory", dir, sum, "takes up to 512 MB, memory_mb allows 511",
		func(c *process.Config) { c.MemoryMB = 511 })
	refused("a command", dir, sum, "it has a program of its own", func(c *process.Config) { c.Command = []string{"sh"} })
	refused("two commands", scripted, pin, "names the interpreter alone",
		func(c *process.Config) { c.Command = []string{"sh", "x"} })
	refused("an empty command", scripted, pin, "names the interpreter alone",
		func(c *process.Config) { c.Command = []string{""} })
	refused("a folder", dir, sum, "is the manifest's folder", func(c *process.Config) { c.Dir = "/" })
	refused("no manifest", t.TempDir(), sum, "model.json", nil)
	for from, to := range map[string]string{
		`"hashing-go"`: `"hashing"`, `"1.0"`: `"1.1"`, `"Apache-2.0"`: `"MIT"`, `["embedding"]`: `["embedding", "rerank"]`,
		`512,`: `256,`,
	} {
		wrong, sum := vendor(t, program, strings.Replace(own, from, to, 1))
		refused(to, wrong, sum, "model.json says", nil)
	}
	absent, sum := vendor(t, program, strings.Replace(own, here, "plan9/mips", 1))
	refused("another system", absent, sum, "has no program for "+here, nil)
	if err := os.WriteFile(filepath.Join(scripted, "run.sh"), []byte("exec ./acme #\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused("a changed file", scripted, pin, "it is not the file that was approved", nil)
	unsealed := t.TempDir()
	if err := os.WriteFile(filepath.Join(unsealed, "model.json"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	refused("unsealed", unsealed, "", "run mneme models seal", func(c *process.Config) { c.Unverified = true })
}
