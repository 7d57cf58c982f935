package event_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	"github.com/mnemehq/mneme/core/replica"
)

// world is a store that records, with what writes to it and what reads events.
type world struct {
	*coretest.Fixture
	*testing.T
	ctx        context.Context // of a key of the organization "default"
	admin      context.Context
	below      *coretest.Store // of the recorder, whose failures are the publisher's
	recorder   *event.Recorder
	publisher  *event.Publisher
	events     *event.Service
	documents  *document.Service
	namespaces *namespace.Service
	after      string // up to where told has read
}

func open(t *testing.T, s event.RecorderSettings, p event.PublisherSettings) *world {
	t.Helper()
	w := &world{T: t}
	o := coretest.Options{Over: func(store port.DocumentStore) port.DocumentStore {
		w.below = &coretest.Store{DocumentStore: store}
		s.Store = w.below
		w.recorder = event.NewRecorder(s)
		return w.recorder
	}}
	if s.Record != event.RecordNone {
		o.Listeners = []ingest.Listener{event.Listener{}}
	}
	w.Fixture = coretest.New(t, o)
	p.Recorder, p.Replica, p.Now, p.Pace = w.recorder, w.Replica, s.Now, time.Millisecond
	w.publisher = event.NewPublisher(p)
	w.events = event.New(event.Settings{Publisher: w.publisher, Pages: w.Pages, Now: s.Now, Log: p.Log,
		Schema: func(of reflect.Type) (json.RawMessage, error) { return json.Marshal(of.Name()) }})
	w.documents = services.Documents(w.Fixture)
	w.namespaces = namespace.New(w.Store, w.Pages, w.Models, func(context.Context, port.Partition) {})
	w.run(w.publisher)
	w.ctx, w.admin = w.Caller(key.Issue{}), w.Caller(key.Issue{Kind: ident.Admin, Name: "admin"})
	w.told("key.created key/service", "key.created key/admin")
	return w
}

// run has a publisher work until stop, or the end of the test.
func (w *world) run(p *event.Publisher) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	w.Cleanup(stop)
	return stop
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// numbered waits until no committed event is without a number.
func (w *world) numbered() {
	w.Helper()
	for left := 1; left > 0; time.Sleep(time.Millisecond) {
		w.recorder.Wake()
		w.must(w.Store.View(context.Background(), func(r port.Reader) error {
			list, err := r.UnnumberedEvents(context.Background(), 1)
			left = len(list)
			return err
		}))
	}
}

// data is what the data of all kinds may have.
type data struct {
	Org        string   `json:"organization_id"`
	Namespace  string   `json:"namespace"`
	IDs        []string `json:"ids"`
	Count      int      `json:"count"`
	Change     uint64   `json:"change"`
	SourceID   *string  `json:"source_id"`
	RequestID  string   `json:"request_id"`
	EndUser    string   `json:"endUserId"`
	MemoryID   string   `json:"memoryId"`
	Source     *string  `json:"source"`
	ExternalID *string  `json:"externalId"`
	Version    *int64   `json:"version"`
	Memories   *int64   `json:"deletedMemories"`
	Key        string   `json:"key_id"`
	Type       string   `json:"type"`
	Run        string   `json:"run_id"`
	Status     string   `json:"status"`
	State      string   `json:"state"`
	Previous   *string  `json:"previous"`
	Reason     *string  `json:"reason"`
	Error      *string  `json:"error"`
	Model      string   `json:"model_id"`
	Kind       string   `json:"kind"`
	Replica    string   `json:"replica"`
}

func (w *world) line(e event.Event) string {
	w.Helper()
	var d data
	if err := json.Unmarshal(e.Data, &d); err != nil || d.Org == "" || e.ID == "" || e.Timestamp.IsZero() {
		w.Errorf("an event that says too little: %+v, %v", e, err)
	}
	words := []string{e.Type}
	add := func(format string, value any) {
		if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && !v.IsNil() {
			value = v.Elem().Interface()
		} else if v.IsZero() {
			return
		}
		words = append(words, fmt.Sprintf(format, value))
	}
	add("%s", d.Namespace)
	add("%v", strings.Join(d.IDs, ","))
	add("of %s", d.SourceID)
	add("%s", d.EndUser)
	add("%s", d.Source)
	add("%s", d.ExternalID)
	add("v%d", d.Version)
	add("%d gone", d.Memories)
	add("key/%s", d.Type)
	add("%s", d.Run)
	add("%s", d.Model)
	add("%s", d.Kind)
	add("%s", d.Status)
	add("from %s", d.Previous)
	add("to %s", d.State)
	add("because %s", d.Reason)
	add("for %s", d.Error)
	return strings.Join(words, " ")
}

