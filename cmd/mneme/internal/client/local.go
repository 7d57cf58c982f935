package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// local carries requests to a handler without a socket. An answer is read while
// it is being written, as from a server.
type local struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (l local) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.RemoteAddr = "local"; in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	read, write := io.Pipe()
	a := &answer{head: http.Header{}, body: write, begun: make(chan struct{})}
	// The handler must not wait for a reader that has left.
	stop := context.AfterFunc(r.Context(), func() { _ = write.CloseWithError(r.Context().Err()) })
	go func() {
		defer stop()
		defer in.Body.Close()
		// A handler that gives up on its caller says so by this panic; a server would
		// close the connection.
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				if a.err = r.Context().Err(); a.err == nil {
					a.err = io.ErrUnexpectedEOF
				}
				_ = write.CloseWithError(a.err)
				a.begin()
			default:
				panic(p)
			}
		}()
		l.handler.ServeHTTP(a, in)
		a.WriteHeader(http.StatusOK)                // of an empty answer; else the first status stays
		_ = write.CloseWithError(r.Context().Err()) // nil: a whole answer
	}()
	<-a.begun
	if a.status == 0 {
		return nil, a.err
	}
	return &http.Response{Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: a.sent, Body: read, ContentLength: -1, Request: r}, nil
}

// answer is the handler's side; begun is closed when status and sent are set, or
// err instead.
type answer struct {
	head   http.Header // the handler's
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{}
	status int
	sent   http.Header // as they were with the status
	err    error
}

func (a *answer) begin() { a.once.Do(func() { close(a.begun) }) }

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.head }

// WriteHeader implements http.ResponseWriter. Informational statuses are not kept.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
		a.sent = a.head.Clone()
		a.begin()
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
