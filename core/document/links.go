package document

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	return map[string][]op.Link{
		"documents.write": {
			{Name: "read", To: "documents.get", Status: 200, Summary: "Read the first document",
				Parameters: map[string]string{"namespace": "$response.body#/namespace", "id": "$response.body#/documents/0/id"}},
			{Name: "list", To: "documents.list", Status: 200, Summary: "List the namespace",
				Parameters: map[string]string{"namespace": "$response.body#/namespace"}},
			{Name: "query", To: "namespaces.query", Status: 200, Summary: "Search the namespace",
				Parameters: map[string]string{"namespace": "$response.body#/namespace"}},
			{Name: "delete", To: "documents.delete", Status: 200, Summary: "Delete some of its documents",
				Parameters: map[string]string{"namespace": "$response.body#/namespace"}},
			{Name: "progress", To: "operations.get", Status: 202, Summary: "See how far it is",
				Parameters: map[string]string{"namespace": "$request.path.namespace", "operation": "$response.body#/id"}},
		},
		"documents.list": {
			{Name: "first", To: "documents.get", Summary: "Read the first",
				Parameters: map[string]string{"namespace": "$request.path.namespace", "id": "$response.body#/documents/0/id"}},
		},
	}
}
