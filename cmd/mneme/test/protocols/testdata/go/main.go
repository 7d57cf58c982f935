// OpenAI's client for Go against a server that MNEME_URL names.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"

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
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"The hedge is cut in February.", "Bread needs salt."}},
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
	fmt.Println("round trip done")
}

func must(ok bool, what ...any) {
	if !ok {
		log.Fatal(what...)
	}
}
