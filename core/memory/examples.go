package memory

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"memories.save": {
			{Name: "a-turn", Summary: "A turn", Parameters: map[string]string{"Idempotency-Key": "chat-17-turn-3"},
				Body: `{
				"endUserId": "ada@example.com", "content": "I moved to Lyon in May, near the old harbour.",
				"containerTag": "chat-17", "metadata": {"role": "user"}, "occurredAt": "2026-05-20T09:30:00Z"
			}`,
				Answer: `{"success": true, "memory": {"id": "mem_06gvus6bh1ohp5bqbt5678ish8"}, "deduped": false, ` +
					`"created": true}`},
		},
		"memories.batch": {
			{Name: "two-turns", Summary: "An item that fails does not fail the others",
				Body: `{
				"endUserId": "ada@example.com",
				"memories": [
					{"content": "I am allergic to peanuts.", "containerTag": "chat-17"},
					{"content": " ", "containerTag": "chat-17"}
				]
			}`,
				Answer: `{
				"success": false,
				"results": [
					{
						"success": true, "memory": {"id": "mem_06gvus6bidvjbd3dhsbr17cv24"}, "deduped": false,
						"created": true
					},
					{
						"success": false, "deduped": false, "created": false,
						"error": "invalid_request: content must hold a character that is not white space"
					}
				]
			}`},
		},
		"memories.remember": {
			{Name: "a-correction", Summary: "A message that was there already, a corrected one and a new one",
				Body: `{
				"endUserId": "ada@example.com", "containerTag": "chat-18",
				"messages": [
					{"id": "m1", "role": "assistant", "content": "Where shall we send it?"},
					{"id": "m2", "role": "user", "name": "Ada", "content": "To 12 Rue de la Barre, please."},
					{"role": "assistant", "content": "It is on its way.", "occurredAt": "2026-05-21T08:00:00Z"}
				]
			}`,
				Answer: `{
				"success": true,
				"results": [
					{"memory": {"id": "mem_06h177v09hu3p95jha380tii2c"}, "outcome": "unchanged"},
					{"memory": {"id": "mem_06h177v09hu3p95jha380tii3d"}, "outcome": "updated"},
					{"memory": {"id": "mem_06h177v09hu3p95jha380tii4e"}, "outcome": "created"}
				]
			}`},
		},
		"memories.context": {
			{Name: "for-a-prompt", Summary: "For a prompt",
				Body: `{"endUserId": "ada@example.com", "query": "Can I eat the cake?", "maxTokens": 500, "limit": 1}`,
				Answer: `{
				"success": true,
				"context": "Remembered, most relevant first:\n[1] 2026-11-21: I am allergic to peanuts.",
				"tokens": 20, "tokenizer": "e5-small-v2",
				"citations": [
					{
						"marker": 1, "memoryId": "mem_06gvus6bidvjbd3dhsbr17cv24", "start": 0, "end": 25, "score": 0.2401,
						"container_tag": "chat-17", "created_at": 1795286944656
					}
				],
				"passages": [], "omitted": 0, "degraded": []
			}`},
			{Name: "with-passages", Summary: "With what documents say, for a key that names a namespace",
				Body: `{
				"endUserId": "ada@example.com", "query": "Can I eat the cake?", "maxTokens": 500, "limit": 1, "passages": 1
			}`,
				Answer: `{
				"success": true,
				"context": "` + "Remembered, most relevant first:\\n[1] 2026-11-21: I am allergic to peanuts.\\n" +
					`From documents, most relevant first:\n[2] Menu: The cake contains peanuts.",
				"tokens": 36, "tokenizer": "e5-small-v2",
				"citations": [
					{
						"marker": 1, "memoryId": "mem_06gvus6bidvjbd3dhsbr17cv24", "start": 0, "end": 25, "score": 0.2401,
						"container_tag": "chat-17", "created_at": 1795286944656
					}
				],
				"passages": [
					{
						"marker": 2, "namespace": "menus", "documentId": "autumn", "title": "Menu", "start": 120, "end": 146,
						"score": 0.0328
					}
				],
				"omitted": 0, "degraded": []
			}`},
		},
		"memories.search": {
			{Name: "in-a-container", Summary: "In a container",
				Body: `{
				"endUserId": "ada@example.com", "query": "where do I live", "limit": 1,
				"containerTag": "chat-17", "createdAfter": 1767225600000
			}`,
				Answer: `{
				"success": true,
				"results": [
					{
						"id": "mem_06gvus6bh1ohp5bqbt5678ish8",
						"matchedContent": "I moved to Lyon in May, near the old harbour.", "originalLength": 45,
						"container_tag": "chat-17", "score": 0.0493, "created_at": 1779269400000,
						"updated_at": 1795286944643, "metadata": {"role": "user"}
					}
				],
				"degraded": []
			}`},
		},
		"memories.list": {
			{
				Name:       "newest-first",
				Summary:    "Newest first",
				Parameters: map[string]string{"endUserId": "ada@example.com", "limit": "2"},
				Answer: `{
				"success": true,
				"memories": [
					{
						"id": "mem_06gvus6bidvjbd3dhsbr17cv24", "content": "I am allergic to peanuts.",
						"containerTag": "chat-17", "metadata": {}, "created_at": 1795286944656,
						"updated_at": 1795286944656, "source": null, "externalId": null
					},
					{
						"id": "mem_06gvus6bh1ohp5bqbt5678ish8",
						"content": "I moved to Lyon in May, near the old harbour.", "containerTag": "chat-17",
						"metadata": {"role": "user"}, "created_at": 1779269400000, "updated_at": 1795286944643,
						"source": null, "externalId": null
					}
				],
				"nextCursor": null
			}`,
			},
		},
		"memories.upsert": {
			{Name: "first-version", Summary: "First version", Parameters: map[string]string{"externalId": "contact-42"},
				Body: `{
				"endUserId": "ada@example.com", "source": "crm", "version": 1,
				"content": "Ada prefers to be called in the morning.", "occurredAt": "2026-05-20T09:30:00Z"
			}`,
				Answer: `{
				"success": true,
				"record": {
					"source": "crm", "externalId": "contact-42", "version": 1, "status": "active",
					"occurredAt": "2026-05-20T09:30:00Z", "updatedAt": "2026-11-21T18:49:04.89Z",
					"documentId": "mem_06gvus6chdv7v069k1toovt9m0",
					"contentHash": "sha256:13c5e3fe7f97b82e3d8ca580be5115641c8b2e31c2fbb495860daed85b29c697"
				},
				"receipt": {
					"source": "crm", "externalId": "contact-42", "version": 1, "operation": "upsert",
					"requestHash": "sha256:adda52cb775ba459672e2d943b80d00e6453ff5553e7f64bf19832099ec21aec",
					"outcome": "created", "occurredAt": "2026-05-20T09:30:00Z",
					"appliedAt": "2026-11-21T18:49:04.890000Z", "documentId": "mem_06gvus6chdv7v069k1toovt9m0",
					"contentHash": "sha256:13c5e3fe7f97b82e3d8ca580be5115641c8b2e31c2fbb495860daed85b29c697"
				}
			}`},
		},
		"memories.get": {
			{
				Name:       "active",
				Summary:    "Active",
				Parameters: map[string]string{"externalId": "contact-42", "endUserId": "ada@example.com", "source": "crm"},
				Answer: `{
				"success": true,
				"record": {
					"source": "crm", "externalId": "contact-42", "version": 1, "status": "active",
					"occurredAt": "2026-05-20T09:30:00Z", "updatedAt": "2026-11-21T18:49:04.89Z",
					"documentId": "mem_06gvus6chdv7v069k1toovt9m0",
					"contentHash": "sha256:13c5e3fe7f97b82e3d8ca580be5115641c8b2e31c2fbb495860daed85b29c697"
				},
				"receipt": {
					"source": "crm", "externalId": "contact-42", "version": 1, "operation": "upsert",
					"requestHash": "sha256:adda52cb775ba459672e2d943b80d00e6453ff5553e7f64bf19832099ec21aec",
					"outcome": "created", "occurredAt": "2026-05-20T09:30:00Z",
					"appliedAt": "2026-11-21T18:49:04.890000Z", "documentId": "mem_06gvus6chdv7v069k1toovt9m0",
					"contentHash": "sha256:13c5e3fe7f97b82e3d8ca580be5115641c8b2e31c2fbb495860daed85b29c697"
				}
			}`,
			},
		},
		"memories.tombstone": {
			{
				Name:    "the-record-ended",
				Summary: "The record ended",
				Parameters: map[string]string{"externalId": "contact-42", "version": "2",
					"occurredAt": "2026-06-01T00:00:00Z", "endUserId": "ada@example.com", "source": "crm"},
				Answer: `{
				"success": true,
				"record": {
					"source": "crm", "externalId": "contact-42", "version": 2, "status": "tombstoned",
					"occurredAt": "2026-06-01T00:00:00Z", "updatedAt": "2026-11-21T18:49:04.974Z",
					"documentId": "mem_06gvus6chdv7v069k1toovt9m0", "contentHash": ""
				},
				"receipt": {
					"source": "crm", "externalId": "contact-42", "version": 2, "operation": "tombstone",
					"requestHash": "sha256:7b4cfda600083311e06616850634f0e98cbdb9e9cd0a8a1fba7ac759f03cdc98",
					"outcome": "tombstoned", "occurredAt": "2026-06-01T00:00:00Z",
					"appliedAt": "2026-11-21T18:49:04.974000Z", "documentId": "mem_06gvus6chdv7v069k1toovt9m0",
					"contentHash": ""
				}
			}`,
			},
		},
		"memories.delete": {
			{Name: "by-id", Summary: "By id",
				Body:   `{"endUserId": "ada@example.com", "ids": ["mem_06gvus6bidvjbd3dhsbr17cv24", "mem_none"]}`,
				Answer: `{"success": true, "deleted": 1}`},
		},
		"memories.status": {
			{Name: "works", Summary: "Works",
				Answer: `{
				"ok": true, "apiVersion": "2026-11-21", "requestId": "req_NJOXyqcrdAEAjvTacl3Z",
				"integration": {
					"id": "int_Advsp7RCVNIV01dq",
					"scopes": ["memories:read", "memories:write", "recall:read", "status:read"],
					"quotas": {"memoriesPerEndUser": 10000, "readRatePerMin": 6000, "writeRatePerMin": 6000}
				},
				"backends": {"memoryPlane": {"status": "ok", "environment": "self-hosted"}}
			}`},
		},
		"grants.create": {
			{Name: "a-connector", Summary: "For a connector to a CRM",
				Body: `{"endUserId": "ada@example.com", "source": "crm"}`,
				Answer: `{
				"success": true,
				"grant": {
					"id": "grt_06h0e6gs1fvvd1jq2c0m7t7n1k", "endUserId": "ada@example.com", "source": "crm",
					"secretsSet": [], "createdAt": "2026-11-21T18:49:05.012Z", "revokedAt": null, "upstream": null
				}
			}`},
		},
		"grants.list": {
			{Name: "live", Summary: "One that is live", Parameters: map[string]string{"endUserId": "ada@example.com"},
				Answer: `{
				"success": true,
				"grants": [
					{
						"id": "grt_06h0e6gs1fvvd1jq2c0m7t7n1k", "endUserId": "ada@example.com", "source": "crm",
						"secretsSet": [], "createdAt": "2026-11-21T18:49:05.012Z", "revokedAt": null, "upstream": null
					}
				]
			}`},
		},
		"grants.revoke": {
			{
				Name:       "disconnected",
				Summary:    "The end user has disconnected the CRM",
				Parameters: map[string]string{"id": "grt_06h0e6gs1fvvd1jq2c0m7t7n1k"},
				Answer: `{
				"success": true,
				"grant": {
					"id": "grt_06h0e6gs1fvvd1jq2c0m7t7n1k", "endUserId": "ada@example.com", "source": "crm",
					"secretsSet": [], "createdAt": "2026-11-21T18:49:05.012Z",
					"revokedAt": "2026-11-21T18:49:05.133Z", "upstream": null
				}
			}`,
			},
		},
		"users.erase": {
			{Name: "nothing-left", Summary: "Nothing left", Parameters: map[string]string{"endUserId": "ada@example.com"},
				Answer: `{
				"success": true, "deletedMemories": 1, "deletedVectors": 1, "revokedGrants": 1, "unansweredUpstreams": 0
			}`},
		},
	}
}
