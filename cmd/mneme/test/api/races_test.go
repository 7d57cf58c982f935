package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/port"
)

// interleave does something once, between the reading and the committing part of
// the next call that changes the store.
func (s *server) interleave(do func()) {
	var done atomic.Bool
	hook := func() error {
		if done.CompareAndSwap(false, true) {
			do()
		}
		return nil
	}
	s.store.OnUpdate.Set(hook)
}

// TestWriteMovedUnderneath: what a write prepared is checked again when it is
// committed.
func TestWriteMovedUnderneath(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		defer s.store.OnUpdate.Clear()
		find := func(ns, word, id string) {
			t.Helper()
			for _, mode := range []string{"vector", "keyword"} {
				if got := s.query(ns, object{"query": word, "mode": mode, "top_k": 1}).found(); !slices.Equal(got, []string{id}) {
					t.Errorf("%s: %s finds %v, want %s", mode, word, got, id)
				}
			}
		}

		// The stored text that was to be kept is gone: it is embedded after all.
		s.write("docs", doc("a", "alpha words", ""), doc("b", "beta words", ""))
		s.interleave(func() { s.post("/namespaces/docs/documents/delete", object{"ids": []string{"a"}}).ok() })
		if r := s.write("docs", doc("a", "alpha words", `{"n":1}`)); r.list("documents")[0]["created"] != true {
			t.Errorf("deleted in between: %s", r.body)
		}
		find("docs", "alpha", "a")
		s.interleave(func() { s.write("docs", doc("a", "gamma words", "")) })
		if r := s.write("docs", doc("a", "alpha words", `{"n":1}`)); r.number("written") != 1 {
			t.Errorf("rewritten in between: %s", r.body)
		}
		find("docs", "alpha", "a")
		s.interleave(func() { s.do("DELETE", "/namespaces/docs", nil).ok() })
		if r := s.write("docs", doc("a", "alpha words", `{"n":1}`), doc("c", "delta words", "")); r.number("written") != 2 {
			t.Errorf("namespace deleted in between: %s", r.body)
		}
		find("docs", "alpha", "a")
		find("docs", "delta", "c")
		if got := s.ids("docs"); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("stored %v", got)
		}

		// The namespace came into being with a sparse index.
		s.interleave(func() { s.post("/namespaces", object{"name": "late", "sparse": true}).ok() })
		if r := s.write("late", doc("a", "alpha words", "")); r.json["sparse"] != true {
			t.Errorf("created sparse in between: %s", r.body)
		}
		if got := s.query("late", object{"query": "alpha", "mode": "sparse"}).found(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("sparse search finds %v", got)
		}
		s.interleave(func() { s.post("/namespaces", object{"name": "guarded", "sparse": true}).ok() })
		s.post("/namespaces/guarded/documents",
			object{"documents": []object{doc("a", "x", "")}, "expect_sparse": false}).fails(409, "conflict", "guarded")
		if s.ids("guarded") != nil {
			t.Error("a refused write wrote")
		}
	})
}

