package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Brief has random runs be a quarter as many until the test ends: for a store that differs from one which
// passes Run by them all in one respect alone, such as how statements are sent.
func Brief(t *testing.T) {
	t.Helper()
	const name = "rapid.checks"
	all := flag.Lookup(name).Value.String()
	set := func(to string) {
		if err := flag.Set(name, to); err != nil {
			t.Fatal(err)
		}
	}
	n, err := strconv.Atoi(all)
	if err != nil {
		t.Fatal(err)
	}
	set(strconv.Itoa(max(1, n/4)))
	t.Cleanup(func() { set(all) })
}

// Run runs the contract. open gives a new and empty store; Run closes it.
func Run(t *testing.T, open func(t *testing.T) port.DocumentStore) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *fixture)
	}{
		{"Organizations", organizations},
		{"OrganizationDeletion", organizationDeletion},
		{"Placements", placements},
		{"Keys", keys},
		{"Namespaces", namespaces},
		{"NamespaceList", namespaceList},
		{"Pinning", pinning},
		{"Documents", documents},
		{"MetadataOnly", metadataOnly},
		{"SameIDTwice", sameIDTwice},
		{"Lists", lists},
		{"PagesUnderChange", pagesUnderChange},
		{"Vectors", vectors},
		{"BadWrites", badWrites},
		{"Changes", changes},
		{"TrimChanges", trimChanges},
		{"DeleteDocuments", deleteDocuments},
		{"DeletePartition", deleteNamespace},
		{"ClockGoesBack", clockGoesBack},
		{"Jobs", jobs},
		{"JobLists", jobLists},
		{"Secrets", secrets},
		{"DataKeys", dataKeys},
		{"DataKeyDeletion", dataKeyDeletion},
		{"DataKeyRace", dataKeyRace},
		{"Sources", sources},
		{"SourceLists", sourceLists},
		{"SourceItems", sourceItems},
		{"SourceRuns", sourceRuns},
		{"SourceDeletion", sourceDeletion},
		{"Events", events},
		{"EventReaders", eventReaders},
		{"EventTrim", eventTrim},
		{"EventErasure", eventErasure},
		{"EventLateCommit", lateCommit},
		{"EventOrder", eventOrder},
		{"Webhooks", webhooks},
		{"DeliveryLanes", deliveryLanes},
		{"DeliveriesGo", deliveriesGo},
		{"DueWebhooks", dueWebhooks},
		{"Audit", audit},
		{"AuditChanged", auditChanged},
		{"Usage", usage},
		{"UsageBytes", usageBytes},
		{"UsageOfTheDeleted", usageOfTheDeleted},
		{"Quotas", quotas},
		{"OAuthClients", oauthClients},
		{"OAuthGrants", oauthGrants},
		{"OAuthPurge", oauthPurge},
		{"OAuthRace", oauthRace},
		{"Sessions", sessions},
		{"SessionPurge", sessionPurge},
		{"SignInLinks", signInLinks},
		{"Members", members},
		{"Accounts", accounts},
		{"MemberSessions", memberSessions},
		{"SavedQueries", savedQueries},
		{"VectorStores", vectorStores},
		{"KeptFiles", keptFiles},
		{"Contexts", contexts},
		{"Integrations", integrations},
		{"MemoryPartitions", memoryPartitions},
		{"MemoryFields", memoryFields},
		{"MemoryLists", memoryLists},
		{"Records", records},
		{"RecordRace", recordRace},
		{"Replays", replays},
		{"Roster", roster},
		{"SetModels", setModels},
		{"Shadows", shadows},
		{"Survey", survey},
		{"Statistics", statistics},
		{"Pool", pool},
		{"Turns", turns},
		{"Erasure", erasure},
		{"Grants", grantRows},
		{"GrantErasure", grantErasure},
		{"Replicas", replicas},
		{"ReplicaClaims", claims},
		{"ClaimRace", claimRace},
		{"Watermarks", watermarks},
		{"ErasureAcknowledged", erasureAcknowledged},
		{"Buckets", buckets},
		{"ErasureRace", erasureRace},
		{"TenantIsolation", tenantIsolation},
		{"Snapshot", snapshot},
		{"Rollback", rollback},
		{"FailingAlone", failingAlone},
		{"Cancellation", cancellation},
		{"Serialisable", serialisable},
		{"AfterUse", afterUse},
		{"Ping", ping},
		{"Closed", closed},
		{"Model", model},
		{"MemoryModel", memoryModel},
		{"JobModel", jobModel},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			f := &fixture{T: t, s: s, ctx: t.Context()}
			f.view(func(r port.Reader) error {
				o, err := r.OrganizationByName(f.ctx, ident.DefaultOrg)
				f.org = o.ID
				return err
			})
			c.test(t, f)
		})
	}
}

// fixture is a store with its default organization.
type fixture struct {
	*testing.T
	s   port.DocumentStore
	ctx context.Context
	org ident.Org
}

// at is a fixed instant, n seconds on.
func at(n int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC).Add(time.Duration(n) * time.Second)
}

func (f *fixture) view(fn func(port.Reader) error) {
	f.Helper()
	if err := f.s.View(f.ctx, fn); err != nil {
		f.Fatalf("View: %v", err)
	}
}

func (f *fixture) update(fn func(port.DocumentWriter) error) {
	f.Helper()
	if err := f.s.UpdateDocuments(f.ctx, fn); err != nil {
		f.Fatalf("Update: %v", err)
	}
}

const dim = 8

// create makes a namespace of the default organization.
func (f *fixture) create(name string) port.Partition {
	f.Helper()
	p := port.Documents(f.org, name)
	f.update(func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{Dimensions: dim, CreatedAt: at(0), UpdatedAt: at(0)})
		return err
	})
	return p
}

// put writes documents with the given ids, one second after the last call.
func (f *fixture) put(p port.Partition, t time.Time, docs ...port.DocumentWrite) (seq uint64) {
	f.Helper()
	f.update(func(w port.DocumentWriter) (err error) {
		seq, err = w.PutDocuments(f.ctx, p, t, docs)
		return err
	})
	return seq
}

func (f *fixture) delete(p port.Partition, t time.Time, ids ...string) (n int, seq uint64, gone bool) {
	f.Helper()
	f.update(func(w port.DocumentWriter) (err error) {
		n, seq, gone, err = w.DeleteDocuments(f.ctx, p, t, ids)
		return err
	})
	return n, seq, gone
}

func (f *fixture) namespace(p port.Partition) (n port.PartitionRow) {
	f.Helper()
	f.view(func(r port.Reader) (err error) {
		n, err = r.Partition(f.ctx, p)
		return err
	})
	return n
}

func (f *fixture) documents(p port.Partition, parts port.Part, ids ...string) (d []port.DocumentHead) {
	f.Helper()
	f.view(func(r port.Reader) (err error) {
		d, err = r.Documents(f.ctx, p, ids, parts)
		return err
	})
	return d
}

func (f *fixture) changes(p port.Partition, after uint64, limit int) (c []port.Change) {
	f.Helper()
	f.view(func(r port.Reader) (err error) {
		c, err = r.Changes(f.ctx, p, after, limit)
		return err
	})
	return c
}

func (f *fixture) list(p port.Partition, l port.DocumentList) (d []port.DocumentHead) {
	f.Helper()
	f.view(func(r port.Reader) (err error) {
		d, err = r.ListDocuments(f.ctx, p, l)
		return err
	})
	return d
}

