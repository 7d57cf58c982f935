package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// FuzzRequests sends arbitrary bodies and query strings to every route: the
// answer is never a failure of the server, and always JSON of the right shape.
func FuzzRequests(f *testing.F) {
	bodies := []string{
		`{"documents":[{"id":"a","text":"x","metadata":{"k":[""]}}],"expect_sparse":false}`,
		`{"query":"x","top_k":1,"filter":{"k":{"$in":[1,"x",true]}}}`,
		`{"query":"x","mode":"vector","min_score":0.5,"neighbors":2}`,
		`{"query":"x","weights":{"vector":1},"rerank":{"depth":3}}`, `{"query":"x","retrievers":["keyword"],"explain":true}`,
		`{"ids":["a"]}`, `{"filter":{"$or":[{"k":1},{"$and":[{"k":""}]}]}}`, `{"name":"x","sparse":true}`,
		`{"query":"x","documents":["y"],"top_k":1}`,
		`{"query":"x","documents":["y",{"text":"z","k":1}],"top_n":1,"return_documents":true}`, `{`, `[]`, "\x00", `{"a":1e999}`,
	}
	routes := []struct{ method, path string }{
		{"POST", "/namespaces/docs/documents"}, {"POST", "/namespaces/docs/query"},
		{"POST", "/namespaces/docs/documents/delete"}, {"POST", "/namespaces"}, {"POST", "/rerank"},
		{"GET", "/namespaces/docs/documents"}, {"GET", "/namespaces"}, {"GET", "/namespaces/docs/documents/a"},
		{"GET", "/models"},
		{"POST", "/v1/rerank"}, {"POST", "/v2/rerank"},
	}
	for i, b := range bodies {
		for r := range routes {
			f.Add(uint8(r), b, "")
		}
		f.Add(uint8(5+i%4), "", "limit=1&cursor=AAAA&prefix=%00&order=updated_at&include=chunks")
	}
	s := start(f, backends()[0], options{sparse: &coretest.SparseEncoder{}, reranker: coretest.Reranker{}})
	ctx := context.Background()
	if _, err := s.send(ctx, "POST", "/namespaces/docs/documents", raw(bodies[0])); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which uint8, body, query string) {
		r := routes[int(which)%len(routes)]
		path := r.path
		if query != "" {
			path += "?" + query
		}
		var sent any
		if r.method == "POST" {
			sent = raw(body)
		}
		got, err := s.send(ctx, r.method, path, sent)
		if err != nil {
			if strings.Contains(err.Error(), "invalid") || strings.Contains(err.Error(), "parse") {
				return // not a URL that a client can send
			}
			t.Fatal(err)
		}
		got.t = t
		switch {
		case got.status >= 500 || got.status == 401:
			t.Fatalf("%s with %q: %d %s", got.call, body, got.status, got.body)
		case got.json == nil:
			t.Fatalf("%s with %q: %d without JSON: %q", got.call, body, got.status, got.body)
		case got.status >= 400:
			e, _ := got.json["error"].(object)
			got.fails(got.status, e["code"].(string))
		}
	})
}
