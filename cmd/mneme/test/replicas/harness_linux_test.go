package replicas_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/ident"
)

var (
	program  *harness.Program
	database *postgrestest.Server // of the tests that do not restart it
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	program = harness.New()
	defer program.Remove()
	database = postgrestest.Start()
	defer database.Stop()
	return m.Run()
}

// rounds is how often a loop runs.
func rounds(t testing.TB, usual int) int {
	t.Helper()
	if s := os.Getenv("MNEME_FAULT_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("MNEME_FAULT_ROUNDS=%s: want a count", s)
		}
		return n
	}
	return usual
}

// tenant is one of two organizations that name everything alike.
type tenant struct {
	org    string
	mark   string // a word in every text of this tenant and in none of the other's
	key    string // a service key
	memory string // an integration's key with all rights
}

// fleet is some replicas over one set of backends.
type fleet struct {
	t        testing.TB
	program  string
	set      set
	postgres *postgrestest.Server
	again    func()  // stops the database server that up has started
	dsn      string  // of the store; "" with SQLite
	index    outside // nil: all of it is in the processes
	config   string
	key      string // a service key of the first tenant
	admin    string
	tenants  []*tenant
	replicas []*replica
	turn     atomic.Int64
	calls    atomic.Int64
	kills    atomic.Int64
	refused  atomic.Int64 // 503 with Retry-After
	worst    atomic.Int64 // ns from a call's first attempt to its success
}

// replica is one place where a server runs, and is started again.
type replica struct {
	f   *fleet
	dir string

	mu     sync.Mutex
	cmd    *exec.Cmd
	ended  chan struct{}
	url    string // "": not up
	starts int
	log    bytes.Buffer
}

// start starts three replicas together on empty backends: PostgreSQL with the
// index in the processes, without a sparse model, which most tests do without.
func start(t testing.TB, limits string) *fleet {
	t.Helper()
	f := &fleet{t: t, set: set{name: "postgres+embedded", replicas: 3}, postgres: database}
	f.begin("roles: {sparse: off, rerank: off}\n" + "limits: {" + limits + "}\n")
	return f
}

// begin starts the replicas of the fleet's set with further settings.
func (f *fleet) begin(settings string) {
	f.t.Helper()
	t := f.t
	f.program = program.Path(t)
	f.config = filepath.Join(t.TempDir(), "mneme.yaml")
	if err := os.WriteFile(f.config, []byte(f.backends()+settings), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range f.set.replicas {
		f.replicas = append(f.replicas, &replica{f: f, dir: filepath.Join(t.TempDir(), strconv.Itoa(i))})
	}
	t.Cleanup(func() {
		for i, r := range f.replicas {
			r.kill()
			if t.Failed() {
				t.Logf("replica %d:\n%s", i, r.tail())
			}
		}
	})
	var all sync.WaitGroup
	for _, r := range f.replicas {
		all.Go(r.start)
	}
	all.Wait()
	for _, r := range f.replicas {
		if r.at() == "" {
			t.Fatal("a replica did not start")
		}
	}
	// The first key is made beside the servers, the others over HTTP.
	f.admin = f.mneme("keys", "create", "--type", "admin", "--all-organizations")
	f.key = f.issue(ident.DefaultOrg, object{"name": "test"})
}

// issue makes a key of an organization.
func (f *fleet) issue(org string, key object) string {
	f.t.Helper()
	secret, _ := f.ok(f.admin, "POST", "/admin/v1/organizations/"+org+"/keys", key).json["secret"].(string)
	return secret
}

// mneme runs a command on the store, beside the replicas.
func (f *fleet) mneme(args ...string) string {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	data := f.replicas[0].dir // SQLite is in there
	if f.dsn != "" {
		data = f.t.TempDir()
	}
	cmd := exec.CommandContext(ctx, f.program, append(args, "--config", f.config, "--data", data)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("mneme %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

var readyLine = regexp.MustCompile(`server ready.* url=(http://[0-9.:]+)`)

// start starts the process and waits until it serves.
func (r *replica) start() {
	cmd := exec.Command(r.f.program, "serve", "--addr", "127.0.0.1:0", "--config", r.f.config, "--data", r.dir)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.f.t.Errorf("start: %v", err)
		return
	}
	ready, ended := make(chan string, 1), make(chan struct{})
	r.mu.Lock()
	r.cmd, r.ended = cmd, ended
	r.starts++
	r.mu.Unlock()
	go func() {
		defer close(ended)
		lines := bufio.NewReader(stderr)
		for {
			line, err := lines.ReadString('\n')
			if m := readyLine.FindStringSubmatch(line); m != nil {
				ready <- m[1]
			}
			if !strings.Contains(line, "msg=call") && !strings.Contains(line, `msg="call failed"`) &&
				!strings.Contains(line, `msg="retriever failed"`) {
				r.mu.Lock()
				r.log.WriteString(line)
				r.mu.Unlock()
			}
			if err != nil {
				break
			}
		}
		_ = cmd.Wait() // killed, mostly
	}()
	select {
	case url := <-ready:
		r.mu.Lock()
		r.url = url
		r.mu.Unlock()
	case <-ended:
		r.f.t.Errorf("a replica ended at its start\n%s", r.tail())
	case <-time.After(2 * time.Minute):
		r.f.t.Errorf("a replica is not ready after two minutes\n%s", r.tail())
	}
}

func (r *replica) at() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.url
}

func (r *replica) tail() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.log.Bytes()
	return string(b[max(0, len(b)-6000):])
}

// kill ends the process as a power cut does.
func (r *replica) kill() {
	r.mu.Lock()
	cmd, ended := r.cmd, r.ended
	r.url = ""
	r.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill() // it may have ended already
		<-ended
	}
}

