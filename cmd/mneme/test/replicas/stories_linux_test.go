package replicas_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// figures are what a story has measured beside what the fleet and the load count.
type figures struct {
	revoked, back, indexed, whole, rebuilt time.Duration
	node, nodes, rolled, freed             time.Duration // opensearch
}

// TestSets tells the same story over each set of backends: three processes, or
// one over SQLite, behind a client that asks them in turn, for two tenants who
// name everything alike. Writes are seen through every replica, replicas are
// killed under load, end users are erased, the store and the index go away and
// come back, the index is lost. All the while nothing acknowledged is lost, nothing is there twice, and no
// tenant sees anything of the other.
func TestSets(t *testing.T) {
	t.Parallel()
	for _, s := range sets(testing.Short()) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := &fleet{t: t, set: s}
			if !s.sqlite {
				f.postgres = postgrestest.Start()
				t.Cleanup(func() {
					if f.again != nil {
						f.again()
					}
					f.postgres.Stop()
				})
			}
			f.begin("roles: {rerank: off}\n")
			f.prepare()
			var m figures
			f.alternate()
			l := begin(f, 2)
			m.revoked = f.revocation()
			l.killed()
			if !s.sqlite {
				m.back = l.withoutStore()
			}
			if f.index != nil {
				m.indexed, m.whole = l.withoutIndex()
			}
			if x, ok := f.index.(*openSearchIndex); ok {
				m.node, m.nodes = l.withoutNodes(x)
				m.rolled = l.rolling(x)
				m.freed = l.withoutSpace(x)
			}
			m.rebuilt = l.withoutItsData()
			l.end()
			t.Logf("FIGURES %s: %d calls, %d answers of queries checked (%d partial), %d writes acknowledged, %d kills, "+
				"%d end users erased (longest %v), %d namespaces made and deleted, %d answers of 503 with Retry-After; "+
				"last call let through %v after its key was revoked; first write %v after the store's return, %v after "+
				"the index's, whole answers everywhere %v after it; found again %v after the loss of the index; "+
				"of a cluster: first write %v after a node was killed, %v after two of three came back, %v after a node was "+
				"stopped in a rolling restart, %v after its disks had space again",
				s.name, f.calls.Load(), l.answers.Load(), l.partial.Load(), l.acked.Load(), f.kills.Load(), len(l.kept),
				time.Duration(l.erasing.Load()).Round(time.Millisecond),
				l.scratch.Load(), f.refused.Load(), m.revoked.Round(time.Millisecond), m.back.Round(time.Millisecond),
				m.indexed.Round(time.Millisecond), m.whole.Round(time.Millisecond), m.rebuilt.Round(time.Millisecond),
				m.node.Round(time.Millisecond), m.nodes.Round(time.Millisecond), m.rolled.Round(time.Millisecond),
				m.freed.Round(time.Millisecond))
		})
	}
}

// alternate writes through one replica and wants the others to see it at once.
func (f *fleet) alternate() {
	f.t.Helper()
	t := f.tenants[0]
	n := len(f.replicas)
	query := func(r *replica, word string) []hit {
		return hits(f.t, r.must(t.key, "POST", "/namespaces/docs/query",
			object{"query": word, "retrievers": []string{"keyword"}, "strict": true}))
	}
	for i := range 2 * n {
		id, word, other := fmt.Sprintf("d%d", i), fmt.Sprintf("heron%d", i), fmt.Sprintf("egret%d", i)
		f.replicas[i%n].must(t.key, "POST", docs, object{"documents": []object{document(id, "A "+word+" of the "+t.mark)}})
		for k, r := range f.replicas {
			if got := query(r, word); len(got) != 1 || got[0].id != id {
				f.t.Errorf("LOST: written through one replica, replica %d finds %v", k, got)
			}
		}
		f.replicas[(i+1)%n].must(t.key, "POST", docs, object{"documents": []object{document(id, "An "+other+" of the "+t.mark)}})
		for k, r := range f.replicas {
			if got := query(r, word); len(got) != 0 {
				f.t.Errorf("STALE: rewritten through one replica, replica %d finds %v by the old text", k, got)
			}
		}
		f.replicas[(i+2)%n].must(t.key, "POST", docs+"/delete", object{"ids": []string{id}})
		for k, r := range f.replicas {
			if got := query(r, other); len(got) != 0 {
				f.t.Errorf("STALE: deleted through one replica, replica %d finds %v", k, got)
			}
		}
	}
}

