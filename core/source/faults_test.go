package source_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// die has the process store nothing more after n transactions of the jobs that start starts, ends
// it and starts another one. It reports whether it came to that before ended answered true.
func (f *fixture) die(n int64, start func(), ended func() bool) bool {
	f.Helper()
	var stored atomic.Int64
	f.Store.OnJobUpdate.Set(func() error {
		if stored.Add(1) > n {
			return errors.New("the process is dead")
		}
		return nil
	})
	start()
	for stored.Load() <= n && !ended() {
		f.wait()
	}
	f.stop()
	died := stored.Load() > n
	f.Store.OnJobUpdate.Clear()
	f.begin()
	return died
}

// begun starts a run of a source.
func (f *fixture) begun(id string) source.Run {
	f.Helper()
	r, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: id}})
	if err != nil {
		f.Fatal(err)
	}
	return r
}

func (f *fixture) disconnect(id, documents string) {
	f.Helper()
	if _, err := coretest.Call(f.ctx, f.svc.Delete, source.DeleteSource{Ref: source.Ref{ID: id},
		Documents: documents}); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) gone(id string) bool {
	_, err := f.svc.Get(f.ctx, source.Ref{ID: id})
	return fault.CodeOf(err) == fault.SourceNotFound
}

// A process that dies after any of its transactions leaves a run that another one ends as it
// would have ended: nothing is lost, made twice or counted twice, and nothing is deleted that
// is there.
func TestDeathAtEachStep(t *testing.T) {
	kinds := []string{"ledger", "shelf"}
	if testing.Short() {
		kinds = kinds[:1] // its first run lists all as the other's do
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(set *source.Settings, s *shelf) {
				s.kind, s.everyOne = kind, true
				set.Beat = time.Hour // or there would be transactions at any time
			})
			deaths := 0
			for n, died := int64(0), true; died; n++ {
				f.shelf.set(func(s *shelf) { s.items, s.changes = map[string]string{}, nil })
				f.fill(4)
				f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceUnavailable, nil, "does not answer")
				space := "n" + strconv.FormatInt(n, 10)
				var s source.Source
				idle := func() bool { return f.get(s.ID).State != "syncing" }
				died = f.die(n, func() { s = f.create(source.CreateSource{Namespace: space}) }, idle)
				what := fmt.Sprintf("%s, death after %d transactions", kind, n)
				r := *f.idle(s.ID).LastRun
				f.counts(what, r, "partial", port.SourceCounts{Seen: 4, Created: 3, Failed: 1})
				if r.ID != s.LastRun.ID {
					t.Errorf("%s: another run went on", what)
				}
				f.shelf.set(func(s *shelf) { clear(s.failing) })
				if _, err := f.svc.RetryFailed(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}); err != nil {
					t.Fatal(err)
				}
				f.counts(what+", failed ones again", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 1, Created: 1})
				f.inStep(space)
				f.shelf.drop("k1000")
				f.shelf.put("k1001", "The gate is painted.")
				f.shelf.drop("k1003")
				f.shelf.put("new", "A letter came.")
				died = f.die(n, func() { f.begun(s.ID) }, idle) || died
				want := port.SourceCounts{Seen: 3, Created: 1, Updated: 1, Unchanged: 1, Deleted: 2}
				if kind == "ledger" {
					want.Seen, want.Unchanged = 2, 0
				}
				f.counts(what+", changes", *f.idle(s.ID).LastRun, "completed", want)
				f.inStep(space)
				if s = f.get(s.ID); s.Items != 3 || s.Documents != 3 {
					t.Errorf("%s: %d items, %d documents", what, s.Items, s.Documents)
				}
				gone := func() bool { return f.gone(s.ID) }
				died = f.die(n, func() { f.disconnect(s.ID, "delete") }, gone) || died
				for !gone() {
					f.wait()
				}
				if left := f.has(space); len(left) > 0 {
					t.Errorf("%s: of a source that is gone are left %v", what, left)
				}
				deaths++
			}
			if deaths < 8 {
				t.Errorf("only %d deaths", deaths)
			}
		})
	}
}

