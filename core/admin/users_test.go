package admin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/admin"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// ref names an end user of integration chat of the default organization.
func ref(user string) admin.EndUserRef {
	return admin.EndUserRef{ID: user, Organization: "default", Integration: "chat"}
}

// line is a line of an export.
type line struct {
	Type, ID, Content, Source, Outcome, Operation, Status string
	ExternalID                                            string  `json:"external_id"`
	Container                                             *string `json:"container_tag"`
	Version                                               int64
	Metadata                                              map[string]any
	Memories, Records, Receipts                           int
	Grants                                                []struct {
		ID, Source string
		Secrets    []string `json:"secrets_set"`
		Revoked    *string  `json:"revoked_at"`
	}
}

// exported streams an export and reads its lines.
func exported(t testing.TB, x *admin.Export) (all []line) {
	t.Helper()
	var out bytes.Buffer
	if err := x.Stream(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(&out); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		all = append(all, l)
	}
	return all
}

func TestExport(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat := c.app("", "chat")
	var contents []string
	for i := range 130 { // several pages
		contents = append(contents, fmt.Sprintf("Memory %03d says <b>é</b> & \"so\".", i))
	}
	chat.remember("ann", "home", contents...)
	coretest.Ask(chat.ctx, t, c.memories.Save, coretest.Object{"endUserId": "ann", "content": "With metadata.",
		"metadata": coretest.Object{"n": 3, "tags": []string{"a"}}}).OK()
	for v := 1; v <= 3; v++ {
		chat.version("ann", "ticket-1", v, fmt.Sprintf("Ticket in version %d.", v))
	}
	chat.version("ann", "ticket-2", 1, "Gone soon.")
	coretest.Ask(chat.ctx, t, c.memories.Tombstone, coretest.Object{}, func(in *memory.Tombstone) {
		in.EndUserID, in.Source, in.ExternalID, in.Version = "ann", "crm", "ticket-2", new(int64(2))
	}).OK()
	chat.remember("ann2", "home", "Of another.")
	c.app("", "app").remember("ann", "home", "Of another integration.")

	grant := func(user, source string) string {
		t.Helper()
		r := coretest.Ask(chat.ctx, t, c.memories.CreateGrant, coretest.Object{"endUserId": user, "source": source}).OK()
		return r.JSON["grant"].(coretest.Object)["id"].(string)
	}
	grants := []string{grant("ann", "crm"), grant("ann", "mail")}
	grant("ann2", "crm")
	coretest.Ask(chat.ctx, t, c.memories.RevokeGrant, coretest.Object{}, func(in *memory.RevokeGrant) { in.ID = grants[1] }).OK()

	x := does(c.operator, t, c.ExportEndUser, ref("ann"))
	if x.ContentType() != "application/x-ndjson" {
		t.Errorf("an export is %s", x.ContentType())
	}
	all := exported(t, x)
	count := map[string]int{}
	var said []string
	for _, l := range all {
		count[l.Type]++
		if l.Type == "memory" && l.Source == "" {
			said = append(said, l.Content)
			switch metadata := fmt.Sprint(l.Metadata); {
			case l.Content == "With metadata." && (metadata != "map[n:3 tags:[a]]" || l.Container != nil),
				l.Content != "With metadata." && (metadata != "map[]" || l.Container == nil || *l.Container != "home"):
				t.Errorf("a memory is exported as %+v", l)
			}
		}
	}
	slices.Sort(said)
	want := append(slices.Clone(contents), "With metadata.")
	slices.Sort(want)
	end := all[len(all)-1]
	if fmt.Sprint(count) != "map[end:1 end_user:1 memory:132 receipt:5 record:2]" || !slices.Equal(said, want) ||
		all[0].Type != "end_user" || all[0].ID != "ann" || end.Type != "end" || end.Memories != 132 ||
		end.Records != 2 || end.Receipts != 5 || len(all[0].Grants) != 2 {
		t.Errorf("lines %v, end %+v", count, end)
	}
	for i, g := range all[0].Grants {
		if g.ID != grants[i] || g.Source != []string{"crm", "mail"}[i] || (g.Revoked != nil) != (i == 1) || g.Secrets == nil ||
			len(g.Secrets) != 0 {
			t.Errorf("a grant is exported as %+v", g)
		}
	}
	var history []string
	for _, l := range all {
		if l.Type == "record" || l.Type == "receipt" {
			history = append(history,
				fmt.Sprint(l.Type, " ", l.ExternalID, " ", l.Version, " ", l.Status, l.Operation, " ", l.Outcome))
		}
	}
	if got := strings.Join(history, "\n"); got != strings.TrimSpace(`
record ticket-1 3 active 
receipt ticket-1 1 upsert created
receipt ticket-1 2 upsert updated
receipt ticket-1 3 upsert updated
record ticket-2 2 tombstoned 
receipt ticket-2 1 upsert created
receipt ticket-2 2 tombstone tombstoned`) {
		t.Errorf("history\n%s", got)
	}

	// An organization's own key need not name it.
	own := ref("ann")
	own.Organization = ""
	if got := exported(t, does(c.own, t, c.ExportEndUser, own)); len(got) != len(all) {
		t.Errorf("%d lines for the organization's key, %d for the operator's", len(got), len(all))
	}
}

