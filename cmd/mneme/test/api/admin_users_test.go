package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// remember saves memories of an end user.
func (s *server) remember(user string, contents ...string) {
	s.t.Helper()
	for len(contents) > 0 {
		n := min(len(contents), 100)
		items := make([]object, n)
		for i, c := range contents[:n] {
			items[i] = object{"content": c, "containerTag": "home"}
		}
		if r := s.post("/api/v1/memories/batch", object{"endUserId": user, "memories": items}).ok(); r.json["success"] != true {
			s.t.Fatalf("save: %s", clip(r.body))
		}
		contents = contents[n:]
	}
}

// version writes a version of a source-owned memory.
func (s *server) version(user, id string, version int, content string) {
	s.t.Helper()
	s.do("PUT", "/api/v1/memories/"+id, object{"endUserId": user, "source": "crm", "version": version,
		"content": content, "occurredAt": "2026-01-02T03:04:05Z"}).ok()
}

func TestRoster(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat, app, other := s.integration("chat", nil), s.integration("app", nil), s.organization("two")
		outside := other.as(s.issue(key.Issue{Org: "two", Kind: ident.Integration, Integration: "chat"}))
		outside.remember("eve", "Not for this organization.")
		chat.remember("ann", "Ann lives in Lyon.", "Ann has a dog.")
		chat.post("/api/v1/memories", object{"endUserId": "ann", "content": "At work.", "containerTag": "work"}).ok()
		app.remember("ann", "Another Ann.")
		for i := range 25 {
			chat.remember(fmt.Sprintf("user-%02d", i), "Hello.")
		}
		// Looking creates nobody.
		chat.post("/api/v1/search", object{"endUserId": "ghost", "query": "x"}).ok()
		chat.get("/api/v1/memories?endUserId=ghost").ok()
		chat.get("/api/v1/status").ok()
		op := s.operator()
		const roster = "/admin/v1/organizations/default/end_users"
		all := op.get(roster + "?limit=1000").ok()
		rows := all.list("end_users")
		if len(rows) != 27 || all.json["next_cursor"] != nil {
			t.Fatalf("%d rows, %v", len(rows), all.json["next_cursor"])
		}
		fields(t, "a row", rows[0], "id", "integration", "integration_name", "memories", "containers", "bytes",
			"first_seen", "last_seen", "erasing")
		byName := map[string]object{}
		for _, r := range rows {
			byName[fmt.Sprint(r["integration_name"], "/", r["id"])] = r
		}
		ann := byName["chat/ann"]
		if ann["memories"] != 3.0 || ann["containers"] != 2.0 ||
			ann["bytes"] != float64(len("Ann lives in Lyon.Ann has a dog.At work.")) || ann["erasing"] != nil {
			t.Errorf("ann's row is %v", ann)
		}
		first, err1 := time.Parse(time.RFC3339, ann["first_seen"].(string))
		last, err2 := time.Parse(time.RFC3339, ann["last_seen"].(string))
		if err1 != nil || err2 != nil || last.Before(first) || time.Since(first) > time.Minute {
			t.Errorf("ann was seen first at %v and last at %v", ann["first_seen"], ann["last_seen"])
		}
		if byName["app/ann"]["memories"] != 1.0 || byName["chat/eve"] != nil || byName["chat/ghost"] != nil {
			t.Errorf("rows %v", column(rows, "id"))
		}

		// Pages give the same rows in the same order, whatever their size.
		for _, size := range []int{1, 2, 10, 27} {
			var got []string
			cursor := ""
			for {
				r := op.get(fmt.Sprintf("%s?limit=%d&cursor=%s", roster, size, cursor)).ok()
				page := r.list("end_users")
				if len(page) > size || len(page) == 0 {
					t.Fatalf("a page of %d rows, asked for %d", len(page), size)
				}
				for _, u := range page {
					got = append(got, fmt.Sprint(u["id"], u["integration"]))
				}
				next, more := r.json["next_cursor"].(string)
				if !more {
					break
				}
				cursor = next
			}
			var want []string
			for _, u := range rows {
				want = append(want, fmt.Sprint(u["id"], u["integration"]))
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d give %v, want %v", size, got, want)
			}
		}
		if got := column(op.get(roster+"?query=user-1").ok().list("end_users"), "id"); len(got) != 10 || got[0] != "user-10" {
			t.Errorf("query user-1 gives %v", got)
		}
		if got := op.get(roster + "?integration=app").ok().list("end_users"); len(got) != 1 ||
			got[0]["integration_name"] != "app" {
			t.Errorf("integration app has %v", got)
		}
		if got := op.get(roster + "?query=%25").ok().list("end_users"); len(got) != 0 {
			t.Errorf("a wildcard finds %v", column(got, "id"))
		}

		// A cursor belongs to its list.
		cursor := op.get(roster + "?limit=1").ok().json["next_cursor"].(string)
		for _, q := range []string{"?query=user&cursor=", "?integration=chat&cursor="} {
			op.get(roster+q+cursor).fails(400, "invalid_cursor")
		}
		op.get("/admin/v1/organizations/two/end_users?cursor="+cursor).fails(400, "invalid_cursor")
		op.get(roster+"?cursor="+cursor[:len(cursor)-1]+"_").fails(400, "invalid_cursor")
		op.get(roster+"?integration=none").fails(404, "not_found", "none")
		op.get(roster+"?query=%00").fails(400, "invalid_request", "query")
		op.get(roster+"?limit=0").fails(400, "invalid_request", "limit")
		if got := column(op.get("/admin/v1/organizations/two/end_users").ok().list("end_users"),
			"id"); !slices.Equal(got, []string{"eve"}) {
			t.Errorf("organization two has %v", got)
		}
	})
}