// revocation measures how long a revoked key is let through anywhere.
func (f *fleet) revocation() time.Duration {
	f.t.Helper()
	a := f.ok(f.admin, "POST", "/admin/v1/organizations/rival/keys", object{"name": "short-lived"})
	id, _ := a.JSON()["id"].(string)
	secret, _ := a.JSON()["secret"].(string)
	return f.refusedWithin("revocation under load", func() {
		f.replicas[0].must(f.admin, "DELETE", "/admin/v1/organizations/rival/keys/"+id, nil)
	}, secret, "GET", "/namespaces", http.StatusUnauthorized)
}

// killed kills replicas under the load while end users are erased.
func (l *load) killed() {
	f := l.f
	// Words of an end user are to be seen, or their absence proves nothing.
	l.erase(0)
	if kept := rareWord(f.tenants[1], 0); len(f.leftovers(kept)) == 0 {
		f.t.Errorf("nothing keeps the word %s of an end user who was not erased", kept)
	}
	done := f.killing(time.Second)
	for n := 1; n <= harness.Rounds(f.t, 10, 10) || f.kills.Load() < 3; n++ {
		l.erase(n)
		time.Sleep(200 * time.Millisecond)
	}
	done()
}

// withoutStore stops the database for a while. It gives the time from its return
// to the first acknowledged write.
func (l *load) withoutStore() time.Duration {
	f := l.f
	if os.Getenv("MNEME_TEST_POSTGRES_DSN") != "" {
		f.t.Log("LEFT OUT: the PostgreSQL of MNEME_TEST_POSTGRES_DSN is not the tests' to restart")
		return 0
	}
	refused := f.refused.Load()
	up := f.outage()
	time.Sleep(1500 * time.Millisecond)
	for began := time.Now(); f.refused.Load() == refused; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			f.t.Error("nobody noticed that the database is away")
			break
		}
	}
	up()
	began := time.Now()
	w := l.idle()
	w.write(w.fresh())
	return time.Since(began)
}

