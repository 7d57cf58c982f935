package meilisearch

import (
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// Every value in a filter is made here, of letters and digits that open with a
// letter and are no keyword of the grammar, or is a number: there is nothing to
// escape. Meilisearch takes 150 levels of nesting, core/filter 16.

// ofPartition matches the chunks of a partition.
func ofPartition(g string) string { return "p = " + g }

// ofDocuments matches the chunks of some documents, given by hash.
func ofDocuments(g string, documents []string) string {
	return ofPartition(g) + " AND h IN [" + strings.Join(documents, ",") + "]"
}

// surplusChunks matches the chunks beyond the last one of each document; bySize holds
// documents by their number of chunks.
func surplusChunks(g string, bySize map[int][]string) string {
	var parts []string
	for n, documents := range bySize {
		parts = append(parts, "h IN ["+strings.Join(documents, ",")+"] AND c >= "+strconv.Itoa(n))
	}
	return ofPartition(g) + " AND (" + strings.Join(parts, " OR ") + ")"
}

// facets are the tokens as they are stored.
func facets(tokens []string) []string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = hash(t)
	}
	return out
}

// condition is the filter of a query in Meilisearch's grammar. Bounds are
// exclusive, and what has no time has no field t and meets no comparison.
func condition(g string, q port.IndexQuery) string {
	var b strings.Builder
	b.WriteString(ofPartition(g))
	if q.After != nil {
		b.WriteString(" AND t > ")
		b.WriteString(strconv.FormatInt(*q.After, 10))
	}
	if q.Before != nil {
		b.WriteString(" AND t < ")
		b.WriteString(strconv.FormatInt(*q.Before, 10))
	}
	if q.Filter != nil {
		b.WriteString(" AND ")
		translate(&b, q.Filter)
	}
	return b.String()
}

func translate(b *strings.Builder, f *filter.Filter) {
	if f.Op == filter.In {
		b.WriteString("f IN [")
		for i, v := range f.Values {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(hash(filter.Token(f.Key, v)))
		}
		b.WriteByte(']')
		return
	}
	and := " AND "
	if f.Op == filter.Or {
		and = " OR "
	}
	b.WriteByte('(')
	for i := range f.Args {
		if i > 0 {
			b.WriteString(and)
		}
		translate(b, &f.Args[i])
	}
	b.WriteByte(')')
}