// What a listing has said to be gone is not forgotten by a process that dies after a later
// checkpoint, nor is what turned out to be gone when it was fetched.
func TestGoneBeforeADeath(t *testing.T) {
	f := newFixture(t, func(set *source.Settings, s *shelf) { s.kind, s.everyOne = "ledger", true })
	f.fill(6)
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.shelf.drop("k1000")
	f.shelf.put("k1001", "Changed.")
	f.shelf.put("k1002", "Changed, and gone when it is fetched.")
	f.shelf.failing["k1002"] = port.SourceErrorf(port.SourceNotFound, nil, "is not there")
	f.shelf.put("k1003", "Changed.")
	reached := make(chan struct{})
	f.shelf.at = func(ctx context.Context, key string) error {
		if key != "k1003" {
			return nil
		}
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	}
	f.begun(s.ID)
	<-reached
	f.stop()
	f.shelf.at = nil
	f.begin()
	f.counts("resumed", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 2, Updated: 2, Deleted: 2})
	f.shelf.set(func(s *shelf) { delete(s.items, "k1002") })
	f.inStep("docs")
}

// An item that failed before a death is tried again when its time comes, all the same.
func TestFailedBeforeADeath(t *testing.T) {
	f := newFixture(t, func(_ *source.Settings, s *shelf) { s.everyOne = true })
	f.fill(3)
	f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceUnavailable, nil, "does not answer")
	reached := make(chan struct{})
	f.shelf.at = func(ctx context.Context, key string) error {
		if key != "k1002" {
			return nil
		}
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	}
	s := f.create(source.CreateSource{})
	<-reached
	f.stop()
	f.shelf.at = nil
	f.shelf.failing = map[string]error{}
	f.begin()
	r := *f.idle(s.ID).LastRun
	f.counts("resumed", r, "partial", port.SourceCounts{Seen: 3, Created: 2, Failed: 1})
	f.clock.pass(2 * time.Minute)
	for f.idle(s.ID).LastRun.ID == r.ID {
		f.wait()
	}
	f.counts("in its time", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 1, Created: 1})
	f.inStep("docs")
}

// due are the sources that are to run now.
func (f *fixture) due() (rows []port.SourceRow) {
	f.Helper()
	if err := f.Store.View(f.Context(), func(r port.Reader) (err error) {
		rows, err = r.DueSources(f.Context(), f.clock.now(), 10)
		return err
	}); err != nil {
		f.Fatal(err)
	}
	return rows
}

// A source that fails as a whole while an item of it is due does not run again at once.
func TestDueItemsOfAFailingSource(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(2)
	f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceUnavailable, nil, "does not answer")
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.shelf.set(func(s *shelf) {
		s.failing["k1000"] = port.SourceErrorf(port.SourceCredentials, nil, "the token has expired")
	})
	for n, wait := range []time.Duration{time.Minute, 5 * time.Minute} {
		last := f.idle(s.ID).LastRun.ID
		f.clock.pass(2 * wait)
		for f.idle(s.ID).LastRun.ID == last {
			f.wait()
		}
		if got := f.idle(s.ID); got.LastRun.Status != "failed" || got.State != "error" {
			t.Errorf("run %d: %+v, %s", n, got.LastRun, got.State)
		}
		if rows := f.due(); len(rows) != 0 {
			t.Errorf("after run %d it is due again", n)
		}
	}
	// A token that works leaves the error, and the item comes.
	f.shelf.set(func(s *shelf) { clear(s.failing) })
	f.counts("at last", f.sync(s.ID), "completed", port.SourceCounts{Seen: 2, Created: 1, Unchanged: 1})
	if got := f.get(s.ID); got.State != "idle" || got.StateReason != nil {
		t.Errorf("then: %+v", got)
	}
}

