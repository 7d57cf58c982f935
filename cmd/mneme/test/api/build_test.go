package api_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// While an index is rebuilt, a search answers within its own time, and what no
// search had the time for is done without one.
func TestSearchesDoNotWaitForABuild(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("a", "a zebra enters", ""))
		s.close()
		b.forget(t, s.dir)
		s = s.restart(nil)
		held, begun := make(chan struct{}), make(chan struct{}, 100)
		hold := func() error {
			begun <- struct{}{}
			<-held
			return nil
		}
		s.index.OnApply.Set(hold)
		query := func(ms string) *reply {
			return s.post("/namespaces/docs/query", object{"query": "zebra", "mode": "keyword"}, "X-Timeout-Ms", ms)
		}
		first := make(chan *reply, 1)
		release := sync.OnceFunc(func() { close(held) })
		t.Cleanup(release) // before the server's end, which waits for the build
		go func() { first <- query("3000") }()
		await(t, "the build begins", begun)
		if r := query("500"); r.status != http.StatusGatewayTimeout && r.status != http.StatusServiceUnavailable {
			t.Errorf("during the build: %d %s", r.status, clip(r.body))
		}
		time.Sleep(3 * time.Second) // past the first one's time
		release()
		if r := await(t, "the first query's answer", first); r.status < 500 {
			t.Errorf("after its time: %d %s", r.status, clip(r.body))
		}
		harness.Eventually(t, "the index is there", func() bool {
			return query("10000").status == 200
		})
	})
}
