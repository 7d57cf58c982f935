package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/namespace"
)

// Connection holds what the connection adds to a call's arguments.
type Connection struct {
	Pinned string `query:"namespace" json:"-" fault:"invalid_namespace"`
	Header string `header:"X-Mneme-Namespace" json:"-" fault:"invalid_namespace"`
	Host   string `header:"Host" json:"-"` // host and port that the caller used
}

// Namespaces searched at most when a call names none.
const maxSearched = 20

// namespaceOf is the namespace that a call names: by its argument, the connection, or
// the key; "": none. It fails for a name that is none, and for one that the key
// may not touch.
func (c Connection) namespaceOf(ctx context.Context, argument string) (string, error) {
	who := ident.From(ctx)
	for _, from := range []struct{ what, name string }{
		{"namespace", argument}, {"?namespace= of the connection's URL", c.Pinned}, {"header X-Mneme-Namespace", c.Header},
		{"the key's namespace", who.Namespace}, {"the key's default namespace", who.DefaultNamespace},
	} {
		if from.name == "" {
			continue
		}
		if !ident.ValidNamespace(from.name) {
			return "", fault.Field(fault.InvalidNamespace, from.what, ident.NamespaceRule)
		}
		return from.name, checkAllowed(who, from.name)
	}
	return "", nil
}

func checkAllowed(who ident.Principal, name string) error {
	if who.Namespace != "" && name != who.Namespace {
		return fault.New(fault.Forbidden, "this key is limited to namespace %q", who.Namespace)
	}
	return nil
}

// listNamespaces lists namespaces that hold documents, up to limit; more says that there
// are others.
func (s *Service) listNamespaces(ctx context.Context, limit int) (names []string, more bool, err error) {
	page, err := s.Namespaces.List(ctx, namespace.ListNamespaces{Limit: &limit})
	if err != nil {
		return nil, false, err
	}
	for _, n := range page.Namespaces {
		names = append(names, n.Name)
	}
	return names, page.NextCursor != nil, nil
}

// writeTarget is the one namespace that a call changes. It is never guessed.
func (s *Service) writeTarget(ctx context.Context, c Connection, argument string) (string, error) {
	name, err := c.namespaceOf(ctx, argument)
	if name != "" || err != nil {
		return name, err
	}
	names, more, err := s.listNamespaces(ctx, maxSearched)
	switch {
	case err != nil:
		return "", err
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", fault.Field(fault.InvalidRequest, "namespace",
			"is required: no namespace holds documents yet; name the one to make")
	}
	return "", fault.Field(fault.InvalidRequest, "namespace", "is required, since there are several: %s", joinNames(names, more))
}

// searchedNamespaces are the namespaces that a search reads.
func (s *Service) searchedNamespaces(ctx context.Context, c Connection, argument string) ([]string, error) {
	name, err := c.namespaceOf(ctx, argument)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return []string{name}, nil
	}
	names, more, err := s.listNamespaces(ctx, maxSearched)
	switch {
	case err != nil:
		return nil, err
	case more:
		return nil, fault.Field(fault.InvalidRequest, "namespace", "is required, since there are more than %d: %s",
			maxSearched, joinNames(names, more))
	case len(names) == 0:
		return nil, fault.New(fault.NamespaceNotFound, "no namespace holds documents yet")
	}
	return names, nil
}

func joinNames(names []string, more bool) string {
	s := strings.Join(names, ", ")
	if more {
		s += " and others; list_namespaces lists all"
	}
	return s
}

// handle is a document's address.
type handle struct{ namespace, id string }

func (h handle) String() string { return h.namespace + "/" + h.id }

// parseHandle reads namespace/document_id, or a bare id, which leaves the namespace "".
func parseHandle(field, s string) (handle, error) {
	name, id, full := strings.Cut(s, "/")
	if !full {
		name, id = "", s
	}
	if full && !ident.ValidNamespace(name) || !ident.ValidDocumentID(id) {
		return handle{}, fault.Field(fault.InvalidID, field,
			"%q is not a document's id, namespace/document_id as search gives it", fault.Clip(s))
	}
	return handle{name, id}, nil
}

// locate completes a handle with the namespace of the connection or the key. A
// bare id without one is refused.
func (c Connection) locate(ctx context.Context, field, s string) (handle, error) {
	h, err := parseHandle(field, s)
	if err != nil {
		return h, err
	}
	name, err := c.namespaceOf(ctx, h.namespace)
	if err == nil && name == "" {
		err = fault.Field(fault.InvalidID, field, "%q lacks its namespace: give namespace/document_id as search gives it", h.id)
	}
	return handle{name, h.id}, err
}

// link is where a document is read over HTTP.
func (s *Service) link(c Connection, h handle) string {
	base := s.BaseURL
	if base == "" {
		base = "http://" + c.Host
	}
	return fmt.Sprintf("%s/namespaces/%s/documents/%s", base, h.namespace, h.id)
}
