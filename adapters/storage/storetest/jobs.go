package storetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const otherOrg ident.Org = "org_other"

func (f *fixture) createJobs(jobs ...port.Job) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		for _, j := range jobs {
			if err := w.CreateJob(f.ctx, j, port.JobRequest{}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fixture) job(org ident.Org, id string) (j port.Job, err error) {
	err = f.s.View(f.ctx, func(r port.Reader) (err error) { j, err = r.Job(f.ctx, org, id); return err })
	return j, err
}

func (f *fixture) unclaimed(kinds ...string) (ids []string) {
	f.Helper()
	f.view(func(r port.Reader) error {
		jobs, err := r.UnclaimedJobs(f.ctx, port.Replica{}, nil, kinds, 100)
		ids = jobIDs(jobs)
		return err
	})
	return ids
}

func jobIDs(jobs []port.Job) (ids []string) {
	for _, j := range jobs {
		ids = append(ids, string(j.Org[len(j.Org)-1:])+"/"+j.ID)
	}
	return ids
}

// jobs: a job comes back as it was written, its request until it ends, in its own
// organization, and goes when it has expired.
func jobs(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other"})
	})
	docs, eva := port.Documents(f.org, "docs").At(7), port.Memories(f.org, "int_1", "eva")
	queued := port.Job{
		ID:        "job_1",
		Org:       f.org,
		Kind:      "write",
		Partition: docs,
		Status:    port.JobQueued,
		Total:     3,
		CreatedAt: at(2),
		UpdatedAt: at(2),
	}
	running := port.Job{
		ID:        "job_2",
		Org:       f.org,
		Kind:      "sync",
		Partition: eva,
		Status:    port.JobRunning,
		Done:      1,
		Total:     2,
		Tries:     3,
		Cancel:    true,
		State:     json.RawMessage(`{"cursor":"a"}`),
		CreatedAt: at(1),
		StartedAt: at(2),
		UpdatedAt: at(3),
	}
	request := port.JobRequest{Body: []byte{0, 1, 0xff}, Principal: []byte(`{"KeyID":"key_1"}`)}
	f.update(func(w port.DocumentWriter) error {
		return errors.Join(w.CreateJob(f.ctx, queued, request), w.CreateJob(f.ctx, running, port.JobRequest{}))
	})
	twin := queued
	twin.Org, twin.Partition, twin.CreatedAt = otherOrg, port.Documents(otherOrg, "docs"), at(5)
	f.createJobs(twin)
	for _, want := range []port.Job{queued, running, twin} {
		got, err := f.job(want.Org, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.same("read back", got, want)
	}
	got, err := f.job("", "job_1")
	if err != nil {
		t.Fatal(err)
	}
	f.same("the oldest of any organization", got, queued)
	_, err = f.job(otherOrg, "job_2")
	f.want("of another organization", err, fault.NotFound)
	_, err = f.job("", "job_none")
	f.want("absent", err, fault.NotFound)
	read := func(org ident.Org, id string) (q port.JobRequest, err error) {
		err = f.s.View(f.ctx, func(r port.Reader) (err error) { q, err = r.JobRequest(f.ctx, org, id); return err })
		return q, err
	}
	kept, err := read(f.org, "job_1")
	if err != nil {
		t.Fatal(err)
	}
	f.same("request", kept, request)
	if none, err := read(f.org, "job_2"); err != nil || none.Body != nil || none.Principal != nil {
		t.Errorf("request of a job without one: %+v, %v", none, err)
	}
	_, err = read(otherOrg, "job_2")
	f.want("request of another organization's", err, fault.NotFound)

	f.expect("the same id again", fault.Conflict,
		func(w port.DocumentWriter) error { return w.CreateJob(f.ctx, queued, request) })
	f.expect("in no organization", fault.NotFound, func(w port.DocumentWriter) error {
		lost := queued
		lost.Org = "org_none"
		return w.CreateJob(f.ctx, lost, request)
	})
	f.expect("ended without a time", fault.Internal, func(w port.DocumentWriter) error {
		bad := running
		bad.Status = port.JobFailed
		return w.ChangeJob(f.ctx, bad)
	})
	f.expect("unfinished with a time", fault.Internal, func(w port.DocumentWriter) error {
		bad := queued
		bad.ID, bad.FinishedAt = "job_bad", at(1)
		return w.CreateJob(f.ctx, bad, request)
	})
	f.expect("change an absent one", fault.NotFound, func(w port.DocumentWriter) error {
		absent := running
		absent.Org = otherOrg
		return w.ChangeJob(f.ctx, absent)
	})

	// Kind, partition and time of creation stay; the request goes with the end.
	done := queued
	done.Status, done.Done, done.Tries, done.Result = port.JobSucceeded, 3, 1, json.RawMessage(`{"written":3}`)
	done.StartedAt, done.UpdatedAt, done.FinishedAt, done.ExpiresAt = at(3), at(9), at(9), at(20)
	failed := running
	failed.Status, failed.Error = port.JobFailed, &port.JobError{Code: "timeout", Message: `the "model" did not answer`}
	failed.NextAttempt, failed.State = at(4), nil
	failed.UpdatedAt, failed.FinishedAt, failed.ExpiresAt = at(10), at(10), at(21)
	f.update(func(w port.DocumentWriter) error {
		moved := done
		moved.Kind, moved.Partition, moved.CreatedAt = "other", eva, at(90)
		return errors.Join(w.ChangeJob(f.ctx, moved), w.ChangeJob(f.ctx, failed))
	})
	for _, want := range []port.Job{done, failed, twin} {
		got, err := f.job(want.Org, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.same("changed", got, want)
	}
	_, err = read(f.org, "job_1")
	f.want("the request of an ended job", err, fault.NotFound)

	// They stay readable without their namespace, and go only when they have expired.
	p := f.create("docs")
	f.put(p, at(1), plain("a"))
	expire := func(before time.Time) {
		f.update(func(w port.DocumentWriter) error { return w.DeleteExpiredJobs(f.ctx, before) })
	}
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, p); return err })
	expire(at(20))
	if _, err = f.job(f.org, "job_1"); err != nil {
		t.Errorf("not expired yet: %v", err)
	}
	expire(at(21))
	_, err = f.job(f.org, "job_1")
	f.want("expired", err, fault.NotFound)
	if _, err = f.job(f.org, "job_2"); err != nil {
		t.Errorf("expires later: %v", err)
	}
	expire(at(1000))
	if _, err = f.job(otherOrg, "job_1"); err != nil {
		t.Errorf("unfinished: %v", err)
	}
	f.update(func(w port.DocumentWriter) error {
		remover, ok := w.(port.OrganizationRemover)
		if !ok {
			return nil
		}
		if gone, err := remover.RemoveOrganization(f.ctx, otherOrg); err != nil || gone {
			t.Errorf("an organization with a job was removed: %v, %v", gone, err)
		}
		return nil
	})
}

