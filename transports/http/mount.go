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
			body := &mountedBody{x: x, parent: r.Context(), body: r.Body}
			defer body.stop()
			r = r.WithContext(r.Context()) // the exchange keeps the body as it is, to read what is left of it
			r.Body = body
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

// How many copies of a body a plain handler may hold in memory at once: of a
// stranger's form its bytes and its fields, of others while they are read, decoded in
// several layers and passed on.
const (
	strangersCopies = 2
	mountedCopies   = 8
)

// How long a plain handler's body may take as a whole: a stranger's form little, one
// of somebody known as long as a write.
const (
	strangersBodyTime = 10 * time.Second
	mountedBodyTime   = 2 * time.Minute
)

// mountedBody is a plain handler's body. What was read of it counts until the
// handler returns. Its errors are faults.
type mountedBody struct {
	x      *exchange
	parent context.Context
	body   io.ReadCloser

	// From the first read on, when it is known whose it is.
	ctx    context.Context
	cancel context.CancelFunc
	from   *source
	copies int64
	read   int64
}

// start begins the body's time.
func (b *mountedBody) start() {
	limit := mountedBodyTime
	if b.copies = mountedCopies; b.x.caller == (account{}) {
		limit, b.copies = strangersBodyTime, strangersCopies
	}
	b.ctx, b.cancel = context.WithTimeout(b.parent, limit)
	reader := &patientReader{x: b.x, ctx: b.ctx, from: b.body}
	b.from = &source{Reader: reader, from: reader}
}

func (b *mountedBody) stop() {
	if b.cancel != nil {
		b.cancel()
	}
}

func (b *mountedBody) Read(p []byte) (int, error) {
	if b.from == nil {
		b.start()
		if !b.x.hold(b.copies) { // a place, before a client is waited for
			return 0, b.x.busy()
		}
	}
	n, err := b.from.Read(p)
	if b.read += int64(n); n > 0 && !b.x.hold(b.copies*b.read) {
		return 0, b.x.busy()
	}
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		b.x.bodyDone = true
		_ = b.x.control.SetReadDeadline(time.Time{}) // from here on only the end of the connection is read
		return n, io.EOF
	}
	return n, b.x.bodyError(b.ctx, err, b.from)
}

// Close implements io.Closer.
func (b *mountedBody) Close() error { return b.body.Close() }
