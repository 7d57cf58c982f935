package query_test

import (
	"context"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// house is the service of queries with the writer beside it, over a real store and
// index.
type house struct {
	*coretest.Fixture
	t         *testing.T
	ctx       context.Context
	documents *document.Service
	queries   *query.Service
}

// newHouse makes a house whose settings are changed by change, unless it is nil.
func newHouse(t *testing.T, o coretest.Options, change func(*query.Settings)) *house {
	t.Helper()
	f := coretest.New(t, o)
	queries := services.Queries(f, func(s *query.Settings) {
		s.Reranking = retrieve.Reranking{} // the reranker alone, unless a test says otherwise
		if change != nil {
			change(s)
		}
	})
	return &house{Fixture: f, t: t, ctx: f.Caller(key.Issue{}), documents: services.Documents(f), queries: queries}
}

// text is a document without metadata.
func text(id, text string) document.Input { return document.Input{ID: id, Text: &text} }

func (h *house) write(namespace string, docs ...document.Input) {
	h.t.Helper()
	if _, err := coretest.Call(h.ctx, h.documents.Write,
		document.WriteDocuments{Namespace: namespace, Documents: docs}); err != nil {
		h.t.Fatalf("write: %v", err)
	}
}

func (h *house) delete(namespace string, ids ...string) {
	h.t.Helper()
	if _, err := coretest.Call(h.ctx, h.documents.Delete, document.DeleteDocuments{Namespace: namespace, IDs: &ids}); err != nil {
		h.t.Fatalf("delete: %v", err)
	}
}

// query asks as the transports do.
func (h *house) query(q query.Request) (query.Result, error) {
	return coretest.Call(h.ctx, h.queries.Query, q)
}

// ask asks with a body as callers write it.
func (h *house) ask(namespace string, body coretest.Object) *coretest.Reply {
	h.t.Helper()
	return coretest.Ask(h.ctx, h.t, h.queries.Query, body, func(q *query.Request) { q.Namespace = namespace })
}

// sparse makes a namespace with a learned-sparse index.
func (h *house) sparse(name string) {
	h.t.Helper()
	namespaces := namespace.New(h.Store, h.Pages, h.Models, h.Projector.Drop)
	if _, err := coretest.Call(h.ctx, namespaces.Create, namespace.CreateNamespace{Name: name, Sparse: true}); err != nil {
		h.t.Fatalf("create namespace %s: %v", name, err)
	}
}
