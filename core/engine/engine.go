package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/check"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/mem0"
	"github.com/mnemehq/mneme/core/member"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/openai"
	"github.com/mnemehq/mneme/core/organization"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/reindex"
	"github.com/mnemehq/mneme/core/replica"
	"github.com/mnemehq/mneme/core/rerank"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/seal"
	"github.com/mnemehq/mneme/core/session"
	"github.com/mnemehq/mneme/core/status"
	"github.com/mnemehq/mneme/core/tool"
	"github.com/mnemehq/mneme/core/usage"
	"github.com/mnemehq/mneme/core/webhook"
)

// Engine is the running product behind every transport.
type Engine struct {
	services
	set    *op.Set
	store  store
	log    *slog.Logger
	ports  port.Store // whole, for its optional abilities
	gate   *fair.Gate
	stop   context.CancelFunc // of the loops
	loops  *errgroup.Group
	tidied time.Time // by beat
}

// store is what the engine uses of the store itself.
type store = port.Narrowed[reader, writer]

type reader interface {
	port.OrganizationReader
	port.PartitionReader
	port.SecretReader
	port.ReplicaReader
}

type writer interface {
	reader
	port.SecretWriter
	port.ReplicaWriter
}

func narrow(s port.Store) store {
	return port.Narrow(s, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w })
}

// Open builds the services and starts the background work. The caller keeps
// the ports and closes them after Close.
func Open(ctx context.Context, c Config) (*Engine, error) {
	c.complete()
	secret, err := sharedSecret(ctx, narrow(c.Store), "cursor")
	if err != nil {
		return nil, err
	}
	sealer := seal.New(seal.Settings{Store: c.Store, Keys: c.Sealing, Now: c.Now})
	if err := unlessPart(c.Store, sealer.Check(ctx), func(err error) {
		c.Log.WarnContext(ctx, "data keys not checked", "error", err)
	}); err != nil {
		return nil, err
	}
	id := cmp.Or(c.Replica, rand.Text())
	bare := c.Store
	guard := usage.NewGuard(usage.GuardSettings{Store: bare, Changed: c.Usage.Counter.Rouse, Now: c.Now, Log: c.Log})
	recorder := event.NewRecorder(event.RecorderSettings{Store: guard, Record: c.Events.Record, Now: c.Now})
	guard.NoteIn(recorder)
	c.Store, c.Usage.Guard = recorder, guard
	e := &Engine{store: narrow(c.Store), ports: bare, log: c.Log,
		gate: fair.NewGate(c.Concurrency, c.Queue, 5*time.Second)}
	e.sealer = sealer
	pages := page.NewSigner(secret)
	if err := e.openAudit(ctx, &c, pages); err != nil {
		return nil, err
	}
	e.projector = ingest.NewProjector(c.Store, c.indexes(), id, c.Log)
	if err := e.join(ctx, c.Store, id); err != nil {
		return nil, err
	}
	c.Store = audit.Recording(c.Store)
	if err := e.build(&c, pages, recorder); err != nil {
		return nil, errors.Join(err, e.replica.Leave(context.WithoutCancel(ctx)))
	}
	e.set = e.guard(&c)
	mount(e.set, &e.services)

	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop, e.loops = stop, start(run, units(), &e.services, c.Log)
	return e, nil
}

// openAudit makes the audit log, which the store of the services writes to.
func (e *Engine) openAudit(ctx context.Context, c *Config, pages *page.Signer) error {
	secret, err := sharedSecret(ctx, e.store, "audit")
	if err != nil {
		return err
	}
	s := c.Audit
	s.Store, s.Pages, s.Secret, s.Now, s.Log = c.Store, pages, secret, c.Now, c.Log
	s.Told = c.Beside != nil
	s.AdminJobs = []string{reindex.NamespaceKind, reindex.EndUserKind, organization.DeletionKind}
	e.audit = audit.New(s)
	return nil
}

