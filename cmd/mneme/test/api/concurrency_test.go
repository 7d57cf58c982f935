package api_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
)

// vocabulary for random texts.
var vocabulary = strings.Fields(`lease rent flat bread salt dough kitchen client crash reset harbour light password ` +
	`page link music train ticket
	river stone garden winter paper copper signal engine window letter market bridge cotton silver island thunder`)

func sentence(r *rand.Rand, n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return strings.Join(w, " ") + "."
}

// model is what a namespace should hold: id to text and version.
type model map[string]struct {
	text    string
	version int
}

// verify holds a namespace against its model: the list, the texts, the counts,
// and that every retriever finds every document by its own mark and no other.
func verify(s *server, ns string, want model) {
	s.t.Helper()
	ids := make([]string, 0, len(want))
	var size int
	for id, d := range want {
		ids = append(ids, id)
		size += len(d.text)
	}
	slices.Sort(ids)
	if got := s.ids(ns); !slices.Equal(got, ids) {
		s.t.Errorf("%s holds %v, want %v", ns, got, ids)
		return
	}
	if len(ids) == 0 {
		return
	}
	n := s.get("/namespaces/" + ns).ok()
	if int(n.number("documents")) != len(ids) || int(n.number("bytes")) != size {
		s.t.Errorf("%s counts %s, want %d documents of %d bytes", ns, n.body, len(ids), size)
	}
	chunks := 0
	for _, id := range ids {
		d := s.get("/namespaces/" + ns + "/documents/" + id).ok()
		if d.json["text"] != want[id].text {
			s.t.Errorf("%s/%s is %q, want %q", ns, id, d.json["text"], want[id].text)
		}
		chunks += int(d.number("chunks"))
		for _, mode := range []string{"keyword", "vector"} {
			r := s.query(ns, object{"query": want[id].text, "mode": mode, "filter": object{"id": id}, "top_k": 100})
			hits := r.list("results")
			if len(hits) != int(d.number("chunks")) {
				s.t.Errorf("%s/%s: %s finds %d chunks of %v", ns, id, mode, len(hits), d.json["chunks"])
			}
			for _, h := range hits {
				if h["document_id"] != id || h["metadata"].(object)["version"] != float64(want[id].version) {
					s.t.Errorf("%s/%s: %s finds %v", ns, id, mode, h)
				}
			}
		}
	}
	if int(n.number("chunks")) != chunks {
		s.t.Errorf("%s counts %v chunks, its documents %d", ns, n.json["chunks"], chunks)
	}
	// Every chunk is found once, none that is gone.
	got := map[string]int{}
	for _, h := range s.query(ns, object{"query": "anything at all", "mode": "vector", "top_k": 100}).list("results") {
		got[fmt.Sprint(h["document_id"], h["chunk_index"])]++
	}
	if len(got) != min(chunks, 100) {
		s.t.Errorf("%s: vector search finds %d of %d chunks", ns, len(got), chunks)
	}
}

