package pull_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/minisig"
	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
)

// house is a publisher with a shelf.
type house struct {
	t      *testing.T
	shelf  *shelf
	base   string
	dir    string
	signer *minisig.Signer
	clock  time.Time
	by     pull.Publisher
}

const catalogueAt = "/v1/catalogue.yaml"

func newHouse(t *testing.T) *house {
	h := &house{t: t, shelf: &shelf{files: map[string][]byte{}}, dir: t.TempDir(), clock: time.Unix(1000, 0)}
	h.base = serve(t, h.shelf)
	h.by = pull.Publisher{Name: "acme", URL: h.base + catalogueAt}
	h.signer, h.by.Key = h.keys("own")
	return h
}

func (h *house) keys(name string) (*minisig.Signer, minisig.Key) {
	h.t.Helper()
	private, public, err := minisig.Generate()
	if err != nil {
		h.t.Fatal(err)
	}
	file := filepath.Join(h.dir, name)
	if err := os.WriteFile(file, private, 0o600); err != nil {
		h.t.Fatal(err)
	}
	s, err := minisig.ReadSigner(file, func() time.Time { return h.clock })
	if err != nil {
		h.t.Fatal(err)
	}
	key, err := minisig.ParseKey(string(public))
	if err != nil {
		h.t.Fatal(err)
	}
	return s, key
}

// publish signs a catalogue of one module, acme, at a time, and gives its text and signature.
func (h *house) publish(by *minisig.Signer, version string, at int64) (text, signature []byte) {
	h.t.Helper()
	module := "\x00asm\x01\x00\x00\x00" + version // pulling runs nothing
	manifest := fmt.Sprintf(`{"name":"acme","version":%q,"licence":"MIT","tasks":["embedding"],`+
		`"module":{"path":"model.wasm","sha256":%q}}`, version, sum([]byte(module)))
	zip := archive(h.t, "acme/", map[string][]byte{"model.json": []byte(manifest), "model.wasm": []byte(module)})
	path := "/v1/acme-" + version + ".zip"
	text = fmt.Appendf(nil, `version: 1
bases: { acme: %q }
models:
  acme:
    task: embedding
    version: %q
    licence: MIT
    format: module
    bytes: 500
    files: [{url: "{acme}/acme-%s.zip", sha256: %s, bytes: %d, take: {"acme/": ""}}]
`, h.base+"/v1", version, version, sum(zip), len(zip))
	h.clock = time.Unix(at, 0)
	file := filepath.Join(h.t.TempDir(), "catalogue.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := by.Sign(file); err != nil {
		h.t.Fatal(err)
	}
	signature, err := os.ReadFile(file + ".minisig")
	if err != nil {
		h.t.Fatal(err)
	}
	h.put(path, zip)
	h.put(catalogueAt, text)
	h.put(catalogueAt+".minisig", signature)
	return text, signature
}

func (h *house) put(path string, b []byte) {
	h.shelf.mu.Lock()
	defer h.shelf.mu.Unlock()
	if h.shelf.files[path] = b; b == nil {
		delete(h.shelf.files, path)
	}
}

func (h *house) open(s pull.Store, m pull.Mirror) (pull.Signed, error) {
	return s.Open(h.t.Context(), h.by, m, quick())
}

// pull installs acme as another name, so that none is in the way.
func (h *house) pull(s pull.Store, signed pull.Signed, as string, m pull.Mirror) (pull.Installed, error) {
	return s.Pull(h.t.Context(),
		pull.Plan{Catalogue: signed.Catalogue, Signed: &signed, Name: "acme", As: as, Mirror: m, Client: quick()})
}

