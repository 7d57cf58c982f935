package host

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fair"
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

// turnKey is where the context of a call has the turn of its job.
type turnKey struct{}

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
	started atomic.Bool
	results chan outcome
}

// job is one batch of texts.
type job struct {
	stream  *stream
	texts   []string
	rows    []int // where the texts stand in the call
	settled atomic.Bool
	taken   bool // by a worker that isn't back; guarded by the queue's mu
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
		j.stream.results <- outcome{j, r, err} // has room for every job
	}
}

// duty is what a worker takes.
type duty int

// The duties. The workers for guests hold instances ready for an organization whose calls
// would wait until another one's batches end, which takes long while those give way. There
// are several, because a call of it is cut for several processors.
const (
	anything    duty = iota
	queriesOnly      // of whatever organization
	guests           // of an organization that has only guests' jobs running, while all that take anything are busy
)

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

	free    int                // workers for anything without a job
	running map[ident.Org]int  // jobs of each organization that are not guests'
	orgs    map[ident.Org]bool // the first that called, and a second one

	turn uint64               // jobs taken
	last map[ident.Org]uint64 // turn of the last job of each organization, since the queue was empty
	keys map[caller]uint64    // and of each key

	share int                  // of the workers for anything, that held callers may have at once
	held  int                  // how many they have
	until map[caller]time.Time // when a caller is held no longer
	now   func() time.Time
}

// heldFor is how long a caller is held after a call that ran out of time.
const heldFor = time.Minute

func newQueue(limit, instances int) *queue {
	q := &queue{limit: limit, free: instances, running: map[ident.Org]int{}, orgs: map[ident.Org]bool{},
		last: map[ident.Org]uint64{}, keys: map[caller]uint64{},
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
	if len(q.orgs) < 2 {
		q.orgs[s.org()] = true
	}
	q.ready.Broadcast() // those who may not take it may sleep beside the others
	return nil
}

// take waits for a job for a worker; nil when the queue is shut. release says that it has
// ended.
func (q *queue) take(d duty) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return nil
		}
		if j := q.next(d); j != nil {
			return j
		}
		q.ready.Wait()
	}
}

// awaitSecond waits until more than one organization has called; false: the queue is shut.
func (q *queue) awaitSecond() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.orgs) < 2 && !q.closed {
		q.ready.Wait()
	}
	return !q.closed
}

