package tool_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/tool"
)

// object is a JSON object.
type object = coretest.Object

// bench is the service of tools over the services that it works with, over a real
// store and index.
type bench struct {
	*coretest.Fixture
	t         *testing.T
	ctx       context.Context
	documents *document.Service
	tools     *tool.Service
}

// newBench makes a bench with a reranker; nil: none.
func newBench(t *testing.T, reranker port.Reranker) *bench {
	t.Helper()
	f := coretest.New(t, coretest.Options{})
	documents := services.Documents(f)
	return &bench{f, t, f.Caller(key.Issue{}), documents, tool.New(tool.Settings{
		Namespaces: namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop),
		Documents:  documents,
		Queries: query.New(query.Settings{
			Store:     f.Store,
			Searcher:  f.Searcher,
			Encoders:  f.Encoders,
			Reranker:  reranker,
			Reranking: retrieve.Reranking{Floor: retrieve.NoFloor, Depth: 40}, // the reranker alone
			Log:       f.Log,
		}),
	})}
}

// write writes documents of these texts, by id.
func (b *bench) write(namespace string, texts map[string]string) {
	b.t.Helper()
	var in []document.Input
	for id, text := range texts {
		in = append(in, document.Input{ID: id, Text: &text})
	}
	if _, err := coretest.Call(b.ctx, b.documents.Write,
		document.WriteDocuments{Namespace: namespace, Documents: in}); err != nil {
		b.t.Fatalf("write: %v", err)
	}
}

func (b *bench) delete(namespace string, ids ...string) {
	b.t.Helper()
	if _, err := coretest.Call(b.ctx, b.documents.Delete, document.DeleteDocuments{Namespace: namespace, IDs: &ids}); err != nil {
		b.t.Fatalf("delete: %v", err)
	}
}

// The tools, called with arguments as JSON has them and what a connection adds.
func (b *bench) search(c tool.Connection, args object) *coretest.Reply {
	b.t.Helper()
	return coretest.Ask(b.ctx, b.t, b.tools.Search, args, func(in *tool.Search) { in.Connection = c })
}

func (b *bench) fetch(c tool.Connection, args object) *coretest.Reply {
	b.t.Helper()
	return coretest.Ask(b.ctx, b.t, b.tools.Fetch, args, func(in *tool.Fetch) { in.Connection = c })
}

func (b *bench) save(c tool.Connection, args object) *coretest.Reply {
	b.t.Helper()
	return coretest.Ask(b.ctx, b.t, b.tools.Save, args, func(in *tool.Save) { in.Connection = c })
}

func (b *bench) remove(c tool.Connection, ids ...string) *coretest.Reply {
	b.t.Helper()
	return coretest.Ask(b.ctx, b.t, b.tools.Delete, object{"ids": ids}, func(in *tool.Delete) { in.Connection = c })
}

// as is the bench seen by another caller.
func (b *bench) as(in key.Issue) *bench {
	other := *b
	other.ctx = b.Caller(in)
	return &other
}

// refused checks that a call fails with exactly these words.
func refused(t *testing.T, what string, r *coretest.Reply, says string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(r.Err, &f) || f.Error() != says {
		t.Errorf("%s: %v, want %s", what, r.Err, says)
	}
}
