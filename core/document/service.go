package document

import (
	"context"
	"log/slog"
	"time"

	"github.com/mnemehq/mneme/core/fault"
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
	MaxBody       = 32 << 20
	MaxDeleteRows = 10_000 // chunks deleted by one filter call
)

// Settings configure a Service.
type Settings struct {
	Store     port.Store
	Changes   *ingest.Log // of documents
	Encoders  *ingest.Encoders
	Searcher  *retrieve.Searcher // compares a reindexed namespace with what it was
	Projector *ingest.Projector
	Pages     *page.Signer
	// WithConfiguredModels records the configured models on a new namespace.
	WithConfiguredModels func(port.PartitionRow) port.PartitionRow
	// Replica is this process among those over the store.
	Replica *replica.Member
	// Jobs runs asynchronous writes.
	Jobs *job.Runner
	Now  func() time.Time
	Log  *slog.Logger
}

// Service does the document operations.
type Service struct {
	store                port.Narrowed[reader, writer]
	changes              *ingest.Log
	encoders             *ingest.Encoders
	searcher             *retrieve.Searcher
	projector            *ingest.Projector
	pages                *page.Signer
	withConfiguredModels func(port.PartitionRow) port.PartitionRow
	replica              *replica.Member
	jobs                 *job.Runner
	attempts             *ingest.Attempts
	now                  func() time.Time
	log                  *slog.Logger
}

// reader and writer are what the service uses of the store, beside its log of changes.
type reader interface {
	port.PartitionReader
	port.DocumentReader
	port.JobReader
	port.SourceReader
	port.VectorStoreReader
}

type writer interface {
	reader
	port.VectorStoreWriter
	port.PartitionWriter
	port.GenerationWriter
	job.Writer
}

// New makes the service, and registers its jobs.
func New(s Settings) *Service {
	svc := &Service{
		store: port.Narrow(s.Store, func(r port.Reader) reader { return r },
			func(w port.Writer) writer { return w }),
		changes:              s.Changes,
		encoders:             s.Encoders,
		searcher:             s.Searcher,
		projector:            s.Projector,
		pages:                s.Pages,
		withConfiguredModels: s.WithConfiguredModels,
		replica:              s.Replica,
		jobs:                 s.Jobs,
		attempts:             ingest.NewAttempts(s.Now),
		now:                  s.Now,
		log:                  s.Log,
	}
	s.Jobs.Register(svc.writeKind())
	return svc
}

// readNonEmpty reads the namespace and refuses one without documents.
func readNonEmpty(ctx context.Context, r reader, p port.Partition) (port.PartitionRow, error) {
	n, err := r.Partition(ctx, p)
	if err != nil {
		return n, err
	}
	if n.Documents == 0 {
		return n, fault.New(fault.NamespaceNotFound, "namespace %q holds no documents", p.Name())
	}
	return n, nil
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	const docs = "/namespaces/{namespace}/documents"
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "documents.write",
			Group:   op.Documents,
			Method:  "POST",
			Path:    docs,
			Class:   op.Write,
			Mutates: true,
			MaxBody: MaxBody,
			Timeout: 120 * time.Second,
			Summary: "Write up to 100 documents, all or nothing",
			Description: "Writing an id replaces the document. 200 means durable and searchable. Prefer: respond-async " +
				"answers 202 with an operation; Prefer: searchable=soon answers 200 before a remote index has taken the " +
				"documents, for which the next query waits.",
			Answers: []op.Answer{
				{
					Status:  200,
					Summary: "The documents are durable, and searchable unless the answer says otherwise.",
					Body:    Written{},
					Headers: []string{"Preference-Applied"},
				},
				{
					Status:  202,
					Summary: "The write is accepted.",
					Body:    Operation{},
					Headers: []string{"Location", "Preference-Applied"},
				}},
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidNamespace, fault.InvalidID,
				fault.InvalidMetadata, fault.QuotaExceeded,
				fault.Conflict, fault.PayloadTooLarge, fault.Unavailable, fault.Upstream},
		}, (*Service).Write),
		op.Define(op.Spec{
			Name:    "documents.list",
			Group:   op.Documents,
			Method:  "GET",
			Path:    docs,
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "List documents",
			Faults:  []fault.Code{fault.InvalidRequest, fault.InvalidNamespace, fault.InvalidCursor, fault.NamespaceNotFound},
		}, (*Service).List),
		op.Define(op.Spec{
			Name:    "documents.get",
			Group:   op.Documents,
			Method:  "GET",
			Path:    docs + "/{id}",
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "Read a document",
			Answers: []op.Answer{{Status: 200, Summary: "The document.", Body: Document{}, Headers: []string{"ETag"}},
				{Status: 304, Summary: "The caller holds this version.", Headers: []string{"ETag"}}},
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidNamespace, fault.InvalidID, fault.NamespaceNotFound,
				fault.DocumentNotFound},
		}, (*Service).Get),
		op.Define(op.Spec{
			Name:    "documents.delete",
			Group:   op.Documents,
			Method:  "POST",
			Path:    docs + "/delete",
			Class:   op.Write,
			Mutates: true,
			MaxBody: 1 << 20,
			Timeout: 120 * time.Second,
			Summary: "Delete documents by ids or by filter",
			Description: "Ids that do not exist are skipped. A filter call deletes up to 10,000 chunks; repeat it while " +
				"`more` is true.",
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidNamespace, fault.InvalidID,
				fault.InvalidFilter, fault.Conflict, fault.PayloadTooLarge},
		}, (*Service).Delete),
		op.Define(op.Spec{
			Name:    "operations.get",
			Group:   op.Documents,
			Method:  "GET",
			Path:    "/namespaces/{namespace}/operations/{operation}",
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "Read the state of an asynchronous write",
			Faults:  []fault.Code{fault.InvalidNamespace, fault.NotFound},
		}, (*Service).Operation),
	}, examples()), links())
}
