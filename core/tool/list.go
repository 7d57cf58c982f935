package tool

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
)

// ListNamespaces are the arguments of list_namespaces.
type ListNamespaces struct {
	Prefix string `json:"prefix,omitempty"`
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the page before"`
}

// Validate checks the prefix.
func (in *ListNamespaces) Validate() error {
	l := namespace.ListNamespaces{Prefix: in.Prefix}
	return op.Check(&l)
}

// Namespaces answers list_namespaces.
type Namespaces struct {
	Namespaces []Namespace `json:"namespaces"`
	NextCursor *string     `json:"next_cursor"`
}

// Namespace is a namespace that holds documents.
type Namespace struct {
	Name           string    `json:"name"`
	Documents      int64     `json:"documents"`
	Sparse         bool      `json:"sparse"`
	EmbeddingModel string    `json:"embedding_model"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// ListNamespaces lists a page of namespaces by name.
func (s *Service) ListNamespaces(ctx context.Context, in ListNamespaces) (Namespaces, error) {
	page, err := s.Namespaces.List(ctx, namespace.ListNamespaces{Prefix: in.Prefix, Cursor: in.Cursor})
	if err != nil {
		return Namespaces{}, err
	}
	out := Namespaces{Namespaces: make([]Namespace, len(page.Namespaces)), NextCursor: page.NextCursor}
	for i, n := range page.Namespaces {
		out.Namespaces[i] = Namespace{n.Name, n.Documents, n.Sparse, n.EmbeddingModel, n.UpdatedAt}
	}
	return out, nil
}
