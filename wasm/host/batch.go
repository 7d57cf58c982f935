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

// sidedStream is a call whose texts are queries or passages.
func sidedStream(function string, as port.TextKind, check func(abi.Result, int) error) *stream {
	if as == port.Query {
		return &stream{op: function, class: queries, query: true, check: check}
	}
	return &stream{op: function, class: passages, check: check}
}

// requireTask fails unless the model has a task.
func (m *Model) requireTask(task port.Task) error {
	if slices.Contains(m.info.Tasks, task) {
		return nil
	}
	return fault.New(fault.Upstream, "the model %s does not have task %s", m.info.ID, task)
}

// runBatches cuts texts into batches, runs them on the pool as s says and hands each
// checked answer to use, in the caller's goroutine. It returns as soon as ctx ends.
func (m *Model) runBatches(ctx context.Context, op string, s *stream, texts []string, use func(*job, abi.Result)) error {
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
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.jobs = m.makeBatches(s, texts)
	n := len(s.jobs)
	s.results = make(chan outcome, n)
	defer m.queue.removeStream(s)
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
			use(o.job, o.result)
			n--
		case <-wait.C:
			if !s.started.Load() {
				return fault.Busy("the model is busy")
			}
		case <-ctx.Done():
			return m.translate(op, ctx.Err())
		}
	}
	return nil
}

// makeBatches makes batches of about equal work, longest texts first, as many as keep
// every instance busy and none above batchTokens unless one text is.
func (m *Model) makeBatches(s *stream, texts []string) []*job {
	type item struct{ row, tokens int }
	items, total, head := make([]item, len(texts)), 0, 0
	for _, text := range s.head {
		head += m.estimate(text)
	}
	for i, text := range texts {
		items[i] = item{i, min(m.info.MaxTokens, head+m.estimate(text))}
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
