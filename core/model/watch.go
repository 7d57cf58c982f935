package model

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Watch knows how the models in use fare: whatever it gives for a model sees how the
// calls of that model end, those of queries and writes as well as those of the deep
// check. GET /models and the metrics tell what it knows. Its models are given to it
// before the first call; State and All may be called at any time.
type Watch struct {
	meter  Meter
	usage  port.UsageCounter // nil: nothing is counted
	models []*watched
	moved  chan struct{}
}

// Meter takes the measurements of calls to models.
type Meter interface {
	// ModelCall is told of each call: "ok" or the code of its error, and the time.
	ModelCall(model, kind, code string, took time.Duration)
}

// NewWatch makes a Watch; nil: nothing is measured.
func NewWatch(m Meter) *Watch { return &Watch{meter: m, moved: make(chan struct{}, 1)} }

// CountedBy has what models do counted on the account that the context of a call is on. It is
// called before the first model is given.
func (w *Watch) CountedBy(c port.UsageCounter) { w.usage = c }

// watched is one task of one model.
type watched struct {
	id      string
	task    port.Task
	self    port.Stateful // nil: the model says nothing of itself
	meter   Meter
	usage   port.UsageCounter
	failing atomic.Bool // by the last call that tells
	moved   chan<- struct{}
}

// State is how a task of a model fares.
type State struct {
	Model string // the operator's name for it
	Task  port.Task
	State port.ModelState
}

func (w *Watch) on(m port.Model, task port.Task) *watched {
	on := &watched{id: m.Info().ID, task: task, meter: w.meter, usage: w.usage, moved: w.moved}
	on.self, _ = m.(port.Stateful)
	w.models = append(w.models, on)
	return on
}

// State is how a task of a model fares; off: no role uses it.
func (w *Watch) State(id string, task port.Task) port.ModelState {
	i := slices.IndexFunc(w.models, func(on *watched) bool { return on.id == id && on.task == task })
	if i < 0 {
		return port.ModelOff
	}
	return w.models[i].state()
}

// All is how every model in use fares, by name and task.
func (w *Watch) All() []State {
	out := make([]State, len(w.models))
	for i, on := range w.models {
		out[i] = State{on.id, on.task, on.state()}
	}
	slices.SortFunc(out, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Task, b.Task))
	})
	return slices.Compact(out)
}

// Changed gets a value when what All gives may have changed since it last did. nil: there is a model
// whose state changes without a call, so it has to be looked. It is called after the last model was given.
func (w *Watch) Changed() <-chan struct{} {
	if slices.ContainsFunc(w.models, func(on *watched) bool { return on.self != nil }) {
		return nil
	}
	return w.moved
}

// fails notes whether the last call that tells something has failed.
func (on *watched) fails(failing bool) {
	if on.failing.Swap(failing) == failing {
		return
	}
	select {
	case on.moved <- struct{}{}:
	default:
	}
}

func (on *watched) state() port.ModelState {
	if on.self != nil {
		if s := on.self.State(); s != port.ModelReady {
			return s
		}
	}
	if on.failing.Load() {
		return port.ModelFailing
	}
	return port.ModelReady
}

// patience is how long a call has to wait in vain before that says something of the
// model: a caller may ask for less time than any model needs. The deep check waits
// longer.
const patience = 4 * time.Second

// ended takes note of how a call ended. returned is false when it panicked.
func (on *watched) ended(ctx context.Context, took time.Duration, returned bool, err error) {
	code := fault.CodeOf(err)
	if !returned {
		code = fault.Internal
	}
	if on.meter != nil {
		on.meter.ModelCall(on.id, string(on.task), cmp.Or(string(code), "ok"), took)
	}
	switch {
	case code == "":
		on.fails(false)
	case fault.Status(code) < 500, errors.Is(ctx.Err(), context.Canceled), fault.IsBusy(err):
		// the caller's fault or farewell, or a model that has too much to do: it may work
	case took < patience && (code == fault.Timeout || ctx.Err() != nil):
	case code == fault.Unavailable && on.self != nil:
		// it says itself whether it starts, restarts or is gone
	default:
		on.fails(true)
	}
}

// call runs fn as one call of a model.
func call[T any](ctx context.Context, on *watched, fn func() (T, error)) (out T, err error) {
	began, returned := time.Now(), false
	defer func() { on.ended(ctx, time.Since(began), returned, err) }()
	out, err = fn()
	returned = true
	return out, err
}

