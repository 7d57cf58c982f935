package sharded_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/sharded"
	"github.com/mnemehq/mneme/adapters/storage/storetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// wanderer is a store whose organizations are moved before it is read, each as far as numbers allow over SQLite.
type wanderer struct {
	*sharded.Store
	t     *testing.T
	mu    sync.RWMutex // held by the store's functions
	views atomic.Int64
	own   int // moves of this store
	most  int // of those
	moves *atomic.Int64
}

var order = []string{"home", "b", "c"}

func (w *wanderer) View(ctx context.Context, fn func(port.Reader) error) error {
	if w.views.Add(1)%3 == 0 && w.mu.TryLock() {
		if w.own < w.most {
			w.wander()
		}
		w.mu.Unlock()
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.Store.View(ctx, fn)
}

func (w *wanderer) Update(ctx context.Context, fn func(port.Writer) error) error {
	return w.UpdateDocuments(ctx, func(x port.DocumentWriter) error { return fn(x) })
}

func (w *wanderer) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.Store.UpdateDocuments(ctx, fn)
}

// wander moves the next organization to the next database.
func (w *wanderer) wander() {
	ctx := context.Background()
	var all []port.Organization
	if err := w.Store.View(ctx, func(r port.Reader) (err error) { all, err = r.Organizations(ctx); return err }); err != nil {
		w.t.Errorf("list organizations: %v", err)
	}
	for _, o := range all {
		for _, to := range order[1:] {
			_, err := w.Store.MoveOrganization(ctx, o.ID, to, nil)
			switch {
			case err == nil:
				w.own++
				w.moves.Add(1)
				return
			case fault.CodeOf(err) != fault.Conflict && !strings.Contains(err.Error(), "numbers of another"):
				w.t.Errorf("move %s to %s: %v", o.Name, to, err)
			}
		}
	}
}

// settled are the tests whose organizations stay: those that read places of events and deliveries in a database,
// which a move gives anew, in one transaction and use them in the next, or want those of several organizations in one order; that
// of watermarks, which are not moved; that of clients of OAuth, which only the grants in the home keep; and that of placements.
var settled = []string{"Events", "EventTrim", "EventErasure", "DeliveryLanes", "Watermarks", "OAuthPurge",
	"Placements"}

// The store is the same where organizations are moved again and again.
func TestContractOfMovedOrganizations(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, under which organizations move under load")
	}
	most := 1 // of one store, as they take time
	if os.Getenv("MNEME_TEST_REQUIRE") != "" {
		most = 4
	}
	var moves atomic.Int64
	storetest.Run(t, func(t *testing.T) port.DocumentStore {
		s := open(t, options(t, sharded.Fewest))
		if i := strings.LastIndexByte(t.Name(), '/'); slices.Contains(settled, t.Name()[i+1:]) {
			return s
		}
		return &wanderer{Store: s, t: t, most: most, moves: &moves}
	})
	if n := moves.Load(); n < 20 {
		t.Errorf("%d moves", n)
	} else {
		t.Logf("%d moves", n)
	}
}

