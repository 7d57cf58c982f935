package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/port"
)

// newSlim is a third embedding model: of fewer dimensions.
func newSlim() *coretest.Embedder {
	return &coretest.Embedder{ID: "test-slim", Digest: "sha256:test-slim", Size: coretest.Dimensions - 16}
}

// TestNamespacesWithEmbeddersOfTheirOwn: namespaces of one server with vectors of different models
// and dimensions answer as they do on servers whose only model that is, over a restart, too; one goes
// over to another while it is served; and a model that the server has no more is told by its name.
func TestNamespacesWithEmbeddersOfTheirOwn(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		docs := corpus(110)
		several := func(o *options) {
			o.embedder, o.embedders = coretest.NewEmbedder(), []port.Embedder{newWider(), newSlim()}
		}
		o := options{}
		several(&o)
		s := start(t, b, o)
		models := map[string]string{"plain": "test-embedder", "wide": "test-wider", "slim": "test-slim"}
		s.post("/namespaces", object{"name": "wide", "embedding_model": "test-wider"}).ok()
		s.post("/namespaces", object{"name": "slim", "embedding_model": "test-slim"}).ok()
		s.post("/namespaces", object{"name": "other", "embedding_model": "test-slimm"}).fails(400, "invalid_request",
			"embedding_model", `"test-slimm"`, "test-embedder, test-slim, test-wider")
		fill := func(s *server, ns string) {
			t.Helper()
			s.writeAll(ns, docs)
			s.query(ns, object{"query": "warm the index"})
			s.write(ns, doc("d003", "it was written once more", ""))
			s.post("/namespaces/"+ns+"/documents/delete", object{"ids": []string{"d007", "d099"}}).ok()
		}
		alone := map[string][]string{}
		for ns, m := range map[string]port.Embedder{"plain": coretest.NewEmbedder(), "wide": newWider(), "slim": newSlim()} {
			fill(s, ns)
			only := start(t, b, options{embedder: m})
			fill(only, ns)
			alone[ns] = complete(only, ns)
			only.close()
		}
		as := func(when string, s *server, of map[string]string) {
			t.Helper()
			for ns, like := range of {
				n := s.get("/namespaces/" + ns).ok().json
				if n["embedding_model"] != models[like] || n["embedding_model_chosen"] != (like != "plain") {
					t.Errorf("%s: %s is %v", when, ns, n)
				}
				// The namespace's name is in what it answers.
				want := strings.ReplaceAll(strings.Join(alone[like], "\n"), like+"/", ns+"/")
				if got := strings.Join(complete(s, ns), "\n"); got != want {
					t.Errorf("%s: %s answers\n%.900s\nwant\n%.900s", when, ns, got, want)
				}
			}
		}
		own := map[string]string{"plain": "plain", "wide": "wide", "slim": "slim"}
		as("at first", s, own)
		s = s.restart(several)
		as("started again", s, own)

		// Another default leaves those with a model of their own as they are.
		s = s.restart(func(o *options) { o.embedder, o.embedders = newWider(), []port.Embedder{newSlim()} })
		as("another default", s, map[string]string{"wide": "wide", "slim": "slim"})
		s.post("/namespaces/plain/query", object{"query": "x"}).fails(409, "conflict", "test-embedder", "mneme reindex plain")
		s = s.restart(several)
		op := s.operator()

		op.post(reindexPath+"plain/reindex", object{"embedding_model": "test-slimm"}).fails(400, "invalid_request",
			"embedding_model", "test-embedder, test-slim, test-wider")
		op.post(reindexPath+"plain/reindex", object{"embedding_model": "test-slim", "hold": true}).is(202)
		if end := op.reindexed("plain"); end["status"] != "held" || end["comparison"] == nil {
			t.Errorf("held: %v", end)
		}
		as("held", s, own)
		op.post(reindexPath+"plain/reindex", nil).is(202)
		if end := op.reindexed("plain"); end["status"] != "succeeded" {
			t.Errorf("swapped: %v", end)
		}
		as("swapped", s, map[string]string{"plain": "slim", "wide": "wide", "slim": "slim"})
		op.post(reindexPath+"plain/reindex", object{"back": true}).is(202)
		op.reindexed("plain")
		as("gone back", s, own)
		op.post(reindexPath+"wide/reindex", object{"embedding_model": ""}).is(202)
		op.reindexed("wide")
		as("of the default", s, map[string]string{"plain": "plain", "wide": "plain", "slim": "slim"})

		// A server without the model.
		s = s.restart(func(o *options) { o.embedders = []port.Embedder{newWider()} })
		for _, mode := range []string{"hybrid", "vector", "keyword"} {
			s.post("/namespaces/slim/query", object{"query": "x", "mode": mode}).fails(409, "conflict", `"test-slim"`,
				"test-embedder, test-wider", "--embedding-model")
		}
		s.post("/namespaces/slim/documents", object{"documents": docs[:1]}).fails(409, "conflict", `"test-slim"`)
		as("without the model of another", s, map[string]string{"plain": "plain", "wide": "plain"})
		op = s.operator()
		var listed []string
		for _, n := range op.get("/admin/v1/organizations/default/namespaces").ok().list("namespaces") {
			listed = append(listed, fmt.Sprint(n["name"], " ", n["embedding_model_chosen"], " ", n["current"]))
		}
		if want := []string{"plain false true", "slim true false", "wide false true"}; !slices.Equal(listed, want) {
			t.Errorf("listed are %q, want %q", listed, want)
		}
		op.post(reindexPath+"slim/reindex", nil).fails(409, "conflict", `"test-slim"`)
		op.post(reindexPath+"slim/reindex", object{"embedding_model": "test-wider"}).is(202)
		if end := op.reindexed("slim"); end["status"] != "succeeded" || end["comparison"] != nil {
			t.Errorf("to one that there is: %v", end)
		}
		as("to one that there is", s, map[string]string{"slim": "wide"})
	})
}
