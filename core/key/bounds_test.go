package key_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds are taken themselves, and one beyond them is refused.
func TestBounds(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	const rate = 100_000_000
	for i, r := range []ident.Rate{{}, {PerMinute: rate, Burst: rate}} {
		issue(t, s, key.Issue{Limits: map[string]ident.Rate{"read": r}})
		issue(t, s, key.Issue{Kind: ident.Integration, Integration: fmt.Sprintf("app-%d", i),
			Quotas: &ident.Quotas{MemoriesPerEndUser: 1_000_000_000 * i, ReadRatePerMin: r.PerMinute,
				WriteRatePerMin: r.PerMinute}})
	}
	for _, r := range []ident.Rate{{PerMinute: rate + 1}, {Burst: rate + 1}, {PerMinute: -1}, {Burst: -1}} {
		_, err := s.Issue(t.Context(), key.Issue{Limits: map[string]ident.Rate{"read": r}})
		if fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%+v: %v", r, err)
		}
	}
	long := strings.Repeat("n", 64)
	if o, err := s.CreateOrganization(t.Context(), long); err != nil || o.Name != long {
		t.Errorf("a name of 64: %v", err)
	}
	if _, err := s.CreateOrganization(t.Context(), long+"n"); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a name of 65: %v", err)
	}
	k := issue(t, s, key.Issue{})
	if _, err := s.Rotate(t.Context(), key.Ref{ID: k.ID}, key.Rotation{Overlap: key.MaxOverlap}); err != nil {
		t.Errorf("the longest overlap: %v", err)
	}
	for _, d := range []time.Duration{key.MaxOverlap + 1, -1} {
		_, err := s.Rotate(t.Context(), key.Ref{ID: k.ID}, key.Rotation{Overlap: d})
		if fault.CodeOf(err) != fault.InvalidRequest || !strings.Contains(fault.From(err).Message, "0-2160 hours") {
			t.Errorf("overlap %s: %v", d, err)
		}
	}
}

// An organization is renamed to a name that is one, and the default keeps its own.
func TestRenamingAnOrganization(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	if _, err := s.EnsureDefault(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	rename := func(org, name string) (port.Organization, error) {
		return s.ChangeOrganization(t.Context(), org, key.OrganizationChange{Name: &name})
	}
	if o, err := rename("acme", "acme-2"); err != nil || o.Name != "acme-2" {
		t.Errorf("renamed: %+v, %v", o, err)
	}
	if o, err := rename(ident.DefaultOrg, ident.DefaultOrg); err != nil || o.Name != ident.DefaultOrg {
		t.Errorf("the same name: %+v, %v", o, err)
	}
	for _, x := range []struct {
		org, name string
		want      fault.Code
	}{
		{"acme-2", "org_x", fault.InvalidRequest}, {"acme-2", "", fault.InvalidRequest},
		{ident.DefaultOrg, "other", fault.InvalidRequest}, {"acme", "other", fault.NotFound},
		{"acme-2", ident.DefaultOrg, fault.Conflict},
	} {
		if _, err := rename(x.org, x.name); fault.CodeOf(err) != x.want {
			t.Errorf("%s to %q: %v, want %s", x.org, x.name, err, x.want)
		}
	}
	again, err := s.EnsureDefault(t.Context())
	if err != nil || again.Name != ident.DefaultOrg {
		t.Errorf("the default: %+v, %v", again, err)
	}
}

// A page of keys is of one organization, and a store that fails says so.
func TestPageOfKeys(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	mine := issue(t, s, key.Issue{})
	if _, err := s.CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	issue(t, s, key.Issue{Org: "acme"})
	page, err := s.Page(t.Context(), ident.DefaultOrg, port.KeyList{Limit: 10})
	if err != nil || len(page) != 1 || page[0].ID != mine.ID {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := s.Page(t.Context(), "none", port.KeyList{Limit: 10}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("of none: %v", err)
	}
	store.fail.Store(true)
	if _, err := s.EnsureDefault(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("the default without a store: %v", err)
	}
}
