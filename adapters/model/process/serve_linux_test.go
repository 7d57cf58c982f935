package process_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/model/process"
	"github.com/mnemehq/mneme/core/port"
)

// service is the real server with a process for its embedder.
type service struct {
	t    testing.TB
	cmd  *exec.Cmd
	url  string
	key  string
	gone chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

func (s *service) logged() string { s.mu.Lock(); defer s.mu.Unlock(); return s.log.String() }

var readyAt = regexp.MustCompile(`server ready.* url=(http://[0-9.:]+)`)

// serveWith starts the server on a fresh folder; models is the block under models.
func serveWith(t testing.TB, models string) *service {
	t.Helper()
	mneme, dir := build(t, "cmd/mneme"), t.TempDir()
	config := filepath.Join(dir, "mneme.yaml")
	text := "models:\n" + models + "\nroles: {embed: mine, sparse: \"off\", rerank: \"off\"}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := func(a ...string) []string { return append(a, "--data", filepath.Join(dir, "data"), "--config", config) }
	creating := exec.Command(mneme, args("keys", "create", "--name", "test")...)
	var refused bytes.Buffer
	creating.Stderr = &refused
	key, err := creating.Output()
	if err != nil {
		t.Fatalf("keys create: %v\n%s", err, refused.String())
	}
	s := &service{
		t:    t,
		cmd:  exec.Command(mneme, args("serve", "--addr", "127.0.0.1:0")...),
		key:  strings.TrimSpace(string(key)),
		gone: make(chan struct{}),
	}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		for lines := bufio.NewReader(stderr); ; {
			line, err := lines.ReadString('\n')
			if m := readyAt.FindStringSubmatch(line); m != nil {
				ready <- m[1]
			}
			if !strings.Contains(line, "msg=call") {
				s.mu.Lock()
				s.log.WriteString(line)
				s.mu.Unlock()
			}
			if err != nil {
				break
			}
		}
		_ = s.cmd.Wait()
		close(ready)
		close(s.gone)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		<-s.gone
	})
	select {
	case s.url = <-ready:
	case <-time.After(2 * time.Minute):
	}
	if s.url == "" {
		t.Fatalf("the server is not ready\n%s", s.logged())
	}
	return s
}

type reply struct {
	status int
	after  string
	body   []byte
}

func (r reply) fault() string {
	var e struct {
		Error struct{ Code, Message string } `json:"error"`
	}
	_ = json.Unmarshal(r.body, &e)
	return e.Error.Code
}

func (s *service) post(path string, body any) reply {
	b, err := json.Marshal(body)
	if err != nil {
		s.t.Error(err)
	}
	req, err := http.NewRequest(http.MethodPost, s.url+path, bytes.NewReader(b))
	if err != nil {
		s.t.Error(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}
	}
	defer resp.Body.Close()
	b, _ = io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header.Get("Retry-After"), b}
}

var backendPID = regexp.MustCompile(`backend started.* pid=(\d+)`)

var starts = regexp.MustCompile(`backend started.*`)

func (s *service) backend() int {
	all := backendPID.FindAllStringSubmatch(s.logged(), -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1][1])
	return n
}

func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(b), ") ")
	return err == nil && !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

// descendants lists what a process started, and what that started.
func descendants(pid int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range tasks {
		b, _ := os.ReadFile(file)
		for _, f := range strings.Fields(string(b)) {
			n, _ := strconv.Atoi(f)
			all = append(append(all, n), descendants(n)...)
		}
	}
	return all
}

// long skips a test whose programs are built without the race detector anyway.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED because of -short: the assembled server is another process")
	}
}

