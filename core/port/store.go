package port

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Store is the system of record: what it holds is the truth, indexes are
// derived from it. Services read documents through it and change them through
// ingest.Log alone, so that no change bypasses the indexes.
type Store interface {
	// View runs fn on one consistent snapshot. Readers never wait for writers.
	View(ctx context.Context, fn func(Reader) error) error
	// Update runs fn in a serialisable transaction. nil means committed and on
	// disk. An error from fn rolls back and is returned as it is. fn may run
	// again after a conflict and must have no effect outside the Writer; several
	// callers' functions may share one commit, each failing alone. fn reads through its Writer and
	// calls no View, which would wait for a connection while fn holds one.
	Update(ctx context.Context, fn func(Writer) error) error
	// Ping checks that the store can read and write.
	Ping(ctx context.Context) error
	Close() error
}

// Parted is an optional ability of a Store that consists of several databases. Ping of the store
// fails only where nothing goes without the part that fails.
type Parted interface {
	Parts() []StorePart
}

// StorePart is one of these databases.
type StorePart struct {
	Name string
	Ping func(ctx context.Context) error // that it can read and write
	Pool func() (p Pool, ok bool)        // false: it has none, or was not reached yet
}

// Mover is an optional ability of a Store that consists of several databases: organizations go from one to
// another while they are served.
type Mover interface {
	// MoveOrganization moves what an organization has to the database called to. Most of it is copied while the organization
	// is written; until the rest is there, all of its writes are Unavailable with RetryAfter. It can be read at every
	// moment. progress is told what is done. Where it fails or is stopped before the organization is in the other
	// database, everything is as before. Where the process dies, writes stay Unavailable until the move is called again
	// with the same database, or, as long as it is not there yet, with the one that it is in, which takes the move back.
	// Faults: NotFound for an organization or database that is not there; Conflict for one that is in the database, is
	// being deleted, or is being moved by another call.
	MoveOrganization(ctx context.Context, org ident.Org, to string, progress func(MoveProgress)) (Moved, error)
}

// The steps of a move.
const (
	MoveBegun   = "begun"   // nobody else moves the organization
	MoveDrafted = "drafted" // most of its rows are in the other database
	MoveFenced  = "fenced"  // its writes are refused
	MoveCopied  = "copied"  // all its rows are in the other database
	MoveChecked = "checked" // and are the same there
	MoveSwapped = "swapped" // it is in the other database
	MoveOpened  = "opened"  // its writes go there
	MoveRemoved = "removed" // its rows are gone from the database it was in
)

// MoveProgress is how far a move is.
type MoveProgress struct {
	Step  string // the last one that is done
	Table string // being copied; "": none
	Rows  int64  // copied
	Bytes int64
}

// Moved is what a move came to.
type Moved struct {
	From, To string
	Back     bool // it was taken back: the organization is in To as before
	Tables   []MovedTable
	Paused   time.Duration // how long writes were refused, as far as this call saw; 0: it found the rows moved
}

// MovedTable is what was moved of a table, the same in both databases.
type MovedTable struct {
	Name string
	Rows int64
	Sum  [32]byte // SHA-256 of the rows
}

// DocumentStore is a whole store, as adapters implement it and the engine takes it.
type DocumentStore interface {
	Store
	// UpdateDocuments is Update with the methods that change documents, too. In a
	// server only ingest.Log calls it.
	UpdateDocuments(ctx context.Context, fn func(DocumentWriter) error) error
}

// Reader is a snapshot of the store.
type Reader interface {
	OrganizationReader
	KeyReader
	IntegrationReader
	PartitionReader
	DocumentReader
	MemoryReader
	JobReader
	SecretReader
	DataKeyReader
	OAuthReader
	SessionReader
	MemberReader
	ReplicaReader
	StatisticsReader
	SourceReader
	EventReader
	WebhookReader
	GrantReader
	AuditReader
	UsageReader
	SavedQueryReader
	VectorStoreReader
}

// Writer is a transaction on everything but documents, which a DocumentWriter
// changes. Reads see its own writes.
type Writer interface {
	Reader
	OrganizationWriter
	KeyWriter
	IntegrationWriter
	PartitionWriter
	GenerationWriter
	ChangeWriter
	MemoryWriter
	ErasureWriter
	JobWriter
	SecretWriter
	DataKeyWriter
	OAuthWriter
	SessionWriter
	MemberWriter
	ReplicaWriter
	SourceWriter
	EventWriter
	WebhookWriter
	GrantWriter
	AuditWriter
	UsageWriter
	SavedQueryWriter
	VectorStoreWriter
}

