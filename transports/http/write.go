package http

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	zipFrom   = 1 << 10  // smaller bodies are not worth compressing
	writeStep = 64 << 10 // bytes that a client must take within Options.WriteIdle
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
	x.release() // the operation is over, and what it was made from with it
	x.settleBody()
	head := x.w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("X-Content-Type-Options", "nosniff")
	if len(body) > zipFrom {
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
		_ = x.control.SetWriteDeadline(time.Now().Add(x.h.stall))
		step := body[:min(len(body), writeStep)]
		if _, err := x.w.Write(step); err != nil {
			return // the client is gone or does not read
		}
		body = body[len(step):]
	}
	_ = x.control.SetWriteDeadline(time.Now().Add(x.h.stall))
}

// settleBody bounds how long the server waits for the rest of a body that
// nobody read, which it does before it answers.
func (x *exchange) settleBody() {
	if x.bodyDone || x.r.Body == nil || x.r.Body == http.NoBody || x.r.ContentLength == 0 {
		return
	}
	_ = x.control.SetReadDeadline(time.Now().Add(lingerForBody))
}

const lingerForBody = 250 * time.Millisecond

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