// join takes part among the replicas over the store. From then on erasures wait for
// this one; what ended before is cleaned first.
func (e *Engine) join(ctx context.Context, s port.Store, id string) (err error) {
	e.replica, err = replica.Join(ctx, replica.Settings{
		Store:  s,
		ID:     id,
		Beat:   e.beat,
		Lapsed: e.lapsed,
		Log:    e.log,
	})
	if err != nil {
		return err
	}
	err = unlessPart(e.ports, e.forgetDead(ctx), func(err error) { // tidy does it, and a new life once the part is back
		e.log.WarnContext(ctx, "cleanup failed", "error", err)
	})
	if err != nil {
		return errors.Join(err, e.replica.Leave(context.WithoutCancel(ctx)))
	}
	return nil
}

// unlessPart passes an error over that may come of one part of the store alone: the others are served without it.
func unlessPart(s port.Store, err error, tell func(error)) error {
	if _, several := s.(port.Parted); several && fault.CodeOf(err) == fault.Unavailable {
		tell(err)
		return nil
	}
	return err
}

// build makes the services, each from the parts before it.
func (e *Engine) build(c *Config, pages *page.Signer, recorder *event.Recorder) (err error) {
	identity := c.Models.identities(c.Now)
	changes := ingest.NewLog(c.Store, e.projector, recorder.Listeners()...).CountedBy(c.Usage.Counter)
	encoders := ingest.NewEncoders(&ingest.Encoder{
		Embedder: c.Models.Embedder,
		Sparse:   c.Models.Sparse,
		Options:  c.Chunking,
	}, c.Models.Previous).Offering(identity.Choices)
	searcher := retrieve.NewSearcher(retrieve.Searcher{
		Indexes:       c.Indexes,
		Projector:     e.projector,
		SparseQueries: c.SparseQueries,
		Fusion:        c.Fusion,
		Log:           c.Log,
	}, c.QueryCache)

	counting := c.Usage
	counting.Store, counting.Pages, counting.Now, counting.Log = c.Store, pages, c.Now, c.Log
	e.usage = usage.New(counting)
	e.searcher, e.census = searcher, newCensus(c)
	e.keys = key.New(key.Settings{Store: c.Store, Log: c.Log, Now: c.Now})
	e.oauth = e.lender(c)
	e.members = member.New(member.Settings{Store: c.Store, Organizations: e.keys, Pages: pages, Now: c.Now, Log: c.Log})
	if c.Sessions != nil {
		s := *c.Sessions
		s.Store, s.Keys, s.Now, s.Log = c.Store, e.keys, c.Now, c.Log
		s.Members, s.Refused = e.members, e.audit.Note
		e.sessions = session.New(s)
	}
	e.namespaces = namespace.New(c.Store, pages, identity, e.projector.Drop)
	e.jobs = job.New(job.Settings{Store: c.Store, Replica: e.replica, Record: e.audit.JobEnded, Now: c.Now, Log: c.Log})
	e.documents = document.New(document.Settings{
		Store:                c.Store,
		Changes:              changes,
		Encoders:             encoders,
		Searcher:             searcher,
		Projector:            e.projector,
		Pages:                pages,
		WithConfiguredModels: identity.WithConfiguredModels,
		Replica:              e.replica,
		Jobs:                 e.jobs,
		Now:                  c.Now,
		Log:                  c.Log,
	})
	e.files = file.New(file.Settings{Documents: e.documents, Extractor: c.Extractor})
	e.queries = query.New(query.Settings{
		Store:     c.Store,
		Searcher:  searcher,
		Reranker:  c.Models.Reranker,
		Rerankers: c.Models.Rerankers,
		Aliases:   c.Models.Aliases,
		Reranking: *c.Reranking,
		Encoders:  encoders,
		Timeout:   c.Timeouts.Query,
		Log:       c.Log,
	})
	e.checks = check.New(check.Settings{Store: c.Store, Queries: e.queries, Now: c.Now})
	if e.sources, err = e.newSources(c, pages); err != nil {
		return err
	}
	memories := c.Memory
	memories.Store, memories.Changes, memories.Projector, memories.Searcher = c.Store, changes, e.projector, searcher
	memories.Encoders = encoders.With(whole(c.Chunking))
	memories.Reranker, memories.Sparse = c.Models.Reranker, c.Memory.Sparse && c.Models.Sparse != nil
	memories.Pages, memories.WithConfiguredModels, memories.Replica = pages, identity.WithConfiguredModels, e.replica
	memories.Jobs, memories.Now, memories.Log = e.jobs, c.Now, c.Log
	memories.Sealer, memories.Upstreams = e.sealer, e.sources
	memories.Passages = passagesOf(e.queries)
	e.memories = memory.New(memories)
	e.tools = tool.New(tool.Settings{
		Namespaces: e.namespaces,
		Documents:  e.documents,
		Queries:    e.queries,
		Memories:   e.memories,
		BaseURL:    c.BaseURL,
	})
	answers := c.Recall
	answers.Search, answers.Reranker, answers.Synthesizer = e.memories.Search, c.Models.Reranker, c.Models.Synthesizer
	answers.Preceding, answers.Log = e.memories.PrecedingTurns, c.Log
	answers.Reranked = c.Models.Reranker != nil && c.Memory.RerankDepth != memory.NoReranking
	e.recall = recall.New(answers)
	e.reindexing = reindex.New(reindex.Settings{
		Store:      c.Store,
		Jobs:       e.jobs,
		Namespaces: e.documents,
		EndUsers:   e.memories,
		Encoders:   encoders,
		Projector:  e.projector,
		Shared:     !e.replica.Alone(),
		Log:        c.Log,
	})
	e.admin = admin.New(admin.Settings{
		Configuration: admin.Configuration{Version: c.Version, YAML: c.Configuration},

		Keys:    e.keys,
		Store:   c.Store,
		Pages:   pages,
		Erase:   e.eraseEndUser,
		Reindex: e.reindexing,
		Jobs:    e.jobs,
		Organizations: organization.New(organization.Settings{
			Store: c.Store,
			Keys:  e.keys,
			Jobs:  e.jobs,
			Erase: e.erase,
			Drop:  e.projector.Drop,
			Clean: e.forgetDead,
			Now:   c.Now,
			Log:   c.Log,
		}),
		Transfers: datasets.New(datasets.Settings{
			Store:                c.Store,
			Changes:              changes,
			Encoders:             encoders,
			WithConfiguredModels: identity.WithConfiguredModels,
			Program:              c.Version,
			MaxImport:            c.MaxImport,
			Spool:                c.Spool,
			Now:                  c.Now,
			Log:                  c.Log,
		}),
		Now: c.Now,
	})
	e.reranker = rerank.New(c.Models.Reranker, c.RerankDocuments, c.Models.Rerankers...).Aliased(c.Models.Aliases)
	e.models = model.New(c.Models.All, c.Models.byTask(), c.Watch)
	e.openai = openai.New(openai.Settings{
		Enabled:    c.Protocols[op.OpenAI],
		Embedder:   c.Models.Embedder,
		Embedders:  c.Models.Embedders,
		Aliases:    c.Models.Aliases,
		Models:     e.models,
		Namespaces: e.namespaces,
		Queries:    e.queries,
		Reranks:    c.Models.Reranker != nil,
		Store:      c.Store,
		Documents:  e.documents,
		Files:      e.files,
		Now:        c.Now,
	})
	e.mem0 = mem0.New(c.Protocols[op.Mem0], e.memories)
	e.deliverer = webhook.NewDeliverer(webhook.DelivererSettings{Store: c.Store, Replica: e.replica, Sender: c.Events.Sender,
		Sealer: e.sealer, Tracer: c.Tracer, Now: c.Now, Log: c.Log})
	e.webhooks = webhook.New(webhook.Settings{Store: c.Store, Sender: c.Events.Sender, Sealer: e.sealer, Pages: pages,
		HTTP: c.Events.HTTP, Wake: e.deliverer.Wake, Now: c.Now, Log: c.Log})
	e.publisher = event.NewPublisher(event.PublisherSettings{Recorder: recorder, Replica: e.replica,
		Retention: c.Events.Retention, Told: c.Beside != nil, Delivered: e.deliverer.Wake, Now: c.Now, Log: c.Log})
	e.outages = event.NewModels(event.ModelsSettings{Recorder: recorder, States: statuses(c.Watch),
		Replica: e.replica.Self().ID, Every: c.Events.Models, Changed: c.Watch.Changed(), Log: c.Log})
	e.beside = whenTold(c.Beside, recorder.Wake, e.audit.Rouse)
	e.events = event.New(event.Settings{Publisher: e.publisher, Pages: pages, Schema: c.Events.Schema, Now: c.Now, Log: c.Log})
	var databases []port.StorePart
	if several, ok := e.ports.(port.Parted); ok {
		databases = several.Parts()
	}
	e.status = status.New(status.Settings{
		Store:     c.Store,
		Databases: databases,
		Indexes:   c.Indexes,
		Embedder:  c.Models.Embedder,
		Sparse:    c.Models.Sparse,
		Reranker:  c.Models.Reranker,
		Version:   c.Version,
		Now:       c.Now,
	})
	return nil
}

