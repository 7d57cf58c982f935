package status

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"health": {
			{Name: "serves", Summary: "Serves",
				Answer: `{"status": "ok"}`},
		},
		"health.deep": {
			{Name: "with-a-key", Summary: "With a key",
				Answer: `{
				"status": "ok", "time": "2026-11-21T18:49:04.995110Z",
				"checks": {
					"keyword": {"status": "ok", "latency_ms": 1}, "probe": {"status": "ok", "latency_ms": 1},
					"rerank": {"status": "ok", "latency_ms": 1}, "sparse": {"status": "ok", "latency_ms": 1},
					"store": {"status": "ok", "latency_ms": 1}, "vector": {"status": "ok", "latency_ms": 1}
				},
				"version": "0.1.0"
			}`},
		},
	}
}
