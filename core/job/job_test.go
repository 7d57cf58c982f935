package job_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
)

// bed is a store over which runners of several replicas run.
type bed struct {
	*testing.T
	store *coretest.Store
	org   ident.Org
	clock atomic.Int64 // nanoseconds beside time.Now
}

func newBed(t *testing.T) *bed {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bed{T: t, store: &coretest.Store{DocumentStore: s}}
	b.view(func(r port.Reader) error {
		o, err := r.OrganizationByName(t.Context(), ident.DefaultOrg)
		b.org = o.ID
		return err
	})
	return b
}

func (b *bed) view(fn func(port.Reader) error) {
	b.Helper()
	if err := b.store.View(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) docs(name string) port.Partition { return port.Documents(b.org, name) }

// now is the time of the runners' clocks.
func (b *bed) now() time.Time { return time.Now().Add(time.Duration(b.clock.Load())) }

// server is a runner with its place among the replicas.
type server struct {
	*job.Runner
	member *replica.Member
	bed    *bed
	halt   func() // ends its work, once: the replica goes on
	stop   func() // gracefully, once
}

// serve begins a server of a place that shares the store with others. The end of the
// test stops it.
func (b *bed) serve(place string, kinds ...job.Kind) *server {
	b.Helper()
	s := b.join(place, job.Settings{Workers: 2, Poll: 10 * time.Millisecond}, kinds...)
	s.run()
	return s
}

// join is serve without running jobs yet.
func (b *bed) join(place string, settings job.Settings, kinds ...job.Kind) *server {
	b.Helper()
	member, err := replica.Join(b.Context(), replica.Settings{
		Store: b.store,
		ID:    place,
		Lease: time.Hour,
		Log:   slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	settings.Store, settings.Replica, settings.Now = b.store, member, b.now
	s := &server{Runner: job.New(settings), member: member, bed: b, halt: func() {}, stop: func() {}}
	for _, k := range kinds {
		k.Keep = cmp.Or(k.Keep, time.Hour) // or the first sweep could be late and remove what has ended
		s.Register(k)
	}
	return s
}

func (s *server) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Runner.Run(ctx) })
	s.halt = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	s.stop = sync.OnceFunc(func() {
		s.halt()
		if err := s.member.Leave(context.Background()); err != nil {
			s.bed.Error(err)
		}
	})
	s.bed.Cleanup(s.stop)
}

// start starts a job and fails the test where that is refused.
func (s *server) start(kind string, o job.Order) port.Job {
	s.bed.Helper()
	j, _, err := s.Start(s.bed.Context(), kind, o)
	if err != nil {
		s.bed.Fatal(err)
	}
	return j
}

// attempted checks how the attempts of this server have ended.
func (s *server) attempted(want map[job.Attempt]int64) {
	s.bed.Helper()
	if got := s.Attempts(); !maps.Equal(got, want) {
		s.bed.Errorf("attempts: %v, want %v", got, want)
	}
}

func (b *bed) read(j port.Job) (now port.Job) {
	b.Helper()
	b.view(func(r port.Reader) (err error) {
		now, err = r.Job(b.Context(), j.Org, j.ID)
		return err
	})
	return now
}

// becomes waits until a job is as a test wants it.
func (b *bed) becomes(j port.Job, what string, is func(port.Job) bool) port.Job {
	b.Helper()
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		now := b.read(j)
		if is(now) {
			return now
		}
		if time.Since(began) > time.Minute {
			b.Fatalf("%s: %+v", what, now)
		}
	}
}

func (b *bed) ends(j port.Job, status port.JobStatus) port.Job {
	b.Helper()
	now := b.becomes(j, "waiting for its end", func(j port.Job) bool { return j.Status.Ended() })
	if now.Status != status || now.FinishedAt.IsZero() || !now.NextAttempt.IsZero() || now.State != nil {
		b.Fatalf("ended as %+v (%+v), want %s", now, now.Error, status)
	}
	return now
}

func receive[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing: " + what)
	}
	return v
}

