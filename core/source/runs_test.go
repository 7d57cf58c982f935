package source_test

import (
	"context"
	"errors"
	"slices"
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

// A source is followed: what is new comes, what has changed changes, what went goes, and what
// stayed is not even fetched.
func TestFollowing(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(250)
	s := f.create(source.CreateSource{})
	if s.State != "syncing" || s.LastRun == nil || s.LastRun.Trigger != "create" || s.LastRun.Mode != "full" {
		t.Errorf("created: %+v, run %+v", s, s.LastRun)
	}
	s = f.idle(s.ID)
	f.counts("first", *s.LastRun, "completed", port.SourceCounts{Seen: 250, Created: 250})
	if s.State != "idle" || s.Documents != 250 || s.Items != 250 || len(f.shelf.took()) != 250 {
		t.Errorf("after the first run: %+v", s)
	}
	f.inStep("docs")
	f.counts("second", f.sync(s.ID), "completed", port.SourceCounts{Seen: 250, Unchanged: 250})
	if got := f.shelf.took(); len(got) != 0 {
		t.Errorf("fetched again: %v", got)
	}
	f.shelf.put("k1001", "The gate is painted.")
	f.shelf.put("new", "A letter came.")
	f.shelf.drop("k1002", "k1003")
	r := f.sync(s.ID)
	f.counts("third", r, "completed", port.SourceCounts{Seen: 249, Created: 1, Updated: 1, Unchanged: 247, Deleted: 2})
	if got := f.shelf.took(); !slices.Equal(got, []string{"k1001", "new"}) {
		t.Errorf("fetched %v", got)
	}
	f.inStep("docs")
	items, err := coretest.Call(f.ctx, f.svc.RunItems,
		source.ListRunItems{RunRef: source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}})
	var did []string
	for _, i := range items.Items {
		did = append(did, i.Key+" "+i.Status)
	}
	if err != nil || !slices.Equal(did, []string{"k1001 updated", "k1002 deleted", "k1003 deleted", "new created"}) {
		t.Errorf("the run has recorded %v, %v", did, err)
	}
	if s = f.idle(s.ID); s.Documents != 249 || s.Items != 249 {
		t.Errorf("in the end: %d documents of %d items", s.Documents, s.Items)
	}
}

// A listing that proves nothing deletes nothing, and what is suspicious is withheld until it is
// asked for.
func TestDeletionsNeedProof(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(40)
	s := f.idle(f.create(source.CreateSource{}).ID)
	all := f.has("docs")
	for i := range 5 {
		f.shelf.drop("k" + strconv.Itoa(1000+i))
	}
	f.shelf.set(func(s *shelf) {
		s.problem = &port.SourceProblem{Path: "a/b", Code: port.SourceForbidden, Message: "is locked"}
	})
	r := f.sync(s.ID)
	f.counts("with a problem", r, "partial", port.SourceCounts{Seen: 35, Unchanged: 35, Skipped: 1})
	f.shelf.set(func(s *shelf) { s.problem, s.open = nil, true })
	f.counts("without its end", f.sync(s.ID), "partial", port.SourceCounts{Seen: 35, Unchanged: 35})
	f.shelf.set(func(s *shelf) { s.open, s.partial = false, true })
	f.counts("no snapshot", f.sync(s.ID), "completed", port.SourceCounts{Seen: 35, Unchanged: 35})
	f.shelf.set(func(s *shelf) { s.partial, s.err = false, port.SourceErrorf(port.SourceUnavailable, nil, "is down") })
	if r = f.sync(s.ID); r.Status != "failed" || r.Error == nil || r.Error.Code != "unavailable" {
		t.Errorf("a listing that errs: %+v, %+v", r, r.Error)
	}
	if got := f.idle(s.ID); got.State != "error" || got.StateReason == nil || got.StateReason.Message != "is down" {
		t.Errorf("then: %+v", got)
	}
	if got := f.has("docs"); len(got) != len(all) {
		t.Fatalf("%d documents are left of %d", len(got), len(all))
	}
	for i := range 10 {
		f.shelf.drop("k" + strconv.Itoa(1005+i))
	}
	f.shelf.set(func(s *shelf) { s.err = nil })
	r = f.sync(s.ID)
	f.counts("15 of 40", r, "partial", port.SourceCounts{Seen: 25, Unchanged: 25, Withheld: 15})
	if r.Error == nil || r.Error.Code != "deletions_withheld" {
		t.Errorf("withheld: %+v", r.Error)
	}
	if got := f.idle(s.ID); got.State != "idle" {
		t.Errorf("a source with withheld deletions: %+v", got)
	}
	apply := func(most int64) source.Run {
		t.Helper()
		if _, err := coretest.Call(f.ctx, f.svc.ApplyDeletions, source.ApplyDeletions{Ref: source.Ref{ID: s.ID},
			Max: &most}); err != nil {
			t.Fatal(err)
		}
		return *f.idle(s.ID).LastRun
	}
	f.counts("14 are allowed", apply(14), "partial", port.SourceCounts{Seen: 25, Unchanged: 25, Withheld: 15})
	f.counts("15 are allowed", apply(15), "completed", port.SourceCounts{Seen: 25, Unchanged: 25, Deleted: 15})
	f.inStep("docs")
	kept := f.shelf.items
	f.shelf.set(func(s *shelf) { s.items = map[string]string{} })
	f.counts("empty", f.sync(s.ID), "partial", port.SourceCounts{Withheld: 25})
	f.shelf.set(func(s *shelf) { s.items = kept })
	f.counts("back", f.sync(s.ID), "completed", port.SourceCounts{Seen: 25, Unchanged: 25})
}

