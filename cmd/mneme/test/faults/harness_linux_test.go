package faults_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// program is the real one, built once for all tests.
var program *harness.Program

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	program = harness.New()
	defer program.Remove()
	return m.Run()
}

// rounds is how often a loop runs: fewer under -short, more when asked.
func rounds(t *testing.T, usual, short int) int {
	t.Helper()
	if s := os.Getenv("MNEME_FAULT_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("MNEME_FAULT_ROUNDS=%s: want a count", s)
		}
		return max(n, short)
	}
	if testing.Short() {
		t.Logf("SHORTENED: %d rounds instead of %d because of -short", short, usual)
		return short
	}
	return usual
}

// smallIndex makes segments, merges and evictions happen with little data.
const smallIndex = `
keyword: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
vector: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
sparse: {embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}
`

// site is a data folder with a key and a configuration; processes come and go.
type site struct {
	t      testing.TB
	dir    string
	config string // path, "": none
	key    string
	env    []string // beside this process's
}

// newSite makes a data folder in dir ("": a fresh one).
func newSite(t testing.TB, dir, config string) *site {
	t.Helper()
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "data")
	}
	s := &site{t: t, dir: dir}
	if config != "" {
		s.config = filepath.Join(t.TempDir(), "mneme.yaml")
		if err := os.WriteFile(s.config, []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.key = strings.TrimSpace(s.mneme("keys", "create", "--name", "test").stdout)
	if !strings.HasPrefix(s.key, "sk-service-") {
		t.Fatalf("keys create printed %q", s.key)
	}
	return s
}

func (s *site) args(args ...string) []string {
	args = append(args, "--data", s.dir)
	if s.config != "" {
		args = append(args, "--config", s.config)
	}
	return args
}

// result is what a command did.
type result struct {
	code           int
	stdout, stderr string
}

// mneme runs a command on the folder and wants it to succeed.
func (s *site) mneme(args ...string) result {
	s.t.Helper()
	r := s.try(nil, args...)
	if r.code != 0 {
		s.t.Fatalf("mneme %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r
}

func (s *site) try(attr *syscall.SysProcAttr, args ...string) result {
	s.t.Helper()
	path := program.Path(s.t) // which may take a while
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, s.args(args...)...)
	cmd.SysProcAttr = attr
	cmd.Env = append(os.Environ(), s.env...)
	r := harness.Run(s.t, cmd)
	return result{r.Code, r.Stdout, r.Stderr}
}

// process is a running server.
type process struct {
	*harness.Server
	t      testing.TB
	site   *site
	url    string
	client *http.Client
	began  time.Time
}

// launch starts a server without waiting until it is ready.
func (s *site) launch(args ...string) *process {
	s.t.Helper()
	p := &process{t: s.t, site: s, began: time.Now()}
	cmd := exec.Command(program.Path(s.t), s.args(append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)...)
	cmd.Env = append(os.Environ(), s.env...)
	var err error
	// One line a request is too much to keep.
	if p.Server, err = harness.Start(cmd, func(line string) bool { return !strings.Contains(line, "msg=call") }); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(p.kill)
	return p
}

// start starts a server and waits until it serves.
func (s *site) start(args ...string) *process {
	s.t.Helper()
	p := s.launch(args...)
	if err := p.Ready(2 * time.Minute); err != nil {
		s.t.Fatal(err)
	}
	p.url = p.URL
	p.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	return p
}

// kill ends the process as a power cut does and waits for its end.
func (p *process) kill() {
	p.Kill()
	if p.client != nil {
		p.client.CloseIdleConnections()
	}
}

func (p *process) signal() {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatalf("signal: %v", err)
	}
}

// exit waits for the process's end and gives its exit code, -1 when a signal
// ended it.
func (p *process) exit(within time.Duration) int {
	p.t.Helper()
	select {
	case <-p.Ended:
	case <-time.After(within):
		p.t.Fatalf("the process has not ended after %s\n%s", within, p.Logged())
	}
	return p.Cmd.ProcessState.ExitCode()
}

// stop ends the process in order.
func (p *process) stop() {
	p.t.Helper()
	p.client.CloseIdleConnections()
	p.signal()
	if code := p.exit(40 * time.Second); code != 0 {
		p.t.Fatalf("stopping gave exit code %d\n%s", code, p.Logged())
	}
}

// alive fails the test when the process has ended.
func (p *process) alive() {
	p.t.Helper()
	select {
	case <-p.Ended:
		p.t.Fatalf("the server has ended: %v\n%s", p.Cmd.ProcessState, p.Logged())
	default:
	}
}

// resident is the process's memory in bytes.
func (p *process) resident() int64 {
	p.t.Helper()
	return p.status("VmRSS") << 10
}

// peak is the most memory that the process has had, in bytes.
func (p *process) peak() int64 {
	p.t.Helper()
	return p.status("VmHWM") << 10
}

func (p *process) status(field string) int64 {
	p.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == field+":" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return n
		}
	}
	p.t.Fatalf("no %s in the process's status", field)
	return 0
}

