package openai

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"openai.models.list": {
			{Name: "with-an-alias", Summary: "A model and an alias of it", Answer: `{
				"object": "list",
				"data": [
					{"id": "e5-small-v2", "object": "model", "created": 0, "owned_by": "wasm", "kinds": ["embedding"]},
					{
						"id": "text-embedding-3-small", "object": "model", "created": 0, "owned_by": "wasm",
						"kinds": ["embedding"], "alias_of": "e5-small-v2"
					}
				]
			}`},
		},
		"openai.models.retrieve": {
			{Name: "embedder", Summary: "An embedder", Parameters: map[string]string{"model": "e5-small-v2"},
				Answer: `{"id": "e5-small-v2", "object": "model", "created": 0, "owned_by": "wasm", "kinds": ["embedding"]}`},
		},
		"openai.embeddings": {
			{Name: "two-texts", Summary: "Two texts",
				Body: `{"model": "e5-small-v2", "input": ["The hedge is cut in February.", "Bread needs salt."],
					"encoding_format": "base64"}`,
				Answer: `{
				"object": "list", "model": "e5-small-v2", "usage": {"prompt_tokens": 21, "total_tokens": 21},
				"data": [
					{"object": "embedding", "index": 0, "embedding": "AACAPwAAAAA="},
					{"object": "embedding", "index": 1, "embedding": "AAAAAAAAgD8="}
				]
			}`},
		},
	}
}
