package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/mnemehq/mneme/core/fault"
)

// listener bounds open connections; more wait to be accepted.
type listener struct {
	net.Listener
	slots chan struct{}
	done  chan struct{}
	once  sync.Once
}

func limitListener(l net.Listener, most int) *listener {
	return &listener{Listener: l, slots: make(chan struct{}, most), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &conn{Conn: c, leave: sync.OnceFunc(func() { <-l.slots })}, nil
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
	leave func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	defer c.leave()
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
