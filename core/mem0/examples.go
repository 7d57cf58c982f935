package mem0

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation.
func examples() map[string][]op.Example {
	const (
		first  = "mem_0al2n6f3q5u8c2rg9n4w7t1e3a:mia"
		second = "mem_0al2n6f3q5u8c2rg9n4w7t1e4b:mia"
		said   = "I am allergic to peanuts."
		times  = `"created_at": "2026-11-26T09:00:00.123Z", "updated_at": "2026-11-26T09:00:00.123Z"`
		is     = `"id": "` + first + `", "user_id": "mia", "agent_id": null, "app_id": null, "run_id": "lunch",
			"metadata": {"role": "user"}, "categories": [], ` + times
		memory = `{"memory": "` + said + `", ` + is + `}`
	)
	by := map[string]string{"memory_id": first}
	return map[string][]op.Example{
		"mem0.ping": {{Name: "ping", Summary: "A key that works",
			Answer: `{"status": "ok", "org_id": "default", "project_id": "int_0ak9l5e2p4t7b1qf8m3v6s0d2c", "user_email": null}`}},
		"mem0.add": {
			{Name: "two-messages", Summary: "Two messages of a conversation",
				Body: `{"user_id": "mia", "run_id": "lunch", "messages": [
				{"role": "user", "content": "` + said + `"}, {"role": "assistant", "content": "I will keep that in mind."}]}`,
				Answer: `{"message": "Kept as they are: no language model runs here, so nothing is inferred.", "results": [
					{"id": "` + first + `", "memory": "` + said + `", "event": "ADD"},
					{"id": "` + second + `", "memory": "I will keep that in mind.", "event": "ADD"}]}`},
			{Name: "another-user", Summary: "A memory of another user",
				Body: `{"filters": {"user_id": "leo"}, "messages": [{"role": "user", "content": "I work from Lisbon."}]}`},
		},
		"mem0.search": {{Name: "question", Summary: "A question",
			Body:   `{"query": "What can she not eat?", "filters": {"user_id": "mia"}, "top_k": 1}`,
			Answer: `{"results": [{"memory": "` + said + `", ` + is + `, "score": 0.71}], "degraded": []}`}},
		"mem0.list": {{Name: "newest", Summary: "The first page",
			Body:   `{"filters": {"AND": [{"user_id": "mia"}, {"run_id": "lunch"}]}}`,
			Answer: `{"count": 1, "next": null, "previous": null, "results": [` + memory + `]}`}},
		"mem0.get":     {{Name: "one", Summary: "A memory", Parameters: by, Answer: memory}},
		"mem0.history": {{Name: "one", Summary: "What a memory says", Parameters: by}},
		"mem0.update": {{Name: "text", Summary: "Another text", Parameters: by, Body: `{"text": "` + said + `"}`,
			Answer: memory}},
		"mem0.delete": {{Name: "one", Summary: "A memory", Parameters: by,
			Answer: `{"message": "Memory deleted successfully!"}`}},
		"mem0.batch.update": {{Name: "one", Summary: "A memory",
			Body:   `{"memories": [{"memory_id": "` + second + `", "text": "I will keep it in mind."}]}`,
			Answer: `{"message": "Successfully updated 1 memories"}`}},
		"mem0.batch.delete": {{Name: "one", Summary: "A memory", Body: `{"memories": [{"memory_id": "` + second + `"}]}`,
			Answer: `{"message": "Successfully deleted 1 memories"}`}},
		"mem0.delete_all": {{Name: "of-a-user", Summary: "All of a user", Parameters: map[string]string{"user_id": "mia"},
			Answer: `{"message": "Memories deleted successfully! (0)"}`}},
		"mem0.entities.list": {{Name: "users", Summary: "A user",
			Answer: `{"count": 1, "next": null, "previous": null, "results": [
			{"id": "mia", "name": "mia", "type": "user", "total_memories": 1, "owner": null, ` + times + `}]}`}},
		"mem0.entities.delete": {{Name: "user", Summary: "A user",
			Parameters: map[string]string{"entity_type": "user", "entity_id": "mia"},
			Answer:     `{"message": "Entity deleted successfully!"}`}},
		"mem0.entities.delete.v1": {{Name: "user", Summary: "A user",
			Parameters: map[string]string{"entity_type": "user", "entity_id": "leo"},
			Answer:     `{"message": "Entity deleted successfully!"}`}},
	}
}
