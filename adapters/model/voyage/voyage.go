package voyage

import (
	"context"
	"log/slog"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
)

// What a call may hold: Voyage takes 120,000 tokens for its large embedding
// models, more for the others, with room here for the estimate to be wrong.
const (
	tokensPerEmbedding = 90_000
	tokensPerRerank    = 250_000
)

// Open makes a *remote.Embedder or a *remote.Reranker, as the task says. The
// server is not asked before the first call. id is the operator's name for the
// model; "": the server's. Bodies are those of Voyage's API reference, "Text
// embeddings" and "Reranker".
func Open(id string, c Config, log *slog.Logger) (port.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	limits := remote.Limits{Texts: c.Batch, Tokens: tokensPerEmbedding, Window: c.MaxInputTokens}
	if c.Task == string(port.TaskRerank) {
		limits.Tokens = tokensPerRerank
	}
	d := remote.Dialect{Limits: limits, Scale: remote.Probability, Embed: c.embed, Rerank: c.rerank}
	return d.Open(c.model(id), c.endpoint(), log)
}

type embedRequest struct {
	Input           []string `json:"input"`
	Model           string   `json:"model"`
	InputType       string   `json:"input_type,omitempty"`
	Truncation      bool     `json:"truncation"`
	OutputDimension int      `json:"output_dimension,omitempty"`
	EncodingFormat  string   `json:"encoding_format,omitempty"`
}

func (c Config) embed(ctx context.Context, by *remote.Caller, as port.TextKind, texts []string) ([]remote.Vector, int, error) {
	in := embedRequest{Input: texts, Model: c.Model, Truncation: true}
	if c.InputTypes {
		in.InputType = "document"
		if as == port.Query {
			in.InputType = "query"
		}
	}
	if c.RequestDimensions {
		in.OutputDimension = c.Dimensions
	}
	if c.EncodingFormat == "base64" { // the API knows no word for the other form
		in.EncodingFormat = c.EncodingFormat
	}
	var out remote.List
	if err := by.Post(ctx, "/embeddings", in, &out); err != nil {
		return nil, 0, err
	}
	return out.Ordered(len(texts))
}

func (c Config) rerank(ctx context.Context, by *remote.Caller, query string, texts []string) ([]remote.Rank, error) {
	in := struct {
		Query           string   `json:"query"`
		Documents       []string `json:"documents"`
		Model           string   `json:"model"`
		TopK            int      `json:"top_k"`
		ReturnDocuments bool     `json:"return_documents"`
		Truncation      bool     `json:"truncation"`
	}{query, texts, c.Model, len(texts), false, true}
	var out struct {
		Data []remote.Result `json:"data"`
	}
	if err := by.Post(ctx, "/rerank", in, &out); err != nil {
		return nil, err
	}
	return remote.Ranks(out.Data)
}