// A source that keeps what is gone deletes nothing.
func TestKeptDeletions(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(3)
	s := f.idle(f.create(source.CreateSource{Deletions: new("keep")}).ID)
	f.shelf.drop("k1000")
	f.counts("kept", f.sync(s.ID), "completed", port.SourceCounts{Seen: 2, Unchanged: 2})
	if got := f.has("docs"); len(got) != 3 {
		t.Errorf("%d documents", len(got))
	}
}

// An item that fails is named, keeps what it had, and is tried again when its time has come, or
// on demand, or when it has changed.
func TestFailedItems(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(3)
	f.shelf.failing["k1001"] = port.SourceErrorf(port.SourceUnavailable, nil, "does not answer")
	f.shelf.items["k1002"] = ""
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.counts("first", *s.LastRun, "partial", port.SourceCounts{Seen: 3, Created: 1, Failed: 2})
	if s.State != "idle" || len(f.has("docs")) != 1 {
		t.Errorf("after it: %+v", s)
	}
	list, err := coretest.Call(f.ctx, f.svc.Items, source.ListItems{Ref: source.Ref{ID: s.ID}, Status: "failed"})
	if err != nil || len(list.Items) != 2 || list.Items[0].Error.Code != "unavailable" || list.Items[0].NextAttempt == nil ||
		list.Items[1].Error.Code != "no_text" || list.Items[1].NextAttempt != nil {
		t.Fatalf("failed items: %+v, %v", list, err)
	}
	f.shelf.took()
	f.counts("too early", f.sync(s.ID), "partial", port.SourceCounts{Seen: 3, Unchanged: 1, Failed: 2})
	if got := f.shelf.took(); len(got) != 0 {
		t.Errorf("tried before their time: %v", got)
	}
	// Its time comes: the source runs by itself, and lists nothing.
	f.shelf.set(func(s *shelf) { s.failing, s.states = map[string]error{}, nil })
	last := f.idle(s.ID).LastRun.ID
	f.clock.pass(2 * time.Minute)
	for f.idle(s.ID).LastRun.ID == last {
		f.wait()
	}
	r := *f.idle(s.ID).LastRun
	f.counts("due", r, "completed", port.SourceCounts{Seen: 1, Created: 1})
	if got := f.shelf.took(); r.Trigger != "schedule" || !slices.Equal(got, []string{"k1001"}) || len(f.shelf.states) != 0 {
		t.Errorf("%s fetched %v and listed %d times", r.Trigger, got, len(f.shelf.states))
	}
	again := func(run string) source.Run {
		t.Helper()
		if _, err := f.svc.RetryFailed(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: run}); err != nil {
			t.Fatal(err)
		}
		return *f.idle(s.ID).LastRun
	}
	f.counts("on demand", again(s.LastRun.ID), "partial", port.SourceCounts{Seen: 1, Failed: 1})
	if got := f.shelf.took(); !slices.Equal(got, []string{"k1002"}) {
		t.Errorf("on demand: %v", got)
	}
	f.shelf.put("k1002", "It has a text now.")
	f.counts("changed", f.sync(s.ID), "completed", port.SourceCounts{Seen: 3, Created: 1, Unchanged: 2})
	f.inStep("docs")
	// What it had stays while it fails.
	f.shelf.put("k1000", "Newer.")
	f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceForbidden, nil, "is locked")
	f.counts("fails again", f.sync(s.ID), "partial", port.SourceCounts{Seen: 3, Failed: 1, Unchanged: 2})
	if got := f.has("docs")["k1000"]; !strings.Contains(got, "number 0") {
		t.Errorf("its document: %q", got)
	}
}

