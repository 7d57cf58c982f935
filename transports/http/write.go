package http

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/op"
)

const (
	minZipSize = 1 << 10  // smaller bodies are not worth compressing
	writeStep  = 64 << 10 // bytes that a client must take within Options.WriteIdle
)

func isFlate(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt)
}

// zipWriters keeps gzip's large state between answers.
type zipWriters struct{ pool sync.Pool }

func (z *zipWriters) compress(body []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(body)/4 + 64)
	w, ok := z.pool.Get().(*gzip.Writer)
	if ok {
		w.Reset(&out)
	} else {
		w, _ = gzip.NewWriterLevel(&out, gzip.BestSpeed)
	}
	// Writing to memory can't fail.
	_, _ = w.Write(body)
	_ = w.Close()
	z.pool.Put(w)
	return out.Bytes()
}

// write sends a JSON answer in steps, each with its own deadline, so that a
// client that stops reading loses the connection and a slow one does not.
func (x *exchange) write(status int, body []byte) {
	x.release() // the operation is over, so its body is no longer needed
	head := x.w.Header()
	linger := x.handleUnreadBody()
	if linger {
		head.Set("Connection", "close")
		defer x.drain()
	}
	head.Set("Content-Type", "application/json")
	head.Set("X-Content-Type-Options", "nosniff")
	if len(body) > minZipSize {
		head.Add("Vary", "Accept-Encoding")
		if acceptsGzip(x.r.Header.Values("Accept-Encoding")) {
			body = x.h.zips.compress(body)
			head.Set("Content-Encoding", "gzip")
		}
	}
	head.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	if x.r.Method == http.MethodHead {
		return
	}
	for len(body) > 0 {
		_ = x.control.SetWriteDeadline(time.Now().Add(x.h.writeIdle))
		step := body[:min(len(body), writeStep)]
		if _, err := x.w.Write(step); err != nil {
			return // the client is gone or does not read
		}
		body = body[len(step):]
	}
	_ = x.control.SetWriteDeadline(time.Now().Add(x.h.writeIdle))
}

// stream sends an answer as it comes into being. One that fails on the way ends
// without the last chunk, which a client reads as an error.
func (x *exchange) stream(ctx context.Context, s *op.Spec, status int, body op.Streamer) {
	x.release()
	head := x.w.Header()
	if x.handleUnreadBody() {
		head.Set("Connection", "close")
	}
	head.Set("Content-Type", body.ContentType())
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cache-Control", "no-store")
	x.w.WriteHeader(status)
	if x.r.Method == http.MethodHead {
		return
	}
	w := bufio.NewWriterSize(&patientWriter{x}, writeStep)
	err := body.Stream(ctx, w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		_ = x.control.SetWriteDeadline(time.Now().Add(x.h.writeIdle))
		return
	}
	// What the answer says of its failure arrives before it is cut off.
	if w.Flush() == nil {
		_ = x.control.Flush()
	}
	if ctx.Err() == nil { // a caller that leaves is no failure of the server
		x.h.log.Error("response stream failed", "op", s.Name, "request_id", x.id, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// patientWriter gives each step of a streamed answer the time of a step.
type patientWriter struct{ x *exchange }

func (p *patientWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		_ = p.x.control.SetWriteDeadline(time.Now().Add(p.x.h.writeIdle))
		wrote, err := p.x.w.Write(b[n:min(len(b), n+writeStep)])
		if n += wrote; err != nil {
			return n, err
		}
	}
	return n, nil
}

// handleUnreadBody decides what happens to the rest of a body that nobody read. net/http
// reads the rest of a small one before it answers, so that the connection can be reused;
// this gets a short time limit. For a large one linger is true: the answer is sent first
// and the rest is drained afterwards.
func (x *exchange) handleUnreadBody() (linger bool) {
	if x.bodyDone || x.r.Body == nil || x.r.Body == http.NoBody || x.r.ContentLength == 0 {
		return false
	}
	// Of a connection that is to be closed net/http reads nothing more.
	if !x.r.Close && 0 < x.r.ContentLength && x.r.ContentLength <= smallBody || x.r.Header.Get("Expect") != "" {
		_ = x.control.SetReadDeadline(time.Now().Add(settleTime))
		return false
	}
	return x.control.EnableFullDuplex() == nil
}

// drain reads on after an answer that came before the end of a large body.
// Closing at once would reset the connection, and with it take the answer from
// a client that is still busy sending.
func (x *exchange) drain() {
	if x.bodyFailed || x.control.Flush() != nil {
		return
	}
	_ = x.control.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, x.r.Body, drainBytes) // the answer is out; how this ends does not matter
}

const (
	smallBody  = 256 << 10 // what net/http reads of a body before it gives a connection up
	settleTime = time.Second
	drainTime  = 2 * time.Second
	drainBytes = 64 << 20
)

// acceptsGzip reads Accept-Encoding (RFC 9110 section 12.5.3).
func acceptsGzip(headers []string) bool {
	any := false
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		coding, params, _ := strings.Cut(item, ";")
		ok := true
		if key, q, found := strings.Cut(strings.TrimSpace(params), "="); found && strings.EqualFold(strings.TrimSpace(key), "q") {
			weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			ok = err == nil && weight > 0
		}
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			return ok
		case "*":
			any = ok
		}
	}
	return any
}
