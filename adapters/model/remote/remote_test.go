package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// serve starts a server of the test and a caller of it.
func serve(t *testing.T, h http.HandlerFunc, change func(*remote.Endpoint)) (*remote.Caller, *bytes.Buffer) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	e := remote.Endpoint{BaseURL: s.URL + "/base/", Key: "top-secret",
		Calls: remote.Calls{Timeout: 20 * time.Second, Retries: 2, Client: remote.DefaultClient()}}
	if change != nil {
		change(&e)
	}
	log := &bytes.Buffer{}
	c, err := remote.Open("m", port.TaskEmbed, e, slog.New(slog.NewTextHandler(&locked{w: log}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, log
}

// locked makes a log's buffer safe for several calls.
type locked struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func post(ctx context.Context, c *remote.Caller, as port.TextKind, name string) error {
	ctx, cancel := c.Begin(ctx, as)
	defer cancel()
	var out map[string]any
	return c.Fault(ctx, c.Post(ctx, "/"+name, map[string]string{"name": name}, &out))
}

// queued waits until a call waits for a place.
func queued(c *remote.Caller, as port.TextKind) {
	for c.Waiting(as) == 0 {
		time.Sleep(time.Millisecond)
	}
}

// Waiting queries go before waiting passages, and one place is kept for them.
func TestQueriesFirst(t *testing.T) {
	under, release := make(chan string, 10), make(chan struct{})
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		under <- r.URL.Path
		<-release
		fmt.Fprint(w, "{}")
	}, func(e *remote.Endpoint) { e.Client.Concurrency = 2 })
	var wg sync.WaitGroup
	call := func(as port.TextKind, name string) {
		wg.Go(func() {
			if err := post(t.Context(), c, as, name); err != nil {
				t.Error(err)
			}
		})
	}
	call(port.Passage, "p1")
	<-under
	call(port.Passage, "p2") // waits: the second place is not for passages
	queued(c, port.Passage)
	call(port.Query, "q1")
	if got := <-under; got != "/base/q1" {
		t.Fatalf("%s came before the query", got)
	}
	call(port.Query, "q2") // waits behind nothing but the places
	queued(c, port.Query)
	release <- struct{}{} // one of the two under way ends
	if got := <-under; got != "/base/q2" {
		t.Errorf("%s came before a waiting query", got)
	}
	close(release)
	wg.Wait()
}

// A caller who leaves the queue takes no place with it.
func TestLeaveQueue(t *testing.T) {
	release := make(chan struct{})
	under := make(chan struct{}, 10)
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { under <- struct{}{}; <-release; fmt.Fprint(w, "{}") },
		func(e *remote.Endpoint) { e.Client.Concurrency = 1 })
	first := make(chan error, 1)
	go func() { first <- post(t.Context(), c, port.Passage, "first") }()
	<-under
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := post(ctx, c, port.Query, "second"); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("got %v, want timeout", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := post(t.Context(), c, port.Query, "third"); err != nil {
		t.Errorf("after one left: %v", err)
	}
}

// What a server asks one call to wait holds for all: those that cannot are
// told at once, without asking, those that can wait.
func TestPause(t *testing.T) {
	var mu sync.Mutex
	var at []time.Time // of the refused call, and of those that are to wait
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/base/hurried" {
			fmt.Fprint(w, "{}")
			return
		}
		if at = append(at, time.Now()); len(at) == 1 {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, "{}")
	}, nil)
	done := make(chan error, 1)
	go func() { done <- post(t.Context(), c, port.Passage, "first") }()
	for asked := false; !asked; time.Sleep(time.Millisecond) {
		mu.Lock()
		asked = len(at) == 1
		mu.Unlock()
	}
	var hurried error
	for hurried == nil { // until the refusal has arrived
		short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		hurried = post(short, c, port.Query, "hurried")
		cancel()
	}
	if fault.CodeOf(hurried) != fault.Unavailable || fault.From(hurried).RetryAfter <= 0 {
		t.Errorf("who cannot wait: %v", hurried)
	}
	if err := errors.Join(post(t.Context(), c, port.Query, "patient"), <-done); err != nil {
		t.Error(err)
	}
	if len(at) != 3 {
		t.Fatalf("%d requests, want 3", len(at))
	}
	for _, later := range at[1:] {
		if d := later.Sub(at[0]); d < 1900*time.Millisecond {
			t.Errorf("a request after %s", d)
		}
	}
}

