package replicas_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

const docs = "/namespaces/docs/documents"

func document(id, text string) object { return object{"id": id, "text": text} }

// hit is one result of a query.
type hit struct{ id, text string }

// hits are the results of a query.
func hits(t testing.TB, a harness.Answer) (out []hit) {
	t.Helper()
	list, ok := a.JSON()["results"].([]any)
	if !ok && a.Status == http.StatusOK {
		t.Errorf("no results in %s", a.Body)
	}
	for _, h := range list {
		o := h.(map[string]any)
		if id, ok := o["document_id"].(string); ok {
			text, _ := o["text"].(string)
			out = append(out, hit{id, text})
			continue
		}
		id, _ := o["id"].(string)
		text, _ := o["matchedContent"].(string)
		out = append(out, hit{id, text})
	}
	return out
}

// load is some clients of two tenants that write, delete and search, and check
// every answer. Both tenants use the same names of everything.
type load struct {
	f       *fleet
	stop    chan struct{}
	running sync.WaitGroup
	writers []*writer
	acked   atomic.Int64
	answers atomic.Int64 // of queries, all checked
	partial atomic.Int64 // of those, with a retriever left out
	scratch atomic.Int64 // namespaces that came and went
	erased  []string     // words that are to be nowhere any more
	kept    []string     // end users that one tenant has erased and the other has not, by turns
	erasing atomic.Int64 // ns, the longest erasure
}

// writer is one client with documents of its own.
type writer struct {
	l     *load
	t     *tenant
	other *tenant
	name  string // in the metadata; that of another one of the other tenant, too
	rand  *rand.Rand
	next  int

	docs     map[string]string // version acknowledged, by id
	memories []string          // contents acknowledged
	newest   atomic.Value      // a version that nobody else may find
	peer     *writer           // that of the same name of the other tenant
}

// The documents and memories that a writer has at most.
const (
	writerDocuments = 30
	writerMemories  = 40
)

// prepare makes the two tenants.
func (f *fleet) prepare() {
	f.t.Helper()
	f.tenants = []*tenant{{org: "default", mark: "aardwolf"}, {org: "rival", mark: "zorilla"}}
	f.ok(f.admin, "POST", "/admin/v1/organizations", object{"name": "rival"})
	for _, t := range f.tenants {
		t.key = f.issue(t.org, object{"name": "test"})
		t.mirror = f.mirrored(t)
		t.memory = f.beside.Key("--org", t.org, "--type", "integration", "--integration", "app",
			"--scopes", "memories:read,memories:write,users:erase",
			"--memories-per-user", "0", "--read-rate", "0", "--write-rate", "0")
		f.ok(t.key, "POST", "/namespaces", object{"name": "docs", "sparse": true})
		// A namespace without documents is none.
		f.ok(t.key, "POST", docs, object{"documents": []object{{"id": "anchor", "text": "The " + t.mark + " keeps mud.",
			"metadata": object{"client": "nobody"}}}})
	}
}

// begin starts clients of both tenants in pairs, and one more that waits for a
// test to use it.
func begin(f *fleet, pairs int) *load {
	l := &load{f: f, stop: make(chan struct{})}
	for i := range pairs + 1 {
		pair := []*writer{}
		for k, t := range f.tenants {
			pair = append(pair, &writer{
				l:     l,
				t:     t,
				other: f.tenants[1-k],
				name:  fmt.Sprint("c", i),
				rand:  rand.New(rand.NewPCG(uint64(i), uint64(k))),
				docs:  map[string]string{},
			})
		}
		pair[0].peer, pair[1].peer = pair[1], pair[0]
		l.writers = append(l.writers, pair...)
	}
	for _, w := range l.writers[:2*pairs] {
		l.running.Go(func() {
			for !l.stopped() {
				w.step()
			}
		})
	}
	return l
}

