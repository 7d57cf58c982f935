package http_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
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
	op.Mount(set, l, []op.Op[*ledger]{op.Define(op.Spec{Name: "ledger", Method: "GET", Path: "/ledger", Timeout: time.Second},
		(*ledger).Read)})
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
		if h.Get("Content-Type") != "application/x-ndjson" || h.Get("Cache-Control") != "no-store" ||
			h.Get("X-Lines") != fmt.Sprint(x.lines) ||
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
			case <-time.After(time.Minute):
				t.Error("the stream goes on")
			}
		})
	}
}

// sink takes a body piece by piece.
type sink struct{}

type fill struct {
	Most int `query:"most"`

	body io.Reader
}

func (f *fill) TakeBody(body io.Reader) { f.body = body }

type filled struct {
	Bytes int64 `json:"bytes"`
}

// Fill reads up to Most bytes of the body; 0: all.
func (k *sink) Fill(_ context.Context, in fill) (filled, error) {
	body := in.body
	if in.Most > 0 {
		body = io.LimitReader(body, int64(in.Most))
	}
	n, err := io.Copy(io.Discard, body)
	if err != nil {
		return filled{}, err
	}
	return filled{Bytes: n}, nil
}

func (k *sink) serve(t *testing.T, o mnemehttp.Options) *httptest.Server {
	t.Helper()
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: testKeys()}), Admit: (*middleware.Limits)(nil).Admit}
	op.Mount(set, k, []op.Op[*sink]{op.Define(op.Spec{
		Name:     "fill",
		Method:   "POST",
		Path:     "/fill",
		Timeout:  30 * time.Second,
		MaxBody:  8 << 20,
		BodyType: "application/x-ndjson",
	}, (*sink).Fill)})
	o.Set = set
	h, err := mnemehttp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// A body that is read piece by piece: its limit holds after decompression, no
// budget for bodies is taken, and what is wrong with it is a fault.
func TestBodyStream(t *testing.T) {
	s := (&sink{}).serve(t, mnemehttp.Options{BodyBytes: 1 << 10, BodyIdle: time.Second})
	lines := bytes.Repeat([]byte(strings.Repeat("x", 99)+"\n"), 40_000) // 4 MB
	zip := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(b)
		_ = w.Close()
		return out.Bytes()
	}
	for name, c := range map[string]struct {
		query  string
		body   io.Reader
		header map[string]string
		status int
		says   string
	}{
		"whole":             {"", bytes.NewReader(lines), nil, 200, `{"bytes":4000000}`},
		"of unknown length": {"", io.MultiReader(bytes.NewReader(lines)), nil, 200, `{"bytes":4000000}`},
		"compressed": {"", bytes.NewReader(zip(lines)), map[string]string{"Content-Encoding": "gzip"}, 200,
			`{"bytes":4000000}`},
		"two members": {"", bytes.NewReader(append(zip(lines), zip(lines)...)),
			map[string]string{"Content-Encoding": "gzip"}, 200, `{"bytes":8000000}`},
		"not read to its end": {"?most=10", bytes.NewReader(lines), nil, 200, `{"bytes":10}`},
		"too large":           {"", bytes.NewReader(append(lines, append(lines, lines...)...)), nil, 413, "payload_too_large"},
		"too large, no length": {"", io.MultiReader(bytes.NewReader(append(lines, append(lines, lines...)...))), nil,
			413, "payload_too_large"},
		"expands without end": {"", bytes.NewReader(zip(append(lines, append(lines, lines...)...))),
			map[string]string{"Content-Encoding": "gzip"}, 413, "payload_too_large"},
		"no gzip": {"", bytes.NewReader(lines), map[string]string{"Content-Encoding": "gzip"}, 400,
			"not valid gzip"},
		"gzip that is cut": {"", bytes.NewReader(zip(lines)[:1000]), map[string]string{"Content-Encoding": "gzip"},
			400, "ends too early"},
		"another encoding": {"", bytes.NewReader(lines), map[string]string{"Content-Encoding": "br"}, 400,
			"Content-Encoding"},
		"another type": {"", bytes.NewReader(lines), map[string]string{"Content-Type": "application/json"}, 400,
			"must be application/x-ndjson"},
		"none":                 {"", nil, nil, 400, "a body of type application/x-ndjson is required"},
		"a bad parameter":      {"?most=x", bytes.NewReader(lines), nil, 400, "most"},
		"a client that stalls": {"", &stalling{bytes.NewReader(lines), make(chan struct{})}, nil, 504, "did not arrive in time"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/fill"+c.query, c.body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer good")
			req.Header.Set("Content-Type", "application/x-ndjson")
			for k, v := range c.header {
				req.Header.Set(k, v)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != c.status || !strings.Contains(string(body), c.says) {
				t.Errorf("%d %s, %v", res.StatusCode, body, err)
			}
		})
	}
}

// stalling is a body whose end never comes.
type stalling struct {
	r    io.Reader
	ever chan struct{}
}

func (s *stalling) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if errors.Is(err, io.EOF) {
		<-s.ever
	}
	return n, err
}

func (s *stalling) Close() error {
	close(s.ever)
	return nil
}

// What a stream says before it fails arrives.
func TestStreamThatFailsSaysSo(t *testing.T) {
	l := &ledger{ended: make(chan error, 1)}
	s := l.serve(t, mnemehttp.Options{})
	_, body, err := read(t, "GET", s.URL+"/ledger?lines=3&size=10&fail=true")
	<-l.ended
	if err == nil || strings.Count(body, "xxxxxxxxxx\n") != 3 {
		t.Errorf("%q, %v", body, err)
	}
}
