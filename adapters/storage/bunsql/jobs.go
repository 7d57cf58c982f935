package bunsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const jobColumns = `org, id, kind, space, integration, name, generation, status, done, total, tries, next_at, cancel, ` +
	`state, result, error, created_at, started_at, updated_at, finished_at, expires_at`

// jobs reads the jobs that rest selects, which stands behind FROM.
func (r *Reader) jobs(ctx context.Context, op, rest string, args ...any) ([]port.Job, error) {
	rows, err := r.s.query(ctx, op, `SELECT `+jobColumns+` FROM jobs j `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Job
	for rows.Next() {
		var j port.Job
		var org, space, integration, name string
		var generation, next, cancel, created, started, updated, finished, expires int64
		var state, result, failure sql.NullString
		if err := rows.Scan(&org, &j.ID, &j.Kind, &space, &integration, &name, &generation, &j.Status, &j.Done,
			&j.Total, &j.Tries,
			&next, &cancel, &state, &result, &failure, &created, &started, &updated, &finished, &expires); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		j.Org = ident.Org(org)
		if j.Partition = port.Documents(j.Org, name); space == string(port.SpaceMemories) {
			j.Partition = port.Memories(j.Org, integration, name)
		}
		j.Partition = j.Partition.At(generation)
		j.NextAttempt, j.Cancel = instant(next), cancel != 0
		j.CreatedAt, j.StartedAt, j.UpdatedAt = instant(created), instant(started), instant(updated)
		j.FinishedAt, j.ExpiresAt = instant(finished), instant(expires)
		if state.Valid {
			j.State = json.RawMessage(state.String)
		}
		if result.Valid {
			j.Result = json.RawMessage(result.String)
		}
		if failure.Valid {
			j.Error = new(port.JobError)
			if err := json.Unmarshal([]byte(failure.String), j.Error); err != nil {
				return nil, internal(op, "damaged error of job %s: %w", j.ID, err)
			}
		}
		out = append(out, j)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

func noJob(id string) error { return fault.New(fault.NotFound, "there is no job %q", fault.Clip(id)) }

// Job implements port.JobReader.
func (r *Reader) Job(ctx context.Context, org ident.Org, id string) (port.Job, error) {
	if err := r.check(ctx); err != nil {
		return port.Job{}, err
	}
	where, args := `WHERE org = ? AND id = ?`, []any{string(org), id}
	if org == "" {
		where, args = `WHERE id = ? ORDER BY created_at, org LIMIT 1`, []any{id}
	}
	found, err := r.jobs(ctx, "read job", where, args...)
	if err == nil && len(found) == 0 {
		err = noJob(id)
	}
	if err != nil {
		return port.Job{}, err
	}
	return found[0], nil
}

// JobRequest implements port.JobReader.
func (r *Reader) JobRequest(ctx context.Context, org ident.Org, id string) (port.JobRequest, error) {
	var request port.JobRequest
	if err := r.check(ctx); err != nil {
		return request, err
	}
	ok, err := r.s.get(ctx, "read job request",
		`SELECT request, principal FROM jobs WHERE org = ? AND id = ? AND finished_at = 0`,
		[]any{string(org), id}, &request.Body, &request.Principal)
	if err == nil && !ok {
		err = noJob(id)
	}
	return request, err
}

// Jobs implements port.JobReader.
func (r *Reader) Jobs(ctx context.Context, l port.JobList) ([]port.Job, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if l.Org != "" {
		add(`org = ?`, string(l.Org))
	}
	if p := l.Partition; p != (port.Partition{}) {
		add(`org = ? AND space = ? AND name = ? AND integration = ?`, string(p.Org()), string(p.Space()), p.Name(),
			p.Integration())
	}
	if l.Kind != "" {
		add(`kind = ?`, l.Kind)
	}
	if l.Status != "" {
		add(`status = ?`, string(l.Status))
	}
	if l.After.ID != "" {
		add(`(created_at, id, org) < (?, ?, ?)`, micros(l.After.CreatedAt), l.After.ID, string(l.After.Org))
	}
	rest := ""
	if len(where) > 0 {
		rest = `WHERE ` + strings.Join(where, ` AND `) + ` `
	}
	limit := int64(math.MaxInt64)
	if l.Limit > 0 {
		limit = int64(l.Limit)
	}
	return r.jobs(ctx, "list jobs", rest+`ORDER BY created_at DESC, id DESC, org DESC LIMIT ?`, append(args, limit)...)
}

// UnclaimedJobs implements port.JobReader.
func (r *Reader) UnclaimedJobs(ctx context.Context, self port.Replica, held, kinds []string, limit int) ([]port.Job, error) {
	const op = "list unclaimed jobs"
	if err := r.check(ctx); err != nil || len(kinds) == 0 {
		return nil, err
	}
	now, err := r.now(ctx)
	if err != nil {
		return nil, err
	}
	names, err := json.Marshal(kinds)
	if err != nil {
		return nil, internal(op, "%w", err)
	}
	mine, err := json.Marshal(append([]string{}, held...)) // [] where there are none
	if err != nil {
		return nil, internal(op, "%w", err)
	}
	return r.jobs(ctx, op, `WHERE j.finished_at = 0 AND j.kind IN (SELECT value FROM {{each}}) AND NOT EXISTS
  (SELECT 1 FROM claims c JOIN replicas r ON r.id = c.replica AND r.epoch = c.epoch WHERE c.name = 'job/' || j.org || `+
		`'/' || j.id AND r.expires_at > ? AND (r.id <> ? OR c.name IN (SELECT value FROM {{each}})))
ORDER BY j.next_at, row_number() OVER (PARTITION BY j.org, j.next_at ORDER BY j.created_at, j.id), j.created_at, j.id, `+
		`j.org LIMIT ?`, string(names), now, self.ID, string(mine), limit)
}

// CancelledJobs implements port.JobReader.
func (r *Reader) CancelledJobs(ctx context.Context) ([]port.Job, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	return r.jobs(ctx, "list cancelled jobs", `WHERE cancel <> 0 AND finished_at = 0 ORDER BY org, id`)
}

// jobChanges are the values of the columns of a job that change, in the order of
// CreateJob and ChangeJob.
func jobChanges(op string, j port.Job) ([]any, error) {
	var failure []byte
	if j.Error != nil {
		var err error
		if failure, err = json.Marshal(j.Error); err != nil {
			return nil, internal(op, "%w", err)
		}
	}
	if j.Status.Ended() == j.FinishedAt.IsZero() {
		return nil, internal(op, "job %s is %s and finished at %v", j.ID, j.Status, j.FinishedAt)
	}
	return []any{
		string(j.Status), j.Done, j.Total, j.Tries, micros(j.NextAttempt), flag(j.Cancel), text(j.State),
		text(j.Result), text(failure),
		micros(j.StartedAt), micros(j.UpdatedAt), micros(j.FinishedAt), micros(j.ExpiresAt),
	}, nil
}

// CreateJob implements port.JobWriter. It goes by prepared statement because a
// request holds up to a hundred documents.
func (w *Writer) CreateJob(ctx context.Context, j port.Job, request port.JobRequest) error {
	const op = "create job"
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireOrganization(ctx, j.Org); err != nil {
		return err
	}
	changes, err := jobChanges(op, j)
	if err != nil {
		return err
	}
	if j.Status.Ended() {
		request = port.JobRequest{}
	}
	p := j.Partition
	n, err := w.s.exec(ctx, op, `INSERT INTO jobs (org, id, kind, space, integration, name, generation, request,
		principal, created_at,
  status, done, total, tries, next_at, cancel, state, result, error, started_at, updated_at, finished_at, expires_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (org, id) DO NOTHING`,
		append([]any{
			string(j.Org), j.ID, j.Kind, string(p.Space()), p.Integration(), p.Name(), p.Generation(),
			request.Body, request.Principal, micros(j.CreatedAt),
		}, changes...)...)
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "there is a job %q already", fault.Clip(j.ID))
	}
	w.written.Bytes += len(request.Body)
	return nil
}

// ChangeJob implements port.JobWriter.
func (w *Writer) ChangeJob(ctx context.Context, j port.Job) error {
	const op = "change job"
	if err := w.check(ctx); err != nil {
		return err
	}
	changes, err := jobChanges(op, j)
	if err != nil {
		return err
	}
	drop := ``
	if j.Status.Ended() {
		drop = `, request = NULL, principal = NULL`
	}
	n, err := w.s.exec(ctx, op, `UPDATE jobs SET status = ?, done = ?, total = ?, tries = ?, next_at = ?, cancel = ?,
		state = ?, result = ?, error = ?,
  started_at = ?, updated_at = ?, finished_at = ?, expires_at = ?`+drop+` WHERE org = ? AND id = ?`,
		append(changes, string(j.Org), j.ID)...)
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return noJob(j.ID)
	}
	return nil
}

// DeleteExpiredJobs implements port.JobWriter.
func (w *Writer) DeleteExpiredJobs(ctx context.Context, before time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "delete expired jobs", `DELETE FROM jobs WHERE finished_at <> 0 AND expires_at < ?`, micros(before))
	return w.fail(err)
}

// text is JSON as a nullable text argument.
func text(b []byte) sql.NullString {
	return sql.NullString{String: string(b), Valid: b != nil}
}