// told fails unless just these events have come since the last time, in order.
func (w *world) told(want ...string) []event.Event {
	w.Helper()
	w.numbered()
	admin := w.admin
	if admin == nil {
		admin = w.Caller(key.Issue{Kind: ident.Admin, Name: "reader"})
	}
	page, err := coretest.Call(admin, w.events.ListOf, event.ListEventsOf{Org: "default",
		ListEvents: event.ListEvents{After: w.after}})
	w.must(err)
	w.after = page.NextCursor
	got := make([]string, len(page.Events))
	for i, e := range page.Events {
		got[i] = w.line(e)
	}
	if !slices.Equal(got, want) {
		w.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	return page.Events
}

func (w *world) write(space string, ids ...string) {
	w.Helper()
	in := document.WriteDocuments{Namespace: space}
	for _, id := range ids {
		id, text, _ := strings.Cut(id, "=")
		in.Documents = append(in.Documents, document.Input{ID: id, Text: new("The text " + text)})
	}
	_, err := coretest.Call(w.ctx, w.documents.Write, in)
	w.must(err)
}

func (w *world) delete(space string, ids ...string) {
	w.Helper()
	_, err := coretest.Call(w.ctx, w.documents.Delete, document.DeleteDocuments{Namespace: space, IDs: &ids})
	w.must(err)
}

func TestDocuments(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	w.write("docs", "a=1", "b=1")
	got := w.told("namespace.created docs", "documents.written docs a,b")
	w.write("docs", "a=2", "b=1", "c=1")
	next := w.told("documents.written docs a,c")
	var first, second data
	w.must(json.Unmarshal(got[1].Data, &first))
	w.must(json.Unmarshal(next[0].Data, &second))
	if first.Change == 0 || second.Change <= first.Change || second.Count != 2 || second.RequestID != "req_test" ||
		first.Org[:4] != "org_" {
		t.Errorf("changes %+v, then %+v", first, second)
	}
	w.write("docs", "a=2")
	w.delete("docs", "nobody")
	w.told()
	w.delete("docs", "c", "nobody")
	w.told("documents.deleted docs c")
	w.delete("docs", "a", "b")
	w.told("documents.deleted docs a,b", "namespace.deleted docs")

	_, err := coretest.Call(w.ctx, w.namespaces.Create, namespace.CreateNamespace{Name: "made"})
	w.must(err)
	_, err = coretest.Call(w.ctx, w.namespaces.Create, namespace.CreateNamespace{Name: "made"})
	w.must(err)
	w.told("namespace.created made")
	w.write("made", "a=1")
	w.told("documents.written made a")
	for range 2 {
		_, err = coretest.Call(w.ctx, w.namespaces.Delete, namespace.Ref{Namespace: "made"})
		w.must(err)
	}
	w.told("namespace.deleted made")
}

// TestManyIDs: an event stays small, whatever the ids are.
func TestManyIDs(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("%0253d", i)) // 256 bytes in a list: 64 of them are as much as one event takes
	}
	w.write("docs", ids...)
	w.numbered()
	page, err := coretest.Call(w.ctx, w.events.List, event.ListEvents{Kinds: []string{event.DocumentsWritten}})
	w.must(err)
	var all []string
	var counts []int
	for _, e := range page.Events {
		var d data
		w.must(json.Unmarshal(e.Data, &d))
		counts = append(counts, d.Count)
		if all = append(all, d.IDs...); d.Count != len(d.IDs) || len(e.Data) > 19<<10 {
			t.Errorf("an event of %d bytes counts %d of %d ids", len(e.Data), d.Count, len(d.IDs))
		}
	}
	if len(page.Events) != 2 || !slices.Equal(counts, []int{64, 36}) || !slices.Equal(all, ids) {
		t.Errorf("%d events of %v ids, %d in all", len(page.Events), counts, len(all))
	}
}

