package key_test

import (
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
)

// The holder of a grant has the rights of the key's secret, and the same end.
func TestResolve(t *testing.T) {
	store, _ := open(t)
	now := newClock()
	s := key.New(key.Settings{Store: store, Now: now.now})
	k := issue(t, s, key.Issue{Namespace: "docs", ReadOnly: true, ExpiresAt: now.after(time.Hour)})
	admin := issue(t, s, key.Issue{Kind: ident.Admin})
	by := func(org ident.Org, id string, f op.Family) (ident.Principal, error) {
		return s.Resolve(t.Context(), org, id, f)
	}
	same, err := s.Verify(t.Context(), k.Secret, op.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := by(k.Org, k.ID, op.Namespace); err != nil || p.KeyID != same.KeyID || p.Namespace != "docs" ||
		!p.ReadOnly || p.OrgName != ident.DefaultOrg {
		t.Errorf("%+v, %v", p, err)
	}
	refused := func(what string, err error, code fault.Code) {
		t.Helper()
		if fault.CodeOf(err) != code {
			t.Errorf("%s: %v, want %s", what, err, code)
		}
	}
	_, err = by(k.Org, "key_absent", op.Namespace)
	refused("unknown", err, fault.Unauthorized)
	_, err = by("org_other", k.ID, op.Namespace)
	refused("another organization's", err, fault.Unauthorized)
	_, err = by(k.Org, k.ID, op.Memory)
	refused("another family", err, fault.Unauthorized)
	_, err = by(admin.Org, admin.ID, op.Namespace)
	refused("another kind", err, fault.Unauthorized)
	if err := s.Suspend(t.Context(), ident.DefaultOrg); err != nil {
		t.Fatal(err)
	}
	_, err = by(k.Org, k.ID, op.Namespace)
	refused("suspended", err, fault.Forbidden)
	if err := s.Resume(t.Context(), ident.DefaultOrg); err != nil {
		t.Fatal(err)
	}
	now.add(time.Hour)
	_, err = by(k.Org, k.ID, op.Namespace)
	refused("expired", err, fault.Unauthorized)

	other := issue(t, s, key.Issue{})
	if _, err := by(other.Org, other.ID, op.Namespace); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke(t.Context(), key.Ref{ID: other.ID}); err != nil {
		t.Fatal(err)
	}
	_, err = by(other.Org, other.ID, op.Namespace)
	refused("revoked", err, fault.Unauthorized)
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Find(t.Context(), key.Ref{ID: k.ID}); err != nil || found.LastUsedAt.IsZero() {
		t.Errorf("the use was not recorded: %+v, %v", found, err)
	}
	store.fail.Store(true)
	_, err = by(k.Org, k.ID, op.Namespace)
	refused("a store that fails", err, fault.Unavailable)
}
