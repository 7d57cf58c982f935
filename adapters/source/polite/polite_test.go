package polite_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/outbound/outboundtest"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// clock goes on when somebody sleeps, and notes for how long.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func (c *clock) pauses() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.slept)
}

// open is a client that reaches a server, by a clock of its own.
func open(t *testing.T, h http.HandlerFunc, change ...func(*polite.Settings)) (*polite.Client, *httptest.Server, *clock) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	time := newClock()
	at, err := outbound.ParseNetwork(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := polite.Settings{Private: []outbound.Network{at}, UserAgent: "Mneme/1.0 (+https://mneme.example)", Now: time.Now,
		Sleep: time.Sleep}
	for _, c := range change {
		c(&s)
	}
	return polite.New(s), server, time
}

// fails checks what a request failed for.
func fails(t *testing.T, err error, code port.SourceCode, says string) *port.SourceError {
	t.Helper()
	var failed *port.SourceError
	if !errors.As(err, &failed) || failed.Code != code || !strings.Contains(failed.Message, says) {
		t.Fatalf("%v, want %s and %q", err, code, says)
	}
	return failed
}

// TestPause: a host is asked once a second, less where it says so, and no other host
// waits for it.
func TestPause(t *testing.T) {
	var agent, accept string
	answer := func(_ http.ResponseWriter, r *http.Request) { agent, accept = r.UserAgent(), r.Header.Get("Accept") }
	c, server, clock := open(t, answer)
	asked := time.Duration(0)
	get := func(at string) {
		t.Helper()
		before := func(context.Context, *url.URL) (time.Duration, error) { return asked, nil }
		if _, err := c.Get(t.Context(), polite.Request{URL: at, Before: before, Accept: "text/html"}); err != nil {
			t.Fatal(err)
		}
	}
	get(server.URL)
	get(server.URL)
	asked = 7 * time.Second
	get(server.URL)
	asked = time.Hour
	get(server.URL)
	if err := clock.Sleep(t.Context(), 400*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	asked = 0
	get(strings.ToUpper(server.URL[:7]) + server.URL[7:])
	want := []time.Duration{time.Second, 7 * time.Second, 30 * time.Second, 400 * time.Millisecond, 600 * time.Millisecond}
	if got := clock.pauses(); !slices.Equal(got, want) {
		t.Errorf("it slept %v, want %v", got, want)
	}
	_, at, _ := net.SplitHostPort(server.Listener.Addr().String())
	get("http://[::ffff:127.0.0.1]:" + at) // for the client another host
	if got := clock.pauses(); len(got) != len(want) {
		t.Errorf("another host had to wait: %v", got)
	}
	if err := clock.Sleep(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	get(server.URL)
	if got := clock.pauses(); len(got) != len(want)+1 {
		t.Errorf("a host whose pause is over had to wait: %v", got)
	}
	if agent != "Mneme/1.0 (+https://mneme.example)" {
		t.Errorf("it calls itself %q", agent)
	}
	if accept != "text/html" {
		t.Errorf("it accepts %q", accept)
	}
}

// TestSharedHosts: clients that share their hosts pause and take turns together.
func TestSharedHosts(t *testing.T) {
	shared := polite.NewHosts()
	with := func(s *polite.Settings) { s.Hosts = shared }
	c, server, clock := open(t, func(http.ResponseWriter, *http.Request) {}, with)
	at, err := outbound.ParseNetwork(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	settings := polite.Settings{Private: []outbound.Network{at}, Now: clock.Now, Sleep: clock.Sleep}
	apart := polite.New(settings)
	with(&settings)
	for _, client := range []*polite.Client{c, polite.New(settings), apart} {
		if _, err := client.Get(t.Context(), polite.Request{URL: server.URL}); err != nil {
			t.Fatal(err)
		}
	}
	if got := clock.pauses(); !slices.Equal(got, []time.Duration{time.Second}) {
		t.Errorf("they slept %v", got)
	}
}

// TestManyHosts: hosts that nobody asks any more are forgotten, and no other is.
func TestManyHosts(t *testing.T) {
	c, server, clock := open(t, func(http.ResponseWriter, *http.Request) {})
	ended, end := context.WithCancel(t.Context())
	end()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 20_000 {
		if _, err := c.Get(ended, polite.Request{URL: fmt.Sprintf("http://h%d.example/", i)}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if i == 15_000 {
			if _, err := c.Get(t.Context(), polite.Request{URL: server.URL}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := heap(); after > before+2<<20 {
		t.Errorf("%d bytes for 20,000 hosts", after-before)
	}
	if _, err := c.Get(t.Context(), polite.Request{URL: server.URL}); err != nil {
		t.Fatal(err)
	}
	if got := clock.pauses(); !slices.Equal(got, []time.Duration{time.Second}) {
		t.Errorf("it slept %v", got)
	}
}

// TestFromEnv: what the operator lets connectors do is what the client may.
func TestFromEnv(t *testing.T) {
	agent := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent = r.UserAgent()
		fmt.Fprint(w, strings.Repeat("x", 1001))
	}))
	defer server.Close()
	clock := newClock()
	env := registry.Env{Now: clock.Now, Reach: registry.Reach{Private: []string{server.Listener.Addr().String()}, MaxItem: 1001,
		UserAgent: "Mneme/1"}}
	get := func() error {
		t.Helper()
		s, err := polite.FromEnv(env)
		if err != nil {
			t.Fatal(err)
		}
		c := polite.New(s)
		if !c.Now().Equal(clock.Now()) {
			t.Errorf("its time is %v", c.Now())
		}
		_, err = c.Get(t.Context(), polite.Request{URL: server.URL})
		return err
	}
	if err := get(); err != nil || agent != "Mneme/1" {
		t.Errorf("%q, %v", agent, err)
	}
	env.Reach.MaxItem = 1000
	fails(t, get(), port.SourceTooLarge, "1000 bytes")
	env.Reach.Private = nil
	fails(t, get(), port.SourceForbidden, "not a public one")
	env.Reach.Private = []string{"nowhere"}
	if _, err := polite.FromEnv(env); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
}

// TestOneAtATime: requests to a host wait for each other, to the last byte, and one
// whose context ends leaves the line.
func TestOneAtATime(t *testing.T) {
	var inside, most atomic.Int32
	release := make(chan struct{})
	c, server, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		n := inside.Add(1)
		defer inside.Add(-1)
		most.Store(max(most.Load(), n))
		w.(http.Flusher).Flush()
		if r.URL.Path == "/held" {
			<-release
		}
		fmt.Fprint(w, "done")
	})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			at := server.URL
			if i == 0 {
				at += "/held"
			}
			if a, err := c.Get(t.Context(), polite.Request{URL: at}); err != nil || string(a.Body) != "done" {
				t.Error(err)
			}
		})
	}
	for inside.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, polite.Request{URL: server.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	close(release)
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d requests at once", most.Load())
	}
}

