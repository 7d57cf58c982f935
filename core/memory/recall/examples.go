package recall

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"memories.recall": {
			{Name: "an-answer", Summary: "An answer",
				Body: `{"endUserId": "ada@example.com", "query": "What am I allergic to?"}`,
				Answer: `{
				"success": true, "answer": "I am allergic to peanuts [1].", "abstained": false,
				"model": "extractive",
				"citations": [
					{
						"marker": 1, "memoryId": "mem_06gvus6bidvjbd3dhsbr17cv24",
						"quote": "I am allergic to peanuts.", "start": 0, "end": 25, "score": 0.2589,
						"created_at": 1795286944656
					}
				],
				"results": [
					{
						"id": "mem_06gvus6bidvjbd3dhsbr17cv24", "matchedContent": "I am allergic to peanuts.",
						"originalLength": 25, "container_tag": "chat-17", "score": 0.3169,
						"created_at": 1795286944656, "updated_at": 1795286944656, "metadata": {}
					},
					{
						"id": "mem_06gvus6bh1ohp5bqbt5678ish8",
						"matchedContent": "I moved to Lyon in May, near the old harbour.", "originalLength": 45,
						"container_tag": "chat-17", "score": 0.0016, "created_at": 1779269400000,
						"updated_at": 1795286944643, "metadata": {"role": "user"}
					}
				],
				"degraded": [], "usage": {"inputTokens": 0, "outputTokens": 0}
			}`},
			{Name: "no-answer", Summary: "The memories hold none",
				Body: `{"endUserId": "ada@example.com", "query": "Which team won the cup final of 1987?", "limit": 1}`,
				Answer: `{
				"success": true, "answer": null, "abstained": true, "model": "extractive", "citations": [],
				"results": [
					{
						"id": "mem_06gvus6bh1ohp5bqbt5678ish8",
						"matchedContent": "I moved to Lyon in May, near the old harbour.", "originalLength": 45,
						"container_tag": "chat-17", "score": 0.0041, "created_at": 1779269400000,
						"updated_at": 1795286944643, "metadata": {"role": "user"}
					}
				],
				"degraded": [], "usage": {"inputTokens": 0, "outputTokens": 0}
			}`},
		},
	}
}
