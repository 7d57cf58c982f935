package redis_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/mnemehq/mneme/adapters/limit/limittest"
	"github.com/mnemehq/mneme/adapters/limit/redis"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
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
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--port", p, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	urls["real"] = "redis://127.0.0.1:" + p
	return urls
}

func open(t *testing.T, url string) *redis.Budget {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		b, err := redis.Open(ctx, url)
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
	for url, want := range map[string]string{"http://user:hunter2@host": "cannot be read", "redis://:hunter2@127.0.0.1:1/0": "reach the Redis server"} {
		_, err := redis.Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	budget, err := redis.Open(b.Context(), "redis://"+miniredis.RunT(b).Addr())
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