// TestRetryAfter: a host that asks to come back soon is waited for, and who asks one
// that wants to be left alone longer is told for how long.
func TestRetryAfter(t *testing.T) {
	head, status, refused := "20", http.StatusTooManyRequests, 1
	asked := 0
	c, server, clock := open(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked <= refused {
			if head != "" {
				w.Header().Set("Retry-After", head)
			}
			w.WriteHeader(status)
		}
	})
	get := func() (int, []time.Duration, error) {
		asked, clock.slept = 0, nil
		_, err := c.Get(t.Context(), polite.Request{URL: server.URL})
		return asked, clock.pauses(), err
	}
	if n, slept, err := get(); err != nil || n != 2 || !slices.Equal(slept, []time.Duration{20 * time.Second}) {
		t.Errorf("soon: %d requests, %v, %v", n, slept, err)
	}
	head = clock.Now().Add(41 * time.Second).Format(http.TimeFormat)
	if n, slept, err := get(); err != nil || n != 2 || slept[len(slept)-1] != 40*time.Second {
		t.Errorf("at a time: %d requests, %v, %v", n, slept, err)
	}
	head = "nonsense"
	if n, slept, err := get(); err != nil || n != 2 || slept[len(slept)-1] != 30*time.Second {
		t.Errorf("some time: %d requests, %v, %v", n, slept, err)
	}
	head, refused = "60", 100
	n, _, err := get()
	if failed := fails(t, err, port.SourceRateLimited, "429 Too Many Requests"); n != 3 || failed.RetryAfter != time.Minute {
		t.Errorf("again and again: %d requests, %v", n, failed.RetryAfter)
	}
	head, status = "3600", http.StatusServiceUnavailable
	n, _, err = get()
	if failed := fails(t, err, port.SourceUnavailable, "503 Service Unavailable"); n != 1 || failed.RetryAfter != time.Hour {
		t.Errorf("later: %d requests, %v", n, failed.RetryAfter)
	}
	n, slept, err := get()
	if failed := fails(t, err, port.SourceRateLimited, "later"); n != 0 || len(slept) != 0 || failed.RetryAfter != time.Hour {
		t.Errorf("too soon: %d requests, %v, %v", n, slept, failed.RetryAfter)
	}
	if err := clock.Sleep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	head = "999999999"
	_, _, err = get()
	if failed := fails(t, err, port.SourceUnavailable, "503"); failed.RetryAfter != 24*time.Hour {
		t.Errorf("never: %v", failed.RetryAfter)
	}
	if err := clock.Sleep(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	head = ""
	n, _, err = get()
	if failed := fails(t, err, port.SourceUnavailable, "503"); n != 1 || failed.RetryAfter != 0 {
		t.Errorf("without a time: %d requests, %v", n, failed.RetryAfter)
	}
}

