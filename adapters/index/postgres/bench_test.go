package postgres_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/core/port"
)

// BenchmarkSearch asks this index and the embedded one the same, in turn, and
// reports the medians, their ratio, and the share of the other's hits that this
// one has, too; ingest, size and the time to drop it all come with each partition.
// MNEME_BENCH_CHUNKS names its sizes, separated by commas; else 10000.
func BenchmarkSearch(b *testing.B) {
	sizes := cmp.Or(os.Getenv("MNEME_BENCH_CHUNKS"), "10000")
	for _, size := range strings.Split(sizes, ",") {
		b.Run(size, func(b *testing.B) {
			var n int
			if _, err := fmt.Sscan(size, &n); err != nil {
				b.Fatal(err)
			}
			benchSearch(b, n)
		})
	}
}

func benchSearch(b *testing.B, n int) {
	dsn, g, p := server.Database(b), indextest.NewCorpus(b), at(1)
	x := open(b, dsn, func(c *postgres.Config) { c.Vector.BuildMemoryMB = 512 })
	e, err := embedded.Open(embedded.Default(), b.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	var ingest [2]time.Duration
	for seq := range uint64(n / 100) {
		batch := g.Batch(seq, 25, 4)
		for i, index := range []port.Index{x, e} {
			start := time.Now()
			if err := index.Apply(b.Context(), p, batch); err != nil {
				b.Fatal(err)
			}
			ingest[i] += time.Since(start)
		}
	}
	b.Logf("%d chunks: ingest %.0f chunks/s, embedded %.0f", n, float64(n)/ingest[0].Seconds(), float64(n)/ingest[1].Seconds())
	for _, table := range []string{"chunk", "posting", "block"} {
		b.Logf("index_%s: %d bytes a chunk", table, one(b, dsn, "SELECT pg_total_relation_size('index_"+table+"')")/int64(n))
	}
	for _, r := range []port.Retriever{port.Keyword, port.SparseTerms, port.Vector} {
		if r == port.Vector && n > postgres.Default().Vector.ExactChunks {
			start := time.Now()
			waitIndexed(b, dsn, 1)
			b.Logf("waited %s for its graph", time.Since(start).Round(time.Second))
			b.Logf("vectors and their graph: %d bytes a chunk",
				one(b, dsn, "SELECT pg_total_relation_size('index_vectors_1')")/int64(n))
		}
		for _, f := range indextest.CorpusFilters {
			b.Run(fmt.Sprintf("%s/%s", r, f.Name), func(b *testing.B) {
				var took [2][]time.Duration
				agree, given := 0, 0
				for b.Loop() {
					q := g.Query(r, f.Filter)
					var hits [2][]port.Hit
					for i, index := range []port.Index{x, e} {
						start := time.Now()
						if hits[i], err = index.Search(context.Background(), p, q); err != nil {
							b.Fatal(err)
						}
						took[i] = append(took[i], time.Since(start))
					}
					given += len(hits[1])
					for _, h := range hits[0] {
						if slices.ContainsFunc(hits[1],
							func(o port.Hit) bool { return o.Document == h.Document && o.Chunk == h.Chunk }) {
							agree++
						}
					}
				}
				var ms [2]float64
				for i := range took {
					slices.Sort(took[i])
					ms[i] = float64(took[i][len(took[i])/2].Microseconds()) / 1000
				}
				b.ReportMetric(ms[0], "p50-ms")
				b.ReportMetric(ms[1], "embedded-p50-ms")
				b.ReportMetric(ms[0]/max(ms[1], .001), "ratio")
				b.ReportMetric(float64(agree)/float64(max(given, 1)), "agreement")
			})
		}
	}
	start := time.Now()
	if err := x.Drop(b.Context(), p); err != nil {
		b.Fatal(err)
	}
	b.Logf("dropped in %s", time.Since(start).Round(time.Millisecond))
}

// BenchmarkQuestions asks the questions of the evaluation sets of a partition of MNEME_BENCH_CHUNKS chunks, else 10000,
// which have words alone, and one of stop words. It reports the median and the slowest hundredth, and what the server was
// at work for each question, on average.
func BenchmarkQuestions(b *testing.B) {
	n := 10_000
	if size := os.Getenv("MNEME_BENCH_CHUNKS"); size != "" {
		if _, err := fmt.Sscan(size, &n); err != nil {
			b.Fatal(err)
		}
	}
	dsn, g, p := server.Database(b), indextest.NewCorpus(b), at(1)
	x := open(b, dsn, nil)
	began := time.Now()
	for seq := range uint64(n / 500) {
		batch := g.WordBatch(seq, 125, 4)
		if err := x.Apply(b.Context(), p, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d chunks: %.0f chunks/s, postings of %d bytes a chunk", n, float64(n)/time.Since(began).Seconds(),
		one(b, dsn, "SELECT pg_total_relation_size('index_posting')")/int64(n))
	for name, questions := range map[string][]string{"questions": g.Questions, "stop words": {"what is the of and a"}} {
		for _, limit := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, limit), func(b *testing.B) {
				working := func() int64 { // milliseconds
					time.Sleep(1500 * time.Millisecond) // sessions tell it once a second
					return one(b, dsn, "SELECT active_time::bigint FROM pg_stat_database WHERE datname = current_database()")
				}
				before := working()
				b.ResetTimer()
				var took []time.Duration
				for i := 0; b.Loop(); i++ {
					q := port.IndexQuery{Retriever: port.Keyword, Text: questions[i%len(questions)], Limit: limit}
					began := time.Now()
					if _, err := x.Search(b.Context(), p, q); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(began))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
				b.ReportMetric(float64(working()-before)/float64(len(took)), "server-ms")
			})
		}
	}
}

