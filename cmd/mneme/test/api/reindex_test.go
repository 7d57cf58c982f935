package api_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
)

// wider is another embedding model: other vectors, of more dimensions.
type wider struct{ *coretest.Embedder }

func newWider() wider {
	e := coretest.NewEmbedder()
	e.Digest = "sha256:test-wider"
	return wider{e}
}

func (w wider) Info() port.ModelInfo {
	info := w.Embedder.Info()
	info.ID, info.Dimensions = "test-wider", coretest.Dimensions+32
	return info
}

func (w wider) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	d, err := w.Embedder.Embed(ctx, as, texts)
	if err != nil {
		return d, err
	}
	out := port.Dense{Dim: coretest.Dimensions + 32, Data: make([]float32, (coretest.Dimensions+32)*len(texts)), Tokens: d.Tokens}
	for i := range texts {
		copy(out.Row(i)[32:], d.Row(i)) // elsewhere than the first model's
		slices.Reverse(out.Row(i)[32:])
	}
	return out, nil
}

// scattered makes no two texts alike: vectors are random.
type scattered struct{ *coretest.Embedder }

func (m scattered) Info() port.ModelInfo {
	info := m.Embedder.Info()
	info.ID, info.Digest = "test-scattered", "sha256:test-scattered"
	return info
}

func (m scattered) Embed(_ context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	out := port.Dense{Dim: coretest.Dimensions, Data: make([]float32, coretest.Dimensions*len(texts)),
		Tokens: make([]int, len(texts))}
	for i, text := range texts {
		sum := sha256.Sum256([]byte(text))
		out.Row(i)[int(sum[0])%coretest.Dimensions] = 1
	}
	return out, nil
}

const reindexPath = "/admin/v1/organizations/default/namespaces/"

// reindexed waits for the end of a reindexing and answers its last state.
func (s *server) reindexed(name string) object {
	s.t.Helper()
	var last object
	harness.Eventually(s.t, "the reindexing of "+name, func() bool {
		r := s.get(reindexPath + name + "/reindex")
		last = r.json
		return r.status == 200
	})
	fields(s.t, "a reindexing", last, "name", "status", "done", "total", "documents", "chunks", "error", "comparison")
	return last
}

// corpus makes documents of several chunks, some of none.
func corpus(n int) []object {
	r := rand.New(rand.NewPCG(21, 22))
	out := make([]object, n)
	for i := range out {
		text := sentence(r, 6+r.IntN(10))
		for range r.IntN(4) {
			text += "\n\n" + sentence(r, 3+r.IntN(10))
		}
		if i%17 == 16 {
			text = ""
		}
		out[i] = doc(fmt.Sprintf("d%03d", i), text, fmt.Sprintf(`{"parity":"%d","group":%d}`, i%2, i%40))
	}
	return out
}

func (s *server) writeAll(ns string, docs []object) {
	s.t.Helper()
	for part := range slices.Chunk(docs, 50) {
		s.write(ns, part...)
	}
}

// stored is what a namespace holds, with the times.
func stored(s *server, ns string) []string {
	s.t.Helper()
	var out []string
	for _, id := range s.ids(ns) {
		out = append(out, string(s.get("/namespaces/"+ns+"/documents/"+id).ok().body))
	}
	return out
}