// An item that failed and then is gone is not asked for again and again where it is kept.
func TestGoneItemsAreNotRetried(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(2)
	f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceUnavailable, nil, "does not answer")
	s := f.idle(f.create(source.CreateSource{Deletions: new("keep")}).ID)
	f.shelf.set(func(s *shelf) { s.failing["k1000"] = port.SourceErrorf(port.SourceNotFound, nil, "is not there") })
	f.clock.pass(2 * time.Minute)
	for f.idle(s.ID).LastRun.Trigger != "schedule" {
		f.wait()
	}
	f.idle(s.ID)
	if rows := f.due(); len(rows) != 0 {
		t.Errorf("it is due again: %+v", rows)
	}
}

// A beat that the store does not take ends no run, and the next one is stored.
func TestLostBeats(t *testing.T) {
	var log lines
	f := newFixture(t, func(set *source.Settings, _ *shelf) { log.into(set) })
	f.fill(3)
	reached, release := make(chan struct{}), make(chan struct{})
	f.shelf.at = func(ctx context.Context, key string) error {
		if key == "k1001" {
			close(reached)
			<-release
		}
		return ctx.Err()
	}
	s := f.create(source.CreateSource{})
	<-reached
	lost := make(chan struct{}, 100)
	f.Store.OnJobUpdate.Set(func() error { // of a run that waits for its connector these are beats
		select {
		case lost <- struct{}{}:
		default:
		}
		return fault.New(fault.Unavailable, "the store is away")
	})
	for range 3 {
		<-lost
	}
	before := *f.get(s.ID).LastRun.HeartbeatAt
	f.Store.OnJobUpdate.Clear()
	for !f.get(s.ID).LastRun.HeartbeatAt.After(before) {
		f.wait()
	}
	close(release)
	f.counts("after it", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 3, Created: 3})
	if log.count("heartbeat of run not stored") == 0 || log.count("error=<nil>") != 0 {
		t.Error("it is not logged, or what was stored is")
	}
}

// A connector that does not return keeps neither its source nor the process: the run ends, the
// source runs again, and what the connector says later is stored nowhere.
func TestConnectorThatDoesNotReturn(t *testing.T) {
	f := newFixture(t, func(set *source.Settings, _ *shelf) {
		set.Stall, set.Grace = 500*time.Millisecond, 20*time.Millisecond
	})
	f.fill(3)
	release := make(chan struct{})
	hang := func(_ context.Context, key string) error { // as a read of a file system that is away does
		if key == "k1001" {
			<-release
		}
		return nil
	}
	f.shelf.at = hang
	s := f.idle(f.create(source.CreateSource{}).ID)
	if s.LastRun.Status != "interrupted" || s.LastRun.Error == nil || s.LastRun.Error.Code != "stalled" || s.State != "idle" {
		t.Errorf("a run whose connector hangs: %+v, %+v", s.LastRun, s.LastRun.Error)
	}
	f.shelf.set(func(s *shelf) { s.at = nil })
	f.counts("the next one", f.sync(s.ID), "completed", port.SourceCounts{Seen: 3, Created: 3})
	f.shelf.set(func(s *shelf) { s.at = hang })
	f.begun(s.ID)
	f.stop() // the process ends although the connector hangs
	f.shelf.set(func(s *shelf) { s.at = nil })
	f.shelf.put("k1001", "Changed.")
	f.begin()
	f.idle(s.ID)
	close(release)
	f.shelf.drop("k1002")
	f.counts("in the end", f.sync(s.ID), "completed", port.SourceCounts{Seen: 2, Unchanged: 2, Deleted: 1})
	f.inStep("docs")
}

