package event_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// TestKinds: each kind is described by what it is sent as, and small.
func TestKinds(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	list, err := coretest.Call(w.ctx, w.events.Kinds, event.ListKinds{})
	w.must(err)
	for i, k := range event.Kinds() {
		got := list.Kinds[i]
		var body struct {
			Type      string
			Timestamp time.Time
			Data      map[string]any
		}
		w.must(json.Unmarshal(got.Example, &body))
		if got.Name != k.Name || body.Type != k.Name || body.Timestamp.IsZero() || body.Data["organization_id"] == "" ||
			got.Summary == "" || (got.Keys == "admin") != k.Admin || len(got.Example) > 20<<10 ||
			string(got.Schema) != `"`+reflect.TypeOf(k.Example).Name()+`"` {
			t.Errorf("%s: %+v", k.Name, got)
		}
		// What tells of people, keys and quotas is for those who administer them.
		family, _, _ := strings.Cut(k.Name, ".")
		if k.Admin != (family == "memory" || family == "user" || family == "quota" || family == "key") {
			t.Errorf("%s is for admin keys: %v", k.Name, k.Admin)
		}
	}
	field, _ := reflect.TypeFor[event.ListEvents]().FieldByName("Kinds")
	if all := strings.Split(field.Tag.Get("enum"), ","); !slices.Equal(all, names(list)) {
		t.Errorf("a list may ask for %v, and there are %v", all, names(list))
	}
	if len(list.Kinds) != len(event.Kinds()) {
		t.Errorf("%d kinds of %d", len(list.Kinds), len(event.Kinds()))
	}
}

func names(l event.KindList) (all []string) {
	for _, k := range l.Kinds {
		all = append(all, k.Name)
	}
	return all
}

func (w *world) list(ctx context.Context, in event.ListEvents) event.Page {
	w.Helper()
	page, err := coretest.Call(ctx, w.events.List, in)
	w.must(err)
	return page
}

func (w *world) refused(code fault.Code, err error) {
	w.Helper()
	if fault.CodeOf(err) != code {
		w.Errorf("answered %v, want %s", err, code)
	}
}

func types(page event.Page) string {
	var all []string
	for _, e := range page.Events {
		all = append(all, e.Type)
	}
	return strings.Join(all, " ")
}

