package coretest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
)

// TestAFixtureServesAndKeepsWhatItStores makes a namespace through its service, as
// callers of two organizations, and opens the folder again.
func TestAFixtureServesAndKeepsWhatItStores(t *testing.T) {
	f := coretest.New(t, coretest.Options{})
	namespaces := namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)
	ctx, other := f.Caller(key.Issue{}), f.Caller(key.Issue{Org: "other"})
	if a, b := ident.From(ctx), ident.From(other); a.OrgName != ident.DefaultOrg || b.OrgName != "other" || a.Org == b.Org {
		t.Errorf("callers: %+v, %+v", a, b)
	}
	if who := ident.From(f.Integration("app")); who.Kind != ident.Integration || who.Integration == "" ||
		who.Quotas != (ident.Quotas{}) {
		t.Errorf("integration: %+v", who)
	}
	if _, err := coretest.Call(ctx, namespaces.Create, namespace.CreateNamespace{Name: "docs"}); err != nil {
		t.Fatal(err)
	}
	if _, err := coretest.Call(ctx, namespaces.Create,
		namespace.CreateNamespace{Name: "no name"}); fault.CodeOf(err) != fault.InvalidNamespace {
		t.Errorf("a name that its request refuses: %v", err)
	}
	f.Close()

	f = coretest.New(t, coretest.Options{Dir: f.Dir})
	p := port.Documents(ident.From(ctx).Org, "docs")
	err := f.Store.View(ctx, func(r port.Reader) error {
		n, err := r.Partition(ctx, p)
		if n.EmbeddingDigest != f.Embedder.Digest {
			t.Errorf("the namespace records the model %q", n.EmbeddingDigest)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestHooksFailWhatTheyStandBefore also tells a call's writes from others.
func TestHooksFailWhatTheyStandBefore(t *testing.T) {
	f := coretest.New(t, coretest.Options{})
	ctx, background := f.Caller(key.Issue{}), context.Background()
	broken := errors.New("broken")
	update := func(ctx context.Context) error {
		return f.Store.Update(ctx, func(port.Writer) error { return nil })
	}
	f.Store.FailUpdates(1, broken)
	for i, want := range []error{nil, broken, broken} {
		if err := update(ctx); !errors.Is(err, want) {
			t.Errorf("update %d of a call: %v, want %v", i, err, want)
		}
	}
	if err := update(background); err != nil {
		t.Errorf("an update of no call: %v", err)
	}
	f.Store.OnUpdate.Clear()
	if err := update(ctx); err != nil {
		t.Errorf("without the hook: %v", err)
	}
	f.Index.OnDrop.Set(func() error { return broken })
	if err := f.Index.Drop(ctx, port.Documents("org", "docs")); !errors.Is(err, broken) {
		t.Errorf("drop: %v", err)
	}
}
