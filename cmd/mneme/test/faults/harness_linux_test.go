package faults_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// smallIndex makes segments, merges and evictions happen with little data.
const smallIndex = `
keyword: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
vector: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
sparse: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
`

// site is a data folder with a key; processes come and go.
type site struct {
	*harness.Site
	key string
}

// newSite makes a data folder in dir ("": a fresh one), with an environment beside
// this process's.
func newSite(t testing.TB, dir, config string, env ...string) *site {
	t.Helper()
	s := &site{Site: harness.NewSite(t, config)}
	if dir != "" {
		s.Data = dir
	}
	s.Env = env
	// One line a request is too much to keep.
	s.Keep = func(line string) bool { return !strings.Contains(line, "msg=call") }
	s.key = s.Key("--name", "test")
	if !strings.HasPrefix(s.key, "sk-service-") {
		t.Fatalf("keys create printed %q", s.key)
	}
	return s
}

// process is a running server, asked with the site's key.
type process struct {
	*harness.Server
	harness.Client
}

// start starts a server and waits until it serves.
func (s *site) start() *process {
	s.T.Helper()
	return s.served(s.Serve())
}

func (s *site) served(by *harness.Server) *process { return &process{by, by.Client(s.T, s.key)} }

// stop ends the process in order.
func (p *process) stop() {
	p.T.Helper()
	if err := p.Stop(syscall.SIGTERM); err != nil {
		p.T.Fatal(err)
	}
}

// resident is the process's memory in bytes.
func (p *process) resident() int64 {
	p.T.Helper()
	return p.status("VmRSS") << 10
}

// peak is the most memory that the process has had, in bytes.
func (p *process) peak() int64 {
	p.T.Helper()
	return p.status("VmHWM") << 10
}

func (p *process) status(field string) int64 {
	p.T.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		p.T.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == field+":" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				p.T.Fatal(err)
			}
			return n
		}
	}
	p.T.Fatalf("no %s in the process's status", field)
	return 0
}

// files counts open file descriptors.
func (p *process) files() int {
	p.T.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Cmd.Process.Pid))
	if err != nil {
		p.T.Fatal(err)
	}
	return len(list)
}

// metric reads a gauge.
func (p *process) metric(name string) float64 {
	p.T.Helper()
	for line := range strings.Lines(string(p.Call("GET", "/metrics", nil).Body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				p.T.Fatal(err)
			}
			return v
		}
	}
	p.T.Fatalf("no metric %s", name)
	return 0
}

type object = harness.Object

// healthy wants the whole of the server to work: the deep check, a write and a
// query that finds it.
func (p *process) healthy() {
	p.T.Helper()
	p.Alive(p.T)
	p.OK("POST", "/namespaces/healthy/documents",
		object{"documents": []object{{"id": "a", "text": "the walrus and the carpenter"}}})
	var found queried
	p.OK("POST", "/namespaces/healthy/query", object{"query": "walrus"}).Into(&found)
	if len(found.Results) != 1 || found.Results[0].DocumentID != "a" || len(found.Degraded) != 0 {
		p.T.Fatalf("after all that a query finds %+v", found)
	}
	var health struct{ Status string }
	p.OK("GET", "/health/deep", nil).Into(&health)
	if health.Status != "ok" {
		p.T.Fatalf("deep health is %q", health.Status)
	}
}

// document is a document as it is read.
type document struct {
	ID        string
	Text      string
	Metadata  map[string]any
	Chunks    int
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	ChunkList []struct {
		Index, Start, End int
		Text              string
	} `json:"chunk_list"`
}

// queried is the answer to a query.
type queried struct {
	Results []struct {
		DocumentID string `json:"document_id"`
		ChunkIndex int    `json:"chunk_index"`
		Start, End int
		Text       string
		Score      float64
		Metadata   map[string]any
	}
	Degraded []any
}

// counts are a namespace's.
type counts struct{ Documents, Chunks, Bytes int }
