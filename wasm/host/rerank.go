package host

import (
	"context"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// Score gives the probability that each text answers the query; see
// port.Reranker. It goes before passages and after queries.
func (m *Model) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	const op = "score"
	if err := m.requireTask(port.TaskRerank); err != nil {
		return nil, 0, err
	}
	if !utf8.ValidString(query) {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "is not valid UTF-8")
	}
	out, truncated := make([]float32, len(texts)), 0
	s := &stream{op: abi.FuncRerank, class: scores, head: []string{query}, check: checkScores}
	err := m.runBatches(ctx, op, s, texts, func(j *job, r abi.Result) {
		for i, at := range j.rows {
			out[at] = r.Floats[i]
			// A module that doesn't tell what it cut tells at least what it read.
			if r.Cut != nil && r.Cut[i] != 0 || r.Cut == nil && r.Tokens != nil && int(r.Tokens[i]) >= m.info.MaxTokens {
				truncated++
			}
		}
	})
	if err != nil {
		return nil, 0, err
	}
	return out, truncated, nil
}

// CutsQuery reports whether the module reads only the beginning of a query; see
// port.QueryCutter.
func (m *Model) CutsQuery(ctx context.Context, query string) (bool, error) {
	if err := m.requireTask(port.TaskRerank); err != nil {
		return false, err
	}
	room, err := m.queryRoom(ctx)
	if err != nil || len(query) <= room { // no text has more tokens than bytes
		return false, err
	}
	if !m.counts {
		return m.estimate(query) > room, nil
	}
	n, err := m.CountTokens(ctx, []string{query})
	return err == nil && n[0] > room, err
}

// queryRoom is how many tokens of a query the module reads. One that reads query and
// text together keeps half of its window for the text; one that reads each alone has
// all of it for the query. Which it is shows in what it counts for a short text: with
// the query's tokens, or without. One that does not count is taken for the former.
func (m *Model) queryRoom(ctx context.Context) (int, error) {
	if room := int(m.room.Load()); room != 0 {
		return room, nil
	}
	const query, text = "how much of a query does a model read that is to say which texts are about it", "none"
	frame, together := 2, true
	if m.ids {
		ids, err := m.TokenIDs(ctx, port.Query, []string{""})
		if err != nil {
			return 0, err
		}
		frame = len(ids[0])
	}
	if m.counts {
		counts, err := m.CountTokens(ctx, []string{query, text})
		if err != nil {
			return 0, err
		}
		s := &stream{op: abi.FuncRerank, class: scores, head: []string{query}, check: checkScores}
		err = m.runBatches(ctx, "score", s, []string{text}, func(_ *job, r abi.Result) {
			if r.Tokens != nil && int(r.Tokens[0]) < m.info.MaxTokens {
				together = int(r.Tokens[0]) >= min(counts[0], m.info.MaxTokens/2)
			}
		})
		if err != nil {
			return 0, err
		}
	}
	room := m.info.MaxTokens - frame
	if together {
		room = m.info.MaxTokens/2 - (frame - 2)
	}
	room = max(1, room)
	m.room.Store(int32(room))
	return room, nil
}

var (
	_ port.Reranker    = (*Model)(nil)
	_ port.QueryCutter = (*Model)(nil)
)
