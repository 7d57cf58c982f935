package replicas_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// set is a choice of backends, and of how many processes serve over them.
type set struct {
	name     string
	replicas int
	sqlite   bool
	index    string             // "": in the processes; postgres, opensearch: all of it; meilisearch: that of keywords
	outage   meilisearch.Outage // what becomes of writes without Meilisearch
}

// sets are those that the story of TestSets is told of.
func sets(short bool) []set {
	if opensearchtest.Whole() {
		return []set{{name: "postgres+opensearch", replicas: 3, index: "opensearch"}}
	}
	all := []set{
		{name: "postgres+meilisearch, catch_up", replicas: 3, index: "meilisearch", outage: meilisearch.CatchUp},
		{name: "postgres+embedded", replicas: 3},
		{name: "postgres+postgres", replicas: 3, index: "postgres"},
		{name: "postgres+meilisearch, refuse", replicas: 3, index: "meilisearch", outage: meilisearch.Refuse},
		{name: "sqlite+embedded", replicas: 1, sqlite: true},
	}
	if short {
		return all[:1]
	}
	return all
}

// inProcess makes segments and evictions happen with little data.
const inProcess = "{embedded: {flush_chunks: 8, memory_mb: 1, merges: 2}}"

// backends makes the set's databases and gives their part of the configuration.
func (f *fleet) backends() string {
	f.t.Helper()
	var b strings.Builder
	if !f.set.sqlite {
		if f.dsn = f.own; f.dsn == "" {
			f.dsn = f.postgres.Database(f.t)
		}
		fmt.Fprintf(&b, "storage: {postgres: {dsn: %q, max_connections: 16%s}}\n", f.dsn, f.others)
	}
	keyword, others := inProcess, inProcess
	switch f.set.index {
	case "postgres":
		// A database of its own, so that it can be lost while the store stays.
		p := newPostgresIndex(f.t, f.postgres.Database(f.t))
		keyword = fmt.Sprintf("{postgres: {dsn: %q, schema: mneme_index, max_connections: 16, connect_timeout: 2s}}",
			p.gate.through(p.dsn))
		f.index, others = p, keyword
	case "meilisearch":
		m := newMeilisearchIndex(f.t)
		keyword = fmt.Sprintf("{meilisearch: {url: %q, api_key: %q, index_prefix: %q, on_outage: %s, timeout: 5s, "+
			"task_timeout: 20s}}", m.gate.through(m.url), m.key, m.prefix, f.set.outage)
		f.index = m
	case "opensearch":
		x := newOpenSearchIndex(f.t)
		var hosts []string
		for i, g := range x.gates {
			hosts = append(hosts, strconv.Quote(g.through(x.URLs(f.t)[i])))
		}
		keyword = fmt.Sprintf("{opensearch: {hosts: [%s], index_prefix: %s, shards: 3, replicas: 1, timeout: 5s, "+
			"write_timeout: 20s}}", strings.Join(hosts, ", "), x.prefix)
		f.index, others = x, keyword
	}
	fmt.Fprintf(&b, "keyword: %s\nvector: %s\nsparse: %s\n", keyword, others, others)
	return b.String()
}

// outside is an index on a server of its own.
type outside interface {
	// cut takes it from the processes as a broken line does; mend gives it back.
	cut()
	mend()
	lose()       // loses all of it
	chunks() int // counts those of all partitions
	// traces lists what holds a word.
	traces(word string) []string
}

// gate is a way to a server that can be shut.
type gate struct {
	t            testing.TB
	addr, target string

	mu       sync.Mutex
	listener net.Listener // nil: shut
	open     map[net.Conn]bool
}

func newGate(t testing.TB, target string) *gate {
	t.Helper()
	g := &gate{t: t, addr: harness.Address(t), target: target, open: map[net.Conn]bool{}}
	g.mend()
	t.Cleanup(g.cut)
	return g
}

// through is an address with the gate in place of the server.
func (g *gate) through(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		g.t.Fatal(err)
	}
	u.Host = g.addr
	return u.String()
}

