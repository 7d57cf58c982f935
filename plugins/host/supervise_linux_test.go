package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host"
)

// logged are options whose log tells the number of the running process.
func logged(o host.Options) (host.Options, *safe) {
	log := new(safe)
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	return o, log
}

var served = regexp.MustCompile(`backend started.* pid=(\d+)`)

// pid is the number of the process that served last.
func pid(t *testing.T, log *safe) int {
	t.Helper()
	all := served.FindAllStringSubmatch(log.String(), -1)
	if len(all) == 0 {
		t.Fatalf("no process in the log:\n%s", log.String())
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// alive tells whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

// within waits for a condition.
func within(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", d, what)
		}
	}
}

// TestKillUnderLoad: a backend killed while many call it costs its callers faults
// that say when to come back, never a wrong answer or a wait, and serves again soon.
func TestKillUnderLoad(t *testing.T) {
	o, log := logged(host.Options{MTLS: true, BatchTexts: 4})
	m := open(t, o, "slow", "2ms")
	texts := []string{"one", "two two", "three", "four", "five", "six"}
	stop := make(chan struct{})
	var good, refused atomic.Int64
	var slowest atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				d, err := embed(context.Background(), m, texts...)
				if took := int64(time.Since(began)); took > slowest.Load() {
					slowest.Store(took)
				}
				switch {
				case err == nil && right(d, texts...):
					good.Add(1)
				case err == nil:
					t.Error("a wrong answer")
				case fault.CodeOf(err) == fault.Unavailable && fault.From(err).RetryAfter >= time.Second:
					refused.Add(1)
					time.Sleep(time.Millisecond)
				default:
					t.Errorf("%v, retry after %s", err, fault.From(err).RetryAfter)
				}
			}
		})
	}
	var longest time.Duration
	for range 3 {
		time.Sleep(200 * time.Millisecond)
		killed := pid(t, log)
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		within(t, time.Minute, "it serves again", func() bool { return pid(t, log) != killed })
		before := good.Load()
		within(t, time.Minute, "a call is answered", func() bool { return good.Load() > before })
		longest = max(longest, time.Since(began))
	}
	close(stop)
	wg.Wait()
	t.Logf("RECOVERY of a Go backend after kill -9 under load: %s at most of 3; %d calls answered, %d refused, slowest call %s",
		longest.Round(time.Millisecond), good.Load(), refused.Load(), time.Duration(slowest.Load()).Round(time.Millisecond))
	if refused.Load() == 0 {
		t.Error("no call met the dead backend")
	}
	if time.Duration(slowest.Load()) > 20*time.Second {
		t.Error("a call hung")
	}
}

// TestExits: a backend that ends again and again is started again, later each time.
func TestExits(t *testing.T) {
	o, log := logged(host.Options{MTLS: true})
	m := open(t, o, "exit-after", "2")
	good := 0
	within(t, time.Minute, "6 answers of a backend that gives two a run", func() bool {
		d, err := embed(t.Context(), m, "a")
		if err == nil && right(d, "a") {
			good++
		} else if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%v", err)
		}
		return good >= 6
	})
	if n := strings.Count(log.String(), "exit status 7"); n < 2 {
		t.Errorf("%d ends in the log:\n%s", n, log.String())
	}
}

// unanswered calls until the backend gives an answer that is not "later".
func unanswered(t *testing.T, call func() error) error {
	t.Helper()
	var err error
	within(t, time.Minute, "another answer than later", func() bool {
		err = call()
		return fault.CodeOf(err) != fault.Unavailable
	})
	return err
}

// TestDeadlyText: a text that ends the backend ends it twice, once with others and once
// alone; then it is refused, and nobody else's texts are.
func TestDeadlyText(t *testing.T) {
	o, log := logged(host.Options{MTLS: true})
	m := open(t, o, "mortal")
	ends := func() int { return strings.Count(log.String(), "backend ended") }
	call := func() error {
		_, err := embed(t.Context(), m, "one", "EVIL", "three")
		return err
	}
	for range 2 {
		err := unanswered(t, call)
		f := fault.From(err)
		var text *port.TextError
		if f.Code != fault.Upstream || f.RetryAfter != 0 || !errors.As(err, &text) || text.Text != 1 ||
			f.Details["field"] != "texts[1]" {
			t.Fatalf("%v, details %v, retry after %s", err, f.Details, f.RetryAfter)
		}
	}
	if n := ends(); n != 2 {
		t.Errorf("the backend ended %d times", n)
	}
	var d port.Dense
	err := unanswered(t, func() (err error) {
		d, err = embed(t.Context(), m, "one", "three")
		return err
	})
	if err != nil || !right(d, "one", "three") {
		t.Errorf("the texts beside it: %v", err)
	}
	// The other side of a search is another input, and so is another task.
	if _, err := m.(port.Embedder).Embed(t.Context(), port.Query, []string{"one"}); err != nil {
		t.Error(err)
	}
	// A query that ends it is refused, and the texts that it was to rank are ranked for others.
	rank := func(query string) error {
		_, _, err := m.(port.Reranker).Score(t.Context(), query, []string{"one", "two"})
		return err
	}
	err = unanswered(t, func() error { return rank("EVIL?") })
	if f := fault.From(err); f.Code != fault.Upstream || f.Details["field"] != "query" {
		t.Errorf("%v, details %v", err, f.Details)
	}
	if n := ends(); n != 4 {
		t.Errorf("the backend ended %d times", n)
	}
	if err := unanswered(t, func() error { return rank("good") }); err != nil {
		t.Errorf("the texts beside it: %v", err)
	}
	if !strings.Contains(log.String(), `msg="model backend texts suspected"`) || strings.Contains(log.String(), "EVIL") {
		t.Errorf("the log:\n%s", log.String())
	}
}

