package key_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
)

func principal(t testing.TB, s *key.Service, secret string, family op.Family) ident.Principal {
	t.Helper()
	p, err := s.Verify(t.Context(), secret, family)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestIntegrationKeys(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now})
	small := &ident.Quotas{MemoriesPerEndUser: 5, ReadRatePerMin: 6, WriteRatePerMin: 0}
	chat := issue(t, s, key.Issue{Kind: ident.Integration, Integration: "chat", Quotas: small})
	again := issue(t, s, key.Issue{
		Kind:        ident.Integration,
		Integration: "chat",
		Quotas:      small,
		Scopes:      []ident.Scope{ident.UsersErase, ident.MemoriesRead, ident.UsersErase},
	})
	byID := issue(t, s, key.Issue{Kind: ident.Integration, Integration: chat.Integration,
		Scopes: []ident.Scope{ident.StatusRead}})
	own := issue(t, s, key.Issue{Kind: ident.Integration, Name: "app"})
	unnamed := issue(t, s, key.Issue{Kind: ident.Integration, Name: "not a name of an integration"})
	personal := issue(t, s, key.Issue{Kind: ident.Personal, Integration: "chat", EndUser: "ann@example.org"})

	if again.Integration != chat.Integration || byID.Integration != chat.Integration ||
		personal.Integration != chat.Integration ||
		own.Integration == chat.Integration || own.IntegrationName != "app" || unnamed.IntegrationName != unnamed.Integration {
		t.Errorf("integrations %s %s %s %s (%s), %s (%s)", chat.Integration, again.Integration, personal.Integration,
			own.Integration, own.IntegrationName,
			unnamed.Integration, unnamed.IntegrationName)
	}
	for _, x := range []struct {
		name   string
		issued key.Issued
		scopes []ident.Scope
		quotas ident.Quotas
		user   string
	}{
		{"default scopes", chat, []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite, ident.StatusRead}, *small, ""},
		{"named scopes", again, []ident.Scope{ident.MemoriesRead, ident.UsersErase, ident.StatusRead}, *small, ""},
		{"status alone", byID, []ident.Scope{ident.StatusRead}, *small, ""},
		{"default quotas", own, []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite, ident.StatusRead},
			ident.DefaultQuotas(), ""},
		{"personal", personal, []ident.Scope{ident.MemoriesRead, ident.MemoriesWrite, ident.StatusRead}, *small,
			"ann@example.org"},
	} {
		p := principal(t, s, x.issued.Secret, op.Memory)
		if !slices.Equal(p.Scopes, x.scopes) || p.Quotas != x.quotas || p.EndUser != x.user ||
			p.Integration != x.issued.Integration || p.RateKey() != p.Integration {
			t.Errorf("%s: %+v", x.name, p)
		}
	}
	list, err := s.Integrations(t.Context(), ident.DefaultOrg)
	if err != nil || len(list) != 3 {
		t.Errorf("%+v, %v", list, err)
	}

	// The organization bounds names: another one's chat is another integration.
	if _, err := s.CreateOrganization(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Issue(t.Context(), key.Issue{
		Org:         "acme",
		Kind:        ident.Personal,
		Integration: "chat",
		EndUser:     "ann",
	}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a personal key of another organization's integration: %v", err)
	}
	if _, err := s.Issue(t.Context(), key.Issue{Org: "acme", Kind: ident.Integration,
		Integration: chat.Integration}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a key of another organization's integration by id: %v", err)
	}
	if other := issue(t, s, key.Issue{Org: "acme", Kind: ident.Integration,
		Integration: "chat"}); other.Integration == chat.Integration {
		t.Error("two organizations share an integration")
	}
}

