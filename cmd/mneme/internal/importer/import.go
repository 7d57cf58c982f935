package importer

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// Result is what a write answered.
type Result struct {
	Written   int // created or changed
	Unchanged int
	Chunks    int
}

// Writer writes documents into a namespace, all of a call or none, safe to repeat
// and safe for concurrent use. Its errors say what happens next:
//
//   - a *fault.Error that is about what was sent (a 400 other than
//     invalid_namespace, a 409 or a 413): the batch is halved until the document
//     at fault is found, which becomes a Problem;
//   - a retryable *fault.Error, or an error that is no fault: the batch is sent
//     again, after its RetryAfter where it has one;
//   - any other fault ends the import.
//
// An error with a method RetryAfter() (time.Duration, bool) says by true that it
// is to be retried, and after how long.
type Writer interface {
	Write(ctx context.Context, namespace string, docs []Record) (Result, error)
}

// Deleter is an optional ability of a Writer: with it, the parts of a long file
// that has become shorter are deleted.
type Deleter interface {
	Delete(ctx context.Context, namespace string, ids []string) error
}

// Importer writes files into a namespace. Zero fields take the defaults named.
type Importer struct {
	Writer    Writer
	Namespace string
	State     *State // nil: nothing is remembered

	Workers    int           // batches in flight; 4
	BatchDocs  int           // documents of a batch; 100, the most that a write takes
	BatchBytes int           // of text and metadata; 4 MiB
	Retries    int           // of one batch; 10
	Backoff    time.Duration // before the first retry, doubled up to 30 s; 250 ms
	Grace      time.Duration // for batches in flight when the context ends; 30 s
	Strict     bool          // the first Problem ends the import

	// Called from several goroutines, never two at a time.
	OnProgress func(Progress)
	OnProblem  func(*Problem)
}

// Progress is how far an import is.
type Progress struct {
	BytesDone, BytesTotal int64 // of files, those skipped included
	Files, FilesTotal     int   // finished or skipped
	Skipped               int   // files unchanged since an earlier run
	Written, Unchanged    int   // documents
	Chunks                int
	Failed                int           // problems of this run
	FailedBefore          int           // problems that earlier runs had with the files skipped now
	Retries               int           // of batches
	Stale                 []string      // documents of earlier, longer versions that remain; only without a Deleter
	Elapsed               time.Duration // of this run
	bytesSkipped          int64
}

// Documents is how many were accepted.
func (p Progress) Documents() int { return p.Written + p.Unchanged }

// Rate is documents a second in this run.
func (p Progress) Rate() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Documents()) / p.Elapsed.Seconds()
}

// Left estimates the time that remains from the bytes of this run; false while
// there is nothing to go by.
func (p Progress) Left() (time.Duration, bool) {
	done := p.BytesDone - p.bytesSkipped
	if done <= 0 || p.Elapsed < time.Second {
		return 0, false
	}
	return time.Duration(float64(p.Elapsed) * float64(p.BytesTotal-p.BytesDone) / float64(done)), true
}

// ErrInterrupted is what Run returns when its context ended: what was in flight
// was finished and marked.
var ErrInterrupted = errors.New("the import was stopped; run the same command again to go on where it stopped")

// batch is documents of one write and what may be marked once it is done.
type batch struct {
	docs  []Record
	bytes int
	read  int64 // bytes of files that it stands for
	marks []fileMark
}

type fileMark struct {
	name string
	Mark
	stale []string
}

// run is one call of Run.
type run struct {
	*Importer
	ctx   context.Context // of reading; its end drains
	write context.Context // of batches in flight
	stop  context.CancelCauseFunc

	mu       sync.Mutex
	free     *sync.Cond
	progress Progress
	started  time.Time
	inflight map[string]bool // document ids
	queued   int             // number of the next batch
	settled  int             // number of the first batch that is not done
	done     map[int]*batch  // done, but not all before it
	refused  map[string]int  // documents that the writer refused, by file

	report sync.Mutex // of callbacks
}

