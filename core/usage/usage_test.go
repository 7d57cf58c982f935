package usage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/usage"
)

// world is a store behind a guard, with what counts and what writes.
type world struct {
	*coretest.Fixture
	*testing.T
	guard      *usage.Guard
	counter    *usage.Counter
	usage      *usage.Service
	documents  *document.Service
	namespaces *namespace.Service
	memories   *memory.Service
	ctx        context.Context // of a key of the organization "default"
	operator   context.Context

	mu  sync.Mutex
	now time.Time
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, now: time.Now().UTC()}
	w.counter = usage.NewCounter(w.clock)
	w.Fixture = coretest.New(t, coretest.Options{
		Listeners: []ingest.Listener{event.Listener{}},
		Over: func(store port.DocumentStore) port.DocumentStore {
			w.guard = usage.NewGuard(usage.GuardSettings{Store: store, Changed: w.counter.Rouse, Now: w.clock})
			recorder := event.NewRecorder(event.RecorderSettings{Store: w.guard})
			w.guard.NoteIn(recorder)
			return recorder
		},
	})
	w.Changes.CountedBy(w.counter)
	w.usage = w.another(w.counter)
	w.documents = services.Documents(w.Fixture)
	w.memories = services.Memories(w.Fixture, nil)
	w.namespaces = namespace.New(w.Store, w.Pages, w.Models, func(context.Context, port.Partition) {})
	w.ctx = w.Caller(key.Issue{})
	w.operator = w.Caller(key.Issue{Kind: ident.Admin, Name: "operator", AllOrganizations: true})
	return w
}

