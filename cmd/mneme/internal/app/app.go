package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/standard"
	"github.com/mnemehq/mneme/adapters/webhook"
	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
	"github.com/mnemehq/mneme/cmd/mneme/internal/telemetry"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/audit"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/usage"
	"github.com/mnemehq/mneme/transports/codec"
	transport "github.com/mnemehq/mneme/transports/http"
	"github.com/mnemehq/mneme/transports/mcp"
	"github.com/mnemehq/mneme/transports/metrics"
)

// Settings say what to assemble.
type Settings struct {
	Registry *registry.Registry
	Config   *configs.Config
	Log      *slog.Logger
	Command  string // takes the folder; other processes are told its name
	Version  string
	// Memory is how much this process may hold; nil: the container is asked, or the machine.
	Memory func() (uint64, error)
	// Telemetry has traces and measurements sent as the OTEL_* variables say.
	Telemetry bool

	// Engine, HTTP and MCP change the options of these parts after the configuration
	// has been read and its components are open: a program that embeds this one adds to
	// them, a test intercepts them. nil changes nothing. A port that Engine puts in
	// place of an opened one is not closed.
	Engine func(*engine.Config)
	HTTP   func(*transport.Options)
	MCP    func(*mcp.Options)
}

// App is the assembled product.
type App struct {
	Handler http.Handler
	Admin   http.Handler // health and metrics alone
	Engine  *engine.Engine
	Keys    *key.Service
	Metrics *metrics.Registry

	settings Settings
	lock     *datadir.Lock
	store    port.DocumentStore
	models   map[string]port.Model
	stopping atomic.Bool
	cert     *certificate                  // nil: plain http is served
	closers  []func(context.Context) error // in the order of opening
}

// Open takes the data folder and opens everything. The error is
// *datadir.InUse when another process has the folder. On an error nothing
// stays open.
func Open(ctx context.Context, s Settings) (_ *App, err error) {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	a := &App{settings: s, models: map[string]port.Model{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close(context.WithoutCancel(ctx)))
		}
	}()
	sparing, err := fitMemory(s.Memory, s.Config, s.Log)
	if err != nil {
		return nil, err
	}
	if dir := s.Config.Limits.TempDir; dir != "" {
		if f, err := os.Stat(dir); err != nil || !f.IsDir() {
			return nil, fmt.Errorf("limits.temp_dir: %s is not a folder that is there", dir)
		}
	}
	if a.lock, err = datadir.Acquire(s.Config.DataDir, s.Command); err != nil {
		return nil, err
	}
	a.onClose(func(context.Context) error { return a.lock.Release() })
	if private, err := disk.Private(s.Config.DataDir); err != nil || !private {
		s.Log.Warn("data folder writable by others", "dir", s.Config.DataDir, "error", err)
	}
	if a.cert, err = openCertificate(s.Config.Server.TLS, s.Log); err != nil {
		return nil, err
	}
	env := environment(s)
	env.Sparing = sparing
	if env.CacheDir, err = Cache(s.Config, s.Log); err != nil {
		return nil, err
	}
	parts, err := a.openParts(ctx, env)
	if err != nil {
		return nil, err
	}
	a.Metrics = metrics.New(s.Version)
	sent := &telemetry.Telemetry{}
	if s.Telemetry {
		if sent, err = telemetry.Open(ctx, s.Version, a.Metrics, s.Log); err != nil {
			return nil, err
		}
		a.onClose(sent.Close)
	}
	elsewhere, err := s.Registry.Extractor.Open(ctx, s.Config.Files.Remote, env)
	if err != nil {
		return nil, err
	}
	parts.files = standard.Extractor(env.CacheDir, elsewhere, s.Log)
	a.onClose(parts.files.Close)
	if parts.sources, err = a.sources(ctx, env); err != nil {
		return nil, err
	}
	if err := a.openEngine(ctx, parts, sent.Tracer); err != nil {
		return nil, err
	}
	a.store = parts.store
	if a.Handler, err = a.handler(ctx); err != nil {
		return nil, err
	}
	if err := a.scheduleBackups(parts.store); err != nil {
		return nil, err
	}
	return a, nil
}

// Stores says why nothing can be stored now; nil: it can.
func (a *App) Stores(ctx context.Context) error { return a.store.Ping(ctx) }

// parts is what the configuration names, opened.
type parts struct {
	store   port.DocumentStore
	indexes map[port.Retriever]port.Index
	models  engine.Models
	budget  port.Budget // nil: each process counts for itself
	files   *extract.Set
	sources *engine.Sources // nil: off
}

