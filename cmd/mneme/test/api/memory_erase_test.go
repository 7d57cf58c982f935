package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
)

// traces lists the files of the data folder that hold a text, in either case.
func (s *server) traces(marker string) (files []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // gone in between
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		if bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(marker))) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return append(files, s.backend.traces(s.t, s.dir, marker)...)
}

// left is traces of what is to be gone. From a cluster's disks it goes some time after the answer
// (docs/opensearch.md), and is waited for.
func (s *server) left(marker string) []string {
	s.t.Helper()
	found := s.traces(marker)
	for began := time.Now(); s.backend.name == distributed.name && len(found) > 0 && time.Since(began) < harness.Patience; {
		time.Sleep(time.Second)
		found = s.traces(marker)
	}
	return found
}

// fillBatch is one of the batches of fill.
func fillBatch(marker string, i int) (list []object) {
	for k := range 100 {
		list = append(list, object{"content": fmt.Sprintf("%s remembers thing %d of %d.", marker, k, i),
			"containerTag": "c-" + marker, "metadata": object{"of": marker}})
	}
	return list
}

// fill gives an end user memories of every kind, each with the marker, enough
// for files of the index.
func (s *server) fill(user, marker string) (memories int) {
	s.t.Helper()
	for i := range 2 {
		s.post("/api/v1/memories/batch", object{"endUserId": user, "memories": fillBatch(marker, i)}, "Idempotency-Key",
			fmt.Sprintf("%s-%d", marker, i)).ok()
	}
	s.save(user, strings.Repeat(marker+" tells a long story. ", 1500))
	s.upsert(user, "crm", marker, 1, marker+" version one").ok()
	s.upsert(user, "crm", marker, 2, marker+" version two").ok()
	s.tombstone(user, "crm", marker+"-gone", 1).ok()
	s.post("/api/v1/memories/delete", object{"endUserId": user, "ids": []any{s.save(user, marker+" is deleted at once")}}).ok()
	s.search(user, marker)
	return 202
}

// grant lets a source write an end user, and returns the id.
func (s *server) grant(user, source string) string {
	s.t.Helper()
	return s.post("/api/v1/grants", object{"endUserId": user, "source": source}).ok().json["grant"].(object)["id"].(string)
}

func (s *server) erase(user string) *reply {
	s.t.Helper()
	return s.do("DELETE", "/api/v1/users/"+user, nil)
}

// everyEvent has a server record every event.
func everyEvent(c *configs.Config) { c.Events.Record = "all" }

// echo is an endpoint that answers with what it is sent, which is kept with the attempt then: 200 at /taken and 500
// elsewhere, to what holds a word 410 at /gone, and at /held once it is let go.
type echo struct {
	*httptest.Server
	letGo func()
	came  <-chan struct{} // closed once something is held
}

