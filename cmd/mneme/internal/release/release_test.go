package release_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
	"github.com/mnemehq/mneme/cmd/mneme/internal/release"
	"github.com/mnemehq/mneme/wasm/models"
)

// manifest is a module's model.json before it is sealed.
const manifest = `{"name": "acme", "version": "1.2.0", "licence": "MIT", "languages": ["en"], "tasks": ["rerank", "embedding"],
 "module": {"path": "model.wasm"}, "assets": [{"name": "words", "path": "data/words.txt"}]}`

// project is a vendor's sealed folder with everything that lies about in one.
func project(t *testing.T, manifest string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "acme")
	for name, text := range map[string]string{"model.json": manifest, "model.wasm": "\x00asm\x01\x00\x00\x00", "LICENSE": "free",
		"data/words.txt": strings.Repeat("word ", 1000), "NOTICE.md": "thanks", "README.md": "read", "model.c": "int x;",
		"golden/a.json": "{}", "sdk/LICENSE": "of the SDK", "notice/other": "a folder"} {
		put(t, filepath.Join(dir, name), text)
	}
	if _, err := models.Seal(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sum(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }

// pack packs a folder into a file of a folder of its own.
func pack(t *testing.T, dir string) release.Release {
	t.Helper()
	r, err := release.Archive(dir, filepath.Join(t.TempDir(), "acme.zip"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestArchive: an archive holds what the manifest lists and licences, says what it is, and
// has the same bytes whenever and wherever it is made.
func TestArchive(t *testing.T) {
	dir := project(t, manifest)
	r := pack(t, dir)
	want := []string{"LICENSE", "NOTICE.md", "data/words.txt", "model.json", "model.wasm"}
	if r.Name != "acme" || !slices.Equal(r.Names, want) {
		t.Errorf("%+v", r)
	}
	b := read(t, r.File)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	unpacked := int64(0)
	for _, m := range z.File {
		names = append(names, strings.TrimPrefix(m.Name, "acme-1.2.0/"))
		unpacked += int64(m.UncompressedSize64)
		if m.Mode() != 0o644 {
			t.Errorf("%s has the mode %s", m.Name, m.Mode())
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("the archive has %v", names)
	}
	e := r.Entry
	if e.Task != "rerank" || e.Version != "1.2.0" || e.Licence != "MIT" || e.Format != pull.Module || e.Bytes != unpacked ||
		!slices.Equal(e.Languages, []string{"en"}) || len(e.Files) != 1 || e.Files[0].URL != "{acme}/acme.zip" ||
		e.Files[0].SHA256 != sum(b) || e.Files[0].Bytes != int64(len(b)) || int64(len(b)) >= unpacked ||
		!maps.Equal(e.Files[0].Take, map[string]string{"acme-1.2.0/": ""}) {
		t.Errorf("%+v", e)
	}
	other := project(t, manifest)
	put(t, filepath.Join(other, "more.c"), "int y;")
	for _, name := range []string{"model.json", "model.wasm"} {
		if err := os.Chtimes(filepath.Join(other, name), time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(other, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(read(t, pack(t, other).File), b) {
		t.Error("the same files made another archive")
	}
	t.Chdir(t.TempDir())
	if r, err := release.Archive(dir, ""); err != nil || r.File != "acme-1.2.0.zip" || !bytes.Equal(read(t, r.File), b) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestArchiveRefused: what is not sealed, changed, missing or says too little of itself
// makes no archive, and leaves the one that was there.
func TestArchiveRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "acme.zip")
	put(t, out, "older")
	for want, change := range map[string]func(dir string) error{
		"model.wasm is not the file that model.json was sealed with": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "model.wasm"), []byte("\x00asm\x01\x00\x00\x01"), 0o644)
		},
		"words.txt: no such file": func(dir string) error { return os.Remove(filepath.Join(dir, "data", "words.txt")) },
		"mneme models seal": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "model.json"), []byte(manifest), 0o644)
		},
		"a folder is a model when": func(dir string) error { return os.Remove(filepath.Join(dir, "model.json")) },
	} {
		dir := project(t, manifest)
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := release.Archive(dir, out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for from, c := range map[string][2]string{
		`"acme"`:                  {`"a/c"`, "needs a name"},
		`"1.2.0"`:                 {`"1/2"`, "needs a version"},
		`"MIT"`:                   {`""`, "needs a licence"},
		`["rerank", "embedding"]`: {`[]`, "needs the tasks"},
	} {
		dir := project(t, strings.Replace(manifest, from, c[0], 1))
		if _, err := release.Archive(dir, out); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%v, want %q", err, c[1])
		}
	}
	if got := read(t, out); string(got) != "older" {
		t.Errorf("the archive is %q", got)
	}
	if left, _ := filepath.Glob(out + "?*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestCatalogue: a release is put into a catalogue, replaces its older version there and
// leaves all the rest as it was written; models pull reads the result.
func TestCatalogue(t *testing.T) {
	r := pack(t, project(t, manifest))
	made := filepath.Join(t.TempDir(), "catalogue.yaml")
	listing := release.Listing{Summary: "short: texts", Source: "https://acme.example", At: "https://models.acme.example/v1"}
	if changed, err := r.AddTo(made, listing); err != nil || !changed {
		t.Fatal(changed, err)
	}
	entry := func(file, name string) pull.Entry {
		t.Helper()
		c, err := pull.Open(file)
		if err != nil {
			t.Fatalf("%v\n%s", err, read(t, file))
		}
		e, err := c.Model(name)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := entry(made, "acme"); e.Summary != "short: texts" || e.Source != "https://acme.example" ||
		e.Files[0].SHA256 != r.Entry.Files[0].SHA256 {
		t.Errorf("%+v", e)
	}
	first := read(t, made)
	if changed, err := r.AddTo(made, release.Listing{}); err != nil || changed || !bytes.Equal(read(t, made), first) {
		t.Errorf("listed again: %v, %v", changed, err)
	}
	// Printed, it is the same entry.
	if text, err := r.Print(listing); err != nil || "version: 1\n"+text != string(first) {
		t.Errorf("%v\n%s", err, text)
	}
	// One that people have written keeps its comments, its order and its indentation.
	const head, other, tail = `# our models
version: 1
models: # the newest of each
    # the big one
    zebra:
        task: embedding
        licence: MIT
        files: [{url: "{acme}/z", sha256: ` + zeros + `, bytes: 1, as: z}]

    # the small one
`, `    acme:
        summary: kept
        licence: X
        files: [{url: "{acme}/a", sha256: ` + zeros + `, bytes: 1, as: a}]
`, `
    # the last
    bee: {licence: MIT, files: [{url: "{acme}/b", sha256: ` + zeros + `, bytes: 1, as: b}]}

# where they lie
bases: { acme: https://models.acme.example/v1 }
`
	own := filepath.Join(t.TempDir(), "catalogue.yaml")
	put(t, own, head+other+tail)
	if changed, err := r.AddTo(own, release.Listing{}); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if got := string(read(t, own)); !strings.HasPrefix(got, head+"    acme:\n      summary: kept\n") ||
		!strings.HasSuffix(got, tail) {
		t.Errorf("%s", got)
	}
	if e := entry(own, "acme"); e.Summary != "kept" || e.Version != "1.2.0" || e.Format != pull.Module {
		t.Errorf("%+v", e)
	}
	// A new one comes behind the others.
	put(t, own, head+tail)
	if _, err := r.AddTo(own, release.Listing{}); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, own)); !strings.HasPrefix(got, head+strings.TrimSuffix(tail, "\n# where they lie\nbases: { acme: "+
		"https://models.acme.example/v1 }\n")+"    acme:\n") || !strings.HasSuffix(got, "\n# where they lie\nbases: { acme: "+
		"https://models.acme.example/v1 }\n") {
		t.Errorf("%s", got)
	}
	entry(own, "acme")
	entry(own, "bee")
}

const zeros = `"0000000000000000000000000000000000000000000000000000000000000000"`

// TestCatalogueRefused: a catalogue that would not say what is meant is left alone.
func TestCatalogueRefused(t *testing.T) {
	r := pack(t, project(t, manifest))
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	if _, err := r.AddTo(file, release.Listing{}); err == nil || !strings.Contains(err.Error(), "--at") {
		t.Errorf("%v", err)
	}
	const bases = "version: 1\nbases: {acme: https://a.example}\n"
	for _, c := range []struct{ text, at, want string }{
		{"version: 1\nmodels:\n", "", "has no base acme: put the URL"},
		{"version: 1\nmodels:\n", "https://a.example", `has no base acme: put "https://a.example"`},
		{bases + "models:\n", "https://b.example", "its base acme is https://a.example, not https://b.example"},
		{bases + "models: {}\n", "", "a form that cannot be changed"},
		{bases, "", "a form that cannot be changed"},
		{bases + "models: {acme: {licence: MIT}}\n", "", "a form that cannot be changed"},
		{bases + "models:\n  b: {licence: MIT}\n", "", "no files"}, // another entry is wrong
		{bases + "modules:\n", "", "modules"},
		{"- 1\n", "", ""},
	} {
		put(t, file, c.text)
		if _, err := r.AddTo(file, release.Listing{At: c.at}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
		if got := string(read(t, file)); got != c.text {
			t.Errorf("changed to %q", got)
		}
	}
}

// TestBase: a base has a name that a catalogue can refer to, whatever the model's is.
func TestBase(t *testing.T) {
	r := pack(t, project(t, strings.Replace(manifest, `"acme"`, `"Acme-embed.2"`, 1)))
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	if _, err := r.AddTo(file, release.Listing{At: "https://a.example"}); err != nil {
		t.Fatal(err)
	}
	c, err := pull.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Models["Acme-embed.2"].Files[0].URL; got != "{acme_embed_2}/acme.zip" {
		t.Error(got)
	}
}
