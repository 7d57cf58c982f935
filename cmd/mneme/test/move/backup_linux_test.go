package move_test

import (
	"bytes"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
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
	until := func(what string, args ...string) {
		t.Helper()
		kills := 0
		for share := 0.1; !killed(t, time.Duration(share*float64(usual)), args...); share += 0.15 {
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
			until("backup", "backup", "--config", a, "--to", place)
		} else {
			mneme(t, "backup", "--config", a, "--to", place)
		}
		mneme(t, "backup", "verify", "--to", place)
		for _, into := range []string{lite(t), postgres(t)} {
			if err := os.MkdirAll(filepath.Dir(data(into)), 0o700); err != nil {
				t.Fatal(err)
			}
			until("restore", "restore", "--from", place, "--into", into)
			_, got := export(t, into)
			same(t, "restored", got, want)
		}
	}
}
