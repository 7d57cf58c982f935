package host

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/wasm/abi"
)

// class is the priority of a call: lower goes first.
type class int

// The classes of calls. A query has a worker of its own beside. Scores follow:
// a user waits for them too, but a call of many texts works long, so it takes
// the workers of passages, before any passage, and leaves the queries' worker
// alone. So a query never waits for a score to end, and a score for at most the
// batch of passages that runs.
const (
	queries class = iota
	scores
	passages
	classes
)

// load counts the jobs of each class that are in line or running, of every model
// of the process.
type load [classes]atomic.Int32

// classKey is where the context of a call has the class of its job.
type classKey struct{}

// hasEarlier tells whether there is a job that should run before one of class c.
func (l *load) hasEarlier(c class) bool {
	switch c {
	case queries: // with its like in turn: counting the tokens of a long text is one too
		return l[queries].Load() > 1
	case scores:
		return l[queries].Load() > 0
	default:
		return l[queries].Load()+l[scores].Load() > 0
	}
}

// stream is one call of a caller: its batches, in the order they shall run.
type stream struct {
	ctx     context.Context // ends when the caller stops waiting
	cancel  context.CancelFunc
	op      string
	class   class
	query   bool     // flag of the requests
	head    []string // goes before the texts of each batch: the query of a rerank
	check   func(r abi.Result, rows int) error
	jobs    []*job
	load    *load
	started atomic.Bool
	results chan outcome
}

// job is one batch of texts.
type job struct {
	stream  *stream
	texts   []string
	rows    []int // where the texts stand in the call
	settled atomic.Bool
	held    bool // it takes one of the places of callers whose calls ran out of time; guarded by the queue's mu
}

type outcome struct {
	job    *job
	result abi.Result
	err    error
}

// complete delivers the outcome; only the first counts.
func (j *job) complete(r abi.Result, err error) {
	if j.settled.CompareAndSwap(false, true) {
		j.stream.load[j.stream.class].Add(-1)
		j.stream.results <- outcome{j, r, err} // has room for every job
	}
}

// caller is whose call it is; without a key nobody's whose name is known.
type caller struct {
	org ident.Org
	key string
}

// queue holds the waiting streams: class by class, each class in turn. The organizations
// that wait take turns before that, whatever the classes of their streams, so that one
// that asks for more than the model can do waits for itself. Within a class the keys of
// an organization take turns as well.
//
// A caller whose call a stranger's module did not end in its time is held to a share of
// the workers for a while: to all but one, together with its like, and not that for
// queries. So calls that loop, however many, leave a worker to the others.
type queue struct {
	mu     sync.Mutex
	ready  *sync.Cond
	lines  [classes][]*stream
	limit  int
	closed bool
	load   *load
	turn   uint64               // jobs taken
	last   map[ident.Org]uint64 // turn of the last job of each organization, since the queue was empty
	keys   map[caller]uint64    // and of each key

	share int                  // of the workers for passages, that held callers may have at once
	held  int                  // how many they have
	until map[caller]time.Time // when a caller is held no longer
	now   func() time.Time
}

// heldFor is how long a caller is held after a call that ran out of time.
const heldFor = time.Minute

func newQueue(limit, instances int, load *load) *queue {
	q := &queue{limit: limit, load: load, last: map[ident.Org]uint64{}, keys: map[caller]uint64{},
		share: max(1, instances-1), until: map[caller]time.Time{}, now: time.Now}
	q.ready = sync.NewCond(&q.mu)
	return q
}

// add puts a stream in line, or says why not.
func (q *queue) add(s *stream) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return fault.New(fault.Unavailable, "the model is shutting down").After(time.Second)
	}
	if q.length() >= q.limit && q.waitingOf(s.org()) >= q.limit/4 {
		return fault.Busy("the model is busy: %d calls are waiting", q.limit)
	}
	q.lines[s.class] = append(q.lines[s.class], s)
	s.load = q.load
	s.load[s.class].Add(int32(len(s.jobs)))
	q.ready.Broadcast() // the worker for queries alone may sleep beside the others
	return nil
}

// take waits for a job of class last or before; nil when the queue is shut.
func (q *queue) take(last class) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return nil
		}
		if j := q.next(last); j != nil {
			return j
		}
		q.ready.Wait()
	}
}

