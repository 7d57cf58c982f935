package collection

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// Row is a document or a query.
type Row struct {
	ID, Title, Text string
	Meta            struct{ User string } // whose it is, in collections of several
}

// Collection is a set of documents with queries and graded judgements.
type Collection struct {
	Corpus, Queries []Row
	Relevant        map[string]map[string]float64 // by query and document
}

// Load reads the collection of a name below eval in the folder that
// MNEME_TEST_DATA names, else in shared/data beside the sources. The test is skipped where it is
// not there.
func Load(tb testing.TB, name string) Collection {
	tb.Helper()
	dir := filepath.Join(folder(), name)
	if _, err := os.Stat(dir); err != nil {
		tb.Skipf("SKIPPED: no test collection %s: %v; set MNEME_TEST_DATA", name, err)
	}
	return Collection{rows(tb, filepath.Join(dir, "corpus.jsonl.gz")), rows(tb, filepath.Join(dir, "queries.jsonl.gz")),
		judgements(tb, filepath.Join(dir, "qrels.tsv"))}
}

// Names lists the collections that are available.
func Names() (names []string) {
	found, _ := filepath.Glob(filepath.Join(folder(), "*", "corpus.jsonl.gz")) // the pattern is a good one
	for _, path := range found {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	return names
}

// Sentences are those of the documents of all collections, of more than 20 and less than 600 bytes, and up to 100
// questions of each; none where no collection is available.
func Sentences(tb testing.TB) (sentences, questions []string) {
	tb.Helper()
	for _, name := range Names() {
		c := Load(tb, name)
		for _, row := range c.Corpus {
			for _, s := range strings.SplitAfter(row.Text, ". ") {
				if n := len(s); n > 20 && n < 600 {
					sentences = append(sentences, s)
				}
			}
		}
		for _, row := range c.Queries[:min(len(c.Queries), 100)] {
			questions = append(questions, row.Text)
		}
	}
	return sentences, questions
}

func folder() string {
	data := os.Getenv("MNEME_TEST_DATA")
	if data == "" {
		data = beside("shared/data")
	}
	return filepath.Join(data, "eval")
}

// beside looks for a folder in this one, where tests run, and in each that is above it; "" where
// there is none. Where the sources lie is not in programs that are built with -trimpath.
func beside(name string) string {
	at, err := os.Getwd()
	for err == nil {
		dir := filepath.Join(at, name)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		above := filepath.Dir(at)
		if above == at {
			break
		}
		at = above
	}
	return ""
}

func rows(tb testing.TB, path string) (out []Row) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }() // read only
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return out
}

// judgements reads lines of query, document and grade below a head.
func judgements(tb testing.TB, path string) map[string]map[string]float64 {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n")[1:] {
		f := strings.Fields(line)
		if len(f) != 3 {
			tb.Fatalf("%s: %q", path, line)
		}
		grade, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		if out[f[0]] == nil {
			out[f[0]] = map[string]float64{}
		}
		out[f[0]][f[1]] = grade
	}
	return out
}

// Some is the collection with about n of its queries, evenly spaced, so that all parts of
// it are represented.
func (c Collection) Some(n int) Collection {
	if step := len(c.Queries) / n; step > 1 {
		var some []Row
		for i := 0; i < len(c.Queries); i += step {
			some = append(some, c.Queries[i])
		}
		c.Queries = some
	}
	return c
}

// Index applies the documents to an empty partition, each as one chunk of title and
// text, a thousand in a batch.
func (c Collection) Index(tb testing.TB, x port.Index, p port.Partition) {
	tb.Helper()
	n := uint64(0)
	for part := range slices.Chunk(c.Corpus, 1000) {
		b := port.Batch{After: n, Upto: n + 1}
		for _, d := range part {
			b.Changes = append(b.Changes, port.IndexChange{Document: d.ID, Entries: []port.Entry{{Text: d.Title + " " + d.Text,
				Facets: []string{filter.Token("user", d.Meta.User)}}}})
		}
		if err := x.Apply(tb.Context(), p, b); err != nil {
			tb.Fatal(err)
		}
		n = b.Upto
	}
}

// Keyword asks an index for the best documents by keyword search, at most limit of
// them, for a query among the documents of its user.
func Keyword(tb testing.TB, x port.Index, p port.Partition, limit int) func(q Row) []string {
	return func(q Row) []string {
		tb.Helper()
		iq := port.IndexQuery{Retriever: port.Keyword, Text: q.Text, Limit: limit}
		if q.Meta.User != "" {
			iq.Filter = &filter.Filter{Op: filter.In, Key: "user", Values: []string{q.Meta.User}}
		}
		hits, err := x.Search(tb.Context(), p, iq)
		if err != nil {
			tb.Fatal(err)
		}
		out := make([]string, len(hits))
		for i, h := range hits {
			out[i] = h.Document
		}
		return out
	}
}

// Score is nDCG@10, with linear gains as trec_eval has them, and the recall among
// all that search finds: means over the queries that have something relevant.
func (c Collection) Score(search func(q Row) []string) (ndcg, recall float64) {
	n := 0.0
	for _, q := range c.Queries {
		var grades []float64
		for _, g := range c.Relevant[q.ID] {
			if g > 0 {
				grades = append(grades, g)
			}
		}
		if len(grades) == 0 {
			continue
		}
		slices.Sort(grades)
		slices.Reverse(grades)
		var dcg, ideal, found float64
		for i, id := range search(q) {
			if g := c.Relevant[q.ID][id]; g > 0 {
				found++
				if i < 10 {
					dcg += g / math.Log2(float64(i)+2)
				}
			}
		}
		for i, g := range grades[:min(10, len(grades))] {
			ideal += g / math.Log2(float64(i)+2)
		}
		ndcg += dcg / ideal
		recall += found / float64(len(grades))
		n++
	}
	return ndcg / n, recall / n
}
