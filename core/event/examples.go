package event

import (
	"fmt"

	"github.com/mnemehq/mneme/core/op"
)

// examples are calls with answers, by operation.
func examples() map[string][]op.Example {
	const id = "evt_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44"
	written := Announcements()[3]
	one := fmt.Sprintf(`{"id": %q, %s`, id, written.Example[1:])
	told := one[:len(one)-1] + `, "deliveries": [{"id": "dlv_019e2b4c-7d2b-7c11-8a40-5d1e9f3b6c77",
		"webhook_id": "whk_019e2b4b-0c55-7d90-9e1f-3a7b5c2d8e60", "status": "succeeded", "attempts": 1, "next_attempt_at": null,
		"created_at": "2026-11-23T09:30:00Z"}]}`
	page := fmt.Sprintf(`{"events": [%s], "next_cursor": "c2lnbmVkIHBvc2l0aW9uOiAxMg", "missed": false}`, one)
	return map[string][]op.Example{
		"events.list": {{Name: "written", Summary: "What was written", Parameters: map[string]string{
			"kinds": DocumentsWritten}, Answer: page}},
		"events.get": {{Name: "one", Summary: "One event", Parameters: map[string]string{"id": id}, Answer: told}},
		"admin.events.list": {{Name: "all", Summary: "Everything that is kept",
			Parameters: map[string]string{"org": "default"}, Answer: page}},
		"admin.events.get": {{Name: "one", Summary: "One event",
			Parameters: map[string]string{"org": "default", "id": id}, Answer: told}},
		"event_kinds.list": {{Name: "kinds", Summary: "Their kinds", Answer: fmt.Sprintf(`{"kinds": [{"name": %q, "summary": %q,
			"keys": "service", "schema": {"type": "object"}, "example": %s}]}`, written.Name, written.Summary, written.Example)}},
	}
}

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	next := func(to string) []op.Link {
		return []op.Link{{Name: "next", To: to, Summary: "Go on from here",
			Parameters: map[string]string{"after": "$response.body#/next_cursor", "kinds": "$request.query.kinds"}}}
	}
	return map[string][]op.Link{"events.list": append(next("events.list"), op.Link{Name: "first", To: "events.get",
		Summary: "Read the first", Parameters: map[string]string{"id": "$response.body#/events/0/id"}})}
}
