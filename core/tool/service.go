package tool

import (
	"time"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
)

// Timeout is how long a tool may take (docs/contract.md#limit-time).
const Timeout = 30 * time.Second

// saveTimeout is longer: a text of 256 KB is embedded whole or not at all, which
// takes a slow machine more than Timeout (docs/decisions.md#d-29).
const saveTimeout = 120 * time.Second

// Settings are what a Service works with.
type Settings struct {
	Namespaces *namespace.Service
	Documents  *document.Service
	Queries    *query.Service
	Memories   *memory.Service
	// BaseURL is what links to documents begin with, without a slash at the end;
	// "": http and the host that the caller used.
	BaseURL string
}

// Service answers tool calls.
type Service struct{ Settings }

// New makes the service.
func New(s Settings) *Service { return &Service{s} }

// Operations declares the tools.
func Operations() []op.Op[*Service] {
	naming := []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidNamespace, fault.NamespaceNotFound}
	with := func(more ...fault.Code) []fault.Code { return append(more, naming...) }
	user := func(more ...fault.Code) []fault.Code {
		return append(more, fault.InvalidRequest, fault.InvalidJSON, fault.InvalidEndUserID, fault.InsufficientScope,
			fault.Forbidden)
	}
	return []op.Op[*Service]{
		op.Define(op.Spec{Name: "tools.search", Class: op.Read, Timeout: Timeout, TimeoutClass: op.OwnTimeout, BodyOptional: true,
			Summary: "Find the documents that answer a question",
			Description: "Find documents by meaning and words, best first, one passage each. Without a namespace all " +
				"are searched. Use fetch with an id for the whole text.",
			Tool:   &op.Tool{Name: "search", Title: "Search documents", Idempotent: true},
			Faults: with(fault.InvalidFilter, fault.PayloadTooLarge, fault.Conflict)}, (*Service).Search),
		op.Define(op.Spec{Name: "tools.fetch", Class: op.Read, Timeout: Timeout, TimeoutClass: op.OwnTimeout, BodyOptional: true,
			Summary:     "Read a document",
			Description: "Read a document's text. When next_offset is not null, call again with it as offset for the rest.",
			Tool:        &op.Tool{Name: "fetch", Title: "Read a document", Idempotent: true},
			Faults:      with(fault.InvalidID, fault.DocumentNotFound)}, (*Service).Fetch),
		op.Define(op.Spec{
			Name:         "tools.save",
			Class:        op.Write,
			Mutates:      true,
			Timeout:      saveTimeout,
			TimeoutClass: op.OwnTimeout,
			BodyOptional: true,
			Summary:      "Store a document",
			Description: "Store a text so that search finds it. The same id replaces the document; without id the same " +
				"text is stored once.",
			Tool:   &op.Tool{Name: "save", Title: "Save a document", Idempotent: true},
			Faults: with(fault.InvalidID, fault.InvalidMetadata, fault.PayloadTooLarge, fault.Conflict, fault.QuotaExceeded),
		}, (*Service).Save),
		op.Define(op.Spec{
			Name:         "tools.delete",
			Class:        op.Write,
			Mutates:      true,
			Timeout:      Timeout,
			TimeoutClass: op.OwnTimeout,
			BodyOptional: true,
			Summary:      "Delete documents",
			Description:  "Delete documents for good, by the exact ids that search, fetch or save gave.",
			Tool:         &op.Tool{Name: "delete", Title: "Delete documents", Destructive: true, Idempotent: true},
			Faults:       with(fault.InvalidID),
		}, (*Service).Delete),
		op.Define(op.Spec{
			Name:         "tools.list_namespaces",
			Class:        op.Read,
			Timeout:      Timeout,
			TimeoutClass: op.OwnTimeout,
			BodyOptional: true,
			Summary:      "List the namespaces that hold documents",
			Description:  "List the namespaces that hold documents, by name.",
			Tool:         &op.Tool{Name: "list_namespaces", Title: "List namespaces", Idempotent: true},
			Faults:       []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidCursor},
		}, (*Service).ListNamespaces),
		op.Define(op.Spec{
			Name:         "tools.context",
			Family:       op.Memory,
			Class:        op.MemoryRead,
			Scopes:       []ident.Scope{ident.MemoriesRead},
			Timeout:      Timeout,
			TimeoutClass: op.OwnTimeout,
			BodyOptional: true,
			Summary:      "Find what is known for a message",
			Description: "Get what is remembered of a user for the message that is to be answered, as text with numbered " +
				"entries and a citation for each. Call it before you answer.",
			Tool:   &op.Tool{Name: "context", Title: "Context for a message", Idempotent: true},
			Faults: user(fault.InvalidContainerTag, fault.PayloadTooLarge),
		}, (*Service).Context),
		op.Define(op.Spec{
			Name:         "tools.remember",
			Family:       op.Memory,
			Class:        op.MemoryWrite,
			Scopes:       []ident.Scope{ident.MemoriesWrite},
			Mutates:      true,
			Timeout:      saveTimeout,
			TimeoutClass: op.OwnTimeout,
			BodyOptional: true,
			Summary:      "Remember a conversation",
			Description: "Remember messages of a conversation, word for word. Sending one again changes nothing; one whose " +
				"id is there with other content is replaced.",
			Tool:   &op.Tool{Name: "remember", Title: "Remember a conversation", Idempotent: true},
			Faults: user(fault.InvalidContainerTag, fault.QuotaExceeded, fault.PayloadTooLarge, fault.Upstream),
		}, (*Service).Remember),
		op.Define(op.Spec{
			Name:         "tools.forget",
			Family:       op.Memory,
			Class:        op.MemoryWrite,
			Scopes:       []ident.Scope{ident.MemoriesWrite},
			Mutates:      true,
			Timeout:      Timeout,
			TimeoutClass: op.OwnTimeout,
			BodyOptional: true,
			Summary:      "Forget memories",
			Description:  "Delete memories for good, by the exact ids that context or remember gave.",
			Tool:         &op.Tool{Name: "forget", Title: "Forget memories", Destructive: true, Idempotent: true},
			Faults:       user(fault.InvalidID, fault.Conflict),
		}, (*Service).Forget),
	}
}
