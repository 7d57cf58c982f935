package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/outbound/outboundtest"
)

// get reads a whole answer.
func get(t *testing.T, c *outbound.Client, url string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(b), err
}

// network is where a server of a test is reached, and nothing else is.
func network(t *testing.T, s *httptest.Server) []outbound.Network {
	t.Helper()
	n, err := outbound.ParseNetwork(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return []outbound.Network{n}
}

// TestSpecialAddresses: nothing but public addresses is reached, however it is spelt;
// neither directly nor by a redirect.
func TestSpecialAddresses(t *testing.T) {
	var asked atomic.Int32
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer private.Close()
	_, port, err := net.SplitHostPort(private.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	}))
	defer front.Close()
	public := outbound.New(outbound.Options{Timeout: time.Minute})
	allowed := outbound.New(outbound.Options{Timeout: time.Minute, Allowed: network(t, front)})
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]",
		"169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1",
		"255.255.255.255", "[fe80::1]", "[fd00::1]", "[fec0::1]", "[ff02::1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
		"[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]", "[100::1]"} {
		for _, p := range []string{":" + port, ":80", ""} {
			to := "http://" + host + p + "/secret"
			if _, _, err := get(t, public, to); !errors.Is(err, outbound.ErrNotPublic) {
				t.Errorf("%s: %v", to, err)
			} else if strings.ContainsAny(err.Error(), "0123456789") {
				t.Errorf("%s: the error tells an address: %v", to, err)
			}
			if _, _, err := get(t, allowed, front.URL+"/?to="+url.QueryEscape(to)); !errors.Is(err, outbound.ErrNotPublic) {
				t.Errorf("a redirect to %s: %v", to, err)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests came in", n)
	}
}

// TestRebinding: a name that was public when it was looked at and is not when it is
// connected to is refused, and so is one of several addresses.
func TestRebinding(t *testing.T) {
	var asked atomic.Int32
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer private.Close()
	c := outbound.New(outbound.Options{Timeout: time.Minute, Resolver: outboundtest.Resolver(t, "127.0.0.1")})
	_, port, _ := net.SplitHostPort(private.Listener.Addr().String())
	for _, p := range []string{"", ":" + port} {
		if _, _, err := get(t, c, "http://rebound.example"+p); !errors.Is(err, outbound.ErrNotPublic) {
			t.Errorf("%v", err)
		}
	}
	if asked.Load() != 0 {
		t.Error("a private address was asked")
	}
	// The same name is reached where its address is allowed: it is the address that counts.
	open := outbound.New(outbound.Options{Allowed: network(t, private), Resolver: outboundtest.Resolver(t, "127.0.0.1")})
	if status, _, err := get(t, open, "http://rebound.example:"+port); err != nil || status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
}

// TestNoProxy: a proxy of the environment is passed over. (The environment is read
// once a process, so the test's own server stands in its place.)
func TestNoProxy(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	c := outbound.New(outbound.Options{Timeout: time.Minute, Resolver: outboundtest.Resolver(t, "10.0.0.1")})
	if _, _, err := get(t, c, "http://private.example/"); !errors.Is(err, outbound.ErrNotPublic) {
		t.Errorf("%v", err)
	}
	if asked.Load() != 0 {
		t.Error("the proxy was asked")
	}
}

// TestRedirects: as many as are allowed, and a request takes nothing to another host
// that was meant for the first.
func TestRedirects(t *testing.T) {
	var got http.Header
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }))
	defer other.Close()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Query().Get("n"))
		switch {
		case err != nil && r.URL.Path == "/other":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case err != nil && r.URL.Path == "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case err != nil && r.URL.Path == "/user":
			http.Redirect(w, r, strings.Replace(s.URL, "http://", "http://me:secret@", 1)+"/?n=0", http.StatusFound)
		case n > 0:
			http.Redirect(w, r, "/?n="+strconv.Itoa(n-1), http.StatusFound)
		default:
			got = r.Header.Clone()
		}
	}))
	defer s.Close()
	three := outbound.New(outbound.Options{Anywhere: true, MaxRedirects: 3})
	none := outbound.New(outbound.Options{Anywhere: true, MaxRedirects: -1})
	for _, c := range []struct {
		client *outbound.Client
		path   string
		status int
		err    error
	}{
		{three, "/?n=3", 200, nil},
		{three, "/?n=4", 0, outbound.ErrRedirects},
		{outbound.New(outbound.Options{Anywhere: true}), "/?n=5", 200, nil},
		{outbound.New(outbound.Options{Anywhere: true}), "/?n=6", 0, outbound.ErrRedirects},
		{none, "/?n=1", 302, nil},
		{none, "/?n=0", 200, nil},
		{three, "/file", 0, outbound.ErrURL},
		{three, "/user", 0, outbound.ErrURL},
	} {
		if status, _, err := get(t, c.client, s.URL+c.path); status != c.status || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, %v; want %d, %v", c.path, status, err, c.status, c.err)
		}
	}
	for path, kept := range map[string]bool{"/?n=1": true, "/other": false} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			r.Header.Set(name, "secret")
		}
		r.Header.Set("Accept", "text/html")
		answer, err := three.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			if (got.Get(name) == "secret") != kept {
				t.Errorf("%s: %s is %q after a redirect", path, name, got.Get(name))
			}
		}
		if got.Get("Accept") != "text/html" || got.Get("User-Agent") != "mneme" || got.Get("Referer") != "" {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestBounds: of an answer no more is read than its share, as it is after decompression.
func TestBounds(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(make([]byte, 5<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	mux.HandleFunc("/of/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		if r.URL.Query().Has("chunked") {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write([]byte(strings.Repeat("x", n)))
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	})
	mux.HandleFunc("/agent", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.UserAgent())) })
	s := httptest.NewServer(mux)
	defer s.Close()
	c := outbound.New(outbound.Options{Anywhere: true, MaxBytes: 1000, UserAgent: "mneme/1 (+https://example.com)"})
	for path, want := range map[string]error{"/of/999": nil, "/of/1000": nil, "/of/1001": outbound.ErrTooLarge,
		"/of/999?chunked": nil, "/of/1000?chunked": nil, "/of/1001?chunked": outbound.ErrTooLarge, "/of/0": nil,
		"/bomb": outbound.ErrTooLarge, "/headers": outbound.ErrUnreachable} {
		_, body, err := get(t, c, s.URL+path)
		if !errors.Is(err, want) || len(body) > 1000 {
			t.Errorf("%s: %d bytes, %v; want %v", path, len(body), err, want)
		}
		if n, ok := strings.CutPrefix(path, "/of/"); ok && err == nil {
			if n, _, _ = strings.Cut(n, "?"); strconv.Itoa(len(body)) != n {
				t.Errorf("%s: %d bytes", path, len(body))
			}
		}
	}
	if _, body, err := get(t, c, s.URL+"/agent"); err != nil || body != "mneme/1 (+https://example.com)" {
		t.Errorf("%q, %v", body, err)
	}
}

