package replicas_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/ident"
)

// database is the PostgreSQL of the tests that do not restart it.
var database *postgrestest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	database = postgrestest.Start()
	defer database.Stop()
	return harness.Main(m)
}

// tenant is one of two organizations that name everything alike.
type tenant struct {
	org    string
	mark   string // a word in every text of this tenant and in none of the other's
	key    string // a service key
	memory string // an integration's key with all rights
	mirror *mirror
}

// fleet is some replicas over one set of backends.
type fleet struct {
	t        testing.TB
	set      set
	postgres *postgrestest.Server
	again    func()        // stops the database server that up has started
	dsn      string        // of the store; "" with SQLite
	own      string        // a database to use in place of one of postgres
	others   string        // settings of the store beside it
	index    outside       // nil: all of it is in the processes
	beside   *harness.Site // where commands are run
	key      string        // a service key of the first tenant
	admin    string
	tenants  []*tenant
	replicas []*replica
	turn     atomic.Int64
	calls    atomic.Int64
	kills    atomic.Int64
	refused  atomic.Int64 // 503 with Retry-After
	worst    atomic.Int64 // ns from a call's first attempt to its success
}

// replica is one place where a server runs, and is started again.
type replica struct {
	f    *fleet
	site *harness.Site

	mu     sync.Mutex
	server *harness.Server // nil: not up
	all    []*harness.Server
}

// start starts three replicas together on empty backends: PostgreSQL with the
// index in the processes, without a sparse model, which most tests do without.
func start(t testing.TB, limits string) *fleet {
	t.Helper()
	f := &fleet{t: t, set: set{name: "postgres+embedded", replicas: 3}, postgres: database}
	f.begin("roles: {sparse: off, rerank: off}\n" + "limits: {" + limits + "}\n")
	return f
}

// begin starts the replicas of the fleet's set with further settings.
func (f *fleet) begin(settings string) {
	f.t.Helper()
	t := f.t
	f.beside = harness.NewSite(t, f.backends()+settings)
	for i := range f.set.replicas {
		site := *f.beside
		site.Data = filepath.Join(t.TempDir(), strconv.Itoa(i))
		site.Env = append(slices.Clone(site.Env), "PGAPPNAME=replica"+strconv.Itoa(i)) // for PostgreSQL to say whose is what
		f.replicas = append(f.replicas, &replica{f: f, site: &site})
	}
	if f.set.sqlite { // the store is in there
		f.beside.Data = f.replicas[0].site.Data
	}
	t.Cleanup(func() {
		for i, r := range f.replicas {
			r.kill()
			if t.Failed() {
				t.Logf("replica %d:\n%s", i, r.tail())
			}
		}
	})
	var all sync.WaitGroup
	for _, r := range f.replicas {
		all.Go(r.start)
	}
	all.Wait()
	for _, r := range f.replicas {
		if r.running() == nil {
			t.Fatal("a replica did not start")
		}
	}
	// The first key is made beside the servers, the others over HTTP.
	f.admin = f.beside.Key("--type", "admin", "--all-organizations")
	f.key = f.issue(ident.DefaultOrg, object{"name": "test"})
}

// issue makes a key of an organization.
func (f *fleet) issue(org string, key object) string {
	f.t.Helper()
	secret, _ := f.ok(f.admin, "POST", "/admin/v1/organizations/"+org+"/keys", key).JSON()["secret"].(string)
	return secret
}

// kept says which lines of a log are worth it: one a request is too much, and what
// replicas that come and go refuse is checked by those who ask.
func kept(line string) bool {
	return !strings.Contains(line, "msg=call") && !strings.Contains(line, `msg="call failed"`) &&
		!strings.Contains(line, `msg="retriever failed"`)
}

// start starts the process and waits until it serves.
func (r *replica) start() {
	server, err := harness.Start(r.site.Command("serve", "--addr", "127.0.0.1:0"), kept)
	if err != nil {
		r.f.t.Errorf("start a replica: %v", err)
		return
	}
	r.mu.Lock()
	r.all = append(r.all, server)
	r.mu.Unlock()
	if err := server.Ready(); err != nil {
		r.f.t.Errorf("start a replica: %v", err)
		return
	}
	r.mu.Lock()
	r.server = server
	r.mu.Unlock()
}