// next takes a job of class last or before, of the organization whose turn it is and, in
// its first class, of the key: of the first stream, which it moves behind the others.
// Streams whose caller is gone are dropped.
func (q *queue) next(last class) *job {
	var first *stream
	for c := queries; c <= last; c++ {
		q.lines[c] = slices.DeleteFunc(q.lines[c], func(s *stream) bool {
			gone := s.ctx.Err() != nil || len(s.jobs) == 0
			if gone {
				q.dropRest(s)
			} else if q.admits(s, last) && (first == nil || q.before(s, first)) {
				first = s
			}
			return gone
		})
	}
	if first == nil {
		if q.length() == 0 {
			clear(q.last)
			clear(q.keys)
		}
		return nil
	}
	q.turn++
	q.last[first.org()], q.keys[first.caller()] = q.turn, q.turn
	line := &q.lines[first.class]
	at := slices.Index(*line, first)
	*line = slices.Delete(*line, at, at+1)
	j := first.jobs[0]
	if first.jobs = first.jobs[1:]; len(first.jobs) > 0 {
		*line = append(*line, first)
	}
	first.started.Store(true)
	if j.held = q.holds(first.caller()); j.held {
		q.held++
	}
	return j
}

// before tells whether it is s's turn and not that of first, which is of the same class or
// of an earlier one.
func (q *queue) before(s, first *stream) bool {
	a, b := s.caller(), first.caller()
	if a.org != b.org {
		return q.last[a.org] < q.last[b.org]
	}
	return s.class == first.class && q.keys[a] < q.keys[b]
}

// admits tells whether a worker that serves the classes up to last may take a job of s.
func (q *queue) admits(s *stream, last class) bool {
	return !q.holds(s.caller()) || last == passages && q.held < q.share
}

// holds tells whether a caller is held. The caller of it holds mu.
func (q *queue) holds(c caller) bool {
	end, ok := q.until[c]
	return ok && q.now().Before(end)
}

// hold holds the caller of a stream for a while.
func (q *queue) hold(s *stream) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	maps.DeleteFunc(q.until, func(_ caller, end time.Time) bool { return !now.Before(end) })
	q.until[s.caller()] = now.Add(heldFor)
}

// release gives back the place of a job that a worker has done with.
func (q *queue) release(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.held {
		j.held = false
		q.held--
		q.ready.Broadcast() // another that was held may go
	}
}

func (s *stream) caller() caller {
	if who := ident.Known(s.ctx); who != nil {
		return caller{who.Org, who.KeyID}
	}
	return caller{}
}

func (s *stream) org() ident.Org { return s.caller().org }

// waitingOf counts the streams of an organization in line. The caller holds mu.
func (q *queue) waitingOf(org ident.Org) int {
	n := 0
	for _, line := range q.lines {
		for _, s := range line {
			if s.org() == org {
				n++
			}
		}
	}
	return n
}

// dropRest takes what is left of a stream out of the count.
func (q *queue) dropRest(s *stream) {
	s.load[s.class].Add(-int32(len(s.jobs)))
	s.jobs = nil
}

// removeStream takes a stream out of the line.
func (q *queue) removeStream(s *stream) {
	s.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	line := &q.lines[s.class]
	if i := slices.Index(*line, s); i >= 0 {
		q.dropRest(s)
		*line = slices.Delete(*line, i, i+1)
	}
}

// waiting counts the streams in line.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length()
}

func (q *queue) length() int {
	n := 0
	for _, line := range q.lines {
		n += len(line)
	}
	return n
}

// shut ends every worker and fails the streams in line.
func (q *queue) shut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, line := range q.lines {
		for _, s := range line {
			for _, j := range s.jobs {
				j.complete(abi.Result{}, fault.New(fault.Unavailable, "the model is shutting down").After(time.Second))
			}
			s.jobs = nil
		}
	}
	q.lines = [classes][]*stream{}
	q.ready.Broadcast()
}

// worker runs jobs on one instance, which it makes when first needed and again
// after a failure.
type worker struct {
	model  *Model
	in     *instance
	last   class        // that it serves
	used   bool         // the instance has answered
	memory atomic.Int64 // of the instance after its last job, in bytes
	lost   atomic.Bool  // a call never came back; another worker took the place
}

func (m *Model) startWorker(in *instance, last class) {
	w := &worker{model: m, in: in, last: last}
	if in != nil {
		w.memory.Store(in.memory())
	}
	m.pool.Lock()
	m.workers = append(m.workers, w)
	m.pool.Unlock()
	m.running.Add(1)
	go w.run()
}

func (w *worker) run() {
	for {
		j := w.model.queue.take(w.last)
		if j == nil {
			break
		}
		w.work(j)
		w.model.queue.release(j)
		if w.lost.Load() {
			w.closeInstance()
			return
		}
	}
	w.closeInstance()
	w.model.running.Done()
}

// closeInstance closes and forgets the instance.
func (w *worker) closeInstance() {
	if w.in != nil {
		w.in.discard(context.Background())
		w.in = nil
	}
	w.memory.Store(0)
}

