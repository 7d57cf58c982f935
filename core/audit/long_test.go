package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// append stores records of commands in one transaction.
func (l *log) append(n int, at time.Time) {
	l.Helper()
	err := l.Store.Update(context.Background(), func(w port.Writer) error {
		for range n {
			l.made++
			err := w.AppendAudit(context.Background(), port.AuditRecord{ID: fmt.Sprintf("aud_%06d", l.made), At: at,
				Actor: port.ActorCLI, Action: "cli.x", Status: 200})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		l.Fatal(err)
	}
}

// TestALogOfManyPages: what is numbered, verified and taken out some at a time is all there, also where it ends with
// what is read at once.
func TestALogOfManyPages(t *testing.T) {
	l := open(t, audit.Settings{Retention: time.Hour})
	now := time.Now()
	for _, c := range []struct{ more, records int }{{500, 500}, {500, 1000}, {1, 1001}} {
		l.append(c.more, now)
		if v := l.verify(""); !v.Intact || int(v.Records) != c.records || int(v.Last) != c.records {
			t.Fatalf("%+v, want %d records", v, c.records)
		}
		e, err := l.Export(l.operator, audit.TakeOut{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := e.Stream(l.operator, &out); err != nil || strings.Count(out.String(), "\n") != c.records {
			t.Errorf("%d lines, %v; want %d", strings.Count(out.String(), "\n"), err, c.records)
		}
	}
	rs := l.list(l.operator, audit.List{Limit: new(1000)})
	last := l.list(l.operator, audit.List{Limit: new(1000), Cursor: *rs.NextCursor})
	if len(rs.Records) != 1000 || rs.Records[0].Seq != 1001 || len(last.Records) != 1 || last.Records[0].Seq != 1 ||
		last.NextCursor != nil {
		t.Errorf("pages of %d and %d records", len(rs.Records), len(last.Records))
	}
	l.tamper(`DELETE FROM audit WHERE seq = 1000`)
	if v := l.verify(""); v.Intact || *v.Problem != (audit.Problem{Seq: 1000, Kind: "removed"}) || v.Records != 999 {
		t.Errorf("%+v, %+v", v, v.Problem)
	}
	l.tamper(`UPDATE audit SET seq = 1000 WHERE seq = 1001`)
	if v := l.verify(""); v.Intact || *v.Problem != (audit.Problem{Seq: 1000, Kind: "changed"}) {
		t.Errorf("%+v, %+v", v, v.Problem)
	}
	// What is too old goes, however much it is.
	l.append(4000, now)
	if err := l.Number(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.ahead = time.Hour + time.Minute
	l.trim()
	if rs := l.list(l.operator, audit.List{}); len(rs.Records) != 0 {
		t.Errorf("%d are left", len(rs.Records))
	}
}

// TestWhichRefusalsAreRecorded: those that are the caller's, from the first to the last of the statuses of these.
func TestWhichRefusalsAreRecorded(t *testing.T) {
	l := open(t, audit.Settings{})
	var want []int
	for _, c := range []struct {
		code   fault.Code
		status int // 0: not recorded
	}{
		{fault.InvalidRequest, 400}, {fault.Unauthorized, 401}, {fault.RateLimited, 429}, {fault.Canceled, 499},
		{fault.Internal, 0}, {fault.Unavailable, 0}, {fault.Timeout, 0},
	} {
		call := &op.Call{Spec: &op.Spec{Name: "admin.x", Family: op.Administration}}
		ctx, e := l.Begin(context.Background(), call)
		if err := l.End(ctx, e, call, fault.New(c.code, "no")); err != nil {
			t.Error(err)
		}
		if c.status != 0 {
			want = append(want, c.status)
		}
	}
	var got []int
	for _, r := range l.list(l.operator, audit.List{}).Records {
		got = append(got, r.Status)
	}
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// TestAnOrganizationOfAFilterIsFound: by id or name where it is one, and what can be neither is no organization.
func TestAnOrganizationOfAFilterIsFound(t *testing.T) {
	l := open(t, audit.Settings{})
	for ref, code := range map[string]fault.Code{
		"default": "", "": "", "org_deleted": "", "org_!~": "", "org_" + strings.Repeat("x", 124): "",
		"org_" + strings.Repeat("x", 125): fault.NotFound, "nobody": fault.NotFound, "org_a b": fault.NotFound,
		"org_\x7f": fault.NotFound, "org_ü": fault.NotFound, "org_\n": fault.NotFound,
	} {
		if _, err := l.List(l.operator, audit.List{Filter: audit.Filter{Organization: ref}}); fault.CodeOf(err) != code {
			t.Errorf("%q: %v, want %q", ref, err, code)
		}
	}
}
