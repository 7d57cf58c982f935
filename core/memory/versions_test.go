package memory_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// TestMemoryVersions goes through every row of the table of versions.
func TestMemoryVersions(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 2)
	const u, crm = "ann", "crm"

	// No record, upsert.
	rec, receipt := s.upsert(u, crm, "a", 5, "The first text.", "containerTag", "box", "metadata",
		coretest.Object{"n": 1}).replayed(false).applied("created", 5)
	id := rec["documentId"].(string)
	if !regexp.MustCompile(`^mem_[A-Za-z0-9_-]{20,}$`).MatchString(id) || rec["status"] != "active" ||
		rec["contentHash"] != sum("The first text.") ||
		rec["occurredAt"] != "2026-01-02T03:04:05Z" || receipt["operation"] != "upsert" ||
		receipt["requestHash"] != sum(`{"containerTag":"box","content":"The first `+
			`text.","endUserId":"ann","externalId":"a","metadata":{"n":1},"occurredAt":"2026-01-02T03:04:05Z",`+
			`"operation":"upsert","source":"crm","version":5}`) {
		t.Errorf("created: %v %v", rec, receipt)
	}
	if got := s.record(u, crm, "a").OK(); string(got.Body) != string(s.upsert(u, crm, "a", 5, "The first text.",
		"containerTag", "box", "metadata", coretest.Object{"n": 1}).Body) {
		t.Errorf("GET and a repeated PUT differ: %s", got.Body)
	}

	// Equal, same request: the spelling of JSON does not count.
	again := s.upsert(u, crm, "a", 5, "The first text.", "containerTag", "box", "metadata", json.RawMessage(`{"n":1.0}`))
	if _, r := again.replayed(true).applied("created", 5); fmt.Sprint(r) != fmt.Sprint(receipt) {
		t.Errorf("replayed %v, first %v", r, receipt)
	}
	// Equal, other request.
	s.upsert(u, crm, "a", 5, "The other text.", "containerTag", "box").Fails("version_conflict").Details("currentVersion",
		5, "status", "active")
	s.upsert(u, crm, "a", 5, "The first text.", "containerTag", "box").Fails("version_conflict").Details("currentVersion", 5)
	s.tombstone(u, crm, "a", 5, "").Fails("version_conflict").Details("currentVersion", 5)
	// Lower.
	s.upsert(u, crm, "a", 4, "The first text.").Fails("stale_version").Details("currentVersion", 5, "status", "active")
	s.tombstone(u, crm, "a", 1, "").Fails("stale_version").Details("currentVersion", 5, "status", "active")
	if got := s.search(u, "first text"); len(got) != 1 || got[0]["id"] != id || got[0]["matchedContent"] != "The first text." {
		t.Errorf("refused versions changed %v", got)
	}

	// Higher, same content and metadata.
	rec, _ = s.upsert(u, crm, "a", 7, "The first text.", "containerTag", "box", "metadata",
		coretest.Object{"n": 1}).applied("unchanged", 7)
	if rec["documentId"] != id || rec["version"] != 7.0 {
		t.Errorf("unchanged: %v", rec)
	}
	// ... at another time: the memory stands at the newest one.
	s.upsert(u, crm, "a", 8, "The first text.", "containerTag", "box", "metadata", coretest.Object{"n": 1},
		"occurredAt", "2026-02-03T04:05:06.789Z").applied("unchanged", 8)
	if got := s.search(u, "first text", "createdAfter", 1770091506788, "createdBefore", 1770091506790); len(got) != 1 ||
		got[0]["created_at"] != 1770091506789.0 {
		t.Errorf("after a version of another time: %v", got)
	}
	// Higher, other metadata; other container; other content.
	s.upsert(u, crm, "a", 9, "The first text.", "containerTag", "box", "metadata", coretest.Object{"n": 2}).applied("updated", 9)
	s.upsert(u, crm, "a", 10, "The first text.", "containerTag", "bag", "metadata", coretest.Object{"n": 2}).applied("updated",
		10)
	if got := s.search(u, "first text", "containerTag", "bag"); len(got) != 1 ||
		fmt.Sprint(got[0]["metadata"]) != "map[n:2]" || got[0]["container_tag"] != "bag" {
		t.Errorf("after a move: %v", got)
	}
	if got := s.search(u, "first text", "containerTag", "box"); len(got) != 0 {
		t.Errorf("still in the old container: %v", got)
	}
	rec, _ = s.upsert(u, crm, "a", 11, "Something else altogether.").applied("updated", 11)
	if got := s.search(u, "something else"); len(got) != 1 || got[0]["id"] != id ||
		got[0]["matchedContent"] != "Something else altogether." || got[0]["container_tag"] != "" || rec["documentId"] != id {
		t.Errorf("updated: %v", got)
	}

	// Higher, tombstone.
	rec, receipt = s.tombstone(u, crm, "a", 12, "2026-03-04T05:06:07Z").replayed(false).applied("tombstoned", 12)
	if rec["status"] != "tombstoned" || rec["contentHash"] != "" || rec["documentId"] != id ||
		receipt["operation"] != "tombstone" || rec["occurredAt"] != "2026-03-04T05:06:07Z" ||
		receipt["requestHash"] != sum(`{"endUserId":"ann","externalId":"a","occurredAt":"2026-03-04T05:06:07Z",`+
			`"operation":"tombstone","source":"crm","version":12}`) {
		t.Errorf("tombstoned: %v %v", rec, receipt)
	}
	if got := s.list(u); len(got) != 0 {
		t.Errorf("a tombstone left %v", got)
	}
	if got := s.search(u, "something else"); len(got) != 0 {
		t.Errorf("a tombstone left %v", got)
	}
	s.tombstone(u, crm, "a", 12, "2026-03-04T05:06:07Z").replayed(true).applied("tombstoned", 12)
	s.tombstone(u, crm, "a", 12, "").Fails("version_conflict").Details("currentVersion", 12, "status", "tombstoned")
	s.upsert(u, crm, "a", 12, "x").Fails("version_conflict").Details("currentVersion", 12, "status", "tombstoned")
	s.upsert(u, crm, "a", 11, "Something else altogether.").Fails("stale_version").Details("currentVersion", 12,
		"status", "tombstoned")
	s.record(u, crm, "a").applied("tombstoned", 12)
	// Tombstoned, higher tombstone; without a time it is that of the call.
	rec, _ = s.tombstone(u, crm, "a", 13, "").applied("tombstoned", 13)
	if at, err := time.Parse(time.RFC3339, rec["occurredAt"].(string)); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("a tombstone without a time stands at %v", rec["occurredAt"])
	}
	// Higher, upsert, tombstoned.
	rec, _ = s.upsert(u, crm, "a", 14, "Back again.").applied("restored", 14)
	if got := s.search(u, "back again"); len(got) != 1 || got[0]["id"] != id || rec["documentId"] != id ||
		rec["status"] != "active" {
		t.Errorf("restored: %v", got)
	}

	// No record, tombstone: a late upsert cannot bring it to life.
	rec, _ = s.tombstone(u, crm, "b", 3, "").applied("tombstoned", 3)
	s.upsert(u, crm, "b", 2, "Late.").Fails("stale_version").Details("currentVersion", 3, "status", "tombstoned")
	if got, _ := s.upsert(u, crm, "b", 4, "Alive.").applied("restored", 4); got["documentId"] != rec["documentId"] {
		t.Errorf("restored as %v, was %v", got["documentId"], rec["documentId"])
	}

	// Created and restored count against the quota of 2; nothing else does.
	s.upsert(u, crm, "c", 1, "One too many.").Fails("quota_exceeded").Details("quota", "memoriesPerEndUser", "limit", 2,
		"used", 2)
	s.record(u, crm, "c").Fails("memory_not_found")
	s.upsert(u, crm, "a", 15, "Full, but an update.").applied("updated", 15)
	s.upsert(u, crm, "a", 15, "Full, but an update.").replayed(true).applied("updated", 15)
	s.tombstone(u, crm, "b", 5, "").applied("tombstoned", 5)
	s.upsert(u, crm, "c", 1, "Room again.").applied("created", 1)
	s.upsert(u, crm, "b", 6, "No room.").Fails("quota_exceeded")
	s.record(u, crm, "b").applied("tombstoned", 5)

	// A record is its source's, its end user's and its integration's alone.
	s.record(u, "other", "a").Fails("memory_not_found")
	s.record("bob", crm, "a").Fails("memory_not_found")
	other := s.integration("other-app", 0)
	other.record(u, crm, "a").Fails("memory_not_found")
	other.upsert(u, crm, "a", 1, "Mine.").applied("created", 1)
	s.record(u, crm, "a").applied("updated", 15)

	// Everything is there after a restart, byte for byte.
	before := s.record(u, crm, "a").Body
	next := s.as(s.restart())
	if after := next.record(u, crm, "a").Body; string(after) != string(before) {
		t.Errorf("after a restart %s, before %s", after, before)
	}
	next.upsert(u, crm, "a", 15, "Full, but an update.").replayed(true).applied("updated", 15)
	next.upsert(u, crm, "a", 14, "Back again.").Fails("stale_version")
	if got := next.search(u, "full update"); len(got) != 2 || got[0]["id"] != id {
		t.Errorf("after a restart: %v", got)
	}
}
