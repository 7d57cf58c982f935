package host

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
)

// TestOrder: queries go before scores, scores before passages, calls of a class
// in turn; and the worker for queries takes nothing else.
func TestOrder(t *testing.T) {
	q := newQueue(100, 3)
	call := func(name string, c class, jobs int) *stream {
		s := &stream{op: name, class: c, results: make(chan outcome, jobs+1)}
		s.ctx, s.cancel = context.WithCancel(t.Context())
		for range jobs {
			s.jobs = append(s.jobs, &job{stream: s})
		}
		if err := q.add(s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	take := func(d duty, n int) string { // and ends them
		var got []string
		for range n {
			j := q.take(d)
			got = append(got, j.stream.op)
			before := len(j.stream.results)
			j.complete(abi.Result{}, nil)
			j.complete(abi.Result{}, nil) // counts once
			if n := len(j.stream.results) - before; n != 1 {
				t.Errorf("%d outcomes of a job", n)
			}
			q.release(j, d)
		}
		return strings.Join(got, " ")
	}
	left := func(want ...int) {
		t.Helper()
		for c, line := range q.lines {
			n := 0
			for _, s := range line {
				n += len(s.jobs)
			}
			if n != want[c] {
				t.Errorf("%d jobs of class %d, want %d", n, c, want[c])
			}
		}
	}
	call("p", passages, 3)
	call("p2", passages, 1)
	call("s", scores, 3)
	call("s2", scores, 2)
	if got, want := take(anything, 2), "s s2"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	call("q", queries, 2)
	call("q2", queries, 1)
	if got, want := take(queriesOnly, 3), "q q2 q"; got != want {
		t.Errorf("the worker for queries took %s, want %s", got, want)
	}
	left(0, 3, 4)
	if got, want := take(anything, 4), "s s2 s p"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	gone := call("s3", scores, 2)
	gone.cancel()
	if got, want := take(anything, 3), "p2 p p"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	left(0, 0, 0)
	if n := q.waiting(); n != 0 {
		t.Errorf("%d calls waiting, want none", n)
	}
	q.removeStream(call("s4", scores, 2))
	late := call("s5", scores, 2)
	running := q.take(anything)
	left(0, 1, 0)
	q.shut()
	if o := <-late.results; o.err == nil {
		t.Error("a call in line survives the end")
	}
	left(0, 0, 0)
	running.complete(abi.Result{}, nil)
	if q.take(anything) != nil {
		t.Error("a shut queue gave a job")
	}
	if q.awaitSecond() {
		t.Error("a shut queue has a second organization")
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
	q := newQueue(8, 2)
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
	take := func(n int) (got string) {
		for range n {
			j := q.take(anything)
			got += j.stream.op + " "
			j.complete(abi.Result{}, nil)
			q.release(j, anything)
		}
		return got
	}
	if got := take(9); got != "a0 b1 c2 a0 b2 a0 b2 a0 b2 " {
		t.Errorf("in the order %s", got)
	}
	if got := take(5); got != "a1 a1 a2 a2 a2 " {
		t.Errorf("what is left: %s", got)
	}
}

// by is a context of a key's calls.
func by(ctx context.Context, org, key string) context.Context {
	return ident.WithPrincipal(ctx, ident.Principal{Org: ident.Org(org), KeyID: key})
}

// line is a queue with streams of one job each, named after their callers.
func line(t *testing.T, q *queue, c class, callers ...string) (streams []*stream) {
	t.Helper()
	for _, who := range callers {
		s := &stream{op: who, class: c, results: make(chan outcome, 1)}
		s.ctx, s.cancel = context.WithCancel(by(t.Context(), who[:1], who))
		s.jobs = []*job{{stream: s}}
		if err := q.add(s); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	return streams
}

// next takes jobs that are there, and no more than n.
func next(q *queue, d duty, n int) (names string, jobs []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for range n {
		j := q.next(d)
		if j == nil {
			break
		}
		names, jobs = names+j.stream.op+" ", append(jobs, j)
	}
	return names, jobs
}

// TestTurnsOfKeys: within a class the keys of an organization take turns, so that one
// with many calls doesn't keep the others waiting.
func TestTurnsOfKeys(t *testing.T) {
	q := newQueue(100, 2)
	line(t, q, queries, "a1", "a1", "a1", "a2", "a1", "b1", "a2")
	line(t, q, passages, "a3", "a3")
	if got, _ := next(q, anything, 20); got != "a1 b1 a2 a1 a2 a1 a1 a3 a3 " {
		t.Errorf("in the order %s", got)
	}
	line(t, q, queries, "a2", "a1") // a new line begins with the first
	if got, _ := next(q, anything, 20); got != "a2 a1 " {
		t.Errorf("afterwards in the order %s", got)
	}
}

// TestHeldCallers: callers whose calls ran out of time have together all workers but one and
// not that for queries, one after another gives its place on, and after a while they are as
// the others.
func TestHeldCallers(t *testing.T) {
	now := time.Now()
	q := newQueue(100, 3)
	q.now = func() time.Time { return now }
	evil := line(t, q, queries, "a1", "a1", "b1", "b1")
	q.hold(evil[0])
	q.hold(evil[2])
	if got, _ := next(q, queriesOnly, 9); got != "" {
		t.Errorf("the worker for queries took %s", got)
	}
	names, jobs := next(q, anything, 9)
	if names != "a1 b1 " {
		t.Fatalf("held callers have %s at once, want two", names)
	}
	line(t, q, queries, "a2", "c1")
	if got, _ := next(q, queriesOnly, 9); got != "c1 a2 " {
		t.Errorf("the worker for queries took %s of the others", got)
	}
	line(t, q, passages, "c1")
	if got, _ := next(q, anything, 9); got != "c1 " {
		t.Errorf("while held callers have their share, %s goes", got)
	}
	q.release(jobs[0], anything)
	q.release(jobs[0], anything) // counts once
	if got, _ := next(q, anything, 9); got != "a1 " && got != "b1 " {
		t.Errorf("in a place that is free again goes %s", got)
	}
	if now = now.Add(heldFor); q.holds(evil[0].caller()) {
		t.Error("it is held for ever")
	}
	if got, _ := next(q, queriesOnly, 9); got != "a1 " && got != "b1 " {
		t.Errorf("afterwards goes %s", got)
	}
	q.hold(evil[2])
	if len(q.until) != 1 {
		t.Errorf("%d callers are remembered", len(q.until))
	}
	one := newQueue(100, 1)
	one.hold(evil[0])
	line(t, one, passages, "a1", "a1")
	if got, _ := next(one, anything, 9); got != "a1 " {
		t.Errorf("of a single worker a held caller has %s", got)
	}
}

// TestGuests: while the workers for anything are busy, a guest, who has no job running with
// them, has the workers for guests, and nobody else has.
func TestGuests(t *testing.T) {
	q := newQueue(100, 2)
	guest := func() string { // what the guests' worker would take
		names, jobs := next(q, guests, 1)
		for _, j := range jobs {
			q.release(j, guests)
			j.stream.jobs = []*job{j}
			q.lines[j.stream.class] = append(q.lines[j.stream.class], j.stream)
		}
		return names
	}
	line(t, q, passages, "a1")
	line(t, q, scores, "b1")
	if got := guest(); got != "" {
		t.Errorf("with two workers free the guests' takes %s", got)
	}
	if !q.awaitSecond() {
		t.Error("an open queue is shut")
	}
	first, second := q.take(anything), q.take(anything)
	line(t, q, queries, "a1", "b1")
	if got := guest(); got != "" {
		t.Errorf("the guests' worker takes %s, which has one already", got)
	}
	line(t, q, passages, "c1", "c2")
	third := q.take(guests)
	if third.stream.op != "c1" {
		t.Errorf("the guests' worker takes %s", third.stream.op)
	}
	if got := guest(); got != "c2 " {
		t.Errorf("beside its first job the guest takes %q", got)
	}
	q.release(third, guests)
	q.release(third, guests) // counts once
	if got := guest(); got != "c2 " {
		t.Errorf("when its job has ended the guest takes %q", got)
	}
	q.release(first, anything)
	if got := guest(); got != "" {
		t.Errorf("with a worker free the guests' takes %s", got)
	}
	q.release(second, anything)
	q.hold(third.stream)
	for range 2 {
		line(t, q, passages, "a1")
		q.take(anything)
	}
	line(t, q, queries, "c1")
	if got := guest(); got != "c2 " {
		t.Errorf("with a key of its held the guest takes %q", got)
	}
}

// TestGuestComesLate: the guests' worker that sleeps wakes for a call that came before the
// workers were busy, and for one that comes after.
func TestGuestComesLate(t *testing.T) {
	for _, late := range []bool{false, true} {
		q := newQueue(100, 1)
		taken := make(chan *job)
		line(t, q, queries, "a1")
		if !late {
			line(t, q, passages, "b1")
		}
		go func() { taken <- q.take(guests) }()
		j := q.take(anything)
		if late {
			line(t, q, passages, "b1")
		}
		if other := <-taken; j.stream.op+other.stream.op != "a1b1" {
			t.Errorf("late %t: the guests' worker takes %s beside %s", late, other.stream.op, j.stream.op)
		}
	}
}

// stranger is the module of wasm/abitest that does what its first text says.
func stranger(t *testing.T, o Options) *Model {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("..", "abitest", "testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	o.Log = slog.New(slog.DiscardHandler)
	m, err := Open(t.Context(), Module{Wasm: wasm, Config: []byte("{}")}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestLoopsLeaveRoom: while a caller's texts loop on every instance that it may have, another's
// query and passage are answered. The loops end with the test alone.
func TestLoopsLeaveRoom(t *testing.T) {
	m := stranger(t, Options{Instances: 2, CallTimeout: 300 * time.Millisecond})
	evil, good := by(t.Context(), "a", "evil"), by(t.Context(), "a", "good")
	for range 2 {
		if _, err := m.Embed(evil, port.Query, []string{"loop"}); fault.CodeOf(err) != fault.Timeout {
			t.Fatalf("got %v, want a timeout", err)
		}
	}
	m.options.CallTimeout = 10 * time.Hour // no call runs
	ctx, cancel := context.WithCancel(evil)
	var loops sync.WaitGroup
	for range 4 {
		loops.Go(func() { _, _ = m.Embed(ctx, port.Passage, []string{"loop"}) })
		loops.Go(func() { _, _ = m.Embed(ctx, port.Query, []string{"loop"}) })
	}
	for end := time.Now().Add(time.Minute); m.queue.waiting() != 7; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			cancel()
			t.Fatalf("%d of 8 looping calls wait, one is to run", m.queue.waiting())
		}
	}
	for _, as := range []port.TextKind{port.Query, port.Passage, port.Query} {
		if _, err := m.Embed(good, as, []string{"ok"}); err != nil {
			t.Errorf("another caller gets %v", err)
		}
	}
	cancel()
	loops.Wait()
}

// TestNobodyIsHeldForLeaving: a caller that leaves at once, or whose text is refused, is not held.
func TestNobodyIsHeldForLeaving(t *testing.T) {
	m := stranger(t, Options{Instances: 1, CallTimeout: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Embed(ctx, port.Passage, []string{"loop"}); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("got %v, want a timeout", err)
	}
	if _, err := m.Embed(t.Context(), port.Passage, []string{"trap"}); err == nil {
		t.Error("a trap gave an answer")
	}
	m.queue.mu.Lock()
	defer m.queue.mu.Unlock()
	if len(m.queue.until) != 0 {
		t.Errorf("held are %v", m.queue.until)
	}
}

// TestCallLimit: the time limit goes with the work, a query has a sixth of it and a score a
// third, none less than the least, and our own modules have all of it.
func TestCallLimit(t *testing.T) {
	m := &Model{options: Options{Instances: 1}.withDefaults()}
	m.info.MaxTokens = 512
	word := func(tokens int) string { return strings.Repeat("word", tokens-6) } // the estimate adds 6
	for name, c := range map[string]struct {
		stream *stream
		texts  []string
		limit  time.Duration // of 30 s
	}{
		"little":        {&stream{op: abi.FuncEmbed, class: passages}, []string{"ok"}, 3 * time.Second},
		"half":          {&stream{op: abi.FuncEmbed, class: passages}, []string{word(128), word(128)}, 15 * time.Second},
		"all":           {&stream{op: abi.FuncEmbed, class: passages}, []string{word(512)}, 30 * time.Second},
		"beyond":        {&stream{op: abi.FuncSparse, class: passages}, []string{word(512), word(99)}, 30 * time.Second},
		"a short query": {&stream{op: abi.FuncEmbed, class: queries, query: true}, []string{"ok"}, 3 * time.Second},
		"a long query":  {&stream{op: abi.FuncSparse, class: queries, query: true}, []string{word(512)}, 5 * time.Second},
		"scores": {&stream{op: abi.FuncRerank, class: scores, head: []string{word(256)}}, []string{word(256)},
			10 * time.Second},
		"few scores": {&stream{op: abi.FuncRerank, class: scores, head: []string{word(64)}}, []string{word(64)},
			7500 * time.Millisecond},
		"counting little": {&stream{op: abi.FuncTokens, class: queries}, []string{word(512)}, 3 * time.Second},
		"counting much":   {&stream{op: abi.FuncIDs, class: queries}, []string{strings.Repeat("w", 1<<15)}, 15 * time.Second},
	} {
		j := &job{stream: c.stream, texts: c.texts}
		if got := m.callLimit(j); got != c.limit {
			t.Errorf("%s: %s of 30 s, want %s", name, got, c.limit)
		}
		m.options.CallTimeout = time.Second
		if got := m.callLimit(j); got != time.Second {
			t.Errorf("%s: %s of a second", name, got)
		}
		m.options.CallTimeout, m.module.Interrupt = 30*time.Second, Cooperative
		if got := m.callLimit(j); got != 30*time.Second {
			t.Errorf("%s: %s of a module of our own", name, got)
		}
		m.module.Interrupt = Enforced
	}
}
