package wasm_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/wasm"
)

// tool finds a program for WebAssembly.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if at, err := exec.LookPath(name); err == nil {
			return at
		}
	}
	if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
		t.Fatalf("none of %v is installed", names)
	}
	t.Skipf("NOT TESTED: none of %v is installed", names)
	return ""
}

func clang(t *testing.T) string  { return tool(t, "clang", "clang-14", "clang-16", "clang-19") }
func linker(t *testing.T) string { return tool(t, "wasm-ld", "wasm-ld-14", "wasm-ld-16", "wasm-ld-19") }

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
}

const modelInCPlusPlus = `#define MNEME_IMPLEMENTATION
#include "mneme.h"
extern "C" u64 MNEME_EXPORT(mneme_describe)(void) { return mneme_say("{}"); }
extern "C" u64 MNEME_EXPORT(mneme_open)(const char *json, u32 n) {
	double value;
	(void)mneme_json_number(json, n, "a", &value);
	return mneme_finish(mneme_new(MNEME_TEXT, 0, 0, 0, 0, 0));
}
extern "C" u64 MNEME_EXPORT(mneme_embed)(const void *p, u32 n) {
	mneme_text *texts;
	u32 rows, flags;
	u64 bad = mneme_frame(p, n, &texts, &rows, &flags);
	if (bad) return bad;
	mneme_free(texts, rows * sizeof *texts);
	mneme_log(MNEME_LOG_INFO, "embedding", 9);
	return mneme_finish(mneme_new_dense(rows, 4));
}
`

// TestCPlusPlus: the header is C++ as well, the exports and imports have their plain names.
func TestCPlusPlus(t *testing.T) {
	cc, ld, dir := clang(t), linker(t), t.TempDir()
	sdk, err := filepath.Abs(filepath.Join("sdk", "c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.cc"), []byte(modelInCPlusPlus), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, cc, "-x", "c++", "--target=wasm32", "-O2", "-mbulk-memory", "-ffreestanding", "-fno-exceptions",
		"-Wall", "-Wextra", "-Werror", "-I", sdk, "-c", "-o", "model.o", "model.cc")
	run(t, dir, ld, "--no-entry", "-o", "model.wasm", "model.o")
	module, err := os.ReadFile(filepath.Join(dir, "model.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mneme_abi", "mneme_alloc", "mneme_free", "mneme_describe", "mneme_open", "mneme_embed"} {
		if !bytes.Contains(module, append([]byte{byte(len(name))}, name...)) {
			t.Errorf("the module does not export %s", name)
		}
	}
}

// TestNamesOfFunctions: a module of the C project keeps the names of its functions, so that
// the trace of a trap says where it was.
func TestNamesOfFunctions(t *testing.T) {
	clang(t)
	linker(t)
	dir := t.TempDir()
	files, err := wasm.Project("c", "acme")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "sh", "build.sh")
	module, err := os.ReadFile(filepath.Join(dir, "model.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(module, []byte("\x04name")) || bytes.Contains(module, []byte(".debug_info")) {
		t.Error("the module has no names of functions, or more than these")
	}
}

// TestManifestSchemaOfProjects: a project has the schema that its model.json names, once.
func TestManifestSchemaOfProjects(t *testing.T) {
	schema, err := os.ReadFile(filepath.Join("abi", "model.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range wasm.Languages() {
		files, err := wasm.Project(language, "acme")
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Schema string `json:"$schema"`
		}
		if err := json.Unmarshal(files["model.json"], &manifest); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(files[manifest.Schema], schema) {
			t.Errorf("%s: $schema is %q, which the project does not have", language, manifest.Schema)
		}
		for name := range files {
			if filepath.Base(name) == "model.schema.json" && name != manifest.Schema {
				t.Errorf("%s has the schema in %s, too", language, name)
			}
		}
	}
}
