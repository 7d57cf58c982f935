package admin_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
)

// described are the fields of a key.
var described = []string{"id", "organization_id", "name", "kind", "prefix", "last_four", "read_only", "namespace",
	"source", "default_namespace", "scopes", "integration", "integration_name", "end_user_id", "limits", "created_by",
	"created_at", "last_used_at", "expires_at", "revoked_at", "state"}

// ofAcme names a key of organization acme.
func ofAcme(id string) admin.KeyRef { return admin.KeyRef{OrganizationRef: in("acme"), ID: id} }

// opens reports whether a secret opens a family of routes, and as whom.
func (c *console) opens(secret string, family op.Family) (ident.Principal, fault.Code) {
	who, err := c.Keys.Verify(context.Background(), secret, family)
	return who, fault.CodeOf(err)
}

func (c *console) keys(ctx context.Context, org string) []string {
	c.Helper()
	var ids []string
	for _, k := range does(ctx, c.T, c.ListKeys, admin.ListKeys{OrganizationRef: in(org)}).Keys {
		ids = append(ids, k.ID)
	}
	return ids
}

func TestKeyIsMade(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	ends := c.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	r := coretest.Ask(c.other, t, c.CreateKey, coretest.Object{"name": "laptop", "read_only": true, "namespace": "docs",
		"default_namespace": "docs", "limits": coretest.Object{"read": coretest.Object{"per_minute": 60, "burst": 5}},
		"expires_at": ends}, func(k *admin.CreateKey) { k.Org = "acme" }).OK()
	coretest.Fields(t, "a new key", r.JSON, append([]string{"secret"}, described...)...)
	secret, id := r.JSON["secret"].(string), r.JSON["id"].(string)
	if r.Header["Cache-Control"] != "no-store" {
		t.Errorf("a secret may be cached: %v", r.Header)
	}
	if r.JSON["prefix"] != "sk-service-" || !strings.HasPrefix(secret, "sk-service-") ||
		!strings.HasSuffix(secret, r.JSON["last_four"].(string)) || r.JSON["expires_at"] != ends.Format(time.RFC3339) ||
		r.JSON["state"] != "live" || fmt.Sprint(r.JSON["limits"]) != "map[read:map[burst:5 per_minute:60]]" ||
		r.JSON["last_used_at"] != nil || r.JSON["revoked_at"] != nil || r.JSON["integration"] != nil ||
		r.JSON["end_user_id"] != nil || r.JSON["kind"] != "service" || r.JSON["read_only"] != true ||
		r.JSON["created_by"] != ident.From(c.other).KeyID || r.JSON["organization_id"] != string(ident.From(c.other).Org) {
		t.Errorf("made %s", r.Body)
	}
	who, code := c.opens(secret, op.Namespace)
	if code != "" || who.KeyID != id || !who.ReadOnly || who.Namespace != "docs" || who.DefaultNamespace != "docs" ||
		who.Limits["read"] != (ident.Rate{PerMinute: 60, Burst: 5}) || !who.ExpiresAt.Equal(ends) {
		t.Errorf("the secret opens as %+v, %s", who, code)
	}
	listed := coretest.Ask(c.other, t, c.ListKeys, coretest.Object{}, func(l *admin.ListKeys) { l.Org = "acme" }).OK()
	if strings.Contains(string(listed.Body), secret[11:30]) {
		t.Error("the list shows a secret")
	}
	if got := coretest.Column(listed.List("keys"), "id"); len(got) != 2 || !slices.Contains(got, id) {
		t.Fatalf("listed %v", got)
	}
	one := coretest.Ask(c.other, t, c.GetKey, coretest.Object{}, func(k *admin.KeyRef) { *k = ofAcme(id) }).OK()
	coretest.Fields(t, "a key", one.JSON, described...)
	// Without anything it is a service key of everything.
	plain := does(c.other, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme")})
	if plain.Kind != "service" || plain.ReadOnly || plain.Namespace != nil || plain.ExpiresAt != nil || plain.Limits == nil ||
		len(plain.Limits) != 0 || plain.Scopes == nil {
		t.Errorf("a plain key is %+v", plain)
	}
}

func TestKeyIsRefused(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	before := c.keys(c.other, "acme")
	limit := func(class string, perMinute *int) map[string]admin.RateChange {
		return map[string]admin.RateChange{class: {PerMinute: perMinute}}
	}
	for word, k := range map[string]admin.CreateKey{
		"kind":                 {Kind: new("root")},
		"integrations":         {Kind: new("integration")},
		"integration and":      {Kind: new("personal")},
		"namespace":            {Kind: new("admin"), Namespace: new("docs")},
		"default_namespace":    {Kind: new("admin"), DefaultNamespace: new("docs")},
		"source is not for":    {Kind: new("admin"), Source: new("src_1")},
		"source is no source":  {Source: new("src_1")},
		"expires_at":           {ExpiresAt: new(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))},
		"default_namespace is": {Namespace: new("a"), DefaultNamespace: new("b")},
		"limits.all":           {Limits: limit("all", new(1))},
		"limits.read":          {Limits: limit("read", nil)},
		"read_only":            {Kind: new("team"), ReadOnly: true},
		"name":                 {Name: "a\nb"},
		"128":                  {Name: strings.Repeat("a", 129)},
	} {
		k.Org = "acme"
		refuses(c.other, t, c.CreateKey, k, "invalid_request", strings.Fields(word)[0])
	}
	refuses(c.other, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme"), Namespace: new("No")}, "invalid_namespace")
	refuses(c.own, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme")}, "not_found", "acme")
	if got := c.keys(c.other, "acme"); !slices.Equal(got, before) {
		t.Errorf("refused keys were made: %v", got)
	}
}

func TestKeyIsChanged(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	made := does(c.other, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme"), Name: "laptop", ReadOnly: true,
		Namespace: new("docs"), DefaultNamespace: new("docs"), Limits: map[string]admin.RateChange{"read": {PerMinute: new(60)}}})
	change := func(k admin.ChangeKey) admin.ChangeKey { k.KeyRef = ofAcme(made.ID); return k }
	c.opens(made.Secret, op.Namespace) // known from now on
	does(c.other, t, c.ChangeKey, change(admin.ChangeKey{ReadOnly: new(false), Name: new("desk"),
		Limits: map[string]admin.RateChange{}}))
	got := does(c.other, t, c.GetKey, ofAcme(made.ID))
	if got.Name != "desk" || got.ReadOnly || len(got.Limits) != 0 || *got.DefaultNamespace != "docs" || *got.Namespace != "docs" {
		t.Errorf("changed to %+v", got)
	}
	if who, code := c.opens(made.Secret, op.Namespace); code != "" || who.ReadOnly || len(who.Limits) != 0 {
		t.Errorf("the change does not hold at once: %+v, %s", who, code)
	}
	got = does(c.other, t, c.ChangeKey,
		change(admin.ChangeKey{Limits: map[string]admin.RateChange{"write": {PerMinute: new(60), Burst: 1}}}))
	if fmt.Sprint(got.Limits) != "map[write:{60 1}]" {
		t.Errorf("limits %v", got.Limits)
	}
	if got := does(c.other, t, c.ChangeKey, change(admin.ChangeKey{DefaultNamespace: new("")})); got.DefaultNamespace != nil {
		t.Errorf("the default namespace stays: %+v", got)
	}
	for word, k := range map[string]admin.ChangeKey{
		"nothing":     {},
		"docs":        {DefaultNamespace: new("other")},
		"memory_read": {Limits: map[string]admin.RateChange{"memory_read": {PerMinute: new(1)}}},
		"limits.read": {Limits: map[string]admin.RateChange{"read": {PerMinute: new(-1)}}},
		"name":        {Name: new("a\nb")},
	} {
		refuses(c.other, t, c.ChangeKey, change(k), "invalid_request", word)
	}
	refuses(c.other, t, c.ChangeKey, change(admin.ChangeKey{DefaultNamespace: new("No")}), "invalid_namespace")
	refuses(c.other, t, c.ChangeKey, admin.ChangeKey{KeyRef: ofAcme("key_none"), Name: new("x")}, "not_found", "key_none")
	refuses(c.own, t, c.ChangeKey, change(admin.ChangeKey{Name: new("mine")}), "not_found", "acme")
}

// TestKeyIsRotated: both secrets work, then the old one ends; the new one has the same
// rights and as long a life.
func TestKeyIsRotated(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	ends := c.Now().Add(48 * time.Hour)
	made := does(c.other, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme"), Name: "desk", Namespace: new("docs"),
		ExpiresAt: &ends})
	rotate := func(id string, overlap *int64) admin.RotateKey {
		return admin.RotateKey{KeyRef: ofAcme(id), OverlapSeconds: overlap}
	}
	turned := does(c.other, t, c.RotateKey, rotate(made.ID, new(int64(3600))))
	if turned.CreatedBy == nil || *turned.CreatedBy != ident.From(c.other).KeyID {
		t.Errorf("made by %v", turned.CreatedBy)
	}
	if turned.ID == made.ID || turned.Name != "desk" || *turned.Namespace != "docs" || turned.State != "live" ||
		turned.ExpiresAt.Sub(ends).Abs() > time.Second {
		t.Errorf("rotated to %+v", turned)
	}
	works := func(secret string, want fault.Code) {
		t.Helper()
		if _, code := c.opens(secret, op.Namespace); code != want {
			t.Errorf("a secret opens with %q, want %q", code, want)
		}
	}
	works(made.Secret, "")
	works(turned.Secret, "")
	c.forward(time.Hour)
	works(made.Secret, "unauthorized")
	works(turned.Secret, "")
	refuses(c.other, t, c.RotateKey, rotate(made.ID, nil), "conflict", "expired")
	if got := does(c.other, t, c.GetKey, ofAcme(made.ID)); got.State != "expired" {
		t.Errorf("the old key is %+v", got)
	}
	last := does(c.other, t, c.RotateKey, rotate(turned.ID, new(int64(0))))
	works(turned.Secret, "unauthorized")
	works(last.Secret, "")
	// The default overlap is a day.
	does(c.other, t, c.RotateKey, rotate(last.ID, nil))
	if got := does(c.other, t, c.GetKey, ofAcme(last.ID)); got.ExpiresAt.Sub(c.Now().Add(24*time.Hour)).Abs() > time.Second {
		t.Errorf("the rotated key ends at %v", got.ExpiresAt)
	}
	for _, n := range []int64{-1, 7776001} {
		refuses(c.other, t, c.RotateKey, rotate(last.ID, &n), "invalid_request", "overlap_seconds")
	}
	// The new one may be given another end.
	later := c.Now().Add(time.Minute)
	again := does(c.other, t, c.RotateKey, admin.RotateKey{KeyRef: ofAcme(last.ID), ExpiresAt: &later})
	if again.ExpiresAt.Sub(later).Abs() > time.Second {
		t.Errorf("the new key ends at %v, want %v", again.ExpiresAt, later)
	}

	// Revocation is safe to repeat.
	for _, want := range []bool{true, false} {
		if r := does(c.other, t, c.RevokeKey, ofAcme(last.ID)); r.Revoked != want {
			t.Errorf("revoked: %+v, want %t", r, want)
		}
		works(last.Secret, "unauthorized")
	}
	if got := does(c.other, t, c.GetKey, ofAcme(last.ID)); got.State != "revoked" || got.RevokedAt == nil {
		t.Errorf("a revoked key shows as %+v", got)
	}
	refuses(c.other, t, c.RotateKey, rotate(last.ID, nil), "conflict", "revoked")
	refuses(c.other, t, c.RevokeKey, ofAcme("key_none"), "not_found", "key_none")
	refuses(c.own, t, c.RevokeKey, ofAcme(again.ID), "not_found", "acme")
	works(again.Secret, "")
}

