package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

func write(t *testing.T, path, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestImportAndQuery(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	write(t, filepath.Join(dir, "in", "lease.md"), "# Lease\n\nNotice must be given three months ahead.\n")
	write(t, filepath.Join(dir, "in", "more", "wifi.txt"), "The access point shows ERR_CONN_RESET.\n")
	write(t, filepath.Join(dir, "in", "rows.jsonl"),
		`{"id":"a","text":"Tide tables hang in the office.","metadata":{"lang":"en"}}`+"\n"+
			`{"id":"b","text":"Gezeiten stehen im Büro.","metadata":{"lang":"de"}}`+"\n")
	args := func(rest ...string) []string { return append(rest, "--data", data) }
	in := filepath.Join(dir, "in")

	if r := succeed(t, args("import", in, "--namespace", "notes")...); !strings.Contains(r.Stderr,
		"4 documents (4 new or changed") {
		t.Errorf("import says %s", r.Stderr)
	}
	if r := succeed(t, args("import", in, "--namespace", "notes")...); !strings.Contains(r.Stderr, "3 files unchanged") {
		t.Errorf("the second import says %s", r.Stderr)
	}
	if r := succeed(t, args("query", "notes", "ERR_CONN_RESET")...); !strings.Contains(r.Stdout, "more:wifi.txt") {
		t.Errorf("query finds\n%s", r.Stdout)
	}
	r := succeed(t, args("query", "notes", "office Büro", "--filter", `{"lang":"de"}`, "--json", "--explain", "--mode",
		"keyword")...)
	var out struct {
		Results []struct {
			DocumentID string `json:"document_id"`
			Explain    struct{ Keyword struct{ Rank int } }
		}
		ScoreKind string `json:"score_kind"`
	}
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("%v in %s", err, r.Stdout)
	}
	if len(out.Results) != 1 || out.Results[0].DocumentID != "b" || out.Results[0].Explain.Keyword.Rank != 1 ||
		out.ScoreKind != "bm25" {
		t.Errorf("query gives %s", r.Stdout)
	}

	// The same through a running server, found by the folder and named by URL.
	s := start(t, args()...)
	write(t, filepath.Join(in, "new.txt"), "The harbour closes at dusk.\n")
	if r := succeed(t, args("import", in, "--namespace", "notes")...); !strings.Contains(r.Stderr, "1 document (1 new") {
		t.Errorf("the import beside a server says %s", r.Stderr)
	}
	key := newKey(t, data)
	s.Client(t, key).OK("POST", "/namespaces/notes/documents", map[string]any{"documents": []map[string]any{
		{"id": "paged", "text": "The pilot waits.", "metadata": map[string]any{"page": 12, "path": "a.pdf", "url": 3}}}})
	if r := succeed(t, args("query", "notes", "pilot")...); !strings.Contains(r.Stdout, " paged, page 12 ") {
		t.Errorf("query of a text that has pages finds\n%s", r.Stdout)
	}
	if r := succeed(t, "query", "notes", "dusk", "--url", s.URL, "--key", key); !strings.Contains(r.Stdout, "new.txt") {
		t.Errorf("query over a URL finds\n%s", r.Stdout)
	}
	if r := mneme(t, "query", "notes", "dusk", "--url", s.URL, "--key", "sk-service-wrong"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "unauthorized") {
		t.Errorf("a wrong key: %+v", r)
	}
	if r := mneme(t, args("query", "absent", "dusk")...); r.Code != 1 || !strings.Contains(r.Stderr, "namespace_not_found") {
		t.Errorf("an unknown namespace: %+v", r)
	}
	// A namespace that is gone is imported again, whatever the journal says.
	if status, body := call(t, "DELETE", s.URL+"/namespaces/notes", key, ""); status != 200 {
		t.Fatalf("delete: %d %s", status, body)
	}
	if r := succeed(t, args("import", in, "--namespace", "notes")...); !strings.Contains(r.Stderr, "5 documents (5 new") {
		t.Errorf("the import after a deletion says %s", r.Stderr)
	}
	if info, err := os.Stat(filepath.Join(data, "local.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("local.key: %v, %v", info, err)
	}
}

func TestImportReportsWhatItCannotTake(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in", "rows.jsonl"),
		`{"id":"good","text":"fine"}`+"\nnot json\n"+`{"id":"other","text":"fine too"}`+"\n")
	r := mneme(t, "import", filepath.Join(dir, "in"), "--namespace", "n", "--data", filepath.Join(dir, "data"))
	if r.Code != 1 || !strings.Contains(r.Stderr, "rows.jsonl:2") || !strings.Contains(r.Stderr, "2 documents") {
		t.Errorf("%+v", r)
	}
	if r := mneme(t, "import", filepath.Join(dir, "absent"), "--namespace", "n", "--data",
		filepath.Join(dir, "data")); r.Code != 1 {
		t.Errorf("an absent path: %+v", r)
	}
	off := mneme(t, "import", filepath.Join(dir, "in"), "--namespace", "n", "--data", filepath.Join(dir, "off"),
		"--config", keywordOnly(t))
	if off.Code != 1 || !strings.Contains(off.Stderr, "roles.embed") {
		t.Errorf("without an embedding model: %+v", off)
	}
}

