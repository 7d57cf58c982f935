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
	"github.com/mnemehq/mneme/core/file"
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

// Follower is an optional ability of a Writer: with it, writes that take long are
// followed, so that the progress moves within them.
type Follower interface {
	// Follow is Write, which says how much of its work is done, from 0 to 1, first
	// when that begins.
	Follow(ctx context.Context, namespace string, docs []Record, progress func(share float64)) (Result, error)
}

// Writes of more than followBytes are followed until it is known how long they take,
// and then those of more than followAfter: to follow one costs some calls, and a server
// works on those that are followed one after the other. Those of less than paceBytes
// don't tell: they are done before they have begun.
const (
	followBytes = 64 << 10
	followAfter = 3 * time.Second
	paceBytes   = 8 << 10
)

// Importer writes files into a namespace. Zero fields take the defaults named.
type Importer struct {
	Writer    Writer
	Namespace string
	State     *State // nil: nothing is remembered
	Others    Claims // what other imports put into the namespace
	Prune     bool   // what is stale will be asked for: each document's file must be known

	Workers    int           // batches in flight; 4
	BatchDocs  int           // documents of a batch; 100, the most that a write takes
	BatchBytes int           // of text and metadata; 4 MiB
	Retries    int           // of one batch; 10
	Backoff    time.Duration // before the first retry, doubled up to 30 s; 250 ms
	Grace      time.Duration // for batches in flight when the context ends; 30 s
	Strict     bool          // the first Problem ends the import

	// Hopeless is asked before a batch is sent again; its error ends the import. nil: it is always hoped.
	Hopeless func(error) error

	// Called from several goroutines, never two at a time.
	OnProgress func(Progress)
	OnProblem  func(*Problem)
	OnKnown    func(problem string)                // that an earlier run had with a file skipped now
	OnRetry    func(err error, wait time.Duration) // of a batch that could not be written
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
	share int64 // of read, that a write which is followed has done
	marks []fileMark
}

type fileMark struct {
	name string
	Mark
	path  string
	ids   []string // documents that it stands for, besides those of the marks before it
	bad   []string // problems, likewise
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
	pace     float64         // seconds that the last write took for a byte; 0: not known yet
	queued   int             // number of the next batch
	settled  int             // number of the first batch that is not done
	done     map[int]*batch  // done, but not all before it
	refused  map[string]int  // documents that the writer refused, by file
	refusals map[string][]string

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
		refusals: map[string][]string{},
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
	ticking := r.tick()
	r.readAll(files, batches)
	close(batches)
	workers.Wait()
	ticking()
	r.notify(nil)
	err := context.Cause(r.ctx)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Cause(ctx))) {
		err = ErrInterrupted
	}
	return r.snapshot(), err
}

