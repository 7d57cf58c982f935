package tours_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// set is one of configs/examples and what its server says that it runs on.
type set struct {
	example                          string
	storage, keyword, vector, sparse string
}

var sets = []set{
	{"laptop.yaml", "sqlite", "embedded", "embedded", "embedded"},
	{"replicas.yaml", "postgres", "embedded", "embedded", "embedded"},
	{"postgres.yaml", "postgres", "postgres", "postgres", "postgres"},
	{"scaled-out.yaml", "postgres", "meilisearch", "postgres", "postgres"},
}

// tours are the pages that hold one, and what its output must hold.
var tours = map[string][]string{
	"README.md": {`"written":2`, `"document_id":"lease"`, `"document_id":"wifi"`, `"terms":`, "E-42"},
	"docs/memory.md": {`"deduped":false`, "near the old harbour", `"quote":"I am allergic to peanuts."`,
		`"outcome":"updated"`, `"status":"tombstoned"`,
		`"outcome":"created"},{"memory"`, `"context":"Remembered, most relevant first:\n[1] `, `, Ann: My sister visits in June.`,
		`"tokenizer":"e5-small-v2"`, `"deletedMemories":5`, `"apiVersion"`},
	"docs/rest.md": {`"written":3`, `"unchanged":1`, `"score_kind":"rerank"`, `"relevance_score"`, `"read";q=600;w=60`,
		"HTTP/1.1 429", "Retry-After",
		`"code":"invalid_filter"`, "did you mean", `"code":"namespace_not_found"`, `"status":"succeeded"`, "chunk_list",
		`"deleted":true`},
}

// once are those whose output no set of backends decides: they run over the first.
var once = map[string][]string{
	"docs/files.md": {`"media_type":"text/markdown"`, `"chunk_list"`, `"written":2`, `"unchanged":2`, `"code":"no_text"`,
		`"page":3`, `"pages":200`, `"page":137`,
		`"heading":`, "HTTP/1.1 202"},
	"docs/events.md": {"python documents.written ['guide']", "node documents.written [ 'guide' ]", "go documents.written [guide]",
		`"type":"documents.written"`, `"name":"user.erased"`},
	"docs/events.md: Webhooks": {"python documents.written ['guide.md']", "node documents.written [ 'guide.md' ]",
		"go documents.written [guide.md]", "shell documents.written"},
	"docs/sources.md": {"nothing was written", "Handbook: completed: 3 items, 3 created", "takes over what a",
		"2 updated, 1 document deleted",
		"The cellar is locked", "Repository: completed: 3 items, 3 created", "The attic is dry", "deletions_withheld",
		"2 documents deleted"},
}

// programs are those that tours run beside the usual ones.
var programs = map[string][]string{
	"docs/events.md":           {"python3", "node"},
	"docs/events.md: Webhooks": {"python3", "node", "openssl"},
}

const root = "../../../.."

var (
	database *postgrestest.Server
	cluster  = opensearchtest.New()
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	database = postgrestest.Start()
	defer database.Stop()
	defer cluster.Stop()
	return harness.Main(m)
}

// The main job of the documentation is done on each set of backends by changing
// the configuration alone.
func TestTours(t *testing.T) {
	harness.Outside(t)
	for _, name := range []string{"bash", "curl", "go", "git"} {
		harness.Installed(t, name)
	}
	if opensearchtest.Whole() {
		sets = []set{{"distributed.yaml", "postgres", "opensearch", "opensearch", "opensearch"}}
	}
	for i, s := range sets {
		pages := maps.Clone(tours)
		if i == 0 && !opensearchtest.Whole() {
			maps.Copy(pages, once)
		}
		t.Run(strings.TrimSuffix(s.example, ".yaml"), func(t *testing.T) {
			for page, wants := range pages {
				t.Run(page, func(t *testing.T) {
					for _, name := range programs[page] {
						harness.Installed(t, name)
					}
					script := files(t, page) + tour(t, page)
					if page == "docs/events.md: Webhooks" {
						script = libraries(t) + script
					}
					out, log := s.shell(t, script)
					said := out
					if _, ok := once[page]; ok {
						said += log // progress of commands goes there
					}
					for _, want := range wants {
						if !strings.Contains(said, want) {
							t.Errorf("the output lacks %s", want)
						}
					}
					for line := range strings.Lines(out) {
						if strings.HasPrefix(line, `{"`) && !json.Valid([]byte(line)) {
							t.Errorf("an answer does not stand on a line of its own: %s", line)
						}
					}
					s.served(t, log)
					if t.Failed() {
						t.Logf("%s\n%s", out, log)
					}
				})
			}
			t.Run("quickstart", func(t *testing.T) {
				out, log := s.shell(t, "bin/mneme quickstart --data ./tour-data --addr 127.0.0.1:8080 --exit\n")
				if !strings.Contains(out, "refund") || !strings.Contains(out, "sk-service-") {
					t.Errorf("neither a passage nor a key:\n%s\n%s", out, log)
				}
			})
		})
	}
}

// tour is the shell block of a page.
func tour(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(harness.Page(t, page), "<!-- tour:")
	if ok {
		_, rest, ok = strings.Cut(rest, "\n```sh\n")
	}
	script, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed || !strings.Contains(script, "mneme serve") {
		t.Fatalf("%s holds no tour", page)
	}
	return script + "\n"
}

