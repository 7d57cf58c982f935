package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"time"

	"github.com/go-kit/kit/endpoint"
	"go.opentelemetry.io/otel/trace"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/replica"
	"github.com/mnemehq/mneme/core/rerank"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/source"
	"github.com/mnemehq/mneme/core/status"
	"github.com/mnemehq/mneme/core/tool"
	"github.com/mnemehq/mneme/core/transfer"
)

// Models are the models by role. A nil role is off.
type Models struct {
	All      []port.Model // every configured model, for GET /models
	Embedder port.Embedder
	Sparse   port.SparseEncoder
	Reranker port.Reranker
	// Synthesizer writes the answers of recall; nil: they quote.
	Synthesizer port.Synthesizer
	// Previous are those before Embedder and Sparse, whose partitions are served
	// until they are reindexed.
	Previous ingest.Previous
}

// Timeouts are the deadlines by kind of operation; 0 keeps the operation's own.
type Timeouts struct {
	Read, Query, Rerank, Write time.Duration
}

// Memory is the configuration of the memory API.
type Memory struct {
	Sparse      bool    // new end users get a learned-sparse index, which searches use
	RerankDepth int     // candidates that a search rescores at most; 0: as queries, negative: none
	RerankPrior float64 // of a search, as retrieve.Reranking.Prior; 0: DefaultMemoryPrior, negative: the reranker alone
	RerankBytes int     // text that a search gives the reranker for each core, beyond ten memories; 0: no bound
	Environment string  // shown by the status call; "": self-hosted

	// RecallFallback quotes when the Synthesizer fails, and says so; otherwise
	// its failure is the call's.
	RecallFallback bool
	// MinProbability is how probable it must be that a memory answers a
	// question; 0: recall.DefaultMinProbability.
	MinProbability float64
}

// DefaultMemoryPrior is how much the fused score counts in a search of memories.
// A memory is short and answers alone, so the reranker counts for more than it
// does among passages, and has no floor (docs/quality.md).
const DefaultMemoryPrior = 1.0

// DefaultRecallRate is how many recalls a minute an integration may ask (decisions 6.1).
const DefaultRecallRate = 600

// Config is everything an Engine is made of.
type Config struct {
	Store           port.Store
	Indexes         map[port.Retriever]port.Index
	Models          Models
	Fusion          retrieve.Fusion        // zero: retrieve.DefaultFusion
	Chunking        chunk.Options          // zero: the default
	Reranking       *retrieve.Reranking    // nil: retrieve.DefaultReranking
	RerankDocuments int                    // texts a rerank call may score; 0: rerank.DefaultMaxDocuments
	SparseQueries   retrieve.SparseQueries // "": by the encoder

	Memory Memory // the memory API

	Rates       map[op.Class]ident.Rate // zero rate: unlimited; op.Recall left out: DefaultRecallRate
	Budget      port.Budget             // of the rate limits; nil: each process counts for itself
	Concurrency int                     // calls at once; 0: 16 for each core
	Queue       int                     // calls waiting; 0: four times Concurrency
	Timeouts    Timeouts
	QueryCache  int // query encodings kept; 0: 1024, negative: none

	// Replica names this process among those over the store, over restarts; "": by
	// chance. No two that run may have one name.
	Replica string

	BaseURL string // under which clients reach the server, for links in answers; "": the host that a caller used
	// OAuth lends keys to MCP clients that cannot send one; nil: off. Store, Keys,
	// Now and Log are the engine's.
	OAuth *oauth.Settings

	Meter   middleware.Meter // nil: none
	Tracer  trace.Tracer     // nil: none
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
	Version string
}

// Engine is the running product behind every transport.
type Engine struct {
	set       *op.Set
	keys      *key.Service
	lending   *oauth.Service // nil: off
	documents *document.Service
	memories  *memory.Service
	reindexes *reindexer
	replica   *replica.Member
	store     port.Store
	log       *slog.Logger
	projector *ingest.Projector
	gate      *middleware.Gate
	stop      context.CancelFunc
	done      chan struct{}
	tidied    time.Time // by beat
	upkeep    error     // how the upkeep of keys and memories ended; read after done
}

// retainer is an index that can forget partitions whose life is over.
type retainer interface{ Retain(live []int64) error }

