package http

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/transports/codec"
)

// listener bounds open connections. When all are taken, one that waits for a request
// is closed for the next client: the longest waiting of those of the address that has
// most, so that nobody keeps others out by holding connections. Where none waits, the
// next client does.
type listener struct {
	net.Listener
	slots chan struct{}
	each  int         // most of one address; 0: any number
	tls   *tls.Config // nil: what is sent is not encrypted
	done  chan struct{}
	once  sync.Once

	mu     sync.Mutex
	open   map[*conn]struct{}
	by     map[string]int // open ones of an address
	wanted bool           // a client waits for a slot
}

func limitListener(l net.Listener, most, each int, encrypted *tls.Config) *listener {
	return &listener{Listener: l, slots: make(chan struct{}, most), each: each, tls: encrypted, done: make(chan struct{}),
		open: map[*conn]struct{}{}, by: map[string]int{}}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: accepted, raw: accepted, of: l, address: codec.Address(accepted.RemoteAddr().String(), nil)}
		if !l.admit(c) || !l.enter() {
			_ = accepted.Close() // nothing was said on it
			select {
			case <-l.done:
				return nil, net.ErrClosed
			default:
				continue
			}
		}
		if l.tls != nil { // the handshake is part of the first read, and so of the header's time
			c.Conn = tls.Server(accepted, l.tls)
		}
		l.add(c)
		return c, nil
	}
}

// admit makes room among the connections of an address that has as many as it may.
func (l *listener) admit(c *conn) bool {
	l.mu.Lock()
	full := l.each > 0 && l.by[c.address] >= l.each
	l.mu.Unlock()
	return !full || l.evict(func(k *conn) bool { return k.address == c.address })
}

// enter takes a slot; false: the listener is closed.
func (l *listener) enter() bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
	}
	l.want(true)
	defer l.want(false)
	l.evict(anyConn)
	select {
	case l.slots <- struct{}{}:
		return true
	case <-l.done:
		return false
	}
}

func (l *listener) want(wanted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted = wanted
}

func (l *listener) add(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.since = time.Now()
	l.open[c] = struct{}{}
	l.by[c.address]++
}

func (l *listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
	if l.by[c.address]--; l.by[c.address] == 0 {
		delete(l.by, c.address)
	}
	<-l.slots
}

func anyConn(*conn) bool { return true }

// evict closes a connection that waits for a request, if there is one among those.
func (l *listener) evict(among func(*conn) bool) bool {
	l.mu.Lock()
	var worst *conn
	for c := range l.open {
		if c.since.IsZero() || !among(c) {
			continue
		}
		if worst == nil || l.by[c.address] > l.by[worst.address] ||
			l.by[c.address] == l.by[worst.address] && c.since.Before(worst.since) {
			worst = c
		}
	}
	if worst != nil {
		worst.since = time.Time{} // nobody chooses it again
	}
	l.mu.Unlock()
	if worst != nil {
		_ = worst.raw.Close() // its reader closes the rest; a farewell by TLS could take long
	}
	return worst != nil
}

// follow notes whether a connection waits for a request. net/http calls it active
// when the header of one has arrived whole.
func (l *listener) follow(c net.Conn, state http.ConnState) {
	k, ok := c.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	switch state {
	case http.StateActive:
		k.since = time.Time{}
	case http.StateIdle:
		k.since = time.Now()
	}
	wanted := l.wanted && state == http.StateIdle
	l.mu.Unlock()
	if wanted {
		l.evict(anyConn)
	}
}

// Close implements net.Listener and wakes an Accept that waits for a slot.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// conn is a connection that gives its slot back. It also turns the plain text
// that net/http answers to what is no HTTP into the JSON error with a request
// id that every answer has.
type conn struct {
	net.Conn
	raw     net.Conn // below TLS
	of      *listener
	address string
	left    sync.Once

	since time.Time // since when it waits for a request; zero: it serves one. Under of.mu.
}

// Close implements net.Conn.
func (c *conn) Close() error {
	defer c.left.Do(func() { c.of.remove(c) })
	return c.Conn.Close()
}

// CloseWrite lets net/http end an answer to a client that still sends.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// plainHead ends the header of net/http's own errors, which it writes at once.
var plainHead = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// expectationFailed begins net/http's answer to a field Expect that it does not know.
var expectationFailed = []byte("HTTP/1.1 417 ")

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(b, []byte("HTTP/1.1 ")) {
		return c.Conn.Write(b)
	}
	if bytes.HasPrefix(b, expectationFailed) { // which only net/http answers
		return len(b), c.answer("417", "the field Expect asks for what this server does not do")
	}
	head, message, ok := bytes.Cut(b, plainHead)
	if !ok || bytes.Contains(head, []byte("\r\n")) {
		return c.Conn.Write(b)
	}
	return len(b), c.answer(string(head[len("HTTP/1.1 "):]), string(message))
}

func (c *conn) answer(line, message string) error {
	_, err := c.Conn.Write(protocolError(line, message))
	return err
}

// protocolError is the answer to a request that no handler saw.
func protocolError(line, message string) []byte {
	status, err := strconv.Atoi(line[:min(3, len(line))])
	if err != nil {
		status = http.StatusBadRequest
	}
	var e namespaceError
	e.Error.Code, e.Error.Message, e.Error.RequestID = fault.InvalidRequest, "the request is not valid HTTP: "+message,
		newRequestID()
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		e.Error.Message = "the request's header is too large"
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		e.Error.Message = "the request asks for a protocol that this server does not speak: " + message
	}
	body, err := json.Marshal(e)
	if err != nil {
		body = []byte("{}")
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Request-Id: %s\r\nContent-Length: "+
		"%d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), e.Error.RequestID, len(body), body)
}
