package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
