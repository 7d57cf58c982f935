package audit_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// log is an audit log over a store that records, with the keys of who reads it.
type log struct {
	*testing.T
	*coretest.Fixture
	*audit.Service
	records  port.DocumentStore
	operator context.Context
	own      context.Context // an administrator of "default"
	ahead    time.Duration
	made     int // records, by append
}

func open(t *testing.T, s audit.Settings) *log {
	t.Helper()
	l := &log{T: t, Fixture: coretest.New(t, coretest.Options{})}
	s.Store, s.Pages, s.Secret = l.Store, l.Pages, []byte("a secret")
	s.Now = func() time.Time { return time.Now().Add(l.ahead) }
	l.Service, l.records = audit.New(s), audit.Recording(l.Store)
	l.operator = l.Caller(key.Issue{Kind: ident.Admin, AllOrganizations: true})
	l.own = l.Caller(key.Issue{Kind: ident.Admin})
	return l
}

// entry carries a new entry of an action.
func entry(action string) (context.Context, *port.AuditEntry) {
	ctx := audit.ByCommand(context.Background(), action)
	return ctx, port.AuditOf(ctx)
}

func put(name string) func(port.Writer) error {
	return func(w port.Writer) error { return w.PutSecret(context.Background(), name, []byte(name)) }
}

// actions reads the log as somebody, oldest first.
func (l *log) actions(ctx context.Context, in audit.List) []string {
	l.Helper()
	out := []string{}
	for _, r := range l.list(ctx, in).Records {
		out = append(out, r.Action)
	}
	slices.Reverse(out)
	return out
}

func (l *log) list(ctx context.Context, in audit.List) audit.Records {
	l.Helper()
	rs, err := l.List(ctx, in)
	if err != nil {
		l.Fatalf("list: %v", err)
	}
	return rs
}

func (l *log) verify(known string) audit.Verification {
	l.Helper()
	v, err := l.Verify(l.operator, audit.Verify{Known: known})
	if err != nil {
		l.Fatalf("verify: %v", err)
	}
	return v
}

// TestARecordIsStoredWithTheChangeAndOnce: the first transaction that changes a row has it;
// one that is rolled back, that changes nothing or that comes later has none.
func TestARecordIsStoredWithTheChangeAndOnce(t *testing.T) {
	l := open(t, audit.Settings{})
	ctx, e := entry("one")
	refused := errors.New("refused")
	err := l.records.Update(ctx, func(w port.Writer) error { return errors.Join(put("a")(w), refused) })
	if !errors.Is(err, refused) || e.Stored() {
		t.Fatalf("rolled back: %v, stored %v", err, e.Stored())
	}
	if err := l.records.Update(ctx, func(w port.Writer) error { _, err := w.Now(ctx); return err }); err != nil || e.Stored() {
		t.Fatalf("nothing changed: %v, stored %v", err, e.Stored())
	}
	if got := l.actions(l.operator, audit.List{}); len(got) != 0 {
		t.Fatalf("recorded without a change: %v", got)
	}
	for i := range 3 {
		err := l.records.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return put(fmt.Sprint("b", i))(w) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := l.actions(l.operator, audit.List{}); !slices.Equal(got, []string{"cli.one"}) || !e.Stored() {
		t.Errorf("three changes of one entry: %v, stored %v", got, e.Stored())
	}
	if err := l.records.Update(context.Background(), put("c")); err != nil {
		t.Fatal(err)
	}
	if got := l.actions(l.operator, audit.List{}); len(got) != 1 {
		t.Errorf("a change without an entry was recorded: %v", got)
	}
}

// TestConcurrentTransactionsOfOneEntryAreRecordedOnce: whichever of them is first.
func TestConcurrentTransactionsOfOneEntryAreRecordedOnce(t *testing.T) {
	l := open(t, audit.Settings{})
	ctx, _ := entry("many")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := l.records.Update(ctx, put(fmt.Sprint("x", i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := l.actions(l.operator, audit.List{}); len(got) != 1 {
		t.Errorf("recorded as %v", got)
	}
}

// full is a store that takes no records.
type full struct{ port.DocumentStore }

type fullWriter struct{ port.DocumentWriter }

func (fullWriter) AppendAudit(context.Context, port.AuditRecord) error {
	return errors.New("no space left")
}

func (s full) Update(ctx context.Context, fn func(port.Writer) error) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

func (s full) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	return s.DocumentStore.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(fullWriter{w}) })
}

// TestAChangeWithoutItsRecordIsNotMade: it is rolled back, and answers 503.
func TestAChangeWithoutItsRecordIsNotMade(t *testing.T) {
	l := open(t, audit.Settings{})
	ctx, e := entry("one")
	err := audit.Recording(full{l.Store}).Update(ctx, put("a"))
	if fault.CodeOf(err) != fault.Unavailable || e.Stored() {
		t.Errorf("%v, stored %v", err, e.Stored())
	}
	err = l.Store.View(ctx, func(r port.Reader) error { _, err := r.Secret(ctx, "a"); return err })
	if fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the change was made all the same: %v", err)
	}
	broken := audit.New(audit.Settings{Store: full{l.Store}, Pages: l.Pages})
	for _, c := range []struct {
		family op.Family
		want   fault.Code
	}{{op.Administration, fault.Unavailable}, {op.Namespace, ""}} {
		call := &op.Call{Spec: &op.Spec{Name: "change", Family: c.family, Mutates: true}}
		ctx, e := broken.Begin(context.Background(), call)
		err := broken.End(ctx, e, call, nil)
		if got := fault.CodeOf(err); err == nil && c.want != "" || err != nil && got != c.want {
			t.Errorf("family %v without a change: %v, want %q", c.family, err, c.want)
		}
	}
}

