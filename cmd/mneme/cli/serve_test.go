package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// running is a server process.
type running struct {
	*harness.Server
	t *testing.T
}

// start runs serve and waits until it is ready.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	return &running{(&harness.Site{T: t}).Serve(args...), t}
}

var writeInFlight = regexp.MustCompile(`(?m)^mneme_operations_in_flight\{[^}]*documents\.write[^}]*\} 1$`)

var adminURL = regexp.MustCompile(`server ready.* admin=(\S+)`)

// admin is where the server answers health and metrics alone.
func (r *running) admin() string {
	r.t.Helper()
	m := adminURL.FindStringSubmatch(r.Logged())
	if m == nil {
		r.t.Fatalf("the log names no admin address:\n%s", r.Logged())
	}
	return m[1]
}

// awaitCall waits until the server, whose metrics are at url, is at work on a write.
func (r *running) awaitCall(url string) {
	r.t.Helper()
	harness.Eventually(r.t, "the call reaches the server", func() bool {
		_, body := call(r.t, "GET", url+"/metrics", "", "")
		return writeInFlight.MatchString(body)
	})
}

// call asks the server and gives status and body.
func call(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	var send any
	if body != "" {
		send = body
	}
	a := harness.Client{T: t, At: url, Key: key, HTTP: http.DefaultClient}.Call(method, "", send)
	return a.Status, string(a.Body)
}

func newKey(t *testing.T, data string, args ...string) string {
	t.Helper()
	out := succeed(t, append([]string{"keys", "create", "--data", data}, args...)...).Stdout
	if !regexp.MustCompile(`^sk-service-[A-Za-z0-9]{43}\n$`).MatchString(out) {
		t.Fatalf("keys create prints %q, not a key alone", out)
	}
	return strings.TrimSpace(out)
}

func TestServeWriteQueryRestart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data)
	key := newKey(t, data)
	if status, body := call(t, "POST", s.URL+"/namespaces/notes/documents", key,
		`{"documents":[{"id":"lease","text":"The lease runs until May 2027. Notice must be given three months `+
			`ahead."},{"id":"wifi","text":"The access point on the second floor is overloaded."}]}`); status != 200 {
		t.Fatalf("write: %d %s", status, body)
	}
	query := func(url string) string {
		status, body := call(t, "POST", url+"/namespaces/notes/query", key, `{"query":"when can we move out?","top_k":1}`)
		var out struct {
			Results []struct {
				DocumentID string `json:"document_id"`
			}
		}
		if err := json.Unmarshal([]byte(body), &out); status != 200 || err != nil || len(out.Results) != 1 {
			t.Fatalf("query: %d %s", status, body)
		}
		return out.Results[0].DocumentID
	}
	if got := query(s.URL); got != "lease" {
		t.Errorf("found %s, want lease", got)
	}
	if err := s.Stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(data, "server.json")); !os.IsNotExist(err) {
		t.Errorf("server.json is still there: %v", err)
	}
	again := start(t, "--data", data)
	if got := query(again.URL); got != "lease" {
		t.Errorf("after a restart found %s, want lease", got)
	}
	again.Kill() // leaves server.json behind
	if r := mneme(t, "query", "notes", "when can we move out?", "--data", data, "--json"); r.Code != 0 ||
		!strings.Contains(r.Stdout, `"document_id": "lease"`) {
		t.Errorf("query without a server after a kill: %d %s%s", r.Code, r.Stdout, r.Stderr)
	}
}

func TestKeysBesideARunningServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data, "--config", keywordOnly(t))
	ask := func(key string) int {
		status, _ := call(t, "GET", s.URL+"/namespaces", key, "")
		return status
	}
	key := newKey(t, data, "--name", "laptop", "--expires", "1h")
	if got := ask(key); got != 200 {
		t.Errorf("a new key answers %d", got)
	}
	var list struct {
		Keys []struct {
			ID, Name, Kind, State string
			LastFour              string `json:"last_four"`
			ExpiresAt             string `json:"expires_at"`
		}
	}
	if err := json.Unmarshal([]byte(succeed(t, "keys", "list", "--data", data, "--json").Stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Keys) != 1 || list.Keys[0].Name != "laptop" || list.Keys[0].Kind != "service" || list.Keys[0].State != "live" ||
		list.Keys[0].LastFour != key[len(key)-4:] || list.Keys[0].ExpiresAt == "" {
		t.Errorf("list is %+v", list)
	}
	succeed(t, "keys", "revoke", list.Keys[0].ID, "--data", data)
	harness.Eventually(t, "a revoked key is refused", func() bool { return ask(key) == 401 })
	if out := succeed(t, "keys", "list", "--data", data).Stdout; !strings.Contains(out, "revoked") || strings.Contains(out, key) {
		t.Errorf("list says\n%s", out)
	}

	limited := newKey(t, data, "--namespace", "mine", "--read-only")
	if status, _ := call(t, "POST", s.URL+"/namespaces/other/query", limited, `{"query":"x"}`); status != 403 {
		t.Errorf("a limited key on another namespace answers %d, want 403", status)
	}
	if status, _ := call(t, "POST", s.URL+"/namespaces/mine/documents", limited,
		`{"documents":[{"id":"a","text":"b"}]}`); status != 403 {
		t.Errorf("a read-only key may write: %d", status)
	}

	if r := mneme(t, "keys", "create", "--data", data, "--org", "acme"); r.Code != 1 ||
		!strings.Contains(r.Stderr, "acme") || r.Stdout != "" {
		t.Errorf("unknown organization: %+v", r)
	}
	succeed(t, "orgs", "create", "acme", "--data", data)
	acme := newKey(t, data, "--org", "acme")
	if got := ask(acme); got != 200 {
		t.Errorf("a key of a new organization answers %d", got)
	}
	succeed(t, "orgs", "suspend", "acme", "--data", data)
	harness.Eventually(t, "a key of a suspended organization is refused", func() bool { return ask(acme) == 403 })
	succeed(t, "orgs", "resume", "acme", "--data", data)
	harness.Eventually(t, "a key of a resumed organization is let through", func() bool { return ask(acme) == 200 })
	if r := mneme(t, "keys", "revoke", "key_none", "--data", data); r.Code != 1 {
		t.Errorf("revoking an unknown key: %+v", r)
	}
}

// keywordOnly is a configuration without a model, for tests that need none.
func keywordOnly(t *testing.T) string {
	t.Helper()
	return configured(t, "roles: { embed: off }\n")
}