// jobLists: lists keep to their filters and their order over pages; what is
// unclaimed and what is cancelled is found, whichever replica owns it.
func jobLists(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other"})
	})
	own := string(f.org[len(f.org)-1:])
	of := func(org ident.Org, id, kind string, p port.Partition, second int) port.Job {
		return port.Job{
			ID:        id,
			Org:       org,
			Kind:      kind,
			Partition: p,
			Status:    port.JobQueued,
			CreatedAt: at(second),
			UpdatedAt: at(second),
		}
	}
	docs, notes := port.Documents(f.org, "docs"), port.Documents(f.org, "notes")
	eva, twin := port.Memories(f.org, "int_1", "docs"), port.Memories(f.org, "int_2", "docs")
	later := of(f.org, "later", "sync", notes, 1)
	later.NextAttempt = at(50)
	sooner := of(f.org, "sooner", "sync", notes, 2)
	sooner.NextAttempt = at(40)
	asked := of(f.org, "asked", "sync", eva, 3)
	asked.Status, asked.Cancel = port.JobRunning, true
	ended := of(f.org, "ended", "write", docs.At(3), 6)
	ended.Status, ended.Cancel, ended.FinishedAt = port.JobCancelled, true, at(7)
	f.createJobs(later, sooner, asked, ended, of(f.org, "b", "write", docs, 5), of(f.org, "a", "write", docs, 5),
		of(f.org, "e", "write", twin, 4),
		of(otherOrg, "b", "write", port.Documents(otherOrg, "docs"), 5))

	list := func(l port.JobList) (ids []string) {
		f.view(func(r port.Reader) error {
			jobs, err := r.Jobs(f.ctx, l)
			ids = jobIDs(jobs)
			return err
		})
		return ids
	}
	mine := func(ids ...string) (out []string) {
		for _, id := range ids {
			out = append(out, own+"/"+id)
		}
		return out
	}
	f.same("of an organization", list(port.JobList{Org: f.org}), mine("ended", "b", "a", "e", "asked", "sooner", "later"))
	f.same("of a kind", list(port.JobList{Org: f.org, Kind: "sync"}), mine("asked", "sooner", "later"))
	f.same("of a status", list(port.JobList{Org: f.org, Status: port.JobRunning}), mine("asked"))
	f.same("of a partition", list(port.JobList{Partition: docs.At(9)}), mine("ended", "b", "a"))
	f.same("of an end user", list(port.JobList{Partition: twin}), mine("e"))
	f.same("of an end user and a kind", list(port.JobList{Partition: eva, Kind: "write"}), []string(nil))
	all := list(port.JobList{})
	if len(all) != 8 || !slices.Contains(all, "r/b") {
		t.Errorf("of all organizations: %v", all)
	}
	var paged []string
	for l := (port.JobList{Limit: 1}); ; {
		var page []port.Job
		f.view(func(r port.Reader) (err error) { page, err = r.Jobs(f.ctx, l); return err })
		if len(page) == 0 {
			break
		}
		if len(page) > 1 {
			t.Fatalf("a page of %d", len(page))
		}
		paged = append(paged, jobIDs(page)...)
		l.After = port.JobPlace{CreatedAt: page[0].CreatedAt, ID: page[0].ID, Org: page[0].Org}
	}
	f.same("by pages", paged, all)

	due := f.unclaimed("write", "sync")
	want := append(append(mine("asked"), "r/b"), mine("e", "a", "b", "sooner", "later")...)
	f.same("unclaimed, those due first, round the organizations", due, want)
	f.same("unclaimed of a kind", f.unclaimed("sync"), mine("asked", "sooner", "later"))
	f.same("unclaimed of no kind", f.unclaimed(), []string(nil))
	f.view(func(r port.Reader) error {
		jobs, err := r.UnclaimedJobs(f.ctx, port.Replica{}, nil, []string{"sync"}, 2)
		f.same("some of the unclaimed", jobIDs(jobs), mine("asked", "sooner"))
		return err
	})
	f.view(func(r port.Reader) error {
		jobs, err := r.CancelledJobs(f.ctx)
		f.same("cancelled and not ended", jobIDs(jobs), mine("asked"))
		return err
	})
	a := f.join("a", longLease)
	if _, ok := f.claim(a, port.JobClaim(f.org, "asked")); !ok {
		t.Fatal("not claimed")
	}
	f.same("the claimed one is in hand", f.unclaimed("sync"), mine("sooner", "later"))
	for who, c := range map[string]struct {
		self port.Replica
		held []string
		want []string
	}{
		"its holder":             {a, []string{"other", port.JobClaim(f.org, "asked")}, mine("sooner", "later")},
		"one that forgot it":     {a, nil, mine("asked", "sooner", "later")},
		"another with its claim": {port.Replica{ID: "b", Epoch: 1}, nil, mine("sooner", "later")},
	} {
		f.view(func(r port.Reader) error {
			jobs, err := r.UnclaimedJobs(f.ctx, c.self, c.held, []string{"sync"}, 100)
			f.same("unclaimed, as "+who+" sees it", jobIDs(jobs), c.want)
			return err
		})
	}
	f.update(func(w port.DocumentWriter) error { return w.LeaveReplica(f.ctx, a) })
	f.same("until its holder leaves", f.unclaimed("sync"), mine("asked", "sooner", "later"))
}

