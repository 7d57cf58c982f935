package embedded_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

type evalRow struct {
	ID, Title, Text string
	Meta            struct{ User string }
}

func dataDir() string {
	if dir := os.Getenv("MNEME_TEST_DATA"); dir != "" {
		return dir
	}
	return "../../../../shared/data"
}

func readRows(tb testing.TB, path string) []evalRow {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var out []evalRow
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var row evalRow
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			tb.Fatal(err)
		}
		out = append(out, row)
	}
	if err := sc.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// keywordNDCG indexes a set with one chunk a document and gives nDCG@10 of
// keyword search, with linear gains as trec_eval has them.
func keywordNDCG(t *testing.T, cfg embedded.Config, set string) float64 {
	dir := filepath.Join(dataDir(), "eval", set)
	x, err := embedded.Open(cfg, t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	p := port.Documents("org", set).At(1)
	b := port.Batch{Upto: 1}
	for _, d := range readRows(t, filepath.Join(dir, "corpus.jsonl.gz")) {
		b.Changes = append(b.Changes, port.IndexChange{Document: d.ID, Entries: []port.Entry{{Text: d.Title + " " + d.Text,
			Facets: []string{filter.Token("user", d.Meta.User)}}}})
	}
	if err := x.Apply(context.Background(), p, b); err != nil {
		t.Fatal(err)
	}
	rel := map[string]map[string]float64{}
	qrels, err := os.ReadFile(filepath.Join(dir, "qrels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(qrels)), "\n")[1:] {
		f := strings.Split(strings.TrimSpace(line), "\t")
		var grade float64
		if _, err := fmt.Sscan(f[2], &grade); err != nil {
			t.Fatal(err)
		}
		if rel[f[0]] == nil {
			rel[f[0]] = map[string]float64{}
		}
		rel[f[0]][f[1]] = grade
	}
	sum, n := 0.0, 0
	for _, q := range readRows(t, filepath.Join(dir, "queries.jsonl.gz")) {
		iq := port.IndexQuery{Retriever: port.Keyword, Text: q.Text, Limit: 10}
		if q.Meta.User != "" {
			iq.Filter = &filter.Filter{Op: filter.In, Key: "user", Values: []string{q.Meta.User}}
		}
		hits, err := x.Search(context.Background(), p, iq)
		if err != nil {
			t.Fatal(err)
		}
		var grades []float64
		for _, g := range rel[q.ID] {
			grades = append(grades, g)
		}
		slices.Sort(grades)
		slices.Reverse(grades)
		var dcg, ideal float64
		for i, h := range hits {
			dcg += rel[q.ID][h.Document] / math.Log2(float64(i)+2)
		}
		for i, g := range grades[:min(10, len(grades))] {
			ideal += g / math.Log2(float64(i)+2)
		}
		if ideal > 0 {
			sum += dcg / ideal
			n++
		}
	}
	return sum / float64(n)
}

// The floors are what a well-known BM25 with English stemmer and stop words
// gives on the sets, as their description states it.
func TestKeywordQuality(t *testing.T) {
	if _, err := os.Stat(filepath.Join(dataDir(), "eval")); err != nil {
		t.Skipf("no evaluation data: %v; set MNEME_TEST_DATA", err)
	}
	for set, floor := range map[string]float64{"squad-dev-a": .886, "cranfield": .480, "cacm": .489, "hotpotqa-mini": .789,
		"scifact": .676, "docs-faq": .437, "locomo-a": .465} {
		t.Run(set, func(t *testing.T) {
			got := keywordNDCG(t, embedded.Default(), set)
			t.Logf("nDCG@10 %.4f", got)
			if got < floor {
				t.Errorf("nDCG@10 %.4f, want at least %.3f", got, floor)
			}
		})
	}
}
