package meilisearch_test

import (
	"errors"
	"testing"

	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/meilisearch/meilisearchtest"
	"github.com/mnemehq/mneme/core/registry"
)

// An isolated index holds nothing of the configured one, and goes alone.
func TestIsolate(t *testing.T) {
	s := meilisearchtest.Start(t, meilisearchtest.Options{MasterKey: masterKey})
	c := settings(s)
	x := open(t, c)
	must(t, apply(x, part(1), 0, texts("a", "heron")))
	r := registry.New()
	meilisearch.Register(r)
	info, ok := r.Index.Component("meilisearch")
	if !ok {
		t.Fatal("the component is not registered under its name")
	}
	chosen := info.Select()
	*chosen.Config.(*meilisearch.Config) = c
	i, ok, err := r.Index.Isolate(chosen, "apart_1")
	if err != nil || !ok {
		t.Fatalf("isolated %v, %v", ok, err)
	}
	must(t, i.Drop(t.Context())) // there is none yet
	apart, err := r.Index.Open(t.Context(), i.Selection, registry.Env{})
	must(t, err)
	if n := s.Documents("apart_1_chunks"); n != 1 { // it says whose it is
		t.Errorf("the isolated index holds %d documents", n)
	}
	must(t, errors.Join(apart.Close(), i.Drop(t.Context())))
	if n := s.Documents("apart_1_chunks"); n > 0 {
		t.Errorf("%d documents are left", n)
	}
	if got := find(t, x, part(1), "heron"); got != "a/0" {
		t.Errorf("the configured index finds %q", got)
	}
	if chosen.Config.(*meilisearch.Config).IndexPrefix != c.IndexPrefix {
		t.Error("the configuration that was isolated is changed")
	}
	s.Down()
	if err := i.Drop(t.Context()); err == nil {
		t.Error("an index was dropped at a server that is gone")
	}
}
