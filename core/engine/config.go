package engine

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"reflect"
	"runtime"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mnemehq/mneme/core/audit"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/memory/recall"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/seal"
	"github.com/mnemehq/mneme/core/session"
	"github.com/mnemehq/mneme/core/usage"
)

// Config is everything an Engine is made of. Settings of a service are the service's
// own type, in which the engine sets the parts that it makes: the ports, the models,
// the services beside it, the clock and the log.
type Config struct {
	Store   port.DocumentStore
	Indexes map[port.Retriever]port.Index
	Models  Models

	Protocols map[op.Protocol]bool // of others that are spoken; nil: none

	Extractor port.Extractor // of the text of files; nil: they are not read
	Sources   *Sources       // nil: off
	Events    Events         // zero: all are recorded
	Sealing   []seal.Key     // for secrets of other systems, the first seals; none: such secrets are not kept

	Chunking      chunk.Options          // zero: the default
	Fusion        retrieve.Fusion        // zero: retrieve.DefaultFusion
	SparseQueries retrieve.SparseQueries // "": by the encoder
	QueryCache    int                    // query encodings kept; 0: 1024, negative: none
	Reranking     *retrieve.Reranking    // of queries; nil: retrieve.DefaultReranking

	RerankDocuments int             // texts a rerank call may score; 0: rerank.DefaultMaxDocuments
	Memory          memory.Settings // Reranking left out: memory's default; Sparse needs a sparse encoder
	Recall          recall.Settings
	Usage           usage.Settings    // Retention alone; zero: its default
	Audit           audit.Settings    // Level and Retention alone; zero: their defaults
	OAuth           *oauth.Settings   // lends keys to MCP clients that cannot send one; nil: off
	Sessions        *session.Settings // signs people in to the console; nil: off

	Rates       map[op.Class]ident.Rate // zero rate: unlimited; op.Recall left out: DefaultRecallRate
	Budget      port.Budget             // of the rate limits; nil: each process counts for itself
	Concurrency int                     // calls at once; 0: 16 for each core
	Queue       int                     // calls waiting; 0: four times Concurrency
	MaxImport   int64                   // bytes of a namespace's import; 0: namespace.DefaultMaxImport
	Spool       datasets.Spool          // where data sets of namespaces are kept for a time
	Timeouts    Timeouts

	// Replica names this process among those over the store, over restarts; "": a
	// random name. No two that run may have one name.
	Replica string
	// Beside gets a value when another process has stored something in a Store that only one process
	// serves; nil: it is looked for every few seconds.
	Beside  <-chan struct{}
	BaseURL string // under which clients reach the server, for links in answers; "": the host that a caller used

	Meter   middleware.Meter // nil: none
	Count   time.Duration    // how often the store is counted at most, while Figures are read; 0: DefaultCount
	Watch   *model.Watch     // learns how the models fare; nil: one that measures nothing
	Tracer  trace.Tracer     // nil: none
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
	Version string
	// Configuration is what all this was read from, as YAML without secrets, to be shown.
	Configuration string
}

// Events say what is kept of what happens.
type Events struct {
	Record    event.Record
	Retention time.Duration                               // 0: event.DefaultRetention
	Models    time.Duration                               // between two looks at how models fare; 0: event's
	Schema    func(reflect.Type) (json.RawMessage, error) // of a kind's data, as answers have it; nil: kinds have none
	Sender    port.Sender                                 // of deliveries to webhooks; nil: nothing is sent
	HTTP      bool                                        // webhooks may have URLs without TLS
}

// DefaultRecallRate is how many recalls a minute an integration may ask (docs/contract.md#limit-rates).
const DefaultRecallRate = 600

// DefaultCount is how often the store is counted while Figures are read.
const DefaultCount = 30 * time.Second

// Timeouts are the deadlines by kind of operation; 0 keeps the operation's own.
type Timeouts struct {
	Read, Query, Rerank, Write time.Duration
}

// of is the configured time-out of an operation; 0: there is none.
func (t Timeouts) of(s *op.Spec) time.Duration {
	switch s.TimeoutClass {
	case op.OwnTimeout:
		return 0
	case op.QueryTimeout:
		return 2 * t.Query // with rerank; the service halves it without
	}
	switch s.Class {
	case op.Read:
		return t.Read
	case op.Write:
		return t.Write
	case op.Rerank:
		return t.Rerank
	}
	return 0
}

// complete puts the defaults in place of what was left out.
func (c *Config) complete() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Watch == nil {
		c.Watch = model.NewWatch(nil)
	}
	c.Usage.Counter = usage.NewCounter(c.Now)
	c.Watch.CountedBy(c.Usage.Counter)
	c.Models = c.Models.watched(c.Watch)
	if c.Fusion.Method == "" {
		c.Fusion = retrieve.DefaultFusion()
	}
	if c.Reranking == nil {
		c.Reranking = new(retrieve.DefaultReranking())
	}
	if c.Memory.Reranking == (retrieve.Reranking{}) {
		c.Memory.Reranking = memory.DefaultReranking()
	}
	if c.Chunking == (chunk.Options{}) {
		c.Chunking = chunk.Default()
	}
	c.Count = cmp.Or(c.Count, DefaultCount)
	c.QueryCache = cmp.Or(c.QueryCache, 1024)
	if c.Concurrency <= 0 {
		c.Concurrency = 16 * runtime.GOMAXPROCS(0)
	}
	if c.Queue <= 0 {
		c.Queue = 4 * c.Concurrency
	}
}

// indexes lists the indexes, each once.
func (c *Config) indexes() (distinct []port.Index) {
	for _, r := range []port.Retriever{port.Vector, port.Keyword, port.SparseTerms} {
		if ix := c.Indexes[r]; ix != nil {
			distinct = append(distinct, ix)
		}
	}
	return distinct
}
