package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A namespace gets an embedding model of its own as it is made, imported or reindexed.
func TestTheEmbeddingModelOfANamespace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, in := filepath.Join(dir, "data"), filepath.Join(dir, "in")
	write(t, filepath.Join(in, "dusk.md"), "The harbour closes at dusk.\n")
	config := anotherModel(t)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, strings.Replace(string(text), "roles: {embed: other}\n", "", 1)) // beside the default
	with := []string{"--data", data, "--config", config}
	s := start(t, with...)
	answers := func(code int, want string, args ...string) {
		t.Helper()
		if r := mneme(t, args...); r.Code != code || !strings.Contains(r.Stdout+r.Stderr, want) {
			t.Errorf("%v: %+v, want %d and %q", args, r, code, want)
		}
	}
	says := func(code int, want string, args ...string) { t.Helper(); answers(code, want, append(args, with...)...) }
	shows := func(ns, model string) {
		t.Helper()
		says(0, "embedding model  "+model+"\n", "namespaces", "show", ns)
		says(0, "1.000  dusk.md", "query", ns, "when does it close")
	}
	says(1, `"another" is no embedding model of this server; it has e5-small-v2, other`,
		"namespaces", "create", "made", "--embedding-model", "another")
	says(0, "its vectors are of: other", "namespaces", "create", "made", "--embedding-model", "other")
	says(0, "", "import", in, "--namespace", "made")
	shows("made", "other (chosen for it)")
	says(0, "", "import", in, "--namespace", "imported", "--embedding-model", "other")
	shows("imported", "other (chosen for it)")
	says(0, "", "import", in, "--namespace", "plain")
	shows("plain", "e5-small-v2")
	says(1, `"another" is no embedding model`, "import", in, "--namespace", "fourth", "--embedding-model", "another")

	says(1, `"another" is no embedding model`, "reindex", "plain", "--embedding-model", "another")
	says(0, "1 document in 1 chunk", "reindex", "plain", "--embedding-model", "other")
	shows("plain", "other (chosen for it)")
	says(0, "of the configured models already", "reindex", "plain")
	says(0, "1 document in 1 chunk", "reindex", "plain", "--embedding-model", "")
	shows("plain", "e5-small-v2")
	for _, args := range [][]string{{"plain", "--rollback"}, {"plain", "--commit"}, {"--memories", "ann"}, {"--indexes"}} {
		if r := mneme(t, append(append([]string{"reindex", "--embedding-model", "other"}, args...), with...)...); r.Code != 2 {
			t.Errorf("reindex %v: %+v", args, r)
		}
	}

	set := filepath.Join(dir, "made.ndjson.gz")
	key := strings.TrimSpace(succeed(t, "keys", "create", "--type", "admin", "--data", data).Stdout)
	succeed(t, "export", "--namespace", "plain", "--url", s.URL, "--key", key, "--out", set)
	over := []string{"import", set, "--url", s.URL, "--key", key, "--namespace"}
	answers(0, "1 document created", append(over, "copy", "--embedding-model", "other")...)
	shows("copy", "other (chosen for it)")
	answers(1, "which reindexing can give it", append(over, "copy", "--embedding-model", "e5-small-v2")...)
	answers(2, "--embedding-model", "import", set, "--embedding-model", "other")
}
