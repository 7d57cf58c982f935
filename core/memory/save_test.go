package memory_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// TestMemoryDedup keeps one memory of what says the same, byte for byte but for
// normal form and white space around it, and only that.
func TestMemoryDedup(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	save := func(user, content string, more ...any) coretest.Object {
		t.Helper()
		body := coretest.Object{"endUserId": user, "content": content}
		for i := 0; i+1 < len(more); i += 2 {
			body[more[i].(string)] = more[i+1]
		}
		r := s.post(body).OK()
		coretest.Fields(t, "a saved memory", r.JSON, "success", "memory", "deduped", "created")
		if r.JSON["success"] != true || r.JSON["deduped"] == r.JSON["created"] {
			t.Errorf("%s", r.Body)
		}
		return r.JSON
	}
	first := save("ann", "Caf\u00e9 at noon.")
	if first["created"] != true {
		t.Fatalf("%v", first)
	}
	for _, same := range []string{"Caf\u00e9 at noon.", " Caf\u00e9 at noon.\n", "Cafe\u0301 at noon.",
		"\u00a0Cafe\u0301 at noon.\t"} {
		if got := save("ann", same, "metadata", coretest.Object{"n": 1}); got["deduped"] != true ||
			fmt.Sprint(got["memory"]) != fmt.Sprint(first["memory"]) {
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
	s.upsert("ann", "crm", "a", 1, "Owned by the source.").OK()
	if got := save("ann", "Owned by the source."); got["created"] != true {
		t.Errorf("the same as a source's: %v", got)
	}
	if got := len(s.list("ann")); got != 8 {
		t.Errorf("%d memories, want 8", got)
	}
	// The first one is kept verbatim.
	for _, m := range s.list("ann") {
		if m["id"] == first["memory"].(coretest.Object)["id"] &&
			(m["content"] != "Caf\u00e9 at noon." || fmt.Sprint(m["metadata"]) != "map[]") {
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
			created <- s.post(coretest.Object{"endUserId": "cat", "content": "All at once."}).JSON["created"]
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
	if n != 1 || len(s.list("cat")) != 1 {
		t.Errorf("%d of the racing saves created one; %d memories", n, len(s.list("cat")))
	}
}

func TestMemoryBatch(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	old := s.save("ann", "An old one.")
	big := strings.Repeat("x", 64<<10)
	r := s.batch(coretest.Object{"endUserId": "ann", "memories": []coretest.Object{
		{"content": "The first."}, {"content": big + "y"}, {"content": " The first. "},
		{"content": "The first.", "containerTag": "c"},
		{"content": "An old one."}, {"content": big}, {"content": ""}, {}, {"content": "z", "containerTag": "no tag"},
		{"content": "z", "metadata": coretest.Object{"a": coretest.Object{}}},
		{"content": "a\x00b"}, {"content": "Dated.", "occurredAt": "2020-01-02T03:04:05Z",
			"metadata": coretest.Object{"k": []string{"v"}}}, {"content": "z", "occurredAt": "never"},
	}}).OK()
	coretest.Fields(t, "a batch", r.JSON, "success", "results")
	if r.JSON["success"] != false {
		t.Error("a batch with failed items is a success")
	}
	results := r.List("results")
	ids := map[int]string{}
	for i, want := range []string{"created", "payload_too_large: content is 65537 bytes", "deduped 0", "created",
		"deduped old", "created", "invalid_request: content", "invalid_request: content is required",
		"invalid_container_tag: containerTag", "invalid_request: metadata", "invalid_request: content holds a NUL",
		"created", "invalid_request: occurredAt"} {
		got := results[i]
		if m, ok := got["memory"].(coretest.Object); ok {
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
			coretest.Fields(t, "a failed item", got, "success", "created", "deduped", "error")
			ok = got["success"] == false && got["created"] == false && got["deduped"] == false &&
				strings.HasPrefix(fmt.Sprint(got["error"]), want)
		}
		if !ok {
			t.Errorf("item %d: %v, want %s", i, got, want)
		}
	}
	if len(results) != 13 || len(s.list("ann")) != 5 {
		t.Errorf("%d results, %d memories", len(results), len(s.list("ann")))
	}
	if got := s.search("ann", "dated", "createdBefore", 1600000000000); len(got) != 1 || got[0]["id"] != ids[11] ||
		got[0]["created_at"] != 1577934245000.0 {
		t.Errorf("dated: %v", got)
	}
	// 100 items and a MiB are allowed.
	most := make([]coretest.Object, 100)
	for i := range most {
		most[i] = coretest.Object{"content": fmt.Sprintf("%d %s", i, strings.Repeat("word ", 2200))[:(1<<20)/100]}
	}
	if r := s.batch(coretest.Object{"endUserId": "bob", "memories": most}).OK(); r.JSON["success"] != true ||
		len(r.List("results")) != 100 {
		t.Errorf("the largest batch: %s", r.Body)
	}
	if got := len(s.list("bob")); got != 100 {
		t.Errorf("%d memories of the largest batch", got)
	}
	// A batch in which nothing can be saved makes no end user.
	s.batchOnce("none", coretest.Object{"endUserId": "cat", "memories": []coretest.Object{{"content": ""}}}).OK()
	if got := s.roster(); len(got) != 2 || got[0].ID != "ann" || got[1].ID != "bob" {
		t.Errorf("end users %v", got)
	}
}

// TestMemoryQuota counts a whole batch before any of it is written.
func TestMemoryQuota(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 5)
	batch := func(contents ...string) *coretest.Reply {
		t.Helper()
		list := make([]coretest.Object, len(contents))
		for i, c := range contents {
			list[i] = coretest.Object{"content": c}
		}
		return s.batch(coretest.Object{"endUserId": "ann", "memories": list})
	}
	batch("one", "two", "three").OK()
	s.Embedder.TakePassages()
	batch("four", "five", "six").Fails("quota_exceeded").Details("quota", "memoriesPerEndUser", "limit", 5, "used", 3)
	if got := s.Embedder.TakePassages(); len(got) != 0 {
		t.Errorf("%d texts were embedded for a refused batch", len(got))
	}
	if got := len(s.list("ann")); got != 3 {
		t.Errorf("a refused batch left %d memories", got)
	}
	// What is there already costs nothing, nor what fails or comes twice.
	batch("one", "two", "three", "four", "four", "five", "").OK()
	batch("one", "five").OK()
	batch("six").Fails("quota_exceeded").Details("used", 5)
	s.post(coretest.Object{"endUserId": "ann", "content": "six"}).Fails("quota_exceeded").Details("limit", 5)
	if got := s.save("ann", "one"); got == "" {
		t.Error("a duplicate was refused at the limit")
	}
	// The quota is of one end user; a deletion makes room.
	s.save("bob", "six")
	id := s.list("ann")[0]["id"]
	s.remove(coretest.Object{"endUserId": "ann", "ids": []any{id}}).OK()
	s.save("ann", "six")
	batch("seven").Fails("quota_exceeded").Details("used", 5)

	// Writers that race for the last places never pass the limit.
	var wg sync.WaitGroup
	for w := range 12 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := s.post(coretest.Object{"endUserId": "race", "content": fmt.Sprintf("place %d", w)})
			if r.Err != nil {
				r.Fails("quota_exceeded").Details("limit", 5)
			}
		}()
	}
	wg.Wait()
	if got := len(s.list("race")); got != 5 {
		t.Errorf("%d memories under a limit of 5", got)
	}
}

func TestMemoryIdempotencyKey(t *testing.T) {
	t.Parallel()
	ahead, now := clock()
	s := open(t, coretest.Options{Now: now}, nil).integration("app", 3)
	one := coretest.Object{"endUserId": "ann", "content": "Once.", "metadata": coretest.Object{"a": 1, "b": 2}}
	first := s.postOnce("k1", one).replayed(false).OK()
	s.Embedder.TakePassages()
	again := s.postOnce("k1", coretest.Object{"endUserId": "ann", "content": "Once.",
		"metadata": json.RawMessage(`{"b":2,"a":1.0}`)}).replayed(true).OK()
	if string(again.Body) != string(first.Body) || again.JSON["created"] != true {
		t.Errorf("first %s, again %s", first.Body, again.Body)
	}
	if got := s.Embedder.TakePassages(); len(got) != 0 {
		t.Errorf("a replay embedded %v", got)
	}
	// Another body, another route, another end user.
	s.postOnce("k1", coretest.Object{"endUserId": "ann", "content": "Twice."}).Fails("idempotency_conflict")
	s.postOnce("k1", coretest.Object{"endUserId": "bob", "content": "Once.",
		"metadata": coretest.Object{"a": 1, "b": 2}}).Fails("idempotency_conflict")
	s.batchOnce("k1", coretest.Object{"endUserId": "ann",
		"memories": []coretest.Object{{"content": "Once."}}}).Fails("idempotency_conflict")
	if got := len(s.list("ann")) + len(s.list("bob")); got != 1 {
		t.Errorf("conflicts left %d memories", got)
	}
	// An empty key promises what it can't keep.
	s.postOnce(" ", one).Fails("invalid_request")
	// Another integration's keys are its own.
	s.integration("other", 0).postOnce("k1", coretest.Object{"endUserId": "ann", "content": "Twice."}).replayed(false).OK()

	// A batch keeps its whole answer, failed items too, and needs no quota again.
	batch := coretest.Object{"endUserId": "ann",
		"memories": []coretest.Object{{"content": "Two."}, {"content": ""}, {"content": "Three."}}}
	b1 := s.batchOnce("k2", batch).replayed(false).OK()
	b2 := s.batchOnce("k2", batch).replayed(true).OK()
	if string(b1.Body) != string(b2.Body) {
		t.Errorf("first %s, again %s", b1.Body, b2.Body)
	}
	// A refused call is not kept: it may succeed later.
	more := coretest.Object{"endUserId": "ann", "content": "Four."}
	s.postOnce("k3", more).Fails("quota_exceeded")
	s.remove(coretest.Object{"endUserId": "ann", "ids": []any{first.JSON["memory"].(coretest.Object)["id"]}}).OK()
	s.postOnce("k3", more).replayed(false).OK()

	// Racing repeats write once and answer the same.
	var wg sync.WaitGroup
	bodies := make([]string, 8)
	for i := range bodies {
		wg.Add(1)
		go func() {
			defer wg.Done()
			bodies[i] = string(s.batchOnce("k4",
				coretest.Object{"endUserId": "race",
					"memories": []coretest.Object{{"content": "A."}, {"content": "B."}}}).OK().Body)
		}()
	}
	wg.Wait()
	slices.Sort(bodies)
	if got := slices.Compact(bodies); len(got) != 1 || !strings.Contains(got[0], `"created":true`) {
		t.Errorf("racing repeats answered %v", got)
	}
	if got := len(s.list("race")); got != 2 {
		t.Errorf("racing repeats left %d memories", got)
	}

	for _, bad := range []string{strings.Repeat("k", 256), "a b", "é"} {
		s.postOnce(bad, more).Fails("invalid_request").Details("field", "Idempotency-Key")
	}

	// Kept over a restart, for 24 hours.
	s = s.as(s.restart())
	s.postOnce("k1", one).replayed(true).OK()
	ahead.Add(int64(24*time.Hour - time.Minute))
	s.postOnce("k1", one).replayed(true).OK()
	ahead.Add(int64(2 * time.Minute))
	s.remove(coretest.Object{"endUserId": "ann", "ids": []any{s.list("ann")[0]["id"]}}).OK()
	if got := s.postOnce("k1", one).replayed(false).OK(); got.JSON["created"] != true {
		t.Errorf("a day later: %s", got.Body)
	}
	s.postOnce("k1", one).replayed(true).OK()
}
