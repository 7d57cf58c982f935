package openai

import "github.com/mnemehq/mneme/core/op"

// What several examples tell of.
const (
	exampleStoreID = "vs_019ab7c2f3d87e10a4b1c2d3e4f50617"
	exampleFileID  = "file-019ab7c2f3d97a01b2c3d4e5f6071829"
	exampleBatchID = "vsfb_019ab7c2f3da7b02c3d4e5f60718293a"
	exampleStore   = `{
				"id": "` + exampleStoreID + `", "object": "vector_store", "name": "Support FAQ", "status": "completed",
				"created_at": 1795600000, "last_active_at": 1795600000, "usage_bytes": 0,
				"file_counts": {"in_progress": 0, "completed": 0, "failed": 0, "cancelled": 0, "total": 0},
				"metadata": {"team": "shop"}
			}`
	exampleFile = `{
				"id": "` + exampleFileID + `", "object": "file", "bytes": 17, "created_at": 1795600010,
				"filename": "bread.txt", "purpose": "assistants", "status": "processed"
			}`
	exampleStoreFile = `{
				"id": "` + exampleFileID + `", "object": "vector_store.file", "created_at": 1795600020,
				"vector_store_id": "` + exampleStoreID + `", "status": "completed", "usage_bytes": 17, "last_error": null,
				"attributes": {"kind": "recipe", "path": "bread.txt", "media_type": "text/plain",
					"file_hash": "sha256:5f1cd7c1d2b6e1f1b0f3c0a9d9a2f4b1e8d7c6b5a49382716051423324150617"},
				"chunking_strategy": {"type": "other"}
			}`
	exampleStoreFiles = `{
				"object": "list", "first_id": "` + exampleFileID + `", "last_id": "` + exampleFileID + `", "has_more": false,
				"data": [` + exampleStoreFile + `]
			}`
	exampleBatch = `{
				"id": "` + exampleBatchID + `", "object": "vector_store.files_batch", "created_at": 1795600020,
				"vector_store_id": "` + exampleStoreID + `", "status": "completed",
				"file_counts": {"in_progress": 0, "completed": 1, "failed": 0, "cancelled": 0, "total": 1}
			}`
)

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
				"file_counts": {"in_progress": 0, "completed": 2, "failed": 0, "cancelled": 0, "total": 2}, "metadata": {}
			}`},
		},
		"openai.vector_stores.create": {
			{Name: "empty", Summary: "An empty store", Body: `{"name": "Support FAQ", "metadata": {"team": "shop"}}`,
				Answer: exampleStore},
		},
		"openai.vector_stores.list": {
			{Name: "first-page", Summary: "The newest first", Parameters: map[string]string{"limit": "20"}, Answer: `{
				"object": "list", "first_id": "vs_019ab7c2f3d87e10a4b1c2d3e4f50617",
				"last_id": "vs_019ab7c2f3d87e10a4b1c2d3e4f50617", "has_more": false, "data": [` + exampleStore + `]
			}`},
		},
		"openai.vector_stores.update": {
			{Name: "renamed", Summary: "Another name", Parameters: map[string]string{"vector_store_id": exampleStoreID},
				Body: `{"name": "Support FAQ"}`, Answer: exampleStore},
		},
		"openai.vector_stores.delete": {
			{Name: "deleted", Summary: "A store with its namespace",
				Parameters: map[string]string{"vector_store_id": exampleStoreID},
				Answer:     `{"id": "` + exampleStoreID + `", "object": "vector_store.deleted", "deleted": true}`},
		},
		"openai.files.create": {
			{Name: "text", Summary: "A text",
				Body: "--part\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nassistants\r\n" +
					"--part\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bread.txt\"\r\n\r\n" +
					"Bread needs salt.\r\n--part--\r\n", Answer: exampleFile},
		},
		"openai.files.list": {
			{Name: "all", Summary: "All files", Answer: `{
				"object": "list", "first_id": "` + exampleFileID + `", "last_id": "` + exampleFileID + `", "has_more": false,
				"data": [` + exampleFile + `]
			}`},
		},
		"openai.files.retrieve": {
			{Name: "text", Summary: "A text", Parameters: map[string]string{"file_id": exampleFileID}, Answer: exampleFile},
		},
		"openai.files.delete": {
			{Name: "text", Summary: "A text", Parameters: map[string]string{"file_id": exampleFileID},
				Answer: `{"id": "` + exampleFileID + `", "object": "file", "deleted": true}`},
		},
		"openai.files.content": {
			{Name: "text", Summary: "A text", Parameters: map[string]string{"file_id": exampleFileID}},
		},
		"openai.vector_store_files.create": {
			{Name: "attached", Summary: "With an attribute", Parameters: map[string]string{"vector_store_id": exampleStoreID},
				Body: `{"file_id": "` + exampleFileID + `", "attributes": {"kind": "recipe"}}`, Answer: exampleStoreFile},
		},
		"openai.vector_store_files.list": {
			{Name: "first-page", Summary: "The last uploaded first",
				Parameters: map[string]string{"vector_store_id": exampleStoreID},
				Answer:     exampleStoreFiles},
		},
		"openai.vector_store_files.retrieve": {
			{Name: "attached", Summary: "An uploaded file",
				Parameters: map[string]string{"vector_store_id": exampleStoreID, "file_id": exampleFileID},
				Answer:     exampleStoreFile},
		},
		"openai.vector_store_files.update": {
			{Name: "attributes", Summary: "Other attributes",
				Parameters: map[string]string{"vector_store_id": exampleStoreID, "file_id": exampleFileID},
				Body:       `{"attributes": {"kind": "recipe"}}`, Answer: exampleStoreFile},
		},
		"openai.vector_store_files.delete": {
			{Name: "removed", Summary: "The upload stays",
				Parameters: map[string]string{"vector_store_id": exampleStoreID, "file_id": exampleFileID},
				Answer:     `{"id": "` + exampleFileID + `", "object": "vector_store.file.deleted", "deleted": true}`},
		},
		"openai.vector_store_files.content": {
			{Name: "text", Summary: "Its text",
				Parameters: map[string]string{"vector_store_id": exampleStoreID, "file_id": exampleFileID}, Answer: `{
				"object": "vector_store.file_content.page", "data": [{"type": "text", "text": "Bread needs salt."}],
				"has_more": false, "next_page": null
			}`},
		},
		"openai.vector_store_file_batches.create": {
			{Name: "two", Summary: "One file of a batch", Parameters: map[string]string{"vector_store_id": exampleStoreID},
				Body: `{"file_ids": ["` + exampleFileID + `"], "attributes": {"kind": "recipe"}}`, Answer: exampleBatch},
		},
		"openai.vector_store_file_batches.retrieve": {
			{Name: "completed", Summary: "A batch that is written",
				Parameters: map[string]string{"vector_store_id": exampleStoreID, "batch_id": exampleBatchID},
				Answer:     exampleBatch},
		},
		"openai.vector_store_file_batches.list_files": {
			{Name: "first-page", Summary: "Its files",
				Parameters: map[string]string{"vector_store_id": exampleStoreID, "batch_id": exampleBatchID},
				Answer:     exampleStoreFiles},
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