func TestPages(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	w.write("docs", "a=1")
	w.write("docs", "a=2")
	w.write("other", "a=1")
	w.numbered()

	// A service key sees neither people nor keys.
	first := w.list(w.ctx, event.ListEvents{Limit: new(2)})
	second := w.list(w.ctx, event.ListEvents{After: first.NextCursor})
	end := w.list(w.ctx, event.ListEvents{After: second.NextCursor})
	if types(first) != "namespace.created documents.written" ||
		types(second) != "documents.written namespace.created documents.written" || types(end) != "" ||
		end.NextCursor != second.NextCursor || first.Missed || end.Events == nil {
		t.Errorf("pages: %s, then %s, then %+v", types(first), types(second), end)
	}
	some := w.list(w.ctx, event.ListEvents{Kinds: []string{event.NamespaceCreated, event.NamespaceDeleted}})
	if types(some) != "namespace.created namespace.created" {
		t.Errorf("of some kinds: %s", types(some))
	}
	now := w.list(w.ctx, event.ListEvents{After: "latest"})
	if types(now) != "" || types(w.list(w.ctx, event.ListEvents{After: now.NextCursor})) != "" {
		t.Errorf("from now on: %s", types(now))
	}
	w.write("docs", "a=3")
	w.numbered()
	if got := types(w.list(w.ctx, event.ListEvents{After: now.NextCursor})); got != "documents.written" {
		t.Errorf("since then: %s", got)
	}

	last := w.list(w.ctx, event.ListEvents{After: "newest", Limit: new(2)})
	if types(last) != "documents.written documents.written" ||
		types(w.list(w.ctx, event.ListEvents{After: last.NextCursor})) != "" {
		t.Errorf("the last two: %s", types(last))
	}

	// A cursor is of its list, and of its organization.
	elsewhere := w.Caller(key.Issue{Org: "elsewhere"})
	for what, c := range map[string]struct {
		ctx context.Context
		in  event.ListEvents
	}{
		"another filter":       {w.ctx, event.ListEvents{After: first.NextCursor, Kinds: []string{event.NamespaceCreated}}},
		"another organization": {elsewhere, event.ListEvents{After: first.NextCursor}},
		"none of ours":         {w.ctx, event.ListEvents{After: "7"}},
	} {
		_, err := coretest.Call(c.ctx, w.events.List, c.in)
		if fault.CodeOf(err) != fault.InvalidCursor {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := coretest.Call(w.ctx, w.events.List, event.ListEvents{Kinds: []string{"documents.wrote"}})
	w.refused(fault.InvalidRequest, err)
	_, err = coretest.Call(w.ctx, w.events.List, event.ListEvents{Kinds: []string{event.KeyCreated}})
	w.refused(fault.Forbidden, err)
	if got := w.list(elsewhere, event.ListEvents{}); len(got.Events) != 0 {
		t.Errorf("another organization is told %s", types(got))
	}

	// A limited key sees what concerns its namespace.
	limited := w.Caller(key.Issue{Namespace: "other"})
	if got := types(w.list(limited, event.ListEvents{})); got != "namespace.created documents.written" {
		t.Errorf("a limited key is told %s", got)
	}
	get := func(ctx context.Context, id string) error {
		e, err := coretest.Call(ctx, w.events.Get, event.GetEvent{ID: id})
		if err == nil && (e.ID != id || e.Type == "") {
			t.Errorf("read %+v", e)
		}
		return err
	}
	w.must(get(w.ctx, first.Events[0].ID))
	w.refused(fault.NotFound, get(limited, first.Events[0].ID))
	w.must(get(limited, second.Events[1].ID))
	w.refused(fault.NotFound, get(elsewhere, first.Events[0].ID))
	w.refused(fault.NotFound, get(w.ctx, "evt_none"))

	// Who administers sees all, of what they administer.
	all, err := coretest.Call(w.admin, w.events.ListOf, event.ListEventsOf{Org: "default",
		ListEvents: event.ListEvents{Kinds: []string{event.KeyCreated}}})
	w.must(err)
	w.refused(fault.NotFound, get(w.ctx, all.Events[0].ID))
	one := event.GetEventOf{Org: string(ident.From(w.ctx).Org), GetEvent: event.GetEvent{ID: all.Events[0].ID}}
	if e, err := coretest.Call(w.admin, w.events.GetOf, one); err != nil || e.Type != event.KeyCreated {
		t.Errorf("an admin reads %+v, %v", e, err)
	}
	for _, org := range []string{"elsewhere", "nobody"} {
		_, err = coretest.Call(w.admin, w.events.ListOf, event.ListEventsOf{Org: org})
		w.refused(fault.NotFound, err)
		_, err = coretest.Call(w.admin, w.events.GetOf, event.GetEventOf{Org: org, GetEvent: one.GetEvent})
		w.refused(fault.NotFound, err)
	}
}

// TestWaiting: a call with wait answers as soon as there is an event, or when the server ends.
func TestWaiting(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	at := w.list(w.ctx, event.ListEvents{After: "latest"}).NextCursor
	answers := make(chan event.Page, 1)
	wait := func(ctx context.Context, kinds ...string) {
		in := event.ListEvents{After: "latest", Wait: 30, Kinds: kinds}
		if kinds == nil {
			in.After = at
		}
		go func() {
			page, err := coretest.Call(ctx, w.events.List, in)
			if err != nil {
				t.Error(err)
			}
			answers <- page
		}()
	}
	wait(w.ctx)
	w.write("docs", "a=1")
	if got := types(<-answers); !strings.HasPrefix(got, "namespace.created") {
		t.Errorf("a call that waited was told %q", got)
	}
	// A deadline leaves time for the answer.
	short, cancel := context.WithTimeout(w.ctx, 1100*time.Millisecond)
	defer cancel()
	wait(short, event.NamespaceDeleted)
	if got := <-answers; types(got) != "" || got.NextCursor == "" {
		t.Errorf("at a deadline: %+v", got)
	}
	wait(w.ctx, event.NamespaceDeleted)
	w.events.End()
	if got := <-answers; types(got) != "" || got.NextCursor == "" {
		t.Errorf("at the end: %+v", got)
	}
	var in any = &event.ListEvents{Wait: 1}
	if waiter, ok := in.(op.Waiter); !ok || !waiter.Waits() || (&event.ListEvents{}).Waits() {
		t.Error("a call that waits takes a place among the calls at once")
	}
}

// TestCrowd: an organization does not hold any number of calls.
func TestCrowd(t *testing.T) {
	w := open(t, event.RecorderSettings{}, event.PublisherSettings{})
	ctx, leave := context.WithCancel(w.ctx)
	in := event.ListEvents{After: "latest", Wait: 30, Kinds: []string{event.NamespaceDeleted}}
	results := make(chan error, 65)
	for range cap(results) {
		go func() {
			_, err := coretest.Call(ctx, w.events.List, in)
			results <- err
		}()
	}
	w.refused(fault.RateLimited, <-results) // the others wait
	leave()
	for range cap(results) - 1 {
		if err := <-results; err != context.Canceled {
			t.Errorf("a call whose caller left: %v", err)
		}
	}
	// Their places are free again.
	in.Kinds = []string{event.DocumentsWritten}
	w.write("docs", "a=1")
	w.numbered()
	in.After = ""
	if got := types(w.list(w.ctx, in)); got != "documents.written" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestRetention: what is too old is forgotten, and who comes late is told so.
func TestRetention(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := open(t, event.RecorderSettings{Now: func() time.Time { return now }}, event.PublisherSettings{})
	w.write("docs", "a=1")
	w.numbered()
	early := w.list(w.ctx, event.ListEvents{Limit: new(1)})
	late := w.list(w.ctx, event.ListEvents{})
	again, err := coretest.Call(w.ctx, w.events.Get, event.GetEvent{ID: early.Events[0].ID})
	w.must(err)
	if !again.Timestamp.Equal(now) {
		t.Errorf("an event of %v is of %v", now, again.Timestamp)
	}
	p := event.NewPublisher(event.PublisherSettings{Recorder: w.recorder, Replica: w.Replica, Retention: time.Hour,
		Now: func() time.Time { return now.Add(2 * time.Hour) }})
	w.run(p)
	for gone := false; !gone; time.Sleep(time.Millisecond) {
		w.must(w.Store.View(context.Background(), func(r port.Reader) error {
			s, err := r.EventStream(context.Background(), ident.From(w.ctx).Org)
			gone = s.Trimmed == s.Last
			return err
		}))
	}
	got := w.list(w.ctx, event.ListEvents{After: early.NextCursor, Wait: 30})
	if next := w.list(w.ctx, event.ListEvents{After: got.NextCursor}); !got.Missed || len(got.Events) != 0 || next.Missed {
		t.Errorf("a reader that comes late: %+v, then %+v", got, next)
	}
	for _, after := range []string{late.NextCursor, "", "latest"} {
		if got := w.list(w.ctx, event.ListEvents{After: after}); got.Missed {
			t.Errorf("a reader from %q has missed something: %+v", after, got)
		}
	}
}