// Organization owns namespaces and keys.
type Organization struct {
	ID        ident.Org // "org_..." ; never reused
	Name      string    // unique
	Suspended bool
	Deleting  time.Time // not zero: its deletion has begun (OrganizationWriter.BeginDeletion)
	CreatedAt time.Time
	// Database is where a new one is placed by PutOrganization, of a store that consists of several databases; "": where
	// that store places it. Readers leave it empty: Placements has it.
	Database string
}

// OrganizationReader reads organizations.
type OrganizationReader interface {
	// Organization finds by id; fault NotFound when absent.
	Organization(ctx context.Context, id ident.Org) (Organization, error)
	// OrganizationByName finds by name; fault NotFound when absent.
	OrganizationByName(ctx context.Context, name string) (Organization, error)
	// Organizations lists all by name.
	Organizations(ctx context.Context) ([]Organization, error)
	// Placements names the databases that organizations are in; nil where a store is one database.
	Placements(ctx context.Context, of []Organization) (map[ident.Org]string, error)
}

// OrganizationWriter changes organizations.
type OrganizationWriter interface {
	// PutOrganization inserts or replaces by id; fault Conflict when another has the
	// name. Deleting is not its business: it keeps what is stored. Fault InvalidRequest for a new one whose Database is
	// none of the store's.
	PutOrganization(ctx context.Context, o Organization) error
	// BeginDeletion marks an organization, and suspends it. From then on nobody makes a
	// partition, a key or an integration in it: fault NotFound. Beginning again keeps
	// the first time. Fault NotFound when absent.
	BeginDeletion(ctx context.Context, id ident.Org, at time.Time) error
	// EraseOrganization removes up to limit rows of each kind of what an organization
	// has whose deletion has begun: what deleted partitions have left, the data key, jobs with their
	// claims, stored answers, events, usage and quotas, kept files and vector stores, keys with what was lent of them,
	// integrations, and in the end itself. more is false when nothing is left. Live partitions go by
	// DeletePartition and by erasures before: fault Conflict.
	EraseOrganization(ctx context.Context, id ident.Org, limit int) (n OrganizationErased, more bool, err error)
}

// OrganizationErased counts what EraseOrganization has removed.
type OrganizationErased struct {
	Keys         int64
	Integrations int64
	Jobs         int64
}

// Key is an API key as stored: the secret itself is never kept.
type Key struct {
	ID               string // "key_..."
	Org              ident.Org
	Name             string
	Kind             ident.Kind
	Hash             [32]byte // SHA-256 of the whole secret
	Last4            string
	ReadOnly         bool
	Namespace        string // not empty: limited to it
	Source           string // id; not empty: limited to it
	DefaultNamespace string
	Scopes           []ident.Scope
	Limits           map[string]ident.Rate
	Integration      string // of an integration or personal key
	EndUser          string // of a personal key: the only one it reaches
	CreatedBy        string // id of the key that made it, or another word for who did; "": unknown
	CreatedAt        time.Time
	ExpiresAt        time.Time // zero: never
	RevokedAt        time.Time // zero: live
	LastUsedAt       time.Time // zero: never used
}

// KeyReader reads keys.
type KeyReader interface {
	// KeyByHash finds a key, revoked and expired ones included; fault NotFound when absent.
	KeyByHash(ctx context.Context, hash [32]byte) (Key, error)
	// Key finds an organization's key; fault NotFound when absent.
	Key(ctx context.Context, org ident.Org, id string) (Key, error)
	// Keys lists an organization's keys by creation time, then id, revoked ones included.
	Keys(ctx context.Context, org ident.Org, l KeyList) ([]Key, error)
}

// KeyList asks for a page of keys. After* is the last row of the page before.
type KeyList struct {
	Integration  string // id; "": any
	AfterCreated time.Time
	AfterID      string // "": from the start
	Limit        int    // 0: all
}

// KeyChange is what may change of a key, all of it as it is to be.
type KeyChange struct {
	Name             string
	ReadOnly         bool
	DefaultNamespace string
	Limits           map[string]ident.Rate
}

// KeyWriter changes keys.
type KeyWriter interface {
	PutKey(ctx context.Context, k Key) error // inserts
	// ChangeKey replaces what may change of a key; fault NotFound when the
	// organization has no such key.
	ChangeKey(ctx context.Context, org ident.Org, id string, c KeyChange) error
	// RevokeKey marks a key; fault NotFound when the organization has no such
	// key. Revoking again keeps the first time.
	RevokeKey(ctx context.Context, org ident.Org, id string, at time.Time) error
	// ExpireKey lets a key end at a time, or earlier where it did already; fault
	// NotFound when the organization has no such key.
	ExpireKey(ctx context.Context, org ident.Org, id string, at time.Time) error
	// TouchKeys records last use, never moving it back. Unknown ids are skipped.
	TouchKeys(ctx context.Context, used map[string]time.Time) error
}

