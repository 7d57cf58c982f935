package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// exec runs a statement as a superuser.
func exec(t testing.TB, dsn, statement string, args ...any) {
	t.Helper()
	c := connect(t, dsn)
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(context.Background(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func one(t testing.TB, dsn, query string, args ...any) (n int64) {
	t.Helper()
	c := connect(t, dsn)
	defer func() { _ = c.Close(context.Background()) }()
	if err := c.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func at(generation int64) port.Partition { return port.Documents("org", "n").At(generation) }

func apply(t testing.TB, x port.Index, p port.Partition, b port.Batch) {
	t.Helper()
	if err := x.Apply(t.Context(), p, b); err != nil {
		t.Fatal(err)
	}
}

func keyword(t testing.TB, x port.Index, p port.Partition, text string) []port.Hit {
	t.Helper()
	hits, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Keyword, Text: text, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func document(id, text string) port.IndexChange {
	return port.IndexChange{Document: id, Entries: []port.Entry{{Text: text, Vector: []float32{.6, .8}}}}
}

// Two processes over one database: what one applies the other finds at once, and
// of two that apply the same batch one does it.
func TestTwoProcesses(t *testing.T) {
	dsn := server.Database(t)
	x, y, p := open(t, dsn, nil), open(t, dsn, nil), at(1)
	for seq := range uint64(20) {
		who, other := x, y
		if seq%2 == 1 {
			who, other = y, x
		}
		word := fmt.Sprintf("zebra%d", seq)
		apply(t, who, p, port.Batch{After: seq, Upto: seq + 1, Changes: []port.IndexChange{document(word, word)}})
		if n, err := other.Applied(t.Context(), p); err != nil || n != seq+1 {
			t.Fatalf("the other process is at %d (%v), want %d", n, err, seq+1)
		}
		if hits := keyword(t, other, p, word); len(hits) != 1 || hits[0].Document != word {
			t.Fatalf("the other process finds %v", hits)
		}
	}
	var wg sync.WaitGroup
	for i := range 16 {
		who := x
		if i%2 == 1 {
			who = y
		}
		wg.Go(func() {
			for seq := uint64(20); seq < 40; seq++ {
				err := who.Apply(context.Background(), p,
					port.Batch{After: seq, Upto: seq + 1, Changes: []port.IndexChange{document("same", fmt.Sprint("lion", seq))}})
				for errors.Is(err, port.ErrGap) { // another one lags behind
					time.Sleep(time.Millisecond)
					err = who.Apply(context.Background(), p,
						port.Batch{After: seq, Upto: seq + 1,
							Changes: []port.IndexChange{document("same", fmt.Sprint("lion", seq))}})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, err := x.Applied(t.Context(), p); err != nil || n != 40 {
		t.Fatalf("applied %d, %v", n, err)
	}
	if hits := keyword(t, y, p, "lion39"); len(hits) != 1 {
		t.Fatalf("found %v", hits)
	}
	if err := y.Drop(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Applied(t.Context(), p); err != nil || n != 0 {
		t.Fatalf("after the other's Drop applied %d, %v", n, err)
	}
	for _, table := range []string{"partition", "chunk", "block", "posting"} {
		if n := one(t, dsn, "SELECT count(*) FROM index_"+table); n != 0 {
			t.Errorf("after Drop index_%s has %d rows", table, n)
		}
	}
}

// A connection that is cut in the middle of Apply leaves the state before or the
// one after, and the next Apply goes on.
func TestCutInApply(t *testing.T) {
	dsn := server.Database(t)
	x, p := openWith(t, dsn, func(c *postgres.Config) { c.Vector.ExactChunks = 300 }, tuned(t)), at(1)
	r := rand.New(rand.NewPCG(1, 2))
	var seq uint64
	cut := 0
	texts := func(version uint64) port.Batch {
		b := port.Batch{After: version, Upto: version + 1}
		for d := range 200 {
			b.Changes = append(b.Changes, document(fmt.Sprint("d", d), fmt.Sprintf("version%d common word%d", version, d)))
			if version == 7 { // so many that they move to a table of their own
				b.Changes = append(b.Changes, document(fmt.Sprint("e", d), "common"))
			}
		}
		return b
	}
	for version := range uint64(30) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(time.Duration(r.IntN(30_000)) * time.Microsecond)
			c, err := pgx.Connect(context.Background(), dsn)
			if err == nil {
				_, err = c.Exec(context.Background(),
					"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid "+
						"<> pg_backend_pid()")
				_ = c.Close(context.Background())
			}
			if err != nil {
				t.Error(err)
			}
		}()
		err := x.Apply(t.Context(), p, texts(version))
		<-done
		if err != nil {
			cut++
		}
		at, failed := x.Applied(t.Context(), p)
		for failed != nil {
			at, failed = x.Applied(t.Context(), p)
		}
		if at != seq && at != version+1 || err == nil && at != version+1 {
			t.Fatalf("applied %d (%v) after %d, at %d before", at, err, version+1, seq)
		}
		if at == seq { // what was cut: again, from where it is
			b := texts(version)
			b.After = at
			apply(t, x, p, b)
		}
		seq = version + 1
		if hits := keyword(t, x, p, fmt.Sprintf("version%d", version)); len(hits) != 200 {
			t.Fatalf("version %d has %d of 200 documents", version, len(hits))
		}
		want := 200
		if version >= 7 {
			want = 400
		}
		if hits := keyword(t, x, p, "common"); len(hits) != want {
			t.Fatalf("%d documents of %d", len(hits), want)
		}
		hits, err := x.Search(t.Context(), p, port.IndexQuery{Retriever: port.Vector, Vector: []float32{0, 1}, Limit: 1000})
		if err != nil || len(hits) != want {
			t.Fatalf("%d vectors (%v), want %d", len(hits), err, want)
		}
	}
	t.Logf("%d of 30 were cut", cut)
	if cut == 0 {
		t.Error("no Apply was cut: the test looked at nothing")
	}
}

// Documents that are rewritten again and again leave no more behind than some
// blocks' worth of postings.
func TestRewritesLeaveLittle(t *testing.T) {
	dsn := server.Database(t)
	x, p := openWith(t, dsn, nil, tuned(t)), at(1)
	for version := range uint64(100) {
		b := port.Batch{After: version, Upto: version + 1}
		for d := range 100 {
			b.Changes = append(b.Changes, document(fmt.Sprint("d", d), fmt.Sprintf("v%dd%d and the same words", version, d)))
		}
		apply(t, x, p, b)
	}
	if hits := keyword(t, x, p, "words"); len(hits) != 100 {
		t.Fatalf("found %d of 100", len(hits))
	}
	if n := one(t, dsn, "SELECT count(*) FROM index_chunk"); n != 100 {
		t.Errorf("%d chunks, want 100", n)
	}
	if n := one(t, dsn, "SELECT count(*) FROM index_block"); n > 16 {
		t.Errorf("%d blocks for 100 chunks", n)
	}
	if n := one(t, dsn, "SELECT count(*) FROM index_posting"); n > 1400 {
		t.Errorf("%d posting rows for 100 chunks", n)
	}
}

// An analyzer that cuts words in another way rebuilds the index.
func TestOtherAnalyzer(t *testing.T) {
	dsn := server.Database(t)
	x, p := open(t, dsn, nil), at(1)
	apply(t, x, p, port.Batch{Upto: 3, Changes: []port.IndexChange{document("a", "running"), document("b", "run")}})
	y := open(t, dsn, func(c *postgres.Config) { c.Keyword.Stemmer = "none" })
	if n, err := y.Applied(t.Context(), p); err != nil || n != 0 {
		t.Fatalf("applied %d, %v", n, err)
	}
	if _, err := y.Search(t.Context(), p,
		port.IndexQuery{Retriever: port.Keyword, Text: "run", Limit: 10}); !errors.Is(err, port.ErrGap) {
		t.Errorf("a search over words of another analyzer: %v", err)
	}
	if err := y.Apply(t.Context(), p, port.Batch{After: 3, Upto: 4}); !errors.Is(err, port.ErrGap) {
		t.Errorf("Apply goes on from another analyzer's state: %v", err)
	}
	after, before := int64(1), int64(3)
	c := []port.IndexChange{document("a", "running"), document("b", "run")}
	c[0].Entries[0].Time = 2
	apply(t, y, p, port.Batch{Upto: 4, Changes: c})
	if hits := keyword(t, y, p, "run"); len(hits) != 1 || hits[0].Document != "b" {
		t.Errorf("found %v", hits)
	}
	hits, err := y.Search(t.Context(), p, port.IndexQuery{
		Retriever: port.Keyword,
		Text:      "running",
		Limit:     10,
		After:     &after,
		Before:    &before,
	})
	if err != nil || len(hits) != 1 || hits[0].Document != "a" {
		t.Errorf("within bounds found %v, %v", hits, err)
	}
}

// Two installations that share tables by mistake are told.
func TestForeignPartition(t *testing.T) {
	x := open(t, server.Database(t), nil)
	apply(t, x, port.Documents("org_a", "n").At(7), port.Batch{Upto: 1})
	for what, err := range map[string]error{
		"Apply": x.Apply(t.Context(), port.Documents("org_b", "n").At(7), port.Batch{Upto: 1}),
		"Drop":  x.Drop(t.Context(), port.Documents("org_b", "n").At(7)),
	} {
		if err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func refused(t *testing.T, dsn string, want ...string) {
	t.Helper()
	c := postgres.Default()
	c.DSN = registry.Secret(dsn)
	x, err := postgres.Open(t.Context(), c, postgres.Options{})
	if err == nil {
		_ = x.Close()
		t.Fatalf("opened; want an error that says %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nlacks %q", err, w)
		}
	}
}

func TestRefusedDatabases(t *testing.T) {
	t.Run("no extension", func(t *testing.T) {
		dsn := server.Database(t)
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		role := "plain_" + strings.TrimPrefix(u.Path, "/")
		exec(t, dsn, "CREATE ROLE "+role+" LOGIN PASSWORD 'x'")
		t.Cleanup(func() { exec(t, server.DSN(t), "DROP ROLE "+role) })
		exec(t, dsn, "GRANT CREATE ON DATABASE "+strings.TrimPrefix(u.Path, "/")+" TO "+role)
		t.Cleanup(func() { exec(t, dsn, "REVOKE CREATE ON DATABASE "+strings.TrimPrefix(u.Path, "/")+" FROM "+role) })
		u.User = url.UserPassword(role, "x")
		refused(t, u.String(), "has no pgvector", "CREATE EXTENSION vector", "superuser", "permission denied")
		if n := one(t, dsn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'index\\_%'"); n != 0 {
			t.Errorf("a refused database has %d tables", n)
		}
	})
	t.Run("old extension", func(t *testing.T) {
		dsn := server.Database(t)
		exec(t, dsn, "CREATE EXTENSION vector")
		exec(t, dsn, "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
		refused(t, dsn, "pgvector 0.7.4", "0.8", "ALTER EXTENSION vector UPDATE", "CREATE EXTENSION vector")
	})
	t.Run("newer tables", func(t *testing.T) {
		dsn := server.Database(t)
		_ = open(t, dsn, nil).Close()
		exec(t, dsn, "UPDATE index_meta SET version = 99")
		refused(t, dsn, "version 99", "newer program")
	})
	t.Run("nobody there", func(t *testing.T) {
		server.DSN(t)
		refused(t, "postgres://u:secret@127.0.0.1:1/x?sslmode=disable", "not reachable")
	})
	t.Run("no DSN", func(t *testing.T) {
		c := postgres.Default()
		c.DSN = "postgres://user:s3cret@[broken"
		if _, err := postgres.Open(t.Context(), c, postgres.Options{}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	})
}

// Processes that start together over an empty database all get to serve.
func TestStartTogether(t *testing.T) {
	dsn := server.Database(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			c := postgres.Default()
			c.DSN, c.Schema = registry.Secret(dsn), "fresh"
			x, err := postgres.Open(context.Background(), c, postgres.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Behind a pooler in transaction mode nothing may stay with a session: after use,
// every session is as a fresh one, and no statement is prepared.
func TestPoolerLeavesNothing(t *testing.T) {
	dsn := server.Database(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	x, p := open(t, dsn, func(c *postgres.Config) { c.Pooler, c.MaxConnections, c.Vector.ExactChunks = true, 2, 50 }), at(1)
	b := port.Batch{Upto: 1}
	for i := range 100 {
		b.Changes = append(b.Changes, document(fmt.Sprint(i), "word"))
	}
	apply(t, x, p, b)
	waitIndexed(t, dsn, 1)
	keyword(t, x, p, "word")
	if _, err := x.Search(t.Context(), p,
		port.IndexQuery{Retriever: port.Vector, Vector: []float32{1, 0}, Limit: 5}); err != nil {
		t.Fatal(err)
	}
	// The sessions speak for themselves, through the same pool.
	for range 8 {
		state, err := postgres.SessionState(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		if state != "" {
			t.Errorf("a session in %s keeps %s", u.Path, state)
		}
	}
}

// waitIndexed waits until so many partitions have a graph.
func waitIndexed(t testing.TB, dsn string, n int64) {
	t.Helper()
	for end := time.Now().Add(time.Hour); one(t, dsn,
		"SELECT count(*) FROM index_partition WHERE indexed") < n; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no vector index was built")
		}
	}
}