func hostOf(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func (g *gate) mend() {
	var l net.Listener
	var err error
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if l, err = net.Listen("tcp", g.addr); err == nil {
			break
		}
		if time.Since(began) > time.Minute {
			g.t.Fatal(err)
		}
	}
	g.mu.Lock()
	g.addr, g.listener = l.Addr().String(), l
	g.mu.Unlock()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go g.carry(l, near)
		}
	}()
}

func (g *gate) carry(l net.Listener, near net.Conn) {
	far, err := net.Dial("tcp", g.target)
	if err != nil {
		_ = near.Close()
		return
	}
	g.mu.Lock()
	shut := g.listener != l
	if !shut {
		g.open[near], g.open[far] = true, true
	}
	g.mu.Unlock()
	end := func() {
		_, _ = near.Close(), far.Close()
		g.mu.Lock()
		delete(g.open, near)
		delete(g.open, far)
		g.mu.Unlock()
	}
	if shut {
		end()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // ended by the other side, or cut
			end()
		})
	}
	both.Wait()
}

func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.listener != nil {
		_ = g.listener.Close()
		g.listener = nil
	}
	for c := range g.open {
		_ = c.Close()
	}
}

// postgresIndex is the index in a database.
type postgresIndex struct {
	*gate
	dsn string
}

func newPostgresIndex(t testing.TB, dsn string) *postgresIndex {
	return &postgresIndex{newGate(t, hostOf(t, dsn)), dsn}
}

// on runs fn on a database of the server.
func on(t testing.TB, dsn string, fn func(context.Context, *pgx.Conn) error) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fn(ctx, conn), conn.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}

// lose leaves an empty database, like one recreated after a loss.
func (p *postgresIndex) lose() {
	u, err := url.Parse(p.dsn)
	if err != nil {
		p.t.Fatal(err)
	}
	name := pgx.Identifier{strings.TrimPrefix(u.Path, "/")}.Sanitize()
	u.Path = "/postgres"
	on(p.t, u.String(), func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		if err == nil {
			_, err = conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE template0")
		}
		return err
	})
}

func (p *postgresIndex) chunks() (n int) {
	on(p.t, p.dsn, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT count(*) FROM mneme_index.index_chunk").Scan(&n)
	})
	return n
}

func (p *postgresIndex) traces(word string) (found []string) {
	on(p.t, p.dsn, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT DISTINCT 'postings of ' || generation FROM mneme_index.index_posting WHERE "+
			"position($1::bytea IN term) > 0 OR position($1::bytea IN data) > 0", []byte(word))
		if err == nil {
			found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return found
}

// meilisearchIndex is the index of keywords on a Meilisearch server: the one that
// the environment names, else one in this process.
type meilisearchIndex struct {
	*gate
	url, key, prefix string
}

func newMeilisearchIndex(t testing.TB) *meilisearchIndex {
	t.Helper()
	m := &meilisearchIndex{url: os.Getenv("MNEME_TEST_MEILISEARCH_URL"), key: os.Getenv("MNEME_TEST_MEILISEARCH_KEY"),
		prefix: "replicas-" + strings.ToLower(rand.Text())}
	if m.url == "" {
		s := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: "a-master-key-of-tests"})
		m.url, m.key = s.URL, s.Key
	}
	m.gate = newGate(t, hostOf(t, m.url))
	t.Cleanup(m.lose)
	return m
}

// send makes one call at the server.
func (m *meilisearchIndex) send(method, path string, body, into any) {
	m.t.Helper()
	server := harness.Client{T: m.t, At: m.url, Key: m.key, HTTP: http.DefaultClient}
	a, err := server.Ask(context.Background(), method, path, body)
	if err != nil || a.Status/100 != 2 {
		m.t.Fatalf("Meilisearch: %s, %v", a, err)
	}
	a.Into(into)
}

