package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// The kinds of jobs that tests start.
const (
	waits = "test.wait"  // one at a time, until it is cancelled
	works = "test.work"  // succeeds
	fails = "test.fail"  // fails
	away  = "test.away"  // is tried again in an hour
	final = "test.final" // waits, and cannot be cancelled
)

// office is an admin service with jobs to look at.
type office struct {
	*coretest.Fixture
	*testing.T
	*admin.Service
	operator context.Context // administers all organizations
	own      context.Context // administers "default"
	other    context.Context // administers "acme"
}

func openOffice(t *testing.T) *office {
	t.Helper()
	var clock atomic.Int64
	start := time.Now()
	f := coretest.New(t, coretest.Options{
		// No two jobs are made at the same time.
		Now: func() time.Time { return start.Add(time.Duration(clock.Add(int64(time.Millisecond)))) },
	})
	untilDone := func(ctx context.Context, j *job.Job) error {
		if err := j.Save(ctx, 3, 7, map[string]string{"secret": "of the state"}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	f.Jobs.Register(job.Kind{Name: waits, Lane: waits, Keep: time.Hour, Run: untilDone})
	f.Jobs.Register(job.Kind{Name: final, Final: true, Keep: time.Hour, Run: untilDone})
	f.Jobs.Register(job.Kind{Name: works, Keep: time.Hour, Run: func(ctx context.Context, j *job.Job) error {
		return f.Store.Update(ctx, func(w port.Writer) error { return j.Finish(ctx, w, "secret of the result") })
	}})
	f.Jobs.Register(job.Kind{Name: fails, Keep: time.Hour, Run: func(context.Context, *job.Job) error {
		return fault.New(fault.Conflict, "it is in the way")
	}})
	f.Jobs.Register(job.Kind{
		Name:       away,
		Tries:      2,
		Backoff:    time.Hour,
		MaxBackoff: time.Hour,
		Run:        func(context.Context, *job.Job) error { return fault.New(fault.Unavailable, "it is away") },
	})
	return &office{
		Fixture:  f,
		T:        t,
		Service:  admin.New(admin.Settings{Keys: f.Keys, Store: f.Store, Pages: f.Pages, Jobs: f.Jobs, Now: f.Now}),
		operator: f.Caller(key.Issue{Kind: ident.Admin, AllOrganizations: true}),
		own:      f.Caller(key.Issue{Kind: ident.Admin}),
		other:    f.Caller(key.Issue{Kind: ident.Admin, Org: "acme"}),
	}
}

func docs(ctx context.Context) port.Partition { return port.Documents(ident.From(ctx).Org, "docs") }

// begin starts a job and answers its id.
func (o *office) begin(kind string, p port.Partition) string {
	o.Helper()
	j, _, err := o.Jobs.Start(o.own, kind, job.Order{Partition: p, Total: 7, Request: "secret of the request"})
	if err != nil {
		o.Fatal(err)
	}
	return j.ID
}

// read reads a job as the operator.
func (o *office) read(id string) admin.Job {
	o.Helper()
	j, err := coretest.Call(o.operator, o.GetJob, admin.JobRef{Job: id})
	if err != nil {
		o.Fatal(err)
	}
	return j
}

// until reads a job until it is as wanted.
func (o *office) until(id string, ok func(admin.Job) bool) admin.Job {
	o.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		j := o.read(id)
		if ok(j) {
			return j
		}
		if time.Now().After(end) {
			o.Fatalf("job %s is %+v", id, j)
		}
	}
}

func status(want port.JobStatus) func(admin.Job) bool {
	return func(j admin.Job) bool { return j.Status == string(want) }
}

// list pages through jobs and answers their ids.
func (o *office) list(ctx context.Context, size int, in admin.ListJobs) []string {
	o.Helper()
	ids := []string{}
	in.Limit = &size
	for {
		page, err := coretest.Call(ctx, o.ListJobs, in)
		if err != nil {
			o.Fatal(err)
		}
		if len(page.Jobs) > size || len(page.Jobs) < size && page.NextCursor != nil {
			o.Fatalf("a page of %d has %d jobs, and the next cursor %v", size, len(page.Jobs), page.NextCursor)
		}
		for _, j := range page.Jobs {
			ids = append(ids, j.ID)
		}
		if page.NextCursor == nil {
			return ids
		}
		in.Cursor = *page.NextCursor
	}
}

// What is shown of a job at each place of its life.
func TestJobIsShown(t *testing.T) {
	o := openOffice(t)
	before := o.Now()
	p := docs(o.own)

	running := o.until(o.begin(waits, p), func(j admin.Job) bool { return j.Done == 3 })
	queued := o.read(o.begin(waits, p))
	succeeded := o.until(o.begin(works, p), status(port.JobSucceeded))
	failed := o.until(o.begin(fails, p), status(port.JobFailed))
	postponed := o.until(o.begin(away, p), func(j admin.Job) bool { return j.NextAttempt != nil })
	memories := o.read(o.begin(waits, port.Memories(p.Org(), "int_1", "ann")))

	for name, c := range map[string]struct {
		got  admin.Job
		want admin.Job // of what does not depend on the time
		ran  bool
		ends bool
	}{
		"running": {got: running, ran: true,
			want: admin.Job{Kind: waits, Status: "running", Done: 3, Total: 7, Tries: 1}},
		"queued": {got: queued, want: admin.Job{Kind: waits, Status: "queued", Total: 7}},
		"succeeded": {got: succeeded, ran: true, ends: true,
			want: admin.Job{Kind: works, Status: "succeeded", Done: 7, Total: 7, Tries: 1}},
		"failed": {got: failed, ran: true, ends: true, want: admin.Job{Kind: fails, Status: "failed", Total: 7, Tries: 1,
			Error: &admin.JobError{Code: "conflict", Message: "it is in the way"}}},
		"postponed": {got: postponed, ran: true, want: admin.Job{Kind: away, Status: "queued", Total: 7, Tries: 1}},
	} {
		j := c.got
		if j.CreatedAt.Before(before.Truncate(time.Microsecond)) || j.UpdatedAt.Before(j.CreatedAt) {
			t.Errorf("%s: created at %v, updated at %v", name, j.CreatedAt, j.UpdatedAt)
		}
		if (j.StartedAt != nil) != c.ran || c.ran && j.StartedAt.Before(j.CreatedAt) {
			t.Errorf("%s: started at %v", name, j.StartedAt)
		}
		if (j.FinishedAt != nil) != c.ends || (j.ExpiresAt != nil) != c.ends ||
			c.ends && !j.ExpiresAt.Equal(j.FinishedAt.Add(time.Hour)) {
			t.Errorf("%s: finished at %v, expires at %v", name, j.FinishedAt, j.ExpiresAt)
		}
		if (j.NextAttempt != nil) != (name == "postponed") {
			t.Errorf("%s: tried again at %v", name, j.NextAttempt)
		}
		c.want.ID, c.want.OrganizationID, c.want.Namespace = j.ID, string(p.Org()), new("docs")
		c.want.CreatedAt, c.want.UpdatedAt, c.want.StartedAt = j.CreatedAt, j.UpdatedAt, j.StartedAt
		c.want.FinishedAt, c.want.ExpiresAt, c.want.NextAttempt = j.FinishedAt, j.ExpiresAt, j.NextAttempt
		got, _ := json.Marshal(j)
		want, _ := json.Marshal(c.want)
		if string(got) != string(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if postponed.NextAttempt.Before(time.Now().Add(30 * time.Minute)) {
		t.Errorf("the next attempt is at %v", postponed.NextAttempt)
	}
	if m := memories; m.Namespace != nil || m.Integration == nil || *m.Integration != "int_1" ||
		m.EndUserID == nil || *m.EndUserID != "ann" {
		t.Errorf("a job on memories is shown as %+v", m)
	}

	// What a job was asked, where it stands and what came of it are not shown.
	all := coretest.Ask(o.operator, t, o.ListJobs, coretest.Object{}).OK()
	if n := len(all.List("jobs")); n != 6 || strings.Contains(string(all.Body), "secret") {
		t.Errorf("%d jobs: %s", n, all.Body)
	}
	coretest.Fields(t, "a job", all.List("jobs")[0], "id", "organization_id", "kind", "namespace", "integration",
		"end_user_id", "status", "cancelling", "done", "total", "tries", "next_attempt", "error", "created_at",
		"started_at", "updated_at", "finished_at", "expires_at")
}

// Lists are newest first, and their pages join without a gap, for every key.
func TestJobsAreListed(t *testing.T) {
	o := openOffice(t)
	var all, own, other, working []string
	for i := range 7 {
		kind, ctx, of := works, o.own, &own
		if i%2 == 1 {
			kind = fails
		}
		if i%3 == 2 {
			ctx, of = o.other, &other
		}
		id := o.begin(kind, docs(ctx))
		o.until(id, func(j admin.Job) bool { return j.FinishedAt != nil })
		all, *of = append(all, id), append(*of, id)
		if kind == works {
			working = append(working, id)
		}
	}
	for _, ids := range []*[]string{&all, &own, &other, &working} {
		slices.Reverse(*ids)
	}
	acme := string(ident.From(o.other).Org)
	for name, c := range map[string]struct {
		ctx  context.Context
		in   admin.ListJobs
		want []string
	}{
		"all":                     {o.operator, admin.ListJobs{}, all},
		"one organization's":      {o.operator, admin.ListJobs{Organization: "acme"}, other},
		"by the id":               {o.operator, admin.ListJobs{Organization: acme}, other},
		"an administrator's":      {o.own, admin.ListJobs{}, own},
		"another's":               {o.other, admin.ListJobs{}, other},
		"another's, by its name":  {o.other, admin.ListJobs{Organization: "acme"}, other},
		"of a kind":               {o.operator, admin.ListJobs{Kind: works}, working},
		"of a status":             {o.operator, admin.ListJobs{Status: "succeeded"}, working},
		"of neither":              {o.operator, admin.ListJobs{Kind: works, Status: "failed"}, []string{}},
		"of a kind that is not":   {o.operator, admin.ListJobs{Kind: "nothing"}, []string{}},
		"of a status that is not": {o.operator, admin.ListJobs{Status: "running"}, []string{}},
	} {
		for _, size := range []int{1, 2, 3, 7, 100} {
			if got := o.list(c.ctx, size, c.in); !slices.Equal(got, c.want) {
				t.Errorf("%s, in pages of %d: %v, want %v", name, size, got, c.want)
			}
		}
	}

	size := 1
	page, err := coretest.Call(o.operator, o.ListJobs, admin.ListJobs{Listing: admin.Listing{Limit: &size}})
	if err != nil || page.NextCursor == nil {
		t.Fatal(page, err)
	}
	at := admin.Listing{Cursor: *page.NextCursor}
	for name, c := range map[string]struct {
		ctx   context.Context
		in    admin.ListJobs
		code  fault.Code
		words string
	}{
		"another organization":     {o.own, admin.ListJobs{Organization: "acme"}, fault.NotFound, "acme"},
		"no organization":          {o.operator, admin.ListJobs{Organization: "nobody"}, fault.NotFound, "nobody"},
		"an unknown status":        {o.operator, admin.ListJobs{Status: "done"}, fault.InvalidRequest, "status"},
		"NUL in the kind":          {o.operator, admin.ListJobs{Kind: "a\x00"}, fault.InvalidRequest, "kind"},
		"NUL in the organization":  {o.operator, admin.ListJobs{Organization: "a\x00"}, fault.InvalidRequest, "organization"},
		"the cursor of no kind":    {o.operator, admin.ListJobs{Listing: at, Kind: works}, fault.InvalidCursor, ""},
		"the cursor of no status":  {o.operator, admin.ListJobs{Listing: at, Status: "failed"}, fault.InvalidCursor, ""},
		"the cursor of all":        {o.operator, admin.ListJobs{Listing: at, Organization: "acme"}, fault.InvalidCursor, ""},
		"the cursor of all others": {o.own, admin.ListJobs{Listing: at}, fault.InvalidCursor, ""},
		"no cursor":                {o.operator, admin.ListJobs{Listing: admin.Listing{Cursor: "x"}}, fault.InvalidCursor, ""},
	} {
		_, err := coretest.Call(c.ctx, o.ListJobs, c.in)
		if fault.CodeOf(err) != c.code || !strings.Contains(fmt.Sprint(err), c.words) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

// A job is cancelled at once where it waits, and through its context where it runs.
func TestJobIsCancelled(t *testing.T) {
	o := openOffice(t)
	p := docs(o.own)
	running := o.begin(waits, p)
	o.until(running, func(j admin.Job) bool { return j.Done == 3 })
	queued := o.begin(waits, p)
	cancel := func(ctx context.Context, id string) (admin.Job, error) {
		return coretest.Call(ctx, o.CancelJob, admin.JobRef{Job: id})
	}

	// Nobody else's.
	for name, c := range map[string]struct {
		ctx context.Context
		id  string
	}{"another organization's": {o.other, running}, "none": {o.operator, "job_none"}} {
		if _, err := cancel(c.ctx, c.id); fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), c.id) {
			t.Errorf("%s is cancelled: %v", name, err)
		}
		_, err := coretest.Call(c.ctx, o.GetJob, admin.JobRef{Job: c.id})
		if fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), c.id) {
			t.Errorf("%s is read: %v", name, err)
		}
	}
	if j := o.read(running); j.Status != "running" || j.Cancelling {
		t.Fatalf("the running job is %+v", j)
	}

	j, err := cancel(o.own, queued)
	if err != nil || j.Status != "cancelled" || j.Cancelling || j.FinishedAt == nil || j.StartedAt != nil ||
		j.Error == nil || j.Error.Code != "canceled" {
		t.Errorf("the queued job is %+v, %v", j, err)
	}
	if j, err = cancel(o.operator, running); err != nil || j.Status != "running" || !j.Cancelling {
		t.Errorf("the running job is %+v, %v", j, err)
	}
	j = o.until(running, status(port.JobCancelled))
	if j.Cancelling || j.Error == nil || j.FinishedAt == nil || j.Done != 3 {
		t.Errorf("the job that ran is %+v", j)
	}
	if again, err := cancel(o.own, running); err != nil || again.Status != "cancelled" {
		t.Errorf("again: %+v, %v", again, err)
	}

	ended := o.begin(works, p)
	o.until(ended, status(port.JobSucceeded))
	if _, err := cancel(o.own, ended); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "succeeded") {
		t.Errorf("a job that has ended: %v", err)
	}
	if _, err := cancel(o.own, o.begin(final, p)); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), final) {
		t.Errorf("a job that must be done: %v", err)
	}
	for _, bad := range []func() error{
		func() error { _, err := cancel(o.own, "a\x00"); return err },
		func() error { _, err := coretest.Call(o.own, o.GetJob, admin.JobRef{Job: "a\x00"}); return err },
	} {
		if err := bad(); fault.CodeOf(err) != fault.InvalidRequest || !strings.Contains(err.Error(), "job") {
			t.Errorf("an id with NUL: %v", err)
		}
	}
}

// A store that is away is no job that is not there.
func TestJobsOfAStoreThatIsAway(t *testing.T) {
	o := openOffice(t)
	id := o.begin(works, docs(o.own))
	o.until(id, status(port.JobSucceeded))
	o.Store.OnView.Set(func() error { return fault.New(fault.Unavailable, "the store is away") })
	for name, call := range map[string]func() error{
		"list":   func() error { _, err := coretest.Call(o.operator, o.ListJobs, admin.ListJobs{}); return err },
		"read":   func() error { _, err := coretest.Call(o.operator, o.GetJob, admin.JobRef{Job: id}); return err },
		"cancel": func() error { _, err := coretest.Call(o.operator, o.CancelJob, admin.JobRef{Job: id}); return err },
	} {
		if err := call(); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}
