package pull_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/pull"
)

// TestFetch: a file arrives whole over a server with each fault, or the error says
// why not, and nothing wrong is left in its place.
func TestFetch(t *testing.T) {
	file := noise(300_000)
	other := noise(300_001)[1:]
	for name, c := range map[string]struct {
		served   []byte // nil: file
		etag     string
		fault    func(s *shelf) func(n int, w http.ResponseWriter, r *http.Request) bool
		want     string // of the error; "": it arrives
		requests int    // that it takes; 0: any number
		resumed  bool   // a request asks for a range
	}{
		"sound": {requests: 1},
		"cut again and again": {
			etag:     `"one"`,
			resumed:  true,
			requests: 4,
			fault: func(s *shelf) func(int, http.ResponseWriter, *http.Request) bool {
				return func(n int, w http.ResponseWriter, r *http.Request) bool {
					if n < 4 {
						s.cut(w, r, 90_000)
					}
					return false
				}
			},
		},
		"cut without a validator": {resumed: true, requests: 2,
			fault: func(s *shelf) func(int, http.ResponseWriter, *http.Request) bool {
				return func(n int, w http.ResponseWriter, r *http.Request) bool {
					if n == 1 {
						s.cut(w, r, 100_000)
					}
					return false
				}
			}},
		"no ranges": {resumed: true, requests: 2, fault: func(s *shelf) func(int, http.ResponseWriter, *http.Request) bool {
			return func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 1 {
					s.cut(w, r, 100_000)
				}
				w.Write(file)
				return true
			}
		}},
		"another file in between": {
			etag:     `"one"`,
			resumed:  true,
			requests: 2,
			fault: func(s *shelf) func(int, http.ResponseWriter, *http.Request) bool {
				return func(n int, w http.ResponseWriter, r *http.Request) bool {
					if n == 1 {
						s.files[r.URL.Path] = other
						s.cut(w, r, 100_000)
					}
					s.mu.Lock()
					s.files[r.URL.Path], s.etag[r.URL.Path] = file, `"two"`
					s.mu.Unlock()
					w.Header().Set("ETag", `"two"`)
					http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
					return true
				}
			},
		},
		"ignores If-Range": {etag: `"one"`, want: "sha256",
			fault: func(s *shelf) func(int, http.ResponseWriter, *http.Request) bool {
				return func(n int, w http.ResponseWriter, r *http.Request) bool {
					if n == 1 {
						s.files[r.URL.Path] = other
						s.cut(w, r, 100_000)
					}
					return false // serves other from byte 100000 on, and other altogether when asked again
				}
			}},
		"another place": {resumed: true, fault: func(s *shelf) func(int, http.ResponseWriter, *http.Request) bool {
			return func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 1 {
					s.cut(w, r, 100_000)
				}
				if n == 2 {
					w.Header().Set("Content-Range", fmt.Sprintf("bytes 5-%d/%d", len(file)-1, len(file)))
					w.WriteHeader(http.StatusPartialContent)
					w.Write(file[5:])
					return true
				}
				return false
			}
		}},
		"busy": {requests: 3, fault: func(*shelf) func(int, http.ResponseWriter, *http.Request) bool {
			return func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n < 3 {
					w.Header().Set("Retry-After", "0")
					w.WriteHeader([]int{429, 503}[n-1])
				}
				return n < 3
			}
		}},
		"stalls": {resumed: true, fault: func(s *shelf) func(int, http.ResponseWriter, *http.Request) bool {
			return func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 1 {
					w.Header().Set("Content-Length", fmt.Sprint(len(file)))
					w.Write(file[:1000])
					w.(http.Flusher).Flush()
					<-r.Context().Done()
					return true
				}
				return false
			}
		}},
		"redirects": {requests: 2, fault: func(*shelf) func(int, http.ResponseWriter, *http.Request) bool {
			return func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 1 {
					http.Redirect(w, r, "/file?moved", http.StatusFound)
				}
				return n == 1
			}
		}},
		"redirects for ever": {want: "redirects", fault: func(*shelf) func(int, http.ResponseWriter, *http.Request) bool {
			return func(_ int, w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "/file", http.StatusFound)
				return true
			}
		}},
		"absent":      {served: []byte{}, want: "404 Not Found; is the mirror complete?", requests: 1, fault: absent(404)},
		"forbidden":   {want: "403 Forbidden; it wants other credentials", requests: 1, fault: absent(403)},
		"always busy": {want: "gave up after 6 attempts: the server answers 500", requests: 6, fault: absent(500)},
		"wrong file":  {served: other, want: "the catalogue says " + sum(file), requests: 1},
		"longer":      {served: append(bytes.Clone(file), 0), want: "300001 bytes, the catalogue says 300000"},
		"longer than said": {requests: 1, fault: func(*shelf) func(int, http.ResponseWriter, *http.Request) bool {
			return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				for range 4 { // chunked: no length before
					w.Write(file)
					w.(http.Flusher).Flush()
				}
				return true
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{files: map[string][]byte{"/file": file}, etag: map[string]string{"/file": c.etag}}
			if c.served != nil {
				s.files["/file"] = c.served
			}
			if c.fault != nil {
				s.fault = c.fault(s)
			}
			to := filepath.Join(t.TempDir(), "file")
			last := int64(-1)
			err := quick().Fetch(t.Context(), serve(t, s)+"/file", sum(file), int64(len(file)), to, func(n int64) { last = n })
			got, _ := os.ReadFile(to)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
					t.Errorf("got %v and %d bytes, want %q", err, len(got), c.want)
				}
			} else if err != nil || !bytes.Equal(got, file) || last != int64(len(file)) {
				t.Errorf("got %v, %d bytes, told of %d", err, len(got), last)
			}
			asked := s.requests()
			if c.requests > 0 && len(asked) != c.requests {
				t.Errorf("%d requests, want %d: %+v", len(asked), c.requests, asked)
			}
			resumed := false
			for _, r := range asked {
				resumed = resumed || r.span != ""
				if r.span != "" && r.ifRange != c.etag && r.ifRange != `"two"` {
					t.Errorf("a range with If-Range %q, want %q", r.ifRange, c.etag)
				}
				if r.agent != "mneme/test" {
					t.Errorf("user agent %q", r.agent)
				}
			}
			if c.resumed && !resumed {
				t.Errorf("nothing was resumed: %+v", asked)
			}
			if left, _ := filepath.Glob(to + ".part*"); c.want == "" && len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func absent(status int) func(*shelf) func(int, http.ResponseWriter, *http.Request) bool {
	return func(*shelf) func(int, http.ResponseWriter, *http.Request) bool {
		return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			return true
		}
	}
}

