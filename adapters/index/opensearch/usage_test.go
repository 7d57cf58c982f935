package opensearch_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/index/opensearch"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// usage is what a measurement sees of an index and its nodes.
func usage(t testing.TB, c opensearch.Config) registry.Usage {
	t.Helper()
	r := registry.New()
	opensearch.Register(r)
	isolated, ok, err := r.Index.Isolate(registry.Selection{Component: "opensearch", Config: &c}, c.IndexPrefix)
	must(t, err)
	if !ok {
		t.Fatal("the index keeps nothing outside the data folder")
	}
	u, err := isolated.Usage(t.Context())
	must(t, err)
	return u
}

// A measurement sees what the index takes, and the nodes at work.
func TestUsage(t *testing.T) {
	c := settings(t)
	x := open(t, c)
	before := usage(t, c)
	var b port.Batch
	for range 50 {
		b.Changes = append(b.Changes, port.IndexChange{Document: string(rune('a' + len(b.Changes))),
			Entries: []port.Entry{{Text: "words of a document", Vector: []float32{.6, .8}}}})
	}
	b.Upto = 1
	must(t, x.Apply(t.Context(), part(1), b))
	after := usage(t, c)
	if name := c.IndexPrefix + "-chunks"; after.Tables[name] <= 0 { // nodes look at their disks now and then
		t.Errorf("the index takes %d bytes", after.Tables[name])
	}
	if !(before.CPU > 0 && after.CPU >= before.CPU) || after.Memory < 1<<20 {
		t.Errorf("processor %g s, then %g; %d bytes of memory", before.CPU, after.CPU, after.Memory)
	}
	if before.Place == "" || before.Place != after.Place {
		t.Errorf("places %q and %q", before.Place, after.Place)
	}
}
