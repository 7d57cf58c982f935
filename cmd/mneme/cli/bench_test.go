package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/internal/bench"
)

type benchOutput struct {
	Settings map[string]any
	Sets     []bench.Result
}

func TestBenchComparesSets(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{"one.yaml": "{}",
		"two.yaml": "vector: {embedded: {flush_chunks: 64}}\nkeyword: {embedded: {flush_chunks: 64}}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	work, report := filepath.Join(dir, "work"), filepath.Join(dir, "report.json")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	r := succeed(t, "bench", "--config", filepath.Join(dir, "one.yaml"), "--config",
		"other="+filepath.Join(dir, "two.yaml"), "--documents", "100", "--queries", "20",
		"--warm-up", "2", "--concurrency", "1,3", "--settle", "0", "--sparse", "--namespaces", "2", "--work", work,
		"--json", report)
	body, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var out benchOutput
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Sets) != 2 || out.Sets[0].Name != "one" || out.Sets[1].Name != "other" {
		t.Fatalf("sets are %+v", out.Sets)
	}
	const modes = 8 // all but reranked
	for i, s := range out.Sets {
		if s.Ingest.Documents != 100 || s.Ingest.Chunks != 100 || s.Ingest.PerSecond <= 0 || len(s.Runs) != 2*modes {
			t.Errorf("%s: %+v and %d runs", s.Name, s.Ingest, len(s.Runs))
		}
		if s.Usage.Folder == 0 || s.Usage.ServerMemory == 0 || s.Backends["storage"] != "sqlite" {
			t.Errorf("%s: usage %+v, backends %v", s.Name, s.Usage, s.Backends)
		}
		for _, q := range s.Runs {
			if q.Latency.P50 <= 0 || q.Latency.P50 > q.Latency.P99 || q.Queries != 20 {
				t.Errorf("%s: %+v", s.Name, q)
			}
			// Both compare every vector and rank alike, so they agree but for ties.
			if i == 1 && (q.Agreement == nil || *q.Agreement < .99) {
				t.Errorf("%s: %s agrees by %v", s.Name, q.Mode, q.Agreement)
			}
		}
	}
	if !strings.Contains(r.Stdout, "AGREES") || !strings.Contains(r.Stdout, "(x") {
		t.Errorf("no ratios in\n%s", r.Stdout)
	}
	left, err := os.ReadDir(work)
	if err != nil || len(left) != 0 {
		t.Errorf("the run left %v, %v", left, err)
	}
}

func TestBenchReadsCollections(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{
		"corpus.jsonl": `{"id":"a","text":"The lease runs until May."}` + "\n" +
			`{"id":"b","text":"The network is down."}` + "\n",
		"queries.jsonl": `{"id":"q","text":"lease runs until"}` + "\n",
		"qrels.tsv":     "query-id\tdoc-id\tscore\nq\ta\t1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := succeed(t, "bench", "--dataset", dir, "--queries", "3", "--warm-up", "0", "--concurrency", "1", "--settle",
		"0", "--json", "-")
	var out benchOutput
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("%v in\n%s", err, r.Stdout)
	}
	for _, q := range out.Sets[0].Runs {
		if q.Mode == "keyword" && (q.NDCG10 == nil || *q.NDCG10 != 1) {
			t.Errorf("nDCG of keyword search is %v", q.NDCG10)
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"rerank of synthetic vectors": {[]string{"--rerank"}, "--vectors models"},
		"vectors":                     {[]string{"--vectors", "none"}, "synthetic or models"},
		"concurrency":                 {[]string{"--concurrency", "0"}, "--concurrency"},
		"no key":                      {[]string{"--url", "http://127.0.0.1:1"}, "MNEME_KEY"},
		"no such file":                {[]string{"--config", filepath.Join(t.TempDir(), "none.yaml")}, "none.yaml"},
		"no such collection":          {[]string{"--dataset", t.TempDir()}, "corpus.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			r := mneme(t, append([]string{"bench"}, c.args...)...)
			if r.Code == 0 || !strings.Contains(r.Stderr, c.want) {
				t.Errorf("exit code %d, want a failure that says %q:\n%s", r.Code, c.want, r.Stderr)
			}
		})
	}
}

// A database and a Meilisearch server that are in use are left as they were.
func TestBenchIsolatesDatabases(t *testing.T) {
	server := postgrestest.Start()
	t.Cleanup(server.Stop)
	dsn := server.Database(t)
	search := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: "master"})
	config := filepath.Join(t.TempDir(), "postgres.yaml")
	body := fmt.Sprintf(`storage: {postgres: {dsn: %q}}
vector: {postgres: {dsn: %q}}
sparse: {postgres: {dsn: %q}}
keyword: {meilisearch: {url: %q, api_key: %q}}
`, dsn, dsn, dsn, search.URL, search.Key)
	if err := os.WriteFile(config, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	r := succeed(t, "bench", "--config", config, "--documents", "50", "--queries", "3", "--warm-up", "0", "--concurrency", "1",
		"--settle", "0", "--vectors", "ready", "--json", "-")
	var out benchOutput
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("%v in\n%s", err, r.Stdout)
	}
	if len(out.Sets) != 1 || out.Settings["vectors"] != "synthetic" {
		t.Fatalf("%+v", out)
	}
	s := out.Sets[0]
	if s.Ingest.Documents != 50 || s.Usage.Database == 0 || s.Usage.Tables["documents"] == 0 ||
		s.Usage.Tables["index_partition"] == 0 {
		t.Errorf("usage %+v, ingest %+v", s.Usage, s.Ingest)
	}
	if s.Backends["storage"] != "postgres" || s.Backends["keyword"] != "meilisearch" {
		t.Errorf("backends %v", s.Backends)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var left []string
	if err := conn.QueryRow(t.Context(), `SELECT coalesce(array_agg(nspname::text), '{}') FROM pg_namespace
		WHERE nspname NOT LIKE 'pg\_%' AND nspname NOT IN ('public', 'information_schema')`).Scan(&left); err != nil ||
		len(left) != 0 {
		t.Errorf("left in the database: %q, %v", left, err)
	}
	if names := search.Indexes(); len(names) != 0 {
		t.Errorf("left in Meilisearch: %q", names)
	}
}
