package model

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"models.list": {
			{Name: "rerankers", Summary: "Rerankers", Parameters: map[string]string{"kind": "rerank"},
				Answer: `{
				"models": [
					{
						"id": "rerank-small", "kind": "rerank", "status": "ready", "default": true,
						"dimensions": null, "max_input_tokens": 512, "languages": ["en"], "runtime": "wasm",
						"version": "1",
						"digest": "sha256:edef835c25083a556546ea845944fcd44ebe4895aac7c95c76d484ea51bb61ed",
						"license": "Apache-2.0"
					}
				]
			}`},
		},
		"models.get": {
			{Name: "embedder", Summary: "Embedder", Parameters: map[string]string{"id": "e5-small-v2"},
				Answer: `{
				"id": "e5-small-v2", "kind": "embedding", "status": "ready", "default": true, "dimensions": 384,
				"max_input_tokens": 512, "languages": ["en"], "runtime": "wasm",
				"version": "1",
				"digest": "sha256:c3ba9660225974d7cfc7d79d2e4b4abec95e2fd521a96a16a6f35c3e08af3dc6",
				"license": "MIT"
			}`},
		},
	}
}