// TestDerivations: recomputed vectors and hidden copies are nobody's event, and neither is what
// fails.
func TestDerivations(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	w.write("docs", "a=1")
	w.told("namespace.created docs", "documents.written docs a")
	ctx := context.Background()
	change := func(why ingest.Cause, fails error) error {
		return w.Changes.Write(ctx, why, func(tx *ingest.Tx) error {
			p := port.Documents(ident.From(w.ctx).Org, "docs")
			n, err := tx.Partition(ctx, p)
			if err != nil {
				return err
			}
			heads, err := tx.Documents(ctx, p.At(n.Generation), []string{"a"}, port.PartText|port.PartMetadata|port.PartChunks)
			if err != nil {
				return err
			}
			vectors, err := tx.Vectors(ctx, p.At(n.Generation), []string{"a"})
			if err != nil {
				return err
			}
			docs := []port.DocumentWrite{{Document: heads[0].Document, Vectors: vectors["a"]}}
			if why == ingest.CauseReencoding {
				return tx.Reencode(ctx, p.At(n.Generation), docs)
			}
			if err := tx.Put(ctx, p.At(n.Generation), time.Time{}, docs); err != nil {
				return err
			}
			return fails
		})
	}
	w.must(change(ingest.CauseReencoding, nil))
	w.must(change(ingest.CauseShadow, nil))
	if err := change(ingest.CauseWrite, fault.New(fault.Conflict, "no")); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a write that fails: %v", err)
	}
	w.told()
	w.must(change(ingest.CauseImport, nil))
	w.told("documents.written docs a")
}

func TestMemories(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	memories := services.Memories(w.Fixture, nil)
	services.Running(t, memories)
	app := w.Integration("app")
	w.told("key.created key/integration")
	saved, err := coretest.Call(app, memories.Save, memory.Save{EndUserID: "ann", Item: memory.Item{Content: new("I like tea.")}})
	w.must(err)
	again, err := coretest.Call(app, memories.Save, memory.Save{EndUserID: "ann", Item: memory.Item{Content: new("I like tea.")}})
	w.must(err)
	if !again.Deduped {
		t.Error("the same content was saved twice")
	}
	w.told("memory.created ann")
	_, err = coretest.Call(app, memories.Batch, memory.Batch{EndUserID: "ann", Memories: []memory.BatchItem{
		{Content: new("I like coffee.")}, {Content: new("I like milk.")}}})
	w.must(err)
	w.told("memory.created ann", "memory.created ann")
	personal := ident.From(w.Caller(key.Issue{Kind: ident.Personal, Integration: "app", EndUser: "ann"})).KeyID
	w.told("key.created key/personal")
	upsert := func(version int64, text string) {
		t.Helper()
		_, err := coretest.Call(app, memories.Upsert, memory.Upsert{EndUserID: "ann", ExternalID: "m7", Source: "mail",
			Version: &version, Content: &text, OccurredAt: new("2026-01-02T03:04:05Z")})
		w.must(err)
	}
	upsert(1, "The first text.")
	upsert(1, "The first text.")
	upsert(2, "Another text.")
	w.told("memory.created ann mail m7 v1", "memory.updated ann mail m7 v2")
	_, err = coretest.Call(app, memories.Tombstone, memory.Tombstone{EndUserID: "ann", ExternalID: "m7", Source: "mail",
		Version: new(int64(3))})
	w.must(err)
	upsert(4, "It is back.")
	w.told("memory.tombstoned ann mail m7 v3", "memory.restored ann mail m7 v4")
	_, err = coretest.Call(app, memories.Delete, memory.Delete{EndUserID: "ann", IDs: []string{saved.Memory.ID, "mem_none"}})
	w.must(err)
	got := w.told("memory.deleted ann")
	var d data
	w.must(json.Unmarshal(got[0].Data, &d))
	if d.MemoryID != saved.Memory.ID || d.Change == 0 {
		t.Errorf("deleted %+v, saved %s", d, saved.Memory.ID)
	}

	// An erasure takes the events along, and leaves one.
	if _, err := coretest.Call(app, memories.EraseUser, memory.EraseUser{EndUserID: "ann"}); err != nil {
		t.Fatal(err)
	}
	w.told("user.erased ann 3 gone")
	w.after = ""
	for _, e := range w.told("key.created key/service", "key.created key/admin", "key.created key/integration",
		"user.erased ann 3 gone") {
		if e.Type != event.UserErased && (strings.Contains(string(e.Data), "ann") || strings.Contains(string(e.Data), personal)) {
			t.Errorf("an erased end user stands in %s", e.Data)
		}
	}
}