// another is the service of another process over the store.
func (w *world) another(c *usage.Counter) *usage.Service {
	return usage.New(usage.Settings{Store: w.Store, Counter: c, Guard: w.guard, Pages: w.Pages, Now: w.clock})
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// write writes documents, whose first words are their ids.
func (w *world) write(ctx context.Context, namespace string, texts ...string) error {
	in := document.WriteDocuments{Namespace: namespace}
	for _, text := range texts {
		id, _, _ := strings.Cut(text, " ")
		in.Documents = append(in.Documents, document.Input{ID: id, Text: new(text)})
	}
	_, err := w.documents.Write(ctx, in)
	return err
}

func (w *world) list(ctx context.Context, f usage.Filter) []usage.Row {
	w.Helper()
	rows, err := w.usage.List(ctx, usage.List{Filter: f})
	w.must(err)
	return rows.Usage
}

func (w *world) same(what string, got, want any) {
	w.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// What several processes count, in pieces, at once, with a store that fails now and then, and
// over a restart, is what is listed in the end.
func TestCounts(t *testing.T) {
	w := open(t)
	org := ident.From(w.ctx).Org
	const processes, workers, rounds = 2, 4, 50
	counters := make([]*usage.Counter, processes)
	flush := make([]*usage.Service, processes)
	for i := range counters {
		counters[i] = usage.NewCounter(w.clock)
		flush[i] = w.another(counters[i])
	}
	refused := errors.New("the database is away")
	var tries atomic.Int64
	w.Store.OnBackgroundUpdate.Set(func() error {
		if tries.Add(1)%3 == 1 {
			return refused
		}
		return nil
	})
	var all sync.WaitGroup
	for p := range processes {
		for n := range workers {
			all.Go(func() {
				for i := range rounds {
					a := port.UsageAccount{Org: org, Namespace: fmt.Sprint("n", i%3), KeyID: fmt.Sprint("key_", n)}
					counters[p].CountUsage(a, port.Usage{Requests: 1, TokensEmbedded: int64(i)})
					if i%10 == 9 {
						if err := flush[p].Flush(context.Background()); err != nil && !errors.Is(err, refused) {
							t.Error(err)
						}
					}
				}
			})
		}
	}
	all.Wait()
	if tries.Load() < 2 {
		t.Error("nothing was stored while it was counted")
	}
	w.Store.OnBackgroundUpdate.Clear()
	for _, s := range flush { // as a process does when it ends
		w.must(s.Flush(context.Background()))
	}
	w.usage = w.another(usage.NewCounter(w.clock)) // as it begins again
	var requests, tokens int64
	rows := w.list(w.operator, usage.Filter{})
	for _, r := range rows {
		requests, tokens = requests+r.Requests, tokens+r.TokensEmbedded
	}
	w.same("rows", len(rows), 3*workers)
	for _, r := range w.list(w.operator, usage.Filter{By: "hour"}) {
		if !r.From.Equal(w.clock().Truncate(time.Hour)) { // also what could not be stored at first
			t.Errorf("counted at %v as of %v", w.clock(), r.From)
		}
	}
	w.same("requests", requests, int64(processes*workers*rounds))
	w.same("tokens", tokens, int64(processes*workers*rounds*(rounds-1)/2))
}

// What was done is on the account of the partition and the key, at its hour.
func TestAccounts(t *testing.T) {
	w := open(t)
	app := w.Integration("app")
	other := w.Caller(key.Issue{Org: "acme"})
	org, theirs, integration := string(ident.From(w.ctx).Org), string(ident.From(other).Org), ident.From(app).Integration
	mine, their := ident.From(w.ctx).KeyID, ident.From(other).KeyID
	w.must(w.write(w.ctx, "docs", "a text", "b text"))
	w.must(w.write(w.ctx, "docs", "a text")) // is as it was
	w.must(w.write(w.ctx, "docs", "a longer text"))
	w.must(w.write(other, "docs", "a text"))
	_, err := coretest.Call(app, w.memories.Save, memory.Save{EndUserID: "ann", Item: memory.Item{Content: new("I like tea.")}})
	w.must(err)
	hour := w.clock().Truncate(time.Hour)
	w.pass(time.Hour)
	w.must(w.write(w.ctx, "more", "a text"))

	docs := usage.Row{OrganizationID: org, Namespace: new("docs"), KeyID: &mine, Documents: 3, Chunks: 3}
	more := usage.Row{OrganizationID: org, Namespace: new("more"), KeyID: &mine, Documents: 1, Chunks: 1}
	ann := usage.Row{OrganizationID: org, IntegrationID: &integration, KeyID: new(ident.From(app).KeyID), Documents: 1, Chunks: 1}
	acme := usage.Row{OrganizationID: theirs, Namespace: new("docs"), KeyID: &their, Documents: 1, Chunks: 1}
	at := func(r usage.Row, from time.Time) usage.Row { r.From = &from; return r }
	day := func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }
	of := usage.Account{Organization: "default"}
	w.same("of one organization", w.list(w.operator, usage.Filter{Account: of}), []usage.Row{ann, docs, more})
	w.same("by hour", w.list(w.operator, usage.Filter{Account: of, By: "hour"}),
		[]usage.Row{at(ann, hour), at(docs, hour), at(more, hour.Add(time.Hour))})
	w.same("by day", w.list(w.operator, usage.Filter{Account: usage.Account{Organization: "acme"}, By: "day"}),
		[]usage.Row{at(acme, day(hour))})
	from, to := hour.Add(time.Hour).Format(time.RFC3339), hour.Add(time.Minute).Format(time.RFC3339)
	w.same("from", w.list(w.operator, usage.Filter{From: &from}), []usage.Row{more})
	w.same("to", w.list(w.operator, usage.Filter{Account: of, To: &to}), []usage.Row{ann, docs})
	w.same("of a namespace", w.list(w.operator, usage.Filter{Account: usage.Account{Namespace: "more"}}), []usage.Row{more})
	w.same("of an integration", w.list(w.operator, usage.Filter{Account: usage.Account{Integration: integration}}),
		[]usage.Row{ann})
	w.same("of a key", w.list(w.operator, usage.Filter{KeyID: their}), []usage.Row{acme})
	admin := w.Caller(key.Issue{Kind: ident.Admin, Org: "acme"})
	w.same("as their administrator", w.list(admin, usage.Filter{}), []usage.Row{acme})
	if _, err := w.usage.List(admin, usage.List{Filter: usage.Filter{Account: of}}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("another's usage: %v", err)
	}

	for limit, want := range map[int][]int{1: {1, 1, 1}, 2: {2, 1}, 3: {3}} {
		var pages []usage.Row
		var sizes []int
		in := usage.List{Limit: &limit, Filter: usage.Filter{Account: of}}
		for more := true; more && len(sizes) < 4; {
			p, err := w.usage.List(w.operator, in)
			w.must(err)
			pages, sizes = append(pages, p.Usage...), append(sizes, len(p.Usage))
			if more = p.NextCursor != nil; more {
				in.Cursor = *p.NextCursor
			}
		}
		w.same("page by page", pages, []usage.Row{ann, docs, more})
		w.same("rows of the pages", sizes, want)
	}
	for what, f := range map[string]usage.Filter{"from": {From: new("yesterday")}, "to": {To: new("soon")}} {
		if _, err := coretest.Call(w.operator, w.usage.List, usage.List{Filter: f}); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s is no time: %v", what, err)
		}
	}
	export, err := w.usage.Export(w.operator, usage.TakeOut{Filter: usage.Filter{Account: of, By: "hour"}})
	w.must(err)
	var csv strings.Builder
	w.must(export.Stream(w.ctx, &csv))
	want := "from,organization_id,namespace,integration_id,key_id,requests,documents,chunks,tokens_embedded,tokens_sparse," +
		"pairs_reranked,recalls\r\n" +
		hour.Format(time.RFC3339) + "," + org + ",," + integration + "," + *ann.KeyID + ",0,1,1,0,0,0,0\r\n" +
		hour.Format(time.RFC3339) + "," + org + ",docs,," + mine + ",0,3,3,0,0,0,0\r\n" +
		hour.Add(time.Hour).Format(time.RFC3339) + "," + org + ",more,," + mine + ",0,1,1,0,0,0,0\r\n"
	w.same("as CSV", csv.String(), want)
}

