package models

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configurable is a folder whose manifest declares settings.
func configurable(t *testing.T, config, settings string) (Source, error) {
	t.Helper()
	dir := folder(t, map[string]string{"m.wasm": code})
	text := fmt.Sprintf(`{"abi": "1.2", "module": {"path": "m.wasm", "sha256": %q}, %s "settings": %s}`, sum(code),
		config, settings)
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(dir)
}

const everySetting = `{
 "language": {"type": "string", "enum": ["en", "de"], "default": "en"},
 "key": {"type": "string", "secret": true, "max_length": 9},
 "nmax": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
 "share": {"type": "number", "minimum": 0, "maximum": 1, "identity": false},
 "fold": {"type": "boolean", "default": false, "identity": true},
 "note": {"type": "string"}}`

// TestConfigure: a module is handed config and the settings that have a value, checked and
// as what they are; those that change no vector and secrets are no part of its identity.
func TestConfigure(t *testing.T) {
	s, err := configurable(t, `"config": {"b": [1, {"x": "<"}], "a": 2.50},`, everySetting)
	if err != nil {
		t.Fatal(err)
	}
	const own = `{"b":[1,{"x":"<"}],"a":2.50,`
	for name, c := range map[string]struct {
		given            map[string]string
		config, identity string
		secrets          []string
	}{
		"nothing": {nil, own + `"fold":false,"language":"en","nmax":5}`, own + `"fold":false,"language":"en","nmax":5}`, nil},
		"everything": {map[string]string{"language": "de", "key": "s3\"cret", "nmax": "9", "share": "1e0", "fold": "true",
			"note": ""},
			own + `"fold":true,"key":"s3\"cret","language":"de","nmax":9,"note":"","share":1}`,
			own + `"fold":true,"language":"de","nmax":9,"note":""}`, []string{"s3\"cret"}},
		"what is so anyway": {map[string]string{"nmax": "+5", "key": ""}, own + `"fold":false,"key":"","language":"en","nmax":5}`,
			own + `"fold":false,"language":"en","nmax":5}`, nil},
		"the least": {map[string]string{"nmax": "1", "share": "0"}, own + `"fold":false,"language":"en","nmax":1,"share":0}`,
			own + `"fold":false,"language":"en","nmax":1}`, nil},
	} {
		got, err := s.Configure(c.given)
		if err != nil || string(got.Config) != c.config || string(got.Identity) != c.identity ||
			!slices.Equal(got.Secrets, c.secrets) {
			t.Errorf("%s: %s\nidentity %s\nsecrets %q, %v", name, got.Config, got.Identity, got.Secrets, err)
		}
	}
	if d := s.Defaults(); string(d.Config) != own+`"fold":false,"language":"en","nmax":5}` {
		t.Errorf("by default %s", d.Config)
	}
	s, err = configurable(t, "",
		`{"key": {"type": "string", "required": true, "secret": true}, "n": {"type": "integer", "default": 1}}`)
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Defaults(); string(d.Config) != `{"n":1}` {
		t.Errorf("without what is required: %s", d.Config)
	}
	if c, err := s.Configure(map[string]string{"key": "k"}); err != nil || string(c.Config) != `{"key":"k","n":1}` {
		t.Errorf("%s, %v", c.Config, err)
	}
	if _, err := s.Configure(nil); err == nil || err.Error() != "settings.key: is required" {
		t.Errorf("without what is required: %v", err)
	}
}

