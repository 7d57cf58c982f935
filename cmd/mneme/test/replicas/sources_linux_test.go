package replicas_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// upstream is a bucket that a source follows, of which a test can hold up the answers.
type upstream struct {
	*httptest.Server
	t       testing.TB
	backend *s3mem.Backend

	mu     sync.Mutex
	texts  map[string]string
	broken map[string]bool
	hold   func(object string) bool // an answer; object "": the list
	held   chan string
	read   map[string]int // objects read, since the last time
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{t: t, backend: s3mem.New(), texts: map[string]string{}, broken: map[string]bool{}, held: make(chan string),
		read: map[string]int{}}
	if err := u.backend.CreateBucket("docs"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(u.backend).Server()
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/docs"), "/")
		u.mu.Lock()
		hold, broken := u.hold != nil && u.hold(name), u.broken[name]
		u.read[name]++
		u.mu.Unlock()
		if hold { // until the one that asks is killed
			select {
			case u.held <- name:
			case <-r.Context().Done():
			}
			<-r.Context().Done()
			return
		}
		if broken {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) put(name, text string) {
	u.t.Helper()
	meta := map[string]string{"Content-Type": "text/plain", "Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
	if _, err := u.backend.PutObject("docs", name, meta, strings.NewReader(text), int64(len(text)), nil); err != nil {
		u.t.Fatal(err)
	}
	u.texts[name] = text
}

func (u *upstream) drop(name string) {
	u.t.Helper()
	if _, err := u.backend.DeleteObject("docs", name); err != nil {
		u.t.Fatal(err)
	}
	delete(u.texts, name)
}

// holding has the answers held up that which names; nil: none.
func (u *upstream) holding(which func(object string) bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hold = which
}

// reads answers how many objects were read since the last time.
func (u *upstream) reads() (objects int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, n := range u.read {
		if name != "" {
			objects += n
		}
	}
	clear(u.read)
	return objects
}

// state is a source as it is answered.
type state struct {
	ID               string
	State            string
	Items, Documents int64
	LastRun          struct {
		ID, Status string
		Counts     map[string]int64
	} `json:"last_run"`
}

// followed is a source that replicas follow.
type followed struct {
	*fleet
	up *upstream
	id string
}

func (s *followed) now() (is state) {
	s.t.Helper()
	s.ok(s.key, "GET", "/sources/"+s.id, nil).Into(&is)
	return is
}

// ended waits until no run of the source goes on.
func (s *followed) ended() (is state) {
	s.t.Helper()
	harness.EventuallySees(s.t, "the run ends", func() (bool, string) {
		is = s.now()
		return is.State != "syncing", fmt.Sprintf("%+v", is)
	})
	return is
}

// inStep wants the namespace to hold what the bucket has, each once and whole.
func (s *followed) inStep(what string) {
	s.t.Helper()
	has := map[string]string{}
	for cursor := ""; ; {
		var list struct {
			Documents []struct {
				ID       string
				Metadata struct{ Path string }
			}
			NextCursor *string `json:"next_cursor"`
		}
		s.ok(s.key, "GET", docs+"?limit=1000&source_id="+s.id+"&cursor="+cursor, nil).Into(&list)
		for _, d := range list.Documents {
			var whole struct{ Text string }
			s.ok(s.key, "GET", docs+"/"+d.ID, nil).Into(&whole)
			if _, twice := has[d.Metadata.Path]; twice {
				s.t.Errorf("%s: %s is there twice", what, d.Metadata.Path)
			}
			has[d.Metadata.Path] = whole.Text
		}
		if list.NextCursor == nil {
			break
		}
		cursor = *list.NextCursor
	}
	if maps.Equal(has, s.up.texts) {
		return
	}
	for name, text := range s.up.texts {
		if has[name] != text {
			s.t.Errorf("%s: %s is %q, want %q", what, name, has[name], text)
		}
	}
	for name := range has {
		if _, ok := s.up.texts[name]; !ok {
			s.t.Errorf("%s: %s is there and not in the bucket", what, name)
		}
	}
}

// counted wants a run to have ended with these counts alone.
func (s *followed) counted(what, status string, want map[string]int64) {
	s.t.Helper()
	r := s.ended().LastRun
	maps.DeleteFunc(r.Counts, func(_ string, n int64) bool { return n == 0 })
	if r.Status != status || !maps.Equal(r.Counts, want) {
		s.t.Errorf("%s: %s %v, want %s %v", what, r.Status, r.Counts, status, want)
	}
}

// TestSourceKilled kills the process that follows a source at each step of a run: while it
// lists, while it reads, when half is written, while it deletes and at the end. What goes on with the run
// loses nothing, makes nothing twice and deletes nothing that is there, and the run ends.
func TestSourceKilled(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	for _, set := range []set{{name: "sqlite", replicas: 1, sqlite: true}, {name: "postgres", replicas: 2}} {
		t.Run(set.name, func(t *testing.T) {
			t.Parallel()
			up := newUpstream(t)
			s := &followed{&fleet{t: t, set: set, postgres: database}, up, ""}
			s.begin("roles: {sparse: off, rerank: off}\nsources: {enabled: true, allow_private: [\"" +
				strings.TrimPrefix(up.URL, "http://") + "\"]}\n")
			first := s.replicas[0]
			const all = 108 // more than are settled at once
			name := func(n int) string { return fmt.Sprintf("note-%03d.txt", n) }
			for n := range all {
				up.put(name(n), fmt.Sprintf("Note %d about the hedge.", n))
			}
			up.broken[name(7)] = true

			// Until a run is to move on there is one process, so that it is known who runs it.
			for _, other := range s.replicas[1:] {
				other.stop()
			}
			// killed kills that process once an answer to it is held up.
			killed := func(what, object string) {
				t.Helper()
				select {
				case got := <-up.held:
					if object != "" && got != object {
						t.Errorf("%s: held is %q", what, got)
					}
				case <-time.After(harness.Patience):
					t.Fatalf("%s: it does not come to that; %+v", what, s.now())
				}
				first.kill()
			}
			var created struct{ ID string }
			first.must(s.key, "POST", "/sources", object{"name": "Notes", "kind": "s3", "namespace": "docs", "start": false,
				"config": object{"bucket": "docs", "endpoint": up.URL, "region": "us-east-1"}}).Into(&created)
			s.id = created.ID
			up.holding(func(object string) bool { return object == "" })
			first.must(s.key, "POST", "/sources/"+s.id+"/sync", object{})
			killed("listing", "")
			up.holding(func(object string) bool { return object == name(50) })
			first.start()
			killed("reading", name(50))
			up.holding(func(object string) bool { return object == name(all-1) })
			first.start()
			half := func() { killed("half written", name(all-1)) }
			if len(s.replicas) == 1 {
				half()
				up.holding(nil)
				up.reads()
				first.start()
			} else {
				for _, other := range s.replicas[1:] {
					other.start()
				}
				half()
				up.holding(nil)
				up.reads() // another process goes on when the lease of the dead one is over
			}
			s.counted("the first run", "partial", map[string]int64{"seen": all, "created": all - 1, "failed": 1})
			if n := up.reads(); n > all-100 {
				t.Errorf("%d objects were read again, of %d", n, all)
			}
			if first.running() == nil {
				first.start()
			}
			run := s.now().LastRun.ID
			var failed struct {
				Items []struct {
					Key   string
					Error struct{ Code string }
				}
			}
			s.ok(s.key, "GET", "/sources/"+s.id+"/runs/"+run+"/items?status=failed", nil).Into(&failed)
			if len(failed.Items) != 1 || failed.Items[0].Key != name(7) || failed.Items[0].Error.Code != "forbidden" {
				t.Errorf("failed: %+v", failed)
			}
			delete(up.broken, name(7))
			first.must(s.key, "POST", "/sources/"+s.id+"/runs/"+run+"/retry_failed", nil)
			s.counted("failed ones again", "completed", map[string]int64{"seen": 1, "created": 1})
			s.inStep("the first run")

			// Deleting and ending are short: the process is killed as soon as one is seen.
			steps := []func(before, is state) bool{
				func(before, is state) bool { return is.LastRun.ID != before.LastRun.ID },
				func(before, is state) bool {
					return is.LastRun.Counts["updated"] > 0 && is.LastRun.ID != before.LastRun.ID
				},
				func(before, is state) bool { return is.Documents < before.Documents },
				func(before, is state) bool { return is.LastRun.ID != before.LastRun.ID && is.State != "syncing" },
			}
			for n, step := range steps {
				what := fmt.Sprintf("change %d", n)
				before := s.now()
				for k := range 9 {
					up.drop(name(10*n + k + 10))
				}
				up.put(name(0), what)
				first.must(s.key, "POST", "/sources/"+s.id+"/sync", object{})
				harness.EventuallySees(t, what, func() (bool, string) {
					is := s.now()
					return step(before, is), fmt.Sprintf("%+v", is)
				})
				first.kill()
				first.start()
				left := int64(len(up.texts))
				s.counted(what, "completed", map[string]int64{"seen": left, "updated": 1, "unchanged": left - 1, "deleted": 9})
				s.inStep(what)
				if is := s.now(); is.Items != left || is.Documents != left || is.State != "idle" {
					t.Errorf("%s: %+v", what, is)
				}
			}
			var runs struct{ Runs []struct{ ID, Status string } }
			s.ok(s.key, "GET", "/sources/"+s.id+"/runs", nil).Into(&runs)
			if slices.ContainsFunc(runs.Runs, func(r struct{ ID, Status string }) bool {
				return r.Status != "completed" && r.ID != run
			}) || len(runs.Runs) != 2+len(steps) {
				t.Errorf("the runs: %+v", runs.Runs)
			}
		})
	}
}
