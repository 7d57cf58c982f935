package opensearch_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Those who write at the same time share refreshes, and see what they wrote, though a shard that is not
// theirs fails to refresh.
func TestWritersShareRefreshes(t *testing.T) {
	const writers = 5
	for name, failure := range map[string]string{"": "", "another shard fails": `{"_shards":{"total":2,"successful":1,
		"failed":1,"failures":[{"reason":"no such node"}]}}`} {
		t.Run(name, func(t *testing.T) {
			s := settings(t)
			first, release := make(chan struct{}), make(chan struct{})
			var held atomic.Bool
			var shared, alone atomic.Int32
			other := open(t, s)
			s.Hosts = []string{between(t, func(r *http.Request, _ string) (int, string) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/_bulk"):
					if held.CompareAndSwap(false, true) {
						close(first)
						<-release
					}
				case strings.HasSuffix(r.URL.Path, "/_refresh"):
					shared.Add(1)
					if failure != "" {
						return http.StatusOK, failure
					}
				case r.Method == http.MethodPut && r.URL.Query().Get("refresh") == "true":
					alone.Add(1)
				}
				return 0, ""
			})}
			x := open(t, s)
			write := func(g int64) {
				if err := x.Apply(t.Context(), part(g), batch(0, fmt.Sprint("heron", g))); err != nil {
					t.Error(err)
				} else if got := find(t, other, part(g), fmt.Sprint("heron", g)); got != "a" {
					t.Errorf("%d: found %q", g, got)
				}
			}
			var begun, others sync.WaitGroup
			begun.Go(func() { write(1) })
			<-first
			for g := range int64(writers) {
				others.Go(func() { write(2 + g) })
			}
			others.Wait()
			close(release)
			begun.Wait()
			if n := shared.Load(); n < 1 || n > writers {
				t.Errorf("%d shared refreshes", n)
			}
			if want := map[bool]int32{true: writers, false: 0}[failure != ""]; alone.Load() != want {
				t.Errorf("%d refreshed their own shard, want %d", alone.Load(), want)
			}
			// Who is alone again asks with its own request.
			before := shared.Load()
			write(100)
			if shared.Load() != before {
				t.Error("a writer alone waited for a refresh of all shards")
			}
		})
	}
}