// whole keeps a memory in one chunk where it fits.
func whole(o chunk.Options) chunk.Options {
	o.Whole = true
	return o
}

// lender makes the service that lends keys to MCP clients; nil: it is off.
func (e *Engine) lender(c *Config) *oauth.Service {
	if c.OAuth == nil {
		return nil
	}
	s := *c.OAuth
	s.Store, s.Keys, s.Now, s.Log = c.Store, e.keys, c.Now, c.Log
	return oauth.New(s)
}

// guard makes the set whose operations pass through the middlewares.
func (e *Engine) guard(c *Config) *op.Set {
	rates := map[op.Class]ident.Rate{op.Recall: {PerMinute: DefaultRecallRate}}
	maps.Copy(rates, c.Rates)
	var limiter middleware.Limiter = middleware.NewBuckets(c.Now)
	if c.Budget != nil {
		limiter = middleware.NewShared(c.Budget, c.Now, c.Log)
	}
	limits := &middleware.Limits{Limiter: limiter, Rates: rates}
	o := middleware.Options{
		Log:     c.Log,
		Tracer:  c.Tracer,
		Meter:   c.Meter,
		Keys:    e.keys,
		Limits:  limits,
		Gate:    e.gate,
		Audit:   e.audit,
		Usage:   c.Usage.Counter,
		Timeout: c.Timeouts.of,
	}
	if e.oauth != nil {
		o.Tokens = e.oauth
	}
	if e.sessions != nil {
		o.Sessions = e.sessions
	}
	return &op.Set{Admit: limits.Admit, Chain: middleware.Chain(o)}
}