// tick tells the progress every second, also while long writes say nothing.
func (r *run) tick() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				r.notify(nil)
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
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
		if owner := r.Others.owner(f); owner != "" && !known {
			cur.read += f.Size
			err := r.recordProblem(claimed(f, owner))
			if err != nil {
				r.stop(err)
				return
			}
			continue
		}
		if known && r.skip(f, &from) {
			r.mu.Lock()
			r.progress.Files++
			r.progress.Skipped++
			r.progress.FailedBefore += from.Failed
			r.progress.BytesDone += f.Size
			r.progress.bytesSkipped += f.Size
			r.mu.Unlock()
			if from.Failed > 0 {
				r.tellKnown(f.Name)
			}
			r.notify(nil)
			continue
		}
		if err := r.readFile(f, from, known, &cur, flush); err != nil {
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

func claimed(f File, owner string) *Problem {
	return &Problem{At: Position{File: f.Name}, Err: fmt.Errorf("another import has put a document of this name into the "+
		"namespace, out of %s: import both with one command, or give this one a --prefix", owner)}
}

// readFile fills batches from a file that is not skipped.
func (r *run) readFile(f File, from Mark, known bool, at **batch, flush func() error) error {
	var last int64
	var told *Problem
	err := f.Read(r.ctx, from, func(it Item) error {
		var bad []string
		if it.Problem != nil {
			told, bad = it.Problem, []string{it.Problem.Error()}
			if err := r.recordProblem(it.Problem); err != nil {
				return err
			}
		}
		var ids []string
		if it.Record != nil {
			cur := *at
			full := len(cur.docs) >= r.BatchDocs || len(cur.docs) > 0 && cur.bytes+recordSize(it.Record) > r.BatchBytes
			if full || cur.holds(it.Record.ID) {
				if err := flush(); err != nil {
					return err
				}
			}
			if err := r.claim(it.Record.ID); err != nil {
				return err
			}
			cur = *at
			cur.docs = append(cur.docs, *it.Record)
			cur.bytes += recordSize(it.Record)
			ids = []string{it.Record.ID}
		}
		cur := *at
		if it.Read > last {
			cur.read += it.Read - last
			last = it.Read
		}
		m := fileMark{name: f.Name, Mark: it.Mark, path: f.Abs, ids: ids, bad: bad}
		if it.Mark.Done && known {
			m.stale = stale(f.Name, from.Parts, it.Mark.Parts)
		}
		if n := len(cur.marks); n > 0 && cur.marks[n-1].name == f.Name {
			before := cur.marks[n-1]
			m.ids, m.bad = append(before.ids, m.ids...), append(before.bad, m.bad...)
			cur.marks[n-1] = m
		} else {
			cur.marks = append(cur.marks, m)
		}
		return nil
	})
	if f.Size > last {
		(*at).read += f.Size - last // what comes no more
	}
	var bad *Problem
	if errors.As(err, &bad) && bad != told && r.ctx.Err() == nil {
		err = r.recordProblem(bad)
	}
	return err
}

// skip reports whether a file has nothing new. One that was not imported is tried
// again, other than JSON lines, of which the rest was; those are when they may be
// in another encoding.
func (r *run) skip(f File, from *Mark) bool {
	if !r.unchanged(f, from) {
		return false
	}
	again := from.Failed > 0 && (f.Kind != JSONLines || f.Encoding != nil)
	unknown := r.Prune && from.Reading == 0 && !f.document()
	if again || unknown {
		*from = Mark{Reading: from.Reading, Parts: from.Parts}
		return false
	}
	return true
}

func (r *run) tellKnown(name string) {
	if r.OnKnown == nil {
		return
	}
	r.report.Lock()
	defer r.report.Unlock()
	for _, p := range r.State.Problems(name) {
		r.OnKnown(p)
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

// fileDocuments are the documents of a file that is one, or several parts.
func fileDocuments(name string, parts int) []string {
	id := file.DocumentID(name)
	if parts == 0 {
		return []string{id}
	}
	var out []string
	for i := range parts {
		out = append(out, file.PartID(id, i+1))
	}
	return out
}

// stale lists the documents that a file made before and makes no more.
func stale(name string, before, now int) []string {
	id := file.DocumentID(name)
	var out []string
	if before == 0 && now > 0 {
		out = append(out, id)
	}
	for i := now + 1; i <= before; i++ {
		out = append(out, file.PartID(id, i))
	}
	return out
}

// send writes a batch and settles it, or ends the import.
func (r *run) send(b numbered) {
	err := r.writeAll(b.docs, b.batch)
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

// dropped are the documents that deleteStale has deleted.
func (r *run) dropped(m fileMark) []string {
	if _, ok := r.Writer.(Deleter); ok {
		return m.stale
	}
	return nil
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
	r.progress.BytesDone += b.read - b.share
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
				err = r.State.put(stateLine{
					File:     m.name,
					Mark:     m.Mark,
					Path:     m.path,
					IDs:      m.ids,
					Dropped:  r.dropped(m),
					Problems: append(m.bad, r.refusals[m.name]...),
				})
				delete(r.refusals, m.name)
			}
		}
	}
	r.mu.Unlock()
	if err != nil {
		r.stop(err)
	}
	r.notify(nil)
}

// writeBatch writes a batch, and follows a write that takes long.
func (r *run) writeBatch(b *batch) (Result, error) {
	f, ok := r.Writer.(Follower)
	r.mu.Lock()
	long := r.pace == 0 && b.bytes > followBytes || r.pace*float64(b.bytes) > followAfter.Seconds()
	r.mu.Unlock()
	began := time.Now()
	var res Result
	var err error
	if ok && long {
		began = time.Time{}
		res, err = f.Follow(r.write, r.Namespace, b.docs, func(share float64) {
			if began.IsZero() {
				began = time.Now() // before, the server was at others
			}
			r.follow(b, share)
		})
	} else {
		res, err = r.Writer.Write(r.write, r.Namespace, b.docs)
	}
	if err == nil && res.Written > 0 && b.bytes >= paceBytes && !began.IsZero() {
		r.mu.Lock()
		r.pace = time.Since(began).Seconds() / float64(b.bytes)
		r.mu.Unlock()
	}
	return res, err
}

// follow counts what a write has done. One that is repeated does not take it back: what
// it had made is kept.
func (r *run) follow(b *batch, share float64) {
	done := int64(min(max(share, 0), 1) * float64(b.read))
	r.mu.Lock()
	if done > b.share {
		r.progress.BytesDone += done - b.share
		b.share = done
	}
	r.mu.Unlock()
	r.notify(nil)
}

// writeAll writes documents of a batch, halving one that is refused for its content.
func (r *run) writeAll(docs []Record, b *batch) error {
	var res Result
	err := r.retry(func() (err error) {
		if len(docs) == len(b.docs) {
			res, err = r.writeBatch(b)
		} else {
			res, err = r.Writer.Write(r.write, r.Namespace, docs)
		}
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
		bad := &Problem{At: docs[0].At, ID: docs[0].ID, Err: errors.New(f.Message)}
		r.refused[bad.At.File]++
		r.refusals[bad.At.File] = append(r.refusals[bad.At.File], bad.Error())
		r.mu.Unlock()
		return r.recordProblem(bad)
	}
	half := len(docs) / 2
	if err := r.writeAll(docs[:half], b); err != nil {
		return err
	}
	return r.writeAll(docs[half:], b)
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
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if r.Hopeless != nil {
			if why := r.Hopeless(err); why != nil {
				return why
			}
		}
		r.mu.Lock()
		r.progress.Retries++
		r.mu.Unlock()
		if r.OnRetry != nil {
			r.report.Lock()
			r.OnRetry(err, wait)
			r.report.Unlock()
		}
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