// TestConcurrentModel: writers, deleters and readers at once, each id owned by
// one writer, so that the end is known; reads in between see whole versions.
func TestConcurrentModel(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const writers, steps = 6, 60
		namespaces := []string{"one", "two"}
		owned := make([]map[string]model, writers)
		var wg, readers sync.WaitGroup
		done := make(chan struct{})
		for range 2 {
			readers.Add(1)
			go func() {
				defer readers.Done()
				for n := 0; ; n++ {
					select {
					case <-done:
						return
					default:
					}
					ns := namespaces[n%2]
					v := n % 3
					r := s.post("/namespaces/"+ns+"/query",
						object{"query": vocabulary[n%len(vocabulary)], "filter": object{"parity": fmt.Sprint(v % 2)},
							"top_k": 50})
					if r.status == 404 {
						continue
					}
					r.ok()
					if len(r.list("degraded")) != 0 {
						t.Errorf("a read degraded: %s", clip(r.body))
					}
					for _, h := range r.list("results") {
						m := h["metadata"].(object)
						text := fmt.Sprint(h["text"])
						if m["parity"] != fmt.Sprint(v%2) || !strings.Contains(text, fmt.Sprintf("version%v", m["version"])) {
							t.Errorf("a read against its filter or of half a version: %v", h)
						}
					}
				}
			}()
		}
		for w := range writers {
			owned[w] = map[string]model{"one": {}, "two": {}}
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewPCG(uint64(w), 7))
				for step := range steps {
					ns := namespaces[r.IntN(2)]
					mine := owned[w][ns]
					switch r.IntN(10) {
					case 0, 1: // delete by ids
						var ids []string
						for id := range mine {
							if len(ids) < 3 {
								ids = append(ids, id)
							}
						}
						if len(ids) == 0 {
							continue
						}
						got := s.post("/namespaces/"+ns+"/documents/delete", object{"ids": ids}).ok()
						if int(got.number("deleted")) != len(ids) {
							t.Errorf("deleted %s of %v", got.body, ids)
						}
						for _, id := range ids {
							delete(mine, id)
						}
					case 2: // delete by filter
						id := fmt.Sprintf("w%d-%d", w, r.IntN(8))
						got := s.post("/namespaces/"+ns+"/documents/delete", object{"filter": object{"id": id}}).ok()
						if _, there := mine[id]; there != (got.number("deleted") == 1) {
							t.Errorf("deleting %s by filter: %s", id, got.body)
						}
						delete(mine, id)
					default:
						var docs []object
						for _, k := range r.Perm(8)[:1+r.IntN(3)] {
							id := fmt.Sprintf("w%d-%d", w, k)
							text := fmt.Sprintf("%s version%d", sentence(r, 8), step)
							if r.IntN(3) == 0 {
								text += fmt.Sprintf("\n\n%s version%d", sentence(r, 5), step)
							}
							docs = append(docs,
								doc(id, text, fmt.Sprintf(`{"id":%q,"version":%d,"parity":"%d"}`, id, step, step%2)))
							mine[id] = struct {
								text    string
								version int
							}{text, step}
						}
						s.write(ns, docs...)
						// What was answered with 200 is found at once.
						id := fmt.Sprint(docs[0]["id"])
						if got := s.query(ns,
							object{"query": docs[0]["text"],
								"filter": object{"id": id, "version": step}}).found(); len(got) == 0 || got[0] != id {
							t.Errorf("%s/%s is not found after its write was answered: %v", ns, id, got)
						}
					}
				}
			}()
		}
		wg.Wait()
		close(done)
		readers.Wait()
		for _, ns := range namespaces {
			all := model{}
			for w := range writers {
				for id, d := range owned[w][ns] {
					all[id] = d
				}
			}
			verify(s, ns, all)
		}
	})
}

// TestConcurrentSameDocument: writers of one document leave one whole version.
func TestConcurrentSameDocument(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		var wg sync.WaitGroup
		var created atomic.Int32
		for w := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 10 {
					v := fmt.Sprintf("w%dn%d", w, i)
					r := s.write("docs", doc("a", "- one "+v+"\n\n# two\n\n"+v, `{"v":"`+v+`"}`),
						doc("b", "three "+v, `{"v":"`+v+`"}`))
					if r.list("documents")[0]["created"] == true {
						created.Add(1)
					}
				}
			}()
		}
		wg.Wait()
		if created.Load() != 1 {
			t.Errorf("%d writers created the document", created.Load())
		}
		a, bb := s.get("/namespaces/docs/documents/a").ok(), s.get("/namespaces/docs/documents/b").ok()
		v := fmt.Sprint(a.json["metadata"].(object)["v"])
		if bb.json["metadata"].(object)["v"] != v || a.json["text"] != "- one "+v+"\n\n# two\n\n"+v ||
			bb.json["text"] != "three "+v {
			t.Errorf("a mixture: %s and %s", a.body, bb.body)
		}
		for _, mode := range []string{"vector", "keyword"} {
			hits := s.query("docs", object{"query": "one two three " + v, "mode": mode, "top_k": 100}).list("results")
			if len(hits) != 3 || slices.ContainsFunc(hits,
				func(h object) bool { return !strings.HasSuffix(fmt.Sprint(h["text"]), v) }) {
				t.Errorf("%s finds %v", mode, hits)
			}
		}
	})
}

// TestConcurrentLives: writing to and deleting the same namespace at once never
// fails and never shows a document of an earlier life.
func TestConcurrentLives(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for w := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 40 {
					id := fmt.Sprintf("w%d", w)
					s.write("docs", doc(id, fmt.Sprintf("life %d %d", w, i), ""))
					if r := s.post("/namespaces/docs/query", object{"query": "life"}); r.status != 404 {
						r.ok()
					}
				}
			}()
		}
		deleted := make(chan int, 1)
		go func() {
			n := 0
			for {
				select {
				case <-stop:
					deleted <- n
					return
				default:
				}
				if s.do("DELETE", "/namespaces/docs", nil).ok().json["deleted"] == true {
					n++
				}
				time.Sleep(time.Millisecond)
			}
		}()
		wg.Wait()
		close(stop)
		if await(t, "the deletions end", deleted) == 0 {
			t.Error("nothing was deleted in between")
		}
		s.do("DELETE", "/namespaces/docs", nil).ok()
		s.write("docs", doc("last", "the last life", ""))
		for _, mode := range []string{"vector", "keyword"} {
			if got := s.query("docs", object{"query": "life", "mode": mode}).found(); !slices.Equal(got, []string{"last"}) {
				t.Errorf("%s finds %v of earlier lives", mode, got)
			}
		}
	})
}

