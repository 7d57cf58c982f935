package organization_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/organization"
	"github.com/mnemehq/mneme/core/port"
)

// site is a service that deletes, with the services whose data goes.
type site struct {
	*coretest.Fixture
	*organization.Service
	t          *testing.T
	documents  *document.Service
	memories   *memory.Service
	namespaces *namespace.Service
	close      func()
}

func open(t *testing.T, dir string) *site {
	t.Helper()
	f := coretest.New(t, coretest.Options{Dir: dir})
	s := &site{Fixture: f, t: t, documents: services.Documents(f), memories: services.Memories(f, nil)}
	stop := services.Running(t, s.memories)
	s.close = func() { stop(); f.Close() }
	s.namespaces = namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)
	s.Service = organization.New(organization.Settings{
		Store: f.Store,
		Keys:  f.Keys,
		Jobs:  f.Jobs,
		Erase: func(ctx context.Context, p port.Partition) (port.Erased, error) {
			c, err := s.memories.Erase(ctx, p.Org(), p.Integration(), p.Name())
			return c.Erased, err
		},
		Drop: f.Projector.Drop,
		Clean: func(ctx context.Context) error {
			var live []int64
			err := f.Store.View(ctx, func(r port.Reader) (err error) {
				live, err = r.Generations(ctx)
				return err
			})
			return errors.Join(err, f.Index.Retain(live))
		},
		Now: f.Now,
	})
	return s
}

// must is the result of a call that has to succeed.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// fill gives an organization something of every kind, with a marker in each, and answers
// how to call it: as an application, and as an integration.
func (s *site) fill(org, marker string) (docs, chat context.Context) {
	s.t.Helper()
	docs = s.Caller(key.Issue{Org: org, Name: "k-" + marker})
	chat = s.Caller(key.Issue{Org: org, Name: "c-" + marker, Kind: ident.Integration, Integration: "app-" + marker,
		Scopes: ident.Scopes(), Quotas: &ident.Quotas{}})
	for _, ns := range []string{"a-" + marker, "b-" + marker} {
		for i := range 3 {
			coretest.Ask(docs, s.t, s.documents.Write, coretest.Object{"documents": []coretest.Object{
				{"id": fmt.Sprint(marker, i), "text": strings.Repeat("The word is "+marker+". ", 30)},
			}}, func(in *document.WriteDocuments) { in.Namespace = ns }).OK()
		}
	}
	coretest.Ask(docs, s.t, s.namespaces.Create, coretest.Object{"name": "empty-" + marker}).OK()
	for i := range 3 {
		coretest.Ask(chat, s.t, s.memories.Batch, coretest.Object{"endUserId": fmt.Sprint("u", i, "-", marker),
			"memories": []coretest.Object{{"content": marker + " lives in Lyon."}, {"content": marker + " has a dog."}}},
			func(in *memory.Batch) { in.IdempotencyKey = new(fmt.Sprint(marker, i)) }).OK()
	}
	o := must(s.Keys.Organization(s.t.Context(), org))
	if err := s.Store.Update(s.t.Context(), func(w port.Writer) error {
		return w.PutDataKey(s.t.Context(), port.DataKey{Org: o.ID, ID: marker, Wrapped: []byte(marker), WrappedBy: "outer"})
	}); err != nil {
		s.t.Fatal(err)
	}
	return docs, chat
}

// sees asserts how many documents and memories of fill an organization's callers find.
func (s *site) sees(docs, chat context.Context, marker string, documents, memories int) {
	s.t.Helper()
	got := 0
	for _, ns := range []string{"a-" + marker, "b-" + marker} {
		n, err := coretest.Call(docs, s.namespaces.Get, namespace.Ref{Namespace: ns})
		if fault.CodeOf(err) != fault.NamespaceNotFound && err != nil {
			s.t.Fatal(err)
		}
		got += int(n.Documents)
	}
	said := 0
	for i := range 3 {
		l := must(coretest.Call(chat, s.memories.List, memory.List{EndUserID: fmt.Sprint("u", i, "-", marker)}))
		said += len(l.Memories)
	}
	if got != documents || said != memories {
		s.t.Errorf("%s: %d documents and %d memories, want %d and %d", marker, got, said, documents, memories)
	}
}