// want fails unless err is a fault of a code.
func (f *fixture) want(what string, err error, code fault.Code) {
	f.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != code {
		f.Errorf("%s: got error %v, want fault %s", what, err, code)
	}
}

func (f *fixture) same(what string, got, want any) {
	f.Helper()
	if reflect.DeepEqual(want, got) { // most are, and cmp takes far longer to see it
		return
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(port.Partition{})); d != "" {
		f.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// document is a document whose parts all follow from its id and version.
func document(id string, version, chunks int) port.DocumentWrite {
	var text strings.Builder
	d := port.Document{ID: id}
	for i := range chunks {
		start := text.Len()
		fmt.Fprintf(&text, "%s, version %d, chunk %d: žluť 漢字. ", id, version, i)
		d.Chunks = append(d.Chunks, port.Chunk{Start: start, End: text.Len(),
			Context: []string{"", "Guide", "Guide > Úvod"}[i%3]})
	}
	d.Text = text.String()
	for i := range d.Chunks {
		c := &d.Chunks[i]
		sum := sha256.Sum256([]byte(c.Context + "\x00" + d.Text[c.Start:c.End]))
		copy(c.Hash[:], sum[:])
	}
	d.TextHash = sha256.Sum256([]byte(d.Text))
	w := port.DocumentWrite{Document: describe(d, version)}
	w.Vectors.Dense = port.Dense{Dim: dim, Data: make([]float32, dim*chunks)}
	for i := range chunks {
		row := w.Vectors.Dense.Row(i)
		for j := range row {
			row[j] = float32(len(id)+version+i+j%3) + 1
		}
		var sum float64
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		for j := range row {
			row[j] /= float32(math.Sqrt(sum))
		}
	}
	return w
}

// describe gives a document metadata that follows from a version.
func describe(d port.Document, version int) port.Document {
	d.Metadata = json.RawMessage(fmt.Sprintf(`{"id":%q,"version":%d}`, d.ID, version))
	d.MetadataHash = sha256.Sum256(d.Metadata)
	d.Origin = port.Origin{Kind: "api", KeyID: fmt.Sprintf("key_%d", version)}
	return d
}

func plain(id string) port.DocumentWrite { return document(id, 1, 2) }

func docIDs(docs []port.DocumentHead) []string {
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	return ids
}

func organizations(t *testing.T, f *fixture) {
	acme := port.Organization{ID: "org_acme", Name: "acme", CreatedAt: at(1)}
	f.update(func(w port.DocumentWriter) error { return w.PutOrganization(f.ctx, acme) })
	f.view(func(r port.Reader) error {
		o, err := r.OrganizationByName(f.ctx, ident.DefaultOrg)
		if err != nil || !strings.HasPrefix(string(o.ID), "org_") || o.Suspended || o.CreatedAt.IsZero() {
			t.Errorf("default organization: %+v, %v", o, err)
		}
		all, err := r.Organizations(f.ctx)
		f.same("all by name", all, []port.Organization{acme, o})
		_, err2 := r.Organization(f.ctx, "org_none")
		f.want("absent id", err2, fault.NotFound)
		_, err2 = r.OrganizationByName(f.ctx, "none")
		f.want("absent name", err2, fault.NotFound)
		return err
	})
	f.want("taken name", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: "org_other", Name: "acme"})
	}), fault.Conflict)
	acme.Name, acme.Suspended = "acme-2", true
	f.update(func(w port.DocumentWriter) error { return w.PutOrganization(f.ctx, acme) })
	f.view(func(r port.Reader) error {
		o, err := r.Organization(f.ctx, acme.ID)
		f.same("renamed and suspended", o, acme)
		return err
	})
}

func keys(t *testing.T, f *fixture) {
	full := port.Key{
		ID: "key_1", Org: f.org, Name: "laptop", Kind: ident.Service, Hash: sha256.Sum256([]byte("one")), Last4: "abcd",
		ReadOnly: true, Namespace: "docs", Source: "src_1", DefaultNamespace: "docs",
		Scopes: []ident.Scope{"memories:read"}, Limits: map[string]ident.Rate{"read": {PerMinute: 5, Burst: 2}},
		CreatedBy: "key_0", CreatedAt: at(2), ExpiresAt: at(100),
	}
	bare := port.Key{
		ID:          "key_2",
		Org:         f.org,
		Kind:        ident.Integration,
		Hash:        sha256.Sum256([]byte("two")),
		Integration: "int_1",
		EndUser:     "ann",
		CreatedAt:   at(1),
	}
	f.update(func(w port.DocumentWriter) error { return errors.Join(w.PutKey(f.ctx, full), w.PutKey(f.ctx, bare)) })
	f.want("used id", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutKey(f.ctx, port.Key{ID: "key_1", Org: f.org, Hash: sha256.Sum256([]byte("three"))})
	}), fault.Conflict)
	f.want("used hash", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutKey(f.ctx, port.Key{ID: "key_3", Org: f.org, Hash: full.Hash})
	}), fault.Conflict)
	f.want("absent organization", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutKey(f.ctx, port.Key{ID: "key_3", Org: "org_none", Hash: sha256.Sum256([]byte("three"))})
	}), fault.NotFound)
	read := func() (out []port.Key) {
		f.view(func(r port.Reader) (err error) { out, err = r.Keys(f.ctx, f.org, port.KeyList{}); return err })
		return out
	}
	f.same("by creation time", read(), []port.Key{bare, full})
	f.view(func(r port.Reader) error {
		k, err := r.KeyByHash(f.ctx, full.Hash)
		f.same("by hash", k, full)
		_, err2 := r.KeyByHash(f.ctx, sha256.Sum256([]byte("none")))
		f.want("absent hash", err2, fault.NotFound)
		others, err3 := r.Keys(f.ctx, "org_none", port.KeyList{})
		if len(others) != 0 || err3 != nil {
			t.Errorf("keys of another organization: %v, %v", others, err3)
		}
		one, err4 := r.Key(f.ctx, f.org, "key_2")
		f.same("by id", one, bare)
		_, err5 := r.Key(f.ctx, "org_none", "key_2")
		f.want("another organization's by id", err5, fault.NotFound)
		for _, page := range []struct {
			name string
			l    port.KeyList
			want []port.Key
		}{
			{"a first page", port.KeyList{Limit: 1}, []port.Key{bare}},
			{"the page after", port.KeyList{AfterCreated: bare.CreatedAt, AfterID: bare.ID, Limit: 1}, []port.Key{full}},
			{"the page after the last", port.KeyList{AfterCreated: full.CreatedAt, AfterID: full.ID, Limit: 1}, nil},
			{"after a smaller id of the same time", port.KeyList{AfterCreated: full.CreatedAt, AfterID: "key_0"},
				[]port.Key{full}},
			{"an integration's", port.KeyList{Integration: bare.Integration}, []port.Key{bare}},
			{"another integration's", port.KeyList{Integration: "int_none"}, nil},
		} {
			got, err := r.Keys(f.ctx, f.org, page.l)
			f.same(page.name, got, page.want)
			err4 = errors.Join(err4, err)
		}
		return errors.Join(err, err4)
	})
	touch := func(used map[string]time.Time) {
		f.update(func(w port.DocumentWriter) error { return w.TouchKeys(f.ctx, used) })
	}
	touch(map[string]time.Time{"key_1": at(50), "key_none": at(50)})
	touch(map[string]time.Time{"key_1": at(40), "key_2": at(40)})
	full.LastUsedAt, bare.LastUsedAt = at(50), at(40)
	f.same("last use never goes back", read(), []port.Key{bare, full})
	change := func(org ident.Org, id string, to port.KeyChange) error {
		return f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error { return w.ChangeKey(f.ctx, org, id, to) })
	}
	f.want("change an absent key", change(f.org, "key_none", port.KeyChange{}), fault.NotFound)
	f.want("change another organization's key", change("org_none", "key_1", port.KeyChange{}), fault.NotFound)
	if err := errors.Join(change(f.org, "key_1", port.KeyChange{}),
		change(f.org, "key_2", port.KeyChange{
			Name:             "desk",
			ReadOnly:         true,
			DefaultNamespace: "notes",
			Limits:           map[string]ident.Rate{"write": {PerMinute: 7}},
		})); err != nil {
		t.Fatal(err)
	}
	full.Name, full.ReadOnly, full.DefaultNamespace, full.Limits = "", false, "", nil
	bare.Name, bare.ReadOnly, bare.DefaultNamespace, bare.Limits = "desk", true, "notes",
		map[string]ident.Rate{"write": {PerMinute: 7}}
	f.same("changed", read(), []port.Key{bare, full})
	expire := func(org ident.Org, id string, when time.Time) error {
		return f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error { return w.ExpireKey(f.ctx, org, id, when) })
	}
	f.want("expire an absent key", expire(f.org, "key_none", at(60)), fault.NotFound)
	f.want("expire another organization's key", expire("org_none", "key_1", at(60)), fault.NotFound)
	if err := errors.Join(expire(f.org, "key_1", at(200)), expire(f.org, "key_2", at(90)),
		expire(f.org, "key_2", at(80)), expire(f.org, "key_2", at(85))); err != nil {
		t.Fatal(err)
	}
	bare.ExpiresAt = at(80)
	f.same("an end comes nearer and never goes away", read(), []port.Key{bare, full})
	revoke := func(org ident.Org, id string, when time.Time) error {
		return f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error { return w.RevokeKey(f.ctx, org, id, when) })
	}
	f.want("revoke an absent key", revoke(f.org, "key_none", at(60)), fault.NotFound)
	f.want("revoke another organization's key", revoke("org_none", "key_1", at(60)), fault.NotFound)
	if err := errors.Join(revoke(f.org, "key_1", at(60)), revoke(f.org, "key_1", at(70))); err != nil {
		t.Fatal(err)
	}
	full.RevokedAt = at(60)
	f.same("the first revocation stays", read(), []port.Key{bare, full})
}

