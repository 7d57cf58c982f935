package postgres_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/storetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// emptyDatabases is a configuration of databases without tables: the home, and those that are named.
func emptyDatabases(t *testing.T, names ...string) postgres.Config {
	t.Helper()
	c := postgres.Default()
	c.DSN = registry.Secret(server.Database(t))
	for _, name := range names {
		c.Databases = append(c.Databases, postgres.Database{Name: name, DSN: registry.Secret(server.Database(t))})
	}
	return c
}

// tables counts those of a database.
func tables(t *testing.T, dsn registry.Secret) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	const query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// altered is a dump with other rows in one of its tables.
type altered struct {
	port.Dump
	table string
	alter func(row []byte) []byte
}

func (d altered) Rows(ctx context.Context, table string, visit func([]byte) error) error {
	return d.Dump.Rows(ctx, table, func(row []byte) error {
		if table == d.table {
			row = d.alter(bytes.Clone(row))
		}
		return visit(row)
	})
}

// What is dumped of three databases goes into each of the same name, and of those that are not there into the home; what
// comes after it has numbers that were not given before, also in databases that are added later.
func TestRestoreIntoDatabases(t *testing.T) {
	ctx := t.Context()
	s := openAll(t, spread(t, "fewest"))
	defer func() { _ = s.Close() }()
	orgs := place(t, s)
	for _, m := range [][2]string{{"home", "b"}, {"home", "home"}, {"c", "home"}, {"c", "c"}} { // what moved says so in each
		if _, err := s.(port.Mover).MoveOrganization(ctx, orgs[m[0]], m[1], nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, org := range orgs {
		happen(t, s, org, "1")
		happen(t, s, org, "2")
	}
	given := storetest.Generations(t, s)
	for _, c := range []struct {
		into  []string
		where map[string]string // database by that of before
	}{
		{[]string{"b", "c"}, map[string]string{"home": "home", "b": "b", "c": "c"}},
		{[]string{"c"}, map[string]string{"home": "home", "b": "home", "c": "c"}},
		{[]string{"d", "b", "c"}, map[string]string{"home": "home", "b": "b", "c": "c"}},
		{[]string{"d"}, map[string]string{"home": "home", "b": "home", "c": "home"}},
		{nil, map[string]string{"home": "home", "b": "home", "c": "home"}},
	} {
		t.Run("home "+strings.Join(c.into, " "), func(t *testing.T) {
			into := emptyDatabases(t, c.into...)
			if err := s.(port.Dumper).Dump(ctx, func(d port.Dump) error {
				return postgres.RestoreAll(ctx, into, postgres.Options{}, port.Restoring{Dump: d})
			}); err != nil {
				t.Fatal(err)
			}
			again := openAll(t, into)
			defer func() { _ = again.Close() }()
			got := storetest.Generations(t, again)
			if !slices.Equal(given, got) {
				t.Errorf("generations %d, want %d", got, given)
			}
			all := slices.Clone(got)
			for from, org := range orgs {
				own := into
				own.DSN = dsnOf(into, c.where[from])
				if n := namespaces(t, own, org); n != 1 {
					t.Errorf("database %s has %d namespaces of the organization of %s", c.where[from], n, from)
				}
				if err := again.View(ctx, func(r port.Reader) error {
					k, err := r.KeyByHash(ctx, sha256.Sum256([]byte(from)))
					if err == nil && k.Org != org {
						err = errors.New("the key is another's")
					}
					return err
				}); err != nil {
					t.Errorf("the key of %s: %v", from, err)
				}
				all = append(all, created(t, again, org, "after"))
				happen(t, again, org, "3")
				if diff := cmp.Diff([]string{"1", "2", "3"}, happened(t, again, org)); diff != "" {
					t.Errorf("events of %s, in order (-want +got):\n%s", from, diff)
				}
			}
			if len(c.into) == 0 { // it becomes several again, with a database of a name that there was
				if err := again.Close(); err != nil {
					t.Fatal(err)
				}
				into.Databases, into.Place = emptyDatabases(t, "b").Databases, "b"
				again = openAll(t, into)
			}
			for _, name := range append([]string{"home"}, databaseNames(into)...) {
				org := ident.Org("org_new_" + name)
				o := port.Organization{ID: org, Name: "new in " + name, Database: name}
				if len(into.Databases) == 0 {
					o.Database = ""
				}
				if err := again.Update(ctx, func(w port.Writer) error { return w.PutOrganization(ctx, o) }); err != nil {
					t.Fatal(err)
				}
				all = append(all, created(t, again, org, "docs"))
			}
			slices.Sort(all)
			if len(slices.Compact(slices.Clone(all))) != len(all) {
				t.Errorf("a generation is given twice: %d", all)
			}
			for _, d := range into.Databases {
				if mover, ok := again.(port.Mover); ok {
					if _, err := mover.MoveOrganization(ctx, orgs["home"], d.Name, nil); err != nil {
						t.Errorf("move to %s: %v", d.Name, err)
					}
				}
			}
		})
	}
}

// happen appends an event.
func happen(t *testing.T, s port.DocumentStore, org ident.Org, what string) {
	t.Helper()
	if err := s.Update(t.Context(), func(w port.Writer) error {
		return w.AppendEvents(t.Context(), []port.Event{{ID: "evt_" + what + string(org), Org: org, Kind: "k", Entity: "e",
			Body: []byte(what), CreatedAt: time.Now()}})
	}); err != nil {
		t.Fatal(err)
	}
}

// happened are the events of an organization that are not numbered yet, in the order in which they will be.
func happened(t *testing.T, s port.DocumentStore, org ident.Org) (what []string) {
	t.Helper()
	if err := s.View(t.Context(), func(r port.Reader) error {
		all, err := r.UnnumberedEvents(t.Context(), 1000)
		for _, e := range all {
			if e.Org == org {
				what = append(what, strings.TrimSuffix(strings.TrimPrefix(e.ID, "evt_"), string(org)))
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return what
}

func databaseNames(c postgres.Config) (names []string) {
	for _, d := range c.Databases {
		names = append(names, d.Name)
	}
	return names
}

func dsnOf(c postgres.Config, name string) registry.Secret {
	for _, d := range c.Databases {
		if d.Name == name {
			return d.DSN
		}
	}
	return c.DSN
}

// created makes a namespace, and gives its generation.
func created(t *testing.T, s port.DocumentStore, org ident.Org, name string) (generation int64) {
	t.Helper()
	if err := s.Update(t.Context(), func(w port.Writer) error {
		n, err := w.CreatePartition(t.Context(), port.Documents(org, name), port.PartitionRow{Dimensions: 8})
		generation = n.Generation
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return generation
}

// A restore that fails leaves nothing in any database, and one into what is there changes nothing.
func TestRestoreIntoDatabasesRefused(t *testing.T) {
	ctx := t.Context()
	s := openAll(t, spread(t, "fewest"))
	defer func() { _ = s.Close() }()
	place(t, s)
	into := emptyDatabases(t, "b", "c")
	all := []registry.Secret{into.DSN, into.Databases[0].DSN, into.Databases[1].DSN}
	restore := func(d port.Dump) error {
		return postgres.RestoreAll(ctx, into, postgres.Options{}, port.Restoring{Dump: d})
	}
	if err := s.(port.Dumper).Dump(ctx, func(d port.Dump) error {
		for _, table := range []string{"secrets", "api_keys", "b/api_keys", "c/namespaces", "c/numbers"} {
			bad := altered{d, table, func(row []byte) []byte { return row[:len(row)-1] }}
			if table == "secrets" {
				bad.table = "organizations"
			}
			if err := restore(bad); err == nil {
				t.Errorf("restored without all of %s", table)
			}
			for i, dsn := range all {
				if n := tables(t, dsn); n != 0 {
					t.Errorf("database %d has %d tables after %s was not whole", i, n, table)
				}
			}
		}
		return restore(d)
	}); err != nil {
		t.Fatal(err)
	}
	// In a database that has something, whether or not the backup has a part for it.
	for _, name := range []string{"c", "d"} {
		full := emptyDatabases(t, "b")
		full.Databases = append(full.Databases, postgres.Database{Name: name, DSN: into.Databases[1].DSN})
		err := s.(port.Dumper).Dump(ctx, func(d port.Dump) error {
			return postgres.RestoreAll(ctx, full, postgres.Options{}, port.Restoring{Dump: d})
		})
		if !errors.Is(err, bunsql.ErrNotEmpty) || !strings.Contains(err.Error(), "database "+name) {
			t.Errorf("into a database %s that has something: %v", name, err)
		}
		if n := tables(t, full.DSN) + tables(t, full.Databases[0].DSN); n != 0 {
			t.Errorf("%d tables in the others", n)
		}
	}
}

// Without one of its databases an installation is not backed up, and with it again it is.
func TestBackupWithoutADatabase(t *testing.T) {
	ctx := t.Context()
	c := spread(t, "fewest")
	g, dsn := newGate(t, c.Databases[1].DSN.Reveal())
	c.Databases[1].DSN = registry.Secret(dsn)
	s := openAll(t, c)
	defer func() { _ = s.Close() }()
	place(t, s)
	g.set(true)
	err := s.(port.Dumper).Dump(ctx, func(port.Dump) error { t.Error("there is a dump"); return nil })
	if err == nil || !strings.Contains(err.Error(), "database c") {
		t.Errorf("without c: %v", err)
	}
	g.set(false)
	broken := false
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // the database is left alone for a moment
		err := s.(port.Dumper).Dump(ctx, func(d port.Dump) error {
			g.set(true)
			for _, table := range d.Tables() {
				if err := d.Rows(ctx, table.Name, func([]byte) error { return nil }); err != nil {
					if broken = true; !strings.HasPrefix(table.Name, "c/") {
						t.Errorf("table %s: %v", table.Name, err)
					}
					return err
				}
			}
			return nil
		})
		if broken {
			if err == nil {
				t.Error("there is a dump of a database that went away")
			}
			return
		}
		if time.Now().After(until) {
			t.Fatalf("with all databases: %v", err)
		}
	}
}

// Whatever is moved, made and deleted meanwhile, a backup has everything that was acknowledged before it, of each
// organization as it was at one moment.
func TestBackupUnderLoad(t *testing.T) {
	ctx := t.Context()
	s := openAll(t, spread(t, "fewest"))
	defer func() { _ = s.Close() }()
	orgs := place(t, s)
	stop := make(chan struct{})
	var group errgroup.Group
	forever := func(fn func(i int) error) {
		group.Go(func() error { return storetest.Forever(stop, fn) })
	}
	id := func(n int64) string { return fmt.Sprintf("doc-%06d", n) }
	acked := map[string]*atomic.Int64{}
	for name, org := range orgs {
		n := &atomic.Int64{}
		acked[name] = n
		forever(func(int) error { // one after another, each once it is acknowledged
			text := "text"
			err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(ctx, port.Documents(org, "docs"), time.Now(), []port.DocumentWrite{{
					Document: port.Document{ID: id(n.Load()), Text: text, TextHash: sha256.Sum256([]byte(text)),
						Chunks: []port.Chunk{{End: len(text)}}},
					Vectors: port.Vectors{Dense: port.Dense{Dim: 8, Data: make([]float32, 8)}},
				}})
				return err
			})
			if fault.CodeOf(err) == fault.Unavailable {
				return nil
			}
			n.Add(1)
			return err
		})
	}
	var moves atomic.Int64
	forever(func(i int) error {
		to := []string{"b", "c", "home"}[i%3]
		_, err := s.(port.Mover).MoveOrganization(ctx, orgs["home"], to, nil)
		moves.Add(1)
		return err
	})
	forever(func(i int) error {
		in := []string{"b", "c", "home"}[i%3]
		o := port.Organization{ID: ident.Org(fmt.Sprint("org_", i)), Name: fmt.Sprint(i), Database: in}
		if err := s.Update(ctx, func(w port.Writer) error { return w.PutOrganization(ctx, o) }); err != nil {
			return err
		}
		if err := s.Update(ctx, func(w port.Writer) error {
			return w.PutKey(ctx, port.Key{ID: string("key_" + o.ID), Org: o.ID, Hash: sha256.Sum256([]byte(o.ID))})
		}); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
		if i%2 == 0 {
			return nil
		}
		if err := s.Update(ctx, func(w port.Writer) error { return w.BeginDeletion(ctx, o.ID, time.Now()) }); err != nil {
			return err
		}
		for more := true; more; {
			if err := s.Update(ctx, func(w port.Writer) (err error) {
				_, more, err = w.EraseOrganization(ctx, o.ID, 100)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	for round := range 4 {
		before := map[string]int64{}
		for until := moves.Load() + 1; moves.Load() < until && ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
		for name, n := range acked {
			before[name] = n.Load()
		}
		into := emptyDatabases(t, []string{"b", "c"}[:round%2*2]...)
		for tries := 1; ; tries++ {
			err := s.(port.Dumper).Dump(ctx, func(d port.Dump) error {
				return postgres.RestoreAll(ctx, into, postgres.Options{}, port.Restoring{Dump: d})
			})
			if err == nil {
				break
			}
			if fault.CodeOf(err) != fault.Unavailable || tries == 20 {
				t.Fatal(err)
			}
		}
		again := openAll(t, into)
		for name, org := range orgs {
			if err := again.View(ctx, func(r port.Reader) error {
				heads, err := r.ListDocuments(ctx, port.Documents(org, "docs"), port.DocumentList{Order: port.ByID,
					Limit: 1 << 20})
				for i, h := range heads {
					if h.ID != id(int64(i)) {
						t.Errorf("round %d, %s: %s in place %d", round, name, h.ID, i)
						break
					}
				}
				if int64(len(heads)) < before[name] {
					t.Errorf("round %d, %s: %d documents, and %d were acknowledged", round, name, len(heads), before[name])
				}
				return err
			}); err != nil {
				t.Errorf("round %d, %s: %v", round, name, err)
			}
		}
		// Each organization that is there can be written.
		if err := again.Update(ctx, func(w port.Writer) error {
			all, err := w.Organizations(ctx)
			for _, o := range all {
				if err == nil && o.Deleting.IsZero() {
					err = w.PutKey(ctx, port.Key{ID: "new_" + string(o.ID), Org: o.ID, Hash: sha256.Sum256([]byte("new" + o.ID))})
				}
			}
			return err
		}); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("%d moves", moves.Load())
}