// What is kept follows what is written and deleted, and what a process that died has left
// unread is read by the next one.
func TestKept(t *testing.T) {
	w := open(t)
	pages := func(s *usage.Service, limit int) (out []usage.AllKept) {
		t.Helper()
		for in := (usage.ListBytes{Limit: &limit}); ; {
			page, err := s.ListBytes(w.operator, in)
			w.must(err)
			if out = append(out, page); page.NextCursor == nil {
				return out
			}
			in.Cursor = *page.NextCursor
		}
	}
	kept := func(s *usage.Service) (out []string) {
		t.Helper()
		for _, k := range pages(s, 1000)[0].Kept {
			of := k.IntegrationID
			if k.Namespace != nil {
				of = k.Namespace
			}
			out = append(out, fmt.Sprint(*of, " ", k.Bytes))
		}
		return out
	}
	app := w.Integration("app")
	integration := ident.From(app).Integration
	for _, user := range []string{"ann", "bob"} {
		_, err := coretest.Call(app, w.memories.Save, memory.Save{EndUserID: user, Item: memory.Item{Content: new("tea")}})
		w.must(err)
	}
	w.must(w.write(w.ctx, "docs", "a 45", "b 45"))
	w.same("at first", kept(w.usage), []string{integration + " 6", "docs 8"})
	_, err := coretest.Call(w.ctx, w.documents.Delete, document.DeleteDocuments{Namespace: "docs", IDs: new([]string{"a"})})
	w.must(err)
	w.same("after a deletion", kept(w.usage), []string{integration + " 6", "docs 4"})
	_, err = w.namespaces.Delete(w.ctx, namespace.Ref{Namespace: "docs"})
	w.must(err)
	w.must(w.write(w.ctx, "more", "a 45"))
	// The process dies before it has read what it changed.
	var log coretest.Lines
	next := usage.New(usage.Settings{Store: w.Store, Counter: usage.NewCounter(w.clock), Pages: w.Pages, Now: w.clock,
		Guard: usage.NewGuard(usage.GuardSettings{Store: w.Store.DocumentStore, Now: w.clock}), Log: log.Logger()})
	w.same("before the next process runs", kept(next), []string{integration + " 6", "docs 4"})
	run, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { next.Run(run) })
	for fmt.Sprint(kept(next)) != fmt.Sprint([]string{integration + " 6", "more 4"}) {
		if time.Sleep(time.Millisecond); t.Context().Err() != nil {
			t.Fatal("what is kept is never read")
		}
	}
	stop()
	running.Wait()
	if log.String() != "" {
		t.Errorf("nothing has failed, and logged is %s", &log)
	}
	_, err = w.memories.Erase(context.Background(), ident.From(app).Org, integration, "ann")
	w.must(err)
	w.same("after an erasure", kept(w.usage), []string{integration + " 3", "more 4"})
	w.must(w.write(w.ctx, "third", "a 4567"))
	away := errors.New("the database is away")
	w.Store.OnView.Set(func() error { return away })
	if err := w.usage.Flush(context.Background()); !errors.Is(err, away) {
		t.Errorf("what is kept cannot be read: %v", err)
	}
	w.Store.OnView.Clear()
	w.same("once it can be read again", kept(w.usage), []string{integration + " 3", "more 4", "third 6"})
	for limit, want := range map[int][]int{1: {1, 1, 1}, 2: {2, 1}, 3: {3}} {
		var sizes []int
		for _, p := range pages(w.usage, limit) {
			sizes = append(sizes, len(p.Kept))
		}
		w.same("page by page", sizes, want)
	}
	if _, err := coretest.Call(w.operator, w.usage.ListBytes, usage.ListBytes{At: new("now")}); fault.CodeOf(err) !=
		fault.InvalidRequest {
		t.Errorf("at no time: %v", err)
	}
	before, err := w.usage.ListBytes(w.operator, usage.ListBytes{At: new(w.clock().Add(-2 * time.Hour).Format(time.RFC3339))})
	w.must(err)
	w.same("hours before", before.Kept, []usage.Kept(nil))
}

