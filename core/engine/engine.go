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
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/rerank"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/source"
	"github.com/mnemehq/mneme/core/status"
)

// Models are the models by role. A nil role is off.
type Models struct {
	All      []port.Model // every configured model, for GET /models
	Embedder port.Embedder
	Sparse   port.SparseEncoder
	Reranker port.Reranker
	// Synthesizer writes the answers of recall; nil: they quote.
	Synthesizer port.Synthesizer
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
	Limiter     middleware.Limiter      // nil: in process
	Concurrency int                     // calls at once; 0: 16 for each core
	Queue       int                     // calls waiting; 0: four times Concurrency
	Timeouts    Timeouts
	QueryCache  int // query encodings kept; 0: 1024, negative: none

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
	documents *document.Service
	memories  *memory.Service
	reindexes *reindexer
	store     port.Store
	projector *ingest.Projector
	gate      *middleware.Gate
	stop      context.CancelFunc
	done      chan struct{}
	upkeep    error // how the upkeep of keys and memories ended; read after done
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
	projector := ingest.NewProjector(c.Store, distinct, c.Log)
	identity := identities(c.Models, c.Now)
	pages := page.NewSigner(secret)
	searcher := retrieve.NewSearcher(retrieve.Searcher{Indexes: c.Indexes, Projector: projector, Embedder: c.Models.Embedder, Sparse: c.Models.Sparse,
		SparseQueries: c.SparseQueries, Fusion: c.Fusion, Log: c.Log}, c.QueryCache)
	encoder := &ingest.Encoder{Embedder: c.Models.Embedder, Sparse: c.Models.Sparse, Options: c.Chunking}

	width := c.Concurrency
	if width <= 0 {
		width = 16 * runtime.GOMAXPROCS(0)
	}
	queue := c.Queue
	if queue <= 0 {
		queue = 4 * width
	}
	e := &Engine{store: c.Store, projector: projector, keys: key.New(key.Settings{Store: c.Store, Log: c.Log, Now: c.Now}), gate: middleware.NewGate(width, queue, 5*time.Second)}
	e.documents = document.New(document.Settings{Store: c.Store, Encoder: encoder, Projector: projector, Pages: pages,
		Stamp: identity.Stamp, Check: check(identity), Now: c.Now, Log: c.Log})
	whole := *encoder
	whole.Options.Whole = true
	e.memories = memory.New(memory.Settings{Store: c.Store, Encoder: &whole, Projector: projector, Searcher: searcher, Reranker: c.Models.Reranker,
		Reranking: retrieve.Reranking{Prior: max(0, cmp.Or(c.Memory.RerankPrior, DefaultMemoryPrior)), Floor: retrieve.NoFloor, Depth: c.Reranking.Depth}, RerankDepth: c.Memory.RerankDepth, RerankBytes: c.Memory.RerankBytes * runtime.GOMAXPROCS(0), Sparse: c.Memory.Sparse && c.Models.Sparse != nil, Pages: pages,
		Stamp: identity.Stamp, Check: check(identity), Environment: c.Memory.Environment, Now: c.Now, Log: c.Log})
	e.reindexes = &reindexer{documents: e.documents, memories: e.memories, check: check(identity), now: c.Now, log: c.Log,
		turn: make(chan struct{}, 1), states: map[port.Partition]*reindexing{}}
	e.reindexes.run, e.reindexes.stop = context.WithCancel(context.WithoutCancel(ctx))
	rates := map[op.Class]ident.Rate{op.Recall: {PerMinute: DefaultRecallRate}}
	maps.Copy(rates, c.Rates)
	if c.Limiter == nil {
		c.Limiter = middleware.NewBuckets(c.Now)
	}
	limits := &middleware.Limits{Limiter: c.Limiter, Rates: rates}
	chain := middleware.Chain(middleware.Options{Log: c.Log, Tracer: c.Tracer, Meter: c.Meter, Keys: e.keys, Limits: limits, Gate: e.gate})
	e.set = &op.Set{Admit: limits.Admit, Chain: withTimeouts(chain, c.Timeouts)}
	op.Mount(e.set, namespace.New(c.Store, pages, identity, projector.Drop), namespace.Operations())
	op.Mount(e.set, e.documents, document.Operations())
	op.Mount(e.set, query.New(query.Settings{Store: c.Store, Searcher: searcher, Reranker: c.Models.Reranker, Reranking: *c.Reranking,
		Check: check(identity), Timeout: c.Timeouts.Query, Log: c.Log}), query.Operations())
	op.Mount(e.set, e.memories, memory.Operations())
	op.Mount(e.set, recall.New(recall.Settings{Search: e.memories.Search, Reranker: c.Models.Reranker, Synthesizer: c.Models.Synthesizer,
		Fallback: c.Memory.RecallFallback, MinProbability: c.Memory.MinProbability, Log: c.Log}), recall.Operations())
	op.Mount(e.set, admin.New(admin.Settings{Keys: e.keys, Store: c.Store, Pages: pages, Erase: e.eraseEndUser,
		Reindex: e.reindexes, Now: c.Now}), admin.Operations())
	op.Mount(e.set, rerank.New(c.Models.Reranker, c.RerankDocuments), rerank.Operations())
	op.Mount(e.set, model.New(c.Models.All, defaults(c.Models)), model.Operations())
	op.Mount(e.set, source.New(), source.Operations())
	op.Mount(e.set, status.New(status.Settings{Store: c.Store, Indexes: c.Indexes, Embedder: c.Models.Embedder, Sparse: c.Models.Sparse,
		Reranker: c.Models.Reranker, Version: c.Version, Now: c.Now}), status.Operations())

	if err := e.forgetDead(ctx); err != nil {
		return nil, err
	}
	if err := e.documents.Start(ctx); err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop, e.done = stop, make(chan struct{})
	go func() {
		defer close(e.done)
		memories := make(chan error, 1)
		go func() { memories <- e.memories.Run(run) }()
		e.upkeep = e.keys.Run(run)
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
	return e.upkeep
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

// check refuses a namespace whose vectors were made by other models than the
// configured ones. A model that is off is not a mismatch: it is missing, and
// what needs it says so.
func check(m namespace.Models) func(port.Namespace) error {
	differs := func(n port.Namespace, kind, storedName, stored string, have *port.ModelInfo) error {
		if have == nil || stored == "" || have.Digest == stored {
			return nil
		}
		return fault.New(fault.Conflict, "namespace %q was indexed by %s model %s (%s); this server is configured with %s (%s). "+
			"Run `mneme reindex %s` to make its vectors anew with the configured model, or configure the stored one",
			n.Name, kind, storedName, stored, have.ID, have.Digest, n.Name)
	}
	return func(n port.Namespace) error {
		if err := differs(n, "embedding", n.EmbeddingModel, n.EmbeddingDigest, m.Embedding); err != nil {
			return err
		}
		return differs(n, "sparse", n.SparseModel, n.SparseDigest, m.Sparse)
	}
}

func withTimeouts(chain func(*op.Spec) endpoint.Middleware, t Timeouts) func(*op.Spec) endpoint.Middleware {
	return func(s *op.Spec) endpoint.Middleware {
		set := func(d time.Duration) {
			if d > 0 {
				s.Timeout = d
			}
		}
		switch {
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