func wantFault(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// untilStopped runs until its context ends.
func untilStopped(ctx context.Context, _ *job.Job) error {
	<-ctx.Done()
	return ctx.Err()
}

type note struct {
	Text string `json:"text"`
}

// A job runs as the caller who started it, with what was asked for, and ends in the
// transaction of its work; then its request is gone and its result stays for as long
// as its kind says.
func TestRun(t *testing.T) {
	b := newBed(t)
	who := ident.Principal{KeyID: "key_1", Org: b.org}
	s := b.serve("a", job.Kind{Name: "copy", Prefix: "op", Keep: time.Hour, Run: func(ctx context.Context, j *job.Job) error {
		var in note
		if err := j.Request(&in); err != nil {
			return err
		}
		if got := ident.From(ctx).KeyID; got != who.KeyID || j.Tries != 1 || j.Status != port.JobRunning {
			t.Errorf("it runs as %q: %+v", got, j.Job)
		}
		if had, err := j.Load(&in); had || err != nil {
			t.Errorf("a fresh job has a state: %v, %v", had, err)
		}
		return b.store.Update(ctx, func(w port.Writer) error {
			if err := w.PutSecret(ctx, in.Text, []byte("x")); err != nil {
				return err
			}
			return j.Finish(ctx, w, note{"done: " + in.Text})
		})
	}}, job.Kind{Name: "bare", Run: func(ctx context.Context, j *job.Job) error {
		if ident.Known(ctx) != nil {
			t.Error("a job that nobody asked for has a principal")
		}
		return nil
	}})
	began := b.now()
	j, _, err := s.Start(ident.WithPrincipal(t.Context(), who), "copy",
		job.Order{Partition: b.docs("notes"), Total: 3, Request: note{"milk"}})
	if err != nil {
		t.Fatal(err)
	}
	if j.Status != port.JobRunning || j.Total != 3 || j.Done != 0 || j.Tries != 1 || j.Org != b.org ||
		j.Partition != b.docs("notes") ||
		!strings.HasPrefix(j.ID, "op_") || j.CreatedAt.Before(began) || !j.UpdatedAt.Equal(j.CreatedAt) {
		t.Errorf("started: %+v", j)
	}
	end := b.ends(j, port.JobSucceeded)
	if string(end.Result) != `{"text":"done: milk"}` || end.Done != 3 || end.Total != 3 || end.Tries != 1 || end.Error != nil ||
		end.StartedAt.Before(j.CreatedAt.Truncate(time.Microsecond)) || end.FinishedAt.Before(end.StartedAt) ||
		!end.ExpiresAt.Equal(end.FinishedAt.Add(time.Hour)) ||
		end.UpdatedAt.Before(end.FinishedAt) {
		t.Errorf("ended: %+v", end)
	}
	b.view(func(r port.Reader) error {
		if v, err := r.Secret(t.Context(), "milk"); string(v) != "x" {
			t.Errorf("its work: %q, %v", v, err)
		}
		_, err := r.JobRequest(t.Context(), j.Org, j.ID)
		wantFault(t, "the request of an ended job", err, fault.NotFound)
		return nil
	})
	bare := s.start("bare", job.Order{Partition: b.docs("notes")})
	if end := b.ends(bare, port.JobSucceeded); end.Result != nil || !strings.HasPrefix(end.ID, "job_") {
		t.Errorf("without a result: %+v", end)
	}
	if _, _, err := s.Start(t.Context(), "unknown", job.Order{Partition: b.docs("notes")}); err == nil {
		t.Error("a job of an unknown kind was started")
	}
	if _, _, err := s.Start(t.Context(), "copy", job.Order{Partition: b.docs("notes"), Request: func() {}}); err == nil {
		t.Error("a request that is no JSON was stored")
	}
	refused := errors.New("not now")
	order := func(then error) job.Order {
		in := func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
			return b.store.Update(ctx, func(w port.Writer) error {
				return errors.Join(store(w, b.docs("notes").At(7)), then)
			})
		}
		return job.Order{Partition: b.docs("notes"), In: in}
	}
	if _, _, err = s.Start(t.Context(), "bare", order(refused)); !errors.Is(err, refused) {
		t.Errorf("a transaction that fails stores it: %v", err)
	}
	b.view(func(r port.Reader) error {
		found, err := r.Jobs(t.Context(), port.JobList{Kind: "bare"})
		if len(found) != 1 {
			t.Errorf("stored all the same: %+v", found)
		}
		return err
	})
	named := s.start("bare", order(nil))
	if named.Partition != b.docs("notes").At(7) || named.ID == bare.ID {
		t.Errorf("in a transaction of the caller: %+v", named)
	}
	b.ends(named, port.JobSucceeded)
}

