package source

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// The modes of runs.
const (
	full        = "full"
	incremental = "incremental"
)

// params say what a run is for, beside its mode.
type params struct {
	Again bool   `json:"again,omitempty"` // documents that were deleted by hand are to come back
	Max   *int64 `json:"max,omitempty"`   // most documents to delete, in place of the guard's rules
	Retry string `json:"retry,omitempty"` // run whose failed items are to be tried, and nothing else
	Due   bool   `json:"due,omitempty"`   // those failed items whose time has come, and nothing else
	Push  bool   `json:"push,omitempty"`  // items are pushed, until it is completed
	Whole bool   `json:"whole,omitempty"` // pushed: what was not pushed is gone
}

func paramsOf(r port.SourceRun) (p params) {
	_ = json.Unmarshal(r.Params, &p) // of our own making; nil is none
	return p
}

// pushed reports whether a run waits for what is pushed.
func pushed(r port.SourceRun) bool { return paramsOf(r).Push }

// order is a run to start.
type order struct {
	trigger string
	full    bool // although the kind could ask for what has changed
	params  params
}

// request is that of the job of a run; the job's id is the run's.
type request struct {
	Source string `json:"source"`
}

// start stores a run and has it run. A source that has a run answers that one: joined. before, which
// may be nil, comes first in the same transaction.
func (s *Service) start(ctx context.Context, org ident.Org, id string, o order,
	before func(writer) error) (out port.SourceRun, joined bool, err error) {
	runID := "run_" + uuid.Must(uuid.NewV7()).String()
	_, _, err = s.jobs.Start(ctx, runKind, job.Order{
		ID:        runID,
		Partition: port.Documents(org, ""),
		Request:   request{id},
		In: func(ctx context.Context, store func(w job.Writer, on port.Partition) error) error {
			return s.store.Update(ctx, func(w writer) error {
				joined = false
				if before != nil {
					if err := before(w); err != nil {
						return err
					}
				}
				row, err := w.Source(ctx, org, id)
				if err != nil {
					return err
				}
				if err := s.mayRun(row); err != nil {
					return err
				}
				if row.Run != "" {
					joined = true
					out, err = w.SourceRun(ctx, org, id, row.Run)
					return err
				}
				out = s.newRun(row, runID, o)
				row.State, row.Run, row.LastRun = port.SourceSyncing, runID, runID
				if err := w.PutSource(ctx, row); err != nil {
					return err
				}
				if err := w.PutSourceRun(ctx, out); err != nil {
					return err
				}
				return store(w, port.Documents(org, row.Namespace))
			})
		},
	})
	return out, joined, err
}

// mayRun refuses a run of a source that is paused or goes.
func (s *Service) mayRun(row port.SourceRow) error {
	switch {
	case row.State == port.SourceDeleting:
		return fault.New(fault.Conflict, "source %s is being deleted", row.ID)
	case !row.Enabled:
		return fault.New(fault.Conflict, "source %s is paused", row.ID)
	}
	return nil
}

// newRun is a run of a source that is about to be stored.
func (s *Service) newRun(row port.SourceRow, id string, o order) port.SourceRun {
	mode := full
	if k := s.connectors[row.Kind]; o.params.Retry != "" || o.params.Due || k.Incremental && row.Cursor != nil && !o.full {
		mode = incremental
	}
	raw, err := json.Marshal(o.params)
	if err != nil {
		panic("source: parameters of a run cannot be encoded: " + err.Error())
	}
	return port.SourceRun{ID: id, Source: row.ID, Org: row.Org, Trigger: o.trigger, Mode: mode, Status: port.RunQueued,
		Params: raw, CreatedAt: s.now().UTC()}
}

// interrupt ends the job of a run that has ended in the store, where it is under way here.
// Elsewhere the run's next transaction, or its heartbeat, sees it.
func (s *Service) interrupt(ctx context.Context, org ident.Org, run string) {
	if run == "" {
		return
	}
	_, err := s.jobs.Cancel(context.WithoutCancel(ctx), org, run)
	if code := fault.CodeOf(err); err != nil && code != fault.NotFound && code != fault.Conflict {
		s.log.WarnContext(ctx, "job of run not cancelled", "run", run, "error", err)
	}
}

