package apitest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/key"
)

// TestMemoryDedup keeps one memory of what says the same, byte for byte but for
// normal form and white space around it, and only that.
func TestMemoryDedup(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		save := func(user, content string, more ...any) object {
			t.Helper()
			body := object{"endUserId": user, "content": content}
			for i := 0; i+1 < len(more); i += 2 {
				body[more[i].(string)] = more[i+1]
			}
			r := s.post("/api/v1/memories", body).ok()
			fields(t, "a saved memory", r.json, "success", "memory", "deduped", "created")
			if r.json["success"] != true || r.json["deduped"] == r.json["created"] {
				t.Errorf("%s", r.body)
			}
			return r.json
		}
		first := save("ann", "Caf\u00e9 at noon.")
		if first["created"] != true {
			t.Fatalf("%v", first)
		}
		for _, same := range []string{"Caf\u00e9 at noon.", " Caf\u00e9 at noon.\n", "Cafe\u0301 at noon.", "\u00a0Cafe\u0301 at noon.\t"} {
			if got := save("ann", same, "metadata", object{"n": 1}); got["deduped"] != true || fmt.Sprint(got["memory"]) != fmt.Sprint(first["memory"]) {
				t.Errorf("%q: %v", same, got)
			}
		}
		for _, other := range []string{"caf\u00e9 at noon.", "Caf\u00e9  at noon.", "Caf\u00e9 at noon", "Cafe at noon."} {
			if got := save("ann", other); got["created"] != true {
				t.Errorf("%q: %v", other, got)
			}
		}
		if got := save("ann", "Caf\u00e9 at noon.", "containerTag", "x"); got["created"] != true {
			t.Errorf("in another container: %v", got)
		}
		if got := save("bob", "Caf\u00e9 at noon."); got["created"] != true {
			t.Errorf("of another end user: %v", got)
		}
		// A memory that a source owns is its own.
		s.upsert("ann", "crm", "a", 1, "Owned by the source.").ok()
		if got := save("ann", "Owned by the source."); got["created"] != true {
			t.Errorf("the same as a source's: %v", got)
		}
		if got := len(s.memories("ann")); got != 8 {
			t.Errorf("%d memories, want 8", got)
		}
		// The first one is kept verbatim.
		for _, m := range s.memories("ann") {
			if m["id"] == first["memory"].(object)["id"] && (m["content"] != "Caf\u00e9 at noon." || fmt.Sprint(m["metadata"]) != "map[]") {
				t.Errorf("a duplicate changed %v", m)
			}
		}
		// Racing duplicates make one.
		var wg sync.WaitGroup
		created := make(chan any, 16)
		for range cap(created) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				created <- s.post("/api/v1/memories", object{"endUserId": "cat", "content": "All at once."}).json["created"]
			}()
		}
		wg.Wait()
		close(created)
		n := 0
		for c := range created {
			if c == true {
				n++
			}
		}
		if n != 1 || len(s.memories("cat")) != 1 {
			t.Errorf("%d of the racing saves created one; %d memories", n, len(s.memories("cat")))
		}
	})
}