// Run imports files, in their order within a document id and otherwise in
// parallel. It returns the last Progress with nil, ErrInterrupted, a *Problem
// (with Strict), or the fault that ended it; what was written stays, and a State
// lets a later run go on.
func (im *Importer) Run(ctx context.Context, files []File) (Progress, error) {
	r := &run{
		Importer: im.defaults(),
		started:  time.Now(),
		inflight: map[string]bool{},
		done:     map[int]*batch{},
		refused:  map[string]int{},
	}
	r.free = sync.NewCond(&r.mu)
	for _, f := range files {
		r.progress.BytesTotal += f.Size
	}
	r.progress.FilesTotal = len(files)
	r.ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	var cancel context.CancelFunc
	r.write, cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	// Goroutines that wait for a document in flight learn of the end.
	defer context.AfterFunc(r.ctx, func() {
		r.mu.Lock()
		r.free.Broadcast()
		r.mu.Unlock()
	})()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(r.Grace, cancel) })()

	batches := make(chan numbered)
	var workers sync.WaitGroup
	for range r.Workers {
		workers.Go(func() {
			for b := range batches {
				r.send(b)
			}
		})
	}
	r.readAll(files, batches)
	close(batches)
	workers.Wait()
	r.notify(nil)
	err := context.Cause(r.ctx)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Cause(ctx))) {
		err = ErrInterrupted
	}
	return r.snapshot(), err
}

type numbered struct {
	n int
	*batch
}

func (im *Importer) defaults() *Importer {
	out := *im
	set := func(v *int, to int) {
		if *v <= 0 {
			*v = to
		}
	}
	set(&out.Workers, 4)
	set(&out.BatchDocs, 100)
	set(&out.BatchBytes, 4<<20)
	set(&out.Retries, 10)
	if out.Backoff <= 0 {
		out.Backoff = 250 * time.Millisecond
	}
	if out.Grace <= 0 {
		out.Grace = 30 * time.Second
	}
	return &out
}

