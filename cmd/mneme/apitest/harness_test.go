package apitest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	indexpostgres "github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/adapters/standard"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	transport "github.com/mnemehq/mneme/transports/http"
	"github.com/mnemehq/mneme/transports/mcp"
	"github.com/mnemehq/mneme/transports/metrics"
)

// backend opens one set of adapters over a data folder. Opening the same folder
// again after everything is closed must find what was stored.
type backend struct {
	name  string
	store func(t testing.TB, dir string, shared bool) (port.Store, error)
	index func(t testing.TB, dir string) map[port.Retriever]port.Index
	// forget removes what the closed indexes keep.
	forget func(t testing.TB, dir string)
	// traces names what of the indexes outside the folder holds the marker; nil:
	// they have nothing there.
	traces func(t testing.TB, dir, marker string) []string
	// ranks: keyword search is on a server that takes its time to rebuild and whose
	// scores only rank, so a limit may cut through equals either way.
	ranks bool
}

// keywordKind is the score_kind of keyword search alone.
func (b backend) keywordKind() string {
	if b.ranks {
		return "fused"
	}
	return "bm25"
}

// open opens both parts.
func (b backend) open(t testing.TB, dir string) (port.Store, map[port.Retriever]port.Index) {
	t.Helper()
	store, err := b.store(t, dir, false)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	return store, b.index(t, dir)
}

// database is the PostgreSQL of the tests that run over one.
var database *postgrestest.Server

func TestMain(m *testing.M) {
	database = postgrestest.Start()
	code := m.Run()
	database.Stop()
	os.Exit(code)
}

// backends lists the sets that the whole suite runs over: those of
// configs/examples, read as a server reads them.
func backends() []backend {
	all := []backend{example("sqlite+embedded", "laptop.yaml")}
	if !testing.Short() { // the stores' own suite runs under the race detector, too
		all = append(all, example("postgres+embedded", "replicas.yaml"), example("postgres+postgres", "postgres.yaml"), example("postgres+meilisearch", "scaled-out.yaml"))
	}
	return all
}

// example is the set of backends of one of configs/examples.
func example(name, file string) backend {
	r := registry.New()
	standard.Register(r)
	env := func(dir string, shared bool) registry.Env {
		return registry.Env{Log: slog.New(slog.DiscardHandler), DataDir: dir, CacheDir: filepath.Join(dir, "cache"), Shared: shared, Now: time.Now}
	}
	b := backend{name: name}
	b.store = func(t testing.TB, dir string, shared bool) (port.Store, error) {
		return r.Store.Open(context.Background(), configured(t, r, file, dir).Storage, env(dir, shared))
	}
	b.index = func(t testing.TB, dir string) map[port.Retriever]port.Index {
		indexes, err := registry.OpenIndexes(context.Background(), r.Index, configured(t, r, file, dir).Indexes(), env(dir, false))
		if err != nil {
			t.Fatalf("open the indexes: %v", err)
		}
		return indexes
	}
	b.forget = func(t testing.TB, dir string) {
		for _, c := range components(configured(t, r, file, dir)) {
			switch c := c.(type) {
			case *embedded.Config:
				forgetEmbedded(t, dir)
			case *indexpostgres.Config:
				forgetIndexPostgres(t, c)
			case *meilisearch.Config:
				forgetMeilisearch(t, c)
			}
		}
	}
	b.traces = func(t testing.TB, dir, marker string) (found []string) {
		for _, c := range components(configured(t, r, file, dir)) {
			switch c := c.(type) {
			case *indexpostgres.Config:
				found = append(found, tracesIndexPostgres(t, c, marker)...)
			case *meilisearch.Config:
				found = append(found, tracesMeilisearch(t, c, marker)...)
			}
		}
		return found
	}
	b.ranks = name == "postgres+meilisearch"
	return b
}

// configured is an example for a data folder: with a database and an index of
// Meilisearch of its own, and with the sizes that a test needs.
func configured(t testing.TB, r *registry.Registry, file, dir string) *configs.Config {
	t.Helper()
	c, err := configs.Load(r, configs.Source{File: filepath.Join("../../../configs/examples", file), Getenv: func(name string) (string, bool) {
		switch name {
		case "MNEME_DATA":
			return dir, true
		case "MNEME_POSTGRES_DSN":
			return dsn(t, dir), true
		case "MNEME_MEILISEARCH_URL":
			return searchConfig(t, dir).URL, true
		case "MNEME_MEILISEARCH_KEY":
			return cmp.Or(searchConfig(t, dir).APIKey.Reveal(), "none"), true
		case "MNEME_MEILISEARCH_PREFIX":
			return searchConfig(t, dir).IndexPrefix, true
		}
		return "", false
	}})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, s := range c.Indexes() {
		switch index := s.Config.(type) {
		case *embedded.Config:
			index.FlushChunks = 64 // small, so that segments and merges take part
		case *indexpostgres.Config:
			index.MaxConnections = 8 // of many servers at once
		}
	}
	return c
}

