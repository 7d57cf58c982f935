package admin

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	return map[string][]op.Link{
		"admin.organizations.create": {
			{Name: "read", To: "admin.organizations.get", Summary: "Read it",
				Parameters: map[string]string{"org": "$response.body#/id"}},
			{Name: "key", To: "admin.keys.create", Summary: "Make a key",
				Parameters: map[string]string{"org": "$response.body#/id"}},
			{Name: "integration", To: "admin.integrations.create", Summary: "Make an integration",
				Parameters: map[string]string{"org": "$response.body#/id"}},
		},
		"admin.organizations.list": {
			{Name: "first", To: "admin.organizations.get", Summary: "Read the first",
				Parameters: map[string]string{"org": "$response.body#/organizations/0/id"}},
		},
		"admin.organizations.delete": {
			{Name: "progress", To: "admin.organizations.delete", Status: 202, Summary: "See how far it is",
				Parameters: map[string]string{"org": "$response.body#/id", "name": "$request.query.name"}},
		},
		"admin.keys.create": {
			{Name: "read", To: "admin.keys.get", Summary: "Read its description",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "id": "$response.body#/id"}},
			{Name: "change", To: "admin.keys.change", Summary: "Change it",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "id": "$response.body#/id"}},
			{Name: "rotate", To: "admin.keys.rotate", Summary: "Make a new secret",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "id": "$response.body#/id"}},
			{Name: "revoke", To: "admin.keys.revoke", Summary: "Revoke it",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "id": "$response.body#/id"}},
		},
		"admin.keys.list": {
			{Name: "first", To: "admin.keys.get", Summary: "Read the first",
				Parameters: map[string]string{"org": "$request.path.org", "id": "$response.body#/keys/0/id"}},
		},
		"admin.keys.rotate": {
			{Name: "revoke", To: "admin.keys.revoke", Summary: "Revoke the new one",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "id": "$response.body#/id"}},
		},
		"admin.integrations.create": {
			{Name: "read", To: "admin.integrations.get", Summary: "Read it",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "integration": "$response.body#/id"}},
			{Name: "change", To: "admin.integrations.change", Summary: "Change it",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "integration": "$response.body#/id"}},
			{Name: "key", To: "admin.integrations.keys.create", Summary: "Make a key",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "integration": "$response.body#/id"}},
			{Name: "keys", To: "admin.integrations.keys.list", Summary: "List its keys",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "integration": "$response.body#/id"}},
		},
		"admin.integrations.list": {
			{Name: "first", To: "admin.integrations.get", Summary: "Read the first",
				Parameters: map[string]string{"org": "$request.path.org", "integration": "$response.body#/integrations/0/id"}},
		},
		"admin.integrations.keys.create": {
			{Name: "revoke", To: "admin.keys.revoke", Summary: "Revoke it",
				Parameters: map[string]string{"org": "$response.body#/organization_id", "id": "$response.body#/id"}},
		},
		"admin.namespaces.list": {
			{Name: "reindex", To: "admin.namespaces.reindex", Summary: "Recompute the vectors of the first",
				Parameters: map[string]string{"org": "$request.path.org", "namespace": "$response.body#/namespaces/0/name"}},
		},
		"admin.namespaces.reindex": {
			{Name: "progress", To: "admin.namespaces.reindexing", Status: 202, Summary: "See how far it is",
				Parameters: map[string]string{"org": "$request.path.org", "namespace": "$request.path.namespace"}},
		},
		"admin.end_users.list": {
			{Name: "export", To: "admin.end_users.export", Summary: "Export the first",
				Parameters: map[string]string{"id": "$response.body#/end_users/0/id",
					"organization": "$request.path.org", "integration": "$response.body#/end_users/0/integration"}},
			{Name: "erase", To: "admin.end_users.erase", Summary: "Erase the first",
				Parameters: map[string]string{"id": "$response.body#/end_users/0/id",
					"organization": "$request.path.org", "integration": "$response.body#/end_users/0/integration"}},
		},
		"admin.end_users.reindex": {
			{Name: "progress", To: "admin.end_users.reindexing", Status: 202, Summary: "See how far it is",
				Parameters: map[string]string{"id": "$request.path.id", "organization": "$request.query.organization",
					"integration": "$request.query.integration"}},
		},
		"admin.jobs.list": {
			{Name: "first", To: "admin.jobs.get", Summary: "Read the first",
				Parameters: map[string]string{"job": "$response.body#/jobs/0/id"}},
			{Name: "cancel", To: "admin.jobs.cancel", Summary: "Cancel the first",
				Parameters: map[string]string{"job": "$response.body#/jobs/0/id"}},
		},
		"admin.jobs.get": {
			{Name: "cancel", To: "admin.jobs.cancel", Summary: "Cancel it",
				Parameters: map[string]string{"job": "$request.path.job"}},
		},
		"admin.jobs.cancel": {
			{Name: "read", To: "admin.jobs.get", Summary: "See whether it has ended",
				Parameters: map[string]string{"job": "$request.path.job"}},
		},
	}
}
