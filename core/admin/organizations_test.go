package admin_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/organization"
	"github.com/mnemehq/mneme/core/port"
)

func TestOrganizations(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	r := coretest.Ask(c.operator, t, c.CreateOrganization, coretest.Object{"name": "made"}).OK()
	coretest.Fields(t, "an organization", r.JSON, "id", "name", "suspended", "deleting_at", "created_at")
	id := r.JSON["id"].(string)
	if r.JSON["name"] != "made" || r.JSON["suspended"] != false || !strings.HasPrefix(id, "org_") ||
		!strings.HasSuffix(r.JSON["created_at"].(string), "Z") {
		t.Errorf("made %s", r.Body)
	}
	refuses(c.operator, t, c.CreateOrganization, admin.CreateOrganization{Name: "made"}, "conflict")
	for _, bad := range []string{"", "a b", "org_x", strings.Repeat("a", 65), "a/b", "-a"} {
		refuses(c.operator, t, c.CreateOrganization, admin.CreateOrganization{Name: bad}, "invalid_request", "name")
	}
	for _, name := range []string{"made", id} {
		if got := does(c.operator, t, c.GetOrganization, in(name)); got.ID != id {
			t.Errorf("%s gives %+v", name, got)
		}
	}
	for _, name := range []string{"none", "org_none", "\x00", "ü", "a/b", "a b", strings.Repeat("x", 2000)} {
		refuses(c.operator, t, c.GetOrganization, in(name), "not_found", "organization")
		refuses(c.operator, t, c.GetIntegration, integrated("default", name), "not_found", "integration")
		refuses(c.operator, t, c.GetKey, admin.KeyRef{OrganizationRef: in("default"), ID: name}, "not_found", "key")
	}

	change := func(org string, c admin.ChangeOrganization) admin.ChangeOrganization { c.Org = org; return c }
	refuses(c.operator, t, c.ChangeOrganization, change("made", admin.ChangeOrganization{}), "invalid_request", "suspended")
	refuses(c.operator, t, c.ChangeOrganization, change("made", admin.ChangeOrganization{Name: new("default")}), "conflict")
	refuses(c.operator, t, c.ChangeOrganization, change("default", admin.ChangeOrganization{Name: new("x")}),
		"invalid_request", "name")
	refuses(c.operator, t, c.ChangeOrganization, change("none", admin.ChangeOrganization{Name: new("x")}), "not_found")
	renamed := does(c.operator, t, c.ChangeOrganization, change("made", admin.ChangeOrganization{Name: new("made2")}))
	if renamed.ID != id || renamed.Name != "made2" || renamed.Suspended {
		t.Errorf("renamed: %+v", renamed)
	}
	refuses(c.operator, t, c.GetOrganization, in("made"), "not_found")
	for _, suspended := range []bool{true, false} {
		got := does(c.operator, t, c.ChangeOrganization, change("made2", admin.ChangeOrganization{Suspended: &suspended}))
		if read := does(c.operator, t, c.GetOrganization, in(id)); got.Suspended != suspended || read != got {
			t.Errorf("suspended %t: %+v, read as %+v", suspended, got, read)
		}
	}
}

func TestOrganizationsAreListed(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	want := []string{"acme", "default"}
	for i := range 5 {
		name := fmt.Sprintf("org-%d", i)
		does(c.operator, t, c.CreateOrganization, admin.CreateOrganization{Name: name})
		want = append(want, name)
	}
	for size, pages := range map[int]int{1: 7, 2: 4, 3: 3, 6: 2, 7: 1, 8: 1} {
		n := 0
		var names []string
		for _, o := range paged(t, size, func(l admin.Listing) ([]admin.Organization, *string) {
			n++
			page := does(c.operator, t, c.ListOrganizations, admin.ListOrganizations{Listing: l})
			return page.Organizations, page.NextCursor
		}) {
			names = append(names, o.Name)
		}
		if !slices.Equal(names, want) || n != pages {
			t.Errorf("%d pages of %d list %v", n, size, names)
		}
	}
	first := does(c.operator, t, c.ListOrganizations, admin.ListOrganizations{Listing: upTo(3, "")})
	for name, l := range map[string]struct {
		ctx context.Context
		admin.Listing
	}{
		"another key's": {c.Caller(key.Issue{Kind: ident.Admin, AllOrganizations: true}), upTo(3, *first.NextCursor)},
		"made up":       {c.operator, upTo(3, "x")},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(l.ctx, t, c.ListOrganizations, admin.ListOrganizations{Listing: l.Listing}, "invalid_cursor")
		})
	}
	for _, limit := range []int{0, 1001} {
		refuses(c.operator, t, c.ListOrganizations, admin.ListOrganizations{Listing: upTo(limit, "")}, "invalid_request", "limit")
	}
}

