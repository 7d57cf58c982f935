package source_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// pushing is a source of kind push with a way to bring it items.
type pushing struct {
	*fixture
	ref source.Ref
}

func newPushing(t *testing.T) *pushing {
	f := newFixture(t, func(s *source.Settings, _ *shelf) { s.Beat = time.Hour })
	s := f.create(source.CreateSource{Kind: "push"})
	if s.State != "idle" || s.LastRun != nil {
		t.Errorf("created: %+v", s)
	}
	return &pushing{f, source.Ref{ID: s.ID}}
}

func (p *pushing) push(run string, items ...source.PushItem) []source.PushedItem {
	p.Helper()
	out, err := coretest.Call(p.ctx, p.svc.Push, source.PushItems{Ref: p.ref, Run: run, Items: items})
	if err != nil {
		p.Fatal(err)
	}
	return out.Items
}

func brought(key, version, text string) source.PushItem {
	return source.PushItem{Key: key, Version: version, Text: &text}
}

// Items that are brought are documents; what went is named so.
func TestPush(t *testing.T) {
	p := newPushing(t)
	a := brought("a", "1", "The hedge.")
	a.Metadata, a.URL = json.RawMessage(`{"title":"Garden","team":"shop"}`), "https://x.example/a"
	b := brought("b", "", "The gate.")
	b.Name = "b"
	got := p.push("", a, b, brought("empty", "1", ""))
	for i, want := range []string{"created", "created", "failed"} {
		if got[i].Status != want {
			t.Errorf("item %d: %+v, want %s", i, got[i], want)
		}
	}
	if got[2].Error == nil || got[2].Error.Code != "no_text" || got[2].DocumentID != nil ||
		*got[0].DocumentID == *got[1].DocumentID {
		t.Errorf("%+v", got)
	}
	doc := p.document(*got[0].DocumentID)
	var m map[string]any
	if err := json.Unmarshal(doc.Metadata, &m); err != nil || m["title"] != "Garden" || m["team"] != "shop" || m["path"] != "a" ||
		m["url"] != "https://x.example/a" || m["source_kind"] != "push" {
		t.Errorf("metadata %s, %v", doc.Metadata, err)
	}
	for i, want := range []string{"Garden", ""} { // the other's name is its key
		d, err := coretest.Call(p.ctx, p.documents.Get,
			document.GetDocument{Namespace: "docs", ID: *got[i].DocumentID, Include: []string{"chunks"}})
		if err != nil || (*d.ChunkList)[0].Heading != want {
			t.Errorf("item %d stands under %+v, %v", i, d.ChunkList, err)
		}
	}
	got = p.push("", brought("a", "1", "Another text under the same version."), b,
		source.PushItem{Key: "none", Deleted: true})
	if got[0].Status != "unchanged" || got[1].Status != "unchanged" || got[2].Status != "deleted" {
		t.Errorf("again: %+v", got)
	}
	got = p.push("", brought("a", "2", "The hedge is cut."), source.PushItem{Key: "b", Deleted: true})
	if got[0].Status != "updated" || got[1].Status != "deleted" {
		t.Errorf("changed: %+v", got)
	}
	if has := p.has("docs"); len(has) != 1 || has["a"] != "The hedge is cut." {
		t.Errorf("the namespace holds %v", has)
	}
	if s := p.get(p.ref.ID); s.Documents != 1 || s.Items != 2 || s.State != "idle" {
		t.Errorf("the source: %+v", s)
	}
}

// A run in which everything is brought ends with what was not being gone, through the guard.
func TestPushedSnapshot(t *testing.T) {
	p := newPushing(t)
	var items []source.PushItem
	for i := range 30 {
		items = append(items, brought("k"+strconv.Itoa(i), "1", "Text "+strconv.Itoa(i)))
	}
	p.push("", items...)
	begin := func() string {
		t.Helper()
		r, err := coretest.Call(p.ctx, p.svc.Begin, source.BeginRun{Ref: p.ref})
		if err != nil || r.Status != "running" || r.StatusCode() != 201 {
			t.Fatalf("begun: %+v, %v", r, err)
		}
		return r.ID
	}
	complete := func(run string, snapshot bool) source.Run {
		t.Helper()
		r, err := coretest.Call(p.ctx, p.svc.Complete, source.CompleteRun{
			RunRef: source.RunRef{Ref: p.ref, Run: run}, Snapshot: snapshot})
		if err != nil || r.StatusCode() != 202 {
			t.Fatalf("completed: %+v, %v", r, err)
		}
		return *p.idle(p.ref.ID).LastRun
	}
	run := begin()
	p.push(run, items[:10]...)
	p.push(run, append(items[5:28], brought("new", "1", "New."))...)
	p.counts("two are gone", complete(run, true), "completed",
		port.SourceCounts{Seen: 29, Created: 1, Unchanged: 33, Deleted: 2})
	run = begin()
	p.push(run, items[:10]...)
	p.counts("nothing proven", complete(run, false), "completed", port.SourceCounts{Seen: 10, Unchanged: 10})
	run = begin()
	p.push(run, items[:10]...)
	p.counts("too many", complete(run, true), "partial", port.SourceCounts{Seen: 10, Unchanged: 10, Withheld: 19})
	left := begin()
	run = begin()
	if r, err := p.svc.GetRun(p.ctx, source.RunRef{Ref: p.ref, Run: left}); err != nil || r.Status != "cancelled" {
		t.Errorf("a run that was left: %+v, %v", r, err)
	}
	_, err := coretest.Call(p.ctx, p.svc.Push, source.PushItems{Ref: p.ref, Run: left, Items: items[:1]})
	p.want("a run that has ended", err, fault.Conflict)
	_, err = coretest.Call(p.ctx, p.svc.Push, source.PushItems{Ref: p.ref, Run: "run_none", Items: items[:1]})
	p.want("no run", err, fault.NotFound)
	// One that nothing is brought in is ended.
	p.clock.pass(2 * 3600e9)
	if s := p.idle(p.ref.ID); s.LastRun.ID != run || s.LastRun.Status != "interrupted" {
		t.Errorf("%+v", s.LastRun)
	}
}

// Calls that say too little, too much or twice are refused whole.
func TestRefusedPushes(t *testing.T) {
	p := newPushing(t)
	text := "x"
	for what, in := range map[string]source.PushItems{
		"no item":          {},
		"no key":           {Items: []source.PushItem{{Text: &text}}},
		"a key twice":      {Items: []source.PushItem{brought("a", "", "x"), brought("a", "", "y")}},
		"no text":          {Items: []source.PushItem{{Key: "a"}}},
		"text of a gone":   {Items: []source.PushItem{{Key: "a", Deleted: true, Text: &text}}},
		"NUL in its text":  {Items: []source.PushItem{brought("a", "", "x\x00")}},
		"a version of 257": {Items: []source.PushItem{brought("a", strings.Repeat("v", 257), "x")}},
	} {
		in.Ref = p.ref
		_, err := coretest.Call(p.ctx, p.svc.Push, in)
		p.want(what, err, fault.InvalidRequest)
	}
	other := p.idle(p.create(source.CreateSource{}).ID)
	_, err := coretest.Call(p.ctx, p.svc.Push, source.PushItems{Ref: source.Ref{ID: other.ID},
		Items: []source.PushItem{brought("a", "", "x")}})
	p.want("another kind", err, fault.Conflict)
	_, err = coretest.Call(p.ctx, p.svc.Sync, source.SyncSource{Ref: p.ref})
	p.want("a run of a pushed one", err, fault.Conflict)
	if has := p.has("docs"); len(has) != 0 {
		t.Errorf("written: %v", has)
	}
}