// TestExportOfManyVersions: records and receipts come in pages, each once.
func TestExportOfManyVersions(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat := c.app("", "chat")
	const page = 256 // of an export
	for v := 1; v <= page+1; v++ {
		chat.version("ann", "busy", v, fmt.Sprint("Version ", v))
	}
	for i := range page {
		chat.version("ann", fmt.Sprintf("quiet-%03d", i), 1, "Once.")
	}
	seen := map[string]int{}
	all := exported(t, does(c.operator, t, c.ExportEndUser, ref("ann")))
	for _, l := range all {
		if l.Type == "record" || l.Type == "receipt" {
			seen[fmt.Sprint(l.Type, l.ExternalID, l.Version)]++
		}
	}
	for what, n := range seen {
		if n != 1 {
			t.Errorf("%s comes %d times", what, n)
		}
	}
	if end := all[len(all)-1]; len(seen) != (page+1)+(page+1+page) || end.Records != page+1 || end.Receipts != page+1+page {
		t.Errorf("%d lines, and the end counts %+v", len(seen), end)
	}
}

func TestEndUserRefs(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	c.app("", "chat").remember("ann", "", "Hello.")
	c.app("acme", "chat").remember("ann", "", "Hello of acme.")
	for _, r := range []struct {
		ctx   context.Context
		ref   admin.EndUserRef
		code  fault.Code
		words string
	}{
		{c.operator, admin.EndUserRef{ID: "ann", Organization: "default"}, "invalid_request", "integration"},
		{c.operator, admin.EndUserRef{ID: "ann"}, "invalid_request", "integration"},
		{c.operator, admin.EndUserRef{ID: "ann", Integration: "chat"}, "invalid_request", "organization"},
		{c.operator, admin.EndUserRef{ID: "ann", Organization: "default", Integration: "none"}, "not_found", "none"},
		{c.operator, admin.EndUserRef{ID: "ann", Organization: "none", Integration: "chat"}, "not_found", "none"},
		{c.operator, admin.EndUserRef{ID: "a:b", Organization: "default", Integration: "chat"}, "invalid_end_user_id", "id"},
		{c.own, admin.EndUserRef{ID: "ann", Organization: "acme", Integration: "chat"}, "not_found", "acme"},
	} {
		refuses(r.ctx, t, c.ExportEndUser, r.ref, r.code, r.words)
		refuses(r.ctx, t, c.EraseEndUser, r.ref, r.code, r.words)
	}
	refuses(c.operator, t, c.ExportEndUser, ref("an"), "not_found", `"an"`) // the beginning of an id is nobody
	refuses(c.operator, t, c.ExportEndUser, ref("annika"), "not_found", "annika")
	if got := c.names(); got != "chat/ann" {
		t.Errorf("refused calls left %s", got)
	}
	// The same id elsewhere is somebody else.
	if got := exported(t, does(c.other, t, c.ExportEndUser, admin.EndUserRef{ID: "ann", Integration: "chat"})); len(got) != 3 ||
		got[1].Content != "Hello of acme." {
		t.Errorf("acme exports %+v", got)
	}
}

// breaking is a store whose reads of documents fail after so many.
type breaking struct {
	port.Store
	left atomic.Int64
}

var errGone = errors.New("the disk is gone")

func (s *breaking) View(ctx context.Context, fn func(port.Reader) error) error {
	return s.Store.View(ctx, func(r port.Reader) error { return fn(&breakingReader{r, s}) })
}

type breakingReader struct {
	port.Reader
	s *breaking
}