// configured is a file with that configuration.
func configured(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mneme.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The second address serves health and metrics alone, also when the first one has no
// connection left.
func TestAdminAddress(t *testing.T) {
	const text = "roles: { embed: off }\nserver: {max_connections: 1, admin_addr: \"127.0.0.1:0\"}\n"
	s := start(t, "--data", filepath.Join(t.TempDir(), "data"), "--config", configured(t, text))
	admin := s.admin()
	if status, _ := call(t, "GET", s.URL+"/metrics", "", ""); status != 404 {
		t.Errorf("the first address serves metrics: %d", status)
	}
	http.DefaultClient.CloseIdleConnections()
	held, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := io.WriteString(held, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Read(make([]byte, 1)); err != nil { // its only connection is ours
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/health": 200, "/health/deep": 200, "/metrics": 200, "/namespaces": 404, "/docs": 404,
		"/api/v1/status": 404} {
		if status, body := call(t, "GET", admin+path, "", ""); status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if strings.Contains(s.Logged(), "clear text reachable") {
		t.Errorf("a server for this machine alone warns:\n%s", s.Logged())
	}
}

// A server has threads of Go beside those on which its models compute, so that it hears of
// new calls while they do.
func TestThreadsBesideModels(t *testing.T) {
	for processors, want := range map[string]string{"1": "2", "2": "3", "4": "6"} {
		site := &harness.Site{T: t, Data: filepath.Join(t.TempDir(), "data"), Config: keywordOnly(t),
			Env: []string{"GOMAXPROCS=" + processors}}
		s := site.Serve()
		_, body := call(t, "GET", s.URL+"/metrics", "", "")
		if !strings.Contains(body, "\ngo_sched_gomaxprocs_threads "+want+"\n") {
			t.Errorf("on %s processors there are not %s threads:\n%s", processors, want, body)
		}
		s.Kill()
	}
}

// A hangup makes the server read its configuration again, and never ends it.
func TestReload(t *testing.T) {
	const keyword = "roles: { embed: off }\n"
	file := configured(t, keyword)
	s := start(t, "--data", filepath.Join(t.TempDir(), "data"), "--config", file)
	reload := func(text, says string, times int) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Signal(t, syscall.SIGHUP)
		harness.EventuallySees(t, "the log has "+says, func() (bool, string) {
			return strings.Count(s.Logged(), says) >= times, s.Logged()
		})
	}
	ask := func(id string) {
		t.Helper()
		harness.Client{T: t, At: s.URL, HTTP: http.DefaultClient}.Call("GET", "/nothing", nil, "X-Request-Id", id).Is(404)
	}
	reload(keyword+"limits: {concurrency: 3}\nlog: {level: debug}\n", "restart_needed=[limits]", 1)
	reload("roles: { embed: nowhere }\n", "configuration not reloaded", 1)
	ask("loud")
	reload(keyword+"log: {level: warn}\n", "restart_needed=[]", 1)
	ask("quiet")
	reload(keyword, "restart_needed=[]", 2)
	ask("again")
	harness.Eventually(t, "the level is info again", func() bool { return strings.Contains(s.Logged(), "request_id=again") })
	if strings.Contains(s.Logged(), "request_id=quiet") {
		t.Error("the level warn did not take effect")
	}
	if !strings.Contains(s.Logged(), "request_id=loud") {
		t.Error("a configuration with problems took effect")
	}
}

// A server that others reach without encryption says so.
func TestClearTextIsSaid(t *testing.T) {
	for text, want := range map[string]bool{"": true, "server: {base_url: \"https://memory.example.org\"}\n": false} {
		s := start(t, "--data", filepath.Join(t.TempDir(), "data"), "--config",
			configured(t, "roles: { embed: off }\n"+text), "--addr", "0.0.0.0:0")
		if err := s.Stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if log := s.Logged(); strings.Contains(log, "clear text reachable") != want ||
			!strings.Contains(log, " addr=[::]:") && !strings.Contains(log, " addr=0.0.0.0:") {
			t.Errorf("with %q the log is\n%s", text, log)
		}
	}
}

func TestOneServerPerFolder(t *testing.T) {
	data, config := filepath.Join(t.TempDir(), "data"), keywordOnly(t)
	s := start(t, "--data", data, "--config", config)
	for _, addr := range []string{"127.0.0.1:0", strings.TrimPrefix(s.URL, "http://")} {
		r := mneme(t, "serve", "--data", data, "--config", config, "--addr", addr)
		if r.Code != 1 || !strings.Contains(r.Stderr, fmt.Sprintf("process %d", s.Cmd.Process.Pid)) ||
			!strings.Contains(r.Stderr, s.URL) {
			t.Errorf("a second server at %s: %+v", addr, r)
		}
	}
	other := mneme(t, "serve", "--data", filepath.Join(t.TempDir(), "other"), "--config", config, "--addr",
		strings.TrimPrefix(s.URL, "http://"))
	if other.Code != 1 || !strings.Contains(other.Stderr, "address already in use") || !strings.Contains(other.Stderr, "--addr") {
		t.Errorf("a taken address: %+v", other)
	}
	if status, _ := call(t, "GET", s.URL+"/health", "", ""); status != 200 {
		t.Errorf("the first server answers %d", status)
	}
}

// A request in flight when the signal comes is answered before the process ends.
func TestSignalLetsRequestsFinish(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data, "--config", configured(t, "server: {admin_addr: \"127.0.0.1:0\"}\n"))
	admin := s.admin()
	key := newKey(t, data)
	// The body's second half comes after the signal.
	first, second := `{"documents":[{"id":"late","text":"written while the`, ` server was ending"}]}`
	body, feed := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/namespaces/notes/documents", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	type answer struct {
		status int
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			answered <- answer{0, err}
			return
		}
		answered <- answer{res.StatusCode, res.Body.Close()}
	}()
	if _, err := io.WriteString(feed, first); err != nil {
		t.Fatal(err)
	}
	s.awaitCall(admin)
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the log says at once that the server stops", func() bool {
		return strings.Contains(s.Logged(), `"server stopping"`)
	})
	harness.Eventually(t, "new connections are refused after the signal", func() bool {
		_, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(s.URL + "/health")
		return err != nil
	})
	for path, want := range map[string]int{"/health": 503, "/health/deep": 503, "/metrics": 200} {
		if status, body := call(t, "GET", admin+path, "", ""); status != want {
			t.Errorf("%s while the server stops: %d %s", path, status, body)
		}
	}
	if _, err := io.WriteString(feed, second); err != nil {
		t.Fatal(err)
	}
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	if a := <-answered; a.err != nil || a.status != 200 {
		t.Errorf("the request in flight got %+v\n%s", a, s.Logged())
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if out := succeed(t, "query", "notes", "ending", "--data", data).Stdout; !strings.Contains(out, "late") {
		t.Errorf("the acknowledged document is not there:\n%s", out)
	}
}

// A second signal ends a server whose requests do not.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data, "--config", keywordOnly(t))
	body, feed := io.Pipe()
	defer feed.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/namespaces/notes/documents", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+newKey(t, data))
	go func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
	if _, err := io.WriteString(feed, "{"); err != nil {
		t.Fatal(err)
	}
	s.awaitCall(s.URL)
	if err := s.Cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	// Signals that come before the first has been taken count as one with it.
	harness.Eventually(t, "another signal ends the server", func() bool {
		_ = s.Cmd.Process.Signal(syscall.SIGINT) // it may have ended
		select {
		case <-s.Ended:
			return true
		default:
			return false
		}
	})
	if code := s.Cmd.ProcessState.ExitCode(); code == 0 {
		t.Error("a forced end answers success")
	}
}
