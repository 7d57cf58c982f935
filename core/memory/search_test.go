package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/memory"
)

// TestMemorySearchCreatesNothing asks for end users that nobody has seen.
func TestMemorySearchCreatesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	s.save("ann", "Something.")
	r := s.ask(coretest.Object{"endUserId": "new", "query": "something"}).OK()
	coretest.Fields(t, "an answer", r.JSON, "success", "results", "degraded")
	if r.JSON["success"] != true || len(r.List("results")) != 0 || len(r.List("degraded")) != 0 {
		t.Errorf("%s", r.Body)
	}
	if got := s.list("new"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	s.record("new", "crm", "x").Fails("memory_not_found")
	s.remove(coretest.Object{"endUserId": "new", "ids": []string{"mem_x"}}).OK()
	coretest.Ask(s.ctx, t, s.memories.Status, coretest.Object{}).OK()
	coretest.Ask(s.ctx, t, s.memories.EraseUser, coretest.Object{}, func(in *memory.EraseUser) { in.EndUserID = "new" }).OK()
	if got := s.roster(); len(got) != 1 || got[0].ID != "ann" {
		t.Errorf("end users %v", got)
	}
	if s.Embedder.Queries() != 0 {
		t.Errorf("%d queries were embedded for nobody", s.Embedder.Queries())
	}
}

// TestMemorySearchAsksSomething: white space is no question, and . and .. are no end users.
func TestMemorySearchAsksSomething(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	s.save("ann", "Something.")
	s.ask(coretest.Object{"endUserId": "ann", "query": " \n"}).Fails("invalid_request", "query", "white space")
	for _, id := range []string{".", ".."} {
		s.ask(coretest.Object{"endUserId": id, "query": "something"}).Fails("invalid_end_user_id", "neither . nor ..")
	}
	if got := s.ask(coretest.Object{"endUserId": "ann", "query": "something"}).OK().List("results"); len(got) != 1 ||
		got[0]["container_tag"] != "" {
		t.Errorf("a memory without a container: %v", got)
	}
}

// TestMemorySearchNamesACutQuery: a search whose models read only the beginning of the
// query says so (docs/contract.md#mem-results).
func TestMemorySearchNamesACutQuery(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, func(m *memory.Settings) { m.Reranker = coretest.Reranker{} }).integration("app", 0)
	s.save("ann", "A warm bread.")
	for words, want := range map[int]string{500: "[]",
		1000: "[map[part:vector reason:truncated] map[part:rerank reason:truncated]]"} {
		r := s.ask(coretest.Object{"endUserId": "ann", "query": strings.Repeat("warm ", words)}).OK()
		if got := fmt.Sprint(r.JSON["degraded"]); got != want || len(r.List("results")) != 1 {
			t.Errorf("%d words: degraded %s, want %s", words, got, want)
		}
	}
}

// TestMemorySearchIsSeen notes in the roster when an end user was searched.
func TestMemorySearchIsSeen(t *testing.T) {
	t.Parallel()
	ahead, now := clock()
	s := open(t, coretest.Options{Now: now}, nil).integration("app", 0)
	s.save("ann", "Something.")
	s.save("bob", "Something.")
	ahead.Add(int64(time.Hour))
	s.search("ann", "something")
	seen := map[string]time.Time{}
	for _, u := range s.restart().roster() { // which writes what is collected
		seen[u.ID] = u.LastSeen
	}
	if d := seen["ann"].Sub(seen["bob"]); d < 59*time.Minute || d > 61*time.Minute {
		t.Errorf("seen %v", seen)
	}
}

// TestMemoryMatchedContent shows the best part of a long memory, and one result
// for all of its chunks.
func TestMemoryMatchedContent(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	var parts []string
	for i := range 60 {
		parts = append(parts, strings.Repeat(fmt.Sprintf("Filler sentence number %d says little é. ", i), 9))
	}
	parts[30] += "The password of the greenhouse is heliotrope. "
	long := strings.TrimSpace(strings.Join(parts, ""))
	id := s.save("ann", long)
	got := s.search("ann", "greenhouse heliotrope password", "limit", 50)
	if len(got) != 1 || got[0]["id"] != id {
		t.Fatalf("%d results for one memory", len(got))
	}
	m := got[0]["matchedContent"].(string)
	if n := utf8.RuneCountInString(m); n > 2000 || n < 1200 || !strings.Contains(m, "heliotrope") || !strings.Contains(long, m) {
		t.Errorf("%d characters, %q", n, m)
	}
	if got[0]["originalLength"] != float64(utf8.RuneCountInString(long)) {
		t.Errorf("originalLength %v of %d", got[0]["originalLength"], utf8.RuneCountInString(long))
	}
	// Whole where it fits, also when it is more than a chunk.
	whole := "The greenhouse stands behind the mill." +
		strings.Repeat(" A line about nothing in particular, to make it long.", 35)
	whole = whole[:min(len(whole), 1990)]
	s.save("bob", whole)
	if got := s.search("bob", "greenhouse mill"); len(got) != 1 || got[0]["matchedContent"] != whole {
		t.Errorf("%v", got)
	}
	// A memory without white space that is longer than what is shown.
	s.save("cat", "needle "+strings.Repeat("x", 9000))
	if got := s.search("cat", "needle"); len(got) != 1 ||
		utf8.RuneCountInString(got[0]["matchedContent"].(string)) > 2000 || got[0]["originalLength"] != 9007.0 {
		t.Errorf("%v", len(got))
	}
}