func selected(jobs []port.Job, is func(port.Job) bool) (out []port.Job) {
	for _, j := range jobs {
		if is(j) {
			out = append(out, j)
		}
	}
	return out
}

// jobModel runs random calls on jobs against the store and a model of it in memory,
// some of them rolled back, and compares the two after each.
func jobModel(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other"})
	})
	place := func(j port.Job) string { return string(j.Org) + "/" + j.ID }
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		kinds := []string{fmt.Sprintf("x%d", run), fmt.Sprintf("y%d", run)}
		model := map[string]port.Job{}
		requests := map[string]string{}
		orgs := rapid.SampledFrom([]ident.Org{f.org, otherOrg})
		ids := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		statuses := rapid.SampledFrom([]port.JobStatus{port.JobQueued, port.JobRunning, port.JobSucceeded,
			port.JobFailed, port.JobCancelled})
		id := func(rt *rapid.T) string { return fmt.Sprintf("m%d-%s", run, ids.Draw(rt, "id")) }
		second := func(rt *rapid.T, what string) time.Time {
			n := rapid.IntRange(0, 9).Draw(rt, what)
			if n == 0 {
				return time.Time{}
			}
			return at(n)
		}
		vary := func(rt *rapid.T, j *port.Job) {
			j.Status = statuses.Draw(rt, "status")
			j.Done, j.Total, j.Tries = rapid.IntRange(0, 5).Draw(rt, "done"), rapid.IntRange(0, 5).Draw(rt, "total"),
				rapid.IntRange(0, 5).Draw(rt, "tries")
			j.Cancel, j.NextAttempt, j.StartedAt, j.UpdatedAt = rapid.Bool().Draw(rt, "cancel"), second(rt, "next"),
				second(rt, "started"), second(rt, "updated")
			j.State, j.Result, j.Error, j.FinishedAt, j.ExpiresAt = nil, nil, nil, time.Time{}, time.Time{}
			if rapid.Bool().Draw(rt, "state") {
				j.State, j.Result = json.RawMessage(`{"at":[1]}`), json.RawMessage(`null`)
			}
			if j.Status.Ended() {
				j.FinishedAt, j.ExpiresAt = at(rapid.IntRange(1, 9).Draw(rt, "finished")),
					at(rapid.IntRange(1, 9).Draw(rt, "expires"))
				j.Error = &port.JobError{Code: "internal", Message: "line\n\"two\""}
			}
		}
		// change runs a call and takes its outcome over unless it is undone.
		change := func(rt *rapid.T, want fault.Code, call func(w port.DocumentWriter) error, outcome func()) {
			undo := rapid.IntRange(0, 5).Draw(rt, "undo") == 0
			err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
				if err := call(w); err != nil || !undo {
					return err
				}
				return errUndo
			})
			switch {
			case want != "":
				if fault.CodeOf(err) != want {
					rt.Fatalf("got %v, want %s", err, want)
				}
			case undo && err == errUndo:
			case err != nil:
				rt.Fatalf("Update: %v", err)
			default:
				outcome()
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) {
				j := port.Job{
					Org:       orgs.Draw(rt, "org"),
					ID:        id(rt),
					Kind:      rapid.SampledFrom(kinds).Draw(rt, "kind"),
					CreatedAt: at(rapid.IntRange(1, 5).Draw(rt, "created")),
				}
				j.Partition = port.Documents(j.Org,
					fmt.Sprintf("n%d", run)).At(int64(rapid.IntRange(0, 2).Draw(rt, "generation")))
				if rapid.Bool().Draw(rt, "memories") {
					j.Partition = port.Memories(j.Org, "int_1", fmt.Sprintf("n%d", run))
				}
				vary(rt, &j)
				body := rapid.SampledFrom([]string{`{}`, `{"a":1}`}).Draw(rt, "body")
				want := fault.Code("")
				if _, ok := model[place(j)]; ok {
					want = fault.Conflict
				}
				change(rt, want, func(w port.DocumentWriter) error {
					return w.CreateJob(f.ctx, j, port.JobRequest{Body: []byte(body)})
				}, func() {
					if model[place(j)], requests[place(j)] = j, body; j.Status.Ended() {
						requests[place(j)] = ""
					}
				})
			},
			"change": func(rt *rapid.T) {
				org, name := orgs.Draw(rt, "org"), id(rt)
				j, ok := model[string(org)+"/"+name]
				j.Org, j.ID = org, name
				vary(rt, &j)
				want := fault.Code("")
				if !ok {
					want = fault.NotFound
				}
				change(rt, want, func(w port.DocumentWriter) error { return w.ChangeJob(f.ctx, j) }, func() {
					model[place(j)] = j
					if j.Status.Ended() {
						requests[place(j)] = ""
					}
				})
			},
			"expire": func(rt *rapid.T) {
				before := at(rapid.IntRange(1, 10).Draw(rt, "before"))
				change(rt, "", func(w port.DocumentWriter) error { return w.DeleteExpiredJobs(f.ctx, before) }, func() {
					maps.DeleteFunc(model,
						func(_ string, j port.Job) bool { return j.Status.Ended() && j.ExpiresAt.Before(before) })
				})
			},
			"": func(rt *rapid.T) {
				var all, unfinished []port.Job
				for _, j := range model {
					all = append(all, j)
					if !j.Status.Ended() {
						unfinished = append(unfinished, j)
					}
				}
				order := func(a, b port.Job) int {
					return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID),
						strings.Compare(string(a.Org), string(b.Org)))
				}
				slices.SortFunc(all, func(a, b port.Job) int { return order(b, a) })
				slices.SortFunc(unfinished, order)
				turns, turn := map[string]int{}, map[string]int{} // of each organization, at each time
				for _, j := range unfinished {
					at := string(j.Org) + j.NextAttempt.String()
					turns[at]++
					turn[place(j)] = turns[at]
				}
				slices.SortStableFunc(unfinished, func(a, b port.Job) int {
					return cmp.Or(a.NextAttempt.Compare(b.NextAttempt), turn[place(a)]-turn[place(b)])
				})
				f.view(func(r port.Reader) error {
					for _, kind := range kinds {
						got, err := r.Jobs(f.ctx, port.JobList{Kind: kind})
						if err != nil {
							return err
						}
						f.same("of a kind", got, selected(all, func(j port.Job) bool { return j.Kind == kind }))
					}
					for _, p := range []port.Partition{port.Documents(f.org, fmt.Sprintf("n%d", run)),
						port.Memories(otherOrg, "int_1", fmt.Sprintf("n%d", run))} {
						got, err := r.Jobs(f.ctx, port.JobList{Partition: p})
						if err != nil {
							return err
						}
						f.same("of a partition", got, selected(all, func(j port.Job) bool { return j.Partition.At(0) == p }))
					}
					got, err := r.UnclaimedJobs(f.ctx, port.Replica{}, nil, kinds, 100)
					if err != nil {
						return err
					}
					f.same("unclaimed", got, unfinished)
					for _, j := range unfinished {
						request, err := r.JobRequest(f.ctx, j.Org, j.ID)
						if err != nil {
							return err
						}
						f.same("request", string(request.Body), requests[place(j)])
					}
					return nil
				})
			},
		})
		f.update(func(w port.DocumentWriter) error { // the next run's lists are shorter
			for _, j := range model {
				j.Status, j.FinishedAt, j.ExpiresAt = port.JobFailed, at(1), at(1)
				if err := w.ChangeJob(f.ctx, j); err != nil {
					return err
				}
			}
			return w.DeleteExpiredJobs(f.ctx, at(1000))
		})
	})
}
