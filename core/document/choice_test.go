package document_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// narrow is a second embedder, whose vectors are shorter.
func narrow() *coretest.Embedder {
	return &coretest.Embedder{ID: "narrow", Digest: "sha256:narrow", Size: 48}
}

// row is what the store has of a namespace.
func (l *library) row(ns string) (n port.PartitionRow) {
	l.t.Helper()
	err := l.Store.View(l.ctx, func(r port.Reader) (err error) {
		n, err = r.Partition(l.ctx, port.Documents(ident.From(l.ctx).Org, ns))
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// of checks which model a namespace has, and whether it was chosen for it.
func (l *library) of(ns, model string, chosen bool) {
	l.t.Helper()
	n := l.namespace(ns).OK()
	if n.JSON["embedding_model"] != model || n.JSON["embedding_model_chosen"] != chosen {
		l.t.Errorf("%s: %s, want it of %s, chosen %v", ns, n.Body, model, chosen)
	}
}

// TestANamespaceHasAnEmbedderOfItsOwn: its documents and its queries go through that model,
// those of others through theirs, also where both hold the same and are asked the same.
func TestANamespaceHasAnEmbedderOfItsOwn(t *testing.T) {
	t.Parallel()
	second := narrow()
	s := open(t, coretest.Options{Embedders: []port.Embedder{second}})
	if r := s.create(coretest.Object{"name": "own", "embedding_model": "narrow"}).OK(); r.JSON["embedding_model"] != "narrow" {
		t.Errorf("created: %s", r.Body)
	}
	if r := s.create(coretest.Object{"name": "docs"}).OK(); r.JSON["embedding_model"] != "test-embedder" {
		t.Errorf("created: %s", r.Body)
	}
	for i, ns := range []string{"own", "docs"} {
		s.write(ns, doc("a", "zebras on the plain", ""), doc("b", "a kettle on the stove", ""))
		for m, counts := range map[*coretest.Embedder]int{second: 2 * (1 - i), s.Embedder: 2 * i} {
			if got := m.TakePassages(); len(got) != counts {
				t.Errorf("%s: %s embeds %q", ns, m.Info().ID, got)
			}
		}
	}
	s.of("own", "narrow", true)
	s.of("docs", "test-embedder", false)
	if own, docs := s.row("own"), s.row("docs"); own.Dimensions != 48 || docs.Dimensions != coretest.Dimensions {
		t.Errorf("of %d and %d dimensions", own.Dimensions, docs.Dimensions)
	}
	for range 2 { // the second time from the cache of queries
		for _, ns := range []string{"own", "docs"} {
			for _, mode := range []string{"vector", "hybrid"} {
				r := s.query(ns, coretest.Object{"query": "kettle stove", "mode": mode})
				if got := found(r); len(got) != 2 || got[0] != "b" || len(r.List("degraded")) != 0 {
					t.Errorf("%s by %s: %s", ns, mode, r.Body)
				}
			}
		}
	}
	if a, b := second.Queries(), s.Embedder.Queries(); a != 1 || b != 1 {
		t.Errorf("%d queries and %d", a, b)
	}
	s.write("own", doc("a", "zebras on the plain", `{"n":1}`), doc("c", "a ship at sea", ""))
	if a, b := second.TakePassages(), s.Embedder.TakePassages(); !slices.Equal(a, []string{"a ship at sea"}) || len(b) != 0 {
		t.Errorf("written again: %q and %q", a, b)
	}

	// Named again it is the same; another, or a name that there is not, is refused and changes nothing.
	s.create(coretest.Object{"name": "own", "embedding_model": "narrow"}).OK()
	s.create(coretest.Object{"name": "own"}).OK()
	s.create(coretest.Object{"name": "own", "embedding_model": "test-embedder"}).Fails("conflict", "narrow", "test-embedder")
	s.create(coretest.Object{"name": "docs", "embedding_model": "narrow"}).Fails("conflict", "the server's default", "narrow")
	s.create(coretest.Object{"name": "wrong", "embedding_model": "narow"}).Fails("invalid_request", `"narow"`,
		"narrow, test-embedder")
	if ns, err := s.generations(); err != nil || len(ns) != 2 {
		t.Errorf("there are %v, %v", ns, err)
	}
	s.of("own", "narrow", true)

	// Emptied, or deleted, and written again it is as any other.
	s.remove("own", coretest.Object{"ids": []string{"a", "b", "c"}}).OK()
	s.write("own", doc("a", "zebras on the plain", ""))
	s.of("own", "test-embedder", false)
	s.drop("own").OK()
	s.create(coretest.Object{"name": "own", "embedding_model": "narrow"}).OK()
	s.drop("own").OK()
	s.write("own", doc("a", "zebras on the plain", ""))
	s.of("own", "test-embedder", false)
}

func (l *library) generations() (out []int64, err error) {
	err = l.Store.View(l.ctx, func(r port.Reader) (err error) {
		out, err = r.Generations(l.ctx)
		return err
	})
	return out, err
}

// TestTheEmbedderOfItsOwnOutlivesTheDefault: a namespace with an embedder of its own is not to be
// reindexed when the server's default changes, or goes off; only when its own changes.
func TestTheEmbedderOfItsOwnOutlivesTheDefault(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{Embedders: []port.Embedder{narrow()}})
	for _, ns := range []string{"own", "empty"} {
		s.create(coretest.Object{"name": ns, "embedding_model": "narrow"}).OK()
	}
	s.write("own", doc("a", "zebras on the plain", ""))
	s.write("docs", doc("a", "zebras on the plain", ""))
	works := func(when, ns string) {
		t.Helper()
		if got := found(s.query(ns, coretest.Object{"query": "zebras", "mode": "vector"})); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: %s finds %v", when, ns, got)
		}
		s.write(ns, doc("a", "zebras on the plain", `{"of":"`+when+`"}`))
	}
	stale := func(when string, own, docs bool) {
		t.Helper()
		if a, b := s.Encoders.Stale(s.row("own")), s.Encoders.Stale(s.row("docs")); a != own || b != docs {
			t.Errorf("%s: to be reindexed are own %v, docs %v", when, a, b)
		}
	}
	works("at first", "own")
	stale("at first", false, false)

	s = s.restart(coretest.Options{Embedder: &coretest.Embedder{Digest: "sha256:test-embedder-2"},
		Embedders: []port.Embedder{narrow()}})
	works("another default", "own")
	stale("another default", false, true)
	s.ask("docs", coretest.Object{"query": "zebras"}).Fails("conflict", "sha256:test-embedder-2")

	s = s.restart(coretest.Options{NoEmbedder: true, Embedders: []port.Embedder{narrow()}})
	works("no default", "own")
	s.write("empty", doc("a", "zebras on the plain", ""))
	works("no default", "empty")
	s.of("empty", "narrow", true)
	s.post("docs", coretest.Object{"documents": []coretest.Object{doc("b", "x", "")}}).Fails("unavailable", "off")

	changed := narrow()
	changed.Digest = "sha256:narrow-2"
	s = s.restart(coretest.Options{Embedders: []port.Embedder{changed}})
	stale("its own changed", true, false)
	s.ask("own", coretest.Object{"query": "zebras"}).Fails("conflict", "sha256:narrow)", "narrow (sha256:narrow-2)")
	p := port.Documents(ident.From(s.ctx).Org, "own")
	if r := s.reindex(p, reindex.Request{}); r.Unchanged {
		t.Errorf("reindexed: %+v", r)
	}
	works("reindexed", "own")
	s.of("own", "narrow", true)
	stale("reindexed", false, false)

	// The one before is served while roles.previous has it.
	again := narrow()
	again.Digest = "sha256:narrow-3"
	s = s.restart(coretest.Options{Embedders: []port.Embedder{again},
		Previous: ingest.Previous{Embedders: []port.Embedder{changed}}})
	works("of before", "own")
	stale("of before", true, false)
}

// TestTheEmbedderOfItsOwnIsGone: a namespace whose own embedder the server has no more is
// refused by the model's name, full or empty, and no other; reindexing gives it another.
func TestTheEmbedderOfItsOwnIsGone(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{Embedders: []port.Embedder{narrow()}})
	for _, ns := range []string{"own", "empty"} {
		s.create(coretest.Object{"name": ns, "embedding_model": "narrow"}).OK()
	}
	s.write("own", doc("a", "zebras on the plain", ""))
	s.write("docs", doc("a", "zebras on the plain", ""))
	third := &coretest.Embedder{ID: "third", Digest: "sha256:third", Size: 32}
	s = s.restart(coretest.Options{Embedders: []port.Embedder{third}})
	refused := []string{`"narrow"`, "test-embedder, third"}
	for _, mode := range []string{"vector", "keyword", "hybrid"} {
		s.ask("own", coretest.Object{"query": "zebras", "mode": mode}).Fails("conflict", refused...)
	}
	for _, ns := range []string{"own", "empty"} {
		s.post(ns, coretest.Object{"documents": []coretest.Object{doc("b", "x", "")}}).Fails("conflict", refused...)
	}
	s.get("own", "a").OK()
	s.of("own", "narrow", true)
	s.write("docs", doc("b", "x", ""))
	s.query("docs", coretest.Object{"query": "zebras"})
	if !s.Encoders.Stale(s.row("own")) {
		t.Error("it is shown as current")
	}

	p := port.Documents(ident.From(s.ctx).Org, "own")
	for _, in := range []reindex.Request{{}, {Force: true}, {Language: "de"}} {
		if _, _, err := s.documents.CheckReindex(s.ctx, p, in); fault.CodeOf(err) != fault.Conflict ||
			!strings.Contains(fault.From(err).Message, `"narrow"`) {
			t.Errorf("reindexed as %+v: %v", in, err)
		}
	}
	if r := s.reindex(p, reindex.Request{EmbeddingModel: new("third")}); r.Unchanged || r.Comparison != nil {
		t.Errorf("reindexed: %+v", r)
	}
	s.of("own", "third", true)
	if got := found(s.query("own", coretest.Object{"query": "zebras", "mode": "vector"})); !slices.Equal(got, []string{"a"}) {
		t.Errorf("reindexed, it finds %v", got)
	}

	// A model that came back by another name made the vectors, so they are served.
	s.create(coretest.Object{"name": "renamed", "embedding_model": "third"}).OK()
	s.write("renamed", doc("a", "zebras on the plain", ""))
	s = s.restart(coretest.Options{Embedders: []port.Embedder{&coretest.Embedder{ID: "other", Digest: "sha256:third", Size: 32}}})
	s.write("renamed", doc("b", "x", ""))
	if got := found(s.query("renamed", coretest.Object{"query": "zebras", "mode": "vector"})); len(got) != 2 || got[0] != "a" {
		t.Errorf("by another name: %v", got)
	}
}

