package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// partitionsBeforeJobs are the columns of a partition of that schema, and its values
// from the space on.
const partitionsBeforeJobs = `INSERT INTO namespaces (generation, org, space, integration, name, erasing_at, dropped, sparse, ` +
	`embedding_model, embedding_digest, dimensions, sparse_model, sparse_digest, chunker, documents, chunks, bytes, seq, ` +
	`created_at, updated_at) SELECT %d, id, '%s', '%s', '%s', 0, 0, 0, 'm', 'd', 2, '', '', 'c', 1, 1, 1, 1, 1, 1 ` +
	`FROM organizations`

const reindexingBeforeJobs = `INSERT INTO reindexings (org, space, integration, name, status, done, total, documents, ` +
	`chunks, code, message, updated_at, request, comparison, ended, claim) SELECT id, '%s', '%s', '%s', '%s', %d, %d, %d, %d, ` +
	`'%s', '%s', %d000000, '%s', '%s', %d, 'reindex/x' FROM organizations`

// BeforeJobs are the statements that leave unfinished and finished background work
// in a database whose schema is version 6 and that has one organization: work of a
// replica that lives on, and of one that is gone.
func BeforeJobs() []string {
	return []string{
		`INSERT INTO replicas VALUES ('alive', 3, 9000000000000000), ('gone', 1, 5)`,
		`INSERT INTO operations SELECT id, 'op_running', 'docs', 'running', 0, 2, CAST('{"documents":[]}' AS {{blob}}), ` +
			`CAST('{"KeyID":"key_1"}' AS {{blob}}), NULL, NULL, 1000000, 0 FROM organizations`,
		`INSERT INTO operations SELECT id, 'op_left', 'docs', 'running', 0, 1, CAST('{}' AS {{blob}}), CAST('{}' AS ` +
			`{{blob}}), NULL, NULL, 2000000, 0 FROM organizations`,
		`INSERT INTO operations SELECT id, 'op_queued', 'docs', 'queued', 0, 1, CAST('{}' AS {{blob}}), CAST('{}' AS ` +
			`{{blob}}), NULL, NULL, 3000000, 0 FROM organizations`,
		`INSERT INTO operations SELECT id, 'op_done', 'docs', 'succeeded', 4, 4, NULL, NULL, '{"written":4}', NULL, ` +
			`4000000, 5000000 FROM organizations`,
		`INSERT INTO operations SELECT id, 'op_failed', 'docs', 'failed', 0, 4, NULL, NULL, NULL, ` +
			`'{"code":"timeout","message":"it \"hung\""}', 5000000, 6000000 FROM organizations`,
		`INSERT INTO claims SELECT 'operation/' || id || '/op_running', 'alive', 3, 42 FROM organizations`,
		`INSERT INTO claims SELECT 'operation/' || id || '/op_left', 'gone', 1, 43 FROM organizations`,
		`INSERT INTO claims VALUES ('purge', 'alive', 3, 44)`,
		fmt.Sprintf(partitionsBeforeJobs, 101, "documents", "", "guide"),
		fmt.Sprintf(partitionsBeforeJobs, 102, "documents", "", "faq"),
		fmt.Sprintf(partitionsBeforeJobs, 103, "memories", "int_1", "guide"),
		fmt.Sprintf(partitionsBeforeJobs, 104, "memories", "int_1", "ann"),
		fmt.Sprintf(reindexingBeforeJobs, "documents", "", "guide", "running", 3, 9, 0, 0, "", "", 7,
			`{"queries":["a\\b"]}`, "", 0),
		fmt.Sprintf(reindexingBeforeJobs, "documents", "", "faq", "held", 4, 4, 4, 8, "", "", 8, `{"hold":true}`,
			`{"queries":2,"overlap":0.5,"found_before":null,"found_after":null}`, 1),
		fmt.Sprintf(reindexingBeforeJobs, "memories", "int_1", "guide", "waiting", 0, 5, 0, 0, "", "", 6, ``, "", 0),
		fmt.Sprintf(reindexingBeforeJobs, "memories", "int_1", "ann", "failed", 1, 2, 0, 0, "timeout",
			`it "hung"`, 5, `{}`, "", 1),
		fmt.Sprintf(reindexingBeforeJobs, "documents", "", "deleted", "succeeded", 1, 1, 1, 1, "", "", 5, `{}`, "", 1),
		`INSERT INTO claims VALUES ('reindex/guide', 'alive', 3, 45)`,
	}
}