// withoutIndex cuts the index off for a while. It gives the times from its return
// to the first acknowledged write, and to whole answers of every replica.
func (l *load) withoutIndex() (back, whole time.Duration) {
	f, w := l.f, l.idle()
	f.index.cut()
	lagging := f.set.outage == meilisearch.CatchUp
	direct := func(body any, path string) harness.Answer {
		r := f.replicas[w.next%len(f.replicas)]
		a, err := r.ask(w.t.key, "POST", path, body)
		if err != nil {
			f.t.Error(err)
		}
		if a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "" {
			f.t.Errorf("503 without Retry-After: %s", a.Body)
		}
		return a
	}
	var again []map[string]string
	for range 4 {
		to := w.fresh()
		a := direct(w.writing(to), docs)
		switch {
		case lagging && a.Status == http.StatusOK:
			w.note(to)
		case lagging:
			f.t.Errorf("a write while the index catches up later: %d %s", a.Status, a.Body)
		case a.Status != http.StatusServiceUnavailable:
			f.t.Errorf("a write without its index: %d %s, want 503", a.Status, a.Body)
		default: // stored and not acknowledged; repeated once it is back
			again = append(again, to)
		}
		both := object{"query": "ledger of barrels", "retrievers": []string{"vector", "keyword"}}
		a = direct(both, "/namespaces/docs/query")
		if f.set.index == "meilisearch" {
			if a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"part":"keyword"`) || len(w.own(a)) == 0 {
				f.t.Errorf("a query without keyword search: %d %s, want a degraded answer", a.Status, a.Body)
			}
		} else if a.Status != http.StatusServiceUnavailable {
			f.t.Errorf("a query without an index: %d %s, want 503", a.Status, a.Body)
		}
		both["strict"] = true
		if a = direct(both, "/namespaces/docs/query"); a.Status != http.StatusServiceUnavailable {
			f.t.Errorf("a strict query without an index: %d %s, want 503", a.Status, a.Body)
		}
		if lagging { // it starts without the index
			f.replicas[w.next%len(f.replicas)].kill()
			f.kills.Add(1)
			f.replicas[w.next%len(f.replicas)].start()
		}
		time.Sleep(300 * time.Millisecond)
	}
	f.index.mend()
	began := time.Now()
	to := w.fresh()
	w.write(to)
	back = time.Since(began)
	for _, to := range again {
		w.write(to)
	}
	for _, r := range f.replicas {
		r.call(w.t.key, "POST", "/namespaces/docs/query",
			object{"query": "ledger of barrels", "retrievers": retrievers, "strict": true})
	}
	return back, time.Since(began)
}

// withoutNodes kills each node of the index's cluster under load, one after the other, and
// then two of three at once. It gives the longest time from a kill to the next acknowledged
// write, and that from the return of the two.
func (l *load) withoutNodes(x *openSearchIndex) (node, nodes time.Duration) {
	f, w := l.f, l.idle()
	for i := range x.gates {
		x.whole()
		x.Kill(f.t, i)
		began := time.Now()
		to := w.fresh()
		w.write(to)
		node = max(node, time.Since(began))
		for id, v := range to {
			w.shows(id, v)
		}
		time.Sleep(2 * time.Second)
		x.Start(f.t, i)
	}
	x.whole()
	refused := f.refused.Load()
	x.Kill(f.t, 1)
	x.Kill(f.t, 2)
	for began := time.Now(); f.refused.Load() == refused; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			f.t.Error("nobody noticed that two of three nodes are dead")
			break
		}
	}
	x.Start(f.t, 1)
	x.Start(f.t, 2)
	began := time.Now()
	w.write(w.fresh())
	nodes = time.Since(began)
	x.whole()
	return node, nodes
}

// rolling restarts each node in order, as for an upgrade. It gives the longest time from a stop to the
// next acknowledged write.
func (l *load) rolling(x *openSearchIndex) (longest time.Duration) {
	f, w := l.f, l.idle()
	for i := range x.gates {
		x.whole()
		began := time.Now()
		x.End(f.t, i)
		to := w.fresh()
		w.write(to)
		longest = max(longest, time.Since(began))
		for id, v := range to {
			w.shows(id, v)
		}
		x.Start(f.t, i)
	}
	x.whole()
	return longest
}

// withoutSpace has the nodes' disks nearly full for a while: writes are refused, and what is there is
// found. It gives the time from the end of the block to the next acknowledged write.
func (l *load) withoutSpace(x *openSearchIndex) time.Duration {
	f, w := l.f, l.idle()
	x.full(true)
	refused := f.refused.Load()
	harness.Eventually(f.t, "a write is refused while the disks are full", func() bool { return f.refused.Load() > refused })
	for n, user := range l.kept {
		if got := l.memories(f.tenants[1-n%2], user); got != 12 {
			f.t.Errorf("LOST: while the disks are full, %d of 12 memories of %s are found", got, user)
		}
	}
	x.full(false)
	began := time.Now()
	to := w.fresh()
	w.write(to)
	took := time.Since(began)
	for id, v := range to {
		w.shows(id, v)
	}
	return took
}

// withoutItsData loses what the index holds, under load. It gives the time until
// all of it is found again.
func (l *load) withoutItsData() time.Duration {
	f, w := l.f, l.idle()
	to := map[string]string{w.name + "-last": w.version()}
	w.write(to)
	if f.index != nil {
		f.index.lose()
	} else {
		r := f.replicas[len(f.replicas)-1]
		r.kill()
		f.kills.Add(1)
		if err := os.RemoveAll(filepath.Join(r.site.Data, "index")); err != nil {
			f.t.Fatal(err)
		}
		r.start()
	}
	began := time.Now()
	for range f.replicas {
		for id, v := range to {
			w.shows(id, v)
		}
	}
	return time.Since(began)
}
