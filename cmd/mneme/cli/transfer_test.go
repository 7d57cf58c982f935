package cli_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/dataset"
)

// One namespace goes from one running server to another by way of a file, with the
// commands that move whole installations.
func TestNamespaceByURL(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	write(t, filepath.Join(in, "lease.md"), "Notice must be given three months ahead.\n")
	write(t, filepath.Join(in, "dusk.md"), "The harbour closes at dusk.\n")
	here, there := filepath.Join(dir, "here"), filepath.Join(dir, "there")
	succeed(t, "import", in, "--namespace", "notes", "--data", here)
	admin := func(data string) string {
		t.Helper()
		return made(t, "adm-", succeed(t, "keys", "create", "--data", data, "--type", "admin").Stdout)
	}
	from := start(t, "--data", here)
	of := []string{"--url", from.URL, "--key", admin(here)}
	with := func(args []string, more ...string) []string { return append(append([]string{}, more...), args...) }

	file, plain := filepath.Join(dir, "notes.ndjson.gz"), filepath.Join(dir, "bare.ndjson")
	if r := mneme(t, with(of, "export", "--namespace", "notes", "--out", file)...); r.Code != 0 ||
		!strings.Contains(r.Stderr, "exported 2 documents in 1 namespace") || r.Stdout != "" {
		t.Fatalf("export: %+v", r)
	}
	if b, err := os.ReadFile(file); err != nil || string(b[:2]) != "\x1f\x8b" {
		t.Errorf("the file begins with %x, %v", b[:2], err)
	}
	if _, err := os.Stat(file + ".part"); err == nil {
		t.Error("something is left beside the file")
	}
	r := succeed(t, with(of, "export", "--namespace", "notes", "--no-vectors")...)
	write(t, plain, r.Stdout)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{1, "exists already", with(of, "export", "--namespace", "notes", "--out", file)},
		{1, "absent", with(of, "export", "--namespace", "absent", "--out", filepath.Join(dir, "x"))},
		{1, "other", with(of, "export", "--namespace", "notes", "--org", "other")},
		{2, "one namespace", with(of, "export", "--out", "-")},
		{2, "one namespace", with(of, "export", "--namespace", "notes", "--namespace", "more")},
		{2, "one namespace", with(of, "export", "--namespace", "notes", "--keys")},
		{2, "--resume", with(of, "export", "--namespace", "notes", "--out", file, "--resume")},
		{2, "--url", []string{"export", "--data", here, "--key", "adm-x", "--out", file}},
		{2, "--namespace", []string{"import", file, "--data", there, "--namespace", "notes"}},
		{2, "--org", with(of, "import", in, "--namespace", "notes", "--org", "other")},
	} {
		if r := mneme(t, c.args...); r.Code != c.code || !strings.Contains(r.Stderr, c.says) {
			t.Errorf("mneme %s: %+v", strings.Join(c.args, " "), r)
		}
	}

	// Into another server, twice; then without vectors under another name.
	to := start(t, "--data", there)
	into := []string{"--url", to.URL, "--key", admin(there)}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{0, "notes: 2 documents created, 0 replaced, 0 there already, 0 with other contents kept; 0 embedded again\n",
			with(into, "import", file)},
		{0, "notes: 0 documents created, 0 replaced, 2 there already, 0 with other contents kept; 0 embedded again\n",
			with(into, "import", file)},
		{0, "copy: 2 documents created, 0 replaced, 0 there already, 0 with other contents kept; 2 embedded again\n",
			with(into, "import", plain, "--namespace", "copy")},
	} {
		if r := mneme(t, c.args...); r.Code != c.code || r.Stdout != c.says || !strings.Contains(r.Stderr, "sending KiB: ") {
			t.Errorf("mneme %s: %+v", strings.Join(c.args, " "), r)
		}
	}
	for _, ns := range []string{"notes", "copy"} {
		if r := succeed(t, "query", ns, "when does it close", "--data", there); !strings.Contains(r.Stdout, "1.000  dusk.md") {
			t.Errorf("%s: %s", ns, r.Stdout)
		}
	}
	// What was written since is in the way, unless it is said what to keep.
	write(t, filepath.Join(in, "dusk.md"), "The harbour closes at nine.\n")
	succeed(t, "import", in, "--namespace", "notes", "--data", there)
	if r := mneme(t, with(into, "import", file)...); r.Code != 1 || !strings.Contains(r.Stderr, "dusk.md") ||
		!strings.Contains(r.Stderr, "replace") {
		t.Errorf("a conflict: %+v", r)
	}
	if r := mneme(t, with(into, "import", file, "--on-conflict", "replace")...); r.Code != 0 ||
		!strings.Contains(r.Stdout, "1 replaced, 1 there already") {
		t.Errorf("a replacement: %+v", r)
	}
	// A file that was cut is refused, and so is one of a whole installation.
	b, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	write(t, plain, string(b[:len(b)*2/3]))
	if r := mneme(t, with(into, "import", plain)...); r.Code != 1 ||
		!strings.Contains(r.Stderr, "does not end; nothing was imported") {
		t.Errorf("half a file: %+v", r)
	}
	whole := filepath.Join(dir, "whole.ndjson")
	succeed(t, "export", "--data", here, "--out", whole)
	if r := mneme(t, with(into, "import", whole)...); r.Code != 2 || !strings.Contains(r.Stderr, "more than one namespace") {
		t.Errorf("a whole installation: %+v", r)
	}
}

