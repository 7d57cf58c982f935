package job_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// tenants makes organizations a, b and c beside the bed's own.
func (b *bed) tenants() {
	b.Helper()
	if err := b.store.Update(b.Context(), func(w port.Writer) error {
		for _, id := range []ident.Org{"a", "b", "c"} {
			if err := w.PutOrganization(b.Context(), port.Organization{ID: id, Name: string(id)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

// of is a job of an organization.
func of(org string) job.Order { return job.Order{Partition: port.Documents(ident.Org(org), "x")} }

// yard runs jobs that say that they begin, and end when their organization is told to.
type yard struct {
	*testing.T
	begun chan string
	goOn  map[string]chan struct{}
}

func newYard(t *testing.T) *yard {
	return &yard{t, make(chan string, 100),
		map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})}}
}

func (y *yard) run(ctx context.Context, j *job.Job) error {
	y.begun <- string(j.Org)
	select {
	case <-y.goOn[string(j.Org)]:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ends ends one job of each organization in turn, and wants another one to begin after
// each.
func (y *yard) ends(orgs, then string) {
	y.Helper()
	for i, org := range orgs {
		select {
		case y.goOn[string(org)] <- struct{}{}:
		case <-time.After(time.Minute):
			y.Fatalf("%d: no job of %c runs", i, org)
		}
		if i == len(then) {
			return
		}
		if got := receive(y.T, "a job that begins", y.begun); got != then[i:i+1] {
			y.Fatalf("%d: after a job of %c one of %s begins, want %c", i, org, got, then[i])
		}
	}
}

// A lane goes round the organizations whose jobs wait in it, however much one asked for.
func TestALaneGoesRoundTheOrganizations(t *testing.T) {
	b, y := newBed(t), newYard(t)
	b.tenants()
	s := b.serve("x", job.Kind{Name: "write", Lane: "write", Keep: time.Hour, Run: y.run})
	for _, org := range strings.Split("aaaabbc", "") {
		s.start("write", of(org))
	}
	if got := receive(t, "the first", y.begun); got != "a" {
		t.Fatal(got)
	}
	y.ends("abcabaa", "bcabaa")

	// A lane that was empty begins again.
	s.start("write", of("c"))
	if got := receive(t, "the first", y.begun); got != "c" {
		t.Fatal(got)
	}
	s.start("write", of("b"))
	s.start("write", of("a"))
	y.ends("cba", "ba")
}

// A lane that one organization has filled has a quarter of its places for each of the
// others, which are given back as their jobs end.
func TestALaneHasPlacesForEachOrganization(t *testing.T) {
	b, y := newBed(t), newYard(t)
	b.tenants()
	s := b.serve("x", job.Kind{Name: "write", Lane: "write", Queue: 8, Keep: time.Hour, Run: y.run})
	full := func(org string) {
		t.Helper()
		_, _, err := s.Start(t.Context(), "write", of(org))
		wantFault(t, "one more of "+org, err, fault.Unavailable)
	}
	for _, org := range strings.Split("aaaaaaaabbcc", "") {
		s.start("write", of(org))
	}
	full("a")
	full("b")
	full("c")
	receive(t, "the first", y.begun)
	y.ends("abcabc", "bcabca")
	s.start("write", of("c"))
	s.start("write", of("b"))
	s.start("write", of("b"))
	full("b") // 6 of a, 2 of b, 1 of c
	full("a")
}

// Jobs that wait in the store for a worker are taken from the organization that has the
// fewest workers, however many others wait.
func TestWorkersGoRoundTheOrganizations(t *testing.T) {
	b, y := newBed(t), newYard(t)
	b.tenants()
	s := b.serve("x", job.Kind{Name: "erase", Keep: time.Hour, Run: y.run})
	for _, org := range strings.Split("aaaaaaaaaaaaaaaaaaaaaabbc", "") { // more than are read at once
		s.start("erase", of(org))
	}
	for range 2 {
		if got := receive(t, "the first", y.begun); got != "a" {
			t.Fatal(got)
		}
	}
	// What runs before each end: aa, ba, ab, ba, ca.
	y.ends("aabbc", "babca")
}

// A worker that was given up while the unclaimed jobs were read is for an organization that is
// among those that wait by then.
func TestAWorkerIsNotForAnOlderList(t *testing.T) {
	b, y := newBed(t), newYard(t)
	b.tenants()
	s := b.join("x", job.Settings{Workers: 2, Poll: time.Hour}, job.Kind{Name: "erase", Run: y.run})
	listing, listed, goOn := b.holdListing()
	s.run()
	receive(t, "it asks for what is unclaimed, for two free workers", listing)
	s.start("erase", of("a"))
	s.start("erase", of("a"))
	s.start("erase", of("a"))
	goOn <- true
	receive(t, "it is answered", listed)
	s.start("erase", of("b"))
	for range 2 {
		receive(t, "one of the first", y.begun)
	}
	y.goOn["a"] <- struct{}{}
	for len(s.Attempts()) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // until its worker is free
	goOn <- true
	if got := receive(t, "a job that begins", y.begun); got != "b" {
		t.Errorf("one of %s begins, want b", got)
	}
}

// put stores jobs that no replica has claimed.
func (b *bed) put(jobs ...port.Job) {
	b.Helper()
	if err := b.store.Update(b.Context(), func(w port.Writer) error {
		for _, j := range jobs {
			j.Org, j.Kind, j.Partition, j.Status = b.org, "work", b.docs("x"), port.JobQueued
			if err := w.CreateJob(b.Context(), j, port.JobRequest{}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

// What is due is taken over before what is older and is not.
func TestWhatIsDueComesFirst(t *testing.T) {
	b, now := newBed(t), time.Now()
	b.put(port.Job{ID: "later", CreatedAt: now.Add(-time.Hour), NextAttempt: now.Add(time.Hour)},
		port.Job{ID: "due", CreatedAt: now})
	ran := make(chan string, 10)
	s := b.join("a", job.Settings{Workers: 1, Poll: time.Hour}, job.Kind{Name: "work",
		Run: func(_ context.Context, j *job.Job) error {
			ran <- j.ID
			return nil
		}})
	s.run()
	if got := receive(t, "a job", ran); got != "due" {
		t.Errorf("%s is attempted", got)
	}
}

// A job that is not due when another is taken over beside it holds no worker, and frees none.
func TestAJobThatIsNotDueHoldsNoWorker(t *testing.T) {
	b, now := newBed(t), time.Now()
	b.put(port.Job{ID: "due", CreatedAt: now}, port.Job{ID: "soon", CreatedAt: now, NextAttempt: now.Add(30 * time.Millisecond)})
	begun := make(chan string, 10)
	s := b.join("a", job.Settings{Workers: 2, Poll: time.Hour}, job.Kind{Name: "work",
		Run: func(ctx context.Context, j *job.Job) error {
			begun <- j.ID
			return untilStopped(ctx, j)
		}})
	s.run()
	// On a slow machine both may be due when they are first looked at, and then either begins first.
	if got := []string{receive(t, "a job", begun), receive(t, "another", begun)}; got[0] == got[1] {
		t.Fatalf("%s is attempted twice", got[0])
	}
	if j := s.start("work", job.Order{Partition: b.docs("x")}); j.Status != port.JobQueued {
		t.Errorf("beside two workers a third job is %s", j.Status)
	}
}

// A job whose end the store refuses is left alone until the next poll.
func TestARefusedJobWaitsForAPoll(t *testing.T) {
	for _, poll := range []time.Duration{time.Hour, 10 * time.Millisecond} {
		b, log, ran := newBed(t), &events{}, make(chan string, 10)
		s := b.join("a", job.Settings{Workers: 2, Poll: poll, Log: log.logger()}, job.Kind{Name: "work",
			Run: func(_ context.Context, j *job.Job) error {
				if ran <- j.ID; len(ran) == 1 {
					b.store.OnJobUpdate.Set(func() error { return fault.New(fault.Internal, "no") })
				}
				return nil
			}})
		s.run()
		first := s.start("work", job.Order{Partition: b.docs("x")})
		log.has(t, "job state not stored work")
		b.store.OnJobUpdate.Clear()
		if poll < time.Minute {
			b.ends(first, port.JobSucceeded)
			continue
		}
		for range 3 { // each of which has the runner look for others
			b.ends(s.start("work", job.Order{Partition: b.docs("x")}), port.JobSucceeded)
		}
		runs := map[string]int{}
		for range len(ran) {
			runs[<-ran]++
		}
		if runs[first.ID] != 1 {
			t.Errorf("it ran %d times", runs[first.ID])
		}
	}
}
