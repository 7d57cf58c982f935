package file

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	return map[string][]op.Link{
		"files.upload": {
			{Name: "read", To: "documents.get", Status: 200, Summary: "Read the first document",
				Parameters: map[string]string{"namespace": "$response.body#/namespace",
					"id": "$response.body#/files/0/documents/0/id"}},
			{Name: "progress", To: "operations.get", Status: 202, Summary: "See how far it is",
				Parameters: map[string]string{"namespace": "$request.path.namespace", "operation": "$response.body#/id"}},
		},
	}
}
