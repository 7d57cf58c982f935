package admin

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/organization"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// ListJobs are the parameters of GET /jobs.
type ListJobs struct {
	Listing
	Organization string `query:"organization" json:"-" schema:"Text" doc:"id or name; none: all that the key administers"`
	Kind         string `query:"kind" json:"-" schema:"Text" doc:"only jobs of this kind, such as documents.write"`
	Status       string `query:"status" json:"-" enum:"queued,running,succeeded,failed,cancelled" doc:"only jobs of this status"`
}

// Job is background work as an administrator sees it. What it was asked to do and
// its result are its caller's, and are not shown.
type Job struct {
	ID             string     `json:"id"`
	OrganizationID string     `json:"organization_id"`
	Kind           string     `json:"kind" doc:"what it does, such as documents.write"`
	Namespace      *string    `json:"namespace" doc:"name of the namespace that it works on; null: it works on an end user's memories, or a whole organization"`
	Integration    *string    `json:"integration" doc:"id of the end user's integration; null: it works on a namespace"`
	EndUserID      *string    `json:"end_user_id" doc:"whose memories it works on; null: it works on a namespace"`
	Status         string     `json:"status" enum:"queued,running,succeeded,failed,cancelled"`
	Cancelling     bool       `json:"cancelling" doc:"it was asked to end early, and has not ended yet"`
	Done           int        `json:"done" minimum:"0" doc:"progress, such as documents stored"`
	Total          int        `json:"total" minimum:"0" doc:"what done is when all is done"`
	Tries          int        `json:"tries" minimum:"0" doc:"attempts begun"`
	NextAttempt    *time.Time `json:"next_attempt" doc:"when it is tried again; null: no attempt was put off"`
	Error          *JobError  `json:"error" doc:"why it failed or was cancelled"`
	CreatedAt      time.Time  `json:"created_at"`
	StartedAt      *time.Time `json:"started_at" doc:"of the first attempt"`
	UpdatedAt      time.Time  `json:"updated_at"`
	FinishedAt     *time.Time `json:"finished_at" doc:"null: it has not ended"`
	ExpiresAt      *time.Time `json:"expires_at" doc:"until when an ended job can be read"`
}

// JobError is why a job failed or was cancelled.
type JobError struct {
	Code    string `json:"code" doc:"as of an error"`
	Message string `json:"message"`
}

// Jobs answers GET /jobs.
type Jobs struct {
	Jobs       []Job   `json:"jobs"`
	NextCursor *string `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// JobRef names a job in a path.
type JobRef struct {
	Job string `path:"job" json:"-" schema:"Text" doc:"id of the job"`
}

func showJob(j port.Job) Job {
	out := Job{
		ID:             j.ID,
		OrganizationID: string(j.Org),
		Kind:           j.Kind,
		Status:         string(j.Status),
		Cancelling:     j.Cancel && !j.Status.Ended(),
		Done:           j.Done,
		Total:          j.Total,
		Tries:          j.Tries,
		NextAttempt:    moment(j.NextAttempt),
		Error:          (*JobError)(j.Error),
		CreatedAt:      j.CreatedAt.UTC(),
		StartedAt:      moment(j.StartedAt),
		UpdatedAt:      j.UpdatedAt.UTC(),
		FinishedAt:     moment(j.FinishedAt),
		ExpiresAt:      moment(j.ExpiresAt),
	}
	if j.Kind == organization.DeletionKind {
		out.OrganizationID = j.Partition.Name()
	} else if j.Partition.Space() == port.SpaceMemories {
		out.Integration, out.EndUserID = optional(j.Partition.Integration()), optional(j.Partition.Name())
	} else {
		out.Namespace = optional(j.Partition.Name())
	}
	return out
}

// ListJobs pages through the jobs that the caller administers, newest first.
func (s *Service) ListJobs(ctx context.Context, in ListJobs) (Jobs, error) {
	list := port.JobList{Kind: in.Kind, Status: port.JobStatus(in.Status), Limit: page.Limit(in.Limit) + 1}
	who := ident.From(ctx)
	if in.Organization != "" || !who.AllOrganizations() {
		o, err := s.organization(ctx, in.Organization)
		if err != nil {
			return Jobs{}, err
		}
		list.Org = o.ID
	}
	bind := []string{"admin.jobs", string(list.Org), in.Kind, in.Status}
	if err := s.pages.Open(in.Cursor, &list.After, bind...); err != nil {
		return Jobs{}, err
	}
	var rows []port.Job
	err := s.store.View(ctx, func(r reader) (err error) {
		rows, err = r.Jobs(ctx, list)
		return err
	})
	if err != nil {
		return Jobs{}, wrap("list jobs", err)
	}
	out := Jobs{Jobs: []Job{}}
	if len(rows) == list.Limit {
		rows = rows[:list.Limit-1]
		last := rows[len(rows)-1]
		c := s.pages.Seal(port.JobPlace{CreatedAt: last.CreatedAt, ID: last.ID, Org: last.Org}, bind...)
		out.NextCursor = &c
	}
	for _, j := range rows {
		if jobVisible(who, j) {
			out.Jobs = append(out.Jobs, showJob(j))
		}
	}
	return out, nil
}

// job finds a job that the caller administers. To a caller who does not, it is not
// there.
func (s *Service) job(ctx context.Context, id string) (j port.Job, err error) {
	who := ident.From(ctx)
	org := who.Org
	if who.AllOrganizations() {
		org = "" // any
	}
	err = s.store.View(ctx, func(r reader) (err error) {
		j, err = r.Job(ctx, org, id)
		return err
	})
	if err == nil && !jobVisible(who, j) {
		return port.Job{}, fault.New(fault.NotFound, "there is no job %q", fault.Clip(id))
	}
	return j, wrap("read job", err)
}

// jobVisible reports whether a caller who administers a job's organization may see it. The
// deletion of another organization is kept in the default one.
func jobVisible(who ident.Principal, j port.Job) bool {
	return j.Kind != organization.DeletionKind || who.AllOrganizations()
}

// GetJob reads one. Fault NotFound when there is none, or it is another
// organization's.
func (s *Service) GetJob(ctx context.Context, in JobRef) (Job, error) {
	j, err := s.job(ctx, in.Job)
	return showJob(j), err
}

// CancelJob ends a job early: a queued one at once, a running one within seconds.
// Fault NotFound as of GetJob, Conflict when it has ended otherwise or its kind
// cannot be cancelled.
func (s *Service) CancelJob(ctx context.Context, in JobRef) (Job, error) {
	j, err := s.job(ctx, in.Job)
	if err != nil {
		return Job{}, err
	}
	j, err = s.jobs.Cancel(ctx, j.Org, j.ID)
	return showJob(j), wrap("cancel job", err)
}