// Keys and headers reach the server, and no log and no error.
func TestSecrets(t *testing.T) {
	c, log := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer top-secret" || r.Header.Get("X-Tenant") != "hidden-tenant" ||
			r.Header.Get("User-Agent") != "mneme" {
			t.Errorf("headers %v", r.Header)
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"error":{"message":"key %s of %s may not%s"}}`, "top-secret", "hidden-tenant",
			strings.Repeat(" ever", 200))
	}, func(e *remote.Endpoint) {
		e.Client.Headers = map[string]registry.Secret{"X-Tenant": "hidden-tenant"}
	})
	err := post(t.Context(), c, port.Query, "x")
	if fault.CodeOf(err) != fault.Upstream {
		t.Errorf("got %v, want upstream_error", err)
	}
	var status *remote.StatusError
	if !errors.As(err, &status) || status.Status != 403 || !strings.Contains(status.Message, registry.Redacted) ||
		len(status.Message) > 310 {
		t.Errorf("the cause is %v", errors.Unwrap(err))
	}
	for text := err; text != nil; text = errors.Unwrap(text) {
		if s := fmt.Sprintf("%v%+v", text, text); strings.Contains(s, "top-secret") || strings.Contains(s, "hidden-tenant") {
			t.Errorf("an error tells %s", s)
		}
	}
	if s := log.String(); strings.Contains(s, "top-secret") || strings.Contains(s, "hidden-tenant") ||
		!strings.Contains(s, "remote model key refused") {
		t.Errorf("the log: %s", s)
	}
	before := log.Len()
	_ = post(t.Context(), c, port.Query, "x") // the same refusal
	if strings.Contains(log.String()[before:], "remote model key refused") {
		t.Error("the same refusal is logged again at once")
	}
}

// Calls go through the configured proxy.
func TestProxy(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		if user, _, _ := parseProxyAuth(r); user != "someone" {
			t.Errorf("proxy user %q", user)
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("someone", "pass")
	c, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called past the proxy") }, func(e *remote.Endpoint) {
		e.BaseURL, e.Client.Proxy = "http://models.example.org/v1", registry.Secret(u.String())
	})
	if err := post(t.Context(), c, port.Query, "x"); err != nil || asked != "http://models.example.org/v1/x" {
		t.Errorf("%v, asked for %q", err, asked)
	}
}

func parseProxyAuth(r *http.Request) (user, password string, ok bool) {
	r.Header.Set("Authorization", r.Header.Get("Proxy-Authorization"))
	return r.BasicAuth()
}

func TestEndpoint(t *testing.T) {
	for name, change := range map[string]func(*remote.Endpoint){
		"base_url":                func(e *remote.Endpoint) { e.BaseURL = "ftp://x" },
		"timeout":                 func(e *remote.Endpoint) { e.Timeout = time.Hour },
		"retries":                 func(e *remote.Endpoint) { e.Retries = 11 },
		"api_key":                 func(e *remote.Endpoint) { e.Key = "two\nlines" },
		"client.concurrency":      func(e *remote.Endpoint) { e.Client.Concurrency = 0 },
		"client.breaker_failures": func(e *remote.Endpoint) { e.Client.BreakerFailures = 0 },
		"client.breaker_wait":     func(e *remote.Endpoint) { e.Client.BreakerWait = 0 },
		"client.max_response_mb":  func(e *remote.Endpoint) { e.Client.MaxResponseMB = 0 },
		"client.proxy":            func(e *remote.Endpoint) { e.Client.Proxy = "proxy.example.org" },
		"client.headers.a b":      func(e *remote.Endpoint) { e.Client.Headers = map[string]registry.Secret{"a b": "x"} },
		"client.headers.host":     func(e *remote.Endpoint) { e.Client.Headers = map[string]registry.Secret{"host": "x"} },
		"client.headers.X":        func(e *remote.Endpoint) { e.Client.Headers = map[string]registry.Secret{"X": "a\r\nb"} },
		"client.headers.Content-Type": func(e *remote.Endpoint) {
			e.Client.Headers = map[string]registry.Secret{"Content-Type": "x"}
		},
	} {
		e := remote.Endpoint{BaseURL: "https://models.example.org/v1", Key: "k",
			Calls: remote.Calls{Timeout: time.Second, Client: remote.DefaultClient()}}
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&e)
		if err := e.Validate(); err == nil || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := remote.Endpoint{BaseURL: "https://models.example.org",
		Calls: remote.Calls{Timeout: time.Second, Client: remote.DefaultClient()}}
	for _, file := range []string{"no-such-file", "remote_test.go"} {
		e.Client.CAFile = file
		if _, err := remote.Open("m", port.TaskEmbed, e, nil); err == nil || !strings.Contains(err.Error(), "ca_file") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// The identity is what changes vectors, and nothing else.
func TestIdentity(t *testing.T) {
	m := remote.Model{
		ID:         "mine",
		Name:       "text-embedding-3-small",
		Task:       port.TaskEmbed,
		Revision:   "1",
		Dimensions: 1536,
		Window:     8192,
	}
	digest := m.Info().Digest
	// namespaces store it: it must never change for the same declaration
	if digest != "sha256:0bfdc6388bd3977bfbe4ca28656e64b9b34f42159cc7020b2d236b5833fec62b" {
		t.Errorf("digest %q", digest)
	}
	for name, change := range map[string]func(*remote.Model){
		"model":      func(m *remote.Model) { m.Name = "text-embedding-3-large" },
		"revision":   func(m *remote.Model) { m.Revision = "2" },
		"dimensions": func(m *remote.Model) { m.Dimensions = 512 },
		"query":      func(m *remote.Model) { m.Query = "query: " }, "passage": func(m *remote.Model) { m.Passage = "query: " },
	} {
		other := m
		if change(&other); other.Info().Digest == digest {
			t.Errorf("%s does not change the digest", name)
		}
	}
	for name, change := range map[string]func(*remote.Model){
		"id": func(m *remote.Model) { m.ID = "yours" }, "window": func(m *remote.Model) { m.Window = 100 },
		"licence": func(m *remote.Model) { m.Licence = "MIT" },
	} {
		other := m
		if change(&other); other.Info().Digest != digest {
			t.Errorf("%s changes the digest", name)
		}
	}
}

// A cut text has at most the tokens asked for, ends at a character, and is the
// text's beginning.
func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "The harbour master keeps the keys.", "港の倉庫の鍵", "👩‍🔬🏴", "x = 3.14159;", "a\x00b",
		strings.Repeat("ab ", 100)} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, text string, tokens int) {
		if tokens < 0 || !strings.HasPrefix(text, strings.ToValidUTF8(text, "")) {
			t.Skip()
		}
		got, cut := remote.Cut(text, tokens)
		if !strings.HasPrefix(text, got) || cut != (got != text) || cut && remote.Estimate(got) > tokens ||
			remote.Estimate(text) > max(1, len(text)) {
			t.Errorf("%q cut at %d: %q, %t, %d tokens", text, tokens, got, cut, remote.Estimate(got))
		}
	})
}

// Whatever a server sends, a list of vectors is decoded or refused, and what is
// decoded has a place for each text.
func FuzzList(f *testing.F) {
	for _, s := range []string{`{"data":[{"index":0,"embedding":[1,-2.5e-3]}]}`,
		`{"data":[{"index":0,"embedding":"AACAPwAAAEA="}],"usage":{"total_tokens":3}}`,
		`{"data":[{"index":1,"embedding":[]}]}`, `{"data":[{"index":0,"embedding":"\/w=="}]}`,
		`{"data":[{"index":0,"embedding":[1e99]}]}`, `{"data":[{"index":0,"embedding":[nan]}]}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var list remote.List
		if json.Unmarshal(body, &list) != nil {
			return
		}
		n := len(list.Data)
		vectors, _, err := list.Ordered(n)
		if err != nil {
			return
		}
		for i, v := range vectors {
			if v == nil {
				t.Errorf("%q: no vector for text %d of %d", body, i, n)
			}
		}
	})
}

