package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// wide is what a transaction of a run does: alone, or with documents (ingest.Tx).
type wide interface {
	port.SourceReader
	port.SourceWriter
	port.ReplicaWriter
}

// worker carries one run of a source, or what is pushed in one call.
type worker struct {
	*Service
	job    *job.Job       // nil: items are pushed
	source port.SourceRow // as it was when the attempt began; its settings hold
	run    port.SourceRun // the same; zero: items are pushed outside any run
	params params
	kind   knownKind
	conn   port.Connection
	counts port.SourceCounts // since the last transaction
	seen   *roaring.Bitmap   // numbers of the items that the run has listed
	gone   *roaring.Bitmap   // numbers of those that the listing has said are gone

	renewing sync.Mutex           // fetches renew beside each other
	sealed   map[string][]byte    // secrets as they were stored when they were read, or renewed last
	problems []port.SourceRunItem // to be recorded
	progress atomic.Int64         // Unix nanoseconds, of the last sign of it
}

// Causes of the end of a run's context.
var (
	errEnded   = errors.New("source: the run has ended in the store") // cancelled, or its source paused or deleted
	errStalled = errors.New("source: the run makes no progress")
)

var (
	// errLeft says that a connector does not return although its call is over.
	errLeft = errors.New("source: the connector does not return")
	// errMoved rolls back what was made of items that another call has changed since.
	errMoved = errors.New("source: its items were changed in the meantime")
)

// work is the job of a run.
func (s *Service) work(ctx context.Context, j *job.Job) error {
	var asked request
	if err := j.Request(&asked); err != nil {
		return err
	}
	w := &worker{Service: s, job: j, seen: roaring.New(), gone: roaring.New()}
	ctx, stop := context.WithCancelCause(acting(ctx, j.Org))
	defer stop(nil)
	err := w.begin(ctx, asked.Source)
	if err == nil {
		beating, done := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); w.beats(beating, stop) }()
		err = w.attend(ctx)
		done()
		<-ended
	}
	if errors.Is(err, errLeft) {
		// What the call has left in w is its own while it goes on. It stores nothing any more:
		// each transaction finds the run ended, or the job another attempt's.
		s.log.WarnContext(ctx, "connector does not return", "source", w.source.ID, "run", w.run.ID, "kind", w.source.Kind)
		w = &worker{Service: s, job: j, source: w.source, run: w.run, seen: roaring.New(), gone: roaring.New()}
		err = context.Cause(ctx)
	}
	return w.conclude(ctx, err)
}

// attend follows the source, and leaves a connector behind that does not return once its call is over.
func (w *worker) attend(ctx context.Context) error {
	followed := make(chan error, 1)
	go func() { followed <- w.follow(ctx) }()
	select {
	case err := <-followed:
		return err
	case <-ctx.Done():
	}
	t := time.NewTimer(w.grace)
	defer t.Stop()
	select {
	case err := <-followed:
		return err
	case <-t.C:
		return errLeft
	}
}

// begin marks the run as running and reads what an earlier attempt has left.
func (w *worker) begin(ctx context.Context, id string) error {
	w.touch()
	err := w.store.Update(ctx, func(tx writer) error {
		row, run, err := w.check(ctx, tx, w.job.Org, id, w.job.ID)
		if err != nil {
			return err
		}
		now := w.now().UTC()
		run.Status, run.Error, run.HeartbeatAt, run.ProgressAt = port.RunRunning, nil, now, now
		if run.StartedAt.IsZero() {
			run.StartedAt = now
		}
		w.source, w.run = row, run
		return tx.PutSourceRun(ctx, run)
	})
	if err != nil {
		return err
	}
	w.params = paramsOf(w.run)
	if w.seen, err = marks(w.run); err != nil {
		return err
	}
	var ok bool
	if w.kind, ok = w.connectors[w.source.Kind]; !ok {
		return port.SourceErrorf(port.SourceConfig, nil, "this server has no kind of source %q", w.source.Kind)
	}
	if all := problems("config", w.kind.config, w.source.Config); len(all) > 0 {
		return port.SourceErrorf(port.SourceConfig, nil, "%s %s", all[0].Field, all[0].Message)
	}
	secrets, sealed, err := w.open(ctx, w.source.Org, w.source.ID)
	if errors.Is(err, port.ErrUnsealable) {
		return port.SourceErrorf(port.SourceCredentials, err, "its secrets cannot be decrypted any more; set them again")
	}
	if err != nil {
		return err
	}
	w.sealed = sealed
	w.conn = port.Connection{Source: w.source.ID, Config: w.source.Config, Secrets: secrets, Known: w.known, Renew: w.renew}
	return nil
}