func newEcho(t *testing.T, word string) echo {
	t.Helper()
	came, let := make(chan struct{}), make(chan struct{})
	arrive, letGo := sync.OnceFunc(func() { close(came) }), sync.OnceFunc(func() { close(let) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is cut off is answered to nobody
		status := http.StatusInternalServerError
		switch named := bytes.Contains(body, []byte(word)); {
		case r.URL.Path == "/taken":
			status = http.StatusOK
		case r.URL.Path == "/gone" && named:
			status = http.StatusGone
		case r.URL.Path == "/held" && named:
			arrive()
			<-let
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(letGo)
	return echo{server, letGo, came}
}

// deliveries are those of webhooks of the default organization, each as text.
func (s *server) deliveries(webhook string) (all []string) {
	s.t.Helper()
	for _, d := range s.get("/admin/v1/organizations/default/webhooks/" + webhook + "/deliveries?limit=1000").ok().
		objects("deliveries") {
		all = append(all, fmt.Sprint(d))
	}
	return all
}

func TestMemoryErasure(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		const mark, stay = "zqxerasedmarker", "zqxstayingmarker"
		endpoint := newEcho(t, mark)
		root := start(t, b, hooked(endpoint.Listener.Addr().String(), everyEvent))
		s := root.integration("app", nil)
		other := root.integration("other", nil)
		admin := root.operator()
		webhooks := map[string]string{}
		for _, path := range []string{"/taken", "/failing", "/gone", "/held"} {
			webhooks[path] = admin.post("/admin/v1/organizations/default/webhooks", object{"url": endpoint.URL + path,
				"kinds": []string{"memory.updated"}}).is(201).json["id"].(string)
		}
		n := s.fill("ann", mark)
		s.upsert("ann", "crm", mark, 3, mark+" version three").ok()
		s.grant("ann", mark+"-source")
		s.do("DELETE", "/api/v1/grants/"+s.grant("ann", mark+"-revoked"), nil).ok()
		s.fill("bob", stay)
		other.save("ann", "Not this one.")
		if len(root.traces(mark)) == 0 || len(root.traces(stay)) == 0 {
			t.Fatal("the markers are not on disk: the test would see nothing")
		}
		told := root.follower()
		told.read()
		events := func(words string) (n int) {
			for _, e := range told.found {
				if strings.Contains(fmt.Sprint(e), words) {
					n++
				}
			}
			return n
		}
		if events(mark) == 0 || events(stay) == 0 {
			t.Fatal("no event holds the markers")
		}
		for _, path := range []string{"/taken", "/failing", "/gone"} {
			harness.Eventually(t, "deliveries hold the marker", func() bool {
				return strings.Contains(fmt.Sprint(admin.deliveries(webhooks[path])), mark)
			})
		}
		<-endpoint.came

		r := s.erase("ann").ok()
		fields(t, "the answer", r.json, "success", "deletedMemories", "deletedVectors", "revokedGrants", "unansweredUpstreams")
		if r.json["success"] != true || r.number("deletedMemories") != float64(n) || r.number("deletedVectors") <= float64(n) ||
			r.number("revokedGrants") != 2 || r.number("unansweredUpstreams") != 0 {
			t.Errorf("%s, want %d memories", r.body, n)
		}
		if got := root.left(mark); len(got) != 0 {
			t.Errorf("after the erasure was answered, %v hold the marker", got)
		}
		// What was under way to a webhook then leaves no trace when it ends.
		endpoint.letGo()
		s.upsert("cid", "crm", "next", 1, "Version one.").ok()
		s.upsert("cid", "crm", "next", 2, "Version two.").ok()
		harness.Eventually(t, "what was under way has ended", func() bool {
			return slices.ContainsFunc(admin.deliveries(webhooks["/held"]), func(d string) bool {
				return strings.Contains(d, "cid") && !strings.Contains(d, "tries:0")
			})
		})
		if got := root.left(mark); len(got) != 0 {
			t.Errorf("after the last answer of a webhook, %v hold the marker", got)
		}
		for path, id := range webhooks {
			left := fmt.Sprint(admin.deliveries(id))
			if strings.Contains(left, "/ann") {
				t.Errorf("%s: deliveries of the erased end user are listed: %s", path, left)
			}
			if path != "/gone" && !strings.Contains(left, "/bob") { // that may have been disabled before bob came
				t.Errorf("%s: another's deliveries are gone: %s", path, left)
			}
		}
		staying := events(stay)
		told.after, told.found = "", nil
		if told.read(); events(mark) != 0 || events("user.erased") != 1 || events("endUserId:ann") != 2 ||
			events(stay) != staying {
			t.Errorf("events after the erasure: %v", told.found)
		}
		if got := s.memories("ann"); len(got) != 0 {
			t.Errorf("%d memories are left", len(got))
		}
		if got := s.search("ann", mark); len(got) != 0 {
			t.Errorf("%d memories are found", len(got))
		}
		s.record("ann", "crm", mark).refuses(404, "memory_not_found")
		if got := strings.Join(root.roster(), " "); got != "ann bob cid" { // ann of the other integration
			t.Errorf("end users %s", got)
		}
		// Again, and of somebody unknown: nothing was left to do.
		for _, user := range []string{"ann", "nobody"} {
			if r := s.erase(user).ok(); r.json["success"] != true || r.number("deletedMemories") != 0 ||
				r.number("deletedVectors") != 0 {
				t.Errorf("%s: %s", user, r.body)
			}
		}
		// Others are as they were.
		if got := s.search("bob", stay, "limit", 100); len(got) != 100 {
			t.Errorf("bob: %d found", len(got))
		}
		if got := other.search("ann", "this one"); len(got) != 1 {
			t.Errorf("the other integration's: %v", got)
		}
		// A new save starts a new end user: no dedup, no replay, no version, no quota of before.
		list := []object{{"content": "Fresh start."}}
		if r := s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": list}, "Idempotency-Key",
			mark+"-0").replayed(false).ok(); r.json["success"] != true {
			t.Errorf("%s", r.body)
		}
		s.upsert("ann", "crm", mark, 1, "Version one again.").applied("created", 1)
		if got := s.memories("ann"); len(got) != 2 {
			t.Errorf("%d memories", len(got))
		}
		if got := s.search("ann", "fresh start"); len(got) != 2 || got[0]["matchedContent"] != "Fresh start." {
			t.Errorf("%v", got)
		}
		// Nothing comes back after a restart.
		next := root.restart(nil)
		s = next.as(s.key)
		if got := next.left(mark + " "); len(got) != 0 {
			t.Errorf("after a restart %v hold the marker", got)
		}
		if got := s.search("ann", mark); len(got) != 2 {
			t.Errorf("%v", got)
		}
	})
}