// TestLevels: which operations are recorded.
func TestLevels(t *testing.T) {
	specs := []op.Spec{
		{Name: "read", Method: "GET", Path: "/namespaces"},
		{Name: "admin read", Method: "GET", Path: "/admin/v1/jobs", Family: op.Administration},
		{Name: "admin change", Method: "POST", Path: "/admin/v1/organizations", Family: op.Administration, Mutates: true},
		{Name: "write", Method: "POST", Path: "/namespaces/{namespace}/documents", Mutates: true},
		{Name: "delete", Method: "DELETE", Path: "/namespaces/{namespace}", Mutates: true},
		{Name: "delete by post", Method: "POST", Path: "/namespaces/{namespace}/documents/delete", Mutates: true},
		{Name: "erase", Method: "POST", Path: "/users/{id}/erase", Mutates: true},
		{Name: "apply deletions", Method: "POST", Path: "/sources/{id}/apply_deletions", Mutates: true},
		{Name: "tool", Tool: &op.Tool{}, Mutates: true},
		{Name: "destructive tool", Tool: &op.Tool{Destructive: true}, Mutates: true},
	}
	administers := []string{"admin read", "admin change"}
	deletes := []string{"delete", "delete by post", "erase", "apply deletions", "destructive tool"}
	for level, want := range map[audit.Level][]string{
		"":            administers,
		audit.Admin:   administers,
		audit.Deletes: slices.Concat(administers, deletes),
		audit.All:     slices.Concat(administers, deletes, []string{"write", "tool"}),
	} {
		s := audit.New(audit.Settings{Store: &coretest.Store{}, Level: level})
		for _, o := range specs {
			if got := s.Covers(&o); got != slices.Contains(want, o.Name) {
				t.Errorf("level %q: %s is recorded: %v", level, o.Name, got)
			}
		}
	}
}

// jobs appends the ends of jobs.
func (l *log) jobs(rows ...port.Job) {
	l.Helper()
	for _, j := range rows {
		err := l.Store.Update(context.Background(), func(w port.Writer) error { return l.JobEnded(context.Background(), w, j) })
		if err != nil {
			l.Fatal(err)
		}
	}
}

