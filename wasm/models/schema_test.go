package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// manifestSchema tells what a published schema says of a manifest.
func manifestSchema(t *testing.T, file ...string) func(manifest string) error {
	t.Helper()
	read := func(text string) any {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return doc
	}
	b, err := os.ReadFile(filepath.Join(append([]string{".."}, file...)...))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("model.json", read(string(b))); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("model.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(manifest string) error { return schema.Validate(read(manifest)) }
}

// TestManifestSchema: the published schema takes the manifests of the examples and refuses
// what the parser refuses, as far as a schema can.
func TestManifestSchema(t *testing.T) {
	schema := manifestSchema(t, "abi", "model.schema.json")
	examples, err := filepath.Glob(filepath.Join("..", "examples", "*", ManifestFile))
	if err != nil || len(examples) < 4 {
		t.Fatalf("%v, %v", examples, err)
	}
	for _, file := range examples {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema(string(b)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if m, err := parseManifest(b); err != nil || m.Schema == "" {
			t.Errorf("%s: %v, $schema is %q", file, err, m.Schema)
		}
	}
	const module = `{"module": {"path": "m.wasm"}, `
	for _, good := range []string{
		module + `"$schema": "sdk/model.schema.json"}`,
		module + `"abi": "1.0", "config": [1], "settings": {}}`,
		module + `"memory_mb": 4096, "assets": [{"path": "a/b", "name": "b"}], "capabilities": [], "languages": ["en"]}`,
		module + `"config": {"x": 1}, "settings": {"a": {"type": "string", "default": "x", "enum": ["x"], "max_length": 9}}}`,
		module + `"abi": "1.2", "settings": {"a": {"type": "integer", "minimum": 1, "maximum": 2, "default": 1}}}`,
		module + `"settings": {"a": {"type": "number", "default": 1.5}, "b": {"type": "boolean", "default": true}}}`,
		module + `"settings": {"a": {"type": "string", "secret": true, "identity": false, "required": true}}}`,
		module + `"settings": {"a": {"type": "number", "secret": false, "identity": true, "required": false, "default": 1}}}`,
	} {
		if err := schema(good); err != nil {
			t.Errorf("the schema refuses %s: %v", good, err)
		}
		if _, err := parseManifest([]byte(good)); err != nil {
			t.Errorf("the parser refuses %s: %v", good, err)
		}
	}
	setting := func(s string) string { return module + `"settings": {"a": ` + s + `}}` }
	for _, bad := range []string{
		`{}`, `[]`, `{"module": {}}`, module + `"x": 1}`, module + `"abi": "1"}`, module + `"abi": "2.0"}`,
		module + `"abi": "1.4"}`,
		module + `"memory_mb": 4097}`, module + `"memory_mb": -1}`, module + `"memory_mb": "1"}`,
		module + `"capabilities": ["files"]}`,
		`{"module": {"path": "/m.wasm"}}`, `{"module": {"path": "m", "size": 1}}`, module + `"languages": "en"}`,
		module + `"tasks": "rerank"}`,
		module + `"settings": {"A": {"type": "string"}}}`, module + `"abi": "1.1", "settings": {"a": {"type": "string"}}}`,
		module + `"config": 1, "settings": {"a": {"type": "string"}}}`, module + `"settings": ` + many(257) + `}`,
		setting(`{}`), setting(`{"type": "list"}`), setting(`{"type": "number", "enum": ["1"]}`),
		setting(`{"type": "number", "max_length": 1}`), setting(`{"type": "string", "enum": []}`),
		setting(`{"type": "string", "max_length": 65537}`), setting(`{"type": "string", "minimum": 1}`),
		setting(`{"type": "boolean", "maximum": 1}`), setting(`{"type": "string", "default": 1}`),
		setting(`{"type": "integer", "default": 1.5}`), setting(`{"type": "number", "default": "1"}`),
		setting(`{"type": "boolean", "default": "true"}`), setting(`{"type": "string", "secret": true, "identity": true}`),
		setting(`{"type": "string", "required": true, "default": ""}`), setting(`{"type": "string", "bounds": 1}`),
	} {
		if schema(bad) == nil {
			t.Errorf("the schema takes %s", bad)
		}
		if _, err := parseManifest([]byte(bad)); err == nil {
			t.Errorf("the parser takes %s", bad)
		}
	}
	for _, beyond := range []string{ // what a schema can't say
		`{"module": {"path": "a/../../m"}}`, module + `"assets": [{"path": "a"}, {"path": "b", "name": "a"}]}`,
		module + `"config": {"a": 1}, "settings": {"a": {"type": "string"}}}`,
		setting(`{"type": "integer", "minimum": 2, "maximum": 1}`), setting(`{"type": "integer", "minimum": 2, "default": 1}`),
	} {
		if _, err := parseManifest([]byte(beyond)); err == nil || schema(beyond) != nil {
			t.Errorf("%s: the parser %v, the schema %v", beyond, err, schema(beyond))
		}
	}
	for _, stricter := range []string{ // what the parser leaves to opening the model
		module + `"tasks": ["sing"]}`, module + `"assets": [{"path": "a", "sha256": "00"}]}`,
	} {
		if _, err := parseManifest([]byte(stricter)); err != nil || schema(stricter) == nil {
			t.Errorf("%s: the parser %v, the schema takes it: %t", stricter, err, schema(stricter) == nil)
		}
	}
}

// TestProcessSchema: the published schema of processes' manifests takes and refuses what the
// parser does, as far as a schema can.
func TestProcessSchema(t *testing.T) {
	schema := manifestSchema(t, "..", "plugins", "proto", "model.schema.json")
	for manifest, good := range map[string]bool{
		`{"kind": "process", "interpreter": "python3", "args": ["model.py"], "files": [{"path": "model.py"}],
 "$schema": "x"}`: true,
		`{"kind": "process", "programs": {"linux/amd64": {"path": "linux/acme"}}, "name": "acme", "version": "1",
 "licence": "MIT", "languages": ["en"], "tasks": ["embedding"], "dimensions": 4, "memory_mb": 16777216, "mtls": "off"}`: true,
		`{"kind": "process"}`: false,
		`{"kind": "process", "interpreter": "a", "programs": {"a/b": {"path": "x"}}}`: false,
		`{"kind": "process", "interpreter": "/usr/bin/python3"}`:                      false,
		`{"kind": "process", "programs": {"linux": {"path": "x"}}}`:                   false,
		`{"kind": "process", "programs": {"a/b": {}}}`:                                false,
		`{"kind": "process", "programs": {}}`:                                         false,
		`{"kind": "process", "interpreter": "a", "mtls": "on"}`:                       false,
		`{"kind": "process", "interpreter": "a", "memory_mb": 16777217}`:              false,
		`{"kind": "process", "interpreter": "a", "dimensions": -1}`:                   false,
		`{"kind": "process", "interpreter": "a", "command": ["x"]}`:                   false,
		`{"kind": "module", "interpreter": "a"}`:                                      false,
	} {
		if err := schema(manifest); (err == nil) != good {
			t.Errorf("%s: the schema says %v", manifest, err)
		}
		if _, err := ReadProcess(folder(t, map[string]string{ManifestFile: manifest})); (err == nil) != good {
			t.Errorf("%s: the parser says %v", manifest, err)
		}
	}
}