// cancelRun ends the run of a source in a transaction. The caller stores row, and calls
// interrupt once that is committed.
func (s *Service) cancelRun(ctx context.Context, w writer, row *port.SourceRow) (ended string, err error) {
	run, err := w.SourceRun(ctx, row.Org, row.ID, row.Run)
	if err != nil {
		return "", err
	}
	s.finish(row, &run, port.RunCancelled, nil)
	return run.ID, w.PutSourceRun(ctx, run)
}

// finish changes a source and its run to what they are once the run has ended.
func (s *Service) finish(row *port.SourceRow, run *port.SourceRun, status port.SourceRunStatus, why *port.SourceReason) {
	now := s.now().UTC()
	run.Status, run.Error, run.FinishedAt, run.Cursor, run.Seen = status, why, now, nil, nil
	row.Run = ""
	if row.State != port.SourceSyncing {
		return // it goes
	}
	row.State = port.SourceIdle
	switch status {
	case port.RunCompleted, port.RunPartial:
		row.Failures, row.Reason = 0, nil
	case port.RunFailed:
		row.Failures++
		row.State, row.Reason = port.SourceFailed, why
	case port.RunInterrupted:
		if row.Failures++; row.Failures >= patience {
			row.State, row.Reason = port.SourceFailed, why
		}
	default:
		if row.Reason != nil {
			row.State = port.SourceFailed // a cancelled run mends nothing
		}
	}
	if !row.Enabled {
		row.State, row.NextRetry = port.SourcePaused, time.Time{}
		return
	}
	if status != port.RunCompleted && status != port.RunPartial && !row.NextRetry.IsZero() {
		// Items that are due would have it run, and fail, again at once.
		soon := now.Add(retryAfter[min(max(row.Failures, 1), len(retryAfter))-1])
		if row.NextRetry.Before(soon) {
			row.NextRetry = soon
		}
	}
	if !row.NextRun.After(now) || row.Failures >= patience {
		row.NextRun = next(row.Schedule, row.Failures, now)
	}
}

// SyncSource is the body of POST /sources/{id}/sync.
type SyncSource struct {
	Ref
	Full bool `json:"full,omitempty" default:"false" doc:"look at everything again, and bring back documents that were deleted by hand"`
}

// Sync starts a run, or answers the one that is under way.
func (s *Service) Sync(ctx context.Context, in SyncSource) (Run, error) {
	return s.startManual(ctx, in.Ref, order{trigger: "manual", full: in.Full, params: params{Again: in.Full}}, true)
}

func (s *Service) startManual(ctx context.Context, in Ref, o order, join bool) (Run, error) {
	run1, joined, err := s.start(ctx, ident.From(ctx).Org, in.ID, o, func(w writer) error {
		row, err := mine(ctx, w, in.ID)
		switch {
		case err != nil:
			return err
		case row.Kind == pushKind:
			return fault.New(fault.Conflict, "source %s is of kind push: programs bring what it has", row.ID)
		case row.Run != "" && !join && row.State != port.SourceDeleting:
			return fault.New(fault.Conflict, "run %s is under way", row.Run)
		}
		return nil
	})
	if err != nil {
		return Run{}, err
	}
	out := run(run1, s.now())
	if !joined {
		out.status = 202
	}
	return out, nil
}

// ApplyDeletions is the body of POST /sources/{id}/apply_deletions.
type ApplyDeletions struct {
	Ref
	Max *int64 `json:"max" minimum:"0" maximum:"1000000000" doc:"most documents to delete; if more would go, none does"`
}

// Validate wants the number: nobody deletes as many as the server pleases.
func (in *ApplyDeletions) Validate() error {
	if in.Max == nil {
		return fault.Field(fault.InvalidRequest, "max", "is required")
	}
	return nil
}

// ApplyDeletions starts a run that deletes what is gone up to a number.
func (s *Service) ApplyDeletions(ctx context.Context, in ApplyDeletions) (Run, error) {
	return s.startManual(ctx, in.Ref, order{trigger: "manual", full: true, params: params{Max: in.Max}}, false)
}

