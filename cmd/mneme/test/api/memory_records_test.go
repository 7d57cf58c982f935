package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
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
	fields(r.t, "a record", record, "source", "externalId", "version", "status", "occurredAt", "updatedAt",
		"documentId", "contentHash")
	fields(r.t, "a receipt", receipt, "source", "externalId", "version", "operation", "requestHash", "outcome",
		"occurredAt", "appliedAt", "documentId", "contentHash")
	if r.json["success"] != true || receipt["outcome"] != outcome || receipt["version"] != float64(version) {
		r.t.Errorf("%s: outcome %v of version %v, want %s of %d", r.call, receipt["outcome"], receipt["version"],
			outcome, version)
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
					if sum(m["content"].(string)) != record["contentHash"] || m["id"] != record["documentId"] ||
						receipt["contentHash"] != record["contentHash"] {
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
			e := event{
				id:   fmt.Sprintf("r%d", rng.IntN(records)),
				text: fmt.Sprintf("Subject %d is in state %d.", rng.IntN(40), rng.IntN(5)),
				tag:  []string{"", "a", "b"}[rng.IntN(3)],
				gone: rng.IntN(4) == 0,
				at:   base.Add(time.Duration(i) * time.Minute),
			}
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
				fmt.Fprintln(&out, rec["externalId"], rec["version"], rec["status"], rec["occurredAt"],
					rec["contentHash"], receipt["requestHash"], receipt["operation"])
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
