package redis_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/mnemehq/mneme/adapters/limit/limittest"
	"github.com/mnemehq/mneme/adapters/limit/redis"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// servers are the ones to test against: one in process, and the real one where
// redis-server is on the PATH.
func servers(t *testing.T) map[string]string {
	urls := map[string]string{"in process": "redis://" + miniredis.RunT(t).Addr()}
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("MNEME_TEST_REQUIRE_REDIS") != "" {
			t.Fatal("redis-server is not on the PATH")
		}
		t.Log("NOT RUN against a real server: redis-server is not on the PATH")
		return urls
	}
	dir, err := os.MkdirTemp("", "mneme-redis-") // t.TempDir's names are too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "redis")
	cmd := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	urls["real"] = "unix://" + socket
	return urls
}

func open(t *testing.T, url string) *redis.Budget {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		b, err := redis.Open(ctx, redis.Config{URL: registry.Secret(url)})
		if err == nil {
			t.Cleanup(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
			return b
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestContract(t *testing.T) {
	for name, url := range servers(t) {
		t.Run(name, func(t *testing.T) {
			limittest.Run(t, func(t *testing.T) port.Budget { return open(t, url) })
		})
	}
}

func TestOpenErrors(t *testing.T) {
	for url, want := range map[string]string{"http://user:hunter2@host": "cannot be read",
		"redis://:hunter2@127.0.0.1:1/0": "reach the Redis server"} {
		_, err := redis.Open(t.Context(), redis.Config{URL: registry.Secret(url)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestValidate(t *testing.T) {
	const unreadable = "url: the URL of the Redis server cannot be read"
	for url, want := range map[string]string{"": "url: is needed", "http://u:hunter2@host": unreadable,
		"redis://u:hunter2@host/one": unreadable, "redis://u:hunter2@host/-1": unreadable, "redis:hunter2": unreadable,
		"redis://u:hunter2@host?pool=5": unreadable, "unix://u:hunter2@": unreadable, "redis://u:hunter2@ho st": unreadable} {
		err := redis.Config{URL: registry.Secret(url)}.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"rediss://u:p@host:6380/1", "redis://host", "redis://host/", "redis://host/0",
		"redis://host?db=2", "unix:///run/redis?db=3"} {
		if err := (redis.Config{URL: registry.Secret(url)}).Validate(); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

var charge = port.Charge{Rate: ident.Rate{PerMinute: 60}, Units: 1}

// The URL names who signs in, and the database.
func TestURLs(t *testing.T) {
	server := miniredis.RunT(t)
	server.RequireUserAuth("ann", "secret")
	server.RequireAuth("common")
	for url, database := range map[string]int{"redis://ann:secret@": 0, "redis://:common@": 0, "redis://ann:secret@/3": 3,
		"redis://:common@?db=4": 4} {
		at, path, _ := strings.Cut(url, "@")
		server.FlushAll()
		if _, err := open(t, at+"@"+server.Addr()+path).Draw(t.Context(), "k", charge); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if len(server.DB(database).Keys()) != 1 {
			t.Errorf("%s: nothing is in database %d", url, database)
		}
	}
	for _, who := range []string{"", "ann:wrong@", ":wrong@"} {
		_, err := redis.Open(t.Context(), redis.Config{URL: registry.Secret("redis://" + who + server.Addr())})
		if err == nil || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("%q: %v", who, err)
		}
	}
}

// Connections that the server ended are replaced within the call that finds out.
func TestServerRestarts(t *testing.T) {
	server := miniredis.RunT(t)
	b := open(t, "redis://"+server.Addr())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := b.Draw(t.Context(), "k", charge); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, meanwhile := range []bool{false, true} {
		server.Close()
		if meanwhile {
			if _, err := b.Draw(t.Context(), "k", charge); err == nil {
				t.Error("a draw from a server that is away")
			}
		}
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Draw(t.Context(), "k", charge); err != nil {
			t.Error(err)
		}
	}
}

// The component opens what its configuration names, and says when it cannot.
func TestRegister(t *testing.T) {
	r := registry.New()
	redis.Register(r)
	info, ok := r.Limit.Component("redis")
	if !ok {
		t.Fatal("the component is not registered under its name")
	}
	s := info.Select()
	s.Config.(*redis.Config).URL = registry.Secret("redis://" + miniredis.RunT(t).Addr())
	b, err := r.Limit.Open(t.Context(), s, registry.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if b, err := r.Limit.Open(t.Context(), info.Select(), registry.Env{}); b != nil || err == nil {
		t.Errorf("without a URL: %v, %v", b, err)
	}
}

func BenchmarkDraw(b *testing.B) {
	budget, err := redis.Open(b.Context(), redis.Config{URL: registry.Secret("redis://" + miniredis.RunT(b).Addr())})
	if err != nil {
		b.Fatal(err)
	}
	defer budget.Close()
	for b.Loop() {
		if _, err := budget.Draw(b.Context(), "k/read", port.Charge{Rate: ident.Rate{PerMinute: 600}, Units: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
