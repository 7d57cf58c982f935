package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostileModel makes a model folder around the module of wasm/abitest, which does
// what the first of its texts says.
func hostileModel(t *testing.T, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "wasm", "abitest", "testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "model.wasm"), string(b))
	write(t, filepath.Join(dir, "model.json"),
		`{"name":"hostile","version":"1","licence":"MIT",`+manifest+`"module":{"path":"model.wasm"}}`)
	succeed(t, "models", "seal", dir)
	return dir
}

// configured writes a configuration of one embedder.
func configuredModel(t *testing.T, settings string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mneme.yaml")
	write(t, file, "models:\n  acme: {wasm: {instances: 1, "+settings+"}}\nroles: {embed: acme}\n")
	return file
}

// TestHostileModelRefused: a server whose configuration names a model that is not
// what it should be does not start, and says why and where.
func TestHostileModelRefused(t *testing.T) {
	dir := hostileModel(t, "")
	for want, settings := range map[string]string{
		"told to fail": `module: "` + hostileModel(t, `"config":{"fail_open":1},`) + `"`,
		"unreachable":  `module: "` + hostileModel(t, `"config":{"trap_open":1},`) + `"`,
		`has the tasks [rerank], the module claims [embedding]`: `module: "` + hostileModel(t, `"tasks":["rerank"],`) + `"`,
		`does not name the capability "assets"`:                 `module: "` + hostileModel(t, `"capabilities":["log"],`) + `"`,
		"needs 1.7, this version has 1.3": `module: "` +
			strings.ReplaceAll(unsealed(t, `"abi":"1.7",`), `\`, `/`) + `"`,
		"pinned is " + strings.Repeat("ab", 32): `module: "` + dir + `", sha256: "` +
			strings.Repeat("ab", 32) + `"`,
		"memory_mb allows 8": `memory_mb: 8, module: "` +
			hostileModel(t, `"memory_mb":64,`) + `"`,
		"no digest of 64": `module: "` + dir + `", sha256: "abc"`,
	} {
		r := mneme(t, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--config", configuredModel(t, settings))
		if r.Code == 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%s: code %d\n%s, want %q", settings, r.Code, r.Stderr, want)
		}
	}
}

// unsealed is a model folder whose manifest cannot be sealed.
func unsealed(t *testing.T, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "model.json"), `{`+manifest+`"module":{"path":"model.wasm"}}`)
	return dir
}

// TestHostileModelServes: a model that turns bad later gives its callers errors in
// time, queries go on by keywords and say so, and a harmless text works at once.
func TestHostileModelServes(t *testing.T) {
	t.Parallel()
	dir := hostileModel(t, "")
	data := t.TempDir()
	s := start(t, "--data", data, "--config", configuredModel(t, `timeout: 3s, memory_mb: 32, module: "`+dir+`"`))
	key := newKey(t, data)
	if status, body := call(t, "POST", s.URL+"/namespaces/n/documents", key,
		`{"documents":[{"id":"a","text":"loop the rope"},{"id":"b","text":"trap the fox"},{"id":"c","text":"nan `+
			`bread"}]}`); status != 200 {
		t.Fatalf("write: %d %s", status, body)
	}
	for text, want := range map[string]int{"trap": 502, "outside": 502, "huge": 502, "dim": 502, "nan": 502,
		"grow": 502, "loop": 504} {
		began := time.Now()
		status, body := call(t, "POST", s.URL+"/namespaces/n/documents", key, `{"documents":[{"id":"x","text":"`+text+`"}]}`)
		if status != want {
			t.Errorf("write of %s: %d %s, want %d", text, status, body, want)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("write of %s took %s", text, took)
		}
	}
	var wg sync.WaitGroup
	for text, id := range map[string]string{"loop": "a", "trap": "b", "nan": "c"} {
		wg.Go(func() {
			status, body := call(t, "POST", s.URL+"/namespaces/n/query", key, `{"query":"`+text+`","top_k":1}`)
			if status != 200 || !strings.Contains(body, `"document_id":"`+id+`"`) || !strings.Contains(body, `"degraded":[`) {
				t.Errorf("query of %s: %d %s, want %s by keywords, degraded", text, status, body, id)
			}
		})
	}
	wg.Wait()
	if status, body := call(t, "POST", s.URL+"/namespaces/n/query", key,
		`{"query":"fox","top_k":1,"strict":true}`); status != 200 || !strings.Contains(body, `"document_id"`) {
		t.Errorf("a harmless query afterwards: %d %s", status, body)
	}
	if status, body := call(t, "POST", s.URL+"/namespaces/n/query", key,
		`{"query":"trap","top_k":1,"strict":true}`); status != 502 && status != 503 {
		t.Errorf("a strict query: %d %s", status, body)
	}
}