// marks is what a run has seen, as it is stored.
func marks(r port.SourceRun) (*roaring.Bitmap, error) {
	m := roaring.New()
	if len(r.Seen) == 0 {
		return m, nil
	}
	if err := m.UnmarshalBinary(slices.Clone(r.Seen)); err != nil {
		return nil, fmt.Errorf("what run %s has seen is damaged: %w", r.ID, err)
	}
	return m, nil
}

// check finds the run still its source's, and the job still this process's.
func (s *Service) check(ctx context.Context, tx port.SourceReader, org ident.Org, id, run string) (port.SourceRow,
	port.SourceRun, error) {
	row, err := tx.Source(ctx, org, id)
	if fault.CodeOf(err) == fault.SourceNotFound ||
		err == nil && (run != "" && row.Run != run || row.State == port.SourceDeleting) {
		return row, port.SourceRun{}, errEnded
	}
	if err != nil || run == "" {
		return row, port.SourceRun{}, err
	}
	r, err := tx.SourceRun(ctx, org, id, run)
	if err == nil && r.Status.Ended() {
		err = errEnded
	}
	return row, r, err
}

// known implements port.Connection.
func (w *worker) known(ctx context.Context, key string) (version string, ok bool, err error) {
	hash := keyHash(key)
	err = w.store.View(ctx, func(r reader) error {
		found, err := r.SourceItems(ctx, w.source.Org, w.source.ID, [][32]byte{hash})
		row, has := found[hash]
		version, ok = row.Version, has && row.Error == nil && !w.params.Again
		return err
	})
	return version, ok && err == nil, err
}

// renew implements port.Connection. A secret that somebody has set since it was read stays: what is
// renewed is the one before.
func (w *worker) renew(ctx context.Context, secrets map[string]string) error {
	ctx = context.WithoutCancel(ctx) // whatever becomes of the run: the upstream takes the old ones no more
	sealed, err := w.seal(ctx, w.source.Org, w.source.ID, secrets)
	if err != nil {
		return err
	}
	w.renewing.Lock()
	defer w.renewing.Unlock()
	var own map[string][]byte
	err = w.store.Update(ctx, func(tx writer) error {
		own = map[string][]byte{}
		row, err := tx.Source(ctx, w.source.Org, w.source.ID)
		if err != nil {
			return err
		}
		stored, err := tx.SourceSecrets(ctx, row.Org, row.ID)
		if err != nil {
			return err
		}
		given := map[string]string{}
		for name, value := range sealed {
			if bytes.Equal(stored[name], w.sealed[name]) {
				own[name], given[name] = value, secrets[name]
			}
		}
		row.Secrets = setNames(row.Secrets, given)
		if err := tx.PutSourceSecrets(ctx, row.Org, row.ID, own); err != nil {
			return err
		}
		return tx.PutSource(ctx, row)
	})
	if err != nil {
		return err
	}
	if w.sealed == nil {
		w.sealed = map[string][]byte{}
	}
	maps.Copy(w.sealed, own)
	now := map[string]string{} // a copy: calls under way have the one before
	maps.Copy(now, w.conn.Secrets)
	maps.Copy(now, secrets)
	w.conn.Secrets = now
	return nil
}

// connection is what the next call of the connector works with.
func (w *worker) connection() port.Connection {
	w.renewing.Lock()
	defer w.renewing.Unlock()
	return w.conn
}

// touch notes a sign of progress.
func (w *worker) touch() { w.progress.Store(time.Now().UnixNano()) }

