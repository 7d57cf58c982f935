package meilisearch_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/core/port"
)

// benchConfig is the server of the environment, or one in this process, whose own
// time is then part of the figure.
func benchConfig(b *testing.B) meilisearch.Config {
	if os.Getenv("MNEME_TEST_MEILISEARCH_URL") != "" {
		return fresh(real(b))
	}
	b.Log("over the server in this process: the figure is of the client's part and of no Meilisearch")
	return settings(server(b))
}

func sentence(i, words int) string {
	out := make([]string, words)
	for j := range out {
		out[j] = fmt.Sprintf("word%d", (i*31+j*j*7)%997)
	}
	return strings.Join(out, " ")
}

func BenchmarkApply(b *testing.B) {
	for _, documents := range []int{1, 100} {
		b.Run(fmt.Sprint("documents=", documents), func(b *testing.B) {
			x := open(b, benchConfig(b))
			seq := uint64(0)
			for b.Loop() {
				batch := port.Batch{After: seq, Upto: seq + 1}
				for d := range documents {
					batch.Changes = append(batch.Changes, texts(fmt.Sprint("d", int(seq)*documents+d), sentence(int(seq)+d, 100)))
				}
				must(b, x.Apply(b.Context(), part(1), batch))
				seq++
			}
			b.ReportMetric(float64(documents*b.N)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	c := benchConfig(b)
	x := open(b, c)
	batch := port.Batch{Upto: 1}
	for d := range 5000 {
		batch.Changes = append(batch.Changes, texts(fmt.Sprint("d", d), sentence(d, 100)))
	}
	must(b, x.Apply(b.Context(), part(1), batch))
	for _, ranking := range []meilisearch.Ranking{meilisearch.ByRules, meilisearch.ByBM25} {
		c.Ranking = ranking
		x := open(b, c)
		b.Run(string(ranking), func(b *testing.B) {
			n := 0
			for b.Loop() {
				_, err := x.Search(b.Context(), part(1),
					port.IndexQuery{Retriever: port.Keyword, Text: sentence(n, 6), Limit: 100})
				must(b, err)
				n++
			}
		})
	}
}