// TestReindexingToAnotherEmbedder: the old vectors are served until the new ones are complete,
// then the new ones, and the old ones again after the way back.
func TestReindexingToAnotherEmbedder(t *testing.T) {
	t.Parallel()
	second := narrow()
	s := open(t, coretest.Options{Embedders: []port.Embedder{second}})
	s.write("docs", doc("a", "zebras on the plain", ""), doc("b", "a kettle on the stove", ""))
	p := port.Documents(ident.From(s.ctx).Org, "docs")
	serves := func(when, model string, chosen bool, want ...string) {
		t.Helper()
		s.of("docs", model, chosen)
		before := map[*coretest.Embedder]int{second: second.Queries(), s.Embedder: s.Embedder.Queries()}
		if got := found(s.query("docs", coretest.Object{"query": "kettle " + when, "mode": "vector"})); len(got) == 0 ||
			got[0] != "b" || !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%s: finds %v", when, got)
		}
		for m, n := range before {
			if asked := m.Queries() - n; (asked == 1) != (m.Info().ID == model) {
				t.Errorf("%s: %s is asked %d times", when, m.Info().ID, asked)
			}
		}
	}
	if _, _, err := s.documents.CheckReindex(s.ctx, p, reindex.Request{EmbeddingModel: new("narow")}); fault.CodeOf(err) !=
		fault.InvalidRequest || !strings.Contains(fault.From(err).Message, "narrow, test-embedder") {
		t.Errorf("to a name that there is not: %v", err)
	}
	for name, want := range map[string]bool{"": false, "narrow": true, "test-embedder": true} {
		_, needed, err := s.documents.CheckReindex(s.ctx, p, reindex.Request{EmbeddingModel: &name})
		if needed != want || err != nil {
			t.Errorf("to %q: needed %v, %v", name, needed, err)
		}
	}
	if r := s.reindex(p, reindex.Request{EmbeddingModel: new("")}); !r.Unchanged {
		t.Errorf("to the default that it has: %+v", r)
	}
	if r := s.reindex(p, reindex.Request{EmbeddingModel: new("narrow"), Hold: true}); !r.Held || r.Comparison == nil {
		t.Errorf("held: %+v", r)
	}
	serves("held", "test-embedder", false, "a", "b")
	s.write("docs", doc("c", "a ship at sea", ""))
	serves("written since", "test-embedder", false, "a", "b", "c")
	if r := s.reindex(p, reindex.Request{}); r.Unchanged || r.Held || r.Documents != 3 { // goes on with it
		t.Errorf("swapped: %+v", r)
	}
	serves("swapped", "narrow", true, "a", "b", "c")
	if r := s.reindex(p, reindex.Request{EmbeddingModel: new("narrow")}); !r.Unchanged {
		t.Errorf("to the one that it has: %+v", r)
	}
	s.write("docs", doc("d", "a letter in the post", ""))
	serves("written after", "narrow", true, "a", "b", "c", "d")
	if r := s.reindex(p, reindex.Request{Force: true}); r.Unchanged {
		t.Errorf("again: %+v", r)
	}
	serves("again", "narrow", true, "a", "b", "c", "d")
	if r := s.reindex(p, reindex.Request{EmbeddingModel: new("")}); r.Unchanged {
		t.Errorf("to the default: %+v", r)
	}
	serves("of the default", "test-embedder", false, "a", "b", "c", "d")
	s.write("docs", doc("e", "a stone wall", ""))
	if r := s.reindex(p, reindex.Request{Back: true}); r.Unchanged {
		t.Errorf("back: %+v", r)
	}
	serves("gone back", "narrow", true, "a", "b", "c", "d", "e")

	// A chosen default stays when another comes. What is held of the default as such is none.
	if r := s.reindex(p, reindex.Request{EmbeddingModel: new(""), Hold: true}); !r.Held {
		t.Errorf("held: %+v", r)
	}
	if r := s.reindex(p, reindex.Request{EmbeddingModel: new("test-embedder")}); r.Unchanged {
		t.Errorf("to the default by its name: %+v", r)
	}
	serves("pinned", "test-embedder", true, "a", "b", "c", "d", "e")
}
