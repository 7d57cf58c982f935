package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/middleware"
	mnemehttp "github.com/mnemehq/mneme/transports/http"
)

// serve runs a server until the test ends; stop begins its end and done tells
// that it is over.
func serve(t testing.TB, s setup, o mnemehttp.ServerOptions) (addr string, stop func(), done chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Handler = s.handler(t)
	done = make(chan error, 1)
	finished := make(chan struct{})
	go func() {
		done <- mnemehttp.NewServer(o).Serve(ctx, l)
		close(finished)
	}()
	t.Cleanup(func() {
		cancel()
		<-finished
	})
	return l.Addr().String(), cancel, done
}

// dial opens a connection that never blocks a test for ever.
func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

func send(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// receive reads one answer.
func receive(t testing.TB, c net.Conn) answer {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil && res.StatusCode != http.StatusRequestHeaderFieldsTooLarge { // that one ends with a reset
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

// closed waits for the server to close a connection without an answer.
func closed(t testing.TB, c net.Conn) {
	t.Helper()
	got, err := io.ReadAll(c)
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Error("the connection stayed open")
	}
	if len(got) > 0 {
		t.Errorf("the server answered %q", got)
	}
}

const head = "Host: test\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n"

func TestWire(t *testing.T) {
	addr, _, _ := serve(t, setup{}, mnemehttp.ServerOptions{MaxHeaderBytes: 8 << 10})
	const post = "POST /shelves/a/notes HTTP/1.1\r\n"
	for _, c := range []struct {
		name, request string
		status        int
		want          string
	}{
		{"chunked", post + head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n5\r\n:\"x\"}\r\n0\r\n\r\n", 201, `"id":"x"`},
		{"chunked and empty", post + head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "invalid_json"},
		{"chunked over the limit", post + head + "Transfer-Encoding: chunked\r\n\r\n" +
			strings.Repeat("1000\r\n"+strings.Repeat(" ", 0x1000)+"\r\n", 17) + "0\r\n\r\n", 413, "payload_too_large"},
		{"announced over the limit", post + head + "Content-Length: 99999999999\r\n\r\n", 413, "payload_too_large"},
		{"bad chunk", post + head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, ""},
		{"HTTP/1.0", "GET /shelves/a/notes/b HTTP/1.0\r\n" + head + "\r\n", 200, `"id":"b"`},
		{"HTTP/1.0 with a body", "POST /shelves/a/notes HTTP/1.0\r\n" + head + "Content-Length: 10\r\n\r\n{\"id\":\"x\"}",
			201, `"id":"x"`},
		{"Authorization twice", "GET /shelves/a/notes/b HTTP/1.1\r\nAuthorization: Bearer bad\r\n" + head + "\r\n", 401,
			"unauthorized"},
		{"all of the server", "OPTIONS * HTTP/1.1\r\n" + head + "\r\n", 404, "not_found"},
		{"absolute form", "GET http://test/shelves/a/notes/b HTTP/1.1\r\n" + head + "\r\n", 200, `"id":"b"`},
		{"no key and half a body", post + "Host: test\r\nContent-Length: 1000\r\n\r\n{", 401, "unauthorized"},
		{"wrong method and half a body", "PUT /shelves/a/notes HTTP/1.1\r\n" + head + "Content-Length: 1000\r\n\r\n{",
			405, "method_not_allowed"},
		{"expect without a key", post + "Host: test\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n", 401, "unauthorized"},
		{"odd expectation", "GET /health HTTP/1.1\r\n" + head + "Expect: bogus\r\n\r\n", 417, "Expect"},
		{"header too large", "GET /shelves/a/notes/b HTTP/1.1\r\n" + head + "X-Long: " + strings.Repeat("x", 13<<10) + "\r\n\r\n",
			431, "header is too large"},
		{"broken request line", "GET\r\n\r\n", 400, `"code":"invalid_request"`},
		{"broken header", "GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n", 400, "not valid HTTP"},
		{"two lengths", post + head + "Content-Length: 10\r\nContent-Length: 11\r\n\r\n{\"id\":\"x\"}", 400, "not valid HTTP"},
		{"no host", "GET /health HTTP/1.1\r\n\r\n", 400, "not valid HTTP"},
		{"odd transfer encoding", post + head + "Transfer-Encoding: rot13\r\n\r\n", 501, "does not speak"},
		{"odd version", "GET /health HTTP/3.7\r\nHost: a\r\n\r\n", 505, "does not speak"},
		{"the next protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404, "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, addr)
			_, _ = io.WriteString(conn, c.request) // the server may answer and close before the end
			a := receive(t, conn)
			if a.status != c.status || !strings.Contains(a.body, c.want) {
				t.Errorf("%d %s; want %d with %q", a.status, a.body, c.status, c.want)
			}
			if a.header.Get("X-Request-Id") == "" || !json.Valid([]byte(a.body)) {
				t.Errorf("the answer is not like the others: %v %s", a.header, a.body)
			}
		})
	}
}

