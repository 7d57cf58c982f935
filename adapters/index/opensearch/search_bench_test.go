package opensearch_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/indextest"
	"github.com/mnemehq/mneme/core/port"
)

// BenchmarkQuestions asks the questions of the evaluation sets of a partition of MNEME_BENCH_CHUNKS chunks, else 10000,
// which have words alone, and one of stop words, as the benchmark of that name in index/postgres does. It reports the
// median and the slowest hundredth, and the nodes' processor for each question, on average:
//
//	MNEME_TEST_OPENSEARCH=whole MNEME_BENCH_CHUNKS=1000000 go test ./adapters/index/opensearch -run '^$' -bench Questions -benchtime 652x -timeout 0
func BenchmarkQuestions(b *testing.B) {
	var n int
	if _, err := fmt.Sscan(cmp.Or(os.Getenv("MNEME_BENCH_CHUNKS"), "10000"), &n); err != nil {
		b.Fatal(err)
	}
	c := settings(b)
	x, g, p := open(b, c), indextest.NewCorpus(b), part(1)
	began, before := time.Now(), usage(b, c)
	for seq := range uint64(n / 2000) {
		must(b, x.Apply(b.Context(), p, g.WordBatch(seq, 500, 4)))
	}
	took, after := time.Since(began), usage(b, c)
	b.Logf("%d chunks: %.0f chunks/s, %.2f ms of the nodes' processor and %d bytes each", n, float64(n)/took.Seconds(),
		1000*(after.CPU-before.CPU)/float64(n), after.Tables[c.IndexPrefix+"-chunks"]/int64(n))
	for _, kind := range []struct {
		name      string
		questions []string
	}{{"questions", g.Questions}, {"stop words", []string{"what is the of and a"}}} {
		for _, limit := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, limit), func(b *testing.B) {
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
				after := usage(b, c)
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
				b.ReportMetric(1000*(after.CPU-before.CPU)/float64(len(took)), "node-cpu-ms")
			})
		}
	}
}