// Credentials that are refused end the run, and leave no item behind as failed.
func TestRefusedCredentials(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(3)
	f.shelf.failing["k1001"] = port.SourceErrorf(port.SourceCredentials, errors.New("401"), "the token has expired")
	s := f.idle(f.create(source.CreateSource{}).ID)
	if s.State != "error" || s.StateReason.Code != "credentials" || s.LastRun.Status != "failed" || s.LastRun.Counts.Failed != 0 {
		t.Errorf("%+v, %+v, %+v", s, s.StateReason, s.LastRun)
	}
}

// A source that tells what has changed is asked for that alone, and for everything on demand.
func TestIncremental(t *testing.T) {
	f := newFixture(t, func(_ *source.Settings, s *shelf) { s.kind = "ledger" })
	f.fill(30)
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.shelf.put("k1004", "Changed.")
	f.shelf.drop("k1005")
	r := f.sync(s.ID)
	f.counts("changes", r, "completed", port.SourceCounts{Seen: 1, Updated: 1, Deleted: 1})
	if r.Mode != "incremental" {
		t.Errorf("mode %s", r.Mode)
	}
	f.inStep("docs")
	f.counts("none", f.sync(s.ID), "completed", port.SourceCounts{})
	for i := range 12 {
		f.shelf.drop("k" + strconv.Itoa(1010+i))
	}
	f.counts("many", f.sync(s.ID), "partial", port.SourceCounts{Withheld: 12})
	f.shelf.set(func(s *shelf) { s.err = port.SourceErrorf(port.SourceUnavailable, nil, "is down") })
	f.shelf.put("k1006", "Newer.")
	f.sync(s.ID)
	f.shelf.set(func(s *shelf) { s.err = nil })
	f.counts("after an error nothing is passed over", f.sync(s.ID), "completed", port.SourceCounts{Seen: 1, Updated: 1})
	if _, err := coretest.Call(f.ctx, f.svc.ApplyDeletions, source.ApplyDeletions{Ref: source.Ref{ID: s.ID},
		Max: new(int64(12))}); err != nil {
		t.Fatal(err)
	}
	f.counts("everything", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 17, Unchanged: 17, Deleted: 12})
	f.inStep("docs")
}

// A document deleted by hand stays away until its item changes or all is asked for; a
// namespace that was deleted is filled again.
func TestWhatWasDeletedByHand(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(5)
	s := f.idle(f.create(source.CreateSource{}).ID)
	limit := 1
	list, err := coretest.Call(f.ctx, f.documents.List, document.ListDocuments{Namespace: "docs", Limit: &limit})
	if err != nil {
		t.Fatal(err)
	}
	id := list.Documents[0].ID
	if !strings.HasPrefix(id, s.ID+":") || len(id) != len(s.ID)+33 || list.Documents[0].SourceID == nil ||
		*list.Documents[0].SourceID != s.ID {
		t.Errorf("document %s of source %v", id, list.Documents[0].SourceID)
	}
	if _, err := coretest.Call(f.ctx, f.documents.Delete, document.DeleteDocuments{Namespace: "docs",
		IDs: &[]string{id}}); err != nil {
		t.Fatal(err)
	}
	f.counts("passed over", f.sync(s.ID), "completed", port.SourceCounts{Seen: 5, Unchanged: 5})
	if got := f.has("docs"); len(got) != 4 {
		t.Errorf("%d documents", len(got))
	}
	if _, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: s.ID}, Full: true}); err != nil {
		t.Fatal(err)
	}
	f.counts("all of it", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 5, Unchanged: 4, Updated: 1})
	f.inStep("docs")
	f.deleteNamespace("docs")
	f.counts("again", f.sync(s.ID), "completed", port.SourceCounts{Seen: 5, Updated: 5})
	f.inStep("docs")
}

