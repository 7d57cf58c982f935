package mnemetest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
)

// Proxy passes requests on as rewrite says, each with its body read whole before.
// httputil.ReverseProxy alone cuts answers off now and then: this server closes a
// request's body when the answer begins, and where the transport only then looks for
// the end of that body, it takes the end for a failed write and drops its connection.
func Proxy(rewrite func(*httputil.ProxyRequest)) http.Handler {
	proxy := &httputil.ReverseProxy{Rewrite: rewrite, FlushInterval: -1}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the caller is gone
		}
		if r.Body = http.NoBody; len(body) > 0 {
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		r.ContentLength = int64(len(body))
		proxy.ServeHTTP(w, r)
	})
}