type object map[string]any

// answer is what a call got.
type answer struct {
	status int
	header http.Header
	body   []byte
	json   object
}

var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// errDown is the error of a call to a replica that is not there.
var errDown = errors.New("the replica is not up")

// ask makes one call at a replica.
func (r *replica) ask(key, method, path string, body any, headers ...string) (answer, error) {
	url := r.at()
	if url == "" {
		return answer{}, errDown
	}
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, url+path, in)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	r.f.calls.Add(1)
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return answer{}, err
	}
	_ = json.Unmarshal(a.body, &a.json) // not every answer is an object
	return a, nil
}

// must is ask that wants success.
func (r *replica) must(key, method, path string, body any, headers ...string) answer {
	r.f.t.Helper()
	a, err := r.ask(key, method, path, body, headers...)
	if err != nil || a.status/100 != 2 {
		r.f.t.Errorf("%s %s: %d %s, %v", method, path, a.status, a.body, err)
	}
	return a
}

// patience is how long call repeats itself: long, but not once a test has failed.
func (f *fleet) patience() time.Duration {
	if f.t.Failed() {
		return 10 * time.Second
	}
	return 2 * time.Minute
}

// call asks the replicas in turn until one answers something else than 503,
// which is what a client with a load balancer does. Calls are safe to repeat.
func (f *fleet) call(key, method, path string, body any, headers ...string) answer {
	return f.repeat(func() *replica { return f.replicas[int(f.turn.Add(1))%len(f.replicas)] }, key, method, path, body,
		headers...)
}

// call is the fleet's at one replica alone.
func (r *replica) call(key, method, path string, body any) answer {
	return r.f.repeat(func() *replica { return r }, key, method, path, body)
}

func (f *fleet) repeat(next func() *replica, key, method, path string, body any, headers ...string) answer {
	began := time.Now()
	for {
		a, err := next().ask(key, method, path, body, headers...)
		switch {
		case err == nil && a.status != http.StatusServiceUnavailable && a.status != http.StatusGatewayTimeout:
			took := int64(time.Since(began))
			for worst := f.worst.Load(); took > worst && !f.worst.CompareAndSwap(worst, took); worst = f.worst.Load() {
			}
			return a
		case err == nil && a.status == http.StatusServiceUnavailable:
			if a.header.Get("Retry-After") == "" {
				f.t.Errorf("%s %s: 503 without Retry-After: %s", method, path, a.body)
			}
			f.refused.Add(1)
		}
		if time.Since(began) > f.patience() {
			f.t.Errorf("%s %s: no success in %v: %d %s, %v", method, path, time.Since(began), a.status, a.body, err)
			return a
		}
		time.Sleep(20*time.Millisecond + rand.N(30*time.Millisecond))
	}
}

// ok is call that wants success.
func (f *fleet) ok(key, method, path string, body any, headers ...string) answer {
	f.t.Helper()
	a := f.call(key, method, path, body, headers...)
	if a.status/100 != 2 {
		f.t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// killing kills a random replica every so often and starts it again, until done
// is called. Where a start takes long, so does the time between kills, or one
// process alone would hardly be there.
func (f *fleet) killing(every time.Duration) (done func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for pause := every; ; {
			select {
			case <-stop:
				return
			case <-time.After(pause/2 + rand.N(pause)):
			}
			r := f.replicas[rand.IntN(len(f.replicas))]
			r.kill()
			f.kills.Add(1)
			began := time.Now()
			r.start()
			pause = max(every, time.Since(began))
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