// readAll fills batches from the files until they or the context end.
func (r *run) readAll(files []File, out chan<- numbered) {
	cur := &batch{}
	flush := func() error {
		if len(cur.docs) == 0 && len(cur.marks) == 0 && cur.read == 0 {
			return nil
		}
		n := r.queued
		r.queued++
		b := cur
		cur = &batch{}
		if len(b.docs) == 0 {
			r.settle(n, b)
			return nil
		}
		select {
		case out <- numbered{n, b}:
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	for _, f := range files {
		from, known := Mark{}, false
		if r.State != nil {
			from, known = r.State.Mark(f.Name)
		}
		if known && r.unchanged(f, &from) {
			r.mu.Lock()
			r.progress.Files++
			r.progress.Skipped++
			r.progress.FailedBefore += from.Failed
			r.progress.BytesDone += f.Size
			r.progress.bytesSkipped += f.Size
			r.mu.Unlock()
			r.notify(nil)
			continue
		}
		var last int64
		var told *Problem
		err := f.Read(r.ctx, from, func(it Item) error {
			if it.Problem != nil {
				told = it.Problem
				if err := r.recordProblem(it.Problem); err != nil {
					return err
				}
			}
			if it.Record != nil {
				full := len(cur.docs) >= r.BatchDocs || len(cur.docs) > 0 && cur.bytes+recordSize(it.Record) > r.BatchBytes
				if full || cur.holds(it.Record.ID) {
					if err := flush(); err != nil {
						return err
					}
				}
				if err := r.claim(it.Record.ID); err != nil {
					return err
				}
				cur.docs = append(cur.docs, *it.Record)
				cur.bytes += recordSize(it.Record)
			}
			if it.Read > last {
				cur.read += it.Read - last
				last = it.Read
			}
			m := fileMark{name: f.Name, Mark: it.Mark}
			if it.Mark.Done && known {
				m.stale = stale(f.Name, from.Parts, it.Mark.Parts)
			}
			if n := len(cur.marks); n > 0 && cur.marks[n-1].name == f.Name {
				cur.marks[n-1] = m
			} else {
				cur.marks = append(cur.marks, m)
			}
			return nil
		})
		var bad *Problem
		if errors.As(err, &bad) && bad != told && r.ctx.Err() == nil {
			err = r.recordProblem(bad)
		}
		if err != nil {
			if r.ctx.Err() == nil {
				r.stop(err)
			}
			return
		}
	}
	if err := flush(); err != nil {
		return
	}
}

func (b *batch) holds(id string) bool {
	for i := range b.docs {
		if b.docs[i].ID == id {
			return true
		}
	}
	return false
}

// recordSize is about what a record takes in a request.
func recordSize(rec *Record) int {
	n := len(rec.Text) + len(rec.ID) + 64
	for k, v := range rec.Metadata {
		n += len(k) + 16
		switch v := v.(type) {
		case string:
			n += len(v)
		case []string:
			for _, s := range v {
				n += len(s) + 4
			}
		}
	}
	return n
}

// claim waits until no batch in flight writes the same document: of two records
// of one id the later must win.
func (r *run) claim(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.inflight[id] && r.ctx.Err() == nil {
		r.free.Wait()
	}
	r.inflight[id] = true
	return r.ctx.Err()
}

// unchanged reports whether a file is as it was when it was imported whole. A
// file with another time but the same bytes is, and its mark is brought up to date.
func (r *run) unchanged(f File, m *Mark) bool {
	if !m.Done || m.Size != f.Size {
		return false
	}
	if m.ModTime == f.ModTime.UnixNano() {
		return true
	}
	if same, err := sameContent(f, m.Sum); err != nil || !same {
		return false
	}
	touched := *m
	touched.ModTime = f.ModTime.UnixNano()
	return r.State.Put(f.Name, touched) == nil
}

func sameContent(f File, want string) (bool, error) {
	in, err := f.FS.Open(f.Path)
	if err != nil {
		return false, err
	}
	defer closeReader(in)
	var content io.Reader = in
	if strings.HasSuffix(strings.ToLower(f.Name), ".gz") {
		z, err := gzip.NewReader(in)
		if err != nil {
			return false, err
		}
		defer closeReader(z)
		content = z
	}
	h := sha256.New()
	if _, err := io.Copy(h, content); err != nil {
		return false, err
	}
	return digest(h) == want, nil
}

// stale lists the documents that a file made before and makes no more.
func stale(name string, before, now int) []string {
	id := fileID(name)
	var out []string
	if before == 0 && now > 0 {
		out = append(out, id)
	}
	for i := now + 1; i <= before; i++ {
		out = append(out, partID(id, i))
	}
	return out
}

// send writes a batch and settles it, or ends the import.
func (r *run) send(b numbered) {
	err := r.writeAll(b.docs)
	r.mu.Lock()
	for i := range b.docs {
		delete(r.inflight, b.docs[i].ID)
	}
	r.free.Broadcast()
	r.mu.Unlock()
	if err == nil {
		for _, m := range b.marks {
			if err = r.deleteStale(m.stale); err != nil {
				break
			}
		}
	}
	if err != nil {
		r.stop(err)
		return
	}
	r.settle(b.n, b.batch)
}

// deleteStale deletes what is stale, or says so.
func (r *run) deleteStale(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	d, ok := r.Writer.(Deleter)
	if !ok {
		r.mu.Lock()
		r.progress.Stale = append(r.progress.Stale, ids...)
		r.mu.Unlock()
		return nil
	}
	return r.retry(func() error { return d.Delete(r.write, r.Namespace, ids) })
}

// settle marks what is imported once all batches before it are, so that a mark
// never stands past a document that is not written.
func (r *run) settle(n int, b *batch) {
	r.mu.Lock()
	r.progress.BytesDone += b.read
	r.done[n] = b
	var err error
	for err == nil {
		next, ok := r.done[r.settled]
		if !ok {
			break
		}
		delete(r.done, r.settled)
		r.settled++
		for _, m := range next.marks {
			if m.Done {
				r.progress.Files++
			}
			if r.State != nil && err == nil {
				m.Failed += r.refused[m.name]
				err = r.State.Put(m.name, m.Mark)
			}
		}
	}
	r.mu.Unlock()
	if err != nil {
		r.stop(err)
	}
	r.notify(nil)
}

// writeAll writes documents, halving a batch that is refused for its content.
func (r *run) writeAll(docs []Record) error {
	var res Result
	err := r.retry(func() (err error) {
		res, err = r.Writer.Write(r.write, r.Namespace, docs)
		return err
	})
	switch {
	case err == nil:
		r.mu.Lock()
		r.progress.Written += res.Written
		r.progress.Unchanged += res.Unchanged
		r.progress.Chunks += res.Chunks
		r.mu.Unlock()
		return nil
	case !refused(err):
		return err
	case len(docs) == 1:
		var f *fault.Error
		errors.As(err, &f)
		r.mu.Lock()
		r.refused[docs[0].At.File]++
		r.mu.Unlock()
		return r.recordProblem(&Problem{At: docs[0].At, ID: docs[0].ID, Err: errors.New(f.Message)})
	}
	half := len(docs) / 2
	if err := r.writeAll(docs[:half]); err != nil {
		return err
	}
	return r.writeAll(docs[half:])
}

// refused reports an error about the documents themselves.
func refused(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) {
		return false
	}
	switch f.Code {
	case fault.InvalidRequest, fault.InvalidJSON, fault.InvalidID, fault.InvalidMetadata, fault.PayloadTooLarge, fault.Conflict:
		return true
	}
	return false
}

// retry calls fn until it succeeds, fails for good or has been tried enough.
func (r *run) retry(fn func() error) error {
	for try := 0; ; try++ {
		err := fn()
		if err == nil {
			return nil
		}
		if r.write.Err() != nil {
			return context.Cause(r.write)
		}
		wait, again := r.wait(err, try)
		if !again {
			return err
		}
		if try == r.Retries {
			return fmt.Errorf("after %d tries: %w", try+1, err)
		}
		r.mu.Lock()
		r.progress.Retries++
		r.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-r.ctx.Done(): // draining waits for no server that is busy
			return r.ctx.Err()
		}
	}
}