// work runs one job.
func (w *worker) work(j *job) {
	m := w.model
	limit := m.options.CallTimeout
	ctx, cancel := context.WithTimeout(context.WithValue(j.stream.ctx, classKey{}, j.stream.class), limit)
	defer cancel()
	// Nothing can stop a trusted module that doesn't poll, nor a call into the host
	// that hangs. The caller gets an answer all the same and the pool another worker.
	// A stranger's module ends by itself, but a stack that overflows takes its time.
	patience := 2 * limit
	if m.module.Interrupt == Enforced {
		patience += time.Minute
	}
	defer time.AfterFunc(patience, func() { w.abandon(j) }).Stop()
	r, stopped, err := w.call(ctx, j)
	var stated *abi.Error
	if errors.As(err, &stated) && stated.Code == abi.CodeMemory {
		// Memory that leaked or lies in pieces comes back with a new instance alone.
		spent := w.used
		w.closeInstance()
		if spent && ctx.Err() == nil {
			m.renewed.Add(1)
			if pass, dropped := m.failureLog.allow(time.Now()); pass {
				m.options.Log.Warn("model instance out of memory", "model", m.info.ID, "operation", j.stream.op, "error", err,
					"memory_mb", m.options.MemoryMB, "unlogged", dropped)
			}
			r, stopped, err = w.call(ctx, j)
			if errors.As(err, &stated) && stated.Code == abi.CodeMemory {
				w.closeInstance() // the job is too large for any
			}
		}
	}
	select {
	case <-m.breakRequests:
		err = broken("broken on purpose")
	default:
	}
	var b *errBroken
	if errors.As(err, &b) {
		w.closeInstance()
		m.broken.Add(1)
		if stopped {
			err = &abi.Error{Code: abi.CodeStopped, Message: err.Error()}
		} else if pass, dropped := m.failureLog.allow(time.Now()); pass {
			m.options.Log.Warn("model instance failed", "model", m.info.ID, "error", err, "unlogged", dropped)
		}
	}
	j.complete(r, err)
}

// call runs a job on the worker's instance, which it makes where there is none. stopped:
// the time was up, or the caller gone.
func (w *worker) call(ctx context.Context, j *job) (r abi.Result, stopped bool, err error) {
	if w.in == nil {
		in, err := w.model.newInstance(ctx)
		if err != nil {
			if ctx.Err() != nil {
				err = &abi.Error{Code: abi.CodeStopped, Message: err.Error()}
			}
			return abi.Result{}, ctx.Err() != nil, err
		}
		w.in, w.used = in, false
	}
	limit, began := w.model.callLimit(j), time.Now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err = w.in.call(ctx, j.stream.op, abi.Request{Rows: slices.Concat(j.stream.head, j.texts), Query: j.stream.query})
	w.memory.Store(w.in.memory())
	if err == nil {
		w.used = true
		// What answers out of shape may have spoilt its memory.
		if err = j.stream.check(r, len(j.texts)); err != nil {
			err = &errBroken{err}
		}
	}
	stopped = ctx.Err() != nil
	if err != nil && stopped && w.model.module.Interrupt == Enforced && time.Since(began) >= limit/2 {
		w.model.queue.hold(j.stream)
	}
	return r, stopped, err
}

// leastLimit is what a call may take at least, unless the time limit is shorter: a busy
// machine may be that slow with little work.
const leastLimit = 3 * time.Second

// callLimit is the time limit of a call. One into a stranger's module has it in proportion
// to its work, all of it for a full batch; and a query has a sixth of it at most and a
// score a third, so that whoever waits for them has time left for what else was asked.
func (m *Model) callLimit(j *job) time.Duration {
	most := m.options.CallTimeout
	if m.module.Interrupt != Enforced {
		return most
	}
	least, tokens := min(most, leastLimit), 0
	for _, texts := range [][]string{j.stream.head, j.texts} {
		for _, text := range texts {
			if op := j.stream.op; op == abi.FuncTokens || op == abi.FuncIDs {
				tokens += len(text) / 128 // a look at each byte, whatever the window
			} else {
				tokens += m.estimate(text)
			}
		}
	}
	limit := time.Duration(float64(most) * float64(tokens) / batchTokens)
	switch {
	case j.stream.query:
		most /= 6
	case j.stream.class == scores:
		most /= 3
	}
	return max(least, min(limit, most))
}

// abandon gives up on a worker whose call does not come back.
func (w *worker) abandon(j *job) {
	m := w.model
	m.pool.Lock()
	if j.settled.Load() || w.lost.Swap(true) {
		m.pool.Unlock()
		return
	}
	m.workers = slices.DeleteFunc(m.workers, func(o *worker) bool { return o == w })
	m.pool.Unlock()
	m.lost.Add(1)
	m.queue.release(j)
	m.options.Log.Error("model instance lost", "model", m.info.ID, "operation", j.stream.op)
	j.complete(abi.Result{}, &abi.Error{Code: abi.CodeStopped, Message: "the call never ended"})
	m.startWorker(nil, w.last)
	m.running.Done()
}