// TestMemoryErasureUnderWrites erases one end user again and again while
// clients write and search: every answer is one of those decided, and in the
// end nothing is left anywhere.
func TestMemoryErasureUnderWrites(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		root := start(t, b, options{config: everyEvent})
		s := root.integration("app", nil)
		const mark = "zqxhammeredmarker"
		var stop atomic.Bool
		var wrote, refused, revoked atomic.Int64
		var wg sync.WaitGroup
		call := func(r *reply) {
			switch {
			case r.status == 200:
				wrote.Add(1)
			case r.status == 503 && r.json["code"] == "unavailable" && r.header.Get("Retry-After") != "":
				refused.Add(1)
			case r.status == 409 && (r.json["code"] == "version_conflict" || r.json["code"] == "stale_version"):
			case r.status == 403 && r.json["code"] == "forbidden" && r.json["details"].(object)["reason"] == "grant_revoked":
				revoked.Add(1)
			default:
				t.Errorf("%s: %d %s", r.call, r.status, clip(r.body))
			}
		}
		for w := range 5 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				grant := ""
				for i := 0; !stop.Load(); i++ {
					switch w {
					case 0:
						call(s.post("/api/v1/memories/batch",
							object{"endUserId": "ann", "memories": items(30, mark+fmt.Sprint(i))}, "Idempotency-Key",
							fmt.Sprint(mark, i)))
					case 1:
						call(s.upsert("ann", "crm", fmt.Sprintf("%s-%d", mark, i%5), 1+i, mark+" upserted"))
					case 2:
						call(s.post("/api/v1/search", object{"endUserId": "ann", "query": mark, "limit": 50}))
					case 3:
						call(s.post("/api/v1/memories",
							object{"endUserId": "ann", "content": fmt.Sprintf("%s: said %d.", "Ann", i) + mark}))
					case 4: // a connector, connected again whenever its grant has been revoked
						if grant == "" {
							r := s.post("/api/v1/grants", object{"endUserId": "ann", "source": mark})
							if call(r); r.status == 200 {
								grant = r.json["grant"].(object)["id"].(string)
							}
							continue
						}
						r := s.do("PUT", fmt.Sprintf("/api/v1/memories/%s-granted-%d", mark, i), object{"endUserId": "ann",
							"source": mark, "version": 1, "content": mark + " granted", "occurredAt": "2026-01-02T03:04:05Z"},
							"X-Mneme-Grant", grant)
						if call(r); r.status == 403 {
							grant = ""
						}
					}
				}
			}()
		}
		erased := 0.0
		for n := 0; n < 15 || (erased == 0 || wrote.Load() == 0 || revoked.Load() == 0) && !t.Failed(); n++ {
			time.Sleep(30 * time.Millisecond)
			erased += s.erase("ann").ok().number("deletedMemories")
		}
		stop.Store(true)
		wg.Wait()
		last := s.erase("ann").ok()
		erased += last.number("deletedMemories")
		if erased == 0 || wrote.Load() == 0 {
			t.Fatalf("%v erased, %d written: the test shows nothing", erased, wrote.Load())
		}
		t.Logf("%d writes and searches, %d refused, %d by revoked grants, %v memories erased", wrote.Load(), refused.Load(),
			revoked.Load(), erased)
		if got := root.left(mark); len(got) != 0 {
			t.Errorf("%v hold the marker", got)
		}
		if got := s.memories("ann"); len(got) != 0 || len(root.roster()) != 0 {
			t.Errorf("%v and %v are left", got, root.roster())
		}
		if got := len(root.generations()); got != 0 {
			t.Errorf("%d partitions are left", got)
		}
	})
}

