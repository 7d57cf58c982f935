package abitest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

// hostile is the module of testdata/hostile.c, which does what its first text says.
func hostile(t testing.TB, way host.Interrupt) host.Module {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	ones := make([]byte, 64)
	weights := make([]byte, 256)
	for i := range 16 {
		copy(ones[4*i:], []byte{0, 0, 0x80, 0x3f}) // 1.0
	}
	for i := range weights {
		weights[i] = 1
	}
	const model = `"model":{"type":"WordPiece","unk_token":"?","vocab":{"?":0,"a":1,"##b":2,"b":3}}`
	return host.Module{Wasm: b, Config: []byte("{}"), Interrupt: way,
		Assets: map[string][]byte{"words": []byte(`{"pre_tokenizer":{"type":"WhitespaceSplit"},` + model + `}`),
			"slow": []byte(`{"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"a*a*a*a*a*b"}},` +
				model + `}`),
			"secret": []byte("secret"), "layer.weight": weights, "layer.scale": ones,
			"layer.bias": make([]byte, 64)}}
}

func ways() map[string]host.Interrupt {
	return map[string]host.Interrupt{"enforced": host.Enforced, "cooperative": host.Cooperative}
}

// works checks that a model still answers.
func works(t *testing.T, m *host.Model) {
	t.Helper()
	d, err := m.Embed(t.Context(), port.Passage, []string{"ok", "again"})
	if err != nil {
		t.Fatalf("the next call fails: %v", err)
	}
	if len(d.Data) != 8 || !slices.Equal(d.Tokens, []int{3, 3}) {
		t.Fatalf("the next call answers %+v", d)
	}
}

// TestMisbehaviour: whatever a module does, the caller gets the right fault and
// the next call works.
func TestMisbehaviour(t *testing.T) {
	for text, want := range map[string]fault.Code{
		"trap": fault.Upstream, "recurse": fault.Upstream, "grow": fault.Upstream, "internal": fault.Upstream,
		"zero":    fault.Upstream,
		"outside": fault.Upstream, "huge": fault.Upstream, "rows": fault.Upstream, "dim": fault.Upstream,
		"product": fault.Upstream,
		"total":   fault.Upstream, "body": fault.Upstream, "tokens": fault.Upstream, "untold": fault.Upstream,
		"kind":   fault.Upstream,
		"scores": fault.Upstream, "nan": fault.Upstream, "invalid": fault.InvalidRequest, "long": fault.InvalidRequest,
		"imports": "",
	} {
		for name, way := range ways() {
			t.Run(text+"/"+name, func(t *testing.T) {
				m := open(t, hostile(t, way), host.Options{Instances: 1, MemoryMB: 32})
				_, err := m.Embed(t.Context(), port.Passage, []string{text})
				if got := fault.CodeOf(err); got != want {
					t.Fatalf("code %q (%v: %v), want %q", got, err, errors.Unwrap(err), want)
				}
				if err != nil && strings.Contains(fault.From(err).Message, "secret path") {
					t.Errorf("the caller reads the module's own words: %v", err)
				}
				works(t, m)
			})
		}
	}
}