func certain(port.Organization) error { return nil }

// ended waits for the end of a deletion, by the id of the organization.
func (s *site) ended(org string) organization.Deletion {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		d, err := s.Delete(s.t.Context(), org, certain)
		if err != nil {
			s.t.Fatal(err)
		}
		if !d.Ended.IsZero() {
			return d
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no end of %+v", d)
		}
	}
}

// traces lists the files that hold a text.
func (s *site) traces(text string) (files []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // gone in between
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(bytes.ToLower(b), []byte(text)) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

const goes, stays = "zqxgoesaway", "zqxstayshere"

func TestDeletion(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	docs, chat := s.fill("acme", goes)
	others, otherChat := s.fill("other", stays)
	personal := must(s.Keys.Issue(t.Context(), key.Issue{Org: "acme", Kind: ident.Personal, Integration: "app-" + goes,
		EndUser: "u1-" + goes}))
	acme := must(s.Keys.Organization(t.Context(), "acme"))
	if len(s.traces(goes)) == 0 {
		t.Fatal("the marker is not on disk: the test would see nothing")
	}
	if _, err := s.Delete(t.Context(), "acme", func(o port.Organization) error {
		return errors.New("not " + o.Name)
	}); err == nil || err.Error() != "not acme" {
		t.Errorf("refused by the caller: %v", err)
	}
	s.sees(docs, chat, goes, 6, 6)

	hold, held := make(chan struct{}), make(chan struct{}, 100)
	s.Store.OnScrub.Set(func() error { held <- struct{}{}; <-hold; return nil })
	d := must(s.Delete(t.Context(), "acme", certain))
	if d.Org != acme.ID || d.Job == "" || !d.Ended.IsZero() {
		t.Errorf("begun: %+v", d)
	}
	// From the first moment nobody comes in, and nothing is made.
	if _, err := s.Keys.Verify(t.Context(), personal.Secret, op.Memory); fault.CodeOf(err) != fault.Forbidden ||
		!strings.Contains(err.Error(), "being deleted") {
		t.Errorf("a key of it: %v", err)
	}
	<-held
	for what, err := range map[string]error{
		"a key":       second(s.Keys.Issue(t.Context(), key.Issue{Org: "acme"})),
		"an app":      second(s.Keys.CreateIntegration(t.Context(), "acme", "late", key.IntegrationChange{})),
		"its end":     s.Keys.Resume(t.Context(), "acme"),
		"another one": second(s.Keys.CreateOrganization(t.Context(), "acme")),
		"a namespace": second(coretest.Call(docs, s.namespaces.Create, namespace.CreateNamespace{Name: "late"})),
		"an end user": second(coretest.Call(chat, s.memories.Batch, memory.Batch{EndUserID: "late",
			Memories: []memory.BatchItem{{Content: new("late")}}})),
		"to cancel it": second(s.Jobs.Cancel(t.Context(), ident.From(s.Caller(key.Issue{})).Org, d.Job)),
	} {
		if err == nil {
			t.Errorf("%s was possible", what)
		}
	}
	if again := must(s.Delete(t.Context(), "acme", certain)); again.Job != d.Job {
		t.Errorf("asked again: %+v", again)
	}
	close(hold)

	d = s.ended(string(acme.ID))
	want := organization.Removed{Namespaces: 3, Documents: 6, EndUsers: 3, Memories: 6, Integrations: 1, Keys: 2}
	if d.Removed.Jobs = 0; d.Removed != want || d.Done != 6 || d.Total != 6 {
		t.Errorf("ended as %+v, want %+v", d, want)
	}
	if got := s.traces(goes); len(got) != 0 {
		t.Errorf("the marker is in %v", got)
	}
	if got := s.traces(strings.ToLower(personal.ID)); len(got) != 0 {
		t.Errorf("the key is in %v", got)
	}
	if _, err := s.Keys.Verify(t.Context(), personal.Secret, op.Memory); fault.CodeOf(err) != fault.Unauthorized {
		t.Errorf("a key of it afterwards: %v", err)
	}
	if none := must(s.Delete(t.Context(), "acme", certain)); none != (organization.Deletion{}) {
		t.Errorf("once more, by the name: %+v", none)
	}
	s.sees(others, otherChat, stays, 6, 6)
	// The name is free, and nothing of before is in it.
	docs, chat = s.Caller(key.Issue{Org: "acme"}), s.Caller(key.Issue{Org: "acme", Kind: ident.Integration, Name: "app-" + goes})
	if fresh := ident.From(docs).Org; fresh == acme.ID {
		t.Error("the new organization has the old one's id")
	}
	s.sees(docs, chat, goes, 0, 0)
}

func second[T any](_ T, err error) error { return err }

// TestDeletionRefuses what would lock everybody out.
func TestDeletionRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	s.Caller(key.Issue{Org: "acme"})
	refused := func(org, word string) {
		t.Helper()
		if _, err := s.Delete(t.Context(), org, certain); fault.CodeOf(err) != fault.Conflict ||
			!strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", org, err)
		}
	}
	refused(ident.DefaultOrg, "stays")
	root := must(s.Keys.Issue(t.Context(), key.Issue{Org: "acme", Kind: ident.Admin, AllOrganizations: true}))
	refused("acme", root.ID)
	if o := must(s.Keys.Organization(t.Context(), "acme")); o.Suspended || !o.Deleting.IsZero() {
		t.Errorf("after a refusal: %+v", o)
	}
	if err := s.Keys.Revoke(t.Context(), key.Ref{ID: root.ID}); err != nil {
		t.Fatal(err)
	}
	s.ended(string(must(s.Delete(t.Context(), "acme", certain)).Org))
	for _, absent := range []string{"acme", "org_none", "org_\x00", "\x00", "a b"} {
		if d := must(s.Delete(t.Context(), absent, certain)); d != (organization.Deletion{}) {
			t.Errorf("%q: %+v", absent, d)
		}
	}
}