// components are the distinct configurations of a set's indexes.
func components(c *configs.Config) (all []any) {
	for _, s := range c.Indexes() {
		if !slices.ContainsFunc(all, func(x any) bool { return reflect.DeepEqual(x, s.Config) }) {
			all = append(all, s.Config)
		}
	}
	return all
}

func openSQLite(_ testing.TB, dir string, shared bool) (port.Store, error) {
	return sqlite.Open(context.Background(), dir, sqlite.Options{Shared: shared})
}

// dsn gives each folder a database of its own, whose address the folder keeps.
func dsn(t testing.TB, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "dsn")
	kept, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		kept = []byte(database.Database(t))
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = os.WriteFile(file, kept, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(kept)
}

func openEmbedded(t testing.TB, dir string) map[port.Retriever]port.Index {
	t.Helper()
	config := embedded.Default()
	config.FlushChunks = 64
	index, err := embedded.Open(config, filepath.Join(dir, "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open the index: %v", err)
	}
	return map[port.Retriever]port.Index{port.Vector: index, port.Keyword: index, port.SparseTerms: index}
}

func forgetEmbedded(t testing.TB, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
		t.Fatal(err)
	}
}

// forgetIndexPostgres drops the tables of an index, which may share their schema
// with the store's.
func forgetIndexPostgres(t testing.TB, c *indexpostgres.Config) {
	t.Helper()
	inDatabase(t, c, func(ctx context.Context, conn *pgx.Conn, schema string) error {
		rows, err := conn.Query(ctx, `SELECT format('DROP TABLE %I.%I CASCADE', schemaname, tablename) FROM pg_tables WHERE schemaname = $1 AND starts_with(tablename, 'index_')`, schema)
		if err != nil {
			return err
		}
		drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err == nil && len(drops) == 0 {
			err = errors.New("there are no tables of an index to drop")
		}
		for _, drop := range drops {
			if err == nil {
				_, err = conn.Exec(ctx, drop)
			}
		}
		return err
	})
}