// TestReindex: a namespace goes over to other models, of other dimensions, and
// then answers as one that was written with them.
func TestReindex(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		docs := corpus(300)
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		for _, ns := range []string{"docs", "thin"} {
			s.writeAll(ns, docs)
			s.query(ns, object{"query": "warm the index"})
			s.post("/namespaces/"+ns+"/documents/delete", object{"ids": []string{"d007", "d299"}}).ok()
		}
		other := s.organization("two")
		other.write("docs", doc("theirs", "of another organization", ""))
		before := stored(s, "docs")
		s = s.restart(func(o *options) { o.embedder, o.sparse = newWider(), otherSparse{&coretest.SparseEncoder{}} })
		op := s.operator()

		for _, ns := range []string{"docs", "thin"} {
			words := []string{"test-embedder", "sha256:test-embedder-1", "test-wider", "sha256:test-wider", "mneme reindex " + ns}
			s.post("/namespaces/"+ns+"/query", object{"query": "x"}).fails(409, "conflict", words...)
			s.post("/namespaces/"+ns+"/documents", object{"documents": docs[:1]}).fails(409, "conflict", words...)
		}
		current := func() (out []string) {
			for _, n := range op.get("/admin/v1/organizations/default/namespaces").ok().list("namespaces") {
				out = append(out, fmt.Sprint(n["name"], n["current"]))
			}
			return out
		}
		if got := current(); !slices.Equal(got, []string{"docsfalse", "thinfalse"}) {
			t.Errorf("namespaces %v", got)
		}
		if got := op.get("/admin/v1/organizations/default/namespaces?limit=1").ok(); got.json["next_cursor"] == nil ||
			len(got.list("namespaces")) != 1 {
			t.Errorf("a page of one: %s", got.body)
		}

		// Who may not.
		s.post(reindexPath+"docs/reindex", nil).fails(401, "unauthorized")
		two := s.administrator("two")
		two.post(reindexPath+"docs/reindex", nil).fails(404, "not_found")
		two.get(reindexPath+"docs/reindex").fails(404, "not_found")
		two.get("/admin/v1/organizations/default/namespaces").fails(404, "not_found")
		two.post("/admin/v1/organizations/two/namespaces/thin/reindex", nil).fails(404, "namespace_not_found")
		op.post(reindexPath+"none/reindex", nil).fails(404, "namespace_not_found", "none")
		op.post(reindexPath+"No/reindex", nil).fails(400, "invalid_namespace")
		op.post(reindexPath+"docs/reindex", object{"forse": true}).fails(400, "invalid_request", "forse")
		op.get(reindexPath+"docs/reindex").fails(404, "not_found", "docs")
		if got := current(); !slices.Equal(got, []string{"docsfalse", "thinfalse"}) {
			t.Errorf("refused, and yet: %v", got)
		}

		for _, ns := range []string{"docs", "thin"} {
			r := op.post(reindexPath+ns+"/reindex", nil).is(202)
			if r.json["total"] != 298.0 {
				t.Errorf("begun: %s", r.body)
			}
			end := op.reindexed(ns)
			if end["status"] != "succeeded" || end["documents"] != 298.0 || end["done"] != 298.0 ||
				end["chunks"] != s.get("/namespaces/" + ns).ok().json["chunks"] {
				t.Errorf("ended: %v", end)
			}
		}
		if got := current(); !slices.Equal(got, []string{"docstrue", "thintrue"}) {
			t.Errorf("namespaces %v", got)
		}
		ns := s.get("/namespaces/thin").ok().json
		if ns["embedding_digest"] != "sha256:test-wider" || ns["embedding_model"] != "test-wider" ||
			ns["sparse_model"] != "test-sparse-new" || ns["documents"] != 298.0 {
			t.Errorf("thin is %v", ns)
		}
		if got := stored(s, "docs"); !slices.Equal(got, before) {
			t.Errorf("the documents changed:\n%.600s\nbefore:\n%.600s", got, before)
		}
		// The other organization's namespace of the same name is still as it was.
		s.as(other.key).post("/namespaces/docs/query", object{"query": "x"}).fails(409, "conflict", "mneme reindex docs")

		fresh := start(t, b, options{embedder: newWider(), sparse: otherSparse{&coretest.SparseEncoder{}}})
		fresh.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		for _, ns := range []string{"docs", "thin"} {
			fresh.writeAll(ns, docs)
			fresh.post("/namespaces/"+ns+"/documents/delete", object{"ids": []string{"d007", "d299"}}).ok()
		}
		same := func(when string, s *server) {
			t.Helper()
			for _, ns := range []string{"docs", "thin"} {
				got, want := complete(s, ns), complete(fresh, ns)
				if len(want) < 30 || !slices.Equal(got, want) {
					t.Errorf("%s, %s answers otherwise than a fresh namespace (%d and %d answers)", when, ns, len(got), len(want))
				}
			}
		}
		same("reindexed", s)

		// Nothing is left to do, and force does it all the same.
		if r := op.post(reindexPath+"docs/reindex", nil).ok(); r.json["status"] != "unchanged" {
			t.Errorf("again: %s", r.body)
		}
		op.post(reindexPath+"docs/reindex", object{"force": true}).is(202)
		if end := op.reindexed("docs"); end["status"] != "succeeded" || end["documents"] != 298.0 {
			t.Errorf("by force: %v", end)
		}
		same("by force", s)
		s = s.restart(nil)
		same("opened again", s)
		s.write("docs", doc("new", "a zebra enters", ""))
		if got := s.query("docs", object{"query": "zebra enters"}).found(); len(got) == 0 || got[0] != "new" {
			t.Errorf("a write afterwards: %v", got)
		}
	})
}