// TestStatus: what statuses say, in the terms of the port.
func TestStatus(t *testing.T) {
	status := 0
	c, server, _ := open(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	for _, s := range []struct {
		status int
		code   port.SourceCode
	}{
		{404, port.SourceNotFound}, {410, port.SourceNotFound}, {401, port.SourceCredentials}, {407, port.SourceCredentials},
		{403, port.SourceForbidden}, {451, port.SourceForbidden}, {500, port.SourceUnavailable}, {502, port.SourceUnavailable},
		{400, port.SourceUnavailable}, {204, port.SourceUnavailable}, {304, port.SourceUnavailable}, {302,
			port.SourceUnavailable},
	} {
		status = s.status
		_, err := c.Get(t.Context(), polite.Request{URL: server.URL})
		fails(t, err, s.code, fmt.Sprint(s.status))
	}
}

// TestUnchanged: a validator saves the body, of the first URL alone.
func TestUnchanged(t *testing.T) {
	var heads []http.Header
	c, server, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		heads = append(heads, r.Header.Clone())
		switch {
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case r.Header.Get("If-None-Match") == `"1"` || r.Header.Get("If-Modified-Since") == "today":
			w.WriteHeader(http.StatusNotModified)
		default:
			fmt.Fprint(w, "new")
		}
	})
	for _, r := range []polite.Request{{ETag: `"1"`}, {LastModified: "today"}} {
		r.URL = server.URL
		if a, err := c.Get(t.Context(), r); err != nil || !a.Unchanged || len(a.Body) > 0 {
			t.Errorf("%+v: %+v, %v", r, a, err)
		}
		r.URL, heads = server.URL+"/moved", nil
		if a, err := c.Get(t.Context(), r); err != nil || a.Unchanged || string(a.Body) != "new" || a.Permanent {
			t.Errorf("%+v: %+v, %v", r, a, err)
		}
		if h := heads[1]; h.Get("If-None-Match")+h.Get("If-Modified-Since") != "" {
			t.Errorf("a validator went along: %v", h)
		}
	}
}

// TestRedirects: they are followed one by one, each asked about before.
func TestRedirects(t *testing.T) {
	c, server, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err == nil && n > 0 {
			w.Header().Set("Location", fmt.Sprintf("/%d#part", n-1))
			w.WriteHeader([]int{301, 308, 303, 307, 302, 301}[n-1])
			return
		}
		if r.URL.Path == "/loop" || r.URL.Path == "/file" || r.URL.Path == "/broken" {
			w.Header().Set("Location", map[string]string{"/loop": "/loop", "/file": "file:///etc/passwd",
				"/broken": "http://[::1"}[r.URL.Path])
			w.WriteHeader(http.StatusFound)
			return
		}
		fmt.Fprint(w, "here")
	})
	for from, permanent := range map[string]bool{"/0": true, "/1": true, "/2": true, "/3": false, "/4": false, "/5": false} {
		var before []string
		a, err := c.Get(t.Context(), polite.Request{URL: server.URL + from, Before: func(_ context.Context,
			u *url.URL) (time.Duration, error) {
			before = append(before, u.String())
			return 0, nil
		}})
		if err != nil || string(a.Body) != "here" || a.Permanent != permanent || a.URL.String() != server.URL+"/0" {
			t.Errorf("%s: %+v, %v", from, a, err)
		}
		if !slices.Equal(before, append(slices.Clone(a.Passed), a.URL.String())) {
			t.Errorf("%s: asked before %v, passed %v", from, before, a.Passed)
		}
	}
	for from, says := range map[string]string{"/6": "more than 5 times", "/loop": "more than 5 times",
		"/broken": "cannot be reached"} {
		_, err := c.Get(t.Context(), polite.Request{URL: server.URL + from})
		fails(t, err, port.SourceUnavailable, says)
	}
	_, err := c.Get(t.Context(), polite.Request{URL: server.URL + "/file"})
	fails(t, err, port.SourceForbidden, "http")
	stop := errors.New("no further")
	a, err := c.Get(t.Context(), polite.Request{URL: server.URL + "/2", Before: func(_ context.Context,
		u *url.URL) (time.Duration, error) {
		if u.Path == "/1" {
			return 0, stop
		}
		return 0, nil
	}})
	if !errors.Is(err, stop) || a.URL.Path != "/1" || !a.Permanent || len(a.Passed) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestBodies: no more of a body is read than may be, unpacked, and none that is not wanted.
