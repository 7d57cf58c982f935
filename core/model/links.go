package model

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	return map[string][]op.Link{
		"models.list": {
			{Name: "first", To: "models.get", Summary: "Read the first",
				Parameters: map[string]string{"id": "$response.body#/models/0/id"}},
		},
	}
}