func TestMemoryBatch(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		old := s.save("ann", "An old one.")
		big := strings.Repeat("x", 64<<10)
		r := s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": []object{
			{"content": "The first."}, {"content": big + "y"}, {"content": " The first. "}, {"content": "The first.", "containerTag": "c"},
			{"content": "An old one."}, {"content": big}, {"content": ""}, {}, {"content": "z", "containerTag": "no tag"}, {"content": "z", "metadata": object{"a": object{}}},
			{"content": "a\x00b"}, {"content": "Dated.", "occurredAt": "2020-01-02T03:04:05Z", "metadata": object{"k": []string{"v"}}}, {"content": "z", "occurredAt": "never"},
		}}).ok()
		fields(t, "a batch", r.json, "success", "results")
		if r.json["success"] != false {
			t.Error("a batch with failed items is a success")
		}
		results := r.list("results")
		ids := map[int]string{}
		for i, want := range []string{"created", "payload_too_large: content is 65537 bytes", "deduped 0", "created", "deduped old", "created", "invalid_request: content", "invalid_request: content is required",
			"invalid_container_tag: containerTag", "invalid_request: metadata", "invalid_request: content holds a NUL", "created", "invalid_request: occurredAt"} {
			got := results[i]
			if m, ok := got["memory"].(object); ok {
				ids[i] = m["id"].(string)
			}
			ok := got["success"] == true && got["error"] == nil
			switch want {
			case "created":
				ok = ok && got["created"] == true && got["deduped"] == false && ids[i] != ""
			case "deduped 0":
				ok = ok && got["created"] == false && got["deduped"] == true && ids[i] == ids[0]
			case "deduped old":
				ok = ok && got["created"] == false && got["deduped"] == true && ids[i] == old
			default:
				fields(t, "a failed item", got, "success", "created", "deduped", "error")
				ok = got["success"] == false && got["created"] == false && got["deduped"] == false && strings.HasPrefix(fmt.Sprint(got["error"]), want)
			}
			if !ok {
				t.Errorf("item %d: %v, want %s", i, got, want)
			}
		}
		if len(results) != 13 || len(s.memories("ann")) != 5 {
			t.Errorf("%d results, %d memories", len(results), len(s.memories("ann")))
		}
		if got := s.search("ann", "dated", "createdBefore", 1600000000000); len(got) != 1 || got[0]["id"] != ids[11] || got[0]["created_at"] != 1577934245000.0 {
			t.Errorf("dated: %v", got)
		}
		// 100 items and a MiB are allowed.
		most := items(100, strings.Repeat("word ", 2200))
		for i := range most {
			most[i]["content"] = most[i]["content"].(string)[:(1<<20)/100]
		}
		if r := s.post("/api/v1/memories/batch", object{"endUserId": "bob", "memories": most}).ok(); r.json["success"] != true || len(r.list("results")) != 100 {
			t.Errorf("the largest batch: %s", clip(r.body))
		}
		if got := len(s.memories("bob")); got != 100 {
			t.Errorf("%d memories of the largest batch", got)
		}
		// A batch in which nothing can be saved makes no end user.
		s.post("/api/v1/memories/batch", object{"endUserId": "cat", "memories": []object{{"content": ""}}}, "Idempotency-Key", "none").ok()
		if got := s.roster(); !slices.Equal(got, []string{"ann", "bob"}) {
			t.Errorf("end users %v", got)
		}
	})
}

// TestMemoryQuota counts a whole batch before any of it is written.
func TestMemoryQuota(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		root := start(t, b, options{})
		s := root.integration("app", quotas(5, 0, 0))
		batch := func(contents ...string) *reply {
			t.Helper()
			list := make([]object, len(contents))
			for i, c := range contents {
				list[i] = object{"content": c}
			}
			return s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": list})
		}
		batch("one", "two", "three").ok()
		root.embedder.embedded()
		batch("four", "five", "six").refuses(403, "quota_exceeded", "quota", "memoriesPerEndUser", "limit", 5, "used", 3)
		if got := root.embedder.embedded(); len(got) != 0 {
			t.Errorf("%d texts were embedded for a refused batch", len(got))
		}
		if got := len(s.memories("ann")); got != 3 {
			t.Errorf("a refused batch left %d memories", got)
		}
		// What is there already costs nothing, nor what fails or comes twice.
		batch("one", "two", "three", "four", "four", "five", "").ok()
		batch("one", "five").ok()
		batch("six").refuses(403, "quota_exceeded", "used", 5)
		s.post("/api/v1/memories", object{"endUserId": "ann", "content": "six"}).refuses(403, "quota_exceeded", "limit", 5)
		if got := s.save("ann", "one"); got == "" {
			t.Error("a duplicate was refused at the limit")
		}
		// The quota is of one end user; a deletion makes room.
		s.save("bob", "six")
		id := s.memories("ann")[0]["id"]
		s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []any{id}}).ok()
		s.save("ann", "six")
		batch("seven").refuses(403, "quota_exceeded", "used", 5)

		// Writers that race for the last places never pass the limit.
		var wg sync.WaitGroup
		for w := range 12 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := s.post("/api/v1/memories", object{"endUserId": "race", "content": fmt.Sprintf("place %d", w)})
				if r.status != 200 {
					r.refuses(403, "quota_exceeded", "limit", 5)
				}
			}()
		}
		wg.Wait()
		if got := len(s.memories("race")); got != 5 {
			t.Errorf("%d memories under a limit of 5", got)
		}
	})
}