func tracesIndexPostgres(t testing.TB, c *indexpostgres.Config, marker string) (found []string) {
	t.Helper()
	inDatabase(t, c, func(ctx context.Context, conn *pgx.Conn, schema string) error {
		table := pgx.Identifier{schema, "index_posting"}.Sanitize()
		rows, err := conn.Query(ctx, "SELECT DISTINCT 'postings of ' || generation FROM "+table+" WHERE position($1::bytea IN term) > 0 OR position($1::bytea IN data) > 0", []byte(marker))
		if err == nil {
			found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return found
}

// inDatabase uses an index's database beside the server.
func inDatabase(t testing.TB, c *indexpostgres.Config, fn func(ctx context.Context, conn *pgx.Conn, schema string) error) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.DSN.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fn(ctx, conn, cmp.Or(c.Schema, "public")), conn.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}

// each runs a test over every backend set.
func each(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	t.Parallel()
	for _, b := range backends() {
		t.Run(b.name, func(t *testing.T) { test(t, b) })
	}
}

// options change a server before it starts.
type options struct {
	dir       string // "": a fresh one
	embedder  port.Embedder
	noEmbed   bool
	sparse    port.SparseEncoder
	reranker  port.Reranker
	engine    func(*engine.Config)
	transport func(*transport.Options)
	mcp       func(*mcp.Options)
	log       *slog.Logger
}

// server is the running product.
type server struct {
	t        testing.TB
	url      string
	dir      string
	backend  backend
	options  options
	engine   *engine.Engine
	store    *faultyStore
	index    *indexFaults
	embedder *embedder // nil when options name another
	key      string    // of organization default, with every right
	client   *http.Client

	close func() // ends the server as a shutdown does; once
}

// start runs a server until the end of the test.
func start(t testing.TB, b backend, o options) *server {
	t.Helper()
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	s := &server{t: t, dir: o.dir, backend: b, options: o}
	store, indexes := b.open(t, o.dir)
	s.store, s.index = &faultyStore{Store: store}, &indexFaults{}
	wrapped := map[port.Retriever]port.Index{}
	// One index behind several retrievers stays one index.
	faulty := map[port.Index]*faultyIndex{}
	for r, ix := range indexes {
		if faulty[ix] == nil {
			faulty[ix] = &faultyIndex{Index: ix, indexFaults: s.index}
		}
		wrapped[r] = faulty[ix]
	}
	models := engine.Models{Sparse: o.sparse, Reranker: o.reranker}
	if !o.noEmbed {
		if o.embedder == nil {
			s.embedder = newEmbedder()
			o.embedder = s.embedder
		} else if e, ok := o.embedder.(*embedder); ok {
			s.embedder = e
		}
		models.Embedder = o.embedder
		models.All = append(models.All, o.embedder)
	}
	if o.sparse != nil {
		models.All = append(models.All, o.sparse)
	}
	if o.reranker != nil {
		models.All = append(models.All, o.reranker)
	}
	meters := metrics.New("test")
	c := engine.Config{Store: s.store, Indexes: wrapped, Models: models, Meter: meters.Meter, Version: "test", Log: o.log}
	if o.engine != nil {
		o.engine(&c)
	}
	ctx := context.Background()
	e, err := engine.Open(ctx, c)
	if err != nil {
		t.Fatalf("open the engine: %v", err)
	}
	s.engine = e
	to := transport.Options{Set: e.Set(), Log: o.log, Mounts: map[string]http.Handler{"GET /metrics": meters.Handler(), "/mcp": tools(t, e, o)}}
	if o.transport != nil {
		o.transport(&to)
	}
	handler, err := transport.New(to)
	if err != nil {
		t.Fatalf("make the handler: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	run, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	srv := transport.NewServer(transport.ServerOptions{Handler: handler, Drain: 5 * time.Second, Log: o.log})
	go func() { served <- srv.Serve(run, l) }()
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1100, MaxIdleConns: 1100}, Timeout: 60 * time.Second}
	s.close = sync.OnceFunc(func() {
		s.client.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := e.Close(ctx); err != nil {
			t.Errorf("close the engine: %v", err)
		}
		closed := map[port.Index]bool{}
		for _, ix := range indexes {
			if !closed[ix] {
				closed[ix] = true
				if err := ix.Close(); err != nil {
					t.Errorf("close the index: %v", err)
				}
			}
		}
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	t.Cleanup(s.close)
	s.key = s.issue(key.Issue{Name: "all rights"})
	return s
}

// restart closes the server and opens its folder again with the same options,
// changed by change if given.
func (s *server) restart(change func(*options)) *server {
	s.t.Helper()
	s.close()
	o := s.options
	o.dir = s.dir
	if change != nil {
		change(&o)
	}
	return start(s.t, s.backend, o)
}

// issue makes a key.
func (s *server) issue(k key.Issue) string {
	s.t.Helper()
	issued, err := s.engine.Keys().Issue(context.Background(), k)
	if err != nil {
		s.t.Fatalf("issue a key: %v", err)
	}
	return issued.Secret
}

// as is the same server seen with another key.
func (s *server) as(key string) *server {
	return &server{t: s.t, url: s.url, dir: s.dir, backend: s.backend, options: s.options, engine: s.engine, store: s.store, index: s.index,
		embedder: s.embedder, key: key, client: s.client, close: s.close}
}

// organization makes an organization with a key.
func (s *server) organization(name string) *server {
	s.t.Helper()
	if _, err := s.engine.Keys().CreateOrganization(context.Background(), name); err != nil {
		s.t.Fatalf("create organization %s: %v", name, err)
	}
	return s.as(s.issue(key.Issue{Org: name, Name: name}))
}

// object is a JSON object of a request or an answer.
type object = map[string]any

// raw is a request body sent as it is.
type raw string

// reply is an answer.
type reply struct {
	t      testing.TB
	call   string
	status int
	header http.Header
	body   []byte
	json   object // nil when the body is no JSON object
}

// send makes one request; body is nil, raw, []byte or something to encode.
// Headers come in pairs; an empty value leaves a default header out.
func (s *server) send(ctx context.Context, method, path string, body any, headers ...string) (*reply, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case raw:
		reader = strings.NewReader(string(b))
	case []byte:
		reader = bytes.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	r := &reply{t: s.t, call: method + " " + path, status: res.StatusCode, header: res.Header}
	if r.body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	_ = json.Unmarshal(r.body, &r.json)
	return r, nil
}

func (s *server) do(method, path string, body any, headers ...string) *reply {
	s.t.Helper()
	r, err := s.send(context.Background(), method, path, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

func (s *server) get(path string, headers ...string) *reply {
	s.t.Helper()
	return s.do("GET", path, nil, headers...)
}

func (s *server) post(path string, body any, headers ...string) *reply {
	s.t.Helper()
	return s.do("POST", path, body, headers...)
}

// inTime posts a query that meets no time limit, unless a part of it hangs and is
// to be given up: then with a limit, and with longer ones where a machine that
// stood still left the other parts too little of it.
func (s *server) inTime(path string, body any, hangs bool) *reply {
	s.t.Helper()
	if !hangs {
		return s.post(path, body, "X-Timeout-Ms", "60000")
	}
	r := s.post(path, body, "X-Timeout-Ms", "1000")
	for _, longer := range []string{"5000", "25000"} {
		// Strict, or asked of the hanging part alone, it is not answered at all.
		if r.status != 504 || strings.Contains(string(r.body), "did not answer in time") {
			break
		}
		r = s.post(path, body, "X-Timeout-Ms", longer)
	}
	return r
}

// ok ends the test unless the answer has the status 200.
func (r *reply) ok() *reply {
	r.t.Helper()
	return r.is(200)
}

func (r *reply) is(status int) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: status %d, want %d: %s", r.call, r.status, status, clip(r.body))
	}
	return r
}

// fails checks a namespace API error: status, code, the whole body's shape and
// that the message holds each of the words.
func (r *reply) fails(status int, code string, words ...string) *reply {
	r.t.Helper()
	e, _ := r.json["error"].(object)
	if r.status != status || e["code"] != code {
		r.t.Errorf("%s: %d %v, want %d %s: %s", r.call, r.status, e["code"], status, code, clip(r.body))
		return r
	}
	message, _ := e["message"].(string)
	if message == "" || len(r.json) != 1 || len(e) != 3 || e["request_id"] != r.header.Get("X-Request-Id") || e["request_id"] == "" {
		r.t.Errorf("%s: not an error body with this request's id: %s", r.call, clip(r.body))
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		r.t.Errorf("%s: content type %q of an error", r.call, got)
	}
	for _, w := range words {
		if !strings.Contains(message, w) {
			r.t.Errorf("%s: the message %q does not name %q", r.call, message, w)
		}
	}
	return r
}

// retry checks that the answer says when to come back.
func (r *reply) retry() *reply {
	r.t.Helper()
	if s := r.header.Get("Retry-After"); s == "" || s == "0" {
		r.t.Errorf("%s: %d without Retry-After (%q)", r.call, r.status, s)
	}
	return r
}

func clip(b []byte) string {
	if len(b) > 600 {
		return string(b[:600]) + "..."
	}
	return string(b)
}

// list is an array of objects in the answer.
func (r *reply) list(name string) []object {
	r.t.Helper()
	items, ok := r.json[name].([]any)
	if !ok {
		r.t.Fatalf("%s: no array %q in %s", r.call, name, clip(r.body))
	}
	out := make([]object, len(items))
	for i, it := range items {
		out[i] = it.(object)
	}
	return out
}

// column is one field of each object.
func column(items []object, field string) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = fmt.Sprint(it[field])
	}
	return out
}

// fields checks that an object has exactly these fields.
func fields(t testing.TB, what string, o object, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(o))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s has fields %v, want %v", what, got, want)
	}
}