// TestReindexLeavesTheIndex: the process ends between the swap and the end of the
// old index, whose vectors have other dimensions.
func TestReindexLeavesTheIndex(t *testing.T) {
	sequential(t)
	everywhere(t, func(t *testing.T, b backend) {
		for name, next := range map[string]port.Embedder{"other dimensions": newWider(),
			"same dimensions": &coretest.Embedder{Digest: "sha256:two"}} {
			s := start(t, b, options{dir: filepath.Join(t.TempDir(), "data")})
			s.writeAll("docs", corpus(200))
			s = s.restart(func(o *options) { o.embedder = next })
			stop := errors.New("the process died")
			s.index.OnDrop.Set(func() error { return stop })
			op := s.operator()
			op.post(reindexPath+"docs/reindex", nil).is(202)
			if end := op.reindexed("docs"); end["status"] != "succeeded" {
				t.Errorf("%s: %v", name, end)
			}
			s.index.OnDrop.Clear()
			s = s.restart(nil)
			fresh := start(t, b, options{embedder: next})
			fresh.writeAll("docs", corpus(200))
			if got, want := complete(s, "docs"), complete(fresh, "docs"); !slices.Equal(got, want) {
				t.Errorf("%s: answers otherwise than a fresh namespace (%d and %d answers)", name, len(got), len(want))
			}
		}
	})
}

// TestReindexFails: a model that fails, panics or is off, and a shutdown, leave
// the namespace as it was.
func TestReindexFails(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.writeAll("docs", corpus(150))
		want, first := complete(s, "docs"), s.options
		before := s.get("/namespaces/docs").ok().body
		next := newWider()
		s = s.restart(func(o *options) { o.embedder = next })
		op := s.operator()
		calls := 0
		for what, hook := range map[string]func(context.Context, port.TextKind, []string) error{
			"an error": func(context.Context, port.TextKind, []string) error { return errors.New("out of order") },
			"a panic":  func(context.Context, port.TextKind, []string) error { panic("out of order") },
		} {
			next.Before.Set(func(ctx context.Context, as port.TextKind, texts []string) error {
				if calls++; calls > 1 { // the first batch is made
					return hook(ctx, as, texts)
				}
				return nil
			})
			op.post(reindexPath+"docs/reindex", nil).is(202)
			end := op.reindexed("docs")
			if e, _ := end["error"].(object); end["status"] != "failed" || e["code"] == "" ||
				strings.Contains(fmt.Sprint(e["message"]), "out of order") {
				t.Errorf("%s: %v", what, end)
			}
			if got := s.get("/namespaces/docs").ok().body; string(got) != string(before) {
				t.Errorf("%s: the namespace is %s, was %s", what, got, before)
			}
			s.post("/namespaces/docs/query", object{"query": "x"}).fails(409, "conflict")
		}
		// A shutdown in the middle of it.
		entered := make(chan struct{})
		var once sync.Once
		next.Before.Set(func(ctx context.Context, as port.TextKind, texts []string) error {
			once.Do(func() { close(entered) })
			return coretest.UntilDone(ctx, as, texts)
		})
		op.post(reindexPath+"docs/reindex", nil).is(202)
		await(t, "the reindexing makes vectors", entered)
		if r := op.post(reindexPath+"docs/reindex", nil).is(202); r.json["status"] != "running" { // joined
			t.Errorf("a second call: %s", r.body)
		}
		s = s.restart(func(o *options) { o.noEmbed = true })
		s.operator().post(reindexPath+"docs/reindex", object{"force": true}).fails(503, "unavailable").stays()
		s = s.restart(func(o *options) { *o = first; o.dir = s.dir })
		if got := complete(s, "docs"); !slices.Equal(got, want) {
			t.Errorf("with the first model again: other answers (%d and %d)", len(got), len(want))
		}
	})
}