// openParts opens the store, the indexes and the models concurrently: compiling a
// model takes longest and need not wait for the files. Whatever was opened is
// registered to be closed before an error is returned.
func (a *App) openParts(ctx context.Context, env registry.Env) (p parts, err error) {
	c, r := a.settings.Config, a.settings.Registry
	names := c.ModelNames()
	opened := make([]port.Model, len(names))
	group, opening := errgroup.WithContext(ctx)
	for i, name := range names {
		group.Go(func() (err error) {
			env := env
			env.Name = name
			opened[i], err = r.Model.Open(opening, c.Models[name], env)
			return err
		})
	}
	group.Go(func() (err error) {
		if p.store, err = r.Store.Open(opening, c.Storage, env); err != nil {
			return err
		}
		p.indexes, err = registry.OpenIndexes(opening, r.Index, c.Indexes(), env)
		return err
	})
	err = group.Wait()
	if p.store != nil {
		a.onClose(func(context.Context) error { return p.store.Close() })
	}
	for _, index := range distinct(p.indexes) {
		a.onClose(func(context.Context) error { return index.Close() })
	}
	for i, m := range opened {
		if m != nil {
			a.models[names[i]] = m
			a.onClose(func(context.Context) error { return m.Close() })
		}
	}
	if err != nil {
		return p, err
	}
	if p.models, err = a.roles(names); err != nil {
		return p, err
	}
	p.budget, err = a.limiter(ctx, env, p.store)
	return p, err
}

// openEngine starts the services, and makes the organization that every
// installation has.
func (a *App) openEngine(ctx context.Context, p parts, tracer trace.Tracer) error {
	made, err := a.engineConfig(p)
	if err != nil {
		return err
	}
	if made.Events.Sender, err = a.webhooks(); err != nil {
		return err
	}
	if made.Sealing, err = a.sealing(ctx, p.store); err != nil {
		return err
	}
	made.Beside = a.beside()
	made.Meter, made.Tracer = a.Metrics.Meter, tracer
	made.Watch = model.NewWatch(a.Metrics.Models())
	if a.settings.Engine != nil {
		a.settings.Engine(&made)
	}
	if a.Engine, err = engine.Open(ctx, made); err != nil {
		return err
	}
	a.onClose(a.Engine.Close)
	a.Keys = a.Engine.Keys()
	a.measure(made.Watch)
	if _, err := a.Keys.EnsureDefault(ctx); err != nil {
		return fmt.Errorf("make the default organization: %w", err)
	}
	return nil
}

// beside gets a value when a command has stored something beside this server; nil: nobody would tell.
func (a *App) beside() <-chan struct{} {
	if !Embedded(a.settings.Config) {
		return nil
	}
	told, err := a.lock.Listen()
	if err != nil {
		a.settings.Log.Warn("data folder not watched", "error", err)
		return nil
	}
	a.onClose(func(context.Context) error { return told.Close() })
	return told.C
}

// webhooks makes what sends to webhooks.
func (a *App) webhooks() (port.Sender, error) {
	s, err := webhook.New(webhook.Options{Private: a.settings.Config.Events.AllowPrivate, UserAgent: a.userAgent()})
	if err != nil {
		return nil, fmt.Errorf("events.allow_private: %w", err)
	}
	return s, nil
}

// userAgent names this program to servers that others run.
func (a *App) userAgent() string {
	agent := "Mneme/" + a.settings.Version
	if base := a.settings.Config.Server.BaseURL; base != "" {
		agent += " (+" + base + ")"
	}
	return agent
}

