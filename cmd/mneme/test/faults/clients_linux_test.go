package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// tally counts answers by status.
type tally struct {
	mu sync.Mutex
	by map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[what]++
}

// settled waits until the server holds no more goroutines and files than it did
// at rest, but for a few.
func (p *process) settled(within time.Duration, goroutines float64, files int) {
	p.T.Helper()
	p.HTTP.CloseIdleConnections()
	harness.EventuallySees(p.T, "goroutines and files are given back", func() (bool, string) {
		g, f := p.metric("go_goroutines"), p.files()
		// One connection is this one's; idle readers of the store stay open.
		return g <= goroutines+20 && f <= files+40, fmt.Sprintf("%v goroutines of %v, %d files of %d", g, goroutines, f, files)
	})
}

// TestThousandClients lets far more clients ask than the server can serve.
func TestThousandClients(t *testing.T) {
	clients, each := 1000, 3
	if testing.Short() {
		t.Log("SHORTENED: 300 clients instead of 1000 because of -short")
		clients = 300
	}
	s := newSite(t, "", "")
	p := s.start()
	p.fill("crowd", 40)
	p.healthy()
	goroutines, files := p.metric("go_goroutines"), p.files()
	rest := p.resident()

	// crowd sends a number of requests at once, each client over its own
	// connection, and watches the server's health all the while.
	crowd := func(clients, each int, body func(client, i int) (path string, body any), allowed ...int) {
		t.Helper()
		client := &http.Client{Timeout: 90 * time.Second,
			Transport: &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients}}
		defer client.CloseIdleConnections()
		many := p.Client
		many.HTTP = client
		var outcomes tally
		var group sync.WaitGroup
		done := make(chan struct{})
		var slowest atomic.Int64
		var probes sync.WaitGroup
		probes.Go(func() {
			for {
				began := time.Now()
				a, err := p.Ask(context.Background(), "GET", "/health", nil)
				slowest.Store(max(slowest.Load(), int64(time.Since(began))))
				if err != nil || a.Status != 200 {
					t.Errorf("health in a crowd: %v %s", err, a)
					return
				}
				select {
				case <-done:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		})
		began := time.Now()
		for c := range clients {
			group.Go(func() {
				for i := range each {
					path, b := body(c, i)
					a, err := many.Ask(context.Background(), "POST", path, b)
					switch {
					case err != nil:
						t.Errorf("no answer in a crowd: %v", err)
						return
					case !slices.Contains(allowed, a.Status):
						t.Errorf("an answer in a crowd: %s", a)
						return
					case (a.Status == 503 || a.Status == 429) && a.Header.Get("Retry-After") == "":
						t.Errorf("no Retry-After: %s", a)
					}
					outcomes.add(fmt.Sprint(a.Status))
				}
			})
		}
		group.Wait()
		close(done)
		probes.Wait()
		p.Alive(p.T)
		t.Logf("%d clients: answers %v in %s; slowest health %s; memory at rest %d MiB, at most %d MiB", clients, outcomes.by,
			time.Since(began).Round(10*time.Millisecond), time.Duration(slowest.Load()).Round(time.Millisecond),
			rest>>20, p.peak()>>20)
		if slow := time.Duration(slowest.Load()); slow > time.Minute {
			t.Errorf("health took %s", slow)
		}
		if outcomes.by["200"] == 0 && slices.Contains(allowed, 200) {
			t.Error("nothing was served")
		}
	}
	crowd(clients, each, func(c, i int) (string, any) {
		switch c % 4 {
		case 0:
			id := fmt.Sprintf("c%d-%d", c, i)
			return "/namespaces/crowd/documents", object{"documents": []object{{"id": id, "text": "client " + id}}}
		case 1:
			return "/namespaces/crowd/query", object{"query": fmt.Sprintf("amber %d %d", c, i), "mode": "keyword"}
		default:
			return "/namespaces/crowd/query", object{"query": fmt.Sprintf("who wrote about harbor %d of %d", i, c)}
		}
	}, 200, 503, 429)
	const ceiling = 1 << 30
	if got := p.peak(); got > ceiling {
		t.Errorf("a crowd took %d MiB", got>>20)
	}
	p.settled(30*time.Second, goroutines, files)
	p.healthy()

	// Large bodies, which are refused in the end, must not add up in memory.
	large := []byte(`{"documents":[{"id":"a","text":"x","metadata":{"k":"` + strings.Repeat("long ", 8<<20/5) +
		`"}},{"id":"a","text":""}]}`)
	crowd(clients/5, 1, func(int, int) (string, any) { return "/namespaces/crowd/documents", large }, 400, 503, 429)
	if got := p.peak(); got > 2*ceiling {
		t.Errorf("large bodies took %d MiB", got>>20)
	}
	p.settled(30*time.Second, goroutines, files)
	p.healthy()
	p.stop()
}

// connect opens a connection that reads little at once.
func (p *process) connect() *net.TCPConn {
	p.T.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() { c.Close() })
	tcp := c.(*net.TCPConn)
	if err := tcp.SetReadBuffer(4 << 10); err != nil {
		p.T.Fatal(err)
	}
	return tcp
}

