package source_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// Settings that cannot work are refused by their field, and nothing is stored.
func TestRefusedSettings(t *testing.T) {
	f := newFixture(t, func(s *source.Settings, _ *shelf) { s.Sealer = &keeper{} })
	for _, c := range []struct {
		change func(*source.CreateSource)
		code   fault.Code
		says   string
	}{
		{func(in *source.CreateSource) { in.Kind = "shelv" }, fault.InvalidRequest,
			`kind: "shelv" is no kind of source here; did you mean "shelf"?`},
		{func(in *source.CreateSource) { in.Config = json.RawMessage(`{"pth":"a","path":"a"}`) }, fault.InvalidRequest,
			`config.pth: is unknown; did you mean "path"?`},
		{func(in *source.CreateSource) { in.Config = json.RawMessage(`{"paths":"a"}`) }, fault.InvalidRequest,
			`config.paths: is unknown; did you mean "path"?`},
		{func(in *source.CreateSource) { in.Config = nil }, fault.InvalidRequest, `config.path: is required`},
		{func(in *source.CreateSource) { in.Config = json.RawMessage(`{"path":"a","depth":"b"}`) }, fault.InvalidRequest,
			`config.depth: must be of type integer`},
		{func(in *source.CreateSource) { in.Config = json.RawMessage(`[]`) }, fault.InvalidRequest,
			`config: must be of type object`},
		{func(in *source.CreateSource) { in.Secrets = map[string]string{"tokn": "abc"} }, fault.InvalidRequest,
			`secrets.tokn: is unknown; did you mean "token"?`},
		{func(in *source.CreateSource) { in.Secrets = map[string]string{"token": "zz"} }, fault.InvalidRequest,
			`secrets.token: is not allowed`},
		{func(in *source.CreateSource) { in.Schedule = &source.Schedule{Every: "10s"} }, fault.InvalidRequest,
			"schedule.every: must be"},
		{func(in *source.CreateSource) { in.Schedule = &source.Schedule{Every: "1h", Cron: "* * * * *"} },
			fault.InvalidRequest, "schedule: has both"},
		{func(in *source.CreateSource) { in.Schedule = &source.Schedule{Cron: "* * *"} }, fault.InvalidRequest,
			"schedule.cron: must be five fields"},
		{func(in *source.CreateSource) { in.Schedule = &source.Schedule{Cron: "61 * * * *"} }, fault.InvalidRequest,
			"schedule.cron: must be five fields"},
		{func(in *source.CreateSource) { in.Schedule = &source.Schedule{Cron: "@every 1s"} }, fault.InvalidRequest,
			"schedule.cron: must be five fields"},
		{func(in *source.CreateSource) { in.Schedule = &source.Schedule{Cron: "0 0 31 2 *"} }, fault.InvalidRequest,
			"schedule.cron: "},
		{func(in *source.CreateSource) { in.Namespace = "No" }, fault.InvalidNamespace, "namespace"},
		{func(in *source.CreateSource) { in.Deletions = new("never") }, fault.InvalidRequest, "deletions"},
	} {
		in := source.CreateSource{Name: "n", Kind: "shelf", Namespace: "docs", Config: json.RawMessage(`{"path":"a"}`)}
		c.change(&in)
		_, err := coretest.Call(f.ctx, f.svc.Create, in)
		if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "zz") {
			t.Errorf("%v, want %s %s", err, c.code, c.says)
		}
	}
	list, err := coretest.Call(f.ctx, f.svc.List, source.ListSources{})
	if err != nil || len(list.Sources) != 0 {
		t.Errorf("stored: %+v, %v", list, err)
	}
}

// Secrets are sealed for their place, reach the connector and no answer; without a key none is
// kept.
func TestSecrets(t *testing.T) {
	k := &keeper{}
	f := newFixture(t, func(s *source.Settings, _ *shelf) { s.Sealer = k })
	s := f.idle(f.create(source.CreateSource{Kind: "shelf", Config: json.RawMessage(`{"path":"a"}`),
		Secrets: map[string]string{"token": "tok-1"}}).ID)
	if f.shelf.secrets["token"] != "tok-1" || !slices.Equal(s.SecretsSet, []string{"token"}) {
		t.Errorf("the connector got %v; set are %v", f.shelf.secrets, s.SecretsSet)
	}
	if b, err := json.Marshal(s); err != nil || strings.Contains(string(b), "tok-1") {
		t.Errorf("answered: %s, %v", b, err)
	}
	update := func(in source.UpdateSource) (source.Source, error) {
		in.ID = s.ID
		return coretest.Call(f.ctx, f.svc.Update, in)
	}
	if got, err := update(source.UpdateSource{Secrets: map[string]string{"token": "tok-2"}}); err != nil ||
		got.LastRun.Trigger != "config" {
		t.Errorf("changed: %+v, %v", got.LastRun, err)
	}
	if f.idle(s.ID); f.shelf.secrets["token"] != "tok-2" {
		t.Errorf("then the connector got %v", f.shelf.secrets)
	}
	k.off = true
	_, err := update(source.UpdateSource{Secrets: map[string]string{"token": "tok-3"}})
	f.want("without a key", err, fault.Unavailable)
	if got, err := update(source.UpdateSource{Secrets: map[string]string{"token": ""}}); err != nil || len(got.SecretsSet) != 0 {
		t.Errorf("removed: %+v, %v", got, err)
	}
	if f.idle(s.ID); len(f.shelf.secrets) != 0 {
		t.Errorf("the connector got %v", f.shelf.secrets)
	}
	f.settings.Sealer = nil
	f.stop()
	f.begin()
	_, err = coretest.Call(f.ctx, f.svc.Create, source.CreateSource{Name: "n", Kind: "shelf", Namespace: "docs",
		Config: json.RawMessage(`{"path":"a"}`), Secrets: map[string]string{"token": "tok"}})
	f.want("without a sealer", err, fault.Unavailable)
}