// Usage older than it is to be kept goes.
func TestRetention(t *testing.T) {
	w := open(t)
	w.must(w.write(w.ctx, "docs", "a text"))
	w.same("as it is done", len(w.list(w.operator, usage.Filter{})), 1)
	w.pass(usage.DefaultRetention)
	w.must(w.usage.Trim(context.Background()))
	w.same("as long as it is kept", len(w.list(w.operator, usage.Filter{})), 1)
	w.pass(2 * time.Hour)
	w.must(w.usage.Trim(context.Background()))
	w.same("later", len(w.list(w.operator, usage.Filter{})), 0)
}

// crossings are the events that tell of exceeded quotas.
func (w *world) crossings(org ident.Org) (out []string) {
	w.Helper()
	w.must(w.Store.View(context.Background(), func(r port.Reader) error {
		out = nil
		all, err := r.UnnumberedEvents(context.Background(), 10_000)
		for _, e := range all {
			if e.Kind == event.QuotaExceeded && e.Org == org {
				out = append(out, e.Entity)
			}
		}
		return err
	}))
	return out
}

func (w *world) quota(ctx context.Context, c usage.ChangeQuotas) usage.Quotas {
	w.Helper()
	c.Org = ident.From(ctx).OrgName
	q, err := coretest.Call(w.operator, w.usage.ChangeQuotas, c)
	w.must(err)
	return q
}

// refused checks that a quota has refused a write, and what it says.
func (w *world) refused(what string, err error, quota string, limit, used int64) {
	w.Helper()
	if fault.CodeOf(err) != fault.QuotaExceeded {
		w.Fatalf("%s: %v", what, err)
	}
	w.same(what, fault.From(err).Details, map[string]any{"quota": quota, "limit": limit, "used": used})
}

