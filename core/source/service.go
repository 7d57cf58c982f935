package source

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// documents is what the service uses of that of documents.
type documents interface {
	Sync(ctx context.Context, in document.WriteDocuments, within document.Within, progress func()) (document.Written, error)
	Withdraw(ctx context.Context, namespace, source string, ids []string, within document.Within) (int, error)
}

// Settings configure a Service.
type Settings struct {
	Store      port.Store
	Documents  documents
	Connectors []port.Connector
	Extractor  port.Extractor // of the text of items; nil: those that are files fail
	Sealer     port.Sealer    // of secrets; nil: none can be set
	// Jobs runs what the service starts and nothing else, so that long runs keep nobody
	// else's work waiting. The service registers its kinds.
	Jobs    *job.Runner
	Pages   *page.Signer
	MaxItem int64         // bytes of an item; 0: 64 MiB
	Stall   time.Duration // without progress, after which a run is ended; 0: 10 minutes
	Beat    time.Duration // between two heartbeats of a run; 0: 15 s
	Backoff time.Duration // before a run that waits for something is tried again; 0: 10 s
	Grace   time.Duration // that a connector has to return once its call is over; 0: 15 s
	Tick    time.Duration // between two looks for sources that are due; 0: 5 s
	Look    time.Duration // at what settings lead to, before they are stored; 0: 10 s
	Now     func() time.Time
	Log     *slog.Logger
}

// Service does the operations of sources.
type Service struct {
	store      port.Narrowed[reader, writer]
	documents  documents
	connectors map[string]knownKind
	extractor  port.Extractor
	sealer     port.Sealer
	jobs       *job.Runner
	pages      *page.Signer
	maxItem    int64
	stall      time.Duration
	beat, tick time.Duration
	alone      bool          // no other process serves the store
	made       chan struct{} // a source was
	lookFor    time.Duration
	grace      time.Duration
	now        func() time.Time
	log        *slog.Logger
	off        bool
}

// reader and writer are what the service uses of the store.
type reader interface {
	port.PartitionReader
	port.DocumentReader
	port.JobReader
	port.ReplicaReader
	port.SourceReader
	port.OrganizationReader
}

type writer interface {
	reader
	port.JobWriter
	port.ReplicaWriter
	port.SourceWriter
	port.AuditAppender
}

// Off is the service of a server without sources: every call answers SourcesUnavailable.
func Off() *Service { return &Service{off: true} }

// New makes the service, and registers its jobs.
func New(s Settings) (*Service, error) {
	alone, _ := s.Store.(port.Exclusive)
	svc := &Service{
		alone:      alone != nil && alone.Exclusive(),
		made:       make(chan struct{}, 1),
		store:      port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		documents:  s.Documents,
		connectors: map[string]knownKind{},
		extractor:  s.Extractor,
		sealer:     s.Sealer,
		jobs:       s.Jobs,
		pages:      s.Pages,
		maxItem:    cmp.Or(s.MaxItem, 64<<20),
		stall:      cmp.Or(s.Stall, 10*time.Minute),
		beat:       cmp.Or(s.Beat, 15*time.Second),
		tick:       cmp.Or(s.Tick, 5*time.Second),
		lookFor:    cmp.Or(s.Look, 10*time.Second),
		grace:      cmp.Or(s.Grace, 15*time.Second),
		now:        s.Now,
		log:        s.Log,
	}
	for _, c := range append([]port.Connector{pushConnector{}}, s.Connectors...) {
		k, err := newKind(c)
		if err != nil {
			return nil, err
		}
		if _, twice := svc.connectors[k.Name]; twice {
			return nil, fmt.Errorf("two connectors are of the source kind %q", k.Name)
		}
		svc.connectors[k.Name] = k
	}
	s.Jobs.Register(job.Kind{
		Name:       runKind,
		Prefix:     "run",
		Keep:       24 * time.Hour,
		Tries:      runTries,
		Backoff:    cmp.Or(s.Backoff, 10*time.Second),
		MaxBackoff: 5 * time.Minute,
		Run:        svc.work,
	})
	s.Jobs.Register(job.Kind{
		Name:       deleteKind,
		Prefix:     "job",
		Final:      true,
		Keep:       24 * time.Hour,
		Tries:      1 << 20, // what was accepted is done
		Backoff:    10 * time.Second,
		MaxBackoff: 5 * time.Minute,
		Run:        svc.workDelete,
	})
	return svc, nil
}

// Available implements op.Availability. A table that describes operations has no service.
func (s *Service) Available() error {
	if s != nil && s.off {
		return fault.New(fault.SourcesUnavailable, "sources are not available on this server")
	}
	return nil
}

