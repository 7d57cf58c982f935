package sharded_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sharded"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/storetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// observed is a database that runs something when a snapshot of it was taken.
type observed struct {
	port.DocumentStore
	taken *func()
}

func (o observed) Close() error { return nil }

func (o observed) Dump(ctx context.Context, fn func(port.Dump) error) error {
	return o.DocumentStore.(port.Dumper).Dump(ctx, func(d port.Dump) error {
		if *o.taken != nil {
			(*o.taken)()
		}
		return fn(d)
	})
}

// observe is a third server, which runs a function when it has taken the snapshot of b, and the home's comes last.
func (f *fleet) observe() (s *sharded.Store, taken *func()) {
	f.Helper()
	taken = new(func())
	o := f.lent
	o.Others = slices.Clone(o.Others)
	o.Others[0].Open = func(context.Context) (port.DocumentStore, error) { return observed{f.members["b"], taken}, nil }
	s = open(f.T, o)
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Error(err)
		}
	})
	return s, taken
}

// restored is what a store over several databases dumps, in one database.
func restored(t *testing.T, s port.Dumper) port.DocumentStore {
	t.Helper()
	dir := t.TempDir()
	if err := s.Dump(t.Context(), func(d port.Dump) error {
		return sqlite.Restore(t.Context(), dir, sqlite.Options{}, port.Restoring{Dump: d})
	}); err != nil {
		t.Fatal(err)
	}
	one, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := one.Close(); err != nil {
			t.Error(err)
		}
	})
	return one
}

// inBackup says of which tables a backup has the rows.
func inBackup(t bunsql.MovedTable) bool { return !slices.Contains(bunsql.NotDumped, t.Name) }

// sameAs compares what a database has of an organization with another one.
func sameAs(t *testing.T, want, got port.DocumentStore, org ident.Org) {
	t.Helper()
	there := sumRows(t, want, org, inBackup)
	if len(there) < 10 {
		t.Errorf("%s has rows in %d tables", org, len(there))
	}
	if diff := cmp.Diff(there, sumRows(t, got, org, inBackup)); diff != "" {
		t.Errorf("rows of %s (-want +got):\n%s", org, diff)
	}
}

// put gives an organization with something of most kinds a place in a database.
func (f *fleet) put(org ident.Org, in string) port.Partition {
	f.Helper()
	p := f.fill(org, 30)
	if in != "home" {
		if _, err := f.first.MoveOrganization(f.Context(), org, in, nil); err != nil {
			f.Fatal(err)
		}
	}
	return p
}