// A run that its process leaves is gone on with from where it was, nothing twice.
func TestResumed(t *testing.T) {
	f := newFixture(t, func(_ *source.Settings, s *shelf) { s.everyOne = true })
	f.fill(6)
	reached := make(chan struct{})
	f.shelf.at = func(ctx context.Context, key string) error {
		if key != "k1003" {
			return nil
		}
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	}
	s := f.create(source.CreateSource{})
	<-reached
	f.stop()
	if got, err := f.svc.Get(f.ctx, source.Ref{ID: s.ID}); err != nil || got.State != "syncing" ||
		got.LastRun.Counts.Created != 3 {
		t.Fatalf("left behind: %+v, %v", got.LastRun, err)
	}
	f.shelf.at = nil
	f.shelf.took()
	f.begin()
	r := *f.idle(s.ID).LastRun
	if r.ID != s.LastRun.ID {
		t.Errorf("another run went on")
	}
	f.counts("resumed", r, "completed", port.SourceCounts{Seen: 6, Created: 6})
	if got := f.shelf.took(); !slices.Equal(got, []string{"k1003", "k1004", "k1005"}) {
		t.Errorf("fetched %v", got)
	}
	f.inStep("docs")
}

// A run that does not get on is ended, and one that is cancelled stays so.
func TestRunsThatEndEarly(t *testing.T) {
	f := newFixture(t, func(set *source.Settings, _ *shelf) { set.Stall = 200 * time.Millisecond })
	f.fill(3)
	reached := make(chan struct{}, 1)
	f.shelf.before = func(ctx context.Context) error {
		reached <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	s := f.idle(f.create(source.CreateSource{}).ID)
	<-reached
	if s.LastRun.Status != "interrupted" || s.LastRun.Error.Code != "stalled" || s.State != "idle" {
		t.Errorf("a run that hangs: %+v, %+v", s, s.LastRun)
	}
	f.settings.Stall = 0
	f.stop()
	f.begin()
	if _, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: s.ID}}); err != nil {
		t.Fatal(err)
	}
	<-reached
	run := f.get(s.ID).LastRun
	again, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: s.ID}})
	if err != nil || again.ID != run.ID || again.StatusCode() != 0 {
		t.Errorf("syncing again: %+v, %v", again, err)
	}
	ref := source.RunRef{Ref: source.Ref{ID: s.ID}, Run: run.ID}
	for range 2 {
		if r, err := f.svc.Cancel(f.ctx, ref); err != nil || r.Status != "cancelled" {
			t.Errorf("cancelled: %+v, %v", r, err)
		}
	}
	if got := f.idle(s.ID); got.State != "idle" || got.LastRun.Status != "cancelled" {
		t.Errorf("after it: %+v, %+v", got, got.LastRun)
	}
	f.shelf.before = nil
	f.counts("at last", f.sync(s.ID), "completed", port.SourceCounts{Seen: 3, Created: 3})
	_, err = f.svc.Cancel(f.ctx, source.RunRef{Ref: ref.Ref, Run: f.get(s.ID).LastRun.ID})
	f.want("an ended run", err, fault.Conflict)
}

// While the model is away a run waits; it does not fail its items.
func TestModelAway(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(2)
	f.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
		return fault.New(fault.Unavailable, "the model is restarting").After(time.Millisecond)
	})
	s := f.create(source.CreateSource{})
	for f.get(s.ID).LastRun.Error == nil {
		f.wait()
	}
	if got := f.get(s.ID); got.State != "syncing" || got.LastRun.Status != "queued" || got.LastRun.Error.Code != "unavailable" {
		t.Errorf("waiting: %+v, %+v", got, got.LastRun)
	}
}