// did counts what a call did that has succeeded.
func (on *watched) did(ctx context.Context, u port.Usage) {
	if on.usage == nil {
		return
	}
	if a, ok := port.UsageAccountFrom(ctx); ok {
		on.usage.CountUsage(a, u)
	}
}

func sum(tokens []int) (n int64) {
	for _, t := range tokens {
		n += int64(t)
	}
	return n
}

type embedder struct {
	port.Embedder
	on *watched
}

// Embed implements port.Embedder.
func (m *embedder) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	v, err := call(ctx, m.on, func() (port.Dense, error) { return m.Embedder.Embed(ctx, as, texts) })
	if err == nil {
		m.on.did(ctx, port.Usage{TokensEmbedded: sum(v.Tokens)})
	}
	return v, err
}

// Embedder watches an embedder, and keeps its optional abilities; nil stays nil.
func (w *Watch) Embedder(m port.Embedder) port.Embedder {
	if m == nil {
		return nil
	}
	of := &embedder{m, w.on(m, port.TaskEmbed)}
	counter, counts := m.(port.TokenCounter)
	tokenizer, tokenizes := m.(port.Tokenizer)
	switch {
	case counts && tokenizes:
		return struct {
			*embedder
			port.TokenCounter
			port.Tokenizer
		}{of, counter, tokenizer}
	case counts:
		return struct {
			*embedder
			port.TokenCounter
		}{of, counter}
	case tokenizes:
		return struct {
			*embedder
			port.Tokenizer
		}{of, tokenizer}
	}
	return of
}

type sparseEncoder struct {
	port.SparseEncoder
	on *watched
}

// Encode implements port.SparseEncoder.
func (m *sparseEncoder) Encode(ctx context.Context, as port.TextKind, texts []string) (port.Sparse, error) {
	v, err := call(ctx, m.on, func() (port.Sparse, error) { return m.SparseEncoder.Encode(ctx, as, texts) })
	if err == nil {
		m.on.did(ctx, port.Usage{TokensSparse: sum(v.Tokens)})
	}
	return v, err
}

// SparseEncoder watches a sparse encoder, and keeps its ability to give word pieces;
// nil stays nil.
func (w *Watch) SparseEncoder(m port.SparseEncoder) port.SparseEncoder {
	if m == nil {
		return nil
	}
	of := &sparseEncoder{m, w.on(m, port.TaskSparse)}
	if tokenizer, ok := m.(port.Tokenizer); ok {
		return struct {
			*sparseEncoder
			port.Tokenizer
		}{of, tokenizer}
	}
	return of
}

type reranker struct {
	port.Reranker
	on *watched
}

// Score implements port.Reranker.
func (m *reranker) Score(ctx context.Context, query string, texts []string) (scores []float32, truncated int, err error) {
	scores, err = call(ctx, m.on, func() (p []float32, err error) {
		p, truncated, err = m.Reranker.Score(ctx, query, texts)
		return p, err
	})
	if err == nil {
		m.on.did(ctx, port.Usage{PairsReranked: int64(len(texts))})
	}
	return scores, truncated, err
}

// CutsQuery implements port.QueryCutter.
func (m *reranker) CutsQuery(ctx context.Context, query string) (bool, error) {
	return retrieve.CutsQuery(ctx, m.Reranker, query)
}

// Reranker watches a reranker, and keeps its ability to count; nil stays nil.
func (w *Watch) Reranker(m port.Reranker) port.Reranker {
	if m == nil {
		return nil
	}
	of := &reranker{m, w.on(m, port.TaskRerank)}
	if counter, ok := m.(port.TokenCounter); ok {
		return struct {
			*reranker
			port.TokenCounter
		}{of, counter}
	}
	return of
}

type synthesizer struct {
	port.Synthesizer
	on *watched
}

// Synthesize implements port.Synthesizer.
func (m *synthesizer) Synthesize(ctx context.Context, q port.Question) (port.Synthesis, error) {
	return call(ctx, m.on, func() (port.Synthesis, error) { return m.Synthesizer.Synthesize(ctx, q) })
}

// Synthesizer watches a model that writes answers; nil stays nil.
func (w *Watch) Synthesizer(m port.Synthesizer) port.Synthesizer {
	if m == nil {
		return nil
	}
	return &synthesizer{m, w.on(m, port.TaskSynthesize)}
}
