package move_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// What an API shows is there again after a restore from SQLite into PostgreSQL, and from there into
// another folder; nothing that exists is written over.
func TestRestoreThereAndBack(t *testing.T) {
	a, b := lite(t), postgres(t)
	k := write(t, a)
	want := told(t, a, k)
	place := filepath.Join(t.TempDir(), "place")
	mneme(t, "backup", "--config", a, "--to", place)
	mneme(t, "restore", "--from", place, "--into", b)
	equal(t, "PostgreSQL", told(t, b, k), want)
	refused(t, []string{"is not empty"}, "restore", "--from", place, "--into", b)
	if err := os.RemoveAll(data(b)); err != nil {
		t.Fatal(err)
	}
	refused(t, []string{"there is an installation already"}, "restore", "--from", place, "--into", b)

	mneme(t, "backup", "--config", b, "--to", place) // of the same installation by its organizations
	c := lite(t)
	mneme(t, "restore", "--from", place, "--to", data(c))
	equal(t, "SQLite again", told(t, c, k), want)
	refused(t, []string{"is not empty"}, "restore", "--from", place, "--to", data(c))
	mneme(t, "backup", "verify", "--to", place)
}

// spread is a configuration of three databases, of which new organizations go to the home.
func spread(t *testing.T) string {
	t.Helper()
	return config(t, fmt.Sprintf("{postgres: {dsn: %q, place: home, databases: [{name: b, dsn: %q}, {name: c, dsn: %q}]}}",
		pg.Database(t), pg.Database(t), pg.Database(t)))
}

// What an API shows of three databases is there again after a restore into three others, into one, and into a folder.
func TestBackupOfDatabases(t *testing.T) {
	a := spread(t)
	k := write(t, a)
	want := told(t, a, k)
	mneme(t, "orgs", "move", "default", "--to", "b", "--config", a)
	mneme(t, "orgs", "create", "other", "--database", "c", "--config", a)
	other := (&harness.Site{T: t, Config: a}).Key("--org", "other", "--name", "other")
	place := filepath.Join(t.TempDir(), "place")
	made := mneme(t, "backup", "--config", a, "--to", place, "--json")
	mneme(t, "backup", "verify", "--to", place)
	var first struct{ ID string }
	if err := json.Unmarshal([]byte(made.Stdout), &first); err != nil {
		t.Fatal(err)
	}
	if r := mneme(t, "backup", "list", "--to", place, "--json"); !strings.Contains(r.Stdout, `"documents": 9`) {
		t.Errorf("what is listed: %s", r.Stdout)
	}
	for what, b := range map[string]string{"three": spread(t), "PostgreSQL": postgres(t), "SQLite": lite(t)} {
		r := mneme(t, "restore", "--from", place, "--at", first.ID, "--into", b)
		if what == "three" {
			if r := mneme(t, "orgs", "list", "--config", b, "--json"); !strings.Contains(r.Stdout, `"database": "b"`) ||
				!strings.Contains(r.Stdout, `"database": "c"`) {
				t.Errorf("where the organizations are: %s", r.Stdout)
			}
		} else if !strings.Contains(r.Stdout, "b and c") {
			t.Errorf("%s: %s%s", what, r.Stdout, r.Stderr)
		}
		equal(t, what, told(t, b, k), want)
		s := serve(t, b)
		s.Client(t, other).OK("GET", "/namespaces", nil)
		stop(t, s)
		mneme(t, "backup", "--config", b, "--to", place) // of the same installation by its organizations
	}
	mneme(t, "backup", "verify", "--to", place)
	full := spread(t)
	mneme(t, "backup", "--config", full, "--to", filepath.Join(t.TempDir(), "other")) // makes its tables
	refused(t, []string{"database b", "there is an installation already"}, "restore", "--from", place, "--into", full)
}

// bucket serves the protocol of S3 and answers the name of a place in a bucket.
func bucket(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(gofakes3.New(backend).Server())
	s.Config.ErrorLog = log.New(bytes.NewBuffer(nil), "", 0)
	s.Start()
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-tests")
	return "s3://backups/mneme?region=here&endpoint=" + s.URL
}

// Killed at any moment, a backup goes on with the next one, beside a server that writes; and so does
// a restore.
func TestBackupKilled(t *testing.T) {
	a := lite(t)
	fill(t, data(a), 6000, 200)
	_, want := export(t, a)
	usual := time.Duration(0)
	until := func(what, refuses string, args ...string) {
		t.Helper()
		kills, ended := 0, "" // what it may say once one was killed
		for share := 0.1; !killedUnless(t, time.Duration(share*float64(usual)), ended, args...); share += 0.15 {
			ended = refuses
			if kills++; kills > 100 {
				t.Fatalf("the %s does not come to its end", what)
			}
		}
		t.Logf("%s: killed %d times", what, kills)
	}
	for _, place := range []string{filepath.Join(t.TempDir(), "place"), bucket(t)} {
		began := time.Now()
		mneme(t, "backup", "--config", a, "--to", filepath.Join(t.TempDir(), "timed"))
		usual = time.Since(began)
		// The lock of a process that was killed is of use to nobody for ten minutes: in a bucket one is
		// killed in the middle of a restore alone.
		if !strings.HasPrefix(place, "s3://") {
			until("backup", "", "backup", "--config", a, "--to", place)
		} else {
			mneme(t, "backup", "--config", a, "--to", place)
		}
		mneme(t, "backup", "verify", "--to", place)
		for refuses, into := range map[string]string{"is not empty: it has mneme.db": lite(t),
			"there is an installation already": postgres(t)} {
			if err := os.MkdirAll(filepath.Dir(data(into)), 0o700); err != nil {
				t.Fatal(err)
			}
			until("restore", refuses, "restore", "--from", place, "--into", into)
			_, got := export(t, into)
			same(t, "restored", got, want)
		}
	}
}

// A server makes backups by its configuration, encrypted, and a command says how old the newest is.
func TestServerMakesBackups(t *testing.T) {
	t.Parallel()
	for what, a := range map[string]string{"SQLite": lite(t), "three databases": spread(t)} {
		t.Run(what, func(t *testing.T) { makesBackups(t, a) })
	}
}

func makesBackups(t *testing.T, a string) {
	place := filepath.Join(t.TempDir(), "place")
	f, err := os.OpenFile(a, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("backup: { to: " + place + ", every: 1h, keep_last: 1, passphrase: correct horse }\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if made, _ := os.ReadDir(filepath.Join(place, "backups")); len(made) == 1 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("no backup was made")
		}
	}
	stop(t, s)
	r := mneme(t, "backup", "status", "--config", a)
	if !strings.Contains(r.Stdout, "1 backup, encrypted") || !strings.Contains(r.Stdout, "the next is due") {
		t.Errorf("%+v", r)
	}
	refused(t, []string{"encrypted"}, "backup", "status", "--to", place)
	if r := mneme(t, "backup", "prune", "--config", a, "--dry-run"); !strings.Contains(r.Stdout, "1 backup kept") {
		t.Errorf("%+v", r)
	}
}
