package tenants_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

var ratio = flag.Float64("ratio", 0,
	"fail where the second organization's p95 rises to more than this times its own alone; 0: print it")

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// config has deadlines that no machine is too slow for: what is to be seen are refusals.
const config = `
timeouts: { read: 2m, query: 2m, rerank: 2m, write: 5m }
`

// tenant is an organization with a key of each family.
type tenant struct {
	service, memory, admin harness.Client
}

func newTenant(s *harness.Site, name string) func(*harness.Server) *tenant {
	s.Mneme("orgs", "create", name)
	service := s.Key("--org", name)
	memory := s.Key("--org", name, "--type", "integration", "--integration", "app", "--scopes",
		"memories:read,memories:write,recall:read,users:erase")
	admin := s.Key("--org", name, "--type", "admin")
	return func(by *harness.Server) *tenant {
		c := by.Client(s.T, service)
		c.HTTP = harness.HTTP()
		return &tenant{c, c.As(memory), c.As(admin)}
	}
}

// call is one that an organization makes over and over.
type call struct {
	name string
	make func(ctx context.Context, n int64) (harness.Answer, error)
}

// calls are the operations of all families; big is how much each takes along.
func (o *tenant) calls(org string, big int) []call {
	filler := strings.Repeat("the quick brown fox jumps over the lazy dog. ", big)
	ask := func(name string, c harness.Client, method, path string, body func(n int64) any, header ...string) call {
		return call{name, func(ctx context.Context, n int64) (harness.Answer, error) {
			var in any
			if body != nil {
				in = body(n)
			}
			return c.Ask(ctx, method, path, in, header...)
		}}
	}
	texts := func(n int64) any {
		return harness.Object{"documents": []harness.Object{{"id": fmt.Sprint("d", n%50), "text": fmt.Sprint(n, " ", filler)}}}
	}
	return []call{
		ask("write", o.service, "POST", "/namespaces/docs/documents", texts),
		ask("write, answered at once", o.service, "POST", "/namespaces/later/documents", texts, "Prefer", "respond-async"),
		ask("query", o.service, "POST", "/namespaces/docs/query", func(n int64) any {
			return harness.Object{"query": fmt.Sprint("fox ", n), "rerank": n%2 == 0}
		}),
		ask("list", o.service, "GET", "/namespaces", nil),
		ask("rerank", o.service, "POST", "/rerank", func(n int64) any {
			return harness.Object{"query": fmt.Sprint("fox ", n), "documents": []string{"a fox " + filler, "a dog"}}
		}),
		ask("save", o.memory, "POST", "/api/v1/memories", func(n int64) any {
			return harness.Object{"endUserId": fmt.Sprint("u", n%5), "content": fmt.Sprint("note ", n, " ", filler)}
		}),
		ask("search", o.memory, "POST", "/api/v1/search", func(n int64) any {
			return harness.Object{"endUserId": "u0", "query": fmt.Sprint("note ", n)}
		}),
		ask("erase", o.memory, "DELETE", "/api/v1/users/gone", nil),
		ask("keys", o.admin, "GET", "/admin/v1/organizations/"+org+"/keys", nil),
		ask("export", o.admin, "GET", "/admin/v1/organizations/"+org+"/namespaces/docs/export", nil),
	}
}

// works makes each call so many times, and says how long each took.
func works(t *testing.T, calls []call, rounds int, n *atomic.Int64) (took []time.Duration) {
	t.Helper()
	for range rounds {
		for _, c := range calls {
			began := time.Now()
			a, err := c.make(t.Context(), n.Add(1))
			took = append(took, time.Since(began))
			if err != nil || a.Status/100 != 2 {
				t.Errorf("%s: %v %v", c.name, a, err)
			}
		}
	}
	return took
}

func p95(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)*95/100]
}

// bomb is a body that expands by the factor of a thousand, as long as it is read.
func bomb(size int) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = io.WriteString(z, `{"memories":[{"content":"`)
	_, _ = z.Write(bytes.Repeat([]byte("x"), size))
	_ = z.Flush()
	return out.Bytes()
}