func TestMemoryIdempotencyKey(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		ahead, clock := shifted()
		root := start(t, b, options{engine: clock})
		s := root.integration("app", quotas(3, 0, 0))
		one := object{"endUserId": "ann", "content": "Once.", "metadata": object{"a": 1, "b": 2}}
		first := s.post("/api/v1/memories", one, "Idempotency-Key", "k1").replayed(false).ok()
		root.embedder.embedded()
		again := s.do("POST", "/api/v1/memories", raw(`{"metadata":{"b":2,"a":1.0},"content":"Once.","endUserId":"ann"}`), "Idempotency-Key", "k1").replayed(true).ok()
		if string(again.body) != string(first.body) || again.json["created"] != true {
			t.Errorf("first %s, again %s", first.body, again.body)
		}
		if got := root.embedder.embedded(); len(got) != 0 {
			t.Errorf("a replay embedded %v", got)
		}
		// Another body, another route, another end user.
		s.post("/api/v1/memories", object{"endUserId": "ann", "content": "Twice."}, "Idempotency-Key", "k1").refuses(409, "idempotency_conflict")
		s.post("/api/v1/memories", object{"endUserId": "bob", "content": "Once.", "metadata": object{"a": 1, "b": 2}}, "Idempotency-Key", "k1").refuses(409, "idempotency_conflict")
		s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": []object{{"content": "Once."}}}, "Idempotency-Key", "k1").refuses(409, "idempotency_conflict")
		if got := len(s.memories("ann")) + len(s.memories("bob")); got != 1 {
			t.Errorf("conflicts left %d memories", got)
		}
		// An empty key promises what it can't keep.
		s.post("/api/v1/memories", one, "Idempotency-Key", " ").refuses(400, "invalid_request")
		// Another integration's keys are its own.
		root.integration("other", nil).post("/api/v1/memories", object{"endUserId": "ann", "content": "Twice."}, "Idempotency-Key", "k1").replayed(false).ok()

		// A batch keeps its whole answer, failed items too, and needs no quota again.
		batch := object{"endUserId": "ann", "memories": []object{{"content": "Two."}, {"content": ""}, {"content": "Three."}}}
		b1 := s.post("/api/v1/memories/batch", batch, "Idempotency-Key", "k2").replayed(false).ok()
		b2 := s.post("/api/v1/memories/batch", batch, "Idempotency-Key", "k2").replayed(true).ok()
		if string(b1.body) != string(b2.body) {
			t.Errorf("first %s, again %s", b1.body, b2.body)
		}
		// A refused call is not kept: it may succeed later.
		more := object{"endUserId": "ann", "content": "Four."}
		s.post("/api/v1/memories", more, "Idempotency-Key", "k3").refuses(403, "quota_exceeded")
		s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []any{first.json["memory"].(object)["id"]}}).ok()
		s.post("/api/v1/memories", more, "Idempotency-Key", "k3").replayed(false).ok()

		// Racing repeats write once and answer the same.
		var wg sync.WaitGroup
		bodies := make([]string, 8)
		for i := range bodies {
			wg.Add(1)
			go func() {
				defer wg.Done()
				bodies[i] = string(s.post("/api/v1/memories/batch", object{"endUserId": "race", "memories": []object{{"content": "A."}, {"content": "B."}}}, "Idempotency-Key", "k4").ok().body)
			}()
		}
		wg.Wait()
		slices.Sort(bodies)
		if got := slices.Compact(bodies); len(got) != 1 || !strings.Contains(got[0], `"created":true`) {
			t.Errorf("racing repeats answered %v", got)
		}
		if got := len(s.memories("race")); got != 2 {
			t.Errorf("racing repeats left %d memories", got)
		}

		for _, bad := range []string{strings.Repeat("k", 256), "a b", "é"} {
			s.post("/api/v1/memories", more, "Idempotency-Key", bad).refuses(400, "invalid_request", "field", "Idempotency-Key")
		}

		// Kept over a restart, for 24 hours.
		next := root.restart(nil)
		s = next.as(s.key)
		s.post("/api/v1/memories", one, "Idempotency-Key", "k1").replayed(true).ok()
		ahead.Add(int64(24*time.Hour - time.Minute))
		s.post("/api/v1/memories", one, "Idempotency-Key", "k1").replayed(true).ok()
		ahead.Add(int64(2 * time.Minute))
		s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []any{s.memories("ann")[0]["id"]}}).ok()
		if got := s.post("/api/v1/memories", one, "Idempotency-Key", "k1").replayed(false).ok(); got.json["created"] != true {
			t.Errorf("a day later: %s", got.body)
		}
		s.post("/api/v1/memories", one, "Idempotency-Key", "k1").replayed(true).ok()
	})
}