// fleet is two servers over the same three databases.
type fleet struct {
	*testing.T
	members map[string]port.DocumentStore
	lent    sharded.Options // of a server over the same members
	first   *sharded.Store
	second  *sharded.Store
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{T: t, members: map[string]port.DocumentStore{}}
	o := options(t, "home")
	o.MoveLease = 10 * time.Millisecond
	again := o
	again.Others = slices.Clone(o.Others)
	keep := func(d *sharded.Database) {
		open := d.Open
		d.Open = func(ctx context.Context) (port.DocumentStore, error) {
			s, err := open(ctx)
			f.members[d.Name] = s
			return s, err
		}
	}
	lend := func(d *sharded.Database) {
		name := d.Name
		d.Open = func(context.Context) (port.DocumentStore, error) { return borrowed{f.members[name]}, nil }
	}
	keep(&o.Home)
	lend(&again.Home)
	again.Side = func(context.Context) (port.DocumentStore, error) { return borrowed{f.members["home"]}, nil }
	for i := range o.Others {
		keep(&o.Others[i])
		lend(&again.Others[i])
	}
	f.first = open(t, o)
	f.second, f.lent = open(t, again), again
	t.Cleanup(func() {
		if err := errors.Join(f.second.Close(), f.first.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fleet) update(s port.DocumentStore, fn func(port.DocumentWriter) error) {
	f.Helper()
	if err := s.UpdateDocuments(f.Context(), fn); err != nil {
		f.Fatal(err)
	}
}

func document(id string) port.DocumentWrite {
	text := "text of " + id
	return port.DocumentWrite{
		Document: port.Document{ID: id, Text: text, TextHash: sha256.Sum256([]byte(text)),
			Chunks: []port.Chunk{{End: len(text)}}},
		Vectors: port.Vectors{Dense: port.Dense{Dim: 2, Data: []float32{1, .5}}},
	}
}

// fill makes an organization in the home with something of most kinds.
func (f *fleet) fill(org ident.Org, documents int) port.Partition {
	f.Helper()
	ctx, at := f.Context(), time.Unix(1_700_000_000, 0).UTC()
	p := port.Documents(org, "docs")
	f.update(f.first, func(w port.DocumentWriter) error {
		return w.PutOrganization(ctx, port.Organization{ID: org, Name: "of " + string(org), CreatedAt: at})
	})
	f.update(f.first, func(w port.DocumentWriter) error {
		key := "key_" + string(org)
		_, err := w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: 2, Embedder: "m", EmbeddingModel: "m", CreatedAt: at})
		return errors.Join(err,
			w.PutKey(ctx, port.Key{ID: key, Org: org, Name: "k", Hash: sha256.Sum256([]byte(org)), CreatedAt: at}),
			w.PutIntegration(ctx, port.Integration{ID: "int_1", Org: org, Name: "i"}),
			w.PutQuota(ctx, org, "documents", 100_000),
			w.CreateJob(ctx, port.Job{ID: "job_" + string(org), Org: org, Kind: "k", Partition: p, Status: port.JobQueued,
				CreatedAt: at, UpdatedAt: at}, port.JobRequest{Body: []byte("{}")}),
			w.PutMember(ctx, port.Member{ID: "mem_" + string(org), Org: org, Email: "a@example.com", Role: "owner",
				CreatedAt: at}),
			w.AppendEvents(ctx, []port.Event{
				{ID: "evt_1" + string(org), Org: org, Kind: "k", Entity: "e", Body: []byte("1"), CreatedAt: at},
				{ID: "evt_2" + string(org), Org: org, Kind: "k", Entity: "e", Body: []byte("2"), CreatedAt: at},
			}))
	})
	var all []port.DocumentWrite
	for i := range documents {
		all = append(all, document(fmt.Sprintf("doc-%05d", i)))
	}
	f.update(f.first, func(w port.DocumentWriter) error { _, err := w.PutDocuments(ctx, p, at, all); return err })
	f.update(f.first, func(w port.DocumentWriter) error {
		_, _, _, err := w.DeleteDocuments(ctx, p, at, []string{"doc-00000"})
		return err
	})
	return p
}

// in counts the generations of an organization that each database has itself.
func (f *fleet) in(org ident.Org) map[string]int {
	f.Helper()
	out := map[string]int{}
	for name, s := range f.members {
		if err := s.View(f.Context(), func(r port.Reader) error {
			all, err := r.(*bunsql.Reader).MovedGenerations(f.Context(), org)
			if len(all) > 0 {
				out[name] = len(all)
			}
			return err
		}); err != nil {
			f.Fatal(err)
		}
	}
	return out
}

// ids lists the documents of a partition.
func ids(ctx context.Context, s port.DocumentStore, p port.Partition) (out []string, err error) {
	err = s.View(ctx, func(r port.Reader) error {
		heads, err := r.ListDocuments(ctx, p, port.DocumentList{Order: port.ByID, Limit: 1_000_000})
		for _, h := range heads {
			out = append(out, h.ID)
		}
		return err
	})
	return out, err
}

// gate is a store whose writes wait at its door.
type gate struct {
	port.DocumentStore
	closed  atomic.Bool
	arrived chan struct{}
	opened  chan struct{}
}

func (g *gate) Update(ctx context.Context, fn func(port.Writer) error) error {
	return g.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

func (g *gate) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	if g.closed.Load() {
		g.arrived <- struct{}{}
		<-g.opened
	}
	return g.DocumentStore.UpdateDocuments(ctx, fn)
}

// A write that finds its organization gone to another database holds nothing of the one that it came from while it waits.
func TestWritesLetGoOfWhatAnOrganizationHasLeft(t *testing.T) {
	f := newFleet(t)
	p, other := f.fill("org_moved", 3), f.fill("org_other", 3)
	g := &gate{DocumentStore: f.members["b"], arrived: make(chan struct{}), opened: make(chan struct{})}
	o := f.lent
	o.Others = slices.Clone(o.Others)
	o.Others[0].Open = func(context.Context) (port.DocumentStore, error) { return borrowed{g}, nil }
	late := open(t, o)
	defer func() {
		if err := late.Close(); err != nil {
			t.Error(err)
		}
	}()
	write := func(ctx context.Context, p port.Partition, id string) error {
		return late.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{document(id)})
			return err
		})
	}
	if err := write(t.Context(), p, "before"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.first.MoveOrganization(t.Context(), "org_moved", "b", nil); err != nil {
		t.Fatal(err)
	}
	g.closed.Store(true)
	ended := make(chan error, 1)
	go func() { ended <- write(t.Context(), p, "after") }()
	select {
	case <-g.arrived:
	case err := <-ended:
		t.Fatalf("the write did not come to the database that the organization is in: %v", err)
	}
	g.closed.Store(false)
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := write(soon, other, "meanwhile"); err != nil {
		t.Errorf("write to the database that the organization has left: %v", err)
	}
	close(g.opened)
	if err := <-ended; err != nil {
		t.Errorf("write of the organization: %v", err)
	}
	if got, err := ids(t.Context(), late, p); err != nil || !slices.Contains(got, "before") || !slices.Contains(got, "after") {
		t.Errorf("documents %q, error %v", got, err)
	}
}