// line is a line of an export.
type line struct {
	Type, ID, Content, Source, Outcome, Operation, Status string
	ExternalID                                            string `json:"external_id"`
	Container                                             string `json:"container_tag"`
	Version                                               int64
	Metadata                                              map[string]any
	Memories, Records, Receipts                           int
}

func lines(t *testing.T, body []byte) []line {
	t.Helper()
	var all []line
	for s := bufio.NewScanner(bytes.NewReader(body)); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		all = append(all, l)
	}
	return all
}

func TestExport(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat := s.integration("chat", nil)
		var contents []string
		for i := range 130 { // several pages
			contents = append(contents, fmt.Sprintf("Memory %03d says <b>é</b> & \"so\".", i))
		}
		chat.remember("ann", contents...)
		chat.post("/api/v1/memories", object{"endUserId": "ann", "content": "With metadata.",
			"metadata": object{"n": 3, "tags": []string{"a"}}}).ok()
		for v := 1; v <= 3; v++ {
			chat.version("ann", "ticket-1", v, fmt.Sprintf("Ticket in version %d.", v))
		}
		chat.version("ann", "ticket-2", 1, "Gone soon.")
		chat.do("DELETE", "/api/v1/memories/ticket-2?endUserId=ann&source=crm&version=2", nil).ok()
		chat.remember("ann2", "Of another.")
		s.integration("app", nil).remember("ann", "Of another integration.")
		op := s.operator()
		const path = "/admin/v1/end_users/ann/export?organization=default&integration=chat"
		r := op.get(path).ok()
		if r.header.Get("Content-Type") != "application/x-ndjson" || r.header.Get("Cache-Control") != "no-store" ||
			r.header.Get("X-Request-Id") == "" {
			t.Errorf("headers %v", r.header)
		}
		all := lines(t, r.body)
		count := map[string]int{}
		var said []string
		for _, l := range all {
			count[l.Type]++
			if l.Type == "memory" && l.Source == "" {
				said = append(said, l.Content)
			}
			if l.Content == "With metadata." && fmt.Sprint(l.Metadata) != "map[n:3 tags:[a]]" {
				t.Errorf("metadata %v", l.Metadata)
			}
		}
		slices.Sort(said)
		want := append(slices.Clone(contents), "With metadata.")
		slices.Sort(want)
		end := all[len(all)-1]
		if fmt.Sprint(count) != "map[end:1 end_user:1 memory:132 receipt:5 record:2]" || !slices.Equal(said, want) ||
			all[0].Type != "end_user" || all[0].ID != "ann" || end.Type != "end" || end.Memories != 132 ||
			end.Records != 2 || end.Receipts != 5 {
			t.Errorf("lines %v, end %+v", count, end)
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
		if h := op.do("HEAD", path, nil).is(200); len(h.body) != 0 {
			t.Errorf("HEAD answers %d bytes", len(h.body))
		}
		const base = "/admin/v1/end_users/"
		op.get(base+"ann/export?organization=default").fails(400, "invalid_request", "integration")
		op.get(base+"ann/export?integration=chat").fails(400, "invalid_request", "organization")
		op.get(base+"ann/export?organization=default&integration=none").fails(404, "not_found", "none")
		op.get(base+"ann/export?organization=none&integration=chat").fails(404, "not_found", "none")
		op.get(base+"an/export?organization=default&integration=chat").fails(404, "not_found", "an") // a prefix is nobody
		op.get(base+"a:b/export?organization=default&integration=chat").fails(400, "invalid_end_user_id")
		if own := s.administrator("default").get(base + "ann/export?integration=chat").ok(); len(lines(t, own.body)) != len(all) {
			t.Error("an organization's key need not name the organization, and gets the same")
		}
	})
}