func TestIssueRefusesWhatTheKindDoesNotHave(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	issue(t, s, key.Issue{Kind: ident.Integration, Integration: "chat"})
	read := []ident.Scope{ident.MemoriesRead}
	for _, x := range []struct {
		name  string
		in    key.Issue
		code  fault.Code
		field string
	}{
		{"scopes of a service key", key.Issue{Scopes: read}, fault.InvalidRequest, "scopes"},
		{"scopes of an admin key", key.Issue{Kind: ident.Admin, Scopes: []ident.Scope{ident.AllOrganizations}},
			fault.InvalidRequest, "scopes"},
		{"scopes of a personal key", key.Issue{
			Kind:        ident.Personal,
			Integration: "chat",
			EndUser:     "ann",
			Scopes:      read,
		}, fault.InvalidRequest, "scopes"},
		{"no scope at all", key.Issue{Kind: ident.Integration, Scopes: []ident.Scope{}}, fault.InvalidRequest, "scopes"},
		{"an unknown scope", key.Issue{Kind: ident.Integration, Scopes: []ident.Scope{"memories:all"}},
			fault.InvalidRequest, "scopes"},
		{"all organizations as a scope",
			key.Issue{Kind: ident.Integration, Scopes: []ident.Scope{ident.AllOrganizations}}, fault.InvalidRequest, "scopes"},
		{"recall without reading", key.Issue{Kind: ident.Integration,
			Scopes: []ident.Scope{ident.RecallRead, ident.MemoriesWrite}}, fault.InvalidRequest, "scopes"},
		{"all organizations of a service key", key.Issue{AllOrganizations: true}, fault.InvalidRequest, "all_organizations"},
		{"a read-only integration key", key.Issue{Kind: ident.Integration, ReadOnly: true}, fault.InvalidRequest, "read_only"},
		{"a namespace of an admin key", key.Issue{Kind: ident.Admin, Namespace: "docs"}, fault.InvalidRequest, "namespace"},
		{"no namespace of an integration key", key.Issue{Kind: ident.Integration, Namespace: "A B"}, fault.InvalidNamespace,
			"namespace"},
		{"a default namespace of an integration key", key.Issue{Kind: ident.Integration, DefaultNamespace: "docs"},
			fault.InvalidRequest, "default_namespace"},
		{"a default namespace of an admin key", key.Issue{Kind: ident.Admin, DefaultNamespace: "docs"},
			fault.InvalidRequest, "default_namespace"},
		{"limits of a team key", key.Issue{Kind: ident.Team, Limits: map[string]ident.Rate{"read": {PerMinute: 1}}},
			fault.InvalidRequest, "limits.read"},
		{"another family's limits", key.Issue{Limits: map[string]ident.Rate{"memory_read": {PerMinute: 1}}},
			fault.InvalidRequest, "limits.memory_read"},
		{"an integration of a service key", key.Issue{Integration: "chat"}, fault.InvalidRequest, "integration"},
		{"an end user of an integration key", key.Issue{Kind: ident.Integration, EndUser: "ann"}, fault.InvalidRequest,
			"end_user_id"},
		{"a personal key of no integration", key.Issue{Kind: ident.Personal, EndUser: "ann"}, fault.InvalidRequest,
			"integration"},
		{"a personal key of nobody", key.Issue{Kind: ident.Personal, Integration: "chat"}, fault.InvalidEndUserID, "end_user_id"},
		{"a personal key of no id", key.Issue{Kind: ident.Personal, Integration: "chat", EndUser: "a:b"},
			fault.InvalidEndUserID, "end_user_id"},
		{"quotas of a personal key", key.Issue{
			Kind:        ident.Personal,
			Integration: "chat",
			EndUser:     "ann",
			Quotas:      &ident.Quotas{},
		}, fault.InvalidRequest, "quotas"},
		{"a negative quota", key.Issue{Kind: ident.Integration, Quotas: &ident.Quotas{WriteRatePerMin: -1}},
			fault.InvalidRequest, "quotas.write_rate_per_min"},
		{"a huge quota", key.Issue{Kind: ident.Integration, Quotas: &ident.Quotas{MemoriesPerEndUser: 1 << 40}},
			fault.InvalidRequest, "quotas.memories_per_end_user"},
		{"a name like an id", key.Issue{Kind: ident.Integration, Integration: "int_mine"}, fault.InvalidRequest, "integration"},
		{"a name that is none", key.Issue{Kind: ident.Integration, Integration: "a/b"}, fault.InvalidRequest, "integration"},
	} {
		_, err := s.Issue(t.Context(), x.in)
		if fault.CodeOf(err) != x.code || fault.From(err).Details["field"] != x.field {
			t.Errorf("%s: %v %v, want %s of %s", x.name, err, fault.From(err).Details, x.code, x.field)
		}
	}
	// Those that need a look at the store first.
	for name, in := range map[string]key.Issue{
		"other quotas than it has": {Kind: ident.Integration, Integration: "chat", Quotas: &ident.Quotas{}},
		"a name that is taken":     {Kind: ident.Integration, Name: "chat"},
	} {
		if _, err := s.Issue(t.Context(), in); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Issue(t.Context(), key.Issue{Kind: ident.Personal, Integration: "none",
		EndUser: "ann"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a personal key of an unknown integration: %v", err)
	}
	keys, err1 := s.List(t.Context(), "")
	integrations, err2 := s.Integrations(t.Context(), "")
	if err1 != nil || err2 != nil || len(keys) != 1 || len(integrations) != 1 {
		t.Errorf("refused keys left %d keys, %d integrations; %v %v", len(keys), len(integrations), err1, err2)
	}
}

func TestChangeIntegration(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	here, there := key.New(key.Settings{Store: store, Now: c.now}), key.New(key.Settings{Store: store, Now: c.now})
	chat := issue(t, here, key.Issue{Kind: ident.Integration, Integration: "chat"})
	issue(t, here, key.Issue{Kind: ident.Integration, Integration: "app"})
	quota := func(s *key.Service) int { return principal(t, s, chat.Secret, op.Memory).Quotas.MemoriesPerEndUser }
	if quota(here) != 10_000 || quota(there) != 10_000 {
		t.Fatal("not the default quota")
	}
	i, err := here.ChangeIntegration(t.Context(), "", "chat",
		key.IntegrationChange{MemoriesPerEndUser: new(7), Name: new("assistant")})
	if err != nil || i.Name != "assistant" ||
		i.Quotas != (ident.Quotas{MemoriesPerEndUser: 7, ReadRatePerMin: 6000, WriteRatePerMin: 6000}) {
		t.Errorf("%+v, %v", i, err)
	}
	if got := quota(here); got != 7 {
		t.Errorf("where it was changed the quota is %d", got)
	}
	c.add(500 * time.Millisecond)
	if got := quota(there); got != 7 {
		t.Errorf("elsewhere the quota is %d after 500 ms", got)
	}
	for name, x := range map[string]struct {
		ref  string
		c    key.IntegrationChange
		code fault.Code
	}{
		"gone name":     {"chat", key.IntegrationChange{}, fault.NotFound},
		"taken name":    {"assistant", key.IntegrationChange{Name: new("app")}, fault.Conflict},
		"no name":       {"assistant", key.IntegrationChange{Name: new("")}, fault.InvalidRequest},
		"negative rate": {"assistant", key.IntegrationChange{ReadRatePerMin: new(-1)}, fault.InvalidRequest},
	} {
		if _, err := here.ChangeIntegration(t.Context(), "", x.ref, x.c); fault.CodeOf(err) != x.code {
			t.Errorf("%s: %v, want %s", name, err, x.code)
		}
	}
	if got, err := here.Integration(t.Context(), "", chat.Integration); err != nil || got.Name != "assistant" ||
		got.Quotas.MemoriesPerEndUser != 7 || got.GrantsRequired {
		t.Errorf("refused changes left %+v, %v", got, err)
	}
	if principal(t, here, chat.Secret, op.Memory).GrantsRequired {
		t.Error("grants are required that nobody asked for")
	}
	for _, required := range []bool{true, false} {
		i, err := here.ChangeIntegration(t.Context(), "", "assistant", key.IntegrationChange{GrantsRequired: &required})
		if got := principal(t, here, chat.Secret, op.Memory).GrantsRequired; err != nil || i.GrantsRequired != required ||
			got != required || i.Quotas.MemoriesPerEndUser != 7 {
			t.Errorf("grants required %t: %+v, verified as %t, %v", required, i, got, err)
		}
	}
	made, err := here.CreateIntegration(t.Context(), "", "strict", key.IntegrationChange{GrantsRequired: new(true)})
	if err != nil || !made.GrantsRequired || made.Quotas != ident.DefaultQuotas() {
		t.Errorf("made %+v, %v", made, err)
	}
}

func TestRotate(t *testing.T) {
	store, _ := open(t)
	c := newClock()
	s := key.New(key.Settings{Store: store, Now: c.now})
	find := func(id string) key.Info {
		t.Helper()
		k, err := s.Find(t.Context(), key.Ref{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	rotate := func(id string, r key.Rotation) key.Issued {
		t.Helper()
		k, err := s.Rotate(t.Context(), key.Ref{ID: id}, r)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	const overlap = time.Hour
	at := c.now()
	for _, x := range []struct {
		name             string
		life             time.Duration // of the old key; 0: for ever
		r                key.Rotation
		oldEnds, newEnds time.Time // zero: never
	}{
		{"one without end", 0, key.Rotation{Overlap: overlap}, at.Add(overlap), time.Time{}},
		{"one made for a month", 720 * time.Hour, key.Rotation{Overlap: overlap}, at.Add(overlap), at.Add(720 * time.Hour)},
		{"one that ends before the overlap", time.Minute, key.Rotation{Overlap: overlap}, at.Add(time.Minute),
			at.Add(time.Minute)},
		{"with an end of its own", 0, key.Rotation{Overlap: overlap, ExpiresAt: at.Add(5 * overlap)}, at.Add(overlap),
			at.Add(5 * overlap)},
	} {
		in := key.Issue{Name: "laptop", Namespace: "docs", ReadOnly: true, Limits: map[string]ident.Rate{"read": {PerMinute: 5}}}
		if x.life > 0 {
			in.ExpiresAt = at.Add(x.life)
		}
		old := issue(t, s, in)
		fresh := rotate(old.ID, x.r)
		if got := find(old.ID); !got.ExpiresAt.Equal(x.oldEnds) || got.State(c.now()) != "live" {
			t.Errorf("%s: the old key is %s until %v, want %v", x.name, got.State(c.now()), got.ExpiresAt, x.oldEnds)
		}
		if got := find(fresh.ID); !got.ExpiresAt.Equal(x.newEnds) || got.Name != "laptop" || got.ID == old.ID {
			t.Errorf("%s: the new key %+v, want its end at %v", x.name, got, x.newEnds)
		}
		before, after := principal(t, s, old.Secret, op.Namespace), principal(t, s, fresh.Secret, op.Namespace)
		if after.Namespace != "docs" || !after.ReadOnly || after.Limits["read"].PerMinute != 5 ||
			after.Org != before.Org || after.KeyID == before.KeyID {
			t.Errorf("%s: the new key may %+v, the old one %+v", x.name, after, before)
		}
	}

	old := issue(t, s, key.Issue{Kind: ident.Integration, Integration: "chat", Scopes: ident.Scopes()})
	fresh := rotate(old.ID, key.Rotation{})
	if _, err := s.Verify(t.Context(), old.Secret, op.Memory); fault.CodeOf(err) != fault.Unauthorized ||
		find(old.ID).State(c.now()) != "revoked" {
		t.Errorf("without an overlap the old key gives %v", err)
	}
	if p := principal(t, s, fresh.Secret, op.Memory); p.Integration != old.Integration ||
		!slices.Equal(p.Scopes, ident.Scopes()) || !strings.HasPrefix(fresh.Secret, "cint_") {
		t.Errorf("the new key may %+v", p)
	}

	suspended := issue(t, s, key.Issue{})
	expired := issue(t, s, key.Issue{ExpiresAt: c.after(time.Second)})
	c.add(time.Second)
	for name, x := range map[string]struct {
		id   string
		r    key.Rotation
		code fault.Code
	}{
		"a revoked key":      {old.ID, key.Rotation{}, fault.Conflict},
		"an expired key":     {expired.ID, key.Rotation{}, fault.Conflict},
		"an unknown key":     {"key_none", key.Rotation{}, fault.NotFound},
		"a negative overlap": {fresh.ID, key.Rotation{Overlap: -1}, fault.InvalidRequest},
		"a long overlap":     {fresh.ID, key.Rotation{Overlap: key.MaxOverlap + 1}, fault.InvalidRequest},
		"a past end":         {fresh.ID, key.Rotation{ExpiresAt: c.now()}, fault.InvalidRequest},
	} {
		if _, err := s.Rotate(t.Context(), key.Ref{ID: x.id}, x.r); fault.CodeOf(err) != x.code {
			t.Errorf("%s: %v, want %s", name, err, x.code)
		}
	}
	if err := s.Suspend(t.Context(), ident.DefaultOrg); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rotate(t.Context(), key.Ref{ID: suspended.ID}, key.Rotation{}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("a suspended organization's key: %v", err)
	}
}

// A store that fails half-way leaves neither two keys nor none.
func TestRotationIsWhole(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	old := issue(t, s, key.Issue{})
	store.fail.Store(true)
	if _, err := s.Rotate(t.Context(), key.Ref{ID: old.ID}, key.Rotation{}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	store.fail.Store(false)
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) != 1 || verify(t, s, old.Secret) != "" {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestChange(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	service := issue(t, s, key.Issue{Namespace: "docs", DefaultNamespace: "docs",
		Limits: map[string]ident.Rate{"read": {PerMinute: 5}}})
	chat := issue(t, s, key.Issue{Kind: ident.Integration, Integration: "chat"})
	change := func(id string, c key.Change) error {
		_, err := s.Change(t.Context(), key.Ref{ID: id}, c)
		return err
	}
	verify(t, s, service.Secret) // into the cache
	if err := change(service.ID, key.Change{Name: new("desk"), ReadOnly: new(true)}); err != nil {
		t.Fatal(err)
	}
	if p := principal(t, s, service.Secret, op.Namespace); !p.ReadOnly || p.Limits["read"].PerMinute != 5 ||
		p.DefaultNamespace != "docs" {
		t.Errorf("changed to %+v", p)
	}
	if err := change(service.ID, key.Change{DefaultNamespace: new(""), Limits: map[string]ident.Rate{}}); err != nil {
		t.Fatal(err)
	}
	if p := principal(t, s, service.Secret, op.Namespace); !p.ReadOnly || len(p.Limits) != 0 ||
		p.DefaultNamespace != "" || p.Namespace != "docs" {
		t.Errorf("changed to %+v", p)
	}
	if err := change(chat.ID, key.Change{Limits: map[string]ident.Rate{"memory_read": {PerMinute: 3}}}); err != nil {
		t.Error(err)
	}
	for name, x := range map[string]struct {
		id   string
		c    key.Change
		code fault.Code
	}{
		"unknown key":           {"key_none", key.Change{}, fault.NotFound},
		"a long name":           {service.ID, key.Change{Name: new(strings.Repeat("a", 129))}, fault.InvalidRequest},
		"outside the namespace": {service.ID, key.Change{DefaultNamespace: new("other")}, fault.InvalidRequest},
		"no namespace":          {service.ID, key.Change{DefaultNamespace: new("No")}, fault.InvalidNamespace},
		"another family's limits": {service.ID, key.Change{Limits: map[string]ident.Rate{"memory_read": {}}},
			fault.InvalidRequest},
		"an integration key read-only": {chat.ID, key.Change{ReadOnly: new(true)}, fault.InvalidRequest},
		"an integration key's space":   {chat.ID, key.Change{DefaultNamespace: new("docs")}, fault.InvalidRequest},
	} {
		if err := change(x.id, x.c); fault.CodeOf(err) != x.code {
			t.Errorf("%s: %v, want %s", name, err, x.code)
		}
	}
}

func TestAllOrganizations(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	great, plain := issue(t, s, key.Issue{Kind: ident.Admin, AllOrganizations: true}), issue(t, s, key.Issue{Kind: ident.Admin})
	if err := s.Suspend(t.Context(), ident.DefaultOrg); err != nil {
		t.Fatal(err)
	}
	if p := principal(t, s, great.Secret, op.Administration); !p.AllOrganizations() || !p.Administers("org_other") ||
		!great.AllOrganizations() {
		t.Errorf("the key of all organizations is %+v", p)
	}
	if _, err := s.Verify(t.Context(), plain.Secret, op.Administration); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("an admin key of a suspended organization: %v", err)
	}
	if err := s.Resume(t.Context(), ident.DefaultOrg); err != nil {
		t.Fatal(err)
	}
	if p := principal(t, s, plain.Secret, op.Administration); p.AllOrganizations() || p.Administers("org_other") ||
		!p.Administers(plain.Org) {
		t.Errorf("an organization's key is %+v", p)
	}
}

// A key of the memory API may name a namespace, which its principal has; its prefix says which
// family of tools it gives.
func TestNamespaceOfAMemoryKey(t *testing.T) {
	store, _ := open(t)
	s := key.New(key.Settings{Store: store})
	app := issue(t, s, key.Issue{Kind: ident.Integration, Integration: "chat", Namespace: "docs"})
	ann := issue(t, s, key.Issue{Kind: ident.Personal, Integration: "chat", EndUser: "ann", Namespace: "docs"})
	for _, k := range []key.Issued{app, ann} {
		if p := principal(t, s, k.Secret, key.FamilyOf(k.Secret)); p.Namespace != "docs" || p.DefaultNamespace != "" {
			t.Errorf("%s: %+v", k.Kind, p)
		}
	}
	for secret, want := range map[string]op.Family{app.Secret: op.Memory, ann.Secret: op.Memory, "sk-service-x": op.Namespace,
		"adm-x": op.Namespace, "": op.Namespace} {
		if got := key.FamilyOf(secret); got != want {
			t.Errorf("%q is of family %v", secret, got)
		}
	}
}