func namespaces(t *testing.T, f *fixture) {
	p := port.Documents(f.org, "docs")
	want := port.PartitionRow{
		Name: "docs", Sparse: true, Embedder: "e5", EmbeddingModel: "e5", EmbeddingDigest: "sha256:aa", Dimensions: dim,
		SparseModel: "splade", SparseDigest: "sha256:bb", Chunker: "1", Language: "de", CreatedAt: at(1), UpdatedAt: at(1),
	}
	in := want
	in.Documents, in.Chunks, in.Bytes, in.Seq, in.Generation = 7, 7, 7, 7, 7 // the store's to set
	var made port.PartitionRow
	f.update(func(w port.DocumentWriter) (err error) {
		made, err = w.CreatePartition(f.ctx, p, in)
		if err == nil {
			var seen port.PartitionRow
			seen, err = w.Partition(f.ctx, p)
			f.same("read in its own transaction", seen, made)
		}
		return err
	})
	if made.Generation == 0 {
		t.Error("generation 0")
	}
	want.Generation = made.Generation
	f.same("created", made, want)
	f.same("read back", f.namespace(p), want)
	f.want("name taken", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{})
		return err
	}), fault.Conflict)
	f.want("absent organization", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, port.Documents("org_none", "docs"), port.PartitionRow{})
		return err
	}), fault.NotFound)

	f.put(p, at(5), document("a", 1, 3), document("b", 1, 1))
	bytes := int64(len(document("a", 1, 3).Document.Text) + len(document("b", 1, 1).Document.Text))
	want.Documents, want.Chunks, want.Bytes, want.Seq, want.UpdatedAt = 2, 4, bytes, 1, at(5)
	f.same("counts", f.namespace(p), want)

	nowhere := port.Documents(f.org, "nowhere")
	for what, call := range map[string]func(w port.DocumentWriter) error{
		"Namespace": func(w port.DocumentWriter) error { _, err := w.Partition(f.ctx, nowhere); return err },
		"Documents": func(w port.DocumentWriter) error { _, err := w.Documents(f.ctx, nowhere, []string{"a"}, 0); return err },
		"ListDocuments": func(w port.DocumentWriter) error {
			_, err := w.ListDocuments(f.ctx, nowhere, port.DocumentList{Limit: 1})
			return err
		},
		"Vectors": func(w port.DocumentWriter) error { _, err := w.Vectors(f.ctx, nowhere, []string{"a"}); return err },
		"Changes": func(w port.DocumentWriter) error { _, err := w.Changes(f.ctx, nowhere, 0, 1); return err },
		"PutDocuments": func(w port.DocumentWriter) error {
			_, err := w.PutDocuments(f.ctx, nowhere, at(1), []port.DocumentWrite{plain("a")})
			return err
		},
		"DeleteDocuments": func(w port.DocumentWriter) error {
			_, _, _, err := w.DeleteDocuments(f.ctx, nowhere, at(1), []string{"a"})
			return err
		},
		"TrimChanges": func(w port.DocumentWriter) error { return w.TrimChanges(f.ctx, nowhere, 1) },
	} {
		f.want(what+" of an absent namespace", f.s.UpdateDocuments(f.ctx, call), fault.PartitionNotFound)
	}
}

func namespaceList(t *testing.T, f *fixture) {
	for _, name := range []string{"b", "a-1", "a_1", "a1", "a", "empty", "c"} {
		p := f.create(name)
		if name != "empty" {
			f.put(p, at(1), plain("x"))
		}
	}
	for _, c := range []struct {
		prefix, after string
		limit         int
		want          string
	}{
		{"", "", 100, "a a-1 a1 a_1 b c"},
		{"", "", 2, "a a-1"},
		{"", "a-1", 2, "a1 a_1"},
		{"", "aa", 100, "b c"},
		{"a", "", 100, "a a-1 a1 a_1"},
		{"a", "a1", 100, "a_1"},
		{"a1", "", 100, "a1"},
		{"z", "", 100, ""},
		{"", "c", 100, ""},
	} {
		var names []string
		f.view(func(r port.Reader) error {
			got, err := r.Namespaces(f.ctx, f.org, c.prefix, c.after, c.limit)
			for _, n := range got {
				names = append(names, n.Name)
			}
			return err
		})
		f.same(fmt.Sprintf("prefix %q after %q limit %d", c.prefix, c.after, c.limit), strings.Join(names, " "), c.want)
	}
	var g []int64
	f.view(func(r port.Reader) (err error) { g, err = r.Generations(f.ctx); return err })
	slices.Sort(g)
	if len(slices.Compact(g)) != 7 {
		t.Errorf("generations: %v, want 7, the empty namespace's too", g)
	}
}

