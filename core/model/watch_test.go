package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/port"
)

// meter keeps what it was told of calls.
type meter struct{ calls []string }

func (m *meter) ModelCall(model, kind, code string, took time.Duration) {
	m.calls = append(m.calls, fmt.Sprintf("%s %s %s %s", model, kind, code, took))
}

// scorer is a reranker that does what a test says.
type scorer struct {
	coretest.Reranker
	score func(context.Context) error
}

func (s *scorer) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	if err := s.score(ctx); err != nil {
		return nil, 0, err
	}
	return s.Reranker.Score(ctx, query, texts)
}

// speaking is a model that says how it fares.
type speaking struct {
	scorer
	state port.ModelState
}

func (s *speaking) State() port.ModelState { return s.state }

// writer is an answer model that does what a test says.
type writer struct {
	coretest.Reranker
	err error
}

func (w *writer) Synthesize(context.Context, port.Question) (port.Synthesis, error) {
	return port.Synthesis{Text: "She moved [1]."}, w.err
}

// listed is the status of a task of a model as GET /models has it.
func listed(t *testing.T, s *model.Service, id, kind string) string {
	t.Helper()
	r := coretest.Ask(t.Context(), t, s.List, coretest.Object{}).OK()
	for _, m := range r.List("models") {
		if m["id"] == id && m["kind"] == kind {
			return m["status"].(string)
		}
	}
	t.Fatalf("%s %s is not listed: %s", id, kind, r.Body)
	return ""
}

// What a model's last call showed is its status, and nothing that says more of the
// caller than of the model (docs/contract.md#model-list).
func TestAStatusIsWhatTheLastCallShowed(t *testing.T) {
	broken := fault.New(fault.Upstream, "it failed")
	wait := func(d time.Duration) func(context.Context) error {
		return func(ctx context.Context) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return fmt.Errorf("score: %w", ctx.Err())
			}
		}
	}
	for _, c := range []struct {
		name   string
		before error // of a call before
		limit  time.Duration
		score  func(context.Context) error
		want   string
		code   string
	}{
		{"an answer", nil, time.Minute, wait(time.Second), "ready", "ok 1s"},
		{"an answer after a failure", broken, time.Minute, wait(0), "ready", "ok 0s"},
		{"a failure", nil, time.Minute, func(context.Context) error { return broken }, "error", "upstream_error 0s"},
		{"a wrapped failure", nil, time.Minute, func(context.Context) error { return fmt.Errorf("embed: %w", broken) }, "error",
			"upstream_error 0s"},
		{"an error that nobody knows", nil, time.Minute, func(context.Context) error { return errors.New("boom") }, "error",
			"internal_error 0s"},
		{"it cannot be reached", nil, time.Minute, func(context.Context) error { return fault.New(fault.Unavailable, "gone") },
			"error", "unavailable 0s"},
		{"its own time limit", nil, time.Minute, func(ctx context.Context) error {
			_ = wait(5 * time.Second)(ctx)
			return fault.New(fault.Timeout, "too long")
		}, "error", "timeout 5s"},
		{"no answer for long", nil, 4 * time.Second, wait(time.Hour), "error", "timeout 4s"},
		{"a caller without patience", nil, 4*time.Second - 1, wait(time.Hour), "ready", "timeout 3.999999999s"},
		{"a caller without patience, and an error of the driver", nil, time.Second, func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("interrupted")
		}, "ready", "internal_error 1s"},
		{"a caller without patience after a failure", broken, time.Second, wait(time.Hour), "error", "timeout 1s"},
		{"a caller's mistake", nil, time.Minute, func(context.Context) error { return fault.New(fault.InvalidRequest, "no") },
			"ready", "invalid_request 0s"},
		{"a caller's mistake after a failure", broken, time.Minute,
			func(context.Context) error { return fault.New(fault.InvalidRequest, "no") }, "error", "invalid_request 0s"},
		{"too much to do", nil, time.Minute, func(context.Context) error { return fault.Busy("wait") }, "ready",
			"unavailable 0s"},
		{"a caller who left", nil, 0, func(context.Context) error { return errors.New("stopped") }, "ready", "internal_error 0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, counted := &scorer{}, &meter{}
				watch := model.NewWatch(counted)
				reranker := watch.Reranker(m)
				s := model.New([]port.Model{m}, map[port.Task]string{port.TaskRerank: "test-rerank"}, watch)
				if got := listed(t, s, "test-rerank", "rerank"); got != "ready" {
					t.Errorf("before any call: %s", got)
				}
				m.score = func(context.Context) error { return c.before }
				_, _, _ = reranker.Score(t.Context(), "a", []string{"a"})
				ctx, cancel := context.WithTimeout(t.Context(), c.limit)
				defer cancel()
				if c.limit == 0 {
					cancel()
					ctx, cancel = context.WithCancel(t.Context())
					cancel()
				}
				m.score, counted.calls = c.score, nil
				p, _, err := reranker.Score(ctx, "a", []string{"a"})
				if (err == nil) != (len(p) == 1) || (err == nil) != strings.HasPrefix(c.code, "ok") {
					t.Errorf("answered %v, %v", p, err)
				}
				if got := listed(t, s, "test-rerank", "rerank"); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				if want := []string{"test-rerank rerank " + c.code}; !slices.Equal(counted.calls, want) {
					t.Errorf("measured %q, want %q", counted.calls, want)
				}
			})
		})
	}
}