// BenchmarkApply writes batches of so many chunks, and reports chunks a second.
func BenchmarkApply(b *testing.B) {
	g := indextest.NewCorpus(b)
	for _, documents := range []int{1, 100, 512} {
		b.Run(fmt.Sprint(documents), func(b *testing.B) {
			dsn, p, seq := server.Database(b), at(1), uint64(0)
			x := open(b, dsn, nil)
			for b.Loop() {
				b.StopTimer()
				batch := g.Batch(seq, documents, 1)
				b.StartTimer()
				if err := x.Apply(b.Context(), p, batch); err != nil {
					b.Fatal(err)
				}
				seq++
			}
			b.ReportMetric(float64(b.N*documents)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
}

// BenchmarkSparsevec asks postings and pgvector's sparsevec, compared one by one
// and through HNSW, for the same 10 best of 10,000 chunks of 128 terms.
func BenchmarkSparsevec(b *testing.B) {
	const n, terms = 10_000, 30_522
	dsn, g, p := server.Database(b), indextest.NewCorpus(b), at(1)
	x := open(b, dsn, nil)
	c := connect(b, dsn)
	defer func() { _ = c.Close(context.Background()) }()
	run := func(statement string, args ...any) {
		if _, err := c.Exec(b.Context(), statement, args...); err != nil {
			b.Fatal(err)
		}
	}
	literal := func(terms []uint32, weights []float32) string {
		var s strings.Builder
		for i, t := range terms {
			fmt.Fprintf(&s, "%c%d:%g", "{,"[min(i, 1)], t+1, weights[i])
		}
		return fmt.Sprintf("%s}/%d", s.String(), 30_522)
	}
	run(fmt.Sprintf("CREATE TABLE s (id bigint PRIMARY KEY, v sparsevec(%d))", terms))
	for seq := range uint64(n / 500) {
		batch := port.Batch{After: seq, Upto: seq + 1}
		ids, vectors := make([]int64, 500), make([]string, 500)
		for i := range 500 {
			e := port.Entry{}
			e.SparseTerms, e.SparseWeights = g.Sparse(128)
			ids[i], vectors[i] = int64(seq)*500+int64(i), literal(e.SparseTerms, e.SparseWeights)
			batch.Changes = append(batch.Changes, port.IndexChange{Document: fmt.Sprint(ids[i]), Entries: []port.Entry{e}})
		}
		apply(b, x, p, batch)
		run("INSERT INTO s SELECT u.id, u.v::sparsevec FROM unnest($1::bigint[], $2::text[]) AS u(id, v)", ids, vectors)
	}
	queries := make([]port.IndexQuery, 20)
	exact := make([]map[string]bool, len(queries))
	for i := range queries {
		queries[i] = g.Query(port.SparseTerms, nil)
		hits, err := x.Search(b.Context(), p, queries[i])
		if err != nil {
			b.Fatal(err)
		}
		exact[i] = map[string]bool{}
		for _, h := range hits {
			exact[i][h.Document] = true
		}
	}
	measure := func(name string, ask func(q port.IndexQuery) []string) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			found, asked := 0, 0
			for b.Loop() {
				i := asked % len(queries)
				asked++
				start := time.Now()
				ids := ask(queries[i])
				took = append(took, time.Since(start))
				for _, id := range ids {
					if exact[i][id] {
						found++
					}
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(found)/float64(10*asked), "recall@10")
		})
	}
	measure("postings", func(q port.IndexQuery) (ids []string) {
		hits, err := x.Search(b.Context(), p, q)
		if err != nil {
			b.Fatal(err)
		}
		for _, h := range hits {
			ids = append(ids, h.Document)
		}
		return ids
	})
	sparsevec := func(q port.IndexQuery) (ids []string) {
		rows, err := c.Query(b.Context(), "SELECT id::text FROM s ORDER BY v <#> $1::text::sparsevec LIMIT 10",
			literal(q.SparseTerms, q.SparseWeights))
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				b.Fatal(err)
			}
			ids = append(ids, id)
		}
		return ids
	}
	run("SET plan_cache_mode = force_custom_plan")
	measure("sparsevec-exact", sparsevec)
	began := time.Now()
	run("CREATE INDEX ON s USING hnsw (v sparsevec_ip_ops)")
	run("SET hnsw.ef_search = 100")
	b.Logf("HNSW over sparsevec: built in %s", time.Since(began).Round(time.Millisecond))
	measure("sparsevec-hnsw", sparsevec)
}