// Open builds the services and starts the background work. The caller keeps
// the ports and closes them after Close.
func Open(ctx context.Context, c Config) (*Engine, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Fusion.Method == "" {
		c.Fusion = retrieve.DefaultFusion()
	}
	if c.Reranking == nil {
		d := retrieve.DefaultReranking()
		c.Reranking = &d
	}
	if c.Chunking == (chunk.Options{}) {
		c.Chunking = chunk.Default()
	}
	if c.QueryCache == 0 {
		c.QueryCache = 1024
	}
	secret, err := sharedSecret(ctx, c.Store, "cursor")
	if err != nil {
		return nil, err
	}
	var distinct []port.Index
	for _, r := range []port.Retriever{port.Vector, port.Keyword, port.SparseTerms} {
		if ix := c.Indexes[r]; ix != nil {
			distinct = append(distinct, ix)
		}
	}
	id := cmp.Or(c.Replica, rand.Text())
	projector := ingest.NewProjector(c.Store, distinct, id, c.Log)
	identity := identities(c.Models, c.Now)
	pages := page.NewSigner(secret)
	searcher := retrieve.NewSearcher(retrieve.Searcher{Indexes: c.Indexes, Projector: projector,
		SparseQueries: c.SparseQueries, Fusion: c.Fusion, Log: c.Log}, c.QueryCache)
	encoders := ingest.NewEncoders(&ingest.Encoder{Embedder: c.Models.Embedder, Sparse: c.Models.Sparse, Options: c.Chunking}, c.Models.Previous)

	width := c.Concurrency
	if width <= 0 {
		width = 16 * runtime.GOMAXPROCS(0)
	}
	queue := c.Queue
	if queue <= 0 {
		queue = 4 * width
	}
	e := &Engine{store: c.Store, log: c.Log, projector: projector, keys: key.New(key.Settings{Store: c.Store, Log: c.Log, Now: c.Now}), gate: middleware.NewGate(width, queue, 5*time.Second)}
	if e.replica, err = replica.Join(ctx, replica.Settings{Store: c.Store, ID: id, Beat: e.beat, Lapsed: e.lapsed, Log: c.Log}); err != nil {
		return nil, err
	}
	// From here on erasures wait for this replica; what ended before is cleaned now.
	if err := e.forgetDead(ctx); err != nil {
		return nil, errors.Join(err, e.replica.Leave(context.WithoutCancel(ctx)))
	}
	e.documents = document.New(document.Settings{Store: c.Store, Encoders: encoders, Searcher: searcher, Projector: projector, Pages: pages,
		Stamp: identity.Stamp, Replica: e.replica, Now: c.Now, Log: c.Log})
	whole := c.Chunking
	whole.Whole = true
	e.memories = memory.New(memory.Settings{Store: c.Store, Encoders: encoders.With(whole), Projector: projector, Searcher: searcher, Reranker: c.Models.Reranker,
		Reranking: retrieve.Reranking{Prior: max(0, cmp.Or(c.Memory.RerankPrior, DefaultMemoryPrior)), Floor: retrieve.NoFloor, Depth: c.Reranking.Depth}, RerankDepth: c.Memory.RerankDepth, RerankBytes: c.Memory.RerankBytes * runtime.GOMAXPROCS(0), Sparse: c.Memory.Sparse && c.Models.Sparse != nil, Pages: pages,
		Stamp: identity.Stamp, Replica: e.replica, Environment: c.Memory.Environment, Now: c.Now, Log: c.Log})
	e.reindexes = &reindexer{documents: e.documents, memories: e.memories, encoders: encoders, store: c.Store, projector: projector, replica: e.replica, now: c.Now, log: c.Log,
		turn: make(chan struct{}, 1)}
	e.reindexes.run, e.reindexes.stop = context.WithCancel(context.WithoutCancel(ctx))
	rates := map[op.Class]ident.Rate{op.Recall: {PerMinute: DefaultRecallRate}}
	maps.Copy(rates, c.Rates)
	var limiter middleware.Limiter = middleware.NewBuckets(c.Now)
	if c.Budget != nil {
		limiter = middleware.NewShared(c.Budget, c.Now, c.Log)
	}
	limits := &middleware.Limits{Limiter: limiter, Rates: rates}
	guard := middleware.Options{Log: c.Log, Tracer: c.Tracer, Meter: c.Meter, Keys: e.keys, Limits: limits, Gate: e.gate}
	if c.OAuth != nil {
		lending := *c.OAuth
		lending.Store, lending.Keys, lending.Now, lending.Log = c.Store, e.keys, c.Now, c.Log
		e.lending = oauth.New(lending)
		guard.Tokens = e.lending
	}
	chain := middleware.Chain(guard)
	e.set = &op.Set{Admit: limits.Admit, Chain: withTimeouts(chain, c.Timeouts)}
	namespaces := namespace.New(c.Store, pages, identity, projector.Drop)
	queries := query.New(query.Settings{Store: c.Store, Searcher: searcher, Reranker: c.Models.Reranker, Reranking: *c.Reranking,
		Encoders: encoders, Timeout: c.Timeouts.Query, Log: c.Log})
	op.Mount(e.set, namespaces, namespace.Operations())
	op.Mount(e.set, e.documents, document.Operations())
	op.Mount(e.set, queries, query.Operations())
	op.Mount(e.set, tool.New(tool.Settings{Namespaces: namespaces, Documents: e.documents, Queries: queries, BaseURL: c.BaseURL}), tool.Operations())
	op.Mount(e.set, e.memories, memory.Operations())
	op.Mount(e.set, recall.New(recall.Settings{Search: e.memories.Search, Reranker: c.Models.Reranker, Synthesizer: c.Models.Synthesizer,
		Fallback: c.Memory.RecallFallback, MinProbability: c.Memory.MinProbability, Log: c.Log}), recall.Operations())
	op.Mount(e.set, admin.New(admin.Settings{Keys: e.keys, Store: c.Store, Pages: pages, Erase: e.eraseEndUser,
		Reindex: e.reindexes, Transfers: transfer.New(transfer.Settings{Store: c.Store, Projector: projector, Encoders: encoders, Stamp: identity.Stamp,
			Program: c.Version, Now: c.Now, Log: c.Log}), Now: c.Now}), admin.Operations())
	op.Mount(e.set, rerank.New(c.Models.Reranker, c.RerankDocuments), rerank.Operations())
	op.Mount(e.set, model.New(c.Models.All, defaults(c.Models)), model.Operations())
	op.Mount(e.set, source.New(), source.Operations())
	op.Mount(e.set, status.New(status.Settings{Store: c.Store, Indexes: c.Indexes, Embedder: c.Models.Embedder, Sparse: c.Models.Sparse,
		Reranker: c.Models.Reranker, Version: c.Version, Now: c.Now}), status.Operations())

	e.documents.Start(ctx)
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop, e.done = stop, make(chan struct{})
	go func() {
		defer close(e.done)
		memories := make(chan error, 1)
		go func() { memories <- e.memories.Run(run) }()
		member := make(chan struct{})
		go func() {
			defer close(member)
			e.replica.Run(run)
		}()
		lagging := make(chan struct{})
		go func() {
			defer close(lagging)
			projector.Run(run)
		}()
		purging := make(chan struct{})
		go func() {
			defer close(purging)
			if e.lending != nil {
				e.lending.Run(run)
			}
		}()
		e.upkeep = e.keys.Run(run)
		<-purging
		<-member
		<-lagging
		e.upkeep = errors.Join(e.upkeep, <-memories)
	}()
	return e, nil
}