// PartitionRow is a partition as stored, a namespace or an end user, with its counts.
type PartitionRow struct {
	Name            string
	Generation      int64 // unique for ever; pins partitions to this generation
	Sparse          bool
	Embedder        string // name of the embedding model that was chosen for it; "": the server's default
	EmbeddingModel  string // of its vectors
	EmbeddingDigest string
	Dimensions      int
	SparseModel     string // "" without a sparse index
	SparseDigest    string
	Chunker         string // chunking version, e.g. "1"
	Language        string // of its texts, one of Languages; "": told by each text
	Documents       int64
	Chunks          int64
	Bytes           int64     // UTF-8 bytes of the documents' texts
	Seq             uint64    // number of the last change
	Trimmed         uint64    // deletions up to this number may be forgotten; see TrimChanges
	Erasing         time.Time // not zero: the erasure of this memory partition has begun
	State           GenerationState
	PausedUntil     time.Time // writes wait until then: a reindexing is about to swap
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// GenerationState says what a generation is used for.
type GenerationState int

// The states of a generation.
const (
	Active   GenerationState = iota // what queries and writes go to
	Building                        // the shadow of a reindexing that is under way
	Retained                        // what was served before the last swap
)

// PartitionReader reads the rows of partitions.
type PartitionReader interface {
	// Partition finds one, an empty one included; fault PartitionNotFound when
	// absent or, for a pinned partition, when that life is over. Partition.Shadow
	// asks for the one that is not served.
	Partition(ctx context.Context, p Partition) (PartitionRow, error)
	// Namespaces lists those that hold documents, by name, starting after a name.
	Namespaces(ctx context.Context, org ident.Org, prefix, after string, limit int) ([]PartitionRow, error)
	// Shadows lists the shadows of all namespaces of an organization, or with "" of
	// all.
	Shadows(ctx context.Context, org ident.Org) ([]PartitionEntry, error)
	// Generations lists every live generation, for cleaning up derived data.
	Generations(ctx context.Context) ([]int64, error)
}

// PartitionWriter changes the rows of partitions.
type PartitionWriter interface {
	// CreatePartition inserts n (the store sets Generation, State, counts and Seq)
	// and returns it as stored; fault Conflict when the name, or the place of its
	// Shadow, is taken, NotFound when the organization, or the integration of a memory partition,
	// is absent, Unavailable with RetryAfter while the name's last life is erased.
	CreatePartition(ctx context.Context, p Partition, n PartitionRow) (PartitionRow, error)
	// PausePartition records until when writes to a namespace are to wait. The
	// store does not enforce it: writers check PausedUntil.
	PausePartition(ctx context.Context, p Partition, until time.Time) error
	// SetModels records the models, the chunker and the sparse flag of n on a
	// partition; its language stays. Its vectors stay as they are: a caller that changes the models of
	// a partition with documents replaces all vectors in the same transaction, with
	// vectors of n's dimensions.
	SetModels(ctx context.Context, p Partition, n PartitionRow) error
}

// GenerationWriter ends lives of partitions, which ingest.Log does not see: what is
// deleted or served here changes no document one by one.
type GenerationWriter interface {
	// SwapPartition has the shadow of a namespace served, and keeps what was served
	// until then as the shadow (Retained). Pauses end. Fault PartitionNotFound when
	// either is absent.
	SwapPartition(ctx context.Context, p Partition) error
	// DeletePartition removes it with all its documents, changes and its shadow, or
	// the shadow alone, and reports whether it existed. Its jobs stay readable.
	DeletePartition(ctx context.Context, p Partition) (bool, error)
}

// Origin says how a document came in; the server stamps it.
type Origin struct {
	Kind     string `json:"kind"` // api, mcp, source, import
	KeyID    string `json:"key_id,omitempty"`
	SourceID string `json:"source_id,omitempty"`
}

// Document is one stored document.
type Document struct {
	ID           string
	Text         string
	Metadata     json.RawMessage // compact JSON object; nil: none
	TextHash     [32]byte        // SHA-256 of Text
	MetadataHash [32]byte        // SHA-256 of the canonical metadata
	Chunks       []Chunk
	SourceID     string
	Origin       Origin
	Seq          uint64 // change that last touched it; set by the store
	CreatedAt    time.Time
	UpdatedAt    time.Time

	// Of a memory only.
	Container  string   // container tag; "": none
	ContentKey [32]byte // SHA-256 of the normalised content, for MemoriesByContent; zero when source-owned
	Source     string   // of a source-owned memory, with ExternalID
	ExternalID string
}

// Chunk is a slice of a document's text.
type Chunk struct {
	Start, End int      // UTF-8 byte offsets into Text
	Context    string   // headings above it, indexed with it
	Hash       [16]byte // of context and text: equal hashes share a vector
}

// Vectors are a document's vectors, one row a chunk. Dense.Data is nil without
// an embedder; Sparse.Rows is nil in a plain namespace. Stores may keep dense
// values as IEEE half floats.
type Vectors struct {
	Dense  Dense
	Sparse Sparse
}

// Part says which parts of documents to read; the rest is left zero.
type Part int

// The parts, or-ed together. Id, hashes, Seq, SourceID, Origin and times always come.
const (
	PartText Part = 1 << iota
	PartMetadata
	PartChunks // the layout; DocumentHead.ChunkCount always comes
	PartSize   // DocumentHead.TextBytes
)

// DocumentHead is a Document in a list, with its chunk count.
type DocumentHead struct {
	Document
	ChunkCount int
	TextBytes  int64 // of Text, in UTF-8; with PartSize alone
}

// Order of a document list.
type Order string

// The orders.
const (
	ByID      Order = "id"         // ascending
	ByIDDown  Order = "id desc"    // descending
	ByUpdated Order = "updated_at" // newest first, ties by id ascending
	ByCreated Order = "created_at" // newest first, ties by id ascending
)

// DocumentList asks for a page. After* is the last row of the page before.
type DocumentList struct {
	Prefix, SourceID string // "": any
	Order            Order
	AfterID          string    // "": from the start
	AfterUpdated     time.Time // with ByUpdated
	AfterCreated     time.Time // with ByCreated
	Container        string    // of a memory partition, with ByCreated; "": any
	Limit            int
	Parts            Part
}

// Change is one entry of a partition's change log, compacted to the last state
// of each document.
type Change struct {
	Seq      uint64
	Document string
	Deleted  bool
}

// DocumentReader reads documents. All methods answer fault PartitionNotFound
// when the partition is absent.
type DocumentReader interface {
	// Documents reads those of ids that exist, in the order of ids.
	Documents(ctx context.Context, p Partition, ids []string, parts Part) ([]DocumentHead, error)
	// ListDocuments reads a page.
	ListDocuments(ctx context.Context, p Partition, l DocumentList) ([]DocumentHead, error)
	// Vectors reads the vectors of those of ids that exist.
	Vectors(ctx context.Context, p Partition, ids []string) (map[string]Vectors, error)
	// Changes reads the change log after a number in rising order: at least
	// limit changes where there are as many, and always all changes of the last
	// number given, so that a batch ends between numbers.
	Changes(ctx context.Context, p Partition, after uint64, limit int) ([]Change, error)
}

// DocumentWrite stores one document.
type DocumentWrite struct {
	Document     Document // CreatedAt is used for a new document, and for every memory
	Vectors      Vectors
	MetadataOnly bool // keep text, chunks and vectors as stored
}

// DocumentWriter is a transaction that changes documents. Each call of PutDocuments
// and DeleteDocuments takes one new change number and keeps the partition's counts
// and UpdatedAt right. A partition pinned to a generation that is not served any more
// is PartitionNotFound, unless it is a Shadow.
type DocumentWriter interface {
	Writer
	// PutDocuments inserts or replaces by id. It returns the change number. Without
	// a time every document has its own UpdatedAt.
	PutDocuments(ctx context.Context, p Partition, at time.Time, docs []DocumentWrite) (uint64, error)
	// DeleteDocuments removes those of ids that exist and returns how many did
	// and the change number (0 when nothing was removed). They go from the shadow,
	// too. When the last document goes the namespace goes too, and gone is true; a
	// shadow stays.
	DeleteDocuments(ctx context.Context, p Partition, at time.Time, ids []string) (deleted int, seq uint64, gone bool, err error)
	// EndErasure removes the partition of an end user, once EraseMemories and EraseGrant
	// have left nothing, with all jobs on it and their claims, and the end user's personal keys.
	EndErasure(ctx context.Context, p Partition) error
}

// ChangeWriter keeps change logs short.
type ChangeWriter interface {
	// TrimChanges forgets deletions up to a number, but none that a live consumer of
	// the log still needs (PutWatermarks), and raises PartitionRow.Trimmed.
	// A consumer behind that number, unless at 0, must rebuild.
	TrimChanges(ctx context.Context, p Partition, upto uint64) error
}

// SecretReader reads secrets that all servers over one store share, such as
// the key that signs cursors.
type SecretReader interface {
	// Secret finds one by name; fault NotFound when absent.
	Secret(ctx context.Context, name string) ([]byte, error)
}

// SecretWriter stores secrets.
type SecretWriter interface {
	// PutSecret inserts a secret; one that exists is kept.
	PutSecret(ctx context.Context, name string, value []byte) error
}
