package move_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// story is what an application has written, with the keys it did so with.
type story struct{ service, app string }

// write fills an installation through its API: two namespaces, one of them with a
// learned-sparse index, an empty one, and end users with a conversation, versions
// of records, a tombstone and a save that carried an idempotency key.
func write(t *testing.T, config string) story {
	t.Helper()
	at := &harness.Site{T: t, Config: config}
	k := story{service: at.Key("--name", "service"), app: at.Key("--type", "integration", "--name", "app")}
	s := serve(t, config)
	defer stop(t, s)
	service, app := s.Client(t, k.service), s.Client(t, k.app)
	service.OK("POST", "/namespaces", object{"name": "terms", "sparse": true})
	service.OK("POST", "/namespaces", object{"name": "kept", "sparse": true})
	service.OK("POST", "/namespaces/docs/documents", object{"documents": []object{
		{"id": "lease", "text": "# Lease\n\nEither side may end the lease with three months' notice.",
			"metadata": object{"kind": "contract", "tags": []string{"a<b", "c&d"}}},
		{"id": "wifi", "text": "The guest network is called <harbour>; its password changes weekly."},
		{"id": "gone", "text": "This one is deleted before the move."},
	}})
	service.OK("POST", "/namespaces/docs/documents",
		object{"documents": []object{{"id": "later", "text": "Parking costs forty euro a month."}}})
	service.OK("POST", "/namespaces/docs/documents/delete", object{"ids": []string{"gone"}})
	service.OK("POST", "/namespaces/terms/documents",
		object{"documents": []object{{"id": "e42", "text": "Error E-42 means that the pump is dry."}}})
	for i, turn := range []string{"Ann: Where shall we meet on Friday?", "Bo: Near the old harbour, at eight.",
		"Ann: I am allergic to peanuts."} {
		app.OK("POST", "/api/v1/memories",
			object{"endUserId": "ann", "content": turn, "containerTag": "chat",
				"occurredAt": fmt.Sprintf("2026-05-06T07:0%d:00Z", i)})
	}
	app.OK("POST", "/api/v1/memories", object{"endUserId": "ann", "content": "Ann lives in Lyon."},
		"Idempotency-Key", "once")
	for v, text := range []string{"The account is open.", "The account is on hold."} {
		app.OK("PUT", "/api/v1/memories/acct",
			object{"endUserId": "ann", "source": "crm", "version": v + 1, "content": text, "occurredAt": "2026-01-02T03:04:05Z"})
	}
	app.OK("PUT", "/api/v1/memories/old",
		object{"endUserId": "bo", "source": "crm", "version": 1, "content": "Bo had a boat.",
			"occurredAt": "2026-01-02T03:04:05Z"})
	app.OK("DELETE", "/api/v1/memories/old?endUserId=bo&source=crm&version=2", nil)
	return k
}

// told is everything that the API says of what write wrote.
func told(t *testing.T, config string, k story) string {
	t.Helper()
	s := serve(t, config)
	defer stop(t, s)
	var all strings.Builder
	for _, c := range []struct {
		method, path, key string
		body              object
		header            []string
	}{
		{"GET", "/namespaces", k.service, nil, nil},
		{"GET", "/namespaces/kept", k.service, nil, nil},
		{"GET", "/namespaces/docs", k.service, nil, nil},
		{"GET", "/namespaces/docs/documents", k.service, nil, nil},
		{"GET", "/namespaces/docs/documents/lease?include=chunks", k.service, nil, nil},
		{"GET", "/namespaces/docs/documents/wifi?include=chunks", k.service, nil, nil},
		{"GET", "/namespaces/docs/documents/gone", k.service, nil, nil},
		{"POST", "/namespaces/docs/query", k.service, object{"query": "how long is the notice period", "explain": true}, nil},
		{"POST", "/namespaces/docs/query", k.service,
			object{"query": "network password", "filter": object{"kind": "contract"}}, nil},
		{"POST", "/namespaces/terms/query", k.service,
			object{"query": "E-42", "retrievers": []string{"sparse", "keyword"}, "explain": true}, nil},
		{"GET", "/api/v1/memories?endUserId=ann&limit=100", k.app, nil, nil},
		{"GET", "/api/v1/memories?endUserId=bo&limit=100", k.app, nil, nil},
		{"GET", "/api/v1/memories/acct?endUserId=ann&source=crm", k.app, nil, nil},
		{"GET", "/api/v1/memories/old?endUserId=bo&source=crm", k.app, nil, nil},
		{"POST", "/api/v1/search", k.app, object{"endUserId": "ann", "query": "where do we meet"}, nil},
		{"POST", "/api/v1/search", k.app, object{"endUserId": "ann", "query": "peanuts", "containerTag": "chat"}, nil},
		// Answered as they were the first time: the versions and the key are known.
		{"PUT", "/api/v1/memories/acct", k.app,
			object{"endUserId": "ann", "source": "crm", "version": 2, "content": "The account is on hold.",
				"occurredAt": "2026-01-02T03:04:05Z"}, nil},
		{"PUT", "/api/v1/memories/acct", k.app,
			object{"endUserId": "ann", "source": "crm", "version": 1, "content": "The account is open.",
				"occurredAt": "2026-01-02T03:04:05Z"}, nil},
		{"POST", "/api/v1/memories", k.app, object{"endUserId": "ann", "content": "Ann lives in Lyon."},
			[]string{"Idempotency-Key", "once"}},
		{"POST", "/api/v1/memories", k.app, object{"endUserId": "ann", "content": "Something else."},
			[]string{"Idempotency-Key", "once"}},
	} {
		a := s.Client(t, c.key).Call(c.method, c.path, c.body, c.header...)
		if a.Status == 401 || a.Status >= 500 {
			t.Error(a)
		}
		fmt.Fprintf(&all, "%s: %d %s\n", a.Call, a.Status, settled(t, a.Body))
	}
	return all.String()
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			from := max(0, i-8)
			t.Errorf("%s: what the API says differs from line %d on:\n%s\nwant\n%s", what, i,
				strings.Join(g[from:min(len(g), i+4)], "\n"), strings.Join(w[from:min(len(w), i+4)], "\n"))
			return
		}
	}
	t.Errorf("%s: the API says more than before", what)
}

