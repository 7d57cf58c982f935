package meilisearch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// metadata are documents whose keys and values try to break out of a filter.
var metadata = []string{
	`{"a": "x"}`, `{"a": "X"}`, `{"a": " x "}`, `{"a": ["x", "y"]}`, `{"a": 1}`, `{"a": "1"}`, `{"a": 1.5, "b": true}`,
	`{"a": "true"}`,
	`{"a": ""}`, `{"": ""}`, `{"a": "x' OR p EXISTS OR 'x"}`, `{"a": "x\" OR p = g1"}`, `{"a b": "]"}`, `{"a": "\\"}`,
	`{"a": "AND"}`, `{"NOT": "NULL"}`,
	`{"a": "é"}`, `{"a": "e\u0301"}`, `{"ſ": "K"}`, `{"a": "\u212a"}`, `{"a": "😀"}`,
	`{"a": "` + strings.Repeat("long", 50) + `"}`, `{"a": "_geoRadius(1,2,3)"}`,
	`{"a": "h0123456789"}`, `{"p": "g1"}`, `{"v": 1}`, `{"a": -0}`, `{"a": 1e3}`, `{"a": 1000}`, `{}`,
}

// Every filter that the API takes leaves the documents that its reference says.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{
		`{"a": "x"}`, `{"a": {"$in": ["x", 1, true]}}`, `{"$or": [{"a": 1}, {"$and": [{"a": "y"}, {"a": "x"}]}]}`,
		`{"a": "x' OR p EXISTS OR 'x"}`,
		`{"$and": [{"a": 1.5}, {"b": true}]}`, `{"a": "\u212a"}`, `{"a": "k"}`, `{"ſ": "K"}`, `{"s": "K"}`, `{"a": ""}`,
		`{"a": "\\"}`, `{"p": "g1"}`, `{"a": 1e3}`,
		`{"a": {"$in": [` + strings.TrimSuffix(strings.Repeat(`"v",`, 1000), ",") + `]}}`,
		strings.Repeat(`{"$or":[`, 15) + `{"a":"x"}` + strings.Repeat(`]}`, 15),
	} {
		f.Add(s)
	}
	s := meilisearchtest.Start(f, meilisearchtest.Options{})
	x := open(f, settings(s))
	var parsed []filter.Metadata
	b := port.Batch{Upto: 1}
	for i, raw := range metadata {
		m, err := filter.ParseMetadata("metadata", json.RawMessage(raw))
		if err != nil {
			m = nil
		}
		parsed = append(parsed, m)
		b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprint(i),
			Entries: []port.Entry{{Text: "lighthouse", Facets: m.Tokens()}}})
	}
	must(f, x.Apply(f.Context(), part(1), b))
	must(f, x.Apply(f.Context(), part(2), b)) // another partition with the same
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := filter.Parse(json.RawMessage(raw))
		if err != nil {
			return
		}
		hits, err := x.Search(t.Context(), part(1),
			port.IndexQuery{Retriever: port.Keyword, Text: "lighthouse", Filter: q, Limit: 1000})
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		got := map[string]bool{}
		for _, h := range hits {
			if got[h.Document] {
				t.Fatalf("%s: %s is given twice", raw, h.Document)
			}
			got[h.Document] = true
		}
		for i, m := range parsed {
			if want := q.Match(m); want != got[fmt.Sprint(i)] {
				t.Errorf("%s: found %v, should be %v: %s", raw, !want, want, metadata[i])
			}
		}
	})
}
