package collection_test

import (
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/indextest/collection"
)

// small writes a collection of two queries, one of which has nothing relevant.
func small(t *testing.T) collection.Collection {
	t.Helper()
	data := t.TempDir()
	dir := filepath.Join(data, "eval", "small")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MNEME_TEST_DATA", data)
	for name, body := range map[string]string{
		"corpus.jsonl.gz": `{"id":"a","title":"T","text":"x"}` + "\n" + `{"id":"b","text":"y","meta":{"user":"u"}}` +
			"\n" + `{"id":"c","text":"z"}` + "\n",
		"queries.jsonl.gz": `{"id":"q","text":"x"}` + "\n" + `{"id":"none","text":"y"}` + "\n",
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "qrels.tsv"),
		[]byte("query\tdocument\tgrade\nq\ta\t2\nq\tb\t1\nq\tc\t0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return collection.Load(t, "small")
}

func TestScore(t *testing.T) {
	c := small(t)
	if got := collection.Names(); len(got) != 1 || got[0] != "small" {
		t.Errorf("there is %v", got)
	}
	if len(c.Corpus) != 3 || len(c.Queries) != 2 || c.Corpus[1].Meta.User != "u" {
		t.Fatalf("read %+v", c)
	}
	ideal := 2 + 1/math.Log2(3)
	for _, s := range []struct {
		found        []string
		ndcg, recall float64
	}{
		{[]string{"a", "b", "c"}, 1, 1},
		{[]string{"b", "a"}, (1 + 2/math.Log2(3)) / ideal, 1},
		{[]string{"c", "b"}, 1 / math.Log2(3) / ideal, .5},
		{[]string{"c"}, 0, 0},
		{nil, 0, 0},
	} {
		ndcg, recall := c.Score(func(collection.Row) []string { return s.found })
		if math.Abs(ndcg-s.ndcg) > 1e-12 || recall != s.recall {
			t.Errorf("%v: nDCG %g and recall %g, want %g and %g", s.found, ndcg, recall, s.ndcg, s.recall)
		}
	}
}

func TestSome(t *testing.T) {
	c := collection.Collection{Queries: make([]collection.Row, 250)}
	for n, want := range map[int]int{100: 125, 250: 250, 300: 250} {
		if got := len(c.Some(n).Queries); got != want {
			t.Errorf("%d of 250 asked for are %d, want %d", n, got, want)
		}
	}
}