// A listing that errs midway keeps what it has brought and deletes nothing; one of which
// things go while it is under way deletes those.
func TestListingsThatChangeMidway(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(20)
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.shelf.drop("k1000")
	f.shelf.put("a new one", "A letter came.")
	f.shelf.at = func(_ context.Context, key string) error {
		if key == "k1010" {
			return port.SourceErrorf(port.SourceUnavailable, nil, "hung up")
		}
		return nil
	}
	if r := f.sync(s.ID); r.Status != "failed" || r.Error == nil || r.Error.Code != "unavailable" || r.Counts.Deleted != 0 {
		t.Errorf("a listing that errs midway: %+v, %+v", r, r.Error)
	}
	if got := f.has("docs"); len(got) != 20 {
		t.Errorf("%d documents after it", len(got))
	}
	f.shelf.at = func(_ context.Context, key string) error {
		switch key {
		case "k1019": // of what was listed, one goes and one changes
			f.shelf.drop("k1018")
			f.shelf.set(func(s *shelf) {
				s.failing["k1018"] = port.SourceErrorf(port.SourceNotFound, nil, "is not there")
				s.items["k1017"] = "Changed once more."
			})
		}
		return nil
	}
	f.shelf.put("k1017", "Changed.")
	f.shelf.put("k1018", "Changed.")
	r := f.sync(s.ID)
	f.counts("a listing that changes", r, "completed",
		port.SourceCounts{Seen: 19, Created: 1, Updated: 1, Unchanged: 17, Deleted: 2})
	f.inStep("docs")
	// What was read is newer than what was listed, so that it is read once more.
	f.shelf.at = nil
	f.counts("after it", f.sync(s.ID), "completed", port.SourceCounts{Seen: 19, Unchanged: 19})
	f.inStep("docs")
}

// A store that is full and a model that is off have a run wait. When they are back it goes on
// where it was and has failed no item; when they do not come back it fails, and the next one
// passes over nothing.
func TestRunsThatWait(t *testing.T) {
	away := fault.New(fault.Unavailable, "the disk is full")
	f := newFixture(t, func(set *source.Settings, s *shelf) {
		s.kind, set.Backoff = "ledger", time.Millisecond
	})
	f.fill(3)
	s := f.idle(f.create(source.CreateSource{}).ID)
	var tries atomic.Int32
	model := func(until int32) {
		tries.Store(0)
		f.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
			if tries.Add(1) <= until {
				return away
			}
			return nil
		})
	}
	model(2)
	f.shelf.put("k1000", "Changed.")
	f.counts("a model that comes back", f.sync(s.ID), "completed", port.SourceCounts{Seen: 1, Updated: 1})
	if n := tries.Load(); n != 3 {
		t.Errorf("the model was asked %d times", n)
	}
	model(1 << 30)
	f.shelf.put("k1001", "Changed.")
	f.shelf.drop("k1002")
	r := f.sync(s.ID)
	f.counts("a model that stays away", r, "failed", port.SourceCounts{})
	if got := f.get(s.ID); r.Error == nil || r.Error.Code != "unavailable" || got.State != "error" ||
		got.StateReason.Code != "unavailable" {
		t.Errorf("then: %+v, %+v", r.Error, got)
	}
	f.Embedder.Before.Clear()
	f.counts("after it", f.sync(s.ID), "completed", port.SourceCounts{Seen: 1, Updated: 1, Deleted: 1})
	f.inStep("docs")

	f.shelf.put("k1003", "New.")
	full := make(chan struct{}, 100)
	f.Store.OnJobUpdate.Set(func() error {
		select {
		case full <- struct{}{}:
		default:
		}
		return away
	})
	f.begun(s.ID)
	for range 3 {
		<-full
	}
	f.Store.OnJobUpdate.Clear()
	f.counts("a store that has room again", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 1, Created: 1})
	f.inStep("docs")
}

// slow are documents whose model takes its time.
type slow struct {
	*document.Service
	took time.Duration
}

func (s slow) Sync(ctx context.Context, in document.WriteDocuments, within document.Within,
	progress func()) (document.Written, error) {
	for began := time.Now(); time.Since(began) < s.took; time.Sleep(10 * time.Millisecond) {
		progress()
	}
	told := 0
	out, err := s.Service.Sync(ctx, in, within, func() { told++; progress() })
	if err == nil && told == 0 {
		err = errors.New("the model's progress is not told")
	}
	return out, err
}