// generations are the live partitions of the store.
func (s *server) generations() (live []int64) {
	s.t.Helper()
	err := s.store.View(context.Background(), func(r port.Reader) (err error) {
		live, err = r.Generations(context.Background())
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return live
}

// TestMemoryErasureResumes stops an erasure at each of its steps: until it has
// ended the end user takes no writes, and the next start finishes it.
func TestMemoryErasureResumes(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		const mark = "zqxresumedmarker"
		root := start(t, b, options{config: everyEvent})
		s := root.integration("app", nil)
		failure := errors.New("the disk is gone")
		fails := func() error { return failure }
		for at := range 6 {
			n := s.fill("ann", mark)
			switch at {
			case 0: // the transaction of the call
				root.store.FailUpdates(0, failure)
			case 3: // the files of the store
				root.store.OnScrub.Set(fails)
			case 4: // those of the index
				root.index.OnDrop.Set(fails)
			case 5: // twice, while one follows the other
				root.store.OnScrub.Set(fails)
				s.erase("ann").refuses(500, "internal_error")
			default: // the transactions of its job
				root.store.FailJobUpdates(at-1, failure)
			}
			s.erase("ann").refuses(500, "internal_error")
			if begun := root.erasing("ann"); begun != (at > 0) {
				t.Fatalf("stopped at step %d: under way is %t", at, begun)
			}
			// No further attempt ends it until the hooks go.
			root.store.OnUpdate.Clear()
			if at > 0 { // marked
				s.post("/api/v1/memories", object{"endUserId": "ann", "content": "Too early."}).refuses(503,
					"unavailable").retry()
				s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": fillBatch(mark, 0)},
					"Idempotency-Key", mark+"-0").refuses(503, "unavailable").retry()
				s.upsert("ann", "crm", "x", 1, "Too early.").refuses(503, "unavailable").retry()
				s.tombstone("ann", "crm", "x", 1).refuses(503, "unavailable").retry()
				s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []string{"mem_x"}}).refuses(503,
					"unavailable").retry()
				if got := s.search("ann", mark); len(got) != 0 {
					t.Errorf("%d memories of an erasure that has begun are shown", len(got))
				}
				if got := s.memories("ann"); len(got) != 0 {
					t.Errorf("%d memories of an erasure that has begun are shown", len(got))
				}
				s.record("ann", "crm", mark).refuses(404, "memory_not_found")
			}
			root.store.OnScrub.Clear()
			root.index.OnDrop.Clear()
			root.store.OnJobUpdate.Clear()
			if at == 2 { // finished by calling again
				if r := s.erase("ann").ok(); r.number("deletedMemories") != float64(n) {
					t.Errorf("%s, want all %d", r.body, n)
				}
			} else {
				root = root.restart(nil)
				s = root.as(s.key)
				if at == 0 { // not begun
					if got := len(s.memories("ann")); got != n {
						t.Errorf("%d memories", got)
					}
					s.erase("ann").ok()
				}
				harness.Eventually(t, "the erasure is resumed", func() bool { return len(root.roster()) == 0 })
				s.erase("ann").ok()
			}
			if got := root.left(mark); len(got) != 0 {
				t.Errorf("stopped at step %d: %v hold the marker", at, got)
			}
			s.save("ann", "A new start.")
			s.erase("ann").ok()
		}
	})
}