func pinning(t *testing.T, f *fixture) {
	p := f.create("docs")
	first := f.namespace(p).Generation
	f.put(p, at(1), plain("a"))
	f.put(p.At(first), at(2), plain("b"))
	f.same("pinned read", docIDs(f.documents(p.At(first), 0, "a", "b")), []string{"a", "b"})
	other := f.create("other")
	wrong := []port.Partition{p.At(first + 1000), p.At(f.namespace(other).Generation), p.At(-1)}
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, p); return err })
	f.create("docs")
	second := f.namespace(p).Generation
	if second == first {
		t.Errorf("generation %d used twice", first)
	}
	f.put(p, at(3), plain("c"))
	for _, q := range append(wrong, p.At(first)) {
		for what, call := range map[string]func(port.DocumentWriter) error{
			"Namespace": func(w port.DocumentWriter) error { _, err := w.Partition(f.ctx, q); return err },
			"Documents": func(w port.DocumentWriter) error { _, err := w.Documents(f.ctx, q, []string{"a"}, 0); return err },
			"ListDocuments": func(w port.DocumentWriter) error {
				_, err := w.ListDocuments(f.ctx, q, port.DocumentList{Limit: 1})
				return err
			},
			"Vectors": func(w port.DocumentWriter) error { _, err := w.Vectors(f.ctx, q, []string{"a"}); return err },
			"Changes": func(w port.DocumentWriter) error { _, err := w.Changes(f.ctx, q, 0, 1); return err },
			"PutDocuments": func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(f.ctx, q, at(1), []port.DocumentWrite{plain("a")})
				return err
			},
			"DeleteDocuments": func(w port.DocumentWriter) error {
				_, _, _, err := w.DeleteDocuments(f.ctx, q, at(1), []string{"c"})
				return err
			},
		} {
			f.want(fmt.Sprintf("%s of %s", what, q), f.s.UpdateDocuments(f.ctx, call), fault.PartitionNotFound)
		}
		f.update(func(w port.DocumentWriter) error {
			existed, err := w.DeletePartition(f.ctx, q)
			if existed {
				t.Errorf("DeletePartition of %s reached a namespace", q)
			}
			return err
		})
	}
	f.same("second life", docIDs(f.documents(p.At(second), 0, "a", "b", "c")), []string{"c"})
}

// head is what a read of a written document gives.
func head(w port.DocumentWrite, seq uint64, created, updated time.Time) port.DocumentHead {
	d := w.Document
	d.Seq, d.CreatedAt, d.UpdatedAt = seq, created, updated
	return port.DocumentHead{Document: d, ChunkCount: len(d.Chunks)}
}

// only drops the parts of a document that were not asked for.
func only(d port.DocumentHead, parts port.Part) port.DocumentHead {
	if parts&port.PartText == 0 {
		d.Text = ""
	}
	if parts&port.PartMetadata == 0 {
		d.Metadata = nil
	}
	if parts&port.PartChunks == 0 {
		d.Chunks = nil
	}
	return d
}

const everything = port.PartText | port.PartMetadata | port.PartChunks

func documents(t *testing.T, f *fixture) {
	p := f.create("docs")
	a, b := document("a", 1, 5), document("b", 1, 1)
	a.Document.SourceID, a.Document.Origin = "src_1", port.Origin{Kind: "source", KeyID: "key_9", SourceID: "src_1"}
	a.Document.CreatedAt = at(-100)
	b.Document.Metadata = nil
	empty := port.DocumentWrite{Document: port.Document{ID: "empty"}}
	if seq := f.put(p, at(1), a, b, empty); seq != 1 {
		t.Errorf("first change is number %d", seq)
	}
	wantA, wantB := head(a, 1, at(-100), at(1)), head(b, 1, at(1), at(1))
	wantEmpty := head(empty, 1, at(1), at(1))
	for parts := port.Part(0); parts <= everything; parts++ {
		f.same(fmt.Sprintf("parts %d", parts), f.documents(p, parts, "empty", "b", "none", "a"),
			[]port.DocumentHead{only(wantEmpty, parts), only(wantB, parts), only(wantA, parts)})
	}
	f.same("one", f.documents(p, everything, "a"), []port.DocumentHead{wantA})
	f.same("none of them", f.documents(p, everything, "none", "nor"), []port.DocumentHead{})
	f.same("no ids", f.documents(p, everything), []port.DocumentHead{})
	f.same("an id twice", docIDs(f.documents(p, 0, "b", "a", "b")), []string{"b", "a"})

	a2 := document("a", 2, 2)
	a2.Document.CreatedAt = at(-5) // a replaced document keeps its first
	if seq := f.put(p, at(3), a2); seq != 2 {
		t.Errorf("second change is number %d", seq)
	}
	f.same("replaced", f.documents(p, everything, "a", "b"), []port.DocumentHead{head(a2, 2, at(-100), at(3)), wantB})
	n := f.namespace(p)
	if n.Documents != 3 || n.Chunks != 3 || n.Bytes != int64(len(a2.Document.Text)+len(b.Document.Text)) || n.Seq != 2 {
		t.Errorf("counts after replacing: %+v", n)
	}

	long := port.DocumentWrite{Document: port.Document{ID: strings.Repeat("z", 256), Text: strings.Repeat("語", 256<<10/3)}}
	f.put(p, at(4), long)
	f.same("longest id and text", f.documents(p, everything, long.Document.ID), []port.DocumentHead{head(long, 3, at(4), at(4))})
}

func metadataOnly(t *testing.T, f *fixture) {
	p := f.create("docs")
	a := document("a", 1, 3)
	f.put(p, at(1), a)
	before := f.namespace(p)
	change := port.DocumentWrite{MetadataOnly: true,
		Document: describe(port.Document{ID: "a", TextHash: a.Document.TextHash, SourceID: "src_2"}, 9)}
	seq := f.put(p, at(2), change)
	want := head(a, seq, at(1), at(2))
	want.Document = describe(want.Document, 9)
	want.SourceID = "src_2"
	f.same("document", f.documents(p, everything, "a"), []port.DocumentHead{want})
	before.Seq, before.UpdatedAt = 2, at(2)
	f.same("namespace", f.namespace(p), before)
	f.checkVectors(p, a)
	f.same("change log", f.changes(p, 1, 10), []port.Change{{Seq: 2, Document: "a"}})

	rewritten := change
	rewritten.Document.TextHash = sha256.Sum256([]byte("another text"))
	absent := change
	absent.Document.ID = "b"
	for what, w := range map[string]port.DocumentWrite{"another text": rewritten, "absent": absent} {
		f.want(what, f.s.UpdateDocuments(f.ctx, func(tx port.DocumentWriter) error {
			_, err := tx.PutDocuments(f.ctx, p, at(3), []port.DocumentWrite{plain("c"), w})
			return err
		}), fault.Conflict)
	}
	f.same("nothing written", f.namespace(p), before)
}

func sameIDTwice(t *testing.T, f *fixture) {
	p := f.create("docs")
	last := document("a", 2, 1)
	f.put(p, at(1), document("a", 1, 4), plain("b"), last)
	f.same("the last one stays", f.documents(p, everything, "a"), []port.DocumentHead{head(last, 1, at(1), at(1))})
	n := f.namespace(p)
	if n.Documents != 2 || n.Chunks != 3 || n.Bytes != int64(len(last.Document.Text)+len(plain("b").Document.Text)) {
		t.Errorf("counts: %+v", n)
	}
}