// A model that is slow is progress: its run is not ended as one that hangs.
func TestSlowModel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(set *source.Settings, _ *shelf) {
		set.Stall = 2 * time.Second
		set.Documents = slow{set.Documents.(*document.Service), 2500 * time.Millisecond}
	})
	f.fill(2)
	f.counts("slow", *f.idle(f.create(source.CreateSource{}).ID).LastRun, "completed", port.SourceCounts{Seen: 2, Created: 2})
}

// Credentials that expire in the midst of a run end it. Those that replace them leave the error, and
// a run that still holds the old ones renews them no more; those that it renewed before
// outlive it.
func TestExpiredCredentials(t *testing.T) {
	f := newFixture(t, func(set *source.Settings, _ *shelf) { set.Sealer = &keeper{} })
	f.fill(3)
	f.shelf.failing["k1001"] = port.SourceErrorf(port.SourceCredentials, nil, "the token has expired")
	f.shelf.conn = func(ctx context.Context, c port.Connection) error {
		if c.Secrets["token"] != "tok-1" {
			return nil
		}
		for _, token := range []string{"tok-2", "tok-3"} {
			if err := c.Renew(ctx, map[string]string{"token": token}); err != nil {
				return err
			}
		}
		return nil
	}
	s := f.idle(f.create(source.CreateSource{Secrets: map[string]string{"token": "tok-1"}}).ID)
	if s.State != "error" || s.StateReason.Code != "credentials" || s.LastRun.Status != "failed" {
		t.Errorf("%+v, %+v", s.StateReason, s.LastRun)
	}
	f.sync(s.ID)
	if got := f.shelf.secrets["token"]; got != "tok-3" {
		t.Errorf("of those that were renewed the connector gets %q", got)
	}
	reached, replaced, late := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	f.shelf.conn = func(ctx context.Context, c port.Connection) error {
		if c.Secrets["token"] == "tok-3" {
			close(reached)
			<-replaced
			late <- c.Renew(ctx, map[string]string{"token": "tok-4"})
		}
		return ctx.Err()
	}
	f.begun(s.ID)
	<-reached
	f.shelf.set(func(s *shelf) { clear(s.failing) })
	if _, err := coretest.Call(f.ctx, f.svc.Update, source.UpdateSource{Ref: source.Ref{ID: s.ID},
		Secrets: map[string]string{"token": "mine"}}); err != nil {
		t.Fatal(err)
	}
	close(replaced)
	if err := <-late; err != nil {
		t.Errorf("a late renewal: %v", err)
	}
	if got := f.idle(s.ID); got.State != "idle" || got.StateReason != nil || got.LastRun.Trigger != "config" {
		t.Errorf("with new ones: %+v, %+v", got, got.LastRun)
	}
	// One that is cancelled may renew what it holds: the upstream takes the old one no more.
	reached, late = make(chan struct{}), make(chan error, 1)
	f.shelf.set(func(s *shelf) {
		s.conn = func(ctx context.Context, c port.Connection) error {
			close(reached)
			<-ctx.Done()
			late <- c.Renew(ctx, map[string]string{"token": c.Secrets["token"] + "-5"})
			return ctx.Err()
		}
	})
	r := f.begun(s.ID)
	<-reached
	if _, err := f.svc.Cancel(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}); err != nil {
		t.Fatal(err)
	}
	if err := <-late; err != nil {
		t.Errorf("a renewal of a cancelled run: %v", err)
	}
	f.shelf.set(func(s *shelf) { s.conn = nil })
	f.sync(s.ID)
	if got := f.shelf.secrets["token"]; got != "mine-5" {
		t.Errorf("in the end the connector gets %q", got)
	}
	f.inStep("docs")
}

