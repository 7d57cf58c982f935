package query

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"namespaces.query": {
			{Name: "question", Summary: "With what the configuration says", Parameters: map[string]string{"namespace": "home"},
				Body: `{"query": "how long is the notice period", "top_k": 1}`,
				Answer: `{
				"results": [
					{
						"id": "home/lease", "document_id": "lease", "chunk_index": 0, "start": 0, "end": 65,
						"text": "The lease ends on 31 May 2027. The notice period is three months.", "score": 1,
						"metadata": {"kind": "contract", "tags": ["flat", "rent"]}, "before": [], "after": []
					}
				],
				"score_kind": "fused", "model": null, "retrievers": ["vector", "keyword"], "degraded": [],
				"truncated_candidates": 0, "took_ms": 12
			}`},
			{
				Name:       "filtered-and-reranked",
				Summary:    "Only contracts, rescored by a model, with reasons",
				Parameters: map[string]string{"namespace": "home"},
				Body: `{
				"query": "when does the lease end", "top_k": 1,
				"filter": {"$or": [{"kind": "contract"}, {"tags": {"$in": ["rent", "deposit"]}}]},
				"rerank": {"depth": 20}, "explain": true
			}`,
				Answer: `{
				"results": [
					{
						"id": "home/lease", "document_id": "lease", "chunk_index": 0, "start": 0, "end": 65,
						"text": "The lease ends on 31 May 2027. The notice period is three months.",
						"score": 0.2497, "metadata": {"kind": "contract", "tags": ["flat", "rent"]},
						"before": [], "after": [],
						"explain": {
							"vector": {"rank": 1, "score": 0.9133},
							"keyword": {
								"rank": 1, "score": 1.7734, "terms": ["lease", "end"],
								"spans": [{"start": 4, "end": 9}, {"start": 10, "end": 14}]
							},
							"sparse": null,
							"fused": {"rank": 1, "score": 1}, "rerank": {"rank": 1, "score": 0.2497}
						}
					}
				],
				"score_kind": "rerank", "model": "rerank-small", "retrievers": ["vector", "keyword"],
				"degraded": [], "truncated_candidates": 0, "took_ms": 12
			}`,
			},
			{
				Name:       "one-retriever",
				Summary:    "By vector alone, with a least score",
				Parameters: map[string]string{"namespace": "home"},
				Body: `{"query": "internet access", "mode": "vector", "min_score": 0.1, "top_k": 1, ` +
					`"include_metadata": false, "neighbors": 1}`,
				Answer: `{
				"results": [
					{
						"id": "home/lease", "document_id": "lease", "chunk_index": 0, "start": 0, "end": 65,
						"text": "The lease ends on 31 May 2027. The notice period is three months.",
						"score": 0.7569, "before": [], "after": []
					}
				],
				"score_kind": "cosine", "model": null, "retrievers": ["vector"], "degraded": [],
				"truncated_candidates": 0, "took_ms": 12
			}`,
			},
		},
	}
}
