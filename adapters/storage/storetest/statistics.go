package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func (f *fixture) statistics() (s port.Statistics) {
	f.Helper()
	f.view(func(r port.Reader) (err error) {
		s, err = r.Statistics(f.ctx)
		return err
	})
	return s
}

// statistics: counts are of what lives, over all organizations, and follow what is
// written and deleted; jobs count until they end.
func statistics(t *testing.T, f *fixture) {
	empty := f.statistics()
	if diff := cmp.Diff(port.Statistics{Organizations: 1}, empty); diff != "" {
		t.Errorf("an empty store:\n%s", diff)
	}
	const other ident.Org = "org_other"
	app := port.Integration{ID: "int_a", Org: other, Name: "app", CreatedAt: at(0)}
	docs, more, ann := port.Documents(f.org, "docs"), port.Documents(other, "docs"), port.Memories(other, app.ID, "ann")
	write := func(id, text string, chunks int) port.DocumentWrite {
		d := port.DocumentWrite{Document: port.Document{ID: id, Text: text, CreatedAt: at(0)}}
		for i := range chunks {
			d.Document.Chunks = append(d.Document.Chunks, port.Chunk{Start: i, End: i + 1})
		}
		return d
	}
	f.update(func(w port.DocumentWriter) error {
		another := port.Organization{ID: other, Name: "other"}
		for _, err := range []error{w.PutOrganization(f.ctx, another), w.PutIntegration(f.ctx, app)} {
			if err != nil {
				return err
			}
		}
		for _, p := range []port.Partition{docs, more, ann, port.Documents(f.org, "empty")} {
			if _, err := w.CreatePartition(f.ctx, p, port.PartitionRow{CreatedAt: at(0), UpdatedAt: at(0)}); err != nil {
				return err
			}
		}
		for p, all := range map[port.Partition][]port.DocumentWrite{
			docs: {write("a", "abc", 3), write("b", "defg", 2)},
			more: {write("a", "hi", 1)},
			ann:  {write("m", "jklmn", 1)},
		} {
			if _, err := w.PutDocuments(f.ctx, p, at(1), all); err != nil {
				return err
			}
		}
		if _, err := w.JoinReplica(f.ctx, "here", time.Hour); err != nil {
			return err
		}
		_, err := w.JoinReplica(f.ctx, "gone", -time.Hour)
		return err
	})
	var now time.Time
	f.view(func(r port.Reader) (err error) {
		now, err = r.Now(f.ctx)
		return err
	})
	job := func(id, kind string, status port.JobStatus, age time.Duration) port.Job {
		j := port.Job{ID: id, Org: f.org, Kind: kind, Partition: docs, Status: status, CreatedAt: now.Add(-age), UpdatedAt: now}
		if status.Ended() {
			j.FinishedAt, j.ExpiresAt = now, now.Add(time.Hour)
		}
		return j
	}
	elsewhere := job("5", "write", port.JobQueued, time.Minute)
	elsewhere.Org, elsewhere.Partition = other, more
	f.createJobs(job("1", "write", port.JobQueued, time.Hour), job("2", "write", port.JobRunning, 3*time.Hour),
		job("3", "sync", port.JobQueued, -time.Hour), job("4", "write", port.JobFailed, 5*time.Hour), elsewhere)
	got := f.statistics()
	want := port.Statistics{
		Organizations: 2,
		Namespaces:    port.Contents{Partitions: 3, Documents: 3, Chunks: 6, Bytes: 9},
		EndUsers:      port.Contents{Partitions: 1, Documents: 1, Chunks: 1, Bytes: 5},
		Jobs: []port.JobQueue{{Kind: "sync", Status: port.JobQueued, Jobs: 1}, {Kind: "write", Status: port.JobQueued, Jobs: 2},
			{Kind: "write", Status: port.JobRunning, Jobs: 1}},
		Replicas: 1,
	}
	for i, least := range []time.Duration{0, time.Hour, 3 * time.Hour} {
		if i >= len(got.Jobs) {
			break
		}
		// A job of the future, by a clock that is ahead, is no age below zero.
		if age := got.Jobs[i].Oldest; age < least || age > least+time.Hour || least == 0 && age != 0 {
			t.Errorf("the oldest of %s jobs %s is %v old, want %v", got.Jobs[i].Kind, got.Jobs[i].Status, age, least)
		}
		got.Jobs[i].Oldest = 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filled:\n%s", diff)
	}
	f.update(func(w port.DocumentWriter) error {
		if _, _, _, err := w.DeleteDocuments(f.ctx, docs, at(2), []string{"a"}); err != nil {
			return err
		}
		_, err := w.DeletePartition(f.ctx, more)
		return err
	})
	if got, want := f.statistics().Namespaces, (port.Contents{Partitions: 2, Documents: 1, Chunks: 2, Bytes: 4}); got != want {
		t.Errorf("after deletions: %+v, want %+v", got, want)
	}
}