// TestNeglectfulClients opens connections and treats them badly.
func TestNeglectfulClients(t *testing.T) {
	t.Parallel() // it mostly waits
	s := newSite(t, "", "timeouts: {header: 1s, idle: 2s, write: 8s}\n")
	p := s.start()
	var docs []object
	for i := range 300 { // 12 MB listed, more than a connection's buffers hold
		docs = append(docs, object{"id": fmt.Sprint("d", i), "text": "large metadata",
			"metadata": object{"k": strings.Repeat("0123456789abcdef", 2500)}})
	}
	for part := range slices.Chunk(docs, 50) {
		p.OK("POST", "/namespaces/slow/documents", object{"documents": part})
	}
	p.healthy()
	goroutines, files := p.metric("go_goroutines"), p.files()
	const each = 10
	head := func(method, path string, more ...string) string {
		return method + " " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key +
			"\r\nContent-Type: application/json\r\n" + strings.Join(more, "")
	}
	write := func(c *net.TCPConn, text string) { _, _ = c.Write([]byte(text)) } // the server may have ended it
	drip := func(c *net.TCPConn, text string, every time.Duration) {
		for i := range len(text) {
			if _, err := c.Write([]byte{text[i]}); err != nil {
				return
			}
			time.Sleep(every)
		}
	}
	long := strings.Repeat("x", 2000)
	kinds := []struct {
		name    string
		act     func(c *net.TCPConn)
		within  time.Duration
		unread  bool // nothing is read; the end shows in the server alone
		answers string
	}{
		{"says nothing", func(*net.TCPConn) {}, 15 * time.Second, false, ""},
		{"drips its header", func(c *net.TCPConn) {
			drip(c, head("GET", "/namespaces/slow/documents")+"X-Long: "+long, 50*time.Millisecond)
		}, 15 * time.Second, false, ""},
		{"stays without a request", func(c *net.TCPConn) { write(c, head("GET", "/health")+"\r\n") }, 6 * time.Second,
			false, " 200 "},
		{"drips its body", func(c *net.TCPConn) {
			write(c, head("POST", "/namespaces/slow/documents", "Content-Length: 2000\r\n\r\n"))
			drip(c, long, 20*time.Millisecond)
		}, 30 * time.Second, false, " 504 "},
		{"stalls in its body", func(c *net.TCPConn) {
			write(c, head("POST", "/namespaces/slow/documents", "Content-Length: 2000\r\n\r\n")+`{"documents":`)
		}, 30 * time.Second, false, " 504 "},
		{"stalls in a body in chunks", func(c *net.TCPConn) {
			write(c, head("POST", "/namespaces/slow/documents", "Transfer-Encoding: chunked\r\n\r\n")+"5\r\n{\"doc\r\n")
		}, 30 * time.Second, false, " 504 "},
		{"half closes in its body", func(c *net.TCPConn) {
			write(c, head("POST", "/namespaces/slow/documents", "Content-Length: 2000\r\n\r\n")+`{"documents":`)
			_ = c.CloseWrite()
		}, 10 * time.Second, false, ""},
		{"half closes after its request", func(c *net.TCPConn) {
			write(c, head("GET", "/namespaces/slow/documents/d0")+"\r\n")
			_ = c.CloseWrite()
		}, 10 * time.Second, false, ""},
		{"resets in its body", func(c *net.TCPConn) {
			write(c, head("POST", "/namespaces/slow/documents", "Content-Length: 2000\r\n\r\n")+`{"documents":`)
			time.Sleep(100 * time.Millisecond)
			_ = c.SetLinger(0)
			_ = c.Close()
		}, 15 * time.Second, false, ""},
		{"sends nonsense", func(c *net.TCPConn) { write(c, "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n") }, 15 * time.Second,
			false, " 400 "},
		{"reads nothing", func(c *net.TCPConn) { write(c, head("GET", "/namespaces/slow/documents?limit=1000")+"\r\n") },
			45 * time.Second, true, ""},
		{"reads a little", func(c *net.TCPConn) {
			write(c, head("GET", "/namespaces/slow/documents?limit=1000")+"\r\n")
			_, _ = io.ReadFull(c, make([]byte, 10<<10)) // less comes when the server is slow, which does not matter
		}, 45 * time.Second, true, ""},
		{"resets while it is answered", func(c *net.TCPConn) {
			write(c, head("GET", "/namespaces/slow/documents?limit=1000")+"\r\n")
			_, _ = c.Read(make([]byte, 1000))
			_ = c.SetLinger(0)
			_ = c.Close()
		}, 15 * time.Second, false, ""},
	}
	var group sync.WaitGroup
	began := time.Now()
	var mu sync.Mutex
	took := map[string]time.Duration{}
	for _, k := range kinds {
		for range each {
			c := p.connect()
			group.Go(func() {
				k.act(c)
				if k.unread {
					return
				}
				_ = c.SetReadDeadline(began.Add(k.within + time.Minute)) // a minute for a machine that has other things to do
				answer, err := io.ReadAll(c)
				var timeout net.Error
				if errors.As(err, &timeout) && timeout.Timeout() {
					t.Errorf("a client that %s keeps its connection", k.name)
				}
				if k.answers != "" && !strings.Contains(string(answer), k.answers) {
					t.Errorf("a client that %s is answered %.200q", k.name, answer)
				}
				mu.Lock()
				took[k.name] = max(took[k.name], time.Since(began).Round(10*time.Millisecond))
				mu.Unlock()
			})
		}
	}
	// The others are served as ever.
	for range 10 {
		p.healthy()
		time.Sleep(100 * time.Millisecond)
	}
	group.Wait()
	// A client that sends far too much is told, though it is still sending.
	for range 5 {
		if a := p.Call("POST", "/namespaces/slow/documents", bytes.Repeat([]byte(" "), 40<<20)); a.Status != 413 {
			t.Errorf("a body of 40 MB: %s", a)
		}
	}
	// Those that read nothing hold a connection until its writing has stalled.
	p.settled(60*time.Second, goroutines, files)
	t.Logf("%d connections ended, the last after %s; %v", len(kinds)*each, time.Since(began).Round(time.Second), took)
	p.healthy()
	p.stop()
}