// One that fails says why, in what its caller may know, and fails alone.
func TestFailures(t *testing.T) {
	b := newBed(t)
	fails := func(name string, err error) job.Kind {
		return job.Kind{Name: name, Lane: "all", Run: func(context.Context, *job.Job) error { return err }}
	}
	log := &events{}
	s := b.join("a", job.Settings{Poll: 10 * time.Millisecond, Log: log.logger()},
		fails("refused", fault.New(fault.InvalidRequest, "no such model")),
		fails("broken", errors.New("a secret cause")),
		fails("busy", fault.New(fault.Unavailable, "not now")), // one try
		job.Kind{Name: "panics", Lane: "all", Run: func(context.Context, *job.Job) error { panic("a secret cause") }},
		job.Kind{Name: "slow", Lane: "all", Timeout: 10 * time.Millisecond, Run: untilStopped},
		job.Kind{Name: "misread", Lane: "all", Run: func(_ context.Context, j *job.Job) error { return j.Request(new(int)) }},
		fails("good", nil))
	s.run()
	for _, c := range []struct{ kind, code, message string }{
		{"refused", "invalid_request", "no such model"},
		{"broken", "internal_error", "an internal error occurred"},
		{"busy", "unavailable", "not now"},
		{"panics", "internal_error", "an internal error occurred"},
		{"slow", "timeout", "the request took longer than its time limit"},
		{"misread", "internal_error", "an internal error occurred"},
	} {
		end := b.ends(s.start(c.kind, job.Order{Partition: b.docs("x"), Request: note{"x"}}), port.JobFailed)
		if want := (port.JobError{Code: c.code, Message: c.message}); end.Error == nil || *end.Error != want || end.Tries != 1 {
			t.Errorf("%s: %+v of %+v", c.kind, end.Error, end)
		}
	}
	b.ends(s.start("good", job.Order{Partition: b.docs("x")}), port.JobSucceeded)
	s.attempted(map[job.Attempt]int64{{Kind: "refused", Outcome: job.Failed}: 1, {Kind: "broken", Outcome: job.Failed}: 1,
		{Kind: "busy", Outcome: job.Failed}: 1, {Kind: "panics", Outcome: job.Failed}: 1, {Kind: "slow", Outcome: job.Failed}: 1,
		{Kind: "misread", Outcome: job.Failed}: 1, {Kind: "good", Outcome: job.Succeeded}: 1})
	s.stop()
	log.want(t, map[string]int{"job failed refused": 1, "job failed broken": 1, "job failed busy": 1, "job failed panics": 1,
		"job failed slow": 1, "job failed misread": 1})
}

// What answers Unavailable is tried again, not before its time, a bounded number of
// times; what it had saved is there.
func TestRetries(t *testing.T) {
	for _, lane := range []string{"", "one"} {
		t.Run("lane "+lane, func(t *testing.T) {
			b := newBed(t)
			var ran atomic.Int32
			s := b.serve("a", job.Kind{
				Name:       "flaky",
				Lane:       lane,
				Tries:      3,
				Backoff:    time.Millisecond,
				MaxBackoff: 2 * time.Millisecond,
				Run: func(ctx context.Context, j *job.Job) error {
					n := int(ran.Add(1))
					var seen int
					if had, err := j.Load(&seen); err != nil || had != (n > 1) || seen != n-1 {
						t.Errorf("try %d finds the state %d, %v, %v", n, seen, had, err)
					}
					if err := j.Save(ctx, n, 9, n); err != nil {
						return err
					}
					if n < 3 {
						return fault.New(fault.Unavailable, "not now")
					}
					return nil
				},
			}, job.Kind{
				Name:    "never",
				Lane:    lane,
				Tries:   2,
				Backoff: time.Millisecond,
				Run: func(context.Context, *job.Job) error {
					return fault.New(fault.Unavailable, "not now")
				},
			}, job.Kind{Name: "later", Lane: lane, Tries: 2, Run: func(context.Context, *job.Job) error {
				return fault.New(fault.Unavailable, "not now").After(time.Hour)
			}})
			if end := b.ends(s.start("flaky", job.Order{Partition: b.docs("x"), Total: 9}), port.JobSucceeded); end.Tries != 3 ||
				end.Done != 3 || ran.Load() != 3 {
				t.Errorf("after %d attempts: %+v", ran.Load(), end)
			}
			if end := b.ends(s.start("never", job.Order{Partition: b.docs("x")}), port.JobFailed); end.Tries != 2 ||
				end.Error.Code != "unavailable" {
				t.Errorf("too often: %+v", end)
			}
			var before time.Time
			b.view(func(r port.Reader) (err error) { before, err = r.Now(t.Context()); return err })
			later := s.start("later", job.Order{Partition: b.docs("x")})
			got := b.becomes(later, "postponed", func(j port.Job) bool { return !j.NextAttempt.IsZero() })
			if got.Status != port.JobQueued || got.Tries != 1 || got.NextAttempt.Before(before.Add(time.Hour)) {
				t.Errorf("postponed: %+v, at %v", got, before)
			}
			if got, err := s.Cancel(t.Context(), later.Org, later.ID); err != nil || got.Status != port.JobCancelled {
				t.Errorf("cancel a postponed one: %+v, %v", got, err)
			}
			b.ends(later, port.JobCancelled)
			ran.Store(2) // flaky succeeds at once
			next := b.ends(s.start("never", job.Order{Partition: b.docs("x")}), port.JobFailed)
			if next.Tries != 2 {
				t.Errorf("what comes after a cancelled one: %+v", next)
			}
			counts := s.Attempts()
			delete(counts, job.Attempt{Kind: "later", Outcome: job.Cancelled}) // a lane holds it, or nobody does
			if want := map[job.Attempt]int64{
				{Kind: "flaky", Outcome: job.Postponed}: 2, {Kind: "flaky", Outcome: job.Succeeded}: 1,
				{Kind: "never", Outcome: job.Postponed}: 2, {Kind: "never", Outcome: job.Failed}: 2,
				{Kind: "later", Outcome: job.Postponed}: 1,
			}; !maps.Equal(counts, want) {
				t.Errorf("attempts: %v, want %v", counts, want)
			}
		})
	}
}

