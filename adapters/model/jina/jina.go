package jina

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
// model; "": the server's.
func Open(id string, c Config, log *slog.Logger) (port.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := remote.Dialect{
		Limits: remote.Limits{Texts: c.Batch, Tokens: tokensPerCall, Window: c.MaxInputTokens},
		Scale:  remote.Scale(c.Scores),
		Embed:  c.embed,
		Rerank: c.rerank,
	}
	return d.Open(c.model(id), c.endpoint(), log)
}

type embedRequest struct {
	Model         string   `json:"model"`
	Task          string   `json:"task,omitempty"`
	Dimensions    int      `json:"dimensions,omitempty"`
	EmbeddingType string   `json:"embedding_type"`
	Normalized    bool     `json:"normalized"`
	Truncate      bool     `json:"truncate"`
	Input         []string `json:"input"`
}

func (c Config) embed(ctx context.Context, by *remote.Caller, as port.TextKind, texts []string) ([]remote.Vector, int, error) {
	in := embedRequest{
		Model:         c.Model,
		Task:          c.PassageTask,
		EmbeddingType: "float",
		Normalized:    true,
		Truncate:      true,
		Input:         texts,
	}
	if as == port.Query {
		in.Task = c.QueryTask
	}
	if c.RequestDimensions {
		in.Dimensions = c.Dimensions
	}
	var out remote.List
	if err := by.Post(ctx, "/embeddings", in, &out); err != nil {
		return nil, 0, err
	}
	return out.Ordered(len(texts))
}

func (c Config) rerank(ctx context.Context, by *remote.Caller, query string, texts []string) ([]remote.Rank, error) {
	in := struct {
		Model           string   `json:"model"`
		Query           string   `json:"query"`
		Documents       []string `json:"documents"`
		TopN            int      `json:"top_n"`
		ReturnDocuments bool     `json:"return_documents"`
	}{c.Model, query, texts, len(texts), false}
	var out struct {
		Results []remote.Result `json:"results"`
	}
	if err := by.Post(ctx, "/rerank", in, &out); err != nil {
		return nil, err
	}
	return remote.Ranks(out.Results)
}
