package remotetest

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Options are a server's settings. The zero value of each is usable.
type Options struct {
	Key        string // asked of every call; "": none
	Model      string // its name there; "": "m"
	Computes   Model  // nil: Words of Dimensions
	Dimensions int    // 0: 64
	Window     int    // tokens of one text; 0: 512
	Batch      int    // most texts in a call; 0: what the provider takes
	Revision   string // TEI: model_sha
	Kind       string // TEI: embedding (or ""), sparse or reranker
	TLS        bool
}

// Request is what a server was sent.
type Request struct {
	Path   string
	Header http.Header
	Body   map[string]any
}

// Server is a running server of one dialect.
type Server struct {
	*httptest.Server
	calls  atomic.Int64
	mu     sync.Mutex
	seen   []Request
	faults []Fault
}

// Fault answers a call in the dialect's place. It may let the dialect answer.
type Fault func(w http.ResponseWriter, r *http.Request, dialect http.Handler)

// Inject puts faults in front of the next POST requests, one each.
func (s *Server) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Calls is how many POST requests came in.
func (s *Server) Calls() int { return int(s.calls.Load()) }

// Requests are the POST requests that came in so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// start serves a dialect until the end of the test.
func start(t testing.TB, o Options, routes map[string]http.HandlerFunc, refuse refusal) *Server {
	t.Helper()
	s := &Server{}
	dialect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.Key != "" && r.Header.Get("Authorization") != "Bearer "+o.Key {
			refuse(w, http.StatusUnauthorized, "invalid_api_key",
				"Incorrect API key provided: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			return
		}
		h, ok := routes[r.Method+" "+r.URL.Path]
		if !ok {
			refuse(w, http.StatusNotFound, "not_found", "there is no "+r.Method+" "+r.URL.Path)
			return
		}
		if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
			refuse(w, http.StatusUnsupportedMediaType, "invalid_request_error", "the body must be application/json")
			return
		}
		h(w, r)
	})
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			dialect(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body) // what is missing, the dialect will miss
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		seen := Request{Path: r.URL.Path, Header: r.Header.Clone()}
		_ = json.Unmarshal(body, &seen.Body) // likewise
		s.mu.Lock()
		s.seen = append(s.seen, seen)
		var fault Fault
		if len(s.faults) > 0 {
			fault, s.faults = s.faults[0], s.faults[1:]
		}
		s.calls.Add(1) // with its fault: who waits for the count may then leave
		s.mu.Unlock()
		if fault != nil {
			fault(w, r, dialect)
			return
		}
		dialect(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	if o.TLS {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (o Options) fill() Options {
	if o.Model == "" {
		o.Model = "m"
	}
	if o.Dimensions == 0 {
		o.Dimensions = 64
	}
	if o.Computes == nil {
		o.Computes = Words{o.Dimensions}
	}
	if o.Window == 0 {
		o.Window = 512
	}
	return o
}

// refusal writes an error in a dialect's shape.
type refusal func(w http.ResponseWriter, status int, code, message string)

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller who left misses it
}

// decode reads a body strictly; it answers for a bad one.
func decode(w http.ResponseWriter, r *http.Request, into any, refuse refusal) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "invalid request: "+err.Error())
		return false
	}
	return true
}

// Refuse answers with a status and, unless it is "", Retry-After.
func Refuse(status int, retryAfter string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		reply(w, status, map[string]any{"error": map[string]any{"message": "not now", "type": "server_error"},
			"message": "not now", "detail": "not now"})
	}
}

// Slow answers late, or not at all to a caller who leaves first.
func Slow(by time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, dialect http.Handler) {
		select {
		case <-time.After(by):
			dialect.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// Body answers 200 with these bytes.
func Body(body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body) // a caller who left misses it
	}
}

// Huge answers 200 with a body of so many megabytes.
func Huge(megabytes int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		chunk := strings.Repeat("[", 1<<20)
		for range megabytes {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
}

// Truncated gives half of the dialect's answer, then breaks the connection off.
func Truncated() Fault {
	return func(w http.ResponseWriter, r *http.Request, dialect http.Handler) {
		whole := httptest.NewRecorder()
		dialect.ServeHTTP(whole, r)
		body := whole.Body.String()
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = io.WriteString(w, body[:len(body)/2]) // a caller who left misses it
		panic(http.ErrAbortHandler)
	}
}

// Reset breaks the connection off before an answer.
func Reset() Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // else the end is an orderly one
		}
		_ = conn.Close()
	}
}

// Redirect sends the caller elsewhere.
func Redirect(to string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, to+r.URL.Path, http.StatusTemporaryRedirect)
	}
}

// Times repeats a fault.
func Times(n int, f Fault) []Fault {
	all := make([]Fault, n)
	for i := range all {
		all[i] = f
	}
	return all
}