// Waits double up to their bound, and a fault's own RetryAfter counts for more.
func TestBackoff(t *testing.T) {
	b := newBed(t)
	waits := make(chan time.Duration, 10)
	s := b.join("a", job.Settings{Log: slog.New(postponed{slog.DiscardHandler, waits})},
		job.Kind{
			Name:       "flaky",
			Lane:       "x",
			Tries:      6,
			Backoff:    2 * time.Millisecond,
			MaxBackoff: 9 * time.Millisecond,
			Run: func(_ context.Context, j *job.Job) error {
				err := fault.New(fault.Unavailable, "not now")
				if j.Tries == 5 {
					err = err.After(12 * time.Millisecond)
				}
				return err
			},
		},
		job.Kind{
			Name:  "plain",
			Lane:  "x",
			Tries: 2,
			Run:   func(context.Context, *job.Job) error { return fault.New(fault.Unavailable, "not now") },
		})
	s.run()
	b.ends(s.start("flaky", job.Order{Partition: b.docs("x")}), port.JobFailed)
	for _, want := range []time.Duration{2, 4, 8, 9, 12} {
		if got := receive(t, "a wait", waits); got != want*time.Millisecond {
			t.Errorf("waited %v, want %v ms", got, want)
		}
	}
	j := s.start("plain", job.Order{Partition: b.docs("x")})
	if got := receive(t, "a wait", waits); got != time.Second {
		t.Errorf("a kind that says nothing waits %v", got)
	}
	if _, err := s.Cancel(t.Context(), j.Org, j.ID); err != nil {
		t.Error(err)
	}
}

// postponed hands the waits of the log's "job postponed" on.
type postponed struct {
	slog.Handler
	waits chan time.Duration
}

func (p postponed) Enabled(context.Context, slog.Level) bool { return true }
func (p postponed) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Message == "job postponed" && a.Key == "wait" {
			p.waits <- a.Value.Duration()
		}
		return true
	})
	return nil
}

// Jobs of a lane run one after the other in the order of their start, those without
// one side by side as far as there are workers, and none is lost.
func TestLanes(t *testing.T) {
	b := newBed(t)
	var mu sync.Mutex
	var order []string
	var together, most atomic.Int32
	goOn := make(chan struct{})
	run := func(ctx context.Context, j *job.Job) error {
		n := together.Add(1)
		defer together.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-goOn
		mu.Lock()
		defer mu.Unlock()
		order = append(order, j.ID)
		return nil
	}
	s := b.serve("a", job.Kind{Name: "write", Lane: "one", Run: run}, job.Kind{Name: "other", Lane: "one", Run: run},
		job.Kind{Name: "free", Run: run})
	var all []port.Job
	var started []string
	for i := range 6 {
		j := s.start([]string{"write", "other"}[i%2], job.Order{Partition: b.docs("x")})
		all, started = append(all, j), append(started, j.ID)
	}
	b.becomes(all[0], "the first runs", func(j port.Job) bool { return j.Status == port.JobRunning })
	close(goOn)
	for _, j := range all {
		b.ends(j, port.JobSucceeded)
	}
	if most.Load() != 1 || !slices.Equal(order, started) {
		t.Errorf("%d at once, %v, want %v", most.Load(), order, started)
	}

	most.Store(0)
	goOn = make(chan struct{})
	all = nil
	for range 5 {
		all = append(all, s.start("free", job.Order{Partition: b.docs("x")}))
	}
	for began := time.Now(); most.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("nothing runs side by side")
		}
	}
	close(goOn)
	for _, j := range all {
		b.ends(j, port.JobSucceeded)
	}
	if most.Load() != 2 {
		t.Errorf("%d run at once with two workers", most.Load())
	}
}