// What a run fetches after its secrets were replaced has the new ones, though the call that had
// them replaced had ended.
func TestRenewedSecrets(t *testing.T) {
	f := newFixture(t, func(s *source.Settings, _ *shelf) { s.Sealer = &keeper{} })
	f.fill(2)
	f.shelf.conn = func(ctx context.Context, c port.Connection) error {
		ctx, leave := context.WithCancel(ctx)
		leave()
		return c.Renew(ctx, map[string]string{"token": "tok-2"})
	}
	s := f.idle(f.create(source.CreateSource{Kind: "shelf", Config: json.RawMessage(`{"path":"a"}`),
		Secrets: map[string]string{"token": "tok-1"}}).ID)
	if s.LastRun.Status != "completed" || f.shelf.secrets["token"] != "tok-1" ||
		!slices.Equal(f.shelf.with, []string{"tok-2", "tok-2"}) {
		t.Errorf("%s: listed with %v, fetched with %v", s.LastRun.Status, f.shelf.secrets, f.shelf.with)
	}
}

// A paused source runs no more; enabled again it goes on.
func TestPaused(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(1)
	s := f.idle(f.create(source.CreateSource{Schedule: &source.Schedule{Every: "6h"}}).ID)
	if s.NextRunAt == nil || s.Schedule.Every != "6h" {
		t.Errorf("planned: %+v", s)
	}
	set := func(enabled bool) source.Source {
		t.Helper()
		got, err := coretest.Call(f.ctx, f.svc.Update, source.UpdateSource{Ref: source.Ref{ID: s.ID}, Enabled: &enabled})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := set(false); got.State != "paused" || got.NextRunAt != nil {
		t.Errorf("paused: %+v", got)
	}
	_, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: s.ID}})
	f.want("a run of a paused source", err, fault.Conflict)
	if got := set(true); got.State != "idle" || got.NextRunAt == nil {
		t.Errorf("enabled: %+v", got)
	}
	// The schedule comes round.
	last := f.get(s.ID).LastRun.ID
	f.shelf.put("k1", "Later.")
	f.clock.pass(7 * 3600e9)
	for f.idle(s.ID).LastRun.ID == last {
		f.wait()
	}
	if r := f.idle(s.ID).LastRun; r.Trigger != "schedule" || r.Counts.Created != 1 {
		t.Errorf("by schedule: %+v", r)
	}
}

// A document that a source keeps is not written to directly, and is everybody's once the source is
// gone; a source takes its documents along only where that is asked for.
func TestDisconnected(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(3)
	write := func(id string) error {
		text := "Mine."
		_, err := coretest.Call(f.ctx, f.documents.Write, document.WriteDocuments{Namespace: "docs",
			Documents: []document.Input{{ID: id, Text: &text}}})
		return err
	}
	remove := func(id, documents string) {
		t.Helper()
		for range 2 {
			got, err := coretest.Call(f.ctx, f.svc.Delete, source.DeleteSource{Ref: source.Ref{ID: id}, Documents: documents})
			if fault.CodeOf(err) == fault.SourceNotFound {
				return // it is gone already
			}
			if err != nil || got.State != "deleting" || got.StatusCode() != 202 {
				t.Fatalf("deleted: %+v, %v", got, err)
			}
		}
		for {
			if _, err := f.svc.Get(f.ctx, source.Ref{ID: id}); fault.CodeOf(err) == fault.SourceNotFound {
				return
			}
			f.wait()
		}
	}
	limit := 10
	first := f.idle(f.create(source.CreateSource{}).ID)
	list, err := coretest.Call(f.ctx, f.documents.List, document.ListDocuments{Namespace: "docs", Limit: &limit})
	if err != nil || len(list.Documents) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	id := list.Documents[0].ID
	f.want("a source's document", write(id), fault.Conflict)
	remove(first.ID, "")
	if got := f.has("docs"); len(got) != 3 {
		t.Errorf("%d documents are left", len(got))
	}
	if err := write(id); err != nil {
		t.Errorf("what is left: %v", err)
	}
	second := f.idle(f.create(source.CreateSource{}).ID)
	remove(second.ID, "delete")
	list, err = coretest.Call(f.ctx, f.documents.List, document.ListDocuments{Namespace: "docs", Limit: &limit})
	if err != nil || len(list.Documents) != 3 || slices.ContainsFunc(list.Documents, func(d document.Head) bool {
		return strings.HasPrefix(d.ID, second.ID)
	}) {
		t.Errorf("left after a deletion: %+v, %v", list, err)
	}
}

