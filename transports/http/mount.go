package http

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// mount gives a plain handler what routes have: a time limit for each step of reading a
// body and writing an answer, the budget for bodies, and answers that arrive even if a
// large body was not read.
func (h *handler) mount(m http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		w := &mountedWriter{x: x}
		if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
			ctx, cancel := context.WithTimeout(r.Context(), mountedBodyTime)
			defer cancel()
			body := r.Body
			r = r.WithContext(r.Context()) // the exchange keeps the body as it is, to read what is left of it
			r.Body = &mountedBody{x: x, ctx: ctx, from: &patientReader{x: x, ctx: ctx, from: body}, body: body}
		}
		m.ServeHTTP(w, r)
		x.release()
		_ = x.control.SetWriteDeadline(time.Now().Add(h.writeIdle))
		if w.linger {
			x.drain()
		}
	})
}

// mountedWriter is the answer of a plain handler.
type mountedWriter struct {
	x             *exchange
	began, linger bool
}

// Header implements http.ResponseWriter.
func (m *mountedWriter) Header() http.Header { return m.x.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (m *mountedWriter) WriteHeader(status int) {
	if !m.began && status >= http.StatusOK {
		m.began = true
		if m.linger = m.x.handleUnreadBody(); m.linger {
			m.Header().Set("Connection", "close")
		}
		_ = m.x.control.SetWriteDeadline(time.Now().Add(m.x.h.writeIdle))
	}
	m.x.w.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (m *mountedWriter) Write(b []byte) (int, error) {
	if !m.began {
		m.WriteHeader(http.StatusOK)
	}
	return (&patientWriter{m.x}).Write(b)
}

// Unwrap is for http.ResponseController.
func (m *mountedWriter) Unwrap() http.ResponseWriter { return m.x.w }

// mountedCopies is how many copies of a body a plain handler may hold in memory at once,
// while it is read, decoded in several layers and passed on.
const mountedCopies = 8

// mountedBodyTime is how long a plain handler's body may take as a whole, as a
// write may.
const mountedBodyTime = 2 * time.Minute

// mountedBody is a plain handler's body. What was read of it counts until the
// handler returns. Its errors are faults.
type mountedBody struct {
	x    *exchange
	ctx  context.Context
	from io.Reader
	body io.Closer
}

func (b *mountedBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if !b.x.hold(b.x.held + mountedCopies*int64(n)) {
		return 0, busy()
	}
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		b.x.bodyDone = true
		_ = b.x.control.SetReadDeadline(time.Time{}) // from here on only the end of the connection is read
		return n, io.EOF
	}
	return n, b.x.bodyError(b.ctx, err, nil, false)
}

// Close implements io.Closer.
func (b *mountedBody) Close() error { return b.body.Close() }