// TestConcurrentTenants: organizations with the same names at the same time.
func TestConcurrentTenants(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		first := start(t, b, options{})
		tenants := []*server{first, first.organization("two"), first.organization("three")}
		var wg sync.WaitGroup
		for n, s := range tenants {
			mark := fmt.Sprintf("marker%c", 'a'+n)
			for w := range 2 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					r := rand.New(rand.NewPCG(uint64(n), uint64(w)))
					for i := range 25 {
						id := fmt.Sprintf("d%d", r.IntN(10))
						switch i % 5 {
						case 4:
							s.post("/namespaces/shared/documents/delete", object{"ids": []string{id}}).ok()
						default:
							s.write("shared", doc(id, mark+" "+sentence(r, 6), `{"who":"`+mark+`"}`))
						}
						res := s.post("/namespaces/shared/query",
							object{"query": "markera markerb markerc " + vocabulary[i], "top_k": 50})
						if res.status == 404 {
							continue
						}
						for _, h := range res.ok().list("results") {
							if !strings.HasPrefix(fmt.Sprint(h["text"]), mark+" ") || h["metadata"].(object)["who"] != mark {
								t.Errorf("tenant %d sees %v", n, h)
							}
						}
					}
				}()
			}
		}
		wg.Wait()
	})
}

// TestManyClientsOnASmallGate: a thousand clients at once are served in turn or
// told to come back; memory stays bounded and the server serves on.
func TestManyClientsOnASmallGate(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{engine: func(c *engine.Config) { c.Concurrency, c.Queue = 4, 32 }})
		s.write("docs", doc("a", "some words to find", ""))
		s.embedder.Before.Set(func(ctx context.Context, as port.TextKind, _ []string) error {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		var before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		const clients = 1000
		var served, busy atomic.Int32
		var written sync.Map
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i := range clients {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-begin
				for try := range 2 {
					id := fmt.Sprintf("c%d-%d", i, try)
					path, body := "/namespaces/docs/query", any(object{"query": fmt.Sprintf("words %d", i)})
					if i%4 == 0 {
						path, body = "/namespaces/docs/documents", object{"documents": []object{doc(id, "written by "+id, "")}}
					}
					r, err := s.send(context.Background(), "POST", path, body)
					if err != nil {
						t.Errorf("client %d: %v", i, err)
						return
					}
					switch r.status {
					case http.StatusOK:
						served.Add(1)
						if i%4 == 0 {
							written.Store(id, true)
						}
					case http.StatusServiceUnavailable:
						r.fails(503, "unavailable", "busy").retry()
						busy.Add(1)
					default:
						t.Errorf("client %d: %d %s", i, r.status, clip(r.body))
					}
				}
			}()
		}
		close(begin)
		peak := uint64(0)
		over := make(chan struct{})
		go func() {
			defer close(over)
			for served.Load()+busy.Load() < 2*clients && !t.Failed() {
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
				if r, err := s.send(context.Background(), "GET", "/health", nil); err != nil || r.status != 200 {
					t.Errorf("health under load: %v %v", r, err)
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
		wg.Wait()
		await(t, "the checks of health end", over)
		t.Logf("%d served, %d refused, heap at most %d MiB over the start", served.Load(), busy.Load(),
			(int64(peak)-int64(before.HeapAlloc))>>20)
		if served.Load() == 0 || busy.Load() == 0 {
			t.Errorf("%d served and %d refused of %d", served.Load(), busy.Load(), 2*clients)
		}
		if grown := int64(peak) - int64(before.HeapAlloc); grown > 512<<20 {
			t.Errorf("the heap grew by %d MiB", grown>>20)
		}
		s.embedder.Before.Clear()
		// No collapse: what was answered is there, what was refused is not.
		have := s.ids("docs")
		count := 1
		written.Range(func(id, _ any) bool {
			count++
			if !slices.Contains(have, id.(string)) {
				t.Errorf("%v was answered with 200 and is absent", id)
			}
			return true
		})
		if len(have) != count {
			t.Errorf("%d documents are stored, %d writes were answered with 200", len(have), count)
		}
		s.query("docs", object{"query": "words"})
		if f := s.engine.Figures(); f.Running != 0 || f.Waiting != 0 {
			t.Errorf("%d calls hold the gate and %d wait after all are answered", f.Running, f.Waiting)
		}
	})
}
