package document

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"documents.write": {
			{Name: "two-documents", Summary: "Two documents", Parameters: map[string]string{"namespace": "home"},
				Body: `{
				"documents": [
					{
						"id": "lease",
						"text": "The lease ends on 31 May 2027. The notice period is three months.",
						"metadata": {"kind": "contract", "tags": ["flat", "rent"]}
					},
					{
						"id": "wifi", "text": "The password of the guest network is on the fridge.",
						"metadata": {"kind": "note"}
					}
				]
			}`,
				Answer: `{
				"namespace": "home", "sparse": false, "written": 2, "unchanged": 0, "chunks": 2, "searchable": true,
				"documents": [
					{
						"id": "lease", "created": true, "unchanged": false, "chunks": 1,
						"updated_at": "2026-11-21T18:49:03.455000Z"
					},
					{
						"id": "wifi", "created": true, "unchanged": false, "chunks": 1,
						"updated_at": "2026-11-21T18:49:03.455000Z"
					}
				]
			}`},
			{
				Name:       "accepted",
				Summary:    "Answer before the work is done",
				Parameters: map[string]string{"namespace": "home", "Prefer": "respond-async"},
				Status:     202,
				Body: `{"documents": [{"id": "boiler", "text": "The boiler was serviced in March."}], ` +
					`"expect_sparse": false}`,
				Answer: `{"id": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb55", "status": "queued", "done": 0, "total": 1}`,
			},
		},
		"operations.get": {
			{
				Name:       "succeeded",
				Summary:    "Succeeded",
				Parameters: map[string]string{"namespace": "home", "operation": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb55"},
				Answer: `{
				"id": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb55", "status": "succeeded", "done": 1, "total": 1,
				"result": {
					"namespace": "home", "sparse": false, "written": 1, "unchanged": 0, "chunks": 1,
					"documents": [
						{
							"id": "boiler", "created": true, "unchanged": false, "chunks": 1,
							"updated_at": "2026-11-21T18:49:03.506000Z"
						}
					]
				}
			}`,
			},
		},
		"documents.list": {
			{Name: "by-id", Summary: "By id", Parameters: map[string]string{"namespace": "home", "limit": "2"},
				Answer: `{
				"documents": [
					{
						"id": "boiler", "metadata": {}, "chunks": 1,
						"content_hash": "sha256:a964768cb138102c28a601d963f635538fbc4e526c5dea039ee764213067b5ce",
						"source_id": null, "created_at": "2026-11-21T18:49:03.506000Z",
						"updated_at": "2026-11-21T18:49:03.506000Z"
					},
					{
						"id": "lease", "metadata": {"kind": "contract", "tags": ["flat", "rent"]}, "chunks": 1,
						"content_hash": "sha256:2f1c01d659f7ad165c597051dac1ee704bbe88c0fbaa3923324a0bc20c9d208e",
						"source_id": null, "created_at": "2026-11-21T18:49:03.455000Z",
						"updated_at": "2026-11-21T18:49:03.455000Z"
					}
				],
				"next_cursor": "979DlSGVesmgnW9jip8d9nsiaSI6ImxlYXNlIn0"
			}`},
			{
				Name:       "newest-first",
				Summary:    "Newest first",
				Parameters: map[string]string{"namespace": "home", "order": "updated_at", "prefix": "le"},
				Answer: `{
				"documents": [
					{
						"id": "lease", "metadata": {"kind": "contract", "tags": ["flat", "rent"]}, "chunks": 1,
						"content_hash": "sha256:2f1c01d659f7ad165c597051dac1ee704bbe88c0fbaa3923324a0bc20c9d208e",
						"source_id": null, "created_at": "2026-11-21T18:49:03.455000Z",
						"updated_at": "2026-11-21T18:49:03.455000Z"
					}
				],
				"next_cursor": null
			}`,
			},
		},
		"documents.get": {
			{
				Name:       "with-chunks",
				Summary:    "With chunks",
				Parameters: map[string]string{"namespace": "home", "id": "lease", "include": "chunks"},
				Answer: `{
				"id": "lease", "text": "The lease ends on 31 May 2027. The notice period is three months.",
				"metadata": {"kind": "contract", "tags": ["flat", "rent"]}, "chunks": 1,
				"content_hash": "sha256:2f1c01d659f7ad165c597051dac1ee704bbe88c0fbaa3923324a0bc20c9d208e",
				"source_id": null, "created_at": "2026-11-21T18:49:03.455000Z",
				"updated_at": "2026-11-21T18:49:03.455000Z",
				"chunk_list": [
					{
						"index": 0, "start": 0, "end": 65,
						"text": "The lease ends on 31 May 2027. The notice period is three months."
					}
				]
			}`,
			},
		},
		"documents.delete": {
			{Name: "by-id", Summary: "By id", Parameters: map[string]string{"namespace": "home"},
				Body:   `{"ids": ["boiler", "none-such"]}`,
				Answer: `{"deleted": 1, "more": false}`},
			{Name: "by-filter", Summary: "By filter", Parameters: map[string]string{"namespace": "home"},
				Body:   `{"filter": {"kind": "note"}}`,
				Answer: `{"deleted": 1, "more": false}`},
		},
	}
}