// TestMisbehavingTasks: neither does a module that encodes or reranks get a wrong
// answer past the host.
func TestMisbehavingTasks(t *testing.T) {
	sandboxed(t)
	always := []string{"trap", "recurse", "grow", "internal", "zero", "outside", "huge", "rows", "fewer", "total",
		"body", "tokens", "kind", "dense", "nan", "infinite"}
	for _, c := range []struct {
		task   string
		texts  []string
		call   func(m *host.Model, text string) error
		answer func(t *testing.T, m *host.Model)
	}{
		{"sparse", []string{"untold", "falling", "double", "vocabulary", "wild term", "weightless", "negative",
			"offsets", "last offset", "more terms", "wild terms"},
			func(m *host.Model, text string) error {
				_, err := m.Encode(context.Background(), port.Passage, []string{text, "ok"})
				return err
			}, func(t *testing.T, m *host.Model) {
				got, err := m.Encode(t.Context(), port.Query, []string{"ok", "more"})
				want := port.Sparse{
					Rows:    []uint32{0, 2, 4},
					Terms:   []uint32{1, 5, 1, 5},
					Weights: []float32{1, 0.5, 1, 0.5},
					Tokens:  []int{3, 3},
				}
				if d := cmp.Diff(want, got); err != nil || d != "" {
					t.Fatalf("the next call answers %v, %s", err, d)
				}
			}},
		{"rerank", []string{"above", "below", "cut", "sparse"},
			func(m *host.Model, text string) error {
				_, _, err := m.Score(context.Background(), text, []string{"one", "two"})
				return err
			}, func(t *testing.T, m *host.Model) {
				// Without a word about cuts the host goes by the tokens read.
				for _, query := range []string{"ok", "uncut", "untold"} {
					scores, cut, err := m.Score(t.Context(), query, []string{"one", "more than sixteen bytes", "two"})
					if err != nil || !slices.Equal(scores, []float32{0.5, 0.5, 0.5}) || cut != 1 {
						t.Fatalf("query %q: the next call answers %v, %d, %v", query, scores, cut, err)
					}
				}
			}},
	} {
		want := map[string]fault.Code{"invalid": fault.InvalidRequest, "long": fault.InvalidRequest, "imports": ""}
		for _, text := range slices.Concat(always, c.texts) {
			want[text] = fault.Upstream
		}
		for text, want := range want {
			for name, way := range ways() {
				t.Run(c.task+"/"+text+"/"+name, func(t *testing.T) {
					m := open(t, with(hostile(t, way), `{"`+c.task+`":1}`), host.Options{Instances: 1, MemoryMB: 32})
					if info := m.Info(); len(info.Tasks) != 1 || string(info.Tasks[0]) != c.task || info.Dimensions != 0 {
						t.Fatalf("info %+v", info)
					}
					err := c.call(m, text)
					if got := fault.CodeOf(err); got != want {
						t.Fatalf("code %q (%v: %v), want %q", got, err, errors.Unwrap(err), want)
					}
					if err != nil && strings.Contains(fault.From(err).Message, "secret path") {
						t.Errorf("the caller reads the module's own words: %v", err)
					}
					c.answer(t, m)
				})
			}
		}
	}
}

// TestRenewal: an instance that has worked and is out of memory is replaced and its call
// repeated, once: callers notice nothing of a leak. A job that is too large for a fresh
// instance fails.
func TestRenewal(t *testing.T) {
	for name, way := range ways() {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			// The pool has one worker for passages: the second serves queries alone.
			m, err := host.Open(t.Context(), hostile(t, way),
				host.Options{Instances: 1, MemoryMB: 16, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { m.Close() })
			embed := func(text string) error {
				_, err := m.Embed(t.Context(), port.Passage, []string{text})
				return err
			}
			for i := range 100 { // an instance has room for some 14
				if err := embed("leak"); err != nil {
					t.Fatalf("call %d: %v", i, err)
				}
			}
			leaked := m.Stats().Renewed
			if leaked < 5 || leaked > 20 {
				t.Errorf("%d renewals in 100 calls that leak 1 MB of 16", leaked)
			}
			for i := range 3 { // error 4 of an instance's second call
				if err := embed("tired"); err != nil {
					t.Fatalf("call %d: %v", i, err)
				}
			}
			if n := m.Stats().Renewed; n < leaked+2 || n > leaked+3 {
				t.Errorf("%d renewals, then %d", leaked, n)
			}
			before := m.Stats()
			if err := embed("starving"); fault.CodeOf(err) != fault.Upstream {
				t.Errorf("a job that no instance has memory for: %v", err)
			}
			if after := m.Stats(); after.Renewed != before.Renewed+1 || after.Made != before.Made+1 {
				t.Errorf("a job that no instance has memory for: %+v, then %+v", before, after)
			}
			if err := embed("starving"); fault.CodeOf(err) != fault.Upstream {
				t.Errorf("again: %v", err)
			}
			if after := m.Stats(); after.Renewed != before.Renewed+1 || after.Made != before.Made+2 {
				t.Errorf("a fresh instance is not renewed: %+v, then %+v", before, after)
			}
			if f := m.Figures(); f.Restarts[port.RestartMemory] != int64(m.Stats().Renewed) ||
				f.Restarts[port.RestartFailure] != 0 || f.Waiting != 0 {
				t.Errorf("%+v", f)
			}
			if err := embed("trap"); fault.CodeOf(err) != fault.Upstream {
				t.Error(err)
			}
			works(t, m)
			if f := m.Figures(); f.Restarts[port.RestartFailure] != 1 || f.Memory == 0 || f.MaxMemory < f.Memory ||
				f.MaxMemory%(16<<20) != 0 {
				t.Errorf("after a trap: %+v", f)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if got := log.String(); !strings.Contains(got, `msg="model instance out of memory"`) ||
				!strings.Contains(got, "operation=mneme_embed") || !strings.Contains(got, "memory_mb=16") {
				t.Errorf("the log says %s", got)
			}
		})
	}
}

