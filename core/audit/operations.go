package audit

import (
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

const base = "/admin/v1/audit"

// Operations declares the routes of the log (docs/contract.md#admin-routes).
func Operations() []op.Op[*Service] {
	read := func(name, path, summary string, faults ...fault.Code) op.Spec {
		return op.Spec{
			Name:    name,
			Group:   op.AdminAudit,
			Method:  "GET",
			Path:    base + path,
			Family:  op.Administration,
			Class:   op.Admin,
			Timeout: 10 * time.Second,
			Summary: summary,
			Faults:  append([]fault.Code{fault.InvalidRequest}, faults...),
		}
	}
	list := read("admin.audit.list", "", "List what was done, newest first", fault.InvalidCursor, fault.NotFound)
	list.Description = "What the records cover is configured (`audit.level`). They hold names of fields, ids and names of " +
		"namespaces: no text, no value and no secret. An end user stands in them as a keyed hash. A key of one organization " +
		"sees that one's records. What was done before the call is in the answer."
	export := read("admin.audit.export", ".ndjson", "Export what was done as NDJSON, oldest first", fault.NotFound)
	export.Description = "One record a line, as in the list."
	export.Answers = []op.Answer{{Status: 200, Summary: "The records, one JSON object a line.", Body: (*Export)(nil),
		Lines: []any{Record{}}}}
	table := read("admin.audit.export_csv", ".csv", "Export what was done as CSV, oldest first", fault.NotFound)
	table.Description = "Comma-separated values (RFC 4180) with a line of names first. Names of fields are separated by spaces."
	table.Answers = []op.Answer{{Status: 200, Summary: "The records, one a line.", Body: (*CSV)(nil)}}
	verify := read("admin.audit.verify", "/verification", "Verify that no record was removed, changed or put in",
		fault.Forbidden)
	verify.Description = "Each record holds the hash of the one before; all are read. Who can write to the database could " +
		"make a new log with hashes that fit: keep `last` and `hash` of an answer elsewhere, and give them to a later call as " +
		"`known`. For keys of all organizations."
	verify.Timeout, verify.TimeoutClass = 10*time.Minute, op.OwnTimeout
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(list, (*Service).List),
		op.Define(export, (*Service).Export),
		op.Define(table, (*Service).ExportCSV),
		op.Define(verify, (*Service).Verify),
	}, examples()), links())
}

func links() map[string][]op.Link {
	return map[string][]op.Link{
		"admin.audit.list": {
			{Name: "next", To: "admin.audit.list", Summary: "Read the next page",
				Parameters: map[string]string{"cursor": "$response.body#/next_cursor"}},
		},
	}
}

func examples() map[string][]op.Example {
	const none = "0000000000000000000000000000000000000000000000000000000000000000"
	const hash = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
	return map[string][]op.Example{
		"admin.audit.list": {
			{
				Name:       "of-a-key",
				Summary:    "What was done with a key",
				Parameters: map[string]string{"key_id": "key_7Qm2xV9bTn4LwPzd", "since": "2026-11-21T00:00:00Z"},
				Answer: `{
				"records": [
					{
						"seq": 1, "id": "aud_019aa7d2-5f6e-7c3a-9d0e-3b1f6a2c4d5e", "at": "2026-11-21T18:49:04.648000Z",
						"organization_id": "org_1b7WkT0JcX3mQyRe", "actor": "key", "key_id": "key_7Qm2xV9bTn4LwPzd",
						"action": "admin.keys.create", "target": "key_2Lp8sR5cYh6KdXqf",
						"request_id": "req_k3v9Tq0ZbW1xLm5n", "status": 200, "fields": ["name", "kind"],
						"previous": "` + none + `", "hash": "` + hash + `"
					}
				],
				"next_cursor": null
			}`,
			},
			{Name: "newest", Summary: "The newest record", Parameters: map[string]string{"limit": "1"}},
		},
		"admin.audit.export": {
			{Name: "refused", Summary: "Refused calls", Parameters: map[string]string{"refused": "true"}},
		},
		"admin.audit.export_csv": {
			{Name: "of-an-organization", Summary: "Of an organization", Parameters: map[string]string{"organization": "default"}},
		},
		"admin.audit.verify": {
			{
				Name:    "intact",
				Summary: "As it was written",
				Answer: `{"intact": true, "records": 1, "trimmed": 0, "last": 1, "hash": "` + hash +
					`", "problem": null}`,
			},
		},
	}
}