// No token outlives its source, whether or not the upstream takes the grant back.
func TestTokensGoWithTheirSource(t *testing.T) {
	var log lines
	f := newFixture(t, func(set *source.Settings, s *shelf) {
		log.into(set)
		set.Sealer, s.revokes, s.revoke = &keeper{}, true, errors.New("the upstream is down")
	})
	f.fill(2)
	s := f.idle(f.create(source.CreateSource{Secrets: map[string]string{"token": "tok-1"}}).ID)
	plain := f.idle(f.create(source.CreateSource{Namespace: "plain"}).ID)
	for _, id := range []string{s.ID, plain.ID} {
		f.disconnect(id, "")
		for !f.gone(id) {
			f.wait()
		}
	}
	if got := f.shelf.revoked; len(got) != 1 || got[0].Secrets["token"] != "tok-1" || got[0].Source != s.ID {
		t.Errorf("given back: %+v", got)
	}
	if log.count("grant of source not given back") != 1 || log.count("error=<nil>") != 0 {
		t.Error("that the upstream did not take it is not logged, or more is")
	}
}

// An item over the limit is named and keeps what it had.
func TestOversizedItems(t *testing.T) {
	f := newFixture(t, func(set *source.Settings, _ *shelf) { set.MaxItem = 100 })
	f.fill(3)
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.shelf.put("k1001", strings.Repeat("x", 101))
	f.shelf.put("k1002", strings.Repeat("y", 100))
	r := f.sync(s.ID)
	f.counts("oversized", r, "partial", port.SourceCounts{Seen: 3, Updated: 1, Unchanged: 1, Failed: 1})
	items, err := coretest.Call(f.ctx, f.svc.RunItems,
		source.ListRunItems{RunRef: source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}, Status: "failed"})
	if err != nil || len(items.Items) != 1 || items.Items[0].Key != "k1001" || items.Items[0].Error.Code != "too_large" ||
		items.Items[0].DocumentID == nil {
		t.Errorf("named: %+v, %v", items.Items, err)
	}
	if got := f.has("docs")["k1001"]; !strings.Contains(got, "number 1") {
		t.Errorf("its document: %q", got)
	}
}

// Two sources with the same keys in one namespace share nothing.
func TestSourcesWithTheSameKeys(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(3)
	first := f.idle(f.create(source.CreateSource{}).ID)
	f.shelf.put("k1000", "Only the second one has this text.")
	second := f.idle(f.create(source.CreateSource{}).ID)
	list := func() map[string]int {
		limit, of := 100, map[string]int{}
		l, err := coretest.Call(f.ctx, f.documents.List, document.ListDocuments{Namespace: "docs", Limit: &limit})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range l.Documents {
			of[*d.SourceID]++
		}
		return of
	}
	if got := list(); !maps.Equal(got, map[string]int{first.ID: 3, second.ID: 3}) {
		t.Errorf("documents by source: %v", got)
	}
	f.shelf.drop("k1001")
	f.counts("a deletion", f.sync(second.ID), "completed", port.SourceCounts{Seen: 2, Unchanged: 2, Deleted: 1})
	if got := list(); !maps.Equal(got, map[string]int{first.ID: 3, second.ID: 2}) {
		t.Errorf("documents by source after a deletion in one: %v", got)
	}
}

// Only what is new is embedded: not what stayed, nor what has another version and the same text.
func TestRefreshEmbedsWhatIsNew(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(3)
	long := func(end string) string {
		return strings.Repeat("The hedge is cut in February, when no bird breeds in it. ", 60) + "\n\n" + end
	}
	f.shelf.put("long", long("The end."))
	s := f.idle(f.create(source.CreateSource{}).ID)
	all := len(f.Embedder.TakePassages())
	f.counts("unchanged", f.sync(s.ID), "completed", port.SourceCounts{Seen: 4, Unchanged: 4})
	if got := f.Embedder.TakePassages(); len(got) != 0 {
		t.Errorf("embedded again: %q", got)
	}
	f.shelf.set(func(s *shelf) { s.mark = "another version of the same" })
	f.counts("touched", f.sync(s.ID), "completed", port.SourceCounts{Seen: 4, Unchanged: 4})
	if got := f.Embedder.TakePassages(); len(got) != 0 {
		t.Errorf("embedded although only the version is new: %q", got)
	}
	f.shelf.put("long", long("Another end."))
	f.counts("its end", f.sync(s.ID), "completed", port.SourceCounts{Seen: 4, Unchanged: 3, Updated: 1})
	if got := f.Embedder.TakePassages(); len(got) == 0 || len(got) >= all-3 {
		t.Errorf("%d passages of %d embedded for a new end", len(got), all)
	}
}