// A queue that is full refuses more, with a time to come back, and takes more once
// one has ended. A job on which another one waits is joined where the kind says so.
func TestQueue(t *testing.T) {
	b := newBed(t)
	goOn := make(chan struct{})
	run := func(ctx context.Context, j *job.Job) error {
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	s := b.serve("a", job.Kind{Name: "write", Lane: "write", Queue: 2, Keep: time.Hour, Run: run}, job.Kind{
		Name:   "build",
		Lane:   "build",
		Single: true,
		Queue:  2,
		Keep:   time.Hour,
		Run:    run,
	})
	x := job.Order{Partition: b.docs("x")}
	first, _ := s.start("write", x), s.start("write", x)
	_, _, err := s.Start(t.Context(), "write", x)
	wantFault(t, "a full queue", err, fault.Unavailable)
	if f := fault.From(err); f.RetryAfter != 5*time.Second {
		t.Errorf("come back after %v", f.RetryAfter)
	}
	one := s.start("build", x)
	for range 3 {
		if j, joined, err := s.Start(t.Context(), "build", x); err != nil || !joined || j.ID != one.ID {
			t.Errorf("a second one on the same partition: %+v, %v, %v", j, joined, err)
		}
	}
	if j := s.start("build", job.Order{Partition: b.docs("y")}); j.ID == one.ID {
		t.Error("a job on another partition was joined")
	}
	if j, known, err := s.Latest(t.Context(), "build", b.docs("x").At(9)); err != nil || !known || j.ID != one.ID {
		t.Errorf("the latest: %+v, %v, %v", j, known, err)
	}
	if _, known, err := s.Latest(t.Context(), "build", b.docs("z")); err != nil || known {
		t.Errorf("the latest of nothing: %v, %v", known, err)
	}
	close(goOn)
	b.ends(first, port.JobSucceeded)
	b.ends(one, port.JobSucceeded)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, _, err := s.Start(t.Context(), "write", x); err == nil {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the queue stays full")
		}
	}
	again, _, err := s.Start(t.Context(), "build", x)
	for began := time.Now(); err != nil && time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		again, _, err = s.Start(t.Context(), "build", x) // its place is given back after the end is stored
	}
	if err != nil || again.ID == one.ID {
		t.Errorf("after the end of a job: %v, %v", again.ID, err)
	}
}

// A job whose transaction has committed, but whose Start has not returned, is not taken
// for a lost one, and can be cancelled.
func TestStartUnderWay(t *testing.T) {
	b := newBed(t)
	var runs atomic.Int32
	s := b.serve("a", job.Kind{Name: "work", Keep: time.Hour, Run: func(ctx context.Context, j *job.Job) error {
		runs.Add(1)
		if j.Resumed || j.Tries != 1 {
			t.Errorf("it runs as an attempt that follows another: %+v", j.Job)
		}
		return ctx.Err()
	}}, job.Kind{Name: "probe", Keep: time.Hour, Run: func(context.Context, *job.Job) error { return nil }})
	start := func(after func(id string)) port.Job {
		t.Helper()
		o := job.Order{Partition: b.docs("x")}
		o.In = func(ctx context.Context, store func(job.Writer, port.Partition) error) error {
			if err := b.store.Update(ctx, func(w port.Writer) error { return store(w, o.Partition) }); err != nil {
				return err
			}
			var id string
			b.view(func(r port.Reader) error {
				found, err := r.Jobs(ctx, port.JobList{Kind: "work", Partition: o.Partition, Limit: 1})
				id = found[0].ID
				return err
			})
			after(id)
			return nil
		}
		j := s.start("work", o)
		return j
	}
	j := start(func(string) {
		for range 5 { // each that ends has unclaimed jobs looked for
			b.ends(s.start("probe", job.Order{Partition: b.docs("y")}), port.JobSucceeded)
		}
		if runs.Load() != 0 {
			t.Error("it runs before it is started")
		}
	})
	if b.ends(j, port.JobSucceeded); runs.Load() != 1 {
		t.Errorf("it ran %d times", runs.Load())
	}
	j = start(func(id string) {
		if _, err := s.Cancel(t.Context(), b.org, id); err != nil {
			t.Error(err)
		}
	})
	b.ends(j, port.JobCancelled)
}