func TestQuickstartRepeats(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	keys := map[string]bool{}
	var answers []string // over the first samples, and over all
	for i := range 2 {
		r := succeed(t, "quickstart", "--exit", "--data", data)
		shown, _, _ := strings.Cut(r.Stdout, " ms with ")
		_, shown, _ = strings.Cut(shown, "\nQuery: ")
		shown = shown[:strings.LastIndex(shown, "\n")]
		answers = append(answers, regexp.MustCompile(`\(score [\d.]+\)`).ReplaceAllString(shown, ""))
		key := regexp.MustCompile(`Key: (sk-service-\S+)`).FindStringSubmatch(r.Stdout)
		if key == nil || !strings.Contains(r.Stdout, "curl -s http://127.0.0.1:") ||
			!strings.Contains(r.Stdout, "1. refund-policy") {
			t.Fatalf("run %d prints\n%s%s", i, r.Stdout, r.Stderr)
		}
		keys[key[1]] = true
		if !regexp.MustCompile(`try in a browser: http://127\.0\.0\.1:\d+/docs\n`).MatchString(r.Stdout) {
			t.Errorf("run %d does not lead to the reference:\n%s", i, r.Stdout)
		}
		want := "new or changed, 0 unchanged"
		if i == 1 {
			want = "(0 new or changed"
		}
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("run %d imports: %s", i, r.Stderr)
		}
	}
	if answers[0] != answers[1] || strings.Count(answers[0], ".md ") != 3 {
		t.Errorf("over the first samples the answer is\n%s\nover all\n%s", answers[0], answers[1])
	}
	// Taking the application's key away leaves the command line its own.
	succeed(t, "query", "samples", "refund", "--data", data)
	succeed(t, "keys", "revoke", listKeys(t, data)["quickstart"].ID, "--data", data)
	succeed(t, "query", "samples", "refund", "--data", data)
	r := succeed(t, "quickstart", "--exit", "--data", data)
	if again := regexp.MustCompile(`Key: (sk-service-\S+)`).FindStringSubmatch(r.Stdout); again == nil || keys[again[1]] {
		t.Errorf("after its key was revoked it prints\n%s", r.Stdout)
	}
	if len(keys) != 1 {
		t.Errorf("two runs on one folder print %d keys, want the same one", len(keys))
	}
}

