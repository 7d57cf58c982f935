package rerank

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"rerank": {
			{Name: "two-texts", Summary: "Two texts",
				Body: `{
				"query": "how long is the notice period",
				"documents": ["The password is on the fridge.", "The notice period is three months."], "top_k": 2
			}`,
				Answer: `{"results": [{"index": 1, "score": 0.6075}, {"index": 0, "score": 0.0032}], "model": ` +
					`"rerank-small", "truncated": 0}`},
		},
		"rerank.v1": {
			{Name: "with-documents", Summary: "With documents",
				Body: `{
				"query": "how long is the notice period",
				"documents": ["The password is on the fridge.", "The notice period is three months."],
				"top_n": 1, "return_documents": true
			}`,
				Answer: `{
				"id": "req_QMKiu6WPuwSAkADDRotA", "model": "rerank-small", "usage": {"total_tokens": 26},
				"results": [
					{
						"index": 1, "relevance_score": 0.6075,
						"document": {"text": "The notice period is three months."}
					}
				],
				"meta": {"api_version": {"version": "0.1.0"}, "billed_units": {"search_units": 1}}
			}`},
		},
		"rerank.v2": {
			{Name: "scores-alone", Summary: "Scores alone",
				Body: `{
				"query": "how long is the notice period",
				"documents": ["The password is on the fridge.", "The notice period is three months."], "top_n": 2
			}`,
				Answer: `{
				"id": "req_8JxWakaQRLBSusJ6WPR8",
				"results": [{"index": 1, "relevance_score": 0.6075}, {"index": 0, "relevance_score": 0.0032}],
				"meta": {"api_version": {"version": "0.1.0"}, "billed_units": {"search_units": 1}}
			}`},
		},
	}
}