// socket opens a connection, sends what it is given and then a byte now and then.
func socket(ctx context.Context, addr string, head string, body []byte, every time.Duration) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, err = conn.Write(append([]byte(head), body...))
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(every):
			_, err = conn.Write([]byte(" "))
		}
	}
}

// Whatever valid keys of one organization do, no call of another one fails.
func TestOneOrganizationDoesNotStopAnother(t *testing.T) {
	harness.Outside(t)
	site := harness.NewSite(t, config)
	site.Keep = func(line string) bool { return !strings.Contains(line, "msg=call") }
	a, b := newTenant(site, "acme"), newTenant(site, "beta")
	server := site.Serve()
	acme, beta := a(server), b(server)
	addr := strings.TrimPrefix(acme.service.At, "http://")
	head := func(key, method, path string, length int, more string) string {
		return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n%s\r\n", method, path, key, length, more)
	}
	const batch = "/api/v1/memories/batch"
	zipped, stream := bomb(17<<20), bomb(64<<20)

	var count atomic.Int64
	own := beta.calls("beta", 3)
	rounds := 3
	works(t, own, 2, &count) // models, indexes and connections are there
	alone := p95(works(t, own, 2*rounds, &count))

	// forever runs an attack of so many at once until the context ends.
	forever := func(ctx context.Context, width int, do func(ctx context.Context, i int)) *sync.WaitGroup {
		var all sync.WaitGroup
		for i := range width {
			all.Go(func() {
				for ctx.Err() == nil {
					do(ctx, i)
				}
			})
		}
		return &all
	}
	type attack struct {
		name string
		run  func(ctx context.Context) *sync.WaitGroup
	}
	attacks := []attack{
		{"slow bodies", func(ctx context.Context) *sync.WaitGroup {
			return forever(ctx, 100, func(ctx context.Context, i int) {
				socket(ctx, addr, head(acme.memory.Key, "POST", batch, 30<<20, ""), bytes.Repeat([]byte(" "), 256<<10),
					time.Second)
			})
		}},
		{"gzip bombs held open", func(ctx context.Context) *sync.WaitGroup {
			return forever(ctx, 32, func(ctx context.Context, i int) {
				path, key := batch, acme.memory.Key
				if i%2 == 0 {
					path, key = "/rerank", acme.service.Key
				}
				socket(ctx, addr, head(key, "POST", path, len(zipped)+1000, "Content-Encoding: gzip\r\n"), zipped, time.Second)
			})
		}},
		{"connections held open", func(ctx context.Context) *sync.WaitGroup {
			return forever(ctx, 1000, func(ctx context.Context, i int) {
				socket(ctx, addr, head(acme.service.Key, "GET", "/namespaces", 0, ""), nil, time.Hour)
			})
		}},
		{"imports held open", func(ctx context.Context) *sync.WaitGroup {
			return forever(ctx, 16, func(ctx context.Context, i int) {
				path := fmt.Sprintf("/admin/v1/organizations/acme/namespaces/n%d/import", i)
				h := head(acme.admin.Key, "POST", path, len(stream)+1000, "Content-Encoding: gzip\r\n")
				socket(ctx, addr, strings.Replace(h, "application/json", "application/x-ndjson", 1), stream, time.Second)
			})
		}},
	}
	for i, c := range acme.calls("acme", 30) {
		attacks = append(attacks, attack{"a flood of " + own[i].name, func(ctx context.Context) *sync.WaitGroup {
			return forever(ctx, 64, func(ctx context.Context, _ int) {
				_, _ = c.make(ctx, count.Add(1)) // what becomes of it is its own affair
			})
		}})
	}
	for _, x := range attacks {
		t.Run(x.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			all := x.run(ctx)
			took := works(t, own, rounds, &count)
			cancel()
			all.Wait()
			acme.service.HTTP.CloseIdleConnections()
			under := p95(took)
			t.Logf("p95 %s, alone %s: %.1f times", under.Round(time.Millisecond), alone.Round(time.Millisecond),
				float64(under)/float64(alone))
			if *ratio > 0 && float64(under) > *ratio*float64(alone) {
				t.Errorf("more than %.1f times", *ratio)
			}
		})
	}
	server.Alive(t)
}
