package namespace_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/dataset"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
)

// TestTheChosenEmbedderMoves: a data set carries the embedder of its namespace's own, with its
// vectors; where there is none of the name the import is refused, unless it names another.
func TestTheChosenEmbedderMoves(t *testing.T) {
	t.Parallel()
	slim := func() *coretest.Embedder { return &coretest.Embedder{ID: "slim", Digest: "sha256:slim", Size: 48} }
	from := open(t, coretest.Options{Embedders: []port.Embedder{slim()}})
	coretest.Ask(from.ctx, t, from.namespaces.Create, coretest.Object{"name": "docs", "embedding_model": "slim"}).OK()
	from.write("docs", corpus(20)...)
	chosen := func(d *depot, ns, model string, is bool) {
		t.Helper()
		n := coretest.Ask(d.ctx, t, d.namespaces.Get, coretest.Object{}, func(in *namespace.Ref) { in.Namespace = ns }).OK()
		if n.JSON["embedding_model"] != model || n.JSON["embedding_model_chosen"] != is {
			t.Errorf("%s: %s, want it of %s, chosen %v", ns, n.Body, model, is)
		}
	}
	q := coretest.Object{"query": "one", "mode": "vector", "top_k": 50}
	for _, vectors := range []bool{true, false} {
		set := from.export("docs", vectors)
		theirs := slim()
		to := open(t, coretest.Options{Embedders: []port.Embedder{theirs}})
		if _, err := to.bring("docs", dataset.Fail, set); err != nil {
			t.Fatal(err)
		}
		chosen(to, "docs", "slim", true)
		if n := len(theirs.TakePassages()); (n > 0) == vectors || len(to.Embedder.TakePassages()) > 0 {
			t.Errorf("with vectors %v: %d passages are embedded", vectors, n)
		}
		if was, is := from.find("docs", q), to.find("docs", q); !slices.Equal(was, is) || len(is) == 0 {
			t.Errorf("finds %v, found %v", is, was)
		}
		if is := coretest.End(t, to.export("docs", vectors)); is.Hash != coretest.End(t, set).Hash {
			t.Errorf("exported again with vectors %v it is %v", vectors, is)
		}
	}

	set := from.export("docs", true)
	to := open(t, coretest.Options{})
	to.refuses("docs", dataset.Fail, set, fault.InvalidRequest, `"slim"`, "it has test-embedder")
	bring := func(ns, model string) error {
		_, err := to.transfers.Import(to.ctx, to.partition(ns), datasets.How{Policy: dataset.Fail, Embedder: model},
			bytes.NewReader(set))
		return err
	}
	if err := bring("docs", "slm"); fault.CodeOf(err) != fault.InvalidRequest || !strings.Contains(err.Error(), `"slm"`) {
		t.Errorf("into one that there is not: %v", err)
	}
	for range 2 { // again it is the same
		if err := bring("docs", "test-embedder"); err != nil {
			t.Fatal(err)
		}
	}
	chosen(to, "docs", "test-embedder", true)
	if got := to.find("docs", q); len(got) == 0 {
		t.Error("nothing is found")
	}
	// What is there keeps its own.
	to.write("there", doc("a", "one", ""))
	if err := bring("there", "test-embedder"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("into one with the default: %v", err)
	}
	if err := bring("there", ""); err != nil {
		t.Error(err)
	}
	chosen(to, "there", "test-embedder", false)
}