// TestUnitLength: vectors leave with unit length, be they of a first call, of a query or
// of a passage: a model that claims it is held to it, one that does not is helped.
func TestUnitLength(t *testing.T) {
	for name, way := range ways() {
		m := open(t, hostile(t, way), host.Options{Instances: 1})
		unclaimed := open(t, with(hostile(t, way), `{"unscaled":1,"scaled":1}`), host.Options{Instances: 1})
		for _, as := range []port.TextKind{port.Query, port.Passage} {
			for _, text := range []string{"scaled", "slightly", "null vector"} {
				if _, err := m.Embed(t.Context(), as, []string{text}); fault.CodeOf(err) != fault.Upstream {
					t.Errorf("%s, kind %d, %q: %v", name, as, text, err)
				}
			}
			if d, err := m.Embed(t.Context(), as, []string{"rounded"}); err != nil || d.Data[0] != 1.0005 {
				t.Errorf("%s, kind %d: %v, %v", name, as, d, err)
			}
			d, err := unclaimed.Embed(t.Context(), as, []string{"scaled", "other"})
			if err != nil || !slices.Equal(d.Data, []float32{1, 0, 0, 0, 1, 0, 0, 0}) {
				t.Errorf("%s, kind %d, unclaimed: %v, %v", name, as, d.Data, err)
			}
		}
	}
	_, err := host.Open(t.Context(), with(hostile(t, host.Enforced), `{"scaled":1}`), host.Options{Instances: 1})
	if err == nil || !strings.Contains(err.Error(), "vector 0 has the length 7, not 1 as claimed") {
		t.Errorf("a module whose vectors are not what it claims opens: %v", err)
	}
}

