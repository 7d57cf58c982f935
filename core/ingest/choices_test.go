package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// An embedder is named by its own name or an alias; who names another is told which there are, or
// some of many with the one that is nearest.
func TestNamingAnEmbedder(t *testing.T) {
	of := func(n int) (c ingest.Choices) {
		for i := range n {
			c.Embedders = append(c.Embedders, &coretest.Embedder{ID: fmt.Sprint("model-", n-i)})
		}
		c.Aliases = map[string]string{"alias": "model-1", "of a reranker": "ranker"}
		return c
	}
	for name, want := range map[string]string{"": "", "model-2": "model-2", "alias": "model-1"} {
		if got, err := of(3).Named("field", name); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", name, got, err, want)
		}
	}
	for _, c := range []struct {
		models int
		name   string
		want   string
	}{
		{0, "model-1", `"model-1" is no embedding model of this server; it has none`},
		{3, "model-4", `"model-4" is no embedding model of this server; it has model-1, model-2, model-3`},
		{3, "of a reranker", `"of a reranker" is no embedding model of this server; it has model-1, model-2, model-3`},
		{8, "model", "it has model-1, model-2, model-3, model-4, model-5, model-6, model-7, model-8"},
		{9, "x", "it has model-1, model-2, model-3, model-4, model-5, model-6, model-7, model-8 and 1 more, which GET /models"},
		{40, "modell-39", "it has model-39, model-1, model-10, model-11"},
	} {
		_, err := of(c.models).Named("field", c.name)
		if m := fault.From(err).Message; fault.CodeOf(err) != fault.InvalidRequest || !strings.HasPrefix(m, "field: ") ||
			!strings.Contains(m, c.want) {
			t.Errorf("%q of %d: %v, want %q", c.name, c.models, err, c.want)
		}
	}
	if m := of(3).Embedder(""); m != nil {
		t.Errorf("no name is %v", m.Info())
	}
	// A model without a name is nobody's choice.
	if m := (ingest.Choices{Embedders: []port.Embedder{&unnamed{}}}).Embedder(""); m != nil {
		t.Errorf("no name is %v", m.Info())
	}
}

type unnamed struct{ coretest.Embedder }

func (*unnamed) Info() port.ModelInfo { return port.ModelInfo{} }

// What may be chosen serves the vectors of namespaces that have chosen, and of no others: which of those are
// served of before is roles.previous' to say.
func TestAChoiceServesWhoHasChosen(t *testing.T) {
	configured, other := &coretest.Embedder{Digest: "new"}, &coretest.Embedder{ID: "other", Digest: "old"}
	all := ingest.NewEncoders(&ingest.Encoder{Embedder: configured}, ingest.Previous{}).
		Offering(ingest.Choices{Embedders: []port.Embedder{configured, other}})
	for chosen, want := range map[string]fault.Code{"": fault.Conflict, "other": "", "test-embedder": ""} {
		row := port.PartitionRow{Name: "docs", Documents: 1, EmbeddingDigest: "old", Embedder: chosen}
		if err := all.Check(row); (err == nil) != (want == "") || err != nil && fault.CodeOf(err) != want {
			t.Errorf("chosen %q: %v", chosen, err)
		}
		if want == "" && all.For(row).Embedder != port.Embedder(other) {
			t.Errorf("chosen %q: it is served by another model than made its vectors", chosen)
		}
		if stale := all.Stale(row); stale != (chosen != "other") {
			t.Errorf("chosen %q: stale is %v", chosen, stale)
		}
	}
}
