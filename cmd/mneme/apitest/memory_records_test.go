package apitest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(h[:])
}

// applied checks an answer about a record and returns its record and receipt.
func (r *reply) applied(outcome string, version int) (record, receipt object) {
	r.t.Helper()
	r.ok()
	fields(r.t, "an answer", r.json, "success", "record", "receipt")
	record, receipt = r.json["record"].(object), r.json["receipt"].(object)
	fields(r.t, "a record", record, "source", "externalId", "version", "status", "occurredAt", "updatedAt", "documentId", "contentHash")
	fields(r.t, "a receipt", receipt, "source", "externalId", "version", "operation", "requestHash", "outcome", "occurredAt", "appliedAt", "documentId", "contentHash")
	if r.json["success"] != true || receipt["outcome"] != outcome || receipt["version"] != float64(version) {
		r.t.Errorf("%s: outcome %v of version %v, want %s of %d", r.call, receipt["outcome"], receipt["version"], outcome, version)
	}
	for _, f := range []string{"source", "externalId", "version", "documentId", "occurredAt", "contentHash"} {
		if record[f] != receipt[f] {
			r.t.Errorf("%s: %s is %v in the record and %v in the receipt", r.call, f, record[f], receipt[f])
		}
	}
	return record, receipt
}

// replayed checks the header of an answer that was given before.
func (r *reply) replayed(want bool) *reply {
	r.t.Helper()
	if got := r.header.Get("Idempotent-Replayed"); (got == "true") != want || got != "" && got != "true" {
		r.t.Errorf("%s: Idempotent-Replayed is %q", r.call, got)
	}
	return r
}