// A backup of three databases has what each organization has where it is, and one database takes all of it.
func TestBackup(t *testing.T) {
	f := newFleet(t)
	ctx := t.Context()
	places := map[ident.Org]string{"org_home": "home", "org_b": "b", "org_c": "c"}
	for org, in := range places {
		f.put(org, in)
	}
	record := func(id string) port.AuditRecord {
		return port.AuditRecord{ID: id, Org: "org_b", At: time.Unix(1, 0).UTC()}
	}
	// The second one waits in b and is numbered already: a server died when it had taken it over.
	numbered := record("aud_2")
	f.update(f.members["b"], func(w port.DocumentWriter) error {
		return errors.Join(w.AppendAudit(ctx, record("aud_1")), w.AppendAudit(ctx, numbered))
	})
	f.update(f.members["home"], func(w port.DocumentWriter) error {
		return w.(*bunsql.Writer).TakeAudit(ctx, "b", []port.AuditRecord{numbered})
	})
	numbered.Seq, numbered.Hash = 1, numbered.Sum()
	f.update(f.members["home"], func(w port.DocumentWriter) error {
		return w.NumberAudit(ctx, []port.AuditRecord{numbered})
	})
	one := restored(t, f.first)
	for org, in := range places {
		sameAs(t, f.members[in], one, org)
	}
	if err := one.View(ctx, func(r port.Reader) error {
		all, err := r.Organizations(ctx)
		named := func(o port.Organization) bool { return o.Name == "of org_b" }
		if err != nil || len(all) != 4 || !slices.ContainsFunc(all, named) {
			t.Errorf("organizations %+v, %v", all, err)
		}
		placed, err := r.(*bunsql.Reader).Placed(ctx)
		if err != nil || len(placed) > 0 {
			t.Errorf("placed elsewhere: %v, %v", placed, err)
		}
		known, err := r.(*bunsql.Reader).Databases(ctx)
		if err != nil || len(known) != 3 || known[0].Name != "home" || !known[1].Retired() || !known[2].Retired() {
			t.Errorf("databases %+v, %v", known, err)
		}
		waiting, err := r.WaitingAudit(ctx, 10)
		if err != nil || len(waiting) != 1 || waiting[0].ID != "aud_1" {
			t.Errorf("audit records that wait: %+v, %v", waiting, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// What comes after it has other numbers, and comes after it.
	var generation int64
	f.update(one, func(w port.DocumentWriter) error {
		n, err := w.CreatePartition(ctx, port.Documents("org_b", "new"), port.PartitionRow{Dimensions: 2})
		generation = n.Generation
		return errors.Join(err, w.AppendEvents(ctx, []port.Event{
			{ID: "evt_3org_b", Org: "org_b", Kind: "k", Entity: "e", Body: []byte("3"), CreatedAt: time.Now()}}))
	})
	var events []string
	if err := one.View(ctx, func(r port.Reader) error {
		all, err := r.UnnumberedEvents(ctx, 100)
		for _, e := range all {
			if e.Org == "org_b" {
				events = append(events, e.ID)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"evt_1org_b", "evt_2org_b", "evt_3org_b"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if slices.Contains(storetest.Generations(t, f.first), generation) {
		t.Errorf("generation %d is given twice", generation)
	}
	for org := range places {
		f.update(one, func(w port.DocumentWriter) error {
			_, err := w.PutDocuments(ctx, port.Documents(org, "docs"), time.Now(), []port.DocumentWrite{document("later")})
			return err
		})
	}
}

// Wherever a move dies, a backup has all of the organization, once.
func TestBackupOfAMove(t *testing.T) {
	for _, step := range []string{port.MoveBegun, "documents", port.MoveDrafted, port.MoveFenced, changed, "events",
		port.MoveCopied, port.MoveChecked, port.MoveSwapped, port.MoveOpened, port.MoveRemoved} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			ctx := t.Context()
			p := f.fill("org_moved", 30)
			f.put("org_other", "c")
			if err := killed(ctx, f.first, "c", step, func() {
				f.update(f.second, func(w port.DocumentWriter) error {
					_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{document("during")})
					return err
				})
			}); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			one := restored(t, f.second)
			at := "home"
			if step == port.MoveSwapped || step == port.MoveOpened || step == port.MoveRemoved {
				at = "c"
			}
			sameAs(t, f.members[at], one, "org_moved")
			sameAs(t, f.members["c"], one, "org_other")
			f.update(one, func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{document("later")})
				return err
			})
		})
	}
}

// What happens to organizations while snapshots are taken leaves none halfway in a backup.
func TestBackupBetweenSnapshots(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	for _, c := range []struct {
		what  string
		do    func(f *fleet)
		check func(t *testing.T, f *fleet, one port.DocumentStore)
	}{
		{"made in the home", func(f *fleet) { f.fill("org_new", 3) }, func(t *testing.T, _ *fleet, one port.DocumentStore) {
			absent(t, one, "org_new")
		}},
		{"made in a database whose snapshot is there", func(f *fleet) { f.make("org_new", "b") },
			func(t *testing.T, _ *fleet, one port.DocumentStore) { absent(t, one, "org_new") }},
		{"made in one whose snapshot is not", func(f *fleet) { f.make("org_new", "c") },
			func(t *testing.T, _ *fleet, one port.DocumentStore) { absent(t, one, "org_new") }},
		{"moved to a database whose snapshot is there", func(f *fleet) { f.move("org_home", "b") },
			func(t *testing.T, f *fleet, one port.DocumentStore) { sameAs(t, f.members["b"], one, "org_home") }},
		{"moved to one whose snapshot is not", func(f *fleet) { f.move("org_b", "c") },
			func(t *testing.T, f *fleet, one port.DocumentStore) { sameAs(t, f.members["c"], one, "org_b") }},
		{"moved from the home", func(f *fleet) { f.move("org_home", "c") },
			func(t *testing.T, f *fleet, one port.DocumentStore) { sameAs(t, f.members["c"], one, "org_home") }},
		{"begun to be deleted", func(f *fleet) {
			f.update(f.first, func(w port.DocumentWriter) error { return w.BeginDeletion(f.Context(), "org_b", at) })
		}, func(t *testing.T, _ *fleet, one port.DocumentStore) {
			if err := one.View(t.Context(), func(r port.Reader) error {
				o, err := r.Organization(t.Context(), "org_b")
				if err != nil || o.Deleting.IsZero() {
					t.Errorf("the organization that is being deleted: %+v, %v", o, err)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}},
		{"deleted", func(f *fleet) {
			f.update(f.first, func(w port.DocumentWriter) error { return w.BeginDeletion(f.Context(), "org_b", at) })
			f.update(f.first, func(w port.DocumentWriter) error {
				_, err := w.DeletePartition(f.Context(), port.Documents("org_b", "docs"))
				return err
			})
			for more := true; more; {
				if err := f.first.Update(f.Context(), func(w port.Writer) (err error) {
					_, more, err = w.EraseOrganization(f.Context(), "org_b", 1000)
					return err
				}); err != nil {
					f.Fatal(err)
				}
			}
		}, func(t *testing.T, _ *fleet, one port.DocumentStore) { absent(t, one, "org_b") }},
		{"written", func(f *fleet) {
			f.update(f.first, func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(f.Context(), port.Documents("org_b", "docs"), at, []port.DocumentWrite{document("x")})
				return err
			})
		}, func(t *testing.T, _ *fleet, one port.DocumentStore) {
			if got, err := ids(t.Context(), one, port.Documents("org_b", "docs")); err != nil || slices.Contains(got, "x") {
				t.Errorf("documents of the snapshot: %q, %v", got, err)
			}
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.put("org_home", "home")
			f.put("org_b", "b")
			f.put("org_c", "c")
			s, taken := f.observe()
			did := 0
			*taken = func() {
				if did++; did == 1 {
					c.do(f)
				}
			}
			one := restored(t, s)
			if did == 0 {
				t.Fatal("no snapshot was taken")
			}
			c.check(t, f, one)
			sameAs(t, f.members["c"], one, "org_c")
			if did == 1 && strings.HasPrefix(c.what, "begun") {
				t.Error("the snapshots were not taken again")
			}
		})
	}
}

// make makes an organization in a database, with a key, a namespace, a client's use and usage.
func (f *fleet) make(org ident.Org, in string) {
	f.Helper()
	ctx := f.Context()
	f.update(f.first, func(w port.DocumentWriter) error {
		return w.PutOrganization(ctx, port.Organization{ID: org, Name: "of " + string(org), CreatedAt: time.Now(), Database: in})
	})
	f.update(f.first, func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(ctx, port.Documents(org, "docs"), port.PartitionRow{Dimensions: 2})
		return errors.Join(err, w.PutKey(ctx, port.Key{ID: "key_" + string(org), Org: org, Hash: sha256.Sum256([]byte(org))}),
			w.AddUsage(ctx, []port.UsageRow{{From: time.Unix(3600, 0), UsageAccount: port.UsageAccount{Org: org},
				Usage: port.Usage{Requests: 1}}}))
	})
}

func (f *fleet) move(org ident.Org, to string) {
	f.Helper()
	if _, err := f.first.MoveOrganization(f.Context(), org, to, nil); err != nil {
		f.Fatal(err)
	}
}

// absent fails where something of an organization is there.
func absent(t *testing.T, s port.DocumentStore, org ident.Org) {
	t.Helper()
	ctx := t.Context()
	if rows := sumRows(t, s, org, inBackup); len(rows) > 0 {
		t.Errorf("rows of %s: %v", org, rows)
	}
	if err := s.View(ctx, func(r port.Reader) error {
		if o, err := r.Organization(ctx, org); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%+v, %v", o, err)
		}
		used, err := r.Usage(ctx, port.UsageList{Org: org})
		if err == nil && len(used) > 0 {
			t.Errorf("usage of %s: %+v", org, used)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// Where organizations begin to be deleted at every moment, or a database does not answer, there is no backup.
func TestBackupRefused(t *testing.T) {
	f := newFleet(t)
	ctx := t.Context()
	const most = 25 // more than there are tries
	for i := range most {
		f.make(ident.Org(fmt.Sprint("org_", i)), "b")
	}
	s, taken := f.observe()
	n := 0
	*taken = func() {
		f.update(f.first, func(w port.DocumentWriter) error {
			return w.BeginDeletion(ctx, ident.Org(fmt.Sprint("org_", n)), time.Now())
		})
		n++
	}
	refused := func(d port.Dumper, want string) {
		t.Helper()
		err := d.Dump(ctx, func(port.Dump) error { t.Error("there is a dump"); return nil })
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want unavailable and %q", err, want)
		}
	}
	refused(s, "deleted")
	if n < 2 {
		t.Errorf("%d tries", n)
	}
	away := f.lent
	away.Others = slices.Clone(away.Others)
	gone := fault.New(fault.Unavailable, "gone")
	away.Others[1].Open = func(context.Context) (port.DocumentStore, error) { return nil, gone }
	away.Unreachable = func(err error) bool { return errors.Is(err, gone) }
	other := open(t, away)
	defer func() { _ = other.Close() }()
	refused(other, "database c")
}
