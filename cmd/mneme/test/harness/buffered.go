package harness

import (
	"bytes"
	"io"
	"net/http"
)

// Buffered gives next each request with its body read whole before, as a
// httputil.ReverseProxy needs it. That alone cuts answers off now and then: the
// server closes a request's body when the answer begins, and where the proxy's
// transport only then looks for the end of that body, it takes what it finds for a
// failed write and drops its connection.
func Buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the caller is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
