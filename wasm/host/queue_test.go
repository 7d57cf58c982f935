package host

import (
	"context"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/wasm/abi"
)

// TestOrder: queries go before scores, scores before passages, calls of a class
// in turn; and the worker for queries takes nothing else.
func TestOrder(t *testing.T) {
	var load load
	q := newQueue(100, &load)
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
	take := func(last class, n int) string { // and ends them
		var got []string
		for range n {
			j := q.take(last)
			got = append(got, j.stream.op)
			j.complete(abi.Result{}, nil)
			j.complete(abi.Result{}, nil) // counts once
		}
		return strings.Join(got, " ")
	}
	left := func(want ...int32) {
		t.Helper()
		for c := range classes {
			if n := load[c].Load(); n != want[c] {
				t.Errorf("%d jobs of class %d, want %d", n, c, want[c])
			}
		}
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
	left(0, 3, 4)
	for c, want := range []bool{false, false, true} {
		if load.hasEarlier(class(c)) != want {
			t.Errorf("with scores in line class %d gives way: %t", c, !want)
		}
	}
	if got, want := take(passages, 4), "s s2 s p"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	gone := call("s3", scores, 2)
	gone.cancel()
	if got, want := take(passages, 3), "p2 p p"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	left(0, 0, 0)
	if n := q.waiting(); n != 0 {
		t.Errorf("%d calls waiting, want none", n)
	}
	q.removeStream(call("s4", scores, 2))
	late := call("s5", scores, 2)
	running := q.take(scores)
	left(0, 2, 0)
	call("q3", queries, 1)
	for c := range classes {
		if alone := c == queries; load.hasEarlier(c) == alone {
			t.Errorf("with one query in line class %d gives way: %t", c, !alone)
		}
	}
	q.shut()
	if o := <-late.results; o.err == nil {
		t.Error("a call in line survives the end")
	}
	left(0, 1, 0)
	running.complete(abi.Result{}, nil)
	left(0, 0, 0)
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
		for _, j := range m.makeBatches(s, texts) {
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

// TestTurnsOfOrganizations: the organizations that wait take turns, whatever classes their
// calls are of, and a line that one has filled takes a quarter of another's.
func TestTurnsOfOrganizations(t *testing.T) {
	q := newQueue(8, new(load))
	call := func(org string, c class, jobs int) error {
		s := &stream{op: org + string('0'+rune(c)), class: c, results: make(chan outcome, jobs)}
		s.ctx, s.cancel = context.WithCancel(ident.WithPrincipal(t.Context(), ident.Principal{Org: ident.Org(org)}))
		for range jobs {
			s.jobs = append(s.jobs, &job{stream: s})
		}
		return q.add(s)
	}
	for _, w := range []struct {
		org   string
		class class
		jobs  int
		fails bool
	}{
		{"a", queries, 1, false}, {"a", queries, 2, false}, {"a", queries, 1, false}, {"a", passages, 1, false},
		{"a", passages, 1, false}, {"a", passages, 1, false}, {"a", scores, 1, false}, {"a", scores, 1, false},
		{"a", queries, 1, true}, {"b", passages, 3, false}, {"b", scores, 1, false}, {"b", queries, 1, true},
		{"c", passages, 1, false},
	} {
		if err := call(w.org, w.class, w.jobs); (err != nil) != w.fails {
			t.Fatalf("%+v: %v", w, err)
		}
	}
	take := func(last class, n int) (got string) {
		for range n {
			j := q.take(last)
			got += j.stream.op + " "
			j.complete(abi.Result{}, nil)
		}
		return got
	}
	if got := take(passages, 9); got != "a0 b1 c2 a0 b2 a0 b2 a0 b2 " {
		t.Errorf("in the order %s", got)
	}
	if got := take(passages, 5); got != "a1 a1 a2 a2 a2 " {
		t.Errorf("what is left: %s", got)
	}
}
