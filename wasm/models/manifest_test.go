package models

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

const code = wasmMagic + "\x01\x00\x00\x00"

// TestSeal: the digests are filled in, everything else stays where and as it is,
// and what was changed after sealing is refused.
func TestSeal(t *testing.T) {
	dir := folder(t, map[string]string{"m.wasm": code, "words.txt": "a b", "model.json": `{"name": "acme",
 "module": {"path": "m.wasm"}, "assets": [{"path": "words.txt"}, {"name": "w", "path": "words.txt", "sha256": "00"}], ` +
		`"config": {"b": 1, "a": 2.50}, "licence": "MIT", "memory_mb": 8,
 "tasks": ["rerank"], "capabilities": ["log"]}`})
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "models seal "+dir) {
		t.Errorf("not sealed: %v", err)
	}
	first, err := Seal(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "name": "acme",
  "module": {
    "path": "m.wasm",
    "sha256": "` + sum(code) + `"
  },
  "assets": [
    {
      "path": "words.txt",
      "sha256": "` + sum("a b") + `"
    },
    {
      "name": "w",
      "path": "words.txt",
      "sha256": "` + sum("a b") + `"
    }
  ],
  "config": {
    "b": 1,
    "a": 2.50
  },
  "licence": "MIT",
  "memory_mb": 8,
  "tasks": [
    "rerank"
  ],
  "capabilities": [
    "log"
  ]
}
`
	if string(b) != want {
		t.Errorf("sealed as\n%s", b)
	}
	if again, err := Seal(dir); err != nil || again != first || first != sum(want) {
		t.Errorf("sealed again: %s and %s, %v", first, again, err)
	}
	for _, name := range []string{dir, filepath.Join(dir, "m.wasm")} { // the module finds its manifest
		s, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != "acme" || s.MemoryMB != 8 || string(s.Assets["words.txt"]) != "a b" ||
			string(s.Assets["w"]) != "a b" || s.SHA256 != first || len(s.Allow) != 1 {
			t.Errorf("%s: %+v", name, s)
		}
		if err := s.Pinned("sha256:" + strings.ToUpper(first)); err != nil {
			t.Error(err)
		}
		if err := s.Pinned(sum("else")); err == nil || !strings.Contains(err.Error(), first) ||
			!strings.Contains(err.Error(), ManifestFile) {
			t.Errorf("another pin: %v", err)
		}
		if err := s.CheckTasks([]string{"rerank"}); err != nil {
			t.Error(err)
		}
		if err := s.CheckTasks([]string{"embedding", "rerank"}); err == nil {
			t.Error("another task than approved")
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "words.txt"), []byte("a c"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "words.txt: sha256 is "+sum("a c")) {
		t.Errorf("changed after sealing: %v", err)
	}
}

// TestLoneModule: a .wasm file without a manifest of its own is a model as well.
func TestLoneModule(t *testing.T) {
	dir := folder(t, map[string]string{"m.wasm": code, "model.json": `{"module": {"path": "other.wasm"}}`})
	s, err := Open(filepath.Join(dir, "m.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if string(s.Wasm) != code || string(s.Config) != "{}" || s.Trusted || s.Pinned(sum(code)) != nil {
		t.Errorf("%+v", s)
	}
}

// TestManifestRefused: everything wrong is named at once, by its member.
func TestManifestRefused(t *testing.T) {
	for text, want := range map[string][]string{
		`{`:                                 {"unexpected EOF"},
		`{"module": {"path": "a"}} x`:       {"behind the object"},
		`{"module": {"path": "a"}, "x": 1}`: {`unknown field "x"`},
		`{"abi": "2.0", "memory_mb": 9999, "capabilities": ["files"], "assets": [{"path": "../a"}, {"path": "../a"}]}`: {
			"module: must name", "needs 2.0", "memory_mb: 9999", `no "files"; there are [assets tokenizers log`, `"../a" twice`,
			`"../a" leaves`},
		`{"module": {"path": "/a"}, "abi": "1.99"}`: {`"/a" leaves`, "needs 1.99"},
		`{"module": {"path": "a"}, "abi": "one"}`:   {`"one" is no version`},
	} {
		_, err := parseManifest([]byte(text))
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", text, err, w)
			}
		}
	}
}

// FuzzManifest: no file makes parsing or sealing panic.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"module": {"path": "m.wasm"}, "config": {"a": [1, {}]}, "assets": [{"path": "m.wasm"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := parseManifest(b); err != nil {
			return
		}
		dir := folder(t, map[string]string{"m.wasm": code, ManifestFile: string(b)})
		if _, err := Seal(dir); err != nil {
			return
		}
		if _, err := Open(dir); err != nil {
			t.Errorf("what was sealed is refused: %v", err)
		}
	})
}
