package memory

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	return map[string][]op.Link{
		"memories.save": {
			{Name: "list", To: "memories.list", Summary: "List the end user's memories",
				Parameters: map[string]string{"endUserId": "$request.body#/endUserId"}},
			{Name: "erase", To: "users.erase", Summary: "Erase the end user",
				Parameters: map[string]string{"endUserId": "$request.body#/endUserId"}},
		},
		"memories.batch": {
			{Name: "list", To: "memories.list", Summary: "List the end user's memories",
				Parameters: map[string]string{"endUserId": "$request.body#/endUserId"}},
		},
		"memories.remember": {
			{Name: "list", To: "memories.list", Summary: "List the end user's memories",
				Parameters: map[string]string{"endUserId": "$request.body#/endUserId"}},
		},
		"memories.upsert": {
			{Name: "read", To: "memories.get", Summary: "Read the record",
				Parameters: map[string]string{"externalId": "$response.body#/record/externalId",
					"endUserId": "$request.body#/endUserId", "source": "$response.body#/record/source"}},
			{Name: "end", To: "memories.tombstone", Summary: "Tombstone it by a higher version",
				Parameters: map[string]string{"externalId": "$response.body#/record/externalId",
					"endUserId": "$request.body#/endUserId", "source": "$response.body#/record/source"}},
		},
		"memories.tombstone": {
			{Name: "read", To: "memories.get", Summary: "Read the record, which stays",
				Parameters: map[string]string{"externalId": "$request.path.externalId",
					"endUserId": "$request.query.endUserId", "source": "$request.query.source"}},
		},
		"grants.create": {
			{Name: "list", To: "grants.list", Summary: "List the end user's grants",
				Parameters: map[string]string{"endUserId": "$response.body#/grant/endUserId"}},
			{Name: "revoke", To: "grants.revoke", Summary: "Revoke it",
				Parameters: map[string]string{"id": "$response.body#/grant/id"}},
		},
		"grants.list": {
			{Name: "revoke", To: "grants.revoke", Summary: "Revoke the newest",
				Parameters: map[string]string{"id": "$response.body#/grants/0/id"}},
		},
		"grants.revoke": {
			{Name: "list", To: "grants.list", Summary: "List the end user's grants",
				Parameters: map[string]string{"endUserId": "$response.body#/grant/endUserId"}},
		},
		"users.erase": {
			{Name: "list", To: "memories.list", Summary: "See that nothing is left",
				Parameters: map[string]string{"endUserId": "$request.path.endUserId"}},
		},
	}
}
