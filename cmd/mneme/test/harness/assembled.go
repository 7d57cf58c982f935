package harness

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/key"
)

// Assembled is the product as the program puts it together, serving in this process.
type Assembled struct {
	*app.App
	URL   string
	HTTP  *http.Client
	Close func() // ends it as a shutdown does; once, at the end of the test at the latest

	t testing.TB
}

// Assemble opens what settings gives for the address where it will serve, and serves
// it.
func Assemble(t testing.TB, settings func(url string) app.Settings) *Assembled {
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
	a := &Assembled{App: opened, URL: app.URL(l), HTTP: HTTP(), t: t}
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
func (a *Assembled) Issue(k key.Issue) string {
	a.t.Helper()
	issued, err := a.Keys.Issue(context.Background(), k)
	if err != nil {
		a.t.Fatalf("issue a key: %v", err)
	}
	return issued.Secret
}

// Client asks it with a key.
func (a *Assembled) Client(key string) Client {
	return Client{T: a.t, At: a.URL, Key: key, HTTP: a.HTTP}
}