// engineConfig gives the engine what the configuration says, in the services' own
// settings.
func (a *App) engineConfig(p parts) (engine.Config, error) {
	c := a.settings.Config
	id, err := a.lock.ID()
	if err != nil {
		return engine.Config{}, err
	}
	shown, err := c.YAML(a.settings.Registry)
	return engine.Config{
		Configuration: string(shown),

		Store:   p.store,
		Indexes: p.indexes,
		Models:  p.models,
		Protocols: map[op.Protocol]bool{
			op.OpenAI: c.Protocols.OpenAI,
			op.Mem0:   c.Protocols.Mem0,
		},
		Fusion: retrieve.Fusion{
			Method: retrieve.Method(c.Query.Fusion),
			Depth:  c.Query.Candidates,
			K:      float64(c.Query.RRFK),
			Weights: map[port.Retriever]float64{
				port.Vector:      c.Query.Weights.Vector,
				port.Keyword:     c.Query.Weights.Keyword,
				port.SparseTerms: c.Query.Weights.Sparse,
			},
		},
		SparseQueries:   retrieve.SparseQueries(c.Query.SparseQueries),
		Reranking:       new(c.Query.Reranking()),
		RerankDocuments: c.Limits.RerankDocuments,
		Memory: memory.Settings{
			Reranking:   retrieve.Reranking{Prior: c.Memory.RerankPrior, Floor: retrieve.NoFloor},
			RerankDepth: cmp.Or(c.Memory.RerankDepth, memory.NoReranking),
			RerankBytes: c.Memory.RerankBytes * runtime.GOMAXPROCS(0),
			Sparse:      c.Memory.Sparse,
			Environment: c.Memory.Environment,
		},
		Recall: recall.Settings{
			Fallback:       c.Memory.AnswerFallback,
			MinProbability: &c.Memory.MinProbability,
		},
		OAuth:    oauthSettings(c),
		Sessions: sessionSettings(c, a.settings.Log),
		Events: engine.Events{
			Record:    event.Record(c.Events.Record),
			Retention: c.Events.Retention,
			HTTP:      c.Events.HTTP,
			Schema: func(t reflect.Type) (json.RawMessage, error) {
				return json.Marshal(codec.OutputSchema(t))
			},
		},
		Usage: usage.Settings{Retention: c.Usage.Retention},
		Audit: audit.Settings{Level: audit.Level(c.Audit.Level), Retention: c.Audit.Retention},
		Rates: map[op.Class]ident.Rate{
			op.Read:   ident.Rate(c.Limits.Read),
			op.Write:  ident.Rate(c.Limits.Write),
			op.Rerank: ident.Rate(c.Limits.Rerank),
			op.Admin:  ident.Rate(c.Limits.Admin),
		},
		Budget:      p.budget,
		Concurrency: c.Limits.Concurrency,
		Queue:       c.Limits.Queue,
		MaxImport:   int64(c.Limits.ImportMB) << 20,
		Spool:       datasets.Spool{Dir: c.Limits.TempDir, Max: int64(c.Limits.TempMB) << 20, Free: disk.Free},
		Timeouts: engine.Timeouts{
			Read:   c.Timeouts.Read,
			Query:  c.Timeouts.Query,
			Rerank: c.Timeouts.Rerank,
			Write:  c.Timeouts.Write,
		},
		Replica:   id,
		BaseURL:   strings.TrimSuffix(c.Server.BaseURL, "/"),
		Extractor: p.files,
		Sources:   p.sources,
		Log:       a.settings.Log,
		Version:   a.settings.Version,
	}, err
}

// handler serves the operations, the tools, the pages and the measurements.
func (a *App) handler(ctx context.Context) (http.Handler, error) {
	s, set := a.settings, a.Engine.Set()
	base := s.Config.Server.BaseURL
	serving := mcp.Options{
		Set:            set,
		Log:            s.Log,
		Version:        s.Version,
		BaseURL:        base,
		AllowedOrigins: s.Config.Server.AllowedOrigins,
		Authenticate: func(ctx context.Context, bearer string) (ident.Principal, error) {
			return identified(ctx)(a.Keys.Verify(ctx, bearer, key.FamilyOf(bearer)))
		},
	}
	measured := map[string]http.Handler{"GET /metrics": a.Metrics.Handler()}
	plain := map[string]http.Handler{}
	if s.Config.Server.AdminAddr == "" {
		maps.Copy(plain, measured)
	}
	var err error
	a.Admin, err = transport.New(transport.Options{Set: set, Log: s.Log, Mounts: measured, Keyless: true, Refuse: a.ending})
	if err != nil {
		return nil, err
	}
	if err := a.serveOAuth(ctx, &serving, plain); err != nil {
		return nil, err
	}
	if s.MCP != nil {
		s.MCP(&serving)
	}
	tools, err := mcp.New(serving)
	if err != nil {
		return nil, err
	}
	plain["/mcp"] = tools
	if a.Engine.OAuth() != nil {
		plain["/mcp"] = verifyOnce(tools)
	}
	if err := a.serveConsole(plain); err != nil {
		return nil, err
	}
	mounts, err := withPages(plain, set, strings.TrimSuffix(base, "/"))
	if err != nil {
		return nil, err
	}
	answering := transport.Options{Set: set, Log: s.Log, Mounts: mounts, Gauge: a.Metrics.Gauge, Refused: a.Metrics.Meter.Refused,
		BodyBytes: int64(s.Config.Limits.BodyMB) << 20, AddressHeader: s.Config.OAuth.AddressHeader}
	if s.HTTP != nil {
		s.HTTP(&answering)
	}
	return transport.New(answering)
}