func TestKeys(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	issued, err := w.Keys.Issue(context.Background(), key.Issue{Name: "one", Kind: ident.Service})
	w.must(err)
	got := w.told("key.created key/service")
	var d data
	w.must(json.Unmarshal(got[0].Data, &d))
	if d.Key != issued.ID || strings.Contains(string(got[0].Data), issued.Last4) {
		t.Errorf("told of %s, made %s", got[0].Data, issued.ID)
	}
	for range 2 {
		w.must(w.Keys.Revoke(context.Background(), key.Ref{Org: "default", ID: issued.ID}))
	}
	if err := w.Keys.Revoke(context.Background(), key.Ref{Org: "default", ID: "key_none"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("revoking none: %v", err)
	}
	w.told("key.revoked key/service")
	other, err := w.Keys.Issue(context.Background(), key.Issue{Name: "two", Kind: ident.Service})
	w.must(err)
	_, err = w.Keys.Rotate(context.Background(), key.Ref{Org: "default", ID: other.ID}, key.Rotation{})
	w.must(err)
	w.told("key.created key/service", "key.created key/service", "key.revoked key/service")
}

func TestSources(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	org, ctx := ident.From(w.ctx).Org, context.Background()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	row := port.SourceRow{ID: "src_1", Org: org, Name: "n", Kind: "push", Namespace: "docs", Config: json.RawMessage(`{}`),
		Secrets: []string{}, State: port.SourceIdle, CreatedAt: at, UpdatedAt: at}
	run := port.SourceRun{ID: "run_1", Source: "src_1", Org: org, Trigger: "manual", Mode: "full", Status: port.RunRunning,
		CreatedAt: at, StartedAt: at}
	put := func() {
		t.Helper()
		w.must(w.Store.Update(ctx, func(tx port.Writer) error {
			if err := tx.PutSource(ctx, row); err != nil {
				return err
			}
			return tx.PutSourceRun(ctx, run)
		}))
	}
	put()
	row.Items, run.ProgressAt = 3, at
	put() // of no interest
	w.told("source.state_changed docs of src_1 to idle")
	row.State, row.Reason = port.SourceFailed, &port.SourceReason{Code: "credentials"}
	run.Status, run.Error = port.RunFailed, &port.SourceReason{Code: "credentials", Message: "expired"}
	put()
	put()
	w.told("source.state_changed docs of src_1 from idle to error because credentials",
		"source.run.failed docs of src_1 run_1 failed for credentials",
		"source.credentials_failed docs of src_1 run_1 failed for credentials")
	for id, c := range map[string]struct {
		status   port.SourceRunStatus
		withheld int64
		want     []string
	}{
		"run_2": {port.RunCompleted, 0, []string{"source.run.completed docs of src_1 run_2 completed"}},
		"run_3": {port.RunPartial, 7, []string{"source.run.completed docs of src_1 run_3 partial",
			"source.deletions_withheld docs of src_1 run_3 partial"}},
		"run_4": {port.RunCancelled, 0, []string{"source.run.completed docs of src_1 run_4 cancelled"}},
		"run_5": {port.RunInterrupted, 0, []string{"source.run.failed docs of src_1 run_5 interrupted"}},
	} {
		run.ID, run.Status, run.Error, run.Counts = id, c.status, nil, port.SourceCounts{Withheld: c.withheld}
		put()
		w.told(c.want...)
	}
}

// TestRecord: what is recorded is the operator's choice.
func TestRecord(t *testing.T) {
	t.Run("off", func(t *testing.T) {
		w := &world{T: t}
		w.Fixture = coretest.New(t, coretest.Options{Over: func(s port.DocumentStore) port.DocumentStore {
			w.recorder = event.NewRecorder(event.RecorderSettings{Store: s, Record: event.RecordNone})
			return w.recorder
		}})
		w.ctx = w.Caller(key.Issue{})
		if got := w.unnumbered(); len(got) != 0 || w.recorder.Listeners() != nil {
			t.Errorf("recorded: %v", got)
		}
	})
	t.Run("subscribed", func(t *testing.T) {
		var passed atomic.Int64
		now := func() time.Time {
			return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(passed.Load()))
		}
		w := &world{T: t}
		w.Fixture = coretest.New(t, coretest.Options{Listeners: []ingest.Listener{event.Listener{}},
			Over: func(s port.DocumentStore) port.DocumentStore {
				w.recorder = event.NewRecorder(event.RecorderSettings{Store: s, Record: event.RecordSubscribed, Now: now})
				return w.recorder
			}})
		w.ctx = w.Caller(key.Issue{})
		w.documents = services.Documents(w.Fixture)
		w.write("docs", "a=1")
		if got := w.unnumbered(); len(got) != 0 {
			t.Errorf("nobody reads, and recorded is %v", got)
		}
		w.publisher = event.NewPublisher(event.PublisherSettings{Recorder: w.recorder, Replica: w.Replica})
		w.events = event.New(event.Settings{Publisher: w.publisher, Pages: w.Pages, Now: now})
		at := w.list(w.ctx, event.ListEvents{})
		w.write("docs", "a=2")
		passed.Store(int64(30 * 24 * time.Hour))
		w.write("docs", "a=3")
		if got := w.unnumbered(); len(got) != 2 {
			t.Errorf("somebody reads, and recorded is %v", got)
		}
		passed.Add(int64(time.Second))
		w.write("docs", "a=4")
		if got := w.unnumbered(); len(got) != 2 {
			t.Errorf("nobody has read for long, and recorded is %v", got)
		}
		// Who comes back has missed what was not recorded, and misses nothing from here on.
		back := w.list(w.ctx, event.ListEvents{After: at.NextCursor})
		if at.Missed || !back.Missed {
			t.Errorf("a reader who was away for long has missed something: %v; before: %v", back.Missed, at.Missed)
		}
		if next := w.list(w.ctx, event.ListEvents{After: back.NextCursor}); next.Missed {
			t.Error("a reader who has just been told is told again")
		}
		w.write("docs", "a=5")
		if got := w.unnumbered(); len(got) != 3 {
			t.Errorf("somebody reads again, and recorded is %v", got)
		}
	})
}

