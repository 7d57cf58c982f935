package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// VectorStore is what a namespace is called by clients of OpenAI's protocol. It may be there
// before the namespace holds documents and after its last one.
type VectorStore struct {
	ID        string // name of the namespace, unique in its organization
	Name      string // for people
	Metadata  []byte // a JSON object of texts; empty: none
	CreatedAt time.Time
}

// VectorStoreRow is a vector store as it is listed, with what its namespace holds. A namespace
// that holds documents and was never described is one, too, by its own name.
type VectorStoreRow struct {
	VectorStore
	Documents int64
	Bytes     int64     // of the documents' texts
	UpdatedAt time.Time // of the last change of a document, else CreatedAt
}

// VectorStoreList asks for a page, by CreatedAt and then ID.
type VectorStoreList struct {
	Down         bool // the newest first
	After        string
	AfterCreated time.Time // with After, the last row of the page before
	Limit        int
}

// KeptFile is an uploaded file whose text is kept for being put into namespaces. Its bytes are not.
type KeptFile struct {
	ID        string
	Namespace string // to which the key is limited that sent it; "": to none
	Name      string
	Purpose   string
	MediaType string
	Size      int64 // of the file, in bytes
	TextBytes int64 // of its parts' texts, in bytes of UTF-8
	Parts     int
	CreatedAt time.Time
}

// KeptPart is a document that a kept file becomes.
type KeptPart struct {
	Metadata []byte // a JSON object
	Text     string
}

// KeptFileList asks for a page, by ID.
type KeptFileList struct {
	Namespace string // files of keys that are limited to it; "": of all
	Purpose   string // "": any
	Down      bool
	After     string // the last id of the page before; "": none
	Limit     int
}

// Attachment is a kept file that was put into a namespace. It says how that went, not what is there: the
// documents do.
type Attachment struct {
	File      string // id
	Batch     string // id of the call that attached several; "": it attached one
	Operation string // id of the asynchronous write; "": it was written at once
	CreatedAt time.Time
}

// AttachmentList asks for a page, by File.
type AttachmentList struct {
	Batch   string    // "": any
	Written bool      // false: only those with an operation
	Since   time.Time // attached then or later; zero: ever
	Down    bool
	After   string // the last file of the page before; "": none
	Limit   int
}

// VectorStoreReader reads vector stores and kept files.
type VectorStoreReader interface {
	// VectorStore reads a description; fault NotFound when there is none.
	VectorStore(ctx context.Context, org ident.Org, id string) (VectorStore, error)
	// VectorStores lists those of an organization.
	VectorStores(ctx context.Context, org ident.Org, l VectorStoreList) ([]VectorStoreRow, error)
	// KeptFile reads one; fault NotFound when absent.
	KeptFile(ctx context.Context, org ident.Org, id string) (KeptFile, error)
	// KeptFiles lists those of an organization.
	KeptFiles(ctx context.Context, org ident.Org, l KeptFileList) ([]KeptFile, error)
	// KeptParts reads the parts of a file in their order; none where there is no such file.
	KeptParts(ctx context.Context, org ident.Org, file string) ([]KeptPart, error)
	// Attachments lists those of a namespace, which need not hold documents.
	Attachments(ctx context.Context, p Partition, l AttachmentList) ([]Attachment, error)
	// Attachment reads one; fault NotFound when absent.
	Attachment(ctx context.Context, p Partition, file string) (Attachment, error)
	// AttachedTo lists the names of the namespaces that a file was put into.
	AttachedTo(ctx context.Context, org ident.Org, file string) ([]string, error)
}

// VectorStoreWriter changes vector stores and kept files. What is put is of an organization that stays:
// fault NotFound when it is absent or being deleted.
type VectorStoreWriter interface {
	// PutVectorStore inserts a description, or replaces name and metadata of the one of its id. Deleting the
	// namespace removes it.
	PutVectorStore(ctx context.Context, org ident.Org, v VectorStore) error
	// RemoveVectorStore removes a description, and what is known of files attached to its namespace;
	// false: there was none.
	RemoveVectorStore(ctx context.Context, org ident.Org, id string) (bool, error)
	// PutKeptFile inserts a file, whose id is new, with its parts.
	PutKeptFile(ctx context.Context, org ident.Org, f KeptFile, parts []KeptPart) error
	// RemoveKeptFile removes a file with its parts and what is known of its attachments; false: there was none.
	RemoveKeptFile(ctx context.Context, org ident.Org, id string) (bool, error)
	// PutAttachment inserts one, or replaces that of the file. Fault NotFound when there is no such file.
	PutAttachment(ctx context.Context, p Partition, a Attachment) error
	// RemoveAttachment removes one; false: there was none.
	RemoveAttachment(ctx context.Context, p Partition, file string) (bool, error)
}
