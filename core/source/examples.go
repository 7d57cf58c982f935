package source

import "github.com/mnemehq/mneme/core/op"

// examples are calls of a server without sources, by operation: what others answer depends on
// what they may reach.
func examples() map[string][]op.Example {
	const id, run = "src_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44", "run_019e2b4c-8f02-7bb1-8d2e-61d0c5a9f3e8"
	one := map[string]string{"id": id}
	both := map[string]string{"id": id, "run": run}
	calls := map[string]op.Example{
		"source_kinds.list": {},
		"sources.create": {Body: `{"name": "Handbook", "kind": "directory", "namespace": "docs",
			"config": {"path": "/srv/handbook"}, "schedule": {"every": "6h"}}`},
		"sources.check":  {Body: `{"kind": "directory", "config": {"path": "/srv/handbook"}}`},
		"sources.list":   {},
		"sources.get":    {Parameters: one},
		"sources.update": {Parameters: one, Body: `{"schedule": {"cron": "30 4 * * 1-5"}}`},
		"sources.delete": {Parameters: map[string]string{"id": id, "documents": "delete"}},
		"sources.sync":   {Parameters: one, Body: `{"full": true}`},
		"sources.items.push": {Parameters: one, Body: `{"items": [
			{"key": "tickets/17", "version": "3", "name": "Gate", "text": "The gate sticks in the rain."},
			{"key": "tickets/16", "deleted": true}]}`},
		"sources.items.list":        {Parameters: one},
		"sources.apply_deletions":   {Parameters: one, Body: `{"max": 40}`},
		"sources.runs.list":         {Parameters: one},
		"sources.runs.begin":        {Parameters: one, Body: `{"mode": "full"}`},
		"sources.runs.get":          {Parameters: both},
		"sources.runs.items":        {Parameters: map[string]string{"id": id, "run": run, "status": "failed"}},
		"sources.runs.cancel":       {Parameters: both},
		"sources.runs.retry_failed": {Parameters: both},
		"sources.runs.complete":     {Parameters: both, Body: `{"snapshot": true}`},
	}
	out := map[string][]op.Example{}
	for name, e := range calls {
		e.Name, e.Summary, e.Status = "unavailable", "Without sources", 503
		if e.Parameters == nil {
			e.Parameters = map[string]string{}
		}
		out[name] = []op.Example{e}
	}
	return out
}