func lists(t *testing.T, f *fixture) {
	p := f.create("docs")
	ids := []string{"B", "a", "a-b", "a.b", "a:b", "aB", "a_b", "b", "0", "ab"}
	for i, id := range ids {
		d := plain(id)
		if i%2 == 0 {
			d.Document.SourceID = "src_1"
		}
		f.put(p, at(i/3), d) // three share an instant
	}
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	newest := slices.Clone(ids)
	time := func(id string) int { return slices.Index(ids, id) / 3 }
	slices.SortFunc(newest, func(a, b string) int {
		if d := time(b) - time(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	falling := slices.Clone(sorted)
	slices.Reverse(falling)
	for order, all := range map[port.Order][]string{port.ByID: sorted, port.ByUpdated: newest, port.ByIDDown: falling} {
		for _, prefix := range []string{"", "a", "a-", "none"} {
			for _, source := range []string{"", "src_1", "src_none"} {
				var want []string
				for _, id := range all {
					if strings.HasPrefix(id, prefix) && (source == "" || source == "src_1" && slices.Index(ids, id)%2 == 0) {
						want = append(want, id)
					}
				}
				for _, limit := range []int{1, 3, 100} {
					l := port.DocumentList{Prefix: prefix, SourceID: source, Order: order, Limit: limit}
					var got []string
					for {
						page := f.list(p, l)
						if len(page) > limit {
							t.Fatalf("a page of %d with limit %d", len(page), limit)
						}
						got = append(got, docIDs(page)...)
						if len(page) < limit || len(got) > len(ids) {
							break
						}
						l.AfterID, l.AfterUpdated = page[limit-1].ID, page[limit-1].UpdatedAt
					}
					f.same(fmt.Sprintf("order %s prefix %q source %q limit %d", order, prefix, source, limit), got, want)
				}
			}
		}
	}
	sized := f.list(p, port.DocumentList{Prefix: "ab", Limit: 1, Parts: port.PartSize})
	f.same("size", sized[0].TextBytes, int64(len(plain("ab").Document.Text)))
	for parts := port.Part(0); parts <= everything; parts++ {
		got := f.list(p, port.DocumentList{Prefix: "ab", Limit: 1, Parts: parts})
		f.same("parts", got, []port.DocumentHead{only(head(plain("ab"), 10, at(3), at(3)), parts)})
	}
}

// pagesUnderChange reads page after page while documents come and go between:
// those that stay untouched are seen exactly once.
func pagesUnderChange(t *testing.T, f *fixture) {
	for _, order := range []port.Order{port.ByID, port.ByUpdated} {
		p := f.create("docs-" + string(order))
		var stay []string
		for i := range 60 {
			id := fmt.Sprintf("d%03d", i*7%60)
			f.put(p, at(i/2), document(id, 1, 1))
			if i*7%60%3 != 0 {
				stay = append(stay, id)
			}
		}
		seen := map[string]int{}
		l := port.DocumentList{Order: order, Limit: 7}
		for round := 0; ; round++ {
			page := f.list(p, l)
			for _, d := range page {
				seen[d.ID]++
			}
			if len(page) < l.Limit {
				break
			}
			last := page[len(page)-1]
			l.AfterID, l.AfterUpdated = last.ID, last.UpdatedAt
			f.put(p, at(100+round), document(fmt.Sprintf("d%03d.new", round*9), 1, 1))
			f.put(p, at(100+round), document(fmt.Sprintf("d%03d", round*6), 2, 1))
			f.delete(p, at(100+round), fmt.Sprintf("d%03d", round*6+3), last.ID[:min(4, len(last.ID))])
			stay = slices.DeleteFunc(stay, func(id string) bool { return id == last.ID })
			if round > 60 {
				t.Fatal("the list does not end")
			}
		}
		for _, id := range stay {
			if seen[id] != 1 {
				t.Errorf("order %s: %s seen %d times", order, id, seen[id])
			}
		}
	}
}

// checkVectors compares stored vectors with what was written, dense values
// within half precision.
func (f *fixture) checkVectors(p port.Partition, written ...port.DocumentWrite) {
	f.Helper()
	var ids []string
	for _, w := range written {
		ids = append(ids, w.Document.ID)
	}
	var got map[string]port.Vectors
	f.view(func(r port.Reader) (err error) { got, err = r.Vectors(f.ctx, p, append(ids, "no-such-id")); return err })
	if len(got) != len(ids) {
		f.Errorf("vectors of %d documents, want %d", len(got), len(ids))
	}
	for _, w := range written {
		g, ok := got[w.Document.ID]
		if !ok {
			f.Errorf("no vectors of %s", w.Document.ID)
			continue
		}
		d := w.Vectors.Dense
		if (g.Dense.Data == nil) != (d.Data == nil) || g.Dense.Dim != d.Dim || len(g.Dense.Data) != len(d.Data) {
			f.Errorf("%s: dense %d of %d dimensions, want %d of %d", w.Document.ID, len(g.Dense.Data), g.Dense.Dim,
				len(d.Data), d.Dim)
			continue
		}
		for i, v := range d.Data {
			if diff := math.Abs(float64(v - g.Dense.Data[i])); diff > math.Abs(float64(v))/2048+1e-7 {
				f.Errorf("%s: value %d is %v, want %v", w.Document.ID, i, g.Dense.Data[i], v)
				break
			}
		}
		s := w.Vectors.Sparse
		s.Tokens, g.Sparse.Tokens = nil, nil
		if (g.Sparse.Rows == nil) != (s.Rows == nil) {
			f.Errorf("%s: sparse rows %v, want %v", w.Document.ID, g.Sparse.Rows, s.Rows)
		}
		f.same("sparse vectors of "+w.Document.ID, g.Sparse, s)
	}
}

func vectors(t *testing.T, f *fixture) {
	p := f.create("docs")
	dense := document("dense", 1, 3)
	none := document("none", 1, 2)
	none.Vectors = port.Vectors{}
	both := document("both", 1, 3)
	both.Vectors.Sparse = port.Sparse{
		Rows: []uint32{0, 2, 2, 5}, Terms: []uint32{0, 30521, 7, 8, math.MaxUint32},
		Weights: []float32{0.1, 3.14159, 1e-9, 42, 2},
	}
	sparse := document("sparse", 1, 1)
	sparse.Vectors.Dense = port.Dense{}
	sparse.Vectors.Sparse = port.Sparse{Rows: []uint32{0, 0}}
	extreme := document("extreme", 1, 1)
	copy(extreme.Vectors.Dense.Data, []float32{0, -1, 1, 6.0e-8, -5.9e-6, 0.99999, 1.0 / 3, -6.2e-5})
	f.put(p, at(1), dense, none, both, sparse, extreme)
	f.checkVectors(p, dense, none, both, sparse, extreme)
	dense = document("dense", 2, 1)
	f.put(p, at(2), dense)
	f.checkVectors(p, dense, both)
	both.Vectors = port.Vectors{}
	f.put(p, at(3), both)
	f.checkVectors(p, both)
	f.view(func(r port.Reader) error {
		got, err := r.Vectors(f.ctx, p, nil)
		if len(got) != 0 {
			t.Errorf("vectors of no ids: %v", got)
		}
		return err
	})
}

// badWrites are mistakes of a caller, refused before anything is written.
func badWrites(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(1), plain("a"))
	before := f.namespace(p)
	for what, spoil := range map[string]func(*port.DocumentWrite){
		"too few vectors":     func(w *port.DocumentWrite) { w.Vectors.Dense.Data = w.Vectors.Dense.Data[:dim] },
		"other dimensions":    func(w *port.DocumentWrite) { w.Vectors.Dense = port.Dense{Dim: 4, Data: make([]float32, 8)} },
		"not a number":        func(w *port.DocumentWrite) { w.Vectors.Dense.Data[3] = float32(math.NaN()) },
		"infinite":            func(w *port.DocumentWrite) { w.Vectors.Dense.Data[3] = float32(math.Inf(1)) },
		"chunk past the text": func(w *port.DocumentWrite) { w.Document.Chunks[1].End = len(w.Document.Text) + 1 },
		"chunk ends early":    func(w *port.DocumentWrite) { w.Document.Chunks[1].End = w.Document.Chunks[1].Start - 1 },
		"negative chunk":      func(w *port.DocumentWrite) { w.Document.Chunks[0].Start = -1 },
		"sparse rows":         func(w *port.DocumentWrite) { w.Vectors.Sparse = port.Sparse{Rows: []uint32{0, 0}} },
		"sparse terms not ris.": func(w *port.DocumentWrite) {
			w.Vectors.Sparse = port.Sparse{Rows: []uint32{0, 2, 2}, Terms: []uint32{5, 5}, Weights: []float32{1, 1}}
		},
		"sparse weight zero": func(w *port.DocumentWrite) {
			w.Vectors.Sparse = port.Sparse{Rows: []uint32{0, 1, 1}, Terms: []uint32{5}, Weights: []float32{0}}
		},
	} {
		w := plain("bad")
		spoil(&w)
		err := f.s.UpdateDocuments(f.ctx, func(tx port.DocumentWriter) error {
			_, err := tx.PutDocuments(f.ctx, p, at(2), []port.DocumentWrite{plain("good"), w})
			return err
		})
		if err == nil {
			t.Errorf("%s: no error", what)
		}
		f.same(what+": namespace", f.namespace(p), before)
	}
}

func changes(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.same("none yet", f.changes(p, 0, 10), []port.Change{})
	f.put(p, at(1), plain("a"), plain("b"), plain("c"))                           // 1
	f.put(p, at(2), document("b", 2, 1), plain("d"))                              // 2
	if n, seq, gone := f.delete(p, at(3), "a", "x"); n != 1 || seq != 3 || gone { // 3
		t.Errorf("delete: %d, %d, %v", n, seq, gone)
	}
	if n, seq, _ := f.delete(p, at(3), "x", "y"); n != 0 || seq != 0 {
		t.Errorf("delete of nothing: %d, %d", n, seq)
	}
	f.put(p, at(4), plain("e"), plain("f")) // 4
	f.delete(p, at(5), "e", "c")            // 5
	f.put(p, at(6), plain("c"))             // 6, again after its deletion
	all := []port.Change{
		{Seq: 2, Document: "b"}, {Seq: 2, Document: "d"},
		{Seq: 3, Document: "a", Deleted: true},
		{Seq: 4, Document: "f"},
		{Seq: 5, Document: "e", Deleted: true},
		{Seq: 6, Document: "c"},
	}
	f.same("compacted", f.changes(p, 0, 100), all)
	f.same("whole numbers", f.changes(p, 0, 1), all[:2])
	f.same("exactly", f.changes(p, 0, 2), all[:2])
	f.same("past a number", f.changes(p, 0, 3), all[:3])
	f.same("after", f.changes(p, 2, 2), all[2:4])
	f.same("after all", f.changes(p, 6, 10), []port.Change{})
	f.same("far after", f.changes(p, math.MaxUint64, 10), []port.Change{})
	if n := f.namespace(p); n.Seq != 6 {
		t.Errorf("seq %d, want 6", n.Seq)
	}
	var many []port.DocumentWrite
	for i := range 50 {
		many = append(many, document(fmt.Sprint("m", i), 1, 1))
	}
	f.put(p, at(7), many...)
	if got := f.changes(p, 6, 3); len(got) != 50 {
		t.Errorf("%d changes, want the whole number's 50", len(got))
	}
}

func trimChanges(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(1), plain("a"), plain("b"), plain("c"), plain("d")) // 1
	f.delete(p, at(2), "a")                                         // 2
	f.delete(p, at(3), "b")                                         // 3
	f.put(p, at(4), plain("c"))                                     // 4
	trim := func(upto uint64) {
		f.update(func(w port.DocumentWriter) error { return w.TrimChanges(f.ctx, p, upto) })
	}
	trim(0)
	if got := f.changes(p, 0, 10); len(got) != 4 {
		t.Errorf("trimmed up to 0: %v", got)
	}
	trim(2)
	rest := []port.Change{{Seq: 1, Document: "d"}, {Seq: 3, Document: "b", Deleted: true}, {Seq: 4, Document: "c"}}
	f.same("trimmed up to 2", f.changes(p, 0, 10), rest)
	trim(100)
	f.same("trimmed all", f.changes(p, 0, 10), []port.Change{rest[0], rest[2]})
	if n := f.namespace(p); n.Seq != 4 || n.Documents != 2 {
		t.Errorf("namespace: %+v", n)
	}
}

func deleteDocuments(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(1), document("a", 1, 3), document("b", 1, 1), document("c", 1, 2))
	if n, _, gone := f.delete(p, at(2), "a", "none", "a"); n != 1 || gone {
		t.Errorf("deleted %d, gone %v", n, gone)
	}
	n := f.namespace(p)
	if n.Documents != 2 || n.Chunks != 3 || !n.UpdatedAt.Equal(at(2)) {
		t.Errorf("counts: %+v", n)
	}
	f.same("left", docIDs(f.documents(p, 0, "a", "b", "c")), []string{"b", "c"})
	f.checkVectors(p, document("b", 1, 1), document("c", 1, 2))
	if n, seq, gone := f.delete(p, at(3), "b", "c"); n != 2 || seq != 3 || !gone {
		t.Errorf("the last ones: %d, %d, %v", n, seq, gone)
	}
	f.want("emptied", f.s.View(f.ctx, func(r port.Reader) error { _, err := r.Partition(f.ctx, p); return err }),
		fault.PartitionNotFound)
	f.create("docs")
	f.same("nothing comes back", f.list(p, port.DocumentList{Limit: 10}), []port.DocumentHead{})
	f.same("nor as changes", f.changes(p, 0, 10), []port.Change{})
	f.put(p, at(4), plain("a"))
	if n := f.namespace(p); n.Documents != 1 || n.Seq != 1 {
		t.Errorf("second life: %+v", n)
	}
	// Emptied and created again within one transaction.
	f.update(func(w port.DocumentWriter) error {
		_, _, gone, err := w.DeleteDocuments(f.ctx, p, at(5), []string{"a"})
		if err != nil || !gone {
			return fmt.Errorf("gone %v, %w", gone, err)
		}
		if _, err := w.Partition(f.ctx, p); !fault.IsPartitionNotFound(err) {
			return fmt.Errorf("gone but there: %v", err)
		}
		if _, err := w.CreatePartition(f.ctx, p, port.PartitionRow{Dimensions: dim}); err != nil {
			return err
		}
		_, err = w.PutDocuments(f.ctx, p, at(5), []port.DocumentWrite{plain("b")})
		return err
	})
	f.same("made again", docIDs(f.list(p, port.DocumentList{Limit: 10})), []string{"b"})
}

