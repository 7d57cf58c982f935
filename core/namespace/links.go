package namespace

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	return map[string][]op.Link{
		"namespaces.create": {
			{Name: "write", To: "documents.write", Summary: "Fill the namespace",
				Parameters: map[string]string{"namespace": "$response.body#/name"}},
			{Name: "delete", To: "namespaces.delete", Summary: "Remove it",
				Parameters: map[string]string{"namespace": "$response.body#/name"}},
		},
		"namespaces.list": {
			{Name: "first", To: "namespaces.get", Summary: "Read the first",
				Parameters: map[string]string{"namespace": "$response.body#/namespaces/0/name"}},
		},
		"namespaces.get": {
			{Name: "documents", To: "documents.list", Summary: "List its documents",
				Parameters: map[string]string{"namespace": "$response.body#/name"}},
			{Name: "query", To: "namespaces.query", Summary: "Search it",
				Parameters: map[string]string{"namespace": "$response.body#/name"}},
		},
	}
}
