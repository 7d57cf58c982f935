package cohere

import (
	"context"
	"log/slog"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
)

// tokensPerCall keeps bodies small enough to answer in time.
const tokensPerCall = 200_000

// Open makes a *remote.Embedder or a *remote.Reranker, as the task says. The
// server is not asked before the first call. id is the operator's name for the
// model; "": the server's. Bodies are those of Cohere's API reference, "Embed API
// (v2)" and "Rerank API (v2)".
func Open(id string, c Config, log *slog.Logger) (port.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := remote.Dialect{
		Limits: remote.Limits{Texts: c.Batch, Tokens: tokensPerCall, Window: c.MaxInputTokens},
		Scale:  remote.Probability,
		Embed:  c.embed,
		Rerank: c.rerank,
	}
	return d.Open(c.model(id), c.endpoint(), log)
}

type embedRequest struct {
	Model           string   `json:"model"`
	InputType       string   `json:"input_type"`
	Texts           []string `json:"texts"`
	EmbeddingTypes  []string `json:"embedding_types"`
	OutputDimension int      `json:"output_dimension,omitempty"`
	Truncate        string   `json:"truncate"`
}

func (c Config) embed(ctx context.Context, by *remote.Caller, as port.TextKind, texts []string) ([]remote.Vector, int, error) {
	in := embedRequest{Model: c.Model, InputType: c.PassageType, Texts: texts, EmbeddingTypes: []string{"float"}, Truncate: "END"}
	if as == port.Query {
		in.InputType = c.QueryType
	}
	if c.RequestDimensions {
		in.OutputDimension = c.Dimensions
	}
	var out struct {
		Embeddings struct {
			Float []remote.Vector `json:"float"`
		} `json:"embeddings"`
		Meta struct {
			BilledUnits struct {
				InputTokens float64 `json:"input_tokens"`
			} `json:"billed_units"`
		} `json:"meta"`
	}
	err := by.Post(ctx, "/v2/embed", in, &out)
	return out.Embeddings.Float, int(out.Meta.BilledUnits.InputTokens), err
}

func (c Config) rerank(ctx context.Context, by *remote.Caller, query string, texts []string) ([]remote.Rank, error) {
	in := struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
		MaxTokens int      `json:"max_tokens_per_doc"`
	}{c.Model, query, texts, len(texts), c.MaxInputTokens}
	var out struct {
		Results []remote.Result `json:"results"`
	}
	if err := by.Post(ctx, "/v2/rerank", in, &out); err != nil {
		return nil, err
	}
	return remote.Ranks(out.Results)
}