func deleteNamespace(t *testing.T, f *fixture) {
	p := f.create("docs")
	other := f.create("other")
	f.put(other, at(1), plain("a"))
	for round := range 3 {
		var docs []port.DocumentWrite
		for i := range 50 {
			docs = append(docs, document(fmt.Sprintf("d%d", i), round, 2))
		}
		f.put(p, at(1), docs...)
		f.delete(p, at(2), "d1", "d2")
		f.update(func(w port.DocumentWriter) error {
			existed, err := w.DeletePartition(f.ctx, p)
			if !existed {
				t.Error("existed is false")
			}
			again, err2 := w.DeletePartition(f.ctx, p)
			if again {
				t.Error("existed twice")
			}
			_, err3 := w.Documents(f.ctx, p, []string{"d3"}, 0)
			f.want("read after deleting", err3, fault.PartitionNotFound)
			return errors.Join(err, err2)
		})
		f.view(func(r port.Reader) error {
			all, err := r.Namespaces(f.ctx, f.org, "", "", 10)
			if len(all) != 1 || all[0].Name != "other" {
				t.Errorf("listed: %+v", all)
			}
			g, err2 := r.Generations(f.ctx)
			if len(g) != 1 {
				t.Errorf("generations: %v", g)
			}
			return errors.Join(err, err2)
		})
		f.create("docs")
		if n := f.namespace(p); n.Documents != 0 || n.Seq != 0 {
			t.Errorf("new life: %+v", n)
		}
	}
	f.same("the other one", docIDs(f.list(other, port.DocumentList{Limit: 10})), []string{"a"})
}