// A source is seen by its organization alone, and by keys of its namespace.
func TestWhoSeesASource(t *testing.T) {
	f := newFixture(t, nil)
	s := f.idle(f.create(source.CreateSource{}).ID)
	ref := source.Ref{ID: s.ID}
	for who, ctx := range map[string]key.Issue{"another organization": {Org: "other"},
		"a key of another namespace": {Namespace: "b"}} {
		ctx := f.Caller(ctx)
		_, err := f.svc.Get(ctx, ref)
		f.want(who+" reads", err, fault.SourceNotFound)
		_, err = coretest.Call(ctx, f.svc.Sync, source.SyncSource{Ref: ref})
		f.want(who+" syncs", err, fault.SourceNotFound)
		_, err = coretest.Call(ctx, f.svc.Delete, source.DeleteSource{Ref: ref})
		f.want(who+" deletes", err, fault.SourceNotFound)
		_, err = f.svc.GetRun(ctx, source.RunRef{Ref: ref, Run: s.LastRun.ID})
		f.want(who+" reads a run", err, fault.SourceNotFound)
		list, err := coretest.Call(ctx, f.svc.List, source.ListSources{})
		if err != nil || len(list.Sources) != 0 {
			t.Errorf("%s lists %+v, %v", who, list, err)
		}
	}
	list, err := coretest.Call(f.Caller(key.Issue{Namespace: "docs"}), f.svc.List, source.ListSources{})
	if err != nil || len(list.Sources) != 1 {
		t.Errorf("its namespace's key lists %+v, %v", list, err)
	}
}

// A check says what cannot work and shows what there is; it writes nothing.
func TestCheck(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(25)
	check := func(config string) source.Checked {
		t.Helper()
		got, err := coretest.Call(f.ctx, f.svc.Check, source.CheckSource{Kind: "shelf", Config: json.RawMessage(config)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := check(`{"path":"a"}`); !got.OK || len(got.Items) != 20 || got.Complete || got.Items[0].Key != "k1000" {
		t.Errorf("%+v", got)
	}
	f.shelf.drop("k1000", "k1001", "k1002", "k1003", "k1004", "k1005")
	if got := check(`{"path":"a"}`); !got.OK || len(got.Items) != 19 || !got.Complete {
		t.Errorf("19 items: %+v", got)
	}
	if got := check(`{"path":"bad"}`); got.OK || len(got.Problems) != 1 || got.Problems[0].Field != "config.path" {
		t.Errorf("%+v", got)
	}
	if got := check(`{"path":""}`); got.OK || len(got.Problems) != 1 || len(got.Items) != 0 {
		t.Errorf("%+v", got)
	}
	f.shelf.set(func(s *shelf) { s.err = port.SourceErrorf(port.SourceCredentials, nil, "are wrong") })
	if got := check(`{"path":"a"}`); got.OK || got.Error == nil || got.Error.Code != "credentials" {
		t.Errorf("%+v", got)
	}
	if got := f.has("docs"); len(got) != 0 {
		t.Errorf("written: %v", got)
	}
}

// Lists go on where the page before has ended.
func TestPages(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(5)
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.sync(s.ID)
	f.create(source.CreateSource{Start: new(false)})
	two := 2
	ref := source.Ref{ID: s.ID}
	var keys []string
	for cursor := ""; ; {
		page, err := coretest.Call(f.ctx, f.svc.Items, source.ListItems{Ref: ref, Limit: &two, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			keys = append(keys, i.Key)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	if !slices.Equal(keys, []string{"k1000", "k1001", "k1002", "k1003", "k1004"}) {
		t.Errorf("items %v", keys)
	}
	one := 1
	runs, err := coretest.Call(f.ctx, f.svc.Runs, source.ListRuns{Ref: ref, Limit: &one})
	if err != nil || len(runs.Runs) != 1 || runs.Runs[0].Trigger != "manual" || runs.NextCursor == nil {
		t.Fatalf("runs %+v, %v", runs, err)
	}
	rest, err := coretest.Call(f.ctx, f.svc.Runs, source.ListRuns{Ref: ref, Cursor: *runs.NextCursor})
	if err != nil || len(rest.Runs) != 1 || rest.Runs[0].Trigger != "create" || rest.NextCursor != nil {
		t.Errorf("the rest %+v, %v", rest, err)
	}
	all, err := coretest.Call(f.ctx, f.svc.List, source.ListSources{Limit: &one})
	if err != nil || len(all.Sources) != 1 || all.Sources[0].ID != s.ID || all.NextCursor == nil {
		t.Fatalf("sources %+v, %v", all, err)
	}
	_, err = coretest.Call(f.ctx, f.svc.List, source.ListSources{Cursor: *runs.NextCursor})
	f.want("a cursor of another list", err, fault.InvalidCursor)
}
