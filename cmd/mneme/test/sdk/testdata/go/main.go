// What the Go SDK does to a real server. MNEME_URL and three keys name it.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"
	"slices"

	"github.com/mnemehq/mneme/sdk/go"
	"github.com/mnemehq/mneme/sdk/go/api"
)

var name = os.Getenv("NAME")

func client(kind string) *mneme.Client {
	c, err := mneme.New("", os.Getenv("MNEME_"+kind+"_KEY"))
	check(err == nil, err)
	return c
}

func check(ok bool, told ...any) {
	if !ok {
		log.Panic(told...)
	}
}

func must[T any](v T, err error) T {
	check(err == nil, err)
	return v
}

func all[T any](list iter.Seq2[T, error]) (items []T) {
	for item, err := range list {
		items = append(items, must(item, err))
	}
	return items
}

func namespaces(ctx context.Context, c *mneme.Client) {
	written := must(c.Documents.Write(ctx, name, mneme.WriteDocuments{Documents: []mneme.DocumentInput{
		{Id: "lease", Text: "The lease runs until May 2027.", Metadata: &mneme.Metadata{"kind": "lease", "year": 2027}},
		{Id: "phone", Text: "The phone contract may be left in May."},
	}}))
	check(written.Written == 2, written)
	query := mneme.QueryRequest{Query: "when may we leave?", Filter: &mneme.Filter{"kind": "lease"}, Rerank: mneme.WithRerank()}
	found := must(c.Namespaces.Query(ctx, name, query))
	check(len(found.Results) == 1 && found.Results[0].DocumentId == "lease", found)
	var notes mneme.WriteDocuments
	for i := range 5 {
		notes.Documents = append(notes.Documents, mneme.DocumentInput{Id: fmt.Sprint("n", i), Text: "A note."})
	}
	check(must(c.Documents.WriteSoon(ctx, name, notes)).Searchable != nil)
	later := must(c.Documents.WriteLater(ctx, name, notes))
	check(must(c.Documents.Wait(ctx, name, later.Id)).Status == "succeeded")
	var ids []string
	for _, document := range all(c.Documents.All(ctx, name, &mneme.DocumentsListParams{Limit: mneme.Ptr[int64](2)})) {
		ids = append(ids, document.Id)
	}
	check(slices.Equal(ids, []string{"lease", "n0", "n1", "n2", "n3", "n4", "phone"}), ids)
	read := must(c.Documents.Get(ctx, name, "lease", nil))
	_, err := c.Documents.Get(ctx, name, "lease", &mneme.DocumentsGetParams{IfNoneMatch: mneme.Ptr(`"` + read.ContentHash + `"`)})
	check(errors.Is(err, mneme.ErrNotModified), err)
	file := mneme.UploadFile{Name: "a.md", Content: []byte("# Bees\n\nBees fly.")}
	check(must(c.Files.Upload(ctx, name, mneme.Upload{Files: []mneme.UploadFile{file}})).Written == 1)
	must(c.Queries.Save(ctx, name, "leaving", mneme.CheckSave{Query: "when may we leave?", Expect: []string{"lease"}}))
	check(must(c.Queries.Run(ctx, name)).Passed == 1)
	check(must(c.Health(ctx)).Status == "ok")
	_, err = c.Namespaces.Query(ctx, name, mneme.QueryRequest{Query: "x", Filter: &mneme.Filter{"year": map[string]any{"$gt": 1}}})
	check(errors.Is(err, mneme.ErrInvalidFilter), err)
	_, err = c.Namespaces.Get(ctx, "absent")
	check(errors.Is(err, mneme.ErrNamespaceNotFound), err)
}

func memories(ctx context.Context, c *mneme.Client) {
	saved := must(c.Memory.Save(ctx, mneme.MemorySave{EndUserId: name, Content: "I am allergic to peanuts."}))
	check(saved.Created, saved)
	found := must(c.Memory.Search(ctx, mneme.MemoryQuery{EndUserId: name, Query: "what must I not eat?"}))
	check(found.Results[0].MatchedContent == "I am allergic to peanuts.", found)
	check(len(all(c.Memory.All(ctx, &mneme.MemoriesListParams{EndUserId: name}))) == 1)
	check(must(c.Users.Erase(ctx, name)).Success)
}

func events(ctx context.Context, c *mneme.Client) {
	kinds := &[]api.EventsListParamsKinds{"documents.written"} // a cursor is bound to them
	after := must(c.Events.List(ctx, &mneme.EventsListParams{After: mneme.Ptr("latest"), Kinds: kinds})).NextCursor
	must(c.Documents.Write(ctx, name, mneme.WriteDocuments{Documents: []mneme.DocumentInput{{Id: "one", Text: "One."}}}))
	for event, err := range c.Events.Follow(ctx, mneme.Follow{After: after, Kinds: []string{"documents.written"}}) {
		check(err == nil, err)
		if event.Data["namespace"] == name {
			break
		}
	}
}

func admin(ctx context.Context, c *mneme.Client) {
	org := all(c.Admin.Organizations.All(ctx, nil))[0].Id
	made := must(c.Admin.Keys.Create(ctx, org, mneme.AdminCreateKey{Name: mneme.Ptr("sdk")}))
	must(c.Admin.Keys.Revoke(ctx, org, made.Id))
	var content bytes.Buffer
	for _, line := range all(c.Admin.Namespaces.Export(ctx, org, name, nil)) {
		content.Write(append(line, '\n'))
	}
	check(must(c.Admin.Namespaces.Import(ctx, org, name+"-copy", &content, nil)).Documents > 5)
}

func main() {
	ctx := context.Background()
	namespaces(ctx, client("SERVICE"))
	memories(ctx, client("INTEGRATION"))
	events(ctx, client("SERVICE"))
	admin(ctx, client("ADMIN"))
	fmt.Println("round trip done")
}
