package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// paged reads a list to its end, one page after the other.
func paged[T any](t *testing.T, read func(cursor string) (items []T, next *string, err error)) (pages []int, all []T) {
	t.Helper()
	for cursor := ""; ; {
		items, next, err := read(cursor)
		if err != nil {
			t.Fatal(err)
		}
		pages, all = append(pages, len(items)), append(all, items...)
		if next == nil {
			return pages, all
		}
		cursor = *next
	}
}

// Each list has as many on a page as are asked for, and ends with its last page, also where that
// is full.
func TestFullPages(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(4)
	s := f.idle(f.create(source.CreateSource{}).ID)
	for range 3 {
		f.sync(s.ID)
	}
	for range 3 {
		f.create(source.CreateSource{Start: new(false)})
	}
	two, ref := 2, source.Ref{ID: s.ID}
	want := func(what string, pages []int, different int) {
		t.Helper()
		if !slices.Equal(pages, []int{2, 2}) || different != 4 {
			t.Errorf("%s: pages of %v, %d different", what, pages, different)
		}
	}
	set := func(names ...string) int { return len(slices.Compact(slices.Sorted(slices.Values(names)))) }
	pages, items := paged(t, func(cursor string) ([]source.Item, *string, error) {
		p, err := coretest.Call(f.ctx, f.svc.Items, source.ListItems{Ref: ref, Limit: &two, Cursor: cursor})
		return p.Items, p.NextCursor, err
	})
	var names []string
	for _, i := range items {
		if names = append(names, i.Key); i.Status != "active" || i.Error != nil || i.DocumentID == nil || i.Documents != 1 {
			t.Errorf("%+v", i)
		}
	}
	want("items", pages, set(names...))
	pages, did := paged(t, func(cursor string) ([]source.RunItem, *string, error) {
		p, err := coretest.Call(f.ctx, f.svc.RunItems, source.ListRunItems{
			RunRef: source.RunRef{Ref: ref, Run: s.LastRun.ID}, Limit: &two, Cursor: cursor})
		return p.Items, p.NextCursor, err
	})
	names = nil
	for _, i := range did {
		names = append(names, i.Key)
	}
	want("items of a run", pages, set(names...))
	pages, runs := paged(t, func(cursor string) ([]source.Run, *string, error) {
		p, err := coretest.Call(f.ctx, f.svc.Runs, source.ListRuns{Ref: ref, Limit: &two, Cursor: cursor})
		return p.Runs, p.NextCursor, err
	})
	names = nil
	for _, r := range runs {
		names = append(names, r.ID)
	}
	want("runs", pages, set(names...))
	pages, sources := paged(t, func(cursor string) ([]source.Source, *string, error) {
		p, err := coretest.Call(f.ctx, f.svc.List, source.ListSources{Limit: &two, Cursor: cursor})
		return p.Sources, p.NextCursor, err
	})
	names = nil
	for _, s := range sources {
		names = append(names, s.ID)
	}
	want("sources", pages, set(names...))
	one := f.Caller(key.Issue{Namespace: "docs"})
	for namespace, n := range map[string]int{"docs": 4, "other": 0} {
		list, err := coretest.Call(one, f.svc.List, source.ListSources{Namespace: namespace})
		if err != nil || len(list.Sources) != n {
			t.Errorf("of %s its key lists %d, %v", namespace, len(list.Sources), err)
		}
	}
}