// Vector reads what encoding/json reads, to the bit.
func FuzzVector(f *testing.F) {
	for _, s := range []string{"[]", "[1,2]", "[ -0.010071029 ,\n1e-45, 3.5E+8 ]", "[null]", "[[1]]", `["1"]`, "[true]",
		"null", "{}", "1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var v remote.Vector
		got := json.Unmarshal(body, &v)
		// base64, which it reads otherwise, and null, which it passes over
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte(`"`)) || bytes.Contains(body, []byte("null")) {
			return
		}
		var want []float32
		if err := json.Unmarshal(body, &want); (err == nil) != (got == nil) || err == nil && !slices.Equal(want, v) {
			t.Errorf("%q: %v, %v; encoding/json %v, %v", body, v, got, want, err)
		}
	})
}

// A server is told the trace that a call belongs to.
func TestTraces(t *testing.T) {
	var told []string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		told = append(told, r.Header.Get("Traceparent"))
		_, _ = w.Write([]byte("{}"))
	}, nil)
	ctx, call := trace.NewTracerProvider().Tracer("test").Start(t.Context(), "call")
	defer call.End()
	for _, ctx := range []context.Context{ctx, t.Context()} {
		if err := post(ctx, c, port.Query, "x"); err != nil {
			t.Fatal(err)
		}
	}
	is := call.SpanContext()
	want := "00-" + is.TraceID().String() + "-" + is.SpanID().String() + "-01"
	if len(told) != 2 || told[0] != want || told[1] != "" {
		t.Errorf("%q, want %s and nothing", told, want)
	}
}