// doc makes a document to write; metadata comes as JSON, "" for none.
func doc(id, text, metadata string) object {
	d := object{"id": id, "text": text}
	if metadata != "" {
		d["metadata"] = json.RawMessage(metadata)
	}
	return d
}

// write stores documents and expects 200.
func (s *server) write(ns string, docs ...object) *reply {
	s.t.Helper()
	return s.post("/namespaces/"+ns+"/documents", object{"documents": docs}).ok()
}

// query expects 200.
func (s *server) query(ns string, q object) *reply {
	s.t.Helper()
	return s.post("/namespaces/"+ns+"/query", q).ok()
}

// found are the document ids of a query's hits, in order.
func (r *reply) found() []string {
	r.t.Helper()
	return column(r.list("results"), "document_id")
}

// ids lists every document id of a namespace through all pages; nil when it is
// absent.
func (s *server) ids(ns string) []string {
	s.t.Helper()
	var out []string
	cursor := ""
	for {
		r := s.get("/namespaces/" + ns + "/documents?limit=1000&cursor=" + cursor)
		if r.status == 404 {
			r.fails(404, "namespace_not_found")
			return nil
		}
		out = append(out, column(r.ok().list("documents"), "id")...)
		next, more := r.json["next_cursor"].(string)
		if !more {
			return out
		}
		cursor = next
	}
}

// shifted is a clock for a server that a test can put forward and back.
func shifted() (by *atomic.Int64, option func(*engine.Config)) {
	by = &atomic.Int64{}
	return by, func(c *engine.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(by.Load())) }
	}
}

// eventually waits for a condition that other goroutines bring about.
func eventually(t testing.TB, what string, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, within)
		}
	}
}

// await receives what other goroutines send or close, which a failure of theirs may
// keep them from.
func await[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(2 * time.Minute): // longer than a call may take
		t.Fatalf("%s: not within two minutes", what)
	}
	return v
}

func (r *reply) number(name string) float64 {
	r.t.Helper()
	n, ok := r.json[name].(float64)
	if !ok {
		r.t.Fatalf("%s: no number %q in %s", r.call, name, clip(r.body))
	}
	return n
}