// Cancelling ends a queued job at once and a running one through its context,
// wherever it runs; what has ended, or must be done, cannot be cancelled.
func TestCancel(t *testing.T) {
	b := newBed(t)
	began := make(chan string, 10)
	var ignored atomic.Bool
	kinds := func() []job.Kind {
		return []job.Kind{
			{Name: "wait", Lane: "one", Keep: time.Hour, Run: func(ctx context.Context, j *job.Job) error {
				began <- j.ID
				<-ctx.Done()
				if ignored.Load() {
					return nil
				}
				return ctx.Err()
			}},
			{Name: "must", Lane: "two", Final: true, Run: untilStopped},
		}
	}
	s := b.serve("a", kinds()...)
	cancel := func(s *server, j port.Job) port.Job {
		t.Helper()
		got, err := s.Cancel(t.Context(), j.Org, j.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	running, queued := s.start("wait", job.Order{Partition: b.docs("x"), Request: note{"x"}}),
		s.start("wait", job.Order{Partition: b.docs("x")})
	receive(t, "it runs", began)
	if got := cancel(s, queued); got.Status != port.JobCancelled ||
		*got.Error != (port.JobError{Code: "canceled", Message: "the job was cancelled"}) {
		t.Errorf("a queued one: %+v", got)
	}
	passed := b.ends(queued, port.JobCancelled)
	if passed.Tries != 0 || !passed.StartedAt.IsZero() || !passed.ExpiresAt.Equal(passed.FinishedAt.Add(time.Hour)) {
		t.Errorf("a queued one: %+v", passed)
	}
	b.clock.Add(int64(time.Minute))
	if got := cancel(s, running); got.Status != port.JobRunning || !got.Cancel {
		t.Errorf("a running one: %+v", got)
	}
	if n := s.Attempts()[job.Attempt{Kind: "wait", Outcome: job.Failed}]; n != 0 {
		t.Errorf("%d attempts failed", n)
	}
	if got := b.ends(running, port.JobCancelled); got.Error == nil || got.Error.Code != "canceled" {
		t.Errorf("a running one: %+v", got)
	}
	if got := cancel(s, running); got.Status != port.JobCancelled {
		t.Errorf("cancelling twice: %+v", got)
	}

	// At another replica.
	other := b.serve("b", kinds()...)
	running = s.start("wait", job.Order{Partition: b.docs("x")})
	if id := receive(t, "it runs", began); id != running.ID {
		t.Errorf("%s runs, want %s", id, running.ID)
	}
	if got := b.read(passed); !got.FinishedAt.Equal(passed.FinishedAt) || !got.UpdatedAt.Equal(passed.UpdatedAt) {
		t.Errorf("its lane ends it again: %+v, it was %+v", got, passed)
	}
	queued = s.start("wait", job.Order{Partition: b.docs("x")})
	cancel(other, queued)
	b.ends(queued, port.JobCancelled)
	cancel(other, running)
	b.ends(running, port.JobCancelled)

	// What ends well all the same has ended well.
	ignored.Store(true)
	running = s.start("wait", job.Order{Partition: b.docs("x")})
	receive(t, "it runs", began)
	cancel(s, running)
	b.ends(running, port.JobSucceeded)
	_, err := s.Cancel(t.Context(), running.Org, running.ID)
	wantFault(t, "one that has ended", err, fault.Conflict)

	must := s.start("must", job.Order{Partition: b.docs("x")})
	_, err = s.Cancel(t.Context(), must.Org, must.ID)
	wantFault(t, "one that must be done", err, fault.Conflict)
	_, err = s.Cancel(t.Context(), b.org, "job_none")
	wantFault(t, "an unknown one", err, fault.NotFound)
	// Claims of ended jobs do not stay behind.
	s.stop()
	other.stop()
	for _, j := range []port.Job{queued, running} {
		b.view(func(r port.Reader) error {
			_, err := r.JobRequest(t.Context(), j.Org, j.ID)
			wantFault(t, "the request of a cancelled job", err, fault.NotFound)
			return nil
		})
	}
}
