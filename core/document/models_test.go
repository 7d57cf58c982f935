package document_test

import (
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// TestModelMismatch: vectors of two embedders never mix.
func TestModelMismatch(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("a", "some text", ""))
	s.create(coretest.Object{"name": "empty"}).OK()
	s = s.restart(coretest.Options{Embedder: &coretest.Embedder{Digest: "sha256:test-embedder-2"}})
	s.ask("docs", coretest.Object{"query": "x"}).Fails("conflict", "sha256:test-embedder-1", "sha256:test-embedder-2")
	s.post("docs", coretest.Object{"documents": []coretest.Object{doc("b", "x", "")}}).Fails("conflict", "sha256:test-embedder-1")
	s.get("docs", "a").OK()
	s.write("fresh", doc("b", "x", ""))
	s.write("empty", doc("b", "x", "")) // held nothing, so nothing mixes
	if r := s.namespace("empty").OK(); r.JSON["embedding_digest"] != "sha256:test-embedder-2" {
		t.Errorf("the namespace kept the digest %v", r.JSON["embedding_digest"])
	}
}

// TestModelsOffAtCreation: a namespace created while models were off records
// those that its first documents are written with.
func TestModelsOffAtCreation(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{NoEmbedder: true})
	s.create(coretest.Object{"name": "thin", "sparse": true}).OK()
	s.create(coretest.Object{"name": "plain"}).OK()
	sparse := &coretest.SparseEncoder{}
	s = s.restart(coretest.Options{Sparse: sparse})
	for _, ns := range []string{"thin", "plain"} {
		s.write(ns, doc("a", "some text", ""))
		n := s.namespace(ns).OK()
		if n.JSON["embedding_digest"] != "sha256:test-embedder-1" || n.JSON["sparse"] != (ns == "thin") ||
			(n.JSON["sparse_model"] != nil) != (ns == "thin") {
			t.Errorf("%s", n.Body)
		}
	}
	if got := found(s.query("thin", coretest.Object{"query": "text", "mode": "sparse"})); !slices.Equal(got, []string{"a"}) {
		t.Errorf("sparse search finds %v", got)
	}
	s = s.restart(coretest.Options{Embedder: &coretest.Embedder{Digest: "sha256:test-embedder-2"}, Sparse: sparse})
	for _, ns := range []string{"thin", "plain"} {
		s.post(ns, coretest.Object{"documents": []coretest.Object{doc("b", "x", "")}}).Fails("conflict", "sha256:test-embedder-1")
	}
}
