package cli_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
)

// older makes a data folder as an older program left it, one step behind this one.
func older(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", filepath.Join(dir, "mneme.db"))
	if err != nil {
		t.Fatal(err)
	}
	do := func(statement string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do(`PRAGMA journal_mode = WAL`)
	do(`CREATE TABLE schema_migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
		applied_at INTEGER NOT NULL) STRICT`)
	words := strings.NewReplacer("{{int64}}", "INTEGER", "{{blob}}", "BLOB", "{{text}}", "TEXT", "{{identity}}",
		"INTEGER PRIMARY KEY AUTOINCREMENT", "{{now}}", "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)",
		"{{strict}}", " STRICT", "{{keyed}}", " STRICT, WITHOUT ROWID", "{{utf8}}", "CAST(", "{{/utf8}}", " AS BLOB)",
		"{{json_object}}", "json_object")
	for i, m := range known[:len(known)-1] {
		do(words.Replace(m.SQL))
		do(`INSERT INTO schema_migrations VALUES (?, ?, ?, 0)`, m.Version, m.Name, m.Checksum)
		if i == 0 {
			do(`INSERT INTO organizations (id, name, suspended, created_at) VALUES ('org_1', 'default', 0, 1)`)
		}
	}
	do(`PRAGMA application_id = 0x4d4e454d`)
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// contents is everything below a folder, with modes and times.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var out bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if !d.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			digest := sha256.Sum256(b)
			sum = hex.EncodeToString(digest[:4])
		}
		fmt.Fprintln(&out, path, info.Mode(), info.ModTime().UnixNano(), sum)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What an older program wrote is brought up to date by serve and migrate, and by nothing else
// that was not told to.
func TestOlderSchema(t *testing.T) {
	known, err := bunsql.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	data := older(t)
	before := contents(t, data)
	dry := []string{"migrate", "--dry-run", "--data", data}
	behind := fmt.Sprintf("the schema is version %d", len(known)-1)
	if r := succeed(t, dry...); !strings.Contains(r.Stdout, behind) {
		t.Fatalf("the folder is not an older one: %s", r.Stdout)
	}
	r := succeed(t, "doctor", "--data", data)
	if !strings.Contains(r.Stdout, "warn  store    sqlite: an older version wrote it") ||
		!strings.Contains(r.Stdout, "mneme migrate") {
		t.Errorf("doctor:\n%s", r.Stdout)
	}
	set := filepath.Join(t.TempDir(), "set.ndjson")
	other := filepath.Join(t.TempDir(), "other")
	newKey(t, other)
	succeed(t, "export", "--data", other, "--out", set)
	to := filepath.Join(t.TempDir(), "to.yaml")
	from := filepath.Join(t.TempDir(), "from.yaml")
	write(t, to, "data_dir: "+filepath.Join(t.TempDir(), "to")+"\n")
	write(t, from, "data_dir: "+data+"\n")
	for _, args := range [][]string{
		{"keys", "list"}, {"keys", "create"}, {"orgs", "list"}, {"integrations", "list"}, {"users", "list"}, {"query", "n", "x"},
		{"export", "--out", "-"}, {"import", set}, {"quickstart", "--exit"}, {"mcp", "--stdio"},
		{"copy", "--from", from, "--to", to},
	} {
		if args[0] != "copy" {
			args = append(args, "--data", data)
		}
		r := answering(t, "n\n", args, nil)
		if r.Code != 1 || !strings.Contains(r.Stderr, "was written by an older version") || !strings.Contains(r.Stderr, "--yes") {
			t.Errorf("mneme %s: %+v", strings.Join(args, " "), r)
		}
		if args[0] == "keys" && !strings.Contains(r.Stderr, "mneme "+args[0]+" "+args[1]+" brings it to") {
			t.Errorf("it does not name itself: %s", r.Stderr)
		}
	}
	if after := contents(t, data); after != before {
		t.Errorf("the folder was\n%s\nand is\n%s", before, after)
	}
	// Agreed, or told to.
	if r := answering(t, "y\n", []string{"keys", "list", "--data", data}, nil); r.Code != 0 {
		t.Errorf("agreed: %+v", r)
	}
	if r := succeed(t, dry...); !strings.Contains(r.Stdout, "up to date") {
		t.Errorf("after it: %s", r.Stdout)
	}
	data = older(t)
	if r := succeed(t, "keys", "list", "--data", data, "--yes"); strings.Contains(r.Stderr, "[y/N]") {
		t.Errorf("--yes asks: %s", r.Stderr)
	}
	data = older(t)
	start(t, "--data", data)
	if r := succeed(t, "migrate", "--dry-run", "--data", data); !strings.Contains(r.Stdout, "up to date") {
		t.Errorf("served: %s", r.Stdout)
	}
}

// A look changes nothing, whatever it finds.
func TestDoctorChangesNothing(t *testing.T) {
	config := keywordOnly(t)
	fresh := filepath.Join(t.TempDir(), "fresh")
	if r := succeed(t, "doctor", "--data", fresh, "--config", config); !strings.Contains(r.Stdout, "nothing is there yet") {
		t.Errorf("a fresh folder:\n%s", r.Stdout)
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("doctor made the data folder")
	}
	used := filepath.Join(t.TempDir(), "used")
	newKey(t, used)
	before := contents(t, used)
	r := succeed(t, "doctor", "--data", used, "--config", config)
	if !strings.Contains(r.Stdout, "ok    store    sqlite: schema") {
		t.Errorf("a folder in use:\n%s", r.Stdout)
	}
	if after := contents(t, used); after != before {
		t.Errorf("the folder was\n%s\nand is\n%s", before, after)
	}
	// Pages that do not fit together are found without opening the database for use.
	path := filepath.Join(used, "mneme.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 3; page*8192+8192 <= len(b); page += 2 {
		copy(b[page*8192:], bytes.Repeat([]byte{0xa5}, 512))
	}
	write(t, path, string(b))
	if r := mneme(t, "doctor", "--data", used, "--config", config); r.Code != 1 ||
		!strings.Contains(r.Stdout, "FAIL  store") || !strings.Contains(r.Stdout, "restore it from a backup") {
		t.Errorf("a damaged database: %+v", r)
	}
}

// A database that cannot be used is found before the first start, with advice that fits.
func TestDoctorOfADatabase(t *testing.T) {
	pg := postgrestest.Start()
	t.Cleanup(pg.Stop)
	dsn := pg.Database(t)
	doctor := func(dsn string) (code int, out string) {
		t.Helper()
		config := filepath.Join(t.TempDir(), "mneme.yaml")
		write(t, config, "data_dir: "+filepath.Join(t.TempDir(), "data")+"\nroles: {embed: \"off\", rerank: \"off\"}\n"+
			fmt.Sprintf("storage: {postgres: {dsn: %q}}\nkeyword: {postgres: {dsn: %q}}\n", dsn, dsn))
		r := mneme(t, "doctor", "--config", config)
		return r.Code, r.Stdout
	}
	for range 2 { // the first look makes nothing that the second one would see
		code, out := doctor(dsn)
		if code != 0 || !strings.Contains(out, "ok    store    postgres: reached, and nothing is there yet") ||
			!strings.Contains(out, "ok    index    keyword in postgres") {
			t.Errorf("an empty database: %d\n%s", code, out)
		}
	}
	at, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	absent, stranger := *at, *at
	absent.Path, stranger.User = "/absent", url.User("nobody_here")
	for name, c := range map[string]struct{ dsn, says, advice string }{
		"no such database": {absent.String(), "the server has no such database", "check user, password, database"},
		"no such user":     {stranger.String(), "refuses the user", "check user, password"},
		"nobody listens":   {"postgres://a:b@127.0.0.1:1/c", "is not reachable", "check the address and the port"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := doctor(c.dsn)
			if code != 1 || !strings.Contains(out, "FAIL  store") || !strings.Contains(out, "FAIL  index") ||
				!strings.Contains(out, c.says) || !strings.Contains(out, c.advice) {
				t.Errorf("%d\n%s", code, out)
			}
		})
	}
}