// TestEndsBetweenAnswers: a backend that answers between its ends is started again as
// soon each time, whatever the number of ends.
func TestEndsBetweenAnswers(t *testing.T) {
	o, log := logged(host.Options{MTLS: true, MaxRestarts: 3})
	m := open(t, o, "mortal")
	for i := range 5 {
		if err := unanswered(t, func() error { _, err := embed(t.Context(), m, "good"); return err }); err != nil {
			t.Fatal(err)
		}
		if _, err := embed(t.Context(), m, "EVIL "+strconv.Itoa(i)); fault.CodeOf(err) != fault.Unavailable {
			t.Fatal(err)
		}
	}
	if err := unanswered(t, func() error { _, err := embed(t.Context(), m, "good"); return err }); err != nil {
		t.Fatal(err)
	}
	if first := strings.Count(log.String(), "attempt=1 "); first != 5 || strings.Contains(log.String(), "attempt=2") {
		t.Errorf("%d of 5 starts were a first attempt:\n%s", first, log.String())
	}
}

// TestStaysDown: max restarts.
func TestStaysDown(t *testing.T) {
	o, log := logged(host.Options{MTLS: true, MaxRestarts: 2})
	m := open(t, o, "exit-after", "0")
	n := 0
	within(t, time.Minute, "it stays down", func() bool {
		n++ // another text each time: one that a backend ends with is not sent for long
		_, err := embed(t.Context(), m, strconv.Itoa(n))
		if fault.CodeOf(err) != fault.Unavailable {
			t.Fatal(err)
		}
		return strings.Contains(log.String(), "backend down")
	})
	if _, err := embed(t.Context(), m, "a"); fault.CodeOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), "will not be started again") || fault.From(err).RetryAfter != 0 {
		t.Errorf("%v, to be asked again in %s", err, fault.From(err).RetryAfter)
	}
	if got := m.(port.Stateful).State(); got != port.ModelFailing {
		t.Errorf("down for good: %s", got)
	}
}

// TestStopped: a process that no longer runs is found by its health checks; until it
// is replaced calls answer at once.
func TestStopped(t *testing.T) {
	o, log := logged(host.Options{MTLS: true, HealthInterval: 200 * time.Millisecond})
	m := open(t, o, "embedder")
	stopped := pid(t, log)
	state := m.(port.Stateful).State
	if got := state(); got != port.ModelReady {
		t.Errorf("serving: %s", got)
	}
	if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "it is said without a call", func() bool { return state() != port.ModelReady })
	within(t, time.Minute, "a fault at once", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := embed(ctx, m, "a")
		return fault.CodeOf(err) == fault.Unavailable
	})
	within(t, time.Minute, "an answer of the next",
		func() bool { d, err := embed(t.Context(), m, "a"); return err == nil && right(d, "a") })
	if alive(stopped) {
		t.Error("the stopped process is still there")
	}
	if got := state(); got != port.ModelReady {
		t.Errorf("replaced: %s", got)
	}
}

// TestHang: calls that never return end with their deadline, and a backend that
// answers none is replaced.
func TestHang(t *testing.T) {
	o, log := logged(host.Options{MTLS: true, HealthInterval: 200 * time.Millisecond, CallTimeout: 300 * time.Millisecond})
	m := open(t, o, "hang")
	first := pid(t, log)
	for range 3 {
		began := time.Now()
		if _, err := embed(t.Context(), m, "a"); fault.CodeOf(err) != fault.Timeout || time.Since(began) > time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	}
	within(t, time.Minute, "it is replaced", func() bool { return pid(t, log) != first })
	if alive(first) {
		t.Error("the hung process is still there")
	}
}