func (m *meilisearchIndex) lose() {
	var task struct {
		TaskUID int64 `json:"taskUid"`
		Status  string
	}
	m.send("DELETE", "/indexes/"+m.prefix+"_chunks", nil, &task)
	uid := task.TaskUID
	for began := time.Now(); task.Status != "succeeded"; time.Sleep(5 * time.Millisecond) {
		m.send("GET", fmt.Sprint("/tasks/", uid), nil, &task)
		if time.Since(began) > time.Minute {
			m.t.Fatalf("the index was not deleted: %+v", task)
		}
	}
}

func (m *meilisearchIndex) documents(filter any, limit int) (total int, all []map[string]json.RawMessage) {
	var r struct {
		Total   int
		Results []map[string]json.RawMessage
	}
	m.send("POST", "/indexes/"+m.prefix+"_chunks/documents/fetch", object{"filter": filter, "limit": limit}, &r)
	return r.Total, r.Results
}

func (m *meilisearchIndex) chunks() int {
	total, _ := m.documents("c EXISTS", 1)
	return total
}

func (m *meilisearchIndex) traces(word string) (found []string) {
	_, all := m.documents(nil, 1_000_000)
	for _, d := range all {
		for field, raw := range d {
			if bytes.Contains(bytes.ToLower(raw), []byte(word)) {
				found = append(found, fmt.Sprintf("field %s of %s", field, d["id"]))
			}
		}
	}
	return found
}

// openSearchIndex is the index in a cluster of three nodes.
type openSearchIndex struct {
	*opensearchtest.Server
	t      testing.TB
	prefix string
	gates  []*gate // to each node
}

func newOpenSearchIndex(t testing.TB) *openSearchIndex {
	t.Helper()
	x := &openSearchIndex{opensearchtest.Cluster(3), t, "replicas-" + strings.ToLower(rand.Text()), nil}
	t.Cleanup(x.Stop)
	for _, address := range x.URLs(t) {
		x.gates = append(x.gates, newGate(t, hostOf(t, address)))
	}
	return x
}

func (x *openSearchIndex) cut() {
	for _, g := range x.gates {
		g.cut()
	}
}

func (x *openSearchIndex) mend() {
	for _, g := range x.gates {
		g.mend()
	}
}

func (x *openSearchIndex) lose() { x.Delete(x.t, x.prefix) }

func (x *openSearchIndex) chunks() int {
	var r struct{ Count int }
	x.Send(x.t, "POST", "/"+x.prefix+"-chunks/_refresh", "")
	answer := x.Send(x.t, "POST", "/"+x.prefix+"-chunks/_count", `{"query": {"exists": {"field": "a"}}}`)
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		x.t.Fatal(err)
	}
	return r.Count
}

func (x *openSearchIndex) traces(word string) []string { return x.Traces(x.t, x.prefix, word) }

// whole waits until every shard has its copy on another node. Where a busy node takes longer to let go of
// a copy, the cluster gives up after five attempts and wants to be told to go on.
func (x *openSearchIndex) whole() {
	for range 30 {
		x.Send(x.t, "POST", "/_cluster/reroute?retry_failed=true", "")
		if x.Send(x.t, "GET", "/_cluster/health?wait_for_status=green&timeout=10s", "") != "" {
			return
		}
	}
	x.t.Fatal("the cluster is not green again")
}

// full takes free space on the nodes' disks for too little, which blocks the index for writes; with
// full off, the cluster lifts the block again.
func (x *openSearchIndex) full(on bool) {
	x.t.Helper()
	low, high, flood := `"3b"`, `"2b"`, `"1b"`
	if on {
		low, high, flood = `"3pb"`, `"2pb"`, `"1pb"`
	}
	x.Send(x.t, "PUT", "/_cluster/settings", fmt.Sprintf(`{"transient": {"cluster.info.update.interval": "10s", `+
		`"cluster.routing.allocation.disk.threshold_enabled": true, `+
		`"cluster.routing.allocation.disk.watermark": {"low": %s, "high": %s, "flood_stage": %s}}}`, low, high, flood))
	x.blocked(on)
}