// erase lends the erasure of memories to the deletion of organizations.
func (e *Engine) erase(ctx context.Context, p port.Partition) (port.Erased, error) {
	c, err := e.memories.Erase(ctx, p.Org(), p.Integration(), p.Name())
	return c.Erased, err
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
func (e *Engine) OAuth() *oauth.Service { return e.oauth }

// Sessions is the service that signs people in to the console; nil when it is off.
func (e *Engine) Sessions() *session.Service { return e.sessions }

// Secret is a secret of 32 bytes that all servers over the store share, made when
// it is first asked for.
func (e *Engine) Secret(ctx context.Context, name string) ([]byte, error) {
	return sharedSecret(ctx, e.store, name)
}

// Sealer encrypts what the store keeps of other systems' secrets.
func (e *Engine) Sealer() port.Sealer { return e.sealer }

// Memories is the memory service.
func (e *Engine) Memories() *memory.Service { return e.memories }

// Ending says that the process is about to end: calls that wait for something answer at once.
func (e *Engine) Ending() { e.events.End() }

// Close ends the background work and stores what was counted; calls in progress are the
// transports' to end.
// Jobs that it interrupts are resumed by the next start, or by another replica.
func (e *Engine) Close(ctx context.Context) error {
	e.stop()
	failed := e.loops.Wait()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := e.usage.Flush(ctx); err != nil {
		e.log.WarnContext(ctx, "usage not stored", "error", err)
	}
	return errors.Join(failed, e.replica.Leave(ctx))
}