// Each quota refuses what would go over it, the whole of a write or nothing, and nothing else.
func TestQuotas(t *testing.T) {
	w := open(t)
	app, other := w.Integration("app"), w.Caller(key.Issue{Org: "acme"})
	org := ident.From(w.ctx).Org
	save := func(user, text string) error {
		_, err := coretest.Call(app, w.memories.Save, memory.Save{EndUserID: user, Item: memory.Item{Content: &text}})
		return err
	}
	w.must(w.write(w.ctx, "docs", "a 45", "b 45"))
	w.must(save("ann", "tea"))
	q := w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(3))})
	w.same("quotas", q, usage.Quotas{OrganizationID: string(org), Bytes: usage.Quota{Used: 11},
		Documents: usage.Quota{Limit: new(int64(3)), Used: 2}, Namespaces: usage.Quota{Used: 1}, EndUsers: usage.Quota{Used: 1}})
	w.refused("too many documents", w.write(w.ctx, "docs", "c 45", "d 45"), "documents", 3, 2)
	w.must(w.write(w.ctx, "docs", "c 45"))
	w.refused("one too many", w.write(w.ctx, "more", "d 45"), "documents", 3, 3)
	w.must(w.write(w.ctx, "docs", "a 4567", "b 4567")) // adds no document
	w.must(w.write(other, "docs", "a 45", "b 45", "c 45", "d 45"))

	w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(0)), Bytes: new(int64(20)), Namespaces: new(int64(1)),
		EndUsers: new(int64(2))})
	w.refused("too many bytes", w.write(w.ctx, "docs", "a 456789"), "bytes", 20, 19)
	w.must(w.write(w.ctx, "docs", "a 4"))
	w.refused("too many bytes of memories", save("ann", "coffee"), "bytes", 20, 16)
	w.must(save("ann", "rice"))
	w.quota(w.ctx, usage.ChangeQuotas{Bytes: new(int64(0))})
	w.refused("too many namespaces", w.write(w.ctx, "more", "d 45"), "namespaces", 1, 1)
	_, err := w.namespaces.Create(w.ctx, namespace.CreateNamespace{Name: "more"})
	w.refused("an empty namespace too many", err, "namespaces", 1, 1)
	w.must(save("bob", "tea"))
	w.refused("too many end users", save("cem", "tea"), "end_users", 2, 2)
	_, err = w.memories.Erase(context.Background(), org, ident.From(app).Integration, "bob")
	w.must(err)
	w.must(save("cem", "tea"))
	_, err = w.namespaces.Delete(w.ctx, namespace.Ref{Namespace: "docs"})
	w.must(err)
	w.must(w.write(w.ctx, "more", "d 45"))

	// Over a quota that was set below what there is, only what adds is refused.
	w.must(w.write(w.ctx, "more", "e 45"))
	w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(1))})
	w.refused("over it already", w.write(w.ctx, "more", "f 45"), "documents", 1, 2)
	w.must(w.write(w.ctx, "more", "e 456"))
	_, err = coretest.Call(w.ctx, w.documents.Delete, document.DeleteDocuments{Namespace: "more", IDs: new([]string{"e"})})
	w.must(err)

	administrator := w.Caller(key.Issue{Kind: ident.Admin, Name: "theirs"})
	if _, err := w.usage.ChangeQuotas(administrator, usage.ChangeQuotas{OrganizationRef: usage.OrganizationRef{Org: "default"},
		Bytes: new(int64(0))}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("an organization changes its own quotas: %v", err)
	}
	if _, err := coretest.Call(w.operator, w.usage.ChangeQuotas, usage.ChangeQuotas{
		OrganizationRef: usage.OrganizationRef{Org: "default"}}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a change of nothing: %v", err)
	}
}

// Uploaded files count as the documents that they become, until they are removed.
func TestKeptFilesCount(t *testing.T) {
	w := open(t)
	org := ident.From(w.ctx).Org
	keep := func(id, text string) error {
		return w.Store.Update(w.ctx, func(tx port.Writer) error {
			return tx.PutKeptFile(w.ctx, org, port.KeptFile{ID: id, TextBytes: int64(len(text)), Parts: 1, CreatedAt: w.clock()},
				[]port.KeptPart{{Metadata: []byte("{}"), Text: text}})
		})
	}
	remove := func(id string) {
		t.Helper()
		w.must(w.Store.Update(w.ctx, func(tx port.Writer) error {
			_, err := tx.RemoveKeptFile(w.ctx, org, id)
			return err
		}))
	}
	w.must(w.write(w.ctx, "docs", "a 45"))
	w.must(keep("file-1", "12345"))
	q := w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(3)), Bytes: new(int64(12))})
	w.same("used", []int64{q.Documents.Used, q.Bytes.Used}, []int64{2, 9})
	w.refused("too many bytes of files", keep("file-2", "1234"), "bytes", 12, 9)
	w.must(keep("file-2", "123"))
	w.quota(w.ctx, usage.ChangeQuotas{Bytes: new(int64(0))})
	w.refused("a file too many", keep("file-3", "1"), "documents", 3, 3)
	w.refused("a document too many", w.write(w.ctx, "docs", "b 4"), "documents", 3, 3)
	remove("file-none")
	remove("file-1")
	w.must(w.write(w.ctx, "docs", "b 4"))
	w.refused("a document too many", w.write(w.ctx, "docs", "c 4"), "documents", 3, 3)
}

