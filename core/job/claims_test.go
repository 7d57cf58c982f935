package job_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// events counts what is logged from Info on, by message and kind of job.
type events struct {
	mu   sync.Mutex
	seen map[string]int
}

func (e *events) logger() *slog.Logger                         { return slog.New(e) }
func (e *events) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (e *events) WithAttrs([]slog.Attr) slog.Handler           { return e }
func (e *events) WithGroup(string) slog.Handler                { return e }
func (e *events) Handle(_ context.Context, r slog.Record) error {
	name := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "kind" {
			name += " " + a.Value.String()
		}
		return true
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen == nil {
		e.seen = map[string]int{}
	}
	e.seen[name]++
	return nil
}

func (e *events) counts() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.seen)
}

func (e *events) want(t *testing.T, want map[string]int) {
	t.Helper()
	if got := e.counts(); !maps.Equal(got, want) {
		t.Errorf("logged: %v, want %v", got, want)
	}
}

// has waits until something was logged.
func (e *events) has(t *testing.T, name string) {
	t.Helper()
	for began := time.Now(); e.counts()[name] == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("not logged: %s, but %v", name, e.counts())
		}
	}
}

// held reports whether the claim of a job keeps another replica from it.
func (b *bed) held(other *server, j port.Job) bool {
	b.Helper()
	var ok bool
	asked := errors.New("only asked")
	err := b.store.Update(b.Context(), func(w port.Writer) error {
		_, free, err := w.TakeClaim(b.Context(), other.member.Self(), port.JobClaim(j.Org, j.ID))
		ok = free
		return cmp.Or(err, asked)
	})
	if !errors.Is(err, asked) {
		b.Fatal(err)
	}
	return !ok
}

// The claim of a job goes with its end, with each wait in which nobody has to hold it,
// and with what a stop interrupts: any replica can have the job next, even while this
// one still counts as alive.
func TestClaimsAreGivenUp(t *testing.T) {
	b := newBed(t)
	runs := make(chan bool, 1)
	busy := func(context.Context, *job.Job) error { return fault.New(fault.Unavailable, "not now") }
	waits := func(name, lane string) job.Kind {
		return job.Kind{Name: name, Lane: lane, Tries: 2, Backoff: time.Hour, MaxBackoff: time.Hour, Run: busy}
	}
	s := b.serve("a", waits("free", ""), waits("kept", "one"),
		job.Kind{Name: "quick", Run: func(context.Context, *job.Job) error { return nil }},
		job.Kind{Name: "long", Lane: "two", Run: func(ctx context.Context, j *job.Job) error {
			runs <- true
			return untilStopped(ctx, j)
		}})
	other := b.join("b", job.Settings{})
	x := job.Order{Partition: b.docs("x")}
	postponed := func(j port.Job) bool { return !j.NextAttempt.IsZero() }
	quick := b.ends(s.start("quick", x), port.JobSucceeded)
	free := b.becomes(s.start("free", x), "postponed", postponed)
	kept := b.becomes(s.start("kept", x), "postponed", postponed)
	long := s.start("long", x)
	receive(t, "it runs", runs)
	for _, c := range []struct {
		job  port.Job
		held bool
	}{{quick, false}, {free, false}, {kept, true}, {long, true}} {
		if got := b.held(other, c.job); got != c.held {
			t.Errorf("the claim of %s is held: %v", c.job.Kind, got)
		}
	}
	s.halt()
	for _, j := range []port.Job{kept, long} {
		if b.held(other, j) {
			t.Errorf("the claim of %s is held after a stop", j.Kind)
		}
	}
	if got := b.read(kept); got.Status != port.JobQueued || !got.NextAttempt.Equal(kept.NextAttempt) || got.Tries != 1 {
		t.Errorf("interrupted between two attempts: %+v, it was %+v", got, kept)
	}
}

// A job that is cancelled after its process died ends where it is taken over, without
// another attempt.
func TestCancelledBeforeItIsTakenOver(t *testing.T) {
	b := newBed(t)
	runs := make(chan bool, 1)
	dead := b.join("place", job.Settings{Poll: time.Hour}, job.Kind{Name: "work",
		Run: func(ctx context.Context, j *job.Job) error {
			runs <- true
			return untilStopped(ctx, j)
		}})
	dead.run()
	j := dead.start("work", job.Order{Partition: b.docs("x")})
	receive(t, "it runs", runs)
	again := job.Kind{Name: "work", Run: func(context.Context, *job.Job) error {
		t.Error("it is attempted again")
		return nil
	}}
	other := b.join("b", job.Settings{}, again)
	if got, err := other.Cancel(t.Context(), j.Org, j.ID); err != nil || got.Status != port.JobRunning {
		t.Fatalf("cancelled: %+v, %v", got, err)
	}
	b.serve("place", again)
	if end := b.ends(j, port.JobCancelled); end.Tries != 1 || end.Error == nil || end.Error.Code != string(fault.Canceled) {
		t.Errorf("ended: %+v", end)
	}
	if b.held(other, j) {
		t.Error("its claim stays behind")
	}
}

