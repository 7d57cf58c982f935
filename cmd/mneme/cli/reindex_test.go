package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// anotherModel is a configuration with an embedding model of another identity:
// the built-in one, but for what it puts before passages.
func anotherModel(t *testing.T) string {
	t.Helper()
	pack, err := os.ReadFile(filepath.Join("..", "..", "..", "wasm", "models", "e5small", "e5-small-v2.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(pack, []byte("passage: "), []byte("Passage: "), 1)
	if bytes.Equal(pack, other) {
		t.Fatal("the pack names no prefix of passages")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "other.safetensors"), string(other))
	file := filepath.Join(dir, "mneme.yaml")
	write(t, file, "models:\n  other: {wasm: {module: "+filepath.Join(dir, "other.safetensors")+
		", instances: 1}}\nroles: {embed: other}\n")
	return file
}

// With the model before named, nothing is refused; what was served is kept for a way
// back; and new indexes are filled beforehand.
func TestReindexInAShadow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, in, questions := filepath.Join(dir, "data"), filepath.Join(dir, "in"), filepath.Join(dir, "questions.txt")
	write(t, filepath.Join(in, "lease.md"), "Notice must be given three months ahead.\n")
	write(t, filepath.Join(in, "dusk.md"), "The harbour closes at dusk.\n")
	write(t, questions, "when does it close\n\n  how is notice given \n")
	succeed(t, "import", in, "--namespace", "notes", "--data", data)
	config := anotherModel(t)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, strings.Replace(string(text), "{embed: other}", "{embed: other, previous: [e5-small-v2]}", 1))
	with := []string{"--data", data, "--config", config}
	s := start(t, with...)
	mneme := func(args ...string) harness.Result { t.Helper(); return mneme(t, append(args, with...)...) }
	says := func(r harness.Result, code int, words ...string) {
		t.Helper()
		for _, w := range words {
			if r.Code != code || !strings.Contains(r.Stdout+r.Stderr, w) {
				t.Errorf("want %d and %q: %+v", code, w, r)
			}
		}
	}
	found := func() { t.Helper(); says(mneme("query", "notes", "when does it close"), 0, "1.000  dusk.md") }
	found()
	says(mneme("reindex", "notes", "--rollback"), 1, "nothing is kept")
	says(mneme("reindex", "notes", "--commit"), 0, "nothing was kept or held")
	says(mneme("reindex", "notes", "--hold", "--queries", questions), 0, "built and not served", "by 2 queries",
		"100 % of the ten best")
	found()
	says(mneme("reindex", "notes"), 0, "notes: 2 documents in 2 chunks\n", "found by its own words")
	found()
	says(mneme("reindex", "notes", "--rollback"), 0, "notes: 2 documents in 2 chunks\n")
	found()
	says(mneme("reindex", "notes", "--commit"), 0, "is removed")
	for _, args := range [][]string{{"notes", "--rollback", "--force"}, {"notes", "--commit", "--hold"},
		{"notes", "--min-overlap", "2"}, {"--memories", "ann", "--hold"},
		{"--indexes", "notes"}, {"notes", "--queries", filepath.Join(in, "none")}} {
		if r := mneme(append([]string{"reindex"}, args...)...); r.Code == 0 {
			t.Errorf("reindex %v: %+v", args, r)
		}
	}
	if err := s.Stop(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	says(mneme("reindex", "--indexes"), 0, "2 documents of 1 partition are in the indexes\n")
}