// A model that panics has failed, and the panic goes on.
func TestAPanicIsAFailure(t *testing.T) {
	m := &scorer{score: func(context.Context) error { panic("boom") }}
	watch := model.NewWatch(nil)
	reranker := watch.Reranker(m)
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic is swallowed")
			}
		}()
		_, _, _ = reranker.Score(t.Context(), "a", nil)
	}()
	if got := watch.State("test-rerank", port.TaskRerank); got != port.ModelFailing {
		t.Errorf("after a panic: %s", got)
	}
}

// A model that knows how it fares is believed: it may come back without a call.
func TestAModelMaySpeakForItself(t *testing.T) {
	m := &speaking{state: port.ModelLoading}
	watch := model.NewWatch(nil)
	reranker := watch.Reranker(m)
	state := func() port.ModelState { return watch.State("test-rerank", port.TaskRerank) }
	if got := state(); got != port.ModelLoading {
		t.Errorf("while it starts: %s", got)
	}
	m.score = func(context.Context) error { return fault.New(fault.Unavailable, "restarting") }
	_, _, _ = reranker.Score(t.Context(), "a", nil)
	if m.state = port.ModelReady; state() != port.ModelReady {
		t.Errorf("once it has started: %s", state())
	}
	m.score = func(context.Context) error { return fault.New(fault.Upstream, "nonsense") }
	_, _, _ = reranker.Score(t.Context(), "a", nil)
	if got := state(); got != port.ModelFailing {
		t.Errorf("serving, and failing each call: %s", got)
	}
}

// What keeps an eye on states is told when they may have changed, and not of calls that change none.
// Of a model that speaks for itself nobody can tell.
func TestChangesOfStatesAreTold(t *testing.T) {
	var err error
	watch := model.NewWatch(nil)
	told := func() bool {
		select {
		case <-watch.Changed():
			return true
		default:
			return false
		}
	}
	r := watch.Reranker(&scorer{score: func(context.Context) error { return err }})
	for i, step := range []struct {
		err  error
		told bool
	}{{nil, false}, {errors.New("broken"), true}, {errors.New("broken"), false}, {nil, true}, {nil, false}} {
		err = step.err
		if _, _, got := r.Score(t.Context(), "q", []string{"a"}); (got == nil) != (err == nil) {
			t.Fatal(got)
		}
		if got := told(); got != step.told {
			t.Errorf("call %d: told %v, want %v", i, got, step.told)
		}
	}
	watch.Reranker(&speaking{})
	if watch.Changed() != nil {
		t.Error("changes of a model that speaks for itself are said to be told")
	}
}

// A task that no role uses is off, and every task of a model fares on its own.
func TestATaskWithoutARoleIsOff(t *testing.T) {
	rerank, other, sparse := &scorer{}, &scorer{}, &coretest.SparseEncoder{}
	other.score = nil
	embed := coretest.NewEmbedder()
	answers := &writer{}
	watch := model.NewWatch(nil)
	_, encode := watch.Reranker(rerank), watch.SparseEncoder(sparse)
	written, vectors := watch.Synthesizer(answers), watch.Embedder(embed)
	s := model.New([]port.Model{sparse, embed, renamed{other}}, nil, watch)
	if got := listed(t, s, "another", "rerank"); got != "off" {
		t.Errorf("a reranker beside that of the role: %s", got)
	}
	sparse.Before.Set(func(context.Context) error { return errors.New("boom") })
	if _, err := encode.Encode(t.Context(), port.Query, []string{"a"}); err == nil {
		t.Fatal("a broken encoder answered")
	}
	answers.err = errors.New("boom")
	if _, err := written.Synthesize(t.Context(), port.Question{}); err == nil {
		t.Fatal("a broken answer model answered")
	}
	if d, err := vectors.Embed(t.Context(), port.Query, []string{"a"}); err != nil || d.Dim != coretest.Dimensions {
		t.Fatalf("embed: %v", err)
	}
	if got := listed(t, s, "test-sparse", "sparse"); got != "error" {
		t.Errorf("a broken encoder: %s", got)
	}
	if got := listed(t, s, "test-embedder", "embedding"); got != "ready" {
		t.Errorf("the embedder beside it: %s", got)
	}
	want := "[{test-embedder embedding ready} {test-rerank answer error} {test-rerank rerank ready} {test-sparse sparse error}]"
	if got := fmt.Sprint(watch.All()); got != want {
		t.Errorf("all: %s", got)
	}
}

