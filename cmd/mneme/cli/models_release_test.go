package cli_test

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// zipped are the names in an archive.
func zipped(t *testing.T, file string) (names []string) {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, m := range z.File {
		names = append(names, m.Name)
	}
	return names
}

// sealed is a vendor's folder around a module that embeds.
func sealed(t *testing.T, version string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "acme")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join("..", "..", "..", "wasm", "abitest", "testdata", "hostile.wasm"), filepath.Join(dir, "model.wasm"))
	write(t, filepath.Join(dir, "model.json"), `{"name":"acme","version":"`+version+`","licence":"MIT","tasks":["embedding"],`+
		`"memory_mb":16,"module":{"path":"model.wasm"}}`)
	write(t, filepath.Join(dir, "model.c"), "the source")
	succeed(t, "models", "seal", dir)
	return dir
}

// TestRelease: what pack makes of a vendor's folder is what try opens, and with
// the catalogue that it writes what pull installs.
func TestRelease(t *testing.T) {
	dir, shelf := sealed(t, "1.0.0"), t.TempDir()
	archive, catalogue := filepath.Join(shelf, "acme-1.0.0.zip"), filepath.Join(shelf, "catalogue.yaml")
	at := "file://" + filepath.ToSlash(shelf)
	pack := []string{"models", "pack", dir, "--out", archive, "--summary", "for tests", "--source", "https://acme.example"}
	out := succeed(t, append(pack, "--at", at)...).Stdout
	if !strings.Contains(out, "acme 1.0.0, 2 files") || !strings.Contains(out, "models:\n  acme:\n    summary: for tests\n") ||
		!strings.Contains(out, `acme: "`+at+`"`) {
		t.Errorf("%s", out)
	}
	if out := succeed(t, append(pack, "--at", at, "--catalogue", catalogue)...).Stdout; !strings.Contains(out,
		catalogue+" lists it\n") {
		t.Errorf("%s", out)
	}
	if out := succeed(t, append(pack, "--catalogue", catalogue)...).Stdout; !strings.Contains(out, "listed it already") {
		t.Errorf("%s", out)
	}
	// A temporary folder of its own shows what try leaves behind.
	temp := t.TempDir()
	r := mnemeIn(t, "", []string{"TMPDIR=" + temp}, "models", "try", archive, "some words")
	if r.Code != 0 || !strings.Contains(r.Stdout, "embedding, ") {
		t.Errorf("%+v", r)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	data := filepath.Join(t.TempDir(), "data")
	out = succeed(t, "models", "pull", "--data", data, "--catalogue", catalogue, "acme").Stdout
	manifest, err := os.ReadFile(filepath.Join(dir, "model.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "installed acme 1.0.0, embedding") || !strings.Contains(out, hash(manifest)) {
		t.Errorf("%s", out)
	}
	var list struct {
		Installed []struct{ Name, Source, Problem string }
	}
	listed := succeed(t, "models", "list", "--installed", "--json", "--data", data).Stdout
	if err := json.Unmarshal([]byte(listed), &list); err != nil || len(list.Installed) != 1 ||
		list.Installed[0].Source != "https://acme.example" || list.Installed[0].Problem != "" {
		t.Errorf("%s, %v", listed, err)
	}
}

// TestPackUsage: flags of checkpoints are refused for a vendor's folder, and its flags for
// checkpoints; an archive of something else is no model.
func TestPackUsage(t *testing.T) {
	dir := sealed(t, "1.0.0")
	for want, args := range map[string][]string{
		"--licence, --pooling: ":      {dir, "--licence", "MIT", "--pooling", "cls"},
		"are for a folder with a mod": {t.TempDir(), "--out", "x", "--at", "https://a.example"},
	} {
		if r := mneme(t, append([]string{"models", "pack"}, args...)...); r.Code != 2 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%v: %+v, want %q", args, r, want)
		}
	}
	file := filepath.Join(t.TempDir(), "other.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range []string{"model.json", "a/b/model.json"} { // not in one folder
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if r := mneme(t, "models", "check", file); r.Code != 1 || !strings.Contains(r.Stderr, "it is no release of a model") {
		t.Errorf("%+v", r)
	}
}

// TestSignedRelease: a publisher's keys sign archive and catalogue, and an operator who has
// pinned the public one takes what they signed and nothing else.
func TestSignedRelease(t *testing.T) {
	dir, shelf := sealed(t, "1.0.0"), t.TempDir()
	key, data := filepath.Join(shelf, "acme"), filepath.Join(t.TempDir(), "data")
	archive, catalogue := filepath.Join(shelf, "acme-1.0.0.zip"), filepath.Join(shelf, "catalogue.yaml")
	lines := succeed(t, "models", "keygen", key).Stdout
	for name, mode := range map[string]os.FileMode{"acme.key": 0o600, "acme.pub": 0o644} {
		if info, err := os.Stat(filepath.Join(shelf, name)); err != nil || info.Mode().Perm()&^mode != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if r := mneme(t, "models", "keygen", key); r.Code != 1 || !strings.Contains(r.Stderr, "exists") {
		t.Errorf("keys were written over: %+v", r)
	}
	pack := []string{"models", "pack", dir, "--out", archive, "--catalogue", catalogue, "--at",
		"file://" + filepath.ToSlash(shelf)}
	out := succeed(t, append(pack, "--sign", key+".key")...).Stdout
	for _, file := range []string{archive, catalogue} {
		if !strings.Contains(out, file+".minisig signs it\n") {
			t.Errorf("%s: %s", file, out)
		}
	}
	_, printed, ok := strings.Cut(lines, "\n\n")
	config := filepath.Join(t.TempDir(), "mneme.yaml")
	write(t, config, strings.Replace(printed, "https://...", filepath.ToSlash(catalogue), 1))
	pull := func(more ...string) harness.Result {
		return mneme(t, append([]string{"models", "pull", "--data", data, "--config", config}, more...)...)
	}
	if r := pull("--publisher", "acme", "acme"); !ok || r.Code != 0 ||
		!strings.Contains(r.Stdout, "installed acme 1.0.0, embedding, 0.0 MB, licence MIT, up to 16 MB of memory an instance, "+
			"signed by acme;") {
		t.Errorf("%+v", r)
	}
	if r := pull("--publisher", "acme", "--list", "--json"); r.Code != 0 || !strings.Contains(r.Stdout, `"name": "acme"`) {
		t.Errorf("%+v", r)
	}
	for want, args := range map[string][]string{
		`no publisher "other"; under pull.publishers it has acme`: {"--publisher", "other", "acme"},
		"are two places": {"--publisher", "acme", "--catalogue", catalogue, "acme"},
	} {
		if r := pull(args...); r.Code != 2 || !strings.Contains(r.Stderr, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
	// The catalogue changes, and its signature not with it until it is signed again.
	r := mneme(t, append(pack, "--summary", "newer")...)
	if r.Code != 0 || !strings.Contains(r.Stderr, "sign it again: mneme models sign --key KEY "+catalogue) {
		t.Errorf("%+v", r)
	}
	if r := pull("--publisher", "acme", "acme"); r.Code != 1 || !strings.Contains(r.Stderr, "publisher acme: ") {
		t.Errorf("%+v", r)
	}
	if r := mneme(t, "models", "sign", catalogue); r.Code != 2 || !strings.Contains(r.Stderr, "needs --key") {
		t.Errorf("%+v", r)
	}
	succeed(t, "models", "sign", "--key", key+".key", catalogue)
	if r := pull("--publisher", "acme", "acme"); r.Code != 0 {
		t.Errorf("%+v", r)
	}
	if r := mneme(t, append(pack, "--sign", key+".pub")...); r.Code != 1 || !strings.Contains(r.Stderr, "no private key") {
		t.Errorf("%+v", r)
	}
}

// TestProcessRelease: a model that runs as a process is sealed, packed, listed and pulled
// as a module is, and its program can be run where it arrives.
func TestProcessRelease(t *testing.T) {
	dir, shelf := filepath.Join(t.TempDir(), "acme"), t.TempDir()
	data, catalogue := filepath.Join(t.TempDir(), "data"), filepath.Join(shelf, "catalogue.yaml")
	archive := filepath.Join(shelf, "acme.zip")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "acme"), "#!/bin/sh\necho no backend >&2\n")
	write(t, filepath.Join(dir, "main.go"), "the source")
	write(t, filepath.Join(dir, "model.json"), `{"kind":"process","name":"acme","version":"2","licence":"MIT",`+
		`"tasks":["rerank"],"memory_mb":64,"programs":{"`+runtime.GOOS+`/`+runtime.GOARCH+`":{"path":"acme"}}}`)
	out := succeed(t, "models", "seal", dir).Stdout
	if !strings.Contains(out, `acme: { process: { manifest: "`+filepath.ToSlash(dir)+`", sha256: "`) ||
		!strings.Contains(out, "roles: { rerank: acme }") {
		t.Errorf("%s", out)
	}
	succeed(t, "models", "pack", dir, "--out", archive, "--catalogue", catalogue, "--at", "file://"+filepath.ToSlash(shelf))
	if got := zipped(t, archive); !slices.Equal(got, []string{"acme-2/acme", "acme-2/model.json"}) {
		t.Errorf("the release has %v", got)
	}
	out = succeed(t, "models", "pull", "--data", data, "--catalogue", catalogue, "acme").Stdout
	if !strings.Contains(out, "rerank, 0.0 MB, licence MIT, up to 64 MB of memory in all; ") ||
		!strings.Contains(out, `mine: { process: { manifest: "installed:acme", sha256: "`) {
		t.Errorf("%s", out)
	}
	installed := filepath.Join(data, "models", "acme", "acme")
	if info, err := os.Stat(installed); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	// What cannot be a model was started all the same: as a process, from both places.
	for _, name := range []string{archive, "installed:acme"} {
		if r := mneme(t, "models", "try", "--data", data, name, "x"); r.Code != 1 || !strings.Contains(r.Stderr, "no backend") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	_, lines, _ := strings.Cut(out, "to turn it on:\n\n")
	config := filepath.Join(t.TempDir(), "mneme.yaml")
	write(t, config, lines)
	if r := mneme(t, "models", "remove", "--data", data, "--config", config, "acme"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "is model mine of the configuration") {
		t.Errorf("%+v", r)
	}
	write(t, installed, "#!/bin/sh\n")
	if out := mneme(t, "models", "list", "--installed", "--data", data).Stdout; !strings.Contains(out,
		"refused installed:acme: ") {
		t.Errorf("%s", out)
	}
	b, err := os.ReadFile(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	write(t, catalogue, strings.Replace(string(b), "format: process", "format: module", 1))
	if r := mneme(t, "models", "pull", "--data", data, "--catalogue", catalogue, "--replace", "acme"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "the catalogue says that it is a module, its model.json that it is a process") {
		t.Errorf("%+v", r)
	}
}
