package namespace_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// catalog is a namespace service as the engine makes it, with the services that fill
// and search namespaces, seen by one caller.
type catalog struct {
	*coretest.Fixture
	t          testing.TB
	ctx        context.Context
	namespaces *namespace.Service
	documents  *document.Service
	queries    *query.Service
	dropped    []port.Partition // whose derived data the service had forgotten
}

func open(t testing.TB, o coretest.Options) *catalog {
	t.Helper()
	f := coretest.New(t, o)
	c := &catalog{Fixture: f, t: t, ctx: f.Caller(key.Issue{})}
	c.namespaces = namespace.New(f.Store, f.Pages, f.Models, c.forget)
	c.documents = services.Documents(f)
	c.queries = services.Queries(f, nil)
	return c
}

// forget drops what was derived from a namespace, as the engine does, and notes it.
func (c *catalog) forget(ctx context.Context, p port.Partition) {
	if err := ctx.Err(); err != nil {
		c.t.Errorf("%s is forgotten while %v", p, err)
	}
	c.dropped = append(c.dropped, p)
	c.Projector.Drop(ctx, p)
}

// as is the same catalog seen by another caller.
func (c *catalog) as(ctx context.Context) *catalog {
	other := *c
	other.ctx = ctx
	return &other
}

func (c *catalog) create(body coretest.Object) *coretest.Reply {
	c.t.Helper()
	return coretest.Ask(c.ctx, c.t, c.namespaces.Create, body)
}

func (c *catalog) get(ns string) *coretest.Reply {
	c.t.Helper()
	return coretest.Ask(c.ctx, c.t, c.namespaces.Get, coretest.Object{}, func(in *namespace.Ref) { in.Namespace = ns })
}

func (c *catalog) remove(ns string) *coretest.Reply {
	c.t.Helper()
	return coretest.Ask(c.ctx, c.t, c.namespaces.Delete, coretest.Object{}, func(in *namespace.Ref) { in.Namespace = ns })
}

func (c *catalog) list(set ...func(*namespace.ListNamespaces)) *coretest.Reply {
	c.t.Helper()
	return coretest.Ask(c.ctx, c.t, c.namespaces.List, coretest.Object{}, set...)
}

// page chooses what to list: at most limit names with a prefix, after a cursor.
func page(limit int, prefix, cursor string) func(*namespace.ListNamespaces) {
	return func(in *namespace.ListNamespaces) { in.Limit, in.Prefix, in.Cursor = &limit, prefix, cursor }
}

// names lists every name at once.
func (c *catalog) names() []string {
	c.t.Helper()
	return coretest.Column(c.list().OK().List("namespaces"), "name")
}

// write stores a document.
func (c *catalog) write(ns, id, text string) *coretest.Reply {
	c.t.Helper()
	return coretest.Ask(c.ctx, c.t, c.documents.Write,
		coretest.Object{"documents": []coretest.Object{{"id": id, "text": text}}},
		func(in *document.WriteDocuments) { in.Namespace = ns }).OK()
}

// empty deletes documents.
func (c *catalog) empty(ns string, ids ...string) *coretest.Reply {
	c.t.Helper()
	return coretest.Ask(c.ctx, c.t, c.documents.Delete, coretest.Object{"ids": ids},
		func(in *document.DeleteDocuments) { in.Namespace = ns }).OK()
}

func (c *catalog) query(ns, text string) *coretest.Reply {
	c.t.Helper()
	return coretest.Ask(c.ctx, c.t, c.queries.Query, coretest.Object{"query": text},
		func(in *query.Request) { in.Namespace = ns })
}

// absent checks that no call finds anything in a namespace.
func (c *catalog) absent(ns string) {
	c.t.Helper()
	c.get(ns).Fails("namespace_not_found", strconv.Quote(ns))
	c.query(ns, "x").Fails("namespace_not_found", ns)
	coretest.Ask(c.ctx, c.t, c.documents.List, coretest.Object{},
		func(in *document.ListDocuments) { in.Namespace = ns }).Fails("namespace_not_found", ns)
	coretest.Ask(c.ctx, c.t, c.documents.Get, coretest.Object{},
		func(in *document.GetDocument) { in.Namespace, in.ID = ns, "a" }).Fails("namespace_not_found", ns)
	for _, listed := range c.names() {
		if listed == ns {
			c.t.Errorf("%s is listed", ns)
		}
	}
}