// story writes and queries, kills the backend under load, and then the server.
func story(t *testing.T, s *service) {
	documents := map[string]string{
		"lease": "The lease runs until May 2027. Notice must be given three months ahead.",
		"wifi":  "An overloaded access point resets connections on the office network.",
		"bread": "Bread rises because yeast turns sugar into gas.",
	}
	write := func(prefix string) reply {
		var docs []map[string]any
		for _, id := range slices.Sorted(maps.Keys(documents)) {
			docs = append(docs, map[string]any{"id": prefix + id, "text": documents[id] + " " + prefix})
		}
		return s.post("/namespaces/notes/documents", map[string]any{"documents": docs})
	}
	if r := s.post("/namespaces", map[string]any{"name": "notes"}); r.status/100 != 2 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := write(""); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	type answer struct {
		Results []struct {
			DocumentID string `json:"document_id"`
		}
		Degraded []struct{ Part, Code string }
	}
	// No two queries are alike, so that none is answered from what was kept of another.
	var turn atomic.Int64
	query := func(strict bool) (reply, answer) {
		r := s.post("/namespaces/notes/query",
			map[string]any{"query": fmt.Sprintf("the lease runs until, and notice is given? (%d)", turn.Add(1)),
				"top_k": 1, "strict": strict})
		var a answer
		_ = json.Unmarshal(r.body, &a)
		return r, a
	}
	if r, a := query(true); r.status != 200 || len(a.Results) != 1 ||
		!strings.HasSuffix(a.Results[0].DocumentID, "lease") || len(a.Degraded) != 0 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	first := s.backend()
	if !running(first) {
		t.Fatalf("no backend in the log\n%s", s.logged())
	}
	stop := make(chan struct{})
	var good, refused, degraded, writes atomic.Int64
	var slowest atomic.Int64
	var wg sync.WaitGroup
	load := func(call func() (ok bool)) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				ok := call()
				for took := int64(time.Since(began)); ; {
					if old := slowest.Load(); took <= old || slowest.CompareAndSwap(old, took) {
						break
					}
				}
				if pause := 5 * time.Millisecond; ok {
					time.Sleep(pause)
				} else { // much less than it is told to wait
					time.Sleep(10 * pause)
				}
			}
		})
	}
	for _, strict := range []bool{true, true, false, false} {
		load(func() bool {
			r, a := query(strict)
			switch {
			case r.status == 200 && (len(a.Results) != 1 || !strings.HasSuffix(a.Results[0].DocumentID, "lease")):
				t.Errorf("a wrong answer: %s", r.body)
			case r.status == 200 && len(a.Degraded) == 0:
				good.Add(1)
			case r.status == 200 && !strict:
				degraded.Add(1)
			case r.status == 503 && strict && r.after != "" && r.fault() == "unavailable":
				refused.Add(1)
			default:
				t.Errorf("strict %v: %d, Retry-After %q: %s", strict, r.status, r.after, r.body)
			}
			return r.status == 200 && len(a.Degraded) == 0
		})
	}
	load(func() bool {
		r := write(fmt.Sprintf("more-%d-", turn.Add(1)))
		if r.status == 200 {
			writes.Add(1)
		} else if r.status != 503 || r.after == "" {
			t.Errorf("write: %d, Retry-After %q: %s", r.status, r.after, r.body)
		}
		return r.status == 200
	})
	var longest time.Duration
	for range 3 {
		time.Sleep(500 * time.Millisecond)
		killed := s.backend()
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		await(t, time.Minute, "the backend serves again", func() bool { n := s.backend(); return n != killed && running(n) })
		before := good.Load()
		await(t, time.Minute, "a whole answer", func() bool { return good.Load() > before })
		longest = max(longest, time.Since(began))
	}
	close(stop)
	wg.Wait()
	for _, line := range starts.FindAllString(s.logged(), -1) {
		t.Log(line)
	}
	t.Logf("RECOVERY of the server after kill -9 of its backend under load: %s at most of 3; %d whole answers, %d "+
		"degraded as asked, %d refused with 503 and Retry-After, %d writes, slowest call %s",
		longest.Round(time.Millisecond), good.Load(), degraded.Load(), refused.Load(), writes.Load(),
		time.Duration(slowest.Load()).Round(time.Millisecond))
	if refused.Load() == 0 || degraded.Load() == 0 {
		t.Error("no query met the dead backend")
	}
	if time.Duration(slowest.Load()) > time.Minute {
		t.Error("a call hung")
	}
	family := append(descendants(s.cmd.Process.Pid), s.backend())
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.gone
	for _, pid := range family {
		await(t, time.Minute, fmt.Sprintf("process %d ends with the server", pid), func() bool { return !running(pid) })
	}
}

