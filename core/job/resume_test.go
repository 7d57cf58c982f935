package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// TestStop: what a stop interrupts is given back as if the attempt had not begun, and
// goes on with the next start, or at another replica, from the state saved last.
func TestStop(t *testing.T) {
	b := newBed(t)
	saved := make(chan bool, 1)
	kind := func(lane string, run func(ctx context.Context, j *job.Job) error) job.Kind {
		return job.Kind{Name: "sync" + lane, Lane: lane, Keep: time.Hour, Run: run}
	}
	interrupted := func(ctx context.Context, j *job.Job) error {
		if err := j.Save(ctx, 2, 5, note{"half"}); err != nil {
			return err
		}
		saved <- true
		<-ctx.Done()
		return ctx.Err()
	}
	for _, lane := range []string{"", "one"} {
		a := b.serve("a", kind(lane, interrupted))
		j := a.start("sync"+lane, job.Order{Partition: b.docs("x"), Total: 5})
		waiting := a.start("sync"+lane, job.Order{Partition: b.docs("y")})
		if lane == "" {
			<-saved
		}
		receive(t, "it has saved", saved)
		a.stop()
		if n := a.Attempts()[job.Attempt{Kind: "sync" + lane, Outcome: job.Interrupted}]; n < 1 {
			t.Errorf("%d attempts were interrupted", n)
		}
		if got := b.read(j); got.Status != port.JobQueued || got.Tries != 0 || string(got.State) != `{"text":"half"}` ||
			got.Done != 2 {
			t.Errorf("interrupted: %+v", got)
		}
		_, _, err := a.Start(t.Context(), "sync"+lane, job.Order{Partition: b.docs("x")})
		wantFault(t, "a start while stopping", err, fault.Unavailable)
		if f := fault.From(err); f.RetryAfter != 5*time.Second {
			t.Errorf("come back after %v", f.RetryAfter)
		}
		c := b.serve("c", kind(lane, func(ctx context.Context, r *job.Job) error {
			var state note
			if r.Resumed != (r.ID == j.ID || lane == "") || ident.Job(ctx) != r.ID {
				t.Errorf("%s: resumed is %v, the context is of job %q", r.ID, r.Resumed, ident.Job(ctx))
			}
			if had, err := r.Load(&state); err != nil || had != (r.ID == j.ID || lane == "") || had && state.Text != "half" {
				t.Errorf("resumed with %+v, %v, %v", state, had, err)
			}
			return nil
		}))
		if end := b.ends(j, port.JobSucceeded); end.Tries != 1 {
			t.Errorf("resumed: %+v", end)
		}
		b.ends(waiting, port.JobSucceeded)
		c.stop()
	}
}