// clockGoesBack: times recorded never go back, and order never depends on them.
func clockGoesBack(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(100), plain("a"), plain("b"))
	f.put(p, at(50), document("a", 2, 1), plain("c"))
	d := f.documents(p, 0, "a", "b", "c")
	if !d[0].UpdatedAt.Equal(at(100)) || !d[0].CreatedAt.Equal(at(100)) {
		t.Errorf("replaced document: created %v, updated %v", d[0].CreatedAt, d[0].UpdatedAt)
	}
	if n := f.namespace(p); !n.UpdatedAt.Equal(at(100)) || n.Seq != 2 {
		t.Errorf("namespace: %+v", n)
	}
	f.delete(p, at(10), "b")
	f.same("changes", f.changes(p, 0, 10),
		[]port.Change{{Seq: 2, Document: "a"}, {Seq: 2, Document: "c"}, {Seq: 3, Document: "b", Deleted: true}})
	if n := f.namespace(p); !n.UpdatedAt.Equal(at(100)) {
		t.Errorf("namespace: %+v", n)
	}
}

func secrets(t *testing.T, f *fixture) {
	read := func() (v []byte, err error) {
		err = f.s.View(f.ctx, func(r port.Reader) (err error) { v, err = r.Secret(f.ctx, "cursors"); return err })
		return v, err
	}
	_, err := read()
	f.want("absent", err, fault.NotFound)
	first := []byte{0, 1, 255}
	f.update(func(w port.DocumentWriter) error { return w.PutSecret(f.ctx, "cursors", first) })
	f.update(func(w port.DocumentWriter) error { return w.PutSecret(f.ctx, "cursors", []byte("second")) })
	v, err := read()
	if err != nil {
		t.Fatal(err)
	}
	f.same("the first one stays", v, first)
}

func tenantIsolation(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: "org_other", Name: "other"})
	})
	mine, theirs := f.create("docs"), port.Documents("org_other", "docs")
	f.put(mine, at(1), document("a", 1, 2), plain("mine"))
	f.want("before theirs exists", f.s.View(f.ctx, func(r port.Reader) error {
		_, err := r.Documents(f.ctx, theirs, []string{"a"}, everything)
		return err
	}), fault.PartitionNotFound)
	f.update(func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, theirs, port.PartitionRow{Dimensions: dim})
		return err
	})
	a2 := document("a", 2, 1)
	f.put(theirs, at(2), a2, plain("theirs"))
	f.same("documents", docIDs(f.documents(theirs, 0, "a", "mine", "theirs")), []string{"a", "theirs"})
	f.checkVectors(theirs, a2, plain("theirs"))
	f.same("list", docIDs(f.list(mine, port.DocumentList{Limit: 10})), []string{"a", "mine"})
	f.same("changes", f.changes(theirs, 0, 10), []port.Change{{Seq: 1, Document: "a"}, {Seq: 1, Document: "theirs"}})
	// A generation is no way around the organization or the name.
	f.want("their generation under my name", f.s.View(f.ctx, func(r port.Reader) error {
		_, err := r.Documents(f.ctx, mine.At(f.namespace(theirs).Generation), []string{"theirs"}, 0)
		return err
	}), fault.PartitionNotFound)
	f.delete(theirs, at(3), "a", "mine")
	f.same("mine untouched", f.documents(mine, everything, "a"), []port.DocumentHead{head(document("a", 1, 2), 1, at(1), at(1))})
	f.view(func(r port.Reader) error {
		n, err := r.Namespaces(f.ctx, "org_other", "", "", 10)
		if len(n) != 1 || n[0].Documents != 1 {
			t.Errorf("their namespaces: %+v", n)
		}
		return err
	})
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, theirs); return err })
	f.same("mine still", docIDs(f.list(mine, port.DocumentList{Limit: 10})), []string{"a", "mine"})
	f.checkVectors(mine, document("a", 1, 2), plain("mine"))
}

func snapshot(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(1), plain("a"))
	f.view(func(r port.Reader) error {
		before, err := r.Partition(f.ctx, p)
		if err != nil {
			return err
		}
		f.put(p, at(2), document("a", 2, 1), plain("b"))
		f.delete(p, at(3), "b")
		after, err := r.Partition(f.ctx, p)
		f.same("namespace in a snapshot", after, before)
		docs, err2 := r.Documents(f.ctx, p, []string{"a", "b"}, everything)
		f.same("documents in a snapshot", docs, []port.DocumentHead{head(plain("a"), 1, at(1), at(1))})
		c, err3 := r.Changes(f.ctx, p, 0, 10)
		f.same("changes in a snapshot", c, []port.Change{{Seq: 1, Document: "a"}})
		return errors.Join(err, err2, err3)
	})
	// A view runs while a transaction is open and sees nothing of it; a view
	// that begins after Update returned sees all of it.
	f.update(func(w port.DocumentWriter) error {
		if _, err := w.PutDocuments(f.ctx, p, at(4), []port.DocumentWrite{plain("c")}); err != nil {
			return err
		}
		f.same("uncommitted", docIDs(f.documents(p, 0, "a", "c")), []string{"a"})
		docs, err := w.Documents(f.ctx, p, []string{"a", "c"}, 0)
		f.same("own writes", docIDs(docs), []string{"a", "c"})
		return err
	})
	f.same("committed", docIDs(f.documents(p, 0, "a", "c")), []string{"a", "c"})
}