// beats says in the store that the run is alive, and ends it when it has ended there or
// does not get on. A beat that the store does not take is tried again.
func (w *worker) beats(ctx context.Context, stop context.CancelCauseFunc) {
	t := time.NewTicker(w.beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if time.Since(time.Unix(0, w.progress.Load())) > w.stall {
			stop(errStalled)
			return
		}
		switch err := w.pulse(ctx); {
		case errors.Is(err, errEnded), errors.Is(err, job.ErrTaken):
			stop(err)
			return
		case err != nil && ctx.Err() == nil:
			w.log.WarnContext(ctx, "heartbeat of run not stored", "run", w.run.ID, "error", err)
		}
	}
}

// pulse is one beat. A store that hangs is not to keep the next look at the progress.
func (w *worker) pulse(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(w.beat, time.Second))
	defer cancel()
	return w.store.Update(ctx, func(tx writer) error {
		if err := w.job.Confirm(ctx, tx); err != nil {
			return err
		}
		_, run, err := w.check(ctx, tx, w.source.Org, w.source.ID, w.run.ID)
		if err != nil {
			return err
		}
		run.HeartbeatAt = w.now().UTC()
		return tx.PutSourceRun(ctx, run)
	})
}

// outcome is what a transaction of a run changes beside documents.
type outcome struct {
	counts   port.SourceCounts // to be added
	seen     *roaring.Bitmap
	items    []port.SourceRunItem
	cursor   []byte // nil: as it was
	progress bool
}

// store is the part of a transaction that all transactions of a run have in common: it
// confirms the run and writes its counts and marks. change has the last word on both
// rows; it may be nil.
func (w *worker) commit(ctx context.Context, tx wide, o *outcome, change func(*port.SourceRow, *port.SourceRun) error) error {
	if w.job != nil {
		if err := w.job.Confirm(ctx, tx); err != nil {
			return err
		}
	}
	row, run, err := w.check(ctx, tx, w.source.Org, w.source.ID, w.run.ID)
	if err != nil {
		return err
	}
	if change != nil {
		if err := change(&row, &run); err != nil {
			return err
		}
	}
	run.Counts = sum(run.Counts, o.counts)
	if run.ID == "" {
		if err := w.markBeside(ctx, tx, row, o.seen); err != nil {
			return err
		}
		return tx.PutSource(ctx, row)
	}
	now := w.now().UTC()
	if !run.Status.Ended() {
		if err := remember(&run, o.seen, w.source.Kind == pushKind); err != nil {
			return err
		}
		if o.cursor != nil {
			run.Cursor = o.cursor
		}
		run.HeartbeatAt = now
	}
	if o.progress {
		run.ProgressAt = now
	}
	items := o.items
	for i := range items {
		if items[i].Place < 0 { // of no item: behind all of them
			items[i].Place = noItem + int64(run.Recorded) + int64(i)
			if e := items[i].Error; e != nil && e.Code != string(port.SourceSkipped) {
				run.Problems++
			}
		}
	}
	items = slices.DeleteFunc(items, func(i port.SourceRunItem) bool {
		room := maxRecorded
		if i.Error == nil {
			room -= forFailures
		}
		if run.Recorded >= room {
			return true
		}
		run.Recorded++
		return false
	})
	if err := tx.PutSourceRun(ctx, run); err != nil {
		return err
	}
	if err := tx.PutSourceRunItems(ctx, row.Org, run.ID, items); err != nil {
		return err
	}
	return tx.PutSource(ctx, row)
}

// remember stores marks with a run: beside those that it has, where other calls mark, too.
func remember(run *port.SourceRun, seen *roaring.Bitmap, shared bool) (err error) {
	if shared {
		stored, err := marks(*run)
		if err != nil {
			return err
		}
		seen = roaring.Or(stored, seen)
	}
	seen.RunOptimize()
	if run.Seen, err = seen.MarshalBinary(); err != nil {
		return fmt.Errorf("encode what a run has seen: %w", err)
	}
	return nil
}

// markBeside marks what was pushed outside of any run in the run that is under way: what
// came while that went on is there, whatever the run was told.
func (w *worker) markBeside(ctx context.Context, tx wide, row port.SourceRow, seen *roaring.Bitmap) error {
	if row.Run == "" || seen.IsEmpty() {
		return nil
	}
	run, err := tx.SourceRun(ctx, row.Org, row.ID, row.Run)
	if err != nil || run.Status.Ended() {
		return err
	}
	if err := remember(&run, seen, true); err != nil {
		return err
	}
	return tx.PutSourceRun(ctx, run)
}