// files counts open file descriptors.
func (p *process) files() int {
	p.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(list)
}

// metric reads a gauge.
func (p *process) metric(name string) float64 {
	p.t.Helper()
	a := p.call("GET", "/metrics", nil)
	for line := range strings.Lines(string(a.body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return v
		}
	}
	p.t.Fatalf("no metric %s", name)
	return 0
}

// object is a JSON object.
type object = map[string]any

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string {
	b := a.body
	if len(b) > 500 {
		b = append(b[:500:500], "..."...)
	}
	return fmt.Sprintf("%d %s", a.status, b)
}

// code is the error's code; "" when there is none.
func (a answer) code() string {
	var e struct {
		Error struct{ Code string }
	}
	if json.Unmarshal(a.body, &e) != nil {
		return ""
	}
	return e.Error.Code
}

// ask sends a request; the error is the connection's.
func (p *process) ask(ctx context.Context, method, path string, body any, headers ...string) (answer, error) {
	a, err := harness.Ask(ctx, p.client, method, p.url+path, p.site.key, body, headers...)
	return answer{a.Status, a.Header, a.Body}, err
}

// call sends a request that has to be answered.
func (p *process) call(method, path string, body any, headers ...string) answer {
	p.t.Helper()
	a, err := p.ask(context.Background(), method, path, body, headers...)
	if err != nil {
		p.alive()
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// ok sends a request that has to succeed and decodes the answer.
func (p *process) ok(into any, method, path string, body any, headers ...string) answer {
	p.t.Helper()
	a := p.call(method, path, body, headers...)
	if a.status != 200 {
		p.t.Fatalf("%s %s: %s", method, path, a)
	}
	if into != nil {
		if err := json.Unmarshal(a.body, into); err != nil {
			p.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return a
}

// healthy wants the whole of the server to work: the deep check, a write and a
// query that finds it.
func (p *process) healthy() {
	p.t.Helper()
	p.alive()
	p.ok(nil, "POST", "/namespaces/healthy/documents",
		object{"documents": []object{{"id": "a", "text": "the walrus and the carpenter"}}})
	var found queried
	p.ok(&found, "POST", "/namespaces/healthy/query", object{"query": "walrus"})
	if len(found.Results) != 1 || found.Results[0].DocumentID != "a" || len(found.Degraded) != 0 {
		p.t.Fatalf("after all that a query finds %+v", found)
	}
	var health struct{ Status string }
	p.ok(&health, "GET", "/health/deep", nil)
	if health.Status != "ok" {
		p.t.Fatalf("deep health is %q", health.Status)
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

// eventually waits until a condition holds.
func eventually(t testing.TB, within time.Duration, what string, holds func() (bool, string)) {
	t.Helper()
	until := time.Now().Add(within)
	for {
		ok, seen := holds()
		if ok {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s: not within %s; %s", what, within, seen)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
