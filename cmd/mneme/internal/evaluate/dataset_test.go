package evaluate_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Set A")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		data := []byte(body)
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(data); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			data = b.Bytes()
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	corpus = `{"id":"a/1","title":"T","text":"x","meta":{"user":"u1"}}` + "\n" + `{"_id":"a:1","text":"y"}` + "\n" +
		`{"id":"blank","text":" "}` + "\n"
	queries = `{"id":"q1","text":"one","meta":{"user":"u1","category":"c"}}` + "\n" + `{"id":"q2","text":"two"}` + "\n"
	qrels   = "query-id\tdoc-id\tscore\nq1\ta/1\t2\nq1\ta:1\t0\nq1\tgone\t1\nq2\ta:1\t0\n"
)

func TestLoad(t *testing.T) {
	c, err := evaluate.Load(folder(t,
		map[string]string{"corpus.jsonl.gz": corpus, "queries.jsonl": queries, "qrels.tsv": qrels}), evaluate.TitleHeading)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "Set A" || len(c.Corpus) != 2 || len(c.Queries) != 1 || len(c.Digest) != 64 {
		t.Fatalf("loaded %+v", c)
	}
	first, second := c.Corpus[0], c.Corpus[1]
	if first.Text != "# T\n\nx" || first.User != "u1" || string(first.Metadata) != `{"user":"u1"}` ||
		second.Text != "y" || second.ID != "a:1" {
		t.Errorf("documents are %+v", c.Corpus)
	}
	if first.ID == second.ID || strings.Contains(first.ID, "/") {
		t.Errorf("ids are %q and %q", first.ID, second.ID)
	}
	q := c.Queries[0]
	if q.User != "u1" || q.Category != "c" || q.Grades[first.ID] != 2 || len(q.Grades) != 2 {
		t.Errorf("query is %+v", q)
	}
	// The judged document that the corpus lacks counts as not found.
	if got := evaluate.Recall([]string{first.ID}, q.Grades, 10); got != 0.5 {
		t.Errorf("recall is %v, want 0.5", got)
	}
	other, err := evaluate.Load(folder(t,
		map[string]string{"corpus.jsonl": corpus + `{"id":"c","text":"z"}`, "queries.jsonl.gz": queries,
			"qrels.tsv": qrels}), evaluate.TitleHeading)
	if err != nil || other.Digest == c.Digest {
		t.Errorf("another corpus has the same digest, %v", err)
	}
}

func TestTitles(t *testing.T) {
	dir := folder(t, map[string]string{"queries.jsonl": queries, "qrels.tsv": qrels,
		"corpus.jsonl": corpus + `{"id":"c","title":"Alone","text":""}` + "\n"})
	digests := map[string]bool{}
	for titles, want := range map[evaluate.Titles][3]string{
		evaluate.TitleHeading:  {"# T\n\nx", `{"user":"u1"}`, "# Alone\n\n"},
		evaluate.TitleLine:     {"T\n\nx", `{"user":"u1"}`, "Alone\n\n"},
		evaluate.TitleMetadata: {"x", `{"title":"T","user":"u1"}`, "Alone"},
		evaluate.TitleNone:     {"x", `{"user":"u1"}`, "Alone"},
	} {
		c, err := evaluate.Load(dir, titles)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]string{c.Corpus[0].Text, string(c.Corpus[0].Metadata), c.Corpus[2].Text}; got != want ||
			c.Corpus[1].Text != "y" || c.Corpus[1].Metadata != nil {
			t.Errorf("%s: %q, want %q", titles, got, want)
		}
		digests[c.Digest] = true
	}
	if len(digests) != len(evaluate.AllTitles()) {
		t.Errorf("%d corpora have %d digests", len(evaluate.AllTitles()), len(digests))
	}
}

func TestLoadSaysWhereItFails(t *testing.T) {
	for name, c := range map[string]struct{ corpus, queries, qrels, want string }{
		"no json":      {"{", queries, qrels, "corpus.jsonl:1: "},
		"no id":        {corpus + `{"text":"x"}`, queries, qrels, "corpus.jsonl:4: no id"},
		"id twice":     {corpus + `{"id":"a/1","text":"x"}`, queries, qrels, `corpus.jsonl:4: id "a/1" is used twice`},
		"bad query":    {corpus, "[]", qrels, "queries.jsonl:1: "},
		"bad grade":    {corpus, queries, "h\nq1\ta/1\thigh\n", "qrels.tsv:2: score"},
		"bad columns":  {corpus, queries, "h\nq1 a/1 1\n", "qrels.tsv:2: 1 columns"},
		"nothing left": {corpus, queries, "h\n", "0 judged queries"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := evaluate.Load(folder(t,
				map[string]string{"corpus.jsonl": c.corpus, "queries.jsonl": c.queries, "qrels.tsv": c.qrels}),
				evaluate.TitleHeading)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
	if _, err := evaluate.Load(filepath.Join(t.TempDir(), "absent"), evaluate.TitleHeading); err == nil {
		t.Error("an absent folder was loaded")
	}
}

func TestMeanCountsCollectionsTheSame(t *testing.T) {
	got := evaluate.Mean([]evaluate.Result{
		{Runs: []evaluate.Run{{Step: "vector", Quality: evaluate.Quality{Queries: 1000, NDCG10: 0.2}},
			{Step: "fused", Quality: evaluate.Quality{Queries: 1000, NDCG10: 0.4}}}},
		{Runs: []evaluate.Run{{Step: "vector", Quality: evaluate.Quality{Queries: 10, NDCG10: 0.6}}}},
	})
	if len(got) != 2 || got[0].Step != "vector" || got[0].NDCG10 != 0.4 || got[0].Queries != 1010 || got[1].NDCG10 != 0.4 {
		t.Errorf("mean is %+v", got)
	}
}

func TestStateSurvives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "eval.json")
	s, err := evaluate.OpenState(path)
	if err != nil || s.Get("ns") != "" {
		t.Fatalf("a new state: %q, %v", s.Get("ns"), err)
	}
	if err := s.Set("ns", "f1"); err != nil {
		t.Fatal(err)
	}
	again, err := evaluate.OpenState(path)
	if err != nil || again.Get("ns") != "f1" {
		t.Errorf("read again: %q, %v", again.Get("ns"), err)
	}
	if err := os.WriteFile(path, []byte("torn {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if torn, err := evaluate.OpenState(path); err != nil || torn.Get("ns") != "" || torn.Set("ns", "f2") != nil {
		t.Errorf("a torn file: %v", err)
	}
}