func (r *breakingReader) ListDocuments(ctx context.Context, p port.Partition, l port.DocumentList) ([]port.DocumentHead, error) {
	if r.s.left.Add(-1) < 0 {
		return nil, errGone
	}
	return r.Reader.ListDocuments(ctx, p, l)
}

// TestExportThatEndsEarly: an export that fails on its way has no end line, nor has one
// of an end user who is erased in the meantime, and one that nobody reads ends.
func TestExportThatEndsEarly(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat := c.app("", "chat")
	var contents []string
	for i := range 200 {
		contents = append(contents, fmt.Sprintf("%03d ", i)+strings.Repeat("x", 400))
	}
	chat.remember("ann", "", contents...)
	cut := func(what string, x *admin.Export, w io.Writer, want error) {
		t.Helper()
		var out bytes.Buffer
		err := x.Stream(t.Context(), io.MultiWriter(&out, w))
		if err == nil || want != nil && !errors.Is(err, want) || strings.Contains(out.String(), `"type":"end"`) {
			t.Errorf("%s: %v, ends with %.80s", what, err, out.Bytes()[max(0, out.Len()-80):])
		}
	}
	broken := &breaking{Store: c.Store}
	broken.left.Store(3)
	s := admin.New(admin.Settings{Keys: c.Keys, Store: broken, Pages: c.Pages, Now: c.Now})
	cut("a store that fails", does(c.operator, t, s.ExportEndUser, ref("ann")), io.Discard, errGone)
	cut("a reader who leaves", does(c.operator, t, c.ExportEndUser, ref("ann")), &leaving{left: 50}, errLeft)

	x := does(c.operator, t, c.ExportEndUser, ref("ann"))
	does(c.operator, t, c.EraseEndUser, ref("ann"))
	cut("an end user who is erased", x, io.Discard, nil)
	chat.remember("ann", "", "Of the next life.")
	cut("an end user who came again", x, io.Discard, nil)
	if got := exported(t, does(c.operator, t, c.ExportEndUser, ref("ann"))); len(got) != 3 {
		t.Errorf("the next life exports %+v", got)
	}
}

// leaving takes so many writes.
type leaving struct{ left int }

var errLeft = errors.New("the reader has left")

func (w *leaving) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errLeft
	}
	return len(b), nil
}

func TestErasure(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat, app := c.app("", "chat"), c.app("", "app")
	chat.remember("ann", "home", "Ann lives in Lyon.", "Ann has a dog.")
	chat.version("ann", "ticket-1", 1, "A ticket.")
	chat.version("ann", "ticket-1", 2, "A ticket again.")
	coretest.Ask(chat.ctx, t, c.memories.Save, coretest.Object{"endUserId": "ann", "content": "Once."},
		func(in *memory.Save) { in.IdempotencyKey = new("k1") }).OK()
	for _, user := range []string{"ann", "ann", "bob"} {
		coretest.Ask(chat.ctx, t, c.memories.CreateGrant, coretest.Object{"endUserId": user, "source": "crm"}).OK()
	}
	chat.remember("bob", "", "Bob.")
	app.remember("ann", "", "Another Ann.")
	names := func() string {
		t.Helper()
		return strings.Join(slices.Sorted(strings.FieldsSeq(c.names())), " ")
	}
	if got := names(); got != "app/ann chat/ann chat/bob" {
		t.Errorf("before %s", got)
	}
	r := coretest.Ask(c.operator, t, c.EraseEndUser, coretest.Object{}, func(in *admin.EndUserRef) { *in = ref("ann") }).OK()
	coretest.Fields(t, "a certificate", r.JSON, "end_user_id", "organization_id", "integration", "integration_name",
		"deleted", "grants", "verified_absent", "erased_at")
	who := ident.From(chat.ctx)
	if fmt.Sprint(r.JSON["deleted"]) != "map[memories:4 receipts:2 records:1 replays:1 vectors:4]" ||
		fmt.Sprint(r.JSON["grants"]) != "map[revoked:2 unanswered:0]" ||
		r.JSON["verified_absent"] != true || r.JSON["end_user_id"] != "ann" || r.JSON["integration_name"] != "chat" ||
		r.JSON["integration"] != who.Integration || r.JSON["organization_id"] != string(who.Org) {
		t.Errorf("certificate %s", r.Body)
	}
	if at, err := time.Parse(time.RFC3339Nano, r.JSON["erased_at"].(string)); err != nil || at.Sub(c.Now()).Abs() > time.Second {
		t.Errorf("erased at %v, %v", r.JSON["erased_at"], err)
	}
	if got := names(); got != "app/ann chat/bob" {
		t.Errorf("the erasure left %s", got)
	}
	left := coretest.Ask(chat.ctx, t, c.memories.List, coretest.Object{}, func(in *memory.List) { in.EndUserID = "ann" }).OK()
	if got := left.List("memories"); len(got) != 0 {
		t.Errorf("memories left: %v", got)
	}
	refuses(c.operator, t, c.ExportEndUser, ref("ann"), "not_found", "ann")
	again := does(c.operator, t, c.EraseEndUser, ref("ann"))
	if again.Deleted != (admin.Deleted{}) || again.Grants != (admin.Ungranted{}) || !again.VerifiedAbsent {
		t.Errorf("a repeat answers %+v", again)
	}
	if got := names(); got != "app/ann chat/bob" {
		t.Errorf("the repeat left %s", got)
	}
}

