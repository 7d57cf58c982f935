package handover_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/handover"
)

// holder is a server that answers with its name, the key and what it was sent.
func holder(t *testing.T, name string) (*handover.Holder, *httptest.Server) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, strings.Join([]string{name, r.Host, r.Header.Get("Authorization"), r.Method, r.URL.Path,
			string(body)}, "|"))
	}))
	t.Cleanup(s.Close)
	return &handover.Holder{URL: s.URL, Host: "links.example", Key: name + "-key", Transport: http.DefaultTransport}, s
}

func call(ctx context.Context, h *handover.Handover, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, handover.Base+"/mcp", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := (&http.Client{Transport: h}).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return string(answer), err
}

func TestTheNextHolderAnswers(t *testing.T) {
	first, server := holder(t, "first")
	second, _ := holder(t, "second")
	var found atomic.Int32
	next := first
	h := &handover.Handover{Find: func() (*handover.Holder, error) {
		if found.Add(1) == 3 { // as while the next one is starting
			return nil, handover.Wait{Err: errors.New("nobody yet")}
		}
		return next, nil
	}}
	if err := h.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := call(t.Context(), h, "one"); err != nil || got != "first|links.example|Bearer first-key|POST|/mcp|one" {
			t.Fatalf("answered %q, %v", got, err)
		}
	}
	if n := found.Load(); n != 1 {
		t.Errorf("looked for the holder %d times", n)
	}
	server.Close()
	next = second
	found.Store(1)
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() {
			got, err := call(t.Context(), h, "two")
			if err != nil || got != "second|links.example|Bearer second-key|POST|/mcp|two" {
				t.Errorf("answered %q, %v", got, err)
			}
		})
	}
	calls.Wait()
	if n := found.Load(); n > 12 {
		t.Errorf("looked for the holder %d times", n)
	}
}

// What the holder took and did not answer whole is asked again.
func TestAnAnswerThatIsCutShort(t *testing.T) {
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) < 3 {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			return
		}
		_, _ = io.WriteString(w, "whole")
	}))
	defer s.Close()
	h := &handover.Handover{Find: func() (*handover.Holder, error) {
		return &handover.Holder{URL: s.URL, Transport: http.DefaultTransport}, nil
	}}
	if got, err := call(t.Context(), h, ""); err != nil || got != "whole" {
		t.Errorf("answered %q, %v", got, err)
	}
}

// A call that each holder dies of is given up.
func TestACallThatEndsItsHolders(t *testing.T) {
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	h := &handover.Handover{Find: func() (*handover.Holder, error) {
		return &handover.Holder{URL: s.URL, Transport: &http.Transport{DisableKeepAlives: true}}, nil
	}}
	if _, err := call(t.Context(), h, "x"); err == nil {
		t.Error("no error")
	}
	if n := calls.Load(); n != 5 {
		t.Errorf("called %d times", n)
	}
}

type failing struct{ calls atomic.Int32 }

func (f *failing) RoundTrip(*http.Request) (*http.Response, error) {
	f.calls.Add(1)
	return nil, errors.New("the handler gave up")
}

// This process does not end before its calls, so what fails here is not asked again.
func TestAFailureHere(t *testing.T) {
	f := new(failing)
	h := &handover.Handover{Find: func() (*handover.Holder, error) {
		return &handover.Holder{URL: "http://local", Transport: f, Here: true}, nil
	}}
	if _, err := call(t.Context(), h, ""); err == nil || !strings.Contains(err.Error(), "gave up") || f.calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, f.calls.Load())
	}
}

type waiting struct{ came, answer chan struct{} }

func (w *waiting) RoundTrip(r *http.Request) (*http.Response, error) {
	close(w.came)
	<-w.answer
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("here")), Request: r}, nil
}

// A holder that gives the folder back answers what it has begun, and what comes later finds
// the next one.
func TestAHolderLeaves(t *testing.T) {
	w := &waiting{make(chan struct{}), make(chan struct{})}
	here := &handover.Holder{URL: "http://local", Transport: w, Here: true}
	next, _ := holder(t, "next")
	var found atomic.Int32
	h := &handover.Handover{Find: func() (*handover.Holder, error) {
		if found.Add(1) == 1 {
			return here, nil
		}
		return next, nil
	}}
	first := make(chan string, 1)
	go func() {
		got, err := call(t.Context(), h, "")
		first <- got + fmt.Sprint(err)
	}()
	<-w.came
	left := make(chan struct{})
	go func() {
		here.Leave()
		close(left)
	}()
	select {
	case <-left:
		t.Error("it left before it answered")
	case <-time.After(50 * time.Millisecond):
	}
	close(w.answer)
	<-left
	if got := <-first; got != "here<nil>" {
		t.Errorf("the first call is answered %q", got)
	}
	if got, err := call(t.Context(), h, "two"); err != nil || got != "next|links.example|Bearer next-key|POST|/mcp|two" {
		t.Errorf("answered %q, %v", got, err)
	}
}

func TestNobodyComes(t *testing.T) {
	gone, server := holder(t, "gone")
	server.Close()
	for name, find := range map[string]func() (*handover.Holder, error){
		"nobody yet": func() (*handover.Holder, error) { return nil, handover.Wait{Err: errors.New("nobody yet")} },
		"refused":    func() (*handover.Holder, error) { return gone, nil },
	} {
		h := &handover.Handover{Find: find, Patience: 100 * time.Millisecond}
		if _, err := call(t.Context(), h, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		h.Patience = 0
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := call(ctx, h, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: a call whose time is up gives %v", name, err)
		}
		cancel()
	}
	var tries atomic.Int32
	h := &handover.Handover{Find: func() (*handover.Holder, error) {
		tries.Add(1)
		return nil, errors.New("no rights")
	}}
	if err := h.Connect(t.Context()); err == nil || err.Error() != "no rights" || tries.Load() != 1 {
		t.Errorf("%v after %d tries", err, tries.Load())
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// A holder that is not there takes no call, so the next one is looked for as long as there is
// patience; after one that took a call and ended, for a few times.
func TestCallsThatNobodyTook(t *testing.T) {
	calls := 0
	over := func(op string) error {
		calls = 0
		h := &handover.Handover{Patience: 400 * time.Millisecond, Find: func() (*handover.Holder, error) {
			return &handover.Holder{URL: "http://gone", Transport: transport(func(*http.Request) (*http.Response, error) {
				calls++
				return nil, &net.OpError{Op: op, Err: errors.New("refused")}
			})}, nil
		}}
		_, err := call(t.Context(), h, "x")
		return err
	}
	if err := over("dial"); err == nil || calls <= 5 {
		t.Errorf("nobody took it: %d calls, %v", calls, err)
	}
	if err := over("read"); err == nil || calls != 5 {
		t.Errorf("each holder ended over it: %d calls, %v", calls, err)
	}
}

// An answer may be 64 MiB long. One that is longer is not cut, but refused.
func TestTheLongestAnswer(t *testing.T) {
	const most = 64 << 20
	for _, n := range []int64{most, most + 1} {
		answer := transport(func(r *http.Request) (*http.Response, error) {
			if r.Body != http.NoBody {
				t.Error("a call without a body has one")
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.LimitReader(zeros{}, n))}, nil
		})
		h := &handover.Handover{Find: func() (*handover.Holder, error) {
			return &handover.Holder{Here: true, URL: "http://here", Transport: answer}, nil
		}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, handover.Base+"/mcp", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.RoundTrip(req)
		if n > most {
			if err == nil || !strings.Contains(err.Error(), "longer than 67108864 bytes") {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		if err != nil || res.ContentLength != n {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }
