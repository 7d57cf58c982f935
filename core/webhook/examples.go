package webhook

import (
	"maps"

	"github.com/mnemehq/mneme/core/op"
)

const (
	exampleID       = "whk_019e2b4b-0c55-7d90-9e1f-3a7b5c2d8e60"
	exampleSecret   = "whs_019e2b4b-0c56-7a31-8d27-6f0e9b4a1c52"
	exampleDelivery = "dlv_019e2b4c-7d2b-7c11-8a40-5d1e9f3b6c77"
	exampleEvent    = "evt_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44"
)

// examples are calls with answers, by operation.
func examples() map[string][]op.Example {
	shown := func(more string) string {
		return `{"id": "` + exampleID + `", "url": "https://example.org/hooks/mneme", "kinds": ["documents.written",
			"documents.deleted"], "description": "Search page", "signature": "v1", "enabled": true, "state": "active",
			"reason": null, "failing_since": null, "secrets": [{"id": "` + exampleSecret + `", "public_key": null,
			"created_at": "2026-11-23T09:00:00Z", "expires_at": null}], "created_at": "2026-11-23T09:00:00Z",
			"updated_at": "2026-11-23T09:00:00Z"` + more + `}`
	}
	const (
		secret  = `, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="`
		attempt = `"at": "2026-11-23T09:30:00.2Z", "status": 204, "ms": 41, "error": null, "answer": null`
		sent    = `{"id": "` + exampleDelivery + `", "event_id": "` + exampleEvent + `", "kind": "documents.written",
			"entity": "namespace/docs", "status": "succeeded", "tries": 1, "attempts": [{` + attempt + `}],
			"next_attempt_at": null, "redelivery_of": null, "created_at": "2026-11-23T09:30:00.1Z",
			"updated_at": "2026-11-23T09:30:00.2Z"}`
		again = `{"id": "dlv_019e2b4f-1e90-7d02-b1a6-8c3f2e5d7a91", "event_id": "` + exampleEvent + `",
			"kind": "documents.written", "entity": "namespace/docs", "status": "pending", "tries": 0, "attempts": [],
			"next_attempt_at": "2026-11-23T10:00:00Z", "redelivery_of": "` + exampleDelivery + `",
			"created_at": "2026-11-23T10:00:00Z", "updated_at": "2026-11-23T10:00:00Z"}`
	)
	one := map[string]string{"id": exampleID}
	delivery := map[string]string{"id": exampleID, "delivery_id": exampleDelivery}
	own := map[string][]op.Example{
		"webhooks.create": {{Name: "documents", Summary: "Of what is written and deleted", Status: 201,
			Body: `{"url": "https://example.org/hooks/mneme", "kinds": ["documents.written", "documents.deleted"],
			"description": "Search page"}`, Answer: shown(secret)}},
		"webhooks.list": {{Name: "all", Summary: "All of them", Answer: `{"webhooks": [` + shown("") + `]}`}},
		"webhooks.get":  {{Name: "one", Summary: "One", Parameters: one, Answer: shown("")}},
		"webhooks.change": {{Name: "enable", Summary: "Start afresh", Parameters: one, Body: `{"enabled": true}`,
			Answer: shown("")}},
		"webhooks.delete": {{Name: "gone", Summary: "One", Parameters: one, Answer: `{"deleted": true}`}},
		"webhooks.test": {{Name: "well", Summary: "An endpoint that answers", Parameters: one,
			Answer: `{"delivered": true, "event_id": "` + exampleEvent + `", ` + attempt + `}`}},
		"webhooks.rotate": {{Name: "week", Summary: "With a week to tell the receiver", Parameters: one,
			Body: `{"overlap": "168h", "force": true}`, Answer: shown(secret)}},
		"webhooks.deliveries.list": {{Name: "succeeded", Summary: "What arrived",
			Parameters: map[string]string{"id": exampleID, "status": "succeeded"},
			Answer:     `{"deliveries": [` + sent + `], "next_cursor": null}`}},
		"webhooks.deliveries.get": {{Name: "one", Summary: "One", Parameters: delivery, Answer: sent}},
		"webhooks.deliveries.redeliver": {{Name: "again", Summary: "Once more", Parameters: delivery, Status: 202,
			Answer: again}},
		"webhooks.recover": {{Name: "day", Summary: "What did not arrive since the morning", Parameters: one,
			Body: `{"since": "2026-11-23T00:00:00Z"}`, Answer: `{"deliveries": 12, "more": false}`}},
	}
	out := maps.Clone(own)
	for name, all := range own {
		for _, e := range all {
			e.Parameters = maps.Clone(e.Parameters)
			if e.Parameters == nil {
				e.Parameters = map[string]string{}
			}
			e.Parameters["org"] = "default"
			out["admin."+name] = append(out["admin."+name], e)
		}
	}
	return out
}