// identified tells the transport of a verified caller whose body it is about to read.
func identified(ctx context.Context) func(ident.Principal, error) (ident.Principal, error) {
	return func(p ident.Principal, err error) (ident.Principal, error) {
		if err == nil {
			transport.Identify(ctx, p)
		}
		return p, err
	}
}

// limiter opens what rate limits are counted in; nil: each process counts for itself.
func (a *App) limiter(ctx context.Context, env registry.Env, store port.Store) (port.Budget, error) {
	env.Store = store
	b, err := a.settings.Registry.Limit.Open(ctx, a.settings.Config.Limits.Shared, env)
	if b != nil {
		a.onClose(func(context.Context) error { return b.Close() })
	}
	return b, err
}

func (a *App) onClose(fn func(context.Context) error) { a.closers = append(a.closers, fn) }

// Close takes everything down in the reverse order of opening.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	for len(a.closers) > 0 {
		last := len(a.closers) - 1
		errs = append(errs, a.closers[last](ctx))
		a.closers = a.closers[:last]
	}
	return errors.Join(errs...)
}

// environment is what components may reach; those that hold models get a cache folder, too.
func environment(s Settings) registry.Env {
	return registry.Env{Log: s.Log, DataDir: s.Config.DataDir, Now: time.Now}
}

// Cache makes the cache folder for models. What lies there is run as machine code, so a folder
// that others may write into is not used; it is "" then.
func Cache(c *configs.Config, log *slog.Logger) (string, error) {
	dir := CacheDir(c)
	err := os.MkdirAll(dir, 0o700)
	if err != nil && c.CacheDir == "" { // a user whose home does not exist
		dir = filepath.Join(c.DataDir, "cache")
		err = os.MkdirAll(dir, 0o700)
	}
	private := false
	if err == nil {
		private, err = disk.Private(dir)
	}
	if err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	if !private {
		log.Warn("cache folder writable by others", "dir", dir)
		return "", nil
	}
	return dir, nil
}

// CacheDir is the configured cache folder, else the user's, else, for a user
// without a home, one in the data folder.
func CacheDir(c *configs.Config) string {
	if c.CacheDir != "" {
		return c.CacheDir
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "mneme")
	}
	return filepath.Join(c.DataDir, "cache")
}

func distinct(indexes map[port.Retriever]port.Index) []port.Index {
	var all []port.Index
	seen := map[port.Index]bool{}
	for _, r := range []port.Retriever{port.Vector, port.Keyword, port.SparseTerms} {
		if x := indexes[r]; x != nil && !seen[x] {
			seen[x] = true
			all = append(all, x)
		}
	}
	return all
}

// roles gives each role its model and checks that the model can do it.
func (a *App) roles(names []string) (engine.Models, error) {
	m := engine.Models{Aliases: a.settings.Config.ByAlias()}
	for _, name := range names {
		m.All = append(m.All, a.models[name])
	}
	r := a.settings.Config.Roles
	var err error
	m.Embedder, err = role[port.Embedder](a, "embed", r.Embed, port.TaskEmbed)
	if err == nil {
		m.Sparse, err = role[port.SparseEncoder](a, "sparse", r.Sparse, port.TaskSparse)
	}
	if err == nil {
		m.Reranker, err = role[port.Reranker](a, "rerank", r.Rerank, port.TaskRerank)
	}
	for _, name := range names {
		other, ok := a.models[name].(port.Reranker)
		if ok && name != r.Rerank && slices.Contains(a.models[name].Info().Tasks, port.TaskRerank) {
			m.Rerankers = append(m.Rerankers, other)
		}
		e, ok := a.models[name].(port.Embedder)
		if ok && name != r.Embed && slices.Contains(a.models[name].Info().Tasks, port.TaskEmbed) {
			m.Embedders = append(m.Embedders, e)
		}
	}
	if _, ok := m.Sparse.(port.Tokenizer); err == nil && m.Sparse != nil && !ok &&
		a.settings.Config.Query.SparseQueries == string(retrieve.IDFQueries) {
		err = fmt.Errorf("query.sparse_queries: model %s does not give word pieces, which idf needs; want encoder", r.Sparse)
	}
	for i, name := range r.Previous {
		known := false
		model, tasks := a.models[name], a.models[name].Info().Tasks
		if e, ok := model.(port.Embedder); ok && slices.Contains(tasks, port.TaskEmbed) {
			m.Previous.Embedders, known = append(m.Previous.Embedders, e), true
		}
		if e, ok := model.(port.SparseEncoder); ok && slices.Contains(tasks, port.TaskSparse) {
			m.Previous.Sparse, known = append(m.Previous.Sparse, e), true
		}
		if !known && err == nil {
			err = fmt.Errorf("roles.previous[%d]: model %s makes no vectors; it does %s", i, name, taskNames(tasks))
		}
	}
	if err == nil {
		m.Synthesizer, err = role[port.Synthesizer](a, "synthesize", r.Synthesize, port.TaskSynthesize)
	}
	return m, err
}