// BenchmarkGraph gives what HNSW finds of the ten nearest, by its settings, and how
// long it takes: of 5,000 vectors of the generator, or of MNEME_BENCH_CHUNKS. With
// MNEME_BENCH_VECTORS and MNEME_BENCH_QUERIES they come from those files, each
// vector as 384 little-endian float32.
func BenchmarkGraph(b *testing.B) {
	var n int
	if _, err := fmt.Sscan(cmp.Or(os.Getenv("MNEME_BENCH_CHUNKS"), "5000"), &n); err != nil {
		b.Fatal(err)
	}
	var stored, asked [][]float32
	if path := os.Getenv("MNEME_BENCH_VECTORS"); path != "" {
		stored, asked = readVectors(b, path, n), readVectors(b, os.Getenv("MNEME_BENCH_QUERIES"), 200)
	} else {
		g := indextest.NewCorpus(b)
		for range n {
			stored = append(stored, g.Vector())
		}
		for range 200 {
			asked = append(asked, g.Vector())
		}
	}
	exact := make([][]string, len(asked))
	for i, q := range asked {
		exact[i] = nearestOf(stored, q)
	}
	for _, s := range []struct{ m, construction int }{{16, 64}, {16, 128}, {16, 200}, {24, 64}, {24, 200}} {
		dsn, p := server.Database(b), at(1)
		with := func(search int) *postgres.Index {
			return openWith(b, dsn, func(c *postgres.Config) {
				c.Vector = postgres.Vector{
					ExactChunks:    100,
					M:              s.m,
					EfConstruction: s.construction,
					EfSearch:       search,
					MaxScanTuples:  20_000,
					BuildMemoryMB:  512,
				}
			}, tuned(b))
		}
		x := with(100)
		for from := 0; from < n; from += 500 {
			batch := port.Batch{After: uint64(from), Upto: uint64(min(from+500, n))}
			for i := from; i < min(from+500, n); i++ {
				batch.Changes = append(batch.Changes,
					port.IndexChange{Document: fmt.Sprint(i), Entries: []port.Entry{{Vector: stored[i]}}})
			}
			apply(b, x, p, batch)
		}
		waitIndexed(b, dsn, 1)
		for _, search := range []int{100, 200, 300} {
			x := with(search)
			b.Run(fmt.Sprintf("m=%d/construction=%d/search=%d", s.m, s.construction, search), func(b *testing.B) {
				var took []time.Duration
				found, wanted := 0, 0
				for b.Loop() {
					i := len(took) % len(asked)
					start := time.Now()
					hits, err := x.Search(b.Context(), p, port.IndexQuery{Retriever: port.Vector, Vector: asked[i], Limit: 10})
					if err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
					for _, h := range hits {
						if slices.Contains(exact[i], h.Document) {
							found++
						}
					}
					wanted += len(exact[i])
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(found)/float64(wanted), "recall@10")
			})
		}
	}
}

func readVectors(tb testing.TB, path string, n int) [][]float32 {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	out := make([][]float32, min(n, len(data)/(4*indextest.CorpusDimensions)))
	for i := range out {
		out[i] = make([]float32, indextest.CorpusDimensions)
		for j := range out[i] {
			out[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(i*indextest.CorpusDimensions+j):]))
		}
	}
	return out
}

// nearestOf are the numbers of the ten that are most like q.
func nearestOf(all [][]float32, q []float32) []string {
	type scored struct {
		score float32
		at    int
	}
	s := make([]scored, len(all))
	for i, v := range all {
		s[i].at = i
		for j, x := range v {
			s[i].score += x * q[j]
		}
	}
	slices.SortFunc(s, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]string, 0, 10)
	for _, x := range s[:min(10, len(s))] {
		out = append(out, fmt.Sprint(x.at))
	}
	return out
}