func rollback(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(1), plain("a"))
	before := f.namespace(p)
	mine := errors.New("mine")
	spoil := func(w port.DocumentWriter) error {
		_, err := w.PutDocuments(f.ctx, p, at(2), []port.DocumentWrite{plain("b"), document("a", 2, 5)})
		_, err2 := w.CreatePartition(f.ctx, port.Documents(f.org, "new"), port.PartitionRow{})
		_, err3 := w.DeletePartition(f.ctx, p)
		return errors.Join(err, err2, err3)
	}
	if err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		if err := spoil(w); err != nil {
			return err
		}
		return mine
	}); err != mine {
		t.Errorf("got %v, want the function's own error", err)
	}
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("recovered %v", v)
			}
		}()
		_ = f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
			if err := spoil(w); err != nil {
				return err
			}
			panic("boom")
		})
		t.Error("Update returned from a panic")
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
			_ = spoil(w)
			runtime.Goexit()
			return nil
		})
	}()
	<-ended
	// Update is the same transaction without documents.
	if err := f.s.Update(f.ctx, func(w port.Writer) error {
		if _, err := w.CreatePartition(f.ctx, port.Documents(f.org, "new"), port.PartitionRow{}); err != nil {
			return err
		}
		return mine
	}); err != mine {
		t.Errorf("Update: got %v, want the function's own error", err)
	}
	if err := f.s.View(f.ctx, func(port.Reader) error { return mine }); err != mine {
		t.Errorf("View: got %v, want the function's own error", err)
	}
	f.same("namespace", f.namespace(p), before)
	f.same("documents", docIDs(f.list(p, port.DocumentList{Limit: 10})), []string{"a"})
	f.want("created inside", f.s.View(f.ctx, func(r port.Reader) error {
		_, err := r.Partition(f.ctx, port.Documents(f.org, "new"))
		return err
	}), fault.PartitionNotFound)
	f.put(p, at(3), plain("b"))
	if err := f.s.Update(f.ctx, func(w port.Writer) error {
		_, err := w.CreatePartition(f.ctx, port.Documents(f.org, "new"), port.PartitionRow{})
		return err
	}); err != nil {
		t.Errorf("Update: %v", err)
	}
	f.namespace(port.Documents(f.org, "new"))
}

// failingAlone runs many writers at once; those that err, panic or break a rule
// must not take any other with them.
func failingAlone(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(0), plain("first"))
	mine := errors.New("mine")
	var wg sync.WaitGroup
	var kept atomic.Int64
	const writers, each = 16, 6
	for i := range writers {
		wg.Go(func() {
			for j := range each {
				id := fmt.Sprintf("w%d.%d", i, j)
				func() {
					defer func() {
						if v := recover(); v != nil && v != "boom" {
							t.Errorf("%s: recovered %v", id, v)
						}
					}()
					err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
						if _, err := w.PutDocuments(f.ctx, p, at(1), []port.DocumentWrite{document(id, 1, 1)}); err != nil {
							return err
						}
						switch i % 4 {
						case 1:
							return mine
						case 2:
							panic("boom")
						case 3:
							return w.PutOrganization(f.ctx, port.Organization{ID: "org_copy", Name: ident.DefaultOrg})
						}
						return nil
					})
					switch i % 4 {
					case 0:
						if err != nil {
							t.Errorf("%s: %v", id, err)
						} else {
							kept.Add(1)
						}
					case 1:
						if err != mine {
							t.Errorf("%s: got %v, want the function's own error", id, err)
						}
					case 3:
						f.want(id, err, fault.Conflict)
					}
				}()
			}
		})
	}
	wg.Wait()
	n := f.namespace(p)
	if n.Documents != 1+kept.Load() || n.Seq != uint64(1+kept.Load()) {
		t.Errorf("%d documents, change %d, want %d", n.Documents, n.Seq, 1+kept.Load())
	}
	for _, d := range f.list(p, port.DocumentList{Limit: 1000}) {
		var i, j int
		if fmt.Sscanf(d.ID, "w%d.%d", &i, &j); d.ID != "first" && i%4 != 0 {
			t.Errorf("%s of a failed writer is there", d.ID)
		}
	}
}

func cancellation(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(1), plain("a"))
	before := f.namespace(p)
	write := func(ctx context.Context, after func()) func(port.DocumentWriter) error {
		return func(w port.DocumentWriter) error {
			if _, err := w.PutDocuments(ctx, p, at(2), []port.DocumentWrite{plain("b")}); err != nil {
				return err
			}
			after()
			return nil
		}
	}
	// Before its turn: a queued call leaves without its function having run. Where
	// writers do not queue it may have been done before, and then wholly.
	running, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		f.update(func(w port.DocumentWriter) error { close(running); <-release; return nil })
	})
	<-running
	ctx, cancel := context.WithCancel(f.ctx)
	left := make(chan error)
	var ran atomic.Bool
	go func() { left <- f.s.UpdateDocuments(ctx, write(ctx, func() { ran.Store(true) })) }()
	time.Sleep(5 * time.Millisecond) // likely queued by now; right either way
	cancel()
	switch err := <-left; {
	case err == nil && ran.Load():
		before = f.namespace(p)
		if before.Documents != 2 {
			t.Errorf("%d documents after a write", before.Documents)
		}
	case !errors.Is(err, context.Canceled):
		t.Errorf("cancelled in the queue: %v", err)
	}
	close(release)
	wg.Wait()
	// While it runs: its work is undone though the function answers nil.
	ctx, cancel = context.WithCancel(f.ctx)
	if err := f.s.UpdateDocuments(ctx, write(ctx, cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while running: %v", err)
	}
	// Before the call.
	if err := f.s.UpdateDocuments(ctx, write(ctx, func() { t.Error("ran although cancelled") })); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	err := f.s.View(ctx, func(r port.Reader) error { _, err := r.Partition(ctx, p); return err })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled view: %v", err)
	}
	f.same("namespace", f.namespace(p), before)
}

// serialisable: read, then write what was read plus one, from many at once.
func serialisable(t *testing.T, f *fixture) {
	p := f.create("docs")
	f.put(p, at(0), document("count", 0, 1))
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
					docs, err := w.Documents(f.ctx, p, []string{"count"}, port.PartMetadata)
					if err != nil {
						return err
					}
					var m struct{ Version int }
					if err := json.Unmarshal(docs[0].Metadata, &m); err != nil {
						return err
					}
					_, err = w.PutDocuments(f.ctx, p, at(1), []port.DocumentWrite{document("count", m.Version+1, 1)})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.same("count", string(f.documents(p, port.PartMetadata, "count")[0].Metadata),
		fmt.Sprintf(`{"id":"count","version":%d}`, writers*each))
}

// afterUse: a reader or writer that outlives its function is refused.
func afterUse(t *testing.T, f *fixture) {
	p := f.create("docs")
	var r port.Reader
	var w port.DocumentWriter
	f.view(func(x port.Reader) error { r = x; return nil })
	f.update(func(x port.DocumentWriter) error { w = x; return nil })
	if _, err := r.Partition(f.ctx, p); err == nil {
		t.Error("a reader answered after View")
	}
	if _, err := w.DeletePartition(f.ctx, p); err == nil {
		t.Error("a writer wrote after Update")
	}
	f.namespace(p)
}

func ping(t *testing.T, f *fixture) {
	if err := f.s.Ping(f.ctx); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if err := f.s.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func closed(t *testing.T, f *fixture) {
	if err := f.s.Close(); err != nil {
		t.Fatal(err)
	}
	never := func() { t.Error("a function ran on a closed store") }
	f.want("View", f.s.View(f.ctx, func(port.Reader) error { never(); return nil }), fault.Unavailable)
	f.want("Update", f.s.UpdateDocuments(f.ctx, func(port.DocumentWriter) error { never(); return nil }), fault.Unavailable)
	f.want("Ping", f.s.Ping(f.ctx), fault.Unavailable)
}