const (
	// maxRecorded is how many items a run names; the rest is counted. The last of those
	// places are for what failed.
	maxRecorded = 100_000
	forFailures = 20_000
	// noItem is the place behind which a run records what is no item.
	noItem = 1 << 40
)

// adopt takes over what a committed transaction has stored.
func (w *worker) adopt(o *outcome) {
	w.counts, w.seen, w.problems = port.SourceCounts{}, o.seen, nil
	w.touch()
}

// note is a copy of where the run is, for a transaction to change.
func (w *worker) note() outcome {
	return outcome{counts: w.counts, seen: w.seen.Clone(), items: slices.Clone(w.problems), progress: true}
}

// sum adds counts.
func sum(a, b port.SourceCounts) port.SourceCounts {
	return port.SourceCounts{Seen: a.Seen + b.Seen, Created: a.Created + b.Created, Updated: a.Updated + b.Updated,
		Unchanged: a.Unchanged + b.Unchanged, Deleted: a.Deleted + b.Deleted, Withheld: a.Withheld + b.Withheld,
		Failed: a.Failed + b.Failed, Skipped: a.Skipped + b.Skipped}
}

// flush stores where the run is, and what change makes of it.
func (w *worker) flush(ctx context.Context, cursor []byte, change func(*port.SourceRow, *port.SourceRun) error) error {
	var o outcome
	err := w.store.Update(ctx, func(tx writer) error {
		o = w.note()
		o.cursor = cursor
		return w.commit(ctx, tx, &o, change)
	})
	if err == nil {
		w.adopt(&o)
	}
	return err
}

// follow lists the source, settles what it lists, and removes what is gone.
func (w *worker) follow(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	l := &listing{worker: w}
	switch {
	case w.params.Retry != "":
		l.complete = true
		if err := w.retryRun(ctx, w.params.Retry); err != nil {
			return err
		}
	case w.params.Due:
		l.complete = true
		if err := w.retryDue(ctx); err != nil {
			return err
		}
	case w.source.Kind == pushKind:
		l.complete, l.snapshot = true, w.params.Whole
	default:
		state := w.run.Cursor
		if state == nil && w.run.Mode == incremental {
			state = w.source.Cursor
		}
		if err := w.kind.connector.List(ctx, w.connection(), state, l); err != nil {
			return err
		}
		if err := l.settle(ctx); err != nil {
			return err
		}
		if w.run.Mode == incremental {
			if err := w.retryDue(ctx); err != nil {
				return err
			}
		}
	}
	return l.end(ctx)
}

// conclude ends the run in the store, or leaves it to another attempt.
func (w *worker) conclude(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var status port.SourceRunStatus
	var why *port.SourceReason
	var of *port.SourceError
	switch f := fault.From(err); {
	case err == nil, errors.Is(err, errEnded), errors.Is(cause, errEnded):
		return nil // it has ended, and was stored so
	case errors.Is(err, job.ErrTaken), errors.Is(cause, job.ErrTaken):
		return job.ErrTaken
	case errors.Is(cause, errStalled):
		status, why = port.RunInterrupted, &port.SourceReason{Code: "stalled", Message: "nothing was listed or settled for " +
			short(w.stall)}
	case errors.Is(cause, job.ErrCancelled):
		status = port.RunCancelled
	case ctx.Err() != nil:
		return err // the process stops: the next one goes on
	case errors.As(err, &of):
		why = &port.SourceReason{Code: string(of.Code), Message: of.Message}
		temporary := of.Code == port.SourceUnavailable || of.Code == port.SourceRateLimited
		if temporary && of.RetryAfter > 0 && of.RetryAfter <= time.Hour && w.job.Tries < runTries {
			return w.wait(ctx, why, fault.New(fault.Unavailable, "%s", of.Message).After(of.RetryAfter))
		}
		status = port.RunFailed
	case f.Code == fault.Unavailable && w.job.Tries < runTries:
		return w.wait(ctx, &port.SourceReason{Code: string(f.Code), Message: f.Message}, err)
	default:
		status, why = port.RunFailed, &port.SourceReason{Code: string(f.Code), Message: f.Message}
	}
	if status == port.RunFailed {
		w.log.WarnContext(ctx, "run of source failed", "source", w.source.ID, "run", w.job.ID, "code", why.Code, "error", err)
	}
	if w.run.ID == "" {
		return err // the store did not even tell what the run is
	}
	ctx = context.WithoutCancel(ctx)
	again, err := w.nextRetry(ctx)
	if err != nil {
		return err
	}
	ended := w.flush(ctx, nil, func(row *port.SourceRow, run *port.SourceRun) error {
		row.NextRetry = again
		w.finish(row, run, status, why)
		return nil
	})
	if errors.Is(ended, errEnded) {
		return nil
	}
	return ended
}

