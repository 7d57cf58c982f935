package evaluate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
	"github.com/mnemehq/mneme/core/memory/recall"
)

func TestJudge(t *testing.T) {
	cite := func(memory, quote string) recall.Citation { return recall.Citation{MemoryID: memory, Quote: quote} }
	origins := map[string]string{"m1": "d1", "m2": "d2"}
	grades := evaluate.Grades{"d1": 1, "d2": 0}
	for name, c := range map[string]struct {
		says      []string
		citations []recall.Citation
		want      evaluate.Verdict
	}{
		"no answer":           {nil, nil, evaluate.Abstained},
		"relevant":            {nil, []recall.Citation{cite("m1", "To Lyon.")}, evaluate.Right},
		"irrelevant":          {nil, []recall.Citation{cite("m2", "To Lyon.")}, evaluate.Wrong},
		"unknown":             {nil, []recall.Citation{cite("m3", "To Lyon.")}, evaluate.Wrong},
		"relevant, second":    {nil, []recall.Citation{cite("m2", "Hm."), cite("m1", "To Lyon.")}, evaluate.Wrong},
		"says it":             {[]string{"Oslo", "lyon"}, []recall.Citation{cite("m1", "To LYON.")}, evaluate.Right},
		"in its second quote": {[]string{"lyon"}, []recall.Citation{cite("m1", "Hm."), cite("m1", "To Lyon.")}, evaluate.Right},
		"another says it":     {[]string{"lyon"}, []recall.Citation{cite("m1", "Hm."), cite("m2", "To Lyon.")}, evaluate.Wrong},
		"says something else": {[]string{"Oslo"}, []recall.Citation{cite("m1", "To Lyon.")}, evaluate.Wrong},
	} {
		got := evaluate.Judge(evaluate.Query{Grades: grades, Says: c.says}, recall.Answer{Citations: c.citations}, origins)
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// answering is a server of the memory API that answers every question with the first memory
// saved for the end user, and none whose question holds "nobody".
func answering(t *testing.T) *client.Client { return client.Local(answers(t), "cint_x") }

// answers is the handler of answering.
func answers(t *testing.T) http.Handler {
	t.Helper()
	first := map[string]map[string]any{}
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /models", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{"models": []any{}}) })
	mux.HandleFunc("DELETE /api/v1/users/{id}", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]any{}) })
	mux.HandleFunc("POST /api/v1/memories/batch", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			EndUserID string
			Memories  []map[string]any
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		first[in.EndUserID] = in.Memories[0]
		reply(w, map[string]any{"success": true})
	})
	mux.HandleFunc("POST /api/v1/recall", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ EndUserID, Query string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if strings.Contains(in.Query, "broken") {
			reply(w, map[string]any{"degraded": []any{map[string]any{"part": "vector", "reason": "error"}}})
			return
		}
		m := first[in.EndUserID]
		out := map[string]any{"success": true, "abstained": true, "answer": nil, "citations": []any{}, "degraded": []any{},
			"results": []any{map[string]any{"id": "mem", "metadata": m["metadata"]}}}
		if !strings.Contains(in.Query, "nobody") {
			out["answer"], out["abstained"] = m["content"], false
			out["citations"] = []any{map[string]any{"memoryId": "mem", "quote": m["content"]}}
		}
		reply(w, out)
	})
	return mux
}

const (
	chats = `{"id":"a1","text":"Ann: To Lyon.","meta":{"user":"ann"}}` + "\n" +
		`{"id":"b1","text":"Ben: Why?","meta":{"user":"ben"}}` + "\n"
	asked = `{"id":"q1","text":"where to","meta":{"user":"ann","says":"Lyon"}}` + "\n" +
		`{"id":"q2","text":"where else","meta":{"user":"ann","says":["Oslo","Rome"]}}` + "\n" +
		`{"id":"q3","text":"nobody knows","meta":{"user":"ben"}}` + "\n" +
		`{"id":"q4","text":"why","meta":{"user":"ben"}}` + "\n"
	judged = "query-id\tdoc-id\tscore\nq1\ta1\t1\nq2\ta1\t1\nq3\tb1\t1\nq4\tb1\t1\n"
)

func counts(r evaluate.RecallResult) (out []string) {
	for _, g := range r.Groups {
		out = append(out, fmt.Sprintf("%s: %d of %d right, %d wrong, %d abstained, %d ask",
			g.Group, g.Right, g.Questions, g.Wrong, g.Abstained, g.Asking))
	}
	return out
}