// Over a database of its own the quickstart says where its data are, and what it tells to type finds the server and
// that database, though its data folder has none.
func TestQuickstartOverPostgreSQL(t *testing.T) {
	server := postgrestest.Start()
	t.Cleanup(server.Stop)
	dir := filepath.Join(t.TempDir(), "a folder")
	config, data := filepath.Join(dir, "pg.yaml"), filepath.Join(dir, "data")
	write(t, config, fmt.Sprintf("data_dir: %q\nstorage: {postgres: {dsn: %q}}\n", data, server.Database(t)))
	quickstart := (&harness.Site{T: t, Config: config}).Command("quickstart", "--addr", "127.0.0.1:0")
	out, err := quickstart.StdoutPipe()
	if err == nil {
		err = quickstart.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = quickstart.Process.Kill() // it has answered
		_ = quickstart.Wait()
	})
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "The other "); {
		said += lines.Text() + "\n"
	}
	if want := "serves the postgres storage of " + config; !strings.Contains(said, want) ||
		!strings.Contains(said, "keys lie in "+data) || !strings.Contains(said, "1. refund-policy") {
		t.Errorf("it lacks %q:\n%s", want, said)
	}
	want := fmt.Sprintf("mneme console open --config '%s' --data '%s' prints another", config, data)
	if !strings.Contains(said, want) {
		t.Errorf("it lacks %q:\n%s", want, said)
	}
	link := succeed(t, "console", "open", "--config", config, "--data", data).Stdout
	if at := regexp.MustCompile(`http://127\.0\.0\.1:\d+/console/`).FindString(said); at == "" || !strings.HasPrefix(link, at) {
		t.Errorf("it leads to %q, the advice to %q", at, link)
	}
	if _, err := os.Stat(filepath.Join(data, "mneme.db")); !os.IsNotExist(err) {
		t.Errorf("a database is in the data folder: %v", err)
	}
}

func TestQuickstartChoosesAnotherPort(t *testing.T) {
	s := start(t, "--data", filepath.Join(t.TempDir(), "first"), "--config", keywordOnly(t))
	config := filepath.Join(t.TempDir(), "taken.yaml")
	write(t, config, "server: { addr: \""+strings.TrimPrefix(s.URL, "http://")+"\" }\n")
	r := succeed(t, "quickstart", "--exit", "--data", filepath.Join(t.TempDir(), "second"), "--config", config)
	if !strings.Contains(r.Stderr, "is taken") || strings.Contains(r.Stdout, s.URL+"\n") {
		t.Errorf("%+v", r)
	}
	// An address that was asked for is not replaced.
	if r := mneme(t, "quickstart", "--exit", "--data", filepath.Join(t.TempDir(), "third"), "--addr",
		strings.TrimPrefix(s.URL, "http://")); r.Code != 1 {
		t.Errorf("%+v", r)
	}
}

// TestEvalMeasuresRecall with the models that a server has unless told otherwise: a short
// reply is the answer, and its question is not.
func TestEvalMeasuresRecall(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "chat")
	write(t, filepath.Join(set, "corpus.jsonl"),
		`{"id":"1","text":"Assistant: Who is your favourite author?","meta":{"user":"ben"}}
{"id":"2","text":"Ben: Ursula Le Guin, no contest.","meta":{"user":"ben"}}
{"id":"3","text":"Assistant: Are you going to replace the car?","meta":{"user":"ben"}}
{"id":"4","text":"Ben: Not before the summer.","meta":{"user":"ben"}}
`)
	write(t, filepath.Join(set, "queries.jsonl"),
		`{"id":"q1","text":"Who is Ben's favourite author?","meta":{"user":"ben","says":"Le Guin"}}
{"id":"q2","text":"What is my blood type?","meta":{"user":"ben","unanswerable":true}}
`)
	write(t, filepath.Join(set, "qrels.tsv"), "query-id\tdoc-id\tscore\nq1\t2\t1\n")
	report := filepath.Join(dir, "report.json")
	r := succeed(t, "eval", set, "--recall", "--data", filepath.Join(dir, "data"), "--json", report)
	body, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Recall []struct {
			Collection string
			Groups     []struct {
				Group                   string
				Right, Wrong, Abstained int
			}
		}
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(out.Recall); got != "[{chat [{answerable 1 0 0} {unanswerable 0 0 1}]}]" ||
		!strings.Contains(string(body), "Le Guin, no contest [1].") {
		t.Errorf("%s of %s", got, body)
	}
	if !strings.Contains(r.Stdout, "ABSTAINED") || !strings.Contains(r.Stdout, "unanswerable") {
		t.Errorf("the table is\n%s", r.Stdout)
	}
}

func TestEvalMeasuresAndReuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := filepath.Join(dir, "tiny")
	write(t, filepath.Join(set, "corpus.jsonl"), `{"id":"d/1","title":"Harbour","text":"The harbour closes at dusk."}
{"id":"d/2","text":"Tide tables hang in the office."}
{"id":"d/3","text":"Rain fell on the quay all night."}
{"id":"d/4","text":"The harbour dog sleeps."}
`)
	write(t, filepath.Join(set, "queries.jsonl"), `{"id":"q1","text":"when does the harbour close","meta":{"category":"when"}}
{"id":"q2","text":"where are the tide tables","meta":{"category":"where"}}
{"id":"q3","text":"nobody judged this"}
`)
	write(t, filepath.Join(set, "qrels.tsv"), "query-id\tdoc-id\tscore\nq1\td/1\t2\nq1\td/4\t0\nq2\td/2\t1\nq2\tabsent\t1\n")
	report := filepath.Join(dir, "report.json")
	type run struct {
		Step       string
		Queries    int
		NDCG10     float64 `json:"ndcg_10"`
		Recall10   float64 `json:"recall_10"`
		MRR10      float64 `json:"mrr_10"`
		ByCategory map[string]struct {
			Recall10 float64 `json:"recall_10"`
		} `json:"by_category"`
	}
	measure := func(args ...string) (reused bool, runs []run) {
		r := succeed(t, append([]string{"eval", set, "--data", filepath.Join(dir, "data"), "--json", report}, args...)...)
		if !strings.Contains(r.Stdout, "NDCG@10") || !strings.Contains(r.Stdout, "tiny") {
			t.Errorf("the table is\n%s", r.Stdout)
		}
		body, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Results []struct {
				Reused    bool
				Documents int
				Runs      []run
			}
		}
		if err := json.Unmarshal(body, &out); err != nil || len(out.Results) != 1 || out.Results[0].Documents != 4 {
			t.Fatalf("%v in %s", err, body)
		}
		return out.Results[0].Reused, out.Results[0].Runs
	}
	reused, runs := measure("--by-category")
	if reused || len(runs) != 3 || runs[0].Step != "keyword" || runs[1].Step != "vector" || runs[2].Step != "fused" {
		t.Fatalf("first run: reused %v, %+v", reused, runs)
	}
	for _, r := range runs {
		// q1 finds its one document first; q2 one of its two, the other not being there.
		ndcg := (1 + 1/(1+0.6309297535714575)) / 2
		if r.Queries != 2 || r.Recall10 != 0.75 || r.MRR10 != 1 || r.NDCG10 < ndcg-1e-9 || r.NDCG10 > ndcg+1e-9 {
			t.Errorf("%s: %+v, want recall .75, MRR 1, nDCG %v", r.Step, r, ndcg)
		}
		if r.ByCategory["when"].Recall10 != 1 || r.ByCategory["where"].Recall10 != 0.5 {
			t.Errorf("%s by category: %+v", r.Step, r.ByCategory)
		}
	}
	if reused, _ := measure(); !reused {
		t.Error("the second run wrote the documents again")
	}
	_, runs = measure("--sparse", "--rerank=2")
	var steps []string
	for _, r := range runs {
		steps = append(steps, r.Step)
		if r.Queries != 2 || r.MRR10 != 1 {
			t.Errorf("%s: %+v", r.Step, r)
		}
	}
	if want := "keyword keyword+rerank vector vector+rerank sparse sparse+rerank fused fused+rerank fused+sparse " +
		"fused+sparse+rerank"; strings.Join(steps, " ") != want {
		t.Errorf("steps are %v", steps)
	}
	if reused, _ := measure("--sparse", "--retrievers", "sparse"); !reused {
		t.Error("the sparse namespace was written again")
	}
	for _, args := range [][]string{{"--retrievers", "sparse"}, {"--rerank=101"}, {"--rerank=-1"},
		{"--rerank-prior", "1", "--url", "http://127.0.0.1:1"}, {"--titles", "x"}, {"--titles", "none", "--plain-titles"}} {
		if r := mneme(t, append([]string{"eval", set, "--data", filepath.Join(dir, "data")}, args...)...); r.Code != 2 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, titles := range [][]string{{"--titles", "metadata"}, {"--titles", "line"}, {"--plain-titles"},
		{"--titles", "heading"}} {
		reused, runs := measure(append(titles, "--retrievers", "keyword")...)
		if same := titles[0] == "--plain-titles"; reused != same || runs[0].MRR10 != 1 {
			t.Errorf("%v: reused %v, %+v", titles, reused, runs)
		}
	}
	if reused, _ := measure("--rebuild", "--retrievers", "keyword"); reused {
		t.Error("--rebuild did not write the documents again")
	}
	write(t, filepath.Join(set, "corpus.jsonl"),
		`{"id":"d/1","text":"The harbour closes at dusk, they say."}`+"\n"+
			`{"id":"d/2","text":"Tide tables hang in the office."}`+"\n"+
			`{"id":"d/3","text":"x"}`+"\n"+`{"id":"d/4","text":"y"}`+"\n")
	if reused, _ := measure("--retrievers", "fused", "--fusion", "rrf", "--weights", "vector=1,keyword=1"); reused {
		t.Error("a changed corpus was not written")
	}
}

