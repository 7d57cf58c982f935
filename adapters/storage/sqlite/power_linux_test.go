package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/mnemehq/mneme/adapters/disk/disktest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/port"
)

// Whatever a power cut leaves of what SQLite had not synced, the store opens, it is whole,
// it holds what was acknowledged and at most the one change more that was under way, and
// what was erased is in no byte of its files.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many disks, one after another")
	}
	ctx, root := t.Context(), t.TempDir()
	dir := filepath.Join(root, "above", "data")
	disk := record(t, root)
	s, err := sqlite.Open(ctx, dir, sqlite.Options{Readers: 2, Disk: disk})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	t.Cleanup(func() {
		if !closed {
			_ = s.Close() // the test has failed already
		}
	})
	ann, err := memories(ctx, s, "ann")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := ensure(ctx, s, "docs")
	if err != nil {
		t.Fatal(err)
	}
	type moment struct {
		steps int
		texts map[string]string
	}
	state := map[string]string{}
	acknowledged := []moment{{disk.Len(), maps.Clone(state)}}
	erased := map[string]int{} // steps until their erasure was acknowledged, by marker
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, moment{disk.Len(), maps.Clone(state)})
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 36 {
		d := marked("KEPT", i%14, size(r)/8)
		switch {
		case i%12 == 11: // an end user comes and goes
			marker := fmt.Sprintf("GONE%d", i)
			p, err := memories(ctx, s, "gone")
			for n := 0; n < 4 && err == nil; n++ {
				err = save(ctx, s, p, marked(marker, n, 900), 1)
			}
			if err == nil {
				_, err = erase(ctx, s, p, 3)
			}
			if err == nil {
				err = s.Scrub(ctx)
			}
			do(err)
			erased[marker] = disk.Len()
		case i%9 == 8: // as the store does with a long log
			pool, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "mneme.db"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = pool.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
			if err := pool.Close(); err != nil {
				t.Fatal(err)
			}
			do(err)
		case i%7 == 6 && state[d.Document.ID] != "":
			delete(state, d.Document.ID)
			do(remove(ctx, s, ann, d.Document.ID))
		case i%2 == 0:
			state[d.Document.ID] = d.Document.Text
			do(save(ctx, s, ann, d, int64(i+1)))
		default:
			id, text := fmt.Sprint("d", i%6), fmt.Sprintf("text %d of %d", i, i%6)
			state[id] = text
			do(write(ctx, s, docs, port.DocumentWrite{Document: port.Document{ID: id, Text: text}}))
		}
	}
	do(s.Close())
	closed = true

	cuts := 0
	disk.Cuts(disktest.Sample(16), 1, func(c disktest.Cut) {
		cuts++
		for marker, steps := range erased {
			for name, b := range c.Disk() {
				if at := bytes.Index(b, []byte(marker)); at >= 0 && c.Steps >= steps {
					t.Errorf("%s: %s was erased after %d steps and is in %s: %q", c, marker, steps, name,
						b[at:min(len(b), at+40)])
				}
			}
		}
		to := t.TempDir()
		defer os.RemoveAll(to) // they are many
		c.Into(t, to)
		dir := filepath.Join(to, "above", "data")
		s, err := sqlite.Open(ctx, dir, sqlite.Options{Readers: 1})
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		have := texts(t, s, ann, docs)
		if err := s.Close(); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		integrity(t, dir)
		last := 0
		for i, m := range acknowledged {
			if m.steps <= c.Steps {
				last = i
			}
		}
		may := acknowledged[last:min(last+2, len(acknowledged))]
		if !slices.ContainsFunc(may, func(m moment) bool { return maps.Equal(m.texts, have) }) {
			t.Fatalf("%s: the store holds %q, and of %d acknowledged changes that are %q", c, have, last, may[0].texts)
		}
	}, slices.Collect(maps.Values(erased))...)
	t.Logf("%d steps, %d different disks after power cuts", disk.Len(), cuts)
	if cuts < 40 {
		t.Errorf("%d cuts", cuts)
	}
}

// sharedLock is what SQLite holds on the database file while a connection is open (its
// SHARED_FIRST, in /proc/locks).
const sharedLock = 1073741826

// A Scrub leaves the locks of SQLite alone, by which other programs see that the database
// is in use. Older shells of SQLite, 3.40 for one, that see none take the write-ahead log
// away when they close it, and with it all that is written from then on.
func TestScrubKeepsLocks(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := open(t, dir)
	held := func() bool {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, "mneme.db"))
		if err != nil {
			t.Fatal(err)
		}
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		this := fmt.Sprintf(":%d %d ", info.Sys().(*syscall.Stat_t).Ino, sharedLock)
		return bytes.Contains(locks, []byte(this))
	}
	p, err := memories(ctx, s, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if err := save(ctx, s, p, marked("GONE", 1, 100), 1); err != nil {
		t.Fatal(err)
	}
	if !held() {
		t.Fatal("SQLite holds no lock on an open database")
	}
	if _, err := erase(ctx, s, p, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	if !held() {
		t.Error("after Scrub the database looks as if nobody had it open")
	}
}