// wait says why a run is to be tried again, and answers the error that has it tried.
func (w *worker) wait(ctx context.Context, why *port.SourceReason, err error) error {
	if w.run.ID == "" {
		return err
	}
	stored := w.flush(ctx, nil, func(_ *port.SourceRow, run *port.SourceRun) error {
		run.Status, run.Error = port.RunQueued, why
		return nil
	})
	if stored != nil && !errors.Is(stored, errEnded) {
		w.log.WarnContext(ctx, "waiting run not stored", "run", w.run.ID, "error", stored)
	}
	return err
}

// listing implements port.SourceListing.
type listing struct {
	*worker
	page               []port.SourceItem
	bytes              int               // of the contents that the page brings along
	listed             map[[32]byte]bool // keys of the page
	keys               []string          // that are gone
	cursor             []byte            // not stored yet
	last               []byte            // the newest one
	stored             time.Time         // when the last one was
	broken             int               // problems
	complete, snapshot bool
}

// Bounds of a listing.
const (
	pageItems   = 100
	maxKey      = 2048
	maxVersion  = 256
	maxItemName = 1024
	maxURL      = 2048
	maxState    = 64 << 10
	// storeEvery is how often a checkpoint alone is stored.
	storeEvery = 2 * time.Second
)

var errComplete = errors.New("source: the connector goes on after Complete")

// Item implements port.SourceListing.
func (l *listing) Item(ctx context.Context, i port.SourceItem) error {
	if err := l.going(ctx); err != nil {
		return err
	}
	if why := badItem(&i); why != "" {
		return l.Problem(ctx, port.SourceProblem{Path: i.Key, Code: port.SourceConfig, Message: why})
	}
	hash := keyHash(i.Key)
	if l.listed[hash] || len(l.page) == pageItems || len(l.keys) > 0 { // an item may have been gone before
		if err := l.settle(ctx); err != nil {
			return err
		}
	}
	if l.listed == nil {
		l.listed = map[[32]byte]bool{}
	}
	l.listed[hash] = true
	l.page = append(l.page, i)
	if i.Content != nil {
		l.bytes += len(i.Content.File.Content)
	}
	if l.bytes < batchBytes {
		return nil
	}
	return l.settle(ctx)
}

// badItem says what keeps an item from being kept, and cuts what is for people alone.
func badItem(i *port.SourceItem) string {
	switch {
	case i.Key == "" || len(i.Key) > maxKey:
		return fmt.Sprintf("has a key of %d bytes; 1 to %d are taken", len(i.Key), maxKey)
	case !clean(i.Key):
		return "has a key that is no text"
	case len(i.Version) > maxVersion || !clean(i.Version):
		return "has a version that is no text of at most 256 bytes"
	}
	i.Name, i.URL = cut(i.Name, maxItemName), cut(i.URL, maxURL)
	return ""
}

// clean reports whether a text can be stored: UTF-8 without NUL.
func clean(s string) bool { return strings.ToValidUTF8(s, "") == s && !strings.Contains(s, "\x00") }

// cut makes a text that can be stored of one that is for people.
func cut(s string, limit int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}

// going is what each call begins with.
func (l *listing) going(ctx context.Context) error {
	l.touch()
	if l.complete {
		return errComplete
	}
	return ctx.Err()
}

// Gone implements port.SourceListing.
func (l *listing) Gone(ctx context.Context, key string) error {
	if err := l.going(ctx); err != nil {
		return err
	}
	if len(l.keys) == pageItems {
		if err := l.settle(ctx); err != nil {
			return err
		}
	}
	l.keys = append(l.keys, key)
	return nil
}

