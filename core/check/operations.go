package check

import (
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

const (
	all = "/namespaces/{namespace}/queries"
	one = all + "/{query}"
)

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	asks := []fault.Code{fault.InvalidNamespace, fault.NamespaceNotFound, fault.Conflict, fault.Unavailable}
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "queries.list",
			Group:   op.Querying,
			Method:  "GET",
			Path:    all,
			Class:   op.Read,
			Timeout: 5 * time.Second,
			Summary: "List the saved queries of a namespace",
			Faults:  []fault.Code{fault.InvalidNamespace, fault.NamespaceNotFound},
		}, (*Service).List),
		op.Define(op.Spec{
			Name:    "queries.save",
			Group:   op.Querying,
			Method:  "PUT",
			Path:    one,
			Class:   op.Write,
			Mutates: true,
			MaxBody: 64 << 10,
			Timeout: 30 * time.Second,
			Summary: "Save a query with the documents that it should find",
			Description: "It is asked once, and what it finds is kept for runs to compare with. One that has the name is " +
				"replaced. Saved queries stay when the namespace is reindexed, and go with it.",
			Faults: append([]fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidID, fault.InvalidFilter,
				fault.PayloadTooLarge}, asks...),
		}, (*Service).Save),
		op.Define(op.Spec{
			Name:    "queries.delete",
			Group:   op.Querying,
			Method:  "DELETE",
			Path:    one,
			Class:   op.Write,
			Mutates: true,
			Timeout: 10 * time.Second,
			Summary: "Delete a saved query",
			Faults:  []fault.Code{fault.InvalidRequest, fault.InvalidNamespace},
		}, (*Service).Delete),
		op.Define(op.Spec{
			Name:    "queries.run",
			Group:   op.Querying,
			Method:  "POST",
			Path:    "/namespaces/{namespace}/check",
			Class:   op.Read,
			Timeout: 2 * time.Minute,
			Summary: "Ask all saved queries of a namespace, and say which find what they should",
			Description: "One call for rates, whatever it asks. It keeps nothing, so a read-only key can run it; saving a " +
				"query again takes what it finds now as what runs compare with.",
			Faults: asks,
		}, (*Service).Run),
	}, examples()), links())
}

func links() map[string][]op.Link {
	return map[string][]op.Link{
		"queries.save": {
			{Name: "run", To: "queries.run", Summary: "Ask all of the namespace",
				Parameters: map[string]string{"namespace": "$request.path.namespace"}},
			{Name: "delete", To: "queries.delete", Summary: "Delete it",
				Parameters: map[string]string{"namespace": "$request.path.namespace", "query": "$response.body#/name"}},
		},
	}
}

// examples are calls with the answers that a server gave; they go on from those of documents.
func examples() map[string][]op.Example {
	const kept = `{
		"name": "lease-end", "query": "when does the lease end", "expect": ["lease"], "within": 2,
		"found": ["lease", "router"], "created_at": "2026-11-25T08:00:00Z", "updated_at": "2026-11-25T08:00:00Z"}`
	home := map[string]string{"namespace": "home"}
	one := map[string]string{"namespace": "home", "query": "lease-end"}
	return map[string][]op.Example{
		"queries.save": {{Name: "lease", Summary: "The lease must be one of the first two", Parameters: one,
			Body: `{"query": "when does the lease end", "expect": ["lease"], "within": 2}`, Answer: kept}},
		"queries.list": {{Name: "home", Summary: "Home", Parameters: home, Answer: `{"queries": [` + kept + `]}`}},
		"queries.run": {{Name: "home", Summary: "All of a namespace", Parameters: home, Answer: `{
			"passed": 1, "failed": 0, "outcomes": [{"name": "lease-end", "query": "when does the lease end", "passed": true,
			"missing": [], "found": ["lease", "router"], "came": [], "left": [], "changed": false, "degraded": [],
			"error": null}]}`}},
		"queries.delete": {{Name: "lease", Summary: "One", Parameters: one, Answer: `{"deleted": true}`}},
	}
}
