package tenants_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

var (
	ratio = flag.Float64("ratio", 0,
		"fail where the second organization's p95 rises to more than this times its own alone; 0: print it")
	rounds = flag.Int("rounds", 3, "how often the second organization makes each of its calls in a turn, alone or under a load")
	turns  = flag.Int("turns", 1, "how many turns there are, alone and under the load by turns")
)

func TestMain(m *testing.M) {
	if os.Getenv(isAttacker) != "" {
		if err := attacker(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(harness.Main(m))
}

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

// call is one that an organization makes over and over. Its body has the placeholders of
// an attack's requests.
type call struct {
	name         string
	by           harness.Client
	method, path string
	body         any // as JSON; nil: there is none
	header       []string
}

// calls are the operations of all families; big is how much each takes along.
func (o *tenant) calls(org string, big int) []call {
	filler := strings.Repeat("the quick brown fox jumps over the lazy dog. ", big)
	text := numbered + " " + filler
	documents := harness.Object{"documents": []harness.Object{{"id": "d" + fifty, "text": text}}}
	return []call{
		{"write", o.service, "POST", "/namespaces/docs/documents", documents, nil},
		{"write, answered at once", o.service, "POST", "/namespaces/later/documents", documents,
			[]string{"Prefer", "respond-async"}},
		{"query", o.service, "POST", "/namespaces/docs/query", harness.Object{"query": "fox " + numbered}, nil},
		{"query with rerank", o.service, "POST", "/namespaces/docs/query",
			harness.Object{"query": "fox " + numbered, "rerank": true}, nil},
		{"list", o.service, "GET", "/namespaces", nil, nil},
		{"rerank", o.service, "POST", "/rerank", harness.Object{"query": "fox " + numbered,
			"documents": []string{"a fox " + filler, "a dog"}}, nil},
		{"save", o.memory, "POST", "/api/v1/memories", harness.Object{"endUserId": "u" + five,
			"content": "note " + text}, nil},
		{"search", o.memory, "POST", "/api/v1/search", harness.Object{"endUserId": "u0", "query": "note " + numbered}, nil},
		{"erase", o.memory, "DELETE", "/api/v1/users/gone", nil, nil},
		{"keys", o.admin, "GET", "/admin/v1/organizations/" + org + "/keys", nil, nil},
		{"export", o.admin, "GET", "/admin/v1/organizations/" + org + "/namespaces/docs/export", nil, nil},
	}
}

// json is the body of a call.
func (c call) json(t *testing.T) []byte {
	t.Helper()
	if c.body == nil {
		return nil
	}
	b, err := json.Marshal(c.body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// request is what a client of a call sends.
func (c call) request(t *testing.T) []byte {
	body := c.json(t)
	return append(head(c.by.Key, c.method, c.path, len(body), c.header...), body...)
}

// head is the header of a request with a JSON body of a length.
func head(key, method, path string, length int, more ...string) []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n", method, path, key)
	if length > 0 {
		b = fmt.Appendf(b, "Content-Type: application/json\r\nContent-Length: %d\r\n", length)
	}
	for i := 0; i+1 < len(more); i += 2 {
		b = fmt.Appendf(b, "%s: %s\r\n", more[i], more[i+1])
	}
	return append(b, "\r\n"...)
}

// measured is how long calls took.
type measured struct {
	took   []time.Duration // sorted
	of     map[string][]time.Duration
	failed int
}

// work makes each call so many times, one at a time, and adds what it measures.
func (m *measured) work(t *testing.T, calls []call, rounds int, n *atomic.Int64) {
	t.Helper()
	if m.of == nil {
		m.of = map[string][]time.Duration{}
	}
	for range rounds {
		for _, c := range calls {
			var body any
			if b := c.json(t); b != nil {
				body = with(n.Add(1), b)
			}
			began := time.Now()
			a, err := c.by.Ask(t.Context(), c.method, c.path, body, c.header...)
			took := time.Since(began)
			m.took, m.of[c.name] = append(m.took, took), append(m.of[c.name], took)
			if err != nil || a.Status/100 != 2 {
				m.failed++
				t.Errorf("%s: %v %v", c.name, a, err)
			}
		}
	}
	slices.Sort(m.took)
	for _, some := range m.of {
		slices.Sort(some)
	}
}

// quantile is one of sorted times.
func quantile(took []time.Duration, percent int) time.Duration { return took[len(took)*percent/100] }

// times is how many times as long calls took as others, by a quantile of each.
func times(these, others []time.Duration, percent int) float64 {
	return float64(quantile(these, percent)) / float64(quantile(others, percent))
}

// worst is the kind of call of which a quantile rose the most.
func (m measured) worst(alone measured, percent int) string {
	name, most := "", 0.0
	for kind, took := range m.of {
		if x := times(took, alone.of[kind], percent); x > most {
			name, most = kind, x
		}
	}
	return fmt.Sprintf("%s %.1f", name, most)
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

// attacks are what the first organization does.
func attacks(t *testing.T, acme *tenant) (all []attack) {
	const batch = "/api/v1/memories/batch"
	zipped, stream := bomb(17<<20), bomb(64<<20)
	gzipped := []string{"Content-Encoding", "gzip"}
	imports := head(acme.admin.Key, "POST", "/admin/v1/organizations/acme/namespaces/n"+fifty+"/import", len(stream)+1000,
		gzipped...)
	imports = bytes.Replace(imports, []byte("application/json"), []byte("application/x-ndjson"), 1)
	all = []attack{
		{Name: "slow bodies", Width: 100, Hold: time.Second, Requests: [][]byte{
			append(head(acme.memory.Key, "POST", batch, 30<<20), bytes.Repeat([]byte(" "), 256<<10)...)}},
		{Name: "gzip bombs held open", Width: 32, Hold: time.Second, Requests: [][]byte{
			append(head(acme.memory.Key, "POST", batch, len(zipped)+1000, gzipped...), zipped...),
			append(head(acme.service.Key, "POST", "/rerank", len(zipped)+1000, gzipped...), zipped...)}},
		{Name: "connections held open", Width: 1000, Hold: time.Hour, Requests: [][]byte{
			head(acme.service.Key, "GET", "/namespaces", 0)}},
		{Name: "imports held open", Width: 16, Hold: time.Second, Requests: [][]byte{append(imports, stream...)}},
	}
	for _, c := range acme.calls("acme", 30) {
		all = append(all, attack{Name: "a flood of " + c.name, Width: 64, Requests: [][]byte{c.request(t)}})
	}
	return all
}

// Whatever valid keys of one organization do, no call of another one fails.
func TestOneOrganizationDoesNotStopAnother(t *testing.T) {
	harness.Outside(t)
	site := harness.NewSite(t, config)
	site.Keep = func(line string) bool { return !strings.Contains(line, "msg=call") }
	a, b := newTenant(site, "acme"), newTenant(site, "beta")
	server := site.Serve()
	acme, beta := a(server), b(server)

	var count atomic.Int64
	own := slices.DeleteFunc(beta.calls("beta", 3), func(c call) bool { return c.name == "query with rerank" })
	all := acme.calls("acme", 30)
	var warm measured
	warm.work(t, all, 1, &count) // models, indexes and connections are there
	warm.work(t, own, 2, &count)

	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...any) {
		for _, c := range cells {
			if d, ok := c.(time.Duration); ok {
				c = fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1e3)
			}
			_, _ = fmt.Fprint(w, c, "\t")
		}
		_, _ = fmt.Fprintln(w)
	}
	row("the first one's load", "alone p50", "p95", "calls", "under it p50", "p95", "calls", "failed", "p50 ratio", "p95 ratio",
		"worst p50", "worst p95", "what the first got")
	for _, a := range attacks(t, acme) {
		t.Run(a.Name, func(t *testing.T) {
			a.Addr = strings.TrimPrefix(acme.service.At, "http://")
			var alone, under measured
			answers := map[string]int{}
			for range *turns {
				settle(t, server)
				alone.work(t, own, *rounds, &count)
				stop := a.start(t)
				under.work(t, own, *rounds, &count)
				for status, n := range stop() {
					answers[status] += n
				}
			}
			rise := times(under.took, alone.took, 95)
			row(a.Name, quantile(alone.took, 50), quantile(alone.took, 95), len(alone.took), quantile(under.took, 50),
				quantile(under.took, 95), len(under.took), under.failed,
				fmt.Sprintf("%.1f", times(under.took, alone.took, 50)), fmt.Sprintf("%.1f", rise), under.worst(alone, 50),
				under.worst(alone, 95), answers)
			if *ratio > 0 && rise > *ratio {
				t.Errorf("p95 rose %.1f times, more than %.1f", rise, *ratio)
			}
		})
	}
	_ = w.Flush()
	t.Logf("\n%s", &table)
	server.Alive(t)
}

// settle waits until the server has done what an attack left to it, where the system
// tells how much it computes.
func settle(t *testing.T, server *harness.Server) {
	t.Helper()
	const pause = 200 * time.Millisecond
	used := func() (ticks int) {
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(server.Cmd.Process.Pid), "stat"))
		if err != nil {
			return 0
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		for _, f := range fields[11:13] { // utime and stime, proc(5)
			n, _ := strconv.Atoi(f)
			ticks += n
		}
		return ticks
	}
	for range 100 {
		before := used()
		time.Sleep(pause)
		if used()-before <= 2 { // of 20
			return
		}
	}
}