func TestConnectionIsKeptAfterARefusedBody(t *testing.T) {
	addr, _, _ := serve(t, setup{}, mnemehttp.ServerOptions{})
	c := dial(t, addr)
	r := bufio.NewReader(c)
	for i := range 3 {
		send(t, c, "POST /shelves/a/notes HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: "+
			"10\r\n\r\n{\"id\":\"x\"}")
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 401 {
			t.Fatalf("request %d: %d %v", i, res.StatusCode, err)
		}
	}
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	addr, _, _ := serve(t, setup{}, mnemehttp.ServerOptions{HeaderTimeout: 200 * time.Millisecond,
		IdleTimeout: 200 * time.Millisecond})
	silent, half := dial(t, addr), dial(t, addr)
	send(t, half, "GET /health HTTP/1.1\r\nHost: te")
	trickle := dial(t, addr)
	go func() {
		for range 100 {
			if _, err := io.WriteString(trickle, "G"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	for _, c := range []net.Conn{silent, half} {
		closed(t, c)
	}
	if _, err := io.ReadAll(trickle); err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Error("a trickling header kept the connection")
		}
	}
	idle := dial(t, addr)
	send(t, idle, "GET /health HTTP/1.1\r\nHost: test\r\n\r\n")
	if a := receive(t, idle); a.status != 200 {
		t.Errorf("%d", a.status)
	}
	closed(t, idle)
}

func TestSlowBodiesAreCutOff(t *testing.T) {
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{BodyIdle: 200 * time.Millisecond}}, mnemehttp.ServerOptions{})
	stalled := dial(t, addr)
	send(t, stalled, "POST /shelves/a/notes HTTP/1.1\r\n"+head+"Content-Length: 100\r\n\r\n{")
	if a := receive(t, stalled); a.status != 504 || a.code(t) != "timeout" {
		t.Errorf("a stalled body: %d %s", a.status, a.body)
	}
	// One that trickles ends with the operation's deadline.
	trickle := dial(t, addr)
	send(t, trickle, "POST /shelves/a/notes HTTP/1.1\r\n"+head+"X-Timeout-Ms: 300\r\nContent-Length: 10000\r\n\r\n{")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := io.WriteString(trickle, " "); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if a := receive(t, trickle); a.status != 504 || a.code(t) != "timeout" {
		t.Errorf("a trickling body: %d %s", a.status, a.body)
	}
}

// A client that reads nothing loses its connection, and one that reads slowly
// does not.
func TestClientsThatStopReading(t *testing.T) {
	ended := make(chan struct{}, 10)
	s := setup{library: library{size: 16 << 20}, http: mnemehttp.Options{WriteIdle: time.Second}}
	inner := s.handler(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_ = mnemehttp.NewServer(mnemehttp.ServerOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() { ended <- struct{}{} }()
			inner.ServeHTTP(w, r)
		})}).Serve(ctx, l)
	}()
	stalled := dial(t, l.Addr().String())
	_ = stalled.(*net.TCPConn).SetReadBuffer(4 << 10)
	send(t, stalled, "GET /shelves/a/notes/b HTTP/1.1\r\n"+head+"\r\n")
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("a client that reads nothing holds the server")
	}
	slow := dial(t, l.Addr().String())
	send(t, slow, "GET /shelves/a/notes/b HTTP/1.1\r\n"+head+"\r\n")
	res, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var n int64
	for { // slower as a whole than WriteIdle
		m, err := io.CopyN(io.Discard, res.Body, 1<<20)
		if n += m; err != nil {
			break
		}
		time.Sleep(80 * time.Millisecond)
	}
	if n != res.ContentLength {
		t.Errorf("a slow client got %d of %d bytes", n, res.ContentLength)
	}
}