// longWrite is a write that keeps the model busy for a long time.
func longWrite(documents, bytes int) []byte {
	var docs []object
	for i := range documents {
		var text strings.Builder
		for n := 0; text.Len() < bytes; n++ {
			fmt.Fprintf(&text, "Sentence %d of document %d speaks of winds, tides and the long way home. ", n, i)
		}
		docs = append(docs, object{"id": fmt.Sprint("long-", i), "text": text.String()[:bytes]})
	}
	b, err := json.Marshal(object{"documents": docs})
	if err != nil {
		panic(err)
	}
	return b
}

const writesInFlight = `mneme_operations_in_flight{op="documents.write",transport="http"}`

// begin sends a long write and waits until it is worked on.
func (p *process) begin(ctx context.Context, path string, body []byte) chan error {
	p.T.Helper()
	ended := make(chan error, 1)
	before := 0.0
	if strings.Contains(string(p.Call("GET", "/metrics", nil).Body), writesInFlight) {
		before = p.metric(writesInFlight)
	}
	go func() {
		a, err := p.Ask(ctx, "POST", path, body)
		if err == nil {
			err = fmt.Errorf("answered: %s", a)
		}
		ended <- err
	}()
	harness.Eventually(p.T, "the write begins", func() bool {
		b := p.Call("GET", "/metrics", nil).Body
		return bytes.Contains(b, []byte(writesInFlight)) && p.metric(writesInFlight) > before
	})
	return ended
}