// Under writes and reads of two servers an organization goes from one database to the next: what was acknowledged is seen by
// everybody at every moment, and lies in one database in the end. Another organization notices nothing.
func TestMoveUnderLoad(t *testing.T) {
	f := newFleet(t)
	ctx := t.Context()
	p, other := f.fill("org_moved", 1200), f.fill("org_other", 3)
	var mu sync.Mutex
	acked := map[string]bool{}
	have := func() (all []string) {
		mu.Lock()
		defer mu.Unlock()
		for id := range acked {
			all = append(all, id)
		}
		return all
	}
	stop, refused, reads := make(chan struct{}), atomic.Int64{}, atomic.Int64{}
	var group errgroup.Group
	forever := func(fn func(i int) error) {
		group.Go(func() error { return storetest.Forever(stop, fn) })
	}
	for n, s := range []*sharded.Store{f.first, f.second} {
		forever(func(i int) error {
			id := fmt.Sprintf("new-%d-%05d", n, i)
			err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{document(id)})
				return err
			})
			switch {
			case fault.CodeOf(err) == fault.Unavailable:
				refused.Add(1)
				return nil
			case err != nil:
				return fmt.Errorf("write: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			acked[id] = true
			return nil
		})
		forever(func(int) error {
			before := have()
			found, err := ids(ctx, s, p)
			if err != nil {
				return fmt.Errorf("read: %w", err)
			}
			reads.Add(1)
			for _, id := range before {
				if _, ok := slices.BinarySearch(found, id); !ok {
					return fmt.Errorf("%s was acknowledged and is not found", id)
				}
			}
			return s.View(ctx, func(r port.Reader) error {
				k, err := r.KeyByHash(ctx, sha256.Sum256([]byte("org_moved")))
				if err == nil && k.Org != "org_moved" {
					err = errors.New("the key is another's")
				}
				return err
			})
		})
		forever(func(i int) error {
			return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(ctx, other, time.Now(), []port.DocumentWrite{document(fmt.Sprintf("own-%d-%05d", n, i))})
				return err
			})
		})
	}
	more := func() { // writes are acknowledged again
		for n, until := len(have()), time.Now().Add(time.Minute); len(have()) == n && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
	for _, to := range order[1:] {
		more()
		if _, err := f.first.MoveOrganization(ctx, "org_moved", to, nil); err != nil {
			t.Error(err)
		}
	}
	more()
	close(stop)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"c": 1}, f.in("org_moved")); diff != "" {
		t.Errorf("databases that have the organization (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"home": 1}, f.in("org_other")); diff != "" {
		t.Errorf("databases that have the other one (-want +got):\n%s", diff)
	}
	want := have()
	for i := 1; i < 1200; i++ {
		want = append(want, fmt.Sprintf("doc-%05d", i))
	}
	slices.Sort(want)
	for _, s := range []*sharded.Store{f.first, f.second} {
		got, err := ids(ctx, s, p)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("documents (-want +got), error %v:\n%s", err, diff)
		}
	}
	t.Logf("%d writes, %d refused, %d reads", len(have()), refused.Load(), reads.Load())
}

