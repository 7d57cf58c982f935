package port

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Integration is an application that keeps one memory store per end user.
type Integration struct {
	ID     string // "int_..."; never reused
	Org    ident.Org
	Name   string // unique in its organization
	Quotas ident.Quotas
	// GrantsRequired: source-owned memories are written with a Grant only.
	GrantsRequired bool
	CreatedAt      time.Time
}

// IntegrationReader reads integrations.
type IntegrationReader interface {
	// Integration finds by id; fault NotFound when the organization has none.
	Integration(ctx context.Context, org ident.Org, id string) (Integration, error)
	// IntegrationByName finds by name; fault NotFound when absent.
	IntegrationByName(ctx context.Context, org ident.Org, name string) (Integration, error)
	// Integrations lists an organization's by name.
	Integrations(ctx context.Context, org ident.Org) ([]Integration, error)
}

// IntegrationWriter changes integrations.
type IntegrationWriter interface {
	// PutIntegration inserts or replaces by id; fault Conflict when another has the name.
	PutIntegration(ctx context.Context, i Integration) error
}

// A memory partition (Memories) is stored as a namespace of its own kind: the
// methods of NamespaceReader, NamespaceWriter, DocumentReader and DocumentWriter
// take it too, its name being the end user's id and its documents the memories.
// Lists of namespaces leave memory partitions out. Unlike a namespace a memory
// partition stays when its last memory goes: the end user is known until erased.

// EndUser is a row of the roster.
type EndUser struct {
	Integration string
	ID          string
	Generation  int64
	Memories    int64
	Containers  int64 // distinct container tags of the memories
	Bytes       int64 // UTF-8 bytes of the memories
	FirstSeen   time.Time
	LastSeen    time.Time // of a write or a search; searches may be noted a while later
	Erasing     time.Time // not zero: an erasure is under way since then
}

// EndUserList asks for a page of the roster, by end user id, then integration.
type EndUserList struct {
	Integration      string // "": every integration of the organization
	Prefix           string // of the id; "": any
	AfterID          string // last row of the page before; "": from the start
	AfterIntegration string
	Limit            int
}

// RecordStatus is the state of a source-owned memory (docs/contract.md#mem-states).
type RecordStatus string

// The states.
const (
	RecordActive     RecordStatus = "active"
	RecordTombstoned RecordStatus = "tombstoned"
)

// Record is a source-owned memory's place in its source's history. It outlives
// the memory: a tombstone keeps it, only the end user's erasure removes it.
type Record struct {
	Source       string
	ExternalID   string
	Version      int64
	Status       RecordStatus
	OccurredAt   time.Time // the source's time of the version
	UpdatedAt    time.Time // ours
	DocumentID   string    // of the memory; kept over all versions
	ContentHash  string    // "sha256:" and hex of the content; "" when tombstoned
	MetadataHash [32]byte  // with the container tag, to tell an unchanged version
}

// Receipt proves that a version was applied; every version has one.
type Receipt struct {
	Source      string
	ExternalID  string
	Version     int64
	Operation   string // upsert, tombstone
	RequestHash string
	Outcome     string // created, updated, unchanged, restored, tombstoned
	OccurredAt  time.Time
	AppliedAt   time.Time
	DocumentID  string
	ContentHash string
}

// IdempotentReply is the stored answer of a write that carried an Idempotency-Key.
type IdempotentReply struct {
	Integration string
	Key         string
	EndUser     string
	RequestHash [32]byte
	Answer      json.RawMessage
	CreatedAt   time.Time
}

// ContentKey identifies a memory by its content.
type ContentKey struct {
	Container string
	Hash      [32]byte // Document.ContentKey of it
}

// Position is where a memory stands among those of its container: by creation
// time, then id.
type Position struct {
	Container string
	CreatedAt time.Time
	ID        string
}

// Neighbors are the memories right before and right after a position, nil where the
// container has none. Of each, text, metadata, container and times are read.
type Neighbors struct{ Before, After *Document }

// ContextLink says that the vector of memory ID was made with the text of
// memory Context before its own.
type ContextLink struct {
	ID, Context string
	Own         []float32 // the vector of ID's text alone, for when Context goes
}