func TestMemoryListAndDelete(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		var want []string // newest first
		for i := range 23 {
			want = append([]string{s.save("ann", fmt.Sprintf("Memory %d.", i), "occurredAt", fmt.Sprintf("2026-01-%02dT00:00:00Z", 1+i/2), "containerTag", []string{"a", "b"}[i%2])}, want...)
		}
		r := s.get("/api/v1/memories?endUserId=ann&limit=1").ok()
		fields(t, "a page", r.json, "success", "memories", "nextCursor")
		fields(t, "a memory", r.list("memories")[0], "id", "content", "containerTag", "metadata", "created_at", "updated_at", "source", "externalId")
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
		if got := walk(""); len(got) != 23 || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
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
		s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []any{want[0], owned["documentId"]}}).refuses(409, "conflict")
		if got := len(s.memories("ann")); got != 24 {
			t.Errorf("a refused deletion left %d", got)
		}
		got := s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []any{want[0], want[1], want[0], "mem_unknown"}}).ok()
		fields(t, "a deletion", got.json, "success", "deleted")
		if got.json["deleted"] != 2.0 {
			t.Errorf("%s", got.body)
		}
		if got := s.post("/api/v1/memories/delete", object{"endUserId": "ann", "ids": []any{want[0]}}).ok(); got.json["deleted"] != 0.0 || got.json["success"] != true {
			t.Errorf("again: %s", got.body)
		}
		if got := s.post("/api/v1/memories/delete", object{"endUserId": "nobody", "ids": []any{want[2]}}).ok(); got.json["deleted"] != 0.0 {
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
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", func(in *key.Issue) {})
		for i := range 150 { // more than the index keeps in its head
			s.save("ann", fmt.Sprintf("Durable memory number %d.", i), "containerTag", fmt.Sprintf("c%d", i%3))
		}
		check := func(s *server) {
			t.Helper()
			for _, i := range []int{0, 77, 149} {
				if got := s.search("ann", fmt.Sprintf("durable memory number %d", i), "containerTag", fmt.Sprintf("c%d", i%3), "limit", 3); len(got) != 3 || got[0]["matchedContent"] != fmt.Sprintf("Durable memory number %d.", i) {
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
