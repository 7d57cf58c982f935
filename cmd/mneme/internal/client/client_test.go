package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/client"
)

// handler answers as the API does.
func handler(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"body":` + string(body) + `,"key":"` + r.Header.Get("Authorization") +
			`","type":"` + r.Header.Get("Content-Type") + `"}`)); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("GET /busy", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.Header().Set("X-Request-Id", "req_1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error":{"code":"unavailable","message":"the server is busy","request_id":"req_1"}}`))
		w.Header().Set("Retry-After", "99") // too late to count
	})
	mux.HandleFunc("GET /proxy", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway)
	})
	mux.HandleFunc("GET /abort", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /wait", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /lines", func(w http.ResponseWriter, r *http.Request) {
		line := strings.Repeat("x", 1023) + "\n"
		for n := 0; r.Context().Err() == nil; n++ {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
			if r.URL.RawQuery == "cut" && n == 99 {
				panic(http.ErrAbortHandler)
			}
			if r.URL.RawQuery == "end" && n == 99 {
				return
			}
		}
	})
	mux.HandleFunc("GET /empty", func(w http.ResponseWriter, r *http.Request) {})
	return mux
}

// Both ways of reaching a handler behave the same.
func clients(t *testing.T) map[string]*client.Client {
	s := httptest.NewServer(handler(t))
	t.Cleanup(s.Close)
	over, err := client.New(s.URL+"/", "k")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*client.Client{"network": over, "local": client.Local(handler(t), "k")}
}

func TestDo(t *testing.T) {
	for name, c := range clients(t) {
		t.Run(name, func(t *testing.T) {
			var out struct {
				Body      map[string]int
				Key, Type string
			}
			if err := c.Do(t.Context(), "POST", "/echo", map[string]int{"a": 1}, &out); err != nil {
				t.Fatal(err)
			}
			if out.Body["a"] != 1 || out.Key != "Bearer k" || out.Type != "application/json" {
				t.Errorf("echo gives %+v", out)
			}
			var e *client.Error
			if err := c.Do(t.Context(), "GET", "/busy", nil, nil); !errors.As(err, &e) || e.Status != 503 ||
				e.Code != "unavailable" ||
				e.RetryAfter != time.Second || !strings.Contains(err.Error(), "req_1") {
				t.Errorf("busy gives %#v", err)
			}
			if err := c.Do(t.Context(), "GET", "/proxy", nil, nil); !errors.As(err, &e) || e.Status != 502 ||
				e.Code != "" || !strings.Contains(err.Error(), "502") {
				t.Errorf("a proxy's page gives %v", err)
			}
			if err := c.Do(t.Context(), "GET", "/empty", nil, nil); err != nil {
				t.Errorf("an empty answer that is not read gives %v", err)
			}
			if err := c.Do(t.Context(), "GET", "/empty", nil, &out); err == nil {
				t.Error("an empty answer was read")
			}
			if err := c.Do(t.Context(), "GET", "/abort", nil, nil); err == nil {
				t.Error("a handler that gave up is a success")
			}
			soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := c.Do(soon, "GET", "/wait", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call past its deadline gives %v", err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.Do(ended, "GET", "/empty", nil, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled call gives %v", err)
			}
		})
	}
}

// An answer is read while it is written, so that its length does not matter, and
// one that is cut short does not look whole.
func TestStream(t *testing.T) {
	for name, c := range clients(t) {
		t.Run(name, func(t *testing.T) {
			body, err := c.Stream(t.Context(), "/lines?end")
			if err != nil {
				t.Fatal(err)
			}
			if all, err := io.ReadAll(body); err != nil || len(all) != 100<<10 {
				t.Errorf("%d bytes, %v", len(all), err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
			if body, err = c.Stream(t.Context(), "/lines?cut"); err != nil {
				t.Fatal(err)
			}
			if all, err := io.ReadAll(body); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("a cut answer gives %d bytes, %v", len(all), err)
			}
			_ = body.Close()
			ctx, cancel := context.WithCancel(t.Context())
			if body, err = c.Stream(ctx, "/lines"); err != nil { // without end
				t.Fatal(err)
			}
			if _, err := io.ReadFull(body, make([]byte, 64<<10)); err != nil {
				t.Error(err)
			}
			cancel()
			if _, err := io.Copy(io.Discard, body); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled answer ends with %v", err)
			}
			_ = body.Close()
			var e *client.Error
			if _, err := c.Stream(t.Context(), "/busy"); !errors.As(err, &e) || e.Status != 503 {
				t.Errorf("busy gives %v", err)
			}
		})
	}
}

func TestNewRefusesWhatIsNoURL(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:8080", "ftp://host", "http://"} {
		if _, err := client.New(base, ""); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
}

func TestPatiently(t *testing.T) {
	busy := &client.Error{Status: 503, RetryAfter: time.Millisecond}
	for name, c := range map[string]struct {
		errs  []error // of one call after another
		tries int
		calls int
		want  error
	}{
		"succeeds later": {[]error{busy, busy, nil}, 5, 3, nil},
		"gives up":       {[]error{busy, busy, busy}, 2, 2, busy},
		"another error":  {[]error{io.EOF, nil}, 5, 1, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := client.RetryBusy(t.Context(), c.tries, func() error { calls++; return c.errs[calls-1] })
			if calls != c.calls || !errors.Is(err, c.want) {
				t.Errorf("%d calls, %v; want %d, %v", calls, err, c.calls, c.want)
			}
		})
	}
}