// TestKill: a job of a process that died is taken over with the state saved last, and
// the dead one, should it wake up, can neither save nor end it.
func TestKill(t *testing.T) {
	b := newBed(t)
	handle := make(chan *job.Job, 1)
	lost := make(chan context.Context, 1)
	wake := make(chan struct{})
	late := make(chan error, 2)
	dead := b.serve("place", job.Kind{Name: "sync", Keep: time.Hour, Run: func(ctx context.Context, j *job.Job) error {
		if err := j.Save(ctx, 1, 3, note{"half"}); err != nil {
			return err
		}
		handle <- j
		<-wake
		late <- j.Save(ctx, 2, 3, note{"stale"})
		lost <- ctx
		err := b.store.Update(context.Background(), func(w port.Writer) error {
			if err := w.PutSecret(context.Background(), "stale", []byte("x")); err != nil {
				return err
			}
			return j.Finish(context.Background(), w, note{"stale"})
		})
		late <- err
		return err
	}})
	j := dead.start("sync", job.Order{Partition: b.docs("x"), Total: 3})
	receive(t, "it runs", handle)

	goOn := make(chan struct{})
	running := make(chan *job.Job, 1)
	log := &events{}
	next := b.join("place", job.Settings{Poll: 10 * time.Millisecond, Log: log.logger()}, job.Kind{
		Name: "sync",
		Keep: time.Hour,
		Run: func(ctx context.Context, j *job.Job) error {
			running <- j
			<-goOn
			return j.Save(ctx, 3, 3, nil)
		},
	})
	next.run()
	taken := receive(t, "it is taken over", running)
	if taken.ID != j.ID || taken.Tries != 2 || string(taken.State) != `{"text":"half"}` || taken.Done != 1 || taken.Total != 3 {
		t.Errorf("taken over: %+v", taken.Job)
	}
	close(wake)
	for _, what := range []string{"a late Save", "a late Finish"} {
		if err := receive(t, what, late); !errors.Is(err, job.ErrTaken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for dead.Attempts()[job.Attempt{Kind: "sync", Outcome: job.Lost}] != 1 {
		time.Sleep(time.Millisecond)
	}
	if ctx := receive(t, "the context of the dead one", lost); ctx.Err() == nil {
		t.Error("the attempt of a lost job goes on")
	}
	if got := b.read(j); got.Status != port.JobRunning || got.Done != 1 {
		t.Errorf("the dead one has changed it: %+v", got)
	}
	b.view(func(r port.Reader) error {
		_, err := r.Secret(t.Context(), "stale")
		wantFault(t, "the work of the dead one", err, fault.NotFound)
		return nil
	})
	close(goOn)
	if end := b.ends(j, port.JobSucceeded); end.Result != nil || end.Done != 3 || end.Tries != 2 {
		t.Errorf("ended: %+v", end)
	}
	next.stop()
	log.want(t, map[string]int{"job taken over sync": 1})
}

// TestLeftBehind: jobs that an earlier process left in a lane run before those that
// were started since, in their order.
func TestLeftBehind(t *testing.T) {
	b := newBed(t)
	ran := make(chan string, 10)
	kind := job.Kind{Name: "write", Lane: "write", Run: func(_ context.Context, j *job.Job) error { ran <- j.ID; return nil }}
	before := b.join("place", job.Settings{}, kind) // dies before it runs any
	var want []string
	for range 6 { // more than a lane takes over at once
		want = append(want, before.start("write", job.Order{Partition: b.docs("x")}).ID)
	}
	s := b.join("place", job.Settings{Poll: 10 * time.Millisecond}, kind)
	want = append(want, s.start("write", job.Order{Partition: b.docs("x")}).ID)
	s.run()
	var last port.Job
	for _, id := range want[:4] {
		if got := receive(t, "one left behind", ran); got != id {
			t.Errorf("%s runs, want %s", got, id)
		}
	}
	last.Org = b.org
	for _, id := range want {
		last.ID = id
		b.ends(last, port.JobSucceeded)
	}
}

// TestKeep: an ended job is read for as long as its kind says, and then removed.
func TestKeep(t *testing.T) {
	b := newBed(t)
	kind := job.Kind{Name: "short", Keep: time.Minute, Run: func(context.Context, *job.Job) error { return nil }}
	a := b.serve("a", kind)
	j := a.start("short", job.Order{Partition: b.docs("x")})
	b.ends(j, port.JobSucceeded)
	latest := func(s *server) bool {
		_, known, err := s.Latest(t.Context(), "short", b.docs("x"))
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	if !latest(a) {
		t.Error("it is not kept")
	}
	b.clock.Add(int64(time.Hour))
	if latest(a) {
		t.Error("it is shown after its time")
	}
	a.stop()
	b.serve("a", kind) // which sweeps as it starts
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		err := b.store.View(t.Context(), func(r port.Reader) error { _, err := r.Job(t.Context(), j.Org, j.ID); return err })
		if fault.CodeOf(err) == fault.NotFound {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal("it is not removed")
		}
	}
}

// TestStoreAway: a job is begun and ended once the store answers, and what a failed
// transaction undid is done again.
func TestStoreAway(t *testing.T) {
	b := newBed(t)
	away := fault.New(fault.Unavailable, "the store is away")
	attempts := make(chan error, 10)
	s := b.serve("a", job.Kind{Name: "write", Lane: "write", Tries: 5, Backoff: time.Millisecond,
		Run: func(ctx context.Context, j *job.Job) error {
			err := b.store.Update(ctx, func(w port.Writer) error {
				if err := j.Finish(ctx, w, note{"done"}); err != nil {
					return err
				}
				if j.Tries == 1 {
					return away // it rolls back
				}
				return nil
			})
			attempts <- err
			return err
		}}, job.Kind{Name: "plain", Lane: "plain", Run: func(context.Context, *job.Job) error {
		b.store.OnJobUpdate.Set(func() error { return away })
		attempts <- nil
		return nil
	}})
	if end := b.ends(s.start("write", job.Order{Partition: b.docs("x")}), port.JobSucceeded); end.Tries != 2 ||
		string(end.Result) != `{"text":"done"}` {
		t.Errorf("ended: %+v", end)
	}
	if first, second := <-attempts, <-attempts; !errors.Is(first, away) || second != nil {
		t.Errorf("attempts: %v, %v", first, second)
	}
	j := s.start("plain", job.Order{Partition: b.docs("x")})
	receive(t, "it runs", attempts)
	refused := make(chan bool, 100)
	b.store.OnJobUpdate.Set(func() error { refused <- true; return away })
	receive(t, "its end is refused", refused)
	if got := b.read(j); got.Status != port.JobRunning {
		t.Errorf("while the store is away: %+v", got)
	}
	b.store.OnJobUpdate.Clear()
	b.ends(j, port.JobSucceeded)
}

// TestProgress: progress shows while a job runs, and does not wear the store out.
func TestProgress(t *testing.T) {
	b := newBed(t)
	goOn := make(chan struct{})
	s := b.serve("a", job.Kind{Name: "build", Run: func(ctx context.Context, j *job.Job) error {
		for i := range 1000 {
			j.Progress(ctx, i+1, 2000, nil)
		}
		<-goOn
		return nil
	}})
	j := s.start("build", job.Order{Partition: b.docs("x"), Total: 1})
	got := b.becomes(j, "it shows", func(j port.Job) bool { return j.Total == 2000 })
	if got.Done < 1 || got.Status != port.JobRunning {
		t.Errorf("under way: %+v", got)
	}
	close(goOn)
	if end := b.ends(j, port.JobSucceeded); end.Total != 2000 {
		t.Errorf("ended: %+v", end)
	}
}

// TestAfter: who listens is told of each attempt when what came of it is stored, and
// joining a job that waits for its next attempt makes that at once.
func TestAfter(t *testing.T) {
	b := newBed(t)
	type told struct {
		id     string
		tries  int
		err    error
		status port.JobStatus
	}
	after, broken := make(chan told, 100), errors.New("no such table")
	s := b.serve("a", job.Kind{
		Name:    "erase",
		Single:  true,
		Tries:   5,
		Backoff: time.Hour,
		Run: func(_ context.Context, j *job.Job) error {
			if j.Tries == 1 {
				return fault.New(fault.Unavailable, "not now")
			}
			return nil
		},
		After: func(j *job.Job, err error) {
			now := j.Job
			_ = b.store.View(context.Background(), func(r port.Reader) (err error) {
				now, err = r.Job(context.Background(), j.Org, j.ID)
				return err
			})
			after <- told{j.ID, j.Tries, err, now.Status}
		},
	})
	x := job.Order{Partition: b.docs("x")}
	first := s.start("erase", x)
	if got := receive(t, "the first attempt", after); got.tries != 1 || fault.CodeOf(got.err) != fault.Unavailable ||
		got.status != port.JobQueued {
		t.Errorf("after the first attempt: %+v", got)
	}
	b.store.OnJobUpdate.Set(func() error { return broken })
	// An attempt is over a moment after After, and can be joined until then.
	for began := time.Now(); len(after) == 0; time.Sleep(time.Millisecond) {
		again, joined, err := s.Start(t.Context(), "erase", x)
		if err != nil || !joined || again.ID != first.ID {
			t.Fatalf("joined %+v, %v, %v", again, joined, err)
		}
		if time.Since(began) > time.Minute {
			t.Fatal("it is not attempted again")
		}
	}
	if got := receive(t, "that the store refuses", after); got.tries != 1 || !errors.Is(got.err, broken) ||
		got.status != port.JobQueued {
		t.Errorf("after an attempt that the store refused: %+v", got)
	}
	b.store.OnJobUpdate.Clear()
	// After may hear of further attempts that began before the store took them again, and of
	// other jobs: one that is started when the job has ended is another. Until the last attempt is over
	// the job is to be started again, or it waits for its time.
	var got told
	for began := time.Now(); got.id != first.ID || errors.Is(got.err, broken); {
		select {
		case got = <-after:
		case <-time.After(time.Millisecond):
			if _, _, err := s.Start(t.Context(), "erase", x); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(began) > time.Minute {
			t.Fatal("it is not attempted again")
		}
	}
	if got.tries != 2 || got.err != nil || got.status != port.JobSucceeded {
		t.Errorf("after the last attempt: %d, %v, %s", got.tries, got.err, got.status)
	}
}

// TestJoinedAsAnAttemptEnds: a job that is joined in the moment in which its attempt has been postponed, and
// is not over yet, is attempted at once all the same.
func TestJoinedAsAnAttemptEnds(t *testing.T) {
	b := newBed(t)
	x, joins := job.Order{Partition: b.docs("x")}, make(chan error, 10)
	var s *server
	s = b.serve("a", job.Kind{
		Name:       "erase",
		Single:     true,
		Tries:      5,
		Backoff:    time.Hour,
		MaxBackoff: time.Hour,
		Run: func(_ context.Context, j *job.Job) error {
			if j.Tries == 1 {
				return fault.New(fault.Unavailable, "not now")
			}
			return nil
		},
		After: func(j *job.Job, _ error) {
			if j.Tries == 1 {
				again, joined, err := s.Start(t.Context(), "erase", x)
				if err == nil && (!joined || again.ID != j.ID) {
					err = errors.New("another job was started")
				}
				joins <- err
			}
		},
	})
	first := s.start("erase", x)
	if err := receive(t, "it is joined", joins); err != nil {
		t.Fatal(err)
	}
	if end := b.ends(first, port.JobSucceeded); end.Tries != 2 {
		t.Errorf("%d attempts", end.Tries)
	}
}

// TestJoinedAsItIsClaimed: a job that is joined while this process takes its claim is attempted once: who joins it
// takes no claim that may be given up before the join is over.
func TestJoinedAsItIsClaimed(t *testing.T) {
	b := newBed(t)
	after := make(chan error, 10)
	kind := job.Kind{Name: "work", Single: true, Run: func(context.Context, *job.Job) error { return nil },
		After: func(_ *job.Job, err error) { after <- err }}
	left := port.Job{ID: "job_1", Org: b.org, Kind: "work", Partition: b.docs("x"), CreatedAt: b.now()}
	b.put(left)
	claiming, claim := make(chan bool), make(chan bool)
	b.store.OnView.Set(func() error { // the unclaimed jobs are listed, so what is written next is the claim
		b.store.OnView.Clear()
		b.store.OnBackgroundUpdate.Set(func() error {
			b.store.OnBackgroundUpdate.Clear()
			claiming <- true
			select {
			case <-claim:
			case <-t.Context().Done(): // the test has failed
			}
			return nil
		})
		return nil
	})
	s := b.join("a", job.Settings{Poll: time.Hour}, kind)
	s.run()
	receive(t, "it is claimed", claiming)
	joined, goOn, join := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		in := func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
			err := b.store.Update(ctx, func(w port.Writer) error { return store(w, left.Partition) })
			joined <- true
			<-goOn
			return err
		}
		_, _, err := s.Start(t.Context(), "work", job.Order{Partition: left.Partition, In: in})
		join <- err
	}()
	receive(t, "it is joined", joined)
	claim <- true
	if err := receive(t, "the attempt", after); err != nil {
		t.Error(err)
	}
	b.ends(left, port.JobSucceeded)
	goOn <- true
	if err := receive(t, "the join", join); err != nil {
		t.Error(err)
	}
	time.Sleep(20 * time.Millisecond) // for an attempt that must not come
	s.stop()
	if got := s.Attempts(); len(after) > 0 || got[job.Attempt{Kind: "work", Outcome: job.Lost}] > 0 {
		t.Errorf("attempts: %v, and %d more", got, len(after))
	}
}

// TestJoinedWhileAJoinFails: a job that waits for its time, and is joined while another join has not taken its claim
// yet, is attempted at once though that one fails. It gets the one worker, which that one had reserved.
func TestJoinedWhileAJoinFails(t *testing.T) {
	b := newBed(t)
	s := b.join("a", job.Settings{Workers: 1, Poll: time.Hour}, job.Kind{Name: "erase", Single: true, Tries: 5,
		Backoff: time.Hour, MaxBackoff: time.Hour, Run: func(_ context.Context, j *job.Job) error {
			if j.Tries == 1 {
				return fault.New(fault.Unavailable, "not now")
			}
			return nil
		}})
	s.run()
	x := job.Order{Partition: b.docs("x")}
	first := s.start("erase", x)
	b.becomes(first, "it is postponed", func(j port.Job) bool { return j.Status == port.JobQueued && j.Tries == 1 })
	time.Sleep(20 * time.Millisecond) // it is held a moment longer, and would be attempted for that
	broken, failing, goOn, failed := errors.New("no such table"), make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		in := func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
			err := b.store.Update(ctx, func(w port.Writer) error {
				if err := store(w, x.Partition); err != nil {
					return err
				}
				return broken
			})
			failing <- true
			<-goOn
			return err
		}
		_, _, err := s.Start(t.Context(), "erase", job.Order{Partition: x.Partition, In: in})
		failed <- err
	}()
	receive(t, "a join fails", failing)
	if again := s.start("erase", x); again.ID != first.ID {
		t.Errorf("another job was started: %+v", again)
	}
	goOn <- true
	if err := receive(t, "it has failed", failed); !errors.Is(err, broken) {
		t.Error(err)
	}
	if end := b.ends(first, port.JobSucceeded); end.Tries != 2 {
		t.Errorf("%d attempts", end.Tries)
	}
}