// A file gives nobody rights that nobody asked for, names what could, and is taken by the
// signature that --verify asks for alone.
func TestImportOfRights(t *testing.T) {
	dir := t.TempDir()
	here := filepath.Join(dir, "here")
	write(t, filepath.Join(dir, "in", "dusk.md"), "The harbour closes at dusk.\n")
	succeed(t, "import", filepath.Join(dir, "in"), "--namespace", "notes", "--data", here)
	service := newKey(t, here)
	admin := made(t, "adm-", succeed(t, "keys", "create", "--data", here, "--type", "admin", "--name", "root",
		"--all-organizations").Stdout)
	private, public := keyPair(t, dir)
	file := filepath.Join(dir, "set.ndjson.gz")
	succeed(t, "export", "--data", here, "--out", file, "--secrets", "--sign", private)

	bare := filepath.Join(dir, "bare")
	r := succeed(t, "import", file, "--data", bare)
	for _, want := range []string{
		`"root", which administers every organization: left out; --admin-keys brings it`,
		`secret "cursor": left out; --secrets brings it`, "2 keys left out; --keys brings keys and accepted writes",
	} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("it does not say %q:\n%s", want, r.Stderr)
		}
	}
	if keys := listKeys(t, bare); len(keys) != 0 {
		t.Errorf("there are keys: %v", keys)
	}
	if r := succeed(t, "query", "notes", "when does it close", "--data", bare); !strings.Contains(r.Stdout, "dusk.md") {
		t.Errorf("the documents: %s", r.Stdout)
	}

	whole := filepath.Join(dir, "whole")
	r = succeed(t, "import", file, "--data", whole, "--keys", "--admin-keys", "--secrets", "--verify", public)
	if !strings.Contains(r.Stderr, `"root", which administers every organization: imported`) ||
		!strings.Contains(r.Stderr, `secret "cursor": imported`) || strings.Contains(r.Stderr, "left out") {
		t.Errorf("with all rights it says\n%s", r.Stderr)
	}
	s := start(t, "--data", whole)
	for key, path := range map[string]string{service: "/namespaces/notes", admin: "/admin/v1/organizations"} {
		if status, body := call(t, "GET", s.URL+path, key, ""); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}

	// Somebody else's signature, none, and one of another file.
	_, stranger := keyPair(t, filepath.Join(dir, "stranger"))
	other := filepath.Join(dir, "other.ndjson")
	succeed(t, "export", "--data", here, "--out", other)
	signature, err := os.ReadFile(file + ".sig")
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(dir, "fresh")
	for _, c := range []struct{ says, file, key string }{
		{"not a signature", file, stranger}, {"read the signature", other, public}, {"no PEM file", file, other},
	} {
		r := mneme(t, "import", c.file, "--data", fresh, "--verify", c.key)
		if r.Code != 1 || !strings.Contains(r.Stderr, c.says) {
			t.Errorf("%s: %+v", c.says, r)
		}
	}
	write(t, other+".sig", string(signature))
	if r := mneme(t, "import", other, "--data", fresh, "--verify", public); r.Code != 1 ||
		!strings.Contains(r.Stderr, "nothing was imported") {
		t.Errorf("the signature of another file: %+v", r)
	}
	if r := mneme(t, "query", "notes", "dusk", "--data", fresh); !strings.Contains(r.Stderr, "namespace_not_found") {
		t.Errorf("something was imported: %+v", r)
	}

	// The same for a namespace that goes over the network.
	of := []string{"--url", s.URL, "--key", admin}
	one := filepath.Join(dir, "one.ndjson")
	succeed(t, append([]string{"export", "--namespace", "notes", "--out", one, "--sign", private}, of...)...)
	succeed(t, append([]string{"import", one, "--verify", public}, of...)...)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{1, "not a signature", append([]string{"import", one, "--verify", stranger}, of...)},
		{2, "without keys", append([]string{"import", one, "--keys"}, of...)},
		{2, "is none", []string{"import", dir, "--namespace", "n", "--data", fresh, "--secrets"}},
		{2, "--out", []string{"export", "--data", here, "--sign", private}},
		{1, "--sign", []string{"export", "--data", here, "--out", one + "2", "--sign", public}},
	} {
		if r := mneme(t, c.args...); r.Code != c.code || !strings.Contains(r.Stderr, c.says) {
			t.Errorf("mneme %s: %+v", strings.Join(c.args, " "), r)
		}
	}
}

// A data set's id is somebody's word, and no path: what is beside the data folder stays.
func TestImportOfAHostileID(t *testing.T) {
	dir := t.TempDir()
	planted := filepath.Join(dir, "planted_1.jsonl")
	write(t, planted, "another program's")
	var set bytes.Buffer
	_, err := dataset.NewWriter(&set).Write(dataset.KindHeader, dataset.Header{
		Format: dataset.Format, Version: dataset.Version, ID: "x/../../../planted_1"})
	if err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(dir, "evil.ndjson")
	write(t, evil, set.String())
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(data, "imports", "move-x"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := mneme(t, "import", evil, "--data", data)
	if r.Code != 1 || !strings.Contains(r.Stderr, "its id is not one of a data set") {
		t.Errorf("%+v", r)
	}
	if b, err := os.ReadFile(planted); err != nil || string(b) != "another program's" {
		t.Errorf("the file beside the data folder: %q, %v", b, err)
	}
}

// keyPair writes an Ed25519 key as openssl does.
func keyPair(t *testing.T, dir string) (private, public string) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	open, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	private, public = filepath.Join(dir, "key.pem"), filepath.Join(dir, "key.pub")
	write(t, private, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	write(t, public, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open})))
	return private, public
}