// RetryFailed starts a run of the failed items of another one.
func (s *Service) RetryFailed(ctx context.Context, in RunRef) (Run, error) {
	if _, err := s.GetRun(ctx, in); err != nil {
		return Run{}, err
	}
	return s.startManual(ctx, in.Ref, order{trigger: "manual", params: params{Retry: in.Run}}, false)
}

// Cancel ends a run. One that has been cancelled stays so.
func (s *Service) Cancel(ctx context.Context, in RunRef) (Run, error) {
	org, ended := ident.From(ctx).Org, ""
	var out port.SourceRun
	err := s.store.Update(ctx, func(w writer) error {
		ended = ""
		row, err := mine(ctx, w, in.ID)
		if err != nil {
			return err
		}
		if out, err = w.SourceRun(ctx, org, in.ID, in.Run); err != nil {
			return err
		}
		switch {
		case out.Status == port.RunCancelled:
			return nil
		case out.Status.Ended() || row.Run != out.ID:
			return fault.New(fault.Conflict, "the run has ended as %s", out.Status)
		}
		if ended, err = s.cancelRun(ctx, w, &row); err != nil {
			return err
		}
		if out, err = w.SourceRun(ctx, org, in.ID, in.Run); err != nil {
			return err
		}
		return w.PutSource(ctx, row)
	})
	if err != nil {
		return Run{}, err
	}
	s.interrupt(ctx, org, ended)
	return run(out, s.now()), nil
}

// GetRun reads a run.
func (s *Service) GetRun(ctx context.Context, in RunRef) (out Run, err error) {
	err = s.store.View(ctx, func(r reader) error {
		row, err := mine(ctx, r, in.ID)
		if err != nil {
			return err
		}
		found, err := r.SourceRun(ctx, row.Org, row.ID, in.Run)
		if err == nil {
			out = run(found, s.now())
		}
		return err
	})
	return out, err
}

// ListRuns are the parameters of GET /sources/{id}/runs.
type ListRuns struct {
	Ref
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
}