func TestDisconnectCancels(t *testing.T) {
	l := &logs{}
	entered, left := make(chan struct{}), make(chan error, 1)
	addr, _, _ := serve(t, setup{logs: l, library: library{write: func(ctx context.Context, _ writeNote) error {
		close(entered)
		<-ctx.Done()
		left <- ctx.Err()
		return ctx.Err()
	}}}, mnemehttp.ServerOptions{})
	c := dial(t, addr)
	send(t, c, "POST /shelves/a/notes HTTP/1.1\r\n"+head+"Content-Length: 10\r\n\r\n{\"id\":\"x\"}")
	<-entered
	_ = c.Close()
	select {
	case err := <-left:
		if err != context.Canceled {
			t.Errorf("the service saw %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the service went on for a caller that had gone")
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(l.String(),
		`msg="caller gone"`); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log says %s", l)
		}
	}
	if strings.Contains(l.String(), "level=ERROR") {
		t.Errorf("a caller that left is logged as a failure: %s", l)
	}
}

// A deadline set while a body was read must not cancel the call later.
func TestReadDeadlineEndsWithTheBody(t *testing.T) {
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{BodyIdle: 50 * time.Millisecond},
		library: library{write: func(ctx context.Context, _ writeNote) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(250 * time.Millisecond):
				return nil
			}
		}}}, mnemehttp.ServerOptions{})
	c := dial(t, addr)
	send(t, c, "POST /shelves/a/notes HTTP/1.1\r\n"+head+"Content-Length: 10\r\n\r\n{\"id\":\"x\"}")
	if a := receive(t, c); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestShutdownDrains(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	addr, stop, done := serve(t, setup{library: library{write: func(context.Context, writeNote) error {
		close(entered)
		<-leave
		return nil
	}}}, mnemehttp.ServerOptions{})
	c := dial(t, addr)
	send(t, c, "POST /shelves/a/notes HTTP/1.1\r\n"+head+"Content-Length: 10\r\n\r\n{\"id\":\"x\"}")
	<-entered
	stop()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n, err := net.Dial("tcp", addr)
		if err != nil {
			break
		}
		_ = n.Close()
		if time.Now().After(deadline) {
			t.Fatal("the server still accepts connections")
		}
	}
	select {
	case err := <-done:
		t.Fatalf("the server ended with a request in flight: %v", err)
	default:
	}
	close(leave)
	if a := receive(t, c); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownCancelsWhatDoesNotEnd(t *testing.T) {
	entered := make(chan struct{})
	addr, stop, done := serve(t, setup{library: library{write: func(ctx context.Context, _ writeNote) error {
		close(entered)
		<-ctx.Done()
		return fault.Wrap(fault.Internal, "store", ctx.Err(), "an internal error occurred")
	}}}, mnemehttp.ServerOptions{Drain: 100 * time.Millisecond})
	c := dial(t, addr)
	send(t, c, "POST /shelves/a/notes HTTP/1.1\r\n"+head+"Content-Length: 10\r\n\r\n{\"id\":\"x\"}")
	<-entered
	stop()
	if a := receive(t, c); a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "shutting down") {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

const health = "GET /health HTTP/1.1\r\nHost: test\r\n\r\n"

// working is a connection whose request the server is reading.
func working(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := tryWork(t, addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tryWork is working where the server may refuse the connection.
func tryWork(t *testing.T, addr string) (net.Conn, error) {
	t.Helper()
	c := dial(t, addr)
	_, err := io.WriteString(c, "POST "+bulk+" HTTP/1.1\r\n"+head+"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n")
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n")))
	}
	return c, err
}

// unserved reports that the server says nothing on a connection.
func unserved(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("a connection over the limit was served")
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
}

// A client waits while all connections serve requests, and has the place of the first
// that no longer does.
func TestConnectionLimit(t *testing.T) {
	for name, free := range map[string]func(net.Conn){
		"that is closed":           func(c net.Conn) { _ = c.Close() },
		"that waits for a request": func(c net.Conn) { send(t, c, `{"id":"x"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			patient := setup{http: mnemehttp.Options{BodyIdle: time.Minute}}
			addr, _, _ := serve(t, patient, mnemehttp.ServerOptions{MaxConnections: 2})
			first := working(t, addr)
			working(t, addr)
			third := dial(t, addr)
			send(t, third, health)
			unserved(t, third)
			free(first)
			if a := receive(t, third); a.status != 200 {
				t.Error(a.status)
			}
		})
	}
}

// Connections that wait for a request keep nobody out: the longest waiting go first. The
// server notes that a connection waits after the client has its answer, so two may have
// begun to wait in the other order: then all begins again.
func TestIdleConnectionsGiveWay(t *testing.T) {
	for range 50 {
		addr, _, _ := serve(t, setup{}, mnemehttp.ServerOptions{MaxConnections: 3})
		silent, first, second := dial(t, addr), dial(t, addr), dial(t, addr)
		for _, c := range []net.Conn{first, second} {
			send(t, c, health)
			if a := receive(t, c); a.status != 200 {
				t.Fatal(a.status)
			}
		}
		for range 2 {
			next := dial(t, addr)
			send(t, next, health)
			if a := receive(t, next); a.status != 200 {
				t.Error(a.status)
			}
		}
		closed(t, silent)
		_, sent := io.WriteString(second, health)
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(second, status); sent != nil || err != nil {
			continue
		}
		if string(status) != "HTTP/1.1 200" {
			t.Errorf("the one that waited least: %s", status)
		}
		closed(t, first)
		return
	}
	t.Error("the connection that waited least gave way each time")
}

// idleFrom is a connection of a loopback address that was served and waits.
func idleFrom(t *testing.T, addr, ip string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		t.Skipf("this machine has no further loopback address: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	send(t, c, health)
	if a := receive(t, c); a.status != 200 {
		t.Fatal(a.status)
	}
	return c
}

// A crowd of one address gives way before the connections of others do. The server notes
// that a connection waits after the client has its answer, so the lone one may have been
// the only one that could give way: then all begins again.
func TestCrowdedAddressesGiveWay(t *testing.T) {
	for range 50 {
		addr, _, _ := serve(t, setup{}, mnemehttp.ServerOptions{MaxConnections: 3})
		lone := idleFrom(t, addr, "127.0.0.2")
		var crowd []net.Conn
		for range 4 {
			crowd = append(crowd, idleFrom(t, addr, "127.0.0.1"))
		}
		_, sent := io.WriteString(lone, health)
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(lone, status); sent != nil || err != nil {
			continue
		}
		if string(status) != "HTTP/1.1 200" {
			t.Errorf("the lone connection, which waited longest: %s", status)
		}
		gone := make(chan bool, len(crowd))
		for _, c := range crowd {
			go func() {
				_, err := c.Read(make([]byte, 1))
				gone <- err != nil && !isTimeout(err)
			}()
		}
		for range 2 { // the two that stay are read from until the test ends
			if !<-gone {
				t.Error("more than two of the crowd stayed")
			}
		}
		return
	}
	t.Error("the lone connection, which waited longest, gave way each time")
}

// An address has no more connections than it may, but for those that wait.
func TestConnectionsOfAnAddress(t *testing.T) {
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{BodyIdle: time.Minute}}, mnemehttp.ServerOptions{PerAddress: 2})
	elsewhere := []net.Conn{idleFrom(t, addr, "127.0.0.2"), idleFrom(t, addr, "127.0.0.2")}
	first, idle := working(t, addr), idleFrom(t, addr, "127.0.0.1")
	// In the place of the idle one, of which the server notes that it waits after the client has its answer.
	for try := 0; ; try++ {
		if _, err := tryWork(t, addr); err == nil {
			break
		} else if try == 1000 {
			t.Fatalf("an idle connection does not give way: %v", err)
		}
	}
	closed(t, idle)
	for _, c := range elsewhere {
		send(t, c, health)
		if a := receive(t, c); a.status != 200 {
			t.Errorf("a connection of another address: %d", a.status)
		}
	}
	refused := dial(t, addr)
	if _, err := refused.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("a third connection: %v", err)
	}
	send(t, first, `{"id":"x"}`)
	if a := receive(t, first); a.status != 201 {
		t.Error(a.status)
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// Bodies over the budget are refused rather than held.
func TestBodyBudget(t *testing.T) {
	var g gauges
	addr, _, _ := serve(t, setup{http: mnemehttp.Options{BodyBytes: 256 << 10, Gauge: g.add}}, mnemehttp.ServerOptions{})
	body := fmt.Sprintf(`{"id":"x","text":%q}`, strings.Repeat("t", 40<<10))
	full := "POST /shelves/a/notes HTTP/1.1\r\n" + head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
	holder := dial(t, addr)
	send(t, holder, strings.Replace(full, "\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n", 1))
	// The server asks for the body when it holds room for it.
	const goOn = "HTTP/1.1 100 Continue\r\n\r\n"
	got := make([]byte, len(goOn))
	_ = holder.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(holder, got); err != nil || string(got) != goOn {
		t.Fatalf("%q, %v", got, err)
	}
	send(t, holder, body[:20<<10])
	g.await(t, 40<<10)
	c := dial(t, addr)
	_, _ = io.WriteString(c, full+body)
	if a := receive(t, c); a.status != 503 || a.header.Get("Retry-After") != "1" {
		t.Errorf("two bodies were held in a budget for one: %d %s", a.status, a.body)
	}
	send(t, holder, body[20<<10:])
	if a := receive(t, holder); a.status != 201 {
		t.Errorf("the holder got %d %s", a.status, a.body)
	}
	if a := do(t, "POST", "http://"+addr+"/shelves/a/notes", body); a.status != 201 {
		t.Errorf("the budget was not given back: %d %s", a.status, a.body)
	}
}

// Many clients at once get an answer each: work or an honest 503.
func TestManyClients(t *testing.T) {
	gate := fair.NewGate(4, 16, 200*time.Millisecond)
	addr, _, _ := serve(t, setup{chain: middleware.Options{Gate: gate},
		library: library{write: func(context.Context, writeNote) error {
			time.Sleep(2 * time.Millisecond)
			return nil
		}}}, mnemehttp.ServerOptions{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	for range 300 {
		wg.Go(func() {
			a := do(t, "POST", "http://"+addr+"/shelves/a/notes", `{"id":"x"}`)
			mu.Lock()
			counts[a.status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if counts[201] == 0 || counts[201]+counts[503] != 300 {
		t.Errorf("answers %v", counts)
	}
	if gate.InUse() != 0 || gate.Waiting() != 0 {
		t.Errorf("%d slots and %d places are still held", gate.InUse(), gate.Waiting())
	}
}

// BenchmarkServer is a call over a loopback connection, from many clients.
func BenchmarkServer(b *testing.B) {
	for _, clients := range []int{1, 64, 1000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			addr, _, _ := serve(b, setup{}, mnemehttp.ServerOptions{})
			conns := make(chan *bufio.ReadWriter, clients)
			for range clients {
				c := dial(b, addr)
				_ = c.SetDeadline(time.Time{})
				conns <- bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriter(c))
			}
			request := "POST /shelves/a/notes HTTP/1.1\r\n" + head + "Content-Length: 10\r\n\r\n{\"id\":\"x\"}"
			var wg sync.WaitGroup
			work := make(chan struct{})
			for range clients {
				wg.Go(func() {
					c := <-conns
					for range work {
						_, _ = c.WriteString(request)
						_ = c.Flush()
						res, err := http.ReadResponse(c.Reader, nil)
						if err != nil {
							b.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, res.Body)
						_ = res.Body.Close()
						if res.StatusCode != 201 {
							b.Error(res.StatusCode)
							return
						}
					}
				})
			}
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			wg.Wait()
		})
	}
}