// TestAnOrganizationAlone: who administers one organization sees that one, and neither
// makes nor changes any.
func TestAnOrganizationAlone(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	list := does(c.own, t, c.ListOrganizations, admin.ListOrganizations{})
	if len(list.Organizations) != 1 || list.Organizations[0].Name != "default" {
		t.Errorf("the administrator of default sees %+v", list)
	}
	if got := does(c.own, t, c.GetOrganization, in("default")); got.Name != "default" {
		t.Errorf("its own: %+v", got)
	}
	// Another is not there, as if there were none.
	refuses(c.own, t, c.GetOrganization, in("acme"), "not_found", `there is no organization "acme"`)
	refuses(c.own, t, c.GetOrganization, in("none"), "not_found", `there is no organization "none"`)
	refuses(c.own, t, c.CreateOrganization, admin.CreateOrganization{Name: "x"}, "forbidden", "all organizations")
	refuses(c.own, t, c.ChangeOrganization,
		admin.ChangeOrganization{OrganizationRef: in("default"), Suspended: new(false)}, "forbidden", "all organizations")
	refuses(c.own, t, c.ChangeOrganization, admin.ChangeOrganization{OrganizationRef: in("acme"), Suspended: new(true)},
		"not_found", "acme")
	if got := does(c.operator, t, c.GetOrganization, in("acme")); got.Suspended {
		t.Error("another organization was suspended")
	}
}

func TestIntegrations(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	r := coretest.Ask(c.other, t, c.CreateIntegration, coretest.Object{"name": "chat",
		"quotas": coretest.Object{"memories_per_end_user": 2}}, func(r *admin.CreateIntegration) { r.Org = "acme" }).OK()
	coretest.Fields(t, "an integration", r.JSON, "id", "organization_id", "name", "quotas", "grants_required", "created_at")
	acme := string(ident.From(c.other).Org)
	if fmt.Sprint(r.JSON["quotas"]) != "map[memories_per_end_user:2 read_rate_per_min:6000 write_rate_per_min:6000]" ||
		r.JSON["name"] != "chat" || r.JSON["organization_id"] != acme || !strings.HasSuffix(r.JSON["created_at"].(string), "Z") {
		t.Errorf("made %s", r.Body)
	}
	id := r.JSON["id"].(string)
	create := func(name string, q *admin.QuotaChange) admin.CreateIntegration {
		return admin.CreateIntegration{OrganizationRef: in("acme"), Name: name, Quotas: q}
	}
	refuses(c.other, t, c.CreateIntegration, create("chat", nil), "conflict")
	refuses(c.other, t, c.CreateIntegration, create("int_x", nil), "invalid_request", "name")
	refuses(c.other, t, c.CreateIntegration, create("x", &admin.QuotaChange{ReadRatePerMin: new(-1)}), "invalid_request",
		"read_rate_per_min")
	refuses(c.own, t, c.CreateIntegration, create("x", nil), "not_found", "acme")
	for _, name := range []string{"chat", id} {
		if got := does(c.other, t, c.GetIntegration, integrated("acme", name)); got.ID != id {
			t.Errorf("%s gives %+v", name, got)
		}
	}
	refuses(c.other, t, c.GetIntegration, integrated("acme", "none"), "not_found", "none")
	whole := does(c.other, t, c.CreateIntegration,
		create("app", &admin.QuotaChange{MemoriesPerEndUser: new(0), ReadRatePerMin: new(1), WriteRatePerMin: new(2)}))
	if whole.Quotas != (admin.Quotas{ReadRatePerMin: 1, WriteRatePerMin: 2}) {
		t.Errorf("quotas %+v", whole.Quotas)
	}
	plain := does(c.other, t, c.CreateIntegration, create("bot", nil))
	if plain.Quotas != (admin.Quotas(ident.DefaultQuotas())) {
		t.Errorf("quotas %+v", plain.Quotas)
	}
	list := func(ctx context.Context, l admin.Listing) ([]admin.Integration, *string) {
		page := does(ctx, t, c.ListIntegrations, admin.ListIntegrations{OrganizationRef: in("acme"), Listing: l})
		return page.Integrations, page.NextCursor
	}
	for size := 1; size <= 4; size++ {
		var names []string
		for _, i := range paged(t, size, func(l admin.Listing) ([]admin.Integration, *string) { return list(c.other, l) }) {
			names = append(names, i.Name)
		}
		if !slices.Equal(names, []string{"app", "bot", "chat"}) {
			t.Errorf("pages of %d list %v", size, names)
		}
	}
	_, cursor := list(c.operator, upTo(1, ""))
	refuses(c.operator, t, c.ListIntegrations,
		admin.ListIntegrations{OrganizationRef: in("default"), Listing: upTo(1, *cursor)}, "invalid_cursor")
	refuses(c.own, t, c.ListIntegrations, admin.ListIntegrations{OrganizationRef: in("acme")}, "not_found", "acme")

	change := func(of string, i admin.ChangeIntegration) admin.ChangeIntegration {
		i.IntegrationRef = integrated("acme", of)
		return i
	}
	got := does(c.other, t, c.ChangeIntegration,
		change("chat", admin.ChangeIntegration{Quotas: &admin.QuotaChange{MemoriesPerEndUser: new(3)}}))
	if got.Quotas != (admin.Quotas{MemoriesPerEndUser: 3, ReadRatePerMin: 6000, WriteRatePerMin: 6000}) || got.Name != "chat" {
		t.Errorf("changed to %+v", got)
	}
	got = does(c.other, t, c.ChangeIntegration, change("chat", admin.ChangeIntegration{Name: new("assistant")}))
	if got.ID != id || got.Name != "assistant" || got.Quotas.MemoriesPerEndUser != 3 {
		t.Errorf("renamed: %+v", got)
	}
	for _, required := range []bool{true, false} {
		got = does(c.other, t, c.ChangeIntegration, change("assistant", admin.ChangeIntegration{GrantsRequired: &required}))
		if got.GrantsRequired != required || got.Name != "assistant" || got.Quotas.MemoriesPerEndUser != 3 {
			t.Errorf("grants required %t: %+v", required, got)
		}
	}
	if made := does(c.operator, t, c.CreateIntegration, admin.CreateIntegration{OrganizationRef: in("default"), Name: "strict",
		GrantsRequired: new(true)}); !made.GrantsRequired || plain.GrantsRequired {
		t.Errorf("made %+v, by default %+v", made, plain)
	}
	refuses(c.other, t, c.GetIntegration, integrated("acme", "chat"), "not_found")
	refuses(c.other, t, c.ChangeIntegration, change("assistant", admin.ChangeIntegration{Name: new("app")}), "conflict")
	for _, nothing := range []admin.ChangeIntegration{{}, {Quotas: &admin.QuotaChange{}}} {
		refuses(c.other, t, c.ChangeIntegration, change("assistant", nothing), "invalid_request", "quotas")
	}
	refuses(c.other, t, c.ChangeIntegration, change("none", admin.ChangeIntegration{Name: new("x")}), "not_found", "none")
	// The same name in another organization is another integration.
	refuses(c.own, t, c.GetIntegration, integrated("default", id), "not_found")
	does(c.own, t, c.CreateIntegration, admin.CreateIntegration{OrganizationRef: in("default"), Name: "assistant"})
}