// TestErasureUnderWay: while one is under way the roster says so and nothing is exported;
// one that failed is repeated.
func TestErasureUnderWay(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	c.app("", "chat").remember("ann", "", "Hello.")
	c.Index.OnDrop.Set(func() error { return errGone })
	if _, err := coretest.Call(c.operator, c.EraseEndUser, ref("ann")); !errors.Is(err, errGone) {
		t.Fatalf("an erasure whose index fails: %v", err)
	}
	roster := does(c.operator, t, c.ListEndUsers, admin.ListEndUsers{OrganizationRef: in("default")}).EndUsers
	if len(roster) != 1 || roster[0].Erasing == nil || roster[0].Erasing.Location() != time.UTC ||
		roster[0].Erasing.Sub(c.Now()).Abs() > time.Second {
		t.Errorf("the roster while it is under way: %+v", roster)
	}
	coretest.Ask(c.operator, t, c.ExportEndUser, coretest.Object{}, func(in *admin.EndUserRef) { *in = ref("ann") }).
		Fails("unavailable", "erased").Retry()
	c.Index.OnDrop.Clear()
	if got := does(c.operator, t, c.EraseEndUser, ref("ann")); !got.VerifiedAbsent {
		t.Errorf("repeated: %+v", got)
	}
	if got := c.names(); got != "" {
		t.Errorf("left %s", got)
	}
}

// TestEndUserIDs: every id that an end user may have can be exported and erased, and
// reaches nobody whose id begins with it.
func TestEndUserIDs(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat := c.app("", "chat")
	for _, id := range []string{".a", "..b", "a.b", "-", "ann@example.org", "@", "...", strings.Repeat("x", 128)} {
		chat.remember(id, "", "Something.")
		if len(id) < 128 {
			chat.remember(id+"2", "", "Something else.")
		}
		own := admin.EndUserRef{ID: id, Integration: "chat"}
		if got := exported(t, does(c.own, t, c.ExportEndUser, own)); len(got) != 3 || got[0].ID != id {
			t.Errorf("%q exports as %v", id, got)
		}
		if got := does(c.own, t, c.EraseEndUser, own); got.Deleted.Memories != 1 {
			t.Errorf("%q is erased as %+v", id, got)
		}
	}
}

var _ op.Streamer = (*admin.Export)(nil)

// Ids that were taken once, and are refused everywhere else, can be erased.
func TestDotsAreErased(t *testing.T) {
	t.Parallel()
	c := openConsole(t, coretest.Options{})
	chat := ident.From(c.app("", "chat").ctx)
	for _, id := range []string{".", ".."} {
		err := c.Store.Update(t.Context(), func(w port.Writer) error {
			_, err := w.CreatePartition(t.Context(), port.Memories(chat.Org, chat.Integration, id),
				port.PartitionRow{Dimensions: 8, CreatedAt: c.Now(), UpdatedAt: c.Now()})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := c.names(); got != "chat/. chat/.." {
		t.Fatalf("there are %s", got)
	}
	for _, id := range []string{".", ".."} {
		if all := exported(t, does(c.operator, t, c.ExportEndUser, ref(id))); all[0].ID != id {
			t.Errorf("exported %+v", all)
		}
		if got := does(c.operator, t, c.EraseEndUser, ref(id)); !got.VerifiedAbsent || got.EndUser != id {
			t.Errorf("erased %+v", got)
		}
	}
	if got := c.names(); got != "" {
		t.Errorf("left are %s", got)
	}
	refuses(c.operator, t, c.EraseEndUser, ref("a/b"), "invalid_end_user_id", "id")
}
