package s3_test

import (
	"bytes"
	"encoding/xml"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/mnemehq/mneme/adapters/backup/backuptest"
	"github.com/mnemehq/mneme/adapters/backup/s3"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// server speaks the protocol. Its time goes as a test says.
type server struct {
	url    string
	before atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool] // true: it has answered
	ahead  atomic.Int64                                                      // of the clock, in ns
}

func (s *server) Now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

func (s *server) Since(at time.Time) time.Duration { return s.Now().Sub(at) }

func serve(t *testing.T) *server {
	t.Helper()
	s := &server{}
	backend := s3mem.New(s3mem.WithTimeSource(s))
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend, gofakes3.WithTimeSource(s), gofakes3.WithTimeSkewLimit(0)).Server()
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := s.before.Load(); before == nil || !(*before)(w, r) {
			fake.ServeHTTP(w, r)
		}
	}))
	h.Config.ErrorLog = log.New(bytes.NewBuffer(nil), "", 0)
	h.Start()
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

func (s *server) open(t *testing.T, o s3.Options) *s3.Place {
	t.Helper()
	o.Credentials = credentials.NewStaticV4("AKIAEXAMPLE", "secret-of-tests", "")
	p, err := s3.Open("s3://bucket/some/where?region=here&endpoint="+s.url, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: code, Message: "no"})
}

func TestContract(t *testing.T) {
	t.Parallel()
	s := serve(t)
	backuptest.Run(t, func(t *testing.T) port.BackupPlace {
		t.Helper()
		return s.open(t, s3.Options{})
	})
	if name := s.open(t, s3.Options{}).String(); name != "s3://bucket/some/where/" {
		t.Errorf("it is called %s", name)
	}
}

// A lock outlives its process until it is old by the server's clock, and one that can't be renewed
// says so.
func TestLocksOfTheDead(t *testing.T) {
	t.Parallel()
	s := serve(t)
	dead, next := s.open(t, s3.Options{Renew: time.Hour}), s.open(t, s3.Options{Renew: time.Hour})
	if _, _, err := dead.Lock(t.Context()); err != nil { // and is never heard of again
		t.Fatal(err)
	}
	s.ahead.Store(int64(9 * time.Hour))
	if _, _, err := next.Lock(t.Context()); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("after nine renewals: %v", err)
	}
	s.ahead.Store(int64(11 * time.Hour))
	_, release, err := next.Lock(t.Context())
	if err != nil {
		t.Fatalf("after eleven renewals: %v", err)
	}
	release()
	no := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			refuse(w, http.StatusForbidden, "AccessDenied")
			return true
		}
		return false
	}
	held, release, err := s.open(t, s3.Options{Renew: time.Millisecond}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.before.Store(&no)
	for until := time.Now().Add(time.Minute); held() == nil && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	if err := held(); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a lock that is not renewed: %v", err)
	}
	release()
}

// What a server could not answer is asked again; what it refuses is told in plain words.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.open(t, s3.Options{Tries: 3})
	var left atomic.Int64
	left.Store(2)
	flaky := func(w http.ResponseWriter, _ *http.Request) bool {
		if left.Add(-1) >= 0 {
			refuse(w, http.StatusServiceUnavailable, "SlowDown")
			return true
		}
		return false
	}
	s.before.Store(&flaky)
	if err := p.Write(t.Context(), "packs/aa/x", []byte("x")); err != nil {
		t.Errorf("a server that fails twice: %v", err)
	}
	for code, says := range map[string]string{
		"InvalidAccessKeyId": "does not take the key", "AccessDenied": "may not do that", "NoSuchBucket": "no such bucket",
		"PermanentRedirect": "another region", "Other": "the server refuses it",
	} {
		no := func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, http.StatusForbidden, code); return true }
		s.before.Store(&no)
		err := p.Write(t.Context(), "packs/aa/x", []byte("x"))
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", code, err)
		}
	}
	gone, err := s3.Open("s3://bucket?endpoint=http://127.0.0.1:1&region=x", s3.Options{Tries: 1,
		Credentials: credentials.NewStaticV4("a", "b", "")})
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Write(t.Context(), "x", []byte("x")); err == nil || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("nobody answers: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"s3://": "has to be like", "s3://user@bucket": "has to be like", "s3://b": "has to be like",
		"http://bucket":      "has to be like",
		"s3://bucket?zone=x": "knows endpoint", "s3://bucket?endpoint=ftp://x": "endpoint that is not",
		"s3://bucket?endpoint=http://u:p@x": "endpoint that is not", "s3://bucket?endpoint=http://x/path": "endpoint that is not",
	} {
		if _, err := s3.Open(name, s3.Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := s3.Open("s3://bucket", s3.Options{}); err != nil || p.String() != "s3://bucket/" {
		t.Errorf("%v, %v", p, err)
	}
}