// TestMemoryVersions goes through every row of the table of versions.
func TestMemoryVersions(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", quotas(2, 0, 0))
		const u, crm = "ann", "crm"

		// No record, upsert.
		rec, receipt := s.upsert(u, crm, "a", 5, "The first text.", "containerTag", "box", "metadata", object{"n": 1}).replayed(false).applied("created", 5)
		id := rec["documentId"].(string)
		if !regexp.MustCompile(`^mem_[A-Za-z0-9_-]{20,}$`).MatchString(id) || rec["status"] != "active" || rec["contentHash"] != sum("The first text.") ||
			rec["occurredAt"] != "2026-01-02T03:04:05Z" || receipt["operation"] != "upsert" ||
			receipt["requestHash"] != sum(`{"containerTag":"box","content":"The first text.","endUserId":"ann","externalId":"a","metadata":{"n":1},"occurredAt":"2026-01-02T03:04:05Z","operation":"upsert","source":"crm","version":5}`) {
			t.Errorf("created: %v %v", rec, receipt)
		}
		if got := s.record(u, crm, "a").ok(); string(got.body) != string(s.upsert(u, crm, "a", 5, "The first text.", "containerTag", "box", "metadata", object{"n": 1}).body) {
			t.Errorf("GET and a repeated PUT differ: %s", got.body)
		}

		// Equal, same request: spelling and order of JSON do not count.
		again := s.do("PUT", "/api/v1/memories/a", raw(`{"version":5, "source":"crm", "metadata":{"n":1.0}, "content":"The first\u0020text.", "occurredAt":"2026-01-02T03:04:05Z", "endUserId":"ann", "containerTag":"box"}`))
		if _, r := again.replayed(true).applied("created", 5); fmt.Sprint(r) != fmt.Sprint(receipt) {
			t.Errorf("replayed %v, first %v", r, receipt)
		}
		// Equal, other request.
		s.upsert(u, crm, "a", 5, "The other text.", "containerTag", "box").refuses(409, "version_conflict", "currentVersion", 5, "status", "active")
		s.upsert(u, crm, "a", 5, "The first text.", "containerTag", "box").refuses(409, "version_conflict", "currentVersion", 5)
		s.tombstone(u, crm, "a", 5).refuses(409, "version_conflict", "currentVersion", 5)
		// Lower.
		s.upsert(u, crm, "a", 4, "The first text.").refuses(409, "stale_version", "currentVersion", 5, "status", "active")
		s.tombstone(u, crm, "a", 1).refuses(409, "stale_version", "currentVersion", 5, "status", "active")
		if got := s.search(u, "first text"); len(got) != 1 || got[0]["id"] != id || got[0]["matchedContent"] != "The first text." {
			t.Errorf("refused versions changed %v", got)
		}

		// Higher, same content and metadata.
		rec, _ = s.upsert(u, crm, "a", 7, "The first text.", "containerTag", "box", "metadata", object{"n": 1}).applied("unchanged", 7)
		if rec["documentId"] != id || rec["version"] != 7.0 {
			t.Errorf("unchanged: %v", rec)
		}
		// ... at another time: the memory stands at the newest one.
		s.upsert(u, crm, "a", 8, "The first text.", "containerTag", "box", "metadata", object{"n": 1}, "occurredAt", "2026-02-03T04:05:06.789Z").applied("unchanged", 8)
		if got := s.search(u, "first text", "createdAfter", 1770091506788, "createdBefore", 1770091506790); len(got) != 1 || got[0]["created_at"] != 1770091506789.0 {
			t.Errorf("after a version of another time: %v", got)
		}
		// Higher, other metadata; other container; other content.
		s.upsert(u, crm, "a", 9, "The first text.", "containerTag", "box", "metadata", object{"n": 2}).applied("updated", 9)
		s.upsert(u, crm, "a", 10, "The first text.", "containerTag", "bag", "metadata", object{"n": 2}).applied("updated", 10)
		if got := s.search(u, "first text", "containerTag", "bag"); len(got) != 1 || fmt.Sprint(got[0]["metadata"]) != "map[n:2]" || got[0]["container_tag"] != "bag" {
			t.Errorf("after a move: %v", got)
		}
		if got := s.search(u, "first text", "containerTag", "box"); len(got) != 0 {
			t.Errorf("still in the old container: %v", got)
		}
		rec, _ = s.upsert(u, crm, "a", 11, "Something else altogether.").applied("updated", 11)
		if got := s.search(u, "something else"); len(got) != 1 || got[0]["id"] != id || got[0]["matchedContent"] != "Something else altogether." || got[0]["container_tag"] != nil || rec["documentId"] != id {
			t.Errorf("updated: %v", got)
		}

		// Higher, tombstone.
		rec, receipt = s.tombstone(u, crm, "a", 12, "&occurredAt=2026-03-04T05:06:07Z").replayed(false).applied("tombstoned", 12)
		if rec["status"] != "tombstoned" || rec["contentHash"] != "" || rec["documentId"] != id || receipt["operation"] != "tombstone" || rec["occurredAt"] != "2026-03-04T05:06:07Z" ||
			receipt["requestHash"] != sum(`{"endUserId":"ann","externalId":"a","occurredAt":"2026-03-04T05:06:07Z","operation":"tombstone","source":"crm","version":12}`) {
			t.Errorf("tombstoned: %v %v", rec, receipt)
		}
		if got := s.memories(u); len(got) != 0 {
			t.Errorf("a tombstone left %v", got)
		}
		if got := s.search(u, "something else"); len(got) != 0 {
			t.Errorf("a tombstone left %v", got)
		}
		s.tombstone(u, crm, "a", 12, "&occurredAt=2026-03-04T05:06:07Z").replayed(true).applied("tombstoned", 12)
		s.tombstone(u, crm, "a", 12).refuses(409, "version_conflict", "currentVersion", 12, "status", "tombstoned")
		s.upsert(u, crm, "a", 12, "x").refuses(409, "version_conflict", "currentVersion", 12, "status", "tombstoned")
		s.upsert(u, crm, "a", 11, "Something else altogether.").refuses(409, "stale_version", "currentVersion", 12, "status", "tombstoned")
		s.record(u, crm, "a").applied("tombstoned", 12)
		// Tombstoned, higher tombstone; without a time it is that of the call.
		rec, _ = s.tombstone(u, crm, "a", 13).applied("tombstoned", 13)
		if at, err := time.Parse(time.RFC3339, rec["occurredAt"].(string)); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("a tombstone without a time stands at %v", rec["occurredAt"])
		}
		// Higher, upsert, tombstoned.
		rec, _ = s.upsert(u, crm, "a", 14, "Back again.").applied("restored", 14)
		if got := s.search(u, "back again"); len(got) != 1 || got[0]["id"] != id || rec["documentId"] != id || rec["status"] != "active" {
			t.Errorf("restored: %v", got)
		}

		// No record, tombstone: a late upsert cannot bring it to life.
		rec, _ = s.tombstone(u, crm, "b", 3).applied("tombstoned", 3)
		s.upsert(u, crm, "b", 2, "Late.").refuses(409, "stale_version", "currentVersion", 3, "status", "tombstoned")
		if got, _ := s.upsert(u, crm, "b", 4, "Alive.").applied("restored", 4); got["documentId"] != rec["documentId"] {
			t.Errorf("restored as %v, was %v", got["documentId"], rec["documentId"])
		}

		// Created and restored count against the quota of 2; nothing else does.
		s.upsert(u, crm, "c", 1, "One too many.").refuses(403, "quota_exceeded", "quota", "memoriesPerEndUser", "limit", 2, "used", 2)
		s.record(u, crm, "c").refuses(404, "memory_not_found")
		s.upsert(u, crm, "a", 15, "Full, but an update.").applied("updated", 15)
		s.upsert(u, crm, "a", 15, "Full, but an update.").replayed(true).applied("updated", 15)
		s.tombstone(u, crm, "b", 5).applied("tombstoned", 5)
		s.upsert(u, crm, "c", 1, "Room again.").applied("created", 1)
		s.upsert(u, crm, "b", 6, "No room.").refuses(403, "quota_exceeded")
		s.record(u, crm, "b").applied("tombstoned", 5)

		// A record is its source's, its end user's and its integration's alone.
		s.record(u, "other", "a").refuses(404, "memory_not_found")
		s.record("bob", crm, "a").refuses(404, "memory_not_found")
		other := s.integration("other-app", nil)
		other.record(u, crm, "a").refuses(404, "memory_not_found")
		other.upsert(u, crm, "a", 1, "Mine.").applied("created", 1)
		s.record(u, crm, "a").applied("updated", 15)

		// Everything is there after a restart, byte for byte.
		before := s.record(u, crm, "a").body
		next := s.restart(nil).as(s.key)
		if after := next.record(u, crm, "a").body; string(after) != string(before) {
			t.Errorf("after a restart %s, before %s", after, before)
		}
		next.upsert(u, crm, "a", 15, "Full, but an update.").replayed(true).applied("updated", 15)
		next.upsert(u, crm, "a", 14, "Back again.").refuses(409, "stale_version")
		if got := next.search(u, "full update"); len(got) != 2 || got[0]["id"] != id {
			t.Errorf("after a restart: %v", got)
		}
	})
}

