package backup_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/mnemehq/mneme/adapters/backup/folder"
	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/backup"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// documentCount is how many documents a town has: enough for some chunks.
const documentCount = 800

// town is an installation in use, and a place for its backups.
type town struct {
	*coretest.Fixture
	t     *testing.T
	write func(ns, id, text string)
	save  func(user, text string)
	dir   string // of the backups
	place *place
	keys  backup.Keys
	now   time.Time
}

// place is a folder that fails when a test says so.
type place struct {
	port.BackupPlace
	before func(name string) error // of each write and removal, one at a time; nil: none
	asking sync.Mutex
	reads  int
}

func (p *place) Read(ctx context.Context, name string, off, n int64) ([]byte, error) {
	p.asking.Lock()
	p.reads++
	p.asking.Unlock()
	return p.BackupPlace.Read(ctx, name, off, n)
}

func (p *place) ask(name string) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	if p.before == nil {
		return nil
	}
	return p.before(name)
}

func (p *place) Write(ctx context.Context, name string, body []byte) error {
	if err := p.ask(name); err != nil {
		return err
	}
	return p.BackupPlace.Write(ctx, name, body)
}

func (p *place) Remove(ctx context.Context, name string) error {
	if err := p.ask(name); err != nil {
		return err
	}
	return p.BackupPlace.Remove(ctx, name)
}