// TestEndsOfJobs: those that administer at any level, others at the highest.
func TestEndsOfJobs(t *testing.T) {
	all := []port.Job{
		{ID: "job_1", Org: "org_1", Kind: "reindex", Status: port.JobSucceeded},
		{ID: "job_2", Org: "org_1", Kind: "reindex", Status: port.JobFailed, Error: &port.JobError{Code: "conflict"}},
		{ID: "job_3", Org: "org_2", Kind: "reindex", Status: port.JobCancelled},
		{ID: "job_4", Org: "org_2", Kind: "write", Status: port.JobSucceeded},
	}
	for level, want := range map[audit.Level]string{
		audit.Deletes: "job_1 200 job_2 409 job_3 499",
		audit.All:     "job_1 200 job_2 409 job_3 499 job_4 200",
	} {
		l := open(t, audit.Settings{Level: level, AdminJobs: []string{"reindex"}})
		l.jobs(all...)
		var got []string
		rs := l.list(l.operator, audit.List{}).Records
		slices.Reverse(rs)
		for _, r := range rs {
			got = append(got, *r.Target, fmt.Sprint(r.Status))
			if r.Actor != "system" || r.KeyID != nil || !strings.HasPrefix(r.Action, "job.") || r.Organization == nil {
				t.Errorf("record of a job: %+v", r)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("level %s: %v, want %s", level, got, want)
		}
	}
}

// fill records some commands and has them numbered.
func (l *log) fill(actions ...string) {
	l.Helper()
	for i, a := range actions {
		ctx, e := entry(a)
		e.About(ident.Org([]string{"org_a", "org_b"}[i%2]))
		if err := l.records.Update(ctx, put(a+fmt.Sprint(time.Now().UnixNano(), i))); err != nil {
			l.Fatal(err)
		}
	}
	if err := l.Number(context.Background()); err != nil {
		l.Fatal(err)
	}
}

// tamper changes the database past the program.
func (l *log) tamper(statements ...string) {
	l.Helper()
	db, err := sql.Open("sqlite", filepath.Join(l.Dir, "mneme.db"))
	if err != nil {
		l.Fatal(err)
	}
	defer db.Close()
	for _, s := range append([]string{"PRAGMA busy_timeout = 20000"}, statements...) {
		if _, err := db.Exec(s); err != nil {
			l.Fatalf("%s: %v", s, err)
		}
	}
}

// TestVerifyNoticesWhatWasDoneToTheLog: each way to change it shows, at its record.
func TestVerifyNoticesWhatWasDoneToTheLog(t *testing.T) {
	const copyOf = `INSERT INTO audit SELECT %s, id, at, org, actor, key_id, action, target, request_id, status, fields, ` +
		`previous, hash FROM audit WHERE seq = 2`
	for _, c := range []struct {
		name string
		do   []string
		want audit.Problem
	}{
		{"removed from the middle", []string{`DELETE FROM audit WHERE seq = 3`}, audit.Problem{Seq: 3, Kind: "removed"}},
		{"removed at the start", []string{`DELETE FROM audit WHERE seq <= 2`}, audit.Problem{Seq: 1, Kind: "removed"}},
		{"removed at the end", []string{`DELETE FROM audit WHERE seq >= 4`}, audit.Problem{Seq: 4, Kind: "removed"}},
		{"another action", []string{`UPDATE audit SET action = 'x' WHERE seq = 2`}, audit.Problem{Seq: 2, Kind: "changed"}},
		{"another status", []string{`UPDATE audit SET status = 201 WHERE seq = 2`}, audit.Problem{Seq: 2, Kind: "changed"}},
		{"another time", []string{`UPDATE audit SET at = at + 1 WHERE seq = 5`}, audit.Problem{Seq: 5, Kind: "changed"}},
		{"another hash", []string{`UPDATE audit SET hash = x'00' WHERE seq = 4`}, audit.Problem{Seq: 4, Kind: "changed"}},
		{"another end", []string{`UPDATE audit_head SET hash = x'00'`}, audit.Problem{Seq: 5, Kind: "changed"}},
		{"put behind the end", []string{fmt.Sprintf(copyOf, "6")}, audit.Problem{Seq: 6, Kind: "inserted"}},
		{"put in", []string{`UPDATE audit SET seq = seq + 100 WHERE seq > 3`, `UPDATE audit SET seq = seq - 99 WHERE seq > 100`,
			fmt.Sprintf(copyOf, "4"), `UPDATE audit_head SET seq = 6`}, audit.Problem{Seq: 4, Kind: "changed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, audit.Settings{})
			l.fill("a", "b", "c", "d", "e")
			if v := l.verify(""); !v.Intact || v.Records != 5 || v.Last != 5 || v.Problem != nil || v.Trimmed != 0 {
				t.Fatalf("as it was written: %+v", v)
			}
			l.tamper(c.do...)
			if v := l.verify(""); v.Intact || v.Problem == nil || *v.Problem != c.want {
				t.Errorf("%+v, want %+v", v.Problem, c.want)
			}
		})
	}
}

// TestALogMadeAnewDoesNotFitWhatIsKnownOfIt: hashes that fit each other are not enough.
func TestALogMadeAnewDoesNotFitWhatIsKnownOfIt(t *testing.T) {
	l, other := open(t, audit.Settings{}), open(t, audit.Settings{})
	l.fill("a", "b")
	other.fill("a", "b", "c")
	v := l.verify("")
	mine := fmt.Sprintf("%d:%s", v.Last, v.Hash)
	l.fill("c")
	if v := l.verify(mine); !v.Intact || v.Records != 3 {
		t.Errorf("with its own hash: %+v", v)
	}
	if v := other.verify(mine); v.Intact || *v.Problem != (audit.Problem{Seq: 2, Kind: "changed"}) {
		t.Errorf("with another's hash: %+v", v)
	}
	if v := l.verify("9:" + v.Hash); v.Intact || *v.Problem != (audit.Problem{Seq: 9, Kind: "removed"}) {
		t.Errorf("with a number that is not reached: %+v", v)
	}
	if _, err := l.Verify(l.own, audit.Verify{}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("verified by an administrator of one organization: %v", err)
	}
}

// TestRetention: what is old goes, and the chain goes on from it.
func TestRetention(t *testing.T) {
	l := open(t, audit.Settings{Retention: 48 * time.Hour})
	l.fill("a", "b")
	first := l.verify("")
	l.ahead = 47 * time.Hour
	l.trim()
	if v := l.verify(""); v.Trimmed != 0 || v.Records != 2 {
		t.Errorf("trimmed too early: %+v", v)
	}
	l.ahead = 49 * time.Hour
	l.trim()
	l.fill("c")
	v := l.verify(fmt.Sprintf("%d:%s", first.Last, first.Hash))
	if !v.Intact || v.Trimmed != 2 || v.Records != 1 || v.Last != 3 {
		t.Errorf("trimmed: %+v", v)
	}
	if v := l.verify("2:" + strings.Repeat("0", 64)); v.Intact || *v.Problem != (audit.Problem{Seq: 2, Kind: "changed"}) {
		t.Errorf("with a wrong hash of the last that was trimmed: %+v", v)
	}
	if got := l.actions(l.operator, audit.List{}); !slices.Equal(got, []string{"cli.c"}) {
		t.Errorf("left: %v", got)
	}
}

func (l *log) trim() {
	l.Helper()
	if err := l.Trim(context.Background()); err != nil {
		l.Fatal(err)
	}
}

// TestNumbersFollowEachOtherWhoeverGivesThem: several processes at once, with readers who
// never see a record below one that they have seen.
func TestNumbersFollowEachOtherWhoeverGivesThem(t *testing.T) {
	l := open(t, audit.Settings{})
	var writers, readers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() {
			for i := range 10 {
				ctx, _ := entry(fmt.Sprint("w", n))
				if err := l.records.Update(ctx, put(fmt.Sprint("n", n, "-", i))); err != nil {
					t.Error(err)
				}
				if err := l.Number(context.Background()); err != nil && fault.CodeOf(err) != fault.Conflict {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	readers.Go(func() {
		seen := map[uint64]string{}
		for last := false; ; {
			rs := l.list(l.operator, audit.List{Limit: new(1000)}).Records
			for i, r := range rs {
				if want := uint64(len(rs) - i); r.Seq != want {
					t.Errorf("number %d at the place of %d", r.Seq, want)
				}
				if id, ok := seen[r.Seq]; ok && id != r.ID {
					t.Errorf("number %d is of %s and of %s", r.Seq, id, r.ID)
				}
				seen[r.Seq] = r.ID
			}
			if last {
				if len(rs) != 40 {
					t.Errorf("%d records", len(rs))
				}
				return
			}
			select {
			case <-done:
				last = true
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	if v := l.verify(""); !v.Intact || v.Records != 40 {
		t.Errorf("%+v", v)
	}
}

// TestWhoSeesWhat: an administrator of one organization sees that one's records.
func TestWhoSeesWhat(t *testing.T) {
	l := open(t, audit.Settings{})
	who := ident.From(l.own)
	for action, org := range map[string]ident.Org{"mine": who.Org, "theirs": "org_other", "nobodys": ""} {
		ctx, e := entry(action)
		e.About(org)
		if err := l.records.Update(ctx, put(action)); err != nil {
			t.Fatal(err)
		}
	}
	sorted := func(ctx context.Context, in audit.List) string {
		got := l.actions(ctx, in)
		slices.Sort(got)
		return strings.Join(got, " ")
	}
	for _, c := range []struct {
		what string
		ctx  context.Context
		org  string
		want string
	}{
		{"an administrator", l.own, "", "cli.mine"},
		{"an administrator, by name", l.own, ident.DefaultOrg, "cli.mine"},
		{"an operator", l.operator, "", "cli.mine cli.nobodys cli.theirs"},
		{"an operator, of one", l.operator, string(who.Org), "cli.mine"},
		{"an operator, of one that is gone", l.operator, "org_other", "cli.theirs"},
	} {
		if got := sorted(c.ctx, audit.List{Filter: audit.Filter{Organization: c.org}}); got != c.want {
			t.Errorf("%s sees %s, want %s", c.what, got, c.want)
		}
	}
	for ref, ctx := range map[string]context.Context{"org_other": l.own, "acme": l.own, "nobody": l.operator, "ÿ": l.operator} {
		_, err := l.List(ctx, audit.List{Filter: audit.Filter{Organization: ref}})
		if fault.CodeOf(err) != fault.NotFound {
			t.Errorf("organization %q: %v", ref, err)
		}
	}
}

// TestPages: every record once, newest first, whatever is recorded in between.
func TestPages(t *testing.T) {
	l := open(t, audit.Settings{})
	l.fill("a", "b", "c", "d", "e")
	in, got := audit.List{Limit: new(2)}, []string{}
	for {
		page := l.list(l.operator, in)
		for _, r := range page.Records {
			got = append(got, r.Action)
		}
		if page.NextCursor == nil {
			break
		}
		in.Cursor = *page.NextCursor
		l.fill("late")
	}
	if want := []string{"cli.e", "cli.d", "cli.c", "cli.b", "cli.a"}; !slices.Equal(got, want) {
		t.Errorf("pages: %v", got)
	}
	in.Actor = "cli"
	if _, err := l.List(l.operator, in); fault.CodeOf(err) != fault.InvalidCursor {
		t.Errorf("the cursor of another list: %v", err)
	}
}

// TestFilters: what each keeps.
func TestFilters(t *testing.T) {
	l := open(t, audit.Settings{AdminJobs: []string{"reindex"}})
	org := string(ident.From(l.own).Org)
	call := &op.Call{Spec: &op.Spec{Name: "admin.x", Family: op.Administration, Mutates: true}, RequestID: "req_7",
		Caller: ident.From(l.own)}
	ctx, e := l.Begin(context.Background(), call)
	e.Made("thing_1")
	if err := l.End(ctx, e, call, nil); err != nil {
		t.Fatal(err)
	}
	l.ahead = time.Hour
	call.RequestID = "req_8"
	ctx, e = l.Begin(context.Background(), call)
	e.Made(l.EndUser(ident.Org(org), "ann"))
	if err := l.End(ctx, e, call, fault.New(fault.Conflict, "no")); err != nil {
		t.Fatal(err)
	}
	l.jobs(port.Job{ID: "job_1", Org: ident.Org(org), Kind: "reindex", Status: port.JobSucceeded})
	middle := time.Now().Add(30 * time.Minute).UTC().Format(time.RFC3339)
	first, second, third := "admin.x req_7", "admin.x req_8", "job.reindex"
	for _, c := range []struct {
		f    audit.Filter
		want []string
	}{
		{audit.Filter{}, []string{third, second, first}},
		{audit.Filter{Actor: "system"}, []string{third}},
		{audit.Filter{KeyID: ident.From(l.own).KeyID}, []string{second, first}},
		{audit.Filter{Action: "job.reindex"}, []string{third}},
		{audit.Filter{Target: "thing_1"}, []string{first}},
		{audit.Filter{EndUserID: "ann"}, []string{second}},
		{audit.Filter{EndUserID: "bob"}, nil},
		{audit.Filter{RequestID: "req_7"}, []string{first}},
		{audit.Filter{Refused: true}, []string{second}},
		{audit.Filter{Since: &middle}, []string{third, second}},
		{audit.Filter{Until: &middle}, []string{first}},
	} {
		var got []string
		for _, r := range l.list(l.own, audit.List{Filter: c.f}).Records {
			name := r.Action
			if r.RequestID != nil {
				name += " " + *r.RequestID
			}
			got = append(got, name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
	if got := l.actions(l.operator, audit.List{Filter: audit.Filter{EndUserID: "ann"}}); !slices.Equal(got, []string{"admin.x"}) {
		t.Errorf("an end user of the key's own organization: %v", got)
	}
	for _, at := range []string{"", "yesterday", "2026-13-01T00:00:00Z"} {
		for _, f := range []audit.Filter{{Since: &at}, {Until: &at}} {
			if err := f.Validate(); fault.CodeOf(err) != fault.InvalidRequest {
				t.Errorf("%q is taken: %v", at, err)
			}
		}
	}
}

// TestExports: the same records in both forms, and what the list shows.
func TestExports(t *testing.T) {
	l := open(t, audit.Settings{})
	actions := make([]string, 12)
	for i := range actions {
		actions[i] = fmt.Sprintf("do %02d", i)
	}
	l.fill(actions...)
	var lines, table bytes.Buffer
	e, err := l.Export(l.operator, audit.TakeOut{})
	if err == nil {
		err = e.Stream(l.operator, &lines)
	}
	c, err2 := l.ExportCSV(l.operator, audit.TakeOut{})
	if err2 == nil {
		err2 = c.Stream(l.operator, &table)
	}
	if err != nil || err2 != nil || e.ContentType() != "application/x-ndjson" || c.ContentType() != "text/csv" {
		t.Fatal(err, err2, e.ContentType(), c.ContentType())
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 13 || rows[0][0] != "seq" || len(rows[0]) != 13 {
		t.Fatalf("%d rows, %v: %v", len(rows), err, rows[0])
	}
	shown := l.list(l.operator, audit.List{}).Records
	slices.Reverse(shown)
	dec := json.NewDecoder(&lines)
	for i := range 12 {
		var r audit.Record
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", deref(r)) != fmt.Sprintf("%+v", deref(shown[i])) || r.Action != fmt.Sprintf("cli.do.%02d", i) {
			t.Errorf("exported %+v, listed %+v", r, shown[i])
		}
		want := []string{fmt.Sprint(r.Seq), r.ID, r.At, *r.Organization, "cli", "", r.Action, "", "", "200", "", r.Previous,
			r.Hash}
		if !slices.Equal(rows[i+1], want) {
			t.Errorf("row %v, want %v", rows[i+1], want)
		}
	}
	if dec.More() {
		t.Error("there are more lines")
	}
}

func deref(r audit.Record) string {
	b, _ := json.Marshal(r)
	return string(b)
}

// TestRefusalsOfAFloodAreBounded: what nobody may do cannot fill the store.
func TestRefusalsOfAFloodAreBounded(t *testing.T) {
	l := open(t, audit.Settings{})
	call := &op.Call{Spec: &op.Spec{Name: "admin.x", Family: op.Administration}}
	for range 650 {
		ctx, e := l.Begin(context.Background(), call)
		if err := l.End(ctx, e, call, fault.New(fault.Unauthorized, "no")); err != nil {
			t.Fatal(err)
		}
	}
	l.ahead = 2 * time.Minute
	ctx, e := l.Begin(context.Background(), call)
	if err := l.End(ctx, e, call, fault.New(fault.Forbidden, "no")); err != nil {
		t.Fatal(err)
	}
	rs := l.list(l.operator, audit.List{Limit: new(1000)}).Records
	if len(rs) != 601 || rs[0].Status != 403 || rs[1].Status != 401 || rs[1].Actor != "anonymous" || rs[1].Organization != nil {
		t.Errorf("%d records, the last %+v", len(rs), rs[:min(2, len(rs))])
	}
}

// TestFailuresOfTheServerAreNoRefusals: and neither are those of others than administrators.
func TestFailuresOfTheServerAreNoRefusals(t *testing.T) {
	l := open(t, audit.Settings{Level: audit.All})
	for _, c := range []struct {
		spec op.Spec
		err  error
		want int
	}{
		{op.Spec{Name: "x", Family: op.Administration, Mutates: true}, fault.New(fault.Unavailable, "no"), 0},
		{op.Spec{Name: "x", Family: op.Administration, Mutates: true}, fault.New(fault.NotFound, "no"), 1},
		{op.Spec{Name: "x", Family: op.Administration}, nil, 1},
		{op.Spec{Name: "x", Mutates: true}, fault.New(fault.Forbidden, "no"), 1},
		{op.Spec{Name: "x", Mutates: true, Success: 201}, nil, 2},
	} {
		call := &op.Call{Spec: &c.spec}
		ctx, e := l.Begin(context.Background(), call)
		if err := l.End(ctx, e, call, c.err); err != nil {
			t.Error(err)
		}
		if got := port.AuditOf(ctx); got == nil || got.Reads == c.spec.Mutates {
			t.Errorf("%+v carries %v", c.spec, got)
		}
		rs := l.list(l.operator, audit.List{}).Records
		if len(rs) != c.want {
			t.Errorf("%+v, %v: %d records, want %d", c.spec, c.err, len(rs), c.want)
		}
		if c.spec.Success != 0 && rs[0].Status != c.spec.Success {
			t.Errorf("status %d", rs[0].Status)
		}
	}
}

// TestARefusedReadIsOfWhomItAsksAbout: the record stands with the organization that is asked about, and
// what is stored below a call that reads is not recorded as that call.
func TestARefusedReadIsOfWhomItAsksAbout(t *testing.T) {
	l := open(t, audit.Settings{})
	call := &op.Call{Spec: &op.Spec{Name: "read", Method: "GET", Path: "/x", Family: op.Administration},
		Caller: ident.From(l.operator)}
	ctx, e := l.Begin(l.operator, call)
	port.AuditOf(ctx).About("others")
	if e.Take() {
		t.Error("a transaction takes the entry of a call that reads")
	}
	if err := l.End(ctx, e, call, fault.New(fault.NotFound, "no")); err != nil {
		t.Fatal(err)
	}
	rs := l.list(l.operator, audit.List{}).Records
	if len(rs) != 1 || rs[0].Action != "read" || rs[0].Status != 404 || rs[0].Organization == nil ||
		*rs[0].Organization != "others" {
		t.Errorf("recorded: %+v", rs)
	}
}

// input is a request with something of every kind.
type input struct {
	Org    string `path:"org" json:"-"`
	ID     string `path:"id" json:"-"`
	Name   string `json:"name,omitempty"`
	Secret *bool  `json:"secret"`
	Left   string `json:"left"`
	Asked  string `query:"asked" json:"-"`
	inner
}

type inner struct {
	Limits []int `json:"limits"`
}

func (input) EndUser() string { return "ann" }

// TestWhatARecordSaysOfACall: names of fields and what the path names, no value.
func TestWhatARecordSaysOfACall(t *testing.T) {
	s := audit.New(audit.Settings{Store: &coretest.Store{}, Secret: []byte("a")})
	in := &input{Org: "acme", ID: "key_1", Name: "value", Secret: new(bool), Asked: "value", inner: inner{Limits: []int{1}}}
	user := s.EndUser("org_1", "ann")
	if user == s.EndUser("org_2", "ann") || user == s.EndUser("org_1", "bob") || strings.Contains(user, "ann") ||
		user == audit.New(audit.Settings{Store: &coretest.Store{}, Secret: []byte("b")}).EndUser("org_1", "ann") {
		t.Errorf("the hash of an end user does not depend on all that it should: %s", user)
	}
	for _, c := range []struct {
		spec      op.Spec
		namespace string
		in        any
		want      string
	}{
		{op.Spec{Path: "/organizations/{org}"}, "", in, "acme"},
		{op.Spec{Path: "/organizations/{org}/keys/{id}"}, "", in, "key_1"},
		{op.Spec{Path: "/runs/{id}/{org}"}, "", in, "key_1"},
		{op.Spec{Path: "/end_users/{id}/erase", Group: op.AdminEndUsers}, "", in, s.EndUser("org_1", "key_1")},
		{op.Spec{Path: "/api/v1/memories/{org}", Family: op.Memory}, "", in, user},
		{op.Spec{Path: "/api/v1/grants/{id}", Family: op.Memory}, "", in, "key_1/" + user},
		{op.Spec{Path: "/namespaces"}, "docs", in, "docs"},
		{op.Spec{Path: "/jobs"}, "", in, ""},
		{op.Spec{Path: "/jobs/{id}"}, "", nil, ""},
	} {
		call := &op.Call{Spec: &c.spec, Namespace: c.namespace, Input: c.in,
			Caller: ident.Principal{KeyID: "key_0", Org: "org_1"}}
		_, e := s.Begin(context.Background(), call)
		r := e.Record()
		if r.Target != c.want || r.Org != "org_1" || r.Actor != port.ActorKey || r.KeyID != "key_0" || r.Status != 200 {
			t.Errorf("%s: %+v, want %s", c.spec.Path, r, c.want)
		}
		if want := []string{"name", "secret", "limits"}; c.in != nil && !slices.Equal(r.Fields, want) {
			t.Errorf("%s: fields %v", c.spec.Path, r.Fields)
		}
		e.Made("made_1")
		e.About("org_9")
		if r := e.Record(); r.Target != "made_1" || r.Org != "org_9" {
			t.Errorf("what the service says does not go first: %+v", r)
		}
	}
}

// TestRunNumbersWhatIsRecorded: without anybody reading.
func TestRunNumbersWhatIsRecorded(t *testing.T) {
	l := open(t, audit.Settings{})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.Service.Run(ctx) })
	defer running.Wait()
	defer stop()
	call := &op.Call{Spec: &op.Spec{Name: "x", Mutates: true}}
	c, e := l.Begin(ctx, call)
	if err := l.records.Update(c, put("a")); err != nil {
		t.Fatal(err)
	}
	if err := l.End(c, e, call, nil); err != nil {
		t.Fatal(err)
	}
	for {
		var h port.AuditHead
		if err := l.Store.View(ctx, func(r port.Reader) (err error) { h, err = r.AuditHead(ctx); return err }); err != nil {
			t.Fatal(err)
		}
		if h.Seq == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// run has a log do its own work until the test says that something is so.
func (l *log) run(s *audit.Service, until func() bool) {
	l.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	for !until() {
		if time.Sleep(time.Millisecond); l.T.Context().Err() != nil {
			l.Fatal("it never is so")
		}
	}
	stop()
	running.Wait()
}

// TestRunForgetsWhatIsOld: a server does so when it starts, and says nothing of what goes well.
func TestRunForgetsWhatIsOld(t *testing.T) {
	var said coretest.Lines
	l := open(t, audit.Settings{Retention: time.Hour, Log: said.Logger()})
	l.fill("a")
	l.ahead = 2 * time.Hour
	ctx, e := entry("b")
	if err := l.records.Update(ctx, put("b")); err != nil || !e.Stored() {
		t.Fatal(err)
	}
	l.run(l.Service, func() bool {
		done := false
		err := l.Store.View(ctx, func(r port.Reader) error {
			head, err := r.AuditHead(ctx)
			done = head.Trimmed == 1 && head.Seq == 2
			return err
		})
		return err == nil && done
	})
	if said.String() != "" {
		t.Errorf("all is well, and said is %s", &said)
	}
}

// TestRunSaysWhatFails: and goes on.
func TestRunSaysWhatFails(t *testing.T) {
	var said coretest.Lines
	l := open(t, audit.Settings{Log: said.Logger()})
	away := func() error { return errors.New("the database is away") }
	l.Store.OnBackgroundUpdate.Set(away)
	l.Store.OnView.Set(away)
	if err := l.Note(context.Background(), port.AuditRecord{Actor: port.ActorAnonymous}); err == nil { // which wakes it
		t.Error("a note that is not stored is well")
	}
	l.run(l.Service, func() bool {
		return strings.Contains(said.String(), "audit log not trimmed") &&
			strings.Contains(said.String(), "audit records not numbered")
	})
	l.Store.OnBackgroundUpdate.Clear()
	l.Store.OnView.Clear()
}

// TestWhatIsRecordedIsNotSaid: the log of the server names only what could not be recorded.
func TestWhatIsRecordedIsNotSaid(t *testing.T) {
	var said coretest.Lines
	l := open(t, audit.Settings{Log: said.Logger()})
	call := &op.Call{Spec: &op.Spec{Name: "change", Method: "POST", Path: "/admin/v1/organizations",
		Family: op.Administration, Mutates: true}}
	end := func(s *audit.Service, c *op.Call, err error) {
		t.Helper()
		ctx, e := s.Begin(l.own, c)
		if err := s.End(ctx, e, c, err); err != nil {
			t.Errorf("the end of %s: %v", c.Spec.Name, err)
		}
	}
	end(l.Service, call, nil)
	end(l.Service, call, fault.New(fault.Forbidden, "no"))
	if err := l.Note(context.Background(), port.AuditRecord{Actor: port.ActorAnonymous, Action: "session.begin", Status: 401,
		Org: ident.From(l.own).Org}); err != nil {
		t.Errorf("a note: %v", err)
	}
	if said.String() != "" {
		t.Errorf("all is recorded, and said is %s", &said)
	}
	rs := l.list(l.operator, audit.List{Limit: new(3)})
	if len(rs.Records) != 3 || rs.NextCursor != nil {
		t.Fatalf("recorded: %+v", rs)
	}
	if n := rs.Records[0]; n.Action != "session.begin" || n.Status != 401 || n.ID == "" || n.At == "" || n.Fields == nil {
		t.Errorf("noted as %+v", n)
	}

	broken := audit.New(audit.Settings{Store: full{l.Store}, Pages: l.Pages, Log: said.Logger()})
	write := &op.Call{Spec: &op.Spec{Name: "write", Method: "POST", Path: "/n", Mutates: true}}
	end(broken, write, nil)
	end(broken, call, fault.New(fault.Forbidden, "no"))
	if n := strings.Count(said.String(), "audit record not stored"); n != 2 {
		t.Errorf("two records are not stored, and said is %s", &said)
	}
	if broken.Note(context.Background(), port.AuditRecord{Actor: port.ActorAnonymous}) == nil {
		t.Error("a note that is not stored is well")
	}
}

// TestCommands: one that has changed the store in its own way leaves its record with its end.
func TestCommands(t *testing.T) {
	l := open(t, audit.Settings{})
	ctx := context.Background()
	for _, err := range []error{nil, fault.New(fault.Conflict, "no")} {
		if err := audit.CommandEnded(ctx, l.Store, "copy all", "to", err); err != nil {
			t.Fatal(err)
		}
	}
	rs := l.list(l.operator, audit.List{}).Records
	if len(rs) != 2 || rs[1].Status != 200 || rs[0].Status != 409 || rs[0].Action != "cli.copy.all" || *rs[0].Target != "to" ||
		rs[0].Actor != "cli" {
		t.Errorf("recorded: %+v", rs)
	}
}

// TestFiltersOfNoTime: and those of a time are taken.
func TestFiltersOfNoTime(t *testing.T) {
	l := open(t, audit.Settings{})
	for text, well := range map[string]bool{"yesterday": false, "2026-01-02T03:04:05Z": true} {
		for what, f := range map[string]audit.Filter{"since": {Since: &text}, "until": {Until: &text}} {
			_, err := coretest.Call(l.operator, l.List, audit.List{Filter: f})
			if well != (err == nil) || !well && fault.CodeOf(err) != fault.InvalidRequest {
				t.Errorf("%s %s: %v", what, text, err)
			}
		}
	}
}