func (w *world) unnumbered() (kinds []string) {
	w.must(w.Store.View(context.Background(), func(r port.Reader) error {
		list, err := r.UnnumberedEvents(context.Background(), 100)
		for _, e := range list {
			kinds = append(kinds, e.Kind)
		}
		return err
	}))
	return kinds
}

// TestPublisherMoves: when the process ends that numbers events, another one goes on.
func TestPublisherMoves(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	other, err := replica.Join(context.Background(), replica.Settings{Store: w.Store, ID: "other", Lease: time.Hour, Log: w.Log})
	w.must(err)
	second := event.NewPublisher(event.PublisherSettings{Recorder: w.recorder, Replica: other})
	stop := w.run(second)
	w.write("docs", "a=1")
	w.told("namespace.created docs", "documents.written docs a")
	stop()
	w.write("docs", "a=2")
	w.told("documents.written docs a")
	var looks atomic.Int64
	w.below.OnView.Set(func() error { looks.Add(1); return nil })
	w.run(event.NewPublisher(event.PublisherSettings{Recorder: w.recorder, Replica: other}))
	for looks.Load() < 2 { // it has looked for work, and there was none
		time.Sleep(time.Millisecond)
	}
	w.must(w.Replica.Leave(context.Background())) // the first one's claim is over
	w.write("docs", "a=3")
	w.told("documents.written docs a")
}