// TestKeysAreListed by creation, whatever the size of a page.
func TestKeysAreListed(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	want := c.keys(c.other, "acme")
	for i := range 6 {
		c.forward(time.Second)
		want = append(want, does(c.other, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme"), Name: fmt.Sprint(i)}).ID)
	}
	c.keysAre(c.other, want)
	does(c.own, t, c.CreateIntegration, admin.CreateIntegration{OrganizationRef: in("default"), Name: "chat"})
	cursor := *does(c.operator, t, c.ListKeys, admin.ListKeys{OrganizationRef: in("acme"), Listing: upTo(1, "")}).NextCursor
	refuses(c.operator, t, c.ListKeys, admin.ListKeys{OrganizationRef: in("default"), Listing: upTo(1, cursor)}, "invalid_cursor")
	refuses(c.operator, t, c.ListIntegrationKeys,
		admin.ListIntegrationKeys{IntegrationRef: integrated("default", "chat"), Listing: upTo(1, cursor)}, "invalid_cursor")
	refuses(c.own, t, c.ListKeys, admin.ListKeys{OrganizationRef: in("acme")}, "not_found", "acme")
}

// keysAre checks that acme's keys are listed in an order, in pages of every size.
func (c *console) keysAre(ctx context.Context, want []string) {
	c.Helper()
	for size := 1; size <= len(want)+1; size++ {
		var got []string
		for _, k := range paged(c.T, size, func(l admin.Listing) ([]admin.Key, *string) {
			page := does(ctx, c.T, c.ListKeys, admin.ListKeys{OrganizationRef: in("acme"), Listing: l})
			return page.Keys, page.NextCursor
		}) {
			got = append(got, k.ID)
		}
		if !slices.Equal(got, want) {
			c.Errorf("pages of %d list %v, want %v", size, got, want)
		}
	}
}

// TestKeysOfAllOrganizationsAreOutOfReach: such a key belongs to one organization, whose
// administrators must not get at it.
func TestKeysOfAllOrganizationsAreOutOfReach(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	all := c.keys(c.other, "acme")
	var great []string
	var secret string  // of the first of them
	for i := range 8 { // in between, so that pages would show gaps
		c.forward(time.Second)
		var id string
		if i%3 == 0 {
			id = does(c.other, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme")}).ID
			all = append(all, id)
		} else {
			issued, err := c.Keys.Issue(context.Background(), key.Issue{Org: "acme", Kind: ident.Admin, AllOrganizations: true})
			if err != nil {
				t.Fatal(err)
			}
			if great = append(great, issued.ID); len(great) == 1 {
				secret = issued.Secret
			}
		}
	}
	c.keysAre(c.other, all)
	if got := c.keys(c.operator, "acme"); len(got) != len(all)+len(great) || !slices.Contains(got, great[0]) {
		t.Errorf("the operator sees %v", got)
	}
	one := ofAcme(great[0])
	refuses(c.other, t, c.GetKey, one, "not_found", one.ID)
	refuses(c.other, t, c.ChangeKey, admin.ChangeKey{KeyRef: one, Name: new("mine")}, "not_found", one.ID)
	refuses(c.other, t, c.RotateKey, admin.RotateKey{KeyRef: one}, "not_found", one.ID)
	refuses(c.other, t, c.RevokeKey, one, "not_found", one.ID)
	if got := does(c.operator, t, c.GetKey, one); got.State != "live" || got.Name == "mine" {
		t.Errorf("the operator reads %+v", got)
	}
	// Neither can make one.
	for _, ctx := range []context.Context{c.other, c.operator} {
		made := does(ctx, t, c.CreateKey, admin.CreateKey{OrganizationRef: in("acme"), Kind: new("admin")})
		if who, code := c.opens(made.Secret, op.Administration); code != "" || who.AllOrganizations() {
			t.Errorf("made %+v, %s", who, code)
		}
	}
	// A rotated one still is one.
	again := does(c.operator, t, c.RotateKey, admin.RotateKey{KeyRef: one, OverlapSeconds: new(int64(0))})
	if who, code := c.opens(again.Secret, op.Administration); code != "" || !who.AllOrganizations() {
		t.Errorf("rotated to %+v, %s", who, code)
	}
	if _, code := c.opens(secret, op.Administration); code != "unauthorized" {
		t.Errorf("the old one opens with %q", code)
	}
}

func TestIntegrationKeys(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat := does(c.other, t, c.CreateIntegration, admin.CreateIntegration{OrganizationRef: in("acme"), Name: "chat"})
	does(c.other, t, c.CreateIntegration, admin.CreateIntegration{OrganizationRef: in("acme"), Name: "app"})
	create := func(of string, k admin.CreateIntegrationKey) admin.CreateIntegrationKey {
		k.IntegrationRef = integrated("acme", of)
		return k
	}
	issued := does(c.other, t, c.CreateIntegrationKey, create("chat",
		admin.CreateIntegrationKey{Name: "backend", Scopes: []string{"users:erase", "memories:read"},
			Limits: map[string]admin.RateChange{"recall": {PerMinute: new(7)}}}))
	if *issued.Integration != chat.ID || *issued.IntegrationName != "chat" || issued.Kind != "integration" ||
		issued.Name != "backend" || fmt.Sprint(issued.Scopes) != "[memories:read users:erase]" ||
		!strings.HasPrefix(issued.Secret, "cint_") || fmt.Sprint(issued.Limits) != "map[recall:{7 0}]" {
		t.Errorf("issued %+v", issued)
	}
	if who, code := c.opens(issued.Secret, op.Memory); code != "" || who.Integration != chat.ID {
		t.Errorf("opens as %+v, %s", who, code)
	}
	standard := does(c.other, t, c.CreateIntegrationKey, create(chat.ID, admin.CreateIntegrationKey{}))
	if fmt.Sprint(standard.Scopes) != "[memories:read memories:write]" || standard.Kind != "integration" ||
		standard.EndUser != nil {
		t.Errorf("a plain key is %+v", standard)
	}
	personal := does(c.other, t, c.CreateIntegrationKey,
		create("chat", admin.CreateIntegrationKey{Kind: new("personal"), EndUser: new("ann")}))
	if *personal.EndUser != "ann" || personal.Kind != "personal" || !strings.HasPrefix(personal.Secret, "cmem_") {
		t.Errorf("a personal key is %+v", personal)
	}
	foreign := does(c.other, t, c.CreateIntegrationKey, create("app", admin.CreateIntegrationKey{}))
	list := func(l admin.Listing) ([]admin.Key, *string) {
		page := does(c.other, t, c.ListIntegrationKeys,
			admin.ListIntegrationKeys{IntegrationRef: integrated("acme", "chat"), Listing: l})
		return page.Keys, page.NextCursor
	}
	for size := 1; size <= 4; size++ {
		if got := paged(t, size, list); len(got) != 3 ||
			slices.ContainsFunc(got, func(k admin.Key) bool { return k.ID == foreign.ID }) {
			t.Errorf("the integration lists %+v", got)
		}
	}
	if got := c.keys(c.other, "acme"); len(got) != 5 {
		t.Errorf("the organization lists %v", got)
	}
	for word, k := range map[string]admin.CreateIntegrationKey{
		"scopes":             {Scopes: []string{}},
		"memories:all":       {Scopes: []string{"memories:all"}},
		"organizations:all":  {Scopes: []string{"organizations:all"}},
		"memories:read":      {Scopes: []string{"recall:read"}},
		"kind":               {Kind: new("service")},
		"scopes of a person": {Kind: new("personal"), EndUser: new("ann"), Scopes: []string{"memories:read"}},
		"end_user_id":        {EndUser: new("ann")},
		"limits.read":        {Limits: map[string]admin.RateChange{"read": {PerMinute: new(1)}}},
	} {
		refuses(c.other, t, c.CreateIntegrationKey, create("chat", k), "invalid_request", strings.Fields(word)[0])
	}
	for _, user := range []*string{nil, new("a:b")} {
		k := admin.CreateIntegrationKey{Kind: new("personal"), EndUser: user}
		refuses(c.other, t, c.CreateIntegrationKey, create("chat", k), "invalid_end_user_id", "end_user_id")
	}
	refuses(c.other, t, c.CreateIntegrationKey, create("none", admin.CreateIntegrationKey{}), "not_found", "none")
	refuses(c.own, t, c.CreateIntegrationKey, create("chat", admin.CreateIntegrationKey{}), "not_found", "acme")
	refuses(c.own, t, c.ListIntegrationKeys, admin.ListIntegrationKeys{IntegrationRef: integrated("acme", "chat")},
		"not_found", "acme")
	if got, _ := list(upTo(100, "")); len(got) != 3 {
		t.Errorf("refused keys were made: %+v", got)
	}
}