// A check of a source that is there has its secrets, but those that are given, keeps what the upstream
// replaces them with, and does not use them beside a run.
func TestCheckOfASource(t *testing.T) {
	f := newFixture(t, func(s *source.Settings, _ *shelf) { s.Sealer = &keeper{} })
	f.fill(1)
	s := f.idle(f.create(source.CreateSource{Kind: "shelf", Config: json.RawMessage(`{"path":"a"}`),
		Secrets: map[string]string{"token": "tok-1"}}).ID)
	check := func(secrets map[string]string) (source.Checked, error) {
		return coretest.Call(f.ctx, f.svc.Check, source.CheckSource{Kind: "shelf", Config: json.RawMessage(`{"path":"a"}`),
			SourceID: s.ID, Secrets: secrets})
	}
	if got, err := check(nil); err != nil || !got.OK || f.shelf.secrets["token"] != "tok-1" || len(got.Items) != 1 ||
		got.Items[0].Size == nil || *got.Items[0].Size != int64(len(f.shelf.items["k1000"])) {
		t.Errorf("%+v, %v, with %v", got, err, f.shelf.secrets)
	}
	if got, err := check(map[string]string{"token": "tok-2"}); err != nil || !got.OK || f.shelf.secrets["token"] != "tok-2" {
		t.Errorf("%+v, %v, with %v", got, err, f.shelf.secrets)
	}
	f.shelf.conn = func(ctx context.Context, c port.Connection) error {
		return c.Renew(ctx, map[string]string{"token": "tok-3"})
	}
	if got, err := check(nil); err != nil || !got.OK {
		t.Errorf("%+v, %v", got, err)
	}
	f.shelf.set(func(s *shelf) { s.conn = nil })
	if f.sync(s.ID); f.shelf.secrets["token"] != "tok-3" {
		t.Errorf("after it a run has %v", f.shelf.secrets)
	}
	reached, release := make(chan struct{}), make(chan struct{})
	f.shelf.set(func(s *shelf) {
		s.before = func(context.Context) error { close(reached); <-release; return nil }
	})
	run, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: s.ID}})
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	_, err = check(nil)
	f.want("beside a run", err, fault.Conflict)
	_, err = coretest.Call(f.ctx, f.svc.ApplyDeletions, source.ApplyDeletions{Ref: source.Ref{ID: s.ID}, Max: new(int64(1))})
	f.want("deletions beside run "+run.ID, err, fault.Conflict)
	close(release)
	f.idle(s.ID)
	s.ID = "src_none"
	_, err = check(nil)
	f.want("of no source", err, fault.SourceNotFound)
}

// A source that fails again and again runs less often, and one that works as often as before.
func TestFailuresSlowASchedule(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(1)
	s := f.idle(f.create(source.CreateSource{Schedule: &source.Schedule{Every: "6h"}}).ID)
	soon := func() time.Duration { return f.get(s.ID).NextRunAt.Sub(f.clock.now()) }
	f.shelf.set(func(s *shelf) { s.err = errors.New("it is broken") })
	for n := 1; n <= 5; n++ {
		f.sync(s.ID)
		if got := soon(); (got > 11*time.Hour) != (n == 5) {
			t.Errorf("after %d failures it runs in %s", n, got)
		}
	}
	f.shelf.set(func(s *shelf) { s.err = nil })
	f.clock.pass(13 * time.Hour)
	for f.idle(s.ID).LastRun.Status != "completed" {
		f.wait()
	}
	if got := soon(); got > 7*time.Hour {
		t.Errorf("when it works again it runs in %s", got)
	}
	hourly, err := f.change(source.UpdateSource{Ref: source.Ref{ID: s.ID}, Schedule: &source.Schedule{Every: "1h"}})
	if err != nil || soon() > 2*time.Hour || hourly.Schedule.Every != "1h" {
		t.Errorf("by a new schedule it runs in %s, %v", soon(), err)
	}
	if cron, err := f.change(source.UpdateSource{Ref: source.Ref{ID: s.ID},
		Schedule: &source.Schedule{Cron: "30 4 * * *"}}); err != nil || *cron.Schedule != (source.Schedule{Cron: "30 4 * * *"}) {
		t.Errorf("%+v, %v", cron.Schedule, err)
	}
	none, err := f.change(source.UpdateSource{Ref: source.Ref{ID: s.ID}, Schedule: &source.Schedule{}})
	if err != nil || none.Schedule != nil || none.NextRunAt != nil {
		t.Errorf("without one: %+v, %v", none, err)
	}
}

// An item that fails is tried again later and later, and after its last time no more.
func TestTriesOfAnItem(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(1)
	f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceUnavailable, nil, "does not answer")
	s := f.idle(f.create(source.CreateSource{}).ID)
	for n, wait := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour, 0} {
		list, err := coretest.Call(f.ctx, f.svc.Items, source.ListItems{Ref: source.Ref{ID: s.ID}})
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		i := list.Items[0]
		if i.Status != "failed" || i.Attempts != n+1 || i.DocumentID != nil || (i.NextAttempt == nil) != (wait == 0) {
			t.Errorf("after try %d: %+v", n+1, i)
		}
		if wait == 0 || i.NextAttempt == nil {
			break
		}
		if in := i.NextAttempt.Sub(i.UpdatedAt); in != wait {
			t.Errorf("after try %d it is tried in %s, want %s", n+1, in, wait)
		}
		last := f.get(s.ID).LastRun.ID
		f.clock.pass(wait)
		for f.idle(s.ID).LastRun.ID == last {
			f.wait()
		}
	}
}