// viewed is a store that calls a hook after a view.
type viewed struct {
	port.DocumentStore
	after coretest.Hook[func()]
}

func (v *viewed) View(ctx context.Context, fn func(port.Reader) error) error {
	err := v.DocumentStore.View(ctx, fn)
	if hook, ok := v.after.Take(); ok {
		hook()
	}
	return err
}

// holdListing has the next view, by which a runner that begins asks for unclaimed jobs, wait before and after: listing and
// listed say that it does, goOn ends either.
func (b *bed) holdListing() (listing, listed, goOn chan bool) {
	v := &viewed{DocumentStore: b.store.DocumentStore}
	b.store.DocumentStore = v
	listing, listed, goOn = make(chan bool), make(chan bool), make(chan bool)
	b.store.OnView.Set(func() error {
		b.store.OnView.Clear()
		v.after.Set(func() { listed <- true; <-goOn })
		listing <- true // what is held here has been noted
		<-goOn
		return nil
	})
	return listing, listed, goOn
}

// TestListedInItsAttempt: a job that began while the unclaimed ones were asked for is among them, but waits for its
// time where its attempt is over by then.
func TestListedInItsAttempt(t *testing.T) {
	b := newBed(t)
	tries, end := make(chan int, 10), make(chan bool, 10)
	s := b.join("a", job.Settings{Poll: time.Hour}, job.Kind{Name: "sync", Tries: 5, Backoff: time.Hour, MaxBackoff: time.Hour,
		Run: func(_ context.Context, j *job.Job) error {
			tries <- j.Tries
			<-end
			return fault.New(fault.Unavailable, "not now")
		}})
	listing, listed, goOn := b.holdListing()
	s.run()
	receive(t, "it asks for what is unclaimed", listing)
	first := s.start("sync", job.Order{Partition: b.docs("x")})
	receive(t, "the attempt", tries)
	goOn <- true
	receive(t, "it is answered", listed)
	end <- true
	b.becomes(first, "it is postponed", func(j port.Job) bool { return j.Status == port.JobQueued })
	time.Sleep(20 * time.Millisecond) // it is held a moment longer, and would be passed over for that
	goOn <- true
	end <- true // of an attempt that must not come
	s.stop()
	if got := b.read(first); got.Tries != 1 {
		t.Errorf("%d attempts", got.Tries)
	}
}

// TestLostCommit: a job whose process did not hear that it was stored is found by it.
func TestLostCommit(t *testing.T) {
	b := newBed(t)
	ran, lost := make(chan string, 10), errors.New("the connection is lost")
	s := b.serve("a", job.Kind{Name: "write", Lane: "write", Run: func(_ context.Context, j *job.Job) error {
		ran <- j.ID
		return nil
	}})
	_, _, err := s.Start(t.Context(), "write", job.Order{Partition: b.docs("x"),
		In: func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
			err := b.store.Update(ctx, func(w port.Writer) error { return store(w, b.docs("x")) })
			return errors.Join(err, lost)
		}})
	if !errors.Is(err, lost) {
		t.Fatalf("started: %v", err)
	}
	receive(t, "it runs", ran)
}
