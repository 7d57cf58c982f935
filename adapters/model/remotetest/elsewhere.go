package remotetest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// elsewhere is a server that nobody should call.
type elsewhere struct{ calls atomic.Int64 }

func (e *elsewhere) start(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { e.calls.Add(1) }))
	t.Cleanup(s.Close)
	return s.URL
}