func (r *run) wait(err error, try int) (time.Duration, bool) {
	backoff := min(r.Backoff<<min(try, 16), 30*time.Second)
	backoff = backoff/2 + rand.N(backoff/2+1) // spread the workers
	var told interface{ RetryAfter() (time.Duration, bool) }
	if errors.As(err, &told) {
		if after, ok := told.RetryAfter(); ok {
			return max(after, backoff), true
		}
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return max(f.RetryAfter, backoff), fault.Retryable(f.Code) && !refused(err)
	}
	return backoff, true // the connection, not the server
}

// recordProblem reports and, with Strict, returns one.
func (r *run) recordProblem(p *Problem) error {
	r.mu.Lock()
	r.progress.Failed++
	r.mu.Unlock()
	r.notify(p)
	if r.Strict {
		return p
	}
	return nil
}

func (r *run) snapshot() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.progress
	p.Elapsed = time.Since(r.started)
	p.Stale = append([]string(nil), p.Stale...)
	return p
}

// notify calls the callbacks, one at a time.
func (r *run) notify(bad *Problem) {
	r.report.Lock()
	defer r.report.Unlock()
	if bad != nil && r.OnProblem != nil {
		r.OnProblem(bad)
	}
	if r.OnProgress != nil {
		r.OnProgress(r.snapshot())
	}
}
