package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/core/port"
)

// held are the generations that anything is left of.
func held(t testing.TB, dsn string) []int64 {
	t.Helper()
	c := connect(t, dsn)
	defer func() { _ = c.Close(context.Background()) }()
	rows, err := c.Query(context.Background(),
		"SELECT generation FROM index_partition UNION SELECT generation FROM index_chunk UNION SELECT generation FROM "+
			"index_block UNION SELECT generation FROM index_posting UNION SELECT substr(relname, 15)::bigint FROM "+
			"pg_class WHERE relname ~ '^index_vectors_[0-9]+$' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func retain(t testing.TB, x *postgres.Index, live ...int64) {
	t.Helper()
	if err := x.Retain(live); err != nil {
		t.Fatal(err)
	}
}

func wantHeld(t testing.TB, dsn, when string, want ...int64) {
	t.Helper()
	if got := held(t, dsn); !slices.Equal(got, want) {
		t.Fatalf("%s: generations %v are left, want %v", when, got, want)
	}
}

// fillPartition applies a batch of n documents that all hold "word".
func fillPartition(t testing.TB, x port.Index, generation int64, n int) {
	t.Helper()
	b := port.Batch{Upto: 1}
	for d := range n {
		b.Changes = append(b.Changes, document(fmt.Sprint(d), "word"))
	}
	apply(t, x, at(generation), b)
}

func TestRetain(t *testing.T) {
	dsn := server.Database(t)
	x := openWith(t, dsn, func(c *postgres.Config) { c.Vector.ExactChunks = 50 }, tuned(t))
	for g := int64(1); g <= 5; g++ {
		n := 3
		if g == 3 {
			n = 100 // with a table of its own
		}
		fillPartition(t, x, g, n)
	}
	fillPartition(t, x, -1, 3) // a probe's
	waitIndexed(t, dsn, 1)
	wantHeld(t, dsn, "before", -1, 1, 2, 3, 4, 5)
	retain(t, x, 2, 4, 5, 9)
	wantHeld(t, dsn, "after", -1, 2, 4, 5)
	for _, g := range []int64{2, 4, 5} {
		if hits := keyword(t, x, at(g), "word"); len(hits) != 3 {
			t.Errorf("generation %d has %d of 3 documents", g, len(hits))
		}
	}
	if n, err := x.Applied(t.Context(), at(3)); err != nil || n != 0 {
		t.Errorf("what was dropped is at %d, %v", n, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := x.Retain(nil); !errors.Is(err, postgres.ErrClosed) {
		t.Errorf("a closed index answers %v", err)
	}
}

// A partition that came to be after the list was read is not in it, and stays;
// one that the next list does not have either is over.
func TestRetainKeepsWhatIsNewerThanTheList(t *testing.T) {
	dsn := server.Database(t)
	x := open(t, dsn, nil)
	fillPartition(t, x, 6, 3)
	live := []int64{6}
	fillPartition(t, x, 7, 3)
	fillPartition(t, x, 8, 3)
	retain(t, x, live...)
	wantHeld(t, dsn, "with a list from before 7 and 8", 6, 7, 8)
	retain(t, x, 6, 7) // 8 is gone
	wantHeld(t, dsn, "with a list without 8", 6, 7)
	fillPartition(t, x, 8, 3) // by one that lags: above the highest again
	retain(t, x, 6, 7)
	retain(t, x, 6, 7)
	wantHeld(t, dsn, "with 8 written once more", 6, 7)

	// Where nothing is live any more, nothing is below it.
	retain(t, x)
	wantHeld(t, dsn, "with an empty list", 6, 7)
	retain(t, x)
	wantHeld(t, dsn, "with an empty list again")

	// What another process remembers counts for that one alone.
	fillPartition(t, x, 9, 3)
	y := open(t, dsn, nil)
	retain(t, x, 1)
	retain(t, y, 1)
	wantHeld(t, dsn, "with a list of each process", 9)
}

// Several processes clean at once, while others write; what is live keeps all its
// documents, and nothing else is left.
func TestRetainTogether(t *testing.T) {
	dsn := server.Database(t)
	indexes := make([]*postgres.Index, 4)
	for i := range indexes {
		indexes[i] = open(t, dsn, nil)
	}
	var live []int64
	for g := int64(1); g <= 40; g++ {
		fillPartition(t, indexes[0], g, 3)
		if g%4 == 0 {
			live = append(live, g)
		}
	}
	var wg sync.WaitGroup
	for i, x := range indexes {
		wg.Go(func() {
			if err := x.Retain(live); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for seq := range uint64(10) {
				p := at(live[i])
				if err := x.Apply(context.Background(), p,
					port.Batch{After: seq + 1, Upto: seq + 2,
						Changes: []port.IndexChange{document("more", fmt.Sprint("lion", seq))}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	// One that another process was dropping was passed over.
	retain(t, indexes[0], live...)
	wantHeld(t, dsn, "after all", live...)
	for i, g := range live {
		want := 3
		if i < len(indexes) {
			want = 4
		}
		hits, err := indexes[0].Search(t.Context(), at(g),
			port.IndexQuery{Retriever: port.Vector, Vector: []float32{0, 1}, Limit: 10})
		if err != nil || len(hits) != want {
			t.Errorf("generation %d has %d documents, want %d; %v", g, len(hits), want, err)
		}
	}
}

// To drop a partition takes longer the larger it is, and is not cut off by what
// bounds other statements.
func TestDropTakesItsTime(t *testing.T) {
	dsn := server.Database(t)
	x := open(t, dsn, func(c *postgres.Config) { c.StatementTimeout = 3 * time.Second })
	for g := int64(1); g <= 2; g++ {
		fillPartition(t, x, g, 3)
	}
	exec(t, dsn, "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(4); RETURN NULL; END'")
	exec(t, dsn, "CREATE TRIGGER slow BEFORE DELETE ON index_posting FOR EACH STATEMENT EXECUTE FUNCTION slow()")
	if err := x.Drop(t.Context(), at(1)); err != nil {
		t.Fatal(err)
	}
	retain(t, x, 9)
	wantHeld(t, dsn, "after Drop and Retain")
}

// A partition that is held, as by the building of its vector index, holds up
// neither the caller nor the others, and goes the next time.
func TestRetainPassesOverWhatIsHeld(t *testing.T) {
	dsn := server.Database(t)
	x := openWith(t, dsn, func(c *postgres.Config) { c.Vector.ExactChunks = 50 }, tuned(t))
	for g := int64(1); g <= 3; g++ {
		fillPartition(t, x, g, 100)
	}
	waitIndexed(t, dsn, 3)
	c := connect(t, dsn)
	defer func() { _ = c.Close(context.Background()) }()
	for _, lock := range []string{
		"LOCK TABLE index_vectors_1 IN SHARE UPDATE EXCLUSIVE MODE", // as CREATE INDEX CONCURRENTLY does
		"SELECT FROM index_partition WHERE generation = 1 FOR UPDATE",
	} {
		tx, err := c.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), lock); err != nil {
			t.Fatal(err)
		}
		retain(t, x, 3, 9) // fails where it waits for the statement's time-out
		wantHeld(t, dsn, lock, 1, 3)
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	retain(t, x, 3, 9)
	wantHeld(t, dsn, "held no more", 3)
}
