// Command main is a round through the client that oapi-codegen makes beside it.
// MNEME_URL, MNEME_SERVICE_KEY and MNEME_INTEGRATION_KEY name the server.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
	return v
}

func check(ok bool, got any) {
	if !ok {
		log.Output(2, fmt.Sprintf("got %s", must(json.Marshal(got))))
		os.Exit(1)
	}
}

func client(variable string) *ClientWithResponses {
	return must(NewClientWithResponses(os.Getenv("MNEME_URL"), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv(variable))
		return nil
	})))
}

func namespaces(ctx context.Context, c *ClientWithResponses) {
	var metadata Metadata
	must(0, json.Unmarshal([]byte(`{"kind": "lease", "year": 2027, "big": 16777217, "tags": ["office"]}`), &metadata))
	written := must(c.DocumentsWriteWithResponse(ctx, "go", nil, WriteDocuments{Documents: []DocumentInput{
		{Id: "lease", Text: "The lease runs until May 2027.", Metadata: &metadata},
		{Id: "phone", Text: "The phone contract may be left in May."},
	}}))
	check(written.JSON200 != nil && written.JSON200.Written == 2, written)

	var rerank QueryRequest_Rerank
	must(0, rerank.FromQueryRequestRerank0(true))
	var kind Filter_AdditionalProperties
	must(0, kind.FromFilter0("lease"))
	filters := []Filter{{AdditionalProperties: map[string]Filter_AdditionalProperties{"kind": kind}}}
	for _, text := range []string{`{"year": {"$in": [2027, "2026"]}}`, `{"$or": [{"kind": {"$eq": "none"}}, {"tags": "office"}]}`} {
		var f Filter
		must(0, json.Unmarshal([]byte(text), &f))
		filters = append(filters, f)
	}
	for _, f := range filters {
		found := must(c.NamespacesQueryWithResponse(ctx, "go", nil, QueryRequest{Query: "when may we leave?", Filter: &f, Rerank: &rerank}))
		check(found.JSON200 != nil && len(found.JSON200.Results) == 1 && found.JSON200.Results[0].DocumentId == "lease", found)
		number := (*found.JSON200.Results[0].Metadata)["big"]
		check(must(number.AsMetadata1()) == 16777217, number)
	}
	absent := must(c.NamespacesQueryWithResponse(ctx, "absent", nil, QueryRequest{Query: "when?"}))
	check(absent.JSON404 != nil && absent.JSON404.Error.Code == "namespace_not_found", absent)

	top := int64(1)
	texts := []string{"The sea is blue.", "Notice is given three months before one leaves."}
	ranked := must(c.RerankWithResponse(ctx, nil, RerankRequest{Query: "when may we leave?", Documents: texts, TopK: &top}))
	check(ranked.JSON200 != nil && ranked.JSON200.Results[0].Index == 1, ranked)
	yes := true
	alias := RerankAliasRequest{Query: "when may we leave?", Documents: make([]RerankAliasRequest_Documents_Item, 2), TopN: &top, Truncation: &yes}
	for i, text := range texts {
		must(0, alias.Documents[i].FromRerankAliasRequestDocuments0(text))
	}
	first := must(c.RerankV1WithResponse(ctx, nil, alias))
	check(first.JSON200 != nil && first.JSON200.Results[0].Index == 1, first)
	second := must(c.RerankV2WithResponse(ctx, nil, alias))
	check(second.JSON200 != nil && second.JSON200.Results[0].Index == 1, second)
}

func memories(ctx context.Context, c *ClientWithResponses) {
	tag := "health"
	saved := must(c.MemoriesSaveWithResponse(ctx, nil, MemorySave{
		EndUserId: "dora", Content: "I am allergic to peanuts.", ContainerTag: &tag}))
	check(saved.JSON200 != nil && saved.JSON200.Created, saved)
	found := must(c.MemoriesSearchWithResponse(ctx, nil, MemoryQuery{EndUserId: "dora", Query: "what must I not eat?"}))
	check(found.JSON200 != nil && strings.Contains(found.JSON200.Results[0].MatchedContent, "peanuts"), found)
	wrong := must(c.MemoriesSaveWithResponse(ctx, nil, MemorySave{EndUserId: "dora", Content: " "}))
	check(wrong.JSON400 != nil && wrong.JSON400.StatusCode == 400 && wrong.JSON400.Code != "", wrong)
}

func main() {
	log.SetFlags(log.Lshortfile)
	namespaces(context.Background(), client("MNEME_SERVICE_KEY"))
	memories(context.Background(), client("MNEME_INTEGRATION_KEY"))
	fmt.Println("round trip done")
}
