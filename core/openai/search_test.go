package openai_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/openai"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// store is a vector store "home" of three documents.
type store struct {
	t       *testing.T
	f       *coretest.Fixture
	service *openai.Service
}

func newStore(t *testing.T, reranks bool) *store {
	t.Helper()
	f := coretest.New(t, coretest.Options{})
	documents := services.Documents(f)
	s := &store{t: t, f: f, service: service(func(s *openai.Settings) {
		s.Namespaces = namespace.New(f.Store, f.Pages, f.Models, f.Projector.Drop)
		s.Store, s.Now, s.Documents = f.Store, f.Now, documents
		s.Reranks = reranks
		s.Queries = services.Queries(f, func(s *query.Settings) {
			s.Reranking = retrieve.Reranking{Depth: 40} // the reranker alone
			if reranks {
				s.Reranker = coretest.Reranker{}
			}
		})
	})}
	text := func(id, text, metadata string) document.Input {
		return document.Input{ID: id, Text: &text, Metadata: json.RawMessage(metadata)}
	}
	if _, err := coretest.Call(f.Caller(key.Issue{}), documents.Write, document.WriteDocuments{Namespace: "home",
		Documents: []document.Input{
			text("hedge", "The hedge is cut in February.",
				`{"title": "Garden", "year": 12345678901234567, "tags": ["a"], "on": true}`),
			text("bread", "Bread needs salt.", `{"title": "Kitchen", "path": "in/bread.md"}`),
			text("soup", "Cold soup.", `{"title": "", "path": 3}`),
		}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *store) search(body object) *coretest.Reply {
	s.t.Helper()
	return coretest.Ask(s.f.Caller(key.Issue{}), s.t, s.service.Search, body,
		func(in *openai.SearchRequest) { in.Store = "home" })
}

// found are the ids of an answer, in order.
func found(r *coretest.Reply) string {
	return strings.Join(coretest.Column(r.OK().List("data"), "file_id"), " ")
}

func TestSearch(t *testing.T) {
	s := newStore(t, false)
	r := s.search(object{"query": []string{"hedge cut February"}, "max_num_results": 1}).OK()
	hit := r.List("data")[0]
	if want := `"attributes":{"on":true,"title":"Garden","year":12345678901234567}`; !strings.Contains(string(r.Body), want) ||
		r.JSON["object"] != "vector_store.search_results.page" || fmt.Sprint(r.JSON["search_query"]) != "[hedge cut February]" ||
		len(r.List("data")) != 1 || hit["file_id"] != "hedge" || hit["filename"] != "Garden" || hit["score"].(float64) <= 0 ||
		fmt.Sprint(hit["content"]) != "[map[text:The hedge is cut in February. type:text]]" ||
		r.JSON["has_more"] != false || r.JSON["next_page"] != nil || fmt.Sprint(r.JSON["degraded"]) != "[]" {
		t.Errorf("%s", r.Body)
	}
	var names []string
	for _, hit := range s.search(object{"query": "bread soup"}).OK().List("data") {
		names = append(names, hit["filename"].(string))
	}
	if slices.Sort(names); fmt.Sprint(names) != "[Garden in/bread.md soup]" {
		t.Errorf("names %v", names)
	}
}

func TestFilters(t *testing.T) {
	s := newStore(t, false)
	eq := func(key string, value any) object { return object{"type": "eq", "key": key, "value": value} }
	deep := func(levels int) object {
		f := eq("title", "Garden")
		for range levels - 1 {
			f = object{"type": "and", "filters": []any{f}}
		}
		return f
	}
	for _, c := range []struct {
		filter any
		want   string
	}{
		{nil, "bread hedge soup"},
		{eq("title", "Garden"), "hedge"},
		{eq("year", json.Number("12345678901234567")), "hedge"},
		{eq("year", json.Number("12345678901234568")), ""},
		{eq("tags", "a"), "hedge"},
		{object{"type": "in", "key": "title", "value": []any{"Kitchen", "Garden"}}, "bread hedge"},
		{object{"type": "or", "filters": []any{eq("title", "Kitchen"), eq("on", true)}}, "bread hedge"},
		{object{"type": "and", "filters": []any{eq("title", "Kitchen"), eq("on", true)}}, ""},
		{deep(16), "hedge"},
	} {
		ids := strings.Fields(found(s.search(object{"query": "hedge bread soup", "filters": c.filter})))
		if slices.Sort(ids); strings.Join(ids, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.filter, ids, c.want)
		}
	}
	for text, says := range map[string]string{
		`7`:                                      "filters: must be an object",
		`{}`:                                     "filters: type must be",
		`{"type": "lt", "key": "a", "value": 1}`: "filters: type lt is not supported",
		`{"type": "eq", "key": "a"}`:             "filters: of type eq must have key",
		`{"type": "in", "value": [1]}`:           "filters: of type in must have key",
		`{"type": "eq", "key": "$or", "value": 1}`:              "does not begin with $",
		`{"type": "eq", "key": "a", "value": 1, "filters": []}`: "and nothing else",
		`{"type": "and", "filters": []}`:                        "at least one",
		`{"type": "or", "filters": [{}], "key": "a"}`:           "and nothing else",
		`{"type": "or", "filters": [{"type": "gte"}]}`:          "filters.filters[0]: type gte is not",
		`{"type": "or", "filters": [{"type": "eq"}, 1]}`:        "filters.filters[0]: of type eq",
		`{"type": "and", "filters": [` + must(deep(16)) + `]}`:  "nested deeper than 16",
	} {
		var in openai.SearchRequest
		err := json.Unmarshal([]byte(`{"query": "a", "filters": `+text+`}`), &in)
		if fault.CodeOf(err) != fault.InvalidFilter || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
	for _, value := range []any{nil, []any{"a"}, object{}} {
		s.search(object{"query": "a", "filters": eq("a", value)}).Fails(fault.InvalidFilter, "filters: values are strings")
	}
}

func must(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestRanking(t *testing.T) {
	s := newStore(t, true)
	asked := func(ranking object) object { return object{"query": "hedge cut February", "ranking_options": ranking} }
	rerank := []op.Class{op.Rerank}
	for _, c := range []struct {
		ranking object
		charged []op.Class
		want    string
	}{
		{nil, nil, "hedge bread soup"},
		{object{"ranker": "none", "score_threshold": 0}, nil, "hedge bread soup"},
		{object{"ranker": "auto"}, rerank, "hedge bread soup"},
		{object{"score_threshold": 0.6}, rerank, "hedge"},
		{object{"ranker": "default-2024-11-15", "score_threshold": 0.6}, rerank, "hedge"},
	} {
		ids := found(s.search(asked(c.ranking)))
		if !strings.HasPrefix(ids, "hedge") || len(strings.Fields(ids)) != len(strings.Fields(c.want)) {
			t.Errorf("%v: %s, want %s", c.ranking, ids, c.want)
		}
		var in openai.SearchRequest
		if err := json.Unmarshal([]byte(must(asked(c.ranking))), &in); err != nil || !slices.Equal(in.Classes(), c.charged) {
			t.Errorf("%v is charged to %v, %v", c.ranking, in.Classes(), err)
		}
	}
	without := newStore(t, false)
	if ids := found(without.search(asked(object{"ranker": "auto"}))); !strings.HasPrefix(ids, "hedge") {
		t.Errorf("without a model: %s", ids)
	}
	without.search(asked(object{"score_threshold": 0.5})).Fails(fault.InvalidRequest, "score_threshold: needs a rerank model")
	s.search(asked(object{"ranker": "none", "score_threshold": 0.5})).
		Fails(fault.InvalidRequest, "ranking_options.score_threshold: needs a ranker")
	s.search(asked(object{"score_threshold": 1.5})).Fails(fault.InvalidRequest, "score_threshold")
	s.search(asked(object{"ranker": "best"})).Fails(fault.InvalidRequest, "ranker")
}

func TestBadSearches(t *testing.T) {
	s := newStore(t, false)
	s.search(object{"query": " \n"}).Fails(fault.InvalidRequest, "query: must hold")
	s.search(object{"query": strings.Repeat("a", 8193)}).Fails(fault.InvalidRequest, "query")
	s.search(object{"query": "a\x00"}).Fails(fault.InvalidRequest, "query")
	s.search(object{"query": "a", "max_num_results": 51}).Fails(fault.InvalidRequest, "max_num_results")
	s.search(object{"query": "a", "rewrite_query": true}).Fails(fault.InvalidRequest, "rewrite_query: must be false")
	s.search(object{"query": "a", "rewrite_query": false}).OK()
	for _, text := range []string{`7`, `[]`, `["a", "b"]`, `[null]`, `{}`, `[1]`} {
		var q openai.Question
		if err := json.Unmarshal([]byte(text), &q); err == nil || !strings.Contains(err.Error(), "array of one") {
			t.Errorf("%s: %q, %v", text, q, err)
		}
	}
}

func TestAStoreIsANamespace(t *testing.T) {
	s := newStore(t, false)
	get := func(name string) *coretest.Reply {
		return coretest.Ask(s.f.Caller(key.Issue{}), t, s.service.GetStore, nil, func(in *openai.StoreRef) { in.Store = name })
	}
	r := get("home").OK()
	counts := r.JSON["file_counts"].(object)
	if r.JSON["id"] != "home" || r.JSON["name"] != "home" || r.JSON["object"] != "vector_store" ||
		r.JSON["status"] != "completed" || counts["completed"] != 3.0 || counts["total"] != 3.0 || counts["failed"] != 0.0 ||
		r.JSON["usage_bytes"] != 56.0 ||
		r.JSON["created_at"].(float64) < 1.7e9 || r.JSON["last_active_at"].(float64) < r.JSON["created_at"].(float64) {
		t.Errorf("%s", r.Body)
	}
	get("none").Fails(fault.NamespaceNotFound, `"none"`)
	coretest.Ask(s.f.Caller(key.Issue{}), t, s.service.Search, object{"query": "a"},
		func(in *openai.SearchRequest) { in.Store = "none" }).Fails(fault.NamespaceNotFound)
	other := s.f.Caller(key.Issue{Org: "other"})
	coretest.Ask(other, t, s.service.Search, object{"query": "hedge"},
		func(in *openai.SearchRequest) { in.Store = "home" }).Fails(fault.NamespaceNotFound)
	if in := (&openai.SearchRequest{StoreRef: openai.StoreRef{Store: "home"}}); in.NamespaceName() != "home" {
		t.Error("a key that is limited to a namespace is not held to it")
	}
}
