package source

import "github.com/mnemehq/mneme/core/op"

// The ids of the examples: a folder's source with a run, one whose deletions were withheld, and one
// of kind push with two runs.
const (
	exampleFolder  = "src_019e2b4c-7d1a-7f30-9a51-2f6c8d0b7e44"
	exampleMinutes = "src_019e2b4d-11c2-7a04-8c3e-90b1d2e8f415"
	exampleTickets = "src_019e2b4d-5a80-7c6b-b2d4-3e1f7a90c526"
	exampleRun     = "run_019e2b4c-8f02-7bb1-8d2e-61d0c5a9f3e8"
	exampleLeft    = "run_019e2b4d-6b31-7e5d-9f08-4a2b6c8d0e13"
	exampleFilled  = "run_019e2b4d-7c44-7f12-a3b5-5c6d7e8f9a02"
)

// examples are calls with the answers that a server gave, by operation. They tell one story, in
// which later calls build on earlier ones.
func examples() map[string][]op.Example {
	const (
		none = `{"seen": 0, "created": 0, "updated": 0, "unchanged": 0, "deleted": 0, "withheld": 0, "failed": 0,
			"skipped": 0}`
		created = `"created_at": "2026-11-24T04:30:00.100000Z"`
		queued  = `"mode": "full", "status": "queued", "counts": ` + none + `, "error": null, ` + created +
			`, "started_at": null, "heartbeat_at": null, "finished_at": null}`
		begun = `"trigger": "manual", "mode": "full", "status": "running", "counts": ` + none + `, "error": null, ` + created +
			`, "started_at": "2026-11-24T04:30:00.100000Z", "heartbeat_at": "2026-11-24T04:30:00.100000Z", "finished_at": null}`
		ended = `{"id": "` + exampleRun + `", "source_id": "` + exampleFolder + `", "trigger": "manual", "mode": "full",
			"status": "partial", "counts": {"seen": 3, "created": 2, "updated": 0, "unchanged": 0, "deleted": 0, "withheld": 0,
			"failed": 1, "skipped": 0}, "error": null, ` + created + `, "started_at": "2026-11-24T04:30:00.200000Z",
			"heartbeat_at": "2026-11-24T04:30:00.900000Z", "finished_at": "2026-11-24T04:30:00.900000Z"}`
		times = created + `, "updated_at": "2026-11-24T04:30:00.100000Z"`
	)
	folder := func(state, documents, last string) string {
		return `{"id": "` + exampleFolder + `", "name": "Handbook", "kind": "directory", "namespace": "handbook",
			"config": {"path": "/srv/handbook", "include": ["**/*.md"]}, "secrets_set": [], "schedule": {"every": "6h"},
			"deletions": "propagate", "enabled": true, "state": "` + state + `", "state_reason": null, "items": 3,
			"documents": ` + documents + `, "last_run": ` + last + `,
			"next_run_at": "2026-11-24T10:30:01.300000Z", ` + times + `}`
	}
	pushed := `{"id": "` + exampleTickets + `", "name": "Help desk", "kind": "push", "namespace": "tickets", "config": {},
		"secrets_set": [], "schedule": null, "deletions": "propagate", "enabled": true, "state": "idle", "state_reason": null,
		"items": 0, "documents": 0, "last_run": null, "next_run_at": null, ` + times + `}`
	ofFolder := map[string]string{"id": exampleFolder}
	ofRun := map[string]string{"id": exampleFolder, "run": exampleRun}
	ofTickets := map[string]string{"id": exampleTickets}
	return map[string][]op.Example{
		"source_kinds.list": {{Name: "kinds", Summary: "Kinds", Answer: `{"kinds": [{"name": "feed", "title": "Feed",
			"summary": "The entries of an RSS, Atom or JSON feed.", "config": {"type": "object", "required": ["url"],
			"properties": {"url": {"type": "string", "format": "uri"}}}, "secrets": {"type": "object", "properties": {}},
			"incremental": false, "revokes": false}]}`}},
		"sources.create": {
			{Name: "folder", Summary: "A folder, to be followed later", Status: 201,
				Body: `{"name": "Handbook", "kind": "directory", "namespace": "handbook",
				"config": {"path": "/srv/handbook", "include": ["**/*.md"]}, "schedule": {"every": "6h"}, "start": false}`,
				Answer: folder("idle", "0", "null")},
			{Name: "keeping", Summary: "One that keeps what left it", Status: 201,
				Body: `{"name": "Minutes", "kind": "directory", "namespace": "minutes",
				"config": {"path": "/srv/handbook/minutes"}, "schedule": {"cron": "30 4 * * 1-5"}, "deletions": "keep",
				"start": false}`,
				Answer: `{"id": "` + exampleMinutes + `", "name": "Minutes", "kind": "directory", "namespace": "minutes",
				"config": {"path": "/srv/handbook/minutes"}, "secrets_set": [], "schedule": {"cron": "30 4 * * 1-5"},
				"deletions": "keep", "enabled": true, "state": "idle", "state_reason": null, "items": 0, "documents": 0,
				"last_run": null, "next_run_at": "2026-11-25T04:30:07.000000Z", ` + times + `}`},
			{Name: "push", Summary: "One that a program fills", Status: 201,
				Body: `{"name": "Help desk", "kind": "push", "namespace": "tickets"}`, Answer: pushed},
		},
		"sources.check": {{Name: "folder", Summary: "A folder",
			Body: `{"kind": "directory", "config": {"path": "/srv/handbook"}}`,
			Answer: `{"ok": true, "problems": [], "error": null, "items": [{"key": "leave.md", "name": "leave.md", "url": null,
			"size": 29, "modified_at": "2026-11-20T08:00:00Z"}], "complete": true}`}},
		"sources.list": {{Name: "of-a-kind", Summary: "Those that programs fill", Parameters: map[string]string{"kind": "push"},
			Answer: `{"sources": [` + pushed + `], "next_cursor": null}`}},
		"sources.get": {{Name: "folder", Summary: "A folder", Parameters: ofFolder, Answer: folder("idle", "2", ended)}},
		"sources.update": {{Name: "schedule", Summary: "Another schedule", Parameters: ofFolder,
			Body: `{"name": "The handbook", "schedule": {"every": "6h"}}`, Answer: folder("idle", "2", ended)}},
		"sources.delete": {{Name: "with-documents", Summary: "With its documents", Status: 202,
			Parameters: map[string]string{"id": exampleFolder, "documents": "delete"}, Answer: folder("deleting", "2", "null")}},
		"sources.sync": {{Name: "full", Summary: "Over everything", Status: 202, Parameters: ofFolder, Body: `{"full": true}`,
			Answer: `{"id": "` + exampleRun + `", "source_id": "` + exampleFolder + `", "trigger": "manual", ` + queued}},
		"sources.apply_deletions": {{Name: "forty", Summary: "Forty at most", Status: 202,
			Parameters: map[string]string{"id": exampleMinutes}, Body: `{"max": 40}`,
			Answer: `{"id": "run_019e2b4e-0a17-7d29-8e40-6b7c8d9e0f21", "source_id": "` + exampleMinutes +
				`", "trigger": "manual", ` + queued}},
		"sources.items.list": {{Name: "failed", Summary: "Those that could not be read",
			Parameters: map[string]string{"id": exampleFolder, "status": "failed"},
			Answer: `{"items": [{"key": "empty.md", "name": "empty.md", "url": null, "version": "0-1795507200000000000",
			"status": "failed", "error": {"code": "no_text", "message": "holds no text: it is empty"}, "attempts": 1,
			"next_attempt_at": null, "document_id": null, "documents": 0, "updated_at": "2026-11-24T04:30:00.800000Z"}],
			"next_cursor": null}`}},
		"sources.items.push": {{Name: "two", Summary: "One to keep and one that is gone", Parameters: ofTickets,
			Body: `{"run_id": "` + exampleFilled + `", "items": [
			{"key": "tickets/17", "version": "3", "name": "Gate", "text": "The gate sticks in the rain."},
			{"key": "tickets/16", "deleted": true}]}`,
			Answer: `{"items": [{"key": "tickets/17", "status": "created", "error": null,
			"document_id": "` + exampleTickets + `:6f1d3c5e7a9b2d4f6081a3c5e7092b4d", "documents": 1},
			{"key": "tickets/16", "status": "deleted", "error": null, "document_id": null, "documents": 0}]}`}},
		"sources.runs.list": {{Name: "first-page", Summary: "The newest",
			Parameters: map[string]string{"id": exampleFolder, "limit": "20"},
			Answer:     `{"runs": [` + ended + `], "next_cursor": null}`}},
		"sources.runs.begin": {
			{Name: "left", Summary: "One that is left", Status: 201, Parameters: ofTickets, Body: `{"mode": "full"}`,
				Answer: `{"id": "` + exampleLeft + `", "source_id": "` + exampleTickets + `", ` + begun},
			{Name: "again", Summary: "The next one, which ends it", Status: 201, Parameters: ofTickets,
				Answer: `{"id": "` + exampleFilled + `", "source_id": "` + exampleTickets + `", ` + begun},
		},
		"sources.runs.get": {{Name: "ended", Summary: "One that has ended", Parameters: ofRun, Answer: ended}},
		"sources.runs.items": {{Name: "failed", Summary: "What failed",
			Parameters: map[string]string{"id": exampleFolder, "run": exampleRun, "status": "failed"},
			Answer: `{"items": [{"key": "empty.md", "status": "failed", "error": {"code": "no_text",
			"message": "holds no text: it is empty"}, "document_id": null}], "next_cursor": null}`}},
		"sources.runs.cancel": {{Name: "left", Summary: "One that is left",
			Parameters: map[string]string{"id": exampleTickets, "run": exampleLeft},
			Answer: `{"id": "` + exampleLeft + `", "source_id": "` + exampleTickets + `", "trigger": "manual", "mode": "full",
			"status": "cancelled", "counts": ` + none + `, "error": null, ` + created + `,
			"started_at": "2026-11-24T04:30:00.100000Z", "heartbeat_at": "2026-11-24T04:30:00.100000Z",
			"finished_at": "2026-11-24T04:30:09.000000Z"}`}},
		"sources.runs.retry_failed": {{Name: "one", Summary: "One", Status: 202, Parameters: ofRun,
			Answer: `{"id": "run_019e2b4e-1b28-7e3a-9f51-7c8d9e0f1a32", "source_id": "` + exampleFolder +
				`", "trigger": "manual", "mode": "incremental", "status": "queued", "counts": ` + none +
				`, "error": null, ` + created + `, "started_at": null, "heartbeat_at": null, "finished_at": null}`}},
		"sources.runs.complete": {{Name: "snapshot", Summary: "Everything was brought", Status: 202,
			Parameters: map[string]string{"id": exampleTickets, "run": exampleFilled}, Body: `{"snapshot": true}`,
			Answer: `{"id": "` + exampleFilled + `", "source_id": "` + exampleTickets + `", "trigger": "manual", "mode": "full",
			"status": "queued", "counts": {"seen": 1, "created": 1, "updated": 0, "unchanged": 0, "deleted": 0, "withheld": 0,
			"failed": 0, "skipped": 0}, "error": null, ` + created + `, "started_at": "2026-11-24T04:30:00.100000Z",
			"heartbeat_at": "2026-11-24T04:30:04.000000Z", "finished_at": null}`}},
	}
}
