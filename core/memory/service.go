package memory

import (
	"cmp"
	"context"
	"encoding/base32"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Limits that no field of a request has (docs/contract.md#limit-sizes).
const (
	MaxBatchBytes = 1 << 20   // of all contents of a batch
	MaxVersion    = 1<<53 - 1 // of what every reader of JSON keeps exactly
)

// The largest bodies: every byte of a content (maxBytes of Item) or of metadata may
// be escaped as six.
const (
	oneBody   = 6*(65536+filter.MaxBytes) + 64<<10
	batchBody = 32 << 20
	queryBody = 256 << 10
	idsBody   = 64 << 10
	grantBody = 6*maxSecrets + 64<<10
)

// APIVersion is what the status call answers.
const APIVersion = "2026-11-21"

// replaysKept is how long the answer to an Idempotency-Key is kept.
const replaysKept = 24 * time.Hour

// Settings configure a Service.
type Settings struct {
	Store     port.Store
	Changes   *ingest.Log      // of memories
	Encoders  *ingest.Encoders // their Options make one chunk of a memory that fits
	Projector *ingest.Projector
	Searcher  *retrieve.Searcher
	Reranker  port.Reranker // nil: off
	Reranking retrieve.Reranking
	// RerankDepth is the most candidates a search rescores; 0: Reranking.Depth,
	// NoReranking: searches are not reranked.
	RerankDepth int
	// RerankBytes bounds what a search gives the reranker, beyond ten memories;
	// 0: no bound.
	RerankBytes int
	// Sparse gives new end users a learned-sparse index, which searches use.
	Sparse bool
	Pages  *page.Signer
	// WithConfiguredModels records the configured models on a new partition.
	WithConfiguredModels func(port.PartitionRow) port.PartitionRow
	// Replica is this process among those over the store.
	Replica *replica.Member
	// Jobs runs erasures.
	Jobs *job.Runner
	// Sealer encrypts the secrets of grants, and Upstreams gives grants back with them; nil:
	// grants have no secrets.
	Sealer    port.Sealer
	Upstreams Upstreams
	// Passages finds what documents say, for blocks of context; nil: they have memories alone.
	Passages FindPassages
	// UpstreamTimeout bounds how long one upstream may take; 0: 10 s.
	UpstreamTimeout time.Duration
	Environment     string // shown by the status call; "": DefaultEnvironment
	Now             func() time.Time
	Log             *slog.Logger
}

// DefaultEnvironment is what the status call shows of an installation without a name.
const DefaultEnvironment = "self-hosted"

// NoReranking is the RerankDepth of searches that are not reranked.
const NoReranking = -1

// DefaultReranking is the measured default of a search (docs/quality.md). A memory is
// short and answers alone, so the reranker counts for more than it does among
// passages, and has no floor.
func DefaultReranking() retrieve.Reranking {
	return retrieve.Reranking{Prior: 1, Floor: retrieve.NoFloor, Depth: retrieve.DefaultReranking().Depth}
}

// snapshot and writer are what the service uses of the store, beside its log of changes.
type snapshot interface {
	reader
	port.IntegrationReader
	port.ReplicaReader
}

// reader is what is read of one partition, in a snapshot as in a transaction.
type reader interface {
	port.PartitionReader
	port.DocumentReader
	port.MemoryReader
	port.GrantReader
}

type writer interface {
	reader
	port.MemoryWriter
	port.GrantWriter
	port.ErasureWriter
	job.Writer
}

// Service does the memory operations. Safe for concurrent use.
type Service struct {
	store     port.Narrowed[snapshot, writer]
	documents port.Snapshots[port.DocumentReader]
	scrubber  port.Scrubber // nil: the store keeps no files
	changes   *ingest.Log
	encoders  *ingest.Encoders
	projector *ingest.Projector
	searcher  *retrieve.Searcher

	reranker    port.Reranker // nil: off
	reranking   retrieve.Reranking
	rerankDepth int
	rerankBytes int
	sparse      bool

	pages                *page.Signer
	withConfiguredModels func(port.PartitionRow) port.PartitionRow
	replica              *replica.Member
	environment          string
	clock                func() time.Time
	log                  *slog.Logger

	work *inFlight
	seen lastSeen

	jobs     *job.Runner
	erasures *erasures

	sealer          port.Sealer
	upstreams       Upstreams
	passages        FindPassages
	upstreamTimeout time.Duration

	health health
}

// New makes the service, and registers its jobs. Call Run for its upkeep.
func New(s Settings) *Service {
	if s.Environment == "" {
		s.Environment = DefaultEnvironment
	}
	scrubber, _ := s.Store.(port.Scrubber)
	svc := &Service{
		store:     port.Narrow(s.Store, func(r port.Reader) snapshot { return r }, func(w port.Writer) writer { return w }),
		documents: port.NarrowReads(s.Store, func(r port.Reader) port.DocumentReader { return r }),
		scrubber:  scrubber,
		changes:   s.Changes,
		encoders:  s.Encoders,
		projector: s.Projector,
		searcher:  s.Searcher,

		reranker:    s.Reranker,
		reranking:   s.Reranking,
		rerankDepth: s.RerankDepth,
		rerankBytes: s.RerankBytes,
		sparse:      s.Sparse,

		pages:                s.Pages,
		withConfiguredModels: s.WithConfiguredModels,
		replica:              s.Replica,
		environment:          s.Environment,
		clock:                s.Now,
		log:                  s.Log,

		work:     newInFlight(),
		seen:     lastSeen{at: map[int64]time.Time{}, fresh: make(chan struct{}, 1)},
		jobs:     s.Jobs,
		erasures: newErasures(),

		sealer:          s.Sealer,
		upstreams:       s.Upstreams,
		passages:        s.Passages,
		upstreamTimeout: cmp.Or(s.UpstreamTimeout, upstreamTimeout),
	}
	s.Jobs.Register(svc.erasureKind())
	return svc
}

// flushAfter is how long after a search Run writes down who was seen, and watchEvery how often it asks
// which erasures are in progress; watchOwn where there are no others' than this process's.
const (
	flushAfter = 30 * time.Second
	watchEvery = 500 * time.Millisecond
	watchOwn   = 5 * time.Minute
	maxBackoff = 30 * time.Second // between two tries of an erasure
)

// Run takes part in the erasures of all replicas, writes down when end users were last seen and forgets
// old answers, until ctx is done.
func (s *Service) Run(ctx context.Context) error {
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		s.watchErasures(ctx)
	}()
	defer func() { <-watching }()
	sweep := time.NewTicker(time.Hour)
	defer sweep.Stop()
	var due <-chan time.Time // nil: nothing waits, and nobody wakes for it
	for {
		select {
		case <-s.seen.fresh:
			due = time.After(flushAfter)
		case <-due:
			if err := s.flush(ctx); err != nil {
				s.log.WarnContext(ctx, "last use flush failed", "error", err)
			}
		case <-sweep.C:
			err := s.store.Update(ctx, func(w writer) error {
				return w.DeleteIdempotentReplies(ctx, s.clock().Add(-replaysKept))
			})
			if err != nil {
				s.log.WarnContext(ctx, "stored reply cleanup failed", "error", err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return s.flush(last)
		}
	}
}

// partition is the caller's end user.
func partition(ctx context.Context, endUser string) port.Partition {
	who := ident.From(ctx)
	return port.Memories(who.Org, who.Integration, endUser)
}

// readPartition reads the partition that a search or a read goes to; ok is false for an
// end user who is unknown or is being erased.
func (s *Service) readPartition(ctx context.Context, r reader, p port.Partition) (ns port.PartitionRow, ok bool, err error) {
	ns, err = r.Partition(ctx, p)
	switch {
	case fault.IsPartitionNotFound(err):
		return ns, false, nil
	case err != nil:
		return ns, false, err
	}
	return ns, ns.Erasing.IsZero(), nil
}

// readForWrite reads the partition that a write goes to; exists is false when the
// write will create it.
func (s *Service) readForWrite(ctx context.Context, r reader, p port.Partition) (ns port.PartitionRow, exists bool, err error) {
	ns, err = r.Partition(ctx, p)
	switch {
	case fault.IsPartitionNotFound(err):
		return port.PartitionRow{Name: p.Name(), Sparse: s.sparse}, false, nil
	case err != nil:
		return ns, false, err
	case !ns.Erasing.IsZero():
		return ns, true, erasingFault(p)
	case ns.Documents == 0:
		ns.Sparse = s.sparse // see ensurePartition
	}
	return ns, true, nil
}

// erasingFault refuses a write to an end user whose erasure has begun.
func erasingFault(p port.Partition) error {
	return fault.New(fault.Unavailable, "end user %s is being erased", p.Name()).After(time.Second)
}

// ensurePartition pins the partition that a write goes to. It creates one that does not
// exist, and gives an empty one the configured models.
func (s *Service) ensurePartition(ctx context.Context, tx *ingest.Tx, p port.Partition, ns port.PartitionRow,
	exists bool) (port.Partition, error) {
	stamped := s.withConfiguredModels(port.PartitionRow{Name: p.Name(), Sparse: ns.Sparse})
	if !exists {
		made, err := tx.CreatePartition(ctx, p, stamped)
		return p.At(made.Generation), err
	}
	p = p.At(ns.Generation)
	if ns.Documents > 0 || ns.EmbeddingDigest == stamped.EmbeddingDigest &&
		ns.EmbeddingModel == stamped.EmbeddingModel && ns.Dimensions == stamped.Dimensions &&
		ns.SparseDigest == stamped.SparseDigest && ns.SparseModel == stamped.SparseModel && ns.Chunker == stamped.Chunker {
		return p, nil
	}
	return p, tx.SetModels(ctx, p, stamped)
}

// checkModels refuses a partition that was indexed with other models. Operations that
// compute no vectors, such as deletions, need not call it.
func (s *Service) checkModels(ns port.PartitionRow) error {
	if ns.Documents == 0 {
		return nil
	}
	if err := s.encoders.Check(ns); err != nil {
		return fault.Wrap(fault.Unavailable, "memory", err,
			"the memories of end user %s were indexed with other models than the configured ones. Run `mneme reindex "+
				"--memories %s` to recompute their vectors with the configured models, or configure the stored ones",
			ns.Name, ns.Name)
	}
	return nil
}

// checkQuota refuses a write that would bring an end user over the integration's
// quota by adding n memories. A write that adds none is never refused.
func checkQuota(ctx context.Context, ns port.PartitionRow, n int) error {
	who := ident.From(ctx)
	limit := who.Quotas.MemoriesPerEndUser
	if limit <= 0 || n == 0 || ns.Documents+int64(n) <= int64(limit) {
		return nil
	}
	f := fault.New(fault.QuotaExceeded, "end user %s keeps %d of at most %d memories, and this would add %d", ns.Name,
		ns.Documents, limit, n)
	f.Details = map[string]any{"quota": "memoriesPerEndUser", "limit": limit, "used": ns.Documents}
	return f
}

// newID makes an id of a memory or a grant. Ids rise with time (RFC 9562, version 7), so
// that memories of one time stand in the order they came in; 74 random bits keep
// them from being guessed.
func newID(prefix string) (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return prefix + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(id[:])), nil
}

// now is the time in the milliseconds that the interface shows.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// creationTime is a memory's CreatedAt: the time of the event if it was given, else now.
// An index reads a time of 0 as none, so the first millisecond of 1970 becomes the
// second.
func creationTime(occurred, now time.Time) time.Time {
	if occurred.IsZero() {
		return now
	}
	t := occurred.UTC().Truncate(time.Millisecond)
	if t.UnixMilli() == 0 {
		t = t.Add(time.Millisecond)
	}
	return t
}

// lastSeen collects when end users were last seen by searches, between two writes
// to the store. fresh has a value after the first of them.
type lastSeen struct {
	mu    sync.Mutex
	at    map[int64]time.Time
	fresh chan struct{}
}

func (s *lastSeen) touch(generation int64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.at) == 0 {
		select {
		case s.fresh <- struct{}{}:
		default:
		}
	}
	if at.After(s.at[generation]) {
		s.at[generation] = at
	}
}

// touchAtOnce bounds a transaction of flush, because writers wait for it.
const touchAtOnce = 500

func (s *Service) flush(ctx context.Context) error {
	s.seen.mu.Lock()
	taken := s.seen.at
	s.seen.at = make(map[int64]time.Time, min(len(taken), touchAtOnce))
	s.seen.mu.Unlock()
	var failed error
	part := make(map[int64]time.Time, min(len(taken), touchAtOnce))
	write := func() {
		if failed == nil {
			failed = s.store.Update(ctx, func(w writer) error { return w.TouchEndUsers(ctx, part) })
		}
		if failed != nil {
			for g, at := range part { // another try with the next flush
				s.seen.touch(g, at)
			}
		}
		clear(part)
	}
	for g, at := range taken {
		if part[g] = at; len(part) == touchAtOnce {
			write()
		}
	}
	if len(part) > 0 {
		write()
	}
	if failed != nil {
		return fmt.Errorf("touch end users: %w", failed)
	}
	return nil
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	const (
		memories = "/api/v1/memories"
		one      = memories + "/{externalId}"
		grants   = "/api/v1/grants"
	)
	read, write := []ident.Scope{ident.MemoriesRead}, []ident.Scope{ident.MemoriesWrite}
	forbidden := []fault.Code{fault.InvalidRequest, fault.InvalidEndUserID, fault.InsufficientScope, fault.Forbidden}
	faults := func(more ...fault.Code) []fault.Code { return append(append([]fault.Code{}, forbidden...), more...) }
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "memories.search",
			Group:   op.Memories,
			Method:  "POST",
			Path:    "/api/v1/search",
			Family:  op.Memory,
			Class:   op.MemoryRead,
			Scopes:  read,
			MaxBody: queryBody,
			Timeout: 10 * time.Second,
			Summary: "Search the memories of one end user",
			Description: "Vector and full-text search, fused and reranked, without a language model. An end user never " +
				"seen has no results.",
			Faults: faults(fault.InvalidJSON, fault.InvalidContainerTag, fault.PayloadTooLarge),
		}, (*Service).Search),
		op.Define(op.Spec{
			Name:    "memories.save",
			Group:   op.Memories,
			Method:  "POST",
			Path:    memories,
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  write,
			Mutates: true,
			MaxBody: oneBody,
			Timeout: 30 * time.Second,
			Summary: "Save a memory",
			Description: "Saved verbatim. The same content in the same container is kept once. An Idempotency-Key makes " +
				"the call safe to repeat for 24 hours.",
			Faults: faults(fault.InvalidJSON, fault.InvalidContainerTag, fault.QuotaExceeded,
				fault.IdempotencyConflict, fault.PayloadTooLarge, fault.Upstream),
		}, (*Service).Save),
		op.Define(op.Spec{
			Name:    "memories.batch",
			Group:   op.Memories,
			Method:  "POST",
			Path:    memories + "/batch",
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  write,
			Mutates: true,
			MaxBody: batchBody,
			Timeout: 120 * time.Second,
			Summary: "Save up to 100 memories of one end user",
			Description: "Results are one for one in input order; a failed item does not fail the others. The batch " +
				"counts against quota before any write.",
			Faults: faults(fault.InvalidJSON, fault.InvalidContainerTag, fault.QuotaExceeded,
				fault.IdempotencyConflict, fault.PayloadTooLarge, fault.Upstream),
		}, (*Service).Batch),
		op.Define(op.Spec{
			Name:    "memories.remember",
			Group:   op.Memories,
			Method:  "POST",
			Path:    "/api/v1/conversations",
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  write,
			Mutates: true,
			MaxBody: batchBody,
			Timeout: 120 * time.Second,
			Summary: "Remember messages of a conversation",
			Description: "Each message is a memory, kept as it is. Sending a message again changes nothing; one whose id " +
				"is there with other content is replaced. All of the messages are stored, or none.",
			Faults: faults(fault.InvalidJSON, fault.InvalidContainerTag, fault.QuotaExceeded, fault.PayloadTooLarge,
				fault.Upstream),
		}, (*Service).Remember),
		op.Define(op.Spec{
			Name:    "memories.context",
			Group:   op.Memories,
			Method:  "POST",
			Path:    "/api/v1/context",
			Family:  op.Memory,
			Class:   op.MemoryRead,
			Scopes:  read,
			MaxBody: queryBody,
			Timeout: 10 * time.Second,
			Summary: "Make a block for a prompt of what is remembered of a message",
			Description: "What a search finds, as text with markers, within a budget of tokens that it never exceeds, and a " +
				"citation for each marker. With a key that names a namespace, passages of its documents are in it, too. " +
				"Without a language model.",
			Faults: faults(fault.InvalidJSON, fault.InvalidContainerTag, fault.PayloadTooLarge),
		}, (*Service).Context),
		op.Define(op.Spec{
			Name:    "memories.list",
			Group:   op.Memories,
			Method:  "GET",
			Path:    memories,
			Family:  op.Memory,
			Class:   op.MemoryRead,
			Scopes:  read,
			Timeout: 5 * time.Second,
			Summary: "List the memories of one end user, newest first",
			Faults:  faults(fault.InvalidContainerTag),
		}, (*Service).List),
		op.Define(op.Spec{
			Name:    "memories.delete",
			Group:   op.Memories,
			Method:  "POST",
			Path:    memories + "/delete",
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  write,
			Mutates: true,
			MaxBody: idsBody,
			Timeout: 30 * time.Second,
			Summary: "Delete memories by id",
			Description: "Unknown ids are skipped. A source-owned memory answers 409, and nothing is deleted: its " +
				"source tombstones it.",
			Faults: faults(fault.InvalidJSON, fault.Conflict, fault.PayloadTooLarge),
		}, (*Service).Delete),
		op.Define(op.Spec{
			Name:    "memories.upsert",
			Group:   op.Memories,
			Method:  "PUT",
			Path:    one,
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  write,
			Mutates: true,
			MaxBody: oneBody,
			Timeout: 30 * time.Second,
			Summary: "Write a version of a source-owned memory",
			Description: "Versions only rise. The same request again answers the stored receipt with the header " +
				"Idempotent-Replayed: true. With X-Mneme-Grant, which an integration may require, the grant must be live.",
			Faults: faults(fault.InvalidJSON, fault.InvalidExternalID, fault.InvalidSource, fault.InvalidVersion,
				fault.InvalidContainerTag,
				fault.QuotaExceeded, fault.StaleVersion, fault.VersionConflict, fault.PayloadTooLarge, fault.Upstream),
		}, (*Service).Upsert),
		op.Define(op.Spec{
			Name:        "memories.tombstone",
			Group:       op.Memories,
			Method:      "DELETE",
			Path:        one,
			Family:      op.Memory,
			Class:       op.MemoryWrite,
			Scopes:      write,
			Mutates:     true,
			Timeout:     30 * time.Second,
			Summary:     "Tombstone a source-owned memory",
			Description: "The content goes, the record stays, so that a late older upsert cannot bring it back.",
			Faults: faults(fault.InvalidExternalID, fault.InvalidSource, fault.InvalidVersion, fault.StaleVersion,
				fault.VersionConflict),
		}, (*Service).Tombstone),
		op.Define(op.Spec{
			Name:    "memories.get",
			Group:   op.Memories,
			Method:  "GET",
			Path:    one,
			Family:  op.Memory,
			Class:   op.MemoryRead,
			Scopes:  read,
			Timeout: 5 * time.Second,
			Summary: "Read a source-owned memory's record with its latest receipt",
			Faults:  faults(fault.InvalidExternalID, fault.InvalidSource, fault.MemoryNotFound),
		}, (*Service).Get),
		op.Define(op.Spec{
			Name:    "grants.create",
			Group:   op.EndUsers,
			Method:  "POST",
			Path:    grants,
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  write,
			Mutates: true,
			MaxBody: grantBody,
			Timeout: 30 * time.Second,
			Summary: "Let a source system write an end user's memories",
			Description: "The id of the grant goes into the header X-Mneme-Grant of what the source writes. Secrets, where " +
				"there are any, are encrypted; they serve to give the grant back upstream when it is revoked.",
			Faults: faults(fault.InvalidJSON, fault.InvalidSource, fault.Conflict, fault.PayloadTooLarge),
		}, (*Service).CreateGrant),
		op.Define(op.Spec{
			Name:        "grants.list",
			Group:       op.EndUsers,
			Method:      "GET",
			Path:        grants,
			Family:      op.Memory,
			Class:       op.MemoryRead,
			Scopes:      read,
			Timeout:     5 * time.Second,
			Summary:     "List the grants of an end user, newest first",
			Description: "Revoked ones, too; of many, the newest.",
			Faults:      faults(),
		}, (*Service).ListGrants),
		op.Define(op.Spec{
			Name:    "grants.revoke",
			Group:   op.EndUsers,
			Method:  "DELETE",
			Path:    grants + "/{id}",
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  write,
			Mutates: true,
			Timeout: 30 * time.Second,
			Summary: "Revoke a grant",
			Description: "What its source writes from now on is refused. A grant with secrets is given back upstream; where " +
				"that does not answer within 10 s, the call can be repeated.",
			Faults: faults(fault.NotFound),
		}, (*Service).RevokeGrant),
		op.Define(op.Spec{
			Name:    "users.erase",
			Group:   op.EndUsers,
			Method:  "DELETE",
			Path:    "/api/v1/users/{endUserId}",
			Family:  op.Memory,
			Class:   op.MemoryWrite,
			Scopes:  []ident.Scope{ident.UsersErase},
			Mutates: true,
			Timeout: 120 * time.Second,
			Summary: "Erase an end user for good",
			Description: "Everything of the end user goes, from files too, before the answer. Repeating the call is " +
				"safe; an unknown end user answers zeros.",
			Faults: faults(),
		}, (*Service).EraseUser),
		op.Define(op.Spec{
			Name:        "memories.status",
			Group:       op.Status,
			Method:      "GET",
			Path:        "/api/v1/status",
			Family:      op.Memory,
			Class:       op.Free,
			Timeout:     5 * time.Second,
			Summary:     "Check the integration",
			Description: "Creates nothing and counts against no limit.",
			Answers: []op.Answer{{Status: 200, Summary: "The memory API works.", Body: Status{}},
				{
					Status:  503,
					Summary: "The store or an index does not answer.",
					Body:    Status{},
					Headers: []string{"Retry-After"},
				}},
			Faults: []fault.Code{fault.Forbidden, fault.Unavailable},
		}, (*Service).Status),
	}, examples()), links())
}