// TestFetchGoesOn: a fetch that was stopped goes on in another run, without asking
// again for what is here, and one that is done asks for nothing.
func TestFetchGoesOn(t *testing.T) {
	file := noise(300_000)
	s := &shelf{files: map[string][]byte{"/file": file}, etag: map[string]string{"/file": `"x"`}}
	address, to := serve(t, s)+"/file", filepath.Join(t.TempDir(), "file")
	ctx, cancel := context.WithCancel(t.Context())
	s.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(file)))
		w.Write(file[:120_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	err := quick().Fetch(ctx, address, sum(file), int64(len(file)), to, func(n int64) {
		if n >= 120_000 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	first := int64(-1)
	for range 2 {
		if err := quick().Fetch(t.Context(), address, sum(file), int64(len(file)), to, func(n int64) {
			if first < 0 {
				first = n
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	asked := s.requests()
	if len(asked) != 2 || asked[1].span != "bytes=120000-" || asked[1].ifRange != `"x"` || first != 120_000 {
		t.Errorf("asked %+v, first told of %d", asked, first)
	}
	if got, _ := os.ReadFile(to); !bytes.Equal(got, file) {
		t.Error("another file arrived")
	}
}

// TestFetchStartsOver: what lies there from another file is thrown away, once.
func TestFetchStartsOver(t *testing.T) {
	file := noise(300_000)
	s := &shelf{files: map[string][]byte{"/file": file}}
	to := filepath.Join(t.TempDir(), "file")
	for name, part := range map[string][]byte{"other": make([]byte, 100_000), "longer": make([]byte, 300_001),
		"whole but wrong": make([]byte, 300_000)} {
		os.Remove(to)
		if err := os.WriteFile(to+".part", part, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := quick().Fetch(t.Context(), serve(t, s)+"/file", sum(file), int64(len(file)), to, func(int64) {}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(to); !bytes.Equal(got, file) {
			t.Errorf("%s: another file arrived", name)
		}
	}
}

// TestFetchOfNobody: a server that is not there is asked a few times.
func TestFetchOfNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://someone:secret@" + l.Addr().String() + "/file"
	l.Close()
	err = quick().Fetch(t.Context(), address, sum(nil), 10, filepath.Join(t.TempDir(), "file"), func(int64) {})
	if err == nil || !strings.Contains(err.Error(), "gave up after 6 attempts") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

// TestProxy: HTTP_PROXY and HTTPS_PROXY carry the fetch, NO_PROXY does not.
func TestProxy(t *testing.T) {
	file := noise(5000)
	var carried, connected atomic.Int64
	s := &shelf{files: map[string][]byte{"/file": file}}
	secure := httptest.NewTLSServer(s)
	t.Cleanup(secure.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			connected.Add(1)
			far, err := net.Dial("tcp", strings.TrimPrefix(secure.URL, "https://"))
			if err != nil {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			near, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			fmt.Fprint(near, "HTTP/1.1 200 OK\r\n\r\n")
			go func() { io.Copy(far, near); far.Close() }()
			go func() { io.Copy(near, far); near.Close() }()
			return
		}
		carried.Add(1)
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "")
	fetch := func(c pull.Client, address string) error {
		return c.Fetch(t.Context(), address, sum(file), int64(len(file)), filepath.Join(t.TempDir(), "file"), func(int64) {})
	}
	// A name that exists only for the proxy.
	if err := fetch(quick(), "http://models.invalid/file"); err != nil || carried.Load() != 1 {
		t.Errorf("over the proxy: %v, it carried %d", err, carried.Load())
	}
	c := quick()
	c.TLS = secure.Client().Transport.(*http.Transport).TLSClientConfig
	// The name that the test server's certificate is for; the proxy knows where it is.
	if err := fetch(c, "https://example.com/file"); err != nil || connected.Load() != 1 {
		t.Errorf("over TLS: %v, the proxy connected %d", err, connected.Load())
	}
	if err := fetch(c, secure.URL+"/file"); err != nil || connected.Load() != 1 {
		t.Errorf("to this machine: %v, the proxy connected %d", err, connected.Load())
	}
	t.Setenv("NO_PROXY", "models.invalid")
	if err := fetch(quick(), "http://models.invalid/file"); err == nil {
		t.Error("NO_PROXY was not heeded")
	}
	if err := fetch(quick(), strings.Replace(secure.URL, "https://127.0.0.1", "https://localhost", 1)+"/file"); err == nil {
		t.Error("a certificate that nobody vouches for was taken")
	}
}
