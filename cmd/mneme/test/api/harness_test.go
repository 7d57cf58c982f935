package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/test/assembled"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	transport "github.com/mnemehq/mneme/transports/http"
	"github.com/mnemehq/mneme/transports/mcp"
)

// options change a server before it starts.
type options struct {
	dir      string // "": a fresh one
	embedder port.Embedder
	noEmbed  bool
	// embedders are those beside embedder, which a namespace may name.
	embedders []port.Embedder
	sparse    port.SparseEncoder
	reranker  port.Reranker
	// builtIn is the roles of the models that the program carries, instead of those
	// above.
	builtIn   []string
	config    func(*configs.Config) // Server.BaseURL is where the server will be
	engine    func(*engine.Config)
	transport func(*transport.Options)
	mcp       func(*mcp.Options)
	log       *slog.Logger
}

// models fills the roles of a configuration.
func (o *options) models(r *registry.Registry, c *configs.Config) {
	given := map[string]port.Model{}
	registry.Add(r.Model, registry.Component[port.Model, struct{}]{
		Name:      "given",
		Summary:   "A model of the test.",
		Stability: registry.Stable,
		Default:   func() struct{} { return struct{}{} },
		Open: func(_ context.Context, _ struct{}, env registry.Env) (port.Model, error) {
			return given[env.Name], nil
		},
	})
	info, _ := r.Model.Component("given")
	configured := c.Models
	c.Models = map[string]registry.Selection{}
	fill := func(role *string, name string, m port.Model) {
		switch {
		case slices.Contains(o.builtIn, name):
			c.Models[*role] = configured[*role]
		case m == nil:
			*role = configs.Off
		default:
			*role, given[name], c.Models[name] = name, m, info.Select()
		}
	}
	fill(&c.Roles.Embed, "embed", o.embedder)
	fill(&c.Roles.Sparse, "sparse", o.sparse)
	fill(&c.Roles.Rerank, "rerank", o.reranker)
	for _, e := range o.embedders {
		name := e.Info().ID
		given[name], c.Models[name] = e, info.Select()
	}
}

// server is the running product.
type server struct {
	t        testing.TB
	url      string
	dir      string
	backend  backend
	options  options
	engine   *engine.Engine
	store    *coretest.Store
	index    *coretest.IndexHooks
	models   engine.Models
	embedder *coretest.Embedder // nil when options name another
	key      string             // of organization default, with every right
	client   *http.Client

	close func() // ends the server as a shutdown does; once
}

// start runs a server until the end of the test: what `mneme serve` runs, with the
// test's models and with hooks in front of its store and indexes.
func start(t testing.TB, b backend, o options) *server {
	t.Helper()
	if o.dir == "" {
		if o.dir = t.TempDir(); b.file == laptop.file { // a schema takes longer than most tests
			sqlitetest.Migrate(t, o.dir)
		}
	}
	s := &server{t: t, dir: o.dir, backend: b, options: o, index: &coretest.IndexHooks{}}
	switch {
	case o.noEmbed:
		o.embedder = nil
	case o.embedder == nil:
		o.embedder = coretest.NewEmbedder()
	}
	s.embedder, _ = o.embedder.(*coretest.Embedder)
	a := assembled.Open(t, func(url string) app.Settings {
		s.url = url
		r := components()
		c := b.configured(t, r, o.dir)
		o.models(r, c)
		c.Server.ShutdownTimeout = 5 * time.Second
		if o.config != nil {
			c.Server.BaseURL = url
			o.config(c)
		}
		return app.Settings{
			Registry: r,
			Config:   c,
			Log:      o.log,
			Engine: func(c *engine.Config) {
				s.hook(c)
				s.models = c.Models
				if o.engine != nil {
					o.engine(c)
				}
			},
			HTTP: o.transport,
			MCP:  o.mcp,
		}
	})
	s.engine, s.client, s.close = a.Engine, a.HTTP, a.Close
	s.key = s.issue(key.Issue{Name: "all rights"})
	return s
}

// hook puts what a test can make fail in front of the store and the indexes.
func (s *server) hook(c *engine.Config) {
	s.store = &coretest.Store{DocumentStore: c.Store}
	c.Store = s.store
	// One index behind several retrievers stays one index.
	hooked := map[port.Index]port.Index{}
	for r, ix := range c.Indexes {
		if hooked[ix] == nil {
			x := &coretest.Index{Index: ix, IndexHooks: s.index}
			hooked[ix] = x
			if _, bulky := ix.(port.Bulky); bulky {
				hooked[ix] = coretest.Remote{Index: x}
			}
		}
		c.Indexes[r] = hooked[ix]
	}
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
	return &server{
		t:        s.t,
		url:      s.url,
		dir:      s.dir,
		backend:  s.backend,
		options:  s.options,
		engine:   s.engine,
		store:    s.store,
		index:    s.index,
		models:   s.models,
		embedder: s.embedder,
		key:      key,
		client:   s.client,
		close:    s.close,
	}
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
type object = harness.Object

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
	switch b := body.(type) {
	case raw:
		body = string(b)
	case string:
		encoded, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		body = encoded
	}
	a, err := harness.Client{T: s.t, At: s.url, Key: s.key, HTTP: s.client}.Ask(ctx, method, path, body, headers...)
	if err != nil {
		return nil, err
	}
	return &reply{t: s.t, call: a.Call, status: a.Status, header: a.Header, body: a.Body, json: a.JSON()}, nil
}

func (s *server) do(method, path string, body any, headers ...string) *reply {
	s.t.Helper()
	r, err := s.send(context.Background(), method, path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
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
	if message == "" || len(r.json) != 1 || len(e) != 3 || e["request_id"] != r.header.Get("X-Request-Id") ||
		e["request_id"] == "" {
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

// stays wants a 503 that does not clear by waiting (docs/contract.md#http-retry-after).
func (r *reply) stays() *reply {
	r.t.Helper()
	if s := r.header.Get("Retry-After"); s != "" {
		r.t.Errorf("%s: %d to be asked again after %q", r.call, r.status, s)
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

// The fixture of services' tests looks at answers in the same way.
var (
	column = coretest.Column
	fields = coretest.Fields
)

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