// What a listing brings along is written before much of it is held.
func TestContentsOfAListing(t *testing.T) {
	f := newFixture(t, func(_ *source.Settings, s *shelf) { s.inline = true })
	f.shelf.put("a", "Short, but for its end."+strings.Repeat("\n", 2<<20))
	f.shelf.put("b", "So is this one."+strings.Repeat("\n", 2<<20))
	f.shelf.put("c", "The last one.")
	var s source.Source
	known := make(chan struct{})
	f.shelf.before = func(context.Context) error {
		<-known
		if got := f.get(s.ID).LastRun.Counts.Created; got != 2 {
			t.Errorf("before the end of the listing %d are written", got)
		}
		return nil
	}
	s = f.create(source.CreateSource{})
	close(known)
	f.counts("in the end", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 3, Created: 3})
	if got := f.shelf.took(); len(got) != 0 {
		t.Errorf("fetched: %v", got)
	}
}

// A run that has more to name than it may names what failed first, and all of that can be tried again.
func TestMoreThanARunNames(t *testing.T) {
	f := newFixture(t, func(_ *source.Settings, s *shelf) { s.everyOne = true })
	f.fill(6)
	for _, k := range []string{"k1003", "k1005"} {
		f.shelf.failing[k] = port.SourceErrorf(port.SourceForbidden, nil, "is locked")
	}
	var s source.Source
	known := make(chan struct{})
	recorded := func(n int) {
		f.Store.OnJobUpdate.Clear()
		if err := f.Store.Update(context.Background(), func(w port.Writer) error {
			row, err := w.Source(context.Background(), ident.From(f.ctx).Org, s.ID)
			if err != nil {
				return err
			}
			r, err := w.SourceRun(context.Background(), row.Org, s.ID, row.Run)
			if err != nil {
				return err
			}
			r.Recorded = n
			return w.PutSourceRun(context.Background(), r)
		}); err != nil {
			t.Error(err)
		}
	}
	f.shelf.at = func(_ context.Context, key string) error {
		<-known
		switch key {
		case "k1002":
			recorded(79_999)
		case "k1005":
			recorded(99_999)
		}
		return nil
	}
	s = f.create(source.CreateSource{})
	close(known)
	r := *f.idle(s.ID).LastRun
	f.counts("the run", r, "partial", port.SourceCounts{Seen: 6, Created: 4, Failed: 2})
	items, err := coretest.Call(f.ctx, f.svc.RunItems,
		source.ListRunItems{RunRef: source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}})
	var did []string
	for _, i := range items.Items {
		did = append(did, i.Key+" "+i.Status)
	}
	if want := []string{"k1000 created", "k1001 created", "k1002 created", "k1003 failed", "k1005 failed"}; err != nil ||
		!slices.Equal(did, want) {
		t.Errorf("named are %v, %v", did, err)
	}
	// One more fails that the run had no place for.
	f.shelf.at = nil
	f.shelf.put("k1006", "New.")
	f.shelf.failing["k1006"] = port.SourceErrorf(port.SourceForbidden, nil, "is locked")
	f.sync(s.ID)
	f.shelf.set(func(s *shelf) { clear(s.failing) })
	f.shelf.took()
	if _, err := f.svc.RetryFailed(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}); err != nil {
		t.Fatal(err)
	}
	f.counts("again", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Seen: 3, Created: 3})
	if got := f.shelf.took(); !slices.Equal(got, []string{"k1003", "k1005", "k1006"}) {
		t.Errorf("tried again: %v", got)
	}
	f.inStep("docs")
}

