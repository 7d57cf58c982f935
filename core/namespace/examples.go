package namespace

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"namespaces.create": {
			{Name: "sparse", Summary: "With a learned-sparse index",
				Body:   `{"name": "papers", "sparse": true}`,
				Answer: `{"name": "papers", "sparse": true, "language": "auto", "embedding_model": "e5-small-v2"}`},
			{Name: "german", Summary: "Of texts in German",
				Body:   `{"name": "handbuch", "language": "de"}`,
				Answer: `{"name": "handbuch", "sparse": false, "language": "de", "embedding_model": "e5-small-v2"}`},
			{Name: "own-model", Summary: "With an embedding model of its own",
				Body:   `{"name": "reports", "embedding_model": "e5-small-v2"}`,
				Answer: `{"name": "reports", "sparse": false, "language": "auto", "embedding_model": "e5-small-v2"}`},
		},
		"namespaces.list": {
			{Name: "first-page", Summary: "First page", Parameters: map[string]string{"limit": "2"},
				Answer: `{
				"namespaces": [
					{
						"name": "home", "sparse": false, "language": "auto", "documents": 3, "chunks": 3, "bytes": 149,
						"embedding_model": "e5-small-v2",
						"embedding_digest": "sha256:c3ba9660225974d7cfc7d79d2e4b4abec95e2fd521a96a16a6f35c3e08af3dc6",
						"embedding_model_chosen": false,
						"sparse_model": null, "created_at": "2026-11-21T18:49:03.454000Z",
						"updated_at": "2026-11-21T18:49:03.506000Z"
					}
				],
				"next_cursor": null
			}`},
		},
		"namespaces.get": {
			{Name: "home", Summary: "Home", Parameters: map[string]string{"namespace": "home"},
				Answer: `{
				"name": "home", "sparse": false, "language": "auto", "documents": 3, "chunks": 3, "bytes": 149,
				"embedding_model": "e5-small-v2",
				"embedding_digest": "sha256:c3ba9660225974d7cfc7d79d2e4b4abec95e2fd521a96a16a6f35c3e08af3dc6",
				"embedding_model_chosen": false,
				"sparse_model": null, "created_at": "2026-11-21T18:49:03.454000Z",
				"updated_at": "2026-11-21T18:49:03.506000Z"
			}`},
		},
		"namespaces.delete": {
			{Name: "papers", Summary: "Papers", Parameters: map[string]string{"namespace": "papers"},
				Answer: `{"deleted": true}`},
		},
	}
}
