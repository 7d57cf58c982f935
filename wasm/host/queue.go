package host

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/wasm/abi"
)

// stream is one call of a caller: its batches, in the order they shall run.
type stream struct {
	op      string
	query   bool
	jobs    []*job // not yet taken
	started atomic.Bool
	gone    atomic.Bool // the caller has stopped waiting
	results chan outcome
}

// job is one batch of texts.
type job struct {
	stream   *stream
	texts    []string
	rows     []int        // where the texts stand in the call
	deadline atomic.Int64 // unix nanoseconds; set when the job starts
	settled  atomic.Bool
}

type outcome struct {
	job    *job
	result abi.Result
	err    error
}

// expired reports whether a running job shall stop. Any goroutine may ask.
func (j *job) expired() bool {
	return j.stream.gone.Load() || time.Now().UnixNano() > j.deadline.Load()
}

// settle delivers the outcome; only the first counts.
func (j *job) settle(r abi.Result, err error) {
	if j.settled.CompareAndSwap(false, true) {
		j.stream.results <- outcome{j, r, err} // has room for every job
	}
}

// queue holds the waiting streams: queries before passages, each kind in turn.
type queue struct {
	mu       sync.Mutex
	ready    *sync.Cond
	queries  []*stream
	passages []*stream
	limit    int
	closed   bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
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
	if len(q.queries)+len(q.passages) >= q.limit {
		return fault.New(fault.Unavailable, "the model is busy: %d calls are waiting", q.limit).After(time.Second)
	}
	if s.query {
		q.queries = append(q.queries, s)
	} else {
		q.passages = append(q.passages, s)
	}
	q.ready.Broadcast() // a worker for queries alone may sleep beside the others
	return nil
}

// take waits for a job; nil when the queue is shut.
func (q *queue) take(queriesOnly bool) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return nil
		}
		if j := next(&q.queries); j != nil {
			return j
		}
		if !queriesOnly {
			if j := next(&q.passages); j != nil {
				return j
			}
		}
		q.ready.Wait()
	}
}

// next takes a job of the first stream and moves the stream behind the others.
// Streams whose caller is gone are dropped.
func next(line *[]*stream) *job {
	for len(*line) > 0 {
		s := (*line)[0]
		*line = (*line)[1:]
		if s.gone.Load() || len(s.jobs) == 0 {
			continue
		}
		j := s.jobs[0]
		if s.jobs = s.jobs[1:]; len(s.jobs) > 0 {
			*line = append(*line, s)
		}
		s.started.Store(true)
		return j
	}
	return nil
}

// leave takes a stream out of the line.
func (q *queue) leave(s *stream) {
	s.gone.Store(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, line := range []*[]*stream{&q.queries, &q.passages} {
		for i, other := range *line {
			if other == s {
				*line = append((*line)[:i:i], (*line)[i+1:]...)
				return
			}
		}
	}
}

// waiting counts the streams in line.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queries) + len(q.passages)
}

// shut ends every worker and fails the streams in line.
func (q *queue) shut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, line := range [][]*stream{q.queries, q.passages} {
		for _, s := range line {
			for _, j := range s.jobs {
				j.settle(abi.Result{}, fault.New(fault.Unavailable, "the model is shutting down").After(time.Second))
			}
		}
	}
	q.queries, q.passages = nil, nil
	q.ready.Broadcast()
}

// startWorker runs jobs on one instance, which it makes when first needed and
// anew after a failure.
func (m *Model) startWorker(in *instance, queriesOnly bool) {
	m.workers.Add(1)
	go func() {
		defer m.workers.Done()
		defer func() {
			if in != nil {
				in.discard(context.Background())
			}
		}()
		for {
			j := m.queue.take(queriesOnly)
			if j == nil {
				return
			}
			in = m.work(in, j)
		}
	}()
}

// work runs one job and gives back the instance, nil when it had to go.
func (m *Model) work(in *instance, j *job) *instance {
	limit := m.options.CallTimeout
	j.deadline.Store(time.Now().Add(limit).UnixNano())
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), callKey{}, j), limit)
	defer cancel()
	if m.module.Interrupt == Enforced {
		// The loop check looks at the context; the caller's leaving reaches it here.
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
					if j.stream.gone.Load() {
						cancel()
						return
					}
				}
			}
		}()
	}
	if in == nil {
		var err error
		if in, err = m.newInstance(ctx); err != nil {
			j.settle(abi.Result{}, err)
			return nil
		}
	}
	r, err := in.call(ctx, j.stream.op, abi.Request{Rows: j.texts, Query: j.stream.query})
	if b := (*errBroken)(nil); asBroken(err, &b) {
		in.discard(ctx)
		in = nil
		if ctx.Err() != nil {
			err = &abi.Error{Code: abi.CodeStopped, Message: err.Error()}
		} else {
			m.options.Log.Warn("model instance failed, making another", "model", m.info.ID, "error", err)
		}
	}
	j.settle(r, err)
	return in
}