// eraseEndUser lends the erasure of memories to the admin service.
func (e *Engine) eraseEndUser(ctx context.Context, p port.Partition) (admin.Erasure, error) {
	c, err := e.memories.Erase(ctx, p.Org(), p.Integration(), p.Name())
	return admin.Erasure{Removed: c.Erased, Verified: c.VerifiedAbsent, At: c.At}, err
}

// Set is the table of mounted operations.
func (e *Engine) Set() *op.Set { return e.set }

// Keys is the key service.
func (e *Engine) Keys() *key.Service { return e.keys }

// OAuth is the service that lends keys to MCP clients; nil when it is off.
func (e *Engine) OAuth() *oauth.Service { return e.lending }

// Secret is a secret of 32 bytes that all servers over the store share, made when
// it is first asked for.
func (e *Engine) Secret(ctx context.Context, name string) ([]byte, error) {
	return sharedSecret(ctx, e.store, name)
}

// Memories is the memory service.
func (e *Engine) Memories() *memory.Service { return e.memories }

// Gate is the cap on concurrent calls, for metrics.
func (e *Engine) Gate() *middleware.Gate { return e.gate }

// Close ends the background work; calls in progress are the transports' to end.
// An erasure that does not end within the context's time is resumed by the next
// start.
func (e *Engine) Close(ctx context.Context) error {
	e.documents.Stop()
	e.reindexes.close()
	e.stop()
	<-e.done
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_ = e.memories.Wait(ctx) // what has not ended by then is no failure
	return errors.Join(e.upkeep, e.replica.Leave(ctx))
}