// Calls that bring the same items at once leave what one of them has brought, whole, and nothing
// of the others.
func TestPushesAtOnce(t *testing.T) {
	p := newPushing(t)
	part := strings.Repeat("The hedge is cut in February, when no bird breeds in it. ", 6000)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for round := range 3 {
				text := fmt.Sprintf("Text %d.", n)
				if (n+round)%2 == 0 {
					text = part + text
				}
				items := []source.PushItem{brought("a", "", text), brought("b", "", text)}
				if (n+round)%3 == 0 {
					items[1] = source.PushItem{Key: "b", Deleted: true}
				}
				_, err := coretest.Call(p.ctx, p.svc.Push, source.PushItems{Ref: p.ref, Items: items})
				if err != nil && fault.CodeOf(err) != fault.Unavailable {
					t.Errorf("call %d: %v", n, err)
				}
			}
		})
	}
	all.Wait()
	p.consistent()
	p.push("", brought("a", "", "Short."), brought("b", "", "Short."))
	p.consistent()
	if s := p.get(p.ref.ID); s.Items != 2 || s.Documents != 2 {
		t.Errorf("in the end %d items, %d documents", s.Items, s.Documents)
	}
}

// consistent checks that the source's items have the documents that the namespace has of it.
func (p *pushing) consistent() {
	p.Helper()
	items, err := coretest.Call(p.ctx, p.svc.Items, source.ListItems{Ref: p.ref})
	if err != nil {
		p.Fatal(err)
	}
	limit, want := 1000, 0
	for _, i := range items.Items {
		want += i.Documents
	}
	list, err := coretest.Call(p.ctx, p.documents.List, document.ListDocuments{Namespace: "docs", Limit: &limit})
	if err != nil {
		p.Fatal(err)
	}
	if s := p.get(p.ref.ID); len(list.Documents) != want || s.Documents != int64(want) || s.Items != int64(len(items.Items)) {
		p.Errorf("the items have %d documents, the source says %d of %d items, and there are %d of %d", want, s.Documents,
			s.Items, len(list.Documents), len(items.Items))
	}
}

// What is pushed beside a run is there when that ends, whether or not the run was told.
func TestPushBesideARun(t *testing.T) {
	p := newPushing(t)
	var items []source.PushItem
	for i := range 8 {
		items = append(items, brought("k"+strconv.Itoa(i), "1", "Text "+strconv.Itoa(i)))
	}
	p.push("", items...)
	begun, err := coretest.Call(p.ctx, p.svc.Begin, source.BeginRun{Ref: p.ref})
	if err != nil {
		t.Fatal(err)
	}
	p.push(begun.ID, items[:4]...)
	p.push("", items[4], brought("new", "1", "New."))
	// Nor does it matter that the run is about to end, before it looks and after.
	var stored atomic.Int32
	held, release := make(chan struct{}), make(chan struct{})
	p.Store.OnJobUpdate.Set(func() error {
		if stored.Add(1) <= 2 {
			held <- struct{}{}
			<-release
		}
		return nil
	})
	if _, err := coretest.Call(p.ctx, p.svc.Complete, source.CompleteRun{
		RunRef: source.RunRef{Ref: p.ref, Run: begun.ID}, Snapshot: true}); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		<-held
		p.push("", items[5+n])
		release <- struct{}{}
	}
	p.counts("the run", *p.idle(p.ref.ID).LastRun, "completed", port.SourceCounts{Seen: 4, Unchanged: 4, Deleted: 1})
	if has := slices.Sorted(maps.Keys(p.has("docs"))); !slices.Equal(has,
		[]string{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "new"}) {
		t.Errorf("left: %v", has)
	}
}
