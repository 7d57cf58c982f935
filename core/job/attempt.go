package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// run carries a claimed job through its attempts until it has ended, is given
// back, or is another's.
func (r *Runner) run(j *Job) {
	for !r.stopping() {
		wait, again := r.attempt(j)
		if !again {
			return
		}
		if pause(j.ctx, wait) != nil && r.stopping() {
			r.giveBack(j)
			return
		}
	}
}

// attempt does the work once, and stores what came of it. again says to attempt it
// once more after a wait, with the claim kept.
func (r *Runner) attempt(j *Job) (wait time.Duration, again bool) {
	ok, err := r.begin(j)
	if ok {
		err = r.do(j)
		if errors.Is(context.Cause(j.ctx), ErrTaken) {
			err = ErrTaken
		}
		wait, again = r.conclude(j, err)
	}
	if j.kind.After != nil && (ok || err != nil) {
		j.kind.After(j, err)
	}
	return wait, again
}

// conclude stores what came of an attempt.
func (r *Runner) conclude(j *Job, err error) (wait time.Duration, again bool) {
	switch {
	case err == nil:
		r.count(j, Succeeded)
		if !j.finished.Load() {
			r.settle(j, func(row *port.Job) { r.end(row, j.kind, port.JobSucceeded, nil, nil) })
		}
		return 0, false
	case errors.Is(err, ErrTaken):
		r.count(j, Lost)
		r.log.WarnContext(r.ctx, "job lost to another replica", "job", j.ID, "kind", j.Kind)
		return 0, false
	case errors.Is(context.Cause(j.ctx), ErrCancelled):
		r.count(j, Cancelled)
		if r.settle(j, func(row *port.Job) { r.end(row, j.kind, port.JobCancelled, nil, cancelled()) }) {
			r.log.InfoContext(r.ctx, "job cancelled", "job", j.ID, "kind", j.Kind)
		}
		return 0, false
	case r.stopping():
		r.count(j, Interrupted)
		r.giveBack(j)
		return 0, false
	}
	f := fault.From(err)
	if f.Code == fault.Unavailable && j.Tries < j.kind.Tries {
		r.count(j, Postponed)
		return r.postpone(j, max(f.RetryAfter, j.kind.wait(j.Tries)), err)
	}
	r.count(j, Failed)
	failed := r.settle(j, func(row *port.Job) {
		r.end(row, j.kind, port.JobFailed, nil, &port.JobError{Code: string(f.Code), Message: f.Message})
	})
	if failed {
		r.log.WarnContext(r.ctx, "job failed", "job", j.ID, "kind", j.Kind, "partition", j.Partition.String(),
			"tries", j.Tries, "code", f.Code, "error", err)
	}
	return 0, false
}

// wait is how long to wait after an attempt, counted from 1.
func (k *Kind) wait(tries int) time.Duration {
	d := k.Backoff
	for range tries - 1 {
		if d *= 2; d >= k.MaxBackoff {
			break
		}
	}
	return min(d, k.MaxBackoff)
}

// begin marks a job as running and reads its request, once the store answers. ok is
// false when there is nothing to be done: it has ended, is cancelled or another's,
// or the process stops; err says that the store refused.
func (r *Runner) begin(j *Job) (ok bool, err error) {
	if j.begun {
		j.begun = false
		return true, nil
	}
	ended := false
	j.finished.Store(false)
	err = r.transact(j, func(ctx context.Context) error {
		err := r.store.View(ctx, func(rd Reader) (err error) {
			j.request, err = rd.JobRequest(ctx, j.Org, j.ID)
			return err
		})
		if fault.CodeOf(err) == fault.NotFound {
			return ErrTaken
		}
		if err != nil {
			return err
		}
		return r.store.Update(ctx, func(w Writer) error {
			err := j.change(ctx, w, func(row *port.Job) {
				if ended = row.Cancel; ended {
					r.end(row, j.kind, port.JobCancelled, nil, cancelled())
					return
				}
				row.Status, row.NextAttempt, row.Tries = port.JobRunning, time.Time{}, row.Tries+1
				if j.Resumed = !row.StartedAt.IsZero(); !j.Resumed {
					row.StartedAt = r.now()
				}
				j.Job = *row
			})
			if err == nil && ended {
				err = w.EndClaim(ctx, j.claim)
			}
			return err
		})
	})
	if err == nil {
		r.mu.Lock()
		j.again = false // this is the attempt
		r.mu.Unlock()
		return !ended, nil
	}
	if !r.stopping() {
		r.replica.End(context.WithoutCancel(r.ctx), j.claim) // of a job that ended while it was queued
	}
	return false, err
}