func (l *load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// idle is the client that does nothing by itself.
func (l *load) idle() *writer { return l.writers[len(l.writers)-2] }

func (w *writer) version() string {
	w.next++
	return fmt.Sprintf("%s%s%d", w.t.mark[:1], strings.ReplaceAll(w.name, "c", "q"), w.next)
}

func (w *writer) text(version string) string {
	return fmt.Sprintf("The %s keeps ledger %s of barrels and herring.", w.t.mark, version)
}

func (w *writer) document(id, version string) object {
	return object{"id": id, "text": w.text(version),
		"metadata": object{"client": w.name, "version": version, "parity": fmt.Sprint(len(id) % 2)}}
}

// fresh are some ids with new versions.
func (w *writer) fresh() map[string]string {
	to := map[string]string{}
	for range 1 + w.rand.IntN(3) {
		to[fmt.Sprintf("%s-%d", w.name, w.rand.IntN(writerDocuments))] = w.version()
	}
	return to
}

// writing is the body of a write.
func (w *writer) writing(to map[string]string) object {
	var list []object
	for id, v := range to {
		list = append(list, w.document(id, v))
	}
	return object{"documents": list}
}

// note notes an acknowledged write; "": a deletion.
func (w *writer) note(to map[string]string) {
	w.l.acked.Add(1)
	for id, v := range to {
		if v == "" {
			delete(w.docs, id)
			continue
		}
		w.docs[id] = v
		w.newest.Store(v)
	}
}

// write reports whether a write was acknowledged; it was not when the test fails. Every other one
// does not wait for a remote index.
func (w *writer) write(to map[string]string) bool {
	prefer := ""
	if w.rand.IntN(2) == 0 {
		prefer = "searchable=soon"
	}
	if w.l.f.ok(w.t.key, "POST", docs, w.writing(to), "Prefer", prefer).Status/100 != 2 {
		return false
	}
	w.note(to)
	return true
}

// look asks one query and checks that what it finds is this tenant's, once.
func (w *writer) look(namespace string, body object) (harness.Answer, []hit) {
	f := w.l.f
	body["top_k"] = 100
	a := f.call(w.t.key, "POST", "/namespaces/"+namespace+"/query", body)
	return a, w.own(a)
}

func (w *writer) own(a harness.Answer) []hit {
	list := hits(w.l.f.t, a)
	seen := map[string]bool{}
	for _, h := range list {
		if !strings.Contains(h.text, w.t.mark) || strings.Contains(h.text, w.other.mark) {
			w.l.f.t.Errorf("FOREIGN: %s is shown %q", w.t.org, h.text)
		}
		if seen[h.id] {
			w.l.f.t.Errorf("TWICE: %s is shown %s twice in %s", w.t.org, h.id, a.Body)
		}
		seen[h.id] = true
	}
	w.l.answers.Add(1)
	parts, _ := a.JSON()["degraded"].([]any)
	for _, p := range parts {
		if p, _ := p.(map[string]any); p["part"] != "rerank" { // which is off
			w.l.partial.Add(1)
			break
		}
	}
	return list
}

// by is a query that finds exactly a version, by each retriever.
func (w *writer) by(retriever, version string) object {
	if retriever == "keyword" {
		return object{"query": version, "retrievers": []string{"keyword"}, "strict": true}
	}
	return object{"query": "ledger of barrels", "retrievers": []string{retriever}, "strict": true,
		"filter": object{"client": w.name, "version": version}}
}

var retrievers = []string{"keyword", "vector", "sparse"}

func (w *writer) retriever() string { return retrievers[w.rand.IntN(len(retrievers))] }

// shows wants a version of a document to be found, and its text to be of it.
func (w *writer) shows(id, version string) {
	r := w.retriever()
	a, got := w.look("docs", w.by(r, version))
	if want := []hit{{id, w.text(version)}}; !slices.Equal(got, want) {
		w.l.f.t.Errorf("LOST: %s wrote %s as %s, and by %s finds %d %s", w.t.org, id, version, r, a.Status, a.Body)
	}
}

// hides wants a version not to be found any more.
func (w *writer) hides(version string) {
	r := w.retriever()
	if a, got := w.look("docs", w.by(r, version)); len(got) != 0 || a.Status != http.StatusOK {
		w.l.f.t.Errorf("STALE: %s deleted %s, and by %s finds %d %s", w.t.org, version, r, a.Status, a.Body)
	}
}

// some is one of the writer's documents; "" when there is none.
func (w *writer) some() string {
	for id := range w.docs {
		return id
	}
	return ""
}

// step makes one change or one look.
func (w *writer) step() {
	f := w.l.f
	switch dice := w.rand.IntN(100); {
	case dice < 45:
		to := w.fresh()
		old := ""
		for id := range to {
			old = w.docs[id]
		}
		if !w.write(to) {
			return
		}
		for id, v := range to {
			w.shows(id, v)
			break
		}
		if old != "" {
			w.hides(old)
		}
	case dice < 57:
		id := w.some()
		if id == "" {
			return
		}
		old := w.docs[id]
		if f.ok(w.t.key, "POST", docs+"/delete", object{"ids": []string{id}}).Status/100 != 2 {
			return
		}
		w.note(map[string]string{id: ""})
		w.hides(old)
	case dice < 60:
		parity := fmt.Sprint(w.rand.IntN(2))
		gone := map[string]string{}
		old := ""
		for id, v := range w.docs {
			if fmt.Sprint(len(id)%2) == parity {
				gone[id], old = "", v
			}
		}
		if f.ok(w.t.key, "POST", docs+"/delete", object{"filter": object{"client": w.name, "parity": parity}}).Status/100 != 2 {
			return
		}
		w.note(gone)
		if old != "" {
			w.hides(old)
		}
	case dice < 68:
		if id := w.some(); id != "" {
			if a := f.ok(w.t.key, "GET", docs+"/"+id, nil); a.JSON()["text"] != w.text(w.docs[id]) {
				f.t.Errorf("LOST: %s wrote %s as %s and reads %s", w.t.org, id, w.docs[id], a.Body)
			}
		}
	case dice < 80: // whatever is there
		body := object{"query": "ledger of barrels and herring"}
		if w.rand.IntN(2) == 0 {
			body["retrievers"] = retrievers
		}
		w.look("docs", body)
	case dice < 86: // what only the other tenant has
		if v, _ := w.peer.newest.Load().(string); v != "" {
			if a, got := w.look("docs", object{"query": v, "retrievers": []string{"keyword"}, "strict": true}); len(got) != 0 ||
				a.Status != http.StatusOK {
				f.t.Errorf("FOREIGN: %s finds by %s of the other tenant %d %s", w.t.org, v, a.Status, a.Body)
			}
		}
	case dice < 96:
		w.remember()
	default:
		w.pass()
	}
}

// remember saves a memory of an end user whom the other tenant has, too.
func (w *writer) remember() {
	f := w.l.f
	if len(w.memories) < writerMemories {
		content := fmt.Sprintf("The %s remembers %s by the harbour.", w.t.mark, w.version())
		if f.ok(w.t.memory, "POST", "/api/v1/memories", object{"endUserId": "ann", "content": content}).Status/100 == 2 {
			w.memories = append(w.memories, content)
			w.l.acked.Add(1)
		}
	}
	if len(w.memories) == 0 {
		return
	}
	want := w.memories[w.rand.IntN(len(w.memories))]
	a := f.ok(w.t.memory, "POST", "/api/v1/search", object{"endUserId": "ann", "query": want, "limit": 100})
	if got := w.own(a); !slices.ContainsFunc(got, func(h hit) bool { return h.text == want }) {
		f.t.Errorf("LOST: %s saved %q and finds %s", w.t.org, want, a.Body)
	}
}

// pass makes a namespace and deletes it.
func (w *writer) pass() {
	f := w.l.f
	name := "scratch-" + w.name
	v := w.version()
	w.l.f.ok(w.t.key, "POST", "/namespaces/"+name+"/documents",
		object{"documents": []object{document("one", w.text(v)), document("two", w.text(v))}})
	w.l.acked.Add(1)
	if _, got := w.look(name, object{"query": "barrels of herring", "retrievers": []string{"vector"},
		"strict": true}); len(got) != 2 {
		f.t.Errorf("LOST: %s has two documents in %s, and finds %v", w.t.org, name, got)
	}
	// Repeated after a kill it may be gone already.
	if a := f.call(w.t.key, "DELETE", "/namespaces/"+name, nil); a.Status/100 != 2 && a.Status != http.StatusNotFound {
		f.t.Errorf("deleting %s: %d %s", name, a.Status, a.Body)
	}
	if a, got := w.look(name, object{"query": v, "retrievers": []string{"keyword"}}); a.Status != http.StatusNotFound {
		f.t.Errorf("STALE: %s deleted %s, and finds %v: %d %s", w.t.org, name, got, a.Status, a.Body)
	}
	w.l.scratch.Add(1)
}

// rareWord is the word of a tenant's end user gone-N. It ends in a letter, so that none
// is part of another: files are searched for it byte by byte.
func rareWord(t *tenant, n int) string { return fmt.Sprintf("quetzal%s%dq", t.mark, n) }

// erase makes an end user of both tenants, erases that of one and looks at both.
func (l *load) erase(n int) {
	f := l.f
	user := fmt.Sprintf("gone-%d", n)
	for _, t := range f.tenants {
		var batch []object
		for i := range 12 {
			batch = append(batch, object{"content": fmt.Sprintf("The %s saw a %s number %d.", t.mark, rareWord(t, n), i)})
		}
		f.ok(t.memory, "POST", "/api/v1/memories/batch", object{"endUserId": user, "memories": batch})
	}
	found := func(t *tenant) int { return l.memories(t, user) }
	for _, t := range f.tenants {
		if got := found(t); got != 12 {
			f.t.Errorf("LOST: %s saved 12 memories of %s and finds %d", t.org, user, got)
		}
	}
	gone, stays := f.tenants[n%2], f.tenants[1-n%2]
	began := time.Now()
	f.ok(gone.memory, "DELETE", "/api/v1/users/"+user, nil)
	if took := int64(time.Since(began)); took > l.erasing.Load() {
		l.erasing.Store(took)
	}
	for range f.replicas {
		if got := found(gone); got != 0 {
			f.t.Errorf("STALE: %s erased %s, and finds %d memories", gone.org, user, got)
		}
		if got := found(stays); got != 12 {
			f.t.Errorf("LOST: %s has 12 memories of %s, of whom the other tenant erased its own, and finds %d",
				stays.org, user, got)
		}
	}
	l.erased = append(l.erased, rareWord(gone, n))
	l.kept = append(l.kept, user)
}

// memories counts those that an end user of gone-N is found to have.
func (l *load) memories(t *tenant, user string) int {
	a := l.f.ok(t.memory, "POST", "/api/v1/search", object{"endUserId": user, "query": "Who saw it?", "limit": 100})
	return len(l.writers[slices.Index(l.f.tenants, t)].own(a))
}

// end stops the clients and checks through every replica, every retriever and the
// store that what was acknowledged is there, once, and nothing else.
func (l *load) end() {
	close(l.stop)
	l.running.Wait()
	l.audit()
	if l.f.set.index != "" {
		l.counts()
	}
}

func (l *load) audit() {
	f := l.f
	for _, t := range f.tenants {
		want := map[string]string{"anchor": "The " + t.mark + " keeps mud."}
		var memories []string
		for _, w := range l.writers {
			if w.t != t {
				continue
			}
			var own []hit
			for id, v := range w.docs {
				want[id] = w.text(v)
				own = append(own, hit{id, w.text(v)})
			}
			memories = append(memories, w.memories...)
			for i, r := range f.replicas {
				for _, retriever := range retrievers {
					body := object{"query": "ledger of barrels and herring", "retrievers": []string{retriever},
						"strict": true, "filter": object{"client": w.name}, "top_k": 100}
					if a := r.call(t.key, "POST", "/namespaces/docs/query", body); !same(w.own(a), own) {
						f.t.Errorf("LOST or TWICE: by %s replica %d shows %s of client %s %d documents of %d: %d %s",
							retriever, i, t.org, w.name, len(hits(f.t, a)), len(own), a.Status, a.Body)
					}
				}
			}
		}
		for i, r := range f.replicas {
			a := r.call(t.key, "GET", "/namespaces/docs", nil)
			if a.JSON()["documents"] != float64(len(want)) || a.JSON()["chunks"] != float64(len(want)) {
				f.t.Errorf("LOST or TWICE: replica %d counts %v documents and %v chunks of %s, want %d", i,
					a.JSON()["documents"], a.JSON()["chunks"], t.org, len(want))
			}
			var saved []string
			for _, h := range l.writers[slices.Index(f.tenants, t)].own(r.call(t.memory, "POST", "/api/v1/search",
				object{"endUserId": "ann", "query": "by the harbour", "limit": 100})) {
				saved = append(saved, h.text)
			}
			slices.Sort(memories)
			if slices.Sort(saved); !slices.Equal(saved, memories) {
				f.t.Errorf("LOST or TWICE: replica %d shows %d memories of %s, want %d", i, len(saved), t.org, len(memories))
			}
		}
		have := l.listed(t)
		t.mirror.end(slices.Collect(maps.Keys(have)))
		for id, text := range want {
			if have[id] != text {
				f.t.Errorf("LOST: %s acknowledged %s as %q, the store has %q", t.org, id, text, have[id])
			}
		}
		if len(have) != len(want) {
			f.t.Errorf("the store has %d documents of %s, want %d", len(have), t.org, len(want))
		}
	}
	for n, user := range l.kept {
		gone, stays := f.tenants[n%2], f.tenants[1-n%2]
		if got := l.memories(gone, user); got != 0 {
			f.t.Errorf("STALE: %s erased %s, and finds %d memories", gone.org, user, got)
		}
		if got := l.memories(stays, user); got != 12 {
			f.t.Errorf("LOST: %s has 12 memories of %s and finds %d", stays.org, user, got)
		}
	}
	for _, word := range l.erased {
		if left := f.left(word); len(left) != 0 {
			f.t.Errorf("STALE: words of an erased end user are in %v", left)
		}
	}
}

func same(a, b []hit) bool {
	by := func(x, y hit) int { return strings.Compare(x.id+"\x00"+x.text, y.id+"\x00"+y.text) }
	slices.SortFunc(a, by)
	slices.SortFunc(b, by)
	return slices.Equal(a, b)
}

// listed are the texts of a tenant's documents as the store has them.
func (l *load) listed(t *tenant) map[string]string {
	all := map[string]string{}
	for cursor := ""; ; {
		a := l.f.ok(t.key, "GET", docs+"?limit=100&cursor="+url.QueryEscape(cursor), nil)
		list, _ := a.JSON()["documents"].([]any)
		for _, d := range list {
			id, _ := d.(map[string]any)["id"].(string)
			if _, ok := all[id]; ok {
				l.f.t.Errorf("TWICE: %s is listed twice of %s", id, t.org)
			}
			all[id], _ = l.f.ok(t.key, "GET", docs+"/"+id, nil).JSON()["text"].(string)
		}
		if cursor, _ = a.JSON()["next_cursor"].(string); cursor == "" {
			return all
		}
	}
}

// counts wants the index outside to hold as many chunks as the store, at the
// latest once a replica has restarted, which clears what a kill left.
func (l *load) counts() {
	f := l.f
	const stored = "SELECT coalesce(sum(chunks), 0)::int FROM namespaces WHERE dropped = 0"
	want := f.rows(stored)
	if have := f.index.chunks(); have != want {
		f.t.Logf("the index holds %d chunks of %d before a replica restarts", have, want)
		f.replicas[0].kill()
		f.replicas[0].start()
	}
	have := 0
	for began := time.Now(); time.Since(began) < f.patience(); time.Sleep(100 * time.Millisecond) {
		if have, want = f.index.chunks(), f.rows(stored); have == want {
			return
		}
	}
	f.t.Errorf("LOST or TWICE: the index holds %d chunks, the store %d", have, want)
}
