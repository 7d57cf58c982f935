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
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// body reads the request's body, expanded, up to limit bytes; nil when there is
// none. A client that stops sending or sends too slowly, and a body that expands
// without end, are cut off. What is held grows with what has arrived.
func (x *exchange) body(ctx context.Context, limit int64) ([]byte, error) {
	r := x.r
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	if err := checkType(r.Header.Get("Content-Type"), "application/json"); err != nil {
		return nil, err
	}
	defer func() { _ = x.control.SetReadDeadline(time.Time{}) }()
	src, err := x.expanded(ctx, limit)
	if err != nil {
		return nil, err
	}
	announced := max(r.ContentLength, 0)
	if src.zipped {
		announced = 0
	}
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			more := grown(int64(cap(buf)), announced, limit)
			if !x.hold(more) {
				return nil, x.busy()
			}
			buf = append(make([]byte, 0, more), buf...)
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, src.tooLarge
		}
		if src.zipped && int64(len(buf)) > freeExpansion+maxExpansion*src.from.received {
			return nil, fault.New(fault.PayloadTooLarge, "the gzip body expands to more than %d times its size", maxExpansion)
		}
		if errors.Is(err, io.EOF) {
			x.bodyDone = true
			break
		}
		if err != nil {
			return nil, x.bodyError(ctx, err, src)
		}
	}
	if len(bytes.TrimSpace(buf)) == 0 {
		return nil, nil
	}
	return buf, nil
}

// How far a gzip body that is held in memory may expand: so many times what was
// sent, and some for nothing. JSON of real texts stays under a third of it.
const (
	maxExpansion  = 32
	freeExpansion = 1 << 20
)

// grown is the next capacity of a buffer that is full, for a body of at most limit
// bytes of which announced are expected; 0: nobody knows how many. One more than
// expected lets the end be seen without growing.
func grown(full, announced, limit int64) int64 {
	switch {
	case 0 < announced && full <= announced && full >= announced/4: // who has sent a quarter is believed
		return announced + 1
	case full < 4<<10:
		return min(4<<10, limit+1)
	case full < 64<<10:
		return min(full*2, limit+1)
	}
	return min(full+full/4, limit+1)
}

// source is a body as it is read.
type source struct {
	io.Reader // decompressed

	from     *patientReader // as it is sent
	zipped   bool
	tooLarge *fault.Error // the fault of a larger one
}

// noBody refuses the body of a request that takes none: what it asks for would be passed
// over, such as a narrower scope.
func (x *exchange) noBody(ctx context.Context) error {
	r := x.r
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	if r.ContentLength < 0 { // its length is not announced, and may be nothing
		defer func() { _ = x.control.SetReadDeadline(time.Time{}) }()
		one := make([]byte, 1)
		n, err := io.ReadFull(&patientReader{x: x, ctx: ctx, from: r.Body}, one)
		if n == 0 && errors.Is(err, io.EOF) {
			x.bodyDone = true
			return nil
		}
		if err != nil {
			return x.bodyError(ctx, err, &source{})
		}
	}
	return fault.New(fault.InvalidRequest, "%s %s takes no body; what it takes stands in the path and the query",
		r.Method, fault.Clip(r.URL.Path))
}

// expanded reads the body decompressed; no more than limit bytes of it as it was
// sent.
func (x *exchange) expanded(ctx context.Context, limit int64) (*source, error) {
	r := x.r
	s := &source{tooLarge: fault.New(fault.PayloadTooLarge, "the body is larger than %d bytes", limit)}
	switch e := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))); e {
	case "", "identity":
	case "gzip", "x-gzip":
		s.zipped = true
	default:
		return nil, fault.Field(fault.InvalidRequest, "Content-Encoding", "must be gzip or absent")
	}
	if r.ContentLength > limit {
		return nil, s.tooLarge
	}
	s.from = &patientReader{x: x, ctx: ctx, from: http.MaxBytesReader(x.w, r.Body, limit)}
	s.Reader = s.from
	if !s.zipped {
		return s, nil
	}
	z, err := gzip.NewReader(s.from)
	if err != nil {
		return nil, x.bodyError(ctx, err, s)
	}
	s.Reader = z
	return s, nil
}

// bodyStream gives the request's body, expanded, to be read piece by piece.
func (x *exchange) bodyStream(ctx context.Context, s *op.Spec) (io.Reader, error) {
	r := x.r
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, fault.New(fault.InvalidRequest, "a body of type %s is required", s.BodyType)
	}
	if s.BodyForm == nil {
		if err := checkType(r.Header.Get("Content-Type"), s.BodyType); err != nil {
			return nil, err
		}
	}
	src, err := x.expanded(ctx, s.MaxBody)
	if err != nil {
		_ = x.control.SetReadDeadline(time.Time{})
		return nil, err
	}
	return &streamedBody{x: x, ctx: ctx, from: src, left: s.MaxBody}, nil
}

// streamedBody is a body that a service reads. Its errors are faults.
type streamedBody struct {
	x    *exchange
	ctx  context.Context
	from *source
	left int64 // of the limit
	err  error // once it ended
}

func (b *streamedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		err = b.from.tooLarge
	}
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		b.x.bodyDone, b.err = true, io.EOF
	} else {
		b.err = b.x.bodyError(b.ctx, err, b.from)
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

func (x *exchange) bodyError(ctx context.Context, err error, s *source) error {
	var max *http.MaxBytesError
	zipped := s.zipped
	switch {
	case errors.As(err, &max):
		return s.tooLarge
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

// patientReader bounds the time that a client takes for its body: it may send
// nothing for BodyIdle, and altogether be waited for as long as that and a second
// for each leastSpeed bytes that came. No read lasts past the operation's deadline.
// Only waiting counts: a service that is slow to take a body is not its client's
// fault.
type patientReader struct {
	x        *exchange
	ctx      context.Context
	from     io.Reader
	received int64
	waited   time.Duration
}

// leastSpeed is how many bytes a second a client has to send on average.
const leastSpeed = 8 << 10

func (p *patientReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	began := time.Now()
	left := p.x.h.bodyIdle + time.Duration(p.received)*time.Second/leastSpeed - p.waited
	until := began.Add(min(p.x.h.bodyIdle, left))
	if d, ok := p.ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	_ = p.x.control.SetReadDeadline(until)
	n, err := p.from.Read(b)
	p.received += int64(n)
	p.waited += time.Since(began)
	return n, err
}