// next takes a job for a worker, of the organization whose turn it is and, in its first
// class, of the key: of the first stream, which it moves behind the others. Streams whose
// caller is gone are dropped.
func (q *queue) next(d duty) *job {
	var first *stream
	for c := range q.lines {
		q.lines[c] = slices.DeleteFunc(q.lines[c], func(s *stream) bool {
			gone := s.ctx.Err() != nil || len(s.jobs) == 0
			if gone {
				s.jobs = nil
			} else if q.admits(s, d) && (first == nil || q.before(s, first)) {
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
	j.taken = true
	if d != guests {
		q.running[first.org()]++
	}
	if d == anything {
		q.free--
		q.ready.Broadcast() // a guests' worker may have to take one now
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

// admits tells whether a worker may take a job of s.
func (q *queue) admits(s *stream, d duty) bool {
	switch {
	case q.holds(s.caller()):
		return d == anything && q.held < q.share
	case d == queriesOnly:
		return s.class == queries
	case d == guests:
		return q.free == 0 && q.running[s.org()] == 0
	}
	return true
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

// release takes a worker back that has done with a job.
func (q *queue) release(j *job, d duty) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !j.taken {
		return
	}
	j.taken = false
	if j.held {
		j.held = false
		q.held--
		q.ready.Broadcast() // another that was held may go
	}
	if d == guests {
		return
	}
	org := j.stream.org()
	if q.running[org]--; q.running[org] == 0 {
		delete(q.running, org)
		q.ready.Broadcast() // it may be a guest now
	}
	if d == anything {
		q.free++
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

// removeStream takes a stream out of the line.
func (q *queue) removeStream(s *stream) {
	s.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	line := &q.lines[s.class]
	if i := slices.Index(*line, s); i >= 0 {
		s.jobs = nil
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
	duty   duty
	used   bool         // the instance has answered
	memory atomic.Int64 // of the instance after its last job, in bytes
	lost   atomic.Bool  // a call never came back; another worker took the place
}

func (m *Model) startWorker(in *instance, d duty) {
	w := &worker{model: m, in: in, duty: d}
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
	if w.duty == guests && w.model.queue.awaitSecond() {
		w.prepare()
	}
	for {
		j := w.model.queue.take(w.duty)
		if j == nil {
			break
		}
		w.work(j)
		w.model.queue.release(j, w.duty)
		if w.lost.Load() {
			w.closeInstance()
			return
		}
	}
	w.closeInstance()
	w.model.running.Done()
}

// prepare makes the instance before it is needed: who is in a hurry shall not wait for it.
// Where that fails, the first job says why.
func (w *worker) prepare() {
	ctx, cancel := context.WithTimeout(context.Background(), w.model.options.StartTimeout)
	defer cancel()
	turn := w.model.options.Shared.processors.Enter(ctx, int(passages))
	defer turn.Leave()
	if in, err := w.model.newInstance(ctx); err == nil {
		w.in = in
		w.memory.Store(in.memory())
	}
}

// closeInstance closes and forgets the instance.
func (w *worker) closeInstance() {
	if w.in != nil {
		w.in.discard(context.Background())
		w.in = nil
	}
	w.memory.Store(0)
}

// work runs one job, in its turn. The time that it waits for others is not its own.
func (w *worker) work(j *job) {
	m := w.model
	limit := m.options.CallTimeout
	turn := m.options.Shared.processors.Enter(j.stream.ctx, int(j.stream.class))
	leave := sync.OnceFunc(turn.Leave)
	defer leave()
	ctx, cancel := context.WithCancelCause(context.WithValue(j.stream.ctx, turnKey{}, turn))
	defer cancel(nil)
	defer turn.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })()
	// Nothing can stop a trusted module that doesn't poll, nor a call into the host
	// that hangs. The caller gets an answer all the same and the pool another worker.
	// A stranger's module ends by itself, but a stack that overflows takes its time.
	patience := 2 * limit
	if m.module.Interrupt == Enforced {
		patience += time.Minute
	}
	defer turn.AfterFunc(patience, func() { w.abandon(j, leave) })()
	r, stopped, err := w.call(ctx, turn, j)
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
			r, stopped, err = w.call(ctx, turn, j)
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
func (w *worker) call(ctx context.Context, turn *fair.Turn, j *job) (r abi.Result, stopped bool, err error) {
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
	limit, began := w.model.callLimit(j), turn.Ran()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer turn.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })()
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
	if err != nil && stopped && w.model.module.Interrupt == Enforced && turn.Ran()-began >= limit/2 {
		w.model.queue.hold(j.stream)
	}
	return r, stopped, err
}

// leastLimit is what a call may take at least, unless the time limit is shorter: a busy
// machine may be that slow with little work.
const leastLimit = 3 * time.Second

// callLimit is the time limit of a call. One into a stranger's module has it in proportion
// to its work, all of it for a full batch; and a query has a sixth of it at most and a
// score a third, so that their callers have time left for what else was asked.
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
func (w *worker) abandon(j *job, leave func()) {
	m := w.model
	m.pool.Lock()
	if j.settled.Load() || w.lost.Swap(true) {
		m.pool.Unlock()
		return
	}
	m.workers = slices.DeleteFunc(m.workers, func(o *worker) bool { return o == w })
	m.pool.Unlock()
	m.lost.Add(1)
	m.options.Log.Error("model instance lost", "model", m.info.ID, "operation", j.stream.op)
	j.complete(abi.Result{}, &abi.Error{Code: abi.CodeStopped, Message: "the call never ended"})
	leave()
	m.queue.release(j, w.duty)
	m.startWorker(nil, w.duty)
	m.running.Done()
}