// TestTasks: a model does what it claims and nothing else.
func TestTasks(t *testing.T) {
	calls := map[port.Task]func(m *host.Model) error{
		port.TaskEmbed: func(m *host.Model) error {
			_, err := m.Embed(context.Background(), port.Passage, []string{"ok"})
			return err
		},
		port.TaskSparse: func(m *host.Model) error {
			_, err := m.Encode(context.Background(), port.Passage, []string{"ok"})
			return err
		},
		port.TaskRerank: func(m *host.Model) error {
			_, _, err := m.Score(context.Background(), "ok", []string{"ok"})
			return err
		},
	}
	for config, tasks := range map[string][]port.Task{
		`{}`: {port.TaskEmbed}, `{"sparse":1}`: {port.TaskSparse}, `{"rerank":1}`: {port.TaskRerank},
		`{"sparse":1,"rerank":1,"embedding":1}`: {port.TaskEmbed, port.TaskSparse, port.TaskRerank},
	} {
		t.Run(config, func(t *testing.T) {
			m := open(t, with(hostile(t, host.Enforced), config), host.Options{Instances: 1})
			if !slices.Equal(m.Info().Tasks, tasks) {
				t.Errorf("tasks %v, want %v", m.Info().Tasks, tasks)
			}
			for task, call := range calls {
				err := call(m)
				if slices.Contains(tasks, task) != (err == nil) {
					t.Errorf("task %s: %v", task, err)
				}
				if err != nil && (fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), string(task))) {
					t.Errorf("task %s: %v", task, err)
				}
			}
		})
	}
	m := open(t, with(hostile(t, host.Enforced), `{"sparse":1,"rerank":1}`), host.Options{Instances: 1})
	if got, err := m.Encode(t.Context(), port.Passage, nil); err != nil || len(got.Terms) != 0 ||
		!slices.Equal(got.Rows, []uint32{0}) {
		t.Errorf("no texts: %+v, %v", got, err)
	}
	if scores, cut, err := m.Score(t.Context(), "ok", nil); err != nil || len(scores) != 0 || cut != 0 {
		t.Errorf("no texts: %v, %d, %v", scores, cut, err)
	}
	for field, call := range map[string]func() error{
		"query": func() error { _, _, err := m.Score(t.Context(), "\xff", []string{"a"}); return err },
		"texts": func() error { _, _, err := m.Score(t.Context(), "a", []string{"b", "\xff"}); return err },
	} {
		if err := call(); fault.CodeOf(err) != fault.InvalidRequest || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("invalid %s: %v", field, err)
		}
	}
}

// TestOwnLoopsImports: with mneme_nn refused the module's requests to it are refused as well.
func TestOwnLoopsImports(t *testing.T) {
	m := open(t, hostile(t, host.Enforced), host.Options{Instances: 1, OwnLoops: true})
	if _, err := m.Embed(t.Context(), port.Passage, []string{"imports"}); err != nil {
		t.Fatal(err)
	}
}