// TestQuotasHoldAtOnce, those of an integration that its key was verified under before.
func TestQuotasHoldAtOnce(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	does(c.own, t, c.CreateIntegration, admin.CreateIntegration{OrganizationRef: in("default"), Name: "chat",
		Quotas: &admin.QuotaChange{MemoriesPerEndUser: new(2)}})
	issued := does(c.own, t, c.CreateIntegrationKey, admin.CreateIntegrationKey{IntegrationRef: integrated("default", "chat")})
	save := func(text string) *coretest.Reply {
		t.Helper()
		who, err := c.Keys.Verify(context.Background(), issued.Secret, op.Memory)
		if err != nil {
			t.Fatal(err)
		}
		ctx := ident.WithRequestID(ident.WithPrincipal(context.Background(), who), "req_test")
		return coretest.Ask(ctx, t, c.memories.Save, coretest.Object{"endUserId": "ann", "content": text})
	}
	save("one").OK()
	save("two").OK()
	save("three").Fails(fault.QuotaExceeded)
	does(c.own, t, c.ChangeIntegration, admin.ChangeIntegration{IntegrationRef: integrated("default", "chat"),
		Quotas: &admin.QuotaChange{MemoriesPerEndUser: new(3)}})
	save("three").OK()
	save("four").Fails(fault.QuotaExceeded)
}

