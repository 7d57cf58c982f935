package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// A source of which run after run is interrupted is in error from the fifth on.
func TestInterruptionsInARow(t *testing.T) {
	p := newPushing(t)
	for n := 1; n <= 5; n++ {
		if _, err := coretest.Call(p.ctx, p.svc.Begin, source.BeginRun{Ref: p.ref}); err != nil {
			t.Fatal(err)
		}
		p.clock.pass(61 * time.Minute)
		s := p.idle(p.ref.ID)
		if want := map[bool]string{false: "idle", true: "error"}[n == 5]; s.State != want || s.LastRun.Status != "interrupted" {
			t.Errorf("after %d: %s, %s", n, s.State, s.LastRun.Status)
		}
	}
}

// A run whose job has ended without it ends, too.
func TestRunsWithoutTheirJobs(t *testing.T) {
	f, c := newScripted(t, nil)
	f.fill(1)
	for what, v := range map[string]struct {
		job    port.JobStatus
		gone   bool
		status string
	}{
		"cancelled": {port.JobCancelled, false, "cancelled"},
		"failed":    {port.JobFailed, false, "interrupted"},
		"gone":      {port.JobFailed, true, "interrupted"},
	} {
		reached := make(chan struct{})
		c.list = func(ctx context.Context, _ port.Connection, _ []byte, _ port.SourceListing) error {
			close(reached)
			<-ctx.Done()
			return ctx.Err()
		}
		s := f.create(source.CreateSource{})
		<-reached
		f.stop()
		org, ctx := ident.From(f.ctx).Org, context.Background()
		if err := f.Store.Update(ctx, func(w port.Writer) error {
			j, err := w.Job(ctx, org, s.LastRun.ID)
			if err != nil {
				return err
			}
			j.Status, j.FinishedAt, j.ExpiresAt = v.job, time.Now(), time.Now().Add(time.Hour)
			if err = w.ChangeJob(ctx, j); err == nil && v.gone {
				err = w.DeleteExpiredJobs(ctx, time.Now().Add(2*time.Hour))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		f.begin()
		if got := f.idle(s.ID); got.LastRun.Status != v.status || got.State != "idle" {
			t.Errorf("%s: %s, %s", what, got.LastRun.Status, got.State)
		}
	}
}

// A cancelled run is told at once, not at its next heartbeat; so is one of a source that goes.
func TestEndsOfRunsAreTold(t *testing.T) {
	f, c := newScripted(t, func(set *source.Settings, _ *scripted) { set.Beat = time.Hour })
	reached, over := make(chan struct{}, 9), make(chan struct{}, 9)
	c.list = func(ctx context.Context, _ port.Connection, _ []byte, _ port.SourceListing) error {
		reached <- struct{}{}
		<-ctx.Done()
		over <- struct{}{}
		return ctx.Err()
	}
	s := f.create(source.CreateSource{})
	<-reached
	// Without secrets a source can be checked and changed beside its run.
	if got, err := coretest.Call(f.ctx, f.svc.Check, source.CheckSource{Kind: "shelf", SourceID: s.ID,
		Config: json.RawMessage(`{"path":"bad"}`)}); err != nil || got.OK {
		t.Errorf("a check beside a run: %+v, %v", got, err)
	}
	_, err := f.change(source.UpdateSource{Ref: source.Ref{ID: s.ID}, Config: json.RawMessage(`{"path":"bad"}`)})
	f.want("settings that cannot work", err, fault.InvalidRequest)
	if _, err := f.svc.Cancel(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: s.LastRun.ID}); err != nil {
		t.Fatal(err)
	}
	<-over
	f.begun(s.ID)
	<-reached
	f.disconnect(s.ID, "")
	<-over
	for !f.gone(s.ID) {
		f.wait()
	}
}

// What is due of a source that tells its changes is tried with its next run.
func TestDueItemsOfChanges(t *testing.T) {
	f := newFixture(t, func(set *source.Settings, s *shelf) { s.kind, set.Tick = "ledger", time.Hour })
	f.fill(2)
	f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceUnavailable, nil, "does not answer")
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.shelf.put("k1002", "New.")
	f.shelf.set(func(s *shelf) { clear(s.failing) })
	f.clock.pass(2 * time.Minute)
	f.counts("with changes", f.sync(s.ID), "completed", port.SourceCounts{Seen: 2, Created: 2})
	f.inStep("docs")
}

// What the upkeep of sources cannot do is logged, and done when it can be.
func TestUpkeepThatFails(t *testing.T) {
	var log lines
	f := newFixture(t, func(set *source.Settings, _ *shelf) { log.into(set) })
	f.fill(1)
	s := f.idle(f.create(source.CreateSource{}).ID)
	for range 2 {
		f.sync(s.ID)
	}
	f.clock.pass(91 * 24 * time.Hour)
	f.sync(s.ID)
	all := []string{"due sources not read", "lost runs not looked for", "old runs not removed"}
	for _, event := range all {
		if log.count(event) != 0 {
			t.Errorf("%q is logged although nothing fails", event)
		}
	}
	f.stop()
	broken := errors.New("the disk is broken")
	f.Store.OnBackgroundUpdate.Set(func() error { return broken })
	f.begin()
	for log.count(all[2]) == 0 {
		f.wait()
	}
	f.Store.OnView.Set(func() error { return broken })
	for log.count(all[0]) == 0 || log.count(all[1]) == 0 {
		time.Sleep(time.Millisecond)
	}
	f.Store.OnView.Clear()
	f.stop()
	f.Store.OnBackgroundUpdate.Clear()
	f.begin()
	runs := func() int {
		list, err := coretest.Call(f.ctx, f.svc.Runs, source.ListRuns{Ref: source.Ref{ID: s.ID}})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Runs)
	}
	for runs() != 1 {
		f.wait()
	}
	if _, err := f.change(source.UpdateSource{Ref: source.Ref{ID: s.ID}, Schedule: &source.Schedule{Every: "1h"}}); err != nil {
		t.Fatal(err)
	}
	const event = "due source not started"
	if log.count(event) != 0 {
		t.Errorf("%q is logged although none was due", event)
	}
	f.Store.OnBackgroundUpdate.Set(func() error { return broken })
	f.clock.pass(2 * time.Hour)
	for log.count(event) == 0 {
		f.wait()
	}
	f.Store.OnBackgroundUpdate.Clear()
	for f.idle(s.ID).LastRun.Trigger != "schedule" {
		f.wait()
	}
	if n := log.count("error=<nil>"); n != 0 {
		t.Errorf("%d times nothing is logged as a failure", n)
	}
}