// TestDeletionIsResumed cuts a deletion off after each of its transactions: the next
// start ends it, and its counts are whole.
func TestDeletionIsResumed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 4, 7, 11, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := open(t, "")
			s.fill("acme", goes)
			acme := must(s.Keys.Organization(t.Context(), "acme"))
			s.Store.FailJobUpdates(n, errors.New("the plug was pulled"))
			must(s.Delete(t.Context(), "acme", certain))
			s.close()

			s = open(t, s.Dir)
			d := s.ended(string(acme.ID))
			if got := s.traces(goes); len(got) != 0 {
				t.Errorf("the marker is in %v", got)
			}
			d.Removed.Jobs, d.Removed.EndUsers, d.Removed.Memories = 0, 0, 0 // an erasure may have gone uncounted
			want := organization.Removed{Namespaces: 3, Documents: 6, Integrations: 1, Keys: 2}
			if d.Removed != want {
				t.Errorf("ended as %+v, want %+v", d, want)
			}
			var left []port.Organization
			var jobs []port.Job
			err := s.Store.View(t.Context(), func(r port.Reader) (err error) {
				if left, err = r.Organizations(t.Context()); err == nil {
					jobs, err = r.Jobs(t.Context(), port.JobList{Status: port.JobRunning})
				}
				return err
			})
			if err != nil || len(left) != 1 || len(jobs) != 0 {
				t.Errorf("left are %+v and %+v, %v", left, jobs, err)
			}
		})
	}
}

// TestDeletionTakesJobsAlong: work that was accepted before is not done afterwards.
func TestDeletionTakesJobsAlong(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	began := make(chan struct{}, 1)
	s.Jobs.Register(job.Kind{Name: "waits", Keep: time.Hour, Run: func(ctx context.Context, _ *job.Job) error {
		began <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	org := ident.From(s.Caller(key.Issue{Org: "acme"})).Org
	j, _, err := s.Jobs.Start(t.Context(), "waits", job.Order{Partition: port.Documents(org, "docs")})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	must(s.Delete(t.Context(), "acme", certain))
	if d := s.ended(string(org)); d.Removed.Jobs != 1 {
		t.Errorf("ended as %+v", d)
	}
	err = s.Store.View(t.Context(), func(r port.Reader) error {
		_, err := r.Job(t.Context(), org, j.ID)
		return err
	})
	if fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the job: %v", err)
	}
}
