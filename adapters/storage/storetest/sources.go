package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// sourceRow is a source of an organization with something in every field.
func sourceRow(org ident.Org, id string) port.SourceRow {
	return port.SourceRow{
		ID: id, Org: org, Name: "Docs of " + id, Kind: "directory", Namespace: "docs",
		Config: json.RawMessage(`{"path":"/srv/číslo"}`), Secrets: []string{"token"},
		Schedule: port.SourceSchedule{Every: 6 * time.Hour}, Keep: true, Enabled: true, State: port.SourceFailed,
		Reason: &port.SourceReason{Code: "credentials", Message: "the token has expired"}, Failures: 3,
		Cursor: []byte{0, 1, 255}, Items: 5, Numbers: 7, Documents: 6, LastRun: "run_9", NextRun: at(100), NextRetry: at(200),
		CreatedAt: at(1), UpdatedAt: at(2),
	}
}

func (f *fixture) fine(what string, err error) {
	f.Helper()
	if err != nil {
		f.Errorf("%s: %v", what, err)
	}
}

func (f *fixture) putSources(rows ...port.SourceRow) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		for _, r := range rows {
			if err := w.PutSource(f.ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// both makes two organizations and a source in each, src_1 and src_2.
func (f *fixture) both() (mine, theirs port.SourceRow) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other", CreatedAt: at(1)})
	})
	mine, theirs = sourceRow(f.org, "src_1"), sourceRow(otherOrg, "src_2")
	f.putSources(mine, theirs)
	return mine, theirs
}

func (f *fixture) source(org ident.Org, id string) (s port.SourceRow, err error) {
	f.Helper()
	err = f.s.View(f.ctx, func(r port.Reader) (err error) { s, err = r.Source(f.ctx, org, id); return err })
	return s, err
}

func sources(t *testing.T, f *fixture) {
	mine, theirs := f.both()
	got, err := f.source(f.org, mine.ID)
	f.fine("mine", err)
	f.same("mine", got, mine)
	_, err = f.source(f.org, theirs.ID)
	f.want("another organization's", err, fault.SourceNotFound)
	plain := port.SourceRow{ID: mine.ID, Org: f.org, Name: "n", Kind: "push", Namespace: "b", Config: json.RawMessage(`{}`),
		Secrets: []string{}, Schedule: port.SourceSchedule{Cron: "0 4 * * *"}, State: port.SourceSyncing, Run: "run_1",
		CreatedAt: at(3), UpdatedAt: at(4)}
	f.putSources(plain)
	got, err = f.source(f.org, mine.ID)
	f.fine("replaced", err)
	f.same("replaced", got, plain)
	stolen := mine
	stolen.ID = theirs.ID
	put := func(s port.SourceRow) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutSource(f.ctx, s) })
	}
	f.want("the id of another's", put(stolen), fault.Conflict)
	stolen.Org = "org_none"
	f.want("of no organization", put(stolen), fault.NotFound)
	if got, err = f.source(otherOrg, theirs.ID); err == nil {
		f.same("another's stays", got, theirs)
	}
	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, otherOrg, at(5)) })
	f.want("of an organization on its way out", put(theirs), fault.NotFound)

	secrets := func() (out map[string][]byte) {
		f.view(func(r port.Reader) (err error) { out, err = r.SourceSecrets(f.ctx, f.org, mine.ID); return err })
		return out
	}
	set := func(sealed map[string][]byte) {
		f.update(func(w port.DocumentWriter) error { return w.PutSourceSecrets(f.ctx, f.org, mine.ID, sealed) })
	}
	f.same("none", secrets(), map[string][]byte{})
	set(map[string][]byte{"a": {0}, "b": {1, 255}})
	set(map[string][]byte{"a": nil, "b": {2}, "none": nil})
	f.same("secrets", secrets(), map[string][]byte{"b": {2}})
	f.want("secrets of another's", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutSourceSecrets(f.ctx, f.org, theirs.ID, map[string][]byte{"b": {2}})
	}), fault.SourceNotFound)
	f.want("reading them", f.s.View(f.ctx, func(r port.Reader) error {
		_, err := r.SourceSecrets(f.ctx, f.org, theirs.ID)
		return err
	}), fault.SourceNotFound)
}

