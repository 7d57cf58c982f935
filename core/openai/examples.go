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
		"openai.vector_stores.retrieve": {
			{Name: "namespace", Summary: "A namespace", Parameters: map[string]string{"vector_store_id": "home"}, Answer: `{
				"id": "home", "object": "vector_store", "name": "home", "status": "completed",
				"created_at": 1795600000, "last_active_at": 1795600060, "usage_bytes": 48,
				"file_counts": {"in_progress": 0, "completed": 2, "failed": 0, "cancelled": 0, "total": 2}
			}`},
		},
		"openai.vector_stores.search": {
			{Name: "filtered", Summary: "A question with a filter", Parameters: map[string]string{"vector_store_id": "home"},
				Body: `{"query": "When is the hedge cut?", "max_num_results": 1,
					"filters": {"type": "eq", "key": "kind", "value": "guide"}}`,
				Answer: `{
				"object": "vector_store.search_results.page", "search_query": ["When is the hedge cut?"],
				"data": [
					{
						"file_id": "garden.md", "filename": "garden.md", "score": 1.52,
						"attributes": {"kind": "guide", "path": "garden.md", "title": "Garden"},
						"content": [{"type": "text", "text": "The hedge is cut in February."}]
					}
				],
				"has_more": false, "next_page": null, "degraded": []
			}`},
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