// TestFailures: each has its own error, which tells nothing of the network.
func TestFailures(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = w.Write([]byte("beginning"))
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer silent.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	hurried := outbound.New(outbound.Options{Anywhere: true, Timeout: 200 * time.Millisecond})
	patient := outbound.New(outbound.Options{Anywhere: true})
	for _, c := range []struct {
		name   string
		client *outbound.Client
		url    string
		want   error
	}{
		{"no answer", hurried, silent.URL, outbound.ErrTimeout},
		{"half an answer", hurried, silent.URL + "/body", outbound.ErrTimeout},
		{"a certificate of nobody", patient, secure.URL, outbound.ErrCertificate},
		{"nobody there", patient, gone.URL, outbound.ErrUnreachable},
		{"no such name", patient, "http://no-such-name.invalid", outbound.ErrUnreachable},
		{"another scheme", patient, "ftp://example.com", outbound.ErrURL},
		{"no host", patient, "http:///x", outbound.ErrURL},
		{"a user", patient, "http://me:secret@example.com", outbound.ErrURL},
	} {
		_, _, err := get(t, c.client, c.url)
		if !errors.Is(err, c.want) || err.Error() != c.want.Error() {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	leaving, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(leaving, http.MethodGet, silent.URL+"/body", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := patient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	leave()
	if _, err := io.ReadAll(answer.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	if _, err := patient.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that had left: %v", err)
	}
}

// TestCheckURL: what could never be requested.
func TestCheckURL(t *testing.T) {
	for raw, ok := range map[string]bool{"https://example.com/a?b": true, "http://[::1]:8080": true, "HTTPS://example.com": true,
		"//example.com": false, "/path": false, "": false, "file:///etc/passwd": false, "http://": false, "http://:80": false,
		"https://me@example.com": false, "http://a b": false, "gopher://x": false, "http://%zz": false} {
		if err := outbound.CheckURL(raw); (err == nil) != ok || err != nil && !errors.Is(err, outbound.ErrURL) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// TestParseNetwork: what a configuration may name.
func TestParseNetwork(t *testing.T) {
	for text, want := range map[string]string{"10.1.2.3": "10.1.2.3/32 0", "10.1.2.3/8": "10.0.0.0/8 0",
		"10.1.2.3:8080":    "10.1.2.3/32 8080",
		"10.0.0.0/8:65535": "10.0.0.0/8 65535", "fd00::1": "fd00::1/128 0",
		"[fd00::1]": "fd00::1/128 0", "fd00::/8": "fd00::/8 0",
		"[fd00::1]:8080": "fd00::1/128 8080", "[fd00::/8]:1": "fd00::/8 1", "::ffff:10.0.0.1": "10.0.0.1/32 0",
		":8443": "invalid Prefix 8443", "": "", ":": "", ":0": "", "10.0.0.1:": "", "10.0.0.1:65536": "", "10.0.0.1:x": "",
		"example.com": "", "10.0.0.0/33": "", "[fd00::1]x": "", "10.0.0": ""} {
		n, err := outbound.ParseNetwork(text)
		got := ""
		if err == nil {
			got = n.Prefix.String() + " " + strconv.Itoa(int(n.Port))
		}
		if got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
			continue
		}
		if again, err := outbound.ParseNetwork(n.String()); want != "" && (err != nil || again != n) {
			t.Errorf("%q is written as %q, which is read as %v, %v", text, n, again, err)
		}
	}
}

// TestAllowed: an allowed network is reached at its port, another one at no port. Where it is the port alone that is
// not allowed, the error says so.
func TestAllowed(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	at := netip.MustParseAddrPort(s.Listener.Addr().String())
	for _, c := range []struct {
		name    string
		allowed outbound.Network
		refused error // nil: it is reached
	}{
		{"its address and port", outbound.Network{Prefix: netip.PrefixFrom(at.Addr(), 32), Port: at.Port()}, nil},
		{"its network and port", outbound.Network{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Port: at.Port()}, nil},
		{"its address alone", outbound.Network{Prefix: netip.PrefixFrom(at.Addr(), 32)}, outbound.ErrPort},
		{"another port", outbound.Network{Prefix: netip.PrefixFrom(at.Addr(), 32), Port: at.Port() ^ 1}, outbound.ErrPort},
		{"another network", outbound.Network{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Port: at.Port()},
			outbound.ErrNotPublic},
		{"the port at public addresses", outbound.Network{Port: at.Port()}, outbound.ErrNotPublic},
	} {
		client := outbound.New(outbound.Options{Allowed: []outbound.Network{c.allowed}})
		status, _, err := get(t, client, s.URL)
		if c.refused == nil {
			if status != http.StatusOK || err != nil {
				t.Errorf("%s: %d, %v", c.name, status, err)
			}
			continue
		}
		// The message names the port alone; errors.Is finds the refusal of an address in it as well.
		if err == nil || err.Error() != c.refused.Error() || !errors.Is(err, outbound.ErrNotPublic) {
			t.Errorf("%s: %d, %v", c.name, status, err)
		}
	}
}
