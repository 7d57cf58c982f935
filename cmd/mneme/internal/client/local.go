package client

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// local carries requests to a handler without a socket.
type local struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (l local) RoundTrip(r *http.Request) (_ *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	in.Host, in.RemoteAddr = r.URL.Host, "local"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	w := &answer{head: http.Header{}}
	// A handler that gives up on its caller says so by this panic; a server would
	// close the connection.
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			if err = r.Context().Err(); err == nil {
				err = io.ErrUnexpectedEOF
			}
		default:
			panic(p)
		}
	}()
	l.handler.ServeHTTP(w, in)
	w.WriteHeader(http.StatusOK) // of an empty answer; else the first status stays
	return &http.Response{Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r}, nil
}

type answer struct {
	status int
	head   http.Header // the handler's
	sent   http.Header // as they were with the status
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.head }

// WriteHeader implements http.ResponseWriter. Informational statuses are not kept.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
		a.sent = a.head.Clone()
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
