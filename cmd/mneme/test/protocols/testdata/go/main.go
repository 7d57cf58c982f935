// OpenAI's client for Go against a server that MNEME_URL names.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	ctx := context.Background()
	client := openai.NewClient(option.WithBaseURL(os.Getenv("MNEME_URL")+"/v1"),
		option.WithAPIKey(os.Getenv("MNEME_SERVICE_KEY")), option.WithMaxRetries(0))
	names := map[string]bool{}
	models := client.Models.ListAutoPaging(ctx)
	for models.Next() {
		names[models.Current().ID] = true
	}
	must(models.Err() == nil && names["text-embedding-3-small"] && names["e5-small-v2"], models.Err(), names)
	model, err := client.Models.Get(ctx, "text-embedding-3-small")
	must(err == nil && model.OwnedBy == "wasm", err, model)

	made, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: "text-embedding-3-small",
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"The hedge is cut in February.",
			"Bread needs salt."}},
	})
	must(err == nil && len(made.Data) == 2 && made.Model == "e5-small-v2" && made.Usage.PromptTokens > 10, err, made)
	var length float64
	for _, x := range made.Data[1].Embedding {
		length += x * x
	}
	must(len(made.Data[1].Embedding) == 384 && math.Abs(length-1) < 1e-3, length)

	_, err = client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: "e5-small-v2", Dimensions: openai.Int(256),
		Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a")},
	})
	var refused *openai.Error
	must(errors.As(err, &refused) && refused.StatusCode == 400 && refused.Code == "invalid_request" &&
		refused.Param == "dimensions" && refused.Type == "invalid_request_error", err)
	stores(ctx, client)
	fmt.Println("round trip done")
}

// stores makes a vector store, fills and searches it, and takes everything away again.
func stores(ctx context.Context, client openai.Client) {
	store, err := client.VectorStores.New(ctx, openai.VectorStoreNewParams{Name: openai.String("Go's shelf")})
	must(err == nil && store.Name == "Go's shelf" && store.FileCounts.Total == 0, err, store)
	text := func(name, content string) openai.FileNewParams {
		return openai.FileNewParams{File: openai.File(strings.NewReader(content), name, "text/plain"),
			Purpose: openai.FilePurposeAssistants}
	}
	sent, err := client.Files.New(ctx, text("report.txt", "The greenhouse has nine windows."))
	must(err == nil && sent.Filename == "report.txt" && sent.Bytes == 32, err, sent)
	put, err := client.VectorStores.Files.NewAndPoll(ctx, store.ID, openai.VectorStoreFileNewParams{FileID: sent.ID,
		Attributes: map[string]openai.VectorStoreFileNewParamsAttributeUnion{"kind": {OfString: openai.String("report")}}}, 100)
	must(err == nil && put.Status == "completed" && put.Attributes["kind"].OfString == "report", err, put)
	batch, err := client.VectorStores.FileBatches.UploadAndPoll(ctx, store.ID,
		[]openai.FileNewParams{text("bread.txt", "Bread needs salt.")}, []string{sent.ID}, 100)
	must(err == nil && batch.Status == "completed" && batch.FileCounts.Completed == 2, err, batch)
	var files []string
	list := client.VectorStores.Files.ListAutoPaging(ctx, store.ID, openai.VectorStoreFileListParams{Limit: openai.Int(1),
		Order: "asc"})
	for list.Next() {
		files = append(files, list.Current().ID)
	}
	must(list.Err() == nil && len(files) == 2 && files[0] == sent.ID, list.Err(), files)
	found, err := client.VectorStores.Search(ctx, store.ID, openai.VectorStoreSearchParams{
		Query:         openai.VectorStoreSearchParamsQueryUnion{OfString: openai.String("How many windows?")},
		MaxNumResults: openai.Int(1)})
	must(err == nil && len(found.Data) == 1 && found.Data[0].FileID == sent.ID && found.Data[0].Filename == "report.txt", err,
		found)
	for _, id := range files {
		gone, err := client.Files.Delete(ctx, id)
		must(err == nil && gone.Deleted, err, gone)
	}
	deleted, err := client.VectorStores.Delete(ctx, store.ID)
	must(err == nil && deleted.Deleted, err, deleted)
	_, err = client.VectorStores.Get(ctx, store.ID)
	var refused *openai.Error
	must(errors.As(err, &refused) && refused.StatusCode == 404 && refused.Code == "namespace_not_found", err)
}

func must(ok bool, what ...any) {
	if !ok {
		log.Fatal(what...)
	}
}
