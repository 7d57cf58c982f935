package port

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// JobStatus is how far a job is.
type JobStatus string

// The statuses of a job.
const (
	JobQueued    JobStatus = "queued" // waits for a free worker, or for NextAttempt
	JobRunning   JobStatus = "running"
	JobSucceeded JobStatus = "succeeded"
	JobFailed    JobStatus = "failed"
	JobCancelled JobStatus = "cancelled"
)

// JobWriteDocuments is the kind of asynchronous writes, which are the jobs that move
// with an installation.
const JobWriteDocuments = "documents.write"

// Ended reports whether nothing will change the job any more.
func (s JobStatus) Ended() bool { return s != JobQueued && s != JobRunning }

// Job is the record of background work. The replica that runs it holds its JobClaim.
type Job struct {
	ID        string // unique in its organization
	Org       ident.Org
	Kind      string
	Partition Partition // what it works on
	Status    JobStatus
	Done      int // units of progress, of the kind's choice
	Total     int
	Tries     int // attempts that have begun, the present one included
	// NextAttempt is when a job that failed for the time being is tried again, by
	// the store's clock; zero: at once.
	NextAttempt time.Time
	Cancel      bool            // it is asked to end early
	State       json.RawMessage // what the kind needs to go on after an interruption
	Result      json.RawMessage // of one that succeeded
	Error       *JobError       // of one that failed or was cancelled
	CreatedAt   time.Time
	StartedAt   time.Time // of the first attempt; zero: none has begun
	UpdatedAt   time.Time
	FinishedAt  time.Time // zero: it has not ended
	ExpiresAt   time.Time // of an ended one: when DeleteExpiredJobs forgets it
}

// JobError says why a job did not succeed, as its caller may read it.
type JobError struct {
	Code    string `json:"code"` // of a fault
	Message string `json:"message"`
}

// JobRequest is what a job was asked to do. It is apart from Job because it may
// hold megabytes, and it is removed when the job ends.
type JobRequest struct {
	Body      []byte // JSON of the kind; nil: nothing
	Principal []byte // JSON of the ident.Principal who asked; nil: the server itself
}

// JobList asks for jobs, newest first. Zero fields select all.
type JobList struct {
	Org       ident.Org
	Kind      string
	Status    JobStatus
	Partition Partition // by name, whatever generation it is pinned to
	After     JobPlace  // the last one of the page before
	Limit     int       // 0: all
}

// JobPlace is where a job stands in a JobList.
type JobPlace struct {
	CreatedAt time.Time
	ID        string
	Org       ident.Org
}

// JobReader reads jobs.
type JobReader interface {
	// Job finds one; with org "" the oldest of that id in any organization. Fault
	// NotFound when absent.
	Job(ctx context.Context, org ident.Org, id string) (Job, error)
	// JobRequest reads what an unfinished job was asked to do; fault NotFound when
	// there is no such job or it has ended.
	JobRequest(ctx context.Context, org ident.Org, id string) (JobRequest, error)
	// Jobs lists jobs, newest first, ties by id and organization, descending.
	Jobs(ctx context.Context, l JobList) ([]Job, error)
	// UnclaimedJobs lists unfinished jobs of some kinds that no live replica has
	// claimed (JobClaim), those to be tried later included: by NextAttempt, and of those
	// of one time the oldest of each organization, then the second of each, and so on.
	// Of self's own claims only those count whose names are among held: it may have
	// made one without hearing that it was committed.
	UnclaimedJobs(ctx context.Context, self Replica, held, kinds []string, limit int) ([]Job, error)
	// CancelledJobs lists the running jobs that are asked to end early.
	CancelledJobs(ctx context.Context) ([]Job, error)
}

// JobWriter changes jobs.
type JobWriter interface {
	// CreateJob inserts a job; fault Conflict when its organization has one of that
	// id, NotFound when there is no such organization.
	CreateJob(ctx context.Context, j Job, request JobRequest) error
	// ChangeJob replaces the row of a job by id, but for Kind, Partition and
	// CreatedAt, which stay; the request goes when the job has ended. Fault NotFound
	// when absent.
	ChangeJob(ctx context.Context, j Job) error
	// DeleteExpiredJobs forgets the jobs whose ExpiresAt lies before a time.
	DeleteExpiredJobs(ctx context.Context, before time.Time) error
}

// JobClaim is the name of the claim of the replica that runs a job.
func JobClaim(org ident.Org, id string) string { return "job/" + string(org) + "/" + id }
