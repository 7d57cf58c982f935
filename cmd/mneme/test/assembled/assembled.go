package assembled

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/key"
)

// Server is the product as the program puts it together, serving in this process.
type Server struct {
	*app.App
	URL   string
	HTTP  *http.Client
	Close func() // ends it as a shutdown does; once, at the end of the test at the latest

	t testing.TB
}

// Open opens what settings gives for the address where it will serve, and serves
// it.
func Open(t testing.TB, settings func(url string) app.Settings) *Server {
	t.Helper()
	ctx := context.Background() // it closes once the test's own context is done
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := settings(app.URL(l))
	s.Command, s.Version = cmp.Or(s.Command, "test"), cmp.Or(s.Version, "test")
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	opened, err := app.Open(ctx, s)
	if err != nil {
		_ = l.Close() // nobody has called
		t.Fatalf("open the server: %v", err)
	}
	run, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- opened.Serve(run, l) }()
	a := &Server{App: opened, URL: app.URL(l), HTTP: harness.HTTP(), t: t}
	a.Close = sync.OnceFunc(func() {
		a.HTTP.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := opened.Close(ctx); err != nil {
			t.Errorf("close the server: %v", err)
		}
	})
	t.Cleanup(a.Close)
	return a
}

// Issue makes a key.
func (a *Server) Issue(k key.Issue) string {
	a.t.Helper()
	issued, err := a.Keys.Issue(context.Background(), k)
	if err != nil {
		a.t.Fatalf("issue a key: %v", err)
	}
	return issued.Secret
}

// Client asks it with a key.
func (a *Server) Client(key string) harness.Client {
	return harness.Client{T: a.t, At: a.URL, Key: key, HTTP: a.HTTP}
}
