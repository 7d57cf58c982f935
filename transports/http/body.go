package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// body reads the request's body, expanded, up to limit bytes; nil when there is
// none. A client that stops sending, and a body that expands without end, are
// cut off.
func (x *exchange) body(ctx context.Context, limit int64) ([]byte, error) {
	r := x.r
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	if err := checkType(r.Header.Get("Content-Type"), "application/json"); err != nil {
		return nil, err
	}
	defer func() { _ = x.control.SetReadDeadline(time.Time{}) }()
	src, zipped, tooLarge, err := x.expanded(ctx, limit)
	if err != nil {
		return nil, err
	}
	size := int64(4 << 10)
	if r.ContentLength > 0 && !zipped {
		// One more than announced, so that the end is seen without growing.
		size = min(r.ContentLength+1, 1<<20)
	}
	if !x.hold(size) {
		return nil, busy()
	}
	buf := make([]byte, 0, size)
	for {
		if len(buf) == cap(buf) {
			more := min(int64(cap(buf))*2, limit+1)
			if !x.hold(more) { // the old and the new are held while one is copied
				return nil, busy()
			}
			buf = append(make([]byte, 0, more), buf...)
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, tooLarge
		}
		if err == io.EOF {
			x.bodyDone = true
			break
		}
		if err != nil {
			return nil, x.bodyError(ctx, err, tooLarge, zipped)
		}
	}
	if len(bytes.TrimSpace(buf)) == 0 {
		return nil, nil
	}
	return buf, nil
}

// expanded reads the body decompressed; no more than limit bytes of it as it was
// sent. tooLarge is the fault of a larger one.
func (x *exchange) expanded(ctx context.Context, limit int64) (src io.Reader, zipped bool, tooLarge *fault.Error, err error) {
	r := x.r
	switch e := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))); e {
	case "", "identity":
	case "gzip", "x-gzip":
		zipped = true
	default:
		return nil, false, nil, fault.Field(fault.InvalidRequest, "Content-Encoding", "must be gzip or absent")
	}
	tooLarge = fault.New(fault.PayloadTooLarge, "the body is larger than %d bytes", limit)
	if r.ContentLength > limit {
		return nil, zipped, nil, tooLarge
	}
	src = &patientReader{x: x, ctx: ctx, from: http.MaxBytesReader(x.w, r.Body, limit)}
	if !zipped {
		return src, false, tooLarge, nil
	}
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, true, nil, x.bodyError(ctx, err, tooLarge, true)
	}
	return z, true, tooLarge, nil
}

// bodyStream gives the request's body, expanded, to be read piece by piece.
func (x *exchange) bodyStream(ctx context.Context, s *op.Spec) (io.Reader, error) {
	r := x.r
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, fault.New(fault.InvalidRequest, "a body of type %s is required", s.BodyType)
	}
	if err := checkType(r.Header.Get("Content-Type"), s.BodyType); err != nil {
		return nil, err
	}
	src, zipped, tooLarge, err := x.expanded(ctx, s.MaxBody)
	if err != nil {
		_ = x.control.SetReadDeadline(time.Time{})
		return nil, err
	}
	return &streamedBody{x: x, ctx: ctx, from: src, left: s.MaxBody, zipped: zipped, tooLarge: tooLarge}, nil
}

// streamedBody is a body that a service reads. Its errors are faults.
type streamedBody struct {
	x        *exchange
	ctx      context.Context
	from     io.Reader
	left     int64 // of the limit
	zipped   bool
	tooLarge *fault.Error
	err      error // once it ended
}

func (b *streamedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		err = b.tooLarge
	}
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		b.x.bodyDone, b.err = true, io.EOF
	} else {
		b.err = b.x.bodyError(b.ctx, err, b.tooLarge, b.zipped)
	}
	_ = b.x.control.SetReadDeadline(time.Time{}) // from here on only the end of the connection is read
	return n, b.err
}

func checkType(header, want string) error {
	if header == "" {
		return nil // nothing else could be meant
	}
	media, params, err := mime.ParseMediaType(header)
	if err == nil && media == want {
		if c, ok := params["charset"]; !ok || strings.EqualFold(c, "utf-8") || strings.EqualFold(c, "utf8") {
			return nil
		}
		return fault.Field(fault.InvalidRequest, "Content-Type", "must have the charset utf-8 or none")
	}
	return fault.Field(fault.InvalidRequest, "Content-Type", "must be %s", want)
}

func (x *exchange) bodyError(ctx context.Context, err error, tooLarge *fault.Error, zipped bool) error {
	var max *http.MaxBytesError
	switch {
	case errors.As(err, &max):
		return tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.bodyFailed = true
		// net/http has cancelled the request's context for this error, which
		// must not look as if the caller had gone.
		return fault.Wrap(fault.Timeout, "read body", err, "the body did not arrive in time")
	case ctx.Err() != nil:
		return ctx.Err()
	case zipped && (errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || isFlate(err)):
		return fault.Wrap(fault.InvalidRequest, "read body", err, "the body is not valid gzip")
	case errors.Is(err, io.ErrUnexpectedEOF) && zipped && x.r.Context().Err() == nil:
		return fault.Wrap(fault.InvalidRequest, "read body", err, "the gzip body ends too early")
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		x.bodyFailed = true
		return context.Canceled // the connection ended
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Wrap(fault.InvalidRequest, "read body", err, "the body could not be read")
}

// patientReader gives each read of a body BodyIdle, never past the operation's
// deadline.
type patientReader struct {
	x    *exchange
	ctx  context.Context
	from io.Reader
}

func (p *patientReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	until := time.Now().Add(p.x.h.bodyIdle)
	if d, ok := p.ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	_ = p.x.control.SetReadDeadline(until)
	return p.from.Read(b)
}

// hold makes the exchange hold n bytes of the budget in place of what it holds.
func (x *exchange) hold(n int64) bool {
	if !x.h.bodies.take(n - x.held) {
		return false
	}
	x.held = n
	return true
}

// release gives back what the exchange holds; it may be called again.
func (x *exchange) release() {
	x.h.bodies.release(x.held)
	x.held = 0
}

func busy() error {
	return fault.New(fault.Unavailable, "the server is busy; retry shortly").After(time.Second)
}

// budget bounds bytes held at once.
type budget struct {
	limit int64
	used  atomic.Int64
}

func newBudget(limit int64) *budget {
	if limit <= 0 {
		limit = 256 << 20
	}
	return &budget{limit: limit}
}

func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.limit && n > 0 {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) release(n int64) { b.used.Add(-n) }