func await(t testing.TB, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", d, what)
		}
	}
}

// TestServeGo: three lines turn the Go example on in the real server.
func TestServeGo(t *testing.T) {
	long(t)
	backend := build(t, "plugins/examples/go")
	story(t, serveWith(t, fmt.Sprintf("  mine: {process: {command: [%q], sha256: %s}}", backend, sumOf(t, backend))))
}

// TestServePython: the same of the Python example with the default model.
func TestServePython(t *testing.T) {
	long(t)
	c := pythonConfig(t)
	python, err := filepath.EvalSymlinks(c.Command[0])
	if err != nil {
		t.Fatal(err)
	}
	story(t, serveWith(t, fmt.Sprintf(`  mine:
    process:
      command: [%q, %q, %q]
      sha256: %s
      files: [{path: %q, sha256: %s}]
      mtls: off
      identity: declared`, c.Command[0], c.Command[1], c.Command[2], sumOf(t, python), c.Command[1], sumOf(t, c.Command[1]))))
}

// TestPythonRecovers prints how long a backend that loads 130 MB of weights is away.
func TestPythonRecovers(t *testing.T) {
	var log lockedBuffer
	m, err := process.Open(t.Context(), "e5", pythonConfig(t), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 2 {
		all := backendPID.FindAllStringSubmatch(log.String(), -1)
		pid, err := strconv.Atoi(all[len(all)-1][1])
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		await(t, time.Second, "the end is noticed", func() bool { return !running(pid) })
		await(t, time.Minute, "it answers again", func() bool {
			_, err := m.(port.Embedder).Embed(t.Context(), port.Query, []string{"a"})
			return err == nil && len(backendPID.FindAllString(log.String(), -1)) > len(all)
		})
		t.Logf("RECOVERY of the Python backend after kill -9, nothing else called: %s", time.Since(began).Round(time.Millisecond))
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// TestServeRefuses: a server whose backend is not what was approved does not start,
// and says why.
func TestServeRefuses(t *testing.T) {
	long(t)
	mneme, backend, dir := build(t, "cmd/mneme"), build(t, "plugins/examples/go"), t.TempDir()
	config := filepath.Join(dir, "mneme.yaml")
	for name, c := range map[string]struct{ model, want string }{
		"wrong sum":  {fmt.Sprintf("{command: [%q], sha256: %064d}", backend, 1), "not the file that was approved"},
		"no sum":     {fmt.Sprintf("{command: [%q]}", backend), "sha256"},
		"no program": {fmt.Sprintf("{command: [%q], unverified: true}", backend+"x"), "no such file"},
		"no backend": {`{command: [/bin/false], unverified: true}`, "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(config,
				[]byte("models:\n  mine: {process: "+c.model+"}\nroles: {embed: mine, sparse: \"off\", rerank: \"off\"}\n"),
				0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(mneme, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"),
				"--config", config).CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, want %q:\n%s", err, c.want, out)
			}
		})
	}
}

// TestConfig: what cannot work is told by its key.
func TestConfig(t *testing.T) {
	good := process.Default()
	good.Command, good.Unverified = []string{"./x"}, true
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*process.Config){
		"command":         func(c *process.Config) { c.Command = nil },
		"sha256":          func(c *process.Config) { c.Unverified = false },
		"64 hex":          func(c *process.Config) { c.SHA256 = "ab" },
		"files":           func(c *process.Config) { c.Files = []process.File{{Path: "a"}} },
		"mtls":            func(c *process.Config) { c.MTLS = "on" },
		"identity":        func(c *process.Config) { c.Identity = "" },
		"timeout":         func(c *process.Config) { c.Timeout = 0 },
		"start_timeout":   func(c *process.Config) { c.StartTimeout = -1 },
		"health_interval": func(c *process.Config) { c.HealthInterval = 24 * time.Hour },
		"max_concurrency": func(c *process.Config) { c.MaxConcurrency = 0 },
		"batch_texts":     func(c *process.Config) { c.BatchTexts = 5000 },
		"max_restarts":    func(c *process.Config) { c.MaxRestarts = -1 },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