// From SQLite to PostgreSQL and back: everything that the API says stays, keys,
// versions, receipts and stored answers included.
func TestCopyThereAndBack(t *testing.T) {
	a, b, c := lite(t), postgres(t), lite(t)
	k := write(t, a)
	want := told(t, a, k)
	_, before := export(t, a)

	mneme(t, "copy", "--from", a, "--to", b)
	equal(t, "PostgreSQL", told(t, b, k), want)
	_, there := export(t, b)
	same(t, "PostgreSQL", there, before)

	mneme(t, "copy", "--from", b, "--to", c)
	equal(t, "SQLite again", told(t, c, k), want)
	_, back := export(t, c)
	same(t, "SQLite again", back, before)

	// Once more changes nothing, and says so.
	if r := mneme(t, "copy", "--from", b, "--to", c); !strings.Contains(r.Stdout, "5 there already with the same contents") {
		t.Errorf("a copy of the same: %s%s", r.Stdout, r.Stderr)
	}
}

// What is written while the source is served is named, and brought over by the
// next copy, alone.
func TestCopyOfAServedSource(t *testing.T) {
	a, b := lite(t), lite(t)
	k := write(t, a)
	s := serve(t, a)
	mneme(t, "copy", "--from", a, "--to", b)
	s.Client(t, k.service).OK("POST", "/namespaces/docs/documents",
		object{"documents": []object{{"id": "new", "text": "Written after the copy."}}})
	stop(t, s)
	refused(t, []string{"namespace docs", "--on-conflict"}, "copy", "--from", a, "--to", b)
	r := mneme(t, "copy", "--from", a, "--to", b, "--on-conflict", "replace")
	if !strings.Contains(r.Stdout, "1 of them replaced") || !strings.Contains(r.Stdout, "4 there already") {
		t.Errorf("%s", r.Stdout)
	}
	equal(t, "the second copy", told(t, b, k), told(t, a, k))
	refused(t, []string{"data folder"}, "copy", "--from", a, "--to", a)
}

// Without vectors import makes them.
func TestImportMakesVectors(t *testing.T) {
	a, b := lite(t), lite(t)
	k := write(t, a)
	path, s := export(t, a, "--no-vectors")
	if bytes.Contains(s.bytes, []byte(`"dense"`)) || bytes.Contains(s.bytes, []byte(`"chunks":"`)) {
		t.Error("there are vectors in a data set without")
	}
	mneme(t, "import", path, "--config", b, "--keys", "--admin-keys")
	equal(t, "imported without vectors", told(t, b, k), told(t, a, k))
}

