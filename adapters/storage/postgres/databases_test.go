package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/storetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// spread is the configuration of three databases, each with a schema.
func spread(t testing.TB, place string) postgres.Config {
	t.Helper()
	c := config(t, nil)
	c.Place = place
	for _, name := range []string{"b", "c"} {
		c.Databases = append(c.Databases, postgres.Database{Name: name,
			DSN: registry.Secret(server.Copy(t, "migrated", migrate(postgres.Default())))})
	}
	return c
}

func openAll(t testing.TB, c postgres.Config) port.DocumentStore {
	t.Helper()
	s, err := postgres.OpenAll(t.Context(), c, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Over three databases the store is the same: with the default organization, which the home has, and
// others where there are the fewest.
func TestContractOverDatabases(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, under which package sharded runs the same over SQLite")
	}
	storetest.Brief(t)
	storetest.Run(t, func(t *testing.T) port.DocumentStore {
		return openAll(t, schemas(server.Copy(t, "spread", func(dsn string) error {
			s, err := postgres.OpenAll(context.Background(), schemas(dsn), postgres.Options{})
			if err != nil {
				return err
			}
			return s.Close()
		})))
	})
}

// schemas is the configuration of three schemas of one database, which stand for three databases: copying one
// is faster.
func schemas(dsn string) postgres.Config {
	c := postgres.Default()
	c.DSN, c.Schema = registry.Secret(dsn), "home"
	for _, name := range []string{"b", "c"} {
		c.Databases = append(c.Databases, postgres.Database{Name: name, DSN: c.DSN, Schema: name})
	}
	return c
}

// place makes organizations until each database has one, and gives them by database.
func place(t *testing.T, s port.DocumentStore) map[string]ident.Org {
	t.Helper()
	ctx := t.Context()
	orgs := map[string]ident.Org{"b": "org_b", "c": "org_c"} // each goes where there are the fewest
	for _, name := range []string{"b", "c"} {
		if err := s.Update(ctx, func(w port.Writer) error {
			return w.PutOrganization(ctx, port.Organization{ID: orgs[name], Name: "of " + name, CreatedAt: time.Now()})
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.View(ctx, func(r port.Reader) error {
		o, err := r.OrganizationByName(ctx, ident.DefaultOrg)
		orgs["home"] = o.ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, org := range orgs {
		if err := s.Update(ctx, func(w port.Writer) error {
			return w.PutKey(ctx, port.Key{ID: "key_" + name, Org: org, Name: name, Hash: sha256.Sum256([]byte(name))})
		}); err != nil {
			t.Fatal(err)
		}
		if err := createIn(t, s, org, "docs"); err != nil {
			t.Fatal(err)
		}
	}
	return orgs
}

func createIn(t *testing.T, s port.DocumentStore, org ident.Org, name string) error {
	ctx := t.Context()
	return s.Update(ctx, func(w port.Writer) error {
		_, err := w.CreatePartition(ctx, port.Documents(org, name), port.PartitionRow{Dimensions: 8})
		return err
	})
}

// namespaces counts those of an organization that a database has itself.
func namespaces(t *testing.T, c postgres.Config, org ident.Org) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM namespaces WHERE org = $1", string(org)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What an organization has lies in its database alone, and its generations are no other database's.
func TestPlacement(t *testing.T) {
	c := spread(t, "fewest")
	s := openAll(t, c)
	orgs := place(t, s)
	homes := map[string]postgres.Config{"home": c, "b": {Connection: c.Connection}, "c": {Connection: c.Connection}}
	for i, name := range []string{"b", "c"} {
		one := homes[name]
		one.DSN = c.Databases[i].DSN
		homes[name] = one
	}
	for of, org := range orgs {
		for at, one := range homes {
			want := 0
			if at == of {
				want = 1
			}
			if got := namespaces(t, one, org); got != want {
				t.Errorf("database %s has %d namespaces of the organization of %s, want %d", at, got, of, want)
			}
		}
	}
	var all []int64
	if err := s.View(t.Context(), func(r port.Reader) (err error) {
		all, err = r.Generations(t.Context())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	if len(all) != 3 || all[1]-all[0] < 1<<39 || all[2]-all[1] < 1<<39 {
		t.Errorf("generations %d", all)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := openAll(t, c)
	defer func() { _ = again.Close() }()
	for name, org := range orgs {
		if err := createIn(t, again, org, "docs"); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("in the organization of %s, opened again: %v", name, err)
		}
	}
}

// A database that is one of several is served with all the others or not at all.
func TestDatabasesBelongTogether(t *testing.T) {
	c := spread(t, "fewest")
	s := openAll(t, c)
	place(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := config(t, nil)
	held, err := postgres.Open(t.Context(), foreign, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Update(t.Context(), func(w port.Writer) error {
		return w.PutOrganization(t.Context(), port.Organization{ID: "org_own", Name: "own"})
	}); err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	b, other := c.Databases[0], c.Databases[1]
	more := func(dsn registry.Secret) func(*postgres.Config) {
		return func(c *postgres.Config) { c.Databases = append(c.Databases, postgres.Database{Name: "d", DSN: dsn}) }
	}
	for what, change := range map[string]func(*postgres.Config){
		"the home alone":      func(c *postgres.Config) { c.Databases = nil },
		"another alone":       func(c *postgres.Config) { c.DSN, c.Databases = b.DSN, nil },
		"without one":         func(c *postgres.Config) { c.Databases = c.Databases[:1] },
		"exchanged":           func(c *postgres.Config) { c.Databases[0].DSN, c.Databases[1].DSN = other.DSN, b.DSN },
		"another as the home": func(c *postgres.Config) { c.DSN, c.Databases[0].DSN = b.DSN, c.DSN },
		"with an installation": func(c *postgres.Config) {
			c.Databases = append(c.Databases, postgres.Database{Name: "d", DSN: foreign.DSN})
		},
		"the home once more":      more(c.DSN),
		"another under two names": more(b.DSN),
	} {
		changed := c
		changed.Databases = slices.Clone(c.Databases)
		change(&changed)
		if s, err := postgres.OpenAll(t.Context(), changed, postgres.Options{}); err == nil {
			t.Errorf("%s was opened", what)
			_ = s.Close()
		}
	}
	if err := openAll(t, c).Close(); err != nil {
		t.Error(err)
	}
}

// gate is a server between, which can be shut.
type gate struct {
	net.Listener
	to    string
	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

func newGate(t *testing.T, dsn string) (*gate, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: l, to: u.Host}
	u.Host = l.Addr().String()
	t.Cleanup(func() {
		g.set(true)
		_ = l.Close()
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", g.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			g.mu.Lock()
			if g.conns = append(g.conns, in, out); g.shut {
				_, _ = in.Close(), out.Close()
			}
			g.mu.Unlock()
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
	return g, u.String()
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut = shut; shut {
		for _, c := range g.conns {
			_ = c.Close()
		}
		g.conns = nil
	}
}

// A database that does not answer keeps only its own organizations from going on, also from a process that starts then, and
// they go on when it answers again.
func TestDatabaseAway(t *testing.T) {
	ctx := t.Context()
	c := spread(t, "fewest")
	g, dsn := newGate(t, c.Databases[1].DSN.Reveal())
	c.Databases[1].DSN = registry.Secret(dsn)
	s := openAll(t, c)
	defer func() { _ = s.Close() }()
	orgs := place(t, s)
	var self port.Replica
	if err := s.Update(ctx, func(w port.Writer) (err error) {
		self, err = w.JoinReplica(ctx, "here", time.Hour)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	g.set(true)
	later := openAll(t, c)
	defer func() { _ = later.Close() }()
	for what, s := range map[string]port.DocumentStore{"before": s, "since": later} {
		for name, org := range orgs {
			err := createIn(t, s, org, what)
			if away := name == "c"; away && fault.CodeOf(err) != fault.Unavailable || !away && err != nil {
				t.Errorf("opened %s, the organization of %s: %v", what, name, err)
			}
		}
		key := func(secret string) error {
			return s.View(ctx, func(r port.Reader) error {
				_, err := r.KeyByHash(ctx, sha256.Sum256([]byte(secret)))
				return err
			})
		}
		if err := errors.Join(key("home"), key("b")); err != nil {
			t.Errorf("opened %s: %v", what, err)
		}
		if err := key("nobody's"); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("opened %s, a key that may be of the one away: %v", what, err)
		}
		if err := s.Update(ctx, func(w port.Writer) error { return w.RenewReplica(ctx, self, time.Hour) }); err != nil {
			t.Errorf("opened %s, the lease: %v", what, err)
		}
		err := s.View(ctx, func(r port.Reader) error {
			_, err := r.UnclaimedJobs(ctx, self, nil, []string{"k"}, 10)
			return err
		})
		if err != nil {
			t.Errorf("opened %s, jobs of the others: %v", what, err)
		}
		err = s.View(ctx, func(r port.Reader) error { _, err := r.Generations(ctx); return err })
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("opened %s, what deletes the rest: %v", what, err)
		}
		for _, part := range s.(port.Parted).Parts() {
			if err := part.Ping(ctx); (err != nil) != (part.Name == "c") {
				t.Errorf("opened %s, part %s: %v", what, part.Name, err)
			}
		}
		if err := s.Ping(ctx); err != nil {
			t.Errorf("opened %s: %v", what, err)
		}
	}
	g.set(false)
	for _, s := range []port.DocumentStore{s, later} {
		for i := 0; ; i++ {
			err := createIn(t, s, orgs["c"], fmt.Sprintf("again-%d", i))
			if err == nil {
				break
			}
			if code := fault.CodeOf(err); code != fault.Unavailable && code != fault.Conflict {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// Who holds a claim of the home no more changes nothing in another database, whatever it has begun.
func TestLostClaimOverDatabases(t *testing.T) {
	ctx := t.Context()
	s := openAll(t, spread(t, "fewest"))
	defer func() { _ = s.Close() }()
	org := place(t, s)["b"]
	const name = "some/work"
	claim := func(id string) (c port.Claim) {
		t.Helper()
		if err := s.Update(ctx, func(w port.Writer) error {
			self, err := w.JoinReplica(ctx, id, time.Hour)
			if err != nil {
				return err
			}
			var ok bool
			if c, ok, err = w.TakeClaim(ctx, self, name); err == nil && !ok {
				err = errors.New("it is another's")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	work := func(c port.Claim, as string, between func()) error {
		return s.Update(ctx, func(w port.Writer) error {
			if err := w.ConfirmClaim(ctx, c); err != nil {
				return err
			}
			between()
			return w.PutQuota(ctx, org, port.QuotaName(as), 1)
		})
	}
	old := claim("old")
	if err := work(old, "first", func() {}); err != nil {
		t.Fatal(err)
	}
	err := work(old, "late", func() {
		if err := s.Update(ctx, func(w port.Writer) error { return w.LeaveReplica(ctx, old.Replica) }); err != nil {
			t.Error(err)
		}
		if err := work(claim("new"), "second", func() {}); err != nil {
			t.Error(err)
		}
	})
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("work under a lost claim: %v", err)
	}
	var quotas []port.Quota
	if err := s.View(ctx, func(r port.Reader) (err error) { quotas, err = r.Quotas(ctx, org); return err }); err != nil {
		t.Fatal(err)
	}
	if len(quotas) != 2 {
		t.Errorf("quotas: %+v", quotas)
	}
}

// Audit records that wait in several databases get their numbers once, whoever asks for them.
func TestAuditOverDatabases(t *testing.T) {
	ctx := t.Context()
	c := spread(t, "fewest")
	s, beside := openAll(t, c), openAll(t, c) // as two servers are
	defer func() { _ = errors.Join(s.Close(), beside.Close()) }()
	orgs := place(t, s)
	var group errgroup.Group
	for name, org := range orgs {
		group.Go(func() error {
			for i := range 20 {
				err := s.Update(ctx, func(w port.Writer) error {
					if err := w.PutQuota(ctx, org, port.QuotaName(fmt.Sprintf("q%d", i)), 1); err != nil {
						return err
					}
					return w.AppendAudit(ctx, port.AuditRecord{ID: fmt.Sprintf("aud_%02d_%s", i, name), Org: org, At: time.Now()})
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := range 4 {
		server := []port.DocumentStore{s, beside}[i%2]
		group.Go(func() error {
			for range 10 {
				if err := numberAudit(ctx, server); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := numberAudit(ctx, s); err != nil {
		t.Fatal(err)
	}
	var all []port.AuditRecord
	if err := s.View(ctx, func(r port.Reader) (err error) {
		all, err = r.AuditRecords(ctx, port.AuditList{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range all {
		seen[r.ID] = true
	}
	if len(all) != 60 || len(seen) != 60 {
		t.Errorf("%d records with %d ids have numbers, want 60", len(all), len(seen))
	}
}

// numberAudit gives what waits its numbers, as servers do.
func numberAudit(ctx context.Context, s port.DocumentStore) error {
	if err := s.View(ctx, func(r port.Reader) error { _, err := r.WaitingAudit(ctx, 1); return err }); err != nil {
		return err
	}
	return s.Update(ctx, func(w port.Writer) error {
		head, err := w.AuditHead(ctx)
		if err != nil {
			return err
		}
		rs, err := w.WaitingAudit(ctx, 500)
		if err != nil || len(rs) == 0 {
			return err
		}
		for i := range rs {
			rs[i].Seq, rs[i].Previous = head.Seq+1, head.Hash
			rs[i].Hash = rs[i].Sum()
			head.Seq, head.Hash = rs[i].Seq, rs[i].Hash
		}
		return w.NumberAudit(ctx, rs)
	})
}

// TestMoveOverDatabases: under writes of two servers an organization goes to and fro between databases, and nothing that was
// acknowledged is missing. Each transaction that writes it ends before it leaves, and none is committed behind it.
func TestMoveOverDatabases(t *testing.T) {
	ctx := t.Context()
	c := schemas(server.Copy(t, "migrated", migrate(postgres.Default())))
	s, beside := openAll(t, c), openAll(t, c)
	defer func() { _ = errors.Join(s.Close(), beside.Close()) }()
	orgs := place(t, s)
	p, other := port.Documents(orgs["b"], "docs"), port.Documents(orgs["c"], "docs")
	write := func(s port.DocumentStore, p port.Partition, id string) error {
		text := "text of " + id
		return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
			_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{{
				Document: port.Document{ID: id, Text: text, TextHash: sha256.Sum256([]byte(text)),
					Chunks: []port.Chunk{{End: len(text)}}},
				Vectors: port.Vectors{Dense: port.Dense{Dim: 8, Data: make([]float32, 8)}},
			}})
			return err
		})
	}
	list := func(s port.DocumentStore) (ids []string, err error) {
		err = s.View(ctx, func(r port.Reader) error {
			heads, err := r.ListDocuments(ctx, p, port.DocumentList{Order: port.ByID, Limit: 1_000_000})
			for _, h := range heads {
				ids = append(ids, h.ID)
			}
			return err
		})
		return ids, err
	}
	var mu sync.Mutex
	var acked []string
	stop := make(chan struct{})
	var group errgroup.Group
	forever := func(fn func(i int) error) {
		group.Go(func() error {
			return storetest.Forever(stop, func(i int) error {
				defer time.Sleep(time.Millisecond) // for the move to have some of the processor
				return fn(i)
			})
		})
	}
	for n, s := range []port.DocumentStore{s, beside} {
		for k := range 2 {
			forever(func(i int) error {
				id := fmt.Sprintf("%d-%d-%05d", n, k, i)
				if err := write(s, p, id); fault.CodeOf(err) == fault.Unavailable {
					return nil
				} else if err != nil {
					return fmt.Errorf("write: %w", err)
				}
				mu.Lock()
				defer mu.Unlock()
				acked = append(acked, id)
				return nil
			})
		}
		forever(func(i int) error {
			mu.Lock()
			before := slices.Clone(acked)
			mu.Unlock()
			found, err := list(s)
			if err != nil {
				return fmt.Errorf("read: %w", err)
			}
			for _, id := range before {
				if _, ok := slices.BinarySearch(found, id); !ok {
					return fmt.Errorf("%s was acknowledged and is not found", id)
				}
			}
			if err := write(s, other, fmt.Sprintf("%d-%05d", n, i)); err != nil {
				return fmt.Errorf("write another organization: %w", err)
			}
			return s.View(ctx, func(r port.Reader) error {
				_, err := r.KeyByHash(ctx, sha256.Sum256([]byte("b")))
				return err
			})
		})
	}
	more := func() {
		count := func() int { mu.Lock(); defer mu.Unlock(); return len(acked) }
		for n, until := count(), time.Now().Add(time.Minute); count() < n+20 && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
	var longest time.Duration
	for _, to := range []string{"c", "home", "b"} {
		more()
		done, err := s.(port.Mover).MoveOrganization(ctx, orgs["b"], to, nil)
		if err != nil {
			t.Errorf("to %s: %v", to, err)
		}
		longest = max(longest, done.Paused)
	}
	more()
	close(stop)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(acked)
	for _, s := range []port.DocumentStore{s, beside} {
		if got, err := list(s); err != nil || !slices.Equal(acked, got) {
			t.Errorf("%d documents of %d, %v", len(got), len(acked), err)
		}
	}
	for at, want := range map[string]int{"home": 0, "b": 1, "c": 0} {
		one := postgres.Config{Connection: c.Connection}
		one.DSN = registry.Secret(c.DSN.Reveal() + "&search_path=" + at)
		if got := namespaces(t, one, orgs["b"]); got != want {
			t.Errorf("database %s has %d namespaces of the organization, want %d", at, got, want)
		}
	}
	t.Logf("%d documents; writes were refused for at most %v", len(acked), longest)
}

// A transaction that has begun to write an organization ends before the organization is copied.
func TestMoveWaitsForWriters(t *testing.T) {
	ctx := t.Context()
	c := schemas(server.Copy(t, "migrated", migrate(postgres.Default())))
	s, beside := openAll(t, c), openAll(t, c)
	defer func() { _ = errors.Join(s.Close(), beside.Close()) }()
	org := place(t, s)["b"]
	conn, err := pgx.Connect(ctx, c.DSN.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	moved, opened, written := make(chan error, 1), make(chan struct{}), make(chan struct{})
	var once sync.Once
	err = beside.Update(ctx, func(w port.Writer) error {
		if err := w.PutQuota(ctx, org, "documents", 7); err != nil {
			return err
		}
		once.Do(func() {
			go func() {
				_, err := s.(port.Mover).MoveOrganization(ctx, org, "c", func(p port.MoveProgress) {
					if p.Step == port.MoveOpened { // before it removes what the transaction has written, which would show
						close(opened)
						<-written
					}
				})
				moved <- err
			}()
		})
		for waiting := 0; waiting == 0; { // for this transaction
			select {
			case <-opened: // it has not waited
				return nil
			case err := <-moved:
				moved <- nil
				return errors.Join(errors.New("the move has ended"), err)
			default:
			}
			const query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
			if err := conn.QueryRow(ctx, query).Scan(&waiting); err != nil {
				return err
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	close(written)
	if err := errors.Join(err, <-moved); err != nil {
		t.Fatal(err)
	}
	if err := s.View(ctx, func(r port.Reader) error {
		quotas, err := r.Quotas(ctx, org)
		if err == nil && (len(quotas) != 1 || quotas[0].Limit != 7) {
			err = fmt.Errorf("after the move there are the quotas %+v", quotas)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