func TestNamespacesAreListed(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{Sparse: &coretest.SparseEncoder{}})
	own, acme := c.Caller(key.Issue{}), c.Caller(key.Issue{Org: "acme"})
	coretest.Ask(own, t, c.namespaces.Create, coretest.Object{"name": "thin", "sparse": true}).OK()
	coretest.Ask(own, t, c.namespaces.Create, coretest.Object{"name": "empty"}).OK()
	c.write(own, "thin", "a", "Sparse words.")
	for i := range 5 {
		c.write(own, fmt.Sprintf("n%d", i), "a", "Some words.")
	}
	c.write(own, "n1", "b", "More words.")
	c.write(acme, "foreign", "a", "Not theirs.")
	list := func(ctx context.Context, org string, l admin.Listing) ([]admin.Namespace, *string) {
		page := does(ctx, t, c.ListNamespaces, admin.ListNamespaces{OrganizationRef: in(org), Listing: l})
		return page.Namespaces, page.NextCursor
	}
	for size := 1; size <= 7; size++ {
		var names []string
		own := func(l admin.Listing) ([]admin.Namespace, *string) { return list(c.own, "default", l) }
		for _, n := range paged(t, size, own) {
			names = append(names, n.Name)
		}
		if !slices.Equal(names, []string{"n0", "n1", "n2", "n3", "n4", "thin"}) {
			t.Errorf("pages of %d list %v", size, names)
		}
	}
	if got, _ := list(c.operator, "acme", upTo(10, "")); len(got) != 1 || got[0].Name != "foreign" {
		t.Errorf("acme has %+v", got)
	}
	if got, _ := list(c.operator, "default", upTo(10, "")); len(got) != 6 {
		t.Errorf("the operator sees %+v", got)
	}
	for prefix, want := range map[string]string{"n": "n0", "n1": "n1", "th": "thin", "z": ""} {
		var first string
		page := does(c.own, t, c.ListNamespaces, admin.ListNamespaces{OrganizationRef: in("default"), Listing: upTo(1, ""),
			Prefix: prefix})
		for _, n := range page.Namespaces {
			first = n.Name
		}
		if more := page.NextCursor != nil; first != want || more != (prefix == "n") {
			t.Errorf("of those that begin with %s the first is %q, more is %v", prefix, first, more)
		}
		if page.NextCursor == nil {
			continue
		}
		refuses(c.own, t, c.ListNamespaces, // which goes on among those that begin so
			admin.ListNamespaces{OrganizationRef: in("default"), Listing: upTo(1, *page.NextCursor)}, "invalid_cursor")
	}
	r := coretest.Ask(c.own, t, c.ListNamespaces, coretest.Object{},
		func(l *admin.ListNamespaces) { l.Org = "default" }).OK().List("namespaces")
	coretest.Fields(t, "a namespace", r[1], "name", "documents", "chunks", "sparse", "language", "embedding_model",
		"embedding_model_chosen", "current", "shadow", "updated_at")
	now := c.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	if n := r[1]; n["documents"] != 2.0 || n["chunks"] != 2.0 || n["sparse"] != false || n["current"] != true ||
		n["shadow"] != nil || n["embedding_model"] != "test-embedder" || n["updated_at"] != now {
		t.Errorf("n1 is listed as %v", n)
	}
	if thin := r[5]; thin["sparse"] != true {
		t.Errorf("thin is listed as %v", thin)
	}

	_, cursor := list(c.operator, "default", upTo(1, ""))
	refuses(c.operator, t, c.ListNamespaces,
		admin.ListNamespaces{OrganizationRef: in("acme"), Listing: upTo(1, *cursor)}, "invalid_cursor")
	refuses(c.own, t, c.ListNamespaces, admin.ListNamespaces{OrganizationRef: in("acme")}, "not_found", "acme")
	for _, limit := range []int{0, 1001} {
		refuses(c.own, t, c.ListNamespaces, admin.ListNamespaces{OrganizationRef: in("default"), Listing: upTo(limit, "")},
			"invalid_request", "limit")
	}
}