// Killed at any moment, import goes on, and nothing is there twice or missing.
func TestImportKilled(t *testing.T) {
	a := lite(t)
	fill(t, data(a), 3000, 60)
	path, want := export(t, a)
	for name, target := range map[string]func(testing.TB) string{"sqlite": lite, "postgres": postgres} {
		t.Run(name, func(t *testing.T) {
			b := target(t)
			kills, rnd := 0, rand.New(rand.NewPCG(3, 4))
			for !killed(t, time.Duration(20+rnd.IntN(700))*time.Millisecond, "import", path, "--config", b, "--keys",
				"--admin-keys") {
				if kills++; kills == 40 {
					mneme(t, "import", path, "--config", b, "--keys", "--admin-keys")
					break
				}
			}
			t.Logf("killed %d times", kills)
			_, got := export(t, b)
			same(t, "after all kills", got, want)
			left, err := filepath.Glob(filepath.Join(data(b), "imports", "move-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// Killed at any moment, export goes on with --resume, compressed or not.
func TestExportKilled(t *testing.T) {
	a := lite(t)
	fill(t, data(a), 6000, 200)
	began := time.Now()
	_, want := export(t, a)
	usual := time.Since(began)
	for _, ext := range []string{".ndjson", ".ndjson.gz"} {
		path := filepath.Join(t.TempDir(), "set"+ext)
		kills, rnd := 0, rand.New(rand.NewPCG(5, 6))
		for share := 1.0; kills == 0 && share > 1e-3; share /= 2 { // sooner where it was not killed at all
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			// Early at first, later and later, so that it comes to its end.
			for !killed(t, time.Duration(share*(0.2+rnd.Float64()*0.4+float64(kills)/10)*float64(usual)), "export",
				"--config", a, "--out", path, "--resume") {
				if kills++; kills > 60 && share == 1 || kills > 600 {
					t.Fatal("the export does not come to its end")
				}
				if _, err := os.Stat(path); err == nil { // killed after it was done
					same(t, ext+" by the name of a whole one", readSet(t, path), want)
					break
				}
			}
		}
		t.Logf("%s: killed %d times", ext, kills)
		if kills == 0 {
			t.Error("it was never killed, so nothing was tried")
		}
		same(t, ext, readSet(t, path), want)
		b := lite(t)
		mneme(t, "import", path, "--config", b, "--keys", "--admin-keys")
		_, got := export(t, b)
		same(t, ext+", imported", got, want)
		refused(t, []string{"exists already"}, "export", "--config", a, "--out", path)
	}
}

// A data set that is not as it was written is refused, naming the line, before
// anything is imported.
func TestDamage(t *testing.T) {
	a := lite(t)
	fill(t, data(a), 40, 4)
	path, want := export(t, a)
	lines := bytes.SplitAfter(want.bytes, []byte("\n"))
	lines = lines[:len(lines)-1]
	last := len(lines)
	join := func(l ...[][]byte) []byte {
		var all []byte
		for _, part := range l {
			all = append(all, bytes.Join(part, nil)...)
		}
		return all
	}
	for name, c := range map[string]struct {
		body []byte
		line int
	}{
		"cut within a line": {want.bytes[:len(want.bytes)-20], last},
		"without a trailer": {join(lines[:last-1]), last - 1},
		"cut in the middle": {join(lines[:20]), 20},
		"a letter altered": {join(lines[:20], [][]byte{bytes.Replace(lines[20], []byte("Text"), []byte("Next"), 1)},
			lines[21:]), 21},
		"a line left out":    {join(lines[:20], lines[21:]), 21},
		"a line twice":       {join(lines[:21], lines[20:]), 22},
		"two lines swapped":  {join(lines[:20], [][]byte{lines[21], lines[20]}, lines[22:]), 21},
		"something after it": {append(bytes.Clone(want.bytes), "{}\n"...), last + 1},
		"a line twice after": {append(bytes.Clone(want.bytes), lines[last-1]...), last + 1},
		"no line":            {join(lines[:30], [][]byte{[]byte("hello\n")}, lines[30:]), 31},
		"other line ends":    {bytes.ReplaceAll(want.bytes, []byte("\n"), []byte("\r\n")), 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := lite(t)
			bad := filepath.Join(t.TempDir(), "bad.ndjson")
			if err := os.WriteFile(bad, c.body, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, []string{fmt.Sprintf("line %d", c.line)}, "import", bad, "--config", b)
			if _, err := os.Stat(data(b)); os.IsNotExist(err) {
				return // the header alone was enough
			}
			if _, got := export(t, b); len(got.ends) > 0 {
				t.Errorf("imported all the same: %v", got.ends)
			}
		})
	}
	mneme(t, "import", path, "--config", lite(t))
}

// Limited to an organization, nothing of another one is in the file.
func TestOneOrganization(t *testing.T) {
	a := lite(t)
	fill(t, data(a), 20, 2)
	for _, name := range []string{"everywhere", "other"} {
		args := []string{"keys", "create", "--config", a, "--name", name, "--type", "admin"}
		if name == "everywhere" {
			args = append(args, "--all-organizations")
		} else {
			args = append(args, "--org", "other")
		}
		mneme(t, args...)
	}
	_, s := export(t, a, "--org", "default")
	for _, secret := range []string{"org_other", "of-the-other", `"other"`, "organizations:all"} {
		if bytes.Contains(s.bytes, []byte(secret)) {
			t.Errorf("the data set of one organization has %s", secret)
		}
	}
	path, s := export(t, a, "--org", "other")
	if len(s.ends) != 1 || s.lines["document"] != 7 || bytes.Contains(s.bytes, []byte("user-0000")) ||
		bytes.Contains(s.bytes, []byte("large")) {
		t.Errorf("the data set of the other: %v %v", s.lines, s.ends)
	}
	_, s = export(t, a, "--namespace", "small-1")
	if len(s.ends) != 1 || s.lines["document"] != 5 || s.lines["key"] != 0 || s.lines["integration"] != 0 {
		t.Errorf("one namespace: %v", s.lines)
	}
	refused(t, []string{"nowhere"}, "export", "--config", a, "--org", "nowhere", "--out", filepath.Join(t.TempDir(), "x"))
	refused(t, []string{"absent"}, "export", "--config", a, "--namespace", "absent", "--out", filepath.Join(t.TempDir(), "x"))
	b := lite(t)
	mneme(t, "import", path, "--config", b, "--keys", "--admin-keys")
	_, got := export(t, b, "--org", "other")
	_, want := export(t, a, "--org", "other")
	same(t, "imported alone", got, want)
}

// What is there already stays or goes as asked, and with fail nothing changes.
func TestConflicts(t *testing.T) {
	a, b := lite(t), lite(t)
	fill(t, data(a), 30, 3)
	fill(t, data(b), 50, 2) // other ids of organizations, other contents under the same names
	path, _ := export(t, a)
	_, before := export(t, b)
	refused(t, []string{"is there already", "--on-conflict"}, "import", path, "--config", b, "--keys", "--admin-keys")
	_, now := export(t, b)
	same(t, "fail", now, before)

	r := mneme(t, "import", path, "--config", b, "--keys", "--admin-keys", "--on-conflict", "skip")
	if !strings.Contains(r.Stdout, "imported and verified 1 ") {
		t.Errorf("skip: %s", r.Stdout)
	}
	_, now = export(t, b)
	if len(now.ends) != len(before.ends)+1 {
		t.Errorf("skip: %d partitions, want one more than %d", len(now.ends), len(before.ends))
	}
	for p, end := range before.ends {
		if fmt.Sprint(now.ends[p]) != fmt.Sprint(end) {
			t.Errorf("skip changed %s", p)
		}
	}
	mneme(t, "import", path, "--config", b, "--keys", "--admin-keys", "--on-conflict", "replace")
	_, now = export(t, b)
	_, want := export(t, a)
	hashes := func(s set) map[string]int {
		out := map[string]int{}
		for _, end := range s.ends {
			out[fmt.Sprint(end)]++
		}
		return out
	}
	if fmt.Sprint(hashes(now)) != fmt.Sprint(hashes(want)) {
		t.Errorf("replace: %v, want %v", hashes(now), hashes(want))
	}
}

// The schema is brought up to date by the command where serve may not.
func TestMigrate(t *testing.T) {
	c := config(t, fmt.Sprintf("{postgres: {dsn: %q, migrate: false}}", pg.Database(t)))
	refused(t, []string{"mneme migrate", "version 0"}, "serve", "--config", c, "--addr", "127.0.0.1:0")
	for _, step := range []struct {
		args []string
		says string
	}{
		{[]string{"--dry-run"}, "is version 0; mneme migrate brings it to version"},
		{nil, "went from version 0 to"},
		{nil, "is up to date"},
		{[]string{"--dry-run"}, "is up to date"},
	} {
		if r := mneme(t, append([]string{"migrate", "--config", c}, step.args...)...); !strings.Contains(r.Stdout, step.says) {
			t.Errorf("migrate %v: %s", step.args, r.Stdout)
		}
	}
	stop(t, serve(t, c))
	if r := mneme(t, "migrate", "--config", lite(t)); !strings.Contains(r.Stdout, "went from version 0") {
		t.Errorf("SQLite: %s", r.Stdout)
	}
}