var errKilled = errors.New("killed")

// changed is the step that brings documents which were written after most were copied.
const changed = "changed documents"

// killed moves and dies when the step is done. drafted is called when most is copied.
func killed(ctx context.Context, s *sharded.Store, to, step string, drafted func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errKilled
		}
	}()
	_, err = s.MoveOrganization(ctx, "org_moved", to, func(p port.MoveProgress) {
		if p.Step == port.MoveDrafted {
			drafted()
		}
		if p.Step == step && p.Table == "" || p.Table == step ||
			step == changed && p.Step == port.MoveFenced && p.Table == "documents" {
			panic(step)
		}
	})
	return err
}

// Wherever a move dies, everything can be read, writes are done or refused, and a move that is called again ends it.
func TestMoveKilled(t *testing.T) {
	for _, step := range []string{port.MoveBegun, "documents", port.MoveDrafted, port.MoveFenced, changed, "api_keys", "events",
		port.MoveCopied, port.MoveChecked, port.MoveSwapped, port.MoveOpened, port.MoveRemoved} {
		for _, to := range []string{"c", "home"} {
			after := slices.Contains([]string{port.MoveSwapped, port.MoveOpened, port.MoveRemoved}, step)
			if to == "home" && after {
				continue // it can't be taken back
			}
			t.Run(step+" and to "+to, func(t *testing.T) {
				t.Parallel()
				f := newFleet(t)
				ctx := t.Context()
				p := f.fill("org_moved", 600)
				want, err := ids(ctx, f.first, p)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := ids(ctx, f.second, p); err != nil { // it knows where the organization was
					t.Fatal(err)
				}
				during := func() {
					f.update(f.second, func(w port.DocumentWriter) error {
						_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{document("during")})
						return err
					})
					want = append(want, "during")
				}
				if err := killed(ctx, f.first, "c", step, during); !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				for _, s := range []*sharded.Store{f.first, f.second} {
					if got, err := ids(ctx, s, p); err != nil || !slices.Equal(want, got) {
						t.Errorf("after the death: %d documents, %v", len(got), err)
					}
					id := fmt.Sprintf("later-%d", len(want))
					err := s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
						_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{document(id)})
						return err
					})
					if err == nil {
						want = append(want, id)
					} else if fault.CodeOf(err) != fault.Unavailable {
						t.Errorf("a write after the death: %v", err)
					}
				}
				other := "b"
				if step == port.MoveBegun {
					other = "" // nothing was done yet, and still it is begun
				}
				time.Sleep(20 * time.Millisecond) // as long as the move is taken for alive
				if other != "" {
					if _, err := f.second.MoveOrganization(ctx, "org_moved", other, nil); fault.CodeOf(err) != fault.Conflict {
						t.Errorf("to a third database: %v", err)
					}
				}
				done, err := f.second.MoveOrganization(ctx, "org_moved", to, nil)
				if err != nil || done.Back != (to == "home") {
					t.Fatalf("called again: %+v, %v", done, err)
				}
				if diff := cmp.Diff(map[string]int{to: 1}, f.in("org_moved")); diff != "" {
					t.Errorf("databases that have the organization (-want +got):\n%s", diff)
				}
				for n, s := range []*sharded.Store{f.first, f.second} {
					id := fmt.Sprintf("z-%d", n)
					f.update(s, func(w port.DocumentWriter) error {
						_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{document(id)})
						return err
					})
					want = append(want, id)
					if got, err := ids(ctx, s, p); err != nil || !slices.Equal(want, got) {
						t.Errorf("in the end: %d documents of %d, %v", len(got), len(want), err)
					}
				}
				if _, err := f.first.MoveOrganization(ctx, "org_moved", to, nil); fault.CodeOf(err) != fault.Conflict {
					t.Errorf("once more: %v", err)
				}
			})
		}
	}
}

