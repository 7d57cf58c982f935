package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// auditRecord is a record with something in every field.
func auditRecord(n int, org ident.Org) port.AuditRecord {
	return port.AuditRecord{ID: fmt.Sprintf("aud_%03d", n), At: at(n), Org: org, Actor: port.ActorKey,
		KeyID: fmt.Sprint("key_", n%2), Action: fmt.Sprint("do.", n%3), Target: fmt.Sprint("číslo/", n),
		RequestID: fmt.Sprint("req_", n), Status: 200 + n%2*203, Fields: []string{"name", "limits"}}
}

func (f *fixture) waiting(limit int) (rs []port.AuditRecord) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { rs, err = r.WaitingAudit(f.ctx, limit); return err })
	return rs
}

func (f *fixture) auditHead() (h port.AuditHead) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { h, err = r.AuditHead(f.ctx); return err })
	return h
}

func (f *fixture) audit(l port.AuditList) (rs []port.AuditRecord) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { rs, err = r.AuditRecords(f.ctx, l); return err })
	return rs
}

// numbered gives records numbers after head, with hashes of the test.
func numbered(head port.AuditHead, rs ...port.AuditRecord) []port.AuditRecord {
	previous := head.Hash
	for i := range rs {
		rs[i].Seq, rs[i].Previous, rs[i].Hash = head.Seq+uint64(i)+1, previous, [32]byte{byte(i + 1), 255}
		previous = rs[i].Hash
	}
	return rs
}

func audit(t *testing.T, f *fixture) {
	if h := f.auditHead(); h != (port.AuditHead{}) {
		t.Errorf("head of an empty log: %+v", h)
	}
	all := []port.AuditRecord{auditRecord(1, f.org), auditRecord(2, ""), auditRecord(3, "org_gone"), auditRecord(4, f.org)}
	f.update(func(w port.DocumentWriter) error {
		return errors.Join(w.AppendAudit(f.ctx, all[2]), w.AppendAudit(f.ctx, all[0]), w.AppendAudit(f.ctx, all[1]))
	})
	if rs := f.audit(port.AuditList{}); len(rs) != 0 {
		t.Errorf("records without a number are in the log: %v", rs)
	}
	equal := func(what string, got, want []port.AuditRecord) {
		t.Helper()
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	equal("waiting", f.waiting(0), all[:3])
	equal("waiting, two", f.waiting(2), all[:2])

	number := func(rs ...port.AuditRecord) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.NumberAudit(f.ctx, rs) })
	}
	first := numbered(port.AuditHead{}, all[0], all[1])
	f.fine("number", number(first...))
	head := f.auditHead()
	if head.Seq != 2 || head.Hash != first[1].Hash || head.Trimmed != 0 {
		t.Errorf("head: %+v", head)
	}
	equal("still waiting", f.waiting(0), all[2:3])
	again, gap := numbered(port.AuditHead{}, all[2]), numbered(port.AuditHead{Seq: 3}, all[2])
	unknown := numbered(head, all[3])
	for what, rs := range map[string][]port.AuditRecord{"a number that is taken": again, "a gap": gap,
		"nothing waiting": unknown} {
		if err := number(rs...); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s: %v", what, err)
		}
	}
	equal("after refusals", f.waiting(0), all[2:3])
	f.update(func(w port.DocumentWriter) error { return w.AppendAudit(f.ctx, all[3]) })
	second := numbered(head, all[2], all[3])
	f.fine("number", number(second...))

	log := append(first, second...)
	equal("ascending", f.audit(port.AuditList{Ascending: true}), log)
	backwards := slices.Clone(log)
	slices.Reverse(backwards)
	equal("newest first", f.audit(port.AuditList{}), backwards)
	for _, c := range []struct {
		list port.AuditList
		want []port.AuditRecord
	}{
		{port.AuditList{Org: f.org}, []port.AuditRecord{log[3], log[0]}},
		{port.AuditList{Org: "org_gone"}, log[2:3]},
		{port.AuditList{Org: "org_other"}, nil},
		{port.AuditList{Actor: port.ActorKey, Limit: 1}, log[3:]},
		{port.AuditList{Actor: port.ActorCLI}, nil},
		{port.AuditList{KeyID: "key_0"}, []port.AuditRecord{log[3], log[1]}},
		{port.AuditList{Action: "do.2"}, log[1:2]},
		{port.AuditList{Target: "číslo/3"}, log[2:3]},
		{port.AuditList{RequestID: "req_4"}, log[3:]},
		{port.AuditList{Since: at(3)}, []port.AuditRecord{log[3], log[2]}},
		{port.AuditList{Until: at(3)}, []port.AuditRecord{log[1], log[0]}},
		{port.AuditList{Refused: true}, []port.AuditRecord{log[2], log[0]}},
		{port.AuditList{Before: 3}, []port.AuditRecord{log[1], log[0]}},
		{port.AuditList{After: 1, Ascending: true, Limit: 2}, log[1:3]},
		{port.AuditList{Org: f.org, KeyID: "key_1", Action: "do.1", Refused: true}, log[:1]},
	} {
		equal(fmt.Sprintf("%+v", c.list), f.audit(c.list), c.want)
	}

	trim := func(n int, limit int) (removed int) {
		t.Helper()
		f.fine("trim", f.s.Update(f.ctx, func(w port.Writer) (err error) {
			removed, err = w.TrimAudit(f.ctx, at(n), limit)
			return err
		}))
		return removed
	}
	if n := trim(1, 10); n != 0 || f.auditHead().Trimmed != 0 {
		t.Errorf("trimmed %d records whose time is not up", n)
	}
	if n := trim(4, 2); n != 2 {
		t.Errorf("trimmed %d of at most 2", n)
	}
	if n := trim(4, 2); n != 1 {
		t.Errorf("trimmed %d of what is left", n)
	}
	equal("trimmed", f.audit(port.AuditList{}), log[3:])
	want := port.AuditHead{Seq: 4, Hash: log[3].Hash, Trimmed: 3, TrimmedHash: log[2].Hash}
	if h := f.auditHead(); h != want {
		t.Errorf("head: %+v, want %+v", h, want)
	}
}

