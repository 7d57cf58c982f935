package namespace

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Service does the namespace operations.
type Service struct {
	store  port.Narrowed[reader, writer]
	pages  *page.Signer
	models Models
	drop   func(context.Context, port.Partition)
}

// reader and writer are what the service uses of the store.
type reader interface{ port.PartitionReader }

type writer interface {
	reader
	port.PartitionWriter
	port.GenerationWriter
}

// Models are the identities that a new namespace records, with the clock.
type Models struct {
	Embedding, Sparse *port.ModelInfo // nil: off
	Choices           ingest.Choices  // of embedders that a namespace may have in place of Embedding
	Chunker           string
	Now               func() time.Time
}

// WithConfiguredModels records the models and the time on a namespace about to be created,
// with the embedder that was chosen for it.
func (m Models) WithConfiguredModels(n port.PartitionRow) port.PartitionRow {
	n.Chunker = m.Chunker
	n.CreatedAt = m.Now().UTC().Truncate(time.Millisecond)
	n.UpdatedAt = n.CreatedAt
	embedding := m.Embedding
	if n.Embedder != "" {
		embedding = nil
		if chosen := m.Choices.Embedder(n.Embedder); chosen != nil {
			embedding = new(chosen.Info())
		}
	}
	if embedding != nil {
		n.EmbeddingModel, n.EmbeddingDigest, n.Dimensions = embedding.ID, embedding.Digest, embedding.Dimensions
	}
	if n.Sparse && m.Sparse != nil {
		n.SparseModel, n.SparseDigest = m.Sparse.ID, m.Sparse.Digest
	}
	return n
}