func TestMeasureRecall(t *testing.T) {
	cl := answering(t)
	for name, c := range map[string]struct {
		queries string
		limit   int
		want    []string
	}{
		"asked of another user, too": {asked, 0, []string{"answerable: 2 of 4 right, 1 wrong, 1 abstained, 1 ask",
			"of another user: 0 of 4 right, 3 wrong, 1 abstained, 2 ask"}},
		"unanswerable ones": {asked + `{"id":"q5","text":"who","meta":{"user":"ann","unanswerable":true}}` + "\n" +
			`{"id":"q6","text":"judged by nobody","meta":{"user":"ann"}}` + "\n", 0,
			[]string{"answerable: 2 of 4 right, 1 wrong, 1 abstained, 1 ask",
				"unanswerable: 0 of 1 right, 1 wrong, 0 abstained, 0 ask"}},
		"some": {asked, 2, []string{"answerable: 1 of 2 right, 0 wrong, 1 abstained, 0 ask",
			"of another user: 0 of 2 right, 1 wrong, 1 abstained, 1 ask"}},
	} {
		set, err := evaluate.Load(folder(t, map[string]string{"corpus.jsonl": chats, "queries.jsonl": c.queries,
			"qrels.tsv": judged}), evaluate.TitleHeading)
		if err != nil {
			t.Fatal(err)
		}
		r, err := evaluate.MeasureRecall(t.Context(), cl, set, evaluate.Options{Memory: cl, Queries: c.limit})
		if err != nil || r.Memories != 2 || !slices.Equal(counts(r), c.want) {
			t.Errorf("%s: %q, %v; want %q", name, counts(r), err, c.want)
		}
		if a := r.Groups[0].Answers[0]; a.Query != "q1" || a.Question != "where to" || a.Answer != "Ann: To Lyon." ||
			a.Verdict != evaluate.Right {
			t.Errorf("%s: %+v", name, a)
		}
		if r.Groups[0].P50 <= 0 {
			t.Errorf("%s: no latency", name)
		}
	}
}

// What a call waits for its rate is none of its latency.
func TestMeasureRecallWithoutWaits(t *testing.T) {
	set, err := evaluate.Load(folder(t, map[string]string{"corpus.jsonl": chats, "queries.jsonl": asked,
		"qrels.tsv": judged}), evaluate.TitleHeading)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // where a call takes no time
		next, refused := answers(t), map[string]bool{}
		cl := client.Local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/v1/recall" {
				next.ServeHTTP(w, r)
				return
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if !refused[string(body)] {
				refused[string(body)] = true
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		}), "cint_x")
		began := time.Now()
		r, err := evaluate.MeasureRecall(t.Context(), cl, set, evaluate.Options{Memory: cl})
		if waited := time.Since(began); err != nil || waited < 4*7*time.Second || r.Groups[0].P95 != 0 {
			t.Errorf("%v: after %v a call takes %g ms", err, waited, r.Groups[0].P95)
		}
	})
}

func TestMeasureRecallRefuses(t *testing.T) {
	cl := answering(t)
	one := `{"id":"a1","text":"Ann: To Lyon.","meta":{"user":"ann"}}` + "\n"
	for name, c := range map[string]struct {
		corpus, queries string
		memory          *client.Client
		want            string
	}{
		"no users":      {`{"id":"a1","text":"To Lyon."}`, `{"id":"q1","text":"where"}`, cl, "set with users"},
		"no client":     {one, `{"id":"q1","text":"where","meta":{"user":"ann"}}`, nil, "client of the memory API"},
		"degraded":      {one, `{"id":"q1","text":"broken","meta":{"user":"ann"}}`, cl, "question q1: the search was degraded"},
		"asked of none": {one, `{"id":"q1","text":"where","meta":{"user":"ann"}}`, cl, ""},
	} {
		set, err := evaluate.Load(folder(t, map[string]string{"corpus.jsonl": c.corpus, "queries.jsonl": c.queries,
			"qrels.tsv": "query-id\tdoc-id\tscore\nq1\ta1\t1\n"}), evaluate.TitleHeading)
		if err != nil {
			t.Fatal(err)
		}
		r, err := evaluate.MeasureRecall(context.Background(), cl, set, evaluate.Options{Memory: c.memory})
		switch {
		case c.want == "":
			if err != nil || len(r.Groups) != 1 {
				t.Errorf("%s: %q, %v", name, counts(r), err)
			}
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The questions that are kept with the code: 200 in two halves, each phrase in a relevant
// turn that does not ask, and each question about a user of its half.
func TestTheQuestionsOfRecall(t *testing.T) {
	all := 0
	for _, half := range []string{"tuned", "held-out"} {
		c, err := evaluate.Load("../../../../core/memory/recall/testdata/"+half, evaluate.TitleHeading)
		if err != nil {
			t.Fatal(err)
		}
		texts, users := map[string]string{}, map[string]bool{}
		for _, d := range c.Corpus {
			texts[d.ID], users[d.User] = d.Text, true
		}
		for _, q := range c.Queries {
			for id := range q.Grades {
				turn := strings.ToLower(texts[id])
				if !slices.ContainsFunc(q.Says, func(s string) bool { return strings.Contains(turn, strings.ToLower(s)) }) ||
					strings.HasSuffix(turn, "?") {
					t.Errorf("%s: %q is no answer to %q (%q)", q.ID, turn, q.Text, q.Says)
				}
			}
		}
		for _, q := range slices.Concat(c.Queries, c.Unanswerable) {
			if !users[q.User] {
				t.Errorf("%s: nobody is %q", q.ID, q.User)
			}
		}
		if n := len(c.Queries) + len(c.Unanswerable); n != 100 || len(c.Unanswerable) < 25 {
			t.Errorf("%s: %d questions, %d without an answer", half, n, len(c.Unanswerable))
		}
		all += len(c.Queries)
	}
	if all < 140 {
		t.Errorf("%d questions have an answer", all)
	}
}