func settle(t *testing.T) *town {
	t.Helper()
	f := coretest.New(t, coretest.Options{})
	w := &town{Fixture: f, t: t, dir: filepath.Join(t.TempDir(), "backups"), now: time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)}
	inner, err := folder.Open(w.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.place = &place{BackupPlace: inner}
	documents, memories := services.Documents(f), services.Memories(f, nil)
	own, chat := f.Caller(key.Issue{}), f.Integration("chat")
	writeAll := func(ns string, all []coretest.Object) {
		t.Helper()
		coretest.Ask(own, t, documents.Write, coretest.Object{"documents": all},
			func(in *document.WriteDocuments) { in.Namespace = ns }).OK()
	}
	w.write = func(ns, id, text string) {
		t.Helper()
		writeAll(ns, []coretest.Object{{"id": id, "text": text}})
	}
	w.save = func(user, text string) {
		t.Helper()
		coretest.Ask(chat, t, memories.Save, coretest.Object{"endUserId": user, "content": text}).OK()
	}
	for part := range documentCount / 100 {
		var all []coretest.Object
		for i := range 100 {
			n := 100*part + i
			all = append(all, coretest.Object{"id": fmt.Sprint("d", n),
				"text": fmt.Sprintf("Document %d. %s", n, strings.Repeat("Words of it. ", 20))})
		}
		writeAll("docs", all)
	}
	err = f.Store.Update(t.Context(), func(w port.Writer) error {
		row := port.PartitionRow{Embedder: "its-embedder", CreatedAt: f.Now(), UpdatedAt: f.Now()}
		_, err := w.CreatePartition(t.Context(), port.Documents(ident.From(own).Org, "own"), row)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.save("ann", "Likes tea.")
	w.save("bob", "Likes coffee.")
	return w
}

func (w *town) backup() (backup.Manifest, error) {
	w.now = w.now.Add(time.Hour)
	return backup.Create(w.t.Context(), w.Store.DocumentStore.(port.Dumper), backup.Settings{
		Place: w.place, Keys: w.keys, Program: "test", Store: "sqlite", Now: func() time.Time { return w.now },
	})
}

func (w *town) mustBackup() backup.Manifest {
	w.t.Helper()
	m, err := w.backup()
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *town) open() *backup.Repository {
	w.t.Helper()
	r, err := backup.Open(w.t.Context(), w.place, w.keys)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// into fills a data folder.
func into(dir string) func(context.Context, port.Restoring) error {
	return func(ctx context.Context, from port.Restoring) error {
		return sqlite.Restore(ctx, dir, sqlite.Options{}, from)
	}
}

// restore restores a backup and answers all its rows.
func (w *town) restore(id string) (map[string][]string, backup.Restored, error) {
	w.t.Helper()
	dir := w.t.TempDir()
	done, err := w.open().Restore(w.t.Context(), backup.Restore{ID: id, Fill: into(dir)})
	if err != nil {
		if _, there := os.Stat(filepath.Join(dir, "mneme.db")); there == nil {
			w.t.Error("a restore that failed left a database")
		}
		return nil, done, err
	}
	s, err := sqlite.Open(w.t.Context(), dir, sqlite.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	return rows(w.t, s), done, nil
}

// rows are all of a store but the numbers, which a restore moves on.
func rows(t *testing.T, s port.DocumentStore) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := s.(port.Dumper).Dump(t.Context(), func(d port.Dump) error {
		for _, table := range d.Tables() {
			if table.Name == "numbers" {
				continue
			}
			err := d.Rows(t.Context(), table.Name, func(row []byte) error {
				all[table.Name] = append(all[table.Name], string(row))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (w *town) same(what string, have map[string][]string, want map[string][]string) {
	w.t.Helper()
	for table, rows := range want {
		if !slices.Equal(have[table], rows) {
			w.t.Errorf("%s: table %s has %d rows, want %d, or others", what, table, len(have[table]), len(rows))
		}
	}
	if len(have) != len(want) {
		w.t.Errorf("%s: %d tables with rows, want %d", what, len(have), len(want))
	}
}

// packs are the files of the place below packs.
func (w *town) packs() (all []string) {
	w.t.Helper()
	err := w.place.List(w.t.Context(), "packs/", func(name string, _ int64) error {
		all = append(all, name)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// TestThereAndBack: each backup brings back what was stored when it was made, later ones add what is new
// alone, and what is not kept goes with the pieces that only it needed.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	w := settle(t)
	if _, err := backup.Open(t.Context(), w.place, w.keys); !errors.Is(err, backup.ErrNone) {
		t.Errorf("before the first: %v", err)
	}
	first, at1 := w.mustBackup(), rows(t, w.Store.DocumentStore)
	if first.Rows("documents") != documentCount+2 || first.Bytes < 100_000 || first.Added < first.Bytes/20 {
		t.Errorf("the first: %+v", first)
	}
	same := w.mustBackup()
	if same.Added != 0 || len(w.packs()) != 2 {
		t.Errorf("nothing new: %d bytes added, %v", same.Added, w.packs())
	}
	w.write("docs", "d7", "Rewritten.")
	w.write("docs", "late", "A late one.")
	third, at3 := w.mustBackup(), rows(t, w.Store.DocumentStore)
	if third.Added == 0 {
		t.Error("two documents added nothing")
	}
	for id, want := range map[string]map[string][]string{first.ID: at1, same.ID: at1, third.ID: at3, "latest": at3, "": at3} {
		have, done, err := w.restore(id)
		if err != nil {
			t.Fatal(err)
		}
		if w.same("restored "+id, have, want); done.Erased != 0 {
			t.Errorf("%d erased", done.Erased)
		}
	}
	if _, _, err := w.restore("20260101t000000z-aaaaaaaa"); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("an unknown backup: %v", err)
	}
	v, err := w.open().Verify(t.Context(), "", nil)
	if err != nil || v.Backups != 3 || len(v.Damaged) != 0 || v.Packs != len(w.packs()) || v.Chunks < 5 {
		t.Errorf("verified: %+v, %v", v, err)
	}
	dry, err := backup.Prune(t.Context(), w.place, w.keys, backup.Keep{Last: 1}, true)
	if err != nil || !slices.Equal(dry.Removed, []string{first.ID, same.ID}) || !slices.Equal(dry.Kept, []string{third.ID}) {
		t.Errorf("would be pruned: %+v, %v", dry, err)
	}
	before := len(w.packs())
	p, err := backup.Prune(t.Context(), w.place, w.keys, backup.Keep{Last: 1}, false)
	if err != nil || len(p.Removed) != 2 || p.Packs != dry.Packs || len(w.packs()) != before-p.Packs {
		t.Errorf("pruned: %+v, %v", p, err)
	}
	have, _, err := w.restore("")
	if err != nil {
		t.Fatal(err)
	}
	w.same("after pruning", have, at3)
	if own := strings.Join(have["namespaces"], "\n"); !strings.Contains(own, "its-embedder") {
		t.Errorf("no namespace has its own embedder: %s", own)
	}
}

// TestProgress: what is said of a backup on its way is of the bytes that it holds, and of a check of its packs.
func TestProgress(t *testing.T) {
	t.Parallel()
	w := settle(t)
	var last int64
	tables := map[string]bool{}
	heard := func(table string, bytes int64) {
		if tables[table] = true; bytes < last || bytes <= 0 {
			t.Errorf("%s: %d bytes after %d", table, bytes, last)
		}
		last = bytes
	}
	m, err := backup.Create(t.Context(), w.Store.DocumentStore.(port.Dumper), backup.Settings{Place: w.place, OnProgress: heard})
	if err != nil || last != m.Bytes || !tables["documents"] || !tables["organizations"] {
		t.Errorf("%d bytes of %d of %v, %v", last, m.Bytes, tables, err)
	}
	if began := time.Since(m.Began); began < 0 || began > time.Hour || m.Ended.Before(m.Began) {
		t.Errorf("from %v to %v", m.Began, m.Ended)
	}
	last, tables, w.place.reads = 0, map[string]bool{}, 0
	if _, err := w.open().Restore(t.Context(), backup.Restore{OnProgress: heard, Fill: into(t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	if last <= m.Bytes || last > m.Bytes*11/10 || !tables["documents"] { // with the length of each row
		t.Errorf("%d bytes of %d were restored, of %v", last, m.Bytes, tables)
	}
	if w.place.reads > len(tables)+3 { // what the place is, the backup and its index, and each table at once
		t.Errorf("%d tables took %d reads", len(tables), w.place.reads)
	}
	var said []string
	v, err := w.open().Verify(t.Context(), "", func(done, total int) { said = append(said, fmt.Sprint(done, " of ", total)) })
	if err != nil || !slices.Equal(said, []string{"0 of 2", "1 of 2", "2 of 2"}) || v.Packs != 2 {
		t.Errorf("%+v, %v: %q", v, err, said)
	}
	var size int64
	err = w.place.List(t.Context(), "packs/", func(_ string, n int64) error { size += n; return nil })
	if err != nil || v.Bytes != size || m.Added != size {
		t.Errorf("%d bytes are there, verified were %d, added %d, %v", size, v.Bytes, m.Added, err)
	}
	if _, err := w.open().Verify(t.Context(), "20260101t000000z-aaaaaaaa", nil); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("an unknown backup: %v", err)
	}
	if m.Rows("none") != 0 {
		t.Error("there are rows of no table")
	}
}

// TestErasedSince: who was erased after a backup is marked in what it restores, and nobody else.
func TestErasedSince(t *testing.T) {
	t.Parallel()
	w := settle(t)
	first := w.mustBackup()
	var bob int64
	err := w.Store.UpdateDocuments(t.Context(), func(d port.DocumentWriter) error {
		orgs, err := d.Organizations(t.Context())
		if err != nil {
			return err
		}
		all, err := d.(port.PartitionLister).Partitions(t.Context(), orgs[0].ID, port.Partition{}, 10)
		for _, e := range all {
			if e.Partition.Name() == "bob" {
				bob = e.Partition.Generation()
				_, err = d.DeletePartition(t.Context(), e.Partition)
			}
		}
		return err
	})
	if err != nil || bob == 0 {
		t.Fatal(bob, err)
	}
	w.mustBackup()
	var marked []string
	dir := t.TempDir()
	done, err := w.open().Restore(t.Context(), backup.Restore{ID: first.ID, Fill: into(dir)})
	if err != nil || done.Erased != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.View(t.Context(), func(r port.Reader) error {
		all, err := r.Erasing(t.Context())
		for _, p := range all {
			marked = append(marked, p.Name())
		}
		return err
	})
	if err != nil || !slices.Equal(marked, []string{"bob"}) {
		t.Errorf("marked: %v, %v", marked, err)
	}
}

// TestInterrupted: whatever write a backup ends at, the place is whole, nothing is listed that is not, and
// the next one goes on.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := settle(t)
	stop := errors.New("stopped by the test")
	for after := 0; ; after++ {
		n, added := 0, map[string]bool{}
		w.place.before = func(name string) error {
			if n++; n > after {
				return stop
			}
			added[name] = true
			return nil
		}
		_, err := w.backup()
		w.place.before = nil
		if err == nil {
			if after < 3 {
				t.Errorf("all was written in %d steps", after)
			}
			break
		}
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		r, err := backup.Open(t.Context(), w.place, w.keys)
		if errors.Is(err, backup.ErrNone) && after == 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if all, damaged, err := r.List(t.Context()); err != nil || len(all)+len(damaged) != 0 {
			t.Errorf("after %d: %v, %v, %v", after, all, damaged, err)
		}
	}
	have, _, err := w.restore("")
	if err != nil {
		t.Fatal(err)
	}
	w.same("after interruptions", have, rows(t, w.Store.DocumentStore))
	// Of the pieces that were left, none was stored twice.
	if packs := w.packs(); len(packs) != 2 {
		t.Errorf("packs: %v", packs)
	}

	w.write("docs", "late", "A late one.")
	w.mustBackup()
	for after := 0; ; after++ { // a removal
		n := 0
		w.place.before = func(string) error {
			if n++; n > after {
				return stop
			}
			return nil
		}
		_, err := backup.Prune(t.Context(), w.place, w.keys, backup.Keep{Last: 1}, false)
		w.place.before = nil
		if v, bad := w.open().Verify(t.Context(), "", nil); bad != nil || len(v.Damaged) != 0 || v.Backups == 0 {
			t.Errorf("after %d removals: %+v, %v", after, v, bad)
		}
		if err == nil {
			break
		}
	}
}

// TestDamage: what is altered or gone is named, and is not restored.
func TestDamage(t *testing.T) {
	t.Parallel()
	w := settle(t)
	m := w.mustBackup()
	for _, name := range w.packs() {
		path := filepath.Join(w.dir, filepath.FromSlash(name))
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, spoil := range map[string]func() error{
			"altered": func() error {
				b := slices.Clone(body)
				b[len(b)/3] ^= 1
				return os.WriteFile(path, b, 0o600)
			},
			"cut":  func() error { return os.Truncate(path, 20) },
			"gone": func() error { return os.Remove(path) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			v, err := w.open().Verify(t.Context(), m.ID, nil)
			if err != nil || len(v.Damaged) == 0 || !strings.Contains(v.Damaged[0].Error(), m.ID) ||
				!strings.Contains(v.Damaged[0].Error(), filepath.Base(name)) {
				t.Errorf("%s: %+v, %v", what, v.Damaged, err)
			}
			for _, err := range v.Damaged {
				var d *backup.Damage
				if !errors.As(err, &d) {
					continue
				}
				where, which := "its index: ", ": pack "
				if d.Table != "" {
					where = "table " + d.Table + ": "
				}
				if d.Chunk != "" {
					which = ": chunk " + d.Chunk + " of pack "
				}
				if text := d.Error(); !strings.Contains(text, where) || !strings.Contains(text, which) {
					t.Errorf("%s: %+v is told as %s", what, d, text)
				}
			}
			if _, _, err := w.restore(""); !errors.As(err, new(*backup.Damage)) {
				t.Errorf("%s: restored, %v", what, err)
			}
			if err := os.WriteFile(path, body, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// What no backup uses of a pack is told apart.
		b := slices.Clone(body)
		b[len(b)-10] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := w.open().Verify(t.Context(), "", nil)
		if err != nil || len(v.Damaged) != 1 || !strings.Contains(v.Damaged[0].Error(), "all that is used of it is well") {
			t.Errorf("its list: %+v, %v", v.Damaged, err)
		}
		if _, _, err := w.restore(""); err != nil {
			t.Errorf("its list: %v", err)
		}
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(w.dir, "backups", m.ID)
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.backup(); !errors.As(err, new(*backup.Unreadable)) {
		t.Errorf("beside one that can't be read: %v", err)
	}
	if _, err := backup.Prune(t.Context(), w.place, w.keys, backup.Keep{Last: 1}, false); err == nil || len(w.packs()) != 2 {
		t.Errorf("pruned beside one that can't be read: %v", err)
	}
	for _, id := range []string{m.ID, "", "latest"} {
		if _, _, err := w.restore(id); !errors.As(err, new(*backup.Unreadable)) {
			t.Errorf("restored %q: %v", id, err)
		}
	}
}

// TestOneOfSeveralIsDamaged: the others are as good as they were.
func TestOneOfSeveralIsDamaged(t *testing.T) {
	t.Parallel()
	w := settle(t)
	first := w.mustBackup()
	w.write("docs", "late", "A late one.")
	second := w.mustBackup()
	if err := os.WriteFile(filepath.Join(w.dir, "backups", second.ID), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{first.ID, ""} {
		if _, done, err := w.restore(id); err != nil || done.ID != first.ID {
			t.Errorf("%q: restored %s, %v", id, done.ID, err)
		}
	}
	if _, _, err := w.restore(second.ID); !errors.As(err, new(*backup.Unreadable)) {
		t.Errorf("restored, %v", err)
	}
	for id, want := range map[string][2]int{first.ID: {1, 0}, second.ID: {0, 1}, "": {1, 1}} {
		v, err := w.open().Verify(t.Context(), id, nil)
		if err != nil || v.Backups != want[0] || len(v.Damaged) != want[1] {
			t.Errorf("%q: %d are well and damaged %v, %v", id, v.Backups, v.Damaged, err)
		}
	}
}

// TestKeys: an encrypted place opens with its passphrase or an identity alone, and shows nothing of what
// it holds.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := settle(t)
	w.write("docs", "secret", "xyzzyxyzzy")
	mine, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	w.keys = backup.Keys{Passphrase: "correct horse", Recipients: []age.Recipient{mine.Recipient()}}
	w.mustBackup()
	want := rows(t, w.Store.DocumentStore)
	for what, c := range map[string]struct {
		keys backup.Keys
		err  error
	}{
		"the passphrase":   {backup.Keys{Passphrase: "correct horse"}, nil},
		"an identity":      {backup.Keys{Identities: []age.Identity{mine}}, nil},
		"nothing":          {backup.Keys{}, backup.ErrEncrypted},
		"another's":        {backup.Keys{Identities: []age.Identity{theirs}}, backup.ErrKey},
		"another phrase":   {backup.Keys{Passphrase: "wrong horse"}, backup.ErrKey},
		"recipients alone": {backup.Keys{Recipients: []age.Recipient{mine.Recipient()}}, backup.ErrEncrypted},
	} {
		if _, err := backup.Open(t.Context(), w.place, c.keys); !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", what, err, c.err)
		}
	}
	w.keys = backup.Keys{Identities: []age.Identity{mine}}
	if m := w.mustBackup(); m.Added != 0 || !w.open().Encrypted() {
		t.Errorf("again: %d added", m.Added)
	}
	have, _, err := w.restore("")
	if err != nil {
		t.Fatal(err)
	}
	w.same("restored", have, want)
	_ = filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, _ error) error {
		if body, err := os.ReadFile(path); err == nil && strings.Contains(string(body)+path, "docs") {
			t.Errorf("%s shows a name", path)
		}
		return nil
	})
	alone := settle(t)
	alone.keys = backup.Keys{Identities: []age.Identity{mine}}
	alone.mustBackup() // an identity is enough to begin with
	if _, err := backup.Open(t.Context(), alone.place, backup.Keys{}); !errors.Is(err, backup.ErrEncrypted) {
		t.Errorf("a place that was begun with an identity: %v", err)
	}
	plain := settle(t)
	plain.mustBackup()
	plain.keys = w.keys
	if _, err := plain.backup(); !errors.Is(err, backup.ErrPlain) {
		t.Errorf("a place that is not encrypted: %v", err)
	}
}

// TestOthersPlaces: what is another's stays as it is.
func TestOthersPlaces(t *testing.T) {
	t.Parallel()
	w := settle(t)
	m := w.mustBackup()
	other, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := backup.Create(t.Context(), other, backup.Settings{Place: w.place}); !errors.Is(err, backup.ErrOther) {
		t.Errorf("another installation's: %v", err)
	}
	_, release, err := w.place.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.backup(); fault.CodeOf(err) != fault.Conflict || !backup.Locked(err) {
		t.Errorf("beside another process: %v", err)
	}
	if _, err := backup.Prune(t.Context(), w.place, w.keys, backup.Keep{Last: 1}, false); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("pruned beside another process: %v", err)
	}
	release()
	if all, _, err := w.open().List(t.Context()); err != nil || len(all) != 1 || all[0].ID != m.ID {
		t.Errorf("%d backups, %v", len(all), err)
	}
	for body, want := range map[string]error{
		"": backup.ErrForeign, `{"format":"other","version":1}`: backup.ErrForeign, "{": backup.ErrForeign,
		`{"format":"mneme.backup","version":2}`: backup.ErrNewer, `{"format":"mneme.backup"}`: backup.ErrForeign,
	} {
		dir := t.TempDir()
		name := "repository.json"
		if body == "" {
			name = "photo.jpg"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := folder.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.place = &place{BackupPlace: p}
		if _, err := w.backup(); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", body, err, want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%q: now there are %v", body, left)
		}
	}
}

// TestKeep: the newest stays, so do the last ones, and one of each day.
func TestKeep(t *testing.T) {
	t.Parallel()
	w := settle(t)
	var ids []string
	for _, at := range []int{0, 2, 24, 26, 48, 50} { // hours: three days of two
		w.now = time.Date(2026, 3, 1, 3+at, 0, 0, 0, time.UTC)
		ids = append(ids, w.mustBackup().ID)
	}
	for _, c := range []struct {
		keep backup.Keep
		want []int
	}{
		{backup.Keep{}, []int{5}}, {backup.Keep{Last: 1}, []int{5}}, {backup.Keep{Last: 3}, []int{3, 4, 5}},
		{backup.Keep{Daily: 2}, []int{3, 5}}, {backup.Keep{Last: 2, Daily: 9}, []int{1, 3, 4, 5}},
	} {
		p, err := backup.Prune(t.Context(), w.place, w.keys, c.keep, true)
		var want []string
		for _, i := range c.want {
			want = append(want, ids[i])
		}
		if err != nil || !slices.Equal(p.Kept, want) || len(p.Kept)+len(p.Removed) != 6 {
			t.Errorf("%+v keeps %v, %v; want %v", c.keep, p.Kept, err, want)
		}
	}
	due := backup.Settings{Place: w.place, Due: func(newest *backup.Manifest) bool { return newest.ID != ids[5] }}
	if _, err := backup.Create(t.Context(), w.Store.DocumentStore.(port.Dumper), due); !errors.Is(err, backup.ErrNotDue) {
		t.Errorf("not due: %v", err)
	}
}

// lines is a dump of rows that a test makes up.
type lines struct{ documents []string }

func (l *lines) Dump(_ context.Context, fn func(port.Dump) error) error { return fn(l) }

func (l *lines) Schema() int { return 1 }

func (l *lines) Tables() []port.DumpTable {
	return []port.DumpTable{{Name: "organizations", Columns: []string{"id"}}, {Name: "documents", Columns: []string{"text"}}}
}

func (l *lines) Rows(_ context.Context, table string, visit func([]byte) error) error {
	all := l.documents
	if table == "organizations" {
		all = []string{"org_x"}
	}
	for _, text := range all {
		row, err := packing.AppendRow(nil, []any{text})
		if err == nil {
			err = visit(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestOnlyWhatChanged: a row that comes, changes or goes costs the chunk around it; and a pack of which
// little is used is given up in time.
func TestOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	row := func() string {
		b := make([]byte, 400) // what can't be compressed
		for i := range b {
			b[i] = byte('a' + random.IntN(26))
		}
		return string(b)
	}
	l := &lines{}
	for range 50_000 {
		l.documents = append(l.documents, row())
	}
	folder, err := folder.Open(filepath.Join(t.TempDir(), "backups"), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)
	create := func() backup.Manifest {
		t.Helper()
		now := func() time.Time { at = at.Add(time.Hour); return at }
		m, err := backup.Create(t.Context(), l, backup.Settings{Place: folder, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := create()
	if first.Added < 8<<20 || first.Bytes < 20_000_000 || first.Rows("documents") != 50_000 {
		t.Fatalf("the first: %d of %d bytes", first.Added, first.Bytes)
	}
	for what, change := range map[string]func(){
		"a row comes":   func() { l.documents = slices.Insert(l.documents, 20_000, row()) },
		"a row changes": func() { l.documents[30_000] = row() },
		"a row goes":    func() { l.documents = slices.Delete(l.documents, 10, 11) },
		"rows come":     func() { l.documents = append(l.documents, row(), row()) },
	} {
		change()
		if m := create(); m.Added == 0 || m.Added > first.Added/20 {
			t.Errorf("%s: %d bytes added, %d at first", what, m.Added, first.Added)
		}
	}
	// Four fifths of the rows go: what is left of the packs is stored once more, and nothing else.
	l.documents = l.documents[:10_000]
	if m := create(); m.Added > first.Added/3 {
		t.Errorf("what is left: %d bytes added", m.Added)
	}
	m := create()
	p, err := backup.Prune(t.Context(), folder, backup.Keys{}, backup.Keep{Last: 1}, false)
	if err != nil || len(p.Removed) != 6 || !slices.Equal(p.Kept, []string{m.ID}) {
		t.Fatalf("%+v, %v", p, err)
	}
	var left int64
	if err := folder.List(t.Context(), "packs/", func(_ string, n int64) error { left += n; return nil }); err != nil {
		t.Fatal(err)
	}
	if left > first.Added/2 {
		t.Errorf("%d bytes are left of %d, for a fifth of the rows", left, first.Added)
	}
	r, err := backup.Open(t.Context(), folder, backup.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.Verify(t.Context(), "", nil); err != nil || len(v.Damaged) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	var got []string
	_, err = r.Restore(t.Context(), backup.Restore{Fill: func(ctx context.Context, from port.Restoring) error {
		return from.Rows(ctx, "documents", func(b []byte) error {
			values, err := packing.Row(b)
			if err == nil {
				got = append(got, values[0].(string))
			}
			return err
		})
	}})
	if err != nil || !slices.Equal(got, l.documents) {
		t.Errorf("%d rows, %v", len(got), err)
	}
}