// TestReindexBesideDeletions: what is deleted while vectors are made stays
// deleted, and a namespace deleted in between stays gone.
func TestReindexBesideDeletions(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.writeAll("docs", corpus(300))
		s.write("gone", doc("a", "a walrus leaves", ""))
		next := newWider()
		s = s.restart(func(o *options) { o.embedder = next })
		op := s.operator()
		held, entered := make(chan struct{}), make(chan struct{}, 100)
		heldGone, enteredGone := make(chan struct{}), make(chan struct{}, 100)
		next.Before.Set(func(ctx context.Context, _ port.TextKind, texts []string) error {
			in, out := entered, held
			if strings.Contains(texts[0], "walrus") {
				in, out = enteredGone, heldGone
			}
			in <- struct{}{}
			select {
			case <-out:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		op.post(reindexPath+"docs/reindex", nil).is(202)
		await(t, "the reindexing makes vectors", entered)
		if r := op.post(reindexPath+"gone/reindex", nil).is(202); r.json["status"] != "waiting" {
			t.Errorf("behind another: %s", r.body)
		}
		var removed []string
		for i := range 150 {
			removed = append(removed, fmt.Sprintf("d%03d", i*2))
		}
		s.post("/namespaces/docs/documents/delete", object{"ids": removed[:100]}).ok() // made and yet to be made
		if got := s.post("/namespaces/docs/documents/delete",
			object{"filter": object{"parity": "0"}}).ok(); got.json["deleted"] != 50.0 {
			t.Errorf("by filter: %s", got.body)
		}
		close(held)
		await(t, "the second reindexing makes vectors", enteredGone)
		s.do("DELETE", "/namespaces/gone", nil).ok()
		close(heldGone)
		if end := op.reindexed("docs"); end["status"] != "succeeded" || end["documents"] != 150.0 {
			t.Errorf("ended: %v", end)
		}
		if end := op.reindexed("gone"); end["status"] != "failed" || end["error"].(object)["code"] != "namespace_not_found" {
			t.Errorf("the deleted namespace: %v", end)
		}
		next.Before.Clear()
		if got := s.ids("docs"); len(got) != 150 ||
			slices.ContainsFunc(got, func(id string) bool { return slices.Contains(removed, id) }) {
			t.Errorf("%d documents are left", len(got))
		}
		fresh := start(t, b, options{embedder: newWider()})
		fresh.writeAll("docs", corpus(300))
		fresh.post("/namespaces/docs/documents/delete", object{"ids": removed}).ok()
		if got, want := complete(s, "docs"), complete(fresh, "docs"); !slices.Equal(got, want) {
			t.Errorf("answers otherwise than a fresh namespace (%d and %d answers)", len(got), len(want))
		}
		s.get("/namespaces/gone").fails(404, "namespace_not_found")
	})
}

// TestReindexByForceBesideWrites: with the models unchanged writes go on, and
// none is lost or gets another text's vectors.
func TestReindexByForceBesideWrites(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		e := coretest.NewEmbedder()
		s := start(t, b, options{embedder: e, engine: func(c *engine.Config) { c.QueryCache = -1 }})
		s.writeAll("docs", corpus(200))
		op := s.operator()
		var mu sync.Mutex
		writes, busy, encoded := 0, false, 0
		e.Before.Set(func(ctx context.Context, as port.TextKind, texts []string) error {
			mu.Lock()
			encoded += len(texts)
			mine := !busy && as == port.Passage && writes < 2 // not of the write's own texts
			if mine {
				busy = true
				writes++
			}
			n := writes
			mu.Unlock()
			if mine {
				s.write("docs", doc("d001", fmt.Sprintf("a zebra enters %d", n), ""),
					doc(fmt.Sprintf("extra%d", n), "another giraffe", ""))
				mu.Lock()
				busy = false
				mu.Unlock()
			}
			return nil
		})
		op.post(reindexPath+"docs/reindex", object{"force": true}).is(202)
		end := op.reindexed("docs")
		if end["status"] != "succeeded" || end["documents"] != 202.0 {
			t.Errorf("ended: %v", end)
		}
		e.Before.Clear()
		asked, _ := end["comparison"].(object)["queries"].(float64)
		if chunks, _ := end["chunks"].(float64); float64(encoded) > chunks+2*asked+20 { // asked of both
			t.Errorf("%d texts were encoded for %v chunks: only texts written in between are encoded again", encoded, chunks)
		}
		docs := append(corpus(200), doc("extra1", "another giraffe", ""), doc("extra2", "another giraffe", ""))
		docs[1] = doc("d001", "a zebra enters 2", "")
		fresh := start(t, b, options{})
		fresh.writeAll("docs", docs)
		if got, want := complete(s, "docs"), complete(fresh, "docs"); !slices.Equal(got, want) {
			t.Errorf("answers otherwise than a fresh namespace (%d and %d answers)", len(got), len(want))
		}

		// Writes that never pause have to, for the moment of the swap.
		stop, wrote := make(chan struct{}), 0
		var writer sync.WaitGroup
		writer.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					id := fmt.Sprintf("more%d", wrote)
					s.write("docs", doc(id, "one more", fmt.Sprintf(`{"of":%q}`, id)))
					wrote++
				}
			}
		})
		op.post(reindexPath+"docs/reindex", object{"force": true}).is(202)
		if end := op.reindexed("docs"); end["status"] != "succeeded" {
			t.Errorf("among writes: %v", end)
		}
		close(stop)
		writer.Wait()
		if got := len(s.ids("docs")); got != 202+wrote {
			t.Errorf("%d documents after %d writes", got, wrote)
		}
		for i := range 10 {
			id := fmt.Sprintf("more%d", wrote*i/10)
			if got := s.query("docs", object{"query": "one more", "filter": object{"of": id}}).found(); !slices.Equal(got,
				[]string{id}) {
				t.Errorf("%s is not found: %v", id, got)
			}
		}
	})
}