// TestWithoutSettings: a module that declares none gets its config byte for byte, and no setting.
func TestWithoutSettings(t *testing.T) {
	s, err := Open(folder(t, map[string]string{"m.wasm": code,
		ManifestFile: `{"module": {"path": "m.wasm", "sha256": "` + sum(code) + `"}, "config": [ 1 ]}`}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Configured{s.Defaults(), first(s.Configure(nil))} {
		if string(c.Config) != "[ 1 ]" || c.Identity != nil || c.Secrets != nil {
			t.Errorf("%+v", c)
		}
	}
	var at *SettingError
	if _, err := s.Configure(map[string]string{"nmax": "1"}); !errors.As(err, &at) || !at.Unknown ||
		err.Error() != "settings.nmax: the model has no settings" {
		t.Errorf("a setting of a model without: %v", err)
	}
}

func first(c Configured, _ error) Configured { return c }

// TestSettingsRefused: each value at fault is named at once, and no secret is repeated.
func TestSettingsRefused(t *testing.T) {
	s, err := configurable(t, "", everySetting)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Configure(map[string]string{"languge": "en", "language": "fr", "key": "0123456789", "nmax": "10",
		"share": "-1", "fold": "1"})
	want := []string{"settings.languge: the model has no such setting", `settings.language: "fr" is not one of en, de`,
		"settings.key: has 10 bytes, at most 9", "settings.nmax: is above the maximum 9",
		"settings.share: is below the minimum 0", `settings.fold: "1" is not true or false`}
	for _, w := range want {
		if err == nil || !slices.Contains(strings.Split(err.Error(), "\n"), w) {
			t.Errorf("got %v, want %s", err, w)
		}
	}
	if strings.Contains(fmt.Sprint(err), "0123456789") {
		t.Error("the secret is repeated")
	}
	for name, values := range map[string][]string{
		"nmax":  {"", "1.5", "x", "9007199254740993", "-9007199254740993", "0"},
		"share": {"", "x", "NaN", "Inf", "1.01"},
		"note":  {"\xff", strings.Repeat("x", 1<<16+1)},
		"fold":  {"", "True"},
	} {
		for _, v := range values {
			if c, err := s.Configure(map[string]string{name: v}); err == nil {
				t.Errorf("%s was taken for %s: %s", v, name, c.Config)
			}
		}
	}
	s, err = configurable(t, "", `{"n": {"type": "integer", "secret": true}, "b": {"type": "boolean", "secret": true},
 "e": {"type": "string", "secret": true, "enum": ["a"]}, "x": {"type": "number", "secret": true}}`)
	if err != nil {
		t.Fatal(err)
	}
	for name := range s.Settings {
		if _, err := s.Configure(map[string]string{name: "geheim"}); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := s.Configure(map[string]string{"n": "9007199254740992"})
	if err != nil || string(c.Config) != `{"n":9007199254740992}` {
		t.Errorf("%s, %v", c.Config, err)
	}
}

// TestDeclarationsRefused: a declaration that can't be meant is refused with its path.
func TestDeclarationsRefused(t *testing.T) {
	for want, settings := range map[string]string{
		"settings.A: a name is":                         `{"A": {"type": "string"}}`,
		"settings.a.b: a name is":                       `{"a.b": {"type": "string"}}`,
		"settings.n: config has a member of that name":  `{"n": {"type": "string"}}`,
		`settings.a.type: "text" is not one of`:         `{"a": {"type": "text"}}`,
		`settings.a.type: "" is not one of`:             `{"a": {}}`,
		"settings.a.enum and max_length are of strings": `{"a": {"type": "number", "enum": ["1"]}}`,
		"settings.b.enum and max_length are of strings": `{"b": {"type": "boolean", "max_length": 1}}`,
		"settings.a.enum: has no value":                 `{"a": {"type": "string", "enum": []}}`,
		"settings.a.max_length: -1 is":                  `{"a": {"type": "string", "max_length": -1}}`,
		"settings.a.max_length: 65537 is":               `{"a": {"type": "string", "max_length": 65537}}`,
		"settings.a.minimum and maximum are of numbers": `{"a": {"type": "string", "minimum": 1}}`,
		"settings.b.minimum and maximum are of numbers": `{"b": {"type": "boolean", "maximum": 1}}`,
		"settings.a.minimum: 2 is above the maximum 1":  `{"a": {"type": "number", "minimum": 2, "maximum": 1}}`,
		"settings.a.identity: a secret cannot count":    `{"a": {"type": "string", "secret": true, "identity": true}}`,
		"settings.a.default: is never used":             `{"a": {"type": "string", "required": true, "default": ""}}`,
		"settings.a.default: 1 is no string":            `{"a": {"type": "string", "default": 1}}`,
		`settings.a.default: "1" is no integer`:         `{"a": {"type": "integer", "default": "1"}}`,
		"settings.a.default: is above the maximum 1":    `{"a": {"type": "integer", "maximum": 1, "default": 2}}`,
		`settings.a.default: "x" is not one of y`:       `{"a": {"type": "string", "enum": ["y"], "default": "x"}}`,
		`unknown field "bounds"`:                        `{"a": {"type": "string", "bounds": 1}}`,
		"settings: 257 of them, at most 256":            many(257),
	} {
		_, err := configurable(t, `"config": {"n": 1},`, settings)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
	for _, good := range []string{many(256),
		`{"a": {"type": "string", "secret": true, "identity": false, "required": true}}`,
		`{"a": {"type": "integer", "minimum": 1, "maximum": 1, "default": 1}}`,
		`{"a": {"type": "string", "max_length": 65536}}`} {
		if _, err := configurable(t, `"config": {"n": 1},`, good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	_, err := configurable(t, `"config": [1],`, everySetting)
	if err == nil || !strings.Contains(err.Error(), "config: must be an object") {
		t.Errorf("settings beside a config that is no object: %v", err)
	}
	manifest := `{"abi": "1.1", "module": {"path": "m"}, "settings": {"a": {"type": "string"}}}`
	if _, err := parseManifest([]byte(manifest)); err == nil || !strings.Contains(err.Error(), `settings: need abi "1.2"`) {
		t.Errorf("settings of an ABI without: %v", err)
	}
}

func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"a%d": {"type": "string"}`, i))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// TestSamples: a check tries what a setting may be at its edges, and no secret.
func TestSamples(t *testing.T) {
	s, err := configurable(t, "", everySetting)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"language": {"en", "de"}, "key": nil, "nmax": {"1", "9"}, "share": {"0", "1"},
		"fold": {"false", "true"}, "note": nil} {
		got := s.Settings[name].Samples()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		for _, value := range got {
			if _, err := s.Configure(map[string]string{name: value}); err != nil {
				t.Error(err)
			}
		}
	}
	if least := -0.5; !slices.Equal(Setting{Type: SettingNumber, Minimum: &least}.Samples(), []string{"-0.5"}) {
		t.Error("a setting without a maximum is tried at its minimum alone")
	}
}