// TestSourceOwnedDocument: the interface's own writes leave it alone.
func TestSourceOwnedDocument(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		s.write("docs", doc("mine", "my words", ""))
		ctx := context.Background()
		orgs, err := s.engine.Keys().Organizations(ctx)
		if err != nil {
			t.Fatal(err)
		}
		err = s.store.Update(ctx, func(w port.Writer) error {
			return w.PutSource(ctx, port.SourceRow{ID: "src_1", Org: orgs[0].ID, Name: "theirs", Kind: "push",
				Namespace: "docs", Config: json.RawMessage("{}"), State: port.SourceIdle,
				CreatedAt: time.Now(), UpdatedAt: time.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
		put := func(id string) {
			text := "words of a source"
			err := s.store.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(ctx, port.Documents(orgs[0].ID, "docs"), time.Now(),
					[]port.DocumentWrite{{Document: port.Document{
						ID:       id,
						Text:     text,
						TextHash: sha256.Sum256([]byte(text)),
						SourceID: "src_1",
						Origin:   port.Origin{Kind: "source", SourceID: "src_1"},
					}, Vectors: port.Vectors{Dense: port.Dense{Dim: coretest.Dimensions, Data: []float32{}}}}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		put("src_1:a")
		for _, prefer := range []string{"", "respond-async"} {
			r := s.post("/namespaces/docs/documents",
				object{"documents": []object{doc("new", "x", ""), doc("src_1:a", "mine now", "")}}, "Prefer", prefer)
			if prefer == "" {
				r.fails(409, "conflict", "src_1:a")
				continue
			}
			at := r.is(202).header.Get("Location")
			harness.Eventually(t, "failed", func() bool { return s.get(at).ok().json["status"] == "failed" })
			if e := s.get(at).json["error"].(object); e["code"] != "conflict" {
				t.Errorf("operation: %v", e)
			}
		}
		s.interleave(func() { put("taken") })
		s.post("/namespaces/docs/documents", object{"documents": []object{doc("taken", "mine now", "")}}).fails(409,
			"conflict", "taken")
		s.store.OnUpdate.Clear()
		if got := column(s.get("/namespaces/docs/documents?source_id=src_1").ok().list("documents"),
			"id"); !slices.Equal(got, []string{"src_1:a", "taken"}) {
			t.Errorf("documents of the source: %v", got)
		}
		if r := s.get("/namespaces/docs/documents/src_1:a").ok(); r.json["source_id"] != "src_1" ||
			r.json["text"] != "words of a source" {
			t.Errorf("read: %s", r.body)
		}
		if got := s.ids("docs"); !slices.Equal(got, []string{"mine", "src_1:a", "taken"}) {
			t.Errorf("stored %v", got)
		}
	})
}

// TestShutdownDrains: a call in flight at the end is answered and its write kept.
func TestShutdownDrains(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		started, release := make(chan struct{}), make(chan struct{})
		s.embedder.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
			close(started)
			<-release
			return ctx.Err()
		})
		type answer struct {
			r   *reply
			err error
		}
		answered := make(chan answer, 1)
		go func() {
			r, err := s.send(context.Background(), "POST", "/namespaces/docs/documents",
				object{"documents": []object{doc("a", "text", "")}})
			answered <- answer{r, err}
		}()
		await(t, "the model is at work", started)
		closed := make(chan struct{})
		go func() { s.close(); close(closed) }()
		harness.Eventually(t, "new connections are refused", func() bool {
			_, err := s.send(context.Background(), "GET", "/health", nil)
			return err != nil
		})
		s.embedder.Before.Clear()
		close(release)
		if a := await(t, "the call in flight is answered", answered); a.err != nil || a.r.status != 200 {
			t.Errorf("the call in flight: %v %v", a.r, a.err)
		}
		await(t, "the server ends", closed)
		if got := s.restart(nil).ids("docs"); !slices.Equal(got, []string{"a"}) {
			t.Errorf("after the restart: %v", got)
		}
	})
}

// TestQueryMovedUnderneath: what was found and changed before it is read is not
// shown against the filter, nor as it was.
func TestQueryMovedUnderneath(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		// afterSearch does something between the search of the next query and its
		// reading of the documents.
		afterSearch := func(do func()) {
			var armed, done atomic.Bool
			search := func(context.Context, port.Partition, port.IndexQuery) error { armed.Store(true); return nil }
			view := func() error {
				if armed.Load() && done.CompareAndSwap(false, true) {
					do()
				}
				return nil
			}
			s.index.OnSearch.Set(search)
			s.store.OnCallView.Set(view)
		}
		ask := func() *reply {
			return s.post("/namespaces/docs/query", object{"query": "words", "mode": "keyword", "filter": object{"k": 1}})
		}
		fresh := func() {
			s.store.OnCallView.Clear()
			s.write("docs", doc("a", "alpha words", `{"k":1}`), doc("b", "beta words", `{"k":1}`))
		}
		for _, c := range []struct {
			name string
			do   func()
			want []string
		}{
			{"nothing", func() {}, []string{"a", "b"}},
			{"no longer matches", func() { s.write("docs", doc("a", "alpha words", `{"k":2}`)) }, []string{"b"}},
			{"deleted", func() { s.post("/namespaces/docs/documents/delete", object{"ids": []string{"b"}}).ok() }, []string{"a"}},
			{"emptied", func() { s.write("docs", doc("b", "", `{"k":1}`)) }, []string{"a"}},
			{"new life", func() {
				s.do("DELETE", "/namespaces/docs", nil).ok()
				s.write("docs", doc("a", "other words", `{"k":1}`))
			}, []string{"a"}},
			{"gone", func() { s.do("DELETE", "/namespaces/docs", nil).ok() }, nil},
		} {
			fresh()
			afterSearch(c.do)
			if c.want == nil {
				ask().fails(404, "namespace_not_found", "docs")
				continue
			}
			r := ask().ok()
			if got := r.found(); !slices.Equal(got, c.want) || c.name == "new life" && strings.Contains(string(r.body), "alpha") {
				t.Errorf("%s: %s", c.name, r.body)
			}
		}
		s.store.OnCallView.Clear()
		s.index.OnSearch.Clear()
	})
}

// TestTimedOutWriteIsAtomic: wherever the time limit falls, a write is there
// whole or not at all, and is there when it was answered with 200.
func TestTimedOutWriteIsAtomic(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		const size = 40
		timedOut := 0
		for i := range 40 {
			ns := fmt.Sprintf("n%d", i)
			docs := make([]object, size)
			for k := range docs {
				docs[k] = doc(fmt.Sprintf("d%d", k), fmt.Sprintf("%s %d %d", paragraphs(3, "time"), i, k), "")
			}
			r := s.post("/namespaces/"+ns+"/documents", object{"documents": docs}, "X-Timeout-Ms", fmt.Sprint(1+i))
			if r.status == 504 {
				r.fails(504, "timeout")
				timedOut++
			} else {
				r.ok()
			}
			have := s.ids(ns)
			if len(have) != size && (len(have) != 0 || r.status == 200) {
				t.Errorf("a limit of %d ms: %d, and %d of %d documents", 1+i, r.status, len(have), size)
			}
			if len(have) == size {
				if got := s.query(ns, object{"query": "time", "mode": "keyword", "top_k": 100,
					"max_chunks_per_document": 1}).found(); len(got) != size {
					t.Errorf("a limit of %d ms: %d of %d documents are found", 1+i, len(got), size)
				}
			}
			s.write(ns, docs...) // safe to repeat
			if have := s.ids(ns); len(have) != size {
				t.Errorf("repeated: %d of %d documents", len(have), size)
			}
		}
		t.Logf("%d of 40 writes ran out of time", timedOut)
	})
}