func TestDoctorAndModels(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	newKey(t, data)
	out := succeed(t, "doctor", "--data", data).Stdout
	for _, want := range []string{"ok    machine", "ok    data", "ok    model    e5-small-v2", "ok    store", "ok    index"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor lacks %q:\n%s", want, out)
		}
	}
	s := start(t, "--data", data)
	if out := succeed(t, "doctor", "--data", data).Stdout; !strings.Contains(out, "ok    health") ||
		!strings.Contains(out, s.URL) {
		t.Errorf("doctor beside a server:\n%s", out)
	}
	if err := s.Stop(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if r := mneme(t, "doctor", "--data", file); r.Code != 1 || !strings.Contains(r.Stdout, "FAIL  data") {
		t.Errorf("a file for a folder: %+v", r)
	}
	if r := mneme(t, "doctor", "--data", filepath.Join(file, "below")); r.Code != 1 ||
		!strings.Contains(r.Stdout, "would lie below a file; name another with --data") ||
		!strings.Contains(r.Stdout, "this user has to be able to read that file") {
		t.Errorf("a folder below a file: %+v", r)
	}
	write(t, filepath.Join(data, "mneme.db"),
		"this is no database, whatever its name says; it is long enough to be looked at as one")
	if r := mneme(t, "doctor", "--data", data, "--config", keywordOnly(t)); r.Code != 1 ||
		!strings.Contains(r.Stdout, "FAIL  store") {
		t.Errorf("a damaged store: %+v", r)
	}
	if out := succeed(t, "models", "list", "--data", t.TempDir()).Stdout; !strings.Contains(out, "e5-small-v2") ||
		!strings.Contains(out, "384") {
		t.Errorf("models list:\n%s", out)
	}
	if r := succeed(t, "models", "check", aMoment, "builtin:splade-tiny"); !strings.Contains(r.Stdout, "0 of ") {
		t.Errorf("models check:\n%s", r.Stdout)
	}
	if r := mneme(t, "models", "check", file); r.Code != 1 {
		t.Errorf("checking a file that is no model: %+v", r)
	}
	if r := mneme(t, "models", "pack", t.TempDir(), "--out", filepath.Join(t.TempDir(), "x")); r.Code != 1 ||
		!strings.Contains(r.Stderr, "pack ") {
		t.Errorf("packing an empty folder: %+v", r)
	}
}