// auditChanged: a transaction knows whether it has changed anything, whatever others in
// its commit did.
func auditChanged(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		if w.Changed() {
			t.Error("a transaction has changed something before it began")
		}
		if _, err := w.Organizations(f.ctx); err != nil {
			return err
		}
		if err := w.TouchKeys(f.ctx, nil); err != nil {
			return err
		}
		if w.Changed() {
			t.Error("reading has changed something")
		}
		if err := w.PutSecret(f.ctx, "x", []byte("1")); err != nil {
			return err
		}
		if !w.Changed() {
			t.Error("a new row has changed nothing")
		}
		return nil
	})
	const org ident.Org = "org_changed"
	for what, write := range map[string]func(w port.DocumentWriter) error{
		"an organization": func(w port.DocumentWriter) error {
			return w.PutOrganization(f.ctx, port.Organization{ID: org, Name: "changed", CreatedAt: at(1)})
		},
		"a key": func(w port.DocumentWriter) error {
			return w.PutKey(f.ctx, port.Key{ID: "key_c", Org: f.org, Kind: ident.Service, Hash: [32]byte{7}, CreatedAt: at(1)})
		},
		"an integration": func(w port.DocumentWriter) error {
			return w.PutIntegration(f.ctx, port.Integration{ID: "int_c", Org: f.org, Name: "c", CreatedAt: at(1)})
		},
		"a partition": func(w port.DocumentWriter) error {
			_, err := w.CreatePartition(f.ctx, port.Documents(f.org, "changed"), port.PartitionRow{CreatedAt: at(1)})
			return err
		},
		"a source": func(w port.DocumentWriter) error { return w.PutSource(f.ctx, sourceRow(f.org, "src_c")) },
		"a job": func(w port.DocumentWriter) error {
			return w.CreateJob(f.ctx, port.Job{ID: "job_c", Org: f.org, Kind: "k", Partition: port.Documents(f.org, "changed"),
				Status: port.JobQueued, CreatedAt: at(1), UpdatedAt: at(1)}, port.JobRequest{})
		},
	} {
		f.update(func(w port.DocumentWriter) error {
			err := write(w)
			if !w.Changed() {
				t.Errorf("%s has changed nothing", what)
			}
			return err
		})
	}
	f.update(func(w port.DocumentWriter) error {
		if err := w.PutSecret(f.ctx, "x", []byte("2")); err != nil { // is there already
			return err
		}
		if w.Changed() {
			t.Error("a row that was kept has changed something")
		}
		return nil
	})
}