// breaking fails reads of the store after so many, as a disk that goes does.
type breaking struct {
	port.DocumentStore
	left atomic.Int64
}

func (s *breaking) View(ctx context.Context, fn func(port.Reader) error) error {
	return s.DocumentStore.View(ctx, func(r port.Reader) error { return fn(&breakingReader{r, s}) })
}

type breakingReader struct {
	port.Reader
	s *breaking
}

func (r *breakingReader) ListDocuments(ctx context.Context, p port.Partition, l port.DocumentList) ([]port.DocumentHead, error) {
	if r.s.left.Add(-1) < 0 {
		return nil, fmt.Errorf("the disk is gone")
	}
	return r.Reader.ListDocuments(ctx, p, l)
}

// An export that fails on the way must not look whole, and one that nobody reads
// ends.
func TestExportThatEndsEarly(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		var broken *breaking
		s := start(t, b, options{engine: func(c *engine.Config) {
			broken = &breaking{DocumentStore: c.Store}
			broken.left.Store(1 << 30)
			c.Store = broken
		}})
		chat := s.integration("chat", nil)
		var contents []string
		for i := range 200 {
			contents = append(contents, fmt.Sprintf("%03d ", i)+strings.Repeat("x", 4000))
		}
		chat.remember("ann", contents...)
		op := s.administrator("default")
		const path = "/admin/v1/end_users/ann/export?integration=chat"
		broken.left.Store(3)
		if r, err := op.send(context.Background(), "GET", path, nil); err == nil {
			t.Errorf("an export that failed looks whole: %d bytes", len(r.body))
		}
		broken.left.Store(1 << 30)
		// A client that leaves.
		ctx, cancel := context.WithCancel(context.Background())
		req, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+op.key)
		res, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, 1000)); err != nil {
			t.Error(err)
		}
		cancel()
		_ = res.Body.Close()
		if got := lines(t, op.get(path).ok().body); len(got) != 202 {
			t.Errorf("%d lines afterwards", len(got))
		}
	})
}