// A namespace of another model is refused with the command that helps, which
// helps alone, beside a running server and by URL.
func TestReindex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, in := filepath.Join(dir, "data"), filepath.Join(dir, "in")
	write(t, filepath.Join(in, "lease.md"), "Notice must be given three months ahead.\n")
	write(t, filepath.Join(in, "dusk.md"), "The harbour closes at dusk.\n")
	for _, ns := range []string{"notes", "more"} {
		succeed(t, "import", in, "--namespace", ns, "--data", data)
	}
	key := made(t, "cint_", succeed(t, "keys", "create", "--data", data, "--type", "integration", "--integration", "chat").Stdout)
	first := start(t, "--data", data)
	for _, user := range []string{"ann", "bob"} {
		if code, body := call(t, "POST", first.URL+"/api/v1/memories", key,
			`{"endUserId":"`+user+`","content":"Lives in Lyon."}`); code != 200 {
			t.Fatalf("save: %d %s", code, body)
		}
	}
	if err := first.Stop(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	with := []string{"--data", data, "--config", anotherModel(t)}
	mneme := func(args ...string) harness.Result { t.Helper(); return mneme(t, append(args, with...)...) }
	refused := func(ns string) {
		t.Helper()
		if r := mneme("query", ns, "when does it close"); r.Code != 1 || !strings.Contains(r.Stderr, "mneme reindex "+ns) {
			t.Errorf("a query of %s: %+v", ns, r)
		}
	}
	found := func(ns string) {
		t.Helper()
		if r := mneme("query", ns, "when does it close"); r.Code != 0 || !strings.Contains(r.Stdout, "1.000  dusk.md") {
			t.Errorf("a query of %s: %+v", ns, r)
		}
	}
	for _, args := range [][]string{{}, {"notes", "--all"}, {"No Name"}} {
		if r := mneme(append([]string{"reindex"}, args...)...); r.Code != 2 {
			t.Errorf("reindex %v: %+v", args, r)
		}
	}
	refused("notes")
	if r := mneme("reindex", "notes"); r.Code != 0 || r.Stdout != "notes: 2 documents in 2 chunks\n" ||
		!strings.Contains(r.Stderr, "reindexing notes: 2") {
		t.Errorf("reindex: %+v", r)
	}
	found("notes")
	refused("more")

	s := start(t, with...)
	if r := mneme("reindex", "--all"); r.Code != 0 || !strings.Contains(r.Stdout, "more: 2 documents in 2 chunks\n") ||
		!strings.Contains(r.Stdout, "notes: its vectors are of the configured") {
		t.Errorf("reindex --all: %+v", r)
	}
	found("more")
	if r := mneme("reindex", "absent", "notes", "--force"); r.Code != 1 || !strings.Contains(r.Stderr, "absent: ") ||
		r.Stdout != "notes: 2 documents in 2 chunks\n" {
		t.Errorf("one of two: %+v", r)
	}
	search := func(user string) (int, string) {
		t.Helper()
		return call(t, "POST", s.URL+"/api/v1/search", key, `{"endUserId":"`+user+`","query":"where"}`)
	}
	if code, body := search("ann"); code != 503 || !strings.Contains(body, "mneme reindex --memories ann") {
		t.Errorf("a search of ann: %d %s", code, body)
	}
	if r := mneme("reindex", "--memories", "ann"); r.Code != 0 || r.Stdout != "ann: 1 memory in 1 chunk\n" {
		t.Errorf("of ann: %+v", r)
	}
	if r := mneme("reindex", "--memories", "nobody"); r.Code != 1 || !strings.Contains(r.Stderr, "nobody") {
		t.Errorf("of nobody: %+v", r)
	}
	if r := mneme("reindex", "--memories", "--all", "--integration", "chat"); r.Code != 0 ||
		!strings.Contains(r.Stdout, "bob: 1 memory in 1 chunk\n") || !strings.Contains(r.Stdout, "ann: its vectors") {
		t.Errorf("of all: %+v", r)
	}
	for _, user := range []string{"ann", "bob"} {
		if code, body := search(user); code != 200 || !strings.Contains(body, "Lyon") {
			t.Errorf("a search of %s: %d %s", user, code, body)
		}
	}
	admin := made(t, "adm-", succeed(t, "keys", "create", "--data", data, "--type", "admin").Stdout)
	with = []string{"--url", s.URL, "--key", admin}
	if r := mneme("reindex", "notes", "--force"); r.Code != 0 || r.Stdout != "notes: 2 documents in 2 chunks\n" {
		t.Errorf("by URL: %+v", r)
	}
	if r := mneme("reindex", "notes", "--org", "other"); r.Code != 1 || !strings.Contains(r.Stderr, "other") {
		t.Errorf("another organization: %+v", r)
	}
}