// What the store does not take of a run's end, or of its wait, is logged, and the run ends all the same.
func TestRunsWhoseEndIsNotStored(t *testing.T) {
	var log lines
	f, c := newScripted(t, func(set *source.Settings, _ *scripted) {
		set.Backoff = time.Millisecond
		log.into(set)
	})
	f.fill(1)
	s := f.idle(f.create(source.CreateSource{}).ID)
	reached := make(chan struct{}, 9)
	c.list = func(ctx context.Context, _ port.Connection, _ []byte, _ port.SourceListing) error {
		reached <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	for n, fails := range []bool{false, true} {
		r := f.begun(s.ID)
		<-reached
		if fails {
			f.Store.FailUpdates(1, errors.New("the disk is broken"))
		}
		if _, err := f.svc.Cancel(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}); err != nil {
			t.Fatal(err)
		}
		f.Store.OnUpdate.Clear()
		if got := log.count("job of run not cancelled"); got != n {
			t.Errorf("%d jobs are not cancelled, want %d", got, n)
		}
		if got := f.idle(s.ID).LastRun.Status; got != "cancelled" {
			t.Errorf("the run is %s", got)
		}
	}
	away := fault.New(fault.Unavailable, "the disk is full")
	c.list = func(context.Context, port.Connection, []byte, port.SourceListing) error {
		f.Store.OnJobUpdate.Set(func() error { return away })
		return away
	}
	f.begun(s.ID)
	for log.count("waiting run not stored") == 0 {
		f.wait()
	}
	c.shelf.set(func(*shelf) { c.list = nil })
	f.Store.OnJobUpdate.Clear()
	if got := f.idle(s.ID).LastRun.Status; got != "completed" || log.count("error=<nil>") != 0 {
		t.Errorf("in the end the run is %s", got)
	}
}

// Without settings of time a service works with those that it documents.
func TestTimesByDefault(t *testing.T) {
	var log lines
	f, c := newScripted(t, func(set *source.Settings, c *scripted) {
		set.Beat, set.Tick = 0, 0
		log.into(set)
		c.check = func(ctx context.Context) {
			if end, ok := ctx.Deadline(); !ok || time.Until(end) > 10*time.Second || ctx.Err() != nil {
				t.Errorf("a look at the settings ends at %s, %v", end, ctx.Err())
			}
		}
	})
	reached := make(chan struct{})
	c.list = func(ctx context.Context, _ port.Connection, _ []byte, _ port.SourceListing) error {
		close(reached)
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond) // as one that tidies up
		return ctx.Err()
	}
	s := f.create(source.CreateSource{})
	<-reached
	f.stop()
	if log.count("connector does not return") != 0 {
		t.Error("a connector is left behind at once")
	}
	c.list = nil
	f.begin()
	if r := f.idle(s.ID).LastRun; r.Status != "completed" {
		t.Errorf("%+v", r)
	}
}