// What an export holds in memory does not grow with what it exports. It runs
// alone, since others' memory would be counted too.
func TestExportHoldsAPageAtATime(t *testing.T) {
	s := start(t, backends()[0], options{})
	chat := s.integration("chat", nil)
	const memories, size = 600, 50_000 // 30 MB
	for i := 0; i < memories; i += 20 {
		var contents []string
		for j := range 20 {
			contents = append(contents, fmt.Sprintf("%06d ", i+j)+strings.Repeat("x", size))
		}
		chat.remember("ann", contents...)
	}
	op := s.administrator("default")
	req, err := http.NewRequestWithContext(context.Background(), "GET",
		s.url+"/admin/v1/end_users/ann/export?integration=chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+op.key)
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	res, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var read, peak int64
	buf := make([]byte, 1<<20)
	for err == nil {
		var n int
		n, err = io.ReadFull(res.Body, buf)
		read += int64(n)
		peak = max(peak, held()-before)
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF || read < memories*size || peak > memories*size/2 {
		t.Errorf("read %d bytes, %v; %d bytes more were held in that time", read, err, peak)
	}
	t.Logf("%d bytes read, at most %d more held", read, peak)
}

func TestAdminErasure(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat, app := s.integration("chat", nil), s.integration("app", nil)
		chat.remember("ann", "Ann lives in Lyon.", "Ann has a dog.")
		chat.version("ann", "ticket-1", 1, "A ticket.")
		chat.version("ann", "ticket-1", 2, "A ticket again.")
		chat.post("/api/v1/memories", object{"endUserId": "ann", "content": "Once."}, "Idempotency-Key", "k1").ok()
		chat.remember("bob", "Bob.")
		app.remember("ann", "Another Ann.")
		op := s.operator()
		const base = "/admin/v1/end_users/ann/erase"
		for query, word := range map[string]string{"": "integration", "?integration=chat": "organization",
			"?organization=default": "integration"} {
			op.post(base+query, nil).fails(400, "invalid_request", word)
		}
		op.post(base+"?organization=default&integration=none", nil).fails(404, "not_found", "none")
		op.post("/admin/v1/end_users/a:b/erase?organization=default&integration=chat", nil).fails(400, "invalid_end_user_id")
		if r := op.get(base + "?organization=default&integration=chat"); r.status != 405 {
			t.Errorf("GET erases with %d", r.status)
		}
		names := func() string {
			var out []string
			for _, u := range op.get("/admin/v1/organizations/default/end_users").ok().list("end_users") {
				out = append(out, fmt.Sprint(u["integration_name"], "/", u["id"]))
			}
			slices.Sort(out)
			return strings.Join(out, " ")
		}
		if got := names(); got != "app/ann chat/ann chat/bob" {
			t.Errorf("refused erasures left %s", got)
		}
		r := op.post(base+"?organization=default&integration=chat", nil).ok()
		fields(t, "a certificate", r.json, "end_user_id", "organization_id", "integration", "integration_name",
			"deleted", "verified_absent", "erased_at")
		if fmt.Sprint(r.json["deleted"]) != "map[memories:4 receipts:2 records:1 replays:1 vectors:4]" ||
			r.json["verified_absent"] != true ||
			r.json["end_user_id"] != "ann" || r.json["integration_name"] != "chat" {
			t.Errorf("certificate %v", r.json)
		}
		if got := names(); got != "app/ann chat/bob" {
			t.Errorf("the erasure left %s", got)
		}
		if got := chat.get("/api/v1/memories?endUserId=ann").ok().list("memories"); len(got) != 0 {
			t.Errorf("memories left: %v", got)
		}
		op.get("/admin/v1/end_users/ann/export?organization=default&integration=chat").fails(404, "not_found", "ann")
		again := op.post(base+"?organization=default&integration=chat", nil).ok()
		if fmt.Sprint(again.json["deleted"]) != "map[memories:0 receipts:0 records:0 replays:0 vectors:0]" ||
			again.json["verified_absent"] != true {
			t.Errorf("a repeat answers %v", again.json)
		}
		if got := names(); got != "app/ann chat/bob" {
			t.Errorf("the repeat left %s", got)
		}
	})
}

// Every id that an end user may have can be exported and erased, those that mean
// something in a path included.
func TestEndUserIDsInPaths(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat, op := s.integration("chat", nil), s.administrator("default")
		for id, path := range map[string]string{".": "%2E", "..": "%2e%2e", "a.b": "a.b", "-": "-",
			"ann@example.org": "ann%40example.org", "@": "@", "...": "...",
			strings.Repeat("x", 128): strings.Repeat("x", 128)} {
			chat.remember(id, "Something.")
			if len(id) < 128 {
				chat.remember(id+"2", "Something else.")
			}
			path = "/admin/v1/end_users/" + path
			if got := lines(t, op.get(path+"/export?integration=chat").ok().body); len(got) != 3 || got[0].ID != id {
				t.Errorf("%q exports as %v", id, got)
			}
			if got := op.post(path+"/erase?integration=chat", nil).ok().json["deleted"].(object); got["memories"] != 1.0 {
				t.Errorf("%q is erased as %v", id, got)
			}
		}
	})
}

// Admin calls have a rate class of their own.
func TestAdminRate(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{engine: func(c *engine.Config) {
			c.Rates = map[op.Class]ident.Rate{op.Admin: {PerMinute: 6, Burst: 2}}
		}})
		admin := s.administrator("default")
		for range 2 {
			if r := admin.get("/admin/v1/organizations").ok(); !strings.HasPrefix(r.header.Get("RateLimit"), `"admin";`) {
				t.Errorf("RateLimit %q", r.header.Get("RateLimit"))
			}
		}
		admin.get("/admin/v1/organizations").fails(429, "rate_limited", "admin").retry()
		s.administrator("default").get("/admin/v1/organizations").ok() // another key
		s.get("/namespaces").ok()
	})
}