// TestMemoryVersionRaces lets writers race: the same version has one winner,
// different ones end in the highest, and no receipt is lost.
func TestMemoryVersionRaces(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		const rounds, writers = 12, 6
		for round := range rounds {
			id := fmt.Sprintf("r%d", round)
			answers := make([]*reply, writers)
			var wg sync.WaitGroup
			for w := range writers {
				wg.Add(1)
				go func() {
					defer wg.Done()
					text, version := fmt.Sprintf("Writer %d of round %d.", w, round), 1
					if round%2 == 1 {
						version = w + 1
					}
					if round%3 == 2 {
						text = "The same."
					}
					answers[w] = s.upsert("ann", "crm", id, version, text)
				}()
			}
			wg.Wait()
			winners, replays, stale := 0, 0, 0
			for w, a := range answers {
				switch {
				case a.status == 200 && a.header.Get("Idempotent-Replayed") != "":
					replays++
				case a.status == 200:
					winners++
				case a.json["code"] == "stale_version" && round%2 == 1, a.json["code"] == "version_conflict" && round%2 == 0:
					stale++
				default:
					t.Errorf("writer %d of round %d: %d %s", w, round, a.status, clip(a.body))
				}
			}
			last := s.record("ann", "crm", id).ok()
			record, receipt := last.json["record"].(object), last.json["receipt"].(object)
			found := s.memories("ann")
			live := 0
			for _, m := range found {
				if m["externalId"] == id {
					live++
					if sum(m["content"].(string)) != record["contentHash"] || m["id"] != record["documentId"] || receipt["contentHash"] != record["contentHash"] {
						t.Errorf("round %d: memory %v does not belong to %v", round, m, record)
					}
				}
			}
			if live != 1 {
				t.Errorf("round %d has %d memories", round, live)
			}
			switch {
			case round%2 == 1: // different versions: the highest always wins
				if record["version"] != float64(writers) || answers[writers-1].status != 200 {
					t.Errorf("round %d ends in %v", round, record)
				}
			case round%3 == 2: // the same request from all
				if winners != 1 || replays != writers-1 {
					t.Errorf("round %d: %d winners, %d replays", round, winners, replays)
				}
			default:
				if winners != 1 || stale != writers-1 {
					t.Errorf("round %d: %d winners, %d conflicts", round, winners, stale)
				}
			}
		}
	})
}

