package admin_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/admin"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/organization"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// console is an admin service as the engine makes it, with the services whose data it
// administers.
type console struct {
	*coretest.Fixture
	*testing.T
	*admin.Service
	memories   *memory.Service
	documents  *document.Service
	namespaces *namespace.Service
	operator   context.Context // administers all organizations
	own        context.Context // administers "default"
	other      context.Context // administers "acme"
	ahead      *atomic.Int64   // how far the clock of the services is ahead of the time of the start
}

func openConsole(t *testing.T, o coretest.Options) *console {
	t.Helper()
	ahead, start := &atomic.Int64{}, time.Now()
	o.Now = func() time.Time { return start.Add(time.Duration(ahead.Load())) }
	f := coretest.New(t, o)
	c := &console{Fixture: f, T: t, ahead: ahead}
	c.memories, c.documents = services.Memories(f, nil), services.Documents(f)
	services.Running(t, c.memories)
	c.namespaces = namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)
	// A test whose fixture has another model stands for an installation before its
	// models were exchanged.
	encoder := &ingest.Encoder{Embedder: coretest.NewEmbedder(), Options: chunk.Default()}
	configured := ingest.NewEncoders(encoder, ingest.Previous{})
	c.Service = admin.New(admin.Settings{
		Keys:  f.Keys,
		Store: f.Store,
		Pages: f.Pages,
		Erase: func(ctx context.Context, p port.Partition) (admin.Erasure, error) {
			e, err := c.memories.Erase(ctx, p.Org(), p.Integration(), p.Name())
			return admin.Erasure{Removed: e.Erased, Verified: e.VerifiedAbsent, At: e.At}, err
		},
		Reindex: reindex.New(reindex.Settings{
			Store:      f.Store,
			Jobs:       f.Jobs,
			Namespaces: c.documents,
			EndUsers:   c.memories,
			Encoders:   configured,
			Projector:  f.Projector,
			Log:        f.Log,
		}),
		Jobs: f.Jobs,
		Transfers: datasets.New(datasets.Settings{
			Store:                f.Store,
			Changes:              f.Changes,
			Encoders:             f.Encoders,
			WithConfiguredModels: f.Models.WithConfiguredModels,
			Program:              "test",
			Now:                  f.Now,
			Log:                  f.Log,
		}),
		Organizations: organization.New(organization.Settings{
			Store: f.Store,
			Keys:  f.Keys,
			Jobs:  f.Jobs,
			Erase: func(ctx context.Context, p port.Partition) (port.Erased, error) {
				e, err := c.memories.Erase(ctx, p.Org(), p.Integration(), p.Name())
				return e.Erased, err
			},
			Drop:  f.Projector.Drop,
			Clean: func(context.Context) error { return nil },
			Now:   f.Now,
		}),
		Now: f.Now,
	})
	c.operator = f.Caller(key.Issue{Kind: ident.Admin, AllOrganizations: true, Name: "operator"})
	c.own = f.Caller(key.Issue{Kind: ident.Admin, Name: "own"})
	c.other = f.Caller(key.Issue{Kind: ident.Admin, Org: "acme", Name: "other"})
	return c
}

// forward puts the clock forward.
func (c *console) forward(by time.Duration) { c.ahead.Add(int64(by)) }

// in names an organization in a path.
func in(org string) admin.OrganizationRef { return admin.OrganizationRef{Org: org} }

// integrated names an integration in a path.
func integrated(org, integration string) admin.IntegrationRef {
	return admin.IntegrationRef{OrganizationRef: in(org), Integration: integration}
}

// upTo asks for a page of so many, after a cursor.
func upTo(limit int, cursor string) admin.Listing {
	return admin.Listing{Limit: &limit, Cursor: cursor}
}

// does calls a service, which has to succeed.
func does[In, Out any](ctx context.Context, t testing.TB, fn func(context.Context, In) (Out, error), in In) Out {
	t.Helper()
	out, err := coretest.Call(ctx, fn, in)
	if err != nil {
		t.Fatalf("%T: %v", in, err)
	}
	return out
}

// refuses calls a service, which has to fail with a code and a message that holds words.
func refuses[In, Out any](ctx context.Context, t testing.TB, fn func(context.Context, In) (Out, error), in In,
	code fault.Code, words ...string) {
	t.Helper()
	out, err := coretest.Call(ctx, fn, in)
	if fault.CodeOf(err) != code {
		t.Errorf("%+v: %+v, %v, want %s", in, out, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%+v: %v does not name %q", in, err, w)
		}
	}
}

// paged joins the pages of a list, which page gives with the cursor of the next.
func paged[Row any](t testing.TB, size int, page func(admin.Listing) ([]Row, *string)) (all []Row) {
	t.Helper()
	for cursor := ""; ; {
		some, next := page(upTo(size, cursor))
		if len(some) > size || next != nil && len(some) < size {
			t.Fatalf("a page of %d has %d rows, and the next cursor %v", size, len(some), next)
		}
		all = append(all, some...)
		if next == nil {
			return all
		}
		cursor = *next
	}
}

// app is an integration of an organization, which keeps memories.
type app struct {
	*console
	ctx context.Context
}

func (c *console) app(org, name string) app {
	c.Helper()
	return app{c, c.Caller(key.Issue{
		Org:         org,
		Name:        name,
		Kind:        ident.Integration,
		Integration: name,
		Scopes:      ident.Scopes(),
		Quotas:      &ident.Quotas{},
	})}
}

// remember saves memories of an end user in a container; "": none.
func (a app) remember(user, container string, contents ...string) {
	a.Helper()
	for len(contents) > 0 {
		n := min(len(contents), 100)
		items := make([]coretest.Object, n)
		for i, content := range contents[:n] {
			if items[i] = (coretest.Object{"content": content}); container != "" {
				items[i]["containerTag"] = container
			}
		}
		r := coretest.Ask(a.ctx, a.T, a.memories.Batch, coretest.Object{"endUserId": user, "memories": items}).OK()
		if r.JSON["success"] != true {
			a.Fatalf("save: %s", r.Body)
		}
		contents = contents[n:]
	}
}

// version writes a version of a source-owned memory.
func (a app) version(user, id string, version int, content string) {
	a.Helper()
	coretest.Ask(a.ctx, a.T, a.memories.Upsert, coretest.Object{"endUserId": user, "source": "crm", "version": version,
		"content": content, "occurredAt": "2026-01-02T03:04:05Z"}, func(in *memory.Upsert) { in.ExternalID = id }).OK()
}

// names lists the end users of the default organization.
func (c *console) names() string {
	c.Helper()
	var out []string
	for _, u := range does(c.operator, c.T, c.ListEndUsers, admin.ListEndUsers{OrganizationRef: in("default")}).EndUsers {
		out = append(out, fmt.Sprint(u.IntegrationName, "/", u.ID))
	}
	return strings.Join(out, " ")
}

// write stores a document of the default organization.
func (c *console) write(ctx context.Context, ns, id, text string) {
	c.Helper()
	coretest.Ask(ctx, c.T, c.documents.Write, coretest.Object{"documents": []coretest.Object{{"id": id, "text": text}}},
		func(in *document.WriteDocuments) { in.Namespace = ns }).OK()
}
