package openai

import (
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// reader and writer are what the service uses of the store.
type reader interface {
	port.PartitionReader
	port.DocumentReader
	port.VectorStoreReader
}

type writer interface {
	reader
	port.VectorStoreWriter
}

// Service answers OpenAI's clients.
type Service struct {
	enabled    bool
	embedder   port.Embedder // of the role; nil: off
	embedders  []port.Embedder
	aliases    map[string]string
	models     *model.Service
	namespaces *namespace.Service
	queries    *query.Service
	reranks    bool
	store      port.Narrowed[reader, writer]
	documents  *document.Service
	files      *file.Service
	now        func() time.Time
}

// Settings configure a Service.
type Settings struct {
	Enabled   bool              // false: every call answers 404
	Embedder  port.Embedder     // of the role; nil: off
	Embedders []port.Embedder   // further ones that a call may name
	Aliases   map[string]string // further names of models, each with the model's own
	Models    *model.Service
	// Vector stores are namespaces, and their searches queries.
	Namespaces *namespace.Service
	Queries    *query.Service
	Reranks    bool // there is a rerank model of queries
	// Files are read by the service of files, kept in the store and written as documents.
	Store     port.Store
	Documents *document.Service
	Files     *file.Service
	Now       func() time.Time
}

// New makes the service.
func New(s Settings) *Service {
	return &Service{
		enabled:    s.Enabled,
		embedder:   s.Embedder,
		embedders:  s.Embedders,
		aliases:    s.Aliases,
		models:     s.Models,
		namespaces: s.Namespaces,
		queries:    s.Queries,
		reranks:    s.Reranks,
		store:      port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		documents:  s.Documents,
		files:      s.Files,
		now:        s.Now,
	}
}

// Available implements op.Availability.
func (s *Service) Available() error {
	if s == nil || s.enabled { // nil: the table of operations is described, not called
		return nil
	}
	return fault.New(fault.NotFound, "OpenAI's protocol is off on this server (protocols.openai)")
}

// named is the model's own name of a name in a request.
func (s *Service) named(name string) string {
	if of, ok := s.aliases[name]; ok {
		return of
	}
	return name
}

// embedderNamed finds the embedder that a call names.
func (s *Service) embedderNamed(name string) (port.Embedder, error) {
	id := s.named(name)
	var ids []string
	for _, m := range append([]port.Embedder{s.embedder}, s.embedders...) {
		if m == nil {
			continue
		}
		if m.Info().ID == id {
			return m, nil
		}
		ids = append(ids, m.Info().ID)
	}
	for alias, of := range s.aliases {
		if slices.Contains(ids, of) {
			ids = append(ids, alias)
		}
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return nil, fault.Off("this server has no embedding model: its role is off")
	}
	return nil, unknownModel(name, "is not an embedding model of this server; it has %s (an operator adds names under aliases)",
		quoted(ids))
}

// unknownModel is the fault of a model that there is not. OpenAI's clients expect 404.
func unknownModel(name, format string, args ...any) error {
	f := fault.Field(fault.NotFound, "model", "%q "+format, append([]any{fault.Clip(name)}, args...)...)
	return f
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return op.WithExamples(slices.Concat(modelOperations(), embeddingOperations(), storeOperations(),
		fileOperations(), storeFileOperations(), batchOperations()), examples())
}

const (
	readTime  = 5 * time.Second
	writeTime = 2 * time.Minute
	// uploadTime is that of an upload, which may wait for a place to read the file.
	uploadTime = 5 * time.Minute
)

func spec(name, method, path, summary string) op.Spec {
	return op.Spec{
		Name:     "openai." + name,
		Group:    op.ForOpenAI,
		Protocol: op.OpenAI,
		Method:   method,
		Path:     path,
		Class:    op.Read,
		Timeout:  readTime,
		Summary:  summary,
		Faults:   []fault.Code{fault.NotFound},
	}
}