// TestMemoryLogInAnyOrder delivers a log of versions in random order with
// repeats: the end is the same as in order.
func TestMemoryLogInAnyOrder(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		const events, records = 1000, 60
		type event struct {
			id      string
			version int
			gone    bool
			text    string
			tag     string
			at      time.Time
		}
		rng := rand.New(rand.NewPCG(1, 2))
		log := make([]event, events)
		versions := map[string]int{}
		base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range log {
			e := event{id: fmt.Sprintf("r%d", rng.IntN(records)), text: fmt.Sprintf("Subject %d is in state %d.", rng.IntN(40), rng.IntN(5)),
				tag: []string{"", "a", "b"}[rng.IntN(3)], gone: rng.IntN(4) == 0, at: base.Add(time.Duration(i) * time.Minute)}
			versions[e.id] += 1 + rng.IntN(3)
			e.version = versions[e.id]
			log[i] = e
		}
		root := start(t, b, options{})
		send := func(s *server, e event) {
			at := e.at.Format(time.RFC3339)
			var r *reply
			if e.gone {
				r = s.tombstone("ann", "crm", e.id, e.version, "&occurredAt="+at)
			} else if e.tag == "" {
				r = s.upsert("ann", "crm", e.id, e.version, e.text, "occurredAt", at)
			} else {
				r = s.upsert("ann", "crm", e.id, e.version, e.text, "occurredAt", at, "containerTag", e.tag)
			}
			if r.status != 200 && r.json["code"] != "stale_version" {
				t.Errorf("%v: %d %s", e, r.status, clip(r.body))
			}
		}
		state := func(s *server) string {
			var out strings.Builder
			for i := range records {
				r := s.record("ann", "crm", fmt.Sprintf("r%d", i)).ok()
				rec, receipt := r.json["record"].(object), r.json["receipt"].(object)
				fmt.Fprintln(&out, rec["externalId"], rec["version"], rec["status"], rec["occurredAt"], rec["contentHash"], receipt["requestHash"], receipt["operation"])
			}
			for _, m := range s.memories("ann") {
				fmt.Fprintln(&out, m["externalId"], m["content"], m["containerTag"], m["created_at"])
			}
			for _, q := range []object{{}, {"containerTag": "a"}, {"createdAfter": base.Add(500 * time.Minute).UnixMilli()}} {
				q["endUserId"], q["query"], q["limit"] = "ann", "subject 7 state 3", 100
				got := map[string]bool{}
				for _, r := range s.post("/api/v1/search", q).ok().list("results") {
					got[fmt.Sprint(r["matchedContent"], r["container_tag"], r["created_at"])] = true
				}
				fmt.Fprintln(&out, len(got), got)
			}
			return out.String()
		}
		ordered := root.integration("ordered", nil)
		for _, e := range log {
			send(ordered, e)
		}
		want := state(ordered)

		shuffled := root.integration("shuffled", nil)
		deliveries := append(append([]event{}, log...), log[:events/3]...)
		rng.Shuffle(len(deliveries), func(i, j int) { deliveries[i], deliveries[j] = deliveries[j], deliveries[i] })
		var wg sync.WaitGroup
		const lanes = 4
		for lane := range lanes {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := lane; i < len(deliveries); i += lanes {
					send(shuffled, deliveries[i])
				}
			}()
		}
		wg.Wait()
		if got := state(shuffled); got != want {
			t.Errorf("out of order ends in\n%s\nin order in\n%s", got, want)
		}
	})
}
