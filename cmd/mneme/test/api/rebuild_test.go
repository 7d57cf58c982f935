package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// answers asks many questions of a namespace and keeps what was answered,
// without the time it took.
func answers(s *server, ns string) []string {
	s.t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	var out []string
	for i := range 40 {
		q := object{"query": sentence(r, 1+i%6), "top_k": 1 + i*2, "explain": true, "neighbors": i % 3,
			"max_chunks_per_document": 1 + i%4,
			"mode":                    []string{"vector", "keyword", "hybrid"}[i%3]}
		if i%4 == 1 {
			q["filter"] = object{"parity": "0"}
		}
		if i%4 == 2 {
			q["filter"] = object{"$or": []object{{"group": object{"$in": []int{1, 2, 3}}}, {"parity": "1"}}}
		}
		answer := s.query(ns, q).json
		delete(answer, "took_ms")
		b, err := json.Marshal(answer)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// complete asks questions whose answers do not hang on the statistics of BM25,
// in which chunks deleted since the last merge may still count: vector search
// whole, and all chunks that keyword and sparse search find.
func complete(s *server, ns string) []string {
	s.t.Helper()
	r := rand.New(rand.NewPCG(13, 14))
	var out []string
	for i := range 30 {
		word := sentence(r, 1)
		for _, h := range s.query(ns, object{"query": sentence(r, 1+i%6), "top_k": 100, "mode": "vector"}).list("results") {
			out = append(out, fmt.Sprint("vector ", i, h["document_id"], h["chunk_index"], h["score"], h["text"]))
		}
		modes := []string{"keyword"}
		if ns == "thin" {
			modes = append(modes, "sparse")
		}
		for _, mode := range modes {
			hits := s.query(ns, object{"query": word, "top_k": 100, "mode": mode,
				"filter": object{"group": object{"$in": []int{i, i + 1, i + 2, i + 3}}}}).list("results")
			if len(hits) == 100 {
				s.t.Fatalf("the question %d is not answered whole", i)
			}
			var found []string
			for _, h := range hits {
				found = append(found, fmt.Sprint(mode, i, h["document_id"], h["chunk_index"], h["text"]))
			}
			slices.Sort(found)
			out = append(out, found...)
		}
	}
	return out
}

// TestIndexEqualsRebuild: after random writes, rewrites and deletions the index
// answers as one rebuilt from the store, and as one that is opened again.
func TestIndexEqualsRebuild(t *testing.T) {
	sequential(t)
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		r := rand.New(rand.NewPCG(3, 4))
		namespaces := []string{"docs", "thin"}
		for step := range 160 {
			ns := namespaces[step%2]
			switch r.IntN(8) {
			case 0:
				s.post("/namespaces/"+ns+"/documents/delete",
					object{"ids": []string{fmt.Sprintf("d%d", r.IntN(150)), fmt.Sprintf("d%d", r.IntN(150))}}).ok()
			case 1:
				s.post("/namespaces/"+ns+"/documents/delete", object{"filter": object{"group": r.IntN(40)}}).ok()
			default:
				var docs []object
				for k, first := range r.Perm(150)[:1+r.IntN(12)] {
					text := sentence(r, 4+r.IntN(12))
					for range r.IntN(4) {
						text += "\n\n" + sentence(r, 3+r.IntN(10))
					}
					if k == 0 && r.IntN(4) == 0 {
						text = ""
					}
					docs = append(docs, doc(fmt.Sprintf("d%d", first), text,
						fmt.Sprintf(`{"parity":"%d","group":%d}`, r.IntN(2), r.IntN(40))))
				}
				s.write(ns, docs...)
			}
		}
		ask := func(s *server, how func(*server, string) []string) (out []string) {
			for _, ns := range namespaces {
				out = append(out, how(s, ns)...)
			}
			return out
		}
		same := func(how string, got, want []string) {
			t.Helper()
			if len(want) < 30 || len(got) != len(want) {
				t.Fatalf("%s: %d answers, before %d", how, len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s, answer %d:\n%.1500s\nbefore:\n%.1500s", how, i, got[i], want[i])
				}
			}
		}
		rebuild := func() {
			s.close()
			b.forget(t, s.dir)
			s = s.restart(nil)
		}
		live := ask(s, complete)
		s = s.restart(nil)
		same("opened again", ask(s, complete), live)
		rebuild()
		same("rebuilt", ask(s, complete), live)
		exact := answers
		if b.ranks {
			exact = complete
		}
		rebuilt := ask(s, exact)
		rebuild()
		same("rebuilt again", ask(s, exact), rebuilt)
		// The rebuilt index goes on from there.
		s.write("docs", doc("new", "a zebra enters", ""))
		if got := s.query("docs", object{"query": "zebra", "mode": "keyword"}).found(); len(got) != 1 || got[0] != "new" {
			t.Errorf("after the rebuild: %v", got)
		}
	})
}

// TestLongHistory: a namespace whose change log was trimmed many times over is
// whole after a restart and after a rebuild.
func TestLongHistory(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const workers, steps, ids = 8, 300, 12
		owned := make([]model, workers)
		var wg sync.WaitGroup
		for w := range workers {
			owned[w] = model{}
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewPCG(uint64(w), 99))
				for step := range steps {
					id := fmt.Sprintf("w%d-%d", w, r.IntN(ids))
					if r.IntN(3) == 0 {
						s.post("/namespaces/docs/documents/delete", object{"ids": []string{id}}).ok()
						delete(owned[w], id)
						continue
					}
					text := sentence(r, 6)
					s.write("docs", doc(id, text, fmt.Sprintf(`{"id":%q,"version":%d}`, id, step)))
					owned[w][id] = struct {
						text    string
						version int
					}{text, step}
				}
			}()
		}
		wg.Wait()
		all := model{}
		for _, m := range owned {
			for id, d := range m {
				all[id] = d
			}
		}
		verify(s, "docs", all)
		s = s.restart(nil)
		verify(s, "docs", all)
		s.close()
		b.forget(t, s.dir)
		verify(s.restart(nil), "docs", all)
	})
}

// Documents of many chunks are replayed a few at a time, and a call that would
// make too many is refused whole.
func TestManyChunks(t *testing.T) {
	sequential(t)
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		paragraphs := func(document, n int) string {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, "p%dq%d\n\n", document, i)
			}
			return text.String()
		}
		const documents, each = 4, 9000
		for d := range documents {
			s.write("docs", doc(fmt.Sprintf("d%d", d), paragraphs(d, each), "")).ok()
		}
		found := func(s *server) {
			t.Helper()
			for d := range documents {
				got := s.query("docs", object{"query": fmt.Sprintf("p%dq%d", d, each-1), "mode": "keyword"}).found()
				if len(got) == 0 || got[0] != fmt.Sprintf("d%d", d) {
					t.Errorf("document %d: found %v", d, got)
				}
			}
		}
		found(s)
		s.close()
		b.forget(t, s.dir)
		s = s.restart(nil)
		// Questions wait for the rebuild only as long as they may take.
		harness.Eventually(t, "the rebuild", func() bool {
			return s.post("/namespaces/docs/query", object{"query": "p0q0", "mode": "keyword"}).status == 200
		})
		found(s)

		many := make([]object, 8)
		for i := range many {
			many[i] = doc(fmt.Sprintf("many%d", i), paragraphs(i, each), "")
		}
		s.post("/namespaces/docs/documents", object{"documents": many}).fails(413, "payload_too_large", "65536")
		for _, id := range s.ids("docs") {
			if strings.HasPrefix(id, "many") {
				t.Errorf("%s of a refused call is stored", id)
			}
		}
	})
}