// TestQueriesBesideABigWrite queries while a write of 100 documents of 50 KB
// has the model, and cuts that write off.
func TestQueriesBesideABigWrite(t *testing.T) {
	s := newSite(t, "", "")
	p := s.start()
	p.fill("busy", 20)
	p.healthy()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := p.begin(ctx, "/namespaces/big/documents", longWrite(100, 50<<10))
	time.Sleep(300 * time.Millisecond) // well into the model's work
	var took []time.Duration
	for i := range 40 {
		began := time.Now()
		var q queried
		p.OK("POST", "/namespaces/busy/query", object{"query": fmt.Sprintf("what is written about harbor number %d", i)}).Into(&q)
		if len(q.Results) == 0 || len(q.Degraded) > 0 {
			t.Errorf("a query beside a big write: %+v", q)
		}
		took = append(took, time.Since(began))
	}
	// A small write need not wait for the big one either.
	began := time.Now()
	p.OK("POST", "/namespaces/busy/documents", object{"documents": []object{{"id": "small", "text": "a small text"}}})
	small := time.Since(began)
	select {
	case err := <-ended:
		t.Fatalf("the big write ended before the queries: %v", err)
	default:
	}
	slices.Sort(took)
	t.Logf("queries beside a big write: p50 %s, p95 %s, slowest %s; a small write %s", took[20].Round(time.Millisecond),
		took[37].Round(time.Millisecond),
		took[39].Round(time.Millisecond), small.Round(time.Millisecond))

	// The client leaves: the model is free soon, and nothing is stored.
	left := time.Now()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the cut-off write: %v", err)
	}
	harness.EventuallySees(t, "the cut-off write ends", func() (bool, string) {
		n := p.metric(writesInFlight)
		return n == 0, fmt.Sprint(n, " in flight")
	})
	t.Logf("the cut-off write ended after %s", time.Since(left).Round(time.Millisecond))
	harness.EventuallySees(t, "the processor is free", func() (bool, string) {
		before := p.metric("process_cpu_seconds_total")
		time.Sleep(500 * time.Millisecond)
		used := p.metric("process_cpu_seconds_total") - before
		return used < .2, fmt.Sprint(used, " s of processor time in half a second")
	})
	if a := p.Call("GET", "/namespaces/big", nil); a.Status != 404 {
		t.Errorf("a write that was cut off left %s", a)
	}
	p.healthy()
	p.stop()
}