func sourceLists(t *testing.T, f *fixture) {
	f.both()
	change := func(id string, fn func(*port.SourceRow)) port.SourceRow {
		s := sourceRow(f.org, id)
		fn(&s)
		return s
	}
	f.putSources(
		change("src_3", func(s *port.SourceRow) { s.Namespace, s.NextRun = "other", at(50) }),
		change("src_4", func(s *port.SourceRow) { s.Kind, s.State, s.NextRun = "web", port.SourceIdle, time.Time{} }),
		// due at 200
		change("src_5", func(s *port.SourceRow) { s.Run, s.State, s.NextRun = "run_1", port.SourceSyncing, at(10) }),
		change("src_6", func(s *port.SourceRow) { s.Enabled, s.State, s.NextRun = false, port.SourcePaused, at(10) }),
		change("src_7", func(s *port.SourceRow) { s.NextRun, s.NextRetry = at(200), at(101) }))
	ids := func(list []port.SourceRow) string {
		out := ""
		for _, s := range list {
			out += s.ID[4:]
		}
		return out
	}
	for want, l := range map[string]port.SourceList{
		"1234567": {},
		"134567":  {Org: f.org},
		"2":       {Org: otherOrg},
		"45":      {Org: f.org, After: "src_3", Limit: 2},
		"3":       {Org: f.org, Namespace: "other"},
		"4":       {Org: f.org, Kind: "web"},
		"5":       {State: port.SourceSyncing},
		"":        {Org: f.org, State: port.SourceIdle, Kind: "directory"},
	} {
		f.view(func(r port.Reader) error {
			got, err := r.Sources(f.ctx, l)
			f.same(fmt.Sprintf("%+v", l), ids(got), want)
			return err
		})
	}
	for _, c := range []struct {
		by    time.Time
		limit int
		want  string
	}{{at(100), 9, "312"}, {at(100), 2, "31"}, {at(101), 9, "3127"}, {at(49), 9, ""}, {at(200), 9, "31274"}} {
		f.view(func(r port.Reader) error {
			got, err := r.DueSources(f.ctx, c.by, c.limit)
			f.same(fmt.Sprintf("due %v", c.by), ids(got), c.want)
			return err
		})
	}
	f.update(func(w port.DocumentWriter) error {
		o, err := w.Organization(f.ctx, otherOrg)
		if err != nil {
			return err
		}
		o.Suspended = true
		return w.PutOrganization(f.ctx, o)
	})
	f.view(func(r port.Reader) error {
		got, err := r.DueSources(f.ctx, at(101), 2)
		f.same("due beside those of a suspended organization", ids(got), "31")
		got, err2 := r.DueSources(f.ctx, at(101), 9)
		f.same("all of them", ids(got), "317")
		return errors.Join(err, err2)
	})
}

func sourceItem(n int) port.SourceItemRow {
	key := fmt.Sprintf("päth/%03d", n)
	return port.SourceItemRow{Number: int64(n), KeyHash: sha256.Sum256([]byte(key)), Key: key, Version: "v1", Name: "N",
		URL:         "u:x",
		ContentHash: sha256.Sum256([]byte("x")), Documents: 2, Generation: 9, UpdatedAt: at(n)}
}

func sourceItems(t *testing.T, f *fixture) {
	mine, theirs := f.both()
	var rows []port.SourceItemRow
	var keys [][32]byte
	for n := range 205 {
		i := sourceItem(n)
		if n%100 == 7 {
			i.Error, i.Attempts, i.NextAttempt = &port.SourceReason{Code: "no_text", Message: "hás none"}, 2, at(n)
		}
		rows, keys = append(rows, i), append(keys, i.KeyHash)
	}
	rows[107].NextAttempt = time.Time{}
	put := func(org ident.Org, id string, rows ...port.SourceItemRow) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutSourceItems(f.ctx, org, id, rows) })
	}
	f.fine("items", put(f.org, mine.ID, rows...))
	f.fine("the same key and number of another source", put(otherOrg, theirs.ID, rows[0]))
	f.want("items of another's source", put(f.org, theirs.ID, rows[1]), fault.SourceNotFound)
	find := func(keys ...[32]byte) (found map[[32]byte]port.SourceItemRow) {
		f.view(func(r port.Reader) (err error) { found, err = r.SourceItems(f.ctx, f.org, mine.ID, keys); return err })
		return found
	}
	all := find(keys...)
	f.same("found", len(all), len(rows))
	for _, i := range rows {
		f.same(i.Key, all[i.KeyHash], i)
	}
	none := sha256.Sum256([]byte("none"))
	f.same("one", len(find(keys[3])), 1)
	f.same("an unknown one", len(find(none)), 0)
	f.same("a known and an unknown one", len(find(none, keys[204])), 1)
	f.same("nothing", len(find()), 0)
	list := func(l port.SourceItemList) (numbers string) {
		f.view(func(r port.Reader) error {
			got, err := r.ListSourceItems(f.ctx, f.org, mine.ID, l)
			for _, i := range got {
				f.same("listed", i, rows[i.Number])
				numbers += fmt.Sprint(i.Number, " ")
			}
			return err
		})
		return numbers
	}
	yes, no := true, false
	f.same("a page", list(port.SourceItemList{From: 3, Limit: 2}), "3 4 ")
	f.same("by prefix", list(port.SourceItemList{Prefix: "päth/20"}), "200 201 202 203 204 ")
	f.same("failed", list(port.SourceItemList{Failed: &yes}), "7 107 ")
	f.same("not failed", list(port.SourceItemList{Failed: &no, From: 6, Limit: 2}), "6 8 ")
	f.same("due", list(port.SourceItemList{Due: at(300)}), "7 ")
	f.same("not due yet", list(port.SourceItemList{Due: at(6)}), "")
	rows[7].Error, rows[7].Attempts, rows[7].NextAttempt, rows[7].Version = nil, 0, time.Time{}, "v2"
	f.fine("replaced", put(f.org, mine.ID, rows[7]))
	f.same("no more failed", list(port.SourceItemList{Failed: &yes}), "107 ")
	f.update(func(w port.DocumentWriter) error {
		return w.DeleteSourceItems(f.ctx, f.org, mine.ID, []int64{0, 1, 2, 900})
	})
	f.same("deleted", list(port.SourceItemList{Limit: 1}), "3 ")
	f.view(func(r port.Reader) error {
		got, err := r.ListSourceItems(f.ctx, otherOrg, theirs.ID, port.SourceItemList{})
		f.same("another's stay", len(got), 1)
		return err
	})
	f.want("another's list", f.s.View(f.ctx, func(r port.Reader) error {
		_, err := r.ListSourceItems(f.ctx, f.org, theirs.ID, port.SourceItemList{})
		return err
	}), fault.SourceNotFound)
}