// renamed is a second reranker.
type renamed struct{ *scorer }

func (r renamed) Info() port.ModelInfo {
	info := r.scorer.Info()
	info.ID = "another"
	return info
}

// bare, counting and cutting are models with some of the optional abilities.
type (
	bare     struct{ port.Embedder }
	counting struct {
		port.Embedder
		port.TokenCounter
	}
	cutting struct {
		port.Embedder
		port.Tokenizer
	}
	both struct {
		port.Embedder
		port.TokenCounter
		port.Tokenizer
	}
	sparseCutting struct {
		port.SparseEncoder
		port.Tokenizer
	}
	countingReranker struct {
		port.Reranker
		port.TokenCounter
	}
)

type tokenizer struct{}

func (tokenizer) TokenIDs(context.Context, port.TextKind, []string) ([][]uint32, error) {
	return nil, nil
}

// What is watched has the optional abilities that it has unwatched, and no other.
func TestAWatchedModelKeepsItsAbilities(t *testing.T) {
	e := coretest.NewEmbedder()
	w := model.NewWatch(nil)
	for name, m := range map[string]port.Embedder{
		"neither": bare{e}, "counter": counting{e, e}, "tokenizer": cutting{e, tokenizer{}}, "both": both{e, e, tokenizer{}},
	} {
		watched := w.Embedder(m)
		if abilities(watched) != abilities(m) || watched.Info().ID != "test-embedder" {
			t.Errorf("%s: %s, watched %s", name, abilities(m), abilities(watched))
		}
	}
	s := &coretest.SparseEncoder{}
	for _, m := range []port.SparseEncoder{s, sparseCutting{s, tokenizer{}}} {
		if watched := w.SparseEncoder(m); abilities(watched) != abilities(m) || watched.Info().ID != "test-sparse" {
			t.Errorf("sparse: %s, watched %s", abilities(m), abilities(watched))
		}
	}
	for _, m := range []port.Reranker{coretest.Reranker{}, countingReranker{coretest.Reranker{}, e}} {
		if watched := w.Reranker(m); abilities(watched) != abilities(m) || watched.Info().ID != "test-rerank" {
			t.Errorf("rerank: %s, watched %s", abilities(m), abilities(watched))
		}
	}
	if w.Embedder(nil) != nil || w.SparseEncoder(nil) != nil || w.Reranker(nil) != nil || w.Synthesizer(nil) != nil {
		t.Error("a role that is off is watched")
	}
}

func abilities(m any) string {
	_, counts := m.(port.TokenCounter)
	_, cuts := m.(port.Tokenizer)
	return fmt.Sprintf("counts %t, gives tokens %t", counts, cuts)
}

// tally adds up what is counted on each account.
type tally map[port.UsageAccount]port.Usage

func (t tally) CountUsage(a port.UsageAccount, u port.Usage) {
	sum := t[a]
	sum.Add(u)
	t[a] = sum
}

// What models do is counted on the account that the context is on, once it is done; what is on
// nobody's account is not.
func TestUsage(t *testing.T) {
	counted := tally{}
	w := model.NewWatch(nil)
	w.CountedBy(counted)
	failing := false
	embedder, sparse := w.Embedder(coretest.NewEmbedder()), w.SparseEncoder(&coretest.SparseEncoder{})
	reranker := w.Reranker(&scorer{score: func(context.Context) error {
		if failing {
			return errors.New("broken")
		}
		return nil
	}})
	caller := ident.WithPrincipal(t.Context(), ident.Principal{Org: "org_1", KeyID: "key_1", Integration: "int_1"})
	docs := port.OnAccountOf(caller, port.Documents("org_2", "docs"))
	background := port.OnAccountOf(t.Context(), port.Memories("org_2", "int_2", "ann"))
	for _, ctx := range []context.Context{caller, docs, background, t.Context()} {
		if _, err := embedder.Embed(ctx, port.Passage, []string{"one", "one two"}); err != nil {
			t.Fatal(err)
		}
		if _, err := sparse.Encode(ctx, port.Query, []string{"one two three four"}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := reranker.Score(ctx, "query", []string{"a", "b", "c", "d", "e"}); err != nil {
			t.Fatal(err)
		}
	}
	failing = true
	if _, _, err := reranker.Score(caller, "query", []string{"a"}); err == nil {
		t.Fatal("a broken model scores")
	}
	want := port.Usage{TokensEmbedded: 3, TokensSparse: 4, PairsReranked: 5}
	for _, a := range []port.UsageAccount{
		{Org: "org_1", Integration: "int_1", KeyID: "key_1"},
		{Org: "org_2", Namespace: "docs", KeyID: "key_1"},
		{Org: "org_2", Integration: "int_2"},
	} {
		if counted[a] != want {
			t.Errorf("on %+v: %+v, want %+v", a, counted[a], want)
		}
	}
	if len(counted) != 3 {
		t.Errorf("counted on %d accounts: %v", len(counted), counted)
	}
}