// TestCallTimeout: a call that takes too long fails with timeout and the model
// works on, whether the module listens or not.
func TestCallTimeout(t *testing.T) {
	for text, way := range map[string]host.Interrupt{"loop": host.Enforced, "poll": host.Cooperative, "spin": host.Cooperative} {
		t.Run(text, func(t *testing.T) {
			limit := time.Second
			if text == "spin" { // a second long at least
				limit = 300 * time.Millisecond
				// A collection would wait for the module, and everything for the collection.
				defer debug.SetGCPercent(debug.SetGCPercent(-1))
			}
			m, err := host.Open(t.Context(), hostile(t, way),
				host.Options{Instances: 1, CallTimeout: limit, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Embed(t.Context(), port.Passage, []string{text}); fault.CodeOf(err) != fault.Timeout {
				t.Fatalf("got %v, want a timeout", err)
			}
			for range 5 { // of a busy machine any call may take longer, not one after the other
				if _, err := m.Embed(t.Context(), port.Passage, []string{"ok"}); fault.CodeOf(err) != fault.Timeout {
					break
				}
			}
			works(t, m)
			lost := 0
			if text == "spin" {
				lost = 1
			}
			if s := m.Stats(); s.Lost != lost {
				t.Errorf("%d instances lost, want %d", s.Lost, lost)
			}
			if err := m.Close(); (err != nil) != (lost > 0) {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// TestCallerLeaves: a caller whose context ends gets its error at once and the
// instance comes free.
func TestCallerLeaves(t *testing.T) {
	for text, way := range map[string]host.Interrupt{"loop": host.Enforced, "poll": host.Cooperative} {
		t.Run(text, func(t *testing.T) {
			m := open(t, hostile(t, way), host.Options{Instances: 1, CallTimeout: time.Hour})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			if _, err := m.Embed(ctx, port.Passage, []string{text}); fault.CodeOf(err) != fault.Timeout {
				t.Fatalf("got %v, want a timeout", err)
			}
			works(t, m) // waits for the instance
			ctx, cancel = context.WithCancel(t.Context())
			cancel()
			if _, err := m.Embed(ctx, port.Passage, []string{"ok"}); fault.CodeOf(err) != fault.Canceled {
				t.Fatalf("got %v, want canceled", err)
			}
		})
	}
}

// occupied opens a hostile module of one instance and keeps it busy with a passage
// until free is called.
func occupied(t *testing.T, o host.Options) (m *host.Model, free func()) {
	t.Helper()
	started := make(signal, 16)
	o.Instances, o.CallTimeout, o.Log = 1, time.Hour, slog.New(slog.NewTextHandler(started, nil))
	m = open(t, hostile(t, host.Cooperative), o)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = m.Embed(ctx, port.Passage, []string{"poll"}) })
	<-started
	return m, func() { cancel(); wg.Wait() }
}

// signal is a log that tells when something is written.
type signal chan struct{}

func (s signal) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "polling") {
		s <- struct{}{}
	}
	return len(b), nil
}

// TestBusy: with every instance busy a passage waits no longer than it may, the
// line is bounded, and a query is served all the same.
func TestBusy(t *testing.T) {
	m, free := occupied(t, host.Options{QueueTimeout: 50 * time.Millisecond, MaxWaiting: 2})
	_, err := m.Embed(t.Context(), port.Passage, []string{"ok"})
	if f := fault.From(err); f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 {
		t.Fatalf("got %v, want unavailable with a time to retry", err)
	}
	if _, err := m.Embed(t.Context(), port.Query, []string{"ok"}); err != nil {
		t.Fatalf("a query does not get through: %v", err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = m.Embed(t.Context(), port.Passage, []string{"ok"}) })
	}
	wg.Wait()
	for _, err := range errs {
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("got %v, want unavailable", err)
		}
	}
	free()
	works(t, m)
}

// TestScoreLeavesQueries: while a rerank takes every instance a query is served,
// and the next rerank goes before passages that came earlier.
func TestScoreLeavesQueries(t *testing.T) {
	started := make(signal, 16)
	m := open(t, with(hostile(t, host.Cooperative), `{"embedding":1,"rerank":1}`),
		host.Options{
			Instances:    1,
			CallTimeout:  time.Hour,
			QueueTimeout: time.Hour,
			Log:          slog.New(slog.NewTextHandler(started, nil)),
		})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { _, _, _ = m.Score(ctx, "poll", []string{"a"}) })
	<-started
	if _, err := m.Embed(t.Context(), port.Query, []string{"ok"}); err != nil {
		t.Fatalf("a query does not get through: %v", err)
	}
	later, stop := context.WithCancel(t.Context())
	defer stop()
	for i, call := range []func() error{
		func() error { _, err := m.Embed(t.Context(), port.Passage, []string{"ok"}); return err },
		func() error {
			if _, _, err := m.Score(later, "poll", []string{"a"}); fault.CodeOf(err) != fault.Canceled {
				return fmt.Errorf("the second rerank ended with %w", err)
			}
			return nil
		},
	} {
		wg.Go(func() {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
		for m.Stats().Waiting <= i {
			time.Sleep(time.Millisecond)
		}
	}
	cancel()
	<-started // the second rerank runs
	if n := m.Stats().Waiting; n != 1 {
		t.Errorf("%d calls wait, want the passage", n)
	}
	stop()
	wg.Wait()
}

// TestClose: closing fails the calls in line and those that come later, and
// waits for the one that runs.
func TestClose(t *testing.T) {
	m, free := occupied(t, host.Options{})
	waiting, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := m.Embed(t.Context(), port.Passage, []string{"ok"})
		waiting <- err
	}()
	for m.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	go func() { closed <- m.Close() }()
	if err := <-waiting; fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("the waiting call got %v, want unavailable", err)
	}
	if _, err := m.Embed(t.Context(), port.Query, []string{"ok"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a later call got %v, want unavailable", err)
	}
	free()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestRefusals: a module that can't run is refused at the start, with the reason.
func TestRefusals(t *testing.T) {
	sandboxed(t)
	built := source(t, models.Default)
	without := func(name string) host.Module {
		m := built
		m.Assets = map[string][]byte{}
		for k, v := range built.Assets {
			if k != name {
				m.Assets[k] = v
			}
		}
		return m
	}
	old := hostile(t, host.Enforced)
	for name, c := range map[string]struct {
		module host.Module
		memory int
		want   string
	}{
		"not wasm":        {host.Module{Wasm: []byte("<html>")}, 0, "compile"},
		"no exports":      {host.Module{Wasm: []byte("\x00asm\x01\x00\x00\x00")}, 0, "does not export mneme_abi"},
		"fails to open":   {with(old, `{"fail_open":1}`), 0, "told to fail"},
		"traps on open":   {with(old, `{"trap_open":1}`), 0, "unreachable"},
		"no task":         {with(old, `{"embedding":0}`), 0, "no task"},
		"task twice":      {with(old, `{"rerank":1,"twice":1}`), 0, "twice"},
		"no window":       {with(old, `{"rerank":1,"windowless":1}`), 0, "window of 0"},
		"no vocab":        {with(old, `{"sparse":2}`), 0, "vocabulary of 0"},
		"unknown task":    {configured(t, built, map[string]any{"task": "translate"}), 0, "task must be"},
		"no head":         {configured(t, built, map[string]any{"task": "rerank"}), 0, "head is missing"},
		"unknown head":    {configured(t, built, map[string]any{"task": "rerank", "head": "bald"}), 0, "head must be"},
		"no head tensors": {configured(t, built, map[string]any{"task": "rerank", "head": "plain"}), 0, "tensor of the head"},
		"no mlm tensors":  {configured(t, built, map[string]any{"task": "sparse"}), 0, "language model's head"},
		"layers beyond": {configured(t, built, map[string]any{"task": "rerank", "head": "late", "late_layer": 13}), 0,
			"late_layer"},
		"terms": {configured(t, built, map[string]any{"task": "sparse", "terms": -1}), 0, "terms"},
		"calibration": {configured(t, built,
			map[string]any{"task": "rerank", "head": "plain", "calibration": map[string]any{"scale": 1}}), 0, "calibration"},
		"no vocabulary":   {without("vocab"), 0, "vocabulary"},
		"no layer":        {without("layer.3.up.weight"), 0, "tensor"},
		"no memory":       {built, 2, "memory"},
		"bad settings":    {configured(t, built, map[string]any{"hidden": 7}), 0, "out of range"},
		"other shape":     {configured(t, built, map[string]any{"vocab": 30000}), 0, "another size"},
		"unknown pooling": {configured(t, built, map[string]any{"pooling": "max"}), 0, "pooling"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := host.Open(t.Context(), c.module,
				host.Options{Instances: 1, MemoryMB: c.memory, Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				m.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not mention %q", err, c.want)
			}
		})
	}
}

func with(m host.Module, config string) host.Module {
	m.Config = []byte(config)
	return m
}

// TestTexts: texts that are odd but valid embed; those that are not are refused by place.
func TestTexts(t *testing.T) {
	m := open(t, source(t, models.Default), host.Options{Instances: 2})
	d, err := m.Embed(t.Context(), port.Passage, nil)
	if err != nil || len(d.Data) != 0 || d.Dim != 384 {
		t.Errorf("no texts: %+v, %v", d, err)
	}
	d, err = m.Embed(t.Context(), port.Passage, []string{"", "\x00", strings.Repeat("word ", 5000), "a"})
	if err != nil {
		t.Fatal(err)
	}
	// [CLS] passage : ... [SEP]
	if want := []int{4, 4, 512, 5}; !slices.Equal(d.Tokens, want) {
		t.Errorf("tokens %d, want %d", d.Tokens, want)
	}
	if _, err := m.Embed(t.Context(), port.Passage, []string{"a", "\xff"}); fault.CodeOf(err) != fault.InvalidRequest ||
		!strings.Contains(err.Error(), "text 1") {
		t.Errorf("invalid UTF-8: %v", err)
	}
	info := m.Info()
	if info.Dimensions != 384 || info.MaxTokens != 512 || info.Licence != "MIT" || info.Runtime != "wasm" ||
		!strings.HasPrefix(info.Digest, "sha256:") || !slices.Equal(info.Tasks, []port.Task{port.TaskEmbed}) {
		t.Errorf("info %+v", info)
	}
}

// TestStable: a vector has the same bits whatever else is in the call, on any
// instance, with many callers at once; and queries and passages differ.
func TestStable(t *testing.T) {
	for name, own := range map[string]bool{"kernels": false, "own loops": true} {
		t.Run(name, func(t *testing.T) {
			m := open(t, source(t, models.Default), host.Options{Instances: 3, OwnLoops: own})
			texts := make([]string, 24)
			for i := range texts {
				texts[i] = strings.TrimSpace(strings.Repeat(fmt.Sprintf("item %d of the list, ", i), 1+i*i%7))
			}
			want := make([][]float32, len(texts))
			for i, text := range texts {
				d, err := m.Embed(t.Context(), port.Passage, []string{text})
				if err != nil {
					t.Fatal(err)
				}
				want[i] = d.Row(0)
			}
			var wg sync.WaitGroup
			for caller := range 6 {
				wg.Go(func() {
					d, err := m.Embed(t.Context(), port.Passage, texts[caller:])
					if err != nil {
						t.Error(err)
						return
					}
					for i, w := range want[caller:] {
						if !slices.Equal(d.Row(i), w) {
							t.Errorf("caller %d, text %d: other bits in a batch", caller, i)
						}
					}
				})
			}
			wg.Wait()
			q, err := m.Embed(t.Context(), port.Query, texts[:1])
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(q.Row(0), want[0]) {
				t.Error("a query has the same vector as the passage")
			}
		})
	}
}

// TestMemoryIsFlat compares late with later: memory grows while a module warms
// up and then stays.
func TestMemoryIsFlat(t *testing.T) {
	sandboxed(t)
	m := open(t, source(t, models.Default), host.Options{Instances: 1})
	round := func() int64 {
		for i := range 60 {
			texts := []string{strings.Repeat("word ", i*7), "short", strings.Repeat("字", i)}
			if _, err := m.Embed(t.Context(), port.Passage, texts); err != nil {
				t.Fatal(err)
			}
			if _, err := m.CountTokens(t.Context(), texts); err != nil {
				t.Fatal(err)
			}
			if _, err := m.TokenIDs(t.Context(), port.Query, texts); err != nil {
				t.Fatal(err)
			}
		}
		return m.Stats().Memory
	}
	late := round()
	if later := round(); later != late {
		t.Errorf("memory grew from %d to %d bytes", late, later)
	}
	if per := late / int64(m.Stats().Instances); per > 64<<20 {
		t.Errorf("an instance takes %d MB", per>>20)
	}
	t.Logf("%d instances, %.1f MB together", m.Stats().Instances, float64(late)/(1<<20))
}

// TestTrapMakesAnother: only the instance that trapped is replaced.
func TestTrapMakesAnother(t *testing.T) {
	m := open(t, hostile(t, host.Enforced), host.Options{Instances: 1})
	works(t, m)
	if s := m.Stats(); s.Made != 1 || s.Instances != 1 {
		t.Fatalf("%+v", s)
	}
	if _, err := m.Embed(t.Context(), port.Passage, []string{"trap"}); fault.CodeOf(err) != fault.Upstream ||
		errors.Unwrap(err) == nil {
		t.Fatalf("got %v", err)
	}
	works(t, m)
	works(t, m)
	if s := m.Stats(); s.Made != 2 || s.Instances != 1 {
		t.Fatalf("%+v", s)
	}
}