// The kinds of jobs.
const (
	runKind    = "source.run"
	deleteKind = "source.delete"
	runTries   = 5
)

// CheckGrant refuses secrets with which no connector here could give a grant of a source
// back upstream: kept all the same, they would be a risk and of no use.
func (s *Service) CheckGrant(source string, secrets map[string]string) error {
	k, ok := s.connectors[source] // without sources there is none
	if !ok || !k.Revokes {
		return fault.Field(fault.InvalidRequest, "secrets",
			"would be of no use: no kind of source here is named %q and gives grants back", fault.Clip(source))
	}
	return refuse(k.secretProblems(secrets))
}

// RevokeGrant has the connector of a source give a grant back to its upstream.
func (s *Service) RevokeGrant(ctx context.Context, source string, secrets map[string]string) error {
	k, ok := s.connectors[source]
	if !ok || !k.Revokes {
		return port.SourceErrorf(port.SourceUnavailable, nil, "no kind of source here is named %q and gives grants back", source)
	}
	return k.connector.Revoke(ctx, port.Connection{
		Config:  json.RawMessage("{}"),
		Secrets: secrets,
		Known:   func(context.Context, string) (string, bool, error) { return "", false, nil },
		Renew:   func(context.Context, map[string]string) error { return nil }, // they are about to end
	})
}

// mine reads a source that the caller may see: of its organization, and of its key's
// namespace where the key has one.
func mine(ctx context.Context, r port.SourceReader, id string) (port.SourceRow, error) {
	who := ident.From(ctx)
	s, err := r.Source(ctx, who.Org, id)
	if err == nil && who.Namespace != "" && who.Namespace != s.Namespace {
		return port.SourceRow{}, notFound(id)
	}
	return s, err
}

