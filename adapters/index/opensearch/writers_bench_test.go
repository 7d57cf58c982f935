package opensearch_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// BenchmarkWriters writes documents of one chunk, each writer into a partition of its own, and says how
// long a writer waits for one:
//
//	MNEME_TEST_OPENSEARCH=whole go test ./adapters/index/opensearch -run '^$' -bench Writers -benchtime 400x
func BenchmarkWriters(b *testing.B) {
	c := settings(b)
	x := open(b, c)
	generation := int64(0)
	for _, writers := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			took := make([][]time.Duration, writers)
			var all sync.WaitGroup
			for w := range writers {
				generation++
				p := port.Documents("org_test", fmt.Sprint("n", generation)).At(generation)
				all.Go(func() {
					for n := range uint64(max(b.N/writers, 1)) {
						began := time.Now()
						change := port.IndexChange{Document: fmt.Sprint(n),
							Entries: []port.Entry{{Text: "words of a document", Vector: []float32{.5, .5, .5, .5}}}}
						if err := x.Apply(b.Context(), p, port.Batch{After: n, Upto: n + 1,
							Changes: []port.IndexChange{change}}); err != nil {
							b.Error(err)
						}
						took[w] = append(took[w], time.Since(began))
					}
				})
			}
			all.Wait()
			times := slices.Sorted(slices.Values(slices.Concat(took...)))
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
