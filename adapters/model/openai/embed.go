package openai

import (
	"context"
	"log/slog"

	"github.com/mnemehq/mneme/adapters/model/remote"
	"github.com/mnemehq/mneme/core/port"
)

// tokensPerCall keeps a call below the 300,000 tokens that OpenAI takes, with
// room for the estimate to be wrong.
const tokensPerCall = 200_000

type embeddings struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
	Dimensions     int      `json:"dimensions,omitempty"`
}

// OpenEmbedder makes the client of POST /embeddings (OpenAI API reference,
// "Create embeddings"). The server is not asked before the first call. id is the
// operator's name for the model; "": the server's.
func OpenEmbedder(id string, c Config, log *slog.Logger) (*remote.Embedder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	info := c.model(id).Info()
	caller, err := remote.Open(info.ID, port.TaskEmbed, c.endpoint(), log)
	if err != nil {
		return nil, err
	}
	return &remote.Embedder{
		Caller: caller, About: info,
		Limits:   remote.Limits{Texts: c.Batch, Tokens: tokensPerCall, Window: c.MaxInputTokens},
		Prefixes: remote.Prefixes{Query: c.QueryPrefix, Passage: c.PassagePrefix},
		Call: func(ctx context.Context, _ port.TextKind, texts []string) ([]remote.Vector, int, error) {
			in := embeddings{Model: c.Model, Input: texts, EncodingFormat: c.EncodingFormat}
			if c.RequestDimensions {
				in.Dimensions = c.Dimensions
			}
			var out remote.List
			if err := caller.Post(ctx, "/embeddings", in, &out); err != nil {
				return nil, 0, err
			}
			return out.Ordered(len(texts))
		},
	}, nil
}