func TestBodies(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	c, server, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		default:
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, strings.Repeat("x", 1000))
		}
	}, func(s *polite.Settings) { s.MaxBytes = 100_000 })
	for _, path := range []string{"/bomb", "/endless"} {
		_, err := c.Get(t.Context(), polite.Request{URL: server.URL + path})
		fails(t, err, port.SourceTooLarge, "100000 bytes")
		_, err = c.Get(t.Context(), polite.Request{URL: server.URL + path, MaxBytes: 1 << 30})
		fails(t, err, port.SourceTooLarge, "100000 bytes")
	}
	for most, fits := range map[int64]bool{999: false, 1000: true, 1001: true} {
		a, err := c.Get(t.Context(), polite.Request{URL: server.URL, MaxBytes: most})
		if fits && (err != nil || len(a.Body) != 1000) {
			t.Errorf("%d: %v", most, err)
		}
		if !fits {
			fails(t, err, port.SourceTooLarge, "999 bytes")
		}
	}
	for path, media := range map[string]string{"/endless": "application/octet-stream", "/": "text/plain"} {
		got := ""
		a, err := c.Get(t.Context(), polite.Request{URL: server.URL + path, Want: func(h http.Header) bool {
			got = h.Get("Content-Type")
			return false
		}})
		if err != nil || !a.Unwanted || len(a.Body) > 0 || got != media {
			t.Errorf("%s: %+v, %v, %q", path, a, err, got)
		}
	}
}

// TestSlow: a host that does not end its answer is given up.
func TestSlow(t *testing.T) {
	c, server, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "a beginning")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, func(s *polite.Settings) { s.Timeout = 50 * time.Millisecond })
	_, err := c.Get(t.Context(), polite.Request{URL: server.URL})
	fails(t, err, port.SourceUnavailable, "in time")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, polite.Request{URL: server.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestPrivate: neither a URL nor a redirect nor a name leads to an address that is not
// public, whatever the name was good for a moment ago.
func TestPrivate(t *testing.T) {
	asked := 0
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer private.Close()
	_, at, _ := net.SplitHostPort(private.Listener.Addr().String())
	c, server, _ := open(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, private.URL, http.StatusFound) },
		func(s *polite.Settings) { s.Resolver = outboundtest.Resolver(t, "127.0.0.1") })
	// The address is allowed at the port of the server alone.
	for _, to := range []string{private.URL, server.URL, "http://rebound.example:" + at, "http://rebound.example",
		"http://[::ffff:7f00:1]:" + at} {
		_, err := c.Get(t.Context(), polite.Request{URL: to})
		fails(t, err, port.SourceForbidden, "its port is not allowed")
	}
	_, err := c.Get(t.Context(), polite.Request{URL: "http://169.254.169.254/latest/meta-data/"})
	fails(t, err, port.SourceForbidden, "not a public one")
	for _, to := range []string{"http://u:p@example.com/", "ftp://example.com/", "/path"} {
		_, err := c.Get(t.Context(), polite.Request{URL: to})
		fails(t, err, port.SourceForbidden, "http or https")
	}
	_, err = c.Get(t.Context(), polite.Request{URL: "http://%zz"})
	fails(t, err, port.SourceConfig, "not a URL")
	if asked != 0 {
		t.Errorf("%d requests came in", asked)
	}
}