// A crossing is told once, until there is room again or the quota is another.
func TestCrossings(t *testing.T) {
	w := open(t)
	org := ident.From(w.ctx).Org
	numbers := func(from, to int) (out []string) {
		for i := from; i < to; i++ {
			out = append(out, fmt.Sprintf("d%d text", i))
		}
		return out
	}
	w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(20))})
	w.must(w.write(w.ctx, "docs", numbers(0, 20)...))
	w.same("at the limit", w.crossings(org), []string(nil))
	for range 3 {
		w.refused("over it", w.write(w.ctx, "docs", "x text"), "documents", 20, 20)
	}
	const told = "quota/documents"
	w.same("over it", w.crossings(org), []string{told})
	if q, err := w.usage.Quotas(w.operator, usage.OrganizationRef{Org: "default"}); err != nil || q.Documents.ExceededAt == nil {
		t.Errorf("quotas %+v, %v", q, err)
	}
	remove := func(ids ...string) {
		_, err := coretest.Call(w.ctx, w.documents.Delete, document.DeleteDocuments{Namespace: "docs", IDs: new(ids)})
		w.must(err)
	}
	remove("d0")
	w.must(w.write(w.ctx, "docs", "d0 text"))
	w.refused("over it again", w.write(w.ctx, "docs", "x text"), "documents", 20, 20)
	w.same("with little room in between", w.crossings(org), []string{told})
	remove("d0", "d1")
	w.must(w.write(w.ctx, "docs", "d0 text", "d1 text"))
	w.refused("over it once more", w.write(w.ctx, "docs", "x text"), "documents", 20, 20)
	w.same("with room in between", w.crossings(org), []string{told, told})
	w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(19))})
	w.refused("another limit", w.write(w.ctx, "docs", "x text"), "documents", 19, 20)
	w.same("another limit", w.crossings(org), []string{told, told, told})
}

// Writers at once go over no quota, and each that fits alone is written.
func TestQuotaRace(t *testing.T) {
	w := open(t)
	const limit, writers = 10, 16
	w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(limit))})
	var all sync.WaitGroup
	var written atomic.Int64
	for n := range writers {
		all.Go(func() {
			err := w.write(w.ctx, fmt.Sprint("n", n%4), fmt.Sprintf("d%d text", n))
			if err == nil {
				written.Add(1)
			} else if fault.CodeOf(err) != fault.QuotaExceeded {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := written.Load(); n == 0 || n > limit {
		t.Errorf("%d of at most %d were written", n, limit)
	}
	for n := written.Load(); n < limit; n++ { // nothing is in hand any more
		w.must(w.write(w.ctx, "rest", fmt.Sprintf("r%d text", n)))
	}
	w.refused("after all", w.write(w.ctx, "rest", "x text"), "documents", limit, limit)
}

// A quota that another process has set is heeded within seconds.
func TestQuotaFromElsewhere(t *testing.T) {
	w := open(t)
	w.must(w.write(w.ctx, "docs", "a text"))
	w.must(w.guard.DocumentStore.Update(context.Background(), func(tx port.Writer) error {
		return tx.PutQuota(context.Background(), ident.From(w.ctx).Org, port.QuotaDocuments, 1)
	}))
	w.pass(5 * time.Second)
	w.refused("after five seconds", w.write(w.ctx, "docs", "b text"), "documents", 1, 1)
}

// A process that cannot read what is kept says so, and serves all the same.
func TestKeptIsNotReadAtFirst(t *testing.T) {
	w := open(t)
	var log coretest.Lines
	s := usage.New(usage.Settings{Store: w.Store, Counter: w.counter, Guard: w.guard, Now: w.clock, Log: log.Logger()})
	w.Store.OnView.Set(func() error { return errors.New("the database is away") })
	run, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(run) })
	for !strings.Contains(log.String(), "kept bytes not read") {
		if time.Sleep(time.Millisecond); t.Context().Err() != nil {
			t.Fatal("it says nothing")
		}
	}
	stop()
	running.Wait()
}

// A guard tells of each transaction that has changed what is kept, and of no other, and says when
// it cannot note that a quota was exceeded.
func TestWhatAGuardTells(t *testing.T) {
	w := open(t)
	var log coretest.Lines
	changes := 0
	g := usage.NewGuard(usage.GuardSettings{Store: w.Store.DocumentStore, Changed: func() { changes++ }, Now: w.clock,
		Log: log.Logger()})
	ctx, org := context.Background(), ident.From(w.ctx).Org
	create := func(name string) error {
		return g.Update(ctx, func(tx port.Writer) error {
			_, err := tx.CreatePartition(ctx, port.Documents(org, name), port.PartitionRow{})
			return err
		})
	}
	w.must(create("one"))
	w.same("after a change", changes, 1)
	w.must(g.Update(ctx, func(tx port.Writer) error { return tx.PutQuota(ctx, org, port.QuotaNamespaces, 1) }))
	w.same("after what keeps nothing", changes, 1)
	if err := create("two"); fault.CodeOf(err) != fault.QuotaExceeded {
		t.Errorf("over a quota: %v", err)
	}
	w.same("after what was refused", changes, 1)
	if log.String() != "" {
		t.Errorf("the quota is noted, and logged is %s", &log)
	}
	w.must(g.Update(ctx, func(tx port.Writer) error {
		return errors.Join(tx.PutQuota(ctx, org, port.QuotaNamespaces, 0), tx.PutQuota(ctx, org, port.QuotaNamespaces, 1))
	}))
	away := &coretest.Store{DocumentStore: w.Store.DocumentStore}
	away.OnBackgroundUpdate.Set(func() error { return errors.New("the database is away") })
	g.NoteIn(away)
	if err := create("two"); fault.CodeOf(err) != fault.QuotaExceeded {
		t.Errorf("over a quota that cannot be noted: %v", err)
	}
	if !strings.Contains(log.String(), "exceeded quota not noted") {
		t.Errorf("it cannot be noted, and logged is %q", log.String())
	}
}

// single is a store with one connection: nothing can be read beside a transaction of its caller.
type single struct {
	port.DocumentStore
	inside bool
	runs   int
	onView func() // before the next View; nil: nothing
}

func (s *single) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	return s.DocumentStore.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		s.inside = true
		s.runs++
		defer func() { s.inside = false }()
		return fn(w)
	})
}

