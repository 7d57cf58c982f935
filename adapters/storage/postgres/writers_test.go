package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// replicas opens stores over one database, as the processes of an installation do.
func replicas(t *testing.T, n int, change func(*postgres.Config)) ([]*postgres.Store, string) {
	t.Helper()
	c := config(t, change)
	stores := make([]*postgres.Store, n)
	for i := range stores {
		stores[i] = openConfig(t, c)
	}
	return stores, c.DSN.Reveal()
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // may be lost on purpose
	return conn
}

func named(id string) port.DocumentWrite {
	d := sample(id)
	d.Document.Metadata = json.RawMessage(`{}`)
	return d
}

// has reports which documents there are.
func has(t *testing.T, s port.DocumentStore, p port.Partition) (ids []string, n port.PartitionRow) {
	t.Helper()
	err := s.View(t.Context(), func(r port.Reader) (err error) {
		if n, err = r.Partition(t.Context(), p); err != nil {
			return err
		}
		heads, err := r.ListDocuments(t.Context(), p, port.DocumentList{Order: port.ByID, Limit: 10000})
		ids = nil
		for _, h := range heads {
			ids = append(ids, h.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, n
}

// Every writer of one partition comes through, whichever process it is in, and
// each has a change number of its own.
func TestWritersOfOnePartition(t *testing.T) {
	for _, mode := range []struct {
		name               string
		processes, writers int
		change             func(*postgres.Config)
	}{
		{"one process", 1, 48, nil},
		{"three processes", 3, 16, nil},
		{"three processes behind poolers", 3, 16, func(c *postgres.Config) { c.Pooler, c.Schema = true, "mneme" }},
		{"few connections", 2, 16, func(c *postgres.Config) { c.MaxConnections = 2 }},
	} {
		t.Run(mode.name, func(t *testing.T) {
			stores, _ := replicas(t, mode.processes, mode.change)
			p := create(t, stores[0], "docs")
			const each = 4
			var mu sync.Mutex
			var want []string
			var numbers []uint64
			var wg sync.WaitGroup
			for i := range mode.processes * mode.writers {
				s := stores[i%mode.processes]
				wg.Go(func() {
					for j := range each {
						id := fmt.Sprintf("d-%03d-%d", i, j)
						var seq uint64
						err := s.UpdateDocuments(t.Context(), func(w port.DocumentWriter) error {
							n, err := w.Partition(t.Context(), p)
							if err != nil {
								return err
							}
							if seq, err = w.PutDocuments(t.Context(), p.At(n.Generation), time.Now(),
								[]port.DocumentWrite{named(id)}); err == nil && seq != n.Seq+1 {
								err = fmt.Errorf("change %d after %d", seq, n.Seq)
							}
							return err
						})
						if err != nil {
							t.Errorf("writer %d: %v", i, err)
						}
						mu.Lock()
						want, numbers = append(want, id), append(numbers, seq)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			slices.Sort(want)
			got, n := has(t, stores[0], p)
			if !slices.Equal(got, want) || n.Documents != int64(len(want)) || n.Seq != uint64(len(want)) {
				t.Errorf("%d of %d documents, counted %d, change %d", len(got), len(want), n.Documents, n.Seq)
			}
			slices.Sort(numbers)
			if c := slices.Compact(slices.Clone(numbers)); len(c) != len(numbers) {
				t.Error("two writers had the same change number")
			}
		})
	}
}

// queued runs a function first in line, and lets the others queue behind it before
// it goes on. It answers their errors by name.
func queued(t *testing.T, s *postgres.Store, p port.Partition, first func(port.DocumentWriter) error,
	others map[string]func(context.Context, port.DocumentWriter) error) map[string]error {
	t.Helper()
	running, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var mu sync.Mutex
	out := map[string]error{}
	var wg sync.WaitGroup
	update := func(name string, fn func(context.Context, port.DocumentWriter) error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var err error
		defer func() {
			if x := recover(); x != nil {
				err = fmt.Errorf("panicked: %v", x)
			}
			mu.Lock()
			defer mu.Unlock()
			out[name] = err
		}()
		err = s.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(ctx, w) })
	}
	wg.Go(func() {
		update("first", func(_ context.Context, w port.DocumentWriter) error {
			if _, err := w.Partition(t.Context(), p); err != nil {
				return err
			}
			once.Do(func() { close(running); <-release })
			return first(w)
		})
	})
	<-running
	for name, fn := range others {
		wg.Go(func() { update(name, fn) })
	}
	time.Sleep(50 * time.Millisecond) // most are in line by now; what is asked holds either way
	close(release)
	wg.Wait()
	return out
}

// Whatever one caller's function does, those that share its commit are written,
// and it is undone alone.
func TestSharedCommit(t *testing.T) {
	stores, _ := replicas(t, 1, nil)
	s := stores[0]
	p := create(t, s, "docs")
	write := func(id string) func(context.Context, port.DocumentWriter) error {
		return func(ctx context.Context, w port.DocumentWriter) error {
			_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{named(id)})
			return err
		}
	}
	refused := errors.New("refused")
	others := map[string]func(context.Context, port.DocumentWriter) error{
		"errs": func(ctx context.Context, w port.DocumentWriter) error {
			return errors.Join(write("errs")(ctx, w), refused)
		},
		"panics": func(ctx context.Context, w port.DocumentWriter) error {
			if err := write("panics")(ctx, w); err != nil {
				return err
			}
			panic("on purpose")
		},
		// A statement of it fails, which ends a transaction but for its savepoint.
		"violates": func(ctx context.Context, w port.DocumentWriter) error {
			if err := write("violates")(ctx, w); err != nil {
				return err
			}
			o, err := w.Organizations(ctx)
			if err != nil {
				return err
			}
			twin := o[0]
			twin.ID = "org_twin"
			return w.PutOrganization(ctx, twin)
		},
		// It does not say that a statement failed.
		"hides": func(ctx context.Context, w port.DocumentWriter) error {
			if err := write("hides")(ctx, w); err != nil {
				return err
			}
			o, err := w.Organizations(ctx)
			if err != nil {
				return err
			}
			twin := o[0]
			twin.ID = "org_twin"
			_ = w.PutOrganization(ctx, twin)
			return nil
		},
		"absent": func(ctx context.Context, w port.DocumentWriter) error {
			_, err := w.Partition(ctx, port.Documents(p.Org(), "absent"))
			return err
		},
		"reads": func(ctx context.Context, w port.DocumentWriter) error {
			_, err := w.Partition(ctx, p)
			return err
		},
		"nothing": func(context.Context, port.DocumentWriter) error { return nil },
	}
	var want []string
	for i := range 12 {
		id := fmt.Sprintf("good-%02d", i)
		others[id] = write(id)
		want = append(want, id)
	}
	for _, first := range []struct {
		name string
		err  error
	}{{"kept", nil}, {"undone", refused}} {
		t.Run("first is "+first.name, func(t *testing.T) {
			out := queued(t, s, p, func(w port.DocumentWriter) error {
				return errors.Join(write("first")(t.Context(), w), first.err)
			}, others)
			for name, err := range out {
				good := err == nil
				switch name {
				case "first":
					good = errors.Is(err, first.err)
				case "errs":
					good = errors.Is(err, refused)
				case "panics":
					good = err != nil && strings.Contains(err.Error(), "on purpose")
				case "violates":
					good = fault.CodeOf(err) == fault.Conflict
				case "hides":
					good = fault.CodeOf(err) == fault.Internal
				case "absent":
					good = fault.IsPartitionNotFound(err)
				}
				if !good {
					t.Errorf("%s: %v", name, err)
				}
			}
			ids, n := has(t, s, p)
			all := slices.Clone(want)
			if first.err == nil || slices.Contains(ids, "first") { // of the run before
				all = slices.Sorted(slices.Values(append(all, "first")))
			}
			if !slices.Equal(ids, all) || n.Documents != int64(len(all)) {
				t.Errorf("documents %v, counted %d", ids, n.Documents)
			}
		})
	}
}

// A caller that goes leaves the line, or has its work undone, and nobody else's.
func TestCancelledInLine(t *testing.T) {
	stores, _ := replicas(t, 1, nil)
	s := stores[0]
	p := create(t, s, "docs")
	write := func(ctx context.Context, w port.DocumentWriter, id string) error {
		_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{named(id)})
		return err
	}
	waits, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	out := queued(t, s, p, func(w port.DocumentWriter) error {
		go func() {
			left <- s.UpdateDocuments(waits, func(w port.DocumentWriter) error { return write(waits, w, "left") })
		}()
		time.Sleep(20 * time.Millisecond) // likely in line; right either way
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) { // while this one still has the turn
			t.Errorf("cancelled in line: %v", err)
		}
		return write(t.Context(), w, "first")
	}, map[string]func(context.Context, port.DocumentWriter) error{
		"a": func(ctx context.Context, w port.DocumentWriter) error { return write(ctx, w, "a") },
		"gone": func(ctx context.Context, w port.DocumentWriter) error {
			ctx, cancel := context.WithCancel(ctx)
			err := write(ctx, w, "gone")
			cancel()
			return errors.Join(err, ctx.Err())
		},
		"b": func(ctx context.Context, w port.DocumentWriter) error { return write(ctx, w, "b") },
	})
	for name, err := range out {
		if name == "gone" && !errors.Is(err, context.Canceled) || name != "gone" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ids, _ := has(t, s, p); !slices.Equal(ids, []string{"a", "b", "first"}) {
		t.Errorf("documents %v", ids)
	}
}

// What another process or a lost connection does to one function is not felt by
// those that had been in the same transaction before it: they run again.
func TestGroupLost(t *testing.T) {
	for _, how := range []string{"conflict", "connection"} {
		t.Run(how, func(t *testing.T) {
			stores, dsn := replicas(t, 2, nil)
			s, other := stores[0], stores[1]
			p := create(t, s, "docs")
			admin := connect(t, dsn)
			var runs, hits atomic.Int64
			trouble := func(ctx context.Context, w port.DocumentWriter) error {
				// The snapshot is of before: the first in line read in it.
				orgs, err := w.Organizations(ctx)
				if err != nil {
					return err
				}
				if hits.Add(1) == 1 {
					if how == "connection" {
						_, err = admin.Exec(ctx,
							`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() `+
								`AND state = 'idle in transaction'`)
					} else {
						err = other.UpdateDocuments(ctx,
							func(w port.DocumentWriter) error {
								o := orgs[0]
								o.Suspended = true
								return w.PutOrganization(ctx, o)
							})
					}
					if err != nil {
						return fmt.Errorf("making trouble: %w", err)
					}
				}
				if _, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{named("trouble")}); err != nil {
					return err
				}
				orgs[0].Suspended = false
				return w.PutOrganization(ctx, orgs[0])
			}
			out := queued(t, s, p, func(w port.DocumentWriter) error {
				runs.Add(1)
				_, err := w.PutDocuments(t.Context(), p, time.Now(), []port.DocumentWrite{named("first")})
				return err
			}, map[string]func(context.Context,
				port.DocumentWriter) error{"trouble": func(ctx context.Context, w port.DocumentWriter) error {
				if _, err := w.Partition(ctx, p); err != nil {
					return err
				}
				return trouble(ctx, w)
			}})
			if out["first"] != nil {
				t.Errorf("first: %v", out["first"])
			}
			want := []string{"first", "trouble"}
			if how == "connection" {
				if want = want[:1]; fault.CodeOf(out["trouble"]) != fault.Unavailable {
					t.Errorf("the one whose connection was lost: %v", out["trouble"])
				}
			} else if out["trouble"] != nil {
				t.Errorf("the one with a conflict: %v", out["trouble"])
			}
			if ids, n := has(t, s, p); !slices.Equal(ids, want) || n.Documents != int64(len(want)) || n.Seq != uint64(len(want)) {
				t.Errorf("documents %v, counted %d, change %d", ids, n.Documents, n.Seq)
			}
			if runs.Load() != 2 {
				t.Errorf("the first function ran %d times, so it was not in the transaction that was lost", runs.Load())
			}
		})
	}
}

// A function that comes to its partition late waits for its turn all the same.
func TestLateTurn(t *testing.T) {
	stores, _ := replicas(t, 1, nil)
	s := stores[0]
	p := create(t, s, "docs")
	var runs atomic.Int64
	out := queued(t, s, p, func(w port.DocumentWriter) error {
		_, err := w.PutDocuments(t.Context(), p, time.Now(), []port.DocumentWrite{named("first")})
		return err
	}, map[string]func(context.Context, port.DocumentWriter) error{"late": func(ctx context.Context,
		w port.DocumentWriter) error {
		runs.Add(1)
		if _, err := w.OrganizationByName(ctx, "default"); err != nil {
			return err
		}
		_, err := w.PutDocuments(ctx, p, time.Now(), []port.DocumentWrite{named("late")})
		return err
	}})
	if out["first"] != nil || out["late"] != nil {
		t.Errorf("%v", out)
	}
	if runs.Load() != 2 {
		t.Errorf("the late function ran %d times; want once to learn its partition and once in its turn", runs.Load())
	}
	if ids, _ := has(t, s, p); !slices.Equal(ids, []string{"first", "late"}) {
		t.Errorf("documents %v", ids)
	}
}

// Processes queue by locks of tables because of this property of the server: a
// transaction that waited for one sees what was committed in between, one that waited
// for an advisory lock does not.
func TestSnapshotIsTakenAfterTheTurn(t *testing.T) {
	dsn := server.Database(t)
	one, two := connect(t, dsn), connect(t, dsn)
	exec := func(c *pgx.Conn, statements string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), statements); err != nil {
			t.Fatal(err)
		}
	}
	exec(one, "CREATE TABLE turn (); CREATE TABLE counter (n int); INSERT INTO counter VALUES (0)")
	for _, lock := range []struct {
		statement string
		state     string // of the second's write
	}{
		{"LOCK TABLE turn IN EXCLUSIVE MODE", ""},
		{"SELECT pg_advisory_xact_lock(1)", "40001"},
	} {
		exec(one, "BEGIN ISOLATION LEVEL SERIALIZABLE; "+lock.statement+"; UPDATE counter SET n = n + 1")
		waited := make(chan error, 1)
		go func() {
			_, err := two.Exec(t.Context(), "BEGIN ISOLATION LEVEL SERIALIZABLE; "+lock.statement)
			if err == nil {
				_, err = two.Exec(t.Context(), "UPDATE counter SET n = n + 1")
			}
			if err == nil {
				_, err = two.Exec(t.Context(), "COMMIT")
			}
			waited <- err
		}()
		watch := connect(t, dsn)
		for waits := false; !waits; {
			if err := watch.QueryRow(t.Context(),
				"SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)").Scan(&waits); err != nil {
				t.Fatal(err)
			}
		}
		exec(one, "COMMIT")
		err := <-waited
		var e *pgconn.PgError
		if state := ""; errors.As(err, &e) {
			if state = e.Code; state != lock.state {
				t.Errorf("%s: %v", lock.statement, err)
			}
		} else if err != nil || lock.state != "" {
			t.Errorf("%s: %v, want state %q", lock.statement, err, lock.state)
		}
		exec(two, "ROLLBACK")
	}
}

// The lock between processes is help: a writer that does not get it writes all the same.
func TestTurnTakesTooLong(t *testing.T) {
	stores, dsn := replicas(t, 2, nil)
	s, other := stores[0], stores[1]
	p := create(t, s, "docs")
	// Another process writes in between, so that the partition counts as contended.
	var once sync.Once
	err := s.UpdateDocuments(t.Context(), func(w port.DocumentWriter) error {
		if _, err := w.Partition(t.Context(), p); err != nil {
			return err
		}
		once.Do(func() {
			if err := put(t.Context(), other, p, named("other"), new(atomic.Int64)); err != nil {
				t.Error(err)
			}
		})
		_, err := w.PutDocuments(t.Context(), p, time.Now(), []port.DocumentWrite{named("a")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	holder := connect(t, dsn)
	if _, err := holder.Exec(t.Context(), `BEGIN`); err != nil {
		t.Fatal(err)
	}
	for n := range 16 {
		if _, err := holder.Exec(t.Context(), fmt.Sprintf("LOCK TABLE write_turn_%d IN EXCLUSIVE MODE", n)); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if err := put(t.Context(), s, p, named("b"), new(atomic.Int64)); err != nil {
		t.Errorf("without its turn: %v", err)
	}
	if time.Since(began) < time.Second {
		t.Error("it did not wait for its turn")
	}
	if ids, _ := has(t, s, p); !slices.Equal(ids, []string{"a", "b", "other"}) {
		t.Errorf("documents %v", ids)
	}
}

// Writers of different partitions do not make each other repeat, also where the
// tables are so small that the planner would rather read all of them.
func TestWritersOfTwoPartitions(t *testing.T) {
	stores, dsn := replicas(t, 1, nil)
	s := stores[0]
	var p [2]port.Partition
	for i := range p {
		p[i] = create(t, s, fmt.Sprintf("docs-%d", i))
		docs := make([]port.DocumentWrite, 300) // some pages of each index
		for j := range docs {
			docs[j] = named(fmt.Sprintf("d-%04d", j))
		}
		if err := s.UpdateDocuments(t.Context(), func(w port.DocumentWriter) error {
			_, err := w.PutDocuments(t.Context(), p[i], time.Now(), docs)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := connect(t, dsn).Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	var inner, outer atomic.Int64
	err := s.UpdateDocuments(t.Context(), func(w port.DocumentWriter) error {
		outer.Add(1)
		n, err := w.Partition(t.Context(), p[0])
		if err != nil {
			return err
		}
		if _, err := w.PutDocuments(t.Context(), p[0].At(n.Generation), time.Now(),
			[]port.DocumentWrite{named("d-0100")}); err != nil {
			return err
		}
		return put(t.Context(), s, p[1], named("d-0100"), &inner)
	})
	if err != nil {
		t.Fatal(err)
	}
	if inner.Load() != 1 || outer.Load() != 1 {
		t.Errorf("the functions ran %d and %d times", inner.Load(), outer.Load())
	}
}

// A statement that reads one row may fail behind it, as PostgreSQL finds conflicts where it looks
// for the next one. The function is then run again, and what it wrote counts once.
func TestAStatementFailsBehindItsRow(t *testing.T) {
	stores, dsn := replicas(t, 1, nil)
	conn := connect(t, dsn)
	if _, err := conn.Exec(t.Context(), `CREATE SEQUENCE runs; CREATE TABLE counter (n INT);
CREATE FUNCTION late(n INT) RETURNS INT
LANGUAGE plpgsql AS 'BEGIN IF n = 2 AND nextval(''runs'') < 3 THEN RAISE EXCEPTION ''late'' USING ERRCODE = ''40001''; END IF;
RETURN n; END'`); err != nil {
		t.Fatal(err)
	}
	err := stores[0].Update(t.Context(), func(w port.Writer) error {
		session, err := w.(*bunsql.Writer).Session(t.Context())
		if err != nil {
			return err
		}
		var n int
		if _, err := session.Row(t.Context(), `SELECT late(i) FROM generate_series(1, 2) i`, nil, &n); err != nil {
			return err
		}
		return session.Exec(t.Context(), `INSERT INTO counter VALUES (1)`)
	})
	if err != nil {
		t.Fatal(err)
	}
	var rows, runs int
	err = conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM counter), nextval('runs')`).Scan(&rows, &runs)
	if err != nil {
		t.Fatal(err)
	}
	if rows != 1 || runs != 4 {
		t.Errorf("%d rows after %d runs, want 1 and 3", rows, runs-1)
	}
}
