package source

import "github.com/mnemehq/mneme/core/op"

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	id := map[string]string{"id": "$response.body#/id"}
	same := map[string]string{"id": "$request.path.id"}
	started := map[string]string{"id": "$response.body#/source_id", "run": "$response.body#/id"}
	ofRun := map[string]string{"id": "$request.path.id", "run": "$request.path.run"}
	watch := func(status int) op.Link {
		return op.Link{Name: "run", To: "sources.runs.get", Status: status, Summary: "See how far it is", Parameters: started}
	}
	return map[string][]op.Link{
		"sources.create": {
			{Name: "read", To: "sources.get", Status: 201, Summary: "See how it is", Parameters: id},
			{Name: "sync", To: "sources.sync", Status: 201, Summary: "Start a run", Parameters: id},
			{Name: "push", To: "sources.items.push", Status: 201, Summary: "Bring items, to one of kind push", Parameters: id},
			{Name: "remove", To: "sources.delete", Status: 201, Summary: "Disconnect it", Parameters: id},
		},
		"sources.list": {
			{Name: "first", To: "sources.get", Summary: "Read the first",
				Parameters: map[string]string{"id": "$response.body#/sources/0/id"}},
		},
		"sources.get": {
			{Name: "items", To: "sources.items.list", Summary: "List its items", Parameters: same},
			{Name: "runs", To: "sources.runs.list", Summary: "List its runs", Parameters: same},
			{Name: "last", To: "sources.runs.get", Summary: "Read its newest run",
				Parameters: map[string]string{"id": "$request.path.id", "run": "$response.body#/last_run/id"}},
		},
		"sources.sync":              {watch(202)},
		"sources.apply_deletions":   {watch(202)},
		"sources.runs.retry_failed": {watch(202)},
		"sources.runs.complete":     {watch(202)},
		"sources.runs.begin": {
			{Name: "push", To: "sources.items.push", Status: 201, Summary: "Bring items in it",
				Parameters: map[string]string{"id": "$response.body#/source_id"}},
			{Name: "complete", To: "sources.runs.complete", Status: 201, Summary: "End it", Parameters: started},
		},
		"sources.runs.list": {
			{Name: "first", To: "sources.runs.get", Summary: "Read the newest",
				Parameters: map[string]string{"id": "$request.path.id", "run": "$response.body#/runs/0/id"}},
		},
		"sources.runs.get": {
			{Name: "items", To: "sources.runs.items", Summary: "List what it did", Parameters: ofRun},
		},
	}
}