func (s *single) View(ctx context.Context, fn func(port.Reader) error) error {
	if s.inside {
		return errors.New("the only connection is taken")
	}
	if do := s.onView; do != nil {
		s.onView = nil
		do()
	}
	return s.DocumentStore.View(ctx, fn)
}

// A guard reads what it needs to know before a transaction, of whomever that is.
func TestNothingIsReadInsideATransaction(t *testing.T) {
	w := open(t)
	w.must(w.write(w.ctx, "docs", "a text", "b text"))
	w.quota(w.ctx, usage.ChangeQuotas{Documents: new(int64(3)), Namespaces: new(int64(2))})
	org := ident.From(w.ctx).Org
	store := &single{DocumentStore: w.guard.DocumentStore}
	g := usage.NewGuard(usage.GuardSettings{Store: store, Now: w.clock})
	create := func(ctx context.Context, name string) error {
		return g.UpdateDocuments(ctx, func(tx port.DocumentWriter) error {
			_, err := tx.CreatePartition(ctx, port.Documents(org, name), port.PartitionRow{Dimensions: 4, CreatedAt: w.clock(),
				UpdatedAt: w.clock()})
			return err
		})
	}
	w.must(create(w.ctx, "second"))
	if store.runs != 1 {
		t.Errorf("%d runs for a caller's organization", store.runs)
	}
	w.refused("a third", create(w.ctx, "third"), "namespaces", 2, 2)
	store.runs = 0
	w.refused("without a caller", create(context.Background(), "third"), "namespaces", 2, 2)
	if store.runs != 2 {
		t.Errorf("%d runs without a caller", store.runs)
	}

	// Another transaction commits just before what is kept is read. It counts once.
	w.quota(w.ctx, usage.ChangeQuotas{Namespaces: new(int64(4))})
	w.pass(5 * time.Second)
	w.must(create(w.ctx, "third")) // the quota is known
	w.quota(w.ctx, usage.ChangeQuotas{Namespaces: new(int64(5))})
	w.pass(5 * time.Second)
	store.onView = func() { // of the quotas
		store.onView = func() { w.must(create(w.ctx, "fourth")) } // of what is kept
	}
	w.must(create(w.ctx, "fifth"))
	w.refused("the sixth", create(w.ctx, "sixth"), "namespaces", 5, 5)
}