// TestSignalUnderLoad ends the server in order while it works.
func TestSignalUnderLoad(t *testing.T) {
	s := newSite(t, "", smallIndex)
	for round := range harness.Rounds(t, 3, 1) {
		p := s.start()
		var group sync.WaitGroup
		var mu sync.Mutex
		acked := map[string]int{}
		var asked, slowest atomic.Int64
		type failure struct {
			begun time.Time
			err   error
		}
		var failures []failure
		for c := range 8 {
			group.Go(func() {
				for n := round*1000 + 1; ; n++ {
					begun := time.Now()
					docs := []object{}
					for i := range 3 {
						id := fmt.Sprintf("t%d-%d", c, i)
						docs = append(docs,
							object{"id": id, "text": documentText(id, n), "metadata": documentMetadata("t", id, version{n, n})})
					}
					asked.Add(1)
					a, err := p.Ask(context.Background(), "POST", "/namespaces/term/documents", object{"documents": docs})
					if err != nil {
						mu.Lock()
						failures = append(failures, failure{begun, err})
						mu.Unlock()
						return
					}
					if a.Status != 200 {
						t.Errorf("a write while stopping: %s", a)
						return
					}
					mu.Lock()
					slowest.Store(max(slowest.Load(), int64(time.Since(begun))))
					for i := range 3 {
						acked[fmt.Sprintf("t%d-%d", c, i)] = n
					}
					mu.Unlock()
				}
			})
		}
		harness.Eventually(t, "writes are under way", func() bool { return asked.Load() > 24 })
		at := time.Now()
		p.Signal(p.T, syscall.SIGTERM)
		if err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		// What was sent well before the signal has to be answered: longer before than any
		// answer took, or it may not have reached the server yet.
		before := max(200*time.Millisecond, time.Duration(slowest.Load()))
		for _, f := range failures {
			if f.begun.Before(at.Add(-before)) {
				t.Errorf("a request sent %s before the signal was not answered: %v", at.Sub(f.begun), f.err)
			}
		}
		p = s.start()
		found := p.documents(t, "term")
		for id, n := range acked {
			v, err := consistent(found[id])
			if err != nil || v.text < n {
				t.Errorf("%s is at version %d, %d was acknowledged: %v", id, v.text, n, err)
			}
		}
		p.healthy()
		p.stop()
		t.Logf("%d writes sent, %d documents acknowledged and found, ended after %s", asked.Load(), len(acked),
			time.Since(at).Round(time.Millisecond))
	}
}

// TestSecondSignal ends the server at once.
func TestSecondSignal(t *testing.T) {
	s := newSite(t, "", "")
	p := s.start()
	ended := p.begin(context.Background(), "/namespaces/big/documents", longWrite(50, 50<<10))
	p.Signal(p.T, syscall.SIGTERM)
	select {
	case <-p.Ended:
		t.Fatalf("one signal ends the server with a request in progress: %s", p.Logged())
	case err := <-ended:
		t.Fatalf("the request in progress ended: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	// Signals that come before the first has been taken count as one with it.
	harness.EventuallySees(t, "another signal ends the server", func() (bool, string) {
		_ = p.Cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-p.Ended:
			return true, ""
		default:
			return false, p.Logged()
		}
	})
	if p.Cmd.ProcessState.ExitCode() == 0 {
		t.Error("an abrupt end has exit code 0")
	}
	<-ended
	p = s.start()
	if a := p.Call("GET", "/namespaces/big", nil); a.Status != 404 {
		t.Errorf("a write that was not finished left %s", a)
	}
	p.healthy()
}

// TestDrainEnds stops the server while a request lasts longer than a shutdown
// waits.
func TestDrainEnds(t *testing.T) {
	s := newSite(t, "", "server: {shutdown_timeout: 1s}\n")
	p := s.start()
	body := longWrite(50, 50<<10)
	c := p.connect()
	fmt.Fprintf(c, "POST /namespaces/big/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", s.key, len(body), body)
	harness.Eventually(t, "the write begins", func() bool {
		return bytes.Contains(p.Call("GET", "/metrics", nil).Body, []byte(writesInFlight)) && p.metric(writesInFlight) == 1
	})
	p.HTTP.CloseIdleConnections()
	p.Signal(p.T, syscall.SIGTERM)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("a request cut off by a shutdown is not answered: %v\n%s", err, p.Logged())
	}
	if answer.StatusCode != 503 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a request cut off by a shutdown is answered %d %v", answer.StatusCode, answer.Header)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	p = s.start()
	if a := p.Call("GET", "/namespaces/big", nil); a.Status != 404 {
		t.Errorf("a write that was cut off left %s", a)
	}
	p.healthy()
}