// New makes the service. drop forgets the derived data of a deleted namespace.
func New(store port.Store, pages *page.Signer, models Models, drop func(context.Context, port.Partition)) *Service {
	return &Service{
		store:  port.Narrow(store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		pages:  pages,
		models: models,
		drop:   drop,
	}
}

// CreateNamespace is the body of POST /namespaces.
type CreateNamespace struct {
	Name     string  `json:"name" schema:"NamespaceName"  example:"docs" doc:"name of the namespace"`
	Sparse   bool    `json:"sparse,omitempty" default:"false" doc:"whether the namespace has a learned-sparse index"`
	Language *string `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" default:"auto" doc:"language that keyword search takes its texts and queries for; auto: each chunk and query tells its own"`

	EmbeddingModel string `json:"embedding_model,omitempty" maxLength:"256" doc:"embedding model of its own, by the id that GET /models?kind=embedding lists; empty: the server's default, also when that changes"`
}

// NamespaceName lets a key limited to one namespace create only that one.
func (c *CreateNamespace) NamespaceName() string { return c.Name }

// Created answers POST /namespaces.
type Created struct {
	Name     string `json:"name" schema:"NamespaceName"`
	Sparse   bool   `json:"sparse"`
	Language string `json:"language" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi"`

	EmbeddingModel string `json:"embedding_model" doc:"model that makes its vectors; empty: it is off"`
}

// Create makes an empty namespace; it is idempotent and answers Conflict when
// the name exists with the other index, or another language or embedding model than the one
// asked for. InvalidRequest names the embedding models where there is none of the name.
func (s *Service) Create(ctx context.Context, in CreateNamespace) (Created, error) {
	who := ident.From(ctx)
	p := port.Documents(who.Org, in.Name)
	out := Created{Name: in.Name, Sparse: in.Sparse}
	embedder, err := s.models.Choices.Named("embedding_model", in.EmbeddingModel)
	if err != nil {
		return Created{}, err
	}
	err = s.store.Update(ctx, func(w writer) error {
		n, err := w.Partition(ctx, p)
		if fault.IsPartitionNotFound(err) {
			n = port.PartitionRow{Name: in.Name, Sparse: in.Sparse, Embedder: embedder}
			if in.Language != nil {
				n.Language = port.SaidLanguage(*in.Language)
			}
			n, err = w.CreatePartition(ctx, p, s.models.WithConfiguredModels(n))
		}
		if err != nil {
			return err
		}
		out.Language, out.EmbeddingModel = port.ShownLanguage(n.Language), n.EmbeddingModel
		if n.Sparse != in.Sparse {
			return fault.New(fault.Conflict,
				"namespace %q exists %s; it was asked for %s, and an index never changes after creation",
				in.Name, indexKind(n.Sparse), indexKind(in.Sparse))
		}
		if in.Language != nil && *in.Language != out.Language {
			return fault.New(fault.Conflict, "namespace %q exists with the language %s; it was asked for with %s, "+
				"which reindexing can give it", in.Name, out.Language, *in.Language)
		}
		if embedder != "" && embedder != n.Embedder {
			have := n.Embedder
			if have == "" {
				have = "that is the server's default"
			}
			return fault.New(fault.Conflict, "namespace %q exists with the embedding model %s; it was asked for with %s, "+
				"which reindexing can give it", in.Name, have, embedder)
		}
		return nil
	})
	if err != nil {
		return Created{}, err
	}
	return out, nil
}

func indexKind(sparse bool) string {
	if sparse {
		return "with a sparse index"
	}
	return "without a sparse index"
}

// ListNamespaces are the parameters of GET /namespaces.
type ListNamespaces struct {
	Limit  *int   `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; none for the first page"`
	Prefix string `query:"prefix" schema:"Text" doc:"only names that begin with it"`
}

// Namespace is a namespace as it is shown.
type Namespace struct {
	Name            string    `json:"name" schema:"NamespaceName"`
	Sparse          bool      `json:"sparse" doc:"whether it has a learned-sparse index"`
	Language        string    `json:"language" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" doc:"that keyword search takes its texts for; auto: each chunk and query tells its own"`
	Documents       int64     `json:"documents" minimum:"0"`
	Chunks          int64     `json:"chunks" minimum:"0"`
	Bytes           int64     `json:"bytes" minimum:"0" doc:"UTF-8 bytes of the documents' texts"`
	EmbeddingModel  string    `json:"embedding_model" doc:"model of its vectors"`
	EmbeddingDigest string    `json:"embedding_digest" doc:"identity of that model"`
	ModelChosen     bool      `json:"embedding_model_chosen" doc:"whether that model was chosen for it; false: it has the server's default"`
	SparseModel     *string   `json:"sparse_model" doc:"model of its sparse vectors; null: it has none"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at" doc:"of the last change of a document"`
}

// Page answers GET /namespaces.
type Page struct {
	Namespaces []Namespace `json:"namespaces"`
	NextCursor *string     `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

func describe(n port.PartitionRow) Namespace {
	out := Namespace{n.Name, n.Sparse, port.ShownLanguage(n.Language), n.Documents, n.Chunks, n.Bytes,
		n.EmbeddingModel, n.EmbeddingDigest, n.Embedder != "", nil,
		n.CreatedAt.UTC(), n.UpdatedAt.UTC()}
	if n.SparseModel != "" {
		out.SparseModel = &n.SparseModel
	}
	return out
}

// List pages through the namespaces that hold documents, by name.
func (s *Service) List(ctx context.Context, in ListNamespaces) (Page, error) {
	who := ident.From(ctx)
	bind := []string{"namespaces", string(who.Org), in.Prefix}
	after, limit := "", page.Limit(in.Limit)
	if err := s.pages.Open(in.Cursor, &after, bind...); err != nil {
		return Page{}, err
	}
	out := Page{Namespaces: []Namespace{}}
	err := s.store.View(ctx, func(r reader) error {
		if who.Namespace != "" { // a limited key sees its own only
			if in.Cursor != "" || !hasPrefix(who.Namespace, in.Prefix) {
				return nil
			}
			n, err := r.Partition(ctx, port.Documents(who.Org, who.Namespace))
			if fault.IsPartitionNotFound(err) || err == nil && n.Documents == 0 {
				return nil
			}
			out.Namespaces = append(out.Namespaces, describe(n))
			return err
		}
		list, err := r.Namespaces(ctx, who.Org, in.Prefix, after, limit+1)
		if err != nil {
			return err
		}
		if len(list) > limit {
			list = list[:limit]
			next := s.pages.Seal(list[limit-1].Name, bind...)
			out.NextCursor = &next
		}
		for _, n := range list {
			out.Namespaces = append(out.Namespaces, describe(n))
		}
		return nil
	})
	return out, err
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// Ref addresses one namespace.
type Ref struct {
	Namespace string `path:"namespace" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
}

// NamespaceName is for keys limited to one namespace.
func (r *Ref) NamespaceName() string { return r.Namespace }

// Get reads one namespace; NamespaceNotFound while it holds no documents.
func (s *Service) Get(ctx context.Context, in Ref) (Namespace, error) {
	who := ident.From(ctx)
	var out Namespace
	err := s.store.View(ctx, func(r reader) error {
		n, err := r.Partition(ctx, port.Documents(who.Org, in.Namespace))
		if err != nil {
			return err
		}
		if n.Documents == 0 {
			return fault.New(fault.NamespaceNotFound, "namespace %q holds no documents", in.Namespace)
		}
		out = describe(n)
		return nil
	})
	return out, err
}

// Deleted answers DELETE /namespaces/{namespace}.
type Deleted struct {
	Deleted bool `json:"deleted" doc:"false: there was no such namespace"`
}

// Delete removes a namespace and every document in it. An absent one answers
// false, so the call is safe to repeat.
func (s *Service) Delete(ctx context.Context, in Ref) (Deleted, error) {
	who := ident.From(ctx)
	p := port.Documents(who.Org, in.Namespace)
	var out Deleted
	var gone port.Partition
	err := s.store.Update(ctx, func(w writer) error {
		out.Deleted = false
		n, err := w.Partition(ctx, p)
		if fault.IsPartitionNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		gone = p.At(n.Generation)
		out.Deleted, err = w.DeletePartition(ctx, gone)
		return err
	})
	if err == nil && out.Deleted {
		s.drop(context.WithoutCancel(ctx), gone)
	}
	return out, err
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	const ns = "/namespaces/{namespace}"
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "namespaces.create",
			Group:   op.Namespaces,
			Method:  "POST",
			Path:    "/namespaces",
			Class:   op.Write,
			Mutates: true,
			MaxBody: 64 << 10,
			Timeout: 30 * time.Second,
			Summary: "Create a namespace",
			Description: "Needed only for a namespace with a sparse index, of one language, or with an embedding model of " +
				"its own; otherwise the first write creates it. Idempotent.",
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidNamespace, fault.Conflict,
				fault.QuotaExceeded},
		}, (*Service).Create),
		op.Define(op.Spec{
			Name:    "namespaces.list",
			Group:   op.Namespaces,
			Method:  "GET",
			Path:    "/namespaces",
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "List the namespaces that hold documents",
			Faults:  []fault.Code{fault.InvalidRequest, fault.InvalidCursor},
		}, (*Service).List),
		op.Define(op.Spec{
			Name:    "namespaces.get",
			Group:   op.Namespaces,
			Method:  "GET",
			Path:    ns,
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "Read a namespace",
			Faults:  []fault.Code{fault.InvalidNamespace, fault.NamespaceNotFound},
		}, (*Service).Get),
		op.Define(op.Spec{
			Name:    "namespaces.delete",
			Group:   op.Namespaces,
			Method:  "DELETE",
			Path:    ns,
			Class:   op.Write,
			Mutates: true,
			Timeout: 120 * time.Second,
			Summary: "Delete a namespace and every document in it",
			Faults:  []fault.Code{fault.InvalidNamespace},
		}, (*Service).Delete),
	}, examples()), links())
}
