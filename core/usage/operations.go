package usage

import (
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

const (
	base      = "/admin/v1/usage"
	oneQuotas = "/admin/v1/organizations/{org}/quotas"
)

// Operations declares the routes of usage and quotas (docs/contract.md#admin-routes).
func Operations() []op.Op[*Service] {
	admin := func(name, method, path, summary string, faults ...fault.Code) op.Spec {
		return op.Spec{
			Name:    name,
			Group:   op.AdminUsage,
			Method:  method,
			Path:    path,
			Family:  op.Administration,
			Class:   op.Admin,
			Timeout: 10 * time.Second,
			Summary: summary,
			Faults:  append([]fault.Code{fault.InvalidRequest, fault.NotFound}, faults...),
		}
	}
	list := admin("admin.usage.list", "GET", base, "List what was done, by namespace or integration and key", fault.InvalidCursor)
	list.Description = "Counts are kept by the hour of UTC. What the server that answers has done until now is in them, of " +
		"other servers what they did until a few seconds ago; a server that dies loses as much. A call counts as a request " +
		"when it did what it was asked. A key of one organization sees that one's usage."
	export := admin("admin.usage.export_csv", "GET", base+".csv", "Export what was done as CSV")
	export.Description = "Comma-separated values (RFC 4180) with a line of names first, in the order of the list."
	export.Answers = []op.Answer{{Status: 200, Summary: "What was done, one row a line.", Body: (*Export)(nil)}}
	kept := admin("admin.usage.bytes", "GET", base+"/bytes", "List how much text is kept, by namespace and integration",
		fault.InvalidCursor)
	kept.Description = "With `at` as it was at the end of that hour. It is read from what is stored within seconds of a change."
	quotas := admin("admin.quotas.get", "GET", oneQuotas, "Read an organization's quotas and what is used of them")
	change := admin("admin.quotas.change", "PATCH", oneQuotas, "Change an organization's quotas", fault.Forbidden)
	change.Description = "A write that adds to what is bounded and would go over it answers 403 `quota_exceeded`, which " +
		"says what is used and how much the quota allows. What takes away, or adds nothing, is never refused. A change " +
		"holds at once on the server that answers, and within five seconds on others. For keys of all organizations."
	change.Mutates, change.MaxBody = true, 64<<10
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(list, (*Service).List),
		op.Define(export, (*Service).Export),
		op.Define(kept, (*Service).ListBytes),
		op.Define(quotas, (*Service).Quotas),
		op.Define(change, (*Service).ChangeQuotas),
	}, examples()), links())
}

func links() map[string][]op.Link {
	out := map[string][]op.Link{}
	for _, name := range []string{"admin.usage.list", "admin.usage.bytes"} {
		out[name] = []op.Link{{Name: "next", To: name, Summary: "Read the next page",
			Parameters: map[string]string{"cursor": "$response.body#/next_cursor"}}}
	}
	return out
}

func examples() map[string][]op.Example {
	const quotas = `{
		"organization_id": "org_1b7WkT0JcX3mQyRe",
		"bytes": {"limit": 1073741824, "used": 73400320, "exceeded_at": null},
		"documents": {"limit": null, "used": 12041, "exceeded_at": null},
		"namespaces": {"limit": 20, "used": 20, "exceeded_at": "2026-11-21T18:49:04.648Z"},
		"end_users": {"limit": null, "used": 0, "exceeded_at": null}
	}`
	return map[string][]op.Example{
		"admin.usage.list": {
			{
				Name:    "of-a-month",
				Summary: "What an organization did in a month",
				Parameters: map[string]string{"organization": "acme", "from": "2026-11-01T00:00:00Z",
					"to": "2026-12-01T00:00:00Z"},
				Answer: `{
				"usage": [
					{
						"from": null, "organization_id": "org_1b7WkT0JcX3mQyRe", "namespace": "docs", "integration_id": null,
						"key_id": "key_7Qm2xV9bTn4LwPzd", "requests": 1204, "documents": 310, "chunks": 2875,
						"tokens_embedded": 612345, "tokens_sparse": 0, "pairs_reranked": 17880, "recalls": 0
					}
				],
				"next_cursor": null
			}`,
			},
			{Name: "by-day", Summary: "Day by day", Parameters: map[string]string{"by": "day", "limit": "31"}},
			{Name: "first-page", Summary: "First page", Parameters: map[string]string{"limit": "1"}},
		},
		"admin.usage.export_csv": {
			{Name: "by-hour", Summary: "Hour by hour",
				Parameters: map[string]string{"by": "hour", "from": "2026-11-21T00:00:00Z"}},
		},
		"admin.usage.bytes": {
			{
				Name:       "of-an-organization",
				Summary:    "What an organization kept at the end of a month",
				Parameters: map[string]string{"organization": "acme", "at": "2026-11-30T23:59:59Z"},
				Answer: `{
				"kept": [
					{"organization_id": "org_1b7WkT0JcX3mQyRe", "namespace": "docs", "integration_id": null, "bytes": 73400320,
						"since": "2026-11-29T14:00:00Z"}
				],
				"next_cursor": null
			}`,
			},
			{Name: "first-page", Summary: "First page", Parameters: map[string]string{"limit": "1"}},
		},
		"admin.quotas.get": {
			{Name: "acme", Summary: "Of an organization", Parameters: map[string]string{"org": "acme"}, Answer: quotas},
		},
		"admin.quotas.change": {
			{
				Name:       "bound",
				Summary:    "Bound texts and namespaces, and nothing else",
				Parameters: map[string]string{"org": "acme"},
				Body:       `{"bytes": 1073741824, "documents": 0, "namespaces": 20, "end_users": 0}`,
				Answer:     quotas,
			},
		},
	}
}