// TestSocketGone: a process that lives on without its socket is replaced.
func TestSocketGone(t *testing.T) {
	o, log := logged(host.Options{HealthInterval: 300 * time.Millisecond})
	m := open(t, o, "gone")
	first := pid(t, log)
	within(t, time.Minute, "it is replaced", func() bool {
		if d, err := embed(t.Context(), m, "a"); err == nil && !right(d, "a") {
			t.Error("a wrong answer")
		}
		return pid(t, log) != first
	})
	if alive(first) {
		t.Error("the process is still there")
	}
}

// TestChanged: a backend that comes back as another model is refused.
func TestChanged(t *testing.T) {
	for _, change := range []string{"dim", "digest"} {
		t.Run(change, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "what")
			o, log := logged(host.Options{})
			m := open(t, o, "changing", file)
			if d, err := embed(t.Context(), m, "a"); err != nil || !right(d, "a") {
				t.Fatalf("%+v, %v", d, err)
			}
			write(file, change)
			if err := syscall.Kill(pid(t, log), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			within(t, time.Minute, "it is refused", func() bool {
				_, err := embed(t.Context(), m, "a")
				if err == nil {
					t.Fatal("it was taken")
				}
				return fault.CodeOf(err) == fault.Upstream
			})
			if got := m.(port.Stateful).State(); got != port.ModelFailing {
				t.Errorf("refused: %s", got)
			}
			write(file, "") // and taken again once it is what it was
			within(t, time.Minute, "it is taken",
				func() bool { d, err := embed(t.Context(), m, "a"); return err == nil && right(d, "a") })
		})
	}
}

// TestReplaced: a program that was replaced while it ran is another model, unless only
// its own word counts.
func TestReplaced(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range []bool{false, true} {
		program := filepath.Join(t.TempDir(), "program")
		put := func(b []byte) {
			if err := errors.Join(os.WriteFile(program+".new", b, 0o700), os.Rename(program+".new", program)); err != nil {
				t.Fatal(err)
			}
		}
		put(b)
		o, log := logged(host.Options{MTLS: true, DeclaredOnly: declared})
		m, err := host.Open(t.Context(), host.Command{Args: []string{program, "backend", "embedder"}, Unverified: true}, o)
		if err != nil {
			t.Fatal(err)
		}
		put(append(b[:len(b):len(b)], 0))
		if err := syscall.Kill(pid(t, log), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		within(t, time.Minute, "it is refused or serves", func() bool {
			ended := strings.Contains(log.String(), "backend ended")
			d, err := embed(t.Context(), m, "a")
			if err == nil && !declared && ended {
				t.Fatal("another program is taken")
			}
			return declared && err == nil && right(d, "a") && strings.Count(log.String(), "backend started") > 1 ||
				!declared && fault.CodeOf(err) == fault.Upstream
		})
		_ = m.Close()
	}
}

// TestCancel: a caller who leaves, and a deadline, reach the backend.
func TestCancel(t *testing.T) {
	for _, code := range []fault.Code{fault.Canceled, fault.Timeout} {
		t.Run(string(code), func(t *testing.T) {
			left, entered := filepath.Join(t.TempDir(), "left"), filepath.Join(t.TempDir(), "called")
			m := open(t, host.Options{MTLS: true}, "heed", left, entered)
			called := func() bool { _, err := os.Stat(entered); return err == nil }
			// Longer where the deadline has passed before the backend was called.
			for wait := 100 * time.Millisecond; !called() && !t.Failed(); wait *= 2 {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				if code == fault.Canceled {
					ctx, cancel = context.WithCancel(t.Context())
					go func() {
						for !called() && ctx.Err() == nil {
							time.Sleep(time.Millisecond)
						}
						cancel()
					}()
				}
				// The deadline that went over the wire may end before the caller's own does.
				if _, err := embed(ctx, m, "a"); fault.CodeOf(err) != code {
					t.Error(err)
				}
				cancel()
			}
			within(t, time.Minute, "the backend hears of it", func() bool {
				b, err := os.ReadFile(left)
				return err == nil && strings.HasSuffix(string(b), "true")
			})
		})
	}
}

// TestNoOrphans: what a backend started ends with it: on close, and when it is killed.
func TestNoOrphans(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	family := func() (pids []int) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range strings.Fields(string(b)) {
			n, _ := strconv.Atoi(s)
			pids = append(pids, n)
		}
		return pids
	}
	none := func(pids []int) func() bool {
		return func() bool {
			for _, p := range pids {
				if alive(p) {
					return false
				}
			}
			return true
		}
	}
	m := open(t, host.Options{MTLS: true}, "fork", file)
	first := family()
	if none(first)() || len(first) != 4 {
		t.Fatalf("the family %v does not run", first)
	}
	if err := syscall.Kill(first[3], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "the children of a killed backend end", none(first))
	within(t, time.Minute, "it serves again", func() bool { _, err := embed(t.Context(), m, "a"); return err == nil })
	second := family()
	_ = m.Close()
	within(t, time.Minute, "the children of a closed backend end", none(second))
	if _, err := embed(t.Context(), m, "a"); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a call after close: %v", err)
	}
}