// MemoryReader reads the rows that memory partitions have beside their documents.
// Methods that take a partition answer fault PartitionNotFound when it is absent.
type MemoryReader interface {
	// EndUsers reads a page of an organization's roster.
	EndUsers(ctx context.Context, org ident.Org, l EndUserList) ([]EndUser, error)
	// CountEndUsers counts those of an integration who are not being erased.
	CountEndUsers(ctx context.Context, org ident.Org, integration string) (int64, error)
	// MemoriesByContent finds the ids of memories that are not source-owned by
	// their content; unknown keys are left out.
	MemoriesByContent(ctx context.Context, p Partition, keys []ContentKey) (map[ContentKey]string, error)
	// Record finds a source-owned memory's record; fault MemoryNotFound when absent.
	Record(ctx context.Context, p Partition, source, externalID string) (Record, error)
	// Receipt finds the receipt of one version, 0 being the latest; fault
	// MemoryNotFound when absent.
	Receipt(ctx context.Context, p Partition, source, externalID string, version int64) (Receipt, error)
	// Records lists records by source, then external id, after one; "" and "": from the start.
	Records(ctx context.Context, p Partition, afterSource, afterExternalID string, limit int) ([]Record, error)
	// Receipts lists a record's receipts by version, after one.
	Receipts(ctx context.Context, p Partition, source, externalID string, after int64, limit int) ([]Receipt, error)
	// Neighbors finds the memories next to each position, which need not be taken.
	Neighbors(ctx context.Context, p Partition, at []Position) ([]Neighbors, error)
	// ContextLinks finds every link in which one of ids is the memory or the
	// context, by ID; Own is read only when asked for.
	ContextLinks(ctx context.Context, p Partition, ids []string, own bool) ([]ContextLink, error)
	// IdempotentReply finds a stored answer; fault NotFound when absent.
	IdempotentReply(ctx context.Context, org ident.Org, integration, key string) (IdempotentReply, error)
	// Erasing lists the partitions whose erasure has begun and not ended,
	// pinned to their generation, oldest first.
	Erasing(ctx context.Context) ([]Partition, error)
	// ErasureTally is what an unfinished erasure has removed so far.
	ErasureTally(ctx context.Context, p Partition) (Erased, error)
}

// Erased counts what an erasure removed.
type Erased struct {
	Memories int64
	Vectors  int64 // dense and sparse rows
	Records  int64
	Receipts int64
	Replays  int64
	Grants   int64 // revoked by it, or before
	// Unanswered are those of Grants whose upstream did not take them back.
	Unanswered int64
}

// MemoryWriter changes the rows that memory partitions have beside their documents.
type MemoryWriter interface {
	// PutRecord inserts or replaces the record and adds the receipt of its version.
	PutRecord(ctx context.Context, p Partition, r Record, receipt Receipt) error
	// PutContextLinks inserts or replaces links by ID; an empty Context removes
	// one. A deleted memory's own link goes with it, and those to it stay until
	// they are replaced: their vectors are still made with its text.
	PutContextLinks(ctx context.Context, p Partition, links []ContextLink) error
	// PutIdempotentReply stores an answer; fault Conflict when the key is taken.
	PutIdempotentReply(ctx context.Context, org ident.Org, r IdempotentReply) error
	// DeleteIdempotentReplies forgets answers stored before a time.
	DeleteIdempotentReplies(ctx context.Context, before time.Time) error
	// TouchEndUsers records when end users were last seen, by generation, never
	// moving it back. Unknown ones and those being erased are skipped.
	TouchEndUsers(ctx context.Context, seen map[int64]time.Time) error
}

// ErasureWriter erases end users.
type ErasureWriter interface {
	// BeginErasure marks the partition, from where on its Namespace has Erasing
	// set and every DocumentWriter, MemoryWriter and GrantWriter method but those of erasure
	// answers fault Unavailable with RetryAfter, and revokes the end user's grants. It
	// returns the pinned partition.
	// Beginning again keeps the first time. Fault PartitionNotFound when absent.
	BeginErasure(ctx context.Context, p Partition, at time.Time) (Partition, error)
	// EraseMemories removes up to limit memories with their vectors, records,
	// receipts, changes, stored answers and events, and adds to the partition's tally.
	// more is false when none is left.
	EraseMemories(ctx context.Context, p Partition, limit int) (more bool, err error)
	// EraseGrant forgets of a grant of the end user everything but its id, integration and
	// time of revocation, and counts it, once; answered says that nothing is left of it at
	// its upstream.
	EraseGrant(ctx context.Context, p Partition, id string, answered bool) error
	// ErasePersonalKeys removes the personal keys of an end user, who need not have a
	// partition, and the events that tell of the end user.
	ErasePersonalKeys(ctx context.Context, p Partition) error
}

// Scrubber is an optional ability of a Store that keeps files: after Scrub
// returns nil, nothing that was deleted before the call can be read from them.
// Fault Unavailable with RetryAfter when a long read is in the way.
type Scrubber interface {
	Scrub(ctx context.Context) error
}