// A queued job that is cancelled in the moment in which its attempt begins has ended
// then: it is neither attempted nor ended again.
func TestCancelledAsItBegins(t *testing.T) {
	b := newBed(t)
	s := b.serve("a", job.Kind{Name: "work", Lane: "one", Run: func(context.Context, *job.Job) error {
		t.Error("it is attempted")
		return nil
	}}, job.Kind{Name: "next", Lane: "one", Run: func(context.Context, *job.Job) error { return nil }})
	ended := make(chan port.Job, 1)
	started := make(chan port.Job, 1)
	b.store.OnJobUpdate.Set(func() error {
		b.store.OnJobUpdate.Clear()
		j := <-started
		got, err := s.Cancel(context.Background(), j.Org, j.ID)
		if err != nil || got.Status != port.JobCancelled {
			t.Errorf("cancelled: %+v, %v", got, err)
		}
		b.clock.Add(int64(time.Minute))
		ended <- got
		return nil
	})
	j := s.start("work", job.Order{Partition: b.docs("x")})
	started <- j
	want := receive(t, "it is cancelled", ended)
	b.ends(s.start("next", job.Order{Partition: b.docs("x")}), port.JobSucceeded)
	if got := b.read(j); got.Status != port.JobCancelled || !got.FinishedAt.Equal(want.FinishedAt.Truncate(time.Microsecond)) {
		t.Errorf("it is ended again: %+v, it was %+v", got, want)
	}
}

// A lane takes four jobs over at once, and leaves the others to other replicas. What
// was not attempted before is nothing to report.
func TestALaneTakesFourOver(t *testing.T) {
	b := newBed(t)
	runs := make(chan string, 6)
	kind := job.Kind{Name: "write", Lane: "write", Run: func(ctx context.Context, j *job.Job) error {
		runs <- j.ID
		return untilStopped(ctx, j)
	}}
	before := b.join("place", job.Settings{}, kind) // dies before it runs any
	var want []string
	for range 6 {
		want = append(want, before.start("write", job.Order{Partition: b.docs("x")}).ID)
	}
	log := &events{}
	s := b.join("place", job.Settings{Poll: 10 * time.Millisecond, Log: log.logger()}, kind)
	s.run()
	if got := receive(t, "the first", runs); got != want[0] {
		t.Errorf("%s runs, want %s", got, want[0])
	}
	var left []string
	b.view(func(r port.Reader) error {
		rows, err := r.UnclaimedJobs(t.Context(), port.Replica{ID: "b"}, nil, []string{"write"}, 10)
		for _, row := range rows {
			left = append(left, row.ID)
		}
		return err
	})
	if !slices.Equal(left, want[4:]) {
		t.Errorf("left to others: %v, want %v", left, want[4:])
	}
	s.stop()
	log.want(t, nil)
}

// A job that a process starts whose lease has lapsed is run by the replica that finds it.
func TestStartWithoutALease(t *testing.T) {
	b := newBed(t)
	ran := make(chan string, 2)
	kind := func(where string) job.Kind {
		return job.Kind{Name: "work", Run: func(context.Context, *job.Job) error { ran <- where; return nil }}
	}
	lapsed := b.join("place", job.Settings{Poll: time.Hour}, kind("where it was started"))
	s := b.serve("place", kind("where it was found"))
	j := lapsed.start("work", job.Order{Partition: b.docs("x")})
	b.ends(j, port.JobSucceeded)
	if got := receive(t, "it runs", ran); got != "where it was found" || len(ran) != 0 {
		t.Errorf("it ran %s, and %d times more", got, len(ran))
	}
	s.stop()
}

// While a job of a lane waits for its next attempt the lane waits with it.
func TestALaneWaitsForARetry(t *testing.T) {
	b := newBed(t)
	ran := make(chan string, 10)
	s := b.serve("a", job.Kind{Name: "first", Lane: "one", Tries: 2, Backoff: time.Millisecond,
		Run: func(_ context.Context, j *job.Job) error {
			if ran <- j.ID; j.Tries == 1 {
				return fault.New(fault.Unavailable, "not now")
			}
			return nil
		}}, job.Kind{Name: "second", Lane: "one", Run: func(_ context.Context, j *job.Job) error {
		ran <- j.ID
		return nil
	}})
	first, second := s.start("first", job.Order{Partition: b.docs("x")}), s.start("second", job.Order{Partition: b.docs("x")})
	for _, want := range []string{first.ID, first.ID, second.ID} {
		if got := receive(t, "an attempt", ran); got != want {
			t.Errorf("%s is attempted, want %s", got, want)
		}
	}
}

