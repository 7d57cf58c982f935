package query_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// object is a JSON object.
type object = coretest.Object

// twoNamespaces is a house with the namespaces "docs" and "thin", which has a
// learned-sparse index.
func twoNamespaces(t *testing.T) *house {
	h := newHouse(t, coretest.Options{Sparse: &coretest.SparseEncoder{}}, func(s *query.Settings) {
		s.Reranker, s.Reranking = coretest.Reranker{}, retrieve.DefaultReranking()
	})
	h.sparse("thin")
	for _, namespace := range []string{"docs", "thin"} {
		h.write(namespace, text("lease", "the lease of the flat"), text("bread", "warm bread"))
	}
	return h
}

// Which retrievers are asked, and what the scores are then (docs/contract.md#query-request,
// docs/contract.md#query-scores).
func TestAQueryChoosesRetrievers(t *testing.T) {
	h := twoNamespaces(t)
	for _, c := range []struct {
		namespace string
		body      object
		want      string
		kind      string
	}{
		{"docs", object{}, "[vector keyword]", "fused"},
		{"docs", object{"mode": nil, "retrievers": nil}, "[vector keyword]", "fused"},
		{"docs", object{"mode": "hybrid"}, "[vector keyword]", "fused"},
		{"docs", object{"mode": "vector"}, "[vector]", "cosine"},
		{"docs", object{"mode": "keyword"}, "[keyword]", "bm25"},
		{"docs", object{"retrievers": []string{"keyword", "vector"}}, "[keyword vector]", "fused"},
		{"docs", object{"retrievers": []string{"vector"}}, "[vector]", "cosine"},
		{"thin", object{}, "[vector keyword sparse]", "fused"},
		{"thin", object{"mode": "hybrid"}, "[vector keyword sparse]", "fused"},
		{"thin", object{"mode": "sparse"}, "[sparse]", "sparse"},
		{"thin", object{"retrievers": []string{"sparse", "vector"}}, "[sparse vector]", "fused"},
		{"docs", object{"weights": object{"vector": 0, "keyword": 1}}, "[keyword]", "bm25"},
		// The weights of retrievers that are not named stay as configured, and those of
		// retrievers that are not used change nothing.
		{"docs", object{"weights": object{"vector": 0, "sparse": 1}}, "[keyword]", "bm25"},
		{"docs", object{"weights": object{"vector": 2, "sparse": 0}}, "[vector keyword]", "fused"},
		{"docs", object{"weights": object{"keyword": 0}}, "[vector]", "cosine"},
		{"docs", object{"weights": object{"sparse": 0}}, "[vector keyword]", "fused"},
		{"thin", object{"weights": object{"vector": 0, "keyword": 0}}, "[sparse]", "sparse"},
		{"thin", object{"weights": object{"keyword": 0, "vector": 1}}, "[vector sparse]", "fused"},
		{"thin", object{"weights": object{"keyword": 0, "sparse": 1}, "retrievers": []string{"keyword", "sparse"}}, "[sparse]",
			"sparse"},
		// Of a single retriever the weight says nothing.
		{"docs", object{"weights": object{"vector": 0, "keyword": 1}, "mode": "vector"}, "[vector]", "cosine"},
		{"docs", object{"rerank": true}, "[vector keyword]", "rerank"},
		{"docs", object{"rerank": object{}}, "[vector keyword]", "rerank"},
		{"docs", object{"rerank": object{"model": "test-rerank", "depth": 100}}, "[vector keyword]", "rerank"},
		{"docs", object{"rerank": object{"model": "", "depth": 1}}, "[vector keyword]", "rerank"},
		{"docs", object{"rerank": false}, "[vector keyword]", "fused"},
		{"docs", object{"rerank": nil}, "[vector keyword]", "fused"},
		{"docs", object{"min_score": 0, "rerank": true}, "[vector keyword]", "rerank"},
		{"docs", object{"min_score": 0, "retrievers": []string{"vector"}}, "[vector]", "cosine"},
		{"docs", object{"min_score": nil, "mode": "keyword"}, "[keyword]", "bm25"},
	} {
		c.body["query"] = "lease"
		r := h.ask(c.namespace, c.body).OK()
		model := any(nil)
		if c.kind == "rerank" {
			model = "test-rerank"
		}
		if r.JSON["score_kind"] != c.kind || r.JSON["model"] != model || fmt.Sprint(r.JSON["retrievers"]) != c.want ||
			len(r.List("degraded")) != 0 || r.List("results")[0]["document_id"] != "lease" {
			t.Errorf("%s %v: %s", c.namespace, c.body, r.Body)
		}
	}
}

