package query

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	return map[string][]op.Link{
		"namespaces.query": {
			{Name: "best", To: "documents.get", Summary: "Read the whole document of the best hit",
				Parameters: map[string]string{"namespace": "$request.path.namespace",
					"id": "$response.body#/results/0/document_id"}},
		},
	}
}
