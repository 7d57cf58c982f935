package api_test

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// later writes a document asynchronously, and answers the place of the operation
// and the id of its job.
func (s *server) later(id, text string) (at, job string) {
	s.t.Helper()
	at = s.post("/namespaces/docs/documents", object{"documents": []object{doc(id, text, "")}}, "Prefer",
		"respond-async").is(202).header.Get("Location")
	return at, path.Base(at)
}

// TestAdminJobs: asynchronous writes are seen and cancelled by those who administer
// their organization, and by nobody else.
func TestAdminJobs(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		acme := s.organization("acme")
		const jobs = "/admin/v1/jobs"
		operator, own, other := s.operator(), s.administrator("default"), s.administrator("acme")

		s.embedder.Before.Set(coretest.UntilDone)
		runningAt, running := s.later("a", "the quetzal is confidential")
		harness.Eventually(t, "running", func() bool { return s.get(runningAt).ok().json["status"] == "running" })
		queuedAt, queued := s.later("b", "so is the toucan")
		_, others := acme.later("c", "and the hoatzin")

		all := operator.get(jobs).ok()
		if got := column(all.list("jobs"), "id"); !slices.Equal(got, []string{others, queued, running}) {
			t.Fatalf("the operator sees %v", got)
		}
		for _, word := range []string{"quetzal", "toucan", "hoatzin"} {
			if bytes.Contains(all.body, []byte(word)) {
				t.Errorf("a request's text is shown: %s", all.body)
			}
		}
		if got := column(own.get(jobs).ok().list("jobs"), "id"); !slices.Equal(got, []string{queued, running}) {
			t.Errorf("an administrator of default sees %v", got)
		}
		if got := column(other.get(jobs).ok().list("jobs"), "id"); !slices.Equal(got, []string{others}) {
			t.Errorf("an administrator of acme sees %v", got)
		}
		for query, want := range map[string][]string{
			"?kind=documents.write":                 {others, queued, running},
			"?kind=other":                           {},
			"?status=running":                       {running},
			"?status=queued&organization=acme":      {others},
			"?kind=documents.write&status=finished": nil,
		} {
			r := operator.get(jobs + query)
			if want == nil {
				r.fails(400, "invalid_request", "status")
			} else if got := column(r.ok().list("jobs"), "id"); !slices.Equal(got, want) {
				t.Errorf("%s gives %v, want %v", query, got, want)
			}
		}
		own.get(jobs+"?organization=acme").fails(404, "not_found", "acme")
		var paged []string
		for cursor := ""; ; {
			r := operator.get(jobs + "?limit=1&cursor=" + cursor).ok()
			paged = append(paged, column(r.list("jobs"), "id")...)
			next, more := r.json["next_cursor"].(string)
			if !more {
				break
			}
			own.get(jobs+"?limit=1&cursor="+next).fails(400, "invalid_cursor")
			cursor = next
		}
		if !slices.Equal(paged, []string{others, queued, running}) {
			t.Errorf("pages give %v", paged)
		}

		one := own.get(jobs + "/" + running).ok().json
		if one["kind"] != "documents.write" || one["namespace"] != "docs" || one["status"] != "running" ||
			one["total"] != 1.0 || one["tries"] != 1.0 || one["error"] != nil || one["finished_at"] != nil {
			t.Errorf("the running job is %v", one)
		}

		// Out of reach: others' jobs, those that are not there, and for other keys.
		cancel := func(s *server, id string) *reply { return s.post(jobs+"/"+id+"/cancel", nil) }
		for _, id := range []string{running, "op_none"} {
			other.get(jobs+"/"+id).fails(404, "not_found", id)
			cancel(other, id).fails(404, "not_found", id)
		}
		viewer := s.as(s.issue(key.Issue{Kind: ident.Admin, ReadOnly: true}))
		viewer.get(jobs + "/" + running).ok()
		cancel(viewer, running).fails(403, "forbidden", "read-only")
		for _, path := range []string{jobs, jobs + "/" + running} {
			s.get(path).fails(401, "unauthorized")
		}
		cancel(s, running).fails(401, "unauthorized")

		// Cancelled: the caller's operation has failed, and nothing is stored.
		if r := cancel(own, queued).ok(); r.json["status"] != "cancelled" || r.json["cancelling"] != false {
			t.Errorf("the queued job: %s", r.body)
		}
		if r := cancel(own, running).ok(); r.json["cancelling"] != true {
			t.Errorf("the running job: %s", r.body)
		}
		cancel(operator, others).ok()
		for id, at := range map[string]string{running: runningAt, queued: queuedAt} {
			harness.Eventually(t, "cancelled",
				func() bool { return own.get(jobs + "/" + id).ok().json["status"] == "cancelled" })
			got := s.get(at).ok().json
			if e, _ := got["error"].(object); got["status"] != "failed" || e["code"] != "canceled" {
				t.Errorf("the operation of a cancelled job is %v", got)
			}
			cancel(own, id).ok()
		}
		s.embedder.Before.Clear()
		at, done := s.later("d", "the next one goes on")
		harness.Eventually(t, "succeeded", func() bool { return s.get(at).ok().json["status"] == "succeeded" })
		cancel(own, done).fails(409, "conflict", "succeeded")
		if got := fmt.Sprint(s.ids("docs")); got != "[d]" {
			t.Errorf("stored are %s", got)
		}
	})
}