func (r *replica) running() *harness.Server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server
}

// down is the server that ran, which nobody asks any more.
func (r *replica) down() *harness.Server {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = nil
	if len(r.all) == 0 {
		return nil
	}
	return r.all[len(r.all)-1]
}

func (r *replica) tail() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var log string
	for _, s := range r.all {
		log += s.Logged()
	}
	return log[max(0, len(log)-6000):]
}

// kill ends the process as a power cut does.
func (r *replica) kill() {
	if server := r.down(); server != nil {
		server.Kill()
	}
}

// stop ends the process in order.
func (r *replica) stop() {
	r.f.t.Helper()
	if err := r.down().Stop(os.Interrupt); err != nil {
		r.f.t.Fatal(err)
	}
}

type object = harness.Object

// errDown is the error of a call to a replica that is not there.
var errDown = errors.New("the replica is not up")

// ask makes one call at a replica.
func (r *replica) ask(key, method, path string, body any, headers ...string) (harness.Answer, error) {
	server := r.running()
	if server == nil {
		return harness.Answer{Call: method + " " + path}, errDown
	}
	r.f.calls.Add(1)
	return server.Client(r.f.t, key).Ask(context.Background(), method, path, body, headers...)
}

// must is ask that wants success.
func (r *replica) must(key, method, path string, body any, headers ...string) harness.Answer {
	r.f.t.Helper()
	a, err := r.ask(key, method, path, body, headers...)
	if err != nil || a.Status/100 != 2 {
		r.f.t.Errorf("%s, %v", a, err)
	}
	return a
}

// patience is how long call repeats itself: long, but not once a test has failed.
func (f *fleet) patience() time.Duration {
	if f.t.Failed() {
		return 10 * time.Second
	}
	return 2 * time.Minute
}

// call asks the replicas in turn until one answers something else than 503,
// which is what a client with a load balancer does. Calls are safe to repeat.
func (f *fleet) call(key, method, path string, body any, headers ...string) harness.Answer {
	return f.repeat(func() *replica { return f.replicas[int(f.turn.Add(1))%len(f.replicas)] }, key, method, path, body,
		headers...)
}

// call is the fleet's at one replica alone.
func (r *replica) call(key, method, path string, body any) harness.Answer {
	return r.f.repeat(func() *replica { return r }, key, method, path, body)
}

func (f *fleet) repeat(next func() *replica, key, method, path string, body any, headers ...string) harness.Answer {
	began := time.Now()
	for {
		a, err := next().ask(key, method, path, body, headers...)
		switch {
		case err == nil && a.Status != http.StatusServiceUnavailable && a.Status != http.StatusGatewayTimeout:
			took := int64(time.Since(began))
			for worst := f.worst.Load(); took > worst && !f.worst.CompareAndSwap(worst, took); worst = f.worst.Load() {
			}
			return a
		case err == nil && a.Status == http.StatusServiceUnavailable:
			if a.Header.Get("Retry-After") == "" {
				f.t.Errorf("without Retry-After: %s", a)
			}
			f.refused.Add(1)
		}
		if time.Since(began) > f.patience() {
			f.t.Errorf("no success in %v: %s, %v", time.Since(began), a, err)
			return a
		}
		time.Sleep(20*time.Millisecond + rand.N(30*time.Millisecond))
	}
}

// ok is call that wants success.
func (f *fleet) ok(key, method, path string, body any, headers ...string) harness.Answer {
	f.t.Helper()
	a := f.call(key, method, path, body, headers...)
	if a.Status/100 != 2 {
		f.t.Error(a)
	}
	return a
}

// killing kills a random replica every so often and starts it again, until done
// is called. Where a start takes long, so does the time between kills, or one
// process alone would hardly be there.
func (f *fleet) killing(every time.Duration) (done func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for pause := every; ; {
			select {
			case <-stop:
				return
			case <-time.After(pause/2 + rand.N(pause)):
			}
			r := f.replicas[rand.IntN(len(f.replicas))]
			r.kill()
			f.kills.Add(1)
			began := time.Now()
			r.start()
			pause = max(every, time.Since(began))
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
