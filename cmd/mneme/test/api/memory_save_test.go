package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/core/key"
)

// TestMemorySavesRace: of what says the same one is kept, the last places of a quota
// go to as many as there are, and repeats under one key write once and answer the
// same.
func TestMemorySavesRace(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", quotas(5, 0, 0))
		race := func(n int, path string, body func(i int) object, headers ...string) []*reply {
			var all sync.WaitGroup
			replies := make([]*reply, n)
			for i := range n {
				all.Go(func() { replies[i] = s.post(path, body(i), headers...) })
			}
			all.Wait()
			return replies
		}
		created := 0
		for _, r := range race(16, "/api/v1/memories",
			func(int) object { return object{"endUserId": "cat", "content": "All at once."} }) {
			if r.ok().json["created"] == true {
				created++
			}
		}
		if got := len(s.memories("cat")); created != 1 || got != 1 {
			t.Errorf("%d of the racing saves created one; %d memories", created, got)
		}
		for _, r := range race(12, "/api/v1/memories",
			func(i int) object { return object{"endUserId": "dog", "content": fmt.Sprintf("place %d", i)} }) {
			if r.status != 200 {
				r.refuses(403, "quota_exceeded", "limit", 5)
			}
		}
		if got := len(s.memories("dog")); got != 5 {
			t.Errorf("%d memories under a limit of 5", got)
		}
		var bodies []string
		batch := object{"endUserId": "eel", "memories": []object{{"content": "A."}, {"content": "B."}}}
		for _, r := range race(8, "/api/v1/memories/batch", func(int) object { return batch }, "Idempotency-Key", "k") {
			bodies = append(bodies, string(r.ok().body))
		}
		slices.Sort(bodies)
		if got := slices.Compact(bodies); len(got) != 1 || !strings.Contains(got[0], `"created":true`) {
			t.Errorf("racing repeats answered %v", got)
		}
		if got := len(s.memories("eel")); got != 2 {
			t.Errorf("racing repeats left %d memories", got)
		}
	})
}

func TestMemoryListAndDelete(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		var want []string // newest first
		for i := range 23 {
			want = append([]string{s.save("ann", fmt.Sprintf("Memory %d.", i), "occurredAt",
				fmt.Sprintf("2026-01-%02dT00:00:00Z", 1+i/2), "containerTag", []string{"a", "b"}[i%2])}, want...)
		}
		r := s.get("/api/v1/memories?endUserId=ann&limit=1").ok()
		fields(t, "a page", r.json, "success", "memories", "nextCursor")
		fields(t, "a memory", r.list("memories")[0], "id", "content", "containerTag", "metadata", "created_at",
			"updated_at", "source", "externalId")
		walk := func(query string) (all []string) {
			t.Helper()
			cursor := ""
			for {
				r := s.get("/api/v1/memories?endUserId=ann&limit=4" + query + "&cursor=" + cursor).ok()
				all = append(all, column(r.list("memories"), "id")...)
				next, more := r.json["nextCursor"].(string)
				if !more {
					return all
				}
				cursor = next
			}
		}
		if got := walk(""); len(got) != 23 ||
			!slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("pages give %v, want %v", got, want)
		}
		at := -1.0
		for _, m := range slices.Backward(s.memories("ann")) {
			if m["created_at"].(float64) < at {
				t.Errorf("not newest first: %v", m)
			}
			at = m["created_at"].(float64)
		}
		if got := walk("&containerTag=b"); len(got) != 11 {
			t.Errorf("container b has %d", len(got))
		}
		if got := s.get("/api/v1/memories?endUserId=ann").ok().list("memories"); len(got) != 23 {
			t.Errorf("the default page has %d", len(got))
		}
		if got := walk("&containerTag=none"); len(got) != 0 {
			t.Errorf("an unknown container has %v", got)
		}
		// A cursor is of its list alone.
		cursor := s.get("/api/v1/memories?endUserId=ann&limit=4").ok().json["nextCursor"].(string)
		for _, other := range []string{"endUserId=bob", "endUserId=ann&containerTag=a"} {
			s.get("/api/v1/memories?limit=4&"+other+"&cursor="+cursor).refuses(400, "invalid_request", "field", "cursor")
		}

		owned, _ := s.upsert("ann", "crm", "x", 1, "Owned.").applied("created", 1)
		s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []any{want[0], owned["documentId"]}}).refuses(409,
			"conflict")
		if got := len(s.memories("ann")); got != 24 {
			t.Errorf("a refused deletion left %d", got)
		}
		got := s.post("/api/v1/memories/delete",
			object{"endUserId": "ann", "ids": []any{want[0], want[1], want[0], "mem_unknown"}}).ok()
		fields(t, "a deletion", got.json, "success", "deleted")
		if got.json["deleted"] != 2.0 {
			t.Errorf("%s", got.body)
		}
		if got := s.post("/api/v1/memories/delete",
			object{"endUserId": "ann", "ids": []any{want[0]}}).ok(); got.json["deleted"] != 0.0 || got.json["success"] != true {
			t.Errorf("again: %s", got.body)
		}
		if got := s.post("/api/v1/memories/delete",
			object{"endUserId": "nobody", "ids": []any{want[2]}}).ok(); got.json["deleted"] != 0.0 {
			t.Errorf("of another end user: %s", got.body)
		}
		if got := s.search("ann", "memory 22", "limit", 100); len(got) != 22 || slices.Contains(column(got, "id"), want[0]) {
			t.Errorf("search after deletion finds %d", len(got))
		}
		// With the last memory gone the end user is still known, and works.
		s.save("cat", "Only one.")
		s.post("/api/v1/memories/delete", object{"endUserId": "cat", "ids": []any{s.memories("cat")[0]["id"]}}).ok()
		if got := s.search("cat", "one"); len(got) != 0 {
			t.Errorf("found %v", got)
		}
		s.save("cat", "Only one.")
		if got := s.search("cat", "one"); len(got) != 1 {
			t.Errorf("found %v", got)
		}
	})
}

// TestMemoryWritesAreSearchableAndDurable saves, stops and starts again.
func TestMemoryWritesAreDurable(t *testing.T) {
	everywhere(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", func(in *key.Issue) {})
		for i := range 150 { // more than the index keeps in its head
			s.save("ann", fmt.Sprintf("Durable memory number %d.", i), "containerTag", fmt.Sprintf("c%d", i%3))
		}
		check := func(s *server) {
			t.Helper()
			for _, i := range []int{0, 77, 149} {
				if got := s.search("ann", fmt.Sprintf("durable memory number %d", i), "containerTag",
					fmt.Sprintf("c%d", i%3), "limit", 3); len(got) != 3 ||
					got[0]["matchedContent"] != fmt.Sprintf("Durable memory number %d.", i) {
					t.Errorf("%d: %v", i, got)
				}
			}
			if got := len(s.memories("ann")); got != 150 {
				t.Errorf("%d memories", got)
			}
		}
		check(s)
		check(s.restart(nil).as(s.key))
	})
}