// blocked waits until the index is blocked for writes, or no longer.
func (x *openSearchIndex) blocked(want bool) {
	x.t.Helper()
	harness.Eventually(x.t, fmt.Sprintf("the index is blocked for writes: %v", want), func() bool {
		settings := x.Send(x.t, "GET", "/"+x.prefix+"-chunks-1/_settings", "")
		return settings != "" && strings.Contains(settings, `"read_only_allow_delete":"true"`) == want
	})
}

// left is leftovers of what is to be gone. From a cluster's disks it goes some time after the answer
// (docs/opensearch.md), and is waited for.
func (f *fleet) left(word string) []string {
	found := f.leftovers(word)
	if f.set.index != "opensearch" {
		return found
	}
	for began := time.Now(); len(found) > 0 && time.Since(began) < 2*harness.Patience; found = f.leftovers(word) {
		time.Sleep(2 * time.Second)
	}
	return found
}

// leftovers lists what holds a word: files of the replicas' folders, and parts of
// the index outside.
func (f *fleet) leftovers(word string) (found []string) {
	for _, r := range f.replicas {
		err := filepath.WalkDir(r.site.Data, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // it went in between
			}
			b, err := os.ReadFile(path)
			if err == nil && bytes.Contains(bytes.ToLower(b), []byte(word)) {
				found = append(found, path)
			}
			return nil
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if f.index != nil {
		found = append(found, f.index.traces(word)...)
	}
	return found
}

// rows runs a query for one number on the store's database.
func (f *fleet) rows(query string) (n int) {
	f.t.Helper()
	on(f.t, f.dsn, func(ctx context.Context, conn *pgx.Conn) error { return conn.QueryRow(ctx, query).Scan(&n) })
	return n
}

// outage ends the database server as a crash does; up starts it again.
func (f *fleet) outage() (up func()) {
	f.t.Helper()
	again := crash(f.t, f.dsn, syscall.SIGQUIT)
	return func() { f.again = again() }
}

// crash ends a database server that the tests have started, by a signal. up starts it again, and gives what ends it.
func crash(t testing.TB, dsn string, signal syscall.Signal) (up func() (down func())) {
	t.Helper()
	var data string
	on(t, dsn, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SHOW data_directory").Scan(&data)
	})
	line, err := os.ReadFile(filepath.Join(data, "postmaster.opts"))
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, field := range strings.Fields(string(line)) {
		args = append(args, strings.Trim(field, `"`))
	}
	pids, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(pids), "\n", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	owner, err := os.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
	for syscall.Kill(pid, 0) == nil {
		time.Sleep(10 * time.Millisecond)
	}
	start := func() (down func(), over <-chan struct{}) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = filepath.Dir(data)
		cmd.Env = []string{"LD_LIBRARY_PATH=" + filepath.Join(filepath.Dir(args[0]), "../lib"), "LC_ALL=C",
			"PATH=/usr/bin:/bin", "TZ=UTC"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
		if who := owner.Sys().(*syscall.Stat_t); os.Geteuid() == 0 {
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: who.Uid, Gid: who.Gid}
		}
		begun, ended := make(chan error), make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread() // the server is told when this thread ends, so it must not
			err := cmd.Start()
			begun <- err
			if err == nil {
				_ = cmd.Wait() // it ends by a signal
			}
		}()
		if err := <-begun; err != nil {
			t.Fatal(err)
		}
		return func() {
			_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended already
			<-ended
		}, ended
	}
	return func() func() {
		t.Helper()
		down, over := start()
		for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			conn, err := pgx.Connect(context.Background(), dsn)
			if err == nil {
				_ = conn.Close(context.Background())
				return down
			}
			if time.Since(began) > time.Minute {
				t.Fatal(err)
			}
			select {
			case <-over: // processes of the one before still had its memory
				down, over = start()
			default:
			}
		}
	}
}
