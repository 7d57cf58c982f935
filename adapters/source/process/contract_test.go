package process_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/source/process"
	"github.com/mnemehq/mneme/adapters/source/sourcetest"
	"github.com/mnemehq/mneme/core/port"
)

const maxItem = 256 << 10

// open starts a program of one kind.
func open(t testing.TB, c process.Config) port.Connector {
	t.Helper()
	p, err := process.Open(t.Context(), "mine", c, maxItem, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if n := len(p.Connectors()); n != 1 {
		t.Fatalf("%d kinds", n)
	}
	return p.Connectors()[0]
}

func goConfig(t testing.TB) process.Config {
	t.Helper()
	c := process.Default()
	c.Command, c.Unverified = []string{build(t, "plugins/examples/source-go")}, true
	return c
}

// pythonConfig is the configuration of the Python example: MNEME_CONNECTOR_PYTHON names the
// interpreter that has its requirements, which lie in .cache by default.
func pythonConfig(t testing.TB) process.Config {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	python := os.Getenv("MNEME_CONNECTOR_PYTHON")
	if python == "" {
		python = filepath.Join(root, ".cache", "connector-python", "bin", "python")
	}
	if _, err := os.Stat(python); err != nil {
		missing(t, python+" (MNEME_CONNECTOR_PYTHON)")
	}
	c := process.Default()
	c.Command = []string{python, filepath.Join(root, "plugins", "examples", "source-python", "connector.py")}
	c.Unverified, c.MTLS = true, "off"
	return c
}

// contract runs the suite of connectors over a program that follows the app.
func contract(t *testing.T, program port.Connector, many int) {
	t.Helper()
	sourcetest.Run(t, func(t *testing.T) sourcetest.Upstream {
		a := newApp(t)
		refuse := func(status int) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(status); return true }
		}
		breaks := func(*testing.T) func() {
			a.answer(refuse(http.StatusBadGateway))
			return func() { a.answer(nil) }
		}
		secrets := map[string]string{"token": firstToken}
		u := sourcetest.Upstream{
			Connector:  program,
			Connection: connection(a.URL, secrets),
			Set:        func(_ *testing.T, items map[string]string) { a.set(items) },
			Many:       many,
			MaxItem:    maxItem,
			Break:      breaks,
			Hang: func(*testing.T) func() {
				hold := make(chan struct{})
				a.answer(func(http.ResponseWriter, *http.Request) bool { <-hold; return true })
				return func() { a.answer(nil); close(hold) }
			},
			Crowd: func(_ *testing.T, n int) {
				items := map[string]string{}
				for i := range n {
					items["crowd/"+strconv.Itoa(i)] = "one of many"
				}
				a.set(items)
			},
			Wrong: []sourcetest.Wrong{
				{Name: "no address", Connection: connection("ftp://x", secrets), Field: "config.url", Code: port.SourceConfig},
				{Name: "a wrong token", Connection: connection(a.URL, map[string]string{"token": "not-this-one-either"}),
					Code: port.SourceCredentials},
				{Name: "nobody there", Connection: connection("http://127.0.0.1:1", secrets), Code: port.SourceUnavailable},
			},
		}
		if many > 500 { // less than that is on its way before the first is taken
			u.BreakMidway = breaks
		}
		return u
	})
}

// TestContract: the example in Go is a connector as any other, over its process.
func TestContract(t *testing.T) { contract(t, open(t, goConfig(t)), 800) }

// TestPythonContract: so is the one in Python.
func TestPythonContract(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	contract(t, open(t, pythonConfig(t)), 120)
}