func sourceRun(org ident.Org, source, id string, created int) port.SourceRun {
	return port.SourceRun{ID: id, Source: source, Org: org, Trigger: "manual", Mode: "full", Status: port.RunPartial,
		Params: json.RawMessage(`{"max":3}`), Counts: port.SourceCounts{Seen: 1, Created: 2, Updated: 3, Unchanged: 4, Deleted: 5,
			Withheld: 6, Failed: 7, Skipped: 8}, Error: &port.SourceReason{Code: "unavailable", Message: "späť"},
		Problems: 2, Recorded: 3, CreatedAt: at(created), StartedAt: at(created + 1), HeartbeatAt: at(created + 2),
		ProgressAt: at(created + 3), FinishedAt: at(created + 4)}
}

func sourceRuns(t *testing.T, f *fixture) {
	mine, theirs := f.both()
	put := func(runs ...port.SourceRun) error {
		return f.s.Update(f.ctx, func(w port.Writer) error {
			for _, r := range runs {
				if err := w.PutSourceRun(f.ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	whole := sourceRun(f.org, mine.ID, "run_c", 30)
	whole.Cursor, whole.Seen = []byte{0, 1}, []byte{2, 255}
	live := port.SourceRun{ID: "run_d", Source: mine.ID, Org: f.org, Trigger: "schedule", Mode: "incremental",
		Status: port.RunRunning, CreatedAt: at(30)}
	f.fine("runs", put(sourceRun(f.org, mine.ID, "run_a", 10), sourceRun(f.org, mine.ID, "run_b", 20), whole, live,
		sourceRun(otherOrg, theirs.ID, "run_z", 40)))
	read := func(org ident.Org, source, id string) (run port.SourceRun, err error) {
		err = f.s.View(f.ctx, func(r port.Reader) (err error) { run, err = r.SourceRun(f.ctx, org, source, id); return err })
		return run, err
	}
	got, err := read(f.org, mine.ID, "run_c")
	f.fine("a run", err)
	f.same("a run", got, whole)
	_, err = read(f.org, mine.ID, "run_z")
	f.want("a run of another source", err, fault.NotFound)
	_, err = read(f.org, theirs.ID, "run_z")
	f.want("a run of another organization", err, fault.SourceNotFound)
	f.want("taken by another source", put(sourceRun(otherOrg, theirs.ID, "run_a", 1)), fault.Conflict)
	list := func(l port.SourceRunList) (ids string) {
		f.view(func(r port.Reader) error {
			runs, err := r.SourceRuns(f.ctx, f.org, mine.ID, l)
			for _, run := range runs {
				ids += run.ID[4:]
				if run.Cursor != nil || run.Seen != nil {
					t.Errorf("%s is listed with its cursor", run.ID)
				}
			}
			return err
		})
		return ids
	}
	f.same("newest first", list(port.SourceRunList{}), "dcba")
	f.same("a page", list(port.SourceRunList{AfterCreated: at(30), AfterID: "run_c", Limit: 1}), "b")

	record := func(run string, items ...port.SourceRunItem) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutSourceRunItems(f.ctx, f.org, run, items) })
	}
	failed := port.SourceRunItem{Place: 4, Key: "ä", Status: "failed", Error: &port.SourceReason{Code: "broken", Message: "is"}}
	made := port.SourceRunItem{Place: 1 << 41, Key: "b", Status: "created", Document: "src_1:aa"}
	f.fine("recorded", record("run_a", made, failed, port.SourceRunItem{Place: 5, Key: "c", Status: "created"}))
	f.fine("recorded again", record("run_a", port.SourceRunItem{Place: 5, Key: "c", Status: "updated"}))
	f.want("in a run of another organization", record("run_z", made), fault.NotFound)
	items := func(from int64, status string, limit int) (out []port.SourceRunItem) {
		f.view(func(r port.Reader) (err error) {
			out, err = r.SourceRunItems(f.ctx, f.org, "run_a", from, status, limit)
			return err
		})
		return out
	}
	f.same("items", items(0, "", 9), []port.SourceRunItem{failed, {Place: 5, Key: "c", Status: "updated"}, made})
	f.same("a page", items(5, "", 1), []port.SourceRunItem{{Place: 5, Key: "c", Status: "updated"}})
	f.same("failed ones", items(0, "failed", 9), []port.SourceRunItem{failed})

	trim := func(before time.Time, keep, limit int) (steps int) {
		for more := true; more; steps++ {
			f.update(func(w port.DocumentWriter) (err error) {
				more, err = w.TrimSourceRuns(f.ctx, f.org, mine.ID, before, keep, limit)
				return err
			})
		}
		return steps - 1
	}
	f.same("steps", trim(at(11), 10, 2), 2) // two of three items, then the last with the run
	f.same("an old one went", list(port.SourceRunList{}), "dcb")
	trim(at(0), 3, 100)
	f.same("as many as are kept", list(port.SourceRunList{}), "dcb")
	trim(at(0), 2, 100)
	f.same("two are kept", list(port.SourceRunList{}), "dc")
	trim(at(0), 1, 100)
	f.same("one is kept", list(port.SourceRunList{}), "d")
	live.Status, live.CreatedAt = port.RunRunning, at(1)
	f.fine("a long run", put(live))
	trim(at(90), 0, 100)
	f.same("a run that has not ended stays", list(port.SourceRunList{}), "d")
	if _, err := read(otherOrg, theirs.ID, "run_z"); err != nil {
		t.Errorf("another's run: %v", err)
	}
}

func sourceDeletion(t *testing.T, f *fixture) {
	mine, theirs := f.both()
	fill := func(org ident.Org, s, run string) {
		f.update(func(w port.DocumentWriter) error {
			if err := w.PutSourceSecrets(f.ctx, org, s, map[string][]byte{"a": {1}}); err != nil {
				return err
			}
			if err := w.PutSourceItems(f.ctx, org, s, []port.SourceItemRow{sourceItem(0), sourceItem(1),
				sourceItem(2)}); err != nil {
				return err
			}
			if err := w.PutSourceRun(f.ctx, sourceRun(org, s, run, 10)); err != nil {
				return err
			}
			return w.PutSourceRunItems(f.ctx, org, run, []port.SourceRunItem{{Place: 1}, {Place: 2}, {Place: 3}})
		})
	}
	fill(f.org, mine.ID, "run_1")
	fill(otherOrg, theirs.ID, "run_2")
	erase := func(org ident.Org, id string) (steps int) {
		for more := true; more; steps++ {
			f.update(func(w port.DocumentWriter) (err error) { more, err = w.DeleteSource(f.ctx, org, id, 2); return err })
		}
		return steps
	}
	f.same("another's, in one step without effect", erase(f.org, theirs.ID), 1)
	f.same("steps", erase(f.org, mine.ID), 2)
	_, err := f.source(f.org, mine.ID)
	f.want("gone", err, fault.SourceNotFound)
	f.same("again", erase(f.org, mine.ID), 1)
	f.view(func(r port.Reader) error {
		items, err := r.ListSourceItems(f.ctx, otherOrg, theirs.ID, port.SourceItemList{})
		f.same("another's items", len(items), 3)
		return err
	})
	// With its organization a source goes, too.
	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, otherOrg, at(5)) })
	for more := true; more; {
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, otherOrg, 2)
			return err
		})
	}
	f.view(func(r port.Reader) error {
		left, err := r.Sources(f.ctx, port.SourceList{})
		f.same("sources", len(left), 0)
		return err
	})
}