// pool: a store with a pool says how much of it is in use, and how often and how long
// was waited for a connection.
func pool(t *testing.T, f *fixture) {
	p, ok := f.s.(port.Pooled)
	if !ok {
		t.Skip("the store has no pool")
	}
	until := func(what string, is func(port.Pool) bool) {
		t.Helper()
		for began := time.Now(); !is(p.Pool()); time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: %+v", what, p.Pool())
			}
		}
	}
	until("nothing is done", func(s port.Pool) bool { return s.InUse == 0 && s.Max > 0 })
	before := p.Pool()
	var views sync.WaitGroup
	leave := make(chan struct{})
	view := func() {
		if err := f.s.View(f.ctx, func(port.Reader) error { <-leave; return nil }); err != nil {
			t.Error(err)
		}
	}
	for range before.Max {
		views.Go(view)
	}
	until("each has one", func(s port.Pool) bool { return s.InUse == before.Max })
	views.Go(view)
	until("one waits", func(s port.Pool) bool { return s.Waits > before.Waits })
	close(leave)
	views.Wait()
	until("all are done", func(s port.Pool) bool { return s.InUse == 0 && s.Waited > before.Waited })
	if now := p.Pool(); now.Max != before.Max {
		t.Errorf("%+v, before %+v", now, before)
	}
}

// turns: however many views of one organization wait for a connection, another's has one
// soon.
func turns(t *testing.T, f *fixture) {
	p, ok := f.s.(port.Pooled)
	if !ok {
		t.Skip("the store has no pool")
	}
	until := func(what string, is func(port.Pool) bool) {
		t.Helper()
		for began := time.Now(); !is(p.Pool()); time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: %+v", what, p.Pool())
			}
		}
	}
	var views sync.WaitGroup
	view := func(org string, fn func()) {
		ctx := ident.WithPrincipal(f.ctx, ident.Principal{Org: ident.Org(org)})
		views.Go(func() {
			if err := f.s.View(ctx, func(port.Reader) error { fn(); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	const flood, soon = 10, 2
	// served is the order in which the views were served that waited.
	served := func() []string {
		first, others := make(chan struct{}), make(chan struct{})
		view("a", func() { <-first })
		for range p.Pool().Max - 1 {
			view("a", func() { <-others })
		}
		until("each has one", func(s port.Pool) bool { return s.InUse == s.Max })
		var mu sync.Mutex
		var order []string
		for i := range flood + 1 {
			before, org := p.Pool().Waits, "a"
			if i == flood {
				org = "b"
			}
			view(org, func() {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, org)
			})
			until("it waits", func(s port.Pool) bool { return s.Waits > before })
		}
		close(first) // by that one connection all of them go
		for done := 0; done <= flood; time.Sleep(time.Millisecond) {
			mu.Lock()
			done = len(order)
			mu.Unlock()
		}
		close(others)
		views.Wait()
		return order
	}
	var order []string
	for range 5 { // work in the background may wait, too, so that b's view comes too late to do so
		if order = served(); slices.Index(order, "b") <= soon {
			return
		}
	}
	t.Errorf("b's view is the one after %v", order[:slices.Index(order, "b")])
}