var file = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w+\n(.*?\n)```\n")

// files are the lines that write the files of a page.
func files(t *testing.T, page string) string {
	t.Helper()
	var lines strings.Builder
	for _, m := range file.FindAllStringSubmatch(harness.Page(t, page), -1) {
		fmt.Fprintf(&lines, "mkdir -p $(dirname %s)\ncat >%[1]s <<'FILE'\n%sFILE\n", m[1], m[2])
	}
	return lines.String()
}

// libraries are the lines after which receivers find the libraries of Standard Webhooks.
func libraries(t *testing.T) string {
	t.Helper()
	from := harness.Clients.Path(t)
	return fmt.Sprintf("mkdir -p ./hooks-data\nln -s %s/node_modules ./hooks-data/node_modules\n"+
		"export PYTHONPATH=%[1]s/python\n", from)
}

var (
	folders = regexp.MustCompile(`\./([a-z]+-data)`)
	ports   = regexp.MustCompile(`\b(127\.0\.0\.1:|PORT=)(808[01]|91\d\d)\b`)
)

// shell runs a script with the set's configuration: on a free port, in folders and
// a database of its own.
func (s set) shell(t *testing.T, script string) (out, log string) {
	t.Helper()
	dir := t.TempDir()
	example, err := filepath.Abs(filepath.Join(root, "configs/examples", s.example))
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "MNEME_CONFIG="+example)
	if s.storage == "postgres" {
		env = append(env, "MNEME_POSTGRES_DSN="+database.Database(t))
	}
	if s.keyword == "meilisearch" {
		env = append(env, meilisearch(t)...)
	}
	if s.keyword == "opensearch" {
		prefix := "tour" + strings.ToLower(rand.Text())
		t.Cleanup(func() { cluster.Delete(t, prefix) })
		env = append(env, "MNEME_OPENSEARCH_URL="+cluster.URL(t), "MNEME_OPENSEARCH_PREFIX="+prefix)
	}
	addr := harness.Address(t)
	free := map[string]string{"8080": addr[strings.LastIndex(addr, ":")+1:]}
	script = ports.ReplaceAllStringFunc(script, func(text string) string {
		m := ports.FindStringSubmatch(text)
		if free[m[2]] == "" {
			one := harness.Address(t)
			free[m[2]] = one[strings.LastIndex(one, ":")+1:]
		}
		return m[1] + free[m[2]]
	})
	if os.Getenv(harness.ProgramVariable) != "" { // another program, which is there
		script = strings.ReplaceAll(script, "go build -o bin/mneme ./cmd/mneme\n", "")
	}
	script = strings.ReplaceAll(script, "bin/mneme ", harness.Program(t)+" ")
	script = folders.ReplaceAllString(script, dir+"/$1")
	lines := []string{"set -e", `trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT`, "trap 'exit 1' TERM"}
	for line := range strings.Lines(script) {
		serves := strings.Contains(line, " serve ")
		if own := regexp.MustCompile(`--config (\S+)`).FindStringSubmatch(line); serves && own != nil {
			// The page's file says what is beside the backends.
			lines = append(lines, fmt.Sprintf("cat >>%s <<'EXAMPLE'\n%s\nEXAMPLE", own[1], without(t, example, "limits")))
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
		if serves { // where a person waits for the line that says ready
			lines = append(lines, "for i in $(seq 300); do curl -sf http://"+addr+"/health >/dev/null && break; sleep 0.2; done")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", strings.Join(lines, "\n"))
	cmd.Dir, cmd.Env = root, env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &stdout, &stderr)
	}
	// The server writes its log beside its folder, so that it does not come between the answers.
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range logs {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stderr.Write(text)
	}
	return stdout.String(), stderr.String()
}

// without is a configuration without one of its sections.
func without(t *testing.T, file, section string) string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	drop := false
	for line := range strings.Lines(string(body)) {
		if strings.TrimLeft(line, " #\n") != "" && !strings.HasPrefix(line, " ") {
			drop = strings.HasPrefix(line, section+":")
		}
		if !drop {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// served checks that the server ran on the set's backends and that nothing went
// wrong in it.
func (s set) served(t *testing.T, log string) {
	t.Helper()
	ready := ""
	for line := range strings.Lines(log) {
		if strings.Contains(line, "server ready") {
			ready = line
		}
	}
	for _, line := range harness.Complaints(log) {
		t.Errorf("the server logged %s", line)
	}
	for _, part := range [][2]string{{"storage", s.storage}, {"keyword", s.keyword}, {"vector", s.vector}} {
		if !strings.Contains(ready, part[0]+"="+part[1]) && !strings.Contains(ready, fmt.Sprintf("%q:%q", part[0], part[1])) {
			t.Errorf("the server does not say that %s is %s: %q", part[0], part[1], ready)
		}
	}
}

// meilisearch is the environment that names a server: the one of the tests, or one
// in this process.
func meilisearch(t *testing.T) []string {
	t.Helper()
	url, key := os.Getenv("MNEME_TEST_MEILISEARCH_URL"), os.Getenv("MNEME_TEST_MEILISEARCH_KEY")
	if url == "" {
		t.Log("MNEME_TEST_MEILISEARCH_URL names no server: a Meilisearch of the tests' own, which keeps to the " +
			"protocol, takes its place")
		s := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: "a-master-key-of-tests"})
		url, key = s.URL, s.Key
	}
	prefix := fmt.Sprintf("tour_%d_%d", os.Getpid(), time.Now().UnixNano())
	return []string{"MNEME_MEILISEARCH_URL=" + url, "MNEME_MEILISEARCH_KEY=" + cmp.Or(key, "none"),
		"MNEME_MEILISEARCH_PREFIX=" + prefix}
}