// Runs answers GET /sources/{id}/runs.
type Runs struct {
	Runs       []Run   `json:"runs"`
	NextCursor *string `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// Runs lists the runs of a source, the newest first.
func (s *Service) Runs(ctx context.Context, in ListRuns) (Runs, error) {
	limit, bind := page.Limit(in.Limit), []string{"source runs", string(ident.From(ctx).Org), in.ID}
	var at after
	if err := s.pages.Open(in.Cursor, &at, bind...); err != nil {
		return Runs{}, err
	}
	out := Runs{Runs: []Run{}}
	err := s.store.View(ctx, func(r reader) error {
		row, err := mine(ctx, r, in.ID)
		if err != nil {
			return err
		}
		runs, err := r.SourceRuns(ctx, row.Org, row.ID, port.SourceRunList{AfterCreated: at.At, AfterID: at.ID, Limit: limit + 1})
		if err != nil {
			return err
		}
		if len(runs) > limit {
			runs = runs[:limit]
			out.NextCursor = new(s.pages.Seal(after{ID: runs[limit-1].ID, At: runs[limit-1].CreatedAt}, bind...))
		}
		for _, one := range runs {
			out.Runs = append(out.Runs, run(one, s.now()))
		}
		return nil
	})
	return out, err
}

// ListRunItems are the parameters of GET /sources/{id}/runs/{run}/items.
type ListRunItems struct {
	RunRef
	Status string `query:"status" json:"-" enum:"created,updated,deleted,withheld,failed,skipped" doc:"only items that became this"`
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
}

// RunItems answers GET /sources/{id}/runs/{run}/items.
type RunItems struct {
	Items      []RunItem `json:"items"`
	NextCursor *string   `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// RunItems lists what a run has recorded.
func (s *Service) RunItems(ctx context.Context, in ListRunItems) (RunItems, error) {
	org, limit := ident.From(ctx).Org, page.Limit(in.Limit)
	bind := []string{"run items", string(org), in.ID, in.Run, in.Status}
	var at after
	if err := s.pages.Open(in.Cursor, &at, bind...); err != nil {
		return RunItems{}, err
	}
	out := RunItems{Items: []RunItem{}}
	err := s.store.View(ctx, func(r reader) error {
		row, err := mine(ctx, r, in.ID)
		if err != nil {
			return err
		}
		if _, err := r.SourceRun(ctx, org, row.ID, in.Run); err != nil {
			return err
		}
		items, err := r.SourceRunItems(ctx, org, in.Run, at.N, in.Status, limit+1)
		if err != nil {
			return err
		}
		if len(items) > limit {
			out.NextCursor = new(s.pages.Seal(after{N: items[limit].Place}, bind...))
			items = items[:limit]
		}
		for _, i := range items {
			out.Items = append(out.Items, RunItem{i.Key, i.Status, reason(i.Error), optional(i.Document)})
		}
		return nil
	})
	return out, err
}

// ListItems are the parameters of GET /sources/{id}/items.
type ListItems struct {
	Ref
	Status string `query:"status" json:"-" enum:"active,failed" doc:"only items in this state"`
	Prefix string `query:"prefix" json:"-" schema:"Text" doc:"only items whose key begins with it"`
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
}

// Items answers GET /sources/{id}/items.
type Items struct {
	Items      []Item  `json:"items"`
	NextCursor *string `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// Items lists what is kept of a source's items, in the order in which they first came.
func (s *Service) Items(ctx context.Context, in ListItems) (Items, error) {
	org, limit := ident.From(ctx).Org, page.Limit(in.Limit)
	bind := []string{"source items", string(org), in.ID, in.Status, in.Prefix}
	var at after
	if err := s.pages.Open(in.Cursor, &at, bind...); err != nil {
		return Items{}, err
	}
	out := Items{Items: []Item{}}
	err := s.store.View(ctx, func(r reader) error {
		row, err := mine(ctx, r, in.ID)
		if err != nil {
			return err
		}
		l := port.SourceItemList{From: at.N, Prefix: in.Prefix, Limit: limit + 1}
		if in.Status != "" {
			l.Failed = new(in.Status == "failed")
		}
		items, err := r.ListSourceItems(ctx, org, row.ID, l)
		if err != nil {
			return err
		}
		if len(items) > limit {
			out.NextCursor = new(s.pages.Seal(after{N: items[limit].Number}, bind...))
			items = items[:limit]
		}
		for _, i := range items {
			out.Items = append(out.Items, item(row.ID, i))
		}
		return nil
	})
	return out, err
}

// Run looks after sources until ctx ends: it starts the runs that are due, ends those that
// were left behind, and forgets old ones.
func (s *Service) Run(ctx context.Context) {
	if s.off {
		return
	}
	var trimmed time.Time
	for {
		t := time.NewTimer(s.tick)
		if s.none(ctx) {
			t.Reset(max(s.tick, lookForNone))
		} else {
			s.startDue(ctx)
			s.endLost(ctx)
		}
		if now := time.Now(); now.Sub(trimmed) > time.Hour {
			trimmed = now
			s.trim(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.made:
			t.Stop()
		case <-t.C:
		}
	}
}

// lookForNone is how often a process whose store is its own looks where there are no sources, so
// that a server that nobody calls rests: the call that makes one wakes it.
const lookForNone = 10 * time.Minute

// none reports that there are no sources, and that only this process could make one.
func (s *Service) none(ctx context.Context) bool {
	if !s.alone {
		return false
	}
	var all []port.SourceRow
	err := s.store.View(ctx, func(r reader) (err error) {
		all, err = r.Sources(ctx, port.SourceList{Limit: 1})
		return err
	})
	return err == nil && len(all) == 0
}

const (
	dueAtOnce = 100
	keepRuns  = 1000
	keepFor   = 90 * 24 * time.Hour
	// pushIdle is how long a pushed run may bring nothing.
	pushIdle = time.Hour
)

// startDue starts the runs whose time has come. Where two replicas see one source, the
// second joins the first's.
func (s *Service) startDue(ctx context.Context) {
	now := s.now()
	var due []port.SourceRow
	err := s.store.View(ctx, func(r reader) (err error) {
		due, err = r.DueSources(ctx, now, dueAtOnce)
		return err
	})
	for _, row := range due {
		if ctx.Err() != nil {
			return
		}
		o := order{trigger: "schedule"}
		o.params.Due = row.NextRun.IsZero() || row.NextRun.After(now)
		_, _, err := s.start(ctx, row.Org, row.ID, o, func(w writer) error {
			if o, err := w.Organization(ctx, row.Org); err != nil || o.Suspended {
				return errors.Join(err, errAnothers)
			}
			is, err := w.Source(ctx, row.Org, row.ID)
			if err == nil && (is.Run != "" || !is.NextRun.Equal(row.NextRun) || !is.NextRetry.Equal(row.NextRetry)) {
				err = errAnothers
			}
			return err
		})
		if err != nil && !errors.Is(err, errAnothers) && ctx.Err() == nil {
			s.log.WarnContext(ctx, "due source not started", "source", row.ID, "error", err)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "due sources not read", "error", err)
	}
}

// errAnothers says that a source that was due is not to be started: another process has, or its
// organization is suspended.
var errAnothers = errors.New("source: it is not to be started")

// endLost ends the runs that nobody goes on with: whose job has ended otherwise, and pushed
// ones that bring nothing any more.
func (s *Service) endLost(ctx context.Context) {
	var all []port.SourceRow
	err := s.store.View(ctx, func(r reader) (err error) {
		all, err = r.Sources(ctx, port.SourceList{State: port.SourceSyncing})
		return err
	})
	for _, row := range all {
		if err != nil {
			break
		}
		lost := false
		err = s.store.View(ctx, func(r reader) (err error) {
			lost, _, _, err = s.lost(ctx, r, row)
			return err
		})
		if err == nil && lost {
			err = s.store.Update(ctx, func(w writer) error { return s.endIfLost(ctx, w, row.Org, row.ID) })
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "lost runs not looked for", "error", err)
	}
}

// lost reports whether nobody goes on with the run of a source, and how it has ended.
func (s *Service) lost(ctx context.Context, r reader, row port.SourceRow) (lost bool, status port.SourceRunStatus,
	why *port.SourceReason, err error) {
	run, err := r.SourceRun(ctx, row.Org, row.ID, row.Run)
	if code := fault.CodeOf(err); code == fault.NotFound || code == fault.SourceNotFound {
		return false, "", nil, nil
	}
	if err != nil {
		return false, "", nil, err
	}
	if pushed(run) {
		why = &port.SourceReason{Code: "stalled", Message: "nothing was brought for an hour"}
		return s.now().Sub(run.ProgressAt) > pushIdle, port.RunInterrupted, why, nil
	}
	j, err := r.Job(ctx, row.Org, run.ID)
	switch {
	case err == nil && !j.Status.Ended():
		return false, "", nil, nil
	case err == nil && j.Status == port.JobCancelled:
		return true, port.RunCancelled, nil, nil
	case err != nil && fault.CodeOf(err) != fault.NotFound:
		return false, "", nil, err
	}
	return true, port.RunInterrupted, &port.SourceReason{Code: "internal", Message: "its job has ended before it"}, nil
}

func (s *Service) endIfLost(ctx context.Context, w writer, org ident.Org, id string) error {
	row, err := w.Source(ctx, org, id)
	if fault.CodeOf(err) == fault.SourceNotFound || err == nil && (row.State != port.SourceSyncing || row.Run == "") {
		return nil
	}
	if err != nil {
		return err
	}
	lost, status, why, err := s.lost(ctx, w, row)
	if err != nil || !lost {
		return err
	}
	run, err := w.SourceRun(ctx, org, id, row.Run)
	if err != nil {
		return err
	}
	s.finish(&row, &run, status, why)
	if err := w.PutSourceRun(ctx, run); err != nil {
		return err
	}
	return w.PutSource(ctx, row)
}

// trim forgets old runs.
func (s *Service) trim(ctx context.Context) {
	var all []port.SourceRow
	err := s.store.View(ctx, func(r reader) (err error) {
		all, err = r.Sources(ctx, port.SourceList{})
		return err
	})
	for _, row := range all {
		for more := true; more && err == nil; {
			err = s.store.Update(ctx, func(w writer) (err error) {
				more, err = w.TrimSourceRuns(ctx, row.Org, row.ID, s.now().Add(-keepFor), keepRuns, 1000)
				return err
			})
			if fault.CodeOf(err) == fault.SourceNotFound {
				more, err = false, nil
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "old runs not removed", "error", err)
	}
}
