package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Kind is how jobs of one kind of work run.
type Kind struct {
	Name   string // "documents.write"; stored with each job
	Prefix string // of the ids of its jobs, before "_"; "": job
	// Lane names the lane that its jobs share, with those of other kinds perhaps;
	// "": they run side by side.
	Lane string
	// Queue bounds the jobs of the lane that were started here and have not ended, but
	// each organization may have a quarter of it, however many others have; Start
	// answers Unavailable beyond it. 0: no bound.
	Queue int
	// Single has Start join the unfinished job of the kind on the same partition. Where
	// no replica holds that one, as between two attempts, it is attempted at once.
	Single bool
	// Final jobs cannot be cancelled once they are accepted.
	Final bool
	// Keep is how long an ended job can be read.
	Keep time.Duration
	// Tries bounds the attempts of a job that answers fault Unavailable; 0: one.
	// Attempts that a stop or a crash cut short do not keep it from being resumed.
	Tries int
	// Backoff is the wait before the second attempt, doubled before each further
	// one up to MaxBackoff. 0: a second and a minute.
	Backoff, MaxBackoff time.Duration
	// Timeout bounds an attempt; 0: none.
	Timeout time.Duration
	// Run does the work. It runs again after a crash, with the state saved last, so
	// it must be safe to repeat; what must happen once is ended by Job.Finish in the
	// transaction that does it. Returning nil without Finish ends the job, too. ctx
	// carries the principal who started the job, and ends when the job is cancelled,
	// is another replica's, or the process stops.
	Run func(ctx context.Context, j *Job) error
	// After is called after each attempt, when what came of it is stored, or could not
	// be: err is nil where the job has succeeded, ErrTaken where it is another
	// replica's. Where the store refused the attempt it is called without Run. nil:
	// nobody asks.
	After func(j *Job, err error)
}

// ErrTaken says that another replica has taken a job over, or that it has ended.
var ErrTaken = errors.New("job: it is another replica's")

// ErrCancelled is the cause of the end of the context of an attempt that was cancelled.
var ErrCancelled = errors.New("job: cancelled")

// errStopping is that of one that the end of the process cuts short.
var errStopping = errors.New("job: the process stops")

// Job is a claimed job, as Kind.Run gets it.
type Job struct {
	port.Job      // as it was when the attempt began
	Resumed  bool // an earlier attempt has begun

	runner  *Runner
	kind    *Kind
	org     ident.Org // as in port.Job, which an attempt rewrites
	claim   port.Claim
	request port.JobRequest // of the attempt
	ctx     context.Context
	stop    context.CancelCauseFunc

	adopted  bool // it was found unclaimed, not started here
	begun    bool // its first attempt was stored with it
	refused  bool // the store has refused to change its row
	again    bool // of the runner's lock: it is to be attempted once more, at once
	finished atomic.Bool
	saved    time.Time // by Progress
}

// Request decodes what the job was asked to do.
func (j *Job) Request(into any) error {
	if err := json.Unmarshal(j.request.Body, into); err != nil {
		return fmt.Errorf("decode the request of job %s: %w", j.ID, err)
	}
	return nil
}

// Load decodes the state that was saved last; false: none was.
func (j *Job) Load(state any) (bool, error) {
	if len(j.State) == 0 {
		return false, nil
	}
	if err := json.Unmarshal(j.State, state); err != nil {
		return false, fmt.Errorf("decode the state of job %s: %w", j.ID, err)
	}
	return true, nil
}

// Save stores how far the job is, and what a further attempt needs to go on; a nil
// state keeps the one before. ErrTaken ends the attempt: its context is over then.
func (j *Job) Save(ctx context.Context, done, total int, state any) error {
	var encoded []byte
	if state != nil {
		var err error
		if encoded, err = json.Marshal(state); err != nil {
			return fmt.Errorf("encode the state of job %s: %w", j.ID, err)
		}
	}
	err := j.runner.store.Update(ctx, func(w Writer) error {
		return j.change(ctx, w, func(row *port.Job) {
			row.Done, row.Total = done, total
			if encoded != nil {
				row.State = encoded
			}
		})
	})
	if errors.Is(err, ErrTaken) {
		j.stop(ErrTaken)
	}
	return err
}

// SaveIn is Save in a transaction of the work itself, so that what is counted and what
// was done are stored together. ErrTaken must roll it back.
func (j *Job) SaveIn(ctx context.Context, w Writer, done, total int, state any) error {
	encoded, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode the state of job %s: %w", j.ID, err)
	}
	return j.change(ctx, w, func(row *port.Job) { row.Done, row.Total, row.State = done, total, encoded })
}

// Confirm answers ErrTaken, which must roll the transaction back, where the job is another
// replica's by now: what the job has left in the store is not this one's to change.
func (j *Job) Confirm(ctx context.Context, w port.ReplicaWriter) error {
	err := w.ConfirmClaim(ctx, j.claim)
	if fault.CodeOf(err) == fault.Conflict {
		return ErrTaken
	}
	return err
}

// progressEvery is how often Progress writes to the store.
const progressEvery = 500 * time.Millisecond

// Progress is Save, twice a second at most. What the store does not take is told by the
// next call. Not safe for concurrent use.
func (j *Job) Progress(ctx context.Context, done, total int, state any) {
	now := time.Now()
	if now.Sub(j.saved) < progressEvery {
		return
	}
	j.saved = now
	if err := j.Save(ctx, done, total, state); err != nil && ctx.Err() == nil {
		j.runner.log.WarnContext(ctx, "job progress not stored", "job", j.ID, "kind", j.Kind, "error", err)
	}
}

// Finish ends the job as succeeded in a transaction of the work itself, so that
// work which was done is not done again. Where that transaction does not commit
// the job has not ended. ErrTaken must roll it back.
func (j *Job) Finish(ctx context.Context, w Writer, result any) error {
	encoded, err := encodeOptional(result)
	if err != nil {
		return fmt.Errorf("encode the result of job %s: %w", j.ID, err)
	}
	if err := j.change(ctx, w, func(row *port.Job) {
		row.Done = row.Total
		j.runner.end(row, j.kind, port.JobSucceeded, encoded, nil)
	}); err != nil {
		return err
	}
	j.finished.Store(true)
	return w.EndClaim(ctx, j.claim)
}

// Gone says that the work has removed the job's row, and with it the claim. There is
// no end to be stored then.
func (j *Job) Gone() { j.finished.Store(true) }

// change rewrites the job's row, unless the job is another's or has ended.
func (j *Job) change(ctx context.Context, w Writer, fn func(row *port.Job)) error {
	if err := j.Confirm(ctx, w); err != nil {
		return err
	}
	row, err := w.Job(ctx, j.Org, j.ID)
	if fault.CodeOf(err) == fault.NotFound || err == nil && row.Status.Ended() {
		return ErrTaken
	}
	if err != nil {
		return err
	}
	fn(&row)
	row.UpdatedAt = j.runner.now()
	if err := w.ChangeJob(ctx, row); err != nil || !row.Status.Ended() {
		return err
	}
	return j.runner.record(ctx, w, row)
}

// encodeOptional is the JSON of v; nil of nil.
func encodeOptional(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}