// TestPublisher: a signed catalogue is taken and what was installed says by whom; an older
// one is refused from then on, by this store alone.
func TestPublisher(t *testing.T) {
	h, store := newHouse(t), pull.Store{DataDir: t.TempDir()}
	oldText, oldSignature := h.publish(h.signer, "1", 1000)
	h.shelf.fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 1 { // a server that is busy is asked again
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return n == 1
	}
	signed, err := h.open(store, pull.Mirror{})
	if err != nil || signed.At.Unix() != 1000 {
		t.Fatal(signed.At, err)
	}
	in, err := h.pull(store, signed, "one", pull.Mirror{})
	if err != nil || in.Version != "1" || in.Publisher == nil || in.Publisher.Name != "acme" ||
		in.Publisher.PublicKey != h.by.Key.String() || !in.Publisher.Signed.Equal(time.Unix(1000, 0)) {
		t.Fatalf("%+v, %v", in, err)
	}
	if list, err := store.List(); err != nil || len(list) != 1 || list[0].Publisher == nil ||
		*list[0].Publisher != *in.Publisher {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := h.open(store, pull.Mirror{}); err != nil { // the same one again
		t.Error(err)
	}
	h.publish(h.signer, "2", 2000)
	newer, err := h.open(store, pull.Mirror{})
	if err != nil {
		t.Fatal(err)
	}
	// To look at a catalogue is not to take it.
	h.put(catalogueAt, oldText)
	h.put(catalogueAt+".minisig", oldSignature)
	if _, err := h.open(store, pull.Mirror{}); err != nil {
		t.Error(err)
	}
	if in, err := h.pull(store, newer, "two", pull.Mirror{}); err != nil || in.Version != "2" {
		t.Fatalf("%+v, %v", in, err)
	}
	want := "was signed at 1970-01-01T00:16:40Z, and one that was signed at 1970-01-01T00:33:20Z has been taken"
	if _, err := h.open(store, pull.Mirror{}); err == nil || !strings.Contains(err.Error(), "publisher acme: ") ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	// One that was opened before another process took a newer one.
	if _, err := h.pull(store, signed, "three", pull.Mirror{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err := h.open(pull.Store{DataDir: t.TempDir()}, pull.Mirror{}); err != nil {
		t.Error(err)
	}
	if list, err := store.List(); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	// Another key is another publisher, with times of its own.
	other, key := h.keys("other")
	h.by.Key = key
	h.publish(other, "1", 1500)
	if again, err := h.open(store, pull.Mirror{}); err != nil {
		t.Error(err)
	} else if _, err := h.pull(store, again, "four", pull.Mirror{}); err != nil {
		t.Error(err)
	}
	if left := hidden(t, store.DataDir); len(left) != 1 || left[0] != ".publishers.json" {
		t.Errorf("left behind: %v", left)
	}
}

// TestPublisherRefused: what the pinned key has not signed is not read, and the reason is told.
func TestPublisherRefused(t *testing.T) {
	h, store := newHouse(t), pull.Store{DataDir: t.TempDir()}
	other, _ := h.keys("other")
	text, signature := h.publish(h.signer, "1", 1000)
	h.put("/v1/catalogue", text)
	h.put("/v1/catalogue.minisig", signature)
	for _, c := range []struct {
		text, signature []byte
		url, want       string
	}{
		{text: text, want: "its catalogue is not signed: there is no " + h.base + catalogueAt + ".minisig"},
		{text: append([]byte("# more\n"), text...), signature: signature, want: "it does not fit"},
		{text: text, signature: []byte("x"), want: "no signature of minisign"},
		{signature: signature, want: "404"},
		{text: bytes.Repeat([]byte("# long\n"), 2<<20), signature: signature, want: "larger than a catalogue may be"},
		{text: text, signature: signature, url: h.base, want: "does not end with the name of a file"},
		{text: text, signature: signature, url: h.base + catalogueAt + "?a=b", want: "does not end with the name of a file"},
		{text: text, signature: signature, url: "ftp://a/b", want: "scheme ftp"},
	} {
		h.put(catalogueAt, c.text)
		h.put(catalogueAt+".minisig", c.signature)
		if h.by.URL = h.base + catalogueAt; c.url != "" {
			h.by.URL = c.url
		}
		if _, err := h.open(store, pull.Mirror{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	h.by.URL = h.base + catalogueAt
	h.publish(other, "1", 1000)
	if _, err := h.open(store, pull.Mirror{}); err == nil || !strings.Contains(err.Error(), "and not by "+h.by.Key.ID()) {
		t.Errorf("%v", err)
	}
	// Signed, and yet no catalogue.
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	if err := os.WriteFile(file, []byte("version: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.signer.Sign(file); err != nil {
		t.Fatal(err)
	}
	h.by.URL = file
	if _, err := h.open(store, pull.Mirror{}); err == nil || !strings.Contains(err.Error(), "version 2 is not supported") {
		t.Errorf("%v", err)
	}
	// A server that is never there is given up.
	h.by.URL = h.base + catalogueAt
	h.shelf.fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	before := len(h.shelf.requests())
	if _, err := h.open(store, pull.Mirror{}); err == nil || !strings.Contains(err.Error(), "gave up after 6 attempts") {
		t.Errorf("%v", err)
	}
	if n := len(h.shelf.requests()) - before; n != 6 {
		t.Errorf("%d requests, want 6", n)
	}
	if entries, err := os.ReadDir(filepath.Join(store.DataDir, "models")); err == nil && len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestPublisherMirror: a mirror holds the catalogue and its signature as well, and stands
// for the publisher.
func TestPublisherMirror(t *testing.T) {
	h, store := newHouse(t), pull.Store{DataDir: t.TempDir()}
	h.publish(h.signer, "1", 1000)
	signed, err := h.open(store, pull.Mirror{})
	if err != nil {
		t.Fatal(err)
	}
	stick := t.TempDir()
	plan := pull.Plan{Catalogue: signed.Catalogue, Signed: &signed, Name: "acme", Client: quick(),
		Progress: func(string, int64, int64) {}}
	if err := plan.MirrorTo(t.Context(), stick); err != nil {
		t.Fatal(err)
	}
	h.shelf.fault = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		t.Errorf("%s was asked for", r.URL)
		return false
	}
	for _, address := range []string{stick, "acme=" + filepath.Join(stick, "acme")} {
		m, err := pull.ParseMirror(address)
		if err != nil {
			t.Fatal(err)
		}
		from, err := h.open(store, m)
		if err != nil {
			t.Fatal(err)
		}
		if in, err := h.pull(store, from, "", m); err != nil || in.Name != "acme" || in.Version != "1" {
			t.Errorf("%+v, %v", in, err)
		}
	}
}