// do calls Kind.Run. A panic, of a model for one, is the attempt's error.
func (r *Runner) do(j *Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	ctx := j.ctx
	if principal := j.request.Principal; len(principal) > 0 {
		var who ident.Principal
		if err := json.Unmarshal(principal, &who); err != nil {
			return fmt.Errorf("decode who started job %s: %w", j.ID, err)
		}
		ctx = ident.WithPrincipal(ctx, who)
	}
	if j.kind.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.kind.Timeout)
		defer cancel()
	}
	return j.kind.Run(ctx, j)
}

// postpone stores that a job is to be tried again. A lane waits for it; without one
// it is given back until then.
func (r *Runner) postpone(j *Job, wait time.Duration, cause error) (time.Duration, bool) {
	r.log.InfoContext(r.ctx, "job postponed", "job", j.ID, "kind", j.Kind, "tries", j.Tries, "wait", wait, "error", cause)
	keep := j.kind.Lane != ""
	var next time.Time
	err := r.transact(j, func(ctx context.Context) error {
		return r.store.Update(ctx, func(w Writer) error {
			now, err := w.Now(ctx)
			if err != nil {
				return err
			}
			next = now.Add(wait)
			if err := j.change(ctx, w, func(row *port.Job) { row.Status, row.NextAttempt = port.JobQueued, next }); err != nil ||
				keep {
				return err
			}
			return w.EndClaim(ctx, j.claim)
		})
	})
	return wait, err == nil && keep
}

// giveBack leaves an interrupted job to the next start, or to another replica, as
// if the attempt had not begun.
func (r *Runner) giveBack(j *Job) {
	r.settle(j, func(row *port.Job) {
		if row.Status == port.JobRunning {
			row.Status, row.Tries = port.JobQueued, max(0, row.Tries-1)
		}
	})
}

// settle rewrites the job's row, once the store answers, and gives the claim up
// with it. It is false when the job was another's, had ended, or the store did not
// answer before the process stopped.
func (r *Runner) settle(j *Job, fn func(row *port.Job)) bool {
	return nil == r.transact(j, func(ctx context.Context) error {
		return r.store.Update(ctx, func(w Writer) error {
			if err := j.change(ctx, w, fn); err != nil {
				return err
			}
			return w.EndClaim(ctx, j.claim)
		})
	})
}

// transact calls fn until the store answers, even after the job was cancelled, and
// once when the process stops. ErrTaken is no answer to be logged.
func (r *Runner) transact(j *Job, fn func(context.Context) error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, storeBackoff) {
		last := r.stopping()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), storeTimeout)
		err := fn(ctx)
		cancel()
		if err == nil || errors.Is(err, ErrTaken) {
			return err
		}
		away := fault.CodeOf(err) == fault.Unavailable || fault.CodeOf(err) == fault.Timeout
		if last || !away {
			r.log.ErrorContext(r.ctx, "job state not stored", "job", j.ID, "kind", j.Kind, "error", err)
			j.refused = true
			return err
		}
		r.log.WarnContext(r.ctx, "job state not stored yet", "job", j.ID, "kind", j.Kind, "error", err)
		_ = pause(r.ctx, wait) // a stop ends it, and there is one more try
	}
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
