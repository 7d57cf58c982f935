package opensearch_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/adapters/index/opensearch"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// chunks are those that a benchmark is to load.
func chunks(b *testing.B) (n int) {
	if _, err := fmt.Sscan(cmp.Or(os.Getenv("MNEME_BENCH_CHUNKS"), "10000"), &n); err != nil {
		b.Fatal(err)
	}
	return n
}

// load applies batches of 2,000 chunks and says what they cost.
func load(b *testing.B, c opensearch.Config, x *opensearch.Index, n int, batch func(seq uint64) port.Batch) {
	began, before := time.Now(), usage(b, c)
	for seq := range uint64(n / 2000) {
		must(b, x.Apply(b.Context(), part(1), batch(seq)))
	}
	took, after := time.Since(began), usage(b, c)
	b.Logf("%d chunks: %.0f chunks/s, %.2f ms of the nodes' processor and %d bytes each", n, float64(n)/took.Seconds(),
		1000*(after.CPU-before.CPU)/float64(n), after.Tables[c.IndexPrefix+"-chunks"]/int64(n))
}

// measured reports the median and the slowest hundredth of some searches, and the nodes' processor for each.
func measured(b *testing.B, took []time.Duration, before, after registry.Usage) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(1000*(after.CPU-before.CPU)/float64(len(took)), "node-cpu-ms")
}

// BenchmarkQuestions asks the questions of the evaluation sets of a partition of MNEME_BENCH_CHUNKS chunks, else 10000,
// which have words alone, and one of stop words, as the benchmark of that name in index/postgres does. It reports the
// median and the slowest hundredth, and the nodes' processor for each question, on average:
//
//	MNEME_BENCH_CHUNKS=1000000 go test ./adapters/index/opensearch -run '^$' -bench Questions -benchtime 652x -timeout 0
//
// with MNEME_TEST_OPENSEARCH_URL of a node with a heap of 4 GiB.
func BenchmarkQuestions(b *testing.B) {
	n := chunks(b)
	c := settings(b)
	x, g, p := open(b, c), indextest.NewCorpus(b), part(1)
	load(b, c, x, n, func(seq uint64) port.Batch { return g.WordBatch(seq, 500, 4) })
	for _, kind := range []struct {
		name      string
		questions []string
	}{{"questions", g.Questions}, {"stop words", []string{"what is the of and a"}}} {
		for _, limit := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, limit), func(b *testing.B) {
				node.Send(b, http.MethodPost, "/_cache/clear?request=true", "") // nodes remember counts
				before := usage(b, c)
				var took []time.Duration
				for i := 0; b.Loop(); i++ {
					q := port.IndexQuery{Retriever: port.Keyword, Text: kind.questions[i%len(kind.questions)], Limit: limit}
					began := time.Now()
					if _, err := x.Search(b.Context(), p, q); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(began))
				}
				measured(b, took, before, usage(b, c))
			})
		}
	}
}

// BenchmarkGraph gives what the graph finds of the ten nearest of MNEME_BENCH_CHUNKS vectors, else 10000, by how many
// candidates a search asks for, and how long it takes; the first row compares all.
func BenchmarkGraph(b *testing.B) {
	n := chunks(b)
	c := settings(b)
	g := indextest.NewCorpus(b)
	c.Vector.ExactChunks = n
	exact := open(b, c)
	load(b, c, exact, n, func(seq uint64) port.Batch {
		batch := port.Batch{After: seq, Upto: seq + 1}
		for i := range 2000 {
			batch.Changes = append(batch.Changes, port.IndexChange{Document: fmt.Sprintf("%d-%d", seq, i),
				Entries: []port.Entry{{Vector: g.Vector()}}})
		}
		return batch
	})
	queries, nearest := make([]port.IndexQuery, 100), make([]map[string]bool, 100)
	for i := range queries {
		queries[i] = g.Query(port.Vector, nil)
		hits, err := exact.Search(b.Context(), part(1), queries[i])
		must(b, err)
		nearest[i] = map[string]bool{}
		for _, h := range hits {
			nearest[i][h.Document] = true
		}
	}
	for _, candidates := range []int{0, 100, 200, 300, 500, 1000} {
		x, name := exact, "all"
		if candidates > 0 {
			c.Vector.ExactChunks, c.Vector.Candidates, name = 0, candidates, fmt.Sprint(candidates)
			x = open(b, c)
		}
		b.Run(name, func(b *testing.B) {
			before, found := usage(b, c), 0
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				hits, err := x.Search(b.Context(), part(1), queries[i%len(queries)])
				must(b, err)
				took = append(took, time.Since(began))
				for _, h := range hits {
					if nearest[i%len(queries)][h.Document] {
						found++
					}
				}
			}
			measured(b, took, before, usage(b, c))
			b.ReportMetric(float64(found)/float64(10*len(took)), "recall@10")
		})
	}
}
