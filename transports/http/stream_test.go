package http_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	mnemehttp "github.com/mnemehq/mneme/transports/http"
)

// ledger answers line by line.
type ledger struct {
	ended chan error // how a stream ended
}

type readLedger struct {
	Lines int  `query:"lines"`
	Size  int  `query:"size"`
	Fail  bool `query:"fail"`
}

type entries struct {
	l  *ledger
	in readLedger
}

func (e *entries) ContentType() string { return "application/x-ndjson" }

func (e *entries) Headers() map[string]string {
	return map[string]string{"X-Lines": fmt.Sprint(e.in.Lines)}
}

func (e *entries) Stream(ctx context.Context, w io.Writer) (err error) {
	defer func() { e.l.ended <- err }()
	if _, ok := ctx.Deadline(); ok {
		return errors.New("a stream has the endpoint's deadline")
	}
	for range e.in.Lines {
		if _, err := io.WriteString(w, strings.Repeat("x", e.in.Size)+"\n"); err != nil {
			return err
		}
	}
	if e.in.Fail {
		return errors.New("secret detail of the disk")
	}
	return nil
}

func (l *ledger) Read(_ context.Context, in readLedger) (*entries, error) {
	return &entries{l, in}, nil
}

func (l *ledger) serve(t *testing.T, o mnemehttp.Options) *httptest.Server {
	t.Helper()
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: testKeys()}), Admit: (*middleware.Limits)(nil).Admit}
	op.Mount(set, l, []op.Op[*ledger]{op.Define(op.Spec{Name: "ledger", Method: "GET", Path: "/ledger", Timeout: time.Second}, (*ledger).Read)})
	o.Set = set
	h, err := mnemehttp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func read(t *testing.T, method, url string) (http.Header, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer good")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.Header, string(body), err
}

func TestStream(t *testing.T) {
	l := &ledger{ended: make(chan error, 1)}
	s := l.serve(t, mnemehttp.Options{})
	for _, x := range []struct{ lines, size int }{{0, 0}, {1, 10}, {3, 100_000}, {5000, 100}} {
		h, body, err := read(t, "GET", fmt.Sprintf("%s/ledger?lines=%d&size=%d", s.URL, x.lines, x.size))
		if err != nil || body != strings.Repeat(strings.Repeat("x", x.size)+"\n", x.lines) {
			t.Errorf("%d lines of %d: %d bytes, %v", x.lines, x.size, len(body), err)
		}
		if h.Get("Content-Type") != "application/x-ndjson" || h.Get("Cache-Control") != "no-store" || h.Get("X-Lines") != fmt.Sprint(x.lines) ||
			h.Get("X-Request-Id") == "" {
			t.Errorf("headers %v", h)
		}
		if err := <-l.ended; err != nil {
			t.Error(err)
		}
	}
	if _, body, err := read(t, "HEAD", s.URL+"/ledger?lines=3&size=5"); err != nil || body != "" {
		t.Errorf("HEAD answers %q, %v", body, err)
	}
	select {
	case err := <-l.ended:
		t.Errorf("HEAD streams: %v", err)
	default:
	}
}

// A stream that fails is cut off: the client sees an error, and nothing of the
// cause.
func TestStreamThatFails(t *testing.T) {
	l := &ledger{ended: make(chan error, 1)}
	s := l.serve(t, mnemehttp.Options{})
	for _, lines := range []int{0, 1, 5000} { // before and after the first bytes went out
		_, body, err := read(t, "GET", fmt.Sprintf("%s/ledger?lines=%d&size=100&fail=true", s.URL, lines))
		if err == nil || strings.Contains(body, "secret") {
			t.Errorf("%d lines: %d bytes look whole, %v", lines, len(body), err)
		}
		<-l.ended
	}
}

// A client that stops reading ends its stream, and so does one that leaves.
func TestStreamThatNobodyReads(t *testing.T) {
	l := &ledger{ended: make(chan error, 1)}
	s := l.serve(t, mnemehttp.Options{WriteIdle: 50 * time.Millisecond})
	for name, leave := range map[string]bool{"stops reading": false, "leaves": true} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/ledger?lines=1000000&size=1000", nil) // 1 GB
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer good")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if leave {
				cancel()
			}
			select {
			case err := <-l.ended:
				if err == nil {
					t.Error("a gigabyte went to nobody")
				}
			case <-time.After(20 * time.Second):
				t.Error("the stream goes on")
			}
		})
	}
}