// AfterJobs checks that a store which opened such a database goes on with the work:
// what has not ended is a job with the claim that it had, what has ended is read for
// as long as before.
func AfterJobs(t *testing.T, s port.DocumentStore) {
	t.Helper()
	f := &fixture{T: t, s: s, ctx: context.Background()}
	f.view(func(r port.Reader) error {
		o, err := r.OrganizationByName(f.ctx, ident.DefaultOrg)
		f.org = o.ID
		return err
	})
	docs, second, day := port.Documents(f.org, "docs"), func(n int64) time.Time { return time.Unix(n, 0).UTC() }, 24*time.Hour
	write := func(id string, status port.JobStatus, created int64) port.Job {
		return port.Job{
			ID:        id,
			Org:       f.org,
			Kind:      "documents.write",
			Partition: docs,
			Status:    status,
			CreatedAt: second(created),
			UpdatedAt: second(created),
		}
	}
	running, left, queued := write("op_running", port.JobRunning, 1), write("op_left", port.JobRunning, 2),
		write("op_queued", port.JobQueued, 3)
	running.Total, running.Tries, running.StartedAt = 2, 1, second(1)
	left.Total, left.Tries, left.StartedAt = 1, 1, second(2)
	queued.Total = 1
	done, failed := write("op_done", port.JobSucceeded, 4), write("op_failed", port.JobFailed, 5)
	done.Done, done.Total, done.Tries, done.Result = 4, 4, 1, json.RawMessage(`{"written":4}`)
	done.StartedAt, done.UpdatedAt, done.FinishedAt, done.ExpiresAt = second(4), second(5), second(5), second(5).Add(day)
	failed.Total, failed.Tries, failed.Error = 4, 1, &port.JobError{Code: "timeout", Message: `it "hung"`}
	failed.StartedAt, failed.UpdatedAt, failed.FinishedAt, failed.ExpiresAt = second(5), second(6), second(6), second(6).Add(day)
	f.view(func(r port.Reader) error {
		jobs, err := r.Jobs(f.ctx, port.JobList{Kind: "documents.write"})
		f.same("accepted writes", jobs, []port.Job{failed, done, queued, left, running})
		if err != nil {
			return err
		}
		unclaimed, err := r.UnclaimedJobs(f.ctx, port.Replica{}, nil, []string{"documents.write"}, 10)
		f.same("left by replicas that are gone", unclaimed, []port.Job{left, queued})
		if err != nil {
			return err
		}
		request, err := r.JobRequest(f.ctx, f.org, "op_running")
		f.same("request", request, port.JobRequest{Body: []byte(`{"documents":[]}`), Principal: []byte(`{"KeyID":"key_1"}`)})
		return err
	})
	f.reindexingsBecameJobs()
	alive := port.Replica{ID: "alive", Epoch: 3}
	f.expect("the claim of the replica that lives on", "", func(w port.DocumentWriter) error {
		return w.ConfirmClaim(f.ctx, port.Claim{Name: port.JobClaim(f.org, "op_running"), Replica: alive, Fence: 42})
	})
	f.expect("a claim of other work", "", func(w port.DocumentWriter) error {
		return w.ConfirmClaim(f.ctx, port.Claim{Name: "purge", Replica: alive, Fence: 44})
	})
	next := f.join("next", longLease)
	if _, ok := f.claim(next, port.JobClaim(f.org, "op_running")); ok {
		t.Error("work of a replica that lives on was taken")
	}
	if _, ok := f.claim(next, port.JobClaim(f.org, "op_left")); !ok {
		t.Error("work of a replica that is gone cannot be taken")
	}
	f.update(func(w port.DocumentWriter) error { return w.DeleteExpiredJobs(f.ctx, second(6).Add(day)) })
	_, err := f.job(f.org, "op_done")
	f.want("a day after its end", err, fault.NotFound)
	if _, err := f.job(f.org, "op_failed"); err != nil {
		t.Errorf("before a day was over: %v", err)
	}
}

// reindexingsBecameJobs checks AfterJobs of reindexings, whose outcomes are read for an
// hour.
func (f *fixture) reindexingsBecameJobs() {
	f.Helper()
	second := func(n int64) time.Time { return time.Unix(n, 0).UTC() }
	made := func(id, kind string, p port.Partition, status port.JobStatus, at int64) port.Job {
		return port.Job{
			ID:        id,
			Org:       f.org,
			Kind:      kind,
			Partition: p,
			Status:    status,
			CreatedAt: second(at),
			UpdatedAt: second(at),
		}
	}
	running := made("job_reindex_101", "namespace.reindex", port.Documents(f.org, "guide"), port.JobRunning, 7)
	running.Done, running.Total, running.Tries, running.StartedAt = 3, 9, 1, second(7)
	held := made("job_reindex_102", "namespace.reindex", port.Documents(f.org, "faq"), port.JobSucceeded, 8)
	held.Done, held.Total, held.Tries, held.StartedAt, held.FinishedAt = 4, 4, 1, second(8), second(8)
	held.ExpiresAt = second(8).Add(time.Hour)
	held.Result = json.RawMessage(`{"documents":4,"chunks":8,"held":true,"comparison":` +
		`{"queries":2,"overlap":0.5,"found_before":null,"found_after":null}}`)
	waiting := made("job_reindex_103", "end_user.reindex", port.Memories(f.org, "int_1", "guide"), port.JobQueued, 6)
	waiting.Total = 5
	failed := made("job_reindex_104", "end_user.reindex", port.Memories(f.org, "int_1", "ann"), port.JobFailed, 5)
	failed.Done, failed.Total, failed.Tries, failed.StartedAt, failed.FinishedAt = 1, 2, 1, second(5), second(5)
	failed.ExpiresAt, failed.Error = second(5).Add(time.Hour), &port.JobError{Code: "timeout", Message: `it "hung"`}
	f.view(func(r port.Reader) error {
		for kind, want := range map[string][]port.Job{
			"namespace.reindex": {held, running},
			"end_user.reindex":  {waiting, failed},
		} {
			jobs, err := r.Jobs(f.ctx, port.JobList{Kind: kind})
			if err != nil {
				return err
			}
			f.same(kind, jobs, want)
		}
		unclaimed, err := r.UnclaimedJobs(f.ctx, port.Replica{}, nil, []string{"namespace.reindex", "end_user.reindex"}, 10)
		f.same("free to be taken over", unclaimed, []port.Job{waiting, running})
		if err != nil {
			return err
		}
		request, err := r.JobRequest(f.ctx, f.org, running.ID)
		f.same("request", request, port.JobRequest{Body: []byte(`{"queries":["a\\b"]}`)})
		return err
	})
}
