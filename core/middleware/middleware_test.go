package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-kit/kit/endpoint"
	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
)

type verifier func(bearer string) (ident.Principal, error)

func (v verifier) Verify(_ context.Context, bearer string, _ op.Family) (ident.Principal, error) {
	return v(bearer)
}

func anyone(bearer string) (ident.Principal, error) {
	return ident.Principal{KeyID: bearer, Org: "org_1"}, nil
}

func call(s op.Spec) *op.Call {
	return &op.Call{
		Spec:       &s,
		Transport:  "inprocess",
		RequestID:  "req_1",
		Credential: op.Credential{Bearer: "key_1"},
		Reply:      &op.Reply{},
		Decode:     func(context.Context, any) error { return nil },
	}
}

type meter struct {
	mu    sync.Mutex
	lines []string
}

func (m *meter) Begin(operation, transport string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, "begin "+operation+" "+transport)
}

func (m *meter) End(operation, transport, code string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, fmt.Sprintf("end %s %s %s %v", operation, transport, code, took >= 0))
}

func (m *meter) Degraded(operation, part, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, "degraded "+operation+" "+part+" "+reason)
}

func (m *meter) Refused(limit fault.Limit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, "refused "+string(limit))
}

// A call whose time is up is a failure of the server, unless the caller set that time.
func TestTimeoutLevels(t *testing.T) {
	for _, c := range []struct {
		name         string
		asked, limit time.Duration
		says         string
	}{
		{"the caller's limit", time.Millisecond, time.Hour, "level=INFO msg=call "},
		{"the operation's limit", 0, time.Millisecond, `level=ERROR msg="call failed"`},
		{"the operation's limit before the caller's", time.Hour, time.Millisecond, `level=ERROR msg="call failed"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			chain := middleware.Chain(middleware.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Keys: verifier(anyone)})
			x := call(op.Spec{Name: "notes.get", Timeout: c.limit})
			x.Timeout = c.asked
			_, err := chain(x.Spec)(func(ctx context.Context, _ any) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})(t.Context(), x)
			if fault.CodeOf(err) != fault.Timeout || !strings.Contains(log.String(), c.says) {
				t.Errorf("answered %v and logged %s, want %s", err, log.String(), c.says)
			}
		})
	}
	t.Run("a model's limit within the caller's", func(t *testing.T) {
		var log bytes.Buffer
		chain := middleware.Chain(middleware.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Keys: verifier(anyone)})
		x := call(op.Spec{Name: "notes.get"})
		x.Timeout = time.Hour
		_, _ = chain(x.Spec)(func(context.Context, any) (any, error) {
			return nil, fault.New(fault.Timeout, "the reranker did not answer in time")
		})(t.Context(), x)
		if !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("logged %s", log.String())
		}
	})
}

// Every way a call can end is measured and logged once, panics included.
func TestOutcomes(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		leaf  func(context.Context) error
		code  string
		level string
		says  string
	}{
		{"answer", t.Context(), func(context.Context) error { return nil }, "ok", "INFO", "msg=call"},
		{"caller's mistake", t.Context(), func(context.Context) error {
			return fmt.Errorf("query: %w", fault.New(fault.InvalidFilter, "filter.x"))
		}, "invalid_filter", "INFO", "query: invalid_filter"},
		{"foreign", t.Context(), func(context.Context) error { return errors.New("disk") }, "internal_error", "ERROR",
			"error=disk"},
		{"wrapped cause", t.Context(), func(context.Context) error {
			return fault.Wrap(fault.Unavailable, "commit", errors.New("no space"), "try later")
		}, "unavailable", "ERROR", `at=commit error="no space"`},
		{"panic", t.Context(), func(context.Context) error { panic("boom") }, "internal_error", "ERROR", "stack="},
		{"gone", gone, func(ctx context.Context) error { return fmt.Errorf("driver: %w", ctx.Err()) }, "canceled",
			"INFO", `msg="caller gone"`},
		{"no sources", t.Context(), func(context.Context) error { return fault.New(fault.SourcesUnavailable, "off") },
			"sources_unavailable", "INFO", "msg=call"},
		{"role off", t.Context(), func(context.Context) error {
			return fmt.Errorf("rerank: %w", fault.Off("the rerank model is off"))
		}, "unavailable", "INFO", `msg=call `},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			m := &meter{}
			chain := middleware.Chain(middleware.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Meter: m,
				Keys: verifier(anyone)})
			x := call(op.Spec{Name: "notes.get"})
			_, err := chain(x.Spec)(func(ctx context.Context, _ any) (any, error) { return "out", c.leaf(ctx) })(c.ctx, x)
			if c.code == "ok" != (err == nil) || err != nil && string(fault.CodeOf(err)) != c.code {
				t.Errorf("answered %v", err)
			}
			if got := strings.Join(m.lines, "; "); got != "begin notes.get inprocess; end notes.get inprocess "+c.code+" true" {
				t.Errorf("measured %s", got)
			}
			got := log.String()
			if strings.Count(got, "op=notes.get transport=") != 1 || !strings.Contains(got, "code="+c.code) ||
				!strings.Contains(got, "level="+c.level) ||
				!strings.Contains(got, c.says) || !strings.Contains(got, "request_id=req_1") ||
				!strings.Contains(got, "org=org_1 key=key_1") {
				t.Errorf("logged %s", got)
			}
			if c.level == "INFO" && strings.Contains(got, "ERROR") {
				t.Errorf("logged as a failure of ours: %s", got)
			}
		})
	}
}

// partial is an answer that may lack parts.
type partial [][2]string

func (p partial) Missing() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, m := range p {
			if !yield(m[0], m[1]) {
				return
			}
		}
	}
}

// Answers that lack parts and calls that a limit refused are counted, each once, and
// no other.
func TestWhatIsMissingAndRefusedIsCounted(t *testing.T) {
	for _, c := range []struct {
		out  any
		err  error
		want string
	}{
		{partial{{"vector", "timeout"}, {"rerank", "error"}}, nil,
			"degraded notes.get vector timeout; degraded notes.get rerank error; "},
		{partial{}, nil, ""},
		{"whole", nil, ""},
		{partial{{"vector", "timeout"}}, errors.New("broken"), ""},
		{nil, fault.Wrap(fault.Unavailable, "rerank", fault.Busy("wait"), "no reranker"), "refused model; "},
		{nil, fault.New(fault.Unavailable, "away"), ""},
	} {
		m := &meter{}
		chain := middleware.Chain(middleware.Options{Meter: m, Keys: verifier(anyone)})
		x := call(op.Spec{Name: "notes.get"})
		_, _ = chain(x.Spec)(func(context.Context, any) (any, error) { return c.out, c.err })(t.Context(), x)
		got := strings.Join(m.lines, "; ")
		if !strings.HasPrefix(got, "begin notes.get inprocess; "+c.want+"end notes.get ") || strings.Count(got, ";") !=
			1+strings.Count(c.want, ";") {
			t.Errorf("%v, %v is counted as %s", c.out, c.err, got)
		}
	}
}

// The two limits of this chain say which they are.
func TestLimitsNameThemselves(t *testing.T) {
	m := &meter{}
	gate := fair.NewGate(1, 0, time.Minute)
	chain := middleware.Chain(middleware.Options{Meter: m, Keys: verifier(anyone), Gate: gate, Limits: &middleware.Limits{
		Limiter: middleware.NewBuckets(nil), Rates: map[op.Class]ident.Rate{op.Read: {PerMinute: 1}}}})
	limited, heavy := call(op.Spec{Name: "notes.get", Class: op.Read}), call(op.Spec{Name: "notes.put", Class: op.Write})
	none := func(context.Context, any) (any, error) { return nil, nil }
	for range 2 {
		_, _ = chain(limited.Spec)(none)(t.Context(), limited)
	}
	leave, err := gate.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	_, _ = chain(heavy.Spec)(none)(t.Context(), heavy)
	var refused []string
	for _, line := range m.lines {
		if strings.HasPrefix(line, "refused") {
			refused = append(refused, line)
		}
	}
	if got := strings.Join(refused, "; "); got != "refused rate; refused calls" {
		t.Errorf("counted %s", got)
	}
}

func TestDeadline(t *testing.T) {
	shutting := fault.New(fault.Unavailable, "shutting down")
	for _, c := range []struct {
		name        string
		spec, asked time.Duration
		leaf        func(context.Context) error
		code        fault.Code
	}{
		{"expires", 20 * time.Millisecond, 0, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, fault.Timeout},
		{"default expires", 0, 0, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, fault.Timeout},
		{"lowered", time.Hour, 20 * time.Millisecond,
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, fault.Timeout},
		{"never raised", 20 * time.Millisecond, time.Hour,
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, fault.Timeout},
		{"a driver's own error", 20 * time.Millisecond, 0,
			func(ctx context.Context) error { <-ctx.Done(); return errors.New("interrupted") }, fault.Timeout},
		{"an adapter's fault", 20 * time.Millisecond, 0, func(ctx context.Context) error {
			<-ctx.Done()
			return fault.Wrap(fault.Unavailable, "embed", ctx.Err(), "the model did not answer")
		}, fault.Timeout},
		{"a late mistake stays one", 20 * time.Millisecond, 0,
			func(ctx context.Context) error { <-ctx.Done(); return fault.New(fault.Conflict, "x") }, fault.Conflict},
		{"late but done", 20 * time.Millisecond, 0, func(ctx context.Context) error { <-ctx.Done(); return nil }, ""},
		{"gave up within", time.Hour, 0, func(context.Context) error { return context.Canceled }, fault.Internal},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := call(op.Spec{})
			x.Timeout = c.asked
			_, err := middleware.Deadline(c.spec,
				20*time.Millisecond)(func(ctx context.Context, _ any) (any, error) { return "out", c.leaf(ctx) })(t.Context(), x)
			if fault.CodeOf(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := middleware.Deadline(time.Hour, time.Hour)(func(ctx context.Context, _ any) (any, error) {
		cancel(shutting)
		<-ctx.Done()
		return nil, ctx.Err()
	})(ctx, call(op.Spec{}))
	if !errors.Is(err, shutting) || fault.From(err).Message != shutting.Message {
		t.Errorf("cancelled with a fault: %v", err)
	}
}

// The chain keeps its order: nothing is read for a caller without a key, and
// nothing is charged.
func TestOrder(t *testing.T) {
	limits := &middleware.Limits{Limiter: middleware.NewBuckets(nil),
		Rates: map[op.Class]ident.Rate{op.Write: {PerMinute: 60, Burst: 1}}}
	keys := verifier(func(bearer string) (ident.Principal, error) {
		if bearer == "bad" {
			return ident.Principal{}, fault.New(fault.Unauthorized, "no")
		}
		return anyone(bearer)
	})
	reads := 0
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: keys, Limits: limits}), Admit: limits.Admit}
	op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(op.Spec{Name: "w", Method: "POST", Path: "/w", Class: op.Write},
		func(struct{}, context.Context, struct{}) (string, error) { return "done", nil })})
	try := func(bearer string) fault.Code {
		x := call(set.Routes()[0].Spec)
		x.Credential.Bearer = bearer
		x.Decode = func(context.Context, any) error { reads++; return nil }
		_, err := set.Routes()[0].Endpoint(t.Context(), x)
		return fault.CodeOf(err)
	}
	for _, c := range []struct {
		bearer string
		code   fault.Code
		reads  int
	}{{"", fault.Unauthorized, 0}, {"bad", fault.Unauthorized, 0}, {"key_1", "", 1}, {"key_1", fault.RateLimited, 1},
		{"key_2", "", 2}} {
		if got := try(c.bearer); got != c.code || reads != c.reads {
			t.Errorf("key %q: %q after %d reads, want %q after %d", c.bearer, got, reads, c.code, c.reads)
		}
	}
}

type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestBuckets(t *testing.T) {
	clock := &fakeClock{at: time.Unix(1_000_000, 0)}
	b := middleware.NewBuckets(clock.now)
	rate := ident.Rate{PerMinute: 600} // 10 a second, 60 at once
	take := func(key string, units int) middleware.Taken {
		t.Helper()
		got, err := b.Take(t.Context(), key, op.Read, rate, units, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := take("a", 1); !got.OK || got.Remaining != 59 || got.Reset != 100*time.Millisecond {
		t.Errorf("first: %+v", got)
	}
	if got := take("a", 60); got.OK || got.Remaining != 59 || got.Retry != 100*time.Millisecond {
		t.Errorf("one too many: %+v", got)
	}
	if got := take("a", 59); !got.OK || got.Remaining != 0 || got.Reset != 6*time.Second {
		t.Errorf("all: %+v", got)
	}
	if got := take("a", 1); got.OK || got.Retry != 100*time.Millisecond {
		t.Errorf("none left: %+v", got)
	}
	if got := take("b", 60); !got.OK {
		t.Errorf("another key: %+v", got)
	}
	clock.add(-time.Hour)
	if got := take("a", 1); got.OK {
		t.Errorf("a clock that goes back gave units: %+v", got)
	}
	clock.add(time.Second)
	if got := take("a", 10); !got.OK || got.Remaining != 0 {
		t.Errorf("after a second: %+v", got)
	}
	// A charge over the whole bucket waits for a full one and leaves a debt.
	clock.add(5 * time.Second)
	if got := take("a", 100); got.OK || got.Retry != time.Second {
		t.Errorf("a batch too early: %+v", got)
	}
	clock.add(time.Second)
	if got := take("a", 100); !got.OK || got.Remaining != 0 || got.Reset != 10*time.Second {
		t.Errorf("a batch: %+v", got)
	}
	clock.add(4 * time.Second)
	if got := take("a", 1); got.OK || got.Retry != 100*time.Millisecond {
		t.Errorf("in debt: %+v", got)
	}
}

// Over any time a key gets at most its burst and its rate, and what it is told
// to wait is enough.
func TestBucketsKeepTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := &fakeClock{at: time.Unix(1_000_000, 0)}
		start := clock.at
		b := middleware.NewBuckets(clock.now)
		rate := ident.Rate{PerMinute: rapid.IntRange(1, 6000).Draw(t, "rate"), Burst: rapid.IntRange(1, 100).Draw(t, "burst")}
		granted := 0
		for range rapid.IntRange(1, 200).Draw(t, "calls") {
			units := rapid.IntRange(1, rate.Burst).Draw(t, "units")
			got, err := b.Take(context.Background(), "k", op.Write, rate, units, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got.OK {
				granted += units
			} else if rapid.Bool().Draw(t, "waits") {
				clock.add(got.Retry + time.Microsecond)
				if got, _ := b.Take(context.Background(), "k", op.Write, rate, units, 0); !got.OK {
					t.Fatalf("refused after waiting: %+v", got)
				}
				granted += units
			}
			clock.add(time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "pause")))
			most := float64(rate.Burst) + clock.at.Sub(start).Minutes()*float64(rate.PerMinute)
			if float64(granted) > math.Ceil(most) {
				t.Fatalf("%d units granted where at most %.1f are", granted, most)
			}
		}
	})
}

// A caller that waits as long as it is told gets through the next time, however
// large its batch, and batches do not outrun the rate.
func TestBatchesGetThrough(t *testing.T) {
	for _, c := range []struct{ burst, units int }{{1, 1}, {1, 2}, {1, 100}, {2, 2}, {20, 19}, {20, 20}, {20, 21}, {20, 100}} {
		t.Run(fmt.Sprintf("%d of %d", c.units, c.burst), func(t *testing.T) {
			clock := &fakeClock{at: time.Unix(1_000_000, 0)}
			start := clock.now()
			l := &middleware.Limits{Limiter: middleware.NewBuckets(clock.now),
				Rates: map[op.Class]ident.Rate{op.Write: {PerMinute: 120, Burst: c.burst}}}
			spec := op.Spec{Class: op.Write}
			leaf := middleware.Limit(l)(func(ctx context.Context, request any) (any, error) {
				if c.units == 1 {
					return nil, nil
				}
				return nil, l.Admit(ctx, request.(*op.Call), op.Write, c.units-1)
			})
			try := func() error {
				x := call(spec)
				x.Caller = ident.Principal{KeyID: "key_1"}
				_, err := leaf(t.Context(), x)
				return err
			}
			const rounds = 10
			for range rounds {
				err := try()
				for waits := 0; err != nil; waits++ {
					f := fault.From(err)
					// The first refusal may come from the first unit, whose wait says
					// nothing of the rest.
					if f.Code != fault.RateLimited || f.RetryAfter <= 0 || waits == 2 {
						t.Fatalf("after %d waits: %v", waits, err)
					}
					clock.add(f.RetryAfter + time.Microsecond)
					err = try()
				}
			}
			least := time.Duration(float64(rounds*c.units-max(c.burst, c.units)-1) / 2 * float64(time.Second))
			if took := clock.now().Sub(start); took < least {
				t.Errorf("%d units in %s, want at least %s", rounds*c.units, took, least)
			}
		})
	}
}

func TestAdmitHeaders(t *testing.T) {
	clock := &fakeClock{at: time.Unix(1_000_000, 0)}
	l := &middleware.Limits{Limiter: middleware.NewBuckets(clock.now), Rates: map[op.Class]ident.Rate{
		op.Read: {PerMinute: 600, Burst: 60}, op.Rerank: {PerMinute: 120, Burst: 2}}}
	x := call(op.Spec{Class: op.Read})
	x.Caller = ident.Principal{KeyID: "key_1"}
	for _, c := range []struct {
		class op.Class
		units int
	}{{op.Read, 1}, {op.Read, 2}, {op.Rerank, 1}, {op.Write, 1}, {op.Free, 1}} {
		if err := l.Admit(t.Context(), x, c.class, c.units); err != nil {
			t.Fatal(err)
		}
	}
	if got := x.Reply.Header["RateLimit-Policy"]; got != `"read";q=600;w=60, "rerank";q=120;w=60` {
		t.Errorf("policy %s", got)
	}
	if got := x.Reply.Header["RateLimit"]; got != `"read";r=57;t=1, "rerank";r=1;t=1` {
		t.Errorf("limit %s", got)
	}
	err := l.Admit(t.Context(), x, op.Rerank, 2)
	f := fault.From(err)
	if f == nil || f.Code != fault.RateLimited || f.RetryAfter != 500*time.Millisecond || !strings.Contains(f.Message, "rerank") {
		t.Errorf("%v after %s", err, f.RetryAfter)
	}
	var none *middleware.Limits
	if err := none.Admit(t.Context(), x, op.Read, 1e6); err != nil {
		t.Errorf("no limits: %v", err)
	}
}

func TestGate(t *testing.T) {
	g := fair.NewGate(1, 1, 50*time.Millisecond)
	leave, err := g.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Enter(t.Context()); fault.CodeOf(err) != fault.Unavailable || fault.From(err).RetryAfter != time.Second {
		t.Errorf("waited too long: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("left while waiting: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		leave, err := g.Enter(t.Context())
		if err == nil {
			leave()
		}
		got <- err
	}()
	for g.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := g.Enter(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a full queue: %v", err)
	}
	leave()
	if err := <-got; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
	if g.InUse() != 0 || g.Waiting() != 0 {
		t.Errorf("%d in use, %d waiting", g.InUse(), g.Waiting())
	}
}

// A slot is held by the work alone: not while the input is read, and not after
// a panic.
func TestConcurrencySlot(t *testing.T) {
	g := fair.NewGate(1, 0, time.Second)
	x := call(op.Spec{})
	x.Decode = func(context.Context, any) error {
		if g.InUse() != 0 {
			t.Error("a slot is held while the input is read")
		}
		return nil
	}
	leaf := func(ctx context.Context, request any) (any, error) {
		if err := request.(*op.Call).Decode(ctx, nil); err != nil {
			return nil, err
		}
		if g.InUse() != 1 {
			t.Error("no slot is held while the work is done")
		}
		panic("boom")
	}
	for range 3 {
		_, err := endpoint.Chain(middleware.Recover(slog.New(slog.DiscardHandler)), middleware.Concurrency(g))(leaf)(t.Context(),
			x)
		if fault.CodeOf(err) != fault.Internal {
			t.Fatal(err)
		}
		if g.InUse() != 0 {
			t.Fatal("a panic kept the slot")
		}
	}
}

func BenchmarkChain(b *testing.B) {
	limits := &middleware.Limits{Limiter: middleware.NewBuckets(nil),
		Rates: map[op.Class]ident.Rate{op.Read: {PerMinute: 1e9, Burst: 1e9}}}
	chain := middleware.Chain(middleware.Options{
		Keys:   verifier(anyone),
		Limits: limits,
		Gate:   fair.NewGate(8, 8, time.Second),
		Meter:  &meterOff{},
	})
	spec := op.Spec{Name: "x", Class: op.Read}
	e := chain(&spec)(func(context.Context, any) (any, error) { return nil, nil })
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e(b.Context(), call(spec)); err != nil {
			b.Fatal(err)
		}
	}
}

type meterOff struct{}

func (meterOff) Begin(string, string)                      {}
func (meterOff) End(string, string, string, time.Duration) {}
func (meterOff) Degraded(string, string, string)           {}
func (meterOff) Refused(fault.Limit)                       {}

// A configured time-out takes the place of the operation's, and the caller's wish
// only lowers it.
func TestAConfiguredTimeoutReplacesTheSpecs(t *testing.T) {
	keys := verifier(anyone)
	for name, c := range map[string]struct {
		own, configured, asked, want time.Duration
	}{
		"configured": {time.Hour, 2 * time.Hour, 0, 2 * time.Hour},
		"none":       {time.Hour, 0, 0, time.Hour},
		"asked":      {time.Hour, 3 * time.Hour, 2 * time.Hour, 2 * time.Hour},
		"neither":    {0, 0, 0, 4 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := op.Spec{Name: "x", Timeout: c.own}
			x := call(s)
			x.Timeout = c.asked
			chain := middleware.Chain(middleware.Options{
				Keys:           keys,
				DefaultTimeout: 4 * time.Hour,
				Timeout:        func(*op.Spec) time.Duration { return c.configured },
			})
			_, err := chain(&s)(func(ctx context.Context, _ any) (any, error) {
				end, ok := ctx.Deadline()
				if left := time.Until(end); !ok || left > c.want || left < c.want-30*time.Minute {
					t.Errorf("%s left (a deadline: %v), want %s", left, ok, c.want)
				}
				return nil, nil
			})(t.Context(), x)
			if err != nil || s.Timeout != c.own {
				t.Errorf("%v; the Spec says %s", err, s.Timeout)
			}
		})
	}
}

// scoped is a request that addresses a namespace.
type scoped struct {
	Namespace string `path:"namespace" json:"-" schema:"NamespaceName"`
}

func (s *scoped) NamespaceName() string { return s.Namespace }

// The log names the namespace that a call addresses, and no name that is not one.
func TestTheLogNamesTheNamespace(t *testing.T) {
	for name, want := range map[string]bool{"docs": true, "No name": false} {
		var log bytes.Buffer
		set := &op.Set{Chain: middleware.Chain(middleware.Options{Log: slog.New(slog.NewTextHandler(&log, nil)),
			Keys: verifier(anyone), Gate: fair.NewGate(8, 8, time.Second)})}
		spec := op.Spec{Name: "notes.get", Method: "GET", Path: "/notes/{namespace}", Class: op.Read}
		op.Mount(set, struct{}{}, []op.Op[struct{}]{op.Define(spec,
			func(struct{}, context.Context, scoped) (scoped, error) { return scoped{}, nil })})
		r := set.Routes()[0]
		c := call(r.Spec)
		c.Decode = func(_ context.Context, dst any) error { dst.(*scoped).Namespace = name; return nil }
		if _, err := r.Endpoint(t.Context(), c); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
		got := log.String()
		if strings.Contains(got, " namespace=") != want || want && !strings.Contains(got, " namespace=docs") {
			t.Errorf("%q is logged as %s", name, got)
		}
	}
}