// TestReindexServes: with the model before loaded, queries and writes go on while
// the shadow is built, both are compared, the swap loses nothing, and there is a way
// back.
func TestReindexServes(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		old, next := coretest.NewEmbedder(), newWider()
		both := func(o *options) {
			o.embedder = next
			o.engine = func(c *engine.Config) { c.Models.Previous.Embedders = []port.Embedder{old} }
		}
		s := start(t, b, options{embedder: old})
		docs := corpus(300)
		s.writeAll("docs", docs)
		before := complete(s, "docs")
		s = s.restart(both)
		op := s.operator()
		shadow := func() string {
			for _, n := range op.get("/admin/v1/organizations/default/namespaces").ok().list("namespaces") {
				if n["name"] == "docs" && n["shadow"] != nil {
					of := n["shadow"].(object)
					return fmt.Sprint(of["state"], " ", of["embedding_model"], " ", of["documents"])
				}
			}
			return ""
		}
		if got := complete(s, "docs"); !slices.Equal(got, before) {
			t.Errorf("with the model before: other answers (%d and %d)", len(got), len(before))
		}
		op.post(reindexPath+"docs/reindex", object{"back": true}).fails(409, "conflict", "nothing is kept")
		op.post(reindexPath+"docs/reindex", object{"back": true, "force": true}).fails(409, "conflict", "nothing is kept")
		op.post(reindexPath+"docs/reindex", object{"min_overlap": 2}).fails(400, "invalid_request", "min_overlap")
		op.post(reindexPath+"docs/reindex", object{"queries": []string{""}}).fails(400, "invalid_request", "queries[0]")
		if r := op.do("DELETE", reindexPath+"docs/reindex", nil).ok(); r.json["discarded"] != false {
			t.Errorf("nothing to discard: %s", r.body)
		}

		// While the shadow is built: hold its encoder at the first passages.
		held, entered := make(chan struct{}), make(chan struct{}, 1000)
		next.Before.Set(func(ctx context.Context, as port.TextKind, _ []string) error {
			if as != port.Passage {
				return nil
			}
			entered <- struct{}{}
			select {
			case <-held:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		op.post(reindexPath+"docs/reindex", object{"hold": true}).is(202)
		await(t, "the reindexing makes vectors", entered)
		if got := complete(s, "docs"); !slices.Equal(got, before) {
			t.Errorf("during the reindexing: other answers (%d and %d)", len(got), len(before))
		}
		if got := shadow(); !strings.HasPrefix(got, "building test-wider") {
			t.Errorf("the shadow is %q", got)
		}
		op.do("DELETE", reindexPath+"docs/reindex", nil).fails(409, "conflict", "being reindexed")
		s.write("docs", doc("during", "a zebra enters", ""), doc("d001", "another text than before", ""))
		s.post("/namespaces/docs/documents/delete", object{"ids": []string{"d002", "d290"}}).ok()
		if got := s.query("docs", object{"query": "zebra enters"}).found(); len(got) == 0 || got[0] != "during" {
			t.Errorf("a write during the reindexing: %v", got)
		}
		// A restart goes on where it was.
		s = s.restart(both)
		op = s.operator()
		close(held)
		end := op.reindexed("docs")
		m, _ := end["comparison"].(object)
		if end["status"] != "held" || end["documents"] != 299.0 || m["queries"] == 0.0 || m["found_before"] == nil ||
			m["overlap"] == nil {
			t.Fatalf("held: %v", end)
		}
		if found, _ := m["found_after"].(float64); found < 0.9 {
			t.Errorf("compared: %v", m)
		}
		if got := shadow(); got != "building test-wider 299" {
			t.Errorf("the shadow is %q", got)
		}
		if got := s.get("/namespaces/docs").ok().json["embedding_model"]; got != "test-embedder" {
			t.Errorf("held, and yet %v is served", got)
		}

		// One text is to be made, and the bar is reached.
		next.Before.Clear()
		s.write("docs", doc("held", "a giraffe waits", ""))
		made := len(next.Passages())
		op.post(reindexPath+"docs/reindex",
			object{"min_overlap": 0.9, "queries": []string{"zebra", "nothing of the kind"}}).is(202)
		end = op.reindexed("docs")
		if m := end["comparison"].(object); end["status"] != "succeeded" || end["documents"] != 300.0 ||
			m["queries"] != 2.0 || m["found_after"] != nil {
			t.Errorf("swapped: %v", end)
		}
		if got := len(next.Passages()) - made; got > 5 {
			t.Errorf("%d passages were made again", got)
		}
		if got := shadow(); got != "kept test-embedder 300" {
			t.Errorf("the shadow is %q", got)
		}
		now := append(slices.Delete(slices.Delete(slices.Clone(docs), 290, 291), 2, 3),
			doc("during", "a zebra enters", ""), doc("held", "a giraffe waits", ""))
		now[1] = doc("d001", "another text than before", "")
		fresh := start(t, b, options{embedder: newWider()})
		fresh.writeAll("docs", now)
		if got, want := complete(s, "docs"), complete(fresh, "docs"); !slices.Equal(got, want) {
			t.Errorf("swapped: answers otherwise than a fresh namespace (%d and %d answers)", len(got), len(want))
		}

		// Back, with what was written since; what is deleted is deleted in both.
		s.write("docs", doc("since", "an otter swims", ""))
		s.post("/namespaces/docs/documents/delete", object{"ids": []string{"d003"}}).ok()
		if got := shadow(); got != "kept test-embedder 299" {
			t.Errorf("after a deletion the shadow is %q", got)
		}
		op.post(reindexPath+"docs/reindex", object{"back": true}).is(202)
		if end := op.reindexed("docs"); end["status"] != "succeeded" || end["documents"] != 300.0 {
			t.Errorf("back: %v", end)
		}
		now = append(slices.DeleteFunc(now, func(d object) bool { return d["id"] == "d003" }), doc("since", "an otter swims", ""))
		fresh = start(t, b, options{embedder: coretest.NewEmbedder()})
		fresh.writeAll("docs", now)
		want := complete(fresh, "docs")
		if got := complete(s, "docs"); !slices.Equal(got, want) {
			t.Errorf("back: answers otherwise than a fresh namespace (%d and %d answers)", len(got), len(want))
		}
		if r := op.do("DELETE", reindexPath+"docs/reindex", nil).ok(); r.json["discarded"] != true || shadow() != "" {
			t.Errorf("discarded: %s, left %q", r.body, shadow())
		}
		s = s.restart(both)
		if got := complete(s, "docs"); !slices.Equal(got, want) {
			t.Errorf("opened again: other answers (%d and %d)", len(got), len(want))
		}
		// A model that finds other things is held below the bar.
		s = s.restart(func(o *options) { both(o); o.embedder = scattered{coretest.NewEmbedder()} })
		op = s.operator()
		op.post(reindexPath+"docs/reindex", object{"min_overlap": 0.99}).is(202)
		end = op.reindexed("docs")
		if m := end["comparison"].(object); end["status"] != "held" || m["overlap"].(float64) >= 0.99 {
			t.Errorf("below the bar: %v", end)
		}
		if got := complete(s, "docs"); !slices.Equal(got, want) {
			t.Errorf("held: other answers (%d and %d)", len(got), len(want))
		}
		s.do("DELETE", "/namespaces/docs", nil).ok()
		s.write("docs", doc("a", "a new life", ""))
		if got := shadow(); got != "" {
			t.Errorf("a new life has the shadow %q", got)
		}
	})
}

// reindexedUser waits for the end of a reindexing of an end user's memories.
func (s *server) reindexedUser(path string) object {
	s.t.Helper()
	var last object
	harness.Eventually(s.t, "the reindexing of an end user", func() bool {
		r := s.get(path)
		last = r.json
		return r.status == 200
	})
	return last
}

// TestReindexMemories: an end user goes over to other models, turns in their
// context, and is then as one who was written with them, also where memories are
// deleted in between.
func TestReindexMemories(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		sparse := func(e port.SparseEncoder) func(*options) {
			return func(o *options) {
				o.sparse = e
				o.engine = func(c *engine.Config) { c.Memory.Sparse = true }
			}
		}
		first := options{}
		sparse(&coretest.SparseEncoder{})(&first)
		root := start(t, b, first)
		s := root.integration("chat", nil)
		at := func(i int) string { return fmt.Sprintf("2026-05-04T%02d:%02d:00Z", 10+i/60, i%60) }
		turns := []string{"Ann: Which harbour did your brother sail to last spring?", "Ben: Valparaiso, and he loved it!",
			"Ann: Does he still keep the greyhound?", "Ben: No, she lives with our aunt now.",
			"The lighthouse was painted white."}
		r := rand.New(rand.NewPCG(31, 32))
		for i := range 150 { // several pages
			turns = append(turns, []string{"Ann", "Ben"}[i%2]+": "+sentence(r, 5+i%7))
		}
		queries := []string{"harbour brother sail", "greyhound", "Valparaiso", "aunt", "lighthouse",
			"who painted it white", sentence(r, 3), sentence(r, 2)}
		fill := func(s *server, user string, without ...int) (ids []string) {
			for i, c := range turns {
				if !slices.Contains(without, i) {
					ids = append(ids, s.save(user, c, "occurredAt", at(i), "containerTag", []string{"box", "case"}[i%7/5]))
				}
			}
			return ids
		}
		for _, user := range []string{"ann", "gone"} {
			fill(s, user)
		}
		ids := fill(s, "cut")
		s.upsert("ann", "crm", "a", 1, "Ann: Owned by a source.").applied("created", 1)
		listed := fmt.Sprint(s.memories("ann"))

		next := newWider()
		root = root.restart(func(o *options) {
			o.embedder = next
			sparse(otherSparse{&coretest.SparseEncoder{}})(o)
		})
		s = root.as(s.key)
		op := root.operator()
		path := func(user string) string {
			return "/admin/v1/end_users/" + user + "/reindex?organization=default&integration=chat"
		}
		if r := s.post("/api/v1/search", object{"endUserId": "ann", "query": "x"}).refuses(503,
			"unavailable"); !strings.Contains(string(r.body), "mneme reindex --memories ann") {
			t.Errorf("refused with %s", r.body)
		}
		op.post(path("nobody"), nil).fails(404, "not_found", "nobody")
		op.get(path("ann")).fails(404, "not_found", "ann")
		other := root.organization("two")
		other.administrator("two").post(path("ann"), nil).fails(404, "not_found")

		op.post(path("ann"), nil).is(202)
		if end := op.reindexedUser(path("ann")); end["status"] != "succeeded" || end["documents"] != 156.0 ||
			end["name"] != "ann" {
			t.Errorf("ended: %v", end)
		}
		fill(s, "fresh")
		s.upsert("fresh", "crm", "a", 1, "Ann: Owned by a source.").applied("created", 1)
		same := func(what, user, ref string) {
			t.Helper()
			if got, want := s.found(user, queries...), s.found(ref, queries...); got != want || len(want) < 100 {
				t.Errorf("%s:\n%.3000s\nwant\n%.3000s", what, got, want)
			}
		}
		same("reindexed", "ann", "fresh")
		if got := fmt.Sprint(s.memories("ann")); got != listed {
			t.Errorf("the memories changed:\n%.600s\nbefore:\n%.600s", got, listed)
		}
		// Its turns still know which vectors were made with their words.
		for _, user := range []string{"ann", "fresh"} {
			for _, m := range s.memories(user) {
				if m["content"] == turns[0] || m["content"] == turns[2] {
					s.post("/api/v1/memories/delete", object{"endUserId": user, "ids": []any{m["id"]}}).ok()
				}
			}
		}
		same("leads deleted afterwards", "ann", "fresh")
		if r := op.post(path("ann"), nil).ok(); r.json["status"] != "unchanged" {
			t.Errorf("again: %s", r.body)
		}

		// Deleted while the vectors are made: a lead and the last of all.
		held, entered := make(chan struct{}), make(chan struct{}, 100)
		next.Before.Set(func(ctx context.Context, as port.TextKind, _ []string) error {
			if as == port.Query {
				return nil
			}
			entered <- struct{}{}
			select {
			case <-held:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		op.post(path("cut"), nil).is(202)
		await(t, "the reindexing makes vectors", entered)
		s.post("/api/v1/memories/delete", object{"endUserId": "cut", "ids": []string{ids[0], ids[2], ids[len(ids)-1]}}).ok()
		close(held)
		if end := op.reindexedUser(path("cut")); end["status"] != "succeeded" || end["documents"] != 152.0 {
			t.Errorf("ended: %v", end)
		}
		next.Before.Clear()
		for i, c := range turns {
			if i != 0 && i != 2 && i != len(turns)-1 {
				s.save("ref", c, "occurredAt", at(i), "containerTag", []string{"box", "case"}[i%7/5])
			}
		}
		same("cut", "cut", "ref")

		// An erasure in the middle of it ends it, and leaves nothing.
		held, entered = make(chan struct{}), make(chan struct{}, 100)
		next.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
			entered <- struct{}{}
			select {
			case <-held:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		op.post(path("gone"), nil).is(202)
		await(t, "the reindexing makes vectors", entered)
		erased := make(chan *reply, 1)
		go func() { erased <- s.do("DELETE", "/api/v1/users/gone", nil) }()
		harness.Eventually(t, "the erasure's mark", func() bool {
			return op.get("/admin/v1/organizations/default/end_users?query=gone").ok().list("end_users")[0]["erasing"] != nil
		})
		close(held)
		if r := await(t, "the erasure is answered", erased).ok(); r.json["deletedMemories"] != 155.0 {
			t.Errorf("erased: %s", r.body)
		}
		op.get(path("gone")).fails(404, "not_found", "gone") // nothing is known of them any more
		next.Before.Clear()
		if got := s.memories("gone"); len(got) != 0 {
			t.Errorf("%d memories of an erased end user", len(got))
		}
	})
}
