package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	mux := http.NewServeMux()
	answer := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	mux.HandleFunc("GET /health", answer(200, `{"status":"ok"}`))
	mux.HandleFunc("GET /health/deep", answer(503, `{"status":"error","time":"2026-01-01T00:00:00Z"}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	addr := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(addr, ":")

	if r := mneme(t, "healthcheck", "--url", server.URL); r.Code != 0 || r.Stdout != "ok\n" {
		t.Errorf("a server that is well: %+v", r)
	}
	if r := mneme(t, "healthcheck", "--deep", "--url", server.URL); r.Code != 1 || !strings.Contains(r.Stderr, "503") {
		t.Errorf("a server that is not: %+v", r)
	}
	if r := mnemeIn(t, "", []string{"MNEME_ADDR=0.0.0.0:" + port}, "healthcheck"); r.Code != 0 {
		t.Errorf("the configured address: %+v", r)
	}
	if r := mnemeIn(t, "", []string{"MNEME_ADDR=127.0.0.1:1", "MNEME_ADMIN_ADDR=0.0.0.0:" + port}, "healthcheck"); r.Code != 0 {
		t.Errorf("the second address: %+v", r)
	}
	if r := mnemeIn(t, "", []string{"MNEME_ADDR=127.0.0.1:0"}, "healthcheck"); r.Code != 2 {
		t.Errorf("an address that is not known: %+v", r)
	}
	server.Close()
	if r := mneme(t, "healthcheck", "--url", server.URL); r.Code != 1 {
		t.Errorf("no server: %+v", r)
	}
}
