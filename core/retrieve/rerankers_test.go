package retrieve_test

import (
	"slices"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// titled is a reranker of an id.
type titled struct {
	coretest.Reranker
	id string
}

func (r titled) Info() port.ModelInfo { return port.ModelInfo{ID: r.id} }

// TestNamedReranker: every reranker can be named, and the default goes without a name.
func TestNamedReranker(t *testing.T) {
	a, b, c := titled{id: "a"}, titled{id: "b"}, titled{id: "c"}
	on := retrieve.Rerankers{Default: a, Others: []port.Reranker{b, c}}
	off := retrieve.Rerankers{Others: []port.Reranker{b}}
	for _, c := range []struct {
		of    retrieve.Rerankers
		name  string
		want  port.Reranker
		known bool
	}{{on, "", a, true}, {on, "a", a, true}, {on, "c", c, true}, {on, "d", nil, false},
		{off, "", nil, true}, {off, "b", b, true}, {off, "a", nil, false}, {retrieve.Rerankers{}, "a", nil, false}} {
		if got, known := c.of.Named(c.name); got != c.want || known != c.known {
			t.Errorf("%q: %v, %t", c.name, got, known)
		}
	}
	if ids := on.IDs(); !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Error(ids)
	}
	if ids := off.IDs(); !slices.Equal(ids, []string{"b"}) {
		t.Error(ids)
	}
	if ids := (retrieve.Rerankers{Default: a, Others: []port.Reranker{a}}).IDs(); !slices.Equal(ids, []string{"a"}) {
		t.Error(ids)
	}
}
