package wasm

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// declaring is a vendor's folder whose model.json has more members.
func declaring(t *testing.T, more string) string {
	t.Helper()
	dir := vendor(t)
	file := filepath.Join(dir, "model.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(bytes.TrimSuffix(b, []byte("}")), ", "+more+"}"...), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func given(pairs ...string) func(*Config) {
	return func(c *Config) {
		c.Settings = map[string]registry.Secret{}
		for i := 0; i < len(pairs); i += 2 {
			c.Settings[pairs[i]] = registry.Secret(pairs[i+1])
		}
	}
}

// TestSettingsReachTheModule: what an operator sets is handed over beside config and counts
// for the identity where model.json says so.
func TestSettingsReachTheModule(t *testing.T) {
	dir := declaring(t, `"config": {"rerank": 1}, "settings": {"embedding": {"type": "integer", "default": 1},
 "sparse": {"type": "integer"}, "secret": {"type": "string", "secret": true},
 "note": {"type": "string", "identity": false}}`)
	open := func(pairs ...string) port.ModelInfo {
		t.Helper()
		m, err := openVendor(t, dir, given(pairs...))
		if err != nil {
			t.Fatal(err)
		}
		return m.Info()
	}
	usual := open()
	if !slices.Equal(usual.Tasks, []port.Task{port.TaskEmbed, port.TaskRerank}) {
		t.Errorf("by default it does %v", usual.Tasks)
	}
	other := open("sparse", "1", "embedding", "0")
	if !slices.Equal(other.Tasks, []port.Task{port.TaskSparse, port.TaskRerank}) || other.Digest == usual.Digest {
		t.Errorf("with other settings it does %v and is %s", other.Tasks, other.Digest)
	}
	if same := open("embedding", "1", "note", "anything", "secret", "hidden"); same.Digest != usual.Digest {
		t.Error("what doesn't count makes another model")
	}
}

// TestSettingsRefused: settings that the model does not take are named by their path in the
// configuration, with the one that was meant.
func TestSettingsRefused(t *testing.T) {
	dir := declaring(t, `"settings": {"licence_key": {"type": "string", "secret": true, "required": true},
 "share": {"type": "number", "maximum": 1}}`)
	for want, pairs := range map[string][]string{
		`models.acme.wasm.settings.license_key: the model has no such setting; did you mean "licence_key"?`: {
			"license_key", "top-secret", "licence_key", "x"},
		"models.acme.wasm.settings.quite_other: the model has no such setting; it has licence_key, share": {"quite_other", "1"},
		"models.acme.wasm.settings.licence_key: is required":                                              {},
		"models.acme.wasm.settings.share: is above the maximum 1":                                         {"share", "2"},
	} {
		cfg := Default()
		cfg.Module = dir
		given(pairs...)(&cfg)
		_, err := open(t.Context(), registry.Env{Name: "acme", Log: slog.New(slog.DiscardHandler)}, cfg, nil)
		if err == nil || !slices.Contains(strings.Split(err.Error(), "\n"), "module "+dir+": "+want) &&
			!slices.Contains(strings.Split(err.Error(), "\n"), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if strings.Contains(fmt.Sprint(err), "top-secret") {
			t.Error("the value is repeated")
		}
	}
	if _, err := openVendor(t, vendor(t), given("a", "1")); err == nil ||
		!strings.Contains(err.Error(), ": settings.a: the model has no settings") {
		t.Errorf("settings of a model without: %v", err)
	}
}

// TestSecretSettingsStaySecret: a module that repeats a secret carries it neither into the
// log nor into an error.
func TestSecretSettingsStaySecret(t *testing.T) {
	dir := declaring(t, `"settings": {"key": {"type": "string", "secret": true}, "word": {"type": "string"}}`)
	for _, name := range []string{"key", "word"} {
		var lines bytes.Buffer
		cfg := Default()
		cfg.Module, cfg.Instances = dir, 1
		given(name, "flood")(&cfg)
		m, err := Open(t.Context(), cfg, "", slog.New(slog.NewTextHandler(&lines, nil)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.(port.Embedder).Embed(t.Context(), port.Passage, []string{"flood"})
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		log := lines.String()
		if strings.Contains(log, "flood") != (name == "word") || !strings.Contains(log, "module: ") {
			t.Errorf("%s (%v) in the log:\n%s", name, err, log)
		}
	}
}
