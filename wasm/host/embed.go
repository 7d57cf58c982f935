package host

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// batchTokens is how many tokens one call into the module gets, about: enough
// for the module to work at full speed, few enough for a query to come soon.
const batchTokens = 512

// Embed turns texts into vectors; see port.Embedder.
func (m *Model) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	const op = "embed"
	out := port.Dense{Dim: m.info.Dimensions, Data: make([]float32, len(texts)*m.info.Dimensions), Tokens: make([]int, len(texts))}
	err := m.each(ctx, op, abi.FuncEmbed, as == port.Query, texts, func(j *job, r abi.Result) error {
		if r.Kind != abi.KindDense || r.Rows != len(j.texts) || r.Dim != out.Dim || r.Tokens == nil {
			return fault.New(fault.Upstream, "the model answered kind %d with %d rows of %d for %d texts of %d", r.Kind, r.Rows, r.Dim, len(j.texts), out.Dim)
		}
		for i, row := range j.rows {
			copy(out.Row(row), r.Floats[i*r.Dim:(i+1)*r.Dim])
			out.Tokens[row] = int(r.Tokens[i])
		}
		return nil
	})
	if err != nil {
		return port.Dense{}, err
	}
	return out, nil
}

// CountTokens counts word pieces; see port.TokenCounter. Being cheap, it goes
// before passages.
func (m *Model) CountTokens(ctx context.Context, texts []string) ([]int, error) {
	const op = "count tokens"
	out := make([]int, len(texts))
	err := m.each(ctx, op, abi.FuncTokens, false, texts, func(j *job, r abi.Result) error {
		if r.Kind != abi.KindCounts || r.Rows != len(j.texts) {
			return fault.New(fault.Upstream, "the model answered kind %d with %d rows for %d texts", r.Kind, r.Rows, len(j.texts))
		}
		for i, row := range j.rows {
			out[row] = int(r.Counts[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// TokenIDs gives the word pieces of each text as the model reads it: prefix and
// special tokens included, cut at the window.
func (m *Model) TokenIDs(ctx context.Context, as port.TextKind, texts []string) ([][]uint32, error) {
	const op = "token ids"
	out := make([][]uint32, len(texts))
	err := m.each(ctx, op, abi.FuncIDs, as == port.Query, texts, func(j *job, r abi.Result) error {
		if r.Kind != abi.KindIDs || r.Rows != len(j.texts) {
			return fault.New(fault.Upstream, "the model answered kind %d with %d rows for %d texts", r.Kind, r.Rows, len(j.texts))
		}
		for i, row := range j.rows {
			out[row] = slices.Clone(r.Terms[r.Index[i]:r.Index[i+1]])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// each cuts texts into batches, runs them on the pool and hands each answer to
// use, in the caller's goroutine. It returns as soon as ctx ends.
func (m *Model) each(ctx context.Context, op, function string, query bool, texts []string, use func(*job, abi.Result) error) error {
	if err := ctx.Err(); err != nil {
		return m.translate(op, err)
	}
	for i, s := range texts {
		if !utf8.ValidString(s) {
			return fault.Field(fault.InvalidRequest, "texts", "text %d is not valid UTF-8", i)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	s := &stream{op: function, query: query, urgent: query || function == abi.FuncTokens}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.jobs = m.cut(s, texts)
	n := len(s.jobs)
	s.results = make(chan outcome, n)
	defer m.queue.leave(s)
	if err := m.queue.add(s); err != nil {
		return err
	}
	wait := time.NewTimer(m.options.QueueTimeout)
	defer wait.Stop()
	for n > 0 {
		select {
		case o := <-s.results:
			if err := ctx.Err(); err != nil {
				return m.translate(op, err)
			}
			if o.err != nil {
				return m.translate(op, o.err)
			}
			if err := use(o.job, o.result); err != nil {
				return err
			}
			n--
		case <-wait.C:
			if !s.started.Load() {
				return fault.New(fault.Unavailable, "the model is busy").After(time.Second)
			}
		case <-ctx.Done():
			return m.translate(op, ctx.Err())
		}
	}
	return nil
}

// cut makes batches of about equal work, longest texts first, as many as keep
// every instance busy and none above batchTokens unless one text is.
func (m *Model) cut(s *stream, texts []string) []*job {
	type item struct{ row, tokens int }
	items, total := make([]item, len(texts)), 0
	for i, text := range texts {
		items[i] = item{i, m.estimate(text)}
		total += items[i].tokens
	}
	slices.SortStableFunc(items, func(a, b item) int { return b.tokens - a.tokens })
	workers := m.options.Instances
	rounds := (total + workers*batchTokens - 1) / (workers * batchTokens)
	budget := (total + workers*rounds - 1) / (workers * rounds)
	var jobs []*job
	used := 0
	for _, it := range items {
		if len(jobs) == 0 || used+it.tokens > budget {
			jobs = append(jobs, &job{stream: s})
			used = 0
		}
		j := jobs[len(jobs)-1]
		j.texts, j.rows = append(j.texts, texts[it.row]), append(j.rows, it.row)
		used += it.tokens
	}
	return jobs
}

// estimate guesses the tokens that the model reads of a text: four bytes of
// ASCII make one, two bytes of anything else.
func (m *Model) estimate(text string) int {
	high := 0
	for i := 0; i < len(text) && i < 8*m.info.MaxTokens; i++ {
		if text[i] >= utf8.RuneSelf {
			high++
		}
	}
	return min(m.info.MaxTokens, 6+len(text)/4+high/4)
}

var (
	_ port.Embedder     = (*Model)(nil)
	_ port.TokenCounter = (*Model)(nil)
)