// TestTokens: tokens that have expired are replaced once, though several calls find it out
// at the same time, and the new ones are kept even where the call that got them has ended.
func TestTokens(t *testing.T) {
	for name, config := range map[string]func(testing.TB) process.Config{"go": goConfig, "python": pythonConfig} {
		t.Run(name, func(t *testing.T) {
			program := open(t, config(t))
			a := newApp(t)
			long := map[string]string{}
			for i := range 8 {
				long["note "+strconv.Itoa(i)] = string(make([]byte, longText))
			}
			a.set(long)
			var mu sync.Mutex
			held := map[string]string{"token": firstToken, "refresh_token": firstRefresh}
			kept := make(chan struct{}, 16)
			conn := func() port.Connection {
				mu.Lock()
				defer mu.Unlock()
				c := connection(a.URL, maps.Clone(held))
				c.Renew = func(ctx context.Context, secrets map[string]string) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					maps.Copy(held, secrets)
					kept <- struct{}{}
					return nil
				}
				return c
			}
			same := func(n int) {
				t.Helper()
				mu.Lock()
				defer mu.Unlock()
				a.mu.Lock()
				defer a.mu.Unlock()
				if a.renewed != n || held["token"] != a.token || held["refresh_token"] != a.refresh {
					t.Errorf("renewed %d times, want %d: %v is kept, the app takes %s and %s", a.renewed, n, held, a.token,
						a.refresh)
				}
			}
			a.expire()
			old := conn() // its secrets are those of before, as in a run that has begun
			var all sync.WaitGroup
			for id := range long {
				all.Go(func() {
					got, err := program.Fetch(t.Context(), old, port.SourceItem{Key: id, Size: -1})
					if err != nil || len(got.File.Content) != longText {
						t.Errorf("%d bytes, %v", len(got.File.Content), err)
					}
				})
			}
			all.Wait()
			<-kept
			same(1)
			// The caller goes while the app is asked for new tokens.
			a.expire()
			ctx, leave := context.WithCancel(t.Context())
			gone := make(chan struct{})
			var once atomic.Bool
			a.answer(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/token" && once.CompareAndSwap(false, true) {
					leave()
					<-gone
				}
				return false
			})
			if _, err := program.Fetch(ctx, conn(), port.SourceItem{Key: "note 1", Size: -1}); !errors.Is(err, context.Canceled) {
				t.Errorf("the caller has gone: %v", err)
			}
			close(gone)
			<-kept
			same(2)
			if err := program.Revoke(t.Context(), conn()); err != nil || len(a.revoked) != 1 || a.revoked[0] != a.refresh {
				t.Errorf("%v: revoked %v", err, a.revoked)
			}
		})
	}
}

// TestWaits: how long the app wants to be left alone is passed on.
func TestWaits(t *testing.T) {
	program := open(t, goConfig(t))
	a := newApp(t)
	for status, want := range map[int]port.SourceCode{http.StatusTooManyRequests: port.SourceRateLimited,
		http.StatusServiceUnavailable: port.SourceUnavailable} {
		a.answer(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(status)
			return true
		})
		_, err := program.Fetch(t.Context(), connection(a.URL, map[string]string{"token": firstToken}),
			port.SourceItem{Key: "a", Size: -1})
		var why *port.SourceError
		if !errors.As(err, &why) || why.Code != want || why.RetryAfter != 90*time.Second {
			t.Errorf("%d: %v, wait %v", status, err, why)
		}
	}
}

// TestProgram: a program that is not the approved one, or that is none, is not started.
func TestProgram(t *testing.T) {
	good := goConfig(t)
	refused := func(what string, change func(*process.Config)) {
		t.Helper()
		c := good
		change(&c)
		if p, err := process.Open(t.Context(), "mine", c, maxItem, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s is started", what)
			_ = p.Close()
		}
	}
	refused("nothing", func(c *process.Config) { c.Command = nil })
	refused("another program", func(c *process.Config) {
		c.Unverified, c.SHA256 = false, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	})
	refused("an unpinned program", func(c *process.Config) { c.Unverified = false })
	if runtime.GOOS != "windows" {
		refused("no connector", func(c *process.Config) { c.Command = []string{"/bin/true"} })
	}
}