// TestShadowsAreListed: what a reindexing makes or keeps beside a namespace is shown
// with it, and whether the vectors of what is served are of the configured models.
func TestShadowsAreListed(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{Embedder: &coretest.Embedder{Digest: "sha256:old"}})
	ctx := c.Caller(key.Issue{})
	c.write(ctx, "docs", "a", "Some words.")
	c.write(ctx, "other", "a", "Some words.")
	p := port.Documents(ident.From(ctx).Org, "docs")
	show := func() (docs admin.Namespace) {
		t.Helper()
		list := does(c.own, t, c.ListNamespaces, admin.ListNamespaces{OrganizationRef: in("default")}).Namespaces
		if len(list) != 2 || list[1].Shadow != nil {
			t.Fatalf("listed %+v", list)
		}
		return list[0]
	}
	if n := show(); n.Current || n.Shadow != nil {
		t.Errorf("with vectors of another model: %+v", n)
	}
	// What the reindexing of a namespace does to the store, without its vectors.
	now, digest := c.Now(), coretest.NewEmbedder().Digest
	update := func(fn func(port.DocumentWriter) error) {
		t.Helper()
		if err := c.Store.UpdateDocuments(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(w port.DocumentWriter) error {
		n, err := w.CreatePartition(ctx, p.Shadow(), port.PartitionRow{EmbeddingModel: "made", EmbeddingDigest: digest,
			Dimensions: coretest.Dimensions, CreatedAt: now, UpdatedAt: now})
		if err != nil {
			return err
		}
		d := port.Document{ID: "a", Text: "Some words.", TextHash: sha256.Sum256([]byte("Some words.")),
			MetadataHash: filter.Metadata(nil).Hash(), CreatedAt: now, UpdatedAt: now}
		_, err = w.PutDocuments(ctx, p.At(n.Generation).Shadow(), time.Time{}, []port.DocumentWrite{{Document: d}})
		return err
	})
	if n := show(); n.Current || n.Shadow == nil ||
		*n.Shadow != (admin.Shadow{State: "building", EmbeddingModel: "made", Documents: 1}) {
		t.Errorf("while one is made: %+v, %+v", n, n.Shadow)
	}
	update(func(w port.DocumentWriter) error { return w.SwapPartition(ctx, p) })
	if n := show(); !n.Current || n.EmbeddingModel != "made" || n.Shadow == nil ||
		*n.Shadow != (admin.Shadow{State: "kept", EmbeddingModel: "test-embedder", Documents: 1, Chunks: 1}) {
		t.Errorf("after the swap: %+v, %+v", n, n.Shadow)
	}
}

// TestOrganizationIsDeleted by the operator alone, with its name repeated.
func TestOrganizationIsDeleted(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	acme := does(c.other, t, c.GetOrganization, in("acme"))
	remove := func(org, name string) admin.DeleteOrganization {
		return admin.DeleteOrganization{OrganizationRef: in(org), Name: name}
	}
	refuses(c.other, t, c.DeleteOrganization, remove("acme", "acme"), "forbidden", "all organizations")
	refuses(c.own, t, c.DeleteOrganization, remove("acme", "acme"), "not_found", "acme")
	refuses(c.operator, t, c.DeleteOrganization, remove("acme", ""), "invalid_request", "name")
	refuses(c.operator, t, c.DeleteOrganization, remove("acme", "other"), "invalid_request", "name")
	refuses(c.operator, t, c.DeleteOrganization, remove("default", "default"), "conflict", "default")
	if r := coretest.Ask(c.operator, t, c.DeleteOrganization, coretest.Object{}, func(in *admin.DeleteOrganization) {
		*in = remove("none", "none")
	}).OK(); r.Status != 200 || r.JSON["status"] != "absent" || r.JSON["id"] != nil || r.JSON["job_id"] != nil {
		t.Errorf("of none: %d %s", r.Status, r.Body)
	}
	hold, held := make(chan struct{}), make(chan struct{}, 100)
	c.Store.OnScrub.Set(func() error { held <- struct{}{}; <-hold; return nil })
	begun := does(c.operator, t, c.DeleteOrganization, remove("acme", "acme"))
	if begun.Status != admin.Deleting || begun.StatusCode() != 202 || *begun.ID != acme.ID || begun.DeletedAt != nil {
		t.Errorf("begun: %+v", begun)
	}
	if j := does(c.operator, t, c.GetJob, admin.JobRef{Job: *begun.JobID}); j.Kind != organization.DeletionKind ||
		j.Namespace != nil || j.OrganizationID != acme.ID {
		t.Errorf("the job: %+v", j)
	}
	refuses(c.own, t, c.GetJob, admin.JobRef{Job: *begun.JobID}, "not_found")
	for _, j := range does(c.own, t, c.ListJobs, admin.ListJobs{}).Jobs {
		t.Errorf("administrators of default see %+v", j)
	}
	<-held
	close(hold)
	for {
		d := does(c.operator, t, c.DeleteOrganization, remove(acme.ID, "acme"))
		if d.Status == admin.Deleting {
			continue
		}
		if d.Status != admin.WasDeleted || d.StatusCode() != 200 || *d.ID != acme.ID || *d.JobID != *begun.JobID ||
			d.DeletedAt == nil || d.Deleted.Keys != 1 {
			t.Errorf("ended: %+v", d)
		}
		break
	}
	refuses(c.operator, t, c.GetOrganization, in("acme"), "not_found")
}
