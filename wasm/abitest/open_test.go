package abitest

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

// source gives the built-in model as the host takes it.
func source(t testing.TB, name string) host.Module {
	t.Helper()
	s, err := models.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return host.Module{Wasm: s.Wasm, Config: s.Defaults().Config, Assets: s.Assets, Interrupt: host.Cooperative,
		Info: port.ModelInfo{Name: s.Name, Version: s.Version, Licence: s.Licence, Languages: s.Languages}}
}

// compiled keeps the code of modules that many tests open.
var compiled string

func TestMain(m *testing.M) {
	var err error
	if compiled, err = os.MkdirTemp("", "abitest-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(compiled) // the operating system's folder for such things
	os.Exit(code)
}

func open(t testing.TB, m host.Module, o host.Options) *host.Model {
	t.Helper()
	o.CacheDir = cmp.Or(o.CacheDir, compiled)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	model, err := host.Open(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	return model
}

// configured changes settings of the module's configuration.
func configured(t testing.TB, m host.Module, change map[string]any) host.Module {
	t.Helper()
	var config map[string]any
	if err := json.Unmarshal(m.Config, &config); err != nil {
		t.Fatal(err)
	}
	for k, v := range change {
		config[k] = v
	}
	b, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	m.Config = b
	return m
}

// golden reads a compressed file beside the script that made it.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "models", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