// docs/contract.md#query-request
func TestAQueryIsRefused(t *testing.T) {
	h := twoNamespaces(t)
	const bad = fault.InvalidRequest
	for _, c := range []struct {
		body  object
		code  fault.Code
		words []string
	}{
		{object{"mode": "vector", "retrievers": []string{"vector"}}, bad, []string{"mode", "retrievers"}},
		{object{"retrievers": []string{"vector", "vector"}}, bad, []string{"retrievers", `"vector" is named twice`}},
		{object{"mode": "sparse"}, bad, []string{"retrievers", `"docs" has no sparse index`}},
		{object{"retrievers": []string{"vector", "sparse"}}, bad, []string{"retrievers", "no sparse index"}},
		{object{"weights": object{"vector": 0, "keyword": 0}}, bad, []string{"weights", "at least one weight above 0"}},
		{object{"weights": object{"vector": 0, "keyword": 0, "sparse": 1}}, bad,
			[]string{"weights", "every retriever used a weight of 0"}},
		{object{"filter": object{}}, fault.InvalidFilter, nil},
		{object{"language": "xx"}, bad, []string{"language", "auto, en, de, fr, es, it, pt, nl, sv, tr, ru, ar or hi"}},
		{object{"rerank": "yes"}, bad, []string{"rerank", "must be true, false or an object"}},
		{object{"rerank": 1}, bad, []string{"rerank", "must be true, false or an object"}},
		{object{"rerank": []bool{true}}, bad, []string{"rerank", "must be true, false or an object"}},
		{object{"rerank": object{"top": 3}}, bad, []string{"rerank", `"top" is not a known field`}},
		{object{"rerank": object{"Depth": 3}}, bad, []string{"rerank", `"Depth" is not a known field`}},
		{object{"rerank": object{"depth": 1.5}}, bad, []string{"rerank.depth", "must be an integer"}},
		{object{"rerank": object{"depth": 0}}, bad, []string{"rerank.depth", "1-100"}},
		{object{"rerank": object{"depth": 101}}, bad, []string{"rerank.depth", "1-100"}},
		{object{"rerank": object{"model": nil}}, bad, []string{"rerank.model", "must be a string"}},
		{object{"rerank": object{"model": 3}}, bad, []string{"rerank.model", "must be a string"}},
		{object{"rerank": object{"model": "other"}}, bad, []string{"rerank.model", `"other" is not a rerank model`}},
		{object{"query": " \t\u3000"}, bad, []string{"query", "white space"}},
		{object{"min_score": .5}, bad, []string{"min_score"}},
		{object{"min_score": .5, "mode": "keyword"}, bad, []string{"min_score"}},
		{object{"min_score": .5, "retrievers": []string{"vector", "keyword"}}, bad, []string{"min_score"}},
		{object{"min_score": .5, "rerank": false}, bad, []string{"min_score"}},
	} {
		if c.body["query"] == nil {
			c.body["query"] = "lease"
		}
		h.ask("docs", c.body).Fails(c.code, c.words...)
	}
	cut := query.Request{Namespace: "docs", Query: "lease", Rerank: json.RawMessage(`{"depth"`)}
	if _, err := h.query(cut); fault.CodeOf(err) != bad {
		t.Errorf("an object without an end: %v", err)
	}
}

// A query that reranks is charged as a rerank too (docs/contract.md#limit-rates), and a
// key of one namespace is held to it.
func TestAQueryIsCharged(t *testing.T) {
	for rerank, want := range map[string][]op.Class{"": nil, "false": nil, "true": {op.Rerank}, "{}": {op.Rerank}} {
		q := query.Request{Namespace: "docs", Query: "a", Rerank: json.RawMessage(rerank)}
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		if got := q.Classes(); !slices.Equal(got, want) || q.NamespaceName() != "docs" {
			t.Errorf("rerank %s: charged %v, want %v, in namespace %s", rerank, got, want, q.NamespaceName())
		}
	}
}

// The limit of a query that reranks holds for both (docs/contract.md#limit-time); one
// that does not is limited by the service, see TestAQueryIsLimitedInTime. Neither
// constant's arithmetic can be covered, as no statement holds it.
func TestTheOperationOfQueries(t *testing.T) {
	ops := query.Operations()
	if len(ops) != 1 {
		t.Fatalf("%d operations", len(ops))
	}
	spec := ops[0].Spec
	if spec.Name != "namespaces.query" || spec.Timeout != 20*time.Second || len(spec.Links) != 1 {
		t.Errorf("%s within %s with the links %v", spec.Name, spec.Timeout, spec.Links)
	}
	for _, e := range spec.Examples {
		var q query.Request
		if err := json.Unmarshal([]byte(e.Body), &q); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		q.Namespace = "docs"
		if err := op.Check(&q); err != nil || !json.Valid([]byte(e.Answer)) {
			t.Errorf("%s: %v, or its answer is no JSON", e.Name, err)
		}
	}
	var q query.Request
	if !json.Valid([]byte(q.JSONSchema())) {
		t.Errorf("the schema is no JSON: %s", q.JSONSchema())
	}
	if a := q.Alternatives()["rerank"]; !slices.Equal(a, []any{nil, false, query.Rerank{}}) {
		t.Errorf("rerank may be %v", a)
	}
}