// A job that was given back until its next attempt is attempted when it is due, however
// rarely the store is polled.
func TestARetryIsDueBetweenPolls(t *testing.T) {
	b := newBed(t)
	s := b.join("a", job.Settings{Poll: time.Hour}, job.Kind{Name: "busy", Tries: 2, Backoff: 5 * time.Millisecond,
		Run: func(context.Context, *job.Job) error { return fault.New(fault.Unavailable, "not now") }})
	s.run()
	if end := b.ends(s.start("busy", job.Order{Partition: b.docs("x")}), port.JobFailed); end.Tries != 2 {
		t.Errorf("ended: %+v", end)
	}
}

// A store that refuses a runner its claims is asked again, and the places of what was
// not claimed are free once it answers. The log says what could not be done.
func TestClaimsAreRefused(t *testing.T) {
	for _, lane := range []string{"", "one"} {
		b := newBed(t)
		away := fault.New(fault.Unavailable, "the store is away")
		kind := job.Kind{Name: "work", Lane: lane, Run: func(context.Context, *job.Job) error { return nil }}
		lapsed := b.join("place", job.Settings{Poll: time.Hour}, kind)
		log := &events{}
		s := b.join("place", job.Settings{Workers: 2, Poll: 2 * time.Millisecond, Log: log.logger()}, kind)
		j := lapsed.start("work", job.Order{Partition: b.docs("x")})
		var refused atomic.Int32
		b.store.OnBackgroundUpdate.Set(func() error { refused.Add(1); return away })
		s.run()
		for began := time.Now(); refused.Load() < 8; time.Sleep(time.Millisecond) { // more than there are places
			if time.Since(began) > time.Minute {
				t.Fatalf("the store was asked %d times", refused.Load())
			}
		}
		log.has(t, "expired jobs not removed")
		log.has(t, "unclaimed jobs not taken over")
		if n := log.counts()["cancelled jobs not read"]; n != 0 {
			t.Errorf("cancelled jobs could not be read %d times", n)
		}
		b.store.OnView.Set(func() error { return away })
		log.has(t, "cancelled jobs not read")
		b.store.OnView.Clear()
		b.store.OnBackgroundUpdate.Clear()
		b.ends(j, port.JobSucceeded)
		s.stop()
	}
}

// What an attempt saves in a transaction of its work is stored with that, or not at all.
func TestSaveIn(t *testing.T) {
	b := newBed(t)
	refused := errors.New("not now")
	s := b.serve("a", job.Kind{Name: "work", Run: func(ctx context.Context, j *job.Job) error {
		save := func(done int, state any, then error) (now port.Job, err error) {
			err = b.store.Update(ctx, func(w port.Writer) error {
				return cmp.Or(j.SaveIn(ctx, w, done, 5, state), then)
			})
			return b.read(j.Job), err
		}
		if now, err := save(2, note{"half"}, nil); err != nil || now.Done != 2 || now.Total != 5 ||
			string(now.State) != `{"text":"half"}` {
			t.Errorf("saved: %+v, %v", now, err)
		}
		if now, err := save(3, note{"more"}, refused); !errors.Is(err, refused) || now.Done != 2 ||
			string(now.State) != `{"text":"half"}` {
			t.Errorf("saved though its transaction failed: %+v, %v", now, err)
		}
		if now, err := save(4, func() {}, nil); err == nil || now.Done != 2 {
			t.Errorf("saved what is no JSON: %+v, %v", now, err)
		}
		return nil
	}})
	b.ends(s.start("work", job.Order{Partition: b.docs("x")}), port.JobSucceeded)
}

// Progress that the store does not take is logged, unless the attempt is over.
func TestProgressIsRefused(t *testing.T) {
	b := newBed(t)
	log := &events{}
	kind := func(name string, progress func(ctx context.Context, j *job.Job)) job.Kind {
		return job.Kind{Name: name, Run: func(ctx context.Context, j *job.Job) error { progress(ctx, j); return nil }}
	}
	s := b.join("a", job.Settings{Poll: time.Hour, Log: log.logger()},
		kind("taken", func(ctx context.Context, j *job.Job) { j.Progress(ctx, 1, 2, nil) }),
		kind("refused", func(ctx context.Context, j *job.Job) {
			b.store.OnJobUpdate.Set(func() error { return errors.New("no such table") })
			defer b.store.OnJobUpdate.Clear()
			j.Progress(ctx, 1, 2, nil)
		}),
		kind("over", func(ctx context.Context, j *job.Job) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			j.Progress(ctx, 1, 2, nil)
		}))
	s.run()
	for _, kind := range []string{"taken", "refused", "over"} {
		b.ends(s.start(kind, job.Order{Partition: b.docs("x")}), port.JobSucceeded)
	}
	s.stop()
	log.want(t, map[string]int{"job progress not stored refused": 1})
}