// A pushed item has so many keys of metadata and no more, and a source of kind push has no schedule.
func TestPushesAtTheirBounds(t *testing.T) {
	p := newPushing(t)
	with := func(keys int) source.PushItem {
		own := map[string]int{}
		for i := range keys {
			own["k"+strconv.Itoa(i)] = i
		}
		i := brought("a", "", "x")
		i.Metadata, _ = json.Marshal(own) // numbers can be encoded
		return i
	}
	p.push("", with(20))
	_, err := coretest.Call(p.ctx, p.svc.Push, source.PushItems{Ref: p.ref, Items: []source.PushItem{with(21)}})
	p.want("21 keys", err, fault.InvalidMetadata)
	_, err = p.change(source.UpdateSource{Ref: p.ref, Schedule: &source.Schedule{Every: "1h"}})
	p.want("a schedule", err, fault.InvalidRequest)
	if _, err = p.change(source.UpdateSource{Ref: p.ref, Schedule: &source.Schedule{}}); err != nil {
		t.Errorf("an empty schedule: %v", err)
	}
}

// A connector's state is kept up to a size; one that gives more fails its run.
func TestStatesAtTheirBounds(t *testing.T) {
	f := newFixture(t, func(_ *source.Settings, s *shelf) { s.everyOne = true })
	for name, c := range map[string]struct {
		size   int
		status string
	}{"the largest": {64 << 10, "completed"}, "a larger": {64<<10 + 1, "failed"}} {
		s := f.create(source.CreateSource{Start: new(false)})
		l := &stating{f.shelf, c.size}
		f.stop()
		f.settings.Connectors = []port.Connector{l}
		f.begin()
		if r := f.sync(s.ID); r.Status != c.status {
			t.Errorf("%s state: %+v, %+v", name, r, r.Error)
		}
	}
}

// stating gives a state of so many bytes.
type stating struct {
	*shelf
	size int
}

func (s *stating) List(ctx context.Context, _ port.Connection, _ []byte, l port.SourceListing) error {
	if err := l.Checkpoint(ctx, []byte(strings.Repeat("s", s.size))); err != nil {
		return err
	}
	return l.Complete(ctx, true)
}

// What an item is fetched as may have another version than it was listed with, if that can be kept, and
// as much metadata as a document has room for beside its source's own.
func TestVersionsOfContents(t *testing.T) {
	for version, kept := range map[string]bool{strings.Repeat("v", 256): true, strings.Repeat("v", 257): false,
		"v\xff": false, "": false} {
		f := newFixture(t, nil)
		f.fill(1)
		f.stop()
		f.settings.Connectors = []port.Connector{&versioned{f.shelf, version}}
		f.begin()
		s := f.idle(f.create(source.CreateSource{}).ID)
		list, err := coretest.Call(f.ctx, f.svc.Items, source.ListItems{Ref: source.Ref{ID: s.ID}})
		if err != nil || len(list.Items) != 1 || (list.Items[0].Version == version) != kept {
			t.Errorf("%d bytes: %+v, %v", len(version), list.Items, err)
			continue
		}
		var own map[string]any
		if err := json.Unmarshal(f.document(*list.Items[0].DocumentID).Metadata, &own); err != nil || own["a24"] == nil ||
			own["a25"] != nil || own["title"] != "Name of k1000" || own["media_type"] != "text/plain" {
			t.Errorf("%v, %v", own, err)
		}
	}
}

// versioned fetches items of a version.
type versioned struct {
	*shelf
	version string
}

func (v *versioned) Fetch(ctx context.Context, c port.Connection, i port.SourceItem) (port.SourceContent, error) {
	out, err := v.shelf.Fetch(ctx, c, i)
	out.Version = v.version
	for n := range 40 { // more than a document may have
		out.Metadata[fmt.Sprintf("a%02d", n)] = n
	}
	return out, err
}

// A secret is kept up to a size.
func TestSecretsAtTheirBounds(t *testing.T) {
	f := newFixture(t, func(s *source.Settings, _ *shelf) { s.Sealer = &keeper{} })
	s := f.create(source.CreateSource{Start: new(false)})
	for size, code := range map[int]fault.Code{64 << 10: "", 64<<10 + 1: fault.InvalidRequest} {
		_, err := f.change(source.UpdateSource{Ref: source.Ref{ID: s.ID},
			Secrets: map[string]string{"token": strings.Repeat("x", size)}})
		f.want(strconv.Itoa(size)+" bytes", err, code)
		f.idle(s.ID)
	}
}