// TestQuotas: that one was exceeded is told, and not that there is room again.
func TestQuotas(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	ctx, org := context.Background(), ident.From(w.ctx).Org
	w.must(w.Store.Update(ctx, func(tx port.Writer) error {
		return errors.Join(tx.PutQuota(ctx, org, port.QuotaBytes, 100), tx.PutQuota(ctx, org, port.QuotaDocuments, 7))
	}))
	for _, at := range []time.Time{time.Now(), {}} {
		w.must(w.Store.Update(ctx, func(tx port.Writer) error {
			return tx.ExceedQuota(ctx, org, port.QuotaDocuments, 6, at)
		}))
	}
	got := w.told("quota.exceeded")
	var d event.QuotaData
	w.must(json.Unmarshal(got[0].Data, &d))
	if want := (event.QuotaData{OrganizationID: string(org), Quota: "documents", Limit: 7, Used: 6}); d != want {
		t.Errorf("told of %+v, want %+v", d, want)
	}
}

// TestReindexed: a namespace that gets its new vectors tells of it.
func TestReindexed(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	ctx, p := context.Background(), port.Documents(ident.From(w.ctx).Org, "docs")
	w.write("docs", "a=1")
	w.told("namespace.created docs", "documents.written docs a")
	swap := func() error {
		return w.Store.Update(ctx, func(tx port.Writer) error { return tx.SwapPartition(ctx, p) })
	}
	if err := swap(); err == nil {
		t.Error("swapped with what is not there")
	}
	w.told()
	w.must(w.Store.Update(ctx, func(tx port.Writer) error {
		row, err := tx.Partition(ctx, p)
		if err == nil {
			_, err = tx.CreatePartition(ctx, p.Shadow(), row)
		}
		return err
	}))
	w.told()
	w.must(swap())
	w.told("namespace.reindexed docs")
}

// hook stores a webhook.
func (w *world) hook(row port.WebhookRow) port.WebhookRow {
	w.Helper()
	row.Org, row.URL, row.Scheme = ident.From(w.ctx).Org, "https://example.org/", "v1"
	row.CreatedAt, row.UpdatedAt = time.Now(), time.Now()
	w.must(w.Store.Update(context.Background(), func(tx port.Writer) error {
		return tx.PutWebhook(context.Background(), row)
	}))
	return row
}

// TestDeliveries: of an event that gets its number each webhook gets a delivery that wants it,
// which keys see as far as they see the webhook.
func TestDeliveries(t *testing.T) {
	var told atomic.Int64
	var log coretest.Lines
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{Delivered: func() { told.Add(1) }, Log: log.Logger()})
	w.write("docs", "a=1")
	w.numbered()
	if told.Load() != 0 {
		t.Error("told of deliveries where there is no webhook")
	}
	w.hook(port.WebhookRow{ID: "whk_all", Enabled: true})
	w.hook(port.WebhookRow{ID: "whk_some", Enabled: true, Kinds: []string{event.NamespaceDeleted}})
	w.hook(port.WebhookRow{ID: "whk_admin", Enabled: true, Admin: true})
	w.hook(port.WebhookRow{ID: "whk_off"})
	w.write("docs", "a=2")
	w.delete("docs", "a")
	w.numbered()
	limited := w.Caller(key.Issue{Namespace: "docs"})
	for kind, want := range map[string][3][]string{ // for a key, one of the namespace, and an administrator's
		event.NamespaceCreated: {},
		event.DocumentsDeleted: {{"whk_all"}, nil, {"whk_admin", "whk_all"}},
		event.NamespaceDeleted: {{"whk_all", "whk_some"}, nil, {"whk_admin", "whk_all", "whk_some"}},
	} {
		id := w.list(w.ctx, event.ListEvents{Kinds: []string{kind}}).Events[0].ID
		one, err := coretest.Call(w.ctx, w.events.Get, event.GetEvent{ID: id})
		w.must(err)
		narrow, err := coretest.Call(limited, w.events.Get, event.GetEvent{ID: id})
		w.must(err)
		all, err := coretest.Call(w.admin, w.events.GetOf, event.GetEventOf{Org: "default", GetEvent: event.GetEvent{ID: id}})
		w.must(err)
		for i, got := range []event.Told{one, narrow, all} {
			var to []string
			for _, d := range got.Deliveries {
				to = append(to, d.WebhookID)
				if d.Status != "pending" || d.Attempts != 0 || !strings.HasPrefix(d.ID, "dlv_") || got.ID != id {
					t.Errorf("%s: %+v", kind, got)
				}
			}
			if slices.Sort(to); !slices.Equal(to, want[i]) {
				t.Errorf("%s is sent to %v as key %d sees it, want %v", kind, to, i, want[i])
			}
		}
	}
	if told.Load() == 0 {
		t.Error("nobody is told of deliveries")
	}
	if log.String() != "" {
		t.Errorf("all is well, and logged is %s", &log)
	}
}