// TestMemoryErasureGoesOn lets the client leave in the middle.
func TestMemoryErasureGoesOn(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		root := start(t, b, options{})
		s := root.integration("app", nil)
		s.fill("ann", "zqxleftmarker")
		var slow atomic.Bool
		slow.Store(true)
		started := make(chan struct{})
		var once sync.Once
		hook := func() error {
			once.Do(func() { close(started) })
			for slow.Load() {
				time.Sleep(time.Millisecond)
			}
			return nil
		}
		root.store.OnJobUpdate.Set(hook)
		t.Cleanup(func() { slow.Store(false) })
		ctx, leave := context.WithCancel(context.Background())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = s.send(ctx, "DELETE", "/api/v1/users/ann", nil)
		}()
		await(t, "the erasure begins", started)
		leave()
		await(t, "the client has left", gone)
		// A second caller waits for the same erasure, and may have too little time.
		s.do("DELETE", "/api/v1/users/ann", nil, "X-Timeout-Ms", "50").refuses(504, "timeout")
		slow.Store(false)
		root.store.OnJobUpdate.Clear()
		harness.Eventually(t, "the erasure ends", func() bool { return len(root.roster()) == 0 })
		s.erase("ann").ok()
		if got := root.left("zqxleftmarker"); len(got) != 0 {
			t.Errorf("%v hold the marker", got)
		}
	})
}

// TestMemoryErasureOfTheNextLife calls while an erasure is at its very end, when
// a new save has created the end user again already: the call erases that one too.
func TestMemoryErasureOfTheNextLife(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		root := start(t, b, options{})
		s := root.integration("app", nil)
		s.save("ann", "Of the first life.")
		var scrubs atomic.Int64
		ending, goOn := make(chan struct{}), make(chan struct{})
		hook := func() error {
			if scrubs.Add(1) == 2 { // after the end user's row has gone
				close(ending)
				<-goOn
			}
			return nil
		}
		root.store.OnScrub.Set(hook)
		release := sync.OnceFunc(func() { close(goOn) })
		t.Cleanup(release)
		first, second := make(chan *reply, 1), make(chan *reply, 1)
		go func() { first <- s.erase("ann") }()
		await(t, "the erasure is at its end", ending)
		s.save("ann", "Of the zqxsecond life.")
		go func() { second <- s.erase("ann") }()
		time.Sleep(50 * time.Millisecond) // it waits for the first
		release()
		if r := await(t, "the first answer", first).ok(); r.number("deletedMemories") != 1 {
			t.Errorf("%s", r.body)
		}
		if r := await(t, "the second answer", second).ok(); r.number("deletedMemories") < 1 {
			t.Errorf("%s", r.body)
		}
		if got := s.memories("ann"); len(got) != 0 {
			t.Errorf("left %v", got)
		}
		if got := root.left("zqxsecond"); len(got) != 0 {
			t.Errorf("%v hold the text", got)
		}
	})
}
