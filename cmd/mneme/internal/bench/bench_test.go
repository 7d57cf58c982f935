package bench_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/bench"
	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
	"github.com/mnemehq/mneme/core/port"
)

func TestGenerateIsReproducible(t *testing.T) {
	a, b, other := bench.Generate(200, 20, 7), bench.Generate(200, 20, 7), bench.Generate(200, 20, 8)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed makes other texts")
	}
	if reflect.DeepEqual(a.Documents, other.Documents) {
		t.Error("another seed makes the same texts")
	}
	for _, d := range a.Documents {
		if n := len(strings.Fields(d.Text)); n < 50 || n > 100 {
			t.Fatalf("a text has %d words", n)
		}
	}
}

func TestSyntheticVectorsHaveNeighbours(t *testing.T) {
	w := bench.Generate(3000, 1, 1)
	texts := make([]string, len(w.Documents))
	for i, d := range w.Documents {
		texts[i] = d.Text
	}
	m := bench.NewSynthetic(384, 1)
	d, err := m.Embed(t.Context(), port.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	again, err := bench.NewSynthetic(384, 1).Embed(t.Context(), port.Query, texts[:1])
	if err != nil || !reflect.DeepEqual(again.Row(0), d.Row(0)) {
		t.Errorf("the same text has another vector, %v", err)
	}
	near, far := 0, 0
	for i := range texts {
		dot, norm := 0.0, 0.0
		for j, x := range d.Row(i) {
			dot += float64(x) * float64(d.Row(0)[j])
			norm += float64(x) * float64(x)
		}
		if math.Abs(norm-1) > 1e-3 {
			t.Fatalf("a vector has length %v", math.Sqrt(norm))
		}
		switch {
		case dot > .5:
			near++
		case dot < .3:
			far++
		}
	}
	// The text itself and its cluster, and most of the rest apart.
	if near < 2 || near > len(texts)/5 || far < len(texts)/2 {
		t.Errorf("%d near and %d far of %d", near, far, len(texts))
	}
	s, err := bench.SyntheticSparse{}.Encode(t.Context(), port.Passage, texts[:2])
	if err != nil || len(s.Rows) != 3 || len(s.Terms) != len(s.Weights) {
		t.Fatalf("sparse vectors %+v, %v", s.Rows, err)
	}
	for i := range 2 {
		row := s.Terms[s.Rows[i]:s.Rows[i+1]]
		for j := 1; j < len(row); j++ {
			if row[j] <= row[j-1] {
				t.Fatalf("terms do not rise: %v", row)
			}
		}
	}
}

func TestFromCollectionKeepsWhatCanBeAsked(t *testing.T) {
	c := &evaluate.Collection{Name: "x", Corpus: []evaluate.Document{{ID: "a", Text: "a"}, {ID: "b", Text: "b"}},
		Queries: []evaluate.Query{{Text: "of a", Grades: evaluate.Grades{"a": 1}},
			{Text: "of b", Grades: evaluate.Grades{"b": 1}}}}
	w, err := bench.FromCollection(c, 1)
	if err != nil || len(w.Documents) != 1 || len(w.Queries) != 1 || w.Queries[0].Text != "of a" {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := bench.FromCollection(c, 3); err == nil || !strings.Contains(err.Error(), "2 documents") {
		t.Errorf("more documents than there are: %v", err)
	}
}