// TestWebhookDisabled: that the server has disabled one is told to others, once, and not what
// callers do themselves.
func TestWebhookDisabled(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	row := w.hook(port.WebhookRow{ID: "whk_one", Enabled: true})
	w.hook(port.WebhookRow{ID: "whk_two", Enabled: true})
	row.Enabled = false
	row = w.hook(row)
	row.Reason = "gone"
	w.hook(row) // it was disabled before
	w.told()
	row.Enabled, row.Reason = true, ""
	w.hook(row)
	row.Enabled, row.Reason = false, "failing"
	w.hook(row)
	got := w.told("webhook.disabled because failing")
	var d event.WebhookData
	w.must(json.Unmarshal(got[0].Data, &d))
	if d.WebhookID != "whk_one" || d.Reason != "failing" {
		t.Errorf("told of %+v", d)
	}
	w.must(w.Store.View(context.Background(), func(r port.Reader) error {
		stored, err := r.Webhook(context.Background(), row.Org, row.ID)
		if stored.Enabled || stored.Reason != "failing" {
			t.Errorf("stored as %+v", stored)
		}
		return err
	}))
	row.Enabled, row.Reason = true, ""
	w.hook(row)
	one := port.Event{Kind: event.WebhookDisabled, Entity: event.WebhookEntity("whk_one")}
	for id, want := range map[string]bool{"whk_one": false, "whk_two": true} {
		if got := event.Wanted(port.WebhookRow{ID: id}, one); got != want {
			t.Errorf("%s is told: %v", id, got)
		}
	}
}

// TestADatabaseThatIsAway: what needs it says so, and it all goes on once it is back.
func TestADatabaseThatIsAway(t *testing.T) {
	var log coretest.Lines
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{Log: log.Logger()})
	w.list(w.ctx, event.ListEvents{})
	if log.String() != "" {
		t.Errorf("all is well, and logged is %s", &log)
	}
	away := func() error { return fault.New(fault.Unavailable, "the database is away") }
	w.below.OnView.Set(away)
	for !strings.Contains(log.String(), "events not published") {
		w.recorder.Wake()
		time.Sleep(time.Millisecond)
	}
	_, err := coretest.Call(w.admin, w.events.ListOf, event.ListEventsOf{Org: "default"})
	w.refused(fault.Unavailable, err)
	w.below.OnView.Clear()
	w.write("docs", "a=1")
	w.told("namespace.created docs", "documents.written docs a")

	// Reading does not fail when it can't be noted, which is tried with the next call again.
	other := w.Caller(key.Issue{Org: "elsewhere"})
	w.below.OnUpdate.Set(away)
	if page, err := coretest.Call(other, w.events.List, event.ListEvents{}); err != nil || page.NextCursor == "" {
		t.Errorf("a reader who can't be noted: %+v, %v", page, err)
	}
	if !strings.Contains(log.String(), "reader of events not noted") {
		t.Errorf("a reader can't be noted, and logged is %s", &log)
	}
	read := func() (at time.Time) {
		w.must(w.Store.View(context.Background(), func(r port.Reader) (err error) {
			at, _, err = r.EventsRead(context.Background(), ident.From(other).Org)
			return err
		}))
		return at
	}
	if at := read(); !at.IsZero() {
		t.Errorf("noted at %v", at)
	}
	w.below.OnUpdate.Clear()
	w.list(other, event.ListEvents{})
	if read().IsZero() {
		t.Error("the next call of a reader is not noted")
	}
}
