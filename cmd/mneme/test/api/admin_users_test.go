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
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
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

// TestRosterParameters: what the query string of the roster may say, and that looking
// at an end user creates nobody.
func TestRosterParameters(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat, app := s.integration("chat", nil), s.integration("app", nil)
		for _, user := range []string{"ann", "bob", "user-1", "user_1"} {
			chat.remember(user, "Hello.")
		}
		app.remember("ann", "Another Ann.")
		chat.post("/api/v1/search", object{"endUserId": "ghost", "query": "x"}).ok()
		chat.get("/api/v1/memories?endUserId=ghost").ok()
		chat.get("/api/v1/status").ok()
		op := s.operator()
		const roster = "/admin/v1/organizations/default/end_users"
		for query, want := range map[string]string{"": "ann ann bob user-1 user_1", "?query=user-": "user-1",
			"?query=user_": "user_1", "?query=%25": "", "?integration=app": "ann", "?limit=2": "ann ann"} {
			if got := strings.Join(column(op.get(roster+query).ok().list("end_users"), "id"), " "); got != want {
				t.Errorf("%s gives %q, want %q", query, got, want)
			}
		}
		cursor := op.get(roster + "?limit=1").ok().json["next_cursor"].(string)
		if got := op.get(roster + "?cursor=" + cursor).ok().list("end_users"); len(got) != 4 {
			t.Errorf("the next page holds %v", column(got, "id"))
		}
		op.get(roster+"?query=ann&cursor="+cursor).fails(400, "invalid_cursor")
		op.get(roster+"?integration=none").fails(404, "not_found", "none")
		op.get(roster+"?query=%00").fails(400, "invalid_request", "query")
		op.get(roster+"?limit=0").fails(400, "invalid_request", "limit")
	})
}

// line is a line of an export.
type line struct{ Type, ID, Content string }

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

// TestExport: an export is sent as lines that no cache keeps.
func TestExport(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat := s.integration("chat", nil)
		chat.remember("ann", `Memory 1 says <b>é</b> & "so".`)
		chat.version("ann", "ticket-1", 1, "A ticket.")
		granted := chat.post("/api/v1/grants", object{"endUserId": "ann", "source": "crm"}).ok().json["grant"].(object)
		op := s.operator()
		const path = "/admin/v1/end_users/ann/export?organization=default&integration=chat"
		r := op.get(path).ok()
		if r.header.Get("Content-Type") != "application/x-ndjson" || r.header.Get("Cache-Control") != "no-store" ||
			r.header.Get("X-Request-Id") == "" {
			t.Errorf("headers %v", r.header)
		}
		all := lines(t, r.body)
		var types []string
		said := false
		for _, l := range all {
			types = append(types, l.Type)
			said = said || l.Content == `Memory 1 says <b>é</b> & "so".`
		}
		if got := strings.Join(types, " "); got != "end_user memory memory record receipt end" || !said ||
			!strings.Contains(string(r.body), granted["id"].(string)) {
			t.Errorf("exported %s", r.body)
		}
		if h := op.do("HEAD", path, nil).is(200); len(h.body) != 0 {
			t.Errorf("HEAD answers %d bytes", len(h.body))
		}
		const base = "/admin/v1/end_users/"
		op.get(base+"ann/export?organization=default").fails(400, "invalid_request", "integration")
		op.get(base+"ann/export?integration=chat").fails(400, "invalid_request", "organization")
		op.get(base+"an/export?organization=default&integration=chat").fails(404, "not_found", "an") // a prefix is nobody
		op.get(base+"a:b/export?organization=default&integration=chat").fails(400, "invalid_end_user_id")
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
	stores(t, func(t *testing.T, b backend) {
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
	sequential(t)
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

// TestAdminErasure: only a POST that names the integration erases.
func TestAdminErasure(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat := s.integration("chat", nil)
		chat.remember("ann", "Ann lives in Lyon.", "Ann has a dog.")
		chat.version("ann", "ticket-1", 1, "A ticket.")
		chat.post("/api/v1/memories", object{"endUserId": "ann", "content": "Once."}, "Idempotency-Key", "k1").ok()
		chat.post("/api/v1/grants", object{"endUserId": "ann", "source": "crm"}).ok()
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
		r := op.post(base+"?organization=default&integration=chat", nil).ok()
		if fmt.Sprint(r.json["deleted"]) != "map[memories:4 receipts:1 records:1 replays:1 vectors:4]" ||
			fmt.Sprint(r.json["grants"]) != "map[revoked:1 unanswered:0]" || r.json["verified_absent"] != true {
			t.Errorf("certificate %v", r.json)
		}
		if got := chat.get("/api/v1/memories?endUserId=ann").ok().list("memories"); len(got) != 0 {
			t.Errorf("memories left: %v", got)
		}
	})
}

// Every id that an end user may have can be exported and erased, those that mean
// something in a path included.
func TestEndUserIDsInPaths(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		chat, op := s.integration("chat", nil), s.administrator("default")
		for _, path := range []string{"%2E", "%2e%2e"} { // which clients take out of a path
			chat.do("DELETE", "/api/v1/users/"+path, nil).refuses(400, "invalid_end_user_id")
		}
		for id, path := range map[string]string{".a": "%2Ea", "..b": "%2e%2eb", "a.b": "a.b", "-": "-",
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
	once(t, func(t *testing.T, b backend) {
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
