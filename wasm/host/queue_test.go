package host

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/wasm/abi"
)

// TestOrder: queries go before scores, scores before passages, calls of a class
// in turn; and the worker for queries takes nothing else.
func TestOrder(t *testing.T) {
	var rush atomic.Int32
	q := newQueue(100, &rush)
	call := func(name string, c class, jobs int) *stream {
		s := &stream{op: name, class: c, results: make(chan outcome, jobs)}
		s.ctx, s.cancel = context.WithCancel(t.Context())
		for range jobs {
			s.jobs = append(s.jobs, &job{stream: s})
		}
		if err := q.add(s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	take := func(last class, n int) string {
		var got []string
		for range n {
			got = append(got, q.take(last).stream.op)
		}
		return strings.Join(got, " ")
	}
	call("p", passages, 3)
	call("p2", passages, 1)
	call("s", scores, 3)
	call("s2", scores, 2)
	if got, want := take(passages, 2), "s s2"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	call("q", queries, 2)
	call("q2", queries, 1)
	if got, want := take(queries, 3), "q q2 q"; got != want {
		t.Errorf("the worker for queries took %s, want %s", got, want)
	}
	if n := rush.Load(); n != 3 {
		t.Errorf("%d jobs in a rush, want 3", n)
	}
	if got, want := take(passages, 4), "s s2 s p"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	gone := call("s3", scores, 2)
	gone.cancel()
	if got, want := take(passages, 3), "p2 p p"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	if n, waiting := rush.Load(), q.waiting(); n != 0 || waiting != 0 {
		t.Errorf("%d jobs in a rush and %d calls waiting, want none", n, waiting)
	}
	left := call("s4", scores, 2)
	q.leave(left)
	late := call("s5", scores, 1)
	if n := rush.Load(); n != 1 {
		t.Errorf("%d jobs in a rush, want 1", n)
	}
	q.shut()
	if o := <-late.results; o.err == nil || rush.Load() != 0 {
		t.Errorf("after shutting down: %v and %d jobs in a rush", o.err, rush.Load())
	}
	if q.take(passages) != nil {
		t.Error("a shut queue gave a job")
	}
}

// TestCut: the batches of a rerank count the query with every text, hold each
// text once, and none is above what a call into the module should get.
func TestCut(t *testing.T) {
	m := &Model{options: Options{Instances: 2}.withDefaults()}
	m.info.MaxTokens = 512
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = strings.Repeat("word ", i)
	}
	for name, head := range map[string][]string{"passages": nil, "rerank": {strings.Repeat("word ", 40)}} {
		s := &stream{op: abi.FuncRerank, head: head}
		seen := make([]int, len(texts))
		for _, j := range m.cut(s, texts) {
			tokens, most := 0, 0
			for i, row := range j.rows {
				if j.texts[i] != texts[row] {
					t.Fatalf("%s: text %d came as another", name, row)
				}
				seen[row]++
				n := m.estimate(texts[row])
				for _, h := range head {
					n = min(n+m.estimate(h), m.info.MaxTokens)
				}
				tokens, most = tokens+n, max(most, n)
			}
			if tokens > max(batchTokens, most) {
				t.Errorf("%s: a batch of %d tokens", name, tokens)
			}
		}
		for row, n := range seen {
			if n != 1 {
				t.Errorf("%s: text %d came %d times", name, row, n)
			}
		}
	}
}
