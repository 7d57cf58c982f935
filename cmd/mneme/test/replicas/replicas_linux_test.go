package replicas_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/ident"
)

// claims are the rows of those that end with their work. The one of the replica that numbers
// events stays.
const claims = "claims WHERE name <> 'events/publish'"

// Three processes that start together on an empty database make its schema once.
// Commands work beside them, in folders of their own.
func TestBesideReplicas(t *testing.T) {
	t.Parallel()
	f := start(t, "")
	if n, distinct := f.rows("SELECT count(*) FROM schema_migrations"),
		f.rows("SELECT count(DISTINCT version) FROM schema_migrations"); n == 0 || n != distinct {
		t.Errorf("%d schema steps were recorded, %d of them different", n, distinct)
	}
	if n := f.rows("SELECT count(*) FROM organizations"); n != 1 {
		t.Errorf("%d organizations were made", n)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "note.md"),
		[]byte("# Ibis\n\nAn ibis wades through the imported marsh.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.beside.Mneme("import", folder, "--namespace", "docs")
	for i, r := range f.replicas {
		if got := hits(t, r.must(f.key, "POST", "/namespaces/docs/query",
			object{"query": "ibis marsh", "mode": "keyword"})); len(got) != 1 {
			t.Errorf("replica %d finds %v of what was imported beside it", i, got)
		}
	}
}

// integration makes a key of an integration with all rights.
func (f *fleet) integration(quotas ...string) string {
	return f.beside.Key(append([]string{"--type", "integration", "--integration", "app", "--scopes",
		"memories:read,memories:write,users:erase"}, quotas...)...)
}

// An erasure through one replica is one everywhere: no search finds anything, no
// late writer brings anything back, and no replica's files hold a word of it.
func TestErasure(t *testing.T) {
	t.Parallel()
	f := start(t, "")
	key := f.integration()
	save := func(user string, i int) object {
		return object{"endUserId": user,
			"content": fmt.Sprintf("The quetzalcoatlus number %d was seen by %s over the harbour.", i, user)}
	}
	search := func(r *replica, user string) int {
		a := r.must(key, "POST", "/api/v1/search",
			object{"endUserId": user, "query": "quetzalcoatlus over the harbour", "limit": 100})
		list, ok := a.JSON()["results"].([]any)
		if !ok {
			t.Fatalf("no results in %s", a.Body)
		}
		return len(list)
	}
	var slowest time.Duration
	for round := range harness.Rounds(t, 3, 3) {
		user := fmt.Sprintf("user-%d", round)
		for i := range 24 {
			f.replicas[i%3].must(key, "POST", "/api/v1/memories", save(user, i))
		}
		for i, r := range f.replicas {
			if n := search(r, user); n == 0 {
				t.Fatalf("replica %d finds nothing", i)
			}
		}
		if round == 0 && len(f.leftovers("quetzalcoatlus")) == 0 {
			t.Error("no replica keeps the words in its files, so their absence would prove nothing")
		}
		// Writers go on at the other replicas.
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for c := range 2 {
			writers.Go(func() {
				for i := 100; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					a, err := f.replicas[1+c].ask(key, "POST", "/api/v1/memories", save(user, 1000*c+i))
					if err != nil || a.Status/100 != 2 && a.Status != http.StatusServiceUnavailable {
						t.Errorf("a writer beside the erasure: %d %s, %v", a.Status, a.Body, err)
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		began := time.Now()
		a := f.replicas[0].must(key, "DELETE", "/api/v1/users/"+user, nil)
		slowest = max(slowest, time.Since(began))
		if n, _ := a.JSON()["deletedMemories"].(float64); n < 24 {
			t.Errorf("erased: %s", a.Body)
		}
		close(stop)
		writers.Wait()
		// What they wrote afterwards is a new life of the user; it goes too.
		f.replicas[2].must(key, "DELETE", "/api/v1/users/"+user, nil)
		for i, r := range f.replicas {
			if n := search(r, user); n != 0 {
				t.Errorf("replica %d finds %d memories of an erased end user", i, n)
			}
		}
		if left := f.leftovers("quetzalcoatlus"); len(left) != 0 {
			t.Errorf("words of an erased end user are in %v", left)
		}
	}
	for _, table := range []string{"erasure_acks", claims, "jobs"} {
		if n := f.rows("SELECT count(*) FROM " + table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	t.Logf("FIGURES slowest erasure of three replicas %v", slowest.Round(time.Millisecond))
}

// What a connector brings by its grant through other replicas ends with the erasure,
// with no second one to clean up after it.
func TestAnErasureEndsGrantsEverywhere(t *testing.T) {
	t.Parallel()
	f := start(t, "")
	key := f.integration()
	for round := range harness.Rounds(t, 3, 2) {
		user := fmt.Sprintf("connected-%d", round)
		a := f.replicas[0].must(key, "POST", "/api/v1/grants", object{"endUserId": user, "source": "crm"})
		grant, _ := a.JSON()["grant"].(object)["id"].(string)
		put := func(r *replica, id string) (harness.Answer, error) {
			return r.ask(key, "PUT", "/api/v1/memories/"+id, object{"endUserId": user, "source": "crm", "version": 1,
				"content": "The archaeopteryx was seen by " + id, "occurredAt": "2026-01-02T03:04:05Z"}, "X-Mneme-Grant", grant)
		}
		stop, wrote := make(chan struct{}), make(chan struct{}, 4)
		var writers sync.WaitGroup
		for c := range 2 {
			writers.Go(func() {
				defer func() { wrote <- struct{}{} }()
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					a, err := put(f.replicas[1+c], fmt.Sprintf("r%d-w%d-%d", round, c, i))
					if err != nil || a.Status != http.StatusOK && a.Status != http.StatusForbidden &&
						a.Status != http.StatusServiceUnavailable {
						t.Errorf("a connector beside the erasure: %d %s, %v", a.Status, a.Body, err)
						return
					}
					if i == 0 {
						wrote <- struct{}{}
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		<-wrote
		<-wrote
		if n, _ := f.replicas[0].must(key, "DELETE", "/api/v1/users/"+user, nil).JSON()["revokedGrants"].(float64); n != 1 {
			t.Errorf("%v grants were revoked", n)
		}
		for i, r := range f.replicas {
			if a, err := put(r, fmt.Sprintf("late-%d", i)); err != nil || a.Status != http.StatusForbidden {
				t.Errorf("replica %d, after the erasure: %d %s, %v", i, a.Status, a.Body, err)
			}
		}
		close(stop)
		writers.Wait()
		if n := f.rows("SELECT count(*) FROM namespaces WHERE space = 'memories'"); n != 0 {
			t.Errorf("%d end users came back", n)
		}
		if left := f.leftovers("archaeopteryx"); len(left) != 0 {
			t.Errorf("words that came by a grant are in %v", left)
		}
	}
	if n := f.rows("SELECT count(*) FROM grants WHERE end_user <> '' OR revoked_at = 0"); n != 0 {
		t.Errorf("%d grants name an end user, or are live", n)
	}
}

// An erasure whose replica dies is finished by another one.
func TestErasureMovesOn(t *testing.T) {
	t.Parallel()
	f := start(t, "")
	key := f.integration()
	for i := range 4 {
		var batch []object
		for j := range 100 {
			batch = append(batch, object{"content": fmt.Sprintf("Note %d of batch %d about lighthouses.", j, i)})
		}
		f.ok(key, "POST", "/api/v1/memories/batch", object{"endUserId": "ann", "memories": batch})
	}
	// The mark and the job of a replica that is no more, as a crash leaves them.
	f.replicas[0].kill()
	before := f.rows("SELECT count(*) FROM namespaces WHERE space = 'memories'")
	if before != 1 {
		t.Fatalf("%d end users", before)
	}
	f.rows("WITH marked AS (UPDATE namespaces SET erasing_at = 1 WHERE space = 'memories' RETURNING *), " +
		"left_job AS (INSERT INTO jobs (org, id, kind, space, integration, name, generation, status, done, total, tries, " +
		"next_at, cancel, created_at, started_at, updated_at, finished_at, expires_at) " +
		"SELECT org, 'job_left', 'end_user.erase', space, integration, name, generation, 'running', 0, 0, 1, 0, 0, " +
		"1, 1, 1, 0, 0 FROM marked), " +
		"claimed AS (INSERT INTO claims (name, replica, epoch, fence) SELECT 'job/' || m.org || '/job_left', r.id, r.epoch, 1 " +
		"FROM marked m, replicas r ORDER BY r.expires_at LIMIT 1) SELECT count(*)::int FROM marked")
	began := time.Now()
	for f.rows("SELECT count(*) FROM namespaces WHERE space = 'memories'") > 0 {
		if time.Since(began) > f.patience() {
			t.Fatal("nobody finishes the erasure of a dead replica")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("FIGURES an erasure was finished %v after its replica died", time.Since(began).Round(100*time.Millisecond))
}

// refusedWithin measures how long after a change a replica still lets a call
// through: until the last one begun that got another answer than want.
func (f *fleet) refusedWithin(what string, change func(), key, method, path string, want int) time.Duration {
	f.t.Helper()
	var all sync.WaitGroup
	var changed atomic.Int64
	seen := make([]atomic.Int64, len(f.replicas)) // the last call, begun when, that was let through
	for i, r := range f.replicas {
		r.must(key, method, path, nil)
		all.Go(func() {
			for refused := 0; refused < 100; time.Sleep(5 * time.Millisecond) {
				began := time.Now()
				a, err := r.ask(key, method, path, nil)
				at := changed.Load()
				switch {
				case err == nil && a.Status == want:
					refused++
				case err != nil || a.Status >= 500: // neither let through nor refused
				default:
					seen[i].Store(began.UnixNano())
					refused = 0
					if at > 0 && began.UnixNano()-at > int64(f.patience()) {
						f.t.Errorf("%s: a replica lets calls through for minutes", what)
						return
					}
				}
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	change()
	at := time.Now().UnixNano()
	changed.Store(at)
	all.Wait()
	slowest := time.Duration(0)
	for i := range seen {
		slowest = max(slowest, time.Duration(seen[i].Load()-at))
	}
	f.t.Logf("FIGURES %s: the last call let through began %v after it", what, slowest.Round(time.Millisecond))
	return slowest
}

// A key that one replica revokes, and an organization that it suspends, are
// refused by all. That they are within a second is tested in core/key, with a clock
// of the test's own.
func TestRevocation(t *testing.T) {
	t.Parallel()
	f := start(t, "")
	issue := func() (id, secret string) {
		a := f.ok(f.admin, "POST", "/admin/v1/organizations/default/keys", object{"name": "short-lived"})
		id, _ = a.JSON()["id"].(string)
		secret, _ = a.JSON()["secret"].(string)
		return id, secret
	}
	id, secret := issue()
	f.refusedWithin("revocation", func() {
		f.replicas[0].must(f.admin, "DELETE", "/admin/v1/organizations/default/keys/"+id, nil)
	},
		secret, "GET", "/namespaces", http.StatusUnauthorized)
	_, secret = issue()
	f.refusedWithin("suspension", func() {
		f.replicas[1].must(f.admin, "PATCH", "/admin/v1/organizations/default", object{"suspended": true})
	}, secret, "GET", "/namespaces", http.StatusForbidden)
	f.replicas[2].must(f.admin, "PATCH", "/admin/v1/organizations/default", object{"suspended": false})
	for i, r := range f.replicas {
		harness.Eventually(t, fmt.Sprintf("replica %d lets a resumed organization in", i), func() bool {
			a, err := r.ask(secret, "GET", "/namespaces", nil)
			return err == nil && a.Status == http.StatusOK
		})
	}
	// A changed limit holds everywhere, too.
	a := f.ok(f.admin, "POST", "/admin/v1/organizations/default/keys", object{"name": "limited"})
	id, secret = a.JSON()["id"].(string), a.JSON()["secret"].(string)
	f.replicas[0].must(f.admin, "PATCH", "/admin/v1/organizations/default/keys/"+id,
		object{"limits": object{"read": object{"per_minute": 60, "burst": 1}}})
	for i, r := range f.replicas {
		harness.Eventually(t, fmt.Sprintf("replica %d knows the key's new limit", i), func() bool {
			a, err := r.ask(secret, "GET", "/namespaces", nil)
			return err == nil && a.Status == http.StatusTooManyRequests
		})
	}
}

// Rate limits hold for all replicas together, by either way of counting; the
// number of memories of an end user always does.
func TestSharedLimits(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]string{
		"store": `shared: store, read: "60/min burst 12"`,
		"redis": fmt.Sprintf(`shared: redis, redis: "redis://%s", read: "60/min burst 12"`, miniredis.RunT(t).Addr()),
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, limits)
			began := time.Now()
			var allowed, refused atomic.Int64
			var all sync.WaitGroup
			for _, r := range f.replicas {
				all.Go(func() {
					for range 30 {
						a, err := r.ask(f.key, "GET", "/namespaces", nil)
						switch {
						case err != nil:
							t.Error(err)
						case a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "":
							refused.Add(1)
						case a.Status == http.StatusOK:
							allowed.Add(1)
						default:
							t.Errorf("%d %s", a.Status, a.Body)
						}
					}
				})
			}
			all.Wait()
			most := 12 + int64(time.Since(began).Seconds()) + 1
			if n := allowed.Load(); n < 10 || n > most {
				t.Errorf("%d of 90 calls were allowed at three replicas in %v, want about 12 and at most %d", n,
					time.Since(began), most)
			}
			t.Logf("FIGURES %s: %d of 90 calls at three replicas were allowed in %v with a burst of 12", name,
				allowed.Load(), time.Since(began).Round(time.Millisecond))
		})
	}
	t.Run("memories", func(t *testing.T) {
		f := start(t, "")
		key := f.integration("--memories-per-user", "10")
		var saved, refused atomic.Int64
		var all sync.WaitGroup
		for c, r := range f.replicas {
			all.Go(func() {
				for i := range 8 {
					a, err := r.ask(key, "POST", "/api/v1/memories",
						object{"endUserId": "ann", "content": fmt.Sprintf("Note %d of %d.", i, c)})
					switch {
					case err == nil && a.Status/100 == 2:
						saved.Add(1)
					case err == nil && strings.Contains(string(a.Body), "quota_exceeded"):
						refused.Add(1)
					default:
						t.Errorf("%d %s, %v", a.Status, a.Body, err)
					}
				}
			})
		}
		all.Wait()
		if saved.Load() != 10 || refused.Load() != 14 {
			t.Errorf("%d of 24 memories were saved and %d refused, want 10 and 14", saved.Load(), refused.Load())
		}
	})
}

// Usage is the sum of what all replicas did, also after they were stopped and begun again.
func TestUsage(t *testing.T) {
	t.Parallel()
	f := start(t, "")
	f.ok(f.admin, "POST", "/admin/v1/organizations", object{"name": "acme"})
	key := f.issue("acme", object{"name": "counted"})
	const reads, writes = 20, 3
	var all sync.WaitGroup
	for i, r := range f.replicas {
		all.Go(func() {
			for n := range reads {
				r.must(key, "GET", "/namespaces", nil)
				if n < writes {
					r.must(key, "POST", "/namespaces/docs/documents",
						object{"documents": []object{{"id": fmt.Sprintf("d%d-%d", i, n), "text": "An ibis."}}})
				}
			}
		})
	}
	all.Wait()
	for _, r := range f.replicas {
		r.stop()
	}
	f.replicas[0].start()
	list, _ := f.replicas[0].must(f.admin, "GET", "/admin/v1/usage?organization=acme", nil).JSON()["usage"].([]any)
	var requests, documents, chunks float64
	for _, x := range list {
		row := x.(map[string]any)
		requests += row["requests"].(float64)
		documents += row["documents"].(float64)
		chunks += row["chunks"].(float64)
	}
	n := float64(len(f.replicas))
	if requests != n*(reads+writes) || documents != n*writes || chunks != n*writes {
		t.Errorf("%v requests, %v documents and %v chunks are counted, of %v, %v and %v", requests, documents, chunks,
			n*(reads+writes), n*writes, n*writes)
	}
}

// What a replica has accepted to do later is done by another one when it dies:
// asynchronous writes, and the reindexing of a namespace, whose state every
// replica answers. So is the numbering of events: readers miss none and get none twice.
func TestWorkMovesOn(t *testing.T) {
	t.Parallel()
	f := start(t, "")
	told := f.mirrored(&tenant{org: ident.DefaultOrg, key: f.key})
	publisher := f.publisher()
	f.replicas[0], f.replicas[publisher] = f.replicas[publisher], f.replicas[0]
	first, second := f.replicas[0], f.replicas[1]
	batch := func(n, words int) []object {
		var out []object
		for i := range 100 {
			out = append(out, document(fmt.Sprintf("op%d-%d", n, i),
				strings.Repeat(fmt.Sprintf("The ledger of ship %d of fleet %d lists barrels. ", i, n), words)))
		}
		return out
	}
	first.must(f.key, "POST", docs, object{"documents": batch(0, 6)})
	var places []string
	for n := range 5 {
		a := first.must(f.key, "POST", docs, object{"documents": batch(n+1, 3)}, "Prefer", "respond-async")
		places = append(places, a.Header.Get("Location"))
	}
	const reindex = "/admin/v1/organizations/default/namespaces/docs/reindex"
	if a := first.must(f.admin, "POST", reindex, object{"force": true}); a.Status != http.StatusAccepted {
		t.Fatalf("reindex: %d %s", a.Status, a.Body)
	}
	for _, r := range f.replicas { // any replica knows of it
		if a := r.must(f.admin, "GET", reindex, nil); a.JSON()["status"] != "waiting" && a.JSON()["status"] != "running" {
			t.Errorf("the state of a reindexing elsewhere: %s", a.Body)
		}
	}
	if !first.publishes() {
		t.Error("another replica than the one that dies numbers events")
	}
	first.kill()
	f.kills.Add(1)
	began := time.Now()
	await := func(what string, done func() bool) {
		t.Helper()
		for !done() {
			if time.Since(began) > 2*f.patience() {
				t.Fatalf("%s: not done %v after the replica died", what, time.Since(began))
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("FIGURES %s: done %v after the replica that had accepted it died", what,
			time.Since(began).Round(100*time.Millisecond))
	}
	unfinished := 0
	for i, place := range places {
		if a := second.must(f.key, "GET", place, nil); a.JSON()["status"] != "succeeded" {
			unfinished++
		}
		await(fmt.Sprintf("write %d", i), func() bool {
			a := second.must(f.key, "GET", place, nil)
			if a.JSON()["status"] == "failed" {
				t.Fatalf("%s", a.Body)
			}
			return a.JSON()["status"] == "succeeded"
		})
	}
	if unfinished == 0 {
		t.Error("every write had ended before the replica died")
	}
	await("reindexing", func() bool {
		a := f.replicas[2].must(f.admin, "GET", reindex, nil)
		if s := a.JSON()["status"]; s != "waiting" && s != "running" && s != "succeeded" {
			t.Fatalf("%s", a.Body)
		}
		return a.JSON()["status"] == "succeeded"
	})
	if got := second.must(f.key, "GET", "/namespaces/docs", nil).JSON()["documents"]; got != 600.0 {
		t.Errorf("%v documents, want 600", got)
	}
	if n := f.rows("SELECT count(*) FROM " + claims); n != 0 {
		t.Errorf("%d claims are left", n)
	}
	// One that stops in order hands its work over at once.
	a := second.must(f.key, "POST", docs, object{"documents": batch(9, 3)}, "Prefer", "respond-async")
	second.stop()
	began = time.Now()
	await("a write of a replica that stopped", func() bool {
		return f.replicas[2].must(f.key, "GET", a.Header.Get("Location"), nil).JSON()["status"] == "succeeded"
	})
	var all []string
	for n := range 7 {
		for i := range 100 {
			all = append(all, fmt.Sprintf("op%d-%d", []int{0, 1, 2, 3, 4, 5, 9}[n], i))
		}
	}
	told.end(all)
	for id, n := range told.told {
		if n != 1 {
			t.Errorf("%d events tell that %s was written", n, id)
		}
	}
}
