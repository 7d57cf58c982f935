package http_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	mnemehttp "github.com/mnemehq/mneme/transports/http"
)

// mounting serves a plain handler at /plain.
func mounting(t *testing.T, o mnemehttp.Options, h http.HandlerFunc) string {
	t.Helper()
	o.Mounts = map[string]http.Handler{"/plain": h}
	addr, _, _ := serve(t, setup{http: o}, mnemehttp.ServerOptions{})
	return addr
}

const toPlain = " /plain HTTP/1.1\r\nHost: x\r\n"

// A handler may take longer than a client is given to read its answer.
func TestMountedHandlersMayTakeTheirTime(t *testing.T) {
	addr := mounting(t, mnemehttp.Options{WriteIdle: 100 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(400 * time.Millisecond)
		_, _ = io.WriteString(w, ident.RequestID(r.Context()))
	})
	c := dial(t, addr)
	for range 2 { // the connection is kept
		send(t, c, "GET"+toPlain+"X-Request-Id: mine\r\n\r\n")
		if a := receive(t, c); a.status != 200 || a.body != "mine" || a.header.Get("X-Request-Id") != "mine" {
			t.Errorf("%d %q %v", a.status, a.body, a.header)
		}
	}
}

func TestMountedHandlersLoseClientsThatStopReading(t *testing.T) {
	ended := make(chan error, 1)
	addr := mounting(t, mnemehttp.Options{WriteIdle: 100 * time.Millisecond}, func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 64<<20))
		ended <- err
	})
	c := dial(t, addr)
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	send(t, c, "GET"+toPlain+"\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("64 MiB went to nobody")
		}
	case <-time.After(time.Minute):
		t.Fatal("a client that reads nothing holds the server")
	}
}

// An answer that comes before the body was read arrives, however large the body is.
func TestMountedHandlersNeedNotReadTheBody(t *testing.T) {
	addr := mounting(t, mnemehttp.Options{},
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	for name, size := range map[string]int{"small": 10, "large": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			res, err := http.Post("http://"+addr+"/plain", "application/json", strings.NewReader(strings.Repeat("x", size)))
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != 401 {
				t.Errorf("status %d", res.StatusCode)
			}
		})
	}
}

// Reading a body fails with a fault: of a client that stalls, and of a server
// that holds too much already.
func TestMountedBodies(t *testing.T) {
	read := make(chan error, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		read <- err
		w.WriteHeader(fault.Status(fault.CodeOf(err)))
	}
	stalls := dial(t, mounting(t, mnemehttp.Options{BodyIdle: 100 * time.Millisecond}, handler))
	send(t, stalls, "POST"+toPlain+"Content-Length: 10\r\n\r\nx")
	if a := receive(t, stalls); a.status != 504 {
		t.Errorf("a body that stalls: %d", a.status)
	}
	if err := <-read; fault.CodeOf(err) != fault.Timeout {
		t.Errorf("a body that stalls: %v", err)
	}
	addr := mounting(t, mnemehttp.Options{BodyBytes: 1 << 20}, handler) // 64 KiB of it for strangers
	for size, want := range map[int]fault.Code{8 << 10: "", 64 << 10: fault.Unavailable} {
		for range 10 { // what was held is given back
			res, err := http.Post("http://"+addr+"/plain", "application/json", strings.NewReader(strings.Repeat("x", size)))
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if err := <-read; fault.CodeOf(err) != want {
				t.Errorf("%d bytes: %v, want %s", size, err, want)
			}
		}
	}
	leaves := dial(t, addr)
	send(t, leaves, "POST"+toPlain+"Content-Length: 10\r\n\r\nx")
	_ = leaves.Close()
	if err := <-read; err == nil || fault.CodeOf(err) != fault.Canceled {
		t.Errorf("a client that leaves: %v", err)
	}
}

// A client that leaves while a handler works is noticed.
func TestMountedHandlersHearOfLeaving(t *testing.T) {
	working, ended := make(chan struct{}), make(chan error, 1)
	addr := mounting(t, mnemehttp.Options{}, func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		close(working)
		select {
		case <-r.Context().Done():
			ended <- r.Context().Err()
		case <-time.After(time.Minute):
			ended <- errors.New("nothing was noticed")
		}
	})
	c := dial(t, addr)
	send(t, c, "POST"+toPlain+"Content-Length: 1\r\n\r\nx")
	<-working
	_ = c.Close()
	if err := <-ended; fault.CodeOf(err) != fault.Canceled {
		t.Error(err)
	}
}