// beat is what is done with each renewal of the lease: others are told how far
// the indexes are, and work that a dead replica has left is taken over.
func (e *Engine) beat(ctx context.Context) {
	if !e.replica.Alone() {
		if err := e.projector.Publish(ctx); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "other replicas do not know how far the indexes are", "error", err)
		}
	}
	e.reindexes.adopt(ctx)
	if !e.replica.Alone() {
		e.reindexes.warm()
	}
	if now := time.Now(); now.Sub(e.tidied) >= tidyEvery {
		e.tidied = now
		e.tidy(ctx)
	}
}

// tidyEvery is how often what nobody needs any more is looked for.
const tidyEvery = 5 * time.Minute

// tidy removes what other replicas' deletions have left in this one's indexes, and
// what was kept for replicas that do not come back.
func (e *Engine) tidy(ctx context.Context) {
	err := e.forgetDead(ctx)
	err = errors.Join(err, e.store.Update(ctx, func(w port.Writer) error {
		return errors.Join(w.DropWatermarks(ctx), w.DropBuckets(ctx), w.DropReindexings(ctx, e.reindexes.now().Add(-reindexKept)))
	}))
	if err != nil && ctx.Err() == nil {
		e.log.WarnContext(ctx, "what is not needed any more was not removed", "error", err)
	}
}

// lapsed cleans what may have been erased while others took this replica for dead.
func (e *Engine) lapsed(ctx context.Context) {
	if err := e.forgetDead(ctx); err != nil && ctx.Err() == nil {
		e.log.ErrorContext(ctx, "what was erased meanwhile may be left in the index", "error", err)
	}
}

func sharedSecret(ctx context.Context, store port.Store, name string) ([]byte, error) {
	var secret []byte
	read := func(r port.SecretReader) (err error) {
		secret, err = r.Secret(ctx, name)
		return err
	}
	err := store.View(ctx, func(r port.Reader) error { return read(r) })
	if fault.CodeOf(err) == fault.NotFound {
		fresh := make([]byte, 32)
		if _, err := rand.Read(fresh); err != nil {
			return nil, fmt.Errorf("make secret %s: %w", name, err)
		}
		err = store.Update(ctx, func(w port.Writer) error {
			if err := w.PutSecret(ctx, name, fresh); err != nil {
				return err
			}
			return read(w)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %s: %w", name, err)
	}
	return secret, nil
}

func identities(m Models, now func() time.Time) namespace.Models {
	id := namespace.Models{Chunker: chunk.Version, Now: now}
	if m.Embedder != nil {
		i := m.Embedder.Info()
		id.Embedding = &i
	}
	if m.Sparse != nil {
		i := m.Sparse.Info()
		id.Sparse = &i
	}
	return id
}

func defaults(m Models) map[port.Task]string {
	d := map[port.Task]string{}
	if m.Embedder != nil {
		d[port.TaskEmbed] = m.Embedder.Info().ID
	}
	if m.Sparse != nil {
		d[port.TaskSparse] = m.Sparse.Info().ID
	}
	if m.Reranker != nil {
		d[port.TaskRerank] = m.Reranker.Info().ID
	}
	if m.Synthesizer != nil {
		d[port.TaskSynthesize] = m.Synthesizer.Info().ID
	}
	return d
}

func withTimeouts(chain func(*op.Spec) endpoint.Middleware, t Timeouts) func(*op.Spec) endpoint.Middleware {
	return func(s *op.Spec) endpoint.Middleware {
		set := func(d time.Duration) {
			if d > 0 {
				s.Timeout = d
			}
		}
		switch {
		case s.Tool != nil: // whoever asks for a model waits as long for every tool
		case s.Name == "namespaces.query":
			set(2 * t.Query) // with rerank; the service halves it without
		case s.Class == op.Read:
			set(t.Read)
		case s.Class == op.Write:
			set(t.Write)
		case s.Class == op.Rerank:
			set(t.Rerank)
		}
		return chain(s)
	}
}

// forgetDead removes what indexes keep of partitions that are gone.
func (e *Engine) forgetDead(ctx context.Context) error {
	var live []int64
	err := e.store.View(ctx, func(r port.Reader) (err error) {
		live, err = r.Generations(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("list live partitions: %w", err)
	}
	for _, ix := range e.projector.Indexes() {
		if r, ok := ix.(retainer); ok {
			if err := r.Retain(live); err != nil {
				return fmt.Errorf("clean the index: %w", err)
			}
		}
	}
	return nil
}
