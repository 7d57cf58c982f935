package postgres_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// TestGraph holds searches that go through HNSW to what exact ones find, and sees
// that the graph was used. Its vectors are as hard for a graph of this size as
// those of real texts are for one five times as large: with an ef_search of 100
// and an ef_construction of 64 it found .949 of the ten best, of 20,000 texts
// embedded by the built-in model .964.
func TestGraph(t *testing.T) {
	const n, queries = 5000, 60
	g := indextest.NewCorpus(t)
	dsn, p := server.Database(t), at(1)
	x := openWith(t, dsn, func(c *postgres.Config) { c.Vector.ExactChunks = 300 }, tuned(t))
	type stored struct {
		port.Hit
		vector []float32
		facets []string
	}
	var all []stored
	for seq := range uint64(n / 500) {
		b := port.Batch{After: seq, Upto: seq + 1}
		for i := range 500 {
			id := fmt.Sprintf("%d-%03d", seq, i)
			e := port.Entry{Vector: g.Vector()}
			for _, c := range []int{4, 10, 100, 1000} {
				e.Facets = append(e.Facets, filter.Token(fmt.Sprint(c), fmt.Sprint(g.IntN(c))))
			}
			all = append(all, stored{port.Hit{Document: id}, e.Vector, e.Facets})
			b.Changes = append(b.Changes, port.IndexChange{Document: id, Entries: []port.Entry{e}})
		}
		apply(t, x, p, b)
	}
	waitIndexed(t, dsn, 1)
	for _, c := range []struct{ of, take int }{{1, 1}, {4, 3}, {10, 1}, {100, 1}, {1000, 1}} {
		found, wanted := 0, 0
		for range queries {
			q := port.IndexQuery{Retriever: port.Vector, Vector: g.Vector(), Limit: 10}
			var tokens []string
			if c.of > 1 {
				key, first := fmt.Sprint(c.of), g.IntN(c.of)
				q.Filter = &filter.Filter{Op: filter.In, Key: key}
				for i := range c.take {
					value := fmt.Sprint((first + i) % c.of)
					q.Filter.Values, tokens = append(q.Filter.Values, value), append(tokens, filter.Token(key, value))
				}
			}
			var exact []port.Hit
			for _, s := range all {
				if c.of > 1 && !slices.ContainsFunc(s.facets, func(f string) bool { return slices.Contains(tokens, f) }) {
					continue
				}
				var dot float64
				for i, v := range q.Vector {
					dot += float64(v) * float64(s.vector[i])
				}
				s.Score = float32(dot)
				exact = append(exact, s.Hit)
			}
			slices.SortFunc(exact, func(a, b port.Hit) int { return cmp.Compare(b.Score, a.Score) })
			exact = exact[:min(10, len(exact))]
			hits, err := x.Search(t.Context(), p, q)
			if err != nil || len(hits) != len(exact) {
				t.Fatalf("%d in %d allowed: %d hits (%v), want %d", c.take, c.of, len(hits), err, len(exact))
			}
			for _, h := range hits {
				i := slices.IndexFunc(exact, func(e port.Hit) bool { return e.Document == h.Document })
				if i < 0 {
					continue
				}
				found++
				if d := h.Score - exact[i].Score; d > 2e-4 || d < -2e-4 {
					t.Errorf("%s scores %v, exactly %v", h.Document, h.Score, exact[i].Score)
				}
			}
			wanted += len(exact)
		}
		got := float64(found) / float64(wanted)
		t.Logf("%d in %d allowed: recall@10 %.4f", c.take, c.of, got)
		if got < .97 {
			t.Errorf("%d in %d allowed: recall@10 %.4f, want at least .97", c.take, c.of, got)
		}
	}
	// Sessions report what they used some time after.
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		scans := one(t, dsn, "SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_user_indexes WHERE indexrelname = "+
			"'index_vectors_1_hnsw'")
		if scans >= 2*queries { // with all, and three in four, allowed
			t.Logf("%d walks through the graph", scans)
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d walks through the graph, want at least %d", scans, 2*queries)
		}
	}
}