// role finds the model of a role. What it can do is what it says, not what
// methods it has: one type may stand for models of several kinds.
func role[M port.Model](a *App, role, name string, task port.Task) (M, error) {
	var none M
	if name == configs.Off {
		return none, nil
	}
	m, ok := a.models[name].(M)
	if tasks := a.models[name].Info().Tasks; !ok || !slices.Contains(tasks, task) {
		return none, fmt.Errorf("roles.%s: model %s does not do %s; it does %s", role, name, task, taskNames(tasks))
	}
	return m, nil
}

func taskNames(tasks []port.Task) string {
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// Describe names what is in use, for the start of the log.
func (a *App) Describe() []any {
	c := a.settings.Config
	parts := []any{"data", c.DataDir, "storage", c.Storage.Component, "keyword", c.Keyword.Component, "vector",
		c.Vector.Component}
	for _, r := range []struct{ role, model string }{{"embed", c.Roles.Embed}, {"sparse", c.Roles.Sparse},
		{"rerank", c.Roles.Rerank}, {"synthesize", c.Roles.Synthesize}} {
		name := r.model
		if m, ok := a.models[name]; ok {
			info := m.Info()
			name = fmt.Sprintf("%s (%s)", name, info.Runtime)
		}
		parts = append(parts, r.role, name)
	}
	return parts
}

// Listen opens the address to serve on. An address in use is explained.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l, nil
}

// URL is where a client on this machine reaches a listener.
func URL(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.To4() == nil && !strings.HasPrefix(l.Addr().String(), "[::]") {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port)
}

// InTheClear reports whether others than this machine reach a listener, and nothing
// says that it, or a proxy in front, encrypts what they send.
func InTheClear(l net.Listener, c *configs.Config) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && !at.IP.IsLoopback() && c.Server.TLS.Cert == "" && !strings.HasPrefix(c.Server.BaseURL, "https://")
}

// URL is where a client on this machine reaches what Serve serves on a listener.
func (a *App) URL(l net.Listener) string {
	if a.cert == nil {
		return URL(l)
	}
	return "https" + strings.TrimPrefix(URL(l), "http")
}

// ReloadCertificate reads the certificate's files now, if they have changed.
func (a *App) ReloadCertificate() {
	if a.cert != nil {
		a.cert.refresh(time.Now())
	}
}

// Announce lets other commands find the server by the data folder.
func (a *App) Announce(l net.Listener) error {
	s := datadir.Server{URL: a.URL(l)}
	if a.cert != nil {
		var err error
		if s.Certificate, err = filepath.Abs(a.cert.files.Cert); err != nil {
			return fmt.Errorf("announce the server: %w", err)
		}
	}
	return a.lock.Announce(s)
}

// ending refuses calls once the server has been told to end.
func (a *App) ending() error {
	if !a.stopping.Load() {
		return nil
	}
	return fault.New(fault.Unavailable, "the server is shutting down").After(time.Second)
}

// adminConnections is enough for a few who watch, and bounds them.
const adminConnections = 64

// ServeAdmin answers health and metrics on a listener of their own until ctx ends.
func (a *App) ServeAdmin(ctx context.Context, l net.Listener) error {
	server := transport.NewServer(transport.ServerOptions{
		Handler:        a.Admin,
		Log:            a.settings.Log,
		MaxConnections: adminConnections,
		Drain:          time.Second,
	})
	err := server.Serve(ctx, l)
	if err != nil {
		a.settings.Log.Error("admin listener failed", "error", err)
	}
	return err
}

// Serve answers requests on the listener until ctx ends and then those in
// progress.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	c := a.settings.Config
	server := transport.NewServer(transport.ServerOptions{
		Handler:        a.Handler,
		Log:            a.settings.Log,
		HeaderTimeout:  c.Timeouts.Header,
		IdleTimeout:    c.Timeouts.Idle,
		MaxConnections: c.Server.MaxConnections,
		PerAddress:     c.Server.ConnectionsPerAddress,
		TLS:            a.cert.config(),
		Drain:          c.Server.ShutdownTimeout,
		Stopping: func() {
			a.stopping.Store(true)
			a.Engine.Ending()
			a.settings.Log.Info("server stopping", "timeout", c.Server.ShutdownTimeout)
		},
	})
	return server.Serve(ctx, l)
}