// Operations declares the routes (docs/contract.md#source-routes).
func Operations() []op.Op[*Service] {
	const one, oneRun = "/sources/{id}", "/sources/{id}/runs/{run}"
	read := func(name, path, summary string, faults ...fault.Code) op.Spec {
		return op.Spec{
			Name: name, Group: op.Sources, Method: "GET", Path: path, Class: op.Admin, Timeout: 5 * time.Second,
			Summary: summary, Faults: append(faults, fault.SourcesUnavailable),
		}
	}
	write := func(name, method, path, summary string, faults ...fault.Code) op.Spec {
		return op.Spec{
			Name: name, Group: op.Sources, Method: method, Path: path, Class: op.Admin, Mutates: true,
			Timeout: 30 * time.Second, Summary: summary, Faults: append(faults, fault.SourcesUnavailable),
		}
	}
	body := func(s op.Spec, size int64) op.Spec {
		s.MaxBody = size
		s.Faults = append([]fault.Code{fault.InvalidRequest, fault.InvalidJSON}, s.Faults...)
		return s
	}
	optionalBody := func(s op.Spec) op.Spec {
		s = body(s, 4<<10)
		s.BodyOptional = true
		return s
	}
	answers := func(s op.Spec, all ...op.Answer) op.Spec { s.Answers = all; return s }
	describe := func(s op.Spec, text string) op.Spec { s.Description = text; return s }
	kinds := read("source_kinds.list", "/source_kinds", "List the kinds of sources")
	kinds.Description = "With JSON Schemas of their settings and secrets, by name."
	check := body(write("sources.check", "POST", "/sources/check", "Try a source's settings"), maxBody)
	check.Mutates, check.Timeout = false, 60*time.Second
	check.Faults = append(check.Faults, fault.SourceNotFound, fault.Unavailable)
	check.Description = "Looks at what the settings name and lists at most 20 items. Writes nothing. With `source_id`, secrets " +
		"that are left out are those of that source."
	started := []op.Answer{{Status: 202, Summary: "The run is queued.", Body: Run{}},
		{Status: 200, Summary: "This run is under way already.", Body: Run{}}}
	push := body(write("sources.items.push", "POST", one+"/items", "Bring items of a source of kind push",
		fault.InvalidMetadata, fault.SourceNotFound, fault.NotFound, fault.Conflict, fault.PayloadTooLarge, fault.Unavailable,
		fault.Upstream, fault.QuotaExceeded),
		document.MaxBody)
	push.Class, push.Timeout, push.TimeoutClass = op.Write, 120*time.Second, op.OwnTimeout
	push.Description = "One result for each item, in the order of the call: an item that cannot be written says why, and the " +
		"others are durable and searchable. An item whose `version` is kept already is not looked at further."
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(kinds, (*Service).Kinds),
		op.Define(describe(answers(body(write("sources.create", "POST", "/sources", "Connect a source",
			fault.InvalidNamespace, fault.Conflict, fault.Unavailable), maxBody),
			op.Answer{Status: 201, Summary: "The source.", Body: Source{}}),
			"Settings and secrets are tried first, for 10 seconds at most: with those that cannot work nothing is stored. "+
				"Its first run begins unless `start` is false."), (*Service).Create),
		op.Define(check, (*Service).Check),
		op.Define(read("sources.list", "/sources", "List sources", fault.InvalidRequest, fault.InvalidCursor), (*Service).List),
		op.Define(read("sources.get", one, "Read a source", fault.SourceNotFound), (*Service).Get),
		op.Define(describe(body(write("sources.update", "PATCH", one, "Change a source", fault.SourceNotFound, fault.Conflict,
			fault.Unavailable), maxBody), "What is left out stays. To disable a source cancels its run. New settings or secrets "+
			"are tried as for a new source, end its run, and begin one that looks at everything again; that lifts the state "+
			"error."), (*Service).Update),
		op.Define(describe(answers(write("sources.delete", "DELETE", one, "Disconnect a source", fault.InvalidRequest,
			fault.SourceNotFound), op.Answer{Status: 202, Summary: "It is going.", Body: Source{}}),
			"Its documents stay, as if they had been written directly, unless `documents` is delete."), (*Service).Delete),
		op.Define(answers(optionalBody(write("sources.sync", "POST", one+"/sync", "Start a run", fault.SourceNotFound,
			fault.Conflict)), started...), (*Service).Sync),
		op.Define(describe(answers(body(write("sources.apply_deletions", "POST", one+"/apply_deletions",
			"Apply withheld deletions", fault.SourceNotFound, fault.Conflict), 4<<10), started[:1]...),
			"A new run over everything, which deletes up to `max` documents whose items are gone, and none if more are."),
			(*Service).ApplyDeletions),
		op.Define(read("sources.items.list", one+"/items", "List what is kept of a source's items", fault.InvalidRequest,
			fault.InvalidCursor, fault.SourceNotFound), (*Service).Items),
		op.Define(push, (*Service).Push),
		op.Define(read("sources.runs.list", one+"/runs", "List a source's runs", fault.InvalidRequest, fault.InvalidCursor,
			fault.SourceNotFound), (*Service).Runs),
		op.Define(describe(answers(optionalBody(write("sources.runs.begin", "POST", one+"/runs",
			"Begin to bring everything that a source of kind push has", fault.SourceNotFound, fault.Conflict)),
			op.Answer{Status: 201, Summary: "The run. Give its id with the items.", Body: Begun{}}),
			"A run that is under way is cancelled. One that brings nothing for an hour is interrupted."), (*Service).Begin),
		op.Define(read("sources.runs.get", oneRun, "Read a run", fault.SourceNotFound, fault.NotFound), (*Service).GetRun),
		op.Define(read("sources.runs.items", oneRun+"/items", "List what a run did with items that did not stay as they were",
			fault.InvalidRequest, fault.InvalidCursor, fault.SourceNotFound, fault.NotFound), (*Service).RunItems),
		op.Define(write("sources.runs.cancel", "POST", oneRun+"/cancel", "Cancel a run", fault.SourceNotFound, fault.NotFound,
			fault.Conflict), (*Service).Cancel),
		op.Define(describe(answers(write("sources.runs.retry_failed", "POST", oneRun+"/retry_failed",
			"Try a run's failed items again", fault.SourceNotFound, fault.NotFound, fault.Conflict), started[:1]...),
			"A new run that lists nothing and tries those items that have not been read since."), (*Service).RetryFailed),
		op.Define(describe(answers(optionalBody(write("sources.runs.complete", "POST", oneRun+"/complete",
			"End a run of a source of kind push", fault.SourceNotFound, fault.NotFound, fault.Conflict)),
			op.Answer{Status: 202, Summary: "The run is about to end.", Body: Run{}}),
			"With `snapshot` what was not brought since it began is gone."), (*Service).Complete),
	}, examples()), links())
}

// maxBody is the size of a source's settings, as a body.
const maxBody = 1 << 20

// Kinds answers GET /source_kinds.
type Kinds struct {
	Kinds []Kind `json:"kinds"`
}

// ListKinds is the request of GET /source_kinds.
type ListKinds struct{}

// Kinds lists the kinds of sources.
func (s *Service) Kinds(context.Context, ListKinds) (Kinds, error) {
	out := Kinds{Kinds: []Kind{}}
	for _, k := range s.connectors {
		out.Kinds = append(out.Kinds, Kind{k.Name, k.Title, k.Summary, k.Config, k.Secrets, k.Incremental,
			k.Revokes})
	}
	slices.SortFunc(out.Kinds, func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
