package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/core/oauth"
	front "github.com/mnemehq/mneme/transports/oauth"
)

// client is the client that the server gives the front.
func client(anywhere bool) *outbound.Client {
	return outbound.New(outbound.Options{Anywhere: anywhere, MaxRedirects: -1})
}

func TestDocuments(t *testing.T) {
	slow := make(chan struct{})
	defer close(slow)
	var reached atomic.Int32
	mux := http.NewServeMux()
	serve := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		})
	}
	serve("/good", "application/json; charset=utf-8", `{"a":1}`)
	serve("/suffix", "application/oauth-client+json", `{"a":1}`)
	serve("/html", "text/html", `{"a":1}`)
	serve("/full", "application/json", strings.Repeat("x", oauth.MaxMetadata))
	serve("/huge", "application/json", strings.Repeat("x", oauth.MaxMetadata+1))
	mux.Handle("/redirect", http.RedirectHandler("/good", http.StatusFound))
	mux.HandleFunc("/error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat("x", 1<<10))); err != nil {
				return
			}
			reached.Add(1)
		}
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-slow:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	patient := front.NewDocuments(front.DocumentOptions{Client: client(true), Timeout: time.Minute})
	hurried := front.NewDocuments(front.DocumentOptions{Client: client(true), Timeout: 500 * time.Millisecond})
	for path, why := range map[string]string{"/good": "", "/suffix": "", "/full": "", "/html": "not of type",
		"/huge": "larger than", "/endless": "larger than", "/redirect": "redirects",
		"/error": "status 500", "/absent": "status 404", "/slow": "in time", "/drip": "in time"} {
		d := patient
		if why == "in time" {
			d = hurried
		}
		body, err := d.Document(t.Context(), s.URL+path)
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) || err == nil && len(body) == 0 {
			t.Errorf("%s: %d bytes, %v; want %q", path, len(body), err, why)
		}
	}
	if n := reached.Load(); n > 10_000 {
		t.Errorf("%d KiB of a document without end were read", n)
	}
	s.Close()
	if _, err := patient.Document(t.Context(), s.URL+"/other"); err == nil ||
		!strings.Contains(err.Error(), "cannot be reached") || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a server that is gone: %v", err)
	}
}

// Nothing on a private network is asked, whatever its name or spelling.
func TestDocumentsKeepOffPrivateNetworks(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	defer s.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	d := front.NewDocuments(front.DocumentOptions{Client: client(false), Timeout: time.Second})
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
		"169.254.169.254", "10.0.0.1", "192.168.1.1", "100.64.0.1", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]"} {
		for _, p := range []string{":" + port, ""} {
			if _, err := d.Document(t.Context(), "http://"+host+p+"/x"); err == nil {
				t.Errorf("%s%s was read", host, p)
			} else if strings.Contains(err.Error(), "status") {
				t.Errorf("%s%s was asked: %v", host, p, err)
			}
		}
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests came in", asked.Load())
	}
}

func TestDocumentsAreKept(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	var asked atomic.Int32
	control := &atomic.Value{}
	control.Store("")
	fail := &atomic.Bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", control.Load().(string))
		if fail.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, `{"n":%d}`, n)
	}))
	defer s.Close()
	for _, c := range []struct {
		control string
		kept    time.Duration
	}{{"", time.Hour}, {"max-age=600", 10 * time.Minute}, {"public, max-age=0", time.Minute}, {"no-store", time.Minute},
		{"max-age=99999999", 24 * time.Hour}, {"max-age=x", time.Hour}} {
		control.Store(c.control)
		clock := func() time.Time { return time.Unix(0, now.Load()) }
		d := front.NewDocuments(front.DocumentOptions{Client: client(true), Now: clock})
		read := func() {
			t.Helper()
			if _, err := d.Document(t.Context(), s.URL+"/x"); err != nil {
				t.Fatal(err)
			}
		}
		before := asked.Load()
		read()
		now.Add(int64(c.kept - time.Second))
		read()
		if n := asked.Load() - before; n != 1 {
			t.Errorf("%q: asked %d times within %s", c.control, n, c.kept)
		}
		now.Add(int64(time.Second))
		read()
		if n := asked.Load() - before; n != 2 {
			t.Errorf("%q: asked %d times after %s", c.control, n, c.kept)
		}
	}
	fail.Store(true)
	d := front.NewDocuments(front.DocumentOptions{Client: client(true)})
	if _, err := d.Document(t.Context(), s.URL+"/x"); err == nil {
		t.Fatal("a failure was a document")
	}
	fail.Store(false)
	if _, err := d.Document(t.Context(), s.URL+"/x"); err != nil {
		t.Errorf("a failure was kept: %v", err)
	}
}

// Many who ask for one document at once make one request, and one that leaves
// takes nothing from the others.
func TestDocumentsAreReadOnce(t *testing.T) {
	var asked atomic.Int32
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	defer s.Close()
	d := front.NewDocuments(front.DocumentOptions{Client: client(true), Timeout: 30 * time.Second})
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { _, err := d.Document(leaving, s.URL+"/x"); left <- err }()
	for asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := d.Document(t.Context(), s.URL+"/x"); err != nil {
				t.Error(err)
			}
		})
	}
	leave()
	if err := <-left; err == nil {
		t.Error("the one that left waited")
	}
	close(release)
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}