// rows are sums over all rows of the tables of which most is copied while writes go on, as a database has them.
func (f *fleet) rows(name string, org ident.Org) map[string]string {
	f.Helper()
	return sumRows(f.T, f.members[name], org, func(t bunsql.MovedTable) bool { return t.Early })
}

// sumRows sums over all rows that a database has of an organization, by table and generation.
func sumRows(t *testing.T, s port.DocumentStore, org ident.Org, of func(bunsql.MovedTable) bool) map[string]string {
	t.Helper()
	ctx, out := t.Context(), map[string]string{}
	if err := s.View(ctx, func(r port.Reader) error {
		own := r.(*bunsql.Reader)
		all, err := own.MovedGenerations(ctx, org)
		if err != nil {
			return err
		}
		for _, table := range bunsql.MovedTables {
			generations := all
			if !of(table) {
				continue
			} else if !table.PerGeneration() {
				generations = []int64{0}
			}
			for _, generation := range generations {
				h := sha256.New()
				for page := (bunsql.MovePage{}); ; {
					if page, err = own.MovePage(ctx, table, org, generation, page.Next); err != nil {
						return err
					}
					for keys := page; len(keys.Rows) > 0; {
						rows, err := own.MovedRows(ctx, generation, keys)
						if err := errors.Join(err, rows.Sum(h)); err != nil {
							return err
						}
						out[fmt.Sprint(table.Name, " of ", generation)] = hex.EncodeToString(h.Sum(nil))
						keys = keys.After(rows)
					}
					if page.Next == nil {
						break
					}
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// What changes while most of an organization is copied is in the other database in the end, whatever it is.
func TestMoveBringsWhatChanged(t *testing.T) {
	f := newFleet(t)
	ctx, at := t.Context(), time.Unix(1_700_000_000, 0).UTC()
	p := f.fill("org_moved", 1200)
	memories := port.Memories("org_moved", "int_1", "ann")
	named := func(name string) port.Partition { return port.Documents("org_moved", name) }
	create := func(p port.Partition) {
		f.update(f.second, func(w port.DocumentWriter) error {
			_, err := w.CreatePartition(ctx, p, port.PartitionRow{Dimensions: 2, EmbeddingModel: "m", CreatedAt: at})
			return err
		})
	}
	put := func(p port.Partition, change func(*port.DocumentWrite), ids ...string) {
		f.update(f.second, func(w port.DocumentWriter) error {
			var all []port.DocumentWrite
			for _, id := range ids {
				d := document(id)
				d.Document.CreatedAt = at
				if change != nil {
					change(&d)
				}
				all = append(all, d)
			}
			_, err := w.PutDocuments(ctx, p, time.Now(), all)
			return err
		})
	}
	remove := func(p port.Partition, ids ...string) {
		f.update(f.second, func(w port.DocumentWriter) error {
			_, _, _, err := w.DeleteDocuments(ctx, p, time.Now(), ids)
			return err
		})
	}
	link := func(links ...port.ContextLink) {
		f.update(f.second, func(w port.DocumentWriter) error { return w.PutContextLinks(ctx, memories, links) })
	}
	swap := func(name string) {
		f.update(f.second, func(w port.DocumentWriter) error { return w.SwapPartition(ctx, named(name)) })
	}
	drop := func(name string) {
		f.update(f.second, func(w port.DocumentWriter) error { _, err := w.DeletePartition(ctx, named(name)); return err })
	}
	record := func(version int64) {
		f.update(f.second, func(w port.DocumentWriter) error {
			return w.PutRecord(ctx, memories, port.Record{Source: "s", ExternalID: "x", Version: version},
				port.Receipt{Source: "s", ExternalID: "x", Version: version})
		})
	}
	for _, name := range []string{"again", "once", "twice", "gone"} {
		create(named(name))
		put(named(name), nil, "1", "2")
	}
	var many []string // tombstones, more than some pages
	for i := range 6000 {
		many = append(many, fmt.Sprintf("many-%05d", i))
	}
	create(named("many"))
	put(named("many"), nil, "1")
	put(named("many"), nil, many...)
	remove(named("many"), many...)
	create(memories)
	put(memories, nil, "m1", "m2", "m3")
	link(port.ContextLink{ID: "m1", Context: "m2", Own: []float32{1, 2}},
		port.ContextLink{ID: "m2", Context: "m3", Own: []float32{3, 4}})
	record(1)
	for _, name := range []string{"once", "twice"} {
		create(named(name).Shadow())
		put(named(name).Shadow(), nil, "1", "2")
	}
	swap("twice")

	changes := func() {
		put(named("many"), nil, many[:3000]...)
		put(p, nil, "doc-new")
		put(p, func(d *port.DocumentWrite) { d.Vectors.Dense.Data = []float32{7, 8} }, "doc-00003")
		put(p, func(d *port.DocumentWrite) {
			d.MetadataOnly, d.Document.Metadata = true, []byte(`{"changed":true}`)
		}, "doc-00700")
		remove(p, "doc-00005", "doc-01199")
		put(p, nil, "doc-00000") // its tombstone goes
		drop("again")
		create(named("again"))
		put(named("again"), nil, "2", "3")
		drop("gone")
		create(named("fresh"))
		put(named("fresh"), nil, "1")
		swap("once")
		swap("twice")
		put(memories, nil, "m4")
		link(port.ContextLink{ID: "m1", Context: "m4", Own: []float32{5, 6}}, port.ContextLink{ID: "m2"})
		remove(memories, "m3")
		record(2)
	}
	var source map[string]string
	done := false
	if _, err := f.first.MoveOrganization(ctx, "org_moved", "b", func(now port.MoveProgress) {
		switch {
		case now.Step == port.MoveDrafted && !done:
			done = true
			changes()
		case now.Step == port.MoveFenced && source == nil:
			source = f.rows("home", "org_moved")
		}
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(source, f.rows("b", "org_moved")); diff != "" {
		t.Errorf("rows, while writes were refused and after the move (-home +b):\n%s", diff)
	}
	for name, want := range map[string][]string{"again": {"2", "3"}, "once": {"1", "2"}, "twice": {"1", "2"}, "fresh": {"1"}} {
		if got, err := ids(ctx, f.second, named(name)); err != nil || !slices.Equal(got, want) {
			t.Errorf("documents of %s: %q, %v", name, got, err)
		}
	}
	if _, err := ids(ctx, f.second, named("gone")); !fault.IsPartitionNotFound(err) {
		t.Errorf("the namespace that was deleted meanwhile: %v", err)
	}
}

// What was moved is the same, also when it goes on from there, and the tables that had something are named.
func TestMovedTables(t *testing.T) {
	f := newFleet(t)
	ctx := t.Context()
	p := f.fill("org_moved", 1100)
	first, err := f.first.MoveOrganization(ctx, "org_moved", "b", nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.second.MoveOrganization(ctx, "org_moved", "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Tables, second.Tables); diff != "" {
		t.Errorf("from b, what came from the home (-home +b):\n%s", diff)
	}
	err = f.first.View(ctx, func(r port.Reader) error {
		n, err := r.Partition(ctx, p)
		if n.Embedder != "m" {
			t.Errorf("the embedder of the namespace is %q", n.Embedder)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, table := range first.Tables {
		rows[table.Name] = table.Rows
	}
	want := map[string]int64{"api_keys": 1, "integrations": 1, "namespaces": 1, "documents": 1099, "vectors": 1099,
		"tombstones": 1, "jobs": 1, "events": 2, "quotas": 1, "members": 1}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestMoveRefused(t *testing.T) {
	f := newFleet(t)
	ctx := t.Context()
	f.fill("org_moved", 10)
	f.fill("org_deleted", 10)
	f.update(f.first, func(w port.DocumentWriter) error { return w.BeginDeletion(ctx, "org_deleted", time.Now()) })
	for _, c := range []struct {
		what, to string
		org      ident.Org
		code     fault.Code
	}{
		{"an unknown organization", "b", "org_none", fault.NotFound},
		{"an unknown database", "d", "org_moved", fault.NotFound},
		{"where it is", "home", "org_moved", fault.Conflict},
		{"one that is being deleted", "b", "org_deleted", fault.Conflict},
	} {
		if _, err := f.first.MoveOrganization(ctx, c.org, c.to, nil); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", c.what, err, c.code)
		}
	}
	asked := false
	if _, err := f.first.MoveOrganization(ctx, "org_moved", "b", func(p port.MoveProgress) {
		if asked || p.Step != port.MoveFenced {
			return
		}
		asked = true
		if err := f.second.Update(ctx, func(w port.Writer) error {
			return w.BeginDeletion(ctx, "org_moved", time.Now())
		}); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("a deletion while it is moved: %v", err)
		}
		if err := f.second.View(ctx, func(r port.Reader) error {
			_, err := r.Generations(ctx)
			return err
		}); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("what deletes the rest, meanwhile: %v", err)
		}
	}); err != nil || !asked {
		t.Fatal(err)
	}
}

// A move that is stopped before the swap leaves everything as it was.
func TestMoveStopped(t *testing.T) {
	for _, table := range []string{"documents", "events"} { // before and while writes are refused
		t.Run(table, func(t *testing.T) { stopped(t, table) })
	}
}

func stopped(t *testing.T, table string) {
	f := newFleet(t)
	p := f.fill("org_moved", 600)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := f.first.MoveOrganization(ctx, "org_moved", "b", func(p port.MoveProgress) {
		if p.Table == table {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"home": 1}, f.in("org_moved")); diff != "" {
		t.Errorf("databases that have the organization (-want +got):\n%s", diff)
	}
	f.update(f.second, func(w port.DocumentWriter) error {
		_, err := w.PutDocuments(t.Context(), p, time.Now(), []port.DocumentWrite{document("later")})
		return err
	})
}

// Every table is one of which rows are moved, or is known to stay.
func TestMoveKnowsEveryTable(t *testing.T) {
	f := newFleet(t)
	var all string
	if err := f.members["home"].View(t.Context(), func(r port.Reader) error {
		s, err := r.(*bunsql.Reader).Session(t.Context())
		if err != nil {
			return err
		}
		_, err = s.Row(t.Context(), `SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table'
  AND name NOT LIKE 'sqlite_%'`, nil, &all)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var moved []string
	for _, table := range bunsql.MovedTables {
		moved = append(moved, table.Name)
	}
	for name := range strings.SplitSeq(all, ",") {
		if slices.Contains(moved, name) == slices.Contains(bunsql.NotMoved, name) {
			t.Errorf("table %s: say in moves.go whether its rows are moved", name)
		}
	}
}
