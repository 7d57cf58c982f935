package mem0

import "github.com/mnemehq/mneme/core/op"

// Absent are the calls of mem0's clients that are answered by what to use in their place. There are none
// where the protocol is off.
func (s *Service) Absent() []op.Absence {
	if s == nil || !s.enabled {
		return nil
	}
	const (
		organizations = "/api/v1/orgs/organizations/{org_id}"
		projects      = organizations + "/projects"
	)
	var out []op.Absence
	for instead, paths := range map[string][]string{
		"there are no exports by a schema: these need a language model, and none runs here. POST /v3/memories/ and " +
			"GET /api/v1/memories page through memories as they are, GET /admin/v1/end_users/{id}/export gives all of a user": {
			"/v1/exports", "/v1/exports/get"},
		"there are no summaries: these need a language model, and none runs here. POST /api/v1/context makes a block for a " +
			"prompt of what is remembered": {"/v1/summary"},
		"there are no profiles: these need a language model, and none runs here. POST /api/v1/context makes a block for a " +
			"prompt of what is remembered": {
			"/v2/entities/user/{entity_id}/profile", "/v2/profiles/settings", "/v2/profiles/jobs", "/v2/profiles/jobs/{job_id}"},
		"feedback is not kept: change a memory that is wrong, or delete it": {"/v1/feedback"},
		"a project is an integration of this server, which has no instructions, categories or members of its own: an " +
			"administrator makes and changes integrations with /admin/v1 or mneme integrations": {
			projects, projects + "/{project_id}", projects + "/{project_id}/members"},
		"webhooks are made with POST /webhooks or, for events of end users, POST /admin/v1/organizations/{org}/webhooks; " +
			"GET /events reads what has happened": {
			"/api/v1/webhooks/projects/{project_id}", "/api/v1/webhooks/{webhook_id}"},
	} {
		for _, path := range paths {
			out = append(out, op.Absence{Protocol: op.Mem0, Family: op.Memory, Path: path, Instead: instead})
		}
	}
	return out
}