// TestHostKilled: kill -9 of the process that started a backend ends the backend with
// all that it started, and its socket's folder.
func TestHostKilled(t *testing.T) {
	dir := t.TempDir()
	file, temp := filepath.Join(dir, "pids"), filepath.Join(dir, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	self, _ := os.Executable()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("TMPDIR", temp) // once: of two, a process takes the first
	p, err := os.StartProcess(self, []string{self, "backend", "hosting", file},
		&os.ProcAttr{Files: []*os.File{null, null, os.Stderr}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "it hosts", func() bool { _, err := os.Stat(file + ".hosting"); return err == nil })
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 1 {
		t.Errorf("folders %v", left)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = p.Wait()
	for _, s := range strings.Fields(string(b)) {
		n, _ := strconv.Atoi(s)
		within(t, time.Minute, "process "+s+" ends", func() bool { return !alive(n) })
	}
	within(t, time.Minute, "the folder goes", func() bool { left, _ := os.ReadDir(temp); return len(left) == 0 })
}

// TestStubborn: a backend that does not go when asked is killed, soon.
func TestStubborn(t *testing.T) {
	o, log := logged(host.Options{})
	m := open(t, o, "stubborn")
	n := pid(t, log)
	began := time.Now()
	_ = m.Close()
	if took := time.Since(began); took > time.Minute || alive(n) {
		t.Errorf("closed after %s, alive %v", took, alive(n))
	}
}

// TestLeavesNothing: opening and closing keeps no file and no goroutine.
func TestLeavesNothing(t *testing.T) {
	once := func() {
		m, err := start(t, host.Options{MTLS: true}, "embedder")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := embed(t.Context(), m, "a"); err != nil {
			t.Fatal(err)
		}
		_ = m.Close()
	}
	files := func() int { all, _ := os.ReadDir("/proc/self/fd"); return len(all) }
	once()
	once()
	open, running := files(), runtime.NumGoroutine()
	for range 6 {
		once()
	}
	within(t, time.Minute, "what was opened is closed",
		func() bool { return files() <= open+2 && runtime.NumGoroutine() <= running+2 })
}

// TestQueries: a query does not wait for the passages before it, and more calls than
// may wait are refused.
func TestQueries(t *testing.T) {
	m := open(t, host.Options{MTLS: true, Concurrency: 2, BatchTexts: 1, Queue: 30}, "slow", "30ms")
	var wg sync.WaitGroup
	many := make([]string, 100)
	var through atomic.Bool
	wg.Go(func() {
		if _, err := embed(context.Background(), m, many...); err != nil {
			t.Error(err)
		}
		through.Store(true)
	})
	time.Sleep(60 * time.Millisecond)
	if _, err := m.(port.Embedder).Embed(t.Context(), port.Query, []string{"q"}); err != nil {
		t.Error(err)
	}
	if through.Load() {
		t.Error("a query waited for the passages before it")
	}
	wg.Wait()
	var refused atomic.Int64
	for range 60 {
		wg.Go(func() {
			if _, err := embed(context.Background(), m, "a"); fault.CodeOf(err) == fault.Unavailable {
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	if refused.Load() == 0 {
		t.Error("60 calls found place where 30 may wait")
	}
}

// TestTraces: a backend is told the trace that a call belongs to.
func TestTraces(t *testing.T) {
	o, log := logged(host.Options{MTLS: true})
	m := open(t, o, "traced")
	ctx, call := trace.NewTracerProvider().Tracer("test").Start(t.Context(), "call")
	defer call.End()
	if _, err := embed(ctx, m, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := embed(t.Context(), m, "a"); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("traceparent: [00-%s-%s-01]", call.SpanContext().TraceID(), call.SpanContext().SpanID())
	within(t, time.Minute, "both lines of output", func() bool { return strings.Count(log.String(), "traceparent: [") == 2 })
	if s := log.String(); !strings.Contains(s, want) || !strings.Contains(s, "traceparent: []") {
		t.Errorf("want %s and none:\n%s", want, s)
	}
}

// TestStartIsSaid: the log names the program that a start waits for, whether it comes or not.
func TestStartIsSaid(t *testing.T) {
	o, log := logged(host.Options{StartTimeout: 15 * time.Second})
	if _, err := start(t, o, "no-start"); err == nil {
		t.Fatal("it started")
	}
	if !strings.Contains(log.String(), `msg="backend starting"`) || !strings.Contains(log.String(), "limit=15s") {
		t.Errorf("the log:\n%s", log.String())
	}
}