// Checkpoint implements port.SourceListing.
func (l *listing) Checkpoint(ctx context.Context, state []byte) error {
	if err := l.going(ctx); err != nil {
		return err
	}
	if len(state) > maxState {
		return port.SourceErrorf(port.SourceConfig, nil, "its connector gave a state of %d bytes; at most %d are kept",
			len(state), maxState)
	}
	if err := l.settle(ctx); err != nil {
		return err
	}
	l.cursor = slices.Clone(state)
	l.last = l.cursor
	if time.Since(l.stored) < storeEvery {
		return nil
	}
	return l.keep(ctx)
}

// keep stores the newest checkpoint. What the listing has said to be gone is removed at its end
// and known to this attempt alone until then: another one is to hear of it again.
func (l *listing) keep(ctx context.Context) error {
	if l.cursor == nil || !l.gone.IsEmpty() {
		return nil
	}
	err := l.flush(ctx, l.cursor, nil)
	if err == nil {
		l.cursor, l.stored = nil, time.Now()
	}
	return err
}

// Problem implements port.SourceListing.
func (l *listing) Problem(ctx context.Context, p port.SourceProblem) error {
	if err := l.going(ctx); err != nil {
		return err
	}
	if p.Code != port.SourceSkipped {
		l.broken++
	}
	l.counts.Skipped++
	l.problems = append(l.problems, port.SourceRunItem{Place: -1, Key: cut(p.Path, maxKey), Status: "skipped",
		Error: &port.SourceReason{Code: string(p.Code), Message: cut(p.Message, maxItemName)}})
	if len(l.problems) < pageItems {
		return nil
	}
	return l.flush(ctx, nil, nil)
}

// Complete implements port.SourceListing.
func (l *listing) Complete(ctx context.Context, snapshot bool) error {
	if err := l.going(ctx); err != nil {
		return err
	}
	if err := l.settle(ctx); err != nil {
		return err
	}
	l.complete, l.snapshot = true, snapshot
	return nil
}

// settle settles what was listed since the last time: items, and then keys that are gone.
func (l *listing) settle(ctx context.Context) error {
	page, keys := l.page, l.keys
	l.page, l.keys, l.bytes = nil, nil, 0
	clear(l.listed)
	if len(page) > 0 {
		if err := l.settleItems(ctx, page, false); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	hashes := map[[32]byte]bool{}
	for _, k := range keys {
		hashes[keyHash(k)] = true
	}
	return l.store.View(ctx, func(r reader) error {
		found, err := r.SourceItems(ctx, l.source.Org, l.source.ID, slices.Collect(maps.Keys(hashes)))
		for _, row := range found {
			l.gone.Add(uint32(row.Number))
			l.seen.Remove(uint32(row.Number))
		}
		return err
	})
}

// end removes what is gone, and ends the run.
func (l *listing) end(ctx context.Context) error {
	// What a resumed run had listed before with a problem proves nothing either.
	proven := l.complete && l.broken == 0 && l.run.Problems == 0
	withheld := int64(0)
	if !l.source.Keep {
		var err error
		if withheld, err = l.sweep(ctx, proven && l.snapshot); err != nil {
			return err
		}
	}
	l.counts.Withheld = withheld
	again, err := l.nextRetry(ctx)
	if err != nil {
		return err
	}
	return l.flush(ctx, nil, func(row *port.SourceRow, run *port.SourceRun) error {
		status, why := port.RunCompleted, (*port.SourceReason)(nil)
		switch {
		case !l.complete:
			status, why = port.RunPartial, &port.SourceReason{Code: "incomplete", Message: "the listing ended before its end"}
		case l.broken > 0:
			status, why = port.RunPartial, &port.SourceReason{Code: "problems",
				Message: "parts could not be listed, so nothing counts as gone"}
		case withheld > 0:
			status, why = port.RunPartial, &port.SourceReason{Code: "deletions_withheld",
				Message: "suspiciously much is gone; apply_deletions deletes it"}
		case run.Counts.Failed+l.counts.Failed > 0:
			status = port.RunPartial
		}
		if proven && l.last != nil && l.kind.Incremental {
			row.Cursor = l.last
		}
		row.NextRetry = again
		l.finish(row, run, status, why)
		return nil
	})
}
