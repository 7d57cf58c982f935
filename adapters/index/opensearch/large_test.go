package opensearch_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/adapters/index/opensearch"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// A large partition is searched otherwise, and finds the same: with equal scores at the end of the list, under
// filters, of more words than one request counts.
func TestLargePartition(t *testing.T) {
	c := settings(t)
	x, large := open(t, c), open(t, c)
	opensearch.TakeForLarge(large)
	b := port.Batch{Upto: 1}
	for i := range 60 {
		text := "heron " + []string{"pelican", "pelican crane", "crane crane gull", "gull"}[i%4]
		for w := range 70 {
			if i%(w+2) == 0 {
				text += fmt.Sprintf(" word%d", w)
			}
		}
		b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("d%02d", (i*7)%60), Entries: []port.Entry{
			{Text: text, Facets: []string{filter.Token("third", fmt.Sprint(i%3))}, SparseTerms: []uint32{1, 2 + uint32(i%4)},
				SparseWeights: []float32{.5, .25}},
			{Chunk: 1, Text: text, SparseTerms: []uint32{7}, SparseWeights: []float32{1}}}})
	}
	must(t, x.Apply(t.Context(), part(1), b))
	many := "heron"
	for w := range 70 {
		many += fmt.Sprintf(" word%d", w)
	}
	third := &filter.Filter{Op: filter.In, Key: "third", Values: []string{"1"}}
	for _, q := range []port.IndexQuery{
		{Retriever: port.Keyword, Text: "pelican crane", Limit: 7},
		{Retriever: port.Keyword, Text: "heron", Limit: 10},
		{Retriever: port.Keyword, Text: "gull heron", Limit: 1000, Explain: true},
		{Retriever: port.Keyword, Text: many, Limit: 20},
		{Retriever: port.Keyword, Text: "pelican", Limit: 3, Filter: third},
		{Retriever: port.Keyword, Text: "nothing", Limit: 3},
		{Retriever: port.SparseTerms, SparseTerms: []uint32{1, 2}, SparseWeights: []float32{1, 3}, Limit: 5},
		{Retriever: port.SparseTerms, SparseTerms: []uint32{3, 7}, Limit: 50},
	} {
		want, err := x.Search(t.Context(), part(1), q)
		must(t, err)
		got, err := large.Search(t.Context(), part(1), q)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 && q.Text != "nothing" {
			t.Errorf("%+v: %d hits, as a small one - and as a large one +:\n%s", q, len(got), diff)
		}
	}
}
